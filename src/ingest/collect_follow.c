/* SPDX-License-Identifier: MIT */
/*
 * The logs of one pod between its follower, the mirrors and the readers.
 * Following goes on behind the last byte of each mirror of an earlier life;
 * what they hold is read again beside that, where it is needed
 * (collect_replay.c).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "ingest/collect_priv.h"
#include "remote/follow.h"
#include "store/mirror.h"

/* So much of a log is still to come: the view shows its end meanwhile. */
#define FAR_BEHIND_BYTES (1U << 20)
/* The first screen takes what it needs first; look again after this. */
#define SHOW_MS 5

static int64_t
mtime_ms(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_mtim.tv_sec * 1000 : 0;
}

static void
begin_file(struct collect_pod *pod, struct follow_file *ff)
{
	struct err err = { ERR_NONE, "" };
	struct collect_file *file;
	struct mirror *mirror = collect_keep_begin(pod, ff, &err);

	if (mirror == NULL)
		collect_say(pod->collect, MODEL_WARNING, "%s: no mirror: %s",
			    pod->name, err.text);
	file = collect_file_new(pod, ff->name, ff->generation);
	collect_file_begin(file, mirror);
	collect_file_identify(file, ff);
	ff->user = file;
}

static void
end_file(struct follow_file *ff)
{
	struct collect_file *file = ff->user;

	if (file == NULL)
		return;
	ff->user = NULL;
	collect_file_identify(file, ff);
	collect_file_end(file);
}

/*
 * A log that had ended is back.  All of it is read once more, so that its
 * reader is where it was.
 */
static void
revive_file(struct collect_follow *cf, struct follow_file *ff)
{
	struct collect_pod *pod = cf->pod;
	struct err err = { ERR_NONE, "" };
	struct mirror *mirror = NULL;
	struct collect_file *file;

	if (ff->guard.offset == 0) {
		begin_file(pod, ff);
		return;
	}
	/* It was to end when it was read again, and is not there yet. */
	file = collect_file_find(pod, ff->name, ff->generation);
	if (file != NULL) {
		file->is_ended = false;
		ff->user = file;
		return;
	}
	mirror = mirror_open(pod->collect->mirrors, pod->name,
			     str_from(ff->name), ff->generation, &err);
	file = collect_file_new(pod, ff->name, ff->generation);
	ff->user = file;
	if (mirror != NULL && mirror_size(mirror) == ff->guard.offset) {
		collect_file_begin(file, mirror);
		return;
	}
	/* It was pruned or removed. */
	mirror_close(mirror);
	file->is_idle = true;
	collect_keep_refill(cf, ff);
}

static void
on_file(void *user, struct follow_file *ff, enum follow_event event)
{
	static const char *const words[] = { "begins", "resumes", "renamed",
					     "ends" };
	struct collect_follow *cf = user;

	log_debug("collect", "%s: %s %s, generation %u of %s, at %llu",
		  cf->pod->name, ff->path, words[event], ff->generation,
		  ff->name, (unsigned long long)ff->guard.offset);
	cf->pod->collect->last_news_ms = collect_now_ms(cf->pod->collect);
	switch (event) {
	case FOLLOW_BEGINS:
		collect_gone_back(cf->pod, ff, false);
		begin_file(cf->pod, ff);
		break;
	case FOLLOW_RESUMES:
		collect_gone_back(cf->pod, ff, true);
		if (ff->user == NULL)
			revive_file(cf, ff);
		if (ff->user != NULL)
			collect_file_identify(ff->user, ff);
		break;
	case FOLLOW_RENAMED:
		if (ff->user != NULL)
			collect_file_identify(ff->user, ff);
		break;
	case FOLLOW_ENDS:
		end_file(ff);
		collect_gone_add(cf->pod, cf->follow, ff);
		break;
	}
}

static void
on_retry(void *user)
{
	struct collect_follow *cf = user;

	follow_resume(cf->follow);
}

static size_t
on_bytes(void *user, struct follow_file *ff, struct str data)
{
	struct collect_follow *cf = user;
	struct collect *c = cf->pod->collect;
	struct collect_file *file = ff->user;

	if (file == NULL)
		return data.len;
	if (file->refill_bytes > 0)
		return collect_keep_again(cf, ff, data);
	if (file->is_idle && !collect_keep_wake(cf, ff))
		return 0;
	if (!file->is_replay)
		file->is_behind =
			ff->size - ff->guard.offset > FAR_BEHIND_BYTES;
	if (store_is_full(c->store)) {
		c->is_full = true;
		return 0;
	}
	data.len = collect_keep_bytes(cf, ff, data);
	/* What is read again gets to these bytes of the mirror too. */
	if (!file->is_replay)
		collect_file_feed(file, data.p, data.len);
	return data.len;
}

/*
 * The end of a log that is far behind, for the eye: its whole lines go to the
 * view alone.  All of it comes again in on_bytes.
 */
static void
on_preview(void *user, struct follow_file *ff, uint64_t offset, struct str data)
{
	struct collect_follow *cf = user;
	struct collect_file *file = ff->user;
	struct str line;
	const char *end;
	bool cut;

	if (file == NULL || file->log == NULL || data.len == 0)
		return;
	file->is_behind = true;
	cut = offset != file->ahead_end;
	while ((end = memchr(data.p, '\n', data.len)) != NULL) {
		line = (struct str){ data.p, (size_t)(end + 1 - data.p) };
		offset += line.len;
		data.p += line.len;
		data.len -= line.len;
		if (!cut)
			model_log_ahead(cf->pod->collect->o.model, file->log,
					line);
		cut = false;
	}
	file->ahead_end = data.len == 0 ? offset : 0;
}

static void
on_trouble(void *user, struct str path, int error)
{
	struct collect_follow *cf = user;

	collect_say(cf->pod->collect, MODEL_WARNING, "%s: cannot read %.*s: %s",
		    cf->pod->name, (int)path.len, path.p, strerror(error));
}

static void
on_state(void *user, const struct follow_status *status)
{
	struct collect_follow *cf = user;

	if (status->scanned)
		cf->pod->is_settled = true;
	collect_pod_judge(cf->pod);
}

/* A guard that no file fits. */
#define NO_FILE_BYTES (UINT64_C(1) << 62)

/*
 * The guard of a log that is over, from its mirror, which stays closed.
 * Without its bytes no file may be taken for it.
 */
static void
guard_of_closed(const char *path, struct guard *guard)
{
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat st;
	size_t tail;

	memset(guard, 0, sizeof(*guard));
	guard->offset = NO_FILE_BYTES;
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		tail = st.st_size < GUARD_TAIL_BYTES ? (size_t)st.st_size
						     : GUARD_TAIL_BYTES;
		if (pread(fd, guard->head, GUARD_HEAD_BYTES, 0) > 0 &&
		    pread(fd, guard->tail, tail, st.st_size - (off_t)tail) ==
			    (ssize_t)tail)
			guard->offset = (uint64_t)st.st_size;
	}
	(void)close(fd);
}

/* A log of which the mirror has to be open and read again. */
static void
open_known(struct collect_follow *cf, const struct store_tail *tail,
	   struct collect_file *file, struct guard *guard)
{
	struct collect_pod *pod = cf->pod;
	struct err err = { ERR_NONE, "" };
	struct mirror *mirror =
		mirror_open(pod->collect->mirrors, pod->name,
			    str_from(tail->name), tail->gen, &err);

	memset(guard, 0, sizeof(*guard));
	if (mirror != NULL) {
		file->last_wall_ms = mtime_ms(mirror_path(mirror));
		if (mirror_guard(mirror, mirror_size(mirror), guard, &err) != 0)
			memset(guard, 0, sizeof(*guard));
	}
	collect_file_begin(file, mirror);
}

/*
 * Its last run had finished, or nothing came of it for a day, and all that
 * its mirror holds is in the database: it is not read again until bytes come.
 */
static bool
may_idle(const struct collect *c, const struct store_tail *tail,
	 struct guard *guard)
{
	const struct clock *clock = loop_clock(c->o.loop);
	int64_t silent_ms = clock->wall_ms(clock) - tail->last_wall_ms;

	if (!tail->is_whole || tail->done_lines == 0 ||
	    silent_ms < (tail->is_over ? COLLECT_QUIET_MS : COLLECT_DEAD_MS))
		return false;
	guard_of_closed(tail->mirror, guard);
	return guard->offset == tail->offset;
}

/* Tell the follower what is here of a log, and read that again if need be. */
static void
know_tail(struct collect_follow *cf, const struct store_tail *tail)
{
	struct follow_known known = {
		.path = tail->path,
		.name = tail->name,
		.generation = tail->gen,
		.dev = tail->dev,
		.ino = tail->inode,
		.ended = tail->ended,
	};
	struct collect_file *file;

	if (tail->ended) {
		guard_of_closed(tail->mirror, &known.guard);
	} else {
		file = collect_file_new(cf->pod, tail->name, tail->gen);
		known.user = file;
		if (may_idle(cf->pod->collect, tail, &known.guard))
			file->is_idle = true;
		else
			open_known(cf, tail, file, &known.guard);
	}
	follow_know(cf->follow, &known);
}

static void
begin_following(struct collect_follow *cf)
{
	const struct conf_strings *logs = &cf->pod->conf->logs;

	follow_start(cf->follow, (const char *const *)logs->v, logs->n, NULL,
		     0);
}

/* Not in collect_new: the first screen does not wait for the mirrors. */
static void
start(struct collect_follow *cf)
{
	const struct store *store = cf->pod->collect->store;

	cf->is_starting = false;
	for (size_t i = 0; i < store_tail_count(store); i++) {
		const struct store_tail *tail = store_tail_at(store, i);

		if (strcmp(tail->pod, cf->pod->name) == 0)
			know_tail(cf, tail);
	}
	begin_following(cf);
}

static void
on_timer(void *user)
{
	struct collect_follow *cf = user;

	if (!cf->is_starting)
		on_retry(cf);
	else if (collect_is_showing(cf->pod->collect))
		loop_timer_start(cf->retry, SHOW_MS, 0);
	else
		start(cf);
}

void
collect_follow_start(struct collect_pod *pod)
{
	struct collect *c = pod->collect;
	struct collect_follow *cf = xcalloc(1, sizeof(*cf));
	const struct follow_options options = {
		.loop = c->o.loop,
		.transport = fleet_transport(pod->fleet->fleet),
		.pod = pod->index,
		.cb = { on_file, on_bytes, on_preview, on_trouble, on_state },
		.user = cf,
	};

	cf->pod = pod;
	cf->follow = follow_new(&options);
	cf->retry = loop_timer_new(c->o.loop, on_timer, cf);
	pod->follow = cf;
	cf->is_starting = true;
	loop_timer_start(cf->retry, 0, 0);
}

void
collect_follow_stop(struct collect_pod *pod)
{
	struct collect_follow *cf = pod->follow;

	if (cf == NULL)
		return;
	pod->follow = NULL;
	follow_free(cf->follow);
	loop_timer_close(cf->retry);
	free(cf);
	list_for_each_safe(link, &pod->files) collect_file_finish(
		list_entry(link, struct collect_file, link));
}

void
collect_follow_renew(struct collect_pod *pod)
{
	if (pod->follow != NULL && !pod->follow->is_starting)
		begin_following(pod->follow);
}

void
collect_follow_quiet(struct collect_pod *pod)
{
	struct collect_follow *cf = pod->follow;

	if (cf == NULL)
		return;
	collect_follow_renew(pod);
	follow_set_quiet(cf->follow, pod->is_quiet);
}

void
collect_follow_resume(struct collect_pod *pod)
{
	if (pod->follow != NULL && !pod->follow->is_starting)
		follow_resume(pod->follow->follow);
}

void
collect_follow_status(const struct collect_pod *pod,
		      struct collect_follow_status *status)
{
	struct follow_status s;

	memset(status, 0, sizeof(*status));
	status->lag_ms = -1;
	if (pod->follow == NULL)
		return;
	follow_get_status(pod->follow->follow, &s);
	status->last_byte_ms = s.last_byte_ms;
	status->lag_ms = s.lag_ms;
	status->is_live = s.state == FOLLOW_LIVE;
	status->is_waiting = s.state == FOLLOW_WAITING;
	status->is_refused = s.state == FOLLOW_REFUSED;
	status->retry_at_ms = s.retry_at_ms;
	status->why = s.why;
}

void
collect_follow_retry(struct collect_pod *pod)
{
	if (pod->follow != NULL)
		follow_retry(pod->follow->follow);
}

bool
collect_follow_is_behind(const struct collect_pod *pod)
{
	const struct follow_file *file = NULL;

	if (pod->follow == NULL)
		return false;
	while ((file = follow_next_file(pod->follow->follow, file)) != NULL)
		if (file->live && !file->ended &&
		    file->size > file->guard.offset)
			return true;
	return false;
}
