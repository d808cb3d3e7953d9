/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_LOGS_IMPL_H
#define HGYM_UI_LOGS_IMPL_H

#include "ui/logpage.h"
#include "ui/prompt.h"
#include "ui/view.h"

/* What view_logs.c and logs_title.c share; nobody else includes it. */
struct logs {
	struct logpage page;
	const struct model_log *picked; /* by J and K; NULL: the run's */
	const struct model_run *of_run; /* selected when it was picked */
	bool is_open, merged;
	bool stays;    /* with a log that was rotated before it was opened */
	bool to_begin; /* as soon as the begin is known */
	struct pattern *pattern; /* owned; of the search */
	struct pattern *errors;	 /* owned */
	char filter_text[PROMPT_BYTES + 1];
	/* A search that goes on in the background. */
	const struct pattern *searching;
	bool forward;
	uint64_t search_at;
	const struct pattern *searched; /* last; to compare, not to use */
};

/* The frame around the log, and in it which one, how much and what of it. */
void logs_draw_title(const struct logs *logs, const struct ui_shared *shared,
		     struct canvas *canvas, struct rect r);

#endif
