/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * Parse the output of a follower. Header lines are ASCII, at most 256 bytes including their '\n',
 * with words separated by one space. Raw bytes follow if the header has a length. Everything before
 * the line with the nonce of this session is noise of the login shell.
 *
 *	HGF2 <nonce> OK <py|sh> <pid>
 *	HGF2 <nonce> LACKS <tool>..	the follower cannot run without these tools, and exits
 *	N <id> <dev>:<ino> <size> <stamp> <plen> <rlen>\n<path><real>
 *		a file exists and has this number from now on; stamp is its change time; real is
 *		the target of path if path is a symlink, otherwise rlen is 0
 *	O ...	the same for a file that was requested by its inode and matches no pattern
 *	U <id> <size> <stamp>	the file stopped growing at this size, and size or stamp differ from
 *		the last report; a file that is being sent must be unchanged for two seconds
 *	C <id> <off> <sum>	cksum(1) of the first off bytes, which may be fewer than requested
 *	D <id> <off> <len>\n<bytes>	len of 1..256 KiB, in order
 *	V <id> <off> <len>\n<bytes>	preview of the end of a file of which more than 1 MiB is
 *		still to be sent; D frames send these bytes again
 *	T <id> <size>		the file was truncated or rewritten; the next D has offset 0
 *	M <id> <plen> <rlen>\n<path><real>	the file's new path; if plen is 0, no path names the
 *		file any more, but it is still read
 *	X <id> <off>		the file was dropped after all of it was sent; without a preceding M
 *		it still exists, but there is no room for it
 *	E <id> <errno> <plen>\n<path>	the file cannot be read (id 0: it was never open)
 *	S <n> <all>		a scan is complete: n files are followed, and all files match,
 *		including those for which there was no room. A file with several names counts
 *		once; a file that cannot be opened does not count
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

/* The content of a frame. Comments list the types that have a member; for others it is 0. */
struct frame {
	enum frame_type type;
	uint32_t id;	   /* N O U C D V T M X E */
	uint64_t dev, ino; /* N O */
	uint64_t offset;   /* D V: offset of data.p[0] in the file; C X: end of the range */
	uint64_t size;	   /* N O U T: size of the file; S: number of followed files */
	uint64_t stamp;	   /* N O U */
	uint64_t all;	   /* S */
	uint32_t sum;	   /* C */
	int error;	   /* E: the pod's errno */
	uint64_t seq;	   /* H */
	uint64_t pod_ms;   /* H */
	bool python;	   /* HELLO: the follower is the one in Python */
	/* N O M E: path; D V: some bytes; LACKS: the tools. Borrowed until the next call. */
	struct str data;
	struct str real; /* N O M: borrowed like data */
};

#define FRAME_LINE_MAX	256
#define FRAME_PATH_MAX	1024
#define FRAME_DATA_MAX	(256 * 1024)
#define FRAME_NOISE_MAX (1024 * 1024)

enum frame_state { FRAME_IN_NOISE, FRAME_IN_LINE, FRAME_IN_PATH, FRAME_IN_DATA };

/* Converts bytes to frames. It does not matter where the bytes are split, except that D and V
 * frames are returned in parts. The reader allocates nothing. */
struct frame_reader {
	char sentinel[48]; /* "HGF2 <nonce> " */
	enum frame_state state;
	struct frame frame; /* its payload is being read */
	size_t want;	    /* number of payload bytes that are still to come */
	size_t len;	    /* number of bytes in text */
	bool overlong;	    /* the line in text did not fit */
	size_t noise_bytes;
	char said[128]; /* the start of the last line of noise; raw, NUL-terminated */
	char text[2 * FRAME_PATH_MAX];
};

/* nonce is at most 32 letters and digits. */
void frame_reader_init(struct frame_reader *reader, const char *nonce);

/* Return 1 and the next *frame of *in, 0 if *in has no more complete frame and is consumed, or -1
 * with err if this is not a follower's stream. FRAME_DATA and FRAME_PREVIEW leave their bytes in
 * *in: consume some or all bytes with frame_take; the next call returns the others. */
int frame_next(struct frame_reader *reader, struct str *in, struct frame *frame,
	       struct err *err) MUST_USE;

/* Consume the first n bytes of the data that frame_next left in *in. */
void frame_take(struct frame_reader *reader, struct str *in, size_t n);
