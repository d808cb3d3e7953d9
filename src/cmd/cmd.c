/* SPDX-License-Identifier: MIT */
/* From the words of a command line to a command that runs; for main. */
#include "cmd/cmd.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <unistd.h>

#include "app/dash.h"
#include "base/log.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "cmd/version.h"
#include "parsers/json.h"
#include "pods/discover.h"

/* Screens that are told of and are none. */
#define MIN_COLUMNS 40
#define MAX_COLUMNS 1000

/* The commands, in the order of the help: each a struct cmd_<id>.  The only
 * list of them. */
#define CMD_LIST_OF(X)   \
	X(parse)         \
	X(board)         \
	X(diff)          \
	X(submission)    \
	X(export)        \
	X(formats_list)  \
	X(formats_show)  \
	X(formats_check) \
	X(formats_learn) \
	X(harness)       \
	X(collect)       \
	X(pods)          \
	X(pods_check)    \
	X(runs)          \
	X(samples)       \
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
	X(demo)          \
	X(doctor)        \
	X(help)          \
	X(version)

#define X(id) extern const struct cmd cmd_##id;
CMD_LIST_OF(X)
#undef X

const struct cmd *const cmd_table[] = {
#define X(id) &cmd_##id,
	CMD_LIST_OF(X)
#undef X
		NULL,
};

/* No command: the dashboard; its options are those of every command. */
static const struct cmd_option dash_options[] = {
	{ 0, "config", "FILE", "read this configuration", CMD_TEXT,
	  CMD_AT(cmd_globals, context.config) },
	{ 0, "db", "FILE", "use this database", CMD_TEXT, CMD_AT(cmd_globals, context.db) },
	{ 0, "read-only", NULL, "never start, stop or write anything on a pod", CMD_FLAG,
	  CMD_AT(cmd_globals, context.read_only) },
	{ 0, "color", "WHEN", "auto, always or never", CMD_WORD, CMD_AT(cmd_globals, context.color),
	  .words = conf_colors },
	{ 0, "charset", "SET", "draw charts with braille, block, ascii or pixels", CMD_WORD,
	  CMD_AT(cmd_globals, context.charset), .words = conf_charsets },
	{ 0, "track", "NAME", "hold runs to this track, or a file with one", CMD_TEXT,
	  CMD_AT(cmd_globals, context.track) },
	{ 'v', "verbose", NULL, "write a debug log to a file", CMD_FLAG,
	  CMD_AT(cmd_globals, context.verbose) },
	{ 'h', "help", NULL, "show this help", CMD_FLAG, CMD_AT(cmd_globals, help) },
	{ 'V', "version", NULL, "show the version and those of the libraries", CMD_FLAG,
	  CMD_AT(cmd_globals, version) },
	CMD_OPTIONS_END,
};

bool cmd_has_place(const struct cmd_args *args)
{
	return any_of(i, args->argc, conf_place(args->argv[i]) > 0);
}

static int exec_dash(struct cmd_args *args, void *opaque, struct err *err)
{
	size_t n = (size_t)args->argc;

	(void)opaque;
	if (cmd_has_place(args)) {
		if (context_open_places(args->context, args->argv, n, err) != 0)
			return -1;
		n = 0;
	}
	return dash_run(args->context, args->argv, n, err);
}

const struct cmd cmd_dash = {
	.name = "",
	.usage = "[OPTIONS] [COMMAND [ARGS]]",
	.summary = "the dashboard",
	.options = dash_options,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS | CONTEXT_TRACK,
	.exec = exec_dash,
};

/* A command line while it is read. */
struct cmd_line {
	const struct cmd *cmd; /* NULL: not named yet */
	char *group;	       /* its first word, until the second comes */
	void *options;	       /* owned; of cmd */
	struct cmd_globals globals;
	struct cmd_args args;
};

/* "parse: --jobs: WHAT (see hgym-tui parse --help)"; -1. */
static int refuse(const struct cmd_line *line, struct err *err, const char *word, const char *what)
{
	const char *name = line->cmd != NULL	 ? line->cmd->name
			   : line->group != NULL ? line->group
						 : "";
	const char *blank = name[0] != '\0' ? " " : "";

	return err_set(err, ERR_USAGE, "%s%s%s: %s (see hgym-tui%s%s --help)", name,
		       name[0] != '\0' ? ": " : "", word, what, blank, name);
}

/* The option that a word of the command line names, of one table. */
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

/* The name that a mistyped word may have meant. */
struct nearest {
	struct str word, name; /* name.p NULL: none is near */
	size_t typos, most;    /* those of name; those that it may have */
};

#define NAME_MAX_BYTES 32U

/* Of the first i bytes of a and k of b; see count_typos. */
struct typos {
	size_t of[NAME_MAX_BYTES + 1][NAME_MAX_BYTES + 1];
};

/* What it is for i and k, from what it is for less of them. */
static size_t typos_at(const struct typos *t, const char *a, const char *b, size_t i, size_t k)
{
	if (i == 0 || k == 0)
		return i + k;
	size_t least = MIN(t->of[i - 1][k], t->of[i][k - 1]) + 1;
	least = MIN(least, t->of[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
	if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
		least = MIN(least, t->of[i - 2][k - 2] + 1);
	return least;
}

/* Letters that are wrong, missing, too many, or changed with the next: the
 * distance of Damerau and Levenshtein. */
static size_t count_typos(struct str a, struct str b)
{
	struct typos t;

	if (a.len > NAME_MAX_BYTES || b.len > NAME_MAX_BYTES)
		return SIZE_MAX;
	for (size_t i = 0; i <= a.len; i++)
		for (size_t k = 0; k <= b.len; k++)
			t.of[i][k] = typos_at(&t, a.p, b.p, i, k);
	return t.of[a.len][b.len];
}

/* A name is near with few typos, or when it goes on so. */
static void try_name(struct nearest *near, const char *name, size_t len)
{
	struct str s = { name, len };
	bool begins = near->word.len > 1 && len > near->word.len &&
		      memcmp(near->word.p, name, near->word.len) == 0;
	size_t typos = begins ? 1 : count_typos(near->word, s);

	if (typos <= near->most && (near->name.p == NULL || typos < near->typos)) {
		near->name = s;
		near->typos = typos;
	}
}

/* WHAT, and "; did you mean parse?" where a name is near. */
static const char *with_nearest(const struct nearest *near, const char *what, const char *before,
				char said[160])
{
	(void)snprintf(said, 160, near->name.p != NULL ? "%s; did you mean %s%.*s?" : "%s", what,
		       before, (int)near->name.len, near->name.p);
	return said;
}

static int refuse_option(const struct cmd_line *line, const char *word, struct err *err)
{
	const struct cmd_option *own = line->cmd != NULL ? line->cmd->options : NULL;
	struct nearest near = { .name = { NULL, 0 } };
	char said[160];

	if (word[1] == '-')
		near.word = (struct str){ word + 2, strcspn(word + 2, "=") };
	near.most = (near.word.len + 1) / 3;
	for (const struct cmd_option *o = own; o != NULL && o->name != NULL; o++)
		try_name(&near, o->name, strlen(o->name));
	for (const struct cmd_option *o = dash_options; o->name != NULL; o++)
		try_name(&near, o->name, strlen(o->name));
	return refuse(line, err, word, with_nearest(&near, "no such option", "--", said));
}

int cmd_refuse(const char *group, const char *word, struct err *err)
{
	const char *blank = group != NULL ? " " : "", *of = blank[0] ? group : "";
	AUTO_TEXT whole = xasprintf("%s%s%s", of, blank, word);
	struct nearest near = { .word = str_from(whole), .most = (strlen(word) + 1) / 3 };
	char said[160];

	for (size_t i = 0; cmd_table[i] != NULL; i++)
		try_name(&near, cmd_table[i]->name, strcspn(cmd_table[i]->name, group ? "" : " "));
	return err_set(err, ERR_USAGE,
		       "there is no command \"%s\"%s (see hgym-tui%s%s "
		       "--help)",
		       whole, with_nearest(&near, "", "", said), blank, of);
}

/* Why a value is none for that option; NULL: it is taken. */
static const char *take_number(const struct cmd_option *o, const char *value, void *to,
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

/* The same of a word, or of several. */
static const char *take_words(const struct cmd_option *o, const char *value, void *to,
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

/* The value of an option (NULL: it takes none) into its member. */
static int take_value(struct cmd_line *line, const struct cmd_option *o, void *options,
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
		wrong = take_words(o, value, to, why);
		break;
	case CMD_NUMBER:
	case CMD_POSITIVE:
	case CMD_COUNT:
		wrong = take_number(o, value, to, why);
		break;
	case CMD_LIST:
	case CMD_FORMAT:
		if (list->n == CMD_LIST_MAX)
			wrong = "stands too often";
		else
			list->v[list->n++] = value;
		break;
	case CMD_TAKE:
		return o->take(options, value, err);
	}
	print_into(word, "--%s%s%.120s", o->name, value != NULL ? " " : "",
		   value != NULL ? value : "");
	return wrong == NULL ? 0 : refuse(line, err, word, wrong);
}

/* The option at argv[0], and its value; how many words, or -1. */
static int take_option(struct cmd_line *line, int argc, char **argv, struct err *err)
{
	const char *word = argv[0], *value = strchr(word, '=');
	void *options = line->options;
	/* Those of the dashboard are the globals. */
	bool has_own = line->cmd != NULL && line->cmd != &cmd_dash;
	const struct cmd_option *o = find_option(has_own ? line->cmd->options : NULL, word);
	int n = 1;

	if (o == NULL) {
		o = find_option(cmd_dash.options, word);
		options = &line->globals;
	}
	if (o == NULL)
		return refuse_option(line, word, err);
	if (word[1] == '-')
		value = value != NULL ? value + 1 : NULL;
	else
		value = word[2] != '\0' ? word + 2 : NULL;
	if (o->arg == NULL && value != NULL)
		return refuse(line, err, word, "takes no value");
	if (o->arg != NULL && value == NULL && argc < 2)
		return refuse(line, err, word, "needs a value");
	if (o->arg != NULL && value == NULL)
		value = argv[n++];
	return take_value(line, o, options, value, err) == 0 ? n : -1;
}

bool cmd_is_of(const struct cmd *cmd, const char *word)
{
	size_t len = strlen(word);

	return strcspn(cmd->name, " ") == len && memcmp(cmd->name, word, len) == 0;
}

bool cmd_is_group(const char *word)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++)
		if (cmd_is_of(cmd_table[i], word) && strchr(cmd_table[i]->name, ' ') != NULL)
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

		if (!cmd_is_of(cmd_table[i], argv[0]))
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

static void begin_command(struct cmd_line *line, const struct cmd *cmd)
{
	line->cmd = line->args.cmd = cmd;
	line->options = xcalloc(1, cmd->size + 1);
	if (cmd->defaults != NULL)
		memcpy(line->options, cmd->defaults, cmd->preset != 0 ? cmd->preset : cmd->size);
}

/* The command that the word at argv[0] names, with the one behind it or the
 * group before it; how many words were used, 0 when it is a path, or -1. */
static int take_command(struct cmd_line *line, int argc, char **argv, struct err *err)
{
	char *both[] = { argv[0], argv[0] };
	const struct cmd *cmd;
	int words;

	if (line->group != NULL) {
		both[0] = line->group;
		cmd = cmd_find(2, both, &words);
		if (cmd == NULL)
			return cmd_refuse(line->group, argv[0], err);
		begin_command(line, cmd);
		return 1;
	}
	cmd = cmd_find(argc, argv, &words);
	if (cmd != NULL) {
		begin_command(line, cmd);
		return words;
	}
	if (cmd_is_group(argv[0])) {
		line->group = argv[0];
		return 1;
	}
	if (!dash_is_path(argv[0]))
		return cmd_refuse(NULL, argv[0], err);
	begin_command(line, &cmd_dash);
	return 0;
}

/* A word that is no option; how many words were used, or -1. */
static int take_argument(struct cmd_line *line, int argc, char **argv, struct err *err)
{
	int words = line->cmd == NULL ? take_command(line, argc, argv, err) : 0;

	if (words != 0)
		return words;
	if (line->cmd->word != NULL)
		return line->cmd->word(line->options, argv[0], err) == 0 ? 1 : -1;
	line->args.argv[line->args.argc++] = argv[0];
	return 1;
}

static int check_line(const struct cmd_line *line, struct err *err)
{
	const struct cmd *cmd = line->cmd;
	const struct cmd_args *args = &line->args;

	if (cmd->wants == NULL && args->argc > cmd->most)
		return err_set(err, ERR_USAGE, "%s takes no argument: %s", cmd->name,
			       args->argv[0]);
	if (args->argc < cmd->least || args->argc > cmd->most)
		return err_set(err, ERR_USAGE, "%s: %s", cmd->name, cmd->wants);
	return cmd->check != NULL ? cmd->check(args, line->options, err) : 0;
}

/* Read all words; -1 with err. */
static int read_line(struct cmd_line *line, int argc, char **argv, struct err *err)
{
	bool only_words = false;
	int n;

	for (int i = 0; i < argc; i += n) {
		n = 1;
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0')
			n = take_option(line, argc - i, argv + i, err);
		else
			n = take_argument(line, argc - i, argv + i, err);
		if (n < 0)
			return -1;
	}
	if (line->cmd == NULL && line->group == NULL)
		begin_command(line, &cmd_dash);
	return 0;
}

/* The debug log of --verbose; without it the program goes on all the same. */
static void open_debug_log(void)
{
	AUTO_TEXT dir = conf_dir_state();
	AUTO_TEXT path = xasprintf("%s/debug.log", dir);
	struct err err = { ERR_NONE, "" };

	if (conf_make_dir(dir, &err) != 0 || log_open(path, &err) != 0)
		say_error("%s", err.text);
}

static void say_trouble(void *user, bool is_trouble, const char *text)
{
	(void)user;
	if (is_trouble)
		say_error("%s", text);
}

/* Open what the command needs and run it. */
static int run_line(struct cmd_line *line, struct err *err)
{
	struct context context;
	struct cmd_args *args = &line->args;

	if (line->globals.context.verbose)
		open_debug_log();
	context_init(&context, &line->globals.context);
	int status = context_open(&context, line->cmd->needs, err);
	if (status == 0 && line->cmd->discovers)
		status = discover_once(&context.conf, say_trouble, err);
	for (size_t i = 0; i < args->formats.n && status == 0; i++)
		status = context_add_format(&context, args->formats.v[i], err);
	args->context = &context;
	if (status == 0)
		status = line->cmd->exec(args, line->options, err);
	context_close(&context);
	return status;
}

/* Is help asked for, behind whatever else?  It is no value then. */
static bool wants_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

int cmd_main(int argc, char **argv)
{
	struct cmd_line line = {
		.globals.context.color = "auto",
		.args.argv = xcalloc((size_t)argc + 1, sizeof(char *)),
	};
	struct err err = { ERR_NONE, "" };
	int status = read_line(&line, argc, argv, &err);
	bool is_group = line.cmd == NULL && line.group != NULL;
	bool help = line.globals.help || (is_group && status == 0) ||
		    (line.cmd != NULL && wants_help(argc, argv));

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
		status = check_line(&line, &err);
		if (status == 0)
			status = run_line(&line, &err);
	}
	if (status < 0) {
		if (err.code != ERR_PIPE && err.text[0] != '\0')
			say_error("%s", err.text);
		status = err_exit_status(err.code);
	}
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
	/* The end of a pipe that nobody reads is an error to poll. */
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
