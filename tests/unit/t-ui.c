/* SPDX-License-Identifier: MIT */
/* The parts of the screen: cells, tables, charts, keys, prompts, OSC. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/keymap.h"
#include "base/plain.h"
#include "report/facts.h"
#include "ui/canvas.h"
#include "ui/chart.h"
#include "ui/list.h"
#include "ui/osc.h"
#include "ui/prompt.h"
#include "ui/theme.h"

#include "tests/support/tap.h"

static void is_screen(const struct canvas *canvas, const char *want, const char *name)
{
	struct buf text;

	buf_init(&text, 65536);
	canvas_dump(canvas, false, &text);
	is_str(text.data, want, name);
	buf_release(&text);
}

static void test_canvas(void)
{
	struct canvas canvas;
	struct rect before;

	canvas_init(&canvas);
	canvas_resize(&canvas, 8, 2);
	(void)canvas_text(&canvas, 0, 0, STYLE_NORMAL, "a\033[31mb\007");
	is_screen(&canvas, "a·[31mb·\n\n", "control characters become dots");
	canvas_clear(&canvas);
	(void)canvas_text(&canvas, 0, 0, STYLE_NORMAL, "日本語日本");
	is_screen(&canvas, "日本語日\n\n", "a wide character is never half visible");
	(void)canvas_text(&canvas, 1, 0, STYLE_NORMAL, "x");
	is_screen(&canvas, " x本語日\n\n",
		  "overwriting half of a wide character blanks the other half");
	canvas_clear(&canvas);
	(void)canvas_text(&canvas, 7, 0, STYLE_NORMAL, "日");
	is_screen(&canvas, "\n\n", "no wide character crosses the edge");
	(void)canvas_text(&canvas, 0, 0, STYLE_NORMAL, "e\u0301x");
	is_screen(&canvas, "e\u0301x\n\n", "combining marks stay with their letter");
	canvas_clear(&canvas);
	canvas_line_elided(&canvas, (struct rect){ 0, 0, 8, 1 }, STYLE_NORMAL,
			   STR_LIT("abc日本語日本語b"));
	is_screen(&canvas, "abc…語b\n\n", "the middle of wide characters is cut out once");
	canvas_clear(&canvas);
	canvas_line(&canvas, (struct rect){ 0, 0, 5, 1 }, STYLE_NORMAL, STR_LIT("truncated"));
	is_screen(&canvas, "trun…\n\n", "a text that is cut off ends in a mark");
	canvas_clear(&canvas);
	before = canvas_clip(&canvas, (struct rect){ 2, 0, 3, 1 });
	canvas_fill(&canvas, (struct rect){ 0, 0, 100, 100 }, STYLE_NORMAL, '#');
	canvas.clip = before;
	is_screen(&canvas, "  ###\n\n", "drawing stays within the clip");
	canvas_put(&canvas, -1, 0, STYLE_NORMAL, 'x');
	canvas_put(&canvas, 0, 99, STYLE_NORMAL, 'x');
	is_screen(&canvas, "  ###\n\n", "nothing is drawn outside of the canvas");
	canvas_release(&canvas);
}

static void test_ascii(void)
{
	struct canvas canvas;
	struct buf text;
	bool plain = true;

	canvas_init(&canvas);
	canvas_resize(&canvas, 20, 3);
	canvas_box(&canvas, (struct rect){ 0, 0, 20, 3 }, "→ ±1 ▲✓");
	buf_init(&text, 4096);
	canvas_dump(&canvas, true, &text);
	for (size_t i = 0; i < text.len; i++)
		plain = plain && (unsigned char)text.data[i] < 0x80;
	ok(plain, "the ASCII form contains only ASCII");
	for (uint32_t cp = 0; cp < 0x30000; cp++)
		plain = plain && plain_char(cp) >= ' ' && plain_char(cp) < 0x7F;
	ok(plain, "the ASCII form of every character contains only ASCII");
	buf_release(&text);
	canvas_release(&canvas);
}

static void number_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	(void)user;
	list_cellf(cell, STYLE_NORMAL, "%zu.%zu", row, column);
}

static void test_list(void)
{
	static const struct list_column columns[] = {
		{ "A", 4, .grow = true },
		{ "B", 4, 2, FMT_NUMBER, .decimals = 0 },
		{ "C", 4, 1, FMT_NUMBER, .decimals = 0 },
	};
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 3,
					     .cell = number_cell };
	struct list list = { 0 };
	struct canvas canvas;

	canvas_init(&canvas);
	canvas_resize(&canvas, 15, 3);
	list_fill(&list, &ops, NULL, 10);
	list_draw(&list, &canvas, (struct rect){ 0, 0, 15, 3 });
	is_screen(&canvas, "A       B    C\n0.0   0.1  0.2█\n1.0   1.1  1.2│\n",
		  "columns are aligned");
	(void)list_act(&list, ACTION_BOTTOM);
	canvas_clear(&canvas);
	list_draw(&list, &canvas, (struct rect){ 0, 0, 9, 3 });
	is_screen(&canvas, "A 9-10/10\n8.0     │\n9.0     █\n",
		  "the column with the highest drop is hidden, the last row is visible");
	list.selected = 4;
	canvas_clear(&canvas);
	canvas_resize(&canvas, 30, 3);
	list_draw(&list, &canvas, (struct rect){ 0, 0, 30, 3 });
	is_screen(&canvas,
		  "A       B    C          5-6/10\n"
		  "4.0   4.1  4.2               │\n"
		  "5.0   5.1  5.2               █\n",
		  "a column grows no wider than its texts; the header names the visible rows if it "
		  "has room");
	list.selected = list.top = 8;
	list_draw(&list, &canvas, (struct rect){ 0, 0, 30, 3 });
	ok(list_click(&list, 3, 1) && list_row(&list) == 8, "a click selects its row");
	ok(!list_click(&list, 3, 0), "the header is not a row");
	list_fill(&list, &ops, NULL, 3);
	is_int((long long)list_row(&list), 2, "with fewer rows the selection stays inside");
	list_fill(&list, &ops, NULL, 0);
	(void)list_act(&list, ACTION_DOWN);
	ok(list_row(&list) == SIZE_MAX, "an empty list has no selected row");
	list_release(&list);
	canvas_release(&canvas);
}

/* Numbers to sort by; the fourth is absent. */
static const double sorted_numbers[] = { 3, 1, 2, NAN, 1 };
static const char *const sorted_names[] = { "next-view", "reference", "repaint", "zoom|in",
					    "quit" };

static const char *const *names_now;

static uint64_t name_id(void *user, size_t row)
{
	(void)user;
	return str_hash(str_from(names_now[row]));
}

/* Rows appear before the selected one and disappear: it stays selected. */
static void test_list_id(void)
{
	static const char *const before[] = { "b", "c" };
	static const char *const after[] = { "a", "b", "x", "c" };
	static const char *const gone[] = { "a", "b", "x", "y" };
	static const struct list_column columns[] = { { "A", 4, .drop = 0 } };
	static const struct list_ops ops = {
		.columns = columns, .n_columns = 1, .cell = number_cell, .id = name_id
	};
	struct list list = { .n = 0 };

	names_now = before;
	list_fill(&list, &ops, NULL, 2);
	(void)list_act(&list, ACTION_DOWN);
	names_now = after;
	list_fill(&list, &ops, NULL, 4);
	is_int((long long)list_row(&list), 3, "the same row is selected");
	names_now = gone;
	list_fill(&list, &ops, NULL, 4);
	is_int((long long)list_row(&list), 3,
	       "if the row is gone, the row at its place is selected");
	names_now = before;
	list_fill(&list, &ops, NULL, 2);
	is_int((long long)list_row(&list), 1, "with fewer rows, the last one is selected");
	list_release(&list);
}

static void sorted_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	static const char *const words[] = { "go right", "compare", "draw anew", "closer",
					     "leave" };

	(void)user;
	cell->number = sorted_numbers[row];
	if (column != 2)
		list_cellf(cell, STYLE_NORMAL, "%s", column == 0 ? sorted_names[row] : words[row]);
}

static void is_order(struct list *list, const struct list_ops *ops, const char *want,
		     const char *name)
{
	char got[16] = "";

	list_fill(list, ops, NULL, 5);
	for (size_t i = 0; i < list->n; i++)
		got[i] = (char)('0' + list->order[i]);
	got[list->n] = '\0';
	is_str(got, want, name);
}

static void test_order(void)
{
	static const struct list_column columns[] = {
		{ "name", 9, .drop = 0 },
		{ "does", 9, .drop = 0 },
		{ "n", 4, 0, FMT_SIGNED, .descending = true },
	};
	static const unsigned char sorts[] = { 2, 0 };
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 3,
					     .cell = sorted_cell,
					     .best_first = true,
					     .sorts = sorts };
	struct list list = { 0 };
	struct buf md;

	is_order(&list, &ops, "01234", "rows have their default order");
	list_select(&list, 1);
	ok(list_act(&list, ACTION_SORT), "s sorts the list");
	is_order(&list, &ops, "02143", "the greatest first, absent values last");
	ok(list_row(&list) == 0, "the first row is selected");
	list_select(&list, 1);
	is_str(list_sorted_by(&list), "n", "the sort column is reported");
	(void)list_act(&list, ACTION_SORT_REVERSE);
	is_order(&list, &ops, "14203", "reversed, absent values stay last");
	list_select(&list, 4);
	is_order(&list, &ops, "14203", "rows are filled again");
	ok(list_row(&list) == 4, "the selection is still the same row");
	(void)list_act(&list, ACTION_SORT);
	is_order(&list, &ops, "01234", "after the last column comes the default order");
	buf_init(&md, 4096);
	list_export(&list, false, &md);
	ok(strstr(md.data, "| zoom\\|in | closer | — |\n") != NULL &&
		   strstr(md.data, "| name | does | n |\n| --- ") == md.data,
	   "Markdown escapes bars");
	buf_release(&md);
	list_filter(&list, "rep");
	is_order(&list, &ops, "2", "letters find a name");
	list_filter(&list, "compare");
	is_order(&list, &ops, "1", "words are found in the description");
	list_filter(&list, "ve");
	is_order(&list, &ops, "04", "a match in the name counts more");
	list_filter(&list, "RIGHT next");
	is_order(&list, &ops, "0", "words are found in any order and case");
	list_filter(&list, "right compare");
	is_order(&list, &ops, "", "one row has to contain all words");
	list_filter(&list, "zzz");
	is_order(&list, &ops, "", "a word that no cell contains matches nothing");
	ok(list_row(&list) == SIZE_MAX, "without rows nothing is selected");
	ok(!list_act(&list, ACTION_MARK) && list_act(&list, ACTION_DOWN) &&
		   list_act(&list, ACTION_SORT) && list_row(&list) == SIZE_MAX,
	   "keys do not select anything either");
	ok(list_score("nv", "next-view") > list_score("nv", "xnxv"),
	   "starts of words score higher");
	list_release(&list);
}

/* Two groups of seeds, of which the second is better; and a column without values. */
static void group_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	static const double numbers[] = { 2, 9, 8, 1, 5 };
	static const char *const names[] = { "gamma-long-name", "seed 7", "seed 42", "alpha",
					     "seed 7" };

	(void)user;
	if (column == 0)
		list_cellf(cell, STYLE_NORMAL, "%s", names[row]);
	else if (column == 1)
		cell->number = numbers[row];
	else if (column == 2)
		list_cellf(cell, STYLE_NORMAL, "here");
}

static size_t group_parent(void *user, size_t row)
{
	(void)user;
	return row < 3 ? 0 : 3;
}

static void test_groups(void)
{
	static const struct list_column columns[] = {
		{ "name", 8, .grow = true, .name = true },
		{ "n", 4, 0, FMT_NUMBER, .decimals = 0 },
		{ "pod", 4, .same_goes = true },
		{ "none", 4, 0, FMT_NUMBER, .decimals = 0 },
	};
	static const struct list_ops ops = {
		.columns = columns, .n_columns = 4, .cell = group_cell, .parent = group_parent
	};
	struct rect rect = { 0, 1, 16, 7 };
	struct list list = { 0 };
	struct canvas canvas;

	canvas_init(&canvas);
	canvas_resize(&canvas, 16, 8);
	list_fill(&list, &ops, NULL, 5);
	list_draw(&list, &canvas, rect);
	is_screen(&canvas,
		  "\nname           n\ngamma…-name    2\nseed 7         9\n"
		  "seed 42        8\nalpha          1\nseed 7         5\n\n",
		  "a column of nothing or of one thing goes, a long name loses "
		  "its middle");
	ok(!list_click_header(&list, 15, 2) && list_click_header(&list, 15, 1),
	   "a column without values or with equal ones is hidden, a long name loses its middle");
	is_order(&list, &ops, "34021", "a click on the header sorts");
	(void)list_click_header(&list, 15, 1);
	is_order(&list, &ops, "01234", "in both directions");
	(void)list_act(&list, ACTION_SORT);
	is_order(&list, &ops, "01234", "s skips hidden columns");
	is_str(list_sorted_by(&list), NULL, "after the last column comes the default order");
	(void)list_act(&list, ACTION_SORT);
	is_order(
		&list, &ops, "34012",
		"the default order is followed by the first column; names are sorted by their numbers");
	list_filter(&list, "alp");
	is_order(&list, &ops, "34", "a group is found with its seeds");
	canvas_clear(&canvas);
	list_draw(&list, &canvas, rect);
	ok((canvas_at(&canvas, 2, 2)->style & STYLE_MASK) == STYLE_MATCH &&
		   (canvas_at(&canvas, 3, 2)->style & STYLE_MASK) != STYLE_MATCH,
	   "the letters that match are highlighted");
	list_filter(&list, "9");
	is_order(&list, &ops, "1", "visible numbers are found");
	list_filter(&list, "n=9");
	is_order(&list, &ops, "1", "a named column is compared");
	list_filter(&list, "pod:9");
	is_order(&list, &ops, "", "a named column excludes the other columns");
	list_filter(&list, "name=seed");
	is_order(&list, &ops, "", "with = the whole text of the cell has to be the same");
	list_filter(&list, "name:seed");
	is_order(&list, &ops, "412", "with : a part is enough");
	list_filter(&list, "x=9");
	is_order(&list, &ops, "", "without such a column it is a word like others");
	list_release(&list);
	canvas_release(&canvas);
}

static void date_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	(void)column;
	list_cellf(cell, STYLE_NORMAL, "%s", ((const char *const *)user)[row]);
}

/* A name without room loses the words that other rows have too, and keeps its own words. */
static void test_names(void)
{
	static const char *const names[] = {
		"2026-04-29_SP8192_Muon_PClip12",
		"2026-04-05_SP8192_Smear_PClip12",
		"2026-04-29_SP8192_Smear_PClip12",
		"2026-04-29_SP8192_QK5_Legal_PClip12",
		"Größe_PClip12",
	};
	static const char *const numbered[] = { "run_x #2", "run_y #2", "2_z" };
	static const struct {
		size_t row;
		int width;
		const char *want;
	} v[] = {
		{ 0, 40, "2026-04-29_SP8192_Muon_PClip12" },
		{ 0, 9, "29…Muon…" },
		{ 1, 12, "05…Smear…" },
		{ 3, 14, "29…QK5_Legal…" },
		{ 3, 4, "QK5_Legal…" },
		{ 4, 9, "Größe…" },
	};
	static const struct list_column columns[] = { { "name", 8, .grow = true, .name = true } };
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 1,
					     .cell = date_cell };
	struct list list = { 0 };
	struct canvas canvas;
	char name[LIST_CELL_BYTES];

	canvas_init(&canvas);
	canvas_resize(&canvas, 12, 8);
	list_fill(&list, &ops, (void *)(uintptr_t)names, LENGTH(names));
	list_draw(&list, &canvas, (struct rect){ 0, 0, 12, 8 });
	for (size_t i = 0; i < LENGTH(v); i++) {
		print_into(name, "%s", names[v[i].row]);
		list_cut_name(&list, name, v[i].width);
		is_str(name, v[i].want, "a name is shortened where it equals the other names");
	}
	list_fill(&list, &ops, (void *)(uintptr_t)numbered, LENGTH(numbered));
	list_draw(&list, &canvas, (struct rect){ 0, 0, 12, 8 });
	print_into(name, "%s", numbered[0]);
	list_cut_name(&list, name, 4);
	is_str(name, "x #2", "the number of a run stays, because it may be all that differs");
	list_release(&list);
	canvas_release(&canvas);
}

static void test_facts(void)
{
	static const struct facts_column columns[] = {
		{ .label = "case", .kind = FMT_TEXT },
		{ .label = "s", .kind = FMT_NUMBER, .decimals = 1 },
	};
	struct facts facts = { .n = 0 };
	char value[FACT_SIZE];

	facts_text(&facts, "link", FACT_LIVE, "%s", "live");
	facts_number(&facts, "cost", FMT_NUMBER, 1.5, 2, "USD");
	facts_number(&facts, "left", FMT_AGE, NAN, 0, "s");
	is_int((long long)facts.n_sections, 1, "facts do not need a section");
	is_str(fact_value(&facts.v[0], value), "live", "a text is a value");
	is_str(fact_value(&facts.v[1], value), "1.50 USD", "a number has a unit");
	is_str(fact_value(&facts.v[2], value), "—", "an unknown number is a dash without a unit");
	facts_table(&facts, "cases", columns, 2);
	facts_text(&facts, "", FACT_PLAIN, "a");
	facts_number(&facts, "", FMT_NUMBER, 2, 1, "");
	ok(facts.n_sections == 2 && facts.sections[1].first == 3 && facts.sections[1].n == 2 &&
		   facts.sections[0].n == 3,
	   "the cells of a table are a separate section");
	facts_release(&facts);
}

/* Every charset draws at any size and with any numbers. */
static void test_chart(void)
{
	double x[100], y[100];
	struct chart_series series = { x, y, 100, STYLE_SERIES_1, CHART_SOLID, "s", NULL, 0 };
	struct canvas canvas;
	struct chart chart;
	bool drawn = true;

	for (int i = 0; i < 100; i++) {
		x[i] = i;
		y[i] = 1e300 * (i % 3);
	}
	y[50] = NAN;
	y[60] = INFINITY;
	canvas_init(&canvas);
	for (int size = 0; size < 60; size++) {
		canvas_resize(&canvas, size, size / 2);
		canvas.cell_w = 7;
		canvas.cell_h = 15;
		for (int set = 0; set < CHART_CHARSETS; set++) {
			chart_init(&chart, (struct rect){ 0, 0, size, size / 2 });
			chart.charset = (enum chart_charset)set;
			chart.series = &series;
			chart.n_series = 1;
			chart.log_y = size % 2 == 1;
			chart.legend = true;
			chart.cursor = 30;
			chart_draw(&chart, &canvas);
		}
	}
	ok(drawn, "charts of any size and with extreme numbers are drawn");
	for (int i = 0; i < 100; i++)
		y[i] = i == 40 ? 100 : 1;
	canvas_resize(&canvas, 40, 10);
	chart_init(&chart, (struct rect){ 0, 0, 40, 10 });
	chart.charset = CHART_ASCII;
	chart.series = &series;
	chart.n_series = 1;
	chart_draw(&chart, &canvas);
	drawn = false;
	for (int col = 0; col < 40; col++)
		drawn = drawn || canvas_at(&canvas, col, 0)->cp == '*';
	ok(drawn, "a spike of one point is visible");
	canvas_release(&canvas);
}

static void test_keymap(void)
{
	struct keymap keymap;
	struct err err = { ERR_NONE, "" };
	char name[KEY_NAME_SIZE];
	bool all_named = true;

	keymap_init(&keymap);
	ok(keymap_find(&keymap, 'j', 0) == ACTION_DOWN, "j moves down");
	ok(keymap_find(&keymap, KEYCODE_PAGE_UP, 0) == ACTION_PAGE_UP, "PgUp moves up");
	ok(keymap_find(&keymap, '&', 0) == ACTION_NONE &&
		   keymap_find(&keymap, '&', IN_TEXT) == ACTION_FILTER,
	   "an action works only in its places");
	ok(keymap_bind(&keymap, "quit", "x Ctrl-x", &err) == 0 &&
		   keymap_find(&keymap, 'x', 0) == ACTION_QUIT &&
		   keymap_find(&keymap, 24, 0) == ACTION_QUIT &&
		   keymap_find(&keymap, 'q', 0) == ACTION_NONE,
	   "a key can be given to another action");
	ok(keymap_bind(&keymap, "quit", "Hyper-x", &err) == -1, "an unknown key is refused: %s",
	   err.text);
	ok(keymap_bind(&keymap, "fly", "x", &err) == -1, "an unknown action is refused: %s",
	   err.text);
	for (int i = 1; i < ACTION_COUNT; i++) {
		struct str rest = str_from(action_info((enum action)i)->keys);
		struct str word;

		while (str_next(&rest, ' ', &word)) {
			uint32_t code = key_by_name(word.p, word.len);

			keycode_name(code, name);
			all_named =
				all_named && code != 0 && key_by_name(name, strlen(name)) == code;
		}
	}
	ok(all_named, "the name of every default key maps to the same key");
}

/* No key runs two actions in the same place. */
static void test_no_conflicts(void)
{
	struct keymap keymap;
	int conflicts = 0;

	keymap_init(&keymap);
	for (int a = 1; a < ACTION_COUNT; a++)
		for (int b = a + 1; b < ACTION_COUNT; b++) {
			unsigned int pa = action_info((enum action)a)->places;
			unsigned int pb = action_info((enum action)b)->places;

			for (int k = 0; k < KEYMAP_KEYS; k++)
				for (int m = 0; m < KEYMAP_KEYS; m++)
					conflicts += keymap.keys[a][k] != 0 &&
						     keymap.keys[a][k] == keymap.keys[b][m] &&
						     (pa == pb || (pa & pb) != 0);
		}
	is_int(conflicts, 0, "no key runs two actions in the same place");
}

static void type(struct prompt *prompt, const char *text)
{
	for (; *text != '\0'; text++)
		(void)prompt_key(prompt, (unsigned char)*text);
}

static void test_prompt(void)
{
	struct prompt prompt = { 0 };

	type(&prompt, "one two");
	(void)prompt_key(&prompt, 'w' - 'a' + 1);
	is_str(prompt.text, "one ", "Ctrl-w erases a word");
	(void)prompt_key(&prompt, 0xE4);
	(void)prompt_key(&prompt, KEYCODE_BACKSPACE);
	is_str(prompt.text, "one ", "Backspace erases a character of two bytes as a whole");
	(void)prompt_key(&prompt, KEYCODE_HOME);
	type(&prompt, "x");
	is_str(prompt.text, "xone ", "text is inserted at the cursor");
	ok(prompt_key(&prompt, '\r') == PROMPT_DONE, "Enter submits the text");
	prompt_set(&prompt, "draft");
	(void)prompt_key(&prompt, KEYCODE_UP);
	is_str(prompt.text, "xone ", "Up shows the previous line");
	(void)prompt_key(&prompt, KEYCODE_DOWN);
	is_str(prompt.text, "draft", "Down restores the draft");
	for (int i = 0; i < 2000; i++)
		(void)prompt_key(&prompt, 0x65E5);
	ok(prompt.len <= PROMPT_BYTES, "the text has a maximum length");
	ok(prompt_key(&prompt, 27) == PROMPT_CANCEL, "Esc cancels");
	prompt_release(&prompt);
}

static void test_osc(void)
{
	struct buf out;
	char *big = NULL;

	buf_init(&out, 200000);
	ok(osc_copy(&out, STR_LIT("foobar!"), false) == 0, "a text is copied");
	is_str(out.data, "\033]52;c;Zm9vYmFyIQ==\a", "the copied text is in base64");
	buf_clear(&out);
	osc_notify(&out, STR_LIT("a;b"), STR_LIT("x\a\033]52;c;eA==\a"), false);
	ok(strchr(out.data + 1, '\033') == strrchr(out.data, '\033') &&
		   strstr(out.data, "notify;a,b;x") != NULL,
	   "text cannot end a notification or start another sequence");
	buf_clear(&out);
	ok(osc_copy(&out, STR_LIT("a"), true) == 0, "text is copied in tmux");
	is_str(out.data, "\033Ptmux;\033\033]52;c;YQ==\a\033\\",
	       "in tmux the copy is wrapped, so that tmux passes it on");
	buf_clear(&out);
	ok(osc_copy(&out, (struct str){ "", OSC_COPY_MAX_BYTES + 1 }, false) == -1 && out.len == 0,
	   "a text that is too long is refused");
	(void)big;
	buf_release(&out);
}

/* Numbers next to a tie between two digits, and their neighbours, are rounded as by printf. */
static void check_rounding(void)
{
	char want[FMT_SIZE];
	size_t n_wrong = 0;

	for (int i = 0; i < 200000; i++) {
		int decimals = i % 8;
		double tie = (i * 7919 % 1000003 + 0.5) / pow(10, decimals);
		double value = i % 3 == 0 ? tie : nextafter(tie, i % 3 == 1 ? 0 : INFINITY);

		value *= (i % 5 == 0 ? -1 : 1) * (i % 11 == 0 ? 1 + i * 1e-9 : 1);
		print_into(want, "%.*f", decimals, value);
		n_wrong += strcmp(fmt_number(value, decimals).s, want) != 0;
	}
	ok(n_wrong == 0, "numbers are rounded as by printf: %zu differ", n_wrong);
}

static void test_fmt(void)
{

	is_str(fmt_number(NAN, 3).s, "—", "absent numbers are shown as a dash");
	is_str(fmt_number(-0.04, 1).s, "0.0", "what rounds to zero has no sign");
	check_rounding();
	is_str(fmt_grouped(15952086).s, "15,952,086", "digits in groups");
	is_str(fmt_grouped(-999).s, "−999", "digits of negative numbers in groups");
	is_str(fmt_steps(13780).s, "13,780", "a step is shown in full if it fits");
	is_str(fmt_steps(329430).s, "329.4k", "a step that does not fit is rounded, not cut off");
	is_str(fmt_steps(999960).s, "1.00M", "a step that rounds up gets the next unit");
	is_str(fmt_steps(23456789).s, "23.46M", "a step in millions is rounded too");
	is_str(fmt_bytes(15952086).s, "15.95 MB", "a MB is a million");
	is_str(fmt_bytes(999999).s, "1.00 MB", "1000.00 kB is shown as 1.00 MB");
	is_str(fmt_bytes(999994).s, "999.99 kB", "999.99 kB stays in kB");
	is_str(fmt_signed(-0.5, 2).s, "−0.50", "a sign is always shown");
	is_str(fmt_signed(-0.004, 2).s, "+0.00", "zero has no minus");
	is_str(fmt_age(41).s, "41 s", "seconds");
	is_str(fmt_clock(3661000).s, "01:01:01", "time of day");
}

int main(void)
{
	test_canvas();
	test_ascii();
	test_list();
	test_list_id();
	test_order();
	test_groups();
	test_names();
	test_facts();
	test_chart();
	test_keymap();
	test_no_conflicts();
	test_prompt();
	test_osc();
	test_fmt();
	return tap_done();
}
