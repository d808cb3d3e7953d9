/* SPDX-License-Identifier: MIT */
/* Read the bytes of one log, and assign its records to runs. */
#include "parsers/run_reader.h"

#include "parsers/document.h"
#include "parsers/json.h"
#include "parsers/metric_rows.h"
#include "parsers/prefix_table.h"
#include "parsers/run_apply.h"
#include "parsers/scan.h"
#include "parsers/score_table.h"
#include "parsers/source_fold.h"

/* Most lines from the end of the training to the last state of its bar. */
#define EARLY_END_LINES 2

struct run_reader {
	struct scanner *scanner;
	struct run_reader_cb cb;
	struct run_sink sink; /* for cb */
	void *user;
	struct linebuf linebuf;
	struct prefix_table prefixes;
	struct prefix_line now; /* the current line; a row may come from an earlier one */
	/* Split the lines inside Docker's JSON, for stdout and for stderr. */
	struct linebuf wrapped[2];
	int64_t wrapped_ms;	    /* time of the current one; 0: none */
	enum line_class line_class; /* of the last line */
	struct source_fold fold;
	struct document document;
	struct metric_rows *rows;
	bool has_metric_rows; /* the metrics file has rows */
	struct score_table table;
	struct marks marks; /* of the whole log */
	const struct mark_set *mark_set;
	unsigned int kind; /* of the rule that matched the current line; see marks.h */
	/* Reads rows without a rule; NULL once a rule has matched a training row. */
	struct templates *templates;
	bool has_generic; /* this run has rows without a rule */
	bool is_message;  /* the line is the message in a logger's JSON line */
	bool has_run;
	struct run_state state;
	unsigned int n_runs; /* number of runs started */
	uint64_t run_first_line, run_first_byte;
	int row_rank;		 /* of the training rows; -1: not known yet */
	uint64_t matched;	 /* matched lines of this run */
	uint64_t early_end;	 /* line of an end before the first row; 0: none */
	struct buf formats;	 /* names of formats, "a,b" */
	const char *last_format; /* the format that was added last */
};

void run_reader_free(struct run_reader *r)
{
	if (r == NULL)
		return;
	scanner_free(r->scanner);
	prefix_table_release(&r->prefixes);
	templates_free(r->templates);
	linebuf_release(&r->linebuf);
	for (size_t i = 0; i < LENGTH(r->wrapped); i++)
		linebuf_release(&r->wrapped[i]);
	metric_rows_free(r->rows);
	run_state_release(&r->state);
	source_fold_release(&r->fold);
	buf_release(&r->formats);
	free(r);
}

void run_reader_remember_scripts(struct run_reader *r, size_t n)
{
	source_fold_release(&r->fold);
	source_fold_init(&r->fold, n);
}

/* Forget the current run; the next one starts at this line. */
static void reset_run(struct run_reader *r, uint64_t line, uint64_t byte)
{
	run_state_release(&r->state);
	run_state_init(&r->state);
	buf_clear(&r->formats);
	r->last_format = NULL;
	r->has_generic = false;
	r->matched = 0;
	r->run_first_line = line;
	r->run_first_byte = byte;
}

static void fill_counts(struct run_reader *r, uint64_t last_line, uint64_t last_byte)
{
	struct run *run = &r->state.run;

	run->run_index = r->n_runs - 1;
	run->first_line = r->run_first_line;
	run->lines = last_line + 1 - r->run_first_line;
	run->bytes = last_byte - r->run_first_byte;
	run->matched = r->matched;
	free(run->formats);
	run->formats = xstrndup(r->formats.data, r->formats.len);
	free(run->tracks);
	run->tracks = marks_names(&r->marks);
}

/* Store the hash of a complete script in the current run, unless the run has one. */
static void store_source(struct run_reader *r)
{
	struct run *run = &r->state.run;

	if (r->fold.sha256 == NULL || run->source_sha256 != NULL)
		return;
	run->source_sha256 = xstrdup(r->fold.sha256);
	run->source_lines = r->fold.lines;
}

static void close_run(struct run_reader *r, uint64_t last_line, uint64_t last_byte)
{
	if (!r->has_run)
		return;
	fill_counts(r, last_line, last_byte);
	run_state_derive(&r->state, true);
	if (r->cb.on_run != NULL)
		r->cb.on_run(r->user, &r->state.run);
	r->has_run = false;
}

/* Start the next run at this line. carry: with the settings that the launcher prints only once. */
static void next_run(struct run_reader *r, uint64_t line, bool carry)
{
	double n_gpus = r->state.run.n_gpus;
	double batch = r->state.run.train_batch_tokens;
	double cap_s = r->state.run.cap_s;
	uint64_t length = r->now.whole.len;
	uint64_t before = r->now.consumed > length ? r->now.consumed - length - 1 : 0;

	close_run(r, line - 1, before);
	reset_run(r, line, before);
	if (carry) {
		r->state.run.n_gpus = n_gpus;
		r->state.run.train_batch_tokens = batch;
		r->state.run.cap_s = cap_s;
	}
}

/* A setting starts a new run if the current run is active and has already printed that setting. A
 * plan may be repeated before the first row: other ranks print it late. */
static bool setting_starts_run(const struct run_reader *r, const struct record *record)
{
	const struct run *run = &r->state.run;
	uint64_t telling = (uint64_t)1 << METRIC_SEED | (uint64_t)1 << METRIC_N_GPUS |
			   (uint64_t)1 << METRIC_TRAIN_BATCH_TOKENS;

	if (run->last_step > 0 || run_has(run->last_train_loss))
		telling |= (uint64_t)1 << METRIC_PLANNED;
	return (r->state.is & IS_ACTIVE) != 0 && (record->present & r->state.own & telling) != 0;
}

/* Does the row have another planned number of steps than the run? */
static bool has_other_plan(const struct run_state *s, const struct record *record)
{
	double planned = record_get(record, METRIC_PLANNED);

	return run_has(planned) && run_has(s->run.planned_steps) && planned != s->run.planned_steps;
}

/* Return the epoch of a row without a step that a rule matched; absent: none. */
static double epoch_of_row(const struct run_reader *r, const struct record *record)
{
	if (r->templates != NULL || record_has(record, METRIC_STEP))
		return RUN_ABSENT;
	const struct record_pair *pair =
		array_find(one, record->pairs, record->n_pairs, str_eq_cstr(one->name, "epoch"));
	return pair != NULL ? pair->value : RUN_ABSENT;
}

enum row_place { ROW_IN_RUN, ROW_STARTS_RUN, ROW_REPEATED };

/* A row starts the next run if its step goes back to where the current run started, or if it has
 * another plan. A row that goes back to another step repeats an old row. The first row after a run
 * that only evaluated starts the next run too. Without steps, epochs decide: after the end of a
 * run, any lower epoch starts the next run. */
static enum row_place place_row(const struct run_reader *r, const struct record *record)
{
	double step = record_get(record, METRIC_STEP), epoch = epoch_of_row(r, record);
	const struct run_state *s = &r->state;

	if (epoch < s->epoch && (epoch <= s->first_epoch || (s->is & (IS_ENDED | IS_KILLED)) != 0))
		return ROW_STARTS_RUN;
	if (!run_has(s->first_step))
		return s->evaluated ? ROW_STARTS_RUN : ROW_IN_RUN;
	if (!(step < s->run.last_step)) /* also if one of them is unknown */
		return ROW_IN_RUN;
	if (has_other_plan(s, record)) {
		/* The loop of an evaluation comes after the training and has a short plan. */
		bool is_loop = (s->is & (IS_STOPPED | IS_PACKED)) != 0 &&
			       record_get(record, METRIC_PLANNED) * 10 < s->run.planned_steps;

		return is_loop ? ROW_REPEATED : ROW_STARTS_RUN;
	}
	return (s->is & IS_KILLED) != 0 || step <= s->first_step ? ROW_STARTS_RUN : ROW_REPEATED;
}

static void add_format(struct run_reader *r, const char *name)
{
	struct str rest = buf_str(&r->formats), piece;

	if (r->last_format == name)
		return;
	r->last_format = name;
	while (r->formats.len > 0 && str_next(&rest, ',', &piece))
		if (str_eq_cstr(piece, name))
			return;
	if (r->formats.len > 0)
		buf_append_char(&r->formats, ',');
	buf_append_str(&r->formats, name);
}

static bool makes_run(const struct record *record)
{
	const struct rule *rule = record->rule;

	return rule->kind != RULE_IGNORE &&
	       (rule->kind != RULE_END || (record->present != 0 && !rule->cumulative)) &&
	       (rule->kind != RULE_SETTING || record->present != 0 || record->mode.len > 0) &&
	       (rule->kind != RULE_EVENT || rule->fatal) &&
	       (rule->kind != RULE_STEP || !record_has(record, METRIC_PLANNED)) &&
	       (rule->kind != RULE_PROGRESS || rule->stage != STAGE_OTHER) &&
	       (rule->kind != RULE_RESULT || rule->stage != STAGE_UNKNOWN);
}

static void apply_record(struct run_reader *r, const struct record *record,
			 const struct log_line *line)
{
	enum rule_kind kind = record->rule->kind;
	enum row_place row = ROW_IN_RUN;

	if (kind == RULE_TRAIN || kind == RULE_VAL)
		row = place_row(r, record);
	if (r->has_run &&
	    (row == ROW_STARTS_RUN || (kind == RULE_SETTING && setting_starts_run(r, record))))
		next_run(r, line->line, row == ROW_IN_RUN || !has_other_plan(&r->state, record));
	if (!r->has_run && kind == RULE_END && !makes_run(record)) {
		r->early_end = line->line; /* perhaps the end of something else */
		return;
	}
	if (!r->has_run && makes_run(record)) {
		r->has_run = true;
		r->state.run.run_index = r->n_runs++;
	}
	r->matched++;
	add_format(r, record->rule->format);
	if (row == ROW_REPEATED || (!r->has_run && kind != RULE_STEP))
		return;
	r->state.known = r->now.segment.line;
	if (kind == RULE_TRAIN)
		r->document.state = DOCUMENT_NONE;
	if (kind == RULE_TRAIN || kind == RULE_VAL) {
		r->state.epoch = epoch_of_row(r, record);
		if (!run_has(r->state.first_epoch))
			r->state.first_epoch = r->state.epoch;
	}
	run_state_apply(&r->state, record, line, &r->sink);
	/* The early end was the end of the training if a bar draws its last row right after it. */
	if (r->early_end != 0 && kind == RULE_TRAIN && record->rule->rounded) {
		if (line->line - r->early_end <= EARLY_END_LINES)
			r->state.is |= IS_ENDED;
		r->state.end_line = r->early_end;
		r->early_end = 0;
	}
}

static void apply_generic(void *user, const struct record *record, const struct log_line *line)
{
	struct run_reader *r = user;
	struct run_state *s = &r->state;

	/* Ignore a row reported late if a rule has read a later validation. */
	if (line->late && record_get(record, METRIC_STEP) < s->run.last_step)
		return;
	if (r->cb.on_row != NULL)
		r->cb.on_row(r->user, record, line);
	struct row_counts counts = templates_get_counts(r->templates);
	/* After its last epoch, Keras starts again at the first: fit() was called again. */
	if (r->has_run && counts.epoch.value < s->counts.epoch.value && counts.epoch.value <= 1 &&
	    s->counts.epoch.value == s->counts.epoch.total)
		next_run(r, line->line, true);
	apply_record(r, record, line);
	bool by_bar = record->rule->kind == RULE_VAL && s->bar_total == s->run.planned_steps;
	/* the total of the rows before was that of an epoch */
	if (s->counts.unit.may_restart && run_has(counts.epoch.value))
		s->run.planned_steps = RUN_ABSENT;
	s->counts = counts;
	if (!record_has(record, METRIC_STEP) && !by_bar && run_has(s->run.last_step))
		s->run.last_step = s->run.planned_steps = RUN_ABSENT; /* unknown from here on */
	r->has_generic = true;
}

static void apply_metric_row(void *user, const struct record *record, const struct log_line *line)
{
	struct run_reader *r = user;

	/* Scores between the rows may count their steps in epochs. */
	if (record->values[METRIC_STEP] < r->state.run.last_step &&
	    run_has(r->state.run.last_train_loss) && !record_has(record, METRIC_TRAIN_LOSS) &&
	    !record_has(record, METRIC_VAL_LOSS))
		return;
	apply_record(r, record, line);
	/* The trainer prints a summary at the end. */
	if (line->is_summary)
		r->state.is |= IS_ENDED;
}

/* Is the line not from a metrics file? Only the last segment can be: such files have no bars. */
static bool is_plain(const struct run_reader *r, const struct log_line *line)
{
	size_t n = index_of(i, line->text.len, !str_is_blank(line->text.p[i]));

	return !line->ends_line ||
	       (metric_rows_is_idle(r->rows) && (n == line->text.len || line->text.p[n] != '{'));
}

static bool read_template(struct run_reader *r, struct log_line *line)
{
	line->plain = is_plain(r, line);
	return templates_read(r->templates, line);
}

/* Read a row that no rule matches, in a run with rules: "step:400/500 [QAT] ..", 500 as planned, or
 * a validation, "step 400 val_loss 2.1". */
static bool read_planned_row(struct run_reader *r, const struct log_line *line)
{
	double planned = r->state.run.planned_steps;
	bool has_total = memchr(line->text.p, '/', line->text.len) != NULL && run_has(planned);

	return !line->cut && line->rank <= 0 &&
	       (has_total || str_find(line->text, "val") != NULL) &&
	       templates_read_planned(line, planned, r->state.run.last_step, r->state.val_step,
				      apply_generic, r);
}

/* Scan a line; if it may be cut, accept only a record that more text would not change. */
static bool scan_line(struct run_reader *r, const struct log_line *line, struct record *record)
{
	return line->cut ? scanner_scan_cut(r->scanner, line->text, record)
			 : scanner_scan(r->scanner, line->text, record);
}

static void apply_match(struct run_reader *r, const struct record *record,
			const struct log_line *line)
{
	const struct rule *rule = record->rule;

	/* The row that the line ends comes first. */
	if (r->templates != NULL && (rule->fatal || rule->kind == RULE_END))
		templates_finish(r->templates);
	/* Use only rules from here on. Earlier rows without a rule become a separate run. */
	if (r->templates != NULL && rule->kind == RULE_TRAIN) {
		templates_free(r->templates);
		r->templates = NULL;
		if (r->has_run && r->has_generic)
			next_run(r, line->line, true);
	}
	apply_record(r, record, line);
	if (rule->kind == RULE_EVENT)
		r->line_class = rule->fatal ? LINE_ERROR : LINE_WARNING;
	else if (rule->kind != RULE_IGNORE)
		r->line_class = LINE_METRIC;
}

static void read_source_line(struct run_reader *r, const struct log_line *line)
{
	static const unsigned int rows =
		1U << RULE_TRAIN | 1U << RULE_VAL | 1U << RULE_WARMUP | 1U << RULE_STOP;
	struct log_line row = *line;
	char first = line->exact.len > 0 ? line->exact.p[0] : '\0';
	struct record record;

	row.text = line->exact;
	/* A row that starts so ends a script without "====", except in a docstring. */
	if (r->fold.inside && r->fold.quote == '\0' &&
	    (str_is_digit(first) || first == 's' || first == 'w') && scan_line(r, &row, &record) &&
	    (rows >> record.rule->kind & 1) != 0) {
		source_fold_finish(&r->fold);
		store_source(r);
		if (r->cb.on_rule != NULL)
			r->cb.on_rule(r->user, line->line, record.rule);
		marks_read_line(&r->marks, line->exact, record.rule->kind);
		apply_match(r, &record, line);
		return;
	}
	marks_read_source(&r->marks, line->exact);
	if (source_fold_line(&r->fold, line->exact) == SOURCE_END)
		store_source(r);
	r->line_class = LINE_SOURCE;
}

/* Return the part of s after the first `mark`; empty if there is none. */
static struct str text_after(struct str s, const char *mark)
{
	const char *at = str_find(s, mark);

	if (at == NULL)
		return (struct str){ NULL, 0 };
	return str_between(at + strlen(mark), s.p + s.len);
}

/* Return the text after a bar of tqdm, which ends without a newline: "eval: 45%|## | 45/99
 * [00:10<00:12, 4.4it/s]step:1/9 ..". Empty if there is none. */
static struct str text_after_bar(struct str line)
{
	const char *at = line.p, *end = line.p + line.len, *last = end;
	struct str rest;

	while (at < end && (at = memchr(at, '%', (size_t)(end - at))) != NULL)
		if (++at < end && *at == '|')
			last = at;
	if (last == end) /* nearly all lines */
		return str_between(end, end);
	rest = text_after(str_between(last, end), "it/s");
	if (rest.len == 0)
		rest = text_after(str_between(last, end), "s/it");
	return text_after(rest, "]");
}

/* Each of these returns the line, or its part in *part, if a rule matches it; else NULL. */

/* Scan a line; if a message of Slurm is printed into it, scan only the message. */
static const struct log_line *scan_message(struct run_reader *r, const struct log_line *line,
					   struct log_line *part, struct record *record)
{
	if (!scan_line(r, line, record))
		return NULL;
	if (!record->rule->pairs)
		return line;
	/* "slurmstepd: " or, if a host has several nodes, "slurmstepd-NODE: " */
	const char *at = str_find(line->text, "slurmstepd");
	if (at == NULL || str_find(line->text, ": error: ***") == NULL)
		return line;
	*part = *line;
	part->text = str_between(at, line->text.p + line->text.len);
	return scan_line(r, part, record) ? part : NULL;
}

/* Scan the text after the number of a task. A row does not start with a number and a colon. */
static const struct log_line *scan_task(struct run_reader *r, const struct log_line *line,
					struct log_line *part, struct record *record)
{
	char first = line->text.len > 0 ? line->text.p[0] : '\0';

	if (first != ' ' && !str_is_digit(first))
		return NULL;
	*part = *line;
	return line_prefix_task(line->text, part) ? scan_message(r, part, part, record) : NULL;
}

/* Scan the text after a bar, and apply the progress that the bar shows. */
static const struct log_line *scan_after_bar(struct run_reader *r, const struct log_line *line,
					     struct log_line *part, struct record *record)
{
	struct str rest = text_after_bar(line->text);
	int rank = -1;

	if (rest.len == 0)
		return NULL;
	*part = *line;
	part->text.len -= rest.len;
	if (scanner_scan(r->scanner, part->text, record) && line->rank <= 0 &&
	    (record->rule->kind == RULE_STEP || record->rule->kind == RULE_TRAIN))
		apply_match(r, record, part);
	/* The launcher does not end the line of the bar before its next prefix. */
	part->text = str_skip(rest, prefix_length(rest, &rank));
	return scan_line(r, part, record) ? part : NULL;
}

/* Read a line that differs from an earlier row only in its numbers. */
static bool read_similar_row(struct run_reader *r, struct log_line *line)
{
	if (r->templates == NULL)
		return false;
	line->plain = is_plain(r, line);
	enum templates_similar similar = templates_read_similar(r->templates, line);

	if (similar == SIMILAR_ROW)
		r->line_class = LINE_METRIC;
	return similar != SIMILAR_NONE;
}

static bool read_metric_line(struct run_reader *r, const struct log_line *line,
			     bool (*read)(struct metric_rows *rows, const struct log_line *line,
					  row_fn fn, void *user))
{
	if (!line->ends_line)
		return false;
	struct log_line row = *line;
	row.text = line->raw;
	row.rank = -1;
	if (!read(r->rows, &row, apply_metric_row, r))
		return false;
	r->line_class = LINE_METRIC;
	r->has_metric_rows = true;
	return true;
}

static bool read_similar_metrics(struct run_reader *r, struct log_line *line)
{
	return r->has_metric_rows && read_metric_line(r, line, metric_rows_read_similar);
}

static bool read_metrics(struct run_reader *r, struct log_line *line)
{
	return read_metric_line(r, line, metric_rows_read);
}

/* Is the record meaningless at this place, so that the next reader should get the line? */
static bool is_out_of_place(const struct run_reader *r, const struct record *record,
			    struct str text)
{
	enum rule_kind kind = record->rule->kind;

	if (kind == RULE_RESULT)
		return run_state_is_early(&r->state, record);
	if (kind == RULE_PROGRESS) /* any evaluation prints such lines */
		return record->rule->stage == STAGE_OTHER && !r->state.has_bpb;
	if (kind == RULE_VAL || kind == RULE_TRAIN) /* counts only after a row of its format */
		return record->rule->stage == STAGE_OTHER &&
		       record->rule->format != r->state.row_format;
	/* an object may contain the text of an error */
	return kind == RULE_EVENT && (r->is_message || str_starts_with(text, "{\""));
}

/* Read a line that a rule matches, also after the number of a task or a bar. */
static bool read_by_rule(struct run_reader *r, struct log_line *line)
{
	struct log_line part;
	struct record record;
	const struct log_line *at = scan_task(r, line, &part, &record);

	if (at == NULL)
		at = scan_message(r, line, &part, &record);
	if (at == NULL)
		at = scan_after_bar(r, line, &part, &record);
	if (at == NULL || is_out_of_place(r, &record, at->text))
		return false;
	r->kind = record.rule->kind;
	/* A bar that a rule matched may also have figures, which only templates read. */
	if (record.rule->kind == RULE_STEP && read_template(r, line)) {
		r->line_class = LINE_METRIC;
		return true;
	}
	if (r->cb.on_rule != NULL)
		r->cb.on_rule(r->user, line->line, record.rule);
	/* Other ranks repeat the rows of the first one; only their failures count. */
	if (record.rule->any_rank && (at->rank <= 0 || r->row_rank < 0 || r->row_rank == at->rank))
		r->row_rank = at->rank > 0 ? at->rank : 0;
	else if (at->rank > 0 && record.rule->kind != RULE_EVENT)
		return true;
	apply_match(r, &record, at);
	return true;
}

static bool read_table(struct run_reader *r, struct log_line *line)
{
	struct record record;

	if (!line->ends_line || line->cut || !score_table_read(&r->table, line->exact, &record))
		return false;
	apply_record(r, &record, line);
	r->line_class = LINE_METRIC;
	return true;
}

static bool read_row(struct run_reader *r, struct log_line *line)
{
	if (r->templates != NULL ? !read_template(r, line) : !read_planned_row(r, line))
		return false;
	r->line_class = LINE_METRIC;
	return true;
}

static void read_segment(struct run_reader *r, const struct segment *segment);

/* Read the message in a logger's JSON line, {"level": "INFO", "msg": "step 10 loss 3.2"}. */
static bool read_message(struct run_reader *r, struct log_line *line)
{
	static const char *const keys[] = { "message",	   "msg",   "MESSAGE",
					    "textPayload", "event", "text" };
	const char *text = NULL;
	bool has_level = false;

	if (r->is_message || line->cut || line->text.len > TEMPLATES_LINE_BYTES ||
	    !str_starts_with(line->text, "{\""))
		return false;
	AUTO_JSON object = json_parse(line->text, JSON_BARE_REFUSED, NULL);
	json_each (item, object)
		has_level |= str_is_among(str_from(item->string),
					  "level levelname severity PRIORITY lvl log.level record");
	/* "text" is a message only in Loguru's lines */
	size_t n = LENGTH(keys) - (json_get(object, "record") == NULL);
	for (size_t i = 0; i < n && text == NULL; i++)
		text = json_get_string(object, keys[i], NULL);
	if (text == NULL || !has_level)
		return false;
	r->is_message = true;
	struct segment message = { .text = str_trim(str_from(text)),
				   .line = line->line,
				   .ends_line = true };
	r->now.rank = line->rank;
	r->now.wall_ms = line->wall_ms;
	read_segment(r, &message);
	r->is_message = false;
	return true;
}

/* The readers, in the order in which they get a line. A reader returns true if it has used the
 * line. Otherwise, also if it drops the record, the next reader gets the line. */
static bool (*const readers[])(struct run_reader *r, struct log_line *line) = {
	read_similar_row, read_similar_metrics, read_by_rule, read_table, read_metrics,
	read_row,	  read_message,
};

static void read_segment(struct run_reader *r, const struct segment *segment)
{
	struct log_line line = { .text = segment->text,
				 .line = segment->line,
				 .rank = -1,
				 .ends_line = segment->ends_line,
				 .cut = segment->cut };

	if (segment->line == 1 && str_starts_with(line.text, "\xef\xbb\xbf")) /* a BOM */
		line.text = str_skip(line.text, 3);
	line.raw = line.exact = line.text;
	if (!r->is_message && r->now.is_indented && (line.exact.len == 0 || line.exact.p[0] != ' '))
		line.exact = (struct str){ line.exact.p - 1, line.exact.len + 1 };
	/* Megatron prints a blank before its time; in a script " [2" starts a list. */
	if (!r->fold.inside && str_starts_with(line.text, " [2"))
		line.text = line.exact = str_skip(line.text, 1);
	if (line.text.len > 0 && line_prefix_may_start(line.text.p[0]))
		line_prefix_split(line.text, &line);
	if (line.rank < 0)
		line.rank = r->now.rank;
	if (line.wall_ms == 0)
		line.wall_ms = r->now.wall_ms != 0 ? r->now.wall_ms : r->wrapped_ms;
	if (r->state.unnamed != 0 && !r->is_message)
		run_state_name_exception(&r->state, line.line, line.text);
	if (r->fold.inside) {
		read_source_line(r, &line);
		return;
	}
	if (!r->is_message && r->document.state != DOCUMENT_NONE &&
	    document_quotes(&r->document, line.exact))
		return;
	if (!r->is_message && source_fold_may_start(line.exact) &&
	    source_fold_line(&r->fold, line.exact) == SOURCE_FIRST) {
		const struct run_state *s = &r->state;

		marks_read_source(&r->marks, line.text);
		r->document.state = DOCUMENT_NONE;
		/* If the run has started, the script belongs to the next run. */
		if (r->has_run &&
		    ((s->is & IS_ACTIVE) != 0 || (s->own != 0 && s->run.source_sha256 != NULL)))
			next_run(r, line.line, false);
		r->line_class = LINE_SOURCE;
		return;
	}
	r->kind = RULE_KIND_COUNT;
	for (size_t i = 0; i < LENGTH(readers) && !readers[i](r, &line); i++)
		continue;
	if (r->marks.left[r->kind] > 0)
		marks_read_line(&r->marks, line.text, r->kind);
}

static size_t skip_source(void *user, struct str text, uint64_t *lines)
{
	struct run_reader *r = user;
	uint64_t number = *lines;
	size_t n = source_fold_skip(&r->fold, text, lines);
	struct str line, rest = { text.p, n };

	marks_read_source(&r->marks, rest);
	while (r->cb.on_line != NULL && number < *lines && str_next(&rest, '\n', &line))
		r->cb.on_line(r->user, ++number, line, LINE_SOURCE);
	return n;
}

/* The log ends inside this line. It may be half a result, "final_int6_sli", or a result whose time
 * is cut: "final_int6_roundtrip val_loss:2.1 val_bpb:1.15 eval_ti". */
static void note_cut(struct run_reader *r, const struct segment *segment)
{
	static const char *const starts[] = {
		"final", "legal", "quantized",	"post", "diagnostic", "sliding",
		"ttt",	 "eval",  "total_eval", "pre",	"int",
	};
	struct str text = str_trim(segment->text);
	struct str value = text_after(text, "val_bpb");
	char last = text.len > 0 ? text.p[text.len - 1] : 's';
	bool is_whole = r->line_class != LINE_PLAIN &&
			(last == 's' || last == ')' ||
			 (value.len > 0 && memchr(value.p + 1, ' ', value.len - 1) == NULL));

	if (is_whole || text.len == 0)
		return;
	r->state.is_cut = r->line_class == LINE_PLAIN;
	for (size_t i = 0; i < LENGTH(starts) && r->state.has_bpb; i++) {
		size_t n = strlen(starts[i]);

		if (memcmp(text.p, starts[i], text.len < n ? text.len : n) != 0)
			continue;
		r->state.is |= IS_ACTIVE | IS_PACKED | IS_EVALUATING;
		r->state.eval_line = segment->line;
	}
}

static void read_text(struct run_reader *r, const struct segment *segment)
{
	r->line_class = LINE_PLAIN;
	read_segment(r, segment);
	if (segment->cut && r->has_run)
		note_cut(r, segment);
}

static void read_unwrapped(void *user, const struct segment *segment)
{
	struct run_reader *r = user;
	struct segment inner = *segment;

	inner.line = r->now.segment.line;
	read_text(r, &inner);
}

/* Read a line of Docker's JSON files, {"log":"..\n","stream":"stdout","time":".."}. Its "log" is
 * output of the program, with line ends. False for any other line. */
static bool unwrap_docker(struct run_reader *r, const struct segment *segment)
{
	bool has_zone;
	size_t len;

	if (!str_starts_with(segment->text, "{\"log\":"))
		return false;
	AUTO_JSON line = json_parse(segment->text, JSON_BARE_REFUSED, NULL);
	const char *log = json_get_string(line, "log", NULL);
	const char *stream = json_get_string(line, "stream", NULL);
	const char *time = json_get_string(line, "time", NULL);
	if (log == NULL || stream == NULL || time == NULL)
		return false;
	r->wrapped_ms = line_prefix_time(str_from(time), &len, &has_zone);
	linebuf_feed(&r->wrapped[strcmp(stream, "stderr") == 0], log, strlen(log));
	r->wrapped_ms = 0;
	return true;
}

static bool is_known_line(void *user, struct str text, bool is_news)
{
	static const uint32_t news_kinds = 1U << RULE_STOP | 1U << RULE_RESULT | 1U << RULE_SIZE |
					   1U << RULE_EVENT | 1U << RULE_END;
	struct run_reader *r = user;
	struct record record;

	return scanner_scan(r->scanner, text, &record) && record.rule->kind != RULE_IGNORE &&
	       (!is_news || (news_kinds >> record.rule->kind & 1) != 0) &&
	       (record.rule->kind != RULE_RESULT || record.rule->stage != STAGE_UNKNOWN);
}

/* Read the current line, without its launcher's prefix. */
static void read_line(struct run_reader *r)
{
	const struct segment *segment = &r->now.segment;

	r->line_class = LINE_PLAIN;
	bool wrapped = unwrap_docker(r, segment);
	if (!wrapped)
		read_text(r, segment);
	r->linebuf.skip = r->fold.inside && !wrapped ? skip_source : NULL;
	if (segment->ends_line && r->cb.on_line != NULL)
		r->cb.on_line(r->user, segment->line, r->now.whole, r->line_class);
}

static void read_stripped(void *user, const struct prefix_line *line)
{
	struct run_reader *r = user;

	r->now = *line;
	read_line(r);
	r->now.rank = -1;
	r->now.is_indented = false;
	r->now.wall_ms = 0;
}

static void strip_launcher(void *user, const struct segment *segment)
{
	struct run_reader *r = user;

	if (prefix_table_feed(&r->prefixes, segment, r->linebuf.consumed)) {
		r->linebuf.skip = NULL; /* the next lines may have a prefix too */
		return;
	}
	r->now.segment = *segment;
	r->now.whole = segment->text;
	r->now.consumed = r->linebuf.consumed;
	read_line(r);
}

static const struct prefix_calls prefix_calls = { read_stripped, is_known_line };

void run_reader_reset(struct run_reader *r, void *user)
{
	linebuf_release(&r->linebuf);
	linebuf_init(&r->linebuf, strip_launcher, r);
	prefix_table_release(&r->prefixes);
	prefix_table_init(&r->prefixes, &prefix_calls, r);
	r->now = (struct prefix_line){ .rank = -1 };
	for (size_t i = 0; i < LENGTH(r->wrapped); i++) {
		linebuf_release(&r->wrapped[i]);
		linebuf_init(&r->wrapped[i], read_unwrapped, r);
	}
	source_fold_reset(&r->fold);
	r->document = (struct document){ .state = DOCUMENT_START };
	metric_rows_reset(r->rows);
	r->has_metric_rows = false;
	r->table = (struct score_table){ .has_title = false };
	marks_init(&r->marks, r->mark_set, r->scanner);
	templates_free(r->templates);
	r->templates = templates_new(apply_generic, r);
	r->user = r->sink.user = user;
	r->has_run = false;
	r->n_runs = 0;
	r->row_rank = -1;
	r->early_end = 0;
	reset_run(r, 1, 0);
}

struct run_reader *run_reader_new(const struct format_set *formats, const struct run_reader_cb *cb,
				  void *user)
{
	struct run_reader *r = xcalloc(1, sizeof(*r));

	r->scanner = scanner_new(formats);
	if (cb != NULL)
		r->cb = *cb;
	r->sink = (struct run_sink){ r->cb.on_sample, r->cb.on_event, user };
	source_fold_init(&r->fold, 0);
	r->rows = metric_rows_new();
	r->mark_set = format_set_marks(formats);
	buf_init(&r->formats, 1024);
	run_reader_reset(r, user);
	return r;
}

void run_reader_feed(struct run_reader *r, const void *data, size_t len)
{
	linebuf_feed(&r->linebuf, data, len);
}

void run_reader_finish(struct run_reader *r)
{
	linebuf_finish(&r->linebuf);
	prefix_table_finish(&r->prefixes);
	for (size_t i = 0; i < LENGTH(r->wrapped); i++)
		linebuf_finish(&r->wrapped[i]);
	if (r->templates != NULL)
		templates_finish(r->templates);
	source_fold_finish(&r->fold);
	store_source(r);
	close_run(r, r->linebuf.lines, r->linebuf.bytes);
}

const struct run *run_reader_current(struct run_reader *r)
{
	if (!r->has_run)
		return NULL;
	fill_counts(r, r->linebuf.lines, r->linebuf.bytes);
	run_state_derive(&r->state, false);
	return &r->state.run;
}

bool run_reader_at_end(struct run_reader *r, struct run *out)
{
	if (run_reader_current(r) == NULL)
		return false;
	struct run_state copy = r->state;
	run_copy(&copy.run, &r->state.run); /* the copy owns its texts */
	run_state_derive(&copy, true);
	*out = copy.run;
	return true;
}

uint64_t run_reader_limit_hits(const struct run_reader *r, size_t i)
{
	return scanner_limit_hits(r->scanner, i);
}

uint64_t run_reader_lines(const struct run_reader *r)
{
	return r->linebuf.lines;
}

uint64_t run_reader_bytes(const struct run_reader *r)
{
	return r->linebuf.bytes;
}
