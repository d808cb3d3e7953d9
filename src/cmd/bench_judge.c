/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench judge`: the verdict on logs that exist already. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "bench/judge.h"
#include "bench/metric.h"
#include "bench/noise.h"
#include "bench/report.h"
#include "bench/run_log.h"
#include "bench/stats.h"
#include "bench/verdict_json.h"
#include "cmd/cmd.h"
#include "parsers/json.h"
#include "report/facts_print.h"

#define MAX_RUNS   4096
#define MAX_TAG	   40
#define AA_SUFFIX  "~aa"
#define MAX_REPORT (8U * 1024 * 1024)

enum option {
	OPTION_CONTROL,
	OPTION_VARIANT,
	OPTION_AA,
	OPTION_METRIC,
	OPTION_HIGHER,
	OPTION_LOWER,
	OPTION_WINDOW,
	OPTION_TOK_KIND,
	OPTION_MARGIN,
	OPTION_ALPHA,
	OPTION_NUMERICS,
	OPTION_FORMAT,
	OPTION_FAIL_ON,
	OPTION_JSON,
	OPTION_MD,
};

static const struct cmd_option options[] = {
	{ 0, "control", "LOG...", "the logs of the control, one a block" },
	{ 0, "variant", "TAG=LOG...", "those of a variant; repeatable" },
	{ 0, "aa", "LOG...", "the control once more: its noise; no variant" },
	{ 0, "metric", "M", "step_ms, or the key of a score in JSON" },
	{ 0, "higher", NULL, "a higher score is better" },
	{ 0, "lower", NULL, "a lower one is (so it is, but for rates)" },
	{ 0, "window", "LO:HI", "steps measured, or auto (20:100)" },
	{ 0, "tok-kind", "KIND", "printed tok/s: cumulative or interval" },
	{ 0, "margin", "PCT", "the smallest difference that matters (0.5)" },
	{ 0, "alpha", "P", "significance level (0.05)" },
	{ 0, "numerics-changed", NULL, "the variants compute differently" },
	{ 0, "format", "FILE", "more rules to read logs by" },
	{ 0, "fail-on", "WORDS", "exit 3 on these verdicts: invalid,slower" },
	{ 0, "json", NULL, "print the object of verdict.json" },
	{ 0, "md", NULL, "print Markdown" },
	{ 0, NULL, NULL, NULL },
};

struct arm {
	char tag[MAX_TAG + sizeof(AA_SUFFIX)];
	bool aa;
	size_t n_logs;
};

/* All that the command line asked for, and what was read for it. */
struct request {
	struct judge_rule rule;
	const char *metric; /* NULL: by what the logs are */
	bool said_way;	    /* --higher or --lower */
	bool json, md;
	const char *fail_on;
	bool numerics_changed;
	struct format_set *formats;
	struct arm arms[SCHEDULE_MAX_ARMS];
	size_t n_arms;
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
add_log(struct request *q, const char *path, struct err *err)
{
	struct arm *arm = &q->arms[q->current];

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
start_control(struct request *q, const char *word, struct err *err)
{
	size_t n = tag_length(word);

	if (n > 0)
		(void)snprintf(q->arms[0].tag, sizeof(q->arms[0].tag), "%.*s",
			       (int)n, word);
	q->current = 0;
	return add_log(q, n > 0 ? word + n + 1 : word, err);
}

static int
start_variant(struct request *q, const char *word, struct err *err)
{
	size_t n = tag_length(word), i;

	if (n == 0)
		return err_set(
			err, ERR_USAGE,
			"--variant %s: expected TAG=LOG, TAG of letters, "
			"digits, _ . - (at most %d)",
			word, MAX_TAG);
	for (i = 1; i < q->n_arms; i++)
		if (strlen(q->arms[i].tag) == n &&
		    memcmp(q->arms[i].tag, word, n) == 0)
			break;
	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants",
			       SCHEDULE_MAX_ARMS - 1);
	if (i == q->n_arms) {
		(void)snprintf(q->arms[i].tag, sizeof(q->arms[i].tag), "%.*s",
			       (int)n, word);
		q->n_arms++;
	}
	q->current = i;
	return add_log(q, word + n + 1, err);
}

/* The control's logs of an A/A arm; its tag is made when all is known. */
static int
start_aa(struct request *q, const char *word, struct err *err)
{
	size_t i = 1;

	while (i < q->n_arms && !q->arms[i].aa)
		i++;
	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants",
			       SCHEDULE_MAX_ARMS - 1);
	if (i == q->n_arms)
		q->arms[q->n_arms++].aa = true;
	q->current = i;
	return add_log(q, word, err);
}

static int
parse_window(struct judge_rule *rule, const char *text, struct err *err)
{
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

/* A number above 0 and below limit. */
static int
parse_positive(const char *option, const char *text, double limit, double *out,
	       struct err *err)
{
	if (!str_to_double(str_from(text), out) || !(*out > 0.0) ||
	    !(*out < limit))
		return err_set(err, ERR_USAGE,
			       "--%s %s: expected a number above 0 and below "
			       "%g",
			       option, text, limit);
	return 0;
}

static int
parse_tok_kind(struct judge_rule *rule, const char *text, struct err *err)
{
	if (strcmp(text, "cumulative") == 0)
		rule->tok_kind = TOK_CUMULATIVE;
	else if (strcmp(text, "interval") == 0)
		rule->tok_kind = TOK_INTERVAL;
	else
		return err_set(err, ERR_USAGE,
			       "--tok-kind %s: expected cumulative or "
			       "interval",
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
check_fail_on(const char *words, struct err *err)
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
	return 0;
}

static int
take_option(struct request *q, enum option option, const char *value,
	    struct err *err)
{
	switch (option) {
	case OPTION_CONTROL:
		return start_control(q, value, err);
	case OPTION_VARIANT:
		return start_variant(q, value, err);
	case OPTION_AA:
		return start_aa(q, value, err);
	case OPTION_METRIC:
		q->metric = value;
		return 0;
	case OPTION_HIGHER:
		q->rule.higher = q->said_way = true;
		return 0;
	case OPTION_LOWER:
		q->rule.higher = false;
		q->said_way = true;
		return 0;
	case OPTION_WINDOW:
		return parse_window(&q->rule, value, err);
	case OPTION_TOK_KIND:
		return parse_tok_kind(&q->rule, value, err);
	case OPTION_MARGIN:
		if (parse_positive("margin", value, 100.0,
				   &q->rule.paired.margin, err) != 0)
			return -1;
		q->rule.paired.margin /= 100.0;
		return 0;
	case OPTION_ALPHA:
		return parse_positive("alpha", value, 0.5,
				      &q->rule.paired.alpha, err);
	case OPTION_NUMERICS:
		q->numerics_changed = true;
		return 0;
	case OPTION_FORMAT:
		return format_set_load(q->formats, value, err);
	case OPTION_FAIL_ON:
		q->fail_on = value;
		return check_fail_on(value, err);
	case OPTION_JSON:
		q->json = true;
		return 0;
	case OPTION_MD:
		q->md = true;
		return 0;
	}
	return 0;
}

/* Options and logs may alternate: a plain word is one more log of its arm. */
static int
parse_words(struct request *q, struct cmd_args *args, struct err *err)
{
	const char *value;
	int option;

	for (;;) {
		option = cmd_next_option(args, &value, err);
		if (option == CMD_OPTIONS_WRONG)
			return -1;
		if (option >= 0) {
			if (take_option(q, (enum option)option, value, err))
				return -1;
			continue;
		}
		if (args->next >= args->argc)
			break;
		if (q->n_runs == 0)
			return err_set(err, ERR_USAGE,
				       "bench judge: %s: begin with --control",
				       args->argv[args->next]);
		if (add_log(q, args->argv[args->next++], err) != 0)
			return -1;
	}
	if (q->arms[0].n_logs == 0 || q->n_arms < 2)
		return err_set(err, ERR_USAGE,
			       "bench judge needs --control LOG... and at "
			       "least one --variant TAG=LOG...");
	if (q->metric != NULL && !q->said_way &&
	    bench_metric_is_rate(q->metric))
		return err_set(err, ERR_USAGE,
			       "bench judge: --metric %s looks like a rate: "
			       "give --higher, or --lower",
			       q->metric);
	for (size_t i = 1; i < q->n_arms; i++)
		if (q->arms[i].aa)
			(void)snprintf(q->arms[i].tag, sizeof(q->arms[i].tag),
				       "%.*s" AA_SUFFIX, MAX_TAG,
				       q->arms[0].tag);
	return 0;
}

static int
read_logs(struct request *q, struct err *err)
{
	bool is_steps = q->metric != NULL &&
			bench_metric_find(q->metric)->kind == RUN_LOG_TRAINING;
	struct run_log_rule rule = {
		.formats = q->formats,
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
	struct verdict_info info = {
		.metric = metric_name(q, judge),
		.cost_usd = (double)NAN,
		.stopped = "imported",
	};
	struct facts facts;
	struct buf text;
	cJSON *root = verdict_to_json(judge, &info);
	int result = 0;

	buf_init(&text, MAX_REPORT);
	facts_init(&facts);
	report_facts(&facts, root);
	if (q->json) {
		json_print(&text, root);
		buf_append_char(&text, '\n');
	} else if (q->md) {
		facts_print_md(&text, &facts);
	} else {
		facts_print_text(&text, &facts);
	}
	if (fwrite(text.data, 1, text.len, stdout) != text.len ||
	    fflush(stdout) != 0)
		result = err_set_errno(err, ERR_IO, "cannot write");
	facts_release(&facts);
	buf_release(&text);
	cJSON_Delete(root);
	return result;
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
		q->rule.register_sd = stats_sd(ln, n);
		q->rule.register_df = (double)n - 1.0;
	}
	free(ln);
}

/* Judge; with A/A logs twice, since their noise is a rule of the judgement. */
static void
judge_all(struct request *q, const struct judge_arm *arms, struct judge *judge)
{
	struct judge_run *given = xcalloc(q->n_runs, sizeof(*given));

	memcpy(given, q->runs, q->n_runs * sizeof(*given));
	judge_init(judge, &q->rule, arms, q->n_arms, q->runs, q->n_runs);
	learn_noise(q, judge);
	if (!isnan(q->rule.register_sd)) {
		judge_release(judge);
		memcpy(q->runs, given, q->n_runs * sizeof(*given));
		judge_init(judge, &q->rule, arms, q->n_arms, q->runs,
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

	for (size_t i = 0; i < q->n_arms; i++) {
		bool changed = i > 0 && !q->arms[i].aa && q->numerics_changed;

		arms[i].tag = q->arms[i].tag;
		arms[i].aa = q->arms[i].aa;
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
exec_judge(struct cmd_args *args, struct err *err)
{
	struct request *q = xcalloc(1, sizeof(*q));
	int status = -1;

	q->rule = (struct judge_rule)JUDGE_RULE_DEFAULT;
	q->formats = format_set_new_builtin();
	q->n_arms = 1;
	(void)snprintf(q->arms[0].tag, sizeof(q->arms[0].tag), "control");
	if (parse_words(q, args, err) == 0 && read_logs(q, err) == 0)
		status = judge_request(q, err);
	for (size_t i = 0; i < q->n_logs; i++)
		run_log_release(&q->logs[i]);
	free(q->logs);
	format_set_free(q->formats);
	free(q);
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
	.in_order = true,
	.exec = exec_judge,
};
