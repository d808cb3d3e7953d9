/* SPDX-License-Identifier: MIT */
/*
 * From the words of a command to a computed leaderboard; called by board,
 * submission and export.
 */
#include "config.h"

#include "board/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "parsers/run_series.h"

/* A board under way: what was asked for, and where its runs come from. */
struct builder {
	struct context *context;
	const struct board_ask *ask;
	char *const *paths;
	size_t n_paths; /* 0: the database */
	struct board_built *built;
};

/* Does any run tell bits per byte? */
static bool
any_bpb(const struct board *board)
{
	for (size_t i = 0; i < board->n_rows; i++)
		if (run_has(board->rows[i]->run.final_bpb))
			return true;
	return false;
}

/* Keys of runs that are scores; anything else names a metric. */
static bool
is_key_of_score(struct str name)
{
	return run_number_by_name(name) != NULL &&
	       (str_ends_with(name, "_bpb") || str_ends_with(name, "_loss"));
}

/*
 * The track that was asked for, else the configuration's, else the one that
 * the logs can be of: without any BPB there is no rule to hold them to.
 */
static int
choose_track(const struct builder *b, struct err *err)
{
	struct board *board = &b->built->board;
	const char *name =
		b->ask->track != NULL ? b->ask->track : b->context->conf.track;

	/* No rule of a track is of any other metric. */
	if (b->ask->track == NULL && b->ask->score != NULL &&
	    !is_key_of_score(str_from(b->ask->score)))
		name = "metric";
	if (name == NULL)
		name = any_bpb(board) || b->ask->n_values > 0 ? TRACK_DEFAULT
							      : "open";
	if (context_find_track(b->context, name, &b->built->track, err) != 0)
		return -1;
	board_set_track(board, &b->built->track);
	return 0;
}

static void
choose_score(const struct builder *b)
{
	struct board *board = &b->built->board;
	const char *name = b->ask->score;

	board->higher = b->ask->higher;
	if (name != NULL && is_key_of_score(str_from(name)))
		board->score = run_number_by_name(str_from(name));
	else if (name != NULL)
		board_choose_metric(board, name);
}

/* Some run must have the metric that was asked for; else say which there are.
 */
static int
check_metric(const struct board *board, struct err *err)
{
	struct buf names;
	const struct run *most = NULL;

	for (size_t i = 0; i < board->n_rows; i++) {
		const struct run *run = &board->rows[i]->run;

		if (run_series_called(run, board->chosen_name) != NULL)
			return 0;
		if (most == NULL || run->n_series > most->n_series)
			most = run;
	}
	buf_init(&names, 1024);
	for (size_t i = 0; most != NULL && i < most->n_series; i++)
		buf_appendf(&names, "%s%s", i > 0 ? ", " : "; there are ",
			    most->series[i].name);
	(void)err_set(err, ERR_USAGE,
		      "--score %s: no run has a metric of that name%s, and a "
		      "key is that of a BPB or a loss (final_bpb, ..)",
		      board->chosen_name, names.data);
	buf_release(&names);
	return -1;
}

static void
choose_nats(const struct builder *b)
{
	const struct conf_baseline *baseline = &b->context->conf.baseline;
	struct board *board = &b->built->board;

	if (b->ask->nats_per_bpb > 0) {
		board->nats_per_bpb = b->ask->nats_per_bpb;
		board->nats_source = "--nats-per-bpb";
	} else if (b->ask->baseline == NULL &&
		   run_has(baseline->nats_per_bpb)) {
		board->nats_per_bpb = baseline->nats_per_bpb;
		board->nats_source = "the configuration";
	}
}

/* The baseline of the configuration, in the unit of the board's score. */
static int
baseline_of_conf(struct board_input *input, const struct conf_baseline *from,
		 struct err *err)
{
	struct board *board = input->board;
	bool is_metric = board->chosen_name != NULL;
	bool loss = board->score != NULL &&
		    !str_ends_with(str_from(board->score->name), "_bpb");
	const double *values = loss ? from->val_loss : from->bpb;
	size_t n = loss ? from->n_val_loss : from->n_bpb;

	if (n == 0 && from->file != NULL)
		return board_input_baseline(input, from->file, err);
	if (n == 0 || from->name == NULL || is_metric)
		return 0;
	board_add_values(board, from->name, values, n);
	board->groups[board->n_groups - 1].is_baseline = true;
	return 0;
}

static int
choose_baseline(const struct builder *b, struct err *err)
{
	struct board_input *input = &b->built->input;

	if (b->ask->baseline == NULL)
		return baseline_of_conf(input, &b->context->conf.baseline, err);
	if (strcmp(b->ask->baseline, "none") == 0)
		return 0;
	return board_input_baseline(input, b->ask->baseline, err);
}

static int
choose_groups(const struct builder *b, struct err *err)
{
	struct board_input *input = &b->built->input;

	if (b->ask->group_by != NULL)
		return board_input_group_by(input, b->ask->group_by, err);
	return board_input_group_conf(input, &b->context->conf, err);
}

/* All of the runs, from PATHs or, without one and without --values, stored. */
static int
read_runs(const struct builder *b, struct err *err)
{
	struct board_input *input = &b->built->input;

	if (b->n_paths > 0) {
		board_input_read(input, b->paths, b->n_paths);
		return 0;
	}
	if (b->ask->n_values > 0)
		return 0;
	if (context_open(b->context, CONTEXT_DB, err) != 0)
		return -1;
	return board_input_store(input, b->context->store, err);
}

static int
add_values(const struct builder *b, struct err *err)
{
	for (size_t i = 0; i < b->ask->n_values; i++) {
		char fallback[32];
		char *name;

		(void)snprintf(fallback, sizeof(fallback), "values %zu", i + 1);
		if (board_input_values(&b->built->input, b->ask->values[i],
				       fallback, &name, err) != 0)
			return err_prefix(err, "--values");
		free(name);
	}
	return 0;
}

static int
build(const struct builder *b, struct err *err)
{
	struct board_input *input = &b->built->input;
	struct board *board = &b->built->board;

	if (choose_groups(b, err) != 0 || read_runs(b, err) != 0 ||
	    choose_track(b, err) != 0)
		return -1;
	choose_score(b);
	if (add_values(b, err) != 0)
		return -1;
	if (input->n_runs == 0 && input->scores.n == 0)
		return err_set(
			err, input->status != 0 ? ERR_IO : ERR_NODATA,
			"no run found in the given paths (%zu log%s read)",
			input->n_files, input->n_files == 1 ? "" : "s");
	if (input->n_runs > 0 && choose_baseline(b, err) != 0)
		return -1;
	if (board->chosen_name != NULL && check_metric(board, err) != 0)
		return -1;
	choose_nats(b);
	board_compute(&b->built->board);
	return 0;
}

struct board_built *
board_build(struct context *context, char *const *paths, size_t n_paths,
	    const struct board_ask *ask, struct err *err)
{
	struct board_built *built = xcalloc(1, sizeof(*built));
	const struct builder b = { context, ask, paths, n_paths, built };

	board_init(&built->board, &built->no_track);
	built->input.board = &built->board;
	built->input.formats = context->formats;
	if (build(&b, err) != 0) {
		board_built_free(built);
		return NULL;
	}
	return built;
}

void
board_built_free(struct board_built *built)
{
	if (built == NULL)
		return;
	board_release(&built->board);
	board_input_release(&built->input);
	track_release(&built->track);
	free(built);
}
