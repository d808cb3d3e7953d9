/* SPDX-License-Identifier: MIT */
/* The figures of runs that are read from real log lines: what the views print must be what the log
 * says, at the step at which it says it. */
#include <stdlib.h>
#include <string.h>

#include "model/forecast.h"
#include "parsers/run_reader.h"
#include "ui/theme.h"

#include "tests/support/screen.h"

static struct track track = { .cap_train_s = 600, .cap_eval_s = 600, .cap_artifact_bytes = 16e6 };
static struct format_set *formats;
static struct model_run *reading;

static void on_sample(void *user, const struct run *run, const struct sample *sample)
{
	(void)user;
	(void)run;
	model_run_sample(&model, reading, sample);
}

/* Add a run that is read from text; it is still running unless it is closed. */
static struct model_run *add_log(const char *path, const char *text, bool is_over)
{
	static const struct run_reader_cb cb = { .on_sample = on_sample };
	struct run_reader *reader = run_reader_new(formats, &cb, NULL);
	struct run run;

	reading = model_run_get(&model, 0, path, 0);
	run_reader_feed(reader, text, strlen(text));
	if (is_over && run_reader_at_end(reader, &run)) {
		model_run_update(&model, reading, &run);
		run_release(&run);
	} else if (run_reader_current(reader) != NULL) {
		model_run_update(&model, reading, run_reader_current(reader));
	}
	run_reader_free(reader);
	model_run_touch(&model, reading, T0, !is_over);
	ui_shared(ui)->selected = reading;
	return reading;
}

/* One slow step of a trainer that prints the rate of each step does not become the mean; a rate
 * since the start of training gives the time. */
static void test_slow_step(void)
{
	AUTO_BUF text = buf_new(1U << 20);
	struct model_run *mr;

	buf_append_str(&text, "Total batch size 524,288 => gradient accumulation steps: 1\n");
	for (int i = 0; i <= 400; i++)
		buf_appendf(&text,
			    "step %05d/21400 (%.2f%%) | loss: %.6f | lrm: 1.00 | dt: %d.00ms | "
			    "tok/sec: %d | mfu: 40.00\n",
			    i, i / 214.0, 5.0 - i * 0.001, i == 400 ? 30000 : 477,
			    i == 400 ? 17476 : 1099136);
	mr = add_log("/x/nanochat/a.log", text.data, false);
	is_near(model_run_ms_per_step(mr), 477, 0.01, "a slow step is not the mean");
	is_near(model_run_train_ms(mr), RUN_ABSENT, 0, "nor is it the training time");
	press('1');
	ok(shows("a.log ", "477.0") && row_with("12030")[0] == '\0',
	   "the fleet shows the median step: %s", row_with("a.log "));
	ok(row_with("steps ")[0] != '\0', "and progress by steps: %s", row_with("steps "));
	press('2');
	ok(row_with("median 477.00 ms/step")[0] != '\0', "the run calls it a median");

	mr = add_log("/x/golf/b.log",
		     "train_batch_tokens:786432 train_seq_len:2048 iterations:20000\n"
		     "1000/20000 train_loss: 3.1 train_time: 2.0m tok/s: 6553600\n"
		     "2000/20000 train_loss: 2.9 train_time: 4.0m tok/s: 6553600\n",
		     false);
	is_near(model_run_ms_per_step(mr), 120, 0.01, "a rate since the start gives the mean");
	is_near(model_run_train_ms(mr), 240000, 1, "and the training time");
}

int main(void)
{
	struct keymap keymap;
	struct ui_setup setup = { .model = &model,
				  .track = &track,
				  .alerts = &alerts,
				  .keymap = &keymap,
				  .charset = CHART_ASCII };

	formats = format_set_new_builtin();
	model_init(&model);
	alerts_init(&alerts);
	keymap_init(&keymap);
	canvas_init(&canvas);
	canvas_resize(&canvas, 160, 40);
	(void)model_pod_add(&model, "pod-a", "local");
	ui = ui_new(&setup);
	ui_set_now(ui, T0, 0);
	test_slow_step();
	ui_free(ui);
	canvas_release(&canvas);
	alerts_release(&alerts);
	model_release(&model);
	format_set_free(formats);
	return tap_done();
}
