/* SPDX-License-Identifier: MIT */
#pragma once

#include "remote/fleet.h"

/* Look up hosts in the OpenSSH configuration, build ssh(1) commands, read its error messages. */

#define SSH_TARGET_FILES 16

/* How to reach a pod. The values come from `ssh -G -- NAME`, so that Host, Match and Include have
 * the same effect as in ssh(1). Without an ssh program, NAME is read as [user@]host[:port]. */
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

/* The parts of [user@]host[:port] or [user@][host]:port. The strings are owned. */
struct ssh_dest {
	char *user; /* NULL: not given */
	char *host;
	int port; /* 0: not given */
};

/* -1 with err if user or host is empty or starts with '-', or the port is out of range. */
int ssh_dest_parse(struct ssh_dest *dest, const char *text, struct err *err) MUST_USE;
void ssh_dest_release(struct ssh_dest *dest);

/* Read the output of `ssh -G` (text; empty without ssh) into target, which must be zeroed. Members
 * of the pod that are set take precedence. Runs no program and opens no connection. */
int ssh_target_parse(struct ssh_target *target, const struct remote_pod *pod, struct str text,
		     struct err *err) MUST_USE;
void ssh_target_release(struct ssh_target *target);

/* The target's name in known_hosts: the alias, "host", or "[host]:port". The caller frees it. */
char *ssh_target_known_name(const struct ssh_target *target);

#define SSH_WORDS_MAX 24

/* A command line: argv is NULL-terminated. Zero the struct before the first word is added. */
struct ssh_words {
	const char *argv[SSH_WORDS_MAX + 1];
	char *owned[SSH_WORDS_MAX];
	size_t n;
};

void ssh_words_add(struct ssh_words *words, const char *fmt, ...) LIKE_PRINTF(2, 3);
/* Append several words, up to a NULL. */
void ssh_words_add_list(struct ssh_words *words, ...) __attribute__((sentinel));
#define ssh_words_add_all(words, ...) ssh_words_add_list((words), __VA_ARGS__, (char *)NULL)
/* Append options for the user and port of [user@]host[:port], then "--" and the host. */
int ssh_words_add_host(struct ssh_words *words, const char *text, struct err *err) MUST_USE;

/* The next three append a whole command line; call ssh_words_release even if they fail. */

/* `ssh POD COMMAND`, which never prompts, uses no terminal, and accepts an unknown host key only
 * with accept_new. This ssh prints SSH_UP_MARK to stderr once it is connected. */
#define SSH_UP_MARK "hgym-tui-link-up\n"
int ssh_words_command(struct ssh_words *words, const struct remote_pod *pod, bool accept_new,
		      const char *command, struct err *err) MUST_USE;
/* `ssh -t POD`, for a user at a terminal; this ssh may prompt. */
int ssh_words_shell(struct ssh_words *words, const struct remote_pod *pod,
		    struct err *err) MUST_USE;
/* `ssh -W host:port JUMP`. With the jumps "a,b", ssh reaches b through a. */
int ssh_words_jump(struct ssh_words *words, const char *jumps, bool accept_new, const char *host,
		   int port, struct err *err) MUST_USE;
void ssh_words_release(struct ssh_words *words);

/* Make an error from the stderr (text) of an ssh(1) that failed: its last line, and a code that
 * follows from the text (AUTH, HOSTKEY, CONFIG, TIMEOUT, NET). True if a retry cannot help. */
bool openssh_error(struct err *err, const char *whom, struct str text);
