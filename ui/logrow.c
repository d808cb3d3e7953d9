/* SPDX-License-Identifier: MIT */
/* A row of a log's line: its class, its own colours, what was searched. */
#include "config.h"

#include "ui/logrow.h"

#include "base/utf8.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define HIT_BYTES 512 /* of a line before what is shown, searched for hits */
#define N_HUES	  (LOGSGR_BRIGHT_RED - LOGSGR_RED)

static unsigned int
row_style(const struct logsrc_line *line)
{
	return line->is_fold ? STYLE_KEY : panel_line_style(line->class);
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

/* Where to look from for hits that may reach a byte: a character's first. */
static size_t
hits_from(struct str whole, size_t begin)
{
	size_t from = begin > HIT_BYTES ? begin - HIT_BYTES : 0;

	while (from > 0 && from < whole.len &&
	       ((unsigned char)whole.p[from] & 0xC0) == 0x80)
		from--;
	return from;
}

/* The next hit from *from on that is not empty; *from is behind it then. */
static bool
next_hit(const struct pattern *marked, struct str whole, size_t *from,
	 struct str *hit)
{
	size_t at, len;
	uint32_t cp;

	while (*from < whole.len &&
	       pattern_find_from(marked, whole, *from, &at, &len)) {
		*hit = (struct str){ whole.p + at, len };
		*from = at + len;
		if (len > 0)
			return true;
		if (at < whole.len)
			*from += utf8_decode(
				(struct str){ whole.p + at, whole.len - at },
				&cp);
	}
	return false;
}

/* Whether something is marked in a piece of a line. */
static bool
has_hit(const struct logsrc_line *line, struct str piece,
	const struct pattern *marked)
{
	struct str whole = { line->text.data, line->text.len }, hit;
	size_t from = hits_from(whole, (size_t)(piece.p - whole.p));

	while (marked != NULL && next_hit(marked, whole, &from, &hit) &&
	       hit.p < piece.p + piece.len)
		if (hit.p + hit.len > piece.p)
			return true;
	return false;
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
				look_style(look, row_style(line)));
		x += width;
		at = to;
	}
}

/* What of a row the pattern finds in its line, in another style. */
static void
mark_hits(struct canvas *canvas, struct rect row,
	  const struct logsrc_line *line, struct str piece,
	  const struct pattern *marked)
{
	struct str whole = { line->text.data, line->text.len }, hit;
	size_t from = hits_from(whole, (size_t)(piece.p - whole.p));
	const char *end = piece.p + piece.len;

	while (marked != NULL && piece.p < end && row.w > 0 &&
	       next_hit(marked, whole, &from, &hit) && hit.p < end) {
		const char *behind =
			hit.p + hit.len < end ? hit.p + hit.len : end;
		int before = 0, width;

		if (behind <= piece.p)
			continue;
		if (hit.p > piece.p) {
			before = (int)utf8_width((struct str){
				piece.p, (size_t)(hit.p - piece.p) });
			piece.p = hit.p;
		}
		width = (int)utf8_width(
			(struct str){ piece.p, (size_t)(behind - piece.p) });
		canvas_restyle(canvas,
			       (struct rect){ row.x + before, row.y, width, 1 },
			       STYLE_MATCH);
		row.x += before + width;
		row.w -= before + width;
		piece.p = behind;
	}
}

void
logrow_draw(struct canvas *canvas, struct rect row,
	    const struct logsrc_line *line, struct str text,
	    const struct pattern *marked)
{
	canvas_line(canvas, row, row_style(line), text);
	/* Of a row with a hit the hit alone is in reverse. */
	if (line->runs != NULL && line->runs->n > 0)
		draw_looks(canvas, row, line, text,
			   !has_hit(line, text, marked));
	mark_hits(canvas, row, line, text, marked);
}
