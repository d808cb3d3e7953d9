/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"

/*
 * What a pod says of itself every few seconds.  The script of
 * telemetry_script prints one block each time it reads a line from stdin and
 * ends with stdin:
 *
 *	HGT1 <
 *	L <first line of /proc/loadavg>
 *	D <free KiB of the folder of the logs>
 *	G <one line a GPU, CSV of TELEMETRY_QUERY>
 *	HGT1 >
 *
 * All else on the stream (what a login shell prints) is passed over.
 */
#define TELEMETRY_QUERY                                                      \
	"index,name,utilization.gpu,memory.used,power.draw,temperature.gpu," \
	"clocks.sm,clocks_throttle_reasons.active"

#define TELEMETRY_MAX_GPUS 64

struct telemetry_gpu {
	int index; /* of nvidia-smi */
	double util, mem_mib, power_w, temp_c, sm_mhz, throttle;
};

/* The members of TELEMETRY_LIST are, over all counted GPUs: mean, highest, sum, highest, lowest
 * and, for the bits of NVML's clocks throttle reasons, union.  RUN_ABSENT: unknown. */
struct telemetry {
#define X(metric, name) double name;
	TELEMETRY_LIST(X)
#undef X
	double disk_free_bytes;
	unsigned int n_gpus;			       /* that were counted */
	char gpu_name[64];			       /* of the first one; "" without a GPU */
	double gpu_busiest;			       /* highest utilisation of one */
	struct telemetry_gpu gpus[TELEMETRY_MAX_GPUS]; /* n_gpus of them */
};

struct telemetry_reader {
	struct telemetry now; /* of the block under way, then the last whole */
	bool inside;
	double util_sum;
	unsigned int n_util;
	uint64_t throttle;
	uint64_t gpus; /* bit i: GPU i counts; 0: all do */
};

/* gpus (indices) are those of the configuration; n 0: all count. */
void telemetry_init(struct telemetry_reader *reader, const int *gpus, size_t n_gpus);

/* Take a line without its end; true when a block is whole: see ->now. */
bool telemetry_line(struct telemetry_reader *reader, struct str line);

/*
 * The shell script; $1 is the folder whose free space counts.  For `sh -c
 * SCRIPT sh FOLDER` on the pod.
 */
extern const char telemetry_script[];
