/* SPDX-License-Identifier: MIT */
/* Draws pixel pictures, and makes sixel or kitty sequences of them. */
#include "ui/picture.h"

#include <zlib.h>

#include "base/base64.h"

#define INKS (2 * STYLE_COUNT + 2) /* from 2 on, two per style: half color (even), full (odd) */
/* A VT340 has 16 colors, and one of them is the background. */
#define SIXEL_COLORS 15
/* Maximum width and height: xterm cuts off larger pictures. */
#define SIXEL_SIDE 1000
/* The id of the first picture. Other programs are unlikely to use ids from here on. */
#define KITTY_ID    0x68670000U
#define KITTY_CHUNK 4096

_Static_assert(INKS <= UINT8_MAX, "a pixel has room for each ink");

void picture_dot(struct picture *picture, int x, int y, unsigned int style)
{
	static const int beside[4][2] = {
		{ -1, 0 },
		{ 1, 0 },
		{ 0, -1 },
		{ 0, 1 },
	};
	uint8_t ink = (uint8_t)(2 * (style & STYLE_MASK) + 3);

	picture->inks[y * picture->w + x] = ink;
	for (int i = 0; i < 4; i++) {
		int at_x = x + beside[i][0], at_y = y + beside[i][1];
		int at = at_y * picture->w + at_x;

		/* A soft edge must not cover another dot. */
		if (at_x >= 0 && at_x < picture->w && at_y >= 0 && at_y < picture->h &&
		    picture->inks[at] % 2 == 0)
			picture->inks[at] = ink - 1;
	}
}

void picture_shade(struct picture *picture, int x, int y, unsigned int style)
{
	picture->inks[y * picture->w + x] = (uint8_t)(2 * (style & STYLE_MASK) + 2);
}

void picture_hide(struct picture *picture, const struct canvas *canvas)
{
	struct rect r = picture->cells;
	int w = picture->w / r.w, h = picture->h / r.h;

	for (int i = 0; i < picture->w * picture->h; i++)
		if (canvas_at(canvas, r.x + i % picture->w / w, r.y + i / picture->w / h)->cp !=
		    PICTURE_CELL)
			picture->inks[i] = 0;
}

uint64_t picture_key(const struct picture *picture, enum theme theme)
{
	const struct rect r = picture->cells;
	const int place[] = { r.x, r.y, r.w, r.h, (int)theme, picture->w, picture->h };

	return str_hash((struct str){ (const char *)picture->inks,
				      (size_t)(picture->w * picture->h) }) ^
	       str_hash((struct str){ (const char *)place, sizeof(place) });
}

/* Convert an ink to red, green and blue (0..most each), using the palette of 256 colors. */
static void ink_color(int ink, enum theme theme, int most, uint8_t out[3])
{
	static const int steps[6] = { 0, 95, 135, 175, 215, 255 };
	int back = theme == THEME_LIGHT ? 255 : 0, value;
	int color = theme_style(theme, (unsigned int)ink / 2 - 1)->color256;

	/* The first 16 colors depend on the terminal; use the opposite of the background. */
	if (color < 16)
		color = back == 0 ? 231 : 16;
	for (int i = 2, cube = color - 16; i >= 0; i--, cube /= 6) {
		value = color < 232 ? steps[cube % 6] : 10 * color - 2312;
		if (ink % 2 == 0)
			value = (value + back) / 2;
		out[i] = (uint8_t)(value * most / 255);
	}
}

/* The part of a picture that one sixel sequence shows. */
struct sixel {
	const struct picture *picture;
	int x, y, w, h;	      /* pixels */
	int numbers[INKS], n; /* color number of each ink; 0: not drawn */
};

static int *sixel_number(struct sixel *sixel, int x, int y)
{
	return &sixel->numbers[sixel->picture
				       ->inks[(sixel->y + y) * sixel->picture->w + sixel->x + x]];
}

/* Assign color numbers to the inks in use. If there are too many, soft edges are not drawn. */
static void sixel_add_colors(struct sixel *sixel, enum theme theme, struct buf *out)
{
	uint8_t rgb[3];
	int n = 0;

	for (int i = 0; i < sixel->w * sixel->h; i++)
		*sixel_number(sixel, i % sixel->w, i / sixel->w) = 1;
	for (int ink = 0; ink < INKS; ink++)
		n += sixel->numbers[ink];
	for (int ink = 0; ink < INKS; ink++) {
		if (ink == 0 || (n > SIXEL_COLORS && ink % 2 == 0))
			sixel->numbers[ink] = 0;
		if (sixel->numbers[ink] == 0)
			continue;
		sixel->numbers[ink] = ++sixel->n;
		ink_color(ink, theme, 100, rgb);
		buf_appendf(out, "#%d;2;%d;%d;%d", sixel->n, rgb[0], rgb[1], rgb[2]);
	}
}

/* Append the pixels of one color in the six rows from y on, then a return to their start. */
static void sixel_add_row(struct sixel *sixel, int y, int number, struct buf *out)
{
	int before = 0, n = 0;
	bool any = false;

	for (int x = 0; x <= sixel->w; x++, n++) {
		int bits = x < sixel->w ? 0 : -1;

		for (int k = 0; k < 6 && y + k < sixel->h && bits >= 0; k++)
			bits |= (*sixel_number(sixel, x, y + k) == number) << k;
		if (bits == before)
			continue;
		if (bits < 0 && before == 0)
			break;
		if (!any)
			buf_appendf(out, "#%d", number);
		any = true;
		if (n > 3)
			buf_appendf(out, "!%d", n);
		for (int k = n > 3 ? 1 : n; k > 0; k--)
			buf_append_char(out, (char)('?' + before));
		before = bits;
		n = 0;
	}
	if (any)
		buf_append_char(out, '$');
}

void picture_sixel(const struct picture *picture, enum theme theme, struct buf *out)
{
	struct rect r = picture->cells;
	int w = picture->w / r.w, h = picture->h / r.h;
	int wide = int_max(SIXEL_SIDE / w, 1), high = int_max(SIXEL_SIDE / h, 1);

	buf_append_str(out, "\0337\033[m");
	for (int y = 0; y < r.h; y++)
		buf_appendf(out, "\033[%d;%dH\033[%dX", r.y + y + 1, r.x + 1, r.w);
	for (int y = 0; y < r.h; y += high)
		for (int x = 0; x < r.w; x += wide) {
			struct sixel part = { .picture = picture,
					      .x = x * w,
					      .y = y * h,
					      .w = int_min(wide, r.w - x) * w,
					      .h = int_min(high, r.h - y) * h };

			/* P2 is 1: do not change pixels that get no color. */
			buf_appendf(out, "\033[%d;%dH\033P0;1q\"1;1;%d;%d", r.y + y + 1,
				    r.x + x + 1, part.w, part.h);
			sixel_add_colors(&part, theme, out);
			for (int row = 0; row < part.h; row += 6) {
				for (int i = 1; i <= part.n; i++)
					sixel_add_row(&part, row, i, out);
				buf_append_char(out, '-');
			}
			buf_append_str(out, "\033\\");
		}
	buf_append_str(out, "\0338");
}

/* Append the pixels as RGBA, compressed, in Base64. */
static void kitty_add_pixels(const struct picture *picture, enum theme theme, struct buf *out)
{
	size_t n = (size_t)picture->w * (size_t)picture->h;
	uint8_t colors[INKS][4] = { { 0 } };
	AUTO_FREE uint8_t *pixels = xcalloc(n, 4);
	uLongf len = compressBound((uLong)n * 4);
	AUTO_FREE char *packed = xcalloc(len, 1);

	for (int ink = 2; ink < INKS; ink++) {
		ink_color(ink, theme, UINT8_MAX, colors[ink]);
		colors[ink][3] = UINT8_MAX;
	}
	for (size_t i = 0; i < n; i++)
		memcpy(pixels + 4 * i, colors[picture->inks[i]], 4);
	/* This cannot fail, because the buffer has the size of the worst case. */
	(void)compress((Bytef *)packed, &len, pixels, (uLong)n * 4);
	base64_encode(out, (struct str){ packed, len });
}

void picture_kitty(const struct picture *picture, enum theme theme, size_t id, struct buf *out)
{
	struct rect r = picture->cells;
	AUTO_BUF text = buf_new(8 * (size_t)(picture->w * picture->h) + 256);

	kitty_add_pixels(picture, theme, &text);
	buf_appendf(out,
		    "\0337\033[%d;%dH\033_Ga=T,q=2,f=32,o=z,s=%d,v=%d,i=%zu,"
		    "c=%d,r=%d,z=-1,C=1,",
		    r.y + 1, r.x + 1, picture->w, picture->h, KITTY_ID + id, r.w, r.h);
	for (size_t i = 0; i < text.len; i += KITTY_CHUNK)
		buf_appendf(out, "%sm=%d;%.*s\033\\", i == 0 ? "" : "\033_G",
			    text.len - i > KITTY_CHUNK, KITTY_CHUNK, text.data + i);
	buf_append_str(out, "\0338");
}

void picture_kitty_drop(size_t id, struct buf *out)
{
	buf_appendf(out, "\033_Ga=d,d=I,q=2,i=%zu\033\\", KITTY_ID + id);
}
