/* SPDX-License-Identifier: MIT */
/* Build a leaderboard from files, tables, stdin or the database, for several commands. */
#include "board/input.h"

#include "base/fd.h"
#include "base/file.h"
#include "base/say.h"
#include "board/print.h"
#include "harness/dir.h"
#include "harness/pod.h"
#include "ingest/parse_files.h"
#include "model/run_names.h"
#include "parsers/harness/run.h"
#include "parsers/run_rows.h"
#include "parsers/run_series.h"

/* A HarnessGym run whose scores are added to a board. */
struct adding {
	struct score_board *board;
	const struct harness_files *files;
	const struct harness_run *run;
};

static double number_or_absent(struct harness_number number)
{
	return number.present ? number.value : (double)NAN;
}

/* Add one output of the run's command, unless the command could not measure. */
static void add_output(const struct adding *a, const char *key, const struct harness_post *post,
		       enum harness_kind kind, unsigned int number)
{
	const struct harness_file *file =
		harness_files_find(a->files, kind, a->run->dir, number, 0);
	struct score_row row;

	if (!post->present || post->failure != HARNESS_FAILURE_NONE || file == NULL ||
	    score_row_read(&row, (struct str){ file->text, file->len }, NULL) != 0)
		return;
	score_row_set_effort(&row, number_or_absent(a->run->warmup),
			     number_or_absent(a->run->repeats));
	if (post->passed != HARNESS_YES)
		row.json.passed = false;
	score_board_add(a->board, key, &row);
	score_row_release(&row);
}

static void add_harness_run(const struct adding *a)
{
	const struct harness_run *run = a->run;
	const struct harness_restore *restore = &run->restore;
	AUTO_TEXT baseline = xasprintf("%s baseline", run->id);

	if (run->has_baseline)
		add_output(a, baseline, &run->baseline, HARNESS_BASELINE_OUT, 0);
	array_each (it, run->iterations, run->n_iterations) {
		AUTO_TEXT key = xasprintf("%s iteration %u", run->id, it->number);

		if (it->proof <= HARNESS_PROOF_EARLY)
			continue; /* only the agent can have measured it */
		add_output(a, key, &it->post, HARNESS_POST_OUT, it->number);
		if (restore->iteration.present && restore->iteration.value == it->number)
			add_output(a, key, &restore->post, HARNESS_RESTORED_OUT, 0);
	}
}

/* Add the scores of a HarnessGym workspace (or of one run's folder): a group for the baseline and
 * for each iteration, since each is different code.  A restored checkpoint counts with its
 * iteration.  Warm-up and repeats come from the run's command line.  Outputs of commands that
 * failed because of SSH, GPU or disk are skipped.  Does nothing if path is not such a folder. */
static void add_harness(struct score_board *board, const char *path)
{
	struct harness_files files;
	struct harness_wire wire;
	struct harness_workspace ws;

	if (!harness_dir_is(path, false))
		return;
	harness_files_init(&files);
	harness_wire_init(&wire, &files);
	if (harness_pod_fetch(NULL, path, &wire, NULL) == 0 && strcmp(wire.what, "compare") != 0) {
		harness_workspace_read(&ws, &files, wire.now_ms);
		for (size_t i = 0; i < ws.n_runs; i++)
			add_harness_run(&(struct adding){ board, &files, &ws.runs[i] });
		harness_workspace_release(&ws);
	}
	harness_wire_release(&wire);
	harness_files_release(&files);
}

#define MAX_VALUES 1000U
#define READ_BYTES 65536U
#define SHOWN_SHA  12
#define TABLE_MAX  (64U * 1024 * 1024)
#define STDIN_NAME "stdin"

static void report_error(struct board_input *input, const struct err *err)
{
	say_error("%s", err->text);
	input->status = err_exit_status(err->code);
}

/* Set what runs are grouped by; pattern is used for CONF_BY_PATTERN only. */
static int set_group_by(struct board_input *input, enum conf_group_by by, const char *pattern,
			struct err *err)
{
	pattern_free(input->pattern);
	input->by = by;
	input->pattern = by == CONF_BY_PATTERN ? pattern_new_path(pattern, err) : NULL;
	if (by == CONF_BY_PATTERN && input->pattern == NULL)
		return err_prefix(err, "--group-by takes dirname, file, source, pod or a pattern");
	return 0;
}

void board_input_release(struct board_input *input)
{
	pattern_free(input->pattern);
	input->pattern = NULL;
	score_board_release(&input->scores);
}

/* The key of the group that the run belongs to; owned. */
static char *get_key(const struct board_input *input, const char *path, const struct run *run)
{
	struct str taken;
	int found;

	if (input->forced_key != NULL)
		return xstrdup(input->forced_key);
	switch (input->by) {
	case CONF_BY_FILE:
		return xstrdup(path);
	case CONF_BY_SOURCE:
		return run->source_sha256 == NULL ? xstrdup("(no script in the log)")
						  : xstrndup(run->source_sha256, SHOWN_SHA);
	case CONF_BY_POD:
		return xstrdup("(local files)");
	case CONF_BY_PATTERN:
		found = pattern_capture(input->pattern, path, &taken);
		if (found == 1)
			return xstrndup(taken.p, taken.len);
		return xstrdup(found == 0 ? "(not matched)" : "(pattern exceeded its limit)");
	case CONF_BY_DIRNAME:
		break;
	}
	return run_names_group(path);
}

static struct board_row *add_run(struct board_input *input, const char *path, const char *key,
				 const char *sha256, const struct run *run)
{
	struct board_row *row = board_add(input->board, path, key, sha256, run);

	if (row != NULL && input->usd_per_hour > 0)
		board_row_price(row, input->usd_per_hour);
	if (row != NULL)
		input->n_runs++;
	else if (input->n_dropped++ == 0)
		say_error("too many runs for a board; ignoring the rest");
	return row;
}

static void add_verifier_score(struct board_input *input, const char *path,
			       const struct score_row *score)
{
	AUTO_TEXT key = get_key(input, path, &(struct run){ .source_sha256 = NULL });

	score_board_add(&input->scores, key, score);
}

static void on_file(void *user, struct parsed_file *file)
{
	struct board_input *input = user;

	input->n_files += file->err.code == ERR_NONE;
	for (size_t i = 0; i < file->n_runs; i++) {
		AUTO_TEXT key = get_key(input, file->path, &file->runs[i]);

		(void)add_run(input, file->path, key, file->sha256, &file->runs[i]);
	}
	if (file->score != NULL)
		add_verifier_score(input, file->path, file->score);
	if (file->err.code != ERR_NONE) {
		report_error(input, &file->err);
	} else if (file->score == NULL && file->n_runs == 0 && file->from->named) {
		input->n_empty++;
		if (file->bytes == 0)
			say_error("%s: empty", file->path);
		else
			say_error("%s: no training rows or score recognized; try: hgym-tui formats "
				  "learn %s",
				  file->path, file->path);
	}
}

/* A table that is being read; its rows may name their files and groups. */
struct table {
	struct board_input *input;
	const char *path;
	const char *key; /* for rows that name neither */
	size_t n_rows;
};

static void on_row(void *user, const struct run_row *row)
{
	struct table *table = user;
	struct board_input *input = table->input;
	const char *path = row->file != NULL ? row->file : table->path;
	bool by_file = row->file != NULL || input->forced_key != NULL;
	AUTO_TEXT key = input->forced_key == NULL && row->group != NULL ? xstrdup(row->group)
			: by_file ? get_key(input, path, &row->run)
				  : xstrdup(table->key);
	struct board_row *added = add_run(input, path, key, row->sha256, &row->run);

	table->n_rows++;
	if (added != NULL && row->file == NULL)
		added->name = xasprintf("row %zu", table->n_rows);
}

static void on_unknown_column(void *user, const char *key)
{
	const struct table *table = user;

	/* Tables that hgym-tui wrote have more columns than a run, and may be read again. */
	if (!board_is_key(key))
		say_error("%s: unknown column \"%s\"", table->path, key);
}

static void read_rows(struct board_input *input, const char *path, struct str text)
{
	static const struct run_rows_cb cb = { on_row, on_unknown_column };
	const char *name = file_name(path), *dot = strrchr(name, '.');
	AUTO_TEXT key =
		dot != NULL && dot > name ? xstrndup(name, (size_t)(dot - name)) : xstrdup(name);
	struct table table = { input, path, key, 0 };
	struct err err = { ERR_NONE, "" };
	struct score_row score;

	if (score_row_read(&score, text, NULL) == 0) {
		add_verifier_score(input, path, &score);
		score_row_release(&score);
		return;
	}
	if (run_rows_read(text, path, &cb, &table, &err) < 0)
		report_error(input, &err);
}

/* Does the text look like a table of runs, rather than a log? Docker's logs are JSON too. */
static bool looks_like_rows(struct str text)
{
	struct str trimmed = str_trim(text), rest = trimmed, line, cell;

	if (log_has_metrics(text))
		return false;
	if (trimmed.len > 0 && trimmed.p[0] == '{')
		return !str_starts_with(trimmed, "{\"log\":\"");
	if (trimmed.len > 0 && trimmed.p[0] == '[') {
		rest = str_trim(str_skip(trimmed, 1));
		return rest.len > 0 && (rest.p[0] == '{' || rest.p[0] == ']');
	}
	if (!str_next(&rest, '\n', &line) || memchr(line.p, ',', line.len) == NULL)
		return false;
	while (str_next(&line, ',', &cell))
		if (run_number_by_name(str_trim(cell)) != NULL)
			return true;
	return false;
}

/* A stream that is being read, and the name under which its runs are shown. */
struct stream {
	struct board_input *input;
	const char *name;
};

static void on_stream_run(void *user, const struct run *run)
{
	const struct stream *stream = user;
	struct board_input *input = stream->input;
	AUTO_TEXT key = input->by == CONF_BY_DIRNAME && input->forced_key == NULL
				? xstrdup(stream->name)
				: get_key(input, stream->name, run);

	(void)add_run(input, stream->name, key, NULL, run);
}

/* Read a stream: as a table if it looks like one, else as a log. */
static void read_stream(struct board_input *input, const char *path)
{
	static const struct run_reader_cb cb = { .on_run = on_stream_run };
	struct stream stream = { input, strcmp(path, "-") == 0 ? STDIN_NAME : path };
	struct run_reader *reader = run_reader_new(input->formats, &cb, &stream);
	struct err err = { ERR_NONE, "" };
	AUTO_BUF text = buf_new(TABLE_MAX);
	char block[READ_BYTES];
	struct stat st;
	bool is_table = false, is_log = false;
	int fd = file_open(path, true, &st, &err);
	ssize_t n = 0;

	while (fd >= 0 && (n = file_read_some(fd, block, sizeof(block))) > 0) {
		buf_append(&text, block, (size_t)n);
		if (text.truncated) {
			err_set(&err, ERR_LIMIT, "%s is too large for a table", stream.name);
			break;
		}
		if (!is_log && !is_table && text.len >= READ_BYTES) {
			is_table = looks_like_rows(buf_str(&text));
			is_log = !is_table;
		}
		if (!is_log)
			continue;
		run_reader_feed(reader, text.data, text.len);
		buf_clear(&text);
	}
	if (n < 0)
		err_set_errno(&err, ERR_IO, "cannot read %s", path);
	if (err.code != ERR_NONE) {
		report_error(input, &err);
	} else if (!is_log && looks_like_rows(buf_str(&text))) {
		read_rows(input, stream.name, buf_str(&text));
	} else {
		run_reader_feed(reader, text.data, text.len);
		run_reader_finish(reader);
	}
	run_reader_free(reader);
	fd_close(&fd);
}

/* Read logs, tables, directories, globs and "-". Files that cannot be read are reported on stderr
 * and set the status; the rest is read. */
static void read_paths(struct board_input *input, char *const *argv, size_t n)
{
	const struct parse_options how = { input->formats, 0, true };
	struct log_paths paths;
	size_t n_logs = 0;

	for (size_t i = 0; i < n; i++)
		add_harness(&input->scores, argv[i]);
	log_paths_find(&paths, argv, n);
	if (paths.n >= LOG_PATHS_MAX)
		say_error("too many files to read at once; ignoring the rest");
	AUTO_FREE struct log_path *logs = xcalloc(paths.n, sizeof(*logs));
	array_each (path, paths.v, paths.n)
		if (!path->table && !path->stream)
			logs[n_logs++] = *path;
	parse_files(logs, n_logs, &how, on_file, input);
	array_each (path, paths.v, paths.n) {
		struct err err = { ERR_NONE, "" };
		AUTO_BUF text = buf_new(TABLE_MAX);

		if (path->stream)
			read_stream(input, path->path);
		else if (path->table && file_read(path->path, &text, &err) != 0)
			report_error(input, &err);
		else if (path->table)
			read_rows(input, path->path, buf_str(&text));
	}
	log_paths_release(&paths);
}

int board_input_group_conf(struct board_input *input, const struct conf *conf, struct err *err)
{
	return set_group_by(input, conf->group_by, conf->group_pattern, err);
}

char *board_input_key(const struct board_input *input, const struct stored_run *stored)
{
	return input->by == CONF_BY_POD ? xstrdup(stored->pod)
					: get_key(input, stored->path, &stored->run);
}

/* Add a run of the database, named "pod:file". */
static int on_stored_run(void *user, const struct stored_run *stored)
{
	struct board_input *input = user;
	AUTO_TEXT key = board_input_key(input, stored);
	AUTO_TEXT path = xasprintf("%s:%s", stored->pod, stored->path);
	struct board_row *row = add_run(input, path, key, NULL, &stored->run);
	int pod = conf_find_pod(input->conf, stored->pod);

	if (row != NULL) {
		row->name = xasprintf("%s:%s", stored->pod, file_name(stored->path));
		row->log = xstrdup_null(stored->copy);
		if (pod >= 0 && !(input->usd_per_hour > 0))
			board_row_price(row, input->conf->pods[pod].usd_per_hour);
	}
	return 0;
}

/* Add a group of bare scores: "[NAME=]v1,v2,..". */
static int add_values(struct board_input *input, const char *text, const char *default_name,
		      struct err *err)
{
	const char *equals = strrchr(text, '=');
	AUTO_TEXT name = equals != NULL && equals > text ? xstrndup(text, (size_t)(equals - text))
							 : xstrdup(default_name);
	double values[MAX_VALUES];
	struct str rest = str_from(equals != NULL ? equals + 1 : text), piece;
	size_t n = 0;
	bool is_list = true;

	while (is_list && str_next(&rest, ',', &piece)) {
		is_list = n < MAX_VALUES && str_to_double(str_trim(piece), &values[n]) &&
			  isfinite(values[n]);
		n++;
	}
	if (!is_list || n == 0)
		return err_set(err, ERR_USAGE, "\"%s\" is not a list of numbers: v1,v2,..", text);
	board_add_values(input->board, name, values, n);
	input->n_runs += n;
	return 0;
}

/* Set the baseline to what the user gave: "[NAME=]v1,v2,..", an existing group, or logs, a table or
 * a directory, which become one group. */
static int set_baseline(struct board_input *input, const char *text, struct err *err)
{
	struct err no_group = { ERR_NONE, "" };
	struct stat st;

	if (board_set_baseline(input->board, text, &no_group) == 0)
		return 0;
	if (no_group.code == ERR_NODATA && add_values(input, text, "baseline", NULL) == 0) {
		input->board->groups[input->board->n_groups - 1].is_baseline = true;
		return 0;
	}
	if (no_group.code != ERR_NODATA || (stat(text, &st) != 0 && strpbrk(text, "*?[") == NULL))
		return err_set(err, ERR_USAGE, "%s", no_group.text);
	AUTO_TEXT path = xstrdup(text);
	size_t before = input->n_runs;
	input->forced_key = text;
	read_paths(input, &path, 1);
	input->forced_key = NULL;
	if (input->n_runs == before)
		return err_set(err, ERR_NODATA, "no run found in the baseline %s", text);
	return board_set_baseline(input->board, text, err);
}

/* A board that is being built: what the user asked for, and where its runs come from. */
struct builder {
	struct context *context;
	const struct board_ask *ask;
	char *const *paths;
	size_t n_paths; /* 0: the database */
	struct board_built *built;
};

/* Is this the name of a run's number that can score a track?  Other names are metrics. */
static bool is_key_of_score(struct str name)
{
	return run_number_by_name(name) != NULL &&
	       (str_ends_with(name, "_bpb") || str_ends_with(name, "_loss"));
}

/* Choose the track: the given one, else the configuration's, else what each group's logs show. */
static int choose_track(const struct builder *b, struct err *err)
{
	struct board *board = &b->built->board;
	const char *name = b->ask->track != NULL ? b->ask->track : context_track_name(b->context);

	/* Tracks have no rules for other metrics. */
	if (b->ask->track == NULL && b->ask->score != NULL &&
	    !is_key_of_score(str_from(b->ask->score)))
		name = TRACK_METRIC;
	board->target_metric = b->ask->score_metric;
	if (name == NULL) {
		board->tracks = &b->context->tracks;
		board->track_from = "logs";
		return 0;
	}
	if (context_find_track(b->context, name, &b->built->track, err) != 0)
		return -1;
	if (b->ask->score != NULL && b->built->track.counts_steps)
		return err_set(err, ERR_USAGE,
			       "--score cannot be used with track %s, which counts steps; choose "
			       "the metric of its target with --score-metric",
			       name);
	board->track = &b->built->track;
	if (b->ask->track == NULL && name == b->context->conf.track)
		board->track_from = "configuration";
	return 0;
}

/* Check that a run has the chosen metric.  If none has, the error lists the known metrics. */
static int check_metric(const struct board *board, struct err *err)
{
	AUTO_BUF names = buf_new(1024);
	const struct run *most = NULL;

	for (size_t i = 0; i < board->n_rows; i++) {
		const struct run *run = &board->rows[i]->run;

		if (run_series_find(run, board->chosen_name) != NULL)
			return 0;
		if (most == NULL || run->n_series > most->n_series)
			most = run;
	}
	for (size_t i = 0; most != NULL && i < most->n_series; i++)
		buf_appendf(&names, "%s%s", i > 0 ? ", " : "; known: ", most->series[i].name);
	return err_set(
		err, ERR_USAGE,
		"--score %s: no run has a metric with that name%s; or use a BPB or a loss of "
		"a run (final_bpb, ..)",
		board->chosen_name, names.data);
}

/* Use the baseline of the configuration, in the unit of the board's score. */
static int set_conf_baseline(struct board_input *input, const struct conf_baseline *from,
			     struct err *err)
{
	struct board *board = input->board;
	bool is_metric = board->chosen_name != NULL;
	const struct run_number *score = board->score != NULL ? board->score : board->track->score;
	bool loss = score != NULL && !str_ends_with(str_from(score->name), "_bpb");
	const double *values = loss ? from->val_loss : from->bpb;
	size_t n = loss ? from->n_val_loss : from->n_bpb;

	if (n == 0 && from->file != NULL)
		return set_baseline(input, from->file, err);
	if (n == 0 || from->name == NULL || is_metric)
		return 0;
	board_add_values(board, from->name, values, n);
	board->groups[board->n_groups - 1].is_baseline = true;
	return 0;
}

/* Read the runs: from the paths or, without paths and --values, from the database. */
static int read_runs(const struct builder *b, struct err *err)
{
	struct board_input *input = &b->built->input;

	if (b->n_paths > 0) {
		read_paths(input, b->paths, b->n_paths);
		return 0;
	}
	if (b->ask->n_values > 0)
		return 0;
	if (context_open(b->context, CONTEXT_DB, err) != 0)
		return -1;
	/* Runs of the same directory on several pods form one group. */
	return store_each_run(b->context->store, 0, on_stored_run, input, err);
}

static int build(const struct builder *b, struct err *err)
{
	struct board_input *input = &b->built->input;
	struct board *board = &b->built->board;
	const struct board_ask *ask = b->ask;
	const struct conf *conf = &b->context->conf;

	if ((ask->group_by != NULL
		     ? set_group_by(input, conf_group_of(ask->group_by), ask->group_by, err)
		     : board_input_group_conf(input, conf, err)) != 0 ||
	    read_runs(b, err) != 0 || choose_track(b, err) != 0)
		return -1;
	board->higher = ask->higher;
	if (ask->score != NULL && is_key_of_score(str_from(ask->score)))
		board->score = run_number_by_name(str_from(ask->score));
	else if (ask->score != NULL)
		board_choose_metric(board, ask->score);
	for (size_t i = 0; i < ask->n_values; i++) {
		char fallback[32];

		print_into(fallback, "values %zu", i + 1);
		if (add_values(input, ask->values[i], fallback, err) != 0)
			return err_prefix(err, "--values");
	}
	if (input->n_runs == 0 && input->scores.n == 0) {
		enum err_code code = input->status != 0 ? ERR_IO : ERR_NODATA;

		/* If each path already got its own message, the error has no text. */
		if (input->n_files == input->n_empty && (input->n_files > 0 || input->status != 0))
			return err_set(err, code, "%s", "");
		if (b->n_paths == 0)
			return err_set(err, code, "no runs in the database yet; pass log files");
		return err_set(err, code, "no runs found in the given paths (%zu log%s read)",
			       input->n_files, input->n_files == 1 ? "" : "s");
	}
	if (input->n_runs > 0 && ask->baseline == NULL &&
	    set_conf_baseline(input, &conf->baseline, err) != 0)
		return -1;
	if (input->n_runs > 0 && ask->baseline != NULL && strcmp(ask->baseline, "none") != 0 &&
	    set_baseline(input, ask->baseline, err) != 0)
		return -1;
	if (board->chosen_name != NULL && check_metric(board, err) != 0)
		return -1;
	if (ask->nats_per_bpb > 0) {
		board->nats_per_bpb = ask->nats_per_bpb;
		board->nats_source = "--nats-per-bpb";
	} else if (ask->baseline == NULL && run_has(conf->baseline.nats_per_bpb)) {
		board->nats_per_bpb = conf->baseline.nats_per_bpb;
		board->nats_source = "the configuration";
	}
	board->excluded = ask->excluded;
	board->n_excluded = ask->n_excluded;
	board_compute(board);
	for (size_t i = 0; i < ask->n_excluded; i++)
		if (!any_of(k, board->n_rows, board_excludes(board->rows[k], ask->excluded[i])))
			return err_set(err, ERR_USAGE, "--exclude %s: no such run",
				       ask->excluded[i]);
	return 0;
}

struct board_built *board_build(struct context *context, char *const *paths, size_t n_paths,
				const struct board_ask *ask, struct err *err)
{
	struct board_built *built = xcalloc(1, sizeof(*built));
	const struct builder b = { context, ask, paths, n_paths, built };

	board_init(&built->board, &built->no_track);
	built->input.board = &built->board;
	built->input.formats = context->formats;
	built->input.conf = &context->conf;
	built->input.usd_per_hour = ask->usd_per_hour;
	if (build(&b, err) != 0) {
		board_built_free(built);
		return NULL;
	}
	return built;
}

void board_built_free(struct board_built *built)
{
	if (built == NULL)
		return;
	board_release(&built->board);
	board_input_release(&built->input);
	track_release(&built->track);
	free(built);
}
