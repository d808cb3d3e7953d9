/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/format.h"
#include "parsers/templates.h"

/* Turns the bytes of one log into runs. The calls do not depend on how the bytes are split. The
 * reader needs bounded memory and uses no file, clock or network, so a live log, its local copy and
 * a file read at once give the same runs. */
struct run_reader;

/* All are optional; run and sample are borrowed for the call. */
struct run_reader_cb {
	/* A row gave a new point of run number `run->run_index`. */
	void (*on_sample)(void *user, const struct run *run, const struct sample *sample);
	void (*on_event)(void *user, const struct run *run, const struct run_event *event);
	/* A run has ended: the next one starts, or run_reader_finish was called. */
	void (*on_run)(void *user, const struct run *run);
	/* A line is complete; text is the raw line without its end. */
	void (*on_line)(void *user, uint64_t line, struct str text, enum line_class class);
	/* A rule matched the line or a part of it; called before on_line. */
	void (*on_rule)(void *user, uint64_t line, const struct rule *rule);
	/* A row was read without a rule. */
	row_fn on_row;
};

/* formats is borrowed for the life of the reader. */
struct run_reader *run_reader_new(const struct format_set *formats, const struct run_reader_cb *cb,
				  void *user);
void run_reader_free(struct run_reader *reader);

/* Remember the last n >= 2 scripts, to read repeated ones quickly. Call before the first log. */
void run_reader_remember_scripts(struct run_reader *reader, size_t n);

/* Start another log, for another user. Only the scripts stay remembered. */
void run_reader_reset(struct run_reader *reader, void *user);

void run_reader_feed(struct run_reader *reader, const void *data, size_t len);

/* End the log. A last line without newline counts, the status of the last run becomes final
 * (finished, truncated, ..), and on_run is called for that run if the log has any. */
void run_reader_finish(struct run_reader *reader);

/* Return the current run, with status RUN_RUNNING, or oom, crashed, .. if known already. Its
 * derived values are up to date. NULL before the first run; borrowed until the next call. */
const struct run *run_reader_current(struct run_reader *reader);

/* Get the current run as if the log ended here; the caller releases *out. False without a run. */
bool run_reader_at_end(struct run_reader *reader, struct run *out);

/* Return how often rule number i of the set exceeded the match limit. */
uint64_t run_reader_limit_hits(const struct run_reader *reader, size_t i);

/* Return the number of lines and bytes read of the whole file. */
uint64_t run_reader_lines(const struct run_reader *reader);
uint64_t run_reader_bytes(const struct run_reader *reader);
