/* SPDX-License-Identifier: MIT */
/* The named styles; the terminal turns them into colours. */
#include "config.h"

#include "ui/theme.h"

static const struct theme_style styles[] = {
#define X(id, c256, c16, attributes) { #id, (c256), (c16), (attributes) },
	STYLE_LIST(X)
#undef X
};

const struct theme_style *
theme_style(unsigned int style)
{
	unsigned int i = style & STYLE_MASK;

	return &styles[i < STYLE_COUNT ? i : STYLE_NORMAL];
}

unsigned int
theme_series(unsigned int i)
{
	return STYLE_SERIES_1 + i % STYLE_SERIES_COUNT;
}
