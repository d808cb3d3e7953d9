/* SPDX-License-Identifier: MIT */
/*
 * Logs of this machine: each is its own spool.  They are looked at by their
 * size and inode; one that is replaced or cut is followed by its next
 * generation.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/xalloc.h"
#include "ingest/ingest_priv.h"

#define STILL_WRITTEN_MS 600000
/* The part of all descriptors that may be held between turns. */
#define OPEN_PART 2

struct local {
	char *path; /* owned */
	int fd;	    /* -1: opened for a turn */
	uint64_t dev, inode;
	struct cksum_guard guard; /* of what was read */
	bool grew;		  /* since: is it still the one that was read? */
	int64_t missed_ms;	  /* its path names nothing since; mono; 0: it does */
};

void local_free(struct local *local)
{
	if (local == NULL)
		return;
	fd_close(&local->fd);
	free(local->path);
	free(local);
}

/* ---- on the thread of a turn */

/* Have it open: the file that it was; -1: it lies there no more. */
static int local_open(struct local *local, struct stat *st)
{
	if (local->fd < 0)
		local->fd = open(local->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (local->fd < 0 || fstat(local->fd, st) != 0)
		return -1;
	return local->inode == st->st_ino && local->dev == st->st_dev ? 0 : -1;
}

bool local_is_same_file(struct local *local, uint64_t parsed)
{
	struct stat st;

	if (local_open(local, &st) != 0)
		return errno == EMFILE || errno == ENFILE;
	if ((uint64_t)st.st_size < parsed)
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

/*
 * Close a log that has ended and was read, and some of many between turns.
 * One without a reader was read to its end: sink_end_log() frees the reader and
 * sets parsed to 0.
 */
static void let_rest(struct ingest_log *log)
{
	struct local *local = log->local;
	struct rlimit limit = { 256, 0 };
	bool is_over = log->end != UINT64_MAX && (log->reader == NULL || log->parsed >= log->end);

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	if (is_over || (local->fd >= 0 && (rlim_t)local->fd >= limit.rlim_cur / OPEN_PART))
		fd_close(&local->fd);
}

/* It has that size; what is there when it is added is no news. */
static void note_size(struct ingest_log *log, uint64_t size)
{
	if (size <= log->fetched)
		return;
	log->local->grew = log->fetched > 0;
	log->fetched = size;
	log->last_wall_ms = ingest_wall_ms(log->ingest);
	pod_pace_bytes(&log->pace, ingest_now_ms(log->ingest));
}

/* A log as it lies there now; st is what was seen of it. */
static struct ingest_log *begin_local(struct ingest *ingest, size_t pod, const char *path,
				      unsigned int gen, struct stat *st)
{
	struct ingest_log *log = ingest_log_new(ingest, NULL, pod, path, gen);
	struct local *local = xcalloc(1, sizeof(*local));

	log->local = local;
	local->path = xstrdup(path);
	/* Held from now on: it may lose its name before its first turn. */
	local->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (local->fd >= 0)
		(void)fstat(local->fd, st);
	local->dev = st->st_dev;
	local->inode = st->st_ino;
	if (log->log != NULL) {
		model_log_file(log->log, path);
		log->log->inode = st->st_ino;
	}
	note_size(log, (uint64_t)st->st_size);
	let_rest(log);
	return log;
}

int ingest_add_file(struct ingest *ingest, size_t pod, const char *path, bool live, struct err *err)
{
	struct stat st;

	if (stat(path, &st) != 0 || access(path, R_OK) != 0)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_USAGE, "%s: is no regular file", path);
	struct ingest_log *log = begin_local(ingest, pod, path, 0, &st);
	log->news = log->fetched;
	if (!live && clock_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 >= STILL_WRITTEN_MS)
		log->end = log->fetched;
	tail_start_reader(log);
	ingest_watch_local(ingest);
	return 0;
}

static void say(struct ingest_log *log, enum model_severity severity, const char *what)
{
	struct model *model = log->ingest->o.model;
	AUTO_TEXT text =
		xasprintf("%s: %s %s", model->pods[log->model_pod].name, log->local->path, what);
	struct model_event event = { .wall_ms = ingest_wall_ms(log->ingest),
				     .severity = severity,
				     .pod = log->model_pod,
				     .text = text };

	model_event_add(model, &event);
}

static void set_gone(struct ingest_log *log, int64_t wall_ms, const char *back)
{
	bool was_gone = log->gone_ms != 0;

	if (was_gone == (wall_ms != 0))
		return;
	sink_set_gone(log, wall_ms);
	if (was_gone)
		say(log, MODEL_INFO, back);
	else if (!sink_has_cut_run(log))
		say(log, MODEL_WARNING, "is gone; what was read of it stays");
}

/* Another one lies there, or it was cut: that is its next generation. */
static void replace(struct ingest_log *log)
{
	struct stat st;

	if (stat(log->local->path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	set_gone(log, 0, "is there again, written anew");
	log->end = log->fetched = log->parsed;
	sink_end_log(log);
	/* What the path names now is another log. */
	if (log->log != NULL && log->local->fd >= 0 && st.st_ino != log->local->inode)
		model_log_keep(log->ingest->o.model, log->log, log->local->fd);
	if (log->log != NULL)
		model_log_file(log->log, NULL);
	let_rest(log);
	struct ingest_log *next =
		begin_local(log->ingest, log->model_pod, log->local->path, log->gen + 1, &st);
	tail_start_reader(next);
}

/* Whether its path names a file; one that is missing and silent is gone. */
static void look_for(struct ingest_log *log)
{
	struct local *local = log->local;
	int64_t now_ms = ingest_now_ms(log->ingest);
	struct stat st;

	if (stat(local->path, &st) == 0) {
		local->missed_ms = 0;
		if (st.st_ino != local->inode || st.st_dev != local->dev)
			replace(log);
		else
			set_gone(log, 0, "is there again and goes on");
		return;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		return;
	/* Who has it open may write to it without its name. */
	if (local->missed_ms == 0)
		local->missed_ms = now_ms;
	if (now_ms - local->missed_ms >= INGEST_GONE_MS)
		set_gone(log, ingest_wall_ms(log->ingest), "");
}

static void look_at(struct ingest_log *log)
{
	struct local *local = log->local;
	uint64_t before = log->fetched;
	struct stat st;

	if ((local->fd >= 0 ? fstat(local->fd, &st) : stat(local->path, &st)) == 0 &&
	    st.st_ino == local->inode) {
		if ((uint64_t)st.st_size < log->parsed) {
			replace(log);
			return;
		}
		note_size(log, (uint64_t)st.st_size);
	}
	if (log->parsed == log->fetched)
		look_for(log);
	else if (log->fetched > before)
		local->missed_ms = 0;
	sink_check_end(log);
	tail_queue(log);
}

void local_check_all(struct ingest *ingest)
{
	list_each_safe (struct ingest_log, log, &ingest->logs, link) {
		if (log->turn == NULL && log->end == UINT64_MAX)
			look_at(log);
	}
}

void local_end_log(struct ingest *ingest, const char *path)
{
	list_each_safe (struct ingest_log, log, &ingest->logs, link) {
		if (log->end != UINT64_MAX || strcmp(log->name, path) != 0)
			continue;
		/* What came since the last look is of it. */
		tail_finish_turn(log);
		look_at(log);
		log->end = log->fetched;
		if (log->parsed >= log->end) {
			sink_end_log(log);
			let_rest(log);
		}
	}
}

void local_after_turn(struct ingest_log *log)
{
	bool is_replaced = log->out.is_replaced;

	log->out.is_replaced = false;
	if (is_replaced)
		replace(log);
	else if (log->end != UINT64_MAX && log->parsed >= log->end)
		sink_end_log(log);
	let_rest(log);
}
