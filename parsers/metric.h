/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/*
 * Every number that a log line can give, in its one unit.  The name is the
 * named group of a format rule (parsers/formats), the metric of v_samples,
 * and the key of `samples --json`.
 *
 *	id		name		unit	what
 */
#define METRIC_LIST(X)                                                                   \
	X(STEP, "step", "", "optimizer step")                                            \
	X(PLANNED, "planned", "", "steps planned")                                       \
	X(TRAIN_LOSS, "train_loss", "nats", "training loss")                             \
	X(VAL_LOSS, "val_loss", "nats", "validation loss")                               \
	X(VAL_BPB, "val_bpb", "bpb", "validation bits per byte")                         \
	X(TRAIN_MS, "train_ms", "ms", "training time so far, exact")                     \
	X(TRAIN_MIN, "train_min", "min", "training time so far, one decimal")            \
	X(STEP_AVG_MS, "step_avg_ms", "ms", "mean step time as printed")                 \
	X(STEP_MS, "step_ms", "ms", "time of one step as printed")                       \
	X(TOK_S, "tok_s", "tok/s", "throughput as printed (cumulative)")                 \
	X(TOK_S_DEVICE, "tok_s_device", "tok/s", "throughput of one device, as printed") \
	X(MS_PER_STEP, "ms_per_step", "ms", "step time since the row before")            \
	X(TOK_S_INTERVAL, "tok_s_interval", "tok/s", "throughput since the row before")  \
	X(FITNESS, "fitness", "", "fitness of an evolution step")                        \
	X(SCORE, "score", "", "figure of an evaluation, under its own name")             \
	X(EVAL_MS, "eval_ms", "ms", "time of one evaluation")                            \
	X(EVAL_TOTAL_S, "eval_total_s", "s", "time of all of the evaluation")            \
	X(RUNNING_BPB, "running_bpb", "bpb", "BPB of an evaluation under way")           \
	X(DONE, "done", "", "units done of an evaluation under way")                     \
	X(TOTAL, "total", "", "units of an evaluation in all")                           \
	X(ARTIFACT_BYTES, "artifact_bytes", "bytes",                                     \
	  "compressed model and code: what counts against the cap")                      \
	X(RAW_BYTES, "raw_bytes", "bytes", "uncompressed model and code")                \
	X(CODE_BYTES, "code_bytes", "bytes", "code that counts")                         \
	X(MODEL_BYTES, "model_bytes", "bytes", "compressed model")                       \
	X(PEAK_MEM_MIB, "peak_mem_mib", "MiB", "peak GPU memory allocated")              \
	X(SEED, "seed", "", "random seed")                                               \
	X(N_GPUS, "n_gpus", "", "world size")                                            \
	X(GRAD_ACCUM, "grad_accum", "", "gradient accumulation steps")                   \
	X(TRAIN_BATCH_TOKENS, "train_batch_tokens", "tokens", "batch")                   \
	X(VAL_TOKENS, "val_tokens", "tokens", "tokens of validation")                    \
	X(TARGET_TOKENS, "target_tokens", "tokens", "targets scored")                    \
	X(CAP_S, "cap_s", "s", "training cap the run sets itself")                       \
	X(GPU_UTIL, "gpu_util", "%", "GPU utilisation")                                  \
	X(GPU_MEM_MIB, "gpu_mem_mib", "MiB", "GPU memory used")                          \
	X(GPU_POWER_W, "gpu_power_w", "W", "GPU power")                                  \
	X(GPU_TEMP_C, "gpu_temp_c", "C", "GPU temperature")                              \
	X(GPU_SM_MHZ, "gpu_sm_mhz", "MHz", "SM clock")                                   \
	X(GPU_THROTTLE, "gpu_throttle", "", "throttle reason bits")                      \
	X(HOST_LOAD, "host_load", "", "load average of the host, 1 min")

enum metric {
#define X(id, name, unit, what) METRIC_##id,
	METRIC_LIST(X)
#undef X
		METRIC_COUNT
};

struct metric_info {
	const char *name, *unit, *what;
};

/* Their names, ended by NULL. */
extern const char *const metric_names[];

/* The row of m in the list above; static. */
const struct metric_info *metric_info(enum metric m);

/* The metric of that name, or METRIC_COUNT. */
enum metric metric_by_name(struct str name);
