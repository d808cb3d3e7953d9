/* SPDX-License-Identifier: MIT */
/* Print a HarnessGym run or comparison for `harness`. */
#include "harness/print.h"

#include "report/facts_print.h"
#include "report/harness_words.h"

#define TEXT_MAX (1024U * 1024)

/* Print and release facts; the first one is the title. */
static void print_facts(FILE *stream, enum out_format format, struct facts *facts)
{
	static const struct facts_look look = { .indent = 2, .is_tight = true };
	AUTO_BUF text = buf_new(TEXT_MAX);

	if (format == OUT_MD)
		facts_print_md(&text, facts);
	else
		facts_print(&text, facts, &look);
	(void)fprintf(stream, "%s\n", text.data);
	facts_release(facts);
}

static const char run_columns[] =
	"run_id=run, iteration=it:0, attempt, active_tools=tools:0, "
	"calls=MCP calls, score_verified=verified, "
	"vs_baseline_pct=% on baseline:1, vs_best_pct=% on best:1, result, "
	"qualification, phases=other phases, note=notes";

static const char table_columns[] =
	"run_id=run, iteration=row:0, attempt=status, result, note=notes";

/* Move text to the cell of row; an empty text is null. */
static void move_text(struct buf *text, cJSON *row, const char *key)
{
	json_add_string(row, key, text->len > 0 ? text->data : NULL);
	buf_clear(text);
}

static cJSON *make_iteration_row(const struct harness_run *run, const struct harness_iteration *it)
{
	cJSON *row = json_new(JTEXT("run_id", run->id), JNUM("iteration", it->number),
			      JVAL("active_tools", it->active_tools),
			      JVAL("score_verified", it->verified_score),
			      JVAL("vs_baseline_pct", it->baseline_pct),
			      JVAL("vs_best_pct", it->previous_pct), JTEXT("note", it->note));
	AUTO_BUF text = buf_new(TEXT_MAX);

	harness_add_attempt(&text, run, it);
	move_text(&text, row, "attempt");
	harness_add_calls(&text, it);
	move_text(&text, row, "calls");
	harness_add_result(&text, run, it);
	move_text(&text, row, "result");
	harness_add_qualification(&text, it);
	move_text(&text, row, "qualification");
	harness_add_phases(&text, it);
	move_text(&text, row, "phases");
	return row;
}

int harness_print_run(FILE *stream, enum out_format format, const struct harness_workspace *ws,
		      const struct harness_run *run)
{
	const char *columns = run->table != NULL ? table_columns : run_columns;
	AUTO_BUF runs = buf_new(TEXT_MAX);
	struct facts facts = { .n = 0 };

	if (format != OUT_CSV) {
		facts_section(&facts, facts_keep(&facts,
						 run->table != NULL ? "Experiments of %s"
								    : "HarnessGym run %s",
						 run->id));
		harness_facts(&facts, ws, run, NULL);
		harness_add_runs(&runs, ws);
		if (runs.len > 0)
			facts_text(&facts, "runs", FACT_PLAIN, "%s", runs.data);
		print_facts(stream, format, &facts);
		/* The title names the run; only CSV repeats it in each row. */
		columns = strchr(columns, ',') + 2;
	}
	struct out *out = out_new(stream, format, columns);
	for (size_t i = 0; i < run->n_iterations; i++)
		out_take(out, make_iteration_row(run, &run->iterations[i]));
	int rc = out_free(out);
	if (format == OUT_TABLE && run->best.present)
		(void)fputs("  (+ % is better; each score is a single measurement, so a small "
			    "difference may be noise)\n",
			    stream);
	return rc;
}

static const char trial_columns[] =
	"group, trial:0, status, iterations=its:0, attempt_s=attempt s:1, "
	"active_tools=tools:0, mcp_calls=MCP calls:0, score=valid score, "
	"result";

int harness_print_compare(FILE *stream, enum out_format format,
			  const struct harness_compare *compare)
{
	struct facts facts = { .n = 0 };
	AUTO_BUF text = buf_new(TEXT_MAX);

	facts_section(&facts, "HarnessGym comparison");
	harness_compare_facts(&facts, compare);
	if (format != OUT_CSV)
		print_facts(stream, format, &facts);
	else
		facts_release(&facts);
	struct out *out = out_new(stream, format, trial_columns);
	array_each (t, compare->trials, compare->n_trials) {
		cJSON *row = json_new(
			JTEXT("group", t->group), JNUM("trial", t->number),
			JTEXT("status", t->status), JVAL("iterations", t->iterations),
			JVAL("attempt_s", t->attempt_s), JVAL("active_tools", t->active_tools),
			JVAL("mcp_calls", t->calls),
			JNUM("score", harness_trial_counts(t) ? t->score.value : (double)NAN));

		harness_add_trial(&text, t);
		move_text(&text, row, "result");
		out_take(out, row);
	}
	return out_free(out);
}
