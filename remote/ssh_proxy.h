/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_PROXY_H
#define HGYM_REMOTE_SSH_PROXY_H

#include "loop/loop.h"

/*
 * A program through which a server is reached (ssh to a jump host, or a
 * ProxyCommand): one end of a socket is its stdin and stdout.
 */
struct ssh_proxy;

/* *fd is our end of the socket: given, non-blocking; the server's after it. */
struct ssh_proxy *ssh_proxy_new(struct loop *loop, const char *const *argv,
				int *fd, struct err *err)
	__attribute__((warn_unused_result));
/* End it (NULL: nothing). */
void ssh_proxy_free(struct ssh_proxy *proxy);
/*
 * Where it said something on stderr: put that into err (else left alone).
 * Returns true when another try cannot help.  NULL: nothing.
 */
bool ssh_proxy_error(struct ssh_proxy *proxy, struct err *err);

#endif
