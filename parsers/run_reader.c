/* SPDX-License-Identifier: MIT */
/* Bytes of one log to runs: which run a line belongs to. */
#include "parsers/run_reader.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "parsers/json.h"
#include "parsers/line_prefix.h"
#include "parsers/linebuf.h"
#include "parsers/metric_rows.h"
#include "parsers/pair_record.h"
#include "parsers/run_apply.h"
#include "parsers/scan.h"
#include "parsers/source_fold.h"

struct run_reader {
	struct scanner *scanner;
	struct run_reader_cb cb;
	run_reader_rule_fn on_rule; /* NULL: nobody asks */
	templates_row_fn on_row;    /* the same */
	void *user;
	struct linebuf linebuf;
	/* What Docker has wrapped: of stdout, of stderr. */
	struct linebuf wrapped[2];
	int64_t wrapped_ms;	    /* of the line at hand; 0: none */
	enum line_class line_class; /* of what it held last */
	size_t line_bytes;	    /* of it, as it stands in the log */
	struct source_fold fold;
	struct metric_rows *rows;
	/* Rows that no rule knows; NULL: a rule took a row of this log. */
	struct templates *templates;
	bool has_generic; /* this run has rows of templates */
	bool has_run;
	struct run_state state;
	unsigned int n_runs; /* begun so far */
	uint64_t run_first_line, run_first_byte;
	int row_rank;		 /* that prints the rows; -1: none did yet */
	uint64_t matched;	 /* lines of this run */
	uint64_t line;		 /* that is read; a row may lie before it */
	struct buf formats;	 /* names, "a,b" */
	const char *last_format; /* the one that was noted last */
};

static void take_segment(void *user, const struct segment *segment);
static void take_unwrapped(void *user, const struct segment *segment);
static void take_generic(void *user, const struct record *record,
			 const struct templates_line *place);

struct run_reader *run_reader_new(const struct format_set *formats, const struct run_reader_cb *cb,
				  void *user)
{
	struct run_reader *r = xcalloc(1, sizeof(*r));

	r->scanner = scanner_new(formats);
	if (cb != NULL)
		r->cb = *cb;
	source_fold_init(&r->fold, 0);
	r->rows = metric_rows_new();
	buf_init(&r->formats, 1024);
	run_reader_reset(r, user);
	return r;
}

void run_reader_free(struct run_reader *r)
{
	if (r == NULL)
		return;
	scanner_free(r->scanner);
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

void run_reader_tell_rules(struct run_reader *r, run_reader_rule_fn fn)
{
	r->on_rule = fn;
}

void run_reader_tell_rows(struct run_reader *r, templates_row_fn fn)
{
	r->on_row = fn;
}

void run_reader_remember_scripts(struct run_reader *r, size_t n)
{
	source_fold_release(&r->fold);
	source_fold_init(&r->fold, n);
}

/* What is known of the run at hand, which begins there. */
static void begin_run(struct run_reader *r, uint64_t line, uint64_t byte)
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

void run_reader_reset(struct run_reader *r, void *user)
{
	linebuf_release(&r->linebuf);
	linebuf_init(&r->linebuf, take_segment, r);
	for (size_t i = 0; i < LENGTH(r->wrapped); i++) {
		linebuf_release(&r->wrapped[i]);
		linebuf_init(&r->wrapped[i], take_unwrapped, r);
	}
	source_fold_reset(&r->fold);
	metric_rows_reset(r->rows);
	templates_free(r->templates);
	r->templates = templates_new(take_generic, r);
	r->user = user;
	r->has_run = false;
	r->n_runs = 0;
	r->row_rank = -1;
	begin_run(r, 1, 0);
}

static void sink_sample(void *user, const struct sample *sample)
{
	struct run_reader *r = user;

	r->cb.on_sample(r->user, &r->state.run, sample);
}

static void sink_event(void *user, const struct run_event *event)
{
	struct run_reader *r = user;

	r->cb.on_event(r->user, &r->state.run, event);
}

/* Write what the reader itself knows into the run's row. */
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
}

/* A script is whole: its hash goes to the run at hand, the first one only. */
static void note_source(struct run_reader *r)
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

/* The bytes of the file before the line at hand. */
static uint64_t bytes_before(const struct run_reader *r)
{
	uint64_t here = r->linebuf.consumed;

	return here > r->line_bytes ? here - r->line_bytes - 1 : 0;
}

/*
 * Begin the next run at this line.  What only the launcher prints once for
 * all runs of a file is carried over where `carry` says so.
 */
static void next_run(struct run_reader *r, const struct segment *segment, bool carry)
{
	double n_gpus = r->state.run.n_gpus;
	double batch = r->state.run.train_batch_tokens;
	double cap_s = r->state.run.cap_s;
	uint64_t before = bytes_before(r);

	close_run(r, segment->line - 1, before);
	begin_run(r, segment->line, before);
	if (carry) {
		r->state.run.n_gpus = n_gpus;
		r->state.run.train_batch_tokens = batch;
		r->state.run.cap_s = cap_s;
	}
}

/*
 * A setting that this run has printed already, after it began to work; its
 * plan comes late from ranks that the first one did not wait for.
 */
static bool setting_begins_run(const struct run_reader *r, const struct record *record)
{
	const struct run *run = &r->state.run;
	uint64_t telling = (uint64_t)1 << METRIC_SEED | (uint64_t)1 << METRIC_N_GPUS |
			   (uint64_t)1 << METRIC_TRAIN_BATCH_TOKENS;

	if (run->last_step > 0 || run_has(run->last_train_loss))
		telling |= (uint64_t)1 << METRIC_PLANNED;
	return r->state.active && (record->present & r->state.own & telling);
}

/* Whether the row counts up to another step than the run's rows do. */
static bool has_other_plan(const struct run_state *s, const struct record *record)
{
	double planned = record_get(record, METRIC_PLANNED);

	return run_has(planned) && run_has(s->run.planned_steps) && planned != s->run.planned_steps;
}

/* Rows of a short plan, behind the training: the evaluation has a loop. */
static bool is_inner_loop(const struct run_state *s, const struct record *record)
{
	return (s->stopped || s->packed) &&
	       record_get(record, METRIC_PLANNED) * 10 < s->run.planned_steps;
}

enum row_place { ROW_IN_RUN, ROW_BEGINS_RUN, ROW_REPEATED };

/*
 * A row whose step goes back to where the run began, or under another plan,
 * is of the next run; one that goes back to elsewhere repeats an old row.
 * Behind what was only evaluated the first row is of the next run too.
 */
static enum row_place place_row(const struct run_reader *r, const struct record *record)
{
	double step = record_get(record, METRIC_STEP);
	const struct run_state *s = &r->state;

	if (!run_has(s->first_step))
		return s->evaluated ? ROW_BEGINS_RUN : ROW_IN_RUN;
	if (!(step < s->run.last_step)) /* one of them is not known, too */
		return ROW_IN_RUN;
	if (has_other_plan(s, record))
		return is_inner_loop(s, record) ? ROW_REPEATED : ROW_BEGINS_RUN;
	return s->killed || step <= s->first_step ? ROW_BEGINS_RUN : ROW_REPEATED;
}

static void note_format(struct run_reader *r, const char *name)
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

/* Kinds that alone do not make a file a training log. */
static bool makes_run(const struct record *record)
{
	const struct rule *rule = record->rule;

	return rule->kind != RULE_IGNORE && (rule->kind != RULE_END || record->present != 0) &&
	       (rule->kind != RULE_SETTING || record->present != 0 || record->mode.len > 0) &&
	       (rule->kind != RULE_EVENT || rule->fatal) &&
	       (rule->kind != RULE_STEP || !record_has(record, METRIC_PLANNED)) &&
	       (rule->kind != RULE_RESULT || rule->stage != STAGE_UNKNOWN);
}

static void take_record(struct run_reader *r, const struct record *record,
			const struct segment *segment, const struct line_prefix *prefix)
{
	const struct run_sink sink = { r->cb.on_sample != NULL ? sink_sample : NULL,
				       r->cb.on_event != NULL ? sink_event : NULL, r };
	const struct record_place place = { segment->line, prefix->wall_ms, prefix->rest, r->line };
	enum rule_kind kind = record->rule->kind;
	enum row_place row = ROW_IN_RUN;

	if (kind == RULE_TRAIN || kind == RULE_VAL)
		row = place_row(r, record);
	if (r->has_run &&
	    (row == ROW_BEGINS_RUN || (kind == RULE_SETTING && setting_begins_run(r, record))))
		next_run(r, segment, row == ROW_IN_RUN || !has_other_plan(&r->state, record));
	if (!r->has_run && kind == RULE_END && !makes_run(record))
		return; /* of something before the training */
	if (!r->has_run && makes_run(record)) {
		r->has_run = true;
		r->state.run.run_index = r->n_runs++;
	}
	r->matched++;
	note_format(r, record->rule->format);
	if (row == ROW_REPEATED || (!r->has_run && kind != RULE_STEP))
		return;
	run_state_apply(&r->state, record, &place, &sink);
}

/* A row that no rule knows; the segment of one that was held back is made. */
static void take_generic(void *user, const struct record *record,
			 const struct templates_line *place)
{
	struct run_reader *r = user;
	const struct segment segment = { .text = place->text, .line = place->line };
	const struct line_prefix prefix = { place->rank, place->wall_ms, place->text };

	/* What came late is behind a validation that a rule has read. */
	if (place->late && record_get(record, METRIC_STEP) < r->state.run.last_step)
		return;
	if (r->on_row != NULL)
		r->on_row(r->user, record, place);
	take_record(r, record, &segment, &prefix);
	bool by_bar =
		record->rule->kind == RULE_VAL && r->state.bar_total == r->state.run.planned_steps;
	if (!record_has(record, METRIC_STEP) && !by_bar &&
	    run_has(r->state.run.last_step)) /* it is known no more */
		r->state.run.last_step = r->state.run.planned_steps = RUN_ABSENT;
	r->has_generic = true;
}

/*
 * The line as the templates take it.  Of a bar's parts only the last one may
 * be of a metrics file.
 */
static struct templates_line templates_line(const struct run_reader *r,
					    const struct segment *segment,
					    const struct line_prefix *prefix)
{
	struct str rest = prefix->rest;

	while (rest.len > 0 && str_is_blank(rest.p[0]))
		rest = str_skip(rest, 1);
	bool object = rest.len > 0 && rest.p[0] == '{';

	return (struct templates_line){ .text = prefix->rest,
					.line = segment->line,
					.wall_ms = prefix->wall_ms,
					.rank = prefix->rank,
					.cut = segment->cut,
					.plain = !segment->ends_line ||
						 (metric_rows_is_idle(r->rows) && !object) };
}

static bool take_template(struct run_reader *r, const struct segment *segment,
			  const struct line_prefix *prefix)
{
	const struct templates_line line = templates_line(r, segment, prefix);

	return r->templates != NULL && templates_take(r->templates, &line);
}

static enum templates_similar take_like(struct run_reader *r, const struct segment *segment,
					const struct line_prefix *prefix)
{
	const struct templates_line line = templates_line(r, segment, prefix);

	return r->templates == NULL ? SIMILAR_NONE : templates_take_similar(r->templates, &line);
}

/*
 * From the first row of training that a rule knows on it alone has the word;
 * what was read without one before is a run of its own.
 */
static void note_known(struct run_reader *r, const struct record *record,
		       const struct segment *segment)
{
	if (r->templates == NULL || record->rule->kind != RULE_TRAIN)
		return;
	templates_free(r->templates);
	r->templates = NULL;
	if (r->has_run && r->has_generic)
		next_run(r, segment, true);
}

/* What the line says, if it says that for sure. */
static bool scan_line(struct run_reader *r, const struct segment *segment, struct str line,
		      struct record *record)
{
	return segment->cut ? scanner_scan_cut(r->scanner, line, record)
			    : scanner_scan(r->scanner, line, record);
}

static void tell_rule(const struct run_reader *r, const struct segment *segment,
		      const struct record *record)
{
	if (r->on_rule != NULL)
		r->on_rule(r->user, segment->line, record->rule);
}

static enum line_class class_of(const struct record *record)
{
	if (record->rule->kind == RULE_EVENT)
		return record->rule->fatal ? LINE_ERROR : LINE_WARNING;
	return record->rule->kind == RULE_IGNORE ? LINE_PLAIN : LINE_METRIC;
}

/* A row of training ends a script that was printed without a rule. */
static bool ends_source(const struct run_reader *r, const struct record *record)
{
	enum rule_kind kind = record->rule->kind;

	return source_fold_may_end(&r->fold) &&
	       (kind == RULE_TRAIN || kind == RULE_VAL || kind == RULE_WARMUP || kind == RULE_STOP);
}

/* Whether a line within a script could be a row: these begin so. */
static bool may_be_row(struct str line)
{
	return line.len > 0 &&
	       ((line.p[0] >= '0' && line.p[0] <= '9') || line.p[0] == 's' || line.p[0] == 'w');
}

static enum line_class take_source_line(struct run_reader *r, const struct segment *segment,
					const struct line_prefix *prefix)
{
	struct record record;

	if (source_fold_may_end(&r->fold) && may_be_row(prefix->rest) &&
	    scan_line(r, segment, prefix->rest, &record) && ends_source(r, &record)) {
		source_fold_finish(&r->fold);
		note_source(r);
		tell_rule(r, segment, &record);
		note_known(r, &record, segment);
		take_record(r, &record, segment, prefix);
		return class_of(&record);
	}
	if (source_fold_line(&r->fold, prefix->rest) == SOURCE_END)
		note_source(r);
	return LINE_SOURCE;
}

/* The text without the byte order mark that a file may begin with. */
static struct str skip_mark(const struct segment *segment)
{
	bool has_mark = segment->line == 1 && str_starts_with(segment->text, "\xef\xbb\xbf");

	return str_skip(segment->text, has_mark ? 3 : 0);
}

/* Whether a script that is printed now can be of the next run only. */
static bool is_begun(const struct run_state *s)
{
	return s->active || (s->own != 0 && s->run.source_sha256 != NULL);
}

/* s behind the first `mark` in it; empty where it has none. */
static struct str behind(struct str s, const char *mark)
{
	const char *at = str_find(s, mark);

	if (at == NULL)
		return (struct str){ NULL, 0 };
	return str_between(at + strlen(mark), s.p + s.len);
}

/* s behind its last "%|", with which a bar begins. */
static struct str last_bar(struct str s)
{
	const char *at = s.p, *end = s.p + s.len, *bar = end;

	while (at < end && (at = memchr(at, '%', (size_t)(end - at))) != NULL)
		if (++at < end && *at == '|')
			bar = at;
	return str_between(bar, end);
}

/*
 * What stands in a line behind a bar of tqdm, which ends without a newline:
 * "eval: 45%|##  | 45/99 [00:10<00:12, 4.4it/s]step:1/9 ..".  Empty where
 * there is no bar, or nothing behind it.  The form is that of tqdm's default
 * bar_format.
 */
static struct str rest_behind_bar(struct str line)
{
	struct str bar = last_bar(line), rest;

	if (bar.len == 0) /* nearly always */
		return bar;
	rest = behind(bar, "it/s");
	if (rest.len == 0)
		rest = behind(bar, "s/it");
	return behind(rest, "]");
}

/* A row of a metrics file. */
static void take_metric_row(void *user, const struct metric_row *row)
{
	const struct segment segment = { .text = row->text, .line = row->line };
	struct run_reader *r = user;
	const struct line_prefix prefix = { -1, row->wall_ms, row->text };
	const struct record *record = row->record;

	/* Scores between the rows may count their steps in epochs. */
	if (row->step < r->state.run.last_step && run_has(r->state.run.last_train_loss) &&
	    !record_has(record, METRIC_TRAIN_LOSS) && !record_has(record, METRIC_VAL_LOSS))
		return;
	take_record(r, record, &segment, &prefix);
	/* The trainer writes it when it is done. */
	r->state.ended |= row->is_summary;
}

/* A line of a metrics file, which none of its parts is; `take` as above. */
static bool take_metric_line(struct run_reader *r, const struct segment *segment,
			     const struct line_prefix *prefix,
			     bool (*take)(struct metric_rows *rows, const struct metric_line *line,
					  metric_row_fn fn, void *user))
{
	const struct metric_line line = { skip_mark(segment), segment->line, prefix->wall_ms,
					  segment->cut };

	return segment->ends_line && take(r->rows, &line, take_metric_row, r);
}

/* A line that no rule takes may be of a metrics file, or a row of its own. */
static enum line_class take_other_line(struct run_reader *r, const struct segment *segment,
				       const struct line_prefix *prefix)
{
	if (take_metric_line(r, segment, prefix, metric_rows_take))
		return LINE_METRIC;
	return take_template(r, segment, prefix) ? LINE_METRIC : LINE_PLAIN;
}

/* A line that somebody else's message cut: only the message is read. */
static bool scan_whole(struct run_reader *r, const struct segment *segment, struct str *line,
		       struct record *record)
{
	/* "slurmstepd: " or, where a host has several, "slurmstepd-NODE: ". */

	if (!scan_line(r, segment, *line, record))
		return false;
	if (!record->rule->pairs)
		return true;
	const char *at = str_find(*line, "slurmstepd");
	if (at == NULL || str_find(*line, ": error: ***") == NULL)
		return true;
	*line = str_between(at, line->p + line->len);
	return scan_line(r, segment, *line, record);
}

/* The text behind a bar is the line; before it, the bar tells how far it is. */
static bool scan_behind_bar(struct run_reader *r, const struct segment *segment,
			    struct line_prefix *prefix, struct record *record)
{
	struct str rest = rest_behind_bar(prefix->rest);
	struct line_prefix bar = *prefix;

	if (rest.len == 0)
		return false;
	bar.rest.len -= rest.len;
	if (scanner_scan(r->scanner, bar.rest, record) && record->rule->kind == RULE_STEP &&
	    prefix->rank <= 0)
		take_record(r, record, segment, &bar);
	prefix->rest = rest;
	return scan_line(r, segment, rest, record);
}

/* The text behind the number of a task, or its host, is the line. */
static bool scan_task(struct run_reader *r, const struct segment *segment,
		      struct line_prefix *prefix, struct record *record)
{
	struct line_prefix task;

	if (!line_prefix_task(prefix->rest, &task) || !scan_whole(r, segment, &task.rest, record))
		return false;
	*prefix = task;
	return true;
}

/* Other ranks repeat the rows of the first; their failures count. */
static bool is_of_other_rank(struct run_reader *r, const struct record *record, int rank)
{
	if (record->rule->any_rank && (rank <= 0 || r->row_rank < 0 || r->row_rank == rank)) {
		r->row_rank = rank > 0 ? rank : 0;
		return false;
	}
	return rank > 0 && record->rule->kind != RULE_EVENT;
}

static enum line_class read_segment(struct run_reader *r, const struct segment *segment)
{
	struct line_prefix prefix = { -1, 0, skip_mark(segment) }, whole;
	struct record record;

	/* Megatron's time; in a script it is a part of a list. */
	if (!r->fold.inside && str_starts_with(prefix.rest, " [2"))
		prefix.rest = str_skip(prefix.rest, 1);
	if (prefix.rest.len > 0 && line_prefix_may_start(prefix.rest.p[0]))
		line_prefix_split(prefix.rest, &prefix);
	if (prefix.wall_ms == 0)
		prefix.wall_ms = r->wrapped_ms;
	if (r->state.unnamed != 0)
		run_state_exception(&r->state, segment->line, prefix.rest);
	if (r->fold.inside)
		return take_source_line(r, segment, &prefix);
	if (source_fold_line(&r->fold, prefix.rest) == SOURCE_FIRST) {
		if (r->has_run && is_begun(&r->state))
			next_run(r, segment, false);
		return LINE_SOURCE;
	}
	whole = prefix;
	enum templates_similar like = take_like(r, segment, &whole);
	if (like != SIMILAR_NONE)
		return like == SIMILAR_ROW ? LINE_METRIC : LINE_PLAIN;
	if (take_metric_line(r, segment, &whole, metric_rows_take_similar))
		return LINE_METRIC;
	/* No row begins with a number and a colon: it is a task's, or none. */
	bool numbered =
		prefix.rest.len > 0 && (prefix.rest.p[0] == ' ' || str_is_digit(prefix.rest.p[0]));
	if (!(numbered && scan_task(r, segment, &prefix, &record)) &&
	    !scan_whole(r, segment, &prefix.rest, &record) &&
	    !scan_behind_bar(r, segment, &prefix, &record) &&
	    !(!numbered && scan_task(r, segment, &prefix, &record)))
		return take_other_line(r, segment, &whole);
	/* Bars are nobody's own: what figures they have nobody else reads. */
	if (record.rule->kind == RULE_STEP && take_template(r, segment, &whole))
		return LINE_METRIC;
	tell_rule(r, segment, &record);
	if (is_of_other_rank(r, &record, prefix.rank))
		return LINE_PLAIN;
	note_known(r, &record, segment);
	take_record(r, &record, segment, &prefix);
	return class_of(&record);
}

/* The lines of a script are taken many at once. */
static size_t skip_source(void *user, struct str text, uint64_t *lines)
{
	struct run_reader *r = user;
	uint64_t number = *lines;
	size_t n = source_fold_skip(&r->fold, text, lines);
	struct str line, rest = { text.p, n };

	while (r->cb.on_line != NULL && number < *lines && str_next(&rest, '\n', &line))
		r->cb.on_line(r->user, ++number, line, LINE_SOURCE);
	return n;
}

static void take_unwrapped(void *user, const struct segment *segment)
{
	struct run_reader *r = user;
	struct segment inner = *segment;

	inner.line = r->line;
	r->line_class = read_segment(r, &inner);
}

/*
 * A line of Docker's JSON files, {"log":"..\n","stream":"stdout","time":".."}:
 * what the program wrote, its line ends among it; false for another.
 */
static bool take_wrapped(struct run_reader *r, const struct segment *segment)
{
	bool has_zone;
	size_t len;

	if (!str_starts_with(segment->text, "{\"log\":\""))
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

static void take_segment(void *user, const struct segment *segment)
{
	struct run_reader *r = user;

	r->line = segment->line;
	r->line_bytes = segment->text.len;
	r->line_class = LINE_PLAIN;
	bool wrapped = take_wrapped(r, segment);
	if (!wrapped)
		take_unwrapped(r, segment);
	r->linebuf.skip = r->fold.inside && !wrapped ? skip_source : NULL;

	if (segment->ends_line && r->cb.on_line != NULL)
		r->cb.on_line(r->user, segment->line, segment->text, r->line_class);
}

void run_reader_feed(struct run_reader *r, const void *data, size_t len)
{
	linebuf_feed(&r->linebuf, data, len);
}

void run_reader_finish(struct run_reader *r)
{
	linebuf_finish(&r->linebuf);
	for (size_t i = 0; i < LENGTH(r->wrapped); i++)
		linebuf_finish(&r->wrapped[i]);
	if (r->templates != NULL)
		templates_finish(r->templates);
	source_fold_finish(&r->fold);
	note_source(r);
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
	run_state_at_end(&r->state, out);
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
