/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * What a follower says.  Header lines are ASCII, at most 256 bytes with their
 * '\n', words parted by one blank; what is counted in them follows raw.  All
 * before the line with our nonce is noise of the login shell.
 *
 *	HGF2 <nonce> OK <py|sh> <pid>
 *	HGF2 <nonce> LACKS <tool>..	it cannot run without these; it ends
 *	N <id> <dev>:<ino> <size> <stamp> <plen> <rlen>\n<path><real>
 *		a file is there, which is numbered from now on; real: where its
 *		path leads by links, rlen 0 where it is no link
 *	O ...	the same, of a file that was asked for by its inode: no glob
 *		has it
 *	U <id> <size> <stamp>	it rests with that size, and is another one
 *		than was told last; the stamp (its change time) has been so for
 *		two seconds where all of its bytes were sent
 *	C <id> <off> <sum>	what cksum(1) says of its first off bytes; it
 *		may hold fewer than were asked for
 *	D <id> <off> <len>\n<bytes>	len of 1..256 KiB, in order
 *	V <id> <off> <len>\n<bytes>	a look ahead at the end of a file
 *		whose D are more than 1 MiB behind; these bytes come again
 *	T <id> <size>		cut short or written anew: starts at 0
 *	M <id> <plen> <rlen>\n<path><real>	where it is now; plen 0: its
 *		path names it no more, and it is read on
 *	X <id> <off>		let go, all of it was sent; without an M before
 *		it: it is there, but there is no room for it
 *	E <id> <errno> <plen>\n<path>	cannot be read (id 0: was never open)
 *	S <n> <all>		a look is done: n files are followed; all counts
 *		them and those for which there was no room.  A file with several
 *		names counts once, one that cannot be opened does not count
 *	H <seq> <ms>		alive; seq of the last P, the pod's
 *					clock (any epoch)
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

/* What a frame holds; a member that its type has not is 0. */
struct frame {
	enum frame_type type;
	uint32_t id;	   /* N O U C D V T M X E */
	uint64_t dev, ino; /* N O */
	uint64_t offset;   /* D V: of data.p[0]; C X: up to there */
	uint64_t size;	   /* N O U T: bytes of the file; S: files */
	uint64_t stamp;	   /* N O U */
	uint64_t all;	   /* S */
	uint32_t sum;	   /* C */
	int error;	   /* E: errno of the pod */
	uint64_t seq;	   /* H */
	uint64_t pod_ms;   /* H */
	bool python;	   /* HELLO: the variant */
	/* N O M E: path; D V: a part of the bytes; LACKS: the tools.  Borrowed
	 * until the next call. */
	struct str data;
	struct str real; /* N O M: as data */
};

#define FRAME_LINE_MAX	256
#define FRAME_PATH_MAX	1024
#define FRAME_DATA_MAX	(256 * 1024)
#define FRAME_NOISE_MAX (1024 * 1024)

enum frame_state { FRAME_IN_NOISE, FRAME_IN_LINE, FRAME_IN_PATH, FRAME_IN_DATA };

/*
 * Bytes in, frames out: any cut of the bytes gives the same frames (D and V
 * come in parts).  Memory is this struct, whatever the bytes are.
 */
struct frame_reader {
	char sentinel[48]; /* "HGF2 <nonce> " */
	enum frame_state state;
	struct frame frame; /* of which a payload is under way */
	size_t want;	    /* bytes of the payload still to come */
	size_t len;	    /* bytes in text */
	bool overlong;	    /* a line of noise that did not fit */
	size_t noise_bytes;
	char said[128]; /* the start of the last line of noise; raw, NUL-ended
			 */
	char text[2 * FRAME_PATH_MAX];
};

/* nonce of at most 32 letters and digits. */
void frame_reader_init(struct frame_reader *reader, const char *nonce);

/*
 * The next frame of *in: 1 and *frame, 0 when all of *in is taken, -1 with
 * err when this is no follower's stream (for good).  A FRAME_DATA or
 * FRAME_PREVIEW leaves its bytes in *in: take them with frame_take, in whole
 * or in part; the next call gives what is left of them.
 */
int frame_next(struct frame_reader *reader, struct str *in, struct frame *frame, struct err *err)
	__attribute__((warn_unused_result));

/* Take the first n bytes of the data that frame_next left in *in. */
void frame_take(struct frame_reader *reader, struct str *in, size_t n);
