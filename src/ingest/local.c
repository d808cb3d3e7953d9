/* SPDX-License-Identifier: MIT */
/* Logs on this machine are parsed in place.  Their size and inode are checked regularly; a file
 * that was replaced or truncated continues as the next generation of the log. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "ingest/ingest_priv.h"

#define STILL_WRITTEN_MS 600000
/* Descriptors above limit / OPEN_PART are closed between turns. */
#define OPEN_PART 2
/* At most about this many logs are checked at once. */
#define CHECK_LOGS 1024

struct local {
	char *path; /* owned */
	int fd;	    /* -1: opened for the next turn */
	uint64_t dev, inode;
	struct cksum_guard guard; /* guards the parsed bytes against changes */
	bool grew;		  /* since guard was last checked */
	int64_t missed_ms;	  /* since when the path is missing; mono clock; 0: it exists */
};

void local_free(struct local *local)
{
	if (local == NULL)
		return;
	fd_close(&local->fd);
	free(local->path);
	free(local);
}

/* ---- on a worker thread */

bool local_is_same_file(struct local *local, uint64_t parsed)
{
	struct stat st;

	if (local->fd < 0 && stat(local->path, &st) == 0 && !S_ISREG(st.st_mode))
		return false;
	if (local->fd < 0)
		local->fd = open(local->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (local->fd < 0) /* no free descriptor: the next turn checks again */
		return errno == EMFILE || errno == ENFILE;
	if (fstat(local->fd, &st) != 0 || local->inode != st.st_ino || local->dev != st.st_dev ||
	    (uint64_t)st.st_size < parsed)
		return false;
	if (!local->grew)
		return true;
	local->grew = false;
	return cksum_guard_holds(&local->guard, local->fd);
}

ssize_t local_read(struct local *local, uint64_t offset, void *data, size_t len)
{
	ssize_t n = local->fd >= 0 ? pread(local->fd, data, len, (off_t)offset) : -1;

	if (n > 0)
		cksum_guard_add(&local->guard, data, (size_t)n);
	return n;
}

/* ---- on the loop */

/* Close the file of a log that was read to its end, or any if many are open. */
static void close_if_idle(struct ingest_log *log)
{
	struct local *local = log->local;
	bool has_ended = log->end != UINT64_MAX && (!log->is_parsed || log->parsed >= log->end);

	if (has_ended || local->fd >= log->ingest->most_fds / OPEN_PART)
		fd_close(&local->fd);
}

static void set_size(struct ingest_log *log, uint64_t size)
{
	if (size <= log->fetched)
		return;
	log->local->grew = log->fetched > 0;
	log->fetched = size;
	log->last_wall_ms = ingest_wall_ms(log->ingest);
	pod_pace_bytes(&log->pace, ingest_now_ms(log->ingest));
}

static int open_log(const char *path, struct stat *st, struct err *err)
{
	/* To open and close a FIFO would end its writer. */
	bool is_other = stat(path, st) == 0 && !S_ISREG(st->st_mode);
	int fd = is_other ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (!is_other && (fd < 0 || fstat(fd, st) != 0))
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st->st_mode))
		err_set(err, ERR_USAGE, "%s: not a regular file", path);
	else if (file_packed_end(path) != NULL)
		err_set(err, ERR_USAGE, "%s: compressed: unpack it first", path);
	else
		return fd;
	fd_close(&fd);
	return -1;
}

/* Create the log of the file at path, which stays open: it may be renamed before its first turn. */
static struct ingest_log *add_generation(struct ingest *ingest, size_t pod, const char *path,
					 unsigned int gen, int fd, const struct stat *st)
{
	struct ingest_log *log = ingest_log_new(ingest, NULL, pod, path, gen);

	log->local = xnew(struct local, .path = xstrdup(path), .fd = fd, .dev = st->st_dev,
			  .inode = st->st_ino);
	if (log->log != NULL) {
		model_log_set_file(log->log, path);
		log->log->inode = st->st_ino;
	}
	set_size(log, (uint64_t)st->st_size);
	close_if_idle(log);
	return log;
}

int ingest_add_file(struct ingest *ingest, size_t pod, const char *path, bool live, struct err *err)
{
	struct stat st;
	int fd = open_log(path, &st, err);

	if (fd < 0)
		return -1;
	struct ingest_log *log = add_generation(ingest, pod, path, 0, fd, &st);
	log->news = log->fetched;
	if (!live && clock_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 >= STILL_WRITTEN_MS)
		log->end = log->fetched;
	tail_start_reader(log);
	ingest_watch_local(ingest);
	return 0;
}

static void add_event(struct ingest_log *log, enum model_severity severity, const char *what)
{
	struct model *model = log->ingest->o.model;

	model_event_addf(model, ingest_wall_ms(log->ingest), severity, log->model_pod, "%s: %s %s",
			 model->pods[log->model_pod].name, log->local->path, what);
}

static void set_gone(struct ingest_log *log, int64_t wall_ms, const char *back)
{
	bool was_gone = log->gone_ms != 0;

	if (was_gone == (wall_ms != 0))
		return;
	sink_set_gone(log, wall_ms);
	if (was_gone)
		add_event(log, MODEL_INFO, back);
	else if (!sink_has_cut_run(log))
		add_event(log, MODEL_WARNING, "is gone; its data is kept");
}

/* The path leads to another file, or the file was truncated: continue with the next generation. */
static void start_next_generation(struct ingest_log *log)
{
	struct stat st;
	int fd = open_log(log->local->path, &st, NULL);

	if (fd < 0)
		return;
	set_gone(log, 0, "is back (a new file)");
	log->end = log->fetched = log->parsed;
	sink_end_log(log);
	/* The log view keeps reading the old file through its descriptor. */
	if (log->log != NULL && log->local->fd >= 0 && st.st_ino != log->local->inode)
		model_log_keep_fd(log->ingest->o.model, log->log, log->local->fd);
	if (log->log != NULL)
		model_log_set_file(log->log, NULL);
	close_if_idle(log);
	tail_start_reader(add_generation(log->ingest, log->model_pod, log->local->path,
					 log->gen + 1, fd, &st));
}

/* Handle a path that leads to another file or to none. why: 0, or errno of stat() on the path. */
static void check_path(struct ingest_log *log, bool is_same, int why)
{
	struct local *local = log->local;
	int64_t now_ms = ingest_now_ms(log->ingest);

	if (why == 0) {
		local->missed_ms = 0;
		if (is_same)
			set_gone(log, 0, "is back (the same file)");
		else
			start_next_generation(log);
		return;
	}
	if (why != ENOENT && why != ENOTDIR)
		return;
	/* A program that has the file open may still write to it. */
	if (local->missed_ms == 0)
		local->missed_ms = now_ms;
	if (now_ms - local->missed_ms >= INGEST_GONE_MS)
		set_gone(log, ingest_wall_ms(log->ingest), "");
}

static void check_file(struct ingest_log *log)
{
	struct local *local = log->local;
	uint64_t before = log->fetched;
	struct stat st;
	int why = stat(local->path, &st) == 0 ? 0 : errno;
	bool is_same = why == 0 && st.st_ino == local->inode && st.st_dev == local->dev;

	/* A file that was renamed or deleted may still grow. */
	if (is_same || (local->fd >= 0 && fstat(local->fd, &st) == 0)) {
		if ((uint64_t)st.st_size < log->parsed) {
			start_next_generation(log);
			return;
		}
		set_size(log, (uint64_t)st.st_size);
	}
	if (log->parsed == log->fetched)
		check_path(log, is_same, why);
	else if (log->fetched > before)
		local->missed_ms = 0;
	sink_check_end(log);
	tail_queue(log);
}

void local_check_all(void *user)
{
	struct ingest *ingest = user;
	size_t first = ingest->n_checks++, i = first, every = 1 + ingest->n_local / CHECK_LOGS;

	list_each_safe (struct ingest_log, log, &ingest->logs, link)
		if (i++ % every == 0 && log->turn == NULL && log->end == UINT64_MAX)
			check_file(log);
	ingest->n_local = i - first;
}

void local_end_log(struct ingest *ingest, const char *path)
{
	list_each_safe (struct ingest_log, log, &ingest->logs, link) {
		if (log->end != UINT64_MAX || strcmp(log->name, path) != 0)
			continue;
		/* Include the bytes that were written since the last check. */
		tail_finish_turn(log);
		check_file(log);
		log->end = log->fetched;
		if (log->parsed >= log->end) {
			sink_end_log(log);
			close_if_idle(log);
		}
	}
}

void local_after_turn(struct ingest_log *log)
{
	bool is_replaced = log->out.is_replaced;

	log->out.is_replaced = false;
	if (is_replaced) {
		/* If the path cannot be opened now, the next checks try again. */
		log->fetched = log->parsed;
		log->end = UINT64_MAX;
		start_next_generation(log);
	} else if (log->end != UINT64_MAX && log->parsed >= log->end)
		sink_end_log(log);
	close_if_idle(log);
}
