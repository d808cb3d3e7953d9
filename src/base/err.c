/* SPDX-License-Identifier: MIT */
/* The error value that every layer returns; see err.h. */
#include "base/err.h"

#include "base/str.h"

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	if (err == NULL)
		return -1;
	err->code = code;
	print_args(err->text, fmt);
	return -1;
}

int err_set_errno(struct err *err, enum err_code code, const char *fmt, ...)
{
	int saved = errno;

	if (err == NULL)
		return -1;
	err->code = code;
	print_args(err->text, fmt);
	size_t used = strlen(err->text);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(saved));
	return -1;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char prefix[sizeof(err->text) / 2], text[2 * sizeof(err->text)];

	if (err == NULL || err->text[0] == '\0')
		return -1;
	print_args(prefix, fmt);
	print_into(text, "%s: %s", prefix, err->text);
	text[sizeof(err->text) - 1] = '\0';
	memcpy(err->text, text, sizeof(err->text));
	return -1;
}

int err_exit_status(enum err_code code)
{
	static const int statuses[] = { ERR_CODE_LIST(LIST_NAME) };

	return statuses[code];
}
