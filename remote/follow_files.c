/* SPDX-License-Identifier: MIT */
/* Decides which known log each file of a follower is, and handles frames about files. */
#include <assert.h>
#include <inttypes.h>

#include "remote/follow_priv.h"

static int protocol_error(struct err *err, const char *what)
{
	return err_set(err, ERR_REMOTE, "the follower on the pod %s", what);
}

static void report_event(struct follow *follow, struct follow_file *file, enum follow_event event)
{
	follow->cb.on_file(follow->user, file, event);
}

static void file_free(struct follow *follow, struct follow_file *file)
{
	report_event(follow, file, FOLLOW_FORGOTTEN);
	list_remove(&file->in_follow);
	list_remove(&file->in_inode);
	list_remove(&file->in_path);
	follow->n_files--;
	follow->n_ended -= file->ended;
	free(file->path);
	free(file->real);
	free(file->name);
	free(file);
}

bool follow_is_live(const struct follow_file *file)
{
	return file->id > 0;
}

static unsigned int next_generation(const struct follow *follow, const char *name)
{
	return (unsigned int)(uintptr_t)map_get(&follow->generations, str_from(name));
}

static void use_generation(struct follow *follow, const char *name, unsigned int generation)
{
	uintptr_t next = (uintptr_t)generation + 1;

	if (next > next_generation(follow, name))
		(void)map_set(&follow->generations, str_from(name), (void *)next);
}

/* Forget the oldest ended files until there are at most FOLLOW_ENDED_MAX. */
static void forget_ended(struct follow *follow)
{
	list_each_safe (struct follow_file, file, &follow->files, in_follow) {
		if (follow->n_ended <= FOLLOW_ENDED_MAX)
			return;
		if (file->ended && file->tried == 0)
			file_free(follow, file);
	}
}

static struct list *inode_bucket(struct follow *follow, uint64_t dev, uint64_t ino)
{
	return &follow->by_inode[(dev ^ ino) % FOLLOW_BUCKETS];
}

static struct list *path_bucket(struct follow *follow, const char *path)
{
	return &follow->by_path[str_hash(str_from(path)) % FOLLOW_BUCKETS];
}

/* Add a file without an id to the buckets that find_candidate() searches. */
static void index_file(struct follow *follow, struct follow_file *file)
{
	list_append(inode_bucket(follow, file->dev, file->ino), &file->in_inode);
	list_append(path_bucket(follow, file->path), &file->in_path);
}

static struct follow_file *file_new(struct follow *follow, const char *path, const char *name,
				    uint64_t dev, uint64_t ino)
{
	struct follow_file *file = xnew(struct follow_file, .path = xstrdup(path),
					.name = xstrdup(name), .dev = dev, .ino = ino);

	list_append(&follow->files, &file->in_follow);
	index_file(follow, file);
	follow->n_files++;
	return file;
}

struct follow_file *follow_know(struct follow *follow, const struct follow_known *known)
{
	assert(!follow->started);
	use_generation(follow, known->name, known->generation);
	struct follow_file *file = file_new(follow, known->identity.path, known->name,
					    known->identity.dev, known->identity.inode);
	file->real = xstrdup_null(known->identity.real);
	file->generation = known->generation;
	file->stamp = known->identity.stamp;
	file->sum = known->identity.sum;
	file->offset = known->offset;
	file->size = known->identity.sum.len;
	file->ended = known->identity.ended;
	file->user = known->user;
	follow->n_ended += file->ended;
	if (follow->n_ended > FOLLOW_ENDED_MAX)
		forget_ended(follow);
	else if (follow->n_files > FOLLOW_KNOWN_MAX)
		file_free(follow, list_entry(follow->files.next, struct follow_file, in_follow));
	return file;
}

/* The follower dropped this file: note its checksum, to recognize it later. */
static void release_id(struct follow *follow, struct follow_file *file)
{
	file->sum = follow->cb.sum(follow->user, file);
	if (file->id > 0) {
		follow->session->seen[file->id - 1].file = NULL;
		index_file(follow, file);
	}
	file->id = 0;
	file->rest = 0;
	file->is_sent = file->is_rewound = false;
}

static void end_file(struct follow *follow, struct follow_file *file)
{
	release_id(follow, file);
	file->ended = true;
	follow->n_ended++;
	report_event(follow, file, FOLLOW_ENDS);
}

/* ---- identifying files */

/* The follower's file `id` is this file: take over what the follower reported about it. */
static void assign_id(struct follow_session *session, uint32_t id, struct follow_file *file)
{
	struct follow_seen *seen = &session->seen[id - 1];

	list_remove(&file->in_inode);
	list_remove(&file->in_path);
	free(file->path);
	free(file->real);
	file->path = seen->path;
	file->real = seen->real;
	seen->path = seen->real = NULL;
	seen->file = file;
	file->dev = seen->dev;
	file->ino = seen->ino;
	file->size = seen->size > file->offset ? seen->size : file->offset;
	file->id = id;
	file->away = seen->is_elsewhere;
	file->missed = file->not_id = 0;
	file->is_unreadable = false;
}

static void begin_sent(struct follow_file *file)
{
	file->is_sent = true;
	file->asked.len = file->rest = 0;
	file->asked_ms = clock_mono_ms();
}

static void request_bytes(struct follow_session *session, struct follow_file *file)
{
	begin_sent(file);
	buf_appendf(&session->out, "B %" PRIu32 " %" PRIu64 "\n", file->id, file->offset);
}

static int begin_file(struct follow_session *session, uint32_t id, struct err *err)
{
	struct follow *follow = session->follow;
	const struct follow_seen *seen = &session->seen[id - 1];
	int64_t s = (clock_mono_ms() - follow->new_ms) / 1000;

	if (follow->begins++ > FOLLOW_BEGINS_MAX + s / FOLLOW_BEGINS_EVERY)
		return err_set(err, ERR_LIMIT,
			       "the pod had %d new logs within %" PRId64
			       " s: further ones are ignored for now",
			       FOLLOW_BEGINS_MAX, s);
	struct follow_file *file = file_new(follow, seen->path, seen->path, seen->dev, seen->ino);
	file->generation = next_generation(follow, file->name);
	use_generation(follow, file->name, file->generation);
	assign_id(session, id, file);
	report_event(follow, file, FOLLOW_BEGINS);
	return 0;
}

/* The follower's file `id` is this known file: continue it, now or when it changes. */
static void resume_file(struct follow_session *session, uint32_t id, struct follow_file *file)
{
	struct follow *follow = session->follow;
	const struct follow_seen *seen = &session->seen[id - 1];
	bool rests = seen->size == file->sum.len && file->stamp != 0 && seen->stamp == file->stamp;

	assign_id(session, id, file);
	follow->n_ended -= file->ended;
	file->ended = false;
	report_event(follow, file, FOLLOW_RESUMES);
	if (!rests || file->offset < file->size)
		request_bytes(session, file);
}

/* Should file a be tried before file b? b may be NULL. */
static bool comes_before(const struct follow_file *a, const struct follow_file *b)
{
	if (b == NULL || a->ended != b->ended)
		return b == NULL || b->ended;
	return a->sum.len > b->sum.len;
}

static bool has_inode(const struct follow_file *file, const struct follow_seen *seen)
{
	return file->dev == seen->dev && file->ino == seen->ino;
}

/* May this known file be the follower's file `id`? Not if it is empty: it would match any file. */
static bool is_candidate(const struct follow_file *file, uint32_t id)
{
	return file->tried == 0 && file->not_id != id && (!file->ended || file->sum.len > 0);
}

/* Find the known file that the follower's file `id` most likely is, or NULL. *waits: do not decide
 * yet, because the known file with this path may still be found under another path. */
static struct follow_file *find_candidate(const struct follow_session *session, uint32_t id,
					  bool *waits)
{
	const struct follow_seen *seen = &session->seen[id - 1];
	struct follow *follow = session->follow;
	struct follow_file *found = NULL;

	*waits = false;
	list_each (struct follow_file, file, inode_bucket(follow, seen->dev, seen->ino), in_inode) {
		if (has_inode(file, seen) && is_candidate(file, id) &&
		    file->sum.len <= seen->size && comes_before(file, found))
			found = file;
	}
	if (found != NULL || seen->is_elsewhere)
		return found;
	list_each (struct follow_file, file, path_bucket(follow, seen->path), in_path) {
		if (has_inode(file, seen) || !is_candidate(file, id) ||
		    strcmp(file->path, seen->path) != 0)
			continue;
		*waits |= !file->ended && !session->has_looked;
		if (file->sum.len <= seen->size && comes_before(file, found))
			found = file;
	}
	return found;
}

/* Decide which known file the follower's file `id` is, or request the checksum that decides it. A
 * file that is not known starts as a new one. */
static int identify(struct follow_session *session, uint32_t id, struct err *err)
{
	struct follow_seen *seen = &session->seen[id - 1];
	bool waits;
	struct follow_file *file = find_candidate(session, id, &waits);

	if (waits)
		return 0;
	if (file == NULL && seen->is_elsewhere)
		return 0;
	if (file == NULL) {
		/* Known files that had this inode before were replaced. */
		list_each (struct follow_file, old,
			   inode_bucket(session->follow, seen->dev, seen->ino), in_inode) {
			if (has_inode(old, seen) && old->tried == 0 && !old->ended)
				end_file(session->follow, old);
		}
		if (begin_file(session, id, err))
			return -1;
		request_bytes(session, seen->file);
		return 0;
	}
	if (file->sum.len == 0 || (file->sum.len == seen->size && file->stamp != 0 &&
				   file->stamp == seen->stamp && file->ino == seen->ino)) {
		resume_file(session, id, file);
		return 0;
	}
	seen->trial = file;
	file->tried = id;
	session->n_trials++;
	buf_appendf(&session->out, "C %" PRIu32 " %" PRIu64 "\n", id, file->sum.len);
	return 0;
}

static struct follow_file *end_trial(struct follow_session *session, struct follow_seen *seen)
{
	struct follow_file *file = seen->trial;

	if (file != NULL) {
		seen->trial = NULL;
		file->tried = 0;
		session->n_trials--;
	}
	return file;
}

static void clear_seen(struct follow_session *session, uint32_t id)
{
	struct follow_seen *seen = &session->seen[id - 1];

	(void)end_trial(session, seen);
	free(seen->path);
	free(seen->real);
	*seen = (struct follow_seen){ 0 };
	session->n_live--;
}

/* Find the follower's file with this number; NULL if it was dropped or never existed. */
static struct follow_seen *find_seen(const struct follow_session *session, uint32_t id)
{
	struct follow_seen *seen = id <= session->n_seen ? &session->seen[id - 1] : NULL;

	return seen != NULL && (seen->file != NULL || seen->path != NULL) ? seen : NULL;
}

/* Find the file with this number; NULL if its bytes were not requested. */
static struct follow_file *sent_file(const struct follow_session *session, uint32_t id)
{
	const struct follow_seen *seen = find_seen(session, id);

	return seen != NULL && seen->file != NULL && seen->file->is_sent ? seen->file : NULL;
}

/* ---- frames */

/* Return the path of a frame as a string; NULL if it is empty or contains a NUL. */
static char *frame_path(struct str path)
{
	if (path.len > 0 && memchr(path.p, '\0', path.len) == NULL)
		return xstrndup(path.p, path.len);
	return NULL;
}

static int on_new(struct follow_session *session, const struct frame *frame, struct err *err)
{
	if (frame->id != session->n_seen + 1)
		return protocol_error(err, "sent file numbers out of order");
	if (session->n_seen >= FOLLOW_IDS_MAX || session->n_live >= FOLLOW_LIVE_MAX)
		return err_set(err, ERR_LIMIT, "the pod reports more than %u logs at once",
			       FOLLOW_LIVE_MAX);
	struct follow_seen *seen = xplace(session->seen, session->n_seen, session->cap_seen);
	*seen = (struct follow_seen){ .dev = frame->dev,
				      .ino = frame->ino,
				      .size = frame->size,
				      .stamp = frame->stamp,
				      .path = frame_path(frame->data),
				      .real = frame_path(frame->real),
				      .is_elsewhere = frame->type == FRAME_FOUND };
	if (seen->path == NULL) {
		free(seen->real);
		session->n_seen--;
		return protocol_error(err, "sent an invalid path");
	}
	session->n_live++;
	return identify(session, frame->id, err);
}

/* ---- has the sent part changed? */

/* Ask the follower to compare the file with everything that it sent: when the file has stopped
 * growing, and every FOLLOW_COMPARE_MS while it grows. */
static void compare_if_due(struct follow_session *session, struct follow_file *file)
{
	struct follow *follow = session->follow;

	bool is_due = file->rest != 0
			      ? file->asked.len == 0
			      : file->offset > file->asked.len &&
					clock_mono_ms() - file->asked_ms >= FOLLOW_COMPARE_MS;
	if (!file->is_sent || file->is_rewound || follow->quiet || !is_due ||
	    clock_mono_ms() < follow->compare_ms)
		return;
	struct cksum sum = follow->cb.sum(follow->user, file);
	/* The consumer has not processed all bytes yet. */
	if (sum.len != file->offset || sum.len == 0)
		return;
	file->asked = sum;
	file->asked_ms = clock_mono_ms();
	session->seen[file->id - 1].n_compared++;
	follow->compare_ms = file->asked_ms + (int64_t)(sum.len / FOLLOW_COMPARE_BYTES_PER_MS);
	buf_appendf(&session->out, "C %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", file->id, sum.len,
		    cksum_value(&sum));
}

void follow_files_compare(struct follow_session *session)
{
	list_each (struct follow_file, file, &session->follow->files, in_follow)
		compare_if_due(session, file);
}

static void note_rest(struct follow_session *session, struct follow_file *file, uint64_t stamp)
{
	file->stamp = stamp;
	file->rest = 0;
	report_event(session->follow, file, FOLLOW_RESTS);
}

/* A file whose bytes are being sent stopped growing: note that, after a comparison if it is due. */
static void on_sent_rest(struct follow_session *session, struct follow_seen *seen,
			 const struct frame *frame)
{
	struct follow_file *file = seen->file;
	bool is_untouched = seen->size == frame->size && seen->stamp == frame->stamp;

	seen->size = frame->size;
	seen->stamp = 0;
	if (frame->size != file->offset)
		return;
	if (is_untouched && frame->size > FOLLOW_COMPARE_LONG) {
		seen->stamp = frame->stamp;
		note_rest(session, file, frame->stamp);
		return;
	}
	file->rest = frame->stamp;
	file->asked.len = 0;
	compare_if_due(session, file);
}

/* A changed file stopped growing. If its bytes were not requested, identify it again. */
static int on_rest(struct follow_session *session, const struct frame *frame, struct err *err)
{
	struct follow_seen *seen = find_seen(session, frame->id);
	struct follow_file *file;

	if (seen == NULL)
		return protocol_error(err, "reported a file that it had dropped");
	file = seen->file;
	if (file != NULL && file->is_sent) {
		on_sent_rest(session, seen, frame);
		return 0;
	}
	seen->size = frame->size;
	seen->stamp = frame->stamp;
	if (file == NULL)
		return 0;
	seen->path = xstrdup(file->path);
	seen->real = xstrdup_null(file->real);
	release_id(session->follow, file);
	return identify(session, frame->id, err);
}

static int on_sum(struct follow_session *session, const struct frame *frame, struct err *err)
{
	struct follow_seen *seen = find_seen(session, frame->id);
	struct follow_file *file = seen != NULL ? end_trial(session, seen) : NULL;

	if (file == NULL && sent_file(session, frame->id) != NULL && seen->n_compared > 0) {
		file = seen->file;
		seen->n_compared--;
		/* The checksums are equal, and the file has not grown since. */
		if (file->rest != 0 && file->asked.len == file->offset &&
		    frame->offset == file->offset && frame->sum == cksum_value(&file->asked))
			note_rest(session, file, file->rest);
		return 0;
	}
	if (file == NULL)
		return protocol_error(err, "sent a checksum that was not requested");
	if (frame->offset == file->sum.len && frame->sum == cksum_value(&file->sum)) {
		resume_file(session, frame->id, file);
		return 0;
	}
	file->not_id = frame->id;
	/* The path of this known file names another file, and no other path was found for it. */
	if (session->has_looked && !file->ended)
		end_file(session->follow, file);
	return identify(session, frame->id, err);
}

/* The file was truncated or rewritten: it ends, and its next generation starts. */
static int on_reset(struct follow_session *session, const struct frame *frame, struct err *err)
{
	struct follow_file *file = sent_file(session, frame->id);
	struct follow *follow = session->follow;
	int64_t s = (clock_mono_ms() - follow->opened_ms) / 1000;

	if (file == NULL)
		return protocol_error(err, "reset a file that is not open");
	/* Each reset creates a generation that is stored, so limit how many a pod may cause. */
	if (session->resets++ > FOLLOW_RESETS_MAX + FOLLOW_RESETS_PER_S * s)
		return err_set(err, ERR_LIMIT, "logs on the pod are truncated too often");
	struct follow_seen *seen = &session->seen[frame->id - 1];
	seen->path = xstrdup(file->path);
	seen->real = xstrdup_null(file->real);
	seen->size = frame->size;
	end_file(follow, file);
	int rc = begin_file(session, frame->id, err);
	/* The follower sends its bytes without a request. */
	if (rc == 0)
		begin_sent(seen->file);
	file_free(follow, file);
	return rc;
}

static int on_moved(struct follow_session *session, const struct frame *frame, struct err *err)
{
	struct follow_seen *seen = find_seen(session, frame->id);
	char *path = frame_path(frame->data);

	if (seen == NULL || (path == NULL && frame->data.len > 0)) {
		free(path);
		return protocol_error(err, "renamed a file that is not open");
	}
	if (path == NULL) {
		if (seen->file != NULL && !seen->file->away) {
			seen->file->away = true;
			report_event(session->follow, seen->file, FOLLOW_AWAY);
		}
		return 0;
	}
	char **to = seen->file != NULL ? &seen->file->path : &seen->path;
	char **real = seen->file != NULL ? &seen->file->real : &seen->real;
	free(*to);
	free(*real);
	*to = path;
	*real = frame_path(frame->real);
	if (seen->file != NULL) {
		report_event(session->follow, seen->file, FOLLOW_RENAMED);
		seen->file->away = false;
	} else if (seen->is_elsewhere && seen->trial == NULL) {
		seen->is_elsewhere = false;
		return identify(session, frame->id, err);
	}
	return 0;
}

static int on_gone(struct follow_session *session, const struct frame *frame, struct err *err)
{
	struct follow_seen *seen = find_seen(session, frame->id);
	struct follow_file *file = seen != NULL ? seen->file : NULL;

	if (seen == NULL)
		return protocol_error(err, "dropped a file that is not open");
	if (file != NULL && file->is_sent && !file->is_rewound && frame->offset != file->offset)
		return protocol_error(err, "skipped the end of a file");
	clear_seen(session, frame->id);
	if (file == NULL)
		return 0;
	/* A file that is not away still exists, but the follower has no room for it any more. */
	if (file->away)
		end_file(session->follow, file);
	else
		release_id(session->follow, file);
	return 0;
}

static int on_error(struct follow_session *session, const struct frame *frame,
		    UNUSED struct err *err)
{
	const struct follow *follow = session->follow;

	list_each (struct follow_file, file, &follow->files, in_follow) {
		if (str_eq_cstr(frame->data, file->path))
			file->is_unreadable = true;
	}
	if (follow->cb.on_trouble != NULL)
		follow->cb.on_trouble(follow->user, frame->data, frame->error);
	return 0;
}

static void request_search(struct follow_session *session, const struct follow_file *file,
			   const char *path)
{
	buf_appendf(&session->out, "L %" PRIu64 ":%" PRIu64 " ", file->dev, file->ino);
	follow_wire_escape(&session->out, str_from(path));
	buf_append_char(&session->out, '\n');
}

/* Request a search for known files that were not found; false if there are none. */
static bool search_missed(struct follow_session *session)
{
	bool asked = false;

	list_each (struct follow_file, file, &session->follow->files, in_follow) {
		if (file->id > 0 || file->tried > 0 || file->ended || file->missed >= FOLLOW_LOOKS)
			continue;
		asked = true;
		/* Request the others after the next scan. */
		if (session->out.len > FOLLOW_LOOK_BYTES)
			break;
		file->missed++;
		request_search(session, file, file->path);
		if (file->real != NULL)
			request_search(session, file, file->real);
	}
	if (asked)
		buf_append_str(&session->out, "A\n");
	return asked;
}

/* After a scan, request a search for known files that it did not find. After these searches,
 * identify the remaining files of the follower, and end the known files that were not found. Files
 * that could not be opened do not end, nor any file of a pod with too many logs. */
static int on_scanned(struct follow_session *session, const struct frame *frame, struct err *err)
{
	struct follow *follow = session->follow;
	int rc = 0;

	/* While quiet, a scan does not look for all files. */
	if (follow->quiet)
		return 0;
	follow->status.n_followed = frame->size;
	follow->status.n_matching = frame->all;
	if (frame->all <= frame->size && search_missed(session))
		return 0;
	session->has_looked = true;
	for (uint32_t id = 1; id <= session->n_seen && rc == 0; id++)
		if (session->seen[id - 1].path != NULL && session->seen[id - 1].trial == NULL)
			rc = identify(session, id, err);
	list_each (struct follow_file, file, &follow->files, in_follow) {
		if (frame->all <= frame->size && file->id == 0 && file->tried == 0 &&
		    !file->ended && !file->is_unreadable)
			end_file(follow, file);
	}
	return rc;
}

static int on_preview(struct follow_session *session, const struct frame *frame, struct err *err)
{
	const struct follow *follow = session->follow;
	struct follow_file *file = sent_file(session, frame->id);

	if (file == NULL)
		return protocol_error(err, "sent a preview of a file that is not open");
	if (frame->offset + frame->data.len > file->size)
		file->size = frame->offset + frame->data.len;
	if (follow->cb.on_preview != NULL)
		follow->cb.on_preview(follow->user, file, frame->offset, frame->data);
	return 0;
}

static int on_data(struct follow_session *session, const struct frame *frame, size_t *taken,
		   struct err *err)
{
	struct follow *follow = session->follow;
	struct follow_file *file = sent_file(session, frame->id);
	struct str data = frame->data;

	if (file == NULL)
		return protocol_error(err, "sent bytes of a file that is not open");
	/* The follower sent this before it got the last request for bytes. */
	if (file->is_rewound && frame->offset != file->offset)
		return 0;
	if (frame->offset != file->offset)
		return protocol_error(err, "skipped bytes of a file");
	file->is_rewound = false;
	data.len = follow->cb.on_bytes(follow->user, file, data);
	assert(data.len <= frame->data.len);
	file->offset += data.len;
	file->stamp = file->rest = 0;
	if (file->size < file->offset)
		file->size = file->offset;
	file->last_ms = clock_mono_ms();
	follow->status.bytes += data.len;
	*taken = data.len;
	return 0;
}

typedef int (*frame_fn)(struct follow_session *session, const struct frame *frame, struct err *err);

static const frame_fn takers[] = {
	[FRAME_FILE] = on_new,	      [FRAME_FOUND] = on_new,	[FRAME_REST] = on_rest,
	[FRAME_SUM] = on_sum,	      [FRAME_RESET] = on_reset, [FRAME_MOVED] = on_moved,
	[FRAME_GONE] = on_gone,	      [FRAME_ERROR] = on_error, [FRAME_SCANNED] = on_scanned,
	[FRAME_PREVIEW] = on_preview,
};

int follow_files_take(struct follow_session *session, const struct frame *frame, size_t *taken,
		      struct err *err)
{
	struct follow *follow = session->follow;

	*taken = frame->data.len;
	if (frame->type == FRAME_DATA)
		return on_data(session, frame, taken, err);
	assert(frame->type < LENGTH(takers) && takers[frame->type] != NULL);
	int rc = takers[frame->type](session, frame, err);
	if (follow->n_ended > FOLLOW_ENDED_MAX)
		forget_ended(follow);
	follow->status.scanned |= session->has_looked && session->n_trials == 0;
	return rc;
}

void follow_rewind(struct follow *follow, struct follow_file *file, uint64_t offset)
{
	file->offset = offset;
	file->stamp = file->rest = 0;
	if (!file->is_sent)
		return;
	file->is_rewound = true;
	request_bytes(follow->session, file);
}

void follow_files_begin(struct follow *follow)
{
	list_each (struct follow_file, file, &follow->files, in_follow) {
		if (!file->ended)
			file->sum = follow->cb.sum(follow->user, file);
		file->missed = file->not_id = 0;
		file->is_unreadable = false;
	}
}

void follow_files_lost(struct follow_session *session)
{
	for (uint32_t id = 1; id <= session->n_seen; id++) {
		struct follow_file *file = session->seen[id - 1].file;

		if (file != NULL)
			release_id(session->follow, file);
		if (find_seen(session, id) != NULL || file != NULL)
			clear_seen(session, id);
	}
	free(session->seen);
	session->seen = NULL;
	session->n_seen = 0;
}

void follow_files_release(struct follow *follow)
{
	while (!list_is_empty(&follow->files))
		file_free(follow, list_entry(follow->files.next, struct follow_file, in_follow));
	map_release(&follow->generations, NULL);
}
