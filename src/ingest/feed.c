/* SPDX-License-Identifier: MIT */
/* Logs on this machine into the model; for the dashboard and the demo. */
#include "config.h"

#include "ingest/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "parsers/run_reader.h"

#define CHUNK_BYTES	(64U << 10)
#define STILL_WRITTEN_S 600
#define SETTLE_MS	30000
#define GONE_MS		5000 /* the next of a log that is rotated comes soon */

struct feed_file {
	struct feed *feed;
	size_t pod;
	char *path; /* owned */
	char *name; /* owned; what the model calls it */
	int fd;
	ino_t inode;
	uint64_t offset;
	int64_t missed_at_ms; /* its path named nothing since; 0: it does */
	uint64_t settled_at;  /* offset at which its end was looked at */
	int64_t grew_at_ms;
	bool live;		   /* not finished */
	bool caught_up;		   /* has been read to its end once */
	unsigned int generation;   /* how often it was replaced */
	struct run_reader *reader; /* owned */
	struct model_log *log;
	enum run_status status; /* of the current run, as told last */
	unsigned int run_index; /* the run it belongs to */
};

struct feed {
	struct model *model;
	const struct format_set *formats;
	const struct clock *clock;
	struct feed_file **files; /* owned */
	size_t n_files, cap_files;
	char *chunk; /* owned */
};

struct feed *
feed_new(struct model *model, const struct format_set *formats,
	 const struct clock *clock)
{
	struct feed *feed = xcalloc(1, sizeof(*feed));

	feed->model = model;
	feed->formats = formats;
	feed->clock = clock;
	feed->chunk = xmalloc(CHUNK_BYTES);
	return feed;
}

void
feed_free(struct feed *feed)
{
	if (feed == NULL)
		return;
	for (size_t i = 0; i < feed->n_files; i++) {
		struct feed_file *file = feed->files[i];

		run_reader_free(file->reader);
		if (file->fd >= 0)
			(void)close(file->fd);
		free(file->path);
		free(file->name);
		free(file);
	}
	free(feed->files);
	free(feed->chunk);
	free(feed);
}

static int64_t
now_ms(const struct feed_file *file)
{
	return file->feed->clock->wall_ms(file->feed->clock);
}

static struct model_run *
model_run_of(struct feed_file *file, const struct run *run)
{
	return model_run_get(file->feed->model, file->pod, file->name,
			     run->run_index);
}

/* Say what happened to a run that is followed. */
static void
tell(struct feed_file *file, const struct run *run, const char *what,
     enum model_severity severity)
{
	struct model_run *mr = model_run_of(file, run);
	const struct model *model = file->feed->model;
	const char *slash = strrchr(mr->group, '/');
	char *text =
		run_has(run->seed)
			? xasprintf("%s: %s seed %.0f %s",
				    model->pods[file->pod].name,
				    slash != NULL ? slash + 1 : mr->group,
				    run->seed, what)
			: xasprintf("%s: %s %s", model->pods[file->pod].name,
				    slash != NULL ? slash + 1 : mr->group,
				    what);
	struct model_event event = { .wall_ms = now_ms(file),
				     .severity = severity,
				     .pod = file->pod,
				     .mr = mr,
				     .text = text };

	model_event_add(file->feed->model, &event);
	free(text);
}

static void
on_sample(void *user, const struct run *run, const struct sample *sample)
{
	struct feed_file *file = user;
	struct sample stamped = *sample;

	/* What was written before we looked has no time that we know. */
	if (stamped.wall_ms == 0 && file->caught_up)
		stamped.wall_ms = now_ms(file);
	model_run_sample(file->feed->model, model_run_of(file, run), &stamped);
}

static void
on_event(void *user, const struct run *run, const struct run_event *event)
{
	struct feed_file *file = user;
	char what[300];

	if (!file->caught_up || event->kind == RUN_EVENT_WARNING ||
	    event->kind == RUN_EVENT_OTHER)
		return;
	(void)snprintf(what, sizeof(what), "%s: %s",
		       run_event_name(event->kind), event->text);
	tell(file, run, what,
	     event->kind == RUN_EVENT_EARLY_STOP ? MODEL_INFO : MODEL_ALARM);
}

static void
on_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	struct feed_file *file = user;

	(void)text;
	model_log_line(file->feed->model, file->log, line, class);
}

/* Take over the state of a run, and say when it changed. */
static void
update_run(struct feed_file *file, const struct run *run)
{
	char what[160];

	model_run_update(file->feed->model, model_run_of(file, run), run);
	if (run->status == file->status && run->run_index == file->run_index)
		return;
	file->status = run->status;
	file->run_index = run->run_index;
	if (!file->caught_up)
		return;
	if (run->status == RUN_FINISHED && run_has(run->final_bpb))
		(void)snprintf(what, sizeof(what), "finished: %.6f BPB (%s)",
			       run->final_bpb,
			       run->final_class != NULL ? run->final_class
							: "?");
	else
		(void)snprintf(what, sizeof(what), "%s",
			       run_status_name(run->status));
	tell(file, run, what,
	     run->status == RUN_RUNNING || run->status == RUN_FINISHED
		     ? MODEL_INFO
		     : MODEL_ALARM);
}

static void
on_run(void *user, const struct run *run)
{
	struct feed_file *file = user;

	update_run(file, run);
	model_run_of(file, run)->live = false;
}

static const struct run_reader_cb callbacks = { on_sample, on_event, on_run,
						on_line };

/* Begin to read the file from its start; fd is open. */
static void
begin(struct feed_file *file)
{
	struct feed *feed = file->feed;
	struct model_log *before = file->log;
	struct stat st = { 0 };

	(void)fstat(file->fd, &st);
	file->inode = st.st_ino;
	file->offset = 0;
	file->missed_at_ms = 0;
	free(file->name);
	file->name = file->generation == 0 ? xstrdup(file->path)
					   : xasprintf("%s (%u)", file->path,
						       file->generation + 1);
	run_reader_free(file->reader);
	file->reader = run_reader_new(feed->formats, &callbacks, file);
	file->log = model_log_get(feed->model, file->pod, file->name);
	model_log_file(file->log, file->path);
	file->log->inode = file->inode;
	if (before != NULL && before != file->log) {
		/* What the path names now is another log. */
		before->next = file->log;
	}
	file->status = RUN_RUNNING;
	file->run_index = UINT32_MAX;
}

int
feed_add(struct feed *feed, size_t pod, const char *path, bool live,
	 struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct feed_file *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, ERR_USAGE, "%s: is no regular file", path);
		(void)close(fd);
		return -1;
	}
	file = xcalloc(1, sizeof(*file));
	file->feed = feed;
	file->pod = pod;
	file->path = xstrdup(path);
	file->fd = fd;
	file->live = live || time(NULL) - st.st_mtime < STILL_WRITTEN_S;
	begin(file);
	feed->files = xgrow(feed->files, feed->n_files, &feed->cap_files,
			    sizeof(struct feed_file *));
	feed->files[feed->n_files++] = file;
	return 0;
}

/* The file that the path names now is another one, or shorter. */
static bool
is_replaced(const struct feed_file *file)
{
	struct stat named, ours;

	if (fstat(file->fd, &ours) == 0 &&
	    (uint64_t)ours.st_size < file->offset)
		return true;
	return stat(file->path, &named) == 0 && named.st_ino != file->inode;
}

/* Something about the file itself. */
static void
say(struct feed_file *file, const char *what, enum model_severity severity)
{
	const struct model *model = file->feed->model;
	char *text = xasprintf("%s: %s %s", model->pods[file->pod].name,
			       file->path, what);
	struct model_event event = { .wall_ms = now_ms(file),
				     .severity = severity,
				     .pod = file->pod,
				     .text = text };

	model_event_add(file->feed->model, &event);
	free(text);
}

/* A log that is silent may be complete: one that is cut short goes on. */
static void
settle(struct feed_file *file)
{
	struct run run;

	file->settled_at = file->offset;
	if (!run_reader_at_end(file->reader, &run))
		return;
	if (run.status == RUN_FINISHED) {
		update_run(file, &run);
		model_run_of(file, &run)->live = false;
	}
	run_release(&run);
}

/* Gone since then, or back (0); said where no alert tells it. */
static void
set_gone(struct feed_file *file, int64_t wall_ms, const char *back)
{
	struct model *model = file->feed->model;
	bool was_gone = file->log->gone_wall_ms != 0;

	if (was_gone == (wall_ms != 0))
		return;
	if (!was_gone && file->status == RUN_RUNNING)
		settle(file);
	model_log_gone(model, file->log, wall_ms);
	if (was_gone)
		say(file, back, MODEL_INFO);
	else if (model_log_cut_run(model, file->log) == NULL)
		say(file, "is gone; what was read of it stays", MODEL_WARNING);
}

/* Whether its path names a file; one that is missing and silent is gone. */
static void
look_for(struct feed_file *file, bool grew)
{
	struct stat st;

	if (stat(file->path, &st) == 0) {
		file->missed_at_ms = 0;
		set_gone(file, 0, "is there again and goes on");
		return;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		return;
	/* Who has it open may write to it without its name. */
	if (file->missed_at_ms == 0 || grew)
		file->missed_at_ms = now_ms(file);
	if (now_ms(file) - file->missed_at_ms >= GONE_MS)
		set_gone(file, file->missed_at_ms, "");
}

static void
reopen(struct feed_file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	set_gone(file, 0, "is there again, written anew");
	run_reader_finish(file->reader);
	model_log_keep(file->feed->model, file->log, file->fd);
	(void)close(file->fd);
	file->fd = fd;
	file->generation++;
	begin(file);
}

/* Read and parse at most budget bytes; how many there were. */
static size_t
read_some(struct feed_file *file, size_t budget)
{
	size_t got = 0;

	while (got < budget) {
		ssize_t n = pread(file->fd, file->feed->chunk, CHUNK_BYTES,
				  (off_t)file->offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		run_reader_feed(file->reader, file->feed->chunk, (size_t)n);
		file->offset += (uint64_t)n;
		got += (size_t)n;
	}
	return got;
}

static bool
poll_file(struct feed_file *file, size_t budget)
{
	size_t got = read_some(file, budget);
	const struct run *run = run_reader_current(file->reader);

	if (got > 0 && run != NULL) {
		update_run(file, run);
		model_run_touch(file->feed->model, model_run_of(file, run),
				now_ms(file), file->live);
	}
	if (got > 0) {
		file->grew_at_ms = now_ms(file);
		model_log_read(file->feed->model, file->log, file->offset,
			       file->grew_at_ms);
	}
	if (got >= budget)
		return true;
	file->caught_up = true;
	if (file->live && file->status == RUN_RUNNING &&
	    file->settled_at != file->offset &&
	    now_ms(file) - file->grew_at_ms >= SETTLE_MS)
		settle(file);
	if (!file->live) {
		run_reader_finish(file->reader);
		(void)close(file->fd);
		file->fd = -1;
	} else if (got == 0 && is_replaced(file)) {
		reopen(file);
		return true;
	} else {
		look_for(file, got > 0);
	}
	return false;
}

bool
feed_poll(struct feed *feed, size_t budget_bytes)
{
	bool more = false;

	for (size_t i = 0; i < feed->n_files; i++)
		if (feed->files[i]->fd >= 0)
			more |= poll_file(feed->files[i], budget_bytes);
	return more;
}
