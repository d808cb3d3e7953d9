/* SPDX-License-Identifier: MIT */
/* A bench as a page for a pull request, and as a picture. */
#include "bench/page.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "bench/folder.h"
#include "bench/noise.h"
#include "bench/verdict_json.h"
#include "report/facts_print.h"

#define num verdict_number
#define txt verdict_text

#define MAX_TEXT (1024U * 1024)
#define MAX_LINE 4096
#define COLUMNS	 61 /* of the axis, as text */
#define LABEL	 16
#define WIDTH	 640 /* of the axis, as SVG */
#define LEFT	 60
#define RIGHT	 60
#define ROW	 50 /* height of the verdict and the blocks below it */
#define ROOM	 70 /* for a label of the axis */
/* The axis shows an interval up to this many times as wide as the blocks. */
#define MOST_WIDE 2.0

/* The common axis of all variants, in per cent. */
struct plot {
	const cJSON *contrasts;
	double lo, hi, margin;
	size_t n; /* contrasts with at least one block */
};

static void plot_extend(struct plot *plot, double pct)
{
	if (!isfinite(pct))
		return;
	plot->lo = fmin(plot->lo, pct);
	plot->hi = fmax(plot->hi, pct);
}

static struct plot make_plot(const cJSON *verdict)
{
	struct plot plot = { .contrasts = verdict_list(verdict, "contrasts"),
			     .margin = num(verdict, "margin_pct") };

	plot_extend(&plot, plot.margin);
	plot_extend(&plot, -plot.margin);
	json_each (c, plot.contrasts) {
		plot.n += cJSON_GetArraySize(verdict_list(c, "blocks")) > 0;
		json_each (b, verdict_list(c, "blocks"))
			plot_extend(&plot, num(b, "pct"));
	}
	double room = MOST_WIDE * (plot.hi - plot.lo);
	json_each (c, plot.contrasts) {
		double low = verdict_bound(c, "ci_pct", 0), high = verdict_bound(c, "ci_pct", 1);

		if (!isnan(low) && !isnan(high)) {
			plot_extend(&plot, fmax(low, -room));
			plot_extend(&plot, fmin(high, room));
		}
	}
	return plot;
}

/* Place of a value on an axis of that length; a value outside of the axis is put at its end. */
static double plot_place(const struct plot *plot, double pct, double length)
{
	double at = (pct - plot->lo) / (plot->hi - plot->lo);

	return fmin(fmax(at, 0.0), 1.0) * length;
}

static void plot_set(const struct plot *plot, char *row, double pct, char c)
{
	if (isfinite(pct))
		row[(size_t)lround(plot_place(plot, pct, COLUMNS - 1))] = c;
}

static void append_row(struct buf *out, const struct plot *plot, const cJSON *c)
{
	char row[COLUMNS + 1];
	double lo = verdict_bound(c, "ci_pct", 0), hi = verdict_bound(c, "ci_pct", 1);

	memset(row, ' ', COLUMNS);
	row[COLUMNS] = '\0';
	for (size_t i = 0; isfinite(lo) && isfinite(hi) && i < COLUMNS; i++)
		if ((double)i >= plot_place(plot, lo, COLUMNS - 1) &&
		    (double)i <= plot_place(plot, hi, COLUMNS - 1))
			row[i] = '-';
	plot_set(plot, row, -plot->margin, ':');
	plot_set(plot, row, plot->margin, ':');
	plot_set(plot, row, 0.0, '|');
	plot_set(plot, row, lo, '[');
	plot_set(plot, row, hi, ']');
	json_each (b, verdict_list(c, "blocks"))
		plot_set(plot, row, num(b, "pct"), 'o');
	buf_appendf(out, "    %-*.*s %s ", LABEL, LABEL, txt(c, "variant"), row);
	if (isfinite(num(c, "pct")))
		buf_appendf(out, "%s%%\n", stats_pct_text(num(c, "pct"), true).s);
	else
		buf_appendf(out, "%s\n", txt(c, "verdict"));
}

static void append_plot(struct buf *out, const cJSON *verdict)
{
	struct plot plot = make_plot(verdict);

	if (plot.n == 0)
		return;
	buf_append_char(out, '\n');
	json_each (c, plot.contrasts)
		if (cJSON_GetArraySize(verdict_list(c, "blocks")) > 0)
			append_row(out, &plot, c);
	buf_appendf(out, "    %-*s %-*s%*s %%\n", LABEL, "", COLUMNS / 2,
		    stats_pct_text(plot.lo, true).s, COLUMNS - COLUMNS / 2,
		    stats_pct_text(plot.hi, true).s);
	buf_append_str(
		out, "    o block  [-] interval  | zero  : margin; values above zero are faster\n");
}

static void append_svg_line(struct buf *out, const struct plot *plot, double pct, int rows,
			    const char *color)
{
	buf_appendf(out, "<path d=\"M%.1f 8v%d\" stroke=\"%s\"/>\n",
		    LEFT + plot_place(plot, pct, WIDTH), rows * ROW + 4, color);
}

/* Label a place of the axis; zero only where it leaves room for the labels of both ends. */
static void append_svg_label(struct buf *out, const struct plot *plot, double pct, int rows)
{
	double at = plot_place(plot, pct, WIDTH);

	if (pct == 0.0 && (at < ROOM || at > WIDTH - ROOM))
		return;
	buf_appendf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s%%</text>\n",
		    LEFT + at, rows * ROW + 28, stats_pct_text(pct, true).s);
}

static void append_svg_row(struct buf *out, const struct plot *plot, const cJSON *c, int row)
{
	double lo = verdict_bound(c, "ci_pct", 0), hi = verdict_bound(c, "ci_pct", 1);
	int y = row * ROW + 42;

	buf_appendf(out, "<text x=\"8\" y=\"%d\">", y - 18);
	utf8_add_xml(out, txt(c, "variant"));
	buf_append_str(out, ": ");
	utf8_add_xml(out, txt(c, "text"));
	buf_append_str(out, "</text>\n");
	if (isfinite(lo) && isfinite(hi))
		buf_appendf(out,
			    "<path d=\"M%.1f %dH%.1f\" stroke=\"#58a\" stroke-width=\"6\" "
			    "opacity=\"0.5\"/>\n",
			    LEFT + plot_place(plot, lo, WIDTH), y,
			    LEFT + plot_place(plot, hi, WIDTH));
	json_each (b, verdict_list(c, "blocks"))
		if (isfinite(num(b, "pct")))
			buf_appendf(out, "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n",
				    LEFT + plot_place(plot, num(b, "pct"), WIDTH), y,
				    verdict_is(b, "counts") ? "#246" : "#bbb");
}

void page_svg(struct buf *out, const cJSON *verdict)
{
	struct plot plot = make_plot(verdict);
	AUTO_BUF title = buf_new(MAX_LINE);
	int rows = (int)plot.n, row = 0;

	report_line(&title, verdict);
	buf_appendf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>",
		LEFT + WIDTH + RIGHT, rows * ROW + 60);
	utf8_add_xml(out, title.data);
	buf_append_str(out, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	append_svg_line(out, &plot, -plot.margin, rows, "#ddd");
	append_svg_line(out, &plot, 0.0, rows, "#888");
	append_svg_line(out, &plot, plot.margin, rows, "#ddd");
	append_svg_label(out, &plot, plot.lo, rows);
	append_svg_label(out, &plot, 0.0, rows);
	append_svg_label(out, &plot, plot.hi, rows);
	json_each (c, plot.contrasts)
		if (cJSON_GetArraySize(verdict_list(c, "blocks")) > 0)
			append_svg_row(out, &plot, c, row++);
	buf_appendf(out,
		    "<text x=\"8\" y=\"%d\" fill=\"#666\">dots: blocks (grey: not counted); bar: "
		    "interval; lines: zero and the margin of %g%%; right of zero is faster</text>\n"
		    "</svg>\n",
		    rows * ROW + 50, plot.margin);
}

static void page_add_pod(struct facts *facts, const struct plan_pod *pod, const char *path)
{
	AUTO_BUF text = buf_new(MAX_TEXT);
	struct noise_of_pod found;
	char file[FOLDER_PATH_SIZE];

	print_into(file, "%.2000s/env.%.60s.txt", path, pod->id);
	if (file_read(file, &text, NULL) != 0)
		return;
	noise_read_env(&found, pod, buf_str(&text));
	facts_text(facts, facts_keep(facts, "pod %s", pod->id), FACT_PLAIN, "%s%s%s%s%s", found.gpu,
		   found.driver[0] != '\0' ? ", driver " : "", found.driver,
		   found.gpu[0] != '\0' ? "; " : "", found.image);
}

/* Print a member of an object as Markdown; arrays get one line per item. */
static void page_add_member(struct buf *out, const cJSON *node)
{
	AUTO_BUF text = buf_new(MAX_TEXT);

	if (cJSON_IsArray(node)) {
		buf_append_char(&text, '[');
		json_each (item, node) {
			buf_append_str(&text, item != node->child ? ",\n      " : "\n      ");
			json_print(&text, item);
		}
		buf_append_char(&text, ']');
	} else {
		json_print(&text, node);
	}
	buf_appendf(out, "%s    %s\"%s\": %s", node->prev->next != NULL ? ",\n" : "",
		    node->prev->next != NULL ? " " : "{", node->string, text.data);
}

static void page_mask_env(const cJSON *owner)
{
	static const char *const parts[] = { "TOKEN", "SECRET", "PASS", "KEY" };
	cJSON *one;

	cJSON_ArrayForEach(one, json_get(owner, "env"))
	{
		if (any_of(i, LENGTH(parts), strcasestr(one->string, parts[i]) != NULL))
			(void)cJSON_SetValuestring(one, "...");
	}
}

static void page_add_definition(struct buf *out, const char *path)
{
	static const char *const ways[] = { "ssh", "identity", "known_hosts", "proxy_jump",
					    "stop_cmd" };
	AUTO_JSON root = folder_read_json(path, "bench.json");
	cJSON *one;

	if (!cJSON_IsObject(root))
		return;
	/* Remove the connection data of pods, and mask secret variables. */
	page_mask_env(json_get(root, "workload"));
	cJSON_ArrayForEach(one, json_get(root, "variants")) page_mask_env(one);
	cJSON_ArrayForEach(one, json_get(root, "pods"))
	{
		for (size_t i = 0; i < LENGTH(ways); i++)
			cJSON_DeleteItemFromObjectCaseSensitive(one, ways[i]);
	}
	buf_append_str(out, "\n"
			    "### how to repeat it\n"
			    "\n"
			    "`hgym-tui bench run bench.json`, with this bench.json:\n\n");
	json_each (node, root)
		page_add_member(out, node);
	buf_append_str(out, "}\n");
}

void page_md(struct buf *out, const cJSON *verdict, const struct plan *plan, const char *path)
{
	char began[CLOCK_RFC3339_SIZE], ended[CLOCK_RFC3339_SIZE];
	AUTO_BUF line = buf_new(MAX_LINE);
	struct folder_state state;
	AUTO_FACTS head = { .n = 0 };
	AUTO_FACTS facts = { .n = 0 };

	facts_section(&head, plan->name);
	report_line(&line, verdict);
	facts_text(&head, "", FACT_STRONG, "%s", line.data);
	facts_print_md(out, &head);
	append_plot(out, verdict);
	report_facts(&facts, verdict);
	facts_section(&facts, "how it was measured");
	for (size_t i = 0; i < plan->n_pods; i++)
		page_add_pod(&facts, &plan->pods[i], path);
	(void)folder_read_state(path, &state);
	clock_rfc3339(state.started_ms, began);
	clock_rfc3339(state.ended_ms, ended);
	facts_text(&facts, "when", FACT_PLAIN, "%s to %s",
		   state.started_ms > 0 ? began : FMT_ABSENT,
		   state.ended_ms > 0 ? ended : FMT_ABSENT);
	facts_text(&facts, "design", FACT_PLAIN, "%zu blocks on each pod, seed %llu, %s",
		   plan->blocks, (unsigned long long)plan->seed,
		   plan->aa ? "A/A runs in each block" : "no A/A arm");
	facts_text(&facts, "bench", FACT_PLAIN, "%s", file_name(path));
	facts_print_md(out, &facts);
	page_add_definition(out, path);
}
