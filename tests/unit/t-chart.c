/* SPDX-License-Identifier: MIT */
/* Charts of few, equal, huge, negative and non-finite points; mouse sequences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keymap.h"
#include "tests/support/tap.h"
#include "ui/chart.h"
#include "ui/mouse.h"
#include "ui/theme.h"
#include "ui/view.h"

#define WIDTH  40
#define HEIGHT 9

static struct buf text;
static const char *name; /* upper edge of the series; NULL: none */

/* Draw one series into `text`. Set other fields of `chart` before. */
static void draw(struct chart *chart, const double *x, const double *y, size_t n)
{
	const struct chart_series series = { x, y, n, STYLE_SERIES_1, CHART_SOLID, name, NULL, 0 };
	struct canvas canvas;

	canvas_init(&canvas);
	canvas_resize(&canvas, WIDTH, HEIGHT);
	chart->rect = (struct rect){ 0, 0, WIDTH, HEIGHT };
	chart->series = &series;
	chart->n_series = 1;
	chart_draw(chart, &canvas);
	buf_clear(&text);
	canvas_dump(&canvas, false, &text);
	canvas_release(&canvas);
}

/* The number at the upper (or lower) end of the y axis. */
static double label(bool upper)
{
	const char *line = text.data;
	double value = NAN;

	for (int y = 0; y < HEIGHT - 1; y++) {
		char *end;
		double got = strtod(line, &end);

		if (end != line && end - line < CHART_AXIS_COLUMNS) {
			value = got;
			if (upper)
				return value;
		}
		line = strchr(line, '\n') + 1;
	}
	return value;
}

/* The number of cells with dots. */
static int count_cells(void)
{
	int n = 0;

	for (const char *p = text.data; *p != '\0'; p++)
		n += (unsigned char)p[0] == 0xE2 && ((unsigned char)p[1] & 0xFC) == 0xA0;
	return n;
}

static void test_few(void)
{
	const double x[] = { 5, 6, 7 }, y[] = { 2.5, 2.5, 2.5 };
	struct chart chart;

	chart_init(&chart, (struct rect){ 0 });
	draw(&chart, x, y, 0);
	ok(count_cells() == 0, "no points, no dots");
	draw(&chart, x, y, 1);
	ok(count_cells() >= 1, "a single point is visible");
	ok(label(false) < 2.5 && label(true) > 2.5, "a single point is inside its axis");
	draw(&chart, x, y, 3);
	ok(count_cells() >= 25, "equal points form a line");
	ok(label(false) > 2.4 && label(true) < 2.6 && label(false) < label(true),
	   "the axis is close to equal points: %g to %g", label(false), label(true));
}

static void test_noise(void)
{
	const double x[] = { 0, 1, 2 }, zero[] = { 0, 0, 0 };
	double y[] = { 100, 100 + 1e-12, 100 };
	struct chart chart;

	chart_init(&chart, (struct rect){ 0 });
	draw(&chart, x, y, 3);
	ok(label(true) - label(false) > 1, "values that differ by rounding only count as equal");
	draw(&chart, x, zero, 3);
	ok(label(false) == 0 && label(true) >= 0.4, "zeros have an axis");
	y[1] = 100.0004;
	draw(&chart, x, y, 3);
	ok(label(true) > label(false), "small differences get decimals");
}

static void test_gaps(void)
{
	const double x[] = { 0, 1, 2, 3, 4, 5, 6 };
	double y[] = { 1, 1, NAN, NAN, NAN, 1, 1 };
	struct chart chart;
	int whole, parted;

	chart_init(&chart, (struct rect){ 0 });
	draw(&chart, x, y, 7);
	parted = count_cells();
	y[2] = y[3] = y[4] = 1;
	draw(&chart, x, y, 7);
	whole = count_cells();
	ok(parted < whole * 2 / 3 && parted > whole / 4,
	   "NaN interrupts the line: %d cells, not %d", parted, whole);
	y[3] = (double)INFINITY;
	y[4] = -(double)INFINITY;
	draw(&chart, x, y, 7);
	ok(count_cells() > 0 && label(true) < 2, "infinity interrupts the line");
	y[0] = y[2] = y[4] = NAN;
	draw(&chart, x, y, 5);
	ok(count_cells() >= 1, "a point without neighbors is visible");
}

/* Cells of the text outside of the axis that are not blank. */
static int count_marks(const char *marks)
{
	int n = 0;

	for (const char *line = text.data; *line != '\0'; line++)
		n += strchr(marks, *line) != NULL;
	return n;
}

/* Points with a sign are drawn as that character, in the cell of their dot; labels of the y axis
 * are the same number of rows apart. */
static void test_signs(void)
{
	const double x[] = { 0, 1, 2 }, y[] = { 10, 20, NAN };
	const struct chart_series signs = { x, y, 3, STYLE_SERIES_1, CHART_SOLID, NULL, NULL, 'o' };
	struct canvas canvas;
	struct chart chart;
	int rows[20], n = 0;

	canvas_init(&canvas);
	canvas_resize(&canvas, 40, 31);
	chart_init(&chart, (struct rect){ 0, 0, 40, 31 });
	chart.series = &signs;
	chart.n_series = 1;
	chart.x_hi = 2;
	chart_draw(&chart, &canvas);
	buf_clear(&text);
	canvas_dump(&canvas, false, &text);
	ok(count_cells() == 0 && count_marks("o") == 2, "two points are drawn as two signs\n%s",
	   text.data);
	for (int row = 0; row < 31 && n < 20; row++)
		if (canvas_at(&canvas, CHART_AXIS_COLUMNS - 1, row)->cp == 0x2524)
			rows[n++] = row;
	bool even = n > 3;
	for (int i = 2; i < n; i++)
		even = even && rows[i] - rows[i - 1] == rows[1] - rows[0];
	ok(even, "%d labels of the y axis are evenly spaced", n);
	canvas_release(&canvas);
}

/* A band is drawn below the lines in each charset and does not change the axis. */
static void test_band(void)
{
	const double x[] = { 0, 1, 2 }, y[] = { 2, 2, 2 };
	double lo[] = { 1.97, 1.97, 1.97 }, hi[] = { 2.03, 2.03, 2.03 };
	const double wild[] = { -1e300, NAN, 1e300 };
	struct chart_series series[] = {
		{ x, lo, 3, STYLE_REFERENCE, CHART_BAND, "band", hi, 0 },
		{ x, y, 3, STYLE_SERIES_1, CHART_SOLID, NULL, NULL, 0 },
	};
	struct canvas canvas;
	struct chart chart;
	int cells[2], lines = 0;

	canvas_init(&canvas);
	canvas_resize(&canvas, WIDTH, HEIGHT);
	chart_init(&chart, (struct rect){ 0, 0, WIDTH, HEIGHT });
	chart.series = series;
	for (int set = CHART_BRAILLE; set <= CHART_ASCII; set++) {
		chart.charset = (enum chart_charset)set;
		for (int n = 0; n < 2; n++) {
			chart.series = series + 1 - n;
			chart.n_series = 1 + (size_t)n;
			canvas_clear(&canvas);
			chart_draw(&chart, &canvas);
			buf_clear(&text);
			canvas_dump(&canvas, set == CHART_ASCII, &text);
			cells[n] = set == CHART_BRAILLE ? count_cells()
				   : set == CHART_ASCII ? count_marks("*+:")
							: count_marks("\x96\x97\x98\x9d");
			if (n == 0)
				lines = count_marks("0123456789");
			else
				ok(count_marks("0123456789") == lines,
				   "charset %d: the axis stays "
				   "the same",
				   set);
		}
		ok(cells[1] > cells[0] + 20, "charset %d: a band of %d cells", set,
		   cells[1] - cells[0]);
	}
	series[0].y = wild;
	series[0].top = wild;
	chart.x_lo = 0.5;
	chart.x_hi = 0.5001;
	chart_draw(&chart, &canvas);
	ok(true, "a band accepts any numbers");
	canvas_release(&canvas);
	/* SVG draws a band as an area, not as a line. */
	chart.n_series = 2;
	chart.series = series;
	series[0].top = hi;
	series[0].y = lo;
	buf_clear(&text);
	chart_svg(&chart, "", &text);
	ok(strstr(text.data, "fill:#dddddd") != NULL && strstr(text.data, "zM") != NULL,
	   "in SVG, the band consists of two areas: %s", text.data);
}

static void test_sizes(void)
{
	const double x[] = { 0, 1, 2 };
	const double minus[] = { -3, -2, -1 }, huge[] = { 1e12, 2e12, 3e15 };
	const double ends[] = { -1.7e308, 0, 1.7e308 };
	const double steep[] = { 0, 1e15, 1e18 };
	const double far_x[] = { 1.7e18, 1.7e18 }, one[] = { 1, 1 };
	struct chart chart;

	chart_init(&chart, (struct rect){ 0 });
	draw(&chart, x, minus, 3);
	ok(label(false) <= -3 && label(true) < 0, "negative values: %g to %g", label(false),
	   label(true));
	draw(&chart, x, huge, 3);
	ok(label(true) > 1.9e15 && label(true) < 3.2e15 && strstr(text.data, "…") == NULL,
	   "huge numbers fit the axis: %g", label(true));
	draw(&chart, x, ends, 3);
	ok(count_cells() >= 1, "the largest doubles are drawn");
	draw(&chart, far_x, one, 2);
	ok(count_cells() >= 1,
	   "points are drawn at an x so large that adding 1 does not change it");
	chart.y_lo = 0;
	chart.y_hi = 1;
	draw(&chart, x, steep, 3);
	ok(count_cells() == HEIGHT - 1,
	   "a steep line that leaves the plot stays in its column: %d cells", count_cells());
	chart.y_lo = chart.y_hi = NAN;
	chart.log_y = true;
	draw(&chart, x, minus, 3);
	ok(count_cells() == 0, "negative values have no dot on a logarithmic axis");
}

static void test_percent(void)
{
	const double x[] = { 0, 1, 2, 3 }, y[] = { 0, 100, 98, 100 };
	struct chart chart;

	chart_init(&chart, (struct rect){ 0 });
	chart.y_floor = 0;
	chart.y_ceiling = 100;
	chart.decimals = 0;
	draw(&chart, x, y, 4);
	ok(label(true) == 100 && label(false) == 0, "percentages end at 0 and 100");
}

static void test_zoom(void)
{
	const double x[] = { 0, 10, 20, 1000 }, y[] = { 9, 2, 1, 500 };
	struct chart chart;

	chart_init(&chart, (struct rect){ 0 });
	chart.x_lo = 10;
	chart.x_hi = 20;
	draw(&chart, x, y, 4);
	ok(label(true) < 2.2 && label(false) > 0.8, "y is scaled by the visible part: %g to %g",
	   label(false), label(true));
	chart.y_x_lo = 0;
	chart.y_x_hi = 1000;
	draw(&chart, x, y, 4);
	ok(label(true) >= 400, "a held y axis is scaled by all points");
	chart.y_x_lo = chart.y_x_hi = NAN;
	chart.x_lo = 500;
	chart.x_hi = 510;
	draw(&chart, x, y, 4);
	ok(count_cells() >= 25 && label(true) < 260 && label(true) > 245,
	   "a line that crosses the visible part counts: %g", label(true));
}

/* Read a mouse sequence, given without its first bytes, split at every byte; it gives one event. */
static struct key read_mouse(const char *bytes, bool sgr)
{
	struct key_mouse mouse;
	struct key key = { 0 };

	key_mouse_begin(&mouse, sgr);
	for (; *bytes != '\0' && key_mouse_is_open(&mouse); bytes++)
		if (key_mouse_feed(&mouse, (unsigned char)*bytes, &key))
			return key;
	return key;
}

static void test_mouse(void)
{
	static const struct {
		const char *bytes;
		bool sgr;
		uint32_t code;
		int x, y;
	} cases[] = {
		{ "0;1;1M", true, KEYCODE_MOUSE_PRESS, 0, 0 },
		{ "0;201;61m", true, KEYCODE_MOUSE_RELEASE, 200, 60 },
		{ "32;3;4M", true, KEYCODE_MOUSE_DRAG, 2, 3 },
		{ "64;3;4M", true, KEYCODE_WHEEL_UP, 2, 3 },
		{ "65;3;4M", true, KEYCODE_WHEEL_DOWN, 2, 3 },
		{ "4;3;4M", true, KEYCODE_MOUSE_PRESS, 2, 3 }, /* shift */
		{ "2;3;4M", true, 0, 0, 0 },
		{ "35;3;4M", true, 0, 0, 0 },
		{ "0;0;4M", true, 0, 0, 0 },
		{ "0;99999999999999999999;4M", true, 0, 0, 0 },
		{ "0;1M", true, 0, 0, 0 },
		{ "0;1;2;3M", true, 0, 0, 0 },
		{ "x", true, 0, 0, 0 },
		{ " !!", false, KEYCODE_MOUSE_PRESS, 0, 0 },
		{ "#$%", false, KEYCODE_MOUSE_RELEASE, 3, 4 },
		{ "`$%", false, KEYCODE_WHEEL_UP, 3, 4 },
		{ "\001\001\001", false, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct key key = read_mouse(cases[i].bytes, cases[i].sgr);

		ok(key.code == cases[i].code &&
			   (key.code == 0 || (key.x == cases[i].x && key.y == cases[i].y)),
		   "mouse: case %zu", i);
	}
}

static void test_zoom_to(void)
{
	struct chart_settings chart = { .zoom = 1, .center = 0.5 };

	ui_chart_zoom_to(&chart, 0.25, 0.5);
	ok(fabs(chart.zoom - 4) < 1e-9 && fabs(chart.center - 0.375) < 1e-9,
	   "zoom to a quarter of the range");
	ui_chart_zoom_to(&chart, 1, 0.5);
	ok(fabs(chart.zoom - 8) < 1e-9 && fabs(chart.center - 0.4375) < 1e-9,
	   "selected from right to left within a zoomed chart");
	for (int i = 0; i < 20; i++)
		ui_chart_zoom_to(&chart, 0.99, 1);
	ok(chart.zoom <= 256 && chart.center < 1, "zoom stops at 256");
}

/* The legend is drawn where no line is. */
static void test_legend(void)
{
	double x[400], y[400];
	struct chart chart;
	int all;

	for (int i = 0; i < 400; i++) {
		x[i] = i;
		y[i] = i % 2;
	}
	name = "gate-lqer s42";
	chart_init(&chart, (struct rect){ 0 });
	draw(&chart, x, y, 400);
	all = count_cells();
	chart.legend = true;
	draw(&chart, x, y, 400);
	ok(strstr(text.data, "gate-lqer s42") < strchr(text.data, '\n') &&
		   count_cells() == all - (WIDTH - CHART_AXIS_COLUMNS),
	   "without a free corner, the legend gets its own row\n%s", text.data);
	for (int i = 0; i < 400; i++)
		y[i] = i;
	chart.legend = false;
	draw(&chart, x, y, 400);
	all = count_cells();
	chart.legend = true;
	draw(&chart, x, y, 400);
	ok(strstr(text.data, "gate-lqer s42") > strstr(text.data, "│") && count_cells() == all,
	   "the legend is in the free corner\n%s", text.data);
	name = NULL;
}

int main(void)
{
	buf_init(&text, 65536);
	test_few();
	test_noise();
	test_gaps();
	test_band();
	test_signs();
	test_sizes();
	test_percent();
	test_zoom();
	test_mouse();
	test_legend();
	test_zoom_to();
	buf_release(&text);
	return tap_done();
}
