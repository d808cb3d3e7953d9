/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* A hash table from byte strings to pointers; keys are copied, values are borrowed. */
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

/* Free the keys, and the values with free_value unless it is NULL. A zeroed map is empty. */
void map_release(struct map *map, void (*free_value)(void *value));
/* A local map that is released at the end of its block: AUTO_MAP seen = MAP_EMPTY; */
#define AUTO_MAP __attribute__((cleanup(map_release_keys))) struct map
#define MAP_EMPTY          \
	{                  \
		NULL, 0, 0 \
	}
void map_release_keys(struct map *map);
/* Return the value of a key; NULL if the key does not exist. */
void *map_get(const struct map *map, struct str key);
/* Set a value; returns the previous one or NULL. */
void *map_set(struct map *map, struct str key, void *value);
/* Remove a key; returns its value or NULL. */
void *map_remove(struct map *map, struct str key);
