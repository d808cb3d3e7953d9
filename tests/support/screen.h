/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "model/alerts.h"
#include "ui/theme.h"
#include "ui/ui.h"

#include "tests/support/tap.h"

/* A screen over a model that a test creates: the test sends keys and reads rows. */
#define T0 INT64_C(1768483200000) /* 13:20:00 UTC */

static struct model model;
static struct alerts alerts;
static struct ui *ui;
static struct canvas canvas;

static void press(uint32_t code)
{
	struct key key = { code, 0, 0 };

	ui_key(ui, &key);
}

/* The index of the first row that contains these words, or SIZE_MAX; the row in out. */
static size_t find_row(const char *words, char out[1024])
{
	AUTO_BUF text = buf_new(1U << 20);
	struct str rest, line;
	int x, y;

	ui_draw(ui, &canvas, &x, &y);
	canvas_dump(&canvas, false, &text);
	rest = buf_str(&text);
	for (size_t n = 0; str_next(&rest, '\n', &line); n++) {
		(void)snprintf(out, 1024, "%.*s", (int)line.len, line.p);
		if (strstr(out, words) != NULL)
			return n;
	}
	out[0] = '\0';
	return SIZE_MAX;
}

/* The row of the screen that contains these words, or "". */
static const char *row_with(const char *words)
{
	static char row[1024];

	(void)find_row(words, row);
	return row;
}

static inline size_t place_of(const char *words)
{
	char row[1024];

	return find_row(words, row);
}

static inline bool shows(const char *words, const char *more)
{
	return strstr(row_with(words), more) != NULL;
}

/* The style of the first letter of these words on the screen. */
static inline unsigned int style_of(const char *words)
{
	int x, y;

	ui_draw(ui, &canvas, &x, &y);
	for (y = 0; y < canvas.height; y++)
		for (x = 0; x + (int)strlen(words) < canvas.width; x++) {
			size_t n = 0;

			while (words[n] != '\0' &&
			       canvas_at(&canvas, x + (int)n, y)->cp == (unsigned char)words[n])
				n++;
			if (words[n] == '\0')
				return canvas_at(&canvas, x, y)->style & STYLE_MASK;
		}
	return STYLE_COUNT;
}
