/* SPDX-License-Identifier: MIT */
/* Known hosts: which keys are known, and what to make of the one shown. */
#include "config.h"

#include "remote/ssh_hostkey.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fd.h"
#include "base/xalloc.h"
#include "remote/ssh_key.h"

/* All that some version of libssh2 can do; it drops what it cannot. */
static const char *const host_key_algorithms[] = {
	"ssh-ed25519",
	"ecdsa-sha2-nistp256",
	"ecdsa-sha2-nistp384",
	"ecdsa-sha2-nistp521",
	"rsa-sha2-512",
	"rsa-sha2-256",
	"ssh-rsa",
};

#define N_ALGORITHMS                                                           \
	(sizeof(host_key_algorithms) / sizeof(*host_key_algorithms))

/* Cut the next word off *rest; blanks and tabs part words. */
static struct str
next_word(struct str *rest)
{
	struct str word = *rest = str_trim(*rest);

	word.len = 0;
	while (word.len < rest->len && rest->p[word.len] != ' ' &&
	       rest->p[word.len] != '\t')
		word.len++;
	rest->p += word.len;
	rest->len -= word.len;
	return word;
}

/* A key whose base64 says the same type as the word before it. */
static bool
is_sound(struct str type, struct str base64)
{
	char inner[64];
	struct buf blob;
	bool sound;

	buf_init(&blob, SSH_KEY_MAX_BYTES);
	sound = base64_decode(&blob, base64) && blob.len > 0;
	if (sound) {
		ssh_key_type(inner, (struct str){ blob.data, blob.len });
		sound = str_eq_cstr(type, inner);
	}
	buf_release(&blob);
	return sound;
}

static bool
names_host(struct str names, const char *name)
{
	struct str one;

	while (str_next(&names, ',', &one))
		if (str_eq_cstr(one, name))
			return true;
	return false;
}

/* [marker] names type key [comment]; a certificate authority is no key. */
static void
add_line(struct known_keys *known, struct str line, const char *name)
{
	struct str marker = { NULL, 0 }, names, type, base64;
	struct known_key *key;

	line = str_trim(line);
	if (line.len == 0 || line.p[0] == '#')
		return;
	names = next_word(&line);
	if (names.p[0] == '@') {
		marker = names;
		names = next_word(&line);
	}
	type = next_word(&line);
	base64 = next_word(&line);
	if (type.len >= sizeof(key->type) || known->n == KNOWN_KEYS_MAX ||
	    (marker.len > 0 && !str_eq_cstr(marker, "@revoked")) ||
	    (name != NULL && !names_host(names, name)) ||
	    !is_sound(type, base64))
		return;
	key = &known->keys[known->n++];
	snprintf(key->type, sizeof(key->type), "%.*s", (int)type.len, type.p);
	key->base64 = xstrndup(base64.p, base64.len);
	key->revoked = marker.len > 0;
}

void
known_keys_add(struct known_keys *known, struct str lines)
{
	struct str line;

	while (str_next(&lines, '\n', &line))
		add_line(known, line, NULL);
}

void
known_keys_add_file(struct known_keys *known, const char *path,
		    const char *name)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (file == NULL)
		return;
	while ((len = getline(&line, &room, file)) > 0 && len < 65536)
		add_line(known, (struct str){ line, (size_t)len }, name);
	free(line);
	fclose(file);
}

void
known_keys_clear(struct known_keys *known)
{
	for (size_t i = 0; i < known->n; i++)
		free(known->keys[i].base64);
	known->n = 0;
}

/* A key of type ssh-rsa is shown under three names. */
static bool
is_type_of(const char *algorithm, const char *type)
{
	return strcmp(algorithm, type) == 0 ||
	       (strcmp(type, "ssh-rsa") == 0 &&
		strncmp(algorithm, "rsa-sha2-", 9) == 0);
}

static bool
is_known_type(const struct known_keys *known, const char *algorithm)
{
	for (size_t i = 0; i < known->n; i++)
		if (!known->keys[i].revoked &&
		    is_type_of(algorithm, known->keys[i].type))
			return true;
	return false;
}

void
known_keys_preference(const struct known_keys *known, struct buf *out)
{
	for (int want = 1; want >= 0; want--)
		for (size_t i = 0; i < N_ALGORITHMS; i++)
			if (is_known_type(known, host_key_algorithms[i]) ==
			    (want == 1))
				buf_appendf(out, "%s%s",
					    out->len > 0 ? "," : "",
					    host_key_algorithms[i]);
}

enum known_verdict
known_keys_judge(const struct known_keys *known, const char *type,
		 const char *base64)
{
	enum known_verdict verdict = KNOWN_NEW;

	for (size_t i = 0; i < known->n; i++)
		if (known->keys[i].revoked &&
		    strcmp(known->keys[i].base64, base64) == 0)
			return KNOWN_REVOKED;
	for (size_t i = 0; i < known->n; i++) {
		const struct known_key *key = &known->keys[i];

		if (key->revoked)
			continue;
		if (strcmp(key->base64, base64) == 0)
			return KNOWN_GOOD;
		if (strcmp(key->type, type) == 0)
			verdict = KNOWN_CHANGED;
		else if (verdict == KNOWN_NEW)
			verdict = KNOWN_OTHER_TYPE;
	}
	return verdict;
}

/* The directory of path, 0700, when it is missing. */
static void
make_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir;

	if (slash == NULL || slash == path)
		return;
	dir = xstrndup(path, (size_t)(slash - path));
	mkdir(dir, 0700);
	free(dir);
}

/* A last line without its end must not be joined with ours. */
static bool
ends_open(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

int
known_keys_append(const char *path, const char *name, const char *type,
		  const char *base64, struct err *err)
{
	struct buf line;
	int fd, rc = 0;

	make_directory(path);
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
		  0600);
	if (fd < 0)
		return err_set_errno(err, ERR_IO, "cannot write %s", path);
	buf_init(&line, SSH_KEY_MAX_BYTES);
	buf_appendf(&line, "%s%s %s %s\n", ends_open(fd) ? "\n" : "", name,
		    type, base64);
	if (fd_write_all(fd, line.data, line.len) != 0)
		rc = err_set_errno(err, ERR_IO, "cannot write %s", path);
	buf_release(&line);
	close(fd);
	return rc;
}
