/* SPDX-License-Identifier: MIT */
/* The lines to a follower and the command that starts it; for follow.c. */
#include "config.h"

#include "remote/follow_wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "remote/follow_script.h"

void
follow_wire_nonce(char nonce[FOLLOW_NONCE_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[FOLLOW_NONCE_SIZE / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	for (size_t i = 0; i < sizeof(bytes); i++) {
		nonce[2 * i] = digits[bytes[i] >> 4];
		nonce[2 * i + 1] = digits[bytes[i] & 15];
	}
	nonce[2 * sizeof(bytes)] = '\0';
}

/*
 * Both scripts travel; a first shell ($0 and $1 are the scripts, $2 the nonce)
 * finds out which one runs.  No quote, backslash, "!" or newline may stand
 * in these texts.
 */
#define BE_NICE                                                                \
	"renice -n 10 -p $$ >/dev/null 2>&1; "                                 \
	"ionice -c 2 -n 7 -p $$ >/dev/null 2>&1; "
#define HAVE_PYTHON                                                            \
	"python3 -ISc \"import os, select, zlib; os.set_blocking\" "           \
	"</dev/null >/dev/null 2>&1 && "
#define RUN_PYTHON "exec python3 -ISc \"$(printf %b \"$1\")\" \"$2\"; "
#define RUN_SHELL  "eval \"$(printf %b \"$0\")\""

static const char *const boot[] = {
	[FOLLOW_AUTO] = BE_NICE HAVE_PYTHON RUN_PYTHON RUN_SHELL,
	[FOLLOW_PYTHON] = BE_NICE RUN_PYTHON,
	[FOLLOW_SHELL] = BE_NICE RUN_SHELL,
};

void
follow_wire_start(struct buf *out, enum follow_variant variant,
		  const char *nonce)
{
	buf_appendf(out, "exec env LC_ALL=C sh -c '%s' '", boot[variant]);
	buf_append_str(out, follow_script_sh);
	buf_append_str(out, "' '");
	buf_append_str(out, follow_script_py);
	buf_appendf(out, "' %s", nonce);
}

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("/._-+=,:@%^~", c) != NULL);
}

void
follow_wire_escape(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (is_plain(s.p[i]))
			buf_append_char(out, s.p[i]);
		else
			buf_appendf(out, "\\0%03o", (unsigned char)s.p[i]);
	}
}
