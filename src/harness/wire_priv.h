/* SPDX-License-Identifier: MIT */
#pragma once

/* wire.py and wire.sh, as mkscript.awk makes them. */
extern const char wire_script_py[], wire_script_sh[];
