/* SPDX-License-Identifier: MIT */
/* Raw lines on the screen: without escape sequences, and with their colours. */
#include <stdlib.h>
#include <string.h>

#include "model/logtext.h"

#include "tests/support/tap.h"

static const char *const inks[] = {
#define X(id) &#id[sizeof("LOGSGR_") - 1],
	LOGSGR_INKS(X)
#undef X
};

/* Write the text, with "[LOOK]" where a new look starts. */
static void write_looks(struct str text, const struct logsgr_runs *runs, struct buf *out)
{
	size_t i = 0;

	for (size_t at = 0; at <= text.len; at++) {
		for (; i < runs->n && runs->v[i].at == at; i++) {
			unsigned int look = runs->v[i].look;

			buf_appendf(out, "[%s%s%s%s]", inks[look & LOGSGR_INK_MASK],
				    look & LOGSGR_BOLD ? " bold" : "",
				    look & LOGSGR_FAINT ? " faint" : "",
				    look & LOGSGR_REVERSE ? " reverse" : "");
		}
		if (at < text.len)
			buf_append_char(out, text.p[at]);
	}
}

static void looks(struct str raw, size_t columns, const char *want)
{
	struct logsgr_runs runs;
	struct buf with, without, got;

	logsgr_runs_init(&runs);
	buf_init(&with, 1U << 20);
	buf_init(&without, 1U << 20);
	buf_init(&got, 1U << 20);
	logtext_show(&with, raw, columns, &runs);
	logtext_show(&without, raw, columns, NULL);
	write_looks((struct str){ with.data, with.len }, &runs, &got);
	is_str(got.data, want, want);
	if (strcmp(with.data, without.data) != 0)
		ok(false, "the text differs if looks are requested: %s", with.data);
	buf_release(&with);
	buf_release(&without);
	buf_release(&got);
	logsgr_runs_release(&runs);
}

#define LOOKS(raw, want) looks(STR_LIT(raw), 80, want)

static void test_inks(void)
{
	LOOKS("a\033[31mb\033[0mc", "a[RED]b[NONE]c");
	LOOKS("\033[31mr\033[32mg\033[33my\033[34mb\033[35mm\033[36mc",
	      "[RED]r[GREEN]g[YELLOW]y[BLUE]b[MAGENTA]m[CYAN]c");
	LOOKS("\033[30mk\033[37mw\033[90mg\033[97mW\033[39m-", "[TEXT]kw[GREY]g[TEXT]W[NONE]-");
	LOOKS("\033[91mr\033[92mg\033[93my\033[94mb\033[95mm\033[96mc",
	      "[BRIGHT_RED]r[BRIGHT_GREEN]g[BRIGHT_YELLOW]y[BRIGHT_BLUE]b"
	      "[BRIGHT_MAGENTA]m[BRIGHT_CYAN]c");
	LOOKS("\033[1mb\033[2mf\033[22mn\033[7mr\033[27mn",
	      "[NONE bold]b[NONE bold faint]f[NONE]n[NONE reverse]r[NONE]n");
	LOOKS("\033[1;31mx\033[39my\033[mz", "[RED bold]x[NONE bold]y[NONE]z");
	LOOKS("\033[31;mx", "x");
	LOOKS("\033[;31mx", "[RED]x");
	LOOKS("\033[31m\033[0mx\033[32m", "x");
	LOOKS("\033[31mx\033[31my", "[RED]xy");
}

/* 256 colours and direct ones; a background is dropped completely. */
static void test_wide_inks(void)
{
	LOOKS("\033[38;5;1mx", "[RED]x");
	LOOKS("\033[38;5;8mx\033[38;5;9my", "[GREY]x[BRIGHT_RED]y");
	LOOKS("\033[38;5;16mx\033[38;5;231my\033[38;5;244mz", "[TEXT]xy[GREY]z");
	LOOKS("\033[38;5;208mo\033[38;5;21mb\033[38;5;22mg",
	      "[BRIGHT_YELLOW]o[BRIGHT_BLUE]b[GREEN]g");
	LOOKS("\033[38;2;200;10;10mx", "[RED]x");
	LOOKS("\033[38;2;0;255;255mx", "[BRIGHT_CYAN]x");
	LOOKS("\033[38:5:2mx\033[38:2:0:0:200my\033[38:2::0:200:0mz", "[GREEN]x[BLUE]y[GREEN]z");
	LOOKS("\033[41mx\033[48;5;31my\033[48;2;31;32;33mz\033[105mw", "xyzw");
	LOOKS("\033[48;5;1;32mx", "[GREEN]x");
	LOOKS("\033[58;5;31;1mx", "[NONE bold]x");
	LOOKS("\033[4:31mx\033[3:1my", "xy");
	LOOKS("\033[38;5;256mx\033[38;2;1;2;999my\033[38;9;31mz", "xy[RED]z");
	LOOKS("\033[38mx\033[38;5my\033[38;2;1mz", "xyz");
	LOOKS("\033[99999999999999999999mx\033[4294967327my", "xy");
}

/* A sequence that is not SGR changes nothing and is not shown. */
static void test_others(void)
{
	LOOKS("a\033[2Jb\033[10;10Hc\033[?25hd", "abcd");
	LOOKS("a\033[>31mb\033[?31mc\033[31 md", "abcd");
	LOOKS("\033(B\033[mx\033)0y\033#8z", "xyz");
	LOOKS("\033]0;\033[31mx", "[RED]x");
	LOOKS("\033]0;title\033\\x\033]2;t\ay\033Pq\033\\z", "xyz");
	LOOKS("a\033[31", "a");
	LOOKS("a\033[", "a");
	LOOKS("a\033", "a");
	LOOKS("\033[31\033[32mx", "[GREEN]x");
	LOOKS("\033[31\xC3\xA9x", "\xC3\xA9x");
	LOOKS("\033\xC3\xA9x", "\xC3\xA9x");
	LOOKS("\033\033[31mx", "[RED]x");
	LOOKS("\033c\033=\0337x", "x");
	LOOKS("\x9B"
	      "31mx",
	      "\xEF\xBF\xBD"
	      "31mx");
}

/* Positions of looks are in the shown text, for every kind of conversion. */
static void test_places(void)
{
	LOOKS("a\t\033[31mb\033[m\tc", "a       [RED]b[NONE]       c");
	LOOKS("\xFF\033[31m\x01x", "\xEF\xBF\xBD[RED]\xC2\xB7x");
	LOOKS("\xE6\x97\xA5\033[31m\xE6\x97\xA5\tx", "\xE6\x97\xA5[RED]\xE6\x97\xA5    x");
	LOOKS("\xE6\033[31m\x97\xA5x", "\xE6\x97\xA5[RED]x");
	looks(STR_LIT("ab\033[31mcdef\033[32mgh"), 4, "ab[RED]cd");
	looks(STR_LIT("\033[31m\tx"), 3, "[RED]        ");
	LOOKS("\033[32m10%\r20%\r\033[1m30%\r", "[GREEN bold]30%");
	LOOKS("\033[32m\033[0m10%\r20%", "20%");
	LOOKS("", "");
	LOOKS("\033[31m", "");
}

/* A line has more looks than are kept, and a parameter of any length. */
static void test_bounds(void)
{
	size_t n = 200000, len = 0;
	char *raw = malloc(n * 8);
	struct logsgr_runs runs;
	struct buf out;

	for (size_t i = 0; i < n; i++) {
		memcpy(raw + len, i % 2 ? "\033[31mx" : "\033[32mx", 6);
		len += 6;
	}
	logsgr_runs_init(&runs);
	buf_init(&out, 1U << 20);
	logtext_show(&out, (struct str){ raw, len }, n, &runs);
	is_int((long long)out.len, (long long)n, "no text of a line with many looks is lost");
	is_int((long long)runs.n, LOGSGR_MAX_RUNS, "the number of looks is limited");
	is_int(runs.v[runs.n - 1].look, 0, "text beyond the limit has no look");
	logsgr_runs_release(&runs);
	buf_release(&out);
	memcpy(raw, "\033[", 2);
	for (len = 2; len < 20002;) {
		raw[len++] = '1';
		raw[len++] = ';';
	}
	memcpy(raw + len, "35mx", 5);
	looks((struct str){ raw, len + 4 }, 80, "[MAGENTA bold]x");
	free(raw);
}

int main(void)
{
	test_inks();
	test_wide_inks();
	test_others();
	test_places();
	test_bounds();
	return tap_done();
}
