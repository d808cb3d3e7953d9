/* SPDX-License-Identifier: MIT */
/* scan, steps: the shortcuts give the same records as PCRE2 alone. */
#include "parsers/scan.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/embed.h"
#include "parsers/format.h"
#include "tests/support/plain_scan.h"
#include "tests/support/tap.h"

#define TRIES 40000

static uint32_t seed = 7;

static size_t pick(size_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Lines like rows, settings and results; copies of them are altered below. */
static const char *const lines[] = {
	"step:3/10 train_loss:3.25 train_time:30ms step_avg:10.5ms",
	"step:1000/20000 val_loss:2.5611 val_bpb:1.5169 train_time:583.1s",
	"3000/20000 train_loss: 2.2519 train_time: 4.2m tok/s: 9300000",
	"step 12345678901234567/20 | loss 1.5e-3 | lr 0.0003 | 12.5 ms",
	"step:5 loss:nan t:-inf ms tok/s:.5",
	"ttp: b25/782 bl:2.3 bb:1.07 rl:2.3 rb:1.08 dl:1",
	"  sliding_eval [ 12.5%] 300/1900 windows running_bpb=1.123",
	"  ttt_enabled: True   ",
	"warmup_step: 10/20",
	"seed: 1337",
	"final_int8_zlib_roundtrip val_loss:2.07 val_bpb:1.2269 eval_time:9ms",
	"stopping_early: wallclock_cap train_time:600012ms step:13780/20000",
	"Total submission size int8+zlib: 15863489 bytes",
	"peak memory allocated: 10184 MiB reserved: 10588 MiB",
	"{\"step\": 100, \"loss\": 3.25}",
	"CUDA out of memory",
	"params: 123 ws:8 s:42 ",
};

/* Rules whose patterns use all features of steps, and patterns that need PCRE2. */
static const char user_rules[] = "{\"schema\":\"hgym-tui.format/1\",\"name\":\"mine\",\"rules\":["
				 "{\"name\":\"a\",\"kind\":\"train\","
				 "\"match\":\"^step (?<step>\\\\d++)/\\\\d++ .loss\"},"
				 "{\"name\":\"nan\",\"kind\":\"event\","
				 "\"needs\":\"ss:n\",\"match\":\" loss:nan\"},"
				 "{\"name\":\"number\",\"kind\":\"event\","
				 "\"needs\":[\":77\",\"4. \"],"
				 "\"match\":\" loss:(?:77|[\\\\d.]*4\\\\. )\"},"
				 "{\"name\":\"like\",\"kind\":\"train\","
				 "\"match\":\"^at:(?<step>\\\\d++) loss:"
				 "(?<train_loss>[\\\\w.+-]++) t:\\\\d++$\"},"
				 "{\"name\":\"b\",\"kind\":\"train\","
				 "\"match\":\"^step:(?<step>\\\\d)(?<planned>[\\\\d.]*+) loss:"
				 "(?<train_loss>[\\\\w.+-]++) t:(?<train_ms>[\\\\w.-]++) *$\"},"
				 "{\"name\":\"c\",\"kind\":\"train\","
				 "\"match\":\"^(?<step>[.\\\\d]++)/(?<planned>\\\\d)(?= |$)\"},"
				 "{\"name\":\"d\",\"kind\":\"setting\","
				 "\"match\":\"^ *seed: (?<seed>\\\\d++)$\"},"
				 "{\"name\":\"e\",\"kind\":\"setting\","
				 "\"match\":\"^se[](|]ed|^w[^](]rmup\"},"
				 "{\"name\":\"f\",\"kind\":\"train\","
				 "\"match\":\"^\\\\{.step.: (?<step>[\\\\d]++)\\\\W\"},"
				 "{\"name\":\"g\",\"kind\":\"ignore\",\"needs\":\"7/2\","
				 "\"match\":\"[a-z]:\\\\d*7/2\"}]}";

static void alter(struct buf *line)
{
	static const char bytes[] = " .0123456789-+enaif:/|=\"xs\xc3";
	size_t at = pick(line->len + 1), kind = pick(4);
	struct buf old = *line;

	/* Drop, replace or insert a byte, or cut the end. */
	buf_init(line, 4096);
	buf_append(line, old.data, at);
	if (kind > 0)
		buf_append_char(line, bytes[pick(sizeof(bytes) - 1)]);
	if (kind < 2 && at < old.len)
		at++;
	if (kind < 3)
		buf_append(line, old.data + at, old.len - at);
	buf_release(&old);
}

/* Is the rule that the scanner found the first one that PCRE2 matches? */
static bool is_as_plain(const struct format_set *set, struct scanner *scanner, struct str line,
			size_t *taken)
{
	struct record record, want;
	bool found = scanner_scan(scanner, line, &record);

	for (size_t i = 0; i < format_set_rules(set); i++) {
		const struct rule *rule = format_set_rule(set, i);

		if (plain_scan(rule, line, &want) == PLAIN_YES) {
			(*taken)++;
			return found && plain_same(&record, &want);
		}
	}
	return !found;
}

static void test_altered_lines(const struct format_set *set)
{
	struct scanner *scanner = scanner_new(set);
	size_t taken = 0, wrong = 0;
	struct buf line;

	buf_init(&line, 4096);
	for (size_t i = 0; i < TRIES; i++) {
		buf_clear(&line);
		/* Consecutive lines often differ only in their digits. */
		buf_append_str(&line, lines[i / 8 % (sizeof(lines) / sizeof(*lines))]);
		for (size_t k = 0; k < line.len; k++)
			if (str_is_digit(line.data[k]))
				line.data[k] = (char)('0' + pick(10));
		for (size_t n = pick(8) / 2; n > 0; n--)
			alter(&line);
		if (line.len > 0 &&
		    !is_as_plain(set, scanner, (struct str){ line.data, line.len }, &taken)) {
			printf("# not as PCRE2: %s\n", line.data);
			wrong++;
		}
	}
	is_int((long long)wrong, 0, "all lines give the same records as with PCRE2");
	ok(taken > TRIES / 8 && taken < TRIES, "rules match %zu of %d lines", taken, TRIES);
	buf_release(&line);
	scanner_free(scanner);
}

/* Lines that differ from the line before only in their numbers, which another rule may need. */
static void test_like_lines(const struct format_set *set)
{
	static const char *const like[] = {
		"at:51 loss:3.5 t:4",  "at:61 loss:nan t:4", "at:71 loss:2.5 t:4",
		"at:81 loss:77.5 t:4", "at:91 loss:2.5 t:4", "at:91 loss:4. t:4",
		"at:91 loss:2.25 t:4",
	};
	struct scanner *scanner = scanner_new(set);
	size_t taken = 0;

	for (size_t i = 0; i < sizeof(like) / sizeof(*like); i++)
		ok(is_as_plain(set, scanner, str_from(like[i]), &taken),
		   "\"%s\" gives the same record as with PCRE2", like[i]);
	is_int((long long)taken, sizeof(like) / sizeof(*like), "a rule matches each line");
	scanner_free(scanner);
}

extern const struct embed_file format_builtin[];

/* The program compiles its own rules only when it needs them; here every rule is checked. */
static void test_builtin_rules(void)
{
	struct format_set *set = format_set_new_builtin();
	struct err err = { ERR_NONE, "" };

	for (size_t i = 0; format_builtin[i].name != NULL; i++)
		ok(format_set_load_text(set, format_builtin[i].name,
					str_from(format_builtin[i].text), &err) == 0,
		   "the rules of %s are valid %s", format_builtin[i].name, err.text);
	format_set_free(set);
}

int main(void)
{
	struct format_set *set = format_set_new_builtin();
	struct err err = { ERR_NONE, "" };
	size_t quick = 0;

	ok(format_set_load_text(set, "mine", str_from(user_rules), &err) == 0, "the rules load %s",
	   err.text);
	for (size_t i = 0; i < format_set_rules(set); i++)
		quick += format_set_rule(set, i)->steps.end != STEPS_PART;
	ok(quick > 20, "%zu of %zu rules need no regex engine", quick, format_set_rules(set));
	test_altered_lines(set);
	test_like_lines(set);
	test_builtin_rules();
	format_set_free(set);
	return tap_done();
}
