/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/run.h"

/* For files in parsers/harness only. */

#define HARNESS_NAME_MAX 200U
#define HARNESS_NOTE_MAX 400U

/* Format a number for a message. */
#define NUMBER(value) str_number((value), 10, (char[STR_NUMBER_SIZE]){ "" })

/* One run while it is being read. */
struct harness_build {
	struct harness_pool *pool;
	const struct harness_files *files;
	struct harness_run *run;
	const cJSON *summary; /* NULL: none */
	int64_t now_ms;
	int64_t until_ms; /* start of the next run in the workspace */
	bool is_newest;	  /* no run of the workspace started later */
};

/* Each file calls only functions of the files listed before it: source.c, calls.c, usage.c,
 * judge.c, post.c, proof.c, table.c, life.c, run.c. */

/* source.c */
/* Is the file left from an earlier run with the same id? */
bool harness_is_old(const struct harness_build *b, const struct harness_file *file);
/* Find a file of the run by kind, iteration (0: none) and attempt; return the file, its text or its
 * JSON. The result is NULL or empty if the file is missing, or from an earlier run of this id. */
const struct harness_file *harness_try_file(const struct harness_build *b, enum harness_kind kind,
					    unsigned int number, unsigned int try);
const struct harness_file *harness_run_file(const struct harness_build *b, enum harness_kind kind,
					    unsigned int number);
/* Does the phase have a prompt but no output? */
bool harness_is_open(const struct harness_build *b, enum harness_kind prompt,
		     enum harness_kind output, unsigned int number);
struct str harness_text_file(const struct harness_build *b, enum harness_kind kind,
			     unsigned int number);
const cJSON *harness_json_file(const struct harness_build *b, enum harness_kind kind,
			       unsigned int number);
/* Find the word after "--<name> " or "--<name>=" in a command line; empty: none. */
struct str harness_flag(const char *command, const char *name);
/* Add a sentence to run->disputes: two sources contradict each other. */
void harness_dispute(struct harness_build *b, const char *fmt, ...) LIKE_PRINTF(2, 3);

/* proof.c */
/* Set run->ordered. Must be called before any other file of the run is read. */
void harness_proof_begin(struct harness_build *b);
/* Was the summary written after everything else, as HarnessGym does? */
bool harness_proof_is_over(const struct harness_build *b);
/* Set the proof of baseline and iterations, and the doubts about their outputs. */
void harness_proof_read(struct harness_build *b);
/* Set doubts if the run started while another run was active. */
void harness_proof_alone(struct harness_build *b, const struct harness_workspace *ws);

/* Compare the output `own` with `base`, another output of the same verifier: a program that forges
 * an output may not know everything that the verifier prints. Numbers are comparable only if they
 * were measured on the same device, in the same mode. If the outputs differ, `why` gets the first
 * reason, which names the source of `base` as `whose`. */
bool harness_output_matches(const char *score_key, const cJSON *base, const cJSON *own,
			    const char *whose, char why[HARNESS_NAME_MAX]);

/* post.c */
/* Read one execution of a measuring command. The score, cases and verdict come from `out`, the
 * output of the command (NULL: lost). `node` is HarnessGym's record (NULL: none): how the command
 * ended, and the score that HarnessGym read. */
void harness_post_read(struct harness_build *b, struct harness_post *post, const cJSON *node,
		       const struct harness_file *out, struct str errors);
/* Invalidate the score, and set the reason unless it already has one. */
void harness_post_doubt(struct harness_build *b, struct harness_post *post, const char *fmt, ...)
	LIKE_PRINTF(3, 4);

/* calls.c */
void harness_calls_read(struct harness_pool *pool, struct harness_calls *calls,
			const struct harness_files *files);
/* Count the calls in the workspace before start_ms. */
unsigned int harness_calls_before(const struct harness_files *files, int64_t start_ms);
/* Set the best in-session score of each iteration, from the history files. */
void harness_history_read(struct harness_build *b);

/* usage.c */
/* Add the usage that the phases of this iteration report. */
void harness_usage_read(struct harness_build *b, union harness_usage *usage, unsigned int number);
void harness_usage_sum(union harness_usage *sum, const union harness_usage *more);

/* judge.c */
/* Read the strings of a JSON array, in their order. */
struct harness_names harness_names_of(struct harness_pool *pool, const cJSON *array);
/* Read what the machine of the run reports about its judge. */
void harness_judge_read(struct harness_build *b);

/* table.c */
/* Detect an agent's table of experiments, and read it as a run. */
bool harness_table_is(const struct harness_files *files);
void harness_table_read(struct harness_build *b);

/* life.c */
void harness_life_read(struct harness_build *b, const struct harness_calls *calls);
