/* SPDX-License-Identifier: MIT */
/* Turn a group of runs into a submission: its JSON, its folder, and a list of open questions. */
#include "board/submission.h"

#include "base/file.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "board/print.h"
#include "report/new_folder.h"

#define SENTENCE_MAX 512
#define BLOCK_BYTES  65536U

static const char *log_path(const struct board_row *row)
{
	return row->log != NULL ? row->log : row->path;
}

/* The name of a run's log in the folder: train_seed42.log or, if a seed ran more than once, the end
 * of its path that no other log has, such as 2-train.log for runs/2/train.log; owned. */
static char *log_name(const struct submission *s, const struct board_row *row)
{
	AUTO_BUF clean = buf_new(4096);
	const char *end = file_name(row->path);
	bool is_taken;
	size_t n_same = 1;

	if (run_has(row->run.seed) && s->group->n_seeds == s->group->n_counted)
		return xasprintf("train_seed%.0f.log", row->run.seed);
	for (;;) {
		is_taken = false;
		board_each_counted (other, s->board, s->group) {
			struct str path = str_from(other->path);
			size_t len = strlen(end);

			is_taken |= strcmp(log_path(other), log_path(row)) != 0 &&
				    str_ends_with(path, end) &&
				    (path.len == len || path.p[path.len - len - 1] == '/');
		}
		if (!is_taken || end == row->path)
			break;
		end--;
		while (end > row->path && end[-1] != '/')
			end--;
	}
	/* Logs of one path, on several pods, are numbered. */
	board_each_counted (other, s->board, s->group) {
		if (other == row)
			break;
		n_same += is_taken && strcmp(other->path, row->path) == 0 &&
			  strcmp(log_path(other), log_path(row)) != 0;
	}
	if (n_same > 1)
		buf_appendf(&clean, "%zu-", n_same);
	utf8_sanitize(&clean, str_from(end[0] == '/' ? end + 1 : end));
	for (char *slash = clean.data; (slash = strchr(slash, '/')) != NULL;)
		*slash = '-';
	return buf_detach(&clean);
}

/* Keys: "42"; "42 (2)" for a repeated seed; "run 3" without a seed. */
static void add_seeds(cJSON *root, const struct submission *s)
{
	cJSON *seeds = cJSON_AddArrayToObject(root, "seeds");
	cJSON *results = cJSON_AddObjectToObject(root, "seed_results");
	size_t n = 0;

	board_each_counted (row, s->board, s->group) {
		char key[64];
		int again = 1;

		n++;
		if (run_has(row->run.seed))
			print_into(key, "%.0f", row->run.seed);
		else
			print_into(key, "run %zu", n);
		while (json_get(results, key) != NULL)
			print_into(key, "%.0f (%d)", row->run.seed, ++again);
		json_push_number(seeds, row->run.seed);
		const struct run *run = &row->run;
		AUTO_TEXT name = log_name(s, row);
		json_add(cJSON_AddObjectToObject(results, key), JNUM("val_bpb", run->final_bpb),
			 JNUM("val_loss", run->final_val_loss), JNUM("steps", run->steps),
			 JNUM("ms_per_step", run->ms_per_step), JNUM("train_ms", run->train_ms),
			 JNUM("prequant_bpb", run->prequant_bpb), JNUM("quant_bpb", run->quant_bpb),
			 JNUM("eval_s", run->eval_s), JNUM("artifact_bytes", run->artifact_bytes),
			 JNUM("code_bytes", run->code_bytes), JTEXT("log", name),
			 JTEXT("log_sha256", row->sha256[0] != '\0' ? row->sha256 : NULL));
	}
}

/* Add the comparison with the baseline, with everything needed to check it. */
static void add_comparison(cJSON *root, const struct submission *s)
{
	const struct board_group *base = board_baseline(s->board);
	const struct board_verdict *v = &s->group->verdict;
	bool bpb = strcmp(board_unit(s->board, s->group), "bpb") == 0;

	if (base == NULL && !run_has(v->bar)) {
		cJSON_AddNullToObject(root, "comparison");
		return;
	}
	cJSON *object = cJSON_AddObjectToObject(root, "comparison");
	if (base != NULL)
		json_add_clean(object, "baseline", base->title);
	json_add(object,
		 JNUM(bpb ? "baseline_val_bpb" : "baseline_val_loss",
		      base != NULL ? base->stats.mean : RUN_ABSENT),
		 JNUM(bpb ? "delta_bpb" : "delta_nats", v->delta));
	if (bpb)
		json_add(object, JNUM("delta_nats", v->delta_nats),
			 JNUM("nats_per_bpb", v->nats_per_unit),
			 JTEXT("nats_per_bpb_source", v->nats_source));
	json_add_number(object, bpb ? "bar_bpb" : "bar_nats", v->bar);
	cJSON_AddItemToObject(object, "test_a_one_sample_vs_bar",
			      board_test_json(&v->tests[TRACK_TEST_A]));
	cJSON_AddItemToObject(object, "test_b_welch_with_margin",
			      board_test_json(&v->tests[TRACK_TEST_B]));
	json_add_string(object, "verdict", v->text[0] != '\0' ? v->text : NULL);
}

char *submission_text(const struct submission *s)
{
	AUTO_JSON root = cJSON_CreateObject();
	const struct board_group *g = s->group;
	const struct board_row *first = board_counted(s->board, g, 0);
	double n_gpus = first != NULL ? first->run.n_gpus : RUN_ABSENT;
	bool bpb = strcmp(board_unit(s->board, g), "bpb") == 0;

	board_each_counted (row, s->board, g) {
		if (row != first && row->run.n_gpus != n_gpus)
			n_gpus = RUN_ABSENT; /* known only if all runs agree */
	}
	json_add(root, JTEXT("author", s->author), JTEXT("github_id", s->github_id),
		 JCLEAN("name", s->name != NULL ? s->name : g->title), JTEXT("blurb", s->blurb),
		 JTEXT("date", s->date), JTEXT("track", s->group->track->name),
		 JTEXT("hardware", s->hardware), JNUM("n_gpus", n_gpus));
	json_add(root, JNUM("val_bpb", bpb ? g->stats.mean : RUN_ABSENT),
		 JNUM("val_loss", bpb ? board_mean(g, "final_val_loss") : g->stats.mean),
		 JNUM(bpb ? "val_bpb_std" : "val_loss_std", g->stats.sd_sample),
		 JTEXT(bpb ? "val_bpb_std_kind" : "val_loss_std_kind", "sample (n-1)"),
		 JNUM(bpb ? "val_bpb_std_population" : "val_loss_std_population",
		      g->stats.sd_population),
		 JNUM("n_runs", g->n_counted), JNUM("n_seeds", g->n_seeds));
	json_add(root, JNUM("bytes_total", g->max_artifact_bytes),
		 JNUM("bytes_code", board_mean(g, "code_bytes")),
		 JNUM("max_train_ms", g->max_train_ms), JNUM("max_eval_s", g->max_eval_s));
	add_seeds(root, s);
	add_comparison(root, s);
	AUTO_TEXT text = cJSON_Print(root);
	return xasprintf("%s\n", text);
}

/* Counts the sentences passed to the caller. */
struct check {
	void (*say)(void *user, const char *sentence);
	void *user;
	size_t n;
};

LIKE_PRINTF(2, 3)
static void report_missing(struct check *check, const char *fmt, ...)
{
	char sentence[SENTENCE_MAX];

	print_args(sentence, fmt);
	check->say(check->user, sentence);
	check->n++;
}

size_t submission_check(const struct submission *s, void (*say)(void *user, const char *sentence),
			void *user)
{
	struct check check = { say, user, 0 };
	const struct board_group *g = s->group;
	const struct board_verdict *v = &g->verdict;
	size_t min_seeds = s->group->track->min_seeds;

	if (g->n_seeds < min_seeds)
		report_missing(&check, "only %zu seed%s; the track requires %zu", g->n_seeds,
			       g->n_seeds == 1 ? "" : "s", min_seeds);
	if (g->n_seeds < g->n_counted)
		report_missing(&check, "a seed ran more than once");
	if (g->n_counted < g->n_rows)
		report_missing(&check, "%zu of %zu runs do not count", g->n_rows - g->n_counted,
			       g->n_rows);
	board_each_counted (row, s->board, g)
		if (!run_has(row->run.seed))
			report_missing(&check, "%s has no seed", row->name);
	for (enum board_cap cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		const char *name = board_cap_name(cap);

		if (g->caps[cap] == CAP_BROKEN)
			report_missing(&check, "the cap on %s is exceeded", name);
		else if (g->caps[cap] == CAP_UNKNOWN && cap != BOARD_CAP_TARGETS)
			report_missing(&check, "the logs do not show whether the cap on %s is met",
				       name);
	}
	board_each_counted (row, s->board, g)
		if (row->sha256[0] == '\0')
			report_missing(&check, "no log found for %s", row->name);
	if (s->author == NULL)
		report_missing(&check, "no author (--author)");
	if (s->github_id == NULL)
		report_missing(&check, "no GitHub id (--github-id)");
	if (s->hardware == NULL)
		report_missing(&check, "no hardware given (--hardware)");
	if (v->word == BOARD_WORD_NONE)
		report_missing(&check, "no baseline to compare with (--baseline)");
	else if (v->word != BOARD_WORD_SHOWN || v->is_provisional)
		report_missing(&check, "the verdict is %s", v->text);
	return check.n;
}

static void write_item(void *user, const char *sentence)
{
	AUTO_TEXT clean = utf8_copy(str_from(sentence), 4096);

	(void)fprintf(user, "- %s\n", clean);
}

static int write_readme(const struct submission *s, const char *folder, struct err *err)
{
	char *path;
	FILE *stream = new_folder_create(folder, "README.md", &path, err);
	AUTO_TEXT title = utf8_copy(str_from(s->name != NULL ? s->name : s->group->title), 4096);

	if (stream == NULL)
		return -1;
	(void)fprintf(stream, "# %s\n\n", title);
	if (s->blurb != NULL)
		(void)fprintf(stream, "%s\n\n", s->blurb);
	(void)fputs("## Results\n\n", stream);
	board_print_md_group(stream, s->board, s->group);
	(void)fputs("\n## Open questions\n\n", stream);
	if (submission_check(s, write_item, stream) == 0)
		(void)fputs("Nothing.\n", stream);
	return new_folder_finish(stream, path, err);
}

/* Read all bytes into sha and, unless to is NULL, copy them. */
static void hash_bytes(FILE *from, FILE *to, struct sha256 *sha)
{
	char block[BLOCK_BYTES];
	size_t n;

	while ((n = fread(block, 1, sizeof(block), from)) > 0) {
		sha256_update(sha, block, n);
		if (to != NULL)
			(void)fwrite(block, 1, n, to);
	}
}

void submission_find_logs(struct board *board, const struct board_group *group)
{
	board_each_row (row, board, group) {
		struct sha256 sha;

		if (row->log == NULL || row->sha256[0] != '\0')
			continue;
		FILE *from = fopen(row->log, "rbe");
		if (from == NULL)
			continue;
		sha256_init(&sha);
		hash_bytes(from, NULL, &sha);
		if (!ferror(from))
			sha256_hex(&sha, row->sha256);
		sha256_release(&sha);
		(void)fclose(from);
	}
}

/* Copy a log, and check that it is still the one whose numbers are reported. */
static int copy_log(const struct submission *s, const struct board_row *row, const char *folder,
		    struct err *err)
{
	AUTO_TEXT name = log_name(s, row);
	char *path, hex[SHA256_HEX_SIZE];
	FILE *to, *from = fopen(log_path(row), "rbe");
	struct sha256 sha;

	if (from == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", log_path(row));
	to = new_folder_create(folder, name, &path, err);
	if (to == NULL) {
		(void)fclose(from);
		return -1;
	}
	sha256_init(&sha);
	hash_bytes(from, to, &sha);
	sha256_hex(&sha, hex);
	sha256_release(&sha);
	bool failed = ferror(from) != 0;
	(void)fclose(from);
	if (new_folder_finish(to, path, err) != 0)
		return -1;
	if (failed)
		return err_set(err, ERR_IO, "cannot read %s", log_path(row));
	if (strcmp(hex, row->sha256) != 0)
		return err_set(err, ERR_IO, "%s has changed since it was read", log_path(row));
	return 0;
}

/* Was the run's log copied for an earlier run?  A log may contain several runs. */
static bool is_copied(const struct submission *s, const struct board_row *row)
{
	AUTO_TEXT name = log_name(s, row);

	board_each_counted (other, s->board, s->group) {
		AUTO_TEXT other_name = log_name(s, other);

		if (other->place >= row->place)
			break;
		if (strcmp(log_path(row), log_path(other)) == 0 && strcmp(name, other_name) == 0)
			return true;
	}
	return false;
}

static int write_files(const struct submission *s, const char *folder, bool logs, struct err *err)
{
	board_each_counted (row, s->board, s->group)
		if (logs && row->sha256[0] != '\0' && !is_copied(s, row) &&
		    copy_log(s, row, folder, err) != 0)
			return -1;
	AUTO_TEXT text = submission_text(s);
	char *path;
	FILE *stream = new_folder_create(folder, "submission.json", &path, err);
	if (stream == NULL)
		return -1;
	(void)fputs(text, stream);
	if (new_folder_finish(stream, path, err) != 0)
		return -1;
	return write_readme(s, folder, err);
}

int submission_write(const struct submission *s, const char *folder, bool logs, struct err *err)
{
	AUTO_TEXT partial = new_folder_make(folder, err);

	return partial != NULL
		       ? new_folder_end(partial, folder, write_files(s, partial, logs, err), err)
		       : -1;
}
