/* SPDX-License-Identifier: MIT */
/* Find training rows in logs that no rule set matches. */
#include "parsers/templates.h"

#include <strings.h>

#include "base/buf.h"
#include "parsers/meaning.h"

const char templates_format[] = "generic";

static char train_name[] = "row", val_name[] = "validation";
static const struct rule train_rule = {
	.name = train_name, .format = templates_format, .kind = RULE_TRAIN, .last = LAST_BEFORE_PLAN
};
/* for rows between rows that a rule matched */
static const struct rule planned_rule = { .name = train_name,
					  .format = templates_format,
					  .kind = RULE_TRAIN };
static const struct rule val_rule = { .name = val_name,
				      .format = templates_format,
				      .kind = RULE_VAL };

#define METRIC_BIT(m) ((uint64_t)1 << (m))
#define VAL_BITS      (METRIC_BIT(METRIC_VAL_LOSS) | METRIC_BIT(METRIC_VAL_BPB))

struct held_line {
	char *text; /* owned */
	struct log_line line;
};

struct template
{
	uint64_t key, used; /* hash_row of its lines; clock at its last line */
	bool accepted;
	uint64_t n_lines;	 /* lines since the counter last decreased */
	double counter, epoch;	 /* of the previous line */
	double inner_counter;	 /* a counter within the epoch; absent: none */
	bool has_metric;	 /* it has a loss or another known metric */
	bool is_measured;	 /* it has a figure that is not a setting */
	bool has_risen;		 /* the counter has increased */
	double stride;		 /* increase of the counter; absent: it varies */
	bool has_changed;	 /* a figure has changed */
	bool has_fraction;	 /* a figure is not a whole number */
	bool is_bar;		 /* its lines are progress bars */
	bool is_total_first;	 /* they start with a number and its total: "[100/2000]" */
	bool restarts;		 /* the counter restarts with each epoch */
	bool continues;		 /* the counter continues after an epoch */
	bool starts_late;	 /* the first epoch seen is not the first one */
	bool is_unrelated;	 /* its counter is not the step of the run */
	uint64_t n_related;	 /* how often its counter fit the step of the run */
	double first[PAIRS_MAX]; /* values of the first line */
	struct held_line held[TEMPLATES_LEAST_ROWS - 1];
	size_t n_held;
	struct fast_path *fast; /* owned; NULL: none */
	unsigned int tries;	/* attempts to create it */
};

/* Reads rows of a template without analyzing their names again. */
struct fast_path {
	struct known_row row;
	size_t epoch; /* index of a pair of the shape; n: none */
	enum counter_kind kind;
	uint64_t name;	    /* hash of the counter's name */
	bool inside, plain; /* see struct log_line */
	bool is_sure;	    /* it has read a row that was also read in full */
};

/* The most attempts to create a fast path. */
#define MOST_TRIES 8

struct templates {
	row_fn fn;
	void *user;
	struct template *table[TEMPLATES_MAX]; /* owned; the unused ones at the end are NULL */
	uint64_t clock;
	bool has_rows;	  /* a template is accepted */
	struct buf block; /* a row on several lines; empty: none */
	struct log_line block_line;
	size_t block_lines;
	struct buf dict; /* a dictionary on several lines; empty: none */
	struct log_line dict_line;
	/* The epoch printed last, on any line, and the counter of the last row. */
	struct row_counts counts;
	double total; /* of the bars that are rows; absent: none yet */
	double plan;  /* of the last row; absent: none */
	/* The evaluation that was announced: "Eval started..", "***** Evaluating". */
	enum { ANNOUNCED_NONE, ANNOUNCED_PLAIN, ANNOUNCED_TITLE } announced;
	double step;	       /* of the last row with a step */
	double stride;	       /* from the step before it */
	uint64_t step_name;    /* hash of the name of that counter; 0: none yet */
	struct template *last; /* template of the previous row; NULL: unknown */
	uint64_t loss_name;    /* hash of the name of the training loss; 0: none yet */
	uint64_t run;	       /* hash of the name of the run of the first rows; 0: none */
	int rank;	       /* the rank whose rows are used; -1: not known yet */
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
	if (t->fast != NULL)
		known_row_release(&t->fast->row);
	free(t->fast);
	t->fast = NULL;
}

struct templates *templates_new(row_fn fn, void *user)
{
	struct templates *ts = xcalloc(1, sizeof(*ts));

	ts->fn = fn;
	ts->user = user;
	buf_init(&ts->block, TEMPLATES_LINE_BYTES);
	buf_init(&ts->dict, TEMPLATES_LINE_BYTES);
	ts->rank = -1;
	ts->counts = templates_get_counts(NULL);
	ts->total = ts->step = ts->stride = ts->plan = RUN_ABSENT;
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

/* Does the name contain one of the words? The words are in lower case, separated by one blank. */
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

/* Is the number a time, a rate or a size, which any program prints? */
static bool is_time_rate_or_size(const struct pair *pair)
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

/* Rate how well pair i counts the rows; false if it cannot. */
static bool counter_kind_of(const struct row *row, size_t i, enum counter_kind *kind)
{
	static const char unit_names[] =
		"batch batches iterations timesteps episode round total_timesteps num_timesteps";
	const struct pair *pair = &row->pairs[i];
	double scale;

	if (!isfinite(pair->value) || pair->value < 0)
		return false;
	if (meaning_of(pair, &scale) == METRIC_STEP)
		*kind = COUNTS_STEPS;
	else if (is_epoch(pair))
		*kind = COUNTS_EPOCHS;
	else if (str_is_like(pair->name, unit_names) ||
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

/* Is pair i a figure: a named number that is not a counter, time, rate or size? */
static bool is_figure(const struct row *row, size_t i)
{
	const struct pair *pair = &row->pairs[i];
	enum counter_kind kind;

	return i != row->counter && pair->name.len > 0 && !is_time_rate_or_size(pair) &&
	       !counter_kind_of(row, i, &kind);
}

/* Does the row have figures? Without a named counter, one of them must have a name like "loss",
 * which only training programs print. */
static bool has_figures(const struct row *row)
{
	bool is_sure = row->kind != COUNTS_LEAD;
	bool has_any = false;

	for (size_t i = 0; i < row->n; i++) {
		if (!is_figure(row, i))
			continue;
		has_any = true;
		is_sure = is_sure || has_word(row->pairs[i].name, "loss rmse acc reward ppl perp "
								  "nll train val auc grad bpb");
	}
	return has_any && is_sure;
}

/* Make one counter of "steps:  10%|#    | 160/1600 [..]": its name precedes the bar, and the
 * percentage repeats it. In "Round 1/3:  10%|#  | 16/160 [..]" rounds are the epochs, but ranks,
 * seeds or shards before a bar are not. */
static void join_bar(struct row *row)
{
	struct str name = { NULL, 0 };
	/* the pair that a bar counts has no name */
	size_t i = index_of(k, row->n, row->pairs[k].name.len == 0 && !isnan(row->pairs[k].total));

	if (i == row->n)
		return;
	size_t last = i;
	bool has_epoch = array_any(pair, row->pairs, row->n, is_epoch(pair));
	while (i-- > 0)
		if (str_eq_cstr(row->pairs[i].unit, "%")) {
			name = row->pairs[i].name;
			row->n--;
			memmove(&row->pairs[i], &row->pairs[i + 1],
				(row->n - i) * sizeof(row->pairs[0]));
			last--;
		} else if (isfinite(row->pairs[i].total) && !has_epoch &&
			   str_is_like(row->pairs[i].name,
				       "episode generation round part stage phase")) {
			row->pairs[i].name = STR_LIT("Epoch");
		}
	if (ends_with_word(name, "step") || ends_with_word(name, "steps"))
		row->pairs[last].name = name;
}

static uint64_t hash_row(const struct row *row)
{
	uint64_t key = row->about.words * 2 + row->about.is_bar;

	for (size_t i = 0; i < row->n; i++)
		key = (key ^ str_hash(row->pairs[i].name)) * 0x100000001b3 +
		      str_hash(row->pairs[i].unit);
	return key | 1;
}

/* Read the pairs of row->line and find its counter; false if it has no pairs. */
static bool read_row(struct row *row)
{
	enum counter_kind kind;

	row->n = pairs_read_slots(row->line.text, row->pairs, &row->about, NULL, NULL);
	if (row->n == 0)
		return false;
	if (row->about.is_bar)
		join_bar(row);
	row->counter = row->n;
	for (size_t i = 0; i < row->n; i++) {
		if (!counter_kind_of(row, i, &kind) || (row->counter < row->n && kind > row->kind))
			continue;
		if (row->counter < row->n && kind == row->kind &&
		    (kind != COUNTS_STEPS ||
		     row_counter_rank(row->pairs[i].name) <=
			     row_counter_rank(row->pairs[row->counter].name)))
			continue;
		row->counter = i;
		row->kind = kind;
	}
	row->step = row->counter < row->n ? row->pairs[row->counter].value : RUN_ABSENT;
	row->planned = row->counter < row->n ? row->pairs[row->counter].total : RUN_ABSENT;
	return true;
}

static struct template *find_template(struct templates *ts, uint64_t key)
{
	for (size_t i = 0; i < TEMPLATES_MAX && ts->table[i] != NULL; i++)
		if (ts->table[i]->key == key) {
			ts->table[i]->used = ++ts->clock;
			return ts->table[i];
		}
	return NULL;
}

/* Add a template, in place of the least recently used one. */
static struct template *add_template(struct templates *ts, uint64_t key, bool is_bar)
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
	*t = (struct template){ .key = key, .used = ++ts->clock, .is_bar = is_bar };
	return t;
}

static void hold_line(struct template *t, const struct log_line *line)
{
	struct held_line *held;

	if (t->n_held == LENGTH(t->held)) {
		free(t->held[0].text);
		t->held[0] = t->held[1];
		t->n_held--;
	}
	held = &t->held[t->n_held++];
	held->text = xstrndup(line->text.p, line->text.len);
	held->line = *line;
	held->line.text.p = held->text;
}

/* Check whether the template's counter is the step of the run. It is if "step 250" is between "iter
 * 240" and "iter 250" again and again. */
static void compare_counter(const struct templates *ts, struct template *t, double value)
{
	if (isnan(ts->step))
		return;
	if (value >= ts->step && value <= ts->step + ts->stride)
		t->n_related++;
	else
		t->is_unrelated = true;
}

/* Note whether the counter restarts or continues when a new epoch starts. */
static void check_restart(const struct templates *ts, struct template *t, double counter)
{
	if (t->n_lines == 0)
		t->starts_late = ts->counts.epoch.value > 1;
	else if (counter < t->counter &&
		 (t->is_bar || t->is_total_first || ts->counts.epoch.value > t->epoch))
		t->restarts = true;
	else if (ts->counts.epoch.value > t->epoch)
		t->continues = true;
	t->epoch = ts->counts.epoch.value;
}

static void update_template(struct templates *ts, struct template *t, const struct row *row)
{
	double counter = row->step, inner = RUN_ABSENT;
	enum counter_kind kind;

	/* If the row counts epochs, it may have a counter within the epoch as well. */
	for (size_t i = row->n; row->kind == COUNTS_EPOCHS && i-- > 0;)
		if (i != row->counter && counter_kind_of(row, i, &kind) && kind == COUNTS_UNITS)
			inner = row->pairs[i].value;
	check_restart(ts, t, counter);
	compare_counter(ts, t, counter);
	if (t->n_lines > 0 && counter < t->counter && !t->restarts) {
		t->n_lines = 0;
		t->has_risen = t->has_changed = t->has_fraction = false;
		forget_held(t);
	}
	if (t->n_lines == 1)
		t->stride = counter - t->counter;
	if (t->n_lines > 0)
		t->has_risen = t->has_risen || counter > t->counter || inner > t->inner_counter;
	t->inner_counter = inner;
	if (t->n_lines > 1 && counter - t->counter != t->stride)
		t->stride = RUN_ABSENT;
	for (size_t i = 0; i < row->n; i++) {
		double value = row->pairs[i].value;

		if (t->n_lines == 0)
			t->first[i] = value;
		if (!is_figure(row, i))
			continue;
		t->has_changed = t->has_changed || !run_same(value, t->first[i]);
		t->has_fraction = t->has_fraction || value != floor(value);
		t->is_measured = t->is_measured || !meaning_is_setting(row->pairs[i].name);
	}
	t->counter = counter;
	t->n_lines++;
}

/* Find the metrics that the names of the row mean, except the counter's. */
static uint64_t find_metrics(const struct row *row)
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

/* Does the row only count on, in the steps and towards the total of the last row? */
static bool continues_rows(const struct templates *ts, const struct row *row)
{
	return ts->has_rows && row->counter < row->n && row->kind == COUNTS_STEPS &&
	       row->planned == ts->plan && row->step >= ts->step && !row->about.is_bar &&
	       ts->step_name == str_hash(row->pairs[row->counter].name);
}

/* Does a line with another template belong to the accepted rows? It has their counter and a known
 * name, or it is the validation of an epoch, which Keras adds to the epoch's last bar. */
static bool belongs_to_rows(const struct templates *ts, const struct row *row)
{
	uint64_t known = find_metrics(row);

	if (!ts->has_rows || known == 0)
		return continues_rows(ts, row);
	if (row->about.is_bar)
		return (known & VAL_BITS) != 0 && row->planned == ts->total &&
		       row->step == ts->total;
	if (row->counter == row->n || row->kind == COUNTS_EPOCHS)
		return (known & VAL_BITS) != 0;
	return (row->kind == COUNTS_STEPS || row->kind == COUNTS_LEAD) && run_has(ts->step) &&
	       ts->step_name == str_hash(row->pairs[row->counter].name) && row->step >= ts->step;
}

/* May the counter of the template be the step of the run? */
static bool counts_steps(const struct templates *ts, const struct template *t,
			 enum counter_kind kind)
{
	if (kind == COUNTS_STEPS || !isnan(ts->counts.epoch.value))
		return kind == COUNTS_STEPS;
	return kind == COUNTS_LEAD ? t->stride > 1 && t->has_metric
				   : kind == COUNTS_UNITS &&
					     (t->is_bar || (t->is_total_first && t->stride > 1));
}

/* Return the step of the row: its own step, or the step of the rows around it. */
static double find_step(struct templates *ts, struct template *t, enum counter_kind kind,
			const struct pair *counter, uint64_t name)
{
	check_restart(ts, t, counter->value);
	t->counter = counter->value;
	if (!counts_steps(ts, t, kind)) {
		if (ts->step_name == name) /* this counter seemed to be the step until now */
			ts->step = RUN_ABSENT;
		return ts->step;
	}
	if (ts->step_name == 0)
		ts->step_name = name;
	if (ts->step_name == name && (t->restarts || (t->starts_late && !t->continues)))
		ts->step = RUN_ABSENT;
	else if (ts->step_name == name) {
		if (counter->value > ts->step)
			ts->stride = counter->value - ts->step;
		ts->step = counter->value;
	} else if (!t->is_unrelated && t->n_related >= TEMPLATES_LEAST_ROWS - 1)
		ts->step = counter->value;
	return ts->step;
}

/* Return the planned steps; absent if the total is that of an epoch. */
static double find_planned(struct templates *ts, const struct template *t, enum counter_kind kind,
			   const struct pair *counter)
{
	bool is_of_all = isnan(t->epoch);

	ts->counts.unit.may_restart = is_of_all && kind == COUNTS_UNITS && !t->is_bar;
	return counts_steps(ts, t, kind) && (is_of_all || t->continues) ? counter->total
									: RUN_ABSENT;
}

static void set_step(struct record *record, double step, double planned)
{
	record->present &= ~(METRIC_BIT(METRIC_STEP) | METRIC_BIT(METRIC_PLANNED));
	if (!run_has(step))
		return;
	record_set(record, METRIC_STEP, step);
	if (isfinite(planned))
		record_set(record, METRIC_PLANNED, planned);
}

/* Let only one name set the run's training loss; the others remain series. */
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

/* Fill the record from the row, except its step. False if a metric has two different numbers. */
static bool fill_record(struct templates *ts, const struct row *row, struct record *record,
			struct record_pair rows[PAIRS_MAX])
{
	*record = (struct record){ .rule = &train_rule };
	bool is_sure = row_fill(record, row->pairs, row->n, rows);
	if (row->about.evaluates) { /* "Validation | loss: 3.5" */
		double loss = record_get(record, METRIC_TRAIN_LOSS);

		for (size_t i = 0; i < record->n_pairs && !run_has(loss); i++)
			if (meaning_is_mean_loss(rows[i].name))
				loss = rows[i].value;
		if (run_has(loss) && !record_has(record, METRIC_VAL_LOSS))
			record_set(record, METRIC_VAL_LOSS, loss);
		record->present &= VAL_BITS;
		record->n_pairs = 0;
	} else {
		keep_one_loss(ts, record, rows);
	}
	if ((record->present & VAL_BITS) != 0 && !record_has(record, METRIC_TRAIN_LOSS))
		record->rule = &val_rule;
	return is_sure;
}

/* Remember the counter of a row; for an epoch, the counter within it: "Epoch:[1/1](500/500)". */
static void set_unit(struct templates *ts, const struct pair *pairs, size_t n, size_t counter,
		     enum counter_kind kind)
{
	const char *names = kind == COUNTS_EPOCHS ? "batch batches" : "iteration";
	struct row_count *unit = &ts->counts.unit;
	double before = unit->value;

	unit->value = pairs[counter].value;
	unit->total = kind == COUNTS_EPOCHS ? RUN_ABSENT : pairs[counter].total;
	for (size_t i = 0; isnan(unit->total) && i < n; i++) {
		bool is_next = kind == COUNTS_EPOCHS || (i > 0 && is_epoch(&pairs[i - 1]));

		if (i == counter || isnan(pairs[i].total) ||
		    !(pairs[i].name.len == 0 ? is_next : str_is_like(pairs[i].name, names)))
			continue;
		unit->value = pairs[i].value;
		unit->total = pairs[i].total;
	}
	unit->gap = unit->value > before ? unit->value - before : unit->gap;
	unit->has_zero |= unit->value == 0;
}

static void report_row(struct templates *ts, struct template *t, const struct row *row)
{
	bool counts = t != NULL && row->counter < row->n;
	const struct pair *counter = &row->pairs[row->counter];
	struct record_pair rows[PAIRS_MAX];
	struct record record;
	double step = ts->step;

	if (counts)
		set_unit(ts, row->pairs, row->n, row->counter, row->kind);
	if (counts)
		step = find_step(ts, t, row->kind, counter, str_hash(counter->name));

	fill_record(ts, row, &record, rows);
	set_step(&record, step, counts ? find_planned(ts, t, row->kind, counter) : RUN_ABSENT);
	ts->fn(ts->user, &record, &row->line);
}

static void make_fast_path(struct templates *ts, struct template *t, const struct row *like)
{
	const struct log_line *line = &like->line;
	struct row row = *like;

	if (t->fast != NULL)
		t->fast->is_sure = row_shape_read(t->fast->row.shape, line->text);
	if (t->fast != NULL || t->tries == MOST_TRIES || line->joined || line->cut ||
	    like->about.evaluates)
		return;
	t->tries++;
	struct row_shape *shape = row_shape_new(line->text, false);
	if (shape == NULL)
		return;
	struct fast_path *fast = xcalloc(1, sizeof(*fast));
	fast->row.shape = shape;
	row.n = shape->n;
	for (size_t i = 0; i < row.n; i++) {
		row.pairs[i] = shape->pairs[i];
		row.pairs[i].value = (double)i;
	}
	if (row.about.is_bar)
		join_bar(&row);
	if (row.n != like->n || !fill_record(ts, &row, &fast->row.record, fast->row.rows) ||
	    !known_row_link(&fast->row)) {
		known_row_release(&fast->row);
		free(fast);
		return;
	}
	size_t epoch = index_of(i, row.n, is_epoch(&row.pairs[i]));
	fast->epoch = epoch < row.n ? (size_t)row.pairs[epoch].value : shape->n;
	fast->row.counter = (size_t)row.pairs[row.counter].value;
	fast->kind = row.kind;
	fast->name = str_hash(row.pairs[row.counter].name);
	fast->inside = line->inside;
	fast->plain = line->plain;
	t->fast = fast;
}

/* Report the lines of the template that were held back, in order. */
static void report_held(struct templates *ts, struct template *t)
{
	struct row row;
	bool is_swapped = t->n_held == 2 && t->held[0].line.line > t->held[1].line.line;

	t->counter = 0;
	for (size_t i = 0; i < t->n_held; i++) {
		row.line = t->held[is_swapped ? 1 - i : i].line;
		row.line.late = true;
		if (read_row(&row))
			report_row(ts, t, &row);
	}
	forget_held(t);
}

static void set_epoch(struct templates *ts, const struct pair *pair)
{
	double epoch = pair->value;

	if (epoch != floor(epoch))
		return;
	if (isfinite(pair->total))
		ts->counts.epoch.total = pair->total;
	if (epoch < ts->counts.epoch.value)
		ts->total = RUN_ABSENT;
	if (isnan(ts->counts.epoch.value))
		ts->counts.epoch.from_one = epoch == 1;
	ts->counts.epoch.value = epoch;
}

/* Find the start of an evaluation ("Eval started..", "*** Evaluating"): rows with another total, or
 * without a counter, belong to it until a line is about training. */
static void find_evaluation(struct templates *ts, struct str text)
{
	size_t n = index_of(i, text.len, strchr("*= ", text.p[i]) == NULL);
	struct str rest = str_skip(text, n), word;

	if (str_next(&rest, ' ', &word) && pairs_is_evaluation(word))
		ts->announced = n > 0 && text.p[0] != ' ' ? ANNOUNCED_TITLE : ANNOUNCED_PLAIN;
	else if (ts->announced != ANNOUNCED_NONE && has_word(text, "train epoch"))
		ts->announced = ANNOUNCED_NONE;
}

static bool add_row(struct templates *ts, struct row *row)
{
	uint64_t key = hash_row(row);
	struct template *t = find_template(ts, key);
	bool is_accepted = t != NULL && t->accepted, is_first = !ts->has_rows;

	if (row->line.cut) {
		char last = row->line.text.p[row->line.text.len - 1];

		/* The last line of a log without LF may end with a cut number: drop it. */
		row->n -= is_accepted && (last == '.' || str_is_digit(last));
		if (!is_accepted || row->counter >= row->n)
			return false;
	}
	/* A bar without a name that has another total does not belong to the rows. */
	if (row->about.is_bar && row->kind == COUNTS_UNITS && run_has(ts->total) &&
	    row->planned != ts->total)
		return false;
	/* A row with another total belongs to the evaluation that the log announced. */
	if (ts->announced != ANNOUNCED_NONE && run_has(row->planned) && run_has(ts->plan) &&
	    row->planned != ts->plan)
		return false;
	ts->announced = ANNOUNCED_NONE;
	ts->plan = row->planned;
	if (t == NULL)
		t = add_template(ts, key, row->about.is_bar);
	t->is_total_first =
		row->counter == 0 && row->pairs[0].name.len == 0 && isfinite(row->planned);
	if (t->accepted) {
		compare_counter(ts, t, row->step);
	} else {
		t->has_metric = t->has_metric || find_metrics(row) != 0;
		update_template(ts, t, row);
		/* in Keras, each row counts to 100/100 */
		bool is_rows = t->n_lines >= TEMPLATES_LEAST_ROWS && t->has_changed &&
			       t->has_fraction && (t->is_measured || ts->has_rows) &&
			       (t->has_risen || row->step == row->planned) &&
			       (!row->about.evaluates ||
				(!row->about.is_bar && (find_metrics(row) & VAL_BITS) != 0));
		t->accepted = is_rows || belongs_to_rows(ts, row);
		if (!is_rows && t->accepted && row->kind == COUNTS_LEAD)
			t->stride = fmax(ts->stride, 2); /* the rows' counter is the step */
		if (!t->accepted) {
			hold_line(t, &row->line);
			return false;
		}
		ts->has_rows = true;
		ts->run = is_first ? row->about.run : ts->run;
		if (is_first)
			report_held(ts, t);
		t->n_lines = TEMPLATES_LEAST_ROWS;
		forget_held(t);
	}
	if (t->is_bar && row->kind == COUNTS_UNITS)
		ts->total = row->planned;
	report_row(ts, t, row);
	make_fast_path(ts, t, row);
	ts->last = t;
	return true;
}

/* Strip the "train.py:123" that Rich's logger prints at the end of a line. */
static struct str strip_source_place(struct str text)
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

/* Return the message of a line, without the text that loggers print before and after it. */
static struct str find_message(const struct log_line *line)
{
	struct str text = line->text;

	/* Rich omits a time that it has just printed, but not the level */
	if (text.len > 8 && text.p[0] == ' ')
		text = str_trim(text);
	if (text.len > 8 && text.p[1] >= 'A' && text.p[1] <= 'Z') {
		struct log_line message;

		line_prefix_split(text, &message);
		text = message.text;
	}
	for (int i = 0; i < 3; i++) { /* some loggers print ">> " before the message */
		const char *arrow = memmem(text.p, text.len < 100 ? text.len : 100, ">> ", 3);
		struct log_line message;

		if (arrow == NULL)
			break;
		line_prefix_split(str_trim(str_between(arrow + 2, text.p + text.len)), &message);
		text = message.text;
	}
	return strip_source_place(text);
}

void templates_finish(struct templates *ts)
{
	struct row row;

	if (ts->block_lines > 1 && !ts->block.truncated) {
		row.line = ts->block_line;
		row.line.text = buf_str(&ts->block);
		row.line.joined = true;
		if (read_row(&row) && row.counter < row.n && has_figures(&row))
			(void)add_row(ts, &row);
	}
	buf_clear(&ts->block);
	ts->block_lines = 0;
}

/* Add a line to the block; "|  name  | 12 |" becomes "name: 12". */
static void add_to_block(struct templates *ts, const struct row *row)
{
	struct str text = row->line.text, cell;

	if (ts->block_lines++ == 0)
		ts->block_line = row->line;
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
	return row->line.text.p[0] == '|' && row->n == 1 && row->pairs[0].name.len > 0;
}

static void report_fast(struct templates *ts, struct template *t, const struct log_line *line)
{
	struct fast_path *fast = t->fast;
	const struct pair *pairs = fast->row.shape->pairs;
	const struct pair *counter = &pairs[fast->row.counter];

	if (fast->epoch < fast->row.shape->n)
		set_epoch(ts, &pairs[fast->epoch]);
	t->used = ++ts->clock;
	ts->plan = counter->total;
	set_unit(ts, pairs, fast->row.shape->n, fast->row.counter, fast->kind);
	if (t->is_bar && fast->kind == COUNTS_UNITS)
		ts->total = counter->total;
	compare_counter(ts, t, counter->value);
	double step = find_step(ts, t, fast->kind, counter, fast->name);
	known_row_fill(&fast->row);
	set_step(&fast->row.record, step, find_planned(ts, t, fast->kind, counter));
	ts->last = t;
	ts->fn(ts->user, &fast->row.record, line);
}

/* Is the text a row of the template, with the same kind of counter? */
static bool is_similar(const struct templates *ts, const struct template *t, struct str text)
{
	const struct fast_path *fast = t->fast;
	const struct pair *counter = &fast->row.shape->pairs[fast->row.counter];

	if (!row_shape_read(fast->row.shape, text) || !isfinite(counter->value) ||
	    counter->value < 0)
		return false;
	if (fast->kind == COUNTS_LEAD)
		return counter->value == floor(counter->value);
	return !t->is_bar || fast->kind != COUNTS_UNITS || !run_has(ts->total) ||
	       counter->total == ts->total;
}

/* May the line be a row of t? Checked before its text is read. */
static bool may_be_similar(const struct templates *ts, const struct template *t,
			   const struct log_line *line)
{
	bool alone = line->plain && ts->dict.len == 0;

	if (t == NULL || t->fast == NULL)
		return false;
	if (line->rank != ts->rank)
		return alone && t->fast->plain && ts->rank >= 0;
	if (t == ts->last && !t->is_bar)
		return true;
	return alone && t->fast->plain && (t == ts->last || t->fast->is_sure);
}

enum templates_similar templates_read_similar(struct templates *ts, const struct log_line *line)
{
	struct log_line place = *line;
	struct str message = { NULL, 0 };

	if (!ts->has_rows || line->cut || ts->block_lines > 0 || ts->announced != ANNOUNCED_NONE)
		return SIMILAR_NONE;
	/* try the template of the previous row first */
	for (size_t i = 0; i <= TEMPLATES_MAX; i++) {
		struct template *t = i == 0 ? ts->last : ts->table[i - 1];

		if (i > 0 && t == NULL)
			break;
		if ((i > 0 && t == ts->last) || !may_be_similar(ts, t, line))
			continue;
		if (t->fast->inside && message.p == NULL)
			message = find_message(line);
		place.text = t->fast->inside ? message : line->text;
		if (!is_similar(ts, t, place.text))
			continue;
		if (line->rank != ts->rank)
			return SIMILAR_OTHER;
		place.inside = place.text.len != line->text.len;
		report_fast(ts, t, &place);
		return SIMILAR_ROW;
	}
	return SIMILAR_NONE;
}

/* Process a line that is a part of a row, or the only line of a validation. */
static bool add_part(struct templates *ts, const struct row *row)
{
	bool has_counter = row->counter < row->n;

	if (!is_cell(row) && has_counter) {
		templates_finish(ts);
		if (row->pairs[row->counter].name.len > 0 && !row->about.is_bar)
			add_to_block(ts, row); /* the first line of a row */
		return false;
	}
	if (ts->block_lines > 0 || is_cell(row)) {
		add_to_block(ts, row);
		return false;
	}
	if (has_counter || !belongs_to_rows(ts, row))
		return false;
	report_row(ts, NULL, row);
	return true;
}

/* Use only the rows of this rank, the lowest one that has printed rows. */
static void use_rank(struct templates *ts, int rank)
{
	for (size_t i = 0; i < TEMPLATES_MAX && ts->table[i] != NULL; i++) {
		struct template *t = ts->table[i];

		forget_template(t);
		*t = (struct template){ .key = t->key, .is_bar = t->is_bar };
	}
	ts->rank = rank;
}

static bool add_line(struct templates *ts, const struct log_line *line)
{
	struct row row;

	row.line = *line;
	if (str_has_digit(line->text))
		row.line.text = find_message(line);
	row.line.inside = row.line.text.p != line->text.p || row.line.text.len != line->text.len;
	if (!str_has_digit(row.line.text) || !read_row(&row)) {
		if (ts->has_rows)
			find_evaluation(ts, row.line.text);
		/* A row continues after "| train/ |  |", and after a ruler below its first line. */
		if (row.line.text.len == 0 ||
		    (row.line.text.p[0] != '|' &&
		     (ts->block_lines != 1 || !str_has_only(row.line.text, "-"))))
			templates_finish(ts);
		return false;
	}
	if (row.counter < row.n && row.line.rank >= 0 &&
	    (ts->rank < 0 || (!ts->has_rows && row.line.rank < ts->rank && has_figures(&row))))
		use_rank(ts, row.line.rank);
	if (ts->rank != row.line.rank)
		return false; /* the other ranks repeat the rows */
	if (ts->has_rows && row.about.run != 0 && row.about.run != ts->run)
		return false;
	row.about.evaluates |= ts->announced == ANNOUNCED_TITLE && row.counter == row.n &&
			       ts->block_lines == 0 && !is_cell(&row);
	for (size_t i = 0; i < row.n; i++)
		if (is_epoch(&row.pairs[i]))
			set_epoch(ts, &row.pairs[i]);
	if (row.n == 1 && is_epoch(&row.pairs[0]))
		ts->announced = ANNOUNCED_NONE;
	if (line->cut && (row.counter == row.n || !has_figures(&row)))
		return false;
	bool is_own = row.counter < row.n && !is_cell(&row) &&
		      (has_figures(&row) || continues_rows(ts, &row));
	if (is_own || row.about.evaluates)
		templates_finish(ts);
	/* "Test: [10/196] loss 3.5" is a batch of an evaluation */
	if (row.about.evaluates && isfinite(row.pairs[0].total) && row.pairs[0].total != ts->plan &&
	    !row.about.is_bar)
		return false;
	return is_own ? add_row(ts, &row) : add_part(ts, &row);
}

/* Add the line to the open dictionary, if it is part of one. A complete one is read as a line. */
static bool add_dict_line(struct templates *ts, const struct log_line *line)
{
	struct str text = str_trim(line->text);
	struct log_line whole = ts->dict_line;
	/* "{'loss': 2.1," continues on the next line */
	const char *at =
		text.len > 0 && text.p[text.len - 1] == ',' ? memchr(text.p, '{', text.len) : NULL;

	if (ts->dict.len == 0 && (at == NULL || (at[1] != '\'' && at[1] != '"') ||
				  memchr(at, '}', (size_t)(text.p + text.len - at)) != NULL))
		return false;
	if (ts->dict.len == 0)
		ts->dict_line = *line;
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
		(void)add_line(ts, &whole);
	buf_clear(&ts->dict);
	return true;
}

bool templates_read(struct templates *ts, const struct log_line *line)
{
	if (ts == NULL || line->text.len == 0 || line->text.len > TEMPLATES_LINE_BYTES)
		return false;
	if (str_starts_with(line->text, "COMET INFO:"))
		return false; /* Comet repeats the rows */
	if (add_dict_line(ts, line))
		return ts->has_rows;
	return add_line(ts, line);
}

bool templates_read_planned(const struct log_line *line, double planned, double step,
			    double val_step, row_fn fn, void *user)
{
	uint64_t losses = VAL_BITS | METRIC_BIT(METRIC_TRAIN_LOSS);
	struct templates none = { .loss_name = 0 };
	struct record_pair rows[PAIRS_MAX];
	struct record record;
	struct row row;

	row.line = *line;
	if (!read_row(&row) || row.about.is_bar || row.about.evaluates || row.counter == row.n)
		return false;
	bool is_named = row.pairs[row.counter].name.len > 0, is_step = row.kind == COUNTS_STEPS;
	/* a validation may have no total */
	if ((run_has(row.planned) ? row.planned != planned : !is_step) || (is_named && !is_step) ||
	    row.step < step || row.step > planned ||
	    (find_metrics(&row) & (run_has(row.planned) ? losses : VAL_BITS)) == 0)
		return false;
	fill_record(&none, &row, &record, rows);
	/* "[EMA] step 900 val_loss 2.0" and "Best checkpoint: step=900" are other validations */
	if (record.rule == &val_rule &&
	    (row.step <= val_step || row.pairs[row.counter].name.p != line->text.p))
		return false;
	if (record.rule == &train_rule)
		record.rule = &planned_rule;
	set_step(&record, row.step, planned);
	fn(user, &record, line);
	return true;
}

struct row_counts templates_get_counts(const struct templates *ts)
{
	static const struct row_count none = { .value = RUN_ABSENT, .total = RUN_ABSENT };

	return ts != NULL ? ts->counts : (struct row_counts){ none, none };
}
