/* SPDX-License-Identifier: MIT */
/* The tail of a log in the model: lines, and a look ahead of them. */
#include "config.h"

#include "model/model.h"
#include "tests/support/tap.h"

static void
is_tail(const struct model_log *log, const char *want, const char *name)
{
	char got[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < logtail_count(log->tail); i++) {
		const struct logtail_line *line = logtail_at(log->tail, i);

		len += (size_t)snprintf(
			got + len, sizeof(got) - len, "%llu:%s ",
			(unsigned long long)line->line, line->text);
	}
	is_str(got, want, name);
}

int
main(void)
{
	struct model model;
	struct model_log *log;
	uint64_t before;

	model_init(&model);
	log = model_log_get(&model, model_pod_add(&model, "p", "here"),
			    "a.log");
	model_log_line(&model, log, 1, STR_LIT("one"), LINE_METRIC);
	is_tail(log, "1:one ", "a line");
	model_log_ahead(&model, log, STR_LIT("far"));
	model_log_ahead(&model, log, STR_LIT("away"));
	is_tail(log, "0:far 0:away ", "a look ahead takes its place");
	before = model.n_lines;
	model_log_line(&model, log, 2, STR_LIT("two"), LINE_PLAIN);
	model_log_line(&model, log, 3, STR_LIT("three"), LINE_PLAIN);
	is_tail(log, "2:two 3:three ", "the lines in order take it back");
	is_int((long long)(model.n_lines - before), 2, "views see the change");
	model_release(&model);
	return tap_done();
}
