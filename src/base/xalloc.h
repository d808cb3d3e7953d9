/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Allocators that never return NULL: out of memory calls the hook of
 * xalloc_set_abort_hook (which restores the terminal) and aborts.  What comes
 * from outside is bounded before it is allocated for.
 */
void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((alloc_size(2), returns_nonnull));
/* realloc to n * size bytes; aborts when the product overflows. */
void *xreallocarray(void *p, size_t n, size_t size)
	__attribute__((alloc_size(2, 3), returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
/* The same, but NULL of NULL: what is absent stays absent. */
char *xstrdup_null(const char *s) __attribute__((malloc));
/* Copy of the first n bytes of s with a NUL behind them. */
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* Free *text.  A local text that is freed where its block ends:
 *	AUTO_TEXT path = xasprintf("%s/%s", folder, name); */
void xfree_text(char **text);
#define AUTO_TEXT __attribute__((cleanup(xfree_text))) char *

/* A local array that is freed where its block ends:
 *	AUTO_FREE double *x = xcalloc(n, sizeof(*x)); */
void xfree_local(void *at);
#define AUTO_FREE __attribute__((cleanup(xfree_local)))

/* Called once before the abort for want of memory; NULL for none. */
void xalloc_set_abort_hook(void (*hook)(void));

/*
 * Make room for one element more in a growing array: doubles *cap from 8.
 * Returns the array (moved or not); use as
 *	v = xgrow(v, n, &cap, sizeof(*v));
 */
void *xgrow(void *array, size_t n, size_t *cap, size_t size);
/* The same for one element, which is put behind the n that there are. */
#define xpush(v, n, cap, ...) \
	((v) = xgrow((v), (n), &(cap), sizeof(*(v))), (v)[(n)++] = __VA_ARGS__)

/* The place of a new last element of such an array; its bytes are not set. */
#define xplace(array, n, cap) \
	((array) = xgrow((array), (n), &(cap), sizeof(*(array))), &(array)[(n)++])

/*
 * For the whole process, before it has threads: what is freed goes back to the
 * system but for 2 MiB a thread.
 */
void xalloc_init(void);
/* Much was freed in small pieces: give it back to the system where that is
 * possible.  Takes milliseconds. */
void xtrim(void);
