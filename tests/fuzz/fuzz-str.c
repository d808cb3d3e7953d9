/* SPDX-License-Identifier: MIT */
/* Numbers and parts of a slice, compared with the C library. */
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void check_double(struct str s, const char *text)
{
	double value = -1, want;
	char *end;

	if (!str_to_double(s, &value)) {
		MUST(value == -1);
		return;
	}
	want = strtod(text, &end);
	MUST(end == text + s.len);
	MUST(memcmp(&value, &want, sizeof(value)) == 0 || (isnan(value) && isnan(want)));
}

static void check_integers(struct str s, const char *text)
{
	int64_t i = -7;
	uint64_t u = 7;
	char *end;

	errno = 0;
	if (str_to_i64(s, &i)) {
		MUST(strtoll(text, &end, 10) == i);
		MUST(errno == 0 && *end == '\0');
	}
	errno = 0;
	if (str_to_u64(s, &u)) {
		MUST(strtoull(text, &end, 10) == u);
		MUST(errno == 0 && *end == '\0' && text[0] != '-');
	}
}

/* Check that the parts and the separators between them add up to the whole. */
static void check_pieces(struct str s)
{
	struct str rest = s, piece;
	size_t sum = 0, n = 0;

	while (str_next(&rest, ',', &piece)) {
		MUST(piece.len == 0 || memchr(piece.p, ',', piece.len) == NULL);
		sum += piece.len;
		n++;
		MUST(n <= s.len + 1);
	}
	MUST(sum + n >= s.len && sum <= s.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { (const char *)data, size };
	struct str trimmed = str_trim(s);
	char *text = malloc(size + 1);

	MUST(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	if (strlen(text) == size) {
		check_double(s, text);
		check_integers(s, text);
	}
	check_pieces(s);
	MUST(trimmed.len <= size);
	MUST(str_trim(trimmed).len == trimmed.len);
	(void)str_hash(s);
	(void)str_find(s, "loss:");
	free(text);
	return 0;
}
