/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_HARNESS_PANELS_H
#define HGYM_UI_HARNESS_PANELS_H

#include "model/harness_view.h"
#include "ui/panel.h"

/* Parts of the Harness view; view_harness.c puts them together. */

/* What is selected there. */
struct harness_pick {
	const struct harness_place *place; /* NULL: nothing is followed */
	const struct harness_run *run;	   /* NULL: a comparison, or none yet */
	const struct harness_iteration *it; /* NULL: none yet */
};

/* What the panel beside the chart shows; then come the texts. */
enum harness_detail {
	HARNESS_DETAIL_CASES,
	HARNESS_DETAIL_WORDS, /* what the lines above have no room for */
	HARNESS_DETAIL_CALLS,
	HARNESS_DETAIL_ARTIFACTS,
	HARNESS_DETAIL_TEXTS, /* + index of harness_view_texts */
};

#define HARNESS_MAX_TEXTS 16

/* Lines of words about the run; returns how many it took. */
int harness_panel_facts(struct canvas *canvas, struct rect rect,
			const struct harness_pick *pick);
/* Scores by iteration: verified filled, all else hollow. */
void harness_panel_chart(struct canvas *canvas, struct rect rect,
			 const struct harness_run *run);
/*
 * One of the details; of a text the end, *up lines back, which is made as few
 * as there are.
 */
void harness_panel_detail(struct canvas *canvas, struct rect rect,
			  const struct harness_pick *pick, unsigned int detail,
			  size_t *up);
/* harness_text.c: its end, long lines folded, *up lines back as above. */
void harness_panel_text(struct canvas *canvas, struct rect rect,
			struct str text, size_t *up);
/* All facts of the run and of the iteration, folded. */
void harness_panel_words(struct canvas *canvas, struct rect rect,
			 const struct harness_pick *pick, size_t *up);
/* How many details there are for what is picked. */
unsigned int harness_detail_count(const struct harness_pick *pick);
/* The trials of a comparison, its groups and what may be said of them. */
void harness_panel_compare(struct canvas *canvas, struct rect rect,
			   const struct harness_compare *compare);

#endif
