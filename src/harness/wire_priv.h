/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_WIRE_PRIV_H
#define HGYM_HARNESS_WIRE_PRIV_H

/* wire.py and wire.sh, as mkscript.awk makes them. */
extern const char wire_script_py[], wire_script_sh[];

#endif
