/* SPDX-License-Identifier: MIT */
/* The dashboard on a terminal: event loop, keys, frames, signals. */
#include "app/app.h"

#include <signal.h>
#include <unistd.h>

#include "app/bench.h"
#include "app/parts.h"
#include "app/pod_shell.h"
#include "ui/osc.h"
#include "ui/term.h"

#define POLL_MS	  200
#define BUSY_MS	  5
#define YIELD_MS  60 /* pause between polls while a view does background work */
#define RESIZE_MS 40
#define AWAY_MS	  50 /* pause between checks whether a shell has exited */
#define NOTICES	  16 /* most notifications to send while the terminal accepts no output */

struct app {
	const struct app_setup *setup;
	struct app_parts parts;
	struct term *term;
	struct canvas canvas;
	struct loop *loop;
	struct loop_fd *tty, *out;
	struct loop_timer *poll, *frame, *tick, *resize, *away;
	struct pod_shell shell; /* if its pid is not 0, it uses the terminal */
	char *shell_pod;	/* owned; name; NULL: it runs on this machine */
	bool is_command;	/* it runs stop_cmd or the editor, not a shell or init */
	struct term_options options;
	bool in_tmux;
	bool works;	   /* on_work is posted */
	bool owes;	   /* draw a frame when the terminal has accepted the last one */
	bool mouse_chosen; /* chosen by a key, so a reload keeps it */
	int notices;	   /* sent since the terminal accepted all output */
	int status;	   /* 128 + signal */
};

static void draw_frame(struct app *app)
{
	struct ui_shared *shared = ui_shared(app->parts.ui);
	struct canvas *canvas = &app->canvas;
	int x, y;

	app->owes = !term_flush(app->term);
	if (app->owes)
		return;
	if (shared->chart.charset == CHART_PIXELS &&
	    !term_pixels(app->term, &canvas->cell_w, &canvas->cell_h)) {
		shared->chart.charset = CHART_BRAILLE;
		ui_show_message(shared, "this terminal cannot show pictures; charts use braille");
	}
	ui_draw(app->parts.ui, canvas, &x, &y);
	term_present(app->term, canvas, x, y);
}

/* While output is queued, wake up when the terminal accepts more. */
static void watch_output(struct app *app)
{
	if (app->out != NULL)
		loop_fd_set(app->out, term_has_pending(app->term) ? LOOP_WRITE : 0);
}

/* Update the dashboard, and draw a frame now or when one is due. */
static void schedule_frame(struct app *app)
{
	app_parts_update(&app->parts, clock_mono_ms());
	if (app->shell.pid != 0)
		return;
	int64_t in_ms = ui_frame_in_ms(app->parts.ui);
	if (in_ms == 0)
		draw_frame(app);
	else if (in_ms > 0)
		loop_timer_start(app->frame, in_ms, 0);
	watch_output(app);
}

static void fit_canvas(struct app *app)
{
	int width, height;

	term_size(app->term, &width, &height);
	canvas_resize(&app->canvas, width, height);
}

static void on_work(void *user);

static void quit_loop(struct app *app)
{
	if (app->tty == NULL)
		return;
	loop_fd_close(app->tty);
	app->tty = NULL;
	loop_fd_close(app->out);
	app->out = NULL;
	loop_timer_close(app->poll);
	loop_timer_close(app->frame);
	loop_timer_close(app->tick);
	loop_unpost(app->loop, on_work, app);
	loop_timer_close(app->resize);
	loop_timer_close(app->away);
	pod_shell_kill(&app->shell);
	loop_stop(app->loop);
}

static int make_term_options(const struct app *app, struct term_options *options, struct err *err)
{
	const struct conf *conf = &app->setup->context->conf;
	const char *color = app->setup->context->options.color;

	term_options_init(options);
	if (strcmp(color, "auto") == 0 && conf->ui.color != NULL)
		color = conf->ui.color;
	if (strcmp(color, "never") == 0)
		options->colors = 0;
	else if (strcmp(color, "always") == 0)
		options->colors = -1;
	options->mouse = conf->ui.mouse;
	options->escape_delay_ms = (int)conf->ui.escape_delay_ms;
	if (conf->ui.theme != NULL)
		return theme_by_name(conf->ui.theme, &options->theme, err);
	return 0;
}

/* Read the configuration again; an event reports the result. */
static void reload_conf(struct app *app)
{
	const struct app_source *source = &app->setup->source;
	struct ui_shared *shared = ui_shared(app->parts.ui);
	struct err err = { ERR_NONE, "" };
	char said[200] = "";

	if (source->reload == NULL) {
		ui_show_message(shared, "this dashboard has no configuration to reload");
		return;
	}
	bool is_read = source->reload(source->user, said, &err) == 0;
	const char *text = is_read ? said : err.text;
	if (is_read) {
		app_parts_configure(&app->parts);
		bool mouse = app->options.mouse;

		if (make_term_options(app, &app->options, &err) == 0) {
			/* Choices made by keys are kept. */
			if (app->mouse_chosen)
				app->options.mouse = mouse;
			if (app->parts.theme_chosen)
				app->options.theme = app->parts.theme;
			term_configure(app->term, &app->options);
		}
		shared->log_colors &= term_has_colors(app->term);
	}
	model_event_addf(app->setup->model, shared->now_wall_ms,
			 is_read ? MODEL_INFO : MODEL_WARNING, MODEL_NONE, "%s", text);
	ui_show_message(shared, "%s", text);
}

static void return_from_shell(struct app *app, int status)
{
	term_return(app->term);
	fit_canvas(app);
	loop_timer_stop(app->away);
	loop_fd_set(app->tty, LOOP_READ);
	if (app->shell_pod != NULL)
		ui_show_message(ui_shared(app->parts.ui), "%s on %s exited with status %d",
				app->is_command ? "stop_cmd" : "shell", app->shell_pod, status);
	else if (status != 0)
		ui_show_message(ui_shared(app->parts.ui), "%s exited with status %d",
				app->is_command ? app->shell.text : "hgym-tui init", status);
	else if (!app->is_command)
		reload_conf(app);
	pod_shell_release(&app->shell);
	ui_changed(app->parts.ui, UI_ALL);
	schedule_frame(app);
}

static void on_away(void *user)
{
	struct app *app = user;
	int status;

	if (app->shell.pid != 0 && pod_shell_poll(&app->shell, &status))
		return_from_shell(app, status);
}

static int open_shell(void *user, const struct conf_pod *pod, const char *command, struct err *err)
{
	struct app *app = user;

	pod_shell_release(&app->shell);
	if (pod == NULL)
		pod_shell_init_local(&app->shell, app->setup->context, command);
	else if (pod_shell_init(&app->shell, pod, command, err))
		return -1;
	xset_text(&app->shell_pod, pod != NULL ? xstrdup(pod->name) : NULL);
	app->is_command = command != NULL;
	loop_fd_set(app->tty, 0);
	term_leave(app->term);
	if (pod != NULL) {
		AUTO_TEXT line = xasprintf("%s: $ %s\r\n", pod->name, app->shell.text);
		(void)term_write(app->term, line, strlen(line));
	}
	watch_output(app);
	if (pod_shell_start(&app->shell, STDIN_FILENO, err)) {
		return_from_shell(app, 127);
		return -1;
	}
	loop_timer_start(app->away, AWAY_MS, AWAY_MS);
	return 0;
}

/* Do what the frame asked for; true if the program quits. */
static bool handle_wants(struct app *app)
{
	unsigned int wants = ui_take_wants(app->parts.ui);

	if (wants & UI_WANT_QUIT) {
		quit_loop(app);
		return true;
	}
	if (wants & UI_WANT_SUSPEND) {
		term_suspend(app->term);
		fit_canvas(app);
		ui_changed(app->parts.ui, UI_ALL);
	}
	if (wants & UI_WANT_REPAINT)
		term_repaint(app->term);
	if (wants & UI_WANT_MOUSE) {
		app->options.mouse = !app->options.mouse;
		app->mouse_chosen = true;
		term_mouse(app->term, app->options.mouse);
		ui_show_message(ui_shared(app->parts.ui), "the mouse is %s",
				app->options.mouse ? "on" : "off: the terminal selects text");
	}
	if (wants & UI_WANT_THEME) {
		app->options.theme = (app->options.theme + 1) % THEME_COUNT;
		app->parts.theme = app->options.theme;
		app->parts.theme_chosen = true;
		term_configure(app->term, &app->options);
		ui_show_message(ui_shared(app->parts.ui), "theme: %s",
				theme_name(app->options.theme));
	}
	if (wants & UI_WANT_RELOAD)
		reload_conf(app);
	if (wants & UI_WANT_TRACK)
		app_parts_use_track(&app->parts);
	return false;
}

/* Do a piece of a view's background work, and the next piece in the next turn of the loop. */
static void start_work(struct app *app)
{
	if (!ui_work(app->parts.ui) || app->works)
		return;
	app->works = true;
	loop_post(app->loop, on_work, app);
}

static void on_tty(void *user, UNUSED unsigned int events)
{
	struct app *app = user;
	struct key key;

	app_parts_update(&app->parts, clock_mono_ms());
	while (term_read(app->term, &key)) {
		if (key.code == KEYCODE_RESIZE)
			continue;
		ui_key(app->parts.ui, &key);
		if (handle_wants(app) || app->shell.pid != 0)
			return;
	}
	if (term_is_gone(app->term)) {
		app->status = 128 + SIGHUP;
		quit_loop(app);
		return;
	}
	start_work(app);
	schedule_frame(app);
}

static void on_out(void *user, UNUSED unsigned int events)
{
	struct app *app = user;

	if (term_flush(app->term) && app->owes && app->shell.pid == 0)
		draw_frame(app);
	schedule_frame(app);
	watch_output(app);
}

static void on_poll(void *user)
{
	struct app *app = user;
	const struct app_source *source = &app->setup->source;
	bool more = source->poll != NULL && source->poll(source->user);
	int64_t in_ms;

	/* Draw first: a view may request data, which makes the source busy. */
	schedule_frame(app);
	bool busy = source->busy != NULL && source->busy(source->user);
	if (more)
		in_ms = app->works ? YIELD_MS : 1;
	else
		in_ms = busy ? BUSY_MS : POLL_MS;
	loop_timer_start(app->poll, in_ms, 0);
}

static void on_frame(void *user)
{
	schedule_frame(user);
}

static void on_tick(void *user)
{
	struct app *app = user;

	ui_changed(app->parts.ui, UI_ALL);
	start_work(app);
	schedule_frame(app);
}

static void on_work(void *user)
{
	struct app *app = user;

	app->works = false;
	start_work(app);
	schedule_frame(app);
}

static void on_resize(void *user)
{
	struct app *app = user;

	if (app->shell.pid != 0)
		return;
	term_resize(app->term);
	fit_canvas(app);
	ui_changed(app->parts.ui, UI_ALL);
	app_parts_update(&app->parts, clock_mono_ms());
	draw_frame(app);
	watch_output(app);
}

static void on_signal(void *user, int signum)
{
	struct app *app = user;

	if (app->tty == NULL)
		return;
	/* Draw once after a series of size changes. */
	if (signum == SIGWINCH) {
		loop_timer_start(app->resize, RESIZE_MS, 0);
		return;
	}
	/* The process continues after SIGSTOP; Ctrl-Z is handled elsewhere. */
	if (signum == SIGCONT) {
		if (app->shell.pid != 0)
			return;
		term_resume(app->term);
		ui_changed(app->parts.ui, UI_ALL);
		loop_timer_start(app->resize, 0, 0);
		return;
	}
	/* A terminal that goes away sends the same signal as kill -HUP. */
	if (signum == SIGHUP && app->setup->source.reload != NULL && !term_is_gone(app->term)) {
		reload_conf(app);
		schedule_frame(app);
		return;
	}
	app->status = 128 + signum;
	quit_loop(app);
}

static void on_alert(void *user, const struct alert *alert, const char *text)
{
	struct app *app = user;
	const struct conf *conf = &app->setup->context->conf;
	bool is_shown = app->shell.pid == 0;

	if (is_shown && conf->alerts.bell)
		term_bell(app->term);
	if (!term_has_pending(app->term))
		app->notices = 0;
	if (is_shown && conf->alerts.notify && app->notices++ < NOTICES) {
		AUTO_BUF out = buf_new(8192);

		osc_notify(&out, STR_LIT("hgym-tui"), str_from(text), app->in_tmux);
		(void)term_write(app->term, out.data, out.len);
	}
	if (conf->alerts.command != NULL) {
		AUTO_BUF clean = buf_new(8192);
		const char *argv[] = { conf->alerts.command, alert_name(alert->kind), NULL, NULL };
		static const int none[3] = { -1, -1, -1 };
		struct err err = { ERR_NONE, "" };

		/* The text may come from a pod, and the command may print it. */
		utf8_sanitize(&clean, str_from(text));
		argv[2] = clean.data;
		struct loop_child *child =
			loop_child_new(app->loop, argv, NULL, none, NULL, NULL, &err);
		if (child == NULL)
			ui_show_message(ui_shared(app->parts.ui), "%s", err.text);
		else
			loop_child_close(child);
	}
}

static int copy_to_clipboard(void *user, const char *text, struct err *err)
{
	struct app *app = user;
	AUTO_BUF out = buf_new(4 * OSC_COPY_MAX_BYTES);

	if (osc_copy(&out, str_from(text), app->in_tmux) != 0)
		return err_set(
			err, ERR_LIMIT,
			"the text is too long for the clipboard; press x to save it to a file");
	if (!term_write(app->term, out.data, out.len))
		return err_set(
			err, ERR_LIMIT,
			"the terminal has not accepted the previous copies yet; try again later");
	return 0;
}

/* Run the event loop until the user quits; the terminal is open. */
static int run_loop(struct app *app, struct err *err)
{
	static const int signals[] = { SIGWINCH, SIGCONT, SIGTERM, SIGHUP, SIGINT };
	const struct app_source *source = &app->setup->source;

	app->out = loop_fd_new(app->loop, term_out_fd(app->term), on_out, app);
	app->tty = loop_fd_new(app->loop, STDIN_FILENO, on_tty, app);
	if (app->out == NULL || app->tty == NULL)
		return err_set(err, ERR_IO, "cannot wait for keys on standard input");
	if (source->start != NULL && source->start(source->user, app->loop, app->parts.ui, err))
		return -1;
	app->parts.bench = app_bench_new(app->loop, app->setup->model, app->setup->context);
	loop_fd_set(app->tty, LOOP_READ);
	app->poll = loop_timer_new(app->loop, on_poll, app);
	app->frame = loop_timer_new(app->loop, on_frame, app);
	app->tick = loop_timer_new(app->loop, on_tick, app);
	app->resize = loop_timer_new(app->loop, on_resize, app);
	app->away = loop_timer_new(app->loop, on_away, app);
	loop_timer_start(app->poll, 1, 0);
	loop_timer_start(app->tick, 1000, 1000);
	for (size_t i = 0; i < LENGTH(signals); i++)
		loop_on_signal(app->loop, signals[i], on_signal, app);
	/* The size may have changed before SIGWINCH was handled. */
	term_resize(app->term);
	fit_canvas(app);
	schedule_frame(app);
	loop_run(app->loop);
	if (source->ends_benches)
		app_bench_kill(app->parts.bench);
	app_bench_free(app->parts.bench);
	if (source->stop != NULL && source->stop(source->user, err))
		return -1;
	return app->status;
}

int app_run(const struct app_setup *setup, struct err *err)
{
	struct app app = { .setup = setup };
	int status = -1;

	app.in_tmux = getenv("TMUX") != NULL;
	if (make_term_options(&app, &app.options, err) ||
	    app_parts_init(&app.parts, setup, app.options.ascii, err))
		return -1;
	if (app.parts.theme_chosen)
		app.options.theme = app.parts.theme;
	app.parts.on_alert = on_alert;
	app.parts.copy = copy_to_clipboard;
	app.parts.shell = open_shell;
	app.parts.user = &app;
	canvas_init(&app.canvas);
	app.loop = loop_new(err);
	app.term = app.loop != NULL ? term_open(&app.options, err) : NULL;
	if (app.term != NULL) {
		ui_shared(app.parts.ui)->log_colors &= term_has_colors(app.term);
		status = run_loop(&app, err);
	}
	term_close(app.term);
	app_parts_release(&app.parts);
	if (app.loop != NULL)
		loop_free(app.loop);
	canvas_release(&app.canvas);
	pod_shell_release(&app.shell);
	free(app.shell_pod);
	return status;
}
