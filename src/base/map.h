/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* A hash from bytes to pointers; keys are copied, values are borrowed. */
struct map_slot {
	char *key; /* owned; NULL: free slot */
	size_t key_len;
	void *value;
};

struct map {
	struct map_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
};

void map_init(struct map *map);
/* Frees the keys; free_value (may be NULL) is called for each value. */
void map_release(struct map *map, void (*free_value)(void *value));
/* NULL if the key does not exist. */
void *map_get(const struct map *map, struct str key);
/* Set a value; returns the previous one or NULL. */
void *map_set(struct map *map, struct str key, void *value);
/* Remove a key; returns its value or NULL. */
void *map_remove(struct map *map, struct str key);
