/* SPDX-License-Identifier: MIT */
/* The host key and the keys of a connection; for ssh_conn.c. */
#include "config.h"

#include "remote/ssh_login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "remote/ssh_key.h"

/* Wrong passphrases until it is given up. */
#define PASSPHRASE_TRIES 3

void
ssh_login_init(struct ssh_login *login)
{
	buf_init(&login->key_base64, SSH_KEY_MAX_BYTES);
	list_init(&login->in_asking);
}

void
ssh_login_release(struct ssh_login *login)
{
	for (size_t i = 0; i < SSH_TARGET_FILES; i++)
		ssh_secret_free(login->auth.passphrases[i]);
	buf_release(&login->key_base64);
}

bool
ssh_login_cancel(struct ssh_login *login)
{
	list_remove(&login->in_asking);
	atomic_store(&login->auth.cancel, true);
	return login->in_job;
}

static void
login_end(struct ssh_login *login, enum ssh_auth_result result,
	  const struct err *why)
{
	login->fn(login->user, result, why);
}

/* Put a question to a person; must be the last that touches the login. */
static void
login_ask(struct ssh_login *login, const struct fleet_question *question)
{
	const struct fleet_options *options = &login->link->fleet->options;

	gate_leave(login->ticket);
	log_debug("ssh", "%s: waiting for an answer", login->link->pod.name);
	options->on_ask(options->user, question);
}

static const char *
needed_path(const struct ssh_login *login)
{
	return login->target->identities[login->auth.needs];
}

/* A login that waits for that passphrase. */
static struct ssh_login *
find_asking(const struct fleet *fleet, const char *path)
{
	list_each (struct ssh_login, login, &fleet->asking, in_asking)
		if (strcmp(needed_path(login), path) == 0)
			return login;
	return NULL;
}

static void
ask_passphrase(struct ssh_login *login)
{
	struct fleet *fleet = login->link->fleet;
	struct fleet_question question = { .ask = FLEET_ASK_PASSPHRASE,
					   .pod = login->link->index,
					   .again = login->auth.wrong };
	bool is_asked = find_asking(fleet, needed_path(login)) != NULL;

	snprintf(question.path, sizeof(question.path), "%s",
		 needed_path(login));
	list_append(&fleet->asking, &login->in_asking);
	if (is_asked)
		gate_leave(login->ticket);
	else
		login_ask(login, &question);
}

static void
refuse_passphrase(struct ssh_login *login)
{
	struct err err;

	err_set(&err, ERR_AUTH,
		login->auth.wrong
			? "the passphrase of the key %s is wrong (or libssh2 "
			  "cannot read the key: then use \"transport\": "
			  "\"openssh\")"
			: "the key %s needs its passphrase: give it in the "
			  "program, or add the key to ssh-agent",
		needed_path(login));
	login_end(login, SSH_AUTH_REFUSED, &err);
}

static void try_keys(struct ssh_login *login);

/* The server wants a key whose passphrase is not known, or was wrong. */
static void
need_passphrase(struct ssh_login *login)
{
	struct fleet *fleet = login->link->fleet;
	struct str path = str_from(needed_path(login));
	const char *known = map_get(&fleet->secrets, path);
	char **used = &login->auth.passphrases[login->auth.needs];

	if (known != NULL && *used != NULL && strcmp(known, *used) == 0) {
		ssh_secret_free(map_remove(&fleet->secrets, path));
		known = NULL;
	}
	ssh_secret_free(*used);
	*used = NULL;
	if (known != NULL)
		try_keys(login);
	else if (fleet->options.on_ask == NULL || login->link->depth > 0 ||
		 login->passphrase_tries++ >= PASSPHRASE_TRIES)
		refuse_passphrase(login);
	else
		ask_passphrase(login);
}

static void
auth_work(void *user)
{
	struct ssh_login *login = user;

	ssh_auth_work(&login->auth);
}

static void
auth_done(void *user)
{
	struct ssh_login *login = user;

	login->in_job = false;
	login->session->blocks = false;
	if (login->auth.result == SSH_AUTH_NEEDS &&
	    !atomic_load(&login->auth.cancel))
		need_passphrase(login);
	else
		login_end(login, login->auth.result, &login->auth.err);
}

/* The job borrows the session until auth_done. */
static void
try_keys(struct ssh_login *login)
{
	const struct ssh_target *target = login->target;
	struct ssh_auth *auth = &login->auth;

	log_debug("ssh", "%s: logging in", login->link->pod.name);
	auth->session = login->session->ssh2;
	auth->target = target;
	for (size_t i = 0; i < target->n_identities; i++)
		if (auth->passphrases[i] == NULL)
			auth->passphrases[i] = xstrdup_null(
				map_get(&login->link->fleet->secrets,
					str_from(target->identities[i])));
	login->session->budget = SIZE_MAX;
	login->session->blocks = true;
	login->in_job = true;
	loop_job(login->link->fleet->loop, JOB_AUTH, auth_work, auth_done,
		 login);
}

/* All that wait for the same passphrase go on together. */
static void
answer_passphrase(struct ssh_login *login, const char *answer)
{
	struct fleet *fleet = login->link->fleet;
	char *path = xstrdup(needed_path(login));

	if (answer != NULL)
		ssh_secret_free(map_set(&fleet->secrets, str_from(path),
					xstrdup(answer)));
	while ((login = find_asking(fleet, path)) != NULL) {
		list_remove(&login->in_asking);
		if (answer != NULL)
			try_keys(login);
		else
			refuse_passphrase(login);
	}
	free(path);
}

/* Type, base64 and fingerprint of the key that the server showed. */
static bool
take_host_key(struct ssh_login *login)
{
	char *print = login->link->info.host_key_sha256;
	const char *hash, *blob;
	struct buf text;
	size_t len;

	blob = libssh2_session_hostkey(login->session->ssh2, &len, NULL);
	hash = libssh2_hostkey_hash(login->session->ssh2,
				    LIBSSH2_HOSTKEY_HASH_SHA256);
	if (blob == NULL || hash == NULL)
		return false;
	ssh_key_type(login->key_type, (struct str){ blob, len });
	base64_encode(&login->key_base64, (struct str){ blob, len });
	buf_init(&text, 60);
	base64_encode(&text, (struct str){ hash, 32 });
	/* As ssh prints it: without the padding. */
	snprintf(print, sizeof(login->link->info.host_key_sha256),
		 "SHA256:%.43s", text.data);
	buf_release(&text);
	return login->key_type[0] != '\0';
}

/* Remember the host key, and go on. */
static void
accept_host(struct ssh_login *login)
{
	const struct ssh_target *target = login->target;
	char *name = ssh_target_known_name(target);
	struct err err;
	int rc;

	if (target->n_known_hosts == 0)
		rc = err_set(&err, ERR_HOSTKEY,
			     "there is no known_hosts file to write to");
	else
		rc = known_keys_append(target->known_hosts[0], name,
				       login->key_type, login->key_base64.data,
				       &err);
	free(name);
	if (rc == 0)
		try_keys(login);
	else
		login_end(login, SSH_AUTH_REFUSED, &err);
}

static void
refuse_host(struct ssh_login *login, enum known_verdict verdict)
{
	static const char *const texts[] = {
		[KNOWN_NEW] =
			"the host key of %s is not known: %s %s; hold it "
			"against the pod's own, then accept it in the program "
			"or with --accept-new",
		[KNOWN_OTHER_TYPE] =
			"%s shows a host key of another type than the known "
			"ones: %s %s; hold it against the pod's own, then "
			"accept it in the program",
		[KNOWN_CHANGED] =
			"THE HOST KEY OF %s HAS CHANGED to %s %s: another "
			"machine answers, or the pod was made anew; if so, "
			"remove the old key with ssh-keygen -R",
		[KNOWN_REVOKED] = "the host key of %s is revoked: %s %s",
	};
	char *name = ssh_target_known_name(login->target);
	struct err err;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	err_set(&err, ERR_HOSTKEY, texts[verdict], name, login->key_type,
		login->link->info.host_key_sha256);
#pragma GCC diagnostic pop
	free(name);
	login_end(login, SSH_AUTH_REFUSED, &err);
}

static void
ask_host(struct ssh_login *login)
{
	struct fleet_question question = { .ask = FLEET_ASK_HOST_KEY,
					   .pod = login->link->index };
	char *name = ssh_target_known_name(login->target);

	snprintf(question.host, sizeof(question.host), "%s", name);
	snprintf(question.key_type, sizeof(question.key_type), "%s",
		 login->key_type);
	snprintf(question.fingerprint, sizeof(question.fingerprint), "%s",
		 login->link->info.host_key_sha256);
	free(name);
	login->asks_host = true;
	login_ask(login, &question);
}

static enum known_verdict
judge_host(const struct ssh_login *login)
{
	return known_keys_judge(login->known, login->key_type,
				login->key_base64.data);
}

void
ssh_login_start(struct ssh_login *login)
{
	const struct fleet_options *options = &login->link->fleet->options;
	enum known_verdict verdict;
	struct err err;

	if (!take_host_key(login)) {
		err_set(&err, ERR_HOSTKEY, "the server showed no host key");
		login_end(login, SSH_AUTH_LOST, &err);
		return;
	}
	verdict = judge_host(login);
	if (verdict == KNOWN_GOOD)
		try_keys(login);
	else if (verdict == KNOWN_NEW && options->accept_new)
		accept_host(login);
	else if (options->on_ask != NULL && login->link->depth == 0 &&
		 verdict != KNOWN_CHANGED && verdict != KNOWN_REVOKED)
		ask_host(login);
	else
		refuse_host(login, verdict);
}

void
ssh_login_answer(struct ssh_login *login, const char *answer)
{
	if (!list_is_empty(&login->in_asking)) {
		answer_passphrase(login, answer);
		return;
	}
	if (!login->asks_host)
		return;
	login->asks_host = false;
	if (answer != NULL && strcmp(answer, "yes") == 0)
		accept_host(login);
	else
		refuse_host(login, judge_host(login));
}
