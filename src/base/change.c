/* SPDX-License-Identifier: MIT */
/* Change points of a series, for the history of benches and for charts. */
#include "base/change.h"

#include "base/random.h"
#include "base/sort.h"

#define SERIES	 199 /* random series for comparison */
#define MOST_P	 0.05
#define SIDE	 (CHANGE_POINTS + 1)
#define MOST_RHO 0.95
#define BIAS	 6.0

/* The boundaries between sections, ascending, including 0 and the end. */
struct cuts {
	size_t at[CHANGE_MOST + 3], n;
};

struct search {
	double y[CHANGE_POINTS], like[CHANGE_POINTS];
	size_t n, least; /* number of values; least number in a section */
	struct cuts cuts;
	/* Sum of |y[a] - y[b]| over all a < i, b < j within one section. */
	double sum[SIDE][SIDE];
	uint64_t state;
};

/* A split of a section, and the energy distance between its sides. */
struct split {
	size_t at;
	double q;
};

/* Find the largest energy distance between [0, at) and any [at, end): the level may change back. */
static double energy_at(const struct search *s, size_t at, size_t n)
{
	double m = (double)at, own = s->sum[at][at], most = 0;

	for (size_t end = at + s->least; end <= n; end++) {
		double k = (double)(end - at);
		double cross = s->sum[at][end] - own;
		double other = s->sum[end][end] - 2 * cross - own;
		double e = 2 * cross / (m * k) - own / (m * (m - 1)) - other / (k * (k - 1));

		most = fmax(most, e * m * k / (m + k));
	}
	return most;
}

/* Find the best split over all sections of y. */
static struct split best_split(struct search *s, const double *y)
{
	struct split best = { 0, 0 };

	for (size_t c = 0; c + 1 < s->cuts.n; c++) {
		size_t from = s->cuts.at[c], n = s->cuts.at[c + 1] - from;

		if (n < 2 * s->least)
			continue;
		for (size_t i = 1; i <= n; i++) {
			double row = 0;

			for (size_t j = 1; j <= n; j++) {
				row += fabs(y[from + i - 1] - y[from + j - 1]);
				s->sum[i][j] = s->sum[i - 1][j] + row;
			}
		}
		for (size_t at = s->least; at + s->least <= n; at++) {
			double q = energy_at(s, at, n);

			if (q > best.q)
				best = (struct split){ from + at, q };
		}
	}
	return best;
}

static double compute_mean(const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += y[i];
	return sum / (double)n;
}

static void add_cut(struct cuts *cuts, size_t at)
{
	size_t i = cuts->n++;

	for (; cuts->at[i - 1] > at; i--)
		cuts->at[i] = cuts->at[i - 1];
	cuts->at[i] = at;
}

/* Estimate the correlation of neighboring values after splitting at `split` and at the next best
 * split: an undetected change would look like correlation. Kendall (1954): the estimate is too low
 * by (1 + 3 rho) / n per section; choosing the splits by their effect costs about BIAS more. */
static double estimate_correlation(struct search *s, struct split split)
{
	double own = 0, next = 0, rho;
	struct cuts known = s->cuts;

	add_cut(&s->cuts, split.at);
	split = best_split(s, s->y);
	if (split.q > 0)
		add_cut(&s->cuts, split.at);
	for (size_t c = 0; c + 1 < s->cuts.n; c++) {
		size_t from = s->cuts.at[c], n = s->cuts.at[c + 1] - from;
		double mean = compute_mean(s->y + from, n), before = 0;

		for (size_t i = from; i < from + n; i++) {
			double left = s->y[i] - mean;

			own += left * left;
			next += left * before;
			before = left;
		}
	}
	rho = own > 0 ? next / own : 0;
	rho += (1 + 3 * rho) * ((double)s->cuts.n - 1 + BIAS) / (double)s->n;
	s->cuts = known;
	return fmin(fmax(rho, 0), MOST_RHO);
}

/* Generate a random series with the spread and correlation of y, but no undetected changes. */
static void draw_like(struct search *s, double rho)
{
	double first = sqrt(1 - rho * rho);

	for (size_t c = 0; c + 1 < s->cuts.n; c++) {
		size_t from = s->cuts.at[c], n = s->cuts.at[c + 1] - from;
		double *like = s->like + from, mean = compute_mean(s->y + from, n);

		for (size_t i = 0; i < n; i++)
			like[i] =
				i == 0 ? (s->y[from] - mean) * first
				       : s->y[from + i] - mean - rho * (s->y[from + i - 1] - mean);
		for (size_t i = n - 1; i > 0; i--) {
			size_t k = (size_t)(splitmix64_next(&s->state) % (i + 1));
			double held = like[i];

			like[i] = like[k];
			like[k] = held;
		}
		like[0] /= first;
		for (size_t i = 1; i < n; i++)
			like[i] += rho * like[i - 1];
	}
}

/* Estimate p, the share of random series that split as well as y. Stops early if p is large. */
static double estimate_p(struct search *s, struct split split)
{
	double rho = estimate_correlation(s, split);
	size_t as_far = 1, drawn = 1;

	while (drawn <= SERIES && (double)as_far <= MOST_P * (SERIES + 1)) {
		draw_like(s, rho);
		drawn++;
		as_far += best_split(s, s->like).q >= split.q * (1 - 1e-9);
	}
	return (double)as_far / (double)drawn;
}

size_t change_find(const double *y, size_t n, struct change out[CHANGE_MOST])
{
	AUTO_FREE struct search *s = xcalloc(1, sizeof(*s));
	size_t n_out = 0;

	s->n = n < CHANGE_POINTS ? n : CHANGE_POINTS;
	s->least = 2 + s->n / 32;
	s->cuts = (struct cuts){ { 0, s->n }, 2 };
#define PLACE(i) ((i)*n / s->n)
	for (size_t i = 0; i < s->n; i++)
		s->y[i] = values_median(y + PLACE(i), PLACE(i + 1) - PLACE(i));
	while (s->cuts.n < CHANGE_MOST + 2) {
		struct split split = best_split(s, s->y);

		if (!(split.q > 0) || estimate_p(s, split) > MOST_P)
			break;
		add_cut(&s->cuts, split.at);
	}
	for (size_t c = 1; c + 1 < s->cuts.n; c++) {
		size_t from = PLACE(s->cuts.at[c - 1]);
		size_t at = PLACE(s->cuts.at[c]);
		size_t end = PLACE(s->cuts.at[c + 1]);

		out[n_out++] = (struct change){ at, values_median(y + from, at - from),
						values_median(y + at, end - at) };
	}
#undef PLACE
	return n_out;
}
