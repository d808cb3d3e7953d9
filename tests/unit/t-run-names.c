/* SPDX-License-Identifier: MIT */
/* Names of runs: short and distinct. */
#include "base/str.h"
#include "model/run_names.h"

#include "tests/support/tap.h"

#define MOST 8

/* A run of a log, and its expected name. */
struct named {
	size_t pod;
	const char *path;
	double seed; /* 0: none */
	unsigned int index;
	const char *want;
};

static void are_named(const char *what, const struct named *v)
{
	struct model model;
	struct model_run *runs[MOST];
	size_t n = 0;

	model_init(&model);
	(void)model_pod_add(&model, "a", "a");
	(void)model_pod_add(&model, "b", "b");
	for (; v[n].path != NULL; n++) {
		runs[n] = model_run_get(&model, v[n].pod, v[n].path, v[n].index);
		if (v[n].seed > 0)
			runs[n]->run.seed = v[n].seed;
		/* Compute the names after each run, because each one may change them. */
		run_names_update(&model);
	}
	for (size_t i = 0; i < n; i++)
		is_str(runs[i]->name, v[i].want, what);
	model_release(&model);
}

int main(void)
{
	are_named("directories of seeds",
		  (const struct named[]){ { 0, "/w/gate-lqer/s1.log", 1, 0, "gate-lqer" },
					  { 0, "/w/gate-lqer/s2.log", 2, 0, "gate-lqer" },
					  { 0, "/w/base/s1.log", 1, 0, "base" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("a common prefix is dropped, up to the end of a word",
		  (const struct named[]){ { 0, "/w/2026-04-22_A/t.log", 1, 0, "22_A" },
					  { 0, "/w/2026-04-29_A/t.log", 1, 0, "29_A" },
					  { 0, "/w/2026-04-29_B/logs/t.log", 1, 0, "29_B" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("a name is never dropped completely",
		  (const struct named[]){ { 0, "/w/longname/t.log", 1, 0, "longname" },
					  { 0, "/w/longname-b/t.log", 1, 0, "longname-b" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("directories with the same name get their parent",
		  (const struct named[]){ { 0, "/w/x/try/t.log", 1, 0, "x/try" },
					  { 0, "/w/y/try/t.log", 1, 0, "y/try" },
					  { 0, "/try/t.log", 1, 0, "/try" },
					  { 0, "/w/z/t.log", 1, 0, "z" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("without seeds, a run is named by its file",
		  (const struct named[]){ { 0, "/w/logs/3f-1.txt", 0, 0, "3f-1" },
					  { 0, "/w/logs/4a-2.txt", 0, 0, "4a-2" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("without seeds, in one directory: named by the file",
		  (const struct named[]){ { 0, "/w/nano/logs/3f-1.txt", 1, 0, "3f-1" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("a directory logs is not used as a name",
		  (const struct named[]){ { 0, "logs/a.txt", 0, 0, "a" },
					  { 0, "logs/b.txt", 7, 0, "b" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("a repeated seed is named by its file too",
		  (const struct named[]){ { 0, "/w/x/a.log", 1, 0, "x/a" },
					  { 0, "/w/x/b.log", 1, 0, "x/b" },
					  { 0, "/w/x/c.log", 2, 0, "x" },
					  { 0, "/w/y/c.log", 2, 0, "y/c" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("next to runs named by their files, a folder's name is not enough",
		  (const struct named[]){ { 0, "/w/a.log", 1, 0, "w/a" },
					  { 0, "/w/b.log", 1, 0, "w/b" },
					  { 0, "/w/other/c.log", 1, 0, "other/c" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("for the same file, pod or index is added",
		  (const struct named[]){ { 0, "/w/x/a.log", 1, 0, "x @a" },
					  { 1, "/w/x/a.log", 1, 0, "x @b" },
					  { 1, "/w/y/a.log", 2, 0, "y #1" },
					  { 1, "/w/y/a.log", 2, 1, "y #2" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("seeds in folders of their own",
		  (const struct named[]){ { 0, "/w/x/seed_0/t.log", 0, 0, "seed_0" },
					  { 0, "/w/x/seed_1/logs/t.log", 0, 0, "seed_1" },
					  { 0, NULL, 0, 0, NULL } });
	are_named("paths without a name", (const struct named[]){ { 0, "/", 0, 0, "" },
								  { 0, "a", 0, 0, "a" },
								  { 0, "", 0, 1, "" },
								  { 1, "//logs//", 9, 0, "" },
								  { 0, NULL, 0, 0, NULL } });
	return tap_done();
}
