/* SPDX-License-Identifier: MIT */
/* Read the log of one run: rows or a score, and the settings that it prints. */
#include "bench/run_log.h"

#include <ctype.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>

#include "parsers/run_reader.h"

const char *const bench_metric_parsers[] = { "parameter-golf", "json", "clock", NULL };

static const struct bench_metric metrics[] = {
	{ "step_ms", RUN_LOG_TRAINING, "parameter-golf", true },
	{ "wall_s", RUN_LOG_WALL, "clock", true },
	{ NULL, RUN_LOG_SCORE, "json", false },
};

/* Endings and parts of the names of rates. */
static const char *const rate_ends[] = { "_per_s", "_per_sec", "_per_second", "/s",   "/sec",
					 "tok_s",  "tokens_s", "gb_s",	      "gbps", "mfu" };
static const char *const rate_parts[] = { "throughput", "flops",    "bandwidth",
					  "speedup",	"speed_up", "accuracy" };

const struct bench_metric *bench_metric_find(const char *key)
{
	const struct bench_metric *m = metrics;

	while (m->key != NULL && strcmp(m->key, key) != 0)
		m++;
	return m;
}

bool bench_metric_is_rate(const char *key)
{
	size_t len = strlen(key);

	return array_any(end, rate_ends, LENGTH(rate_ends),
			 len >= strlen(*end) && strcasecmp(key + len - strlen(*end), *end) == 0) ||
	       array_any(part, rate_parts, LENGTH(rate_parts), strcasestr(key, *part) != NULL);
}

/* The length of the key that text starts with, if ":" or "=" follows it; else 0. */
static size_t key_length(struct str text)
{
	size_t n = 0;

	if (text.len == 0 || (!isalpha((unsigned char)text.p[0]) && text.p[0] != '_'))
		return 0;
	while (n < text.len &&
	       (isalnum((unsigned char)text.p[n]) || text.p[n] == '_' || text.p[n] == '.'))
		n++;
	return n < text.len && n < RUN_SETTING_KEY && (text.p[n] == ':' || text.p[n] == '=') ? n
											     : 0;
}

static struct run_setting *find_setting(const struct run_settings *settings, struct str key)
{
	return array_find(one, settings->v, settings->n, str_eq_cstr(key, one->key));
}

/* Store a setting.  A key that was printed with two values has no value any more. */
static void add_setting(struct run_settings *settings, struct str key, struct str value,
			uint64_t line)
{
	struct run_setting *known = find_setting(settings, key);

	if (value.len == 0 || value.len >= RUN_SETTING_VALUE)
		return;
	for (size_t i = 0; i < value.len; i++)
		if (value.p[i] < ' ' || value.p[i] > '~')
			return;
	if (known != NULL) {
		if (!str_eq_cstr(value, known->value))
			known->value[0] = '\0';
		return;
	}
	if (settings->n == RUN_SETTINGS_MAX)
		return;
	known = xplace(settings->v, settings->n, settings->cap);
	print_into(known->key, "%.*s", (int)key.len, key.p);
	print_into(known->value, "%.*s", (int)value.len, value.p);
	known->line = line;
}

static void read_settings(struct run_settings *settings, struct str line, uint64_t number)
{
	struct str rest = str_trim(line), word;
	size_t n = key_length(rest);

	/* "key: value": the value extends to the end of the line. */
	if (n > 0 && n + 1 < rest.len && rest.p[n + 1] == ' ') {
		add_setting(settings, (struct str){ rest.p, n }, str_trim(str_skip(rest, n + 1)),
			    number);
		return;
	}
	while (str_next(&rest, ' ', &word)) {
		n = key_length(word);
		if (n > 0)
			add_setting(settings, (struct str){ word.p, n }, str_skip(word, n + 1),
				    number);
	}
}

const char *run_settings_get(const struct run_settings *settings, const char *key)
{
	const struct run_setting *known = find_setting(settings, str_from(key));

	return known != NULL ? known->value : NULL;
}

static void run_settings_release(struct run_settings *settings)
{
	free(settings->v);
	*settings = (struct run_settings){ 0 };
}

/* The state of reading one log: samples are collected until their line ends. */
struct reading {
	struct run_log *log;
	struct step_row row; /* of the current line */
	bool is_val;	     /* the current line is a validation */
	bool had_val;	     /* there was a validation after the last train row */
	double last_val;
	double batch;	/* tokens per step; NAN until it is printed */
	double minutes; /* training time of minutes_line, printed in minutes */
	uint64_t minutes_line;
	bool has_too_many, has_named_time;
	/* The last line that starts with a time. */
	int64_t day_ms;
	uint64_t day_line;
	struct buf head; /* the log's start, for a score */
};

#define NONE (double)NAN

static const struct step_row no_row = { NONE, NONE, NONE, NONE, NONE, NONE,
					NONE, NONE, NONE, 0,	false };

/* Add what another line of the same step printed; false if the lines contradict each other. */
static bool merge_row(struct step_row *into, const struct step_row *row)
{
#define NUMBER(member) offsetof(struct step_row, member)
	static const size_t numbers[] = { NUMBER(train_loss),  NUMBER(train_ms), NUMBER(train_min),
					  NUMBER(step_avg_ms), NUMBER(step_ms),	 NUMBER(tok_s) };
#undef NUMBER
	struct step_row all = *into;

	if (into->step != row->step)
		return false;
	for (size_t i = 0; i < LENGTH(numbers); i++) {
		double *a = (double *)(void *)((char *)&all + numbers[i]);
		const double *b = (const double *)(const void *)((const char *)row + numbers[i]);

		if (!isnan(*a) && !isnan(*b) && *a != *b)
			return false;
		*a = isnan(*a) ? *b : *a;
	}
	all.line = row->line;
	*into = all;
	return true;
}

static bool has_time(const struct step_row *row)
{
	return !isnan(row->train_ms) || !isnan(row->step_avg_ms) || !isnan(row->step_ms) ||
	       !isnan(row->tok_s);
}

static void add_row(struct reading *r, const struct step_row *row)
{
	struct run_log *log = r->log;
	struct step_row *last = log->n_rows > 0 ? &log->rows[log->n_rows - 1] : NULL;

	if (last != NULL && merge_row(last, row))
		return;
	/* A step may print several losses (gradient accumulation): keep the last one. */
	if (last != NULL && last->step == row->step && !has_time(last) && !has_time(row)) {
		bool after_val = last->after_val;

		*last = *row;
		last->after_val = after_val;
		return;
	}
	if (log->n_rows == RUN_LOG_MAX_ROWS) {
		r->has_too_many = true;
		return;
	}
	/* Settings are printed before the first row. */
	while (log->n_rows == 0 && log->settings.n > 0 &&
	       log->settings.v[log->settings.n - 1].line >= row->line)
		log->settings.n--;
	xpush(log->rows, log->n_rows, log->cap_rows, *row);
	log->rows[log->n_rows - 1].after_val = r->had_val;
	r->had_val = false;
}

/* The current line has ended: keep its row if it is a train row. */
static void finish_line(struct reading *r)
{
	struct run_log *log = r->log;
	struct step_row *row = &r->row;
	double by_tokens_ms = row->step * r->batch / row->tok_s * 1000.0;

	/* The run reader derived this time from tok/s: it is not an independent clock. */
	if (fabs(by_tokens_ms - row->train_ms) <= 1e-9 * by_tokens_ms)
		row->train_ms = (double)NAN;
	if (r->minutes_line == row->line)
		row->train_min = r->minutes;
	/* A validation line is also a training row only if it has a training loss. */
	if (row->step > 0.0 &&
	    (!isnan(row->train_loss) ||
	     (!r->is_val && !(isnan(row->train_ms) && isnan(row->step_ms) && isnan(row->tok_s)))))
		add_row(r, row);
	if (r->is_val) {
		log->val_loss = r->last_val;
		log->val_step = row->step;
		r->had_val = true;
	}
	r->row = no_row;
	r->is_val = false;
}

static void start_run(struct reading *r, unsigned int index)
{
	finish_line(r);
	r->log->n_rows = 0;
	/* The settings of the first run were printed before the reader recognized a run. */
	if (r->log->n_runs > 0)
		run_settings_release(&r->log->settings);
	r->log->val_loss = r->log->val_step = (double)NAN;
	r->log->n_runs = index + 1;
}

/* Read a number that no rule reads, but whose printed name and unit leave no doubt. */
static void read_named_time(struct reading *r, const struct run *run, const struct sample *sample)
{
	static const struct {
		const char *name, *unit;
		bool is_average;
		double scale;
	} names[] = {
		{ "train_time", "ms", false, 1 },    { "train_time", "s", false, 1e3 },
		{ "train_time_ms", "", false, 1 },   { "train_time_s", "", false, 1e3 },
		{ "training_time", "ms", false, 1 }, { "training_time", "s", false, 1e3 },
		{ "step_avg", "ms", true, 1 },	     { "step_avg", "s", true, 1e3 },
		{ "step_avg_ms", "", true, 1 },
	};
	const struct run_series *series =
		array_find(one, run->series, run->n_series, strcmp(one->name, sample->name) == 0);

	for (size_t i = 0; series != NULL && i < LENGTH(names); i++) {
		if (strcmp(series->name, names[i].name) != 0 ||
		    strcmp(series->unit, names[i].unit) != 0)
			continue;
		if (names[i].is_average)
			r->row.step_avg_ms = sample->value * names[i].scale;
		else
			r->row.train_ms = sample->value * names[i].scale;
		r->has_named_time |= !names[i].is_average;
	}
}

/* Drop times that more than one row in eight does not increase: they count from another point. */
static void check_named_time(struct run_log *log)
{
	size_t n = 0, falls = 0;

	for (size_t i = 1; i < log->n_rows; i++) {
		n += isnan(log->rows[i].train_ms) ? 0 : 1;
		falls += log->rows[i].train_ms <= log->rows[i - 1].train_ms ? 1 : 0;
	}
	for (size_t i = 0; falls * 8 > n && i < log->n_rows; i++)
		log->rows[i].train_ms = (double)NAN;
}

static void on_sample(void *user, const struct run *run, const struct sample *sample)
{
	struct reading *r = user;

	if (run->run_index + 1 > r->log->n_runs)
		start_run(r, run->run_index);
	/* A progress bar rewritten with CR has several rows in one line. */
	if (sample->line != r->row.line || sample->step > r->row.step)
		finish_line(r);
	r->row.line = sample->line;
	if (sample->wall_ms > 0)
		r->row.day_s = (double)sample->wall_ms / 1e3;
	else if (isnan(r->row.day_s) && r->day_line <= sample->line &&
		 (r->log->n_rows == 0 || r->day_line > r->log->rows[r->log->n_rows - 1].line) &&
		 r->day_ms > 0)
		r->row.day_s = (double)r->day_ms / 1e3;
	if (!isnan(sample->step))
		r->row.step = sample->step;
	if (!isnan(sample->train_ms))
		r->row.train_ms = sample->train_ms;
	r->batch = run->train_batch_tokens;
	if (sample->metric == METRIC_TRAIN_LOSS) {
		r->row.train_loss = sample->value;
	} else if (sample->metric == METRIC_STEP_AVG_MS) {
		r->row.step_avg_ms = sample->value;
	} else if (sample->metric == METRIC_STEP_MS) {
		r->row.step_ms = sample->value;
	} else if (sample->metric == METRIC_COUNT) {
		read_named_time(r, run, sample);
	} else if (sample->metric == METRIC_TOK_S) {
		r->row.tok_s = sample->value;
	} else if (sample->metric == METRIC_VAL_LOSS) {
		r->last_val = sample->value;
		r->is_val = true;
	}
}

/* Read the number after `key` and blanks in text; *end is the character after it. */
static bool number_after(struct str text, const char *key, double *value, char *end)
{
	const char *at = str_find(text, key);
	size_t n = 0;

	if (at == NULL)
		return false;
	at += strlen(key);
	struct str rest = str_trim((struct str){ at, text.len - (size_t)(at - text.p) });
	while (n < rest.len && (rest.p[n] == '.' || (rest.p[n] >= '0' && rest.p[n] <= '9')))
		n++;
	struct str word = (struct str){ rest.p, n };
	*end = n < rest.len ? rest.p[n] : '\0';
	return str_to_double(word, value);
}

/* Append "key value", once per key.  Source code that would print it is ignored. */
static void add_runtime(struct run_log *log, const char *key, struct str value)
{
	size_t len = strlen(log->runtime);
	char name[16];

	print_into(name, "%s ", key);
	if (value.len == 0 || !isalnum((unsigned char)value.p[0]) ||
	    memchr(value.p, ';', value.len) != NULL || strstr(log->runtime, name) != NULL ||
	    len + strlen(name) + value.len + 3 > sizeof(log->runtime))
		return;
	append_into(log->runtime, "%s%s%.*s", len > 0 ? "; " : "", name, (int)value.len, value.p);
}

/* Find versions and the first GPU, as trainers and nvidia-smi print them. */
static void read_runtime(struct run_log *log, struct str text)
{
	static const struct {
		const char *before, *key;
	} words[] = { { "Running Python ", "python" },
		      { "Running PyTorch ", "torch" },
		      { "Running Triton version ", "triton" },
		      { "Driver Version: ", "driver" } };
	const char *at, *end = text.p + text.len;
	struct str rest, word;
	size_t n = 0;

	for (size_t i = 0; i < LENGTH(words); i++) {
		at = str_find(text, words[i].before);
		if (at == NULL)
			continue;
		at += strlen(words[i].before);
		rest = (struct str){ at, (size_t)(end - at) };
		if (str_next(&rest, ' ', &word) && word.len > 0 &&
		    isdigit((unsigned char)word.p[0]))
			add_runtime(log, words[i].key, word);
	}
	at = str_find(text, "NVIDIA ");
	if (at == NULL)
		return;
	while (at + n < end && strchr("|(,\"", at[n]) == NULL && strncmp(at + n, "  ", 2) != 0 &&
	       strncmp(at + n, " with ", 6) != 0)
		n++;
	if (n > strlen("NVIDIA ") && isalnum((unsigned char)at[7]))
		add_runtime(log, "gpu", str_trim((struct str){ at, n }));
}

/* Read the facts of a line that the validity checks need and that no sample contains. */
static void on_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	struct reading *r = user;
	double value;
	char end;

	if (class == LINE_SOURCE)
		return;
	if (text.len > 0 && line_prefix_may_start(text.p[0])) {
		struct log_line prefix;

		line_prefix_split(text, &prefix);
		r->day_ms = prefix.wall_ms > 0 ? prefix.wall_ms : r->day_ms;
		r->day_line = prefix.wall_ms > 0 ? line : r->day_line;
	}
	if (r->log->n_rows == 0) {
		read_settings(&r->log->settings, text, line);
		read_runtime(r->log, text);
	}
	if (number_after(text, "train_time:", &value, &end) && end == 'm' &&
	    !str_find(text, "ms")) {
		r->minutes = value;
		r->minutes_line = line;
	} else if (number_after(text, "grad_accum_steps:", &value, &end)) {
		r->log->grad_accum = value;
	}
}

static void on_run(void *user, const struct run *run)
{
	struct reading *r = user;

	if (run->run_index + 1 > r->log->n_runs)
		start_run(r, run->run_index);
	finish_line(r);
	run_release(&r->log->run);
	run_copy(&r->log->run, run);
}

static const struct run_reader_cb reader_cb = {
	.on_sample = on_sample,
	.on_run = on_run,
	.on_line = on_line,
};

static int read_stream(struct run_log *log, FILE *stream, const char *path,
		       const struct run_log_rule *rule, struct err *err)
{
	struct reading r = { .log = log, .row = no_row, .batch = (double)NAN };
	struct sha256 sha;
	char block[65536];
	size_t n;
	int result = -1;

	*log = (struct run_log){ .path = xstrdup(path),
				 .kind = rule->force ? rule->kind : RUN_LOG_TRAINING,
				 .score_key = rule->score_key };
	log->val_loss = log->val_step = log->grad_accum = log->wall_s = (double)NAN;
	run_init(&log->run);
	buf_init(&r.head, RUN_LOG_MAX_SCORE_BYTES);
	sha256_init(&sha);
	struct run_reader *reader = run_reader_new(rule->formats, &reader_cb, &r);
	while ((n = fread(block, 1, sizeof(block), stream)) > 0) {
		run_reader_feed(reader, block, n);
		buf_append(&r.head, block, n);
		sha256_update(&sha, block, n);
	}
	sha256_hex(&sha, log->sha256);
	sha256_release(&sha);
	if (ferror(stream)) {
		err_set_errno(err, ERR_IO, "cannot read %s", path);
	} else {
		run_reader_finish(reader);
		finish_line(&r);
		if (r.has_named_time)
			check_named_time(log);
		/* Rows of an unknown format print the rate since the previous row. */
		struct str formats = str_from(log->run.formats != NULL ? log->run.formats : ""),
			   one;
		while (str_next(&formats, ',', &one))
			if (str_eq_cstr(one, "generic"))
				log->tok_kind = TOK_INTERVAL;
		result = 0;
	}
	if (r.has_too_many)
		result = err_set(err, ERR_LIMIT, "%s: more than %d train rows", path,
				 RUN_LOG_MAX_ROWS);
	if (result == 0 && (rule->force ? rule->kind == RUN_LOG_SCORE : log->n_rows == 0) &&
	    score_json_read(&log->score, buf_str(&r.head), rule->score_key, NULL) == 0)
		log->kind = RUN_LOG_SCORE;
	run_reader_free(reader);
	buf_release(&r.head);
	if (result != 0)
		run_log_release(log);
	return result;
}

struct step_rates run_log_rates(const struct run_log *log, enum tok_kind kind)
{
	return (struct step_rates){ kind == TOK_BY_FORMAT ? log->tok_kind : kind,
				    log->run.train_batch_tokens };
}

int run_log_parse(struct run_log *log, const char *path, struct str text,
		  const struct run_log_rule *rule, struct err *err)
{
	FILE *stream = fmemopen((void *)(uintptr_t)text.p, text.len, "r");

	if (stream == NULL)
		return err_set_errno(err, ERR_IO, "cannot read %s", path);
	int result = read_stream(log, stream, path, rule, err);
	(void)fclose(stream);
	return result;
}

int run_log_read(struct run_log *log, const char *path, const struct run_log_rule *rule,
		 struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
	struct stat st;
	int result;

	if (stream == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		result = err_set(err, ERR_IO, "%s is not a regular file", path);
	else
		result = read_stream(log, stream, path, rule, err);
	(void)fclose(stream);
	return result;
}

void run_log_release(struct run_log *log)
{
	free(log->path);
	free(log->rows);
	run_settings_release(&log->settings);
	run_release(&log->run);
	score_json_release(&log->score);
	*log = (struct run_log){ 0 };
}

static const struct run_event *find_event(const struct run *run, enum run_event_kind kind)
{
	return array_find(one, run->events, run->n_events, one->kind == kind);
}

static bool is_end_unknown(const struct run *run)
{
	return run->status == RUN_UNKNOWN ||
	       (run->status == RUN_TRUNCATED && isnan(run->planned_steps));
}

/* Add hits for failures in the output.  They are not hard if the output has a score that counts. */
static void check_events(const struct run_log *log, bool hard, struct guard_hits *hits)
{
	static const enum run_event_kind fatal[] = {
		RUN_EVENT_OOM,	  RUN_EVENT_TRACEBACK, RUN_EVENT_CHILD_FAILED,
		RUN_EVENT_KILLED, RUN_EVENT_CRASH,     RUN_EVENT_CUDA,
	};

	for (size_t i = 0; i < LENGTH(fatal); i++) {
		const struct run_event *event = find_event(&log->run, fatal[i]);

		if (event != NULL)
			guard_add(hits, GUARD_EXIT, hard, "%s in line %llu of the log",
				  run_event_names[fatal[i]], (unsigned long long)event->line);
	}
}

static void check_training(const struct run_log *log, struct guard_hits *hits)
{
	const struct run *run = &log->run;
	const struct run_event *event = find_event(run, RUN_EVENT_NAN);

	if (event != NULL)
		guard_add(hits, GUARD_NAN, true, "NaN or infinity in line %llu of the log",
			  (unsigned long long)event->line);
	else if (run->status == RUN_DIVERGED)
		guard_add(hits, GUARD_NAN, true, "NaN or infinity in the log");
	check_events(log, true, hits);
	if (log->n_runs > 1)
		guard_add(hits, GUARD_RESTARTED, false,
			  "its log contains %u runs; the last one counts", log->n_runs);
	if (log->kind == RUN_LOG_WALL)
		return;
	if (log->n_rows == 0)
		guard_add(hits, GUARD_EXIT, true, "its output has no training row and no score");
	else if (run->status != RUN_FINISHED && !is_end_unknown(run))
		guard_add(hits, GUARD_EXIT, true, "the run is %s", run_status_names[run->status]);
}

void run_log_guards(const struct run_log *log, struct guard_hits *hits)
{
	if (log->kind != RUN_LOG_SCORE)
		check_training(log, hits);
	else if (log->score.root == NULL)
		guard_add(hits, GUARD_EXIT, true, "its output has no JSON object%s%s%s",
			  log->score_key != NULL ? " with the key \"" : "",
			  log->score_key != NULL ? log->score_key : "",
			  log->score_key != NULL ? "\"" : "");
	else if (!score_json_counts(&log->score))
		guard_add(hits, log->score.doubtful ? GUARD_PARSE : GUARD_EXIT, true, "%s",
			  log->score.why);
	else
		check_events(log, false, hits);
}

void run_log_same_work(const struct run_log *control, const struct run_log *variant,
		       struct guard_hits *hits)
{
	const struct {
		const char *name;
		double a, b;
	} settings[] = {
		{ "seed", control->run.seed, variant->run.seed },
		{ "world size", control->run.n_gpus, variant->run.n_gpus },
		{ "batch", control->run.train_batch_tokens, variant->run.train_batch_tokens },
		{ "planned steps", control->run.planned_steps, variant->run.planned_steps },
		{ "grad_accum", control->grad_accum, variant->grad_accum },
		{ "val_tokens", control->run.val_tokens, variant->run.val_tokens },
	};
	char why[96];

	if (control->kind != variant->kind && (control->n_rows > 0 || variant->n_rows > 0)) {
		guard_add(hits, GUARD_SAME, true,
			  "one log is a training log, the other contains a score");
	} else if (control->kind == RUN_LOG_SCORE) {
		if (score_json_counts(&control->score) && score_json_counts(&variant->score) &&
		    !score_json_same_work(&control->score, &variant->score, why, sizeof(why)))
			guard_add(hits, GUARD_SAME, true, "%s", why);
	} else if (control->kind == RUN_LOG_WALL &&
		   (control->n_rows > 0) != (variant->n_rows > 0)) {
		guard_add(hits, GUARD_SAME, true, "only the %s's output has training rows",
			  control->n_rows > 0 ? "control" : "variant");
	} else if (control->n_rows > 0 && variant->n_rows > 0) {
		for (size_t i = 0; i < LENGTH(settings); i++) {
			char a[32] = "not printed", b[32] = "not printed";

			if (!isnan(settings[i].a))
				print_into(a, "%.17g", settings[i].a);
			if (!isnan(settings[i].b))
				print_into(b, "%.17g", settings[i].b);
			if (strcmp(a, b) != 0)
				guard_add(hits, GUARD_SAME, true, "%s is %s, the control's is %s",
					  settings[i].name, b, a);
		}
		double end = variant->rows[variant->n_rows - 1].step;
		double control_end = control->rows[control->n_rows - 1].step;
		if (is_end_unknown(&variant->run) && end < control_end)
			guard_add(hits, GUARD_EXIT, true,
				  "its log ends at step %.0f, the control's at step %.0f", end,
				  control_end);
	}
}
