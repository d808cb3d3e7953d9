/* SPDX-License-Identifier: MIT */
/* The noise register: load, look up, store, print. */
#include "bench/noise_register.h"

#include "base/change.h"
#include "base/file.h"
#include "bench/folder.h"

#define MAX_ENV_BYTES (256U * 1024)

static bool same_text(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static void replace_text(char **text, const char *now)
{
	free(*text);
	*text = xstrdup_null(now);
}

static char *text_or_empty(const char *text)
{
	return xstrdup(text != NULL ? text : "");
}

/* Is the row of a bench of that name ("name-20261121-061841") or of that class? */
static bool is_named(const struct stored_noise *row, const char *name)
{
	const char *rest = row->bench_id + strlen(name);

	return same_text(row->class_name, name) ||
	       (strncmp(row->bench_id, name, strlen(name)) == 0 && *rest == '-' &&
		rest[strspn(rest, "-0123456789")] == '\0');
}

/* Rows come oldest first, so later texts replace earlier ones. */
static int add_row(void *user, const struct stored_noise *row)
{
	struct noise_register *reg = user;
	struct noise_entry *e = NULL;
	size_t n_gpus = 1;

	/* Without an A/A arm there is a level but no noise. */
	if (reg->is_history ? reg->name != NULL && !is_named(row, reg->name)
			    : !(row->noise.n_blocks > 0))
		return 0;
	if (!reg->is_history)
		e = array_find(old, reg->v, reg->n,
			       same_text(old->pod, row->pod) && same_text(old->gpus, row->gpus) &&
				       same_text(old->gpu_id, row->gpu_id) &&
				       same_text(old->class_name, row->class_name));
	if (e == NULL) {
		reg->v = xreallocarray(reg->v, reg->n + 1, sizeof(*reg->v));
		e = &reg->v[reg->n++];
		*e = (struct noise_entry){
			.pod = text_or_empty(row->pod),
			.gpus = text_or_empty(row->gpus),
			.class_name = text_or_empty(row->class_name),
			.first_mean = row->noise.mean,
			.first_ms = row->when_ms,
			.p_quietest = (double)NAN,
			.bench = xstrdup_null(row->bench_id),
			.before = (double)NAN,
		};
		for (const char *c = row->gpu_id; c != NULL && *c != '\0'; c++)
			n_gpus += *c == ',';
		print_into(e->kind, "%.0zu%s%s", n_gpus > 1 ? n_gpus : 0, n_gpus > 1 ? " x " : "",
			   row->gpu != NULL ? row->gpu : e->pod);
	}
	replace_text(&e->gpu, row->gpu);
	replace_text(&e->gpu_id, row->gpu_id);
	replace_text(&e->driver, row->driver);
	replace_text(&e->image, row->image);
	replace_text(&e->what, row->what);
	replace_text(&e->metric, row->metric);
	noise_pool(&e->noise, &row->noise);
	e->n_benches++;
	e->when_ms = row->when_ms;
	return 0;
}

/* Sort by class, then by spread; entries without a rank come last. */
static int compare_entries(const void *a, const void *b)
{
	const struct noise_entry *x = a, *y = b;
	int by_class = strcmp(x->class_name, y->class_name);
	bool ranked_x = x->noise.n_runs >= NOISE_MIN_RUNS;
	bool ranked_y = y->noise.n_runs >= NOISE_MIN_RUNS;

	if (by_class != 0)
		return by_class;
	if (ranked_x != ranked_y)
		return ranked_x ? -1 : 1;
	if (x->noise.sd != y->noise.sd)
		return x->noise.sd < y->noise.sd ? -1 : 1;
	return strcmp(x->pod, y->pod);
}

static int load_rows(struct noise_register *reg, struct context *context,
		     int (*compare)(const void *a, const void *b), struct err *err)
{
	struct err why = { ERR_NONE, "" };

	if (context_open(context, CONTEXT_DB, &why) != 0) {
		if (why.code == ERR_NODATA)
			return 0;
		return err_set(err, why.code, "%s", why.text);
	}
	int rc = store_each_noise(context->store, add_row, reg, err);
	if (reg->n > 0)
		qsort(reg->v, reg->n, sizeof(*reg->v), compare);
	return rc;
}

int noise_register_load(struct noise_register *reg, struct context *context, struct err *err)
{
	size_t first = 0; /* entry of the class */

	*reg = (struct noise_register){ 0 };
	int rc = load_rows(reg, context, compare_entries, err);
	for (size_t i = 0; i < reg->n; i++) {
		struct noise_entry *e = &reg->v[i];

		if (strcmp(reg->v[first].class_name, e->class_name) != 0)
			first = i;
		if (e->noise.n_runs < NOISE_MIN_RUNS)
			continue;
		e->rank = i - first + 1;
		for (size_t k = first; k <= i; k++)
			reg->v[k].n_ranked = e->rank;
		if (e->rank > 1)
			e->p_quietest = noise_compare(&e->noise, &reg->v[first].noise);
	}
	return rc;
}

static int compare_history(const void *a, const void *b)
{
	const struct noise_entry *x = a, *y = b;
	int by = strcmp(x->class_name, y->class_name);

	by = by != 0 ? by : strcmp(x->kind, y->kind);
	return by != 0 ? by : (x->when_ms > y->when_ms) - (x->when_ms < y->when_ms);
}

/* Append "; driver 570.1 -> 580.2" if the value changed. */
static void append_if_new(struct noise_entry *e, const char *label, const char *before,
			  const char *now)
{
	if (before != NULL && now != NULL && strcmp(before, now) != 0)
		append_into(e->why, "; %s%s -> %s", label, before, now);
}

static void mark_changes(struct noise_entry *v, size_t n)
{
	AUTO_FREE double *mean = xcalloc(n, sizeof(*mean));
	struct change found[CHANGE_MOST];

	for (size_t i = 0; i < n; i++)
		mean[i] = v[i].noise.mean;
	size_t n_found = change_find(mean, n, found);
	for (size_t i = 0; i < n_found; i++) {
		struct noise_entry *e = &v[found[i].at];

		e->before = found[i].before;
		e->after = found[i].after;
		append_if_new(e, "driver ", e[-1].driver, e->driver);
		append_if_new(e, "", e[-1].image, e->image);
		append_if_new(e, "pod ", e[-1].pod, e->pod);
	}
}

static bool is_same_series(const struct noise_entry *a, const struct noise_entry *b)
{
	return strcmp(a->class_name, b->class_name) == 0 && strcmp(a->kind, b->kind) == 0;
}

int noise_history_load(struct noise_register *reg, struct context *context, const char *name,
		       struct err *err)
{
	size_t from = 0;

	*reg = (struct noise_register){ .is_history = true, .name = name };
	if (load_rows(reg, context, compare_history, err) != 0)
		return -1;
	for (size_t i = 1; i <= reg->n; i++)
		if (i == reg->n || !is_same_series(&reg->v[i], &reg->v[from])) {
			mark_changes(reg->v + from, i - from);
			from = i;
		}
	return 0;
}

void noise_register_peek(struct noise_register *reg, struct context *context)
{
	if (noise_register_load(reg, context, NULL) != 0)
		noise_register_release(reg);
	context_close_db(context);
}

void noise_register_release(struct noise_register *reg)
{
	array_each (e, reg->v, reg->n) {
		char *const texts[] = { e->pod,	   e->gpus,  e->class_name, e->gpu,    e->gpu_id,
					e->driver, e->image, e->what,	    e->metric, e->bench };

		for (size_t i = 0; i < LENGTH(texts); i++)
			free(texts[i]);
	}
	free(reg->v);
	*reg = (struct noise_register){ 0 };
}

const struct noise_entry *noise_register_find(const struct noise_register *reg,
					      const struct plan *plan, size_t pod,
					      const char *gpu_id)
{
	const struct noise_entry *found = NULL;
	struct noise_of_pod now;
	char name[NOISE_CLASS_SIZE];

	noise_class(plan, 0, name);
	noise_read_env(&now, &plan->pods[pod], (struct str){ "", 0 });
	array_each (e, reg->v, reg->n) {
		if (!same_text(e->pod, now.pod) || !same_text(e->gpus, now.gpus) ||
		    !same_text(e->class_name, name) ||
		    (gpu_id[0] != '\0' && !same_text(e->gpu_id, gpu_id)) ||
		    e->noise.n_runs < NOISE_MIN_RUNS)
			continue;
		if (found == NULL || e->when_ms > found->when_ms)
			found = e;
	}
	return found;
}

/* Read env.<pod>.txt of a results folder; "" if there is none. */
static void read_env(struct buf *out, const char *path, const char *pod)
{
	char file[FOLDER_PATH_SIZE];

	print_into(file, "%.3800s/env.%.200s.txt", path, pod);
	if (file_read(file, out, NULL) != 0)
		buf_clear(out);
}

void noise_register_set_rule(void *user, struct judge_rule *rule)
{
	const struct noise_lookup *lookup = user;
	const struct plan *plan = lookup->plan;
	double sd = 0.0, df = (double)NAN;

	rule->register_sd = rule->register_df = (double)NAN;
	for (size_t i = 0; i < plan->n_pods; i++) {
		struct noise_of_pod now;
		AUTO_BUF env = buf_new(MAX_ENV_BYTES);

		if (lookup->path != NULL)
			read_env(&env, lookup->path, plan->pods[i].id);
		noise_read_env(&now, &plan->pods[i], buf_str(&env));
		const struct noise_entry *e = noise_register_find(lookup->reg, plan, i, now.gpu_id);
		if (e == NULL)
			return;
		if (e->noise.sd > sd) {
			sd = e->noise.sd;
			df = e->noise.df;
		}
	}
	rule->register_sd = sd;
	rule->register_df = df;
}

int noise_register_store(const char *db_path, const char *id, const char *path, struct err *err)
{
	AUTO_JSON verdict = folder_read_json(path, "verdict.json");
	struct folder_state state = { .state = "" };
	char class_name[NOISE_CLASS_SIZE];
	AUTO_PLAN plan = { .file = NULL };
	size_t n = 0;

	if (bench_load_plan(&plan, path, err) != 0)
		return -1;
	AUTO_FREE struct stored_noise *rows = xcalloc(plan.n_pods, sizeof(*rows));
	AUTO_FREE struct noise_of_pod *all = xcalloc(plan.n_pods, sizeof(*all));
	const struct plan_variant *control = plan_arm(&plan, 0);
	noise_class(&plan, 0, class_name);
	(void)folder_read_state(path, &state);
	for (size_t i = 0; verdict != NULL && i < plan.n_pods; i++) {
		AUTO_BUF env = buf_new(MAX_ENV_BYTES);

		read_env(&env, path, plan.pods[i].id);
		if (noise_from_verdict(&all[n], &plan, i, verdict, buf_str(&env))) {
			const struct noise_of_pod *one = &all[n];

			rows[n++] = (struct stored_noise){
				.bench_id = id,
				.pod = one->pod,
				.gpus = one->gpus,
				.gpu = one->gpu[0] != '\0' ? one->gpu : NULL,
				.gpu_id = one->gpu_id[0] != '\0' ? one->gpu_id : NULL,
				.driver = one->driver[0] != '\0' ? one->driver : NULL,
				.image = one->image[0] != '\0' ? one->image : NULL,
				.class_name = class_name,
				.what = control->command != NULL ? control->command : plan.command,
				.metric = plan.key,
				.noise = one->noise,
				.when_ms = state.ended_ms != 0 ? state.ended_ms : state.started_ms,
			};
		}
	}
	return n > 0 ? store_put_noise(db_path, id, rows, n, err) : 0;
}

cJSON *noise_entry_json(const struct noise_entry *e)
{
	static const size_t blocks[] = { 3, 6, 10 };
	const struct noise *noise = &e->noise;
	cJSON *row = cJSON_CreateObject();
	char key[32], rank[64] = "";

	if (e->rank > 0)
		print_into(rank, "%zu of %zu", e->rank, e->n_ranked);
	json_add(row, JCLEAN("pod", e->pod), JCLEAN("gpus", e->gpus[0] != '\0' ? e->gpus : NULL),
		 JCLEAN("gpu", e->gpu), JCLEAN("gpu_id", e->gpu_id), JCLEAN("class", e->class_name),
		 JCLEAN("what", e->what), JCLEAN("metric", e->metric),
		 JNUM("n_runs", noise->n_runs), JNUM("n_blocks", noise->n_blocks),
		 JNUM("n_benches", e->n_benches), JNUM("sd_pct", 100.0 * noise->sd),
		 JNUM("df", noise->df), JNUM("sd_block_pct", 100.0 * noise->sd_block),
		 JNUM("drift_pct", stats_pct(noise->drift)), JNUM("drift_p", noise->drift_p),
		 JNUM("drift_s", noise->span_s),
		 JNUM("level_pct",
		      e->n_benches > 1 ? stats_pct(noise->mean - e->first_mean) : (double)NAN));
	for (size_t i = 0; i < LENGTH(blocks); i++) {
		print_into(key, "mde%zu_pct", blocks[i]);
		json_add_number(row, key, stats_pct(noise_mde(noise, blocks[i])));
	}
	json_add(row, JNUM("run_s", noise->run_s), JSOME("rank", e->rank),
		 JNUM("of", e->rank > 0 ? (double)e->n_ranked : (double)NAN),
		 JTEXT("rank_text", rank[0] != '\0' ? rank : NULL),
		 JNUM("p_quietest", e->p_quietest), JCLEAN("driver", e->driver),
		 JCLEAN("image", e->image), JTIME("first", e->first_ms), JTIME("when", e->when_ms));
	return row;
}

/* Append by how much the level changes at this entry, and why. */
static void describe_change(const struct noise_entry *e, struct buf *text)
{
	double pct = stats_pct(e->after - e->before);

	if (!isnan(pct))
		buf_appendf(text, "%+.2f%% from here%s", pct, e->why);
}

cJSON *noise_history_json(const struct noise_entry *e)
{
	cJSON *row = noise_entry_json(e);
	double pct = stats_pct(e->after - e->before);
	AUTO_BUF text = buf_new(512);

	describe_change(e, &text);
	return json_add(row, JCLEAN("kind", e->kind), JCLEAN("bench", e->bench),
			JNUM("value", exp(e->noise.mean)), JNUM("before", exp(e->before)),
			JNUM("after", isnan(pct) ? pct : exp(e->after)), JNUM("change_pct", pct),
			JCLEAN("change", isnan(pct) ? NULL : text.data));
}

/* A report shows this many entries of a series, the newest. */
#define SERIES_SHOWN 12

static void add_series(struct facts *facts, const struct noise_entry *v, size_t n)
{
	char when[CLOCK_RFC3339_SIZE];

	(void)facts_section(
		facts, facts_keep(facts, "history of the control: %s, %s", v->kind, v->class_name));
	for (size_t i = n > SERIES_SHOWN ? n - SERIES_SHOWN : 0; i < n; i++) {
		AUTO_BUF text = buf_new(512);

		describe_change(&v[i], &text);
		clock_rfc3339(v[i].when_ms, when);
		facts_text(facts, facts_keep(facts, "%.10s", when), FACT_PLAIN,
			   "%.4g  %s on %s%s%s", exp(v[i].noise.mean), v[i].bench, v[i].pod,
			   text.len > 0 ? ": " : "", text.data);
	}
}

void noise_history_facts(struct facts *facts, const struct noise_register *history,
			 const char *bench_id)
{
	const struct noise_entry *v = history->v;
	size_t end;

	for (size_t first = 0; first < history->n; first = end) {
		bool is_in = false, other = false;

		for (end = first; end < history->n && is_same_series(&v[end], &v[first]); end++) {
			bool same = same_text(v[end].bench, bench_id);

			is_in |= same;
			other |= !same;
		}
		if (is_in && other)
			add_series(facts, v + first, end - first);
	}
}

void noise_entry_facts(struct facts *facts, const struct noise_entry *e)
{
	const struct noise *noise = &e->noise;
	const struct {
		const char *label, *text;
	} texts[] = { { "GPU", e->gpu }, { "driver", e->driver }, { "image", e->image } };

	(void)facts_section(facts, facts_keep(facts, "%s: noise of %s", e->pod, e->class_name));
	for (size_t i = 0; i < LENGTH(texts); i++)
		if (texts[i].text != NULL)
			facts_text(facts, texts[i].label, FACT_PLAIN, "%s", texts[i].text);
	facts_text(facts, "spread", FACT_PLAIN,
		   "standard deviation %.3f%% between runs (%.0f A/A runs)", 100.0 * noise->sd,
		   noise->n_runs);
	facts_text(facts, "", FACT_PLAIN,
		   "standard deviation %.3f%% of a block's difference (%.0f blocks)",
		   100.0 * noise->sd_block, noise->n_blocks);
	if (isnan(noise->drift))
		facts_text(facts, "drift", FACT_PLAIN, "unknown");
	else
		facts_text(facts, "drift", FACT_PLAIN, "%+.2f%% in %.1f minutes (p %.2f: %s)",
			   stats_pct(noise->drift), noise->span_s / 60.0, noise->drift_p,
			   noise->drift_p < 0.05 ? "timings drifted during the measurement"
						 : "no drift shown");
	facts_text(facts, "detects", FACT_PLAIN,
		   "%s%% in 3 blocks, %s%% in 6, %s%% in 10 (power 0.8)",
		   fmt_number(stats_pct(noise_mde(noise, 3)), 2).s,
		   fmt_number(stats_pct(noise_mde(noise, 6)), 2).s,
		   fmt_number(stats_pct(noise_mde(noise, 10)), 2).s);
	if (e->n_ranked < 2)
		facts_text(facts, "rank", FACT_PLAIN,
			   "no other pod has been measured with this workload");
	else
		facts_text(facts, "rank", FACT_PLAIN, "%zu of %zu pods, lowest noise first%s",
			   e->rank, e->n_ranked,
			   isnan(e->p_quietest)	  ? ""
			   : e->p_quietest < 0.05 ? "; noisier than the first"
						  : "; no significant difference from the first");
	if (!isnan(e->p_quietest))
		facts_text(facts, "", FACT_PLAIN, "p %.3f", e->p_quietest);
}
