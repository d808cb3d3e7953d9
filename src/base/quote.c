/* SPDX-License-Identifier: MIT */
/* Quote words for a shell; used by everything that runs commands on a pod. */
#include "base/quote.h"

#include <assert.h>

void quote_word(struct buf *out, struct str word)
{
	size_t plain = 0;

	assert(word.len == 0 || memchr(word.p, '\0', word.len) == NULL);
	/* Bytes without a special meaning to any shell, anywhere in a word. */
	while (plain < word.len && word.p[plain] != '\0' &&
	       (str_is_word(word.p[plain]) || strchr("-./:,+@%", word.p[plain]) != NULL))
		plain++;
	if (plain == word.len && word.len > 0) {
		buf_append(out, word.p, word.len);
		return;
	}
	buf_append_char(out, '\'');
	for (size_t i = 0; i < word.len; i++)
		if (word.p[i] == '\'')
			buf_append_str(out, "'\\''");
		else
			buf_append_char(out, word.p[i]);
	buf_append_char(out, '\'');
}

void quote_argv(struct buf *out, const char *const *argv)
{
	for (size_t i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_append_char(out, ' ');
		quote_word(out, str_from(argv[i]));
	}
}
