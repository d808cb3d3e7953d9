/* SPDX-License-Identifier: MIT */
/* Each theme against the background it is for: contrast by WCAG 2.1 (1.4.3, and 1.4.11 for lines),
 * and the colors that color-blind readers can distinguish (Machado, Oliveira, Fernandes: A
 * Physiologically-based Model for Simulation of Color Vision Deficiency, 2009). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/tap.h"
#include "ui/theme.h"

struct rgb {
	double v[3]; /* linear light, 0 to 1 */
};

static double to_linear(double c)
{
	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* The color of a number from 16 to 255, as in every terminal with 256 colors. */
static struct rgb color_of(int n)
{
	static const double level[] = { 0, 95, 135, 175, 215, 255 };
	double raw[3];
	struct rgb rgb;

	for (int i = 0; i < 3; i++) {
		static const int step[] = { 36, 6, 1 };

		raw[i] = n >= 232 ? 8 + 10 * (n - 232) : level[(n - 16) / step[i] % 6];
		rgb.v[i] = to_linear(raw[i] / 255);
	}
	return rgb;
}

static double contrast(struct rgb rgb, double background)
{
	double light = 0.2126 * rgb.v[0] + 0.7152 * rgb.v[1] + 0.0722 * rgb.v[2];

	return (fmax(light, background) + 0.05) / (fmin(light, background) + 0.05);
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

static double lab_part(double t)
{
	return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void to_lab(struct rgb rgb, const double sight[3][3], double lab[3])
{
	double v[3], x, y, z;

	for (int i = 0; i < 3; i++) {
		v[i] = sight[i][0] * rgb.v[0] + sight[i][1] * rgb.v[1] + sight[i][2] * rgb.v[2];
		v[i] = fmin(fmax(v[i], 0), 1);
	}
	x = lab_part((0.4124 * v[0] + 0.3576 * v[1] + 0.1805 * v[2]) / 0.95047);
	y = lab_part(0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]);
	z = lab_part((0.0193 * v[0] + 0.1192 * v[1] + 0.9505 * v[2]) / 1.08883);
	lab[0] = 116 * y - 16;
	lab[1] = 500 * (x - y);
	lab[2] = 200 * (y - z);
}

#define DEGREE (M_PI / 180)

/* The hue of a color, 0 to 360 degrees. */
static double hue_of(double a, double b)
{
	double hue = atan2(b, a) / DEGREE;

	return hue < 0 ? hue + 360 : hue;
}

static double seventh(double chroma)
{
	return sqrt(pow(chroma, 7) / (pow(chroma, 7) + pow(25, 7)));
}

/* CIEDE2000 between two colors in L*a*b*: 1 is just visible between patches. */
static double ciede2000(const double x[3], const double y[3])
{
	double g = 1.5 - seventh((hypot(x[1], x[2]) + hypot(y[1], y[2])) / 2) / 2;
	double c1 = hypot(x[1] * g, x[2]), c2 = hypot(y[1] * g, y[2]);
	double h1 = hue_of(x[1] * g, x[2]), h2 = hue_of(y[1] * g, y[2]);
	double dh = h2 - h1, h = (h1 + h2) / 2, c = (c1 + c2) / 2;
	double l = (x[0] + y[0]) / 2 - 50, t, part[3], turn;

	if (c1 * c2 <= 0) {
		dh = 0;
		h = h1 + h2;
	} else if (fabs(dh) > 180) {
		dh += dh > 0 ? -360 : 360;
		h += h < 180 ? 180 : -180;
	}
	t = 1 - 0.17 * cos((h - 30) * DEGREE) + 0.24 * cos(2 * h * DEGREE) +
	    0.32 * cos((3 * h + 6) * DEGREE) - 0.20 * cos((4 * h - 63) * DEGREE);
	part[0] = (y[0] - x[0]) / (1 + 0.015 * l * l / sqrt(20 + l * l));
	part[1] = (c2 - c1) / (1 + 0.045 * c);
	part[2] = 2 * sqrt(c1 * c2) * sin(dh / 2 * DEGREE) / (1 + 0.015 * c * t);
	turn = -2 * seventh(c) * sin(60 * DEGREE * exp(-pow((h - 275) / 25, 2)));
	return sqrt(part[0] * part[0] + part[1] * part[1] + part[2] * part[2] +
		    turn * part[1] * part[2]);
}

/* Test pairs published with the formula. */
static void test_formula(void)
{
	static const struct {
		double x[3], y[3], want;
	} v[] = {
		{ { 50, 2.6772, -79.7751 }, { 50, 0, -82.7485 }, 2.0425 },
		{ { 50, 2.5, 0 }, { 73, 25, -18 }, 27.1492 },
		{ { 50, 2.49, -0.001 }, { 50, -2.49, 0.0011 }, 7.2195 },
		{ { 50, 0, 0 }, { 50, -1, 2 }, 2.3669 },
		{ { 2.0776, 0.0795, -1.1350 }, { 0.9033, -0.0636, -0.5514 }, 0.9082 },
	};

	for (size_t i = 0; i < LENGTH(v); i++) {
		double got = ciede2000(v[i].x, v[i].y);

		ok(fabs(got - v[i].want) < 1e-4, "CIEDE2000: %.4f", got);
	}
}

/* The smallest distance between two styles, for any kind of vision. */
static double distance(enum theme theme, unsigned int one, unsigned int two)
{
	double least = INFINITY, a[3], b[3];

	for (size_t s = 0; s < LENGTH(sights); s++) {
		to_lab(color_of(theme_style(theme, one)->color256), sights[s], a);
		to_lab(color_of(theme_style(theme, two)->color256), sights[s], b);
		least = fmin(least, ciede2000(a, b));
	}
	return least;
}

/* Styles that are closer could be confused: a difference of 1 is just visible between large patches
 * next to each other, lines of dots need many times that. */
#define APART 8

static void are_apart(enum theme theme, const unsigned int *styles, size_t n, const char *what)
{
	bool good = true;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			double has = distance(theme, styles[i], styles[k]);

			if (has < APART)
				printf("# %s, %s: %.1f\n", theme_style(theme, styles[i])->name,
				       theme_style(theme, styles[k])->name, has);
			good &= has >= APART;
		}
	}
	ok(good, "%s: %s can be distinguished with any color vision", theme_name(theme), what);
}

/* Styles drawn next to each other. WARN and SILENT, LIVE and BETTER share a color: these are in
 * separate columns, with a symbol or a sign and a word. */
static void test_apart(enum theme theme)
{
	static const unsigned int lines[] = {
		STYLE_SERIES_1,	 STYLE_SERIES_2, STYLE_SERIES_3, STYLE_SERIES_4,
		STYLE_SERIES_5,	 STYLE_SERIES_6, STYLE_SERIES_7, STYLE_SERIES_8,
		STYLE_REFERENCE, STYLE_DIM /* raw rows */
	};
	static const unsigned int states[] = { STYLE_LIVE, STYLE_DONE, STYLE_WARN, STYLE_ALARM };
	static const unsigned int signs[] = { STYLE_BETTER, STYLE_WORSE, STYLE_REFERENCE };
	static const unsigned int gauges[] = { STYLE_GAUGE, STYLE_GAUGE_OVER, STYLE_GAUGE_REST };

	are_apart(theme, lines, LENGTH(lines), "lines");
	are_apart(theme, states, LENGTH(states), "states");
	are_apart(theme, signs, LENGTH(signs), "better and worse");
	are_apart(theme, gauges, LENGTH(gauges), "parts of a gauge");
}

/* Styles that are not text: lines of a chart, and separators. */
static double least_contrast(const char *name, double text, double faint)
{
	static const char *const faints[] = { "BORDER", "AXIS", "GAUGE_REST" };

	for (size_t i = 0; i < LENGTH(faints); i++)
		if (strcmp(faints[i], name) == 0)
			return faint;
	return strncmp(name, "SERIES_", 7) == 0 ? fmin(3, text) : text;
}

static void test_contrast(enum theme theme, double background, double text, double faint)
{
	bool good = true;

	for (unsigned int i = 0; i < STYLE_COUNT; i++) {
		const struct theme_style *s = theme_style(theme, i);
		double least = least_contrast(s->name, text, faint), has;

		if (s->color256 < 0)
			continue;
		has = contrast(color_of(s->color256), background);
		if (s->color256 < 16 || has < least)
			printf("# %s: %d: %.2f, not %.2f\n", s->name, s->color256, has, least);
		good &= s->color256 >= 16 && has >= least;
	}
	ok(good, "%s: text has a contrast of %g, rules of %g", theme_name(theme), text, faint);
}

/* The colors of the 16 that are close to the background are not used. */
static void test_sixteen(enum theme theme, const char * not )
{
	bool good = true;

	for (unsigned int i = 0; i < STYLE_COUNT; i++) {
		const struct theme_style *s = theme_style(theme, i);

		good &= s->color16 < 16 && (s->color16 < 0 || least_contrast(s->name, 2, 1) < 2 ||
					    strchr(not, 'a' + s->color16) == NULL);
	}
	ok(good, "%s: no style vanishes in 16 colours", theme_name(theme));
}

int main(void)
{
	struct err err = { ERR_NONE, "" };
	enum theme theme;

	/* Backgrounds are rarely pure black or white. */
	test_contrast(THEME_DARK, to_linear(30 / 255.0), 4.5, 1.7);
	test_contrast(THEME_LIGHT, to_linear(250 / 255.0), 4.5, 1.5);
	test_contrast(THEME_CONTRAST, 0, 7, 7);
	test_formula();
	for (theme = 0; theme < THEME_COUNT; theme++)
		test_apart(theme);
	/* Letters are colors: a is 0, p is 15. */
	test_sixteen(THEME_DARK, "ae");
	test_sixteen(THEME_LIGHT, "hjklmnop");
	test_sixteen(THEME_CONTRAST, "aei");
	ok(theme_by_name("light", &theme, &err) == 0 && theme == THEME_LIGHT,
	   "a theme is found by its name");
	ok(theme_by_name("none", &theme, &err) == -1 && strstr(err.text, "contrast") != NULL,
	   "an unknown name lists the known ones");
	return tap_done();
}
