/* SPDX-License-Identifier: MIT */
/* The settings and the script of a run, and how those of two runs differ. */
#include "config.h"

#include "model/run_diff.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "model/logfile.h"

#define NAME_BYTES  64U
#define VALUE_BYTES 200U
#define WIDE	    40	 /* what a column of values has at most */
#define AROUND	    3	 /* lines of both around a difference */
#define MAX_EDITS   2000 /* beyond it the scripts have nothing in common */

void
run_text_init(struct run_text *text)
{
	*text = (struct run_text){ .n = 0 };
	map_init(&text->index);
	buf_init(&text->source, RUN_TEXT_MAX_SOURCE);
}

void
run_text_release(struct run_text *text)
{
	for (size_t i = 0; i < text->n; i++) {
		free(text->settings[i].name);
		free(text->settings[i].value);
	}
	free(text->settings);
	map_release(&text->index, NULL);
	buf_release(&text->source);
}

static bool
is_name(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' ||
	       (!first && (isdigit((unsigned char)c) || c == '.'));
}

static void
add_setting(struct run_text *text, struct str name, struct str value)
{
	size_t known = (size_t)map_get(&text->index, name);

	if (value.len > VALUE_BYTES)
		value.len = VALUE_BYTES;
	if (known > 0) {
		struct run_setting *old = &text->settings[known - 1];

		old->varies = old->run == text->run &&
			      (old->varies || !str_eq_cstr(value, old->value));
		if (old->run == text->run)
			return;
		free(old->value);
		old->value = xstrndup(value.p, value.len);
		old->run = text->run;
		return;
	}
	if (name.len > NAME_BYTES || text->n == RUN_TEXT_MAX_SETTINGS)
		return;
	xpush(text->settings, text->n, text->cap,
	      (struct run_setting){ xstrndup(name.p, name.len),
				    xstrndup(value.p, value.len), false,
				    text->run });
	(void)map_set(&text->index, name, (void *)text->n);
}

/* A word, or all up to the quote or bracket that closes it. */
static struct str
take_value(struct str s)
{
	static const char opening[] = "\"'([{", closing[] = "\"')]}";
	const char *open = s.len > 0 ? strchr(opening, s.p[0]) : NULL;
	const char *end;
	size_t len = 0;

	if (open != NULL && *open != '\0') {
		end = memchr(s.p + 1, closing[open - opening], s.len - 1);
		if (end != NULL)
			return (struct str){ s.p, (size_t)(end - s.p) + 1 };
	}
	while (len < s.len && strchr(" \t,;)]}|", s.p[len]) == NULL)
		len++;
	return (struct str){ s.p, len };
}

/*
 * The name that begins at s, of `name: value`, `name=value` or `"name": value`,
 * and what is behind its colon in *rest; an empty one: there is none.
 */
static struct str
take_name(struct str s, struct str *rest)
{
	size_t len = 0, at;

	while (len < s.len && is_name(s.p[len], len == 0))
		len++;
	at = len;
	if (at < s.len && (s.p[at] == '"' || s.p[at] == '\''))
		at++;
	while (at < s.len && s.p[at] == ' ')
		at++;
	if (at == s.len || (s.p[at] != ':' && s.p[at] != '=') ||
	    (at + 1 < s.len && strchr(":=/", s.p[at + 1]) != NULL))
		return (struct str){ s.p, 0 };
	*rest = str_trim((struct str){ s.p + at + 1, s.len - at - 1 });
	return (struct str){ s.p, len };
}

/* Whether a name may begin there: a word does. */
static bool
is_begin(struct str line, size_t i)
{
	return i == 0 || strchr(" \t,;([{|\"'-", line.p[i - 1]) != NULL;
}

/* Each setting of the line, to text where it is given; is any one a loss? */
static bool
take_settings(struct run_text *text, struct str line)
{
	bool has_loss = false;
	struct str name, value, rest;

	for (size_t i = 0; i < line.len; i++) {
		if (!is_begin(line, i))
			continue;
		name = take_name((struct str){ line.p + i, line.len - i },
				 &rest);
		if (name.len == 0)
			continue;
		/* A line of one setting may have blanks in its value. */
		value = i == 0 && line.p[name.len] == ':' &&
					memchr(rest.p, ':', rest.len) == NULL &&
					memchr(rest.p, '=', rest.len) == NULL
				? rest
				: take_value(rest);
		has_loss |= str_find(name, "loss") != NULL;
		if (text != NULL)
			add_setting(text, name, value);
		i = (size_t)(value.p + value.len - line.p);
	}
	return has_loss;
}

void
run_text_line(struct run_text *text, struct str line, enum line_class class)
{
	bool was_in_source = text->in_source;

	text->in_source = class == LINE_SOURCE;
	if (text->is_over)
		return;
	if (class == LINE_SOURCE) {
		if (!was_in_source)
			buf_clear(&text->source);
		buf_append(&text->source, line.p, line.len);
		buf_append_char(&text->source, '\n');
		return;
	}
	line = str_trim(line);
	text->is_over = class == LINE_METRIC && take_settings(NULL, line);
	if (!text->is_over)
		(void)take_settings(text, line);
}

void
run_text_next_run(struct run_text *text)
{
	text->run++;
	text->is_over = false;
}

bool
run_text_read(struct run_text *text, const struct model_run *mr)
{
	struct logfile *file = mr->log != NULL && !mr->log->behind
				       ? model_log_open(mr->log)
				       : NULL;
	uint64_t place = 0, number = 1, first = mr->run.first_line;
	AUTO_BUF line = buf_new(2 * LOGFILE_CUT_BYTES);

	if (file == NULL)
		return false;
	while (place < mr->log->read_bytes && number < first + mr->run.lines &&
	       number < RUN_TEXT_MAX_LINES) {
		if (number == first)
			run_text_next_run(text);
		else if (number > first && text->is_over)
			break;
		logfile_read(file, place, &line);
		run_text_line(text, buf_str(&line),
			      logclass_of(&mr->log->classes, number));
		place = logfile_next(file, place);
		number += !logfile_is_part(file, place);
	}
	logfile_close(file);
	return number >= first && number < RUN_TEXT_MAX_LINES;
}

/* The lines of a script. */
static struct str *
split_lines(const struct buf *source, size_t *n)
{
	struct str rest = buf_str(source), line, *lines = NULL;
	size_t cap = 0;

	*n = 0;
	while (rest.len > 0 && str_next(&rest, '\n', &line))
		xpush(lines, *n, cap, line);
	return lines;
}

/* Two scripts, and which of their lines the other has not. */
struct edit {
	struct str *a, *b;
	size_t n_a, n_b, from; /* the first `from` lines are the same */
	size_t m_a, m_b;       /* lines from there on up to a common end */
	bool *cut_a, *cut_b;
};

/*
 * x on diagonal k with one edit more than `before` has; *down: by a line of b.
 * -1: no edit leads there.
 */
static int
edit_step(const struct edit *e, const int *before, int k, bool *down)
{
	int right = before[k - 1], below = before[k + 1];

	right = right >= 0 && right < (int)e->m_a ? right + 1 : -1;
	below = below >= 0 && below - k <= (int)e->m_b ? below : -1;
	*down = below >= right;
	return *down ? below : right;
}

/* As far as lines of both are the same from x on, on diagonal k. */
static int
edit_slide(const struct edit *e, int x, int k)
{
	while (x >= 0 && x < (int)e->m_a && x - k < (int)e->m_b &&
	       str_eq(e->a[e->from + (size_t)x],
		      e->b[e->from + (size_t)(x - k)]))
		x++;
	return x;
}

/* Diagonal 0 of the points that d edits reach, of -d - 2 .. d + 2. */
static int *
edit_row(int *const *rows, int d)
{
	return rows[d] + d + 2;
}

/* Go back from the end, an edit at a time. */
static void
edit_mark(struct edit *e, int *const *rows, int d)
{
	int k = (int)e->m_a - (int)e->m_b;

	for (; d > 0; d--) {
		bool down;
		int x = edit_step(e, edit_row(rows, d - 1), k, &down);

		if (down)
			e->cut_b[e->from + (size_t)(x - k) - 1] = true;
		else
			e->cut_a[e->from + (size_t)x - 1] = true;
		k += down ? 1 : -1;
	}
}

/*
 * Myers, "An O(ND) Difference Algorithm": the furthest point that d edits reach
 * on each diagonal, for d = 0, 1, ..  False beyond MAX_EDITS.
 */
static bool
edit_find(struct edit *e)
{
	int **rows = xcalloc(MAX_EDITS + 1, sizeof(*rows));
	int end = (int)e->m_a - (int)e->m_b, d = 0;
	bool found = false, down;

	for (; d <= MAX_EDITS && !found; d++) {
		rows[d] = xcalloc(2 * (size_t)d + 5, sizeof(**rows));
		for (int k = -d - 2; k <= d + 2; k++)
			edit_row(rows, d)[k] = -1;
		for (int k = -d; k <= d; k += 2) {
			int x = d == 0 ? 0
				       : edit_step(e, edit_row(rows, d - 1), k,
						   &down);

			edit_row(rows, d)[k] = edit_slide(e, x, k);
		}
		found = abs(end) <= d && edit_row(rows, d)[end] == (int)e->m_a;
	}
	if (found)
		edit_mark(e, rows, d - 1);
	for (int i = 0; i < d; i++)
		free(rows[i]);
	free(rows);
	return found;
}

static void
edit_init(struct edit *e, const struct run_text *a, const struct run_text *b)
{
	size_t end = 0;

	*e = (struct edit){ .from = 0 };
	e->a = split_lines(&a->source, &e->n_a);
	e->b = split_lines(&b->source, &e->n_b);
	e->cut_a = xcalloc(e->n_a + 1, sizeof(*e->cut_a));
	e->cut_b = xcalloc(e->n_b + 1, sizeof(*e->cut_b));
	while (e->from < e->n_a && e->from < e->n_b &&
	       str_eq(e->a[e->from], e->b[e->from]))
		e->from++;
	while (end < e->n_a - e->from && end < e->n_b - e->from &&
	       str_eq(e->a[e->n_a - 1 - end], e->b[e->n_b - 1 - end]))
		end++;
	e->m_a = e->n_a - e->from - end;
	e->m_b = e->n_b - e->from - end;
	if (edit_find(e))
		return;
	memset(e->cut_a + e->from, true, e->m_a);
	memset(e->cut_b + e->from, true, e->m_b);
}

static void
edit_release(struct edit *e)
{
	free(e->a);
	free(e->b);
	free(e->cut_a);
	free(e->cut_b);
}

static void
add_line(struct buf *out, char sign, struct str line)
{
	buf_append_char(out, sign);
	buf_append(out, line.p, line.len);
	buf_append_char(out, '\n');
}

/* Where the next difference from there on is; both move to it; false: none. */
static bool
edit_next(const struct edit *e, size_t *i, size_t *k)
{
	while (*i < e->n_a && *k < e->n_b && !e->cut_a[*i] && !e->cut_b[*k]) {
		++*i;
		++*k;
	}
	return *i < e->n_a || *k < e->n_b;
}

/* One difference, or several that are near each other, with its place. */
static void
add_hunk(struct run_diff *diff, const struct edit *e, size_t *i, size_t *k)
{
	AUTO_BUF lines = buf_new(2 * RUN_TEXT_MAX_SOURCE);
	size_t before = *i < AROUND ? *i : AROUND, same = 0;
	size_t from_a = *i - before, from_b = *k - before, n_a, n_b;

	for (size_t c = from_a; c < *i; c++)
		add_line(&lines, ' ', e->a[c]);
	while ((*i < e->n_a || *k < e->n_b) && same <= 2 * AROUND) {
		bool cut_a = *i < e->n_a && e->cut_a[*i];
		bool cut_b = !cut_a && *k < e->n_b && e->cut_b[*k];

		add_line(&lines,
			 cut_a	 ? '-'
			 : cut_b ? '+'
				 : ' ',
			 cut_b ? e->b[*k] : e->a[*i]);
		same = cut_a || cut_b ? 0 : same + 1;
		diff->removed += cut_a;
		diff->added += cut_b;
		*i += !cut_b;
		*k += !cut_a;
	}
	/* What is the same behind the last one: no more than AROUND lines. */
	for (; same > AROUND; same--) {
		--*i;
		--*k;
		lines.len -= e->a[*i].len + 2;
	}
	n_a = *i - from_a;
	n_b = *k - from_b;
	buf_appendf(&diff->source, "@@ -%zu,%zu +%zu,%zu @@\n",
		    from_a + (n_a > 0), n_a, from_b + (n_b > 0), n_b);
	buf_append(&diff->source, lines.data, lines.len);
}

static void
diff_sources(struct run_diff *diff, const struct run_text *a,
	     const struct run_text *b)
{
	size_t i = 0, k = 0;
	struct edit e;

	diff->has_a = a->source.len > 0;
	diff->has_b = b->source.len > 0;
	if (!diff->has_a || !diff->has_b)
		return;
	edit_init(&e, a, b);
	while (edit_next(&e, &i, &k))
		add_hunk(diff, &e, &i, &k);
	edit_release(&e);
}

static const struct run_setting *
setting_of(const struct run_text *text, const char *name)
{
	size_t known = (size_t)map_get(&text->index, str_from(name));

	return known > 0 ? &text->settings[known - 1] : NULL;
}

static int
compare_names(const void *a, const void *b)
{
	const struct run_differing *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Those of a text that the other tells otherwise, or (missing) not at all. */
static void
add_differing(struct run_diff *diff, size_t *cap, const struct run_text *of,
	      const struct run_text *other, bool missing)
{
	for (size_t i = 0; i < of->n; i++) {
		const struct run_setting *s = &of->settings[i];
		const struct run_setting *o = setting_of(other, s->name);

		if (s->varies || (o == NULL) != missing ||
		    (o != NULL &&
		     (o->varies || strcmp(s->value, o->value) == 0)))
			continue;
		xpush(diff->settings, diff->n_settings, *cap,
		      (struct run_differing){ s->name, s->value,
					      o != NULL ? o->value : NULL });
	}
}

void
run_diff_init(struct run_diff *diff, const struct run_text *a,
	      const struct run_text *b)
{
	size_t cap = 0, own;

	*diff = (struct run_diff){ .has_a = false };
	buf_init(&diff->source, 4 * RUN_TEXT_MAX_SOURCE);
	add_differing(diff, &cap, a, b, false);
	add_differing(diff, &cap, a, b, true);
	own = diff->n_settings;
	add_differing(diff, &cap, b, a, true);
	for (size_t i = own; i < diff->n_settings; i++) {
		diff->settings[i].b = diff->settings[i].a;
		diff->settings[i].a = NULL;
	}
	if (diff->n_settings > 0)
		qsort(diff->settings, diff->n_settings, sizeof(*diff->settings),
		      compare_names);
	diff_sources(diff, a, b);
}

void
run_diff_release(struct run_diff *diff)
{
	free(diff->settings);
	buf_release(&diff->source);
}

void
run_diff_say(const struct run_diff *diff, struct buf *out)
{
	size_t lines =
		diff->removed > diff->added ? diff->removed : diff->added;

	if (!diff->has_a || !diff->has_b)
		buf_appendf(out, "%s no source",
			    diff->has_a	  ? "the second prints"
			    : diff->has_b ? "the first prints"
					  : "they print");
	else if (diff->source.len == 0)
		buf_append_str(out, "the same source");
	else
		buf_appendf(out, "source differs in %zu line%s", lines,
			    lines == 1 ? "" : "s");
	buf_appendf(out, ", %zu setting%s", diff->n_settings,
		    diff->n_settings == 1 ? " differs" : "s differ");
}

/* A row of three columns, the first two so wide. */
static void
print_setting(const struct run_differing *s, const int *widths, struct buf *out)
{
	const char *const parts[] = { s->name, s->a, s->b };

	for (size_t i = 0; i < 3; i++) {
		AUTO_BUF clean = buf_new(4 * VALUE_BYTES);
		int columns;

		utf8_sanitize(&clean,
			      str_from(parts[i] != NULL ? parts[i] : "—"));
		columns = (int)utf8_width(buf_str(&clean));
		buf_append_str(out, clean.data);
		if (i < 2)
			buf_appendf(out, "  %*s",
				    columns < widths[i] ? widths[i] - columns
							: 0,
				    "");
	}
	buf_append_char(out, '\n');
}

static void
widen(int *width, const char *text)
{
	int len = text != NULL ? (int)strlen(text) : 0;

	if (len > *width && len <= WIDE)
		*width = len;
}

void
run_diff_print(const struct run_diff *diff, struct buf *out)
{
	const struct run_differing head = { "setting", "first", "second" };
	struct str rest = buf_str(&diff->source), line;
	int widths[2] = { (int)strlen(head.name), (int)strlen(head.a) };

	for (size_t i = 0; i < diff->n_settings; i++) {
		widen(&widths[0], diff->settings[i].name);
		widen(&widths[1], diff->settings[i].a);
	}
	if (diff->n_settings > 0)
		print_setting(&head, widths, out);
	for (size_t i = 0; i < diff->n_settings; i++)
		print_setting(&diff->settings[i], widths, out);
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		utf8_sanitize(out, line);
		buf_append_char(out, '\n');
	}
}
