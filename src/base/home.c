/* SPDX-License-Identifier: MIT */
/* The home of the user, for paths that begin with "~". */
#include "config.h"

#include "base/home.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"

const char *
home_dir(void)
{
	const char *home = getenv("HOME");
	const struct passwd *entry;

	if (home != NULL && home[0] == '/')
		return home;
	entry = getpwuid(getuid());
	return entry != NULL && entry->pw_dir != NULL ? entry->pw_dir : "/";
}

char *
home_expand(const char *path)
{
	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
		return xasprintf("%s%s", home_dir(), path + 1);
	return xstrdup(path);
}
