/* SPDX-License-Identifier: MIT */
/* A comparison in words; of pages and of the Harness view. */
#include "config.h"

#include "model/harness_words.h"

void
harness_add_trial(struct buf *text, const struct harness_trial *t)
{
	if (harness_trial_counts(t)) {
		buf_append_str(text, "valid");
	} else if (!t->post.present) {
		buf_append_str(text, "not measured");
	} else {
		buf_append_str(text, "INVALID");
		if (harness_is_finite(t->post.score)) {
			buf_append_str(text, " ");
			harness_add_number(text, t->post.score.value);
		}
		if (t->post.doubt != NULL)
			buf_appendf(text, " (%s)", t->post.doubt);
		if (t->post.failure != HARNESS_FAILURE_NONE)
			buf_appendf(text, " (%s)",
				    harness_failure_class(t->post.failure));
		if (t->post_why != NULL && *t->post_why != '\0')
			buf_appendf(text, ": %s", t->post_why);
	}
	if (t->comparison_valid == HARNESS_NO && t->comparison_why != NULL &&
	    (t->post_why == NULL ||
	     strcmp(t->comparison_why, t->post_why) != 0))
		buf_appendf(text, "; %s", t->comparison_why);
	if (t->error != NULL && *t->error != '\0')
		buf_appendf(text, "; %s", t->error);
}

void
harness_add_group(struct buf *text, const struct harness_group *group)
{
	buf_appendf(text, "%u of %u trials valid", group->valid, group->count);
	if (group->invalid > 0)
		buf_appendf(text, ", %u INVALID", group->invalid);
	if (group->not_run > 0)
		buf_appendf(text, ", %u not measured", group->not_run);
	if (group->median.present) {
		buf_append_str(text, "; median of the valid ");
		harness_add_number(text, group->median.value);
		buf_append_str(text, ", from ");
		harness_add_number(text, group->min.value);
		buf_append_str(text, " to ");
		harness_add_number(text, group->max.value);
	}
}

/* No verdict without replicates. */
void
harness_add_verdict(struct buf *text, const struct harness_compare *compare)
{
	const struct harness_group *a = &compare->groups[0], *b = a + 1;

	if (compare->n_groups < 2)
		buf_append_str(text, "none: only one group has trials");
	else if (a->median.present && b->median.present &&
		 a->min.value == b->min.value && a->max.value == b->max.value &&
		 a->min.value == a->max.value)
		buf_append_str(text, "none: all valid trials are equal");
	else if (a->valid < 5 || b->valid < 5)
		buf_append_str(text, "none: a side has less than 5 valid "
				     "trials");
	else
		buf_append_str(text, "judge the trials' scores by `bench "
				     "judge`");
}
