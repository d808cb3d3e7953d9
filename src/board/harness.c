/* SPDX-License-Identifier: MIT */
/* HarnessGym's verified scores as lines of the leaderboard; for `board`. */
#include "config.h"

#include "board/harness.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "harness/dir.h"
#include "parsers/harness_run.h"

#define SETTLE_MS 1000

/* Where the scores of a run go. */
struct adding {
	struct score_board *board;
	const struct harness_files *files;
	const struct harness_run *run;
};

static double
number_or_absent(struct harness_number number)
{
	return number.present ? number.value : (double)NAN;
}

/* One output of the run's command, when it measured at all. */
static void
add_output(const struct adding *a, const char *key,
	   const struct harness_post *post, const struct harness_file *file)
{
	struct score_row row;

	if (!post->present || post->failure != HARNESS_FAILURE_NONE ||
	    file == NULL ||
	    score_row_read(&row, (struct str){ file->text, file->len }, NULL) !=
		    0)
		return;
	score_row_set_effort(&row, number_or_absent(a->run->warmup),
			     number_or_absent(a->run->repeats));
	if (post->passed != HARNESS_YES)
		row.json.passed = false;
	score_board_add(a->board, key, &row);
	score_row_release(&row);
}

static const struct harness_file *
file_of(const struct adding *a, enum harness_kind kind, unsigned int number)
{
	return harness_files_find(a->files, kind, a->run->dir, number, 0);
}

static void
add_run(const struct adding *a)
{
	const struct harness_run *run = a->run;
	const struct harness_restore *restore = &run->restore;
	AUTO_TEXT baseline = xasprintf("%s baseline", run->id);

	if (run->has_baseline)
		add_output(a, baseline, &run->baseline,
			   file_of(a, HARNESS_BASELINE_OUT, 0));
	for (size_t i = 0; i < run->n_iterations; i++) {
		const struct harness_iteration *it = &run->iterations[i];
		AUTO_TEXT key =
			xasprintf("%s iteration %u", run->id, it->number);

		if (it->attempt == NULL)
			continue; /* nobody but the agent can have measured */
		add_output(a, key, &it->post,
			   file_of(a, HARNESS_POST_OUT, it->number));
		if (restore->iteration.present &&
		    restore->iteration.value == it->number)
			add_output(a, key, &restore->post,
				   file_of(a, HARNESS_RESTORED_OUT, 0));
	}
}

bool
board_harness_add(struct score_board *board, const char *path)
{
	struct harness_dir dir;
	struct harness_workspace ws;

	if (harness_dir_open(&dir, path, NULL) != 0)
		return false;
	if (dir.what != HARNESS_IS_COMPARE) {
		harness_dir_settle(&dir, SETTLE_MS);
		harness_workspace_read(&ws, &dir.files,
				       clock_real.wall_ms(&clock_real));
		for (size_t i = 0; i < ws.n_runs; i++) {
			const struct adding a = { board, &dir.files,
						  &ws.runs[i] };

			add_run(&a);
		}
		harness_workspace_release(&ws);
	}
	harness_dir_close(&dir);
	return true;
}
