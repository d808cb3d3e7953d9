/* SPDX-License-Identifier: MIT */
/* Driving a bench from the command line; for cmd_bench_*.c. */
#include "config.h"

#include "bench/drive.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "bench/noise_register.h"
#include "bench/preflight.h"
#include "bench/record.h"
#include "bench/report.h"
#include "bench/show.h"
#include "bench/stop.h"
#include "conf/conf.h"
#include "remote/fleet.h"
#include "report/facts_print.h"

#define SAY_MS	   250 /* between two tries to say what waits */
#define MAX_REPORT (16U * 1024 * 1024)

char *
bench_base(void)
{
	char *state = conf_dir_state();
	char *base = xasprintf("%s/benches", state);

	free(state);
	return base;
}

int
bench_find(const char *word, char id[FOLDER_ID_SIZE],
	   char path[FOLDER_PATH_SIZE], struct err *err)
{
	char *base = bench_base();
	size_t n, found = 0;
	char **ids = folder_list(base, &n);

	id[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		bool whole = strcmp(ids[i], word) == 0;

		if (strncmp(ids[i], word, strlen(word)) == 0 &&
		    (found != 1 || strcmp(id, word) != 0)) {
			(void)snprintf(id, FOLDER_ID_SIZE, "%s", ids[i]);
			found = whole ? 1 : found + 1;
			if (whole)
				break;
		}
	}
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
	(void)snprintf(path, FOLDER_PATH_SIZE, "%s/%s", base, id);
	free(base);
	if (found == 1)
		return 0;
	return err_set(err, ERR_NODATA,
		       found == 0 ? "there is no bench \"%s\" (see hgym-tui "
				    "bench list)"
				  : "more than one bench begins with \"%s\"",
		       word);
}

int
bench_load_plan(struct plan *plan, const char *path, struct err *err)
{
	char file[FOLDER_PATH_SIZE + 16];
	cJSON *source;

	(void)snprintf(file, sizeof(file), "%s/bench.json", path);
	if (plan_load(plan, file, err) != 0)
		return -1;
	/* Files that variants ship are named relative to where it lay. */
	source = folder_read_json(path, "source.json");
	if (source != NULL) {
		free(plan->file);
		plan->file = xstrdup(json_get_string(source, "file", file));
		cJSON_Delete(source);
	}
	return 0;
}

/* A bench on its way, seen from the command line. */
struct driver {
	struct loop *loop;
	struct session *session;
	struct noise_lookup lookup;
	enum session_end end;
	struct err err;
};

static void
on_note(void *user, const char *line)
{
	(void)user;
	bench_drive_say(line);
}

void
bench_drive_say(const char *line)
{
	time_t now = time(NULL);
	char stamp[16], *text;
	struct tm tm;

	(void)gmtime_r(&now, &tm);
	(void)strftime(stamp, sizeof(stamp), "%H:%M:%S", &tm);
	text = xasprintf("%s %s", stamp, line);
	say_line(text);
	free(text);
}

static void
on_end(void *user, enum session_end end, const struct err *err)
{
	struct driver *driver = user;

	driver->end = end;
	if (err != NULL)
		driver->err = *err;
	loop_stop(driver->loop);
}

static void
on_signal(void *user, int signum)
{
	struct driver *driver = user;

	(void)signum;
	session_leave(driver->session);
}

/* How to reach a pod: the plan's own words, else the configuration's. */
static int
fill_remote(struct remote_pod *remote, const struct plan_pod *pod,
	    const struct conf *conf, struct err *err)
{
	const char *way = pod->transport;
	int i = conf_find_pod(conf, pod->id);
	const struct conf_pod *known = i >= 0 ? &conf->pods[i] : NULL;

	*remote = (struct remote_pod){
		.name = pod->id,
		.ssh = pod->ssh,
		.identity = pod->identity,
		.known_hosts = pod->known_hosts,
		.proxy_jump = pod->proxy_jump,
		.transport = REMOTE_LIBSSH2,
	};
	if (way != NULL)
		remote->transport =
			(enum remote_transport)remote_transport_from_name(way);
	if (pod->ssh != NULL || remote->transport == REMOTE_LOCAL)
		return 0;
	if (known == NULL)
		return err_set(err, ERR_CONFIG,
			       "pod %s: the bench gives no \"ssh\", and the "
			       "configuration has no pod of that name",
			       pod->id);
	remote->ssh = known->ssh;
	remote->identity = known->identity;
	remote->known_hosts = known->known_hosts;
	remote->proxy_jump = known->proxy_jump;
	if (way == NULL)
		remote->transport =
			known->transport == CONF_LOCAL	   ? REMOTE_LOCAL
			: known->transport == CONF_OPENSSH ? REMOTE_OPENSSH
							   : REMOTE_LIBSSH2;
	return 0;
}

static int
fill_remotes(const struct plan *plan, const struct conf *conf,
	     struct remote_pod *remotes, struct err *err)
{
	for (size_t i = 0; i < plan->n_pods; i++)
		if (fill_remote(&remotes[i], &plan->pods[i], conf, err) != 0)
			return -1;
	return 0;
}

static void
on_saying(void *user)
{
	(void)user;
	(void)say_send();
}

static int
drive_loop(const struct bench_drive *drive, const struct remote_pod *remotes,
	   struct driver *driver, struct err *err)
{
	const struct session_cb cb = { on_note, on_end, driver };
	const struct fleet_options options = {
		.accept_new = drive->accept_new,
	};
	struct loop_timer *saying;
	struct format_set *formats;
	struct fleet *fleet;

	driver->loop = loop_new(err);
	if (driver->loop == NULL)
		return -1;
	formats = format_set_new_builtin();
	fleet = fleet_new(driver->loop, remotes, drive->plan->n_pods, &options);
	driver->session = session_new(
		&(struct session_setup){
			.loop = driver->loop,
			.transport = fleet_transport(fleet),
			.plan = drive->plan,
			.formats = formats,
			.id = drive->id,
			.path = drive->path,
			.mode = drive->mode,
			.noise = noise_register_rule,
			.noise_user = &driver->lookup,
		},
		&cb);
	loop_on_signal(driver->loop, SIGINT, on_signal, driver);
	loop_on_signal(driver->loop, SIGTERM, on_signal, driver);
	loop_on_signal(driver->loop, SIGHUP, on_signal, driver);
	saying = loop_timer_new(driver->loop, on_saying, NULL);
	loop_timer_start(saying, SAY_MS, SAY_MS);
	loop_run(driver->loop);
	loop_timer_close(saying);
	(void)say_send();
	fleet_free(fleet);
	session_free(driver->session);
	loop_free(driver->loop);
	format_set_free(formats);
	return 0;
}

/*
 * on_end "ask": somebody at a terminal is asked whether the pods are to stop;
 * others are told how.  The exit status, or -1 with err.
 */
static int
ask_stop(const struct bench_drive *drive, struct err *err)
{
	struct bench_drive stop = *drive;
	char answer[16] = "";
	char *pods = drive->mode == SESSION_RUN
			     ? bench_still_up(drive->plan, drive->path)
			     : NULL;

	if (pods == NULL)
		return 0;
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
		(void)fprintf(stderr,
			      "still up: %s\nrun their stop_cmd? [y/N] ", pods);
		if (fgets(answer, sizeof(answer), stdin) == NULL)
			answer[0] = '\0';
	}
	if (answer[0] != 'y' && answer[0] != 'Y')
		(void)fprintf(stderr,
			      "still up: %s; hgym-tui bench stop %s runs "
			      "their stop_cmd\n",
			      pods, drive->id);
	free(pods);
	if (answer[0] != 'y' && answer[0] != 'Y')
		return 0;
	stop.mode = SESSION_STOP;
	return bench_drive(&stop, err);
}

/* What its end means for the one who called. */
static int
conclude(const struct bench_drive *drive, const struct driver *driver,
	 struct err *err)
{
	if (driver->end == SESSION_LEFT) {
		(void)fprintf(stderr,
			      "left: what runs on the pods goes on; "
			      "hgym-tui bench attach %s takes it up, "
			      "hgym-tui bench abort %s ends it\n",
			      drive->id, drive->id);
		return 128 + SIGINT;
	}
	if (driver->end == SESSION_FAILED) {
		(void)ask_stop(drive, err);
		*err = driver->err;
		return -1;
	}
	if (drive->mode == SESSION_STOP)
		return bench_note_stopped(drive->path, err);
	/* What its own A/A arm taught is known now. */
	if (drive->mode == SESSION_RUN && drive->plan->aa &&
	    bench_judge_again(drive, err) != 0)
		return -1;
	if (drive->mode == SESSION_RUN && bench_report(drive, err) != 0)
		return -1;
	return ask_stop(drive, err);
}

/*
 * Note it in the database, where the others see it: who follows its pods is
 * silent there while it runs.  Its folder is its truth: a database that
 * cannot be written is said, no more.
 */
static void
record(const struct bench_drive *drive, const struct conf *conf)
{
	char *db_path = conf_db_path(conf, drive->env->db_path);
	struct err err = { ERR_NONE, "" };

	if (bench_record(db_path, drive->id, drive->path, &err) != 0 ||
	    noise_register_note(db_path, drive->id, drive->path, &err) != 0)
		(void)fprintf(stderr, "hgym-tui: not in the database: %s\n",
			      err.text);
	free(db_path);
}

/* What is known of noise; nothing where the database cannot be read. */
static void
load_register(struct noise_register *reg, const struct context *env,
	      const struct conf *conf)
{
	char *db_path = conf_db_path(conf, env->db_path);

	if (noise_register_load(reg, db_path, NULL) != 0)
		*reg = (struct noise_register){ 0 };
	free(db_path);
}

int
bench_drive(const struct bench_drive *drive, struct err *err)
{
	struct noise_register reg;
	struct driver driver = {
		.lookup = { &reg, drive->plan, drive->path },
		.end = SESSION_LEFT,
	};
	struct remote_pod *remotes;
	struct conf conf;
	int status = -1;

	if (conf_load(&conf, drive->env->config_path, err) != 0)
		return -1;
	load_register(&reg, drive->env, &conf);
	remotes = xcalloc(drive->plan->n_pods, sizeof(*remotes));
	if (fill_remotes(drive->plan, &conf, remotes, err) == 0) {
		bool ended;
		int before;

		record(drive, &conf);
		before = bench_preflight(drive, remotes, err);
		ended = before > 0 ||
			(before == 0 &&
			 drive_loop(drive, remotes, &driver, err) == 0);
		record(drive, &conf);
		if (ended)
			status = conclude(drive, &driver, err);
	}
	free(remotes);
	noise_register_release(&reg);
	conf_release(&conf);
	return status;
}

/* What verdict.json leaves to state.json and waits.json. */
static void
add_state(cJSON *root, const char *path)
{
	struct folder_state state;

	if (!folder_read_state(path, &state))
		(void)snprintf(state.state, sizeof(state.state), "unknown");
	json_add_string(root, "state", state.state);
	bench_waits_json(root, path, state.state);
}

static void
print_to(struct buf *text, cJSON *verdict, const struct bench_drive *drive)
{
	struct facts facts;

	if (drive->print == BENCH_JSON) {
		add_state(verdict, drive->path);
		json_print(text, verdict);
		buf_append_char(text, '\n');
		return;
	}
	facts_init(&facts);
	report_facts(&facts, verdict);
	if (drive->print == BENCH_MD)
		facts_print_md(text, &facts);
	else if (drive->print == BENCH_TEXT)
		facts_print_text(text, &facts);
	facts_release(&facts);
}

/* How it stands: under way, waiting, or given up; JSON is of the verdict. */
static void
add_standing(struct buf *text, const struct bench_drive *drive)
{
	struct folder_state state;
	char *waits;

	if ((drive->print != BENCH_TEXT && drive->print != BENCH_MD) ||
	    !folder_read_state(drive->path, &state))
		return;
	if (strcmp(state.state, "running") == 0)
		buf_append_str(text, "\nit is under way: no verdict yet\n");
	waits = bench_waits_words(drive->path, drive->id, state.state);
	if (waits != NULL)
		buf_appendf(text, "\n%s\n", waits);
	free(waits);
}

/* What it is judged with, where it is judged again. */
static struct session_setup
setup_of(const struct bench_drive *drive, const struct format_set *formats,
	 struct noise_lookup *lookup)
{
	return (struct session_setup){
		.plan = drive->plan,
		.formats = formats,
		.id = drive->id,
		.path = drive->path,
		.noise = noise_register_rule,
		.noise_user = lookup,
	};
}

/* Its verdict.json; of a folder that has none yet, what it would be. */
static cJSON *
read_verdict(const struct bench_drive *drive, struct err *err)
{
	cJSON *verdict = folder_read_json(drive->path, "verdict.json");
	struct format_set *formats;
	struct noise_register reg;
	struct noise_lookup lookup = { &reg, drive->plan, drive->path };
	struct session_setup setup;
	struct conf conf;

	if (verdict != NULL)
		return verdict;
	if (conf_load(&conf, drive->env->config_path, err) != 0)
		return NULL;
	load_register(&reg, drive->env, &conf);
	formats = format_set_new_builtin();
	setup = setup_of(drive, formats, &lookup);
	verdict = session_verdict(&setup);
	format_set_free(formats);
	noise_register_release(&reg);
	conf_release(&conf);
	return verdict;
}

int
bench_judge_again(const struct bench_drive *drive, struct err *err)
{
	struct format_set *formats;
	struct noise_register reg;
	struct noise_lookup lookup = { &reg, drive->plan, drive->path };
	struct session_setup setup;
	struct conf conf;
	int result;

	if (conf_load(&conf, drive->env->config_path, err) != 0)
		return -1;
	load_register(&reg, drive->env, &conf);
	formats = format_set_new_builtin();
	setup = setup_of(drive, formats, &lookup);
	result = session_judge_folder(&setup, err);
	format_set_free(formats);
	noise_register_release(&reg);
	if (result == 0)
		record(drive, &conf);
	conf_release(&conf);
	return result;
}

int
bench_report(const struct bench_drive *drive, struct err *err)
{
	cJSON *verdict = read_verdict(drive, err);
	struct buf text;
	int result = 0;

	if (verdict == NULL)
		return -1;
	buf_init(&text, MAX_REPORT);
	print_to(&text, verdict, drive);
	add_standing(&text, drive);
	if (fwrite(text.data, 1, text.len, stdout) != text.len ||
	    fflush(stdout) != 0)
		result = err_set_errno(err, ERR_IO, "cannot write");
	buf_release(&text);
	cJSON_Delete(verdict);
	return result;
}
