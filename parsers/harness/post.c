/* SPDX-License-Identifier: MIT */
/* Read one execution of a measuring command: its verdict, score and cases, and why it failed. */
#include "parsers/harness/parts.h"
#include "parsers/score_json.h"

#define HARNESS_FAILURE_ROW(id, name, class, text) { name, class, text },
const struct harness_failure_words harness_failures[] = { HARNESS_FAILURE_LIST(
	HARNESS_FAILURE_ROW) };

/* Texts to search for in stderr and in "error" of the verifier's JSON; the first match counts. */
static const struct {
	const char *words;
	enum harness_failure failure;
	bool in_json; /* also searched in the verifier's JSON */
} signs[] = {
	{ "No space left on device", HARNESS_FAILURE_DISK, true },
	{ "Disk quota exceeded", HARNESS_FAILURE_DISK, true },
	{ "HG_LOW_DISK", HARNESS_FAILURE_DISK, false },
	{ "HG_NO_NVIDIA_SMI", HARNESS_FAILURE_GPU, false },
	{ "CUDA is not available", HARNESS_FAILURE_GPU, true },
	{ "no CUDA-capable device", HARNESS_FAILURE_GPU, true },
	{ "Found no NVIDIA driver", HARNESS_FAILURE_GPU, true },
	{ "NVIDIA-SMI has failed", HARNESS_FAILURE_GPU, true },
	{ "ssh: connect to host", HARNESS_FAILURE_SSH, false },
	{ "ssh: Could not resolve hostname", HARNESS_FAILURE_SSH, false },
	{ "Permission denied (publickey", HARNESS_FAILURE_SSH, false },
	{ "Host key verification failed", HARNESS_FAILURE_SSH, false },
	{ "kex_exchange_identification", HARNESS_FAILURE_SSH, false },
	{ "client_loop: send disconnect", HARNESS_FAILURE_SSH, false },
	{ "tar: Child returned status 141", HARNESS_FAILURE_SSH_MASKED, false },
	{ "tar: Write error", HARNESS_FAILURE_SSH_MASKED, false },
	{ "ModuleNotFoundError", HARNESS_FAILURE_ENVIRONMENT, true },
	{ "No module named", HARNESS_FAILURE_ENVIRONMENT, true },
};

static enum harness_failure find_failure(struct str text, bool of_json)
{
	for (size_t i = 0; i < LENGTH(signs); i++)
		if ((signs[i].in_json || !of_json) && str_find(text, signs[i].words) != NULL)
			return signs[i].failure;
	return HARNESS_FAILURE_NONE;
}

static bool has_exit_code(const struct harness_post *post, double code)
{
	return post->return_code.present && post->return_code.value == code;
}

/* Find why a command that did not pass could not judge the kernel. If the verifier printed JSON,
 * only its "error" and "errors" count. */
static enum harness_failure classify_failure(const struct harness_post *post, const cJSON *json,
					     struct str out, struct str errors)
{
	enum harness_failure failure = HARNESS_FAILURE_NONE;
	const cJSON *error = json_get(json, "error");

	if (post->passed == HARNESS_YES)
		return HARNESS_FAILURE_NONE;
	if (post->timed_out == HARNESS_YES ||
	    (post->status != NULL && strcmp(post->status, "timeout") == 0))
		return HARNESS_FAILURE_TIMEOUT;
	if (post->has_json) {
		if (cJSON_IsString(error))
			failure = find_failure(str_from(error->valuestring), true);
		json_each (item, json_get(json, "errors"))
			if (failure == HARNESS_FAILURE_NONE && cJSON_IsString(item))
				failure = find_failure(str_from(item->valuestring), true);
		return failure;
	}
	failure = find_failure(errors, false);
	/* If there is output, tar worked and something else failed later. */
	if (failure == HARNESS_FAILURE_SSH_MASKED && str_trim(out).len > 0)
		failure = HARNESS_FAILURE_NONE;
	if (failure != HARNESS_FAILURE_NONE)
		return failure;
	if (has_exit_code(post, 255) && post->command != NULL &&
	    (strstr(post->command, "ssh") != NULL || strstr(post->command, "remote_h100") != NULL))
		return HARNESS_FAILURE_SSH;
	if (has_exit_code(post, 127) || has_exit_code(post, 126))
		return HARNESS_FAILURE_ENVIRONMENT;
	return HARNESS_FAILURE_NONE;
}

/* Does this key name GB/s or TFLOP/s that were measured, and not the card's? */
static bool is_rate(const char *key, bool *is_gb)
{
	static const char *const others[] = { "peak", "total", "roof", "max", "sparse" };
	const char *gb_s = strstr(key, "gb_s");

	array_each (other, others, LENGTH(others))
		if (strstr(key, *other) != NULL)
			return false;
	*is_gb = strstr(key, "gbps") != NULL ||
		 (gb_s != NULL && (gb_s[4] == '\0' || gb_s[4] == '_'));
	return *is_gb || strstr(key, "tflop") != NULL;
}

/* Keep the highest rates that an object contains. */
static void read_rates(struct harness_post *post, const cJSON *node)
{
	json_each (member, node) {
		struct harness_number more = harness_number_of(member), *most;
		bool is_gb;

		if (member->string == NULL || !is_rate(member->string, &is_gb) ||
		    !harness_is_finite(more))
			continue;
		most = is_gb ? &post->gb_s : &post->tflop_s;
		if (!most->present || most->value < more.value)
			*most = more;
	}
}

/* Read "cases", which is usually a list of objects, but a number in some tasks. */
static void read_cases(struct harness_build *b, struct harness_post *post, const cJSON *json)
{
	const cJSON *cases = json_get(json, "cases"), *median;
	int n = cJSON_IsArray(cases) ? cJSON_GetArraySize(cases) : 0;

	if (n > HARNESS_MAX_CASES)
		n = HARNESS_MAX_CASES;
	post->cases = harness_pool_alloc(b->pool, (size_t)n, sizeof(struct harness_case));
	json_each (node, cases) {
		if (post->n_cases == (size_t)n)
			break;
		if (!cJSON_IsObject(node))
			continue;
		struct harness_case *c = &post->cases[post->n_cases++];
		c->name = harness_text_at(b->pool, node, "name");
		c->status = harness_text_at(b->pool, node, "status");
		c->best = harness_number_of(score_case_best(node, b->run->post_score_key, &median));
		c->median = harness_number_of(median);
		c->max_abs = harness_number_at(node, "max_abs");
		c->tolerance = harness_number_at(node, "tolerance");
		read_rates(post, node);
	}
}

static void read_json(struct harness_build *b, struct harness_post *post, const cJSON *json)
{
	post->has_json = cJSON_IsObject(json);
	if (!post->has_json)
		return;
	post->json_status = harness_text_at(b->pool, json, "status");
	post->mode = harness_text_at(b->pool, json, "mode");
	post->device = harness_text_at(b->pool, json, "device");
	post->torch = harness_text_at(b->pool, json, "torch");
	post->cuda = harness_text_at(b->pool, json, "cuda");
	post->elapsed_s = harness_number_at(json, "elapsed_seconds");
	read_rates(post, json);
	read_cases(b, post, json);
}

/* Keep the "config" that the verifier printed: the settings of the kernel. */
static void read_config(struct harness_build *b, struct harness_post *post, const cJSON *printed)
{
	const cJSON *config = json_get(printed, "config");
	AUTO_BUF text = buf_new(HARNESS_END_KEEP);

	if (!cJSON_IsObject(config))
		return;
	json_print(&text, config);
	post->config = harness_pool_text(b->pool, buf_str(&text), HARNESS_END_KEEP);
}

void harness_post_doubt(struct harness_build *b, struct harness_post *post, const char *fmt, ...)
{
	char why[HARNESS_NAME_MAX];

	print_args(why, fmt);
	if (post->doubt == NULL)
		post->doubt = harness_pool_text(b->pool, str_from(why), HARNESS_NAME_MAX);
	post->passed = HARNESS_NO;
}

/* Did the command pass, according to its record and output? UNKNOWN if neither shows it. */
static enum harness_tri find_verdict(const struct harness_post *post, const cJSON *json)
{
	const cJSON *status = json_get(json, "status");

	if (post->said && (post->status == NULL || strcmp(post->status, "completed") != 0))
		return HARNESS_NO;
	if (!post->has_json || cJSON_IsFalse(json_get(json, "verified")) ||
	    score_json_denial(json) != NULL)
		return HARNESS_NO;
	/* JSON without a status can pass; JSON with an unknown status cannot. */
	if (status != NULL && !cJSON_IsNull(status) && !cJSON_IsTrue(status) &&
	    !(cJSON_IsString(status) && score_status_passes(status->valuestring)))
		return HARNESS_NO;
	return post->said || post->json_status != NULL ? HARNESS_YES : HARNESS_UNKNOWN;
}

/* Return the geometric mean of GPU MODE's "benchmark.N.mean: NS" lines, if the check passed. */
static struct harness_number read_means(struct str text)
{
	double logs = 0, ns = 0, n = 0;
	bool passed = false;
	struct str line;

	while (str_next(&text, '\n', &line)) {
		line = str_trim(line);
		const char *mean =
			str_starts_with(line, "benchmark.") ? str_find(line, ".mean: ") : NULL;

		passed |= str_eq_cstr(line, "check: pass");
		if (mean == NULL)
			continue;
		mean += strlen(".mean: ");
		if (!str_to_double((struct str){ mean, (size_t)(line.p + line.len - mean) }, &ns))
			ns = (double)NAN;
		logs += log(ns);
		n++;
	}
	return (struct harness_number){ passed && n > 0 && isfinite(logs), exp(logs / n) };
}

void harness_post_read(struct harness_build *b, struct harness_post *post, const cJSON *node,
		       const struct harness_file *out, struct str errors)
{
	struct str text = { NULL, 0 };
	struct score_json stray;
	AUTO_JSON printed = NULL;

	*post = (struct harness_post){ .present = cJSON_IsObject(node) || out != NULL,
				       .has_output = out != NULL,
				       .timed_out = HARNESS_UNKNOWN,
				       .passed = HARNESS_UNKNOWN };
	if (!post->present)
		return;
	post->said = cJSON_IsObject(node);
	post->status = harness_text_at(b->pool, node, "status");
	post->command = harness_text_at(b->pool, node, "command");
	post->return_code = harness_number_at(node, "return_code");
	post->duration_s = harness_number_at(node, "duration_seconds");
	post->timed_out = harness_bool_at(node, "timed_out");
	post->said_score = harness_number_at(node, "score");
	if (out != NULL) {
		post->is_empty = str_trim((struct str){ out->text, out->len }).len == 0;
		text = (struct str){ out->text, out->len };
		/* A long output is stored without its start, and cannot be parsed. */
		if (!out->cut)
			printed = json_parse(str_trim(text), JSON_BARE_TEXT, NULL);
		read_json(b, post, printed);
		read_config(b, post, printed);
		post->score = harness_score_of(printed, b->run->post_score_key, false);
	} else {
		read_json(b, post, json_get(node, "json"));
		post->score = post->said_score;
	}
	post->passed = find_verdict(post, printed != NULL ? printed : json_get(node, "json"));
	/* HarnessGym ignores a score within other text, but a report can mention the score. */
	if (!post->has_json && !post->score.present &&
	    score_json_read(&stray, text, b->run->post_score_key, NULL) == 0) {
		if (score_json_counts(&stray))
			post->stray_score = harness_number(stray.value);
		score_json_release(&stray);
	}
	if (!post->has_json && !post->score.present && !post->stray_score.present)
		post->stray_score = read_means(text);
	/* For a duplicate key HarnessGym takes the last value, and other readers take the first. */
	const char *twin = json_duplicate_key(printed);
	if (twin != NULL)
		harness_post_doubt(b, post, "duplicate key \"%.100s\"", twin);
	else if (harness_is_finite(post->score) &&
		 !score_is_possible(b->run->post_score_key, post->score.value))
		harness_post_doubt(b, post, "not a possible measurement");
	post->failure = classify_failure(post, printed != NULL ? printed : json_get(node, "json"),
					 text, errors);
}
