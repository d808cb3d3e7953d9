/* SPDX-License-Identifier: MIT */
/*
 * GPU, load and free disk of a pod: one command a pod that answers when it is
 * asked, so that it costs nothing while a bench runs and is gone with us.
 */
#include "base/log.h"
#include "base/quote.h"
#include "ingest/ingest_priv.h"

#define MAX_LINE_BYTES 4096
/* A stream that ended is started again after this. */
#define RETRY_MS 30000
/* Of the distance between two that are stored: they come when they come. */
#define SLACK_MS 1000

/* The rows of the moment: all of it, then GPU by GPU. */
static void store_block(struct ingest_pod *pod, int64_t now_ms)
{
	const struct telemetry *t = &pod->telemetry_reader.now;
	struct store *store = pod->ingest->store;
	struct store_telemetry rows[1 + TELEMETRY_MAX_GPUS] = {
		{ now_ms,
		  STORE_POD_GPU,
		  { t->gpu_util, t->gpu_mem_mib, t->gpu_power_w, t->gpu_temp_c, t->gpu_sm_mhz,
		    t->gpu_throttle, t->host_load },
		  t->disk_free_bytes },
	};
	bool keep = pod->stored_ms / STORE_TELEMETRY_KEEP_MS != now_ms / STORE_TELEMETRY_KEEP_MS;

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

/* Not all that is shown is stored; a clock that went back begins anew. */
static bool is_due(const struct ingest_pod *pod, int64_t now_ms)
{
	return pod->ingest->store != NULL &&
	       (now_ms < pod->stored_ms ||
		now_ms - pod->stored_ms >= STORE_TELEMETRY_EVERY_MS - SLACK_MS);
}

static void take_block(struct ingest_pod *pod)
{
	const struct telemetry *t = &pod->telemetry_reader.now;
	struct ingest *ingest = pod->ingest;
	int64_t now_ms = ingest_wall_ms(ingest);

	model_pod_telemetry(ingest->o.model, pod->model_pod, t, now_ms);
	pod->is_settled |= ingest->o.no_follow;
	if (is_due(pod, now_ms))
		store_block(pod, now_ms);
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

/* Free space counts where the pod's logs are. */
static void folder_of_logs(const struct conf_pod *conf, struct buf *out)
{
	const char *glob = conf->logs.n > 0 ? conf->logs.v[0] : "/";
	const char *wild = strpbrk(glob, "*?[");
	size_t n = wild != NULL ? (size_t)(wild - glob) : strlen(glob);

	while (n > 1 && glob[n - 1] != '/')
		n--;
	if (n == 0 || glob[0] != '/')
		buf_append_str(out, ".");
	else
		buf_append(out, glob, n);
}

static void telemetry_start(struct ingest_pod *pod)
{
	static const struct stream_cb cb = { telemetry_on_data, NULL, telemetry_on_close };
	struct transport *t = fleet_transport(pod->fleet->fleet);
	AUTO_BUF folder = buf_new(4096);
	AUTO_BUF command = buf_new(16384);
	const char *argv[] = { "exec", "sh", "-c", telemetry_script, "sh", NULL, NULL };
	struct err err = { ERR_NONE, "" };

	folder_of_logs(pod->conf, &folder);
	argv[5] = folder.data;
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
	/* Questions that wait would all be answered at once, some time. */
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
