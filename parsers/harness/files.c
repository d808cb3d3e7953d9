/* SPDX-License-Identifier: MIT */
/* Store the needed files of a HarnessGym directory, each with its last complete content. */
#include "parsers/harness/files.h"

#include <fnmatch.h>

#define PATH_SIZE 1024

#define HARNESS_KIND_ROW(id, pattern, form) { pattern, HARNESS_##form },
static const struct {
	const char *pattern;
	enum harness_form form;
} kinds[] = { HARNESS_KIND_LIST(HARNESS_KIND_ROW) };

/* Parse "7" or "<word>_7"; HarnessGym writes no leading zeros. Returns 0 for anything else. */
static unsigned int parse_number(struct str name)
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

/* Read the run id and the numbers from the folders of a path; false if a number is invalid. */
static bool parse_folders(struct str rest, struct harness_path *out)
{
	struct str before = { NULL, 0 }, name;

	while (str_next(&rest, '/', &name)) {
		if (rest.len == 0)
			break; /* the name of the file */
		if (str_eq_cstr(before, "runs") && out->run.len == 0) {
			out->run = name;
		} else if (str_eq_cstr(before, "iterations") || str_starts_with(name, "trial_")) {
			out->number = parse_number(name);
			if (out->number == 0)
				return false;
			out->run = str_starts_with(name, "trial_") ? before : out->run;
		} else if (out->number > 0 && (str_starts_with(name, "attempt_") ||
					       str_starts_with(name, "repair_"))) {
			out->try = parse_number(name);
			if (out->try == 0)
				return false;
		}
		before = name;
	}
	return true;
}

bool harness_path_read(const char *path, struct harness_path *out)
{
	int kind = index_of(i, (int)HARNESS_KIND_COUNT,
			    fnmatch(kinds[i].pattern, path, FNM_PATHNAME | FNM_PERIOD) == 0);

	*out = (struct harness_path){ .kind = (enum harness_kind)kind };
	return kind < HARNESS_KIND_COUNT && parse_folders(str_from(path), out);
}

void harness_files_init(struct harness_files *files)
{
	*files = (struct harness_files){ .walk = 1, .process = HARNESS_UNKNOWN };
}

static void free_file(struct harness_file *file)
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
		free_file(files->all[i]);
	free(files->all);
	for (size_t i = 0; i < files->n_judges; i++) {
		free(files->judges[i].run);
		free(files->judges[i].name);
	}
	free(files->judges);
	map_release(&files->by_path, NULL);
	*files = (struct harness_files){ .walk = 1, .process = HARNESS_UNKNOWN };
}

/* Find or create the file at path; NULL if it is ignored or there are too many files. */
static struct harness_file *get_file(struct harness_files *files, const char *path)
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

/* Replace the stored content of a file; false, without any change, if the new content is torn. */
static bool store_content(struct harness_file *file, struct str text, bool cut)
{
	if (kinds[file->kind].form == HARNESS_JSON) {
		struct str trimmed = str_trim(text);
		bool is_closed = !cut && trimmed.len > 0 && trimmed.p[trimmed.len - 1] == '}';
		cJSON *root = is_closed ? json_parse(trimmed, JSON_BARE_TEXT, NULL) : NULL;

		if (!cJSON_IsObject(root)) {
			cJSON_Delete(root);
			return false;
		}
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
	if (kinds[file->kind].form != HARNESS_TABLE)
		return true;
	/* `seen` grows with added rows. A table with only a header is a new table. */
	struct str rest = { file->text, file->len }, header;
	if (file->seen == NULL || !str_next(&rest, '\n', &header) || rest.len == 0 ||
	    (file->len >= file->seen_len && memcmp(file->text, file->seen, file->seen_len) == 0)) {
		free(file->seen);
		file->seen = xstrndup(file->text, file->len);
		file->seen_len = file->len;
	}
	return true;
}

bool harness_files_put(struct harness_files *files, const char *path, struct str text, bool cut,
		       int64_t mtime_ms)
{
	size_t before = files->n;
	struct harness_file *file = get_file(files, path);
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
	file->torn = !store_content(file, text, cut);
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

	/* The stored content of a torn file is older than this ctime: keep the old ctime. */
	if (file == NULL || file->ctime_ms == ctime_ms || (file->torn && file->ctime_ms > 0))
		return;
	file->ctime_ms = ctime_ms;
	files->generation++;
}

void harness_files_judge(struct harness_files *files, const char *run, const char *name,
			 const struct harness_judge_copy copies[3])
{
	struct harness_judge *judge =
		array_find(one, files->judges, files->n_judges,
			   strcmp(one->run, run) == 0 && strcmp(one->name, name) == 0);

	if (judge == NULL && files->n_judges == HARNESS_MAX_JUDGES)
		return;
	if (judge == NULL) {
		judge = xplace(files->judges, files->n_judges, files->cap_judges);
		*judge = (struct harness_judge){ .run = xstrdup(run), .name = xstrdup(name) };
	}
	for (size_t i = 0; i < 3; i++) {
		struct harness_judge_copy *to = &judge->copies[i];

		files->generation +=
			to->ctime_ms != copies[i].ctime_ms || strcmp(to->sum, copies[i].sum) != 0;
		*to = copies[i];
	}
}

/* Drop all files that were last found before this walk. */
static void drop_before(struct harness_files *files, unsigned int walk)
{
	size_t kept = 0;

	harness_each (file, files) {
		if (file->walk >= walk) {
			files->all[kept++] = file;
			continue;
		}
		map_remove(&files->by_path, str_from(file->path));
		free_file(file);
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

const cJSON *harness_files_json(const struct harness_files *files, const char *path)
{
	const struct harness_file *file = harness_files_get(files, path);

	return file != NULL ? file->json : NULL;
}

const struct harness_file *harness_files_find(const struct harness_files *files,
					      enum harness_kind kind, const char *run,
					      unsigned int number, unsigned int try)
{
	const unsigned int numbers[2] = { number, try };
	const char *p = kinds[kind].pattern;
	size_t used = 0, next = 0;
	char path[PATH_SIZE];

	/* Replace "*" in the pattern with the run, and "[0-9]*" with the numbers. */
	while (*p != '\0' && used < sizeof(path)) {
		char *to = path + used;
		size_t room = sizeof(path) - used;

		if (strncmp(p, "[0-9]*", 6) == 0 && next < 2) {
			used += (size_t)snprintf(to, room, "%u", numbers[next++]);
			p += 6;
		} else if (*p == '*') {
			used += (size_t)snprintf(to, room, "%s", run);
			p++;
		} else {
			path[used++] = *p++;
		}
	}
	if (used >= sizeof(path)) /* the path is too long */
		return NULL;
	path[used] = '\0';
	return harness_files_get(files, path);
}
