/* SPDX-License-Identifier: MIT */
/* Find the name that is most similar to a mistyped word. */
#include "base/nearest.h"

#include <sys/param.h>

#define NAME_MAX_BYTES 32U

/* Damerau-Levenshtein distance: letters that are wrong, missing, extra or swapped. */
static size_t count_typos(struct str a, struct str b)
{
	size_t t[NAME_MAX_BYTES + 1][NAME_MAX_BYTES + 1];

	if (a.len > NAME_MAX_BYTES || b.len > NAME_MAX_BYTES)
		return SIZE_MAX;
	for (size_t i = 0; i <= a.len; i++) {
		for (size_t k = 0; k <= b.len; k++) {
			t[i][k] = i + k;
			if (i == 0 || k == 0)
				continue;
			t[i][k] = MIN(t[i - 1][k], t[i][k - 1]) + 1;
			t[i][k] = MIN(t[i][k], t[i - 1][k - 1] + (a.p[i - 1] != b.p[k - 1]));
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] && a.p[i - 2] == b.p[k - 1])
				t[i][k] = MIN(t[i][k], t[i - 2][k - 2] + 1);
		}
	}
	return t[a.len][b.len];
}

void nearest_add(struct nearest *near, const char *name, size_t len)
{
	struct str s = { name, len };
	bool is_prefix = near->word.len > 1 && len > near->word.len &&
			 memcmp(near->word.p, name, near->word.len) == 0;
	size_t typos = is_prefix ? 1 : count_typos(near->word, s);

	if (typos <= near->max_typos && (near->name.p == NULL || typos < near->typos)) {
		near->name = s;
		near->typos = typos;
	}
}
