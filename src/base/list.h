/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_LIST_H
#define HGYM_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * An intrusive doubly linked list: a struct list is both the head and the
 * link that an element carries.  The list owns nothing.
 */
struct list {
	struct list *prev, *next;
};

#define list_entry(link, type, member)                                         \
	((type *)(void *)((char *)(link)-offsetof(type, member)))

#define list_for_each(link, head)                                              \
	for (struct list *link = (head)->next; link != (head);                 \
	     link = (link)->next)

/* The same where the body may remove and free the element at hand. */
#define list_for_each_safe(link, head)                                         \
	for (struct list *link = (head)->next, *link##_next = link->next;      \
	     link != (head); link = link##_next, link##_next = link->next)

static inline void
list_init(struct list *head)
{
	head->prev = head->next = head;
}

static inline bool
list_is_empty(const struct list *head)
{
	return head->next == head;
}

/* Put link before `place`; with the head as place: at the end. */
static inline void
list_insert_before(struct list *place, struct list *link)
{
	link->prev = place->prev;
	link->next = place;
	place->prev->next = link;
	place->prev = link;
}

static inline void
list_append(struct list *head, struct list *link)
{
	list_insert_before(head, link);
}

/* Take link out; it becomes an empty list of its own. */
static inline void
list_remove(struct list *link)
{
	/* The analyzer cannot see that neighbours live.  NOLINTBEGIN */
	link->prev->next = link->next;
	link->next->prev = link->prev;
	/* NOLINTEND */
	list_init(link);
}

#endif
