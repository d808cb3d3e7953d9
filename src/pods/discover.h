/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "loop/loop.h"

/*
 * The programs of the configuration that print pods, at the start and from
 * time to time.  One that fails, hangs or lies changes nothing; that is told
 * once, until it answers again.
 */
struct discover_cb {
	/*
	 * conf->discover[i] printed something else than what it had.  -1 with
	 * err when the answer cannot be taken; where it is, discover_renew
	 * follows before the next turn of the loop.
	 */
	int (*on_answer)(void *user, size_t i, struct str answer, struct err *err);
	/* A sentence for a person: one of them fails, or says something new of
	 * its pods. */
	void (*on_say)(void *user, bool is_trouble, const char *text);
	void *user;
};

struct discover;
/* conf is borrowed until the next discover_renew. */
struct discover *discover_new(struct loop *loop, const struct conf *conf,
			      const struct discover_cb *cb);
void discover_free(struct discover *discover); /* NULL: nothing */
/* The configuration is another one, maybe with other programs. */
void discover_renew(struct discover *discover, const struct conf *conf);
/* Some of them have never come to an end yet. */
bool discover_is_busy(const struct discover *discover);

/*
 * Run each once, at the same time, in a loop of its own, and take their
 * answers into conf; on_say tells of those that fail.
 */
int discover_once(struct conf *conf, void (*on_say)(void *user, bool is_trouble, const char *text),
		  struct err *err) __attribute__((warn_unused_result));
