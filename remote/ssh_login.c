/* SPDX-License-Identifier: MIT */
/* Known hosts before the handshake, host key and keys after it. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "remote/ssh_conn.h"
#include "remote/ssh_key.h"

/* Wrong passphrases until it is given up. */
#define PASSPHRASE_TRIES 3

static void look_up_next(struct ssh_conn *conn);

static void
known_name(const struct ssh_conn *conn, struct buf *out)
{
	buf_init(out, 1024);
	if (conn->target.alias != NULL)
		buf_append_str(out, conn->target.alias);
	else
		ssh_known_name(out, conn->target.host, conn->target.port);
}

static void
on_found(void *user, const struct capture_result *result)
{
	struct ssh_conn *conn = user;

	conn->capture = NULL;
	known_keys_add(&conn->known, result->out);
	look_up_next(conn);
}

/* Ask one file after the other; where ssh-keygen is missing, read it. */
static void
look_up_next(struct ssh_conn *conn)
{
	const char *argv[] = { "ssh-keygen", "-F", NULL, "-f", NULL, NULL };
	struct buf name;

	known_name(conn, &name);
	argv[2] = name.data;
	while (conn->file < conn->target.n_known_hosts &&
	       conn->capture == NULL) {
		const char *path = conn->target.known_hosts[conn->file++];

		if (access(path, R_OK) != 0)
			continue;
		argv[4] = path;
		conn->capture = capture_new(conn->loop, argv, 10000, on_found,
					    conn, NULL);
		if (conn->capture == NULL)
			known_keys_add_file(&conn->known, path, name.data);
	}
	buf_release(&name);
	if (conn->capture == NULL)
		ssh_conn_known(conn);
}

void
ssh_login_lookup(struct ssh_conn *conn)
{
	ssh_conn_enter(conn, SSH_KNOWN);
	look_up_next(conn);
}

/* Put a question to a person; must be the last that touches conn. */
static void
ask(struct ssh_conn *conn, const struct fleet_question *question)
{
	const struct fleet_options *options = &conn->link->fleet->options;

	conn->asking = question->ask;
	gate_leave(&conn->ticket);
	ssh_conn_enter(conn, SSH_ASK);
	options->on_ask(options->user, question);
}

static int
remember_host(struct ssh_conn *conn, struct err *err)
{
	struct buf name;
	int rc;

	if (conn->target.n_known_hosts == 0)
		return err_set(err, ERR_HOSTKEY,
			       "there is no known_hosts file to write to");
	known_name(conn, &name);
	rc = known_keys_append(conn->target.known_hosts[0], name.data,
			       conn->key_type, conn->key_base64.data, err);
	buf_release(&name);
	return rc;
}

static void
accept_host(struct ssh_conn *conn)
{
	struct err err;

	if (remember_host(conn, &err) != 0)
		ssh_conn_refused(conn, &err);
	else
		ssh_login_auth(conn);
}

static void
refuse_host(struct ssh_conn *conn, enum known_verdict verdict)
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
	struct buf name;
	struct err err;

	known_name(conn, &name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	err_set(&err, ERR_HOSTKEY, texts[verdict], name.data, conn->key_type,
		conn->link->info.host_key_sha256);
#pragma GCC diagnostic pop
	buf_release(&name);
	ssh_conn_refused(conn, &err);
}

static void
ask_host(struct ssh_conn *conn)
{
	struct fleet_question question = { .ask = FLEET_ASK_HOST_KEY,
					   .pod = conn->link->index };
	struct buf name;

	known_name(conn, &name);
	snprintf(question.host, sizeof(question.host), "%s", name.data);
	buf_release(&name);
	snprintf(question.key_type, sizeof(question.key_type), "%s",
		 conn->key_type);
	snprintf(question.fingerprint, sizeof(question.fingerprint), "%s",
		 conn->link->info.host_key_sha256);
	ask(conn, &question);
}

/* Type, base64 and fingerprint of the key that the server showed. */
static bool
take_host_key(struct ssh_conn *conn)
{
	char *print = conn->link->info.host_key_sha256;
	const char *hash, *blob;
	struct buf text;
	size_t len;

	blob = libssh2_session_hostkey(conn->session, &len, NULL);
	hash = libssh2_hostkey_hash(conn->session, LIBSSH2_HOSTKEY_HASH_SHA256);
	if (blob == NULL || hash == NULL)
		return false;
	ssh_key_type(conn->key_type, (struct str){ blob, len });
	buf_clear(&conn->key_base64);
	base64_encode(&conn->key_base64, (struct str){ blob, len });
	buf_init(&text, 60);
	base64_encode(&text, (struct str){ hash, 32 });
	/* As ssh prints it: without the padding. */
	snprintf(print, sizeof(conn->link->info.host_key_sha256),
		 "SHA256:%.43s", text.data);
	buf_release(&text);
	return conn->key_type[0] != '\0';
}

void
ssh_login_check_host(struct ssh_conn *conn)
{
	const struct fleet_options *options = &conn->link->fleet->options;
	enum known_verdict verdict;
	struct err err;

	if (!take_host_key(conn)) {
		err_set(&err, ERR_HOSTKEY, "the server showed no host key");
		ssh_conn_lost(conn, &err);
		return;
	}
	verdict = known_keys_judge(&conn->known, conn->key_type,
				   conn->key_base64.data);
	if (verdict == KNOWN_GOOD)
		ssh_login_auth(conn);
	else if (verdict == KNOWN_NEW && options->accept_new)
		accept_host(conn);
	else if (options->on_ask != NULL && conn->link->depth == 0 &&
		 verdict != KNOWN_CHANGED && verdict != KNOWN_REVOKED)
		ask_host(conn);
	else
		refuse_host(conn, verdict);
}

static const char *
needed_path(const struct ssh_conn *conn)
{
	return conn->target.identities[conn->auth->needs];
}

/* Some other pod's connection already waits for that passphrase. */
static bool
is_asked_already(const struct ssh_conn *conn)
{
	const struct fleet *fleet = conn->link->fleet;

	for (size_t i = 0; i < fleet->n_links; i++) {
		const struct remote_link *link = &fleet->links[i];
		const struct ssh_conn *other = link->conn;

		if (link->ops == conn->link->ops && other != NULL &&
		    other != conn && other->step == SSH_ASK &&
		    other->asking == FLEET_ASK_PASSPHRASE &&
		    strcmp(needed_path(other), needed_path(conn)) == 0)
			return true;
	}
	return false;
}

static void
ask_passphrase(struct ssh_conn *conn)
{
	struct fleet_question question = { .ask = FLEET_ASK_PASSPHRASE,
					   .pod = conn->link->index,
					   .again = conn->auth->wrong };

	if (is_asked_already(conn)) {
		conn->asking = FLEET_ASK_PASSPHRASE;
		gate_leave(&conn->ticket);
		ssh_conn_enter(conn, SSH_ASK);
		return;
	}
	snprintf(question.path, sizeof(question.path), "%s", needed_path(conn));
	ask(conn, &question);
}

static void
refuse_passphrase(struct ssh_conn *conn)
{
	struct err err;

	err_set(&err, ERR_AUTH,
		conn->auth->wrong
			? "the passphrase of the key %s is wrong (or libssh2 "
			  "cannot read the key: then use \"transport\": "
			  "\"openssh\")"
			: "the key %s needs its passphrase: give it in the "
			  "program, or add the key to ssh-agent",
		needed_path(conn));
	ssh_conn_refused(conn, &err);
}

static void
need_passphrase(struct ssh_conn *conn)
{
	struct fleet *fleet = conn->link->fleet;
	const char *path = needed_path(conn);
	const char *known = fleet_secret(fleet, path);
	char **used = &conn->auth->passphrases[conn->auth->needs];

	if (known != NULL && *used != NULL && strcmp(known, *used) == 0) {
		fleet_secret_forget(fleet, path);
		known = NULL;
	}
	if (*used != NULL)
		explicit_bzero(*used, strlen(*used));
	free(*used);
	*used = NULL;
	if (known != NULL) {
		ssh_login_auth(conn);
		return;
	}
	if (fleet->options.on_ask == NULL || conn->link->depth > 0 ||
	    conn->passphrase_tries++ >= PASSPHRASE_TRIES)
		refuse_passphrase(conn);
	else
		ask_passphrase(conn);
}

static void
on_auth_work(void *user)
{
	struct ssh_conn *conn = user;

	ssh_auth_work(conn->auth);
}

static void
on_auth_done(void *user)
{
	struct ssh_conn *conn = user;

	conn->in_job = false;
	conn->io.blocks = false;
	if (conn->link == NULL)
		ssh_conn_orphan_done(conn);
	else if (conn->auth->result == SSH_AUTH_NEEDS)
		need_passphrase(conn);
	else if (conn->auth->result == SSH_AUTH_LOST)
		ssh_conn_lost(conn, &conn->auth->err);
	else if (conn->auth->result == SSH_AUTH_REFUSED)
		ssh_conn_refused(conn, &conn->auth->err);
	else
		ssh_conn_ready(conn);
}

/* The job borrows the session until on_auth_done. */
void
ssh_login_auth(struct ssh_conn *conn)
{
	struct fleet *fleet = conn->link->fleet;

	ssh_conn_enter(conn, SSH_AUTH);
	loop_fd_set(conn->watch, 0);
	if (conn->auth == NULL)
		conn->auth = xcalloc(1, sizeof(*conn->auth));
	conn->auth->session = conn->session;
	conn->auth->target = &conn->target;
	for (size_t i = 0; i < conn->target.n_identities; i++) {
		const char *known =
			fleet_secret(fleet, conn->target.identities[i]);

		if (known != NULL && conn->auth->passphrases[i] == NULL)
			conn->auth->passphrases[i] = xstrdup(known);
	}
	conn->io.budget = SIZE_MAX;
	conn->io.blocks = true;
	conn->in_job = true;
	loop_job(conn->loop, JOB_AUTH, on_auth_work, on_auth_done, conn);
}

/* All that wait for the same passphrase go on together. */
static void
answer_passphrase(struct ssh_conn *conn, const char *answer)
{
	struct fleet *fleet = conn->link->fleet;
	char *path = xstrdup(needed_path(conn));

	if (answer != NULL)
		fleet_secret_set(fleet, path, answer);
	for (size_t i = 0; i < fleet->n_links; i++) {
		struct remote_link *link = &fleet->links[i];
		struct ssh_conn *other = link->conn;

		if (link->ops != &ssh_link_ops || other == NULL ||
		    other->step != SSH_ASK ||
		    other->asking != FLEET_ASK_PASSPHRASE ||
		    strcmp(needed_path(other), path) != 0)
			continue;
		if (answer != NULL)
			ssh_login_auth(other);
		else
			refuse_passphrase(other);
	}
	free(path);
}

void
ssh_login_answer(struct ssh_conn *conn, const char *answer)
{
	if (conn->asking == FLEET_ASK_PASSPHRASE)
		answer_passphrase(conn, answer);
	else if (answer != NULL && strcmp(answer, "yes") == 0)
		accept_host(conn);
	else
		refuse_host(conn, known_keys_judge(&conn->known, conn->key_type,
						   conn->key_base64.data));
}
