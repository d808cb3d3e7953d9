/* SPDX-License-Identifier: MIT */
/*
 * Whether what a verifier is said to have printed is evidence: printed after
 * the attempt's end, by a judge that nobody changed, and not touched since.
 * Whoever can write one file of a run can write them all and set their mtime,
 * but not their ctime: only the order of ctimes is believed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "parsers/harness_parts.h"

#define DISPUTE_MAX   320
#define MAX_DISPUTES  64
#define SECOND_MS     1000 /* HarnessGym records whole ones */
#define CLOCK_SLACK_S 1.0  /* between a pod's clock and HarnessGym's */
#define TOTALS	      6

static const char *const proof_names[] = {
#define X(id, name) name,
	HARNESS_PROOF_LIST(X)
#undef X
};

const char *harness_proof_name(enum harness_proof proof)
{
	return proof_names[proof];
}

/* Written once by HarnessGym, before the verifier's output and after it. */
static const enum harness_kind begins[] = { HARNESS_STARTED, HARNESS_ATTEMPT_PROMPT };
static const enum harness_kind ends[] = { HARNESS_ATTEMPT_OUT, HARNESS_ATTEMPT_ERR,
					  HARNESS_ATTEMPT_SCRIPT };
static const enum harness_kind follows[] = {
	HARNESS_REFLECTION_PROMPT, HARNESS_REFLECTION_OUT, HARNESS_BUILD_PROMPT,
	HARNESS_BUILD_OUT,	   HARNESS_BUILT,
};

#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

static int64_t ctime_of(const struct harness_build *b, enum harness_kind kind, unsigned int number)
{
	const struct harness_file *file = harness_run_file(b, kind, number);

	return file != NULL ? file->ctime_ms : 0;
}

/* The latest of the iteration's files of these kinds; 0: none. */
static int64_t latest(const struct harness_build *b, const enum harness_kind *kinds, size_t n,
		      unsigned int number)
{
	int64_t max_ms = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t ms = ctime_of(b, kinds[i], number);

		max_ms = ms > max_ms ? ms : max_ms;
	}
	return max_ms;
}

/* The earliest of them; INT64_MAX: none. */
static int64_t earliest(const struct harness_build *b, const enum harness_kind *kinds, size_t n,
			unsigned int number)
{
	int64_t min_ms = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		int64_t ms = ctime_of(b, kinds[i], number);

		min_ms = ms > 0 && ms < min_ms ? ms : min_ms;
	}
	return min_ms;
}

/*
 * A folder that was copied has the copy's ctimes: all of them are later than
 * the last time that HarnessGym recorded.  An agent can make a run look so
 * until HarnessGym records again, but no process runs in a copy.
 */
void harness_proof_begin(struct harness_build *b)
{
	int64_t first_ms = INT64_MAX, recorded_ms = 0;

	b->ordered = false;
	for (size_t i = 0; i < b->files->n; i++) {
		const struct harness_file *file = b->files->all[i];
		int64_t ms = file->kind == HARNESS_RESULT
				     ? harness_time_at(file->json, "updated_at")
				     : 0;

		if (strcmp(file->run, b->run->dir) != 0)
			continue;
		if (file->ctime_ms == 0)
			return;
		first_ms = file->ctime_ms < first_ms ? file->ctime_ms : first_ms;
		recorded_ms = ms > recorded_ms ? ms : recorded_ms;
	}
	b->ordered = recorded_ms == 0 || first_ms < recorded_ms + SECOND_MS ||
		     (b->is_newest && b->files->process == HARNESS_YES);
}

/* A phase that has been asked for and has not answered. */
static bool is_open(const struct harness_build *b, enum harness_kind prompt,
		    enum harness_kind output, unsigned int number)
{
	return harness_run_file(b, prompt, number) != NULL &&
	       harness_run_file(b, output, number) == NULL;
}

bool harness_proof_is_over(const struct harness_build *b)
{
	int64_t end_ms = ctime_of(b, HARNESS_SUMMARY, 0);
	bool is_over = true;

	for (size_t i = 0; b->ordered && is_over && i < b->files->n; i++) {
		const struct harness_file *file = b->files->all[i];
		unsigned int n = file->number;

		if (n == 0 || strcmp(file->run, b->run->dir) != 0 || harness_proof_is_old(b, file))
			continue;
		is_over = latest(b, ends, N_OF(ends), n) <= end_ms &&
			  latest(b, follows, N_OF(follows), n) <= end_ms &&
			  !is_open(b, HARNESS_ATTEMPT_PROMPT, HARNESS_ATTEMPT_OUT, n);
	}
	return is_over;
}

bool harness_proof_is_old(const struct harness_build *b, const struct harness_file *file)
{
	const struct harness_file *config =
		harness_files_find(b->files, HARNESS_CONFIG, b->run->dir, 0, 0);

	return b->ordered && config != NULL && file->ctime_ms < config->ctime_ms;
}

static bool has_ended(const struct harness_build *b, const struct harness_iteration *it)
{
	unsigned int n = it->number;

	return (it->attempt != NULL || harness_run_file(b, HARNESS_ATTEMPT_OUT, n) != NULL) &&
	       !(b->ordered && (is_open(b, HARNESS_REFLECTION_PROMPT, HARNESS_REFLECTION_OUT, n) ||
				is_open(b, HARNESS_BUILD_PROMPT, HARNESS_BUILD_OUT, n)));
}

/* Whether HarnessGym itself can have begun that iteration. */
static bool is_in_turn(const struct harness_build *b, size_t i)
{
	const struct harness_run *run = b->run;
	const struct harness_iteration *it = &run->iterations[i];
	const cJSON *rows = json_get(b->summary, "iterations");
	bool listed = cJSON_GetArraySize(rows) == 0;

	json_each (node, rows) {
		struct harness_number of = harness_number_at(node, "iteration");

		listed |= of.present && of.value == it->number;
	}
	return listed && (!run->planned.present || it->number <= run->planned.value) &&
	       (i == 0 || has_ended(b, it - 1));
}

/* The latest of all that HarnessGym writes once in an iteration. */
static int64_t last_of(const struct harness_build *b, unsigned int number)
{
	int64_t ms = ctime_of(b, HARNESS_POST_OUT, number);
	int64_t end_ms = latest(b, ends, N_OF(ends), number);
	int64_t more_ms = latest(b, follows, N_OF(follows), number);

	ms = end_ms > ms ? end_ms : ms;
	return more_ms > ms ? more_ms : ms;
}

/* The order in time of an iteration's output and of all around it. */
static enum harness_proof order_of(const struct harness_build *b, size_t i,
				   const struct harness_file *out)
{
	const struct harness_run *run = b->run;
	unsigned int n = run->iterations[i].number;
	int64_t before_ms = latest(b, ends, N_OF(ends), n);
	int64_t after_ms = earliest(b, follows, N_OF(follows), n), ms;

	ms = latest(b, begins, N_OF(begins), n);
	before_ms = ms > before_ms ? ms : before_ms;
	for (size_t k = 0; k < run->n_iterations; k++) {
		unsigned int other = run->iterations[k].number;

		ms = last_of(b, other);
		if (k < i && ms > before_ms)
			before_ms = ms;
		ms = earliest(b, begins, N_OF(begins), other);
		if (k > i && is_in_turn(b, k) && ms < after_ms)
			after_ms = ms;
	}
	if (out->ctime_ms < before_ms)
		return HARNESS_PROOF_EARLY;
	return out->ctime_ms > after_ms || out->replaced_ms >= before_ms ? HARNESS_PROOF_DOUBT
									 : HARNESS_PROOF_PRINTED;
}

/*
 * Whether HarnessGym has gone on behind the verifier of that iteration: until
 * then whatever the attempt left behind may still be writing.
 */
static bool went_on(const struct harness_build *b, const struct harness_iteration *it)
{
	return !b->ordered || b->summary != NULL ||
	       harness_run_file(b, HARNESS_RESTORED_OUT, 0) != NULL ||
	       latest(b, follows, N_OF(follows), it->number) > 0 ||
	       it != &b->run->iterations[b->run->n_iterations - 1];
}

static enum harness_proof proof_of(struct harness_build *b, size_t i)
{
	struct harness_iteration *it = &b->run->iterations[i];
	const struct harness_file *out = harness_run_file(b, HARNESS_POST_OUT, it->number);
	enum harness_proof proof = HARNESS_PROOF_COPIED;

	if (!it->post.present)
		return HARNESS_PROOF_NONE;
	if (b->run->command == NULL)
		return HARNESS_PROOF_NO_COMMAND;
	if (out == NULL)
		return HARNESS_PROOF_NO_OUTPUT;
	if (b->ordered)
		proof = order_of(b, i, out);
	if (proof == HARNESS_PROOF_DOUBT)
		harness_post_doubt(b, &it->post, "changed after it was printed");
	if (!is_in_turn(b, i)) {
		harness_post_doubt(b, &it->post, "HarnessGym has not begun that iteration");
		return HARNESS_PROOF_DOUBT;
	}
	/* Files are read one by one: the next one must have got further. */
	if (b->ordered && i + 1 < b->run->n_iterations && !has_ended(b, it) &&
	    harness_run_file(b, HARNESS_ATTEMPT_OUT, it[1].number) != NULL) {
		harness_post_doubt(b, &it->post, "the next one was begun before its end");
		return HARNESS_PROOF_DOUBT;
	}
	if (proof == HARNESS_PROOF_EARLY ||
	    (it->attempt == NULL && harness_run_file(b, HARNESS_ATTEMPT_OUT, it->number) == NULL) ||
	    !went_on(b, it))
		return HARNESS_PROOF_EARLY;
	return proof;
}

/* When HarnessGym had made the checkpoint and went on. */
static int64_t point_until(const struct harness_build *b)
{
	const struct harness_number *of = &b->run->checkpoint.iteration;

	if (!b->ordered || !of->present)
		return INT64_MAX;
	return of->value < 1 ? earliest(b, begins, N_OF(begins), 1)
			     : earliest(b, follows, N_OF(follows), (unsigned int)of->value);
}

/* The checkpoint was written before that, and not since. */
static bool is_point_kept(const struct harness_build *b)
{
	int64_t ms = ctime_of(b, HARNESS_MANIFEST, 0);

	return ms != 0 && ms <= point_until(b);
}

/*
 * Until when a judge in the workspace was the agent's to write: HarnessGym
 * writes it when it restores the checkpoint, others when the run is over.
 */
static int64_t agent_until(const struct harness_build *b)
{
	const struct harness_run *run = b->run;
	unsigned int last = run->iterations[run->n_iterations - 1].number;
	bool over = run->planned.present && last >= run->planned.value &&
		    harness_run_file(b, HARNESS_BUILT, last) != NULL;

	if (b->summary != NULL ? run->restore.restored == HARNESS_YES : over)
		return latest(b, follows, N_OF(follows), last);
	if (b->summary != NULL)
		return ctime_of(b, HARNESS_SUMMARY, 0);
	return b->is_newest ? INT64_MAX : run->last_ms;
}

/* By the judge that lies in the workspace now; NULL: nothing is wrong. */
static const char *work_fault(const struct harness_build *b, const struct harness_judge *judge,
			      const struct harness_iteration *it, const struct harness_file *out)
{
	const struct harness_judge_copy *work = &judge->copies[HARNESS_WORK];
	const struct harness_judge_copy *own = &judge->copies[HARNESS_TEMPLATE];
	bool differs = own->sum[0] != '\0' && strcmp(work->sum, own->sum) != 0;
	const char *state =
		json_get_string(harness_json_file(b, HARNESS_CONFIG, 0), "task_state", "");

	if (work->sum[0] == '\0')
		return NULL; /* nobody looked */
	if (!b->ordered)
		return differs && b->run->restore.restored != HARNESS_YES ? "judge changed" : NULL;
	if (strcmp(state, "reset") == 0) /* HarnessGym writes it each time */
		return differs && work->ctime_ms <= out->ctime_ms ? "judge changed" : NULL;
	/* Before it was written last, it may have been anything. */
	if (work->ctime_ms <= earliest(b, begins, N_OF(begins), 1) ||
	    work->ctime_ms <= earliest(b, begins, N_OF(begins), it->number) ||
	    work->ctime_ms > agent_until(b))
		return NULL;
	return differs ? "judge changed" : "judge rewritten";
}

/* HarnessGym tells of a template at the end, and there is none. */
static bool is_gone(const struct harness_build *b, const struct harness_judge *judge)
{
	const cJSON *told = json_get(b->summary, "artifact_qualification");

	return strcmp(judge->copies[HARNESS_TEMPLATE].sum, "none") == 0 &&
	       judge->copies[HARNESS_WORK].sum[0] == '\0' &&
	       cJSON_IsObject(json_get(told, "template"));
}

/* How it is known that another judge measured; NULL: it is not. */
static const char *judge_fault(const struct harness_build *b, const struct harness_judge *judge,
			       const struct harness_iteration *it, const struct harness_file *out)
{
	const struct harness_checkpoint *point = &b->run->checkpoint;
	const struct harness_judge_copy *own = &judge->copies[HARNESS_TEMPLATE];
	const struct harness_judge_copy *best = &judge->copies[HARNESS_BEST];
	int64_t point_ms = ctime_of(b, HARNESS_MANIFEST, 0);

	if (b->ordered &&
	    (own->ctime_ms > earliest(b, begins, N_OF(begins), 1) || is_gone(b, judge)))
		return "template changed"; /* it vouches for nothing */
	if (best->ctime_ms > point_until(b))
		return "checkpoint changed"; /* it hides something */
	if (best->sum[0] == '\0' || !point->iteration.present ||
	    point->iteration.value != it->number)
		return work_fault(b, judge, it, out);
	if (own->sum[0] != '\0' && strcmp(best->sum, own->sum) != 0)
		return "judge changed";
	/* The copy was made when it had measured, of what may be new then. */
	if (!b->ordered || (is_point_kept(b) && judge->copies[HARNESS_WORK].ctime_ms > point_ms))
		return NULL;
	return work_fault(b, judge, it, out);
}

static void hold_judge(struct harness_build *b, const struct harness_judge *judge,
		       struct harness_iteration *it)
{
	const struct harness_file *out = harness_run_file(b, HARNESS_POST_OUT, it->number);
	const char *fault = out != NULL && it->proof > HARNESS_PROOF_EARLY
				    ? judge_fault(b, judge, it, out)
				    : NULL;

	if (fault == NULL)
		return;
	it->proof = HARNESS_PROOF_DOUBT;
	harness_post_doubt(b, &it->post, "%s: %.100s", fault, judge->name);
	if (b->run->judge == NULL)
		b->run->judge = harness_pool_text(b->pool, str_from(judge->name), HARNESS_NAME_MAX);
}

static void hold_judges(struct harness_build *b)
{
	struct harness_run *run = b->run;
	bool has_point = true;

	array_each (judge, b->files->judges, b->files->n_judges) {
		if (strcmp(judge->run, run->dir) != 0)
			continue;
		if (strlen(judge->copies[HARNESS_TEMPLATE].sum) > 4) {
			run->has_judge = true;
			has_point = judge->copies[HARNESS_BEST].sum[0] != '\0';
		}
		for (size_t i = 0; i < run->n_iterations; i++)
			hold_judge(b, judge, &run->iterations[i]);
	}
	/* While the run goes on they are written anew. */
	if (run->checkpoint.present && !has_point && b->summary != NULL)
		harness_dispute(b, "the checkpoint of iteration %.0f has no files",
				run->checkpoint.iteration.value);
}

void harness_dispute(struct harness_build *b, const char *fmt, ...)
{
	struct harness_run *run = b->run;
	char text[DISPUTE_MAX];
	va_list ap;

	if (run->disputes == NULL)
		run->disputes = harness_pool_alloc(b->pool, MAX_DISPUTES, sizeof(*run->disputes));
	if (run->n_disputes == MAX_DISPUTES)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	run->disputes[run->n_disputes++] = harness_pool_text(b->pool, str_from(text), sizeof(text));
}

/* Both as numbers, and not the same one. */
static bool differ(struct harness_number a, struct harness_number b)
{
	return harness_is_finite(a) && harness_is_finite(b) &&
	       fabs(a.value - b.value) > 1e-9 * fmax(fabs(a.value), fabs(b.value));
}

static bool is_near(double a, double b, double share)
{
	return fabs(a - b) <= share * fabs(b);
}

/* Whether a is a number, and a worse one than b; an absent one is worse. */
static bool is_worse(const struct harness_run *run, struct harness_number a,
		     struct harness_number b)
{
	if (!harness_is_finite(a))
		return true;
	return differ(a, b) &&
	       (run->higher_is_better == HARNESS_YES ? a.value < b.value : a.value > b.value);
}

/*
 * Where result.json says another score than was printed.  One that is worse
 * than what is said to have been printed leaves nobody to believe.
 */
static void hold_result(struct harness_build *b, struct harness_iteration *it)
{
	struct harness_post *post = &it->post;
	char said[STR_NUMBER_SIZE], printed[STR_NUMBER_SIZE];

	if (post->has_output && post->said && harness_is_finite(post->score) &&
	    !post->said_score.present)
		harness_post_doubt(b, post, "HarnessGym read no score in it");
	if (!post->has_output || !differ(post->said_score, post->score))
		return;
	harness_dispute(b,
			"iteration %u: result.json says %s, the verifier "
			"printed %s",
			it->number, str_number(post->said_score.value, 10, said),
			str_number(post->score.value, 10, printed));
	if (is_worse(b->run, post->said_score, post->score))
		harness_post_doubt(b, post, "result.json says another");
}

/* What no verifier prints at times only. */
static bool is_steady(const struct harness_build *b, const char *key)
{
	const char *score = b->run->post_score_key;

	return str_is_among(str_from(key), "mode device torch cuda status "
					   "cases elapsed_seconds") ||
	       strncmp(key, "best_", 5) == 0 || (score != NULL && strcmp(key, score) == 0);
}

/* The first key of want that node lacks; NULL: it has all that counts, and
 * not fewer than half of all. */
static const char *lacking(const struct harness_build *b, const cJSON *want, const cJSON *node)
{
	const char *first = NULL;
	int n = 0;

	json_each (part, want) {
		if (part->string == NULL || cJSON_IsNull(part) ||
		    json_get(node, part->string) != NULL)
			continue;
		if (is_steady(b, part->string))
			return part->string;
		first = n++ == 0 ? part->string : first;
	}
	return 2 * n > cJSON_GetArraySize(want) ? first : NULL;
}

/* The case that has that one's name; NULL: none. */
static const cJSON *case_like(const cJSON *want, const cJSON *cases)
{
	const char *name = json_get_string(want, "name", "");

	json_each (node, cases) {
		if (strcmp(json_get_string(node, "name", ""), name) == 0)
			return node;
	}
	return NULL;
}

/* The first part of the work itself that both tell, and not the same. */
static const char *other_work(const cJSON *base, const cJSON *own)
{
	static const char *const keys[] = {
		"tolerance", "rtol",  "atol",	"dtype",   "compiler",
		"rows",	     "dim",   "numel",	"tokens",  "d_model",
		"d_hidden",  "shape", "shapes", "experts", "route_profile",
	};

	for (size_t i = 0; i < N_OF(keys); i++) {
		const cJSON *was = json_get(base, keys[i]);
		const cJSON *is = json_get(own, keys[i]);

		if (was != NULL && is != NULL && !cJSON_Compare(was, is, true))
			return keys[i];
	}
	return NULL;
}

/* Whether a case is there as the baseline's is; says what is not. */
static bool hold_case(struct harness_build *b, struct harness_post *post, const cJSON *want,
		      const cJSON *cases)
{
	const char *name = json_get_string(want, "name", ""), *other;
	const cJSON *own = case_like(want, cases);
	const char *key = own != NULL ? lacking(b, want, own) : name;

	if (*name == '\0')
		return true;
	other = other_work(want, own);
	if (key != NULL)
		harness_post_doubt(b, post, "without \"%.100s\" of the baseline", key);
	else if (other != NULL)
		harness_post_doubt(b, post, "%s of %.50s is not the baseline's", other, name);
	return key == NULL && other == NULL;
}

/*
 * Whether all is there that the baseline has: what prints in the verifier's
 * name need not know all that the verifier prints.  What it was measured on
 * is the same, or the numbers are not to be compared.
 */
static void hold_parts(struct harness_build *b, struct harness_iteration *it, const cJSON *base,
		       const cJSON *own)
{
	static const char *const same[] = { "mode", "device", "torch", "cuda" };
	const char *key = lacking(b, base, own);
	const char *other = other_work(base, own);

	if (key != NULL)
		harness_post_doubt(b, &it->post, "without \"%.100s\" of the baseline", key);
	else if (other != NULL)
		harness_post_doubt(b, &it->post, "%s is not the baseline's", other);
	json_each (want, json_get(base, "cases")) {
		if (!hold_case(b, &it->post, want, json_get(own, "cases")))
			break;
	}
	for (size_t i = 0; i < N_OF(same); i++) {
		const char *is = json_get_string(own, same[i], "");
		const char *was = json_get_string(base, same[i], is);
		size_t len = strcspn(is, ":"); /* "cuda:1" */

		if (strcmp(is, was) == 0 || (is[len] == ':' && strncmp(is, was, len + 1) == 0))
			continue;
		harness_post_doubt(b, &it->post, "%s is %.50s, of the baseline %.50s", same[i], is,
				   was);
	}
}

static cJSON *printed_of(const struct harness_build *b, enum harness_kind kind, unsigned int number)
{
	return json_parse(str_trim(harness_text_file(b, kind, number)), JSON_BARE_TEXT, NULL);
}

/* Whether a part of the baseline's work was left out. */
static void hold_cases(struct harness_build *b, struct harness_iteration *it)
{
	size_t n = b->run->baseline.n_cases;

	if (!it->post.has_json || !it->post.has_output || b->run->baseline.passed != HARNESS_YES)
		return;
	if (it->post.n_cases < n) {
		harness_post_doubt(b, &it->post, "%zu of the baseline's %zu cases",
				   it->post.n_cases, n);
	}
	AUTO_JSON base = printed_of(b, HARNESS_BASELINE_OUT, 0);
	AUTO_JSON own = printed_of(b, HARNESS_POST_OUT, it->number);
	if (own != NULL)
		hold_parts(b, it, base, own);
}

/* The verifier cannot have worked for longer than its command ran. */
static void hold_elapsed(struct harness_build *b, struct harness_iteration *it)
{
	struct harness_post *post = &it->post;
	char said[STR_NUMBER_SIZE], ran[STR_NUMBER_SIZE];

	if (harness_is_finite(post->elapsed_s) && harness_is_finite(post->duration_s) &&
	    (post->elapsed_s.value < 0 ||
	     post->elapsed_s.value > post->duration_s.value + CLOCK_SLACK_S))
		harness_post_doubt(b, post, "%s s of work in a command of %s s",
				   str_number(post->elapsed_s.value, 4, said),
				   str_number(post->duration_s.value, 4, ran));
}

/* What the score may be of its cases' values: NAN where one is absent. */
static void total_all(const struct harness_post *post, double totals[TOTALS])
{
	double values[HARNESS_MAX_CASES];
	double sum = 0, logs = 0, n = (double)post->n_cases;

	for (size_t i = 0; i < post->n_cases; i++) {
		const struct harness_number *best = &post->cases[i].best;

		values[i] = best->present ? best->value : (double)NAN;
		sum += values[i];
		logs += values[i] > 0 ? log(values[i]) : (double)NAN;
	}
	for (size_t i = 0; i < TOTALS; i++)
		totals[i] = (double)NAN;
	if (!isfinite(sum))
		return;
	totals[5] = sort_median(values, post->n_cases); /* sorts them */
	totals[0] = sum;
	totals[1] = sum / n;
	totals[2] = exp(logs / n);
	totals[3] = values[0];
	totals[4] = values[post->n_cases - 1];
}

/* Whether a score is that of its cases; some are cut to whole numbers. */
static bool comes_to(double value, double score)
{
	return is_near(value, score, 0.01) || (score == trunc(score) && fabs(value - score) < 1);
}

/* Whether the score is that of one case, as the baseline's is. */
static bool is_of_case(const struct harness_post *base, const struct harness_post *own)
{
	return any_of(i, own->n_cases,
		      base->cases[i].best.present && own->cases[i].best.present &&
			      is_near(base->cases[i].best.value, base->score.value, 1e-4) &&
			      comes_to(own->cases[i].best.value, own->score.value));
}

/*
 * The score is of its cases as the baseline's is, where that is no accident;
 * verifiers round to a few digits.  Where all of the baseline's are equal it
 * may be any mean.
 */
static void hold_total(struct harness_build *b, struct harness_iteration *it)
{
	const struct harness_post *base = &b->run->baseline;
	struct harness_post *own = &it->post;
	double was[TOTALS], is[TOTALS], value = (double)NAN;
	char sum[STR_NUMBER_SIZE];

	if (base->passed != HARNESS_YES || base->n_cases == 0 || own->n_cases != base->n_cases ||
	    !harness_is_finite(own->score) || is_of_case(base, own))
		return;
	total_all(base, was);
	total_all(own, is);
	for (size_t i = 0; i < TOTALS; i++) {
		if (!is_near(was[i], base->score.value, 1e-4))
			continue;
		value = is[i];
		if (!isfinite(value) || comes_to(value, own->score.value) ||
		    (i > 0 && is_near(was[3], was[4], 1e-4) && own->score.value > is[3] &&
		     own->score.value < is[4]))
			return;
	}
	if (!isnan(value))
		harness_post_doubt(b, own, "its cases come to %s", str_number(value, 10, sum));
}

/* Two lines of a verifier: nobody knows which of them is its own. */
static void hold_lines(struct harness_build *b, struct harness_iteration *it)
{
	struct str rest = harness_text_file(b, HARNESS_POST_OUT, it->number);
	struct harness_number first = { .present = false };
	const char *key = b->run->post_score_key;
	char said[STR_NUMBER_SIZE], other[STR_NUMBER_SIZE];
	struct str line;

	while (!it->post.has_json && str_next(&rest, '\n', &line)) {
		cJSON *json = json_parse(str_trim(line), JSON_BARE_TEXT, NULL);
		struct harness_number score =
			harness_score_of(json, key != NULL ? key : "score", false);

		cJSON_Delete(json);
		if (!first.present)
			first = score;
		if (!differ(first, score))
			continue;
		harness_dispute(b,
				"iteration %u: the verifier printed %s and "
				"%s: neither counts",
				it->number, str_number(first.value, 10, said),
				str_number(score.value, 10, other));
		return;
	}
}

/* The folder of an iteration holds what HarnessGym wrote of that one. */
static void hold_number(struct harness_build *b, struct harness_iteration *it)
{
	struct harness_number of =
		harness_number_at(harness_json_file(b, HARNESS_RESULT, it->number), "iteration");

	if (of.present && of.value != it->number)
		harness_post_doubt(b, &it->post, "result.json is of another iteration");
}

/* The command of the configuration is the one that HarnessGym ran. */
static void hold_command(struct harness_build *b, struct harness_iteration *it)
{
	if (b->run->command == NULL || it->post.command == NULL ||
	    strcmp(b->run->command, it->post.command) == 0)
		return;
	harness_dispute(b,
			"iteration %u: another command was run than "
			"run_config.json names",
			it->number);
	harness_post_doubt(b, &it->post, "by another command");
}

/* A number of HarnessGym's own list that kept it from taking this one. */
static bool is_beaten(const struct harness_run *run, size_t i)
{
	const struct harness_post *post = &run->iterations[i].post;

	return array_any(old, run->iterations, i,
			 !is_worse(run, old->post.said_score, post->score) ||
				 !is_worse(run, old->claimed_score, post->score));
}

/*
 * The checkpoint is of the best that HarnessGym saw: a better number than its
 * own was printed by somebody else.
 */
static void hold_manifest(struct harness_build *b, struct harness_iteration *it)
{
	const struct harness_run *run = b->run;
	const struct harness_checkpoint *point = &run->checkpoint;
	bool keeps =
		json_get_bool(harness_json_file(b, HARNESS_CONFIG, 0), "restore_best", false) &&
		run->optimization == HARNESS_YES;
	bool is_its = point->iteration.value == it->number;
	char said[STR_NUMBER_SIZE], printed[STR_NUMBER_SIZE];

	if (is_its && it->post.has_output && differ(point->score, it->post.score))
		harness_dispute(b,
				"iteration %u: best_manifest.json says %s, the "
				"verifier printed %s",
				it->number, str_number(point->score.value, 10, said),
				str_number(it->post.score.value, 10, printed));
	if (it->proof != HARNESS_PROOF_PRINTED || it->post.passed != HARNESS_YES)
		return;
	if (keeps && !is_point_kept(b) && (is_its || !point->present))
		harness_post_doubt(b, &it->post, "the checkpoint was changed");
	else if (harness_is_finite(point->score) && is_worse(run, point->score, it->post.score) &&
		 (is_its || (keeps && !is_beaten(run, (size_t)(it - run->iterations)))))
		harness_post_doubt(b, &it->post, "the checkpoint is of another");
}

/*
 * HarnessGym measures what it has restored; noise does not make of it half
 * as good a one.
 */
static void hold_restore(struct harness_build *b, struct harness_iteration *it)
{
	const struct harness_run *run = b->run;
	const struct harness_post *again = &run->restore.post;
	bool higher = run->higher_is_better == HARNESS_YES;
	char said[STR_NUMBER_SIZE], printed[STR_NUMBER_SIZE];

	/* Who printed the one printed the other. */
	if (run->checkpoint.iteration.value == it->number && it->post.doubt != NULL &&
	    again->present) {
		harness_post_doubt(b, &b->run->restore.post, "%s", it->post.doubt);
		b->run->restore.post_passed = HARNESS_NO;
	}
	if (run->checkpoint.iteration.value != it->number || again->passed != HARNESS_YES ||
	    !again->has_output || !harness_is_finite(again->score) ||
	    !harness_is_finite(it->post.score) ||
	    harness_gain_pct(it->post.score.value, again->score.value, higher).value > -50)
		return;
	harness_dispute(b,
			"iteration %u: the verifier printed %s, and of what "
			"was restored %s",
			it->number, str_number(it->post.score.value, 10, said),
			str_number(again->score.value, 10, printed));
	harness_post_doubt(b, &it->post, "restored, it measured another");
}

/* A baseline is printed before the first attempt; later it is the agent's. */
static void hold_baseline(struct harness_build *b)
{
	struct harness_post *base = &b->run->baseline;
	char said[STR_NUMBER_SIZE], printed[STR_NUMBER_SIZE];
	const struct harness_file *out = harness_run_file(b, HARNESS_BASELINE_OUT, 0);

	if (out == NULL) {
		harness_post_doubt(b, base, "what it printed is lost");
		return;
	}
	if (b->run->command == NULL)
		harness_post_doubt(b, base, "no command measures it");
	if (b->ordered && out->ctime_ms > earliest(b, begins, N_OF(begins), 1))
		harness_post_doubt(b, base, "changed after it was printed");
	if (base->has_output && differ(base->said_score, base->score))
		harness_dispute(b,
				"baseline: summary.json says %s, the verifier "
				"printed %s",
				str_number(base->said_score.value, 10, said),
				str_number(base->score.value, 10, printed));
}

void harness_proof_read(struct harness_build *b)
{
	static void (*const holds[])(struct harness_build * b, struct harness_iteration * it) = {
		hold_command, hold_lines,  hold_cases,	  hold_elapsed, hold_total,
		hold_number,  hold_result, hold_manifest, hold_restore
	};
	struct harness_run *run = b->run;

	if (b->summary == NULL && harness_json_file(b, HARNESS_SUMMARY, 0) != NULL)
		harness_dispute(b, "summary.json was there before the run's end");
	hold_baseline(b);
	for (size_t i = 0; i < run->n_iterations; i++)
		run->iterations[i].proof = proof_of(b, i);
	hold_judges(b);
	for (size_t i = 0; i < run->n_iterations; i++)
		for (size_t k = 0; k < N_OF(holds); k++)
			holds[k](b, &run->iterations[i]);
}

/*
 * HarnessGym does one run at a time: where an older one went on after this
 * one began, its agent made this one up.
 */
void harness_proof_alone(struct harness_build *b, const struct harness_workspace *ws)
{
	struct harness_run *run = b->run;
	bool is_beside = false;

	array_each (other, ws->runs, ws->n_runs)
		is_beside |= other->ordered && other->first_ms < run->first_ms &&
			     other->last_ms > run->first_ms;
	if (!is_beside)
		return;
	harness_post_doubt(b, &run->baseline, "another run was under way");
	for (size_t i = 0; i < run->n_iterations; i++) {
		run->iterations[i].post.doubt = NULL; /* this says more */
		harness_post_doubt(b, &run->iterations[i].post, "another run was under way");
	}
}
