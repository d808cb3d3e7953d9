/* SPDX-License-Identifier: MIT */
/* Merge logs by the times of their lines, for the log view. */
#include "model/logtimed.h"

#include <assert.h>

#include "parsers/line_prefix.h"

#define BLOCK_BYTES (128U << 10)
#define LOOK_LINES  50U /* searched for times at the end of a log */
#define LINE_BYTES  256U
#define BASE	    (1ULL << 40) /* place of the first line in `below` */
#define NO_TIME	    INT64_MIN

struct entry {
	int64_t wall_ms;
	uint64_t at;
	size_t source;
};

struct entries {
	struct entry *v; /* owned */
	size_t n, cap;
};

struct source {
	const struct model_log *log;
	bool has_times; /* false: lines are ordered by their arrival */
	struct logfile *file;
	uint64_t from, to;	/* range that was read */
	int64_t oldest, newest; /* times in that range */
	struct entries waiting; /* ascending; read, but not merged yet */
};

struct logtimed {
	const struct model *model;
	struct source *sources;
	size_t n_sources;
	struct entries above; /* descending */
	struct entries below; /* ascending */
	struct entries fresh; /* scratch */
	char *block;	      /* scratch */
	size_t n_logs;	      /* logs of the model, when opened */
	uint64_t moves;	      /* sum over all logs, when opened */
	size_t gone;	      /* lines dropped from below */
	bool is_cut;
};

static int64_t read_time(struct str line)
{
	struct log_line prefix;

	line_prefix_split(line, &prefix);
	return prefix.wall_ms != 0 ? prefix.wall_ms : NO_TIME;
}

static bool has_times(struct source *source)
{
	uint64_t at = source->to;
	AUTO_BUF line = buf_new(LINE_BYTES);
	bool found = false;

	for (unsigned int i = 0; i < LOOK_LINES && at > 0 && !found; i++) {
		at = logfile_prev(source->file, at);
		logfile_read(source->file, at, &line);
		found = read_time(buf_str(&line)) != NO_TIME;
	}
	return found;
}

/* Open a log for reading backward from its end; false if it cannot be read. */
static bool open_source(struct source *source, const struct model_log *log)
{
	char end = '\n';

	*source = (struct source){ .log = log, .oldest = NO_TIME, .newest = NO_TIME };
	source->file = model_log_open(log);
	if (source->file == NULL)
		return false;
	source->to = logfile_size(source->file);
	/* A last line without a line end is read once it has one. */
	(void)logfile_pread(source->file, &end, 1, source->to - 1);
	if (source->to > 0 && end != '\n')
		source->to = logfile_prev(source->file, source->to);
	source->from = source->to;
	source->has_times = has_times(source);
	return true;
}

void logtimed_close(struct logtimed *timed)
{
	if (timed == NULL)
		return;
	for (size_t i = 0; i < timed->n_sources; i++) {
		logfile_close(timed->sources[i].file);
		free(timed->sources[i].waiting.v);
	}
	free(timed->sources);
	free(timed->above.v);
	free(timed->below.v);
	free(timed->fresh.v);
	free(timed->block);
	free(timed);
}

/* Compute a number that changes when the bytes of any log move to another file. */
static uint64_t count_moves(const struct model *model)
{
	uint64_t moves = 0;

	for (size_t i = 0; i < model->n_logs; i++)
		moves += model->logs[i]->moves;
	return moves;
}

struct logtimed *logtimed_open(const struct model *model)
{
	struct logtimed *timed =
		xnew(struct logtimed, .model = model, .n_logs = model->n_logs,
		     .moves = count_moves(model), .block = xmalloc(LOGFILE_SCAN_BYTES));
	size_t first = model->n_logs > LOGTIMED_MAX_LOGS ? model->n_logs - LOGTIMED_MAX_LOGS : 0;

	timed->sources = xcalloc(model->n_logs + 1, sizeof(*timed->sources));
	for (size_t i = first; i < model->n_logs; i++)
		timed->n_sources += open_source(&timed->sources[timed->n_sources], model->logs[i]);
	(void)logtimed_more(timed);
	return timed;
}

bool logtimed_is_stale(const struct logtimed *timed)
{
	return any_of(i, timed->n_sources, logfile_life(timed->sources[i].file) != 0) ||
	       timed->n_logs != timed->model->n_logs || timed->moves != count_moves(timed->model);
}

enum logtimed_order logtimed_order(const struct logtimed *timed)
{
	size_t with = 0, without = 0;

	for (size_t i = 0; i < timed->n_sources; i++) {
		with += timed->sources[i].has_times;
		without += !timed->sources[i].has_times && timed->sources[i].to > 0;
	}
	return without == 0 ? LOGTIMED_TIMES : with > 0 ? LOGTIMED_SOME : LOGTIMED_NONE;
}

/* Append the lines of a block to `fresh` in ascending order, from the first line with a time on or,
 * with `all`, from the first line. Returns where the first of them starts. Times never decrease: a
 * line with an earlier time, or without one, gets the time of the line before. */
static uint64_t add_block_lines(struct logtimed *timed, size_t of, struct str block, uint64_t at,
				bool all)
{
	const struct source *source = &timed->sources[of];
	struct entries *out = &timed->fresh;
	size_t begin = out->n;
	uint64_t end = at + block.len, first = end, place = at;
	int64_t now = NO_TIME;
	struct str line;

	while (place < end) {
		uint64_t here = place;

		(void)str_next(&block, '\n', &line);
		place += line.len + 1;
		int64_t own =
			source->has_times ? read_time(line) : logcame_at(&source->log->came, here);
		if (own > now)
			now = own;
		if (now == NO_TIME && !all)
			continue;
		if (here < first)
			first = here;
		xpush(out->v, out->n, out->cap, (struct entry){ now, here, of });
	}
	/* Lines before the first time get that time. */
	for (size_t i = out->n; i-- > begin;) {
		if (out->v[i].wall_ms == NO_TIME && i + 1 < out->n)
			out->v[i].wall_ms = out->v[i + 1].wall_ms;
	}
	return first;
}

/* Read the block before the range of a source that was read already. */
static void read_older(struct logtimed *timed, size_t of)
{
	struct source *source = &timed->sources[of];
	struct entries *waiting = &source->waiting, *fresh = &timed->fresh;
	uint64_t at = source->from;
	struct str block;

	fresh->n = 0;
	for (size_t want = BLOCK_BYTES; fresh->n == 0; want *= 2) {
		bool all = want >= LOGFILE_CUT_BYTES;

		/* Read whole lines before source->from; even the smallest block contains one. */
		at = source->from > want ? source->from - want : 0;
		if (at > 0)
			at = logfile_line_start(source->file, at);
		if (source->from - at > LOGFILE_SCAN_BYTES)
			at = logfile_prev(source->file, source->from);
		block.p = timed->block;
		block.len =
			logfile_pread(source->file, timed->block, (size_t)(source->from - at), at);
		if (block.len == 0)
			break;
		at = add_block_lines(timed, of, block, at, all || at == 0);
	}
	source->from = fresh->n > 0 ? at : 0;
	/* No line may be later than those after it in the same log. */
	for (size_t i = fresh->n; i-- > 0;) {
		if (source->oldest != NO_TIME &&
		    (fresh->v[i].wall_ms == NO_TIME || fresh->v[i].wall_ms > source->oldest))
			fresh->v[i].wall_ms = source->oldest;
	}
	if (fresh->n > 0) {
		source->oldest = fresh->v[0].wall_ms;
		if (source->newest == NO_TIME)
			source->newest = fresh->v[fresh->n - 1].wall_ms;
	}
	for (size_t i = 0; i < waiting->n; i++)
		xpush(fresh->v, fresh->n, fresh->cap, waiting->v[i]);
	free(waiting->v);
	*waiting = *fresh;
	*fresh = (struct entries){ NULL, 0, 0 };
}

static int newest_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->wall_ms != y->wall_ms)
		return x->wall_ms < y->wall_ms ? 1 : -1;
	if (x->source != y->source)
		return x->source < y->source ? 1 : -1;
	return (x->at < y->at) - (x->at > y->at);
}

/* Find an upper bound of all unread lines' times, and its source; NO_TIME if all is read. */
static int64_t find_horizon(const struct logtimed *timed, size_t *of)
{
	int64_t least = NO_TIME;

	*of = timed->n_sources;
	for (size_t i = 0; i < timed->n_sources; i++) {
		const struct source *source = &timed->sources[i];

		if (source->from == 0)
			continue;
		if (source->oldest == NO_TIME) {
			*of = i;
			return INT64_MAX;
		}
		if (*of == timed->n_sources || source->oldest > least) {
			least = source->oldest;
			*of = i;
		}
	}
	return least;
}

/* Merge the waiting lines that are not older than `oldest`; returns how many there were. */
static size_t merge_waiting(struct logtimed *timed, int64_t oldest)
{
	struct entries *above = &timed->above;
	size_t begin = above->n;

	for (size_t i = 0; i < timed->n_sources; i++) {
		struct entries *waiting = &timed->sources[i].waiting;

		while (waiting->n > 0 && waiting->v[waiting->n - 1].wall_ms >= oldest)
			xpush(above->v, above->n, above->cap, waiting->v[--waiting->n]);
	}
	if (above->n > begin)
		qsort(above->v + begin, above->n - begin, sizeof(*above->v), newest_first);
	return above->n - begin;
}

bool logtimed_more(struct logtimed *timed)
{
	size_t of;

	if (timed->is_cut)
		return false;
	for (;;) {
		int64_t oldest = find_horizon(timed, &of);

		if (oldest != INT64_MAX && merge_waiting(timed, oldest) > 0)
			break;
		if (of == timed->n_sources)
			return false;
		read_older(timed, of);
	}
	timed->is_cut = timed->above.n + timed->below.n > LOGTIMED_MAX_LINES;
	return true;
}

/* Read the whole lines that a source got at its end; false if there are none. */
static bool read_newer(struct logtimed *timed, size_t of)
{
	struct source *source = &timed->sources[of];
	size_t begin = timed->fresh.n, n;

	n = logfile_pread(source->file, timed->block, LOGFILE_SCAN_BYTES, source->to);
	const char *last = n > 0 ? memrchr(timed->block, '\n', n) : NULL;
	if (last == NULL)
		return false;
	n = (size_t)(last - timed->block) + 1;
	(void)add_block_lines(timed, of, (struct str){ timed->block, n }, source->to, true);
	source->to += n;
	for (size_t i = begin; i < timed->fresh.n; i++) {
		struct entry *entry = &timed->fresh.v[i];

		if (entry->wall_ms < source->newest)
			entry->wall_ms = source->newest;
		source->newest = entry->wall_ms;
	}
	return true;
}

bool logtimed_refresh(struct logtimed *timed)
{
	struct entries *below = &timed->below, *fresh = &timed->fresh;
	bool changed = false;

	for (size_t i = 0; i < timed->n_sources; i++)
		changed |= logfile_refresh(timed->sources[i].file);
	if (!changed)
		return false;
	fresh->n = 0;
	for (size_t i = 0; i < timed->n_sources; i++)
		while (read_newer(timed, i))
			;
	if (fresh->n > 0)
		qsort(fresh->v, fresh->n, sizeof(*fresh->v), newest_first);
	for (size_t i = fresh->n; i-- > 0;)
		xpush(below->v, below->n, below->cap, fresh->v[i]);
	if (timed->above.n + below->n > LOGTIMED_MAX_LINES)
		timed->is_cut = true;
	if (below->n > LOGTIMED_MAX_LINES) { /* keep the newest */
		size_t drop = below->n / 2;

		timed->above.n = 0;
		timed->gone += drop;
		below->n -= drop;
		memmove(below->v, below->v + drop, below->n * sizeof(*below->v));
	}
	return fresh->n > 0;
}

uint64_t logtimed_begin(const struct logtimed *timed)
{
	return timed->above.n > 0 ? BASE - timed->above.n : BASE + timed->gone;
}

uint64_t logtimed_end(const struct logtimed *timed)
{
	return BASE + timed->gone + timed->below.n;
}

bool logtimed_is_cut(const struct logtimed *timed)
{
	return timed->is_cut;
}

struct logtimed_line logtimed_at(const struct logtimed *timed, uint64_t place)
{
	const struct entry *entry;

	assert(place >= logtimed_begin(timed) && place < logtimed_end(timed));
	if (place >= BASE)
		entry = &timed->below.v[place - BASE - timed->gone];
	else
		entry = &timed->above.v[BASE - 1 - place];
	const struct source *source = &timed->sources[entry->source];
	return (struct logtimed_line){ source->log, source->file, entry->at };
}

bool logtimed_count(struct logtimed *timed, uint64_t budget)
{
	bool more = false;

	for (size_t i = 0; i < timed->n_sources && !more; i++)
		more = logfile_count(timed->sources[i].file, budget);
	return more;
}
