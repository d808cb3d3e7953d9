/* SPDX-License-Identifier: MIT */
/*
 * The lists of the man pages out of the lists of the program; called by main
 * for the build (--dump-reference).
 */
#include "config.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "cmd/cmd.h"
#include "parsers/metric.h"
#include "parsers/rule.h"
#include "ui/keymap.h"

#define HELP_COLUMNS 68

/* Text as roff takes it: no escape, no request at the start of a line. */
static void
put_roff(const char *text, size_t len)
{
	bool line_start = true;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (line_start && (c == '.' || c == '\''))
			(void)fputs("\\&", stdout);
		if (c == '\\')
			(void)fputs("\\e", stdout);
		else if (c == '-')
			(void)fputs("\\-", stdout);
		else if (c == '"')
			(void)fputs("\\(dq", stdout);
		else
			(void)putchar(c);
		line_start = c == '\n';
	}
}

/* A format of roff, whose texts (%s alone) are not. */
static void __attribute__((format(printf, 1, 2))) put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	for (; *fmt != '\0'; fmt++) {
		if (fmt[0] == '%' && fmt[1] == 's') {
			const char *text = va_arg(ap, const char *);

			put_roff(text, strlen(text));
			fmt++;
		} else {
			(void)putchar(*fmt);
		}
	}
	va_end(ap);
}

/* One line of a help text; *literal tells whether an example is open. */
static void
put_help_line(const char *line, size_t len, bool *literal)
{
	bool example = len > 0 && line[0] == ' ';

	if (example != *literal)
		(void)puts(example ? ".RS 4\n.nf" : ".fi\n.RE");
	*literal = example;
	if (len == 0) {
		(void)puts(".IP");
		return;
	}
	/* Input lines stay short; roff fills the paragraph anyway. */
	while (!example && len > HELP_COLUMNS) {
		size_t cut = HELP_COLUMNS;

		while (cut > 0 && (line[cut] != ' ' || line[cut - 1] == ' '))
			cut--;
		if (cut == 0)
			break;
		put_roff(line, cut);
		(void)putchar('\n');
		cut += strspn(line + cut, " ");
		line += cut;
		len -= cut;
	}
	put_roff(line, len);
	(void)putchar('\n');
}

/* Paragraphs are parted by a blank line; indented lines are examples. */
static void
put_help(const char *help)
{
	bool literal = false;

	(void)puts(".IP");
	while (*help != '\0') {
		size_t len = strcspn(help, "\n");

		/* A blank line before or in an example breaks by itself. */
		if (len > 0 || (!literal && help[1] != ' '))
			put_help_line(help, len, &literal);
		help += len + (help[len] == '\n');
	}
	if (literal)
		(void)puts(".fi\n.RE");
}

static void
put_man_option(const struct cmd_option *option)
{
	put(".TP\n.B ");
	if (option->short_name != 0)
		(void)printf("\\-%c, ", option->short_name);
	put("\\-\\-%s", option->name);
	if (option->arg != NULL)
		put(" \\fI%s\\fP", option->arg);
	put("\n%s\n", option->help);
}

static void
put_man_options(const struct cmd *cmd)
{
	for (const struct cmd_option *o = cmd->options;
	     o != NULL && o->name != NULL; o++)
		put_man_option(o);
}

static void
print_man_options(void)
{
	put_man_options(&cmd_dash);
}

static void
print_man_commands(void)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const struct cmd *cmd = cmd_table[i];

		put(".TP\n.B %s \\fR%s\\fP\n%s.\n", cmd->name, cmd->usage,
		    cmd->summary);
		if (cmd->help != NULL)
			put_help(cmd->help);
		if (cmd->options == NULL || cmd->options[0].name == NULL)
			continue;
		(void)puts(".RS");
		put_man_options(cmd);
		(void)puts(".RE");
	}
}

/* A list of names, each with what it means; nothing for an empty one. */
static void
put_man_name(const char *name, const char *what, const char *unit)
{
	put(".TP\n.B %s\n%s", name, what);
	if (unit[0] != '\0')
		(void)printf(" (%s)", unit);
	(void)puts(".");
}

static void
print_man_kinds(void)
{
	static const struct {
		const char *name, *what;
	} kinds[] = {
#define X(id, name, what) { name, what },
		RULE_KIND_LIST(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		put_man_name(kinds[i].name, kinds[i].what, "");
}

static void
print_man_metrics(void)
{
	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *info = metric_info((enum metric)i);

		put_man_name(info->name, info->what, info->unit);
	}
}

/* "a, b, c" on lines of their own. */
static void
print_names(const char *(*name_of)(int i), int count)
{
	for (int i = 0; i < count; i++)
		put(".BR %s%s\n", name_of(i), i + 1 < count ? " ," : " .");
}

static const char *
stage_name(int i)
{
	return rule_stage_name((enum rule_stage)i);
}

static const char *
event_name(int i)
{
	return run_event_name((enum run_event_kind)i);
}

static void
print_man_stages(void)
{
	print_names(stage_name, STAGE_COUNT);
}

static void
print_man_events(void)
{
	print_names(event_name, RUN_EVENT_COUNT);
}

/* Where an action works; nothing where it works everywhere. */
static const char *
place_words(unsigned int places)
{
	static const struct {
		unsigned int place;
		const char *words;
	} words[] = {
		{ IN_RUNS, "in lists of runs" }, { IN_CHARTS, "in charts" },
		{ IN_TEXT, "in text" },		 { IN_LOGS, "in logs" },
		{ IN_PODS, "in Pods" },		 { IN_BENCH, "in Bench" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (places == words[i].place)
			return words[i].words;
	return NULL;
}

static void
print_man_keys(void)
{
	for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		const char *where = place_words(info->places);

		put(".TP\n.B %s \\fR(%s)\\fP\n%s", info->keys, info->name,
		    info->help);
		if (where != NULL)
			(void)printf(" (%s)", where);
		(void)puts(".");
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} forms[] = {
	{ "man-commands", print_man_commands },
	{ "man-options", print_man_options },
	{ "man-kinds", print_man_kinds },
	{ "man-keys", print_man_keys },
	{ "man-stages", print_man_stages },
	{ "man-events", print_man_events },
	{ "man-metrics", print_man_metrics },
};

int
reference_print(const char *form)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, form) == 0) {
			forms[i].print();
			return fflush(stdout) == 0 ? 0 : 1;
		}
	}
	say_error("there is no form \"%s\"", form);
	return 2;
}
