/* SPDX-License-Identifier: MIT */
/* A screenful of a log: scrolling, wrapping, drawing; for the log view. */
#include "config.h"

#include "ui/logpage.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "report/fmt.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define TEXT_BYTES    (8U << 20)
#define GUTTER_NARROW 10
#define GUTTER_WIDE   26
#define WIDE_FROM     110
#define HIT_COLUMNS   256 /* beyond the edge: a hit may end there */
#define HIT_BYTES     512 /* before what is shown: hits may reach it */
#define N_HUES	      (LOGSGR_BRIGHT_RED - LOGSGR_RED)

void
logpage_init(struct logpage *page)
{
	memset(page, 0, sizeof(*page));
	logsrc_init(&page->src);
}

void
logpage_release(struct logpage *page)
{
	logsrc_release(&page->src);
}

/* Columns before the text: a number, or where the line is from. */
static int
gutter(const struct logpage *page, int width)
{
	return page->src.log == NULL && width >= WIDE_FROM ? GUTTER_WIDE
							   : GUTTER_NARROW;
}

/* The text behind its first `columns` columns. */
static struct str
behind(struct str text, size_t columns)
{
	size_t cut = utf8_prefix(text, columns);

	return (struct str){ text.p + cut, text.len - cut };
}

/* The next row of a wrapped text; takes it off. */
static struct str
take_row(struct str *text, int width)
{
	size_t n = utf8_prefix(*text, (size_t)(width > 2 ? width : 2));
	struct str row = { text->p, n };

	text->p += n;
	text->len -= n;
	return row;
}

static uint64_t
rows_of(struct logpage *page, uint64_t place)
{
	struct logsrc_line line;
	uint64_t rows = 0;
	struct str text;

	if (!page->wrap)
		return 1;
	logsrc_line_init(&line, TEXT_BYTES);
	logsrc_read(&page->src, place, LOGPAGE_MAX_COLUMNS, &line);
	text = (struct str){ line.text.data, line.text.len };
	do {
		(void)take_row(&text, page->width);
		rows++;
	} while (text.len > 0);
	logsrc_line_release(&line);
	return rows;
}

/* One row up; false at the begin. */
static bool
row_up(struct logpage *page, struct logpage_row *at)
{
	uint64_t before;

	if (at->row > 0) {
		at->row--;
		return true;
	}
	before = logsrc_prev(&page->src, at->place);
	if (before == UINT64_MAX)
		return false;
	at->place = before;
	at->row = rows_of(page, before) - 1;
	return true;
}

static void
row_down(struct logpage *page, struct logpage_row *at)
{
	if (at->row + 1 < rows_of(page, at->place)) {
		at->row++;
		return;
	}
	at->place = logsrc_next(&page->src, at->place);
	at->row = 0;
}

static bool
is_before(const struct logpage_row *a, const struct logpage_row *b)
{
	return a->place != b->place ? a->place < b->place : a->row < b->row;
}

/* The top that shows the last row at the bottom. */
static struct logpage_row
end_top(struct logpage *page)
{
	struct logpage_row top = { logsrc_end(&page->src), 0 };

	for (int i = 0; i < page->height && row_up(page, &top); i++)
		;
	return top;
}

void
logpage_fit(struct logpage *page, struct rect rect)
{
	uint64_t at = logsrc_at(&page->src, page->top.place);

	page->y = rect.y;
	page->height = rect.h;
	page->width = rect.w - gutter(page, rect.w);
	if (page->left_end && at < logsrc_end(&page->src)) {
		page->top.place = at;
		return;
	}
	/* A filter may still find lines below. */
	if (page->left_end && logsrc_is_filtering(&page->src))
		return;
	page->left_end = false;
	page->top = end_top(page);
}

void
logpage_scroll(struct logpage *page, int rows)
{
	struct logpage_row last = end_top(page);

	page->left_end = true;
	for (; rows < 0 && row_up(page, &page->top); rows++)
		;
	for (; rows > 0 && is_before(&page->top, &last); rows--)
		row_down(page, &page->top);
	if (!is_before(&page->top, &last))
		page->left_end = false;
}

void
logpage_shift(struct logpage *page, int columns)
{
	int left = page->left + columns;

	page->left = left < 0			  ? 0
		     : left > LOGPAGE_MAX_COLUMNS ? LOGPAGE_MAX_COLUMNS
						  : left;
}

void
logpage_to_begin(struct logpage *page)
{
	page->top = (struct logpage_row){ logsrc_at(&page->src, 0), 0 };
	page->left_end = true;
	page->left = 0;
}

/* Columns before the pattern's first hit in a line, and of the hit. */
static bool
hit_columns(struct logpage *page, uint64_t place, const struct pattern *pattern,
	    int *x, int *w)
{
	struct logsrc_line line;
	size_t at, len;
	bool found;

	logsrc_line_init(&line, TEXT_BYTES);
	logsrc_read(&page->src, place, LOGPAGE_MAX_COLUMNS, &line);
	found = pattern_find(pattern,
			     (struct str){ line.text.data, line.text.len }, &at,
			     &len);
	if (found) {
		*x = (int)utf8_width((struct str){ line.text.data, at });
		*w = (int)utf8_width((struct str){ line.text.data + at, len });
	}
	logsrc_line_release(&line);
	return found;
}

void
logpage_show_hit(struct logpage *page, uint64_t place,
		 const struct pattern *pattern)
{
	struct logpage_row last;
	int x, w;

	page->hit = place;
	page->has_hit = true;
	page->left_end = true;
	/* What is folded away cannot be shown. */
	if (logsrc_at(&page->src, place) != place)
		page->src.fold = false;
	page->top = (struct logpage_row){ place, 0 };
	if (hit_columns(page, place, pattern, &x, &w)) {
		if (page->wrap && page->width > 0)
			page->top.row = (uint64_t)(x / page->width);
		else if (x < page->left || x + w > page->left + page->width)
			page->left =
				x + w <= page->width ? 0 : x - page->width / 3;
	}
	for (int i = 0; i < page->height / 3 && row_up(page, &page->top); i++)
		;
	/* No rows stay empty below the last one. */
	last = end_top(page);
	if (is_before(&last, &page->top))
		page->top = last;
}

bool
logpage_click(struct logpage *page, int y)
{
	struct logpage_row row = page->top;

	if (y < page->y || y >= page->y + page->height)
		return false;
	row.place = logsrc_at(&page->src, row.place);
	for (; y > page->y && row.place < logsrc_end(&page->src); y--)
		row_down(page, &row);
	if (row.place >= logsrc_end(&page->src))
		return false;
	page->hit = row.place;
	page->has_hit = true;
	return true;
}

uint64_t
logpage_current(struct logpage *page)
{
	uint64_t last;

	if (page->has_hit)
		return page->hit;
	if (page->left_end)
		return page->top.place;
	last = logsrc_prev(&page->src, logsrc_end(&page->src));
	return last != UINT64_MAX ? last : page->top.place;
}

/* Which log of several a line is from: its pod, its run or else its file. */
static void
draw_origin(const struct logpage *page, struct canvas *canvas, struct rect r,
	    const struct model_log *log)
{
	const struct model *model = page->src.model;
	const struct model_run *mr = NULL;
	char label[FMT_LABEL];
	unsigned int style;
	const char *slash;

	if (log == NULL || log->pod >= model->n_pods)
		return;
	style = theme_series((unsigned int)log->pod);
	canvas_line(canvas, (struct rect){ r.x, r.y, GUTTER_NARROW - 1, 1 },
		    style, str_from(model->pods[log->pod].name));
	if (gutter(page, r.w) == GUTTER_NARROW)
		return;
	for (size_t i = model->n_runs; i-- > 0 && mr == NULL;)
		if (model->runs[i]->log == log)
			mr = model->runs[i];
	slash = strrchr(log->path, '/');
	(void)snprintf(label, sizeof(label), "%s",
		       slash != NULL ? slash + 1 : log->path);
	if (mr != NULL)
		plot_run_label(mr, label);
	canvas_line(canvas,
		    (struct rect){ r.x + GUTTER_NARROW, r.y,
				   GUTTER_WIDE - GUTTER_NARROW - 1, 1 },
		    STYLE_DIM, str_from(label));
}

static void
draw_gutter(const struct logpage *page, struct canvas *canvas, struct rect r,
	    const struct logsrc_line *line)
{
	char number[FMT_SIZE];

	if (page->src.log == NULL) {
		draw_origin(page, canvas, r, line->log);
	} else if (line->is_part) {
		canvas_right(canvas, (struct rect){ r.x, r.y, 8, 1 },
			     STYLE_GAUGE_REST, STR_LIT("…"));
	} else if (line->number > 0) {
		(void)snprintf(number, sizeof(number), "%llu",
			       (unsigned long long)line->number);
		canvas_right(canvas, (struct rect){ r.x, r.y, 8, 1 },
			     STYLE_GAUGE_REST, str_from(number));
	}
}

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

/*
 * A row of the screen: text is a piece of line->text.  What marked matches
 * (NULL: nothing) is marked, whatever colours the line has.
 */
static void
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

/* The rows of a line from the one at `skip` on; returns how many. */
static int
draw_wrapped(struct logpage *page, struct canvas *canvas, struct rect r,
	     const struct logsrc_line *line, uint64_t skip)
{
	struct str text = { line->text.data, line->text.len };
	int rows = 0;

	do {
		struct str row = take_row(&text, r.w);

		if (skip > 0) {
			skip--;
			continue;
		}
		r.h--;
		logrow_draw(canvas, (struct rect){ r.x, r.y, r.w, 1 }, line,
			    row, page->marked);
		r.y++;
		rows++;
	} while (text.len > 0 && r.h > 0);
	return rows;
}

/* A line at the top of r; returns how many rows it took. */
static int
draw_line(struct logpage *page, struct canvas *canvas, struct rect r,
	  uint64_t place, uint64_t skip)
{
	size_t columns = page->wrap ? LOGPAGE_MAX_COLUMNS
				    : (size_t)(page->left + r.w + HIT_COLUMNS);
	int before = gutter(page, r.w), rows = 1;
	struct logsgr_runs runs;
	struct logsrc_line line;
	struct rect clip, at = { r.x + before, r.y, r.w - before, r.h };

	logsrc_line_init(&line, TEXT_BYTES);
	logsgr_runs_init(&runs);
	line.runs = page->colors ? &runs : NULL;
	logsrc_read(&page->src, place, columns, &line);
	if (skip == 0)
		draw_gutter(page, canvas, r, &line);
	if (page->has_hit && place == page->hit)
		canvas_put(canvas, at.x - 1, r.y, STYLE_KEY, 0x25B8);
	clip = canvas_clip(canvas, at);
	if (page->wrap) {
		rows = draw_wrapped(page, canvas, at, &line, skip);
	} else {
		struct str text =
			behind((struct str){ line.text.data, line.text.len },
			       line.is_fold ? 0 : (size_t)page->left);

		at.h = 1;
		logrow_draw(canvas, at, &line, text, page->marked);
	}
	canvas_unclip(canvas, clip);
	logsgr_runs_release(&runs);
	logsrc_line_release(&line);
	return rows;
}

void
logpage_draw(struct logpage *page, struct canvas *canvas, struct rect r)
{
	uint64_t place = logsrc_at(&page->src, page->top.place);
	uint64_t end = logsrc_end(&page->src);
	uint64_t skip = page->wrap ? page->top.row : 0;

	while (r.h > 0 && place < end) {
		int rows = draw_line(page, canvas, r, place, skip);

		skip = 0;
		r.y += rows;
		r.h -= rows;
		place = logsrc_next(&page->src, place);
	}
}
