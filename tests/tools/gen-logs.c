/* SPDX-License-Identifier: MIT */
/* Write generated training logs into a directory: for benchmarks, tests and the demo. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "tests/tools/loggen.h"

struct plan {
	const char *folder;
	uint64_t files; /* 0: until max_bytes are written */
	uint64_t max_bytes;
	uint64_t seed;
	int dialect;	/* -1: all in turn */
	int fate;	/* -1: mostly finish, sometimes another one */
	uint64_t every; /* a row every N steps; 0: the dialect's default */
};

static int usage(void)
{
	(void)fprintf(stderr, "usage: gen-logs [--files N] [--mb N] [--seed N] "
			      "[--dialect NAME] [--fate NAME]\n"
			      "                [--every N | --dense] FOLDER\n"
			      "dialects:");
	for (int i = 0; i < LOGGEN_N_DIALECTS; i++)
		(void)fprintf(stderr, " %s", loggen_dialect_name(i));
	(void)fprintf(stderr, "\nfates:");
	for (int i = 0; i < LOGGEN_N_FATES; i++)
		(void)fprintf(stderr, " %s", loggen_fate_name(i));
	(void)fprintf(stderr, "\n");
	return 2;
}

static bool parse_word(struct plan *plan, const char *name, const char *value)
{
	struct str v = str_from(value);

	if (strcmp(name, "--files") == 0)
		return str_to_u64(v, &plan->files);
	if (strcmp(name, "--seed") == 0)
		return str_to_u64(v, &plan->seed);
	if (strcmp(name, "--every") == 0)
		return str_to_u64(v, &plan->every);
	if (strcmp(name, "--mb") == 0) {
		bool good = str_to_u64(v, &plan->max_bytes);

		plan->max_bytes *= 1000000;
		return good;
	}
	if (strcmp(name, "--dialect") == 0)
		return (plan->dialect = loggen_dialect_by_name(value)) >= 0;
	if (strcmp(name, "--fate") == 0)
		return (plan->fate = loggen_fate_by_name(value)) >= 0;
	return false;
}

static bool parse_arguments(struct plan *plan, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--dense") == 0)
			plan->every = 1;
		else if (i + 1 >= argc || !parse_word(plan, argv[i], argv[i + 1]))
			return false;
		else
			i++;
	}
	if (i != argc - 1)
		return false;
	plan->folder = argv[i];
	if (plan->files == 0 && plan->max_bytes == 0)
		plan->files = 6;
	return true;
}

static void make_recipe(const struct plan *plan, uint64_t i, struct loggen_recipe *recipe)
{
	int dialect = plan->dialect >= 0 ? plan->dialect : (int)(i % LOGGEN_N_DIALECTS);

	loggen_recipe_init(recipe, dialect, plan->seed + i);
	if (plan->fate >= 0)
		recipe->fate = plan->fate;
	else if (i % 7 == 6)
		recipe->fate = (int)(i / 7 % LOGGEN_N_FATES);
	if (plan->every > 0)
		recipe->log_every = (unsigned int)plan->every;
}

/* Write one log; returns its size in bytes, or -1. */
static long write_log(const char *path, const struct loggen_recipe *recipe)
{
	struct loggen *gen;
	struct loggen_line line;
	FILE *out = fopen(path, "w");
	long bytes = 0;
	bool bad;

	if (out == NULL)
		return -1;
	gen = loggen_new(recipe);
	while (loggen_next(gen, &line)) {
		(void)fwrite(line.text, 1, line.len, out);
		bytes += (long)line.len;
	}
	loggen_free(gen);
	bad = ferror(out) != 0;
	bad = fclose(out) != 0 || bad;
	return bad ? -1 : bytes;
}

int main(int argc, char **argv)
{
	struct plan plan = { .seed = 1, .dialect = -1, .fate = -1 };
	uint64_t bytes = 0;

	if (!parse_arguments(&plan, argc, argv))
		return usage();
	if (mkdir(plan.folder, 0777) != 0 && errno != EEXIST) {
		(void)fprintf(stderr, "gen-logs: %s: %s\n", plan.folder, strerror(errno));
		return 1;
	}
	for (uint64_t i = 0; plan.files > 0 ? i < plan.files : bytes < plan.max_bytes; i++) {
		struct loggen_recipe recipe;
		char path[4096];
		long n;

		make_recipe(&plan, i, &recipe);
		(void)snprintf(path, sizeof(path), "%s/%s_seed%llu.log", plan.folder,
			       loggen_dialect_name(recipe.dialect),
			       (unsigned long long)recipe.seed);
		n = write_log(path, &recipe);
		if (n < 0) {
			(void)fprintf(stderr, "gen-logs: %s: %s\n", path, strerror(errno));
			return 1;
		}
		bytes += (uint64_t)n;
	}
	return 0;
}
