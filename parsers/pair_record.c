/* SPDX-License-Identifier: MIT */
/* Fill a record from the named numbers of a line. */
#include "parsers/pair_record.h"

#include "parsers/meaning.h"

int pair_counter_rank(struct str name)
{
	if (str_is_like(name, "step num_updates"))
		return 2;
	return name.len > 4 && str_is_like(str_skip(name, name.len - 4), "step") ? 3 : 1;
}

struct pair_fill {
	struct record *record;
	uint64_t groups; /* metrics from groups of the rule */
	uint64_t unsure; /* metrics with two different numbers */
	int rank;	 /* of the counter in use; 0: none */
};

static void fill_metric(struct pair_fill *f, enum metric metric, double value)
{
	struct record *record = f->record;
	uint64_t bit = (uint64_t)1 << metric;

	if ((f->groups & bit) != 0)
		return;
	if (record_has(record, metric) && !run_same(record->values[metric], value))
		f->unsure |= bit;
	record->present |= bit;
	record->values[metric] = value;
}

static void fill_counter(struct pair_fill *f, const struct pair *pair)
{
	struct record *record = f->record;
	int rank = pair_counter_rank(pair->name);
	uint64_t bit = (uint64_t)1 << METRIC_STEP;

	if (rank > f->rank && (f->groups & bit) == 0) {
		record->present &= ~bit;
		f->unsure &= ~bit;
		f->rank = rank;
	}
	if (rank == f->rank)
		fill_metric(f, METRIC_STEP, pair->value);
	if (rank == f->rank && isfinite(pair->total))
		fill_metric(f, METRIC_PLANNED, pair->total);
}

static void use_total_loss(struct pair_fill *f, struct record_pair *rows, size_t n)
{
	struct record_pair *row = array_find(one, rows, n,
					     one->metric == METRIC_COUNT && one->unit.len == 0 &&
						     meaning_is_total_loss(one->name));

	if (row == NULL)
		return;
	row->metric = METRIC_TRAIN_LOSS;
	fill_metric(f, METRIC_TRAIN_LOSS, row->value);
}

void pair_record_fill(struct record *record, const struct pair *pairs, size_t n,
		      struct record_pair rows[PAIRS_MAX])
{
	struct pair_fill f = { record, record->present, 0, 0 };
	size_t k = 0;

	array_each (pair, pairs, n) {
		/* The rule's entry for the name, or for the unit of a number without one. */
		struct str printed = pair->name.len > 0 ? pair->name : pair->unit;
		const struct rule_name *name =
			array_find(one, record->rule->names, record->rule->n_names,
				   str_eq_cstr(printed, one->printed));
		struct record_pair row = { pair->name, pair->unit, pair->value, METRIC_COUNT, 1 };

		/* "v_num" in the bars of Lightning is the number of the folder */
		if (name != NULL ? name->skip : str_eq_cstr(pair->name, "v_num"))
			continue;
		row.metric = name != NULL ? name->metric : meaning_of(pair, &row.scale);
		if (name != NULL)
			row.scale = name->scale;
		if (row.metric == METRIC_STEP) {
			fill_counter(&f, pair);
			continue;
		}
		if (row.metric != METRIC_COUNT)
			fill_metric(&f, row.metric, row.value * row.scale);
		if (row.name.len == 0)
			row.name = row.unit;
		if (row.name.len > 0)
			rows[k++] = row;
	}
	if (!record_has(record, METRIC_TRAIN_LOSS))
		use_total_loss(&f, rows, k);
	record->present &= ~f.unsure;
	for (size_t i = 0; i < k; i++)
		if (rows[i].metric != METRIC_COUNT && (f.unsure >> rows[i].metric & 1) != 0)
			rows[i].metric = METRIC_COUNT;
	record->pairs = rows;
	record->n_pairs = k;
}
