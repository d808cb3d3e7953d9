/* SPDX-License-Identifier: MIT */
/* The list of alerts and events, drawn over a model built by the test. */
#include <string.h>

#include "tests/support/screen.h"

/* Add an event for a new alert, as the application does. */
static void on_new(void *user, const struct alert *alert)
{
	char text[] = "b s1: as it was then";
	struct model_event event = { .wall_ms = alert->since_wall_ms,
				     .severity = alert->severity,
				     .pod = alert->pod,
				     .mr = alert->mr,
				     .text = text,
				     .alert = alert->number,
				     .kind = alert_name(alert->kind) };

	(void)user;
	model_event_add(&model, &event);
}

static void note(int64_t wall_ms, const char *words)
{
	char text[80];
	struct model_event event = { .wall_ms = wall_ms, .pod = MODEL_NONE, .text = text };

	(void)snprintf(text, sizeof(text), "%s", words);
	model_event_add(&model, &event);
}

static void test_one_line(struct model_run *mr)
{
	note(T0, "something else");
	alerts_update(&alerts, &model, NULL, T0 + 130000);
	press('!');
	ok(shows("no output for 130 s", "13:20:00 !  stall"),
	   "an open alert is a line: since when, open, reason");
	ok(!shows("as it was then", "event") && !shows("as it was then", "over"),
	   "an alert does not add an event");
	ok(place_of("no output") < place_of("something else"), "an open alert is above the events");
	press('a');
	ok(shows("no output for 130 s", "13:20:00 ok stall"), "an acknowledged alert is marked");
	model_run_touch(&model, mr, T0 + 131000, true);
	alerts_update(&alerts, &model, NULL, T0 + 131000);
	ok(shows("as it was then", "13:20:00 end of stall") && place_of("no output") == SIZE_MAX,
	   "when its cause is gone, an alert becomes a past alert");
	alerts_update(&alerts, &model, NULL, T0 + 300000);
	ok(shows("no output", "13:22:11 !  stall") &&
		   shows("as it was then", "13:20:00 end of stall"),
	   "a later alert gets another line");
	press('\r');
	ok(ui_shared(ui)->selected == mr && place_of("kind") == SIZE_MAX,
	   "Enter goes to the run of the alert");
	press('!');
	ui_set_now(ui, T0 + INT64_C(86400000), 1000);
	ok(shows("something else", "Jan 15   event"), "a line of another day shows the date");
	press(27);
}

/* An acknowledged alert is below an open one. */
static void test_order(void)
{
	alerts_acknowledge(&alerts);
	model_pod_set_state(&model, model_pod_add(&model, "c", "local"), POD_REFUSED, "no key", 0);
	alerts_update(&alerts, &model, NULL, T0 + 301000);
	press('!');
	ok(place_of("no key") < place_of("no output"), "open alerts come first");
	press(27);
}

/* Lines after the end of a run end it again, but the end is reported once. */
static void test_once(struct model_run *mr)
{
	static const char *const words[] = { "b: finished", "b: finished", "b: running",
					     "b: finished", "b: finished" };
	char text[80];
	struct model_event event = { .wall_ms = T0, .mr = mr, .text = text };
	size_t before = model.n_events;

	for (size_t i = 0; i < LENGTH(words); i++) {
		(void)snprintf(text, sizeof(text), "%s", words[i]);
		model_event_add(&model, &event);
		note(T0, "something else again");
	}
	is_int((long long)(model.n_events - before), 3 + (long long)LENGTH(words),
	       "the last report on a run is not repeated");
	event.alert = 77;
	model_event_add(&model, &event);
	model_event_add(&model, &event);
	is_int((long long)(model.n_events - before), 5 + (long long)LENGTH(words),
	       "each alert is reported again");
}

/* A key without a function in this view is reported; its hint is not shown. */
static void test_no_use(void)
{
	press('1');
	press('f');
	is_str(ui_shared(ui)->said, "follow does nothing in Fleet; use it in Logs",
	       "a key of another view is reported");
	press('2');
	press('y');
	is_str(ui_shared(ui)->said, "copy does nothing in Run",
	       "a global key without a function in this view is reported");
	ok(strstr(row_with("? help"), "copy") == NULL, "a key without a function is not offered");
	press(' ');
	ok(strstr(ui_shared(ui)->said, "is marked") != NULL, "marks on hidden rows are counted");
	press(' ');
	model.n_reading = 203;
	model.n_read = 60;
	press('1');
	ok(strstr(row_with("reading"), "reading 61 of 203 logs") != NULL,
	   "a backlog shows its progress");
	model.n_reading = model.n_read = 0;
}

int main(void)
{
	struct keymap keymap;
	struct ui_setup setup = {
		.model = &model, .alerts = &alerts, .keymap = &keymap, .charset = CHART_ASCII
	};
	struct model_run *mr;

	model_init(&model);
	alerts_init(&alerts);
	alerts.on_new = on_new;
	keymap_init(&keymap);
	canvas_init(&canvas);
	canvas_resize(&canvas, 100, 30);
	mr = model_run_get(&model, model_pod_add(&model, "b", "local"), "/x/b.log", 0);
	mr->run.status = RUN_RUNNING;
	model_run_touch(&model, mr, T0, true);
	ui = ui_new(&setup);
	ui_set_now(ui, T0 + 130000, 0);
	test_one_line(mr);
	test_order();
	test_no_use();
	test_once(mr);
	ui_free(ui);
	canvas_release(&canvas);
	alerts_release(&alerts);
	model_release(&model);
	return tap_done();
}
