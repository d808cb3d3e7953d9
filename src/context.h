/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/scratch.h"
#include "conf/conf.h"
#include "model/track.h"
#include "parsers/format.h"
#include "store/store.h"

/* The environment of a command. main opens the parts that the command needs, once; only main reads
 * the configuration, compiles rules, resolves the track and opens the database for reading. */

/* Global options as given; strings are borrowed from the command line. */
struct context_options {
	const char *config; /* NULL: conf_load's default */
	const char *db;	    /* NULL: the configured database, or the default */
	bool read_only;
	bool verbose;
	const char *color;   /* auto, always, never */
	const char *charset; /* NULL: chosen by the locale; braille .. pixels */
	const char *track;   /* NULL: the configured track */
};

enum context_part {
	CONTEXT_CONF = 1 << 0,
	CONTEXT_FORMATS = 1 << 1, /* built-in rules, and the configured ones if CONF is open */
	CONTEXT_TRACK = 1 << 2,	  /* the configured track, or the default */
	CONTEXT_DB = 1 << 3,	  /* open for reading */
};

struct context {
	struct context_options options;
	unsigned int opened;	    /* enum context_part */
	const struct clock *clock;  /* the clock of this machine */
	struct conf conf;	    /* empty until opened */
	char *db_path;		    /* owned; NULL until CONF or DB is opened */
	struct format_set *formats; /* owned; NULL until opened */
	struct track_set tracks;    /* all; empty until FORMATS is opened */
	struct track track;	    /* empty until opened */
	struct store *store;	    /* owned, read-only; NULL: not opened */
	long writer; /* process that was writing to the database when this one opened it; 0: none */
	struct conf before;  /* the configuration before the last reload */
	char *const *places; /* borrowed; set by context_open_places */
	size_t n_places;
	struct scratch folder; /* holds the database and local copies of these places */
};

/* Initialize the context without opening anything; options are copied. */
void context_init(struct context *context, const struct context_options *options);
void context_close(struct context *context);

/* Open the given parts (enum context_part) that are not open yet. -1 with err, and the failed parts
 * closed: ERR_CONFIG for the configuration and its files, ERR_NODATA without a database. */
int context_open(struct context *context, unsigned int parts, struct err *err) MUST_USE;

/* Use the pods of these places (conf_place) instead of the configured ones, with a temporary
 * database that is removed with the context. -1 with err, also for a word that is not a place. */
int context_open_places(struct context *context, char *const *words, size_t n,
			struct err *err) MUST_USE;

/* Close the database until the next context_open: two processes must not share it after a fork. */
void context_close_db(struct context *context);

/* Add a rule file from the command line; its rules are tried first. */
int context_add_format(struct context *context, const char *path, struct err *err) MUST_USE;

/* The name of the selected track; NULL if the logs of each run decide it. */
const char *context_track_name(const struct context *context);

/* Load a track into *track (owned by the caller). name is the name of a track in a configured file
 * or of a built-in track, or the path of a file. */
int context_find_track(const struct context *context, const char *name, struct track *track,
		       struct err *err) MUST_USE;

/* Read the configuration again, in place; the previous one stays valid until the next reload. said
 * is a sentence for people. -1 with err, and nothing changed, if the file has an error. Rules,
 * track and database are not opened again. */
int context_reload(struct context *context, char said[200], struct err *err) MUST_USE;

/* Replace the pods from the previous output of conf.discover[i] by the pods in this output, in
 * place; the previous pods stay valid until the next call. -1 with err: nothing changed. */
int context_discovered(struct context *context, size_t i, struct str answer,
		       struct err *err) MUST_USE;

/* Fill argv with the start of a command line that runs this program again with the same
 * configuration and database; returns the number of words. */
#define CONTEXT_ARGV 5
size_t context_argv(const struct context *context, const char *argv[CONTEXT_ARGV]);
