/* SPDX-License-Identifier: MIT */
/*
 * Which files of a HarnessGym directory count, and the last whole content of
 * each; filled by src/harness and read by the other harness_* of this folder.
 */
#include "parsers/harness_files.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

#define PATH_SIZE 1024

static const struct {
	const char *pattern;
	enum harness_form form;
} kinds[] = {
#define X(id, pattern, form) { pattern, HARNESS_##form },
	HARNESS_KIND_LIST(X)
#undef X
};

enum harness_form harness_kind_form(enum harness_kind kind)
{
	return kinds[kind].form;
}

static bool fits(const char *pattern, const char *path)
{
	return fnmatch(pattern, path, FNM_PATHNAME | FNM_PERIOD) == 0;
}

/*
 * A name that is a number as HarnessGym writes it (no zero before it), or
 * "<word>_<number>"; 0 when it is not.
 */
static unsigned int number_in(struct str name)
{
	const char *bar = memrchr(name.p, '_', name.len);
	uint64_t value;

	if (bar != NULL) {
		name.len -= (size_t)(bar + 1 - name.p);
		name.p = bar + 1;
	}
	return name.len > 0 && name.p[0] != '0' && str_to_u64(name, &value) &&
			       value <= HARNESS_MAX_NUMBER
		       ? (unsigned int)value
		       : 0;
}

/* Run id and numbers from the folders of the path; false: a wrong number. */
static bool read_folders(struct str rest, struct harness_path *out)
{
	struct str before = { NULL, 0 }, name;

	while (str_next(&rest, '/', &name)) {
		if (rest.len == 0)
			break; /* the file's own name */
		if (str_eq_cstr(before, "runs")) {
			out->run = name;
		} else if (str_eq_cstr(before, "iterations") || str_starts_with(name, "trial_")) {
			out->number = number_in(name);
			if (out->number == 0)
				return false;
		} else if (out->number > 0 && (str_starts_with(name, "attempt_") ||
					       str_starts_with(name, "repair_"))) {
			out->try = number_in(name);
			if (out->try == 0)
				return false;
		}
		before = name;
	}
	return true;
}

bool harness_path_read(const char *path, struct harness_path *out)
{
	for (size_t i = 0; i < HARNESS_KIND_COUNT; i++) {
		if (!fits(kinds[i].pattern, path))
			continue;
		*out = (struct harness_path){ .kind = (enum harness_kind)i };
		return read_folders(str_from(path), out);
	}
	return false;
}

void harness_files_init(struct harness_files *files)
{
	*files = (struct harness_files){ .walk = 1, .process = HARNESS_UNKNOWN };
	map_init(&files->by_path);
}

static void file_free(struct harness_file *file)
{
	cJSON_Delete(file->json);
	free(file->text);
	free(file->seen);
	free(file->run);
	free(file->path);
	free(file);
}

void harness_files_release(struct harness_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		file_free(files->all[i]);
	free(files->all);
	for (size_t i = 0; i < files->n_judges; i++) {
		free(files->judges[i].run);
		free(files->judges[i].name);
	}
	free(files->judges);
	map_release(&files->by_path, NULL);
	*files = (struct harness_files){ .walk = 1, .process = HARNESS_UNKNOWN };
}

/* The file at path, made when it is new; NULL when it does not count. */
static struct harness_file *file_at(struct harness_files *files, const char *path)
{
	struct harness_file *file = map_get(&files->by_path, str_from(path));
	struct harness_path what;

	if (file != NULL)
		return file;
	if (!harness_path_read(path, &what) || strlen(path) >= PATH_SIZE)
		return NULL;
	files->full |= files->n >= HARNESS_MAX_FILES;
	if (files->n >= HARNESS_MAX_FILES)
		return NULL;
	file = xcalloc(1, sizeof(*file));
	file->path = xstrdup(path);
	file->kind = what.kind;
	file->run = xstrndup(what.run.p != NULL ? what.run.p : "", what.run.len);
	file->number = what.number;
	file->try = what.try;
	file->text = xstrdup("");
	files->all = xgrow(files->all, files->n, &files->cap, sizeof(struct harness_file *));
	files->all[files->n++] = file;
	map_set(&files->by_path, str_from(path), file);
	return file;
}

/* Parse a JSON file's content; NULL when it is empty, torn or no object. */
static cJSON *whole_object(struct str text)
{
	text = str_trim(text);
	if (text.len == 0 || text.p[text.len - 1] != '}')
		return NULL;
	cJSON *root = json_parse(text, JSON_BARE_TEXT, NULL);
	if (root != NULL && !cJSON_IsObject(root)) {
		cJSON_Delete(root);
		root = NULL;
	}
	return root;
}

/* A table of its head alone is a new one; else rows are only added. */
static void keep_seen(struct harness_file *file)
{
	struct str rest = { file->text, file->len }, head;

	if (file->seen != NULL && str_next(&rest, '\n', &head) && rest.len > 0 &&
	    (file->len < file->seen_len || memcmp(file->text, file->seen, file->seen_len) != 0))
		return;
	free(file->seen);
	file->seen = xstrndup(file->text, file->len);
	file->seen_len = file->len;
}

/* Take a content that differs from the one before; false when it is torn. */
static bool take(struct harness_file *file, struct str text, bool cut)
{
	if (harness_kind_form(file->kind) == HARNESS_JSON) {
		cJSON *root = cut ? NULL : whole_object(text);

		if (root == NULL)
			return false;
		cJSON_Delete(file->json);
		file->json = root;
		return true;
	}
	if (text.len == 0 && file->len > 0)
		return false;
	if (file->len > 0 && !file->cut &&
	    (text.len < file->len || memcmp(file->text, text.p, file->len) != 0))
		file->replaced_ms = file->ctime_ms;
	free(file->text);
	file->text = xstrndup(text.p != NULL ? text.p : "", text.len);
	file->len = text.len;
	file->cut = cut;
	if (harness_kind_form(file->kind) == HARNESS_TABLE)
		keep_seen(file);
	return true;
}

bool harness_files_put(struct harness_files *files, const char *path, struct str text, bool cut,
		       int64_t mtime_ms)
{
	size_t before = files->n;
	struct harness_file *file = file_at(files, path);
	uint64_t hash = str_hash(text);
	bool is_new = files->n > before, moved;

	if (file == NULL)
		return false;
	file->walk = files->walk;
	moved = file->mtime_ms != mtime_ms;
	file->mtime_ms = mtime_ms;
	if (!is_new && hash == file->hash && text.len > 0) {
		file->torn = false;
		files->generation += moved;
		return moved;
	}
	file->torn = !take(file, text, cut);
	if (!file->torn)
		file->hash = hash;
	if (file->torn && !is_new)
		return false;
	files->generation++;
	return true;
}

void harness_files_changed(struct harness_files *files, const char *path, int64_t ctime_ms)
{
	struct harness_file *file = map_get(&files->by_path, str_from(path));

	/* What is kept of a torn one is older. */
	if (file == NULL || file->ctime_ms == ctime_ms || (file->torn && file->ctime_ms > 0))
		return;
	file->ctime_ms = ctime_ms;
	files->generation++;
}

static struct harness_judge *judge_at(struct harness_files *files, const char *run,
				      const char *name)
{
	for (size_t i = 0; i < files->n_judges; i++)
		if (strcmp(files->judges[i].run, run) == 0 &&
		    strcmp(files->judges[i].name, name) == 0)
			return &files->judges[i];
	if (files->n_judges == HARNESS_MAX_JUDGES)
		return NULL;
	files->judges =
		xgrow(files->judges, files->n_judges, &files->cap_judges, sizeof(*files->judges));
	struct harness_judge *judge = &files->judges[files->n_judges++];
	*judge = (struct harness_judge){ .run = xstrdup(run), .name = xstrdup(name) };
	return judge;
}

void harness_files_judge(struct harness_files *files, const char *run, const char *name,
			 const struct harness_judge_copy copies[3])
{
	struct harness_judge *judge = judge_at(files, run, name);

	if (judge == NULL)
		return;
	for (size_t i = 0; i < 3; i++) {
		struct harness_judge_copy *to = &judge->copies[i];

		files->generation +=
			to->ctime_ms != copies[i].ctime_ms || strcmp(to->sum, copies[i].sum) != 0;
		*to = copies[i];
	}
}

/* Drop the files that no walk has seen since that one. */
static void drop_before(struct harness_files *files, unsigned int walk)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->n; i++) {
		struct harness_file *file = files->all[i];

		if (file->walk >= walk) {
			files->all[kept++] = file;
			continue;
		}
		map_remove(&files->by_path, str_from(file->path));
		file_free(file);
		files->generation++;
	}
	files->n = kept;
}

void harness_files_gone(struct harness_files *files, struct str path)
{
	struct harness_file *file = map_get(&files->by_path, path);

	if (file == NULL)
		return;
	file->walk = 0;
	drop_before(files, 1);
}

void harness_files_walked(struct harness_files *files)
{
	drop_before(files, files->walk - 1);
	files->walk++;
}

const struct harness_file *harness_files_get(const struct harness_files *files, const char *path)
{
	return map_get(&files->by_path, str_from(path));
}

/*
 * The path of that kind: in its pattern the run for "*", the numbers for
 * "[0-9]*"; false when it is too long.
 */
static bool make_path(char *out, size_t size, enum harness_kind kind, const char *run,
		      const unsigned int numbers[2])
{
	const char *p = kinds[kind].pattern;
	size_t used = 0, next = 0;

	while (*p != '\0' && used < size) {
		if (strncmp(p, "[0-9]*", 6) == 0 && next < 2) {
			used += (size_t)snprintf(out + used, size - used, "%u", numbers[next++]);
			p += 6;
		} else if (*p == '*') {
			used += (size_t)snprintf(out + used, size - used, "%s", run);
			p++;
		} else {
			out[used++] = *p++;
		}
	}
	if (used >= size)
		return false;
	out[used] = '\0';
	return true;
}

const struct harness_file *harness_files_find(const struct harness_files *files,
					      enum harness_kind kind, const char *run,
					      unsigned int number, unsigned int try)
{
	const unsigned int numbers[2] = { number, try };
	char path[PATH_SIZE];

	return make_path(path, sizeof(path), kind, run, numbers) ? harness_files_get(files, path)
								 : NULL;
}
