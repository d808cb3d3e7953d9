/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/scratch.h"
#include "conf/conf.h"
#include "model/track.h"
#include "parsers/format.h"
#include "store/store.h"

/*
 * What a command works with.  main opens it once, as far as the command
 * needs it, and hands it down; nobody else reads the configuration, compiles
 * rules, looks for the track or opens the database for reading.
 */

/* Global options as given; strings are borrowed of the command line. */
struct context_options {
	const char *config; /* NULL: where conf_load looks for it */
	const char *db;	    /* NULL: the configuration's, or the default */
	bool read_only;
	bool verbose;
	const char *color;   /* auto, always, never */
	const char *charset; /* NULL: by the locale; braille .. pixels */
	const char *track;   /* NULL: the configuration's */
};

enum context_part {
	CONTEXT_CONF = 1 << 0,
	CONTEXT_FORMATS = 1 << 1, /* with CONF also the configuration's */
	CONTEXT_TRACK = 1 << 2,	  /* the configuration's, or the default */
	CONTEXT_DB = 1 << 3,	  /* open for reading */
};

struct context {
	struct context_options options;
	unsigned int opened;	    /* enum context_part */
	const struct clock *clock;  /* of this machine */
	struct conf conf;	    /* empty until it is opened */
	char *db_path;		    /* owned; NULL until CONF or DB is opened */
	struct format_set *formats; /* owned; NULL until it is opened */
	struct track track;	    /* empty until it is opened */
	struct store *store;	    /* owned, read-only; NULL: not opened */
	long writer;		    /* process that wrote to the database when
				     * it was opened; 0: none */
	struct conf before;	    /* replaced by context_reload */
	char *const *places;	    /* borrowed; of context_open_places */
	size_t n_places;
	struct scratch folder; /* of their database and copies */
};

/* Nothing is opened yet; options are copied. */
void context_init(struct context *context, const struct context_options *options);
void context_close(struct context *context);

/*
 * Open those of parts (enum context_part) that are not open yet.  -1 with
 * err, and the parts that failed are as before: ERR_CONFIG for what is wrong
 * with the configuration or with a file that it names, ERR_NODATA when there
 * is no database yet.
 */
int context_open(struct context *context, unsigned int parts, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The pods of these places (conf_place), instead of those of the configuration,
 * and a database of their own that goes with the context.  -1 with err, also
 * for a word that is no place.
 */
int context_open_places(struct context *context, char *const *words, size_t n, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Close the database, until the next context_open: a process that forks must
 * not hold it in both halves.
 */
void context_close_db(struct context *context);

/* Add a rule file of the command line; its rules come before all others. */
int context_add_format(struct context *context, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* The track that was named; NULL: by what the runs are. */
const char *context_track_name(const struct context *context);

/*
 * The track of that name into *track (owned by the caller): one of the
 * configuration's files has it, or it is built in, or a file itself.
 */
int context_find_track(const struct context *context, const char *name, struct track *track,
		       struct err *err) __attribute__((warn_unused_result));

/*
 * Read the configuration again, in place; the one before stays valid until
 * the next reload.  said is a sentence for a person.  -1 with err, and
 * nothing changed, when it is broken.  Rules, track and database stay as
 * they were opened.
 */
int context_reload(struct context *context, char said[200], struct err *err)
	__attribute__((warn_unused_result));

/*
 * conf.discover[i] printed this: its pods take the place of those that it
 * printed before, in place; the pods before stay valid until the next time.
 * -1 with err, and nothing changed, when the answer is wrong.
 */
int context_discovered(struct context *context, size_t i, struct str answer, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The beginning of a command line that starts this program again with the
 * same configuration and database; how many words of argv were filled.
 */
#define CONTEXT_ARGV 5
size_t context_argv(const struct context *context, const char *argv[CONTEXT_ARGV]);
