/* SPDX-License-Identifier: MIT */
/* Looks up words in the glossary, which the build extracts from the manual. */
#include "ui/words.h"

#include "base/embed.h"

extern const struct embed_file words_text[];

static bool next_entry(struct str *rest, struct words_entry *entry)
{
	struct str line;

	return str_next(rest, '\n', &line) && str_next(&line, '\t', &entry->view) &&
	       str_next(&line, '\t', &entry->words) && str_next(&line, '\t', &entry->meaning);
}

bool words_entry_at(size_t n, struct words_entry *entry)
{
	struct str rest = str_from(words_text[0].text);

	while (next_entry(&rest, entry))
		if (n-- == 0)
			return true;
	return false;
}

struct str words_explain(const char *view, const char *word)
{
	struct str rest = str_from(words_text[0].text), found = { "", 0 }, one;
	struct words_entry entry;

	while (next_entry(&rest, &entry))
		while (str_next(&entry.words, ',', &one))
			if (str_eq_cstr(str_trim(one), word) &&
			    (found.len == 0 || str_eq_cstr(entry.view, view)))
				found = entry.meaning;
	return found;
}
