/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_HARNESS_PARTS_H
#define HGYM_PARSERS_HARNESS_PARTS_H

#include "parsers/harness_run.h"

/* What the harness_*.c of this folder share; nobody else includes it. */

#define HARNESS_NAME_MAX 200U
#define HARNESS_NOTE_MAX 400U
#define HARNESS_PATH_MAX 1024U

/* One run while it is being read. */
struct harness_build {
	struct harness_pool *pool;
	const struct harness_files *files;
	struct harness_run *run;
	const cJSON *summary; /* NULL: none */
	int64_t now_ms;
	int64_t until_ms; /* when the next run of the workspace began */
};

/* harness_post.c */
void harness_post_read(struct harness_build *b, struct harness_post *post,
		       const cJSON *node, struct str out, struct str errors);
/* A baseline of which only the output is left. */
void harness_post_from_output(struct harness_build *b,
			      struct harness_post *post, struct str out,
			      struct str errors);
/* That file of the run, its text or its tree; NULL or empty: there is none. */
const struct harness_file *harness_run_file(const struct harness_build *b,
					    enum harness_kind kind,
					    unsigned int number);
struct str harness_text_file(const struct harness_build *b,
			     enum harness_kind kind, unsigned int number);
const cJSON *harness_json_file(const struct harness_build *b,
			       enum harness_kind kind, unsigned int number);
/* The number behind "--<name> " or "--<name>=" of a command line. */
struct str harness_flag(const char *command, const char *name);

/* harness_calls.c */
void harness_calls_read(struct harness_pool *pool, struct harness_calls *calls,
			const struct harness_files *files);
/* Lines of the workspace's own list from before start_ms. */
unsigned int harness_calls_before(const struct harness_files *files,
				  int64_t start_ms);
/* The best in-session score of each iteration, from history files. */
void harness_history_read(struct harness_build *b);

/* harness_life.c */
void harness_life_read(struct harness_build *b,
		       const struct harness_calls *calls);

#endif
