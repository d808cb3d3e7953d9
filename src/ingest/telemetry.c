/* SPDX-License-Identifier: MIT */
/* Read the GPUs, load and free disk space of a pod. One command per pod answers each request with
 * one block. The command ends with the connection, and is stopped while a bench times the pod. */
#include "base/log.h"
#include "base/quote.h"
#include "ingest/ingest_priv.h"

/* Restart the command this long after it ended. */
#define RETRY_MS 30000
/* Answers jitter: a row counts as due this long before STORE_TELEMETRY_EVERY_MS has passed. */
#define SLACK_MS 1000

static void store_rows(struct ingest_pod *pod, int64_t now_ms)
{
	const struct telemetry *t = &pod->telemetry_reader.now;
	struct store *store = pod->ingest->store;
	struct store_telemetry rows[1 + TELEMETRY_MAX_GPUS] = {
		{ .at_ms = now_ms, .gpu = STORE_POD_GPU, .disk_free_bytes = t->disk_free_bytes },
	};
	bool keep = pod->stored_ms / STORE_TELEMETRY_KEEP_MS != now_ms / STORE_TELEMETRY_KEEP_MS;

	memcpy(rows[0].values, t->values, sizeof(t->values));
	for (size_t i = 0; i < t->n_gpus; i++) {
		const struct telemetry_gpu *gpu = &t->gpus[i];

		rows[1 + i] = (struct store_telemetry){ now_ms,
							gpu->index,
							{ gpu->util, gpu->mem_mib, gpu->power_w,
							  gpu->temp_c, gpu->sm_mhz, gpu->throttle,
							  RUN_ABSENT },
							RUN_ABSENT };
	}
	pod_store(pod);
	store_telemetry_add(store, pod->name, rows, 1 + t->n_gpus, keep);
	pod->stored_ms = now_ms;
	if (store_prune_is_due(&pod->prune, now_ms, ingest_now_ms(pod->ingest)) &&
	    store_telemetry_prune(store, pod->name, now_ms))
		pod->prune.last_ms = now_ms;
}

/* The pod answered: show the block, and store it if a row is due. */
static void take_block(struct ingest_pod *pod)
{
	const struct telemetry *t = &pod->telemetry_reader.now;
	struct ingest *ingest = pod->ingest;
	int64_t now_ms = ingest_wall_ms(ingest);

	model_pod_set_telemetry(ingest->o.model, pod->model_pod, t, now_ms);
	pod->is_settled |= ingest->o.no_follow;
	/* After the clock was set back, rows are due at once. */
	if (ingest->store != NULL &&
	    (now_ms < pod->stored_ms ||
	     now_ms - pod->stored_ms >= STORE_TELEMETRY_EVERY_MS - SLACK_MS))
		store_rows(pod, now_ms);
}

static size_t telemetry_on_data(void *user, const void *data, size_t len)
{
	struct ingest_pod *pod = user;
	struct str rest = { data, len };
	const char *end;

	pod->telemetry_asked = false;
	while (rest.len > 0 && (end = memchr(rest.p, '\n', rest.len)) != NULL) {
		size_t n = (size_t)(end - rest.p);

		buf_append(&pod->telemetry_line, rest.p, n);
		if (!pod->telemetry_line.truncated &&
		    telemetry_line(&pod->telemetry_reader, buf_str(&pod->telemetry_line)))
			take_block(pod);
		buf_clear(&pod->telemetry_line);
		rest = str_skip(rest, n + 1);
	}
	buf_append(&pod->telemetry_line, rest.p, rest.len);
	return len;
}

static void telemetry_on_close(void *user, const struct stream_exit *exit)
{
	struct ingest_pod *pod = user;

	log_debug("telemetry", "%s: ended: %s", pod->name, exit->err.text);
	pod->telemetry = NULL;
	pod->telemetry_due_ms = ingest_now_ms(pod->ingest) + RETRY_MS;
}

static void telemetry_start(struct ingest_pod *pod)
{
	static const struct stream_cb cb = { telemetry_on_data, NULL, telemetry_on_close };
	struct transport *t = fleet_transport(pod->fleet->fleet);
	/* Report the free space of the file system with the logs. */
	const char *glob = pod->conf->logs.n > 0 ? pod->conf->logs.v[0] : "/";
	size_t n = strcspn(glob, "*?[");
	while (n > 1 && glob[n - 1] != '/')
		n--;
	AUTO_TEXT folder = glob[0] == '/' ? xasprintf("%.*s", (int)n, glob) : xstrdup(".");
	const char *argv[] = { "exec", "sh", "-c", telemetry_script, "sh", folder, NULL };
	AUTO_BUF command = buf_new(16384);
	struct err err = { ERR_NONE, "" };

	quote_argv(&command, argv);
	telemetry_init(&pod->telemetry_reader, pod->conf->gpus, pod->conf->n_gpus);
	buf_clear(&pod->telemetry_line);
	pod->telemetry_asked = false;
	pod->telemetry = t->ops->exec(t, pod->index, command.data, &cb, pod, &err);
	if (pod->telemetry == NULL)
		log_debug("telemetry", "%s: %s", pod->name, err.text);
}

void telemetry_tick(struct ingest_pod *pod, int64_t now_ms)
{
	struct transport *t = fleet_transport(pod->fleet->fleet);
	double every_s = pod->ingest->o.conf->telemetry_s;

	if (pod->is_paused || now_ms < pod->telemetry_due_ms)
		return;
	pod->telemetry_due_ms = now_ms + (int64_t)(every_s * 1000);
	if (pod->telemetry == NULL)
		telemetry_start(pod);
	/* Queued requests would all be answered at once, much later. */
	if (pod->telemetry == NULL || pod->telemetry_asked)
		return;
	pod->telemetry_asked = true;
	(void)t->ops->write(pod->telemetry, "\n", 1, NULL);
}

void telemetry_stop(struct ingest_pod *pod)
{
	struct transport *t = fleet_transport(pod->fleet->fleet);

	if (pod->telemetry != NULL)
		t->ops->cancel(pod->telemetry);
}
