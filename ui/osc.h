/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Escape sequences for the terminal itself: clipboard (OSC 52) and notifications (OSC 9 and 777).
 * Text is sanitized, so it cannot end the sequence. In tmux, sequences are wrapped. */
#define OSC_COPY_MAX_BYTES 74000U

/* Append the sequence that copies text to the clipboard; -1 if terminals would not accept its
 * length. */
int osc_copy(struct buf *out, struct str text, bool tmux);
/* Append the sequences that show a notification. */
void osc_notify(struct buf *out, struct str title, struct str text, bool tmux);
