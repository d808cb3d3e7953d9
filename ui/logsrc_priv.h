/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_LOGSRC_PRIV_H
#define HGYM_UI_LOGSRC_PRIV_H

#include "ui/logsrc.h"

/* What logsrc.c and logfilter.c share: lines whatever the filter. */

/* The line at or behind a place, or the end. */
uint64_t logsrc_raw_at(struct logsrc *src, uint64_t place);
/* UINT64_MAX when there is none. */
uint64_t logsrc_raw_prev(struct logsrc *src, uint64_t place);
/* What can be seen of a line; raw and text are initialised. */
void logsrc_raw_visible(struct logsrc *src, uint64_t place, struct buf *raw,
			struct buf *text);

#endif
