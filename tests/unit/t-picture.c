/* SPDX-License-Identifier: MIT */
/* Decode the pictures of charts and compare them with the drawing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/base64.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"
#include "ui/chart.h"
#include "ui/picture.h"

#define NONE (-1)

/* The pixels of the terminal: 0xRRGGBB or NONE. */
static int *shown;
static int shown_w, shown_h;

static void clear_shown(const struct canvas *canvas)
{
	shown_w = canvas->width * canvas->cell_w;
	shown_h = canvas->height * canvas->cell_h;
	free(shown);
	shown = xcalloc((size_t)(shown_w * shown_h), sizeof(*shown));
	for (int i = 0; i < shown_w * shown_h; i++)
		shown[i] = NONE;
}

static long number(const char **p)
{
	char *end;
	long n = strtol(*p, &end, 10);

	*p = end;
	return n;
}

/* Decode one sixel sequence at (left, top). Returns the byte after it. */
static const char *decode_sixel(const char *p, int left, int top)
{
	int colors[256] = { 0 }, color = 0, x = 0, y = 0;
	long w, h;

	/* "1;1;width;height. */
	p = strchr(p, '"') + 5;
	w = number(&p);
	p++;
	h = number(&p);
	while (*p != '\033') {
		long n = 1;

		if (*p == '#') {
			p++;
			color = (int)number(&p);
			if (*p != ';')
				continue;
			p += 3;
			for (int i = 0; i < 3; i++, p += i < 3)
				colors[color] = colors[color] * 256 +
						(int)lround((double)number(&p) * 2.55);
			continue;
		}
		if (*p == '$' || *p == '-') {
			x = 0;
			y += *p++ == '-' ? 6 : 0;
			continue;
		}
		if (*p == '!') {
			p++;
			n = number(&p);
		}
		for (; n > 0; n--, x++)
			for (int k = 0; k < 6; k++)
				if ((*p - '?') >> k & 1) {
					if (x >= w || y + k >= h) {
						ok(false, "a pixel outside of the picture");
						return p + strlen(p);
					}
					shown[(top + y + k) * shown_w + left + x] = colors[color];
				}
		p++;
	}
	return p + 2;
}

/* Decode cursor positions, erased columns and pictures; anything else is an error. */
static bool decode_all(const char *p, int w, int h)
{
	long row = 0, column = 0;

	if (strncmp(p, "\0337\033[m", 5) != 0)
		return false;
	for (p += 5; strcmp(p, "\0338") != 0;) {
		if (strncmp(p, "\033P0;1q", 6) == 0) {
			p = decode_sixel(p, (int)(column - 1) * w, (int)(row - 1) * h);
			continue;
		}
		if (p[0] != '\033' || p[1] != '[')
			return false;
		p += 2;
		long n = number(&p);
		if (*p == ';') {
			p++;
			row = n;
			column = number(&p);
		} else {
			for (long i = 0; i < n * w * h; i++)
				shown[((row - 1) * h + i / (n * w)) * shown_w + (column - 1) * w +
				      i % (n * w)] = NONE;
		}
		p++;
	}
	return true;
}

/* The same for kitty's protocol: chunks of compressed pixels. */
static bool decode_kitty(const char *p)
{
	long row, column, w, h;
	uLongf len;
	AUTO_BUF text = buf_new(64U << 20);
	AUTO_BUF packed = buf_new(64U << 20);

	if (sscanf(p, "\0337\033[%ld;%ldH\033_Ga=T,q=2,f=32,o=z,s=%ld,v=%ld,", &row, &column, &w,
		   &h) != 4)
		return false;
	for (p = strchr(p, '_'); *p == '_';) {
		const char *data = strchr(p, ';') + 1;
		const char *end = strchr(data, '\033');

		if (end - data > 4096)
			return false;
		buf_append(&text, data, (size_t)(end - data));
		/* Either another chunk follows, or the cursor is restored. */
		if ((data[-2] == '1') != (strncmp(end, "\033\\\033_G", 5) == 0))
			return false;
		p = end + 3;
	}
	len = (uLongf)(w * h * 4);
	AUTO_FREE uint8_t *pixels = xcalloc(len, 1);
	if (!base64_decode(&packed, buf_str(&text)) ||
	    uncompress(pixels, &len, (const Bytef *)packed.data, (uLong)packed.len) != Z_OK)
		return false;
	for (long i = 0; i < w * h; i++)
		if (pixels[4 * i + 3] != 0)
			shown[((row - 1) * 10 + i / w) * shown_w + (column - 1) * 5 + i % w] =
				pixels[4 * i] << 16 | pixels[4 * i + 1] << 8 | pixels[4 * i + 2];
	return len == (uLongf)(w * h * 4);
}

static bool is_color(int a, int b)
{
	if (a == NONE || b == NONE)
		return a == b;
	for (int k = 0; k < 24; k += 8)
		if (abs((a >> k & 255) - (b >> k & 255)) > 3)
			return false;
	return true;
}

/* One of xterm's 256 colors: cube or gray. */
static int color_of(int c)
{
	static const int steps[6] = { 0, 95, 135, 175, 215, 255 };
	int grey = 8 + 10 * (c - 232);

	if (c >= 232)
		return grey << 16 | grey << 8 | grey;
	c -= 16;
	return steps[c / 36] << 16 | steps[c / 6 % 6] << 8 | steps[c % 6];
}

/* Count the pixels that differ from the picture, soft edges included. */
static int count_wrong(const struct picture *picture, enum theme theme, int w, int h, bool soft)
{
	int n = 0, back = theme == THEME_LIGHT ? 255 : 0;

	for (int i = 0; i < picture->w * picture->h; i++) {
		int ink = picture->inks[i], want = NONE;

		if (ink >= 2 && (soft || ink % 2 == 1)) {
			want = color_of(theme_style(theme, (unsigned int)ink / 2 - 1)->color256);
			for (int k = 0; ink % 2 == 0 && k < 24; k += 8)
				want = (want & ~(255 << k)) | ((want >> k & 255) + back) / 2 << k;
		}
		n += !is_color(want, shown[(picture->cells.y * h + i / picture->w) * shown_w +
					   picture->cells.x * w + i % picture->w]);
	}
	return n;
}

#define POINTS 400

/* Draw a chart of n lines on a canvas of that size. */
static struct picture *draw(struct canvas *canvas, int width, int height, int cell_w, int cell_h,
			    size_t n)
{
	static double x[POINTS], y[20][POINTS], top[POINTS];
	static struct chart_series series[21];
	struct chart chart;

	for (int i = 0; i < POINTS; i++) {
		x[i] = i;
		for (size_t s = 0; s < n; s++)
			y[s][i] = sin(i / 30.0 + (double)s / 2) + (double)s;
		top[i] = y[0][i] + 1;
	}
	series[0] =
		(struct chart_series){ x, y[0], POINTS, STYLE_REFERENCE, CHART_BAND, NULL, top, 0 };
	for (size_t s = 0; s < n; s++)
		series[s + 1] = (struct chart_series){ x,
						       y[s],
						       POINTS,
						       s < 8 ? STYLE_SERIES_1 + (unsigned int)s
							     : STYLE_INK_RED + (unsigned int)s,
						       s % 3 == 1 ? CHART_DASHED : CHART_SOLID,
						       s == 0 ? "a" : NULL,
						       NULL,
						       0 };
	canvas_resize(canvas, width, height);
	canvas->cell_w = cell_w;
	canvas->cell_h = cell_h;
	clear_shown(canvas);
	chart_init(&chart, (struct rect){ 1, 1, width - 2, height - 2 });
	chart.charset = CHART_PIXELS;
	chart.series = series;
	chart.n_series = n + 1;
	chart.legend = true;
	chart.cursor = 100;
	chart_draw(&chart, canvas);
	return canvas->n_pictures > 0 ? &canvas->pictures[0] : NULL;
}

static void test_sixel(void)
{
	static const struct {
		int width, height, w, h;
		size_t n;
	} sizes[] = { { 40, 12, 6, 13, 1 },
		      { 80, 24, 8, 16, 3 },
		      { 14, 6, 4, 7, 2 },
		      { 150, 70, 11, 23, 4 },
		      { 100, 30, 10, 20, 12 } };
	struct canvas canvas;

	canvas_init(&canvas);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		int w = sizes[i].w, h = sizes[i].h;
		struct picture *picture =
			draw(&canvas, sizes[i].width, sizes[i].height, w, h, sizes[i].n);
		enum theme theme = (enum theme)(i % THEME_COUNT);
		AUTO_BUF out = buf_new(64U << 20);

		ok(picture != NULL && picture->w == picture->cells.w * w &&
			   picture->h == picture->cells.h * h,
		   "the picture covers whole cells");
		if (picture == NULL)
			continue;
		picture_hide(picture, &canvas);
		/* Old content must be erased. */
		for (int k = 0; k < shown_w * shown_h; k++)
			shown[k] = 0x123456;
		picture_sixel(picture, theme, &out);
		ok(decode_all(out.data, w, h), "%zu bytes of sixel are decoded", out.len);
		int wrong = count_wrong(picture, theme, w, h, sizes[i].n < 5);
		ok(wrong == 0, "%dx%d cells of %dx%d: %d wrong pixels", sizes[i].width,
		   sizes[i].height, w, h, wrong);
		ok(shown[0] == 0x123456, "cells next to the picture are untouched");
	}
	canvas_release(&canvas);
}

static void test_kitty(void)
{
	struct canvas canvas;
	AUTO_BUF out = buf_new(64U << 20);

	canvas_init(&canvas);
	struct picture *picture = draw(&canvas, 90, 30, 5, 10, 12);
	picture_kitty(picture, THEME_LIGHT, 3, &out);
	ok(decode_kitty(out.data), "%zu bytes for kitty are decoded", out.len);
	int wrong = count_wrong(picture, THEME_LIGHT, 5, 10, true);
	ok(wrong == 0, "%d wrong pixels", wrong);
	canvas_release(&canvas);
}

/* Each line is at its position, and text stays text. */
static void test_places(void)
{
	struct canvas canvas;
	int columns = 0, far = 0, text = 0, ink = 2 * STYLE_SERIES_1 + 3;

	canvas_init(&canvas);
	struct picture *picture = draw(&canvas, 60, 20, 8, 16, 1);
	for (int x = 0; x < picture->w; x++) {
		/* y of the plot from the top. The axis has 16 rows of 0.15, from -1.2. */
		double wave = sin(x * 399.0 / (picture->w - 1) / 30);
		double y = (1.2 - wave) / 2.4 * (picture->h - 1);
		bool any = false;

		for (int k = 0; k < picture->h; k++)
			if (picture->inks[k * picture->w + x] == ink) {
				any = true;
				far += fabs(k - y) > 3;
			}
		columns += any;
	}
	ok(columns == picture->w, "the line is in each column: %d", columns);
	ok(far == 0, "the line passes through its points, except %d pixels", far);
	for (int i = 0; i < canvas.width * canvas.height; i++)
		text += canvas.cells[i].cp == 'a';
	ok(text == 1, "the legend is text");
	/* Text over a picture hides it. */
	uint64_t key = picture_key(picture, THEME_DARK);
	canvas_fill(&canvas, (struct rect){ 20, 3, 25, 10 }, STYLE_NORMAL, ' ');
	picture_hide(picture, &canvas);
	ok(picture_key(picture, THEME_DARK) != key, "text over the picture changes its key");
	int seen = 0;
	for (int i = 0; i < picture->w * picture->h; i++) {
		int x = picture->cells.x + i % picture->w / 8;
		int y = picture->cells.y + i / picture->w / 16;

		seen += picture->inks[i] != 0 && x >= 20 && x < 45 && y >= 3 && y < 13;
	}
	ok(seen == 0, "the picture has no pixels below text: %d", seen);
	canvas_release(&canvas);
}

static void test_none(void)
{
	struct canvas canvas;

	canvas_init(&canvas);
	ok(draw(&canvas, 60, 20, 0, 0, 1) == NULL, "a terminal without pixels gets no picture");
	ok(draw(&canvas, 250, 100, 20, 40, 1) == NULL, "a huge picture is refused");
	size_t pixels = 0;
	canvas_resize(&canvas, 400, 100);
	while (canvas_picture(&canvas, (struct rect){ 0, 0, 60, 50 }) != NULL)
		pixels += 60 * 50 * 20 * 40;
	ok(pixels < 16U << 20, "many large pictures are refused: %zu pixels", pixels);
	(void)draw(&canvas, 250, 100, 20, 40, 1);
	int braille = 0;
	for (int i = 0; i < canvas.width * canvas.height; i++)
		braille += canvas.cells[i].cp >> 8 == 0x28;
	ok(braille > 500, "refused pictures become braille: %d cells", braille);
	canvas_release(&canvas);
}

int main(void)
{
	test_sixel();
	test_kitty();
	test_places();
	test_none();
	free(shown);
	return tap_done();
}
