/* SPDX-License-Identifier: MIT */
/* Run the programs that print pods, and pass on their answers. */
#include "pods/discover.h"

#include "remote/process.h"

#define LIMIT_MS  20000
#define NOTES_MAX 8 /* notes shown per answer */

/* A program that prints pods: one of conf->discover. */
struct source {
	struct discover *discover;
	struct capture *capture; /* NULL: not running */
	struct loop_timer *timer;
	bool has_ended;	  /* it has ended at least once */
	bool is_reported; /* its failure was reported */
};

struct discover {
	struct loop *loop;
	const struct conf *conf;
	struct discover_cb cb;
	struct source *sources;
	size_t n;
	bool is_single; /* run each program once */
};

static size_t source_index(const struct source *source)
{
	return (size_t)(source - source->discover->sources);
}

static const struct conf_discover *source_conf(const struct source *source)
{
	return &source->discover->conf->discover[source_index(source)];
}

static void report_failure(struct source *source, const char *why)
{
	struct discover *discover = source->discover;
	AUTO_TEXT text = xasprintf("discover %s: %s; keeping the pods of its last answer",
				   source_conf(source)->name, why);

	if (!source->is_reported)
		discover->cb.on_notice(discover->cb.user, true, text);
	source->is_reported = true;
}

static void show_notes(const struct source *source, const struct conf_strings *before)
{
	const struct discover_cb *cb = &source->discover->cb;
	const struct conf_discover *now = source_conf(source);
	size_t n = 0;

	for (size_t i = 0; i < now->notes.n; i++)
		if (!any_of(k, before->n, strcmp(before->v[k], now->notes.v[i]) == 0) &&
		    n++ < NOTES_MAX)
			cb->on_notice(cb->user, false, now->notes.v[i]);
	if (n > NOTES_MAX) {
		AUTO_TEXT more = xasprintf("discover %s: %zu more messages like these", now->name,
					   n - NOTES_MAX);

		cb->on_notice(cb->user, false, more);
	}
}

static void take_answer(struct source *source, int status, struct str out)
{
	struct discover *discover = source->discover;
	/* The old answer is valid until the next one is taken. */
	const struct conf_discover *before = source_conf(source);
	struct err err = { ERR_NONE, "" };

	out = str_trim(out);
	bool is_same = before->answer != NULL && str_eq_cstr(out, before->answer);
	if (status < 0)
		err_set(&err, ERR_TIMEOUT, "timed out after %d s, or was killed", LIMIT_MS / 1000);
	else if (status > 0)
		err_set(&err, ERR_IO, "exited with status %d", status);
	else if (!is_same)
		(void)discover->cb.on_answer(discover->cb.user, source_index(source), out, &err);
	if (err.code != ERR_NONE) {
		report_failure(source, err.text);
		return;
	}
	source->is_reported = false;
	if (!is_same)
		show_notes(source, &before->notes);
}

static void wait_for_next(struct source *source)
{
	struct discover *discover = source->discover;

	source->has_ended = true;
	if (!discover->is_single)
		loop_timer_start(source->timer, (int64_t)(source_conf(source)->every_s * 1e3), 0);
	else if (!discover_is_busy(discover))
		loop_stop(discover->loop);
}

static void source_on_end(void *user, int status, struct str out)
{
	struct source *source = user;

	source->capture = NULL;
	take_answer(source, status, out);
	wait_for_next(source);
}

static void source_on_time(void *user)
{
	struct source *source = user;
	const char *const *argv = (const char *const *)source_conf(source)->command.v;

	source->capture =
		capture_new(source->discover->loop, argv, LIMIT_MS, source_on_end, source);
	if (source->capture == NULL) {
		report_failure(source, "cannot be started");
		wait_for_next(source);
	}
}

static void start_all(struct discover *discover, const struct conf *conf)
{
	discover->conf = conf;
	discover->n = conf->n_discover;
	discover->sources = xcalloc(conf->n_discover + 1, sizeof(*discover->sources));
	array_each (source, discover->sources, discover->n) {
		source->discover = discover;
		source->timer = loop_timer_new(discover->loop, source_on_time, source);
		loop_timer_start(source->timer, 0, 0);
	}
}

static void stop_all(struct discover *discover)
{
	for (size_t i = 0; i < discover->n; i++) {
		capture_cancel(discover->sources[i].capture);
		loop_timer_close(discover->sources[i].timer);
	}
	free(discover->sources);
}

struct discover *discover_new(struct loop *loop, const struct conf *conf,
			      const struct discover_cb *cb)
{
	struct discover *discover = xcalloc(1, sizeof(*discover));

	discover->loop = loop;
	discover->cb = *cb;
	start_all(discover, conf);
	return discover;
}

void discover_free(struct discover *discover)
{
	if (discover == NULL)
		return;
	stop_all(discover);
	free(discover);
}

void discover_renew(struct discover *discover, const struct conf *conf)
{
	bool same = discover->n == conf->n_discover;

	for (size_t i = 0; same && i < discover->n; i++)
		same = conf_same_text(conf->discover[i].name, discover->conf->discover[i].name) &&
		       conf_same_strings(&conf->discover[i].command,
					 &discover->conf->discover[i].command);
	if (same) {
		discover->conf = conf;
		return;
	}
	stop_all(discover);
	start_all(discover, conf);
}

bool discover_is_busy(const struct discover *discover)
{
	return any_of(i, discover->n, !discover->sources[i].has_ended);
}

static int once_on_answer(void *user, size_t i, struct str answer, struct err *err)
{
	return conf_take_answer(user, i, answer, err);
}

int discover_once(struct conf *conf,
		  void (*on_notice)(void *user, bool is_trouble, const char *text), struct err *err)
{
	const struct discover_cb cb = { once_on_answer, on_notice, conf };

	if (conf->n_discover == 0)
		return 0;
	struct loop *loop = loop_new(err);
	if (loop == NULL)
		return -1;
	struct discover *discover = discover_new(loop, conf, &cb);
	discover->is_single = true;
	loop_run(loop);
	discover_free(discover);
	loop_free(loop);
	return 0;
}
