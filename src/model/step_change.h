/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/change.h"
#include "model/model.h"

/* Where the steps of a run became slower or faster for good (base/change.h), from the training time
 * between rows or, without it, from printed step times while no point has been dropped. */
struct step_change {
	struct series_point at; /* last row with the old pace */
	double before, after;	/* ms per step */
};

/* A smaller relative change of the step time is not shown. */
#define STEP_CHANGE_LEAST 0.005

/* The result of the last search; a zeroed struct has none. */
struct step_changes {
	const struct model_run *mr;
	size_t count; /* points searched, and the last of them */
	struct series_point last;
	struct step_change v[CHANGE_MOST];
	size_t n;
};

/* Search again if mr is another run or a 32nd of its rows is new. */
void step_changes_update(struct step_changes *changes, const struct model_run *mr);
