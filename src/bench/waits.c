/* SPDX-License-Identifier: MIT */
/* What a bench waits for; written by its session, read by who looks. */
#include "bench/waits.h"

#include <stdio.h>

#include "base/utf8.h"
#include "bench/folder.h"

#define WAIT_AGE_SIZE 32

static const char *const words[] = {
#define X(id, word) [WAIT_##id] = word,
	WAIT_LIST(X)
#undef X
		NULL
};

static const struct json_field wait_fields[] = {
	JSON_CHARS("pod", pod_wait, pod),
	JSON_ROW("state", CHOICE, pod_wait, kind, .words = words),
	JSON_ROW("since_ms", INTEGER, pod_wait, since_ms, .high = 1e15),
	JSON_ROW("retry_ms", INTEGER, pod_wait, retry_ms, .high = 1e15),
	JSON_CHARS("why", pod_wait, why),
	{ .name = NULL },
};

/* Seconds as a person says them: "41 s", "12 min", "3.2 h". */
static void say_seconds(double seconds, char out[WAIT_AGE_SIZE])
{
	const size_t size = WAIT_AGE_SIZE;

	if (!(seconds > 0.0))
		seconds = 0.0;
	if (seconds < 100.0)
		(void)snprintf(out, size, "%.0f s", seconds);
	else if (seconds < 100.0 * 60.0)
		(void)snprintf(out, size, "%.0f min", seconds / 60.0);
	else
		(void)snprintf(out, size, "%.1f h", seconds / 3600.0);
}

/* For how long: "41 s", "12 min", "3.2 h". */
static void wait_age(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_AGE_SIZE])
{
	say_seconds((double)(now_ms - wait->since_ms) / 1000.0, out);
}

bool wait_is_preflight(enum wait_kind kind)
{
	return kind == WAIT_CONNECTING || kind == WAIT_CHECKING || kind == WAIT_CHECKED;
}

static void add_preflight(struct buf *text, const struct pod_wait *wait, const char *age)
{
	if (wait->kind == WAIT_CONNECTING)
		buf_appendf(text, "pod %s: preflight: connecting for %s", wait->pod, age);
	else if (wait->kind == WAIT_CHECKING)
		buf_appendf(text, "pod %s: preflight: %s, is looked at for %s", wait->pod,
			    wait->why, age);
	else
		buf_appendf(text, "pod %s: preflight: %s", wait->pod, wait->why);
}

static void add_text(struct buf *text, const struct pod_wait *wait, int64_t now_ms)
{
	char age[WAIT_AGE_SIZE], left[WAIT_AGE_SIZE];
	const char *again = wait->retry_ms == 0 ? "is being tried again" : "tries again now";

	wait_age(wait, now_ms, age);
	say_seconds((double)(wait->retry_ms - now_ms) / 1000.0, left);
	if (wait->kind == WAIT_UNREACHABLE && now_ms - wait->since_ms < 1000)
		buf_appendf(text, "pod %s: cannot be reached, %s: %s", wait->pod, again, wait->why);
	else if (wait->kind == WAIT_UNREACHABLE && wait->retry_ms - now_ms >= 1000)
		buf_appendf(text,
			    "pod %s: cannot be reached for %s, tries again in "
			    "%s: %s",
			    wait->pod, age, left, wait->why);
	else if (wait->kind == WAIT_UNREACHABLE)
		buf_appendf(text, "pod %s: cannot be reached for %s, %s: %s", wait->pod, age, again,
			    wait->why);
	else if (wait->kind == WAIT_SILENT)
		buf_appendf(text, "pod %s: no answer for %s (%s)", wait->pod, age, wait->why);
	else if (wait->kind == WAIT_QUEUED)
		buf_appendf(text, "pod %s: waits for its allocation for %s: %s", wait->pod, age,
			    wait->why);
	else if (wait->kind == WAIT_BUSY || wait->kind == WAIT_FULL)
		buf_appendf(text, "pod %s: waits for %s: %s", wait->pod, age, wait->why);
	else if (wait->kind == WAIT_GIVEN_UP)
		buf_appendf(text, "pod %s: given up %s ago: %s", wait->pod, age, wait->why);
	else
		add_preflight(text, wait, age);
}

void wait_text(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE])
{
	AUTO_BUF raw = buf_new(1024);
	AUTO_BUF clean = buf_new(WAIT_TEXT_SIZE - 1);

	out[0] = '\0';
	if (wait->kind == WAIT_NONE)
		return;
	add_text(&raw, wait, now_ms);
	utf8_sanitize(&clean, buf_str(&raw));
	(void)snprintf(out, WAIT_TEXT_SIZE, "%s", clean.data);
}

void wait_text_over(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE])
{
	char age[WAIT_AGE_SIZE];

	if (wait_is_preflight(wait->kind)) {
		(void)snprintf(out, WAIT_TEXT_SIZE, "pod %s: the preflight is over", wait->pod);
		return;
	}
	wait_age(wait, now_ms, age);
	(void)snprintf(out, WAIT_TEXT_SIZE, "pod %s: %s, after %s", wait->pod,
		       wait->kind == WAIT_BUSY	   ? "its GPUs are free"
		       : wait->kind == WAIT_FULL   ? "its disk has room again"
		       : wait->kind == WAIT_QUEUED ? "has its allocation"
						   : "answers again",
		       age);
}

const struct pod_wait *waits_find(const struct pod_wait *waits, size_t n, const char *pod)
{
	return array_find(one, waits, n, strcmp(one->pod, pod) == 0);
}

int waits_write(const char *path, const struct pod_wait *waits, size_t n, struct err *err)
{
	AUTO_JSON root = cJSON_CreateObject();
	cJSON *pods = cJSON_AddArrayToObject(root, "pods");
	int result = 0;

	json_add_string(root, "schema", "hgym-tui.bench-waits/1");
	for (size_t i = 0; i < n; i++) {
		if (waits[i].kind == WAIT_NONE)
			continue;
		cJSON *row = cJSON_CreateObject();
		json_put(row, wait_fields, &waits[i]);
		cJSON_AddItemToArray(pods, row);
	}
	if (cJSON_GetArraySize(pods) > 0)
		result = folder_write_json(path, WAITS_FILE, root, err);
	else
		folder_remove(path, WAITS_FILE);
	return result;
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

size_t waits_read(const char *path, bool driven, struct pod_wait waits[WAITS_MAX])
{
	AUTO_JSON root = folder_read_json(path, WAITS_FILE);
	const cJSON *pods = json_get(root, "pods");
	size_t n = 0;

	json_each (row, pods) {
		if (n == WAITS_MAX)
			break;
		waits[n] = (struct pod_wait){ .pod = "?", .why = "?" };
		json_take_known(wait_fields, row, &waits[n]);
		n += waits[n].kind == WAIT_GIVEN_UP || (driven && waits[n].kind != WAIT_NONE) ? 1
											      : 0;
	}
	return n;
}
