/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>

#include "base/array.h"

/* An error as a value owned by the caller. A function that can fail takes `struct err *err` as its
 * last parameter, returns -1 and fills it; on success it leaves *err untouched, so that calls can
 * be chained with ||. err may be NULL if the caller does not need the text. */

/* The kind of error and its exit status (err_exit_status): 1 is an error in this program or in the
 * data, 2 an error of the user, 3 a failed check, 4 an error on the pod, 5 means no data. 141 (as
 * for SIGPIPE) means that the reader of our output is gone; it is not reported. */
#define ERR_CODE_LIST(X)    \
	X(ERR_NONE, 0)      \
	X(ERR_IO, 1)        \
	X(ERR_PARSE, 1)     \
	X(ERR_LIMIT, 1)     \
	X(ERR_USAGE, 2)     \
	X(ERR_CONFIG, 2)    \
	X(ERR_CHECK, 3)     \
	X(ERR_NET, 4)       \
	X(ERR_AUTH, 4)      \
	X(ERR_HOSTKEY, 4)   \
	X(ERR_TIMEOUT, 4)   \
	X(ERR_REMOTE, 4)    \
	X(ERR_NODATA, 5)    \
	X(ERR_DB, 1)        \
	X(ERR_CANCELLED, 1) \
	X(ERR_PIPE, 141)

enum err_code { ERR_CODE_LIST(LIST_ID) };

struct err {
	enum err_code code;
	char text[512];
};

/* Fill *err (may be NULL) with a formatted sentence, return -1. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) LIKE_PRINTF(3, 4);

/* The same, and append ": " and the text of errno. */
int err_set_errno(struct err *err, enum err_code code, const char *fmt, ...) LIKE_PRINTF(3, 4);

/* Prepend "<formatted>: " to the text of err; returns -1. An empty text stays empty, because it
 * means that everything was already reported. */
int err_prefix(struct err *err, const char *fmt, ...) LIKE_PRINTF(2, 3);

/* The exit status of the program for this class of error. */
int err_exit_status(enum err_code code);
