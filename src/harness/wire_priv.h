/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_WIRE_PRIV_H
#define HGYM_HARNESS_WIRE_PRIV_H

/* wire.py, as mkscript.awk makes it. */
extern const char wire_script_py[];

#endif
