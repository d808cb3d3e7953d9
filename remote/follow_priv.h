/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "remote/follow.h"
#include "remote/frame.h"

/*
 * Shared by follow.c (the streams of a pod) and follow_files.c (the files that they report), and by
 * tests.
 *
 * Requests to a follower (remote/frame.h documents its answers).  Every line is ASCII; a path or a
 * pattern is one word in which each byte outside a small set is written as \0ooo (octal).
 *
 *	I <ms>		poll interval (ms >= 20)
 *	G <pattern>	follow the files that match; "~/" is the home directory
 *	F <path>	follow this file, also in quiet times
 *	GO		use the G and F since the last GO as the new list, and scan
 *	L <dev>:<ino> <path>	in the next scan, find the file with that inode in the directory of
 *			path, and name it
 *	A		scan again
 *	C <id> <off>	checksum of the first off bytes of a file that N named
 *	C <id> <off> <sum>	the same for a file that is being sent: if the checksum differs,
 *			the answer is T
 *	B <id> <off>	send its bytes from that offset on
 *	Q <0|1>		quiet: look at nothing except the F files, no H unless requested
 *	P <seq>		answer with an H; the follower exits after 60 s without a line
 *
 * The client identifies files.  Before a file continues, its checksum is requested, so that the
 * follower knows what was sent of it: if its beginning has changed before the next bytes are sent,
 * it answers T.  That check reads only the first and the last bytes; therefore all of it is
 * compared when it stops growing, and at intervals while it grows.
 */

#define FOLLOW_LIVE_MAX	 4160U /* the follower's 4096, and some in transit */
#define FOLLOW_KNOWN_MAX 16384U
#define FOLLOW_IDS_MAX	 65536U /* files reported in one stream */
/* Limits on truncated logs in one stream: in all, and per second. */
#define FOLLOW_RESETS_MAX   1000
#define FOLLOW_RESETS_PER_S 10
/* Limits on new generations: at once, and afterwards one per this many seconds. */
#define FOLLOW_BEGINS_MAX   8192
#define FOLLOW_BEGINS_EVERY 10
/* A growing file is compared at this interval, up to this size. */
#define FOLLOW_COMPARE_MS	    60000
#define FOLLOW_COMPARE_BYTES_PER_MS 8192
/* A longer one is not compared if it was not modified since it was named. */
#define FOLLOW_COMPARE_LONG (64U << 20)
/* A known file is gone if this many scans did not find it. */
#define FOLLOW_LOOKS	  2
#define FOLLOW_LOOK_BYTES (256U * 1024) /* of requests in one scan */

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
	struct follow_session *session; /* NULL: none is running */
	struct loop_timer *tick, *retry;
	int64_t new_ms;		       /* monotonic time of its creation */
	int64_t opened_ms;	       /* monotonic time when the session was requested */
	unsigned int failures;	       /* failures of followers on a working connection */
	int64_t compare_ms;	       /* monotonic time before which nothing is compared */
	struct follow_status reported; /* as last reported to on_state */
	struct follow_status status;

	struct list files; /* struct follow_file, oldest first */
	size_t n_files, n_ended;
	int64_t begins;
	struct map generations; /* from name to its newest generation + 1 */
};

/* A file that the follower has numbered. */
struct follow_seen {
	struct follow_file *file;  /* NULL: not identified yet */
	struct follow_file *trial; /* a checksum was requested to compare with it; NULL: none */
	uint64_t dev, ino, size, stamp;
	char *path, *real;	 /* owned; NULL once it is identified, or dropped */
	unsigned int n_compared; /* its checksum was requested while it is being sent */
	bool is_elsewhere;	 /* no pattern matches it: only of interest if it is known */
};

/* One running follower, from exec to on_close. */
struct follow_session {
	struct follow *follow; /* NULL: freed or stopped, only on_close is due */
	struct stream *stream;
	struct frame_reader reader;
	struct buf out; /* lines waiting to be sent */
	bool hello, paused, lost;
	struct err why;	  /* reason of the loss */
	char errors[160]; /* the end of its stderr; raw */
	size_t n_errors;
	int64_t ping_ms; /* monotonic time of the last ping */
	uint64_t ping_seq;
	bool ping_open; /* not answered yet */

	struct follow_seen *seen; /* indexed by id - 1 */
	size_t n_seen, cap_seen, n_live, n_trials;
	bool has_looked; /* files that it has not found by now do not exist */
	int64_t resets;
};

#define FOLLOW_NONCE_SIZE 17

/* Append the command line that starts a follower, for any login shell: one line of ASCII shorter
 * than 32 KiB. It lowers its own CPU and disk priority. */
void follow_wire_start(struct buf *out, enum follow_variant variant, const char *nonce);

/* Append s as one word. */
void follow_wire_escape(struct buf *out, struct str s);

/* follow.py and follow.sh as prepared by mkscript.awk: without comments, escaped for printf %b and
 * for single quotes of any login shell. */
extern const char follow_script_py[];
extern const char follow_script_sh[];

/* follow_files.c */

/* Process a frame about files; -1 with err if it is invalid. For FRAME_DATA, *taken is the number
 * of bytes consumed. */
int follow_files_take(struct follow_session *session, const struct frame *frame, size_t *taken,
		      struct err *err);
/* Request the comparisons that are due. */
void follow_files_compare(struct follow_session *session);
/* A stream starts: note how much of each file has been received. */
void follow_files_begin(struct follow *follow);
/* The stream has ended: no file is live any more. */
void follow_files_lost(struct follow_session *session);
void follow_files_release(struct follow *follow);
