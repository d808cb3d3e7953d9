/* SPDX-License-Identifier: MIT */
/* Files that are written completely or not at all, and the home directory. */
#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <unistd.h>

#include "base/fd.h"

#define MAX_NAMES    1000
#define FIFO_WAIT_MS 2000

char *file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return xstrdup(slash == NULL ? "." : "/");
	return xstrndup(path, (size_t)(slash - path));
}

const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const char *file_packed_end(const char *path)
{
	const char *end = strrchr(path, '.');

	return end != NULL && str_is_among(str_from(end), ".gz .bz2 .xz .zst") ? end : NULL;
}

int file_open(const char *path, bool any, struct stat *st, struct err *err)
{
	struct pollfd p = { .events = POLLIN };
	bool is_stdin = any && strcmp(path, "-") == 0;

	p.fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
			: open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p.fd < 0 || fstat(p.fd, st) != 0)
		err_set_errno(err, ERR_IO, "cannot open %s", path);
	else if (!any && !S_ISREG(st->st_mode))
		err_set(err, ERR_IO, "%s is not a regular file", path);
	else if (!is_stdin && S_ISFIFO(st->st_mode) && poll(&p, 1, FIFO_WAIT_MS) == 0)
		err_set(err, ERR_IO, "%s: no process has opened this FIFO for writing", path);
	else
		return p.fd;
	fd_close(&p.fd);
	return -1;
}

ssize_t file_read_some(int fd, void *block, size_t size)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n = read(fd, block, size);

		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n;
		(void)poll(&p, 1, -1);
	}
}

static int read_all(const char *path, bool any, struct buf *out, struct err *err)
{
	char block[65536];
	struct stat st;
	int result = 0, fd = file_open(path, any, &st, err);
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	while (!out->truncated && (n = file_read_some(fd, block, sizeof(block))) > 0)
		buf_append(out, block, (size_t)n);
	if (n < 0)
		result = err_set_errno(err, ERR_IO, "cannot read %s", path);
	else if (out->truncated)
		result = err_set(err, ERR_LIMIT, "%s is too large", path);
	(void)close(fd);
	return result;
}

int file_read(const char *path, struct buf *out, struct err *err)
{
	return read_all(path, false, out, err);
}

int file_read_stream(const char *path, struct buf *out, struct err *err)
{
	return read_all(path, true, out, err);
}

/* Write and close fd, whose name is temp; on failure temp is removed. */
static int write_and_close(int fd, const char *temp, struct str text, mode_t mode)
{
	if (fd < 0)
		return -1;
	bool good =
		fd_write_all(fd, text.p, text.len) == 0 && fchmod(fd, mode) == 0 && fsync(fd) == 0;
	int saved = errno;
	if (close(fd) != 0 && good) {
		saved = errno;
		good = false;
	}
	if (good)
		return 0;
	(void)unlink(temp);
	errno = saved;
	return -1;
}

int file_replace(const char *path, struct str text, struct err *err)
{
	AUTO_TEXT temp = xasprintf("%s.tmp", path);

	/* Reuse the file if a killed process left it behind. */
	int rc = write_and_close(open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), temp,
				 text, 0600);
	if (rc == 0 && (rc = rename(temp, path)) != 0)
		(void)unlink(temp);
	if (rc != 0)
		err_set_errno(err, ERR_IO, "cannot write %s", path);
	return rc;
}

/* Make the n-th candidate for a free name: "a.csv", "a-1.csv" and so on. */
static char *make_name(const char *path, int n)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash != NULL ? slash : path, '.');
	int base = (int)(dot != NULL ? (size_t)(dot - path) : strlen(path));

	if (n == 0)
		return xstrdup(path);
	return xasprintf("%.*s-%d%s", base, path, n, dot != NULL ? dot : "");
}

/* Rename temp to path unless path exists. Without hard links, create path first to reserve it. */
static int claim_name(const char *temp, const char *path)
{
	if (link(temp, path) == 0)
		return unlink(temp);
	if (errno == EEXIST)
		return -1;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	(void)close(fd);
	return rename(temp, path);
}

char *file_find_free_name(const char *path)
{
	for (int n = 0; n < MAX_NAMES; n++) {
		char *name = make_name(path, n);

		if (access(name, F_OK) != 0)
			return name;
		free(name);
	}
	return xstrdup(path);
}

char *file_create(const char *path, struct str text, bool over, struct err *err)
{
	AUTO_TEXT temp = xasprintf("%s.XXXXXX", path);
	char *given = NULL;
	mode_t mask = umask(0);

	/* Set the permissions that open() would give for mode 0666. */
	(void)umask(mask);
	if (write_and_close(mkostemp(temp, O_CLOEXEC), temp, text, 0666 & ~mask) != 0) {
		err_set_errno(err, ERR_IO, "cannot write %s", path);
		return NULL;
	}
	for (int n = 0; n < MAX_NAMES; n++) {
		given = make_name(path, n);
		if ((over ? rename(temp, path) : claim_name(temp, given)) == 0)
			break;
		free(given);
		given = NULL;
		if (errno != EEXIST)
			break;
	}
	if (given == NULL) {
		err_set_errno(err, ERR_IO, "cannot write %s", path);
		(void)unlink(temp);
	}
	return given;
}

const char *file_home(void)
{
	const char *home = getenv("HOME");

	if (home != NULL && home[0] == '/')
		return home;
	const struct passwd *entry = getpwuid(getuid());
	return entry != NULL && entry->pw_dir != NULL ? entry->pw_dir : "/";
}

char *file_expand_home(const char *path)
{
	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
		return xasprintf("%s%s", file_home(), path + 1);
	return xstrdup(path);
}
