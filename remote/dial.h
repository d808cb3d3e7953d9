/* SPDX-License-Identifier: MIT */
#pragma once

#include <netdb.h>

#include "loop/loop.h"

/* Resolve a host name and connect a socket to it. */

struct resolve;
/* addrs is borrowed for the call, and NULL if the name cannot be resolved; error is the reason. */
typedef void (*resolve_fn)(void *user, const struct addrinfo *addrs, const char *error);

/* Resolve the addresses of a host on a worker thread; fn is called once, on the loop. */
struct resolve *resolve_new(struct loop *loop, const char *host, int port, resolve_fn fn,
			    void *user);
/* Stop waiting: fn is not called any more. NULL is a no-op. */
void resolve_cancel(struct resolve *resolve);

/* Connects to the first of several addresses that answers (RFC 8305, "happy eyeballs"): address
 * families alternate, and the next attempt starts when one fails or after DIAL_NEXT_MS without an
 * answer; earlier attempts continue and are closed once one succeeds. */
#define DIAL_NEXT_MS   250
#define DIAL_MAX_ADDRS 16

struct dial;
/* fd is connected, non-blocking and owned by the callee; -1 if all failed, with the last errno. */
typedef void (*dial_fn)(void *user, int fd, int error);

/* Start connecting. fn is called once, on the loop and not during this call; only the kernel limits
 * the time. addrs is copied; addresses beyond DIAL_MAX_ADDRS are ignored. */
struct dial *dial_new(struct loop *loop, const struct addrinfo *addrs, dial_fn fn, void *user);
/* Close all attempts; fn is not called any more. NULL is a no-op. */
void dial_cancel(struct dial *dial);
