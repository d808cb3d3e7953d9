/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* All metrics that a log line can contain, each in one unit. The name is used for groups in format
 * rules, in v_samples, and as keys of `samples --json`.
 *
 *   id, name, unit, what */
#define METRIC_LIST(X)                                                                      \
	X(STEP, "step", "", "optimizer step")                                               \
	X(PLANNED, "planned", "", "planned number of steps")                                \
	X(TRAIN_LOSS, "train_loss", "nats", "training loss")                                \
	X(VAL_LOSS, "val_loss", "nats", "validation loss")                                  \
	X(VAL_BPB, "val_bpb", "bpb", "validation bits per byte")                            \
	X(TRAIN_MS, "train_ms", "ms", "training time since the start, exact")               \
	X(TRAIN_MIN, "train_min", "min", "training time since the start, with one decimal") \
	X(STEP_AVG_MS, "step_avg_ms", "ms", "mean step time, as printed")                   \
	X(STEP_MS, "step_ms", "ms", "time of one step, as printed")                         \
	X(TOK_S, "tok_s", "tok/s", "throughput, as printed")                                \
	X(TOK_S_DEVICE, "tok_s_device", "tok/s", "throughput of one device, as printed")    \
	X(MS_PER_STEP, "ms_per_step", "ms", "step time since the previous row")             \
	X(TOK_S_INTERVAL, "tok_s_interval", "tok/s", "throughput since the previous row")   \
	X(FITNESS, "fitness", "", "fitness of an evolution step")                           \
	X(SCORE, "score", "", "figure of an evaluation, under its printed name")            \
	X(EVAL_MS, "eval_ms", "ms", "time of one evaluation")                               \
	X(EVAL_TOTAL_S, "eval_total_s", "s", "total evaluation time")                       \
	X(RUNNING_BPB, "running_bpb", "bpb", "BPB of an evaluation in progress")            \
	X(DONE, "done", "", "units finished by an evaluation in progress")                  \
	X(TOTAL, "total", "", "total units of an evaluation")                               \
	X(ARTIFACT_BYTES, "artifact_bytes", "bytes",                                        \
	  "compressed model and code, compared with the size cap")                          \
	X(RAW_BYTES, "raw_bytes", "bytes", "uncompressed model and code")                   \
	X(CODE_BYTES, "code_bytes", "bytes", "counted code")                                \
	X(MODEL_BYTES, "model_bytes", "bytes", "compressed model")                          \
	X(PEAK_MEM_MIB, "peak_mem_mib", "MiB", "peak GPU memory allocated")                 \
	X(SEED, "seed", "", "random seed")                                                  \
	X(N_GPUS, "n_gpus", "", "number of GPUs")                                           \
	X(GRAD_ACCUM, "grad_accum", "", "gradient accumulation steps")                      \
	X(TRAIN_BATCH_TOKENS, "train_batch_tokens", "tokens", "batch")                      \
	X(VAL_TOKENS, "val_tokens", "tokens", "validation tokens")                          \
	X(TARGET_TOKENS, "target_tokens", "tokens", "scored target tokens")                 \
	X(CAP_S, "cap_s", "s", "training time cap set by the run")                          \
	X(GPU_UTIL, "gpu_util", "%", "GPU utilization")                                     \
	X(GPU_MEM_MIB, "gpu_mem_mib", "MiB", "GPU memory used")                             \
	X(GPU_POWER_W, "gpu_power_w", "W", "GPU power")                                     \
	X(GPU_TEMP_C, "gpu_temp_c", "C", "GPU temperature")                                 \
	X(GPU_SM_MHZ, "gpu_sm_mhz", "MHz", "SM clock")                                      \
	X(GPU_THROTTLE, "gpu_throttle", "", "throttle reason bits")                         \
	X(HOST_LOAD, "host_load", "", "load average of the pod, 1 min")

/* The last metrics of the list, which pods report: member of struct telemetry, and column. */
#define TELEMETRY_FIRST METRIC_GPU_UTIL
#define TELEMETRY_COUNT (METRIC_COUNT - TELEMETRY_FIRST)
#define TELEMETRY_LIST(X)             \
	X(GPU_UTIL, gpu_util)         \
	X(GPU_MEM_MIB, gpu_mem_mib)   \
	X(GPU_POWER_W, gpu_power_w)   \
	X(GPU_TEMP_C, gpu_temp_c)     \
	X(GPU_SM_MHZ, gpu_sm_mhz)     \
	X(GPU_THROTTLE, gpu_throttle) \
	X(HOST_LOAD, host_load)

#define METRIC_ID(id, name, unit, what) METRIC_##id,
enum metric { METRIC_LIST(METRIC_ID) METRIC_COUNT };

struct metric_info {
	const char *name, *unit, *what;
};

/* The names of all metrics, ended by NULL. */
extern const char *const metric_names[];

/* Return the entry of m in the list above; static. */
const struct metric_info *metric_info(enum metric m);

/* Find the metric of that name, or return METRIC_COUNT. */
enum metric metric_by_name(struct str name);
