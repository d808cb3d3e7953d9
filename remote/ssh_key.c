/* SPDX-License-Identifier: MIT */
/* Reads key files, as far as that needs no passphrase, and keys in known_hosts. */
#include "remote/ssh_key.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fd.h"
#include "base/file.h"

#define KNOWN_FILE_MAX_BYTES (64U << 20)

bool ssh_wire_u32(struct str *rest, uint32_t *out)
{
	uint32_t wire;

	if (rest->len < sizeof(wire))
		return false;
	memcpy(&wire, rest->p, sizeof(wire));
	*out = ntohl(wire);
	*rest = str_skip(*rest, 4);
	return true;
}

bool ssh_wire_string(struct str *rest, struct str *out)
{
	uint32_t len;

	if (!ssh_wire_u32(rest, &len) || len > rest->len)
		return false;
	*out = (struct str){ rest->p, len };
	*rest = str_skip(*rest, len);
	return true;
}

void ssh_wire_put_u32(struct buf *out, uint32_t value)
{
	const uint32_t wire = htonl(value);

	buf_append(out, &wire, sizeof(wire));
}

void ssh_wire_put(struct buf *out, struct str data)
{
	ssh_wire_put_u32(out, (uint32_t)data.len);
	buf_append(out, data.p, data.len);
}

void ssh_key_type(char out[64], struct str blob)
{
	struct str type = { NULL, 0 };

	out[0] = '\0';
	if (!ssh_wire_string(&blob, &type) || type.len >= 64)
		return;
	for (size_t i = 0; i < type.len; i++)
		if (type.p[i] <= ' ' || type.p[i] > '~')
			return;
	snprintf(out, 64, "%.*s", (int)type.len, type.p);
}

/* Read the public key in path.pub: "ssh-ed25519 AAAA.. comment". */
static void read_public(struct ssh_key *key, const char *path)
{
	AUTO_TEXT name = xasprintf("%s.pub", path);
	struct str rest, type, base64;
	AUTO_BUF text = buf_new(SSH_KEY_MAX_BYTES);

	if (file_read(name, &text, NULL) == 0) {
		rest = str_trim(buf_str(&text));
		if (str_next(&rest, ' ', &type) && str_next(&rest, ' ', &base64) &&
		    !base64_decode(&key->blob, base64))
			buf_clear(&key->blob);
	}
}

/* Overwrite a private key before its memory is freed. */
static void release_secret(struct buf *buf)
{
	if (buf->room > 0)
		explicit_bzero(buf->data, buf->room);
	buf_release(buf);
}

/* Read the start of openssh-key-v1: magic, cipher, kdf, kdf options, key count, public keys. */
static void read_openssh(struct ssh_key *key, struct str base64)
{
	static const char magic[] = "openssh-key-v1";
	struct str rest, cipher, kdf, options, blob;
	struct buf raw;
	uint32_t count;

	buf_init(&raw, SSH_KEY_MAX_BYTES);
	if (base64_decode(&raw, base64) && raw.len > sizeof(magic) &&
	    memcmp(raw.data, magic, sizeof(magic)) == 0) {
		buf_consume(&raw, sizeof(magic));
		rest = buf_str(&raw);
		if (ssh_wire_string(&rest, &cipher) && ssh_wire_string(&rest, &kdf) &&
		    ssh_wire_string(&rest, &options) && ssh_wire_u32(&rest, &count) &&
		    ssh_wire_string(&rest, &blob)) {
			key->encrypted = !str_eq_cstr(cipher, "none");
			/* Ciphers that libssh2 can decrypt. */
			key->readable =
				!key->encrypted ||
				(str_starts_with(cipher, "aes") &&
				 (str_ends_with(cipher, "-ctr") || str_ends_with(cipher, "-cbc")));
			buf_clear(&key->blob);
			buf_append(&key->blob, blob.p, blob.len);
		}
	}
	release_secret(&raw);
}

static void read_private(struct ssh_key *key, struct str text)
{
	static const char begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
	const char *at = str_find(text, begin);
	const char *end = str_find(text, "-----END OPENSSH");

	if (at != NULL && end != NULL && end > at) {
		at += sizeof(begin) - 1;
		read_openssh(key, str_between(at, end));
		return;
	}
	key->encrypted = str_find(text, "BEGIN ENCRYPTED PRIVATE KEY") != NULL ||
			 str_find(text, "4,ENCRYPTED") != NULL;
	if (str_find(text, "BEGIN RSA PRIVATE KEY") != NULL)
		snprintf(key->type, sizeof(key->type), "ssh-rsa");
}

void ssh_key_read(struct ssh_key *key, const char *path)
{
	struct buf text;
	struct stat st;

	memset(key, 0, sizeof(*key));
	buf_init(&key->blob, SSH_KEY_MAX_BYTES);
	buf_init(&text, SSH_KEY_MAX_BYTES);
	key->readable = true;
	read_public(key, path);
	if (file_read(path, &text, NULL) == 0) {
		key->is_garbage = str_find(buf_str(&text), "PRIVATE KEY") == NULL;
		/* Like ssh(1), refuse a file of the current user that others may access. */
		if (stat(path, &st) == 0 && st.st_uid == getuid() && (st.st_mode & 077) != 0)
			key->mode = st.st_mode & 0777;
		key->exists = !key->is_garbage && key->mode == 0;
	}
	if (key->exists)
		read_private(key, buf_str(&text));
	if (key->blob.len > 0)
		ssh_key_type(key->type, buf_str(&key->blob));
	release_secret(&text);
}

/* All host key algorithms of any libssh2 version; ssh_session.c removes those it does not know. */
static const char host_key_algorithms[] = "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,"
					  "ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256,ssh-rsa";

/* Cut the next word off *rest; spaces and tabs separate words. */
static struct str next_word(struct str *rest)
{
	struct str word = *rest = str_trim(*rest);

	word.len = 0;
	while (word.len < rest->len && rest->p[word.len] != ' ' && rest->p[word.len] != '\t')
		word.len++;
	*rest = str_skip(*rest, word.len);
	return word;
}

static bool is_sound(struct str type, struct str base64)
{
	char inner[64];
	AUTO_BUF blob = buf_new(SSH_KEY_MAX_BYTES);
	bool sound = base64_decode(&blob, base64) && blob.len > 0;

	if (sound) {
		ssh_key_type(inner, buf_str(&blob));
		sound = str_eq_cstr(type, inner);
	}
	return sound;
}

/* Add the key of a line "[marker] names type key [comment]", but not a certificate authority's. */
static void add_line(struct known_keys *known, struct str line, const char *name)
{
	struct str marker = { NULL, 0 }, names, type, base64, one;
	struct known_key *key;
	bool is_named = name == NULL;

	line = str_trim(line);
	if (line.len == 0 || line.p[0] == '#')
		return;
	names = next_word(&line);
	if (names.p[0] == '@') {
		marker = names;
		names = next_word(&line);
	}
	while (!is_named && str_next(&names, ',', &one))
		is_named = str_eq_cstr(one, name);
	type = next_word(&line);
	base64 = next_word(&line);
	if (type.len >= sizeof(key->type) || known->n == KNOWN_KEYS_MAX ||
	    (marker.len > 0 && !str_eq_cstr(marker, "@revoked")) || !is_named ||
	    !is_sound(type, base64))
		return;
	key = &known->keys[known->n++];
	snprintf(key->type, sizeof(key->type), "%.*s", (int)type.len, type.p);
	key->base64 = xstrndup(base64.p, base64.len);
	key->revoked = marker.len > 0;
}

void known_keys_add(struct known_keys *known, struct str lines, const char *name)
{
	struct str line;

	while (str_next(&lines, '\n', &line))
		add_line(known, line, name);
}

void known_keys_add_file(struct known_keys *known, const char *path, const char *name)
{
	AUTO_BUF text = buf_new(KNOWN_FILE_MAX_BYTES);

	if (file_read(path, &text, NULL) == 0)
		known_keys_add(known, buf_str(&text), name);
}

void known_keys_clear(struct known_keys *known)
{
	for (size_t i = 0; i < known->n; i++)
		free(known->keys[i].base64);
	known->n = 0;
}

void known_keys_preference(const struct known_keys *known, struct buf *out)
{
	for (int want = 1; want >= 0; want--) {
		struct str rest = str_from(host_key_algorithms), name;

		while (str_next(&rest, ',', &name)) {
			/* A key of type ssh-rsa can be presented under three names. */
			struct str type = str_starts_with(name, "rsa-") ? STR_LIT("ssh-rsa") : name;
			bool is_known = any_of(i, known->n,
					       !known->keys[i].revoked &&
						       str_eq_cstr(type, known->keys[i].type));

			if (is_known == (want == 1))
				buf_appendf(out, "%s%.*s", out->len > 0 ? "," : "", (int)name.len,
					    name.p);
		}
	}
}

enum known_verdict known_keys_judge(const struct known_keys *known, const char *type,
				    const char *base64)
{
	enum known_verdict verdict = KNOWN_NEW;

	array_each (key, known->keys, known->n) {
		bool is_same = strcmp(key->base64, base64) == 0;

		if (key->revoked && is_same)
			return KNOWN_REVOKED;
		if (key->revoked || verdict == KNOWN_GOOD)
			continue;
		if (is_same)
			verdict = KNOWN_GOOD;
		else if (strcmp(key->type, type) == 0)
			verdict = KNOWN_CHANGED;
		else if (verdict == KNOWN_NEW)
			verdict = KNOWN_OTHER_TYPE;
	}
	return verdict;
}

int known_keys_append(const char *path, const char *name, const char *type, const char *base64,
		      struct err *err)
{
	AUTO_BUF line = buf_new(SSH_KEY_MAX_BYTES);
	AUTO_TEXT folder = file_folder(path);
	char last = '\n';
	int fd, rc = 0;

	mkdir(folder, 0700); /* if it does not exist */
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return err_set_errno(err, ERR_IO, "cannot write %s", path);
	/* The last line may lack its newline. */
	off_t size = lseek(fd, 0, SEEK_END);
	if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n')
		buf_append_char(&line, '\n');
	buf_appendf(&line, "%s %s %s\n", name, type, base64);
	if (fd_write_all(fd, line.data, line.len) != 0)
		rc = err_set_errno(err, ERR_IO, "cannot write %s", path);
	close(fd);
	return rc;
}
