/* SPDX-License-Identifier: MIT */
/* Puts markers around a command in an unknown shell, and finds them in its output. */
#include "remote/shell_marks.h"

#include <sys/random.h>

#include "base/clock.h"
#include "base/quote.h"

#define WORD "hgym"

void shell_marks_init(struct shell_marks *marks)
{
	unsigned long long random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (unsigned long long)clock_mono_ms();
	*marks = (struct shell_marks){ .begun = false };
	print_into(marks->mark, WORD "%016llx", random);
}

void shell_marks_line(const struct shell_marks *marks, struct buf *out, const char *command)
{
	/* The line contains the marker in two parts: a shell may echo the line. */
	static const char script[] = "printf %s%s000 \"$1\" \"$2\"; sh -c \"$3\"; "
				     "printf %s%s%03d \"$1\" \"$2\" $?";
	const char *const argv[] = {
		"exec", "sh", "-c", script, "sh", WORD, marks->mark + strlen(WORD), command, NULL
	};

	quote_argv(out, argv);
	buf_append(out, "\n", 1);
}

/* Return the offset of the marker, or of bytes at the end of text that may be its start; without
 * both, the length of text. *whole is set if the marker and its status are complete. */
static size_t find_mark(const struct shell_marks *marks, struct str text, bool *whole)
{
	const char *found = str_find(text, marks->mark);
	size_t at = text.len > SHELL_MARK_LEN - 1 ? text.len - (SHELL_MARK_LEN - 1) : 0;

	if (found != NULL)
		at = (size_t)(found - text.p);
	*whole = found != NULL && text.len - at >= SHELL_HELD_MAX;
	while (found == NULL && at < text.len &&
	       memcmp(text.p + at, marks->mark, text.len - at) != 0)
		at++;
	return at;
}

void shell_marks_take(struct shell_marks *marks, struct str data, struct str *before,
		      struct str *output)
{
	struct str *part = marks->begun ? output : before;
	bool whole = true;
	size_t at;

	*before = *output = (struct str){ data.p, 0 };
	marks->n_held = 0;
	while (!marks->over && whole) {
		at = find_mark(marks, data, &whole);
		*part = (struct str){ data.p, at };
		data = str_skip(data, at);
		if (!whole)
			break;
		marks->over = marks->begun;
		marks->begun = true;
		int64_t status = -1;
		(void)str_to_i64((struct str){ data.p + SHELL_MARK_LEN, 3 }, &status);
		marks->status = status <= 255 ? (int)status : -1;
		part = output;
		data = str_skip(data, SHELL_HELD_MAX);
	}
	if (marks->over || data.len == 0)
		return;
	marks->n_held = data.len;
	memcpy(marks->held, data.p, data.len);
}
