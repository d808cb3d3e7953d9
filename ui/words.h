/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* The glossary of the manual: words of the screen, and what they mean. */
struct words_entry {
	struct str view, words, meaning; /* words: "POD, RUN, SEED" */
};

/* The n-th entry; false: there are fewer. */
bool words_entry_at(size_t n, struct words_entry *entry);
/* What a word means, in the view if that is possible; empty: unknown. */
struct str words_explain(const char *view, const char *word);
