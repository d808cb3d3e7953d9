/* SPDX-License-Identifier: MIT */
/* Decide whether the output of a verifier is evidence: it was printed after the attempt ended, by
 * an unchanged judge, and not modified since. An agent that can write one file of a run can write
 * every file and set all mtimes. It cannot set ctimes, so we trust only their order. */
#include <sys/param.h>

#include "base/sort.h"
#include "parsers/harness/parts.h"

#define SECOND_MS     1000 /* HarnessGym records whole seconds */
#define CLOCK_SLACK_S 1.0  /* between the clocks of a pod and of HarnessGym */
#define TOTALS	      6

#define HARNESS_PROOF_ROW(id, name) name,
const char *const harness_proof_names[] = { HARNESS_PROOF_LIST(HARNESS_PROOF_ROW) };

/* Files that HarnessGym writes once per iteration: at its start, at the end of
 * the attempt, and after the verifier's output. */
static const enum harness_kind starts[] = { HARNESS_STARTED, HARNESS_ATTEMPT_PROMPT };
static const enum harness_kind ends[] = { HARNESS_ATTEMPT_OUT, HARNESS_ATTEMPT_ERR,
					  HARNESS_ATTEMPT_SCRIPT };
static const enum harness_kind after_post[] = {
	HARNESS_REFLECTION_PROMPT, HARNESS_REFLECTION_OUT, HARNESS_BUILD_PROMPT,
	HARNESS_BUILD_OUT,	   HARNESS_BUILT,
};

static int64_t get_ctime(const struct harness_build *b, enum harness_kind kind, unsigned int number)
{
	const struct harness_file *file = harness_run_file(b, kind, number);

	return file != NULL ? file->ctime_ms : 0;
}

/* Find the latest ctime of these files of an iteration (0: none), or the earliest (INT64_MAX). */
static int64_t find_ctime(const struct harness_build *b, const enum harness_kind *kinds, size_t n,
			  unsigned int number, bool latest)
{
	int64_t found_ms = latest ? 0 : INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		int64_t ms = get_ctime(b, kinds[i], number);

		if (latest || ms > 0)
			found_ms = latest ? MAX(found_ms, ms) : MIN(found_ms, ms);
	}
	return found_ms;
}

#define LATEST(b, kinds, number)   find_ctime(b, kinds, LENGTH(kinds), number, true)
#define EARLIEST(b, kinds, number) find_ctime(b, kinds, LENGTH(kinds), number, false)

/* In a copied folder all ctimes are later than the last time that HarnessGym recorded, so their
 * order means nothing. An agent can make its run look like a copy until HarnessGym records again,
 * but a run with a HarnessGym process is not a copy. */
void harness_proof_begin(struct harness_build *b)
{
	int64_t first_ms = INT64_MAX, recorded_ms = 0;

	b->run->ordered = false;
	harness_each (file, b->files) {
		int64_t ms = file->kind == HARNESS_RESULT
				     ? harness_time_at(file->json, "updated_at")
				     : 0;

		if (strcmp(file->run, b->run->dir) != 0)
			continue;
		if (file->ctime_ms == 0)
			return;
		first_ms = MIN(first_ms, file->ctime_ms);
		recorded_ms = MAX(recorded_ms, ms);
	}
	b->run->ordered = recorded_ms == 0 || first_ms < recorded_ms + SECOND_MS ||
			  (b->is_newest && b->files->process == HARNESS_YES);
}

bool harness_proof_is_over(const struct harness_build *b)
{
	int64_t end_ms = get_ctime(b, HARNESS_SUMMARY, 0);

	harness_each (file, b->files) {
		unsigned int n = file->number;

		if (b->run->ordered && n > 0 && strcmp(file->run, b->run->dir) == 0 &&
		    !harness_is_old(b, file) &&
		    (LATEST(b, ends, n) > end_ms || LATEST(b, after_post, n) > end_ms ||
		     harness_is_open(b, HARNESS_ATTEMPT_PROMPT, HARNESS_ATTEMPT_OUT, n)))
			return false;
	}
	return true;
}

static bool has_ended(const struct harness_build *b, const struct harness_iteration *it)
{
	unsigned int n = it->number;

	return (it->attempt != NULL || harness_run_file(b, HARNESS_ATTEMPT_OUT, n) != NULL) &&
	       !(b->run->ordered &&
		 (harness_is_open(b, HARNESS_REFLECTION_PROMPT, HARNESS_REFLECTION_OUT, n) ||
		  harness_is_open(b, HARNESS_BUILD_PROMPT, HARNESS_BUILD_OUT, n)));
}

/* Could HarnessGym itself have started this iteration? */
static bool is_in_turn(const struct harness_build *b, size_t i)
{
	const struct harness_run *run = b->run;
	const struct harness_iteration *it = &run->iterations[i];
	const cJSON *rows = json_get(b->summary, "iterations");
	bool listed = cJSON_GetArraySize(rows) == 0 || harness_find_row(rows, it->number) != NULL;

	return listed && (!run->planned.present || it->number <= run->planned.value) &&
	       (i == 0 || has_ended(b, it - 1));
}

/* Compare the ctime of an iteration's output with the files before and after it. */
static enum harness_proof check_order(const struct harness_build *b, size_t i,
				      const struct harness_file *out)
{
	const struct harness_run *run = b->run;
	unsigned int n = run->iterations[i].number;
	int64_t before_ms = MAX(LATEST(b, starts, n), LATEST(b, ends, n));
	int64_t after_ms = EARLIEST(b, after_post, n);

	for (size_t k = 0; k < run->n_iterations; k++) {
		unsigned int other = run->iterations[k].number;

		if (k < i) {
			before_ms = MAX(before_ms, get_ctime(b, HARNESS_POST_OUT, other));
			before_ms = MAX(before_ms, LATEST(b, ends, other));
			before_ms = MAX(before_ms, LATEST(b, after_post, other));
		} else if (k > i && is_in_turn(b, k)) {
			after_ms = MIN(after_ms, EARLIEST(b, starts, other));
		}
	}
	if (out->ctime_ms < before_ms)
		return HARNESS_PROOF_EARLY;
	return out->ctime_ms > after_ms || out->replaced_ms >= before_ms ? HARNESS_PROOF_DOUBT
									 : HARNESS_PROOF_PRINTED;
}

static enum harness_proof find_proof(struct harness_build *b, size_t i)
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
	if (b->run->ordered)
		proof = check_order(b, i, out);
	if (proof == HARNESS_PROOF_DOUBT)
		harness_post_doubt(b, &it->post,
				   "its output file was changed after it was written");
	if (!is_in_turn(b, i)) {
		harness_post_doubt(b, &it->post, "HarnessGym has not started this iteration");
		return HARNESS_PROOF_DOUBT;
	}
	/* Files are read at different times; only the next attempt's output proves this. */
	if (b->run->ordered && i + 1 < b->run->n_iterations && !has_ended(b, it) &&
	    harness_run_file(b, HARNESS_ATTEMPT_OUT, it[1].number) != NULL) {
		harness_post_doubt(b, &it->post,
				   "the next iteration started before this one ended");
		return HARNESS_PROOF_DOUBT;
	}
	/* Until HarnessGym continues, a process left by the attempt may still write the file. */
	bool continued = !b->run->ordered || b->summary != NULL ||
			 harness_run_file(b, HARNESS_RESTORED_OUT, 0) != NULL ||
			 LATEST(b, after_post, it->number) > 0 || i + 1 < b->run->n_iterations;
	if (proof == HARNESS_PROOF_EARLY || !continued ||
	    (it->attempt == NULL && harness_run_file(b, HARNESS_ATTEMPT_OUT, it->number) == NULL))
		return HARNESS_PROOF_EARLY;
	return proof;
}

/* Return when HarnessGym continued after it wrote the checkpoint; INT64_MAX: unknown. */
static int64_t find_checkpoint_end(const struct harness_build *b)
{
	const struct harness_number *of = &b->run->checkpoint.iteration;

	if (!b->run->ordered || !of->present)
		return INT64_MAX;
	return of->value < 1 ? EARLIEST(b, starts, 1)
			     : EARLIEST(b, after_post, (unsigned int)of->value);
}

/* Was the checkpoint last written before HarnessGym continued? */
static bool is_checkpoint_unchanged(const struct harness_build *b)
{
	int64_t ms = get_ctime(b, HARNESS_MANIFEST, 0);

	return !b->run->checkpoint.is_refused && ms != 0 && ms <= find_checkpoint_end(b);
}

/* Return the last time at which the agent could write a judge file in the workspace. HarnessGym
 * itself writes the file when it restores the checkpoint, and anyone may write it after the run. */
static int64_t find_agent_end(const struct harness_build *b)
{
	const struct harness_run *run = b->run;
	unsigned int last = run->iterations[run->n_iterations - 1].number;
	bool over = run->planned.present && last >= run->planned.value &&
		    harness_run_file(b, HARNESS_BUILT, last) != NULL;

	if (b->summary != NULL ? run->restore.restored == HARNESS_YES : over)
		return LATEST(b, after_post, last);
	if (b->summary != NULL)
		return get_ctime(b, HARNESS_SUMMARY, 0);
	return b->is_newest ? INT64_MAX : run->last_ms;
}

/* The judge file is the task's now, but its content during the measurement is unknown. */
static const char rewritten[] = "judge rewritten";

/* Does HarnessGym rewrite the task's files in each iteration? */
static bool is_reset(const struct harness_build *b)
{
	const cJSON *config = harness_json_file(b, HARNESS_CONFIG, 0);

	return strcmp(json_get_string(config, "task_state", ""), "reset") == 0;
}

/* Find a fault in the workspace's copy of a judge file; NULL: none. */
static const char *find_work_fault(const struct harness_build *b, const struct harness_judge *judge,
				   const struct harness_iteration *it,
				   const struct harness_file *out)
{
	const struct harness_judge_copy *work = &judge->copies[HARNESS_WORK];
	const struct harness_judge_copy *own = &judge->copies[HARNESS_TEMPLATE];
	bool differs = own->sum[0] != '\0' && strcmp(work->sum, own->sum) != 0;

	if (work->sum[0] == '\0')
		return NULL; /* the file was not read */
	if (!b->run->ordered)
		return differs && b->run->restore.restored != HARNESS_YES ? "judge changed" : NULL;
	if (is_reset(b))
		return differs && work->ctime_ms <= out->ctime_ms ? "judge changed" : NULL;
	if (work->ctime_ms <= EARLIEST(b, starts, 1) || work->ctime_ms > find_agent_end(b))
		return NULL;
	if (differs)
		return "judge changed";
	/* It is not a fault if the agent restored the task's file before the measurement. */
	int64_t end_ms = MAX(EARLIEST(b, starts, it->number), LATEST(b, ends, it->number));
	return own->sum[0] != '\0' && work->ctime_ms <= end_ms ? NULL : rewritten;
}

/* Return why the iteration was not measured by the task's own judge; NULL: no fault was found. */
static const char *find_judge_fault(const struct harness_build *b,
				    const struct harness_judge *judge,
				    const struct harness_iteration *it,
				    const struct harness_file *out)
{
	const struct harness_checkpoint *point = &b->run->checkpoint;
	const struct harness_judge_copy *own = &judge->copies[HARNESS_TEMPLATE];
	const struct harness_judge_copy *best = &judge->copies[HARNESS_BEST];
	const cJSON *template =
		json_get(json_get(b->summary, "artifact_qualification"), "template");
	bool template_is_gone = strcmp(own->sum, "none") == 0 &&
				judge->copies[HARNESS_WORK].sum[0] == '\0' &&
				cJSON_IsObject(template);

	/* A changed template or checkpoint cannot prove that the judge is the task's. */
	if (b->run->ordered && (own->ctime_ms > EARLIEST(b, starts, 1) || template_is_gone))
		return "template changed";
	if (best->ctime_ms > find_checkpoint_end(b))
		return "checkpoint changed";
	const char *fault = find_work_fault(b, judge, it, out);

	if (best->sum[0] == '\0' || !point->iteration.present ||
	    point->iteration.value > it->number)
		return fault;
	bool differs = own->sum[0] != '\0' && strcmp(best->sum, own->sum) != 0;
	bool is_own = point->iteration.value == it->number;
	/* The next iterations continued in the workspace that the checkpoint copied. */
	if (differs && (is_own || (fault == NULL && !is_reset(b) &&
				   strcmp(judge->copies[HARNESS_WORK].sum, own->sum) != 0)))
		return "judge changed";
	/* A judge that changed after the checkpoint was copied did not do the measurement. */
	bool is_later = own->sum[0] != '\0' && is_checkpoint_unchanged(b) &&
			judge->copies[HARNESS_WORK].ctime_ms > get_ctime(b, HARNESS_MANIFEST, 0);
	return is_own && (is_later || !b->run->ordered) ? NULL : fault;
}

static void doubt_judge(struct harness_build *b, struct harness_iteration *it, const char *fault,
			const char *name)
{
	it->proof = HARNESS_PROOF_DOUBT;
	harness_post_doubt(b, &it->post, "%s: %.100s", fault, name);
	if (b->run->judge == NULL)
		b->run->judge = harness_pool_text(b->pool, str_from(name), HARNESS_NAME_MAX);
}

/* Doubt iterations whose judge changed; set names[i] to a judge file that was rewritten. */
static void check_judges(struct harness_build *b, const char **names)
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
		array_each (it, run->iterations, run->n_iterations) {
			const struct harness_file *out =
				harness_run_file(b, HARNESS_POST_OUT, it->number);
			const char *fault = out != NULL && it->proof > HARNESS_PROOF_EARLY
						    ? find_judge_fault(b, judge, it, out)
						    : NULL;

			if (fault != NULL && fault != rewritten)
				doubt_judge(b, it, fault, judge->name);
			else if (fault != NULL &&
				 (run->judge == NULL || it->proof != HARNESS_PROOF_DOUBT))
				names[it - run->iterations] = judge->name;
		}
	}
	/* While the run continues, HarnessGym rewrites the files of the checkpoint. */
	if (run->checkpoint.present && !has_point && b->summary != NULL)
		harness_dispute(b, "the checkpoint of iteration %.0f has no files",
				run->checkpoint.iteration.value);
}

/* Doubt or mark the iteration whose candidate interferes with the verifier's process. Only one
 * candidate's files are known: the checkpoint's, or else the last iteration's. */
static void check_candidate(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const struct harness_checkpoint *point = &run->checkpoint;

	array_each (it, run->iterations, run->n_iterations) {
		if (point->present
			    ? point->iteration.value != it->number
			    : !point->is_refused && it != &run->iterations[run->n_iterations - 1])
			continue;
		if (run->tampers.n > 0 && it->post.present)
			harness_post_doubt(b, &it->post, "%s", run->tampers.v[0]);
		if (run->hints.n > 0)
			it->mark = run->hints.v[0];
	}
}

static bool are_different(struct harness_number a, struct harness_number b)
{
	return harness_is_finite(a) && harness_is_finite(b) &&
	       fabs(a.value - b.value) > 1e-9 * fmax(fabs(a.value), fabs(b.value));
}

static bool is_near(double a, double b, double share)
{
	return fabs(a - b) <= share * fabs(b);
}

/* Is a worse than b? A missing number is worse. */
static bool is_worse(const struct harness_run *run, struct harness_number a,
		     struct harness_number b)
{
	if (!harness_is_finite(a))
		return true;
	return are_different(a, b) && harness_is_better(run->higher_is_better, b.value, a.value);
}

/* Compare the score in result.json with the printed one. If the recorded score is worse, something
 * other than the verifier printed the better one. */
static void check_result(struct harness_build *b, struct harness_iteration *it)
{
	struct harness_post *post = &it->post;

	if (post->has_output && post->said && harness_is_finite(post->score) &&
	    !post->said_score.present)
		harness_post_doubt(b, post, "HarnessGym read no score from the output");
	if (!post->has_output || !are_different(post->said_score, post->score))
		return;
	harness_dispute(b, "iteration %u: result.json has %s, the verifier printed %s", it->number,
			NUMBER(post->said_score.value), NUMBER(post->score.value));
	if (is_worse(b->run, post->said_score, post->score))
		harness_post_doubt(b, post, "result.json has a different score");
}

/* Return the first key of `want` that node lacks, or NULL. Keys that every verifier prints each
 * time are required; the others count only if more than half of all keys are missing. */
static const char *find_missing_key(const char *score, const cJSON *want, const cJSON *node)
{
	const char *first = NULL;
	int n = 0;

	json_each (part, want) {
		const char *key = part->string;

		if (key == NULL || cJSON_IsNull(part) || json_get(node, key) != NULL)
			continue;
		if (str_is_among(str_from(key),
				 "mode device torch cuda status cases elapsed_seconds") ||
		    strncmp(key, "best_", 5) == 0 || (score != NULL && strcmp(key, score) == 0))
			return key;
		first = n++ == 0 ? key : first;
	}
	return 2 * n > cJSON_GetArraySize(want) ? first : NULL;
}

/* Return the first key that describes the work and has different values in both; NULL: none. */
static const char *find_other_work(const cJSON *base, const cJSON *own)
{
	static const char *const keys[] = {
		"tolerance", "rtol",  "atol",	"dtype",   "compiler",
		"rows",	     "dim",   "numel",	"tokens",  "d_model",
		"d_hidden",  "shape", "shapes", "experts", "route_profile",
	};

	for (size_t i = 0; i < LENGTH(keys); i++) {
		const cJSON *was = json_get(base, keys[i]);
		const cJSON *is = json_get(own, keys[i]);

		if (was != NULL && is != NULL && !cJSON_Compare(was, is, true))
			return keys[i];
	}
	return NULL;
}

bool harness_output_matches(const char *score_key, const cJSON *base, const cJSON *own,
			    const char *whose, char why[HARNESS_NAME_MAX])
{
	static const char *const same[] = { "mode", "device", "torch", "cuda" };
	const char *key = find_missing_key(score_key, base, own);
	const char *other = find_other_work(base, own), *in = "", *name = "";

	json_each (want, json_get(base, "cases")) {
		const cJSON *found = NULL;

		if (key != NULL || other != NULL)
			break;
		name = json_get_string(want, "name", "");
		json_each (node, *name != '\0' ? json_get(own, "cases") : NULL)
			if (found == NULL && strcmp(json_get_string(node, "name", ""), name) == 0)
				found = node;
		if (*name == '\0')
			continue;
		key = found != NULL ? find_missing_key(score_key, want, found) : name;
		other = find_other_work(want, found);
		in = " of case ";
	}
	if (key != NULL)
		(void)snprintf(why, HARNESS_NAME_MAX, "\"%.100s\" of %s is missing", key, whose);
	else if (other != NULL)
		(void)snprintf(why, HARNESS_NAME_MAX, "%s%s%.50s differs from %s", other, in,
			       *in != '\0' ? name : "", whose);
	for (size_t i = 0; key == NULL && other == NULL && i < LENGTH(same); i++) {
		const char *is = json_get_string(own, same[i], "");
		const char *was = json_get_string(base, same[i], is);
		size_t len = strcspn(is, ":"); /* "cuda:1" */

		if (strcmp(is, was) == 0 || (is[len] == ':' && strncmp(is, was, len + 1) == 0))
			continue;
		other = same[i];
		(void)snprintf(why, HARNESS_NAME_MAX, "%s is %.50s, but %.50s in %s", same[i], is,
			       was, whose);
	}
	return key == NULL && other == NULL;
}

static cJSON *parse_output(const struct harness_build *b, enum harness_kind kind,
			   unsigned int number)
{
	return json_parse(str_trim(harness_text_file(b, kind, number)), JSON_BARE_TEXT, NULL);
}

/* Doubt an iteration that left out part of the baseline's work. */
static void check_cases(struct harness_build *b, struct harness_iteration *it)
{
	size_t n = b->run->baseline.n_cases;
	char why[HARNESS_NAME_MAX];

	if (!it->post.has_json || !it->post.has_output || b->run->baseline.passed != HARNESS_YES)
		return;
	if (it->post.n_cases < n)
		harness_post_doubt(b, &it->post, "only %zu of the baseline's %zu cases",
				   it->post.n_cases, n);
	AUTO_JSON base = parse_output(b, HARNESS_BASELINE_OUT, 0);
	AUTO_JSON own = parse_output(b, HARNESS_POST_OUT, it->number);
	if (own != NULL &&
	    !harness_output_matches(b->run->post_score_key, base, own, "the baseline", why))
		harness_post_doubt(b, &it->post, "%s", why);
}

/* Doubt a verifier that reports more time than its command ran. */
static void check_elapsed(struct harness_build *b, struct harness_iteration *it)
{
	struct harness_post *post = &it->post;
	char worked[STR_NUMBER_SIZE], ran[STR_NUMBER_SIZE];

	if (harness_is_finite(post->elapsed_s) && harness_is_finite(post->duration_s) &&
	    (post->elapsed_s.value < 0 ||
	     post->elapsed_s.value > post->duration_s.value + CLOCK_SLACK_S))
		harness_post_doubt(b, post, "reports %s s of work, but the command ran %s s",
				   str_number(post->elapsed_s.value, 4, worked),
				   str_number(post->duration_s.value, 4, ran));
}

/* Compute candidate scores from the cases; NAN if a case has no value. */
static void compute_totals(const struct harness_post *post, double totals[TOTALS])
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

/* Does a value from the cases match the score? Some verifiers truncate it to an integer. */
static bool matches_score(double value, double score)
{
	return is_near(value, score, 0.01) || (score == trunc(score) && fabs(value - score) < 1);
}

/* Recompute the score from its cases, by the rule that gives the baseline's score (verifiers round
 * to a few digits). If all cases of the baseline are equal, any mean can be the rule. */
static void check_total(struct harness_build *b, struct harness_iteration *it)
{
	const struct harness_post *base = &b->run->baseline;
	struct harness_post *own = &it->post;
	double was[TOTALS], is[TOTALS], value = (double)NAN;

	if (base->passed != HARNESS_YES || base->n_cases == 0 || own->n_cases != base->n_cases ||
	    !harness_is_finite(own->score))
		return;
	/* The score may be the value of one case. */
	if (any_of(i, own->n_cases,
		   base->cases[i].best.present && own->cases[i].best.present &&
			   is_near(base->cases[i].best.value, base->score.value, 1e-4) &&
			   matches_score(own->cases[i].best.value, own->score.value)))
		return;
	compute_totals(base, was);
	compute_totals(own, is);
	for (size_t i = 0; i < TOTALS; i++) {
		if (!is_near(was[i], base->score.value, 1e-4))
			continue;
		value = is[i];
		if (!isfinite(value) || matches_score(value, own->score.value) ||
		    (i > 0 && is_near(was[3], was[4], 1e-4) && own->score.value > is[3] &&
		     own->score.value < is[4]))
			return;
	}
	if (!isnan(value))
		harness_post_doubt(b, own, "its cases give the score %s", NUMBER(value));
}

/* Report two lines with different scores: it is unknown which one the verifier printed. */
static void check_lines(struct harness_build *b, struct harness_iteration *it)
{
	struct str rest = harness_text_file(b, HARNESS_POST_OUT, it->number);
	struct harness_number first = { .present = false };
	struct str line;

	while (!it->post.has_json && str_next(&rest, '\n', &line)) {
		AUTO_JSON json = json_parse(str_trim(line), JSON_BARE_TEXT, NULL);
		struct harness_number score = harness_score_of(json, b->run->post_score_key, false);

		if (!first.present)
			first = score;
		if (!are_different(first, score))
			continue;
		harness_dispute(b, "iteration %u: the verifier printed %s and %s: neither counts",
				it->number, NUMBER(first.value), NUMBER(score.value));
		return;
	}
}

/* Does result.json belong to this iteration, and did the configured command run? */
static void check_record(struct harness_build *b, struct harness_iteration *it)
{
	struct harness_number number =
		harness_number_at(harness_json_file(b, HARNESS_RESULT, it->number), "iteration");

	if (number.present && number.value != it->number)
		harness_post_doubt(b, &it->post, "result.json belongs to another iteration");
	if (b->run->command == NULL || it->post.command == NULL ||
	    strcmp(b->run->command, it->post.command) == 0)
		return;
	harness_dispute(b, "iteration %u: the command that ran is not the one in run_config.json",
			it->number);
	harness_post_doubt(b, &it->post, "measured by another command");
}

/* HarnessGym saw no better iteration than the checkpoint, so something else printed the score. */
static void check_manifest(struct harness_build *b, struct harness_iteration *it)
{
	const struct harness_run *run = b->run;
	const struct harness_checkpoint *point = &run->checkpoint;
	bool keeps =
		json_get_bool(harness_json_file(b, HARNESS_CONFIG, 0), "restore_best", false) &&
		run->optimization == HARNESS_YES;
	bool is_its = point->iteration.value == it->number;

	if (is_its && it->post.has_output && are_different(point->score, it->post.score))
		harness_dispute(
			b, "iteration %u: best_manifest.json has %s, the verifier printed %s",
			it->number, NUMBER(point->score.value), NUMBER(it->post.score.value));
	if (it->proof != HARNESS_PROOF_PRINTED || it->post.passed != HARNESS_YES)
		return;
	if (keeps && !is_checkpoint_unchanged(b) && (is_its || !point->present)) {
		harness_post_doubt(b, &it->post, "checkpoint changed");
		return;
	}
	if (!harness_is_finite(point->score) || !is_worse(run, point->score, it->post.score))
		return;
	/* HarnessGym makes a checkpoint only if the score is better than all earlier scores. */
	if (is_its ||
	    (keeps && !array_any(old, run->iterations, (size_t)(it - run->iterations),
				 !is_worse(run, old->post.said_score, it->post.score) ||
					 !is_worse(run, old->claimed_score, it->post.score))))
		harness_post_doubt(b, &it->post, "the checkpoint has a worse score");
}

/* HarnessGym measures the restored checkpoint again: noise alone does not make it 50 % worse. */
static void check_restore(struct harness_build *b, struct harness_iteration *it)
{
	const struct harness_run *run = b->run;
	const struct harness_post *again = &run->restore.post;

	if (run->checkpoint.iteration.value != it->number || again->passed != HARNESS_YES ||
	    !again->has_output || !harness_is_finite(again->score) ||
	    !harness_is_finite(it->post.score) ||
	    harness_gain_pct(it->post.score.value, again->score.value, run->higher_is_better)
			    .value > -50)
		return;
	harness_dispute(b, "iteration %u: the verifier printed %s, and %s after the restore",
			it->number, NUMBER(it->post.score.value), NUMBER(again->score.value));
	harness_post_doubt(b, &it->post, "measured much worse after the restore");
}

/* A rewritten judge may have had other content for a time. The agent gained nothing from that if
 * its score is worse than a score of an unchanged judge: it only restored its files. */
static void check_rewritten(struct harness_build *b, const char *const *names)
{
	struct harness_run *run = b->run;
	struct harness_number best =
		run->baseline.passed == HARNESS_YES ? run->baseline.score : HARNESS_ABSENT;

	array_each (it, run->iterations, run->n_iterations)
		if (names[it - run->iterations] == NULL && it->proof > HARNESS_PROOF_EARLY &&
		    it->post.passed == HARNESS_YES && is_worse(run, best, it->post.score))
			best = it->post.score;
	array_each (it, run->iterations, run->n_iterations) {
		const char *name = names[it - run->iterations];

		if (name == NULL ||
		    (harness_is_finite(best) && is_worse(run, it->post.score, best)))
			continue;
		it->post.doubt = NULL; /* this reason is clearer */
		if (run->has_judge || run->has_template) {
			doubt_judge(b, it, rewritten, name);
			continue;
		}
		/* Without a template, a chmod looks like a rewrite. */
		it->proof = HARNESS_PROOF_REWRITTEN;
		harness_post_doubt(b, &it->post, "%s: %.100s", rewritten, name);
	}
}

/* Doubt a baseline that was measured after the first attempt started: it may be the agent's. */
static void check_baseline(struct harness_build *b)
{
	struct harness_post *base = &b->run->baseline;
	const struct harness_file *out = harness_run_file(b, HARNESS_BASELINE_OUT, 0);

	if (out == NULL) {
		harness_post_doubt(b, base, "its output is missing");
		return;
	}
	if (b->run->command == NULL)
		harness_post_doubt(b, base, "the run has no measuring command");
	if (b->run->ordered && out->ctime_ms > EARLIEST(b, starts, 1))
		harness_post_doubt(b, base, "its output file was changed after it was written");
	if (base->has_output && are_different(base->said_score, base->score))
		harness_dispute(b, "baseline: summary.json has %s, the verifier printed %s",
				NUMBER(base->said_score.value), NUMBER(base->score.value));
}

void harness_proof_read(struct harness_build *b)
{
	static void (*const checks[])(struct harness_build * b, struct harness_iteration * it) = {
		check_record, check_lines,  check_cases,    check_elapsed,
		check_total,  check_result, check_manifest, check_restore,
	};
	struct harness_run *run = b->run;
	const char **names = harness_pool_alloc(b->pool, run->n_iterations, sizeof(*names));

	if (b->summary == NULL && harness_json_file(b, HARNESS_SUMMARY, 0) != NULL)
		harness_dispute(b, "summary.json was written before the end of the run");
	check_baseline(b);
	if (run->checkpoint.is_refused && run->restore.post.present) {
		harness_post_doubt(b, &run->restore.post, "checkpoint changed");
		run->restore.post_passed = HARNESS_NO;
	}
	for (size_t i = 0; i < run->n_iterations; i++)
		run->iterations[i].proof = find_proof(b, i);
	check_judges(b, names);
	check_candidate(b);
	for (size_t i = 0; i < run->n_iterations; i++)
		for (size_t k = 0; k < LENGTH(checks); k++)
			checks[k](b, &run->iterations[i]);
	check_rewritten(b, names);
	/* The same judge measured the restored checkpoint: doubt that score too. */
	array_each (it, run->iterations, run->n_iterations)
		if (run->checkpoint.iteration.value == it->number && it->post.doubt != NULL &&
		    run->restore.post.present) {
			harness_post_doubt(b, &run->restore.post, "%s", it->post.doubt);
			run->restore.post_passed = HARNESS_NO;
		}
}

/* HarnessGym does one run at a time. If an older run was still active after this one started, the
 * agent of the older run forged this one. */
void harness_proof_alone(struct harness_build *b, const struct harness_workspace *ws)
{
	struct harness_run *run = b->run;

	if (!array_any(other, ws->runs, ws->n_runs,
		       other->ordered && other->first_ms < run->first_ms &&
			       other->last_ms > run->first_ms))
		return;
	harness_post_doubt(b, &run->baseline, "another run was active");
	for (size_t i = 0; i < run->n_iterations; i++) {
		run->iterations[i].post.doubt = NULL; /* this reason is clearer */
		harness_post_doubt(b, &run->iterations[i].post, "another run was active");
	}
}
