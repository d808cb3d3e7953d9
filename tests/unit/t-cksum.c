/* SPDX-License-Identifier: MIT */
/* The running checksum and the guard of base/cksum.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cksum.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"

#define SIZE (CKSUM_HEAD_BYTES + 3 * CKSUM_TAIL_BYTES)

static uint32_t cksum_of(const void *data, size_t len, size_t part)
{
	struct cksum sum = { 0, 0 };

	for (size_t at = 0; at < len; at += part)
		cksum_add(&sum, (const char *)data + at, part < len - at ? part : len - at);
	return cksum_value(&sum);
}

/* The values are those that cksum(1) of coreutils prints. */
static void test_cksum(void)
{
	char all[256], *many = xcalloc(70000, 1);
	bool good = true;

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	for (int i = 0; i < 70000; i++)
		many[i] = (char)(i % 251);
	is_int(cksum_of("", 0, 1), 4294967295LL, "checksum of no bytes");
	is_int(cksum_of("123456789", 9, 9), 930766865LL, "checksum of nine digits");
	is_int(cksum_of(all, 256, 256), 1313719201LL, "checksum of every byte value");
	is_int(cksum_of(many, 70000, 70000), 2458292535LL, "checksum of many bytes");
	for (size_t part = 1; part < 300; part++)
		good &= cksum_of(many, 5000, part) == cksum_of(many, 5000, 5000);
	ok(good, "any division of the bytes gives the same checksum");
	free(many);
}

static void test_guard(void)
{
	static const size_t changed[] = { 0, CKSUM_HEAD_BYTES - 1, SIZE - CKSUM_TAIL_BYTES,
					  SIZE - 1 };
	char *data = xcalloc(SIZE, 1);
	struct cksum_guard guard = { 0 };
	FILE *file = tmpfile();
	int fd = fileno(file);
	bool good = true, found = true;

	for (size_t i = 0; i < SIZE; i++)
		data[i] = (char)(i * 31 + i / 7);
	good &= pwrite(fd, data, SIZE, 0) == SIZE;
	for (size_t at = 0, part; at < SIZE; at += part) {
		/* Add byte by byte where the guard's two ends meet. */
		part = at + 97 > CKSUM_HEAD_BYTES && at < CKSUM_HEAD_BYTES + CKSUM_TAIL_BYTES ? 1
											      : 97;
		part = part < SIZE - at ? part : SIZE - at;
		cksum_guard_add(&guard, data + at, part);
		good &= cksum_guard_holds(&guard, fd);
	}
	ok(good && guard.len == SIZE, "the guard holds while the file grows");
	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++) {
		char other = (char)~data[changed[i]];

		found &= pwrite(fd, &other, 1, (off_t)changed[i]) == 1 &&
			 !cksum_guard_holds(&guard, fd);
		found &= pwrite(fd, data + changed[i], 1, (off_t)changed[i]) == 1;
	}
	ok(found, "a byte that changed at either end is noticed");
	ok(cksum_guard_holds(&guard, fd) && ftruncate(fd, SIZE - 1) == 0 &&
		   !cksum_guard_holds(&guard, fd),
	   "a file that was cut is noticed");
	(void)fclose(file);
	free(data);
}

int main(void)
{
	test_cksum();
	test_guard();
	return tap_done();
}
