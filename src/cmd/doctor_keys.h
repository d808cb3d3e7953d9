/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_DOCTOR_KEYS_H
#define HGYM_CMD_DOCTOR_KEYS_H

#include <stdbool.h>

#include "conf/conf.h"

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

/* next is NULL when there is nothing to do. */
typedef void (*doctor_say_fn)(void *user, enum doctor_state state,
			      const char *what, const char *next);

/*
 * The private keys and known_hosts files that the pods name, and the user's
 * usual ones: are they there, may others read them, can libssh2 use them.
 * conf may be NULL.  No key is loaded: only the head of a file is looked at.
 */
void doctor_check_keys(const struct conf *conf, bool has_rsa_sha2,
		       doctor_say_fn say, void *user);

/* Is there an agent to ask? */
void doctor_check_agent(doctor_say_fn say, void *user);

#endif
