/* SPDX-License-Identifier: MIT */
#pragma once

/* wire.py and wire.sh, converted by mkscript.awk. */
extern const char wire_script_py[], wire_script_sh[];
