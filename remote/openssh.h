/* SPDX-License-Identifier: MIT */
#pragma once

#include "remote/fleet.h"

/*
 * OpenSSH: what its configuration makes of a name, command lines for ssh(1),
 * and what that says when it gives up.
 */

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
	char *agent;			     /* socket; NULL: none is to be used */
	char *proxy_jump;		     /* NULL: none */
	char *proxy_command;		     /* expanded; NULL: none */
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
int ssh_target_parse(struct ssh_target *target, const struct remote_pod *pod, struct str text,
		     struct err *err) __attribute__((warn_unused_result));
void ssh_target_release(struct ssh_target *target);

/* Its name in known_hosts: the alias, "host", or "[host]:port"; owned. */
char *ssh_target_known_name(const struct ssh_target *target);

#define SSH_WORDS_MAX 24

/* The words of a command line, NULL-ended; zeroed before the first is added. */
struct ssh_words {
	const char *argv[SSH_WORDS_MAX + 1];
	char *owned[SSH_WORDS_MAX];
	size_t n;
};

void ssh_words_add(struct ssh_words *words, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Several words as they stand, up to a NULL. */
void ssh_words_add_list(struct ssh_words *words, ...) __attribute__((sentinel));
#define ssh_words_add_all(words, ...) ssh_words_add_list((words), __VA_ARGS__, (char *)NULL)
/* The host of [user@]host[:port], and before it "--" and what it takes. */
int ssh_words_add_host(struct ssh_words *words, const char *text, struct err *err)
	__attribute__((warn_unused_result));
/* Add the words; release them in any case. */

/*
 * `ssh POD COMMAND`: never a question, never a terminal, never an unknown
 * host key in silence.  It prints SSH_UP_MARK to stderr once it is through.
 */
#define SSH_UP_MARK "hgym-tui-link-up\n"
int ssh_words_command(struct ssh_words *words, const struct remote_pod *pod, bool accept_new,
		      const char *command, struct err *err) __attribute__((warn_unused_result));
/* `ssh -t POD`: for a person, who may be asked. */
int ssh_words_shell(struct ssh_words *words, const struct remote_pod *pod, struct err *err)
	__attribute__((warn_unused_result));
/* `ssh -W host:port JUMP`; of the jumps "a,b" b is reached through a. */
int ssh_words_jump(struct ssh_words *words, const char *jumps, bool accept_new, const char *host,
		   int port, struct err *err) __attribute__((warn_unused_result));
void ssh_words_release(struct ssh_words *words);

/*
 * What ssh(1) wrote to stderr before it gave up, as an error: its last line
 * that says something, and a code by it (AUTH, HOSTKEY, TIMEOUT, NET).
 * Returns true when another try cannot help.
 */
bool openssh_error(struct err *err, const char *whom, struct str text);
/* The last line with letters in it, less its end. */
struct str openssh_last_line(struct str text);
