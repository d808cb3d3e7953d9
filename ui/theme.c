/* SPDX-License-Identifier: MIT */
/* Colors and attributes of the named styles in each theme. */
#include "ui/theme.h"

#include <math.h>

#define THEME_ROW(id, name, help) name,
static const char *const names[] = { THEME_LIST(THEME_ROW) };

#define X_DARK(id, a, d256, d16, l256, l16, c256, c16)	   { #id, d256, d16, a },
#define X_LIGHT(id, a, d256, d16, l256, l16, c256, c16)	   { #id, l256, l16, a },
#define X_CONTRAST(id, a, d256, d16, l256, l16, c256, c16) { #id, c256, c16, a },

static const struct theme_style styles[][STYLE_COUNT] = {
	[THEME_DARK] = { STYLE_LIST(X_DARK) },
	[THEME_LIGHT] = { STYLE_LIST(X_LIGHT) },
	[THEME_CONTRAST] = { STYLE_LIST(X_CONTRAST) },
};

_Static_assert(sizeof(styles) / sizeof(styles[0]) == THEME_COUNT, "each theme has its styles");

const char *theme_name(enum theme theme)
{
	return names[theme];
}

int theme_by_name(const char *name, enum theme *theme, struct err *err)
{
	for (int i = 0; i < THEME_COUNT; i++) {
		if (strcmp(names[i], name) == 0) {
			*theme = (enum theme)i;
			return 0;
		}
	}
	return err_set(err, ERR_CONFIG, "unknown theme \"%s\"; expected dark, light or contrast",
		       name);
}

const struct theme_style *theme_style(enum theme theme, unsigned int style)
{
	unsigned int i = style & STYLE_MASK;

	return &styles[theme][i < STYLE_COUNT ? i : STYLE_NORMAL];
}

unsigned int theme_delta(double value)
{
	return isnan(value) ? STYLE_DIM : value < 0 ? STYLE_BETTER : STYLE_WORSE;
}

unsigned int theme_fact(enum fact_style style)
{
	static const unsigned int looks[FACT_STYLE_COUNT] = {
		[FACT_PLAIN] = STYLE_NORMAL,  [FACT_DIM] = STYLE_DIM,
		[FACT_HINT] = STYLE_HINT,     [FACT_STRONG] = STYLE_STRONG,
		[FACT_LIVE] = STYLE_LIVE,     [FACT_DONE] = STYLE_DONE,
		[FACT_SILENT] = STYLE_SILENT, [FACT_WARN] = STYLE_WARN,
		[FACT_ALARM] = STYLE_ALARM,   [FACT_BETTER] = STYLE_BETTER,
		[FACT_WORSE] = STYLE_WORSE,   [FACT_REFERENCE] = STYLE_REFERENCE,
	};

	return looks[style];
}

unsigned int theme_series(unsigned int i)
{
	return STYLE_SERIES_1 + i % STYLE_SERIES_COUNT;
}
