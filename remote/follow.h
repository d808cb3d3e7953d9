/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_FOLLOW_H
#define HGYM_REMOTE_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cksum.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "loop/loop.h"
#include "remote/follow_wire.h"
#include "transport.h"

/*
 * The logs of one pod, followed over one command: each byte of each
 * generation of each log comes once and in order, over lost links and
 * restarts of ours.  The bytes of a file always come from its first on; of a
 * file with a large backlog its end is shown at once (on_preview), for the
 * eye alone, while all of it comes in order behind: what is parsed, stored and
 * counted comes from on_bytes only.
 */
struct follow;

/* One generation of a log: what lies at a path until it is cut or replaced. */
struct follow_file {
	char *path; /* where it lies now; raw bytes, NUL-ended */
	char *name; /* where it lay first: (name, generation) stays */
	unsigned int generation; /* 0, 1, .. of that name */
	uint64_t dev, ino;
	struct guard guard; /* of the guard.offset bytes that were taken */
	uint64_t size;	    /* of the pod's file, as last told; >= offset */
	int64_t last_ms;    /* mono clock of its last byte; 0: none yet */
	bool live;	    /* the follower has it open */
	bool ended;	    /* as told last (FOLLOW_ENDS) */
	void *user;	    /* the consumer's */
	/* follow.c's own. */
	struct list in_follow;
	uint32_t key, id;
};

enum follow_event {
	FOLLOW_BEGINS,	/* a file (or generation) that is new, from 0 */
	FOLLOW_RESUMES, /* one that was known goes on at guard.offset */
	FOLLOW_RENAMED, /* path changed */
	/*
	 * No more will come: it was cut, replaced, deleted, or moved out of
	 * the globs.  Only the last kind may resume one day.  The file is
	 * freed some time after this call: forget the pointer, unless it
	 * resumes.
	 */
	FOLLOW_ENDS,
};

enum follow_state {
	FOLLOW_STARTING, /* the link or the follower is on its way */
	FOLLOW_LIVE,
	FOLLOW_WAITING, /* lost (why); tried again at retry_at_ms */
	FOLLOW_REFUSED, /* key, host key or auth (why): follow_retry */
	FOLLOW_STOPPED, /* by follow_stop */
};

struct follow_status {
	enum follow_state state;
	struct err why;	       /* of WAITING and REFUSED; ERR_NONE else */
	int64_t since_ms;      /* mono clock */
	int64_t retry_at_ms;   /* mono clock; of WAITING, 0: soon */
	int64_t last_byte_ms;  /* mono clock; 0: none yet */
	int64_t lag_ms;	       /* round trip of the last ping; -1: none yet */
	uint64_t behind_bytes; /* known to be on the pod and not taken yet */
	uint64_t bytes;	       /* taken, since follow_new */
	unsigned int losses;   /* times that a live stream was lost */
	bool python;	       /* which variant runs there */
	bool scanned;	       /* the globs were looked at once; else no file
				* means nothing */
};

/* All on the loop; none may free the follow.  file is borrowed. */
struct follow_cb {
	void (*on_file)(void *user, struct follow_file *file,
			enum follow_event event);
	/*
	 * Bytes at offset file->guard.offset; returns how many were taken.
	 * Less than len pauses the pod's stream until follow_resume.
	 */
	size_t (*on_bytes)(void *user, struct follow_file *file,
			   struct str data);
	/* Bytes near the end of a file that is far behind; they come again in
	 * on_bytes.  May be NULL. */
	void (*on_preview)(void *user, struct follow_file *file,
			   uint64_t offset, struct str data);
	/* A log cannot be read (errno of the pod).  May be NULL. */
	void (*on_trouble)(void *user, struct str path, int error);
	/* status.state, why or scanned changed.  May be NULL. */
	void (*on_state)(void *user, const struct follow_status *status);
};

/* What the caller has of a file from an earlier life. */
struct follow_known {
	const char *path, *name; /* as in struct follow_file; copied */
	unsigned int generation;
	uint64_t dev, ino;
	struct guard guard; /* by mirror_guard, or kept */
	bool ended;
	void *user;
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

/*
 * Nothing is started before the first follow_start.  Limits: 1024 files that
 * live, 4096 that are known.
 */
struct follow *follow_new(const struct follow_options *options);
/* Ends the follower on the pod; no callback any more. */
void follow_free(struct follow *follow);

/*
 * Before follow_start: a file the caller has bytes of.  It comes back in
 * on_file, as RESUMES or ENDS (once, after the first look); where its bytes
 * are not those any more, it ENDS and another generation BEGINS.  The newest
 * generation of a name is the one that the numbers go on from.
 */
void follow_know(struct follow *follow, const struct follow_known *known);

/*
 * Follow what the globs match ("~/" is the pod's home; no "**"), and the
 * files named, in quiet times too.  Copied; may be called again with a new
 * list.
 */
void follow_start(struct follow *follow, const char *const *globs,
		  size_t n_globs, const char *const *files, size_t n_files);
/* Go silent on the pod but for the named files; while a bench runs there. */
void follow_set_quiet(struct follow *follow, bool quiet);
/*
 * The bytes of that file are to come once more, from its first one: a new
 * follower begins (why: what is said of the loss of this one).  From on_file
 * and on_bytes, which must take nothing then.
 */
void follow_rewind(struct follow *follow, struct follow_file *file,
		   const struct err *why);
/* Take bytes again, after on_bytes took less than all. */
void follow_resume(struct follow *follow);
/* Try now (WAITING or REFUSED). */
void follow_retry(struct follow *follow);
/* End the follower on the pod; on_state tells STOPPED; start begins anew. */
void follow_stop(struct follow *follow);

void follow_get_status(const struct follow *follow,
		       struct follow_status *status);
/* The file after `file` (NULL: the first) of all that are known. */
struct follow_file *follow_next_file(const struct follow *follow,
				     const struct follow_file *file);

#endif
