/* SPDX-License-Identifier: MIT */
/* Fetch a HarnessGym directory once, from this machine or from a pod. */
#include "harness/pod.h"

#include "pods/pods.h"

#define LIMIT_MS   (120 * 1000)
#define ERRORS_MAX 4096U
#define MAX_TRIES  10
/* A file that changed more recently may still be being written. */
#define YOUNG_MS 2000

struct fetch {
	struct loop *loop;
	struct harness_wire *wire;
	struct buf errors; /* start of the command's stderr */
	struct stream_exit exit;
	bool timed_out;
};

static size_t on_data(void *user, const void *data, size_t len)
{
	struct fetch *fetch = user;

	harness_wire_feed(fetch->wire, (struct str){ data, len });
	return len;
}

static void on_stderr(void *user, const void *data, size_t len)
{
	struct fetch *fetch = user;

	buf_append(&fetch->errors, data, len);
}

static void on_close(void *user, const struct stream_exit *exit)
{
	struct fetch *fetch = user;

	fetch->exit = *exit;
	loop_stop(fetch->loop);
}

static void on_timeout(void *user)
{
	struct fetch *fetch = user;

	fetch->timed_out = true;
	loop_stop(fetch->loop);
}

static int run_fetch(struct fetch *fetch, const struct remote_pod *pod, const char *dir,
		     struct err *err)
{
	static const struct stream_cb cb = { .on_data = on_data,
					     .on_stderr = on_stderr,
					     .on_close = on_close };
	struct fleet *fleet = fleet_new(fetch->loop, pod, 1, NULL);
	struct loop_timer *timer = loop_timer_new(fetch->loop, on_timeout, fetch);
	const struct stream *stream =
		harness_wire_start(fleet_transport(fleet), 0, dir, true,
				   pod->transport == REMOTE_LOCAL, &cb, fetch, err);

	if (stream != NULL) {
		loop_timer_start(timer, LIMIT_MS, 0);
		loop_run(fetch->loop);
	}
	loop_timer_close(timer);
	fleet_free(fleet);
	return stream != NULL ? 0 : -1;
}

/* Turn the end of the command into an error.  `where` is "pod NAME: " or "". */
static int check_fetch(const struct fetch *fetch, const char *where, const char *dir,
		       struct err *err)
{
	const struct harness_wire *wire = fetch->wire;

	if (fetch->timed_out)
		return err_set(err, ERR_TIMEOUT, "%s%s: no complete answer in %d s", where, dir,
			       LIMIT_MS / 1000);
	if (fetch->exit.err.code != ERR_NONE) {
		*err = fetch->exit.err; /* names the pod */
		return -1;
	}
	if (wire->none)
		return err_set(err, ERR_NODATA, "%s%s contains no HarnessGym run or comparison",
			       where, dir);
	if (wire->ended)
		return 0;
	return err_set(err, ERR_REMOTE, "%scannot read %s: %.200s", where, dir,
		       fetch->errors.len > 0 ? fetch->errors.data : "the command ended early");
}

int harness_pod_fetch(const struct conf_pod *pod, const char *dir, struct harness_wire *wire,
		      struct err *err)
{
	static const struct remote_pod here = { .name = "here", .transport = REMOTE_LOCAL };
	struct remote_pod remote = pod != NULL ? pods_remote(pod) : here;
	struct fetch fetch = { .wire = wire, .loop = loop_new(err) };
	AUTO_TEXT where = pod != NULL ? xasprintf("pod %s: ", pod->name) : xstrdup("");
	unsigned int tries = 0;
	bool changing;
	int rc;

	if (fetch.loop == NULL)
		return -1;
	buf_init(&fetch.errors, ERRORS_MAX);
	do {
		harness_wire_next(wire);
		rc = run_fetch(&fetch, &remote, dir, err);
		if (rc == 0)
			rc = check_fetch(&fetch, where, dir, err);
		/* A file that was torn long ago will stay torn. */
		changing =
			rc == 0 &&
			(wire->changed ||
			 array_any(file, wire->files->all, wire->files->n,
				   (*file)->torn && wire->now_ms - (*file)->mtime_ms < YOUNG_MS));
	} while (changing && ++tries < MAX_TRIES);
	buf_release(&fetch.errors);
	loop_free(fetch.loop);
	return rc;
}
