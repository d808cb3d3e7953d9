/* SPDX-License-Identifier: MIT */
/* Parse the command line and run the command that it names. */
#include "cmd/cmd.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/dash.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/say.h"
#include "cmd/version.h"
#include "pods/discover.h"

/* A width from $COLUMNS or the terminal is raised to the minimum, and ignored if too large. */
#define MIN_COLUMNS 40
#define MAX_COLUMNS 1000

/* All commands in the order of the help; X(id) is the struct cmd_<id>. */
#define CMD_LIST_OF(X)   \
	X(parse)         \
	X(board)         \
	X(diff)          \
	X(export)        \
	X(submission)    \
	X(runs)          \
	X(samples)       \
	X(harness)       \
	X(init)          \
	X(pods)          \
	X(pods_check)    \
	X(collect)       \
	X(bench_run)     \
	X(bench_list)    \
	X(bench_show)    \
	X(bench_attach)  \
	X(bench_abort)   \
	X(bench_clean)   \
	X(bench_stop)    \
	X(bench_judge)   \
	X(bench_audit)   \
	X(bench_noise)   \
	X(bench_history) \
	X(formats_list)  \
	X(formats_show)  \
	X(formats_check) \
	X(formats_learn) \
	X(tracks_list)   \
	X(tracks_show)   \
	X(tracks_check)  \
	X(demo)          \
	X(doctor)        \
	X(help)          \
	X(version)

#define DECLARE(id) extern const struct cmd cmd_##id;
CMD_LIST_OF(DECLARE)
#define ADDRESS(id) &cmd_##id,
const struct cmd *const cmd_table[] = { CMD_LIST_OF(ADDRESS) NULL };

static const struct cmd_option dash_options[] = {
	{ 0, "config", "FILE", "configuration (default ~/.config/hgym-tui/config.json)", CMD_TEXT,
	  CMD_AT(cmd_globals, context.config) },
	{ 0, "db", "FILE", "database (default ~/.local/share/hgym-tui/history.db)", CMD_TEXT,
	  CMD_AT(cmd_globals, context.db) },
	{ 0, "read-only", NULL, "never start, stop or write anything on a pod", CMD_FLAG,
	  CMD_AT(cmd_globals, context.read_only) },
	{ 0, "color", "WHEN", "auto, always or never", CMD_WORD, CMD_AT(cmd_globals, context.color),
	  .words = conf_colors },
	{ 0, "charset", "SET", "characters for charts: braille, block, ascii or pixels", CMD_WORD,
	  CMD_AT(cmd_globals, context.charset), .words = conf_charsets },
	{ 0, "track", "NAME", "check runs against this contest's caps (name or file)", CMD_TEXT,
	  CMD_AT(cmd_globals, context.track) },
	{ 'v', "verbose", NULL, "write a debug log", CMD_FLAG,
	  CMD_AT(cmd_globals, context.verbose) },
	{ 'h', "help", NULL, "show this help", CMD_FLAG, CMD_AT(cmd_globals, help) },
	{ 'V', "version", NULL, "show the versions of hgym-tui and its libraries", CMD_FLAG,
	  CMD_AT(cmd_globals, version) },
	CMD_OPTIONS_END,
};

bool cmd_has_place(const struct cmd_args *args)
{
	return any_of(i, args->argc, conf_place(args->argv[i]) > 0);
}

static int exec_dash(struct cmd_args *args, UNUSED void *opaque, struct err *err)
{
	size_t n = (size_t)args->argc;

	if (cmd_has_place(args)) {
		if (context_open_places(args->context, args->argv, n, err) != 0)
			return -1;
		n = 0;
	}
	return dash_run(args->context, args->argv, n, err);
}

const struct cmd cmd_dash = {
	.name = "",
	.usage = "[OPTIONS] [COMMAND [ARGS] | LOG... | HOST:PATH...]",
	.options = dash_options,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS | CONTEXT_TRACK,
	.exec = exec_dash,
};

/* A command line while it is parsed. */
struct cmd_line {
	const struct cmd *cmd; /* NULL until its name was read */
	char *group;	       /* first word of a two-word name */
	void *options;	       /* owned; options of cmd */
	struct cmd_globals globals;
	struct cmd_args args;
};

/* Set err to "parse: --jobs: WHAT (see hgym-tui parse --help)"; returns -1. */
static int set_usage_error(const struct cmd_line *line, struct err *err, const char *word,
			   const char *what)
{
	const char *name = line->cmd != NULL	 ? line->cmd->name
			   : line->group != NULL ? line->group
						 : "";
	const char *blank = name[0] != '\0' ? " " : "";

	return err_set(err, ERR_USAGE, "%s%s%s: %s (see hgym-tui%s%s --help)", name,
		       name[0] != '\0' ? ": " : "", word, what, blank, name);
}

/* Find the option that a word ("--json", "--jobs=2", "-j2") names in one table. */
static const struct cmd_option *find_option(const struct cmd_option *o, const char *word)
{
	size_t len = strcspn(word, "=");

	for (; o != NULL && o->name != NULL; o++)
		if (word[1] == '-'
			    ? strlen(o->name) == len - 2 && memcmp(o->name, word + 2, len - 2) == 0
			    : o->short_name == word[1] && (word[2] == '\0' || o->arg != NULL))
			return o;
	return NULL;
}

const struct cmd_option *cmd_find_option(const struct cmd *cmd, const char *word)
{
	const struct cmd_option *o = find_option(cmd != NULL ? cmd->options : NULL, word);

	return o != NULL ? o : find_option(cmd_dash.options, word);
}

static int fail_unknown_option(const struct cmd_line *line, const char *word, struct err *err)
{
	const struct cmd_option *own = line->cmd != NULL ? line->cmd->options : NULL;
	struct nearest near = { .name = { NULL, 0 } };

	if (word[1] == '-')
		near.word = (struct str){ word + 2, strcspn(word + 2, "=") };
	near.max_typos = (near.word.len + 1) / 3;
	for (const struct cmd_option *o = own; o != NULL && o->name != NULL; o++)
		nearest_add(&near, o->name, strlen(o->name));
	for (const struct cmd_option *o = dash_options; o->name != NULL; o++)
		nearest_add(&near, o->name, strlen(o->name));
	AUTO_TEXT what = near.name.p == NULL ? xstrdup("unknown option")
					     : xasprintf("unknown option; did you mean --%.*s?",
							 (int)near.name.len, near.name.p);
	return set_usage_error(line, err, word, what);
}

int cmd_fail_unknown(const char *group, const char *word, struct err *err)
{
	const char *blank = group != NULL ? " " : "", *of = group != NULL ? group : "";
	AUTO_TEXT whole = xasprintf("%s%s%s", of, blank, word);
	struct nearest near = { .word = str_from(whole), .max_typos = (strlen(word) + 1) / 3 };

	for (size_t i = 0; cmd_table[i] != NULL; i++)
		nearest_add(&near, cmd_table[i]->name,
			    strcspn(cmd_table[i]->name, group ? "" : " "));
	return err_set(err, ERR_USAGE, "unknown command \"%s\"%s%.*s%s (see hgym-tui%s%s --help)",
		       whole, near.name.p != NULL ? "; did you mean " : "", (int)near.name.len,
		       near.name.p != NULL ? near.name.p : "", near.name.p != NULL ? "?" : "",
		       blank, of);
}

/* Parse a number into *to. Return NULL, or the error message in why. */
static const char *parse_number(const struct cmd_option *o, const char *value, void *to,
				char why[160])
{
	struct str text = str_from(value);
	uint64_t count;
	double number;

	if (o->kind == CMD_COUNT && str_to_u64(text, &count) && (double)count >= o->low &&
	    (double)count <= o->high) {
		*(uint64_t *)to = count;
		return NULL;
	}
	if (o->kind != CMD_COUNT && str_to_double(text, &number) &&
	    (o->kind == CMD_POSITIVE ? number > 0 && number < o->high
				     : number >= o->low && number <= o->high)) {
		*(double *)to = number;
		return NULL;
	}
	if (o->kind == CMD_POSITIVE)
		(void)snprintf(why, 160, "expected a number above 0 and below %g", o->high);
	else
		(void)snprintf(why, 160, "expected a %snumber from %g to %g",
			       o->kind == CMD_COUNT ? "whole " : "", o->low, o->high);
	return why;
}

/* Parse a word, or a list of words, from o->words in the same way. */
static const char *parse_words(const struct cmd_option *o, const char *value, void *to,
			       char why[160])
{
	struct str rest = str_from(value), piece;
	size_t used = 0;
	int i = 0;

	while (i >= 0 && str_next(&rest, o->kind == CMD_SET ? ',' : '\0', &piece)) {
		AUTO_TEXT word = xstrndup(piece.p, piece.len);

		i = str_index(o->words, word);
		if (i >= 0 && o->kind == CMD_SET)
			*(unsigned int *)to |= 1U << i;
		else if (i >= 0 && o->kind == CMD_CHOICE)
			*(unsigned int *)to = (unsigned int)i;
		else if (i >= 0)
			*(const char **)to = value;
	}
	for (size_t k = 0; i < 0 && o->words[k] != NULL && used < 160; k++)
		used += (size_t)snprintf(why + used, 160 - used, "%s%s",
					 k == 0		   ? "expected "
					 : o->words[k + 1] ? ", "
							   : " or ",
					 o->words[k]);
	return i < 0 ? why : NULL;
}

/* Store the value of an option (NULL: it takes none) in its member. */
static int store_value(struct cmd_line *line, const struct cmd_option *o, void *options,
		       const char *value, struct err *err)
{
	void *to = (char *)options + o->at;
	struct cmd_list *list = o->kind == CMD_FORMAT ? &line->args.formats : to;
	const char *wrong = NULL;
	char why[160], word[200];

	switch (o->kind) {
	case CMD_FLAG:
		*(bool *)to = true;
		break;
	case CMD_VALUE:
		*(unsigned int *)to = o->value;
		break;
	case CMD_TEXT:
		*(const char **)to = value;
		break;
	case CMD_WORD:
	case CMD_CHOICE:
	case CMD_SET:
		wrong = parse_words(o, value, to, why);
		break;
	case CMD_NUMBER:
	case CMD_POSITIVE:
	case CMD_COUNT:
		wrong = parse_number(o, value, to, why);
		break;
	case CMD_LIST:
	case CMD_FORMAT:
		if (list->n < CMD_LIST_MAX) {
			list->v[list->n++] = value;
			break;
		}
		print_into(why, "given more than %d times", CMD_LIST_MAX);
		wrong = why;
		break;
	case CMD_TAKE:
		return o->take(options, value, err);
	}
	print_into(word, "--%s%s%.120s", o->name, value != NULL ? " " : "",
		   value != NULL ? value : "");
	return wrong == NULL ? 0 : set_usage_error(line, err, word, wrong);
}

/* Parse the option at argv[0] and its value. Return how many words they take, or -1. */
static int parse_option(struct cmd_line *line, int argc, char **argv, struct err *err)
{
	const char *word = argv[0], *value = strchr(word, '=');
	void *options = line->options;
	/* The dashboard's own options are the global ones. */
	bool has_own = line->cmd != NULL && line->cmd != &cmd_dash;
	const struct cmd_option *o = find_option(has_own ? line->cmd->options : NULL, word);
	int n = 1;

	if (o == NULL) {
		o = find_option(cmd_dash.options, word);
		options = &line->globals;
	}
	if (o == NULL)
		return fail_unknown_option(line, word, err);
	if (word[1] == '-')
		value = value != NULL ? value + 1 : NULL;
	else
		value = word[2] != '\0' ? word + 2 : NULL;
	if (o->arg == NULL && value != NULL)
		return set_usage_error(line, err, word, "takes no value");
	if (o->arg != NULL && value == NULL && argc < 2)
		return set_usage_error(line, err, word, "needs a value");
	if (o->arg != NULL && value == NULL)
		value = argv[n++];
	return store_value(line, o, options, value, err) == 0 ? n : -1;
}

bool cmd_starts_with(const struct cmd *cmd, const char *word)
{
	size_t len = strlen(word);

	return strcspn(cmd->name, " ") == len && memcmp(cmd->name, word, len) == 0;
}

bool cmd_is_group(const char *word)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++)
		if (cmd_starts_with(cmd_table[i], word) && strchr(cmd_table[i]->name, ' ') != NULL)
			return true;
	return false;
}

const struct cmd *cmd_find(int argc, char **argv, int *words)
{
	const struct cmd *found = NULL;

	*words = 1;
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const char *name = cmd_table[i]->name;
		size_t first = strcspn(name, " ");

		if (!cmd_starts_with(cmd_table[i], argv[0]))
			continue;
		if (name[first] == '\0' && found == NULL)
			found = cmd_table[i];
		if (name[first] == ' ' && argc > 1 && strcmp(argv[1], name + first + 1) == 0) {
			*words = 2;
			return cmd_table[i];
		}
	}
	return found;
}

static void set_command(struct cmd_line *line, const struct cmd *cmd)
{
	line->cmd = line->args.cmd = cmd;
	line->options = xcalloc(1, cmd->size + 1);
	if (cmd->defaults != NULL)
		memcpy(line->options, cmd->defaults, cmd->preset != 0 ? cmd->preset : cmd->size);
}

/* Parse the command's name: argv[0], with the word after it, or with the group that was read
 * before. Return how many words were used, 0 if argv[0] is a log for the dashboard, or -1. */
static int parse_command(struct cmd_line *line, int argc, char **argv, struct err *err)
{
	char *both[] = { argv[0], argv[0] };
	const struct cmd *cmd;
	int words;

	if (line->group != NULL) {
		both[0] = line->group;
		cmd = cmd_find(2, both, &words);
		if (cmd == NULL)
			return cmd_fail_unknown(line->group, argv[0], err);
		set_command(line, cmd);
		return 1;
	}
	cmd = cmd_find(argc, argv, &words);
	if (cmd != NULL) {
		set_command(line, cmd);
		return words;
	}
	if (cmd_is_group(argv[0])) {
		line->group = argv[0];
		return 1;
	}
	if (!dash_is_path(argv[0]))
		return cmd_fail_unknown(NULL, argv[0], err);
	set_command(line, &cmd_dash);
	return 0;
}

static int parse_line(struct cmd_line *line, int argc, char **argv, struct err *err)
{
	bool options_ended = false;
	int n;

	for (int i = 0; i < argc; i += n) {
		n = 1;
		if (!options_ended && strcmp(argv[i], "--") == 0) {
			options_ended = true;
			continue;
		}
		if (!options_ended && argv[i][0] == '-' && argv[i][1] != '\0')
			n = parse_option(line, argc - i, argv + i, err);
		else
			n = line->cmd == NULL ? parse_command(line, argc - i, argv + i, err) : 0;
		if (n < 0)
			return -1;
		if (n > 0)
			continue;
		/* argv[i] is an argument of the command. */
		n = 1;
		if (line->cmd->word == NULL)
			line->args.argv[line->args.argc++] = argv[i];
		else if (line->cmd->word(line->options, argv[i], err) != 0)
			return -1;
	}
	if (line->cmd == NULL && line->group == NULL)
		set_command(line, &cmd_dash);
	return 0;
}

static void print_trouble(UNUSED void *user, bool is_trouble, const char *text)
{
	if (is_trouble)
		say_error("%s", text);
}

static int run_command(struct cmd_line *line, struct err *err)
{
	const struct cmd *cmd = line->cmd;
	struct cmd_args *args = &line->args;
	struct context context;

	if (cmd->wants == NULL && args->argc > cmd->most)
		return err_set(err, ERR_USAGE, "%s takes no argument: %s", cmd->name,
			       args->argv[0]);
	if (args->argc < cmd->least || args->argc > cmd->most)
		return err_set(err, ERR_USAGE, "%s: %s", cmd->name, cmd->wants);
	if (cmd->check != NULL && cmd->check(args, line->options, err) != 0)
		return -1;
	if (line->globals.context.verbose) {
		AUTO_TEXT dir = conf_dir_state();
		AUTO_TEXT path = xasprintf("%s/debug.log", dir);
		struct err why = { ERR_NONE, "" };

		if (conf_make_dir(dir, &why) != 0 || log_open(path, &why) != 0)
			say_error("cannot write a debug log: %s", why.text);
	}
	context_init(&context, &line->globals.context);
	int status = context_open(&context, cmd->needs, err);
	if (status == 0 && cmd->discovers)
		status = discover_once(&context.conf, print_trouble, err);
	for (size_t i = 0; i < args->formats.n && status == 0; i++)
		status = context_add_format(&context, args->formats.v[i], err);
	args->context = &context;
	if (status == 0)
		status = cmd->exec(args, line->options, err);
	context_close(&context);
	return status;
}

/* A folder of logs may have the name of a command, as in `hgym-tui runs`. */
static void suggest_folder(int argc, char **argv, int status)
{
	struct stat st;

	if (argc != 1 || strchr(argv[0], '/') != NULL || strcmp(argv[0], ".") == 0 ||
	    cmd_find(argc, argv, &(int){ 0 }) == NULL || stat(argv[0], &st) != 0 ||
	    !S_ISDIR(st.st_mode) || (status == 0 && !isatty(STDOUT_FILENO)))
		return;
	say_error("%s is a command; to open the folder, run hgym-tui ./%s", argv[0], argv[0]);
}

int cmd_main(int argc, char **argv)
{
	struct cmd_line line = {
		.globals.context.color = "auto",
		.args.argv = xcalloc((size_t)argc + 1, sizeof(char *)),
	};
	struct err err = { ERR_NONE, "" };
	int status = parse_line(&line, argc, argv, &err);
	bool is_group = line.cmd == NULL && line.group != NULL;
	bool has_run = false;
	bool help = line.globals.help || (is_group && status == 0);

	/* A command followed by --help prints its help even if the rest of the line is wrong. */
	for (int i = 0; line.cmd != NULL && i < argc && strcmp(argv[i], "--") != 0; i++)
		help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
	if (help) {
		if (is_group)
			cmd_print_group(line.group);
		else
			cmd_print_help(line.cmd != NULL ? line.cmd : &cmd_dash);
		status = cmd_flush(&err);
	} else if (status == 0 && line.globals.version) {
		version_print();
		status = cmd_flush(&err);
	} else if (status == 0) {
		status = run_command(&line, &err);
		has_run = true;
	}
	if (status < 0) {
		if (err.code != ERR_PIPE && err.text[0] != '\0')
			say_error("%s", err.text);
		status = err_exit_status(err.code);
	}
	if (has_run)
		suggest_folder(argc, argv, status);
	free(line.options);
	free(line.args.argv);
	return status;
}

const struct cmd_option cmd_output_options[] = {
	CMD_OUTPUT_OPTIONS(cmd_output),
	CMD_OPTIONS_END,
};

size_t cmd_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns = 0;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (text == NULL || !str_to_u64(str_from(text), &columns))
		columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
	if (columns == 0 || columns > MAX_COLUMNS)
		return 0;
	return columns < MIN_COLUMNS ? MIN_COLUMNS : (size_t)columns;
}

struct out *cmd_out(enum out_format format, const char *columns)
{
	struct out *out = out_new(stdout, format, columns);

	out_fit(out, cmd_columns());
	return out;
}

int cmd_flush(struct err *err)
{
	struct pollfd fd = { .fd = STDOUT_FILENO };

	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	/* poll reports an error for a pipe whose reader is gone. */
	(void)poll(&fd, 1, 0);
	return err_set(err, (fd.revents & POLLERR) != 0 ? ERR_PIPE : ERR_IO,
		       "cannot write to standard output");
}

int cmd_out_end(struct out *out, int status, struct err *err)
{
	bool failed = out_free(out) != 0;

	return failed && status >= 0 ? cmd_flush(err) : status;
}

int cmd_print(const struct buf *text, struct err *err)
{
	(void)fwrite(text->data, 1, text->len, stdout);
	return cmd_flush(err);
}

int cmd_print_json(cJSON *object, struct err *err)
{
	AUTO_BUF line = buf_new((size_t)JSON_MAX_BYTES * 2);

	json_print(&line, object);
	buf_append_char(&line, '\n');
	cJSON_Delete(object);
	return cmd_print(&line, err);
}
