/* SPDX-License-Identifier: MIT */
/* Tables of runs and tracks from arbitrary bytes, and the board of their runs. */
#include "parsers/run_rows.h"

#include <math.h>

#include "model/board.h"
#include "tests/fuzz/fuzz.h"

static void take_row(void *user, const struct run_row *row)
{
	struct board *board = user;

	(void)board_add(board, row->file != NULL ? row->file : "table",
			row->group != NULL ? row->group : "group", row->sha256, &row->run);
}

static void tell_unknown(void *user, const char *key)
{
	(void)user;
	MUST(key != NULL);
}

/* Check that the figures of a board are consistent with each other. */
static void check_group(const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;
	size_t rows = 0;

	for (int use = 0; use <= BOARD_NO_SCORE; use++)
		rows += group->n_uncounted[use];
	MUST(rows == group->n_rows);
	MUST(group->n_counted == group->stats.n);
	MUST(group->n_seeds == group->seed_stats.n);
	MUST(group->n_seeds <= group->n_counted);
	MUST(group->n_counted >= 2 || isnan(group->stats.sd_sample));
	MUST(group->n_counted > 0 || isnan(group->stats.mean));
	for (int test = 0; test < TRACK_TEST_COUNT; test++)
		MUST(isnan(v->tests[test].p) || (v->tests[test].p >= 0 && v->tests[test].p <= 1));
	MUST(v->word != BOARD_WORD_SHOWN || group->n_seeds >= 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct run_rows_cb cb = { take_row, tell_unknown };
	static const double base[] = { 1.05, 1.06, 1.07 };
	struct str text = { (const char *)data, size };
	struct err err = { ERR_NONE, "" };
	struct track golf, other;
	struct board board;

	if (track_parse(&other, "fuzz.json", text, &err) == 0)
		track_release(&other);
	if (size > 65536)
		return 0;
	MUST(track_load(&golf, "parameter-golf-10min", &err) == 0);
	board_init(&board, &golf);
	board.nats_per_bpb = 2.2;
	err.code = ERR_NONE;
	MUST((run_rows_read(text, "fuzz.csv", &cb, &board, &err) < 0) == (err.code != ERR_NONE));
	board_add_values(&board, "base", base, 3);
	board.groups[board.n_groups - 1].is_baseline = true;
	board_compute(&board);
	for (size_t i = 0; i < board.n_groups; i++)
		check_group(&board.groups[i]);
	board_release(&board);
	track_release(&golf);
	return 0;
}
