/* SPDX-License-Identifier: MIT */
/* The noise of a bench's pods out of its results; and which class it is of. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "base/xalloc.h"
#include "bench/noise.h"

#define MAX_RUNS 100000

/* "2026-11-20T21:30:00Z" in seconds since 1970; NAN when it is none. */
static double
seconds_of(const cJSON *run, const char *key)
{
	static const size_t fields[][2] = { { 0, 4 },  { 5, 2 },  { 8, 2 },
					    { 11, 2 }, { 14, 2 }, { 17, 2 } };
	const char *text = json_get_string(run, key, "");
	int64_t v[6];

	if (strlen(text) < 19)
		return (double)NAN;
	for (size_t i = 0; i < 6; i++)
		if (!str_to_i64(
			    (struct str){ text + fields[i][0], fields[i][1] },
			    &v[i]))
			return (double)NAN;
	return (double)clock_from_civil_s((int)v[0], (int)v[1], (int)v[2],
					  (int)v[3], (int)v[4], (int)v[5]);
}

/* Did a guard take that run out of the comparison? */
static bool
is_guarded(const cJSON *run)
{
	const cJSON *hit,
		*all = cJSON_GetObjectItemCaseSensitive(run, "guards");

	cJSON_ArrayForEach(
		hit, all) if (json_get_bool(hit, "hard", false)) return true;
	return false;
}

/* One run of verdict.json, where it is one of the pod's A/A runs. */
static bool
take_run(struct noise_run *out, const cJSON *run, const char *pod,
	 const char *tag, const char *again)
{
	const char *of = json_get_string(run, "tag", "");
	double t1 = seconds_of(run, "t1");

	if (strcmp(json_get_string(run, "pod", ""), pod) != 0 ||
	    !json_get_bool(run, "counted", false) || is_guarded(run))
		return false;
	*out = (struct noise_run){
		.y = json_get_number(run, "value", (double)NAN),
		.t0_s = seconds_of(run, "t0"),
		.block = (size_t)fmax(json_get_number(run, "block", 0), 0),
		.again = strcmp(of, again) == 0,
	};
	out->took_s = t1 - out->t0_s;
	return out->y > 0.0 && (out->again || strcmp(of, tag) == 0);
}

/* The cell of a line "a, b, c", trimmed; empty when there is none. */
static struct str
cell_of(struct str line, size_t column)
{
	struct str cell = { "", 0 };

	for (size_t i = 0; i <= column; i++)
		if (!str_next(&line, ',', &cell))
			return (struct str){ "", 0 };
	return str_trim(cell);
}

static void
add_to(char *out, size_t size, const char *glue, struct str text)
{
	size_t len = strlen(out);

	if (text.len > 0)
		(void)snprintf(out + len, size - len, "%s%.*s",
			       len > 0 ? glue : "", (int)text.len, text.p);
}

static bool
is_used(const struct plan_pod *pod, struct str index)
{
	int64_t number;

	if (pod->n_gpus == 0)
		return true;
	if (!str_to_i64(index, &number))
		return false;
	for (size_t i = 0; i < pod->n_gpus; i++)
		if (pod->gpus[i] == number)
			return true;
	return false;
}

/* "gpu 0, NVIDIA H200, 570.1, 1 MiB, 0 %, 1980 MHz, GPU-uuid". */
static void
take_gpu(struct noise_of_pod *out, const struct plan_pod *pod, struct str line)
{
	struct str name = cell_of(line, 1), driver = cell_of(line, 2);

	if (!is_used(pod, cell_of(line, 0)))
		return;
	if (out->gpu[0] == '\0')
		add_to(out->gpu, sizeof(out->gpu), "", name);
	else if (!(strlen(out->gpu) == name.len &&
		   memcmp(out->gpu, name.p, name.len) == 0) &&
		 strstr(out->gpu, " and others") == NULL)
		add_to(out->gpu, sizeof(out->gpu), "", STR_LIT(" and others"));
	if (out->driver[0] == '\0')
		add_to(out->driver, sizeof(out->driver), "", driver);
	add_to(out->gpu_id, sizeof(out->gpu_id), ",", cell_of(line, 6));
}

void
noise_read_env(struct noise_of_pod *out, const struct plan_pod *pod,
	       struct str env)
{
	static const char *const kept[] = { "torch ", "triton ", "kernel " };
	struct str line;

	*out = (struct noise_of_pod){ .pod = pod->id };
	for (size_t i = 0; i < pod->n_gpus; i++) {
		size_t len = strlen(out->gpus);

		(void)snprintf(out->gpus + len, sizeof(out->gpus) - len, "%s%d",
			       i > 0 ? "," : "", pod->gpus[i]);
	}
	while (str_next(&env, '\n', &line)) {
		if (line.len > 4 && memcmp(line.p, "gpu ", 4) == 0)
			take_gpu(out, pod,
				 (struct str){ line.p + 4, line.len - 4 });
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (line.len > strlen(kept[i]) &&
			    memcmp(line.p, kept[i], strlen(kept[i])) == 0)
				add_to(out->image, sizeof(out->image), ", ",
				       line);
	}
}

bool
noise_of_verdict(struct noise_of_pod *out, const struct plan *plan, size_t pod,
		 const cJSON *verdict, struct str env)
{
	const cJSON *run,
		*all = cJSON_GetObjectItemCaseSensitive(verdict, "runs");
	int size = cJSON_GetArraySize(all);
	struct noise_run *runs;
	struct buf again;
	size_t n = 0;

	if (!plan->aa || size < 1 || size > MAX_RUNS)
		return false;
	noise_read_env(out, &plan->pods[pod], env);
	runs = xcalloc((size_t)size, sizeof(*runs));
	buf_init(&again, 256);
	plan_arm_tag(plan, plan->n_variants, &again);
	cJSON_ArrayForEach(run, all)
	{
		if (take_run(&runs[n], run, plan->pods[pod].id,
			     plan->variants[0].tag, again.data))
			n++;
	}
	noise_measure(&out->noise, runs, n);
	buf_release(&again);
	free(runs);
	return out->noise.n_runs >= 2 && out->noise.n_blocks > 0;
}

static void
hash_text(struct sha256 *sha, const char *key, const char *value)
{
	sha256_update(sha, key, strlen(key) + 1);
	if (value != NULL)
		sha256_update(sha, value, strlen(value) + 1);
}

static int
compare_env(const void *a, const void *b)
{
	const struct plan_env *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* The workload's environment under the variant's own, by name. */
static void
hash_env(struct sha256 *sha, const struct plan *plan,
	 const struct plan_variant *v)
{
	const struct plan_env **all =
		xcalloc(plan->n_env + v->n_env + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < v->n_env; i++)
		all[n++] = &v->env[i];
	for (size_t i = 0; i < plan->n_env; i++) {
		bool over = false;

		for (size_t k = 0; k < v->n_env; k++)
			over |= strcmp(v->env[k].name, plan->env[i].name) == 0;
		if (!over)
			all[n++] = &plan->env[i];
	}
	qsort(all, n, sizeof(const struct plan_env *), compare_env);
	for (size_t i = 0; i < n; i++)
		hash_text(sha, all[i]->name, all[i]->value);
	free(all);
}

void
noise_class(const struct plan *plan, size_t arm, char out[NOISE_CLASS_SIZE])
{
	const struct plan_variant *v = plan_arm(plan, arm);
	const char *named =
		v->noise_class != NULL ? v->noise_class : plan->noise_class;
	char hex[SHA256_HEX_SIZE], window[96], blocks[16] = "";
	struct sha256 sha;

	if (plan->reps > 1)
		(void)snprintf(blocks, sizeof(blocks), "-x%u",
			       (unsigned int)plan->reps);
	if (named != NULL) {
		(void)snprintf(out, NOISE_CLASS_SIZE, "%.40s%s", named, blocks);
		return;
	}
	(void)snprintf(window, sizeof(window), "%d %g %g %d %d",
		       plan->rule.window, plan->rule.lo, plan->rule.hi,
		       plan->rule.tok_kind, plan->higher);
	sha256_init(&sha);
	hash_text(&sha, "command",
		  v->command != NULL ? v->command : plan->command);
	hash_text(&sha, "cwd", plan->cwd);
	hash_text(&sha, "key", plan->key);
	hash_text(&sha, "window", window);
	hash_text(&sha, "patch", v->patch);
	for (size_t i = 0; i < v->n_files; i++) {
		hash_text(&sha, v->files[i].path, v->files[i].from);
		hash_text(&sha, "overlay", v->files[i].overlay);
	}
	hash_env(&sha, plan, v);
	sha256_hex(&sha, hex);
	sha256_release(&sha);
	(void)snprintf(out, NOISE_CLASS_SIZE, "%.24s-%.12s%s", plan->key, hex,
		       blocks);
}

bool
noise_is_shared(const struct plan *plan, size_t arm)
{
	const struct plan_variant *v = plan_arm(plan, arm);
	const struct plan_variant *control = &plan->variants[0];
	const char *a, *b;

	if (v == control)
		return true;
	a = control->noise_class != NULL ? control->noise_class
					 : plan->noise_class;
	b = v->noise_class != NULL ? v->noise_class : plan->noise_class;
	if (v->noise_class != NULL)
		return a != NULL && strcmp(a, b) == 0;
	return control->noise_class == NULL && v->command == NULL &&
	       !v->numerics_changed;
}
