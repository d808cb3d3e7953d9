/* SPDX-License-Identifier: MIT */
/* The family of NanoGPT speedrun logs, for the tables in loggen.c. */
#include "tests/tools/loggen_priv.h"

static void nano_begin(struct loggen *gen)
{
	const struct loggen_recipe *r = &gen->recipe;

	if (r->source) {
		loggen_say_source(gen);
		loggen_say_rule(gen);
	}
	loggen_wait(gen, 7000);
	loggen_say(gen,
		   "Running PyTorch 2.7.0+cu128 on NVIDIA H100 80GB HBM3 "
		   "with world_size %u",
		   r->n_gpus);
	loggen_say(gen, "Using seed=%llu", (unsigned long long)r->seed);
	loggen_say_nvidia_smi(gen);
	loggen_say_rule(gen);
	loggen_say(gen, "Training DataLoader: total number of tokens: "
			"1800000000 across 18 files");
	loggen_say_rule(gen);
	loggen_wait(gen, 21000);
	gen->ops->val_row(gen, gen->ops->first_loss);
}

/* The average is nan at first and leaves out the warm-up steps. */
static void say_row(struct loggen *gen, const char *loss)
{
	unsigned int timed = gen->step > 12 ? gen->step - 10 : 0;
	double ms = gen->step > 0 ? gen->train_ms : 0;

	if (timed == 0)
		loggen_say(gen, "step:%u/%u%s train_time:%.0fms step_avg:nanms", gen->step,
			   gen->recipe.planned_steps, loss, ms);
	else
		loggen_say(gen, "step:%u/%u%s train_time:%.0fms step_avg:%.2fms", gen->step,
			   gen->recipe.planned_steps, loss, ms, ms / timed);
}

static void nano_train_row(struct loggen *gen, double loss)
{
	struct buf text;

	buf_init(&text, 64);
	/* Many runs print no loss here; a diverging run shows it in its loss. */
	if (gen->recipe.fate == LOGGEN_DIVERGE)
		buf_appendf(&text, " train_loss:%.4f", loss);
	say_row(gen, text.data);
	buf_release(&text);
	/* Timing is reset after the tenth step. */
	if (gen->step == 10)
		gen->train_ms = 0;
}

static void nano_val_row(struct loggen *gen, double loss)
{
	struct buf text;

	buf_init(&text, 64);
	buf_appendf(&text, " val_loss:%.4f", loss);
	say_row(gen, text.data);
	buf_release(&text);
}

/* The first step compiles the model. */
static void nano_mark(struct loggen *gen)
{
	if (gen->step != 1)
		return;
	gen->train_ms += 29000;
	loggen_wait(gen, 29000);
}

static void nano_end(struct loggen *gen)
{
	loggen_say(gen, "peak memory allocated: 29512 MiB reserved: 44036 MiB");
}

const struct loggen_dialect_ops loggen_nanogpt = {
	.first_loss = 10.8258,
	.bpb_per_loss = 1,
	.begin = nano_begin,
	.mark = nano_mark,
	.train_row = nano_train_row,
	.val_row = nano_val_row,
	.end = nano_end,
};
