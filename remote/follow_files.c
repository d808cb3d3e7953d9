/* SPDX-License-Identifier: MIT */
/* The files of a follower: what its frames say of them, held against what we
 * know; for follow.c. */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "remote/follow_priv.h"

static int
untrue(struct err *err, const char *what)
{
	return err_set(err, ERR_REMOTE, "the follower on the pod %s", what);
}

static void
file_free(struct follow *follow, struct follow_file *file)
{
	struct follow_session *session = follow->session;

	if (session != NULL && file->id > 0 && file->id <= session->n_ids &&
	    session->ids[file->id - 1] == file)
		session->ids[file->id - 1] = NULL;
	list_remove(&file->in_follow);
	follow->n_files--;
	follow->n_live -= file->live;
	follow->n_ended -= file->ended;
	free(file->path);
	free(file->name);
	free(file);
}

/* The generation that a name has next. */
static unsigned int
next_generation(const struct follow *follow, const char *name)
{
	return (unsigned int)(uintptr_t)map_get(&follow->generations,
						str_from(name));
}

static void
use_generation(struct follow *follow, const char *name, unsigned int generation)
{
	uintptr_t next = (uintptr_t)generation + 1;

	if (next > next_generation(follow, name))
		(void)map_set(&follow->generations, str_from(name),
			      (void *)next);
}

static struct follow_file *
file_new(struct follow *follow, const char *path, const char *name)
{
	struct follow_file *file = xcalloc(1, sizeof(*file));

	file->path = xstrdup(path);
	file->name = xstrdup(name);
	file->key = ++follow->last_key;
	list_append(&follow->files, &file->in_follow);
	follow->n_files++;
	return file;
}

void
follow_know(struct follow *follow, const struct follow_known *known)
{
	struct follow_file *file;

	assert(!follow->started);
	use_generation(follow, known->name, known->generation);
	if (follow->n_files >= FOLLOW_KNOWN_MAX)
		return;
	file = file_new(follow, known->path, known->name);
	file->generation = known->generation;
	file->dev = known->dev;
	file->ino = known->ino;
	file->guard = known->guard;
	file->size = known->guard.offset;
	file->ended = known->ended;
	follow->n_ended += file->ended;
	file->user = known->user;
}

struct follow_file *
follow_next_file(const struct follow *follow, const struct follow_file *file)
{
	struct list *next =
		file != NULL ? file->in_follow.next : follow->files.next;

	return next == &follow->files
		       ? NULL
		       : list_entry(next, struct follow_file, in_follow);
}

static void
tell_file(struct follow *follow, struct follow_file *file,
	  enum follow_event event)
{
	follow->cb.on_file(follow->user, file, event);
}

/* Too many ended ones: those that ended first are forgotten. */
static void
forget_ended(struct follow *follow)
{
	list_for_each_safe(at, &follow->files)
	{
		struct follow_file *file =
			list_entry(at, struct follow_file, in_follow);

		if (follow->n_ended <= FOLLOW_ENDED_MAX)
			return;
		if (file->ended)
			file_free(follow, file);
	}
}

static void
set_live(struct follow *follow, struct follow_file *file, bool live)
{
	follow->n_live += live;
	follow->n_live -= file->live;
	file->live = live;
}

static void
end_file(struct follow *follow, struct follow_file *file)
{
	set_live(follow, file, false);
	file->ended = true;
	follow->n_ended++;
	tell_file(follow, file, FOLLOW_ENDS);
}

/* A new generation of what lies at path begins, as follower's id. */
static int
begin_file(struct follow_session *session, const struct follow_file *like,
	   uint64_t size, struct err *err)
{
	struct follow *follow = session->follow;
	struct follow_file *file;

	if (follow->generations.count >= FOLLOW_NAMES_MAX)
		return err_set(err, ERR_LIMIT,
			       "the pod has had more than %u logs",
			       FOLLOW_NAMES_MAX);
	file = file_new(follow, like->path, like->path);
	file->generation = next_generation(follow, file->name);
	use_generation(follow, file->name, file->generation);
	file->dev = like->dev;
	file->ino = like->ino;
	file->id = like->id;
	file->size = size;
	set_live(follow, file, true);
	session->ids[like->id - 1] = file;
	tell_file(follow, file, FOLLOW_BEGINS);
	return 0;
}

static struct follow_file *
live_file(const struct follow_session *session, uint32_t id)
{
	struct follow_file *file =
		id > 0 && id <= session->n_ids ? session->ids[id - 1] : NULL;

	return file != NULL && file->live && file->id == id ? file : NULL;
}

static struct follow_file *
file_by_key(const struct follow *follow, int64_t key)
{
	list_for_each (at, &follow->files) {
		struct follow_file *file =
			list_entry(at, struct follow_file, in_follow);

		if (file->key == key)
			return file;
	}
	return NULL;
}

/* What lies under that inode is not what we have of it. */
static void
end_replaced(struct follow *follow, const struct frame *frame)
{
	list_for_each_safe(at, &follow->files)
	{
		struct follow_file *file =
			list_entry(at, struct follow_file, in_follow);

		if (!file->live && !file->ended && file->dev == frame->dev &&
		    file->ino == frame->ino)
			end_file(follow, file);
	}
}

static void
set_path(struct follow_file *file, const char *path)
{
	free(file->path);
	file->path = xstrdup(path);
}

/* A file that is known goes on. */
static int
resume_file(struct follow_session *session, const struct frame *frame,
	    const char *path, struct err *err)
{
	struct follow *follow = session->follow;
	struct follow_file *file = NULL;

	if (frame->key > 0)
		file = file_by_key(follow, frame->key);
	else if (-frame->key < frame->id)
		file = session->ids[-frame->key - 1];
	if (file == NULL || file->live)
		return untrue(err, "resumed a file that it was not told of");
	if (frame->offset != file->guard.offset)
		return untrue(err, "resumed a file at a wrong offset");
	set_path(file, path);
	file->dev = frame->dev;
	file->ino = frame->ino;
	file->id = frame->id;
	file->size = frame->size > frame->offset ? frame->size : frame->offset;
	follow->n_ended -= file->ended;
	file->ended = false;
	set_live(follow, file, true);
	session->ids[frame->id - 1] = file;
	tell_file(follow, file, FOLLOW_RESUMES);
	return 0;
}

/* The path of a frame as a string of ours; NULL when it is none. */
static char *
frame_path(const struct frame *frame, struct err *err)
{
	if (frame->data.len > 0 &&
	    memchr(frame->data.p, '\0', frame->data.len) == NULL)
		return xstrndup(frame->data.p, frame->data.len);
	untrue(err, "sent a path that is none");
	return NULL;
}

static int
on_new(struct follow_session *session, const struct frame *frame,
       struct err *err)
{
	struct follow *follow = session->follow;
	struct follow_file like = { .dev = frame->dev,
				    .ino = frame->ino,
				    .id = frame->id };
	int rc;

	if (frame->id != session->n_ids + 1)
		return untrue(err, "numbered its files wrongly");
	if (session->n_ids >= FOLLOW_IDS_MAX ||
	    follow->n_live >= FOLLOW_LIVE_MAX)
		return err_set(err, ERR_LIMIT,
			       "the globs match more than %u logs at once",
			       FOLLOW_LIVE_MAX);
	if (frame->key == 0 && frame->offset != 0)
		return untrue(err, "left out the start of a file");
	like.path = frame_path(frame, err);
	if (like.path == NULL)
		return -1;
	session->ids = xgrow(session->ids, session->n_ids, &session->cap_ids,
			     sizeof(*session->ids));
	session->ids[session->n_ids++] = NULL;
	if (frame->key == 0) {
		end_replaced(follow, frame);
		rc = begin_file(session, &like, frame->size, err);
	} else {
		rc = resume_file(session, frame, like.path, err);
	}
	free(like.path);
	return rc;
}

/* The file was cut or written anew: it ends, its next generation begins. */
static int
on_reset(struct follow_session *session, const struct frame *frame,
	 struct err *err)
{
	struct follow_file *file = live_file(session, frame->id);
	const struct follow *follow = session->follow;
	int64_t s = (follow_now_ms(follow) - follow->opened_ms) / 1000;
	int rc;

	if (file == NULL)
		return untrue(err, "reset a file that is not open");
	/* Each makes a generation, which must be kept. */
	if (session->resets++ > FOLLOW_RESETS_MAX + FOLLOW_RESETS_PER_S * s)
		return err_set(err, ERR_LIMIT,
			       "logs are cut too often on the pod");
	end_file(session->follow, file);
	rc = begin_file(session, file, frame->size, err);
	file_free(session->follow, file);
	return rc;
}

static int
on_moved(struct follow_session *session, const struct frame *frame,
	 struct err *err)
{
	struct follow_file *file = live_file(session, frame->id);
	char *path = frame_path(frame, err);

	if (path == NULL)
		return -1;
	if (file == NULL) {
		free(path);
		return untrue(err, "renamed a file that is not open");
	}
	free(file->path);
	file->path = path;
	tell_file(session->follow, file, FOLLOW_RENAMED);
	return 0;
}

static int
on_gone(struct follow_session *session, const struct frame *frame,
	struct err *err)
{
	struct follow_file *file = live_file(session, frame->id);

	if (file == NULL)
		return untrue(err, "let go a file that is not open");
	if (frame->offset != file->guard.offset)
		return untrue(err, "left out the end of a file");
	end_file(session->follow, file);
	return 0;
}

static int
on_error(struct follow_session *session, const struct frame *frame,
	 struct err *err)
{
	const struct follow *follow = session->follow;

	(void)err;
	if (follow->cb.on_trouble != NULL)
		follow->cb.on_trouble(follow->user, frame->data, frame->error);
	return 0;
}

/* The first look is over: what we knew and it did not find has ended. */
static int
on_scanned(struct follow_session *session, const struct frame *frame,
	   struct err *err)
{
	struct follow *follow = session->follow;

	(void)frame;
	(void)err;
	/* In quiet times it did not look for all. */
	if (follow->quiet)
		return 0;
	list_for_each_safe(at, &follow->files)
	{
		struct follow_file *file =
			list_entry(at, struct follow_file, in_follow);

		if (!file->live && !file->ended)
			end_file(follow, file);
	}
	follow->status.scanned = true;
	return 0;
}

static int
on_preview(struct follow_session *session, const struct frame *frame,
	   struct err *err)
{
	const struct follow *follow = session->follow;
	struct follow_file *file = live_file(session, frame->id);

	if (file == NULL)
		return untrue(err, "showed a file that is not open");
	if (frame->offset + frame->data.len > file->size)
		file->size = frame->offset + frame->data.len;
	if (follow->cb.on_preview != NULL)
		follow->cb.on_preview(follow->user, file, frame->offset,
				      frame->data);
	return 0;
}

static int
on_data(struct follow_session *session, const struct frame *frame,
	size_t *taken, struct err *err)
{
	struct follow *follow = session->follow;
	struct follow_file *file = live_file(session, frame->id);
	struct str data = frame->data;

	if (file == NULL)
		return untrue(err, "sent bytes of a file that is not open");
	if (frame->offset != file->guard.offset)
		return untrue(err, "left out bytes of a file");
	data.len = follow->cb.on_bytes(follow->user, file, data);
	assert(data.len <= frame->data.len);
	guard_feed(&file->guard, data);
	if (file->size < file->guard.offset)
		file->size = file->guard.offset;
	file->last_ms = follow_now_ms(follow);
	follow->status.bytes += data.len;
	*taken = data.len;
	return 0;
}

typedef int (*frame_fn)(struct follow_session *session,
			const struct frame *frame, struct err *err);

static const frame_fn takers[] = {
	[FRAME_FILE] = on_new,	      [FRAME_RESET] = on_reset,
	[FRAME_MOVED] = on_moved,     [FRAME_GONE] = on_gone,
	[FRAME_ERROR] = on_error,     [FRAME_SCANNED] = on_scanned,
	[FRAME_PREVIEW] = on_preview,
};

int
follow_files_take(struct follow_session *session, const struct frame *frame,
		  size_t *taken, struct err *err)
{
	int rc;

	*taken = frame->data.len;
	if (frame->type == FRAME_DATA)
		return on_data(session, frame, taken, err);
	assert(frame->type < sizeof(takers) / sizeof(takers[0]) &&
	       takers[frame->type] != NULL);
	rc = takers[frame->type](session, frame, err);
	if (session->follow->n_ended > FOLLOW_ENDED_MAX)
		forget_ended(session->follow);
	return rc;
}

void
follow_files_tell(struct follow *follow, struct buf *out)
{
	list_for_each (at, &follow->files) {
		struct follow_file *file =
			list_entry(at, struct follow_file, in_follow);
		const struct follow_have have = {
			.letter = file->ended ? 'K' : 'R',
			.key = file->key,
			.dev = file->dev,
			.ino = file->ino,
			.guard = &file->guard,
			.path = str_from(file->path),
		};

		follow_wire_resume(out, &have);
	}
}

void
follow_files_lost(struct follow *follow)
{
	list_for_each (at, &follow->files) {
		struct follow_file *file =
			list_entry(at, struct follow_file, in_follow);

		set_live(follow, file, false);
		file->id = 0;
	}
}

void
follow_files_release(struct follow *follow)
{
	while (!list_is_empty(&follow->files))
		file_free(follow, list_entry(follow->files.next,
					     struct follow_file, in_follow));
	map_release(&follow->generations, NULL);
}
