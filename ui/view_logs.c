/* SPDX-License-Identifier: MIT */
/* Logs: one log or all merged; follow, search, filter, folded source. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ui/logpage.h"
#include "ui/panel.h"
#include "ui/prompt.h"
#include "ui/theme.h"

#define TITLE_BYTES  1000
#define NAME_COLUMNS 16 /* a name is not cut below that */
#define COUNT_BYTES  (16U << 20)
#define FRAME_BYTES  (1U << 20) /* are counted before a frame is drawn */
#define SLICE_MS     25 /* of background work, between two key presses */
/* What is taken out of the view is whole: a column is a byte at least. */
#define WHOLE_COLUMNS LOGSRC_RAW_BYTES
#define WHOLE_BYTES   (4 * LOGSRC_RAW_BYTES)
#define ERROR_PATTERN                                                          \
	"(?i)error|traceback|exception|out of memory|\\bnan\\b|killed|nccl wa"

struct logs {
	struct logpage page;
	const struct model_log *picked; /* by J and K; NULL: the run's */
	const struct model_run *of_run; /* selected when it was picked */
	bool is_open, merged;
	bool stays;    /* with a log that was rotated before it was opened */
	bool to_begin; /* as soon as the begin is known */
	struct pattern *pattern; /* owned; of the search */
	struct pattern *errors;	 /* owned */
	char filter_text[PROMPT_BYTES + 1];
	/* A search that goes on in the background. */
	const struct pattern *searching;
	bool forward;
	uint64_t search_at;
	const struct pattern *searched; /* last; to compare, not to use */
};

/* The log that took its place when it was rotated, and so on. */
static const struct model_log *
newest(const struct model_log *log)
{
	while (log != NULL && log->next != NULL)
		log = log->next;
	return log;
}

static const struct model_log *
wanted_log(struct logs *logs, const struct ui_shared *shared)
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

/* Show what is selected now; one that is followed through its rotations. */
static void
open_wanted(struct logs *logs, struct ui_shared *shared)
{
	const struct model_log *log = wanted_log(logs, shared);
	struct logpage *page = &logs->page;
	bool follows = !page->left_end;

	if (!logs->is_open)
		logpage_init(page);
	if (logs->is_open && log == page->src.log) {
		bool rotated = page->src.log != NULL &&
			       page->src.log->next != NULL && !logs->stays;

		if (!follows || (!rotated && !logsrc_is_moved(&page->src))) {
			(void)logsrc_refresh(&page->src);
			return;
		}
		/* From now on it is the one that is wanted. */
		log = newest(page->src.log);
		if (log != NULL) {
			logs->picked = log;
			logs->of_run = shared->selected;
		}
	}
	logs->stays = log != NULL && log->next != NULL;
	logsrc_open(&page->src, shared->model, log);
	logs->is_open = true;
	page->left_end = page->has_hit = false;
	page->left = 0;
	logs->searching = NULL;
}

/* The same as logsrc_search, but code that raises errors is no error. */
static int
look_on(struct logs *logs)
{
	int64_t until = clock_real.mono_ms(&clock_real) + SLICE_MS;
	struct logsrc *src = &logs->page.src;
	int found;

	for (;;) {
		found = logsrc_search(src, logs->searching, logs->forward,
				      until, &logs->search_at);
		if (found != 1 || logs->searching != logs->errors ||
		    logsrc_class(src, logs->search_at) != LINE_SOURCE)
			return found;
		if (logs->forward)
			logs->search_at = logsrc_raw_next(src, logs->search_at);
		if (clock_real.mono_ms(&clock_real) >= until)
			return 2;
	}
}

/* Look on for as long as nobody notices; true: not done yet. */
static bool
search_slice(struct logs *logs, struct ui_shared *shared)
{
	int found = look_on(logs);

	if (found == 2)
		return true;
	if (found == 1) {
		/* A g before it that is not done yet gives way to it. */
		logs->to_begin = false;
		logpage_show_hit(&logs->page, logs->search_at, logs->searching);
	} else {
		ui_say(shared, "no more hits %s",
		       logs->forward ? "below" : "above");
	}
	logs->searching = NULL;
	return false;
}

static void
begin_search(struct logs *logs, struct ui_shared *shared,
	     const struct pattern *pattern, bool forward)
{
	struct logpage *page = &logs->page;

	if (pattern == NULL) {
		ui_say(shared, "/ searches first");
		return;
	}
	logs->searching = pattern;
	logs->forward = forward;
	/* A new pattern may be in the line of the last hit. */
	if (page->has_hit && forward && pattern != logs->searched)
		logs->search_at = page->hit;
	else if (page->has_hit)
		logs->search_at =
			forward ? logsrc_raw_next(&page->src, page->hit)
				: page->hit;
	else if (page->left_end)
		logs->search_at = page->top.place;
	else
		logs->search_at = logsrc_end(&page->src);
	logs->searched = pattern;
	(void)search_slice(logs, shared);
}

/* Number the lines of so many bytes more; true: not done yet. */
static bool
count_lines(struct logsrc *src, uint64_t budget)
{
	if (src->timed != NULL)
		return logtimed_count(src->timed, budget);
	return src->file != NULL && logfile_count(src->file, budget);
}

/* What is done with the log now, in words. */
static void
say_state(const struct logs *logs, char out[80])
{
	const struct logpage *page = &logs->page;
	const struct logsrc *src = &page->src;

	if (logs->searching != NULL && src->file == NULL)
		(void)snprintf(out, 80, "searching, Esc stops");
	else if (logs->searching != NULL)
		(void)snprintf(out, 80, "searching %d %%, Esc stops",
			       logs->forward
				       ? logsrc_percent(src, 0, logs->search_at)
				       : 100 - logsrc_percent(src, 0,
							      logs->search_at));
	else if (!page->left_end && src->log != NULL &&
		 (src->log->next != NULL || src->log->gone_wall_ms != 0))
		(void)snprintf(out, 80, "its end");
	else if (!page->left_end)
		(void)snprintf(out, 80, "following");
	else if (src->file != NULL)
		(void)snprintf(out, 80, "at %d %%, f follows",
			       logsrc_percent(src, 0, page->top.place));
	else
		(void)snprintf(out, 80, "f follows");
}

/* What is not shown, or not in the order one might think. */
static const char *
say_order(const struct logs *logs)
{
	const struct logsrc *src = &logs->page.src;

	if (src->timed != NULL)
		return logsrc_is_moved(src)
			       ? " · by time; logs came, f shows them"
		       : logtimed_is_cut(src->timed)
			       ? " · by time, the newest of them"
			       : " · by time";
	if (src->log == NULL)
		return src->tails.is_cut
			       ? " · as they came, the last 10,000 of each"
			       : " · as they came";
	if (src->log->behind)
		return " · its end; what is before it is on its way";
	if (src->log->next != NULL)
		return logs->stays ? " · an older one, f shows the newest"
				   : " · rotated, f shows the new one";
	if (logsrc_is_moved(src))
		return " · written anew, f shows it";
	if (src->log->gone_wall_ms != 0)
		return " · its file is gone";
	if (src->file == NULL && src->path != NULL)
		return " · its end; the copy here is gone";
	if (src->file == NULL && src->tails.is_cut)
		return " · its end; no more of it is kept here";
	return "";
}

static void
say_filter(const struct logs *logs, char out[160])
{
	const struct logsrc *src = &logs->page.src;
	char hits[FMT_SIZE], part[40] = "";

	out[0] = '\0';
	if (src->filter == NULL)
		return;
	(void)fmt_grouped((double)logsrc_filter_hits(src), hits);
	if (logsrc_is_filtering(src) && src->file == NULL)
		(void)snprintf(part, sizeof(part), " so far");
	else if (logsrc_is_filtering(src))
		(void)snprintf(part, sizeof(part), " in %d %%",
			       logsrc_percent(src, src->from, src->to));
	(void)snprintf(out, 160, " · & %.60s: %s%s line%s%s", logs->filter_text,
		       src->is_cut ? "the newest " : "", hits,
		       logsrc_filter_hits(src) == 1 ? "" : "s", part);
}

static void
say_lines(const struct logs *logs, char out[FMT_SIZE + 16])
{
	const struct logsrc *src = &logs->page.src;
	char lines[FMT_SIZE];
	bool all = true;
	uint64_t n = src->tails.n;

	if (src->file != NULL)
		n = logfile_lines(src->file, &all);
	else if (src->timed != NULL)
		n = logtimed_lines(src->timed);
	(void)snprintf(out, FMT_SIZE + 16, "%s%s line%s", all ? "" : ">",
		       fmt_grouped((double)n, lines), n == 1 ? "" : "s");
}

/* Name without its middle, in at most so many columns; its end tells seeds. */
static void
shorten(const char *name, size_t columns, struct buf *out)
{
	struct str all = str_from(name), head = all;
	size_t width = utf8_width(all), tail = columns / 3;

	if (width <= columns) {
		buf_append_str(out, name);
		return;
	}
	head.len = utf8_prefix(all, columns - tail - 1);
	buf_append(out, head.p, head.len);
	buf_append_str(out, "…");
	head.len = utf8_prefix(all, width - tail);
	buf_append(out, all.p + head.len, all.len - head.len);
}

/* Which log it is, or that it is all. */
static void
say_name(const struct logs *logs, const struct ui_shared *shared,
	 char label[FMT_LABEL])
{
	const struct model_log *log = logs->page.src.log;
	const char *slash = log != NULL ? strrchr(log->path, '/') : NULL;

	if (log == NULL)
		(void)snprintf(label, FMT_LABEL, "All logs, merged");
	else if (shared->selected != NULL && shared->selected->log == log)
		plot_run_label(shared->selected, label);
	else
		(void)snprintf(label, FMT_LABEL, "%s",
			       slash != NULL ? slash + 1 : log->path);
}

/* The frame around the log, and in it which one, how much and what of it. */
static void
logs_draw_title(const struct logs *logs, const struct ui_shared *shared,
		struct canvas *canvas, struct rect r)
{
	char label[FMT_LABEL], lines[FMT_SIZE + 16], state[80], filter[160];
	size_t room = r.w > 6 ? (size_t)(r.w - 6) : 0, used;
	struct buf title, rest;

	buf_init(&title, TITLE_BYTES);
	buf_init(&rest, TITLE_BYTES);
	say_name(logs, shared, label);
	say_lines(logs, lines);
	say_state(logs, state);
	say_filter(logs, filter);
	buf_appendf(&rest, " · %s · %s%s", lines, state, filter);
	if (logs->page.left > 0 && !logs->page.wrap)
		buf_appendf(&rest, " · from column %d", logs->page.left + 1);
	buf_append_str(&rest, say_order(logs));
	used = utf8_width((struct str){ rest.data, rest.len });
	shorten(label, room > used + NAME_COLUMNS ? room - used : NAME_COLUMNS,
		&title);
	buf_append(&title, rest.data, rest.len);
	canvas_box(canvas, r, title.data);
	buf_release(&title);
	buf_release(&rest);
}

static void
logs_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	  struct rect r)
{
	static const char *const empty[] = { "This log has no lines yet.",
					     "A merges all logs", NULL };
	static const char *const all_empty[] = {
		"These logs have no lines yet.", "A shows one of them", NULL
	};
	static const char *const gone[] = {
		"The copy of this log is gone: the oldest are removed",
		"when they are more than mirror_cap_bytes.", NULL
	};
	static const char *const none[] = { "No line passes the filter.",
					    "& and Enter show all again",
					    NULL };
	struct logs *logs = state;
	struct logpage *page = &logs->page;
	struct rect in = { r.x + 1, r.y + 1, r.w - 2, r.h - 2 };

	open_wanted(logs, shared);
	(void)count_lines(&page->src, FRAME_BYTES);
	/* What just came passes the filter now, not when there is time. */
	if (page->src.above_done)
		(void)logsrc_filter_on(&page->src);
	logpage_fit(page, in);
	page->marked = logs->pattern;
	page->colors = shared->log_colors;
	logs_draw_title(logs, shared, canvas, r);
	if (logsrc_end(&page->src) == 0)
		panel_empty(canvas, r,
			    page->src.path != NULL && page->src.file == NULL
				    ? gone
			    : logs->merged ? all_empty
					   : empty);
	else if (page->src.filter != NULL &&
		 logsrc_filter_hits(&page->src) == 0 &&
		 !logsrc_is_filtering(&page->src))
		panel_empty(canvas, r, none);
	else
		logpage_draw(page, canvas, in);
}

static int
logs_search(void *state, struct ui_shared *shared, const char *text,
	    bool filter, struct err *err)
{
	struct logs *logs = state;
	struct logpage *page = &logs->page;
	bool out = filter && text[0] == '!';
	struct pattern *pattern = NULL;

	if (!logs->is_open)
		open_wanted(logs, shared);
	if (text[0] != '\0') {
		pattern = pattern_new(text + out, err);
		if (pattern == NULL)
			return -1;
	}
	logs->searching = NULL;
	if (!filter) {
		if (pattern == NULL)
			return 0;
		page->marked = NULL;
		pattern_free(logs->pattern);
		logs->pattern = pattern;
		logs->searched = NULL;
		/* From the end, the newest hit is the one that is meant. */
		begin_search(logs, shared, pattern, page->left_end);
		return 0;
	}
	logsrc_filter(&page->src, pattern, out,
		      page->left_end ? page->top.place : UINT64_MAX);
	page->top.row = 0;
	(void)snprintf(logs->filter_text, sizeof(logs->filter_text), "%s",
		       text);
	return 0;
}

static const struct pattern *
error_pattern(struct logs *logs)
{
	if (logs->errors == NULL)
		logs->errors = pattern_new(ERROR_PATTERN, NULL);
	return logs->errors;
}

/* Actions that move; false when it is none. */
static bool
move(struct logs *logs, enum action action)
{
	struct logpage *page = &logs->page;
	int half = page->height > 2 ? page->height / 2 : 1;
	bool to_begin = logs->to_begin;
	int aside = page->width > 32 ? page->width / 2 : 16;

	logs->to_begin = action == ACTION_TOP;
	if (action == ACTION_FOLLOW)
		logs->stays = false;
	if (action == ACTION_UP)
		logpage_scroll(page, -1);
	else if (action == ACTION_DOWN)
		logpage_scroll(page, 1);
	else if (action == ACTION_PAGE_UP)
		logpage_scroll(page, -half);
	else if (action == ACTION_PAGE_DOWN)
		logpage_scroll(page, half);
	else if (action == ACTION_TOP) {
		logpage_to_begin(page);
		page->has_hit = false;
	} else if (action == ACTION_LEFT || action == ACTION_RIGHT)
		logpage_shift(page, action == ACTION_LEFT ? -aside : aside);
	else if (action == ACTION_BOTTOM || action == ACTION_FOLLOW)
		page->left_end = page->has_hit = false;
	else {
		logs->to_begin = to_begin;
		return false;
	}
	return true;
}

static bool
copy_line(struct logs *logs, struct ui_shared *shared, struct command *out)
{
	struct logpage *page = &logs->page;
	uint64_t place = logpage_current(page);
	struct logsrc_line line;

	if (place >= logsrc_end(&page->src)) {
		ui_say(shared, "there is no line to copy");
		return true;
	}
	logsrc_line_init(&line, WHOLE_BYTES);
	logsrc_read(&page->src, place, WHOLE_COLUMNS, &line);
	out->id = COMMAND_COPY;
	out->text = buf_detach(&line.text);
	logsrc_line_release(&line);
	return true;
}

/* The log next to the one that is shown, with its last run. */
static void
step_log(struct logs *logs, struct ui_shared *shared, bool on)
{
	const struct model *model = shared->model;
	const struct model_log *log = logs->page.src.log;
	size_t i = 0;

	while (i < model->n_logs && model->logs[i] != log)
		i++;
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

static void
turn(struct logs *logs, enum action action)
{
	struct logpage *page = &logs->page;

	if (action == ACTION_FOLD)
		page->src.fold = !page->src.fold;
	else if (action == ACTION_WRAP)
		page->wrap = !page->wrap;
	else
		logs->merged = !logs->merged;
	page->top.row = 0;
	page->left = 0;
}

static bool
logs_act(void *state, struct ui_shared *shared, enum action action,
	 struct command *out)
{
	struct logs *logs = state;

	/* Keys may come before the first frame. */
	if (!logs->is_open)
		open_wanted(logs, shared);
	if (move(logs, action))
		return true;
	if (action == ACTION_BACK && logs->searching != NULL) {
		logs->searching = NULL;
		ui_say(shared, "the search was stopped");
	} else if (action == ACTION_SEARCH_NEXT ||
		   action == ACTION_SEARCH_PREV) {
		begin_search(logs, shared, logs->pattern,
			     action == ACTION_SEARCH_NEXT);
	} else if (action == ACTION_ERROR_NEXT || action == ACTION_ERROR_PREV) {
		begin_search(logs, shared, error_pattern(logs),
			     action == ACTION_ERROR_NEXT);
	} else if (action == ACTION_NEXT_RUN || action == ACTION_PREV_RUN) {
		step_log(logs, shared, action == ACTION_NEXT_RUN);
	} else if (action == ACTION_FOLD || action == ACTION_WRAP ||
		   action == ACTION_MERGE) {
		turn(logs, action);
		if (action == ACTION_WRAP)
			ui_say(shared, "long lines %s",
			       logs->page.wrap ? "are wrapped"
					       : "scroll sideways");
		else if (action == ACTION_FOLD)
			ui_say(shared, "printed source code is %s",
			       logs->page.src.fold ? "folded" : "shown");
	} else if (action == ACTION_COPY) {
		return copy_line(logs, shared, out);
	} else {
		return false;
	}
	return true;
}

/* Search, filter and count lines, a slice at a time. */
static bool
logs_work(void *state, struct ui_shared *shared)
{
	struct logs *logs = state;
	struct logsrc *src = &logs->page.src;
	int64_t until = clock_real.mono_ms(&clock_real) + SLICE_MS;

	/* A key may have chosen another log, which is not drawn yet. */
	open_wanted(logs, shared);
	if (logs->searching != NULL && search_slice(logs, shared))
		return true;
	while (logs->to_begin && src->timed != NULL &&
	       logtimed_more(src->timed)) {
		if (clock_real.mono_ms(&clock_real) < until)
			continue;
		logpage_to_begin(&logs->page);
		return true;
	}
	while (logsrc_filter_on(src) && clock_real.mono_ms(&clock_real) < until)
		;
	/* A filter finds the begin bit by bit. */
	if (logs->to_begin)
		logpage_to_begin(&logs->page);
	if (logsrc_is_filtering(src))
		return true;
	logs->to_begin = false;
	return count_lines(src, COUNT_BYTES);
}

/* What is shown from the top of the screen on, as text. */
static const char *
logs_export(void *state, struct ui_shared *shared, struct buf *out)
{
	struct logs *logs = state;
	struct logpage *page = &logs->page;
	uint64_t place = logsrc_at(&page->src, page->top.place);
	struct logsrc_line line;

	(void)shared;
	logsrc_line_init(&line, WHOLE_BYTES);
	while (place < logsrc_end(&page->src)) {
		logsrc_read(&page->src, place, WHOLE_COLUMNS, &line);
		if (out->len + line.text.len + 1 > out->cap) {
			out->truncated = true;
			break;
		}
		buf_appendf(out, "%s\n", line.text.data);
		place = logsrc_next(&page->src, place);
	}
	logsrc_line_release(&line);
	return "txt";
}

/* A click marks the line that a copy takes. */
static bool
logs_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct logs *logs = state;

	(void)shared;
	(void)x;
	return logs->is_open && logpage_click(&logs->page, y);
}

static void
logs_release(void *state)
{
	struct logs *logs = state;

	if (logs->is_open)
		logpage_release(&logs->page);
	pattern_free(logs->pattern);
	pattern_free(logs->errors);
}

static const enum action hints[] = { ACTION_SEARCH,	ACTION_FILTER,
				     ACTION_ERROR_PREV, ACTION_FOLLOW,
				     ACTION_MERGE,	ACTION_FOLD,
				     ACTION_WRAP,	ACTION_NEXT_RUN,
				     ACTION_NONE };

const struct view_ops view_logs = {
	.name = "Logs",
	.open = ACTION_VIEW_LOGS,
	.state_size = sizeof(struct logs),
	.places = IN_LOGS | IN_TEXT,
	.watches = MODEL_LOGS | MODEL_RUNS,
	.copies = true,
	.hints = hints,
	.draw = logs_draw,
	.act = logs_act,
	.click = logs_click,
	.search = logs_search,
	.work = logs_work,
	.export = logs_export,
	.release = logs_release,
};
