/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The result of the function must not be ignored. */
#define MUST_USE __attribute__((warn_unused_result))
/* The function does not need this parameter. */
#define UNUSED __attribute__((unused))
/* The function takes a printf format and its arguments at these positions, counted from 1. */
#define LIKE_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))

/* Evaluates to 1; does not compile for a pointer. */
#define IS_ARRAY(array) \
	sizeof(char[1 - \
		    2 * __builtin_types_compatible_p(__typeof__(array), __typeof__(&(array)[0]))])

/* Number of elements of an array. */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Extract the ids or the names from a list of rows X(id, name, ..), as in: enum kind {
 * KIND_LIST(LIST_ID) }, { KIND_LIST(LIST_NAME) NULL }. */
#define LIST_ID(...)		LIST_ID_OF(__VA_ARGS__, )
#define LIST_ID_OF(id, ...)	id,
#define LIST_NAME(id, ...)	LIST_NAME_OF(__VA_ARGS__, )
#define LIST_NAME_OF(name, ...) name,
/* Define a function that returns the name of an id: LIST_NAMES(kind_name, kind, KIND_LIST) */
#define LIST_NAMES(function, type, list)                                \
	const char *function(enum type value)                           \
	{                                                               \
		static const char *const names[] = { list(LIST_NAME) }; \
                                                                        \
		return names[value];                                    \
	}

/* Point item to each of n elements. array: may be NULL if n is 0, must not be reallocated. */
#define array_each(item, array, n)                                                                 \
	for (__typeof__(*(array)) *item = (array), *item##_end = item == NULL ? NULL : item + (n); \
	     item != item##_end; item++)

/* The same for an array of n pointers: item is each pointer in turn. */
#define pointer_each(item, array, n)                                                        \
	for (__typeof__(**(array)) *const *                                                 \
		     item##_at = (array),                                                   \
		    *const *item##_end = item##_at == NULL ? NULL : item##_at + (n), *item; \
	     item##_at != item##_end && (item = *item##_at, true); item##_at++)

/* Find the first element for which the condition on item is true; NULL if there is none. */
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

/* Is the condition true for any element? */
#define array_any(item, array, n, condition) (array_find(item, array, n, condition) != NULL)

/* Find the first i of 0 .. n - 1 for which the condition on i is true; n if there is none. */
#define index_of(i, n, condition)                         \
	__extension__({                                   \
		__typeof__((n) + 0) i = 0, i##_end = (n); \
                                                          \
		while (i < i##_end && !(condition))       \
			i++;                              \
		i;                                        \
	})

/* Is the condition on i true for any, or for all, of 0 .. n - 1? */
#define any_of(i, n, condition) (index_of(i, n, condition) < (n))
#define all_of(i, n, condition) (!any_of(i, n, !(condition)))

/* Count the elements for which the condition is true. */
#define array_count(item, array, n, condition)               \
	__extension__({                                      \
		size_t item##_count = 0;                     \
                                                             \
		array_each (item, array, n)                  \
			item##_count += (condition) ? 1 : 0; \
		item##_count;                                \
	})

/* Find the first i of 0 .. n - 1 for which `before` is false; n if there is none. A binary search:
 * `before` is an expression of i that is true up to some i and false after it. */
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
