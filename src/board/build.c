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

#include "base/xalloc.h"

/* A board under way: what was asked for, and where its runs come from. */
struct builder {
	struct context *context;
	const struct board_ask *ask;
	char *const *paths;
	size_t n_paths; /* 0: the database */
	struct board_built *built;
};

/*
 * The track that was asked for, else the configuration's, else the one that
 * the logs can be of.
 */
static int
choose_track(const struct builder *b, struct err *err)
{
	struct board *board = &b->built->board;
	struct track_scores scores = { .bpb = b->ask->n_values > 0,
				       .loss = true };
	const char *name = b->ask->track != NULL
				   ? b->ask->track
				   : context_track_name(b->context);

	for (size_t i = 0; i < board->n_rows; i++)
		track_scores_add(&scores, &board->rows[i]->run);
	if (name == NULL)
		name = track_of_scores(&scores);
	if (context_find_track(b->context, name, &b->built->track, err) != 0)
		return -1;
	board_set_track(board, &b->built->track);
	return 0;
}

static int
choose_score(const struct builder *b, struct err *err)
{
	struct board *board = &b->built->board;
	struct str name;

	if (b->ask->score == NULL)
		return 0;
	name = str_from(b->ask->score);
	board->score = run_number_by_name(name);
	if (board->score == NULL ||
	    (!str_ends_with(name, "_bpb") && !str_ends_with(name, "_loss")))
		return err_set(err, ERR_USAGE,
			       "--score takes a key of a BPB or a loss "
			       "(final_bpb, quant_bpb, final_val_loss, ..)");
	return 0;
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
	bool loss = board->score != NULL &&
		    !str_ends_with(str_from(board->score->name), "_bpb");
	const double *values = loss ? from->val_loss : from->bpb;
	size_t n = loss ? from->n_val_loss : from->n_bpb;

	if (n == 0 && from->file != NULL)
		return board_input_baseline(input, from->file, err);
	if (n == 0 || from->name == NULL)
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

	if (choose_groups(b, err) != 0 || read_runs(b, err) != 0 ||
	    choose_track(b, err) != 0 || choose_score(b, err) != 0 ||
	    add_values(b, err) != 0)
		return -1;
	if (input->n_runs == 0 && input->scores.n == 0)
		return err_set(
			err, input->status != 0 ? ERR_IO : ERR_NODATA,
			"no run found in the given paths (%zu log%s read)",
			input->n_files, input->n_files == 1 ? "" : "s");
	if (input->n_runs > 0 && choose_baseline(b, err) != 0)
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
