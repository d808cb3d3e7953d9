/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_INPUT_H
#define HGYM_BOARD_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "board/score_board.h"
#include "conf/conf.h"
#include "model/board.h"
#include "parsers/format.h"
#include "parsers/pattern.h"
#include "store/query.h"

/* What names the group of a run. */
enum board_by {
	BOARD_BY_DIRNAME,
	BOARD_BY_FILE,	 /* every file is a group */
	BOARD_BY_SOURCE, /* the training script printed into the log */
	BOARD_BY_POD,	 /* of the database; files are of no pod */
	BOARD_BY_PATTERN,
};

/* Runs from files and tables into a board. */
struct board_input {
	struct board *board;		  /* borrowed */
	const struct format_set *formats; /* borrowed */
	enum board_by by;
	struct pattern *pattern;   /* owned; of BOARD_BY_PATTERN */
	const char *forced_key;	   /* all runs into this group; NULL: by `by` */
	struct score_board scores; /* owned; of verifiers, no runs */
	size_t n_runs;		   /* read so far */
	size_t n_files;		   /* logs read so far */
	size_t n_dropped;	   /* runs beyond what a board takes */
	int status; /* exit status of the last that could not be read */
};

/* "dirname", "file", "source", "pod" or a pattern. */
int board_input_group_by(struct board_input *input, const char *text,
			 struct err *err) __attribute__((warn_unused_result));
/* The same as the configuration has it. */
int board_input_group_conf(struct board_input *input, const struct conf *conf,
			   struct err *err) __attribute__((warn_unused_result));
void board_input_release(struct board_input *input);

/*
 * Read logs, tables, directories, globs and "-".  What cannot be read is told
 * on stderr and makes status non-zero; the rest is read.
 */
void board_input_read(struct board_input *input, char *const *argv, size_t n);

/* The group of a run of the database; owned by the caller. */
char *board_input_key(const struct board_input *input,
		      const struct stored_run *stored);
/* All runs of the database; a directory is one group over all pods. */
int board_input_store(struct board_input *input, struct store *store,
		      struct err *err) __attribute__((warn_unused_result));

/*
 * The baseline as a user gives it: "[NAME=]v1,v2,..", a group that is there,
 * or logs, a table or a directory that become one group.
 */
int board_input_baseline(struct board_input *input, const char *text,
			 struct err *err) __attribute__((warn_unused_result));

/* "[NAME=]v1,v2,..": a group of bare scores; -1 when it is none. */
int board_input_values(struct board_input *input, const char *text,
		       const char *default_name, struct err *err)
	__attribute__((warn_unused_result));

#endif
