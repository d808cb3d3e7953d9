/* SPDX-License-Identifier: MIT */
/* From marked pods to a bench: a file to pick, or the form; over any view. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/overlay.h"

#define FORM_ID	     1
#define PLAN_ID_BASE 10

bool
ui_is_pod_marked(const struct ui_shared *shared, size_t pod)
{
	for (size_t i = 0; i < shared->n_pod_marks; i++)
		if (shared->pod_marks[i] == pod)
			return true;
	return false;
}

void
ui_toggle_pod(struct ui_shared *shared, size_t pod)
{
	for (size_t i = 0; i < shared->n_pod_marks; i++) {
		if (shared->pod_marks[i] != pod)
			continue;
		memmove(shared->pod_marks + i, shared->pod_marks + i + 1,
			(shared->n_pod_marks - i - 1) *
				sizeof(shared->pod_marks[0]));
		shared->n_pod_marks--;
		return;
	}
	if (shared->n_pod_marks == UI_MAX_POD_MARKS) {
		ui_say(shared, "at most %d pods can be marked",
		       UI_MAX_POD_MARKS);
		return;
	}
	shared->pod_marks[shared->n_pod_marks++] = pod;
}

char *
ui_pod_names(const struct ui_shared *shared, size_t pod)
{
	const struct model *model = shared->model;
	struct buf names;
	char *result;

	buf_init(&names, 65536);
	for (size_t i = 0; i < shared->n_pod_marks; i++)
		if (shared->pod_marks[i] < model->n_pods)
			buf_appendf(&names, "%s%s", names.len > 0 ? "," : "",
				    model->pods[shared->pod_marks[i]].name);
	if (names.len == 0 && pod < model->n_pods)
		buf_append_str(&names, model->pods[pod].name);
	result = xstrdup(names.data);
	buf_release(&names);
	return result;
}

static void
open_form(struct ui *ui)
{
	form_open(&ui->form, ui->bench_pods);
	ui->overlay = OVERLAY_FORM;
}

void
overlay_bench_open(struct ui *ui, const char *pods)
{
	const struct model *model = ui->shared.model;
	size_t plans = 0;

	if (ui->shared.read_only) {
		ui_say(&ui->shared, "--read-only: nothing that acts on a pod");
		return;
	}
	free(ui->bench_pods);
	ui->bench_pods = xstrdup(pods);
	pick_clear(&ui->pick);
	prompt_set(&ui->pick.prompt, "");
	pick_add(&ui->pick, "", "a new one",
		 "fill a form: variants, metric, blocks, window", FORM_ID);
	for (size_t i = 0; i < model->n_benches; i++) {
		const struct model_bench *bench = &model->benches[i];

		if (!bench->is_plan || strcmp(bench->state, "plan") != 0)
			continue;
		pick_add(&ui->pick, "", bench->name, bench->id,
			 PLAN_ID_BASE + (int)i);
		plans++;
	}
	pick_update(&ui->pick);
	ui->overlay = OVERLAY_BENCH;
	if (plans == 0)
		open_form(ui);
}

void
overlay_bench_picked(struct ui *ui, int id)
{
	const struct model *model = ui->shared.model;
	size_t i = (size_t)(id - PLAN_ID_BASE);
	struct command command = { .id = COMMAND_BENCH_START };

	ui->overlay = OVERLAY_NONE;
	if (id == FORM_ID) {
		open_form(ui);
		return;
	}
	if (id < PLAN_ID_BASE || i >= model->n_benches ||
	    !model->benches[i].is_plan)
		return;
	command.name = xstrdup(model->benches[i].id);
	if (ui->bench_pods[0] != '\0') {
		command.id = COMMAND_BENCH_PODS;
		command.text = xstrdup(ui->bench_pods);
	}
	overlay_ask(ui, &command);
}

/* Show what it would run; what is wrong with it stands below its fields. */
static void
submit(struct ui *ui)
{
	struct command command = { .id = COMMAND_BENCH_FORM };
	struct buf text;

	buf_init(&text, 65536);
	form_json(&ui->form, &text);
	command.text = buf_detach(&text);
	buf_release(&text);
	ui->overlay = OVERLAY_NONE;
	ui->shared.said[0] = '\0';
	overlay_ask(ui, &command);
	if (ui->overlay != OVERLAY_NONE)
		return;
	(void)snprintf(ui->form.why, sizeof(ui->form.why), "%s",
		       ui->shared.said);
	ui->overlay = OVERLAY_FORM;
}

void
overlay_form_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result = form_key(&ui->form, key->code);

	if (result == PROMPT_DONE)
		submit(ui);
	else if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
}
