/* SPDX-License-Identifier: MIT */
/* Records to the values of one run, and what follows from them. */
#include "parsers/run_apply.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "parsers/run_series.h"

#define EVENT_TEXT_BYTES 240
#define TRACEBACK_LINES	 400 /* of one traceback */
/* A bar is at the latest so many lines before the row that is of it. */
#define BAR_LINES 2
/* A byte has 8 bits; a model that is sure of the wrong ones needs more. */
#define MAX_BPB 64

void run_state_init(struct run_state *state)
{
	memset(state, 0, sizeof(*state));
	run_init(&state->run);
	state->first_step = state->val_step = state->val_line = RUN_ABSENT;
	state->stop_ms = state->artifact = RUN_ABSENT;
	state->bar_step = state->bar_total = RUN_ABSENT;
	state->row_step = state->row_total = RUN_ABSENT;
	state->exact = state->first_exact = state->rebuilt = state->interval =
		(struct row_time){ RUN_ABSENT, RUN_ABSENT };
}

void run_state_release(struct run_state *state)
{
	run_release(&state->run);
	median_release(&state->step_ms);
	free(state->results.items);
}

/* Tokens a second of the last interval, or absent. */
static double interval_tok_s(const struct run_state *s)
{
	return s->run.train_batch_tokens * s->interval.step / s->interval.ms * 1000;
}

/* Whether its validations print a loss and no BPB. */
static bool is_loss_only(const struct run_state *s)
{
	return run_has(s->val_step) && !s->has_bpb;
}

/* What one call of run_state_apply works with. */
struct apply {
	struct run_state *state;
	const struct record *record;
	const struct record_place *place;
	const struct run_sink *sink;
};

/*
 * Training time at the last row: as the row prints it, or at the rate of the
 * last row that printed one.
 */
static double row_ms(const struct run_state *s)
{
	double step = s->run.last_step;

	if (s->exact.step == step)
		return s->exact.ms;
	if (run_has(s->exact.ms))
		return RUN_ABSENT;
	return s->rebuilt.ms / s->rebuilt.step * step;
}

/* Give a point of the last row; metric METRIC_COUNT: of the series `name`. */
static void emit_point(const struct apply *a, enum metric metric, const char *name, double value)
{
	struct run_state *s = a->state;
	struct sample sample;

	if (a->sink == NULL || a->sink->sample == NULL || !isfinite(value) ||
	    (metric == METRIC_COUNT && name == NULL))
		return;
	sample = (struct sample){ .step = s->run.last_step,
				  .metric = metric,
				  .name = name,
				  .value = value,
				  .wall_ms = a->place->wall_ms,
				  .line = a->place->line,
				  .known = a->place->known };
	sample.train_ms = row_ms(s);
	a->sink->sample(a->sink->user, &sample);
}

/* The series of one of the record's pairs; NULL: there are too many. */
static struct run_series *series_of(const struct apply *a, const struct record_pair *pair,
				    enum metric metric)
{
	const struct record_memo *memo = a->record->memo;
	struct run *run = &a->state->run;

	if (memo != NULL && memo->runs == run->run_index + 1)
		return &run->series[memo->series[pair - a->record->pairs]];
	return run_series_get(run, pair->name, pair->unit, metric);
}

/* The first pair that is the record's value of that metric; NULL: none. */
static const struct record_pair *pair_of(const struct record *record, enum metric metric)
{
	return array_find(pair, record->pairs, record->n_pairs,
			  pair->metric == metric && record_has(record, metric) &&
				  run_same(record->values[metric], pair->value * pair->scale));
}

/* A value that the row prints: a point of its metric and of its series. */
static void emit_sample(const struct apply *a, enum metric metric, double value)
{
	const struct record_pair *pair = pair_of(a->record, metric);
	struct run *run = &a->state->run;
	struct run_series *series =
		pair == NULL ? run_series_of(run, metric) : series_of(a, pair, metric);

	if (series != NULL && pair != NULL)
		series->scale = pair->scale;
	if (series != NULL)
		run_series_add(series, pair == NULL ? value : pair->value, run->last_step);
	emit_point(a, metric, NULL, value);
}

/* What a row's own kind makes points of; see apply_row and those behind it. */
#define ROW_METRICS                                                          \
	((uint64_t)1 << METRIC_TRAIN_LOSS | (uint64_t)1 << METRIC_VAL_LOSS | \
	 (uint64_t)1 << METRIC_VAL_BPB | (uint64_t)1 << METRIC_FITNESS |     \
	 (uint64_t)1 << METRIC_STEP_MS | (uint64_t)1 << METRIC_STEP_AVG_MS | \
	 (uint64_t)1 << METRIC_TOK_S | (uint64_t)1 << METRIC_TOK_S_DEVICE)

/* Of a name that stands twice in a row the first one counts. */
static bool is_named_before(const struct record *record, size_t i)
{
	return any_of(k, i, str_eq(record->pairs[k].name, record->pairs[i].name));
}

/*
 * The named numbers of a row: series, in the order they are printed in.  One
 * that stands for a metric for which the row has another number is one of its
 * own.
 */
static void take_pairs(const struct apply *a)
{
	struct run *run = &a->state->run;
	struct record_memo *memo = a->record->memo;
	bool all = memo != NULL;

	for (size_t i = 0; i < a->record->n_pairs; i++) {
		const struct record_pair *pair = &a->record->pairs[i];
		bool is_own = pair->metric == METRIC_COUNT ||
			      (memo == NULL && pair_of(a->record, pair->metric) != pair);
		enum metric metric = is_own ? METRIC_COUNT : pair->metric;

		if (memo == NULL && is_named_before(a->record, i))
			continue;
		struct run_series *series = series_of(a, pair, metric);
		all = all && series != NULL;
		if (all)
			memo->series[i] = (unsigned char)(series - run->series);
		if (series == NULL || (!is_own && (ROW_METRICS >> metric & 1) != 0))
			continue;
		if (!is_own)
			series->scale = pair->scale;
		run_series_add(series, pair->value, run->last_step);
		emit_point(a, metric, is_own ? run_series_shared_name(series) : NULL,
			   is_own ? pair->value : pair->value * pair->scale);
	}
	if (all)
		memo->runs = run->run_index + 1;
}

static char *event_text(struct str text)
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
				     .text = event_text(a->place->text) };
	if (a->sink != NULL && a->sink->event != NULL)
		a->sink->event(a->sink->user, event);
}

/* A row or a result came after a failure: the run went on. */
static void survive(struct run_state *s)
{
	s->fatal = s->fatal_oom = s->killed = false;
}

/* A loss that is no number any more is an event, once until it recovers. */
static void watch_finite(const struct apply *a, double value)
{
	if (isfinite(value)) {
		a->state->not_finite = false;
		return;
	}
	if (!a->state->not_finite)
		add_event(a, RUN_EVENT_NAN);
	a->state->not_finite = true;
}

/* Copy a metric into its member of the run, where the record has it. */
static void take(const struct record *record, enum metric metric, double *member)
{
	if (record_has(record, metric) && isfinite(record->values[metric]))
		*member = record->values[metric];
}

/* The interval since the row before, by times of the same kind. */
static void take_interval(const struct apply *a, struct row_time *before, struct row_time now)
{
	struct run_state *s = a->state;
	struct row_time passed = { now.step - before->step, now.ms - before->ms };
	bool known = before->step > 0 && passed.step > 0 && passed.ms > 0;

	*before = now;
	if (!known)
		return;
	s->interval = passed;
	/* Follow from the rows, none of which prints them. */
	emit_point(a, METRIC_MS_PER_STEP, NULL, passed.ms / passed.step);
	emit_point(a, METRIC_TOK_S_INTERVAL, NULL, interval_tok_s(s));
}

/* A clock that goes back belongs to a run that was resumed. */
static void watch_clock(struct run_state *s, double step, double ms)
{
	if (!run_has(ms) || ms <= 0 || step <= 0)
		return;
	if (!run_has(s->first_exact.ms))
		s->first_exact = (struct row_time){ step, ms };
	/* Ranks that print one step each differ by little. */
	if (step == s->exact.step)
		ms += ms / 10;
	if (s->exact.step >= RUN_CLOCK_FREE_STEPS && step >= s->exact.step && ms < s->exact.ms)
		s->clock_restarted = true;
}

static void take_row_time(const struct apply *a, double step)
{
	struct run_state *s = a->state;
	double ms = record_get(a->record, METRIC_TRAIN_MS);
	double tok_s = record_get(a->record, METRIC_TOK_S);

	watch_clock(s, step, ms);
	if (run_has(ms) && ms > 0 && step > 0 &&
	    !(run_has(s->exact.step) && step == s->exact.step)) {
		take_interval(a, &s->exact, (struct row_time){ step, ms });
	} else if (run_has(ms) && ms > 0 && step > 0) {
		/* The validation of the same step, or the row once more. */
		s->exact.ms = fmax(ms, s->exact.ms);
	} else if (run_has(tok_s) && tok_s > 0 && step > 0 && run_has(s->run.train_batch_tokens)) {
		/* Trainers print tok/s = step * batch / seconds so far. */
		ms = step * s->run.train_batch_tokens / tok_s * 1000;
		take_interval(a, &s->rebuilt, (struct row_time){ step, ms });
	}
}

/* What was evaluated and packed is of an earlier model: it trains on. */
static void train_on(struct run_state *s)
{
	if (run_has(s->first_step) && run_results_any(&s->results, RUN_STAGE(STAGE_TTT)))
		return; /* steps of the evaluation itself */
	s->results.n = 0;
	s->packed = false;
	s->stop_ms = RUN_ABSENT;
}

static void take_row_number(const struct apply *a, enum metric metric)
{
	if (record_has(a->record, metric))
		emit_sample(a, metric, a->record->values[metric]);
}

/* Step time and rates of a row, as printed. */
static void take_rates(const struct apply *a)
{
	struct run_state *s = a->state;
	double avg = record_get(a->record, METRIC_STEP_AVG_MS);
	double ms = record_get(a->record, METRIC_STEP_MS);

	if (isfinite(avg) && s->run.last_step > 0) {
		s->run.step_avg_printed_ms = avg;
		emit_sample(a, METRIC_STEP_AVG_MS, avg);
	}
	if (run_has(ms))
		median_add(&s->step_ms, ms);
	take_row_number(a, METRIC_STEP_MS);
	take(a->record, METRIC_TOK_S_DEVICE, &s->run.tok_s_per_device_last);
	take_row_number(a, METRIC_TOK_S_DEVICE);
}

/* The part that rows of training and of validation share. */
static void apply_row(const struct apply *a)
{
	struct run_state *s = a->state;
	double step = record_get(a->record, METRIC_STEP);

	s->active = true;
	survive(s);
	if (!(step <= s->run.last_step)) /* the first one too */
		train_on(s);
	if (!run_has(s->first_step))
		s->first_step = step;
	if (run_has(step))
		s->run.last_step = step;
	take(a->record, METRIC_PLANNED, &s->run.planned_steps);
	take(a->record, METRIC_PEAK_MEM_MIB, &s->run.peak_mem_mib);
	if (run_has(step))
		take_row_time(a, step);
	take_pairs(a);
	take_rates(a);
}

/*
 * The run is so many steps far; something beside its rows says so.  A bar is
 * drawn once more when its program fails: that is no sign of life.
 */
static void move_to(struct run_state *s, double step)
{
	if (step <= s->run.last_step)
		return;
	s->active = true;
	if (!run_has(s->first_step))
		s->first_step = step;
	s->run.last_step = step;
}

/*
 * A row without a step that stands behind a bar.  Evaluations have bars too,
 * and a buffer may put a row behind one of those: that this one counts the
 * steps is sure when the row before stood behind it too, and less far.
 */
static void take_bar(const struct apply *a)
{
	struct run_state *s = a->state;

	if (a->place->line - s->bar_line > BAR_LINES || record_has(a->record, METRIC_STEP) ||
	    run_has(s->run.planned_steps))
		return;
	if (s->row_total == s->bar_total && s->row_step < s->bar_step) {
		s->run.planned_steps = s->bar_total;
		s->last = LAST_PLAN;
		move_to(s, s->bar_step);
	}
	s->row_step = s->bar_step;
	s->row_total = s->bar_total;
}

static void apply_step(const struct apply *a)
{
	struct run_state *s = a->state;

	s->bar_step = record_get(a->record, METRIC_STEP);
	s->bar_total = record_get(a->record, METRIC_PLANNED);
	s->bar_line = a->place->line;
	if (run_has(s->bar_total)) {
		if (s->bar_total == s->run.planned_steps)
			move_to(s, s->bar_step);
		return;
	}
	if (!s->has_steps) /* the optimizer's own count, below the trainer's */
		move_to(s, s->bar_step);
	take_pairs(a);
}

static void take_train_numbers(const struct apply *a)
{
	struct run_state *s = a->state;
	double tok_s = record_get(a->record, METRIC_TOK_S);

	if (record_has(a->record, METRIC_TRAIN_LOSS)) {
		s->run.last_train_loss = a->record->values[METRIC_TRAIN_LOSS];
		watch_finite(a, s->run.last_train_loss);
	}
	take_row_number(a, METRIC_TRAIN_LOSS);
	take_row_number(a, METRIC_FITNESS);
	if (isfinite(tok_s)) {
		s->run.tok_s_last = tok_s;
		s->tok_s_sum += tok_s;
		s->tok_s_n++;
		emit_sample(a, METRIC_TOK_S, tok_s);
	}
}

/* Whether a bar or a table repeats, with fewer decimals, what is known. */
static bool is_known_loss(const struct apply *a)
{
	double value = record_get(a->record, METRIC_VAL_LOSS), unit = 1;

	if (!a->record->rule->rounded || !run_has(value))
		return false;
	while (unit > 1e-6 && fabs(value / unit - round(value / unit)) > 1e-6)
		unit /= 10;
	return fabs(a->state->run.last_val_loss - value) <= unit * 0.5001;
}

static void take_val_numbers(const struct apply *a)
{
	struct run_state *s = a->state;

	s->val_step = s->run.last_step;
	s->val_line = (double)a->place->line;
	if (record_has(a->record, METRIC_VAL_LOSS) && !is_known_loss(a)) {
		s->run.last_val_loss = a->record->values[METRIC_VAL_LOSS];
		watch_finite(a, s->run.last_val_loss);
		take_row_number(a, METRIC_VAL_LOSS);
	}
	if (!record_has(a->record, METRIC_VAL_BPB))
		return;
	s->has_bpb = true;
	s->run.last_val_bpb = a->record->values[METRIC_VAL_BPB];
	emit_sample(a, METRIC_VAL_BPB, s->run.last_val_bpb);
}

/* A row of training may have the numbers of a validation too. */
static void apply_train(const struct apply *a)
{
	struct run_state *s = a->state;

	take_bar(a);
	s->last = a->record->rule->last;
	s->row_format = a->record->rule->format;
	if (record_has(a->record, METRIC_STEP) &&
	    !(a->record->values[METRIC_STEP] <= s->run.last_step))
		s->ended = s->left = false;
	apply_row(a);
	s->has_steps = s->has_steps || record_has(a->record, METRIC_STEP);
	if (s->val_open && s->last == LAST_VAL)
		s->val_step = s->run.last_step;
	s->val_open = false;
	s->row_is_last = true;
	take_train_numbers(a);
	if (record_has(a->record, METRIC_VAL_LOSS) || record_has(a->record, METRIC_VAL_BPB))
		take_val_numbers(a);
}

static void apply_val(const struct apply *a)
{
	if (run_results_any(&a->state->results, RUN_KNOWN_POST) &&
	    record_get(a->record, METRIC_STEP) <= a->state->run.last_step)
		return; /* of the packed model, not of the training */
	apply_row(a);
	a->state->row_is_last = false;
	a->state->val_open = !record_has(a->record, METRIC_STEP);
	take_val_numbers(a);
	take_train_numbers(a);
}

static void apply_warmup(const struct apply *a)
{
	a->state->active = true;
	survive(a->state);
}

static void apply_stop(const struct apply *a)
{
	struct run_state *s = a->state;

	s->stopped = s->active = true;
	survive(s);
	take(a->record, METRIC_TRAIN_MS, &s->stop_ms);
	take(a->record, METRIC_STEP, &s->run.last_step);
	s->stop_has_step = record_has(a->record, METRIC_STEP);
	take(a->record, METRIC_PLANNED, &s->run.planned_steps);
	add_event(a, RUN_EVENT_EARLY_STOP);
}

/*
 * A BPB in words that no rule knows counts only where an evaluation can be:
 * behind the training.
 */
static bool is_out_of_place(const struct apply *a)
{
	const struct run_state *s = a->state;
	bool over = s->stopped || s->ended || s->results.n > 0 ||
		    (run_has(s->run.planned_steps) && s->run.last_step >= s->run.planned_steps);

	return a->record->rule->stage == STAGE_UNKNOWN && a->record->stage.len > 0 && !over;
}

/* The stage of a result: its label's, unless something tells otherwise. */
static enum rule_stage stage_of(const struct run_state *s, const struct result *r)
{
	/* Of nothing, not readable, or not in bits per byte. */
	if (r->bpb <= 0 || r->bpb > MAX_BPB)
		return STAGE_UNKNOWN;
	if (r->stage != STAGE_ROUNDTRIP)
		return r->stage;
	if (s->sliding_mode || s->is_sliding)
		return STAGE_SLIDING;
	return s->odd_mode ? STAGE_UNKNOWN : STAGE_ROUNDTRIP;
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

	if (is_out_of_place(a))
		return;
	s->active = true;
	if (r.stage != STAGE_UNKNOWN || !is_loss_only(s))
		s->packed = true;
	s->run.eval_done = s->run.eval_total = s->run.running_bpb = RUN_ABSENT;
	take(a->record, METRIC_EVAL_TOTAL_S, &s->run.eval_total_s);
	survive(s);
	if (n == 0)
		return;
	if (!record_has(a->record, METRIC_VAL_BPB)) {
		r.bpb = 0; /* a form of number that no rule reads */
	} else if (!isfinite(r.bpb)) {
		watch_finite(a, r.bpb);
		r.bpb = (double)INFINITY;
	}
	if (!(r.eval_ms > 0))
		r.eval_ms = RUN_ABSENT;
	s->is_sliding = s->is_sliding && r.stage == STAGE_ROUNDTRIP;
	r.stage = stage_of(s, &r);
	s->evaluated = s->evaluated || (s->own != 0 && !run_has(s->first_step));
	if (n >= sizeof(r.label))
		n = sizeof(r.label) - 1;
	memcpy(r.label, n > 0 ? a->record->stage.p : "", n);
	run_results_add(&s->results, &r);
}

/* The same words again mean the last; other words, another artifact. */
static void take_artifact(const struct apply *a)
{
	struct run_state *s = a->state;
	double bytes = record_get(a->record, METRIC_ARTIFACT_BYTES);
	struct str label = a->record->text;
	size_t n = label.len < sizeof(s->size_label) ? label.len : sizeof(s->size_label);
	bool same = n == s->size_label_len && (n == 0 || memcmp(label.p, s->size_label, n) == 0);

	if (!run_has(bytes))
		return;
	if (run_has(s->artifact) && !same && bytes != s->artifact)
		s->artifact_unclear = true;
	s->artifact = bytes;
	s->packs++;
	s->size_label_len = n;
	if (n > 0)
		memcpy(s->size_label, label.p, n);
	s->run.artifact_bytes = s->artifact_unclear ? RUN_ABSENT : bytes;
}

static void apply_size(const struct apply *a)
{
	struct run *run = &a->state->run;

	take_artifact(a);
	take(a->record, METRIC_CODE_BYTES, &run->code_bytes);
	take(a->record, METRIC_MODEL_BYTES, &run->model_bytes);
	take(a->record, METRIC_PEAK_MEM_MIB, &run->peak_mem_mib);
	if (!record_has(a->record, METRIC_PEAK_MEM_MIB))
		a->state->packed = true;
}

/* Two seeds before the run begins are of two things: neither is sure. */
static void take_seed(const struct apply *a)
{
	struct run_state *s = a->state;
	double seed = record_get(a->record, METRIC_SEED);
	bool again = (s->own >> METRIC_SEED & 1) != 0 && !s->fatal;

	if (!run_has(seed))
		return;
	s->seed_unclear = again && (s->seed_unclear || seed != s->run.seed);
	s->run.seed = s->seed_unclear ? RUN_ABSENT : seed;
}

/* Which evaluation the label of the last one stands for, or is to come. */
static void take_mode(struct run_state *s, struct str mode)
{
	if (mode.len == 0)
		return;
	if (str_eq_cstr(mode, "sliding_window"))
		s->sliding_mode = true;
	else if (str_eq_cstr(mode, "sliding_window_enabled"))
		s->wants_sliding = true;
	else if (str_eq_cstr(mode, "ttt_enabled"))
		s->wants_ttt = true;
	else
		s->odd_mode = true;
}

static void apply_setting(const struct apply *a)
{
	struct run *run = &a->state->run;

	take_seed(a);
	take(a->record, METRIC_N_GPUS, &run->n_gpus);
	take(a->record, METRIC_TRAIN_BATCH_TOKENS, &run->train_batch_tokens);
	take(a->record, METRIC_VAL_TOKENS, &run->val_tokens);
	take(a->record, METRIC_TARGET_TOKENS, &run->target_tokens);
	take(a->record, METRIC_PLANNED, &run->planned_steps);
	take(a->record, METRIC_CAP_S, &run->cap_s);
	a->state->own |= a->record->present;
	take_mode(a->state, a->record->mode);
}

/* The name of a score: of its task, which stands once, and its metric. */
static struct str score_name(struct run_state *s, const struct record *record,
			     char out[2 * SERIES_NAME_BYTES])
{
	struct str task = str_trim(record->stage), mode = str_trim(record->mode);

	while (task.len > 0 && (task.p[0] == '-' || task.p[0] == ' '))
		task = str_skip(task, 1);
	if (task.len > 0)
		print_into(s->task, "%.*s", (int)task.len, task.p);
	int n = snprintf(out, (size_t)2 * SERIES_NAME_BYTES, "%s%s%.*s", s->task,
			 mode.len > 0 ? "/" : "", (int)mode.len, mode.p);
	return (struct str){ out, strlen(out) < (size_t)n ? strlen(out) : (size_t)n };
}

/* A figure of an evaluation; it stands for itself where nothing trained. */
static void apply_score(const struct apply *a)
{
	struct run_state *s = a->state;
	double value = record_get(a->record, METRIC_SCORE);
	char text[2 * SERIES_NAME_BYTES];

	survive(s);
	if (!s->active)
		s->ended = true;
	take_pairs(a);
	if (!isfinite(value))
		return;
	struct str name = score_name(s, a->record, text);
	struct run_series *series =
		run_series_get(&s->run, name, (struct str){ NULL, 0 }, METRIC_COUNT);
	if (series == NULL)
		return;
	run_series_add(series, value, s->run.last_step);
	emit_point(a, METRIC_COUNT, series->name, value);
}

static void apply_progress(const struct apply *a)
{
	struct run *run = &a->state->run;

	a->state->active = a->state->packed = true;
	a->state->is_sliding = str_eq_cstr(a->record->mode, "sliding");
	survive(a->state);
	run->eval_done = record_get(a->record, METRIC_DONE);
	run->eval_total = record_get(a->record, METRIC_TOTAL);
	take(a->record, METRIC_RUNNING_BPB, &run->running_bpb);
}

/*
 * Whether a line is Python's name of an exception, alone or with a colon and
 * what it says: of a module, or ending as such names do.  What other ranks and
 * threads print between the frames is none.
 */
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
	for (size_t i = 0; i < LENGTH(ends); i++)
		if (str_ends_with((struct str){ text.p, n }, ends[i]))
			return true;
	return false;
}

void run_state_exception(struct run_state *s, uint64_t line, struct str text)
{
	if (s->unnamed == 0)
		return;
	struct run_event *event = &s->run.events[s->unnamed - 1];
	if (line > event->line + TRACEBACK_LINES)
		s->unnamed = 0;
	if (s->unnamed == 0 || !is_exception(text))
		return;
	free(event->text);
	event->text = event_text(text);
	s->unnamed = 0;
}

static void apply_event(const struct apply *a)
{
	struct run_state *s = a->state;
	const struct rule *rule = a->record->rule;
	bool harmless = s->left || (s->survives && rule->event == RUN_EVENT_TRACEBACK);

	s->survives = a->record->mode.len > 0;
	add_event(a, harmless && rule->fatal ? RUN_EVENT_WARNING : rule->event);
	if (rule->event == RUN_EVENT_TRACEBACK)
		s->unnamed = s->run.events_dropped == 0 ? s->run.n_events : 0;
	if (harmless || !rule->fatal)
		return;
	/* A crash makes launchers end the others; only a user ends it so. */
	if (rule->event == RUN_EVENT_KILLED && (!s->fatal || a->record->text.len > 0))
		s->killed = true;
	s->fatal = true;
	if (rule->event == RUN_EVENT_OOM)
		s->fatal_oom = true;
}

static void apply_end(const struct apply *a)
{
	struct run_state *s = a->state;

	take_bar(a);
	s->ended = true;
	s->left = a->record->rule->fatal && a->record->rule->format == s->row_format;
	take(a->record, METRIC_STEP, &s->run.last_step);
	take(a->record, METRIC_PEAK_MEM_MIB, &s->run.peak_mem_mib);
}

void run_state_apply(struct run_state *state, const struct record *record,
		     const struct record_place *place, const struct run_sink *sink)
{
	static void (*const by_kind[])(const struct apply *) = {
		[RULE_TRAIN] = apply_train,	[RULE_VAL] = apply_val,
		[RULE_WARMUP] = apply_warmup,	[RULE_STOP] = apply_stop,
		[RULE_RESULT] = apply_result,	[RULE_SIZE] = apply_size,
		[RULE_SETTING] = apply_setting, [RULE_PROGRESS] = apply_progress,
		[RULE_EVENT] = apply_event,	[RULE_END] = apply_end,
		[RULE_STEP] = apply_step,	[RULE_SCORE] = apply_score,
		[RULE_IGNORE] = NULL,
	};
	const struct apply a = { state, record, place, sink };

	if (by_kind[record->rule->kind] != NULL)
		by_kind[record->rule->kind](&a);
}

/*
 * Whether the clock began at zero with the first step: a resumed run may
 * count the steps on, but not the time.
 */
static bool clock_is_whole(const struct run_state *s)
{
	struct row_time first = s->first_exact;
	double rate = (s->exact.ms - first.ms) / (s->exact.step - first.step);

	if (s->clock_restarted)
		return false;
	return !(first.step >= RUN_CLOCK_FREE_STEPS && isfinite(rate) &&
		 first.ms < rate * first.step / 5);
}

/*
 * Whether a stop line without a step tells of a time that is not known to be
 * that of the last row: nobody can say at which step it was.
 */
static bool trained_past_rows(const struct run_state *s)
{
	bool at_end = s->exact.step == s->run.last_step &&
		      s->stop_ms <= s->exact.ms * (1 + 1.5 / s->exact.step);

	return run_has(s->stop_ms) && !s->stop_has_step && !at_end;
}

/* Steps, times and rates that follow from the rows. */
static void derive_times(struct run_state *s)
{
	struct run *run = &s->run;

	run->steps = trained_past_rows(s) ? RUN_ABSENT : run->last_step;
	if (run_has(s->stop_ms))
		run->train_ms = s->stop_ms;
	else if (run_has(s->exact.ms) && s->exact.step == run->steps)
		run->train_ms = s->exact.ms;
	else
		run->train_ms = RUN_ABSENT;
	if (!clock_is_whole(s) || run->train_ms <= 0)
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

/* Whether the rows reach the last one, as far as that is known. */
static bool reached_last(const struct run_state *s)
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
		return is_planned && run->steps + 1 >= run->planned_steps;
	case LAST_PLAN_AND_VAL:
		break;
	}
	return is_planned && run->steps > 0 && run->steps >= run->planned_steps &&
	       (!run_has(s->val_step) || has_val);
}

/* An evaluation that the settings name, and that did not come; test-time
 * training comes last, so behind its result nothing is awaited. */
static bool awaits_result(const struct run_state *s)
{
	const struct run_results *all = &s->results;

	/* One that no rule knows may be that one, in other words. */
	if (run_results_any(all, RUN_STAGE(STAGE_UNKNOWN) | RUN_STAGE(STAGE_TTT)))
		return false;
	return s->wants_ttt ||
	       (s->wants_sliding && !run_results_any(all, RUN_STAGE(STAGE_SLIDING)));
}

/* What is known while it runs: a failure or a divergence, else running. */
static enum run_status live_status(const struct run_state *s)
{
	if (s->fatal_oom)
		return RUN_OOM;
	if (s->fatal)
		return s->killed ? RUN_KILLED : RUN_CRASHED;
	return s->not_finite ? RUN_DIVERGED : RUN_RUNNING;
}

static enum run_status final_status(const struct run_state *s)
{
	bool any = is_loss_only(s) ? run_results_any(&s->results, RUN_KNOWN_POST)
				   : run_results_any(&s->results, RUN_POST);
	bool scored = any && !run_has(s->run.eval_total) && !awaits_result(s);

	if (s->fatal || s->not_finite)
		return live_status(s);
	if (scored || s->ended)
		return RUN_FINISHED;
	if (s->packed || (s->stopped && s->has_bpb))
		return RUN_TRUNCATED; /* the evaluation never ended */
	if (s->stopped || reached_last(s))
		return RUN_FINISHED;
	if ((run_has(s->run.steps) || s->run.n_series > 0) && !run_has(s->run.planned_steps) &&
	    s->last == LAST_PLAN_AND_VAL)
		return RUN_UNKNOWN; /* nothing says how long it should be */
	return RUN_TRUNCATED;
}

/* Where a recipe has no BPB its last validation is the score. */
static void derive_loss_score(struct run_state *s)
{
	struct run *run = &s->run;

	if (s->has_bpb || s->results.n > 0 || run->status != RUN_FINISHED ||
	    !run_has(run->last_val_loss) || s->val_step != run->steps)
		return;
	run->final_val_loss = run->last_val_loss;
	run->final_line = s->val_line;
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
	run->status = final ? final_status(s) : live_status(s);
	if (final && run->status != RUN_FINISHED)
		run_results_withhold(run);
	derive_loss_score(s);
}

void run_state_at_end(const struct run_state *state, struct run *out)
{
	struct run_state copy = *state;

	/* The strings of the copy's run must be its own. */
	run_copy(&copy.run, &state->run);
	run_state_derive(&copy, true);
	*out = copy.run;
}
