/* SPDX-License-Identifier: MIT */
/* The course of a generated training run: its steps, its times and how it ends. */
#include "tests/tools/loggen.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "tests/tools/loggen_priv.h"

#define QUEUE_BYTES (1U << 20)
#define LOOP_COST   1.24 /* step time when all layers loop */

static const struct loggen_dialect_ops *const dialects[] = {
	[LOGGEN_GOLF_AVG] = &loggen_golf_avg,
	[LOGGEN_GOLF_MIN] = &loggen_golf_min,
	[LOGGEN_NANOGPT] = &loggen_nanogpt,
};

static const struct loggen_recipe usual[] = {
	[LOGGEN_GOLF_AVG] = { .n_gpus = 8,
			      .ms_per_step = 43.54,
			      .batch_tokens = 524288,
			      .planned_steps = 20000,
			      .log_every = 50,
			      .val_every = 200,
			      .cap_s = 600,
			      .score = 1.2244 },
	[LOGGEN_GOLF_MIN] = { .n_gpus = 8,
			      .ms_per_step = 106.0,
			      .batch_tokens = 786432,
			      .planned_steps = 20000,
			      .log_every = 100,
			      .val_every = 1000,
			      .cap_s = 588,
			      .score = 1.0752 },
	[LOGGEN_NANOGPT] = { .n_gpus = 8,
			     .ms_per_step = 157.4,
			     .batch_tokens = 524288,
			     .planned_steps = 1480,
			     .log_every = 1,
			     .val_every = 125,
			     .cap_s = 0,
			     .score = 3.2756 },
};

void loggen_recipe_init(struct loggen_recipe *recipe, enum loggen_dialect dialect, uint64_t seed)
{
	*recipe = usual[dialect];
	recipe->dialect = dialect;
	recipe->fate = LOGGEN_FINISH;
	recipe->seed = seed;
	recipe->fate_at = 0.6;
	recipe->source = dialect != LOGGEN_GOLF_MIN;
	recipe->warnings = true;
}

/* splitmix64, from its published constants. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15U;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
	return z ^ (z >> 31);
}

double loggen_uniform(struct loggen *gen)
{
	return (double)(next_random(&gen->rng) >> 11) * 0x1p-53;
}

double loggen_normal(struct loggen *gen)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += loggen_uniform(gen);
	return sum;
}

/* Time of a step without jitter. */
static double step_ms(const struct loggen *gen, unsigned int step)
{
	double ms = gen->recipe.ms_per_step;

	if (gen->recipe.fate == LOGGEN_SLOW)
		ms *= 1.6;
	if (gen->looping)
		ms *= LOOP_COST;
	return step <= 5 ? ms * 0.9 : ms;
}

static double cap_ms(const struct loggen *gen)
{
	return gen->recipe.cap_s > 0 ? gen->recipe.cap_s * 1000 : (double)INFINITY;
}

/* Estimate of the last step; the cap decides when it is reached. */
static unsigned int estimate_last_step(const struct loggen *gen)
{
	double looped = gen->recipe.dialect == LOGGEN_GOLF_MIN ? (1 + LOOP_COST) / 2 : 1;
	double n = cap_ms(gen) / (step_ms(gen, 100) * looped);

	return n < gen->recipe.planned_steps ? (unsigned int)n : gen->recipe.planned_steps;
}

struct loggen *loggen_new(const struct loggen_recipe *recipe)
{
	struct loggen *gen = xcalloc(1, sizeof(*gen));

	assert(recipe->log_every > 0 && recipe->val_every > 0);
	assert(recipe->ms_per_step > 0 && recipe->planned_steps > 0);
	gen->recipe = *recipe;
	gen->ops = dialects[recipe->dialect];
	gen->rng = recipe->seed * 0xD1342543DE82EF95U + recipe->dialect;
	gen->last_step = estimate_last_step(gen);
	gen->score = recipe->score + 0.0004 * loggen_normal(gen);
	if (recipe->fate == LOGGEN_SLOW)
		gen->score += 0.012;
	buf_init(&gen->text, QUEUE_BYTES);
	return gen;
}

void loggen_free(struct loggen *gen)
{
	if (gen == NULL)
		return;
	buf_release(&gen->text);
	free(gen->queue);
	free(gen);
}

/* Queue the text appended since start. */
static void queue_since(struct loggen *gen, size_t start)
{
	gen->queue = xgrow(gen->queue, gen->n_queue, &gen->cap_queue, sizeof(*gen->queue));
	gen->queue[gen->n_queue++] =
		(struct loggen_queued){ start, gen->text.len - start, gen->now_ms };
}

void loggen_say(struct loggen *gen, const char *fmt, ...)
{
	size_t start = gen->text.len;
	va_list ap;

	va_start(ap, fmt);
	buf_vappendf(&gen->text, fmt, ap);
	va_end(ap);
	buf_append_char(&gen->text, '\n');
	queue_since(gen, start);
}

void loggen_say_text(struct loggen *gen, const char *text)
{
	while (*text != '\0') {
		size_t start = gen->text.len;
		size_t len = strcspn(text, "\n");

		buf_append(&gen->text, text, len);
		buf_append_char(&gen->text, '\n');
		queue_since(gen, start);
		text += len + (text[len] == '\n');
	}
}

void loggen_wait(struct loggen *gen, double ms)
{
	gen->now_ms += ms;
}

bool loggen_is_nan(const struct loggen *gen)
{
	return gen->recipe.fate == LOGGEN_DIVERGE &&
	       gen->step >= gen->recipe.fate_at * gen->last_step;
}

/* A power law from the first loss at step 0 to that of the last validation. */
double loggen_loss_at(const struct loggen *gen, unsigned int step)
{
	double last = (gen->score + gen->ops->raw_above) / gen->ops->bpb_per_loss;
	double power = -0.45, shift = 3;
	double begin = pow(shift, power);
	double end = pow(gen->last_step + shift, power);
	double here = pow(fmin(step, gen->last_step) + shift, power);

	return last + (gen->ops->first_loss - last) * (here - end) / (begin - end);
}

double loggen_noisy(struct loggen *gen, double loss, double sd)
{
	double noise = sd * loggen_normal(gen);

	return loggen_is_nan(gen) ? (double)NAN : loss + noise;
}

/* Does this step print a training row? The first ten or five always do. */
static bool is_row_due(const struct loggen *gen)
{
	unsigned int first = gen->recipe.dialect == LOGGEN_GOLF_MIN ? 5 : 10;

	return gen->step <= first || gen->step % gen->recipe.log_every == 0;
}

/* End the run if its fate requires it; true if it ended. */
static bool meet_fate(struct loggen *gen)
{
	enum loggen_fate fate = gen->recipe.fate;

	if (gen->step < gen->recipe.fate_at * gen->last_step)
		return false;
	if (fate == LOGGEN_CRASH)
		loggen_say_crash(gen);
	else if (fate == LOGGEN_OOM)
		loggen_say_oom(gen);
	else if (fate != LOGGEN_STALL)
		return false;
	gen->phase = PHASE_OVER;
	return true;
}

static void do_step(struct loggen *gen)
{
	double ms = step_ms(gen, gen->step + 1);
	bool last;

	ms *= 1 + 0.01 * loggen_normal(gen);
	gen->step++;
	gen->train_ms += ms;
	loggen_wait(gen, ms);
	if (meet_fate(gen))
		return;
	if (gen->ops->mark != NULL)
		gen->ops->mark(gen);
	last = gen->train_ms >= cap_ms(gen) || gen->step >= gen->recipe.planned_steps;
	if (is_row_due(gen))
		gen->ops->train_row(gen, loggen_noisy(gen, loggen_loss_at(gen, gen->step), 0.03));
	if (last || gen->step % gen->recipe.val_every == 0) {
		loggen_wait(gen, 1400);
		gen->ops->val_row(gen, loggen_noisy(gen, loggen_loss_at(gen, gen->step), 0.0004));
	}
	if (last) {
		gen->last_step = gen->step;
		gen->phase = PHASE_END;
	}
}

static void advance(struct loggen *gen)
{
	switch (gen->phase) {
	case PHASE_BEGIN:
		gen->ops->begin(gen);
		gen->phase = PHASE_TRAIN;
		break;
	case PHASE_TRAIN:
		do_step(gen);
		break;
	case PHASE_END:
		gen->ops->end(gen);
		gen->phase = PHASE_OVER;
		break;
	case PHASE_OVER:
		break;
	}
}

bool loggen_next(struct loggen *gen, struct loggen_line *line)
{
	const struct loggen_queued *q;

	if (gen->next == gen->n_queue) {
		buf_clear(&gen->text);
		gen->n_queue = gen->next = 0;
		while (gen->n_queue == 0 && gen->phase != PHASE_OVER)
			advance(gen);
		if (gen->n_queue == 0)
			return false;
	}
	q = &gen->queue[gen->next++];
	*line = (struct loggen_line){ gen->text.data + q->start, q->len, q->at_ms };
	return true;
}

static const char *const dialect_names[] = {
#define X(id, name, help) name,
	LOGGEN_DIALECT_LIST(X)
#undef X
};

static const char *const fate_names[] = {
#define X(id, name, help) name,
	LOGGEN_FATE_LIST(X)
#undef X
};

const char *loggen_dialect_name(enum loggen_dialect dialect)
{
	return dialect_names[dialect];
}

const char *loggen_fate_name(enum loggen_fate fate)
{
	return fate_names[fate];
}

int loggen_dialect_by_name(const char *name)
{
	for (int i = 0; i < LOGGEN_N_DIALECTS; i++)
		if (strcmp(dialect_names[i], name) == 0)
			return i;
	return -1;
}

int loggen_fate_by_name(const char *name)
{
	for (int i = 0; i < LOGGEN_N_FATES; i++)
		if (strcmp(fate_names[i], name) == 0)
			return i;
	return -1;
}
