/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "remote/follow.h"
#include "remote/frame.h"

/*
 * Shared by follow.c (streams of a pod), follow_files.c (files that they report), and tests.
 *
 * Requests to a follower; remote/frame.h documents its answers. Every line is ASCII. A path or a
 * pattern is one word in which each byte outside a small set is written as \0ooo (octal).
 *
 *	I <ms>		poll interval (ms >= 20)
 *	G <pattern>	follow the files that match; "~/" is the home directory
 *	F <path>	follow this file, also while quiet
 *	GO		use the G and F since the last GO as the new list, and scan
 *	L <dev>:<ino> <path>	in the next scan, look for the file with this inode in the directory
 *			of path, and report it with O
 *	A		scan again
 *	C <id> <off>	report the checksum of the first off bytes of a file
 *	C <id> <off> <sum>	the same for a file that is being sent; if the checksum differs,
 *			answer with T instead
 *	B <id> <off>	send the bytes of this file from this offset on
 *	Q <0|1>		quiet (1): look only at F files, and send H only after P
 *	P <seq>		answer with an H; the follower exits after 60 s without a line
 *
 * The client decides which known log a file is. Before the log continues, the client requests its
 * checksum, so that the follower reads the bytes that were sent before. If these have changed when
 * the follower sends the next bytes, it answers T. That check reads only the first and last bytes
 * that were sent; therefore the client compares all of them when the file stops growing, and at
 * intervals while it grows.
 */

#define FOLLOW_LIVE_MAX	 4160U /* the follower's limit of 4096, and some frames in transit */
#define FOLLOW_KNOWN_MAX 16384U
#define FOLLOW_IDS_MAX	 65536U /* files reported in one stream */
/* Limit on truncations of logs in one stream: MAX, and PER_S more for each second. */
#define FOLLOW_RESETS_MAX   1000
#define FOLLOW_RESETS_PER_S 10
/* Limit on new generations: MAX, and one more every EVERY seconds. */
#define FOLLOW_BEGINS_MAX   8192
#define FOLLOW_BEGINS_EVERY 10
/* How often a growing file is compared, and how fast the pod may read files for that. */
#define FOLLOW_COMPARE_MS	    60000
#define FOLLOW_COMPARE_BYTES_PER_MS 8192
/* A larger file is compared only if it was modified since it was reported. */
#define FOLLOW_COMPARE_LONG (64U << 20)
/* A known file is searched near its last path in this many scans. */
#define FOLLOW_LOOKS	  2
#define FOLLOW_LOOK_BYTES (256U * 1024) /* maximum size of the requests for one scan */
#define FOLLOW_BUCKETS	  256

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
	int64_t new_ms;		       /* monotonic time when the follow was created */
	int64_t opened_ms;	       /* monotonic time when the session was requested */
	unsigned int failures;	       /* failures of followers on a working connection */
	int64_t compare_ms;	       /* compare nothing before this monotonic time */
	struct follow_status reported; /* as last reported to on_state */
	struct follow_status status;

	struct list files; /* struct follow_file, oldest first */
	/* The files whose id is 0, by hashes of their last inode and of their last path. */
	struct list by_inode[FOLLOW_BUCKETS], by_path[FOLLOW_BUCKETS];
	size_t n_files, n_ended;
	int64_t begins;		/* number of new generations since new_ms */
	struct map generations; /* from a name to its newest generation + 1 */
};

/* A file that the follower reported, with its number there as index. */
struct follow_seen {
	struct follow_file *file;  /* NULL: not identified yet */
	struct follow_file *trial; /* known file that a requested checksum decides on; or NULL */
	uint64_t dev, ino, size, stamp;
	char *path, *real;	 /* owned; NULL if the file is identified or was dropped */
	unsigned int n_compared; /* number of comparisons without an answer yet */
	bool is_elsewhere; /* no pattern matches its path; ignore it unless it is a known log */
};

/* One follower on the pod, from exec to on_close. */
struct follow_session {
	struct follow *follow; /* NULL: the follow was freed; only on_close is still due */
	struct stream *stream;
	struct frame_reader reader;
	struct buf out; /* lines waiting to be sent */
	bool hello, paused, lost;
	struct err why;	  /* why it was lost */
	char errors[160]; /* the end of the follower's stderr; raw */
	size_t n_errors;
	int64_t ping_ms; /* monotonic time of the last ping */
	uint64_t ping_seq;
	bool ping_open; /* not answered yet */

	struct follow_seen *seen; /* indexed by id - 1 */
	size_t n_seen, cap_seen, n_live, n_trials;
	bool has_looked; /* all searches are complete: a file that was not found does not exist */
	int64_t resets;	 /* number of T frames */
};

#define FOLLOW_NONCE_SIZE 17

/* Append the command line that starts a follower with lower CPU and disk priority. Any login shell
 * accepts it: it is one line of ASCII, shorter than 32 KiB. */
void follow_wire_start(struct buf *out, enum follow_variant variant, const char *nonce);

/* Append s as one word of a request. */
void follow_wire_escape(struct buf *out, struct str s);

/* follow.py and follow.sh without comments, escaped by mkscript.awk for printf %b and for single
 * quotes of any login shell. */
extern const char follow_script_py[];
extern const char follow_script_sh[];

/* follow_files.c */

/* Process a frame about files; -1 with err if it is invalid. *taken counts its consumed bytes. */
int follow_files_take(struct follow_session *session, const struct frame *frame, size_t *taken,
		      struct err *err);
/* Ask the follower to compare the files that are due. */
void follow_files_compare(struct follow_session *session);
/* A session starts: note how much of each file has been received. */
void follow_files_begin(struct follow *follow);
/* The session has ended: forget the follower's numbers of all files. */
void follow_files_lost(struct follow_session *session);
/* Free all files. */
void follow_files_release(struct follow *follow);
