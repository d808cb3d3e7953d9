/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Sequences for the terminal itself: clipboard (OSC 52), notice (OSC 9 and
 * 777), title (OSC 2).  Text is sanitised, so nothing of it can end the
 * sequence.  In tmux they are wrapped to be handed on.
 */
#define OSC_COPY_MAX_BYTES 74000U

/* -1 (and nothing in out) when text is longer than terminals take. */
int osc_copy(struct buf *out, struct str text, bool tmux);
void osc_notify(struct buf *out, struct str title, struct str text, bool tmux);
