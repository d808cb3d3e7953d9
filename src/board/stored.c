/* SPDX-License-Identifier: MIT */
/* What the commands that read the database share. */
#include "config.h"

#include "board/stored.h"

#include <stdlib.h>
#include <string.h>

#include "parsers/json.h"
#include "store/lock.h"

int
stored_open(struct stored *s, const struct context *env, struct err *err)
{
	struct store_options options = { .read_only = true };

	if (conf_load(&s->conf, env->config_path, err) != 0)
		return -1;
	s->db_path = conf_db_path(&s->conf, env->db_path);
	options.path = s->db_path;
	s->store = store_open(&options, err);
	if (s->store == NULL) {
		free(s->db_path);
		conf_release(&s->conf);
		return -1;
	}
	(void)lock_is_held(s->db_path, &s->writer);
	return 0;
}

void
stored_close(struct stored *s)
{
	(void)store_close(s->store, NULL);
	free(s->db_path);
	conf_release(&s->conf);
}

const char *
stored_status(const struct stored *s, const struct stored_run *run)
{
	return run_status_name(
		run->is_live && s->writer != 0 ? RUN_RUNNING : run->run.status);
}

cJSON *
stored_run_row(const struct stored *s, const struct stored_run *run)
{
	cJSON *row = cJSON_CreateObject(), *keys = run_to_json(&run->run);
	const char *word = stored_status(s, run);
	cJSON *status = strcmp(word, "unknown") == 0 ? cJSON_CreateNull()
						     : cJSON_CreateString(word);

	cJSON_ReplaceItemInObjectCaseSensitive(keys, "status", status);

	json_add_number(row, "run_id", (double)run->run_id);
	json_add_string(row, "pod", run->pod);
	json_add_clean(row, "path", run->path);
	json_add_clean(row, "file", run->path);
	json_add_number(row, "gen", run->gen);
	while (keys->child != NULL) {
		cJSON *item = cJSON_DetachItemViaPointer(keys, keys->child);

		cJSON_AddItemToObject(row, item->string, item);
	}
	cJSON_Delete(keys);
	json_add_time(row, "first_seen", run->first_wall_ms);
	json_add_time(row, "last_seen", run->last_wall_ms);
	return row;
}
