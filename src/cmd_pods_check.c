/* SPDX-License-Identifier: MIT */
/* `pods check`: is each pod fit for a run?  A row a pod, reads only. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/xalloc.h"
#include "cmd.h"
#include "conf.h"
#include "loop/loop.h"
#include "out.h"
#include "parsers/json.h"
#include "pods.h"
#include "preflight.h"
#include "remote/fleet.h"

#define OUT_CAP	      (256U * 1024)
#define ERRORS_CAP    4096U
#define DEFAULT_FREE  1e9
#define DEFAULT_LIMIT 90.0
#define LIMIT_MOST_S  3600.0

enum option {
	OPTION_JSON,
	OPTION_CSV,
	OPTION_MD,
	OPTION_ACCEPT_NEW,
	OPTION_NO_GPU,
	OPTION_MIN_FREE,
	OPTION_TIMEOUT,
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "accept-new", NULL, "accept the keys of hosts not yet known" },
	{ 0, "no-gpu", NULL, "a pod without a GPU is fit too" },
	{ 0, "min-free", "BYTES", "free space wanted for scratch [1e9]" },
	{ 0, "timeout", "SEC", "for each pod, login included [90]" },
	{ 0, NULL, NULL, NULL },
};

static const struct out_column columns[] = {
	{ "pod", NULL, 0, 0 },	   { "status", NULL, 0, 0 },
	{ "failure", NULL, 0, 0 }, { "gpu", "GPU", 0, 0 },
	{ "driver", NULL, 0, 0 },  { "free_bytes", "free GB", 1, 1e-9 },
	{ "python", NULL, 0, 0 },  { "torch", NULL, 0, 0 },
	{ "triton", NULL, 0, 0 },  { "clock_offset_s", "clock s", 1, 0 },
	{ "text", NULL, 0, 0 },	   { "next", "next step", 0, 0 },
	{ NULL, NULL, 0, 0 },
};

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
	struct loop *loop;
	struct fleet *fleet;
	const struct conf *conf;
	struct probe *probes;
	size_t n, left;
	char nonce[32], mark[40]; /* the mark is the nonce as a line */
	bool accept_new, no_gpu;
	double min_free, limit_s;
	int signum;
};

static struct str
text_of(const struct probe *probe)
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
	probe->sent_wall_ms = clock->wall_ms(clock);
	t->ops->write(probe->stream, PREFLIGHT_GO, strlen(PREFLIGHT_GO), NULL);
	t->ops->close_stdin(probe->stream);
}

static size_t
on_data(void *user, const void *data, size_t len)
{
	struct probe *probe = user;
	const struct clock *clock = loop_clock(probe->check->loop);

	buf_append(&probe->out, data, len);
	if (probe->sent_wall_ms == 0 &&
	    str_find(text_of(probe), probe->check->mark) != NULL)
		ask_clock(probe);
	else if (probe->sent_wall_ms > 0 && probe->got_wall_ms == 0 &&
		 str_find(text_of(probe), PREFLIGHT_CLOCK) != NULL)
		probe->got_wall_ms = clock->wall_ms(clock);
	return len;
}

/* The tail is kept. */
static void
on_stderr(void *user, const void *data, size_t len)
{
	struct probe *probe = user;

	if (probe->errors.len + len > ERRORS_CAP)
		buf_clear(&probe->errors);
	buf_append(&probe->errors, data, len);
}

static void
on_close(void *user, const struct stream_exit *exit)
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
	if (--probe->check->left == 0)
		loop_stop(probe->check->loop);
}

static void
on_late(void *user)
{
	struct probe *probe = user;
	struct transport *t = fleet_transport(probe->check->fleet);

	probe->late = true;
	if (probe->stream != NULL)
		t->ops->cancel(probe->stream);
}

static void
on_signal(void *user, int signum)
{
	struct check *check = user;

	check->signum = signum;
	loop_stop(check->loop);
}

static void
start(struct check *check, size_t i)
{
	static const struct stream_cb cb = { .on_data = on_data,
					     .on_stderr = on_stderr,
					     .on_close = on_close };
	struct transport *t = fleet_transport(check->fleet);
	const struct clock *clock = loop_clock(check->loop);
	struct probe *probe = &check->probes[i];
	struct buf command;

	probe->check = check;
	probe->index = i;
	buf_init(&probe->out, OUT_CAP);
	buf_init(&probe->errors, ERRORS_CAP);
	probe->begun_ms = clock->mono_ms(clock);
	probe->timer = loop_timer_new(check->loop, on_late, probe);
	loop_timer_start(probe->timer, (int64_t)(check->limit_s * 1e3), 0);
	buf_init(&command, 65536);
	preflight_command(&command, check->nonce, &check->conf->pods[i]);
	probe->stream =
		t->ops->exec(t, i, command.data, &cb, probe, &probe->exit.err);
	buf_release(&command);
	if (probe->stream == NULL) {
		check->left--;
		return;
	}
	t->ops->write(probe->stream, preflight_script, strlen(preflight_script),
		      NULL);
}

/* The row of a pod; keeps the worst exit status of all. */
static int
print_probe(struct check *check, size_t i, struct out *out, int worst)
{
	struct probe *probe = &check->probes[i];
	const struct conf_pod *pod = &check->conf->pods[i];
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
		.need_gpu = !check->no_gpu &&
			    (pod->transport != CONF_LOCAL || pod->n_gpus > 0),
		.min_free_bytes = check->min_free,
	};
	cJSON *row = preflight_row(&p);
	const cJSON *one,
		*failures = cJSON_GetObjectItemCaseSensitive(row, "failures");

	cJSON_ArrayForEach(one, failures)
	{
		if (preflight_is_unreachable(json_get_string(one, "class", "")))
			worst = err_exit_status(ERR_NET);
		else if (worst == 0)
			worst = err_exit_status(ERR_CHECK);
	}
	out_row(out, row);
	cJSON_Delete(row);
	return worst;
}

static void
make_nonce(char *nonce, size_t size)
{
	unsigned long long random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (unsigned long long)clock_real.mono_ms(&clock_real);
	snprintf(nonce, size, "hgym%016llx", random);
}

/* Run all of them at once and print their rows. */
static int
check_pods(struct check *check, enum out_format format, struct err *err)
{
	const struct fleet_options fleet_options = {
		.user = check,
		.accept_new = check->accept_new,
	};
	struct remote_pod *pods = xcalloc(check->n, sizeof(*pods));
	struct out *out;
	int worst = 0;

	check->probes = xcalloc(check->n, sizeof(*check->probes));
	check->left = check->n;
	make_nonce(check->nonce, sizeof(check->nonce));
	snprintf(check->mark, sizeof(check->mark), "\n%s\n", check->nonce);
	for (size_t i = 0; i < check->n; i++)
		pods[i] = pods_remote(&check->conf->pods[i]);
	check->fleet = fleet_new(check->loop, pods, check->n, &fleet_options);
	for (size_t i = 0; i < check->n; i++)
		start(check, i);
	if (check->left > 0)
		loop_run(check->loop);
	if (check->signum == 0) {
		out = out_new(stdout, format, columns);
		for (size_t i = 0; i < check->n; i++)
			worst = print_probe(check, i, out, worst);
		if (out_free(out) != 0)
			worst = err_set(err, ERR_IO, "cannot write the output");
	}
	fleet_free(check->fleet);
	for (size_t i = 0; i < check->n; i++) {
		loop_timer_close(check->probes[i].timer);
		buf_release(&check->probes[i].out);
		buf_release(&check->probes[i].errors);
	}
	free(check->probes);
	free(pods);
	return check->signum != 0 ? 128 + check->signum : worst;
}

static int
take_number(const char *name, const char *value, double most, double *out,
	    struct err *err)
{
	double number;

	if (!str_to_double(str_from(value), &number) || !(number >= 0) ||
	    number > most)
		return err_set(err, ERR_USAGE,
			       "pods check: --%s: \"%s\" is not a number from "
			       "0 to %.0f",
			       name, value, most);
	*out = number;
	return 0;
}

static int
take_limit(struct check *check, int option, const char *value, struct err *err)
{
	if (option == OPTION_MIN_FREE)
		return take_number("min-free", value, 1e18, &check->min_free,
				   err);
	return take_number("timeout", value, LIMIT_MOST_S, &check->limit_s,
			   err);
}

static int
take_options(struct cmd_args *args, struct check *check,
	     enum out_format *format, struct err *err)
{
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (option == OPTION_ACCEPT_NEW)
			check->accept_new = true;
		else if (option == OPTION_NO_GPU)
			check->no_gpu = true;
		else if (option <= OPTION_MD)
			*format = (enum out_format)(option + OUT_JSON);
		else if (take_limit(check, option, value, err) != 0)
			return -1;
	}
	return option == CMD_OPTIONS_WRONG ? -1 : 0;
}

static int
run(struct cmd_args *args, struct err *err)
{
	struct check check = { .min_free = DEFAULT_FREE,
			       .limit_s = DEFAULT_LIMIT };
	enum out_format format = OUT_TABLE;
	struct conf conf;
	int rc;
	size_t all;

	if (take_options(args, &check, &format, err) != 0 ||
	    conf_load(&conf, args->env->config_path, err) != 0)
		return -1;
	all = conf.n_pods;
	rc = pods_choose(&conf, args->argv + args->next,
			 args->argc - args->next, err);
	if (rc == 0)
		rc = err_set(err, ERR_NODATA, "the configuration has no pods");
	if (rc > 0) {
		conf.n_pods = check.n = (size_t)rc;
		check.conf = &conf;
		check.loop = loop_new(err);
		rc = -1;
		if (check.loop != NULL) {
			loop_on_signal(check.loop, SIGINT, on_signal, &check);
			loop_on_signal(check.loop, SIGTERM, on_signal, &check);
			rc = check_pods(&check, format, err);
			loop_free(check.loop);
		}
		conf.n_pods = all;
	}
	conf_release(&conf);
	return rc;
}

const struct cmd cmd_pods_check = {
	.name = "pods check",
	.usage = "[OPTIONS] [NAME...]",
	.summary = "check whether each pod is fit for a run",
	.help = "Logs in to each pod and looks, without writing anything: "
		"host key, login, shell,\nscratch space, GPUs and who uses "
		"them, driver, python3, torch, triton, what is left\nof "
		"earlier benches, the clock.  One row a pod; each failure is "
		"one of ssh, auth,\nhostkey, gpu, disk, environment, timeout, "
		"with the next step in words.\nExit status 3 when a pod is "
		"not fit, 4 when one cannot be reached.",
	.options = options,
	.exec = run,
};
