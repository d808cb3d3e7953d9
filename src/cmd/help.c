/* SPDX-License-Identifier: MIT */
/* --help; the candidates for shell completion (--complete, called by man/hgym-tui.bash and its
 * siblings); and the generated parts of the manual (--dump-reference, called by the build). */
#include <ctype.h>
#include <sys/param.h>

#include "base/embed.h"
#include "base/keymap.h"
#include "base/say.h"
#include "cmd/cmd.h"

#define SCREEN_COLUMNS	80
#define SUMMARY_COLUMN	19
#define MIN_HELP_COLUMN 23U

extern const struct embed_file help_text[]; /* help.txt */

/* Print words from the given column on; lines that are too long continue at that column. */
static void print_wrapped(const char *text, size_t len, size_t column)
{
	size_t at = column;

	for (size_t i = 0; i < len;) {
		size_t n = MIN(strcspn(text + i, " \n"), len - i);

		if (n == 0) {
			i++;
			continue;
		}
		if (at > column && at + 1 + n > SCREEN_COLUMNS) {
			(void)printf("\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			(void)putchar(' ');
			at++;
		}
		(void)printf("%.*s", (int)n, text + i);
		at += n;
		i += n + 1;
	}
	(void)putchar('\n');
}

/* Return the text of a command in help.txt, after the line "= NAME"; empty if there is none. */
static struct str get_help(const struct cmd *cmd)
{
	AUTO_TEXT head = xasprintf("\n=%s%s\n", cmd->name[0] != '\0' ? " " : "", cmd->name);
	struct str text = str_from(help_text[0].text);
	const char *at = str_find(text, head), *end;

	if (at == NULL)
		return (struct str){ NULL, 0 };
	text = str_skip(text, (size_t)(at - text.p) + strlen(head));
	end = str_find(text, "\n=");
	return str_between(text.p, end != NULL ? end : text.p + text.len - 1);
}

/* Cut the next paragraph off a text: a line and its continuations, which start with a blank. */
static bool next_paragraph(struct str *rest, struct str *paragraph)
{
	const char *from = rest->p;
	struct str line;

	if (!str_next(rest, '\n', &line))
		return false;
	while (rest->len > 0 && rest->p[0] == ' ')
		(void)str_next(rest, '\n', &line);
	*paragraph = str_between(from, line.p + line.len);
	return true;
}

static void format_option(const struct cmd_option *o, char out[64])
{
	(void)snprintf(out, 64, "  %c%c%s --%s%s%s", o->short_name ? '-' : ' ',
		       o->short_name ? o->short_name : ' ', o->short_name ? "," : " ", o->name,
		       o->arg != NULL ? " " : "", o->arg != NULL ? o->arg : "");
}

static void print_options(const struct cmd_option *options)
{
	size_t column = MIN_HELP_COLUMN;
	char left[64];

	for (const struct cmd_option *o = options; o->name != NULL; o++) {
		format_option(o, left);
		column = MAX(column, strlen(left) + 2);
	}
	(void)printf("\n%s", options->heading == NULL ? "options:\n" : "");
	for (const struct cmd_option *o = options; o->name != NULL; o++) {
		if (o->heading != NULL)
			(void)printf("%s:\n", o->heading);
		format_option(o, left);
		(void)printf("%-*s", (int)column, left);
		print_wrapped(o->help, strlen(o->help), column);
	}
}

/* Print the entry of cmd_table[i] in the list; commands with the same `fold` share an entry. */
static void print_command(size_t i)
{
	const struct cmd *cmd = cmd_table[i], *next = cmd_table[i + 1];
	const char *space = strchr(cmd->name, ' ');

	if (cmd->section != NULL)
		(void)printf("%s:\n", cmd->section);
	if (cmd->fold == NULL) {
		(void)printf("  %-*s%s\n", SUMMARY_COLUMN - 2, cmd->name, cmd->summary);
		return;
	}
	if (i == 0 || !conf_same_text(cmd_table[i - 1]->fold, cmd->fold))
		(void)printf("  %s", cmd->name);
	else
		(void)printf("%s%s", space != NULL ? " | " : ", ",
			     space != NULL ? space + 1 : cmd->name);
	if (next != NULL && conf_same_text(next->fold, cmd->fold))
		return;
	if (space != NULL)
		(void)printf("\n%*s%s; see hgym-tui %.*s --help", SUMMARY_COLUMN, "", cmd->fold,
			     (int)(space - cmd->name), cmd->name);
	(void)putchar('\n');
}

static void print_subcommands(const char *group)
{
	(void)printf("\ncommands:\n");
	for (size_t i = 0; cmd_table[i] != NULL; i++)
		if (cmd_starts_with(cmd_table[i], group) && strchr(cmd_table[i]->name, ' ') != NULL)
			(void)printf("  %-*s%s\n", SUMMARY_COLUMN - 2, cmd_table[i]->name,
				     cmd_table[i]->summary);
}

void cmd_print_group(const char *group)
{
	(void)printf("usage: hgym-tui %s COMMAND [ARGS]\n", group);
	print_subcommands(group);
	(void)printf("\nSee `hgym-tui %s COMMAND --help`.\n", group);
}

void cmd_print_help(const struct cmd *cmd)
{
	const char *usage = cmd->usage;
	size_t len = strcspn(usage, "\n");

	(void)printf("usage: hgym-tui%s%s%s%.*s\n", cmd->name[0] != '\0' ? " " : "", cmd->name,
		     len > 0 ? " " : "", (int)len, usage);
	while (usage[len] != '\0') {
		usage += len + 1;
		len = strcspn(usage, "\n");
		(void)printf("       hgym-tui %s %.*s\n", cmd->name, (int)len, usage);
	}
	(void)putchar('\n');
	struct str rest = get_help(cmd), line;
	if (rest.len == 0)
		(void)printf("%c%s.\n", toupper((unsigned char)cmd->summary[0]), cmd->summary + 1);
	while (next_paragraph(&rest, &line))
		print_wrapped(line.p, line.len, 0);
	if (cmd == &cmd_dash) {
		(void)putchar('\n');
		for (size_t i = 0; cmd_table[i] != NULL; i++)
			print_command(i);
	}
	if (cmd->options != NULL)
		print_options(cmd->options);
	if (cmd->example != NULL)
		(void)printf("\nexample: %s\n", cmd->example);
	if (cmd == &cmd_dash)
		(void)printf("\nSee `hgym-tui COMMAND --help` or man hgym-tui(1).\n");
	else if (cmd_is_group(cmd->name))
		print_subcommands(cmd->name);
}

static int exec_help(struct cmd_args *args, UNUSED void *opaque, struct err *err)
{
	char **argv = args->argv;
	const struct cmd *cmd = &cmd_dash;
	int words = 0;

	if (args->argc > 0)
		cmd = cmd_find(args->argc, argv, &words);
	if (cmd == NULL)
		words = 0;
	if (cmd == NULL && args->argc == 1 && cmd_is_group(argv[0])) {
		cmd_print_group(argv[0]);
		return cmd_flush(err);
	}
	if (cmd == NULL || words < args->argc)
		return cmd_is_group(argv[0]) ? cmd_fail_unknown(argv[0], argv[1], err)
					     : cmd_fail_unknown(NULL, argv[words], err);
	cmd_print_help(cmd);
	return cmd_flush(err);
}

const struct cmd cmd_help = {
	.name = "help",
	.usage = "[COMMAND...]",
	.summary = "show help for a command, or list all commands",
	.fold = "",
	.most = CMD_ANY,
	.exec = exec_help,
};

/* The context of the word to complete, from the words before it. */
struct completion {
	const struct cmd *cmd;		 /* NULL: not named yet */
	const struct cmd_option *option; /* expects its value; NULL: none */
	const char *group;		 /* first word of a two-word name; NULL: none */
};

/* Print prefix + word as a candidate, if it starts with the last word. */
static void print_candidate(const char *last, const char *prefix, const char *word, size_t len,
			    const char *help)
{
	char whole[256];

	print_into(whole, "%s%.*s", prefix, (int)len, word);
	if (strncmp(whole, last, strlen(last)) == 0)
		(void)printf("%s\t%s\n", whole, help);
}

static void complete_value(const char *last, const char *prefix, const struct cmd_option *o)
{
	for (size_t i = 0; o->words != NULL && o->words[i] != NULL; i++)
		print_candidate(last, prefix, o->words[i], strlen(o->words[i]), "");
}

/* Print the first words of all commands, or the second words of the commands in a group. */
static void complete_command(const char *last, const char *group)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const char *name = cmd_table[i]->name;
		size_t first = strcspn(name, " ");
		bool again = i > 0 && first == strcspn(cmd_table[i - 1]->name, " ") &&
			     strncmp(cmd_table[i - 1]->name, name, first) == 0;

		if (group == NULL && !again)
			print_candidate(last, "", name, first,
					name[first] == '\0' ? cmd_table[i]->summary : "");
		else if (group != NULL && name[first] == ' ' &&
			 cmd_starts_with(cmd_table[i], group))
			print_candidate(last, "", name + first + 1, strlen(name + first + 1),
					cmd_table[i]->summary);
	}
}

static struct completion parse_words_before(int argc, char **argv)
{
	struct completion c = { NULL, NULL, NULL };
	int words = 1;

	for (int i = 0; i < argc; i += words) {
		words = 1;
		/* bash splits --color=never into three words. */
		if (strcmp(argv[i], "=") == 0)
			continue;
		if (c.option != NULL) {
			c.option = NULL;
		} else if (argv[i][0] == '-') {
			c.option = cmd_find_option(c.cmd, argv[i]);
			if (c.option != NULL &&
			    (c.option->arg == NULL || strchr(argv[i], '=') != NULL))
				c.option = NULL;
		} else if (c.cmd == NULL && c.group == NULL) {
			c.cmd = cmd_find(argc - i, argv + i, &words);
			if (words == 1 && cmd_is_group(argv[i]))
				c.group = argv[i];
			/* The arguments of help are commands. */
			if (c.cmd == &cmd_help)
				c.cmd = NULL;
		} else {
			c.group = NULL;
		}
	}
	return c;
}

int cmd_complete(int argc, char **argv)
{
	const struct completion c = parse_words_before(argc - 1, argv);
	const char *last = argc > 0 ? argv[argc - 1] : "";
	const char *equals = strchr(last, '=');
	const struct cmd_option *o;
	char option[256];

	if (c.option != NULL) {
		complete_value(strcmp(last, "=") == 0 ? "" : last, "", c.option);
	} else if (last[0] == '-' && equals != NULL) {
		print_into(option, "%.*s=", (int)(equals - last), last);
		o = cmd_find_option(c.cmd, last);
		if (o != NULL)
			complete_value(last, option, o);
	} else if (last[0] == '-') {
		o = c.cmd != NULL ? c.cmd->options : cmd_dash.options;
		for (; o != NULL && o->name != NULL; o++)
			print_candidate(last, "--", o->name, strlen(o->name), o->help);
		if (c.cmd != NULL)
			print_candidate(last, "--", "help", 4, "show this help");
	} else if (c.cmd == NULL || c.group != NULL) {
		complete_command(last, c.group);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

/* The functions below print tab-separated records, which man/fill.awk turns into roff. */

static void put_options(const struct cmd *cmd)
{
	for (const struct cmd_option *o = cmd->options; o != NULL && o->name != NULL; o++) {
		if (o->heading != NULL)
			(void)printf("group\t%s\n", o->heading);
		(void)printf("option\t%.1s\t%s\t%s\t%s\n", &o->short_name, o->name,
			     o->arg != NULL ? o->arg : "", o->help);
	}
}

static void print_man_commands(void)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const struct cmd *cmd = cmd_table[i];
		struct str rest = str_from(cmd->usage), line;
		const char *kind = "command";

		if (cmd->section != NULL)
			(void)printf("section\t%s\n", cmd->section);
		for (; str_next(&rest, '\n', &line); kind = "form")
			(void)printf("%s\t%s\t%.*s\n", kind, cmd->name, (int)line.len, line.p);
		(void)printf("text\t%s.\n", cmd->summary);
		rest = get_help(cmd);
		while (next_paragraph(&rest, &line)) {
			struct str piece;

			(void)fputs(line.len > 0 ? "paragraph\t" : "", stdout);
			while (str_next(&line, '\n', &piece))
				(void)printf("%.*s", (int)piece.len, piece.p);
			(void)putchar('\n');
		}
		rest = cmd->example != NULL ? str_from(cmd->example) : (struct str){ NULL, 0 };
		for (kind = "example"; str_next(&rest, '\n', &line); kind = "code")
			(void)printf("%s\t%.*s\n", kind, (int)line.len, line.p);
		(void)printf("indent\n");
		put_options(cmd);
		(void)printf("end\n");
	}
}

/* Print the entry of a name and its meaning, with the unit unless it is "". */
static void put_name(const char *name, const char *what, const char *unit)
{
	(void)printf("name\t%s\t%s%s%s%s.\n", name, what, unit[0] != '\0' ? " (" : "", unit,
		     unit[0] != '\0' ? ")" : "");
}

static void print_man_keys(void)
{
	for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		unsigned int places = info->places;

		(void)printf("key\t%s\t%s\t%s%s.\n", info->keys, info->name, info->help,
			     places == IN_RUNS	   ? " (in lists of runs)"
			     : places == IN_CHARTS ? " (in charts)"
			     : places == IN_TEXT   ? " (in text)"
			     : places == IN_LOGS   ? " (in logs)"
			     : places == IN_PODS   ? " (in Pods)"
			     : places == IN_BENCH  ? " (in Bench)"
			     : places == IN_EVENTS ? " (in the events)"
						   : "");
	}
}

static void put_words(const char *const *words)
{
	for (; *words != NULL; words++)
		(void)printf("word\t%s\n", *words);
}

int reference_print(const char *form)
{
#define PUT_NAME(id, name, what)	 put_name(name, what, "");
#define PUT_METRIC(id, name, unit, what) put_name(name, what, unit);
	if (strcmp(form, "man-commands") == 0) {
		print_man_commands();
	} else if (strcmp(form, "man-options") == 0) {
		put_options(&cmd_dash);
	} else if (strcmp(form, "man-kinds") == 0) {
		RULE_KIND_LIST(PUT_NAME)
	} else if (strcmp(form, "man-keys") == 0) {
		print_man_keys();
	} else if (strcmp(form, "man-stages") == 0) {
		put_words(rule_stage_names);
	} else if (strcmp(form, "man-events") == 0) {
		put_words(run_event_names);
	} else if (strcmp(form, "man-metrics") == 0) {
		METRIC_LIST(PUT_METRIC)
	} else {
		say_error("unknown form \"%s\"", form);
		return 2;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
