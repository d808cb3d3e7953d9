/* SPDX-License-Identifier: MIT */
/*
 * Bracketed paste: pasted text goes into the text field that was open before the paste, and is
 * never a command or the answer to a question that opened during it.
 */
#include "base/xalloc.h"

#include "tests/support/screen.h"

static char answer[80]; /* the last answer to a pod; "": none */
static size_t n_shells;

static int execute(void *user, const struct command *command, char said[200], struct err *err)
{
	(void)user;
	(void)err;
	said[0] = '\0';
	if (command->id == COMMAND_ANSWER)
		(void)snprintf(answer, sizeof(answer), "%s",
			       command->text != NULL ? command->text : "refused");
	n_shells += command->id == COMMAND_SHELL;
	return 0;
}

static char *preview(void *user, const struct command *command, struct err *err)
{
	(void)user;
	(void)err;
	return command->id == COMMAND_SHELL ? xstrdup("ssh a") : NULL;
}

static void draw(void)
{
	int x, y;

	ui_draw(ui, &canvas, &x, &y);
}

static void type(const char *text)
{
	for (; *text != '\0'; text++) {
		press((unsigned char)*text);
		draw();
	}
}

static void paste(const char *text)
{
	press(KEYCODE_PASTE_BEGIN);
	type(text);
	press(KEYCODE_PASTE_END);
	draw();
}

static void ask_host_key(void)
{
	answer[0] = '\0';
	ui_ask(ui, 0, "a: the host a is not known yet.", false);
	draw();
}

static void test_question_opens_during_paste(void)
{
	press(KEYCODE_PASTE_BEGIN);
	type("some text\n");
	ask_host_key();
	type("yes\n\033yes\r");
	is_str(answer, "", "a paste does not answer a question that opened during it");
	press(KEYCODE_PASTE_END);
	ok(shows("a: the host a", "not known yet") && shows("answer", "(Esc: refuse): "),
	   "the question is still there when the paste ends, and its field is empty");
	type("yes\r");
	is_str(answer, "yes", "typed keys answer the question");
}

static void test_keys_after_paste(void)
{
	press(KEYCODE_PASTE_BEGIN);
	ask_host_key();
	press(KEYCODE_PASTE_END);
	draw();
	press(27);
	is_str(answer, "refused", "Esc refuses a question that opened during a paste");
	type("?");
	ok(shows("Help:", "Fleet"), "keys are commands again after that paste");
	type("\033");
}

static void test_escape_in_paste(void)
{
	(void)ui_take_wants(ui);
	type("/");
	paste("x\033\033\033q");
	ok((ui_take_wants(ui) & UI_WANT_QUIT) == 0, "three Esc and q in a paste do not quit");
	ok(shows("/xq", "0 of 1"), "the field that was open takes the text and stays open");
	type("\033");
	paste("\033\033\033q");
	ok((ui_take_wants(ui) & UI_WANT_QUIT) == 0, "a paste without an open field does not quit");
	type("q");
	ok((ui_take_wants(ui) & UI_WANT_QUIT) != 0, "a typed q quits");
}

static void test_paste_into_question(void)
{
	ask_host_key();
	paste("yes\r\n");
	is_str(answer, "", "a line end that is pasted into a question is not Enter");
	type("\r");
	is_str(answer, "yes", "a typed Enter gives the pasted answer, without its line end");
}

static void test_paste_into_field(void)
{
	type("/");
	paste("run 1\n");
	ok(shows("/run 1", "0 of 1"), "a filter takes pasted text without its line end");
	press(KEYCODE_PASTE_BEGIN);
	press(KEYCODE_BACKSPACE);
	press(KEYCODE_LEFT);
	type("2");
	press(KEYCODE_PASTE_END);
	ok(shows("/run 12", "0 of 1"), "keys within a paste neither erase nor move");
	press(KEYCODE_BACKSPACE);
	ok(shows("/run 1 ", "0 of 1"), "keys after the paste erase");
	type("\033"
	     "7b");
	ok(place_of("New bench") != SIZE_MAX, "the form of a bench opens");
	paste("-kernel\tx");
	ok(shows("name", "ab-kernel x"),
	   "a pasted Tab becomes a blank and does not leave the form's field");
	type("\t");
	paste(",b");
	ok(place_of("a,b") != SIZE_MAX, "a typed Tab goes to the next field");
	type("\033");
}

static void test_line_ends_in_paste(void)
{
	type("/");
	paste("\n\tone\r\ntwo\n\n\tthree\n\n");
	ok(shows("/one two three ", "0 of 1"),
	   "line ends and tabs between pasted words become one blank");
	paste("-four");
	ok(shows("/one two three-four ", "0 of 1"),
	   "line ends and tabs at the end of a paste are dropped");
	paste("a \n b");
	ok(shows("three-foura   b ", "0 of 1"), "blanks of the pasted text stay");
	type("\033");
}

static void test_paste_into_confirmation(void)
{
	type("7$");
	ok(shows("type yes", "to continue"), "a shell on a pod is confirmed first");
	paste("yes\r");
	ok(n_shells == 0 && shows("type yes", "to continue"),
	   "a line end that is pasted does not confirm");
	type("\r");
	is_int((long long)n_shells, 1, "Enter after a pasted yes confirms");
	type("$yes\r");
	is_int((long long)n_shells, 2, "a typed yes confirms");
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_question_opens_during_paste, test_keys_after_paste, test_escape_in_paste,
		test_paste_into_question,	  test_paste_into_field, test_line_ends_in_paste,
		test_paste_into_confirmation,
	};
	struct keymap keymap;
	struct ui_setup setup = { .model = &model,
				  .alerts = &alerts,
				  .keymap = &keymap,
				  .sink = { execute, preview, NULL },
				  .charset = CHART_ASCII };

	model_init(&model);
	alerts_init(&alerts);
	keymap_init(&keymap);
	canvas_init(&canvas);
	canvas_resize(&canvas, 100, 30);
	model_run_touch(&model,
			model_run_get(&model, model_pod_add(&model, "a", "local"), "/x/a.log", 0),
			T0, true);
	for (size_t i = 0; i < LENGTH(tests); i++) {
		ui = ui_new(&setup);
		ui_set_now(ui, T0, 0);
		draw();
		tests[i]();
		ui_free(ui);
	}
	canvas_release(&canvas);
	alerts_release(&alerts);
	model_release(&model);
	return tap_done();
}
