/* SPDX-License-Identifier: MIT */
/* Measure noise from the runs of a bench; for the noise register, audits and plans. */
#include "bench/noise.h"

#include "base/dist.h"
#include "bench/power.h"
#include "bench/verdict_json.h"

/* From this many blocks on, the spread of the blocks themselves is used. */
#define OWN_BLOCKS 3
/* noise_mde() caches its factors for up to this many blocks. */
#define MOST_KNOWN 10

static bool is_measured(const struct noise_run *run)
{
	return run->y > 0.0 && isfinite(run->y);
}

/* Fit the change of ln y over the runs whose start is known. */
static void measure_drift(struct noise *noise, const struct noise_run *runs, size_t n)
{
	AUTO_FREE double *t = xcalloc(n + 1, sizeof(*t)), *ln = xcalloc(n + 1, sizeof(*t));
	struct stats_line line;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_measured(&runs[i]) || isnan(runs[i].t0_s))
			continue;
		t[k] = runs[i].t0_s;
		ln[k++] = log(runs[i].y);
	}
	noise->span_s = k > 1 ? stats_max(t, k) - stats_min(t, k) : (double)NAN;
	if (k >= 3 && noise->span_s > 0.0) {
		double first = stats_min(t, k);

		/* Seconds since 1970 would cost the fit precision. */
		for (size_t i = 0; i < k; i++)
			t[i] -= first;
		line = stats_fit(t, ln, k);
		noise->drift = line.slope * noise->span_s;
		noise->drift_p = line.p;
	}
}

/* Median of the runs of the control (or, `again`, the A/A arm) in a block; *count: their number. */
static double get_median(const struct noise_run *like, bool again, const struct noise_run *runs,
			 size_t n, size_t *count)
{
	AUTO_FREE double *y = xcalloc(n + 1, sizeof(*y));

	*count = 0;
	for (size_t i = 0; i < n; i++)
		if (runs[i].block == like->block && runs[i].again == again && is_measured(&runs[i]))
			y[(*count)++] = runs[i].y;
	return values_median(y, *count);
}

/* Set d to the differences of ln y of all complete blocks.  Returns how many. */
static size_t measure_differences(const struct noise_run *runs, size_t n, double *d)
{
	AUTO_FREE size_t *least = xcalloc(n + 1, sizeof(*least));
	size_t most = 0, kept = 0;
	size_t n_d = 0;

	for (size_t i = 0; i < n; i++) {
		size_t a, b;

		if (any_of(k, i, runs[k].block == runs[i].block))
			continue;
		double x = get_median(&runs[i], false, runs, n, &a);
		double y = get_median(&runs[i], true, runs, n, &b);
		least[n_d] = a < b ? a : b;
		if (least[n_d] == 0)
			continue;
		if (least[n_d] > most)
			most = least[n_d];
		d[n_d++] = log(x) - log(y);
	}
	/* As in a verdict, a block that lost a run does not count. */
	for (size_t i = 0; i < n_d; i++)
		if (least[i] == most)
			d[kept++] = d[i];
	return kept;
}

void noise_measure(struct noise *noise, const struct noise_run *runs, size_t n)
{
	AUTO_FREE double *ln = xcalloc(n + 1, sizeof(*ln)), *d = xcalloc(n + 1, sizeof(*d));
	size_t n_runs = 0, n_blocks = measure_differences(runs, n, d);

	array_each (run, runs, n)
		if (is_measured(run))
			ln[n_runs++] = log(run->y);
	*noise = (struct noise){
		.n_runs = (double)n_runs,
		.n_blocks = (double)n_blocks,
		.mean = stats_mean(ln, n_runs),
		.sd = stats_sd(ln, n_runs),
		.df = n_runs > 1 ? (double)n_runs - 1.0 : (double)NAN,
		.sd_block = stats_sd(d, n_blocks),
		.drift = (double)NAN,
		.drift_p = (double)NAN,
	};
	measure_drift(noise, runs, n);
}

double noise_sd_of_block(const struct noise *noise)
{
	return noise->n_blocks >= OWN_BLOCKS ? noise->sd_block : noise->sd * M_SQRT2;
}

double noise_mde(const struct noise *noise, size_t blocks)
{
	/* The detectable difference in units of a block's standard deviation. */
	static _Thread_local double known[MOST_KNOWN + 1];
	struct judge_rule rule = JUDGE_RULE_DEFAULT;
	double *factor = &known[blocks <= MOST_KNOWN ? blocks : 0];

	if (noise->n_runs < NOISE_MIN_RUNS)
		return (double)NAN;
	if (*factor > 0.0 && blocks <= MOST_KNOWN)
		return noise_sd_of_block(noise) * *factor;
	/* A narrow interval does not stop a bench that looks for less than the margin. */
	rule.paired.margin = 0.0;
	*factor = power_detectable(&(struct power_plan){
		.rule = rule.paired,
		.looks = { LOOKS_OBRIEN, VERDICT_MIN_BLOCKS, blocks },
		.pods = 1,
		.reps = 1,
		.variants = 1,
		.sd = 1.0,
	});
	return noise_sd_of_block(noise) * *factor;
}

/* Pool two sample spreads; NAN is ignored. */
static double pool_sd(double a, double df_a, double b, double df_b)
{
	if (isnan(a) || !(df_a > 0.0))
		return b;
	if (isnan(b) || !(df_b > 0.0))
		return a;
	return sqrt((df_a * a * a + df_b * b * b) / (df_a + df_b));
}

void noise_pool(struct noise *total, const struct noise *more)
{
	struct noise both = *more;

	if (total->n_runs == 0) {
		*total = *more;
		return;
	}
	both.sd = pool_sd(total->sd, total->df, more->sd, more->df);
	both.df = (isnan(total->df) ? 0.0 : total->df) + (isnan(more->df) ? 0.0 : more->df);
	both.sd_block = pool_sd(total->sd_block, total->n_blocks - 1.0, more->sd_block,
				more->n_blocks - 1.0);
	both.n_runs += total->n_runs;
	both.n_blocks += total->n_blocks;
	*total = both;
}

double noise_compare(const struct noise *a, const struct noise *b)
{
	if (!(a->sd > 0.0) || !(b->sd > 0.0) || !(a->df >= 1.0) || !(b->df >= 1.0))
		return (double)NAN;
	double upper = dist_f_upper(a->sd * a->sd / (b->sd * b->sd), a->df, b->df);
	return 2.0 * fmin(upper, 1.0 - upper);
}

#define MAX_RUNS 100000

/* "2026-11-20T21:30:00Z" as seconds since 1970; NAN: not a time. */
static double read_time(const cJSON *run, const char *key)
{
	return clock_read_s(str_from(json_get_string(run, key, "")));
}

/* Read a run of verdict.json; false unless it is a valid control or A/A run on the pod. */
static bool read_run(struct noise_run *out, const cJSON *run, const char *pod, const char *tag,
		     const char *again)
{
	const char *of = json_get_string(run, "tag", "");

	if (strcmp(json_get_string(run, "pod", ""), pod) != 0 ||
	    !json_get_bool(run, "counted", false) || verdict_has_hard_guard(run))
		return false;
	*out = (struct noise_run){
		.y = json_get_number(run, "value", (double)NAN),
		.t0_s = read_time(run, "t0"),
		.block = (size_t)fmax(json_get_number(run, "block", 0), 0),
		.again = strcmp(of, again) == 0,
	};
	return out->y > 0.0 && (out->again || strcmp(of, tag) == 0);
}

/* Cell of a line "a, b, c", trimmed; "" if there is none. */
static struct str get_cell(struct str line, size_t column)
{
	struct str cell = { "", 0 };

	for (size_t i = 0; i <= column; i++)
		if (!str_next(&line, ',', &cell))
			return (struct str){ "", 0 };
	return str_trim(cell);
}

/* Append a text to a char array, after `glue` if the array is not empty. */
#define append_text(out, glue, text)                                                 \
	append_into(out, "%s%.*s", (text).len > 0 && (out)[0] != '\0' ? (glue) : "", \
		    (int)(text).len, (text).p)

/* Parse "0, NVIDIA H200, 570.1, 1 MiB, 0 %, 1980 MHz, GPU-uuid". */
static void parse_gpu(struct noise_of_pod *out, const struct plan_pod *pod, struct str line)
{
	struct str name = get_cell(line, 1), driver = get_cell(line, 2), id = get_cell(line, 6);
	int64_t index = -1;

	(void)str_to_i64(get_cell(line, 0), &index);
	if (pod->gpus.n > 0 && !any_of(i, pod->gpus.n, pod->gpus.v[i] == index))
		return;
	if (out->gpu[0] == '\0')
		append_text(out->gpu, "", name);
	else if (!str_eq_cstr(name, out->gpu) && strstr(out->gpu, " and others") == NULL)
		append_into(out->gpu, " and others");
	if (out->driver[0] == '\0')
		append_text(out->driver, "", driver);
	append_text(out->gpu_id, ",", id);
}

void noise_read_env(struct noise_of_pod *out, const struct plan_pod *pod, struct str env)
{
	static const char *const kept[] = { "torch ", "triton ", "flash-attn ", "kernel " };
	struct str line;
	AUTO_BUF gpus = buf_new(sizeof(out->gpus) - 1);

	*out = (struct noise_of_pod){ .pod = pod->id };
	plan_gpus_text(&pod->gpus, ",", &gpus);
	print_into(out->gpus, "%s", gpus.data);
	while (str_next(&env, '\n', &line)) {
		if (str_starts_with(line, "gpu "))
			parse_gpu(out, pod, str_skip(line, 4));
		for (size_t i = 0; i < LENGTH(kept); i++)
			if (str_starts_with(line, kept[i]))
				append_text(out->image, ", ", line);
	}
}

/* Mean seconds per run on that pod with setup but without gap; single times are rounded. */
static double measure_pace(const struct plan *plan, size_t pod, const cJSON *all)
{
	double took_s = 0.0, end = (double)NAN, n = 0;

	json_each (run, all) {
		double t0 = read_time(run, "t0"), t1 = read_time(run, "t1");

		if (isnan(t1 - t0) ||
		    strcmp(json_get_string(run, "pod", ""), plan->pods[pod].id) != 0 ||
		    (plan->kernel &&
		     strcmp(json_get_string(run, "tag", ""), plan->variants[0].tag) != 0))
			continue;
		took_s += t1 - t0 +
			  fmin(fmax(t0 - end - plan_usual_gap_s(plan), 0.0), NOISE_MOST_BETWEEN_S);
		end = t1;
		n++;
	}
	return took_s / n;
}

bool noise_from_verdict(struct noise_of_pod *out, const struct plan *plan, size_t pod,
			const cJSON *verdict, struct str env)
{
	const cJSON *all = json_get(verdict, "runs");
	int size = cJSON_GetArraySize(all);
	char again[PLAN_TAG_SIZE] = "";
	size_t n = 0;

	if (size < 1 || size > MAX_RUNS)
		return false;
	noise_read_env(out, &plan->pods[pod], env);
	AUTO_FREE struct noise_run *runs = xcalloc((size_t)size, sizeof(*runs));
	if (plan->aa)
		plan_arm_tag(plan, plan->n_variants, again);
	json_each (run, all)
		n += read_run(&runs[n], run, plan->pods[pod].id, plan->variants[0].tag, again);
	noise_measure(&out->noise, runs, n);
	out->noise.run_s = measure_pace(plan, pod, all);
	return out->noise.n_runs > 0 && (!plan->aa || out->noise.n_blocks > 0);
}

static void hash_text(struct sha256 *sha, const char *key, const char *value)
{
	sha256_update(sha, key, strlen(key) + 1);
	if (value != NULL)
		sha256_update(sha, value, strlen(value) + 1);
}

static int compare_env(const void *a, const void *b)
{
	return strcmp(((const struct plan_variable *)a)->name,
		      ((const struct plan_variable *)b)->name);
}

void noise_class(const struct plan *plan, size_t arm, char out[NOISE_CLASS_SIZE])
{
	const struct plan_variant *v = plan_arm(plan, arm);
	const char *named = v->noise_class != NULL ? v->noise_class : plan->noise_class;
	char hex[SHA256_HEX_SIZE], window[96], blocks[16] = "";
	AUTO_FREE struct plan_variable *all = xcalloc(plan->env.n + v->env.n + 1, sizeof(*all));
	size_t n = 0;
	struct sha256 sha;

	if (plan->reps > 1)
		print_into(blocks, "-x%u", (unsigned int)plan->reps);
	if (named != NULL) {
		(void)snprintf(out, NOISE_CLASS_SIZE, "%.40s%s", named, blocks);
		return;
	}
	print_into(window, "%d %g %g %d %d", plan->rule.window, plan->rule.lo, plan->rule.hi,
		   plan->rule.tok_kind == TOK_INTERVAL, plan->rule.higher);
	sha256_init(&sha);
	hash_text(&sha, "command", v->command != NULL ? v->command : plan->command);
	if (plan->prepare != NULL)
		hash_text(&sha, "prepare", plan->prepare);
	hash_text(&sha, "cwd", plan->cwd);
	hash_text(&sha, "key", plan->key);
	hash_text(&sha, "window", window);
	hash_text(&sha, "patch", v->patch);
	hash_text(&sha, "launch", v->launch);
	for (size_t i = 0; i < v->files.n; i++) {
		hash_text(&sha, v->files.v[i].path, v->files.v[i].from);
		hash_text(&sha, "overlay", v->files.v[i].overlay);
	}
	/* Hash the environment, sorted by name.  The variant's variables replace the workload's. */
	array_each (own, v->env.v, v->env.n)
		all[n++] = *own;
	array_each (common, plan->env.v, plan->env.n)
		if (!array_any(own, v->env.v, v->env.n, strcmp(own->name, common->name) == 0))
			all[n++] = *common;
	qsort(all, n, sizeof(*all), compare_env);
	array_each (one, all, n)
		hash_text(&sha, one->name, one->value);
	sha256_hex(&sha, hex);
	sha256_release(&sha);
	(void)snprintf(out, NOISE_CLASS_SIZE, "%.24s-%.12s%s", plan->key, hex, blocks);
}

bool noise_is_shared(const struct plan *plan, size_t arm)
{
	const struct plan_variant *v = plan_arm(plan, arm);
	const struct plan_variant *control = &plan->variants[0];

	if (v == control)
		return true;
	const char *a = control->noise_class != NULL ? control->noise_class : plan->noise_class;
	const char *b = v->noise_class != NULL ? v->noise_class : plan->noise_class;
	if (v->noise_class != NULL)
		return a != NULL && strcmp(a, b) == 0;
	return control->noise_class == NULL && v->command == NULL && !v->numerics_changed;
}
