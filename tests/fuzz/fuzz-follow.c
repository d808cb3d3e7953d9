/* SPDX-License-Identifier: MIT */
/* A complete follow session against a hostile pod: each byte that counts arrives at the next offset
 * of its file, whatever the pod claims. */
#include "remote/follow_priv.h"

#include <string.h>

#include "base/xalloc.h"
#include "tests/fuzz/fuzz.h"

struct stream {
	struct stream_cb cb;
	void *user;
	char nonce[FOLLOW_NONCE_SIZE];
	bool cancelled;
};

/* The state for one input. */
struct pod {
	struct transport transport;
	struct loop *loop;
	struct stream *stream;
	struct str said;
};

static struct pod pod;

static void feed(void *user)
{
	struct stream *s = pod.stream;
	char hello[64];
	int n = snprintf(hello, sizeof(hello), "\nHGF2 %s OK py 1\n", s->nonce);
	size_t at = 0;

	(void)user;
	(void)s->cb.on_data(s->user, hello, (size_t)n);
	while (at < pod.said.len && !s->cancelled) {
		size_t left = pod.said.len - at;
		size_t part = (unsigned char)pod.said.p[at] % 63U + 1;
		size_t took;

		part = part < left ? part : left;
		took = s->cb.on_data(s->user, pod.said.p + at, part);
		MUST(took <= part);
		at += took;
	}
	loop_stop(pod.loop);
}

static struct stream *pod_exec(struct transport *t, size_t index, const char *command,
			       const struct stream_cb *cb, void *user, struct err *err)
{
	struct stream *s = xcalloc(1, sizeof(*s));

	(void)t;
	(void)index;
	(void)err;
	s->cb = *cb;
	s->user = user;
	MUST(strlen(command) < 32768);
	memcpy(s->nonce, command + strlen(command) - FOLLOW_NONCE_SIZE + 1, FOLLOW_NONCE_SIZE);
	pod.stream = s;
	loop_post(pod.loop, feed, NULL);
	return s;
}

static int pod_write(struct stream *s, const void *data, size_t len, struct err *err)
{
	(void)s;
	(void)err;
	MUST(len > 0 && ((const char *)data)[len - 1] == '\n');
	return 0;
}

static void pod_cancel(struct stream *s)
{
	s->cancelled = true;
}

static void pod_link(struct transport *t, size_t index, struct link_info *info)
{
	(void)t;
	(void)index;
	*info = (struct link_info){ .state = LINK_LIVE };
}

static const struct transport_ops pod_ops = {
	.exec = pod_exec,
	.write = pod_write,
	.cancel = pod_cancel,
	.link_info = pod_link,
};

/* file->user is the number of bytes received, plus 1. */
static void on_file(void *user, struct follow_file *file, enum follow_event event)
{
	(void)user;
	MUST(file->path[0] != '\0' && file->name[0] != '\0');
	if (event == FOLLOW_BEGINS) {
		MUST(file->user == NULL && file->offset == 0);
		file->user = (void *)1;
	}
	MUST(file->offset + 1 == (uintptr_t)file->user);
	if (event != FOLLOW_FORGOTTEN)
		MUST(follow_is_live(file) == (event != FOLLOW_ENDS));
}

static size_t on_bytes(void *user, struct follow_file *file, struct str data)
{
	(void)user;
	MUST(follow_is_live(file) && data.len > 0);
	MUST(file->offset + 1 == (uintptr_t)file->user);
	data.len -= data.len / 3;
	file->user = (char *)file->user + data.len;
	return data.len;
}

/* Return a checksum of the known part, five bytes; the target does not verify checksums. */
static struct cksum sum(void *user, const struct follow_file *file)
{
	struct cksum sum = { 0, 0 };

	(void)user;
	(void)file;
	cksum_add(&sum, "12345", 5);
	return sum;
}

/* Make a file of which five bytes are known from an earlier session. */
static void know(struct follow *follow)
{
	struct follow_known known = { .identity = { .path = "k", .dev = 1 }, .name = "k" };

	cksum_add(&known.identity.sum, "12345", 5);
	known.offset = 5;
	known.user = (void *)6;
	(void)follow_know(follow, &known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const globs[] = { "*" };
	const struct stream_exit over = { .exited = true };
	struct follow_options options = {
		.transport = &pod.transport,
		.cb = { .on_file = on_file, .on_bytes = on_bytes, .sum = sum },
	};
	struct follow *follow;

	pod = (struct pod){ .transport = { &pod_ops },
			    .loop = loop_new(NULL),
			    .said = { (const char *)data, size } };
	MUST(pod.loop != NULL);
	options.loop = pod.loop;
	follow = follow_new(&options);
	know(follow);
	follow_start(follow, globs, 1);
	loop_run(pod.loop);
	follow_free(follow);
	pod.stream->cb.on_close(pod.stream->user, &over);
	free(pod.stream);
	loop_free(pod.loop);
	return 0;
}
