/* SPDX-License-Identifier: MIT */
/* A local HarnessGym directory to its files; called by harness and the demo. */
#include "config.h"

#include "harness/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "harness/judge.h"
#include "harness/process.h"

#define MAX_ENTRIES 4096 /* of one folder */
#define MAX_RUNS    64	 /* the newest */
#define MAX_DEPTH   8
#define RETRY_MS    20
#define MAX_TRIES   3 /* at a file that changes while it is read */
/* A file younger than this may change again within its own clock tick. */
#define YOUNG_MS 2000

/* What a file looked like when it was read. */
struct mark {
	int64_t size, mtime_ns, ctime_ns;
	ino_t inode;
};

static int64_t
mtime_ns_of(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static bool
is_folder(int at, const char *name)
{
	struct stat st;

	return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* Whether DIR/name exists at all. */
static bool
has(const char *path, const char *name)
{
	AUTO_TEXT full = xasprintf("%s/%s", path, name);

	return access(full, F_OK) == 0;
}

/* One run's folder: its own files below runs/, the rest beside that. */
static void
open_run(struct harness_dir *dir, const char *path)
{
	AUTO_TEXT runs = file_folder(path);

	dir->what = HARNESS_IS_RUN;
	dir->run = xstrdup(file_name(path));
	if (strcmp(file_name(runs), "runs") == 0)
		dir->root = file_folder(runs);
	else
		dir->root = xstrdup(path);
}

static int
recognise(struct harness_dir *dir, const char *path, struct err *err)
{
	if (has(path, "compare_report.json") || has(path, "plain/trial_1") ||
	    has(path, "harnessed/trial_1")) {
		dir->what = HARNESS_IS_COMPARE;
		dir->root = xstrdup(path);
	} else if (is_folder(AT_FDCWD, path) && has(path, ".harnessgym/runs")) {
		dir->root = xasprintf("%s/.harnessgym", path);
	} else if (has(path, "run_config.json") || has(path, "iterations/1")) {
		open_run(dir, path);
	} else if (has(path, "runs") &&
		   strcmp(file_name(path), ".harnessgym") == 0) {
		dir->root = xstrdup(path);
	} else if (has(path, "results.tsv")) {
		dir->what = HARNESS_IS_TABLE;
		dir->root = xstrdup(path);
	} else {
		return err_set(err, ERR_NODATA,
			       "%s holds no HarnessGym run and no comparison",
			       path);
	}
	return 0;
}

int
harness_dir_open(struct harness_dir *dir, const char *path, struct err *err)
{
	char full[PATH_MAX];

	*dir = (struct harness_dir){ .what = HARNESS_IS_WORKSPACE };
	if (realpath(path, full) == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", path);
	if (!is_folder(AT_FDCWD, full))
		return err_set(err, ERR_NODATA, "%s is not a directory", path);
	if (recognise(dir, full, err) != 0)
		return -1;
	harness_files_init(&dir->files);
	map_init(&dir->marks);
	return 0;
}

bool
harness_dir_is(const char *path)
{
	struct harness_dir dir;

	if (harness_dir_open(&dir, path, NULL) != 0)
		return has(path, ".harnessgym") || has(path, "task.md");
	harness_dir_close(&dir);
	return true;
}

void
harness_dir_close(struct harness_dir *dir)
{
	harness_files_release(&dir->files);
	map_release(&dir->marks, free);
	free(dir->root);
	free(dir->run);
	*dir = (struct harness_dir){ .root = NULL };
}

/* Up to limit bytes of fd from offset on; -1 when it cannot be read. */
static int
read_from(int fd, off_t offset, struct buf *text)
{
	char block[65536];
	ssize_t n;

	while (!text->truncated &&
	       (n = pread(fd, block, sizeof(block), offset)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		buf_append(text, block, (size_t)n);
		offset += n;
	}
	return 0;
}

/* Whether the file looks as it did; remembers how it looks now. */
static bool
looks_same(struct harness_dir *dir, const char *path, const struct stat *st)
{
	struct str key = str_from(path);
	struct mark *mark = map_get(&dir->marks, key);
	int64_t mtime_ns = mtime_ns_of(st);
	int64_t ctime_ns =
		(int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
	int64_t age_ms = clock_real.wall_ms(&clock_real) - mtime_ns / 1000000;
	bool same;

	if (mark == NULL) {
		mark = xcalloc(1, sizeof(*mark));
		map_set(&dir->marks, key, mark);
		mark->size = -1;
	}
	same = mark->size == st->st_size && mark->mtime_ns == mtime_ns &&
	       mark->ctime_ns == ctime_ns && mark->inode == st->st_ino;
	mark->size = st->st_size;
	mark->mtime_ns = mtime_ns;
	mark->ctime_ns = ctime_ns;
	mark->inode = st->st_ino;
	return same && (age_ms < 0 || age_ms > YOUNG_MS);
}

static bool
is_same_moment(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int64_t
to_ms(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

/*
 * What the file holds, of one moment: read again while it changes under the
 * reading.  *st is how it looked then.  -1: it cannot be read.
 */
static int
read_whole(int fd, const struct harness_path *what, struct buf *text,
	   struct stat *st)
{
	size_t limit = harness_kind_bytes(what->kind);
	struct stat before;

	for (int i = 0; i < MAX_TRIES; i++) {
		enum harness_form form = harness_kind_form(what->kind);
		bool tail = form != HARNESS_JSON && form != HARNESS_TABLE &&
			    (uint64_t)st->st_size > limit;

		before = *st;
		buf_clear(text);
		text->truncated = false;
		if (limit > 0 &&
		    read_from(fd, tail ? st->st_size - (off_t)limit : 0,
			      text) != 0)
			return -1;
		text->truncated = limit > 0 && (text->truncated || tail);
		if (fstat(fd, st) != 0)
			return -1;
		if (is_same_moment(&before, st))
			break;
	}
	return 0;
}

/* Read one file that counts, when it may have changed. */
static void
read_file(struct harness_dir *dir, int at, const char *name, const char *path,
	  const struct harness_path *what)
{
	const struct harness_file *before =
		harness_files_get(&dir->files, path);
	struct buf text;
	struct stat st;
	int fd = openat(at, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		goto out;
	if (looks_same(dir, path, &st) && before != NULL && !before->torn) {
		harness_files_seen(&dir->files, path);
		goto out;
	}
	buf_init(&text, harness_kind_bytes(what->kind));
	if (read_whole(fd, what, &text, &st) == 0) {
		(void)harness_files_put(&dir->files, path, buf_str(&text),
					text.truncated,
					mtime_ns_of(&st) / 1000000);
		harness_files_changed(&dir->files, path, to_ms(&st.st_ctim));
	}
	buf_release(&text);
out:
	(void)close(fd);
}

/* The path below prefix as the readers know it. */
static char *
join(const char *prefix, const char *name)
{
	return *prefix != '\0' ? xasprintf("%s/%s", prefix, name)
			       : xstrdup(name);
}

/* A run's folder, by its time. */
struct run_folder {
	char *name; /* owned */
	int64_t mtime_ns;
};

static int
newest_first(const void *a, const void *b)
{
	const struct run_folder *x = a, *y = b;

	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void walk(struct harness_dir *dir, int fd, const char *prefix,
		 unsigned int depth);

static void
walk_below(struct harness_dir *dir, int at, const char *name, const char *path,
	   unsigned int depth)
{
	int fd = openat(at, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		walk(dir, fd, path, depth + 1);
}

/* The newest runs of the folder, so that old ones cannot crowd them out. */
static void
walk_runs(struct harness_dir *dir, DIR *folder, unsigned int depth)
{
	struct run_folder *runs = NULL;
	const struct dirent *entry;
	size_t n = 0, cap = 0;
	struct stat st;

	while ((entry = readdir(folder)) != NULL && n < MAX_ENTRIES) {
		if (entry->d_name[0] == '.' ||
		    (dir->run != NULL &&
		     strcmp(entry->d_name, dir->run) != 0) ||
		    fstatat(dirfd(folder), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		xpush(runs, n, cap,
		      (struct run_folder){ xstrdup(entry->d_name),
					   mtime_ns_of(&st) });
	}
	if (n > 1)
		qsort(runs, n, sizeof(*runs), newest_first);
	for (size_t i = 0; i < n; i++) {
		AUTO_TEXT path = join("runs", runs[i].name);

		if (i < MAX_RUNS && harness_path_enters(path))
			walk_below(dir, dirfd(folder), runs[i].name, path,
				   depth);
		free(runs[i].name);
	}
	free(runs);
}

/*
 * Every file that counts below the folder fd (taken over), named prefix.  The
 * checkpoint is read last: it is written before what tells that it stands.
 */
static void
walk(struct harness_dir *dir, int fd, const char *prefix, unsigned int depth)
{
	static const char last[] = "checkpoints";
	AUTO_TEXT end = join(prefix, last);
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;
	size_t n = 0;

	if (folder == NULL) {
		(void)close(fd);
		return;
	}
	if (strcmp(prefix, "runs") == 0)
		walk_runs(dir, folder, depth);
	while ((entry = readdir(folder)) != NULL && n++ < MAX_ENTRIES) {
		struct harness_path what;
		AUTO_TEXT path = join(prefix, entry->d_name);

		if (strcmp(entry->d_name, last) == 0)
			continue;
		if (harness_path_read(path, &what) &&
		    what.kind < HARNESS_RESULTS)
			read_file(dir, dirfd(folder), entry->d_name, path,
				  &what);
		else if (depth < MAX_DEPTH && strcmp(prefix, "runs") != 0 &&
			 harness_path_enters(path))
			walk_below(dir, dirfd(folder), entry->d_name, path,
				   depth);
	}
	if (harness_path_enters(end))
		walk_below(dir, dirfd(folder), last, end, depth);
	(void)closedir(folder);
}

/* The folder of a run that lies in no workspace. */
static bool
is_alone(const struct harness_dir *dir)
{
	return dir->run != NULL && strcmp(file_name(dir->root), dir->run) == 0;
}

void
harness_dir_find_process(struct harness_dir *dir)
{
	char *folder = file_folder(dir->root);

	if (dir->what == HARNESS_IS_COMPARE)
		dir->files.process = harness_process_find(dir->root);
	else if (!is_alone(dir) && dir->what != HARNESS_IS_TABLE)
		dir->files.process = harness_process_find(folder);
	free(folder);
}

/* Hold the judges of every run. */
static void
read_judges(struct harness_dir *dir)
{
	bool alone = is_alone(dir);
	char *workspace = file_folder(dir->root);

	for (size_t i = 0; i < dir->files.n; i++) {
		const struct harness_file *file = dir->files.all[i];
		char *path =
			alone ? xstrdup(dir->root)
			      : xasprintf("%s/runs/%s", dir->root, file->run);
		const struct harness_judge_folders folders = {
			.run = file->run,
			.path = path,
			.workspace = alone ? NULL : workspace,
		};

		if (file->kind == HARNESS_CONFIG)
			harness_judge_collect(&dir->files, &folders);
		free(path);
	}
	free(workspace);
}

/* An agent's own table, and the log of its last experiment. */
static void
read_table(struct harness_dir *dir, int fd)
{
	static const char *const names[] = { "results.tsv", "run.log" };
	struct harness_path what;

	for (size_t i = 0; i < 2; i++)
		if (harness_path_read(names[i], &what))
			read_file(dir, fd, names[i], names[i], &what);
	(void)close(fd);
}

bool
harness_dir_poll(struct harness_dir *dir)
{
	uint64_t before = dir->files.generation;
	int fd = open(dir->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_TEXT prefix =
		is_alone(dir) ? xasprintf("runs/%s", dir->run) : xstrdup("");

	if (fd >= 0) {
		if (dir->what == HARNESS_IS_TABLE)
			read_table(dir, fd);
		else
			walk(dir, fd, prefix, 0);
		harness_files_walked(&dir->files);
		read_judges(dir);
	}
	return dir->files.generation != before;
}

/* Whether a file is being rewritten now; an old torn one stays so. */
static bool
is_torn(const struct harness_dir *dir)
{
	int64_t now_ms = clock_real.wall_ms(&clock_real);

	for (size_t i = 0; i < dir->files.n; i++)
		if (dir->files.all[i]->torn &&
		    now_ms - dir->files.all[i]->mtime_ms < YOUNG_MS)
			return true;
	return false;
}

void
harness_dir_settle(struct harness_dir *dir, int64_t limit_ms)
{
	int64_t end_ms = clock_real.mono_ms(&clock_real) + limit_ms;

	(void)harness_dir_poll(dir);
	while (is_torn(dir) && clock_real.mono_ms(&clock_real) < end_ms) {
		struct timespec wait = { 0, RETRY_MS * 1000000L };

		(void)nanosleep(&wait, NULL);
		(void)harness_dir_poll(dir);
	}
}

#define SAME_BYTES (16U * 1024 * 1024)

static bool
is_same_file(const char *a, const char *b)
{
	struct buf x, y;
	bool same;

	buf_init(&x, SAME_BYTES);
	buf_init(&y, SAME_BYTES);
	same = file_read(a, &x, NULL) == 0 && file_read(b, &y, NULL) == 0 &&
	       x.len == y.len &&
	       (x.len == 0 || memcmp(x.data, y.data, x.len) == 0);
	buf_release(&x);
	buf_release(&y);
	return same;
}

/* Counts the files that are the same; false: one is not. */
static bool
are_same(const char *a, const char *b, unsigned int depth, size_t *n)
{
	DIR *folder = opendir(a);
	const struct dirent *entry;
	bool same = folder != NULL && depth <= MAX_DEPTH;

	while (same && (entry = readdir(folder)) != NULL) {
		char *x = xasprintf("%s/%s", a, entry->d_name);
		char *y = xasprintf("%s/%s", b, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			same = true;
		else if (is_folder(AT_FDCWD, x))
			same = are_same(x, y, depth + 1, n);
		else
			same = ++*n <= MAX_ENTRIES && is_same_file(x, y);
		free(x);
		free(y);
	}
	if (folder != NULL)
		(void)closedir(folder);
	return same;
}

bool
harness_dir_same(const char *a, const char *b)
{
	size_t n = 0;

	return are_same(a, b, 0, &n) && n > 0;
}
