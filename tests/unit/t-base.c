/* SPDX-License-Identifier: MIT */
/* base: numbers, slices, buffers, map, UTF-8, times. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"

static void test_numbers(void)
{
	static const struct {
		const char *text;
		bool valid;
		double value;
	} cases[] = {
		{ "1.05740567", true, 1.05740567 },
		{ "-3.0060", true, -3.006 },
		{ "600061", true, 600061 },
		{ "0.1", true, 0.1 },
		{ "1e-4", true, 1e-4 },
		{ "123456789012345678", true, 123456789012345678.0 },
		{ "nan", true, (double)NAN },
		{ "-inf", true, -(double)INFINITY },
		{ "", false, 0 },
		{ ".", false, 0 },
		{ "1.2.3", false, 0 },
		{ "0x10", false, 0 },
		{ "1 ", false, 0 },
		{ " 1", false, 0 },
		{ "1,5", false, 0 },
		{ "nanms", false, 0 },
		{ "nan(1)", false, 0 },
		{ "infinit", false, 0 },
		{ "+Infinity", true, (double)INFINITY },
		{ "0x10", false, 0 },
		{ " 1", false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double v = 0;
		bool valid = str_to_double(str_from(cases[i].text), &v);

		ok(valid == cases[i].valid &&
			   (!valid || v == cases[i].value || (isnan(v) && isnan(cases[i].value))),
		   "str_to_double(\"%s\")", cases[i].text);
	}
}

/* Numbers of up to 19 digits equal strtod's, to the last bit. */
static void test_many_digits(void)
{
	uint64_t seed = 88172645463325252U;
	char text[64];
	int good = 0, taken = 0;

	for (int i = 0; i < 20000; i++) {
		double value, same;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		print_into(text, "%s%.*e", i % 2 > 0 ? "" : "-", 12 + (int)(seed % 7),
			   (double)(seed >> 8) / str_pow10[seed % 23]);
		if (i % 3 == 0)
			print_into(text, "0.%s%llu", i % 2 > 0 ? "000" : "",
				   (unsigned long long)seed);
		const char *end = text + strlen(text);
		same = strtod(text, NULL);
		good += str_to_double(str_from(text), &value) && value == same;
		taken += str_take_number(text, end, &value) == end && value == same;
	}
	is_int(good, 20000, "equal to strtod");
	ok(taken > 10000, "most numbers take the fast path (%d)", taken);
	/* Numbers halfway between two doubles are rounded to the even one. */
	const char *const halves[] = { "9007199254740993", "9007199254740995",
				       "9007199254740993.001", "0.50000000000000005551",
				       "0.0000000000000000000" };
	for (size_t i = 0; i < LENGTH(halves); i++) {
		double value = 1;

		ok(str_to_double(str_from(halves[i]), &value) && value == strtod(halves[i], NULL),
		   "%s", halves[i]);
	}
}

static void test_integers(void)
{
	int64_t i = 0;
	uint64_t u = 0;

	ok(str_to_i64(STR_LIT("-42"), &i) && i == -42, "i64 -42");
	ok(!str_to_u64(STR_LIT("18446744073709551616"), &u), "u64 overflow");
	ok(str_to_u64(STR_LIT("18446744073709551615"), &u) && u == UINT64_MAX, "u64 max");
	ok(!str_to_i64(STR_LIT("1.0"), &i), "no fraction");
}

static void test_slices(void)
{
	struct str rest = STR_LIT("a,,b"), piece;
	int n = 0;

	while (str_next(&rest, ',', &piece))
		n++;
	is_int(n, 3, "str_next returns empty parts too");
	ok(str_eq_cstr(str_trim(STR_LIT(" \tx y\r\n")), "x y"), "str_trim");
	ok(str_find(STR_LIT("abc"), "bc") != NULL, "str_find");
}

/* Short texts of two letters, compared with libc. */
static void test_find(void)
{
	bool same = true;
	char text[80];

	for (unsigned int seed = 0; seed < 4000; seed++) {
		struct str s = { text, seed % sizeof(text) };
		struct str needle = { text + sizeof(text) - 1 - seed % 5, seed % 5 + 1 };

		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = "ab"[(seed * 2654435761U >> i % 23) & 1];
		same = same &&
		       str_find_str(s, needle) ==
			       (s.len == 0 ? NULL : memmem(s.p, s.len, needle.p, needle.len));
	}
	ok(same, "str_find_str finds the same as memmem");
	ok(str_find(STR_LIT(""), "") != NULL, "nothing is found in nothing");
}

static void test_buf(void)
{
	struct buf buf;

	buf_init(&buf, 10);
	buf_append_str(&buf, "0123456");
	buf_appendf(&buf, "%s", "789abc");
	is_str(buf.data, "0123456789", "a buf stops at its cap");
	ok(buf.truncated, "a buf reports that it was truncated");
	buf_consume(&buf, 4);
	is_str(buf.data, "456789", "buf_consume drops bytes from the start");
	buf_release(&buf);
}

static void test_map(void)
{
	AUTO_MAP map = MAP_EMPTY;
	char key[16];
	int n = 0;

	for (intptr_t i = 1; i <= 1000; i++) {
		(void)snprintf(key, sizeof(key), "k%d", (int)i);
		map_set(&map, str_from(key), (void *)i);
	}
	for (int i = 1; i <= 1000; i += 2) {
		(void)snprintf(key, sizeof(key), "k%d", i);
		map_remove(&map, str_from(key));
	}
	for (intptr_t i = 1; i <= 1000; i++) {
		(void)snprintf(key, sizeof(key), "k%d", (int)i);
		n += map_get(&map, str_from(key)) == (i % 2 == 0 ? (void *)i : NULL);
	}
	is_int(n, 1000, "map after inserts and removals");
	is_int((long long)map.count, 500, "map count");
}

static void test_utf8(void)
{
	struct buf buf;

	buf_init(&buf, 1000);
	utf8_sanitize(&buf, STR_LIT("a\x1b[31m\tb\xff\r\n\xc2\x9b"));
	is_str(buf.data, "a\xc2\xb7[31m b\xef\xbf\xbd\xc2\xb7\xc2\xb7\xc2\xb7",
	       "controls and invalid bytes become visible");
	buf_clear(&buf);
	utf8_sanitize(&buf, STR_LIT("\u061c\u115f\u1160\u180e\u3164\uffa0"
				    "\u200b\u202e\u2066\ufeff"
				    "\u0600\u070f\U00013430\U0001d17a"));
	is_str(buf.data,
	       "\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7"
	       "\u00b7\u00b7\u00b7\u00b7",
	       "invisible characters, and those that change the direction, become visible");
	is_int((long long)utf8_width(str_from("a\xe4\xb8\xad\xcc\x81")), 3,
	       "wide is 2, combining is 0");
	is_int((long long)utf8_prefix(str_from("a\xe4\xb8\xad"), 2), 1,
	       "a wide character is not cut in half");
	buf_release(&buf);
}

static void test_times(void)
{
	char text[CLOCK_RFC3339_SIZE];

	is_int(clock_from_civil_s(2026, 11, 20, 21, 30, 0), 1795210200, "civil to epoch");
	clock_rfc3339(1795210200LL * 1000, text);
	is_str(text, "2026-11-20T21:30:00Z", "a time is printed as in RFC 3339");
}

static void test_err(void)
{
	struct err err = { ERR_NONE, "" };

	is_int(err_set(&err, ERR_CONFIG, "bad %d", 1), -1, "err_set");
	err_prefix(&err, "pod %s", "x");
	is_str(err.text, "pod x: bad 1", "err_prefix puts the prefix first");
	is_int(err_exit_status(err.code), 2, "exit status of the class");
}

/* A pipe whose reader is another process accepts more than its capacity. */
static void test_whole_writes(void)
{
	enum { BYTES = 1 << 20 };
	char *data = xcalloc(1, BYTES);
	int ends[2], status = 0, full = open("/dev/full", O_WRONLY);
	pid_t reader;

	if (pipe(ends) != 0 || (reader = fork()) < 0) {
		ok(false, "start a reader of the pipe");
		return;
	}
	if (reader == 0) {
		size_t seen = 0;
		ssize_t n;

		(void)close(ends[1]);
		while ((n = read(ends[0], data, 1000)) > 0)
			seen += (size_t)n;
		_exit(seen == BYTES ? 0 : 1);
	}
	(void)close(ends[0]);
	ok(fd_write_all(ends[1], data, BYTES) == 0, "a pipe takes 1 MiB");
	(void)close(ends[1]);
	ok(waitpid(reader, &status, 0) == reader && status == 0,
	   "the reader of the pipe gets every byte");
	ok(fd_write_all(full, data, 1) == -1 && errno == ENOSPC, "a full device is an error");
	(void)close(full);
	free(data);
}

/* Compare with the kernel's report, if there is one. */
static void test_cpu(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	bool has = false;
	char line[8192];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0)
			has = has || strstr(line, " sha_ni") != NULL ||
			      strstr(line, " sha2") != NULL;
	is_int(sha256_is_fast(), file != NULL ? has : sha256_is_fast(),
	       "SHA-256 instructions, as the kernel reports");
	if (file != NULL)
		fclose(file);
}

/* The examples of FIPS 180-4; one context hashes one text after another. */
static void test_sha256(void)
{
	static const char million[] = "cdc76e5c9914fb9281a1c7e284d73e67"
				      "f1809a48a497200e046d39ccc7112cd0";
	char hex[SHA256_HEX_SIZE], thousand[1000];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_hex(&sha, hex);
	is_str(hex,
	       "e3b0c44298fc1c149afbf4c8996fb924"
	       "27ae41e4649b934ca495991b7852b855",
	       "SHA-256 of nothing");
	sha256_update(&sha, "a", 1);
	sha256_update(&sha, "bc", 2);
	sha256_hex(&sha, hex);
	is_str(hex,
	       "ba7816bf8f01cfea414140de5dae2223"
	       "b00361a396177a9cb410ff61f20015ad",
	       "SHA-256 of abc, in two pieces");
	memset(thousand, 'a', sizeof(thousand));
	for (int i = 0; i < 1000; i++)
		sha256_update(&sha, thousand, sizeof(thousand));
	sha256_hex(&sha, hex);
	is_str(hex, million, "SHA-256 of a million letters");
	sha256_release(&sha);
}

static void test_base64(void)
{
	static const struct {
		const char *text, *what;
	} bad[] = {
		{ "AA*A", "another character" },	  { "AAA", "no padding" },
		{ "AA==AAAA", "more after the padding" }, { "AAAA-AAA", "a minus" },
		{ "A", "an incomplete group" },
	};
	struct buf text, back;
	char data[256];
	bool same = true;

	for (int i = 0; i < 256; i++)
		data[i] = (char)i;
	buf_init(&text, 1000);
	buf_init(&back, 1000);
	for (size_t n = 0; n <= 256 && same; n++) {
		buf_clear(&text);
		buf_clear(&back);
		base64_encode(&text, (struct str){ data, n });
		same = base64_decode(&back, (struct str){ text.data, text.len }) && back.len == n &&
		       memcmp(back.data, data, n) == 0;
	}
	ok(same, "Base64 and back, every length");
	buf_clear(&back);
	ok(base64_decode(&back, STR_LIT(" Zm9v\r\nYmFy\n")), "lines of it");
	is_str(back.data, "foobar", "line ends are ignored");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!base64_decode(&back, str_from(bad[i].text)) && back.len == 6,
		   "refused, and nothing appended: %s", bad[i].what);
	buf_release(&text);
	buf_release(&back);
}

static void test_number(void)
{
	static const struct {
		double value;
		int digits;
		const char *want;
	} rows[] = {
		{ 0, 7, "0" },
		{ 999, 7, "999" },
		{ 1000, 7, "1,000" },
		{ -16037109, 3, "-16,037,109" },
		{ 1234567.25, 9, "1,234,567.25" },
		{ -1234.5, 7, "-1,234.5" },
		{ 0.000012345, 7, "1.2345e-05" },
		{ 12345678.5, 3, "1.23e+07" },
		{ 2e20, 7, "2e+20" },
		{ INFINITY, 7, "inf" },
		{ -INFINITY, 7, "-inf" },
		{ NAN, 7, "nan" },
	};
	char text[STR_NUMBER_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(str_number(rows[i].value, rows[i].digits, text), rows[i].want, rows[i].want);
}

int main(void)
{
	test_number();
	test_numbers();
	test_many_digits();
	test_integers();
	test_slices();
	test_find();
	test_buf();
	test_map();
	test_utf8();
	test_times();
	test_err();
	test_whole_writes();
	test_cpu();
	test_sha256();
	test_base64();
	return tap_done();
}
