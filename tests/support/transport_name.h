/* SPDX-License-Identifier: MIT */
#ifndef HGYM_TESTS_SUPPORT_TRANSPORT_NAME_H
#define HGYM_TESTS_SUPPORT_TRANSPORT_NAME_H

#include <string.h>

#include "remote/fleet.h"

/* The transport of a name of the configuration; false: there is none such. */
static inline bool
transport_by_name(const char *name, enum remote_transport *transport)
{
	static const char *const names[] = { [REMOTE_LIBSSH2] = "libssh2",
					     [REMOTE_OPENSSH] = "openssh",
					     [REMOTE_LOCAL] = "local" };

	for (int i = REMOTE_LIBSSH2; i <= REMOTE_LOCAL; i++) {
		*transport = (enum remote_transport)i;
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

#endif
