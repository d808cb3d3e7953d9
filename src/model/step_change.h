/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/change.h"
#include "model/model.h"

/*
 * Where a run's steps became slower or faster for good: the change points (see
 * base/change.h) of its step times, by the training time between rows; of a
 * log that prints none, of the step times as printed while all are kept.
 */
struct step_change {
	struct series_point at; /* the last row of the old pace */
	double before, after;	/* ms per step */
};

/* Those of less than this share of the step time are not told. */
#define STEP_CHANGE_LEAST 0.005

/* What was found last; zeroed: nothing yet. */
struct step_changes {
	const struct model_run *mr;
	size_t count; /* points that were looked at, and the last of them */
	struct series_point last;
	struct step_change v[CHANGE_MOST];
	size_t n;
};

/* Look again, where that is of another run, or a 32nd of its rows is new. */
void step_changes_update(struct step_changes *changes, const struct model_run *mr);
