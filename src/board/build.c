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
#include "board/stored.h"

#define DEFAULT_TRACK "parameter-golf-10min"

void
board_ask_init(struct board_ask *ask)
{
	*ask = (struct board_ask){
		.nats_per_bpb = RUN_ABSENT,
		.formats = format_set_new_builtin(),
	};
}

void
board_ask_release(struct board_ask *ask)
{
	format_set_free(ask->formats);
}

/* Does any run tell bits per byte? */
static bool
any_bpb(const struct board *board)
{
	for (size_t i = 0; i < board->n_rows; i++)
		if (run_has(board->rows[i]->run.final_bpb))
			return true;
	return false;
}

/* The track of a name: the user's own files come first. */
static int
load_track(struct track *track, const char *name, const struct conf *conf,
	   struct err *err)
{
	for (size_t i = 0; i < conf->tracks.n; i++) {
		if (track_load(track, conf->tracks.v[i], err) != 0)
			return -1;
		if (strcmp(track->name, name) == 0)
			return 0;
		track_release(track);
	}
	return track_load(track, name, err);
}

/*
 * The track that was asked for, else the configuration's, else the one that
 * the logs can be of: without any BPB there is no rule to hold them to.
 */
static int
choose_track(struct board_built *built, const struct board_ask *ask,
	     struct err *err)
{
	struct board *board = &built->board;
	const char *name = ask->track != NULL ? ask->track : built->conf.track;

	if (name == NULL)
		name = any_bpb(board) || ask->n_values > 0 ? DEFAULT_TRACK
							   : "open";
	if (load_track(&built->track, name, &built->conf, err) != 0)
		return -1;
	board_set_track(board, &built->track);
	return 0;
}

static int
choose_score(struct board *board, const struct board_ask *ask, struct err *err)
{
	struct str name;

	if (ask->score == NULL)
		return 0;
	name = str_from(ask->score);
	board->score = run_number_by_name(name);
	if (board->score == NULL ||
	    (!str_ends_with(name, "_bpb") && !str_ends_with(name, "_loss")))
		return err_set(err, ERR_USAGE,
			       "--score takes a key of a BPB or a loss "
			       "(final_bpb, quant_bpb, final_val_loss, ..)");
	return 0;
}

static void
choose_nats(struct board_built *built, const struct board_ask *ask)
{
	struct board *board = &built->board;

	if (run_has(ask->nats_per_bpb)) {
		board->nats_per_bpb = ask->nats_per_bpb;
		board->nats_source = "--nats-per-bpb";
	} else if (ask->baseline == NULL &&
		   run_has(built->conf.baseline.nats_per_bpb)) {
		board->nats_per_bpb = built->conf.baseline.nats_per_bpb;
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
choose_baseline(struct board_built *built, const struct board_ask *ask,
		struct err *err)
{
	struct board_input *input = &built->input;

	if (ask->baseline == NULL)
		return baseline_of_conf(input, &built->conf.baseline, err);
	if (strcmp(ask->baseline, "none") == 0)
		return 0;
	return board_input_baseline(input, ask->baseline, err);
}

static int
choose_groups(struct board_built *built, const struct board_ask *ask,
	      struct err *err)
{
	struct board_input *input = &built->input;

	if (ask->group_by != NULL)
		return board_input_group_by(input, ask->group_by, err);
	return board_input_group_conf(input, &built->conf, err);
}

/* Where the runs come from. */
struct board_sources {
	const struct context *context;
	char *const *paths;
	size_t n_paths; /* 0: the database */
};

static int
read_database(struct board_input *input, const struct context *env,
	      struct err *err)
{
	struct stored stored;
	int status;

	if (stored_open(&stored, env, err) != 0)
		return -1;
	status = board_input_store(input, stored.store, err);
	stored_close(&stored);
	return status;
}

/* All of the runs, from PATHs or, without one and without --values, stored. */
static int
read_runs(const struct board_sources *from, struct board_input *input,
	  const struct board_ask *ask, struct err *err)
{
	if (from->n_paths == 0)
		return ask->n_values > 0
			       ? 0
			       : read_database(input, from->context, err);
	board_input_read(input, from->paths, from->n_paths);
	return 0;
}

static int
add_values(struct board_input *input, const struct board_ask *ask,
	   struct err *err)
{
	for (size_t i = 0; i < ask->n_values; i++) {
		char fallback[32];
		char *name;

		(void)snprintf(fallback, sizeof(fallback), "values %zu", i + 1);
		if (board_input_values(input, ask->values[i], fallback, &name,
				       err) != 0)
			return err_prefix(err, "--values");
		free(name);
	}
	return 0;
}

/* The rule files of the configuration. */
static int
load_formats(const struct conf *conf, struct board_ask *ask, struct err *err)
{
	for (size_t i = 0; i < conf->formats.n; i++)
		if (format_set_load(ask->formats, conf->formats.v[i], err) != 0)
			return -1;
	return 0;
}

static int
build(const struct board_sources *from, struct board_built *built,
      struct board_ask *ask, struct err *err)
{
	struct board_input *input = &built->input;

	if (load_formats(&built->conf, ask, err) != 0 ||
	    choose_groups(built, ask, err) != 0 ||
	    read_runs(from, input, ask, err) != 0 ||
	    choose_track(built, ask, err) != 0 ||
	    choose_score(&built->board, ask, err) != 0 ||
	    add_values(input, ask, err) != 0)
		return -1;
	if (input->n_runs == 0 && input->scores.n == 0)
		return err_set(err, input->status != 0 ? ERR_IO : ERR_NODATA,
			       "no run in what was named (%zu log%s read)",
			       input->n_files, input->n_files == 1 ? "" : "s");
	if (input->n_runs > 0 && choose_baseline(built, ask, err) != 0)
		return -1;
	choose_nats(built, ask);
	board_compute(&built->board);
	return 0;
}

struct board_built *
board_build(const struct context *context, char *const *paths, size_t n_paths,
	    struct board_ask *ask, struct err *err)
{
	const struct board_sources from = { context, paths, n_paths };
	struct board_built *built = xcalloc(1, sizeof(*built));

	if (conf_load(&built->conf, context->config_path, err) != 0) {
		free(built);
		return NULL;
	}
	board_init(&built->board, &built->no_track);
	built->input.board = &built->board;
	built->input.formats = ask->formats;
	if (build(&from, built, ask, err) != 0) {
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
	conf_release(&built->conf);
	free(built);
}
