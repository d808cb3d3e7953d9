/* SPDX-License-Identifier: MIT */
/* What holds for the whole process; then the command line is run. */
#include <locale.h>
#include <signal.h>
#include <string.h>

#include "base/plain.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	/* Characters by the user's locale; numbers always as in C. */
	(void)setlocale(LC_CTYPE, "");
	plain_streams();
	(void)signal(SIGPIPE, SIG_IGN);
	xalloc_init();
	/* For the build: the man page's lists. */
	if (argc == 3 && strcmp(argv[1], "--dump-reference") == 0)
		return reference_print(argv[2]);
	/* For the completions of the shells. */
	if (argc > 1 && strcmp(argv[1], "--complete") == 0)
		return cmd_complete(argc - 2, argv + 2);
	return cmd_main(argc - 1, argv + 1);
}
