/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_FOLLOW_PRIV_H
#define HGYM_REMOTE_FOLLOW_PRIV_H

#include "base/map.h"
#include "remote/follow.h"
#include "remote/frame.h"

/*
 * What follow.c (all streams of a pod), follow_session.c (one of them) and
 * follow_files.c (what it says of the files) share.  Nobody else includes it.
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
/* A known file is gone when so many looks did not find it. */
#define FOLLOW_LOOKS	  2
#define FOLLOW_LOOK_BYTES (256U * 1024) /* of questions in one look */

/* A list of globs or names; owned. */
struct follow_list {
	char **items;
	size_t n;
};

struct follow {
	struct loop *loop;
	struct transport *transport;
	size_t pod;
	int poll_ms;
	enum follow_variant variant;
	struct follow_cb cb;
	void *user;

	struct follow_list globs, names;
	bool started, quiet, stopping;
	struct follow_session *session; /* NULL: none runs */
	struct loop_timer *tick, *retry;
	int64_t new_ms;	   /* mono: when it was made */
	int64_t opened_ms; /* mono: when the session was asked for */
	int64_t retry_at_ms;
	unsigned int failures;	   /* of followers on a link that works */
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
	char *path, *real; /* owned; NULL once it is a file, or let go */
	bool is_elsewhere; /* no glob has it: of interest if it is known */
};

/* One follower that runs, from exec to on_close. */
struct follow_session {
	struct follow
		*follow; /* NULL: freed or stopped, only on_close is due */
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

int64_t follow_now_ms(const struct follow *follow);
/* Tell on_state when the status has changed. */
void follow_tell(struct follow *follow);
void follow_set_state(struct follow *follow, enum follow_state state,
		      const struct err *why);
/* The stream ended: when is the next one? */
void follow_plan_retry(struct follow *follow,
		       const struct follow_session *session,
		       const struct err *why);

/* follow_session.c */

void follow_session_open(struct follow *follow);
/* Give the stream up; its end follows soon. */
void follow_session_lose(struct follow_session *session, const struct err *why);
/* Send the lines of session->out. */
void follow_session_flush(struct follow_session *session);
/* What is to be followed. */
void follow_session_list(struct follow_session *session);
/* Ping it; give up one that does not speak, or not any more. */
void follow_session_watch(struct follow_session *session, int64_t now);

/* follow_files.c */

/*
 * Take a frame about files; -1 with err when it cannot be true.  For
 * FRAME_DATA *taken says how many bytes of it were taken.
 */
int follow_files_take(struct follow_session *session, const struct frame *frame,
		      size_t *taken, struct err *err);
/* A stream begins: note what is had of each file. */
void follow_files_begin(struct follow *follow);
/* The stream is over: no file is live any more. */
void follow_files_lost(struct follow_session *session);
void follow_files_release(struct follow *follow);

#endif
