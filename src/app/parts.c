/* SPDX-License-Identifier: MIT */
/* The parts of a dashboard that need no terminal. */
#include "app/parts.h"

#include <stdlib.h>
#include <unistd.h>

#include "app/bench.h"
#include "app/pod_shell.h"
#include "base/file.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "bench/folder.h"
#include "bench/start.h"
#include "model/run_names.h"
#include "parsers/learn.h"
#include "parsers/run_reader.h"
#include "ui/plot.h"

#define STATE_MAX_BYTES (1U << 20)

/* A new alert is an event, and is told to who wants to hear it. */
static void on_new_alert(void *user, const struct alert *alert)
{
	struct app_parts *parts = user;
	struct model *model = parts->setup->model;
	struct model_event event = { .wall_ms = alert->since_wall_ms,
				     .severity = alert->severity,
				     .pod = alert->pod,
				     .mr = alert->mr,
				     .alert = alert->number,
				     .kind = alert_name(alert->kind) };
	AUTO_BUF text = buf_new(4096);

	plot_add_alert(alert, model, &text);
	event.text = text.data;
	model_event_add(model, &event);
	if (parts->on_alert != NULL && !parts->alerts.muted)
		parts->on_alert(parts->user, alert, text.data);
}

/* The configuration of a pod of the model. */
static const struct conf_pod *pod_of(const struct app_parts *parts, size_t pod, struct err *err)
{
	const struct conf *conf = &parts->setup->context->conf;
	const struct model *model = parts->setup->model;
	int i = pod < model->n_pods ? conf_find_pod(conf, model->pods[pod].name) : -1;

	if (i < 0) {
		err_set(err, ERR_USAGE, "this pod is not in the configuration");
		return NULL;
	}
	return &conf->pods[i];
}

/* What it runs on the pod instead of a shell: *text, or NULL. */
static int command_text(const struct command *command, const struct conf_pod *pod,
			const char **text, struct err *err)
{
	*text = command->id == COMMAND_POD_STOP ? pod->stop_cmd : NULL;
	if (command->id != COMMAND_POD_STOP || *text != NULL)
		return 0;
	return err_set(err, ERR_USAGE, "%s has no stop_cmd in the configuration", pod->name);
}

static int open_shell(struct app_parts *parts, const struct command *command, char said[200],
		      struct err *err)
{
	const struct conf_pod *pod = pod_of(parts, command->pod, err);
	const char *text;

	(void)said;
	if (pod == NULL || command_text(command, pod, &text, err) != 0)
		return -1;
	if (parts->shell == NULL)
		return err_set(err, ERR_USAGE, "there is no terminal here");
	return parts->shell(parts->user, pod, text, err);
}

/* The words that would be run. */
static char *preview_shell(struct app_parts *parts, const struct command *command, struct err *err)
{
	const struct conf_pod *pod = pod_of(parts, command->pod, err);
	struct pod_shell shell;
	const char *what;
	char *text = NULL;

	if (pod == NULL || command_text(command, pod, &what, err) != 0)
		return NULL;
	if (pod_shell_init(&shell, pod, what, err) == 0)
		text = xasprintf("$ %s\n\nin this terminal; the logs are read "
				 "on meanwhile.\n%s",
				 shell.text,
				 what != NULL ? "This stops the pod."
					      : "Leave the shell to come back.");
	pod_shell_release(&shell);
	return text;
}

static int copy_text(struct app_parts *parts, const struct command *command, char said[200],
		     struct err *err)
{
	char number[STR_NUMBER_SIZE];

	if (parts->copy == NULL)
		return err_set(err, ERR_USAGE, "there is no clipboard here");
	if (parts->copy(parts->user, command->text, err))
		return -1;
	(void)snprintf(said, 200, "copied %s bytes",
		       str_number((double)strlen(command->text), 17, number));
	return 0;
}

static int export_text(struct app_parts *parts, const struct command *command, char said[200],
		       struct err *err)
{
	AUTO_TEXT path = file_expand_home(command->name);
	AUTO_TEXT name = file_create(path, str_from(command->text), command->over, err);

	(void)parts;
	if (name == NULL)
		return -1;
	(void)snprintf(said, 200, "wrote %.120s%s", name,
		       command->is_cut ? ": as much as fits, the end is left "
					 "out"
				       : "");
	return 0;
}

static int answer_pod(struct app_parts *parts, const struct command *command, char said[200],
		      struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	(void)said;
	(void)err;
	if (source->answer != NULL)
		source->answer(source->user, command->pod, command->text);
	return 0;
}

static int reconnect_pod(struct app_parts *parts, const struct command *command, char said[200],
			 struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	if (source->reconnect == NULL)
		return err_set(err, ERR_USAGE, "these pods have no link to try");
	source->reconnect(source->user, command->pod);
	(void)snprintf(said, 200, "trying the link now");
	return 0;
}

static int check_pod(struct app_parts *parts, const struct command *command, char said[200],
		     struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	if (source->check == NULL)
		return err_set(err, ERR_USAGE, "these pods are not in the configuration");
	if (source->check(source->user, command->pod, err))
		return -1;
	(void)snprintf(said, 200, "%s is being checked",
		       parts->setup->model->pods[command->pod].name);
	return 0;
}

static int cannot_do(struct err *err)
{
	return err_set(err, ERR_USAGE, "nothing here can do that");
}

/* Start a plan or what the preview has made, or end a bench. */
static int run_bench(struct app_parts *parts, const struct command *command, char said[200],
		     struct err *err)
{
	const char *stop_id = command->id == COMMAND_BENCH_STOP ? command->name : NULL;
	const char *plan = command->id == COMMAND_BENCH_START ? command->name
			   : stop_id == NULL		      ? parts->made
							      : NULL;

	if (plan == NULL && stop_id == NULL)
		return cannot_do(err);
	if (parts->bench == NULL)
		return err_set(err, ERR_USAGE, "a bench is started on a terminal only");
	if (app_bench_launch(parts->bench, plan, stop_id, err) != 0)
		return -1;
	(void)snprintf(said, 200, "the bench %s",
		       plan == NULL ? "is being ended"
		       : parts->setup->source.ends_benches
			       ? "begins"
			       : "begins; it goes on without this screen");
	return 0;
}

/* What a plan would run. */
static char *preview_plan(struct app_parts *parts, const struct command *command, struct err *err)
{
	return bench_preview(parts->setup->context, command->name, err);
}

static char *preview_stop(struct app_parts *parts, const struct command *command, struct err *err)
{
	(void)parts;
	(void)err;
	return bench_is_over(command->name) ? xasprintf("$ hgym-tui bench stop %s\n\nruns the "
							"stop_cmd of its pods, which are still up",
							command->name)
					    : xasprintf("$ hgym-tui bench abort %s\n\nends what "
							"runs on its pods and judges what there is",
							command->name);
}

/* The definition that a command asks for, and what it would run. */
static char *preview_made(struct app_parts *parts, const struct command *command, struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	free(parts->made);
	parts->made = source->plan != NULL ? source->plan(source->user, command, err) : NULL;
	if (parts->made != NULL)
		return bench_preview(parts->setup->context, parts->made, err);
	if (err->code == ERR_NONE)
		(void)cannot_do(err);
	return NULL;
}

#define LEARN_MAX_BYTES ((size_t)1 << 20)

/* A line that rules are to be made of, and what is learned around it. */
struct lesson {
	struct learn *learn;
	struct str line;
	bool is_row; /* the line is one */
};

static void lesson_row(void *user, const struct record *record, const struct templates_line *place)
{
	struct lesson *lesson = user;

	learn_row(lesson->learn, record, place);
	lesson->is_row |=
		memmem(lesson->line.p, lesson->line.len, place->text.p, place->text.len) != NULL;
}

/* Where the rules of a log go; owned. */
static char *learned_path(const struct command *command)
{
	AUTO_TEXT folder = conf_dir_config();

	return xasprintf("%s/formats/%s.json", folder, command->name);
}

/* The rule file that would be written. */
static char *preview_learn(struct app_parts *parts, const struct command *command, struct err *err)
{
	struct str text = str_from(command->text);
	struct lesson lesson = { .learn = learn_new() };
	struct run_reader *reader = run_reader_new(parts->setup->context->formats, NULL, &lesson);
	AUTO_BUF file = buf_new(LEARN_MAX_BYTES);
	AUTO_BUF report = buf_new(LEARN_MAX_BYTES);
	AUTO_TEXT path = learned_path(command);
	size_t n;

	(void)str_next(&text, '\n', &lesson.line);
	run_reader_on_row(reader, lesson_row);
	run_reader_feed(reader, text.p, text.len);
	run_reader_finish(reader);
	n = learn_print(lesson.learn, command->name, &file, &report);
	run_reader_free(reader);
	learn_free(lesson.learn);
	free(parts->made);
	parts->made = NULL;
	if (!lesson.is_row || n == 0)
		err_set(err, ERR_NODATA,
			"no rule can be made of this line: it is no row, one "
			"of several lines, or a rule reads it");
	else if (access(path, F_OK) == 0)
		err_set(err, ERR_USAGE, "%s is there already", path);
	else
		parts->made = buf_detach(&file);
	return parts->made != NULL
		       ? xasprintf("writes %s\n\n%s\n%s", path, report.data, parts->made)
		       : NULL;
}

static int learn_format(struct app_parts *parts, const struct command *command, char said[200],
			struct err *err)
{
	AUTO_TEXT path = learned_path(command);

	if (parts->made == NULL)
		return cannot_do(err);
	if (conf_make_dir_of(path, err) != 0)
		return -1;
	AUTO_TEXT name = file_create(path, str_from(parts->made), false, err);

	if (name == NULL)
		return -1;
	(void)snprintf(said, 200, "wrote %.120s; it counts from the next start", name);
	return 0;
}

/* What each command does, and says before that; none: not done here. */
static const struct {
	int (*run)(struct app_parts *parts, const struct command *command, char said[200],
		   struct err *err);
	char *(*preview)(struct app_parts *parts, const struct command *command, struct err *err);
} actions[] = {
	[COMMAND_COPY] = { copy_text, NULL },
	[COMMAND_EXPORT] = { export_text, NULL },
	[COMMAND_LEARN] = { learn_format, preview_learn },
	[COMMAND_ANSWER] = { answer_pod, NULL },
	[COMMAND_RECONNECT] = { reconnect_pod, NULL },
	[COMMAND_CHECK] = { check_pod, NULL },
	[COMMAND_SHELL] = { open_shell, preview_shell },
	[COMMAND_POD_STOP] = { open_shell, preview_shell },
	[COMMAND_BENCH_START] = { run_bench, preview_plan },
	[COMMAND_BENCH_STOP] = { run_bench, preview_stop },
	[COMMAND_BENCH_AUDIT] = { run_bench, preview_made },
	[COMMAND_BENCH_PODS] = { run_bench, preview_made },
	[COMMAND_BENCH_FORM] = { run_bench, preview_made },
	[COMMAND_BENCH_RUN] = { run_bench, preview_made },
	[COMMAND_BENCH_SETTINGS] = { run_bench, preview_made },
};

#define ACTION_COUNT (LENGTH(actions))

static int execute(void *user, const struct command *command, char said[200], struct err *err)
{
	size_t id = (size_t)command->id;

	if (id >= ACTION_COUNT || actions[id].run == NULL)
		return cannot_do(err);
	return actions[id].run(user, command, said, err);
}

/* What a command would run, before it is asked for. */
static char *preview(void *user, const struct command *command, struct err *err)
{
	size_t id = (size_t)command->id;

	if (id >= ACTION_COUNT || actions[id].preview == NULL)
		return NULL;
	return actions[id].preview(user, command, err);
}

/* Alerts that were acknowledged when the program was left last. */
static void load_state(struct app_parts *parts)
{
	const char *path = parts->setup->state_path;
	AUTO_BUF text = buf_new(STATE_MAX_BYTES);

	if (path != NULL && file_read(path, &text, NULL) == 0)
		alerts_load(&parts->alerts, buf_str(&text));
}

/* Where the choices of this configuration are kept; owned. */
static char *chosen_path(const struct app_parts *parts)
{
	const char *conf = parts->setup->context->conf.path;
	AUTO_TEXT folder = file_folder(parts->setup->state_path);

	return xasprintf("%s/screen-%016llx.json", folder,
			 (unsigned long long)str_hash(str_from(conf != NULL ? conf : "")));
}

static void load_chosen(struct app_parts *parts)
{
	AUTO_BUF text = buf_new(STATE_MAX_BYTES);
	struct err err = { ERR_NONE, "" };

	if (parts->setup->state_path == NULL)
		return;
	AUTO_TEXT path = chosen_path(parts);
	AUTO_JSON chosen = json_parse_file(path, &text, &err);

	if (chosen == NULL)
		return;
	ui_load_choices(parts->ui, chosen);
	parts->theme_chosen =
		theme_by_name(json_get_string(chosen, "theme", ""), &parts->theme, &err) == 0;
}

static void save_chosen(const struct app_parts *parts)
{
	AUTO_TEXT path = chosen_path(parts);
	AUTO_JSON chosen = cJSON_CreateObject();
	struct err err = { ERR_NONE, "" };
	AUTO_BUF text = buf_new(STATE_MAX_BYTES);

	if (parts->theme_chosen)
		json_add_string(chosen, "theme", theme_name(parts->theme));
	ui_save_choices(parts->ui, chosen);
	json_print(&text, chosen);
	if (file_replace(path, buf_str(&text), &err) != 0)
		log_debug("chosen", "%s", err.text);
}

static void save_state(const struct app_parts *parts)
{
	const char *path = parts->setup->state_path;
	AUTO_BUF text = buf_new(STATE_MAX_BYTES);
	struct err err = { ERR_NONE, "" };

	if (path == NULL)
		return;
	save_chosen(parts);
	alerts_save(&parts->alerts, parts->setup->model, &text);
	if (file_replace(path, buf_str(&text), &err) != 0)
		log_debug("alerts", "%s", err.text);
}

/* By its name, which was checked where it was given. */
static enum chart_charset find_charset(const char *name, bool ascii)
{
	static const char *const names[] = { "braille", "block", "ascii", "pixels", NULL };

	return name != NULL ? (enum chart_charset)str_index(names, name)
	       : ascii	    ? CHART_ASCII
			    : CHART_BRAILLE;
}

static int bind_keys(struct keymap *keymap, const struct conf *conf, struct err *err)
{
	keymap_init(keymap);
	array_each (key, conf->keys, conf->n_keys) {
		if (keymap_bind(keymap, key->action, key->key != NULL ? key->key : "", err))
			return err_prefix(err, "%s: keys", conf->path);
	}
	return 0;
}

static void configure_alerts(struct app_parts *parts)
{
	const struct conf *conf = &parts->setup->context->conf;

	parts->alerts.stall_s = RUN_ABSENT;
	if (conf->alerts.stall == CONF_STALL_OFF)
		parts->alerts.stall_s = 0;
	else if (conf->alerts.stall == CONF_STALL_SECONDS)
		parts->alerts.stall_s = conf->alerts.stall_s;
	alerts_rules_clear(&parts->alerts);
	array_each (rule, conf->alerts.metrics, conf->alerts.n_metrics) {
		alerts_rule_add(&parts->alerts,
				&(struct alert_rule){ rule->metric, rule->above, rule->below });
	}
}

static void init_alerts(struct app_parts *parts)
{
	struct alerts *alerts = &parts->alerts;

	alerts_init(alerts);
	configure_alerts(parts);
	alerts->on_new = on_new_alert;
	alerts->user = parts;
	load_state(parts);
}

/* As `board` names the group of a run of the database. */
static char *group_of(void *user, const struct model_run *mr)
{
	const struct app_parts *parts = user;
	const struct model *model = parts->setup->model;
	struct stored_run stored = {
		.pod = model_pod_name(model, mr->pod),
		.path = mr->path,
		.run = mr->run,
	};

	if (parts->groups.by == CONF_BY_DIRNAME)
		return xstrdup(mr->group);
	return board_input_key(&parts->groups, &stored);
}

/* What the frame is given; -1 with err for what does not exist. */
static int fill_setup(struct app_parts *parts, struct ui_setup *ui, struct keymap *keymap,
		      struct err *err)
{
	const struct context *context = parts->setup->context;
	const struct conf *conf = &context->conf;
	const char *charset = context->options.charset;

	*ui = (struct ui_setup){ .model = parts->setup->model,
				 .track = parts->setup->track,
				 .alerts = &parts->alerts,
				 .keymap = keymap,
				 .group_of = group_of,
				 .group_user = parts,
				 .sink = { execute, preview, parts },
				 .read_only = context->options.read_only };
	if (charset == NULL && !parts->ascii)
		charset = conf->ui.charset;
	ui->charset = find_charset(charset, parts->ascii);
	if (bind_keys(keymap, conf, err))
		return -1;
	board_input_release(&parts->groups);
	parts->groups = (struct board_input){ .by = CONF_BY_DIRNAME };
	if (board_input_group_conf(&parts->groups, conf, err) != 0)
		return err_prefix(err, "%s: groups", conf->path);
	if (conf->baseline.name != NULL) {
		parts->baseline =
			(struct ui_baseline){ conf->baseline.name, conf->baseline.bpb,
					      conf->baseline.n_bpb, conf->baseline.nats_per_bpb };
		ui->baseline = &parts->baseline;
	}
	ui->remote = getenv("SSH_TTY") != NULL || getenv("SSH_CONNECTION") != NULL;
	ui->log_colors = conf->ui.log_colors;
	fmt_set_utc(conf->ui.utc);
	return 0;
}

int app_parts_init(struct app_parts *parts, const struct app_setup *setup, bool ascii,
		   struct err *err)
{
	struct keymap keymap;
	struct ui_setup ui;

	memset(parts, 0, sizeof(*parts));
	parts->setup = setup;
	parts->ascii = ascii;
	if (fill_setup(parts, &ui, &keymap, err)) {
		board_input_release(&parts->groups);
		return -1;
	}
	init_alerts(parts);
	parts->ui = ui_new(&ui);
	load_chosen(parts);
	return 0;
}

void app_parts_configure(struct app_parts *parts)
{
	struct err err = { ERR_NONE, "" };
	struct keymap keymap;
	struct ui_setup ui;

	if (fill_setup(parts, &ui, &keymap, &err)) {
		ui_show_message(ui_shared(parts->ui), "%s", err.text);
		return;
	}
	configure_alerts(parts);
	ui_configure(parts->ui, &ui);
}

void app_parts_release(struct app_parts *parts)
{
	if (parts->ui == NULL)
		return;
	save_state(parts);
	ui_free(parts->ui);
	alerts_release(&parts->alerts);
	board_input_release(&parts->groups);
	free(parts->made);
	parts->made = NULL;
	parts->ui = NULL;
}

/* Hold the runs to the track of that name; it stays where there is none. */
static int take_track(struct app_parts *parts, const char *name, struct err *err)
{
	struct context *context = parts->setup->context;
	struct track track;

	if (context_find_track(context, name, &track, err) != 0)
		return -1;
	track_release(&context->track);
	context->track = track;
	ui_shared(parts->ui)->configured++;
	model_note_change(parts->setup->model, MODEL_RUNS);
	return 0;
}

void app_parts_next_track(struct app_parts *parts)
{
	const struct context *context = parts->setup->context;
	const struct conf_strings *own = &context->conf.tracks;
	struct err err = { ERR_NONE, "" };
	size_t n = 0;

	for (; track_name(n) != NULL; n++)
		if (!parts->track_chosen && strcmp(track_name(n), context->track.name) == 0)
			parts->track = n;
	do
		parts->track = (parts->track + 1) % (n + own->n);
	while (parts->track < n && strcmp(track_name(parts->track), TRACK_METRIC) == 0);
	parts->track_chosen = true;
	if (take_track(parts,
		       parts->track < n ? track_name(parts->track) : own->v[parts->track - n],
		       &err) != 0)
		ui_show_message(ui_shared(parts->ui), "%s", err.text);
	else
		ui_show_message(ui_shared(parts->ui), "track: %s, %s", context->track.name,
				context->track.title);
}

/* Where no track was named it is the one that the runs can be of. */
static void choose_track(struct app_parts *parts)
{
	const struct context *context = parts->setup->context;
	const struct model *model = parts->setup->model;
	struct track_scores scores = { .bpb = false };

	if (context_track_name(context) != NULL || parts->track_chosen)
		return;
	for (size_t i = 0; i < model->n_runs; i++)
		track_scores_add(&scores, &model->runs[i]->run);
	const char *name = track_for_scores(&scores);
	if (name != NULL && strcmp(name, context->track.name) != 0)
		(void)take_track(parts, name, NULL);
}

void app_parts_update(struct app_parts *parts, int64_t mono_ms)
{
	struct model *model = parts->setup->model;
	const struct clock *clock = parts->setup->clock;
	int64_t wall_ms = clock->wall_ms(clock);

	ui_set_now(parts->ui, wall_ms, mono_ms);
	run_names_update(model);
	if (mono_ms - parts->alerts_at_ms >= 1000 || parts->alerts_at_ms == 0) {
		choose_track(parts);
		alerts_update(&parts->alerts, model, parts->setup->track, wall_ms);
		parts->alerts_at_ms = mono_ms;
	}
	if (model->changed != 0) {
		ui_changed(parts->ui, model->changed);
		model->changed = 0;
	}
}
