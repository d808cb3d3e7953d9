/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/list.h"
#include "base/log_identity.h"
#include "loop/loop.h"
#include "transport.h"

/* Follow the logs of one pod with one command. Each byte of each generation of each log is
 * delivered once and in order, across lost connections and restarts. If a file has a large backlog,
 * bytes near its end are delivered in advance (on_preview). They are only for display.
 *
 * A file on the pod is a known log if it starts with all bytes that were received from that log.
 * The follower must confirm their checksum before the log continues, unless inode, size and change
 * time show that the file was not modified. If several known logs match, one that has not ended is
 * preferred, then the longest. */
struct follow;

#define FOLLOW_ENDED_MAX 256U /* ended files that may still resume */

/* One generation of a log: the file at a path until it is truncated or replaced. */
struct follow_file {
	char *path;		 /* current or last path; raw bytes, NUL-terminated */
	char *real;		 /* target of path if path is a symlink; otherwise NULL */
	char *name;		 /* first path; (name, generation) never changes */
	unsigned int generation; /* 0, 1, .. among the files with this name */
	uint64_t dev, ino;
	uint64_t offset; /* offset of the next byte for on_bytes */
	uint64_t size;	 /* size of the pod's file as last reported; >= offset */
	uint64_t stamp;	 /* change time of the file when all bytes were received; 0: unknown */
	int64_t last_ms; /* monotonic time when its last byte arrived; 0: none yet */
	bool away;	 /* path no longer names this file, but the follower still reads it */
	bool ended;	 /* FOLLOW_ENDS was reported, and not FOLLOW_RESUMES since */
	void *user;	 /* for the consumer */
	/* Private to the follow. */
	struct list in_follow;
	struct list in_inode, in_path; /* in by_inode and by_path while id is 0 */
	struct cksum sum;	/* of the received bytes; recognizes the file while id is 0 */
	struct cksum asked;	/* the follower was asked to compare these bytes; len 0: none */
	int64_t asked_ms;	/* monotonic time of that request, or when sending started */
	uint64_t rest;		/* becomes stamp if the comparison succeeds; 0: none */
	uint32_t id;		/* the follower's number of this file; 0: not found */
	uint32_t tried, not_id; /* id that may name this file, and id that does not; 0: none */
	unsigned int missed;	/* number of scans that did not find it */
	bool is_unreadable;	/* opening it failed in this session */
	bool is_sent;		/* its bytes were requested */
	bool is_rewound;	/* skip bytes that were sent before the last request */
};

enum follow_event {
	FOLLOW_BEGINS,	/* a new file or generation starts at offset 0 */
	FOLLOW_RESUMES, /* a known file continues at offset */
	FOLLOW_RENAMED, /* path or real changed, or path names the file again */
	FOLLOW_AWAY,	/* path no longer names the file */
	FOLLOW_RESTS,	/* it stopped growing, and all received bytes are valid; stamp is set */
	/* No more bytes will come, because the file was truncated, replaced, or has had no name and
	 * no new byte for a minute. Only in the last case may it resume. */
	FOLLOW_ENDS,
	FOLLOW_FORGOTTEN, /* the file cannot resume any more and is being freed */
};

struct follow_status {
	enum link_state state;
	struct err why;	      /* for WAITING and REFUSED; otherwise ERR_NONE */
	int64_t since_ms;     /* monotonic time */
	int64_t retry_at_ms;  /* monotonic time; 0 while WAITING: soon */
	int64_t last_byte_ms; /* monotonic time; 0: none yet */
	int64_t lag_ms;	      /* round-trip time of the last ping; -1: none yet */
	uint64_t bytes;	      /* delivered since follow_new */
	unsigned int losses;  /* number of times that a live stream was lost */
	bool python;	      /* the follower on the pod is the one in Python */
	bool scanned;	      /* a scan is complete, and all its files are identified */
	/* Followed files, and readable files that match; if n_matching is larger, the follower has
	 * no room for all files and follows the newest. */
	uint64_t n_followed, n_matching;
};

/* Callbacks run on the loop and must not free the follow. file is borrowed. */
struct follow_cb {
	void (*on_file)(void *user, struct follow_file *file, enum follow_event event);
	/* Takes bytes at file->offset, and returns how many it consumed. If that is less than
	 * data.len, the pod's stream pauses until follow_resume. */
	size_t (*on_bytes)(void *user, struct follow_file *file, struct str data);
	/* Returns the checksum of all bytes that the consumer has of this file. */
	struct cksum (*sum)(void *user, const struct follow_file *file);
	/* Takes bytes near a large backlog's end; on_bytes gets them later, too. May be NULL. */
	void (*on_preview)(void *user, struct follow_file *file, uint64_t offset, struct str data);
	/* Reports a log that cannot be read, with the pod's errno. May be NULL. */
	void (*on_trouble)(void *user, struct str path, int error);
	/* state, why, scanned, n_followed, n_matching or retry_at_ms changed. May be NULL. */
	void (*on_state)(void *user, const struct follow_status *status);
};

/* A log of which the caller has bytes from an earlier run of the program. Strings are copied. */
struct follow_known {
	struct log_identity identity;
	const char *name;
	unsigned int generation;
	uint64_t offset; /* continue from here; <= identity.sum.len */
	void *user;
};

enum follow_variant {
	FOLLOW_AUTO, /* Python if the pod has a usable python3, otherwise sh */
	FOLLOW_PYTHON,
	FOLLOW_SHELL,
};

struct follow_options {
	struct loop *loop;
	struct transport *transport;
	size_t pod;
	int poll_ms; /* 0: 200 */
	enum follow_variant variant;
	struct follow_cb cb;
	void *user;
};

/* Create a follow; the first follow_start starts it. */
struct follow *follow_new(const struct follow_options *options);
/* Stop the follower on the pod. The only callback is FOLLOW_FORGOTTEN for each file. */
void follow_free(struct follow *follow);

/* Add a file of which the caller has bytes; call this before follow_start. After the first scan,
 * on_file gets FOLLOW_RESUMES if the file was found and starts with these bytes. If not, it gets
 * FOLLOW_ENDS (unless the file had ended before), and a new file at that path BEGINS as the next
 * generation. The file is valid until FOLLOW_FORGOTTEN. */
struct follow_file *follow_know(struct follow *follow, const struct follow_known *known);

/* Follow the logs that match the patterns ("~/" is the pod's home directory; "**" has no special
 * meaning). The patterns are copied. Another call replaces them. */
void follow_start(struct follow *follow, const char *const *globs, size_t n_globs);
/* With quiet, do not look at files on the pod, so that a bench on the pod is not disturbed. */
void follow_set_quiet(struct follow *follow, bool quiet);
/* Deliver a file's bytes again from this offset on; an on_bytes that calls it must consume none. */
void follow_rewind(struct follow *follow, struct follow_file *file, uint64_t offset);
/* Continue delivery after on_bytes consumed less than all. */
void follow_resume(struct follow *follow);
/* If the state is WAITING or REFUSED, retry now. */
void follow_retry(struct follow *follow);

void follow_get_status(const struct follow *follow, struct follow_status *status);
/* Has the follower on the pod found this file? */
bool follow_is_live(const struct follow_file *file);
