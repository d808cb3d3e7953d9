/* SPDX-License-Identifier: MIT */
/* The files of a HarnessGym directory as a pod sends them: splitting the bytes anywhere gives the
 * same result. */
#include "harness/wire.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void feed(struct harness_files *files, struct harness_wire *wire, const uint8_t *data,
		 size_t size, size_t step)
{
	harness_files_init(files);
	harness_wire_init(wire, files);
	for (size_t at = 0; at < size; at += step)
		harness_wire_feed(wire, (struct str){ (const char *)data + at,
						      size - at < step ? size - at : step });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct harness_files whole, bits;
	struct harness_wire a, b;

	feed(&whole, &a, data, size, size > 0 ? size : 1);
	feed(&bits, &b, data, size, 3);
	MUST(a.now_ms == b.now_ms && a.ended == b.ended && a.none == b.none);
	MUST(strcmp(a.what, b.what) == 0 && strcmp(a.run, b.run) == 0);
	MUST(whole.n == bits.n && whole.generation == bits.generation);
	for (size_t i = 0; i < whole.n; i++) {
		MUST(strcmp(whole.all[i]->path, bits.all[i]->path) == 0);
		MUST(whole.all[i]->hash == bits.all[i]->hash);
		MUST(whole.all[i]->torn == bits.all[i]->torn);
	}
	harness_wire_release(&a);
	harness_wire_release(&b);
	harness_files_release(&whole);
	harness_files_release(&bits);
	return 0;
}
