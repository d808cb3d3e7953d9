/* SPDX-License-Identifier: MIT */
/* Public key authentication, run as a job by ssh_conn.c. */
#include "remote/ssh_priv.h"

#include "base/utf8.h"
#include "remote/ssh_agent.h"

/* Time limit for one answer of the server. */
#define SERVER_MS 20000
/* Time limit for a signature: the agent may wait until its owner touches a key. */
#define SIGN_MS 60000
/* libssh2 uses SHA-2 with RSA keys from 1.11.0 on. */
#define LIBSSH2_RSA_SHA2 0x010b00

/* The result of offering one key to the server. */
enum offer {
	OFFER_DONE,  /* logged in */
	OFFER_NEXT,  /* the key was rejected or cannot be used: try the next one */
	OFFER_WOULD, /* the server would accept a signature by this key */
	OFFER_LOST,  /* the connection was lost, or the time has run out */
};

/* Argument of the sign callback (`abstract` in libssh2). */
struct signer {
	struct ssh_auth *auth;
	struct ssh_agent
		*agent; /* NULL: do not sign, only ask whether the server accepts the key */
	struct str blob;
	bool asked; /* the server accepts the key and asked for a signature */
};

static int64_t time_left_ms(const struct ssh_auth *auth)
{
	return auth->deadline_ms - clock_mono_ms();
}

/* The agent's flags for the algorithm that is named in the data to be signed. The data starts with
 * session, byte, user, service, "publickey", TRUE, algorithm (RFC 4252, section 7). */
static uint32_t sign_flags(struct str data)
{
	struct str part = { NULL, 0 };

	for (const char *at = "sbsssbs"; *at != '\0'; at++) {
		if (*at == 's' ? !ssh_wire_string(&data, &part) : data.len < 1)
			return 0;
		if (*at == 'b')
			data = str_skip(data, 1);
	}
	return str_eq_cstr(part, "rsa-sha2-256") ? 2 : str_eq_cstr(part, "rsa-sha2-512") ? 4 : 0;
}

/* libssh2's sign callback. libssh2 frees *sig with free(). */
static int on_sign(UNUSED LIBSSH2_SESSION *session, unsigned char **sig, size_t *sig_len,
		   const unsigned char *data, size_t data_len, void **abstract)
{
	struct signer *signer = *abstract;
	struct str text = { (const char *)data, data_len }, signature;
	int64_t left = time_left_ms(signer->auth);

	signer->asked = true;
	if (signer->agent == NULL ||
	    !ssh_agent_sign(signer->agent, signer->blob, text, sign_flags(text),
			    left < SIGN_MS ? left : SIGN_MS, &signature))
		return -1;
	*sig = xmalloc(signature.len + 1);
	memcpy(*sig, signature.p, signature.len);
	*sig_len = signature.len;
	return 0;
}

static bool is_lost(const struct ssh_auth *auth, int rc)
{
	return atomic_load(&auth->cancel) || time_left_ms(auth) <= 0 || auth->session->ended ||
	       rc == LIBSSH2_ERROR_SOCKET_DISCONNECT || rc == LIBSSH2_ERROR_SOCKET_RECV ||
	       rc == LIBSSH2_ERROR_SOCKET_SEND || rc == LIBSSH2_ERROR_SOCKET_TIMEOUT ||
	       rc == LIBSSH2_ERROR_TIMEOUT || rc == LIBSSH2_ERROR_PROTO;
}

/* Offer a public key. The agent signs; if agent is NULL, only ask whether the server accepts it. */
static enum offer offer_blob(struct ssh_auth *auth, struct ssh_agent *agent, struct str blob)
{
	struct signer signer = { .auth = auth, .agent = agent, .blob = blob };
	void *abstract = &signer;

	auth->offered++;
	int rc = libssh2_userauth_publickey(auth->session->ssh2, auth->target->user,
					    (const unsigned char *)blob.p, blob.len, on_sign,
					    &abstract);
	if (rc == 0)
		return OFFER_DONE;
	if (is_lost(auth, rc))
		return OFFER_LOST;
	return signer.asked && agent == NULL ? OFFER_WOULD : OFFER_NEXT;
}

/* Can libssh2 use a key of this type? If not, note that for report_refusal(). */
static bool is_usable(struct ssh_auth *auth, const char *type)
{
	if (strncmp(type, "sk-", 3) == 0)
		auth->saw_hardware = true;
	else if (strstr(type, "-cert-v01@") != NULL)
		auth->saw_cert = true;
	else
		return true;
	return false;
}

/* Would libssh2 sign with SHA-1, which servers refuse? Such keys are tried last. */
static bool is_weak_rsa(struct ssh_auth *auth, const char *type)
{
	if (strcmp(type, "ssh-rsa") != 0 || libssh2_version(LIBSSH2_RSA_SHA2) != NULL)
		return false;
	auth->saw_rsa = true;
	return true;
}

static enum offer offer_agent(struct ssh_auth *auth)
{
	enum offer offer = OFFER_NEXT;
	struct ssh_agent agent;

	if (auth->target->agent == NULL)
		return OFFER_NEXT;
	bool is_open = ssh_agent_open(&agent, auth->target->agent, &auth->cancel);
	/* Offer keys that belong to an identity file first, and weak RSA keys last. */
	for (int turn = 0; is_open && turn < 4; turn++) {
		bool wants_named = turn % 2 == 0, wants_weak = turn >= 2;

		if (!wants_named && auth->target->identities_only)
			continue;
		for (size_t i = 0; i < agent.n_keys && offer == OFFER_NEXT; i++) {
			struct str blob = buf_str(&agent.keys[i]);
			char type[64];

			ssh_key_type(type, blob);
			bool is_named =
				any_of(k, auth->target->n_identities,
				       blob.len > 0 && str_eq(buf_str(&auth->keys[k].blob), blob));
			if (is_usable(auth, type) && is_weak_rsa(auth, type) == wants_weak &&
			    is_named == wants_named)
				offer = offer_blob(auth, &agent, blob);
		}
	}
	auth->agent_is_silent = agent.is_connected && !agent.has_answered;
	ssh_agent_close(&agent);
	return offer;
}

/* Log in with a key file; passphrase is NULL if it is not encrypted. */
static enum offer offer_file(struct ssh_auth *auth, size_t i, const char *passphrase)
{
	const char *user = auth->target->user;

	/* The slow derivation of a key from the passphrase counts towards this time limit. */
	if (passphrase != NULL)
		libssh2_session_set_timeout(auth->session->ssh2, SSH_AUTH_MS);
	auth->offered++;
	int rc = libssh2_userauth_publickey_fromfile_ex(auth->session->ssh2, user,
							(unsigned int)strlen(user), NULL,
							auth->target->identities[i], passphrase);
	if (rc == 0)
		return OFFER_DONE;
	if (is_lost(auth, rc))
		return OFFER_LOST;
	if (rc == LIBSSH2_ERROR_FILE && passphrase != NULL) {
		auth->result = SSH_AUTH_NEEDS;
		auth->needs = i;
		auth->wrong = true;
	}
	return OFFER_NEXT;
}

/* Log in with an encrypted file, or request its passphrase if the server would accept the key. */
static enum offer offer_encrypted(struct ssh_auth *auth, size_t i)
{
	const struct ssh_key *key = &auth->keys[i];
	enum offer offer = OFFER_WOULD;

	if (!key->readable) {
		auth->saw_cipher = true;
		return OFFER_NEXT;
	}
	if (auth->passphrases[i] != NULL)
		return offer_file(auth, i, auth->passphrases[i]);
	if (key->blob.len > 0)
		offer = offer_blob(auth, NULL, buf_str(&key->blob));
	if (offer != OFFER_WOULD)
		return offer;
	if (auth->result != SSH_AUTH_NEEDS) {
		auth->result = SSH_AUTH_NEEDS;
		auth->needs = i;
		auth->wrong = false;
	}
	return OFFER_NEXT;
}

/* Offer unencrypted files first, then encrypted ones, and weak RSA keys last. */
static enum offer offer_files(struct ssh_auth *auth)
{
	enum offer offer = OFFER_NEXT;

	for (int sort = 0; sort < 4; sort++)
		for (size_t i = 0; i < auth->target->n_identities; i++) {
			const struct ssh_key *key = &auth->keys[i];

			if (!key->exists || !is_usable(auth, key->type) ||
			    is_weak_rsa(auth, key->type) != (sort >= 2) ||
			    key->encrypted != (sort % 2 == 1))
				continue;
			offer = key->encrypted ? offer_encrypted(auth, i)
					       : offer_file(auth, i, NULL);
			if (offer != OFFER_NEXT)
				return offer;
			if (auth->result == SSH_AUTH_NEEDS && auth->wrong)
				return offer;
		}
	return offer;
}

/* List the keys that were tried, why some could not be used, and what may help. */
static void report_refusal(struct ssh_auth *auth)
{
	unsigned int n = 0;
	char clean[480];
	AUTO_BUF text = buf_new(sizeof(clean));

	buf_appendf(&text, "%s@%s accepted none of the keys: ", auth->target->user,
		    auth->target->host);
	for (size_t i = 0; i < auth->target->n_identities; i++) {
		const struct ssh_key *key = &auth->keys[i];

		if (!key->exists && !key->is_garbage && key->mode == 0)
			continue;
		buf_appendf(&text, "%s%s", n++ > 0 ? ", " : "", auth->target->identities[i]);
		if (key->is_garbage)
			buf_append_str(&text, " (not a private key)");
		else if (key->mode != 0)
			buf_appendf(&text, " (permissions %04o are too open; chmod 600 it)",
				    key->mode);
	}
	if (n == 0 && auth->target->n_identities > 0)
		buf_appendf(&text, "no key file found (%s ..)", auth->target->identities[0]);
	buf_append_str(&text, auth->target->agent == NULL ? ", no agent"
			      : auth->agent_is_silent	  ? ", and the agent, which does not answer"
							  : ", and those of the agent");
	if (auth->saw_rsa)
		buf_appendf(
			&text,
			"; libssh2 %s signs RSA keys with SHA-1 only, which servers refuse: use "
			"an ed25519 key, or \"transport\": \"openssh\"",
			libssh2_version(0));
	if (auth->saw_cert || auth->saw_hardware)
		buf_appendf(&text, "; %s need \"transport\": \"openssh\"",
			    auth->saw_cert ? "certificates" : "hardware keys");
	if (auth->saw_cipher)
		buf_append_str(&text, "; libssh2 does not support the cipher of a key file: use "
				      "\"transport\": \"openssh\"");
	auth->result = SSH_AUTH_REFUSED;
	err_set(&auth->err, ERR_AUTH, "%s", utf8_clean(clean, sizeof(clean), buf_str(&text)));
}

/* The connection ended during the login. If the server ended it after too many keys, that is a
 * refusal; otherwise the connection was lost, and a retry may succeed with the same keys. */
static void report_loss(struct ssh_auth *auth)
{
	char message[SSH_MESSAGE_SIZE];

	auth->result = SSH_AUTH_LOST;
	err_set(&auth->err, ERR_NET, "the connection broke while logging in as %s: %s",
		auth->target->user, ssh_session_message(auth->session->ssh2, message));
	if (time_left_ms(auth) <= 0)
		err_set(&auth->err, ERR_TIMEOUT, "logging in as %s took longer than %d s",
			auth->target->user, SSH_AUTH_MS / 1000);
	if (atomic_load(&auth->cancel) || auth->offered == 0 ||
	    (auth->offered < 5 && !auth->session->has_denied))
		return;
	if (auth->offered == 1) {
		report_refusal(auth);
		return;
	}
	auth->result = SSH_AUTH_REFUSED;
	err_set(&auth->err, ERR_AUTH,
		"the server closed the connection after %u keys; set \"identity\" to the right one",
		auth->offered);
}

static void try_keys(struct ssh_auth *auth)
{
	size_t n = auth->target->n_identities;

	for (size_t i = 0; i < n; i++)
		ssh_key_read(&auth->keys[i], auth->target->identities[i]);
	enum offer offer = offer_agent(auth);
	if (offer == OFFER_NEXT)
		offer = offer_files(auth);
	if (offer == OFFER_DONE)
		auth->result = SSH_AUTH_DONE;
	else if (offer == OFFER_LOST)
		report_loss(auth);
	else if (auth->result != SSH_AUTH_NEEDS)
		report_refusal(auth);
	for (size_t i = 0; i < n; i++)
		buf_release(&auth->keys[i].blob);
}

void ssh_auth_work(struct ssh_auth *auth)
{
	LIBSSH2_SESSION *ssh2 = auth->session->ssh2;
	const char *user = auth->target->user;
	char clean[200];

	auth->result = SSH_AUTH_REFUSED;
	auth->offered = 0;
	auth->wrong = false;
	auth->deadline_ms = clock_mono_ms() + SSH_AUTH_MS;
	libssh2_session_set_blocking(ssh2, 1);
	libssh2_session_set_timeout(ssh2, SERVER_MS);
	const char *methods = libssh2_userauth_list(ssh2, user, (unsigned int)strlen(user));
	if (methods == NULL && libssh2_userauth_authenticated(ssh2))
		auth->result = SSH_AUTH_DONE;
	else if (methods == NULL)
		report_loss(auth);
	else if (strstr(methods, "publickey") != NULL)
		try_keys(auth);
	else
		err_set(&auth->err, ERR_AUTH,
			"the server does not accept keys, only %s; use \"transport\": \"openssh\"",
			utf8_clean(clean, sizeof(clean), str_from(methods)));
	libssh2_session_set_blocking(ssh2, 0);
}

void ssh_secret_free(void *secret)
{
	if (secret != NULL)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}
