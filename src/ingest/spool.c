/* SPDX-License-Identifier: MIT */
/* Raw logs kept in files of their own; fetchers append, tails and the log view
 * read. */
#include "ingest/spool.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/xalloc.h"

/* Descriptors that are kept open between appends: so many, or this part of
 * all that we may have. */
#define OPEN_MAX_FILES 1024
#define OPEN_PART      4
#define NAME_TAIL_MAX  48
#define BLOCK_BYTES    ((size_t)256 * 1024)

struct spool_dir {
	char *path;
	uint64_t cap_bytes;
	uint64_t bytes;
	uint64_t prune_at; /* look again when bytes are more than this */
	struct list open;  /* spools with a descriptor, last used last */
	size_t n_open, most_open;
};

/* An ended spool, as pruning sees it. */
struct ended {
	char *name;
	struct timespec written;
	uint64_t bytes;
};

struct listing {
	struct ended *ended;
	size_t n, cap;
	uint64_t bytes; /* of all spools */
};

static void list_entry_add(struct listing *listing, const char *name, const struct stat *st)
{
	listing->bytes += (uint64_t)st->st_size;
	if ((st->st_mode & 0200) != 0)
		return;
	xpush(listing->ended, listing->n, listing->cap,
	      (struct ended){ .name = xstrdup(name),
			      .written = st->st_mtim,
			      .bytes = (uint64_t)st->st_size });
}

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->n; i++)
		free(listing->ended[i].name);
	free(listing->ended);
}

/* Look at all spools of the folder. */
static int listing_read(struct listing *listing, const char *path, struct err *err)
{
	DIR *d = opendir(path);
	struct dirent *e;
	struct stat st;

	*listing = (struct listing){ 0 };
	if (d == NULL)
		return err_set_errno(err, ERR_IO, "cannot read %s", path);
	while ((e = readdir(d)) != NULL)
		if (str_ends_with(str_from(e->d_name), ".log") &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			list_entry_add(listing, e->d_name, &st);
	closedir(d);
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec < y->written.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

void spool_prune_run(struct spool_prune *prune, const struct spool_dir *dir)
{
	struct listing listing;

	*prune = (struct spool_prune){ 0 };
	if (listing_read(&listing, dir->path, &prune->err))
		return;
	prune->bytes = listing.bytes;
	if (listing.n > 0)
		qsort(listing.ended, listing.n, sizeof(*listing.ended), by_age);
	for (size_t i = 0; i < listing.n && prune->bytes > dir->cap_bytes; i++) {
		AUTO_TEXT path = xasprintf("%s/%s", dir->path, listing.ended[i].name);

		if (unlink(path) == 0)
			prune->bytes -= listing.ended[i].bytes;
	}
	listing_release(&listing);
}

void spool_prune_take(const struct spool_prune *prune, struct spool_dir *dir)
{
	if (prune->err.code == ERR_NONE)
		dir->bytes = prune->bytes;
	dir->prune_at =
		dir->bytes > dir->cap_bytes ? dir->bytes + dir->cap_bytes / 16 : dir->cap_bytes;
}

bool spool_dir_is_over(const struct spool_dir *dir)
{
	return dir->bytes > dir->prune_at;
}

struct spool_dir *spool_dir_open(const char *path, uint64_t cap_bytes, struct err *err)
{
	struct spool_dir *dir;
	struct spool_prune prune;
	struct rlimit limit = { OPEN_MAX_FILES, 0 };

	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		err_set_errno(err, ERR_IO, "cannot make %s", path);
		return NULL;
	}
	dir = xcalloc(1, sizeof(*dir));
	dir->path = xstrdup(path);
	dir->cap_bytes = cap_bytes;
	list_init(&dir->open);
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	dir->most_open = OPEN_MAX_FILES;
	if (limit.rlim_cur / OPEN_PART < dir->most_open)
		dir->most_open = (size_t)limit.rlim_cur / OPEN_PART;
	spool_prune_run(&prune, dir);
	spool_prune_take(&prune, dir);
	if (prune.err.code != ERR_NONE) {
		if (err != NULL)
			*err = prune.err;
		spool_dir_free(dir);
		return NULL;
	}
	return dir;
}

void spool_dir_free(struct spool_dir *dir)
{
	if (dir == NULL)
		return;
	assert(list_is_empty(&dir->open));
	free(dir->path);
	free(dir);
}

/*
 * "<hash>-<generation>-<end of the path>.log": the hash of pod and path tells
 * them apart, the rest is for people.
 */
static char *file_path(const struct spool_dir *dir, const char *pod, struct str path,
		       unsigned int generation)
{
	AUTO_BUF text = buf_new(strlen(dir->path) + strlen(pod) + path.len + 128);
	size_t from = path.len > NAME_TAIL_MAX ? path.len - NAME_TAIL_MAX : 0;

	buf_append(&text, pod, strlen(pod) + 1);
	buf_append(&text, path.p, path.len);
	uint64_t hash = str_hash(buf_str(&text));
	buf_clear(&text);
	buf_appendf(&text, "%s/%016" PRIx64 "-%u-", dir->path, hash, generation);
	for (size_t i = from; i < path.len; i++) {
		char c = path.p[i];

		buf_append_char(&text, str_is_word(c) || c == '.' ? c : '-');
	}
	if (!str_ends_with(buf_str(&text), ".log"))
		buf_append_str(&text, ".log");
	return buf_detach(&text);
}

struct spool *spool_new(struct spool_dir *dir, const char *pod, struct str path,
			unsigned int generation)
{
	struct spool *spool = xcalloc(1, sizeof(*spool));

	spool->dir = dir;
	spool->path = file_path(dir, pod, path, generation);
	spool->fd = -1;
	list_init(&spool->in_dir);
	return spool;
}

void spool_lend(struct spool *spool)
{
	if (!list_is_empty(&spool->in_dir)) {
		list_remove(&spool->in_dir);
		spool->dir->n_open--;
	}
}

void spool_back(struct spool *spool)
{
	struct spool_dir *dir = spool->dir;
	struct spool *oldest;

	dir->bytes += spool->sum.len;
	dir->bytes -= spool->counted < dir->bytes ? spool->counted : dir->bytes;
	spool->counted = spool->sum.len;
	/* Without its descriptor what has no name is gone. */
	if (spool->fd < 0 || spool->lost != NULL)
		return;
	list_append(&dir->open, &spool->in_dir);
	dir->n_open++;
	while (dir->n_open > dir->most_open) {
		oldest = list_entry(dir->open.next, struct spool, in_dir);
		spool_lend(oldest);
		fd_close(&oldest->fd);
	}
}

void spool_free(struct spool *spool)
{
	if (spool == NULL)
		return;
	spool_lend(spool);
	fd_close(&spool->fd);
	free(spool->path);
	free(spool);
}

uint64_t spool_peek(const struct spool *spool)
{
	struct stat st;

	return lstat(spool->path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static int open_path(struct spool *spool, int create, struct err *err)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | create;

	spool->fd = open(spool->path, flags, 0600);
	/* The folder was removed. */
	if (spool->fd < 0 && errno == ENOENT && create != 0 && mkdir(spool->dir->path, 0700) == 0)
		spool->fd = open(spool->path, flags, 0600);
	if (spool->fd >= 0)
		return 0;
	return err_set_errno(err, ERR_IO, "cannot open %s", spool->path);
}

/* A file without a name, that holds what comes from now on. */
static int open_nameless(struct spool *spool, struct err *err)
{
	AUTO_TEXT path = xasprintf("%s.XXXXXX", spool->path);

	fd_close(&spool->fd);
	(void)mkdir(spool->dir->path, 0700);
	spool->fd = mkostemp(path, O_CLOEXEC);
	if (spool->fd < 0)
		return err_set_errno(err, ERR_IO, "cannot make %s", path);
	(void)unlink(path);
	return 0;
}

/* Sum what lies behind the bytes that are known. */
static int sum_rest(struct spool *spool, uint64_t size, struct err *err)
{
	AUTO_TEXT block = xmalloc(BLOCK_BYTES);
	ssize_t n = 1;

	while (n > 0 && spool->sum.len < size) {
		n = pread(spool->fd, block, BLOCK_BYTES, (off_t)spool->sum.len);
		if (n > 0)
			cksum_add(&spool->sum, block, (size_t)n);
	}
	if (n > 0 || spool->sum.len >= size)
		return 0;
	return err_set_errno(err, ERR_IO, "cannot read %s", spool->path);
}

int spool_open(struct spool *spool, const struct cksum *known, struct err *err)
{
	static const struct cksum none = { 0, 0 };
	struct stat st = { 0 };

	if (known == NULL)
		(void)unlink(spool->path);
	/* Without CAP_DAC_OVERRIDE an ended one cannot be opened to write. */
	else if (lstat(spool->path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0200) == 0)
		(void)chmod(spool->path, 0600);
	int rc = open_path(spool, known == NULL ? O_CREAT | O_EXCL : O_CREAT, err);
	if (rc == 0 && (fstat(spool->fd, &st) != 0 || !S_ISREG(st.st_mode)))
		rc = err_set(err, ERR_IO, "%s is no regular file", spool->path);
	if (rc == 0) {
		spool->sum = known != NULL && known->len <= (uint64_t)st.st_size ? *known : none;
		rc = sum_rest(spool, (uint64_t)st.st_size, err);
	}
	if (rc != 0)
		fd_close(&spool->fd);
	spool->is_open = rc == 0;
	spool->lost = NULL;
	return rc;
}

/*
 * The file must be there and end where we left it: else someone else removed
 * it or wrote to it, and what we add would be gone or at a wrong offset.
 */
static int check_end(struct spool *spool, struct err *err)
{
	struct stat st;

	if (spool->fd < 0 && open_path(spool, 0, err)) {
		if (errno != ENOENT)
			return -1;
		spool->lost = "was deleted";
		return open_nameless(spool, err);
	}
	if (spool->lost != NULL)
		return 0;
	if (fstat(spool->fd, &st) != 0)
		return err_set_errno(err, ERR_IO, "cannot look at %s", spool->path);
	if (st.st_nlink == 0)
		spool->lost = "was deleted";
	if ((uint64_t)st.st_size == spool->sum.len)
		return 0;
	spool->lost = "was changed by another program";
	return open_nameless(spool, err);
}

size_t spool_append(struct spool *spool, struct str data, struct err *err)
{
	size_t done = 0;

	assert(spool->is_open);
	if (check_end(spool, err))
		return 0;
	while (done < data.len) {
		ssize_t n =
			pwrite(spool->fd, data.p + done, data.len - done, (off_t)spool->sum.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err_set_errno(err, ERR_IO, "cannot write to %s", spool->path);
			break;
		}
		cksum_add(&spool->sum, data.p + done, (size_t)n);
		done += (size_t)n;
	}
	return done;
}

ssize_t spool_read(struct spool *spool, uint64_t offset, void *data, size_t len, struct err *err)
{
	ssize_t n = -1;

	if (spool->fd < 0 && open_path(spool, 0, err))
		return -1;
	n = pread(spool->fd, data, len, (off_t)offset);
	if (n < 0)
		err_set_errno(err, ERR_IO, "cannot read %s", spool->path);
	return n;
}

void spool_end(struct spool *spool)
{
	(void)chmod(spool->path, 0400);
	spool_lend(spool);
	fd_close(&spool->fd);
}
