/* SPDX-License-Identifier: MIT */
/* `collect`: follow all pods without a screen, into the database. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/say.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "conf/conf.h"
#include "ingest/ingest.h"

enum option { OPTION_FOR, OPTION_UNTIL_IDLE, OPTION_ACCEPT_NEW };

static const struct cmd_option options[] = {
	{ 0, "for", "SEC", "stop after so many seconds" },
	{ 0, "until-idle", "SEC", "stop when nothing new came for so long" },
	{ 0, "accept-new", NULL, "accept the keys of hosts not yet known" },
	{ 0, NULL, NULL, NULL },
};

struct session {
	const struct context *env;
	double for_s, idle_s; /* 0: no limit */
	bool accept_new;
	struct loop *loop;
	struct model model;
	struct format_set *formats;
	struct conf *conf; /* owned */
	struct ingest *ingest;
	struct loop_timer *timer;
	int64_t start_ms;
	int signum; /* that ended it; 0: none */
};

/* A sentence to stderr, made harmless. */
static void
say(void *user, enum model_severity severity, const char *text)
{
	struct buf clean;

	(void)user;
	(void)severity;
	buf_init(&clean, 4096);
	buf_append_str(&clean, "hgym-tui: ");
	utf8_sanitize(&clean, str_from(text));
	say_line(clean.data);
	buf_release(&clean);
}

static void
on_signal(void *user, int signum)
{
	struct session *r = user;

	r->signum = signum;
	loop_stop(r->loop);
}

static struct conf *
load_conf(const struct context *env, struct err *err)
{
	struct conf *conf = xmalloc(sizeof(*conf));

	if (conf_load(conf, env->config_path, err) == 0)
		return conf;
	free(conf);
	return NULL;
}

static void
free_conf(struct conf *conf)
{
	if (conf != NULL)
		conf_release(conf);
	free(conf);
}

/* Read the configuration again; a broken one changes nothing. */
static void
on_hangup(void *user, int signum)
{
	struct session *r = user;
	struct err err = { ERR_NONE, "" };
	struct conf *conf = load_conf(r->env, &err);

	(void)signum;
	if (conf == NULL) {
		err_prefix(&err, "the configuration stays as it was");
		say(NULL, MODEL_WARNING, err.text);
		return;
	}
	ingest_reload(r->ingest, conf);
	free_conf(r->conf);
	r->conf = conf;
	say(NULL, MODEL_INFO, "the configuration was read again");
}

static void
on_timer(void *user)
{
	struct session *r = user;
	const struct clock *clock = loop_clock(r->loop);
	double for_s = (double)(clock->mono_ms(clock) - r->start_ms) / 1e3;
	double idle_s = (double)ingest_idle_ms(r->ingest) / 1e3;

	(void)say_send();
	if ((r->for_s > 0 && for_s >= r->for_s) ||
	    (r->idle_s > 0 && idle_s >= r->idle_s &&
	     ingest_is_settled(r->ingest)))
		loop_stop(r->loop);
}

static int
take_seconds(const char *value, double *out, struct err *err)
{
	double s;

	if (!str_to_double(str_from(value), &s) || !(s > 0 && s < 1e9))
		return err_set(err, ERR_USAGE,
			       "collect: %s: expected seconds above 0", value);
	*out = s;
	return 0;
}

static int
take_options(struct cmd_args *args, struct session *r, struct err *err)
{
	const char *value;
	int option, rc = 0;

	while (rc == 0 && (option = cmd_next_option(args, &value, err)) >= 0) {
		if (option == OPTION_ACCEPT_NEW)
			r->accept_new = true;
		else
			rc = take_seconds(value,
					  option == OPTION_FOR ? &r->for_s
							       : &r->idle_s,
					  err);
	}
	if (rc != 0 || option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next < args->argc)
		return err_set(err, ERR_USAGE, "collect takes no argument");
	return 0;
}

static int
load_formats(struct session *r, struct err *err)
{
	r->formats = format_set_new_builtin();
	for (size_t i = 0; i < r->conf->formats.n; i++)
		if (format_set_load(r->formats, r->conf->formats.v[i], err) !=
		    0)
			return -1;
	return 0;
}

/* Follow until it is over; the exit status, or -1. */
static int
follow(struct session *r, struct err *err)
{
	char *db_path = conf_db_path(r->conf, r->env->db_path);
	const struct clock *clock = loop_clock(r->loop);
	const struct ingest_options o = {
		.loop = r->loop,
		.model = &r->model,
		.formats = r->formats,
		.conf = r->conf,
		.db_path = db_path,
		.cb = { say, NULL, NULL, NULL },
		.accept_new = r->accept_new,
		.must_write = true,
	};
	size_t unreachable = 0;
	int rc = -1;

	r->start_ms = clock->mono_ms(clock);
	r->ingest = ingest_new(&o, err);
	if (r->ingest != NULL) {
		r->timer = loop_timer_new(r->loop, on_timer, r);
		loop_timer_start(r->timer, 100, 100);
		loop_run(r->loop);
		loop_timer_close(r->timer);
		unreachable = ingest_unreachable(r->ingest);
		rc = ingest_free(r->ingest, err);
	}
	free(db_path);
	if (rc != 0)
		return -1;
	if (r->signum != 0)
		return 128 + r->signum;
	return unreachable > 0 ? err_exit_status(ERR_NET) : 0;
}

static int
set_up_and_follow(struct session *r, struct err *err)
{
	int rc;

	if (r->conf->n_pods == 0)
		return err_set(err, ERR_CONFIG,
			       "the configuration%s%s has no pods to follow",
			       r->conf->path != NULL ? " " : "",
			       r->conf->path != NULL ? r->conf->path : "");
	if (load_formats(r, err) != 0)
		return -1;
	r->loop = loop_new(err);
	if (r->loop == NULL)
		return -1;
	model_init(&r->model);
	loop_on_signal(r->loop, SIGINT, on_signal, r);
	loop_on_signal(r->loop, SIGTERM, on_signal, r);
	loop_on_signal(r->loop, SIGHUP, on_hangup, r);
	rc = follow(r, err);
	loop_free(r->loop);
	model_release(&r->model);
	return rc;
}

static int
run(struct cmd_args *args, struct err *err)
{
	struct session r = { .env = args->context };
	int rc;

	if (take_options(args, &r, err) != 0)
		return -1;
	r.conf = load_conf(args->context, err);
	if (r.conf == NULL)
		return -1;
	rc = set_up_and_follow(&r, err);
	if (r.formats != NULL)
		format_set_free(r.formats);
	free_conf(r.conf);
	return rc;
}

const struct cmd cmd_collect = {
	.name = "collect",
	.usage = "[OPTIONS]",
	.summary = "follow all pods without a screen, into the database",
	.help = "Follows the logs of all pods of the configuration until the "
		"time is over, nothing\nnew came for so long, or a signal; "
		"without an option until a signal.  SIGHUP reads\nthe "
		"configuration again.  Raw logs are mirrored below the state "
		"folder.  Exit\nstatus 4 when a pod cannot be reached at the "
		"end, 128 + n after signal n.",
	.options = options,
	.exec = run,
};
