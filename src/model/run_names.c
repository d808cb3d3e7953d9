/* SPDX-License-Identifier: MIT */
/* Find short, distinct names for runs. */
#include "model/run_names.h"

#include <sys/param.h>

#include "base/file.h"

#define NAME_BYTES   512
#define LEAST_PREFIX 6 /* bytes; shorter prefixes are kept */

/* What two runs have in common; each value includes those before it. */
enum alike { ALIKE_NOT, ALIKE_FOLDER, ALIKE_SEED, ALIKE_FILE, ALIKE_POD };

struct named {
	struct model_run *mr;
	struct str folder; /* without a common name such as "/logs" at its end */
	struct str name;   /* the end of the folder that differs from others */
	struct str stem;   /* the file name without ".log" or ".txt" */
};

bool run_names_is_common(struct str name)
{
	return name.len == 0 || str_is_among(name, "logs log runs out output outputs .");
}

static size_t last_part(struct str path)
{
	size_t at = path.len;

	while (at > 0 && path.p[at - 1] != '/')
		at--;
	return at;
}

/* Return the folder of a log without common names at its end. */
static struct str own_folder(const char *path)
{
	const char *name = file_name(path);
	struct str folder = STR_LIT(".");

	if (name > path)
		folder = (struct str){ path, MAX((size_t)(name - path) - 1, 1) };
	for (;;) {
		size_t at = last_part(folder);

		if (at == 0 || !run_names_is_common((struct str){ folder.p + at, folder.len - at }))
			return folder;
		folder.len = at - 1;
	}
}

char *run_names_group(const char *path)
{
	struct str folder = own_folder(path);
	size_t at = last_part(folder);
	struct str seed = str_skip(folder, at);
	bool is_seed = at != 1 && seed.len > 4 && str_starts_with(seed, "seed") &&
		       str_has_only(str_skip(seed, 4), "_-=0123456789") &&
		       str_is_digit(seed.p[seed.len - 1]);

	if (!is_seed)
		return file_folder(path);
	return at > 0 ? xstrndup(path, at - 1) : xstrdup(".");
}

static size_t common_end(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.p[a.len - 1 - n] == b.p[b.len - 1 - n])
		n++;
	return n;
}

static double get_seed(const struct model_run *mr)
{
	return run_has(mr->run.seed) ? mr->run.seed : -1;
}

static int compare_named(const void *first, const void *second)
{
	const struct named *x = first, *y = second;
	double seed_x = get_seed(x->mr), seed_y = get_seed(y->mr);
	struct str a = x->folder, b = y->folder;
	size_t same = common_end(a, b);
	/* Compare folders from their ends, so that folders that share most are neighbours. */
	int order = same == a.len || same == b.len ? (a.len > b.len) - (a.len < b.len)
						   : (unsigned char)a.p[a.len - 1 - same] -
							     (unsigned char)b.p[b.len - 1 - same];

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

static enum alike compare_runs(const struct named *x, const struct named *y)
{
	if (!str_eq(x->folder, y->folder))
		return ALIKE_NOT;
	if (get_seed(x->mr) < get_seed(y->mr) || get_seed(x->mr) > get_seed(y->mr))
		return ALIKE_FOLDER;
	if (!str_eq(x->stem, y->stem))
		return ALIKE_SEED;
	return x->mr->pod != y->mr->pod ? ALIKE_FILE : ALIKE_POD;
}

static size_t get_own_end(struct str folder, struct str other)
{
	size_t at = folder.len - common_end(folder, other);

	if (at > 0 && folder.p[at - 1] == '/')
		at--;
	return folder.len - last_part((struct str){ folder.p, at });
}

/* Name folders by their ends; returns whether there are several names. */
static bool name_folders(struct named *v, size_t n)
{
	for (size_t from = 0, to; from < n; from = to) {
		struct str folder = v[from].folder;
		size_t own = folder.len - last_part(folder), end;

		for (to = from; to < n && str_eq(folder, v[to].folder); to++)
			;
		if (from > 0) {
			end = get_own_end(folder, v[from - 1].folder);
			own = MAX(end, own);
		}
		if (to < n) {
			end = get_own_end(folder, v[to].folder);
			own = MAX(end, own);
		}
		for (size_t i = from; i < to; i++)
			v[i].name = (struct str){ folder.p + folder.len - own, own };
	}
	return !str_eq(v[0].folder, v[n - 1].folder);
}

/* Return the length of the prefix that all names share, up to the end of a word. */
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

/* Return the index after the runs of one folder and seed, of which the first is at `from`. */
static size_t find_alike(const struct named *v, size_t n, size_t from)
{
	size_t to = from + 1;

	while (to < n && compare_runs(&v[from], &v[to]) >= ALIKE_SEED)
		to++;
	return to;
}

/* Name the runs of one folder and seed. `by_file`: by their files too. */
static void name_alike(const struct model *model, struct named *v, size_t n, bool is_folder,
		       bool by_file)
{
	bool has_files =
		by_file || (n > 1 && !str_eq(v[0].stem, v[n - 1].stem)) ||
		(!is_folder && file_name(v[0].mr->path) > v[0].mr->path + v[0].folder.len + 1);

	for (size_t i = 0; i < n; i++) {
		enum alike with = ALIKE_NOT;
		bool has_file = has_files || v[i].name.len == 0 || run_names_is_common(v[i].name);
		AUTO_BUF name = buf_new(NAME_BYTES);

		if (i > 0)
			with = compare_runs(&v[i], &v[i - 1]);
		if (i + 1 < n && compare_runs(&v[i], &v[i + 1]) > with)
			with = compare_runs(&v[i], &v[i + 1]);
		/* A folder name that all runs share adds nothing to a file name. */
		if (!has_file || (is_folder && !run_names_is_common(v[i].name)))
			buf_append(&name, v[i].name.p, v[i].name.len);
		v[i].mr->name_folder = name.len;
		if (has_file)
			buf_appendf(&name, "%s%.*s", name.len > 0 ? "/" : "", (int)v[i].stem.len,
				    v[i].stem.p);
		if (with == ALIKE_FILE)
			buf_appendf(&name, " @%s", model_pod_name(model, v[i].mr->pod));
		if (with == ALIKE_POD)
			buf_appendf(&name, " #%u", v[i].mr->run.run_index + 1);
		xset_text(&v[i].mr->name, buf_detach(&name));
	}
}

void run_names_update(struct model *model)
{
	size_t n = model->n_runs, prefix;

	if (!model->names_changed)
		return;
	model->names_changed = false;
	AUTO_FREE struct named *v = xcalloc(n, sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		v[i].mr = model->runs[i];
		v[i].folder = own_folder(v[i].mr->path);
		v[i].stem = str_from(file_name(v[i].mr->path));
		if (v[i].stem.len > 4 &&
		    (str_ends_with(v[i].stem, ".log") || str_ends_with(v[i].stem, ".txt")))
			v[i].stem.len -= 4;
	}
	qsort(v, n, sizeof(*v), compare_named);
	bool several = name_folders(v, n);
	prefix = several ? common_prefix(v, n) : 0;
	for (size_t i = 0; i < n; i++) {
		v[i].name.p += prefix;
		v[i].name.len -= prefix;
	}
	bool by_file = false;
	for (size_t from = 0, to; from < n && !by_file; from = to) {
		to = find_alike(v, n, from);
		by_file = !str_eq(v[from].stem, v[to - 1].stem);
	}
	for (size_t from = 0, to; from < n; from = to) {
		to = find_alike(v, n, from);
		/* Next to runs named by their files, the only run of a folder is too. */
		bool is_alone = to - from == 1 &&
				(from == 0 || !str_eq(v[from - 1].folder, v[from].folder)) &&
				(to == n || !str_eq(v[from].folder, v[to].folder));
		name_alike(model, v + from, to - from, several, by_file && is_alone);
	}
}
