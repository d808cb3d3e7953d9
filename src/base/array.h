/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* 1; does not compile where it is given a pointer. */
#define IS_ARRAY(array) \
	sizeof(char[1 - \
		    2 * __builtin_types_compatible_p(__typeof__(array), __typeof__(&(array)[0]))])

/* How many elements an array has. */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Each of the n elements of an array (NULL where n is 0), which stays where it
 * is: item points at one after the other. */
#define array_each(item, array, n)                                                                 \
	for (__typeof__(*(array)) *item = (array), *item##_end = item == NULL ? NULL : item + (n); \
	     item != item##_end; item++)

/* The first of them that a condition on item holds for; NULL: none. */
#define array_find(item, array, n, condition)              \
	__extension__({                                    \
		__typeof__(*(array)) *item##_found = NULL; \
                                                           \
		array_each (item, array, n) {              \
			if (condition) {                   \
				item##_found = item;       \
				break;                     \
			}                                  \
		}                                          \
		item##_found;                              \
	})

/* Does the condition hold for one of them? */
#define array_any(item, array, n, condition) (array_find(item, array, n, condition) != NULL)

/* Does the condition on i hold for one, or for all, of 0 .. n - 1? */
#define any_of(i, n, condition)                           \
	__extension__({                                   \
		__typeof__((n) + 0) i = 0, i##_end = (n); \
                                                          \
		while (i < i##_end && !(condition))       \
			i++;                              \
		i < i##_end;                              \
	})
#define all_of(i, n, condition) (!any_of(i, n, !(condition)))

/*
 * Of 0 .. n - 1 the first i for which `before` does not hold, n when it holds
 * for all: an expression of i that is true for some and then for none.
 */
#define bisect(n, i, before)                              \
	__extension__({                                   \
		size_t i##_lo = 0, i##_hi = (n);          \
                                                          \
		while (i##_lo < i##_hi) {                 \
			size_t i = (i##_lo + i##_hi) / 2; \
                                                          \
			if (before)                       \
				i##_lo = i + 1;           \
			else                              \
				i##_hi = i;               \
		}                                         \
		i##_lo;                                   \
	})
