/* SPDX-License-Identifier: MIT */
/* Plan, record and repeat the runs of a bench. */
#include "bench/runs.h"

#include "bench/noise.h"

#define RECORD_SCHEMA "hgym-tui.bench-run/1"
#define REPEATS_FILE  "repeats.json"
/* Maximum number of repetitions of a block because of problems of its pod. */
#define MOST_REPEATS 2
/* The same for repetitions because Slurm took the node away.  Without a limit, a block that takes
 * longer than an allocation, or that ends its allocation, would be repeated forever. */
#define MOST_MOVES   20
#define MAX_REPEATED (PLAN_MAX_PODS * PLAN_MAX_ROUNDS * MOST_MOVES)

static const char *const run_ends[] = { "", "exited", "lost", NULL };

/* Members of run.json that follow from the plan.  They are written for people, and never read. */
static const struct json_field plan_fields[] = {
	JSON_CHARS("id", bench_run, id),
	JSON_ROW("block", COUNT, bench_run, block, .high = 1e9),
	JSON_ROW("pos", COUNT, bench_run, pos, .high = 1e9),
	{ "counted", JSON_AS_BOOL, JSON_AT(bench_run, counted) },
	JSON_ROW("rep", COUNT, bench_run, rep, .high = 1e9),
	{ "fresh", JSON_AS_BOOL, JSON_AT(bench_run, fresh) },
	JSON_ROW("repeat", COUNT, bench_run, repeat, .high = 1e9),
	{ .name = NULL },
};

static const struct json_field record_fields[] = {
	JSON_ROW("attempt", COUNT, bench_run, attempt, .high = 1000),
	JSON_ROW("end", CHOICE, bench_run, end, .words = run_ends),
	JSON_ROW("rc", NUMBER, bench_run, result.rc, .high = 1000),
	JSON_ROW("t0_s", NUMBER, bench_run, result.t0_s, .high = 1e11),
	JSON_ROW("t1_s", NUMBER, bench_run, result.t1_s, .high = 1e11),
	JSON_ROW("up_s", NUMBER, bench_run, result.up_s, .high = 1e11),
	JSON_ROW("drift_s", NUMBER, bench_run, drift_s, .high = 1e11),
	{ "files_changed", JSON_AS_BOOL, JSON_AT(bench_run, result.files_changed) },
	JSON_CHARS("judge_files_sha256", bench_run, result.hash),
	JSON_CHARS("sources", bench_run, result.work),
	JSON_CHARS("shared_changed", bench_run, result.shared),
	JSON_CHARS("runtime", bench_run, result.runtime),
	JSON_CHARS("allocation", bench_run, result.alloc),
	JSON_CHARS("cut", bench_run, cut),
	{ .name = NULL },
};

static const struct json_field cut_fields[] = {
	JSON_ROW("cut_by", CHOICE, bench_run, cut_by, .words = guard_words),
	{ .name = NULL },
};

void bench_run_file(const struct bench_run *run, const char *name, char out[FOLDER_PATH_SIZE])
{
	(void)snprintf(out, FOLDER_PATH_SIZE, "runs/%s/%.2000s", run->id, name);
}

void bench_run_path(const struct bench_runs *runs, const struct bench_run *run, const char *name,
		    char out[FOLDER_PATH_SIZE])
{
	(void)snprintf(out, FOLDER_PATH_SIZE, "%.2000s/runs/%s/%.1000s", runs->path, run->id, name);
}

static void reset_run(const struct bench_runs *runs, struct bench_run *run, size_t repeat)
{
	char round[48], suffix[24] = "";

	*run = (struct bench_run){ .pod = run->pod,
				   .round = run->round,
				   .pos = run->pos,
				   .arm = run->arm,
				   .counted = run->counted,
				   .block = run->block,
				   .rep = run->rep,
				   .fresh = run->fresh,
				   .repeat = repeat,
				   .cut_by = GUARD_WORK };
	run->result.rc = run->result.t0_s = run->result.t1_s = run->result.up_s = run->drift_s =
		(double)NAN;
	if (!run->counted)
		print_into(round, "burn%zu", run->round);
	else if (runs->plan->reps > 1)
		print_into(round, "%zu.%zu", run->block, run->rep);
	else
		print_into(round, "%zu", run->block);
	if (repeat > 0)
		print_into(suffix, ".b%zu", repeat);
	print_into(run->id, "%s_%s_%s%s", round, runs->plan->pods[run->pod].id,
		   runs->tags[run->arm], suffix);
}

static void reset_block(struct bench_runs *runs, size_t pod, size_t block)
{
	array_each (run, runs->v, runs->n) {
		if (run->pod != pod || !run->counted || run->block != block)
			continue;
		if (run->has_log)
			run_log_release(&run->log);
		reset_run(runs, run, run->repeat + 1);
	}
}

static void add_repeat(struct bench_runs *runs, size_t pod, size_t block, const char *reason)
{
	xpush(runs->repeats, runs->n_repeats, runs->cap_repeats,
	      (struct verdict_repeat){ pod, block, xstrdup(reason) });
}

static void read_repeats(struct bench_runs *runs)
{
	AUTO_JSON root = folder_read_json(runs->path, REPEATS_FILE);
	const struct plan *plan = runs->plan;

	json_each (node, root) {
		const char *id = json_get_string(node, "pod", "");
		double block = json_get_number(node, "block", -1);

		for (size_t pod = 0; pod < plan->n_pods; pod++) {
			if (strcmp(plan->pods[pod].id, id) != 0 ||
			    !(block >= 0 && block < 2 * PLAN_MAX_ROUNDS) ||
			    runs->n_repeats == MAX_REPEATED)
				continue;
			add_repeat(runs, pod, (size_t)block, json_get_string(node, "reason", "?"));
			reset_block(runs, pod, (size_t)block);
		}
	}
}

int bench_run_record(const struct bench_runs *runs, const struct bench_run *run, struct err *err)
{
	AUTO_JSON root = json_new(JTEXT("schema", RECORD_SCHEMA),
				  JTEXT("pod", runs->plan->pods[run->pod].id),
				  JTEXT("tag", runs->tags[run->arm]));
	char file[FOLDER_PATH_SIZE];

	json_write_object(root, plan_fields, run);
	json_write_object(root, record_fields, run);
	if (run->cut[0] != '\0')
		json_write_object(root, cut_fields, run);
	bench_run_file(run, "run.json", file);
	return folder_write_json(runs->path, file, root, err);
}

size_t bench_run_place(const char *log)
{
	const char *slash = strrchr(log, '/');
	AUTO_TEXT dir = slash != NULL ? xstrndup(log, (size_t)(slash - log)) : xstrdup(".");
	AUTO_JSON root = folder_read_json(dir, "run.json");
	const cJSON *pos = json_get(root, "pos");
	double place = cJSON_IsNumber(pos) ? pos->valuedouble : -1.0;

	return place >= 0.0 && place < SCHEDULE_MAX_ARMS ? (size_t)place : JUDGE_ANY;
}

bool bench_run_needs_repeat(const struct bench_runs *runs, const struct bench_run *run, char *out,
			    size_t size)
{
	/* In another allocation, or requeued by Slurm: the block may have run on two nodes. */
	const struct bench_run *moved =
		array_find(other, runs->v, run->result.alloc[0] != '\0' ? runs->n : 0,
			   other->pod == run->pod && other->counted && other->block == run->block &&
				   other->result.alloc[0] != '\0' &&
				   strcmp(other->result.alloc, run->result.alloc) != 0);
	const struct guard_hit *why = NULL;

	if (!run->counted)
		return false;
	if (moved != NULL) {
		(void)snprintf(out, size, "%s: its allocation changed from %.60s to %s", run->id,
			       moved->result.alloc, run->result.alloc);
		return true;
	}
	if (run->repeat >= MOST_REPEATS)
		return false;
	array_each (hit, run->hits.hit, run->hits.n) {
		if (!hit->hard)
			continue;
		/* Repeat only for a pod's temporary problems, which do not depend on the value. */
		if (hit->guard != GUARD_THROTTLED && hit->guard != GUARD_FOREIGN &&
		    hit->guard != GUARD_CLOCK)
			return false;
		why = why != NULL ? why : hit;
	}
	if (why != NULL)
		(void)snprintf(out, size, "%s: %s: %s", run->id, guard_words[why->guard],
			       why->text);
	return why != NULL;
}

int bench_runs_repeat(struct bench_runs *runs, const struct bench_run *run, const char *reason,
		      struct err *err)
{
	AUTO_JSON root = cJSON_CreateArray();

	if (run->repeat >= MOST_MOVES)
		return err_set(err, ERR_LIMIT, "block %zu was repeated %d times; last reason: %s",
			       run->block + 1, MOST_MOVES, reason);
	add_repeat(runs, run->pod, run->block, reason);
	array_each (repeat, runs->repeats, runs->n_repeats)
		json_add(json_add_row(root), JTEXT("pod", runs->plan->pods[repeat->pod].id),
			 JNUM("block", repeat->block), JTEXT("reason", repeat->reason));
	if (folder_write_json(runs->path, REPEATS_FILE, root, err) != 0) {
		free(runs->repeats[--runs->n_repeats].reason);
		return -1;
	}
	reset_block(runs, run->pod, run->block);
	return 0;
}

void bench_runs_init(struct bench_runs *runs, const struct plan *plan, const char *path)
{
	size_t n_arms = plan_n_arms(plan);

	*runs = (struct bench_runs){ .plan = plan,
				     .path = path,
				     .n_arms = n_arms,
				     .per_pod = plan_n_rounds(plan) * n_arms };
	runs->n = runs->per_pod * plan->n_pods;
	runs->tags = xcalloc(n_arms, sizeof(*runs->tags));
	for (size_t i = 0; i < n_arms; i++)
		plan_arm_tag(plan, i, runs->tags[i]);
	runs->v = xcalloc(runs->n, sizeof(*runs->v));
	/* The runs of each pod, in the order of its schedule. */
	for (size_t pod = 0; pod < plan->n_pods; pod++) {
		AUTO_FREE unsigned char *order = plan_schedule(plan, pod);

		for (size_t i = 0; i < runs->per_pod; i++) {
			struct bench_run *run = &runs->v[pod * runs->per_pod + i];

			run->pod = pod;
			run->round = i / runs->n_arms;
			run->pos = i % runs->n_arms;
			run->arm = order[i];
			run->counted = run->round >= plan->burn_in;
			size_t round = run->counted ? run->round - plan->burn_in : 0;
			run->block = round / plan->reps;
			run->rep = round % plan->reps;
			run->fresh = run->block >= plan->blocks;
			reset_run(runs, run, 0);
		}
	}
	read_repeats(runs);
	array_each (run, runs->v, runs->n) {
		char file[FOLDER_PATH_SIZE];

		bench_run_file(run, "run.json", file);
		AUTO_JSON root = folder_read_json(path, file);
		json_read_known(record_fields, root, run);
		json_read_known(cut_fields, root, run);
	}
}

#define ANY SIZE_MAX
/* Assumed seconds to stop one run and start the next, until they have been measured. */
#define USUAL_BETWEEN_S 1.0

/* Mean duration of the runs of a pod and an arm (or ANY), plus the mean pause between runs. Counts
 * only the first round, which may compile (`first`), or only the later ones. NAN: none ended. */
static double mean_duration_s(const struct bench_runs *runs, size_t pod, size_t arm, bool first)
{
	double took = 0.0, n = 0.0, n_between = 0;
	double between = plan_usual_gap_s(runs->plan) + USUAL_BETWEEN_S;
	/* In a kernel bench, one process makes all runs of a round. */
	size_t step = runs->plan->kernel ? runs->n_arms : 1;
	size_t end = pod == ANY ? runs->n : (pod + 1) * runs->per_pod;

	for (size_t i = pod == ANY ? 0 : end - runs->per_pod; i < end; i++) {
		const struct bench_run *run = &runs->v[i];
		bool is_last = i % runs->per_pod + step >= runs->per_pod;
		double next_s = is_last ? (double)NAN : run[step].result.t0_s;
		double s = next_s - run->result.t0_s - run->result.up_s;

		if (isnan(run->result.up_s))
			continue;
		if (!isnan(s)) {
			/* t0_s is in whole seconds: each pause is inexact, but their sum is not. */
			s = fmin(s, plan_usual_gap_s(runs->plan) + NOISE_MOST_BETWEEN_S);
			between = s + (n_between > 0 ? between : 0);
			n_between++;
		}
		if ((arm == ANY || run->arm == arm) && (run->round == 0) == first) {
			took += run->result.up_s;
			n++;
		}
	}
	return took / n + fmax(between, 0.0) / fmax(n_between, 1.0);
}

double bench_runs_left_s(const struct bench_runs *runs, const bool *due)
{
	double most_s = 0.0, left_s = 0.0;

	for (size_t i = 0; i < runs->n; i++) {
		const struct bench_run *run = &runs->v[i];
		bool first = run->round == 0;

		left_s = i % runs->per_pod == 0 ? 0.0 : left_s;
		if (due[i] && !(runs->plan->kernel && run->pos > 0)) {
			/* Use the most similar runs that have ended. */
			double s = mean_duration_s(runs, run->pod, run->arm, first);

			s = !isnan(s) ? s : mean_duration_s(runs, run->pod, ANY, first);
			s = !isnan(s) ? s : mean_duration_s(runs, run->pod, ANY, !first);
			s = !isnan(s) ? s : mean_duration_s(runs, ANY, ANY, first);
			s = !isnan(s) ? s : mean_duration_s(runs, ANY, ANY, !first);
			left_s += s;
		}
		most_s = fmax(most_s, left_s);
	}
	return most_s;
}

void bench_runs_release(struct bench_runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		if (runs->v[i].has_log)
			run_log_release(&runs->v[i].log);
	for (size_t i = 0; i < runs->n_repeats; i++)
		free(runs->repeats[i].reason);
	free(runs->repeats);
	free(runs->v);
	free(runs->tags);
}
