/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/embed.h"

/* judge.py, loops.py, tamper.py and wire.py, which python reads as one script from its stdin. */
extern const struct embed_file wire_scripts[];
/* wire.sh, converted by mkscript.awk. */
extern const char wire_script_sh[];
