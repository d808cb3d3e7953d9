/* SPDX-License-Identifier: MIT */
/* Leaderboard: decide which rows count, check caps, compare groups with the bar, and rank them. */
#include "model/board.h"

#include <ctype.h>

#include "base/dist.h"
#include "base/file.h"
#include "model/run_names.h"
#include "parsers/run_series.h"

#define MAX_NOTES      64
#define NOTE_MAX       1024
#define MAX_DIFFERENT  8
#define COARSE_MS      6000.0 /* a tenth of a minute */
#define PAIR_ROUNDING  1e-9   /* tolerance for a margin equal to the required one */
#define NATS_TOLERANCE 1e-3   /* relative; more means another tokenizer */
/* A report prints times in hundredths of a minute, and figures with four decimals. */
#define REPORT_MS     301.0
#define REPORT_FIGURE 6e-5

void board_init(struct board *board, const struct track *track)
{
	*board = (struct board){
		.track = track,
		.tracks = track->by_logs,
		.nats_per_bpb = RUN_ABSENT,
		.nats_source = "given",
		.track_from = track->by_logs != NULL ? "logs" : "option",
	};
}

void board_choose_metric(struct board *board, const char *name)
{
	board->chosen_name = xstrdup(name);
	board->chosen = run_number_chosen;
	board->chosen.name = board->chosen_name;
	board->score = &board->chosen;
}

void board_release(struct board *board)
{
	for (size_t i = 0; i < board->n_rows; i++) {
		if (!board->rows[i]->is_shared)
			run_release(&board->rows[i]->run);
		free(board->rows[i]->path);
		free(board->rows[i]->name);
		free(board->rows[i]->log);
		free(board->rows[i]);
	}
	array_each (group, board->groups, board->n_groups) {
		for (size_t i = 0; i < group->n_notes; i++)
			free(group->notes[i]);
		free(group->notes);
		free(group->verdict.common);
		free(group->others);
		free(group->rows);
		free(group->title);
		free(group->key);
	}
	map_release(&board->group_index[false], NULL);
	map_release(&board->group_index[true], NULL);
	free(board->rows);
	free(board->groups);
	free(board->rank);
	free(board->chosen_name);
	*board = (struct board){ 0 };
}

static size_t get_group(struct board *board, const char *key, bool is_values)
{
	struct map *index = &board->group_index[is_values];
	size_t found = (size_t)map_get(index, str_from(key));

	if (found == 0) {
		xpush(board->groups, board->n_groups, board->cap_groups,
		      (struct board_group){ .key = xstrdup(key), .is_values = is_values });
		found = board->n_groups;
		(void)map_set(index, str_from(key), (void *)found);
	}
	return found - 1;
}

static struct board_row *add_row(struct board *board, size_t index, const char *path)
{
	struct board_group *group = &board->groups[index];
	struct board_row *row = xnew(struct board_row, .path = xstrdup(path), .usd = RUN_ABSENT,
				     .group = index, .place = group->n_rows);

	xpush(group->rows, group->n_rows, group->cap_rows, board->n_rows);
	xpush(board->rows, board->n_rows, board->cap_rows, row);
	return row;
}

struct board_row *board_add(struct board *board, const char *path, const char *key,
			    const char *sha256, const struct run *run)
{
	if (board->n_rows >= BOARD_MAX_ROWS)
		return NULL;
	struct board_row *row = add_row(board, get_group(board, key, false), path);
	run_copy(&row->run, run);
	if (sha256 != NULL && strlen(sha256) < sizeof(row->sha256))
		memcpy(row->sha256, sha256, strlen(sha256) + 1);
	return row;
}

struct board_row *board_add_live(struct board *board, const struct model_run *mr, const char *key)
{
	if (board->n_rows >= BOARD_MAX_ROWS)
		return NULL;
	struct board_row *row = add_row(board, get_group(board, key, false), mr->path);
	row->mr = mr;
	row->run = mr->run;
	row->is_shared = true;
	return row;
}

void board_row_price(struct board_row *row, double usd_per_hour)
{
	row->usd = usd_per_hour * model_paid_hours(&row->run);
}

void board_add_values(struct board *board, const char *key, const double *values, size_t n)
{
	const struct run_number *score = board->score != NULL ? board->score : board->track->score;
	size_t group = get_group(board, key, true);

	if (score == NULL)
		score = run_number_by_name(STR_LIT("final_bpb"));
	for (size_t i = 0; i < n && board->n_rows < BOARD_MAX_ROWS; i++) {
		struct board_row *row = add_row(board, group, key);

		run_init(&row->run);
		row->run.status = RUN_FINISHED;
		run_number_set(&row->run, score, values[i]);
	}
}

/* Is name the key, or the last components of its path? */
static bool key_fits(const char *key, const char *name)
{
	size_t len = strlen(key), part = strlen(name);

	while (len > 1 && key[len - 1] == '/')
		len--;
	while (part > 1 && name[part - 1] == '/')
		part--;
	return part > 0 && len >= part && memcmp(key + len - part, name, part) == 0 &&
	       (len == part || key[len - part - 1] == '/');
}

struct board_group *board_find_group(const struct board *board, const char *key, struct err *err)
{
	struct board_group *found = NULL;

	array_each (group, board->groups, board->n_groups) {
		if (strcmp(group->key, key) == 0)
			return group;
		if (!key_fits(group->key, key))
			continue;
		if (found != NULL) {
			err_set(err, ERR_USAGE, "\"%s\" matches more than one group: %s and %s",
				key, found->key, group->key);
			return NULL;
		}
		found = group;
	}
	if (found == NULL)
		err_set(err, ERR_NODATA, "unknown group \"%s\"", key);
	return found;
}

int board_set_baseline(struct board *board, const char *key, struct err *err)
{
	struct board_group *group = board_find_group(board, key, err);

	if (group == NULL)
		return err_prefix(err, "baseline");
	group->is_baseline = true;
	return 0;
}

struct board_row *board_row_at(const struct board *board, const struct board_group *group,
			       size_t place)
{
	return place < group->n_rows ? board->rows[group->rows[place]] : NULL;
}

struct board_row *board_counted(const struct board *board, const struct board_group *group,
				size_t place)
{
	struct board_row *row = board_row_at(board, group, place);

	while (row != NULL && row->use != BOARD_COUNTED)
		row = board_row_at(board, group, row->place + 1);
	return row;
}

struct board_group *board_ranked(const struct board *board, size_t rank)
{
	return rank < board->n_groups ? &board->groups[board->rank[rank]] : NULL;
}

const struct board_group *board_baseline(const struct board *board)
{
	if (board->rank != NULL || board->baseline > 0)
		return board->baseline > 0 ? &board->groups[board->baseline - 1] : NULL;
	return array_find(one, board->groups, board->n_groups, one->is_baseline);
}

/* Return the length of the folder that the keys of all groups of logs share. */
static size_t shared_prefix(const struct board *board)
{
	const char *first = NULL;
	size_t len = 0;

	for (size_t i = 0; i < board->n_groups; i++) {
		const char *key = board->groups[i].key;
		size_t same = 0;

		if (board->groups[i].is_values)
			continue;
		if (first == NULL) {
			first = key;
			len = strlen(key);
		}
		while (same < len && key[same] == first[same])
			same++;
		len = same;
	}
	while (len > 0 && first[len - 1] != '/')
		len--;
	return len;
}

/* Return the key below the folder that all groups share. If only "logs" or a similar common name
 * would be left, the folder above is kept too. */
static const char *short_title(const char *key, size_t prefix)
{
	const char *title = key[prefix] != '\0' ? key + prefix : key;
	struct str rest = str_from(title), part;

	while (str_next(&rest, '/', &part))
		if (!run_names_is_common(part))
			return title;
	while (title > key) {
		const char *end = --title;

		while (title > key && title[-1] != '/')
			title--;
		if (!run_names_is_common(str_between(title, end)))
			break;
	}
	return title;
}

static void name_all(struct board *board)
{
	size_t prefix = shared_prefix(board);

	array_each (group, board->groups, board->n_groups)
		group->title =
			xstrdup(group->is_values ? group->key : short_title(group->key, prefix));
	pointer_each (row, board->rows, board->n_rows) {
		if (row->name != NULL)
			continue;
		/* The path below the group's folder, or the file name. */
		const char *name = file_name(row->path), *key = board->groups[row->group].key;
		size_t len = strlen(key);
		if (strncmp(row->path, key, len) == 0 && row->path[len] == '/')
			name = row->path + len + 1;
		else if (strcmp(key, ".") == 0)
			name = row->path;
		row->name = row->run.run_index == 0
				    ? xstrdup(name)
				    : xasprintf("%s #%u", name, row->run.run_index + 1);
	}
}

void board_list_uncounted(const struct board_group *group, struct buf *out)
{
	const char *sep = "";

	for (int use = BOARD_COPY; use <= BOARD_NO_SCORE; use++) {
		if (group->n_uncounted[use] == 0)
			continue;
		buf_appendf(out, "%s%zu %s", sep, group->n_uncounted[use],
			    board_use_name((enum board_use)use));
		sep = ", ";
	}
}

LIKE_PRINTF(2, 3)
static void add_note(struct board_group *group, const char *fmt, ...)
{
	char text[1024];

	if (group->n_notes >= MAX_NOTES)
		return;
	print_args(text, fmt);
	xpush(group->notes, group->n_notes, group->cap_notes, xstrdup(text));
}

/* Add a few words to the note of a row, separated by "; ". */
LIKE_PRINTF(2, 3)
static void add_row_note(struct board_row *row, const char *fmt, ...)
{
	AUTO_BUF note = buf_new(sizeof(row->note) - 1);

	buf_append_str(&note, row->note);
	if (note.len > 0 && note.len + 3 < sizeof(row->note))
		buf_append_str(&note, "; ");
	buf_append_args(&note, fmt);
	memcpy(row->note, note.data, note.len + 1);
}

/* Distinct values of one property of the counted rows of a group. */
struct different {
	char values[MAX_DIFFERENT][80];
	size_t runs[MAX_DIFFERENT];
	size_t n;
};

static void add_value(struct different *d, const char *text)
{
	size_t i = index_of(k, d->n, strcmp(d->values[k], text) == 0);

	if (i == MAX_DIFFERENT)
		return;
	if (i == d->n)
		(void)snprintf(d->values[d->n++], sizeof(d->values[0]), "%s", text);
	d->runs[i]++;
}

/* Note for example "n_gpus differs: 8 (3 runs), 2 (1 run)" if there is more than one value. */
static void note_different(struct board_group *group, const char *what, const struct different *d)
{
	AUTO_BUF text = buf_new(NOTE_MAX);

	if (d->n < 2)
		return;
	for (size_t i = 0; i < d->n; i++)
		buf_appendf(&text, "%s%s (%zu run%s)", i > 0 ? ", " : "", d->values[i], d->runs[i],
			    d->runs[i] == 1 ? "" : "s");
	add_note(group, "%s differ between runs: %s", what, text.data);
}

/* Note if runs of the group differ in more than their seed: the mean mixes different setups. */
static void note_unlike(const struct board *board, struct board_group *group)
{
	enum { GPUS, BATCH, TOKENS, STAGE, SCRIPT, N_SAME };
	static const char *const what[N_SAME] = { "numbers of GPUs", "batch sizes",
						  "validation tokens", "score stages",
						  "training scripts" };
	struct different d[N_SAME] = { { .n = 0 } };

	board_each_counted (row, board, group) {
		const struct run *run = &row->run;
		const double numbers[] = { run->n_gpus, run->train_batch_tokens, run->val_tokens };
		char text[STR_NUMBER_SIZE];

		for (int k = GPUS; k <= TOKENS; k++)
			if (run_has(numbers[k]))
				add_value(&d[k], str_number(numbers[k], 17, text));
		if (run->final_class != NULL)
			add_value(&d[STAGE], run->final_class);
		print_into(text, "%.12s", run->source_sha256 != NULL ? run->source_sha256 : "");
		if (text[0] != '\0')
			add_value(&d[SCRIPT], text);
	}
	for (int k = 0; k < N_SAME; k++)
		note_different(group, what[k], &d[k]);
}

/* Note the result with the excluded runs too, so that excluding seeds hides nothing. */
static void note_excluded(const struct board *board, struct board_group *group)
{
	AUTO_FREE const struct run **runs = xcalloc(group->n_rows + 1, sizeof(*runs));
	AUTO_FREE double *scores = xcalloc(group->n_rows + 1, sizeof(*scores));
	size_t excluded = group->n_uncounted[BOARD_EXCLUDED], n = 0;
	const char *ending = excluded == 1 ? "" : "s";
	struct board_steps with;

	if (excluded == 0)
		return;
	board_each_row (row, board, group) {
		if (row->use != BOARD_COUNTED && row->use != BOARD_NO_STEP &&
		    row->use != BOARD_EXCLUDED)
			continue;
		scores[n] = row->score;
		runs[n++] = &row->run;
	}
	if (!group->counts_steps) {
		board_stats_of(&with.stats, scores, n);
		add_note(group, "with the %zu excluded run%s the mean is %.6f (n=%zu)", excluded,
			 ending, with.stats.mean, n);
		return;
	}
	board_steps_find(&with, group->track, group->score->name, runs, n);
	add_note(group,
		 "with the %zu excluded run%s the target is %sshown at step %.0f (%.6f, n=%zu)",
		 excluded, ending, with.is_shown ? "" : "not ", with.step, with.stats.mean, with.n);
}

static void note_group(const struct board *board, struct board_group *group)
{
	note_excluded(board, group);
	board_each_row (row, board, group) {
		if (row->use >= BOARD_COPY && row->use <= BOARD_REPORT)
			add_note(group, "%s is %s %s: counted once", row->name,
				 row->use == BOARD_COPY	    ? "byte-identical to"
				 : row->use == BOARD_REPORT ? "the report of"
							    : "the same run as",
				 board->rows[row->copy_of]->name);
	}
	if (group->n_seeds < group->n_counted)
		add_note(group,
			 "%zu runs of %zu seed%s: repeated runs of a seed count as one; the "
			 "tests use their mean",
			 group->n_counted, group->n_seeds, group->n_seeds == 1 ? "" : "s");
	note_unlike(board, group);
}

enum board_kept board_check_cap(const struct track *track, const struct run *run,
				enum board_cap cap, struct buf *out)
{
	const char *name = track->cap_metric;
	double unscored = run->val_tokens - run->target_tokens;
	/* A run checks its clock between steps: the track may allow the step in progress. */
	double grace_s =
		run->steps > 0 ? track->train_grace_steps * run->train_ms / run->steps / 1000 : 0;
	const struct {
		const char *what, *unit;
		double value, most, grace;
	} caps[BOARD_CAP_COUNT] = {
		[BOARD_CAP_BYTES] = { "artifact is", " bytes", run->artifact_bytes,
				      track->cap_artifact_bytes, 0 },
		[BOARD_CAP_TRAIN] = { "training took", " s", run->train_ms / 1000,
				      track->cap_train_s, grace_s },
		[BOARD_CAP_EVAL] = { "evaluation took", " s", fmax(run->eval_s, run->eval_total_s),
				     track->cap_eval_s, 0 },
		[BOARD_CAP_TARGETS] = { "", "", unscored, track->full_targets ? 0 : RUN_ABSENT, 0 },
		[BOARD_CAP_METRIC] = { name, "",
				       name != NULL ? run_last_value(run, name) : RUN_ABSENT,
				       name != NULL ? track->cap_metric_most : RUN_ABSENT, 0 },
	};
	double value = caps[cap].value, most = caps[cap].most;
	char texts[3][STR_NUMBER_SIZE];

	if (!run_has(most) || !run_has(value))
		return run_has(most) ? CAP_UNKNOWN : CAP_NONE;
	if (value <= most + caps[cap].grace)
		return value <= most ? CAP_KEPT : CAP_GRACE;
	if (cap == BOARD_CAP_TARGETS)
		buf_appendf(out, "%s of %s targets scored",
			    str_number(run->target_tokens, 17, texts[0]),
			    str_number(run->val_tokens, 17, texts[1]));
	else
		buf_appendf(out, "%s%s %s%s, %s over the cap of %s", caps[cap].what,
			    cap == BOARD_CAP_METRIC ? " is" : "", str_number(value, 12, texts[0]),
			    caps[cap].unit, str_number(value - most, 12, texts[1]),
			    str_number(most, 12, texts[2]));
	return CAP_BROKEN;
}

/* Set each cap to the worst state of the counted runs; note if the grace was used. */
static void check_group_caps(const struct board *board, struct board_group *group)
{
	double over_ms = 0;

	board_each_counted (row, board, group) {
		for (int cap = 0; cap < BOARD_CAP_COUNT; cap++)
			if (row->caps[cap] > group->caps[cap])
				group->caps[cap] = row->caps[cap];
		if (row->caps[BOARD_CAP_TRAIN] == CAP_GRACE)
			over_ms =
				fmax(over_ms, row->run.train_ms - 1000 * group->track->cap_train_s);
	}
	if (over_ms > 0)
		add_note(
			group,
			"train time exceeds %.0f s by up to %.3f s, within the %.0f steps that the "
			"track grants",
			group->track->cap_train_s, over_ms / 1000, group->track->train_grace_steps);
}

/* Find the track of most runs of the group; of several, the first by name. Notes if several fit. */
static const struct track *find_most(const struct board *board, struct board_group *group)
{
	const struct track_set *tracks = board->tracks;
	const struct track *open = track_set_find(tracks, "open"), *found = open;
	AUTO_FREE size_t *counts = xcalloc(tracks->n, sizeof(*counts));
	const char *several = NULL;
	size_t most = 0;

	board_each_row (row, board, group) {
		const struct run *run = &row->run;
		const struct track *track = track_of_run(tracks, run);

		/* A log that ends before its first validation does not show its track. */
		counts[track - tracks->v] += track != open || run_has(run->last_val_loss);
		if (run->tracks != NULL && strchr(run->tracks, ',') != NULL)
			several = run->tracks;
	}
	for (size_t i = 0; i < tracks->n; i++) {
		if (counts[i] > most || (counts[i] == most && found == open)) {
			most = counts[i];
			found = counts[i] > 0 ? &tracks->v[i] : open;
		}
	}
	if (found == open && several != NULL)
		add_note(group, "the logs fit several tracks (%s); choose one with --track",
			 several);
	/* Tracks that count steps have no rule for other scores. */
	return board->score != NULL && found->counts_steps ? open : found;
}

/* Choose each group's track from its own logs, so that a log of another track does not affect other
 * groups. Groups of values get the first track that has a record rule. */
static void find_tracks(struct board *board)
{
	const struct track *first = NULL;

	array_each (group, board->groups, board->n_groups) {
		group->track = board->tracks == NULL ? board->track
			       : group->is_values    ? NULL
						     : find_most(board, group);
		if (first == NULL && group->track != NULL && group->track->has_record)
			first = group->track;
	}
	array_each (group, board->groups, board->n_groups)
		if (group->track == NULL)
			group->track = first != NULL ? first
						     : track_set_find(board->tracks, TRACK_DEFAULT);
}

static bool has_other_track(const struct board *board, const struct board_row *row)
{
	const char *tracks = row->run.tracks;

	return board->tracks != NULL && tracks != NULL && *tracks != '\0' &&
	       strchr(tracks, ',') == NULL &&
	       strcmp(board->groups[row->group].track->name, "open") != 0 &&
	       strcmp(board->groups[row->group].track->name, tracks) != 0;
}

const char *board_target_metric(const struct board *board, const struct board_group *group)
{
	const struct track *track = group->track;

	if (!run_has(track->target))
		return NULL;
	return board->target_metric != NULL && board->score == NULL ? board->target_metric
	       : track->metric != NULL				    ? track->metric
								    : track->score->name;
}

/* Set each run's score to the last, or the best, value of the metric; returns that score. */
static const struct run_number *read_metric(const struct board *board, struct board_group *group,
					    const char *name)
{
	group->own = run_number_chosen;
	group->own.name = name;
	board_each_row (row, board, group) {
		struct run *run = &row->run;

		group->has_ended |= run->status == RUN_FINISHED;
		if (group->is_values) {
			run->chosen = run->final_bpb;
			continue;
		}
		const char *names[] = { group->track->full_metric, name,
					group->track->also_metric };
		const struct run_series *series = NULL;

		for (size_t i = 0; i < LENGTH(names) && series == NULL; i++)
			series = names[i] != NULL ? run_series_find(run, names[i]) : NULL;
		run->chosen = series == NULL ? RUN_ABSENT : run_series_last(series, name);
		if (series == NULL || !group->track->take_best)
			continue;
		double best = group->higher ? series->max : series->min;
		run->chosen = series->metric < METRIC_COUNT ? best * series->scale : best;
	}
	return &group->own;
}

static const struct run_number *choose_score(const struct board *board, struct board_group *group)
{
	const struct track *track = group->track;
	size_t n_bpb = 0, n_loss = 0;

	group->higher = board->higher || (board->score == NULL && track->is_above);
	if (board->score != NULL)
		return board->score;
	group->counts_steps = track->counts_steps && !group->is_values;
	if (track->counts_steps || (run_has(track->target) && board->target_metric != NULL))
		return read_metric(board, group, board_target_metric(board, group));
	if (track->score != NULL)
		return track->score;
	if (track->metric != NULL)
		return read_metric(board, group, track->metric);
	/* One run of another kind must not decide the score of the group. */
	board_each_row (row, board, group) {
		const struct run *run = &row->run;
		bool is_finished = run->status == RUN_FINISHED;

		n_bpb += is_finished && run_has(run->final_bpb);
		n_loss += is_finished && !run_has(run->final_bpb) && run_has(run->final_val_loss);
	}
	return run_number_by_name(n_loss > n_bpb ? STR_LIT("final_val_loss")
						 : STR_LIT("final_bpb"));
}

bool board_excludes(const struct board_row *row, const char *text)
{
	return key_fits(row->path, text) || strcmp(row->name, text) == 0;
}

static bool is_excluded(const struct board *board, const struct board_row *row)
{
	return any_of(i, board->n_excluded, board_excludes(row, board->excluded[i]));
}

/* Mark a row that repeats the run of an earlier row of its group. */
static void mark_copy(struct board *board, struct board_row *row, size_t first, enum board_use use)
{
	const struct board_row *other = board->rows[first];

	row->use = use;
	row->copy_of = first;
	if (use == BOARD_COPY)
		add_row_note(row, "= %s, same bytes", other->name);
	else if (use == BOARD_REPORT)
		add_row_note(row, "report of %s%s", other->name,
			     is_excluded(board, row) ? ", excluded" : "");
	else if (strcmp(row->path, other->path) == 0)
		add_row_note(row, "= run %u of this file", other->run.run_index + 1);
	else
		add_row_note(row, "= %s, same run", other->name);
}

/* Return 1 + the index of the first row with this key; or 0, and store `index` as the first. */
static size_t first_with(struct map *seen, const char *key, size_t index)
{
	void *found = map_get(seen, str_from(key));

	if (found == NULL)
		(void)map_set(seen, str_from(key), (void *)(index + 1));
	return (size_t)found;
}

/* Do rules of nanochat match lines of the run? Only nanochat writes reports. */
static bool is_nanochat(const struct run *run)
{
	return run->formats != NULL && strstr(run->formats, "nanochat") != NULL;
}

/* Does the report describe this run? Their times agree, and all figures that both print (at least
 * one). A report prints the estimate of the run before the full figure. */
static bool is_report_of(const struct board_row *report, const struct board_row *row)
{
	const struct run *run = &row->run;
	size_t n = 0;

	if (row->group != report->group || !is_nanochat(run) || run->status != RUN_FINISHED ||
	    !run_has(run->steps) || !(fabs(run->train_ms - report->run.train_ms) <= REPORT_MS))
		return false;
	array_each (figure, report->run.series, report->run.n_series) {
		const struct run_series *own = run_series_find(run, figure->name);

		if (own == NULL)
			continue;
		if (!(fabs(own->last - figure->first) <= REPORT_FIGURE) &&
		    !(fabs(own->last - figure->last) <= REPORT_FIGURE))
			return false;
		n++;
	}
	return n > 0;
}

static void take_figures(struct board_row *row, const struct run *report)
{
	const struct run shared = row->run;
	struct run *run = &row->run;

	if (row->is_shared)
		run_copy(run, &shared);
	row->is_shared = false;
	array_each (figure, report->series, report->n_series) {
		struct run_series *own;

		if (run_series_find(run, figure->name) != NULL)
			continue;
		own = run_series_get(run, str_from(figure->name), str_from(figure->unit),
				     figure->metric);
		if (own == NULL)
			break;
		*own = *figure;
		own->validations = (struct run_points){ NULL, 0 };
	}
	for (const struct run_number *number = run_numbers; number->name != NULL; number++)
		if (!run_has(run_number_get(run, number)))
			run_number_set(run, number, run_number_get(report, number));
}

/* A report has figures but no training rows. Give them to the run that it describes, in the same
 * group, and to copies of that run's log; the report itself does not count. */
static void merge_reports(struct board *board)
{
	pointer_each (report, board->rows, board->n_rows) {
		const struct run *run = &report->run;
		bool is_report = is_nanochat(run) && run_has(run->train_ms) &&
				 !run_has(run->steps) && !run_has(run->last_train_loss);

		for (size_t i = 0; is_report && i < board->n_rows; i++) {
			if (!is_report_of(report, board->rows[i]))
				continue;
			if (!is_excluded(board, report))
				take_figures(board->rows[i], run);
			if (report->use != BOARD_REPORT)
				mark_copy(board, report, i, BOARD_REPORT);
		}
	}
}

/* Find equal logs and logs of the same run. Keys start with the group: a run may be in several. */
static void find_copies(struct board *board)
{
	AUTO_MAP seen = MAP_EMPTY;
	char key[192];

	for (size_t i = 0; i < board->n_rows; i++) {
		struct board_row *row = board->rows[i];
		const struct run *run = &row->run;
		size_t first = 0;

		if (row->use == BOARD_REPORT)
			continue;
		if (row->sha256[0] != '\0') {
			print_into(key, "%zu %s %u", row->group, row->sha256, run->run_index);
			first = first_with(&seen, key, i);
			if (first > 0) {
				mark_copy(board, row, first - 1, BOARD_COPY);
				continue;
			}
		}
		if (row->use != BOARD_COUNTED || !run_has(run->steps) || !run_has(run->train_ms))
			continue;
		print_into(key, "%zu %.17g %.17g %.17g", row->group, row->score, run->steps,
			   run->train_ms);
		first = first_with(&seen, key, i);
		if (first == 0)
			continue;
		/* If a seed is unknown, equal times prove nothing where they may be rounded. */
		double seed = board->rows[first - 1]->run.seed;
		if (run_has(run->seed) && run_has(seed) ? run->seed == seed
							: fmod(run->train_ms, COARSE_MS) != 0)
			mark_copy(board, row, first - 1, BOARD_SAME_RUN);
	}
}

/* Note the logs that are in another group too: they count in both. */
static void find_across(struct board *board)
{
	AUTO_MAP seen = MAP_EMPTY;
	char key[96];

	for (size_t i = 0; i < board->n_rows; i++) {
		struct board_row *row = board->rows[i];

		if (row->sha256[0] == '\0')
			continue;
		print_into(key, "%s %u", row->sha256, row->run.run_index);
		size_t first = first_with(&seen, key, i);
		if (first > 0 && board->rows[first - 1]->group != row->group)
			add_note(&board->groups[row->group],
				 "%s is byte-identical to %s of %s, and "
				 "counts in both groups",
				 row->name, board->rows[first - 1]->name,
				 board->groups[board->rows[first - 1]->group].title);
	}
}

static const char *describe_status(const struct run *run)
{
	return run->status == RUN_RUNNING   ? "still running"
	       : run->status == RUN_UNKNOWN ? "end unknown"
					    : run_status_names[run->status];
}

/* Decide whether the row counts, as far as the row alone shows. */
static void mark_use(const struct board *board, struct board_row *row)
{
	const struct board_group *group = &board->groups[row->group];
	const struct run_number *score = group->score;
	/* A log without an end was cut if another log of the track's group shows one. */
	bool is_over = row->run.status == RUN_FINISHED ||
		       (row->run.status == RUN_UNKNOWN && run_number_is_chosen(score) &&
			!(group->has_ended && board->score == NULL));

	row->score = run_number_get(&row->run, score);
	if (row->use == BOARD_REPORT)
		return;
	if (has_other_track(board, row)) {
		row->use = BOARD_OTHER_TRACK;
		add_row_note(row, "recognized as %s, not counted", row->run.tracks);
	} else if (group->counts_steps) {
		row->use = run_has(row->score) ? BOARD_COUNTED : BOARD_NO_STEP;
	} else if (!is_over) {
		row->use = BOARD_UNFINISHED;
		add_row_note(row, "%s, not counted", describe_status(&row->run));
	} else if (!run_has(row->score)) {
		row->use = BOARD_NO_SCORE;
		add_row_note(row, "no %s, not counted", score->name);
	} else {
		row->use = BOARD_COUNTED;
	}
	if ((row->use == BOARD_COUNTED || row->use == BOARD_NO_STEP) && is_excluded(board, row)) {
		row->use = BOARD_EXCLUDED;
		add_row_note(row, "excluded");
	}
}

/* Compute what the group's other validation metrics would show. The user must choose one with
 * --score-metric: taking the best of several would be p-hacking. */
static void find_others(struct board_group *group, const char *metric,
			const struct run *const *runs, size_t n)
{
	struct str kind = str_from(str_ends_with(str_from(metric), "bpb") ? "bpb" : "loss");

	for (size_t i = 0; n > 0 && i < runs[0]->n_series; i++) {
		const struct run_series *series = &runs[0]->series[i];
		struct board_other other = { .metric = series->name };

		if (series->validations.n == 0 || strcmp(series->name, metric) == 0 ||
		    !str_ends_with(str_from(series->name), kind.p))
			continue;
		board_steps_find(&other.steps, group->track, series->name, runs, n);
		xpush(group->others, group->n_others, group->cap_others, other);
		if (other.steps.is_shown)
			add_note(group,
				 "by %s, the target is shown at step %.0f (--score-metric %s)",
				 series->name, other.steps.step, series->name);
	}
}

/* Find the first step at which the group shows the target; its runs are scored there. */
static void find_steps(struct board *board, struct board_group *group)
{
	AUTO_FREE const struct run **runs = xcalloc(group->n_rows + 1, sizeof(*runs));
	const char *metric = group->score->name;
	struct board_steps *steps = &group->steps;
	size_t n = 0;

	board_each_row (row, board, group) {
		if (row->use == BOARD_COUNTED || row->use == BOARD_NO_STEP)
			runs[n++] = &row->run;
	}
	board_steps_find(steps, group->track, metric, runs, n);
	find_others(group, metric, runs, n);
	board_each_row (row, board, group) {
		if (row->use != BOARD_COUNTED && row->use != BOARD_NO_STEP)
			continue;
		row->score = row->run.chosen = board_steps_value(&row->run, metric, steps->step);
		row->use = run_has(row->score) ? BOARD_COUNTED : BOARD_NO_STEP;
		if (row->use == BOARD_NO_STEP)
			add_row_note(row, "%s, no %s at step %.0f", describe_status(&row->run),
				     metric, steps->step);
	}
}

/* Collect a number of the counted rows; returns how many rows have it. */
static size_t collect_values(const struct board *board, const struct board_group *group,
			     const struct run_number *number, double *values)
{
	size_t n = 0;

	board_each_counted (row, board, group) {
		double value = run_number_get(&row->run, number);

		if (run_has(value))
			values[n++] = value;
	}
	return n;
}

/* Collect the scores of the counted rows, one per seed (the mean where a seed repeats), in the
 * order of their first run; marks the rows that repeat a seed. seeds (may be NULL) gets the seed of
 * each value, RUN_ABSENT for unknown. Both have room for n_counted. Returns how many values there
 * are. */
static size_t seed_values(const struct board *board, const struct board_group *group,
			  double *values, double *seeds)
{
	AUTO_FREE size_t *runs = xcalloc(group->n_rows + 1, sizeof(*runs));
	AUTO_MAP slots = MAP_EMPTY; /* from seed to index + 1 */
	char key[32];
	size_t n = 0;

	board_each_counted (row, board, group) {
		/* If a track counts steps, its rules count every run. */
		bool is_known = run_has(row->run.seed) && !group->counts_steps;
		size_t k = 0;

		print_into(key, "%.17g", row->run.seed);
		if (is_known)
			k = (size_t)map_get(&slots, str_from(key));
		if (k == 0) {
			k = ++n;
			values[k - 1] = 0;
			if (seeds != NULL)
				seeds[k - 1] = row->run.seed;
			if (is_known)
				(void)map_set(&slots, str_from(key), (void *)k);
		} else if (!row->seed_again) {
			row->seed_again = true;
			add_row_note(row, "seed %.0f repeated", row->run.seed);
		}
		/* A running mean, so that a single run keeps its exact value. */
		runs[k - 1]++;
		values[k - 1] += (row->score - values[k - 1]) / (double)runs[k - 1];
	}
	return n;
}

/* Does the run only estimate the target's metric? */
static bool is_estimate(const struct track *track, const struct run *run)
{
	return track->full_metric != NULL && run_series_find(run, track->full_metric) == NULL &&
	       !(track->full_if != NULL &&
		 run_last_value(run, track->full_if) == track->full_value);
}

static void count_group(struct board *board, struct board_group *group)
{
	AUTO_FREE double *values = xcalloc(group->n_rows + 1, sizeof(*values));
	struct board_stats stats;
	double loss = 0, bpb = 0;

	board_each_row (row, board, group) {
		group->n_uncounted[row->use]++;
		group->n_live += row->run.status == RUN_RUNNING &&
				 (row->use == BOARD_UNFINISHED || row->use == BOARD_NO_STEP);
	}
	group->n_counted = group->n_uncounted[BOARD_COUNTED];
	size_t n = collect_values(board, group, group->score, values);
	board_stats_of(&group->stats, values, n);
	group->n_seeds = seed_values(board, group, values, NULL);
	board_stats_of(&group->seed_stats, values, group->n_seeds);
	n = collect_values(board, group, run_number_by_name(STR_LIT("train_ms")), values);
	board_stats_of(&group->train_ms, values, n == group->n_counted ? n : 0);
	for (size_t i = 0; i < RUN_NUMBER_COUNT; i++) {
		n = collect_values(board, group, &run_numbers[i], values);
		board_stats_of(&stats, values, n == group->n_counted ? n : 0);
		group->means[i] = stats.mean;
	}
	group->max_train_ms = group->max_artifact_bytes = group->max_eval_s = RUN_ABSENT;
	board_each_counted (row, board, group) {
		const struct run *run = &row->run;

		group->n_estimates += !group->is_values && is_estimate(group->track, run);
		group->max_train_ms = fmax(group->max_train_ms, run->train_ms);
		group->max_artifact_bytes = fmax(group->max_artifact_bytes, run->artifact_bytes);
		group->max_eval_s = fmax(group->max_eval_s, fmax(run->eval_s, run->eval_total_s));
		if (run_has(run->final_val_loss) && run_has(run->final_bpb)) {
			loss += run->final_val_loss;
			bpb += run->final_bpb;
		}
	}
	group->nats_per_bpb = bpb > 0 && loss > 0 ? loss / bpb : RUN_ABSENT;
}

static void verdict_init(struct board_verdict *v)
{
	*v = (struct board_verdict){
		.bar = RUN_ABSENT,
		.delta = RUN_ABSENT,
		.delta_nats = RUN_ABSENT,
		.nats_per_unit = RUN_ABSENT,
		.z = RUN_ABSENT,
		.p_z = RUN_ABSENT,
		.target = { RUN_ABSENT, RUN_ABSENT, false, false },
		.mean_needed = RUN_ABSENT,
		.pair_margin = RUN_ABSENT,
		.delta_train_ms = RUN_ABSENT,
		.usd_seed = RUN_ABSENT,
		.usd_more = RUN_ABSENT,
		.train_time = board_test_none(),
	};
	for (int i = 0; i < TRACK_TEST_COUNT; i++)
		v->tests[i] = board_test_none();
}

/* The tests ask whether a mean is lower, so negate a score if higher is better. */
static double lower_is_better(const struct board_group *group, double score)
{
	return group->higher ? -score : score;
}

static struct board_stats stats_to_test(const struct board_group *group)
{
	struct board_stats stats = group->seed_stats;

	if (!group->higher)
		return stats;
	stats.mean = -group->seed_stats.mean;
	stats.min = -group->seed_stats.max;
	stats.max = -group->seed_stats.min;
	return stats;
}

/* Find the nats per unit of the score and their source; note where sources disagree. */
static void find_nats(const struct board *board, struct board_group *group,
		      const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;

	if (strcmp(board_unit(board, group), "value") == 0)
		return;
	if (strcmp(board_unit(board, group), "nats") == 0) {
		v->nats_per_unit = 1;
		v->nats_source = "the score is in nats";
	} else if (run_has(board->nats_per_bpb)) {
		v->nats_per_unit = board->nats_per_bpb;
		v->nats_source = board->nats_source;
	} else if (run_has(group->nats_per_bpb)) {
		v->nats_per_unit = group->nats_per_bpb;
		v->nats_source = "its logs: sum of losses / sum of BPB";
	} else if (base != NULL && run_has(base->nats_per_bpb)) {
		v->nats_per_unit = base->nats_per_bpb;
		v->nats_source = "the baseline's logs: sum of losses / sum of "
				 "BPB";
	}
	if (run_has(group->nats_per_bpb) && run_has(v->nats_per_unit) && v->nats_per_unit != 1 &&
	    fabs(group->nats_per_bpb / v->nats_per_unit - 1) > NATS_TOLERANCE)
		add_note(group, "%.6f nats per BPB were given, but the logs have %.6f",
			 v->nats_per_unit, group->nats_per_bpb);
	if (base != NULL && run_has(base->nats_per_bpb) && run_has(v->nats_per_unit) &&
	    v->nats_per_unit != 1 &&
	    fabs(base->nats_per_bpb / v->nats_per_unit - 1) > NATS_TOLERANCE)
		add_note(group, "nats per BPB differ: %.6f is used, the baseline's logs have %.6f",
			 v->nats_per_unit, base->nats_per_bpb);
}

/* Compare the means of the seeds that both groups ran, in the order of the group. */
static void compare_seeds(const struct board *board, struct board_group *group,
			  const struct board_group *base)
{
	AUTO_FREE double *a = xcalloc(2 * group->n_counted + 1, sizeof(*a));
	AUTO_FREE double *b = xcalloc(2 * base->n_counted + 1, sizeof(*b));
	double *a_seeds = a + group->n_counted, *b_seeds = b + base->n_counted;
	size_t n_a = seed_values(board, group, a, a_seeds);
	size_t n_b = seed_values(board, base, b, b_seeds);
	struct board_verdict *v = &group->verdict;

	/* An unknown seed (NaN) matches none. A seed that the baseline has twice counts once. */
	v->common = xcalloc(n_a + 1, sizeof(*v->common));
	for (size_t i = 0; i < n_a; i++) {
		size_t at = index_of(k, n_b, a_seeds[i] == b_seeds[k]);

		if (at < n_b)
			v->common[v->n_common++] =
				(struct board_common_seed){ a_seeds[i], a[i] - b[at] };
	}
}

static void compare_times(struct board_group *group, const struct board_group *other)
{
	group->verdict.delta_train_ms = group->train_ms.mean - other->train_ms.mean;
	group->verdict.train_time = board_test_welch(&group->train_ms, &other->train_ms, 0);
}

/* Compare with the baseline; sets the bar if the track's rule is a margin. */
static void measure_baseline(const struct board *board, struct board_group *group,
			     const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = group->track;
	const struct board_stats a = stats_to_test(group);
	const struct board_stats b = stats_to_test(base);
	double margin = RUN_ABSENT;

	if (strcmp(group->score->name, base->score->name) != 0) {
		add_note(group, "not compared: this group is scored by %s, the baseline by %s",
			 group->score->name, base->score->name);
		return;
	}
	v->delta = group->seed_stats.mean - base->seed_stats.mean;
	v->delta_nats = v->delta * v->nats_per_unit;
	compare_times(group, base);
	if (track->has_record && !run_has(track->target)) {
		margin = track->margin_nats == 0 ? 0 : track->margin_nats / v->nats_per_unit;
		v->bar = lower_is_better(group, b.mean - margin);
	}
	v->tests[TRACK_TEST_C] = board_test_one_sample(&a, b.mean);
	v->tests[TRACK_TEST_D] = board_test_welch(&a, &b, 0);
	v->tests[TRACK_TEST_F] = board_test_pooled(&a, &b, 0);
	if (run_has(margin)) {
		v->tests[TRACK_TEST_B] = board_test_welch(&a, &b, margin);
		v->tests[TRACK_TEST_E] = board_test_pooled(&a, &b, margin);
	}
	compare_seeds(board, group, base);
}

static void measure_group(const struct board *board, struct board_group *group,
			  const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = group->track;
	const struct board_stats stats = stats_to_test(group);
	const struct board_stats *a = &stats;
	double bar;

	find_nats(board, group, base);
	if (base != NULL && base != group)
		measure_baseline(board, group, base);
	if (run_has(track->target)) {
		v->bar = track->target;
		v->target = board_target_test(track, &group->seed_stats);
		v->target.is_shown &= !group->counts_steps || group->steps.is_shown;
		if (base == NULL) {
			v->delta = group->seed_stats.mean - v->bar;
			v->delta_nats = v->delta * v->nats_per_unit;
		}
	}
	if (!run_has(v->bar) || !track->has_record)
		return;
	bar = lower_is_better(group, v->bar);
	v->tests[TRACK_TEST_A] = board_test_one_sample(a, bar);
	if (run_has(track->target) && track->rule != TRACK_RULE_T) {
		if (track->rule == TRACK_RULE_MARGIN && a->n > 0)
			v->mean_needed = lower_is_better(group, bar - track->margin_root_n /
										sqrt((double)a->n));
	} else {
		v->mean_needed = lower_is_better(group, board_mean_needed(a, bar, track->alpha));
		v->seeds_needed =
			board_seeds_needed(a, bar, track->alpha, (unsigned int)track->min_seeds);
	}
	if (run_has(track->known_sd) && a->n > 0) {
		v->z = (a->mean - bar) / (track->known_sd / sqrt((double)a->n));
		v->p_z = dist_normal_cdf(v->z);
	}
}

/* List the caps in that state as the verdict names them: "bytes/time". */
static void list_caps(struct buf *out, const struct board_group *group, enum board_kept state,
		      const char *sep)
{
	const char *const words[BOARD_CAP_COUNT] = { "bytes", "time", "time", "targets",
						     group->track->cap_metric };

	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		if (group->caps[cap] != state ||
		    (cap == BOARD_CAP_EVAL && group->caps[BOARD_CAP_TRAIN] == state) ||
		    (cap == BOARD_CAP_TARGETS && state == CAP_UNKNOWN))
			continue;
		buf_appendf(out, "%s%s", out->len > 0 ? sep : "", words[cap]);
	}
}

/* Print p with two digits, or with more if needed to show that it is not below alpha. */
static void format_p(char *out, size_t size, double p, double alpha)
{
	double shown;

	for (int digits = 2; digits <= 6; digits++) {
		(void)snprintf(out, size, "%.*g", digits, p);
		if (!str_to_double(str_from(out), &shown) || p < alpha || shown > alpha)
			return;
	}
}

/* Return how many decimals show that a value is not 0: four or more. */
static int miss_decimals(double miss)
{
	int decimals = 4;

	while (decimals < 9 && !(miss >= 0.5 * pow(10, -decimals)))
		decimals++;
	return decimals;
}

static bool test_passes(const struct board_group *group, size_t i)
{
	return group->verdict.tests[group->track->tests[i]].p < group->track->alpha;
}

/* List the tests that pass: "A,B", or "A only" if one does not. */
static void list_passed(struct buf *out, const struct board_group *group)
{
	const struct track *track = group->track;

	for (size_t i = 0; i < track->n_tests; i++)
		if (test_passes(group, i))
			buf_appendf(out, "%s%c", out->len > 0 ? "," : "",
				    'A' + (int)track->tests[i]);
	if (!all_of(i, track->n_tests, test_passes(group, i)))
		buf_append_str(out, " only");
}

/* Describe what decides whether the target is shown: "margin 0.0046, needs 0.004; n=10". */
static void describe_rule(char *out, size_t size, const struct board_group *group)
{
	const struct track *track = group->track;
	const struct board_target_test *test = &group->verdict.target;
	size_t n = group->seed_stats.n;
	char number[32];

	if (track->rule == TRACK_RULE_MEAN)
		(void)snprintf(out, size, "mean of %zu run%s", n, n == 1 ? "" : "s");
	else if (track->rule == TRACK_RULE_MARGIN)
		(void)snprintf(out, size, "margin %.5f, needs %g; %s%zu%s", test->margin_root_n,
			       track->margin_root_n, n == 1 ? "" : "n=", n,
			       n == 1 ? " run, with the track's spread" : "");
	else {
		format_p(number, sizeof(number), test->p, track->alpha);
		(void)snprintf(out, size, "p=%s, n=%zu", number, n);
	}
}

/* The mean reaches the target: set the verdict by the track's rule. */
static void word_by_rule(struct board_group *group)
{
	struct board_verdict *v = &group->verdict;
	const struct board_steps *steps = &group->steps;
	char rule[96], at[48] = "";

	describe_rule(rule, sizeof(rule), group);
	if (group->counts_steps)
		print_into(at, " at step %.0f", steps->step);
	v->word = v->target.is_shown ? BOARD_WORD_SHOWN : BOARD_WORD_NOT_SHOWN;
	if (v->target.is_shown)
		print_into(v->text, "TARGET SHOWN%s (%s)", at, rule);
	else if (group->counts_steps && steps->n_short > 0)
		print_into(v->text, "MEETS TARGET%s, NOT SHOWN (%zu of %zu runs ended before)", at,
			   steps->n_short, steps->n + steps->n_live + steps->n_short);
	else
		print_into(v->text, "MEETS TARGET%s, NOT SHOWN (%s)", at, rule);
}

/* The mean is past the bar: set the verdict by the tests. */
static void word_past_bar(struct board_group *group)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = group->track;
	bool target = run_has(track->target);
	const char *reached = target ? "MEETS TARGET" : "BEATS BAR";
	double p = v->tests[track->tests[0]].p;
	AUTO_BUF unchecked = buf_new(64);
	AUTO_BUF passed = buf_new(32);
	char p_text[32];

	if (target && track->rule != TRACK_RULE_T) {
		word_by_rule(group);
		return;
	}

	format_p(p_text, sizeof(p_text), p, track->alpha);
	if (test_passes(group, 0)) {
		v->word = BOARD_WORD_SHOWN;
		list_passed(&passed, group);
		list_caps(&unchecked, group, CAP_UNKNOWN, ", ");
		print_into(v->text, "%s (%s%s)%s%s%s", target ? "TARGET SHOWN" : "RECORD SHOWN",
			   target ? "p=" : "", target ? p_text : passed.data,
			   unchecked.len > 0 ? ", UNCHECKED (" : "", unchecked.data,
			   unchecked.len > 0 ? ")" : "");
		return;
	}
	v->word = BOARD_WORD_NOT_SHOWN;
	if (!run_has(p))
		print_into(v->text, "%s, NOT SHOWN (no spread, no test)", reached);
	else
		print_into(v->text, "%s, NOT SHOWN (p=%s, need %s%u seeds)", reached, p_text,
			   v->seeds_needed > 0 ? "~" : "over ",
			   v->seeds_needed > 0 ? v->seeds_needed : BOARD_MAX_NEEDED);
}

/* Set the verdict: the conditions are checked in order, and the first one that fails decides. */
static void word_group(struct board_group *group, const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = group->track;
	AUTO_BUF broken = buf_new(64);
	char at[48] = "";

	list_caps(&broken, group, CAP_BROKEN, "/");
	if (group == base) {
		v->word = BOARD_WORD_BASELINE;
		print_into(v->text, "BASELINE");
	} else if (group->n_counted == 0) {
		v->word = BOARD_WORD_NO_RUNS;
		print_into(v->text, "NO RUN COUNTS");
	} else if (broken.len > 0) {
		v->word = BOARD_WORD_INVALID;
		v->target.is_shown = false;
		print_into(v->text, "INVALID (%s)", broken.data);
	} else if (!track->has_record || (!run_has(track->target) && base == NULL)) {
		v->word = BOARD_WORD_NONE;
	} else if (!run_has(v->bar)) {
		v->word = BOARD_WORD_NOT_JUDGED;
		print_into(v->text, "NOT JUDGED (%s)",
			   base->n_counted == 0 ? "no run of the baseline counts"
			   : strcmp(base->score->name, group->score->name) != 0
				   ? "not scored by the baseline's metric"
				   : "nats per BPB unknown");
	} else if (group->n_seeds < track->min_seeds) {
		v->word = BOARD_WORD_NOT_JUDGED;
		print_into(v->text, "NOT JUDGED (%zu seed%s, need %zu)", group->n_seeds,
			   group->n_seeds == 1 ? "" : "s", track->min_seeds);
	} else if (run_has(track->target) ? !v->target.is_reached
					  : !(lower_is_better(group, group->seed_stats.mean) <=
					      lower_is_better(group, v->bar))) {
		v->word = BOARD_WORD_BELOW_BAR;
		double miss = lower_is_better(group, group->seed_stats.mean - v->bar);
		if (group->counts_steps)
			print_into(at, " at step %.0f", group->steps.step);
		print_into(v->text, "MISSES THE %s by %.*f%s",
			   run_has(track->target) ? "TARGET" : "BAR", miss_decimals(miss), miss,
			   at);
	} else {
		word_past_bar(group);
	}
}

/* A verdict may still change while runs go on, or if they only estimate the target's metric. */
static void mark_provisional(struct board_group *group)
{
	struct board_verdict *v = &group->verdict;
	AUTO_TEXT text = xstrdup(v->text);

	if (v->word == BOARD_WORD_NO_RUNS || v->word == BOARD_WORD_INVALID ||
	    group->n_live + group->n_estimates == 0)
		return;
	v->is_provisional = true;
	size_t n = group->n_live > 0 ? group->n_live : group->n_estimates;
	print_into(v->text, "PROVISIONAL: %s%s%zu run%s %s", text, text[0] != '\0' ? "; " : "", n,
		   n == 1 ? "" : "s",
		   group->n_live > 0 ? "still running" : "with an estimated score");
}

/* Compute how many seeds are needed if mean and spread stay the same, and their price. Only for a
 * mean that is past the bar but not shown to be, with no cap exceeded. */
static void plan_seeds(const struct board *board, struct board_group *group)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = group->track;
	const struct board_stats a = stats_to_test(group);
	double usd = 0, n = 0;

	if ((v->word != BOARD_WORD_NOT_SHOWN && v->word != BOARD_WORD_NOT_JUDGED) ||
	    !run_has(v->bar) || track->tests[0] != TRACK_TEST_A)
		return;
	if (track->rule == TRACK_RULE_T)
		v->seeds_planned =
			board_seeds_planned(&a, lower_is_better(group, v->bar), track->alpha,
					    BOARD_POWER, (unsigned int)track->min_seeds);
	else if (track->rule == TRACK_RULE_MARGIN && v->target.margin_root_n > 0)
		v->seeds_planned = (unsigned int)fmin(
			ceil((double)a.n * pow(track->margin_root_n / v->target.margin_root_n, 2) -
			     PAIR_ROUNDING),
			BOARD_MAX_NEEDED);
	board_each_counted (row, board, group) {
		if (!run_has(row->usd))
			continue;
		usd += row->usd;
		n++;
	}
	if (n > 0)
		v->usd_seed = usd / n;
	if (v->seeds_planned > group->n_seeds)
		v->usd_more = v->usd_seed * (double)(v->seeds_planned - group->n_seeds);
}

/* What decides the rank of a group. */
struct place {
	const struct track *track;
	bool has_mean;
	double keys[5]; /* the first that differs decides; the lower one is better */
	size_t index;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = y->has_mean - x->has_mean;

	if (order == 0)
		order = strcmp(x->track->name, y->track->name);
	for (size_t i = 0; i < LENGTH(x->keys) && order == 0; i++)
		order = (x->keys[i] > y->keys[i]) - (x->keys[i] < y->keys[i]);
	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* A group that keeps its caps comes first, then one that shows the target, then one whose verdict
 * is final; then what the track ranks by, the mean, and the given order decide. */
static struct place place_of(const struct board *board, const struct board_group *group)
{
	const struct track *track = group->track;
	bool by_score = board->score != NULL || track->rank_by == TRACK_RANK_SCORE;
	bool is_shown = !by_score && group->verdict.target.is_shown;
	double mean = lower_is_better(group, group->stats.mean), value = mean;

	if (is_shown && group->counts_steps)
		value = group->steps.step;
	else if (!by_score && group->counts_steps)
		value = -group->verdict.target.margin_root_n;
	else if (is_shown && track->rank_by == TRACK_RANK_TRAIN_S)
		value = run_has(group->train_ms.mean) ? group->train_ms.mean : (double)INFINITY;
	return (struct place){ track,
			       run_has(mean),
			       { group->verdict.word == BOARD_WORD_INVALID, !is_shown,
				 is_shown && group->verdict.is_provisional, value, mean },
			       (size_t)(group - board->groups) };
}

static void rank_all(struct board *board)
{
	AUTO_FREE struct place *places = xcalloc(board->n_groups + 1, sizeof(*places));

	board->rank = xcalloc(board->n_groups + 1, sizeof(*board->rank));
	for (size_t i = 0; i < board->n_groups; i++)
		places[i] = place_of(board, &board->groups[i]);
	qsort(places, board->n_groups, sizeof(*places), compare_places);
	for (size_t i = 0; i < board->n_groups; i++) {
		board->rank[i] = places[i].index;
		board->groups[board->rank[i]].rank = i;
	}
}

/* Compare pairs of groups that show the target, by the track's pairwise rule and by time. */
static void compare_records(struct board *board)
{
	board_each_ranked (group, board) {
		const struct board_group *other = board_baseline(board);
		const struct track *track = group->track;
		struct board_verdict *v = &group->verdict;
		double loss, steps;

		if (other == NULL)
			other = board_ranked(board, group->rank + 1);
		if (other == NULL || other == group || other->track != track ||
		    !v->target.is_shown || !other->verdict.target.is_shown)
			continue;
		v->other = other;
		compare_times(group, other);
		if (!group->counts_steps)
			continue;
		loss = lower_is_better(group, other->steps.stats.mean - group->steps.stats.mean);
		steps = other->steps.step - group->steps.step;
		v->pair_margin = (loss + steps * track->loss_per_step) /
				 sqrt(1 / (double)group->steps.n + 1 / (double)other->steps.n);
		v->pair_shown = v->pair_margin >= track->pair_margin_root_n - PAIR_ROUNDING;
	}
}

/* Read the series that the user chose as the score. */
static void read_chosen(struct board *board)
{
	pointer_each (row, board->rows, board->n_rows) {
		if (board->groups[row->group].is_values)
			continue;
		const struct run_series *series = run_series_find(&row->run, board->chosen_name);
		row->run.chosen = run_last_value(&row->run, board->chosen_name);
		if (series != NULL && series->metric < METRIC_COUNT)
			board->chosen_unit = metric_info(series->metric)->unit;
	}
}

void board_compute(struct board *board)
{
	const struct board_group *baseline = board_baseline(board);

	if (baseline != NULL)
		board->baseline = (size_t)(baseline - board->groups) + 1;
	name_all(board);
	merge_reports(board);
	if (board->score != NULL && run_number_is_chosen(board->score))
		read_chosen(board);
	find_tracks(board);
	array_each (group, board->groups, board->n_groups)
		group->score = choose_score(board, group);
	for (size_t i = 0; i < board->n_rows; i++)
		mark_use(board, board->rows[i]);
	find_copies(board);
	array_each (group, board->groups, board->n_groups)
		if (group->counts_steps)
			find_steps(board, group);
	array_each (group, board->groups, board->n_groups) {
		count_group(board, group);
		note_group(board, group);
	}
	find_across(board);
	pointer_each (row, board->rows, board->n_rows) {
		for (enum board_cap cap = 0; cap < BOARD_CAP_COUNT; cap++) {
			const struct track *track = board->groups[row->group].track;
			AUTO_BUF text = buf_new(sizeof(row->note));

			row->caps[cap] = board_check_cap(track, &row->run, cap, &text);
			if (text.len > 0)
				add_row_note(row, "%s", text.data);
		}
	}
	array_each (group, board->groups, board->n_groups)
		check_group_caps(board, group);
	array_each (group, board->groups, board->n_groups) {
		verdict_init(&group->verdict);
		measure_group(board, group, baseline);
		word_group(group, baseline);
		mark_provisional(group);
		plan_seeds(board, group);
	}
	rank_all(board);
	compare_records(board);
}

double board_mean(const struct board_group *group, const char *key)
{
	return group->means[run_number_by_name(str_from(key)) - run_numbers];
}

bool board_is_higher_better(const char *metric)
{
	static const char higher[] =
		"acc accuracy accuracies reward rewards score scores bleu rouge "
		"f1 mfu flops gflops tflops tps throughput";
	bool is_higher = str_ends_with(str_from(metric), "/s");
	const char *p = metric;

	while (*p != '\0') {
		struct str word = { p, 0 };

		/* A word ends at a symbol ("top1_acc") or before a capital letter ("valAcc"). */
		while (isalnum((unsigned char)*p) &&
		       !(p > word.p && islower((unsigned char)p[-1]) && isupper((unsigned char)*p)))
			p++;
		word.len = (size_t)(p - word.p);
		if (word.len == 0) {
			p++;
			continue;
		}
		is_higher |= str_is_like(word, higher);
		while (word.len > 1 && str_is_digit(word.p[word.len - 1])) /* "acc5" */
			word.len--;
		is_higher |= str_is_like(word, higher);
		if (str_is_like(word, "loss losses err error errors"))
			return false;
	}
	return is_higher;
}

const char *board_unit(const struct board *board, const struct board_group *group)
{
	struct str name = str_from(group->score->name);
	const char *unit = board->chosen_unit;

	if (!run_number_is_chosen(group->score) || group->score == &group->own)
		return str_ends_with(name, "_bpb")    ? "bpb"
		       : str_ends_with(name, "_loss") ? "nats"
						      : "value";
	if (unit != NULL && strcmp(unit, "bpb") == 0)
		return "bpb";
	return unit != NULL && strcmp(unit, "nats") == 0 ? "nats" : "value";
}

LIST_NAMES(board_use_name, board_use, BOARD_USE_LIST)
LIST_NAMES(board_cap_name, board_cap, BOARD_CAP_LIST)
LIST_NAMES(board_kept_name, board_kept, BOARD_KEPT_LIST)
LIST_NAMES(board_word_name, board_word, BOARD_WORD_LIST)
