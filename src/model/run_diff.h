/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_RUN_DIFF_H
#define HGYM_MODEL_RUN_DIFF_H

#include "base/buf.h"
#include "base/map.h"
#include "model/model.h"

/*
 * What two runs were set to do, as their logs print it: the settings before
 * the first row with a loss (`name: value`, `name=value`), and the training
 * script.
 *
 * A name that is told twice with two values is no setting.
 */
#define RUN_TEXT_MAX_SETTINGS 4096U
#define RUN_TEXT_MAX_LINES    100000U
#define RUN_TEXT_MAX_SOURCE   (8U << 20) /* bytes */

struct run_setting {
	char *name, *value; /* owned, raw bytes */
	bool varies;
	unsigned int run; /* of which it was told */
};

struct run_text {
	struct run_setting *settings; /* owned */
	size_t n, cap;
	struct map index;  /* name to index + 1 */
	struct buf source; /* of the script printed last; lines end with LF */
	unsigned int run;  /* of the log, from 0 */
	bool in_source;
	bool is_over; /* the first row with a loss came: nothing more counts */
};

void run_text_init(struct run_text *text);
void run_text_release(struct run_text *text);
/* The next line of the run, without its end. */
void run_text_line(struct run_text *text, struct str line,
		   enum line_class class);

/*
 * The next run of the log begins: what it does not tell anew, as several runs
 * of one process do not, stays as it was.
 */
void run_text_next_run(struct run_text *text);

/*
 * All of that of a run whose log lies on this machine; false: it does not, or
 * the run is beyond RUN_TEXT_MAX_LINES of it.
 */
bool run_text_read(struct run_text *text, const struct model_run *mr);

/* Values are borrowed of the texts; NULL: that one does not tell it. */
struct run_differing {
	const char *name, *a, *b;
};

struct run_diff {
	struct run_differing *settings; /* owned, in the order of their names */
	size_t n_settings;
	bool has_a, has_b; /* whether a script was printed */
	struct buf source; /* unified, 3 lines around; raw bytes; "": none */
	size_t removed, added; /* lines of a that are not in b, and of b */
};

/* Both texts must outlive it. */
void run_diff_init(struct run_diff *diff, const struct run_text *a,
		   const struct run_text *b);
void run_diff_release(struct run_diff *diff);
/* "source differs in 14 lines, 3 settings differ". */
void run_diff_say(const struct run_diff *diff, struct buf *out);
/*
 * All of it as lines, sanitised: the settings, then the script.  A removed line
 * begins with '-', an added one with '+', a place with '@'.
 */
void run_diff_print(const struct run_diff *diff, struct buf *out);

#endif
