/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_JUDGE_H
#define HGYM_HARNESS_JUDGE_H

#include "parsers/harness_files.h"

/*
 * The files that judge a run: those that its post-attempt command names, those
 * called like a verifier or a benchmark, and modules that stand in the way of
 * what these import, themselves or by the standard library.  Each is held in
 * three places, see struct harness_judge.
 */

/* Parts of names that judge, and modules: lists parted by blanks. */
extern const char harness_judge_words[], harness_judge_libraries[];

/* The folders of a run that was put into files; NULL: there is none. */
struct harness_judge_folders {
	const char *run;       /* its folder's name */
	const char *path;      /* where that lies */
	const char *workspace; /* NULL: it lies in none */
};

/* Read them all, at most HARNESS_MAX_JUDGES of at most 1 MB each. */
void harness_judge_collect(struct harness_files *files,
			   const struct harness_judge_folders *folders);

#endif
