/* SPDX-License-Identifier: MIT */
/*
 * Each theme against the background it is for: contrast by WCAG 2.1 (1.4.3),
 * and the series as the colour-blind see them (Machado, Oliveira, Fernandes:
 * A Physiologically-based Model for Simulation of Color Vision Deficiency,
 * 2009, severity 1), by their distance in CIE L*a*b* (1976).
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/tap.h"
#include "ui/theme.h"

struct rgb {
	double v[3]; /* linear light, 0 to 1 */
};

static double
to_linear(double c)
{
	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* Colours 16 to 255 as every terminal of 256 colours has them. */
static struct rgb
color_of(int n)
{
	static const double level[] = { 0, 95, 135, 175, 215, 255 };
	double raw[3];
	struct rgb rgb;

	for (int i = 0; i < 3; i++) {
		static const int step[] = { 36, 6, 1 };

		raw[i] = n >= 232 ? 8 + 10 * (n - 232)
				  : level[(n - 16) / step[i] % 6];
		rgb.v[i] = to_linear(raw[i] / 255);
	}
	return rgb;
}

static double
contrast(struct rgb rgb, double background)
{
	double light =
		0.2126 * rgb.v[0] + 0.7152 * rgb.v[1] + 0.0722 * rgb.v[2];

	return (fmax(light, background) + 0.05) /
	       (fmin(light, background) + 0.05);
}

static const double sights[][3][3] = {
	{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	{ { 0.152286, 1.052583, -0.204868 },
	  { 0.114503, 0.786281, 0.099216 },
	  { -0.003882, -0.048116, 1.051998 } }, /* protanopia */
	{ { 0.367322, 0.860646, -0.227968 },
	  { 0.280085, 0.672501, 0.047413 },
	  { -0.011820, 0.042940, 0.968881 } }, /* deuteranopia */
};

static double
lab_part(double t)
{
	return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void
to_lab(struct rgb rgb, const double sight[3][3], double lab[3])
{
	double v[3], x, y, z;

	for (int i = 0; i < 3; i++) {
		v[i] = sight[i][0] * rgb.v[0] + sight[i][1] * rgb.v[1] +
		       sight[i][2] * rgb.v[2];
		v[i] = fmin(fmax(v[i], 0), 1);
	}
	x = lab_part((0.4124 * v[0] + 0.3576 * v[1] + 0.1805 * v[2]) / 0.95047);
	y = lab_part(0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]);
	z = lab_part((0.0193 * v[0] + 0.1192 * v[1] + 0.9505 * v[2]) / 1.08883);
	lab[0] = 116 * y - 16;
	lab[1] = 500 * (x - y);
	lab[2] = 200 * (y - z);
}

/* The least distance between two of the first n series, to any sight. */
static double
least_distance(enum theme theme, unsigned int n)
{
	double least = INFINITY;

	for (size_t s = 0; s < 3; s++) {
		for (unsigned int i = 0; i < n; i++) {
			for (unsigned int k = 0; k < i; k++) {
				double a[3], b[3];

				to_lab(color_of(theme_style(theme,
							    theme_series(i))
							->color256),
				       sights[s], a);
				to_lab(color_of(theme_style(theme,
							    theme_series(k))
							->color256),
				       sights[s], b);
				least = fmin(least, hypot(hypot(a[0] - b[0],
								a[1] - b[1]),
							  a[2] - b[2]));
			}
		}
	}
	return least;
}

/* Lines that only part others may be fainter than text. */
static bool
is_faint(const char *name)
{
	static const char *const faint[] = { "BORDER", "AXIS", "GAUGE_REST",
					     "LOG_SOURCE" };

	for (size_t i = 0; i < sizeof(faint) / sizeof(faint[0]); i++)
		if (strcmp(faint[i], name) == 0)
			return true;
	return false;
}

static void
test_contrast(enum theme theme, double background, double text, double faint)
{
	bool good = true;

	for (unsigned int i = 0; i < STYLE_COUNT; i++) {
		const struct theme_style *s = theme_style(theme, i);
		double least = is_faint(s->name) ? faint : text, has;

		if (s->color256 < 0)
			continue;
		has = contrast(color_of(s->color256), background);
		if (s->color256 < 16 || has < least)
			printf("# %s: %d: %.2f, not %.2f\n", s->name,
			       s->color256, has, least);
		good &= s->color256 >= 16 && has >= least;
	}
	ok(good, "%s: text has a contrast of %g, rules of %g",
	   theme_name(theme), text, faint);
}

/* Of the 16 those that are near to the background are no ink. */
static void
test_sixteen(enum theme theme, const char * not )
{
	bool good = true;

	for (unsigned int i = 0; i < STYLE_COUNT; i++) {
		const struct theme_style *s = theme_style(theme, i);

		good &= s->color16 < 16 &&
			(s->color16 < 0 || is_faint(s->name) ||
			 strchr(not, 'a' + s->color16) == NULL);
	}
	ok(good, "%s: no style vanishes in 16 colours", theme_name(theme));
}

int
main(void)
{
	struct err err = { ERR_NONE, "" };
	enum theme theme;

	test_contrast(THEME_DARK, 0, 4.5, 2);
	test_contrast(THEME_LIGHT, 1, 4.4, 1.5);
	test_contrast(THEME_CONTRAST, 0, 7, 7);
	/* Letters are colours: a is 0, p is 15. */
	test_sixteen(THEME_DARK, "ae");
	test_sixteen(THEME_LIGHT, "hjklmnop");
	test_sixteen(THEME_CONTRAST, "aei");
	ok(least_distance(THEME_DARK, 6) > 12,
	   "dark: six series differ to all");
	ok(least_distance(THEME_LIGHT, 8) > 20, "light: eight do");
	ok(least_distance(THEME_CONTRAST, 8) > 20, "contrast: eight do");
	ok(theme_by_name("light", &theme, &err) == 0 && theme == THEME_LIGHT,
	   "a theme by its name");
	ok(theme_by_name("none", &theme, &err) == -1 &&
		   strstr(err.text, "contrast") != NULL,
	   "a wrong one names those there are");
	return tap_done();
}
