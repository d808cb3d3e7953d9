/* SPDX-License-Identifier: MIT */
/* Runs into a leaderboard, from whatever a user names; called by `board`. */
#include "config.h"

#include "board/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "board/harness.h"
#include "board/print.h"
#include "ingest/parse_files.h"
#include "parsers/json.h"
#include "parsers/run_reader.h"
#include "parsers/run_rows.h"
#include "store/query.h"

#define MAX_VALUES 1000U
#define READ_BYTES 65536U
#define SHOWN_SHA  12
#define TABLE_MAX  (64U * 1024 * 1024)
#define STDIN_NAME "stdin"

static void
complain_err(struct board_input *input, const struct err *err)
{
	say_error("%s", err->text);
	input->status = err_exit_status(err->code);
}

int
board_input_group_by(struct board_input *input, const char *text,
		     struct err *err)
{
	static const struct {
		const char *name;
		enum board_by by;
	} words[] = {
		{ "dirname", BOARD_BY_DIRNAME },
		{ "file", BOARD_BY_FILE },
		{ "source", BOARD_BY_SOURCE },
		{ "pod", BOARD_BY_POD },
	};

	pattern_free(input->pattern);
	input->pattern = NULL;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].name, text) == 0) {
			input->by = words[i].by;
			return 0;
		}
	}
	input->pattern = pattern_new_path(text, err);
	if (input->pattern == NULL)
		return err_prefix(err,
				  "--group-by takes dirname, file, source, "
				  "pod or a pattern");
	input->by = BOARD_BY_PATTERN;
	return 0;
}

void
board_input_release(struct board_input *input)
{
	pattern_free(input->pattern);
	input->pattern = NULL;
	score_board_release(&input->scores);
}

static char *
key_by_pattern(const struct board_input *input, const char *path)
{
	struct str taken;
	int found = pattern_take(input->pattern, path, &taken);

	if (found == 1)
		return xstrndup(taken.p, taken.len);
	return xstrdup(found == 0 ? "(not matched)" : "(pattern gave up)");
}

/* The key of the group that a run belongs to; owned. */
static char *
key_of(const struct board_input *input, const char *path, const struct run *run)
{
	if (input->forced_key != NULL)
		return xstrdup(input->forced_key);
	switch (input->by) {
	case BOARD_BY_FILE:
		return xstrdup(path);
	case BOARD_BY_SOURCE:
		return run->source_sha256 == NULL
			       ? xstrdup("(no script in the log)")
			       : xstrndup(run->source_sha256, SHOWN_SHA);
	case BOARD_BY_POD:
		return xstrdup("(files here)");
	case BOARD_BY_PATTERN:
		return key_by_pattern(input, path);
	case BOARD_BY_DIRNAME:
		break;
	}
	return file_folder(path);
}

static struct board_row *
add_run(struct board_input *input, const char *path, const char *key,
	const char *sha256, const struct run *run)
{
	struct board_row *row = board_add(input->board, path, key, sha256, run);

	if (row != NULL)
		input->n_runs++;
	else if (input->n_dropped++ == 0)
		say_error("more runs than a board takes; the rest is left out");
	return row;
}

/* A verifier's output, beside the runs. */
static void
take_score(struct board_input *input, const char *path,
	   const struct score_row *score)
{
	const struct run none = { .source_sha256 = NULL };
	AUTO_TEXT key = key_of(input, path, &none);

	score_board_add(&input->scores, key, score);
}

/* One log that was read. */
struct reading {
	struct board_input *input;
	const struct log_path *const *files; /* in the order of reading */
	size_t next;
};

static void
take_file(void *user, struct parsed_file *file)
{
	struct reading *reading = user;
	struct board_input *input = reading->input;
	const struct log_path *path = reading->files[reading->next++];

	input->n_files++;
	for (size_t i = 0; i < file->n_runs; i++) {
		AUTO_TEXT key = key_of(input, file->path, &file->runs[i]);

		(void)add_run(input, file->path, key, file->sha256,
			      &file->runs[i]);
	}
	if (file->score != NULL)
		take_score(input, file->path, file->score);
	if (file->err.code != ERR_NONE) {
		complain_err(input, &file->err);
	} else if (file->score != NULL) {
		return;
	} else if (file->n_runs == 0 && path->named) {
		say_error("%s: %s", file->path,
			  file->bytes == 0 ? "empty" : "no training run in it");
	}
}

/* A table under way: its rows may name their files and groups. */
struct table {
	struct board_input *input;
	const char *path;
	const char *key; /* of rows that name neither file nor group */
	size_t n_rows;
};

static void
take_row(void *user, const struct run_row *row)
{
	struct table *table = user;
	struct board_input *input = table->input;
	struct board_row *added;
	const char *path = row->file != NULL ? row->file : table->path;
	bool by_file = row->file != NULL || input->forced_key != NULL;
	AUTO_TEXT key = input->forced_key == NULL && row->group != NULL
				? xstrdup(row->group)
			: by_file ? key_of(input, path, &row->run)
				  : xstrdup(table->key);

	added = add_run(input, path, key, row->sha256, &row->run);
	table->n_rows++;
	if (added != NULL && row->file == NULL)
		added->name = xasprintf("row %zu", table->n_rows);
}

static void
tell_unknown(void *user, const char *key)
{
	const struct table *table = user;

	/* What we print ourselves may be read again. */
	if (!board_is_key(key))
		say_error("%s: nothing is known of the column \"%s\"",
			  table->path, key);
}

/* The name of a table without directory and extension. */
static char *
table_key(const char *path)
{
	const char *name = file_name(path);
	const char *dot = strrchr(name, '.');

	return dot != NULL && dot > name ? xstrndup(name, (size_t)(dot - name))
					 : xstrdup(name);
}

static void
read_rows(struct board_input *input, const char *path, struct str text)
{
	static const struct run_rows_cb cb = { take_row, tell_unknown };
	AUTO_TEXT key = table_key(path);
	struct table table = { input, path, key, 0 };
	struct err err = { ERR_NONE, "" };
	struct score_row score;

	if (score_row_read(&score, text, NULL) == 0) {
		take_score(input, path, &score);
		score_row_release(&score);
		return;
	}
	if (run_rows_read(text, path, &cb, &table, &err) < 0)
		complain_err(input, &err);
}

static void
read_table(struct board_input *input, const char *path)
{
	struct err err = { ERR_NONE, "" };
	AUTO_BUF text = buf_new(TABLE_MAX);
	char block[READ_BYTES];
	FILE *stream = fopen(path, "rbe");
	size_t n;

	if (stream == NULL) {
		err_set_errno(&err, ERR_IO, "cannot open %s", path);
		complain_err(input, &err);
		return;
	}
	while ((n = fread(block, 1, sizeof(block), stream)) > 0)
		buf_append(&text, block, n);
	if (ferror(stream))
		err_set_errno(&err, ERR_IO, "cannot read %s", path);
	else if (text.truncated)
		err_set(&err, ERR_LIMIT, "%s: more than %u bytes", path,
			TABLE_MAX);
	(void)fclose(stream);
	if (err.code != ERR_NONE)
		complain_err(input, &err);
	else
		read_rows(input, path, (struct str){ text.data, text.len });
}

/* Does a text begin like a table of runs rather than like a log? */
static bool
looks_like_rows(struct str text)
{
	struct str trimmed = str_trim(text), rest = trimmed, line, cell;

	if (trimmed.len > 0 && trimmed.p[0] == '{')
		return true;
	if (trimmed.len > 0 && trimmed.p[0] == '[') {
		rest = str_trim((struct str){ trimmed.p + 1, trimmed.len - 1 });
		return rest.len > 0 && (rest.p[0] == '{' || rest.p[0] == ']');
	}
	if (!str_next(&rest, '\n', &line) ||
	    memchr(line.p, ',', line.len) == NULL)
		return false;
	while (str_next(&line, ',', &cell))
		if (run_number_by_name(str_trim(cell)) != NULL)
			return true;
	return false;
}

static void
take_stdin_run(void *user, const struct run *run)
{
	struct board_input *input = user;
	AUTO_TEXT key =
		input->by == BOARD_BY_DIRNAME && input->forced_key == NULL
			? xstrdup(STDIN_NAME)
			: key_of(input, STDIN_NAME, run);

	(void)add_run(input, STDIN_NAME, key, NULL, run);
}

/* Standard input: rows when it begins like them, else a log. */
static void
read_stdin(struct board_input *input)
{
	static const struct run_reader_cb cb = { .on_run = take_stdin_run };
	struct run_reader *reader = NULL;
	AUTO_BUF text = buf_new(TABLE_MAX);
	char block[READ_BYTES];
	size_t n;

	while ((n = fread(block, 1, sizeof(block), stdin)) > 0) {
		if (reader == NULL && text.len == 0 &&
		    !looks_like_rows((struct str){ block, n }))
			reader = run_reader_new(input->formats, &cb, input);
		if (reader != NULL)
			run_reader_feed(reader, block, n);
		else
			buf_append(&text, block, n);
	}
	if (reader != NULL)
		run_reader_finish(reader);
	else
		read_rows(input, STDIN_NAME,
			  (struct str){ text.data, text.len });
	run_reader_free(reader);
}

static void
read_logs(struct board_input *input, const struct log_paths *paths)
{
	const struct parse_options how = { input->formats, 0, true };
	const struct log_path **files =
		xcalloc(paths->n + 1, sizeof(struct log_path *));
	char **names = xcalloc(paths->n + 1, sizeof(char *));
	struct reading reading = { input, files, 0 };
	size_t n = 0;

	for (size_t i = 0; i < paths->n; i++) {
		if (paths->v[i].table || strcmp(paths->v[i].path, "-") == 0)
			continue;
		files[n] = &paths->v[i];
		names[n++] = paths->v[i].path;
	}
	parse_files(names, n, &how, take_file, &reading);
	free(names);
	free(files);
}

void
board_input_read(struct board_input *input, char *const *argv, size_t n)
{
	struct log_paths paths;

	for (size_t i = 0; i < n; i++)
		(void)board_harness_add(&input->scores, argv[i]);
	log_paths_find(&paths, argv, n);
	if (paths.n == LOG_PATHS_MAX)
		say_error("more files than can be read at once; the rest is "
			  "left out");
	read_logs(input, &paths);
	for (size_t i = 0; i < paths.n; i++) {
		if (strcmp(paths.v[i].path, "-") == 0)
			read_stdin(input);
		else if (paths.v[i].table)
			read_table(input, paths.v[i].path);
	}
	log_paths_release(&paths);
}

/* A walk over the database: the mirrors of logs by pod, path, generation. */
struct walk {
	struct board_input *input;
	struct map mirrors; /* values owned */
};

static char *
mirror_key(const char *pod, const char *path, unsigned int gen)
{
	return xasprintf("%s:%u:%s", pod, gen, path);
}

static int
take_tail(void *user, const struct stored_tail *tail)
{
	struct walk *walk = user;
	AUTO_TEXT key = mirror_key(tail->pod, tail->path, tail->gen);

	if (tail->mirror != NULL)
		free(map_set(&walk->mirrors, str_from(key),
			     xstrdup(tail->mirror)));
	return 0;
}

int
board_input_group_conf(struct board_input *input, const struct conf *conf,
		       struct err *err)
{
	const char *text = conf->group_by == CONF_BY_PATTERN
				   ? conf->group_pattern
				   : conf_group_name(conf->group_by);

	return board_input_group_by(input, text, err);
}

char *
board_input_key(const struct board_input *input,
		const struct stored_run *stored)
{
	return input->by == BOARD_BY_POD
		       ? xstrdup(stored->pod)
		       : key_of(input, stored->path, &stored->run);
}

/* One run of the database, named "pod:file". */
static int
take_stored(void *user, const struct stored_run *stored)
{
	struct walk *walk = user;
	struct board_input *input = walk->input;
	AUTO_TEXT key = board_input_key(input, stored);
	AUTO_TEXT path = xasprintf("%s:%s", stored->pod, stored->path);
	AUTO_TEXT tail = mirror_key(stored->pod, stored->path, stored->gen);
	struct board_row *row = add_run(input, path, key, NULL, &stored->run);

	if (row != NULL) {
		row->name = xasprintf("%s:%s", stored->pod,
				      file_name(stored->path));
		row->log =
			xstrdup_null(map_get(&walk->mirrors, str_from(tail)));
	}
	return 0;
}

int
board_input_store(struct board_input *input, struct store *store,
		  struct err *err)
{
	struct walk walk = { .input = input };
	int status;

	map_init(&walk.mirrors);
	status = store_each_tail(store, take_tail, &walk, err);
	if (status == 0)
		status = store_each_run(store, 0, take_stored, &walk, err);
	map_release(&walk.mirrors, free);
	return status;
}

/* All of text as numbers between commas; how many, or 0. */
static size_t
split_values(struct str text, double *values)
{
	struct str piece;
	size_t n = 0;

	while (str_next(&text, ',', &piece)) {
		if (n == MAX_VALUES ||
		    !str_to_double(str_trim(piece), &values[n]) ||
		    !run_has(values[n]) || values[n] - values[n] != 0)
			return 0;
		n++;
	}
	return n;
}

int
board_input_values(struct board_input *input, const char *text,
		   const char *default_name, struct err *err)
{
	const char *equals = strrchr(text, '=');
	AUTO_TEXT name = equals != NULL && equals > text
				 ? xstrndup(text, (size_t)(equals - text))
				 : xstrdup(default_name);
	double values[MAX_VALUES];
	size_t n = split_values(str_from(equals != NULL ? equals + 1 : text),
				values);

	if (n == 0)
		return err_set(err, ERR_USAGE,
			       "\"%s\" is no list of numbers: v1,v2,..", text);
	board_add_values(input->board, name, values, n);
	input->n_runs += n;
	return 0;
}

/* Read what text names into one group of its own. */
static int
baseline_from_files(struct board_input *input, const char *text,
		    struct err *err)
{
	AUTO_TEXT path = xstrdup(text);
	size_t before = input->n_runs;

	input->forced_key = text;
	board_input_read(input, &path, 1);
	input->forced_key = NULL;
	if (input->n_runs == before)
		return err_set(err, ERR_NODATA, "the baseline %s holds no run",
			       text);
	return board_set_baseline(input->board, text, err);
}

int
board_input_baseline(struct board_input *input, const char *text,
		     struct err *err)
{
	struct err no_group = { ERR_NONE, "" };
	struct stat st;

	if (board_set_baseline(input->board, text, &no_group) == 0)
		return 0;
	if (no_group.code == ERR_NODATA &&
	    board_input_values(input, text, "baseline", NULL) == 0) {
		input->board->groups[input->board->n_groups - 1].is_baseline =
			true;
		return 0;
	}
	if (no_group.code == ERR_NODATA &&
	    (stat(text, &st) == 0 || strpbrk(text, "*?[") != NULL))
		return baseline_from_files(input, text, err);
	return err_set(err, ERR_USAGE, "%s", no_group.text);
}
