/* SPDX-License-Identifier: MIT */
/* Apply records to one run, and derive its other values. */
#include "parsers/run_apply.h"

#include "base/buf.h"
#include "parsers/run_series.h"

#define EVENT_TEXT_BYTES 240
#define TRACEBACK_LINES	 400 /* longest traceback */
/* The most lines between a bar and its row. */
#define BAR_LINES 2
/* The highest plausible bits per byte: a model that is certain of wrong bytes needs more than 8. */
#define MAX_BPB 64

void run_state_init(struct run_state *state)
{
	memset(state, 0, sizeof(*state));
	run_init(&state->run);
	state->first_step = state->val_step = state->val_line = RUN_ABSENT;
	state->first_epoch = state->epoch = RUN_ABSENT;
	state->stop_ms = state->artifact = RUN_ABSENT;
	state->bar_step = state->bar_total = RUN_ABSENT;
	state->row_step = state->row_total = state->row_gap = RUN_ABSENT;
	state->counts.epoch = state->counts.unit =
		(struct row_count){ .value = RUN_ABSENT, .total = RUN_ABSENT };
	state->exact = state->first_exact = state->rebuilt = state->interval =
		(struct row_time){ RUN_ABSENT, RUN_ABSENT };
}

void run_state_release(struct run_state *state)
{
	run_release(&state->run);
	median_release(&state->step_ms);
	free(state->results.items);
	free(state->end_text);
}

/* Return the tokens per second of the last interval, or absent. */
static double interval_tok_s(const struct run_state *s)
{
	return s->run.train_batch_tokens * s->interval.step / s->interval.ms * 1000;
}

static bool is_loss_only(const struct run_state *s)
{
	return run_has(s->val_step) && !s->has_bpb;
}

/* Arguments of run_state_apply. */
struct apply {
	struct run_state *state;
	const struct record *record;
	const struct log_line *place;
	const struct run_sink *sink;
};

/* Report a sample at the last row; for METRIC_COUNT, of the series `name`. */
static void report_point(const struct apply *a, enum metric metric, const char *name, double value)
{
	struct run_state *s = a->state;

	if (a->sink == NULL || a->sink->sample == NULL || !isfinite(value) ||
	    (metric == METRIC_COUNT && name == NULL))
		return;
	/* training time at the last row: printed there, or computed from a rate */
	double ms = s->exact.step == s->run.last_step ? s->exact.ms
		    : run_has(s->exact.ms)	      ? RUN_ABSENT
					   : s->rebuilt.ms / s->rebuilt.step * s->run.last_step;
	const struct sample sample = { .step = s->run.last_step,
				       .metric = metric,
				       .name = name,
				       .value = value,
				       .train_ms = ms,
				       .wall_ms = a->place->wall_ms,
				       .line = a->place->line,
				       .known = s->known };
	a->sink->sample(a->sink->user, &s->run, &sample);
}

/* Find the series of one of the record's pairs; NULL if there are too many. */
static struct run_series *find_series(const struct apply *a, const struct record_pair *pair,
				      enum metric metric)
{
	const struct record_memo *memo = a->record->memo;
	struct run *run = &a->state->run;

	if (memo != NULL && memo->runs == run->run_index + 1)
		return &run->series[memo->series[pair - a->record->pairs]];
	return run_series_get(run, pair->name, pair->unit, metric);
}

/* Find the first pair with the record's value of that metric; NULL: none. */
static const struct record_pair *find_pair(const struct record *record, enum metric metric)
{
	return array_find(pair, record->pairs, record->n_pairs,
			  pair->metric == metric && record_has(record, metric) &&
				  run_same(record->values[metric], pair->value * pair->scale));
}

static void report_value(const struct apply *a, enum metric metric, double value)
{
	const struct record_pair *pair = find_pair(a->record, metric);
	struct run *run = &a->state->run;
	struct run_series *series =
		pair == NULL ? run_series_get_metric(run, metric) : find_series(a, pair, metric);

	if (series != NULL && pair != NULL)
		series->scale = pair->scale;
	if (series != NULL)
		run_series_add(series, pair == NULL ? value : pair->value, run->last_step);
	report_point(a, metric, NULL, value);
}

/* Metrics that apply_row and its callers report. */
#define ROW_METRICS                                                          \
	((uint64_t)1 << METRIC_TRAIN_LOSS | (uint64_t)1 << METRIC_VAL_LOSS | \
	 (uint64_t)1 << METRIC_VAL_BPB | (uint64_t)1 << METRIC_FITNESS |     \
	 (uint64_t)1 << METRIC_STEP_MS | (uint64_t)1 << METRIC_STEP_AVG_MS | \
	 (uint64_t)1 << METRIC_TOK_S | (uint64_t)1 << METRIC_TOK_S_DEVICE)

/* Add the named numbers of a row to their series, in the order of printing. The first of two equal
 * names counts. A number whose metric has another value is a series without a metric. */
static void report_pairs(const struct apply *a)
{
	struct run *run = &a->state->run;
	struct record_memo *memo = a->record->memo;
	bool all = memo != NULL;

	for (size_t i = 0; i < a->record->n_pairs; i++) {
		const struct record_pair *pair = &a->record->pairs[i];
		bool is_own = pair->metric == METRIC_COUNT ||
			      (memo == NULL && find_pair(a->record, pair->metric) != pair);
		enum metric metric = is_own ? METRIC_COUNT : pair->metric;

		if (memo == NULL && any_of(k, i, str_eq(pair->name, a->record->pairs[k].name)))
			continue;
		struct run_series *series = find_series(a, pair, metric);
		all = all && series != NULL;
		if (all)
			memo->series[i] = (unsigned char)(series - run->series);
		if (series == NULL || (!is_own && (ROW_METRICS >> metric & 1) != 0))
			continue;
		if (!is_own)
			series->scale = pair->scale;
		run_series_add(series, pair->value, run->last_step);
		report_point(a, metric, is_own ? run_series_shared_name(series) : NULL,
			     is_own ? pair->value : pair->value * pair->scale);
	}
	if (all)
		memo->runs = run->run_index + 1;
}

static char *copy_event_text(struct str text)
{
	return xstrndup(text.p, text.len < EVENT_TEXT_BYTES ? text.len : EVENT_TEXT_BYTES);
}

static void add_event(const struct apply *a, enum run_event_kind kind)
{
	struct run *run = &a->state->run;

	if (run->n_events == RUN_MAX_EVENTS) {
		run->events_dropped++;
		return;
	}
	if (run->n_events % 8 == 0)
		run->events = xreallocarray(run->events, run->n_events + 8, sizeof(*run->events));
	struct run_event *event = &run->events[run->n_events++];
	*event = (struct run_event){ .line = a->place->line,
				     .kind = kind,
				     .step = run->last_step,
				     .text = copy_event_text(a->place->text) };
	if (a->sink != NULL && a->sink->event != NULL)
		a->sink->event(a->sink->user, run, event);
}

/* Report a loss that is not finite as an event, and again only after the loss has recovered. */
static void check_finite(const struct apply *a, double value)
{
	struct run_state *s = a->state;

	if (!isfinite(value) && (s->is & IS_NOT_FINITE) == 0)
		add_event(a, RUN_EVENT_NAN);
	s->is = isfinite(value) ? s->is & ~(unsigned int)IS_NOT_FINITE : s->is | IS_NOT_FINITE;
}

/* Copy a metric to a member of the run, if the record has it. */
static void copy_metric(const struct record *record, enum metric metric, double *member)
{
	if (record_has(record, metric) && isfinite(record->values[metric]))
		*member = record->values[metric];
}

/* Report the interval since the previous row with a time of the same kind. */
static void report_interval(const struct apply *a, struct row_time *before, struct row_time now)
{
	struct run_state *s = a->state;
	struct row_time passed = { now.step - before->step, now.ms - before->ms };
	bool known = before->step > 0 && passed.step > 0 && passed.ms > 0;

	*before = now;
	if (!known)
		return;
	s->interval = passed;
	/* derived from the rows; no row prints them */
	report_point(a, METRIC_MS_PER_STEP, NULL, passed.ms / passed.step);
	report_point(a, METRIC_TOK_S_INTERVAL, NULL, interval_tok_s(s));
}

static void report_row_time(const struct apply *a, double step)
{
	struct run_state *s = a->state;
	double ms = record_get(a->record, METRIC_TRAIN_MS);
	double tok_s = record_get(a->record, METRIC_TOK_S);

	if (!(step > 0))
		return;
	if (run_has(ms) && ms > 0) {
		/* The times that ranks print for the same step differ slightly. */
		double latest = step == s->exact.step ? ms + ms / 10 : ms;

		if (!run_has(s->first_exact.ms))
			s->first_exact = (struct row_time){ step, ms };
		/* If the clock goes back, the run was resumed. */
		if (s->exact.step >= RUN_CLOCK_FREE_STEPS && step >= s->exact.step &&
		    latest < s->exact.ms)
			s->clock_restarted = true;
		if (run_has(s->exact.step) && step == s->exact.step)
			s->exact.ms = fmax(ms, s->exact.ms); /* a validation or a repeated row */
		else
			report_interval(a, &s->exact, (struct row_time){ step, ms });
	} else if (a->record->rule->cumulative && tok_s > 0 && run_has(s->run.train_batch_tokens)) {
		/* tok/s = step * batch / seconds since the start */
		ms = step * s->run.train_batch_tokens / tok_s * 1000;
		report_interval(a, &s->rebuilt, (struct row_time){ step, ms });
	}
}

static void report_metric(const struct apply *a, enum metric metric)
{
	if (record_has(a->record, metric))
		report_value(a, metric, a->record->values[metric]);
}

/* Apply what training and validation rows have in common. */
static void apply_row(const struct apply *a)
{
	struct run_state *s = a->state;
	double step = record_get(a->record, METRIC_STEP);
	double avg_ms = record_get(a->record, METRIC_STEP_AVG_MS);
	double step_ms = record_get(a->record, METRIC_STEP_MS);

	/* A higher step (or the first one) shows that training continues, so earlier results and
	 * sizes belong to an older model. Two exceptions: the steps may be those of test-time
	 * training, and a summary after the end has no step. */
	if (!(step <= s->run.last_step) && (run_has(step) || (s->is & IS_ENDED) == 0) &&
	    !(run_has(s->first_step) && run_results_any(&s->results, RUN_STAGE(STAGE_TTT)))) {
		s->results.n = 0;
		s->is &= ~(unsigned int)(IS_PACKED | IS_EVALUATING);
		s->stop_ms = RUN_ABSENT;
	}
	if (!run_has(s->first_step))
		s->first_step = step;
	if (step > s->run.last_step)
		s->row_gap = step - s->run.last_step;
	if (run_has(step))
		s->run.last_step = step;
	copy_metric(a->record, METRIC_PLANNED, &s->run.planned_steps);
	copy_metric(a->record, METRIC_PEAK_MEM_MIB, &s->run.peak_mem_mib);
	if (run_has(step))
		report_row_time(a, step);
	report_pairs(a);
	if (isfinite(avg_ms) && s->run.last_step > 0) {
		s->run.step_avg_printed_ms = avg_ms;
		report_value(a, METRIC_STEP_AVG_MS, avg_ms);
	}
	if (run_has(step_ms))
		median_add(&s->step_ms, step_ms);
	report_metric(a, METRIC_STEP_MS);
	copy_metric(a->record, METRIC_TOK_S_DEVICE, &s->run.tok_s_per_device_last);
	report_metric(a, METRIC_TOK_S_DEVICE);
}

/* Set the step that a bar shows; clear no failure, since a failing program draws its bar again. */
static void move_to_step(struct run_state *s, double step)
{
	if (step <= s->run.last_step)
		return;
	s->is |= IS_ACTIVE;
	if (!run_has(s->first_step))
		s->first_step = step;
	s->run.last_step = step;
}

/* Take the plan of a row, and its step if it has none, from the bar before it, which may still show
 * the previous step. Evaluations have bars too, and buffering may move a row after such a bar, so
 * the previous row must have followed the same bar at a lower step. */
static void check_bar(const struct apply *a)
{
	struct run_state *s = a->state;
	double step = record_get(a->record, METRIC_STEP);

	if (a->place->line - s->bar_line > BAR_LINES || run_has(s->run.planned_steps) ||
	    (run_has(step) && step != s->bar_step && step != s->bar_step + 1))
		return;
	if (s->row_total == s->bar_total && s->row_step < s->bar_step) {
		s->run.planned_steps = s->bar_total;
		if (!run_has(step)) {
			s->last = LAST_PLAN;
			move_to_step(s, s->bar_step);
		}
	}
	s->row_step = s->bar_step;
	s->row_total = s->bar_total;
}

static void apply_step(const struct apply *a)
{
	struct run_state *s = a->state;

	if (record_get(a->record, METRIC_STEP) == 0)
		return; /* a line of the set-up */
	s->bar_step = record_get(a->record, METRIC_STEP);
	s->bar_total = record_get(a->record, METRIC_PLANNED);
	s->bar_line = a->place->line;
	if (run_has(s->bar_total)) {
		if (s->bar_total == s->run.planned_steps)
			move_to_step(s, s->bar_step);
		return;
	}
	if (!s->has_steps) /* the trainer prints no steps: use the bar's count */
		move_to_step(s, s->bar_step);
	report_pairs(a);
}

static void apply_train_numbers(const struct apply *a)
{
	struct run_state *s = a->state;
	double tok_s = record_get(a->record, METRIC_TOK_S);

	if (record_has(a->record, METRIC_TRAIN_LOSS)) {
		s->run.last_train_loss = a->record->values[METRIC_TRAIN_LOSS];
		check_finite(a, s->run.last_train_loss);
	}
	report_metric(a, METRIC_TRAIN_LOSS);
	report_metric(a, METRIC_FITNESS);
	if (isfinite(tok_s)) {
		s->run.tok_s_last = tok_s;
		s->tok_s_sum += tok_s;
		s->tok_s_n++;
		report_value(a, METRIC_TOK_S, tok_s);
	}
}

/* Is the value the known loss, repeated by a bar or a table with fewer decimals? */
static bool is_known_loss(const struct apply *a)
{
	double value = record_get(a->record, METRIC_VAL_LOSS), unit;

	if (!a->record->rule->rounded || !isfinite(value))
		return false;
	unit = fmax(1e-3, pow(10, floor(log10(fabs(value))) - 2)); /* three digits, or decimals */
	while (unit > 1e-6 && fabs(value / unit - round(value / unit)) > 1e-6)
		unit /= 10;
	return fabs(a->state->run.last_val_loss - value) <= unit * 0.5001;
}

static void apply_val_numbers(const struct apply *a)
{
	struct run_state *s = a->state;

	s->val_step = s->run.last_step;
	s->val_line = (double)a->place->line;
	if (record_has(a->record, METRIC_VAL_LOSS) && !is_known_loss(a)) {
		s->run.last_val_loss = a->record->values[METRIC_VAL_LOSS];
		check_finite(a, s->run.last_val_loss);
		report_metric(a, METRIC_VAL_LOSS);
	}
	if (!record_has(a->record, METRIC_VAL_BPB))
		return;
	s->has_bpb = true;
	s->run.last_val_bpb = a->record->values[METRIC_VAL_BPB];
	report_value(a, METRIC_VAL_BPB, s->run.last_val_bpb);
}

/* Does the row draw the last bar, "3:  80%", again or, after the end, further? A bar is drawn again
 * when its program fails, and buffered bars of the last epoch follow the end of the training. A bar
 * that starts again there belongs to another training. */
static bool is_same_bar(const struct run_state *s, const struct record *record)
{
	size_t epoch = index_of(i, record->text.len, record->text.p[i] == ':') + 1;
	char place[sizeof(s->bar_place)];

	if (record->text.len == 0)
		return false;
	print_into(place, "%.*s", (int)record->text.len, record->text.p);
	if (strncmp(place, s->bar_place, epoch) != 0)
		return false;
	int further = strcmp(place, s->bar_place);
	return ((s->is & IS_ENDED) != 0 && further >= 0) ||
	       (further == 0 &&
		run_same(record_get(record, METRIC_TRAIN_LOSS), s->run.last_train_loss));
}

/* Apply a training row, which may also contain the numbers of a validation. */
static void apply_train(const struct apply *a)
{
	struct run_state *s = a->state;

	check_bar(a);
	s->last = a->record->rule->last;
	s->row_format = a->record->rule->format;
	/* A bar may be drawn once more after the end. */
	bool is_redrawn = (s->is & IS_ENDED) != 0 &&
			  (a->place->line - s->end_line <= BAR_LINES || is_same_bar(s, a->record));
	if (a->record->text.len > 0)
		print_into(s->bar_place, "%.*s", (int)a->record->text.len, a->record->text.p);
	double step = record_get(a->record, METRIC_STEP);
	if (step > s->run.last_step || (!(step <= s->run.last_step) && !is_redrawn))
		s->is &= ~(unsigned int)(IS_ENDED | IS_LEFT);
	apply_row(a);
	s->has_steps = s->has_steps || record_has(a->record, METRIC_STEP);
	if (s->val_open && s->last == LAST_VAL)
		s->val_step = s->run.last_step;
	s->val_open = false;
	s->row_is_last = true;
	apply_train_numbers(a);
	if (record_has(a->record, METRIC_VAL_LOSS) || record_has(a->record, METRIC_VAL_BPB))
		apply_val_numbers(a);
	if (a->record->mode.len > 0) /* the trainer calls this loss a failure and stops */
		check_finite(a, (double)NAN);
}

static void apply_val(const struct apply *a)
{
	apply_row(a);
	a->state->row_is_last = false;
	a->state->val_open = !record_has(a->record, METRIC_STEP);
	apply_val_numbers(a);
	apply_train_numbers(a);
}

static void apply_stop(const struct apply *a)
{
	struct run_state *s = a->state;

	copy_metric(a->record, METRIC_TRAIN_MS, &s->stop_ms);
	copy_metric(a->record, METRIC_STEP, &s->run.last_step);
	s->stop_has_step = record_has(a->record, METRIC_STEP);
	copy_metric(a->record, METRIC_PLANNED, &s->run.planned_steps);
	add_event(a, RUN_EVENT_EARLY_STOP);
}

bool run_state_is_early(const struct run_state *s, const struct record *record)
{
	bool over = (s->is & (IS_STOPPED | IS_ENDED)) != 0 || s->results.n > 0 ||
		    (run_has(s->run.planned_steps) && s->run.last_step >= s->run.planned_steps);

	return record->rule->stage == STAGE_UNKNOWN && record->stage.len > 0 && !over;
}

static void apply_result(const struct apply *a)
{
	struct run_state *s = a->state;
	struct result r = { .stage = a->record->rule->stage,
			    .val_loss = record_get(a->record, METRIC_VAL_LOSS),
			    .bpb = record_get(a->record, METRIC_VAL_BPB),
			    .eval_ms = record_get(a->record, METRIC_EVAL_MS),
			    .line = a->place->line,
			    .packs = s->packs };
	size_t n = a->record->stage.len;

	if (r.stage != STAGE_UNKNOWN || !is_loss_only(s))
		s->is |= IS_PACKED;
	s->run.eval_done = s->run.eval_total = s->run.running_bpb = RUN_ABSENT;
	copy_metric(a->record, METRIC_EVAL_TOTAL_S, &s->run.eval_total_s);
	if (n == 0)
		return;
	if (!record_has(a->record, METRIC_VAL_BPB)) {
		r.bpb = 0; /* the format of the BPB is unknown */
	} else if (!isfinite(r.bpb)) {
		check_finite(a, r.bpb);
		r.bpb = (double)INFINITY;
	}
	if (!(r.eval_ms > 0))
		r.eval_ms = RUN_ABSENT;
	s->is_sliding = s->is_sliding && r.stage == STAGE_ROUNDTRIP;
	/* the figure is 0, unreadable or not in bits per byte, or the log contradicts its stage */
	bool is_roundtrip = r.stage == STAGE_ROUNDTRIP;
	bool is_sliding = s->sliding_mode || s->is_sliding;
	if (r.bpb <= 0 || r.bpb > MAX_BPB || (is_roundtrip && !is_sliding && s->odd_mode))
		r.stage = STAGE_UNKNOWN;
	else if (is_roundtrip && is_sliding)
		r.stage = STAGE_SLIDING;
	s->evaluated = s->evaluated || (s->own != 0 && !run_has(s->first_step));
	if (n >= sizeof(r.label))
		n = sizeof(r.label) - 1;
	memcpy(r.label, n > 0 ? a->record->stage.p : "", n);
	run_results_add(&s->results, &r);
}

static void apply_size(const struct apply *a)
{
	struct run_state *s = a->state;
	struct run *run = &s->run;
	double bytes = record_get(a->record, METRIC_ARTIFACT_BYTES);
	struct str label = a->record->text;
	size_t n = label.len < sizeof(s->size_label) ? label.len : sizeof(s->size_label);
	bool is_same = n == s->size_label_len && (n == 0 || memcmp(label.p, s->size_label, n) == 0);

	/* Of sizes with one label the last counts; another label may mean another artifact. */
	if (run_has(bytes)) {
		if (run_has(s->artifact) && !is_same && bytes != s->artifact)
			s->artifact_unclear = true;
		s->artifact = bytes;
		s->packs++;
		s->size_label_len = n;
		if (n > 0)
			memcpy(s->size_label, label.p, n);
		run->artifact_bytes = s->artifact_unclear ? RUN_ABSENT : bytes;
	}
	copy_metric(a->record, METRIC_CODE_BYTES, &run->code_bytes);
	copy_metric(a->record, METRIC_MODEL_BYTES, &run->model_bytes);
	copy_metric(a->record, METRIC_PEAK_MEM_MIB, &run->peak_mem_mib);
	if (!record_has(a->record, METRIC_PEAK_MEM_MIB))
		s->is |= IS_PACKED;
}

static void report_figure(const struct apply *a, const char *name)
{
	struct run_state *s = a->state;
	double value = record_get(a->record, METRIC_SCORE);
	struct run_series *series = isfinite(value)
					    ? run_series_get(&s->run, str_from(name),
							     (struct str){ NULL, 0 }, METRIC_COUNT)
					    : NULL;

	if (series == NULL)
		return;
	run_series_add(series, value, s->run.last_step);
	report_point(a, METRIC_COUNT, series->name, value);
}

static void apply_setting(const struct apply *a)
{
	struct run_state *s = a->state;
	struct run *run = &s->run;
	struct str mode = a->record->mode;
	double seed = record_get(a->record, METRIC_SEED);
	bool is_repeated = (s->own >> METRIC_SEED & 1) != 0 && (s->is & IS_FATAL) == 0;

	if (run_has(seed)) {
		/* Two different seeds before the run starts: neither is certain. */
		s->seed_unclear = is_repeated && (s->seed_unclear || seed != run->seed);
		run->seed = s->seed_unclear ? RUN_ABSENT : seed;
	}
	copy_metric(a->record, METRIC_N_GPUS, &run->n_gpus);
	copy_metric(a->record, METRIC_TRAIN_BATCH_TOKENS, &run->train_batch_tokens);
	copy_metric(a->record, METRIC_VAL_TOKENS, &run->val_tokens);
	copy_metric(a->record, METRIC_TARGET_TOKENS, &run->target_tokens);
	copy_metric(a->record, METRIC_PLANNED, &run->planned_steps);
	copy_metric(a->record, METRIC_CAP_S, &run->cap_s);
	/* A track may need a setting that has no member in struct run. */
	report_figure(a, a->record->rule->name);
	s->own |= a->record->present;
	/* The mode shows what the next label means, or which evaluation is still to come. */
	if (str_eq_cstr(mode, "sliding_window"))
		s->sliding_mode = true;
	else if (str_eq_cstr(mode, "sliding_window_enabled"))
		s->wants_sliding = true;
	else if (str_eq_cstr(mode, "ttt_enabled"))
		s->wants_ttt = true;
	else if (mode.len > 0)
		s->odd_mode = true;
}

static void set_end(const struct apply *a)
{
	a->state->is |= IS_ENDED;
	a->state->end_line = a->place->line;
	free(a->state->end_text);
	a->state->end_text = copy_event_text(str_trim(a->place->text));
}

/* Store a figure of an evaluation under the name of its task, which is printed once, and its
 * metric. If nothing was trained, the figure completes the run. */
static void apply_score(const struct apply *a)
{
	struct run_state *s = a->state;
	struct str task = str_trim(a->record->stage), mode = str_trim(a->record->mode);
	char name[2 * SERIES_NAME_BYTES];

	if ((s->is & IS_ACTIVE) == 0)
		set_end(a);
	report_pairs(a);
	while (task.len > 0 && (task.p[0] == '-' || task.p[0] == ' '))
		task = str_skip(task, 1);
	if (task.len > 0)
		print_into(s->task, "%.*s", (int)task.len, task.p);
	print_into(name, "%s%s%.*s", s->task, mode.len > 0 ? "/" : "", (int)mode.len, mode.p);
	report_figure(a, name);
}

static void apply_progress(const struct apply *a)
{
	struct run *run = &a->state->run;
	const struct run_progress row = { record_get(a->record, METRIC_DONE),
					  record_get(a->record, METRIC_EVAL_MS),
					  a->place->wall_ms };
	double total = record_get(a->record, METRIC_TOTAL);

	if (!(total == run->eval_total && row.done > run->eval_last.done))
		run->eval_first = row;
	run->eval_last = row;
	a->state->eval_line = a->place->line;
	a->state->is_sliding = str_eq_cstr(a->record->mode, "sliding");
	run->eval_done = row.done;
	run->eval_total = total;
	copy_metric(a->record, METRIC_RUNNING_BPB, &run->running_bpb);
}

/* Is the line the name of a Python exception, alone or followed by a colon and a message? The name
 * has a module or a usual ending, as other ranks and threads print lines into a traceback. */
static bool is_exception(struct str text)
{
	static const char *const ends[] = { "Error",   "Exception", "Exit",
					    "Expired", "Interrupt", "Warning",
					    "Failure", "Iteration", "Timeout" };
	size_t n = 0, dots = 0;

	while (n < text.len && (str_is_word(text.p[n]) || text.p[n] == '.'))
		dots += text.p[n++] == '.';
	if (n == 0 || text.p[0] <= '9' || text.p[n - 1] == '.' ||
	    (n < text.len && (text.p[n] != ':' || (n + 1 < text.len && text.p[n + 1] != ' '))))
		return false;
	if (dots > 0 && n < text.len)
		return true;
	text.len = n;
	return any_of(i, LENGTH(ends), str_ends_with(text, ends[i]));
}

void run_state_name_exception(struct run_state *s, uint64_t line, struct str text)
{
	if (s->unnamed == 0)
		return;
	struct run_event *event = &s->run.events[s->unnamed - 1];
	if (line > event->line + TRACEBACK_LINES)
		s->unnamed = 0;
	if (s->unnamed == 0 || !is_exception(text))
		return;
	free(event->text);
	event->text = copy_event_text(text);
	s->unnamed = 0;
}

/* Do the settings announce a result that is missing? Test-time training is the last evaluation. */
static bool awaits_result(const struct run_state *s)
{
	const struct run_results *all = &s->results;

	/* an unknown evaluation may be the expected one */
	if (run_results_any(all, RUN_STAGE(STAGE_UNKNOWN) | RUN_STAGE(STAGE_TTT)))
		return false;
	return s->wants_ttt ||
	       (s->wants_sliding && !run_results_any(all, RUN_STAGE(STAGE_SLIDING)));
}

/* Does the run have a result that no later evaluation can replace as its score? After a failure,
 * only a result of a known stage counts. */
static bool has_score(const struct run_state *s, bool has_failed)
{
	bool is_known = has_failed || is_loss_only(s);

	return run_results_any(&s->results, is_known ? RUN_KNOWN_POST : RUN_POST) &&
	       (s->is & IS_EVALUATING) == 0 && !awaits_result(s);
}

static bool is_complete(struct run_state *s);

static void apply_event(const struct apply *a)
{
	struct run_state *s = a->state;
	const struct rule *rule = a->record->rule;
	/* A failure after the score happened during teardown. */
	bool is_late =
		(s->is & IS_LEFT) != 0 || has_score(s, true) || (rule->launcher && is_complete(s));
	bool harmless = is_late || (s->survives && rule->event == RUN_EVENT_TRACEBACK);

	s->survives = a->record->mode.len > 0;
	add_event(a, harmless && rule->fatal ? RUN_EVENT_WARNING : rule->event);
	if (rule->event == RUN_EVENT_TRACEBACK)
		s->unnamed = s->run.events_dropped == 0 ? s->run.n_events : 0;
	if (is_late && rule->fatal && s->late_failure == 0 && s->run.events_dropped == 0)
		s->late_failure = s->run.n_events;
	if (harmless || !rule->fatal)
		return;
	/* After a crash, launchers kill the other ranks; otherwise a user killed the run. */
	if (rule->event == RUN_EVENT_KILLED && ((s->is & IS_FATAL) == 0 || a->record->text.len > 0))
		s->is |= IS_KILLED;
	s->is |= rule->event == RUN_EVENT_NAN ? IS_NOT_FINITE : IS_FATAL;
	if (rule->event == RUN_EVENT_OOM)
		s->is |= IS_OOM;
	if (s->failure == 0 && s->run.events_dropped == 0)
		s->failure = s->run.n_events;
}

static void apply_end(const struct apply *a)
{
	struct run_state *s = a->state;

	check_bar(a);
	set_end(a);
	s->is &= ~(unsigned int)IS_LEFT;
	if (a->record->rule->fatal && a->record->rule->format == s->row_format)
		s->is |= IS_LEFT;
	copy_metric(a->record, METRIC_STEP, &s->run.last_step);
	if (a->record->rule->cumulative) {
		copy_metric(a->record, METRIC_TRAIN_MS, &s->stop_ms);
		s->stop_has_step = true; /* the time belongs to the last step */
	}
	copy_metric(a->record, METRIC_PEAK_MEM_MIB, &s->run.peak_mem_mib);
}

#define FAILURES (IS_FATAL | IS_OOM | IS_KILLED)

/* The flags that a record of each kind sets and clears, and the function that applies it. A row or
 * a result after a failure shows that the run continued. */
static const struct action {
	unsigned int set, clear;
	void (*apply)(const struct apply *a);
} actions[] = {
	[RULE_TRAIN] = { IS_ACTIVE, FAILURES, apply_train },
	[RULE_VAL] = { IS_ACTIVE, FAILURES, apply_val },
	[RULE_WARMUP] = { IS_ACTIVE, FAILURES, NULL },
	[RULE_STOP] = { IS_ACTIVE | IS_STOPPED, FAILURES, apply_stop },
	[RULE_RESULT] = { IS_ACTIVE, FAILURES | IS_EVALUATING, apply_result },
	[RULE_SIZE] = { 0, 0, apply_size },
	[RULE_SETTING] = { 0, 0, apply_setting },
	[RULE_PROGRESS] = { IS_ACTIVE | IS_PACKED | IS_EVALUATING, FAILURES, apply_progress },
	[RULE_EVENT] = { 0, 0, apply_event },
	[RULE_END] = { 0, 0, apply_end },
	[RULE_STEP] = { 0, 0, apply_step },
	[RULE_SCORE] = { 0, FAILURES, apply_score },
	[RULE_IGNORE] = { 0, 0, NULL },
};

void run_state_apply(struct run_state *state, const struct record *record,
		     const struct log_line *place, const struct run_sink *sink)
{
	const struct action *action = &actions[record->rule->kind];
	const struct apply a = { state, record, place, sink };

	if (record->rule->kind == RULE_VAL && run_results_any(&state->results, RUN_KNOWN_POST) &&
	    record_get(record, METRIC_STEP) <= state->run.last_step)
		return; /* validates the packed model, not the training */
	unsigned int clear = is_same_bar(state, record) ? 0 : action->clear;
	state->is = (state->is & ~clear) | action->set;
	if ((clear & FAILURES) != 0)
		state->failure = state->late_failure = 0;
	if (action->apply != NULL)
		action->apply(&a);
}

static void derive_times(struct run_state *s)
{
	struct run *run = &s->run;
	struct row_time first = s->first_exact;
	double rate = (s->exact.ms - first.ms) / (s->exact.step - first.step);
	/* The clock of a resumed run may start again at a later step. */
	bool is_late = first.step >= RUN_CLOCK_FREE_STEPS && isfinite(rate) &&
		       first.ms < rate * first.step / 5;
	bool is_last_row = s->exact.step == run->last_step &&
			   s->stop_ms <= s->exact.ms * (1 + 1.5 / s->exact.step);

	/* If a stop line has a time but no step, training may have continued after the last row. */
	run->steps = run_has(s->stop_ms) && !s->stop_has_step && !is_last_row ? RUN_ABSENT
									      : run->last_step;
	if (run_has(s->stop_ms))
		run->train_ms = s->stop_ms;
	else if (run_has(s->exact.ms) && s->exact.step == run->steps)
		run->train_ms = s->exact.ms;
	else
		run->train_ms = RUN_ABSENT;
	if (s->clock_restarted || is_late || run->train_ms <= 0)
		run->train_ms = RUN_ABSENT;
	run->ms_per_step = RUN_ABSENT;
	run->tok_s_derived = RUN_ABSENT;
	run->tok_s_interval = interval_tok_s(s);
	if (run_has(run->train_ms) && run->steps > 0 && run->train_ms > 0) {
		run->ms_per_step = run->train_ms / run->steps;
		run->tok_s_derived = run->train_batch_tokens * run->steps / run->train_ms * 1000;
	}
	if (s->tok_s_n > 0)
		run->tok_s_mean = s->tok_s_sum / (double)s->tok_s_n;
}

/* Has the counter reached its total, total - 1 if it may start at 0, or the last printed value? */
static bool is_full(struct row_count count)
{
	double left = count.total - count.value;

	return left <= !count.from_one || left < count.gap || (left == count.gap && count.has_zero);
}

/* Is a counter short of its total? The last rows may be missing if not every step is printed. */
static bool misses_plan(const struct run_state *s)
{
	const struct run *run = &s->run;
	double left = run->planned_steps - run->steps;

	if (run_has(s->counts.epoch.total) && !is_full(s->counts.epoch))
		return true;
	if (run_has(run->planned_steps))
		return !(left <= 0 || left < s->row_gap ||
			 (left <= s->row_gap && s->first_step == 0));
	return run_has(s->counts.unit.total) && !is_full(s->counts.unit);
}

/* Have the rows reached the last row, as far as the log shows? */
static bool has_reached_last(const struct run_state *s)
{
	const struct run *run = &s->run;
	bool is_planned = run_has(run->planned_steps);
	bool has_val = s->val_step == run->steps;

	switch (s->last) {
	case LAST_VAL:
		return run->steps > 0 && has_val && s->row_is_last;
	case LAST_PLAN:
		return is_planned && run->steps >= run->planned_steps;
	case LAST_BEFORE_PLAN:
		if (s->counts.unit.may_restart)
			return false;
		if (is_planned && run->steps + 1 >= run->planned_steps)
			return !run_has(s->counts.epoch.total) || is_full(s->counts.epoch);
		return (is_planned || run_has(s->counts.epoch.total)) && !misses_plan(s);
	case LAST_PLAN_AND_VAL:
		break;
	}
	return is_planned && run->steps > 0 && run->steps >= run->planned_steps &&
	       (!run_has(s->val_step) || has_val);
}

/* Did the run end before its launcher failed? It printed its end or score; no result is missing. */
static bool is_complete(struct run_state *s)
{
	derive_times(s);
	if ((s->is & IS_EVALUATING) != 0 || ((s->is & IS_PACKED) != 0 && s->results.n == 0))
		return false;
	return (s->is & IS_ENDED) != 0 ||
	       (is_loss_only(s) && s->val_step == s->run.steps && has_reached_last(s));
}

/* Return the status of a run that has not ended: failed, diverged or running. */
static enum run_status live_status(const struct run_state *s)
{
	if ((s->is & IS_OOM) != 0)
		return RUN_OOM;
	if ((s->is & IS_FATAL) != 0)
		return (s->is & IS_KILLED) != 0 ? RUN_KILLED : RUN_CRASHED;
	return (s->is & IS_NOT_FINITE) != 0 ? RUN_DIVERGED : RUN_RUNNING;
}

/* Set the reason for a status, and return the status. */
LIKE_PRINTF(3, 4)
static enum run_status conclude(struct run_state *s, enum run_status status, const char *format,
				...)
{
	AUTO_BUF text = buf_new(2 * EVENT_TEXT_BYTES);

	buf_append_args(&text, format);
	if (status == RUN_FINISHED && s->late_failure != 0) {
		const struct run_event *late = &s->run.events[s->late_failure - 1];

		buf_appendf(&text, "; then line %llu: %s", (unsigned long long)late->line,
			    late->text);
	}
	s->run.status_reason = xstrndup(text.data, text.len);
	return status;
}

/* The same, with the plan and the progress of the rows as the reason: "step 400 of 1000". */
static enum run_status conclude_plan(struct run_state *s, enum run_status status)
{
	const struct row_count *epoch = &s->counts.epoch, *unit = &s->counts.unit;
	const struct run *run = &s->run;

	if (run_has(epoch->total) && !(run_has(run->planned_steps) && is_full(*epoch)))
		return conclude(s, status, "epoch %g of %g", epoch->value, epoch->total);
	if (run_has(run->planned_steps) && !run_has(run->steps))
		return conclude(s, status, "%.0f steps are planned, but no row has a step",
				run->planned_steps);
	if (run_has(run->planned_steps))
		return conclude(s, status, "step %.0f of %.0f", run->steps, run->planned_steps);
	if (run_has(unit->total))
		return conclude(s, status, "%g of %g", unit->value, unit->total);
	return conclude(s, status, "the last row is a validation");
}

/* Return the status of a run whose log has ended. The first case that applies counts. */
static enum run_status final_status(struct run_state *s)
{
	const struct run *run = &s->run;
	unsigned int is = s->is;

	if (has_score(s, (is & IS_FATAL) != 0)) {
		const struct result *last = &s->results.items[s->results.n - 1];

		return conclude(s, RUN_FINISHED, "the result %s in line %llu", last->label,
				(unsigned long long)last->line);
	}
	if ((is & (IS_FATAL | IS_NOT_FINITE)) != 0 && s->failure != 0) {
		const struct run_event *event = &run->events[s->failure - 1];

		return conclude(s, live_status(s), "line %llu: %s", (unsigned long long)event->line,
				event->text);
	}
	if ((is & (IS_FATAL | IS_NOT_FINITE)) != 0)
		return conclude(s, live_status(s), "the last loss is not finite");
	if ((is & IS_EVALUATING) != 0)
		return conclude(s, RUN_TRUNCATED, "the evaluation in line %llu has no result",
				(unsigned long long)s->eval_line);
	char at[64] = "";
	if (run->steps < run->planned_steps && misses_plan(s))
		print_into(at, " at step %.0f of %.0f", run->steps, run->planned_steps);
	if ((is & IS_ENDED) != 0 && s->end_text != NULL)
		return conclude(s, RUN_FINISHED, "line %llu: %s%s", (unsigned long long)s->end_line,
				s->end_text, at);
	if ((is & IS_ENDED) != 0 && s->end_line > 0)
		return conclude(s, RUN_FINISHED, "the training ended in line %llu",
				(unsigned long long)s->end_line);
	if ((is & IS_ENDED) != 0)
		return conclude(s, RUN_FINISHED, "the log has a summary of the run");
	if ((is & IS_PACKED) != 0 || ((is & IS_STOPPED) != 0 && s->has_bpb))
		return conclude(s, RUN_TRUNCATED, "an evaluation after the training has no result");
	if ((is & IS_STOPPED) != 0)
		return conclude(s, RUN_FINISHED, "the training stopped on purpose");
	if (has_reached_last(s))
		return conclude_plan(s, RUN_FINISHED);
	if (s->is_cut)
		return conclude(s, RUN_TRUNCATED, "the log ends inside a line");
	if (misses_plan(s) || (run_has(run->planned_steps) && !s->counts.unit.may_restart))
		return conclude_plan(s, RUN_TRUNCATED);
	if (s->last == LAST_PLAN || s->last == LAST_VAL)
		return conclude(s, RUN_TRUNCATED, "the end that the trainer prints is missing");
	if (!run_has(run->steps) && run->n_series == 0)
		return conclude(s, RUN_TRUNCATED, "the log ends before the first row");
	return conclude(s, RUN_UNKNOWN,
			run_has(run->planned_steps)
				? "the last row may end an epoch or the whole run"
				: "no step or epoch total and no end found");
}

void run_state_derive(struct run_state *s, bool final)
{
	struct run *run = &s->run;
	bool quantized = run_results_any(&s->results, RUN_KNOWN_POST) || run_has(s->artifact);

	derive_times(s);
	run->step_ms_median = median_get(&s->step_ms);
	run_results_apply(&s->results, run);
	if (!run_has(run->prequant_bpb) && quantized && s->val_step > 0 &&
	    s->val_step == run->steps && !run_results_odd_first(&s->results))
		run->prequant_bpb = run->last_val_bpb;
	free(run->status_reason);
	run->status_reason = NULL;
	run->status = final ? final_status(s) : live_status(s);
	if (final && run->status != RUN_FINISHED)
		run_results_withhold(run);
	/* Without any BPB, the loss of the last validation is the score. */
	if (!s->has_bpb && s->results.n == 0 && run->status == RUN_FINISHED &&
	    run_has(run->last_val_loss) && s->val_step == run->steps) {
		run->final_val_loss = run->last_val_loss;
		run->final_line = s->val_line;
	}
}
