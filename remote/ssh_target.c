/* SPDX-License-Identifier: MIT */
/* What `ssh -G` says of a pod's name; ssh_conn.c asks, this file reads. */
#include "config.h"

#include "remote/ssh_target.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/home.h"
#include "base/xalloc.h"

static const char *
local_user(void)
{
	const struct passwd *pw = getpwuid(getuid());
	const char *user = getenv("USER");

	if (pw != NULL)
		return pw->pw_name;
	return user != NULL ? user : "root";
}

/* The port at the end of *text is cut off; false when it is none. */
static bool
cut_port(char *text, int *port)
{
	char *colon = strrchr(text, ':');
	int64_t value;

	if (!str_to_i64(str_from(colon + 1), &value) || value < 1 ||
	    value > 65535)
		return false;
	*port = (int)value;
	*colon = '\0';
	return true;
}

/* host, host:port, [host], [host]:port, or an IPv6 address as it is. */
static bool
parse_host(struct ssh_dest *dest, char *text)
{
	char *end = strrchr(text, ']');

	if (text[0] == '[' && end != NULL) {
		if (end[1] == ':' && !cut_port(text, &dest->port))
			return false;
		if (end[1] != '\0')
			return false;
		*end = '\0';
		text++;
	} else if (strchr(text, ':') != NULL &&
		   strchr(text, ':') == strrchr(text, ':') &&
		   !cut_port(text, &dest->port)) {
		return false;
	}
	if (text[0] == '\0' || text[0] == '-')
		return false;
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return false;
	dest->host = xstrdup(text);
	return true;
}

int
ssh_dest_parse(struct ssh_dest *dest, const char *text, struct err *err)
{
	char *copy, *at, *host;
	bool good = text != NULL;

	memset(dest, 0, sizeof(*dest));
	copy = host = xstrdup(good ? text : "");
	at = strrchr(copy, '@');
	if (at != NULL) {
		*at = '\0';
		host = at + 1;
		good = copy[0] != '\0' && copy[0] != '-';
		dest->user = xstrdup(copy);
	}
	good = good && parse_host(dest, host);
	free(copy);
	if (good)
		return 0;
	ssh_dest_release(dest);
	return err_set(err, ERR_CONFIG,
		       "\"%s\" is neither a host alias nor [user@]host[:port]",
		       text != NULL ? text : "");
}

void
ssh_dest_release(struct ssh_dest *dest)
{
	free(dest->user);
	free(dest->host);
	memset(dest, 0, sizeof(*dest));
}

/* Add a path to a list of at most SSH_TARGET_FILES. */
static void
add_path(char **list, size_t *n, char *path)
{
	if (*n < SSH_TARGET_FILES)
		list[(*n)++] = path;
	else
		free(path);
}

/* %d %h %i %k %n %p %r %u %% (ssh_config(5), TOKENS); others stay. */
static char *
expand_tokens(const struct ssh_target *target, const char *name,
	      struct str text)
{
	char *uid = xasprintf("%lu", (unsigned long)getuid());
	char *port = xasprintf("%d", target->port);
	const char *alias =
		target->alias != NULL ? target->alias : target->host;
	const char *const tokens[128] = {
		['%'] = "%",  ['d'] = home_dir(),   ['h'] = target->host,
		['i'] = uid,  ['k'] = alias,	    ['n'] = name,
		['p'] = port, ['r'] = target->user, ['u'] = local_user(),
	};
	struct buf out;

	buf_init(&out, 65536);
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = i + 1 < text.len && text.p[i] == '%'
					  ? (unsigned char)text.p[i + 1]
					  : '\0';

		if (c < 128 && tokens[c] != NULL) {
			buf_append_str(&out, tokens[c]);
			i++;
		} else {
			buf_append_char(&out, text.p[i]);
		}
	}
	free(uid);
	free(port);
	return buf_detach(&out);
}

static char *
expand_path(const struct ssh_target *target, const char *name, struct str value)
{
	char *tokens = expand_tokens(target, name, value);
	char *path = home_expand(tokens);

	free(tokens);
	return path;
}

/* IdentityAgent: a path, $VARIABLE, SSH_AUTH_SOCK, none. */
static void
set_agent(struct ssh_target *target, const char *name, struct str value)
{
	const char *env = NULL;
	char *text;

	free(target->agent);
	target->agent = NULL;
	if (str_eq_cstr(value, "none"))
		return;
	text = expand_path(target, name, value);
	if (text[0] == '$')
		env = getenv(text + 1);
	else if (strcmp(text, "SSH_AUTH_SOCK") == 0)
		env = getenv(text);
	else
		env = text;
	if (env != NULL && env[0] != '\0')
		target->agent = xstrdup(env);
	free(text);
}

static void
add_known_hosts(struct ssh_target *target, const char *name, struct str value)
{
	struct str piece;

	while (str_next(&value, ' ', &piece))
		if (piece.len > 0 && !str_eq_cstr(piece, "none"))
			add_path(target->known_hosts, &target->n_known_hosts,
				 expand_path(target, name, piece));
}

/* The value of the next line with that key in what `ssh -G` printed. */
static bool
next_value(struct str *rest, const char *key, struct str *value)
{
	size_t len = strlen(key);
	struct str line;

	while (str_next(rest, '\n', &line)) {
		line = str_trim(line);
		if (line.len <= len || !str_starts_with(line, key) ||
		    line.p[len] != ' ')
			continue;
		*value = str_trim((struct str){ line.p + len, line.len - len });
		if (value->len > 0)
			return true;
	}
	return false;
}

static bool
find_value(struct str text, const char *key, struct str *value)
{
	return next_value(&text, key, value);
}

/* The value of a key as a text in place of another. */
static void
take_text(char **place, struct str text, const char *key)
{
	struct str value;

	if (!find_value(text, key, &value))
		return;
	free(*place);
	*place = xstrndup(value.p, value.len);
}

/* What a key holds, unless it is "none". */
static bool
is_set(struct str text, const char *key, struct str *value)
{
	return find_value(text, key, value) && !str_eq_cstr(*value, "none");
}

/* The names first: the tokens in the others stand for them. */
static void
read_answer(struct ssh_target *target, const char *name, struct str text)
{
	struct str rest = text, value;
	int64_t port;

	take_text(&target->host, text, "hostname");
	take_text(&target->user, text, "user");
	take_text(&target->alias, text, "hostkeyalias");
	if (find_value(text, "port", &value) && str_to_i64(value, &port) &&
	    port > 0 && port < 65536)
		target->port = (int)port;
	while (next_value(&rest, "identityfile", &value))
		if (!str_eq_cstr(value, "none"))
			add_path(target->identities, &target->n_identities,
				 expand_path(target, name, value));
	target->identities_only = find_value(text, "identitiesonly", &value) &&
				  str_eq_cstr(value, "yes");
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

/* What ssh would take without a word in any configuration. */
static void
set_defaults(struct ssh_target *target, const struct ssh_dest *dest)
{
	target->host = xstrdup(dest->host);
	target->user = xstrdup(dest->user != NULL ? dest->user : local_user());
	target->port = dest->port > 0 ? dest->port : 22;
	set_agent(target, "", STR_LIT("SSH_AUTH_SOCK"));
}

static void
add_default_files(struct ssh_target *target)
{
	static const char *const identities[] = { "~/.ssh/id_ed25519",
						  "~/.ssh/id_ecdsa",
						  "~/.ssh/id_rsa" };

	for (size_t i = 0; i < 3; i++)
		add_path(target->identities, &target->n_identities,
			 home_expand(identities[i]));
	add_known_hosts(target, "",
			STR_LIT("~/.ssh/known_hosts /etc/ssh/ssh_known_hosts"));
}

static void
clear_list(char **list, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		free(list[i]);
	*n = 0;
}

/* The keys of the pod itself win over what ssh says. */
static void
apply_pod(struct ssh_target *target, const struct remote_pod *pod)
{
	if (pod->identity != NULL) {
		clear_list(target->identities, &target->n_identities);
		add_path(target->identities, &target->n_identities,
			 home_expand(pod->identity));
		target->identities_only = true;
	}
	if (pod->known_hosts != NULL) {
		clear_list(target->known_hosts, &target->n_known_hosts);
		add_path(target->known_hosts, &target->n_known_hosts,
			 home_expand(pod->known_hosts));
	}
	if (pod->proxy_jump != NULL) {
		free(target->proxy_jump);
		target->proxy_jump = xstrdup(pod->proxy_jump);
		free(target->proxy_command);
		target->proxy_command = NULL;
	}
}

int
ssh_target_parse(struct ssh_target *target, const struct remote_pod *pod,
		 struct str text, struct err *err)
{
	struct ssh_dest dest;

	if (ssh_dest_parse(&dest, pod->ssh, err) != 0)
		return -1;
	set_defaults(target, &dest);
	read_answer(target, dest.host, text);
	if (text.len == 0)
		add_default_files(target);
	apply_pod(target, pod);
	ssh_dest_release(&dest);
	return 0;
}

void
ssh_target_release(struct ssh_target *target)
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

char *
ssh_target_known_name(const struct ssh_target *target)
{
	if (target->alias != NULL)
		return xstrdup(target->alias);
	if (target->port == 22)
		return xstrdup(target->host);
	return xasprintf("[%s]:%d", target->host, target->port);
}
