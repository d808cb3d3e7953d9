/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_CHILD_H
#define HGYM_REMOTE_CHILD_H

#include "base/buf.h"
#include "base/str.h"
#include "remote/fleet.h"
#include "remote/ssh_alias.h"

/* What the ways that use child processes share. */

/* Close *fd if it is open, set it to -1. */
void child_close_fd(int *fd);
/* Close-on-exec; ours is the end that is also non-blocking. */
int child_pipe(int fds[2], int ours, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Our environment with what keeps ssh(1) from asking anybody anything; free
 * the vector alone (its strings are borrowed).
 */
const char **child_ssh_environment(void);

/* ssh prints this line to stderr when it is through, by its LocalCommand. */
#define CHILD_UP_MARK "hgym-tui-link-up\n"

/* The words of an ssh command line; their strings live as long as it. */
struct child_words {
	const char *argv[24];
	size_t n;
	struct buf known_hosts, port;
	struct ssh_dest dest;
	char *identity;
};

/*
 * `ssh POD COMMAND`: never a question, never a terminal, never an unknown
 * host key in silence.  Release it in any case.
 */
int child_words_init(struct child_words *words, const struct remote_pod *pod,
		     bool accept_new, const char *command, struct err *err)
	__attribute__((warn_unused_result));
/* `ssh -t POD`: for a person, who may be asked. */
int child_words_shell(struct child_words *words, const struct remote_pod *pod,
		      struct err *err) __attribute__((warn_unused_result));
void child_words_release(struct child_words *words);

/*
 * What ssh(1) wrote to stderr before it gave up, as an error: its last line
 * that says something, and a code by it (AUTH, HOSTKEY, TIMEOUT, NET).
 * Returns true when a further try cannot help.
 */
bool child_ssh_error(struct err *err, const char *whom, struct str text);

/* "KILL" for SIGKILL, "9" for what has no name. */
void child_signal_name(char out[16], int signum);

#endif
