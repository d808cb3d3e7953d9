/* SPDX-License-Identifier: MIT */
/*
 * What --help prints; what could stand at the end of a command line, for the
 * shells' completions (man/hgym-tui.bash and its like), which ask by
 * --complete; and the lists of the man pages, which the build asks for by
 * --dump-reference.
 */
#include "base/say.h"
#include "cmd/cmd.h"
#include "ui/keymap.h"

static void print_options(const struct cmd_option *options)
{
	(void)printf("\noptions:\n");
	for (; options->name != NULL; options++) {
		char left[64];

		print_into(left, "%c%c%s --%s%s%s", options->short_name ? '-' : ' ',
			   options->short_name ? options->short_name : ' ',
			   options->short_name ? "," : " ", options->name,
			   options->arg != NULL ? " " : "",
			   options->arg != NULL ? options->arg : "");
		(void)printf("  %-24s %s\n", left, options->help);
	}
}

/* Commands, a line each: of that group, or (NULL) all. */
static void print_commands(const char *group)
{
	(void)printf("\ncommands:\n");
	for (size_t i = 0; cmd_table[i] != NULL; i++)
		if (group == NULL ||
		    (cmd_is_of(cmd_table[i], group) && strchr(cmd_table[i]->name, ' ') != NULL))
			(void)printf("  %-16s %s\n", cmd_table[i]->name, cmd_table[i]->summary);
}

static void print_program(void)
{
	(void)printf("usage: hgym-tui %s\n\nTails training logs on many pods, "
		     "keeps a leaderboard over seeds and runs A/B\nbenchmarks "
		     "with sound statistics. Without a command: the "
		     "dashboard.\n",
		     cmd_dash.usage);
	print_commands(NULL);
	print_options(cmd_dash.options);
	(void)printf("\n`hgym-tui COMMAND --help` tells more; `man hgym-tui` "
		     "all.\n");
}

void cmd_print_group(const char *group)
{
	(void)printf("usage: hgym-tui %s COMMAND [ARGS]\n", group);
	print_commands(group);
	(void)printf("\n`hgym-tui %s COMMAND --help` tells more.\n", group);
}

void cmd_print_help(const struct cmd *cmd)
{
	if (cmd == &cmd_dash) {
		print_program();
		return;
	}
	(void)printf("usage: hgym-tui %s %s\n\n%s.\n", cmd->name, cmd->usage, cmd->summary);
	if (cmd->help != NULL)
		(void)printf("\n%s\n", cmd->help);
	if (cmd->options != NULL)
		print_options(cmd->options);
	if (cmd_is_group(cmd->name))
		print_commands(cmd->name);
}

static int exec_help(struct cmd_args *args, void *opaque, struct err *err)
{
	char **argv = args->argv;
	const struct cmd *cmd = &cmd_dash;
	int words = 0;

	(void)opaque;
	if (args->argc > 0)
		cmd = cmd_find(args->argc, argv, &words);
	if (cmd == NULL)
		words = 0;
	if (cmd == NULL && args->argc == 1 && cmd_is_group(argv[0])) {
		cmd_print_group(argv[0]);
		return cmd_flush(err);
	}
	if (cmd == NULL || words < args->argc)
		return cmd_is_group(argv[0]) ? cmd_refuse(argv[0], argv[1], err)
					     : cmd_refuse(NULL, argv[words], err);
	cmd_print_help(cmd);
	return cmd_flush(err);
}

const struct cmd cmd_help = {
	.name = "help",
	.usage = "[COMMAND...]",
	.summary = "tell what a command does, or which there are",
	.most = CMD_ANY,
	.exec = exec_help,
};

/* The words before the one that is completed. */
struct before {
	const struct cmd *cmd;		 /* NULL: not named yet */
	const struct cmd_option *option; /* waits for its value; NULL: none */
	const char *group;		 /* first word, which is of two; NULL: none */
};

/* A candidate with what it is, where it begins as the last word does. */
static void offer(const char *last, const char *before, const char *word, size_t len,
		  const char *help)
{
	char whole[256];

	print_into(whole, "%s%.*s", before, (int)len, word);
	if (strncmp(whole, last, strlen(last)) == 0)
		(void)printf("%s\t%s\n", whole, help);
}

static void offer_options(const char *last, const struct cmd_option *o)
{
	for (; o != NULL && o->name != NULL; o++)
		offer(last, "--", o->name, strlen(o->name), o->help);
}

/* The words that the option's value can be, behind what stands before it. */
static void offer_values(const char *last, const char *before, const struct cmd_option *o)
{
	for (size_t i = 0; o->words != NULL && o->words[i] != NULL; i++)
		offer(last, before, o->words[i], strlen(o->words[i]), "");
}

/* First words of commands or, behind one of them, the second words. */
static void offer_commands(const char *last, const char *group)
{
	size_t len = group != NULL ? strlen(group) : 0;

	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const char *name = cmd_table[i]->name;
		size_t first = strcspn(name, " ");
		bool again = i > 0 && first == strcspn(cmd_table[i - 1]->name, " ") &&
			     strncmp(cmd_table[i - 1]->name, name, first) == 0;

		if (group == NULL && !again)
			offer(last, "", name, first,
			      name[first] == '\0' ? cmd_table[i]->summary : "");
		else if (group != NULL && first == len && name[first] == ' ' &&
			 strncmp(name, group, len) == 0)
			offer(last, "", name + first + 1, strlen(name + first + 1),
			      cmd_table[i]->summary);
	}
}

/* Take the words before the last. */
static void take_words(struct before *b, int argc, char **argv)
{
	int words = 1;

	for (int i = 0; i < argc; i += words) {
		words = 1;
		/* bash makes three words of --color=never. */
		if (strcmp(argv[i], "=") == 0)
			continue;
		if (b->option != NULL) {
			b->option = NULL;
		} else if (argv[i][0] == '-') {
			b->option = cmd_find_option(b->cmd, argv[i]);
			if (b->option != NULL &&
			    (b->option->arg == NULL || strchr(argv[i], '=') != NULL))
				b->option = NULL;
		} else if (b->cmd == NULL && b->group == NULL) {
			b->cmd = cmd_find(argc - i, argv + i, &words);
			if (words == 1 && cmd_is_group(argv[i]))
				b->group = argv[i];
			/* Behind it stands a command. */
			if (b->cmd == &cmd_help)
				b->cmd = NULL;
		} else {
			b->group = NULL;
		}
	}
}

int cmd_complete(int argc, char **argv)
{
	struct before b = { NULL, NULL, NULL };
	const char *last = argc > 0 ? argv[argc - 1] : "";
	const char *equals = strchr(last, '=');
	const struct cmd_option *o;
	char option[256];

	take_words(&b, argc - 1, argv);
	if (b.option != NULL) {
		offer_values(strcmp(last, "=") == 0 ? "" : last, "", b.option);
	} else if (last[0] == '-' && equals != NULL) {
		print_into(option, "%.*s=", (int)(equals - last), last);
		o = cmd_find_option(b.cmd, last);
		if (o != NULL)
			offer_values(last, option, o);
	} else if (last[0] == '-') {
		offer_options(last, b.cmd != NULL ? b.cmd->options : cmd_dash.options);
		if (b.cmd != NULL)
			offer(last, "--", "help", 4, "show what it does");
	} else if (b.cmd == NULL || b.group != NULL) {
		offer_commands(last, b.group);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

#define HELP_COLUMNS 68

/* Text as roff takes it: no escape, no request at the start of a line. */
static void put_roff(const char *text, size_t len)
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
static void put_help_line(const char *line, size_t len, bool *literal)
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
static void put_help(const char *help)
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

static void put_man_option(const struct cmd_option *option)
{
	put(".TP\n.B ");
	if (option->short_name != 0)
		(void)printf("\\-%c, ", option->short_name);
	put("\\-\\-%s", option->name);
	if (option->arg != NULL)
		put(" \\fI%s\\fP", option->arg);
	put("\n%s\n", option->help);
}

static void put_man_options(const struct cmd *cmd)
{
	for (const struct cmd_option *o = cmd->options; o != NULL && o->name != NULL; o++)
		put_man_option(o);
}

static void print_man_options(void)
{
	put_man_options(&cmd_dash);
}

static void print_man_commands(void)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const struct cmd *cmd = cmd_table[i];

		put(".TP\n.B %s \\fR%s\\fP\n%s.\n", cmd->name, cmd->usage, cmd->summary);
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
static void put_man_name(const char *name, const char *what, const char *unit)
{
	put(".TP\n.B %s\n%s", name, what);
	if (unit[0] != '\0')
		(void)printf(" (%s)", unit);
	(void)puts(".");
}

static void print_man_kinds(void)
{
	static const struct {
		const char *name, *what;
	} kinds[] = {
#define X(id, name, what) { name, what },
		RULE_KIND_LIST(X)
#undef X
	};

	for (size_t i = 0; i < LENGTH(kinds); i++)
		put_man_name(kinds[i].name, kinds[i].what, "");
}

static void print_man_metrics(void)
{
	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *info = metric_info((enum metric)i);

		put_man_name(info->name, info->what, info->unit);
	}
}

/* "a, b, c" on lines of their own. */
static void print_names(const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		put(".BR %s%s\n", names[i], i + 1 < n ? " ," : " .");
}

static void print_man_stages(void)
{
	print_names(rule_stage_names, STAGE_COUNT);
}

static void print_man_events(void)
{
	print_names(run_event_names, RUN_EVENT_COUNT);
}

/* Where an action works; nothing where it works everywhere. */
static const char *place_words(unsigned int places)
{
	static const struct {
		unsigned int place;
		const char *words;
	} words[] = {
		{ IN_RUNS, "in lists of runs" }, { IN_CHARTS, "in charts" },
		{ IN_TEXT, "in text" },		 { IN_LOGS, "in logs" },
		{ IN_PODS, "in Pods" },		 { IN_BENCH, "in Bench" },
		{ IN_EVENTS, "in the events" },
	};

	for (size_t i = 0; i < LENGTH(words); i++)
		if (places == words[i].place)
			return words[i].words;
	return NULL;
}

static void print_man_keys(void)
{
	for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		const char *where = place_words(info->places);

		put(".TP\n.B %s \\fR(%s)\\fP\n%s", info->keys, info->name, info->help);
		if (where != NULL)
			(void)printf(" (%s)", where);
		(void)puts(".");
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} forms[] = {
	{ "man-commands", print_man_commands }, { "man-options", print_man_options },
	{ "man-kinds", print_man_kinds },	{ "man-keys", print_man_keys },
	{ "man-stages", print_man_stages },	{ "man-events", print_man_events },
	{ "man-metrics", print_man_metrics },
};

int reference_print(const char *form)
{
	for (size_t i = 0; i < LENGTH(forms); i++) {
		if (strcmp(forms[i].name, form) == 0) {
			forms[i].print();
			return fflush(stdout) == 0 ? 0 : 1;
		}
	}
	say_error("there is no form \"%s\"", form);
	return 2;
}
