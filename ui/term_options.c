/* SPDX-License-Identifier: MIT */
/* What the environment says of the terminal; for term_curses.c's users. */
#include "config.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "ui/term.h"

static bool
env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0';
}

void
term_options_init(struct term_options *options)
{
	const char *term = getenv("TERM");
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

	memset(options, 0, sizeof(*options));
	options->colors = env_is_set("NO_COLOR") ? 0 : -1;
	options->ascii = !utf8 || term == NULL || strcmp(term, "linux") == 0;
	options->mouse = true;
	options->sync = true;
	options->remote = env_is_set("SSH_TTY") || env_is_set("SSH_CONNECTION");
}
