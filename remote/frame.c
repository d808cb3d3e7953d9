/* SPDX-License-Identifier: MIT */
/* Reads the frames of a follower from the bytes that a pod sent; for follow.c. */
#include "remote/frame.h"

#include <assert.h>

/* The words of each header line, as one letter per word; see numbers[]. */
static const struct frame_form {
	char letter;
	enum frame_type type;
	const char *words;
} forms[] = {
	{ 'N', FRAME_FILE, "inztpr" }, { 'O', FRAME_FOUND, "inztpr" },
	{ 'U', FRAME_REST, "izt" },    { 'C', FRAME_SUM, "ioc" },
	{ 'D', FRAME_DATA, "iol" },    { 'V', FRAME_PREVIEW, "iol" },
	{ 'T', FRAME_RESET, "iz" },    { 'M', FRAME_MOVED, "ipr" },
	{ 'X', FRAME_GONE, "io" },     { 'E', FRAME_ERROR, "0ep" },
	{ 'S', FRAME_SCANNED, "za" },  { 'H', FRAME_BEAT, "qm" },
};

void frame_reader_init(struct frame_reader *reader, const char *nonce)
{
	assert(strlen(nonce) <= 32);
	memset(reader, 0, sizeof(*reader));
	print_into(reader->sentinel, "HGF2 %s ", nonce);
	reader->state = FRAME_IN_NOISE;
}

static bool read_number(struct str word, uint64_t most, uint64_t *out)
{
	return word.len > 0 && word.p[0] >= '0' && word.p[0] <= '9' && str_to_u64(word, out) &&
	       *out <= most;
}

#define FAR	      (INT64_MAX - FRAME_DATA_MAX)
#define FIELD(member) offsetof(struct frame, member), sizeof(((struct frame *)0)->member)

/* For each letter of a word that is a number: its member in struct frame, and its range. */
static const struct frame_number {
	char kind;
	size_t at, size;
	uint64_t least, most;
} numbers[] = {
	{ 'i', FIELD(id), 1, UINT32_MAX },
	{ '0', FIELD(id), 0, UINT32_MAX },
	{ 'o', FIELD(offset), 0, FAR },
	{ 'z', FIELD(size), 0, FAR },
	{ 't', FIELD(stamp), 0, FAR },
	{ 'a', FIELD(all), 0, FAR },
	{ 'c', FIELD(sum), 0, UINT32_MAX },
	{ 'p', FIELD(data.len), 0, FRAME_PATH_MAX },
	{ 'r', FIELD(real.len), 0, FRAME_PATH_MAX },
	{ 'l', FIELD(data.len), 1, FRAME_DATA_MAX },
	{ 'e', FIELD(error), 0, 4095 },
	{ 'q', FIELD(seq), 0, UINT64_MAX },
	{ 'm', FIELD(pod_ms), 0, UINT64_MAX },
};

/* Read one word of a header into the frame; false if it is invalid. */
static bool frame_word(struct frame *frame, char kind, struct str word)
{
	const struct frame_number *to = numbers;
	struct str piece;
	uint64_t n = 0;

	if (kind == 'n') /* <dev>:<ino> */
		return str_next(&word, ':', &piece) &&
		       read_number(piece, UINT64_MAX, &frame->dev) &&
		       read_number(word, UINT64_MAX, &frame->ino);
	while (to->kind != kind)
		to++;
	if (!read_number(word, to->most, &n) || n < to->least)
		return false;
	uint32_t small = (uint32_t)n;
	memcpy((char *)frame + to->at, to->size == sizeof(n) ? (const void *)&n : &small, to->size);
	return true;
}

/* Read a header line into reader->frame, and set reader->state for its payload. */
static int frame_parse(struct frame_reader *reader, struct str line, struct err *err)
{
	const struct frame_form *form =
		array_find(one, forms, LENGTH(forms),
			   line.len >= 2 && line.p[0] == one->letter && line.p[1] == ' ');
	struct str word;

	reader->frame = (struct frame){ 0 };
	if (form == NULL)
		return err_set(err, ERR_REMOTE,
			       "the follower on the pod sent a line that is not a frame");
	reader->frame.type = form->type;
	line = str_skip(line, 2);
	for (const char *kind = form->words; *kind != '\0'; kind++)
		if (!str_next(&line, ' ', &word) || !frame_word(&reader->frame, *kind, word))
			return err_set(err, ERR_REMOTE,
				       "the follower on the pod sent an invalid %c frame",
				       form->letter);
	if (line.p != NULL)
		return err_set(err, ERR_REMOTE,
			       "the follower on the pod sent a %c frame with too many words",
			       form->letter);
	reader->want = reader->frame.data.len + reader->frame.real.len;
	if (form->type == FRAME_DATA || form->type == FRAME_PREVIEW)
		reader->state = FRAME_IN_DATA;
	else if (strchr(form->words, 'p') != NULL)
		reader->state = FRAME_IN_PATH;
	return 0;
}

/* Move bytes of *in up to a '\n' into reader->text, which keeps at most `room` bytes; if more come,
 * drop them and set overlong. True if the line is complete. */
static bool frame_collect(struct frame_reader *reader, struct str *in, size_t room)
{
	const char *end = memchr(in->p, '\n', in->len);
	size_t n = end != NULL ? (size_t)(end - in->p) : in->len;
	size_t fits = n < room - reader->len ? n : room - reader->len;

	memcpy(reader->text + reader->len, in->p, fits);
	reader->len += fits;
	reader->overlong |= fits < n;
	n += end != NULL;
	*in = str_skip(*in, n);
	if (reader->state == FRAME_IN_NOISE)
		reader->noise_bytes += n;
	return end != NULL;
}

/* Skip a line of noise; 1 if it is the follower's first line, which ends the noise. */
static int next_noise(struct frame_reader *reader, struct str *in, struct frame *frame,
		      struct err *err)
{
	bool is_whole = frame_collect(reader, in, FRAME_LINE_MAX), is_overlong = reader->overlong;
	struct str line = { reader->text, reader->len };
	size_t n = line.len < sizeof(reader->said) - 1 ? line.len : sizeof(reader->said) - 1;

	if (is_whole) {
		reader->len = 0;
		reader->overlong = false;
	}
	if (is_whole && !is_overlong && str_starts_with(line, reader->sentinel)) {
		line = str_skip(line, strlen(reader->sentinel));
		*frame = (struct frame){ .type = FRAME_HELLO };
		frame->python = str_starts_with(line, "OK py");
		if (str_starts_with(line, "LACKS ")) {
			frame->type = FRAME_LACKS;
			frame->data = str_skip(line, 6);
		}
		reader->state = FRAME_IN_LINE;
		return 1;
	}
	if (is_whole && str_trim(line).len > 0) {
		memcpy(reader->said, line.p, n);
		reader->said[n] = '\0';
	}
	if (reader->noise_bytes > FRAME_NOISE_MAX)
		return err_set(
			err, ERR_REMOTE,
			"the pod's login shell printed more than %d bytes before the follower "
			"started",
			FRAME_NOISE_MAX);
	return 0;
}

/* Read a header; 1 if the frame has no payload and is complete. */
static int next_line(struct frame_reader *reader, struct str *in, struct frame *frame,
		     struct err *err)
{
	bool whole = frame_collect(reader, in, FRAME_LINE_MAX - 1);

	if (reader->overlong)
		return err_set(err, ERR_REMOTE,
			       "the follower on the pod sent a header of more than %d bytes",
			       FRAME_LINE_MAX);
	if (!whole)
		return 0;
	if (frame_parse(reader, (struct str){ reader->text, reader->len }, err))
		return -1;
	reader->len = 0;
	*frame = reader->frame;
	return reader->state == FRAME_IN_LINE;
}

/* Read the paths of a frame; 1 if they are complete. */
static int next_path(struct frame_reader *reader, struct str *in, struct frame *frame)
{
	size_t n = in->len < reader->want ? in->len : reader->want;

	memcpy(reader->text + reader->len, in->p, n);
	reader->len += n;
	reader->want -= n;
	*in = str_skip(*in, n);
	if (reader->want > 0)
		return 0;
	*frame = reader->frame;
	frame->data.p = reader->text;
	frame->real.p = reader->text + frame->data.len;
	reader->len = 0;
	reader->state = FRAME_IN_LINE;
	return 1;
}

void frame_take(struct frame_reader *reader, struct str *in, size_t n)
{
	assert(reader->state == FRAME_IN_DATA && n <= reader->want && n <= in->len);
	*in = str_skip(*in, n);
	reader->want -= n;
	reader->frame.offset += n;
	if (reader->want == 0)
		reader->state = FRAME_IN_LINE;
}

int frame_next(struct frame_reader *reader, struct str *in, struct frame *frame, struct err *err)
{
	int found = 0;

	while (found == 0) {
		/* A frame with an empty path is complete without another byte. */
		if (in->len == 0 && (reader->state != FRAME_IN_PATH || reader->want > 0))
			return 0;
		switch (reader->state) {
		case FRAME_IN_NOISE:
			found = next_noise(reader, in, frame, err);
			break;
		case FRAME_IN_LINE:
			found = next_line(reader, in, frame, err);
			break;
		case FRAME_IN_PATH:
			found = next_path(reader, in, frame);
			break;
		case FRAME_IN_DATA:
			*frame = reader->frame;
			frame->data.p = in->p;
			frame->data.len = in->len < reader->want ? in->len : reader->want;
			found = 1;
			break;
		}
	}
	return found;
}
