/* SPDX-License-Identifier: MIT */
/* Set up the process and run the command line. */
#include <locale.h>
#include <signal.h>

#include "base/plain.h"
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	bool has_locale =
		any_of(i, LENGTH(names), getenv(names[i]) != NULL && getenv(names[i])[0] != '\0');

	/* Numbers are always printed as in C. Without a locale (in a container), UTF-8 is a better
	 * guess than ASCII. */
	(void)setlocale(LC_CTYPE, has_locale ? "" : "C.UTF-8");
	plain_streams();
	(void)signal(SIGPIPE, SIG_IGN);
	xalloc_init();
	/* Called by the build to generate parts of the manual. */
	if (argc == 3 && strcmp(argv[1], "--dump-reference") == 0)
		return reference_print(argv[2]);
	/* Called by the completions of the shells. */
	if (argc > 1 && strcmp(argv[1], "--complete") == 0)
		return cmd_complete(argc - 2, argv + 2);
	return cmd_main(argc - 1, argv + 1);
}
