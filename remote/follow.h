/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/list.h"
#include "base/log_identity.h"
#include "loop/loop.h"
#include "transport.h"

/* The logs of one pod, followed with one command: each byte of each generation of each log is
 * delivered once and in order, across lost connections and restarts. Delivery always starts with
 * the first byte of a file. For a file with a large backlog its end is delivered in advance
 * (on_preview), only for display, while all of it follows in order: parsing, storing and counting
 * use on_bytes only.
 *
 * A file on the pod is recognized as a known one if it starts with all the bytes received from that
 * one: its checksum is requested before it continues, unless inode, size and change time show that
 * the file was not modified. Among several candidates one that had not ended is preferred to one
 * that had, and a longer one to a shorter one. */
struct follow;

#define FOLLOW_ENDED_MAX 256U /* ended files that may still resume */

/* One generation of a log: the file at a path until it is truncated or replaced. */
struct follow_file {
	char *path;		 /* current or last path; raw bytes, NUL-terminated */
	char *real;		 /* target of path if it is a symlink; NULL: it is not one */
	char *name;		 /* first path: (name, generation) does not change */
	unsigned int generation; /* 0, 1, .. of that name */
	uint64_t dev, ino;
	uint64_t offset; /* offset of the next byte for on_bytes */
	uint64_t size;	 /* size of the pod's file as last reported; >= offset */
	uint64_t stamp;	 /* its change time when it was received completely; 0: unknown */
	int64_t last_ms; /* monotonic time of its last byte; 0: none yet */
	bool away;	 /* its path no longer names it; it is still read */
	bool ended;	 /* as last reported (FOLLOW_ENDS) */
	void *user;	 /* for the consumer */
	/* Private to the follow. */
	struct list in_follow;
	struct cksum sum;	  /* recognizes it while it is not open */
	struct cksum asked;	  /* bytes that the follower was asked to compare; len 0: none */
	int64_t asked_ms;	  /* monotonic time of that request, or of its start */
	uint64_t rest;		  /* becomes its stamp if the comparison succeeds; 0: none */
	uint32_t id;		  /* number in the session; 0: not found */
	uint32_t tried, not_id;	  /* being compared with that file, or known to differ from it */
	unsigned int missed;	  /* number of scans that did not find it */
	bool is_unreadable;	  /* opening it failed in this session */
	bool is_sent, is_rewound; /* its bytes arrive; in-flight ones first */
};

enum follow_event {
	FOLLOW_BEGINS,	/* a new file (or generation), from 0 */
	FOLLOW_RESUMES, /* a known one continues at offset */
	FOLLOW_RENAMED, /* path or real changed, or its path names it again */
	FOLLOW_AWAY,	/* its path no longer names it */
	FOLLOW_RESTS,	/* stamp is known: all of it was compared */
	/* No more bytes will come: it was truncated, replaced, or unnamed and silent for a minute.
	 * Only the last kind may resume later. */
	FOLLOW_ENDS,
	FOLLOW_FORGOTTEN, /* it cannot resume any more; the file is freed */
};

struct follow_status {
	enum link_state state;
	struct err why;	      /* for WAITING and REFUSED; otherwise ERR_NONE */
	int64_t since_ms;     /* monotonic time */
	int64_t retry_at_ms;  /* monotonic time; for WAITING, 0: soon */
	int64_t last_byte_ms; /* monotonic time; 0: none yet */
	int64_t lag_ms;	      /* round-trip time of the last ping; -1: none yet */
	uint64_t bytes;	      /* delivered since follow_new */
	unsigned int losses;  /* number of times that a live stream was lost */
	bool python;	      /* the variant that runs on the pod */
	bool scanned;	      /* the patterns were scanned once, and all files are identified */
	/* As last reported: followed files, and those plus the readable ones for which the follower
	 * has no room. It follows the newest. */
	uint64_t n_followed, n_matching;
};

/* All are called on the loop; none may free the follow. file is borrowed. */
struct follow_cb {
	void (*on_file)(void *user, struct follow_file *file, enum follow_event event);
	/* Bytes at file->offset; returns how many were consumed. Less than len pauses the pod's
	 * stream until follow_resume. */
	size_t (*on_bytes)(void *user, struct follow_file *file, struct str data);
	/* The checksum of the bytes that the consumer has; it recognizes the file later. */
	struct cksum (*sum)(void *user, const struct follow_file *file);
	/* Bytes near the end of a file with a large backlog; on_bytes delivers them again. May be
	 * NULL. */
	void (*on_preview)(void *user, struct follow_file *file, uint64_t offset, struct str data);
	/* A log cannot be read (errno from the pod). May be NULL. */
	void (*on_trouble)(void *user, struct str path, int error);
	/* status.state, why, scanned or n_followed changed.  May be NULL. */
	void (*on_state)(void *user, const struct follow_status *status);
};

/* A log of which the caller has bytes from an earlier run of the program. */
struct follow_known {
	struct log_identity identity; /* the texts are copied, including name */
	const char *name;
	unsigned int generation;
	uint64_t offset; /* continue from here; <= identity.sum.len */
	void *user;
};

enum follow_variant {
	FOLLOW_AUTO, /* python3 if it runs on the pod, otherwise sh */
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

/* Nothing is started before the first follow_start. */
struct follow *follow_new(const struct follow_options *options);
/* Stops the follower on the pod; afterwards only FOLLOW_FORGOTTEN is called, for each file. */
void follow_free(struct follow *follow);

/* Before follow_start: add a file of which the caller has bytes. It is reported in on_file as
 * RESUMES or ENDS (once, after the first scan); if its bytes have changed, it ENDS and another
 * generation BEGINS. The newest generation of a name determines the next number. The file is valid
 * until FOLLOW_FORGOTTEN. */
struct follow_file *follow_know(struct follow *follow, const struct follow_known *known);

/* Follow the logs that match the patterns ("~/" is the pod's home directory; no "**"). Copied; may
 * be called again with a new list. */
void follow_start(struct follow *follow, const char *const *globs, size_t n_globs);
/* Stop all activity on the pod; used while a bench runs on it. */
void follow_set_quiet(struct follow *follow, bool quiet);
/* Deliver the bytes of that file again, from that offset on (may be called from on_file and
 * on_bytes, which must then consume nothing). */
void follow_rewind(struct follow *follow, struct follow_file *file, uint64_t offset);
/* Continue delivery after on_bytes consumed less than all. */
void follow_resume(struct follow *follow);
/* Retry now (WAITING or REFUSED). */
void follow_retry(struct follow *follow);

void follow_get_status(const struct follow *follow, struct follow_status *status);
/* Does the follower on the pod have it open? */
bool follow_is_live(const struct follow_file *file);
