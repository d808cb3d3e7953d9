/* SPDX-License-Identifier: MIT */
/* Raw logs kept in files of their own; for the collector and the log view. */
#include "config.h"

#include "store/mirror.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/xalloc.h"

/* Descriptors that are kept open between appends. */
#define OPEN_MAX_FILES 128
#define NAME_TAIL_MAX  48

struct mirror_dir {
	char *path;
	uint64_t cap_bytes;
	uint64_t bytes;
	uint64_t prune_at; /* look again when bytes are more than this */
	struct list open;  /* mirrors with a descriptor, last used last */
	size_t n_open;
};

struct mirror {
	struct list in_open;
	struct mirror_dir *dir;
	char *path;
	uint64_t size;
	int fd; /* -1: opened again at the next append */
	bool is_lost;
};

/* An ended mirror, as pruning sees it. */
struct ended {
	char *name;
	struct timespec written;
	uint64_t bytes;
};

struct listing {
	struct ended *ended;
	size_t n, cap;
	uint64_t bytes; /* of all mirrors */
};

static void
list_entry_add(struct listing *listing, const char *name, const struct stat *st)
{
	listing->bytes += (uint64_t)st->st_size;
	if ((st->st_mode & 0200) != 0)
		return;
	listing->ended = xgrow(listing->ended, listing->n, &listing->cap,
			       sizeof(*listing->ended));
	listing->ended[listing->n++] = (struct ended){
		.name = xstrdup(name),
		.written = st->st_mtim,
		.bytes = (uint64_t)st->st_size,
	};
}

static void
listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->n; i++)
		free(listing->ended[i].name);
	free(listing->ended);
}

/* Look at all mirrors of the folder. */
static int
listing_read(struct listing *listing, const struct mirror_dir *dir,
	     struct err *err)
{
	DIR *d = opendir(dir->path);
	struct dirent *e;
	struct stat st;

	*listing = (struct listing){ 0 };
	if (d == NULL)
		return err_set_errno(err, ERR_IO, "cannot read %s", dir->path);
	while ((e = readdir(d)) != NULL)
		if (str_ends_with(str_from(e->d_name), ".log") &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			    0 &&
		    S_ISREG(st.st_mode))
			list_entry_add(listing, e->d_name, &st);
	closedir(d);
	return 0;
}

static int
by_age(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec < y->written.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

int
mirror_dir_prune(struct mirror_dir *dir, struct err *err)
{
	struct listing listing;

	if (listing_read(&listing, dir, err))
		return -1;
	dir->bytes = listing.bytes;
	if (listing.n > 0)
		qsort(listing.ended, listing.n, sizeof(*listing.ended), by_age);
	for (size_t i = 0; i < listing.n && dir->bytes > dir->cap_bytes; i++) {
		char *path =
			xasprintf("%s/%s", dir->path, listing.ended[i].name);

		if (unlink(path) == 0)
			dir->bytes -= listing.ended[i].bytes;
		free(path);
	}
	dir->prune_at = dir->bytes > dir->cap_bytes
				? dir->bytes + dir->cap_bytes / 16
				: dir->cap_bytes;
	listing_release(&listing);
	return 0;
}

struct mirror_dir *
mirror_dir_open(const char *path, uint64_t cap_bytes, struct err *err)
{
	struct mirror_dir *dir;

	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		err_set_errno(err, ERR_IO, "cannot make %s", path);
		return NULL;
	}
	dir = xcalloc(1, sizeof(*dir));
	dir->path = xstrdup(path);
	dir->cap_bytes = cap_bytes;
	list_init(&dir->open);
	if (mirror_dir_prune(dir, err)) {
		mirror_dir_free(dir);
		return NULL;
	}
	return dir;
}

void
mirror_dir_free(struct mirror_dir *dir)
{
	if (dir == NULL)
		return;
	assert(list_is_empty(&dir->open));
	free(dir->path);
	free(dir);
}

static void
close_fd(struct mirror *mirror)
{
	if (mirror->fd < 0)
		return;
	close(mirror->fd);
	mirror->fd = -1;
	list_remove(&mirror->in_open);
	mirror->dir->n_open--;
}

static int
open_path(const struct mirror *mirror, int create)
{
	int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | create;
	int fd = open(mirror->path, flags, 0600);

	/* The folder was removed. */
	if (fd < 0 && errno == ENOENT && create != 0 &&
	    mkdir(mirror->dir->path, 0700) == 0)
		fd = open(mirror->path, flags, 0600);
	return fd;
}

/* Have a descriptor to append with, and be the last used. */
static int
need_fd(struct mirror *mirror, struct err *err)
{
	struct mirror_dir *dir = mirror->dir;

	if (mirror->fd >= 0) {
		list_remove(&mirror->in_open);
		list_append(&dir->open, &mirror->in_open);
		return 0;
	}
	if (dir->n_open >= OPEN_MAX_FILES)
		close_fd(list_entry(dir->open.next, struct mirror, in_open));
	/* An empty one would stand for all that was kept before. */
	mirror->fd = open_path(mirror, mirror->size == 0 ? O_CREAT : 0);
	if (mirror->fd < 0) {
		mirror->is_lost = errno == ENOENT && mirror->size > 0;
		return err_set_errno(err, ERR_IO, "cannot open %s",
				     mirror->path);
	}
	list_append(&dir->open, &mirror->in_open);
	dir->n_open++;
	return 0;
}

static bool
is_safe(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '.' || c == '_';
}

/*
 * "<hash>-<generation>-<end of the path>.log": the hash of pod and path tells
 * them apart, the rest is for people.
 */
static char *
file_path(const struct mirror_dir *dir, const char *pod, struct str path,
	  unsigned int generation)
{
	struct buf text;
	size_t from = path.len > NAME_TAIL_MAX ? path.len - NAME_TAIL_MAX : 0;
	uint64_t hash;

	buf_init(&text, strlen(dir->path) + strlen(pod) + path.len + 128);
	buf_append(&text, pod, strlen(pod) + 1);
	buf_append(&text, path.p, path.len);
	hash = str_hash((struct str){ text.data, text.len });
	buf_clear(&text);
	buf_appendf(&text, "%s/%016" PRIx64 "-%u-", dir->path, hash,
		    generation);
	for (size_t i = from; i < path.len; i++)
		buf_append_char(&text, is_safe(path.p[i]) ? path.p[i] : '-');
	if (!str_ends_with((struct str){ text.data, text.len }, ".log"))
		buf_append_str(&text, ".log");
	return buf_detach(&text);
}

struct mirror *
mirror_open(struct mirror_dir *dir, const char *pod, struct str path,
	    unsigned int generation, struct err *err)
{
	struct mirror *mirror = xcalloc(1, sizeof(*mirror));
	struct stat st;

	mirror->dir = dir;
	mirror->path = file_path(dir, pod, path, generation);
	mirror->fd = -1;
	/* Without CAP_DAC_OVERRIDE an ended one cannot be opened to write. */
	if (stat(mirror->path, &st) == 0 && (st.st_mode & 0200) == 0)
		(void)chmod(mirror->path, 0600);
	if (need_fd(mirror, err)) {
		mirror_close(mirror);
		return NULL;
	}
	if (fstat(mirror->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		err_set(err, ERR_IO, "%s is no regular file", mirror->path);
		mirror_close(mirror);
		return NULL;
	}
	mirror->size = (uint64_t)st.st_size;
	return mirror;
}

void
mirror_close(struct mirror *mirror)
{
	if (mirror == NULL)
		return;
	close_fd(mirror);
	free(mirror->path);
	free(mirror);
}

int
mirror_end(struct mirror *mirror, struct err *err)
{
	if (chmod(mirror->path, 0400) != 0)
		return err_set_errno(err, ERR_IO, "cannot change %s",
				     mirror->path);
	close_fd(mirror);
	return 0;
}

int
mirror_reset(struct mirror *mirror, struct err *err)
{
	if (need_fd(mirror, err))
		return -1;
	if (ftruncate(mirror->fd, 0) != 0)
		return err_set_errno(err, ERR_IO, "cannot empty %s",
				     mirror->path);
	mirror->dir->bytes -= mirror->size < mirror->dir->bytes
				      ? mirror->size
				      : mirror->dir->bytes;
	mirror->size = 0;
	return 0;
}

const char *
mirror_path(const struct mirror *mirror)
{
	return mirror->path;
}

uint64_t
mirror_size(const struct mirror *mirror)
{
	return mirror->size;
}

bool
mirror_is_lost(const struct mirror *mirror)
{
	return mirror->is_lost;
}

/*
 * The file must be there and end where we left it: else someone else removed
 * it or wrote to it, and what we add would be gone or at a wrong offset.
 */
static int
check_end(struct mirror *mirror, struct err *err)
{
	struct stat st;

	if (fstat(mirror->fd, &st) != 0)
		return err_set_errno(err, ERR_IO, "cannot look at %s",
				     mirror->path);
	mirror->is_lost =
		st.st_nlink == 0 || (uint64_t)st.st_size != mirror->size;
	if (st.st_nlink == 0)
		return err_set(err, ERR_IO, "%s was deleted", mirror->path);
	if (mirror->is_lost)
		return err_set(err, ERR_IO, "%s was changed by another program",
			       mirror->path);
	return 0;
}

size_t
mirror_append(struct mirror *mirror, struct str data, struct err *err)
{
	size_t done = 0;

	if (need_fd(mirror, err) || check_end(mirror, err))
		return 0;
	while (done < data.len) {
		ssize_t n = write(mirror->fd, data.p + done, data.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err_set_errno(err, ERR_IO, "cannot write to %s",
				      mirror->path);
			break;
		}
		done += (size_t)n;
		mirror->size += (size_t)n;
	}
	mirror->dir->bytes += done;
	if (mirror->dir->bytes > mirror->dir->prune_at)
		(void)mirror_dir_prune(mirror->dir, NULL);
	return done;
}

ssize_t
mirror_read(const struct mirror *mirror, uint64_t offset, void *data,
	    size_t len, struct err *err)
{
	int fd = mirror->fd >= 0 ? mirror->fd
				 : open(mirror->path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0)
		n = pread(fd, data, len, (off_t)offset);
	if (n < 0)
		err_set_errno(err, ERR_IO, "cannot read %s", mirror->path);
	if (fd >= 0 && fd != mirror->fd)
		close(fd);
	return n;
}

/* Read exactly len bytes. */
static int
read_all(const struct mirror *mirror, uint64_t offset, unsigned char *data,
	 size_t len, struct err *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = mirror_read(mirror, offset + done, data + done,
					len - done, err);

		if (n < 0)
			return -1;
		if (n == 0)
			return err_set(err, ERR_IO, "%s is too short",
				       mirror->path);
		done += (size_t)n;
	}
	return 0;
}

int
mirror_guard(const struct mirror *mirror, uint64_t offset, struct guard *guard,
	     struct err *err)
{
	size_t tail;

	memset(guard, 0, sizeof(*guard));
	guard->offset = offset;
	tail = guard_tail(guard).len;
	if (read_all(mirror, 0, guard->head, guard_head(guard).len, err) ||
	    read_all(mirror, offset - tail, guard->tail, tail, err))
		return -1;
	return 0;
}
