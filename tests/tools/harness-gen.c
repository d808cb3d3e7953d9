/* SPDX-License-Identifier: MIT */
/* Writes the generated HarnessGym workspace: harness-gen DIR [STEPS]. */
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"
#include "tests/tools/harness_gen.h"

int main(int argc, char **argv)
{
	struct err err = { ERR_NONE, "" };
	uint64_t steps = SIZE_MAX;

	if (argc < 2 || argc > 3 || (argc == 3 && !str_to_u64(str_from(argv[2]), &steps))) {
		(void)fprintf(stderr, "usage: harness-gen DIR [STEPS]\n");
		return 2;
	}
	if (harness_gen_write(argv[1], (size_t)steps, &err) != 0) {
		(void)fprintf(stderr, "harness-gen: %s\n", err.text);
		return 1;
	}
	return 0;
}
