/* SPDX-License-Identifier: MIT */
/* loggen: a seed always gives the same bytes, numbers are consistent, and runs end as requested. */
#include "tests/tools/loggen.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "tests/support/tap.h"

/* The whole log; *last_ms is when its last line was printed. */
static void write_all(const struct loggen_recipe *recipe, struct buf *out, double *last_ms)
{
	struct loggen *gen = loggen_new(recipe);
	struct loggen_line line;
	double before = 0;
	bool grows = true, whole = true;

	buf_init(out, 16U << 20);
	while (loggen_next(gen, &line)) {
		grows = grows && line.at_ms >= before;
		whole = whole && line.len > 0 &&
			memchr(line.text, '\n', line.len) == line.text + line.len - 1;
		before = line.at_ms;
		buf_append(out, line.text, line.len);
	}
	loggen_free(gen);
	*last_ms = before;
	ok(grows && whole, "%s, %s: whole lines, time grows", loggen_dialect_name(recipe->dialect),
	   loggen_fate_name(recipe->fate));
}

static void test_same_bytes(enum loggen_dialect dialect)
{
	struct loggen_recipe recipe;
	struct buf a, b, c;
	double ms;

	loggen_recipe_init(&recipe, dialect, 42);
	write_all(&recipe, &a, &ms);
	write_all(&recipe, &b, &ms);
	recipe.seed = 43;
	write_all(&recipe, &c, &ms);
	ok(a.len == b.len && memcmp(a.data, b.data, a.len) == 0, "%s: a seed gives the same bytes",
	   loggen_dialect_name(dialect));
	ok(a.len != c.len || memcmp(a.data, c.data, a.len) != 0,
	   "%s: another seed gives other bytes", loggen_dialect_name(dialect));
	buf_release(&a);
	buf_release(&b);
	buf_release(&c);
}

/* The last place of needle in the log. */
static const char *find_last(const struct buf *log, const char *needle)
{
	const char *at = log->data, *found = NULL;

	while ((at = strstr(at, needle)) != NULL)
		found = at++;
	return found != NULL ? found : "";
}

static void test_golf_avg(void)
{
	struct loggen_recipe recipe;
	struct buf log;
	double ms, avg = 0;
	unsigned int step = 0, planned = 0;
	long train_ms = 0;
	const char *row;

	loggen_recipe_init(&recipe, LOGGEN_GOLF_AVG, 7);
	write_all(&recipe, &log, &ms);
	row = find_last(&log, "\nstopping_early: wallclock_cap train_time:");
	is_int(sscanf(row, "%*[^:]: wallclock_cap train_time:%ldms step:%u/%u", &train_ms, &step,
		      &planned),
	       3, "the run is stopped by the cap");
	ok(train_ms >= 600000 && train_ms < 600100, "the run stops at the cap: %ld ms", train_ms);
	row = find_last(&log, " step_avg:");
	is_int(sscanf(row, " step_avg:%lfms", &avg), 1, "the average is printed");
	is_near(avg, (double)train_ms / step, 1e-3, "the average is time / steps");
	ok(strstr(log.data, "\nseed:7\n") != NULL, "the seed is printed");
	buf_release(&log);
}

static void test_golf_min(void)
{
	struct loggen_recipe recipe;
	struct buf log;
	double ms, minutes = 0;
	unsigned int step = 0;
	double rate = 0;
	const char *row;

	loggen_recipe_init(&recipe, LOGGEN_GOLF_MIN, 7);
	write_all(&recipe, &log, &ms);
	row = find_last(&log, "\n4900/20000 train_loss: ");
	is_int(sscanf(row, " %u/%*u train_loss: %*f train_time: %lfm tok/s: %lf", &step, &minutes,
		      &rate),
	       3, "a row with minutes is printed");
	is_near(rate, step * 786432.0 / (minutes * 60), 0.01, "tok/s is cumulative");
	ok(strstr(log.data, "\nquantized_sliding_window val_loss:") != NULL &&
		   strstr(log.data, "\nlegal_ttt_exact val_loss:") != NULL,
	   "sliding and TTT scores are printed");
	buf_release(&log);
}

static void test_fates(enum loggen_dialect dialect)
{
	static const struct {
		enum loggen_fate fate;
		const char *there;
		bool ends; /* with the memory line or a score */
	} cases[] = {
		{ LOGGEN_STALL, "", false },
		{ LOGGEN_DIVERGE, "loss:nan", true },
		{ LOGGEN_CRASH, "RuntimeError", false },
		{ LOGGEN_OOM, "OutOfMemoryError", false },
		{ LOGGEN_OVERSIZE, "", true },
		{ LOGGEN_SLOW, "", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct loggen_recipe recipe;
		struct buf log;
		double ms;
		bool ends;

		loggen_recipe_init(&recipe, dialect, 11);
		recipe.fate = cases[i].fate;
		write_all(&recipe, &log, &ms);
		ends = strstr(log.data, "\npeak memory allocated: ") != NULL;
		if (strcmp(cases[i].there, "loss:nan") == 0)
			ok(strstr(log.data, "loss:nan") != NULL ||
				   strstr(log.data, "loss: nan") != NULL,
			   "nan is printed");
		else
			ok(strstr(log.data, cases[i].there) != NULL, "the log has \"%s\"",
			   cases[i].there);
		ok(ends == cases[i].ends, "the log %s", ends ? "ends" : "breaks off");
		buf_release(&log);
	}
}

static void test_sizes(void)
{
	struct loggen_recipe recipe;
	unsigned long bytes = 0;
	struct buf log;
	double ms;

	loggen_recipe_init(&recipe, LOGGEN_GOLF_MIN, 3);
	write_all(&recipe, &log, &ms);
	(void)sscanf(find_last(&log, "quantized+brotli: "), "quantized+brotli: %lu", &bytes);
	ok(bytes > 15900000 && bytes <= 16000000, "%lu bytes fit", bytes);
	buf_release(&log);
	recipe.fate = LOGGEN_OVERSIZE;
	write_all(&recipe, &log, &ms);
	(void)sscanf(find_last(&log, "quantized+brotli: "), "quantized+brotli: %lu", &bytes);
	ok(bytes > 16000000, "%lu bytes do not fit", bytes);
	buf_release(&log);
}

int main(void)
{
	for (int i = 0; i < LOGGEN_N_DIALECTS; i++) {
		test_same_bytes(i);
		test_fates(i);
	}
	test_golf_avg();
	test_golf_min();
	test_sizes();
	is_int(loggen_fate_by_name("oom"), LOGGEN_OOM, "a fate is found by its name");
	is_int(loggen_dialect_by_name("x"), -1, "an unknown dialect is not found");
	return tap_done();
}
