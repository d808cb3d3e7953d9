/* SPDX-License-Identifier: MIT */
/*
 * The table of experiments that an agent keeps itself (autoresearch and its
 * forks): results.tsv, and run.log of the experiment that it ran last.  It
 * writes both, so nothing here is verified; what can be held against each
 * other is.
 */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "base/map.h"
#include "base/xalloc.h"
#include "parsers/harness_parts.h"
#include "parsers/score_json.h"

enum outcome { KEPT, DISCARDED, CRASHED, UNKNOWN };
enum column { COMMIT, STATUS, NOTE, SCORE, COLUMNS };

/* A line of the table; its text is borrowed of the file. */
struct row {
	struct str cells[COLUMNS];
	enum outcome outcome;
	double score;	/* absent (NAN) where it is no number, or of a crash */
	double rounded; /* half a unit of its last digit, or of the fourth */
	bool is_baseline;
	unsigned int number; /* 1.. */
};

struct table {
	struct harness_build *b;
	const struct harness_file *file;
	size_t columns[COLUMNS]; /* SIZE_MAX: there is none */
	struct str score;	 /* that column's name */
	struct str twin;	 /* a column that another one contradicts */
	struct row *rows;	 /* owned */
	size_t n, cap;
};

/* Words of names, each between blanks; of a score's the better direction. */
static const char *const column_words[] = {
	[COMMIT] = " commit hash sha ",
	[STATUS] = " status decision outcome verdict ",
	[NOTE] = " description desc note notes comment idea ",
};
static const char *const outcome_words[] = {
	[KEPT] = " keep kept accept accepted ",
	[DISCARDED] = " discard discarded reject rejected revert reverted ",
	[CRASHED] = " crash crashed fail failed failure error oom timeout ",
};
static const char lower_words[] = " bpb loss ppl perplexity error err wer cer "
				  "rmse mse mae latency us ms ns cycles ";
static const char higher_words[] = " acc accuracy f1 auc bleu reward tflops "
				   "gbps throughput speedup ";
static const char other_words[] =
	" train memory mem vram peak gb mb time seconds sec minutes hours step "
	"steps params tokens mfu date timestamp iter iteration experiment exp "
	"run id no seed depth lr ";

/* Whether a part of the name is one of the words. */
static bool table_is_named(struct str name, const char *words)
{
	char part[32] = " ";
	size_t n = 1;

	for (size_t i = 0; i <= name.len; i++) {
		int c = i < name.len ? (unsigned char)name.p[i] : 0;

		if (isalnum(c)) {
			if (n < sizeof(part) - 2)
				part[n++] = (char)tolower(c);
			continue;
		}
		memcpy(part + n, " ", 2);
		if (n > 1 && strstr(words, part) != NULL)
			return true;
		n = 1;
	}
	return false;
}

/* The first of n lists that names it; n: none. */
static size_t table_find_name(struct str name, const char *const *lists, size_t n)
{
	size_t i = 0;

	while (i < n && !table_is_named(name, lists[i]))
		i++;
	return i;
}

/* How well a column's name suits a score; 0: not at all. */
static unsigned int table_suits(struct str name)
{
	bool known = table_is_named(name, lower_words) || table_is_named(name, higher_words);

	if (table_is_named(name, other_words))
		return known ? 1 : 0;
	return name.len == 0 ? 0 : known ? 3 : 2;
}

/* False: the first line is no head of a table of experiments. */
static bool table_read_head(struct table *t, const struct harness_files *files)
{
	struct str line, name;
	unsigned int best = 0;

	t->file = harness_files_get(files, "results.tsv");
	if (t->file == NULL)
		return false;
	for (size_t c = 0; c < COLUMNS; c++)
		t->columns[c] = SIZE_MAX;
	struct str rest = { t->file->text, t->file->len };
	(void)str_next(&rest, '\n', &line);
	for (size_t i = 0; str_next(&line, '\t', &name); i++) {
		name = str_trim(name);
		size_t c = table_find_name(name, column_words, SCORE);
		if (c == STATUS ? t->columns[c] != SIZE_MAX
				: c == SCORE && best > 0 && str_eq(name, t->score))
			t->twin = name;
		if (c == SCORE && table_suits(name) <= best)
			continue;
		t->columns[c] = i;
		if (c == SCORE) {
			best = table_suits(name);
			t->score = name;
		}
	}
	return best > 0 && t->columns[STATUS] != SIZE_MAX;
}

/* The score of a row; a crash is written as 0, which is no loss either. */
static void table_read_score(const struct table *t, struct row *row)
{
	struct str cell = row->cells[SCORE];
	const char *point = memchr(cell.p, '.', cell.len);
	size_t digits = point != NULL ? (size_t)(cell.p + cell.len - point) : 1;
	double value;

	row->score = (double)NAN;
	if (row->outcome == CRASHED || !str_to_double(cell, &value) ||
	    !score_is_possible(t->b->run->score_key, value) ||
	    (value <= 0 && table_is_named(t->score, lower_words)))
		return;
	row->score = value;
	row->rounded = 0.5 / pow(10, (double)(digits < 5 ? digits : 5) - 1);
	row->rounded = fmin(row->rounded, fabs(value) / 100) * (1 + 1e-9);
}

/* False: the line has not the columns that count. */
static bool table_read_row(const struct table *t, struct row *row, struct str line)
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
	row->outcome = (enum outcome)table_find_name(row->cells[STATUS], outcome_words, UNKNOWN);
	table_read_score(t, row);
	return true;
}

/* Another head, in the midst of the rows: no number, and a column's name. */
static bool table_is_head(struct str line)
{
	bool is_named = false;
	struct str cell;
	double value;

	while (str_next(&line, '\t', &cell)) {
		cell = str_trim(cell);
		if (str_to_double(cell, &value))
			return false;
		is_named |= memchr(cell.p, ' ', cell.len) == NULL &&
			    table_is_named(cell, column_words[STATUS]);
	}
	return is_named;
}

#define REST_MS 2000

/* Every row; a last line without an end may still be being written. */
static void table_read_rows(struct table *t)
{
	struct harness_table *told = t->b->run->table;
	struct str rest = { t->file->text, t->file->len }, line;
	bool at_rest = t->b->now_ms - t->file->mtime_ms > REST_MS;
	struct row row;

	(void)str_next(&rest, '\n', &line);
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		if (str_trim(line).len == 0 || (rest.p == NULL && (!at_rest || t->file->cut)))
			continue;
		if (table_is_head(line)) {
			harness_dispute(t->b,
					"another head stands below row "
					"%zu: what follows is not counted",
					t->n);
			break;
		}
		if (!table_read_row(t, &row, line)) {
			told->broken++;
			continue;
		}
		xpush(t->rows, t->n, t->cap, row);
	}
	told->rows = (unsigned int)t->n;
	for (size_t i = 0; i < t->n; i++)
		told->outcomes[t->rows[i].outcome]++;
}

/* By the score's name; else by the rows that were kept, if they agree. */
static enum harness_tri table_direction(const struct table *t)
{
	bool up = table_is_named(t->score, higher_words);
	bool down = table_is_named(t->score, lower_words);
	bool is_named = up || down;
	double last = (double)NAN;

	for (size_t i = 0; i < t->n && !is_named; i++) {
		if (t->rows[i].outcome != KEPT || isnan(t->rows[i].score))
			continue;
		up |= t->rows[i].score > last;
		down |= t->rows[i].score < last;
		last = t->rows[i].score;
	}
	return up == down ? HARNESS_UNKNOWN : up ? HARNESS_YES : HARNESS_NO;
}

/* "baseline", "baseline again"; "baseline + rope" is another experiment. */
static bool table_is_baseline(const struct row *row, const struct row *first)
{
	struct str note = row->cells[NOTE];

	return row == first ||
	       (note.len >= 8 && strncasecmp(note.p, "baseline", 8) == 0 &&
		memchr(note.p, '+', note.len) == NULL && str_find(note, " with ") == NULL &&
		str_eq(row->cells[COMMIT], first->cells[COMMIT]));
}

/* The first measured row, and how far its repetitions lie apart. */
static void table_find_noise(struct table *t)
{
	struct harness_table *told = t->b->run->table;
	const struct row *first = NULL;
	double lo = 0, hi = 0;

	array_each (row, t->rows, t->n) {
		if (isnan(row->score))
			continue;
		first = first != NULL ? first : row;
		row->is_baseline = table_is_baseline(row, first);
		if (!row->is_baseline)
			continue;
		lo = told->baselines == 0 ? row->score : fmin(lo, row->score);
		hi = told->baselines == 0 ? row->score : fmax(hi, row->score);
		told->baselines++;
	}
	if (first != NULL)
		told->baseline =
			(struct harness_score){ true, first->score, first->number, "claimed" };
	if (told->baselines > 1)
		told->noise = harness_number(hi - lo);
}

/* A row as an iteration, held against the best that was kept before it. */
static void table_fill(const struct table *t, const struct row *row, struct harness_iteration *it)
{
	struct harness_run *run = t->b->run;
	struct harness_score *best = &run->best_unverified;
	bool higher = run->higher_is_better == HARNESS_YES;
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
	if (isnan(row->score) || run->higher_is_better == HARNESS_UNKNOWN)
		return;
	if (best->present)
		it->claimed_pct = harness_gain_pct(best->value, row->score, higher);
	if (row->outcome != KEPT)
		return;
	if (best->present && run->table->noise.present && !row->is_baseline)
		it->within_noise = fabs(row->score - best->value) <= run->table->noise.value
					   ? HARNESS_YES
					   : HARNESS_NO;
	if (!best->present || (higher ? row->score > best->value : row->score < best->value))
		*best = (struct harness_score){ true, row->score, row->number, "claimed" };
}

/* Of very many the last ones are shown; all are counted. */
static void table_fill_all(const struct table *t)
{
	struct harness_run *run = t->b->run;
	size_t n = t->n < HARNESS_MAX_ITERATIONS ? t->n : HARNESS_MAX_ITERATIONS;
	struct harness_iteration passed;

	run->iterations = harness_pool_alloc(t->b->pool, n, sizeof(*run->iterations));
	for (size_t i = 0; i < t->n; i++)
		table_fill(t, &t->rows[i],
			   t->n - i > n ? &passed : &run->iterations[run->n_iterations++]);
	if (run->best_unverified.present)
		run->table->best_pct =
			harness_gain_pct(run->table->baseline.value, run->best_unverified.value,
					 run->higher_is_better == HARNESS_YES);
}

/* One commit with two scores further apart than repetitions lie. */
static void table_hold_commits(const struct table *t)
{
	const struct harness_number *noise = &t->b->run->table->noise;
	char a[STR_NUMBER_SIZE], b[STR_NUMBER_SIZE];
	struct map first;

	map_init(&first);
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
					"rows %u and %u are of one commit, %.*s: %s "
					"and %s",
					old->number, row->number,
					(int)(commit.len < 40 ? commit.len : 40), commit.p,
					str_number(old->score, 10, a),
					str_number(row->score, 10, b));
	}
	map_release(&first, NULL);
}

/* The first line that was another when it was read first. */
static void table_hold_seen(const struct table *t)
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
		harness_dispute(t->b, "results.tsv said \"%.*s\", and now \"%.*s\"",
				(int)(old.len < 100 ? old.len : 100), old.p,
				(int)(now.len < 100 ? now.len : 100), now.len > 0 ? now.p : "");
		return;
	}
}

/* The last "KEY: NUMBER" of a log, and whether python died behind it. */
static struct harness_number table_log_score(const struct harness_file *log, const char *key,
					     bool *died)
{
	struct str rest = { log->text, log->len }, line;
	struct harness_number found = { false, (double)NAN };
	size_t n = strlen(key);

	while (str_next(&rest, '\n', &line)) {
		struct harness_number more = { true, (double)NAN };

		line = str_trim(line);
		/* What a progress bar wrote stands before it. */
		for (const char *p; (p = memchr(line.p, '\r', line.len));)
			line = str_trim((struct str){ p, (size_t)(line.p + line.len - p) });
		*died |= str_starts_with(line, "Traceback (most recent call");
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

/* run.log is of the row that it agrees with, else of the last one. */
static void table_hold_log(const struct table *t, const struct harness_file *log)
{
	struct harness_run *run = t->b->run;
	struct harness_table *told = run->table;
	char said[STR_NUMBER_SIZE], printed[STR_NUMBER_SIZE];
	const struct row *last = &t->rows[t->n - 1];
	bool died = false;

	told->logged = table_log_score(log, run->score_key, &died);
	told->log_is_newer = log->mtime_ms > t->file->mtime_ms;
	if (died && told->logged.present && last->outcome != CRASHED && !told->log_is_newer) {
		harness_dispute(t->b,
				"row %u: results.tsv says %s, run.log ends in "
				"a traceback",
				last->number, run->iterations[run->n_iterations - 1].status);
		return;
	}
	for (size_t i = run->n_iterations; harness_is_finite(told->logged) && i-- > 0;) {
		const struct row *row = &t->rows[t->n - run->n_iterations + i];

		if (!(fabs(row->score - told->logged.value) <= row->rounded))
			continue;
		told->logged_row = row->number;
		run->iterations[i].proof = HARNESS_PROOF_LOGGED;
		if (run->best_unverified.iteration == row->number)
			run->best_unverified.source = "run_log";
		return;
	}
	if (told->log_is_newer || log->len == 0 ||
	    (!told->logged.present && (log->cut || isnan(last->score))))
		return;
	harness_dispute(t->b, "row %u: results.tsv says %s, run.log printed %s", last->number,
			isnan(last->score) ? run->iterations[run->n_iterations - 1].status
					   : str_number(last->score, 10, said),
			harness_is_finite(told->logged)
				? str_number(told->logged.value, 10, printed)
				: "none");
}

bool harness_table_is(const struct harness_files *files)
{
	struct table t;

	return table_read_head(&t, files);
}

void harness_table_read(struct harness_build *b)
{
	struct table t = { .b = b };
	const struct harness_file *log = harness_files_get(b->files, "run.log");
	struct harness_run *run = b->run;

	if (!table_read_head(&t, b->files))
		return;
	run->table = harness_pool_alloc(b->pool, 1, sizeof(*run->table));
	run->id = "results.tsv";
	run->score_key = harness_pool_text(b->pool, t.score, HARNESS_NAME_MAX);
	run->post_score_key = run->score_key;
	run->stop_reached = HARNESS_UNKNOWN;
	table_read_rows(&t);
	run->higher_is_better = table_direction(&t);
	table_find_noise(&t);
	table_fill_all(&t);
	if (t.file->cut)
		harness_dispute(b, "results.tsv is longer than 1 MB: what "
				   "follows is not counted");
	if (t.twin.len > 0)
		harness_dispute(b,
				"results.tsv has two columns that tell it: "
				"\"%.*s\"",
				(int)(t.twin.len < 100 ? t.twin.len : 100), t.twin.p);
	table_hold_seen(&t);
	table_hold_commits(&t);
	if (log != NULL && t.n > 0)
		table_hold_log(&t, log);
	free(t.rows);
}
