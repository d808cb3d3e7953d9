/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "base/buf.h"

/* An ssh-agent client (draft-miller-ssh-agent) for jobs: it blocks, but never past its deadline,
 * and gives up within 0.1 s once *cancel is set. libssh2's own client has no deadline, and agents
 * may ask their owner. */
#define SSH_AGENT_MAX_KEYS 64

struct ssh_agent {
	int fd;
	const atomic_bool *cancel; /* borrowed */
	bool is_connected;	   /* the socket accepts connections */
	bool has_answered;	   /* with data, or by closing */
	struct buf answer;
	struct buf keys[SSH_AGENT_MAX_KEYS]; /* public blobs */
	size_t n_keys;
};

/* Connect and list the keys; false if no agent answers. */
bool ssh_agent_open(struct ssh_agent *agent, const char *path, const atomic_bool *cancel);
void ssh_agent_close(struct ssh_agent *agent);

/* Sign data with the key of that blob within timeout_ms; flags 2 and 4 request RSA with SHA-256 and
 * SHA-512. *signature is the bare signature without its type, borrowed until the next call. */
bool ssh_agent_sign(struct ssh_agent *agent, struct str blob, struct str data, uint32_t flags,
		    int64_t timeout_ms, struct str *signature);
