/* SPDX-License-Identifier: MIT */
/* Command lines and errors of ssh(1); for the ways that start it. */
#include "config.h"

#include "remote/openssh.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/home.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "remote/ssh_target.h"

void
ssh_words_add(struct ssh_words *words, const char *fmt, ...)
{
	struct buf word;
	va_list ap;

	assert(words->n < SSH_WORDS_MAX);
	buf_init(&word, 65536);
	va_start(ap, fmt);
	buf_vappendf(&word, fmt, ap);
	va_end(ap);
	words->owned[words->n] = buf_detach(&word);
	words->argv[words->n] = words->owned[words->n];
	words->n++;
}

void
ssh_words_add_all(struct ssh_words *words, ...)
{
	const char *word;
	va_list ap;

	va_start(ap, words);
	while ((word = va_arg(ap, const char *)) != NULL)
		ssh_words_add(words, "%s", word);
	va_end(ap);
}

int
ssh_words_add_host(struct ssh_words *words, const char *text, struct err *err)
{
	struct ssh_dest dest;

	if (ssh_dest_parse(&dest, text, err) != 0)
		return -1;
	if (dest.port > 0)
		ssh_words_add(words, "-p%d", dest.port);
	if (dest.user != NULL)
		ssh_words_add_all(words, "-l", dest.user, NULL);
	ssh_words_add_all(words, "--", dest.host, NULL);
	ssh_dest_release(&dest);
	return 0;
}

/* Options of an ssh(1) that asks nobody. */
static void
add_unasked(struct ssh_words *words, bool accept_new)
{
	ssh_words_add_all(words, "ssh", "-oBatchMode=yes",
			  "-oConnectTimeout=10",
			  accept_new ? "-oStrictHostKeyChecking=accept-new"
				     : "-oStrictHostKeyChecking=yes",
			  NULL);
}

static int
add_pod(struct ssh_words *words, const struct remote_pod *pod, struct err *err)
{
	char *path;

	if (pod->identity != NULL) {
		path = home_expand(pod->identity);
		ssh_words_add_all(words, "-i", path, NULL);
		free(path);
	}
	if (pod->known_hosts != NULL) {
		path = home_expand(pod->known_hosts);
		ssh_words_add(words, "-oUserKnownHostsFile=\"%s\"", path);
		free(path);
	}
	if (pod->proxy_jump != NULL)
		ssh_words_add_all(words, "-J", pod->proxy_jump, NULL);
	return ssh_words_add_host(words, pod->ssh, err);
}

int
ssh_words_command(struct ssh_words *words, const struct remote_pod *pod,
		  bool accept_new, const char *command, struct err *err)
{
	add_unasked(words, accept_new);
	ssh_words_add_all(words, "-T", "-oServerAliveInterval=5",
			  "-oServerAliveCountMax=3", "-oPermitLocalCommand=yes",
			  NULL);
	ssh_words_add(words, "-oLocalCommand=sh -c 'echo %.*s >&2'",
		      (int)sizeof(SSH_UP_MARK) - 2, SSH_UP_MARK);
	if (add_pod(words, pod, err) != 0)
		return -1;
	ssh_words_add(words, "%s", command);
	return 0;
}

int
ssh_words_shell(struct ssh_words *words, const struct remote_pod *pod,
		struct err *err)
{
	ssh_words_add_all(words, "ssh", "-t", NULL);
	return add_pod(words, pod, err);
}

int
ssh_words_jump(struct ssh_words *words, const char *jumps, bool accept_new,
	       const char *host, int port, struct err *err)
{
	const char *comma = strrchr(jumps, ',');

	add_unasked(words, accept_new);
	if (comma != NULL) {
		ssh_words_add(words, "-J");
		ssh_words_add(words, "%.*s", (int)(comma - jumps), jumps);
	}
	ssh_words_add(words, "-W[%s]:%d", host, port);
	return ssh_words_add_host(words, comma != NULL ? comma + 1 : jumps,
				  err);
}

void
ssh_words_release(struct ssh_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->owned[i]);
	memset(words, 0, sizeof(*words));
}

/* What ssh(1) says, in the order of weight; the last one is anything else. */
static const struct {
	const char *text;
	enum err_code code;
	bool final;
	const char *hint;
} ssh_says[] = {
	{ "HOST IDENTIFICATION HAS CHANGED", ERR_HOSTKEY, true,
	  "the host key is not the one that is known: " },
	{ "REVOKED HOST KEY", ERR_HOSTKEY, true, "" },
	{ "Host key verification failed", ERR_HOSTKEY, true, "" },
	{ "host key is known for", ERR_HOSTKEY, true, "" },
	{ "Too many authentication failures", ERR_AUTH, true, "" },
	{ "Permission denied", ERR_AUTH, true, "" },
	{ "Unable to negotiate", ERR_NET, true, "" },
	{ "Bad configuration option", ERR_CONFIG, true, "" },
	{ "hostname contains invalid characters", ERR_CONFIG, true, "" },
	{ "timed out", ERR_TIMEOUT, false, "" },
	{ "not responding", ERR_TIMEOUT, false, "" },
	{ NULL, ERR_NET, false, "" },
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
openssh_error(struct err *err, const char *whom, struct str text)
{
	char clean[256];
	size_t i = 0;

	while (ssh_says[i].text != NULL &&
	       str_find(text, ssh_says[i].text) == NULL)
		i++;
	utf8_clean(clean, sizeof(clean), last_line(text));
	err_set(err, ssh_says[i].code, "%s: %s%s", whom, ssh_says[i].hint,
		clean[0] != '\0' ? clean : "ssh gave up without a word");
	return ssh_says[i].final;
}
