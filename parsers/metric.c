/* SPDX-License-Identifier: MIT */
/* The table of metrics by number and by name. */
#include "config.h"

#include "parsers/metric.h"

static const struct metric_info infos[METRIC_COUNT] = {
#define X(id, name, unit, what) [METRIC_##id] = { name, unit, what },
	METRIC_LIST(X)
#undef X
};

const struct metric_info *
metric_info(enum metric m)
{
	return &infos[m];
}

enum metric
metric_by_name(struct str name)
{
	for (int m = 0; m < METRIC_COUNT; m++)
		if (str_eq_cstr(name, infos[m].name))
			return (enum metric)m;
	return METRIC_COUNT;
}
