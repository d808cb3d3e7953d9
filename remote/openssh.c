/* SPDX-License-Identifier: MIT */
/* Asks ssh(1) what a host name means, builds its command lines, and reads its error messages. */
#include "remote/openssh.h"

#include <assert.h>
#include <pwd.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"

static const char *local_user(void)
{
	const struct passwd *pw = getpwuid(getuid());
	const char *user = getenv("USER");

	return pw != NULL ? pw->pw_name : user != NULL ? user : "root";
}

/* Split host, host:port, [host], [host]:port, or an IPv6 address. False if it is invalid. */
static bool parse_host(struct ssh_dest *dest, char *text)
{
	char *end = strrchr(text, ']'), *port = strchr(text, ':');
	int64_t value = 0;

	if (text[0] == '[' && end != NULL) {
		if (end[1] != '\0' && end[1] != ':')
			return false;
		port = end[1] == ':' ? end + 1 : NULL;
		*end = '\0';
		text++;
	} else if (port != strrchr(text, ':')) {
		port = NULL;
	}
	if (port != NULL && (!str_to_i64(str_from(port + 1), &value) || value < 1 || value > 65535))
		return false;
	if (port != NULL)
		*port = '\0';
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return false;
	dest->port = (int)value;
	dest->host = xstrdup(text);
	return text[0] != '\0' && text[0] != '-';
}

int ssh_dest_parse(struct ssh_dest *dest, const char *text, struct err *err)
{
	bool good = text != NULL;
	AUTO_TEXT copy = xstrdup(good ? text : "");
	char *at = strrchr(copy, '@'), *host = copy;

	memset(dest, 0, sizeof(*dest));
	if (at != NULL) {
		*at = '\0';
		host = at + 1;
		good = copy[0] != '\0' && copy[0] != '-';
		dest->user = xstrdup(copy);
	}
	if (good && parse_host(dest, host))
		return 0;
	ssh_dest_release(dest);
	return err_set(err, ERR_CONFIG, "\"%s\" is neither a host alias nor [user@]host[:port]",
		       text != NULL ? text : "");
}

void ssh_dest_release(struct ssh_dest *dest)
{
	free(dest->user);
	free(dest->host);
	memset(dest, 0, sizeof(*dest));
}

/* Add a path to a list, which owns it; paths beyond SSH_TARGET_FILES are dropped. */
static void add_path(char **list, size_t *n, char *path)
{
	if (*n < SSH_TARGET_FILES)
		list[(*n)++] = path;
	else
		free(path);
}

/* Expand %d %h %i %k %n %p %r %u %% (ssh_config(5), TOKENS); other tokens stay unchanged. */
static char *expand_tokens(const struct ssh_target *target, const char *name, struct str text)
{
	AUTO_TEXT uid = xasprintf("%lu", (unsigned long)getuid());
	AUTO_TEXT port = xasprintf("%d", target->port);
	const char *alias = target->alias != NULL ? target->alias : target->host;
	const char *const tokens[128] = {
		['%'] = "%",  ['d'] = file_home(),  ['h'] = target->host,
		['i'] = uid,  ['k'] = alias,	    ['n'] = name,
		['p'] = port, ['r'] = target->user, ['u'] = local_user(),
	};
	AUTO_BUF out = buf_new(65536);

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c =
			i + 1 < text.len && text.p[i] == '%' ? (unsigned char)text.p[i + 1] : '\0';

		if (c < 128 && tokens[c] != NULL) {
			buf_append_str(&out, tokens[c]);
			i++;
		} else {
			buf_append_char(&out, text.p[i]);
		}
	}
	return buf_detach(&out);
}

static char *expand_path(const struct ssh_target *target, const char *name, struct str value)
{
	AUTO_TEXT tokens = expand_tokens(target, name, value);

	return file_expand_home(tokens);
}

/* Apply a value of IdentityAgent: a path, $VARIABLE, SSH_AUTH_SOCK or none. */
static void set_agent(struct ssh_target *target, const char *name, struct str value)
{
	AUTO_TEXT text = expand_path(target, name, value);
	const char *env = NULL;

	xset_text(&target->agent, NULL);
	if (str_eq_cstr(value, "none"))
		return;
	if (text[0] == '$')
		env = getenv(text + 1);
	else if (strcmp(text, "SSH_AUTH_SOCK") == 0)
		env = getenv(text);
	else
		env = text;
	if (env != NULL && env[0] != '\0')
		target->agent = xstrdup(env);
}

static void add_known_hosts(struct ssh_target *target, const char *name, struct str value)
{
	struct str piece;

	while (str_next(&value, ' ', &piece))
		if (piece.len > 0 && !str_eq_cstr(piece, "none"))
			add_path(target->known_hosts, &target->n_known_hosts,
				 expand_path(target, name, piece));
}

/* Find the next line with this key in the output of `ssh -G`; false if there is none. */
static bool next_value(struct str *rest, const char *key, struct str *value)
{
	size_t len = strlen(key);
	struct str line;

	while (str_next(rest, '\n', &line)) {
		line = str_trim(line);
		if (line.len <= len || !str_starts_with(line, key) || line.p[len] != ' ')
			continue;
		*value = str_trim(str_skip(line, len));
		if (value->len > 0)
			return true;
	}
	return false;
}

static bool find_value(struct str text, const char *key, struct str *value)
{
	return next_value(&text, key, value);
}

/* Replace a text by the value of a key, if the output has this key. */
static void take_text(char **place, struct str text, const char *key)
{
	struct str value;

	if (!find_value(text, key, &value))
		return;
	xset_text(place, xstrndup(value.p, value.len));
}

/* Find the value of a key; false if there is none or it is "none". */
static bool is_set(struct str text, const char *key, struct str *value)
{
	return find_value(text, key, value) && !str_eq_cstr(*value, "none");
}

/* Read the output of `ssh -G`, first host, user and port: tokens in other values refer to them. */
static void read_answer(struct ssh_target *target, const char *name, struct str text)
{
	struct str rest = text, value;
	int64_t port;

	take_text(&target->host, text, "hostname");
	take_text(&target->user, text, "user");
	take_text(&target->alias, text, "hostkeyalias");
	if (find_value(text, "port", &value) && str_to_i64(value, &port) && port > 0 &&
	    port < 65536)
		target->port = (int)port;
	while (next_value(&rest, "identityfile", &value))
		if (!str_eq_cstr(value, "none"))
			add_path(target->identities, &target->n_identities,
				 expand_path(target, name, value));
	target->identities_only =
		find_value(text, "identitiesonly", &value) && str_eq_cstr(value, "yes");
	if (find_value(text, "identityagent", &value))
		set_agent(target, name, value);
	if (is_set(text, "proxyjump", &value))
		target->proxy_jump = xstrndup(value.p, value.len);
	if (is_set(text, "proxycommand", &value))
		target->proxy_command = expand_tokens(target, name, value);
	if (find_value(text, "userknownhostsfile", &value))
		add_known_hosts(target, name, value);
	if (find_value(text, "globalknownhostsfile", &value))
		add_known_hosts(target, name, value);
}

static void clear_list(char **list, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		free(list[i]);
	*n = 0;
}

int ssh_target_parse(struct ssh_target *target, const struct remote_pod *pod, struct str text,
		     struct err *err)
{
	static const char *const identities[] = { "~/.ssh/id_ed25519", "~/.ssh/id_ecdsa",
						  "~/.ssh/id_rsa" };
	struct ssh_dest dest;

	if (ssh_dest_parse(&dest, pod->ssh, err) != 0)
		return -1;
	/* Start with the defaults of ssh, for keys that the output does not have. */
	target->host = xstrdup(dest.host);
	target->user = xstrdup(dest.user != NULL ? dest.user : local_user());
	target->port = dest.port > 0 ? dest.port : 22;
	set_agent(target, "", STR_LIT("SSH_AUTH_SOCK"));
	read_answer(target, dest.host, text);
	for (size_t i = 0; text.len == 0 && i < LENGTH(identities); i++)
		add_path(target->identities, &target->n_identities,
			 file_expand_home(identities[i]));
	if (text.len == 0)
		add_known_hosts(target, "", STR_LIT("~/.ssh/known_hosts /etc/ssh/ssh_known_hosts"));
	/* Settings of the pod take precedence over ssh's configuration. */
	if (pod->identity != NULL) {
		clear_list(target->identities, &target->n_identities);
		add_path(target->identities, &target->n_identities,
			 file_expand_home(pod->identity));
		target->identities_only = true;
	}
	if (pod->known_hosts != NULL) {
		clear_list(target->known_hosts, &target->n_known_hosts);
		add_path(target->known_hosts, &target->n_known_hosts,
			 file_expand_home(pod->known_hosts));
	}
	if (pod->host_key_alias != NULL) {
		xset_text(&target->alias, xstrdup(pod->host_key_alias));
	}
	if (pod->proxy_jump != NULL) {
		xset_text(&target->proxy_jump, xstrdup(pod->proxy_jump));
		xset_text(&target->proxy_command, NULL);
	}
	ssh_dest_release(&dest);
	return 0;
}

void ssh_target_release(struct ssh_target *target)
{
	free(target->host);
	free(target->alias);
	free(target->user);
	free(target->agent);
	free(target->proxy_jump);
	free(target->proxy_command);
	clear_list(target->identities, &target->n_identities);
	clear_list(target->known_hosts, &target->n_known_hosts);
	memset(target, 0, sizeof(*target));
}

char *ssh_target_known_name(const struct ssh_target *target)
{
	if (target->alias != NULL)
		return xstrdup(target->alias);
	if (target->port == 22)
		return xstrdup(target->host);
	return xasprintf("[%s]:%d", target->host, target->port);
}

void ssh_words_add(struct ssh_words *words, const char *fmt, ...)
{
	AUTO_BUF word = buf_new(65536);

	assert(words->n < SSH_WORDS_MAX);
	buf_append_args(&word, fmt);
	words->owned[words->n] = buf_detach(&word);
	words->argv[words->n] = words->owned[words->n];
	words->n++;
}

void ssh_words_add_list(struct ssh_words *words, ...)
{
	const char *word;
	va_list ap;

	va_start(ap, words);
	while ((word = va_arg(ap, const char *)) != NULL)
		ssh_words_add(words, "%s", word);
	va_end(ap);
}

int ssh_words_add_host(struct ssh_words *words, const char *text, struct err *err)
{
	struct ssh_dest dest;

	if (ssh_dest_parse(&dest, text, err) != 0)
		return -1;
	if (dest.port > 0)
		ssh_words_add(words, "-p%d", dest.port);
	if (dest.user != NULL)
		ssh_words_add_all(words, "-l", dest.user);
	ssh_words_add_all(words, "--", dest.host);
	ssh_dest_release(&dest);
	return 0;
}

static void add_batch_options(struct ssh_words *words, bool accept_new)
{
	ssh_words_add_all(words, "ssh", "-oBatchMode=yes", "-oConnectTimeout=10",
			  accept_new ? "-oStrictHostKeyChecking=accept-new"
				     : "-oStrictHostKeyChecking=yes");
}

static int add_pod(struct ssh_words *words, const struct remote_pod *pod, struct err *err)
{
	if (pod->identity != NULL) {
		AUTO_TEXT path = file_expand_home(pod->identity);

		ssh_words_add_all(words, "-i", path);
	}
	if (pod->known_hosts != NULL) {
		AUTO_TEXT path = file_expand_home(pod->known_hosts);

		ssh_words_add(words, "-oUserKnownHostsFile=\"%s\"", path);
	}
	if (pod->proxy_jump != NULL)
		ssh_words_add_all(words, "-J", pod->proxy_jump);
	if (pod->host_key_alias != NULL)
		ssh_words_add(words, "-oHostKeyAlias=%s", pod->host_key_alias);
	return ssh_words_add_host(words, pod->ssh, err);
}

int ssh_words_command(struct ssh_words *words, const struct remote_pod *pod, bool accept_new,
		      const char *command, struct err *err)
{
	add_batch_options(words, accept_new);
	ssh_words_add_all(words, "-T", "-oServerAliveInterval=5", "-oServerAliveCountMax=3",
			  "-oPermitLocalCommand=yes");
	ssh_words_add(words, "-oLocalCommand=sh -c 'echo %.*s >&2'", (int)sizeof(SSH_UP_MARK) - 2,
		      SSH_UP_MARK);
	if (add_pod(words, pod, err) != 0)
		return -1;
	ssh_words_add(words, "%s", command);
	return 0;
}

int ssh_words_shell(struct ssh_words *words, const struct remote_pod *pod, struct err *err)
{
	ssh_words_add_all(words, "ssh", "-t");
	return add_pod(words, pod, err);
}

int ssh_words_jump(struct ssh_words *words, const char *jumps, bool accept_new, const char *host,
		   int port, struct err *err)
{
	const char *comma = strrchr(jumps, ',');

	add_batch_options(words, accept_new);
	if (comma != NULL) {
		ssh_words_add(words, "-J");
		ssh_words_add(words, "%.*s", (int)(comma - jumps), jumps);
	}
	ssh_words_add(words, "-W[%s]:%d", host, port);
	return ssh_words_add_host(words, comma != NULL ? comma + 1 : jumps, err);
}

void ssh_words_release(struct ssh_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->owned[i]);
	memset(words, 0, sizeof(*words));
}

/* Messages of ssh(1), the most important first. The last entry is for any other message. */
static const struct {
	const char *text;
	enum err_code code;
	bool final;
	const char *hint;
} ssh_messages[] = {
	{ "HOST IDENTIFICATION HAS CHANGED", ERR_HOSTKEY, true,
	  "the host key differs from the one in known_hosts: " },
	{ "REVOKED HOST KEY", ERR_HOSTKEY, true, "" },
	{ "host key is known for", ERR_HOSTKEY, true,
	  "its host key is unknown (log in once with ssh, or use --accept-new): " },
	{ "Host key verification failed", ERR_HOSTKEY, true, "" },
	{ "Too many authentication failures", ERR_AUTH, true, "" },
	{ "Permission denied", ERR_AUTH, true, "" },
	{ "Unable to negotiate", ERR_NET, true, "" },
	{ "Bad configuration option", ERR_CONFIG, true, "" },
	{ "hostname contains invalid characters", ERR_CONFIG, true, "" },
	{ "Not allowed at this time", ERR_NET, false,
	  "the server refuses connections from this address for a while, after failed logins "
	  "(PerSourcePenalties): " },
	{ "timed out", ERR_TIMEOUT, false, "" },
	{ "not responding", ERR_TIMEOUT, false, "" },
	{ NULL, ERR_NET, false, "" },
};

bool openssh_error(struct err *err, const char *whom, struct str text)
{
	char clean[256];
	size_t i = 0;

	while (ssh_messages[i].text != NULL && str_find(text, ssh_messages[i].text) == NULL)
		i++;
	utf8_clean(clean, sizeof(clean), str_last_line(text));
	err_set(err, ssh_messages[i].code, "%s: %s%s", whom, ssh_messages[i].hint,
		clean[0] != '\0' ? clean : "ssh exited without a message");
	return ssh_messages[i].final;
}
