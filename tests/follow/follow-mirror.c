/* SPDX-License-Identifier: MIT */
/* A small collector for tests: follows the logs of one pod into local copies.
 *
 *   follow-mirror [OPTION...] TRANSPORT[:SSH] DIR GLOB...
 *     -i KEY -k KNOWN_HOSTS   as in a configuration
 *     -v auto|py|sh           which follower to use
 *     -s BYTES                accept at most BYTES at once, then pause
 *     -r                      reconnect at once when the connection is lost
 *     -n                      no local copies: only count bytes
 *     -g                      print when bytes arrived (CLOCK_MONOTONIC, ns)
 *
 * DIR gets the local copies and a journal from which a later start continues. Events are printed to
 * stdout, one per line; stdin accepts status, retry, quiet 0, quiet 1, globs GLOB, stop; the
 * program exits when stdin ends. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "ingest/log_copy.h"
#include "loop/loop.h"
#include "remote/fleet.h"
#include "remote/follow_priv.h"
#include "tests/support/transport_name.h"

struct tool {
	struct loop *loop;
	struct fleet *fleet;
	struct follow *follow;
	struct log_copies *dir;
	struct loop_fd *in;
	struct loop_timer *unpause;
	FILE *journal;
	size_t stutter;
	bool retry, count_only, tell_bytes;
	uint64_t bytes;
};

static const char *const events[] = {
	[FOLLOW_BEGINS] = "begins",	 [FOLLOW_RESUMES] = "resumes", [FOLLOW_RENAMED] = "renamed",
	[FOLLOW_AWAY] = "away",		 [FOLLOW_RESTS] = "rests",     [FOLLOW_ENDS] = "ends",
	[FOLLOW_FORGOTTEN] = "forgotten"
};
static const char *const states[] = { [LINK_IDLE] = "new",
				      [LINK_CONNECTING] = "starting",
				      [LINK_LIVE] = "live",
				      [LINK_WAITING] = "waiting",
				      [LINK_REFUSED] = "refused" };

static void die(const struct err *err)
{
	fprintf(stderr, "follow-mirror: %s\n", err->text);
	exit(1);
}

/* Journal and output contain paths as single words. */
static const char *word(const char *s)
{
	static struct buf bufs[2];
	static int turn;
	struct buf *buf = &bufs[turn ^= 1];

	buf_release(buf);
	buf_init(buf, 1 << 16);
	follow_wire_escape(buf, str_from(s));
	return buf->data;
}

static struct log_copy *open_copy(struct tool *tool, const char *name, unsigned int generation,
				  const struct cksum *known)
{
	struct log_copy *copy = log_copy_new(tool->dir, "pod", str_from(name), generation);
	struct err err = { ERR_NONE, "" };

	if (log_copy_open(copy, known, &err))
		die(&err);
	log_copy_return(copy);
	return copy;
}

static void on_file(void *user, struct follow_file *file, enum follow_event event)
{
	struct tool *tool = user;

	if (event == FOLLOW_FORGOTTEN) {
		log_copy_free(file->user);
		return;
	}
	if (tool->journal != NULL) {
		fprintf(tool->journal, "%s %u %" PRIu64 ":%" PRIu64 " %s %d %s .\n",
			word(file->name), file->generation, file->dev, file->ino, word(file->path),
			file->ended, file->real != NULL ? word(file->real) : "-");
		fflush(tool->journal);
	}
	if (file->user == NULL && !tool->count_only)
		file->user = open_copy(tool, file->name, file->generation,
				       event == FOLLOW_BEGINS ? NULL : &file->sum);
	printf("%s %s %u %" PRIu64 "\n", events[event], word(file->path), file->generation,
	       file->offset);
	if (event == FOLLOW_ENDS && file->user != NULL) {
		file->sum = ((struct log_copy *)file->user)->sum;
		log_copy_end(file->user);
		log_copy_free(file->user);
		file->user = NULL;
	}
}

static struct cksum sum(void *user, const struct follow_file *file)
{
	struct cksum counted = { file->offset, 0 };
	const struct tool *tool = user;
	const struct log_copy *copy = file->user;

	return copy != NULL ? copy->sum : tool->count_only ? counted : file->sum;
}

static void tell_bytes(const struct follow_file *file, size_t len)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	printf("got %s %" PRIu64 " %lld\n", word(file->path), file->offset + len,
	       (long long)now.tv_sec * 1000000000 + now.tv_nsec);
}

static size_t on_bytes(void *user, struct follow_file *file, struct str data)
{
	struct tool *tool = user;
	struct log_copy *copy = file->user;
	struct err err = { ERR_NONE, "" };

	if (tool->stutter > 0 && data.len > tool->stutter) {
		data.len = tool->stutter;
		loop_timer_start(tool->unpause, 1, 0);
	}
	tool->bytes += data.len;
	if (tool->tell_bytes)
		tell_bytes(file, data.len);
	if (tool->count_only)
		return data.len;
	assert(copy->sum.len == file->offset);
	log_copy_lend(copy);
	if (log_copy_append(copy, data, &err) != data.len)
		die(&err);
	log_copy_return(copy);
	return data.len;
}

static void on_preview(void *user, struct follow_file *file, uint64_t offset, struct str data)
{
	(void)user;
	printf("preview %s %" PRIu64 " %zu\n", word(file->path), offset, data.len);
}

static void on_trouble(void *user, struct str path, int error)
{
	(void)user;
	printf("trouble %zu %d\n", path.len, error);
}

static void print_status(struct tool *tool, const char *what)
{
	struct follow_status s;

	follow_get_status(tool->follow, &s);
	printf("%s %s %s lag %" PRId64 " bytes %" PRIu64 " losses %u scanned %d"
	       " followed %" PRIu64 " of %" PRIu64 ": %s\n",
	       what, states[s.state], s.python ? "py" : "sh", s.lag_ms, s.bytes, s.losses,
	       s.scanned, s.n_followed, s.n_matching, s.why.text);
}

static void on_state(void *user, const struct follow_status *status)
{
	struct tool *tool = user;

	print_status(tool, "state");
	if (status->state == LINK_WAITING && tool->retry)
		follow_retry(tool->follow);
}

static void on_unpause(void *user)
{
	struct tool *tool = user;

	follow_resume(tool->follow);
}

static void obey(struct tool *tool, char *line)
{
	const char *glob = line + 6;

	if (strcmp(line, "status") == 0)
		print_status(tool, "status");
	else if (strcmp(line, "retry") == 0)
		follow_retry(tool->follow);
	else if (strncmp(line, "quiet ", 6) == 0)
		follow_set_quiet(tool->follow, line[6] == '1');
	else if (strncmp(line, "globs ", 6) == 0)
		follow_start(tool->follow, &glob, 1);
	else
		printf("what?\n");
}

static void on_stdin(void *user, unsigned int seen)
{
	struct tool *tool = user;
	char data[4096], *rest = data, *line;
	ssize_t n = read(0, data, sizeof(data) - 1);

	(void)seen;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		loop_stop(tool->loop);
		return;
	}
	data[n] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			obey(tool, line);
}

/* Decode \0ooo to bytes, in place. */
static char *unescape(char *s)
{
	char *out = s;

	for (const char *in = s; *in != '\0';) {
		if (in[0] == '\\') {
			char digits[4] = { in[2], in[3], in[4], '\0' };

			*out++ = (char)strtol(digits, NULL, 8);
			in += 5;
		} else {
			*out++ = *in++;
		}
	}
	*out = '\0';
	return s;
}

/* Pass one line of the journal, the last one of its local copy, to the follower. */
static void know_line(struct tool *tool, char *line)
{
	struct follow_known known = { 0 };
	char *name = strsep(&line, " "), *generation = strsep(&line, " ");
	char *id = strsep(&line, " "), *path = strsep(&line, " ");
	char *ended = strsep(&line, " "), *real = strsep(&line, " ");
	const struct cksum none = { 0, 0 };
	struct log_copy *copy;

	known.name = unescape(name);
	known.generation = (unsigned int)strtoul(generation, NULL, 10);
	known.identity.dev = strtoull(id, &id, 10);
	known.identity.inode = strtoull(id + 1, NULL, 10);
	known.identity.path = unescape(path);
	known.identity.ended = ended[0] == '1';
	known.identity.real = strcmp(real, "-") == 0 ? NULL : unescape(real);
	copy = open_copy(tool, known.name, known.generation, &none);
	known.identity.sum = copy->sum;
	known.offset = copy->sum.len;
	known.user = copy;
	if (known.identity.ended) {
		log_copy_end(copy);
		log_copy_free(copy);
		known.user = NULL;
	}
	(void)follow_know(tool->follow, &known);
}

/* Keep the last complete line of each (name, generation). */
static void read_journal(struct tool *tool, const char *path)
{
	FILE *in = fopen(path, "r");
	char *lines[4096], *line = NULL;
	size_t n = 0, room = 0;

	while (in != NULL && getline(&line, &room, in) > 2) {
		size_t key = strcspn(line, " "), i = 0;

		if (strcmp(line + strlen(line) - 2, ".\n") != 0)
			break;
		key += 1 + strcspn(line + key + 1, " ");
		while (i < n && strncmp(lines[i], line, key + 1) != 0)
			i++;
		assert(i < 4096);
		if (i < n)
			free(lines[i]);
		else
			n++;
		lines[i] = xstrdup(line);
	}
	free(line);
	for (size_t i = 0; i < n; i++) {
		know_line(tool, lines[i]);
		free(lines[i]);
	}
	if (in != NULL)
		fclose(in);
}

static enum follow_variant variant_of(const char *name)
{
	return strcmp(name, "py") == 0	 ? FOLLOW_PYTHON
	       : strcmp(name, "sh") == 0 ? FOLLOW_SHELL
					 : FOLLOW_AUTO;
}

static void run(struct tool *tool, struct remote_pod *pod, enum follow_variant variant, char **argv)
{
	struct fleet_options fleet_options = { 0 };
	struct follow_options options = { .variant = variant, .user = tool };
	struct err err = { ERR_NONE, "" };
	char *journal = xasprintf("%s/journal", argv[0]);
	size_t n = 0;

	tool->loop = loop_new(&err);
	if (tool->loop == NULL)
		die(&err);
	tool->dir = log_copies_open(argv[0], UINT64_MAX / 2, &err);
	if (tool->dir == NULL)
		die(&err);
	tool->fleet = fleet_new(tool->loop, pod, 1, &fleet_options);
	options.loop = tool->loop;
	options.transport = fleet_transport(tool->fleet);
	options.cb = (struct follow_cb){ on_file, on_bytes, sum, on_preview, on_trouble, on_state };
	tool->follow = follow_new(&options);
	tool->unpause = loop_timer_new(tool->loop, on_unpause, tool);
	if (!tool->count_only) {
		read_journal(tool, journal);
		tool->journal = fopen(journal, "a");
	}
	while (argv[1 + n] != NULL)
		n++;
	(void)fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
	tool->in = loop_fd_new(tool->loop, 0, on_stdin, tool);
	loop_fd_set(tool->in, LOOP_READ);
	follow_start(tool->follow, (const char *const *)argv + 1, n);
	loop_run(tool->loop);
	free(journal);
}

static void tear_down(struct tool *tool)
{
	follow_free(tool->follow);
	fleet_free(tool->fleet);
	loop_fd_close(tool->in);
	loop_timer_close(tool->unpause);
	log_copies_free(tool->dir);
	loop_free(tool->loop);
	if (tool->journal != NULL)
		fclose(tool->journal);
}

int main(int argc, char **argv)
{
	struct tool tool = { 0 };
	struct remote_pod pod = { .name = "pod" };
	enum follow_variant variant = FOLLOW_AUTO;
	int c;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt(argc, argv, "i:k:v:s:rng")) != -1) {
		if (c == 'i')
			pod.identity = optarg;
		else if (c == 'k')
			pod.known_hosts = optarg;
		else if (c == 'v')
			variant = variant_of(optarg);
		else if (c == 's')
			tool.stutter = strtoul(optarg, NULL, 10);
		else if (c == 'r')
			tool.retry = true;
		else if (c == 'g')
			tool.tell_bytes = true;
		else if (c == 'n')
			tool.count_only = true;
		else
			return 2;
	}
	if (argc - optind < 3)
		return 2;
	if (!transport_take(&pod, argv[optind]))
		return 2;
	run(&tool, &pod, variant, argv + optind + 1);
	tear_down(&tool);
	return 0;
}
