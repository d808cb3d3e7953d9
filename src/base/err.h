/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_ERR_H
#define HGYM_BASE_ERR_H

#include <stdarg.h>

/*
 * An error as a value the caller owns.  A function that can fail takes
 * `struct err *err` as its last parameter, returns -1 and fills it; on
 * success it leaves it untouched, so calls chain with ||.  err may be NULL
 * where the caller does not want the text.
 */

/* What went wrong; each class has one exit status (err_exit_status). */
#define ERR_CODE_LIST(X)                                                       \
	X(NONE, 0, "no error")                                                 \
	X(IO, 1, "input or output failed")                                     \
	X(PARSE, 1, "the data is malformed")                                   \
	X(LIMIT, 1, "a limit was reached")                                     \
	X(USAGE, 2, "wrong use")                                               \
	X(CONFIG, 2, "wrong configuration")                                    \
	X(CHECK, 3, "a check failed")                                          \
	X(NET, 4, "the network failed")                                        \
	X(AUTH, 4, "authentication failed")                                    \
	X(HOSTKEY, 4, "the host key was not accepted")                         \
	X(TIMEOUT, 4, "it took too long")                                      \
	X(REMOTE, 4, "the pod reported a failure")                             \
	X(NODATA, 5, "there is no data")                                       \
	X(DB, 1, "the database failed")                                        \
	X(CANCELLED, 1, "it was cancelled")

enum err_code {
#define X(id, status, text) ERR_##id,
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
int err_vset(struct err *err, enum err_code code, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* The same with ": " and the text of errno at its end. */
int err_set_errno(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "<formatted>: " before the text on the way up, return -1. */
int err_prefix(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The program's exit status for this class of error. */
int err_exit_status(enum err_code code);

/* The class as a word ("IO", "CONFIG", ..). */
const char *err_code_name(enum err_code code);

#endif
