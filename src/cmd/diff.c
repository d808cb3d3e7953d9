/* SPDX-License-Identifier: MIT */
/* `diff`: how the settings and the scripts of two runs differ. */
#include "config.h"

#include <stdio.h>

#include "base/utf8.h"
#include "cmd/cmd.h"
#include "model/run_diff.h"
#include "parsers/json.h"
#include "parsers/run_reader.h"

#define READ_BYTES 65536U

struct diff_call {
	enum out_format format;
};

static const struct cmd_option options[] = {
	CMD_ROW("json", NULL, "print one JSON object", CMD_VALUE, diff_call,
		format, .value = OUT_JSON),
	CMD_FORMAT_OPTION,
	CMD_OPTIONS_END,
};

static void
take_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	(void)line;
	run_text_line(user, text, class);
}

static void
take_run(void *user, const struct run *run)
{
	(void)run;
	run_text_next_run(user);
}

static int
read_text(struct run_text *text, const struct cmd_args *args, const char *path,
	  struct err *err)
{
	static const struct run_reader_cb cb = { .on_line = take_line,
						 .on_run = take_run };
	FILE *from = fopen(path, "rbe");
	struct run_reader *reader;
	char block[READ_BYTES];
	bool failed;
	size_t n;

	if (from == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", path);
	reader = run_reader_new(args->context->formats, &cb, text);
	while ((n = fread(block, 1, sizeof(block), from)) > 0)
		run_reader_feed(reader, block, n);
	run_reader_finish(reader);
	run_reader_free(reader);
	failed = ferror(from) != 0;
	(void)fclose(from);
	if (failed)
		return err_set(err, ERR_IO, "cannot read %s", path);
	if (text->n == 0 && text->source.len == 0)
		return err_set(err, ERR_NODATA,
			       "%s prints neither settings nor a script", path);
	return 0;
}

static cJSON *
diff_json(const struct cmd_args *args, const struct run_diff *diff)
{
	bool both = diff->has_a && diff->has_b;
	cJSON *object = cJSON_CreateObject(), *list;
	AUTO_BUF clean = buf_new(diff->source.cap);
	struct str rest = buf_str(&diff->source), line;

	json_add_clean(object, "a", args->argv[0]);
	json_add_clean(object, "b", args->argv[1]);
	list = cJSON_AddArrayToObject(object, "settings");
	for (size_t i = 0; i < diff->n_settings; i++) {
		cJSON *row = cJSON_CreateObject();

		json_add_clean(row, "name", diff->settings[i].name);
		json_add_clean(row, "a", diff->settings[i].a);
		json_add_clean(row, "b", diff->settings[i].b);
		cJSON_AddItemToArray(list, row);
	}
	json_add_number(object, "removed",
			both ? (double)diff->removed : RUN_ABSENT);
	json_add_number(object, "added",
			both ? (double)diff->added : RUN_ABSENT);
	list = cJSON_AddArrayToObject(object, "source");
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		buf_clear(&clean);
		utf8_sanitize(&clean, line);
		cJSON_AddItemToArray(list, cJSON_CreateString(clean.data));
	}
	return object;
}

/* With the colours of diff(1), where these are wanted. */
static int
print_diff(const struct run_diff *diff, bool color, struct err *err)
{
	static const struct {
		char sign;
		const char *begin;
	} signs[] = { { '-', "\033[31m" },
		      { '+', "\033[32m" },
		      { '@', "\033[36m" } };
	AUTO_BUF text = buf_new(SIZE_MAX / 2), out = buf_new(SIZE_MAX / 2);
	struct str rest, line;

	run_diff_say(diff, &text);
	buf_append_char(&text, '\n');
	run_diff_print(diff, &text);
	rest = buf_str(&text);
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		const char *begin = "";

		for (size_t i = 0; color && line.len > 0 && i < 3; i++)
			if (line.p[0] == signs[i].sign)
				begin = signs[i].begin;
		buf_append_str(&out, begin);
		buf_append(&out, line.p, line.len);
		buf_append_str(&out, *begin != '\0' ? "\033[m\n" : "\n");
	}
	return cmd_print(&out, err);
}

static int
exec_diff(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct diff_call *call = opaque;
	struct run_text texts[2];
	struct run_diff diff;
	int status = 0;

	for (int i = 0; i < 2; i++)
		run_text_init(&texts[i]);
	for (int i = 0; i < 2 && status == 0; i++)
		status = read_text(&texts[i], args, args->argv[i], err);
	if (status == 0) {
		run_diff_init(&diff, &texts[0], &texts[1]);
		status =
			call->format == OUT_JSON
				? cmd_print_json(diff_json(args, &diff), err)
				: print_diff(&diff, cmd_wants_color(args), err);
		run_diff_release(&diff);
	}
	for (int i = 0; i < 2; i++)
		run_text_release(&texts[i]);
	return status != 0 ? err_prefix(err, "diff") : 0;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.usage = "[OPTIONS] LOG LOG",
	.summary = "settings and training scripts in which two runs differ",
	.help = "Of each log the last run. Settings are what it prints as "
		"`name: value` or\n`name=value` before its first row with a "
		"loss; those that differ come first.\nThen the scripts that "
		"were printed into the logs, as a unified diff. In the\n"
		"dashboard Compare shows the same by the key of `diff`.",
	.options = options,
	.size = sizeof(struct diff_call),
	.least = 2,
	.most = 2,
	.wants = "name two logs",
	.needs = CONTEXT_FORMATS,
	.exec = exec_diff,
};
