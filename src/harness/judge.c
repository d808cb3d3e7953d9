/* SPDX-License-Identifier: MIT */
/* The files that judge a run of this machine; called by dir. */
#include "config.h"

#include "harness/judge.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "base/xalloc.h"

#define MAX_BYTES   ((size_t)1024 * 1024)
#define MAX_ENTRIES 1024
#define MAX_DEPTH   3
#define NO_FILE	    "none"

/* One run's judges while they are looked for. */
struct search {
	struct harness_files *files;
	const char *command; /* "" when the configuration tells none */
	const struct harness_judge_folders *folders;
	char *roots[3]; /* owned; by enum harness_place_of; NULL: not there */
};

/* What a plain file holds; -1: it is none, of which only the time is told. */
static int
judge_read(const char *path, struct buf *text, int64_t *ctime_ms)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	char block[65536];
	ssize_t n = -1;

	*ctime_ms = lstat(path, &st) == 0 ? (int64_t)st.st_ctim.tv_sec * 1000 +
						    st.st_ctim.tv_nsec / 1000000
					  : 0;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		while ((n = read(fd, block, sizeof(block))) > 0)
			buf_append(text, block, (size_t)n);
	(void)close(fd);
	return n < 0 || text->truncated ? -1 : 0;
}

static void
judge_sum(const char *root, const char *name, struct harness_judge_copy *copy)
{
	char *path;
	struct buf text;
	struct sha256 sha;

	*copy = (struct harness_judge_copy){ .sum = "" };
	if (root == NULL)
		return;
	path = xasprintf("%s/%s", root, name);
	buf_init(&text, MAX_BYTES);
	(void)snprintf(copy->sum, sizeof(copy->sum), "%s", NO_FILE);
	if (judge_read(path, &text, &copy->ctime_ms) == 0) {
		sha256_init(&sha);
		sha256_update(&sha, text.data, text.len);
		sha256_hex(&sha, copy->sum);
		sha256_release(&sha);
	}
	buf_release(&text);
	free(path);
}

static void
judge_add(const struct search *s, const char *name)
{
	struct harness_judge_copy copies[3];

	for (size_t i = 0; i < 3; i++)
		judge_sum(s->roots[i], name, &copies[i]);
	harness_files_judge(s->files, s->folders->run, name, copies);
}

static bool
judge_exists(const char *root, const char *name, const char *suffix)
{
	char *path = xasprintf("%s/%s%s", root, name, suffix);
	struct stat st;
	bool is_there = lstat(path, &st) == 0;

	free(path);
	return is_there;
}

/* A module that the judge imports, which lies beside it now alone. */
static void
judge_add_shadow(const struct search *s, const char *module)
{
	const char *work = s->roots[HARNESS_WORK];
	static const char *const suffixes[] = { ".py", "/__init__.py" };

	if (work == NULL ||
	    judge_exists(s->roots[HARNESS_TEMPLATE], module, ".py"))
		return;
	for (size_t i = 0; i < 2; i++) {
		char *name = xasprintf("%s%s", module, suffixes[i]);

		if (judge_exists(work, module, suffixes[i]) &&
		    !judge_exists(s->roots[HARNESS_TEMPLATE], module,
				  suffixes[i]))
			judge_add(s, name);
		free(name);
	}
}

/* The name at the start of *rest, which is taken off. */
static void
judge_take_name(struct str *rest, char *name, size_t size)
{
	size_t n = 0;

	*rest = str_trim(*rest);
	while (n < rest->len && n < size - 1 &&
	       (isalnum((unsigned char)rest->p[n]) || rest->p[n] == '_')) {
		name[n] = rest->p[n];
		n++;
	}
	name[n] = '\0';
}

/* "import a, b as c" or "from a import b". */
static void
judge_follow_line(const struct search *s, struct str line)
{
	struct str word, part;
	char module[128];
	bool from;

	line = str_trim(line);
	if (!str_next(&line, ' ', &word))
		return;
	from = str_eq_cstr(word, "from");
	if (!from && !str_eq_cstr(word, "import"))
		return;
	while (str_next(&line, ',', &part)) {
		judge_take_name(&part, module, sizeof(module));
		if (*module != '\0')
			judge_add_shadow(s, module);
		if (from)
			break;
	}
}

/* Every module that the judge's source imports. */
static void
judge_follow_imports(const struct search *s, const char *name)
{
	char *path = xasprintf("%s/%s", s->roots[HARNESS_TEMPLATE], name);
	struct str rest, line;
	int64_t ctime_ms;
	struct buf text;

	buf_init(&text, MAX_BYTES);
	(void)judge_read(path, &text, &ctime_ms);
	rest = (struct str){ text.data, text.len };
	while (str_next(&rest, '\n', &line))
		judge_follow_line(s, line);
	buf_release(&text);
	free(path);
}

/* Whether a file of the template judges, by its name. */
static bool
judge_is(const struct search *s, const char *name)
{
	static const char *const words[] = { "verif", "bench", "judge",
					     "reference", "oracle" };
	const char *base =
		strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name;

	if (strstr(s->command, base) != NULL)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(base, words[i]) != NULL)
			return true;
	return false;
}

/* Every judge below a folder of the template ("" is all of it). */
static void
judge_walk(const struct search *s, const char *below, unsigned int depth)
{
	char *path = xasprintf("%s/%s", s->roots[HARNESS_TEMPLATE], below);
	DIR *folder = opendir(path);
	const struct dirent *entry;
	size_t n = 0;

	free(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL &&
	       n++ < MAX_ENTRIES) {
		struct stat st;
		char *name = xasprintf("%s%s%s", below, *below ? "/" : "",
				       entry->d_name);

		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(folder), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) != 0) {
			free(name);
			continue;
		}
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
			judge_walk(s, name, depth + 1);
		} else if (S_ISREG(st.st_mode) && judge_is(s, name)) {
			judge_add(s, name);
			judge_follow_imports(s, name);
		}
		free(name);
	}
	if (folder != NULL)
		(void)closedir(folder);
}

static bool
judge_is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void
harness_judge_collect(struct harness_files *files,
		      const struct harness_judge_folders *folders)
{
	const struct harness_file *config =
		harness_files_find(files, HARNESS_CONFIG, folders->run, 0, 0);
	struct search s = { .files = files, .folders = folders };

	if (config == NULL)
		return;
	s.command = json_get_string(config->json, "post_attempt_command", "");
	s.roots[HARNESS_TEMPLATE] =
		xasprintf("%s/qualification/workspace_template", folders->path);
	s.roots[HARNESS_BEST] = xasprintf("%s/checkpoints/best", folders->path);
	if (!judge_is_folder(s.roots[HARNESS_BEST])) {
		free(s.roots[HARNESS_BEST]);
		s.roots[HARNESS_BEST] = NULL;
	}
	if (folders->workspace != NULL)
		s.roots[HARNESS_WORK] = xstrdup(folders->workspace);
	if (judge_is_folder(s.roots[HARNESS_TEMPLATE]))
		judge_walk(&s, "", 0);
	for (size_t i = 0; i < 3; i++)
		free(s.roots[i]);
}
