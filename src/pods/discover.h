/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "loop/loop.h"

/* Run the programs of the configuration that print pods, at the start and then regularly. A program
 * that fails, hangs or prints garbage changes nothing; that is reported once until a success. */
struct discover_cb {
	/* The answer of conf->discover[i] changed.  Returns -1 with err if it is invalid; otherwise
	 * discover_renew() must follow before the next round of the loop. */
	int (*on_answer)(void *user, size_t i, struct str answer, struct err *err);
	/* A message for the user: a program failed, or has a new note about its pods. */
	void (*on_notice)(void *user, bool is_trouble, const char *text);
	void *user;
};

struct discover;
/* conf is borrowed until the next discover_renew(). */
struct discover *discover_new(struct loop *loop, const struct conf *conf,
			      const struct discover_cb *cb);
void discover_free(struct discover *discover); /* NULL is allowed */
/* Use the changed configuration. If its programs changed, all are started again. */
void discover_renew(struct discover *discover, const struct conf *conf);
/* Is the first run of a program still in progress? */
bool discover_is_busy(const struct discover *discover);

/* Run all programs once, at the same time, and put their answers into conf; runs an event loop. */
int discover_once(struct conf *conf,
		  void (*on_notice)(void *user, bool is_trouble, const char *text),
		  struct err *err) MUST_USE;
