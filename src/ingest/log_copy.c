/* SPDX-License-Identifier: MIT */
/* Local copies of logs; followers append, readers and the log view read. */
#include "ingest/log_copy.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"

/* At most this many descriptors stay open, and one OPEN_PART-th of the process's limit. */
#define OPEN_MAX_FILES 1024
#define OPEN_PART      4
#define NAME_TAIL_MAX  48
#define BLOCK_BYTES    ((size_t)256 * 1024)

struct log_copies {
	char *path;
	uint64_t cap_bytes;
	uint64_t bytes;
	uint64_t prune_at; /* prune when bytes exceed this */
	struct list open;  /* copies with a descriptor, last used last */
	size_t n_open, most_open;
};

/* The copy of an ended log, which may be pruned. */
struct ended {
	char *name;
	struct timespec written;
	uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec < y->written.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

void log_copies_prune(struct pruned_copies *prune, const struct log_copies *dir)
{
	struct ended *ended = NULL;
	size_t n = 0, cap = 0;
	const struct dirent *e;
	struct stat st;
	DIR *d = opendir(dir->path);

	*prune = (struct pruned_copies){ 0 };
	if (d == NULL) {
		err_set_errno(&prune->err, ERR_IO, "cannot read %s", dir->path);
		return;
	}
	while ((e = readdir(d)) != NULL) {
		if (!str_ends_with(str_from(e->d_name), ".log") ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		prune->bytes += (uint64_t)st.st_size;
		if ((st.st_mode & 0200) == 0)
			xpush(ended, n, cap,
			      (struct ended){ .name = xstrdup(e->d_name),
					      .written = st.st_mtim,
					      .bytes = (uint64_t)st.st_size });
	}
	closedir(d);
	if (n > 0)
		qsort(ended, n, sizeof(*ended), by_age);
	for (size_t i = 0; i < n; i++) {
		AUTO_TEXT path = xasprintf("%s/%s", dir->path, ended[i].name);

		if (prune->bytes > dir->cap_bytes && unlink(path) == 0)
			prune->bytes -= ended[i].bytes;
		free(ended[i].name);
	}
	free(ended);
}

void log_copies_take_pruned(const struct pruned_copies *prune, struct log_copies *dir)
{
	if (prune->err.code == ERR_NONE)
		dir->bytes = prune->bytes;
	dir->prune_at =
		dir->bytes > dir->cap_bytes ? dir->bytes + dir->cap_bytes / 16 : dir->cap_bytes;
}

bool log_copies_exceed_cap(const struct log_copies *dir)
{
	return dir->bytes > dir->prune_at;
}

struct log_copies *log_copies_open(const char *path, uint64_t cap_bytes, struct err *err)
{
	struct pruned_copies prune;
	struct rlimit limit = { OPEN_MAX_FILES, 0 };

	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		err_set_errno(err, ERR_IO, "cannot create %s", path);
		return NULL;
	}
	struct log_copies *dir =
		xnew(struct log_copies, .path = xstrdup(path), .cap_bytes = cap_bytes);
	list_init(&dir->open);
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	dir->most_open = MIN(OPEN_MAX_FILES, (size_t)limit.rlim_cur / OPEN_PART);
	log_copies_prune(&prune, dir);
	log_copies_take_pruned(&prune, dir);
	if (prune.err.code != ERR_NONE) {
		if (err != NULL)
			*err = prune.err;
		log_copies_free(dir);
		return NULL;
	}
	return dir;
}

void log_copies_free(struct log_copies *dir)
{
	if (dir == NULL)
		return;
	assert(list_is_empty(&dir->open));
	free(dir->path);
	free(dir);
}

struct log_copy *log_copy_new(struct log_copies *dir, const char *pod, struct str path,
			      unsigned int generation)
{
	AUTO_BUF text = buf_new(strlen(dir->path) + strlen(pod) + path.len + 128);
	size_t from = path.len > NAME_TAIL_MAX ? path.len - NAME_TAIL_MAX : 0;

	/* "<hash of pod and path>-<generation>-<end of the path, for people>.log" */
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
	struct log_copy *copy =
		xnew(struct log_copy, .dir = dir, .path = buf_detach(&text), .fd = -1);
	list_init(&copy->in_dir);
	return copy;
}

void log_copy_lend(struct log_copy *copy)
{
	if (!list_is_empty(&copy->in_dir)) {
		list_remove(&copy->in_dir);
		copy->dir->n_open--;
	}
}

void log_copy_return(struct log_copy *copy)
{
	struct log_copies *dir = copy->dir;
	struct log_copy *oldest;

	dir->bytes += copy->sum.len;
	dir->bytes -= copy->counted < dir->bytes ? copy->counted : dir->bytes;
	copy->counted = copy->sum.len;
	/* The descriptor of a file without a name stays open: it is the only way to its bytes. */
	if (copy->fd < 0 || copy->lost != NULL)
		return;
	list_append(&dir->open, &copy->in_dir);
	dir->n_open++;
	while (dir->n_open > dir->most_open) {
		oldest = list_entry(dir->open.next, struct log_copy, in_dir);
		log_copy_lend(oldest);
		fd_close(&oldest->fd);
	}
}

void log_copy_free(struct log_copy *copy)
{
	if (copy == NULL)
		return;
	log_copy_lend(copy);
	fd_close(&copy->fd);
	free(copy->path);
	free(copy);
}

uint64_t log_copy_peek(const struct log_copy *copy, int64_t *wall_ms)
{
	struct stat st;

	if (lstat(copy->path, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	*wall_ms = (int64_t)st.st_mtim.tv_sec * 1000;
	return (uint64_t)st.st_size;
}

static int open_path(struct log_copy *copy, int create, struct err *err)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | create;

	copy->fd = open(copy->path, flags, 0600);
	/* Another program removed the directory. */
	if (copy->fd < 0 && errno == ENOENT && create != 0 && mkdir(copy->dir->path, 0700) == 0)
		copy->fd = open(copy->path, flags, 0600);
	return copy->fd >= 0 ? 0 : err_set_errno(err, ERR_IO, "cannot open %s", copy->path);
}

/* Continue in a file without a name, which gets only later bytes. */
static int open_nameless(struct log_copy *copy, struct err *err)
{
	AUTO_TEXT path = xasprintf("%s.XXXXXX", copy->path);

	fd_close(&copy->fd);
	(void)mkdir(copy->dir->path, 0700);
	copy->fd = mkostemp(path, O_CLOEXEC);
	if (copy->fd < 0)
		return err_set_errno(err, ERR_IO, "cannot create %s", path);
	(void)unlink(path);
	return 0;
}

/* Add the bytes after sum.len to the checksum. */
static int sum_rest(struct log_copy *copy, uint64_t size, struct err *err)
{
	AUTO_TEXT block = xmalloc(BLOCK_BYTES);
	ssize_t n = 1;

	while (n > 0 && copy->sum.len < size) {
		n = pread(copy->fd, block, BLOCK_BYTES, (off_t)copy->sum.len);
		if (n > 0)
			cksum_add(&copy->sum, block, (size_t)n);
	}
	if (n > 0 || copy->sum.len >= size)
		return 0;
	return err_set_errno(err, ERR_IO, "cannot read %s", copy->path);
}

int log_copy_open(struct log_copy *copy, const struct cksum *known, struct err *err)
{
	static const struct cksum none = { 0, 0 };
	struct stat st = { 0 };

	if (known == NULL)
		(void)unlink(copy->path);
	/* The copy of an ended log is read-only. */
	else if (lstat(copy->path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0200) == 0)
		(void)chmod(copy->path, 0600);
	int rc = open_path(copy, known == NULL ? O_CREAT | O_EXCL : O_CREAT, err);
	if (rc == 0 && (fstat(copy->fd, &st) != 0 || !S_ISREG(st.st_mode)))
		rc = err_set(err, ERR_IO, "%s is not a regular file", copy->path);
	if (rc == 0) {
		copy->sum = known != NULL && known->len <= (uint64_t)st.st_size ? *known : none;
		rc = sum_rest(copy, (uint64_t)st.st_size, err);
	}
	if (rc != 0)
		fd_close(&copy->fd);
	copy->is_open = rc == 0;
	copy->lost = NULL;
	return rc;
}

/* Check that the file exists and ends where we left it. Otherwise another program removed or
 * changed it, and appended bytes would be lost or at a wrong offset. */
static int check_end(struct log_copy *copy, struct err *err)
{
	struct stat st;

	if (copy->fd < 0 && open_path(copy, 0, err)) {
		if (errno != ENOENT)
			return -1;
		copy->lost = "was deleted";
		return open_nameless(copy, err);
	}
	if (copy->lost != NULL)
		return 0;
	if (fstat(copy->fd, &st) != 0)
		return err_set_errno(err, ERR_IO, "cannot stat %s", copy->path);
	if (st.st_nlink == 0)
		copy->lost = "was deleted";
	if ((uint64_t)st.st_size == copy->sum.len)
		return 0;
	copy->lost = "was changed by another program";
	return open_nameless(copy, err);
}

size_t log_copy_append(struct log_copy *copy, struct str data, struct err *err)
{
	size_t done = 0;

	assert(copy->is_open);
	if (check_end(copy, err))
		return 0;
	while (done < data.len) {
		ssize_t n = pwrite(copy->fd, data.p + done, data.len - done, (off_t)copy->sum.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err_set_errno(err, ERR_IO, "cannot write to %s", copy->path);
			break;
		}
		cksum_add(&copy->sum, data.p + done, (size_t)n);
		done += (size_t)n;
	}
	return done;
}

ssize_t log_copy_read(struct log_copy *copy, uint64_t offset, void *data, size_t len,
		      struct err *err)
{
	if (copy->fd < 0 && open_path(copy, 0, err))
		return -1;
	ssize_t n = pread(copy->fd, data, len, (off_t)offset);
	if (n < 0)
		err_set_errno(err, ERR_IO, "cannot read %s", copy->path);
	return n;
}

void log_copy_end(struct log_copy *copy)
{
	(void)chmod(copy->path, 0400);
	log_copy_lend(copy);
	fd_close(&copy->fd);
}
