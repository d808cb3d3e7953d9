/* SPDX-License-Identifier: MIT */
/* Prints the command line that starts a follower, for the test scripts. */
#include <stdio.h>
#include <string.h>

#include "remote/follow_priv.h"

int main(int argc, char **argv)
{
	enum follow_variant variant = FOLLOW_AUTO;
	struct buf line;

	if (argc != 3) {
		fprintf(stderr, "usage: follow-command auto|py|sh NONCE\n");
		return 2;
	}
	if (strcmp(argv[1], "py") == 0)
		variant = FOLLOW_PYTHON;
	else if (strcmp(argv[1], "sh") == 0)
		variant = FOLLOW_SHELL;
	buf_init(&line, 1 << 20);
	follow_wire_start(&line, variant, argv[2]);
	printf("%s\n", line.data);
	buf_release(&line);
	return 0;
}
