/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing; deletion shifts entries back. */
#include "base/map.h"

#include "base/xalloc.h"

void map_release(struct map *map, void (*free_value)(void *value))
{
	for (size_t i = 0; i < map->room; i++) {
		if (map->slots[i].key == NULL)
			continue;
		if (free_value != NULL)
			free_value(map->slots[i].value);
		free(map->slots[i].key);
	}
	free(map->slots);
	*map = (struct map){ NULL, 0, 0 };
}

void map_release_keys(struct map *map)
{
	map_release(map, NULL);
}

static size_t map_place(const struct map *map, struct str key)
{
	size_t i = (size_t)str_hash(key) & (map->room - 1);

	while (map->slots[i].key != NULL &&
	       !str_eq(key, (struct str){ map->slots[i].key, map->slots[i].key_len }))
		i = (i + 1) & (map->room - 1);
	return i;
}

static void map_grow(struct map *map)
{
	struct map bigger = { .room = map->room > 0 ? map->room * 2 : 16, .count = map->count };

	bigger.slots = xcalloc(bigger.room, sizeof(*bigger.slots));
	array_each (s, map->slots, map->room) {
		if (s->key != NULL)
			bigger.slots[map_place(&bigger, (struct str){ s->key, s->key_len })] = *s;
	}
	free(map->slots);
	*map = bigger;
}

void *map_get(const struct map *map, struct str key)
{
	return map->room == 0 ? NULL : map->slots[map_place(map, key)].value;
}

void *map_set(struct map *map, struct str key, void *value)
{
	if (map->count * 4 >= map->room * 3)
		map_grow(map);
	struct map_slot *slot = &map->slots[map_place(map, key)];
	void *old = slot->value;
	if (slot->key == NULL) {
		slot->key = xstrndup(key.p != NULL ? key.p : "", key.len);
		slot->key_len = key.len;
		map->count++;
	}
	slot->value = value;
	return old;
}

void *map_remove(struct map *map, struct str key)
{
	size_t i;

	if (map->room == 0)
		return NULL;
	size_t hole = map_place(map, key);
	if (map->slots[hole].key == NULL)
		return NULL;
	void *old = map->slots[hole].value;
	free(map->slots[hole].key);
	map->slots[hole] = (struct map_slot){ NULL, 0, NULL };
	map->count--;
	for (i = (hole + 1) & (map->room - 1); map->slots[i].key != NULL;
	     i = (i + 1) & (map->room - 1)) {
		struct map_slot moved = map->slots[i];

		map->slots[i] = (struct map_slot){ NULL, 0, NULL };
		map->slots[map_place(map, (struct str){ moved.key, moved.key_len })] = moved;
	}
	return old;
}
