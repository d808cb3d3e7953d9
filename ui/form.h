/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/prompt.h"

/*
 * The form that defines an A/B bench, one line per field.
 *
 *	key in form_json(), label, initial text, hint
 */
#define FORM_LIST(X)                                                                             \
	X(name, "name", "ab", "name of the bench: letters, digits, _ . -")                       \
	X(pods, "pods", "", "names of pods, separated by commas")                                \
	X(folder, "folder", "", "directory on the pods in which the command runs")               \
	X(command, "command", "", "shell command for one run, e.g. python3 train.py")            \
	X(control, "control", "A",                                                               \
	  "e.g. A, A LR=0.1 (a setting), or A=python3 a.py (its own command)")                   \
	X(variant, "variant", "B", "compared with the control, e.g. B LR=0.2 or B=python3 b.py") \
	X(variant2, "variant 2", "", "second variant, or empty")                                 \
	X(metric, "metric", "step_ms",                                                           \
	  "step_ms, wall_s (whole runs), or a key of the run's JSON output")                     \
	X(window, "window", "20:100",                                                            \
	  "first:last step to measure, or auto; empty unless metric is step_ms")                 \
	X(blocks, "blocks", "6", "blocks per pod: at least 3 for a verdict, 6 for a good test")  \
	X(aa, "A/A arm", "auto",                                                                 \
	  "the control, run twice per block: auto (while its noise is unknown), yes, no")        \
	X(minutes, "minutes", "60", "time limit in minutes")

#define FORM_ID(key, ...) FORM_##key,
enum form_field { FORM_LIST(FORM_ID) FORM_COUNT };

struct form {
	struct prompt fields[FORM_COUNT];
	size_t at;
	bool is_filled; /* the fields have texts that form_open() must keep */
	char why[240];	/* error of the last submit; "": none */
};

void form_release(struct form *form);
/* Open the form with its last content, and with these pods ("a,b"), unless pods is "". */
void form_open(struct form *form, const char *pods);
/* Fill in the fields from JSON that form_json wrote. */
void form_fill(struct form *form, const char *json);
/* Handle a key. After PROMPT_DONE, submit the form; after PROMPT_CANCEL, close it. */
enum prompt_result form_key(struct form *form, uint32_t code);
/* Show the error of a submit, with the cursor in its field. */
void form_set_error(struct form *form, const char *why);
/* Append the form as one JSON object of strings. */
void form_json(const struct form *form, struct buf *out);
/* Draw the fields, and two lines for the hint and the keys. Returns the cursor's column. */
int form_draw(const struct form *form, struct canvas *canvas, struct rect rect, int *cursor_y);
