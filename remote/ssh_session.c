/* SPDX-License-Identifier: MIT */
/* Sends and receives for a libssh2 session, chooses its algorithms, and explains its errors. */
#include "remote/ssh_priv.h"

#include <poll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/sha256.h"
#include "base/utf8.h"

/* A server that sends more before the end of the handshake does not speak SSH. */
#define EARLY_MAX_BYTES (128U * 1024)
/* Maximum bytes queued for a server that does not read. */
#define OUT_CAP_BYTES (4U << 20)
/* Maximum time that a send in a job waits for the socket. */
#define BLOCK_MS 20000

void ssh_session_init(struct ssh_session *session)
{
	session->fd = -1;
	buf_init(&session->out, OUT_CAP_BYTES);
}

void ssh_session_release(struct ssh_session *session, bool bye)
{
	session->blocks = false;
	if (session->ssh2 != NULL && bye)
		libssh2_session_disconnect(session->ssh2, "bye");
	session->dead = true;
	if (session->ssh2 != NULL)
		libssh2_session_set_blocking(session->ssh2, 0);
	for (int i = 0; session->ssh2 != NULL && i < 100; i++)
		if (libssh2_session_free(session->ssh2) != LIBSSH2_ERROR_EAGAIN)
			break;
	loop_fd_close(session->watch);
	fd_close(&session->fd);
	buf_release(&session->out);
}

/* Note that the connection ended, with an errno or 0; returns -1. */
static int end_session(struct ssh_session *session, int error)
{
	session->ended = true;
	session->end_errno = error;
	return -1;
}

/* Receive bytes for libssh2, which expects errors as negative errno. */
static ssize_t on_recv(libssh2_socket_t fd, void *buffer, size_t length, int flags, void **abstract)
{
	struct ssh_session *session = *abstract;

	if (session->dead)
		return -ECONNRESET;
	if (session->early && session->early_bytes > EARLY_MAX_BYTES)
		return -EPROTO;
	if (session->budget == 0)
		return -EAGAIN;
	ssize_t n = recv(fd, buffer, length < session->budget ? length : session->budget, flags);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return -EAGAIN;
	if (n <= 0)
		end_session(session, n < 0 ? errno : 0);
	if (n < 0)
		return -session->end_errno;
	if (session->budget != SIZE_MAX)
		session->budget -= (size_t)n;
	/* Keep the first bytes: a server that refuses connections may print the reason. */
	size_t at = session->early_bytes, room = sizeof(session->greeting) - 1;
	if (session->early && at < room)
		memcpy(session->greeting + at, buffer,
		       (size_t)n < room - at ? (size_t)n : room - at);
	session->early_bytes += (size_t)n;
	return n;
}

int ssh_session_flush(struct ssh_session *session)
{
	struct pollfd pfd = { .fd = session->fd, .events = POLLOUT };

	while (session->out.len > 0 && !session->dead) {
		ssize_t n = send(session->fd, session->out.data, session->out.len, MSG_NOSIGNAL);

		if (n >= 0) {
			buf_consume(&session->out, (size_t)n);
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return end_session(session, errno);
		if (!session->blocks)
			return 0;
		if (poll(&pfd, 1, BLOCK_MS) <= 0)
			return end_session(session, ETIMEDOUT);
	}
	buf_release(&session->out);
	return 0;
}

static ssize_t on_send(UNUSED libssh2_socket_t fd, const void *buffer, size_t length,
		       UNUSED int flags, void **abstract)
{
	struct ssh_session *session = *abstract;

	if (session->dead)
		return -EPIPE;
	if (length > session->out.cap - session->out.len)
		return -ENOBUFS;
	buf_append(&session->out, buffer, length);
	return ssh_session_flush(session) != 0 ? -EPIPE : (ssize_t)length;
}

/* The server sent SSH_MSG_DISCONNECT. Only OpenSSH's text shows that too many keys failed. */
static void on_disconnect(UNUSED LIBSSH2_SESSION *ssh2, int reason, const char *message,
			  int message_len, UNUSED const char *language, UNUSED int language_len,
			  void **abstract)
{
	struct ssh_session *session = *abstract;
	struct str text = { message, message_len > 0 ? (size_t)message_len : 0 };

	end_session(session, 0);
	session->has_denied = reason == SSH_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE ||
			      str_find(text, "Too many authentication failures") != NULL;
}

static void set_callback(LIBSSH2_SESSION *ssh2, int type, void (*fn)(void))
{
#ifdef HAVE_LIBSSH2_SESSION_CALLBACK_SET2 /* from 1.11.1 on */
	libssh2_session_callback_set2(ssh2, type, fn);
#else
	/* The older call takes callbacks as data pointers. */
	union {
		void (*in)(void);
		void *out;
	} cast = { .in = fn };

	libssh2_session_callback_set(ssh2, type, cast.out);
#endif
}

/* Make libssh2 offer the wanted methods in this order. Remove those that it does not know here:
 * libssh2's own code to remove names copies overlapping memory. */
static void set_order(LIBSSH2_SESSION *session, int method, const char *wanted)
{
	struct str rest = str_from(wanted), name;
	const char **names = NULL;
	AUTO_BUF list = buf_new(1024);
	int n = libssh2_session_supported_algs(session, method, &names);

	while (n > 0 && str_next(&rest, ',', &name))
		for (int i = 0; i < n; i++)
			if (str_eq_cstr(name, names[i]))
				buf_appendf(&list, "%s%s", list.len > 0 ? "," : "", names[i]);
	if (list.len > 0)
		libssh2_session_method_pref(session, method, list.data);
	if (n > 0)
		libssh2_free(session, names);
}

void ssh_session_begin(struct ssh_session *session, const char *host_keys)
{
	/* CBC ciphers are weak and not offered. The MAC takes more CPU time than the cipher, so the
	 * MAC that is fastest on this machine, and probably on the pod, comes first. */
	static const char ciphers[] = "aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,"
				      "aes192-ctr,aes256-ctr,chacha20-poly1305@openssh.com";
	const char *macs = sha256_is_fast() ? "hmac-sha2-256-etm@openssh.com,"
					      "hmac-sha2-512-etm@openssh.com,"
					      "hmac-sha2-256,hmac-sha2-512,hmac-sha1"
					    : "hmac-sha2-512-etm@openssh.com,"
					      "hmac-sha2-256-etm@openssh.com,"
					      "hmac-sha2-512,hmac-sha2-256,hmac-sha1";
	LIBSSH2_SESSION *ssh2 = libssh2_session_init_ex(NULL, NULL, NULL, session);

	if (ssh2 == NULL)
		abort();
	libssh2_session_set_blocking(ssh2, 0);
	set_callback(ssh2, LIBSSH2_CALLBACK_RECV, (void (*)(void))on_recv);
	set_callback(ssh2, LIBSSH2_CALLBACK_SEND, (void (*)(void))on_send);
	set_callback(ssh2, LIBSSH2_CALLBACK_DISCONNECT, (void (*)(void))on_disconnect);
	set_order(ssh2, LIBSSH2_METHOD_HOSTKEY, host_keys);
	set_order(ssh2, LIBSSH2_METHOD_CRYPT_CS, ciphers);
	set_order(ssh2, LIBSSH2_METHOD_CRYPT_SC, ciphers);
	set_order(ssh2, LIBSSH2_METHOD_MAC_CS, macs);
	set_order(ssh2, LIBSSH2_METHOD_MAC_SC, macs);
	session->ssh2 = ssh2;
	session->early = true;
}

void ssh_session_poll(struct ssh_session *session, bool wants_input)
{
	loop_fd_set(session->watch,
		    (wants_input ? LOOP_READ : 0) | (session->out.len > 0 ? LOOP_WRITE : 0));
}

const char *ssh_session_message(LIBSSH2_SESSION *ssh2, char out[SSH_MESSAGE_SIZE])
{
	char *message = NULL;

	libssh2_session_last_error(ssh2, &message, NULL, 0);
	return utf8_clean(out, SSH_MESSAGE_SIZE, str_from(message != NULL ? message : ""));
}

void ssh_session_error(const struct ssh_session *session, const char *what, struct err *err)
{
	/* Messages that OpenSSH's server prints before it closes the connection. */
	static const struct {
		const char *text, *meaning;
	} refusals[] = {
		{ "Not allowed at this time",
		  "the server refuses connections from this address for a while, after failed "
		  "logins (PerSourcePenalties)" },
		{ "Exceeded MaxStartups",
		  "the server has as many logins in progress as it allows (MaxStartups)" },
	};
	const char *greeting = session->greeting;
	struct str rest = str_from(greeting), line = rest;
	char message[SSH_MESSAGE_SIZE];

	for (size_t i = 0; i < LENGTH(refusals); i++) {
		if (strstr(greeting, refusals[i].text) != NULL) {
			err_set(err, ERR_NET, "%s", refusals[i].meaning);
			return;
		}
	}
	if (greeting[0] != '\0' && strncmp(greeting, "SSH-", 4) != 0) {
		(void)str_next(&rest, '\n', &line);
		utf8_clean(message, sizeof(message), str_trim(line));
		err_set(err, ERR_NET, "%s: not an SSH server: it sent \"%s\"", what, message);
		return;
	}
	if (session->ended) {
		err_set(err, ERR_NET, "%s: %s", what,
			session->end_errno != 0 ? strerror(session->end_errno)
						: "the server closed the connection");
		return;
	}
	err_set(err, ERR_NET, "%s: %s (libssh2 %d)", what,
		ssh_session_message(session->ssh2, message),
		libssh2_session_last_errno(session->ssh2));
}
