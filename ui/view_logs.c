/* SPDX-License-Identifier: MIT */
/* Shows one log, or all logs merged, and follows, searches, filters and folds it. */
#include "base/clock.h"
#include "base/file.h"
#include "ui/logsrc.h"
#include "ui/panel.h"
#include "ui/prompt.h"
#include "ui/theme.h"

#define TITLE_BYTES  1000
#define NAME_COLUMNS 16 /* minimum width of a shortened name */
#define COUNT_BYTES  (16U << 20)
#define FRAME_BYTES  (1U << 20) /* count the lines of this many bytes before drawing a frame */
#define SLICE_MS     25		/* duration of background work between two checks for keys */
/* Whole lines are read to copy or export them. A column takes at least one byte. */
#define WHOLE_COLUMNS	 LOGSRC_RAW_BYTES
#define WHOLE_BYTES	 (4 * LOGSRC_RAW_BYTES)
#define TEXT_BYTES	 (8U << 20)
#define GUTTER_NARROW	 10
#define GUTTER_WIDE	 26
#define WIDE_FROM	 110
#define HIT_COLUMNS	 256 /* read this much after the visible part: hits may end there */
#define HIT_BYTES	 512 /* search this much before the visible part: hits may start there */
#define N_HUES		 (LOGSGR_BRIGHT_RED - LOGSGR_RED)
#define LOGS_MAX_COLUMNS (1 << 21)
#define MAX_BOOKMARKS	 100
#define ERROR_PATTERN	 "(?i)error|traceback|exception|out of memory|\\bnan\\b|killed|nccl wa"

/* A row of the screen: the place of its line (see logsrc.h) and the row within that line. */
struct logs_row {
	uint64_t place;
	uint64_t row; /* index of the row within a wrapped line */
};

struct logs_bookmark {
	const struct model_log *log;
	uint64_t place;
};

struct logs {
	struct logsrc src;
	struct logs_row top;
	bool left_end; /* the user scrolled away from the end; false: the view follows it */
	bool wrap;
	bool colors;	   /* show the log's own colors */
	int left;	   /* number of columns scrolled off the left */
	int width, height; /* of the text area, as drawn last */
	int y;		   /* screen row of the first text row */
	uint64_t hit;	   /* place of the last hit or of a clicked line */
	bool has_hit;
	const struct pattern *marked;	/* pattern to highlight; borrowed; NULL: none */
	const struct model_log *picked; /* log that the user chose; NULL: the selected run's */
	const struct model_run *of_run; /* run that was selected at that time */
	bool is_open, merged;
	bool stays;    /* the log was already rotated when it was opened: do not replace it */
	bool to_begin; /* go to the first line once it is known */
	struct pattern *pattern; /* owned; last search pattern */
	struct pattern *errors;	 /* owned */
	char filter_text[PROMPT_BYTES + 1];
	struct logs_bookmark bookmarks[MAX_BOOKMARKS];
	size_t n_bookmarks;
	/* Pattern of a search that continues in logs_work(); NULL: none. */
	const struct pattern *searching;
	bool forward, wrapped;
	uint64_t search_at;
	/* Pattern of the last search. Only compare this pointer: the pattern may be freed. */
	const struct pattern *searched;
};

/* Return the width of the column at the left, which shows the line number or the line's origin. */
static int gutter_width(const struct logs *logs, int width)
{
	return logs->src.log == NULL && width >= WIDE_FROM ? GUTTER_WIDE : GUTTER_NARROW;
}

static struct str take_row(struct str *text, int width)
{
	size_t n = utf8_prefix(*text, (size_t)(width > 2 ? width : 2));
	struct str row = { text->p, n };

	text->p += n;
	text->len -= n;
	return row;
}

static uint64_t count_rows(struct logs *logs, uint64_t place)
{
	AUTO_LINE line = logsrc_line_new(TEXT_BYTES);
	uint64_t rows = 0;

	if (!logs->wrap)
		return 1;
	logsrc_read(&logs->src, place, LOGS_MAX_COLUMNS, &line);
	struct str text = buf_str(&line.text);
	do {
		(void)take_row(&text, logs->width);
		rows++;
	} while (text.len > 0);
	return rows;
}

/* Move `at` one row up; false if it is the first row. */
static bool row_up(struct logs *logs, struct logs_row *at)
{
	if (at->row > 0) {
		at->row--;
		return true;
	}
	uint64_t before = logsrc_prev(&logs->src, at->place);
	if (before == UINT64_MAX)
		return false;
	at->place = before;
	at->row = count_rows(logs, before) - 1;
	return true;
}

static void row_down(struct logs *logs, struct logs_row *at)
{
	/* Lines may have changed since the last frame, so that no line starts at this place. */
	at->place = logsrc_at(&logs->src, at->place);
	if (at->place < logsrc_end(&logs->src) && at->row + 1 < count_rows(logs, at->place)) {
		at->row++;
		return;
	}
	at->place = logsrc_next(&logs->src, at->place);
	at->row = 0;
}

static bool is_before(const struct logs_row *a, const struct logs_row *b)
{
	return a->place != b->place ? a->place < b->place : a->row < b->row;
}

/* Return the top row that puts the last row at the bottom of the screen. */
static struct logs_row top_at_end(struct logs *logs)
{
	struct logs_row top = { logsrc_end(&logs->src), 0 };

	for (int i = 0; i < logs->height && row_up(logs, &top); i++)
		;
	return top;
}

/* Set the text area and the top row; move to the end if it is followed. */
static void logs_fit(struct logs *logs, struct rect rect)
{
	uint64_t at = logsrc_at(&logs->src, logs->top.place);

	logs->y = rect.y;
	logs->height = rect.h;
	logs->width = rect.w - gutter_width(logs, rect.w);
	if (logs->left_end && at < logsrc_end(&logs->src)) {
		logs->top.place = at;
		return;
	}
	/* Keep the place: the filter may still find lines below it. */
	if (logs->left_end && logsrc_is_filtering(&logs->src))
		return;
	logs->left_end = false;
	logs->top = top_at_end(logs);
}

static void logs_scroll(struct logs *logs, int rows)
{
	struct logs_row last = top_at_end(logs);

	logs->left_end = true;
	for (; rows < 0 && row_up(logs, &logs->top); rows++)
		;
	for (; rows > 0 && is_before(&logs->top, &last); rows--)
		row_down(logs, &logs->top);
	if (!is_before(&logs->top, &last))
		logs->left_end = false;
}

static void logs_to_begin(struct logs *logs)
{
	logs->top = (struct logs_row){ logsrc_at(&logs->src, 0), 0 };
	logs->left_end = true;
	logs->left = 0;
}

/* Make a line the current one and scroll to it. If pattern is not NULL, make the hit visible. */
static void logs_show_hit(struct logs *logs, uint64_t place, const struct pattern *pattern)
{
	AUTO_LINE line = logsrc_line_new(TEXT_BYTES);
	size_t at, len;

	logs->hit = place;
	logs->has_hit = true;
	logs->left_end = true;
	/* Unfold source code to show a line in it. */
	if (logsrc_at(&logs->src, place) != place)
		logs->src.fold = false;
	logs->top = (struct logs_row){ place, 0 };
	if (pattern != NULL)
		logsrc_read(&logs->src, place, LOGS_MAX_COLUMNS, &line);
	if (pattern != NULL && pattern_find(pattern, buf_str(&line.text), &at, &len)) {
		int x = (int)utf8_width((struct str){ line.text.data, at });
		int w = (int)utf8_width((struct str){ line.text.data + at, len });

		if (logs->wrap && logs->width > 0)
			logs->top.row = (uint64_t)(x / logs->width);
		else if (x < logs->left || x + w > logs->left + logs->width)
			logs->left = x + w <= logs->width ? 0 : x - logs->width / 3;
	}
	for (int i = 0; i < logs->height / 3 && row_up(logs, &logs->top); i++)
		;
	/* Leave no empty rows below the last one. */
	struct logs_row last = top_at_end(logs);
	if (is_before(&last, &logs->top))
		logs->top = last;
}

/* Return the current line: the hit, else the last line if the end is followed, else the top one. */
static uint64_t logs_current(struct logs *logs)
{
	uint64_t place = logs->has_hit ? logs->hit : logs->top.place;

	if (!logs->has_hit && !logs->left_end) {
		uint64_t last = logsrc_prev(&logs->src, logsrc_end(&logs->src));

		place = last != UINT64_MAX ? last : place;
	}
	/* Lines may have changed since the last frame, so that no line starts at this place. */
	return logsrc_at(&logs->src, place);
}

static void draw_origin(const struct logs *logs, struct canvas *canvas, struct rect r,
			const struct model_log *log)
{
	const struct model *model = logs->src.model;
	struct rect pod = rect_take_left(&r, GUTTER_NARROW);
	struct plot_label label;

	if (log->pod >= model->n_pods)
		return;
	pod.w--;
	r.w--;
	canvas_print(canvas, pod, theme_series((unsigned int)log->pod), "%s",
		     model->pods[log->pod].name);
	print_into(label.s, "%s", file_name(log->path));
	for (size_t i = 0; i < model->n_runs; i++)
		if (model->runs[i]->log == log)
			label = plot_run_label(model->runs[i]);
	canvas_print(canvas, r, STYLE_DIM, "%s", label.s);
}

static bool is_bookmark(const struct logs *logs, size_t i, uint64_t place)
{
	return logs->bookmarks[i].log == logs->src.log && logs->bookmarks[i].place == place;
}

static void draw_gutter(const struct logs *logs, struct canvas *canvas, struct rect r,
			const struct logsrc_line *line)
{
	char number[FMT_SIZE];

	if (logs->src.log == NULL) {
		draw_origin(logs, canvas, r, line->log);
	} else if (line->is_part) {
		canvas_line_right(canvas, (struct rect){ r.x, r.y, 8, 1 }, STYLE_DIM, STR_LIT("…"));
	} else if (line->number > 0) {
		print_into(number, "%llu", (unsigned long long)line->number);
		canvas_line_right(canvas, (struct rect){ r.x, r.y, 8, 1 }, STYLE_DIM,
				  str_from(number));
	}
}

static unsigned int row_style(const struct logsrc_line *line)
{
	return line->is_fold ? STYLE_KEY : panel_line_style(line->class);
}

/* Convert a look that the log sets (color, bold, faint, reverse) to a style. */
static unsigned int look_style(unsigned int look, unsigned int line_style)
{
	unsigned int ink = look & LOGSGR_INK_MASK, style = line_style;

	if (ink >= LOGSGR_RED)
		style = STYLE_INK_RED + ink - LOGSGR_RED;
	else if (ink != LOGSGR_NONE)
		style = ink == LOGSGR_GREY ? STYLE_DIM : STYLE_NORMAL;
	if (look & LOGSGR_FAINT)
		style = ink < LOGSGR_RED	   ? STYLE_DIM
			: ink >= LOGSGR_BRIGHT_RED ? style - N_HUES
						   : style;
	if (look & LOGSGR_BOLD)
		style |= STYLE_BOLD;
	if (look & LOGSGR_REVERSE)
		style |= STYLE_REVERSE;
	return style;
}

_Static_assert(STYLE_INK_BRIGHT_CYAN - STYLE_INK_RED == LOGSGR_BRIGHT_CYAN - LOGSGR_RED,
	       "a style for each ink, in the same order");

/* Find the next hit of `marked` (may be NULL) in `piece`, a part of the line, and clip the hit to
 * the part. Search from byte *from, which becomes the end of the hit. */
static bool next_hit(const struct logsrc_line *line, struct str piece, const struct pattern *marked,
		     size_t *from, struct str *hit)
{
	struct str whole = { line->text.data, line->text.len };
	size_t begin = (size_t)(piece.p - whole.p), end = begin + piece.len;
	size_t at, len;
	uint32_t cp;

	while (marked != NULL && *from < end &&
	       pattern_find_from(marked, whole, *from, &at, &len) && at < end) {
		*from = at + len;
		if (len == 0 && at < whole.len)
			*from += utf8_decode((struct str){ whole.p + at, whole.len - at }, &cp);
		if (len == 0 || at + len <= begin)
			continue;
		len = (at + len < end ? at + len : end) - (at > begin ? at : begin);
		*hit = (struct str){ whole.p + (at > begin ? at : begin), len };
		return true;
	}
	return false;
}

/* Apply the log's own looks to a row that has been drawn. */
static void draw_looks(struct canvas *canvas, struct rect row, const struct logsrc_line *line,
		       struct str text, bool reverse)
{
	const struct logsgr_runs *runs = line->runs;
	size_t at = (size_t)(text.p - line->text.data), end = at + text.len;
	unsigned int keep = reverse ? ~0U : ~LOGSGR_REVERSE;

	for (size_t i = logsgr_runs_upto(runs, at); at < end && row.w > 0; i++) {
		size_t to = i < runs->n && runs->v[i].at < end ? runs->v[i].at : end;
		unsigned int look = i > 0 ? runs->v[i - 1].look & keep : 0;
		struct str piece = { line->text.data + at, to - at };
		struct rect part = rect_take_left(&row, (int)utf8_width(piece));

		if (look != 0)
			canvas_fill(canvas, part, look_style(look, row_style(line)), 0);
		at = to;
	}
}

/* Draw one row of the screen, with a part of line->text. Highlight hits of `marked` (or NULL). */
static void draw_row(struct canvas *canvas, struct rect row, const struct logsrc_line *line,
		     struct str text, const struct pattern *marked)
{
	size_t begin = (size_t)(text.p - line->text.data);
	/* Search from before the row, because a hit may start there. */
	size_t from = begin > HIT_BYTES ? begin - HIT_BYTES : 0;
	struct str hit, before = text;

	if (from < line->text.len)
		from = utf8_begin(line->text.data, from);
	bool has_hit = next_hit(line, text, marked, &from, &hit);

	canvas_line(canvas, row, row_style(line), text);
	/* In a row with a hit, do not reverse other parts. */
	if (line->runs != NULL && line->runs->n > 0)
		draw_looks(canvas, row, line, text, !has_hit);
	for (; has_hit && row.w > 0; has_hit = next_hit(line, text, marked, &from, &hit)) {
		before.len = (size_t)(hit.p - before.p);
		(void)rect_take_left(&row, (int)utf8_width(before));
		canvas_fill(canvas, rect_take_left(&row, (int)utf8_width(hit)), STYLE_MATCH, 0);
		before.p = hit.p + hit.len;
	}
}

/* Draw a line at the top of *r without its first `skip` rows, and remove its rows from *r. */
static void draw_line(struct logs *logs, struct canvas *canvas, struct rect *r, uint64_t place,
		      uint64_t skip)
{
	size_t columns = logs->wrap ? LOGS_MAX_COLUMNS : (size_t)(logs->left + r->w + HIT_COLUMNS);
	struct rect left = *r, row;
	struct logsgr_runs runs;
	AUTO_LINE line = logsrc_line_new(TEXT_BYTES);
	struct str text, piece;

	left.w = gutter_width(logs, r->w);
	logsgr_runs_init(&runs);
	line.runs = logs->colors ? &runs : NULL;
	logsrc_read(&logs->src, place, columns, &line);
	if (skip == 0)
		draw_gutter(logs, canvas, left, &line);
	for (size_t i = 0; i < logs->n_bookmarks && skip == 0; i++)
		if (is_bookmark(logs, i, place))
			canvas_put(canvas, left.x + left.w - 2, r->y, STYLE_KEY, 0x25C6);
	if (logs->has_hit && place == logs->hit)
		canvas_put(canvas, left.x + left.w - 1, r->y, STYLE_KEY, 0x25B8);
	text = buf_str(&line.text);
	if (!logs->wrap && !line.is_fold)
		text = str_skip(text, utf8_prefix(text, (size_t)logs->left));
	do {
		piece = logs->wrap ? take_row(&text, r->w - left.w) : text;
		if (skip > 0) {
			skip--;
			continue;
		}
		row = rect_take_top(r, 1);
		(void)rect_take_left(&row, left.w);
		draw_row(canvas, row, &line, piece, logs->marked);
	} while (logs->wrap && text.len > 0 && r->h > 0);
	logsgr_runs_release(&runs);
}

static const struct model_log *wanted_log(struct logs *logs, const struct ui_shared *shared)
{
	const struct model *model = shared->model;

	if (logs->merged)
		return NULL;
	if (logs->picked != NULL && logs->of_run == shared->selected)
		return logs->picked;
	logs->picked = NULL;
	if (shared->selected != NULL && shared->selected->log != NULL)
		return shared->selected->log;
	return model->n_logs == 1 ? model->logs[0] : NULL;
}

/* Open the selected log. If the view follows a log that was rotated, open the new log instead. */
static void open_wanted(struct logs *logs, struct ui_shared *shared)
{
	const struct model_log *log = wanted_log(logs, shared);
	bool follows = !logs->left_end;

	if (!logs->is_open) {
		logsrc_init(&logs->src);
		logs->errors = pattern_new(ERROR_PATTERN, NULL);
	}
	if (logs->is_open && log == logs->src.log) {
		bool rotated = logs->src.log != NULL && logs->src.log->next != NULL && !logs->stays;

		if (!follows || (!rotated && !logsrc_is_moved(&logs->src))) {
			(void)logsrc_refresh(&logs->src);
			return;
		}
		/* Choose the new log, so that wanted_log() returns it from now on. */
		while (log != NULL && log->next != NULL)
			log = log->next;
		if (log != NULL) {
			logs->picked = log;
			logs->of_run = shared->selected;
		}
	}
	logs->stays = log != NULL && log->next != NULL;
	logsrc_open(&logs->src, shared->model, log);
	logs->is_open = true;
	logs->left_end = logs->has_hit = false;
	logs->left = 0;
	logs->searching = NULL;
}

/* Call logsrc_search(); a search for errors also skips printed source code. */
static int continue_search(struct logs *logs)
{
	int64_t until = clock_mono_ms() + SLICE_MS;
	struct logsrc *src = &logs->src;
	int found;

	for (;;) {
		found = logsrc_search(src, logs->searching, logs->forward, until, &logs->search_at);
		if (found != 1 || logs->searching != logs->errors ||
		    logsrc_class(src, logs->search_at) != LINE_SOURCE)
			return found;
		if (logs->forward)
			logs->search_at = logsrc_raw_next(src, logs->search_at);
		if (clock_mono_ms() >= until)
			return 2;
	}
}

/* Continue the search for one slice; true if it is not finished. */
static bool search_slice(struct logs *logs, struct ui_shared *shared)
{
	const char *way = logs->forward ? "below; back to the first" : "above; back to the last";

	/* Wait: the search continues at the first line, which is not known yet. */
	if (logs->wrapped && logs->forward && logs->search_at == 0 && logs->src.timed != NULL &&
	    logtimed_more(logs->src.timed))
		return true;
	int found = continue_search(logs);
	if (found == 0 && !logs->wrapped) {
		logs->wrapped = true;
		logs->search_at = logs->forward ? 0 : logsrc_end(&logs->src);
		return true;
	}
	if (found == 2)
		return true;
	if (found == 1) {
		/* Cancel a jump to the first line that is not finished. */
		logs->to_begin = false;
		logs_show_hit(logs, logs->search_at, logs->searching);
	}
	if (found == 0)
		ui_show_message(shared, "no match");
	else if (logs->wrapped)
		ui_show_message(shared, "no more matches %s", way);
	logs->searching = NULL;
	return false;
}

static void begin_search(struct logs *logs, struct ui_shared *shared, const struct pattern *pattern,
			 bool forward)
{
	if (pattern == NULL) {
		ui_show_message(shared, "no search pattern yet; press /");
		return;
	}
	logs->searching = pattern;
	logs->forward = forward;
	logs->wrapped = false;
	/* A new pattern may match in the line of the last hit, so search that line again. */
	if (logs->has_hit && forward && pattern != logs->searched)
		logs->search_at = logs->hit;
	else if (logs->has_hit)
		logs->search_at = forward ? logsrc_raw_next(&logs->src, logs->hit) : logs->hit;
	else if (logs->left_end)
		logs->search_at = logs->top.place;
	else
		logs->search_at = logsrc_end(&logs->src);
	logs->searched = pattern;
	(void)search_slice(logs, shared);
}

/* Count the lines in `budget` more bytes; true if there are more bytes. */
static bool count_lines(struct logsrc *src, uint64_t budget)
{
	if (src->timed != NULL)
		return logtimed_count(src->timed, budget);
	return src->file != NULL && logfile_count(src->file, budget);
}

/* Append the position to the title, or that the view is searching or following. */
static void add_position(const struct logs *logs, struct buf *out)
{
	const struct logsrc *src = &logs->src;
	const struct model_log *log = src->log;
	int searched = logsrc_percent(src, 0, logs->search_at);

	if (logs->searching != NULL && src->file == NULL)
		buf_append_str(out, " · searching, Esc stops");
	else if (logs->searching != NULL)
		buf_appendf(out, " · searching %d %%, Esc stops",
			    logs->forward ? searched : 100 - searched);
	else if (!logs->left_end && log != NULL && (log->next != NULL || log->gone_wall_ms != 0))
		buf_append_str(out, " · end of the log");
	else if (!logs->left_end)
		buf_append_str(out, " · following");
	else if (src->file != NULL)
		buf_appendf(out, " · at %d %%, f follows", logsrc_percent(src, 0, logs->top.place));
	else
		buf_append_str(out, " · f follows");
}

/* Describe the order of the lines, and missing lines, for the title. */
static const char *describe_order(const struct logs *logs)
{
	static const char *const orders[] = {
		[LOGTIMED_TIMES] = " · by time",
		[LOGTIMED_SOME] = " · by time where known",
		[LOGTIMED_NONE] = " · in order of arrival",
	};
	const struct logsrc *src = &logs->src;

	if (src->timed != NULL)
		return logsrc_is_moved(src)	     ? " · by time; new lines available, f to "
						       "follow"
		       : logtimed_is_cut(src->timed) ? " · by time, newest lines only"
						     : orders[logtimed_order(src->timed)];
	if (src->log->is_preview)
		return " · only the end so far; earlier lines are being fetched";
	if (src->log->next != NULL)
		return logs->stays ? " · an older log, f shows the newest"
				   : " · rotated, f shows the new log";
	if (logsrc_is_moved(src))
		return " · rewritten, f shows the new content";
	return src->log->gone_wall_ms != 0 ? " · file deleted" : "";
}

/* Draw the frame and the title: name, lines, position, filter, order. */
static void draw_title(const struct logs *logs, const struct ui_shared *shared,
		       struct canvas *canvas, struct rect r)
{
	const struct logsrc *src = &logs->src;
	struct plot_label name = { "All logs, merged" };
	uint64_t hits = logsrc_filter_hits(src), lines = 0;
	bool all = true;
	AUTO_BUF title = buf_new(TITLE_BYTES);
	AUTO_BUF rest = buf_new(TITLE_BYTES);

	if (src->log != NULL && shared->selected != NULL && shared->selected->log == src->log)
		name = plot_run_label(shared->selected);
	else if (src->log != NULL)
		print_into(name.s, "%s", file_name(src->log->path));
	if (src->file != NULL)
		lines = logfile_lines(src->file, &all);
	else if (src->timed != NULL)
		lines = logtimed_end(src->timed) - logtimed_begin(src->timed);
	buf_appendf(&rest, " · %s%s line%s", all ? "" : ">", fmt_grouped((double)lines).s,
		    lines == 1 ? "" : "s");
	add_position(logs, &rest);
	if (src->filter != NULL)
		buf_appendf(&rest, " · & %.60s: %s%s line%s", logs->filter_text,
			    src->is_cut ? "newest " : "", fmt_grouped((double)hits).s,
			    hits == 1 ? "" : "s");
	if (logsrc_is_filtering(src) && src->file == NULL)
		buf_append_str(&rest, " so far");
	else if (logsrc_is_filtering(src))
		buf_appendf(&rest, " in %d %%", logsrc_percent(src, src->from, src->to));
	if (logs->left > 0 && !logs->wrap)
		buf_appendf(&rest, " · from column %d", logs->left + 1);
	buf_append_str(&rest, describe_order(logs));
	canvas_elide(str_from(name.s), int_max(r.w - 6 - text_width(rest.data), NAME_COLUMNS),
		     &title);
	buf_append_str(&title, rest.data);
	(void)canvas_box(canvas, r, "%s", title.data);
}

static void logs_draw(void *state, struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	struct logs *logs = state;
	struct logsrc *src = &logs->src;
	struct rect in = { r.x + 1, r.y + 1, r.w - 2, r.h - 2 };
	const char *empty = NULL;

	open_wanted(logs, shared);
	(void)count_lines(src, FRAME_BYTES);
	/* Filter the newest lines now instead of in logs_work(), so that they appear at once. */
	if (src->above_done)
		(void)logsrc_continue_filter(src);
	logs_fit(logs, in);
	logs->marked = logs->pattern;
	logs->colors = shared->log_colors;
	draw_title(logs, shared, canvas, r);
	if (logsrc_is_empty(src) && logs->merged)
		empty = "These logs have no lines yet.\nA shows one of them";
	else if (logsrc_is_empty(src) && src->file == NULL && src->log != NULL && src->moves > 0)
		empty = "The local copy of this log was deleted.\n"
			"When all copies together exceed mirror_cap_bytes, the oldest are deleted.";
	else if (logsrc_is_empty(src))
		empty = "This log has no lines yet.\nA merges all logs";
	else if (src->filter != NULL && logsrc_filter_hits(src) == 0 && !logsrc_is_filtering(src))
		empty = "No line matches the filter.\n& and Enter show all lines";
	if (empty != NULL) {
		panel_empty(canvas, r, empty);
		return;
	}
	uint64_t place = logsrc_at(src, logs->top.place), skip = logs->wrap ? logs->top.row : 0;
	while (in.h > 0 && place < logsrc_end(src)) {
		draw_line(logs, canvas, &in, place, skip);
		skip = 0;
		place = logsrc_next(src, place);
	}
}

/* Make a pattern of a filter. A line must match all parts of "a & b", and must not match a part
 * that starts with !. A part that starts with # is disabled, which sets *is_off. A single part
 * becomes the pattern unchanged, with *out set for !, because logsrc can search it in blocks.
 * Returns NULL with err if a part is invalid, or without err if all parts are disabled. */
static struct pattern *new_filter(const char *text, bool *out, bool *is_off, struct err *err)
{
	struct str rest = str_from(text), part, last = rest;
	AUTO_BUF all = buf_new((size_t)8 * PROMPT_BYTES);
	size_t n = 0;

	buf_append_char(&all, '^');
	while (str_next(&rest, '&', &part)) {
		part = str_trim(part);
		*is_off |= part.len > 0 && part.p[0] == '#';
		if (part.len == 0 || part.p[0] == '#')
			continue;
		n++;
		last = strchr(text, '&') != NULL ? part : str_from(text);
		int skip = part.p[0] == '!';
		buf_appendf(&all, "(?%c.*?(?:%.*s))", skip ? '!' : '=', (int)part.len - skip,
			    part.p + skip);
	}
	*out = n == 1 && last.p[0] == '!';
	if (n == 1) {
		buf_clear(&all);
		buf_append(&all, last.p + *out, last.len - *out);
	}
	return n > 0 ? pattern_new(all.data, err) : NULL;
}

static int logs_search(void *state, struct ui_shared *shared, const char *text, bool filter,
		       struct err *err)
{
	struct logs *logs = state;
	struct pattern *pattern = NULL;
	bool out = false, is_off = false;

	if (!logs->is_open)
		open_wanted(logs, shared);
	if (text[0] != '\0') {
		pattern = filter ? new_filter(text, &out, &is_off, err) : pattern_new(text, err);
		if (pattern == NULL && err->code != ERR_NONE)
			return -1;
	}
	logs->searching = NULL;
	if (!filter) {
		if (pattern == NULL)
			return 0;
		logs->marked = NULL;
		pattern_free(logs->pattern);
		logs->pattern = pattern;
		logs->searched = NULL;
		/* While the view follows the end, search backwards, to find the newest hit. */
		begin_search(logs, shared, pattern, logs->left_end);
		return 0;
	}
	logsrc_filter(&logs->src, pattern, out, logs->left_end ? logs->top.place : UINT64_MAX);
	logs->top.row = 0;
	print_into(logs->filter_text, "%s", text);
	if (is_off)
		ui_show_message(shared, "a filter starting with # is disabled; to match a #, type "
					"\\#");
	return 0;
}

static bool scroll_or_jump(struct logs *logs, enum action action)
{
	int half = int_max(logs->height / 2, 1);
	int aside = logs->width > 32 ? logs->width / 2 : 16;
	const struct {
		enum action action;
		int rows, columns;
	} steps[] = {
		{ ACTION_UP, -1, 0 },	      { ACTION_DOWN, 1, 0 },
		{ ACTION_PAGE_UP, -half, 0 }, { ACTION_PAGE_DOWN, half, 0 },
		{ ACTION_LEFT, 0, -aside },   { ACTION_RIGHT, 0, aside },
	};

	for (size_t i = 0; i < LENGTH(steps); i++) {
		if (steps[i].action != action)
			continue;
		if (steps[i].rows != 0)
			logs_scroll(logs, steps[i].rows);
		else
			logs->left = int_max(
				0, int_min(logs->left + steps[i].columns, LOGS_MAX_COLUMNS));
		logs->to_begin = false;
		return true;
	}
	if (action == ACTION_TOP)
		logs_to_begin(logs);
	else if (action == ACTION_FOLLOW || action == ACTION_BOTTOM)
		logs->left_end = false;
	else
		return false;
	if (action == ACTION_FOLLOW)
		logs->stays = false;
	logs->searching = NULL;
	logs->has_hit = false;
	logs->to_begin = action == ACTION_TOP;
	return true;
}

static void copy_line(struct logs *logs, struct ui_shared *shared, struct command *out)
{
	uint64_t place = logs_current(logs);
	AUTO_LINE line = logsrc_line_new(WHOLE_BYTES);

	if (place >= logsrc_end(&logs->src)) {
		ui_show_message(shared, "no line to copy");
		return;
	}
	logsrc_read(&logs->src, place, WHOLE_COLUMNS, &line);
	out->id = COMMAND_COPY;
	out->text = buf_detach(&line.text);
}

static void edit_log(struct logs *logs, struct ui_shared *shared, struct command *out)
{
	uint64_t place = logs_current(logs);
	AUTO_LINE line = logsrc_line_new(WHOLE_BYTES);

	line.log = logs->src.log;
	if (place < logsrc_end(&logs->src))
		logsrc_read(&logs->src, place, 1, &line);
	if (line.log == NULL || line.log->file == NULL) {
		ui_show_message(shared, "this log has no local file to open");
		return;
	}
	out->id = COMMAND_EDIT;
	out->name = xstrdup(line.log->file);
	out->line = line.number;
}

/* A new rule is made from LEARN_LINES lines above and below, each cut to LEARN_BYTES. */
#define LEARN_LINES 400
#define LEARN_BYTES ((size_t)4096)

/* Request a rule for the current line, and pass the lines around it to recognize the row. */
static void learn_line(struct logs *logs, struct ui_shared *shared, struct command *out)
{
	uint64_t here = logs_current(logs), place = here, above;
	AUTO_BUF text = buf_new(LEARN_LINES * 2 * LEARN_BYTES);
	AUTO_LINE line = logsrc_line_new(LEARN_BYTES);

	if (here >= logsrc_end(&logs->src)) {
		ui_show_message(shared, "no line here to create a rule from");
		return;
	}
	logsrc_read(&logs->src, here, LEARN_BYTES, &line);
	buf_appendf(&text, "%s\n", line.text.data);
	out->name = xstrdup(file_name(line.log->path));
	for (char *p = out->name; *p != '\0'; p++)
		if (!str_is_word(*p) && strchr(".-", *p) == NULL)
			*p = '_';
	for (int i = 0; i < LEARN_LINES; i++, place = above) {
		above = logsrc_prev(&logs->src, place);
		if (above == UINT64_MAX)
			break;
	}
	for (int i = 0; i < 2 * LEARN_LINES && place < logsrc_end(&logs->src);
	     i++, place = logsrc_next(&logs->src, place)) {
		logsrc_read(&logs->src, place, LEARN_BYTES, &line);
		buf_appendf(&text, "%s\n", line.text.data);
	}
	out->id = COMMAND_LEARN;
	out->text = buf_detach(&text);
}

static void toggle_bookmark(struct logs *logs, struct ui_shared *shared)
{
	uint64_t here = logs_current(logs);
	size_t n = logs->n_bookmarks, i = index_of(k, n, is_bookmark(logs, k, here));

	if (i < n)
		logs->bookmarks[i] = logs->bookmarks[--logs->n_bookmarks];
	else if (logs->src.log == NULL)
		ui_show_message(shared, "merged lines cannot be marked; A shows a single log");
	else if (n == MAX_BOOKMARKS)
		ui_show_message(shared, "%d lines are marked; unmark one first", MAX_BOOKMARKS);
	else
		logs->bookmarks[logs->n_bookmarks++] =
			(struct logs_bookmark){ logs->src.log, here };
	logs->hit = here;
	logs->has_hit = true;
}

/* Go to the next marked line; after the last one, to the first. */
static void next_bookmark(struct logs *logs, struct ui_shared *shared)
{
	uint64_t from = logs_current(logs) + 1, away = UINT64_MAX;
	bool found = false;

	/* The difference is unsigned, so it wraps around and is large for lines above. */
	for (size_t i = 0; i < logs->n_bookmarks; i++) {
		if (logs->bookmarks[i].log != logs->src.log)
			continue;
		found = true;
		if (logs->bookmarks[i].place - from < away)
			away = logs->bookmarks[i].place - from;
	}
	if (found)
		logs_show_hit(logs, from + away, NULL);
	else
		ui_show_message(shared, "no marked line in this log; Space marks one");
}

/* Show the next or previous log, and select its last run. */
static void step_log(struct logs *logs, struct ui_shared *shared, bool on)
{
	const struct model *model = shared->model;
	const struct model_log *log = logs->src.log;
	size_t i = index_of(k, model->n_logs, model->logs[k] == log);

	if (i == model->n_logs)
		i = on ? 0 : model->n_logs - 1;
	else if (on ? i + 1 >= model->n_logs : i == 0)
		return;
	else
		i = on ? i + 1 : i - 1;
	if (i >= model->n_logs)
		return;
	logs->merged = false;
	logs->picked = model->logs[i];
	for (size_t k = 0; k < model->n_runs; k++)
		if (model->runs[k]->log == logs->picked)
			shared->selected = model->runs[k];
	logs->of_run = shared->selected;
}

static void toggle_display(struct logs *logs, struct ui_shared *shared, enum action action)
{
	if (action == ACTION_FOLD) {
		logs->src.fold = !logs->src.fold;
		ui_show_message(shared, "printed source code is %s",
				logs->src.fold ? "folded" : "shown");
	} else if (action == ACTION_WRAP) {
		logs->wrap = !logs->wrap;
		ui_show_message(shared, "long lines %s",
				logs->wrap ? "are wrapped" : "scroll sideways");
	} else {
		logs->merged = !logs->merged;
	}
	logs->top.row = 0;
	logs->left = 0;
}

static bool logs_act(void *state, struct ui_shared *shared, enum action action, struct command *out)
{
	struct logs *logs = state;

	/* A key may arrive before the first frame. */
	if (!logs->is_open)
		open_wanted(logs, shared);
	if (action == ACTION_BACK && logs->searching != NULL) {
		logs->searching = NULL;
		ui_show_message(shared, "search stopped");
		return true;
	}
	if ((action == ACTION_BACK || action == ACTION_QUIT) && logs->src.filter != NULL) {
		(void)logs_search(logs, shared, "", true, NULL);
		ui_show_message(shared, "showing all lines; & and Up restore the filter");
		return true;
	}
	if (action == ACTION_SEARCH_NEXT || action == ACTION_SEARCH_PREV)
		begin_search(logs, shared, logs->pattern, action == ACTION_SEARCH_NEXT);
	else if (action == ACTION_ERROR_NEXT || action == ACTION_ERROR_PREV)
		begin_search(logs, shared, logs->errors, action == ACTION_ERROR_NEXT);
	else if (action == ACTION_NEXT_RUN || action == ACTION_PREV_RUN)
		step_log(logs, shared, action == ACTION_NEXT_RUN);
	else if (action == ACTION_FOLD || action == ACTION_WRAP || action == ACTION_MERGE)
		toggle_display(logs, shared, action);
	else if (action == ACTION_COPY)
		copy_line(logs, shared, out);
	else if (action == ACTION_EDIT)
		edit_log(logs, shared, out);
	else if (action == ACTION_LEARN)
		learn_line(logs, shared, out);
	else if (action == ACTION_BOOKMARK)
		toggle_bookmark(logs, shared);
	else if (action == ACTION_BOOKMARK_NEXT)
		next_bookmark(logs, shared);
	else
		return scroll_or_jump(logs, action);
	return true;
}

/* Search, filter and count lines for one slice; true if that is not finished. */
static bool logs_work(void *state, struct ui_shared *shared)
{
	struct logs *logs = state;
	struct logsrc *src = &logs->src;
	int64_t until = clock_mono_ms() + SLICE_MS;

	/* A key may have chosen another log that has not been drawn yet. */
	open_wanted(logs, shared);
	if (logs->searching != NULL && search_slice(logs, shared))
		return true;
	while (logs->to_begin && src->timed != NULL && logtimed_more(src->timed)) {
		if (clock_mono_ms() < until)
			continue;
		logs_to_begin(logs);
		return true;
	}
	while (logsrc_continue_filter(src) && clock_mono_ms() < until)
		;
	/* Jump again: the filter may have found an earlier line. */
	if (logs->to_begin)
		logs_to_begin(logs);
	if (logsrc_is_filtering(src))
		return true;
	logs->to_begin = false;
	return count_lines(src, COUNT_BYTES);
}

/* Append the lines from the top of the screen to the end. */
static void logs_text(void *state, UNUSED struct ui_shared *shared, struct buf *out)
{
	struct logs *logs = state;
	uint64_t place = logsrc_at(&logs->src, logs->top.place);
	AUTO_LINE line = logsrc_line_new(WHOLE_BYTES);

	while (place < logsrc_end(&logs->src)) {
		logsrc_read(&logs->src, place, WHOLE_COLUMNS, &line);
		if (out->len + line.text.len + 1 > out->cap) {
			out->truncated = true;
			break;
		}
		buf_appendf(out, "%s\n", line.text.data);
		place = logsrc_next(&logs->src, place);
	}
}

static bool logs_click(void *state, UNUSED struct ui_shared *shared, UNUSED int x, int y)
{
	struct logs *logs = state;
	struct logs_row row = logs->top;

	if (!logs->is_open || y < logs->y || y >= logs->y + logs->height)
		return false;
	row.place = logsrc_at(&logs->src, row.place);
	for (; y > logs->y && row.place < logsrc_end(&logs->src); y--)
		row_down(logs, &row);
	if (row.place >= logsrc_end(&logs->src))
		return false;
	logs->hit = row.place;
	logs->has_hit = true;
	return true;
}

static void logs_release(void *state)
{
	struct logs *logs = state;

	if (logs->is_open)
		logsrc_release(&logs->src);
	pattern_free(logs->pattern);
	pattern_free(logs->errors);
}

const struct view_ops view_logs = {
	.name = "Logs",
	.open = ACTION_VIEW_LOGS,
	.state_size = sizeof(struct logs),
	.places = IN_LOGS | IN_TEXT,
	.watches = MODEL_LOGS | MODEL_RUNS,
	.copies = true,
	.hints = (const enum action[]){ ACTION_FILTER, ACTION_BOOKMARK, ACTION_ERROR_PREV,
					ACTION_FOLLOW, ACTION_MERGE, ACTION_FOLD, ACTION_WRAP,
					ACTION_NEXT_RUN, ACTION_NONE },
	.draw = logs_draw,
	.act = logs_act,
	.click = logs_click,
	.search = logs_search,
	.work = logs_work,
	.text = logs_text,
	.release = logs_release,
};
