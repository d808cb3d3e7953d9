/* SPDX-License-Identifier: MIT */
/* `formats list|show|check|learn`: rule sets, and which log lines they match. */
#include <unistd.h>

#include "base/say.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "parsers/learn.h"

static int exec_list(struct cmd_args *args, void *opaque, struct err *err)
{
	static const char columns[] = "name, rules:0, from, about";
	const struct format_set *set = args->context->formats;
	const struct cmd_output *call = opaque;
	struct out *out = cmd_out(call->format, columns);
	const struct format *format;

	for (size_t i = 0; (format = format_set_get(set, i)) != NULL; i++)
		out_take(out, json_new(JTEXT("name", format->name), JNUM("rules", format->n_rules),
				       JTEXT("from", format->builtin ? "built in" : "user"),
				       JTEXT("about", format->about)));
	return cmd_out_end(out, 0, err);
}

/* How these commands appear in the list of all commands. */
#define FOLD_FORMATS .fold = "manage the rules that read logs"

const struct cmd cmd_formats_list = {
	.name = "formats list",
	.usage = "[OPTIONS]",
	.summary = "list the rule sets that read logs",
	.section = "other",
	FOLD_FORMATS,
	CMD_OUTPUT_ONLY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_list,
};

static cJSON *make_rule_row(const struct rule *rule)
{
	AUTO_BUF needs = buf_new(4096);

	for (size_t i = 0; i < rule->n_needs; i++)
		buf_appendf(&needs, "%s%s", i > 0 ? " | " : "", rule->needs[i]);
	return json_new(
		JTEXT("format", rule->format), JTEXT("rule", rule->name),
		JTEXT("kind", rule_kind_names[rule->kind]),
		JTEXT("stage", rule->kind == RULE_RESULT ? rule_stage_names[rule->stage] : NULL),
		JTEXT("needs", rule->n_needs > 0 ? needs.data : NULL),
		JTEXT("match", rule->pattern));
}

/* Return the name of a loaded rule set, or load it from the file; NULL with err. */
static const char *load_format(struct context *context, const char *name, struct err *err)
{
	const struct format_set *set = context->formats;
	const struct format *format;

	for (size_t i = 0; (format = format_set_get(set, i)) != NULL; i++)
		if (strcmp(format->name, name) == 0)
			return name;
	if (access(name, F_OK) != 0)
		err_set(err, ERR_USAGE,
			"\"%s\" is neither a rule set nor a file (see hgym-tui formats list)",
			name);
	else if (context_add_format(context, name, err) == 0)
		return format_set_get(set, 0)->name;
	return NULL;
}

static int exec_show(struct cmd_args *args, void *opaque, struct err *err)
{
	static const char columns[] = "rule, kind, stage, match";
	const struct format_set *set = args->context->formats;
	const char *name = load_format(args->context, args->argv[0], err);
	const struct cmd_output *call = opaque;

	if (name == NULL)
		return -1;
	struct out *out = cmd_out(call->format, columns);
	for (size_t i = 0; i < format_set_rules(set); i++) {
		const struct rule *rule = format_set_rule(set, i);

		if (strcmp(rule->format, name) == 0)
			out_take(out, make_rule_row(rule));
	}
	return cmd_out_end(out, 0, err);
}

const struct cmd cmd_formats_show = {
	.name = "formats show",
	.usage = "[OPTIONS] NAME|FILE",
	.summary = "print the rules of a rule set or rule file",
	FOLD_FORMATS,
	CMD_OUTPUT_ONLY,
	.least = 1,
	.most = 1,
	.wants = "give one rule set or file",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_show,
};

#define MAX_UNMATCHED 20
#define LEARN_BYTES   ((size_t)1 << 20)
#define SHOWN_BYTES   400 /* longest part of a line to show */

/* Counters of `formats check` over all logs. */
struct check {
	const struct format_set *set;
	struct run_reader *reader;
	size_t rule;			/* the last rule that matched .. */
	uint64_t rule_line;		/* .. and the line that it matched; 0: none */
	uint64_t *matched;		/* lines per rule */
	char **first;			/* owned; the first line that each rule matched */
	char *unmatched[MAX_UNMATCHED]; /* owned; "file:line: text" */
	size_t n_unmatched;
	uint64_t more_unmatched, lines, source_lines;
	const char *path;
};

static void on_rule(void *user, uint64_t line, const struct rule *rule)
{
	struct check *check = user;

	check->rule = index_of(i, SIZE_MAX, format_set_rule(check->set, i) == rule);
	check->rule_line = line;
	check->matched[check->rule]++;
}

static void on_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	struct check *check = user;

	check->lines++;
	if (check->rule_line == line) {
		if (check->first[check->rule] == NULL)
			check->first[check->rule] = utf8_copy(text, SHOWN_BYTES);
	} else if (class == LINE_SOURCE) {
		check->source_lines++;
	} else if (str_has_digit(text) && check->n_unmatched == MAX_UNMATCHED) {
		check->more_unmatched++;
	} else if (str_has_digit(text)) {
		AUTO_TEXT path = utf8_copy(str_from(check->path), SHOWN_BYTES);
		AUTO_TEXT clean = utf8_copy(text, SHOWN_BYTES);

		check->unmatched[check->n_unmatched++] =
			xasprintf("%s:%llu: %s", path, (unsigned long long)line, clean);
	}
}

static int exec_check(struct cmd_args *args, void *opaque, struct err *err)
{
	static const char columns[] = "format, rule, kind, lines:0, gave_up=gave up:0, "
				      "first=first line";
	static const struct run_reader_cb cb = { .on_line = on_line, .on_rule = on_rule };
	const char *name = load_format(args->context, args->argv[0], err);
	struct check check = { .set = args->context->formats };
	const struct cmd_output *call = opaque;
	size_t n = format_set_rules(check.set);
	int status = 0;

	if (name == NULL)
		return -1;
	struct out *out = cmd_out(call->format, columns);
	check.reader = run_reader_new(check.set, &cb, NULL);
	check.matched = xcalloc(n, sizeof(*check.matched));
	check.first = xcalloc(n, sizeof(*check.first));
	for (int i = 1; i < args->argc; i++) {
		struct err why = { ERR_NONE, "" };

		check.path = args->argv[i];
		check.rule_line = 0;
		run_reader_reset(check.reader, &check);
		if (log_read(check.path, check.reader, &why) == 0)
			continue;
		say_error("%s", why.text);
		status = err_exit_status(why.code);
	}
	for (size_t i = 0; i < format_set_rules(check.set); i++) {
		const struct rule *rule = format_set_rule(check.set, i);
		uint64_t hits = run_reader_limit_hits(check.reader, i);

		if (strcmp(rule->format, name) != 0 && check.matched[i] == 0)
			continue;
		cJSON *row = make_rule_row(rule);
		json_add(row, JNUM("lines", check.matched[i]), JNUM("gave_up", hits),
			 JTEXT("first", check.first[i]));
		out_take(out, row);
	}
	status = cmd_out_end(out, status, err);
	(void)fprintf(stderr, "%llu lines, including %llu lines of printed source code\n",
		      (unsigned long long)check.lines, (unsigned long long)check.source_lines);
	if (check.n_unmatched > 0)
		(void)fprintf(stderr, "lines with digits that no rule matched:\n");
	for (size_t i = 0; i < check.n_unmatched; i++) {
		(void)fprintf(stderr, "  %s\n", check.unmatched[i]);
		free(check.unmatched[i]);
	}
	if (check.more_unmatched > 0)
		(void)fprintf(stderr, "  and %llu more\n",
			      (unsigned long long)check.more_unmatched);
	for (size_t i = 0; i < n; i++)
		free(check.first[i]);
	free((void *)check.first);
	free(check.matched);
	run_reader_free(check.reader);
	return status;
}

const struct cmd cmd_formats_check = {
	.name = "formats check",
	.usage = "[OPTIONS] NAME|FILE [LOG...]",
	.summary = "show which log lines each rule matches, and which match none",
	FOLD_FORMATS,
	CMD_OUTPUT_ONLY,
	.least = 1,
	.most = CMD_ANY,
	.wants = "give a rule set's name or file",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_check,
};

struct learn_call {
	const char *name;
};

static const struct cmd_option learn_options[] = {
	CMD_FORMAT_OPTION,
	{ 'n', "name", "NAME", "name of the rule set (default: learned)", CMD_TEXT,
	  CMD_AT(learn_call, name) },
	CMD_OPTIONS_END,
};

/* Print the rule file to stdout, and the rows that it covers to stderr. */
static int exec_learn(struct cmd_args *args, void *opaque, struct err *err)
{
	static const struct run_reader_cb cb = { .on_row = learn_row };
	const struct learn_call *call = opaque;
	struct run_reader *reader = run_reader_new(args->context->formats, &cb, NULL);
	struct learn *learn = learn_new();
	AUTO_BUF file = buf_new(LEARN_BYTES);
	AUTO_BUF report = buf_new(LEARN_BYTES);
	int status = 0;

	for (int i = 0; status == 0 && i < args->argc; i++) {
		run_reader_reset(reader, learn);
		status = log_read(args->argv[i], reader, err);
	}
	if (status == 0 &&
	    learn_print(learn, call->name != NULL ? call->name : "learned", &file, &report) == 0)
		status = err_set(
			err, ERR_NODATA,
			"no training rows in these logs, or the rules already match all of them");
	(void)fputs(report.data, stderr);
	if (status == 0)
		(void)fputs(file.data, stdout);
	learn_free(learn);
	run_reader_free(reader);
	return status;
}

const struct cmd cmd_formats_learn = {
	.name = "formats learn",
	.usage = "[OPTIONS] LOG...",
	.summary = "write rules for log rows that no rule set matches",
	FOLD_FORMATS,
	CMD_OPTIONS(learn_options, learn_call),
	.least = 1,
	.most = CMD_ANY,
	.wants = "give at least one log",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_learn,
};
