/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Escape sequences for the terminal itself: clipboard (OSC 52) and notifications (OSC 9 and 777).
 * Text is sanitized, so it cannot end the sequence.  For tmux they are wrapped to be passed on. */
#define OSC_COPY_MAX_BYTES 74000U

/* -1 (and nothing appended) if the text is longer than terminals accept. */
int osc_copy(struct buf *out, struct str text, bool tmux);
void osc_notify(struct buf *out, struct str title, struct str text, bool tmux);
