/* SPDX-License-Identifier: MIT */
/* Read the names and numbers of a line in one pass. Separators divide a line into items. An item
 * has words and numbers: words before a number name it, or else the words after it do. */
#include "parsers/pairs.h"

#include <math.h>

#include "parsers/meaning.h"

/* More words than this are prose. A name that ends with ":" or "=" can be longer. */
#define MOST_NAME_WORDS	 7
#define MOST_PLAIN_WORDS 3
/* Words with more blanks between them are in different columns. */
#define MOST_GAP 3
/* Most words of a line that do not name a number. */
#define MOST_HEADING_WORDS 8
#define MOST_UNIT_BYTES	   20
/* Longest parenthesis or quoted text. */
#define MOST_ASIDE_BYTES 64

#define NO_TOTAL ((double)NAN)
#define NO_UNIT	 ((struct str){ NULL, 0 })

struct pairs_reader {
	const char *p, *start, *end;
	struct pair *pairs;
	size_t n;
	/* The words that may name the next number; no punctuation and no large gap divides them. */
	struct str name;
	struct str name_unit;	 /* "ms" of "time (ms): 12" */
	struct str pending_name; /* "loss" of "loss at step 5: 2.1"; len 0: none */
	size_t n_words, n_heading;
	bool is_assigned;  /* ":" or "=" follows the name */
	bool is_answer;	   /* the words are the value of a name: "phase: train" .. */
	bool evaluates;	   /* .. and that name belongs to an evaluation */
	bool has_prose;	   /* a word like "from" is among them */
	bool after_number; /* only blanks since the last number */
	bool in_braces;
	size_t item; /* the first pair of this item */
	struct pairs_line *about;
	struct pair_slot *slots; /* NULL: not wanted */
	size_t n_slots;
	bool has_slots; /* all numbers read have a slot */
};

static bool is_letter(char c)
{
	return (str_is_word(c) && !str_is_digit(c)) || (c & 0x80) != 0;
}

/* Return the byte at p; NUL, which no line contains, at and after the end. */
static char byte_at(const struct pairs_reader *r, const char *p)
{
	return p < r->end ? *p : '\0';
}

static const char *skip_blanks(const struct pairs_reader *r, const char *p)
{
	while (p < r->end && str_is_blank(*p))
		p++;
	return p;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && str_is_digit(*p))
		p++;
	return p;
}

/* Find the closing character c within MOST_ASIDE_BYTES of p; NULL: not found. */
static const char *find_close(const char *p, const char *end, char c)
{
	size_t n = (size_t)(end - p);

	return memchr(p, c, n < MOST_ASIDE_BYTES ? n : MOST_ASIDE_BYTES);
}

bool pairs_is_evaluation(struct str word)
{
	return word.len >= 3 && strchr("vVeEdDtTiIpPsS", word.p[0]) != NULL &&
	       str_is_like(word, "val valid validation validating validate eval evaluation "
				 "evaluating evaluate dev test testing inference predicting sanity "
				 "predict");
}

bool pairs_is_split(struct str name, struct str value)
{
	struct str first = value;

	first.len = index_of(i, value.len, value.p[i] == '/');
	return (pairs_is_evaluation(first) || str_is_like(first, "training_eval inference_eval")) &&
	       str_is_like(name, "split phase mode stage subset partition event type kind "
				 "collection");
}

/* Is this a unit that may follow a number after a blank: "3657.33 ms"? */
static bool is_unit(struct str word)
{
	static const char units[] =
		"ms s sec secs seconds min mins minutes h hours us "
		"tok/s tok/sec tokens/s tokens/sec toks/s tokens/second "
		"wps it/s s/it it/sec sec/it ms/step s/step ms/it steps/s "
		"s/iter sec/iter ms/iter steps/sec step/s samples/s "
		"samples/sec img/s images/s images/sec ex/s TFLOPs TFLOP/s TFLOPS "
		"GB GiB MB MiB KB KiB W bpb bpc nats bits";

	return word.len <= 13 && str_is_like(word, units);
}

static void forget_words(struct pairs_reader *r)
{
	r->n_words = 0;
	r->is_assigned = r->is_answer = r->evaluates = r->has_prose = false;
	r->name_unit = NO_UNIT;
}

static struct str first_word(struct str s)
{
	size_t len = index_of(n, s.len, str_is_blank(s.p[n]));

	return (struct str){ s.p, len };
}

/* Add the words to the heading, which names the subject of the line; false: too many words. */
static bool read_heading(struct pairs_reader *r)
{
	r->n_heading += r->n_words;
	r->about->words = r->about->words * 31 + str_hash(r->name);
	r->about->evaluates = r->about->evaluates || pairs_is_evaluation(first_word(r->name));
	return r->n_heading <= MOST_HEADING_WORDS;
}

/* Use words that no number follows, as a name, a unit or a heading; false: they are prose. */
static bool use_words(struct pairs_reader *r)
{
	struct pair *last = r->n > 0 ? &r->pairs[r->n - 1] : NULL;
	struct str words = r->name;

	if (r->is_assigned || (r->is_answer && r->n_words <= MOST_PLAIN_WORDS))
		return true; /* "val: n/a" */
	if (r->has_prose || r->n_words > MOST_PLAIN_WORDS)
		return false;
	if (r->n == r->item)
		return read_heading(r);
	if (r->n == r->item + 1 && last->name.len == 0) {
		last->name = words;
		return true;
	}
	if (str_is_like(words, "train training") || pairs_is_evaluation(words))
		return read_heading(r);
	if (r->n_words > 1 || last->unit.len > 0 || words.len > MOST_UNIT_BYTES ||
	    any_of(i, words.len, !is_letter(words.p[i]) && words.p[i] != '/'))
		return false;
	last->unit = words;
	return true;
}

static bool end_item(struct pairs_reader *r)
{
	bool good = r->n_words == 0 || use_words(r);

	forget_words(r);
	r->item = r->n;
	r->after_number = false;
	return good;
}

static void add_slot(struct pairs_reader *r, enum pair_slot_kind kind, const char *from,
		     const char *to)
{
	if (r->slots == NULL)
		return;
	if (r->n_slots == PAIR_SLOTS_MAX)
		r->has_slots = false;
	else
		r->slots[r->n_slots++] = (struct pair_slot){ str_between(from, to), r->n, kind };
}

/* Is the word the name of a run ("exp7", "gpt2-small"), and not of a phase ("eval_1")? */
static bool is_run_name(struct str word)
{
	size_t n = index_of(i, word.len, !is_letter(word.p[i]) || word.p[i] == '_');
	struct str part = { word.p, n };

	return n > 1 && n < word.len && !pairs_is_evaluation(part) &&
	       !str_is_like(part,
			    "warm warmup train training pre global total num optim epoch ep "
			    "phase stage fold rank gpu cuda worker node device proc layer part "
			    "chunk batch iter");
}

/* Keep only the last word as the name in "End of epoch 3", "val step 5" and "exp7 step 5". */
static void find_counter_word(struct pairs_reader *r)
{
	struct str first = first_word(r->name);
	bool evaluates = r->n_words == 2 && pairs_is_evaluation(first);
	bool is_named = r->n_words == 2 && r->n == 0 && is_run_name(first);
	struct str word = r->name;

	if ((!evaluates && !is_named && (!r->has_prose || r->is_assigned)) ||
	    r->n_words > MOST_PLAIN_WORDS + 1)
		return;
	for (size_t i = 0; i < r->name.len; i++)
		if (str_is_blank(r->name.p[i]))
			word = str_between(r->name.p + i + 1, r->name.p + r->name.len);
	if (!str_is_like(word, "epoch step iteration iter"))
		return;
	if (is_named)
		r->about->run = str_hash(first);
	r->n_heading += r->n_words - 1;
	r->about->words = r->about->words * 31 + str_hash(r->name);
	r->evaluates = r->evaluates || evaluates;
	r->name = word;
	r->n_words = 1;
	r->has_prose = false;
}

static bool add_pair(struct pairs_reader *r, double value, double total, struct str unit)
{
	find_counter_word(r);
	if (r->n_words > 0 && (r->is_assigned ? r->n_words > MOST_NAME_WORDS
					      : r->has_prose || r->n_words > MOST_PLAIN_WORDS))
		return false;
	if (r->n == PAIRS_MAX)
		return false;
	struct pair *pair = &r->pairs[r->n++];
	pair->name = r->n_words > 0 ? r->name : (struct str){ NULL, 0 };
	pair->unit = unit.len > 0 ? unit : r->name_unit;
	pair->value = value;
	pair->total = total;
	r->about->evaluates = r->about->evaluates || r->evaluates;
	if (pair->name.len == 0)
		r->item = r->n - 1; /* the next words may name it */
	forget_words(r);
	r->after_number = true;
	return true;
}

/* Skip a value that is not a number, up to `after`; its name gives no pair. */
static bool skip_value(struct pairs_reader *r, const char *after)
{
	if (!r->is_assigned)
		return false;
	forget_words(r);
	r->after_number = false;
	r->p = after;
	return true;
}

static const char *token_end(const struct pairs_reader *r, const char *p)
{
	while (p < r->end && !str_is_blank(*p) && strchr(",;|)]}'\"", *p) == NULL)
		p++;
	return p;
}

/* Read digits, groups of three digits and a fraction. */
static const char *read_decimal(const char *p, const char *end, double *value)
{
	const char *q = str_take_decimal(p, end, true, value), *e;
	double fraction;

	if (q == p) /* more digits than str_take_decimal takes */
		while (q < end && (str_is_digit(*q) || *q == '.'))
			q++;
	if (q == p || q - p > 3 || q == end || *q != ',' || q[-1] == '.')
		return q;
	while (end - q >= 4 && *q == ',' && skip_digits(q + 1, end) == q + 4) { /* "1,234,567" */
		*value = *value * 1000 + (q[1] - '0') * 100 + (q[2] - '0') * 10 + (q[3] - '0');
		q += 4;
	}
	if (end - q < 2 || *q != '.' || !str_is_digit(q[1]))
		return q;
	e = str_take_decimal(q, end, true, &fraction);
	*value += e != q ? fraction : 0;
	return e;
}

const char *pairs_rare_number(const char *p, const char *end, double *value)
{
	const char *digits = p + (*p == '-' || *p == '+'), *mantissa, *q, *e;

	*value = (double)NAN; /* unchanged if there are too many digits */
	mantissa = q = read_decimal(digits, end, value);
	if (mantissa == digits)
		return p;
	if (q < end && (*q == 'e' || *q == 'E')) {
		e = q + 1;
		e += e < end && (*e == '-' || *e == '+');
		if (skip_digits(e, end) != e)
			q = skip_digits(e, end);
	}
	if (q == mantissa && !isnan(*value)) {
		*value = *p == '-' ? -*value : *value;
		return q;
	}
	return str_to_double(str_between(p, q), value) ? q : p;
}

const char *pairs_time(const char *p, const char *end, double *seconds)
{
	const char *q = skip_digits(p, end);
	double parts[3] = { 0, 0, 0 };
	size_t n = 0;

	if (q - p > 3 || end - q < 2 || *q != ':' || !str_is_digit(q[1]))
		return p;
	for (q = p; n < 3; q++) {
		const char *e = str_take_decimal(q, end, n == 2, &parts[n]);

		if (e == q || (n > 0 && e - q < 2))
			return p;
		n++;
		q = e;
		if (q == end || *q != ':')
			break;
	}
	if (n == 3 && end - q >= 4 && *q == ',' && skip_digits(q + 1, end) == q + 4)
		q += 4; /* "12:00:05,123" */
	*seconds = n == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : (double)NAN;
	return q;
}

/* Read a time: the value of a name, a part of a bar, or a time stamp before the row. */
static bool read_time(struct pairs_reader *r, const char *after, double seconds)
{
	bool is_elapsed = byte_at(r, after) == '<'; /* "[00:10<00:12, .." */
	const char *start = r->p;

	r->about->is_bar = r->about->is_bar || is_elapsed;
	if (r->about->is_bar && r->n_words == 0 && (is_elapsed || !r->after_number))
		add_slot(r, SLOT_TIME, start, after);
	r->p = after + is_elapsed;
	if (!is_elapsed && r->after_number && isfinite(seconds) && r->n == 1 &&
	    r->pairs[0].name.len == 0) {
		r->item = --r->n; /* "01/02 12:00:00": that number was the date */
		r->has_slots = false;
	}
	r->after_number = false;
	if (!is_elapsed && r->n_words > 0 && isfinite(seconds)) {
		add_slot(r, SLOT_CLOCK, start, after);
		return add_pair(r, seconds, NO_TOTAL, STR_LIT("s"));
	}
	if (r->n_words > 0 ? !r->is_assigned : r->n > 0 && !r->about->is_bar && isnan(seconds))
		return false;
	forget_words(r);
	return true;
}

/* Read the "/ 19560" that may follow a number; returns its end, or p. */
static const char *read_total(const struct pairs_reader *r, const char *p, double *total)
{
	const char *slash = skip_blanks(r, p), *q, *end;

	if (byte_at(r, slash) != '/')
		return p;
	q = skip_blanks(r, slash + 1);
	if (!str_is_digit(byte_at(r, q)) || (slash > p && q == slash + 1))
		return p;
	end = pairs_number(q, r->end, total);
	if (*total != floor(*total) || byte_at(r, end) == '/' || is_letter(byte_at(r, end)))
		*total = NO_TOTAL; /* also in "200/2.00k" */
	return end;
}

/* Read "10k/100k" at start, whose first number ends at p; returns its end, or p. "1.20k/2.00k" in a
 * bar is rounded: neither number is exact. */
static const char *read_thousands(const struct pairs_reader *r, const char *start, const char *p,
				  double *value, double *total)
{
	bool is_scaled = (byte_at(r, p) | 0x20) == 'k';
	const char *slash = p + is_scaled;

	if (byte_at(r, slash) != '/' || !str_is_digit(byte_at(r, slash + 1)))
		return p;
	const char *q = pairs_number(slash + 1, r->end, total);
	if ((byte_at(r, q) | 0x20) != 'k' || is_letter(byte_at(r, q + 1)) ||
	    memchr(start, '.', (size_t)(q - start)) != NULL) {
		*total = NO_TOTAL;
		return p;
	}
	*total *= 1000;
	*value *= is_scaled ? 1000 : 1;
	return q + 1;
}

/* Is the plus-minus sign of "2.5+-0.1" at p? */
static bool is_plus_minus(const struct pairs_reader *r, const char *p)
{
	return *p == '\xc2' && byte_at(r, p + 1) == '\xb1';
}

/* Return the end of the letters of a unit at p; p if there are none. */
static const char *unit_end(const struct pairs_reader *r, const char *p)
{
	const char *q = p;

	while (q < r->end && !is_plus_minus(r, q) &&
	       ((is_letter(*q) && *q != '_') || *q == '%' ||
		(*q == '/' && is_letter(byte_at(r, q + 1)))))
		q++;
	return q;
}

/* tqdm's bar is the "|###  |" of " 45%|###  | 45/99"; Keras's bar is "[==>...]". */
const char *pairs_bar(const char *p, const char *end)
{
	bool is_keras = *p == '[';
	size_t n = (size_t)(end - p - 1);

	if (!is_keras && *p != '|')
		return p;
	if (is_keras && n > MOST_ASIDE_BYTES - 1)
		n = MOST_ASIDE_BYTES - 1;
	const char *close = memchr(p + 1, is_keras ? ']' : '|', n);
	if (close == NULL ||
	    (is_keras && (close - p <= 4 || !str_has_only(str_between(p + 1, close), "=>.-# "))))
		return p;
	return close + 1;
}

static bool skip_bar(struct pairs_reader *r)
{
	const char *after = pairs_bar(r->p, r->end);

	if (after == r->p)
		return false;
	add_slot(r, SLOT_BAR, r->p, after);
	r->p = after;
	r->about->is_bar = true;
	return true;
}

/* Return the end of a date "2026-11-20" or "11/20/2026" at p; NULL: no date. */
static const char *date_end(const struct pairs_reader *r, const char *p)
{
	char separator = '\0';

	for (int i = 0; i < 3; i++) {
		const char *q = skip_digits(p, r->end);

		if (q - p != 2 && q - p != 4)
			return NULL;
		if (i == 0)
			separator = byte_at(r, q);
		if (i == 2)
			return q;
		if ((separator != '-' && separator != '/') || byte_at(r, q) != separator)
			return NULL;
		p = q + 1;
	}
	return NULL;
}

/* Skip a date: it is printed before the row, or it is the value of a name. */
static bool skip_date(struct pairs_reader *r, const char *after)
{
	if (byte_at(r, after) == 'T' && str_is_digit(byte_at(r, after + 1)))
		after++;
	if (r->is_assigned)
		return skip_value(r, after);
	if (r->n > 0 && r->n_words > 0)
		return false;
	r->p = after;
	return end_item(r); /* "DLL 2020-05-20 .." */
}

static bool read_number(struct pairs_reader *r)
{
	double value = 0, total = NO_TOTAL, size;
	const char *start = r->p, *q = pairs_time(start, r->end, &value), *unit;
	const char *after = date_end(r, start);

	if (after != NULL)
		return skip_date(r, after);
	if (q != start)
		return read_time(r, q, value);
	q = pairs_number(start, r->end, &value);
	if (q == start)
		return skip_value(r, token_end(r, start));
	after = read_thousands(r, start, q, &value, &total);
	if (after != q) {
		r->p = after;
		r->has_slots = false;
		return add_pair(r, value, total, NO_UNIT);
	}
	unit = after;
	if (value >= 0)
		q = unit = read_total(r, q, &total);
	if (value != floor(value)) /* "485.20/513" */
		total = NO_TOTAL;
	q = unit_end(r, q);
	if (r->n_words == 0 && str_eq_cstr(str_between(unit, q), "epoch")) {
		r->name = str_between(unit, q); /* "3epoch:train: .." */
		r->n_words = 1;
		r->p = q;
		add_slot(r, SLOT_VALUE, start, after);
		return add_pair(r, value, total, NO_UNIT);
	}
	/* a number without a blank before its unit: "5ms", "2.1k", "820.5/s", "9%", not "5aeb" */
	struct str letters = str_between(unit, q);
	bool is_joined = letters.len <= 2 || *unit == '%' || is_unit(letters) ||
			 (letters.len <= MOST_UNIT_BYTES && memchr(unit, '/', letters.len) != NULL);
	if (!is_joined || str_is_digit(byte_at(r, q)) ||
	    (byte_at(r, q) != '\0' && strchr("_-+.\\@#:=<>*", *q) != NULL &&
	     !str_is_blank(byte_at(r, q + 1)) && q + 1 < r->end))
		return skip_value(r, token_end(r, start));
	r->p = q;
	r->about->is_bar |= str_eq_cstr(str_between(unit, q), "it");
	add_slot(r, SLOT_VALUE, start, after);
	if (unit != after)
		add_slot(r, SLOT_TOTAL, after, unit);
	if (byte_at(r, q) == '|' && q[-1] == '%')
		(void)skip_bar(r);
	r->has_slots = r->has_slots && (unit == after || !isnan(total));
	const char *whole = skip_blanks(r, q + (byte_at(r, q) == '/'));
	if (q > unit && byte_at(r, q) == '/' && str_is_digit(byte_at(r, whole)) &&
	    unit_end(r, pairs_number(whole, r->end, &size)) == token_end(r, whole)) {
		r->p = token_end(r, whole); /* "417.9M/ 210.0B": a size and its total */
		r->has_slots = false;
	}
	return add_pair(r, value, total, str_between(unit, q));
}

static bool is_nan_or_inf(struct str word, double *value)
{
	return strchr("nNiI", word.p[0]) != NULL && str_is_like(word, "nan inf infinity") &&
	       str_to_double(word, value);
}

/* Return the length of the symbol or emoji at p (U+2000 to U+2BFF, U+1F000 and above), or 0. */
static size_t symbol_bytes(const struct pairs_reader *r, const char *p)
{
	size_t left = (size_t)(r->end - p);

	if (left >= 3 && *p == '\xe2' && (unsigned char)p[1] <= 0xaf)
		return 3;
	if (left >= 4 && *p == '\xf0' && p[1] == '\x9f')
		return 4;
	return left >= 3 && *p == '\xef' && p[1] == '\xb8' ? 3 : 0;
}

static const char *word_end(const struct pairs_reader *r, const char *p)
{
	for (; p < r->end; p++) {
		if (str_is_word(*p) || ((*p & 0x80) != 0 && symbol_bytes(r, p) == 0))
			continue;
		char next = byte_at(r, p + 1);
		if (*p == '\'' && next == 's' && str_is_blank(byte_at(r, p + 2)))
			continue; /* "valid_0's binary_logloss" */
		if (*p == '\0' || strchr("/.-@^", *p) == NULL ||
		    !(is_letter(next) || str_is_digit(next)))
			break;
	}
	return p;
}

/* Add a word to the words that may name a number. */
static bool add_word(struct pairs_reader *r, struct str word)
{
	if (r->is_assigned) { /* "phase: train", "Validation: loss 3.5" */
		bool evaluates = pairs_is_evaluation(r->name);

		r->about->evaluates = r->about->evaluates || pairs_is_split(r->name, word);
		if (++r->n_heading > MOST_HEADING_WORDS)
			return false;
		forget_words(r);
		r->is_answer = true;
		r->evaluates = evaluates;
	}
	if (r->n_words > 0 && word.p - (r->name.p + r->name.len) > MOST_GAP && !end_item(r))
		return false;
	if (r->n_words++ == 0)
		r->name = word;
	r->name.len = (size_t)(word.p + word.len - r->name.p);
	/* After a word of sentences, the words are a name only if ":" or "=" follows them. */
	r->has_prose |= word.len <= 4 && strchr("aAbBfFiIoOtTwWnN", word.p[0]) != NULL &&
			str_is_like(word, "a an and are as by for from in is of on or than that "
					  "the to was not with this will it's");
	r->after_number = false;
	return true;
}

static bool starts_number(const struct pairs_reader *r, const char *p)
{
	char c = byte_at(r, p), next = byte_at(r, p + 1);

	if (str_is_digit(c))
		return true;
	if (c == '.')
		return str_is_digit(next);
	return (c == '-' || c == '+') &&
	       (str_is_digit(next) || (next == '.' && str_is_digit(byte_at(r, p + 2))));
}

/* Read the number in "tensor(2.31, device='cuda:0')" or "np.float64(2.31)". */
static bool read_wrapped(struct pairs_reader *r, struct str word)
{
	const char *from = word.p + word.len + 1, *to = from, *close;
	double value;

	if (!r->is_assigned || byte_at(r, from - 1) != '(' || from >= r->end ||
	    !str_is_among(word, "tensor Array array np.float32 np.float64 numpy.float32 "
				"numpy.float64 np.int64"))
		return false;
	to = pairs_number(from, r->end, &value);
	if (to == from) {
		to = word_end(r, from);
		if (to == from || !is_nan_or_inf(str_between(from, to), &value))
			return false;
		r->has_slots = false;
	}
	close = find_close(to, r->end, ')');
	if (close == NULL || (*to != ',' && *to != ')'))
		return false;
	add_slot(r, SLOT_VALUE, from, to);
	r->p = close + 1;
	return add_pair(r, value, NO_TOTAL, NO_UNIT);
}

/* Is the number a loss or a setting, which has no unit? */
static bool is_unitless(const struct pair *pair)
{
	double scale;
	enum metric metric = meaning_of(pair, &scale);

	return metric == METRIC_TRAIN_LOSS || metric == METRIC_VAL_LOSS ||
	       meaning_is_setting(pair->name);
}

/* Skip a word that belongs to the number before it: "out", "of 10", an error "+-0.1" or a unit. */
static bool skip_after_number(struct pairs_reader *r, struct str word)
{
	struct pair *last = &r->pairs[r->n - 1];
	const char *after = word.p + word.len, *q = skip_blanks(r, after);
	char next = byte_at(r, q);
	double error;

	r->p = after;
	if (str_eq_cstr(word, "out") || (str_eq_cstr(word, "in") && starts_number(r, q)))
		return true; /* "Epoch 3 in 12.3 sec" */
	if (str_eq_cstr(word, "of") && str_is_digit(next) && last->unit.len == 0) {
		r->p = pairs_number(q, r->end, &last->total);
		return true;
	}
	if (is_plus_minus(r, word.p) && starts_number(r, skip_blanks(r, word.p + 2))) {
		r->p = pairs_number(skip_blanks(r, word.p + 2), r->end, &error);
		r->p += byte_at(r, r->p) == '%';
		r->has_slots = false;
		return true;
	}
	/* in "10/100 bpb 1.2" and "lr 3e-4 tok/s 812" the unit is the name of the next number */
	if (next == ':' || next == '=' || !is_unit(word) ||
	    (starts_number(r, q) && word.len > 1 && (isfinite(last->total) || is_unitless(last))))
		return false;
	if (last->unit.len == 0)
		last->unit = word;
	else if (str_is_among(last->unit, "k K M")) /* "12.5K tok/s" */
		last->unit = str_between(last->unit.p, after);
	else
		return false;
	return true;
}

static bool read_word(struct pairs_reader *r)
{
	const char *end = word_end(r, r->p);
	struct str word = str_between(r->p, end);
	bool has_name = r->n_words > 0, is_good;
	double value;

	if (!has_name && r->n > 0 && str_eq_cstr(word, "in") &&
	    starts_number(r, skip_blanks(r, end))) {
		r->p = end; /* "loss: 3.5, in 0.032s" */
		return true;
	}
	if (read_wrapped(r, word) || (r->after_number && skip_after_number(r, word)))
		return true;
	r->p = end;
	if (has_name && (r->is_assigned || !r->has_prose) && is_nan_or_inf(word, &value))
		return add_pair(r, value, NO_TOTAL, NO_UNIT);
	if (r->is_assigned && str_is_among(word, "None none null n/a N/A"))
		return skip_value(r, end);
	if (!has_name || r->is_assigned)
		return add_word(r, word);
	if (str_eq_cstr(word, "is") && starts_number(r, skip_blanks(r, end))) {
		r->is_assigned = true; /* "loss is 2.5" */
		return true;
	}
	if (!str_eq_cstr(word, "at") && !str_eq_cstr(word, "after"))
		return add_word(r, word);
	is_good = read_heading(r); /* "val loss at step 10 | .." */
	r->pending_name = r->name;
	forget_words(r);
	return is_good;
}

/* Read a quoted text: before ":" it is a name, elsewhere the value of a name. */
static bool read_quoted(struct pairs_reader *r)
{
	const char *start = r->p + 1, *end = find_close(start, r->end, *r->p), *q;
	double value = (double)NAN, total = NO_TOTAL;
	bool is_time = false;

	if (end == NULL)
		return false;
	if (byte_at(r, skip_blanks(r, end + 1)) == ':' && !r->is_assigned) {
		r->p = end + 1;
		if (r->n_words > 0 || end == start ||
		    any_of(i, end - start, (unsigned char)start[i] < ' '))
			return false;
		r->name = str_between(start, end);
		r->n_words = 1;
		return true;
	}
	if (!r->is_assigned)
		return false;
	r->about->evaluates =
		r->about->evaluates || pairs_is_split(r->name, str_between(start, end));
	if (start == end || (!str_is_digit(*start) && *start != '-'))
		return skip_value(r, end + 1);
	q = pairs_number(start, r->end, &value); /* "5" or "5/1000" */
	if (value == floor(value))
		q = read_total(r, q, &total);
	if (q != end) {
		is_time = pairs_time(start, r->end, &value) == end && isfinite(value);
		if (!is_time)
			return skip_value(r, end + 1);
	}
	r->p = end + 1;
	return add_pair(r, value, total, is_time ? STR_LIT("s") : NO_UNIT);
}

const char *pairs_aside(const char *p, const char *end)
{
	const char *close = p < end && *p == '(' ? find_close(p, end, ')') : NULL;

	if (close == NULL || memchr(p, ':', (size_t)(close - p)) != NULL ||
	    memchr(p, '=', (size_t)(close - p)) != NULL)
		return p;
	return close + 1;
}

/* Read a parenthesis: "(5.80)" and "( 8%)" after a number are asides, "(ms)" is a unit. */
static bool read_parenthesis(struct pairs_reader *r)
{
	const char *close = find_close(r->p, r->end, ')');

	if (close == NULL)
		return false;
	if (r->is_assigned)
		return skip_value(r, close + 1);
	struct str inside = str_between(r->p + 1, close);
	bool is_counter = str_has_digit(inside) &&
			  str_is_like(first_word(inside), "step iter iteration epoch batch");
	char after = byte_at(r, close + 1);
	/* "Ep 1 (Step 000100): loss 3.5", "Train metrics (step 10) - loss: 3.5" */
	if (is_counter && (r->after_number || (after != ':' && after != '='))) {
		r->p++;
		return end_item(r);
	}
	if (r->after_number && pairs_aside(r->p, r->end) != r->p) {
		add_slot(r, SLOT_ASIDE, r->p, close + 1);
		r->p = close + 1;
		return true;
	}
	if (r->n_words == 0) {
		r->p++;
		return end_item(r);
	}
	char next = byte_at(r, close + 1);
	if (str_has_digit(inside) && inside.len <= MOST_UNIT_BYTES &&
	    (next == ']' || ((next == ':' || next == '=') && r->name.len > 0))) {
		r->p = close + 1; /* "[METRICS (1 step stale)]", "lr(1e-3): 0.1" */
		r->name.len = (size_t)(r->p - r->name.p);
		return true;
	}
	if (inside.len == 0 || !is_letter(inside.p[0]))
		return false; /* "print(3" */
	r->p = close + 1;
	if (!str_has_digit(inside) && memchr(inside.p, ' ', inside.len) != NULL)
		return true; /* "loss (for one batch)" */
	if (inside.len >= MOST_UNIT_BYTES)
		return false;
	if (!pairs_is_evaluation(inside) && !str_is_like(inside, "train training"))
		r->name_unit = inside;
	else if (byte_at(r, skip_blanks(r, r->p)) == '[')
		r->evaluates = pairs_is_evaluation(inside); /* "Epoch(val) [1]" */
	else						    /* "loss (val): 3.5" */
		r->name.len = (size_t)(r->p - r->name.p);
	return true;
}

/* Read a bracket: "[===>..]" is a bar, "=[0.1, 0.2]" a list, "Epoch: [3]" a number. */
static bool read_bracket(struct pairs_reader *r)
{
	const char *close = find_close(r->p, r->end, ']');

	if (skip_bar(r))
		return true;
	if (r->is_assigned && close != NULL && memchr(r->p, ',', (size_t)(close - r->p)) != NULL)
		return skip_value(r, close + 1);
	struct str inside = str_between(r->p, close != NULL ? close : r->p);
	r->p++;
	if (str_find(inside, ": ") != NULL || memchr(inside.p, '=', inside.len) != NULL)
		return end_item(r); /* "epoch 3 training [time: 5s, loss: 3.5]" */
	return r->n_words > 0 || end_item(r);
}

/* Read dashes: they divide items, replace an absent value, or belong to an arrow. */
static bool read_dashes(struct pairs_reader *r)
{
	const char *q = r->p;

	while (byte_at(r, q) == '-')
		q++;
	if (byte_at(r, q) == '>' && !r->is_assigned) {
		r->p = q + 1; /* "Loss --> 3.5", "--> step: 5", "|--->" */
		r->is_assigned = r->n_words > 0;
		return r->is_assigned || end_item(r);
	}
	if (q < r->end && !str_is_blank(*q) && strchr(",;|)]}", *q) == NULL)
		return false;
	if (r->is_assigned)
		return skip_value(r, q);
	if (q - r->p > 2)
		return false;
	r->p = q;
	return end_item(r);
}

/* Handle a colon: it follows a name, or it ends a heading. */
static bool read_colon(struct pairs_reader *r)
{
	bool has_name = r->n_words > 0;

	if (byte_at(r, r->p) == ':' || r->is_assigned)
		return false;
	if (!has_name && (!r->after_number || r->pending_name.len == 0))
		return (r->n > 0 || r->n_heading > 0) && end_item(r);
	if (!has_name) { /* "loss at step 5: 2.1" */
		r->name = r->pending_name;
		r->n_words = 1;
		r->pending_name.len = 0;
	}
	r->is_assigned = true;
	return true;
}

/* Handle punctuation; false if it occurs only in prose or source code, like most punctuation. */
static bool read_punctuation(struct pairs_reader *r)
{
	char c = *r->p, next = byte_at(r, r->p + 1);
	bool has_name = r->n_words > 0, is_unassigned = has_name && !r->is_assigned;
	double error;

	switch (c) {
	case '\'':
	case '"':
		return read_quoted(r);
	case '(':
		return read_parenthesis(r);
	case '-':
		return read_dashes(r);
	case '[':
		return read_bracket(r);
	case '+': /* "0.2 + 0.01": an error */
		r->p = pairs_number(skip_blanks(r, r->p + 1), r->end, &error);
		r->has_slots = false;
		return r->after_number && str_is_blank(next) && str_is_digit(r->p[-1]);
	case '?': /* "?it/s": the bar has just started */
		r->p = token_end(r, r->p);
		return r->about->is_bar;
	}
	r->p++;
	switch (c) {
	case ':':
		return read_colon(r);
	case '=':
		if (next == '=' || next == '>' || !is_unassigned)
			return false;
		r->is_assigned = true;
		return true;
	case ',':
	case ';': /* at the end of the line: source code, or a part of a longer list */
		return (skip_blanks(r, r->p) != r->end || (c == ';' && r->n >= 3)) && end_item(r);
	case '|':
		if (*r->start != '|' || r->n > 0 || !has_name)
			return end_item(r);
		r->is_assigned = true; /* "|  name  | 12 |" */
		return true;
	case ')':
	case ']':
		return end_item(r);
	case '{':
	case '}': /* a dictionary that does not contain another one */
		if (r->in_braces == (c == '{') || r->is_assigned)
			return false;
		r->in_braces = c == '{';
		return end_item(r);
	case '%':
		if (!r->after_number || r->pairs[r->n - 1].unit.len > 0)
			return false;
		r->pairs[r->n - 1].unit = str_between(r->p - 1, r->p);
		return true;
	case '*': /* a bullet */
		return r->p - 1 == r->start && next == ' ';
	case '>': /* a bullet, or the ">>" that a logger prints before the row */
		if (!has_name && (next == '\0' || next == ' '))
			return true;
		r->p++;
		return next == '>' && r->n == 0 && end_item(r);
	case '.': /* "Epoch 1/3 completed. Val loss: 3.5", "Peak Mem.: 5" */
		return is_unassigned && (next == ':' || (str_is_blank(next) && end_item(r)));
	case '#': /* "step#5", "step#: 5", "Epoch #5" */
		return is_unassigned &&
		       (str_is_blank(r->p[-2])
				? str_is_digit(next) && str_is_like(r->name, "epoch step iteration")
				: str_is_digit(next) || next == ':');
	}
	return false;
}

/* Read a name that starts with a digit: "5HT=0.95". */
static bool read_digit_name(struct pairs_reader *r)
{
	const char *end = r->p;

	if (r->n_words > 0 || r->is_assigned)
		return false;
	while (end < r->end && (str_is_word(*end)))
		end++;
	if (byte_at(r, end) != '=' || end - r->p > MOST_UNIT_BYTES ||
	    !any_of(i, (size_t)(end - r->p), is_letter(r->p[i])) ||
	    !add_word(r, str_between(r->p, end)))
		return false;
	r->p = end;
	return true;
}

static bool read_token(struct pairs_reader *r)
{
	size_t symbol;

	if (str_is_blank(*r->p)) {
		r->p++;
		return true;
	}
	if (starts_number(r, r->p))
		return read_digit_name(r) || read_number(r);
	if (!is_letter(*r->p))
		return read_punctuation(r);
	symbol = (*r->p & 0x80) != 0 ? symbol_bytes(r, r->p) : 0;
	r->p += symbol;
	return symbol > 0 || read_word(r);
}

size_t pairs_read_slots(struct str line, struct pair pairs[PAIRS_MAX], struct pairs_line *about,
			struct pair_slot slots[PAIR_SLOTS_MAX], size_t *n_slots)
{
	struct pairs_reader r = { .p = line.p,
				  .start = line.p,
				  .end = line.p + line.len,
				  .pairs = pairs,
				  .about = about,
				  .slots = slots,
				  .has_slots = true };

	*about = (struct pairs_line){ .is_bar = false };
	while (r.p < r.end)
		if (!read_token(&r))
			return 0;
	if (!end_item(&r) || r.in_braces || r.n == 0)
		return 0;
	if ((about->is_bar || isfinite(pairs[0].total)) &&
	    pairs_is_evaluation(first_word(pairs[0].name)))
		about->evaluates = true;
	if (slots == NULL)
		return r.n;
	size_t with_slot = array_count(slot, slots, r.n_slots,
				       slot->kind == SLOT_VALUE || slot->kind == SLOT_CLOCK);
	*n_slots = r.n_slots;
	return r.has_slots && with_slot == r.n ? r.n : 0;
}

size_t pairs_read(struct str line, struct pair pairs[PAIRS_MAX])
{
	struct pairs_line about;

	return pairs_read_slots(line, pairs, &about, NULL, NULL);
}
