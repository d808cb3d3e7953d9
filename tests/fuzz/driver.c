/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target without libFuzzer: over its seeds, over each seed cut short, and over a fixed
 * number of damaged seeds. Linked to every target of a build without --enable-fuzzing; part of make
 * check. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SEED_BYTES (1U << 20)
#define MAX_CUTS       200
#define MAX_DAMAGED    200
#define MAX_SECONDS    20 /* limits the time on slow machines */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static time_t deadline;
static unsigned long inputs;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525U + 1013904223U;
	return *state >> 8;
}

/* Run the target on an exactly sized copy, so that a read past the end is detected. */
static void run_one(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	inputs++;
}

static void run_damaged(uint8_t *data, size_t size, uint32_t *state)
{
	static const uint8_t bytes[] = { 0,   0x1b, '\r', '\n', '"',  '\\', '{',
					 ':', '9',  '-',  0x7f, 0xc3, 0xe2, 0xff };
	size_t at[3];
	uint8_t was[3];

	for (size_t i = 0; i < 3; i++) {
		at[i] = next_random(state) % size;
		was[i] = data[at[i]];
		data[at[i]] = bytes[next_random(state) % sizeof(bytes)];
	}
	run_one(data, size);
	for (size_t i = 3; i-- > 0;)
		data[at[i]] = was[i];
}

static void run_seed(uint8_t *data, size_t size)
{
	uint32_t state = (uint32_t)size;
	size_t stride = size / MAX_CUTS + 1;

	run_one(data, size);
	for (size_t n = 0; n < size && time(NULL) < deadline; n += stride)
		run_one(data, n);
	for (int i = 0; i < MAX_DAMAGED && size > 0 && time(NULL) < deadline; i++)
		run_damaged(data, size, &state);
}

static int run_file(const char *path)
{
	uint8_t *data = malloc(MAX_SEED_BYTES);
	FILE *in = fopen(path, "rb");
	size_t size;

	if (data == NULL || in == NULL) {
		free(data);
		return -1;
	}
	size = fread(data, 1, MAX_SEED_BYTES, in);
	(void)fclose(in);
	run_seed(data, size);
	free(data);
	return 0;
}

/* Return "json" for ".../fuzz-json". */
static const char *target_name(const char *program)
{
	const char *at = strstr(program, "fuzz-"), *found = program;

	while (at != NULL) {
		found = at + strlen("fuzz-");
		at = strstr(found, "fuzz-");
	}
	return found;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_seed(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	const char *src = getenv("HGYM_SRC"), *name = target_name(argv[0]);
	char folder[3000], path[4096];
	struct dirent **seeds;
	int n;

	(void)snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", src != NULL ? src : ".",
		       name);
	deadline = time(NULL) + MAX_SECONDS;
	for (int i = 1; i < argc; i++)
		if (run_file(argv[i]) != 0)
			return 1;
	if (argc > 1)
		return 0;
	n = scandir(folder, &seeds, is_seed, compare_names);
	if (n <= 0) {
		printf("not ok 1 - %s: no seeds in %s\n1..1\n", name, folder);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		int result;

		(void)snprintf(path, sizeof(path), "%s/%s", folder, seeds[i]->d_name);
		result = run_file(path);
		printf("%sok %d - fuzz %s: %s\n", result ? "not " : "", i + 1, name,
		       seeds[i]->d_name);
		(void)fflush(stdout);
		free(seeds[i]);
	}
	free(seeds);
	printf("# %lu inputs\n1..%d\n", inputs, n);
	return 0;
}
