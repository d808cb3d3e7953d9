/* SPDX-License-Identifier: MIT */
/* `harness`: HarnessGym runs and comparisons, judged anew. */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/say.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "bench/make.h"
#include "cmd/cmd.h"
#include "harness/dir.h"
#include "harness/pod.h"
#include "harness/print.h"
#include "parsers/harness_json.h"

/* What was asked for. */
struct harness_call {
	enum out_format format;
	const char *run;
	bool all, ab, diff;
	size_t printed; /* pages so far */
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(harness_call),
	{ 0, "run", "ID", "show this run of the workspace, not its newest", CMD_TEXT,
	  CMD_AT(harness_call, run) },
	{ 0, "all", NULL, "show every run of the workspace", CMD_FLAG, CMD_AT(harness_call, all) },
	{ 0, "ab", NULL, "print a bench.json: best checkpoint against workspace; trials", CMD_FLAG,
	  CMD_AT(harness_call, ab) },
	{ 0, "diff", NULL, "print what its best checkpoint changed of the task's files", CMD_FLAG,
	  CMD_AT(harness_call, diff) },
	CMD_OPTIONS_END,
};

/* A directory that was read, wherever it lies. */
struct place {
	const char *name; /* as given */
	const char *run;  /* one run's folder was named; "": a workspace */
	const char *pod;  /* where it lies; NULL: here */
	char *workspace;  /* owned; the folder that holds .harnessgym */
	int64_t now_ms;	  /* by the clock there */
	bool is_compare;
};

/* A page to stdout; a blank line parts it from the one before. */
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

/* From the template to the best checkpoint: files, and then lines. */
static int show_diff(const struct harness_files *files, const struct harness_run *run,
		     struct err *err)
{
	const struct harness_file *file =
		harness_files_find(files, HARNESS_BEST_DIFF, run->dir, 0, 0);
	struct str line;
	AUTO_BUF text = buf_new(HARNESS_TEXT_KEEP * 4);

	if (file == NULL)
		return err_set(err, ERR_NODATA,
			       "run %s: no checkpoint and template to compare; "
			       "an older run is named by its folder",
			       run->id);
	struct str rest = { file->text, file->len };
	while (str_next(&rest, '\n', &line)) {
		utf8_sanitize(&text, line);
		buf_append_char(&text, '\n');
	}
	(void)fputs(text.data, stdout);
	return cmd_flush(err);
}

/* The bench of a comparison's trials. */
static int show_trials(const struct harness_compare *compare, const struct place *place,
		       struct err *err)
{
	cJSON *object = harness_ab_json(
		&(struct harness_ab){ .compare = compare,
				      .workspace = place->workspace,
				      .pod = place->pod,
				      .same = place->pod == NULL ? harness_dir_same : NULL },
		err);

	return object != NULL ? cmd_print_json(object, err) : -1;
}

/* What makes the bench of a run's checkpoint worth little, on stderr. */
static void warn_of_arms(const struct harness_ab *ab)
{
	const struct harness_run *run = ab->run;
	AUTO_TEXT best =
		xasprintf("%s/.harnessgym/runs/%s/checkpoints/best", ab->workspace, run->dir);

	if (!run->has_summary && run->life.state != HARNESS_STATE_ABORTED &&
	    run->life.process != HARNESS_NO)
		say_error("the run is under way: both arms may change");
	if (run->judge != NULL)
		say_error("the judge is not as the run began; see "
			  "judge_changed of --json");
	if (ab->pod == NULL && harness_dir_same(best, ab->workspace))
		say_error("the workspace is as the checkpoint: the bench would "
			  "compare it with itself");
}

/* The bench of a run's checkpoint; of one that is not its best: say so. */
static int show_ab(const struct harness_run *run, const struct place *place, struct err *err)
{
	const struct harness_ab ab = { .run = run,
				       .workspace = place->workspace,
				       .pod = place->pod };
	cJSON *object = harness_ab_json(&ab, err);

	if (object == NULL)
		return -1;
	warn_of_arms(&ab);
	if (run->best.present && run->checkpoint.iteration.present &&
	    run->checkpoint.iteration.value != run->best.iteration)
		say_error("the checkpoint is of iteration %.0f; the best "
			  "verified one, of iteration %u, was not kept",
			  run->checkpoint.iteration.value, run->best.iteration);
	return cmd_print_json(object, err);
}

/* What was asked for: of the run that was named, of the newest or of all. */
static int show_asked(struct harness_call *call, const struct harness_files *files,
		      const struct harness_workspace *ws, const struct place *place,
		      struct err *err)
{
	const char *id = *place->run != '\0' ? place->run : call->run;
	const struct harness_run *run = harness_workspace_run(ws, id);
	int rc = 0;

	if (run == NULL)
		return err_set(err, ERR_NODATA, "%s: there is no run %s", place->name,
			       id != NULL ? id : "in it yet");
	if (call->ab)
		return show_ab(run, place, err);
	if (call->diff)
		return show_diff(files, run, err);
	if (!call->all)
		return show_run(call, ws, run, err);
	for (size_t i = 0; rc == 0 && i < ws->n_runs; i++)
		rc = show_run(call, ws, &ws->runs[i], err);
	return rc;
}

static int show_workspace(struct harness_call *call, const struct harness_files *files,
			  const struct place *place, struct err *err)
{
	struct harness_workspace ws;

	harness_workspace_read(&ws, files, place->now_ms);
	if (files->full)
		say_error("more files than can be read; older runs are left "
			  "out");
	int rc = show_asked(call, files, &ws, place, err);
	harness_workspace_release(&ws);
	return rc;
}

static int show_compare(struct harness_call *call, const struct harness_files *files,
			const struct place *place, struct err *err)
{
	struct harness_compare compare;
	int rc;

	harness_compare_read(&compare, files);
	if (call->ab) {
		rc = show_trials(&compare, place, err);
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

static int show_files(struct harness_call *call, const struct harness_files *files,
		      const struct place *place, struct err *err)
{
	if (!place->is_compare)
		return show_workspace(call, files, place, err);
	if (call->diff)
		return err_set(err, ERR_USAGE, "--diff: %s is a comparison, not a run",
			       place->name);
	return show_compare(call, files, place, err);
}

/* The path up to its ".harnessgym", or all of it; owned. */
static char *above_harnessgym(const char *path)
{
	const char *at = strstr(path, "/.harnessgym");

	return at != NULL ? xstrndup(path, (size_t)(at - path)) : xstrdup(path);
}

/* What was sent; times are by the clock there.  pod NULL: this machine. */
static int show_fetched(struct harness_call *call, const struct conf_pod *pod, const char *name,
			const char *dir, const struct harness_wire *wire, struct err *err)
{
	struct place place = {
		.name = name,
		.now_ms = wire->now_ms,
		.run = wire->run,
		.is_compare = strcmp(wire->what, "compare") == 0,
		.pod = pod != NULL ? pod->name : NULL,
		.workspace = above_harnessgym(dir),
	};
	int rc = show_files(call, wire->files, &place, err);

	free(place.workspace);
	return rc;
}

static int show_dir(struct harness_call *call, const struct conf_pod *pod, const char *name,
		    const char *dir, struct err *err);

/* Every directory that a pattern matches on the pod. */
static int show_matches(struct harness_call *call, const struct conf_pod *pod, const char *name,
			const struct harness_wire *wire, struct err *err)
{
	int rc = 0;

	if (wire->n_dirs == 0)
		return err_set(err, ERR_NODATA,
			       "%s: no HarnessGym run and no comparison "
			       "matches",
			       name);
	for (size_t i = 0; rc == 0 && i < wire->n_dirs; i++) {
		AUTO_TEXT match = xasprintf("%s:%s", pod->name, wire->dirs[i]);

		rc = show_dir(call, pod, match, wire->dirs[i], err);
	}
	return rc;
}

/* A directory as it was named, and its path there. */
static int show_dir(struct harness_call *call, const struct conf_pod *pod, const char *name,
		    const char *dir, struct err *err)
{
	struct harness_files files;
	struct harness_wire wire;

	harness_files_init(&files);
	harness_wire_init(&wire, &files);
	int rc = harness_pod_fetch(pod, dir, &wire, err);
	if (rc == 0 && wire.what[0] == '\0')
		rc = show_matches(call, pod, name, &wire, err);
	else if (rc == 0)
		rc = show_fetched(call, pod, name, dir, &wire, err);
	harness_wire_release(&wire);
	harness_files_release(&files);
	return rc;
}

/* A path that exists here is local; else POD:DIR is of that pod. */
static int show_path(struct harness_call *call, struct context *context, const char *path,
		     struct err *err)
{
	const struct conf *conf = &context->conf;
	const char *colon = strchr(path, ':');
	char full[PATH_MAX];
	AUTO_TEXT name = NULL;

	if (colon == NULL || colon == path || colon[1] == '\0' || access(path, F_OK) == 0) {
		if (realpath(path, full) == NULL)
			return err_set_errno(err, ERR_IO, "cannot open %s", path);
		return show_dir(call, NULL, path, full, err);
	}
	if (context_open(context, CONTEXT_CONF, err) != 0)
		return -1;
	name = xstrndup(path, (size_t)(colon - path));
	int pod = conf_find_pod(conf, name);
	if (pod < 0)
		return err_set(err, ERR_CONFIG,
			       "%s: no such directory here, and the "
			       "configuration has no pod of that name",
			       path);
	return show_dir(call, &conf->pods[pod], path, colon + 1, err);
}

/* Each path in turn; one that fails is told and the others still shown. */
static int exec_harness(struct cmd_args *args, void *opaque, struct err *err)
{
	int status = 0;

	(void)err;
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
	.summary = "show HarnessGym runs and comparisons, and what of them is "
		   "verified",
	.help = "DIR is a workspace, a run's folder below "
		".harnessgym/runs, or the output of a\ncomparison, here or "
		"on a pod of the configuration; a run may still be "
		"going\non. Or it holds the results.tsv that an agent "
		"keeps of its experiments, as\nautoresearch does: all of "
		"that is claimed, and held against its run.log. A\nscore "
		"is verified when the run's own post-attempt command "
		"printed it after the\nattempt's end and passed, and "
		"nobody changed what it printed or the files that\njudge. "
		"Numbers of a failed verifier or a changed judge are "
		"INVALID; numbers\nthat the agent wrote or measured by "
		"itself are shown as \"? unverified\" and\nnever as the "
		"best. MCP calls are cumulative for a workspace; the "
		"number in\nbrackets is the iteration's own. --ab makes "
		"the definition of a bench that\n`bench run` takes: the "
		"run's best checkpoint against the workspace as it "
		"is\nnow, measured by the run's own command; of a "
		"comparison its trials that count.",
	.options = options,
	.size = sizeof(struct harness_call),
	.least = 1,
	.most = CMD_ANY,
	.wants = "name a HarnessGym workspace, a run's folder or a comparison",
	.exec = exec_harness,
};
