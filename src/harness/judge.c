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
	struct buf imports; /* " a b ": what the judges import */
};

static int64_t
judge_ctime(const struct stat *st)
{
	return (int64_t)st->st_ctim.tv_sec * 1000 +
	       st->st_ctim.tv_nsec / 1000000;
}

/* What a plain file holds; -1: it is none, of which only the time is told. */
static int
judge_read(const char *path, struct buf *text, int64_t *ctime_ms)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	char block[65536];
	ssize_t n = -1;

	*ctime_ms = lstat(path, &st) == 0 ? judge_ctime(&st) : 0;
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
	struct harness_judge_copy copies[3], *best = &copies[HARNESS_BEST];
	struct stat st;

	for (size_t i = 0; i < 3; i++)
		judge_sum(s->roots[i], name, &copies[i]);
	/* What was taken away from the checkpoint has left a trace there. */
	if (s->roots[HARNESS_BEST] != NULL &&
	    lstat(s->roots[HARNESS_BEST], &st) == 0 &&
	    judge_ctime(&st) > best->ctime_ms)
		best->ctime_ms = judge_ctime(&st);
	harness_files_judge(s->files, s->folders->run, name, copies);
}

const char harness_judge_words[] = "verif bench judge reference oracle timing "
				   "timer evaluate grader score scoring golden "
				   "expected measure";
/* Modules of a verifier's world that a new file beside it can hide. */
const char harness_judge_libraries[] =
	" abc argparse ast base64 bisect calendar codecs collections contextlib"
	" copy csv ctypes cupy dataclasses datetime decimal dis enum fractions"
	" functools gc glob hashlib heapq importlib inspect io itertools json"
	" keyword linecache locale logging math multiprocessing numbers numpy"
	" opcode operator os pathlib pickle platform queue random re reprlib"
	" resource scipy secrets select selectors shlex shutil signal socket"
	" statistics string struct subprocess sys tempfile textwrap threading"
	" time timeit token tokenize torch traceback triton types typing"
	" unittest uuid warnings weakref zipfile ";

/* Add the modules of "import a, b as c" or "from a import b" to a list. */
static void
judge_follow_line(struct buf *imports, struct str line)
{
	struct str word, part;
	bool from;

	line = str_trim(line);
	if (!str_next(&line, ' ', &word))
		return;
	from = str_eq_cstr(word, "from");
	if (!from && !str_eq_cstr(word, "import"))
		return;
	while (str_next(&line, ',', &part)) {
		size_t n = 0;

		part = str_trim(part);
		while (n < part.len &&
		       (isalnum((unsigned char)part.p[n]) || part.p[n] == '_'))
			n++;
		buf_append(imports, part.p, n);
		buf_append_str(imports, " ");
		if (from)
			break;
	}
}

/* Every module that the judge's source imports. */
static void
judge_follow_imports(struct search *s, const char *name)
{
	AUTO_TEXT path = xasprintf("%s/%s", s->roots[HARNESS_TEMPLATE], name);
	AUTO_BUF text = buf_new(MAX_BYTES);
	struct str rest, line;
	int64_t ctime_ms;

	if (judge_read(path, &text, &ctime_ms) != 0)
		return;
	rest = buf_str(&text);
	while (str_next(&rest, '\n', &line))
		judge_follow_line(&s->imports, line);
}

static bool
judge_lists(const char *list, const char *name, size_t len)
{
	AUTO_TEXT word = xasprintf(" %.*s ", (int)len, name);

	return strstr(list, word) != NULL;
}

/* Files of the workspace that are imported where a judge imports another. */
static void
judge_add_shadows(const struct search *s)
{
	DIR *folder = s->roots[HARNESS_WORK] != NULL
			      ? opendir(s->roots[HARNESS_WORK])
			      : NULL;
	const struct dirent *entry;
	size_t n = 0;

	while (folder != NULL && (entry = readdir(folder)) != NULL &&
	       n++ < MAX_ENTRIES) {
		const char *name = entry->d_name;
		size_t len = strcspn(name, ".");
		AUTO_TEXT own =
			xasprintf("%s/%s", s->roots[HARNESS_TEMPLATE], name);
		AUTO_TEXT init = xasprintf("%s/__init__.py", name);
		AUTO_TEXT is_folder =
			xasprintf("%s/%s", s->roots[HARNESS_WORK], init);

		if (len == 0 || access(own, F_OK) == 0 ||
		    (!judge_lists(harness_judge_libraries, name, len) &&
		     !judge_lists(s->imports.data, name, len)))
			continue;
		if (access(is_folder, F_OK) == 0)
			judge_add(s, init);
		else if (strcmp(name + len, ".py") == 0 ||
			 strcmp(name + len, ".pyc") == 0 ||
			 strstr(name + len, ".so") != NULL)
			judge_add(s, name);
	}
	if (folder != NULL)
		(void)closedir(folder);
}

/* Whether a file of the template judges, by its name. */
static bool
judge_is(const struct search *s, const char *name)
{
	struct str rest = str_from(harness_judge_words), word;
	const char *base =
		strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name;
	bool is_judge = strstr(s->command, base) != NULL;

	while (!is_judge && str_next(&rest, ' ', &word)) {
		AUTO_TEXT part = xstrndup(word.p, word.len);

		is_judge = strcasestr(base, part) != NULL;
	}
	return is_judge;
}

/* Every judge below a folder of the template ("" is all of it). */
static void
judge_walk(struct search *s, const char *below, unsigned int depth)
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
	buf_init(&s.imports, MAX_BYTES);
	buf_append_str(&s.imports, " ");
	if (judge_is_folder(s.roots[HARNESS_TEMPLATE])) {
		judge_walk(&s, "", 0);
		judge_add_shadows(&s);
	}
	buf_release(&s.imports);
	for (size_t i = 0; i < 3; i++)
		free(s.roots[i]);
}
