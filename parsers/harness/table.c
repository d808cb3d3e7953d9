/* SPDX-License-Identifier: MIT */
/* Read an agent's table of experiments (autoresearch and its forks): results.tsv and the last
 * run.log. The agent writes both, so no score is verified, but contradictions are reported. */
#include <ctype.h>
#include <strings.h>

#include "parsers/harness/parts.h"
#include "parsers/score_json.h"

enum outcome { KEPT, DISCARDED, CRASHED, UNKNOWN };
enum column { COMMIT, STATUS, NOTE, SCORE, KIND, COLUMNS };

/* A line of the table; cells borrow the text of the file. */
struct row {
	struct str cells[COLUMNS];
	enum outcome outcome;
	double score;	/* NAN: not a number, or a crash */
	double rounded; /* rounding error: half a unit of the last of at most four decimals */
	bool is_baseline;
	bool is_other;	     /* a different kind of measurement from the last row's */
	unsigned int number; /* 1.. */
};

struct table {
	struct harness_build *b;
	const struct harness_file *file;
	size_t columns[COLUMNS]; /* SIZE_MAX: none */
	struct str score;	 /* name of the SCORE column */
	struct str twin;	 /* name of a duplicate column */
	size_t correct;		 /* column of the correctness; SIZE_MAX: none */
	struct row *rows;	 /* owned */
	size_t n, cap;
};

/* Words in column names and cells; the lists for scores also give the direction. */
static const char *const column_words[] = {
	[COMMIT] = "commit hash sha",
	[STATUS] = "status decision outcome verdict",
	[NOTE] = "description desc note notes comment idea",
};
static const char *const outcome_words[] = {
	[KEPT] = "keep kept accept accepted pass passed correct true yes baseline",
	[DISCARDED] = "discard discarded reject rejected revert reverted no not",
	[CRASHED] = "crash crashed fail failed failure error oom timeout false incorrect",
};
/* Columns that name what a row measures; scores of different kinds are not compared. */
static const char kind_columns[] = "kernel_type op op_type problem problem_id task";
static const char lower_words[] = "bpb loss ppl perplexity error err wer cer "
				  "rmse mse mae latency us ms ns cycles";
static const char higher_words[] = "acc accuracy f1 auc bleu reward tflops "
				   "gbps throughput speedup";
static const char other_words[] =
	"train memory mem vram peak gb mb time seconds sec minutes hours step "
	"steps params tokens mfu date timestamp iter iteration experiment exp "
	"run id no seed depth lr";

static bool has_word(struct str name, const char *words)
{
	while (name.len > 0) {
		size_t n = index_of(i, name.len, !isalnum((unsigned char)name.p[i]));

		if (n > 0 && str_is_like((struct str){ name.p, n }, words))
			return true;
		name = str_skip(name, n < name.len ? n + 1 : n);
	}
	return false;
}

/* Return the index of the first list that contains a word of the name, or n. */
static size_t find_word_list(struct str name, const char *const *lists, size_t n)
{
	return index_of(i, n, has_word(name, lists[i]));
}

/* Rate how likely a column is the score; 0: it is not. */
static unsigned int rate_score_column(struct str name)
{
	bool known = has_word(name, lower_words) || has_word(name, higher_words);

	if (has_word(name, other_words))
		return known ? 1 : 0;
	return name.len == 0 ? 0 : known ? 3 : 2;
}

static bool read_header(struct table *t, const struct harness_files *files)
{
	struct str line, name;
	unsigned int best = 0;

	t->file = harness_files_get(files, "results.tsv");
	if (t->file == NULL)
		return false;
	for (size_t c = 0; c < COLUMNS; c++)
		t->columns[c] = SIZE_MAX;
	t->correct = SIZE_MAX;
	struct str rest = { t->file->text, t->file->len };
	(void)str_next(&rest, '\n', &line);
	for (size_t i = 0; str_next(&line, '\t', &name); i++) {
		name = str_trim(name);
		size_t c = str_is_among(name, kind_columns)
				   ? KIND
				   : find_word_list(name, column_words, SCORE);
		/* Some loops only record whether a result was correct or kept, without a status. */
		if (has_word(name, "correctness correct valid kept keep accepted")) {
			t->correct = i;
			continue;
		}
		if (c == STATUS ? t->columns[c] != SIZE_MAX
				: c == SCORE && best > 0 && str_eq(name, t->score))
			t->twin = name;
		if (c == SCORE && rate_score_column(name) <= best)
			continue;
		t->columns[c] = i;
		if (c == SCORE) {
			best = rate_score_column(name);
			t->score = name;
		}
	}
	if (t->columns[STATUS] == SIZE_MAX)
		t->columns[STATUS] = t->correct;
	return best > 0 && t->columns[STATUS] != SIZE_MAX;
}

/* Read the score of a row; 0 is not a score: agents write it for a crash. */
static void read_score(const struct table *t, struct row *row)
{
	struct str cell = row->cells[SCORE];
	const char *point = memchr(cell.p, '.', cell.len);
	size_t digits = point != NULL ? (size_t)(cell.p + cell.len - point) : 1;
	double value;

	row->score = (double)NAN;
	if (row->outcome == CRASHED || !str_to_double(cell, &value) ||
	    !score_is_possible(t->b->run->score_key, value) ||
	    (value <= 0 && has_word(t->score, lower_words)))
		return;
	row->score = value;
	row->rounded = 0.5 / pow(10, (double)(digits < 5 ? digits : 5) - 1);
	row->rounded = fmin(row->rounded, fabs(value) / 100) * (1 + 1e-9);
}

/* Read a row; false if the line is too short to have a status and a score. */
static bool read_row(const struct table *t, struct row *row, struct str line)
{
	struct str cell;
	size_t i;

	*row = (struct row){ .number = (unsigned int)t->n + 1 };
	for (size_t c = 0; c < COLUMNS; c++)
		row->cells[c] = str_from("");
	for (i = 0; str_next(&line, '\t', &cell); i++)
		for (size_t c = 0; c < COLUMNS; c++)
			if (t->columns[c] == i)
				row->cells[c] = str_trim(cell);
	if (i <= t->columns[STATUS] || i <= t->columns[SCORE])
		return false;
	row->outcome = (enum outcome)find_word_list(row->cells[STATUS], outcome_words, UNKNOWN);
	line = row->cells[STATUS];
	if (str_next(&line, ' ', &cell) && has_word(cell, "no not"))
		row->outcome = DISCARDED; /* "not kept" */
	read_score(t, row);
	return true;
}

/* Is this line another header: does it contain the name of a status column, and no number? */
static bool is_header(struct str line)
{
	bool is_named = false;
	struct str cell;
	double value;

	while (str_next(&line, '\t', &cell)) {
		cell = str_trim(cell);
		if (str_to_double(cell, &value))
			return false;
		is_named |= memchr(cell.p, ' ', cell.len) == NULL &&
			    has_word(cell, column_words[STATUS]);
	}
	return is_named;
}

#define REST_MS 2000

/* Read every row; a last line without a newline may be incomplete. */
static void read_rows(struct table *t)
{
	struct harness_table *table = t->b->run->table;
	struct str rest = { t->file->text, t->file->len }, line;
	bool at_rest = t->b->now_ms - t->file->mtime_ms > REST_MS;
	struct row row;

	(void)str_next(&rest, '\n', &line);
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		if (str_trim(line).len == 0 || (rest.p == NULL && (!at_rest || t->file->cut)))
			continue;
		if (is_header(line)) {
			harness_dispute(t->b, "second header after row %zu: later rows are ignored",
					t->n);
			break;
		}
		if (!read_row(t, &row, line)) {
			table->broken++;
			continue;
		}
		xpush(t->rows, t->n, t->cap, row);
	}
	for (size_t i = 0; i < t->n; i++)
		t->rows[i].is_other =
			!str_eq(t->rows[i].cells[KIND], t->rows[t->n - 1].cells[KIND]);
	table->kind = t->n > 0 ? harness_pool_text(t->b->pool, t->rows[t->n - 1].cells[KIND],
						   HARNESS_NAME_MAX)
			       : "";
	table->rows = (unsigned int)t->n;
	for (size_t i = 0; i < t->n; i++)
		table->outcomes[t->rows[i].outcome]++;
}

/* Find which direction is better: from the score's name, or from the kept rows if they agree. */
static enum harness_tri find_direction(const struct table *t)
{
	bool up = has_word(t->score, higher_words);
	bool down = has_word(t->score, lower_words);
	bool is_named = up || down;
	double last = (double)NAN;

	for (size_t i = 0; i < t->n && !is_named; i++) {
		if (t->rows[i].outcome != KEPT || isnan(t->rows[i].score) || t->rows[i].is_other)
			continue;
		up |= t->rows[i].score > last;
		down |= t->rows[i].score < last;
		last = t->rows[i].score;
	}
	return up == down ? HARNESS_UNKNOWN : HARNESS_TRI(up);
}

static const char *source_of(const struct table *t)
{
	return t->b->run->table->is_loop ? "loop" : "claimed";
}

/* Find the baseline, which is the first row with a score, and the range of its repetitions. */
static void find_noise(struct table *t)
{
	struct harness_table *table = t->b->run->table;
	const struct row *first = NULL;
	double lo = 0, hi = 0;

	array_each (row, t->rows, t->n) {
		if (isnan(row->score) || row->is_other)
			continue;
		first = first != NULL ? first : row;
		/* "baseline again" repeats the baseline; "baseline + rope" does not. */
		struct str note = row->cells[NOTE];
		row->is_baseline =
			row == first || (note.len >= 8 && strncasecmp(note.p, "baseline", 8) == 0 &&
					 memchr(note.p, '+', note.len) == NULL &&
					 str_find(note, " with ") == NULL &&
					 str_eq(row->cells[COMMIT], first->cells[COMMIT]));
		if (!row->is_baseline)
			continue;
		lo = table->baselines == 0 ? row->score : fmin(lo, row->score);
		hi = table->baselines == 0 ? row->score : fmax(hi, row->score);
		table->baselines++;
	}
	if (first != NULL)
		table->baseline =
			(struct harness_score){ true, first->score, first->number, source_of(t) };
	if (table->baselines > 1)
		table->noise = harness_number(hi - lo);
}

/* Make an iteration from a row, compared with the best row kept before it. */
static void make_iteration(const struct table *t, const struct row *row,
			   struct harness_iteration *it)
{
	struct harness_run *run = t->b->run;
	struct harness_score *best = &run->best_unverified;
	AUTO_BUF note = buf_new(HARNESS_NOTE_MAX * 2);

	buf_append(&note, row->cells[COMMIT].p, row->cells[COMMIT].len);
	buf_append_str(&note, row->cells[COMMIT].len > 0 ? "  " : "");
	buf_append(&note, row->cells[NOTE].p, row->cells[NOTE].len);
	*it = (struct harness_iteration){
		.number = row->number,
		.status = harness_pool_text(t->b->pool, row->cells[STATUS], HARNESS_NAME_MAX),
		.verified = HARNESS_UNKNOWN,
		.better_than_baseline = HARNESS_UNKNOWN,
		.better_than_previous = HARNESS_UNKNOWN,
		.within_noise = HARNESS_UNKNOWN,
		.kept = row->outcome == KEPT,
		.claimed_score = { !isnan(row->score), row->score },
		.note = harness_pool_text(t->b->pool, buf_str(&note), HARNESS_NOTE_MAX),
	};
	if (isnan(row->score) || row->is_other || run->higher_is_better == HARNESS_UNKNOWN)
		return;
	if (best->present)
		it->claimed_pct = harness_gain_pct(best->value, row->score, run->higher_is_better);
	if (row->outcome != KEPT)
		return;
	if (best->present && run->table->noise.present && !row->is_baseline)
		it->within_noise =
			HARNESS_TRI(fabs(row->score - best->value) <= run->table->noise.value);
	if (!best->present || harness_is_better(run->higher_is_better, row->score, best->value))
		*best = (struct harness_score){ true, row->score, row->number, source_of(t) };
}

/* Count all rows, but make iterations only of the last ones. */
static void make_iterations(const struct table *t)
{
	struct harness_run *run = t->b->run;
	size_t n = t->n < HARNESS_MAX_ITERATIONS ? t->n : HARNESS_MAX_ITERATIONS;
	struct harness_iteration passed;

	run->iterations = harness_pool_alloc(t->b->pool, n, sizeof(*run->iterations));
	for (size_t i = 0; i < t->n; i++)
		make_iteration(t, &t->rows[i],
			       t->n - i > n ? &passed : &run->iterations[run->n_iterations++]);
	if (run->best_unverified.present)
		run->table->best_pct =
			harness_gain_pct(run->table->baseline.value, run->best_unverified.value,
					 run->higher_is_better);
}

#define RECENT	    5  /* a loop whose last rows all crashed is broken */
#define PLATEAU_MIN 10 /* rows without an improvement */

static void find_trend(const struct table *t)
{
	const struct harness_score *best = &t->b->run->best_unverified;
	struct harness_table *table = t->b->run->table;
	size_t crashed = index_of(i, t->n, t->rows[t->n - 1 - i].outcome != CRASHED);

	table->since_best = best->present ? (unsigned int)t->n - best->iteration : 0;
	if (crashed >= RECENT)
		table->trend = "crashing";
	else if (best->present)
		table->trend = table->since_best >= PLATEAU_MIN ? "plateau" : "improving";
}

/* Report two scores of one commit that differ more than repetitions do. */
static void check_commits(const struct table *t)
{
	const struct harness_number *noise = &t->b->run->table->noise;
	AUTO_MAP first = MAP_EMPTY;

	array_each (row, t->rows, t->n) {
		struct str commit = row->cells[COMMIT];
		const struct row *old = map_get(&first, commit);

		if (commit.len == 0 || isnan(row->score))
			continue;
		if (old == NULL)
			(void)map_set(&first, commit, row);
		else if (!(row->is_baseline && old->is_baseline) &&
			 fabs(row->score - old->score) > (noise->present ? noise->value : 0))
			harness_dispute(t->b,
					"rows %u and %u have different scores for commit %.*s: %s "
					"and %s",
					old->number, row->number,
					(int)(commit.len < 40 ? commit.len : 40), commit.p,
					NUMBER(old->score), NUMBER(row->score));
	}
}

/* Report the first line that has changed since it was first read. */
static void check_old_rows(const struct table *t)
{
	struct str was = { t->file->seen, t->file->seen_len }, old;
	struct str is = { t->file->text, t->file->len }, now = { "", 0 };

	while (str_next(&was, '\n', &old) && was.p != NULL) {
		now = (struct str){ "", 0 };
		(void)str_next(&is, '\n', &now);
		if (str_eq(str_trim(old), str_trim(now)))
			continue;
		old = str_trim(old);
		now = str_trim(now);
		harness_dispute(t->b, "results.tsv had \"%.*s\" before, and now \"%.*s\"",
				(int)(old.len < 100 ? old.len : 100), old.p,
				(int)(now.len < 100 ? now.len : 100), now.len > 0 ? now.p : "");
		return;
	}
}

/* Find the last "KEY: NUMBER" of a log, and whether a traceback follows. */
static struct harness_number find_log_score(const struct harness_file *log, const char *key,
					    bool *died)
{
	struct str rest = { log->text, log->len }, line;
	struct harness_number found = HARNESS_ABSENT;
	size_t n = strlen(key);

	while (str_next(&rest, '\n', &line)) {
		struct harness_number more = { true, (double)NAN };

		line = str_trim(line);
		/* Skip everything that a progress bar has overwritten. */
		for (const char *p; (p = memchr(line.p, '\r', line.len));)
			line = str_trim((struct str){ p, (size_t)(line.p + line.len - p) });
		*died |= str_starts_with(line, "Traceback (most recent call");
		if (str_starts_with(line, "METRIC ")) /* as some loops print scores */
			line = str_trim((struct str){ line.p + 7, line.len - 7 });
		if (!str_starts_with(line, key))
			continue;
		line = str_trim((struct str){ line.p + n, line.len - n });
		if (line.len == 0 || strchr(":=", line.p[0]) == NULL)
			continue;
		line = str_trim((struct str){ line.p + 1, line.len - 1 });
		if (str_to_double(line, &more.value)) {
			found = more;
			*died = false;
		}
	}
	return found;
}

/* Compare run.log with the row that has the same score, or else with the last row. */
static void check_log(const struct table *t, const struct harness_file *log)
{
	struct harness_run *run = t->b->run;
	struct harness_table *table = run->table;
	const struct row *last = &t->rows[t->n - 1];
	bool died = false;

	table->logged = find_log_score(log, run->score_key, &died);
	table->log_is_newer = log->mtime_ms > t->file->mtime_ms;
	if (died && table->logged.present && last->outcome != CRASHED && !table->log_is_newer) {
		harness_dispute(t->b,
				"row %u: results.tsv has %s, but run.log ends with a traceback",
				last->number, run->iterations[run->n_iterations - 1].status);
		return;
	}
	for (size_t i = run->n_iterations; harness_is_finite(table->logged) && i-- > 0;) {
		const struct row *row = &t->rows[t->n - run->n_iterations + i];

		if (!(fabs(row->score - table->logged.value) <= row->rounded))
			continue;
		table->logged_row = row->number;
		run->iterations[i].proof = HARNESS_PROOF_LOGGED;
		if (run->best_unverified.iteration == row->number)
			run->best_unverified.source = "run_log";
		return;
	}
	if (table->log_is_newer || log->len == 0 ||
	    (!table->logged.present && (log->cut || isnan(last->score))))
		return;
	harness_dispute(t->b, "row %u: results.tsv has %s, run.log has %s", last->number,
			isnan(last->score) ? run->iterations[run->n_iterations - 1].status
					   : NUMBER(last->score),
			harness_is_finite(table->logged) ? NUMBER(table->logged.value)
							 : "no score");
}

bool harness_table_is(const struct harness_files *files)
{
	struct table t;

	return read_header(&t, files);
}

void harness_table_read(struct harness_build *b)
{
	struct table t = { .b = b };
	const struct harness_file *log = harness_files_get(b->files, "run.log");
	const cJSON *loop = harness_files_json(b->files, "loop.report");
	struct harness_run *run = b->run;

	if (!read_header(&t, b->files))
		return;
	run->table = harness_pool_alloc(b->pool, 1, sizeof(*run->table));
	run->table->is_loop = loop != NULL;
	run->id = loop != NULL ? harness_text_at(b->pool, loop, "loop") : NULL;
	if (run->id == NULL)
		run->id = "results.tsv";
	run->score_key = harness_pool_text(b->pool, t.score, HARNESS_NAME_MAX);
	run->post_score_key = run->score_key;
	run->stop_reached = HARNESS_UNKNOWN;
	read_rows(&t);
	run->higher_is_better = loop != NULL ? harness_bool_at(loop, "higher") : find_direction(&t);
	json_each (text, json_get(loop, "wrong"))
		harness_dispute(b, "%s", cJSON_IsString(text) ? text->valuestring : "");
	find_noise(&t);
	make_iterations(&t);
	find_trend(&t);
	if (t.file->cut)
		harness_dispute(b, "results.tsv is longer than 1 MB: later rows are ignored");
	if (t.twin.len > 0)
		harness_dispute(b, "results.tsv has two columns for \"%.*s\"",
				(int)(t.twin.len < 100 ? t.twin.len : 100), t.twin.p);
	check_old_rows(&t);
	check_commits(&t);
	if (log != NULL && t.n > 0)
		check_log(&t, log);
	free(t.rows);
}
