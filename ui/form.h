/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/prompt.h"

/*
 * The form that defines an A/B bench: one line a field.  The list makes the
 * keys of its JSON, the labels, what stands there at first and the hints.
 *
 *	key, at first, hint
 */
#define FORM_LIST(X)                                                        \
	X(name, "ab", "of the bench; letters, digits, _ . -")               \
	X(pods, "", "names, a comma between")                               \
	X(folder, "", "where the command runs on the pods")                 \
	X(command, "", "what a run is, for sh -c")                          \
	X(control, "A", "tag NAME=value .. [-- another command]")           \
	X(variant, "B", "the same; what is held against the control")       \
	X(variant2, "", "a third arm, or nothing")                          \
	X(metric, "step_ms", "step_ms, or a JSON key and lower or higher")  \
	X(window, "20:100", "first:last step, auto; nothing for a score")   \
	X(blocks, "6", "of each pod; 3 at least, 6 for a fair test")        \
	X(aa, "yes", "the control once more, to know the noise: yes or no") \
	X(minutes, "60", "at most")

enum form_field {
#define X(key, first, hint) FORM_##key,
	FORM_LIST(X)
#undef X
		FORM_COUNT
};

struct form {
	struct prompt fields[FORM_COUNT];
	size_t at;
	bool begun;    /* it holds what was typed; else it is new */
	char why[240]; /* what is wrong with it; "" nothing is known */
};

void form_release(struct form *form);
/* Begin where it was left, on these pods ("a,b"; "" leaves them). */
void form_open(struct form *form, const char *pods);
/* PROMPT_DONE: go on with it; PROMPT_CANCEL: leave it. */
enum prompt_result form_key(struct form *form, uint32_t code);
/* As one JSON object of texts. */
void form_json(const struct form *form, struct buf *out);
/* Draw into rect, two lines more than fields; returns the cursor's column. */
int form_draw(const struct form *form, struct canvas *canvas, struct rect rect, int *cursor_y);
