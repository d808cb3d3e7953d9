/* SPDX-License-Identifier: MIT */
/* The named numbers of a line as a record of its rule. */
#include "parsers/pair_record.h"

#include "parsers/meaning.h"

/* What the rule says of a name, else of the unit; NULL: nothing. */
static const struct rule_name *find_name(const struct rule *rule, const struct pair *pair)
{
	struct str name = pair->name.len > 0 ? pair->name : pair->unit;

	return array_find(one, rule->names, rule->n_names, str_eq_cstr(name, one->printed));
}

int pair_counter_rank(struct str name)
{
	if (str_is_like(name, "step num_updates"))
		return 2;
	return name.len > 4 && str_is_like(str_skip(name, name.len - 4), "step") ? 3 : 1;
}

struct pair_fill {
	struct record *record;
	uint64_t groups; /* metrics that the rule's groups gave */
	uint64_t unsure; /* two numbers for one metric */
	int rank;	 /* of the counter that was taken; 0: none */
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

/* A row without a loss of that name may have its total. */
static void fill_total_loss(struct pair_fill *f, struct record_pair *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].metric == METRIC_COUNT && rows[i].unit.len == 0 &&
		    meaning_is_total_loss(rows[i].name)) {
			rows[i].metric = METRIC_TRAIN_LOSS;
			fill_metric(f, METRIC_TRAIN_LOSS, rows[i].value);
			return;
		}
}

void pair_record_fill(struct record *record, const struct pair *pairs, size_t n,
		      struct record_pair rows[PAIRS_MAX])
{
	struct pair_fill f = { record, record->present, 0, 0 };
	size_t k = 0;

	array_each (pair, pairs, n) {
		const struct rule_name *name = find_name(record->rule, pair);
		struct record_pair row = { pair->name, pair->unit, pair->value, METRIC_COUNT, 1 };

		/* Of Lightning's bars "v_num" is the number of the folder. */
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
		fill_total_loss(&f, rows, k);
	record->present &= ~f.unsure;
	for (size_t i = 0; i < k; i++)
		if (rows[i].metric != METRIC_COUNT && (f.unsure >> rows[i].metric & 1) != 0)
			rows[i].metric = METRIC_COUNT;
	record->pairs = rows;
	record->n_pairs = k;
}
