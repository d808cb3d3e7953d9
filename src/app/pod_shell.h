/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "conf/conf.h"

/*
 * A shell on a pod, in the terminal that the dashboard steps away from: ssh
 * with the pod's own options, or this machine's shell for a local pod.
 */
struct pod_shell {
	char **argv; /* owned, ended by NULL */
	char *text;  /* owned; the same for people and for a shell */
	pid_t pid;   /* 0: does not run */
	int tty;
	pid_t ours; /* the group that had the terminal; 0: not handed over */
};

/*
 * The words of it, or of that command on the pod where there is one; release
 * it in any case.
 */
int pod_shell_init(struct pod_shell *shell, const struct conf_pod *pod, const char *command,
		   struct err *err) __attribute__((warn_unused_result));
void pod_shell_release(struct pod_shell *shell);
/* Start it in the foreground of the terminal. */
int pod_shell_start(struct pod_shell *shell, int tty, struct err *err)
	__attribute__((warn_unused_result));
/*
 * Whether it has ended; then the terminal is ours again, and *status is its
 * exit status, or 128 + its signal.
 */
bool pod_shell_poll(struct pod_shell *shell, int *status);
/* End it and take the terminal back. */
void pod_shell_kill(struct pod_shell *shell);
