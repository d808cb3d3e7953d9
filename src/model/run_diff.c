/* SPDX-License-Identifier: MIT */
/* The settings and the script of a run, and how those of two runs differ. */
#include "config.h"

#include "model/run_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "model/logfile.h"

#define NAME_BYTES  64U
#define VALUE_BYTES 200U
#define AROUND	    3U		/* lines of both around a difference */
#define MAX_CELLS   (32U << 20) /* lines of one script by those of the other */

void
run_text_init(struct run_text *text)
{
	/* A line of one setting may have blanks in its value. */
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

void
run_text_release(struct run_text *text)
{
	pattern_free(text->setting);
	cJSON_Delete(text->settings);
	buf_release(&text->source);
}

static void
add_setting(struct run_text *text, struct str name, struct str value)
{
	char key[NAME_BYTES + 1], clean[VALUE_BYTES + 1];
	cJSON *node;

	(void)utf8_clean(key, sizeof(key), name);
	node = cJSON_CreateString(utf8_clean(clean, sizeof(clean), value));
	if (json_get(text->settings, key) != NULL)
		cJSON_ReplaceItemInObjectCaseSensitive(text->settings, key,
						       node);
	else if (text->n++ < RUN_TEXT_MAX_SETTINGS)
		cJSON_AddItemToObject(text->settings, key, node);
	else
		cJSON_Delete(node);
}

/* Each setting of the line, to text unless `look`; is any one a loss? */
static bool
take_settings(struct run_text *text, struct str line, bool look)
{
	size_t at, len, from = 0;
	bool has_loss = false;

	while (from < line.len &&
	       pattern_find_from(text->setting, line, from, &at, &len)) {
		const char *p = line.p + at;
		size_t colon = 0, name = 0;

		while (p[colon] != ':' && p[colon] != '=')
			colon++;
		while (strchr("\"' \t:=", p[name]) == NULL)
			name++;
		has_loss |= str_find((struct str){ p, name }, "loss") != NULL;
		if (!look)
			add_setting(text, (struct str){ p, name },
				    str_trim((struct str){ p + colon + 1,
							   len - colon - 1 }));
		from = at + len;
	}
	return has_loss;
}

void
run_text_line(struct run_text *text, struct str line, enum line_class class)
{
	if (class == LINE_SOURCE && !text->is_over) {
		if (!text->in_source)
			buf_clear(&text->source);
		buf_append(&text->source, line.p, line.len);
		buf_append_char(&text->source, '\n');
	} else if (!text->is_over) {
		line = str_trim(line);
		text->is_over =
			class == LINE_METRIC && take_settings(text, line, true);
		if (!text->is_over)
			(void)take_settings(text, line, false);
	}
	text->in_source = class == LINE_SOURCE;
}

void
run_text_next_run(struct run_text *text)
{
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

/* The settings of a that b tells otherwise, or (missing) not at all. */
static void
add_differing(cJSON *list, const struct run_text *a, const struct run_text *b,
	      bool missing, bool turned)
{
	for (const cJSON *s = a->settings->child; s != NULL; s = s->next) {
		const char *other =
			json_get_string(b->settings, s->string, NULL);
		cJSON *row;

		if ((other == NULL) != missing ||
		    (other != NULL && strcmp(s->valuestring, other) == 0))
			continue;
		row = cJSON_CreateObject();
		json_add_string(row, "name", s->string);
		json_add_string(row, "a", turned ? NULL : s->valuestring);
		json_add_string(row, "b", turned ? s->valuestring : other);
		cJSON_AddItemToArray(list, row);
	}
}

/* A line of one script or of both, and where it stands in them. */
struct edit {
	char sign;
	bool is_shown;
	struct str line;
	size_t i, k;
};

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

/*
 * How many lines a and b have in common from i and k on, in rows of n_b + 1:
 * the longest common subsequence.  NULL where that would be too many cells.
 */
static uint16_t *
count_common(const struct str *a, size_t n_a, const struct str *b, size_t n_b)
{
	size_t row = n_b + 1;
	uint16_t *common;

	if (n_a >= UINT16_MAX || n_b >= UINT16_MAX ||
	    (n_a + 1) * row > MAX_CELLS)
		return NULL;
	common = xcalloc((n_a + 1) * row, sizeof(*common));
	for (size_t i = n_a; i-- > 0;) {
		uint16_t *own = common + i * row, *next = own + row;

		for (size_t k = n_b; k-- > 0;)
			own[k] = str_eq(a[i], b[k])	? next[k + 1] + 1
				 : next[k] > own[k + 1] ? next[k]
							: own[k + 1];
	}
	return common;
}

/* All lines in their order: with as few removed and added as there can be. */
static struct edit *
find_edits(const struct buf *of_a, const struct buf *of_b, size_t *n)
{
	size_t n_a, n_b, i = 0, k = 0;
	struct str *a = split_lines(of_a, &n_a), *b = split_lines(of_b, &n_b);
	uint16_t *common = count_common(a, n_a, b, n_b);
	struct edit *edits = xcalloc(n_a + n_b + 1, sizeof(*edits));

	for (*n = 0; i < n_a || k < n_b; ++*n) {
		struct edit *e = &edits[*n];

		*e = (struct edit){ .sign = '+', .i = i, .k = k };
		if (i < n_a && k < n_b && str_eq(a[i], b[k]))
			e->sign = ' ';
		else if (i < n_a && (k == n_b || common == NULL ||
				     common[(i + 1) * (n_b + 1) + k] >=
					     common[i * (n_b + 1) + k + 1]))
			e->sign = '-';
		e->line = e->sign == '+' ? b[k] : a[i];
		i += e->sign != '+';
		k += e->sign != '-';
	}
	free(common);
	free(a);
	free(b);
	return edits;
}

/* "@@ -1,7 +1,6 @@" for the lines that are shown from there on. */
static void
add_place(cJSON *list, const struct edit *e, const struct edit *end)
{
	size_t i = e->i, k = e->k, n_a = 0, n_b = 0;
	char text[120];

	for (; e < end && e->is_shown; e++) {
		n_a += e->sign != '+';
		n_b += e->sign != '-';
	}
	(void)snprintf(text, sizeof(text), "@@ -%zu,%zu +%zu,%zu @@",
		       i + (n_a > 0), n_a, k + (n_b > 0), n_b);
	cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

static void
diff_sources(cJSON *diff, const struct run_text *a, const struct run_text *b)
{
	cJSON *list = cJSON_AddArrayToObject(diff, "source");
	size_t n, removed = 0, added = 0;
	struct edit *edits = find_edits(&a->source, &b->source, &n);
	AUTO_BUF line = buf_new(RUN_TEXT_MAX_SOURCE);

	for (size_t i = 0; i < n; i++) {
		size_t from = i < AROUND ? 0 : i - AROUND;

		removed += edits[i].sign == '-';
		added += edits[i].sign == '+';
		for (size_t k = from; k <= i + AROUND && k < n; k++)
			edits[k].is_shown |= edits[i].sign != ' ';
	}
	for (size_t i = 0; i < n; i++) {
		if (!edits[i].is_shown)
			continue;
		if (i == 0 || !edits[i - 1].is_shown)
			add_place(list, &edits[i], edits + n);
		buf_clear(&line);
		buf_append_char(&line, edits[i].sign);
		utf8_sanitize(&line, edits[i].line);
		cJSON_AddItemToArray(list, cJSON_CreateString(line.data));
	}
	json_add_number(diff, "removed", (double)removed);
	json_add_number(diff, "added", (double)added);
	free(edits);
}

cJSON *
run_diff_json(const struct run_text *a, const struct run_text *b)
{
	cJSON *diff = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(diff, "settings");

	add_differing(list, a, b, false, false);
	add_differing(list, a, b, true, false);
	add_differing(list, b, a, true, true);
	if (a->source.len > 0 && b->source.len > 0)
		diff_sources(diff, a, b);
	else
		cJSON_AddNullToObject(diff, "source");
	return diff;
}

void
run_diff_say(const cJSON *diff, struct buf *out)
{
	double removed = json_get_number(diff, "removed", 0);
	double added = json_get_number(diff, "added", 0);
	double lines = fmax(removed, added);
	int settings = cJSON_GetArraySize(json_get(diff, "settings"));

	if (!json_has_type(json_get(diff, "source"), JSON_ARRAY))
		buf_append_str(out, "not both print their source");
	else if (!(lines > 0))
		buf_append_str(out, "the same source");
	else
		buf_appendf(out, "source differs in %.0f line%s", lines,
			    lines > 1 ? "s" : "");
	buf_appendf(out, ", %d setting%s", settings,
		    settings == 1 ? " differs" : "s differ");
}

void
run_diff_print(const cJSON *diff, struct buf *out)
{
	static const char form[] = "%-28s  %-28s  %s\n";
	const cJSON *settings = json_get(diff, "settings")->child, *line;

	if (settings != NULL)
		buf_appendf(out, form, "setting", "first", "second");
	for (; settings != NULL; settings = settings->next)
		buf_appendf(out, form, json_get_string(settings, "name", ""),
			    json_get_string(settings, "a", "-"),
			    json_get_string(settings, "b", "-"));
	for (line = json_get(diff, "source")->child; line != NULL;
	     line = line->next)
		buf_appendf(out, "%s\n", line->valuestring);
}
