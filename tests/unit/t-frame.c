/* SPDX-License-Identifier: MIT */
/* The frame reader: every division of a good stream, and many kinds of rubbish. */
#include <stdlib.h>

#include "base/buf.h"
#include "remote/frame.h"
#include "tests/support/tap.h"

static const char good[] = "motd\nHGF2 wrong OK py 1\n\n"
			   "HGF2 abc OK py 77\n"
			   "N 1 2049:17 9 77 4 3\na\nb/r/l"
			   "U 1 9 78\n"
			   "C 1 5 4294967295\n"
			   "D 1 5 4\n\nD 1"
			   "V 1 100 3\nend"
			   "T 1 0\n"
			   "M 1 1 0\nx"
			   "M 1 0 0\n"
			   "E 0 13 0\n"
			   "E 3 5 2\npq"
			   "X 1 9\n"
			   "S 64 70\n"
			   "H 7 123456789012\n";

/* The content of the good stream, with its D and V parts joined. */
static const char want[] = "hello py\n"
			   "file 1 2049:17 9 77 a\nb/ r/l\n"
			   "rests 1 9 78\n"
			   "sum 1 5 4294967295\n"
			   "data 1 5 [\nD 1] 9\n"
			   "preview 1 100 [end] 103\n"
			   "reset 1 0\n"
			   "moved 1 x \n"
			   "moved 1  \n"
			   "error 0 13  \n"
			   "error 3 5 pq \n"
			   "gone 1 9\n"
			   "scanned 64 of 70\n"
			   "beat 7 123456789012\n";

struct teller {
	struct buf out;
	bool open; /* inside the bytes of a D or V */
	uint64_t at;
};

static void tell_end(struct teller *teller)
{
	if (teller->open)
		buf_appendf(&teller->out, "] %llu\n", (unsigned long long)teller->at);
	teller->open = false;
}

static void tell_bytes(struct teller *teller, const struct frame *frame, const char *word)
{
	if (!teller->open)
		buf_appendf(&teller->out, "%s %u %llu [", word, frame->id,
			    (unsigned long long)frame->offset);
	teller->open = true;
	teller->at = frame->offset + frame->data.len;
	buf_append(&teller->out, frame->data.p, frame->data.len);
}

static void tell(struct teller *teller, const struct frame *frame)
{
	struct buf *out = &teller->out;
	unsigned long long size = frame->size;

	if (frame->type == FRAME_DATA) {
		tell_bytes(teller, frame, "data");
		return;
	}
	if (frame->type == FRAME_PREVIEW) {
		if (teller->at < 100)
			tell_end(teller);
		tell_bytes(teller, frame, "preview");
		return;
	}
	tell_end(teller);
	if (frame->type == FRAME_HELLO)
		buf_appendf(out, "hello %s\n", frame->python ? "py" : "sh");
	else if (frame->type == FRAME_FILE || frame->type == FRAME_FOUND)
		buf_appendf(out, "file %u %llu:%llu %llu %llu ", frame->id,
			    (unsigned long long)frame->dev, (unsigned long long)frame->ino, size,
			    (unsigned long long)frame->stamp);
	else if (frame->type == FRAME_REST)
		buf_appendf(out, "rests %u %llu %llu\n", frame->id, size,
			    (unsigned long long)frame->stamp);
	else if (frame->type == FRAME_SUM)
		buf_appendf(out, "sum %u %llu %u\n", frame->id, (unsigned long long)frame->offset,
			    frame->sum);
	else if (frame->type == FRAME_LACKS)
		buf_appendf(out, "lacks %.*s\n", (int)frame->data.len, frame->data.p);
	else if (frame->type == FRAME_RESET)
		buf_appendf(out, "reset %u %llu\n", frame->id, size);
	else if (frame->type == FRAME_MOVED)
		buf_appendf(out, "moved %u ", frame->id);
	else if (frame->type == FRAME_ERROR)
		buf_appendf(out, "error %u %d ", frame->id, frame->error);
	else if (frame->type == FRAME_GONE)
		buf_appendf(out, "gone %u %llu\n", frame->id, (unsigned long long)frame->offset);
	else if (frame->type == FRAME_SCANNED)
		buf_appendf(out, "scanned %llu of %llu\n", size, (unsigned long long)frame->all);
	else
		buf_appendf(out, "beat %llu %llu\n", (unsigned long long)frame->seq,
			    (unsigned long long)frame->pod_ms);
	if (frame->type == FRAME_FILE || frame->type == FRAME_MOVED || frame->type == FRAME_ERROR) {
		buf_append(out, frame->data.p, frame->data.len);
		buf_append_char(out, ' ');
		buf_append(out, frame->real.p, frame->real.len);
		buf_append_char(out, '\n');
	}
}

/* Feed one piece, taking at most `most` bytes of a frame's data at a time. */
static int feed(struct frame_reader *reader, struct str in, size_t most, struct teller *teller,
		struct err *err)
{
	struct frame frame;
	int found;

	while ((found = frame_next(reader, &in, &frame, err)) == 1) {
		bool bytes = frame.type == FRAME_DATA || frame.type == FRAME_PREVIEW;

		if (bytes && frame.data.len > most)
			frame.data.len = most;
		tell(teller, &frame);
		if (bytes)
			frame_take(reader, &in, frame.data.len);
	}
	return found;
}

/* Does the good stream, cut at bytes a and b, give the same frames? */
static bool cut_is_same(size_t a, size_t b, size_t most)
{
	const size_t len = sizeof(good) - 1;
	const struct str pieces[] = { { good, a }, { good + a, b - a }, { good + b, len - b } };
	struct frame_reader *reader = malloc(sizeof(*reader));
	struct teller teller = { 0 };
	bool same = true;

	buf_init(&teller.out, 4096);
	frame_reader_init(reader, "abc");
	for (size_t i = 0; i < 3; i++)
		same = same && feed(reader, pieces[i], most, &teller, NULL) == 0;
	same = same && strcmp(teller.out.data, want) == 0;
	if (!same)
		printf("# cut %zu %zu gives:\n%s", a, b, teller.out.data);
	buf_release(&teller.out);
	free(reader);
	return same;
}

static void test_cuts(void)
{
	const size_t len = sizeof(good) - 1;
	bool same = true;

	for (size_t a = 0; same && a <= len; a++)
		for (size_t b = a; same && b <= len; b++)
			same = cut_is_same(a, b, 1 + (a + b) % 5);
	ok(same, "any division into three pieces gives the same frames");
}

/* Feed text after a hello, byte by byte; returns the result of the first refusal. */
static int refusal(const char *text, size_t len, struct err *err)
{
	struct frame_reader *reader = malloc(sizeof(*reader));
	struct teller teller = { 0 };
	int got = 0;

	buf_init(&teller.out, 1 << 16);
	frame_reader_init(reader, "n");
	got = feed(reader, STR_LIT("HGF2 n OK sh 1\n"), 1, &teller, err);
	for (size_t i = 0; got == 0 && i < len; i++)
		got = feed(reader, (struct str){ text + i, 1 }, 1, &teller, err);
	buf_release(&teller.out);
	free(reader);
	return got;
}

static void test_rubbish(void)
{
	static const char *const bad[] = {
		"\n",
		"Z 1 2\n",
		"D\n",
		"D 1 2\n",
		"D 0 2 3\n",
		"D 1 2 0\n",
		"D 1 2 262145\n",
		"D 1 2 99999999999999999999\n",
		"D 1 -2 3\n",
		"D 1 +2 3\n",
		"D 1 9223372036854775807 3\n",
		"D 1 2 3 4\n",
		"D 1  2 3\n",
		"D 1 2 3 \n",
		"D 4294967296 2 3\n",
		"D 1 2 0x3\n",
		"N 1 1:1 0 0 1025 0\n",
		"N 1 1:1 0 0 1 1025\n",
		"N 1 11 0 0 1 0\n",
		"N 1 1: 0 0 1 0\n",
		"N 1 1:1 0 0 1\n",
		"N 1 1:1 0 -1 1 0\n",
		"U 1 2\n",
		"U 0 2 3\n",
		"C 1 2 4294967296\n",
		"C 1 2\n",
		"M 1 1\n",
		"S 1\n",
		"E 1 99999 0\n",
		"H 1\n",
		"H \xff 1\n",
		"HGF2 n OK py 1\n",
	};
	struct err err = { 0 };
	char *longest = malloc(400);
	bool clear = true;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct err){ 0 };
		if (refusal(bad[i], strlen(bad[i]), &err) != -1 || err.code != ERR_REMOTE ||
		    err.text[0] == '\0') {
			clear = false;
			printf("# taken: %s", bad[i]);
		}
	}
	ok(clear, "each wrong header is refused with a sentence");
	memset(longest, 'D', 400);
	is_int(refusal(longest, 400, &err), -1, "an endless header is refused");
	free(longest);
}

static void test_noise(void)
{
	struct frame_reader *reader = malloc(sizeof(*reader));
	struct teller teller = { 0 };
	char *noise = malloc(1 << 16);
	int got = 0, rounds = 0;

	buf_init(&teller.out, 1 << 16);
	memset(noise, 'n', 1 << 16);
	frame_reader_init(reader, "n");
	while (got == 0 && rounds++ < 1000)
		got = feed(reader, (struct str){ noise, 1 << 16 }, 1, &teller, NULL);
	ok(got == -1 && rounds == 17, "the reader gives up on endless noise");
	frame_reader_init(reader, "n");
	(void)feed(reader, STR_LIT("sh: 1: no such thing\n \n"), 1, &teller, NULL);
	is_str(reader->said, "sh: 1: no such thing", "the noise is kept");
	buf_clear(&teller.out);
	(void)feed(reader, STR_LIT("HGF2 n LACKS stat mkfifo\n"), 1, &teller, NULL);
	is_str(teller.out.data, "lacks stat mkfifo\n", "missing tools of the pod are reported");
	buf_release(&teller.out);
	free(noise);
	free(reader);
}

/* With any bytes, the reader must end and stay inside its memory. */
static void test_random(void)
{
	static const char letters[] = "NOUCDVTMXESH0123456789: \n\n-\xff";
	struct frame_reader *reader = malloc(sizeof(*reader));
	struct teller teller = { 0 };
	unsigned int seed = 1;
	char data[64];

	buf_init(&teller.out, 1 << 16);
	for (int round = 0; round < 20000; round++) {
		int got = 0;

		frame_reader_init(reader, "n");
		(void)feed(reader, STR_LIT("HGF2 n OK sh 1\n"), 1, &teller, NULL);
		for (size_t i = 0; i < sizeof(data); i++) {
			seed = seed * 1103515245 + 12345;
			data[i] = letters[(seed >> 16) % sizeof(letters)];
		}
		got = feed(reader, (struct str){ data, sizeof(data) }, 7, &teller, NULL);
		if (got != 0 && got != -1)
			break;
		buf_clear(&teller.out);
	}
	ok(true, "the reader ends after random headers");
	buf_release(&teller.out);
	free(reader);
}

int main(void)
{
	test_cuts();
	test_rubbish();
	test_noise();
	test_random();
	return tap_done();
}
