/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"

/* A shell on a pod, in the terminal of the dashboard until the shell exits: ssh with the options of
 * the pod, or a shell on this machine for a local pod. */
struct pod_shell {
	char **argv; /* owned; NULL-terminated */
	char *text;  /* owned; argv as a quoted line */
	pid_t pid;   /* 0: not running */
	int tty;
	pid_t ours; /* process group of the dashboard; 0: the shell runs in it */
};

/* Build argv for a command on the pod (NULL: interactive shell). Release it even after -1. */
int pod_shell_init(struct pod_shell *shell, const struct conf_pod *pod, const char *command,
		   struct err *err) MUST_USE;
/* Build argv for a command on this machine, or for `hgym-tui init` if command is NULL. */
void pod_shell_init_local(struct pod_shell *shell, const struct context *context,
			  const char *command);
void pod_shell_release(struct pod_shell *shell);
/* Start it as the foreground job of the terminal. */
int pod_shell_start(struct pod_shell *shell, int tty, struct err *err) MUST_USE;
/* Has the shell exited? Take the terminal back; *status: its exit status, or 128 + its signal. */
bool pod_shell_poll(struct pod_shell *shell, int *status);
/* Kill it and take the terminal back. */
void pod_shell_kill(struct pod_shell *shell);
