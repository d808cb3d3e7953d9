/* SPDX-License-Identifier: MIT */
/* What is said of the groups and rows of a leaderboard beside its numbers. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/board_internal.h"

#define MAX_NOTES     64
#define NOTE_MAX      1024
#define MAX_DIFFERENT 8

void
board_note(struct board_group *group, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (group->n_notes >= MAX_NOTES)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	group->notes = xgrow(group->notes, group->n_notes, &group->cap_notes,
			     sizeof(*group->notes));
	group->notes[group->n_notes++] = xstrdup(text);
}

void
board_row_note(struct board_row *row, const char *fmt, ...)
{
	size_t len = strlen(row->note);
	va_list ap;

	if (len > 0 && len + 3 < sizeof(row->note)) {
		memcpy(row->note + len, "; ", 3);
		len += 2;
	}
	va_start(ap, fmt);
	(void)vsnprintf(row->note + len, sizeof(row->note) - len, fmt, ap);
	va_end(ap);
}

/* The texts that the counted rows have for something, each once. */
struct different {
	char texts[MAX_DIFFERENT][80];
	size_t runs[MAX_DIFFERENT];
	size_t n;
};

static void
add_text(struct different *d, const char *text)
{
	size_t i = 0;

	while (i < d->n && strcmp(d->texts[i], text) != 0)
		i++;
	if (i == MAX_DIFFERENT)
		return;
	if (i == d->n)
		(void)snprintf(d->texts[d->n++], sizeof(d->texts[0]), "%s",
			       text);
	d->runs[i]++;
}

/* "n_gpus differs: 8 (3 runs), 2 (1 run)", when it does. */
static void
note_different(struct board_group *group, const char *what,
	       const struct different *d)
{
	struct buf text;

	if (d->n < 2)
		return;
	buf_init(&text, NOTE_MAX);
	for (size_t i = 0; i < d->n; i++)
		buf_appendf(&text, "%s%s (%zu run%s)", i > 0 ? ", " : "",
			    d->texts[i], d->runs[i],
			    d->runs[i] == 1 ? "" : "s");
	board_note(group, "%s of the runs differ: %s", what, text.data);
	buf_release(&text);
}

/*
 * Runs of one group are meant to differ by their seed alone.  Where a log
 * tells that they do not, the mean is of unlike things, and is said to be.
 */
static void
note_unlike(const struct board *board, struct board_group *group)
{
	static const struct {
		const char *key, *what;
	} same[] = {
		{ "n_gpus", "numbers of GPUs" },
		{ "train_batch_tokens", "batch sizes" },
		{ "val_tokens", "validation tokens" },
	};
	struct different stages = { .n = 0 }, scripts = { .n = 0 };
	char text[STR_NUMBER_SIZE];

	for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++) {
		const struct run_number *number =
			run_number_by_name(str_from(same[k].key));
		struct different d = { .n = 0 };

		for (size_t i = 0; i < group->n_rows; i++) {
			const struct board_row *row =
				board->rows[group->rows[i]];
			double value = run_number_get(&row->run, number);

			if (row->use != BOARD_COUNTED || !run_has(value))
				continue;
			(void)str_number(value, 17, text);
			add_text(&d, text);
		}
		note_different(group, same[k].what, &d);
	}
	for (size_t i = 0; i < group->n_rows; i++) {
		const struct board_row *row = board->rows[group->rows[i]];

		if (row->use != BOARD_COUNTED)
			continue;
		if (row->run.final_class != NULL)
			add_text(&stages, row->run.final_class);
		if (row->run.source_sha256 != NULL) {
			(void)snprintf(text, sizeof(text), "%.12s",
				       row->run.source_sha256);
			add_text(&scripts, text);
		}
	}
	note_different(group, "stages of the scores", &stages);
	note_different(group, "training scripts", &scripts);
}

void
board_note_group(const struct board *board, struct board_group *group)
{
	for (size_t i = 0; i < group->n_rows; i++) {
		const struct board_row *row = board->rows[group->rows[i]];

		if (row->use == BOARD_COPY || row->use == BOARD_SAME_RUN)
			board_note(group, "%s is %s %s: counted once",
				   row->name,
				   row->use == BOARD_COPY ? "byte-identical to"
							  : "the same run as",
				   board->rows[row->copy_of]->name);
	}
	if (group->n_seeds < group->n_counted)
		board_note(group,
			   "%zu runs of %zu seed%s: a seed that ran again is "
			   "no further seed; the tests take the mean of its "
			   "runs as one value",
			   group->n_counted, group->n_seeds,
			   group->n_seeds == 1 ? "" : "s");
	note_unlike(board, group);
}
