/* SPDX-License-Identifier: MIT */
/* The leaderboard as facts: the columns of its tables, what is said of it. */
#include "config.h"

#include "board/facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

#define MAX_DECIMALS 8 /* of a score */
#define MIN_DECIMALS 4
#define LINE_BYTES   8192
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* What stands in a row of a table: a run, or a group. */
struct subject {
	const struct board *board;
	const struct board_group *group;
	const struct board_row *row; /* NULL: the group itself */
	size_t rank;		     /* of the group, 1.. */
	const unsigned char *columns;
};

/*
 * A column.  Its cells are numbers of a run by their key, and the means of
 * them; or a number that only groups have; or what `put` makes of them.
 */
struct column {
	struct facts_column shown; /* without a label: for machines alone */
	const char *number;
	size_t of_group; /* where a group has it; 0: nowhere */
	double scale;	 /* of the number; 0: 1 */
	bool is_score;	 /* as many decimals as the logs have */
	void (*put)(struct facts *facts, const struct subject *s, int column);
};

/* The columns in the order of the table for machines. */
enum column_id {
	COL_KIND,
	COL_RANK,
	COL_KEY,
	COL_FILE,
	COL_SEED,
	COL_STATUS,
	COL_USE,
	COL_STEPS,
	COL_MS,
	COL_TRAIN_MS,
	COL_PREQUANT,
	COL_QUANT,
	COL_SLIDING,
	COL_TTT,
	COL_FINAL,
	COL_LOSS,
	COL_EVAL,
	COL_EVAL_TOTAL,
	COL_BYTES,
	COL_CAP, /* and so on: one for each cap */
	COL_N = COL_CAP + BOARD_CAP_COUNT,
	COL_SEEDS,
	COL_SCORE,
	COL_UNIT,
	COL_MEAN,
	COL_SD,
	COL_POPULATION,
	COL_SE,
	COL_DELTA,
	COL_NATS,
	COL_NATS_PER_UNIT,
	COL_BAR,
	COL_T, /* and so on: t, df and p of each test */
	COL_SEEDS_NEEDED = COL_T + 3 * TRACK_TEST_COUNT,
	COL_MEAN_NEEDED,
	COL_Z,
	COL_P_Z,
	COL_VERDICT,
	COL_NOTE,
	COL_OF_CSV, /* how many; those behind it are for people */
	COL_GROUP = COL_OF_CSV,
	COL_RUN,
	COL_TRAIN_S,
	COL_CAPS,
	COL_END
};

/* Is the subject in the table of one group's runs? */
static bool
is_of_runs(const struct subject *s)
{
	return s->columns[0] == COL_RUN;
}

static bool
is_of_csv(const struct subject *s)
{
	return s->columns[0] == COL_KIND;
}

static void
put_blank(struct facts *facts)
{
	facts_text(facts, "", FACT_PLAIN, "%s", "");
}

static void
put_kind(struct facts *facts, const struct subject *s, int column)
{
	(void)column;
	facts_text(facts, "", FACT_PLAIN, s->row != NULL ? "run" : "group");
}

static void
put_rank(struct facts *facts, const struct subject *s, int column)
{
	(void)column;
	if (s->row == NULL || is_of_csv(s))
		facts_cell(facts, (double)s->rank)->style = FACT_DIM;
	else
		put_blank(facts);
}

static void
put_key(struct facts *facts, const struct subject *s, int column)
{
	(void)column;
	facts_text(facts, "", FACT_PLAIN, "%s", s->group->key);
}

static void
put_group(struct facts *facts, const struct subject *s, int column)
{
	const struct board_group *group = s->group;

	(void)column;
	if (s->row != NULL)
		facts_text(facts, "", FACT_PLAIN, "   %s", s->row->name);
	else
		facts_text(facts, "",
			   group->is_baseline ? FACT_REFERENCE : FACT_STRONG,
			   "%s%s", group->is_baseline ? "◆ " : "",
			   group->title);
}

static void
put_run(struct facts *facts, const struct subject *s, int column)
{
	(void)column;
	if (s->row == NULL)
		facts_text(facts, "", FACT_PLAIN,
			   s->group->n_counted == 1 ? "mean of 1 run" : "mean");
	else
		facts_text(facts, "", FACT_PLAIN, "%s",
			   s->group->is_values ? "" : s->row->name);
}

/* What only a run has, as text; a group has nothing there. */
static void
put_of_run(struct facts *facts, const struct subject *s, int column)
{
	const struct board_row *row = s->row;

	if (row == NULL)
		put_blank(facts);
	else if (column == COL_SEED)
		facts_cell(facts, row->run.seed);
	else
		facts_text(facts, "", FACT_PLAIN, "%s",
			   column == COL_FILE ? row->path
			   : column == COL_USE
				   ? board_use_name(row->use)
				   : run_status_name(row->run.status));
}

/* A count of a group; none of it is no count. */
static void
put_count(struct facts *facts, const struct subject *s, int column)
{
	const struct board_group *g = s->group;
	unsigned int needed = g->verdict.seeds_needed;

	if (s->row != NULL)
		put_blank(facts);
	else
		facts_cell(facts, column == COL_N	 ? (double)g->n_counted
				  : column == COL_SEEDS	 ? (double)g->n_seeds
				  : needed > 0		 ? (double)needed
							 : RUN_ABSENT);
}

static void
put_score_name(struct facts *facts, const struct subject *s, int column)
{
	facts_text(facts, "", FACT_PLAIN, "%s",
		   column == COL_SCORE ? s->group->score->name
				       : board_unit(s->group));
}

/* Among groups a run shows its score below their means. */
static void
put_mean(struct facts *facts, const struct subject *s, int column)
{
	(void)column;
	if (s->row != NULL && is_of_csv(s))
		put_blank(facts);
	else
		facts_cell(facts, s->row != NULL ? s->row->score
						 : s->group->stats.mean);
}

static const enum board_kept *
caps_of(const struct subject *s)
{
	return s->row != NULL ? s->row->caps : s->group->caps;
}

static void
put_cap(struct facts *facts, const struct subject *s, int column)
{
	enum board_kept kept = caps_of(s)[column - COL_CAP];

	facts_text(facts, "", FACT_PLAIN, "%s",
		   kept == CAP_NONE ? "" : board_kept_name(kept));
}

/* A mark for each cap that the track has. */
static void
put_caps(struct facts *facts, const struct subject *s, int column)
{
	static const char *const marks[] = {
		[CAP_NONE] = "",     [CAP_KEPT] = "✓",	 [CAP_GRACE] = "~",
		[CAP_UNKNOWN] = "·", [CAP_BROKEN] = "✗",
	};
	static const enum fact_style styles[] = {
		[CAP_NONE] = FACT_DONE,	   [CAP_KEPT] = FACT_DONE,
		[CAP_GRACE] = FACT_DONE,   [CAP_UNKNOWN] = FACT_HINT,
		[CAP_BROKEN] = FACT_ALARM,
	};
	const enum board_kept *caps = caps_of(s);
	enum board_kept worst = CAP_NONE;
	char text[32] = "";

	(void)column;
	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		if (s->group->is_values ||
		    (s->row == NULL && s->group->n_counted == 0))
			continue;
		strcat(text, marks[caps[cap]]);
		worst = caps[cap] > worst ? caps[cap] : worst;
	}
	facts_text(facts, "", styles[worst], "%s", text);
}

static const enum fact_style word_styles[] = {
	[BOARD_WORD_NONE] = FACT_DIM,	     [BOARD_WORD_BASELINE] = FACT_REFERENCE,
	[BOARD_WORD_NO_RUNS] = FACT_DIM,     [BOARD_WORD_INVALID] = FACT_ALARM,
	[BOARD_WORD_NOT_JUDGED] = FACT_HINT, [BOARD_WORD_BELOW_BAR] = FACT_WORSE,
	[BOARD_WORD_NOT_SHOWN] = FACT_STRONG, [BOARD_WORD_SHOWN] = FACT_BETTER,
};
