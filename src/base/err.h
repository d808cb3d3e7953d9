/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>

#include "base/array.h"

/* An error as a value owned by the caller. A function that can fail takes `struct err *err` as its
 * last parameter, returns -1 and fills it; on success it leaves it untouched, so that calls can be
 * chained with ||. err may be NULL if the caller does not need the text. */

/* The kind of error; each one has an exit status (err_exit_status): 1 this program or the data, 2
 * the user, 3 a check, 4 the pod, 5 no data, 141 (as for SIGPIPE) the reader of our output is gone,
 * which is not reported. */
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

/* The same, with ": " and the text of errno at the end. */
int err_set_errno(struct err *err, enum err_code code, const char *fmt, ...) LIKE_PRINTF(3, 4);

/* Prepend "<formatted>: " to the text while returning; returns -1. An empty text means that
 * everything was already reported, and stays empty. */
int err_prefix(struct err *err, const char *fmt, ...) LIKE_PRINTF(2, 3);

/* The exit status of the program for this class of error. */
int err_exit_status(enum err_code code);
