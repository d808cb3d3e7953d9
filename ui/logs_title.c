/* SPDX-License-Identifier: MIT */
/* The title of the log view: the log, its lines, and what is done with it. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "ui/fmt.h"
#include "ui/logs_impl.h"
#include "ui/plot.h"

#define TITLE_BYTES  1000
#define NAME_COLUMNS 16 /* a name is not cut below that */

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

void
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
