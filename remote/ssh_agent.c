/* SPDX-License-Identifier: MIT */
/* An ssh-agent client that cannot hang; used by ssh_auth.c in its job. */
#include "remote/ssh_agent.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/fd.h"
#include "remote/ssh_key.h"

#define AGENT_MAX_BYTES (256U * 1024)
#define LIST_TIMEOUT_MS 5000
/* How often a blocked send or receive checks whether it was cancelled. */
#define SLICE_US 100000

enum agent_message {
	AGENT_REQUEST_IDENTITIES = 11,
	AGENT_IDENTITIES_ANSWER = 12,
	AGENT_SIGN_REQUEST = 13,
	AGENT_SIGN_RESPONSE = 14,
};

/* A send or receive returned n <= 0: should the caller try again? */
static bool may_try_again(struct ssh_agent *agent, ssize_t n, int64_t deadline_ms)
{
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		agent->has_answered = true;
		return false;
	}
	return !atomic_load(agent->cancel) && clock_mono_ms() < deadline_ms;
}

static bool send_all(struct ssh_agent *agent, const struct buf *data, int64_t deadline_ms)
{
	size_t done = 0;

	while (done < data->len) {
		ssize_t n = send(agent->fd, data->data + done, data->len - done, MSG_NOSIGNAL);

		if (n > 0)
			done += (size_t)n;
		else if (!may_try_again(agent, n, deadline_ms))
			return false;
	}
	return true;
}

/* Read exactly len bytes into agent->answer. */
static bool receive(struct ssh_agent *agent, size_t len, int64_t deadline_ms)
{
	char data[4096];

	buf_clear(&agent->answer);
	while (agent->answer.len < len) {
		size_t want = len - agent->answer.len;
		ssize_t n = recv(agent->fd, data, want < sizeof(data) ? want : sizeof(data), 0);

		if (n > 0)
			buf_append(&agent->answer, data, (size_t)n);
		else if (!may_try_again(agent, n, deadline_ms))
			return false;
		agent->has_answered |= n > 0;
	}
	return true;
}

/* Send a request and read the answer, which must have this type; *body borrows its content. */
static bool agent_ask(struct ssh_agent *agent, const struct buf *request, char type,
		      int64_t timeout_ms, struct str *body)
{
	int64_t deadline = clock_mono_ms() + timeout_ms;
	AUTO_BUF framed = buf_new(AGENT_MAX_BYTES);
	uint32_t len = 0;

	ssh_wire_put(&framed, buf_str(request));
	bool good = !framed.truncated && send_all(agent, &framed, deadline) &&
		    receive(agent, 4, deadline);
	if (!good)
		return false;
	struct str head = buf_str(&agent->answer);
	if (!ssh_wire_u32(&head, &len) || len < 1 || len > AGENT_MAX_BYTES ||
	    !receive(agent, len, deadline) || agent->answer.data[0] != type)
		return false;
	*body = (struct str){ agent->answer.data + 1, len - 1 };
	return true;
}

static bool list_keys(struct ssh_agent *agent)
{
	struct str rest, blob, comment;
	AUTO_BUF request = buf_new(16);
	uint32_t count = 0;

	buf_append_char(&request, AGENT_REQUEST_IDENTITIES);
	bool good = agent_ask(agent, &request, AGENT_IDENTITIES_ANSWER, LIST_TIMEOUT_MS, &rest) &&
		    ssh_wire_u32(&rest, &count);
	for (uint32_t i = 0; good && i < count && agent->n_keys < SSH_AGENT_MAX_KEYS; i++) {
		good = ssh_wire_string(&rest, &blob) && ssh_wire_string(&rest, &comment);
		if (good) {
			struct buf *key = &agent->keys[agent->n_keys++];

			buf_init(key, AGENT_MAX_BYTES);
			buf_append(key, blob.p, blob.len);
		}
	}
	return good;
}

bool ssh_agent_open(struct ssh_agent *agent, const char *path, const atomic_bool *cancel)
{
	const struct timeval slice = { .tv_usec = SLICE_US };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	memset(agent, 0, sizeof(*agent));
	agent->cancel = cancel;
	buf_init(&agent->answer, AGENT_MAX_BYTES);
	agent->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (agent->fd < 0 || strlen(path) >= sizeof(addr.sun_path) ||
	    setsockopt(agent->fd, SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof(slice)) != 0 ||
	    setsockopt(agent->fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)) != 0)
		return false;
	memcpy(addr.sun_path, path, strlen(path));
	if (connect(agent->fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0) {
		agent->is_connected = true;
		return list_keys(agent);
	}
	/* EAGAIN: an agent listens, but hangs, so that its queue of connections is full. */
	agent->is_connected = errno == EAGAIN;
	return false;
}

void ssh_agent_close(struct ssh_agent *agent)
{
	fd_close(&agent->fd);
	for (size_t i = 0; i < agent->n_keys; i++)
		buf_release(&agent->keys[i]);
	agent->n_keys = 0;
	buf_release(&agent->answer);
}

bool ssh_agent_sign(struct ssh_agent *agent, struct str blob, struct str data, uint32_t flags,
		    int64_t timeout_ms, struct str *signature)
{
	struct str rest, outer, type;
	AUTO_BUF request = buf_new(AGENT_MAX_BYTES);

	buf_append_char(&request, AGENT_SIGN_REQUEST);
	ssh_wire_put(&request, blob);
	ssh_wire_put(&request, data);
	ssh_wire_put_u32(&request, flags);
	return !request.truncated &&
	       agent_ask(agent, &request, AGENT_SIGN_RESPONSE, timeout_ms, &rest) &&
	       ssh_wire_string(&rest, &outer) && ssh_wire_string(&outer, &type) &&
	       ssh_wire_string(&outer, signature);
}
