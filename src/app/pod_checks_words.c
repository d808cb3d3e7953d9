/* SPDX-License-Identifier: MIT */
/* What a preflight found, in words; for the Pods view. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "app/pod_checks.h"
#include "base/buf.h"

#define LINE_BYTES 1000U

static void
add_line(struct model_check *check, struct buf *line)
{
	if (line->len > 0)
		model_check_add(check, (struct str){ line->data, line->len });
	buf_clear(line);
}

static void
add_failures(struct model_check *check, const cJSON *row, struct buf *line)
{
	const cJSON *one,
		*failures = cJSON_GetObjectItemCaseSensitive(row, "failures");

	cJSON_ArrayForEach(one, failures)
	{
		buf_appendf(line, "%s: %s", json_get_string(one, "class", "?"),
			    json_get_string(one, "text", ""));
		add_line(check, line);
		buf_appendf(line, "  next: %s",
			    json_get_string(one, "next", ""));
		add_line(check, line);
	}
}

/* "name value", with a dot between two. */
static void
add_fact(struct buf *line, const cJSON *row, const char *key, const char *name)
{
	const char *text = json_get_string(row, key, NULL);

	if (text == NULL || text[0] == '\0')
		return;
	buf_appendf(line, "%s%s%s%s", line->len > 0 ? " · " : "", name,
		    name[0] != '\0' ? " " : "", text);
}

static bool
get_number(const cJSON *row, const char *key, double *value)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, key);

	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
		return false;
	*value = item->valuedouble;
	return true;
}

static void
add_space(struct buf *line, const cJSON *row)
{
	double bytes;

	if (!get_number(row, "free_bytes", &bytes))
		return;
	buf_appendf(line, "scratch %s: %.1f GB free",
		    json_get_string(row, "scratch", "folder"), bytes / 1e9);
}

static void
add_clock(struct buf *line, const cJSON *row)
{
	double offset, unsure;

	if (!get_number(row, "clock_offset_s", &offset))
		return;
	buf_appendf(line, "%sclock %+.2f s", line->len > 0 ? " · " : "",
		    offset);
	if (get_number(row, "clock_unsure_s", &unsure))
		buf_appendf(line, " ±%.2f s", unsure);
	buf_append_str(line, " against this machine");
}

static void
add_processes(struct buf *line, const cJSON *row)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(row, "processes");
	int n = cJSON_GetArraySize(list);

	if (n > 0)
		buf_appendf(line, "%s%d compute process%s on its GPUs",
			    line->len > 0 ? " · " : "", n, n == 1 ? "" : "es");
}

void
pod_checks_words(struct model_check *check, const cJSON *row)
{
	struct buf line;
	double ms;

	buf_init(&line, LINE_BYTES);
	check->is_fit = strcmp(json_get_string(row, "status", ""), "ok") == 0;
	add_failures(check, row, &line);
	add_fact(&line, row, "gpu", "");
	add_fact(&line, row, "driver", "driver");
	add_processes(&line, row);
	add_line(check, &line);
	add_fact(&line, row, "python", "python");
	add_fact(&line, row, "torch", "torch");
	add_fact(&line, row, "triton", "triton");
	add_fact(&line, row, "shell", "shell");
	add_fact(&line, row, "system", "");
	add_line(check, &line);
	add_space(&line, row);
	add_clock(&line, row);
	add_line(check, &line);
	if (get_number(row, "connect_ms", &ms))
		buf_appendf(&line, "login in %.0f ms", ms);
	add_fact(&line, row, "host_key", "host key");
	add_line(check, &line);
	buf_release(&line);
}
