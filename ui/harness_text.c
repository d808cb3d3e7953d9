/* SPDX-License-Identifier: MIT */
/* Texts of a HarnessGym run as a whole, folded; for harness_panels.c. */
#include "config.h"

#include <string.h>

#include "model/harness_words.h"
#include "ui/fold.h"
#include "ui/harness_panels.h"
#include "ui/theme.h"

#define WORDS_MAX 65536U

/* Rows that the text takes in that width. */
static size_t
count_rows(struct str text, struct rect r)
{
	struct str line;
	size_t n = 0;

	while (str_next(&text, '\n', &line))
		n += (size_t)fold_line(NULL, r, STYLE_LOG_PLAIN, line, 0);
	return n;
}

void
harness_panel_text(struct canvas *canvas, struct rect r, struct str text,
		   size_t *up)
{
	struct str line;
	size_t rows, most, top;
	int y = 0;

	text = str_trim(text);
	if (r.w <= 0 || r.h <= 0)
		return;
	rows = count_rows(text, r);
	most = rows > (size_t)r.h ? rows - (size_t)r.h : 0;
	if (*up > most)
		*up = most;
	top = most - *up;
	while (y < r.h && str_next(&text, '\n', &line)) {
		size_t n = (size_t)fold_line(NULL, r, STYLE_LOG_PLAIN, line, 0);

		if (n <= top) {
			top -= n;
			continue;
		}
		(void)fold_line(canvas,
				(struct rect){ r.x, r.y + y, r.w, r.h - y },
				STYLE_LOG_PLAIN, line, (int)top);
		y += (int)(n - top);
		top = 0;
	}
}

static void
add_part(struct buf *out, const char *label, const struct buf *words)
{
	if (words->len > 0)
		buf_appendf(out, "%s%s: %.*s", out->len > 0 ? "\n" : "", label,
			    (int)words->len, words->data);
}

/* An iteration, as the row of the table has it. */
static void
add_iteration(struct buf *out, const struct harness_run *run,
	      const struct harness_iteration *it)
{
	struct buf words;

	buf_init(&words, WORDS_MAX);
	buf_appendf(out, "\n\niteration %u", it->number);
	harness_add_attempt(&words, run, it);
	add_part(out, "attempt", &words);
	buf_clear(&words);
	harness_add_calls(&words, it);
	add_part(out, "calls", &words);
	buf_clear(&words);
	harness_add_result(&words, run, it);
	add_part(out, "result", &words);
	buf_clear(&words);
	harness_add_qualification(&words, it);
	add_part(out, "qualified", &words);
	buf_clear(&words);
	if (it->note != NULL)
		buf_append_str(&words, it->note);
	add_part(out, "notes", &words);
	buf_release(&words);
}

void
harness_panel_words(struct canvas *canvas, struct rect rect,
		    const struct harness_pick *pick, size_t *up)
{
	struct buf out, words;

	buf_init(&out, WORDS_MAX);
	buf_init(&words, WORDS_MAX);
	buf_appendf(&out, "run: %s of %s", pick->run->id, pick->place->title);
	for (int i = 0; i < HARNESS_FACT_COUNT; i++) {
		enum harness_fact fact = (enum harness_fact)i;

		buf_clear(&words);
		if (fact != HARNESS_FACT_RUNS)
			harness_add_fact(&words, fact, &pick->place->ws,
					 pick->run);
		add_part(&out, harness_fact_label(fact), &words);
	}
	if (pick->it != NULL)
		add_iteration(&out, pick->run, pick->it);
	harness_panel_text(canvas, rect, (struct str){ out.data, out.len }, up);
	buf_release(&words);
	buf_release(&out);
}
