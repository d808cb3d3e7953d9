/* SPDX-License-Identifier: MIT */
/* Draws line charts with braille dots, quarter blocks, ASCII characters or pixels, and as SVG. */
#include "ui/chart.h"

#include "model/reference.h"
#include "ui/picture.h"

#define Y_WIDER	  1.15	 /* maximum factor by which align_y_range() extends the y axis */
#define STRIP_DOT 0x2022 /* bullet */
/* Larger values are not drawn, because their differences could overflow. */
#define HUGE_Y	     1e300
#define LEGEND_LEAST 3 /* a plot of more rows can use one for the legend */
/* SVG: size of the plot and height of a line of text in pixels, and number of ticks per axis. */
#define SVG_WIDTH  880
#define SVG_HEIGHT 420
#define SVG_LINE   20
#define SVG_TICKS  7

/* The dots of one cell. */
struct dots {
	uint8_t bits;  /* dots of lines */
	uint8_t band;  /* dots of a band, shown where no line is */
	uint8_t glyph; /* ASCII character of the series */
	uint16_t style;
};

/* The state of drawing a chart. */
struct plot {
	const struct chart *chart;
	struct canvas *canvas;
	struct rect in;		 /* cells of the plot, without the axes */
	int w, h;		 /* size of the plot in dots */
	struct dots *cells;	 /* owned; in.w * in.h */
	struct picture *picture; /* its pixels are the dots; NULL: dots are in cells */
	int dash;		 /* length of a dash in dots */
	double x_lo, x_hi, y_lo, y_hi;
	double y_step; /* distance of the ticks of the y axis */
};

void chart_init(struct chart *chart, struct rect rect)
{
	memset(chart, 0, sizeof(*chart));
	chart->rect = rect;
	chart->x_lo = chart->x_hi = chart->y_lo = chart->y_hi = NAN;
	chart->y_floor = chart->y_ceiling = NAN;
	chart->y_x_lo = chart->y_x_hi = NAN;
	chart->cursor = NAN;
	chart->decimals = 2;
}

void scale_widen(struct scale *scale, double value)
{
	if (!isfinite(value))
		return;
	if (!(scale->lo <= value))
		scale->lo = value;
	if (!(scale->hi >= value))
		scale->hi = value;
}

int scale_cell(const struct scale *scale, double value)
{
	double part = (value - scale->lo) / (scale->hi - scale->lo);
	int last = scale->size - 1;

	if (!(part > 0))
		return scale->at;
	return scale->at + (part >= 1 ? last : (int)lround(part * last));
}

void strip_axis(struct strip *strip, int columns)
{
	strip->axis = (struct scale){ strip->rest.x + strip->label, columns, NAN, NAN };
}

void strip_pad(struct strip *strip)
{
	struct scale *axis = &strip->axis;
	double room = 0.04 * (axis->hi - axis->lo);

	if (!(room > 0.0))
		room = fabs(axis->hi) > 0.0 ? 0.01 * fabs(axis->hi) : 1.0;
	axis->lo -= room;
	axis->hi += room;
}

bool strip_begin(struct strip *strip, unsigned int style, const char *label)
{
	if (strip->rest.h <= 0)
		return false;
	struct rect left = strip->line = rect_take_top(&strip->rest, 1);
	left.w = strip->label - 1;
	canvas_line_elided(strip->canvas, left, style, str_from(label));
	return true;
}

struct rect strip_right(const struct strip *strip)
{
	struct rect right = strip->line;

	(void)rect_take_left(&right, strip->axis.at + strip->axis.size + 1 - right.x);
	return right;
}

void strip_put(struct strip *strip, double value, unsigned int style, uint32_t cp)
{
	canvas_put(strip->canvas, scale_cell(&strip->axis, value), strip->line.y, style, cp);
}

void strip_dot(struct strip *strip, double value, unsigned int style)
{
	int x = scale_cell(&strip->axis, value), y = strip->line.y;
	uint32_t now, cp = STRIP_DOT;

	if (x >= strip->canvas->width || y >= strip->canvas->height)
		return;
	now = canvas_at(strip->canvas, x, y)->cp;
	if (now == STRIP_DOT)
		cp = '2';
	else if (now >= '2' && now <= '9')
		cp = now < '9' ? now + 1 : now;
	canvas_put(strip->canvas, x, y, style, cp);
}

bool strip_rule(struct strip *strip, const char *name)
{
	if (!strip_begin(strip, STYLE_HEADER, name))
		return false;
	for (int i = 0; i < strip->axis.size; i++)
		canvas_put(strip->canvas, strip->axis.at + i, strip->line.y, STYLE_AXIS, 0x2500);
	return true;
}

void strip_tick(struct strip *strip, double value, int decimals)
{
	struct fmt text = fmt_number(value, decimals);
	int width = text_width(text.s), end = strip->axis.at + strip->axis.size;
	int x = scale_cell(&strip->axis, value) - width / 2;

	x = int_max(int_min(x, end - width), strip->axis.at);
	(void)canvas_text(strip->canvas, x, strip->line.y, STYLE_DIM, text.s);
}

void chart_x_range(const struct chart *chart, double *lo, double *hi)
{
	struct scale x = { 0, 0, NAN, NAN };

	for (size_t s = 0; s < chart->n_series; s++)
		for (size_t i = 0; i < chart->series[s].n; i++)
			if (isfinite(chart->series[s].y[i]))
				scale_widen(&x, chart->series[s].x[i]);
	*lo = isfinite(chart->x_lo) ? chart->x_lo : isfinite(x.lo) ? x.lo : 0;
	*hi = isfinite(chart->x_hi) ? chart->x_hi : x.hi;
	if (!(*hi >= *lo))
		*hi = *lo;
	/* Draw a single point in the middle. */
	if (*hi - *lo <= 1e-12 * fabs(*lo)) {
		*lo -= fmax(0.5, fabs(*lo) * 1e-9);
		*hi += fmax(0.5, fabs(*hi) * 1e-9);
	}
}

struct rect chart_plot_rect(const struct chart *chart)
{
	const struct rect *r = &chart->rect;

	return (struct rect){ r->x + CHART_AXIS_COLUMNS, r->y, r->w - CHART_AXIS_COLUMNS,
			      r->h - 1 };
}

static double chart_y_value(const struct chart *chart, double y)
{
	if (!chart->log_y)
		return fabs(y) < HUGE_Y ? y : (double)NAN;
	return y > 0 && y < HUGE_Y ? log10(y) : (double)NAN;
}

/* Extend y to contain a series between x[0] and x[1], also where its lines cross these edges. */
static void widen_by_series(const struct chart *chart, const struct chart_series *series,
			    const double x[2], struct scale *y)
{
	for (size_t i = 0; i < series->n; i++) {
		double own = chart_y_value(chart, series->y[i]), before, part;

		if (series->x[i] >= x[0] && series->x[i] <= x[1])
			scale_widen(y, own);
		if (i == 0 || series->line == CHART_DOTS)
			continue;
		before = chart_y_value(chart, series->y[i - 1]);
		for (int edge = 0; edge < 2; edge++) {
			part = (x[edge] - series->x[i - 1]) / (series->x[i] - series->x[i - 1]);
			if (part > 0 && part < 1)
				scale_widen(y, before + (own - before) * part);
		}
	}
}

/* Set the y range so that it contains the points in the x range, with a margin. */
static void find_y_range(struct plot *plot)
{
	const struct chart *chart = plot->chart;
	double x[2] = { plot->x_lo, plot->x_hi }, air;
	struct scale y = { 0, 0, NAN, NAN };

	if (isfinite(chart->y_x_lo) && isfinite(chart->y_x_hi)) {
		x[0] = chart->y_x_lo;
		x[1] = chart->y_x_hi;
	}
	/* Skip the start: a loss starts so high that the rest would look like a flat line. */
	if (chart->skip_start)
		x[0] += (x[1] - x[0]) * CHART_START;
	for (size_t s = 0; s < chart->n_series; s++)
		if (chart->series[s].line != CHART_BAND)
			widen_by_series(chart, &chart->series[s], x, &y);
	if (isnan(y.lo)) {
		y.lo = chart->log_y ? -1 : 0;
		y.hi = 1;
	}
	/* Equal points get a margin relative to their value; its minimum keeps labels distinct. */
	double size = fmax(fabs(y.lo), fabs(y.hi));
	air = y.hi - y.lo > 1e-9 * size ? fmax((y.hi - y.lo) * 0.03, size * 1e-4)
	      : size > 0		? size * 0.01
					: 0.5;
	plot->y_lo = isfinite(chart->y_lo) ? chart_y_value(chart, chart->y_lo) : y.lo - air;
	plot->y_hi = isfinite(chart->y_hi) ? chart_y_value(chart, chart->y_hi) : y.hi + air;
	/* The margin must not extend the axis below 0. */
	if (y.lo >= 0 && plot->y_lo < 0 && !chart->log_y && !isfinite(chart->y_lo))
		plot->y_lo = 0;
	if (!chart->log_y && plot->y_lo < chart->y_floor)
		plot->y_lo = chart->y_floor;
	if (!chart->log_y && plot->y_hi > chart->y_ceiling)
		plot->y_hi = chart->y_ceiling;
	if (!(plot->y_hi > plot->y_lo))
		plot->y_hi = plot->y_lo + 1;
}

/* Dots per cell in each charset. */
static const struct {
	int w, h;
} dots[] = {
	[CHART_BRAILLE] = { 2, 4 },
	[CHART_BLOCK] = { 2, 2 },
	[CHART_ASCII] = { 1, 1 },
	[CHART_PIXELS] = { 2, 4 },
};

static char series_letter(const struct chart *chart, const struct chart_series *series)
{
	if (series->line == CHART_DOTS || series->line == CHART_BAND)
		return series->line == CHART_DOTS ? '.' : ':';
	return "*+ox#%@&"[(series - chart->series) % 8];
}

static void set_dot(struct plot *plot, int x, int y, const struct chart_series *series)
{
	static const uint8_t braille[4][2] = {
		{ 0x01, 0x08 },
		{ 0x02, 0x10 },
		{ 0x04, 0x20 },
		{ 0x40, 0x80 },
	};
	enum chart_charset set = plot->chart->charset;
	int w = dots[set].w, h = dots[set].h, bit;

	if (x < 0 || x >= plot->w || y < 0 || y >= plot->h)
		return;
	if (plot->picture != NULL) {
		(series->line == CHART_BAND ? picture_shade : picture_dot)(plot->picture, x, y,
									   series->style);
		return;
	}
	struct dots *cell = &plot->cells[y / h * plot->in.w + x / w];
	bit = h == 4 ? braille[y % h][x % w] : 1 << (y % h * 2 + x % w);
	if (series->line == CHART_BAND)
		cell->band = (uint8_t)(cell->band | bit);
	else
		cell->bits = (uint8_t)(cell->bits | bit);
	cell->style = (uint16_t)series->style;
	cell->glyph = (uint8_t)series_letter(plot->chart, series);
}

/* Draw a line: one dot per column, or per row if it is steeper than 45 degrees. */
static void draw_segment(struct plot *plot, const double from[2], const double to[2],
			 const struct chart_series *series)
{
	const double a[2] = { round(from[0]), round(from[1]) };
	const double b[2] = { round(to[0]), round(to[1]) };
	const double last[2] = { plot->w - 1, plot->h - 1 };
	int along = fabs(b[1] - a[1]) > fabs(b[0] - a[0]), across = !along;
	double n = fmax(fabs(b[along] - a[along]), 1);
	double end = fmin(fmax(a[along], b[along]), last[along]), dot[2];

	dot[along] = fmax(fmin(a[along], b[along]), 0);
	for (; dot[along] <= end; dot[along]++) {
		dot[across] = a[across] +
			      round((b[across] - a[across]) * fabs(dot[along] - a[along]) / n);
		bool is_gap = series->line == CHART_DASHED && (int)dot[0] / plot->dash % 2 == 1;

		if (dot[across] >= 0 && dot[across] <= last[across] && !is_gap)
			set_dot(plot, (int)dot[0], (int)dot[1], series);
	}
}

/* Draw a point; as a cross, to be visible, if it is alone (without lines to other points). */
static void draw_point(struct plot *plot, const double at[2], bool alone,
		       const struct chart_series *series)
{
	if (!(at[0] > -1 && at[0] < plot->w && at[1] > -1 && at[1] < plot->h))
		return;
	int x = (int)lround(at[0]);
	int y = (int)lround(at[1]);
	set_dot(plot, x, y, series);
	if (!alone || plot->chart->charset == CHART_ASCII)
		return;
	set_dot(plot, x - 1, y, series);
	set_dot(plot, x + 1, y, series);
	set_dot(plot, x, y - 1, series);
	set_dot(plot, x, y + 1, series);
}

/* Compute the position of point i in dots; false if the point cannot be drawn. */
static bool locate_point(const struct plot *plot, const struct chart_series *series, size_t i,
			 double at[2])
{
	double y = chart_y_value(plot->chart, series->y[i]);

	if (!isfinite(series->x[i]) || !isfinite(y))
		return false;
	at[0] = (series->x[i] - plot->x_lo) / (plot->x_hi - plot->x_lo) * (plot->w - 1);
	at[1] = (plot->y_hi - y) / (plot->y_hi - plot->y_lo) * (plot->h - 1);
	return isfinite(at[0]) && isfinite(at[1]);
}

/* Fill a band with sparse dots, which are not in the columns of dashes. */
static void draw_band(struct plot *plot, const struct chart_series *band)
{
	const struct curve edges[2] = { { band->x, band->top, band->n },
					{ band->x, band->y, band->n } };
	double wide = (plot->x_hi - plot->x_lo) / (plot->w - 1), y[2];
	double high = (plot->y_hi - plot->y_lo) / (plot->h - 1);
	int w = plot->dash;

	for (int x = 0; x < plot->w; x++) {
		for (int i = 0; i < 2; i++) {
			y[i] = curve_at(&edges[i], plot->x_lo + x * wide);
			y[i] = chart_y_value(plot->chart, y[i]);
			y[i] = round((plot->y_hi - y[i]) / high);
		}
		if (!isfinite(y[0] - y[1]))
			continue;
		for (int row = (int)fmin(fmax(y[0], 0), plot->h); row < plot->h && row <= y[1];
		     row++)
			if (plot->picture != NULL ? row % 3 == 0 : (x + 1 + 2 * row) % (2 * w) == 0)
				set_dot(plot, x, row, band);
	}
}

static void chart_draw_series(struct plot *plot, const struct chart_series *series)
{
	bool is_line = series->line != CHART_DOTS, joined = false;
	double last[2] = { 0, 0 }, at[2], next[2];

	for (size_t i = 0; i < series->n; i++) {
		if (!locate_point(plot, series, i, at)) {
			joined = false;
			continue;
		}
		if (joined && is_line)
			draw_segment(plot, last, at, series);
		else
			draw_point(plot, at,
				   is_line && (i + 1 == series->n ||
					       !locate_point(plot, series, i + 1, next)),
				   series);
		memcpy(last, at, sizeof(last));
		joined = true;
	}
}

static void draw_lines(struct plot *plot)
{
	const struct chart *chart = plot->chart;

	for (size_t i = 0; i < chart->n_series; i++)
		if (chart->series[i].line == CHART_BAND)
			draw_band(plot, &chart->series[i]);
		else if (chart->series[i].sign == 0 || plot->picture != NULL)
			chart_draw_series(plot, &chart->series[i]);
}

static void put_cells(const struct plot *plot)
{
	static const uint32_t quarters[16] = { 0,      0x2598, 0x259D, 0x2580, 0x2596, 0x258C,
					       0x259E, 0x259B, 0x2597, 0x259A, 0x2590, 0x259C,
					       0x2584, 0x2599, 0x259F, 0x2588 };
	enum chart_charset set = plot->chart->charset;

	for (int i = 0; i < plot->in.w * plot->in.h; i++) {
		const struct dots *cell = &plot->cells[i];
		uint8_t bits = cell->bits != 0 ? cell->bits : cell->band;

		if (bits != 0)
			canvas_put(plot->canvas, plot->in.x + i % plot->in.w,
				   plot->in.y + i / plot->in.w, cell->style,
				   set == CHART_BLOCK	? quarters[bits]
				   : set == CHART_ASCII ? cell->glyph
							: 0x2800U + bits);
	}
}

/* Draw the signs of series that have one. In a picture, such series have crosses instead. */
static void draw_signs(const struct plot *plot)
{
	double at[2];

	for (size_t s = 0; plot->picture == NULL && s < plot->chart->n_series; s++)
		for (size_t i = 0; i < plot->chart->series[s].n; i++) {
			const struct chart_series *series = &plot->chart->series[s];

			if (series->sign == 0 || !locate_point(plot, series, i, at) ||
			    !(at[0] >= 0 && at[0] < plot->w && at[1] >= 0 && at[1] < plot->h))
				continue;
			canvas_put(plot->canvas, plot->in.x + (int)lround(at[0]) / plot->dash,
				   plot->in.y + (int)lround(at[1]) * plot->in.h / plot->h,
				   series->style, series->sign);
		}
}

/* Round up to 1, 2, 2.5, 3 or 5 times 10^n; a time in seconds to a step such as 15 s or 10 min. */
static double round_up(double x, bool is_time)
{
	static const double factors[] = { 1, 2, 2.5, 3, 5, 10 };
	static const double seconds[] = { 1,   2,   5,	  10,	15,   30,    60,    120,   300,
					  600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400 };
	double power = is_time ? 1 : pow(10, floor(log10(x)));
	const double *steps = is_time ? seconds : factors;
	size_t n = is_time ? LENGTH(seconds) : LENGTH(factors);

	for (size_t i = 0; i < n; i++)
		if (steps[i] * power >= x * (1 - 1e-9))
			return steps[i] * power;
	return is_time ? ceil(x / 86400) * 86400 : 10 * power;
}

/* Choose a round distance between ticks: about n ticks, and at least two, are in the range. */
static double tick_step(double lo, double hi, int n, bool is_time)
{
	double step = 0;

	for (int tries = 0; tries < 8; tries++, n++) {
		double raw = (hi - lo) / n;

		step = round_up(raw, is_time);
		if (floor(hi / step + 1e-9) - ceil(lo / step - 1e-9) >= 1)
			break;
	}
	return step;
}

int chart_decimals(double apart, double slack, int most)
{
	int decimals = 0;

	for (; apart > 0 && fabs(apart - round(apart)) > slack * apart && decimals < most;
	     decimals++)
		apart *= 10;
	return decimals;
}

/* Format a number so that it fits into the columns of the axis. */
static void y_text(const struct chart *chart, double y, int decimals, char *out, size_t size)
{
	const char *sign = chart->sign && y > 0 ? "+" : "";

	if (fabs(y) < 0.5 * pow(10, -decimals))
		y = 0; /* avoid -0 */
	(void)snprintf(out, size, "%s%.*f", sign, decimals, y);
	if (strlen(out) >= CHART_AXIS_COLUMNS)
		(void)snprintf(out, size, "%s%.4g", sign, y);
	for (int n = 1; n >= 0 && strlen(out) >= CHART_AXIS_COLUMNS; n--)
		(void)snprintf(out, size, "%s%.*e", sign, n, y);
}

static void put_y_tick(const struct plot *plot, int row, double y, int decimals)
{
	struct rect r = { plot->chart->rect.x, plot->in.y + row, CHART_AXIS_COLUMNS - 1, 1 };
	char text[400];

	y_text(plot->chart, y, decimals, text, sizeof(text));
	canvas_put(plot->canvas, plot->in.x - 1, r.y, STYLE_AXIS, 0x2524);
	canvas_line_right(plot->canvas, r, STYLE_DIM, str_from(text));
}

/* Choose the distance between the ticks of the y axis. If the distance becomes a whole number of
 * rows with a slightly larger range, extend the range. */
static void align_y_range(struct plot *plot)
{
	int last = plot->in.h - 1, most = last > 11 ? 6 : 3;
	double range = plot->y_hi - plot->y_lo, best = range * Y_WIDER, from = plot->y_lo;
	bool found = false;

	plot->y_step = tick_step(plot->y_lo, plot->y_hi, int_max(plot->in.h / 3, 1), false);
	for (int rows = last > 20 ? 3 : 2; rows <= most && last > 2 && !plot->chart->log_y;
	     rows++) {
		double step = round_up(range / last * rows, false), lo;

		lo = floor(plot->y_lo * rows / step + 1e-6) * step / rows;
		if (lo + step / rows * last < plot->y_hi - range * 1e-6) {
			step = round_up(step * 1.01, false);
			lo = floor(plot->y_lo * rows / step + 1e-6) * step / rows;
		}
		double span = step / rows * last;
		if (span >= best || lo + span > plot->chart->y_ceiling ||
		    lo + span < plot->y_hi - range * 1e-6)
			continue;
		found = true;
		best = span;
		from = lo;
		plot->y_step = step;
	}
	if (found) {
		plot->y_lo = from;
		plot->y_hi = from + best;
	}
}

/* Draw the y axis with round numbers. On a logarithmic axis the ticks are at fixed rows. */
static void draw_y_axis(const struct plot *plot)
{
	int rows = plot->in.h, last = -1;
	int n = int_max(rows > 12 ? rows / 3 : rows / 2, 1);
	double range = plot->y_hi - plot->y_lo, step = plot->y_step;

	for (int row = 0; row < rows; row++)
		canvas_put(plot->canvas, plot->in.x - 1, plot->in.y + row, STYLE_AXIS, 0x2502);
	for (int i = 0; plot->chart->log_y && i <= n; i++) {
		int row = (i * (rows - 1) + n / 2) / n;

		put_y_tick(plot, row, pow(10, plot->y_hi - range * row / (rows - 1)),
			   plot->chart->decimals);
	}
	for (int i = 0; !plot->chart->log_y && i < rows; i++) {
		double y = (floor(plot->y_hi / step + 1e-9) - i) * step;
		int row = (int)lround((plot->y_hi - y) / range * (rows - 1));

		if (row >= rows)
			break;
		if (row == last || row < 0)
			continue;
		put_y_tick(plot, row, y, chart_decimals(step, 1e-6, 9));
		last = row;
	}
}

/* Draw the x axis with round numbers. Skip numbers that equal or overlap the previous one. */
static void draw_x_axis(const struct plot *plot)
{
	int cols = plot->in.w, x0 = plot->in.x, y = plot->in.y + plot->in.h;
	int n = cols > 80 ? 4 : cols > 36 ? 3 : 1, free = 0;
	double range = plot->x_hi - plot->x_lo;
	double step = tick_step(plot->x_lo, plot->x_hi, n, plot->chart->x_is_time);
	char before[400] = "", text[400];

	canvas_put(plot->canvas, x0 - 1, y, STYLE_AXIS, 0x2514);
	canvas_fill(plot->canvas, (struct rect){ x0, y, cols, 1 }, STYLE_AXIS, 0x2500);
	for (int i = 0; i < cols; i++) {
		double x = (ceil(plot->x_lo / step - 1e-9) + i) * step;
		double part = (x - plot->x_lo) / range;

		if (!(part <= 1 + 1e-9))
			break;
		if (plot->chart->x_text != NULL)
			plot->chart->x_text(plot->chart->x_kind, x, step, text, sizeof(text));
		else
			print_into(text, "%.6g", x);
		int width = text_width(text);
		int at = (int)lround(part * (cols - 1)) - width / 2;
		at = int_max(int_min(at, cols - width), 0);
		if (at < free || strcmp(text, before) == 0)
			continue;
		(void)canvas_text(plot->canvas, x0 + at, y, STYLE_DIM, text);
		memcpy(before, text, sizeof(before));
		free = at + width + 1;
	}
}

/* Find the first row, from `first` on, where no line is in a label's columns; 0: there is none. */
static int free_row(const struct plot *plot, int first, int col, int width)
{
	for (int y = first; y < plot->in.h; y++) {
		int x = col;

		while (x < col + width && x < plot->in.w &&
		       plot->cells[y * plot->in.w + x].bits == 0)
			x++;
		if (x == col + width)
			return y;
	}
	return 0;
}

/* Draw a mark or the cursor as a vertical line; series are drawn over it later. */
static void draw_vertical(struct plot *plot, const struct chart_mark *mark, int row)
{
	double part = (mark->x - plot->x_lo) / (plot->x_hi - plot->x_lo);

	if (!(part >= 0 && part <= 1))
		return;
	int col = (int)lround(part * (plot->in.w - 1));
	for (int y = 0; plot->picture != NULL && y < plot->h; y += 4)
		set_dot(plot, (int)lround(part * (plot->w - 1)), y,
			&(struct chart_series){ .style = mark->style });
	for (int y = 0; plot->picture == NULL && y < plot->in.h; y++)
		canvas_put(plot->canvas, plot->in.x + col, plot->in.y + y, mark->style, 0x2506);
	if (mark->label == NULL)
		return;
	int width = text_width(mark->label);
	if (col + 1 + width > plot->in.w)
		col -= width + 1;
	(void)canvas_text(plot->canvas, plot->in.x + col + 1,
			  plot->in.y + free_row(plot, row, col + 1, width), mark->style,
			  mark->label);
}

/* Print the sign and label of a series; returns their width. */
static int put_label(const struct plot *plot, struct rect line, const struct chart_series *series)
{
	const struct chart *chart = plot->chart;

	canvas_put(plot->canvas, line.x, line.y, series->style,
		   chart->charset == CHART_ASCII ? (uint32_t)series_letter(chart, series)
		   : series->line == CHART_SOLID ? 0x2501
		   : series->line == CHART_BAND	 ? 0x2591
						 : 0x254C);
	(void)rect_take_left(&line, 2);
	canvas_line_elided(plot->canvas, line, STYLE_NORMAL, str_from(series->label));
	return 2 + text_width(series->label);
}

/* Draw the legend in a corner of the plot that is free; false if no corner is. */
static bool draw_legend(const struct plot *plot)
{
	const struct chart *chart = plot->chart;
	struct rect in = plot->in, r = { in.x, in.y, 0, 0 };

	for (size_t i = 0; i < chart->n_series; i++)
		if (chart->series[i].label != NULL) {
			r.w = int_max(r.w, text_width(chart->series[i].label) + 2);
			r.h++;
		}
	if (r.w > in.w || r.h > in.h)
		return false;
	for (int corner = 0; corner < 4; corner++) {
		r.x = corner < 2 ? in.x + in.w - r.w : in.x;
		r.y = corner % 2 == 0 ? in.y : in.y + in.h - r.h;
		struct rect at = { r.x - in.x, r.y - in.y, r.w, r.h };
		if (any_of(k, (size_t)(at.w * at.h),
			   plot->cells[(at.y + (int)k / at.w) * in.w + at.x + (int)k % at.w].bits !=
				   0))
			continue;
		for (size_t i = 0; i < chart->n_series; i++)
			if (chart->series[i].label != NULL)
				(void)put_label(plot, rect_take_top(&r, 1), &chart->series[i]);
		return true;
	}
	return false;
}

/* Create the cells, or recreate them after a change of size, and draw the series into them. */
static void fill_cells(struct plot *plot)
{
	const struct chart *chart = plot->chart;

	align_y_range(plot);
	plot->dash = dots[chart->charset].w;
	plot->w = plot->in.w * plot->dash;
	plot->h = plot->in.h * dots[chart->charset].h;
	free(plot->cells);
	plot->cells = xcalloc((size_t)plot->in.w * (size_t)plot->in.h, sizeof(*plot->cells));
	draw_lines(plot);
}

void chart_draw(const struct chart *chart, struct canvas *canvas)
{
	const struct chart_mark cursor = { chart->cursor, NULL, STYLE_KEY };
	struct rect before = canvas_clip(canvas, chart->rect);
	struct plot plot = { .chart = chart, .canvas = canvas, .in = chart_plot_rect(chart) };

	if (plot.in.w >= 4 && plot.in.h >= 2) {
		chart_x_range(chart, &plot.x_lo, &plot.x_hi);
		find_y_range(&plot);
		fill_cells(&plot);
		bool over = chart->legend && !draw_legend(&plot) && plot.in.h > LEGEND_LEAST;
		if (over) {
			(void)rect_take_top(&plot.in, 1);
			fill_cells(&plot);
		}
		if (chart->charset == CHART_PIXELS)
			plot.picture = canvas_picture(canvas, plot.in);
		if (plot.picture != NULL) {
			plot.w = plot.picture->w;
			plot.h = plot.picture->h;
			plot.dash = int_max(canvas->cell_w, 2);
		}
		draw_y_axis(&plot);
		draw_x_axis(&plot);
		/* Draw later marks first, so that labels cover the lines of marks to the right. */
		for (size_t i = chart->n_marks; i-- > 0;)
			draw_vertical(&plot, &chart->marks[i], (int)i % 2);
		draw_vertical(&plot, &cursor, 0);
		if (plot.picture != NULL)
			draw_lines(&plot);
		else
			put_cells(&plot);
		draw_signs(&plot);
		struct rect line = { plot.in.x, plot.in.y - 1, plot.in.w, 1 };
		for (size_t i = 0; over && i < chart->n_series && line.w > 4; i++)
			if (chart->series[i].label != NULL)
				(void)rect_take_left(&line,
						     put_label(&plot, line, &chart->series[i]) + 2);
		if (chart->legend && !over)
			(void)draw_legend(&plot);
		free(plot.cells);
	}
	canvas->clip = before;
}

static void svg_text(struct buf *out, double x, double y, const char *anchor, const char *text)
{
	buf_appendf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	utf8_add_xml(out, text);
	buf_append_str(out, "</text>\n");
}

static void svg_axis(const struct plot *plot, bool is_x, struct buf *out)
{
	const struct chart *chart = plot->chart;
	bool is_log = !is_x && chart->log_y;
	double lo = is_x ? plot->x_lo : plot->y_lo;
	double range = (is_x ? plot->x_hi : plot->y_hi) - lo, part;
	double step = is_log ? range / SVG_TICKS
			     : tick_step(lo, lo + range, SVG_TICKS, is_x && chart->x_is_time);
	double at = is_log ? lo : ceil(lo / step - 1e-9) * step + 0.0;
	int decimals = is_log ? chart->decimals : chart_decimals(step, 1e-6, 9);
	char text[400];

	for (; (part = (at - lo) / range) <= 1 + 1e-9; at += step) {
		if (is_x && chart->x_text != NULL)
			chart->x_text(chart->x_kind, at, step, text, sizeof(text));
		else
			y_text(chart, is_log ? pow(10, at) : at, decimals, text, sizeof(text));
		double x = part * SVG_WIDTH, y = (1 - part) * SVG_HEIGHT;
		buf_appendf(out,
			    is_x ? "<path d=\"M%.1f 0v420\"/>\n" : "<path d=\"M0 %.1fh880\"/>\n",
			    is_x ? x : y);
		if (is_x)
			svg_text(out, x, 438, "middle", text);
		else
			svg_text(out, -8, y + 4, "end", text);
	}
}

/* Append the area of a band, one quadrilateral for each two neighboring points. */
static void svg_band(const struct plot *plot, const struct chart_series *band, struct buf *out)
{
	struct chart_series top = *band;
	double at[2][2][2]; /* [current, previous point][y, top] */
	bool joined = false;

	top.y = band->top;
	buf_append_str(out, "<path clip-path=\"url(#plot)\" "
			    "style=\"fill:#dddddd;stroke:none\" d=\"");
	for (size_t k = 0; k < band->n; k++) {
		double(*here)[2] = at[k % 2], (*before)[2] = at[(k + 1) % 2];
		bool is_there = locate_point(plot, band, k, here[0]) &&
				locate_point(plot, &top, k, here[1]);

		if (is_there && joined)
			buf_appendf(out, "M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fz", before[0][0],
				    before[0][1], here[0][0], here[0][1], here[1][0], here[1][1],
				    before[1][0], before[1][1]);
		joined = is_there;
	}
	buf_append_str(out, "\"/>");
}

static void svg_line(const struct plot *plot, const struct chart_series *series, struct buf *out)
{
	bool joined = false;
	double at[2];

	buf_append_str(out, "<path clip-path=\"url(#plot)\" d=\"");
	for (size_t k = 0; k < series->n; k++) {
		bool is_there = locate_point(plot, series, k, at);

		/* h0 makes a dot of a point without lines. */
		if (is_there)
			buf_appendf(out, joined ? "L%.1f %.1f" : "M%.1f %.1fh0", at[0], at[1]);
		joined = is_there && series->line != CHART_DOTS;
	}
	buf_append_str(out, "\"/>");
}

/* Append the line of a series, and its legend entry at y. */
static void svg_series(const struct plot *plot, const struct chart_series *series, double y,
		       struct buf *out)
{
	/* Colors of Okabe and Ito that are readable on white. */
	static const char *const colors[STYLE_SERIES_COUNT] = {
		"#0072b2", "#d55e00", "#009e73", "#cc79a7",
		"#b8860b", "#7b3f00", "#56b4e9", "#555555",
	};
	unsigned int i = (series->style - STYLE_SERIES_1) % STYLE_SERIES_COUNT;

	buf_appendf(out, "<g stroke=\"%s\" stroke-width=\"%d\"%s>",
		    series->line == CHART_SOLID	 ? colors[i]
		    : series->line == CHART_BAND ? "#dddddd"
						 : "#222222",
		    series->line == CHART_BAND ? 8 : 2,
		    series->line == CHART_DASHED ? " stroke-dasharray=\"6 4\""
		    : series->line == CHART_DOTS ? " stroke-opacity=\"0.4\""
						 : "");
	(series->line == CHART_BAND ? svg_band : svg_line)(plot, series, out);
	if (series->label != NULL) {
		buf_appendf(out, "<path d=\"M0 %.0fh24\"/>", y - 4);
		svg_text(out, 32, y, "start", series->label);
	}
	buf_append_str(out, "</g>\n");
}

void chart_svg(const struct chart *chart, const char *title, struct buf *out)
{
	struct plot plot = { .chart = chart, .w = SVG_WIDTH, .h = SVG_HEIGHT };
	double y = SVG_HEIGHT + 2 * SVG_LINE;

	chart_x_range(chart, &plot.x_lo, &plot.x_hi);
	find_y_range(&plot);
	buf_appendf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		    "viewBox=\"-80 -44 1000 %zu\" font-family=\"sans-serif\" "
		    "font-size=\"13\" stroke-linecap=\"round\" "
		    "stroke=\"#bbbbbb\">\n<style>text{stroke:none;fill:#000}"
		    "path{fill:none}</style>\n<rect x=\"-80\" y=\"-44\" "
		    "width=\"1000\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		    "<clipPath id=\"plot\"><rect width=\"880\" "
		    "height=\"420\"/></clipPath>\n",
		    SVG_HEIGHT + 100 + SVG_LINE * chart->n_series);
	svg_text(out, 0, -24, "start", title);
	svg_axis(&plot, false, out);
	svg_axis(&plot, true, out);
	for (size_t i = 0; i < chart->n_series; i++) {
		svg_series(&plot, &chart->series[i], y, out);
		y += chart->series[i].label != NULL ? SVG_LINE : 0;
	}
	buf_append_str(out, "</svg>\n");
}
