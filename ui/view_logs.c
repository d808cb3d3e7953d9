/* SPDX-License-Identifier: MIT */
/* Logs: one log or all merged; follow, search, filter, folded source. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "ui/logsrc.h"
#include "ui/panel.h"
#include "ui/prompt.h"
#include "ui/theme.h"
#include "ui/view.h"

#define COUNT_BUDGET (32U << 20)
#define ERROR_PATTERN                                                          \
	"(?i)error|traceback|exception|out of memory|\\bnan\\b|killed|nccl wa"

struct logs {
	struct logsrc src;
	const struct model_log *shown; /* what src was opened for */
	const struct model_run *of_run;
	bool is_open, merged, left_end; /* left_end: does not follow */
	uint64_t top; /* place of the first line on the screen */
	uint64_t hit; /* place of the last hit */
	bool has_hit;
	int left;		 /* columns scrolled away */
	int height;		 /* lines, as drawn last */
	struct pattern *pattern; /* owned; of the search */
	struct pattern *errors;	 /* owned */
	char filter_text[PROMPT_BYTES + 1];
	/* A search that goes on in the background. */
	const struct pattern *searching;
	bool forward;
	uint64_t search_at;
};

static const struct model_log *
wanted_log(const struct logs *logs, const struct ui_shared *shared)
{
	if (logs->merged || shared->selected == NULL)
		return NULL;
	return shared->selected->log;
}

/* Show what is selected now, from its end. */
static void
open_wanted(struct logs *logs, struct ui_shared *shared)
{
	const struct model_log *log = wanted_log(logs, shared);

	if (logs->is_open && log == logs->shown) {
		(void)logsrc_refresh(&logs->src);
		return;
	}
	if (!logs->is_open)
		logs->src.fold = true;
	logsrc_open(&logs->src, shared->model, log);
	logs->is_open = true;
	logs->shown = log;
	logs->left_end = false;
	logs->has_hit = false;
	logs->searching = NULL;
	logs->left = 0;
}

/* The place that shows the last line at the bottom. */
static uint64_t
end_top(struct logs *logs)
{
	uint64_t top = logsrc_end(&logs->src);

	for (int i = 0; i < logs->height; i++) {
		uint64_t before = logsrc_prev(&logs->src, top);

		if (before == UINT64_MAX)
			break;
		top = before;
	}
	return logsrc_at(&logs->src, top);
}

/* Scroll by so many shown lines; the end is where following begins. */
static void
scroll(struct logs *logs, int by)
{
	uint64_t last = end_top(logs);

	logs->left_end = true;
	for (; by < 0; by++) {
		uint64_t before = logsrc_prev(&logs->src, logs->top);

		if (before == UINT64_MAX)
			break;
		logs->top = before;
	}
	for (; by > 0; by--) {
		if (logs->top >= last)
			break;
		logs->top = logsrc_next(&logs->src, logs->top);
	}
	if (logs->top >= last)
		logs->left_end = false;
}

/* Bring a place into the upper third of the screen. */
static void
show_place(struct logs *logs, uint64_t place)
{
	logs->hit = place;
	logs->has_hit = true;
	logs->left_end = true;
	logs->top = place;
	for (int i = 0; i < logs->height / 3; i++) {
		uint64_t before = logsrc_prev(&logs->src, logs->top);

		if (before == UINT64_MAX)
			break;
		logs->top = before;
	}
}

/* One piece of a search; true: it goes on. */
static bool
search_piece(struct logs *logs, struct ui_shared *shared)
{
	int found = logsrc_search(&logs->src, logs->searching, logs->forward,
				  &logs->search_at);

	if (found == 2)
		return true;
	logs->searching = NULL;
	if (found == 1)
		show_place(logs, logs->search_at);
	else
		ui_say(shared, "no more hits %s",
		       logs->forward ? "below" : "above");
	return false;
}

static void
begin_search(struct logs *logs, struct ui_shared *shared,
	     const struct pattern *pattern, bool forward)
{
	if (pattern == NULL) {
		ui_say(shared, "/ searches first");
		return;
	}
	logs->searching = pattern;
	logs->forward = forward;
	if (logs->has_hit)
		logs->search_at = logs->hit;
	else if (logs->left_end)
		logs->search_at = logs->top;
	else
		logs->search_at = logsrc_end(&logs->src);
	(void)search_piece(logs, shared);
}

static unsigned int class_style(enum line_class class)
{
	static const unsigned int styles[] = {
		[LINE_PLAIN] = STYLE_LOG_PLAIN,
		[LINE_METRIC] = STYLE_LOG_METRIC,
		[LINE_SOURCE] = STYLE_LOG_SOURCE,
		[LINE_ERROR] = STYLE_LOG_ERROR,
		[LINE_WARNING] = STYLE_LOG_WARNING,
	};

	return styles[class];
}

/* Where the pattern is found in a drawn line, in another style. */
static void
mark_hits(const struct logs *logs, struct canvas *canvas, struct rect line,
	  struct str text)
{
	size_t at, len, from = 0;

	while (logs->pattern != NULL && from < text.len &&
	       pattern_find(logs->pattern,
			    (struct str){ text.p + from, text.len - from }, &at,
			    &len) &&
	       len > 0) {
		struct str before = { text.p, from + at };
		struct str hit = { text.p + from + at, len };
		int x = line.x + (int)utf8_width(before);

		canvas_restyle(
			canvas,
			(struct rect){ x, line.y, (int)utf8_width(hit), 1 },
			STYLE_MATCH);
		from += at + len;
	}
}

/* The text without the columns that are scrolled away. */
static struct str
scrolled(struct str text, int columns)
{
	size_t cut = utf8_prefix(text, (size_t)columns);

	return (struct str){ text.p + cut, text.len - cut };
}

static void
draw_line(struct logs *logs, struct canvas *canvas, struct rect r,
	  const struct logsrc_line *line)
{
	const struct model *model = logs->src.model;
	struct str text = { line->text.data, line->text.len };
	struct rect before;

	if (logs->src.log == NULL && line->log->pod < model->n_pods) {
		canvas_line(canvas, (struct rect){ r.x, r.y, 9, 1 },
			    theme_series((unsigned int)line->log->pod),
			    str_from(model->pods[line->log->pod].name));
	} else if (line->number > 0) {
		char number[FMT_SIZE];

		(void)snprintf(number, sizeof(number), "%llu",
			       (unsigned long long)line->number);
		canvas_right(canvas, (struct rect){ r.x, r.y, 8, 1 },
			     STYLE_GAUGE_REST, str_from(number));
	}
	r.x += 10;
	r.w -= 10;
	before = canvas_clip(canvas, r);
	text = scrolled(text, logs->left);
	canvas_line(canvas, r,
		    line->is_fold ? STYLE_KEY : class_style(line->class), text);
	mark_hits(logs, canvas, r, text);
	canvas_unclip(canvas, before);
}

static void
draw_lines(struct logs *logs, struct canvas *canvas, struct rect r)
{
	uint64_t place = logs->top, end = logsrc_end(&logs->src);
	struct logsrc_line line;

	buf_init(&line.text, LOGFILE_LINE_BYTES * 3);
	for (int y = 0; y < r.h && place < end; y++) {
		struct rect at = { r.x, r.y + y, r.w, 1 };

		logsrc_read(&logs->src, place, &line);
		draw_line(logs, canvas, at, &line);
		if (logs->has_hit && place == logs->hit)
			canvas_put(canvas, r.x + 9, r.y + y, STYLE_KEY, 0x25B8);
		place = logsrc_next(&logs->src, place);
	}
	buf_release(&line.text);
}

static void
draw_title(const struct logs *logs, const struct ui_shared *shared,
	   struct canvas *canvas, struct rect r)
{
	char title[256], label[FMT_LABEL] = "", lines[FMT_SIZE] = "";
	bool all = true;
	const char *state = logs->searching != NULL ? "searching"
			    : logs->left_end	    ? "f follows"
						    : "following";

	if (shared->selected != NULL)
		plot_run_label(shared->selected, label);
	if (logs->src.file != NULL)
		(void)fmt_grouped((double)logfile_lines(logs->src.file, &all),
				  lines);
	else
		(void)fmt_grouped((double)logs->src.n_entries, lines);
	(void)snprintf(title, sizeof(title), "%s · %s%s lines · %s%s%.60s",
		       logs->src.log == NULL ? "All logs, merged" : label,
		       all ? "" : ">", lines, state,
		       logs->src.filter != NULL ? " · filter " : "",
		       logs->src.filter != NULL ? logs->filter_text : "");
	canvas_box(canvas, r, title);
}

static void
logs_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	  struct rect r)
{
	static const char *const empty[] = { "This log has no lines yet.",
					     "A merges all logs", NULL };
	struct logs *logs = state;

	logs->height = r.h - 2;
	open_wanted(logs, shared);
	if (!logs->left_end)
		logs->top = end_top(logs);
	draw_title(logs, shared, canvas, r);
	if (logsrc_end(&logs->src) == 0)
		panel_empty(canvas, r, empty);
	else
		draw_lines(logs, canvas,
			   (struct rect){ r.x + 1, r.y + 1, r.w - 2, r.h - 2 });
}

static int
logs_search(void *state, struct ui_shared *shared, const char *text,
	    bool filter, struct err *err)
{
	struct logs *logs = state;
	bool out = filter && text[0] == '!';
	struct pattern *pattern = NULL;

	if (text[0] != '\0') {
		pattern = pattern_new(text + out, err);
		if (pattern == NULL)
			return -1;
	}
	if (!filter) {
		if (pattern == NULL)
			return 0;
		pattern_free(logs->pattern);
		logs->pattern = pattern;
		logs->searching = NULL;
		/* From the end, the newest hit is the one that is meant. */
		begin_search(logs, shared, pattern, logs->left_end);
		return 0;
	}
	pattern_free(logs->src.filter);
	logs->src.filter = pattern;
	logs->src.filter_out = out;
	(void)snprintf(logs->filter_text, sizeof(logs->filter_text), "%s",
		       text);
	logs->left_end = false;
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
	int page = logs->height > 2 ? logs->height / 2 : 1;

	if (action == ACTION_UP)
		scroll(logs, -1);
	else if (action == ACTION_DOWN)
		scroll(logs, 1);
	else if (action == ACTION_PAGE_UP)
		scroll(logs, -page);
	else if (action == ACTION_PAGE_DOWN)
		scroll(logs, page);
	else if (action == ACTION_BOTTOM || action == ACTION_FOLLOW)
		logs->left_end = false;
	else if (action == ACTION_LEFT)
		logs->left = logs->left > 16 ? logs->left - 16 : 0;
	else if (action == ACTION_RIGHT)
		logs->left = logs->left < 4000 ? logs->left + 16 : 4000;
	else
		return false;
	if (action == ACTION_BOTTOM || action == ACTION_FOLLOW)
		logs->has_hit = false;
	return true;
}

static unsigned int
copy_line(struct logs *logs, struct command *out)
{
	struct logsrc_line line;
	uint64_t place = logs->has_hit ? logs->hit : logs->top;

	if (place >= logsrc_end(&logs->src))
		return UI_HANDLED;
	buf_init(&line.text, LOGFILE_LINE_BYTES * 3);
	logsrc_read(&logs->src, place, &line);
	out->id = COMMAND_COPY;
	out->text = buf_detach(&line.text);
	buf_release(&line.text);
	return UI_HANDLED | UI_COMMAND;
}

static unsigned int
logs_act(void *state, struct ui_shared *shared, enum action action,
	 struct command *out)
{
	struct logs *logs = state;
	bool forward =
		action == ACTION_SEARCH_NEXT || action == ACTION_ERROR_NEXT;

	if (!logs->is_open || move(logs, action))
		return logs->is_open ? UI_HANDLED : UI_IGNORED;
	if (action == ACTION_TOP) {
		logs->top = logsrc_at(&logs->src, 0);
		logs->left_end = true;
	} else if (action == ACTION_SEARCH_NEXT ||
		   action == ACTION_SEARCH_PREV) {
		begin_search(logs, shared, logs->pattern, forward);
	} else if (action == ACTION_ERROR_NEXT || action == ACTION_ERROR_PREV) {
		begin_search(logs, shared, error_pattern(logs), forward);
	} else if (action == ACTION_FOLD) {
		logs->src.fold = !logs->src.fold;
	} else if (action == ACTION_MERGE) {
		logs->merged = !logs->merged;
	} else if (action == ACTION_COPY) {
		return copy_line(logs, out);
	} else {
		return UI_IGNORED;
	}
	return UI_HANDLED;
}

/* Count lines and go on with a search, a piece at a time. */
static bool
logs_work(void *state, struct ui_shared *shared)
{
	struct logs *logs = state;
	bool more = false;

	if (!logs->is_open)
		return false;
	if (logs->searching != NULL)
		more = search_piece(logs, shared);
	if (logs->src.file != NULL)
		more |= logfile_count(logs->src.file, COUNT_BUDGET);
	return more;
}

/* What is on the screen, as text. */
static const char *
logs_export(void *state, struct ui_shared *shared, struct buf *out)
{
	struct logs *logs = state;
	struct logsrc_line line;
	uint64_t place = logs->top;

	(void)shared;
	buf_init(&line.text, LOGFILE_LINE_BYTES * 3);
	for (int i = 0; i < 10000 && place < logsrc_end(&logs->src); i++) {
		logsrc_read(&logs->src, place, &line);
		buf_appendf(out, "%s\n", line.text.data);
		place = logsrc_next(&logs->src, place);
	}
	buf_release(&line.text);
	return "txt";
}

static void
logs_release(void *state)
{
	struct logs *logs = state;

	logsrc_release(&logs->src);
	pattern_free(logs->pattern);
	pattern_free(logs->errors);
}

static const enum action hints[] = { ACTION_SEARCH,	ACTION_FILTER,
				     ACTION_ERROR_PREV, ACTION_FOLLOW,
				     ACTION_MERGE,	ACTION_FOLD,
				     ACTION_NEXT_RUN,	ACTION_NONE };

const struct view_ops view_logs = {
	.name = "Logs",
	.open = ACTION_VIEW_LOGS,
	.state_size = sizeof(struct logs),
	.places = IN_LOGS | IN_TEXT,
	.watches = MODEL_LOGS | MODEL_RUNS,
	.hints = hints,
	.draw = logs_draw,
	.act = logs_act,
	.search = logs_search,
	.work = logs_work,
	.export = logs_export,
	.release = logs_release,
};
