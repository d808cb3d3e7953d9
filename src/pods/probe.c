/* SPDX-License-Identifier: MIT */
/* Logins to several pods that only look; for `pods check` and `bench run`. */
#include "config.h"

#include "pods/probe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/xalloc.h"
#include "loop/loop.h"
#include "pods/pods.h"
#include "pods/preflight.h"

#define OUT_CAP	   (256U * 1024)
#define ERRORS_CAP 4096U

struct check;

/* One pod's preflight while it runs. */
struct probe {
	struct check *check;
	size_t index;
	struct stream *stream; /* NULL: over */
	struct loop_timer *timer;
	struct buf out, errors;
	struct stream_exit exit;
	bool late;
	int64_t begun_ms, answer_ms;	   /* mono; 0: it has not answered */
	int64_t sent_wall_ms, got_wall_ms; /* question and answer: the clock */
	char host_key[64];
};

struct check {
	const struct pods_probe *ask;
	struct loop *loop;
	struct fleet *fleet;
	struct probe *probes;
	size_t left;
	char nonce[32], mark[40]; /* the mark is the nonce as a line */
	int signum;
};

static void
probe_tell(const struct probe *probe, enum pods_probe_step step,
	   const cJSON *row)
{
	const struct pods_probe *ask = probe->check->ask;

	if (ask->on_step != NULL)
		ask->on_step(ask->user, probe->index, step, row);
}

static struct str
probe_text(const struct probe *probe)
{
	return (struct str){ probe->out.data, probe->out.len };
}

/* The shell answers: ask for its clock. */
static void
ask_clock(struct probe *probe)
{
	struct transport *t = fleet_transport(probe->check->fleet);
	const struct clock *clock = loop_clock(probe->check->loop);

	probe->answer_ms = clock->mono_ms(clock);
	probe_tell(probe, PODS_PROBE_LOOKING, NULL);
	probe->sent_wall_ms = clock->wall_ms(clock);
	t->ops->write(probe->stream, PREFLIGHT_GO, strlen(PREFLIGHT_GO), NULL);
	t->ops->close_stdin(probe->stream);
}

static size_t
probe_on_data(void *user, const void *data, size_t len)
{
	struct probe *probe = user;
	const struct clock *clock = loop_clock(probe->check->loop);

	buf_append(&probe->out, data, len);
	if (probe->sent_wall_ms == 0 &&
	    str_find(probe_text(probe), probe->check->mark) != NULL)
		ask_clock(probe);
	else if (probe->sent_wall_ms > 0 && probe->got_wall_ms == 0 &&
		 str_find(probe_text(probe), PREFLIGHT_CLOCK) != NULL)
		probe->got_wall_ms = clock->wall_ms(clock);
	return len;
}

/* The tail is kept. */
static void
probe_on_stderr(void *user, const void *data, size_t len)
{
	struct probe *probe = user;

	if (probe->errors.len + len > ERRORS_CAP)
		buf_clear(&probe->errors);
	buf_append(&probe->errors, data, len);
}

static cJSON *
probe_row(struct check *check, size_t i)
{
	struct probe *probe = &check->probes[i];
	const struct conf_pod *pod = &check->ask->pods[i];
	const struct preflight p = {
		.pod = pod,
		.nonce = check->nonce,
		.out = { probe->out.data, probe->out.len },
		.errors = { probe->errors.data, probe->errors.len },
		.exit = &probe->exit,
		.late = probe->late,
		.connect_ms = probe->answer_ms > 0
				      ? probe->answer_ms - probe->begun_ms
				      : -1,
		.sent_wall_ms = probe->sent_wall_ms,
		.got_wall_ms = probe->got_wall_ms,
		.host_key = probe->host_key,
		.need_gpu =
			(check->ask->any_gpu && pod->transport != CONF_LOCAL) ||
			(check->ask->own_gpus && pod->n_gpus > 0),
		.min_free_bytes = check->ask->min_free_bytes,
	};

	return preflight_row(&p);
}

static void
probe_tell_over(const struct probe *probe)
{
	cJSON *row;

	if (probe->check->ask->on_step == NULL)
		return;
	row = probe_row(probe->check, probe->index);
	probe_tell(probe, PODS_PROBE_OVER, row);
	cJSON_Delete(row);
}

static void
probe_on_close(void *user, const struct stream_exit *exit)
{
	struct probe *probe = user;
	struct transport *t = fleet_transport(probe->check->fleet);
	struct link_info info;

	t->ops->link_info(t, probe->index, &info);
	snprintf(probe->host_key, sizeof(probe->host_key), "%s",
		 info.host_key_sha256);
	probe->stream = NULL;
	probe->exit = *exit;
	loop_timer_stop(probe->timer);
	probe_tell_over(probe);
	if (--probe->check->left == 0)
		loop_stop(probe->check->loop);
}

static void
probe_on_late(void *user)
{
	struct probe *probe = user;
	struct transport *t = fleet_transport(probe->check->fleet);

	probe->late = true;
	if (probe->stream != NULL)
		t->ops->cancel(probe->stream);
}

static void
probe_on_signal(void *user, int signum)
{
	struct check *check = user;

	check->signum = signum;
	loop_stop(check->loop);
}

static void
probe_start(struct check *check, size_t i)
{
	static const struct stream_cb cb = { .on_data = probe_on_data,
					     .on_stderr = probe_on_stderr,
					     .on_close = probe_on_close };
	struct transport *t = fleet_transport(check->fleet);
	const struct clock *clock = loop_clock(check->loop);
	struct probe *probe = &check->probes[i];
	struct buf command;

	probe->check = check;
	probe->index = i;
	buf_init(&probe->out, OUT_CAP);
	buf_init(&probe->errors, ERRORS_CAP);
	probe->begun_ms = clock->mono_ms(clock);
	probe->timer = loop_timer_new(check->loop, probe_on_late, probe);
	loop_timer_start(probe->timer, (int64_t)(check->ask->limit_s * 1e3), 0);
	buf_init(&command, 65536);
	preflight_command(&command, check->nonce, &check->ask->pods[i]);
	probe->stream =
		t->ops->exec(t, i, command.data, &cb, probe, &probe->exit.err);
	buf_release(&command);
	if (probe->stream == NULL) {
		probe_tell_over(probe);
		check->left--;
		return;
	}
	probe_tell(probe, PODS_PROBE_CONNECTING, NULL);
	t->ops->write(probe->stream, preflight_script(),
		      strlen(preflight_script()), NULL);
}

static void
make_nonce(char *nonce, size_t size)
{
	unsigned long long random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (unsigned long long)clock_real.mono_ms(&clock_real);
	snprintf(nonce, size, "hgym%016llx", random);
}

static void
probe_all(struct check *check, cJSON **rows)
{
	const struct pods_probe *ask = check->ask;
	const struct fleet_options fleet_options = {
		.user = check,
		.accept_new = ask->accept_new,
	};
	struct remote_pod *remotes;

	check->probes = xcalloc(ask->n, sizeof(*check->probes));
	check->left = ask->n;
	make_nonce(check->nonce, sizeof(check->nonce));
	snprintf(check->mark, sizeof(check->mark), "\n%s\n", check->nonce);
	remotes = xcalloc(ask->n, sizeof(*remotes));
	for (size_t i = 0; i < ask->n; i++)
		remotes[i] = pods_remote(&ask->pods[i]);
	check->fleet = fleet_new(check->loop, remotes, ask->n, &fleet_options);
	for (size_t i = 0; i < ask->n; i++)
		probe_start(check, i);
	if (check->left > 0)
		loop_run(check->loop);
	for (size_t i = 0; check->signum == 0 && i < ask->n; i++)
		rows[i] = probe_row(check, i);
	fleet_free(check->fleet);
	for (size_t i = 0; i < ask->n; i++) {
		loop_timer_close(check->probes[i].timer);
		buf_release(&check->probes[i].out);
		buf_release(&check->probes[i].errors);
	}
	free(check->probes);
	free(remotes);
}

int
pods_probe(const struct pods_probe *ask, cJSON **rows, struct err *err)
{
	struct check check = { .ask = ask };

	check.loop = loop_new(err);
	if (check.loop == NULL)
		return -1;
	loop_on_signal(check.loop, SIGINT, probe_on_signal, &check);
	loop_on_signal(check.loop, SIGTERM, probe_on_signal, &check);
	probe_all(&check, rows);
	loop_free(check.loop);
	return check.signum;
}
