/* SPDX-License-Identifier: MIT */
/*
 * Names and numbers of a line in one pass.  A line is items between
 * separators; an item is words and numbers in turn, where words before a
 * number name it, and words behind one that has no name do.
 */
#include "parsers/pairs.h"

#include <math.h>
#include <strings.h>

/* More words in a row are prose: behind a name there is ":" or "=", or not. */
#define MOST_NAME_WORDS	 7
#define MOST_PLAIN_WORDS 3
/* More blanks than these are between columns, not between words. */
#define MOST_GAP 3
/* Words of a line that name no number. */
#define MOST_HEAD_WORDS 8
#define MOST_UNIT_BYTES 20
/* How far a parenthesis or a quoted text may reach. */
#define MOST_ASIDE_BYTES 64

struct pairs_reader {
	const char *p, *start, *end;
	struct pair *pairs;
	size_t n;
	/* Words that are to name a number; they have one pair of blanks at
	 * most between them, no mark. */
	struct str name;
	struct str name_unit; /* "ms" of "time (ms): 12" */
	struct str late_name; /* "loss" of "loss at step 5: 2.1"; len 0: none */
	size_t words, heads;
	bool told;	   /* ":" or "=" follows the name */
	bool is_answer;	   /* the words follow a name that was told .. */
	bool evaluates;	   /* .. and that was "eval" */
	bool prose;	   /* a word like "from" is among them */
	bool after_number; /* nothing but blanks since the last number */
	bool in_braces;
	size_t item; /* pairs before this item */
	struct pairs_line *about;
	struct pair_slot *slots; /* NULL: nobody asks */
	size_t n_slots;
	bool has_slots; /* all numbers have one, as far as it is read */
};

static bool is_letter(char c)
{
	return (str_is_word(c) && !str_is_digit(c)) || (c & 0x80) != 0;
}

/* The byte at p; NUL behind the end, as a line has none. */
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

static const char *skip_digits(const struct pairs_reader *r, const char *p)
{
	while (p < r->end && str_is_digit(*p))
		p++;
	return p;
}

/* The c that closes what begins at p, not far from it; else NULL. */
static const char *find_close(const struct pairs_reader *r, const char *p, char c)
{
	size_t n = (size_t)(r->end - p);

	return memchr(p, c, n < MOST_ASIDE_BYTES ? n : MOST_ASIDE_BYTES);
}

/* Words that stand in sentences, and in a name only before ":". */
static bool is_prose(struct str word)
{
	return word.len <= 4 && strchr("aAbBfFiIoOtTwWnN", word.p[0]) != NULL &&
	       str_is_like(word, "a an and are as by for from in is of on or "
				 "than that the to was not with this will it's");
}

bool pairs_is_evaluation(struct str word)
{
	return word.len >= 3 && strchr("vVeEdDtTiIpPsS", word.p[0]) != NULL &&
	       str_is_like(word, "val valid validation validating validate eval "
				 "evaluation evaluating evaluate dev test "
				 "testing inference predicting sanity predict");
}

/* Units that may follow behind a blank: "3657.33 ms". */
static bool is_unit(struct str word)
{
	static const char units[] = "ms s sec secs seconds min mins minutes h hours us "
				    "tok/s tok/sec tokens/s tokens/sec toks/s tokens/second "
				    "it/s s/it it/sec sec/it ms/step s/step ms/it steps/s "
				    "steps/sec step/s samples/s samples/sec img/s images/s "
				    "images/sec ex/s TFLOPs TFLOP/s TFLOPS "
				    "GB GiB MB MiB KB KiB W bpb bpc nats bits";

	return word.len <= 13 && str_is_like(word, units);
}

static void forget_words(struct pairs_reader *r)
{
	r->words = 0;
	r->told = r->is_answer = r->evaluates = r->prose = false;
	r->name_unit = (struct str){ NULL, 0 };
}

/* The first word of s. */
static struct str first_word(struct str s)
{
	size_t n = 0;

	while (n < s.len && !str_is_blank(s.p[n]))
		n++;
	return (struct str){ s.p, n };
}

/* The words name nothing: they say what the line is about. */
static bool take_heading(struct pairs_reader *r)
{
	r->heads += r->words;
	r->about->words = r->about->words * 31 + str_hash(r->name);
	r->about->evaluates = r->about->evaluates || pairs_is_evaluation(first_word(r->name));
	return r->heads <= MOST_HEAD_WORDS;
}

/* Whether the word is of letters and "/". */
static bool is_plain(struct str word)
{
	return all_of(i, word.len, is_letter(word.p[i]) || word.p[i] == '/');
}

/* What the words are, now that no number follows; false: prose. */
static bool end_words(struct pairs_reader *r)
{
	struct pair *last = r->n > 0 ? &r->pairs[r->n - 1] : NULL;

	if (r->told || (r->is_answer && r->words <= MOST_PLAIN_WORDS))
		return true; /* "val: n/a" */
	if (r->prose || r->words > MOST_PLAIN_WORDS)
		return false;
	if (r->n == r->item)
		return take_heading(r);
	if (r->n == r->item + 1 && last->name.len == 0) {
		last->name = r->name;
		return true;
	}
	if (r->words > 1 || last->unit.len > 0 || r->name.len > MOST_UNIT_BYTES ||
	    !is_plain(r->name))
		return false;
	last->unit = r->name;
	return true;
}

static bool end_item(struct pairs_reader *r)
{
	bool good = r->words == 0 || end_words(r);

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

/* "End of epoch 3", "val step 5": the last of some words is a counter. */
static void find_counter_word(struct pairs_reader *r)
{
	bool evaluates = r->words == 2 && pairs_is_evaluation(first_word(r->name));
	struct str word = r->name;

	if (!evaluates && (!r->prose || r->told))
		return;
	if (r->words > MOST_PLAIN_WORDS + 1)
		return;
	for (size_t i = 0; i < r->name.len; i++)
		if (str_is_blank(r->name.p[i]))
			word = str_between(r->name.p + i + 1, r->name.p + r->name.len);
	if (!str_is_like(word, "epoch step iteration iter"))
		return;
	r->heads += r->words - 1;
	r->about->words = r->about->words * 31 + str_hash(r->name);
	r->evaluates = r->evaluates || evaluates;
	r->name = word;
	r->words = 1;
	r->prose = false;
}

static bool add_pair(struct pairs_reader *r, double value, double total, struct str unit)
{
	find_counter_word(r);
	if (r->words > 0 &&
	    (r->told ? r->words > MOST_NAME_WORDS : r->prose || r->words > MOST_PLAIN_WORDS))
		return false;
	if (r->n == PAIRS_MAX)
		return false;
	struct pair *pair = &r->pairs[r->n++];
	pair->name = r->words > 0 ? r->name : (struct str){ NULL, 0 };
	pair->unit = unit.len > 0 ? unit : r->name_unit;
	pair->value = value;
	pair->total = total;
	r->about->evaluates = r->about->evaluates || r->evaluates;
	if (pair->name.len == 0)
		r->item = r->n - 1; /* words behind it may name it */
	forget_words(r);
	r->after_number = true;
	return true;
}

/* Something that is no number stands where one could: no pair of it. */
static bool skip_value(struct pairs_reader *r, const char *behind)
{
	if (!r->told)
		return false;
	forget_words(r);
	r->after_number = false;
	r->p = behind;
	return true;
}

/* The end of a text without blanks and separators. */
static const char *token_end(const struct pairs_reader *r, const char *p)
{
	while (p < r->end && !str_is_blank(*p) && strchr(",;|)]}'\"", *p) == NULL)
		p++;
	return p;
}

/* "1,234,567" behind its first digits; else p itself. */
static const char *take_groups(const char *p, const char *end, double *value)
{
	while (end - p >= 4 && *p == ',' && str_is_digit(p[1]) && str_is_digit(p[2]) &&
	       str_is_digit(p[3]) && !(end - p > 4 && str_is_digit(p[4]))) {
		*value = *value * 1000 + (p[1] - '0') * 100 + (p[2] - '0') * 10 + (p[3] - '0');
		p += 4;
	}
	return p;
}

/* Behind the digits at p, their groups of three and their fraction. */
static const char *decimal_end(const char *p, const char *end, double *value)
{
	const char *q = str_take_decimal(p, end, true, value), *e;
	double fraction;

	if (q == p) /* more digits than are taken so */
		while (q < end && (str_is_digit(*q) || *q == '.'))
			q++;
	if (q == p || q - p > 3 || q == end || *q != ',' || q[-1] == '.')
		return q;
	q = take_groups(q, end, value);
	if (end - q < 2 || *q != '.' || !str_is_digit(q[1]))
		return q;
	e = str_take_decimal(q, end, true, &fraction);
	*value += e != q ? fraction : 0;
	return e;
}

/* Behind the exponent at p; p where there is none. */
static const char *exponent_end(const char *p, const char *end)
{
	const char *q = p + 1;

	if (p == end || (*p != 'e' && *p != 'E'))
		return p;
	q += q < end && (*q == '-' || *q == '+');
	if (q >= end || !str_is_digit(*q))
		return p;
	while (q < end && str_is_digit(*q))
		q++;
	return q;
}

/* Whatever may stand for a number, also with groups, or too long. */
const char *pairs_rare_number(const char *p, const char *end, double *value)
{
	const char *digits = p + (*p == '-' || *p == '+'), *mantissa, *q;

	*value = (double)NAN; /* what stays so has too many digits */
	mantissa = decimal_end(digits, end, value);
	if (mantissa == digits)
		return p;
	q = exponent_end(mantissa, end);
	if (q == mantissa && !isnan(*value)) {
		*value = *p == '-' ? -*value : *value;
		return q;
	}
	return str_to_double(str_between(p, q), value) ? q : p;
}

/* Behind the time "0:01:02", "12:30" or "01:02:03.5" at p; else p. */
static const char *time_end(const struct pairs_reader *r, const char *p, double *seconds)
{
	const char *q = skip_digits(r, p);
	double parts[3] = { 0, 0, 0 };
	size_t n = 0;

	if (q - p > 3 || byte_at(r, q) != ':' || !str_is_digit(byte_at(r, q + 1)))
		return p;
	for (q = p; n < 3; q++) {
		const char *e = str_take_decimal(q, r->end, n == 2, &parts[n]);

		if (e == q || (n > 0 && e - q < 2))
			return p;
		n++;
		q = e;
		if (byte_at(r, q) != ':')
			break;
	}
	if (n == 3 && r->end - q >= 4 && *q == ',' && skip_digits(r, q + 1) == q + 4)
		q += 4; /* "12:00:05,123" */
	*seconds = n == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : (double)NAN;
	return q;
}

/* A time: of three parts it is a number, of two nobody knows which. */
static bool take_time(struct pairs_reader *r, const char *behind, double seconds)
{
	bool bar = byte_at(r, behind) == '<'; /* "[00:10<00:12, .." */
	const char *start = r->p;

	r->about->is_bar = r->about->is_bar || bar;
	if (r->about->is_bar && r->words == 0 && (bar || !r->after_number))
		add_slot(r, SLOT_TIME, r->p, behind);
	r->p = behind + bar;
	if (bar)
		r->after_number = false;
	else if (r->after_number && isfinite(seconds) && r->n == 1 && r->pairs[0].name.len == 0) {
		r->item = --r->n; /* "01/02 12:00:00": it was the day */
		r->has_slots = false;
	}
	r->after_number = false;
	if (!bar && r->words > 0 && isfinite(seconds)) {
		add_slot(r, SLOT_CLOCK, start, behind);
		return add_pair(r, seconds, (double)NAN, STR_LIT("s"));
	}
	if (r->words > 0 ? !r->told : r->n > 0 && !r->about->is_bar && isnan(seconds))
		return false;
	forget_words(r);
	return true;
}

/* Behind the "/ 19560" at p, or p. */
static const char *total_end(const struct pairs_reader *r, const char *p, double *total)
{
	const char *slash = skip_blanks(r, p), *q, *end;

	if (byte_at(r, slash) != '/')
		return p;
	q = skip_blanks(r, slash + 1);
	if (!str_is_digit(byte_at(r, q)) || (slash > p && q == slash + 1))
		return p;
	end = pairs_number(q, r->end, total);
	if (*total != floor(*total) || byte_at(r, end) == '/' || is_letter(byte_at(r, end)))
		*total = (double)NAN; /* "200/2.00k", too */
	return end;
}

/* The sign of "2.5+-0.1". */
static bool is_spread(const struct pairs_reader *r, const char *p)
{
	return *p == '\xc2' && byte_at(r, p + 1) == '\xb1';
}

/* Behind the letters of a unit at p; p where there is none. */
static const char *unit_end(const struct pairs_reader *r, const char *p)
{
	const char *q = p;

	while (q < r->end && !is_spread(r, q) &&
	       ((is_letter(*q) && *q != '_') || *q == '%' ||
		(*q == '/' && is_letter(byte_at(r, q + 1)))))
		q++;
	return q;
}

/*
 * Whether the letters may follow a number without a blank: "5ms", "2.1k",
 * "820.5/s" and "9%", but not "5aeb".
 */
static bool may_be_joined(struct str unit)
{
	return unit.len <= 2 || unit.p[0] == '%' || is_unit(unit) ||
	       (unit.len <= MOST_UNIT_BYTES && memchr(unit.p, '/', unit.len) != NULL);
}

const char *pairs_time(const char *p, const char *end)
{
	double seconds;

	return time_end(&(struct pairs_reader){ .end = end }, p, &seconds);
}

const char *pairs_clock(const char *p, const char *end, double *seconds)
{
	const char *q = time_end(&(struct pairs_reader){ .end = end }, p, seconds);

	return q != p && isfinite(*seconds) ? q : p;
}

/* The bars of tqdm, whose front is " 45%|###  | 45/99", and of Keras. */
const char *pairs_bar(const char *p, const char *end)
{
	bool square = *p == '[';
	size_t n = (size_t)(end - p - 1);

	if (!square && *p != '|')
		return p;
	if (square && n > MOST_ASIDE_BYTES - 1)
		n = MOST_ASIDE_BYTES - 1;
	const char *close = memchr(p + 1, square ? ']' : '|', n);
	if (close == NULL ||
	    (square && (close - p <= 4 || !str_has_only(str_between(p + 1, close), "=>.-# "))))
		return p;
	return close + 1;
}

/* Behind the date "2026-11-20" or "11/20/2026" at p; NULL: none. */
static const char *date_end(const struct pairs_reader *r, const char *p)
{
	char mark = '\0';

	for (int i = 0; i < 3; i++) {
		const char *q = skip_digits(r, p);

		if (q - p != 2 && q - p != 4)
			return NULL;
		if (i == 0)
			mark = byte_at(r, q);
		if (i == 2)
			return q;
		if ((mark != '-' && mark != '/') || byte_at(r, q) != mark)
			return NULL;
		p = q + 1;
	}
	return NULL;
}

/* A date: before the row, or the value of a name; no number. */
static bool take_date(struct pairs_reader *r, const char *behind)
{
	if (byte_at(r, behind) == 'T' && str_is_digit(byte_at(r, behind + 1)))
		behind++;
	if (r->told)
		return skip_value(r, behind);
	if (r->n > 0 && r->words > 0)
		return false;
	r->p = behind;
	return end_item(r); /* "DLL 2020-05-20 .." */
}

/* "/210.0B" of "417.9M/210.0B": of how many it is. */
static bool is_size_total(const struct pairs_reader *r, const char *p)
{
	double total;
	const char *q = p + 1;

	if (byte_at(r, p) != '/' || !str_is_digit(byte_at(r, q)))
		return false;
	q = pairs_number(q, r->end, &total);
	return unit_end(r, q) == token_end(r, p);
}

static bool skip_bar(struct pairs_reader *r)
{
	const char *behind = pairs_bar(r->p, r->end);

	if (behind == r->p)
		return false;
	add_slot(r, SLOT_BAR, r->p, behind);
	r->p = behind;
	r->about->is_bar = true;
	return true;
}

static bool take_number(struct pairs_reader *r)
{
	double value = 0, total = (double)NAN;
	const char *start = r->p, *q = time_end(r, start, &value), *unit;
	const char *behind = date_end(r, start);

	if (behind != NULL)
		return take_date(r, behind);
	if (q != start)
		return take_time(r, q, value);
	q = pairs_number(start, r->end, &value);
	if (q == start)
		return skip_value(r, token_end(r, start));
	unit = behind = q;
	if (value == floor(value) && value >= 0)
		q = unit = total_end(r, q, &total);
	q = unit_end(r, q);
	if (r->words == 0 && str_eq_cstr(str_between(unit, q), "epoch")) {
		r->name = str_between(unit, q); /* "3epoch:train: .." */
		r->words = 1;
		r->p = q;
		add_slot(r, SLOT_VALUE, start, behind);
		return add_pair(r, value, total, (struct str){ NULL, 0 });
	}
	if (!may_be_joined(str_between(unit, q)) || str_is_digit(byte_at(r, q)) ||
	    (byte_at(r, q) != '\0' && strchr("_-+.\\@#:=<>*", *q) != NULL &&
	     !str_is_blank(byte_at(r, q + 1)) && q + 1 < r->end))
		return skip_value(r, token_end(r, start));
	r->p = q;
	r->about->is_bar |= str_eq_cstr(str_between(unit, q), "it");
	add_slot(r, SLOT_VALUE, start, behind);
	if (unit != behind)
		add_slot(r, SLOT_TOTAL, behind, unit);
	if (byte_at(r, q) == '|' && q[-1] == '%')
		(void)skip_bar(r);
	r->has_slots = r->has_slots && (unit == behind || !isnan(total));
	if (q > unit && is_size_total(r, q)) {
		r->p = token_end(r, q);
		r->has_slots = false;
	}
	return add_pair(r, value, total, str_between(unit, q));
}

/* "nan", "inf", "infinity", as they stand in the place of a number. */
static bool is_no_number(struct str word, double *value)
{
	return strchr("nNiI", word.p[0]) != NULL && str_is_like(word, "nan inf infinity") &&
	       str_to_double(word, value);
}

/*
 * The bytes of a mark, a bar, a frame or a picture at p, U+2000 to U+2BFF and
 * from U+1F000 on, which are no letters; 0: it is none.
 */
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
		if (*p == '\0' || strchr("/.-@^", *p) == NULL ||
		    !(is_letter(next) || str_is_digit(next)))
			break;
	}
	return p;
}

/* "of 10" behind "epoch 1". */
static bool take_of(struct pairs_reader *r, const char *behind)
{
	const char *q = skip_blanks(r, behind);
	struct pair *last = &r->pairs[r->n - 1];

	if (!str_is_digit(byte_at(r, q)) || last->unit.len > 0)
		return false;
	r->p = pairs_number(q, r->end, &last->total);
	return true;
}

/* Add a word to those that are to name a number. */
static bool add_word(struct pairs_reader *r, struct str word)
{
	if (r->told) { /* "phase: train", "Validation: loss 3.5" */
		bool evaluates = pairs_is_evaluation(r->name);

		if (++r->heads > MOST_HEAD_WORDS)
			return false;
		forget_words(r);
		r->is_answer = true;
		r->evaluates = evaluates;
	}
	if (r->words > 0 && word.p - (r->name.p + r->name.len) > MOST_GAP && !end_item(r))
		return false;
	if (r->words++ == 0)
		r->name = word;
	r->name.len = (size_t)(word.p + word.len - r->name.p);
	r->prose = r->prose || is_prose(word);
	r->after_number = false;
	return true;
}

/* Whether ":" or "=" follows. */
static bool is_told(const struct pairs_reader *r, const char *behind)
{
	char c = byte_at(r, skip_blanks(r, behind));

	return c == ':' || c == '=';
}

static bool begins_number(const struct pairs_reader *r, const char *p)
{
	char c = byte_at(r, p), next = byte_at(r, p + 1);

	if (str_is_digit(c))
		return true;
	if (c == '.')
		return str_is_digit(next);
	return (c == '-' || c == '+') &&
	       (str_is_digit(next) || (next == '.' && str_is_digit(byte_at(r, p + 2))));
}

/* "tensor(2.31, device='cuda:0')", "np.float64(2.31)": the number in it. */
static bool take_wrapped(struct pairs_reader *r, struct str word)
{
	const char *from = word.p + word.len + 1, *to = from, *close;
	double value;

	if (!r->told || byte_at(r, from - 1) != '(' || from >= r->end ||
	    !str_is_among(word, "tensor Array array np.float32 np.float64 "
				"numpy.float32 numpy.float64 np.int64"))
		return false;
	to = pairs_number(from, r->end, &value);
	if (to == from) {
		to = word_end(r, from);
		if (to == from || !is_no_number(str_between(from, to), &value))
			return false;
		r->has_slots = false;
	}
	close = find_close(r, to, ')');
	if (close == NULL || (*to != ',' && *to != ')'))
		return false;
	add_slot(r, SLOT_VALUE, from, to);
	r->p = close + 1;
	return add_pair(r, value, (double)NAN, (struct str){ NULL, 0 });
}

/* "2.5+-0.1" and "2.5 +- 0.1": how sure a number is names nothing. */
static bool take_spread(struct pairs_reader *r)
{
	const char *p;
	double value;

	if (!is_spread(r, r->p))
		return false;
	p = skip_blanks(r, r->p + 2);
	if (!begins_number(r, p))
		return false;
	r->p = pairs_number(p, r->end, &value);
	if (byte_at(r, r->p) == '%')
		r->p++;
	r->has_slots = false;
	return true;
}

/* The unit of a number, or what its thousands are of: "12.5K tok/s". */
static bool add_unit(struct pair *pair, struct str word)
{
	if (pair->unit.len == 0)
		pair->unit = word;
	else if (str_is_among(pair->unit, "k K M"))
		pair->unit.len = (size_t)(word.p + word.len - pair->unit.p);
	else
		return false;
	return true;
}

static bool take_word(struct pairs_reader *r)
{
	const char *end = word_end(r, r->p);
	struct str word = str_between(r->p, end);
	double value;

	if (r->after_number && str_eq_cstr(word, "out")) {
		r->p = end;
		return true;
	}
	if (r->after_number && str_eq_cstr(word, "of") && take_of(r, end))
		return true;
	if (take_wrapped(r, word))
		return true;
	if (r->after_number && take_spread(r))
		return true;
	r->p = end;
	if (r->after_number && is_unit(word) && !is_told(r, end) &&
	    add_unit(&r->pairs[r->n - 1], word))
		return true;
	if (r->words > 0 && (r->told || !r->prose) && is_no_number(word, &value))
		return add_pair(r, value, (double)NAN, (struct str){ NULL, 0 });
	if (r->words > 0 && !r->told && str_eq_cstr(word, "is") &&
	    begins_number(r, skip_blanks(r, end))) {
		r->told = true; /* "loss is 2.5" */
		return true;
	}
	if (r->words > 0 && !r->told && (str_eq_cstr(word, "at") || str_eq_cstr(word, "after"))) {
		bool good = take_heading(r); /* "val loss at step 10 | .." */

		r->late_name = r->name;
		forget_words(r);
		return good;
	}
	return add_word(r, word);
}

static bool has_control(const char *p, const char *end)
{
	while (p < end && (unsigned char)*p >= ' ')
		p++;
	return p < end;
}

/* Behind "5" or "5/1000" at p. */
static const char *quoted_end(const struct pairs_reader *r, const char *p, double *value,
			      double *total)
{
	const char *q = pairs_number(p, r->end, value);

	return *value == floor(*value) ? total_end(r, q, total) : q;
}

/* A quoted text is a name before ":", else the value of one. */
static bool take_quoted(struct pairs_reader *r)
{
	const char *start = r->p + 1, *end = find_close(r, start, *r->p), *q;
	double value, total = (double)NAN;

	if (end == NULL)
		return false;
	q = skip_blanks(r, end + 1);
	if (byte_at(r, q) == ':' && !r->told) {
		if (r->words > 0 || end == start || has_control(start, end))
			return false;
		r->name = str_between(start, end);
		r->words = 1;
		r->p = end + 1;
		return true;
	}
	if (!r->told)
		return false;
	if (start == end || (!str_is_digit(*start) && *start != '-') ||
	    (quoted_end(r, start, &value, &total) != end &&
	     (time_end(r, start, &value) != end || !isfinite(value))))
		return skip_value(r, end + 1);
	r->p = end + 1;
	return add_pair(r, value, total,
			memchr(start, ':', (size_t)(end - start)) != NULL
				? STR_LIT("s")
				: (struct str){ NULL, 0 });
}

const char *pairs_aside(const char *p, const char *end)
{
	size_t n = (size_t)(end - p);

	if (n == 0 || *p != '(')
		return p;
	const char *close = memchr(p, ')', n < MOST_ASIDE_BYTES ? n : MOST_ASIDE_BYTES);
	if (close == NULL || memchr(p, ':', (size_t)(close - p)) != NULL ||
	    memchr(p, '=', (size_t)(close - p)) != NULL)
		return p;
	return close + 1;
}

/* "(5.80)" and "(  8%)" behind a number are asides; "(ms)" is a unit. */
static bool take_round(struct pairs_reader *r)
{
	const char *close = find_close(r, r->p, ')');

	if (close == NULL)
		return false;
	if (r->told)
		return skip_value(r, close + 1);
	if (r->after_number && pairs_aside(r->p, r->end) != r->p) {
		add_slot(r, SLOT_ASIDE, r->p, close + 1);
		r->p = close + 1;
		return true;
	}
	if (r->words == 0) {
		r->p++;
		return end_item(r);
	}
	struct str inside = str_between(r->p + 1, close);
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

/* "[====>...]" is a bar, "=[0.1, 0.2]" a list, "Epoch: [3]" a number. */
static bool take_square(struct pairs_reader *r)
{
	const char *close = find_close(r, r->p, ']');

	if (skip_bar(r))
		return true;
	if (r->told && close != NULL && memchr(r->p, ',', (size_t)(close - r->p)) != NULL)
		return skip_value(r, close + 1);
	r->p++;
	return r->words > 0 || end_item(r);
}

/* A "-" or "--": between items, of an arrow, a ruler, an option, or absent. */
static bool take_dash(struct pairs_reader *r)
{
	const char *q = r->p;

	while (byte_at(r, q) == '-')
		q++;
	if (byte_at(r, q) == '>' && !r->told) {
		r->p = q + 1; /* "Loss --> 3.5", "--> step: 5", "|--->" */
		r->told = r->words > 0;
		return r->told || end_item(r);
	}
	if (q < r->end && !str_is_blank(*q) && strchr(",;|)]}", *q) == NULL)
		return false;
	if (r->told)
		return skip_value(r, q);
	if (q - r->p > 2)
		return false;
	r->p = q;
	return end_item(r);
}

static bool take_colon(struct pairs_reader *r)
{
	if (byte_at(r, r->p + 1) == ':' || r->told)
		return false;
	r->p++;
	if (r->words == 0 && (!r->after_number || r->late_name.len == 0))
		return (r->n > 0 || r->heads > 0) && end_item(r);
	if (r->words == 0) { /* "loss at step 5: 2.1" */
		r->name = r->late_name;
		r->words = 1;
		r->late_name.len = 0;
	}
	r->told = true;
	return true;
}

static bool take_equals(struct pairs_reader *r)
{
	char next = byte_at(r, r->p + 1);

	if (next == '=' || next == '>' || r->words == 0 || r->told)
		return false;
	r->p++;
	r->told = true;
	return true;
}

/* One dictionary, with nothing behind it. */
static bool take_brace(struct pairs_reader *r)
{
	bool opens = *r->p++ == '{';

	if (opens == r->in_braces || r->told)
		return false;
	r->in_braces = opens;
	return end_item(r);
}

/* ">>" ends what a logger writes before the row; ">" alone is a bullet. */
static bool take_angle(struct pairs_reader *r)
{
	char next = byte_at(r, r->p + 1);

	if (r->words == 0 && (next == '\0' || next == ' ')) {
		r->p++;
		return true;
	}
	if (next != '>' || r->n > 0)
		return false;
	r->p += 2;
	return end_item(r);
}

/* "?it/s" of a bar that has just begun. */
static bool take_question(struct pairs_reader *r)
{
	r->p = token_end(r, r->p);
	return r->about->is_bar;
}

/* "Epoch 1/3 completed. Val loss: 3.5" */
static bool take_point(struct pairs_reader *r)
{
	r->p++;
	return r->words > 0 && !r->told && str_is_blank(byte_at(r, r->p)) && end_item(r);
}

/* "step#5", "Epoch #5", "step#: 5" */
static bool take_hash(struct pairs_reader *r)
{
	bool joined = r->p > r->start && !str_is_blank(r->p[-1]);
	char next = byte_at(r, ++r->p);

	return r->words > 0 && !r->told &&
	       (joined ? str_is_digit(next) || next == ':'
		       : str_is_digit(next) && str_is_like(r->name, "epoch step iteration"));
}

static bool take_percent(struct pairs_reader *r)
{
	if (!r->after_number || r->pairs[r->n - 1].unit.len > 0)
		return false;
	r->pairs[r->n - 1].unit = str_between(r->p, r->p + 1);
	r->p++;
	return true;
}

static bool take_separator(struct pairs_reader *r)
{
	char c = *r->p++;

	/* Source code, or a part of a longer list. */
	if ((c == ',' || (c == ';' && r->n < 3)) && skip_blanks(r, r->p) == r->end)
		return false;
	/* A table "|  name  | 12 |" has a name in its first cell. */
	if (c == '|' && *r->start == '|' && r->n == 0 && r->words > 0) {
		r->told = true;
		return true;
	}
	return end_item(r);
}

/* Marks with a meaning; all others are in no row. */
static bool take_mark(struct pairs_reader *r)
{
	static const struct {
		char mark;
		bool (*take)(struct pairs_reader *r);
	} marks[] = {
		{ ':', take_colon },	 { ',', take_separator }, { '=', take_equals },
		{ '|', take_separator }, { '-', take_dash },	  { '\'', take_quoted },
		{ '"', take_quoted },	 { '(', take_round },	  { ')', take_separator },
		{ '[', take_square },	 { ']', take_separator }, { '{', take_brace },
		{ '}', take_brace },	 { ';', take_separator }, { '%', take_percent },
		{ '?', take_question },	 { '>', take_angle },	  { '.', take_point },
		{ '#', take_hash },
	};

	for (size_t i = 0; i < LENGTH(marks); i++)
		if (marks[i].mark == *r->p)
			return marks[i].take(r);
	return false;
}

static bool take_token(struct pairs_reader *r)
{
	if (str_is_blank(*r->p)) {
		r->p++;
		return true;
	}
	if (begins_number(r, r->p))
		return take_number(r);
	if (!is_letter(*r->p))
		return take_mark(r);
	size_t symbol = (*r->p & 0x80) != 0 ? symbol_bytes(r, r->p) : 0;
	if (symbol == 0)
		return take_word(r);
	r->p += symbol;
	return true;
}

static size_t read_all(struct pairs_reader *r)
{
	*r->about = (struct pairs_line){ .is_bar = false };
	while (r->p < r->end)
		if (!take_token(r))
			return 0;
	if (!end_item(r) || r->in_braces)
		return 0;
	if (r->about->is_bar && r->n > 0 && pairs_is_evaluation(first_word(r->pairs[0].name)))
		r->about->evaluates = true;
	return r->n;
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
	size_t n = read_all(&r), with_slot = 0;

	if (slots == NULL)
		return n;
	for (size_t i = 0; i < r.n_slots; i++)
		with_slot += slots[i].kind == SLOT_VALUE || slots[i].kind == SLOT_CLOCK;
	*n_slots = r.n_slots;
	return r.has_slots && with_slot == n ? n : 0;
}

size_t pairs_read_line(struct str line, struct pair pairs[PAIRS_MAX], struct pairs_line *about)
{
	return pairs_read_slots(line, pairs, about, NULL, NULL);
}

size_t pairs_read(struct str line, struct pair pairs[PAIRS_MAX])
{
	return pairs_read_line(line, pairs, &(struct pairs_line){ 0 });
}
