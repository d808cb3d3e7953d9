/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_LOGROW_H
#define HGYM_UI_LOGROW_H

#include "ui/canvas.h"
#include "ui/logsrc.h"

/*
 * A row of the screen: text is a piece of line->text.  What marked matches
 * (NULL: nothing) is marked, whatever colours the line has.
 */
void logrow_draw(struct canvas *canvas, struct rect row,
		 const struct logsrc_line *line, struct str text,
		 const struct pattern *marked);

#endif
