/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* The glossary of the manual, which explains the words on the screen. */
struct words_entry {
	struct str view, words, meaning; /* words: "POD, RUN, SEED" */
};

/* Get the n-th entry; false if there are fewer. */
bool words_entry_at(size_t n, struct words_entry *entry);
/* Return the meaning of a word, preferably in this view; empty if the word is unknown. */
struct str words_explain(const char *view, const char *word);
