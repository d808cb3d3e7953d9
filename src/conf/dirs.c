/* SPDX-License-Identifier: MIT */
/* Directories and the default database of hgym-tui on this machine. */
#include "conf/conf.h"

#include <sys/stat.h>

#include "base/file.h"

static char *xdg_dir(const char *variable, const char *fallback)
{
	const char *value = getenv(variable);

	if (value != NULL && value[0] == '/')
		return xasprintf("%s/hgym-tui", value);
	return xasprintf("%s/%s/hgym-tui", file_home(), fallback);
}

char *conf_dir_config(void)
{
	return xdg_dir("XDG_CONFIG_HOME", ".config");
}

char *conf_dir_state(void)
{
	return xdg_dir("XDG_STATE_HOME", ".local/state");
}

char *conf_file(const struct conf *conf)
{
	AUTO_TEXT dir = conf_dir_config();

	return conf->path != NULL ? xstrdup(conf->path) : xasprintf("%s/config.json", dir);
}

char *conf_db_path(const struct conf *conf, const char *option)
{
	AUTO_TEXT dir = xdg_dir("XDG_DATA_HOME", ".local/share");

	if (option != NULL)
		return file_expand_home(option);
	if (conf != NULL && conf->db != NULL)
		return xstrdup(conf->db);
	return xasprintf("%s/history.db", dir);
}

/* mkdir() that accepts an existing directory. */
static int make_one(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno != EEXIST || stat(path, &st) != 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return 0;
	errno = ENOTDIR;
	return -1;
}

int conf_make_dir(const char *path, struct err *err)
{
	AUTO_TEXT copy = xstrdup(path);
	int rc = 0;

	for (char *slash = strchr(copy + 1, '/'); rc == 0 && slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		rc = make_one(copy);
		*slash = '/';
	}
	if (rc == 0)
		rc = make_one(copy);
	if (rc != 0)
		err_set_errno(err, ERR_IO, "cannot create the directory %s", path);
	return rc;
}

int conf_make_dir_of(const char *file, struct err *err)
{
	AUTO_TEXT dir = file_folder(file);

	return conf_make_dir(dir, err);
}
