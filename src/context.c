/* SPDX-License-Identifier: MIT */
/* Configuration, rules, track and database, opened once for main. */
#include "context.h"

#include <dirent.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "store/lock.h"

#define SELF "/proc/self/exe"

void context_init(struct context *context, const struct context_options *options)
{
	*context = (struct context){ .options = *options, .clock = &clock_real };
	conf_init(&context->conf);
	conf_init(&context->before);
}

void context_close(struct context *context)
{
	context_close_db(context);
	format_set_free(context->formats);
	track_release(&context->track);
	track_set_release(&context->tracks);
	conf_release(&context->conf);
	conf_release(&context->before);
	free(context->db_path);
	if (context->folder.path != NULL)
		scratch_remove(&context->folder);
	*context = (struct context){ 0 };
}

void context_close_db(struct context *context)
{
	(void)store_close(context->store, NULL);
	context->store = NULL;
	context->writer = 0;
	context->opened &= ~(unsigned int)CONTEXT_DB;
}

/* Called even if the configuration has an error. */
static void set_db_path(struct context *context)
{
	free(context->db_path);
	context->db_path = conf_db_path(&context->conf, context->options.db);
}

static int open_conf(struct context *context, struct err *err)
{
	int rc = conf_load(&context->conf, context->options.config, err);

	if (rc != 0)
		conf_init(&context->conf);
	set_db_path(context);
	return rc;
}

static int is_rule_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && str_ends_with(str_from(entry->d_name), ".json");
}

static int open_formats(struct context *context, struct err *err)
{
	const struct conf *conf = &context->conf;
	struct err why = { ERR_NONE, "" };
	AUTO_TEXT config = conf_dir_config();
	AUTO_TEXT folder = xasprintf("%s/formats", config);
	struct dirent **found = NULL;
	int rc = 0, n = 0;

	context->formats = format_set_new_builtin();
	/* Learned rule files are next to the configuration. */
	if ((context->opened & CONTEXT_CONF) != 0 && access(folder, F_OK) == 0)
		n = scandir(folder, &found, is_rule_file, alphasort);
	if (n < 0)
		return err_set_errno(err, ERR_IO, "cannot open %s", folder);
	for (int i = 0; i < n; i++) {
		AUTO_TEXT path = xasprintf("%s/%s", folder, found[i]->d_name);

		if (rc == 0)
			rc = format_set_load(context->formats, path, err);
		free(found[i]);
	}
	free(found);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < conf->formats.n; i++)
		if (format_set_load(context->formats, conf->formats.v[i], &why) != 0)
			return err_set(err, ERR_CONFIG, "%s: formats: %s", conf->path, why.text);
	track_set_init(&context->tracks);
	for (size_t i = 0; i < conf->tracks.n; i++)
		if (track_set_load(&context->tracks, conf->tracks.v[i], err) != 0)
			return -1;
	return track_set_add_marks(&context->tracks, context->formats, err);
}

static int open_track(struct context *context, struct err *err)
{
	const char *name = context_track_name(context);

	if (name == NULL && track_load(&context->track, "open", err) != 0)
		return -1;
	if (name == NULL && context->tracks.n > 0)
		context->track.by_logs = &context->tracks;
	if (name == NULL)
		return 0;
	if (context_find_track(context, name, &context->track, err) == 0)
		return 0;
	return context->options.track != NULL ? err_prefix(err, "--track")
					      : err_prefix(err, "%s: track", context->conf.path);
}

static int open_db(struct context *context, struct err *err)
{
	struct store_options options = { .read_only = true };

	if (context->db_path == NULL)
		set_db_path(context);
	options.path = context->db_path;
	context->store = store_open(&options, err);
	if (context->store == NULL)
		return -1;
	(void)lock_is_held(context->db_path, &context->writer);
	return 0;
}

int context_open(struct context *context, unsigned int parts, struct err *err)
{
	/* Each part may use the parts opened before it. */
	static const struct {
		enum context_part part;
		int (*open)(struct context *context, struct err *err);
	} steps[] = {
		{ CONTEXT_CONF, open_conf },
		{ CONTEXT_FORMATS, open_formats },
		{ CONTEXT_TRACK, open_track },
		{ CONTEXT_DB, open_db },
	};

	parts &= ~context->opened;
	for (size_t i = 0; i < LENGTH(steps); i++) {
		if ((parts & (unsigned int)steps[i].part) == 0)
			continue;
		if (steps[i].open(context, err) != 0)
			return -1;
		context->opened |= (unsigned int)steps[i].part;
	}
	return 0;
}

int context_open_places(struct context *context, char *const *words, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (conf_place(words[i]) == 0)
			return err_set(err, ERR_USAGE,
				       "%s: local logs and logs on pods cannot be read together",
				       words[i]);
	if (context_open(context, CONTEXT_CONF, err) != 0 ||
	    scratch_make(&context->folder, "hgym-pods", err) != 0)
		return -1;
	context->places = words;
	context->n_places = n;
	free(context->db_path);
	context->db_path = xasprintf("%s/history.db", context->folder.path);
	conf_follow_places(&context->conf, words, n);
	return 0;
}

int context_add_format(struct context *context, const char *path, struct err *err)
{
	return format_set_load(context->formats, path, err);
}

const char *context_track_name(const struct context *context)
{
	return context->options.track != NULL ? context->options.track : context->conf.track;
}

int context_find_track(const struct context *context, const char *name, struct track *track,
		       struct err *err)
{
	const struct conf_strings *files = &context->conf.tracks;

	for (size_t i = 0; i < files->n; i++) {
		if (track_load(track, files->v[i], err) != 0)
			return -1;
		if (strcmp(track->name, name) == 0)
			return 0;
		track_release(track);
	}
	return track_load(track, name, err);
}

int context_reload(struct context *context, char said[200], struct err *err)
{
	struct conf fresh;

	if (conf_load(&fresh, context->options.config, err) != 0)
		return err_prefix(err, "configuration not reloaded");
	conf_keep_answers(&fresh, &context->conf);
	if (context->n_places > 0)
		conf_follow_places(&fresh, context->places, context->n_places);
	conf_release(&context->before);
	context->before = context->conf;
	context->conf = fresh;
	const struct conf *before = &context->before;
	bool needs_restart = !conf_same_text(before->track, fresh.track) ||
			     !conf_same_text(before->db, fresh.db) ||
			     !conf_same_strings(&before->tracks, &fresh.tracks) ||
			     !conf_same_strings(&before->formats, &fresh.formats);
	(void)snprintf(said, 200, "configuration reloaded%s",
		       needs_restart
			       ? "; changes to track, formats and db take effect after a restart"
			       : "");
	return 0;
}

int context_discovered(struct context *context, size_t i, struct str answer, struct err *err)
{
	struct conf old;

	if (conf_renew(&context->conf, &old, i, answer, err) != 0)
		return -1;
	conf_release(&context->before);
	context->before = old;
	return 0;
}

size_t context_argv(const struct context *context, const char *argv[CONTEXT_ARGV])
{
	size_t n = 0;

	argv[n++] = access(SELF, X_OK) == 0 ? SELF : "hgym-tui";
	if (context->options.config != NULL) {
		argv[n++] = "--config";
		argv[n++] = context->options.config;
	}
	if (context->options.db != NULL) {
		argv[n++] = "--db";
		argv[n++] = context->options.db;
	}
	return n;
}
