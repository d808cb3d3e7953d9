/* SPDX-License-Identifier: MIT */
/* Read and write waits.json of a bench, and describe waits in sentences. */
#include "bench/waits.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "bench/folder.h"
#include "pods/timed.h"

#define DURATION_SIZE 32

static const char *const words[] = { WAIT_LIST(LIST_NAME) NULL };

static const struct json_field wait_fields[] = {
	JSON_CHARS("pod", pod_wait, pod),
	JSON_ROW("state", CHOICE, pod_wait, kind, .words = words),
	JSON_ROW("since_ms", INTEGER, pod_wait, since_ms, .high = 1e15),
	JSON_ROW("retry_ms", INTEGER, pod_wait, retry_ms, .high = 1e15),
	JSON_CHARS("why", pod_wait, why),
	{ .name = NULL },
};

/* Write "41 s", "12 min" or "3.2 h"; "0 s" if the clock was set back (a negative duration). */
static void format_duration(int64_t ms, char out[DURATION_SIZE])
{
	double seconds = ms > 0 ? (double)ms / 1000.0 : 0.0;

	if (seconds < 100.0)
		(void)snprintf(out, DURATION_SIZE, "%.0f s", seconds);
	else if (seconds < 100.0 * 60.0)
		(void)snprintf(out, DURATION_SIZE, "%.0f min", seconds / 60.0);
	else
		(void)snprintf(out, DURATION_SIZE, "%.1f h", seconds / 3600.0);
}

bool wait_is_preflight(enum wait_kind kind)
{
	return kind == WAIT_CONNECTING || kind == WAIT_CHECKING || kind == WAIT_CHECKED;
}

void wait_text(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE])
{
	AUTO_BUF text = buf_new(1024);
	AUTO_BUF clean = buf_new(WAIT_TEXT_SIZE - 1);
	int64_t age_ms = now_ms - wait->since_ms, left_ms = wait->retry_ms - now_ms;
	char age[DURATION_SIZE], left[DURATION_SIZE];

	format_duration(age_ms, age);
	format_duration(left_ms, left);
	buf_appendf(&text, "pod %s: ", wait->pod);
	switch (wait->kind) {
	case WAIT_NONE:
		buf_clear(&text);
		break;
	case WAIT_UNREACHABLE:
		buf_append_str(&text, "cannot be reached");
		if (age_ms >= 1000)
			buf_appendf(&text, " for %s", age);
		if (left_ms >= 1000)
			buf_appendf(&text, ", next try in %s: %s", left, wait->why);
		else
			buf_appendf(&text, ", trying again: %s", wait->why);
		break;
	case WAIT_SILENT:
		buf_appendf(&text, "no answer for %s (%s)", age, wait->why);
		break;
	case WAIT_BUSY:
	case WAIT_FULL:
		buf_appendf(&text, "waiting for %s: %s", age, wait->why);
		break;
	case WAIT_QUEUED:
		buf_appendf(&text, "waiting for its Slurm allocation for %s: %s", age, wait->why);
		break;
	case WAIT_GIVEN_UP:
		buf_appendf(&text, "given up %s ago: %s", age, wait->why);
		break;
	case WAIT_CONNECTING:
		buf_appendf(&text, "preflight: connecting for %s", age);
		break;
	case WAIT_CHECKING:
		buf_appendf(&text, "preflight: %s, checking for %s", wait->why, age);
		break;
	case WAIT_CHECKED:
		buf_appendf(&text, "preflight: %s", wait->why);
		break;
	}
	utf8_sanitize(&clean, buf_str(&text));
	(void)snprintf(out, WAIT_TEXT_SIZE, "%s", clean.data);
}

void wait_end_text(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE])
{
	static const char *const ends[] = {
		[WAIT_BUSY] = "is no longer locked",
		[WAIT_FULL] = "its disk has space again",
		[WAIT_QUEUED] = "has its Slurm allocation",
		[WAIT_CHECKED] = NULL,
	};
	const char *end = ends[wait->kind] != NULL ? ends[wait->kind] : "answers again";
	char age[DURATION_SIZE];

	format_duration(now_ms - wait->since_ms, age);
	if (wait_is_preflight(wait->kind))
		(void)snprintf(out, WAIT_TEXT_SIZE, "pod %s: preflight finished", wait->pod);
	else
		(void)snprintf(out, WAIT_TEXT_SIZE, "pod %s: %s after %s", wait->pod, end, age);
}

const struct pod_wait *waits_find(const struct pod_wait *waits, size_t n, const char *pod)
{
	return array_find(one, waits, n, strcmp(one->pod, pod) == 0);
}

int waits_write(const char *path, const struct pod_wait *waits, size_t n, struct err *err)
{
	AUTO_JSON root = cJSON_CreateObject();
	cJSON *pods = cJSON_AddArrayToObject(root, "pods");

	json_add_string(root, "schema", "hgym-tui.bench-waits/1");
	for (size_t i = 0; i < n; i++)
		if (waits[i].kind != WAIT_NONE)
			json_write_object(json_add_row(pods), wait_fields, &waits[i]);
	if (cJSON_GetArraySize(pods) > 0)
		return folder_write_json(path, WAITS_FILE, root, err);
	folder_remove(path, WAITS_FILE);
	return 0;
}

size_t waits_read(const char *path, bool driven, struct pod_wait waits[WAITS_MAX])
{
	AUTO_JSON root = folder_read_json(path, WAITS_FILE);
	size_t n = 0;

	json_each (row, json_get(root, "pods")) {
		if (n == WAITS_MAX)
			break;
		waits[n] = (struct pod_wait){ .pod = "?", .why = "?" };
		json_read_known(wait_fields, row, &waits[n]);
		if (waits[n].kind == WAIT_GIVEN_UP || (driven && waits[n].kind != WAIT_NONE))
			n++;
	}
	return n;
}

cJSON *waits_json(const struct pod_wait *waits, size_t n, int64_t now_ms)
{
	cJSON *all = cJSON_CreateArray();
	char text[WAIT_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		wait_text(&waits[i], now_ms, text);
		json_add(json_add_row(all), JCLEAN("pod", waits[i].pod),
			 JTEXT("state", words[waits[i].kind]), JTIME("since", waits[i].since_ms),
			 JTIME("retry_at", waits[i].retry_ms), JCLEAN("why", waits[i].why),
			 JTEXT("text", text));
	}
	return all;
}

char *bench_waits_add(cJSON *object, const char *path, const char *id, const char *state)
{
	bool is_running = path != NULL && strcmp(state, "running") == 0;
	bool is_driven = is_running && timed_is_driven(path);
	struct pod_wait waits[WAITS_MAX];
	size_t n = path != NULL ? waits_read(path, is_driven, waits) : 0;
	cJSON *all = waits_json(waits, n, clock_wall_ms());
	AUTO_BUF text = buf_new(WAITS_MAX * WAIT_TEXT_SIZE);

	if (is_running && !is_driven)
		buf_appendf(&text,
			    "no process drives this bench: hgym-tui bench attach %s continues it",
			    id);
	json_each (wait, all)
		buf_appendf(&text, "%s%s", text.len > 0 ? "; " : "",
			    json_get_string(wait, "text", ""));
	cJSON_AddItemToObject(object, "driven",
			      is_running ? cJSON_CreateBool(is_driven) : cJSON_CreateNull());
	cJSON_AddItemToObject(object, "waits", all);
	return text.len > 0 ? buf_detach(&text) : NULL;
}
