/* SPDX-License-Identifier: MIT */
/* The dashboard without its terminal: commands, alerts, settings and saved choices. */
#include "app/parts.h"

#include <unistd.h>

#include "app/bench.h"
#include "app/pod_shell.h"
#include "base/file.h"
#include "base/log.h"
#include "base/quote.h"
#include "bench/start.h"
#include "conf/edit.h"
#include "model/run_names.h"
#include "parsers/learn.h"
#include "parsers/run_reader.h"
#include "ui/plot.h"

#define STATE_MAX_BYTES (1U << 20)

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

static const struct conf_pod *find_pod(const struct app_parts *parts, size_t pod, struct err *err)
{
	const struct conf *conf = &parts->setup->context->conf;
	const struct model *model = parts->setup->model;
	int i = pod < model->n_pods ? conf_find_pod(conf, model->pods[pod].name) : -1;

	if (i < 0) {
		err_set(err, ERR_USAGE, "this pod is not configured in %s", parts->conf_path);
		return NULL;
	}
	return &conf->pods[i];
}

/* Set *text to the command to run on the pod, or to NULL for a shell. */
static int find_pod_command(const struct app_parts *parts, const struct command *command,
			    const struct conf_pod *pod, const char **text, struct err *err)
{
	*text = command->id == COMMAND_POD_STOP ? pod->stop_cmd : NULL;
	if (command->id != COMMAND_POD_STOP || *text != NULL)
		return 0;
	return err_set(err, ERR_USAGE, "%s has no stop_cmd in %s", pod->name, parts->conf_path);
}

static int open_shell(struct app_parts *parts, const struct command *command, struct err *err)
{
	const struct conf_pod *pod = find_pod(parts, command->pod, err);
	const char *text;

	if (pod == NULL || find_pod_command(parts, command, pod, &text, err) != 0)
		return -1;
	if (parts->shell == NULL)
		return err_set(err, ERR_USAGE, "a shell needs a terminal");
	return parts->shell(parts->user, pod, text, err);
}

static char *preview_shell(struct app_parts *parts, const struct command *command, struct err *err)
{
	const struct conf_pod *pod = find_pod(parts, command->pod, err);
	struct pod_shell shell;
	const char *what;
	char *text = NULL;

	if (pod == NULL || find_pod_command(parts, command, pod, &what, err) != 0)
		return NULL;
	if (pod_shell_init(&shell, pod, what, err) == 0)
		text = xasprintf("$ %s\n\nRuns in this terminal. Logs are still followed.\n%s",
				 shell.text,
				 what != NULL ? "This stops the pod."
					      : "Exit the shell to return to the dashboard.");
	pod_shell_release(&shell);
	return text;
}

/* Run the user's editor, or `init`, in the terminal. */
static int run_program(struct app_parts *parts, const struct command *command, struct err *err)
{
	AUTO_BUF line = buf_new(PATH_MAX * 4 + 100);

	if (parts->shell == NULL)
		return err_set(err, ERR_USAGE, "cannot start another program without a terminal");
	if (command->id == COMMAND_INIT)
		return parts->shell(parts->user, NULL, NULL, err);
	buf_append_str(&line, "set -- ${VISUAL:-${EDITOR:-${PAGER:-less}}}; ");
	/* A program that is not in this list would take +12 for a file name. */
	if (command->line > 0)
		buf_appendf(&line,
			    "case ${1##*/} in *vi|*vim|view|emacs*|nano|pico|micro|kak|joe|ne|"
			    "mg|mcedit|less|more|most) set -- \"$@\" +%llu;; esac; ",
			    (unsigned long long)command->line);
	buf_append_str(&line, "\"$@\" ");
	quote_word(&line, str_from(command->name));
	return parts->shell(parts->user, NULL, line.data, err);
}

static int set_option(struct app_parts *parts, const struct command *command, struct err *err)
{
	size_t dot = strcspn(command->name, ".");
	AUTO_TEXT section = xstrndup(command->name, dot);
	const char *key = command->name + dot + 1;
	AUTO_JSON root = conf_edit(parts->conf_path, err);
	cJSON *value = json_parse(str_from(command->text), JSON_BARE_REFUSED, NULL);

	if (root != NULL && !cJSON_HasObjectItem(root, section))
		cJSON_AddObjectToObject(root, section);
	cJSON *object = cJSON_GetObjectItem(root, section);
	cJSON_DeleteItemFromObject(object, key);
	if (value == NULL)
		value = cJSON_CreateString(command->text);
	if (!cJSON_AddItemToObject(object, key, value)) {
		cJSON_Delete(value);
		return root != NULL ? err_set(err, ERR_CONFIG, "%s: %s is not an object",
					      parts->conf_path, section)
				    : -1;
	}
	/* The written option replaces a theme that a key chose before. */
	parts->theme_chosen = parts->theme_chosen && strcmp(key, "theme") != 0;
	print_into(parts->said, "wrote %s", parts->conf_path);
	return conf_write(parts->conf_path, root, err);
}

static int copy_text(struct app_parts *parts, const struct command *command, struct err *err)
{
	char number[STR_NUMBER_SIZE];

	if (parts->copy == NULL)
		return err_set(err, ERR_USAGE, "the clipboard needs a terminal");
	if (parts->copy(parts->user, command->text, err))
		return -1;
	print_into(parts->said, "copied %s bytes",
		   str_number((double)strlen(command->text), 17, number));
	return 0;
}

static int export_text(struct app_parts *parts, const struct command *command, struct err *err)
{
	AUTO_TEXT path = file_expand_home(command->name);
	AUTO_TEXT name = file_create(path, str_from(command->text), command->over, err);

	if (name == NULL)
		return -1;
	print_into(parts->said, "saved %.120s%s", name,
		   command->is_cut ? " (truncated: too large to save whole)" : "");
	return 0;
}

static int answer_pod(struct app_parts *parts, const struct command *command,
		      UNUSED struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	if (source->answer != NULL)
		source->answer(source->user, command->pod, command->text);
	return 0;
}

static int reconnect_pod(struct app_parts *parts, const struct command *command, struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	if (source->reconnect == NULL)
		return err_set(err, ERR_USAGE, "this dashboard has no connections to pods");
	source->reconnect(source->user, command->pod);
	print_into(parts->said, "connecting to %s", parts->setup->model->pods[command->pod].name);
	return 0;
}

static int check_pod(struct app_parts *parts, const struct command *command, struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	if (source->check == NULL)
		return err_set(err, ERR_USAGE, "these pods are not configured in %s",
			       parts->conf_path);
	if (source->check(source->user, command->pod, err))
		return -1;
	print_into(parts->said, "%s is being checked",
		   parts->setup->model->pods[command->pod].name);
	return 0;
}

static int set_unavailable(struct err *err)
{
	return err_set(err, ERR_USAGE, "not available on this screen");
}

/* Start the plan of the command or the one that the preview made, or stop a bench. */
static int run_bench(struct app_parts *parts, const struct command *command, struct err *err)
{
	const char *stop_id = command->id == COMMAND_BENCH_STOP ? command->name : NULL;
	const char *plan = command->id == COMMAND_BENCH_START ? command->name
			   : stop_id == NULL		      ? parts->made
							      : NULL;

	if (plan == NULL && stop_id == NULL)
		return set_unavailable(err);
	if (parts->bench == NULL)
		return err_set(err, ERR_USAGE, "benches can only be started from a terminal");
	if (app_bench_launch(parts->bench, plan, stop_id, err) != 0)
		return -1;
	print_into(parts->said, "%s",
		   plan == NULL			       ? "stopping the bench"
		   : parts->setup->source.ends_benches ? "bench started"
						       : "bench started; it continues if you quit");
	return 0;
}

static char *preview_plan(struct app_parts *parts, const struct command *command, struct err *err)
{
	return bench_preview(parts->setup->context, command->name, err);
}

static char *preview_stop(UNUSED struct app_parts *parts, const struct command *command,
			  UNUSED struct err *err)
{
	return xasprintf(
		bench_is_over(command->name)
			? "$ hgym-tui bench stop %s\n\nRuns the stop_cmd of the bench's pods that "
			  "are still running."
			: "$ hgym-tui bench abort %s\n\nStops the runs on the pods and judges "
			  "the blocks that are complete.",
		command->name);
}

/* Make the plan that the command asks for, and describe its runs. */
static char *preview_made(struct app_parts *parts, const struct command *command, struct err *err)
{
	const struct app_source *source = &parts->setup->source;

	xset_text(&parts->made,
		  source->plan != NULL ? source->plan(source->user, command, err) : NULL);
	if (parts->made != NULL)
		return bench_preview(parts->setup->context, parts->made, err);
	if (err->code == ERR_NONE)
		(void)set_unavailable(err);
	return NULL;
}

#define LEARN_MAX_BYTES ((size_t)1 << 20)

/* The line that the user chose, and the rules learned from it and the lines around it. */
struct lesson {
	struct learn *learn;
	struct str line;
	bool is_row; /* the line is a data row */
};

static void on_learned_row(void *user, const struct record *record, const struct log_line *place)
{
	struct lesson *lesson = user;

	learn_row(lesson->learn, record, place);
	lesson->is_row |=
		memmem(lesson->line.p, lesson->line.len, place->text.p, place->text.len) != NULL;
}

/* Return the path of the rule file for a log; owned. */
static char *get_rules_path(const struct command *command)
{
	AUTO_TEXT folder = conf_dir_config();

	return xasprintf("%s/formats/%s.json", folder, command->name);
}

/* Learn rules from the line of the command, and show the file that would be written. */
static char *preview_learn(struct app_parts *parts, const struct command *command, struct err *err)
{
	static const struct run_reader_cb cb = { .on_row = on_learned_row };
	struct str text = str_from(command->text);
	struct lesson lesson = { .learn = learn_new() };
	struct run_reader *reader = run_reader_new(parts->setup->context->formats, &cb, &lesson);
	AUTO_BUF file = buf_new(LEARN_MAX_BYTES);
	AUTO_BUF report = buf_new(LEARN_MAX_BYTES);
	AUTO_TEXT path = get_rules_path(command);
	size_t n;

	(void)str_next(&text, '\n', &lesson.line);
	run_reader_feed(reader, text.p, text.len);
	run_reader_finish(reader);
	n = learn_print(lesson.learn, command->name, &file, &report);
	run_reader_free(reader);
	learn_free(lesson.learn);
	xset_text(&parts->made, NULL);
	if (!lesson.is_row || n == 0)
		err_set(err, ERR_NODATA,
			"cannot create a rule from this line: it is not a data row, is part of a "
			"multi-line row, or is already covered by a rule");
	else if (access(path, F_OK) == 0)
		err_set(err, ERR_USAGE, "%s already exists", path);
	else
		parts->made = buf_detach(&file);
	return parts->made != NULL
		       ? xasprintf("Writes %s\n\n%s\n%s", path, report.data, parts->made)
		       : NULL;
}

static int learn_format(struct app_parts *parts, const struct command *command, struct err *err)
{
	AUTO_TEXT path = get_rules_path(command);

	if (parts->made == NULL)
		return set_unavailable(err);
	if (conf_make_dir_of(path, err) != 0)
		return -1;
	AUTO_TEXT name = file_create(path, str_from(parts->made), false, err);

	if (name == NULL)
		return -1;
	print_into(parts->said, "wrote %.120s; takes effect after a restart", name);
	return 0;
}

/* The function that runs each command (NULL if it is not available here), and the function that
 * describes the command before the user confirms. */
static const struct {
	int (*run)(struct app_parts *parts, const struct command *command, struct err *err);
	char *(*preview)(struct app_parts *parts, const struct command *command, struct err *err);
} actions[] = {
	[COMMAND_COPY] = { copy_text, NULL },
	[COMMAND_EXPORT] = { export_text, NULL },
	[COMMAND_LEARN] = { learn_format, preview_learn },
	[COMMAND_ANSWER] = { answer_pod, NULL },
	[COMMAND_RECONNECT] = { reconnect_pod, NULL },
	[COMMAND_CHECK] = { check_pod, NULL },
	[COMMAND_EDIT] = { run_program, NULL },
	[COMMAND_INIT] = { run_program, NULL },
	[COMMAND_OPTION] = { set_option, NULL },
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
	struct app_parts *parts = user;
	size_t id = (size_t)command->id;

	if (id >= ACTION_COUNT || actions[id].run == NULL)
		return set_unavailable(err);
	parts->said[0] = '\0';
	int rc = actions[id].run(parts, command, err);
	memcpy(said, parts->said, sizeof(parts->said));
	return rc;
}

static char *preview(void *user, const struct command *command, struct err *err)
{
	size_t id = (size_t)command->id;

	if (id >= ACTION_COUNT || actions[id].preview == NULL)
		return NULL;
	return actions[id].preview(user, command, err);
}

/* Return the path of the file with the user's choices for this configuration; owned. */
static char *get_choices_path(const struct app_parts *parts)
{
	const char *conf = parts->setup->context->conf.path;
	AUTO_TEXT folder = file_folder(parts->setup->state_path);

	return xasprintf("%s/screen-%016llx.json", folder,
			 (unsigned long long)str_hash(str_from(conf != NULL ? conf : "")));
}

/* Load acknowledged alerts and the user's choices of the last session. */
static void load_state(struct app_parts *parts)
{
	const char *path = parts->setup->state_path;
	AUTO_BUF alerts = buf_new(STATE_MAX_BYTES);
	AUTO_BUF text = buf_new(STATE_MAX_BYTES);

	if (path == NULL)
		return;
	if (file_read(path, &alerts, NULL) == 0)
		alerts_load(&parts->alerts, buf_str(&alerts));
	AUTO_TEXT choices_path = get_choices_path(parts);
	AUTO_JSON choices = json_parse_file(choices_path, &text, NULL);

	if (choices == NULL)
		return;
	ui_load_choices(parts->ui, choices);
	parts->theme_chosen =
		theme_by_name(json_get_string(choices, "theme", ""), &parts->theme, NULL) == 0;
}

static void save_file(const char *path, const struct buf *text)
{
	struct err err = { ERR_NONE, "" };

	if (file_replace(path, buf_str(text), &err) != 0)
		log_debug("state", "%s", err.text);
}

static void save_state(const struct app_parts *parts)
{
	AUTO_BUF alerts = buf_new(STATE_MAX_BYTES);
	AUTO_BUF text = buf_new(STATE_MAX_BYTES);
	AUTO_JSON choices = cJSON_CreateObject();

	if (parts->setup->state_path == NULL)
		return;
	AUTO_TEXT path = get_choices_path(parts);
	if (parts->theme_chosen)
		json_add_string(choices, "theme", theme_name(parts->theme));
	ui_save_choices(parts->ui, choices);
	json_print(&text, choices);
	save_file(path, &text);
	alerts_save(&parts->alerts, parts->setup->model, &alerts);
	save_file(parts->setup->state_path, &alerts);
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

/* Return the key of a run's group, the same as `board` uses for a run in the database. */
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

/* Fill the setup of the frame from the configuration; -1 with err for an unknown key or group. */
static int fill_setup(struct app_parts *parts, struct ui_setup *ui, struct keymap *keymap,
		      struct err *err)
{
	const struct context *context = parts->setup->context;
	const struct conf *conf = &context->conf;
	const char *charset = context->options.charset;

	/* A reload does not change the path. */
	if (parts->conf_path == NULL)
		parts->conf_path = conf_file(conf);
	*ui = (struct ui_setup){ .model = parts->setup->model,
				 .track = parts->setup->track,
				 .tracks = &parts->setup->context->tracks,
				 .alerts = &parts->alerts,
				 .keymap = keymap,
				 .conf_path = parts->conf_path,
				 .group_of = group_of,
				 .group_user = parts,
				 .sink = { execute, preview, parts },
				 .read_only = context->options.read_only };
	if (charset == NULL && !parts->ascii)
		charset = conf->ui.charset;
	ui->charset = charset != NULL ? (enum chart_charset)str_index(conf_charsets, charset)
		      : parts->ascii  ? CHART_ASCII
				      : CHART_BRAILLE;
	keymap_init(keymap);
	array_each (key, conf->keys, conf->n_keys) {
		if (keymap_bind(keymap, key->action, key->key != NULL ? key->key : "", err))
			return err_prefix(err, "%s: keys", conf->path);
	}
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
	alerts_init(&parts->alerts);
	configure_alerts(parts);
	parts->alerts.on_new = on_new_alert;
	parts->alerts.user = parts;
	parts->ui = ui_new(&ui);
	load_state(parts);
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
	free(parts->conf_path);
	parts->made = NULL;
	parts->ui = NULL;
}

void app_parts_use_track(struct app_parts *parts)
{
	struct context *context = parts->setup->context;
	struct model *model = parts->setup->model;
	struct ui_shared *shared = ui_shared(parts->ui);
	const struct track_set *set = &context->tracks;
	size_t i = shared->track_choice;
	struct err err = { ERR_NONE, "" };
	struct track track;

	if (context_find_track(context, i > 0 ? set->v[i - 1].name : "open", &track, &err) != 0) {
		ui_show_message(shared, "%s", err.text);
		return;
	}
	track_release(&context->track);
	context->track = track;
	if (i == 0)
		context->track.by_logs = set;
	shared->configured++;
	model_note_change(model, MODEL_RUNS);
	pointer_each (mr, model->runs, model->n_runs)
		mr->changed = model->generation;
	ui_show_message(shared, i > 0 ? "track: %s, %s" : "track: the one that each log matches",
			track.name, track.title);
}

void app_parts_update(struct app_parts *parts, int64_t mono_ms)
{
	struct model *model = parts->setup->model;
	const struct clock *clock = parts->setup->clock;
	int64_t wall_ms = clock->wall_ms(clock);

	ui_set_now(parts->ui, wall_ms, mono_ms);
	run_names_update(model);
	if (mono_ms - parts->alerts_at_ms >= 1000 || parts->alerts_at_ms == 0) {
		alerts_update(&parts->alerts, model, parts->setup->track, wall_ms);
		parts->alerts_at_ms = mono_ms;
	}
	if (model->changed != 0) {
		ui_changed(parts->ui, model->changed);
		model->changed = 0;
	}
}
