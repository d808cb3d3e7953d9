/* SPDX-License-Identifier: MIT */
#pragma once

#include "remote/fleet.h"

/* OpenSSH: the meaning of a name in its configuration, command lines for ssh(1), and its error
 * messages. */

/* The meaning of a pod's name, from `ssh -G -- NAME` as a child process, so that Host, Match and
 * Include mean the same as to ssh(1); without an ssh program [user@]host[:port] is used
 * directly. */
#define SSH_TARGET_FILES 16

struct ssh_target {
	char *host;  /* HostName */
	char *alias; /* HostKeyAlias: the name in known_hosts; or NULL */
	char *user;
	int port;
	char *identities[SSH_TARGET_FILES]; /* expanded paths */
	size_t n_identities;
	bool identities_only;
	char *agent;			     /* socket; NULL: do not use an agent */
	char *proxy_jump;		     /* NULL: none */
	char *proxy_command;		     /* expanded; NULL: none */
	char *known_hosts[SSH_TARGET_FILES]; /* new keys are written to the first */
	size_t n_known_hosts;
};

/* Parts of [user@]host[:port] or [user@][host]:port; owned. */
struct ssh_dest {
	char *user; /* NULL: not given */
	char *host;
	int port; /* 0: not given */
};

/* -1 with err: empty, a port out of range, a host that starts with '-'. */
int ssh_dest_parse(struct ssh_dest *dest, const char *text, struct err *err) MUST_USE;
void ssh_dest_release(struct ssh_dest *dest);

/* Read the output of `ssh -G` for that name into target (zeroed before); explicit keys of the pod
 * take precedence. Depends only on its arguments, the environment and passwd. */
int ssh_target_parse(struct ssh_target *target, const struct remote_pod *pod, struct str text,
		     struct err *err) MUST_USE;
void ssh_target_release(struct ssh_target *target);

/* Its name in known_hosts: the alias, "host", or "[host]:port"; owned. */
char *ssh_target_known_name(const struct ssh_target *target);

#define SSH_WORDS_MAX 24

/* The words of a command line, NULL-terminated; zeroed before the first is added. */
struct ssh_words {
	const char *argv[SSH_WORDS_MAX + 1];
	char *owned[SSH_WORDS_MAX];
	size_t n;
};

void ssh_words_add(struct ssh_words *words, const char *fmt, ...) LIKE_PRINTF(2, 3);
/* Several literal words, up to a NULL. */
void ssh_words_add_list(struct ssh_words *words, ...) __attribute__((sentinel));
#define ssh_words_add_all(words, ...) ssh_words_add_list((words), __VA_ARGS__, (char *)NULL)
/* Append "--" and the host of [user@]host[:port], and before them the options for user and port. */
int ssh_words_add_host(struct ssh_words *words, const char *text, struct err *err) MUST_USE;
/* Append the words; release them in any case. */

/* `ssh POD COMMAND`: never asks, uses no terminal, accepts no unknown host key. It prints
 * SSH_UP_MARK to stderr once it is connected. */
#define SSH_UP_MARK "hgym-tui-link-up\n"
int ssh_words_command(struct ssh_words *words, const struct remote_pod *pod, bool accept_new,
		      const char *command, struct err *err) MUST_USE;
/* `ssh -t POD`: for a person, who may be asked. */
int ssh_words_shell(struct ssh_words *words, const struct remote_pod *pod,
		    struct err *err) MUST_USE;
/* `ssh -W host:port JUMP`; for the jumps "a,b", b is reached through a. */
int ssh_words_jump(struct ssh_words *words, const char *jumps, bool accept_new, const char *host,
		   int port, struct err *err) MUST_USE;
void ssh_words_release(struct ssh_words *words);

/* Convert ssh(1)'s stderr before it gave up to an error: its last meaningful line, and a code
 * derived from it (AUTH, HOSTKEY, TIMEOUT, NET). Returns true if a retry cannot help. */
bool openssh_error(struct err *err, const char *whom, struct str text);
