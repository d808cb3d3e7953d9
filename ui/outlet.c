/* SPDX-License-Identifier: MIT */
/* What waits for the terminal; for term_curses.c. */
#include "config.h"

#include "ui/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/xalloc.h"

/* Of linux/memfd.h: sysctl vm.memfd_noexec=2 demands it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* More than the largest frame: a million cells, each of a look of its own. */
#define QUEUE_BYTES (64U << 20)
#define KEEP_BYTES  (1U << 20) /* of memory, between two frames */
#define CANCEL	    "\030"     /* ends a sequence without effect: ECMA-48 CAN */

/* The terminal of stdout with flags of our own; -1: it cannot be had. */
static int
open_again(void)
{
	static const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	/* Also where no name of it is to be seen, as in a container. */
	int fd = open("/proc/self/fd/1", flags);

	/* After su it is another user's; but our session's is open to us. */
	if (fd < 0 && tcgetsid(STDOUT_FILENO) != (pid_t)-1)
		fd = open("/dev/tty", flags);
	if (fd >= 0 && !isatty(fd)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

struct outlet *
outlet_new(struct err *err)
{
	struct outlet *outlet = xcalloc(1, sizeof(*outlet));
	int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	buf_init(&outlet->queue, QUEUE_BYTES);
	outlet->fd = open_again();
	if (outlet->fd < 0)
		outlet->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	outlet->file = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (outlet->file != NULL && outlet->fd >= 0)
		return outlet;
	(void)err_set_errno(err, ERR_IO, "cannot open the terminal");
	if (outlet->file == NULL && copy >= 0)
		(void)close(copy);
	outlet_free(outlet);
	return NULL;
}

void
outlet_free(struct outlet *outlet)
{
	if (outlet == NULL)
		return;
	if (outlet->file != NULL)
		(void)fclose(outlet->file);
	if (outlet->fd >= 0)
		(void)close(outlet->fd);
	buf_release(&outlet->queue);
	free(outlet);
}

void
outlet_hold(struct outlet *outlet)
{
	unsigned int flags = MFD_CLOEXEC;
	int memory = memfd_create("terminal", flags | MFD_NOEXEC_SEAL);

	/* Linux before 6.3 does not know the flag. */
	if (memory < 0 && errno == EINVAL)
		memory = memfd_create("terminal", flags);
	if (memory < 0)
		return;
	(void)fflush(outlet->file);
	outlet->is_held = dup3(memory, fileno(outlet->file), O_CLOEXEC) >= 0;
	(void)close(memory);
}

/* Move what was written into the queue. */
static void
collect(struct outlet *outlet)
{
	int memory = fileno(outlet->file);
	off_t len = lseek(memory, 0, SEEK_CUR), at = 0;
	char block[16384];

	while (at < len) {
		size_t left = (size_t)(len - at);
		ssize_t n =
			pread(memory, block,
			      left < sizeof(block) ? left : sizeof(block), at);

		if (n <= 0)
			break;
		buf_append(&outlet->queue, block, (size_t)n);
		at += n;
	}
	if (len > 0)
		(void)lseek(memory, 0, SEEK_SET);
}

bool
outlet_send(struct outlet *outlet)
{
	if (!outlet->is_held)
		return true;
	collect(outlet);
	while (outlet_waiting_bytes(outlet) > 0) {
		ssize_t n = fd_write_now(outlet->fd,
					 outlet->queue.data + outlet->sent,
					 outlet_waiting_bytes(outlet));

		if (n == 0 || (n < 0 && errno == EAGAIN))
			return false;
		/* It is gone, and all that it was to show. */
		if (n < 0)
			break;
		outlet->sent += (size_t)n;
	}
	outlet->sent = 0;
	if (outlet->queue.room > KEEP_BYTES)
		buf_release(&outlet->queue);
	buf_clear(&outlet->queue);
	return true;
}

size_t
outlet_waiting_bytes(const struct outlet *outlet)
{
	return outlet->queue.len - outlet->sent;
}

bool
outlet_drain(struct outlet *outlet)
{
	const struct clock *clock = &clock_real;
	int64_t end = clock->mono_ms(clock) + OUTLET_DRAIN_MS;

	while (!outlet_send(outlet)) {
		struct pollfd watch = { .fd = outlet->fd, .events = POLLOUT };

		if (poll(&watch, 1, OUTLET_STILL_MS) == 0 ||
		    clock->mono_ms(clock) > end)
			return false;
	}
	return true;
}

void
outlet_force(struct outlet *outlet, const char *data, size_t len)
{
	bool is_cut = outlet->sent > 0;

	outlet->sent = outlet->queue.len;
	for (int i = 0; i < 2; i++) {
		if ((!is_cut || fd_write_now(outlet->fd, CANCEL, 1) == 1) &&
		    fd_write_now(outlet->fd, data, len) == (ssize_t)len)
			return;
		(void)tcflush(outlet->fd, TCOFLUSH);
		is_cut = true;
	}
}
