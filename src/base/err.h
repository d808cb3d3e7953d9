/* SPDX-License-Identifier: MIT */
#pragma once

/* An error as a value owned by the caller. A function that can fail takes `struct err *err` as its
 * last parameter, returns -1 and fills it; on success it leaves it untouched, so that calls can be
 * chained with ||. err may be NULL if the caller does not need the text. */

/* The kind of error; each one has an exit status (err_exit_status): 1 this program or the data, 2
 * the user, 3 a check, 4 the pod, 5 no data, 141 (as for SIGPIPE) the reader of our output is gone,
 * which is not reported. */
#define ERR_CODE_LIST(X) \
	X(NONE, 0)       \
	X(IO, 1)         \
	X(PARSE, 1)      \
	X(LIMIT, 1)      \
	X(USAGE, 2)      \
	X(CONFIG, 2)     \
	X(CHECK, 3)      \
	X(NET, 4)        \
	X(AUTH, 4)       \
	X(HOSTKEY, 4)    \
	X(TIMEOUT, 4)    \
	X(REMOTE, 4)     \
	X(NODATA, 5)     \
	X(DB, 1)         \
	X(CANCELLED, 1)  \
	X(PIPE, 141)

enum err_code {
#define X(id, status) ERR_##id,
	ERR_CODE_LIST(X)
#undef X
};

struct err {
	enum err_code code;
	char text[512];
};

/* Fill *err (may be NULL) with a formatted sentence, return -1. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with ": " and the text of errno at the end. */
int err_set_errno(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Prepend "<formatted>: " to the text while returning; returns -1. An empty text means that
 * everything was already reported, and stays empty. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status of the program for this class of error. */
int err_exit_status(enum err_code code);
