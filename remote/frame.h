/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * The output of a follower.  Header lines are ASCII, at most 256 bytes including their '\n', with
 * words separated by one space; the payload that they count follows raw.  Everything before the
 * line with our nonce is noise of the login shell.
 *
 *	HGF2 <nonce> OK <py|sh> <pid>
 *	HGF2 <nonce> LACKS <tool>..	it cannot run without these tools, and exits
 *	N <id> <dev>:<ino> <size> <stamp> <plen> <rlen>\n<path><real>
 *		a file exists and has this number from now on; real: the target of path if it is
 *		a symlink, otherwise rlen is 0
 *	O ...	the same, for a file requested by its inode that matches no pattern
 *	U <id> <size> <stamp>	it stopped growing at that size, and differs from the last report;
 *		the stamp (its change time) is two seconds old if all of its bytes were sent
 *	C <id> <off> <sum>	cksum(1) of its first off bytes, which may be fewer than requested
 *	D <id> <off> <len>\n<bytes>	len of 1..256 KiB, in order
 *	V <id> <off> <len>\n<bytes>	preview of the end of a file whose D are more than 1 MiB
 *		behind; these bytes are sent again
 *	T <id> <size>		truncated or rewritten: starts at 0
 *	M <id> <plen> <rlen>\n<path><real>	its current path; plen 0: no path names it any
 *		more, and it is still read
 *	X <id> <off>		dropped after all of it was sent; without a preceding M: it exists,
 *		but there is no room for it
 *	E <id> <errno> <plen>\n<path>	cannot be read (id 0: was never open)
 *	S <n> <all>		a scan is complete: n files are followed; all includes those for
 *		which there was no room.  A file with several names counts once, one that cannot
 *		be opened does not count
 *	H <seq> <ms>		heartbeat; seq of the last P, the pod's clock (any epoch)
 */
enum frame_type {
	FRAME_HELLO,
	FRAME_LACKS,
	FRAME_FILE,
	FRAME_FOUND,
	FRAME_REST,
	FRAME_SUM,
	FRAME_DATA,
	FRAME_PREVIEW,
	FRAME_RESET,
	FRAME_MOVED,
	FRAME_GONE,
	FRAME_ERROR,
	FRAME_SCANNED,
	FRAME_BEAT,
};

/* Content of a frame; members that its type does not have are 0. */
struct frame {
	enum frame_type type;
	uint32_t id;	   /* N O U C D V T M X E */
	uint64_t dev, ino; /* N O */
	uint64_t offset;   /* D V: of data.p[0]; C X: end of the range */
	uint64_t size;	   /* N O U T: bytes of the file; S: number of files */
	uint64_t stamp;	   /* N O U */
	uint64_t all;	   /* S */
	uint32_t sum;	   /* C */
	int error;	   /* E: errno of the pod */
	uint64_t seq;	   /* H */
	uint64_t pod_ms;   /* H */
	bool python;	   /* HELLO: the variant */
	/* N O M E: path; D V: a part of the bytes; LACKS: the tools. Borrowed until the next
	 * call. */
	struct str data;
	struct str real; /* N O M: as data */
};

#define FRAME_LINE_MAX	256
#define FRAME_PATH_MAX	1024
#define FRAME_DATA_MAX	(256 * 1024)
#define FRAME_NOISE_MAX (1024 * 1024)

enum frame_state { FRAME_IN_NOISE, FRAME_IN_LINE, FRAME_IN_PATH, FRAME_IN_DATA };

/* Bytes in, frames out: splitting the bytes anywhere gives the same frames (D and V arrive in
 * parts). Memory is this struct, whatever the bytes are. */
struct frame_reader {
	char sentinel[48]; /* "HGF2 <nonce> " */
	enum frame_state state;
	struct frame frame; /* type of the payload in progress */
	size_t want;	    /* remaining bytes of the payload */
	size_t len;	    /* bytes in text */
	bool overlong;	    /* a line of noise that did not fit */
	size_t noise_bytes;
	char said[128]; /* the start of the last line of noise; raw, NUL-terminated */
	char text[2 * FRAME_PATH_MAX];
};

/* nonce of at most 32 letters and digits. */
void frame_reader_init(struct frame_reader *reader, const char *nonce);

/* The next frame of *in: 1 and *frame, 0 when all of *in is consumed, -1 with err if this is not a
 * follower's stream (permanent). FRAME_DATA and FRAME_PREVIEW leave their bytes in *in: consume
 * them with frame_take, completely or in part; the next call returns the rest. */
int frame_next(struct frame_reader *reader, struct str *in, struct frame *frame,
	       struct err *err) MUST_USE;

/* Consume the first n bytes of the data that frame_next left in *in. */
void frame_take(struct frame_reader *reader, struct str *in, size_t n);
