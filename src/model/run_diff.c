/* SPDX-License-Identifier: MIT */
/* Read settings and script of a run from its log, and compare those of two runs. */
#include "model/run_diff.h"

#include "base/utf8.h"
#include "model/logfile.h"

#define NAME_BYTES  64U
#define VALUE_BYTES 200U
#define AROUND	    3U		/* common lines shown around a difference */
#define MAX_CELLS   (32U << 20) /* lines of one script times lines of the other */

void run_text_init(struct run_text *text)
{
	/* The first alternative: a line with one setting, whose value may contain blanks. */
	static const char pattern[] =
		"^[A-Za-z_][\\w.]*:\\s[^:=]*$|"
		"(?<![^\\s,;({\\[|\"'-])[A-Za-z_][\\w.]*[\"']?\\s*[:=](?![:=/])"
		"\\s*(\"[^\"]*\"|'[^']*'|\\([^)]*\\)|\\[[^\\]]*\\]|"
		"[^\\s,;)\\]}|]*)";
	struct err err = { ERR_NONE, "" };

	*text = (struct run_text){ .settings = cJSON_CreateObject(),
				   .setting = pattern_new(pattern, &err) };
	buf_init(&text->source, RUN_TEXT_MAX_SOURCE);
}

void run_text_release(struct run_text *text)
{
	pattern_free(text->setting);
	cJSON_Delete(text->settings);
	buf_release(&text->source);
}

void run_text_next_run(struct run_text *text)
{
	text->is_over = false;
	text->is_next = true;
}

/* Drop the settings and script of the previous run, now that this one prints its own. */
static void start_settings(struct run_text *text)
{
	if (!text->is_next)
		return;
	cJSON_Delete(text->settings);
	text->settings = cJSON_CreateObject();
	text->n = 0;
	buf_clear(&text->source);
	text->is_next = false;
}

static void add_setting(struct run_text *text, struct str name, struct str value)
{
	char key[NAME_BYTES + 1], clean[VALUE_BYTES + 1];

	start_settings(text);
	(void)utf8_clean(key, sizeof(key), name);
	cJSON *node = cJSON_CreateString(utf8_clean(clean, sizeof(clean), value));
	if (json_get(text->settings, key) != NULL)
		cJSON_ReplaceItemInObjectCaseSensitive(text->settings, key, node);
	else if (text->n++ < RUN_TEXT_MAX_SETTINGS)
		cJSON_AddItemToObject(text->settings, key, node);
	else
		cJSON_Delete(node);
}

/* Find the settings of a line and, unless `look`, store them; true if any is a loss. */
static bool read_settings(struct run_text *text, struct str line, bool look)
{
	size_t at, len, from = 0;
	bool has_loss = false;

	while (from < line.len && pattern_find_from(text->setting, line, from, &at, &len)) {
		const char *p = line.p + at;
		size_t colon = 0, name = 0;

		while (p[colon] != ':' && p[colon] != '=')
			colon++;
		while (strchr("\"' \t:=", p[name]) == NULL)
			name++;
		has_loss |= str_find((struct str){ p, name }, "loss") != NULL;
		if (!look)
			add_setting(text, (struct str){ p, name },
				    str_trim((struct str){ p + colon + 1, len - colon - 1 }));
		from = at + len;
	}
	return has_loss;
}

void run_text_line(struct run_text *text, struct str line, enum line_class class)
{
	if (class == LINE_SOURCE && !text->is_over) {
		start_settings(text);
		if (!text->in_source)
			buf_clear(&text->source);
		buf_append(&text->source, line.p, line.len);
		buf_append_char(&text->source, '\n');
	} else if (!text->is_over) {
		line = str_trim(line);
		text->is_over = class == LINE_METRIC && read_settings(text, line, true);
		if (!text->is_over)
			(void)read_settings(text, line, false);
	}
	text->in_source = class == LINE_SOURCE;
}

bool run_text_read(struct run_text *text, const struct model_run *mr)
{
	struct logfile *file =
		mr->log != NULL && !mr->log->is_preview ? model_log_open(mr->log) : NULL;
	uint64_t place = 0, number = 1, first = mr->run.first_line;
	AUTO_BUF line = buf_new(2 * LOGFILE_CUT_BYTES);

	if (file == NULL)
		return false;
	/* The file may be shorter than the log was when it was read. */
	while (place < mr->log->read_bytes && place < logfile_size(file) &&
	       number < first + mr->run.lines && number < RUN_TEXT_MAX_LINES) {
		if (number == first)
			run_text_next_run(text);
		else if (number > first && text->is_over)
			break;
		logfile_read(file, place, &line);
		run_text_line(text, buf_str(&line), logclass_of(&mr->log->classes, number));
		place = logfile_next(file, place);
		number += !logfile_is_part(file, place);
	}
	logfile_close(file);
	return number >= first && number < RUN_TEXT_MAX_LINES;
}

/* Print settings that the other run lacks or, with `both`, that differ; returns their number. */
static size_t print_differing(struct buf *out, const struct run_text *of,
			      const struct run_text *other, bool both)
{
	size_t n = 0;

	for (const cJSON *s = of->settings->child; s != NULL; s = s->next) {
		const char *a = s->valuestring;
		const char *b = json_get_string(other->settings, s->string, NULL);

		if (b != NULL && (!both || strcmp(a, b) == 0))
			continue;
		b = b != NULL ? b : "-";
		buf_appendf(out, "%-28s  %-28s  %s\n", s->string, both ? a : b, both ? b : a);
		n++;
	}
	return n;
}

/* A line of one or both scripts, and the position in each. */
struct edit {
	char sign;
	bool is_shown;
	struct str line;
	size_t i, k;
};

static struct str *split_lines(const struct buf *source, size_t *n)
{
	struct str rest = buf_str(source), line, *lines = NULL;
	size_t cap = 0;

	*n = 0;
	while (rest.len > 0 && str_next(&rest, '\n', &line))
		xpush(lines, *n, cap, line);
	return lines;
}

/* Compute the length of the longest common subsequence of a from i on and b from k on, for all i
 * and k, in rows of n_b + 1. NULL if there would be more than MAX_CELLS. */
static uint16_t *count_common(const struct str *a, size_t n_a, const struct str *b, size_t n_b)
{
	size_t row = n_b + 1;

	if (n_a >= UINT16_MAX || n_b >= UINT16_MAX || (n_a + 1) * row > MAX_CELLS)
		return NULL;
	uint16_t *common = xcalloc((n_a + 1) * row, sizeof(*common));
	for (size_t i = n_a; i-- > 0;) {
		uint16_t *own = common + i * row, *next = own + row;

		for (size_t k = n_b; k-- > 0;)
			own[k] = str_eq(a[i], b[k])	? next[k + 1] + 1
				 : next[k] > own[k + 1] ? next[k]
							: own[k + 1];
	}
	return common;
}

/* Merge the lines of both scripts in order, with as few removed and added ones as possible. The
 * array ends with an element that is not shown. */
static struct edit *find_edits(const struct buf *of_a, const struct buf *of_b, size_t *n)
{
	size_t n_a, n_b, i = 0, k = 0;
	AUTO_FREE struct str *a = split_lines(of_a, &n_a);
	AUTO_FREE struct str *b = split_lines(of_b, &n_b);
	AUTO_FREE uint16_t *common = count_common(a, n_a, b, n_b);
	struct edit *edits = xcalloc(n_a + n_b + 1, sizeof(*edits));

	for (*n = 0; i < n_a || k < n_b; ++*n) {
		struct edit *e = &edits[*n];

		*e = (struct edit){ .sign = '+', .i = i, .k = k };
		if (i < n_a && k < n_b && str_eq(a[i], b[k]))
			e->sign = ' ';
		else if (i < n_a &&
			 (k == n_b || common == NULL ||
			  common[(i + 1) * (n_b + 1) + k] >= common[i * (n_b + 1) + k + 1]))
			e->sign = '-';
		e->line = e->sign == '+' ? b[k] : a[i];
		i += e->sign != '+';
		k += e->sign != '-';
	}
	return edits;
}

/* Print a unified diff; returns the number of changed lines. */
static size_t diff_sources(struct buf *out, const struct run_text *a, const struct run_text *b)
{
	size_t n, removed = 0, added = 0;
	AUTO_FREE struct edit *edits = find_edits(&a->source, &b->source, &n);

	for (size_t i = 0; i < n; i++) {
		removed += edits[i].sign == '-';
		added += edits[i].sign == '+';
		for (size_t k = i < AROUND ? 0 : i - AROUND;
		     edits[i].sign != ' ' && k <= i + AROUND && k < n; k++)
			edits[k].is_shown = true;
	}
	for (size_t i = 0; i < n; i++) {
		if (!edits[i].is_shown)
			continue;
		if (i == 0 || !edits[i - 1].is_shown) {
			size_t n_a = 0, n_b = 0;

			for (const struct edit *e = &edits[i]; e->is_shown; e++) {
				n_a += e->sign != '+';
				n_b += e->sign != '-';
			}
			buf_appendf(out, "@@ -%zu,%zu +%zu,%zu @@\n", edits[i].i + (n_a > 0), n_a,
				    edits[i].k + (n_b > 0), n_b);
		}
		buf_append_char(out, edits[i].sign);
		utf8_sanitize(out, edits[i].line);
		buf_append_char(out, '\n');
	}
	return removed > added ? removed : added;
}

void run_diff_print(const struct run_text *a, const struct run_text *b, struct buf *out)
{
	bool both = a->source.len > 0 && b->source.len > 0;
	AUTO_BUF body = buf_new(out->cap);
	size_t settings = print_differing(&body, a, b, true) + print_differing(&body, b, a, false);
	size_t lines = both ? diff_sources(&body, a, b) : 0;

	if (a->source.len == 0 && b->source.len == 0)
		buf_append_str(out, "neither log contains its source");
	else if (!both)
		buf_append_str(out, "only one of the logs contains its source");
	else if (lines == 0)
		buf_append_str(out, "the same source");
	else
		buf_appendf(out, "source differs in %zu line%s", lines, lines == 1 ? "" : "s");
	buf_appendf(out, ", %zu setting%s\n", settings, settings == 1 ? " differs" : "s differ");
	buf_append(out, body.data, body.len);
}
