/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdlib.h>

/* Allocators that never return NULL: without memory, they call the hook of xalloc_set_abort_hook
 * (which restores the terminal) and abort. Callers limit sizes that come from outside. */
void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((alloc_size(2), returns_nonnull));
/* realloc to n * size bytes; aborts if the product overflows. */
void *xreallocarray(void *p, size_t n, size_t size)
	__attribute__((alloc_size(2, 3), returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
/* The same, but returns NULL for NULL. */
char *xstrdup_null(const char *s) __attribute__((malloc));
/* Copy of the first n bytes of s, with a NUL appended. */
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* Free *text. A local text that is freed at the end of its block: AUTO_TEXT x = xstrdup(s); */
void xfree_text(char **text);
#define AUTO_TEXT __attribute__((cleanup(xfree_text))) char *

/* A local array that is freed at the end of its block: AUTO_FREE char *x = xmalloc(n); */
void xfree_local(void *at);
#define AUTO_FREE __attribute__((cleanup(xfree_local)))

/* Set the function that is called once before aborting for lack of memory; NULL for none. */
void xalloc_set_abort_hook(void (*hook)(void));

/* Make room for one more element in a growing array: doubles *cap, starting at 8. Returns the array
 * (moved or not); use as v = xgrow(v, n, &cap, sizeof(*v)); */
void *xgrow(void *array, size_t n, size_t *cap, size_t size);
/* Append one element to such an array of n elements. */
#define xpush(v, n, cap, ...) \
	((v) = xgrow((v), (n), &(cap), sizeof(*(v))), (v)[(n)++] = __VA_ARGS__)

/* Append an uninitialized element to such an array and return its address. */
#define xplace(array, n, cap) \
	((array) = xgrow((array), (n), &(cap), sizeof(*(array))), &(array)[(n)++])

/* Return freed memory to the system, except 2 MiB per thread. Call it before threads start. */
void xalloc_init(void);
/* Return memory to the system after much of it was freed in small pieces. Takes milliseconds. */
void xtrim(void);

/* A new struct with these members, as in a designated initializer; the others are 0:
 * xnew(struct job, .loop = loop, .kind = kind) */
#define xnew(type, ...)                                  \
	__extension__({                                  \
		type *xnew_made = xmalloc(sizeof(type)); \
                                                         \
		*xnew_made = (type){ __VA_ARGS__ };      \
		xnew_made;                               \
	})

/* Free *text and replace it by value: another text, which *text then owns, or NULL. */
#define xset_text(text, value)                                \
	do {                                                  \
		char **xset_at = (text), *xset_new = (value); \
                                                              \
		free(*xset_at);                               \
		*xset_at = xset_new;                          \
	} while (0)
