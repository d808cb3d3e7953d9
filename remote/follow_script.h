/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_FOLLOW_SCRIPT_H
#define HGYM_REMOTE_FOLLOW_SCRIPT_H

/*
 * follow.py and follow.sh as mkscript.awk leaves them: without comments,
 * escaped for printf %b and for single quotes of any login shell.
 */
extern const char follow_script_py[];
extern const char follow_script_sh[];

#endif
