/* SPDX-License-Identifier: MIT */
/* A judged HarnessGym run or comparison as a page; called by `harness`. */
#include "harness/print.h"

#include "base/utf8.h"
#include "report/harness_words.h"

#define TEXT_MAX 8192U

/* Where to, in which form, and the text of the line under way. */
struct page {
	FILE *stream;
	enum out_format format;
	struct buf text;
};

static struct page
page_init(FILE *stream, enum out_format format)
{
	struct page page = { .stream = stream, .format = format };

	buf_init(&page.text, TEXT_MAX);
	return page;
}

/* Print the text, made harmless, behind a label (NULL: it is the title). */
static void
page_text(const struct page *page, const char *label, struct str text)
{
	bool md = page->format == OUT_MD;
	AUTO_BUF clean = buf_new(TEXT_MAX * 3);

	utf8_sanitize(&clean, text);
	if (label == NULL)
		(void)fprintf(page->stream, md ? "## %s\n\n" : "%s\n",
			      clean.data);
	else
		(void)fprintf(page->stream, md ? "- %s: %s\n" : "  %-14s %s\n",
			      label, clean.data);
}

/* The same of the line under way, which is empty then. */
static void
page_line(struct page *page, const char *label)
{
	page_text(page, label, buf_str(&page->text));
	buf_clear(&page->text);
}

/* A line a fact; the list is not used any more. */
static void
page_facts(const struct page *page, struct facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		page_text(page, facts->v[i].label, str_from(facts->v[i].text));
	facts_release(facts);
}

static const char run_columns[] =
	"run_id=run, iteration=it:0, attempt, active_tools=tools:0, "
	"calls=MCP calls, score_verified=verified, "
	"vs_baseline_pct=% on baseline:1, vs_best_pct=% on best:1, result, "
	"qualification, phases=other phases, note=notes";

static const char table_columns[] =
	"run_id=run, iteration=row:0, attempt=status, result, note=notes";

/* Move the page's text into a cell; nothing of it is null. */
static void
take_cell(struct page *page, cJSON *row, const char *key)
{
	json_add_string(row, key, page->text.len > 0 ? page->text.data : NULL);
	buf_clear(&page->text);
}

static void
add_cell_number(cJSON *row, const char *key, struct harness_number number)
{
	json_add_number(row, key, number.present ? number.value : (double)NAN);
}

/* Everything of a run but its table of iterations. */
static void
print_head(struct page *page, const struct harness_workspace *ws,
	   const struct harness_run *run)
{
	struct facts facts;

	buf_appendf(&page->text,
		    run->table != NULL ? "Experiments of %s"
				       : "HarnessGym run %s",
		    run->id);
	page_line(page, NULL);
	facts_init(&facts);
	harness_facts(&facts, ws, run, NULL);
	page_facts(page, &facts);
	harness_add_runs(&page->text, ws);
	if (page->text.len > 0)
		page_line(page, "runs");
	(void)fputc('\n', page->stream);
}

static cJSON *
iteration_row(struct page *page, const struct harness_run *run,
	      const struct harness_iteration *it)
{
	cJSON *row = cJSON_CreateObject();

	json_add_string(row, "run_id", run->id);
	cJSON_AddNumberToObject(row, "iteration", it->number);
	harness_add_attempt(&page->text, run, it);
	take_cell(page, row, "attempt");
	add_cell_number(row, "active_tools", it->active_tools);
	harness_add_calls(&page->text, it);
	take_cell(page, row, "calls");
	add_cell_number(row, "score_verified", it->verified_score);
	add_cell_number(row, "vs_baseline_pct", it->baseline_pct);
	add_cell_number(row, "vs_best_pct", it->previous_pct);
	harness_add_result(&page->text, run, it);
	take_cell(page, row, "result");
	harness_add_qualification(&page->text, it);
	take_cell(page, row, "qualification");
	harness_add_phases(&page->text, it);
	take_cell(page, row, "phases");
	json_add_string(row, "note", it->note);
	return row;
}

int
harness_print_run(FILE *stream, enum out_format format,
		  const struct harness_workspace *ws,
		  const struct harness_run *run)
{
	struct page page = page_init(stream, format);
	const char *columns = run->table != NULL ? table_columns : run_columns;

	if (format != OUT_CSV)
		print_head(&page, ws, run);
	/* The head names the run; only CSV repeats it in each row. */
	struct out *out = out_new(stream, format,
				  format == OUT_CSV ? columns : columns + 1);
	for (size_t i = 0; i < run->n_iterations; i++)
		out_take(out, iteration_row(&page, run, &run->iterations[i]));
	int rc = out_free(out);
	if (format == OUT_TABLE && run->best.present)
		(void)fputs("  (+ % is better; each score is one sample, so a "
			    "small difference may be noise)\n",
			    stream);
	buf_release(&page.text);
	return rc;
}

static const char trial_columns[] =
	"group, trial:0, status, iterations=its:0, attempt_s=attempt s:1, "
	"active_tools=tools:0, mcp_calls=MCP calls:0, score=valid score, "
	"result";

static void
print_compare_head(struct page *page, const struct harness_compare *compare)
{
	struct facts facts;

	buf_append_str(&page->text, "HarnessGym comparison");
	page_line(page, NULL);
	facts_init(&facts);
	harness_compare_facts(&facts, compare);
	page_facts(page, &facts);
	(void)fputc('\n', page->stream);
}

int
harness_print_compare(FILE *stream, enum out_format format,
		      const struct harness_compare *compare)
{
	struct page page = page_init(stream, format);

	if (format != OUT_CSV)
		print_compare_head(&page, compare);
	struct out *out = out_new(stream, format, trial_columns);
	array_each (t, compare->trials, compare->n_trials) {
		cJSON *row = cJSON_CreateObject();

		json_add_string(row, "group", t->group);
		cJSON_AddNumberToObject(row, "trial", t->number);
		json_add_string(row, "status", t->status);
		add_cell_number(row, "iterations", t->iterations);
		add_cell_number(row, "attempt_s", t->attempt_s);
		add_cell_number(row, "active_tools", t->active_tools);
		add_cell_number(row, "mcp_calls", t->calls);
		add_cell_number(row, "score",
				harness_trial_counts(t)
					? t->score
					: (struct harness_number){ false, 0 });
		harness_add_trial(&page.text, t);
		take_cell(&page, row, "result");
		out_take(out, row);
	}
	int rc = out_free(out);
	buf_release(&page.text);
	return rc;
}
