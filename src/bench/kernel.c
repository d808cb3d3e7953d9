/* SPDX-License-Identifier: MIT */
/* What the probe of a kernel bench is told; called by the plan. */
#include "bench/kernel.h"

#include "base/embed.h"
#include "base/quote.h"
#include "base/xalloc.h"

extern const struct embed_file kernel_probe_files[];

#define MAX_COMMAND (1024U * 1024)

const char *kernel_probe(void)
{
	return kernel_probe_files[0].text;
}

/* An arm as the probe is told of it. */
static cJSON *kernel_arm(const struct plan *plan, size_t arm)
{
	const struct plan_variant *v = plan_arm(plan, arm);
	char tag[PLAN_TAG_SIZE];
	AUTO_TEXT copy = xasprintf("../src.%s", v->tag);
	cJSON *env;

	plan_arm_tag(plan, arm, tag);
	cJSON *node =
		json_new(JTEXT("tag", tag), JTEXT("folder", plan_needs_copies(plan) ? copy : "."));
	if (v->env.n > 0) {
		env = cJSON_AddObjectToObject(node, "env");
		for (size_t i = 0; i < v->env.n; i++)
			json_add_string(env, v->env.v[i].name, v->env.v[i].value);
	}
	if (v->launch != NULL)
		cJSON_AddItemToObject(node, "launch",
				      json_parse(str_from(v->launch), JSON_BARE_NULL, NULL));
	return node;
}

char *kernel_command(const struct plan *plan)
{
	cJSON *arms = cJSON_CreateArray();
	AUTO_JSON spec = json_new(JTEXT("task", plan->task), JTEXT("module", plan->module),
				  JTEXT("function", plan->function), JNUM("seconds", plan->seconds),
				  JNUM("margin", plan->rule.paired.margin), JNODE("arms", arms));
	AUTO_BUF text = buf_new(MAX_COMMAND), command = buf_new(MAX_COMMAND);

	for (size_t i = 0; i < plan_n_arms(plan); i++)
		cJSON_AddItemToArray(arms, kernel_arm(plan, i));
	json_print(&text, spec);
	buf_append_str(&command, "exec python3 \"$HGYM_PROBE\" ");
	quote_word(&command, buf_str(&text));
	return buf_detach(&command);
}
