/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An intrusive doubly linked list: a struct list is both the head and the
 * link that an element carries.  The list owns nothing. */
struct list {
	struct list *prev, *next;
};

#define list_entry(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Visit each element: `item` is a `type` from the list `head`, and its link is `member`. */
#define list_each(type, item, head, member)                                                \
	for (type *item = list_entry((head)->next, type, member); &item->member != (head); \
	     item = list_entry(item->member.next, type, member))

/* The same, if the body may remove and free the current element. */
#define list_each_safe(type, item, head, member)                              \
	for (type *item = list_entry((head)->next, type, member),             \
		  *item##_next = list_entry(item->member.next, type, member); \
	     &item->member != (head);                                         \
	     item = item##_next, item##_next = list_entry(item->member.next, type, member))

static inline void list_init(struct list *head)
{
	head->prev = head->next = head;
}

static inline bool list_is_empty(const struct list *head)
{
	return head->next == head;
}

/* Put link at the end. */
static inline void list_append(struct list *head, struct list *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

/* Remove link; it becomes an empty list. */
static inline void list_remove(struct list *link)
{
	/* The analyzer cannot see that neighbors are still allocated.  NOLINTBEGIN */
	link->prev->next = link->next;
	link->next->prev = link->prev;
	/* NOLINTEND */
	list_init(link);
}
