/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_SORT_H
#define HGYM_BASE_SORT_H

#include <stddef.h>

/* Ascending, in place; x holds no NaN. */
void sort_doubles(double *x, size_t n);

#endif
