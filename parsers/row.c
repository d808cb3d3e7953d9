/* SPDX-License-Identifier: MIT */
/* Find the meaning of a row, and read rows that differ only in their numbers. */
#include "parsers/row.h"

#include "base/xalloc.h"
#include "parsers/meaning.h"

int row_counter_rank(struct str name)
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
	record_set(record, metric, value);
}

static void fill_counter(struct pair_fill *f, const struct pair *pair)
{
	struct record *record = f->record;
	int rank = row_counter_rank(pair->name);
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

bool row_fill(struct record *record, const struct pair *pairs, size_t n,
	      struct record_pair rows[PAIRS_MAX])
{
	struct pair_fill f = { record, record->present, 0, 0 };
	size_t k = 0;

	array_each (pair, pairs, n) {
		/* Use the rule's entry for the name or, without a name, for the unit. */
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
	return f.unsure == 0;
}

static struct row_text fixed_text(struct str text)
{
	size_t n = text.len;

	while (n > 0 && str_is_blank(text.p[n - 1]))
		n--;
	return (struct row_text){ text.p, n, n < text.len, load_word(text.p, n) };
}

/* Read a number as CSV and JSON print it; returns its end, or p if there is none. */
static const char *plain_number(const char *p, const char *end, double *value)
{
	const char *digit = p + (p < end && *p == '-');

	return digit < end && str_is_digit(*digit) ? str_take_number(p, end, value) : p;
}

/* Return the end of the quoted text at p; NULL: no end, or an escape. *is_stamp: may be a time. */
static const char *quoted_end(const char *p, const char *end, bool *is_stamp)
{
	*is_stamp = p + 1 < end && str_is_digit(p[1]);
	for (p++; p < end && *p != '"' && *p != '\\'; p++)
		*is_stamp = *is_stamp && (str_is_digit(*p) || strchr("-:. +TZ", *p) != NULL);
	return p < end && *p == '"' ? p + 1 : NULL;
}

static bool add_cell(struct row_shape *shape, enum pair_slot_kind kind, const char *from,
		     const char *to)
{
	if (shape->n_slots == PAIRS_MAX)
		return false;
	shape->slots[shape->n_slots++] =
		(struct pair_slot){ str_between(from, to), shape->n, kind };
	shape->n += kind == SLOT_PLAIN;
	return true;
}

/* Find the slots of a line of a metrics file; false if a number cannot have one. */
static bool find_cells(struct row_shape *shape)
{
	const char *p = shape->text, *end = p + shape->len, *q, *next;
	bool is_object = shape->len > 0 && *p == '{', is_stamp;

	for (; p < end; p = q) {
		q = p + 1;
		if (is_object && *p == '"') {
			next = q = quoted_end(p, end, &is_stamp);
			while (q != NULL && next < end && str_is_blank(*next))
				next++;
			bool is_key = q != NULL && next < end && *next == ':';
			if (q == NULL ||
			    (is_stamp && !is_key && !add_cell(shape, SLOT_STAMP, p, q)))
				return false;
		} else if (str_is_digit(*p) || (*p == '-' && q < end && str_is_digit(*q))) {
			q = plain_number(p, end, &shape->pairs[shape->n].value);
			if (q == p || !add_cell(shape, SLOT_PLAIN, p, q))
				return false;
		} else if (str_is_word(*p)) { /* "run12" */
			while (q < end && str_is_word(*q))
				q++;
		} else if (*p == '\t' ||
			   ((*p == '.' || *p == '+') && q < end && str_is_digit(*q))) {
			return false;
		}
	}
	return true;
}

struct row_shape *row_shape_new(struct str line, bool of_cells)
{
	struct row_shape *shape = xcalloc(1, sizeof(*shape));
	struct pairs_line about;

	shape->text = xstrndup(line.p, line.len);
	shape->len = line.len;
	if (!of_cells)
		shape->n = pairs_read_slots((struct str){ shape->text, line.len }, shape->pairs,
					    &about, shape->slots, &shape->n_slots);
	else if (!find_cells(shape))
		shape->n = 0;
	if (shape->n == 0) {
		row_shape_free(shape);
		return NULL;
	}
	const char *at = shape->text;
	for (size_t i = 0; i < shape->n_slots; i++) {
		shape->before[i] = fixed_text(str_between(at, shape->slots[i].text.p));
		at = shape->slots[i].text.p + shape->slots[i].text.len;
	}
	return shape;
}

void row_shape_free(struct row_shape *shape)
{
	if (shape != NULL)
		free(shape->text);
	free(shape);
}

/* Skip the text before a slot and any number of blanks at its end; NULL if p has another text. */
static inline const char *skip_text(const struct row_text *text, const char *p, const char *end)
{
	size_t n = text->len;

	if ((size_t)(end - p) < n)
		return NULL;
	if (n <= sizeof(text->word) ? load_word(p, n) != text->word : memcmp(p, text->p, n) != 0)
		return NULL;
	p += n;
	if (text->blanks && (p == end || !str_is_blank(*p)))
		return NULL;
	while (p < end && str_is_blank(*p))
		p++;
	return p;
}

/* Read the "/ 19560" after a whole number; NULL if there is none. */
static const char *read_total(struct pair *pair, const struct pair_slot *slot, const char *p,
			      const char *end)
{
	size_t n = index_of(i, slot->text.len, str_is_digit(slot->text.p[i]));

	const struct row_text before = fixed_text((struct str){ slot->text.p, n });
	const char *digits = skip_text(&before, p, end);
	if (digits == NULL || digits == end || *digits < '0' || *digits > '9' ||
	    pair->value != floor(pair->value) || pair->value < 0)
		return NULL;
	p = pairs_number(digits, end, &pair->total);
	return p != digits && pair->total == floor(pair->total) ? p : NULL;
}

static const char *read_slot(struct row_shape *shape, const struct pair_slot *slot, const char *p,
			     const char *end)
{
	struct pair *pair = &shape->pairs[slot->pair];
	const char *q = p;
	double seconds;
	bool is_stamp;

	if (p == end)
		return NULL;
	switch (slot->kind) {
	case SLOT_VALUE:
		q = pairs_number(p, end, &pair->value);
		break;
	case SLOT_TOTAL:
		return read_total(pair, slot, p, end);
	case SLOT_ASIDE:
		q = pairs_aside(p, end);
		break;
	case SLOT_BAR:
		q = pairs_bar(p, end);
		break;
	case SLOT_TIME:
		q = pairs_time(p, end, &seconds);
		break;
	case SLOT_CLOCK:
		q = pairs_time(p, end, &pair->value);
		if (!isfinite(pair->value))
			return NULL;
		break;
	case SLOT_PLAIN:
		q = plain_number(p, end, &pair->value);
		break;
	case SLOT_STAMP:
		q = *p == '"' ? quoted_end(p, end, &is_stamp) : NULL;
		return q != NULL && is_stamp ? q : NULL;
	}
	return q != p ? q : NULL;
}

bool row_shape_read(struct row_shape *shape, struct str line)
{
	const char *at = shape->text, *p = line.p, *end = line.p + line.len;

	for (size_t i = 0; i < shape->n_slots; i++) {
		const struct pair_slot *slot = &shape->slots[i];

		if (slot->text.p > at)
			p = skip_text(&shape->before[i], p, end);
		if (p != NULL)
			p = read_slot(shape, slot, p, end);
		if (p == NULL)
			return false;
		at = slot->text.p + slot->text.len;
	}
	return (size_t)(end - p) == shape->len - (size_t)(at - shape->text) &&
	       memcmp(p, at, (size_t)(end - p)) == 0;
}

bool known_row_link(struct known_row *row)
{
	uint64_t counters = (uint64_t)1 << METRIC_STEP | (uint64_t)1 << METRIC_PLANNED;
	uint64_t metrics = 0;

	row->record.memo = &row->memo;
	for (size_t i = 0; i < row->record.n_pairs; i++) {
		const struct record_pair *series = &row->rows[i];

		if (!isfinite(series->value) ||
		    any_of(k, i, str_eq(row->rows[k].name, series->name)))
			return false;
		row->from[i] = (size_t)series->value;
		if (series->metric != METRIC_COUNT)
			metrics |= (uint64_t)1 << series->metric;
	}
	return metrics == (row->record.present & ~counters);
}

void known_row_fill(struct known_row *row)
{
	for (size_t i = 0; i < row->record.n_pairs; i++) {
		struct record_pair *series = &row->rows[i];

		series->value = row->shape->pairs[row->from[i]].value;
		if (series->metric != METRIC_COUNT)
			row->record.values[series->metric] = series->value * series->scale;
	}
}

void known_row_release(struct known_row *row)
{
	row_shape_free(row->shape);
	free(row->names);
}
