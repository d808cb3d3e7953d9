/* SPDX-License-Identifier: MIT */
/* Strip the prefixes of launchers, which are patterns in parsers/formats/prefixes.json. */
#include "parsers/prefix_table.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <limits.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/embed.h"
#include "parsers/json.h"
#include "parsers/line_prefix.h"
#include "parsers/meaning.h"

extern const struct embed_file prefix_builtin[];

/* This many consecutive lines must have the prefix; more if more lines without it precede them. */
#define LEAST_HELD 10
#define MOST_HELD  64
/* A log that ends earlier needs this many lines with the prefix, and no line without it. */
#define LEAST_LINES 3
/* A prefix ends after this many consecutive lines without it; one that is recognized again at any
 * line ends sooner. */
#define MOST_MISSES 256
#define FEW_MISSES  8
/* Compiling with JIT costs as much as this many matches. */
#define LEAST_JIT 100
#define MAX_KINDS 64

struct prefix_kind {
	const char *match;
	/* Compiled at first use; code[1] has JIT, for a prefix that is tried often. */
	pcre2_code *_Atomic code[2];
	atomic_uint n_tries;
	bool is_sure;
	uint32_t rank, name, word, count, blank, time; /* groups; 0: none */
};

static struct prefix_kind kinds[MAX_KINDS];
static size_t n_kinds;
static uint64_t sure_kinds;	       /* bitmap of kinds */
static uint64_t kinds_of[256];	       /* bitmaps of the kinds that may start with a byte */
unsigned char prefix_first[256];       /* see prefix_table.h */
static unsigned char sure_pairs[8192]; /* bitmap: pair_of the first two bytes of sure samples */
static pthread_mutex_t compile_mutex = PTHREAD_MUTEX_INITIALIZER;

/* May a prefix start with c if a sample starts with `sample`? Letters are alike, as are digits. */
static bool is_like_byte(char c, char sample)
{
	if (str_is_digit(c) || str_is_digit(sample))
		return str_is_digit(c) && str_is_digit(sample);
	return c == sample || (str_is_word(c) && str_is_word(sample));
}

/* Combine two bytes to a number; all digits count as "0", and all letters after "(" as "a". */
static uint16_t pair_of(unsigned char first, unsigned char second)
{
	if (str_is_digit((char)second))
		second = '0';
	else if (first == '(')
		second = 'a';
	return (uint16_t)(first << 8 | second);
}

static void read_kinds(void)
{
	AUTO_JSON root = cJSON_Parse(prefix_builtin[0].text);

	json_each (node, root) {
		struct prefix_kind *kind = &kinds[n_kinds];

		if (n_kinds == MAX_KINDS)
			abort();
		kind->match = xstrdup(json_get_string(node, "match", ""));
		kind->is_sure = cJSON_IsTrue(json_get(node, "sure"));
		if (kind->is_sure)
			sure_kinds |= (uint64_t)1 << n_kinds;
		json_each (sample, json_get(node, "samples")) {
			unsigned char c = (unsigned char)sample->valuestring[0];

			for (int byte = 0; byte < 256; byte++)
				if (is_like_byte((char)byte, (char)c))
					kinds_of[byte] |= (uint64_t)1 << n_kinds;
			if (!kind->is_sure)
				continue;
			uint16_t pair = pair_of(c, (unsigned char)sample->valuestring[1]);
			prefix_first[c] = 1;
			sure_pairs[pair / 8] |= (unsigned char)(1U << pair % 8);
		}
		n_kinds++;
	}
}

static void load_kinds(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, read_kinds);
}

static uint32_t group_number(const pcre2_code *code, const char *name)
{
	int n = pcre2_substring_number_from_name(code, (PCRE2_SPTR)name);

	return n > 0 ? (uint32_t)n : 0;
}

static pcre2_code *compile_kind(struct prefix_kind *kind, bool jit)
{
	PCRE2_SIZE offset;
	int error;

	(void)pthread_mutex_lock(&compile_mutex);
	pcre2_code *code = atomic_load(&kind->code[jit]);
	if (code == NULL) {
		code = pcre2_compile((PCRE2_SPTR)kind->match, PCRE2_ZERO_TERMINATED, 0, &error,
				     &offset, NULL);
		if (code == NULL)
			abort();
		if (jit)
			(void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
		/* other threads may already read the numbers */
		if (atomic_load(&kind->code[!jit]) == NULL) {
			kind->rank = group_number(code, "rank");
			kind->name = group_number(code, "name");
			kind->word = group_number(code, "word");
			kind->blank = group_number(code, "blank");
			kind->count = group_number(code, "count");
			kind->time = group_number(code, "time");
		}
		atomic_store(&kind->code[jit], code);
	}
	(void)pthread_mutex_unlock(&compile_mutex);
	return code;
}

struct held_line {
	char *text; /* owned */
	struct segment segment;
	uint64_t consumed;
	bool is_inside; /* continues the line of the previous segment: has no prefix */
};

struct prefix_state {
	struct prefix_calls calls;
	void *user;
	pcre2_match_data *match; /* of the last match */
	int active;		 /* the kind that is stripped; -1: none */
	uint64_t name;		 /* hash of the name in that prefix */
	int first_rank;		 /* lowest rank in the log; its lines count as those of rank 0 */
	bool has_no_blank;	 /* no blank follows the colon of the prefix */
	uint64_t n_misses;
	uint64_t fitting;	/* kinds that all lines held back have */
	int rank;		/* of the prefix of the current line; -1: none */
	struct held_line *held; /* owned; MOST_HELD segments, NULL while n_held is 0 */
	size_t n_held, n_lines; /* segments; those that start a line */
};

void prefix_table_init(struct prefix_table *table, const struct prefix_calls *calls, void *user)
{
	struct prefix_state *t = xcalloc(1, sizeof(*t));

	load_kinds();
	t->calls = *calls;
	t->user = user;
	t->match = pcre2_match_data_create(8, NULL);
	if (t->match == NULL)
		abort();
	t->active = -1;
	*table = (struct prefix_table){ 0, true, false, t };
}

void prefix_table_release(struct prefix_table *table)
{
	struct prefix_state *t = table->state;

	if (t == NULL)
		return;
	for (size_t i = 0; i < t->n_held; i++)
		free(t->held[i].text);
	free(t->held);
	pcre2_match_data_free(t->match);
	free(t);
	table->state = NULL;
}

/* Return the length of the prefix of kind i; 0 if the text has none. */
static size_t match_kind(pcre2_match_data *match, size_t i, struct str text)
{
	if (text.len == 0 || (kinds_of[(unsigned char)text.p[0]] >> i & 1) == 0)
		return 0;
	bool jit =
		atomic_fetch_add_explicit(&kinds[i].n_tries, 1, memory_order_relaxed) >= LEAST_JIT;
	pcre2_code *code = atomic_load(&kinds[i].code[jit]);
	if (code == NULL)
		code = compile_kind(&kinds[i], jit);

	int rc =
		pcre2_match(code, (PCRE2_SPTR)text.p, text.len, 0, PCRE2_NO_UTF_CHECK, match, NULL);

	return rc < 0 ? 0 : pcre2_get_ovector_pointer(match)[1];
}

/* Return the text of a group of the last match; empty if the group is not set. */
static struct str group_text(pcre2_match_data *match, uint32_t group, struct str text)
{
	const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(match);

	if (group == 0 || ovector[(size_t)2 * group] == PCRE2_UNSET)
		return (struct str){ text.p, 0 };
	return str_between(text.p + ovector[(size_t)2 * group],
			   text.p + ovector[(size_t)2 * group + 1]);
}

static uint64_t hash_name(struct prefix_state *t, size_t i, struct str text)
{
	uint32_t group = kinds[i].word != 0 ? kinds[i].word : kinds[i].name;

	return str_hash(group_text(t->match, group, text));
}

/* Can the text have a sure prefix, judging by its first two bytes? */
static bool may_be_sure(struct str text)
{
	/* a number that is no date, "2026-03-14" or "14.03.2026" */
	if (text.len <= 8 || (str_is_digit(text.p[0]) && text.p[4] != '-' && text.p[5] != '.'))
		return false;
	uint16_t pair = pair_of((unsigned char)text.p[0], (unsigned char)text.p[1]);
	return (sure_pairs[pair / 8] >> pair % 8 & 1) != 0;
}

/* Strip a prefix of kind i; false if the text has none. */
static bool strip_kind(struct prefix_state *t, size_t i, struct prefix_line *line)
{
	struct str text = line->segment.text;
	bool is_inner = text.p != line->whole.p;
	const struct prefix_kind *kind = &kinds[i];
	bool may_match = !kind->is_sure || text.len <= 8 || may_be_sure(text);
	size_t n = may_match ? match_kind(t->match, i, text) : 0;
	double rank;
	bool has_zone = false;

	if (n == 0 || (!kind->is_sure && hash_name(t, i, text) != t->name))
		return false;
	if (kind->time != 0)
		line->wall_ms = line_prefix_time(group_text(t->match, kind->time, text),
						 &(size_t){ 0 }, &has_zone);
	/* Exchange the first rank and rank 0: readers use the rows of rank 0. */
	if (str_to_double(group_text(t->match, kind->rank, text), &rank))
		line->rank = is_inner		     ? (int)rank
			     : rank == t->first_rank ? 0
			     : rank == 0	     ? t->first_rank
						     : (int)rank;
	/* a blank after "[rank0]:" is part of the prefix or an indentation */
	line->is_indented = false;
	if (kind->blank != 0) {
		bool blank = group_text(t->match, kind->blank, text).len > 0;

		t->has_no_blank |= !is_inner && text.p[n - 1] != ' ' && text.len > n;
		line->is_indented = blank && t->has_no_blank;
		n -= line->is_indented && text.len > n && text.p[n] == ' ';
	}
	line->segment.text = str_skip(text, n);
	return true;
}

static uint64_t find_kinds(pcre2_match_data *match, struct str text, uint64_t mask)
{
	uint64_t found = 0;

	mask &= text.len > 0 ? kinds_of[(unsigned char)text.p[0]] : 0;
	for (; mask != 0; mask &= mask - 1)
		if (match_kind(match, (size_t)__builtin_ctzll(mask), text) > 0)
			found |= mask & -mask;
	return found;
}

size_t prefix_length(struct str text, int *rank)
{
	size_t n = 0;
	double number;

	load_kinds();
	if (!may_be_sure(text))
		return 0;
	pcre2_match_data *match = pcre2_match_data_create(8, NULL);
	if (match == NULL)
		abort();
	for (uint64_t left = sure_kinds & kinds_of[(unsigned char)text.p[0]]; n == 0 && left != 0;
	     left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);

		n = match_kind(match, i, text);
		if (n > 0 && str_to_double(group_text(match, kinds[i].rank, text), &number))
			*rank = (int)number;
	}
	pcre2_match_data_free(match);
	return n;
}

/* Strip a sure prefix of any kind; false if the text has none. */
static bool strip_sure(struct prefix_state *t, struct prefix_line *line, int *kind)
{
	uint64_t sure = may_be_sure(line->segment.text)
				? find_kinds(t->match, line->segment.text, sure_kinds)
				: 0;

	if (sure == 0)
		return false;
	*kind = __builtin_ctzll(sure);
	return strip_kind(t, (size_t)*kind, line);
}

/* Pass a segment on without its prefix, and without a sure prefix that follows it. A segment that
 * continues a line has no prefix, but gets the rank of its line. */
static void pass_line(struct prefix_state *t, const struct segment *segment, uint64_t consumed,
		      bool is_inside)
{
	struct prefix_line line = { *segment, segment->text, consumed, -1, false, 0 };
	int inner;

	if (is_inside) {
		line.rank = t->rank;
	} else if (t->active >= 0) {
		if (strip_kind(t, (size_t)t->active, &line)) {
			t->n_misses = 0;
			(void)strip_sure(t, &line, &inner);
		} else if (strip_sure(t, &line, &t->active)) {
			t->n_misses = 0;
		} else {
			const struct prefix_kind *kind = &kinds[t->active];
			bool is_simple = kind->is_sure && kind->rank == 0;

			if (++t->n_misses > (is_simple ? FEW_MISSES : MOST_MISSES))
				t->active = -1;
		}
	}
	t->rank = line.rank;
	t->calls.line(t->user, &line);
}

static void hold_line(struct prefix_state *t, const struct segment *segment, uint64_t consumed,
		      bool is_inside)
{
	if (t->held == NULL)
		t->held = xcalloc(MOST_HELD, sizeof(*t->held));
	char *text = xstrndup(segment->text.p, segment->text.len);
	struct held_line *held = &t->held[t->n_held++];
	*held = (struct held_line){ text, *segment, consumed, is_inside };
	held->segment.text.p = text;
	t->n_lines += !is_inside;
}

static bool starts_with_number(struct str text)
{
	bool is_date = text.len > 10 && text.p[4] == '-' && text.p[7] == '-';

	while (text.len > 0 && (text.p[0] == '[' || text.p[0] == ' ')) /* "Epoch: [ 10/100]" */
		text = str_skip(text, 1);
	return !is_date && text.len > 0 &&
	       (str_is_digit(text.p[0]) ||
		(text.len > 1 && text.p[0] == '-' && str_is_digit(text.p[1])));
}

/* Is kind i a prefix of the lines held back? It is not if it contains a figure's name or a word of
 * an evaluation, if it is the first cell of a table, if its name differs between lines, if its
 * number only rises, or if a rule matches most of the lines unchanged. */
static bool is_prefix(struct prefix_state *t, size_t i)
{
	uint32_t count = kinds[i].rank != 0 ? kinds[i].rank : kinds[i].count;
	size_t n_numbers = 0, n_bare = 0, n_known = 0, n_falls = 0, n_rises = 0;
	struct str name = { NULL, 0 };
	double number, before = 0;
	bool is_table = true; /* of cells between tabs */

	for (size_t k = 0; k < t->n_held; k++) {
		struct str text = t->held[k].segment.text;
		size_t n = t->held[k].is_inside ? 0 : match_kind(t->match, i, text);

		if (n == 0)
			continue;
		struct str here = group_text(
			t->match, kinds[i].word != 0 ? kinds[i].word : kinds[i].name, text);

		if (k > 0 && !str_eq(name, here))
			return false;
		t->name = hash_name(t, i, text);
		name = here;
		is_table = is_table && text.p[n - 1] == '\t' &&
			   memchr(text.p + n, '\t', text.len - n) != NULL;
		if (str_to_double(group_text(t->match, count, text), &number)) {
			n_rises += k > 0 && number > before;
			n_falls += k > 0 && number < before;
			before = number;
		}
		n_numbers += starts_with_number(str_skip(text, n));
		n_bare += starts_with_number(str_skip(text, n)) &&
			  !any_of(c, text.len - n, isalpha((unsigned char)text.p[n + c]));
		n_known += t->calls.is_known(t->user, text, false);
	}
	struct pair pairs[PAIRS_MAX];
	size_t n_pairs = pairs_read(name, pairs);
	double scale;
	if (is_table || any_of(p, n_pairs, meaning_of(&pairs[p], &scale) != METRIC_COUNT) ||
	    pairs_is_evaluation(name) || n_known * 2 > t->n_lines || n_bare * 2 > t->n_lines ||
	    (n_rises > 0 && n_falls == 0) ||
	    str_is_like(name, "wandb warning info error debug note"))
		return false;
	/* the word may name a figure or a part of the training, not a program */
	struct pair pair = { .name = name, .value = 1 };
	bool has_lower = any_of(k, name.len, name.p[k] >= 'a' && name.p[k] <= 'z');
	bool has_sign = any_of(k, name.len, str_is_digit(name.p[k]) || name.p[k] == '-');
	return n_numbers * 2 <= t->n_lines || kinds[i].word == 0 ||
	       ((!has_lower || has_sign) && meaning_of(&pair, &scale) == METRIC_COUNT);
}

/* Find the lowest rank in the prefixes of kind i of the lines held back. */
static int lowest_rank(struct prefix_state *t, size_t i)
{
	double rank, lowest = kinds[i].rank == 0 || t->n_held == 0 ? 0 : INT_MAX;

	for (size_t k = 0; k < t->n_held; k++) {
		struct str text = t->held[k].segment.text;

		if (!t->held[k].is_inside && match_kind(t->match, i, text) > 0 &&
		    str_to_double(group_text(t->match, kinds[i].rank, text), &rank))
			lowest = fmin(lowest, rank);
	}
	return lowest < INT_MAX ? (int)lowest : 0;
}

/* Decide on the prefix of the lines held back. `enough`: they are enough to show that a prefix is
 * consistent. `is_alone`: their lowest rank is the first rank of the log. */
static void decide(struct prefix_state *t, bool enough, bool is_alone)
{
	for (size_t i = 0; i < n_kinds && t->active < 0; i++)
		if ((t->fitting >> i & 1) != 0 && (kinds[i].is_sure || (enough && is_prefix(t, i))))
			t->active = (int)i;
	if (t->active >= 0 && is_alone)
		t->first_rank = lowest_rank(t, (size_t)t->active);
	for (size_t i = 0; i < t->n_held; i++) {
		struct held_line *held = &t->held[i];

		pass_line(t, &held->segment, held->consumed, held->is_inside);
		free(held->text);
	}
	free(t->held);
	t->held = NULL;
	t->n_held = t->n_lines = 0;
	t->fitting = 0;
}

/* Can the text have a prefix that is not sure? Such a prefix ends with ":", "]", "|" or, after a
 * tab, a time; or it consists of the names of a pod, with "-" and a digit, and of a container. */
static bool may_have_prefix(struct str text)
{
	size_t most = text.len < 48 ? text.len : 48, i = 0;

	while (i < most && text.p[i] == ' ')
		i++;
	if (i == most || (i > 0 && !str_is_digit(text.p[i])))
		return false;
	while (i < most && text.p[i] != ' ' && text.p[i] != '\t' && text.p[i] != ']')
		i++;
	return i < text.len ? text.p[i] != ' ' || text.p[i - 1] == ':' ||
				      memchr(text.p, '|', most) != NULL ||
				      memchr(text.p + 1, '-', i) != NULL
			    : i > 0 && text.p[i - 1] == ':';
}

/* Find the kinds of prefix that the text may have; 0: none, or a sure one that is now in use. */
static uint64_t find_candidates(struct prefix_state *t, struct str text, bool is_first)
{
	uint64_t found = may_be_sure(text) ? find_kinds(t->match, text, sure_kinds) : 0;

	if (found != 0) {
		size_t i = (size_t)__builtin_ctzll(found);
		double rank;

		/* a log may have only the lines of one rank: hold them back */
		(void)match_kind(t->match, i, text);
		if (!is_first || !str_to_double(group_text(t->match, kinds[i].rank, text), &rank) ||
		    rank == 0) {
			decide(t, false, false);
			t->active = (int)i;
			return 0;
		}
	} else if (is_first && may_have_prefix(text)) {
		found = find_kinds(t->match, text, ~sure_kinds);
	}
	if (t->n_held == 0)
		return found;
	if ((found & t->fitting) != 0)
		return found & t->fitting;
	decide(t, false, false);
	return t->active < 0 ? found : 0;
}

/* Process a segment that starts a line; false if it has no prefix. */
static bool strip_line(struct prefix_state *t, uint64_t n_lines, const struct segment *segment,
		       uint64_t consumed)
{
	if (t->active >= 0) {
		pass_line(t, segment, consumed, false);
		return true;
	}
	t->fitting =
		find_candidates(t, segment->text, t->n_held > 0 || n_lines <= PREFIX_FIRST_LINES);
	if (t->active >= 0)
		pass_line(t, segment, consumed, false);
	if (t->active >= 0 || t->fitting == 0)
		return t->active >= 0;
	if (t->n_held == 0 && t->calls.is_known(t->user, segment->text, true)) {
		t->fitting = 0;
		return false;
	}
	hold_line(t, segment, consumed, false);
	if (t->n_held == MOST_HELD ||
	    (t->n_lines >= LEAST_HELD && t->n_lines >= n_lines - t->n_lines))
		decide(t, t->n_lines >= LEAST_LINES, true);
	return true;
}

bool prefix_table_strip(struct prefix_table *table, const struct segment *segment,
			uint64_t consumed)
{
	struct prefix_state *t = table->state;
	bool is_inside = table->inside, is_stripped = is_inside;

	table->inside = !segment->ends_line;
	if (is_inside && t->n_held > 0) {
		hold_line(t, segment, consumed, true);
		if (t->n_held == MOST_HELD)
			decide(t, t->n_lines >= LEAST_LINES, true);
	} else if (is_inside && t->active >= 0) {
		pass_line(t, segment, consumed, true);
	} else if (is_inside) {
		is_stripped = false;
	} else {
		table->n_lines++;
		is_stripped = strip_line(t, table->n_lines, segment, consumed);
	}
	table->is_idle = t->active < 0 && t->n_held == 0;
	return is_stripped;
}

void prefix_table_finish(struct prefix_table *table)
{
	struct prefix_state *t = table->state;

	bool is_alone = table->n_lines == t->n_lines;

	decide(t, is_alone && t->n_lines >= LEAST_LINES, is_alone);
}
