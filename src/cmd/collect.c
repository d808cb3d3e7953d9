/* SPDX-License-Identifier: MIT */
/* `collect`: follow all pods without a screen, into the database. */
#include "config.h"

#include <signal.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/say.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "ingest/ingest.h"

struct collect_call {
	double for_s, idle_s; /* 0: no limit */
	bool accept_new;
};

static const struct cmd_option options[] = {
	{ 0, "for", "SEC", "stop after so many seconds", CMD_POSITIVE,
	  CMD_AT(collect_call, for_s), .high = 1e9 },
	{ 0, "until-idle", "SEC", "stop when nothing new came for so long",
	  CMD_POSITIVE, CMD_AT(collect_call, idle_s), .high = 1e9 },
	{ 0, "accept-new", NULL, "accept the keys of hosts not yet known",
	  CMD_FLAG, CMD_AT(collect_call, accept_new) },
	CMD_OPTIONS_END,
};

struct session {
	struct context *context;
	const struct collect_call *call;
	struct loop *loop;
	struct model model;
	struct ingest *ingest;
	struct loop_timer *timer;
	int64_t start_ms;
	int signum; /* that ended it; 0: none */
};

/* A sentence to stderr, made harmless. */
static void
follow_say(void *user, enum model_severity severity, const char *text)
{
	AUTO_BUF clean = buf_new(4096);

	(void)user;
	(void)severity;
	buf_append_str(&clean, "hgym-tui: ");
	utf8_sanitize(&clean, str_from(text));
	say_line(clean.data);
}

static void
follow_on_signal(void *user, int signum)
{
	struct session *r = user;

	r->signum = signum;
	loop_stop(r->loop);
}

/* Read the configuration again; a broken one changes nothing. */
static void
follow_on_hangup(void *user, int signum)
{
	struct session *r = user;
	struct err err = { ERR_NONE, "" };
	char said[200];

	(void)signum;
	if (context_reload(r->context, said, &err) != 0) {
		follow_say(NULL, MODEL_WARNING, err.text);
		return;
	}
	ingest_reload(r->ingest, &r->context->conf);
	follow_say(NULL, MODEL_INFO, said);
}

static void
follow_on_timer(void *user)
{
	struct session *r = user;
	const struct clock *clock = loop_clock(r->loop);
	double for_s = (double)(clock->mono_ms(clock) - r->start_ms) / 1e3;
	double idle_s = (double)ingest_idle_ms(r->ingest) / 1e3;

	(void)say_send();
	if ((r->call->for_s > 0 && for_s >= r->call->for_s) ||
	    (r->call->idle_s > 0 && idle_s >= r->call->idle_s &&
	     ingest_is_settled(r->ingest)))
		loop_stop(r->loop);
}

/* Follow until it is over; the exit status, or -1. */
static int
follow(struct session *r, struct err *err)
{
	const struct clock *clock = loop_clock(r->loop);
	const struct ingest_options o = {
		.loop = r->loop,
		.model = &r->model,
		.formats = r->context->formats,
		.conf = &r->context->conf,
		.db_path = r->context->db_path,
		.cb = { follow_say, NULL, NULL, NULL },
		.accept_new = r->call->accept_new,
		.must_write = true,
	};
	size_t unreachable = 0;
	int rc = -1;

	r->start_ms = clock->mono_ms(clock);
	r->ingest = ingest_new(&o, err);
	if (r->ingest != NULL) {
		r->timer = loop_timer_new(r->loop, follow_on_timer, r);
		loop_timer_start(r->timer, 100, 100);
		loop_run(r->loop);
		loop_timer_close(r->timer);
		unreachable = ingest_unreachable(r->ingest);
		rc = ingest_free(r->ingest, err);
	}
	if (rc != 0)
		return -1;
	if (r->signum != 0)
		return 128 + r->signum;
	return unreachable > 0 ? err_exit_status(ERR_NET) : 0;
}

static int
exec_collect(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct conf *conf = &args->context->conf;
	struct session r = { .context = args->context, .call = opaque };
	int rc;

	if (conf->n_pods == 0)
		return err_set(err, ERR_CONFIG,
			       "the configuration%s%s has no pods to follow",
			       conf->path != NULL ? " " : "",
			       conf->path != NULL ? conf->path : "");
	r.loop = loop_new(err);
	if (r.loop == NULL)
		return -1;
	model_init(&r.model);
	loop_on_signal(r.loop, SIGINT, follow_on_signal, &r);
	loop_on_signal(r.loop, SIGTERM, follow_on_signal, &r);
	loop_on_signal(r.loop, SIGHUP, follow_on_hangup, &r);
	rc = follow(&r, err);
	loop_free(r.loop);
	model_release(&r.model);
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
	.size = sizeof(struct collect_call),
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_collect,
};
