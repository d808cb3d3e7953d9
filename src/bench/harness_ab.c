/* SPDX-License-Identifier: MIT */
/* From a HarnessGym run to the A/B bench of its best; `harness --ab`. */
#include "config.h"

#include "bench/harness_ab.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/quote.h"
#include "bench/plan.h"

#define COMMAND_MAX 65536U
#define NAME_MAX_   40U
#define ROUNDS	    6
#define TIMEOUT_S   240.0
/* HarnessGym's own sender clears its folder on the pod: take another one. */
#define OWN_FOLDER "_hgym_ab"

/* Letters, digits, _ . - of text, as a bench's name. */
static void
add_name(struct buf *out, const char *text)
{
	for (size_t i = 0; text[i] != '\0' && out->len < NAME_MAX_ - 3; i++)
		buf_append_char(out, isalnum((unsigned char)text[i]) ||
						     strchr("_.-", text[i])
					     ? text[i]
					     : '_');
}

/*
 * The run's measuring command; where it sends the workspace to a pod, into a
 * folder of the bench's own there.
 */
static void
add_measure(struct buf *out, const char *command)
{
	const char *flag = strstr(command, "remote_h100.py") != NULL
				   ? strstr(command, "--workspace")
				   : NULL;
	size_t n;

	if (flag == NULL) {
		buf_append_str(out, command);
		return;
	}
	n = (size_t)(flag - command) + strlen("--workspace");
	n += strspn(command + n, " =");
	n += strcspn(command + n, " ");
	buf_append(out, command, n);
	buf_append_str(out, OWN_FOLDER);
	buf_append_str(out, command + n);
}

/* Copy source, hold the judges against the workspace's, measure there. */
static void
add_command(struct buf *out, const struct harness_ab *ab, const char *source)
{
	struct buf measure;

	buf_init(&measure, COMMAND_MAX);
	add_measure(&measure, ab->run->command);
	buf_append_str(out, "d=$(mktemp -d) && trap 'rm -rf \"$d\"' EXIT && "
			    "trap 'exit 143' HUP INT TERM && "
			    "tar -C ");
	quote_word(out, str_from(source));
	buf_append_str(out, " --exclude=./.harnessgym --exclude=./.git -cf - . "
			    "| tar -C \"$d\" -xf - && w=");
	quote_word(out, str_from(ab->workspace));
	buf_append_str(out, " && for f in benchmark.py verifier.py; do "
			    "[ ! -e \"$w/$f\" ] || cmp \"$w/$f\" \"$d/$f\" || "
			    "exit 9; done && cd \"$d\" && sh -c ");
	quote_word(out, str_from(measure.data));
	buf_release(&measure);
}

static void
add_variant(cJSON *variants, const struct harness_ab *ab, const char *tag,
	    const char *source)
{
	cJSON *variant = cJSON_CreateObject();
	struct buf command;

	buf_init(&command, COMMAND_MAX);
	add_command(&command, ab, source);
	json_add_string(variant, "tag", tag);
	if (variants->child == NULL)
		cJSON_AddBoolToObject(variant, "control", true);
	json_add_string(variant, "command", command.data);
	cJSON_AddItemToArray(variants, variant);
	buf_release(&command);
}

static void
add_workload(cJSON *object, const struct harness_ab *ab)
{
	cJSON *workload = cJSON_AddObjectToObject(object, "workload");
	struct harness_number limit = ab->run->post_s;

	json_add_string(workload, "cwd", ab->workspace);
	json_add_string(workload, "command", ab->run->command);
	json_add_string(workload, "log", "verifier.out");
	json_add_number(workload, "timeout_s",
			harness_is_finite(limit) && limit.value >= 1
				? limit.value
				: TIMEOUT_S);
}

static cJSON *
make_plan(const struct harness_ab *ab)
{
	cJSON *object = cJSON_CreateObject(), *node;
	struct buf text;

	buf_init(&text, COMMAND_MAX);
	json_add_string(object, "schema", PLAN_SCHEMA);
	add_name(&text, ab->run->id);
	buf_append_str(&text, "-ab");
	json_add_string(object, "name", text.data);
	add_workload(object, ab);
	node = cJSON_AddObjectToObject(object, "metric");
	json_add_string(node, "parser", "json");
	json_add_string(node, "key", ab->run->post_score_key);
	json_add_string(node, "direction",
			ab->run->higher_is_better == HARNESS_YES ? "higher"
								 : "lower");
	node = cJSON_AddArrayToObject(object, "variants");
	buf_clear(&text);
	buf_appendf(&text, "%s/.harnessgym/runs/%s/checkpoints/best",
		    ab->workspace, ab->run->dir);
	add_variant(node, ab, "checkpoint", text.data);
	add_variant(node, ab, "workspace", ab->workspace);
	node = cJSON_CreateObject();
	json_add_string(node, "id", ab->pod != NULL ? ab->pod : "here");
	if (ab->pod == NULL)
		json_add_string(node, "transport", "local");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(object, "pods"), node);
	node = cJSON_AddObjectToObject(object, "design");
	cJSON_AddNumberToObject(node, "blocks_per_pod", ROUNDS);
	cJSON_AddNumberToObject(node, "burn_in", 1);
	cJSON_AddBoolToObject(node, "aa", true);
	buf_release(&text);
	return object;
}

static int
check(const struct harness_ab *ab, struct err *err)
{
	const struct harness_run *run = ab->run;

	if (!run->checkpoint.present)
		return err_set(err, ERR_NODATA,
			       "run %s has no checkpoint to compare with",
			       run->id);
	if (run->command == NULL || run->post_score_key == NULL ||
	    run->higher_is_better == HARNESS_UNKNOWN)
		return err_set(err, ERR_NODATA,
			       "run %s has no command that measures a score",
			       run->id);
	if (ab->workspace[0] != '/')
		return err_set(err, ERR_USAGE,
			       "--ab: name the workspace by its absolute path");
	return 0;
}

cJSON *
harness_ab_json(const struct harness_ab *ab, struct err *err)
{
	struct plan plan;
	struct buf text;
	cJSON *object;

	if (check(ab, err) != 0)
		return NULL;
	object = make_plan(ab);
	buf_init(&text, COMMAND_MAX * 4);
	json_print(&text, object);
	if (plan_parse(&plan, "bench.json", (struct str){ text.data, text.len },
		       err) != 0) {
		cJSON_Delete(object);
		object = NULL;
	} else {
		plan_release(&plan);
	}
	buf_release(&text);
	return object;
}
