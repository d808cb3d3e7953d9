/* SPDX-License-Identifier: MIT */
/* Groups, baseline, alerts, keys and ui of the configuration; see conf.c. */
#include "config.h"

#include "conf/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "parsers/path_pattern.h"
#include "ui/keymap.h"
#include "ui/theme.h"

static const char *const group_names[] = {
	[CONF_BY_DIRNAME] = "dirname", [CONF_BY_FILE] = "file",
	[CONF_BY_SOURCE] = "source",   [CONF_BY_PATTERN] = "pattern",
	[CONF_BY_POD] = "pod",	       NULL,
};

static const char *const charset_names[] = { "braille", "block", "ascii",
					     NULL };
static const char *const color_names[] = { "auto", "always", "never", NULL };
static const char *const theme_names[] = {
#define X(id, name, help) name,
	THEME_LIST(X)
#undef X
		NULL
};

const char *
conf_group_name(enum conf_group_by by)
{
	return group_names[by];
}

/* What does not compile here would only be told much later. */
static int
check_pattern(struct conf_reader *l)
{
	struct err why = { ERR_NONE, "" };
	struct path_pattern *pattern;

	if (l->conf->group_pattern == NULL)
		return 0;
	pattern = path_pattern_new(l->conf->group_pattern, &why);
	if (pattern == NULL)
		return json_fail(&l->at, "groups.pattern", l->err, "%s",
				 why.text);
	path_pattern_free(pattern);
	return 0;
}

int
conf_take_groups(struct conf_reader *l, const cJSON *node)
{
	static const struct json_key keys[] = { { "by", JSON_STRING },
						{ "pattern", JSON_STRING },
						{ NULL, 0 } };
	struct conf *conf = l->conf;
	int choice;

	if (node == NULL)
		return 0;
	if (json_check_keys(&l->at, node, "groups", keys, l->err) != 0)
		return -1;
	conf->group_pattern = conf_take_string(node, "pattern");
	choice =
		conf_take_choice(l, node, "groups.by", group_names,
				 conf->group_pattern != NULL ? CONF_BY_PATTERN
							     : CONF_BY_DIRNAME);
	if (choice < 0)
		return -1;
	conf->group_by = (enum conf_group_by)choice;
	if (conf->group_by == CONF_BY_PATTERN && conf->group_pattern == NULL)
		return json_fail(&l->at, "groups", l->err,
				 "the key \"pattern\" is missing");
	if (conf->group_by != CONF_BY_PATTERN && conf->group_pattern != NULL)
		return json_fail(&l->at, "groups.pattern", l->err,
				 "goes with \"by\": \"pattern\" only");
	return check_pattern(l);
}

int
conf_take_baseline(struct conf_reader *l, const cJSON *node)
{
	static const struct json_key keys[] = {
		{ "name", JSON_STRING | JSON_REQUIRED },
		{ "bpb", JSON_ARRAY },
		{ "val_loss", JSON_ARRAY },
		{ "nats_per_bpb", JSON_NUMBER },
		{ "file", JSON_STRING },
		{ NULL, 0 },
	};
	static const double ratio[2] = { 1e-3, 1e3 };
	struct conf_baseline *b = &l->conf->baseline;

	if (node == NULL)
		return 0;
	if (json_check_keys(&l->at, node, "baseline", keys, l->err) != 0)
		return -1;
	b->name = conf_take_string(node, "name");
	b->file = conf_take_path(l, node, "file");
	if (conf_take_doubles(l, conf_member(node, "bpb"), "baseline.bpb",
			      &b->bpb, &b->n_bpb) != 0 ||
	    conf_take_doubles(l, conf_member(node, "val_loss"),
			      "baseline.val_loss", &b->val_loss,
			      &b->n_val_loss) != 0 ||
	    conf_take_number(l, node, "baseline.nats_per_bpb", ratio,
			     &b->nats_per_bpb) != 0)
		return -1;
	if (b->n_bpb == 0 && b->n_val_loss == 0 && b->file == NULL)
		return json_fail(&l->at, "baseline", l->err,
				 "needs \"bpb\", \"val_loss\" or \"file\"");
	return 0;
}

/* "auto", false or null for none, or seconds. */
static int
take_stall(struct conf_reader *l, const cJSON *node)
{
	struct conf_alerts *a = &l->conf->alerts;

	if (cJSON_IsNull(node) || cJSON_IsFalse(node)) {
		a->stall = CONF_STALL_OFF;
	} else if (cJSON_IsNumber(node) && node->valuedouble >= 1 &&
		   node->valuedouble <= 86400) {
		a->stall = CONF_STALL_SECONDS;
		a->stall_s = node->valuedouble;
	} else if (node != NULL && !(cJSON_IsString(node) &&
				     strcmp(node->valuestring, "auto") == 0)) {
		return json_fail(&l->at, "alerts.stall", l->err,
				 "expected \"auto\", false or seconds from 1 "
				 "to 86400");
	}
	return 0;
}

int
conf_take_alerts(struct conf_reader *l, const cJSON *node)
{
	static const struct json_key keys[] = {
		{ "stall", JSON_STRING | JSON_NUMBER | JSON_BOOL | JSON_NULL },
		{ "bell", JSON_BOOL },
		{ "notify", JSON_BOOL },
		{ "command", JSON_STRING | JSON_NULL },
		{ NULL, 0 },
	};
	struct conf_alerts *a = &l->conf->alerts;

	if (node == NULL)
		return 0;
	if (json_check_keys(&l->at, node, "alerts", keys, l->err) != 0)
		return -1;
	a->bell = json_get_bool(node, "bell", a->bell);
	a->notify = json_get_bool(node, "notify", a->notify);
	a->command = conf_take_string(node, "command");
	return take_stall(l, conf_member(node, "stall"));
}

/* Which actions and keys there are the user interface knows. */
int
conf_take_keys(struct conf_reader *l, const cJSON *node)
{
	struct err why = { ERR_NONE, "" };
	struct conf *conf = l->conf;
	struct keymap keymap;
	const cJSON *item;
	char at[300];

	if (node == NULL)
		return 0;
	keymap_init(&keymap);
	conf->keys = xcalloc((size_t)cJSON_GetArraySize(node) + 1,
			     sizeof(*conf->keys));
	cJSON_ArrayForEach(item, node)
	{
		struct conf_key *key = &conf->keys[conf->n_keys];

		if (strcmp(item->string, "//") == 0)
			continue;
		(void)snprintf(at, sizeof(at), "keys.%s", item->string);
		if (!cJSON_IsNull(item) &&
		    !(cJSON_IsString(item) && item->valuestring[0] != '\0'))
			return json_fail(&l->at, at, l->err,
					 "expected a key or null");
		if (cJSON_GetObjectItemCaseSensitive(node, item->string) !=
		    item)
			return json_fail(&l->at, at, l->err,
					 "this key stands twice");
		if (keymap_bind(&keymap, item->string,
				cJSON_IsString(item) ? item->valuestring : "",
				&why) != 0)
			return json_fail(&l->at, at, l->err, "%s", why.text);
		key->action = xstrdup(item->string);
		key->key = cJSON_IsString(item) ? xstrdup(item->valuestring)
						: NULL;
		conf->n_keys++;
	}
	return 0;
}

int
conf_take_ui(struct conf_reader *l, const cJSON *node)
{
	static const struct json_key keys[] = {
		{ "charset", JSON_STRING },
		{ "color", JSON_STRING },
		{ "theme", JSON_STRING },
		{ "mouse", JSON_BOOL },
		{ "utc", JSON_BOOL },
		{ "log_colors", JSON_BOOL },
		{ "escape_delay_ms", JSON_INTEGER },
		{ NULL, 0 },
	};
	static const double delay[2] = { 1, 1000 };
	struct conf_ui *ui = &l->conf->ui;
	double ms = 0;

	if (node == NULL)
		return 0;
	if (json_check_keys(&l->at, node, "ui", keys, l->err) != 0 ||
	    conf_take_choice(l, node, "ui.charset", charset_names, 0) < 0 ||
	    conf_take_choice(l, node, "ui.color", color_names, 0) < 0 ||
	    conf_take_choice(l, node, "ui.theme", theme_names, 0) < 0 ||
	    conf_take_number(l, node, "ui.escape_delay_ms", delay, &ms) != 0)
		return -1;
	ui->charset = conf_take_string(node, "charset");
	ui->color = conf_take_string(node, "color");
	ui->theme = conf_take_string(node, "theme");
	ui->mouse = json_get_bool(node, "mouse", ui->mouse);
	ui->utc = json_get_bool(node, "utc", ui->utc);
	ui->log_colors = json_get_bool(node, "log_colors", ui->log_colors);
	ui->escape_delay_ms = (int)ms;
	return 0;
}
