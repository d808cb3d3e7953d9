/* SPDX-License-Identifier: MIT */
/* What to call runs, so that each can be told from its neighbours. */
#include "model/run_names.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"

#define NAME_BYTES   512
#define LEAST_PREFIX 6 /* bytes; a shorter one is worth reading */

/* How far two runs are the same. */
enum alike { ALIKE_NOT, ALIKE_FOLDER, ALIKE_SEED, ALIKE_FILE, ALIKE_POD };

struct named {
	struct model_run *mr;
	struct str folder; /* without "/logs" and the like */
	struct str name;   /* as much of its end as is its own */
	struct str stem;   /* of the file */
	size_t date;	   /* bytes of name's begin that it can do without */
};

bool run_names_is_common(struct str name)
{
	static const char *const names[] = { "logs",   "log",	  "runs", "out",
					     "output", "outputs", ".",	  "" };

	return any_of(i, LENGTH(names), str_eq_cstr(name, names[i]));
}

/* Where the last part of a path begins. */
static size_t last_part(struct str path)
{
	size_t at = path.len;

	while (at > 0 && path.p[at - 1] != '/')
		at--;
	return at;
}

static struct str folder_of(const struct model_run *mr)
{
	struct str folder = str_from(mr->group);

	for (;;) {
		size_t at = last_part(folder);

		if (at == 0 || !run_names_is_common((struct str){ folder.p + at, folder.len - at }))
			return folder;
		folder.len = at - 1;
	}
}

/* The file's name without the ending of a log. */
static struct str stem_of(const struct model_run *mr)
{
	struct str stem = str_from(file_name(mr->path));

	if (stem.len > 4 && (memcmp(stem.p + stem.len - 4, ".log", 4) == 0 ||
			     memcmp(stem.p + stem.len - 4, ".txt", 4) == 0))
		stem.len -= 4;
	return stem;
}

static size_t common_end(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.p[a.len - 1 - n] == b.p[b.len - 1 - n])
		n++;
	return n;
}

/* By their ends: those that share most are neighbours. */
static int compare_folders(struct str a, struct str b)
{
	size_t n = common_end(a, b);

	if (n == a.len || n == b.len)
		return (a.len > b.len) - (a.len < b.len);
	return (unsigned char)a.p[a.len - 1 - n] - (unsigned char)b.p[b.len - 1 - n];
}

static double seed_of(const struct model_run *mr)
{
	return run_has(mr->run.seed) ? mr->run.seed : -1;
}

/* By folder, seed, file, pod, and place in the file. */
static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	double seed_x = seed_of(x->mr), seed_y = seed_of(y->mr);
	int order = compare_folders(x->folder, y->folder);

	if (order == 0)
		order = (seed_x > seed_y) - (seed_x < seed_y);
	if (order == 0)
		order = strcmp(file_name(x->mr->path), file_name(y->mr->path));
	if (order == 0)
		order = (x->mr->pod > y->mr->pod) - (x->mr->pod < y->mr->pod);
	if (order == 0)
		order = (x->mr->run.run_index > y->mr->run.run_index) -
			(x->mr->run.run_index < y->mr->run.run_index);
	return order;
}

static enum alike alike(const struct named *x, const struct named *y)
{
	if (!str_eq(x->folder, y->folder))
		return ALIKE_NOT;
	if (seed_of(x->mr) < seed_of(y->mr) || seed_of(x->mr) > seed_of(y->mr))
		return ALIKE_FOLDER;
	if (!str_eq(x->stem, y->stem))
		return ALIKE_SEED;
	return x->mr->pod != y->mr->pod ? ALIKE_FILE : ALIKE_POD;
}

/* As much of the folder's end as is none of the other's. */
static size_t own_end(struct str folder, struct str other)
{
	size_t at = folder.len - common_end(folder, other);

	if (at > 0 && folder.p[at - 1] == '/')
		at--;
	return folder.len - last_part((struct str){ folder.p, at });
}

/* Name folders by their ends; whether they have several names. */
static bool name_folders(struct named *v, size_t n)
{
	for (size_t from = 0, to; from < n; from = to) {
		struct str folder = v[from].folder;
		size_t own = folder.len - last_part(folder), end;

		for (to = from; to < n && str_eq(folder, v[to].folder); to++)
			;
		if (from > 0) {
			end = own_end(folder, v[from - 1].folder);
			own = end > own ? end : own;
		}
		if (to < n) {
			end = own_end(folder, v[to].folder);
			own = end > own ? end : own;
		}
		for (size_t i = from; i < to; i++)
			v[i].name = (struct str){ folder.p + folder.len - own, own };
	}
	return !str_eq(v[0].folder, v[n - 1].folder);
}

/* The bytes of "2026-04-06_", which a name begins with; 0: it does not. */
static size_t date_of(struct str name)
{
	static const char date[] = "dddd-dd-dd_";

	if (name.len < sizeof(date))
		return 0;
	for (size_t i = 0; date[i] != '\0'; i++)
		if (date[i] == 'd' ? name.p[i] < '0' || name.p[i] > '9' : name.p[i] != date[i])
			return 0;
	return sizeof(date) - 1;
}

/* Whether their dates alone tell the names apart. */
static bool is_dated_twin(struct str a, struct str b)
{
	return str_eq(str_skip(a, date_of(a)), str_skip(b, date_of(b)));
}

/* Names whose dates are needed keep them; twins are neighbours. */
static void find_dates(struct named *v, size_t n)
{
	for (size_t from = 0, to; from < n; from = to) {
		size_t date = date_of(v[from].name);

		for (to = from; to < n && str_eq(v[to].folder, v[from].folder); to++)
			;
		if ((from > 0 && is_dated_twin(v[from - 1].name, v[from].name)) ||
		    (to < n && is_dated_twin(v[to].name, v[from].name)))
			date = 0;
		for (size_t i = from; i < to; i++)
			v[i].date = date;
	}
}

/* Bytes that all names begin with, up to where a word ends. */
static size_t common_prefix(const struct named *v, size_t n)
{
	struct str first = v[0].name;
	size_t len = first.len > 0 ? first.len - 1 : 0;

	for (size_t i = 1; i < n; i++) {
		size_t k = 0;

		while (k < len && k + 1 < v[i].name.len && v[i].name.p[k] == first.p[k])
			k++;
		len = k;
	}
	while (len > 0 && strchr("_-. /", first.p[len - 1]) == NULL)
		len--;
	return len >= LEAST_PREFIX ? len : 0;
}

/* What the folder leaves open: file, pod or place in the file. */
static void add_rest(const struct model *model, const struct named *run, enum alike with,
		     bool has_file, struct buf *out)
{
	if (has_file)
		buf_appendf(out, "%s%.*s", out->len > 0 ? "/" : "", (int)run->stem.len,
			    run->stem.p);
	if (with == ALIKE_FILE)
		buf_appendf(out, " @%s", model_pod_name(model, run->mr->pod));
	if (with == ALIKE_POD)
		buf_appendf(out, " #%u", run->mr->run.run_index + 1);
}

/* Name the runs of one folder and seed. */
static void name_alike(const struct model *model, struct named *v, size_t n, bool is_folder)
{
	bool has_files = (n > 1 && !str_eq(v[0].stem, v[n - 1].stem)) ||
			 (!is_folder && v[0].folder.len < strlen(v[0].mr->group));

	for (size_t i = 0; i < n; i++) {
		enum alike with = ALIKE_NOT;
		bool has_file = has_files || v[i].name.len == 0 || run_names_is_common(v[i].name);
		AUTO_BUF name = buf_new(NAME_BYTES);

		if (i > 0)
			with = alike(&v[i], &v[i - 1]);
		if (i + 1 < n && alike(&v[i], &v[i + 1]) > with)
			with = alike(&v[i], &v[i + 1]);
		/* One that all have tells nothing beside the file. */
		if (!has_file || (is_folder && !run_names_is_common(v[i].name)))
			buf_append(&name, v[i].name.p, v[i].name.len);
		v[i].mr->name_folder = name.len;
		v[i].mr->name_date = name.len > 0 ? v[i].date : 0;
		add_rest(model, &v[i], with, has_file, &name);
		free(v[i].mr->name);
		v[i].mr->name = buf_detach(&name);
	}
}

/* What names are made of, in a number. */
static uint64_t state_of(const struct model *model)
{
	uint64_t state = model->n_runs;

	for (size_t i = 0; i < model->n_runs; i++)
		state = state * 31 + (uint64_t)(int64_t)seed_of(model->runs[i]);
	return state + 1;
}

void run_names_update(struct model *model)
{
	size_t n = model->n_runs, prefix;
	struct named *v;

	if (n == 0 || model->names_of == state_of(model))
		return;
	model->names_of = state_of(model);
	v = xcalloc(n, sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		v[i].mr = model->runs[i];
		v[i].folder = folder_of(v[i].mr);
		v[i].stem = stem_of(v[i].mr);
	}
	qsort(v, n, sizeof(*v), compare_named);
	bool several = name_folders(v, n);
	prefix = several ? common_prefix(v, n) : 0;
	for (size_t i = 0; i < n; i++) {
		v[i].name.p += prefix;
		v[i].name.len -= prefix;
	}
	find_dates(v, n);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && alike(&v[from], &v[to]) >= ALIKE_SEED; to++)
			;
		name_alike(model, v + from, to - from, several);
	}
	free(v);
}
