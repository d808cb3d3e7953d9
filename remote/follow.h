/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/list.h"
#include "base/log_identity.h"
#include "loop/loop.h"
#include "transport.h"

/*
 * The logs of one pod, followed over one command: each byte of each
 * generation of each log comes once and in order, over lost links and
 * restarts of ours.  The bytes of a file always come from its first on; of a
 * file with a large backlog its end is shown at once (on_preview), for the
 * eye alone, while all of it comes in order behind: what is parsed, stored and
 * counted comes from on_bytes only.
 *
 * A file on the pod is the one that was known before when it begins with all
 * the bytes that were had of it: its checksum is asked for before it goes on,
 * unless inode, size and change time say that nobody touched it.  Of those
 * that fit, one that had not ended comes before one that had, and the longer
 * before the shorter; a file with another inode is looked at only where the
 * known inode is nowhere near.
 */
struct follow;

#define FOLLOW_ENDED_MAX 256U /* files that ended and may still resume */

/* One generation of a log: what lies at a path until it is cut or replaced. */
struct follow_file {
	char *path;		 /* where it lies now, or lay; raw bytes, NUL-ended */
	char *real;		 /* where path leads by links; NULL: it is no link */
	char *name;		 /* where it lay first: (name, generation) stays */
	unsigned int generation; /* 0, 1, .. of that name */
	uint64_t dev, ino;
	uint64_t offset; /* of the next byte for on_bytes */
	uint64_t size;	 /* of the pod's file, as last told; >= offset */
	uint64_t stamp;	 /* its change time while all of it was had; 0: unknown
			  */
	int64_t last_ms; /* mono clock of its last byte; 0: none yet */
	bool away;	 /* its path names it no more; it is read on */
	bool ended;	 /* as told last (FOLLOW_ENDS) */
	void *user;	 /* the consumer's */
	/* The follow's own. */
	struct list in_follow;
	struct cksum sum;	  /* by which it is known while it is not read */
	struct cksum asked;	  /* what the follower was to compare; len 0: none
				   */
	int64_t asked_ms;	  /* mono clock: then, or when it began */
	uint64_t rest;		  /* will be its stamp when that is so; 0: none */
	uint32_t id;		  /* in the session; 0: not found there */
	uint32_t tried, not_id;	  /* is summed as that one, is not that one */
	unsigned int missed;	  /* looks that did not find it */
	bool is_unreadable;	  /* opening it failed, in this session */
	bool is_sent, is_rewound; /* its bytes come; first those in flight */
};

enum follow_event {
	FOLLOW_BEGINS,	/* a file (or generation) that is new, from 0 */
	FOLLOW_RESUMES, /* one that was known goes on at offset */
	FOLLOW_RENAMED, /* path or real changed, or it is not away any more */
	FOLLOW_AWAY,	/* its path names it no more */
	FOLLOW_RESTS,	/* stamp is known: all of it was compared */
	/*
	 * No more will come: it was cut, replaced, or away and silent for a
	 * minute.  Only the last kind may resume one day.
	 */
	FOLLOW_ENDS,
	FOLLOW_FORGOTTEN, /* it cannot resume any more; the file is freed */
};

struct follow_status {
	enum link_state state;
	struct err why;	      /* of WAITING and REFUSED; ERR_NONE else */
	int64_t since_ms;     /* mono clock */
	int64_t retry_at_ms;  /* mono clock; of WAITING, 0: soon */
	int64_t last_byte_ms; /* mono clock; 0: none yet */
	int64_t lag_ms;	      /* round trip of the last ping; -1: none yet */
	uint64_t bytes;	      /* taken, since follow_new */
	unsigned int losses;  /* times that a live stream was lost */
	bool python;	      /* which variant runs there */
	bool scanned;	      /* the globs were looked at once, and which file
			       * is which is known */
	/* As last reported: files that are followed, and those plus the ones
	 * that could be read but for which the follower has no room.  It
	 * follows the newest. */
	uint64_t n_followed, n_matching;
};

/* All on the loop; none may free the follow.  file is borrowed. */
struct follow_cb {
	void (*on_file)(void *user, struct follow_file *file, enum follow_event event);
	/*
	 * Bytes at offset file->offset; returns how many were taken.
	 * Less than len pauses the pod's stream until follow_resume.
	 */
	size_t (*on_bytes)(void *user, struct follow_file *file, struct str data);
	/* The checksum of what the consumer has of it: by that it is known
	 * when it is looked for again. */
	struct cksum (*sum)(void *user, const struct follow_file *file);
	/* Bytes near the end of a file that is far behind; they come again in
	 * on_bytes.  May be NULL. */
	void (*on_preview)(void *user, struct follow_file *file, uint64_t offset, struct str data);
	/* A log cannot be read (errno of the pod).  May be NULL. */
	void (*on_trouble)(void *user, struct str path, int error);
	/* status.state, why, scanned or n_followed changed.  May be NULL. */
	void (*on_state)(void *user, const struct follow_status *status);
};

/* A log that the caller has bytes of from an earlier run of the program. */
struct follow_known {
	struct log_identity identity; /* the texts are copied, as name is */
	const char *name;
	unsigned int generation;
	uint64_t offset; /* continue from here; <= identity.sum.len */
	void *user;
};

enum follow_variant {
	FOLLOW_AUTO, /* python3 where there is one that runs, else sh */
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
/*
 * Ends the follower on the pod; no callback any more but FOLLOW_FORGOTTEN of
 * each file.
 */
void follow_free(struct follow *follow);

/*
 * Before follow_start: a file the caller has bytes of.  It comes back in
 * on_file, as RESUMES or ENDS (once, after the first look); where its bytes
 * are not those any more, it ENDS and another generation BEGINS.  The newest
 * generation of a name is the one that the numbers go on from.  The file is
 * good until FOLLOW_FORGOTTEN.
 */
struct follow_file *follow_know(struct follow *follow, const struct follow_known *known);

/*
 * Follow what the globs match ("~/" is the pod's home; no "**").  Copied; may
 * be called again with a new list.
 */
void follow_start(struct follow *follow, const char *const *globs, size_t n_globs);
/* Go silent on the pod; while a bench runs there. */
void follow_set_quiet(struct follow *follow, bool quiet);
/*
 * The bytes of that file are to come once more, from that offset on (from
 * on_file and on_bytes too, which must take nothing then).
 */
void follow_rewind(struct follow *follow, struct follow_file *file, uint64_t offset);
/* Take bytes again, after on_bytes took less than all. */
void follow_resume(struct follow *follow);
/* Try now (WAITING or REFUSED). */
void follow_retry(struct follow *follow);

void follow_get_status(const struct follow *follow, struct follow_status *status);
/* Whether the follower on the pod has it open. */
bool follow_is_live(const struct follow_file *file);
