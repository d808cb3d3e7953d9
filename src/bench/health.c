/* SPDX-License-Identifier: MIT */
/* Parse what the launcher recorded about a pod during a run. */
#include "bench/health.h"

#include <ctype.h>
#include <math.h>

#include "base/clock.h"
#include "base/xalloc.h"

#define MAX_CELLS 16
/* An idle GPU lowers its clock, so idle samples are ignored. */
#define BUSY_PCT    20.0
#define NEAR_S	    5.0
#define CLOCK_TICKS 100.0 /* USER_HZ, unit of /proc/stat */
#define NS_IN_S	    1e9
#define US_IN_S	    1e6
#define DAY_S	    86400.0
/* Uncertainty of a row's time: two samples of host.csv, or two stamps on a busy machine. */
#define PACE_S	       2.5
#define PACE_STAMPED_S 0.5

/* Columns of gpu.csv. */
enum { GPU_TIME, GPU_SM = 2, GPU_TEMP = 4, GPU_POWER, GPU_UTIL, GPU_REASONS };
/* Columns of host.csv. */
enum { HOST_UP, HOST_BYTES, HOST_LOAD, HOST_BUSY, HOST_STEAL, HOST_WAIT, HOST_QUOTA, HOST_COLUMNS };

static size_t split_cells(struct str line, char separator, struct str cells[MAX_CELLS])
{
	size_t n = 0;
	struct str cell;

	while (n < MAX_CELLS && str_next(&line, separator, &cell))
		cells[n++] = str_trim(cell);
	return n;
}

/* A cell as a number; NAN: missing, negative or not a number. */
static double read_number(const struct str *cells, size_t n, size_t column)
{
	double value;

	if (column >= n || !str_to_double(cells[column], &value) || !(value >= 0.0) || value > 1e18)
		return (double)NAN;
	return value;
}

/* "2026/11/20 21:00:00.125" as seconds; NAN: not a timestamp. */
static double read_timestamp(struct str text)
{
	double fraction = 0.0;

	if (text.len > 20 && text.p[19] == '.')
		(void)str_to_double((struct str){ text.p + 19, text.len - 19 }, &fraction);
	return clock_read_s(text) + fraction;
}

/* Links the wall clock of nvidia-smi to the uptime; from the first line of host.csv. */
struct anchor {
	double up_s, stamp_s; /* one moment by both clocks */
};

/* Parse "# cores 16 up 123.45 date 2026/11/20 21:00:00.125". */
static void parse_head(struct health *health, struct str line, struct anchor *anchor)
{
	struct str word;
	double value;

	while (str_next(&line, ' ', &word)) {
		if (str_eq_cstr(word, "date")) {
			anchor->stamp_s = read_timestamp(str_trim(line));
			return;
		}
		if (str_eq_cstr(word, "cores") && str_next(&line, ' ', &word) &&
		    str_to_double(word, &value) && value > 0.0)
			health->cores = value;
		else if (str_eq_cstr(word, "up") && str_next(&line, ' ', &word) &&
			 str_to_double(word, &value))
			anchor->up_s = value;
	}
}

/* Append a pid, and the process name if it has only letters, digits and "_.+-". */
static void append_pid(char out[HEALTH_FOREIGN_SIZE], const char *glue, struct str pid,
		       struct str name)
{
	size_t len = strlen(out);
	uint64_t number;

	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.p[i]) && strchr("_.+-", name.p[i]) == NULL)
			name.len = 0;
	if (pid.len < 10 && str_to_u64(pid, &number))
		(void)snprintf(out + len, HEALTH_FOREIGN_SIZE - len, "%s%.*s%s%.*s",
			       len > 0 ? glue : "", (int)pid.len, pid.p, name.len > 0 ? " " : "",
			       (int)name.len, name.p);
}

/* Parse a remark: "! stamps" (there are stamps), "! unfinished" (a process ran for a moment longer
 * than the run), "! foreign 4711" (another program used the GPUs) or "! left 4711 88172 python3" (a
 * process outlived the run; pid, start in ticks, name). */
static void parse_remark(struct health *health, struct str line)
{
	struct str word, pid, start;

	(void)str_next(&line, ' ', &word);
	if (!str_next(&line, ' ', &word))
		return;
	health->stamping |= str_eq_cstr(word, "stamps");
	health->unfinished = fmax(health->unfinished, str_eq_cstr(word, "unfinished"));
	if (str_eq_cstr(word, "foreign")) {
		append_pid(health->foreign, " ", str_trim(line), STR_LIT(""));
	} else if (str_eq_cstr(word, "left") && str_next(&line, ' ', &pid) &&
		   str_next(&line, ' ', &start)) {
		health->n_left++;
		append_pid(health->left, ", ", pid, str_trim(line));
	}
}

static void parse_host(struct health *health, struct str line)
{
	struct str cells[MAX_CELLS];
	size_t n = split_cells(line, ',', cells);
	double up = read_number(cells, n, HOST_UP);
	double bytes = read_number(cells, n, HOST_BYTES);
	const struct health_host *before =
		health->n_host > 0 ? &health->host[health->n_host - 1] : NULL;

	if (n < HOST_COLUMNS || isnan(up) || health->n_host == HEALTH_MAX_SAMPLES ||
	    (before != NULL && up < before->up_s))
		return;
	/* A log only grows.  After the run, its size is no longer sampled. */
	if (before != NULL && !(bytes >= before->log_bytes) && !isnan(before->log_bytes))
		bytes = before->log_bytes;
	*xplace(health->host, health->n_host, health->cap_host) = (struct health_host){
		.up_s = up,
		.log_bytes = bytes,
		.load1 = read_number(cells, n, HOST_LOAD),
		.busy_s = read_number(cells, n, HOST_BUSY) / CLOCK_TICKS,
		.steal_s = read_number(cells, n, HOST_STEAL) / CLOCK_TICKS,
		.wait_s = read_number(cells, n, HOST_WAIT) / NS_IN_S,
		.quota_s = read_number(cells, n, HOST_QUOTA) / US_IN_S,
	};
}

static void parse_gpu(struct health *health, struct str line, const struct anchor *anchor)
{
	struct str cells[MAX_CELLS];
	size_t n = split_cells(line, ',', cells);

	if (n <= GPU_REASONS || health->n_gpu == HEALTH_MAX_SAMPLES)
		return;
	/* The timestamps have no time zone.  A change of it during a run is not handled. */
	double away = read_timestamp(cells[GPU_TIME]) - anchor->stamp_s;
	*xplace(health->gpu, health->n_gpu, health->cap_gpu) = (struct health_gpu){
		.up_s = fabs(away) < DAY_S * 30.0 ? anchor->up_s + away : (double)NAN,
		.sm_mhz = read_number(cells, n, GPU_SM),
		.temp_c = read_number(cells, n, GPU_TEMP),
		.power_w = read_number(cells, n, GPU_POWER),
		.util_pct = read_number(cells, n, GPU_UTIL),
		.reasons = strtoul(cells[GPU_REASONS].p, NULL, 16),
	};
}

/* Parse "1234 987654321 987654000": a size, a time when the log had that size, and an earlier time
 * when the log was still smaller (ns).  False if the line is not a valid stamp. */
static bool parse_stamp(struct health *health, struct str line, double up_s, double ns)
{
	struct str cells[MAX_CELLS];
	const struct health_stamp *before =
		health->n_stamps > 0 ? &health->stamps[health->n_stamps - 1] : NULL;
	struct health_stamp stamp;
	size_t n = split_cells(line, ' ', cells);

	stamp.log_bytes = read_number(cells, n, 0);
	stamp.up_s = up_s + (read_number(cells, n, 1) - ns) / NS_IN_S;
	stamp.after_s = up_s + (read_number(cells, n, 2) - ns) / NS_IN_S;
	if (isnan(stamp.log_bytes + stamp.up_s) || !(stamp.after_s <= stamp.up_s) ||
	    health->n_stamps == HEALTH_MAX_SAMPLES ||
	    (before != NULL &&
	     (stamp.log_bytes <= before->log_bytes || stamp.after_s < before->after_s)))
		return false;
	xpush(health->stamps, health->n_stamps, health->cap_stamps, stamp);
	return true;
}

/* Parse all stamps.  The first line, "# up 123.45 ns 987654321", gives a moment by both clocks. */
static void parse_stamps(struct health *health, struct str stamps)
{
	struct str line, cells[MAX_CELLS];

	if (!str_next(&stamps, '\n', &line))
		return;
	size_t n = split_cells(line, ' ', cells);
	double up_s = read_number(cells, n, 2), ns = read_number(cells, n, 4);
	bool whole = !isnan(up_s + ns) && str_eq_cstr(cells[0], "#");
	while (whole && stamps.len > 0 && str_next(&stamps, '\n', &line))
		whole = parse_stamp(health, line, up_s, ns);
	if (!whole)
		health->n_stamps = 0;
}

void health_init(struct health *health, struct str host, struct str gpu, struct str stamps)
{
	struct anchor anchor = { (double)NAN, (double)NAN };
	struct str line;

	*health = (struct health){ .cores = (double)NAN };
	while (str_next(&host, '\n', &line)) {
		if (line.len > 0 && line.p[0] == '#')
			parse_head(health, line, &anchor);
		else if (line.len > 0 && line.p[0] == '!')
			parse_remark(health, line);
		else
			parse_host(health, line);
	}
	while (str_next(&gpu, '\n', &line))
		parse_gpu(health, line, &anchor);
	parse_stamps(health, stamps);
}

void health_release(struct health *health)
{
	free(health->gpu);
	free(health->host);
	free(health->stamps);
	*health = (struct health){ 0 };
}

double health_pace_s(const struct health *health)
{
	return health->n_stamps > 0 ? PACE_STAMPED_S : PACE_S;
}

double health_time_of(const struct health *health, double log_bytes, double *after_s)
{
	size_t n = health->n_host;
	size_t at = bisect(health->n_stamps, i, !(health->stamps[i].log_bytes >= log_bytes));

	if (at < health->n_stamps) {
		*after_s = health->stamps[at].after_s;
		return health->stamps[at].up_s;
	}
	*after_s = (double)NAN;
	if (n == 0 || isnan(log_bytes) || isnan(health->host[n - 1].log_bytes))
		return (double)NAN;
	/* An unknown size counts as smaller. */
	at = bisect(n, i, !(health->host[i].log_bytes >= log_bytes));
	*after_s = health->host[at > 0 ? at - 1 : 0].up_s;
	/* If no sample has reached this size, return the time of the last one. */
	return health->host[at < n ? at : n - 1].up_s;
}

const struct health_gpu *health_gpu_at(const struct health *health, double up_s)
{
	const struct health_gpu *best = NULL;
	size_t at = bisect(health->n_gpu, i, health->gpu[i].up_s < up_s);

	for (size_t i = at > 0 ? at - 1 : 0; i <= at && i < health->n_gpu; i++)
		if (fabs(health->gpu[i].up_s - up_s) <= NEAR_S &&
		    (best == NULL || fabs(health->gpu[i].up_s - up_s) < fabs(best->up_s - up_s)))
			best = &health->gpu[i];
	return best;
}

/* A running mean that ignores NAN. */
struct mean {
	double sum;
	size_t n;
};

static void add_to_mean(struct mean *mean, double value)
{
	if (isnan(value))
		return;
	mean->sum += value;
	mean->n++;
}

static double get_mean(const struct mean *mean)
{
	return mean->n > 0 ? mean->sum / (double)mean->n : (double)NAN;
}

static void summarize_gpu(const struct health *health, double from_s, double to_s,
			  struct health_sum *sum)
{
	struct mean sm = { 0.0, 0 }, power = sm, util = sm, capped = sm;

	array_each (gpu, health->gpu, health->n_gpu) {
		if (gpu->up_s < from_s || gpu->up_s > to_s)
			continue;
		sum->n_gpu++;
		add_to_mean(&power, gpu->power_w);
		add_to_mean(&util, gpu->util_pct);
		if (!(gpu->util_pct < BUSY_PCT)) {
			add_to_mean(&sm, gpu->sm_mhz);
			add_to_mean(&capped, gpu->reasons & HEALTH_POWER_CAP ? 1.0 : 0.0);
		}
		sum->temp_c = fmax(sum->temp_c, gpu->temp_c);
		sum->reasons |= gpu->reasons;
	}
	sum->sm_mhz = get_mean(&sm);
	sum->power_w = get_mean(&power);
	sum->util_pct = get_mean(&util);
	sum->power_cap_share = get_mean(&capped);
}

struct health_sum health_sum(const struct health *health, double from_s, double to_s)
{
	struct health_sum sum = {
		.temp_c = (double)NAN,
		.cores = health->cores,
		.stamped = health->n_stamps > 0,
		.load1 = (double)NAN,
		.busy_cores = (double)NAN,
		.steal_s = (double)NAN,
		.wait_s = (double)NAN,
		.quota_s = (double)NAN,
		.printed_s = (double)NAN,
		.took_s = (double)NAN,
		.shown_least_s = (double)NAN,
		.shown_most_s = (double)NAN,
	};

	summarize_gpu(health, from_s, to_s, &sum);
	memcpy(sum.foreign, health->foreign, sizeof(sum.foreign));
	memcpy(sum.left, health->left, sizeof(sum.left));
	sum.n_left = health->n_left;
	sum.unfinished = health->unfinished;
	if (health->n_host == 0)
		return sum;
	const struct health_host *first = &health->host[0];
	const struct health_host *last = &health->host[health->n_host - 1];
	sum.load1 = first->load1;
	if (last->up_s > first->up_s)
		sum.busy_cores = (last->busy_s - first->busy_s) / (last->up_s - first->up_s);
	sum.steal_s = last->steal_s - first->steal_s;
	sum.quota_s = last->quota_s - first->quota_s;
	/* wait_s is a sum over live processes and decreases when one ends, so take the largest. */
	for (size_t i = 0; i < health->n_host; i++)
		sum.wait_s = fmax(sum.wait_s, health->host[i].wait_s);
	return sum;
}
