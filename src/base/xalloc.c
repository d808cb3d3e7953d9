/* SPDX-License-Identifier: MIT */
/* Allocators that abort if memory is exhausted; all allocations use them. */
#include "base/xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <string.h>

static void (*abort_hook)(void);

void xalloc_set_abort_hook(void (*hook)(void))
{
	abort_hook = hook;
}

static void __attribute__((noreturn)) out_of_memory(void)
{
	static const char text[] = "hgym-tui: out of memory\n";

	if (abort_hook != NULL)
		abort_hook();
	(void)fwrite(text, 1, sizeof(text) - 1, stderr);
	abort();
}

void *xmalloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n > 0 ? n : 1, size > 0 ? size : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size > 0 ? size : 1);
	if (p == NULL)
		out_of_memory();
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	if (size > 0 && n > SIZE_MAX / size)
		out_of_memory();
	return xrealloc(p, n * size);
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrdup_null(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	if (n > 0) /* s may be NULL in that case */
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0 || text == NULL)
		out_of_memory();
	return text;
}

void xfree_text(char **text)
{
	free(*text);
}

void xfree_local(void *at)
{
	void *p;

	memcpy(&p, at, sizeof(p));
	free(p);
}

void *xgrow(void *array, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return array;
	*cap = *cap > 0 ? *cap * 2 : 8;
	return xreallocarray(array, *cap, size);
}

#define KEPT_BYTES (2 * 1024 * 1024)

void xalloc_init(void)
{
#ifdef __GLIBC__
	/* By default the first large block that is freed raises both limits to its size, and each
	 * thread keeps its freed memory. These limits keep the 1 MiB buffer of a turn for the
	 * next one, because getting new pages takes longer than filling them. */
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

void xtrim(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}
