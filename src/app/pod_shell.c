/* SPDX-License-Identifier: MIT */
/* A shell on a pod, run in the terminal of the dashboard. */
#include "app/pod_shell.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/quote.h"
#include "pods/pods.h"
#include "remote/openssh.h"

#define TEXT_BYTES    4000U
#define COMMAND_BYTES (256U << 10)

static void set_words(struct pod_shell *shell, const char *const *argv, size_t n)
{
	struct buf text = buf_new(TEXT_BYTES);

	shell->argv = xcalloc(n + 1, sizeof(*shell->argv));
	for (size_t i = 0; i < n; i++)
		shell->argv[i] = xstrdup(argv[i]);
	quote_argv(&text, argv);
	shell->text = buf_detach(&text);
}

int pod_shell_init(struct pod_shell *shell, const struct conf_pod *pod, const char *command,
		   struct err *err)
{
	const struct remote_pod remote = pods_remote(pod);
	const char *ours = getenv("SHELL");
	const char *const local[] = { ours != NULL && ours[0] == '/' ? ours : "/bin/sh", NULL };
	struct ssh_words words = { .n = 0 };
	const struct conf_strings *theirs = pod->shell.n > 0 ? &pod->shell : &pod->command;

	AUTO_BUF line = buf_new(COMMAND_BYTES);

	memset(shell, 0, sizeof(*shell));
	if (pod->ssh == NULL) {
		/* The shell of a "command" pod reads the command from stdin. */
		if (command != NULL && pod->transport == CONF_COMMAND) {
			buf_append_str(&line, "printf '%s\\n' ");
			quote_word(&line, str_from(command));
			buf_append_str(&line, " | ");
			quote_argv(&line, (const char *const *)pod->command.v);
			command = line.data;
		}
		if (command != NULL)
			set_words(shell, (const char *const[]){ "/bin/sh", "-c", command, NULL },
				  3);
		else if (pod->transport == CONF_LOCAL)
			set_words(shell, local, 1);
		else
			set_words(shell, (const char *const *)theirs->v, theirs->n);
		return 0;
	}
	int failed = ssh_words_shell(&words, &remote, err);
	if (!failed && command != NULL)
		ssh_words_add(&words, "%s", command);
	if (!failed)
		set_words(shell, words.argv, words.n);
	ssh_words_release(&words);
	return failed;
}

void pod_shell_init_local(struct pod_shell *shell, const struct context *context,
			  const char *command)
{
	const char *argv[CONTEXT_ARGV + 2] = { "/bin/sh", "-c", command, NULL };
	size_t n = 3;

	memset(shell, 0, sizeof(*shell));
	if (command == NULL) {
		n = context_argv(context, argv);
		argv[n++] = "init";
		argv[n] = NULL;
	}
	set_words(shell, argv, n);
}

void pod_shell_release(struct pod_shell *shell)
{
	for (size_t i = 0; shell->argv != NULL && shell->argv[i] != NULL; i++)
		free(shell->argv[i]);
	free(shell->argv);
	free(shell->text);
	memset(shell, 0, sizeof(*shell));
}

/* Give the terminal to a process group, even if this process is in the background. */
static void give_terminal(int tty, pid_t group)
{
	sigset_t stop, before;

	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTTOU);
	(void)sigprocmask(SIG_BLOCK, &stop, &before);
	(void)tcsetpgrp(tty, group);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

int pod_shell_start(struct pod_shell *shell, int tty, struct err *err)
{
	sigset_t none;

	shell->tty = tty;
	/* Without job control the shell shares the group of this process. */
	shell->ours = tcgetpgrp(tty) == getpgrp() ? getpgrp() : 0;
	shell->pid = fork();
	if (shell->pid < 0) {
		shell->pid = 0;
		return err_set_errno(err, ERR_IO, "cannot start a shell");
	}
	if (shell->pid == 0) {
		/* Run the shell as a foreground job with default signal actions. */
		if (shell->ours != 0) {
			(void)setpgid(0, 0);
			give_terminal(tty, getpid());
		}
		for (int signum = 1; signum < 32; signum++)
			(void)signal(signum, SIG_DFL);
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)execvp(shell->argv[0], shell->argv);
		_exit(127);
	}
	if (shell->ours != 0) {
		(void)setpgid(shell->pid, shell->pid);
		give_terminal(tty, shell->pid);
	}
	return 0;
}

bool pod_shell_poll(struct pod_shell *shell, int *status)
{
	int how;
	pid_t pid = waitpid(shell->pid, &how, WNOHANG | WUNTRACED);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	/* A stopped job would stay stopped: the user has no shell to continue it. */
	if (pid > 0 && WIFSTOPPED(how)) {
		(void)kill(-shell->pid, SIGCONT);
		return false;
	}
	if (shell->ours != 0)
		give_terminal(shell->tty, shell->ours);
	shell->pid = 0;
	*status = pid < 0 ? 127 : WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	return true;
}

void pod_shell_kill(struct pod_shell *shell)
{
	if (shell->pid == 0)
		return;
	(void)kill(shell->ours != 0 ? -shell->pid : shell->pid, SIGHUP);
	(void)kill(shell->ours != 0 ? -shell->pid : shell->pid, SIGCONT);
	if (shell->ours != 0)
		give_terminal(shell->tty, shell->ours);
	shell->pid = 0;
}
