/* SPDX-License-Identifier: MIT */
/* The two families of parameter-golf logs, for the tables in loggen.c. */
#include <math.h>

#include "tests/tools/loggen_priv.h"

#define CAP_BYTES 16000000U

/* A size in bytes of the compressed model, below or above the cap. */
static unsigned int model_bytes(struct loggen *gen, unsigned int code_bytes)
{
	unsigned int spread = (unsigned int)(40000 * loggen_uniform(gen));

	return gen->recipe.fate == LOGGEN_OVERSIZE ? CAP_BYTES - code_bytes + 12000 + spread
						   : CAP_BYTES - code_bytes - 8000 - spread;
}

static double noisy_score(struct loggen *gen, double above)
{
	return loggen_is_nan(gen) ? (double)NAN : gen->score + above;
}

static double loss_of(const struct loggen *gen, double bpb)
{
	return bpb / gen->ops->bpb_per_loss;
}

static void avg_begin(struct loggen *gen)
{
	const struct loggen_recipe *r = &gen->recipe;

	if (r->warnings && !r->source)
		loggen_say_torchrun_warning(gen);
	loggen_wait(gen, 9000);
	if (r->source) {
		loggen_say_source(gen);
		loggen_say_rule(gen);
		loggen_say(gen, "Running PyTorch 2.10.0+cu128");
		loggen_say_nvidia_smi(gen);
		loggen_say_rule(gen);
	}
	loggen_say(gen, "val_bpb:enabled tokenizer_kind=sentencepiece "
			"tokenizer_path=./data/tokenizers/bpe_1024.model");
	loggen_say(gen, "train_loader:dataset:web_sp1024 train_shards:25");
	loggen_say(gen, "model_params:17059912");
	loggen_say(gen, "world_size:%u grad_accum_steps:1", r->n_gpus);
	loggen_say(gen,
		   "train_batch_tokens:%u train_seq_len:1024 iterations:%u "
		   "warmup_steps:20 max_wallclock_seconds:%.3f",
		   r->batch_tokens, r->planned_steps, r->cap_s);
	loggen_say(gen, "seed:%llu", (unsigned long long)r->seed);
	for (int i = 1; i <= 20; i++) {
		loggen_wait(gen, 400);
		loggen_say(gen, "warmup_step:%d/20", i);
	}
	gen->ops->val_row(gen, gen->ops->first_loss);
}

static double avg_ms(const struct loggen *gen)
{
	return gen->step > 0 ? gen->train_ms / gen->step : 0.01;
}

static void avg_train_row(struct loggen *gen, double loss)
{
	loggen_say(gen,
		   "step:%u/%u train_loss:%.4f train_time:%.0fms "
		   "step_avg:%.2fms",
		   gen->step, gen->recipe.planned_steps, loss, gen->train_ms, avg_ms(gen));
}

static void avg_val_row(struct loggen *gen, double loss)
{
	loggen_say(gen,
		   "step:%u/%u val_loss:%.4f val_bpb:%.4f train_time:%.0fms "
		   "step_avg:%.2fms",
		   gen->step, gen->recipe.planned_steps, loss, loss * gen->ops->bpb_per_loss,
		   gen->train_ms, avg_ms(gen));
}

static void avg_end(struct loggen *gen)
{
	unsigned int code = 47642, raw = 67224983;
	unsigned int model = model_bytes(gen, code);
	double bpb = noisy_score(gen, 0);

	if (gen->recipe.cap_s > 0 && gen->step < gen->recipe.planned_steps)
		loggen_say(gen,
			   "stopping_early: wallclock_cap train_time:%.0fms "
			   "step:%u/%u",
			   gen->train_ms, gen->step, gen->recipe.planned_steps);
	loggen_say(gen, "peak memory allocated: 10184 MiB reserved: 10200 MiB");
	loggen_wait(gen, 8000);
	loggen_say(gen, "Serialized model: %u bytes", raw);
	loggen_say(gen, "Code size: %u bytes", code);
	loggen_say(gen, "Total submission size: %u bytes", raw + code);
	loggen_say(gen,
		   "Serialized model int8+zlib: %u bytes (payload:17178912 "
		   "raw_torch:17224025 payload_ratio:3.91x)",
		   model);
	loggen_say(gen, "Total submission size int8+zlib: %u bytes", model + code);
	loggen_wait(gen, 1401);
	loggen_say(gen,
		   "final_int8_zlib_roundtrip val_loss:%.4f val_bpb:%.4f "
		   "eval_time:1401ms",
		   loss_of(gen, bpb), bpb);
	loggen_say(gen,
		   "final_int8_zlib_roundtrip_exact val_loss:%.8f "
		   "val_bpb:%.8f",
		   loss_of(gen, bpb), bpb);
}

const struct loggen_dialect_ops loggen_golf_avg = {
	.first_loss = 6.9370,
	.bpb_per_loss = 0.590728,
	.raw_above = -0.0072,
	.begin = avg_begin,
	.train_row = avg_train_row,
	.val_row = avg_val_row,
	.end = avg_end,
};

static void min_settings(struct loggen *gen)
{
	const struct loggen_recipe *r = &gen->recipe;

	loggen_say(gen, "Hyperparameters:");
	loggen_say(gen, "  adam_eps: 1e-08");
	loggen_say(gen, "  beta1: 0.9");
	loggen_say(gen, "  compressor: brotli");
	loggen_say(gen, "  grad_accum_steps: 1");
	loggen_say(gen, "  iterations: %u", r->planned_steps);
	loggen_say(gen, "  logfile: logs/demo_seed%llu.txt", (unsigned long long)r->seed);
	loggen_say(gen, "  max_wallclock_seconds: 600.0");
	loggen_say(gen, "  num_layers: 11");
	loggen_say(gen, "  seed: %llu", (unsigned long long)r->seed);
	loggen_say(gen, "  sliding_window_enabled: True");
	loggen_say(gen, "  train_batch_tokens: %u", r->batch_tokens);
	loggen_say(gen, "  train_log_every: %u", r->log_every);
	loggen_say(gen, "  val_loss_every: %u", r->val_every);
	loggen_say(gen, "  vocab_size: 8192");
	loggen_say(gen, "  world_size: %u", r->n_gpus);
}

static void min_begin(struct loggen *gen)
{
	const struct loggen_recipe *r = &gen->recipe;

	if (r->warnings && !r->source)
		loggen_say_torchrun_warning(gen);
	loggen_wait(gen, 12000);
	if (r->source)
		loggen_say_source(gen);
	loggen_say_rule(gen);
	min_settings(gen);
	loggen_say_rule(gen);
	loggen_say(gen, "Running PyTorch 2.11.0+cu130");
	loggen_say_nvidia_smi(gen);
	loggen_say_rule(gen);
	loggen_say(gen, "train_shards: 128");
	loggen_say(gen, "val_tokens: 40540160");
	loggen_say(gen, "model_params:35943512");
	loggen_say(gen, "gptq:reserving 12s, effective=%.0fms", r->cap_s * 1000);
	for (int i = 1; i <= 20; i++) {
		loggen_wait(gen, 600);
		loggen_say(gen, "warmup_step: %d/20", i);
	}
	for (int i = 1; i <= 20; i++) {
		loggen_wait(gen, 700);
		loggen_say(gen, "loop_warmup_step: %d/20", i);
	}
	gen->ops->val_row(gen, gen->ops->first_loss);
}

/* Half way through, the middle layers start to loop and each step is slower. */
static void min_mark(struct loggen *gen)
{
	if (gen->looping || gen->train_ms < gen->recipe.cap_s * 500)
		return;
	gen->looping = true;
	loggen_say(gen,
		   "layer_loop:enabled step:%u frac:0.500 "
		   "encoder:[0, 1, 2, 3, 4, 5, 4] "
		   "decoder:[5, 4, 5, 6, 7, 8, 9, 10]",
		   gen->step);
}

static void min_train_row(struct loggen *gen, double loss)
{
	loggen_say(gen, "%u/%u train_loss: %.4f train_time: %.1fm tok/s: %.0f", gen->step,
		   gen->recipe.planned_steps, loss, gen->train_ms / 60000,
		   (double)gen->step * gen->recipe.batch_tokens / (gen->train_ms / 1000));
}

static void min_val_row(struct loggen *gen, double loss)
{
	loggen_say(gen, "%u/%u val_loss: %.4f val_bpb: %.4f", gen->step, gen->recipe.planned_steps,
		   loss, loss * gen->ops->bpb_per_loss);
}

/* One stage of the evaluation, which takes about the given time in ms. */
static void min_stage(struct loggen *gen, const char *name, double bpb, double ms)
{
	double took_ms = ms * (1 + 0.02 * loggen_normal(gen));

	loggen_wait(gen, took_ms);
	loggen_say(gen, "%s val_loss:%.8f val_bpb:%.8f eval_time:%.0fms", name, loss_of(gen, bpb),
		   bpb, took_ms);
}

/* Test-time training: chunk after chunk, with a running BPB. */
static void min_ttt(struct loggen *gen, double bpb)
{
	unsigned int n = 1238;
	double begin = gen->now_ms, took;

	loggen_say(gen,
		   "ttt_sliding:start chunks=%u chunk_tokens=32768 "
		   "ttt_lr=0.005 ttt_epochs=3",
		   n);
	for (unsigned int i = 1; i <= n; i += 10) {
		loggen_wait(gen, 3300 * (1 + 0.02 * loggen_normal(gen)));
		loggen_say(gen, "  ttt_chunk [%u/%u] bpb=%.6f time=%.1fs", i, n,
			   bpb + 0.04 / (1 + i * 0.05) + 0.001 * loggen_normal(gen) / sqrt(i),
			   (gen->now_ms - begin) / 1000);
	}
	loggen_wait(gen, 1500);
	took = gen->now_ms - begin;
	loggen_say(gen,
		   "ttt_sliding:done val_loss=%.6f val_bpb=%.6f "
		   "elapsed=%.1fs",
		   loss_of(gen, bpb), bpb, took / 1000);
	loggen_wait(gen, 400);
	loggen_say(gen,
		   "legal_ttt_exact val_loss:%.8f val_bpb:%.8f "
		   "eval_time:%.0fms",
		   loss_of(gen, bpb), bpb, took + 400);
}

static void min_end(struct loggen *gen)
{
	unsigned int code = 15516, model = model_bytes(gen, code);

	if (gen->recipe.cap_s > 0 && gen->step < gen->recipe.planned_steps)
		loggen_say(gen,
			   "stopping_early: wallclock_cap train_time: %.0fms "
			   "step: %u/%u",
			   gen->train_ms, gen->step, gen->recipe.planned_steps);
	loggen_say(gen, "peak memory allocated: 35372 MiB reserved: 35418 MiB");
	loggen_say(gen, "ema:applying EMA weights");
	min_stage(gen, "pre-quantization post-ema", noisy_score(gen, 0.0092), 6003);
	loggen_say(gen, "Serialized model: 135426937 bytes");
	loggen_say(gen, "Code size: %u bytes", code);
	loggen_say(gen, "GPTQ:collecting Hessians from calibration data...");
	loggen_wait(gen, 11300);
	loggen_say(gen, "GPTQ:collected 67 Hessians in 11.3s");
	loggen_wait(gen, 14000);
	loggen_say(gen, "Serialized model quantized+brotli: %u bytes", model);
	loggen_say(gen, "Total submission size quantized+brotli: %u bytes", model + code);
	min_stage(gen, "quantized", noisy_score(gen, 0.0216), 7531);
	min_stage(gen, "quantized_sliding_window", noisy_score(gen, 0.0047), 83990);
	min_ttt(gen, noisy_score(gen, 0));
}

const struct loggen_dialect_ops loggen_golf_min = {
	.first_loss = 9.0092,
	.bpb_per_loss = 0.387127,
	.raw_above = 0.0100,
	.begin = min_begin,
	.mark = min_mark,
	.train_row = min_train_row,
	.val_row = min_val_row,
	.end = min_end,
};
