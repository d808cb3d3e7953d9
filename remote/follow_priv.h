/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "remote/follow.h"
#include "remote/frame.h"

/*
 * What follow.c (the streams of a pod) and follow_files.c (what they say of
 * the files) share; tests look in too.
 *
 * What the client of a follower says (remote/frame.h has the answers).  Every
 * line is ASCII; a path or a glob is one word in which each byte outside a
 * small set is \0ooo (octal).
 *
 *	I <ms>		poll so often (ms >= 20)
 *	G <glob>	follow what it matches; "~/" is the home directory
 *	F <path>	follow this file, in quiet times too
 *	GO		take the G and F since the last GO as the new list, look
 *	L <dev>:<ino> <path>	with the next look: find the file with that
 *			inode in the folder of path, and name it
 *	A		look again
 *	C <id> <off>	sum the first off bytes of a file that N named
 *	C <id> <off> <sum>	the same of a file whose bytes are sent: where
 *			the sum is another one, the answer is T
 *	B <id> <off>	send its bytes from that offset on
 *	Q <0|1>		quiet: look at nothing but the F files, no H unasked
 *	P <seq>		answer with an H; 60 s without a line end the follower
 *
 * The client knows which file is which.  A file is summed before it goes on, so
 * that the follower knows what was sent of it: where that is not its beginning
 * any more before the next bytes are sent, it says T.  That looks at the first
 * and the last bytes alone; so all of it is compared when it came to rest, and
 * once in a while as it grows.
 */

#define FOLLOW_LIVE_MAX	 4160U /* the follower's 4096, and some on their way */
#define FOLLOW_KNOWN_MAX 16384U
#define FOLLOW_IDS_MAX	 65536U /* files told of in one stream */
/* Logs cut in one stream: so many, and so many a second. */
#define FOLLOW_RESETS_MAX   1000
#define FOLLOW_RESETS_PER_S 10
/* Generations that begin: so many at once, then one in so many seconds. */
#define FOLLOW_BEGINS_MAX   8192
#define FOLLOW_BEGINS_EVERY 10
/* A file that grows is compared so often, and so many bytes at most. */
#define FOLLOW_COMPARE_MS	    60000
#define FOLLOW_COMPARE_BYTES_PER_MS 8192
/* A longer one that nobody touched since it was named is not. */
#define FOLLOW_COMPARE_LONG (64U << 20)
/* A known file is gone when so many looks did not find it. */
#define FOLLOW_LOOKS	  2
#define FOLLOW_LOOK_BYTES (256U * 1024) /* of questions in one look */

struct follow {
	struct loop *loop;
	struct transport *transport;
	size_t pod;
	int poll_ms;
	enum follow_variant variant;
	struct follow_cb cb;
	void *user;

	char **globs; /* owned */
	size_t n_globs;
	bool started, quiet;
	struct follow_session *session; /* NULL: none runs */
	struct loop_timer *tick, *retry;
	int64_t new_ms;		   /* mono: when it was made */
	int64_t opened_ms;	   /* mono: when the session was asked for */
	unsigned int failures;	   /* of followers on a link that works */
	int64_t compare_ms;	   /* mono: no comparison before */
	struct follow_status told; /* as on_state heard it last */
	struct follow_status status;

	struct list files; /* struct follow_file, by age */
	size_t n_files, n_ended;
	int64_t begins;
	struct map generations; /* name to its newest generation + 1 */
};

/* A file that the follower numbered. */
struct follow_seen {
	struct follow_file *file;  /* NULL: which one it is is not known */
	struct follow_file *trial; /* its sum was asked for; NULL: none */
	uint64_t dev, ino, size, stamp;
	char *path, *real;	 /* owned; NULL once it is a file, or let go */
	unsigned int n_compared; /* its sum was asked for while it is sent */
	bool is_elsewhere;	 /* no glob has it: of interest if it is known */
};

/* One follower that runs, from exec to on_close. */
struct follow_session {
	struct follow *follow; /* NULL: freed or stopped, only on_close is due */
	struct stream *stream;
	struct frame_reader reader;
	struct buf out; /* lines that wait to be sent */
	bool hello, paused, lost;
	struct err why; /* of lost */
	char said[160]; /* the first of its stderr; raw, NUL-ended */
	size_t said_len;
	int64_t ping_ms; /* mono, of the last ping */
	uint64_t ping_seq;
	bool ping_open; /* not yet answered */

	struct follow_seen *seen; /* by id - 1 */
	size_t n_seen, cap_seen, n_live, n_trials;
	bool has_looked; /* what it did not find by now is not there */
	int64_t resets;
};

#define FOLLOW_NONCE_SIZE 17

/*
 * Append the command line that starts a follower, for any login shell: one
 * line of ASCII of less than 32 KiB.  It lowers its own CPU and disk priority.
 */
void follow_wire_start(struct buf *out, enum follow_variant variant, const char *nonce);

/* Append s as one word. */
void follow_wire_escape(struct buf *out, struct str s);

/*
 * follow.py and follow.sh as mkscript.awk leaves them: without comments,
 * escaped for printf %b and for single quotes of any login shell.
 */
extern const char follow_script_py[];
extern const char follow_script_sh[];

/* follow_files.c */

/*
 * Take a frame about files; -1 with err when it cannot be true.  For
 * FRAME_DATA *taken says how many bytes of it were taken.
 */
int follow_files_take(struct follow_session *session, const struct frame *frame, size_t *taken,
		      struct err *err);
/* Have those compared that are due. */
void follow_files_compare(struct follow_session *session);
/* A stream begins: note what is had of each file. */
void follow_files_begin(struct follow *follow);
/* The stream is over: no file is live any more. */
void follow_files_lost(struct follow_session *session);
void follow_files_release(struct follow *follow);
