/* SPDX-License-Identifier: MIT */
/* Find logs by names, globs and directories, and parse them on several cores (parse, board). */
#include "ingest/parse_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/map.h"
#include "parsers/linebuf.h"
#include "parsers/metric_rows.h"

#define READ_BYTES ((size_t)256 * 1024)
/* Scripts that a reader remembers, because each run of a recipe prints the same one. */
#define KNOWN_SCRIPTS 24
#define MAX_JOBS      64U
/* Start one more thread for each of this many bytes. */
#define BYTES_PER_JOB ((uint64_t)8 * 1024 * 1024)

/* State of one thread, reused from file to file. */
struct worker {
	struct run_reader *reader;
	char *block;	  /* READ_BYTES */
	struct buf start; /* start of a file that may be a verifier's output */
	struct sha256 sha;
	bool hash;
};

static void keep_run(void *user, const struct run *run)
{
	struct parsed_file *file = user;

	run_copy(xplace(file->runs, file->n_runs, file->cap_runs), run);
}

static int open_log(const char *path, struct stat *st, struct err *err)
{
	if (file_packed_end(path) != NULL)
		return err_set(err, ERR_IO, "%s: compressed: unpack it first", path);
	int fd = file_open(path, true, st, err);
	if (fd < 0 || !S_ISDIR(st->st_mode))
		return fd;
	(void)close(fd);
	return err_set(err, ERR_IO,
		       "%s: no logs in this directory (*.log, *.txt, *.out, *.stdout, "
		       "*metrics*.csv, ..); name the files to read",
		       path);
}

int log_read(const char *path, struct run_reader *reader, struct err *err)
{
	struct stat st;
	int fd = open_log(path, &st, err);
	char block[65536];
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = file_read_some(fd, block, sizeof(block))) > 0)
		run_reader_feed(reader, block, (size_t)n);
	run_reader_finish(reader);
	if (n < 0)
		err_set_errno(err, ERR_IO, "cannot read %s", path);
	(void)close(fd);
	return n < 0 ? -1 : 0;
}

/* Parse an open file. A regular file is read up to its present size: it may be growing. */
static void read_log(struct parsed_file *file, int fd, const struct stat *st, struct worker *worker)
{
	struct run_reader *reader = worker->reader;
	uint64_t left = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : UINT64_MAX;
	ssize_t n = 0;
	struct score_row score;

	run_reader_reset(reader, file);
	buf_clear(&worker->start);
	worker->start.truncated = left != UINT64_MAX && left > SCORE_ROW_MAX_BYTES;
	while (left > 0) {
		n = file_read_some(fd, worker->block,
				   left < READ_BYTES ? (size_t)left : READ_BYTES);
		if (n <= 0)
			break;
		left -= (uint64_t)n;
		run_reader_feed(reader, worker->block, (size_t)n);
		if (run_reader_current(reader) != NULL)
			worker->start.truncated = true; /* a log with a run is not a score */
		if (!worker->start.truncated)
			buf_append(&worker->start, worker->block, (size_t)n);
		if (worker->hash)
			sha256_update(&worker->sha, worker->block, (size_t)n);
	}
	if (n < 0)
		err_set_errno(&file->err, ERR_IO, "cannot read %s", file->path);
	run_reader_finish(reader);
	/* A file without a run may be the output of a verifier or a benchmark. */
	if (file->n_runs == 0 && !worker->start.truncated &&
	    score_row_read(&score, buf_str(&worker->start), NULL) == 0) {
		file->score = xmalloc(sizeof(score));
		*file->score = score;
	}
	file->lines = run_reader_lines(reader);
	file->bytes = run_reader_bytes(reader);
	if (worker->hash)
		sha256_hex(&worker->sha, file->sha256);
}

/* Feed the entries of Hugging Face's trainer_state.json, which are like lines of a metrics file. */
static void feed_trainer_state(struct run_reader *reader, const cJSON *state)
{
	double planned = json_get_number(state, "max_steps", 0);
	cJSON *entry;

	cJSON_ArrayForEach(entry, json_get(state, "log_history"))
	{
		AUTO_BUF line = buf_new(LINE_MAX_BYTES);

		if (planned > 0 && json_get(entry, "max_steps") == NULL)
			json_add_number(entry, "max_steps", planned);
		json_print(&line, entry);
		buf_append_char(&line, '\n');
		run_reader_feed(reader, line.data, line.len);
	}
}

/* Feed the eval_results.json of KernelBench: for each problem a sample, or a list of samples. One
 * correct sample solves a problem; the fastest one gives its time. */
static void feed_kernel_results(struct run_reader *reader, const cJSON *results)
{
	size_t n = 0, n_compiled = 0, n_correct = 0;
	AUTO_BUF lines = buf_new(JSON_MAX_BYTES);

	if (!cJSON_IsObject(results))
		return;
	json_each (problem, results) {
		const cJSON *sample = cJSON_IsArray(problem) ? problem->child : problem;
		bool is_compiled = false, is_correct = false, is_list = sample != problem;
		double best = (double)INFINITY;

		if (!cJSON_IsObject(sample) || json_get(sample, "correctness") == NULL)
			return; /* written by another program */
		for (; sample != NULL; sample = is_list ? sample->next : NULL) {
			is_compiled |= cJSON_IsTrue(json_get(sample, "compiled"));
			if (!cJSON_IsTrue(json_get(sample, "correctness")))
				continue;
			is_correct = true;
			double runtime = json_get_number(sample, "runtime", -1);
			best = runtime > 0 ? fmin(best, runtime) : best;
		}
		n++;
		n_compiled += is_compiled;
		n_correct += is_correct;
		if (isfinite(best) && str_has_only(str_from(problem->string), "0123456789"))
			buf_appendf(&lines, "KernelBench problem %s runtime (ms): %.9g\n",
				    problem->string, best);
	}
	AUTO_TEXT sums = xasprintf("KernelBench problems: %zu\nKernelBench compiled: %zu\n"
				   "KernelBench correct: %zu\n",
				   n, n_compiled, n_correct);
	if (n > 0 && !lines.truncated) {
		run_reader_feed(reader, sums, strlen(sums));
		run_reader_feed(reader, lines.data, lines.len);
	}
}

/* Read a JSON document, recognized by its name. False for other files, or without a run. */
static bool read_document(struct parsed_file *file, struct worker *worker)
{
	bool is_state = strcmp(file_name(file->path), "trainer_state.json") == 0;
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	AUTO_JSON root = NULL;

	if (!is_state && strcmp(file_name(file->path), "eval_results.json") != 0)
		return false;
	if (file_read(file->path, &text, NULL) == 0)
		root = json_parse(buf_str(&text), JSON_BARE_TEXT, NULL);
	file->bytes = text.len;
	run_reader_reset(worker->reader, file);
	if (is_state)
		feed_trainer_state(worker->reader, root);
	else
		feed_kernel_results(worker->reader, root);
	run_reader_finish(worker->reader);
	return file->n_runs > 0;
}

/* Work shared by the threads; each takes the next file. */
struct work {
	const struct parse_options *options;
	struct parsed_file *files;
	bool *done;
	size_t n, next;
	size_t given; /* files passed to fn */
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

/* How many files may be parsed before fn gets them; limits the memory. */
#define READ_AHEAD 256U

static void *work_thread(void *user)
{
	static const struct run_reader_cb cb = { .on_run = keep_run };
	struct work *work = user;
	struct worker worker = { .reader = run_reader_new(work->options->formats, &cb, NULL),
				 .block = xmalloc(READ_BYTES),
				 .hash = work->options->hash };

	run_reader_remember_scripts(worker.reader, KNOWN_SCRIPTS);
	buf_init(&worker.start, SCORE_ROW_MAX_BYTES);
	sha256_init(&worker.sha);
	for (;;) {
		pthread_mutex_lock(&work->lock);
		while (work->next < work->n && work->next > work->given + READ_AHEAD)
			pthread_cond_wait(&work->changed, &work->lock);
		size_t i = work->next++;
		pthread_mutex_unlock(&work->lock);
		if (i >= work->n)
			break;
		struct parsed_file *file = &work->files[i];
		struct stat st;
		int fd = -1;
		if (!read_document(file, &worker) &&
		    (fd = open_log(file->path, &st, &file->err)) >= 0)
			read_log(file, fd, &st, &worker);
		fd_close(&fd);
		pthread_mutex_lock(&work->lock);
		work->done[i] = true;
		pthread_cond_broadcast(&work->changed);
		pthread_mutex_unlock(&work->lock);
	}
	run_reader_free(worker.reader);
	free(worker.block);
	buf_release(&worker.start);
	sha256_release(&worker.sha);
	return NULL;
}

static unsigned int count_jobs(const struct log_path *paths, size_t n, unsigned int asked)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = 0;

	if (asked > 0)
		return MIN(asked, MAX_JOBS);
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		if (stat(paths[i].path, &st) == 0 && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	uint64_t useful = MIN(MIN(n, MAX_JOBS), bytes / BYTES_PER_JOB + 1);
	return (unsigned int)MIN(useful, (uint64_t)MAX(cores, 1));
}

void parse_files(const struct log_path *paths, size_t n, const struct parse_options *options,
		 parsed_file_fn fn, void *user)
{
	unsigned int jobs = count_jobs(paths, n, options->jobs), started = 0;
	AUTO_FREE struct parsed_file *files = xcalloc(n, sizeof(*files));
	AUTO_FREE bool *done = xcalloc(n, sizeof(bool));
	struct work work = { .options = options, .files = files, .done = done, .n = n };
	pthread_t threads[MAX_JOBS];

	for (size_t i = 0; i < n; i++) {
		files[i].from = &paths[i];
		files[i].path = paths[i].path;
	}
	pthread_mutex_init(&work.lock, NULL);
	pthread_cond_init(&work.changed, NULL);
	while (started < jobs && pthread_create(&threads[started], NULL, work_thread, &work) == 0)
		started++;
	if (started == 0) { /* no thread could be started: parse in this one */
		work.given = n;
		(void)work_thread(&work);
	}
	/* Pass on the files in order while the threads parse. */
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_lock(&work.lock);
		while (!work.done[i])
			pthread_cond_wait(&work.changed, &work.lock);
		work.given = i;
		pthread_cond_broadcast(&work.changed);
		pthread_mutex_unlock(&work.lock);
		fn(user, &files[i]);
		array_each (run, files[i].runs, files[i].n_runs)
			run_release(run);
		free(files[i].runs);
		if (files[i].score != NULL)
			score_row_release(files[i].score);
		free(files[i].score);
	}
	while (started > 0)
		pthread_join(threads[--started], NULL);
	pthread_cond_destroy(&work.changed);
	pthread_mutex_destroy(&work.lock);
}

/* ---- finding files */

#define MAX_DEPTH 32

struct finder {
	struct log_paths *paths;
	struct map seen; /* "device:inode" of each file */
	bool is_list;	 /* called by log_paths_list */
};

static const char *const table_ends[] = { ".csv", ".json", ".jsonl", ".ndjson", NULL };
static const char *const log_ends[] = { ".log", ".txt", ".out", ".stdout", NULL };
static const char *const metric_ends[] = { ".csv", ".jsonl", NULL };

/* Bytes of a file that are enough to recognize metrics. */
#define SNIFF_BYTES 65536U

static bool ends_like(const char *path, const char *const *ends)
{
	while (*ends != NULL && !str_ends_with(str_from(path), *ends))
		ends++;
	return *ends != NULL;
}

/* nanochat's report has figures that its log lacks; other Markdown only quotes logs. */
static bool is_log_name(const char *name)
{
	const char *end = file_packed_end(name);
	AUTO_TEXT plain = xstrndup(name, end != NULL ? (size_t)(end - name) : strlen(name));

	return ends_like(plain, log_ends) ||
	       (str_starts_with(str_from(name), "report") && str_ends_with(str_from(name), ".md"));
}

static void count_row(void *user, UNUSED const struct record *record,
		      UNUSED const struct log_line *line)
{
	++*(size_t *)user;
}

bool log_has_metrics(struct str text)
{
	struct metric_rows *rows = metric_rows_new();
	struct log_line line = { .cut = false };
	size_t n = 0;

	while (n == 0 && str_next(&text, '\n', &line.text))
		(void)metric_rows_read(rows, &line, count_row, &n);
	metric_rows_free(rows);
	return n > 0;
}

/* Is a CSV or JSON file the log of a run, and not a table of runs? */
static bool is_metric_file(const char *path)
{
	int fd = ends_like(path, metric_ends) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	AUTO_TEXT text = xmalloc(SNIFF_BYTES);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, text, SNIFF_BYTES);
	(void)close(fd);
	return n > 0 && log_has_metrics((struct str){ text, (size_t)n });
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void add_file(struct finder *finder, const char *path, const struct stat *st, bool named)
{
	struct log_paths *paths = finder->paths;
	bool is_stream = strcmp(path, "-") == 0 || str_starts_with(str_from(path), "/dev/std") ||
			 str_starts_with(str_from(path), "/dev/fd/") ||
			 (st != NULL && !S_ISREG(st->st_mode));
	bool table = !finder->is_list && !is_stream && ends_like(path, table_ends) &&
		     !is_metric_file(path);

	if (st != NULL) {
		const uint64_t key[] = { st->st_dev, st->st_ino };

		if (map_set(&finder->seen, (struct str){ (const char *)key, sizeof(key) },
			    finder) != NULL)
			return;
	}
	if (paths->n < LOG_PATHS_MAX || named)
		xpush(paths->v, paths->n, paths->cap,
		      (struct log_path){ xstrdup(path), NULL, named, table, is_stream });
}

static void add_directory(struct finder *finder, const char *path, int depth);

/* Add an entry of a directory; returns true if it is a log. */
static bool add_entry(struct finder *finder, const char *dir, const char *name, int depth,
		      bool metrics)
{
	size_t len = strlen(dir);
	AUTO_TEXT path = xasprintf("%s%s%s", dir, len > 0 && dir[len - 1] == '/' ? "" : "/", name);
	bool is_metric_name = strstr(name, "metrics") != NULL || strstr(name, "log") != NULL ||
			      strstr(name, "history") != NULL;
	struct stat link, st;
	bool is_log = false;

	if (lstat(path, &link) != 0 || stat(path, &st) != 0)
		return false;
	if (S_ISDIR(link.st_mode) && depth < MAX_DEPTH && !metrics)
		add_directory(finder, path, depth + 1);
	else if (S_ISREG(st.st_mode))
		is_log = metrics ? is_metric_name && is_metric_file(path) : is_log_name(name);
	if (is_log)
		add_file(finder, path, &st, false);
	return is_log;
}

/* Metrics files count only in a directory without logs: a run often writes both. */
static void add_directory(struct finder *finder, const char *path, int depth)
{
	AUTO_FREE struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_visible, versionsort);
	bool has_log = false;

	for (int i = 0; i < n; i++)
		has_log |= add_entry(finder, path, entries[i]->d_name, depth, false) &&
			   ends_like(entries[i]->d_name, log_ends);
	for (int i = 0; i < n; i++) {
		if (!has_log)
			(void)add_entry(finder, path, entries[i]->d_name, depth, true);
		free(entries[i]);
	}
}

/* Add a path that the user named: a file, a directory, or a missing one. */
static void add_named(struct finder *finder, const char *path)
{
	size_t before = finder->paths->n;
	struct stat st;

	if (finder->is_list)
		map_release(&finder->seen, NULL);
	if (strcmp(path, "-") == 0 || stat(path, &st) != 0)
		add_file(finder, path, NULL, true);
	else if (!S_ISDIR(st.st_mode))
		add_file(finder, path, &st, true);
	else
		add_directory(finder, path, 0);
	/* List a directory without logs itself: reading it gives the error message. */
	if (finder->is_list && finder->paths->n == before)
		add_file(finder, path, NULL, true);
}

/* A name that exists is not a pattern, and a pattern without a match is a name. */
static void find_all(struct finder *finder, char *const *argv, size_t n)
{
	struct stat st;

	*finder->paths = (struct log_paths){ 0 };
	for (size_t i = 0; i < n; i++) {
		glob_t found;

		if (strpbrk(argv[i], "*?[") == NULL || lstat(argv[i], &st) == 0 ||
		    glob(argv[i], 0, NULL, &found) != 0) {
			add_named(finder, argv[i]);
			continue;
		}
		for (size_t k = 0; k < found.gl_pathc; k++)
			add_named(finder, found.gl_pathv[k]);
		globfree(&found);
	}
	map_release(&finder->seen, NULL);
}

void log_paths_find(struct log_paths *paths, char *const *argv, size_t n)
{
	find_all(&(struct finder){ .paths = paths }, argv, n);
}

void log_paths_list(struct log_paths *paths, char *const *argv, size_t n)
{
	find_all(&(struct finder){ .paths = paths, .is_list = true }, argv, n);
}

void log_paths_release(struct log_paths *paths)
{
	for (size_t i = 0; i < paths->n; i++) {
		free(paths->v[i].path);
		free(paths->v[i].name);
	}
	free(paths->v);
	*paths = (struct log_paths){ 0 };
}
