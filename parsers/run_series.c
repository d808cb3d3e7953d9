/* SPDX-License-Identifier: MIT */
/* Store the named numbers that a run printed. */
#include "parsers/run_series.h"

#include <pthread.h>

#include "base/map.h"
#include "base/utf8.h"
#include "parsers/json.h"

static struct run_series *find_series(struct run *run, struct str name, enum metric metric)
{
	if (name.len == 0 || name.len >= SERIES_NAME_BYTES)
		return NULL;
	return array_find(one, run->series, run->n_series,
			  one->metric == metric && one->name[0] == name.p[0] &&
				  memcmp(one->name, name.p, name.len) == 0 &&
				  one->name[name.len] == '\0');
}

/* Bytes at the end of a cut name that distinguish it from other names with the same start. */
#define CUT_MARK_BYTES 5

static void clean_name(char out[SERIES_NAME_BYTES], struct str raw)
{
	AUTO_BUF clean = buf_new(4 * SERIES_NAME_BYTES);

	utf8_sanitize(&clean, raw);
	struct str name = str_trim(buf_str(&clean));
	size_t n = name.len;
	if (n >= SERIES_NAME_BYTES)
		n = utf8_begin(name.p, SERIES_NAME_BYTES - 1 - CUT_MARK_BYTES);
	memcpy(out, name.p, n);
	out[n] = '\0';
	if (n < name.len)
		(void)snprintf(out + n, CUT_MARK_BYTES + 1, "~%04x",
			       (unsigned int)(str_hash(raw) & 0xFFFF));
}

static struct run_series *add_series(struct run *run, struct str name, struct str unit,
				     enum metric metric)
{
	struct run_series *series;
	char clean[4 * SERIES_UNIT_BYTES];

	if (run->n_series == RUN_MAX_SERIES) {
		run->series_dropped++;
		return NULL;
	}
	if (run->n_series % RUN_SERIES_CHUNK == 0)
		run->series = xreallocarray(run->series, run->n_series + RUN_SERIES_CHUNK,
					    sizeof(*run->series));
	series = &run->series[run->n_series++];
	*series = (struct run_series){ .metric = metric, .scale = 1 };
	series->first = series->last = series->min = series->max = series->min_step = RUN_ABSENT;
	memcpy(series->name, name.p, name.len);
	unit = str_trim(unit);
	if (unit.len < SERIES_UNIT_BYTES &&
	    strlen(utf8_clean(clean, sizeof(clean), unit)) < SERIES_UNIT_BYTES)
		memcpy(series->unit, clean, strlen(clean));
	return series;
}

/* Nearly all names are already in their stored form and are found at once. */
struct run_series *run_series_get(struct run *run, struct str name, struct str unit,
				  enum metric metric)
{
	char clean[SERIES_NAME_BYTES];

	name = str_trim(name);
	if (name.len == 0)
		return NULL;
	struct run_series *series = find_series(run, name, metric);
	if (series != NULL)
		return series;
	clean_name(clean, name);
	name = str_from(clean);
	series = find_series(run, name, metric);
	if (series != NULL || name.len == 0)
		return series;
	return add_series(run, name, unit, metric);
}

struct run_series *run_series_get_metric(struct run *run, enum metric metric)
{
	const struct metric_info *info = metric_info(metric);
	struct run_series *series =
		array_find(one, run->series, run->n_series,
			   one->metric == metric && strcmp(one->name, info->name) == 0);

	if (series != NULL)
		return series;
	return run_series_get(run, str_from(info->name), str_from(info->unit), metric);
}

/* Add a point; if its step exists already, replace the value. */
static void add_point(struct run_points *points, struct run_point point)
{
	size_t n = points->n, k = n;

	while (k > 0 && points->v[k - 1].step > point.step)
		k--;
	if (k > 0 && points->v[k - 1].step == point.step) {
		points->v[k - 1].value = point.value;
		return;
	}
	if (n == RUN_MAX_POINTS)
		return;
	if (n % RUN_POINTS_CHUNK == 0)
		points->v = xreallocarray(points->v, n + RUN_POINTS_CHUNK, sizeof(*points->v));
	memmove(&points->v[k + 1], &points->v[k], (n - k) * sizeof(*points->v));
	points->v[k] = point;
	points->n++;
}

void run_series_add(struct run_series *series, double value, double step)
{
	bool is_val = series->metric == METRIC_VAL_LOSS || series->metric == METRIC_VAL_BPB ||
		      (series->metric == METRIC_COUNT && strncasecmp(series->name, "val", 3) == 0);

	if (!isfinite(value))
		return;
	if (is_val && run_has(step))
		add_point(&series->validations, (struct run_point){ step, value });
	if (series->points++ == 0)
		series->first = value;
	series->last = value;
	if (!(value >= series->min)) {
		series->min = value;
		series->min_step = step;
	}
	if (!(value <= series->max))
		series->max = value;
}

/* The names of all series of all logs; each key is its own value. */
static struct map shared_names;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

const char *run_series_shared_name(struct run_series *series)
{
	const struct str key = str_from(series->name);
	char *shared;

	if (series->shared != NULL)
		return series->shared;
	(void)pthread_mutex_lock(&shared_lock);
	shared = map_get(&shared_names, key);
	if (shared == NULL && shared_names.count < SERIES_MAX_NAMES) {
		shared = xstrdup(series->name);
		(void)map_set(&shared_names, str_from(shared), shared);
	}
	(void)pthread_mutex_unlock(&shared_lock);
	series->shared = shared;
	return shared;
}

cJSON *run_series_to_json(const struct run *run)
{
	cJSON *array = cJSON_CreateArray();

	array_each (s, run->series, run->n_series) {
		bool has_metric = s->metric < METRIC_COUNT;

		json_add(json_add_row(array), JTEXT("name", s->name),
			 JTEXT("unit", s->unit[0] != '\0' ? s->unit : NULL),
			 JTEXT("metric", has_metric ? metric_info(s->metric)->name : NULL),
			 JNUM("points", s->points), JNUM("first", s->first), JNUM("last", s->last),
			 JNUM("min", s->min), JNUM("max", s->max), JNUM("min_step", s->min_step));
	}
	return array;
}

/* The suffix of a series name that is also the name of a metric. */
#define PRINTED " (printed)"

const char *series_label(enum metric metric, const char *name, char out[SERIES_LABEL_BYTES])
{
	bool is_own = metric == METRIC_COUNT;
	bool is_alike = is_own && metric_by_name(str_from(name)) < METRIC_COUNT;

	(void)snprintf(out, SERIES_LABEL_BYTES, "%s%s", is_own ? name : metric_info(metric)->name,
		       is_alike ? PRINTED : "");
	return out;
}

void series_printed_name(const char *label, char out[SERIES_NAME_BYTES])
{
	struct str name = str_from(label);

	if (str_ends_with(name, PRINTED))
		name.len -= strlen(PRINTED);
	if (name.len >= SERIES_NAME_BYTES)
		name.len = 0;
	memcpy(out, name.p, name.len);
	out[name.len] = '\0';
}

const struct run_series *run_series_find(const struct run *run, const char *name)
{
	const struct run_series *printed = NULL, *labelled = NULL;
	char label[SERIES_LABEL_BYTES];

	array_each (s, run->series, run->n_series) {
		bool is_label = strcmp(series_label(s->metric, s->name, label), name) == 0;

		if (is_label && s->metric < METRIC_COUNT)
			return s;
		if (printed == NULL && strcmp(s->name, name) == 0)
			printed = s;
		if (labelled == NULL && is_label)
			labelled = s;
	}
	return printed != NULL ? printed : labelled;
}

double run_series_last(const struct run_series *series, const char *name)
{
	bool by_metric = series->metric < METRIC_COUNT &&
			 strcmp(metric_info(series->metric)->name, name) == 0;

	return by_metric ? series->last * series->scale : series->last;
}

double run_last_value(const struct run *run, const char *name)
{
	const struct run_series *series = run_series_find(run, name);

	return series != NULL ? run_series_last(series, name) : RUN_ABSENT;
}
