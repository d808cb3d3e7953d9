/* SPDX-License-Identifier: MIT */
/* Lines that come again with other numbers, and which of them are rows. */
#include "parsers/templates.h"

#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "parsers/line_prefix.h"
#include "parsers/meaning.h"
#include "parsers/pair_record.h"
#include "parsers/row_shape.h"

const char templates_format[] = "generic";

static char train_name[] = "row", val_name[] = "validation";
static const struct rule train_rule = {
	.name = train_name, .format = templates_format, .kind = RULE_TRAIN, .last = LAST_BEFORE_PLAN
};
static const struct rule val_rule = { .name = val_name,
				      .format = templates_format,
				      .kind = RULE_VAL };

#define METRIC_BIT(m) ((uint64_t)1 << (m))
#define VAL_BITS      (METRIC_BIT(METRIC_VAL_LOSS) | METRIC_BIT(METRIC_VAL_BPB))

/* What the counter of a template counts. */
enum counter_kind {
	COUNTS_STEPS,  /* its name says so */
	COUNTS_EPOCHS, /* "epoch" */
	COUNTS_UNITS,  /* batches, frames .. or a number out of a total */
	COUNTS_LEAD,   /* no name: the first number of the line */
};

/* A row as it is read. */
struct row {
	struct templates_line place;
	struct pair pairs[PAIRS_MAX];
	size_t n;
	struct pairs_line about;
	size_t counter; /* its pair; n: none */
	enum counter_kind kind;
	uint64_t key;
};

struct held_line {
	char *text; /* owned */
	struct templates_line place;
};

struct template
{
	uint64_t key, used; /* of the clock, last */
	bool accepted;
	uint64_t lines;		 /* in a row with a counter that did not fall */
	double counter, epoch;	 /* of the last line */
	double inner_counter;	 /* another one, below it; absent: none */
	bool known;		 /* a loss or another metric is in its lines */
	bool rose;		 /* the counter, once at least */
	double stride;		 /* of the counter; absent: not each time the same */
	bool changed;		 /* a figure */
	bool fraction;		 /* one was no whole number */
	bool bar;		 /* its lines are bars */
	bool inner;		 /* the counter begins anew with each epoch */
	bool outer;		 /* it went on behind an epoch's end */
	bool late;		 /* the first epoch that was seen is not the first */
	bool apart;		 /* it counts other things than the run's counter */
	uint64_t near;		 /* how often it was where that one was */
	double first[PAIRS_MAX]; /* values of the first line */
	struct held_line held[TEMPLATES_LEAST_ROWS - 1];
	size_t n_held;
	struct quick *quick; /* owned; NULL: none */
	unsigned int tries;  /* that were made of it */
};

/* Rows that are like one that was read before, read without looking again at
 * what their names mean. */
struct quick {
	struct row_record row;
	/* Pairs of the shape. */
	size_t counter, epoch; /* n: none */
	enum counter_kind kind;
	uint64_t name; /* of the counter */
	bool inside;   /* as of templates_line */
	bool plain;    /* the same */
	bool sure;     /* another such line came by all rules */
};

/* A template whose lines differ so often has none. */
#define MOST_TRIES 8

struct templates {
	templates_row_fn fn;
	void *user;
	struct template *table[TEMPLATES_MAX]; /* owned; behind them NULL */
	uint64_t clock;
	bool any;	  /* a template was accepted */
	struct buf block; /* the lines of a row of several; empty: none */
	struct templates_line block_place;
	size_t block_lines;
	struct buf dict; /* a dictionary of several lines; empty: none */
	struct templates_line dict_place;
	double epoch;	       /* printed last, on any line */
	double total;	       /* of bars that are rows; absent: none yet */
	double plan;	       /* of the last row; absent: it had none */
	bool evaluating;       /* a line said so; no row of that plan since */
	double step;	       /* of the last row that had one */
	double stride;	       /* from the one before to it */
	uint64_t step_name;    /* of the counter it came from; 0: none yet */
	struct template *last; /* the row before is of; NULL: look */
	uint64_t loss_name;    /* of the training loss; 0: none yet */
	int rank;	       /* whose rows are read; -1: none was told yet */
};

static void forget_held(struct template *t)
{
	for (size_t i = 0; i < t->n_held; i++)
		free(t->held[i].text);
	t->n_held = 0;
}

static void forget_template(struct template *t)
{
	forget_held(t);
	if (t->quick != NULL)
		row_shape_free(t->quick->row.shape);
	free(t->quick);
	t->quick = NULL;
}

struct templates *templates_new(templates_row_fn fn, void *user)
{
	struct templates *ts = xcalloc(1, sizeof(*ts));

	ts->fn = fn;
	ts->user = user;
	buf_init(&ts->block, TEMPLATES_LINE_BYTES);
	buf_init(&ts->dict, TEMPLATES_LINE_BYTES);
	ts->rank = -1;
	ts->epoch = ts->total = ts->step = ts->stride = RUN_ABSENT;
	ts->plan = RUN_ABSENT;
	return ts;
}

void templates_free(struct templates *ts)
{
	if (ts == NULL)
		return;
	for (size_t i = 0; i < TEMPLATES_MAX; i++)
		if (ts->table[i] != NULL) {
			forget_template(ts->table[i]);
			free(ts->table[i]);
		}
	buf_release(&ts->block);
	buf_release(&ts->dict);
	free(ts);
}

static bool ends_with_word(struct str name, const char *word)
{
	size_t n = strlen(word);

	return name.len >= n && strncasecmp(name.p + name.len - n, word, n) == 0;
}

/* Whether one of the words, which are in lower case and have a blank between
 * them, is in it. */
static bool has_word(struct str name, const char *words)
{
	struct str rest = str_from(words), word;

	while (str_next(&rest, ' ', &word))
		for (size_t at = 0; at + word.len <= name.len; at++)
			if ((name.p[at] | 0x20) == word.p[0] &&
			    strncasecmp(name.p + at, word.p, word.len) == 0)
				return true;
	return false;
}

/* Names like these are printed by what trains, and by little else. */
static bool is_of_training(struct str name)
{
	return has_word(name, "loss rmse acc reward ppl perp nll train val auc "
			      "grad bpb");
}

/* Times, rates, sizes: any program prints them. */
static bool is_of_anything(const struct pair *pair)
{
	return str_is_among(pair->unit, "ms s sec secs m min h B KB kB MB GB "
					"KiB MiB GiB k K M G %") ||
	       str_find(pair->unit, "/") != NULL || ends_with_word(pair->name, "/s") ||
	       has_word(pair->name, "time eta elapsed sec mem load speed");
}

static bool is_epoch(const struct pair *pair)
{
	struct str before = pair->name;

	if (pair->unit.len > 0 || !ends_with_word(pair->name, "epoch"))
		return false;
	before.len -= strlen("epoch");
	while (before.len > 0 && strchr(" /_", before.p[before.len - 1]) != NULL)
		before.len--;
	return before.len == 0 || str_is_like(before, "train training");
}

static bool is_unit_counter(const struct pair *pair)
{
	return str_is_like(pair->name, "batch timesteps episode round "
				       "total_timesteps num_timesteps");
}

/* How well a number counts, as a kind; false: not at all. */
static bool counter_kind_of(const struct row *row, size_t i, enum counter_kind *kind)
{
	const struct pair *pair = &row->pairs[i];
	double scale;

	if (!isfinite(pair->value) || pair->value < 0)
		return false;
	if (meaning_of(pair, &scale) == METRIC_STEP)
		*kind = COUNTS_STEPS;
	else if (is_epoch(pair))
		*kind = COUNTS_EPOCHS;
	else if (is_unit_counter(pair) ||
		 ((isfinite(pair->total) || str_eq_cstr(pair->unit, "it")) &&
		  (pair->name.len == 0 || str_is_like(pair->name, "train training"))))
		*kind = COUNTS_UNITS;
	else if (i == 0 && pair->name.len == 0 && pair->unit.len == 0 &&
		 pair->value == floor(pair->value))
		*kind = COUNTS_LEAD;
	else
		return false;
	return true;
}

static void find_counter(struct row *row)
{
	enum counter_kind kind;

	row->counter = row->n;
	for (size_t i = 0; i < row->n; i++)
		if (counter_kind_of(row, i, &kind) &&
		    (row->counter == row->n || kind < row->kind ||
		     (kind == row->kind && kind == COUNTS_STEPS &&
		      pair_counter_rank(row->pairs[i].name) >
			      pair_counter_rank(row->pairs[row->counter].name)))) {
			row->counter = i;
			row->kind = kind;
		}
}

/* A number that rows are printed for. */
static bool is_figure(const struct row *row, size_t i)
{
	const struct pair *pair = &row->pairs[i];
	enum counter_kind kind;

	return i != row->counter && pair->name.len > 0 && !is_of_anything(pair) &&
	       !counter_kind_of(row, i, &kind);
}

static bool has_figures(const struct row *row)
{
	bool sure = row->kind != COUNTS_LEAD;
	bool any = false;

	for (size_t i = 0; i < row->n; i++) {
		if (!is_figure(row, i))
			continue;
		any = true;
		sure = sure || is_of_training(row->pairs[i].name);
	}
	return any && sure;
}

static void remove_pair(struct row *row, size_t i)
{
	row->n--;
	memmove(&row->pairs[i], &row->pairs[i + 1], (row->n - i) * sizeof(row->pairs[0]));
}

/* What a bar counts, which has no name of its own; n: nothing. */
static size_t bar_counter(const struct row *row)
{
	size_t i = 0;

	while (i < row->n && (row->pairs[i].name.len > 0 || isnan(row->pairs[i].total)))
		i++;
	return i;
}

/*
 * "steps:  10%|#    | 160/1600 [..]" has one counter: what is in front of the
 * bar names it, and the percents say the same once more.
 */
static void join_bar(struct row *row)
{
	size_t i = bar_counter(row), last = i;
	struct str name = { NULL, 0 };

	if (i == row->n)
		return;
	while (i-- > 0)
		if (str_eq_cstr(row->pairs[i].unit, "%")) {
			name = row->pairs[i].name;
			remove_pair(row, i);
			last--;
		}
	if (ends_with_word(name, "step") || ends_with_word(name, "steps"))
		row->pairs[last].name = name;
}

static uint64_t template_key(const struct row *row)
{
	uint64_t key = row->about.words * 2 + row->about.is_bar;

	for (size_t i = 0; i < row->n; i++)
		key = (key ^ str_hash(row->pairs[i].name)) * 0x100000001b3 +
		      str_hash(row->pairs[i].unit);
	return key | 1;
}

/* The pairs of a line as a row; false where it has none. */
static bool read_row(struct row *row, const struct templates_line *place)
{
	row->place = *place;
	row->n = pairs_read_line(place->text, row->pairs, &row->about);
	if (row->n == 0)
		return false;
	if (row->about.is_bar)
		join_bar(row);
	find_counter(row);
	return true;
}

/* The template of that key; NULL: it was not seen, or long ago. */
static struct template *find_template(struct templates *ts, uint64_t key)
{
	for (size_t i = 0; i < TEMPLATES_MAX && ts->table[i] != NULL; i++)
		if (ts->table[i]->key == key) {
			ts->table[i]->used = ++ts->clock;
			return ts->table[i];
		}
	return NULL;
}

/* A new one, in the place of the one that was not seen for longest. */
static struct template *add_template(struct templates *ts, uint64_t key, bool bar)
{
	struct template **at = ts->table, *t;

	for (size_t i = 1; i < TEMPLATES_MAX && *at != NULL; i++)
		if (ts->table[i] == NULL || ts->table[i]->used < (*at)->used)
			at = &ts->table[i];
	if (*at == NULL)
		*at = xcalloc(1, sizeof(**at));
	t = *at;
	forget_template(t);
	if (ts->last == t)
		ts->last = NULL;
	*t = (struct template){ .key = key, .used = ++ts->clock, .bar = bar };
	return t;
}

/*
 * The last line of a log that ends without its LF: the number that it ends
 * with may be cut.  False where that is what it counts.
 */
static bool drop_cut_pair(struct row *row)
{
	char last = row->place.text.p[row->place.text.len - 1];

	if (last == '.' || (last >= '0' && last <= '9'))
		row->n--;
	return row->counter < row->n;
}

static void hold_line(struct template *t, const struct templates_line *place)
{
	struct held_line *held;

	if (t->n_held == LENGTH(t->held)) {
		free(t->held[0].text);
		t->held[0] = t->held[1];
		t->n_held--;
	}
	held = &t->held[t->n_held++];
	held->text = xstrndup(place->text.p, place->text.len);
	held->place = *place;
	held->place.text.p = held->text;
}

/*
 * Whether the template's counter is that of the run shows in the lines: "step
 * 250" stands between "iter 240" and "iter 250" again and again.
 */
static void compare_counter(const struct templates *ts, struct template *t, double value)
{
	if (isnan(ts->step))
		return;
	if (value >= ts->step && value <= ts->step + ts->stride)
		t->near++;
	else
		t->apart = true;
}

/* An epoch that began since the row before began the counter anew. */
static void watch_inner(const struct templates *ts, struct template *t, double counter)
{
	if (t->lines == 0)
		t->late = ts->epoch > 1;
	else if (counter < t->counter && (t->bar || ts->epoch > t->epoch))
		t->inner = true;
	else if (ts->epoch > t->epoch)
		t->outer = true;
	t->epoch = ts->epoch;
}

/* The counter within the epoch that the row's own counter is; or absent. */
static double inner_counter(const struct row *row)
{
	enum counter_kind kind;

	for (size_t i = 0; row->kind == COUNTS_EPOCHS && i < row->n; i++)
		if (i != row->counter && counter_kind_of(row, i, &kind) && kind == COUNTS_UNITS)
			return row->pairs[i].value;
	return RUN_ABSENT;
}

/* Add a line to what is known of a template that is not accepted yet. */
static void learn_line(struct templates *ts, struct template *t, const struct row *row)
{
	double counter = row->pairs[row->counter].value;
	double inner = inner_counter(row);

	watch_inner(ts, t, counter);
	compare_counter(ts, t, counter);
	if (t->lines > 0 && counter < t->counter && !t->inner) {
		t->lines = 0;
		t->rose = t->changed = t->fraction = false;
		forget_held(t);
	}
	if (t->lines == 1)
		t->stride = counter - t->counter;
	if (t->lines > 0)
		t->rose = t->rose || counter > t->counter || inner > t->inner_counter;
	t->inner_counter = inner;
	if (t->lines > 1 && counter - t->counter != t->stride)
		t->stride = RUN_ABSENT;
	for (size_t i = 0; i < row->n; i++) {
		double value = row->pairs[i].value;

		if (t->lines == 0)
			t->first[i] = value;
		if (!is_figure(row, i))
			continue;
		t->changed = t->changed || !run_same(value, t->first[i]);
		t->fraction = t->fraction || value != floor(value);
	}
	t->counter = counter;
	t->lines++;
}

/* Whether the lines of the template are rows by themselves. */
static bool is_ready(const struct template *t, const struct row *row)
{
	const struct pair *counter = &row->pairs[row->counter];
	bool full = counter->value == counter->total; /* Keras: 100/100 */

	if (row->about.is_bar && row->about.evaluates)
		return false;
	return t->lines >= TEMPLATES_LEAST_ROWS && (t->rose || full) && t->changed && t->fraction;
}

/* The metrics of the row's names, without its counter. */
static uint64_t row_meanings(const struct row *row)
{
	uint64_t bits = 0;
	double scale;

	for (size_t i = 0; i < row->n; i++) {
		enum metric metric = meaning_of(&row->pairs[i], &scale);

		if (metric != METRIC_COUNT && metric != METRIC_STEP)
			bits |= METRIC_BIT(metric);
		if (row->about.evaluates &&
		    (metric == METRIC_TRAIN_LOSS || meaning_is_mean_loss(row->pairs[i].name)))
			bits |= METRIC_BIT(METRIC_VAL_LOSS);
	}
	return bits;
}

/*
 * Whether a line with another template belongs to the rows there are: it has
 * their counter and a name that is known, or is a validation of an epoch.
 */
static bool is_adopted(const struct templates *ts, const struct row *row)
{
	uint64_t known = row_meanings(row);

	if (!ts->any || known == 0 || row->about.is_bar)
		return false;
	if (row->counter == row->n || row->kind == COUNTS_EPOCHS)
		return (known & VAL_BITS) != 0;
	return row->kind == COUNTS_STEPS && run_has(ts->step) &&
	       ts->step_name == str_hash(row->pairs[row->counter].name) &&
	       row->pairs[row->counter].value >= ts->step;
}

/* Whether the template's counter may be that of the run's steps. */
static bool counts_steps(const struct templates *ts, const struct template *t,
			 enum counter_kind kind)
{
	if (kind == COUNTS_STEPS || !isnan(ts->epoch))
		return kind == COUNTS_STEPS;
	return kind == COUNTS_LEAD ? t->stride > 1 && t->known : kind == COUNTS_UNITS && t->bar;
}

/* The step of the row: its own, or that of the rows it stands among. */
static double row_step(struct templates *ts, struct template *t, enum counter_kind kind,
		       const struct pair *counter, uint64_t name)
{
	watch_inner(ts, t, counter->value);
	t->counter = counter->value;
	if (!counts_steps(ts, t, kind)) {
		if (ts->step_name == name) /* it was taken for one before */
			ts->step = RUN_ABSENT;
		return ts->step;
	}
	if (ts->step_name == 0)
		ts->step_name = name;
	if (ts->step_name == name && (t->inner || (t->late && !t->outer)))
		ts->step = RUN_ABSENT;
	else if (ts->step_name == name) {
		if (counter->value > ts->step)
			ts->stride = counter->value - ts->step;
		ts->step = counter->value;
	} else if (!t->apart && t->near >= TEMPLATES_LEAST_ROWS - 1)
		ts->step = counter->value;
	return ts->step;
}

/* Where there are epochs the total may be that of one of them. */
static double planned_of(const struct templates *ts, const struct template *t,
			 enum counter_kind kind, const struct pair *counter)
{
	return counts_steps(ts, t, kind) && (isnan(t->epoch) || t->outer) ? counter->total
									  : RUN_ABSENT;
}

static void put_step(struct record *record, double step, double planned)
{
	record->present &= ~(METRIC_BIT(METRIC_STEP) | METRIC_BIT(METRIC_PLANNED));
	if (!run_has(step))
		return;
	record->present |= METRIC_BIT(METRIC_STEP);
	record->values[METRIC_STEP] = step;
	if (!isfinite(planned))
		return;
	record->present |= METRIC_BIT(METRIC_PLANNED);
	record->values[METRIC_PLANNED] = planned;
}

/* One name gives the run's training loss; others stay series. */
static void keep_one_loss(struct templates *ts, struct record *record, struct record_pair *rows)
{
	uint64_t bit = METRIC_BIT(METRIC_TRAIN_LOSS);

	for (size_t i = 0; i < record->n_pairs; i++) {
		uint64_t name = str_hash(rows[i].name);

		if (rows[i].metric != METRIC_TRAIN_LOSS)
			continue;
		if ((record->present & bit) != 0 && ts->loss_name == 0)
			ts->loss_name = name;
		if (ts->loss_name == name)
			continue;
		rows[i].metric = METRIC_COUNT;
		record->present &= ~bit;
	}
}

/* "Validation | loss: 3.5": its names mean another thing than elsewhere. */
static void turn_to_validation(struct record *record)
{
	double loss = record_get(record, METRIC_TRAIN_LOSS);

	for (size_t i = 0; i < record->n_pairs && !run_has(loss); i++)
		if (meaning_is_mean_loss(record->pairs[i].name))
			loss = record->pairs[i].value;
	if (run_has(loss) && !record_has(record, METRIC_VAL_LOSS)) {
		record->present |= METRIC_BIT(METRIC_VAL_LOSS);
		record->values[METRIC_VAL_LOSS] = loss;
	}
	record->present &= VAL_BITS;
	record->n_pairs = 0;
}

/* Fill the record with what the row says beside its step. */
static void fill_record(struct templates *ts, const struct row *row, struct record *record,
			struct record_pair rows[PAIRS_MAX])
{
	*record = (struct record){ .rule = &train_rule };
	pair_record_fill(record, row->pairs, row->n, rows);
	if (row->about.evaluates)
		turn_to_validation(record);
	else
		keep_one_loss(ts, record, rows);
	if ((record->present & VAL_BITS) != 0 && !record_has(record, METRIC_TRAIN_LOSS))
		record->rule = &val_rule;
}

static void give_row(struct templates *ts, struct template *t, const struct row *row)
{
	bool counts = t != NULL && row->counter < row->n;
	const struct pair *counter = &row->pairs[row->counter];
	struct record_pair rows[PAIRS_MAX];
	struct record record;
	double step = ts->step;

	if (counts)
		step = row_step(ts, t, row->kind, counter, str_hash(counter->name));

	fill_record(ts, row, &record, rows);
	put_step(&record, step, counts ? planned_of(ts, t, row->kind, counter) : RUN_ABSENT);
	ts->fn(ts->user, &record, &row->place);
}

/* The pair of the line that a series of the record is; n: none, or two. */
static size_t pair_of(const struct row *row, const struct record_pair *series)
{
	size_t found = row->n;

	for (size_t i = 0; i < row->n; i++) {
		struct str name = row->pairs[i].name;

		if (name.len == 0)
			name = row->pairs[i].unit;
		if (!str_eq(name, series->name))
			continue;
		if (found < row->n)
			return row->n;
		found = i;
	}
	return found;
}

/*
 * Whether each series is of one pair, and each metric of one series; `shown`
 * are the pairs of the line that the row has.
 */
static bool link_series(struct quick *quick, const struct row *row, const size_t *shown)
{
	uint64_t metrics = 0;

	for (size_t i = 0; i < quick->row.record.n_pairs; i++) {
		enum metric metric = quick->row.rows[i].metric;
		size_t pair = pair_of(row, &quick->row.rows[i]);

		if (pair == row->n)
			return false;
		quick->row.from[i] = shown[pair];
		if (metric == METRIC_COUNT)
			continue;
		if ((metrics & METRIC_BIT(metric)) != 0)
			return false;
		metrics |= METRIC_BIT(metric);
	}
	return metrics == (quick->row.record.present &
			   ~(METRIC_BIT(METRIC_STEP) | METRIC_BIT(METRIC_PLANNED)));
}

/* Fill *quick, whose shape is read, by the row; false: rows differ. */
static bool fill_quick(struct templates *ts, struct quick *quick, const struct row *like)
{
	const struct row_shape *shape = quick->row.shape;
	struct row row = *like;
	size_t shown[PAIRS_MAX], n = 0, bar = 0, epoch = 0;

	row.n = shape->n;
	memcpy(row.pairs, shape->pairs, row.n * sizeof(row.pairs[0]));
	if (row.about.is_bar && bar_counter(&row) < row.n)
		bar = bar_counter(&row);
	for (size_t i = 0; i < row.n; i++)
		if (i >= bar || !str_eq_cstr(row.pairs[i].unit, "%"))
			shown[n++] = i;
	if (row.about.is_bar)
		join_bar(&row);
	if (row.n != like->n)
		return false;
	fill_record(ts, &row, &quick->row.record, quick->row.rows);
	quick->row.record.memo = &quick->row.memo;
	while (epoch < row.n && !is_epoch(&row.pairs[epoch]))
		epoch++;
	quick->epoch = epoch < row.n ? shown[epoch] : shape->n;
	quick->counter = shown[row.counter];
	quick->kind = row.kind;
	quick->name = str_hash(row.pairs[row.counter].name);
	quick->inside = like->place.inside;
	quick->plain = like->place.plain;
	return link_series(quick, &row, shown);
}

/* Remember how a row of the template is read, where all are read alike. */
static void make_quick(struct templates *ts, struct template *t, const struct row *like)
{
	struct quick *quick;

	if (t->quick != NULL)
		t->quick->sure = row_shape_read(t->quick->row.shape, like->place.text);
	if (t->quick != NULL || t->tries == MOST_TRIES || like->place.joined || like->place.cut ||
	    like->about.evaluates)
		return;
	t->tries++;
	quick = xcalloc(1, sizeof(*quick));
	quick->row.shape = row_shape_new(like->place.text);
	if (quick->row.shape != NULL && fill_quick(ts, quick, like)) {
		t->quick = quick;
		return;
	}
	row_shape_free(quick->row.shape);
	free(quick);
}

static int compare_held(const void *a, const void *b)
{
	const struct held_line *x = a, *y = b;

	return x->place.line < y->place.line ? -1 : x->place.line > y->place.line;
}

/* The lines that were held back of the template, in order. */
static void give_held(struct templates *ts, struct template *t)
{
	struct row row;

	qsort(t->held, t->n_held, sizeof(t->held[0]), compare_held);
	t->counter = 0;
	for (size_t i = 0; i < t->n_held; i++) {
		t->held[i].place.late = true;
		if (read_row(&row, &t->held[i].place))
			give_row(ts, t, &row);
	}
	forget_held(t);
}

static void take_epoch(struct templates *ts, double epoch)
{
	if (epoch != floor(epoch))
		return;
	if (epoch < ts->epoch)
		ts->total = RUN_ABSENT;
	ts->epoch = epoch;
}

static void note_epoch(struct templates *ts, const struct row *row)
{
	for (size_t i = 0; i < row->n; i++)
		if (is_epoch(&row->pairs[i]))
			take_epoch(ts, row->pairs[i].value);
}

/* A bar without a name that counts to another number than the rows before. */
static bool is_other_bar(const struct templates *ts, const struct row *row)
{
	return row->about.is_bar && row->kind == COUNTS_UNITS && run_has(ts->total) &&
	       row->pairs[row->counter].total != ts->total;
}

/*
 * "Eval begin..": rows that count to elsewhere are of the evaluation, as long
 * as no line says that training goes on.
 */
static void note_evaluation(struct templates *ts, struct str text)
{
	struct str rest = text, word;

	if (str_next(&rest, ' ', &word) && pairs_is_evaluation(word))
		ts->evaluating = true;
	else if (ts->evaluating && has_word(text, "train epoch"))
		ts->evaluating = false;
}

/* Whether the row is of an evaluation that was told of. */
static bool is_evaluated(struct templates *ts, const struct row *row)
{
	double total = row->pairs[row->counter].total;

	ts->evaluating = ts->evaluating && run_has(total) && run_has(ts->plan) && total != ts->plan;
	return ts->evaluating;
}

/* A line with a counter and figures. */
static bool take_row(struct templates *ts, struct row *row)
{
	uint64_t key = template_key(row);
	struct template *t = find_template(ts, key);
	bool first = !ts->any;

	if (row->place.cut && (t == NULL || !t->accepted || !drop_cut_pair(row)))
		return false;
	if (is_other_bar(ts, row) || is_evaluated(ts, row))
		return false;
	ts->plan = row->pairs[row->counter].total;
	if (t == NULL)
		t = add_template(ts, key, row->about.is_bar);
	if (t->accepted) {
		compare_counter(ts, t, row->pairs[row->counter].value);
	} else {
		t->known = t->known || row_meanings(row) != 0;
		learn_line(ts, t, row);
		t->accepted = is_ready(t, row) || is_adopted(ts, row);
		if (!t->accepted) {
			hold_line(t, &row->place);
			return false;
		}
		ts->any = true;
		if (first)
			give_held(ts, t);
		t->lines = TEMPLATES_LEAST_ROWS;
		forget_held(t);
	}
	if (t->bar && row->kind == COUNTS_UNITS)
		ts->total = row->pairs[row->counter].total;
	give_row(ts, t, row);
	make_quick(ts, t, row);
	ts->last = t;
	return true;
}

/* The first c of text, not far from its start; else NULL. */
static const char *find_near(struct str text, char c, size_t most)
{
	return memchr(text.p, c, text.len < most ? text.len : most);
}

/* Whether a date is behind the end of "[node1] 2026-11-22 ..". */
static bool is_stamped(struct str text, const char *end)
{
	struct str rest = str_between(end + 1, text.p + text.len);

	return rest.len > 6 && str_starts_with(rest, " 2") && rest.p[5] == '-';
}

/* Where the "[..]" ends that text begins with; NULL: it has figures. */
static const char *bracket_end(struct str text)
{
	const char *end = find_near(text, ']', 40);
	struct str in = { text.p, end != NULL ? (size_t)(end - text.p) : 0 };

	if (in.len == 0 || memchr(in.p, '=', in.len) != NULL ||
	    pairs_is_evaluation(str_skip(in, 1)))
		return NULL;
	return !str_has_digit(in) || is_stamped(text, end) ? end : NULL;
}

static const char *worker_end(struct str text)
{
	const char *end = find_near(text, ')', 80);

	return end != NULL && !pairs_is_evaluation(str_between(text.p + 1, end)) &&
			       memmem(text.p, (size_t)(end - text.p), ": ", 2) == NULL
		       ? end
		       : NULL;
}

static const char *tag_end(struct str text)
{
	const char *end = find_near(text, '>', 60);

	return end != NULL && end + 1 < text.p + text.len && end[1] == ':' ? end + 1 : NULL;
}

/* The ":" of "10.0.0.12: "; else NULL. */
static const char *address_end(struct str text)
{
	const char *end = find_near(text, ':', 16);
	size_t points = 0;

	for (const char *p = text.p; end != NULL && p < end; p++) {
		if (*p != '.' && (*p < '0' || *p > '9'))
			return NULL;
		points += *p == '.';
	}
	return points == 3 ? end : NULL;
}

/* Where ends what some loggers write before the message; NULL: none. */
static const char *logger_end(struct str text)
{
	const char *arrow;

	if (text.p[0] == '[' && text.p[3] == '/' && text.p[6] == '/')
		return find_near(text, ']', 20); /* "[11/22/26 10:00:00]" */
	if (text.p[0] == '[' && !(text.p[1] >= '0' && text.p[1] <= '9'))
		return bracket_end(text);
	if (text.p[0] == '(') /* "(worker pid=12) ", not "(epoch: 1, .." */
		return worker_end(text);
	if (strchr("IWED", text.p[0]) != NULL && text.len > 20 &&
	    ((text.p[5] == ' ' && text.p[8] == ':') || /* "I1122 12:.." */
	     (text.p[9] == ' ' && text.p[12] == ':'))) /* "I20261122 .." */
		return find_near(text, ']', 100);
	if (str_starts_with(text, "stdout F ") || /* of a container */
	    str_starts_with(text, "stderr F "))
		return text.p + 8;
	if (str_starts_with(text, "[1,")) /* "[1,mpirank:0]<stdout>:" */
		return tag_end(text);
	if (text.p[0] >= '0' && text.p[0] <= '9')
		return address_end(text);
	arrow = memmem(text.p, text.len < 100 ? text.len : 100, ">> ", 3);
	return arrow != NULL ? arrow + 1 : NULL;
}

/* Behind that; text itself where there is none. */
static struct str skip_logger(struct str text)
{
	const char *end = text.len < 8 ? NULL : logger_end(text);

	if (end == NULL)
		return text;
	size_t n = (size_t)(end + 1 - text.p);
	n += n < text.len && *end == ']' && end[1] == ':';
	return str_trim(str_skip(text, n));
}

/* Without the "train.py:123" that Rich's logger puts at the end of a line. */
static struct str without_place(struct str text)
{
	size_t n = text.len;

	while (n > 0 && str_is_digit(text.p[n - 1]))
		n--;
	if (n == text.len || n < 5 || memcmp(text.p + n - 4, ".py:", 4) != 0)
		return text;
	while (n > 0 && text.p[n - 1] != ' ')
		n--;
	return n > 0 ? str_trim((struct str){ text.p, n }) : text;
}

/* The line without what loggers put around its message. */
static struct str message_of(const struct templates_line *line)
{
	struct str text = line->text;

	/* Rich leaves out a time that it printed before, not the level. */
	if (text.len > 8 && text.p[0] == ' ')
		text = str_trim(text);
	if (text.len > 8 && text.p[1] >= 'A' && text.p[1] <= 'Z') {
		struct line_prefix prefix;

		line_prefix_split(text, &prefix);
		text = prefix.rest;
	}
	for (int i = 0; i < 3; i++) {
		struct line_prefix prefix;
		struct str rest = skip_logger(text);

		if (rest.p == text.p)
			break;
		line_prefix_split(rest, &prefix);
		text = prefix.rest;
	}
	return without_place(text);
}

void templates_finish(struct templates *ts)
{
	struct templates_line place = ts->block_place;
	struct row row;

	if (ts->block_lines > 1 && !ts->block.truncated) {
		place.text = buf_str(&ts->block);
		place.joined = true;
		if (read_row(&row, &place) && row.counter < row.n && has_figures(&row))
			(void)take_row(ts, &row);
	}
	buf_clear(&ts->block);
	ts->block_lines = 0;
}

/* "|  name  | 12 |" as "name: 12", all else as it is. */
static void add_to_block(struct templates *ts, const struct row *row)
{
	struct str text = row->place.text, cell;

	if (ts->block_lines++ == 0)
		ts->block_place = row->place;
	else
		buf_append(&ts->block, " | ", 3);
	if (text.p[0] != '|') {
		buf_append(&ts->block, text.p, text.len);
		return;
	}
	text = str_skip(text, 1);
	if (memchr(text.p, '|', text.len) != NULL && str_next(&text, '|', &cell)) {
		cell = str_trim(cell);
		buf_append(&ts->block, cell.p, cell.len);
		buf_append(&ts->block, ": ", 2);
	}
	if (str_next(&text, '|', &cell))
		buf_append(&ts->block, cell.p, cell.len);
}

static bool is_cell(const struct row *row)
{
	return row->place.text.p[0] == '|' && row->n == 1 && row->pairs[0].name.len > 0;
}

/* Give the row that the quick one's shape has read. */
static void give_quickly(struct templates *ts, struct template *t,
			 const struct templates_line *place)
{
	struct quick *quick = t->quick;
	const struct pair *pairs = quick->row.shape->pairs;
	const struct pair *counter = &pairs[quick->counter];

	if (quick->epoch < quick->row.shape->n)
		take_epoch(ts, pairs[quick->epoch].value);
	t->used = ++ts->clock;
	ts->plan = counter->total;
	if (t->bar && quick->kind == COUNTS_UNITS)
		ts->total = counter->total;
	compare_counter(ts, t, counter->value);
	double step = row_step(ts, t, quick->kind, counter, quick->name);
	row_record_fill(&quick->row);
	put_step(&quick->row.record, step, planned_of(ts, t, quick->kind, counter));
	ts->last = t;
	ts->fn(ts->user, &quick->row.record, place);
}

/* Whether the text is one of the template's rows, and counts as they do. */
static bool is_alike(const struct templates *ts, const struct template *t, struct str text)
{
	const struct quick *quick = t->quick;
	const struct pair *counter = &quick->row.shape->pairs[quick->counter];

	if (!row_shape_read(quick->row.shape, text) || !isfinite(counter->value) ||
	    counter->value < 0)
		return false;
	if (quick->kind == COUNTS_LEAD)
		return counter->value == floor(counter->value);
	return !t->bar || quick->kind != COUNTS_UNITS || !run_has(ts->total) ||
	       counter->total == ts->total;
}

/* Whether the line may be a row of t, before its text is looked at. */
static bool may_be_alike(const struct templates *ts, const struct template *t,
			 const struct templates_line *line)
{
	bool alone = line->plain && ts->dict.len == 0;

	if (t == NULL || t->quick == NULL)
		return false;
	if (line->rank != ts->rank)
		return alone && t->quick->plain && ts->rank >= 0;
	if (t == ts->last && !t->bar)
		return true;
	return alone && t->quick->plain && (t == ts->last || t->quick->sure);
}

enum templates_like templates_take_like(struct templates *ts, const struct templates_line *line)
{
	struct templates_line place = *line;
	struct str message = { NULL, 0 };

	if (!ts->any || line->cut || ts->block_lines > 0 || ts->evaluating)
		return LIKE_NONE;
	/* The template of the row before comes first. */
	for (size_t i = 0; i <= TEMPLATES_MAX; i++) {
		struct template *t = i == 0 ? ts->last : ts->table[i - 1];

		if (i > 0 && t == NULL)
			break;
		if ((i > 0 && t == ts->last) || !may_be_alike(ts, t, line))
			continue;
		if (t->quick->inside && message.p == NULL)
			message = message_of(line);
		place.text = t->quick->inside ? message : line->text;
		if (!is_alike(ts, t, place.text))
			continue;
		if (line->rank != ts->rank)
			return LIKE_OTHER;
		place.inside = place.text.len != line->text.len;
		give_quickly(ts, t, &place);
		return LIKE_ROW;
	}
	return LIKE_NONE;
}

/* A line that is a part of a row, or the only part of a validation. */
static bool take_part(struct templates *ts, const struct row *row)
{
	bool has_counter = row->counter < row->n;

	if (!is_cell(row) && has_counter) {
		templates_finish(ts);
		if (row->pairs[row->counter].name.len > 0 && !row->about.is_bar)
			add_to_block(ts, row); /* the head of a row */
		return false;
	}
	if (ts->block_lines > 0 || is_cell(row)) {
		add_to_block(ts, row);
		return false;
	}
	if (has_counter || !is_adopted(ts, row))
		return false;
	give_row(ts, NULL, row);
	return true;
}

/*
 * Whether a row may go on behind such a line: "| train/ |  |", or a ruler
 * below its head.
 */
static bool is_within(const struct templates *ts, struct str text)
{
	size_t i = 0;

	while (i < text.len && text.p[i] == '-')
		i++;
	return text.len > 0 && (text.p[0] == '|' || (i == text.len && ts->block_lines == 1));
}

/* The pairs of a line; of "0: step 10 .." the first is that of the task. */
static bool read_line(struct row *row, const struct templates_line *place)
{
	struct templates_line inner = *place;
	struct line_prefix task;
	bool good = read_row(row, place);

	if (good &&
	    (row->counter == row->n || row->kind != COUNTS_STEPS || row->pairs[0].name.len > 0))
		return true;
	if (!line_prefix_task(place->text, &task) || task.rank < 0)
		return good;
	inner.text = task.rest;
	inner.rank = task.rank;
	return read_row(row, &inner);
}

/* A line that is no part of a dictionary. */
static bool take_whole(struct templates *ts, const struct templates_line *line)
{
	struct templates_line place = *line;
	struct row row;

	if (str_has_digit(line->text))
		place.text = message_of(line);
	place.inside = place.text.p != line->text.p || place.text.len != line->text.len;
	if (!str_has_digit(place.text) || !read_line(&row, &place)) {
		if (ts->any)
			note_evaluation(ts, place.text);
		if (!is_within(ts, place.text))
			templates_finish(ts);
		return false;
	}
	if (row.counter < row.n && ts->rank < 0)
		ts->rank = row.place.rank;
	if (ts->rank != row.place.rank)
		return false; /* other ranks repeat the rows of one */
	note_epoch(ts, &row);
	if (row.n == 1 && is_epoch(&row.pairs[0]))
		ts->evaluating = false;
	if (line->cut && (row.counter == row.n || !has_figures(&row)))
		return false;
	if (row.counter == row.n || is_cell(&row) || !has_figures(&row))
		return take_part(ts, &row);
	templates_finish(ts);
	return take_row(ts, &row);
}

/* Whether a dictionary begins in the text that goes on: "{'loss': 2.1,". */
static bool opens_dict(struct str text)
{
	const char *end = text.p + text.len, *at;

	at = end[-1] == ',' ? memchr(text.p, '{', text.len) : NULL;
	return at != NULL && (at[1] == '\'' || at[1] == '"') &&
	       memchr(at, '}', (size_t)(end - at)) == NULL;
}

/*
 * Put the line to the dictionary that is open; true: it was of it.  What is
 * whole is read as one line.
 */
static bool take_dict(struct templates *ts, const struct templates_line *line)
{
	struct str text = str_trim(line->text);
	struct templates_line whole = ts->dict_place;

	if (ts->dict.len == 0 && (text.len == 0 || !opens_dict(text)))
		return false;
	if (ts->dict.len == 0)
		ts->dict_place = *line;
	else if (text.len == 0 || strchr("'\"}", text.p[0]) == NULL) {
		buf_clear(&ts->dict);
		return false;
	}
	buf_append_str(&ts->dict, " ");
	buf_append(&ts->dict, text.p, text.len);
	if (memchr(text.p, '}', text.len) == NULL)
		return true;
	whole.text = buf_str(&ts->dict);
	whole.joined = true;
	if (!ts->dict.truncated)
		(void)take_whole(ts, &whole);
	buf_clear(&ts->dict);
	return true;
}

bool templates_take(struct templates *ts, const struct templates_line *line)
{
	if (line->text.len == 0 || line->text.len > TEMPLATES_LINE_BYTES)
		return false;
	if (str_starts_with(line->text, "COMET INFO:"))
		return false; /* it tells again of the rows */
	if (take_dict(ts, line))
		return ts->any;
	return take_whole(ts, line);
}
