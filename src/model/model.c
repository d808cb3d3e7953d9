/* SPDX-License-Identifier: MIT */
/* The state that the screen shows; the pipeline and the app write it, the views read it. */
#include "model/model.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "model/logfile.h"
#include "model/run_names.h"

#define EVENT_TEXT_BYTES 1024
#define WHY_BYTES	 512
#define LINE_BYTES	 2000U /* longest line of a check */
#define MAX_PEERS	 64
#define OLD_SHARE	 0.2 /* share of the steps; an older value is not current */
#define BUSY_PERCENT	 50  /* idle GPUs have low clocks */

void model_init(struct model *model)
{
	memset(model, 0, sizeof(*model));
}

static void free_noise(struct model *model)
{
	for (size_t i = 0; i < model->n_noise; i++) {
		free(model->noise[i].pod);
		free(model->noise[i].class_name);
	}
	free(model->noise);
}

static void free_benches(struct model *model)
{
	for (size_t i = 0; i < model->n_benches; i++) {
		free(model->benches[i].id);
		free(model->benches[i].name);
		free(model->benches[i].state);
		free(model->benches[i].still_up);
		free(model->benches[i].form);
		free(model->benches[i].report);
		bench_live_free(model->benches[i].live);
	}
	free(model->benches);
}

static void close_log_fd(struct model_log *log)
{
	if (log->fd < 0)
		return;
	fd_close(&log->fd);
	log->moves++;
}

void model_note_change(struct model *model, enum model_part part)
{
	model->generation++;
	model->changed |= part;
}

static void note_run_change(struct model *model, struct model_run *mr, enum model_part part)
{
	model_note_change(model, part);
	mr->changed = model->generation;
}

static void free_series(struct series *series[METRIC_COUNT])
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		series_free(series[i]);
}

/* The number comes first, so that no path can imitate another key. */
static struct buf make_key(uint64_t number, const char *path)
{
	size_t len = strlen(path);
	struct buf key = buf_new(sizeof(number) + len);

	buf_append(&key, &number, sizeof(number));
	buf_append(&key, path, len);
	return key;
}

struct model_log *model_log_find(const struct model *model, size_t pod, const char *path)
{
	AUTO_BUF key = make_key(pod, path);
	return map_get(&model->log_index, buf_str(&key));
}

struct model_log *model_log_get(struct model *model, size_t pod, const char *path)
{
	AUTO_BUF key = make_key(pod, path);
	struct model_log *log = map_get(&model->log_index, buf_str(&key));

	if (log != NULL)
		return log;
	log = xnew(struct model_log, .pod = pod, .path = xstrdup(path), .fd = -1);
	xpush(model->logs, model->n_logs, model->cap_logs, log);
	(void)map_set(&model->log_index, buf_str(&key), log);
	model_note_change(model, MODEL_LOGS);
	return log;
}

void model_log_set_file(struct model_log *log, const char *file)
{
	xset_text(&log->file, xstrdup_null(file));
	log->inode = 0;
	log->moves++;
}

/* Store the descriptor, and close the oldest ones if there are more than MODEL_MAX_KEPT. */
static void set_log_fd(struct model *model, struct model_log *log, int fd)
{
	size_t kept = 0;

	close_log_fd(log);
	log->fd = fd;
	log->moves++;
	for (size_t i = model->n_logs; i-- > 0;) {
		kept += model->logs[i]->fd >= 0;
		if (kept > MODEL_MAX_KEPT)
			close_log_fd(model->logs[i]);
	}
}

void model_log_keep_fd(struct model *model, struct model_log *log, int fd)
{
	set_log_fd(model, log, fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

void model_log_set_gone(struct model *model, struct model_log *log, int64_t wall_ms)
{
	if (log->gone_wall_ms == wall_ms)
		return;
	log->gone_wall_ms = wall_ms;
	model_note_change(model, MODEL_LOGS);
	model_note_change(model, MODEL_RUNS);
}

const struct model_run *model_log_cut_run(const struct model *model, const struct model_log *log)
{
	/* Views call this for each run: search the runs only for a deleted log. */
	size_t i = log->gone_wall_ms != 0 ? model->n_runs : 0;

	while (i > 0 && model->runs[i - 1]->log != log)
		i--;
	if (i == 0)
		return NULL;
	const struct model_run *mr = model->runs[i - 1];
	return !mr->past && !mr->blank &&
			       (mr->run.status == RUN_RUNNING || mr->run.status == RUN_TRUNCATED ||
				mr->run.status == RUN_UNKNOWN)
		       ? mr
		       : NULL;
}

void model_log_set_trouble(struct model *model, size_t pod, const char *path, const char *why)
{
	struct model_log *log = model_log_get(model, pod, path);

	xset_text(&log->trouble, utf8_copy(str_from(why), WHY_BYTES));
	struct model_run *mr = model_run_get(model, pod, path, 0);
	mr->log = log;
	model_run_set_blank(model, mr, 0, 0, false);
}

struct logfile *model_log_open(const struct model_log *log)
{
	if (log->fd >= 0)
		return logfile_open_fd(fcntl(log->fd, F_DUPFD_CLOEXEC, 3), NULL);
	struct logfile *file = log->file != NULL ? logfile_open(log->file, NULL) : NULL;
	if (file != NULL && log->inode != 0 && logfile_inode(file) != log->inode) {
		logfile_close(file);
		file = NULL;
	}
	return file;
}

void model_log_add_preview(struct model *model, struct model_log *log, struct str text)
{
	if (!log->is_preview) {
		set_log_fd(model, log, memfd_create("log", MFD_CLOEXEC));
		log->is_preview = true;
	}
	/* This is only a preview: drop text that exceeds the limit. */
	if (log->fd >= 0 && lseek(log->fd, 0, SEEK_CUR) + (off_t)text.len <= MODEL_MAX_AHEAD)
		(void)fd_write_all(log->fd, text.p, text.len);
	model_note_change(model, MODEL_LOGS);
}

void model_log_add_line(struct model *model, struct model_log *log, uint64_t line,
			enum line_class class)
{
	if (log->is_preview) {
		close_log_fd(log);
		log->is_preview = false;
	}
	logclass_add(&log->classes, line, class);
	model_note_change(model, MODEL_LOGS);
}

void model_log_set_read(struct model *model, struct model_log *log, uint64_t upto, int64_t wall_ms)
{
	log->read_bytes = upto;
	logcame_add(&log->came, upto, wall_ms);
	model_note_change(model, MODEL_LOGS);
}

void model_benches_set(struct model *model, struct model_bench *benches, size_t n)
{
	free_benches(model);
	model->benches = benches;
	model->n_benches = n;
	model_note_change(model, MODEL_BENCH);
}

void model_noise_set(struct model *model, struct model_noise *noise, size_t n)
{
	free_noise(model);
	model->noise = noise;
	model->n_noise = n;
	model_note_change(model, MODEL_BENCH);
	model_note_change(model, MODEL_PODS);
}

void model_event_add(struct model *model, const struct model_event *event)
{
	struct model_event new = *event, *oldest;

	new.text = utf8_copy(str_from(event->text), EVENT_TEXT_BYTES);
	for (size_t i = model->n_events; new.mr != NULL &&new.alert == 0 && i-- > 0;) {
		const struct model_event *last = model_event_at(model, i);

		if (last->mr != new.mr)
			continue;
		if (strcmp(last->text, new.text) != 0)
			break;
		free(new.text); /* the run's last event has the same text */
		return;
	}
	if (model->n_events < MODEL_MAX_EVENTS) {
		xpush(model->events, model->n_events, model->cap_events, new);
	} else {
		oldest = &model->events[model->first_event];
		free(oldest->text);
		*oldest = new;
		model->first_event = (model->first_event + 1) % MODEL_MAX_EVENTS;
	}
	model_note_change(model, MODEL_EVENTS);
}

void model_event_addf(struct model *model, int64_t wall_ms, enum model_severity severity,
		      size_t pod, const char *fmt, ...)
{
	AUTO_BUF text = buf_new((size_t)4 * EVENT_TEXT_BYTES);

	buf_append_args(&text, fmt);
	model_event_add(model, &(struct model_event){ .wall_ms = wall_ms,
						      .severity = severity,
						      .pod = pod,
						      .text = text.data });
}

const struct model_event *model_event_at(const struct model *model, size_t i)
{
	assert(i < model->n_events);
	return &model->events[(model->first_event + i) % model->n_events];
}

LIST_NAMES(pod_state_name, pod_state, POD_STATE_LIST)

size_t model_pod_add(struct model *model, const char *name, const char *target)
{
	const struct model_pod pod = { .name = xstrdup(name),
				       .target = xstrdup(target),
				       .lag_ms = -1,
				       .usd_per_hour = RUN_ABSENT,
				       .disk_free_bytes = RUN_ABSENT,
				       .gpu_busiest = RUN_ABSENT };

	xpush(model->pods, model->n_pods, model->cap_pods, pod);
	model_note_change(model, MODEL_PODS);
	return model->n_pods - 1;
}

const char *model_pod_name(const struct model *model, size_t pod)
{
	return pod < model->n_pods ? model->pods[pod].name : "";
}

size_t model_pod_find(const struct model *model, const char *name)
{
	size_t at = index_of(i, model->n_pods, strcmp(model->pods[i].name, name) == 0);

	return at < model->n_pods ? at : MODEL_NONE;
}

void model_pod_set_state(struct model *model, size_t pod, enum pod_state state, const char *why,
			 int64_t retry_at_ms)
{
	struct model_pod *p = &model->pods[pod];

	assert(pod < model->n_pods);
	p->state = state;
	p->retry_at_ms = retry_at_ms;
	xset_text(&p->why, why != NULL ? utf8_copy(str_from(why), WHY_BYTES) : NULL);
	model_note_change(model, MODEL_PODS);
}

void model_pod_sample(struct model *model, size_t pod, enum metric metric, double value,
		      int64_t wall_ms)
{
	assert(pod < model->n_pods && metric < METRIC_COUNT);
	series_push_finite(&model->pods[pod].telemetry[metric],
			   &(struct series_point){ RUN_ABSENT, RUN_ABSENT, wall_ms, value });
	model_note_change(model, MODEL_PODS);
}

void model_pod_set_telemetry(struct model *model, size_t pod, const struct telemetry *told,
			     int64_t wall_ms)
{
	for (enum metric i = TELEMETRY_FIRST; i < METRIC_COUNT; i++)
		model_pod_sample(model, pod, i, told->values[i - TELEMETRY_FIRST], wall_ms);
	model->pods[pod].gpu_busiest = told->gpu_busiest;
	model_pod_set_disk(model, pod, told->disk_free_bytes);
	if (told->n_gpus > 0)
		model_pod_set_gpu(model, pod, told->gpu_name);
}

void model_pod_add_older(struct model *model, size_t pod, struct series *series[METRIC_COUNT])
{
	struct model_pod *p = &model->pods[pod];

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		struct series *here = p->telemetry[i];

		if (series[i] == NULL)
			continue;
		int64_t last_ms = series_last(series[i])->wall_ms;
		for (size_t k = 0; here != NULL && k < series_count(here); k++)
			if (series_at(here, k)->wall_ms > last_ms)
				series_push(series[i], series_at(here, k));
		series_free(here);
		p->telemetry[i] = series[i];
		series[i] = NULL;
	}
	model_note_change(model, MODEL_PODS);
}

void model_pod_set_disk(struct model *model, size_t pod, double free_bytes)
{
	assert(pod < model->n_pods);
	if (!run_has(free_bytes))
		return;
	model->pods[pod].disk_free_bytes = free_bytes;
	model_note_change(model, MODEL_PODS);
}

void model_pod_set_gpu(struct model *model, size_t pod, const char *name)
{
	assert(pod < model->n_pods);
	xset_text(&model->pods[pod].gpu_name, utf8_copy(str_from(name), WHY_BYTES));
	model_note_change(model, MODEL_PODS);
}

void model_check_release(struct model_check *check)
{
	for (size_t i = 0; i < check->n_lines; i++)
		free(check->lines[i]);
	*check = (struct model_check){ 0 };
}

void model_check_add(struct model_check *check, struct str line)
{
	if (check->n_lines < MODEL_CHECK_LINES)
		check->lines[check->n_lines++] = utf8_copy(line, LINE_BYTES);
}

void model_pod_set_check(struct model *model, size_t pod, struct model_check *check)
{
	model_check_release(&model->pods[pod].check);
	model->pods[pod].check = *check;
	*check = (struct model_check){ 0 };
	model_note_change(model, MODEL_PODS);
}

static void drop_points(struct model_run *mr)
{
	free_series(mr->series);
	memset(mr->series, 0, sizeof(mr->series));
	own_series_clear(&mr->own);
}

struct model_run *model_run_get(struct model *model, size_t pod, const char *path,
				unsigned int run_index)
{
	AUTO_BUF key = make_key((uint64_t)pod << 32 | run_index, path);
	struct model_run *mr = map_get(&model->run_index, buf_str(&key));

	if (mr == NULL && model->n_runs >= MODEL_MAX_RUNS)
		mr = model->runs[model->n_runs - 1];
	if (mr == NULL) {
		mr = xnew(struct model_run, .number = model->n_runs, .pod = pod,
			  .path = xstrdup(path));
		mr->group = run_names_group(path);
		run_init(&mr->run);
		mr->run.run_index = run_index;
		xpush(model->runs, model->n_runs, model->cap_runs, mr);
		(void)map_set(&model->run_index, buf_str(&key), mr);
		model->names_changed = true;
		note_run_change(model, mr, MODEL_RUNS);
	}
	return mr;
}

void model_run_update(struct model *model, struct model_run *mr, const struct run *run)
{
	if (run != &mr->run) {
		model->names_changed |= !run_same(run->seed, mr->run.seed);
		run_release(&mr->run);
		run_copy(&mr->run, run);
	}
	mr->blank = false;
	note_run_change(model, mr, MODEL_RUNS);
}

void model_run_set_blank(struct model *model, struct model_run *mr, uint64_t lines, int64_t wall_ms,
			 bool live)
{
	mr->blank = true;
	mr->run.lines = lines;
	mr->last_byte_wall_ms = wall_ms;
	mr->live = live;
	note_run_change(model, mr, MODEL_RUNS);
}

void model_run_sample(struct model *model, struct model_run *mr, const struct sample *sample)
{
	const struct series_point point = { sample->step, sample->train_ms, sample->wall_ms,
					    sample->value };

	if (sample->metric < METRIC_COUNT)
		series_push_finite(&mr->series[sample->metric], &point);
	else
		own_series_push(&mr->own, sample->name, &point);
	note_run_change(model, mr, MODEL_SAMPLES);
}

void model_request_series(const struct model *model, const struct model_run *mr)
{
	const struct model_fetch *fetch = &model->fetch;

	if (fetch->want == NULL)
		return;
	/* The model is const for views, but not for the fetcher. */
	fetch->want(fetch->user, (struct model_run *)(uintptr_t)mr);
}

void model_run_set_series(struct model *model, struct model_run *mr,
			  struct series *series[METRIC_COUNT], struct own_series *own,
			  uint64_t last_line)
{
	drop_points(mr);
	mr->own = *own;
	*own = (struct own_series){ NULL, 0 };
	memcpy(mr->series, series, sizeof(mr->series));
	memset(series, 0, sizeof(mr->series));
	mr->history = MODEL_WHOLE;
	mr->stored_line = last_line;
	note_run_change(model, mr, MODEL_SAMPLES);
}

void model_run_append(struct model *model, struct model_run *mr,
		      struct series *const series[METRIC_COUNT], const struct own_series *own,
		      uint64_t last_line)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		for (size_t k = 0; series[i] != NULL && k < series_count(series[i]); k++)
			series_push_finite(&mr->series[i], series_at(series[i], k));
	for (size_t i = 0; i < own->n; i++)
		for (size_t k = 0; k < series_count(own->v[i].series); k++)
			own_series_push(&mr->own, own->v[i].name, series_at(own->v[i].series, k));
	mr->stored_line = last_line;
	note_run_change(model, mr, MODEL_SAMPLES);
}

void model_drop_series(struct model *model, struct model_run *mr)
{
	drop_points(mr);
	mr->history = MODEL_STORED;
	mr->stored_line = 0;
	note_run_change(model, mr, MODEL_SAMPLES);
}

bool model_run_has_points(const struct model_run *mr)
{
	return any_of(i, METRIC_COUNT, mr->series[i] != NULL) || mr->own.n > 0;
}

void model_thin_series(struct model *model, struct model_run *mr)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		struct series *all = mr->series[i];

		if (all == NULL)
			continue;
		mr->series[i] = series_new(SERIES_THIN_POINTS);
		for (size_t k = 0; k < series_count(all); k++)
			series_push(mr->series[i], series_at(all, k));
		series_free(all);
	}
	own_series_clear(&mr->own);
	mr->history = MODEL_STORED;
	note_run_change(model, mr, MODEL_SAMPLES);
}

bool model_run_has_all(const struct model_run *mr, const struct series *series)
{
	const struct run_series *printed = array_find(
		one, mr->run.series, mr->run.n_series,
		series == (one->metric < METRIC_COUNT ? mr->series[one->metric]
						      : own_series_find(&mr->own, one->name)));

	return printed != NULL && printed->points == series_count(series);
}

double model_pod_age_s(const struct model_pod *pod, int64_t now_wall_ms)
{
	double age_s = RUN_ABSENT;

	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (pod->telemetry[i] != NULL)
			age_s = fmin(age_s, (double)(now_wall_ms -
						     series_last(pod->telemetry[i])->wall_ms) /
						    1000);
	return age_s < 0 ? 0 : age_s;
}

/* Did the pod's GPUs report recently, and are they busy? */
static bool is_busy(const struct model_pod *pod, int64_t now_wall_ms)
{
	return model_pod_age_s(pod, now_wall_ms) <= MODEL_OLD_S &&
	       model_last_value(pod->telemetry, METRIC_GPU_UTIL) >= BUSY_PERCENT;
}

double model_peers_mhz(const struct model *model, const struct model_pod *pod, int64_t now_wall_ms)
{
	double values[MAX_PEERS];
	size_t n = 0;

	if (pod->gpu_name == NULL || !is_busy(pod, now_wall_ms))
		return RUN_ABSENT;
	for (size_t i = 0; i < model->n_pods && n < MAX_PEERS; i++) {
		const struct model_pod *peer = &model->pods[i];

		if (peer == pod || peer->gpu_name == NULL ||
		    strcmp(peer->gpu_name, pod->gpu_name) != 0 || !is_busy(peer, now_wall_ms))
			continue;
		values[n] = model_last_value(peer->telemetry, METRIC_GPU_SM_MHZ);
		n += run_has(values[n]);
	}
	return n >= 2 ? sort_median(values, n) : RUN_ABSENT;
}

const char *model_pod_throttle(const struct model_pod *pod, int64_t now_wall_ms)
{
	double told = model_last_value(pod->telemetry, METRIC_GPU_THROTTLE);
	/* bits of NVML's clocks throttle reasons */
	uint64_t bits = told > 0 && is_busy(pod, now_wall_ms) ? (uint64_t)told : 0;

	return bits & 0x60   ? "thermal"
	       : bits & 0x80 ? "power brake"
	       : bits & 0x08 ? "hardware slowdown"
	       : bits & 0x04 ? "power cap"
			     : NULL;
}

double model_last_value(struct series *const series[METRIC_COUNT], enum metric metric)
{
	const struct series_point *last =
		series[metric] != NULL ? series_last(series[metric]) : NULL;

	return last != NULL ? last->value : RUN_ABSENT;
}

/* Return the mean step time over all steps, from which the training time is computed. */
static double mean_ms_per_step(const struct run *run)
{
	if (run_has(run->ms_per_step))
		return run->ms_per_step;
	/* If no step time was printed, tok_s_interval is known only if tok/s counts from the start.
	 * Otherwise one slow step would become the mean of all. */
	if (run_has(run->tok_s_interval) && !run_has(run->step_ms_median) && run->tok_s_last > 0)
		return run->train_batch_tokens / run->tok_s_last * 1000;
	return run->step_avg_printed_ms;
}

double model_run_ms_per_step(const struct model_run *mr)
{
	double mean = mean_ms_per_step(&mr->run);

	return run_has(mean) ? mean : mr->run.step_ms_median;
}

double model_run_tok_s(const struct model_run *mr)
{
	double ms = model_run_ms_per_step(mr);

	if (run_has(mr->run.train_batch_tokens) && run_has(ms) && ms > 0)
		return mr->run.train_batch_tokens / ms * 1000;
	return mr->run.tok_s_interval;
}

static double get_train_ms(const struct run *run)
{
	return run_has(run->train_ms) ? run->train_ms : run->steps * mean_ms_per_step(run);
}

double model_run_train_ms(const struct model_run *mr)
{
	return get_train_ms(&mr->run);
}

double model_eval_elapsed_s(const struct run *run)
{
	double s = (double)(run->eval_last.wall_ms - run->eval_first.wall_ms) / 1000;

	if (!run_has(run->eval_done))
		return RUN_ABSENT;
	if (run_has(run->eval_last.ms))
		return run->eval_last.ms / 1000;
	return run->eval_first.wall_ms > 0 && s > 0 ? s : RUN_ABSENT;
}

double model_eval_left_s(const struct run *run)
{
	double done = run->eval_last.done - run->eval_first.done;
	double s = model_eval_elapsed_s(run) -
		   (run_has(run->eval_last.ms) ? run->eval_first.ms / 1000 : 0);

	return done > 0 && s > 0 ? (run->eval_total - run->eval_last.done) * s / done : RUN_ABSENT;
}

double model_run_old_step(const struct model_run *mr, enum metric metric)
{
	const struct series_point *last = metric < METRIC_COUNT && mr->series[metric] != NULL
						  ? series_last(mr->series[metric])
						  : NULL;

	return last != NULL && last->step < mr->run.steps * (1 - OLD_SHARE) ? last->step
									    : RUN_ABSENT;
}

double model_eval_s(const struct run *run)
{
	return run_has(run->eval_total_s) ? run->eval_total_s : run->eval_s;
}

double model_paid_hours(const struct run *run)
{
	double eval_s = fmax(run->eval_s, run->eval_total_s);

	return (get_train_ms(run) + (run_has(eval_s) ? 1000 * eval_s : 0)) / 3600000;
}

double model_run_cost(const struct model *model, const struct model_run *mr)
{
	double hours = model_paid_hours(&mr->run);

	if (mr->pod >= model->n_pods || mr->blank)
		return RUN_ABSENT;
	/* The pod was paid for as long as the run was followed, also after its end. The arrival of
	 * an older log shows nothing about when its run ended. */
	if (mr->live || !mr->past)
		hours = fmax(hours,
			     (double)(mr->last_byte_wall_ms - mr->first_byte_wall_ms) / 3600000);
	return hours > 0 ? hours * model->pods[mr->pod].usd_per_hour : RUN_ABSENT;
}

double model_run_final_bpb(const struct model_run *mr)
{
	return mr->run.status == RUN_FINISHED ? mr->run.final_bpb : RUN_ABSENT;
}

double model_run_stage_bpb(const struct model_run *mr)
{
	return mr->run.status == RUN_RUNNING ? mr->run.final_bpb : RUN_ABSENT;
}

double model_run_failed_step(const struct model_run *mr)
{
	const struct run *run = &mr->run;

	for (size_t i = 0; i < run->n_events; i++)
		if (run->events[i].kind == RUN_EVENT_NAN && run_has(run->events[i].step))
			return run->events[i].step;
	return run->last_step;
}

const struct run_event *model_run_cause(const struct model_run *mr)
{
	static const unsigned int kinds[] = {
		[RUN_CRASHED] = 1U << RUN_EVENT_TRACEBACK | 1U << RUN_EVENT_CUDA |
				1U << RUN_EVENT_NCCL | 1U << RUN_EVENT_CRASH,
		[RUN_OOM] = 1U << RUN_EVENT_OOM,
		[RUN_DIVERGED] = 1U << RUN_EVENT_NAN,
		[RUN_KILLED] = 1U << RUN_EVENT_KILLED,
		[RUN_UNKNOWN] = 0,
	};
	const struct run *run = &mr->run;
	const struct run_event *last = NULL;

	array_each (event, run->events, run->n_events) {
		/* A row after the event shows that the run went on, unless it diverged. */
		if (event->step < run->last_step && run->status != RUN_DIVERGED)
			continue;
		if (kinds[run->status] & 1U << event->kind)
			return event;
		if (run->status == RUN_CRASHED && event->kind == RUN_EVENT_CHILD_FAILED)
			last = event;
	}
	return last;
}

void model_run_touch(struct model *model, struct model_run *mr, int64_t wall_ms, bool live)
{
	if (mr->first_byte_wall_ms == 0) {
		mr->first_byte_wall_ms = wall_ms;
	} else if (live && wall_ms > mr->last_byte_wall_ms) {
		int64_t gap_ms = wall_ms - mr->last_byte_wall_ms;
		size_t bucket = 0;

		while (bucket + 1 < MODEL_GAP_BUCKETS && gap_ms >> (bucket + 1) > 0)
			bucket++;
		mr->gaps[bucket]++;
		mr->n_gaps++;
	}
	mr->last_byte_wall_ms = wall_ms;
	mr->live = live;
	for (size_t i = 0; !live && i < METRIC_COUNT; i++)
		if (mr->series[i] != NULL)
			series_trim(mr->series[i]);
	note_run_change(model, mr, MODEL_RUNS);
}

void model_release(struct model *model)
{
	array_each (pod, model->pods, model->n_pods) {
		free_series(pod->telemetry);
		free(pod->name);
		free(pod->target);
		free(pod->why);
		free(pod->gpu_name);
		model_check_release(&pod->check);
	}
	pointer_each (mr, model->runs, model->n_runs) {
		drop_points(mr);
		run_release(&mr->run);
		free(mr->path);
		free(mr->group);
		free(mr->name);
		free(mr);
	}
	for (size_t i = 0; i < model->n_logs; i++) {
		close_log_fd(model->logs[i]);
		logclass_release(&model->logs[i]->classes);
		logcame_release(&model->logs[i]->came);
		free(model->logs[i]->path);
		free(model->logs[i]->file);
		free(model->logs[i]->trouble);
		free(model->logs[i]);
	}
	for (size_t i = 0; i < model->n_events; i++)
		free(model->events[i].text);
	free_benches(model);
	free_noise(model);
	free(model->pods);
	free(model->runs);
	free(model->logs);
	free(model->events);
	map_release(&model->run_index, NULL);
	map_release(&model->log_index, NULL);
	memset(model, 0, sizeof(*model));
}
