/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench judge`: the verdict on logs that exist already. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/judge.h"
#include "bench/noise.h"
#include "bench/run_log.h"
#include "bench/stats.h"
#include "bench/verdict_json.h"
#include "cmd/bench.h"
#include "parsers/json.h"

#define MAX_RUNS  4096
#define MAX_TAG	  40
#define AA_SUFFIX "~aa"

struct arm {
	char tag[MAX_TAG + sizeof(AA_SUFFIX)];
	bool aa;
	size_t n_logs;
};

/* What the command line asked for, where that is not nothing. */
struct judge_ask {
	struct judge_rule rule;
	double margin; /* per cent */
	struct arm arms[SCHEDULE_MAX_ARMS];
	size_t n_arms;
};

static const struct judge_ask defaults = {
	.rule = JUDGE_RULE_DEFAULT,
	.margin = (double)NAN,
	.arms = { { .tag = "control" } },
	.n_arms = 1,
};

/* All of it, and what was read for it. */
struct request {
	struct judge_ask ask;
	const char *metric; /* NULL: by what the logs are */
	bool lower;	    /* it is said that a lower score is better */
	enum bench_print print;
	const char *fail_on;
	bool numerics_changed;
	size_t current; /* arm that plain words belong to */
	const char *paths[MAX_RUNS];
	struct judge_run runs[MAX_RUNS];
	struct run_log *logs; /* owned */
	size_t n_runs, n_logs;
};

static bool
is_tag_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

/* The length of TAG in "TAG=LOG", or 0. */
static size_t
tag_length(const char *word)
{
	size_t n = 0;

	while (is_tag_char(word[n]))
		n++;
	return word[n] == '=' && n <= MAX_TAG ? n : 0;
}

static int
add_log(void *opaque, const char *path, struct err *err)
{
	struct request *q = opaque;
	struct arm *arm = &q->ask.arms[q->current];

	if (q->n_runs == MAX_RUNS)
		return err_set(err, ERR_USAGE, "more than %d logs", MAX_RUNS);
	q->paths[q->n_runs] = path;
	q->runs[q->n_runs++] = (struct judge_run){
		.arm = q->current,
		.block = arm->n_logs++,
		.counted = true,
		.state = RUN_STATE_CLAIMED,
		.name = path,
		.path = path,
		.rc = (double)NAN,
		.drift_s = (double)NAN,
	};
	return 0;
}

static int
start_control(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t n = tag_length(word);

	if (n > 0)
		(void)snprintf(q->ask.arms[0].tag, sizeof(q->ask.arms[0].tag),
			       "%.*s", (int)n, word);
	q->current = 0;
	return add_log(q, n > 0 ? word + n + 1 : word, err);
}

static int
start_variant(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t n = tag_length(word), i;

	if (n == 0)
		return err_set(
			err, ERR_USAGE,
			"--variant %s: expected TAG=LOG, TAG of letters, "
			"digits, _ . - (at most %d)",
			word, MAX_TAG);
	for (i = 1; i < q->ask.n_arms; i++)
		if (strlen(q->ask.arms[i].tag) == n &&
		    memcmp(q->ask.arms[i].tag, word, n) == 0)
			break;
	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants",
			       SCHEDULE_MAX_ARMS - 1);
	if (i == q->ask.n_arms) {
		(void)snprintf(q->ask.arms[i].tag, sizeof(q->ask.arms[i].tag),
			       "%.*s", (int)n, word);
		q->ask.n_arms++;
	}
	q->current = i;
	return add_log(q, word + n + 1, err);
}

/* The control's logs of an A/A arm; its tag is made when all is known. */
static int
start_aa(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t i = 1;

	while (i < q->ask.n_arms && !q->ask.arms[i].aa)
		i++;
	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants",
			       SCHEDULE_MAX_ARMS - 1);
	if (i == q->ask.n_arms)
		q->ask.arms[q->ask.n_arms++].aa = true;
	q->current = i;
	return add_log(q, word, err);
}

static int
take_window(void *opaque, const char *text, struct err *err)
{
	struct judge_rule *rule = &((struct request *)opaque)->ask.rule;
	struct str rest = str_from(text), lo, hi;

	if (strcmp(text, "auto") == 0) {
		rule->window = WINDOW_AUTO;
		return 0;
	}
	rule->window = WINDOW_FIXED;
	if (!str_next(&rest, ':', &lo) || !str_next(&rest, ':', &hi) ||
	    !str_to_double(lo, &rule->lo) || !str_to_double(hi, &rule->hi) ||
	    !(rule->lo >= 0.0) || !(rule->hi > rule->lo))
		return err_set(err, ERR_USAGE,
			       "--window %s: expected LO:HI with LO < HI, or "
			       "auto",
			       text);
	return 0;
}

/* "NO DIFFERENCE SHOWN" as "no-difference-shown". */
static void
word_slug(enum verdict_word word, char *out, size_t size)
{
	(void)snprintf(out, size, "%s", verdict_words[word]);
	for (char *c = out; *c != '\0'; c++)
		*c = *c == ' ' ? '-' : (char)tolower((unsigned char)*c);
}

static bool
fails_on(const char *words, enum verdict_word word)
{
	struct str rest = str_from(words), piece;
	char slug[32];

	word_slug(word, slug, sizeof(slug));
	while (str_next(&rest, ',', &piece))
		if (str_eq_cstr(piece, slug))
			return true;
	return false;
}

static int
take_fail_on(void *opaque, const char *words, struct err *err)
{
	struct str rest = str_from(words), piece;

	while (str_next(&rest, ',', &piece)) {
		bool known = false;

		for (int w = VERDICT_INVALID; w <= VERDICT_NO_DIFFERENCE; w++) {
			char slug[32];

			word_slug((enum verdict_word)w, slug, sizeof(slug));
			known |= str_eq_cstr(piece, slug);
		}
		if (!known)
			return err_set(err, ERR_USAGE,
				       "--fail-on %.*s: expected invalid, "
				       "not-judged, faster, slower, same or "
				       "no-difference-shown",
				       (int)piece.len, piece.p);
	}
	((struct request *)opaque)->fail_on = words;
	return 0;
}

/* A plain word is one more log of its arm. */
static int
take_log(void *opaque, const char *word, struct err *err)
{
	const struct request *q = opaque;

	if (q->n_runs == 0)
		return err_set(err, ERR_USAGE,
			       "bench judge: %s: begin with --control", word);
	return add_log(opaque, word, err);
}

/* What belongs to what, now that all is known. */
static int
check_judge(const struct cmd_args *args, void *opaque, struct err *err)
{
	struct request *q = opaque;

	(void)args;
	if (q->ask.arms[0].n_logs == 0 || q->ask.n_arms < 2)
		return err_set(err, ERR_USAGE,
			       "bench judge needs --control LOG... and at "
			       "least one --variant TAG=LOG...");
	if (q->metric != NULL && !q->ask.rule.higher && !q->lower &&
	    bench_metric_is_rate(q->metric))
		return err_set(err, ERR_USAGE,
			       "bench judge: --metric %s looks like a rate: "
			       "give --higher, or --lower",
			       q->metric);
	for (size_t i = 1; i < q->ask.n_arms; i++)
		if (q->ask.arms[i].aa)
			(void)snprintf(
				q->ask.arms[i].tag, sizeof(q->ask.arms[i].tag),
				"%.*s" AA_SUFFIX, MAX_TAG, q->ask.arms[0].tag);
	if (!isnan(q->ask.margin))
		q->ask.rule.paired.margin = q->ask.margin / 100.0;
	return 0;
}

static const char *const tok_kinds[] = {
	[TOK_CUMULATIVE] = "cumulative", [TOK_INTERVAL] = "interval", NULL
};

static const struct cmd_option options[] = {
	{ 0, "control", "LOG...", "the logs of the control, one a block",
	  CMD_TAKE, .take = start_control },
	{ 0, "variant", "TAG=LOG...", "those of a variant; repeatable",
	  CMD_TAKE, .take = start_variant },
	{ 0, "aa", "LOG...", "the control once more: its noise; no variant",
	  CMD_TAKE, .take = start_aa },
	{ 0, "metric", "M", "step_ms, or the key of a score in JSON", CMD_TEXT,
	  CMD_AT(request, metric) },
	{ 0, "higher", NULL, "a higher score is better", CMD_FLAG,
	  CMD_AT(request, ask.rule.higher) },
	{ 0, "lower", NULL, "a lower one is (so it is, but for rates)",
	  CMD_FLAG, CMD_AT(request, lower) },
	{ 0, "window", "LO:HI", "steps measured, or auto (20:100)", CMD_TAKE,
	  .take = take_window },
	{ 0, "tok-kind", "KIND", "printed tok/s: cumulative or interval",
	  CMD_CHOICE, CMD_AT(request, ask.rule.tok_kind), .words = tok_kinds },
	{ 0, "margin", "PCT", "the smallest difference that matters (0.5)",
	  CMD_POSITIVE, CMD_AT(request, ask.margin), .high = 100 },
	{ 0, "alpha", "P", "significance level (0.05)", CMD_POSITIVE,
	  CMD_AT(request, ask.rule.paired.alpha), .high = 0.5 },
	{ 0, "numerics-changed", NULL, "the variants compute differently",
	  CMD_FLAG, CMD_AT(request, numerics_changed) },
	CMD_FORMAT_OPTION,
	{ 0, "fail-on", "WORDS", "exit 3 on these verdicts: invalid,slower",
	  CMD_TAKE, .take = take_fail_on },
	BENCH_PRINT_OPTIONS(request, ""),
	CMD_OPTIONS_END,
};

static int
read_logs(struct request *q, const struct format_set *formats, struct err *err)
{
	bool is_steps = q->metric != NULL &&
			bench_metric_find(q->metric)->kind == RUN_LOG_TRAINING;
	struct run_log_rule rule = {
		.formats = formats,
		.force = q->metric != NULL,
		.kind = is_steps ? RUN_LOG_TRAINING : RUN_LOG_SCORE,
		.score_key = is_steps ? NULL : q->metric,
	};
	bool any = false;

	q->logs = xcalloc(q->n_runs, sizeof(*q->logs));
	for (size_t i = 0; i < q->n_runs; i++) {
		if (run_log_read(&q->logs[i], q->paths[i], &rule, err) != 0)
			return -1;
		q->n_logs++;
		q->runs[i].log = &q->logs[i];
		any |= q->logs[i].kind == RUN_LOG_SCORE ||
		       q->logs[i].n_rows > 0;
	}
	if (!any)
		return err_set(err, ERR_NODATA,
			       "none of the logs holds a train row or a "
			       "score");
	return 0;
}

/* What was measured, by name. */
static const char *
metric_name(const struct request *q, const struct judge *judge)
{
	if (judge->training)
		return "step_ms";
	for (size_t i = 0; i < q->n_logs; i++)
		if (q->logs[i].score.key != NULL)
			return q->logs[i].score.key;
	return q->metric != NULL ? q->metric : "score";
}

static int
print_verdict(const struct request *q, const struct judge *judge,
	      struct err *err)
{
	const struct verdict_info info = {
		.metric = metric_name(q, judge),
		.cost_usd = (double)NAN,
		.stopped = "imported",
	};
	cJSON *verdict = verdict_to_json(judge, &info);
	int rc = bench_print_verdict(verdict, q->print, "", err);

	cJSON_Delete(verdict);
	return rc;
}

/*
 * How much the runs of the same code, the control's and those of --aa, spread:
 * what a register knows of a bench that ran here.
 */
static void
learn_noise(struct request *q, const struct judge *judge)
{
	double *ln = xcalloc(q->n_runs + 1, sizeof(*ln));
	bool any = false;
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		bool aa = judge->arms[run->arm].aa;

		if ((run->arm != 0 && !aa) || guard_hard(&run->hits) != NULL ||
		    !(run->y > 0.0))
			continue;
		any |= aa;
		ln[n++] = log(run->y);
	}
	if (any && n >= NOISE_MIN_RUNS) {
		q->ask.rule.register_sd = stats_sd(ln, n);
		q->ask.rule.register_df = (double)n - 1.0;
	}
	free(ln);
}

/* Judge; with A/A logs twice, since their noise is a rule of the judgement. */
static void
judge_all(struct request *q, const struct judge_arm *arms, struct judge *judge)
{
	struct judge_run *given = xcalloc(q->n_runs, sizeof(*given));

	memcpy(given, q->runs, q->n_runs * sizeof(*given));
	judge_init(judge, &q->ask.rule, arms, q->ask.n_arms, q->runs,
		   q->n_runs);
	learn_noise(q, judge);
	if (!isnan(q->ask.rule.register_sd)) {
		judge_release(judge);
		memcpy(q->runs, given, q->n_runs * sizeof(*given));
		judge_init(judge, &q->ask.rule, arms, q->ask.n_arms, q->runs,
			   q->n_runs);
	}
	free(given);
}

/* Judge, print, and say whether --fail-on fired. */
static int
judge_request(struct request *q, struct err *err)
{
	struct judge_arm arms[SCHEDULE_MAX_ARMS] = { { 0 } };
	struct judge judge;
	int status = 0;

	for (size_t i = 0; i < q->ask.n_arms; i++) {
		bool changed =
			i > 0 && !q->ask.arms[i].aa && q->numerics_changed;

		arms[i].tag = q->ask.arms[i].tag;
		arms[i].aa = q->ask.arms[i].aa;
		/* What computes differently has a noise of its own. */
		arms[i].numerics_changed = arms[i].other_noise = changed;
	}
	judge_all(q, arms, &judge);
	if (print_verdict(q, &judge, err) != 0)
		status = -1;
	for (size_t i = 0; status == 0 && i < judge.n_contrasts; i++)
		if (q->fail_on != NULL && !arms[judge.contrasts[i].arm].aa &&
		    fails_on(q->fail_on, judge.contrasts[i].verdict.word))
			status = err_exit_status(ERR_CHECK);
	judge_release(&judge);
	return status;
}

static int
exec_judge(struct cmd_args *args, void *opaque, struct err *err)
{
	struct request *q = opaque;
	int status = -1;

	if (read_logs(q, args->context->formats, err) == 0)
		status = judge_request(q, err);
	for (size_t i = 0; i < q->n_logs; i++)
		run_log_release(&q->logs[i]);
	free(q->logs);
	return status;
}

const struct cmd cmd_bench_judge = {
	.name = "bench judge",
	.usage = "--control LOG... [--aa LOG...] --variant TAG=LOG... "
		 "[OPTIONS]",
	.summary = "judge an A/B bench from logs that exist already",
	.help = "The n-th log of a variant and the n-th of the control are "
		"one block: they ran next to\neach other. Fewer than three "
		"blocks are never judged. Logs are training logs of any\n"
		"known format, or the JSON that a verifier or benchmark "
		"printed.\n--aa names logs of the control's code run once "
		"more. With three such runs, the control's\ncounted, one pair "
		"has a provisional value beside NOT JUDGED.",
	.options = options,
	.size = sizeof(struct request),
	.preset = sizeof(defaults),
	.defaults = &defaults,
	.word = take_log,
	.check = check_judge,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_judge,
};
