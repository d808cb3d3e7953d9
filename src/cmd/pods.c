/* SPDX-License-Identifier: MIT */
/* `collect`, `pods` and `pods check`, and fetching logs from pods for other commands. */
#include <fnmatch.h>
#include <signal.h>
#include <sys/param.h>

#include "base/say.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "ingest/ingest.h"
#include "pods/discover.h"
#include "pods/pods.h"
#include "pods/preflight.h"
#include "pods/probe.h"

#define LIMIT_S 45 /* to connect, log in and get one answer */
#define POLL_MS 50

/* An event loop with pods; it ends when the command has its answers or a signal arrives. */
struct session {
	struct ingest_options options; /* without loop and model */
	/* Called every POLL_MS; NULL: stop when all pods are settled. */
	bool (*is_over)(const struct session *session);
	struct context *context;	 /* SIGHUP reloads it; NULL: SIGHUP ends the process */
	const struct collect_call *call; /* for `collect` */
	struct model model;
	struct ingest *ingest;
	struct discover *discover; /* NULL: only the pods in options */
	int64_t start_ms;
	int signum; /* signal that ended the session; 0: none */
};

/* Print a message to stderr, with control characters removed. */
static void print_message(UNUSED void *user, UNUSED enum model_severity severity, const char *text)
{
	AUTO_TEXT line = xasprintf("hgym-tui: %s", text);
	AUTO_TEXT clean = utf8_copy(str_from(line), 4096);

	say_line(clean);
}

/* Print only warnings: a working connection needs no message. */
static void print_warning(void *user, enum model_severity severity, const char *text)
{
	if (severity != MODEL_INFO)
		print_message(user, severity, text);
}

static double get_age_s(const struct session *s)
{
	return (double)(clock_mono_ms() - s->start_ms) / 1e3;
}

static void on_signal(void *user, int signum)
{
	struct session *s = user;

	s->signum = signum;
	loop_stop(s->options.loop);
}

/* Reload the configuration; keep the old one if the file has an error. */
static void on_hangup(void *user, UNUSED int signum)
{
	struct session *s = user;
	struct err err = { ERR_NONE, "" };
	char changes[200];

	if (context_reload(s->context, changes, &err) != 0) {
		print_message(NULL, MODEL_WARNING, err.text);
		return;
	}
	discover_renew(s->discover, &s->context->conf);
	ingest_reload(s->ingest, &s->context->conf);
	print_message(NULL, MODEL_INFO, changes);
}

static int on_discovered(void *user, size_t i, struct str answer, struct err *err)
{
	struct session *s = user;

	if (context_discovered(s->context, i, answer, err) != 0)
		return -1;
	discover_renew(s->discover, &s->context->conf);
	ingest_reload(s->ingest, &s->context->conf);
	return 0;
}

static void on_discover_message(void *user, bool is_trouble, const char *text)
{
	const struct session *s = user;

	s->options.cb.on_notice(s->options.cb.user, is_trouble ? MODEL_WARNING : MODEL_INFO, text);
}

static void on_timer(void *user)
{
	struct session *s = user;

	(void)say_send();
	if (s->is_over != NULL ? s->is_over(s) : ingest_is_settled(s->ingest))
		loop_stop(s->options.loop);
}

/* Run the loop. Return the exit status, or -1 with err; release the session in any case. */
static int run_session(struct session *s, struct err *err)
{
	struct loop *loop = s->options.loop = loop_new(err);

	if (loop == NULL)
		return -1;
	model_init(&s->model);
	s->options.model = &s->model;
	s->start_ms = clock_mono_ms();
	loop_on_signal(loop, SIGINT, on_signal, s);
	loop_on_signal(loop, SIGTERM, on_signal, s);
	if (s->context != NULL)
		loop_on_signal(loop, SIGHUP, on_hangup, s);
	s->ingest = ingest_new(&s->options, err);
	if (s->ingest == NULL)
		return -1;
	if (s->context != NULL)
		s->discover = discover_new(
			loop, &s->context->conf,
			&(struct discover_cb){ on_discovered, on_discover_message, s });
	struct loop_timer *timer = loop_timer_new(loop, on_timer, s);
	loop_timer_start(timer, POLL_MS, POLL_MS);
	loop_run(loop);
	loop_timer_close(timer);
	discover_free(s->discover);
	size_t unreachable = ingest_unreachable(s->ingest);
	size_t empty = s->call != NULL ? ingest_without_logs(s->ingest) : 0;
	if (ingest_free(s->ingest, err) != 0)
		return -1;
	if (s->signum != 0)
		return 128 + s->signum;
	return unreachable > 0 ? err_exit_status(ERR_NET)
	       : empty > 0     ? err_exit_status(ERR_NODATA)
			       : 0;
}

static void release_session(struct session *s)
{
	if (s->options.loop == NULL)
		return;
	loop_free(s->options.loop);
	model_release(&s->model);
}

struct collect_call {
	double for_s, idle_s; /* 0: no limit */
	bool accept_new;
};

static const struct cmd_option collect_options[] = {
	{ 0, "for", "SEC", "stop after SEC seconds", CMD_POSITIVE, CMD_AT(collect_call, for_s),
	  .high = 1e9 },
	{ 0, "until-idle", "SEC", "stop after SEC seconds without new data", CMD_POSITIVE,
	  CMD_AT(collect_call, idle_s), .high = 1e9 },
	CMD_ACCEPT_NEW_OPTION(collect_call),
	CMD_OPTIONS_END,
};

static bool collect_is_over(const struct session *s)
{
	const struct collect_call *call = s->call;
	double idle_s = (double)ingest_idle_ms(s->ingest) / 1e3;

	return (call->for_s > 0 && get_age_s(s) >= call->for_s) ||
	       (call->idle_s > 0 && idle_s >= call->idle_s && !discover_is_busy(s->discover) &&
		ingest_is_settled(s->ingest));
}

static int exec_collect(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct conf *conf = &args->context->conf;
	const struct collect_call *call = opaque;
	struct session s = {
		.options = { .formats = args->context->formats,
			     .conf = conf,
			     .db_path = args->context->db_path,
			     .cb = { .on_notice = print_message },
			     .accept_new = call->accept_new,
			     .must_write = true },
		.is_over = collect_is_over,
		.context = args->context,
		.call = call,
	};

	if (conf->n_pods == 0 && conf->n_discover == 0)
		return pods_none(conf, ERR_CONFIG, err);
	int rc = run_session(&s, err);
	release_session(&s);
	return rc;
}

const struct cmd cmd_collect = {
	.name = "collect",
	.usage = "[OPTIONS]",
	.summary = "follow all pods into the database, without a screen",
	CMD_OPTIONS(collect_options, collect_call),
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_collect,
};

static int compare_logs(const void *a, const void *b)
{
	const struct model_log *x = *(struct model_log *const *)a;
	const struct model_log *y = *(struct model_log *const *)b;

	return x->pod != y->pod ? (x->pod > y->pod) - (x->pod < y->pod)
				: strverscmp(x->path, y->path);
}

/* Print an error unless at least one fetched log matches HOST:PATH. */
static void check_place(const char *word, const struct log_paths *logs)
{
	size_t len = conf_place(word) + 1;
	const char *path = word + len + (word[len] == '~');
	AUTO_TEXT glob = xasprintf("%.*s%s%s*", (int)len, word, word[len] == '/' ? "" : "*", path);

	if (!array_any(log, logs->v, logs->n, fnmatch(glob, log->name, 0) == 0))
		say_error("%s: no log matches on the pod", word);
}

int cmd_fetch(struct context *context, char *const *words, size_t n, bool accept_new,
	      struct log_paths *logs, struct err *err)
{
	struct session s = { .is_over = NULL };

	if (context_open_places(context, words, n, err) != 0)
		return -1;
	s.options = (struct ingest_options){
		.formats = context->formats,
		.conf = &context->conf,
		.db_path = context->db_path,
		.copies_path = context->folder.path,
		.cb = { .on_notice = print_warning },
		.keep_view = true,
		.accept_new = accept_new,
	};
	int rc = run_session(&s, err);
	if (rc >= 0 && s.signum == 0) {
		if (s.model.n_logs > 0)
			qsort((void *)s.model.logs, s.model.n_logs, sizeof(*s.model.logs),
			      compare_logs);
		for (size_t i = 0; i < s.model.n_logs; i++) {
			const struct model_log *log = s.model.logs[i];

			if (log->file == NULL)
				continue;
			*xplace(logs->v, logs->n, logs->cap) = (struct log_path){
				.path = xstrdup(log->file),
				.name = xasprintf("%s:%s", s.model.pods[log->pod].name, log->path),
				.named = true,
			};
		}
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		check_place(words[i], logs);
	release_session(&s);
	return rc;
}

struct pods_call {
	enum out_format format;
	bool accept_new;
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(pods_call),
	CMD_ACCEPT_NEW_OPTION(pods_call),
	CMD_OPTIONS_END,
};

static const char columns[] = "pod, state, target, transport, gpu=GPU, gpu_util=util %:0, "
			      "gpu_mem_mib=MiB:0, gpu_power_w=W:0, gpu_temp_c=°C:0, "
			      "gpu_sm_mhz=MHz:0, host_load=load:2, disk_free_bytes=free GB:1*1e-9, "
			      "usd_per_hour=$/h:2, why";

static bool all_answered(const struct session *s)
{
	return ingest_is_settled(s->ingest) || get_age_s(s) > LIMIT_S;
}

static int exec_pods(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct pods_call *call = opaque;
	struct conf conf;
	struct session s = {
		.options = { .conf = &conf, .no_follow = true, .accept_new = call->accept_new },
		.is_over = all_answered
	};

	if (pods_choose(&conf, &args->context->conf, args->argv, args->argc, err) != 0)
		return -1;
	int rc = run_session(&s, err);
	if (rc >= 0) {
		struct out *out = cmd_out(call->format, columns);

		for (size_t i = 0; i < s.model.n_pods; i++) {
			const struct model_pod *pod = &s.model.pods[i];
			bool has_why = pod->why != NULL && pod->why[0] != '\0';
			cJSON *row = json_new(
				JTEXT("pod", pod->name), JTEXT("state", pod_state_name(pod->state)),
				JTEXT("why", has_why ? pod->why : NULL),
				JTEXT("target", pod->target),
				JTEXT("transport", conf_transport_name(conf.pods[i].transport)),
				JTEXT("gpu", pod->gpu_name));

			for (enum metric k = TELEMETRY_FIRST; k < METRIC_COUNT; k++)
				json_add_number(row, metric_info(k)->name,
						model_last_value(pod->telemetry, k));
			out_take(out, json_add(row, JNUM("disk_free_bytes", pod->disk_free_bytes),
					       JNUM("usd_per_hour", pod->usd_per_hour)));
		}
		rc = cmd_out_end(out, rc, err);
	}
	release_session(&s);
	free(conf.pods);
	return rc;
}

const struct cmd cmd_pods = {
	.name = "pods",
	.usage = "[OPTIONS] [NAME...]",
	.summary = "connect to each pod and show its status",
	CMD_OPTIONS(options, pods_call),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF,
	.discovers = true,
	.exec = exec_pods,
};

struct check_call {
	enum out_format format;
	bool accept_new, no_gpu;
	double min_free_bytes, limit_s;
};

static const struct check_call check_defaults = {
	.min_free_bytes = PODS_PROBE_FREE_BYTES,
	.limit_s = PODS_PROBE_LIMIT_S,
};

static const struct cmd_option check_options[] = {
	CMD_OUTPUT_OPTIONS(check_call),
	CMD_ACCEPT_NEW_OPTION(check_call),
	{ 0, "no-gpu", NULL, "accept pods without a GPU", CMD_FLAG, CMD_AT(check_call, no_gpu) },
	{ 0, "min-free", "BYTES", "free scratch space required (default 1e9)", CMD_NUMBER,
	  CMD_AT(check_call, min_free_bytes), .high = 1e18 },
	{ 0, "timeout", "SEC", "limit per pod, including login (default 90)", CMD_NUMBER,
	  CMD_AT(check_call, limit_s), .high = 3600 },
	CMD_OPTIONS_END,
};

static const char check_columns[] =
	"pod, status, failure, gpu=GPU, driver, free_bytes=free GB:1*1e-9, "
	"python, torch, triton, clock_offset_s=clock s:1, text, next=next step";

static int exec_pods_check(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct check_call *call = opaque;
	struct pods_probe probe = {
		.accept_new = call->accept_new,
		.any_gpu = !call->no_gpu,
		.own_gpus = !call->no_gpu,
		.min_free_bytes = call->min_free_bytes,
		.limit_s = call->limit_s,
	};
	struct conf conf;

	if (pods_choose(&conf, &args->context->conf, args->argv, args->argc, err) != 0)
		return -1;
	probe.pods = conf.pods;
	probe.n = conf.n_pods;
	AUTO_FREE cJSON **rows = xcalloc(probe.n, sizeof(cJSON *));
	int rc = pods_probe(&probe, rows, err), worst = 0;
	if (rc == 0) {
		struct out *out = cmd_out(call->format, check_columns);

		for (size_t i = 0; i < probe.n; i++) {
			worst = MAX(worst, preflight_status(rows[i]));
			out_take(out, rows[i]);
		}
		rc = cmd_out_end(out, worst, err);
	} else if (rc > 0) {
		rc += 128;
	}
	free(conf.pods);
	return rc;
}

const struct cmd cmd_pods_check = {
	.name = "pods check",
	.usage = "[OPTIONS] [NAME...]",
	.summary = "test whether each pod is ready for a run",
	CMD_OPTIONS(check_options, check_call),
	.defaults = &check_defaults,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF,
	.discovers = true,
	.exec = exec_pods_check,
};
