/* SPDX-License-Identifier: MIT */
/* The screen shows figures of a model built by the test: none before it is true, and none after it
 * has become false. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/forecast.h"
#include "model/harness_view.h"
#include "parsers/run_series.h"
#include "ui/plot.h"
#include "ui/theme.h"

#include "tests/support/screen.h"

static struct track track = { .name = (char[]){ "test" },
			      .cap_train_s = 600,
			      .cap_eval_s = 600,
			      .cap_artifact_bytes = 16e6,
			      .target = (double)NAN };

/* Add rows with a falling training loss, `above` higher than the usual one. */
static void add_rows(struct model_run *mr, double above)
{
	for (int i = 1; i <= 60; i++) {
		const struct sample sample = {
			.metric = METRIC_TRAIN_LOSS,
			.step = i * 100,
			.train_ms = i * 10000,
			.value = 2.6 + 1.0 / i + above + (i % 2) * 1e-4,
		};

		model_run_sample(&model, mr, &sample);
	}
	mr->run.steps = 6000;
	mr->run.train_ms = 600050;
	mr->run.ms_per_step = 100;
	mr->run.last_val_bpb = 1.0725;
	mr->run.last_val_loss = 2.77;
}

static struct model_run *add_run(const char *path, double seed)
{
	struct model_run *mr = model_run_get(&model, 0, path, 0);

	mr->run.seed = seed;
	mr->run.status = RUN_RUNNING;
	model_run_touch(&model, mr, T0, true);
	return mr;
}

/* The result of a stage is not final: a better one may follow. */
static void test_stage(struct model_run *mr, struct model_run *done)
{
	mr->run.final_bpb = mr->run.sliding_bpb = 1.064066;
	mr->run.final_class = "sliding";
	mr->run.eval_s = 83.7;
	mr->run.eval_done = 381;
	mr->run.eval_total = 1238;
	done->run.status = RUN_FINISHED;
	done->run.final_bpb = 1.0594;
	done->run.final_class = "ttt";
	ui_shared(ui)->selected = mr;
	press('1');
	ok(shows("   42 ", "~1.0641") && !shows("   42 ", " 1.0641"),
	   "the fleet marks the score of a stage: %s", row_with("   42 "));
	ok(shows("   42 ", " ~83.7"), "the fleet marks the time of a stage");
	ok(shows("381 of 1,238 done", "sliding took 83.7 s") && row_with("83.7 / 600")[0] == '\0',
	   "the time of a finished stage is not the current stage's: %s", row_with("381 of"));
	ok(shows("   42 ", "~1.059"), "the fleet shows the forecast next to the score of a stage");
	ok(shows(" 1234 ", " 1.0594") && !shows(" 1234 ", "~"),
	   "the score of a finished run is final: %s", row_with(" 1234 "));
	ok(shows("last validation", "so far ~1.064066 (sliding)") &&
		   shows("last validation", "final → 1.059"),
	   "the budget marks the score of a stage: %s", row_with("last validation"));
	ok(!shows("last validation", "final 1.06"), "the score of a stage is not called final");
	press('2');
	ok(row_with("FINAL")[0] == '\0', "the run has no FINAL yet");
	press('R');
	press('1');
	ok(strstr(row_with(" 1234 "), "0.0047") == NULL,
	   "no difference is computed for the score of a stage");
	press('R');
	press(' ');
	ui_shared(ui)->selected = done;
	press('R');
	press('4');
	ok(shows("s42", "~1.064066") && !shows("s42", "+0.0046"),
	   "no difference is computed in Compare: %s", row_with("s42"));
	mr->run.status = RUN_FINISHED;
	mr->run.final_bpb = 1.0581;
	ok(shows("s42", " 1.058100") && shows("s42", "0.001300"),
	   "after the end, score and difference are shown: %s", row_with("s42"));
	press('R');
	press('1');
}

/* Add a run with five rows in the first second, then one row per five hundred steps. */
static struct model_run *add_sparse(const char *path, double seed, double begin, double later)
{
	struct model_run *mr = add_run(path, seed);

	for (int i = 0; i < 15; i++) {
		int step = i < 5 ? i + 1 : (i - 4) * 500;
		const struct sample sample = {
			.metric = METRIC_TRAIN_LOSS,
			.step = step,
			.train_ms = step * 100,
			.value = 1 + 0.5 * pow(step, -0.3) + (i < 5 ? begin : later),
		};

		model_run_sample(&model, mr, &sample);
	}
	mr->run.status = RUN_FINISHED;
	mr->run.last_val_bpb = mr->run.last_val_loss = 1.07;
	return mr;
}

/* The curves in the first second do not determine their current gap. */
static void test_gap(void)
{
	struct model_run *base, *other;

	base = add_sparse("/x/s/a.log", 5, 0, 0);
	other = add_sparse("/x/s/b.log", 6, 0.3, -0.0013);
	ui_shared(ui)->marks.n = 0;
	ui_shared(ui)->selected = ui_shared(ui)->reference = base;
	ui_shared(ui)->marks.v[ui_shared(ui)->marks.n++] = other;
	press('4');
	ok(shows("━ b.log s6", " −0.0013 "), "the gap belongs to the last row: %s",
	   row_with("━ b.log s6"));
	ok(row_with("+0.01")[0] == '\0' && row_with("+0.1")[0] == '\0' &&
		   row_with("+0.2")[0] == '\0' && row_with("+0.3")[0] == '\0',
	   "the gap of the last row determines the axis: %s", row_with("+0."));
	ok(row_with("EMA")[0] == '\0', "few rows give no mean");
	ok(row_with("-0.00")[0] != '\0', "the axis of gaps includes the last rows");
	base->run.steps = other->run.steps = 5000;
	for (int i = 0; i < 4; i++) {
		struct sample sample = {
			.metric = METRIC_VAL_BPB,
			.step = i < 3 ? i * 2000 : 5000,
			.train_ms = (i < 3 ? i * 2000 : 5000) * 100,
			.value = 1.2 - i * 0.02,
		};

		model_run_sample(&model, base, &sample);
		sample.value += i < 3 ? 0.5 : 0.0042;
		model_run_sample(&model, other, &sample);
	}
	ok(shows("━ b.log s6", " +0.0042 ") && row_with("validation at step 5,000")[0] != '\0',
	   "the gap of the last validation is next to the gap: %s", row_with("━ b.log s6"));
	ui_shared(ui)->marks.n = 0;
	ui_shared(ui)->reference = NULL;
}

/* Telemetry is shown with its age, and grey when it is old. */
static void test_age(void)
{
	const struct telemetry told = { .gpu_util = 37,
					.gpu_power_w = 73,
					.gpu_mem_mib = RUN_ABSENT,
					.gpu_temp_c = RUN_ABSENT,
					.gpu_sm_mhz = RUN_ABSENT,
					.gpu_throttle = RUN_ABSENT,
					.host_load = RUN_ABSENT,
					.disk_free_bytes = RUN_ABSENT };

	is_near(model_pod_age_s(&model.pods[0], T0), RUN_ABSENT, 0, "no age without telemetry");
	model_pod_set_state(&model, 0, POD_LIVE, NULL, 0);
	(void)model_pod_add(&model, "pod-b", "local");
	model_pod_set_telemetry(&model, 0, &told, T0);
	ui_set_now(ui, T0 + 10000, 1000);
	press('7');
	press('j');
	ok(shows("pod-a   ", " 10 s ") && style_of(" 73 ") != STYLE_DIM,
	   "recent telemetry is not grey: %s", row_with("pod-a   "));
	ui_set_now(ui, T0 + 720000, 720000);
	press('7');
	ok(shows("pod-a   ", " 12 min ") && style_of("73 ") == STYLE_DIM,
	   "old telemetry is grey, with its age: %s", row_with("pod-a   "));
	canvas_resize(&canvas, 200, 60);
	press('1');
	ok(shows("▶ pod-a", " 37 "), "the fleet shows old telemetry: %s", row_with("▶ pod-a"));
	canvas_resize(&canvas, 160, 40);
}

/* Add a run of a trainer without a rule: it has series under their printed names. */
static struct model_run *add_trainer(const char *path, double above)
{
	static const char *const names[] = { "loss", "cri, \"b\"" };
	struct model_run *mr = add_run(path, RUN_ABSENT);
	struct run *run = &mr->run;

	run->series = calloc(2, sizeof(*run->series));
	for (size_t k = 0; k < 2; k++) {
		struct run_series *series = &run->series[run->n_series++];

		(void)snprintf(series->name, sizeof(series->name), "%s", names[k]);
		(void)snprintf(series->unit, sizeof(series->unit), "%s", k == 0 ? "BPC" : "");
		series->metric = METRIC_COUNT;
		series->points = 50;
		series->last = 1.5 + above + (double)k;
	}
	for (int i = 1; i <= 100; i++) {
		const struct sample sample = { .metric = METRIC_COUNT,
					       .name = names[(i + 1) % 2],
					       .step = (i + 1) / 2 * 10,
					       .train_ms = RUN_ABSENT,
					       .value = 1.5 + above + (i + 1) % 2 };

		model_run_sample(&model, mr, &sample);
	}
	run->steps = 500;
	run->planned_steps = 2000;
	run->step_ms_median = 400;
	return mr;
}

/* Runs that stay in the model until the end of the test. */
static struct model_run *hidden[8];
static size_t n_hidden;

/* The figures of a trainer are shown, and no others. */
static void test_trainer(void)
{
	struct model_run *a, *b;

	n_hidden = model.n_runs;
	for (size_t i = 0; i < n_hidden; i++) {
		hidden[i] = model.runs[i];
		hidden[i]->pod = 1;
	}
	model.n_runs = 0;
	a = add_trainer("/x/t/a.log", 0);
	b = add_trainer("/x/t/b.log", 0.25);
	ui_shared(ui)->selected = a;
	press('1');
	ok(strstr(row_with("RUN "), "BPB") == NULL && strstr(row_with("RUN "), "SEED") == NULL &&
		   strstr(row_with("RUN "), "STEP  ms/step") != NULL,
	   "columns without a figure are hidden: %s", row_with("RUN "));
	ok(shows("a.log ", "   500    400.0 ") && shows("a.log ", "loss 1.5 "),
	   "step, speed and the run's own loss are shown: %s", row_with("a.log "));
	ok(shows("a.log ", "step 500/2,000"), "the state of the run is its progress");
	ok(shows("500 / 2,000", "about 10 min left"), "planned steps are forecast: %s",
	   row_with("500 / 2,000"));
	ok(row_with("16,000,000")[0] == '\0', "caps of a track do not apply to the run");
	ok(row_with("loss (BPC) over step")[0] != '\0',
	   "the chart has the metric's name, its unit and a suitable axis");
	press(']');
	ok(row_with("cri, \"b\" over step")[0] != '\0' && shows("b.log ", "cri, \"b\" 2.75 "),
	   "the next metric is the run's next series: %s", row_with("b.log "));
	press('2');
	ok(row_with("cri, \"b\" over step")[0] != '\0' &&
		   row_with("loss (BPC) over step")[0] != '\0' && row_with("no BPB")[0] == '\0',
	   "the run has a chart for each series, and no empty one");
	ok(row_with("median 400.00 ms/step")[0] != '\0' && row_with("train ")[0] == '\0',
	   "a median is labelled as such, and gives no training time");
	press('[');
	press('1');
	press(' ');
	ui_shared(ui)->reference = b;
	press('4');
	ok(shows("━ a.log", "1.5000  −0.2500"), "two runs are compared by the printed metric: %s",
	   row_with("━ a.log"));
	press('h');
	ok(shows("━ a.log", "1.5000  −0.2500"), "two runs are compared under the cursor: %s",
	   row_with("━ a.log"));
	press(KEYCODE_PAGE_UP);
	is_near(ui_shared(ui)->chart.cursor, 0.9, 1e-6, "the cursor moves by pages");
	press('0');
	ok(row_with("Gap to reference (BPC)")[0] != '\0' && row_with("is better")[0] == '\0',
	   "it is not assumed that lower or higher is better");
	b->run.status = RUN_FINISHED;
	press('3');
	ok(row_with("by loss, lower is better")[0] != '\0' && shows(" t ", "1.75000"),
	   "groups are ranked by loss: %s", row_with(" t "));
}

/* Add a run of 3,000 steps that loses 0.0001 nats per step. */
static struct model_run *add_validated(const char *path, double end, double last)
{
	struct model_run *mr = add_run(path, RUN_ABSENT);
	struct run_series *series = run_series_get_metric(&mr->run, METRIC_VAL_LOSS);

	for (double step = 250; step <= last; step += 250) {
		const struct sample sample = { .metric = METRIC_VAL_LOSS,
					       .step = step,
					       .train_ms = step * 100,
					       .value = end + (3000 - step) * 1e-4 };

		model_run_sample(&model, mr, &sample);
		run_series_add(series, sample.value, step);
		mr->run.last_val_loss = sample.value;
	}
	mr->run.steps = last;
	mr->run.status = last < 3000 ? RUN_RUNNING : RUN_FINISHED;
	return mr;
}

/* Show the step at which a live run crosses its target, and the target in the charts of its metric.
 */
static void test_target(void)
{
	char metric[] = "val_loss";
	struct model_run *live;

	for (int i = 0; i < 3; i++) {
		AUTO_TEXT path = xasprintf("/x/c/crossed%d.log", i);

		(void)add_validated(path, 3.27 - 0.002 * i, 3000);
	}
	live = add_validated("/x/c/live.log", 3.269, 2500);
	ui_shared(ui)->reference = NULL;
	ui_shared(ui)->marks.n = 0;
	ui_shared(ui)->selected = live;
	ui_shared(ui)->chart.metric.id = PLOT_VAL_LOSS;
	press('1');
	ok(row_with("→TARGET")[0] == '\0' && row_with("target 3.28")[0] == '\0',
	   "a track without a target has no forecast and no line");
	track.metric = metric;
	track.target = 3.28;
	ui_shared(ui)->configured++;
	live->changed = ++model.generation;
	ok(shows("live.log", "~2,890±0") && !shows("crossed0.log", "~"),
	   "a live run has a forecast, a finished run has none: %s", row_with("live.log"));
	ok(row_with("target 3.28")[0] != '\0', "the chart of the validation loss has the target");
	press('2');
	ok(row_with("crosses 3.28")[0] != '\0', "the run view has the target: %s",
	   row_with("crosses"));
	track.target = 2.9;
	ok(row_with("target 2.9")[0] == '\0', "a target far below the curve is not drawn");
	press('1');
	track.metric = NULL;
	track.target = NAN;
	ui_shared(ui)->chart.metric.id = 0;
}

/* The label of an x starts at it; the label of the last x ends at it. */
static void test_axis(void)
{
	struct model_run *mr = add_run("/x/v/d.log", 3);

	for (int i = 1; i <= 14; i++) {
		const struct sample sample = { .metric = METRIC_TRAIN_LOSS,
					       .step = i,
					       .train_ms = i * 1000,
					       .value = 3.0 + 1.0 / i };

		model_run_sample(&model, mr, &sample);
	}
	mr->run.last_val_loss = mr->run.last_val_bpb = 1;
	ui_shared(ui)->selected = mr;
	ui_shared(ui)->chart.metric.id = 0;
	ui_shared(ui)->reference = NULL;
	press('2');
	ok(row_with("10s")[0] != '\0' && row_with("00s")[0] == '\0',
	   "a run of 14 s has its own axis: %s", row_with("s─"));
	mr->run.status = RUN_FINISHED;
	ok(row_with("─5s─")[0] != '\0' && row_with("10s")[0] != '\0',
	   "the axis of a finished run ends with the run: %s", row_with("s─"));
}

/* Add a run of 200 rows at about 100 ms, `slow` of them at another speed. */
static void add_paced(const char *path, int before, int slow, double ms)
{
	struct model_run *mr = add_run(path, 4);

	for (int i = 1; i <= 200; i++) {
		bool is_slow = i > before && i <= before + slow;
		const struct sample sample = { .metric = METRIC_MS_PER_STEP,
					       .step = i,
					       .train_ms = i * 100,
					       .value = is_slow ? ms : 100 + i % 3 };

		model_run_sample(&model, mr, &sample);
	}
	ui_shared(ui)->selected = mr;
	press('2');
}

/* A single row does not determine the axis; a longer slow section does. */
static void test_spike(void)
{
	ui_shared(ui)->chart.metric.id = PLOT_MS_STEP;
	for (ui_shared(ui)->chart.smoothing = 0; ui_shared(ui)->chart.smoothing < 3;
	     ui_shared(ui)->chart.smoothing++) {
		add_paced("/x/w/spike.log", 120, 1, 5000);
		ok(row_with("101")[0] != '\0' && row_with("00 |")[0] == '\0',
		   "a spike is outside the chart: %s", row_with("100"));
		add_paced("/x/w/slow.log", 120, 30, 5000);
		ok(row_with("4000")[0] != '\0', "a slow section is inside the chart");
		add_paced("/x/w/hiccup.log", 120, 1, 103);
		ok(row_with("103")[0] != '\0', "missing values are ignored");
		/* Slow rows at the end are drawn: the run may stay slow. */
		add_paced("/x/w/late.log", 192, 8, 5000);
		ok(row_with("4000")[0] != '\0', "a slow last row is not ignored");
	}
}

/* A name that is too long loses whole characters, and keeps its seed. */
static void test_label(void)
{
	char name[200] = "";
	struct model_run mr = { .name = name, .run.seed = 7 };

	for (size_t i = 0; i < 3; i++) {
		(void)memset(name, 'a', i);
		for (size_t k = i; k + 3 < sizeof(name); k += 3)
			(void)memcpy(name + k, "\xe6\x97\xa5", 3);
		struct plot_label label = plot_run_label(&mr);
		const char *end = strchr(label.s, ' ');

		ok(end != NULL && strcmp(end, " s7") == 0 && (size_t)(end - label.s) % 3 == i &&
			   end - label.s > 85,
		   "no character is cut in two: %s", label.s);
	}
}

/* The reason of a failure is shown where the run is shown. */
static void test_cause(void)
{
	static const char *const texts[] = {
		"RuntimeError: NCCL is away",
		"torch.distributed.elastic.multiprocessing.errors.ChildFailed",
	};
	struct model_run *mr = add_trainer("/x/u/c.log", 0);

	mr->run.events = calloc(3, sizeof(*mr->run.events));
	mr->run.events[0] =
		(struct run_event){ 3, RUN_EVENT_TRACEBACK, 100, strdup("ValueError: old") };
	for (size_t i = 1; i < 3; i++)
		mr->run.events[i] = (struct run_event){ 20 + i, RUN_EVENT_TRACEBACK, 500,
							strdup(texts[i - 1]) };
	mr->run.n_events = 3;
	mr->run.last_step = 500;
	mr->run.status = RUN_CRASHED;
	press('1');
	ok(shows("c.log ", "RuntimeError at 500: NCCL is away"),
	   "a crash is shown with its exception, not an earlier or later one: %s",
	   row_with("c.log "));
	mr->run.status = RUN_KILLED;
	ok(shows("c.log ", "killed at 500"), "a killed run is shown with that word");
	mr->run.events[2].kind = RUN_EVENT_OOM;
	mr->run.events[2].step = 300;
	ui_shared(ui)->selected = mr;
	press('1');
	ok(row_with("traceback")[0] != '\0' && row_with("oom")[0] != '\0',
	   "each event of the run is marked");
}

/* Runs of one path on two pods, and scores without a log: each line of the board can be selected
 * and opened separately. */
static void test_twins(struct ui_setup *setup)
{
	static const double scores[] = { 1.11, 1.14, 1.19 };
	static const struct ui_baseline baseline = { "typed", scores, 3, NAN };
	struct model_run *twins[2];

	(void)model_pod_add(&model, "pod-b", "local");
	for (size_t i = 0; i < 2; i++) {
		twins[i] = model_run_get(&model, i, "/x/twin/train.log", 0);
		twins[i]->run.seed = 700 + (double)i;
		twins[i]->run.status = RUN_FINISHED;
		twins[i]->run.final_bpb = 1.0001 + (double)i * 1e-3;
		twins[i]->run.train_ms = 1000;
	}
	setup->baseline = &baseline;
	ui_configure(ui, setup);
	press('3');
	press('g');
	press('\r');
	press(KEYCODE_DOWN);
	ok(ui_shared(ui)->selected == twins[0] && row_with("seed 701")[0],
	   "the first of two runs of one path is selected");
	press(KEYCODE_DOWN);
	ok(ui_shared(ui)->selected == twins[1], "the next row is the other pod's run");
	press(KEYCODE_UP);
	ok(ui_shared(ui)->selected == twins[0], "Up selects the first run again");
	press(KEYCODE_DOWN);
	press(' ');
	ok(shows("seed 701", "+") && !shows("seed 700", "+"), "a mark is shown at its own run: %s",
	   row_with("seed 700"));
	press(' ');
	press('\r');
	ok(row_with("pod pod-b")[0], "Enter opens the selected run");
	press('3');
	press('g');
	press('/');
	for (const char *p = "typed\r"; *p != '\0'; p++)
		press((uint32_t)*p);
	press('\r');
	press(KEYCODE_DOWN);
	ok(style_of("1.11000") == STYLE_STRONG, "a score is selected");
	press(KEYCODE_DOWN);
	ok(style_of("1.14000") == STYLE_STRONG, "Down selects the next score");
	press(KEYCODE_UP);
	ok(style_of("1.11000") == STYLE_STRONG, "Up selects the previous score");
	press(27);
	press('1');
	setup->baseline = NULL;
	ui_configure(ui, setup);
	press('3');
	ok(!shows("twin", "BASELINE"), "no group is the baseline");
	press('1');
	ui_shared(ui)->selected = twins[0];
	press('R');
	press('3');
	ok(shows("◆ twin", "BASELINE"),
	   "the group of a run becomes the baseline in another view: %s", row_with("twin"));
	press('G');
	ok(shows("no run counted: ", "not finished") && row_with("· mean ")[0] == '\0',
	   "a group without a mean shows why no run counts: %s", row_with("no run counted"));
	press('1');
	press('R');
}

/* Gains sorted by value, including their signs. */
static void test_harness_order(void)
{
	static const double gains[] = { -5, 12.5, 9 };
	static const char *const ids[] = { "run-a", "run-b", "run-c" };
	char title[] = "here";
	struct harness_run runs[3] = { 0 };
	struct harness_place place = { .title = title,
				       .ws = { .runs = runs, .n_runs = 3 },
				       .read = true };
	struct harness_view view = { &place, 1, 1 };
	size_t rows[3];

	for (size_t i = 0; i < 3; i++) {
		runs[i].id = ids[i];
		runs[i].baseline_pct = (struct harness_number){ true, gains[i] };
	}
	model.harness = &view;
	press('8');
	for (int i = 0; i < 9 && !row_with("sorted by vs. base")[0]; i++)
		press('s');
	for (size_t i = 0; i < 3; i++)
		rows[i] = place_of(ids[i]);
	ok(rows[0] < rows[2] && rows[2] < rows[1], "the smallest gain is first: %zu %zu %zu",
	   rows[0], rows[2], rows[1]);
	press('1');
	model.harness = NULL;
}

static char copied[200];

static int keep_copy(void *user, const struct command *command, char said[200], struct err *err)
{
	(void)user;
	(void)said;
	(void)err;
	(void)snprintf(copied, sizeof(copied), "%s",
		       command->id == COMMAND_COPY ? command->text : "");
	return 0;
}

/* Copying a run copies what its row shows. */
static void test_copy(struct ui_setup *setup, const struct model_run *mr)
{
	setup->sink.execute = keep_copy;
	ui_configure(ui, setup);
	ui_shared(ui)->selected = mr;
	press('1');
	press('y');
	ok(copied[0] == '\0', "y asks what to copy");
	press('\r');
	ok(strstr(copied, "\t100.00 ms/step\t") != NULL,
	   "a copy has the step time that the log does not print: %s", copied);
}

/* --read-only only disables actions on pods. */
static void test_read_only(void)
{
	ui_shared(ui)->read_only = true;
	press('7');
	press('r');
	ok(row_with("--read-only")[0] == '\0', "connecting is allowed");
	press('a');
	ok(shows("not available", "with --read-only"), "an audit is not allowed");
	ok(!shows(" q quit", "audit"), "the key of an audit is not shown: %s", row_with(" q quit"));
	press('1');
	ui_shared(ui)->read_only = false;
}

/* The Board computes its rows only after a change: it never shows an older figure, run or fold. */
static void test_board_age(void)
{
	struct model_run *mr = add_run("/x/fresh/a.log", 901);

	mr->run.status = RUN_FINISHED;
	mr->run.final_bpb = 1.2345;
	press('3');
	press('/');
	for (const char *p = "fresh\r"; *p != '\0'; p++)
		press((uint32_t)*p);
	press('\r');
	ok(shows("seed 901", "1.23450"), "a group unfolds: %s", row_with("seed 901"));
	mr->run.final_bpb = 1.3456;
	model_note_change(&model, MODEL_RUNS);
	ui_set_now(ui, T0, ui_shared(ui)->now_mono_ms + 2000);
	ok(shows("seed 901", "1.34560") && shows(" fresh ", "1.34560"),
	   "the new score of a run is shown in its row and its group's: %s", row_with("seed 901"));
	(void)add_run("/x/fresh/b.log", 902);
	model_note_change(&model, MODEL_RUNS);
	ui_set_now(ui, T0, ui_shared(ui)->now_mono_ms + 2000);
	ok(shows("seed 902", "running"), "a new run gets a row: %s", row_with("seed 902"));
	press('g');
	press(KEYCODE_DOWN);
	press(' ');
	ok(shows("seed 901", "+"), "a mark is shown: %s", row_with("seed 901"));
	press(' ');
	ok(!shows("seed 901", "+"), "a removed mark is not: %s", row_with("seed 901"));
	press('g');
	press('\r');
	ok(row_with("seed 90")[0] == '\0', "the group folds again: %s", row_with("seed 90"));
	press(27);
	press('1');
}

int main(void)
{
	struct keymap keymap;
	struct ui_setup setup = { .model = &model,
				  .track = &track,
				  .alerts = &alerts,
				  .keymap = &keymap,
				  .charset = CHART_ASCII };
	struct model_run *mr, *done;

	model_init(&model);
	alerts_init(&alerts);
	keymap_init(&keymap);
	canvas_init(&canvas);
	canvas_resize(&canvas, 160, 40);
	(void)model_pod_add(&model, "pod-a", "local");
	mr = add_run("/x/r/a.log", 42);
	done = add_run("/x/r/b.log", 1234);
	add_rows(mr, 0);
	add_rows(done, 0);
	ui = ui_new(&setup);
	ui_set_now(ui, T0, 0);
	test_stage(mr, done);
	test_gap();
	test_age();
	test_trainer();
	test_target();
	test_cause();
	test_label();
	test_axis();
	test_spike();
	test_twins(&setup);
	test_harness_order();
	mr->run.ms_per_step = RUN_ABSENT;
	mr->run.train_batch_tokens = 1000;
	mr->run.tok_s_last = mr->run.tok_s_interval = 10000;
	test_copy(&setup, mr);
	test_read_only();
	test_board_age();
	ui_free(ui);
	canvas_release(&canvas);
	alerts_release(&alerts);
	for (size_t i = 0; i < n_hidden; i++)
		xpush(model.runs, model.n_runs, model.cap_runs, hidden[i]);
	model_release(&model);
	return tap_done();
}
