/* SPDX-License-Identifier: MIT */
/* The error value that every layer returns; see err.h. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int __attribute__((format(printf, 3, 0)))
err_vset(struct err *err, enum err_code code, const char *fmt, va_list ap)
{
	if (err == NULL)
		return -1;
	err->code = code;
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	return -1;
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(err, code, fmt, ap);
	va_end(ap);
	return -1;
}

int err_set_errno(struct err *err, enum err_code code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	err_vset(err, code, fmt, ap);
	va_end(ap);
	size_t used = strlen(err->text);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(saved));
	return -1;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char text[2 * sizeof(err->text)];
	va_list ap;

	if (err == NULL || err->text[0] == '\0')
		return -1;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(err->text) / 2, fmt, ap);
	va_end(ap);
	size_t used = strlen(text);
	(void)snprintf(text + used, sizeof(text) - used, ": %s", err->text);
	text[sizeof(err->text) - 1] = '\0';
	memcpy(err->text, text, sizeof(err->text));
	return -1;
}

int err_exit_status(enum err_code code)
{
	static const int statuses[] = {
#define X(id, status) status,
		ERR_CODE_LIST(X)
#undef X
	};

	return statuses[code];
}
