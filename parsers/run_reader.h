/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/format.h"
#include "parsers/templates.h"

/*
 * Bytes of one log to runs.  Any cut of the bytes gives the same calls.  The
 * reader keeps bounded memory; it knows no file, no clock and no network, so
 * a live tail, a stored mirror and a file read at once give the same runs.
 */
struct run_reader;

/* All are optional; run and sample are borrowed for the call. */
struct run_reader_cb {
	/* A row gave a point of run number `run->run_index`. */
	void (*on_sample)(void *user, const struct run *run, const struct sample *sample);
	void (*on_event)(void *user, const struct run *run, const struct run_event *event);
	/* A run is over (the next one began, or run_reader_finish). */
	void (*on_run)(void *user, const struct run *run);
	/* A line is whole: its text without the line end, raw bytes. */
	void (*on_line)(void *user, uint64_t line, struct str text, enum line_class class);
};

/* formats is borrowed for the reader's life. */
struct run_reader *run_reader_new(const struct format_set *formats, const struct run_reader_cb *cb,
				  void *user);
void run_reader_free(struct run_reader *reader);

/* Tell too which rule took a line (or a part of it), before on_line. */
typedef void (*run_reader_rule_fn)(void *user, uint64_t line, const struct rule *rule);
void run_reader_tell_rules(struct run_reader *reader, run_reader_rule_fn fn);

/* Tell too each row that no rule knows; the reader's user is that of fn. */
void run_reader_tell_rows(struct run_reader *reader, templates_row_fn fn);

/*
 * For a reader of many logs, before its first: remember the last n scripts
 * (from 2) that were printed, so that a script that comes again costs little.
 */
void run_reader_remember_scripts(struct run_reader *reader, size_t n);

/* Forget everything else and begin another log, for another user. */
void run_reader_reset(struct run_reader *reader, void *user);

void run_reader_feed(struct run_reader *reader, const void *data, size_t len);

/*
 * The log ends here: a last line without its newline counts, the last run's
 * status becomes final (finished, truncated, ..) and on_run is called for it.
 * A file without any run gives no call.
 */
void run_reader_finish(struct run_reader *reader);

/*
 * The run under way (status RUN_RUNNING, or already oom, crashed ..) with its
 * derived values brought up to date; NULL before the first.  Borrowed until
 * the next call.
 */
const struct run *run_reader_current(struct run_reader *reader);

/*
 * The run under way as if the log ended here (status finished, truncated,
 * ..); *out is the caller's to release.  False before the first run.
 */
bool run_reader_at_end(struct run_reader *reader, struct run *out);

/* How often rule number i of the set ran into the match limit. */
uint64_t run_reader_limit_hits(const struct run_reader *reader, size_t i);

/* Lines and bytes read so far, of the whole file. */
uint64_t run_reader_lines(const struct run_reader *reader);
uint64_t run_reader_bytes(const struct run_reader *reader);
