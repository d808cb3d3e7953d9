/* SPDX-License-Identifier: MIT */
/* What `doctor` says of SSH keys, known hosts and the agent. */
#include "config.h"

#include "cmd/doctor_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/xalloc.h"
#include "remote/ssh_agent.h"

struct teller {
	doctor_say_fn say;
	void *user;
};

static void __attribute__((format(printf, 4, 5)))
tell(const struct teller *t, enum doctor_state state, const char *next,
     const char *fmt, ...)
{
	char what[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	t->say(t->user, state, what, next);
}

/* The first bytes of a file as a text; "" when it cannot be read. */
static void
read_head(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

/* The type is in the head of an old private key, or in the .pub beside it. */
static bool
is_rsa(const char *path, const char *head)
{
	char *public_path;
	char text[64];

	if (strstr(head, "BEGIN RSA PRIVATE KEY") != NULL)
		return true;
	public_path = xasprintf("%s.pub", path);
	read_head(public_path, text, sizeof(text));
	free(public_path);
	return str_starts_with(str_from(text), "ssh-rsa ");
}

static void
check_key(const struct teller *t, const char *path, bool must_work)
{
	char head[512];
	struct stat st;

	if (stat(path, &st) != 0) {
		tell(t, DOCTOR_FAIL, "correct \"identity\" of the pod",
		     "%s: %s", path, strerror(errno));
		return;
	}
	read_head(path, head, sizeof(head));
	if ((st.st_mode & 077) != 0)
		tell(t, DOCTOR_WARN, "chmod 600 it: ssh refuses it so",
		     "%s: others may read this private key", path);
	if (strstr(head, "PRIVATE KEY") == NULL)
		tell(t, DOCTOR_FAIL,
		     "name the private key (the file without .pub)",
		     "%s is no private key that can be read", path);
	else if (must_work && is_rsa(path, head))
		tell(t, DOCTOR_WARN,
		     "use an ed25519 key, or \"transport\": \"openssh\"",
		     "%s is an RSA key, which this libssh2 cannot use", path);
	else
		tell(t, DOCTOR_OK, NULL, "%s", path);
}

/* The usual keys: those that are there. */
static size_t
check_usual_keys(const struct teller *t, bool has_rsa_sha2)
{
	static const char *const names[] = { "id_ed25519", "id_ecdsa",
					     "id_rsa" };
	size_t found = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *usual = xasprintf("~/.ssh/%s", names[i]);
		char *path = conf_expand_home(usual);

		if (access(path, F_OK) == 0) {
			check_key(t, path, !has_rsa_sha2);
			found++;
		}
		free(path);
		free(usual);
	}
	return found;
}

static void
check_known_hosts(const struct teller *t, const char *path)
{
	if (access(path, R_OK) == 0)
		tell(t, DOCTOR_OK, NULL, "%s", path);
	else
		tell(t, DOCTOR_WARN,
		     "log in once with ssh, or see pods check --accept-new",
		     "%s: %s: no host key is known", path, strerror(errno));
}

static const char *
file_of(const struct conf_pod *pod, bool identity)
{
	return identity ? pod->identity : pod->known_hosts;
}

/* No pod before it names the same file. */
static bool
is_first(const struct conf *conf, size_t pod, bool identity)
{
	const char *file = file_of(&conf->pods[pod], identity);

	for (size_t i = 0; i < pod; i++) {
		const char *other = file_of(&conf->pods[i], identity);

		if (other != NULL && strcmp(other, file) == 0)
			return false;
	}
	return true;
}

void
doctor_check_keys(const struct conf *conf, bool has_rsa_sha2, doctor_say_fn say,
		  void *user)
{
	const struct teller t = { say, user };
	char *usual = conf_expand_home("~/.ssh/known_hosts");
	size_t found = check_usual_keys(&t, has_rsa_sha2), remote = 0;

	for (size_t i = 0; conf != NULL && i < conf->n_pods; i++) {
		const struct conf_pod *pod = &conf->pods[i];

		remote += pod->transport != CONF_LOCAL;
		if (pod->identity != NULL && is_first(conf, i, true))
			check_key(&t, pod->identity,
				  !has_rsa_sha2 &&
					  pod->transport == CONF_LIBSSH2);
		if (pod->known_hosts != NULL && is_first(conf, i, false))
			check_known_hosts(&t, pod->known_hosts);
		found += pod->identity != NULL;
	}
	if (remote > 0)
		check_known_hosts(&t, usual);
	if (remote > 0 && found == 0)
		tell(&t, DOCTOR_WARN, "ssh-keygen -t ed25519, or use an agent",
		     "there is no key in ~/.ssh and no pod names one");
	free(usual);
}

/* Ask the agent for its keys; it may hang, but not us for long. */
static void
ask_agent(const struct teller *t, const char *path)
{
	const atomic_bool never = false;
	struct ssh_agent agent;

	if (ssh_agent_open(&agent, path, &never))
		tell(t, DOCTOR_OK, NULL, "agent at %s holds %zu %s", path,
		     agent.n_keys, agent.n_keys == 1 ? "key" : "keys");
	else if (agent.has_answered)
		tell(t, DOCTOR_WARN, "start it again, or unset SSH_AUTH_SOCK",
		     "what listens at %s (SSH_AUTH_SOCK) is no SSH agent",
		     path);
	else if (agent.is_connected)
		tell(t, DOCTOR_WARN,
		     "does it wait for you? else start it again, or unset "
		     "SSH_AUTH_SOCK",
		     "the agent at %s does not answer", path);
	else
		tell(t, DOCTOR_WARN, "start it again, or unset SSH_AUTH_SOCK",
		     "SSH_AUTH_SOCK names %s, where no agent listens", path);
	ssh_agent_close(&agent);
}

void
doctor_check_agent(doctor_say_fn say, void *user)
{
	const struct teller t = { say, user };
	const char *path = getenv("SSH_AUTH_SOCK");

	if (path == NULL || path[0] == '\0')
		tell(&t, DOCTOR_OK, NULL, "no agent: SSH_AUTH_SOCK is not set");
	else
		ask_agent(&t, path);
}
