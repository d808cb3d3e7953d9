/* SPDX-License-Identifier: MIT */
/* A probe for tests: run a command on a pod over one of the transports.
 *
 *   t-transport [OPTION...] TRANSPORT[:NAME] COMMAND
 *
 * "command:docker exec -i x sh" names the program that provides the shell. stdin is passed to the
 * command; its stdout, stderr and exit status are passed back; the status is 100 + err_code for a
 * stream that was lost. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "loop/loop.h"
#include "remote/fleet.h"
#include "remote/link_priv.h"
#include "tests/support/transport_name.h"

struct probe {
	struct loop *loop;
	struct fleet *fleet;
	struct loop_fd *stdin_watch;
	struct loop_timer *timer, *sleep_timer;
	struct stream **streams;
	long n_streams, running, stutter_left;
	long sleep_ms, cancel_ms, retries, stutter, denied_ms;
	bool stdin_open, quiet;
	const char *command, *passphrase, *host_key_answer;
	int result;
	unsigned long long bytes;
};

static const char usage[] =
	"t-transport [-i KEY] [-k KNOWN_HOSTS] [-J JUMP] [-a] [-n COUNT] [-q]\n"
	"  [-c CANCEL_MS] [-r RETRIES] [-s STUTTER] [-p PASSPHRASE] [-y|-Y]\n"
	"  [-l LOG] [-I] [-v] [-R DENIED_MS] [-Z SLEEP_AFTER_MS] TRANSPORT[:NAME] COMMAND\n"
	"  -a accept a new host key, -y answer yes to it, -Y no\n"
	"  -q count the bytes only, -I ignore stdin, -s take them in bits\n";

/* Simulate suspend: the boot clock is ahead by this time. */
static int64_t slept_ms;

static int64_t boot_ms(const struct clock *clock)
{
	(void)clock;
	return clock_boot_ms() + slept_ms;
}

static void start_one(struct probe *probe, long i);

/* The context of a callback: which stream of the probe it belongs to. */
struct slot {
	struct probe *probe;
	long index;
};

static size_t on_data(void *user, const void *data, size_t len)
{
	struct slot *slot = user;
	struct probe *probe = slot->probe;

	if (probe->stutter > 0) {
		len = len > (size_t)probe->stutter ? (size_t)probe->stutter : len;
		fleet_transport(probe->fleet)->ops->resume(probe->streams[slot->index]);
	}
	probe->bytes += len;
	if (!probe->quiet && (fwrite(data, 1, len, stdout) != len || fflush(stdout) != 0))
		abort();
	return len;
}

static void on_stderr(void *user, const void *data, size_t len)
{
	(void)user;
	fwrite(data, 1, len, stderr);
}

static void on_close(void *user, const struct stream_exit *exit)
{
	struct slot *slot = user;
	struct probe *probe = slot->probe;
	long index = slot->index;

	free(slot);
	probe->streams[index] = NULL;
	if (exit->err.code != ERR_NONE) {
		fprintf(stderr, "t-transport: %s\n", exit->err.text);
		probe->result = 100 + (int)exit->err.code;
		if (probe->retries-- > 0) {
			start_one(probe, index);
			return;
		}
	} else if (exit->signalled) {
		fprintf(stderr, "t-transport: signal %s\n", exit->signal);
		probe->result = 99;
	} else {
		probe->result = exit->status;
	}
	if (--probe->running == 0)
		loop_stop(probe->loop);
}

static const struct stream_cb callbacks = {
	.on_data = on_data,
	.on_stderr = on_stderr,
	.on_close = on_close,
};

static void start_one(struct probe *probe, long i)
{
	struct transport *t = fleet_transport(probe->fleet);
	struct slot *slot = xcalloc(1, sizeof(*slot));
	struct err err;

	slot->probe = probe;
	slot->index = i;
	probe->streams[i] = t->ops->exec(t, 0, probe->command, &callbacks, slot, &err);
	if (probe->streams[i] == NULL) {
		fprintf(stderr, "t-transport: %s\n", err.text);
		exit(2);
	}
	if (!probe->stdin_open || i > 0)
		t->ops->close_stdin(probe->streams[i]);
}

/* Copy stdin to the first stream; wait while its queue is full. */
static void on_stdin(void *user, unsigned int events)
{
	struct probe *probe = user;
	struct transport *t = fleet_transport(probe->fleet);
	static char data[16384];
	static ssize_t n;

	(void)events;
	if (probe->streams[0] == NULL)
		return;
	if (n == 0) {
		n = read(0, data, sizeof(data));
		if (n < 0 && errno == EAGAIN) {
			n = 0;
			return;
		}
	}
	if (n <= 0) {
		loop_fd_close(probe->stdin_watch);
		probe->stdin_watch = NULL;
		probe->stdin_open = false;
		t->ops->close_stdin(probe->streams[0]);
	} else if (t->ops->write(probe->streams[0], data, (size_t)n, NULL) == 0) {
		n = 0;
	}
}

static void on_cancel(void *user)
{
	struct probe *probe = user;

	for (long i = 0; i < probe->n_streams; i++)
		if (probe->streams[i] != NULL)
			fleet_transport(probe->fleet)->ops->cancel(probe->streams[i]);
}

static void on_sleep(void *user)
{
	(void)user;
	slept_ms = 3600 * 1000;
}

static void on_ask(void *user, const struct fleet_question *question)
{
	struct probe *probe = user;

	if (question->ask == FLEET_ASK_HOST_KEY) {
		fprintf(stderr, "t-transport: host key of %s: %s %s\n", question->host,
			question->key_type, question->fingerprint);
		fleet_answer(probe->fleet, 0, probe->host_key_answer);
	} else {
		fprintf(stderr, "t-transport: passphrase of %s%s\n", question->path,
			question->again ? " again" : "");
		fleet_answer(probe->fleet, 0, probe->passphrase);
		probe->passphrase = NULL;
	}
}

static void on_link(void *user, size_t pod)
{
	static const char *const names[] = { "idle",	"connecting", "live",
					     "waiting", "refused",    "gone" };
	struct probe *probe = user;
	struct link_info info;

	if (probe->fleet == NULL)
		return;
	fleet_transport(probe->fleet)->ops->link_info(fleet_transport(probe->fleet), pod, &info);
	fprintf(stderr, "t-transport: link %s%s%s\n", names[info.state],
		info.why.code != ERR_NONE ? ": " : "", info.why.text);
}

static void run(struct probe *probe)
{
	if (probe->stdin_open) {
		fcntl(0, F_SETFL, O_NONBLOCK);
		probe->stdin_watch = loop_fd_new(probe->loop, 0, on_stdin, probe);
		if (probe->stdin_watch != NULL)
			loop_fd_set(probe->stdin_watch, LOOP_READ);
		else
			probe->stdin_open = false;
	}
	probe->running = probe->n_streams;
	for (long i = 0; i < probe->n_streams; i++)
		start_one(probe, i);
	probe->timer = loop_timer_new(probe->loop, on_cancel, probe);
	if (probe->cancel_ms > 0)
		loop_timer_start(probe->timer, probe->cancel_ms, 0);
	probe->sleep_timer = loop_timer_new(probe->loop, on_sleep, NULL);
	if (probe->sleep_ms > 0)
		loop_timer_start(probe->sleep_timer, probe->sleep_ms, 0);
	loop_run(probe->loop);
	loop_timer_close(probe->sleep_timer);
	loop_timer_close(probe->timer);
	loop_fd_close(probe->stdin_watch);
}

static int parse(struct probe *probe, struct remote_pod *pod, struct fleet_options *options,
		 int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "i:k:J:an:qc:r:R:s:p:yYl:IvZ:")) != -1) {
		switch (c) {
		case 'i':
			pod->identity = optarg;
			break;
		case 'k':
			pod->known_hosts = optarg;
			break;
		case 'J':
			pod->proxy_jump = optarg;
			break;
		case 'a':
			options->accept_new = true;
			break;
		case 'n':
			probe->n_streams = strtol(optarg, NULL, 10);
			break;
		case 'q':
			probe->quiet = true;
			break;
		case 'c':
			probe->cancel_ms = strtol(optarg, NULL, 10);
			break;
		case 'Z':
			probe->sleep_ms = strtol(optarg, NULL, 10);
			break;
		case 'r':
			probe->retries = strtol(optarg, NULL, 10);
			break;
		case 'R':
			probe->denied_ms = strtol(optarg, NULL, 10);
			break;
		case 's':
			probe->stutter = strtol(optarg, NULL, 10);
			break;
		case 'p':
			probe->passphrase = optarg;
			break;
		case 'y':
			probe->host_key_answer = "yes";
			break;
		case 'Y':
			options->on_ask = on_ask;
			break;
		case 'I':
			probe->stdin_open = false;
			break;
		case 'v':
			options->on_link = on_link;
			break;
		case 'l':
			if (log_open(optarg, NULL) != 0)
				return -1;
			break;
		default:
			return -1;
		}
	}
	if (probe->passphrase != NULL || probe->host_key_answer != NULL)
		options->on_ask = on_ask;
	return argc - optind == 2 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct probe probe = { .n_streams = 1, .stdin_open = true };
	struct fleet_options options = { .user = &probe };
	struct remote_pod pod = { .name = "pod" };
	struct clock clock = clock_real;
	char *spec;

	if (parse(&probe, &pod, &options, argc, argv) != 0) {
		fputs(usage, stderr);
		return 2;
	}
	spec = xstrdup(argv[optind]);
	probe.command = argv[optind + 1];
	if (!transport_take(&pod, spec))
		return 2;
	probe.streams = xcalloc((size_t)probe.n_streams, sizeof(void *));
	probe.loop = loop_new(NULL);
	probe.fleet = fleet_new(probe.loop, &pod, 1, &options);
	clock.boot_ms = boot_ms;
	probe.fleet->clock = &clock;
	if (probe.denied_ms > 0)
		probe.fleet->denied_retry_ms = probe.denied_ms;
	run(&probe);
	fleet_free(probe.fleet);
	loop_free(probe.loop);
	free(probe.streams);
	if (probe.quiet)
		printf("%llu\n", probe.bytes);
	fflush(stdout);
	log_close();
	free(spec);
	return probe.result;
}
