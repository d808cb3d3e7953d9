/* SPDX-License-Identifier: MIT */
/* `tracks list|show|check`: the rules of competitions, and the logs that they recognize. */
#include "base/file.h"
#include "cmd/cmd.h"

#define FOLD_TRACKS .fold = "show the rules of competitions"

static int exec_list(struct cmd_args *args, void *opaque, struct err *err)
{
	static const char columns[] = "name, from, title";
	const struct track_set *set = &args->context->tracks;
	const struct cmd_output *call = opaque;
	struct out *out = cmd_out(call->format, columns);

	array_each (track, set->v, set->n)
		out_take(out,
			 json_new(JTEXT("name", track->name),
				  JCLEAN("from", track->file != NULL ? track->file : "built in"),
				  JTEXT("title", track->title)));
	return cmd_out_end(out, 0, err);
}

const struct cmd cmd_tracks_list = {
	.name = "tracks list",
	.usage = "[OPTIONS]",
	.summary = "list the tracks: the rules of competitions",
	FOLD_TRACKS,
	CMD_OUTPUT_ONLY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_list,
};

static int exec_show(struct cmd_args *args, UNUSED void *opaque, struct err *err)
{
	const struct track *track = track_set_find(&args->context->tracks, args->argv[0]);
	AUTO_BUF text = buf_new(1U << 20);

	if (track == NULL)
		return err_set(err, ERR_USAGE, "unknown track \"%s\"; see hgym-tui tracks list",
			       args->argv[0]);
	if (track->file == NULL)
		buf_append_str(&text, track_text(track->name));
	else if (file_read(track->file, &text, err) != 0)
		return -1;
	return cmd_print(&text, err);
}

const struct cmd cmd_tracks_show = {
	.name = "tracks show",
	.usage = "[OPTIONS] NAME",
	.summary = "print the file of a track",
	FOLD_TRACKS,
	.options = (const struct cmd_option[]){ CMD_OPTIONS_END },
	.least = 1,
	.most = 1,
	.wants = "give the name of one track",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_show,
};

/* Where the runs of a log are printed, and the track that is checked. */
struct check {
	struct out *out;
	const char *path, *name;
	bool is_other; /* some run was recognized as something else */
};

static void print_run(void *user, const struct run *run)
{
	struct check *check = user;
	const char *names = run->tracks != NULL && *run->tracks != '\0' ? run->tracks : NULL;

	check->is_other |= names == NULL || strcmp(names, check->name) != 0;
	out_take(check->out,
		 json_new(JCLEAN("file", check->path), JNUM("run_index", run->run_index),
			  JTEXT("track", names), JTEXT("status", run_status_names[run->status])));
}

static int exec_check(struct cmd_args *args, void *opaque, struct err *err)
{
	static const char columns[] = "file, run_index=run:0, track, status";
	static const struct run_reader_cb cb = { .on_run = print_run };
	const struct cmd_output *call = opaque;
	const struct track_set *tracks = &args->context->tracks;
	const char *named = args->argv[0];
	int status = 0;

	/* Load the file as if the configuration named it last. */
	conf_strings_add(&args->context->conf.tracks, xstrdup(named));
	if (context_open(args->context, CONTEXT_FORMATS, err) != 0)
		return -1;
	const struct track *track =
		array_find(one, tracks->v, tracks->n,
			   strcmp(one->file != NULL ? one->file : one->name, named) == 0);
	struct check check = { .out = cmd_out(call->format, columns),
			       .name = track != NULL ? track->name : named };
	struct run_reader *reader = run_reader_new(args->context->formats, &cb, NULL);
	for (int i = 1; i < args->argc && status == 0; i++) {
		check.path = args->argv[i];
		run_reader_reset(reader, &check);
		status = log_read(check.path, reader, err);
	}
	run_reader_free(reader);
	if (status == 0 && check.is_other)
		status = err_exit_status(ERR_CHECK);
	return cmd_out_end(check.out, status, err);
}

const struct cmd cmd_tracks_check = {
	.name = "tracks check",
	.usage = "[OPTIONS] FILE [LOG...]",
	.summary = "check a track file, and show which track each log belongs to",
	FOLD_TRACKS,
	CMD_OUTPUT_ONLY,
	.least = 1,
	.most = CMD_ANY,
	.wants = "give a track file, and logs",
	.needs = CONTEXT_CONF,
	.exec = exec_check,
};
