/* SPDX-License-Identifier: MIT */
/* Caps of the track, kept or broken by each run; called by board_judge. */
#include "config.h"

#include <math.h>

#include "model/board_internal.h"

/* A value against its cap; no cap, no answer. */
static enum board_kept
check(double value, double cap)
{
	if (!run_has(cap))
		return CAP_NONE;
	if (!run_has(value))
		return CAP_UNKNOWN;
	return value <= cap ? CAP_KEPT : CAP_BROKEN;
}

/*
 * The training clock is looked at between steps, so a run may pass the cap by
 * as many steps as the track grants.
 */
static enum board_kept
check_train(const struct track *track, const struct run *run)
{
	enum board_kept kept = check(run->train_ms / 1000, track->cap_train_s);
	double step_ms = run->train_ms / run->steps;

	if (kept == CAP_BROKEN && run->steps > 0 &&
	    run->train_ms - 1000 * track->cap_train_s <=
		    track->train_grace_steps * step_ms)
		return CAP_GRACE;
	return kept;
}

/* Were all targets of the validation set scored? */
static enum board_kept
check_targets(const struct track *track, const struct run *run)
{
	if (!track->full_targets)
		return CAP_NONE;
	if (!run_has(run->val_tokens) || !run_has(run->target_tokens))
		return CAP_UNKNOWN;
	return run->target_tokens >= run->val_tokens ? CAP_KEPT : CAP_BROKEN;
}

static void
check_row(const struct track *track, struct board_row *row)
{
	const struct run *run = &row->run;
	double eval_s = fmax(run->eval_s, run->eval_total_s);
	char texts[2][STR_NUMBER_SIZE];

	row->caps[BOARD_CAP_BYTES] =
		check(run->artifact_bytes, track->cap_artifact_bytes);
	row->caps[BOARD_CAP_TRAIN] = check_train(track, run);
	row->caps[BOARD_CAP_EVAL] = check(eval_s, track->cap_eval_s);
	row->caps[BOARD_CAP_TARGETS] = check_targets(track, run);
	if (row->caps[BOARD_CAP_BYTES] == CAP_BROKEN)
		board_row_note(row, "%s bytes over",
			       str_number(run->artifact_bytes -
						  track->cap_artifact_bytes,
					  17, texts[0]));
	if (row->caps[BOARD_CAP_TRAIN] == CAP_BROKEN)
		board_row_note(row, "train %.3f s over",
			       run->train_ms / 1000 - track->cap_train_s);
	if (row->caps[BOARD_CAP_EVAL] == CAP_BROKEN)
		board_row_note(row, "eval %.3f s over",
			       eval_s - track->cap_eval_s);
	if (row->caps[BOARD_CAP_TARGETS] == CAP_BROKEN)
		board_row_note(row, "%s of %s targets scored",
			       str_number(run->target_tokens, 17, texts[0]),
			       str_number(run->val_tokens, 17, texts[1]));
}

/* The worst of the runs that count, and a word on grace that was used. */
static void
check_group(const struct board *board, struct board_group *group)
{
	double over_ms = 0;

	for (size_t i = 0; i < group->n_rows; i++) {
		const struct board_row *row = board->rows[group->rows[i]];

		if (row->use != BOARD_COUNTED)
			continue;
		for (int cap = 0; cap < BOARD_CAP_COUNT; cap++)
			if (row->caps[cap] > group->caps[cap])
				group->caps[cap] = row->caps[cap];
		if (row->caps[BOARD_CAP_TRAIN] == CAP_GRACE)
			over_ms =
				fmax(over_ms,
				     row->run.train_ms -
					     1000 * board->track->cap_train_s);
	}
	if (over_ms > 0)
		board_note(group,
			   "train passes %.0f s by up to %.3f s, within the "
			   "%.0f steps that the track grants",
			   board->track->cap_train_s, over_ms / 1000,
			   board->track->train_grace_steps);
}

void
board_check_caps(struct board *board)
{
	for (size_t i = 0; i < board->n_rows; i++)
		check_row(board->track, board->rows[i]);
	for (size_t i = 0; i < board->n_groups; i++)
		check_group(board, &board->groups[i]);
}
