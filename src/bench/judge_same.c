/* SPDX-License-Identifier: MIT */
/* Did the arms do the same work in the same environment as the control? */
#include <strings.h>
#include <sys/stat.h>

#include "bench/judge_priv.h"

/* A variant that takes less than this share of the control's time gets a warning. */
#define IMPLAUSIBLE 0.5
/* Two logs are copies if their times are equal in this many rows that differ from most rows. */
#define LEAST_COPIED  7
#define LEAST_EQUAL   2 /* the same if all bytes are equal */
#define LEAST_CHANGES 4 /* changes of the step time in equal logs of a coarse clock */
#define PHASES	      4 /* of the clock at a row that are tried */
/* With fewer runs per arm, a difference of settings may be an accident of one log. */
#define LEAST_RUNS 2
/* A setting's name of this many characters also matches longer names that contain it. */
#define LEAST_AKIN 4
/* Rows were written at once if they appeared in less than this share of the log's time. */
#define TIMELY_SHARE 0.9
/* The same if rows came one by one by their stamps, even if the log's clock is far off. */
#define TIMELY_STAMPED_SHARE 0.5
/* Accepted difference between the log's clock and the pod's. */
#define LOG_CLOCK_SHARE 0.05
/* The same if rows came one by one, and if they have stamps. */
#define LOG_CLOCK_PACED_SHARE 0.01
#define LOG_CLOCK_PACED_S     1.0
#define LOG_CLOCK_STAMPED_S   0.2
/* Level at which pairs of runs show a difference. */
#define LOG_CLOCK_P 0.01
/* Weaker evidence, which requires that whole runs confirm the difference. */
#define UNSEEN_P 0.1
/* Two measurements of a run's length may differ by this, in seconds. */
#define LOG_CLOCK_LENGTH_S 0.05
/* Larger differences of the mean SM clock or the share of power-capped samples give a warning. */
#define SM_CLOCK_SHARE	0.01
#define POWER_CAP_SHARE 0.10
/* The same for busy cores of the host.  A faster program needs more CPU to feed it, but a second
 * process that computes half of the steps doubles the load. */
#define CORES_TIMES 1.5
#define CORES_MORE  0.5
#define VALUE_SIZE  128
/* Whole runs get a warning if they are this much shorter than the score explains. */
#define SKIPPED_S     0.5
#define SKIPPED_SHARE 0.25

static void compare_pair(struct judge *judge, struct judge_run *run,
			 const struct judge_run *control)
{
	if (control == NULL || control->odd || run->log == NULL || control->log == NULL)
		return;
	const struct run_log *a = control->log;
	const struct run_log *b = run->log;
	run_log_same_work(a, b, &run->hits);
	if (b->kind != RUN_LOG_SCORE && b->n_rows > 0 && a->n_rows > 0)
		guard_check_losses(&run->hits,
				   &(struct guard_losses){ a->rows, a->n_rows, a->val_loss,
							   a->val_step, judge->hi },
				   &(struct guard_losses){ b->rows, b->n_rows, b->val_loss,
							   b->val_step, judge->hi },
				   &judge->rule.losses, judge->arms[run->arm].numerics_changed);
	if (run->has_window && control->has_window &&
	    run->times.clock == STEP_CLOCK_TOK_CUMULATIVE &&
	    control->times.clock == STEP_CLOCK_TOK_CUMULATIVE &&
	    guard_clock_lag(control->window.lag_steps, run->window.lag_steps))
		guard_add(&run->hits, GUARD_CLOCK_LAG, false,
			  "the log's clock runs %.2f steps ahead of the GPU, the control's %.2f; "
			  "do not compare means of the printed tok/s",
			  run->window.lag_steps, control->window.lag_steps);
	if (run->y < IMPLAUSIBLE * control->y)
		guard_add(&run->hits, GUARD_IMPLAUSIBLE, false,
			  "%.4g vs. %.4g: less than half the control's time; verify that the run "
			  "did the same work",
			  run->y, control->y);
}

static bool is_same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* The time of row i in units of 1e-6: since the row before, of a step, or as a rate; NAN: none. */
static double get_row_time(const struct step_row *rows, size_t i)
{
	if (!isnan(rows[i].train_ms))
		return i == 0 ? (double)NAN
			      : round(1e6 * (rows[i].train_ms - rows[i - 1].train_ms));
	return round(1e6 * (isnan(rows[i].step_ms) ? rows[i].tok_s : rows[i].step_ms));
}

/* How often must the step time change to explain the times? Ticks of a steady run are regular. */
static size_t count_changes(const struct step_row *rows, size_t n, double tick_ms)
{
	double lo[PHASES] = { 0.0 }, hi[PHASES]; /* ms per step, by the clock's phase at `from` */
	size_t changes = 0, from = 0;

	for (size_t i = 1; i < n; i++) {
		double steps = rows[i].step - rows[from].step;
		double ms = rows[i].train_ms - rows[from].train_ms;
		bool fits = false, first = i == from + 1;

		for (size_t k = 0; k < PHASES; k++) {
			double least = ms - tick_ms * (double)(k + 1) / PHASES;
			double most = least + tick_ms * (1.0 + 1.0 / PHASES);

			lo[k] = fmax(first ? 0.0 : lo[k], least / steps);
			hi[k] = fmin(first ? (double)INFINITY : hi[k], most / steps);
			fits |= lo[k] <= hi[k];
		}
		changes += fits ? 0 : 1;
		from = fits ? from : i;
	}
	return changes;
}

/* Do the logs have the same times, in a pattern that two runs do not print by chance? */
static bool has_same_rows(const struct run_log *a, const struct run_log *b, bool equal)
{
	AUTO_FREE double *time = xmalloc((a->n_rows + 1) * sizeof(*time));
	double tick = (double)INFINITY;
	size_t n = 0;

	if (a->kind != RUN_LOG_TRAINING || b->kind != RUN_LOG_TRAINING || a->n_rows != b->n_rows)
		return false;
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct step_row *x = &a->rows[i], *y = &b->rows[i];

		if (x->step != y->step || !is_same_value(x->train_ms, y->train_ms) ||
		    !is_same_value(x->step_ms, y->step_ms) || !is_same_value(x->tok_s, y->tok_s))
			return false;
		time[n] = get_row_time(a->rows, i);
		if (n > 0 && time[n] != time[n - 1])
			tick = fmin(tick, fabs(time[n] - time[n - 1]));
		n += isnan(time[n]) ? 0 : 1;
	}
	double median = values_median(time, n);
	size_t far = array_count(one, time, n, fabs(*one - median) > 1.5 * tick);
	size_t off = array_count(one, time, n, fabs(*one - median) > 0.5 * tick);
	return far >= (equal ? LEAST_EQUAL : LEAST_COPIED) ||
	       (equal && off >= LEAST_COPIED &&
		(isnan(a->rows[a->n_rows - 1].train_ms) ||
		 count_changes(a->rows, a->n_rows, tick / 1e6) >= LEAST_CHANGES));
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
				     x.st_ino == y.st_ino);
}

/* One log imported as two runs would fake precision. Runs of a bench have their own logs. */
static void check_copied_log(struct judge *judge, struct judge_run *run)
{
	if (run->state != RUN_STATE_CLAIMED || run->log == NULL)
		return;
	for (const struct judge_run *o = judge->runs; o < run; o++) {
		if (o->log == NULL)
			continue;
		if (strcmp(o->log->sha256, run->log->sha256) == 0) {
			/* Scores of a cost model and times of a coarse clock may be equal. */
			guard_add(&run->hits, GUARD_COPY,
				  is_same_file(o->log->path, run->log->path) ||
					  has_same_rows(o->log, run->log, true),
				  "the log is a byte-for-byte copy of another run's log");
			return;
		}
		if (has_same_rows(o->log, run->log, false)) {
			guard_add(&run->hits, GUARD_COPY, true,
				  "the log has the same times as another run's log, row by row");
			return;
		}
	}
}

void judge_compare_runs(struct judge *judge)
{
	AUTO_FREE double *val = judge_new_array(judge);
	double seed = (double)NAN;
	size_t n_val = 0;
	bool same = true;

	/* A control whose work differs from that of most controls is invalid, not the variant. */
	judge_each (run, judge, 0) {
		struct guard_hits hits = { 0 }, why = { 0 };
		size_t n = 0, apart = 0;

		judge_each (other, judge, 0) {
			if (other == run || other->log == NULL || run->log == NULL)
				continue;
			hits.n = 0;
			run_log_same_work(other->log, run->log, &hits);
			if (hits.n > 0)
				why = hits;
			apart += hits.n > 0 ? 1 : 0;
			n++;
		}
		run->odd = 2 * apart > n;
		if (run->odd)
			guard_add(&run->hits, GUARD_SAME, true, "%s", why.hit[0].text);
	}
	/* Widen the tolerance by the spread of the control's losses, if its runs share a seed. */
	judge_each (run, judge, 0) {
		if (run->log == NULL || isnan(run->log->val_loss))
			continue;
		same &= n_val == 0 || run->log->run.seed == seed;
		seed = run->log->run.seed;
		val[n_val++] = run->log->val_loss;
	}
	if (n_val >= 3 && same)
		guard_loss_widen(&judge->rule.losses, stats_sd(val, n_val));
	array_each (run, judge->runs, judge->n_runs)
		check_copied_log(judge, run);
	judge_each (run, judge, JUDGE_ANY)
		if (run->arm != 0) {
			const struct judge_run *control = judge_find_run(judge, 0, run);

			/* An audit has no control in the block of an A/A run. */
			if (control == NULL && judge->arms[run->arm].aa)
				control = judge_next(judge, 0, NULL);
			compare_pair(judge, run, control);
		}
}

static void collect_hits(const struct judge *judge, struct judge_contrast *c)
{
	for (int hard = 1; hard >= 0; hard--)
		judge_each (run, judge, c->arm)
			array_each (hit, run->hits.hit, run->hits.n)
				if (hit->hard == (hard == 1))
					guard_add(&c->hits, hit->guard, hit->hard, "%s", hit->text);
	/* A restarted control changes the difference, too; processes left behind slow all arms. */
	judge_each (run, judge, JUDGE_ANY)
		array_each (hit, run->hits.hit, run->hits.n)
			if (run->arm != c->arm &&
			    (hit->guard == GUARD_LEFT ||
			     (hit->guard == GUARD_RESTARTED && run->arm == c->base)))
				guard_add(&c->hits, hit->guard, false, "%s: %s",
					  run->arm == c->base ? "the control"
							      : judge->arms[run->arm].tag,
					  hit->text);
}

static bool names_overlap(const char *a, const char *b)
{
	const char *longer = strlen(a) > strlen(b) ? a : b;
	const char *shorter = longer == a ? b : a;

	return strlen(shorter) < LEAST_AKIN ? strcasecmp(a, b) == 0
					    : strcasestr(longer, shorter) != NULL;
}

/* Is that setting declared?  Part of its name is enough: CUDA_GRAPHS, "cuda_graphs". */
static bool is_declared(const struct judge_arm *arm, const char *key)
{
	return any_of(i, arm->n_declared, names_overlap(arm->declared[i], key));
}

/* The log of a run if it can have settings, or NULL. */
static const struct run_log *get_settings_log(const struct judge_run *run)
{
	return run->log != NULL && run->log->n_rows > 0 ? run->log : NULL;
}

/* The value that all runs of an arm print, or NULL if they differ.  *n: number of runs with
 * settings.  *wavers: true if one log prints several values. */
static const char *get_setting(const struct judge *judge, size_t arm, const char *key, size_t *n,
			       bool *wavers)
{
	const char *value = NULL;
	bool agree = true;

	*n = 0;
	*wavers = false;
	judge_each (run, judge, arm) {
		if (run->log == NULL)
			continue;
		const char *one = run_settings_get(&run->log->settings, key);
		*wavers |= one != NULL && one[0] == '\0';
		if (get_settings_log(run) == NULL)
			continue;
		agree &=
			one != NULL && one[0] != '\0' && (value == NULL || strcmp(one, value) == 0);
		value = one;
		++*n;
	}
	return agree ? value : NULL;
}

/* Does the setting name the place of a run's output (output_dir, run_name), and do both values
 * differ only by the tags of their arms?  Such a setting does not change what is computed. */
static bool is_own_place(const char *key, const char *a, const char *tag_a, const char *b,
			 const char *tag_b)
{
	static const char *const keys[] = { "output_dir", "out_dir",  "outdir",	       "save_dir",
					    "log_dir",	  "logdir",   "run_dir",       "run_name",
					    "run_id",	  "exp_name", "checkpoint_dir" };
	const char *at_a = strstr(a, tag_a), *at_b = strstr(b, tag_b);

	if (!any_of(i, LENGTH(keys), strcasecmp(keys[i], key) == 0) || at_a == NULL || at_b == NULL)
		return false;
	return at_a - a == at_b - b && strncmp(a, b, (size_t)(at_a - a)) == 0 &&
	       strcmp(at_a + strlen(tag_a), at_b + strlen(tag_b)) == 0;
}

static void compare_settings(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_arm *arm = &judge->arms[c->arm];
	const struct judge_run *run =
		array_find(one, judge->runs, judge->n_runs,
			   one->counted && one->arm == 0 && get_settings_log(one) != NULL);

	if (run == NULL)
		return;
	array_each (setting, run->log->settings.v, run->log->settings.n) {
		const char *key = setting->key;
		size_t n, m;
		bool wavers;
		const char *a = get_setting(judge, 0, key, &n, &wavers);
		const char *b = get_setting(judge, c->arm, key, &m, &wavers);

		if (a == NULL || is_declared(arm, key))
			continue;
		if (wavers)
			guard_add(&c->hits, GUARD_SETTINGS, false,
				  "a log prints %s with several values, the control's %.40s", key,
				  a);
		if (b == NULL || strcmp(a, b) == 0 ||
		    is_own_place(key, a, judge->arms[0].tag, b, arm->tag))
			continue;
		bool hard = arm->declares_all && n >= LEAST_RUNS && m >= LEAST_RUNS;
		guard_add(&c->hits, hard ? GUARD_SAME : GUARD_SETTINGS, hard,
			  "its logs print %s %.40s, the control's %.40s", key, b, a);
	}
}

/* Median of a number in the scores of an arm's usable runs; NAN: none. */
static double get_median_score(const struct judge *judge, size_t arm, const char *key)
{
	AUTO_FREE double *v = judge_new_array(judge);
	size_t n = 0;

	judge_each (run, judge, arm) {
		v[n] = run->log == NULL || !judge_is_usable(run)
			       ? (double)NAN
			       : json_get_number(run->log->score.root, key, (double)NAN);
		n += v[n] > 0.0 ? 1 : 0;
	}
	return values_median(v, n);
}

/* Do minimum and median time of the same runs agree on the winner? */
static void compare_metrics(const struct judge *judge, struct judge_contrast *c)
{
	static const char *const keys[] = { "best_us", "median_us" };
	double margin = log1p(judge->rule.paired.margin), d[2];

	for (int i = 0; i < 2; i++)
		d[i] = log(get_median_score(judge, 0, keys[i]) /
			   get_median_score(judge, c->arm, keys[i]));
	/* False for NAN. */
	if (d[0] * d[1] < 0.0 && fabs(d[0]) > margin && fabs(d[1]) > margin)
		guard_add(&c->hits, GUARD_METRICS, false,
			  "%+.2f%% by best_us, %+.2f%% by median_us", 100.0 * expm1(d[0]),
			  100.0 * expm1(d[1]));
}

/* Find "2.9.1" for "torch" in "python /usr/bin/python3.11; torch 2.9.1". */
static bool find_version(const char *runtime, const char *key, char out[VALUE_SIZE])
{
	struct str rest = str_from(runtime != NULL ? runtime : ""), part, word;

	while (str_next(&rest, ';', &part)) {
		part = str_trim(part);
		if (!str_next(&part, ' ', &word) || !str_eq_cstr(word, key))
			continue;
		(void)snprintf(out, VALUE_SIZE, "%.*s", (int)part.len, part.p);
		return part.len > 0;
	}
	return false;
}

/* Count the arm's runs by this program in *n_own; returns how many of them loaded torch. */
static size_t count_torch_runs(const struct judge *judge, size_t arm, size_t *n_own)
{
	char value[VALUE_SIZE];
	size_t seen = 0;

	*n_own = 0;
	judge_each (run, judge, arm)
		if (run->state != RUN_STATE_CLAIMED) {
			++*n_own;
			seen += find_version(run->runtime, "torch", value);
		}
	return seen;
}

/* Compare the versions of two runs.  Runs on different GPU models are never the same work. */
static void compare_versions(const struct judge *judge, struct judge_contrast *c,
			     const struct judge_run *run, const struct judge_run *control)
{
	/* `decides`: another version changes the measurement, unlike another path of python. */
	static const struct {
		const char *key;
		bool decides;
	} parts[] = { { "gpu", true },	   { "gpu_uuid", true },   { "torch", true },
		      { "triton", true },  { "flash_attn", true }, { "power_limit", false },
		      { "python", false }, { "driver", false } };
	const struct judge_arm *arm = &judge->arms[c->arm];

	for (size_t k = 0; k < LENGTH(parts); k++) {
		char a[VALUE_SIZE], b[VALUE_SIZE];

		if (find_version(control->runtime, parts[k].key, a) &&
		    find_version(run->runtime, parts[k].key, b) && strcmp(a, b) != 0 &&
		    !is_declared(arm, parts[k].key))
			guard_add(&c->hits, k < 2 ? GUARD_SAME : GUARD_RUNTIME,
				  k < 2 || (parts[k].decides && arm->declares_all),
				  "it ran with %s %.50s, the control with %.50s", parts[k].key, b,
				  a);
	}
}

static void compare_runtimes(const struct judge *judge, struct judge_contrast *c)
{
	size_t n, m, a = count_torch_runs(judge, 0, &n);
	size_t b = count_torch_runs(judge, c->arm, &m);

	/* If only one arm loaded torch, nothing was compared. */
	if (n > 0 && m > 0 && (a == 0) != (b == 0))
		guard_add(&c->hits, GUARD_UNSEEN, false,
			  "torch was loaded in %zu of %zu runs, and in %zu of %zu runs of the "
			  "control, so versions were not compared",
			  b, m, a, n);
	judge_each (run, judge, c->arm) {
		const struct judge_run *control = judge_find_run(judge, 0, run);

		if (control != NULL)
			compare_versions(judge, c, run, control);
	}
}

/* The source that the logs of an arm embed, or NULL.  Adds a hit if there are several. */
static const char *find_source(const struct judge *judge, struct judge_contrast *c, size_t arm)
{
	const char *first = NULL;

	judge_each (run, judge, arm) {
		const char *source = run->log != NULL ? run->log->run.source_sha256 : NULL;

		if (source != NULL && first != NULL && strcmp(source, first) != 0)
			guard_add(
				&c->hits, GUARD_SAME, true,
				"%s logs contain several sources, with the hashes %.12s and %.12s",
				arm == c->base ? "the control's" : "the variant's", first, source);
		first = first == NULL ? source : first;
	}
	return first;
}

static void compare_sources(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_arm *arm = &judge->arms[c->arm];
	const char *a = find_source(judge, c, c->base);
	const char *b = find_source(judge, c, c->arm);
	bool hard = arm->declares_all || arm->aa;

	if (a != NULL && b != NULL && strcmp(a, b) != 0)
		guard_add(&c->hits, hard ? GUARD_SAME : GUARD_SETTINGS, hard,
			  "the source in its logs has the hash %.12s, the control's has %.12s", b,
			  a);
}

/* Mean of a member of struct health_sum over an arm's usable runs; NAN: unknown. */
static double get_mean_health(const struct judge *judge, size_t arm, size_t offset)
{
	AUTO_FREE double *x = judge_new_array(judge);
	size_t n = 0;

	judge_each (run, judge, arm)
		if (run->health != NULL && judge_is_usable(run) &&
		    !isnan(judge_get_health(run->health, offset)))
			x[n++] = judge_get_health(run->health, offset);
	return stats_mean(x, n);
}

#define MEAN(arm, field) get_mean_health(judge, arm, offsetof(struct health_sum, field))

/* Did the rows appear at about the pace of the log's clock? */
static bool is_timely(const struct health_sum *h)
{
	return h != NULL && h->printed_s > 0.0 &&
	       h->shown_most_s > h->printed_s * (h->stamped && h->paced ? TIMELY_STAMPED_SHARE
									: TIMELY_SHARE);
}

/* Did more time pass between the arm's rows than its log counts, compared with the other arm? */
static bool log_counts_less(const struct judge *judge, size_t arm, size_t other, double margin)
{
	return MEAN(arm, shown_least_s) - MEAN(arm, printed_s) >
	       MEAN(other, shown_most_s) - MEAN(other, printed_s) + margin;
}

/* Seconds by which an arm's window, timed by its logs, exceeds its whole runs; NAN: unknown. */
static double window_exceeds_run_s(const struct judge *judge, size_t arm)
{
	return MEAN(arm, printed_s) - MEAN(arm, took_s) - LOG_CLOCK_LENGTH_S;
}

/* Does the arm's window exceed its runs, while the other arm's does not? */
static bool only_this_exceeds(const struct judge *judge, size_t arm, size_t other)
{
	return window_exceeds_run_s(judge, arm) > 0.0 && window_exceeds_run_s(judge, other) <= 0.0;
}

/* Seconds gained in the window, by the pod's clock. */
static double get_seen_gain(const struct health_sum *control, const struct health_sum *run)
{
	return (control->shown_least_s + control->shown_most_s - run->shown_least_s -
		run->shown_most_s) /
	       2.0;
}

/* Does the pod's clock give the length of the window precisely enough? */
static bool is_window_known(const struct health_sum *h)
{
	return h->shown_most_s - h->shown_least_s < h->printed_s / 2.0;
}

/* Go to the next pair of usable runs of control and arm with health data.  False at the end. */
static bool find_next_pair(const struct judge *judge, size_t arm, const struct judge_run **control,
			   const struct judge_run **run)
{
	while ((*control = judge_next(judge, 0, *control)) != NULL) {
		*run = judge_find_run(judge, arm, *control);
		if (*run != NULL && judge_is_usable(*run) && judge_is_usable(*control) &&
		    (*run)->health != NULL && (*control)->health != NULL)
			return true;
	}
	return false;
}

#define each_pair(control, run, judge, arm)                \
	for (const struct judge_run *control = NULL, *run; \
	     find_next_pair(judge, arm, &(control), &(run));)

/* Is more than half of the difference, and more than `least` of the window, only in the logs? */
static bool is_gain_in_log_only(const struct judge *judge, const struct judge_contrast *c,
				double level, double least)
{
	AUTO_FREE double *gained = judge_new_array(judge);
	size_t n = 0;

	each_pair (control, run, judge, c->arm)
		if (is_window_known(run->health) && is_window_known(control->health)) {
			double printed = control->health->printed_s - run->health->printed_s;
			double seen = get_seen_gain(control->health, run->health);

			gained[n++] = (printed - seen) / control->health->printed_s;
		}
	struct paired only = paired_compare(gained, n, &judge->rule.paired);
	return only.p < level && only.mean / c->paired.mean > 0.5 && fabs(only.mean) > least;
}

/* Is one arm's log clock wrong?  Then more time passes between its rows than the log counts.  The
 * excess is compared with the other arm's, so that pauses of both arms do not matter.  If rows came
 * one by one, a smaller difference is enough, and if they also have stamps, the hit is hard. */
static void compare_log_clocks(const struct judge *judge, struct judge_contrast *c)
{
	double a = MEAN(0, printed_s), margin = LOG_CLOCK_SHARE * a;
	bool paced = true, stamped = true;
	bool own = only_this_exceeds(judge, c->arm, 0);

	if (own || only_this_exceeds(judge, 0, c->arm)) {
		size_t arm = own ? c->arm : 0;

		guard_add(&c->hits, GUARD_LOG_CLOCK, true,
			  "%s window took %.1f s by the log's clock, but whole runs took %.1f s",
			  own ? "the variant's" : "the control's", MEAN(arm, printed_s),
			  MEAN(arm, took_s));
		return;
	}
	judge_each (run, judge, JUDGE_ANY) {
		if ((run->arm != 0 && run->arm != c->arm) || !judge_is_usable(run))
			continue;
		if (!is_timely(run->health))
			return;
		paced &= run->health->paced;
		stamped &= run->health->stamped;
	}
	if (paced && stamped)
		margin = LOG_CLOCK_STAMPED_S + LOG_CLOCK_PACED_SHARE * a;
	else if (paced)
		margin = fmin(margin, LOG_CLOCK_PACED_S + LOG_CLOCK_PACED_SHARE * a);
	if (log_counts_less(judge, c->arm, 0, margin) ||
	    log_counts_less(judge, 0, c->arm, margin) ||
	    (paced && stamped &&
	     is_gain_in_log_only(judge, c, LOG_CLOCK_P, judge->rule.paired.margin)))
		guard_add(&c->hits, GUARD_LOG_CLOCK, paced && stamped,
			  "window: %.2f s by the log's clock, %.2f to %.2f s by the pod's clock; "
			  "control: %.2f s, and %.2f to %.2f s",
			  MEAN(c->arm, printed_s), MEAN(c->arm, shown_least_s),
			  MEAN(c->arm, shown_most_s), a, MEAN(0, shown_least_s),
			  MEAN(0, shown_most_s));
}

/* Do the times at which rows appeared confirm a gain of this size?  A program that holds rows back
 * can shift the window by half of the unknown part. */
static bool is_gain_confirmed(const struct health_sum *h, double gain_s)
{
	return is_timely(h) &&
	       (h->paced || h->shown_most_s - h->shown_least_s < fabs(gain_s) / 2.0);
}

void judge_refuse_late_rows(const struct judge *judge, const struct judge_contrast *c,
			    struct refusal *why)
{
	double claimed = MEAN(0, printed_s) - MEAN(c->arm, printed_s);
	const struct paired_rule *rule = &judge->rule.paired;
	double least_s = rule->margin * MEAN(0, printed_s);
	AUTO_FREE double *gained = judge_new_array(judge);
	bool witnessed = true, paced = true, timely;
	double shown = 0.0;
	size_t n = 0;

	/* compare_log_clocks() reports a window that is longer than its run. */
	if (!(MEAN(0, printed_s) > 0.0) || window_exceeds_run_s(judge, 0) > 0.0)
		return;
	each_pair (control, run, judge, c->arm) {
		witnessed &= is_gain_confirmed(control->health, claimed) &&
			     is_gain_confirmed(run->health, claimed);
		paced &= control->health->paced && run->health->paced;
		shown += get_seen_gain(control->health, run->health);
		gained[n++] = control->health->took_s - run->health->took_s;
	}
	struct paired seen = paired_compare(gained, n, rule);
	timely = witnessed;
	witnessed &= paced ? !is_gain_in_log_only(judge, c, UNSEEN_P, 0.0)
			   : shown / (double)n / claimed >= 0.5;
	if (witnessed || isnan(seen.mean) ||
	    (c->paired.p < rule->alpha ? seen.p < rule->alpha && seen.mean / claimed >= 0.5
				       : !(seen.p < LOG_CLOCK_P && fabs(seen.mean) > least_s)))
		return;
	const struct judge_run *first = judge_next(judge, c->arm, NULL);
	why->reason = first != NULL && first->times.clock == STEP_CLOCK_STAMPS ? VERDICT_WHOLE_RUNS
		      : timely						       ? VERDICT_NOT_SOONER
									       : VERDICT_AT_ONCE;
	print_into(why->details, "the log gained %.2f s, whole runs %.2f s", claimed, seen.mean);
}

/* Was most of the gain in the window lost outside of it in all pairs (startup, compilation)? Hard
 * if the variant validates more often, which the log's clock does not count. */
static void compare_whole_runs(const struct judge *judge, struct judge_contrast *c)
{
	double claimed = MEAN(0, printed_s) - MEAN(c->arm, printed_s);
	AUTO_FREE double *lost = judge_new_array(judge);
	bool validates = false;
	size_t n = 0;

	each_pair (control, run, judge, c->arm) {
		const struct health_sum *a = control->health, *b = run->health;

		lost[n++] = a->printed_s - b->printed_s - a->took_s + b->took_s;
		validates |= b->n_validated > a->n_validated;
	}
	struct paired only = paired_compare(lost, n, &judge->rule.paired);
	if (!(window_exceeds_run_s(judge, 0) > 0.0) && c->paired.p < judge->rule.paired.alpha &&
	    only.p < LOG_CLOCK_P && only.mean / claimed > 0.5)
		guard_add(&c->hits, GUARD_WHOLE, validates,
			  "the window gained %.2f s, whole runs %.2f s: %s took longer", claimed,
			  claimed - only.mean,
			  validates ? "validations that the control does not run"
				    : "the rest of the run");
}

/* Seconds per unit of a score, by the end of its name ("best_us"); 0: it is not a time. */
static double get_unit_s(const char *key)
{
	const char *last = strrchr(key, '_');
	struct str unit = str_from(last != NULL ? last + 1 : key);

	return str_is_among(unit, "s sec seconds") ? 1.0
	       : str_eq_cstr(unit, "ms")	   ? 1e-3
	       : str_eq_cstr(unit, "us")	   ? 1e-6
						   : 0.0;
}

/* The score times a part of the run, so whole runs cannot gain a larger share than the score does.
 * If they do in all pairs, the variant left something out, such as the check of its result.  If
 * they gain less than half of the seconds that the score gains, work was moved out of what the
 * score times, or the score is false, as it is if a run takes less time than its score. */
static void compare_score_runs(const struct judge *judge, struct judge_contrast *c)
{
	AUTO_FREE double *excess = judge_new_array(judge), *lost = judge_new_array(judge);
	double a = MEAN(0, took_s), b = MEAN(c->arm, took_s), claimed = 0.0;
	bool fits = !judge->rule.higher;
	size_t n = 0, n_longer = 0;

	each_pair (control, run, judge, c->arm) {
		const char *key = run->log->score_key;
		double unit_s = key != NULL ? get_unit_s(key) : 0.0;
		double gained_s = control->health->took_s - run->health->took_s;

		fits &= control->y * unit_s <= control->health->took_s;
		n_longer += run->y * unit_s > run->health->took_s + LOG_CLOCK_LENGTH_S ? 1 : 0;
		claimed += (control->y - run->y) * unit_s;
		lost[n] = (control->y - run->y) * unit_s - gained_s;
		excess[n++] = log(run->y / control->y) -
			      log(run->health->took_s / control->health->took_s);
	}
	struct paired more = paired_compare(excess, n, &judge->rule.paired);
	struct paired only = paired_compare(lost, n, &judge->rule.paired);
	claimed /= (double)n;
	if (fits && 2 * n_longer > n)
		guard_add(&c->hits, GUARD_WHOLE, false,
			  "%zu of %zu runs took less time than their score, the control's did not: "
			  "the score is not the time that passed",
			  n_longer, n);
	if (fits && c->paired.p < judge->rule.paired.alpha && claimed > SKIPPED_S &&
	    only.p < LOG_CLOCK_P && only.mean / claimed > 0.5)
		guard_add(&c->hits, GUARD_WHOLE, false,
			  "the score gained %.2f s, whole runs %.2f s: the rest of the run took "
			  "longer, or the score is not the time that passed",
			  claimed, claimed - only.mean);
	if (c->paired.mean > 0.0 && a - b > SKIPPED_S && more.mean > log1p(SKIPPED_SHARE) &&
	    more.p < LOG_CLOCK_P)
		guard_add(&c->hits, GUARD_WHOLE, false,
			  "whole runs took %.1f s, the control's %.1f s: the score explains "
			  "only part of the difference; does the variant leave something out?",
			  b, a);
}

/* If a run ends before the processes that it started, its time does not cover all of its work.  If
 * runs of both arms do (because of a compiler's server, for example), that is only a warning. */
static void check_unfinished(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_run *first = judge_next(judge, c->arm, NULL);
	double a = MEAN(0, unfinished), b = MEAN(c->arm, unfinished);
	bool is_control = a >= 0.5, is_variant = b >= 0.5;

	if (isnan(a) || isnan(b) || !(is_control || is_variant) || first->log == NULL ||
	    first->log->kind == RUN_LOG_TRAINING)
		return;
	c->left_by_one = is_control != is_variant;
	guard_add(&c->hits, GUARD_LEFT, c->left_by_one && first->log->kind == RUN_LOG_WALL,
		  "%s ended while processes that they had started still ran: the time does not "
		  "include all of the work",
		  is_control && is_variant ? "all runs"
		  : is_control		   ? "the control's runs"
					   : "its runs");
}

static void compare_health(const struct judge *judge, struct judge_contrast *c)
{
	double a = MEAN(0, busy_cores), b = MEAN(c->arm, busy_cores);
	AUTO_FREE double *more = judge_new_array(judge);
	size_t n = 0;

	each_pair (control, run, judge, c->arm)
		more[n++] = run->health->busy_cores - control->health->busy_cores;
	if (b > CORES_TIMES * a && b > a + CORES_MORE &&
	    paired_compare(more, n, &judge->rule.paired).p < LOG_CLOCK_P)
		guard_add(&c->hits, GUARD_CORES, false,
			  "%.1f cores of the pod were busy, %.1f with the control; does another "
			  "process do part of the work?",
			  b, a);
	a = MEAN(0, sm_mhz);
	b = MEAN(c->arm, sm_mhz);
	if (fabs(b / a - 1.0) > SM_CLOCK_SHARE)
		guard_add(&c->hits, GUARD_SM_CLOCK, false,
			  "mean SM clock %.0f MHz, the control's %.0f MHz", b, a);
	a = MEAN(0, power_cap_share);
	b = MEAN(c->arm, power_cap_share);
	if (fabs(b - a) > POWER_CAP_SHARE)
		guard_add(&c->hits, GUARD_POWER_CAP, false,
			  "active in %.0f%% of the samples, in %.0f%% of the control's", 100.0 * b,
			  100.0 * a);
}

/* Mean difference of the training losses at equal steps; NAN: none. */
static double compare_training_losses(const struct run_log *a, const struct run_log *b)
{
	double sum = 0.0;
	size_t i = 0, k = 0, n = 0;

	while (i < a->n_rows && k < b->n_rows) {
		const struct step_row *x = &a->rows[i], *y = &b->rows[k];

		if (x->step == y->step && !isnan(x->train_loss) && !isnan(y->train_loss)) {
			sum += y->train_loss - x->train_loss;
			n++;
		}
		i += x->step <= y->step ? 1 : 0;
		k += y->step <= x->step ? 1 : 0;
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

/* Collect by how much each run's loss exceeds the control's.  False if a pair has no such loss. */
static bool collect_loss_differences(const struct judge *judge, const struct judge_contrast *c,
				     bool by_val, double *apart, size_t *n)
{
	bool all = true;

	*n = 0;
	judge_each (run, judge, c->arm) {
		const struct judge_run *control = judge_find_run(judge, c->base, run);

		if (!judge_is_main(run) || !judge_is_usable(run) || control == NULL ||
		    !judge_is_usable(control))
			continue;
		const struct run_log *a = control->log, *b = run->log;
		if (!by_val)
			apart[*n] = compare_training_losses(a, b);
		else if (a->val_step == b->val_step && !(a->val_step < judge->hi))
			apart[*n] = b->val_loss - a->val_loss;
		else
			apart[*n] = (double)NAN;
		if (isnan(apart[*n]))
			all = false;
		else
			++*n;
	}
	return all && *n > 0;
}

/* Compare losses over all blocks.  They are the same if the 90 % interval is within the margin, and
 * worse if it is not and the variant's are significantly higher. */
static void compare_quality(const struct judge *judge, struct judge_contrast *c)
{
	struct judge_quality *q = &c->quality;
	AUTO_FREE double *apart = judge_new_array(judge);
	double margin = judge->rule.losses.margin;
	size_t n;

	q->by_val = collect_loss_differences(judge, c, true, apart, &n);
	if (!q->by_val)
		(void)collect_loss_differences(judge, c, false, apart, &n);
	q->nats = paired_compare(apart, n, &judge->rule.paired);
	q->same = q->nats.tost_lo > -margin && q->nats.tost_hi < margin;
	q->worse = !q->same && n >= VERDICT_MIN_BLOCKS && q->nats.mean > 0.0 &&
		   q->nats.p < judge->rule.paired.alpha && !judge->arms[c->arm].aa;
	if (q->worse)
		guard_add(&c->hits, GUARD_QUALITY, false,
			  "%s is worse by %.4f nats [%.4f, %.4f] over %zu pairs (margin %g)",
			  q->by_val ? "validation loss" : "training loss", q->nats.mean, q->nats.lo,
			  q->nats.hi, n, margin);
}

void judge_compare_arms(const struct judge *judge, struct judge_contrast *c)
{
	collect_hits(judge, c);
	if (judge->training)
		compare_quality(judge, c);
	else
		compare_metrics(judge, c);
	compare_settings(judge, c);
	compare_runtimes(judge, c);
	compare_sources(judge, c);
	check_unfinished(judge, c);
	compare_health(judge, c);
	compare_log_clocks(judge, c);
	compare_whole_runs(judge, c);
	if (!judge->training)
		compare_score_runs(judge, c);
}
