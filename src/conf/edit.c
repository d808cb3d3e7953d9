/* SPDX-License-Identifier: MIT */
/* Change the configuration file for the user: read, check, replace. */
#include "conf/edit.h"

#include <unistd.h>

#include "base/file.h"
#include "conf/conf.h"

cJSON *conf_edit(const char *path, struct err *err)
{
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);

	if (access(path, F_OK) != 0)
		return json_new(JTEXT("schema", CONF_SCHEMA));
	return json_parse_file(path, &text, err);
}

int conf_write(const char *path, const cJSON *root, struct err *err)
{
	/* Replace the target of a symlink, not the symlink. */
	AUTO_FREE char *real = realpath(path, NULL);
	AUTO_FREE char *printed = cJSON_Print(root);
	AUTO_TEXT text = xasprintf("%s\n", printed);
	struct conf check;

	if (conf_parse(&check, path, str_from(text), err) != 0)
		return -1;
	conf_release(&check);
	if (conf_make_dir_of(path, err) != 0)
		return -1;
	return file_replace(real != NULL ? real : path, str_from(text), err);
}
