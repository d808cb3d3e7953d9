/* SPDX-License-Identifier: MIT */
/* bench.json to struct plan, strict to the key; called by plan_load. */
#include "config.h"

#include "bench/plan_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/xalloc.h"

const cJSON *
plan_member(const cJSON *object, const char *key)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNull(node) ? NULL : node;
}

char *
plan_copy_text(const cJSON *object, const char *key)
{
	const char *text = json_get_string(object, key, NULL);

	return xstrdup_null(text);
}

bool
plan_is_name(const char *text)
{
	size_t n = 0;

	for (; text[n] != '\0'; n++)
		if (!isalnum((unsigned char)text[n]) &&
		    strchr("_.-", text[n]) == NULL)
			return false;
	return n >= 1 && n <= 40 && text[0] != '.' && text[0] != '-';
}

int
plan_check_name(const struct plan_reading *r, const cJSON *object,
		const char *path, const char *key)
{
	const char *text = json_get_string(object, key, "");
	char at[PLAN_AT_SIZE];

	if (plan_is_name(text))
		return 0;
	(void)snprintf(at, sizeof(at), "%s%s%s", path, *path ? "." : "", key);
	return json_fail(r->at, at, r->err,
			 "expected 1 to 40 letters, digits, _ . - (not . or - "
			 "first)");
}

int
plan_number(const struct plan_reading *r, const cJSON *object, const char *path,
	    const char *key, double range[2], double *out)
{
	const cJSON *node = plan_member(object, key);
	char at[PLAN_AT_SIZE];

	if (node == NULL)
		return 0;
	if (node->valuedouble >= range[0] && node->valuedouble <= range[1]) {
		*out = node->valuedouble;
		return 0;
	}
	(void)snprintf(at, sizeof(at), "%s.%s", path, key);
	return json_fail(r->at, at, r->err, "expected a number from %g to %g",
			 range[0], range[1]);
}

int
plan_count(const struct plan_reading *r, const cJSON *object, const char *path,
	   const char *key, double range[2], size_t *out)
{
	double value = (double)*out;

	if (plan_number(r, object, path, key, range, &value) != 0)
		return -1;
	*out = (size_t)value;
	return 0;
}

int
plan_word(const struct plan_reading *r, const cJSON *object, const char *path,
	  const char *key, const char *const *words)
{
	const char *text = json_get_string(object, key, NULL);
	char list[160] = "", at[PLAN_AT_SIZE];

	if (text == NULL)
		return 0;
	for (int i = 0; words[i] != NULL; i++) {
		size_t len = strlen(list);

		if (strcmp(text, words[i]) == 0)
			return i;
		(void)snprintf(list + len, sizeof(list) - len, "%s%s",
			       i > 0 ? ", " : "", words[i]);
	}
	(void)snprintf(at, sizeof(at), "%s.%s", path, key);
	return json_fail(r->at, at, r->err, "expected one of %s", list);
}

static int
read_design(const struct plan_reading *r, const cJSON *object)
{
	static const struct json_key keys[] = {
		{ "blocks_per_pod", JSON_INTEGER | JSON_NULL },
		{ "runs_per_block", JSON_INTEGER | JSON_NULL },
		{ "confirm_blocks", JSON_INTEGER | JSON_NULL },
		{ "burn_in", JSON_INTEGER | JSON_NULL },
		{ "aa", JSON_BOOL | JSON_NULL },
		{ "gap_s", JSON_NUMBER | JSON_NULL },
		{ "order", PLAN_TEXT },
		{ NULL, 0 },
	};
	static const char *const orders[] = { "mirrored-random", NULL };
	struct plan *plan = r->plan;
	const char *path = "design";

	if (object == NULL)
		return 0;
	if (json_check_keys(r->at, object, path, keys, r->err) != 0 ||
	    plan_word(r, object, path, "order", orders) < 0)
		return -1;
	plan->aa = json_get_bool(object, "aa", plan->aa);
	if (plan_count(r, object, path, "blocks_per_pod",
		       PLAN_RANGE(1, PLAN_MAX_ROUNDS), &plan->blocks) ||
	    plan_count(r, object, path, "runs_per_block",
		       PLAN_RANGE(1, JUDGE_MAX_REPS), &plan->reps) ||
	    plan_count(r, object, path, "confirm_blocks",
		       PLAN_RANGE(0, PLAN_MAX_ROUNDS), &plan->confirm) ||
	    plan_count(r, object, path, "burn_in", PLAN_RANGE(0, 10),
		       &plan->burn_in) ||
	    plan_number(r, object, path, "gap_s", PLAN_RANGE(0, 3600),
			&plan->gap_s))
		return -1;
	if (plan->confirm > 0 &&
	    plan->confirm * r->plan->n_pods < VERDICT_MIN_BLOCKS)
		return json_fail(r->at, "design.confirm_blocks", r->err,
				 "%d fresh blocks over all pods are the least "
				 "that can confirm anything",
				 VERDICT_MIN_BLOCKS);
	if (plan->confirm > 0 && plan->n_variants < 3)
		return json_fail(r->at, "design.confirm_blocks", r->err,
				 "is for two variants or more beside the "
				 "control: of one, its verdict tells");
	return 0;
}

static int
read_decision(const struct plan_reading *r, const cJSON *object)
{
	static const struct json_key keys[] = {
		{ "alpha", JSON_NUMBER | JSON_NULL },
		{ "margin_pct", JSON_NUMBER | JSON_NULL },
		{ "power", JSON_NUMBER | JSON_NULL },
		{ "early", PLAN_TEXT },
		{ "min_blocks", JSON_INTEGER | JSON_NULL },
		{ "multi", PLAN_TEXT },
		{ NULL, 0 },
	};
	static const char *const early[] = { "haybittle-peto", "none", NULL };
	static const char *const multi[] = { "holm", "none", NULL };
	struct paired_rule *rule = &r->plan->rule.paired;
	double margin = 100.0 * rule->margin;
	const char *path = "decision";
	int stops, adjusts;

	if (object == NULL)
		return 0;
	if (json_check_keys(r->at, object, path, keys, r->err) != 0)
		return -1;
	stops = plan_word(r, object, path, "early", early);
	adjusts = stops < 0 ? -1 : plan_word(r, object, path, "multi", multi);
	if (adjusts < 0 ||
	    plan_number(r, object, path, "alpha", PLAN_RANGE(1e-6, 0.5),
			&rule->alpha) ||
	    plan_number(r, object, path, "margin_pct", PLAN_RANGE(1e-6, 100),
			&margin) ||
	    plan_number(r, object, path, "power", PLAN_RANGE(0.5, 0.999),
			&rule->power) ||
	    plan_count(r, object, path, "min_blocks",
		       PLAN_RANGE(VERDICT_MIN_BLOCKS, PLAN_MAX_ROUNDS),
		       &r->plan->min_blocks))
		return -1;
	if (plan_member(object, "min_blocks") != NULL &&
	    r->plan->min_blocks > r->plan->blocks * r->plan->n_pods)
		return json_fail(r->at, "decision.min_blocks", r->err,
				 "the bench has %zu blocks in all and would "
				 "never be judged",
				 r->plan->blocks * r->plan->n_pods);
	rule->margin = margin / 100.0;
	r->plan->early = stops == 0;
	r->plan->rule.holm = adjusts == 0;
	return 0;
}

static int
read_guards(const struct plan_reading *r, const cJSON *object)
{
	static const struct json_key keys[] = {
		{ "loss_step_tol", JSON_NUMBER | JSON_NULL },
		{ "loss_val_tol", JSON_NUMBER | JSON_NULL },
		{ "throttle", PLAN_TEXT },
		{ "foreign_procs", PLAN_TEXT },
		{ NULL, 0 },
	};
	static const char *const throttle[] = { "block", "ignore", NULL };
	static const char *const foreign[] = { "refuse", "ignore", NULL };
	struct guard_loss_rule *losses = &r->plan->rule.losses;
	int drops, refuses;

	if (object == NULL)
		return 0;
	if (json_check_keys(r->at, object, "guards", keys, r->err) != 0)
		return -1;
	drops = plan_word(r, object, "guards", "throttle", throttle);
	refuses = drops < 0 ? -1
			    : plan_word(r, object, "guards", "foreign_procs",
					foreign);
	if (refuses < 0)
		return -1;
	r->plan->throttle_drops = drops == 0;
	r->plan->refuse_foreign = refuses == 0;
	return plan_number(r, object, "guards", "loss_step_tol",
			   PLAN_RANGE(0, 100), &losses->steps) ||
			       plan_number(r, object, "guards", "loss_val_tol",
					   PLAN_RANGE(0, 100), &losses->val)
		       ? -1
		       : 0;
}

/* "2026-11-20T21:00:00Z" to ms since 1970. */
static int
read_deadline(const struct plan_reading *r, const cJSON *object)
{
	const char *text = json_get_string(object, "deadline", NULL);
	struct tm tm = { 0 };
	const char *end;

	if (text == NULL)
		return 0;
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (end == NULL || *end != '\0')
		return json_fail(r->at, "budget.deadline", r->err,
				 "expected a time like 2026-11-20T21:00:00Z");
	r->plan->deadline_ms =
		1000 * clock_from_civil_s(tm.tm_year + 1900, tm.tm_mon + 1,
					  tm.tm_mday, tm.tm_hour, tm.tm_min,
					  tm.tm_sec);
	return 0;
}

static int
read_budget(const struct plan_reading *r, const cJSON *object)
{
	static const struct json_key keys[] = {
		{ "usd", JSON_NUMBER | JSON_NULL },
		{ "minutes", JSON_NUMBER | JSON_NULL },
		{ "deadline", PLAN_TEXT },
		{ "on_end", PLAN_TEXT },
		{ NULL, 0 },
	};
	static const char *const ends[] = { "ask", "stop_pods", NULL };
	int end;

	if (object == NULL)
		return 0;
	if (json_check_keys(r->at, object, "budget", keys, r->err) != 0)
		return -1;
	end = plan_word(r, object, "budget", "on_end", ends);
	if (end < 0 ||
	    plan_number(r, object, "budget", "usd", PLAN_RANGE(0, 1e6),
			&r->plan->usd) ||
	    plan_number(r, object, "budget", "minutes", PLAN_RANGE(0, 1e6),
			&r->plan->minutes))
		return -1;
	r->plan->on_end = end == 1 ? PLAN_END_STOP_PODS : PLAN_END_ASK;
	return read_deadline(r, object);
}

/* The control alone is compared with itself: that is an audit. */
static int
check_arms(const struct plan_reading *r)
{
	if (r->plan->n_variants > 1 || r->plan->aa)
		return 0;
	return json_fail(r->at, "variants", r->err,
			 "expected 2 to %d variants; the control alone is "
			 "audited with \"aa\": true",
			 SCHEDULE_MAX_ARMS - 1);
}

static int
read_top(const struct plan_reading *r, const cJSON *root)
{
	static const struct json_key keys[] = {
		{ "schema", JSON_STRING | JSON_REQUIRED },
		{ "name", JSON_STRING | JSON_REQUIRED },
		{ "seed", JSON_INTEGER | JSON_NULL },
		{ "workload", JSON_OBJECT | JSON_REQUIRED },
		{ "metric", JSON_OBJECT | JSON_REQUIRED },
		{ "variants", JSON_ARRAY | JSON_REQUIRED },
		{ "pods", JSON_ARRAY | JSON_REQUIRED },
		{ "design", JSON_OBJECT | JSON_NULL },
		{ "decision", JSON_OBJECT | JSON_NULL },
		{ "guards", JSON_OBJECT | JSON_NULL },
		{ "budget", JSON_OBJECT | JSON_NULL },
		{ NULL, 0 },
	};
	double seed = 42;

	if (json_check_keys(r->at, root, "", keys, r->err) != 0)
		return -1;
	if (strcmp(json_get_string(root, "schema", ""), PLAN_SCHEMA) != 0)
		return json_fail(r->at, "schema", r->err, "expected \"%s\"",
				 PLAN_SCHEMA);
	if (plan_check_name(r, root, "", "name") != 0)
		return -1;
	r->plan->name = plan_copy_text(root, "name");
	if (plan_number(r, root, "", "seed", PLAN_RANGE(0, 9007199254740991.0),
			&seed) != 0)
		return -1;
	r->plan->seed = (uint64_t)seed;
	return plan_read_workload(r, plan_member(root, "workload")) ||
			       plan_read_metric(r,
						plan_member(root, "metric")) ||
			       plan_read_variants(
				       r, plan_member(root, "variants")) ||
			       plan_read_pods(r, plan_member(root, "pods")) ||
			       read_design(r, plan_member(root, "design")) ||
			       read_decision(r,
					     plan_member(root, "decision")) ||
			       read_guards(r, plan_member(root, "guards")) ||
			       read_budget(r, plan_member(root, "budget"))
		       ? -1
		       : check_arms(r);
}

static void
set_defaults(struct plan *plan, const char *file)
{
	*plan = (struct plan){
		.file = xstrdup(file),
		.rule = JUDGE_RULE_DEFAULT,
		.timeout_s = 3600,
		.blocks = 6,
		.reps = 1,
		.burn_in = 1,
		.aa = true,
		.gap_s = 10,
		.min_blocks = VERDICT_MIN_BLOCKS,
		.early = true,
		.refuse_foreign = true,
		.throttle_drops = true,
		.usd = (double)NAN,
		.minutes = (double)NAN,
	};
}

int
plan_parse(struct plan *plan, const char *file, struct str text,
	   struct err *err)
{
	struct json_at at = { file, text, ERR_CONFIG };
	struct plan_reading r = { plan, &at, err };
	struct sha256 sha;
	const char *twin;
	cJSON *root;
	int result;

	set_defaults(plan, file);
	sha256_init(&sha);
	sha256_update(&sha, text.p, text.len);
	sha256_hex(&sha, plan->sha256);
	root = json_parse(text, JSON_BARE_REFUSED, err);
	if (root == NULL) {
		plan_release(plan);
		err_prefix(err, "%s", file);
		if (err != NULL)
			err->code = ERR_CONFIG;
		return -1;
	}
	result = cJSON_IsObject(root)
			 ? read_top(&r, root)
			 : json_fail(&at, "", err, "expected an object");
	twin = json_duplicate_key(root);
	if (result == 0 && twin != NULL)
		result = json_fail(&at, "", err,
				   "the key \"%.60s\" stands twice in one "
				   "object",
				   twin);
	cJSON_Delete(root);
	if (result != 0)
		plan_release(plan);
	return result;
}
