/* SPDX-License-Identifier: MIT */
/* `harness`: show HarnessGym runs and comparisons, with their scores checked again. */
#include <limits.h>
#include <unistd.h>

#include "base/say.h"
#include "base/utf8.h"
#include "bench/harness_ab.h"
#include "cmd/cmd.h"
#include "harness/pod.h"
#include "harness/print.h"
#include "parsers/harness/json.h"

struct harness_call {
	enum out_format format;
	const char *run;
	bool all, ab, diff;
	double reference; /* 0: none */
	size_t printed;	  /* number of pages printed */
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(harness_call),
	{ 0, "run", "ID", "show this run of the workspace (default: the newest)", CMD_TEXT,
	  CMD_AT(harness_call, run) },
	{ 0, "all", NULL, "show every run of the workspace", CMD_FLAG, CMD_AT(harness_call, all) },
	{ 0, "ab", NULL,
	  "print a bench.json that compares the task's template with the best checkpoint, or the "
	  "trials of a comparison",
	  CMD_FLAG, CMD_AT(harness_call, ab) },
	{ 0, "diff", NULL, "print how the best checkpoint changed the task's files", CMD_FLAG,
	  CMD_AT(harness_call, diff) },
	{ 0, "reference", "SCORE", "compare the best verified score with this one", CMD_POSITIVE,
	  CMD_AT(harness_call, reference), .high = 1e15 },
	CMD_OPTIONS_END,
};

/* A directory that was read, on this machine or on a pod. */
struct place {
	const char *name;      /* as given */
	const char *run;       /* ID if the folder of a run was given; "": a workspace */
	const char *pod;       /* NULL: this machine */
	const char *workspace; /* the folder that contains .harnessgym */
	int64_t now_ms;	       /* by the clock of that machine */
};

/* Print a run; a blank line separates it from the one before. */
static int show_run(struct harness_call *call, const struct harness_workspace *ws,
		    const struct harness_run *run, struct err *err)
{
	if (call->format == OUT_JSON)
		return cmd_print_json(harness_run_json(ws, run), err);
	if (call->printed++ > 0)
		(void)putchar('\n');
	(void)harness_print_run(stdout, call->format, ws, run);
	return cmd_flush(err);
}

/* Print the difference between template and best checkpoint: first the files, then the lines. */
static int show_diff(const struct harness_files *files, const struct harness_run *run,
		     struct err *err)
{
	const struct harness_file *file =
		harness_files_find(files, HARNESS_BEST_DIFF, run->dir, 0, 0);
	struct str line;
	AUTO_BUF text = buf_new(HARNESS_TEXT_KEEP * 4);

	if (file == NULL)
		return err_set(
			err, ERR_NODATA,
			"run %s has no checkpoint and template to compare; to see an older run, "
			"give the folder of that run",
			run->id);
	struct str rest = { file->text, file->len };
	while (str_next(&rest, '\n', &line)) {
		utf8_sanitize(&text, line);
		buf_append_char(&text, '\n');
	}
	(void)fputs(text.data, stdout);
	return cmd_flush(err);
}

/* Print the bench of a run or a comparison, and its note on stderr. */
static int show_ab(struct harness_ab *ab, const struct place *place, struct err *err)
{
	ab->workspace = place->workspace;
	ab->pod = place->pod;
	cJSON *object = harness_ab_json(ab, err);

	if (object == NULL)
		return -1;
	if (json_get(object, "note") != NULL)
		say_error("%s", json_get_string(object, "note", ""));
	return cmd_print_json(object, err);
}

static int show_workspace(struct harness_call *call, const struct harness_files *files,
			  const struct place *place, struct err *err)
{
	const char *id = *place->run != '\0' ? place->run : call->run;
	struct harness_workspace ws;
	int rc = 0;

	harness_workspace_read(&ws, files, place->now_ms);
	if (call->reference > 0)
		harness_workspace_refer(&ws, call->reference);
	if (files->full)
		say_error("%s: too many files to read; older runs are not shown", place->name);
	const struct harness_run *run = harness_workspace_run(&ws, id);
	if (run == NULL && id == NULL)
		rc = err_set(err, ERR_NODATA, "%s: no runs yet", place->name);
	else if (run == NULL)
		rc = err_set(err, ERR_NODATA, "%s: unknown run %s", place->name, id);
	else if (call->ab)
		rc = show_ab(&(struct harness_ab){ .run = run }, place, err);
	else if (call->diff)
		rc = show_diff(files, run, err);
	else if (!call->all)
		rc = show_run(call, &ws, run, err);
	else
		for (size_t i = 0; rc == 0 && i < ws.n_runs; i++)
			rc = show_run(call, &ws, &ws.runs[i], err);
	harness_workspace_release(&ws);
	return rc;
}

static int show_compare(struct harness_call *call, const struct harness_files *files,
			const struct place *place, struct err *err)
{
	struct harness_compare compare;
	int rc;

	if (call->diff)
		return err_set(err, ERR_USAGE, "--diff: %s is a comparison, not a run",
			       place->name);
	harness_compare_read(&compare, files);
	if (call->ab) {
		rc = show_ab(&(struct harness_ab){ .compare = &compare }, place, err);
	} else if (call->format == OUT_JSON) {
		rc = cmd_print_json(harness_compare_json(&compare), err);
	} else {
		if (call->printed++ > 0)
			(void)putchar('\n');
		(void)harness_print_compare(stdout, call->format, &compare);
		rc = cmd_flush(err);
	}
	harness_compare_release(&compare);
	return rc;
}

/* Fetch and show the directory dir on the pod (NULL: this machine), which the user called name. If
 * dir is a pattern, show every directory on the pod that it matches. */
static int show_dir(struct harness_call *call, const struct conf_pod *pod, const char *name,
		    const char *dir, struct err *err)
{
	const char *inside = strstr(dir, "/.harnessgym");
	AUTO_TEXT workspace = xstrndup(dir, inside != NULL ? (size_t)(inside - dir) : strlen(dir));
	struct harness_files files;
	struct harness_wire wire;

	harness_files_init(&files);
	harness_wire_init(&wire, &files);
	int rc = harness_pod_fetch(pod, dir, &wire, err);
	const struct place place = {
		.name = name,
		.now_ms = wire.now_ms,
		.run = wire.run,
		.pod = pod != NULL ? pod->name : NULL,
		.workspace = workspace,
	};
	bool is_pattern = rc == 0 && wire.what[0] == '\0';
	if (is_pattern && wire.n_dirs == 0)
		rc = err_set(err, ERR_NODATA, "%s: no HarnessGym run or comparison matches", name);
	else if (rc == 0 && !is_pattern)
		rc = strcmp(wire.what, "compare") == 0
			     ? show_compare(call, wire.files, &place, err)
			     : show_workspace(call, wire.files, &place, err);
	for (size_t i = 0; is_pattern && rc == 0 && i < wire.n_dirs; i++) {
		AUTO_TEXT match = xasprintf("%s:%s", pod->name, wire.dirs[i]);

		rc = show_dir(call, pod, match, wire.dirs[i], err);
	}
	harness_wire_release(&wire);
	harness_files_release(&files);
	return rc;
}

/* A path that exists on this machine is local; other paths are POD:DIR. */
static int show_path(struct harness_call *call, struct context *context, const char *path,
		     struct err *err)
{
	const struct conf *conf = &context->conf;
	const char *colon = strchr(path, ':');
	char full[PATH_MAX];

	if (colon == NULL || colon == path || colon[1] == '\0' || access(path, F_OK) == 0) {
		if (realpath(path, full) == NULL)
			return err_set_errno(err, ERR_IO, "cannot open %s", path);
		return show_dir(call, NULL, path, full, err);
	}
	if (context_open(context, CONTEXT_CONF, err) != 0)
		return -1;
	AUTO_TEXT name = xstrndup(path, (size_t)(colon - path));
	int pod = conf_find_pod(conf, name);
	if (pod < 0)
		return err_set(err, ERR_CONFIG,
			       "%s: neither a local directory nor a configured pod \"%s\"", path,
			       name);
	return show_dir(call, &conf->pods[pod], path, colon + 1, err);
}

/* Show each path; if one fails, print why and show the others. */
static int exec_harness(struct cmd_args *args, void *opaque, UNUSED struct err *err)
{
	int status = 0;

	for (int i = 0; i < args->argc; i++) {
		struct err why = { ERR_NONE, "" };

		if (show_path(opaque, args->context, args->argv[i], &why) == 0)
			continue;
		say_error("%s", why.text);
		status = err_exit_status(why.code);
	}
	return status;
}

const struct cmd cmd_harness = {
	.name = "harness",
	.usage = "[OPTIONS] DIR|POD:DIR...",
	.summary = "show HarnessGym runs and check their reported scores",
	CMD_OPTIONS(options, harness_call),
	.least = 1,
	.most = CMD_ANY,
	.wants = "give a HarnessGym workspace, the folder of a run, or a comparison",
	.exec = exec_harness,
};
