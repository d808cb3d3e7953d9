/* SPDX-License-Identifier: MIT */
/* Establishes one libssh2 session per pod step by step, and closes it. The steps are implemented in
 * separate files that do not depend on this one. */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/quote.h"
#include "remote/dial.h"
#include "remote/process.h"
#include "remote/ssh_priv.h"

/* Number of wrong passphrases before giving up. */
#define PASSPHRASE_TRIES 3
/* Maximum bytes received in one turn of the loop during the handshake. */
#define HANDSHAKE_BUDGET (64U * 1024)

enum ssh_step {
	SSH_NAME,
	SSH_KNOWN,
	SSH_GATE,
	SSH_RESOLVE,
	SSH_CONNECT,
	SSH_HANDSHAKE,
	SSH_LOGIN,
	SSH_READY,
};

/* Each step's name in error messages, and its time limit; 0: none. */
static const struct {
	const char *words;
	int limit_s;
} steps[] = {
	[SSH_NAME] = { "ssh -G", 20 },
	[SSH_KNOWN] = { "looking up the host key", 20 },
	[SSH_GATE] = { "waiting for other logins", 0 },
	[SSH_RESOLVE] = { "resolving the name", 25 },
	[SSH_CONNECT] = { "connecting", 10 },
	[SSH_HANDSHAKE] = { "the SSH handshake", 20 },
	[SSH_LOGIN] = { "the login", 0 },
	[SSH_READY] = { "ready", 0 },
};

struct ssh_conn {
	struct remote_link *link; /* NULL: closed, and freed when its job is done */
	struct loop *loop;
	enum ssh_step step;
	struct err why; /* why the connection ends */
	struct loop_timer *deadline;
	struct ssh_target target;
	char *name; /* the target's name in known_hosts */
	struct capture *capture;
	size_t file; /* the next known_hosts file to search */
	struct known_keys known;
	struct gate_ticket ticket;
	struct resolve *resolve; /* in SSH_RESOLVE */
	struct dial *dial;	 /* in SSH_CONNECT */
	struct process proxy;	 /* ProxyJump or ProxyCommand */
	struct buf proxy_words;	 /* the last part of the proxy's stderr */
	struct ssh_session session;
	struct ssh_channels channels; /* in SSH_READY */

	/* In SSH_LOGIN: */
	char key_type[64]; /* of the host key */
	struct buf key_base64;
	enum known_verdict verdict;
	bool asks_host; /* the user is asked to accept the host key */
	struct ssh_auth auth;
	bool in_job;	       /* a job is using the session */
	struct list in_asking; /* in fleet.asking: waiting for a passphrase */
	unsigned int passphrase_tries;
};

static void enter_step(struct ssh_conn *conn, enum ssh_step step)
{
	log_debug("ssh", "%s: %s", conn->link->pod.name, steps[step].words);
	conn->step = step;
	if (steps[step].limit_s > 0)
		loop_timer_start(conn->deadline, steps[step].limit_s * INT64_C(1000), 0);
	else
		loop_timer_stop(conn->deadline);
}

static void free_conn(struct ssh_conn *conn)
{
	ssh_session_release(&conn->session, conn->step == SSH_READY);
	for (size_t i = 0; i < SSH_TARGET_FILES; i++)
		ssh_secret_free(conn->auth.passphrases[i]);
	buf_release(&conn->key_base64);
	buf_release(&conn->proxy_words);
	ssh_target_release(&conn->target);
	free(conn->name);
	known_keys_clear(&conn->known);
	free(conn);
}

/* Close everything on the loop. If a job is using the session, auth_done() frees the rest. */
static void close_conn(struct ssh_conn *conn)
{
	conn->link->conn = NULL;
	conn->link = NULL;
	capture_cancel(conn->capture);
	gate_leave(&conn->ticket);
	resolve_cancel(conn->resolve);
	dial_cancel(conn->dial);
	ssh_channels_release(&conn->channels);
	loop_timer_close(conn->deadline);
	process_release(&conn->proxy, SIGTERM);
	loop_fd_close(conn->session.watch);
	conn->session.watch = NULL;
	list_remove(&conn->in_asking);
	if (!conn->in_job) {
		free_conn(conn);
		return;
	}
	/* Make the job end soon. */
	atomic_store(&conn->auth.cancel, true);
	shutdown(conn->session.fd, SHUT_RDWR);
}

/* Close the connection, set the link's state with `tell`, and end its streams with conn->why. */
static void end_conn(struct ssh_conn *conn,
		     void (*tell)(struct remote_link *link, const struct err *why))
{
	struct remote_link *link = conn->link;
	struct err why = conn->why;

	err_prefix(&why, "%s", link->pod.name);
	close_conn(conn);
	tell(link, &why);
	link_fail_streams(link, &why);
}

static void on_proxy_words(void *user, UNUSED unsigned int events)
{
	struct ssh_conn *conn = user;

	if (conn->proxy_words.truncated)
		buf_clear(&conn->proxy_words);
	(void)process_read(&conn->proxy, 2, &conn->proxy_words);
}

/* The end of the socket, which follows, ends the connection. */
static void on_proxy_exit(void *user, UNUSED int exit_status, UNUSED int term_signal)
{
	struct ssh_conn *conn = user;

	conn->proxy.child = NULL;
}

/* The connection failed before the login; a proxy may have printed the reason. */
static void end_on_way(struct ssh_conn *conn)
{
	bool final = false;

	if (conn->proxy.fds[2] >= 0)
		on_proxy_words(conn, LOOP_READ);
	struct str words = str_trim(buf_str(&conn->proxy_words));
	if (words.len > 0)
		final = openssh_error(&conn->why, "the proxy failed", words);
	if (final)
		end_conn(conn, conn->why.code == ERR_AUTH ? link_denied : link_refused);
	else
		end_conn(conn, link_lost);
}

static void on_deadline(void *user)
{
	struct ssh_conn *conn = user;

	err_set(&conn->why, ERR_TIMEOUT, "%s took longer than %d s", steps[conn->step].words,
		steps[conn->step].limit_s);
	end_on_way(conn);
}

static void on_channels_lost(void *user, const struct err *why)
{
	struct ssh_conn *conn = user;
	struct remote_link *link = conn->link;

	if (why != NULL) {
		conn->why = *why;
		end_conn(conn, link_lost);
		return;
	}
	log_debug("ssh", "%s: the idle connection was closed", link->pod.name);
	close_conn(conn);
	link_idle(link);
	link_pump_soon(link);
}

/* Ask the user. The answer may come during this call and free conn: do not use it afterwards. */
static void ask_user(struct ssh_conn *conn, const struct fleet_question *question)
{
	const struct fleet_options *options = &conn->link->fleet->options;

	gate_leave(&conn->ticket);
	log_debug("ssh", "%s: waiting for an answer", conn->link->pod.name);
	options->on_ask(options->user, question);
}

static const char *needed_path(const struct ssh_conn *conn)
{
	return conn->target.identities[conn->auth.needs];
}

/* Find a connection that waits for the passphrase of this key file; NULL: none. */
static struct ssh_conn *find_asking(const struct fleet *fleet, const char *path)
{
	list_each (struct ssh_conn, conn, &fleet->asking, in_asking)
		if (strcmp(needed_path(conn), path) == 0)
			return conn;
	return NULL;
}

static void refuse_passphrase(struct ssh_conn *conn)
{
	err_set(&conn->why, ERR_AUTH,
		conn->auth.wrong ? "the passphrase of the key %s is wrong (or libssh2 "
				   "cannot read the key: then use \"transport\": \"openssh\")"
				 : "the key %s needs a passphrase: enter it in the "
				   "dashboard, or add the key to ssh-agent",
		needed_path(conn));
	/* Do not ask the user again. Without a user, retry: the agent may get the key. */
	end_conn(conn, conn->link->fleet->options.on_ask == NULL ? link_denied : link_refused);
}

static void try_keys(struct ssh_conn *conn);

/* The server accepts a key whose passphrase is unknown, or was wrong. */
static void need_passphrase(struct ssh_conn *conn)
{
	struct fleet *fleet = conn->link->fleet;
	struct str path = str_from(needed_path(conn));
	const char *known = map_get(&fleet->secrets, path);
	char **used = &conn->auth.passphrases[conn->auth.needs];
	struct fleet_question question = { .ask = FLEET_ASK_PASSPHRASE,
					   .pod = conn->link->index,
					   .again = conn->auth.wrong };

	print_into(question.path, "%s", needed_path(conn));
	if (known != NULL && *used != NULL && strcmp(known, *used) == 0) {
		ssh_secret_free(map_remove(&fleet->secrets, path));
		known = NULL;
	}
	ssh_secret_free(*used);
	*used = NULL;
	if (known != NULL) {
		try_keys(conn);
	} else if (fleet->options.on_ask == NULL || conn->link->depth > 0 ||
		   conn->passphrase_tries++ >= PASSPHRASE_TRIES) {
		refuse_passphrase(conn);
	} else {
		bool is_asked = find_asking(fleet, needed_path(conn)) != NULL;

		list_append(&fleet->asking, &conn->in_asking);
		if (is_asked)
			gate_leave(&conn->ticket);
		else
			ask_user(conn, &question);
	}
}

static void auth_work(void *user)
{
	ssh_auth_work(&((struct ssh_conn *)user)->auth);
}

static void auth_done(void *user)
{
	struct ssh_conn *conn = user;
	const struct ssh_auth *auth = &conn->auth;

	conn->why = auth->err;
	conn->in_job = false;
	conn->session.blocks = false;
	if (conn->link == NULL) {
		free_conn(conn);
	} else if (auth->result == SSH_AUTH_NEEDS) {
		need_passphrase(conn);
	} else if (auth->result == SSH_AUTH_DONE) {
		enter_step(conn, SSH_READY);
		gate_leave(&conn->ticket);
		ssh_session_poll(&conn->session, true);
		link_live(conn->link);
		ssh_channels_start(&conn->channels);
		link_pump_soon(conn->link);
	} else {
		end_conn(conn, auth->result == SSH_AUTH_LOST ? link_lost : link_denied);
	}
}

/* Start the job that tries the keys; it borrows the session until auth_done(). */
static void try_keys(struct ssh_conn *conn)
{
	const struct ssh_target *target = &conn->target;
	struct ssh_auth *auth = &conn->auth;

	log_debug("ssh", "%s: logging in", conn->link->pod.name);
	auth->session = &conn->session;
	auth->target = target;
	for (size_t i = 0; i < target->n_identities; i++)
		if (auth->passphrases[i] == NULL)
			auth->passphrases[i] = xstrdup_null(map_get(
				&conn->link->fleet->secrets, str_from(target->identities[i])));
	conn->session.budget = SIZE_MAX;
	conn->session.blocks = true;
	conn->in_job = true;
	loop_job(conn->loop, JOB_AUTH, auth_work, auth_done, conn);
}

static bool take_host_key(struct ssh_conn *conn)
{
	char *print = conn->link->info.host_key_sha256;
	AUTO_BUF text = buf_new(60);
	size_t len;
	const char *blob = libssh2_session_hostkey(conn->session.ssh2, &len, NULL);

	const char *hash = libssh2_hostkey_hash(conn->session.ssh2, LIBSSH2_HOSTKEY_HASH_SHA256);
	if (blob == NULL || hash == NULL)
		return false;
	ssh_key_type(conn->key_type, (struct str){ blob, len });
	base64_encode(&conn->key_base64, (struct str){ blob, len });
	base64_encode(&text, (struct str){ hash, 32 });
	/* Leave out the padding, like ssh. */
	snprintf(print, sizeof(conn->link->info.host_key_sha256), "SHA256:%.43s", text.data);
	return conn->key_type[0] != '\0';
}

static void accept_host(struct ssh_conn *conn)
{
	const struct ssh_target *target = &conn->target;
	int rc;

	if (target->n_known_hosts == 0)
		rc = err_set(&conn->why, ERR_HOSTKEY, "no known_hosts file to write to");
	else
		rc = known_keys_append(target->known_hosts[0], conn->name, conn->key_type,
				       conn->key_base64.data, &conn->why);
	if (rc == 0)
		try_keys(conn);
	else
		end_conn(conn, link_refused);
}

static void refuse_host(struct ssh_conn *conn)
{
	static const struct {
		const char *before, *between, *after;
	} words[] = {
		[KNOWN_NEW] = { "the host key of ", " is not known: ",
				". Compare it with the fingerprint your provider shows, then "
				"accept it in the dashboard or with --accept-new" },
		[KNOWN_OTHER_TYPE] = { "", " presents a host key of a type that is not known yet: ",
				       ". Compare it with the fingerprint your provider shows, "
				       "then accept it in the dashboard" },
		[KNOWN_CHANGED] = { "THE HOST KEY OF ", " HAS CHANGED to ",
				    ": either another machine is answering, or the pod was "
				    "recreated. If it was recreated, remove the old key: "
				    "ssh-keygen -R " },
		[KNOWN_REVOKED] = { "the host key of ", " is revoked: ", "" },
	};

	AUTO_BUF name = buf_new(512);

	if (conn->verdict == KNOWN_CHANGED)
		quote_word(&name, str_from(conn->name));
	err_set(&conn->why, ERR_HOSTKEY, "%s%s%s%s %s%s%s", words[conn->verdict].before, conn->name,
		words[conn->verdict].between, conn->key_type, conn->link->info.host_key_sha256,
		words[conn->verdict].after, name.data);
	end_conn(conn, link_refused);
}

/* Check the host key, then log in. A changed or revoked key is refused without asking the user. */
static void start_login(struct ssh_conn *conn)
{
	const struct fleet_options *options = &conn->link->fleet->options;
	struct fleet_question question = { .ask = FLEET_ASK_HOST_KEY, .pod = conn->link->index };

	enter_step(conn, SSH_LOGIN);
	loop_fd_set(conn->session.watch, 0);
	conn->session.early = false;
	if (!take_host_key(conn)) {
		err_set(&conn->why, ERR_HOSTKEY, "the server presented no host key");
		end_conn(conn, link_lost);
		return;
	}
	conn->verdict = known_keys_judge(&conn->known, conn->key_type, conn->key_base64.data);
	if (conn->verdict == KNOWN_GOOD) {
		try_keys(conn);
	} else if (conn->verdict == KNOWN_NEW && options->accept_new) {
		accept_host(conn);
	} else if (options->on_ask != NULL && conn->link->depth == 0 &&
		   (conn->verdict == KNOWN_NEW || conn->verdict == KNOWN_OTHER_TYPE)) {
		print_into(question.host, "%s", conn->name);
		print_into(question.key_type, "%s", conn->key_type);
		print_into(question.fingerprint, "%s", conn->link->info.host_key_sha256);
		conn->asks_host = true;
		ask_user(conn, &question);
	} else {
		refuse_host(conn);
	}
}

static void continue_handshake(struct ssh_conn *conn)
{
	struct ssh_session *session = &conn->session;

	session->budget = HANDSHAKE_BUDGET;
	int rc = ssh_session_flush(session) != 0
			 ? LIBSSH2_ERROR_SOCKET_SEND
			 : libssh2_session_handshake(session->ssh2, session->fd);
	if (rc == LIBSSH2_ERROR_EAGAIN) {
		ssh_session_poll(session, true);
	} else if (rc == 0) {
		start_login(conn);
	} else if (!session->ended &&
		   (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE ||
		    rc == LIBSSH2_ERROR_METHOD_NONE)) {
		err_set(&conn->why, ERR_NET,
			"libssh2 %s and the server have no host key type, key exchange, cipher or "
			"MAC in common (a server with RSA host keys only?): give it an ed25519 "
			"host key, or use \"transport\": \"openssh\"",
			libssh2_version(0));
		end_conn(conn, link_refused);
	} else {
		ssh_session_error(session, "the SSH handshake failed", &conn->why);
		end_on_way(conn);
	}
}

static void on_socket(void *user, unsigned int events)
{
	struct ssh_conn *conn = user;

	if (events & LOOP_READ)
		conn->link->info.last_byte_ms = link_now_ms(conn->link);
	if (conn->step == SSH_HANDSHAKE)
		continue_handshake(conn);
	else if (conn->step == SSH_READY)
		ssh_channels_drive(&conn->channels);
	else
		loop_fd_set(conn->session.watch, 0);
}

static void start_session(struct ssh_conn *conn)
{
	AUTO_BUF host_keys = buf_new(1024);

	enter_step(conn, SSH_HANDSHAKE);
	known_keys_preference(&conn->known, &host_keys);
	ssh_session_begin(&conn->session, host_keys.data);
	conn->session.watch = loop_fd_new(conn->loop, conn->session.fd, on_socket, conn);
	continue_handshake(conn);
}

static void on_dialled(void *user, int fd, int error)
{
	struct ssh_conn *conn = user;

	conn->dial = NULL;
	conn->session.fd = fd;
	if (fd >= 0) {
		start_session(conn);
		return;
	}
	err_set(&conn->why, ERR_NET, "cannot connect to %s port %d: %s", conn->target.host,
		conn->target.port, strerror(error));
	end_conn(conn, link_lost);
}

static void on_resolved(void *user, const struct addrinfo *addrs, const char *error)
{
	struct ssh_conn *conn = user;

	conn->resolve = NULL;
	if (addrs != NULL) {
		enter_step(conn, SSH_CONNECT);
		conn->dial = dial_new(conn->loop, addrs, on_dialled, conn);
		return;
	}
	err_set(&conn->why, ERR_NET, "%s cannot be resolved: %s", conn->target.host, error);
	end_conn(conn, link_lost);
}

/* The gate admitted the login: connect, directly or through a proxy. */
static void on_admit(void *user)
{
	struct ssh_conn *conn = user;
	const struct ssh_target *target = &conn->target;
	struct ssh_words words = { .n = 0 };
	int pair[2], rc = 0;

	if (target->proxy_jump == NULL && target->proxy_command == NULL) {
		enter_step(conn, SSH_RESOLVE);
		conn->resolve =
			resolve_new(conn->loop, target->host, target->port, on_resolved, conn);
		return;
	}
	enter_step(conn, SSH_CONNECT);
	if (target->proxy_jump != NULL)
		rc = ssh_words_jump(&words, target->proxy_jump,
				    conn->link->fleet->options.accept_new, target->host,
				    target->port, &conn->why);
	else
		ssh_words_add_all(&words, "/bin/sh", "-c", target->proxy_command);
	/* One end is stdin and stdout of the proxy, the other is the session's socket. */
	if (rc == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		rc = err_set_errno(&conn->why, ERR_IO, "cannot create a socket");
	if (rc == 0) {
		fcntl(pair[0], F_SETFL, O_NONBLOCK);
		conn->session.fd = pair[0];
		rc = process_start(
			&conn->proxy, conn->loop,
			&(struct process_plan){ .argv = words.argv,
						.asks_nobody = true,
						.on_ready = { NULL, NULL, on_proxy_words },
						.fds = { pair[1], pair[1], -1 },
						.on_exit = on_proxy_exit,
						.user = conn },
			&conn->why);
		close(pair[1]);
	}
	ssh_words_release(&words);
	if (rc == 0)
		start_session(conn);
	else
		end_conn(conn, conn->why.code == ERR_CONFIG ? link_refused : link_lost);
}

static void look_up_host_key(struct ssh_conn *conn);

static void on_known(void *user, UNUSED int status, struct str out)
{
	struct ssh_conn *conn = user;

	conn->capture = NULL;
	known_keys_add(&conn->known, out, NULL);
	look_up_host_key(conn);
}

/* Search the known_hosts files one by one with ssh-keygen; without it, read them directly. */
static void look_up_host_key(struct ssh_conn *conn)
{
	const char *argv[] = { "ssh-keygen", "-F", conn->name, "-f", NULL, NULL };

	while (conn->file < conn->target.n_known_hosts) {
		argv[4] = conn->target.known_hosts[conn->file++];
		if (access(argv[4], R_OK) != 0)
			continue;
		conn->capture = capture_new(conn->loop, argv, 10000, on_known, conn);
		if (conn->capture != NULL)
			return;
		known_keys_add_file(&conn->known, argv[4], conn->name);
	}
	enter_step(conn, SSH_GATE);
	gate_enter(&conn->link->fleet->gate, &conn->ticket, conn->target.host, on_admit, conn);
}

static void take_name(struct ssh_conn *conn, struct str text)
{
	if (ssh_target_parse(&conn->target, &conn->link->pod, text, &conn->why) != 0) {
		end_conn(conn, link_refused);
		return;
	}
	conn->name = ssh_target_known_name(&conn->target);
	enter_step(conn, SSH_KNOWN);
	look_up_host_key(conn);
}

static void on_name(void *user, int status, struct str out)
{
	struct ssh_conn *conn = user;

	conn->capture = NULL;
	if (status == 0) {
		take_name(conn, out);
		return;
	}
	err_set(&conn->why, ERR_CONFIG, "`ssh -G -- %s` fails; run it in a terminal to see why",
		conn->link->pod.ssh);
	end_conn(conn, status < 0 ? link_lost : link_refused);
}

/* Ask `ssh -G` what the pod's name means. Without an ssh program, use the name unchanged. */
static void look_up_name(struct ssh_conn *conn)
{
	struct ssh_words words = { .n = 0 };

	enter_step(conn, SSH_NAME);
	ssh_words_add_all(&words, "ssh", "-G");
	if (ssh_words_add_host(&words, conn->link->pod.ssh, &conn->why) != 0) {
		ssh_words_release(&words);
		end_conn(conn, link_refused);
		return;
	}
	conn->capture = capture_new(conn->loop, words.argv, 15000, on_name, conn);
	ssh_words_release(&words);
	if (conn->capture == NULL)
		take_name(conn, (struct str){ NULL, 0 });
}

static void ssh_start(struct remote_link *link, struct stream *s)
{
	struct ssh_conn *conn = link->conn;

	if (conn != NULL) {
		if (conn->step == SSH_READY)
			ssh_channels_add(&conn->channels, s);
		return;
	}
	link->conn = conn = xnew(struct ssh_conn, .link = link, .loop = link->fleet->loop,
				 .proxy = PROCESS_NONE, .proxy_words = buf_new(4096),
				 .key_base64 = buf_new(SSH_KEY_MAX_BYTES));
	conn->deadline = loop_timer_new(conn->loop, on_deadline, conn);
	ssh_session_init(&conn->session);
	list_init(&conn->in_asking);
	conn->channels = (struct ssh_channels){
		.link = link, .session = &conn->session, .on_lost = on_channels_lost, .user = conn
	};
	link_connecting(link);
	look_up_name(conn);
}

static void ssh_kick(struct stream *s)
{
	struct ssh_conn *conn = s->link->conn;

	ssh_channels_drive_soon(&conn->channels);
}

static void ssh_probe(struct remote_link *link)
{
	struct ssh_conn *conn = link->conn;

	if (conn != NULL && conn->step == SSH_READY)
		ssh_channels_add(&conn->channels, NULL);
}

static void ssh_answer(struct remote_link *link, const char *answer)
{
	struct ssh_conn *conn = link->conn;
	struct fleet *fleet = link->fleet;

	if (conn == NULL)
		return;
	if (!list_is_empty(&conn->in_asking)) {
		AUTO_TEXT path = xstrdup(needed_path(conn));

		if (answer != NULL)
			ssh_secret_free(map_set(&fleet->secrets, str_from(path), xstrdup(answer)));
		/* All connections that wait for this passphrase continue. */
		while ((conn = find_asking(fleet, path)) != NULL) {
			list_remove(&conn->in_asking);
			if (answer != NULL)
				try_keys(conn);
			else
				refuse_passphrase(conn);
		}
	} else if (conn->asks_host) {
		conn->asks_host = false;
		if (answer != NULL && strcmp(answer, "yes") == 0)
			accept_host(conn);
		else
			refuse_host(conn);
	}
}

static void ssh_release(struct remote_link *link)
{
	if (link->conn != NULL)
		close_conn(link->conn);
}

const struct link_ops ssh_link_ops = {
	.start = ssh_start,
	.kick = ssh_kick,
	.detach = ssh_channel_detach,
	.probe = ssh_probe,
	.answer = ssh_answer,
	.release = ssh_release,
};
