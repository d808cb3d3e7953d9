/* SPDX-License-Identifier: MIT */
/* What a preflight said of a pod, kept for the screen. */
#include "config.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "model/model_priv.h"

#define LINE_BYTES 2000U

void
model_check_release(struct model_check *check)
{
	for (size_t i = 0; i < check->n_lines; i++)
		free(check->lines[i]);
	*check = (struct model_check){ 0 };
}

void
model_check_add(struct model_check *check, struct str line)
{
	struct buf clean;

	if (check->n_lines == MODEL_CHECK_LINES)
		return;
	buf_init(&clean, LINE_BYTES);
	utf8_sanitize(&clean, line);
	check->lines[check->n_lines++] = buf_detach(&clean);
}

void
model_pod_checking(struct model *model, size_t pod)
{
	model->pods[pod].check.is_running = true;
	model_note_change(model, MODEL_PODS);
}

void
model_pod_checked(struct model *model, size_t pod, struct model_check *check)
{
	model_check_release(&model->pods[pod].check);
	model->pods[pod].check = *check;
	*check = (struct model_check){ 0 };
	model_note_change(model, MODEL_PODS);
}
