/* SPDX-License-Identifier: MIT */
/* Figures of runs read from real log lines: the views must show the values of the log, with the
 * step that they belong to. */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/forecast.h"
#include "parsers/run_reader.h"
#include "ui/plot.h"
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
	is_near(model_run_ms_per_step(mr), 477, 0.01, "a slow step does not determine ms per step");
	is_near(model_run_train_ms(mr), RUN_ABSENT, 0,
		"rates of single steps give no training time");
	press('1');
	ok(shows("a.log ", "477.0") && row_with("12030")[0] == '\0',
	   "the fleet shows the median step: %s", row_with("a.log "));
	ok(row_with("steps ")[0] != '\0', "the fleet shows progress by steps: %s",
	   row_with("steps "));
	press('2');
	ok(row_with("median 477.00 ms/step")[0] != '\0',
	   "the run view says that the time is a median");

	mr = add_log("/x/golf/b.log",
		     "train_batch_tokens:786432 train_seq_len:2048 iterations:20000\n"
		     "1000/20000 train_loss: 3.1 train_time: 2.0m tok/s: 6553600\n"
		     "2000/20000 train_loss: 2.9 train_time: 4.0m tok/s: 6553600\n",
		     false);
	is_near(model_run_ms_per_step(mr), 120, 0.01, "a rate since the start gives the mean");
	is_near(model_run_train_ms(mr), 240000, 1,
		"a rate since the start gives the training time");
}

/* A log of the usual dialect: validations at these steps, training rows up to `steps`. */
static struct model_run *add_golf(const char *path, int steps, const int *vals, size_t n_vals,
				  const char *end, bool is_over)
{
	AUTO_BUF text = buf_new(1U << 20);

	buf_append_str(&text,
		       "seed:42\ntrain_batch_tokens:1000 train_seq_len:10 iterations:5000\n");
	for (int step = 0; step <= steps; step += 500) {
		for (size_t i = 0; i < n_vals; i++)
			if (vals[i] == step)
				buf_appendf(&text,
					    "step:%d/5000 val_loss:%.4f val_bpb:%.4f "
					    "train_time:%dms step_avg:100.00ms\n",
					    step, 6.0 - step * 1e-3, 3.4877 - step * 5e-4,
					    step * 100);
		if (step > 0)
			buf_appendf(&text,
				    "step:%d/5000 train_loss:%.4f train_time:%dms "
				    "step_avg:100.00ms\n",
				    step, 5.0 - step * 5e-4, step * 100);
	}
	buf_append_str(&text, end);
	return add_log(path, text.data, is_over);
}

/* A validation of step 0 is not shown as the current figure at step 3,500. */
static void test_old_figures(void)
{
	const int first[] = { 0 }, often[] = { 0, 1000, 2000, 3000 };
	struct model_run *mr = add_golf("/x/old/old.log", 3500, first, 1, "", false);

	canvas_resize(&canvas, 200, 60);
	ui_shared(ui)->selected = model.runs[0];
	press('1');
	ok(shows("old.log ", "3.4877@0") && style_of("3.4877@0") == STYLE_DIM,
	   "a validation of step 0 is grey and has its step: %s", row_with("old.log "));
	ok(shows("RUN ", "TRAIN nat") && shows("RUN ", "VAL nat") && shows("old.log ", "3.2500") &&
		   shows("old.log ", "6.0000@0"),
	   "training and validation loss have a column each: %s", row_with("RUN "));
	ui_shared(ui)->selected = mr;
	press('1');
	ok(row_with("last validation 3.4877 at step 0")[0] != '\0', "the budget names the step");
	press('2');
	ok(row_with("3.4877")[0] != '\0' && shows("3.4877", "3.4877  at step 0"),
	   "the run view names the step: %s", row_with("3.4877"));
	(void)add_golf("/x/old/new.log", 3500, often, 4, "", false);
	press('1');
	ok(shows("new.log ", " 1.9877 ") && !shows("new.log ", "@"),
	   "the last of regular validations is current: %s", row_with("new.log "));
	canvas_resize(&canvas, 80, 24);
	ok(shows("old.log ", "3.4877@0"), "the step has room at 80 columns: %s",
	   row_with("old.log "));
	canvas_resize(&canvas, 160, 40);
}

/* The seconds next to the progress of an evaluation belong to the stage that runs. */
static void test_eval_stage(void)
{
	const int vals[] = { 0, 5000 };

	(void)add_golf("/x/eval/a.log", 5000, vals, 2,
		       "stopping_early: wallclock_cap train_time: 500000ms step: 5000/5000\n"
		       "final_int6_sliding_window val_loss:2.0 val_bpb:1.1217 stride:64 "
		       "eval_time:70000ms\n"
		       "  ttt_chunk [1/1389] bpb=1.761258 time=0.5s\n"
		       "  ttt_chunk [301/1389] bpb=1.450438 time=88.0s\n",
		       false);
	press('1');
	ok(shows("301 of 1,389 done", "88.0 / 600 s") && shows("301 of", "about 5 min left") &&
		   shows("301 of", "sliding took 70.0 s"),
	   "the elapsed time belongs to the stage: %s", row_with("301 of"));
	(void)add_golf("/x/eval/b.log", 5000, vals, 2,
		       "stopping_early: wallclock_cap train_time: 500000ms step: 5000/5000\n"
		       "final_int6_sliding_window val_loss:2.0 val_bpb:1.1217 stride:64 "
		       "eval_time:70000ms\n",
		       false);
	press('1');
	ok(shows("so far", "70.0 / 600 s"),
	   "between two stages the time of the last one is shown: %s", row_with("so far"));
}

/* The end of a run is a fixed time, also while the run is silent. */
static void test_end(void)
{
	const int vals[] = { 0, 1000, 2000, 3000 };
	struct model_run *mr = add_golf("/x/end/a.log", 3500, vals, 4, "", false);
	char before[1024];

	press('1');
	(void)snprintf(before, sizeof(before), "%s", row_with("steps → "));
	ok(shows("steps → ", "steps → 5,000 · ends 13:22:30"),
	   "a planned end is exact, without an error: %s", before);
	ui_set_now(ui, T0 + 60000, 60000);
	ok(shows("steps → ", "ends 13:22:30"), "a minute of silence does not move the end: %s",
	   row_with("steps → "));
	ui_set_now(ui, T0 + 200000, 200000);
	ok(shows("steps → ", "was due 13:22:30"), "a longer silence makes the end overdue: %s",
	   row_with("steps → "));
	ui_set_now(ui, T0, 0);
	mr->run.planned_steps = 1e7;
	ui_shared(ui)->track = NULL;
	ok(shows("steps → ", "ends Jan 27 03:"), "an end on another day has its date: %s",
	   row_with("steps → "));
	ui_shared(ui)->track = &track;
}

/* A log that is far from completely read does not show its figures as current. */
static void test_catching_up(void)
{
	const int vals[] = { 0, 1000 };
	struct model_run *mr = add_golf("/x/far/far.log", 1500, vals, 2, "", false);

	mr->log = model_log_get(&model, 0, "/x/far/far.log");
	mr->log->read_bytes = 43;
	mr->log->behind_bytes = 57;
	press('1');
	ok(shows("far.log ", "catching up 43 %"), "the fleet marks a log that is behind: %s",
	   row_with("far.log "));
	press('2');
	ok(row_with("catching up 43 %")[0] != '\0', "the run view marks a log that is behind");
	mr->log->behind_bytes = 0;
	press('1');
	ok(!shows("far.log ", "catching up"), "a log that was read completely is not marked: %s",
	   row_with("far.log "));
}

/* The cost of a run does not decrease when the run ends. */
static void test_cost(void)
{
	const int vals[] = { 0, 5000 };
	struct model_run *mr = add_golf("/x/cost/a.log", 5000, vals, 2, "", false);
	double before;

	model.pods[0].usd_per_hour = 20;
	mr->first_byte_wall_ms = T0 - 1140000;
	before = model_run_cost(&model, mr);
	is_near(before, 20 * 1140.0 / 3600, 1e-6, "a followed run costs the time it was followed");
	mr->run.status = RUN_FINISHED;
	model_run_touch(&model, mr, T0, false);
	is_near(model_run_cost(&model, mr), before, 1e-9,
		"the cost of a run is the same after its end");
	mr->past = true;
	is_near(model_run_cost(&model, mr), 20 * 500.0 / 3600, 1e-6,
		"an old log shows only its own hours");
	model.pods[0].usd_per_hour = RUN_ABSENT;
}

/* An end without a known reason is not a failure. */
static void test_unknown_end(void)
{
	const int vals[] = { 0 };
	struct model_run *mr = add_golf("/x/end/unknown.log", 500, vals, 1, "", true);

	mr->run.status = RUN_UNKNOWN;
	press('1');
	ok(shows("unknown.log", "- unknown.log") && shows("unknown.log", "ended at 500") &&
		   !shows("unknown.log", "✗"),
	   "an unknown end has a dash: %s", row_with("unknown.log"));
	mr->run.status = RUN_CRASHED;
	ok(shows("unknown.log", "✗"), "a crash has a cross: %s", row_with("unknown.log"));
}

/* The pod shows its open alerts, and acknowledged ones as a number. */
static void test_pod_alerts(void)
{
	const int vals[] = { 0 };
	struct model_run *mr;

	canvas_resize(&canvas, 120, 40);
	for (int i = 0; i < 9; i++) {
		char path[40];

		(void)snprintf(path, sizeof(path), "/x/alerts/%d.log", i);
		mr = add_golf(path, 500, vals, 1, "", true);
		mr->run.status = RUN_CRASHED;
	}
	alerts_update(&alerts, &model, NULL, T0);
	press('7');
	ok(row_with("crash ×10 · newest: 8.log s42: crashed")[0] != '\0' &&
		   shows("pod-a   ", "crash ×10"),
	   "open alerts are counted by kind, and the newest is named: %s", row_with("alerts "));
	alerts_acknowledge(&alerts);
	ok(row_with("crash ")[0] == '\0' && row_with("acknowledged; ! shows them")[0] != '\0',
	   "acknowledged alerts are a number: %s", row_with("acknowledged"));
	model_pod_set_state(&model, 0, POD_UNREACHED, "no route", 0);
	alerts_update(&alerts, &model, NULL, T0);
	ok(shows("│ link ", "no route") && shows("│ alerts ", "alerts link  "),
	   "the reason of a broken link is shown once: %s", row_with("│ alerts "));
	model_pod_set_state(&model, 0, POD_LIVE, NULL, 0);
	for (size_t i = 0; i < model.n_runs; i++)
		if (model.runs[i]->run.status == RUN_CRASHED)
			model.runs[i]->run.status = RUN_TRUNCATED;
	alerts_update(&alerts, &model, NULL, T0);
	canvas_resize(&canvas, 160, 40);
}

/* A bench run is in the fleet only while it runs. */
static void test_bench_run(void)
{
	const int vals[] = { 0 };
	struct model_run *mr = add_golf("/x/bench/r1.log", 500, vals, 1, "", false);

	mr->log = model_log_get(&model, 0, "/x/bench/r1.log");
	mr->log->is_bench = true;
	press('1');
	ok(row_with(" r1.log ")[0] != '\0', "a bench run in progress is shown");
	model_run_touch(&model, mr, T0, false);
	ui_shared(ui)->selected = model.runs[0];
	ok(row_with(" r1.log ")[0] == '\0', "a bench run that has ended is not shown: %s",
	   row_with(" r1.log "));
}

/* A log that cannot be read has a row with the reason. */
static void test_trouble(void)
{
	model_log_set_trouble(&model, 0, "/x/bad/dangling.log", "No such file or directory");
	ui_shared(ui)->selected = model.runs[model.n_runs - 1];
	press('1');
	ok(shows("dangling.log", "✗ dangling.log") &&
		   shows("dangling.log", "No such file or directory"),
	   "the row of an unreadable log shows why: %s", row_with("dangling.log"));
}

/* Add a run whose training rows are `every` steps apart. */
static struct model_run *add_rows(const char *path, int every, double above)
{
	AUTO_BUF text = buf_new(1U << 20);

	buf_append_str(&text, "train_batch_tokens:1000 train_seq_len:10 iterations:5000\n");
	for (int step = every; step <= 4000; step += every)
		buf_appendf(&text,
			    "step:%d/5000 train_loss:%.4f train_time:%dms step_avg:100.00ms\n",
			    step, 4.0 + above + (step / every % 2) * 0.1, step * 100);
	return add_log(path, text.data, true);
}

/* Title and list of Compare show values printed at one step; the cursor goes from row to row. */
static void test_compare(void)
{
	struct model_run *a = add_rows("/x/cmp/a.log", 500, 0);
	struct model_run *b = add_rows("/x/cmp/b.log", 500, 0.25);
	struct model_run *c = add_rows("/x/cmp/c.log", 300, 0.5);

	ui_shared(ui)->chart.metric.id = PLOT_LOSS;
	ui_shared(ui)->chart.axis = AXIS_STEP;
	ui_shared(ui)->selected = ui_shared(ui)->reference = a;
	ui_shared(ui)->marks.n = 0;
	ui_shared(ui)->marks.v[ui_shared(ui)->marks.n++] = b;
	ui_shared(ui)->marks.v[ui_shared(ui)->marks.n++] = c;
	press('4');
	(void)row_with("x");
	for (int i = 0; i < 3; i++)
		press('h');
	ok(row_with("3,000: 4 nats")[0] != '\0',
	   "the title has the third printed row from the right: %s", row_with("train loss"));
	ok(shows("━ b.log", " 4.2500  +0.2500"), "the list has the same step, as printed: %s",
	   row_with("━ b.log"));
	ok(shows("━ c.log", " 4.5000  +0.5000"), "the list has all runs that printed the step: %s",
	   row_with("━ c.log"));
	press('h');
	ok(row_with("2,500: 4.1 nats")[0] != '\0' && shows("━ b.log", " 4.3500  +0.2500"),
	   "one key goes to the row before: %s", row_with("━ b.log"));
	ok(shows("━ c.log", "~4."), "a value between two rows is marked: %s", row_with("━ c.log"));
	ok(row_with("at step 2,500 (h l: other rows) · against ◆ a.log")[0] != '\0',
	   "the title names the step");
	press('l');
	ok(row_with("3,000: 4 nats")[0] != '\0', "another key goes to the row after");
	press('0');
	ok(row_with("at step 3,500 (h l")[0] != '\0',
	   "without a cursor, the last row that all runs have reached is shown: %s",
	   row_with("against"));
	ok(row_with("· from step 390 (0: all)")[0] != '\0', "the start of the runs is not drawn");
	press('0');
	ok(row_with("(0: all)")[0] == '\0', "0 shows the start of the runs");
	press('0');
	ui_shared(ui)->marks.n = 0;
	ok(row_with("Mark the runs to compare")[0] != '\0' && row_with(" c.log")[0] != '\0',
	   "with only one run marked, the view lists all runs");
	ui_shared(ui)->reference = NULL;
	ui_shared(ui)->marks.n = 0;
	ui_shared(ui)->chart.axis = AXIS_TRAIN;
	ui_shared(ui)->chart.metric.id = PLOT_BPB;
}

static size_t n_wanted;

static void count_wanted(void *user, struct model_run *mr)
{
	n_wanted += mr == user;
}

/* Forecasts are computed when the model changes, not with each key. */
static void test_forecasts_once(void)
{
	const int vals[] = { 0, 1000 }, all[] = { 0, 5000 };
	struct model_run *ref = add_golf("/x/once/ref.log", 5000, all, 2, "", true);
	struct model_run *mr = add_golf("/x/once/mr.log", 1500, vals, 2, "", false);

	ref->run.status = RUN_FINISHED;
	ref->run_id = 7;
	model.fetch.want = count_wanted;
	model.fetch.user = ref;
	model_note_change(&model, MODEL_RUNS);
	press('1');
	(void)row_with("mr.log");
	ok(n_wanted > 0, "a forecast needs its reference");
	/* The budget of the selected run has its own forecast. */
	ui_shared(ui)->selected = model.runs[0];
	(void)row_with("mr.log");
	n_wanted = 0;
	ui_action(ui, ACTION_SEARCH);
	press('r');
	ui_shared(ui)->selected = model.runs[0];
	(void)row_with("mr.log");
	is_int((long long)n_wanted, 0, "a key press recomputes no row");
	press(27);
	model_run_touch(&model, mr, mr->last_byte_wall_ms, true);
	ui_shared(ui)->selected = model.runs[0];
	(void)row_with("mr.log");
	ok(n_wanted > 0, "a change of the run recomputes its row");
	model.fetch.want = NULL;
	(void)mr;
}

/* The fleet opens at its top while many logs are being read. */
static void test_opens_at_top(const struct ui_setup *setup)
{
	struct ui_setup own = *setup;
	struct model *many = xcalloc(1, sizeof(*many));
	struct ui *ours;
	char path[40];
	int x, y;

	model_init(many);
	(void)model_pod_add(many, "here", "local");
	own.model = many;
	own.conf_path = "/etc/hgym/config.json";
	ours = ui_new(&own);
	ui_draw(ours, &canvas, &x, &y);
	AUTO_BUF empty = buf_new(1U << 20);
	canvas_dump(&canvas, false, &empty);
	ok(strstr(empty.data, "/etc/hgym/config.json") != NULL,
	   "without runs, the screen names the configuration");
	ui_set_now(ours, T0, 0);
	many->n_reading = 200;
	for (int i = 0; i < 200; i++) {
		(void)snprintf(path, sizeof(path), "/x/many/%03d.log", i);
		(void)model_run_get(many, 0, path, 0);
	}
	/* The logs are not read in the order of the list. */
	for (int i = 199; i >= 0; i -= 1) {
		struct model_run *mr = many->runs[(i * 7 + 3) % 200];

		mr->run.steps = 100;
		model_run_touch(many, mr, T0 + i, true);
		ui_changed(ours, UI_ALL);
		ui_draw(ours, &canvas, &x, &y);
	}
	many->n_reading = 0;
	ui_changed(ours, UI_ALL);
	ui_draw(ours, &canvas, &x, &y);
	ok(ui_shared(ours)->selected == many->runs[0], "the first row is selected");
	AUTO_BUF text = buf_new(1U << 20);
	canvas_dump(&canvas, false, &text);
	ok(strstr(text.data, "000.log") != NULL, "the selected row is on the screen");
	ui_free(ours);
	model_release(many);
	free(many);
}

static struct buf exported;

static int keep_export(void *user, const struct command *command, char said[200], struct err *err)
{
	(void)user;
	(void)said;
	(void)err;
	if (command->id == COMMAND_EXPORT)
		buf_append_str(&exported, command->text);
	return 0;
}

/* The figures of an export are in the unit of their header. */
static void test_export(struct ui_setup *setup)
{
	const int vals[] = { 0 };
	struct model_run *mr = add_golf("/x/csv/a.log", 500, vals, 1, "", false);

	mr->run.train_batch_tokens = 524288;
	setup->sink.execute = keep_export;
	ui_configure(ui, setup);
	buf_init(&exported, 1U << 20);
	press('1');
	ui_action(ui, ACTION_EXPORT);
	press('\r');
	ok(exported.data != NULL && strstr(exported.data, "Mtok/s") != NULL &&
		   strstr(exported.data, ",5.24288,") != NULL &&
		   strstr(exported.data, "5242880") == NULL,
	   "the column Mtok/s has millions");
	buf_release(&exported);
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
	test_old_figures();
	test_eval_stage();
	test_end();
	test_catching_up();
	test_cost();
	test_unknown_end();
	test_pod_alerts();
	test_bench_run();
	test_trouble();
	test_compare();
	test_forecasts_once();
	test_opens_at_top(&setup);
	test_export(&setup);
	ui_free(ui);
	canvas_release(&canvas);
	alerts_release(&alerts);
	model_release(&model);
	format_set_free(formats);
	return tap_done();
}
