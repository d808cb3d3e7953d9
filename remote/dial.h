/* SPDX-License-Identifier: MIT */
#pragma once

#include <netdb.h>

#include "loop/loop.h"

/* From the name of a host to a connected socket. */

struct resolve;
/* addrs: borrowed during the call; NULL: there are none, as error says. */
typedef void (*resolve_fn)(void *user, const struct addrinfo *addrs, const char *error);

/* Ask for the addresses of a host, in a job; fn is called once, on the loop. */
struct resolve *resolve_new(struct loop *loop, const char *host, int port, resolve_fn fn,
			    void *user);
/* NULL: nothing; fn is not called any more. */
void resolve_cancel(struct resolve *resolve);

/*
 * A connection to the first of several addresses that answers (RFC 8305,
 * "happy eyeballs"): the families in turn, the next address when one fails
 * or after DIAL_NEXT_MS without an answer; the others go on meanwhile and are
 * closed once one is through.
 */
#define DIAL_NEXT_MS   250
#define DIAL_MAX_ADDRS 16

struct dial;
/* fd: connected, non-blocking, given; -1: none is, the errno of the last. */
typedef void (*dial_fn)(void *user, int fd, int error);

/*
 * fn is called once, on the loop, not from within this call; it has no time
 * limit but the kernel's.  addrs is copied; what is more than DIAL_MAX_ADDRS
 * is left out.
 */
struct dial *dial_new(struct loop *loop, const struct addrinfo *addrs, dial_fn fn, void *user);
/* Close all (NULL: nothing); fn is not called any more. */
void dial_cancel(struct dial *dial);
