/* SPDX-License-Identifier: MIT */
/* Run the dashboard without a terminal: play a script of keys, and save screens as text. */
#include <langinfo.h>

#include "app/parts.h"

#define STEP_MS	   250
#define MAX_WAIT_S 100000.0

struct player {
	const struct app_setup *setup;
	struct app_parts parts;
	struct canvas canvas;
	bool ascii;
	bool saved;
	bool has_quit;
	int64_t mono_ms;
	FILE *out;
};

static void advance_time(struct player *player, int64_t ms)
{
	const struct app_source *source = &player->setup->source;

	if (source->advance != NULL)
		source->advance(source->user, ms);
	player->mono_ms += ms;
	while (source->poll != NULL && source->poll(source->user))
		;
	app_parts_update(&player->parts, player->mono_ms);
	while (ui_work(player->parts.ui))
		;
}

static void draw_screen(struct player *player)
{
	int x, y;

	ui_draw(player->parts.ui, &player->canvas, &x, &y);
}

static int do_wait(struct player *player, struct str text, struct err *err)
{
	double seconds;

	if (!str_to_double(text, &seconds) || !(seconds >= 0) || seconds > MAX_WAIT_S)
		return err_set(err, ERR_USAGE, "wait: expected a number of seconds");
	for (double ms = seconds * 1000; ms > 0; ms -= STEP_MS)
		advance_time(player, ms < STEP_MS ? (int64_t)ms : STEP_MS);
	return 0;
}

static void press_key(struct player *player, uint32_t code)
{
	struct key key = { code, 0, 0 };

	/* Lists get their height when they are drawn. */
	draw_screen(player);
	ui_key(player->parts.ui, &key);
	advance_time(player, 0);
	unsigned int wants = ui_take_wants(player->parts.ui);
	if (wants & UI_WANT_TRACK)
		app_parts_use_track(&player->parts);
	player->has_quit |= (wants & UI_WANT_QUIT) != 0;
}

static int do_key(struct player *player, struct str text, struct err *err)
{
	struct str name;

	while (str_next(&text, ' ', &name)) {
		uint32_t code = key_by_name(name.p, name.len);

		if (name.len == 0)
			continue;
		if (code == 0)
			return err_set(err, ERR_USAGE, "key: unknown key \"%.*s\"", (int)name.len,
				       name.p);
		press_key(player, code);
	}
	return 0;
}

static int do_type(struct player *player, struct str text, UNUSED struct err *err)
{
	while (text.len > 0) {
		uint32_t cp;

		text = str_skip(text, utf8_decode(text, &cp));
		press_key(player, cp);
	}
	return 0;
}

int app_parse_size(struct str text, int size[2], struct err *err)
{
	struct str width;
	int64_t w, h;

	if (!str_next(&text, 'x', &width) || !str_to_i64(width, &w) || !str_to_i64(text, &h) ||
	    w < 1 || h < 1 || w > CANVAS_MAX_SIDE || h > CANVAS_MAX_SIDE)
		return err_set(err, ERR_USAGE, "a size is WxH, e.g. 80x24, at most %dx%d",
			       CANVAS_MAX_SIDE, CANVAS_MAX_SIDE);
	size[0] = (int)w;
	size[1] = (int)h;
	return 0;
}

static int do_size(struct player *player, struct str text, struct err *err)
{
	int size[2];

	if (app_parse_size(text, size, err))
		return -1;
	canvas_resize(&player->canvas, size[0], size[1]);
	return 0;
}

static void print_screen(struct player *player, bool styles, FILE *out)
{
	AUTO_BUF text = buf_new(16U << 20);

	draw_screen(player);
	while (ui_work(player->parts.ui))
		;
	draw_screen(player);
	if (styles)
		canvas_dump_styles(&player->canvas, &text);
	else
		canvas_dump(&player->canvas, player->ascii, &text);
	(void)fwrite(text.data, 1, text.len, out);
}

static int save_screen(struct player *player, bool styles, struct str text, struct err *err)
{
	char name[1024];

	player->saved = true;
	if (str_eq_cstr(text, "-")) {
		print_screen(player, styles, player->out);
		return 0;
	}
	print_into(name, "%.*s", (int)text.len, text.p);
	FILE *file = fopen(name, "we");
	if (file == NULL)
		return err_set_errno(err, ERR_IO, "cannot write %s", name);
	print_screen(player, styles, file);
	return fclose(file) != 0 ? err_set_errno(err, ERR_IO, "cannot write %s", name) : 0;
}

static int run_line(struct player *player, struct str line, struct err *err)
{
	static const struct {
		const char *name;
		int (*run)(struct player *player, struct str text, struct err *err);
	} commands[] = {
		{ "wait", do_wait }, { "key", do_key }, { "type", do_type }, { "size", do_size }
	};
	struct str word;

	line = str_trim(line);
	if (line.len == 0 || line.p[0] == '#' || !str_next(&line, ' ', &word))
		return 0;
	if (str_eq_cstr(word, "save") || str_eq_cstr(word, "styles"))
		return save_screen(player, str_eq_cstr(word, "styles"), line, err);
	for (size_t i = 0; i < LENGTH(commands); i++)
		if (str_eq_cstr(word, commands[i].name))
			return commands[i].run(player, line, err);
	return err_set(err, ERR_USAGE, "unknown command \"%.*s\"", (int)word.len, word.p);
}

static int run_script(struct player *player, const char *path, struct err *err)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	unsigned int number = 0;
	char line[4096];
	int failed = 0;

	if (file == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", path);
	while (!failed && !player->has_quit && fgets(line, sizeof(line), file) != NULL) {
		number++;
		failed = run_line(player, str_from(line), err);
	}
	if (failed)
		err_prefix(err, "%s:%u", path, number);
	if (file != stdin)
		(void)fclose(file);
	return failed;
}

int app_script(const struct app_setup *setup, const char *script, const int size[2], FILE *out,
	       struct err *err)
{
	struct player player = { .setup = setup, .out = out };

	player.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0 ||
		       (setup->context->options.charset != NULL &&
			strcmp(setup->context->options.charset, "ascii") == 0);
	if (app_parts_init(&player.parts, setup, player.ascii, err))
		return -1;
	canvas_init(&player.canvas);
	canvas_resize(&player.canvas, size[0], size[1]);
	player.mono_ms = 1000000;
	advance_time(&player, 0);
	int failed = script != NULL ? run_script(&player, script, err) : 0;
	if (!failed && !player.saved)
		print_screen(&player, false, out);
	if (!failed && fflush(out) != 0)
		failed = err_set_errno(err, ERR_IO, "cannot write to standard output");
	app_parts_release(&player.parts);
	canvas_release(&player.canvas);
	return failed ? -1 : 0;
}
