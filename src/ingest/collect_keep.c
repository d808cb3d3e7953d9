/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a pod's logs into their mirrors: those that are full, removed
 * by someone else or not whole any more; for collect_follow.c.
 */
#include "config.h"

#include <unistd.h>

#include "ingest/collect_priv.h"

/* So many mirrors that were removed are named. */
#define NAME_LOST 3
/* The disk is full: try again after this. */
#define DISK_RETRY_MS 2000

struct mirror *
collect_keep_begin(struct collect_pod *pod, const struct follow_file *ff,
		   struct err *err)
{
	struct mirror_dir *dir = pod->collect->mirrors;
	struct str name = str_from(ff->name);
	struct mirror *mirror =
		mirror_open(dir, pod->name, name, ff->generation, err);

	if (mirror != NULL && mirror_size(mirror) > 0) {
		(void)unlink(mirror_path(mirror));
		mirror_close(mirror);
		mirror = mirror_open(dir, pod->name, name, ff->generation, err);
	}
	return mirror;
}

/* The mirror cannot take bytes: say so once, and go on later. */
static void
disk_full(struct collect_follow *cf, const struct err *why)
{
	if (!cf->said_disk)
		collect_say(cf->pod->collect, MODEL_ALARM,
			    "%s: reading is paused: %s", cf->pod->name,
			    why->text);
	cf->said_disk = true;
	loop_timer_start(cf->retry, DISK_RETRY_MS, 0);
}

void
collect_keep_refill(struct collect_follow *cf, struct follow_file *ff)
{
	struct collect_file *file = ff->user;
	struct err err = { ERR_NONE, "" };
	struct mirror *mirror = collect_keep_begin(cf->pod, ff, &err);

	if (mirror == NULL) {
		disk_full(cf, &err);
		return;
	}
	mirror_close(file->mirror);
	file->mirror = mirror;
	if (file->refill_bytes < ff->guard.offset)
		file->refill_bytes = ff->guard.offset;
	err_set(&err, ERR_IO,
		"%s is not all here any more: it is read again from the pod",
		ff->path);
	collect_say(cf->pod->collect, MODEL_WARNING, "%s: %s", cf->pod->name,
		    err.text);
	follow_rewind(cf->follow, ff, &err);
}

bool
collect_keep_wake(struct collect_follow *cf, struct follow_file *ff)
{
	struct collect_file *file = ff->user;
	struct err err = { ERR_NONE, "" };
	struct mirror *mirror =
		mirror_open(cf->pod->collect->mirrors, cf->pod->name,
			    str_from(file->name), file->gen, &err);

	if (mirror == NULL) {
		disk_full(cf, &err);
		return false;
	}
	if (mirror_size(mirror) == ff->guard.offset) {
		collect_file_begin(file, mirror);
		return true;
	}
	mirror_close(mirror);
	collect_keep_refill(cf, ff);
	return false;
}

/* Someone removed its mirror: it is read on, and kept no more. */
static void
lose_mirror(struct collect_follow *cf, struct follow_file *ff,
	    const struct err *why)
{
	struct collect_file *file = ff->user;
	struct collect *c = cf->pod->collect;

	if (cf->n_lost++ < NAME_LOST)
		collect_say(c, MODEL_WARNING,
			    "%s: %s: what comes of %s is read on, but not kept "
			    "here any more; the next start reads and keeps all "
			    "of it anew",
			    cf->pod->name, why->text, ff->path);
	else if (cf->n_lost == NAME_LOST + 1)
		collect_say(c, MODEL_WARNING,
			    "%s: so it is with more of its logs; they are not "
			    "named one by one",
			    cf->pod->name);
	mirror_close(file->mirror);
	file->mirror = NULL;
	if (file->log != NULL)
		model_log_file(file->log, NULL);
	collect_file_identify(file, ff);
}

size_t
collect_keep_bytes(struct collect_follow *cf, struct follow_file *ff,
		   struct str data)
{
	struct collect_file *file = ff->user;
	struct err err = { ERR_NONE, "" };
	size_t taken;

	if (file->mirror == NULL)
		return data.len;
	taken = mirror_append(file->mirror, data, &err);
	if (taken < data.len && mirror_is_lost(file->mirror) &&
	    file->refill_bytes > 0) {
		collect_keep_refill(cf, ff);
		return 0;
	}
	/* While it is read again it is needed; its descriptor is open. */
	if (taken < data.len && mirror_is_lost(file->mirror) &&
	    !file->is_replay) {
		lose_mirror(cf, ff, &err);
		taken = data.len;
	}
	if (taken < data.len) {
		disk_full(cf, &err);
	} else if (cf->said_disk) {
		cf->said_disk = false;
		collect_say(cf->pod->collect, MODEL_INFO, "%s: reading goes on",
			    cf->pod->name);
	}
	return taken;
}

size_t
collect_keep_again(struct collect_follow *cf, struct follow_file *ff,
		   struct str data)
{
	struct collect_file *file = ff->user;
	size_t taken = collect_keep_bytes(cf, ff, data);
	struct mirror *mirror = file->mirror;

	if (mirror_size(mirror) >= file->refill_bytes) {
		file->refill_bytes = 0;
		collect_file_begin(file, mirror);
	}
	return taken;
}
