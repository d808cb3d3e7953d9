/* SPDX-License-Identifier: MIT */
/* A row of a log's line: its class, its own colours, what was searched. */
#include "config.h"

#include "ui/logrow.h"

#include "base/utf8.h"
#include "ui/theme.h"

#define N_HUES (LOGSGR_BRIGHT_RED - LOGSGR_RED)

static unsigned int
class_style(const struct logsrc_line *line)
{
	static const unsigned int styles[] = {
		[LINE_PLAIN] = STYLE_LOG_PLAIN,
		[LINE_METRIC] = STYLE_LOG_METRIC,
		[LINE_SOURCE] = STYLE_LOG_SOURCE,
		[LINE_ERROR] = STYLE_LOG_ERROR,
		[LINE_WARNING] = STYLE_LOG_WARNING,
	};

	return line->is_fold ? STYLE_KEY : styles[line->class];
}

/* How a piece of a line looks that asks for a look of its own. */
static unsigned int
look_style(unsigned int look, unsigned int line_style)
{
	static const unsigned int inks[LOGSGR_INK_COUNT] = {
		[LOGSGR_TEXT] = STYLE_NORMAL,
		[LOGSGR_GREY] = STYLE_DIM,
		[LOGSGR_RED] = STYLE_INK_RED,
		[LOGSGR_GREEN] = STYLE_INK_GREEN,
		[LOGSGR_YELLOW] = STYLE_INK_YELLOW,
		[LOGSGR_BLUE] = STYLE_INK_BLUE,
		[LOGSGR_MAGENTA] = STYLE_INK_MAGENTA,
		[LOGSGR_CYAN] = STYLE_INK_CYAN,
		[LOGSGR_BRIGHT_RED] = STYLE_INK_BRIGHT_RED,
		[LOGSGR_BRIGHT_GREEN] = STYLE_INK_BRIGHT_GREEN,
		[LOGSGR_BRIGHT_YELLOW] = STYLE_INK_BRIGHT_YELLOW,
		[LOGSGR_BRIGHT_BLUE] = STYLE_INK_BRIGHT_BLUE,
		[LOGSGR_BRIGHT_MAGENTA] = STYLE_INK_BRIGHT_MAGENTA,
		[LOGSGR_BRIGHT_CYAN] = STYLE_INK_BRIGHT_CYAN,
	};
	unsigned int ink = look & LOGSGR_INK_MASK, style = inks[ink];

	if (ink == LOGSGR_NONE)
		style = line_style;
	if (look & LOGSGR_FAINT)
		style = ink <= LOGSGR_TEXT	   ? STYLE_DIM
			: ink >= LOGSGR_BRIGHT_RED ? style - N_HUES
						   : style;
	if (look & LOGSGR_BOLD)
		style |= STYLE_BOLD;
	if (look & LOGSGR_REVERSE)
		style |= STYLE_REVERSE;
	return style;
}

static bool
has_hit(const struct pattern *marked, struct str text)
{
	size_t at, len;

	return marked != NULL && pattern_find(marked, text, &at, &len) &&
	       len > 0;
}

/* The looks that a line asks for, over a row of it that was drawn. */
static void
draw_looks(struct canvas *canvas, struct rect row,
	   const struct logsrc_line *line, struct str text, bool reverse)
{
	const struct logsgr_runs *runs = line->runs;
	size_t at = (size_t)(text.p - line->text.data), end = at + text.len;
	unsigned int keep = reverse ? ~0U : ~LOGSGR_REVERSE;
	int x = 0;

	for (size_t i = logsgr_runs_upto(runs, at); at < end && x < row.w;
	     i++) {
		size_t to = i < runs->n && runs->v[i].at < end ? runs->v[i].at
							       : end;
		unsigned int look = i > 0 ? runs->v[i - 1].look & keep : 0;
		int width = (int)utf8_width(
			(struct str){ line->text.data + at, to - at });

		if (look != 0)
			canvas_restyle(
				canvas,
				(struct rect){ row.x + x, row.y, width, 1 },
				look_style(look, class_style(line)));
		x += width;
		at = to;
	}
}

/* Where the pattern is found in a drawn row, in another style. */
static void
mark_hits(struct canvas *canvas, struct rect row, struct str text,
	  const struct pattern *marked)
{
	size_t at, len;

	while (marked != NULL && text.len > 0 && row.w > 0 &&
	       pattern_find(marked, text, &at, &len) && len > 0) {
		int before = (int)utf8_width((struct str){ text.p, at });
		int width = (int)utf8_width((struct str){ text.p + at, len });

		canvas_restyle(canvas,
			       (struct rect){ row.x + before, row.y, width, 1 },
			       STYLE_MATCH);
		row.x += before + width;
		row.w -= before + width;
		text.p += at + len;
		text.len -= at + len;
	}
}

void
logrow_draw(struct canvas *canvas, struct rect row,
	    const struct logsrc_line *line, struct str text,
	    const struct pattern *marked)
{
	canvas_line(canvas, row, class_style(line), text);
	/* Of a row with a hit the hit alone is in reverse. */
	if (line->runs != NULL && line->runs->n > 0)
		draw_looks(canvas, row, line, text, !has_hit(marked, text));
	mark_hits(canvas, row, text, marked);
}
