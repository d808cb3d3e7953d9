/* SPDX-License-Identifier: MIT */
/* A user's rule file with any content is either loaded or rejected with one sentence. A rejected
 * file changes nothing, and the patterns terminate in bounded time. */
#include "parsers/format.h"

#include "parsers/scan.h"
#include "tests/fuzz/fuzz.h"

static const char *const lines[] = {
	"step:5/20 train_loss:3.5 train_time:10ms step_avg:2.0ms",
	"4000/20000 val_loss: 2.9184 val_bpb: 1.1298",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
	"",
	"quantized val_loss:2.84757723 val_bpb:1.10238588 eval_time:7531ms",
};

static void scan_lines(const struct format_set *set)
{
	struct scanner *scanner = scanner_new(set);

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct str line = str_from(lines[i]);
		struct record record;

		if (!scanner_scan(scanner, line, &record))
			continue;
		MUST(record.rule != NULL);
		MUST(record.text.p == NULL ||
		     (record.text.p >= line.p &&
		      record.text.p + record.text.len <= line.p + line.len));
	}
	scanner_free(scanner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct format_set *set;
	static unsigned int loads;
	struct err err = { ERR_NONE, "" };
	size_t sets = 0, rules;

	/* Start with a new set from time to time, because loaded rules stay in it. */
	if (set == NULL || loads == 64) {
		format_set_free(set);
		set = format_set_new_builtin();
		loads = 0;
	}
	while (format_set_get(set, sets) != NULL)
		sets++;
	rules = format_set_rules(set);
	if (format_set_load_text(set, "x.json", (struct str){ (const char *)data, size }, &err) !=
	    0) {
		MUST(err.code != ERR_NONE && err.text[0] != '\0');
		MUST(format_set_get(set, sets) == NULL && format_set_get(set, sets - 1) != NULL);
		MUST(format_set_rules(set) == rules);
		return 0;
	}
	loads++;
	scan_lines(set);
	return 0;
}
