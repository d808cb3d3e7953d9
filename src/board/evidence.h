/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/board.h"
#include "report/facts.h"

/* Add the tables of a group whose track has a target: for a track that counts steps, the metric of
 * each run around the first step that shows the target; and the row of the competition's README. */
void board_add_evidence(struct facts *facts, const struct board *board,
			const struct board_group *group);
