/* SPDX-License-Identifier: MIT */
/* From a plan to a bench under way; for `bench run` and `bench audit`. */
#include "config.h"

#include "bench/start.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "bench/paired.h"
#include "bench/stats.h"
#include "conf/conf.h"

#define MAX_TEXT (1024U * 1024)

static void
add_clean_line(struct buf *out, const char *label, const char *text)
{
	buf_appendf(out, "  %-10s", label);
	utf8_sanitize(out, str_from(text));
	buf_append_char(out, '\n');
}

/* The exact command of an arm; its lines stay lines. */
static void
add_command(struct buf *out, const struct plan *plan, size_t arm, size_t pod)
{
	char tag[PLAN_TAG_SIZE];
	struct buf command;
	struct str rest, line;
	bool first = true;

	buf_init(&command, 65536);
	plan_arm_tag(plan, arm, tag);
	buf_appendf(&command, "%s: ", tag);
	plan_command(plan, arm, pod, &command);
	rest = (struct str){ command.data, command.len };
	while (str_next(&rest, '\n', &line)) {
		buf_append_str(out, first ? "            " : "              ");
		utf8_sanitize(out, line);
		buf_append_char(out, '\n');
		first = false;
	}
	buf_release(&command);
}

/* What a spread of so many per cent allows to see; for noise not known. */
static void
add_guesses(struct buf *out, const struct plan *plan, size_t blocks)
{
	static const double sd[] = { 0.001, 0.003, 0.01 };

	buf_append_str(out, "  shows     its noise there is not known yet "
			    "(bench audit tells)\n"
			    "            at a spread of");
	for (size_t i = 0; i < 3; i++)
		buf_appendf(out, "%s %g%%: %.2f%%", i > 0 ? "," : "",
			    100.0 * sd[i],
			    stats_pct(paired_mde(sd[i], blocks,
						 plan->rule.paired.alpha,
						 plan->rule.paired.power)));
	buf_append_char(out, '\n');
}

/* The noisiest of the plan's pods; NULL where one is not known. */
static const struct noise_entry *
noisiest(const struct plan *plan, const struct noise_register *reg)
{
	const struct noise_entry *worst = NULL;

	for (size_t i = 0; reg != NULL && i < plan->n_pods; i++) {
		const struct noise_entry *e =
			noise_register_find(reg, plan, 0, i, "");

		if (e == NULL)
			return NULL;
		if (worst == NULL || e->noise.sd > worst->noise.sd)
			worst = e;
	}
	return worst;
}

static void
add_power(struct buf *out, const struct plan *plan,
	  const struct noise_entry *known)
{
	size_t blocks = plan->blocks * plan->n_pods;

	if (known == NULL) {
		add_guesses(out, plan, blocks);
		return;
	}
	buf_appendf(out,
		    "  shows     %.2f%% or more in %zu blocks, by the "
		    "noise register: ",
		    stats_pct(noise_mde(&known->noise, blocks)), blocks);
	utf8_sanitize(out, str_from(known->pod));
	buf_appendf(out,
		    "\n            has sd %.2f%% from run to run (%zu A/A "
		    "runs)\n",
		    100.0 * known->noise.sd, known->noise.n_runs);
}

/* Money and minutes: by what runs took when they were last seen. */
static void
add_cost(struct buf *out, const struct plan *plan,
	 const struct noise_entry *known)
{
	double runs = (double)plan_n_runs(plan) / (double)plan->n_pods;
	double rate = 0.0, minutes = (double)NAN;
	size_t unpriced = plan_n_unpriced(plan);

	for (size_t i = 0; i < plan->n_pods; i++)
		if (!isnan(plan->pods[i].usd_per_h))
			rate += plan->pods[i].usd_per_h;
	if (known != NULL && !isnan(known->noise.run_s))
		minutes = runs * (fmax(known->noise.run_s, 1.0) + plan->gap_s) /
			  60.0;
	if (!isnan(minutes))
		buf_appendf(out,
			    "  takes     about %.1f minutes (a run took "
			    "%.0f s last time)\n",
			    minutes, fmax(known->noise.run_s, 1.0));
	else
		buf_appendf(out,
			    "  takes     not known: %.0f runs one after "
			    "another, each at most %g s\n",
			    runs, plan->timeout_s);
	if (rate > 0.0 && !isnan(minutes))
		buf_appendf(out,
			    "  cost      about %.2f USD (%.2f USD an "
			    "hour)\n",
			    rate * minutes / 60.0, rate);
	else if (rate > 0.0)
		buf_appendf(out, "  cost      %.2f USD an hour\n", rate);
	else
		buf_append_str(out, "  cost      no price is given\n");
	if (rate > 0.0 && unpriced > 0)
		buf_appendf(out,
			    "            without %zu pod%s whose price is not "
			    "given\n",
			    unpriced, unpriced == 1 ? "" : "s");
	if (!isnan(plan->minutes))
		buf_appendf(out, "  at most   %g minutes\n", plan->minutes);
	if (!isnan(plan->usd))
		buf_appendf(out, "  at most   %g USD\n", plan->usd);
}

void
bench_describe(struct buf *out, const struct plan *plan,
	       const struct noise_register *reg)
{
	const struct noise_entry *known = noisiest(plan, reg);

	utf8_sanitize(out, str_from(plan->name));
	buf_appendf(out,
		    ": %zu arms x %zu blocks x %zu pod%s, %zu runs with "
		    "burn-in; seed %llu\n",
		    plan_n_arms(plan), plan->blocks, plan->n_pods,
		    plan->n_pods == 1 ? "" : "s", plan_n_runs(plan),
		    (unsigned long long)plan->seed);
	for (size_t pod = 0; pod < plan->n_pods; pod++) {
		add_clean_line(out, "pod", plan->pods[pod].id);
		for (size_t arm = 0; arm < plan->n_variants; arm++)
			add_command(out, plan, arm, pod);
	}
	if (plan->aa) {
		buf_append_str(out, "  A/A arm   ");
		utf8_sanitize(out, str_from(plan->variants[0].tag));
		buf_append_str(out, " once more in each block\n");
	}
	if (plan->reps > 1)
		buf_appendf(out,
			    "  a block   %zu runs of each arm, by their "
			    "medians\n",
			    plan->reps);
	if (plan->confirm > 0)
		buf_appendf(out,
			    "  the best  %zu fresh blocks of it, the "
			    "runner-up and the control\n",
			    plan->confirm);
	add_clean_line(out, "in", plan->cwd);
	add_power(out, plan, known);
	add_cost(out, plan, known);
}

static int
confirm(const struct buf *text, bool yes, struct err *err)
{
	char answer[16];

	(void)fwrite(text->data, 1, text->len, stderr);
	if (yes)
		return 0;
	if (!isatty(STDIN_FILENO))
		return err_set(err, ERR_USAGE,
			       "nobody to ask whether to begin: give --yes");
	(void)fprintf(stderr, "begin? [y/N] ");
	if (fgets(answer, sizeof(answer), stdin) == NULL ||
	    (answer[0] != 'y' && answer[0] != 'Y'))
		return err_set(err, ERR_CANCELLED, "not begun");
	return 0;
}

/* The bytes of the plan's file. */
static int
read_definition(struct buf *out, const struct plan *plan, struct err *err)
{
	FILE *stream = fopen(plan->file, "re");
	char block[65536];
	size_t n;

	if (stream == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", plan->file);
	while ((n = fread(block, 1, sizeof(block), stream)) > 0)
		buf_append(out, block, n);
	(void)fclose(stream);
	return 0;
}

/* Keep the definition as it was given, and where it lay. */
static int
keep_definition(const struct plan *plan, const char *given, const char *path,
		struct err *err)
{
	struct folder_state state = {
		.state = "running",
		.started_ms = clock_real.wall_ms(&clock_real),
		.cost_usd = (double)NAN,
	};
	char real[PATH_MAX];
	struct buf text;
	cJSON *source;
	int result = 0;

	(void)snprintf(state.name, sizeof(state.name), "%s", plan->name);
	buf_init(&text, MAX_TEXT);
	if (given != NULL)
		buf_append_str(&text, given);
	else
		result = read_definition(&text, plan, err);
	if (result == 0)
		result = folder_write(path, "bench.json",
				      (struct str){ text.data, text.len }, err);
	buf_release(&text);
	if (realpath(plan->file, real) == NULL)
		(void)snprintf(real, sizeof(real), "%s", plan->file);
	source = cJSON_CreateObject();
	json_add_string(source, "file", real);
	if (result == 0)
		result = folder_write_json(path, "source.json", source, err);
	cJSON_Delete(source);
	if (result == 0)
		result = folder_write_state(path, &state, err);
	return result;
}

/*
 * Go on in a process of its own, away from the terminal.  1: we are that
 * process; 0: we are the one who called.
 */
static int
detach(const char *path, struct err *err)
{
	char log[FOLDER_PATH_SIZE + 16];
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		return err_set_errno(err, ERR_IO, "cannot start a process");
	if (pid > 0)
		return 0;
	(void)setsid();
	(void)snprintf(log, sizeof(log), "%s/driver.log", path);
	fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		(void)dup2(fd, STDIN_FILENO);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd >= 0) {
		(void)dup2(fd, STDOUT_FILENO);
		(void)dup2(fd, STDERR_FILENO);
	}
	return 1;
}

static int
start_bench(const struct context *env, const struct plan *plan,
	    const char *given, const struct bench_ask *q, struct err *err)
{
	struct bench_drive drive = { .env = env,
				     .plan = plan,
				     .mode = SESSION_RUN,
				     .print = q->print,
				     .accept_new = q->accept_new };
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	char *base = bench_base();
	int lock = -1, status = -1, child = 1;

	if (folder_create(base, plan->name, clock_real.wall_ms(&clock_real), id,
			  path, err) == 0 &&
	    keep_definition(plan, given, path, err) == 0 &&
	    folder_lock(path, &lock, err) == 0) {
		drive.id = id;
		drive.path = path;
		(void)fprintf(stderr, "bench %s in %s\n", id, path);
		if (q->detach) {
			child = detach(path, err);
			status = child < 0 ? -1 : 0;
			if (child == 0)
				printf("%s\n", id);
		}
		if (child == 1)
			status = bench_drive(&drive, err);
	}
	if (lock >= 0)
		(void)close(lock);
	free(base);
	return status;
}

/* The description, with what the register knows where there is one. */
static int
describe(struct buf *out, const struct context *env, const struct plan *plan,
	 struct err *err)
{
	struct noise_register reg;
	struct conf conf;
	char *db_path;

	if (conf_load(&conf, env->config_path, err) != 0)
		return -1;
	db_path = conf_db_path(&conf, env->db_path);
	if (noise_register_load(&reg, db_path, NULL) != 0)
		reg = (struct noise_register){ 0 };
	bench_describe(out, plan, &reg);
	noise_register_release(&reg);
	free(db_path);
	conf_release(&conf);
	return 0;
}

bool
bench_ask_option(struct bench_ask *ask, int option)
{
	/* As BENCH_ASK_OPTIONS has them. */
	bool *const words[BENCH_ASK_COUNT] = { &ask->yes, &ask->detach,
					       &ask->dry, &ask->accept_new };

	if (option < 0 || option >= BENCH_ASK_COUNT)
		return false;
	*words[option] = true;
	return true;
}

int
bench_ask_and_start(const struct context *env, const struct plan *plan,
		    const char *given, const struct bench_ask *ask,
		    struct err *err)
{
	struct buf text;
	int status = -1;

	buf_init(&text, MAX_TEXT);
	if (describe(&text, env, plan, err) != 0)
		status = -1;
	else if (ask->dry)
		status = fwrite(text.data, 1, text.len, stdout) == text.len
				 ? 0
				 : err_set_errno(err, ERR_IO, "cannot write");
	else if (env->read_only)
		err_set(err, ERR_USAGE,
			"this starts programs on pods: not with --read-only");
	else if (confirm(&text, ask->yes, err) == 0)
		status = start_bench(env, plan, given, ask, err);
	buf_release(&text);
	return status;
}

char *
bench_preview(const struct context *env, const char *file, struct err *err)
{
	struct plan plan;
	struct buf text;
	char *result = NULL;

	if (plan_load(&plan, file, err) != 0)
		return NULL;
	buf_init(&text, MAX_TEXT);
	buf_appendf(&text, "$ hgym-tui bench run --yes %s\n\n", file);
	if (describe(&text, env, &plan, err) == 0)
		result = buf_detach(&text);
	buf_release(&text);
	plan_release(&plan);
	return result;
}
