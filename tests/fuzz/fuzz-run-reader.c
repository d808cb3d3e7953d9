/* SPDX-License-Identifier: MIT */
/* A log gives the same runs whether it is fed as a whole or cut anywhere. */
#include "parsers/run_reader.h"

#include <math.h>
#include <string.h>

#include "parsers/json.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_BYTES (8U << 20)

static void on_sample(void *user, const struct run *run, const struct sample *sample)
{
	MUST(isfinite(sample->value));
	MUST(sample->line > 0);
	buf_appendf(user, "%u %d %.17g %llu\n", run->run_index, (int)sample->metric, sample->value,
		    (unsigned long long)sample->line);
}

static void on_event(void *user, const struct run *run, const struct run_event *event)
{
	(void)event;
	buf_appendf(user, "%u event\n", run->run_index);
}

static void on_run(void *user, const struct run *run)
{
	cJSON *json = run_to_json(run);

	MUST(run->status != RUN_RUNNING);
	MUST(isnan(run->final_bpb) || run->final_line > 0);
	json_print(user, json);
	buf_append_char(user, '\n');
	cJSON_Delete(json);
}

static void on_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	buf_appendf(user, "%llu %d ", (unsigned long long)line, (int)class);
	buf_append(user, text.p, text.len);
	buf_append_char(user, '\n');
}

/* Everything reported about the log, as text; `twice` on the second pass. */
static void read_log(struct buf *out, const uint8_t *data, size_t size, bool cut, bool twice)
{
	static const struct run_reader_cb cb = { on_sample, on_event, on_run, .on_line = on_line };
	static struct format_set *formats;
	struct run_reader *reader;
	size_t at = 0;

	if (formats == NULL)
		formats = format_set_new_builtin();
	reader = run_reader_new(formats, &cb, out);
	if (twice) {
		run_reader_remember_scripts(reader, 2);
		run_reader_feed(reader, data, size);
		run_reader_finish(reader);
		buf_clear(out);
		run_reader_reset(reader, out);
	}
	while (at < size) {
		size_t n = cut ? data[size - 1 - at] % 61U + 1 : size;

		n = n < size - at ? n : size - at;
		run_reader_feed(reader, data + at, n);
		at += n;
		if (cut)
			(void)run_reader_current(reader);
	}
	run_reader_finish(reader);
	MUST(run_reader_bytes(reader) == size);
	run_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, cut, again;

	buf_init(&whole, TEXT_BYTES);
	buf_init(&cut, TEXT_BYTES);
	buf_init(&again, TEXT_BYTES);
	read_log(&whole, data, size, false, false);
	read_log(&cut, data, size, true, false);
	read_log(&again, data, size, false, true);
	MUST(whole.len == again.len);
	MUST(memcmp(whole.data, again.data, whole.len) == 0);
	MUST(whole.len == cut.len);
	MUST(memcmp(whole.data, cut.data, whole.len) == 0);
	buf_release(&whole);
	buf_release(&cut);
	buf_release(&again);
	return 0;
}
