/* SPDX-License-Identifier: MIT */
/* Run the preflight on several pods at once; for `pods check` and `bench run`. */
#include "pods/probe.h"

#include <signal.h>

#include "pods/pods.h"
#include "pods/preflight.h"
#include "remote/frame.h"
#include "remote/shell_marks.h"

#define OUT_CAP	   (256U * 1024)
#define ERRORS_CAP 4096U

struct check;

struct probe {
	struct check *check;
	size_t index;
	struct stream *stream; /* NULL: ended */
	struct loop_timer *timer;
	struct buf out, errors;
	size_t noise_bytes; /* output of the login shell before the script started */
	struct stream_exit exit;
	int64_t started_ms; /* mono clock */
	char host_key[64];
	struct preflight now; /* result until now */
};

struct check {
	const struct pods_probe *ask;
	struct loop *loop;
	struct fleet *fleet;
	struct probe *probes;
	size_t left;
	struct shell_marks nonce; /* only its mark is used */
	char mark[40];		  /* the line with the nonce */
	int signum;
};

static void report_step(const struct probe *probe, enum pods_probe_step step, const cJSON *row)
{
	const struct pods_probe *ask = probe->check->ask;

	if (ask->on_step != NULL)
		ask->on_step(ask->user, probe->index, step, row);
}

static size_t probe_on_data(void *user, const void *data, size_t len)
{
	struct probe *probe = user;
	struct preflight *now = &probe->now;
	const char *mark = probe->check->mark;
	struct transport *t = fleet_transport(probe->check->fleet);

	/* Until the script starts, everything is output of the login shell. */
	if (now->sent_wall_ms == 0 && (probe->noise_bytes += len) > FRAME_NOISE_MAX) {
		if (!now->is_noisy)
			loop_timer_start(probe->timer, 1, 0);
		now->is_noisy = true;
		return len;
	}
	buf_append(&probe->out, data, len);
	if (now->sent_wall_ms > 0) {
		if (now->got_wall_ms == 0 &&
		    str_find(buf_str(&probe->out), PREFLIGHT_CLOCK) != NULL)
			now->got_wall_ms = clock_wall_ms();
	} else if (str_find(buf_str(&probe->out), mark) != NULL) {
		/* The script runs: request the clock. */
		now->connect_ms = clock_mono_ms() - probe->started_ms;
		report_step(probe, PODS_PROBE_LOOKING, NULL);
		now->sent_wall_ms = clock_wall_ms();
		t->ops->write(probe->stream, PREFLIGHT_GO, strlen(PREFLIGHT_GO), NULL);
		t->ops->close_stdin(probe->stream);
	} else if (probe->out.len > OUT_CAP / 2) {
		buf_consume(&probe->out, probe->out.len - strlen(mark));
	}
	return len;
}

static void probe_on_stderr(void *user, const void *data, size_t len)
{
	struct probe *probe = user;

	if (probe->errors.len + len > ERRORS_CAP)
		buf_clear(&probe->errors);
	buf_append(&probe->errors, data, len);
}

static cJSON *probe_row(struct probe *probe)
{
	probe->now.out = buf_str(&probe->out);
	probe->now.errors = buf_str(&probe->errors);
	return preflight_row(&probe->now);
}

static void report_end(struct probe *probe)
{
	AUTO_JSON row = probe_row(probe);

	report_step(probe, PODS_PROBE_OVER, row);
}

static void probe_on_end(void *loop)
{
	loop_stop(loop);
}

static void probe_on_close(void *user, const struct stream_exit *exit)
{
	struct probe *probe = user;
	struct transport *t = fleet_transport(probe->check->fleet);
	struct link_info info;

	t->ops->link_info(t, probe->index, &info);
	snprintf(probe->host_key, sizeof(probe->host_key), "%s", info.host_key_sha256);
	probe->stream = NULL;
	probe->exit = *exit;
	loop_timer_stop(probe->timer);
	report_end(probe);
	/* A signal of the same round is handled first. */
	if (--probe->check->left == 0)
		loop_post(probe->check->loop, probe_on_end, probe->check->loop);
}

static void probe_on_late(void *user)
{
	struct probe *probe = user;
	struct transport *t = fleet_transport(probe->check->fleet);

	probe->now.late = true;
	if (probe->stream != NULL)
		t->ops->cancel(probe->stream);
}

static void probe_on_signal(void *user, int signum)
{
	struct check *check = user;

	check->signum = signum;
	loop_stop(check->loop);
}

static void probe_start(struct check *check, size_t i)
{
	static const struct stream_cb cb = { .on_data = probe_on_data,
					     .on_stderr = probe_on_stderr,
					     .on_close = probe_on_close };
	struct transport *t = fleet_transport(check->fleet);
	const struct pods_probe *ask = check->ask;
	const struct conf_pod *pod = &ask->pods[i];
	struct probe *probe = &check->probes[i];
	AUTO_BUF command = buf_new(65536);

	probe->check = check;
	probe->index = i;
	probe->now = (struct preflight){
		.pod = pod,
		.nonce = check->nonce.mark,
		.exit = &probe->exit,
		.connect_ms = -1,
		.host_key = probe->host_key,
		.need_gpu = (ask->any_gpu && pod->transport != CONF_LOCAL) ||
			    (ask->own_gpus && pod->n_gpus > 0),
		.min_free_bytes = ask->min_free_bytes,
	};
	buf_init(&probe->out, OUT_CAP);
	buf_init(&probe->errors, ERRORS_CAP);
	probe->started_ms = clock_mono_ms();
	probe->timer = loop_timer_new(check->loop, probe_on_late, probe);
	loop_timer_start(probe->timer, (int64_t)(ask->limit_s * 1e3), 0);
	preflight_command(&command, check->nonce.mark, pod);
	probe->stream = t->ops->exec(t, i, command.data, &cb, probe, &probe->exit.err);
	if (probe->stream == NULL) {
		report_end(probe);
		check->left--;
		return;
	}
	report_step(probe, PODS_PROBE_CONNECTING, NULL);
	t->ops->write(probe->stream, preflight_text[0].text, strlen(preflight_text[0].text), NULL);
}

int pods_probe(const struct pods_probe *ask, cJSON **rows, struct err *err)
{
	struct check check = { .ask = ask, .left = ask->n };
	const struct fleet_options fleet_options = { .user = &check,
						     .accept_new = ask->accept_new };
	AUTO_FREE struct remote_pod *remotes = xcalloc(ask->n + 1, sizeof(*remotes));

	check.loop = loop_new(err);
	if (check.loop == NULL)
		return -1;
	loop_on_signal(check.loop, SIGINT, probe_on_signal, &check);
	loop_on_signal(check.loop, SIGTERM, probe_on_signal, &check);
	check.probes = xcalloc(ask->n + 1, sizeof(*check.probes));
	shell_marks_init(&check.nonce);
	print_into(check.mark, "\n%s\n", check.nonce.mark);
	for (size_t i = 0; i < ask->n; i++)
		remotes[i] = pods_remote(&ask->pods[i]);
	check.fleet = fleet_new(check.loop, remotes, ask->n, &fleet_options);
	for (size_t i = 0; i < ask->n; i++)
		probe_start(&check, i);
	if (check.left > 0)
		loop_run(check.loop);
	for (size_t i = 0; check.signum == 0 && i < ask->n; i++)
		rows[i] = probe_row(&check.probes[i]);
	fleet_free(check.fleet);
	for (size_t i = 0; i < ask->n; i++) {
		loop_timer_close(check.probes[i].timer);
		buf_release(&check.probes[i].out);
		buf_release(&check.probes[i].errors);
	}
	free(check.probes);
	loop_free(check.loop);
	return check.signum;
}
