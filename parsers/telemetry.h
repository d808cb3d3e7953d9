/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"

/*
 * Load, disk and GPUs of a pod, every few seconds. The script telemetry_script
 * prints one block for each line on stdin and ends with stdin:
 *
 *	HGT1 <
 *	L <first line of /proc/loadavg>
 *	D <free KiB of the folder of the logs>
 *	G <one line per GPU, CSV of TELEMETRY_QUERY>
 *	HGT1 >
 *
 * Everything else on the stream (output of a login shell) is ignored.
 */
#define TELEMETRY_QUERY                                                      \
	"index,name,utilization.gpu,memory.used,power.draw,temperature.gpu," \
	"clocks.sm,clocks_throttle_reasons.active"

#define TELEMETRY_MAX_GPUS 64

struct telemetry_gpu {
	int index; /* number of the GPU in nvidia-smi */
	double util, mem_mib, power_w, temp_c, sm_mhz, throttle;
};

/* The GPU members of TELEMETRY_LIST combine the configured GPUs: mean, highest, sum, highest,
 * lowest, and all bits of NVML's clocks throttle reasons. RUN_ABSENT: unknown. */
struct telemetry {
	union {
		double values[TELEMETRY_COUNT]; /* in the order of the metrics */
		struct {
#define X(metric, name) double name;
			TELEMETRY_LIST(X)
#undef X
		};
	};
	double disk_free_bytes;
	unsigned int n_gpus;			       /* only configured GPUs */
	char gpu_name[64];			       /* of the first one; "" without a GPU */
	double gpu_busiest;			       /* highest utilization */
	struct telemetry_gpu gpus[TELEMETRY_MAX_GPUS]; /* n_gpus elements */
};

struct telemetry_reader {
	struct telemetry now; /* the current block; complete after telemetry_line */
	bool inside;
	double util_sum;
	unsigned int n_util;
	uint64_t throttle;
	uint64_t gpus; /* bit i: GPU i counts; 0: all GPUs count */
};

/* gpus: indices from the configuration; n_gpus 0: all GPUs count. */
void telemetry_init(struct telemetry_reader *reader, const int *gpus, size_t n_gpus);

/* Parse a line without its newline; true if it completes the block in ->now. */
bool telemetry_line(struct telemetry_reader *reader, struct str line);

/* Run on the pod as `sh -c SCRIPT sh FOLDER`; reports the free space of FOLDER. */
extern const char telemetry_script[];
