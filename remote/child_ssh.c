/* SPDX-License-Identifier: MIT */
/* Pipes, environment and errors of child processes, ssh(1) above all. */
#include "config.h"

#include "remote/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/xalloc.h"

extern char **environ;

void
child_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int
child_pipe(int fds[2], int ours, struct err *err)
{
	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_set_errno(err, ERR_IO, "cannot make a pipe");
	fcntl(fds[ours], F_SETFL, O_NONBLOCK);
	return 0;
}

static bool
is_variable(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

const char **
child_ssh_environment(void)
{
	size_t n = 0, used = 0;
	const char **vector;

	while (environ[n] != NULL)
		n++;
	vector = xcalloc(n + 2, sizeof(*vector));
	for (size_t i = 0; i < n; i++)
		if (!is_variable(environ[i], "SSH_ASKPASS_REQUIRE") &&
		    !is_variable(environ[i], "LC_ALL") &&
		    !is_variable(environ[i], "LC_MESSAGES"))
			vector[used++] = environ[i];
	vector[used] = "SSH_ASKPASS_REQUIRE=never";
	return vector;
}

/* What ssh(1) of OpenSSH says, in the order of their weight. */
static const struct {
	const char *text;
	enum err_code code;
	bool final;
} ssh_says[] = {
	{ "HOST IDENTIFICATION HAS CHANGED", ERR_HOSTKEY, true },
	{ "REVOKED HOST KEY", ERR_HOSTKEY, true },
	{ "Host key verification failed", ERR_HOSTKEY, true },
	{ "host key is known for", ERR_HOSTKEY, true },
	{ "Too many authentication failures", ERR_AUTH, true },
	{ "Permission denied", ERR_AUTH, true },
	{ "Unable to negotiate", ERR_NET, true },
	{ "Bad configuration option", ERR_CONFIG, true },
	{ "hostname contains invalid characters", ERR_CONFIG, true },
	{ "timed out", ERR_TIMEOUT, false },
	{ "not responding", ERR_TIMEOUT, false },
};

/* The last line with letters in it, less its end. */
static struct str
last_line(struct str text)
{
	struct str last = { NULL, 0 }, line;

	while (str_next(&text, '\n', &line)) {
		line = str_trim(line);
		if (line.len > 0)
			last = line;
	}
	return last;
}

bool
child_ssh_error(struct err *err, const char *whom, struct str text)
{
	struct str line = last_line(text);
	enum err_code code = ERR_NET;
	const char *hint = "";
	struct buf clean;
	bool final = false;

	for (size_t i = 0; i < sizeof(ssh_says) / sizeof(*ssh_says); i++)
		if (str_find(text, ssh_says[i].text) != NULL) {
			code = ssh_says[i].code;
			final = ssh_says[i].final;
			break;
		}
	if (str_find(text, "HOST IDENTIFICATION HAS CHANGED") != NULL)
		hint = "the host key is not the one that is known: ";
	buf_init(&clean, 256);
	utf8_sanitize(&clean, line);
	err_set(err, code, "%s: %s%s", whom, hint,
		clean.len > 0 ? clean.data : "ssh gave up without a word");
	buf_release(&clean);
	return final;
}

void
child_signal_name(char out[16], int signum)
{
	static const struct {
		int signum;
		char name[8];
	} names[] = {
		{ SIGHUP, "HUP" },   { SIGINT, "INT" },	  { SIGQUIT, "QUIT" },
		{ SIGILL, "ILL" },   { SIGTRAP, "TRAP" }, { SIGABRT, "ABRT" },
		{ SIGBUS, "BUS" },   { SIGFPE, "FPE" },	  { SIGKILL, "KILL" },
		{ SIGUSR1, "USR1" }, { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" },
		{ SIGPIPE, "PIPE" }, { SIGALRM, "ALRM" }, { SIGTERM, "TERM" },
		{ SIGXCPU, "XCPU" }, { SIGXFSZ, "XFSZ" }, { SIGSYS, "SYS" },
	};

	snprintf(out, 16, "%d", signum);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].signum == signum)
			snprintf(out, 16, "%s", names[i].name);
}

static void
add_word(struct child_words *words, const char *word)
{
	words->argv[words->n++] = word;
}

static void
add_pod_options(struct child_words *words, const struct remote_pod *pod)
{
	if (pod->identity != NULL) {
		words->identity = ssh_expand_home(pod->identity);
		add_word(words, "-i");
		add_word(words, words->identity);
	}
	if (pod->known_hosts != NULL) {
		char *path = ssh_expand_home(pod->known_hosts);

		buf_appendf(&words->known_hosts, "-oUserKnownHostsFile=\"%s\"",
			    path);
		free(path);
		add_word(words, words->known_hosts.data);
	}
	if (pod->proxy_jump != NULL) {
		add_word(words, "-J");
		add_word(words, pod->proxy_jump);
	}
	if (words->dest.port > 0) {
		buf_appendf(&words->port, "-p%d", words->dest.port);
		add_word(words, words->port.data);
	}
	if (words->dest.user != NULL) {
		add_word(words, "-l");
		add_word(words, words->dest.user);
	}
}

int
child_words_init(struct child_words *words, const struct remote_pod *pod,
		 bool accept_new, const char *command, struct err *err)
{
	memset(words, 0, sizeof(*words));
	buf_init(&words->known_hosts, 8192);
	buf_init(&words->port, 16);
	if (ssh_dest_parse(&words->dest, pod->ssh, err) != 0)
		return -1;
	add_word(words, "ssh");
	add_word(words, "-T");
	add_word(words, "-oBatchMode=yes");
	add_word(words, "-oConnectTimeout=10");
	add_word(words, "-oServerAliveInterval=5");
	add_word(words, "-oServerAliveCountMax=3");
	add_word(words, accept_new ? "-oStrictHostKeyChecking=accept-new"
				   : "-oStrictHostKeyChecking=yes");
	add_word(words, "-oPermitLocalCommand=yes");
	add_word(words, "-oLocalCommand=sh -c 'echo hgym-tui-link-up >&2'");
	add_pod_options(words, pod);
	add_word(words, "--");
	add_word(words, words->dest.host);
	add_word(words, command);
	return 0;
}

int
child_words_shell(struct child_words *words, const struct remote_pod *pod,
		  struct err *err)
{
	memset(words, 0, sizeof(*words));
	buf_init(&words->known_hosts, 8192);
	buf_init(&words->port, 16);
	if (ssh_dest_parse(&words->dest, pod->ssh, err) != 0)
		return -1;
	add_word(words, "ssh");
	add_word(words, "-t");
	add_pod_options(words, pod);
	add_word(words, "--");
	add_word(words, words->dest.host);
	return 0;
}

void
child_words_release(struct child_words *words)
{
	buf_release(&words->known_hosts);
	buf_release(&words->port);
	ssh_dest_release(&words->dest);
	free(words->identity);
}
