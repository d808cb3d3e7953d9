/* SPDX-License-Identifier: MIT */
/* Parse the telemetry of a pod: nvidia-smi, load and free disk space. */
#include "parsers/telemetry.h"

#include <stdlib.h>

const char telemetry_script[] = "while read -r _; do\n"
				"echo 'HGT1 <'\n"
				"read -r l </proc/loadavg && echo \"L $l\"\n"
				"df -Pk \"$1\" 2>/dev/null | while read -r a b c d e; do\n"
				"case $d in *[!0-9]*|'') ;; *) echo \"D $d\";; esac; done\n"
				"if command -v nvidia-smi >/dev/null 2>&1; then\n"
				"t=; command -v timeout >/dev/null 2>&1 && t='timeout 10'\n"
				"$t nvidia-smi --query-gpu=" TELEMETRY_QUERY
				" --format=csv,noheader,nounits 2>/dev/null </dev/null |\n"
				"while read -r l; do echo \"G $l\"; done\n"
				"fi\n"
				"echo 'HGT1 >'\n"
				"done\n";

/* Columns, in the order of TELEMETRY_QUERY. */
enum column {
	COLUMN_INDEX,
	COLUMN_NAME,
	COLUMN_UTIL,
	COLUMN_MEM,
	COLUMN_POWER,
	COLUMN_TEMP,
	COLUMN_SM,
	COLUMN_THROTTLE,
	COLUMN_COUNT,
};

void telemetry_init(struct telemetry_reader *reader, const int *gpus, size_t n_gpus)
{
	memset(reader, 0, sizeof(*reader));
	for (size_t i = 0; i < n_gpus; i++)
		if (gpus[i] >= 0 && gpus[i] < TELEMETRY_MAX_GPUS)
			reader->gpus |= UINT64_C(1) << gpus[i];
}

#define X(metric, name)                                                              \
	_Static_assert(offsetof(struct telemetry, name) ==                           \
			       (METRIC_##metric - TELEMETRY_FIRST) * sizeof(double), \
		       #name);
TELEMETRY_LIST(X)
#undef X

static void start_block(struct telemetry_reader *r)
{
	struct telemetry *now = &r->now;

	for (int i = 0; i < TELEMETRY_COUNT; i++)
		now->values[i] = RUN_ABSENT;
	now->disk_free_bytes = now->gpu_busiest = RUN_ABSENT;
	now->n_gpus = 0;
	now->gpu_name[0] = '\0';
	r->util_sum = 0;
	r->n_util = 0;
	r->throttle = 0;
	r->inside = true;
}

/* Parse a number; "[N/A]" and similar cells are absent. */
static double parse_number(struct str cell)
{
	double value = RUN_ABSENT;

	if (!str_to_double(cell, &value) || !isfinite(value))
		return RUN_ABSENT;
	return value;
}

/* Parse "0x0000000000000004"; RUN_ABSENT for anything else. Drivers print all ones if they cannot
 * read the reasons; like every mask above 53 bits, that does not fit into a double. */
static double parse_mask(struct str cell)
{
	char text[24], *end;

	if (cell.len < 3 || cell.len > 18 || !str_starts_with(cell, "0x"))
		return RUN_ABSENT;
	print_into(text, "%.*s", (int)cell.len, cell.p);
	uint64_t bits = strtoull(text + 2, &end, 16);
	return *end == '\0' && bits < UINT64_C(1) << 53 ? (double)bits : RUN_ABSENT;
}

/* Add a GPU to the mean, sum, maximum and minimum of all. */
static void count_gpu(struct telemetry_reader *r, const struct telemetry_gpu *gpu)
{
	struct telemetry *now = &r->now;

	if (run_has(gpu->util)) {
		r->util_sum += gpu->util;
		now->gpu_util = r->util_sum / ++r->n_util;
	}
	if (run_has(gpu->power_w))
		now->gpu_power_w =
			(run_has(now->gpu_power_w) ? now->gpu_power_w : 0) + gpu->power_w;
	/* With one number absent, fmax and fmin return the other one. */
	now->gpu_busiest = fmax(now->gpu_busiest, gpu->util);
	now->gpu_mem_mib = fmax(now->gpu_mem_mib, gpu->mem_mib);
	now->gpu_temp_c = fmax(now->gpu_temp_c, gpu->temp_c);
	now->gpu_sm_mhz = fmin(now->gpu_sm_mhz, gpu->sm_mhz);
	if (run_has(gpu->throttle)) {
		r->throttle |= (uint64_t)gpu->throttle;
		now->gpu_throttle = (double)r->throttle;
	}
}

static void parse_gpu(struct telemetry_reader *r, struct str line)
{
	struct str cells[COLUMN_COUNT], cell;
	struct telemetry *now = &r->now;
	size_t n = 0;
	int64_t index;

	while (n < COLUMN_COUNT && str_next(&line, ',', &cell))
		cells[n++] = str_trim(cell);
	if (n != COLUMN_COUNT || !str_to_i64(cells[COLUMN_INDEX], &index) || index < 0 ||
	    index >= TELEMETRY_MAX_GPUS)
		return;
	if ((r->gpus != 0 && (r->gpus >> index & 1) == 0) || now->n_gpus >= TELEMETRY_MAX_GPUS)
		return;
	if (now->n_gpus == 0)
		print_into(now->gpu_name, "%.*s", (int)cells[COLUMN_NAME].len,
			   cells[COLUMN_NAME].p);
	struct telemetry_gpu *gpu = &now->gpus[now->n_gpus++];
	*gpu = (struct telemetry_gpu){
		.index = (int)index,
		.util = parse_number(cells[COLUMN_UTIL]),
		.mem_mib = parse_number(cells[COLUMN_MEM]),
		.power_w = parse_number(cells[COLUMN_POWER]),
		.temp_c = parse_number(cells[COLUMN_TEMP]),
		.sm_mhz = parse_number(cells[COLUMN_SM]),
		.throttle = parse_mask(cells[COLUMN_THROTTLE]),
	};
	count_gpu(r, gpu);
}

bool telemetry_line(struct telemetry_reader *r, struct str line)
{
	line = str_trim(line);
	if (str_eq_cstr(line, "HGT1 <")) {
		start_block(r);
		return false;
	}
	if (!r->inside)
		return false;
	if (str_eq_cstr(line, "HGT1 >")) {
		r->inside = false;
		return true;
	}
	if (line.len < 3 || line.p[1] != ' ')
		return false;
	struct str word = str_skip(line, 2);
	if (line.p[0] == 'G') {
		parse_gpu(r, word);
	} else if (line.p[0] == 'D') {
		r->now.disk_free_bytes = parse_number(word) * 1024;
	} else if (line.p[0] == 'L') {
		struct str first;

		if (str_next(&word, ' ', &first))
			r->now.host_load = parse_number(first);
	}
	return false;
}
