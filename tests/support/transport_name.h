/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "remote/fleet.h"

/* Parse "TRANSPORT[:HOST]" or "command:PROGRAM ARG.."; the text is cut into words and must outlive
 * the result. Returns false if the transport is unknown. */
static inline bool transport_take(struct remote_pod *pod, char *text)
{
	static const char *const names[] = { [REMOTE_LIBSSH2] = "libssh2",
					     [REMOTE_OPENSSH] = "openssh",
					     [REMOTE_LOCAL] = "local",
					     [REMOTE_COMMAND] = "command" };
	static const char *words[16];
	char *rest = strchr(text, ':');
	size_t n = 0;

	if (rest != NULL)
		*rest++ = '\0';
	pod->ssh = rest;
	for (int i = REMOTE_LIBSSH2; i <= REMOTE_COMMAND; i++) {
		pod->transport = (enum remote_transport)i;
		if (strcmp(names[i], text) == 0)
			break;
		if (i == REMOTE_COMMAND)
			return false;
	}
	if (pod->transport != REMOTE_COMMAND)
		return true;
	pod->ssh = NULL;
	pod->command = words;
	for (; rest != NULL && n < 15; n++)
		words[n] = strsep(&rest, " ");
	return n > 0;
}
