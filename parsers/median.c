/* SPDX-License-Identifier: MIT */
/* Compute medians of long series in little memory, for run_apply.c. */
#include "parsers/median.h"

#include "base/sort.h"

#define LOWEST	  1e-6
#define BIN_RATIO 1.002
/* ln(1e18) / ln(BIN_RATIO), rounded up. */
#define N_BINS 20745

static size_t bin_of(double value)
{
	double bin = floor(log(value / LOWEST) / log(BIN_RATIO));

	if (!(bin > 0))
		return 0;
	return bin < N_BINS ? (size_t)bin : N_BINS - 1;
}

void median_add(struct median *m, double value)
{
	if (!isfinite(value) || value <= 0)
		return;
	if (m->n == MEDIAN_EXACT && m->bins == NULL) {
		m->bins = xcalloc(N_BINS, sizeof(*m->bins));
		for (size_t i = 0; i < m->n; i++)
			m->bins[bin_of(m->values[i])]++;
		free(m->values);
		m->values = NULL;
	}
	if (m->bins != NULL) {
		m->bins[bin_of(value)]++;
	} else {
		/* grow to 64, 128, .. values */
		if (m->n == 0 || (m->n >= 64 && (m->n & (m->n - 1)) == 0))
			m->values = xreallocarray(m->values, m->n > 0 ? 2 * (size_t)m->n : 64,
						  sizeof(*m->values));
		m->values[m->n] = value;
	}
	m->n++;
}

double median_get(const struct median *m)
{
	uint64_t seen = 0;
	size_t bin = 0;

	if (m->n == 0)
		return (double)NAN;
	if (m->bins == NULL)
		return values_median(m->values, (size_t)m->n);
	while (bin < N_BINS - 1 && (seen += m->bins[bin]) <= (m->n - 1) / 2)
		bin++;
	return LOWEST * pow(BIN_RATIO, (double)bin + 0.5); /* the middle of the bin */
}

void median_release(struct median *m)
{
	free(m->values);
	free(m->bins);
	*m = (struct median){ .n = 0 };
}
