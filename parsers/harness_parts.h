/* SPDX-License-Identifier: MIT */
#pragma once

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
	bool ordered;	  /* the times of files tell which came first */
	bool is_newest;	  /* no run of the workspace was begun later */
};

/* harness_proof.c */
/* Set b->ordered; before any other file of the run is read. */
void harness_proof_begin(struct harness_build *b);
/* Whether the file is of an earlier run under the same name. */
bool harness_proof_is_old(const struct harness_build *b, const struct harness_file *file);
/* Whether a summary of the run is HarnessGym's, which writes it last. */
bool harness_proof_is_over(const struct harness_build *b);
/* What the outputs of baseline and iterations are worth; doubts are set. */
void harness_proof_read(struct harness_build *b);
/* Whether the run was begun while another one was under way; then too. */
void harness_proof_alone(struct harness_build *b, const struct harness_workspace *ws);

/* Keep a sentence about sources that contradict each other. */
void harness_dispute(struct harness_build *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* harness_post.c */
/*
 * The score, the cases and the verdict are of out, what the command printed;
 * node, HarnessGym's record of it (NULL: none), tells how it ended and what
 * it says of the score itself.  out NULL: the output is lost.
 */
void harness_post_read(struct harness_build *b, struct harness_post *post, const cJSON *node,
		       const struct harness_file *out, struct str errors);
/* Its number counts for nothing, and that is why. */
void harness_post_doubt(struct harness_build *b, struct harness_post *post, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * That file of the run (of that attempt to qualify or repair), its text or its
 * tree; NULL or empty: there is none, or it is of an earlier run of that name.
 */
const struct harness_file *harness_try_file(const struct harness_build *b, enum harness_kind kind,
					    unsigned int number, unsigned int try);
const struct harness_file *harness_run_file(const struct harness_build *b, enum harness_kind kind,
					    unsigned int number);
struct str harness_text_file(const struct harness_build *b, enum harness_kind kind,
			     unsigned int number);
const cJSON *harness_json_file(const struct harness_build *b, enum harness_kind kind,
			       unsigned int number);
/* The number behind "--<name> " or "--<name>=" of a command line. */
struct str harness_flag(const char *command, const char *name);

/* harness_calls.c */
void harness_calls_read(struct harness_pool *pool, struct harness_calls *calls,
			const struct harness_files *files);
/* Lines of the workspace's own list from before start_ms. */
unsigned int harness_calls_before(const struct harness_files *files, int64_t start_ms);
/* The best in-session score of each iteration, from history files. */
void harness_history_read(struct harness_build *b);

/* harness_usage.c */
/* Add what the phases of that iteration tell of their cost. */
void harness_usage_read(struct harness_build *b, struct harness_usage *usage, unsigned int number);
void harness_usage_sum(struct harness_usage *sum, const struct harness_usage *more);

/* harness_table.c */
/* Whether the files are of an agent's own table, and that as a run. */
bool harness_table_is(const struct harness_files *files);
void harness_table_read(struct harness_build *b);

/* harness_life.c */
void harness_life_read(struct harness_build *b, const struct harness_calls *calls);
