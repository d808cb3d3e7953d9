/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_TARGET_H
#define HGYM_REMOTE_SSH_TARGET_H

#include "base/str.h"
#include "remote/fleet.h"

/*
 * What a pod's name stands for: `ssh -G -- NAME` asked as a child, so that
 * Host, Match and Include mean what they mean to ssh(1); without an ssh
 * program [user@]host[:port] as it stands.
 */
#define SSH_TARGET_FILES 16

struct ssh_target {
	char *host;  /* HostName */
	char *alias; /* HostKeyAlias: the name in known_hosts; or NULL */
	char *user;
	int port;
	char *identities[SSH_TARGET_FILES]; /* expanded paths */
	size_t n_identities;
	bool identities_only;
	char *agent;	     /* socket; NULL: none is to be used */
	char *proxy_jump;    /* NULL: none */
	char *proxy_command; /* expanded; NULL: none */
	char *known_hosts[SSH_TARGET_FILES]; /* the first is written to */
	size_t n_known_hosts;
};

/* Parts of [user@]host[:port] or [user@][host]:port; owned. */
struct ssh_dest {
	char *user; /* NULL: none was given */
	char *host;
	int port; /* 0: none was given */
};

/* -1 with err: empty, a port out of range, a host that begins with '-'. */
int ssh_dest_parse(struct ssh_dest *dest, const char *text, struct err *err)
	__attribute__((warn_unused_result));
void ssh_dest_release(struct ssh_dest *dest);

/*
 * Read what `ssh -G` printed for that name into target (zeroed before);
 * explicit keys of the pod win.  Pure but for the environment and passwd.
 */
int ssh_target_parse(struct ssh_target *target, const struct remote_pod *pod,
		     struct str text, struct err *err)
	__attribute__((warn_unused_result));
void ssh_target_release(struct ssh_target *target);

/* Its name in known_hosts: the alias, "host", or "[host]:port"; owned. */
char *ssh_target_known_name(const struct ssh_target *target);

#endif
