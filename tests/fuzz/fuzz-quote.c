/* SPDX-License-Identifier: MIT */
/* argv to shell text: reading it by POSIX's quoting rules gives argv again. */
#include "base/quote.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define MAX_WORDS 16

/* Characters without a special meaning to any shell, anywhere in a word. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%";

/* Read one word at *p by POSIX 2.2: single quotes quote everything up to the next one, a backslash
 * quotes one character (not a newline), plain characters are literal; anything else is an error.
 * Returns false at the end. */
static bool read_word(const char **p, struct buf *word)
{
	const char *at = *p;

	buf_clear(word);
	if (*at == '\0')
		return false;
	while (*at != '\0' && *at != ' ') {
		if (*at == '\'') {
			const char *end = strchr(at + 1, '\'');

			MUST(end != NULL);
			buf_append(word, at + 1, (size_t)(end - at - 1));
			at = end + 1;
		} else if (*at == '\\') {
			MUST(at[1] != '\0' && at[1] != '\n');
			buf_append_char(word, at[1]);
			at += 2;
		} else {
			MUST(strchr(plain, *at) != NULL);
			buf_append_char(word, *at++);
		}
	}
	*p = *at == ' ' ? at + 1 : at;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *argv[MAX_WORDS + 1], *at;
	char *text = malloc(size + 1);
	struct buf line, word;
	size_t n = 0;

	MUST(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	/* NUL separates the words. */
	for (size_t i = 0; i <= size && n < MAX_WORDS; i += strlen(text + i) + 1)
		argv[n++] = text + i;
	argv[n] = NULL;
	buf_init(&line, 8 * size + 256);
	buf_init(&word, 8 * size + 256);
	quote_argv(&line, argv);
	MUST(!line.truncated);
	at = line.data;
	for (size_t i = 0; i < n; i++) {
		MUST(read_word(&at, &word));
		MUST(strcmp(word.data, argv[i]) == 0);
	}
	MUST(*at == '\0');
	buf_release(&word);
	buf_release(&line);
	free(text);
	return 0;
}
