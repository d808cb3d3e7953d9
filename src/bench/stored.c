/* SPDX-License-Identifier: MIT */
/* Benches whose results folders are gone, out of the database. */
#include "config.h"

#include "bench/stored.h"

#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "bench/report.h"
#include "bench/verdict_json.h"
#include "report/facts_print.h"
#include "store/benches.h"

#define REPORT_BYTES (64U << 10)

struct listing {
	char *const *ids;
	size_t n_ids;
	struct model_bench *out;
	size_t n, max;
};

/* What its verdict said. */
static char *
report_of(const struct stored_bench *bench, double *cost_usd)
{
	cJSON *root = NULL;
	struct facts facts;
	struct buf text;
	char *report;

	if (bench->verdict != NULL)
		root = json_parse(str_from(bench->verdict), JSON_BARE_NULL,
				  NULL);
	*cost_usd = verdict_number(root, "cost_usd");
	buf_init(&text, REPORT_BYTES);
	facts_init(&facts);
	report_facts(&facts, root);
	facts_print_text(&text, &facts);
	facts_release(&facts);
	buf_append_str(&text, "\nIts results folder is gone: this is what the "
			      "database remembers.\n");
	report = buf_detach(&text);
	buf_release(&text);
	cJSON_Delete(root);
	return report;
}

/* Rows come oldest first: the oldest of a full list makes room. */
static int
take_bench(void *user, const struct stored_bench *bench)
{
	struct listing *list = user;
	struct model_bench *out;

	for (size_t i = 0; i < list->n_ids; i++)
		if (strcmp(list->ids[i], bench->id) == 0)
			return 0;
	if (list->n == list->max)
		return 0;
	memmove(list->out + 1, list->out, list->n * sizeof(*list->out));
	list->n++;
	out = list->out;
	*out = (struct model_bench){
		.id = xstrdup(bench->id),
		.name = xstrdup(bench->name != NULL ? bench->name : bench->id),
		.state = xstrdup(bench->state != NULL ? bench->state
						      : "unknown"),
		.started_ms = bench->started_ms,
		.ended_ms = bench->ended_ms,
	};
	out->report = report_of(bench, &out->cost_usd);
	return 0;
}

size_t
bench_stored_list(struct context *context, char *const *ids, size_t n_ids,
		  struct model_bench *out, size_t max)
{
	struct listing list = { ids, n_ids, out, 0, max };

	if (context_open(context, CONTEXT_DB, NULL) == 0)
		(void)store_each_bench(context->store, NULL, take_bench, &list,
				       NULL);
	return list.n;
}
