/* SPDX-License-Identifier: MIT */
#pragma once

#include <netdb.h>

#include "loop/loop.h"

/* From a host name to a connected socket. */

struct resolve;
/* addrs: borrowed during the call; NULL on error. */
typedef void (*resolve_fn)(void *user, const struct addrinfo *addrs, const char *error);

/* Resolve the addresses of a host in a job; fn is called once, on the loop. */
struct resolve *resolve_new(struct loop *loop, const char *host, int port, resolve_fn fn,
			    void *user);
/* NULL: no-op; fn is not called any more. */
void resolve_cancel(struct resolve *resolve);

/* Connects to the first of several addresses that answers (RFC 8305, "happy eyeballs"): address
 * families alternate, and the next attempt starts when one fails or after DIAL_NEXT_MS without an
 * answer; earlier attempts continue and are closed once one succeeds. */
#define DIAL_NEXT_MS   250
#define DIAL_MAX_ADDRS 16

struct dial;
/* fd: connected, non-blocking, owned by the callee; -1: all failed, with the errno of the last. */
typedef void (*dial_fn)(void *user, int fd, int error);

/* fn is called once, on the loop, not during this call; the only time limit is the kernel's. addrs
 * is copied; addresses beyond DIAL_MAX_ADDRS are ignored. */
struct dial *dial_new(struct loop *loop, const struct addrinfo *addrs, dial_fn fn, void *user);
/* Close all (NULL: no-op); fn is not called any more. */
void dial_cancel(struct dial *dial);
