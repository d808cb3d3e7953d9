/* SPDX-License-Identifier: MIT */
/* remote: names, known hosts, the gate and back-off, as far as no server is needed. */
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "remote/fleet.h"
#include "remote/link_priv.h"
#include "remote/openssh.h"
#include "remote/ssh_key.h"
#include "tests/support/tap.h"

static void test_dest(void)
{
	static const struct {
		const char *text, *user, *host;
		int port; /* -1: an error */
	} cases[] = {
		{ "rp-a", NULL, "rp-a", 0 },
		{ "root@203.0.113.7:22022", "root", "203.0.113.7", 22022 },
		{ "a@b@host", "a@b", "host", 0 },
		{ "[::1]:22", NULL, "::1", 22 },
		{ "u@[fe80::1]", "u", "fe80::1", 0 },
		{ "2001:db8::5", NULL, "2001:db8::5", 0 },
		{ "host:65535", NULL, "host", 65535 },
		{ "host:65536", NULL, NULL, -1 },
		{ "host:0", NULL, NULL, -1 },
		{ "host:", NULL, NULL, -1 },
		{ "host:22x", NULL, NULL, -1 },
		{ "", NULL, NULL, -1 },
		{ "@host", NULL, NULL, -1 },
		{ "user@", NULL, NULL, -1 },
		{ "-oProxyCommand=x", NULL, NULL, -1 },
		{ "-l@host", NULL, NULL, -1 },
		{ "a b", NULL, NULL, -1 },
		{ "[::1]x", NULL, NULL, -1 },
		{ "a\nb", NULL, NULL, -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ssh_dest dest;
		struct err err = { 0 };
		int rc = ssh_dest_parse(&dest, cases[i].text, &err);

		if (cases[i].port < 0) {
			ok(rc == -1 && err.code == ERR_CONFIG, "name %zu is refused", i);
			continue;
		}
		is_str(dest.host, cases[i].host, cases[i].text);
		is_str(dest.user, cases[i].user, "the user of a name");
		is_int(dest.port, cases[i].port, "the port of a name");
		ssh_dest_release(&dest);
	}
}

static const char ssh_says[] = "host rp\nuser golf\nhostname 203.0.113.7\nport 2222\n"
			       "identityfile ~/.ssh/%h-%r-%p\nidentityfile /k/%%d\n"
			       "identitiesonly yes\nidentityagent none\n"
			       "proxycommand nc %h %p %n\n"
			       "userknownhostsfile ~/kh1 /kh2\nglobalknownhostsfile /etc/kh\n"
			       "rubbish\nport 99999999\n\x01\n";

static void test_target(void)
{
	struct remote_pod pod = { .name = "p", .ssh = "rp" };
	struct ssh_target target = { 0 };
	struct err err;

	setenv("HOME", "/home/x", 1);
	setenv("SSH_AUTH_SOCK", "/agent", 1);
	is_int(ssh_target_parse(&target, &pod, STR_LIT(ssh_says), &err), 0,
	       "the output of ssh -G is read");
	is_str(target.host, "203.0.113.7", "HostName");
	is_str(target.alias, NULL, "no HostKeyAlias");
	is_str(target.user, "golf", "User");
	is_int(target.port, 2222, "Port; a port out of range is ignored");
	is_int((long)target.n_identities, 2, "two keys");
	is_str(target.identities[0], "/home/x/.ssh/203.0.113.7-golf-2222", "~ %h %r %p");
	is_str(target.identities[1], "/k/%d", "%%");
	is_str(target.agent, NULL, "IdentityAgent none");
	is_str(target.proxy_command, "nc 203.0.113.7 2222 rp", "ProxyCommand");
	is_int((long)target.n_known_hosts, 3, "known_hosts files");
	is_str(target.known_hosts[0], "/home/x/kh1", "the user's known_hosts file is first");
	ssh_target_release(&target);

	pod.identity = "~/mine";
	pod.known_hosts = "/mine";
	pod.proxy_jump = "bastion";
	is_int(ssh_target_parse(&target, &pod, STR_LIT(ssh_says), &err), 0,
	       "explicit settings come first");
	is_int((long)target.n_identities, 1, "one key");
	is_str(target.identities[0], "/home/x/mine", "the pod's key");
	is_str(target.known_hosts[0], "/mine", "the pod's known_hosts");
	is_str(target.proxy_jump, "bastion", "the pod's jump host");
	is_str(target.proxy_command, NULL, "an explicit jump host removes ProxyCommand");
	ssh_target_release(&target);

	pod = (struct remote_pod){ .name = "p", .ssh = "u@h:23" };
	is_int(ssh_target_parse(&target, &pod, (struct str){ NULL, 0 }, &err), 0,
	       "without an ssh program there are defaults");
	is_str(target.host, "h", "the host is unchanged");
	is_int(target.port, 23, "the port comes from the name");
	is_str(target.agent, "/agent", "the agent comes from the environment");
	ok(target.n_identities == 3 && target.n_known_hosts == 2,
	   "the key files are the default ones");
	ssh_target_release(&target);
}

#define KEY_A                                                           \
	"AAAAC3NzaC1lZDI1NTE5AAAAIKv1zKGzTQdaR7u5ZBD1nIyyCPXuXr9JkS7bA" \
	"l8JHhzM"
#define KEY_B                                                           \
	"AAAAC3NzaC1lZDI1NTE5AAAAIKv1zKGzTQdaR7u5ZBD1nIyyCPXuXr9JkS7bA" \
	"l8JHhzN"
#define ED "ssh-ed25519"

static void test_known(void)
{
	struct known_keys known = { 0 };
	struct buf out;

	buf_init(&out, 1000);
	known_keys_preference(&known, &out);
	ok(strncmp(out.data, ED ",ecdsa-", 18) == 0, "ed25519 is preferred");
	known_keys_add(&known,
		       STR_LIT("# Host h found: line 1\n"
			       "h ssh-ed25519 " KEY_A " comment\n"
			       "h ssh-rsa " KEY_A "\n" /* another type inside */
			       "h ssh-ed25519 not!base64\n"
			       "h\n\n@what h ssh-ed25519 " KEY_B "\n"),
		       NULL);
	is_int((long)known.n, 1, "malformed lines and markers are skipped");
	is_int(known_keys_judge(&known, ED, KEY_A), KNOWN_GOOD, "a known key");
	is_int(known_keys_judge(&known, ED, KEY_B), KNOWN_CHANGED, "a changed key");
	is_int(known_keys_judge(&known, "ecdsa-sha2-nistp256", "AAAA"), KNOWN_OTHER_TYPE,
	       "a known host with a key of another type");
	known_keys_add(&known, STR_LIT("@revoked h ssh-ed25519 " KEY_A "\n"), NULL);
	is_int(known_keys_judge(&known, ED, KEY_A), KNOWN_REVOKED,
	       "a key that is known and revoked is revoked");
	known_keys_clear(&known);
	is_int(known_keys_judge(&known, ED, KEY_A), KNOWN_NEW, "a new key");
	buf_release(&out);
}

static void test_ssh_words(void)
{
	static const struct {
		const char *text;
		enum err_code code;
		bool final;
		const char *said; /* complete; NULL: not asked */
	} cases[] = {
		{ "x\r\nroot@h: Permission denied (publickey).\r\n", ERR_AUTH, true, NULL },
		{ "Host key verification failed.\n", ERR_HOSTKEY, true,
		  "pod: Host key verification failed." },
		{ "No ED25519 host key is known for h and you have requested "
		  "strict checking.\r\nHost key verification failed.\r\n",
		  ERR_HOSTKEY, true,
		  "pod: its host key is unknown (log in once with ssh, or use --accept-new): "
		  "Host key verification failed." },
		{ "ssh: connect to host h port 22: Connection timed out\n", ERR_TIMEOUT, false,
		  NULL },
		{ "ssh: Could not resolve hostname h: Name or service not "
		  "known\n",
		  ERR_NET, false, NULL },
		{ "", ERR_NET, false, NULL },
		{ "\x1b[2J\xff\n", ERR_NET, false, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err;
		bool final = openssh_error(&err, "pod", str_from(cases[i].text));

		ok(err.code == cases[i].code && final == cases[i].final &&
			   strchr(err.text, '\x1b') == NULL &&
			   (cases[i].said == NULL || strcmp(err.text, cases[i].said) == 0),
		   "an error of ssh is classified: %s", err.text);
	}
}

static int admitted;

static void on_admit(void *user)
{
	(void)user;
	admitted++;
}

static void test_gate(void)
{
	struct loop *loop = loop_new(NULL);
	struct gate_ticket tickets[8] = { 0 };
	struct gate gate;

	gate_init(&gate, loop);
	for (int i = 0; i < 6; i++)
		gate_enter(&gate, &tickets[i], "one", on_admit, NULL);
	gate_enter(&gate, &tickets[6], "two", on_admit, NULL);
	loop_run(loop);
	is_int(admitted, 4, "three logins per host at once, besides those of another host");
	gate_leave(&tickets[0]);
	gate_leave(&tickets[5]); /* gives up waiting */
	loop_run(loop);
	is_int(admitted, 5, "when one login ends, the next one starts");
	gate_leave(&tickets[4]);
	gate_leave(&tickets[1]);
	loop_run(loop);
	is_int(admitted, 5, "an abandoned login is not admitted");
	for (int i = 0; i < 8; i++)
		gate_leave(&tickets[i]);
	loop_free(loop);
}

#define TRIES 3

struct retry {
	struct loop *loop;
	struct fleet *fleet;
	int64_t delays_ms[TRIES];
	int closed, waits;
	struct err err;
};

static void exec_again(struct retry *retry);

static size_t on_data(void *user, const void *data, size_t len)
{
	(void)user;
	(void)data;
	return len;
}

static void on_close(void *user, const struct stream_exit *exit)
{
	struct retry *retry = user;

	retry->err = exit->err;
	if (++retry->closed < TRIES)
		exec_again(retry);
	else
		loop_stop(retry->loop);
}

static void exec_again(struct retry *retry)
{
	static const struct stream_cb cb = { .on_data = on_data, .on_close = on_close };
	struct transport *t = fleet_transport(retry->fleet);

	if (t->ops->exec(t, 0, "true", &cb, retry, NULL) == NULL)
		abort();
}

static void on_link(void *user, size_t pod)
{
	struct retry *retry = user;
	struct transport *t = fleet_transport(retry->fleet);
	struct link_info info;

	t->ops->link_info(t, pod, &info);
	if (info.state == LINK_WAITING && retry->waits < TRIES)
		retry->delays_ms[retry->waits++] = info.retry_at_ms - info.since_ms;
}

/* No program listens on port 1 of loopback. */
static void test_backoff(void)
{
	const struct remote_pod pod = { .name = "dead",
					.ssh = "127.0.0.1:1",
					.transport = REMOTE_LIBSSH2 };
	struct retry retry = { .loop = loop_new(NULL) };
	const struct fleet_options options = { .on_link = on_link, .user = &retry };
	int64_t want = 500;

	retry.fleet = fleet_new(retry.loop, &pod, 1, &options);
	exec_again(&retry);
	loop_run(retry.loop);
	is_int(retry.closed, TRIES, "each attempt reports its end");
	is_int(retry.err.code, ERR_NET, "each attempt reports the reason");
	for (int i = 0; i < TRIES; i++, want *= 2)
		ok(retry.delays_ms[i] >= want * 4 / 5 - 20 &&
			   retry.delays_ms[i] <= want * 6 / 5 + 20,
		   "back-off %d: %d ms", i, (int)retry.delays_ms[i]);
	fleet_free(retry.fleet);
	loop_free(retry.loop);
}

int main(void)
{
	test_dest();
	test_target();
	test_known();
	test_ssh_words();
	test_gate();
	test_backoff();
	return tap_done();
}
