/* SPDX-License-Identifier: MIT */
/* Jump hosts and proxy commands; for ssh_conn.c. */
#include "config.h"

#include "remote/ssh_proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/xalloc.h"
#include "remote/openssh.h"
#include "remote/process.h"

struct ssh_proxy {
	struct process process;
	struct buf said; /* the newest of its stderr */
};

static void
proxy_on_stderr(void *user, unsigned int events)
{
	struct ssh_proxy *proxy = user;
	char data[1024];
	ssize_t n = read(proxy->process.fds[2], data, sizeof(data));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		process_close_pipe(&proxy->process, 2);
		return;
	}
	if (proxy->said.len + (size_t)n > proxy->said.cap)
		buf_clear(&proxy->said);
	buf_append(&proxy->said, data, (size_t)n);
}

/* The end of the socket tells the session. */
static void
proxy_on_exit(void *user, int exit_status, int term_signal)
{
	struct ssh_proxy *proxy = user;

	(void)exit_status;
	(void)term_signal;
	proxy->process.child = NULL;
}

struct ssh_proxy *
ssh_proxy_new(struct loop *loop, const char *const *argv, int *fd,
	      struct err *err)
{
	struct ssh_proxy *proxy;
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		err_set_errno(err, ERR_IO, "cannot make a socket");
		return NULL;
	}
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	proxy = xcalloc(1, sizeof(*proxy));
	buf_init(&proxy->said, 4096);
	rc = process_start(&proxy->process, loop,
			   &(struct process_plan){
				   .argv = argv,
				   .asks_nobody = true,
				   .on_ready = { NULL, NULL, proxy_on_stderr },
				   .fds = { pair[1], pair[1], -1 },
				   .on_exit = proxy_on_exit,
				   .user = proxy },
			   err);
	close(pair[1]);
	*fd = pair[0];
	if (rc == 0)
		return proxy;
	fd_close(fd);
	ssh_proxy_free(proxy);
	return NULL;
}

void
ssh_proxy_free(struct ssh_proxy *proxy)
{
	if (proxy == NULL)
		return;
	if (proxy->process.child != NULL)
		loop_child_kill(proxy->process.child, SIGTERM);
	process_release(&proxy->process);
	buf_release(&proxy->said);
	free(proxy);
}

bool
ssh_proxy_error(struct ssh_proxy *proxy, struct err *err)
{
	struct str said;

	if (proxy == NULL)
		return false;
	if (proxy->process.fds[2] >= 0)
		proxy_on_stderr(proxy, LOOP_READ);
	said = (struct str){ proxy->said.data, proxy->said.len };
	return str_trim(said).len > 0 &&
	       openssh_error(err, "the way there", said);
}
