/* SPDX-License-Identifier: MIT */
/* Bytes that a pod may send instead of a follower's frames: splitting them anywhere gives the same
 * frames and the same error. */
#include <string.h>

#include "remote/frame.h"
#include "tests/fuzz/fuzz.h"

static void mix(uint64_t *hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		*hash = (*hash ^ p[i]) * 1099511628211U;
}

/* The bytes of D and V frames are hashed separately, because they arrive in arbitrary parts. */
static void mix_frame(uint64_t *hash, const struct frame *frame, bool bytes)
{
	const uint64_t words[] = { (uint64_t)frame->type,
				   frame->id,
				   frame->stamp,
				   frame->all,
				   frame->sum,
				   frame->dev,
				   frame->ino,
				   frame->size,
				   (uint64_t)frame->error,
				   frame->seq,
				   frame->pod_ms,
				   frame->python };

	MUST(frame->offset <= INT64_MAX && frame->size <= INT64_MAX);
	MUST(frame->data.len <= FRAME_DATA_MAX);
	if (!bytes)
		mix(hash, words, sizeof(words));
	mix(hash, frame->data.p, frame->data.len);
}

/* Feed one piece, with at most `most` bytes of data at once. */
static int feed(struct frame_reader *reader, struct str in, size_t most, uint64_t *hash)
{
	struct frame frame;
	struct err err = { ERR_NONE, "" };
	int found;

	while ((found = frame_next(reader, &in, &frame, &err)) == 1) {
		bool bytes = frame.type == FRAME_DATA || frame.type == FRAME_PREVIEW;

		if (bytes && frame.data.len > most)
			frame.data.len = most;
		mix_frame(hash, &frame, bytes);
		if (bytes)
			frame_take(reader, &in, frame.data.len);
	}
	MUST(found == 0 || err.text[0] != '\0');
	return found;
}

static uint64_t hash_of(const uint8_t *data, size_t size, bool cut)
{
	static struct frame_reader reader;
	uint64_t hash = 14695981039346656037U;
	size_t at = 0;
	int got;

	frame_reader_init(&reader, "n");
	got = feed(&reader, STR_LIT("HGF2 n OK py 1\n"), 1, &hash);
	while (got == 0 && at < size) {
		size_t n = cut ? data[size - 1 - at] % 7U + 1 : size;

		n = n < size - at ? n : size - at;
		got = feed(&reader, (struct str){ (const char *)data + at, n }, cut ? 3 : SIZE_MAX,
			   &hash);
		at += n;
	}
	return hash + (uint64_t)(got == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MUST(hash_of(data, size, false) == hash_of(data, size, true));
	return 0;
}
