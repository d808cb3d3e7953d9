/* SPDX-License-Identifier: MIT */
/* Key files as far as they can be read without a passphrase. */
#include "config.h"

#include "remote/ssh_key.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/xalloc.h"

bool
ssh_wire_u32(struct str *rest, uint32_t *out)
{
	const unsigned char *p = (const unsigned char *)rest->p;

	if (rest->len < 4)
		return false;
	*out = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
	rest->p += 4;
	rest->len -= 4;
	return true;
}

bool
ssh_wire_string(struct str *rest, struct str *out)
{
	uint32_t len;

	if (!ssh_wire_u32(rest, &len) || len > rest->len)
		return false;
	*out = (struct str){ rest->p, len };
	rest->p += len;
	rest->len -= len;
	return true;
}

void
ssh_wire_put_u32(struct buf *out, uint32_t value)
{
	const unsigned char bytes[4] = { (unsigned char)(value >> 24),
					 (unsigned char)(value >> 16),
					 (unsigned char)(value >> 8),
					 (unsigned char)value };

	buf_append(out, bytes, sizeof(bytes));
}

void
ssh_wire_put(struct buf *out, struct str data)
{
	ssh_wire_put_u32(out, (uint32_t)data.len);
	buf_append(out, data.p, data.len);
}

void
ssh_key_type(char out[64], struct str blob)
{
	struct str type;

	out[0] = '\0';
	if (!ssh_wire_string(&blob, &type) || type.len >= 64)
		return;
	for (size_t i = 0; i < type.len; i++)
		if (type.p[i] <= ' ' || type.p[i] > '~')
			return;
	memcpy(out, type.p, type.len);
	out[type.len] = '\0';
}

/* A small regular file, whole; false when it is not one. */
static bool
read_small(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char data[4096];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		while (out->len < out->cap &&
		       (n = read(fd, data, sizeof(data))) > 0)
			buf_append(out, data, (size_t)n);
	close(fd);
	return out->len > 0;
}

/* "ssh-ed25519 AAAA.. comment" */
static void
read_public(struct ssh_key *key, const char *path)
{
	char *name = xasprintf("%s.pub", path);
	struct str rest, type, base64;
	struct buf text;

	buf_init(&text, SSH_KEY_MAX_BYTES);
	if (read_small(name, &text)) {
		rest = str_trim((struct str){ text.data, text.len });
		if (str_next(&rest, ' ', &type) &&
		    str_next(&rest, ' ', &base64) &&
		    !base64_decode(&key->blob, base64))
			buf_clear(&key->blob);
	}
	buf_release(&text);
	free(name);
}

/* Ciphers that libssh2 can decrypt a key with. */
static bool
is_known_cipher(struct str name)
{
	return str_starts_with(name, "aes") &&
	       (str_ends_with(name, "-ctr") || str_ends_with(name, "-cbc"));
}

/* openssh-key-v1: magic, cipher, kdf, kdf options, count, public keys.. */
static void
read_openssh(struct ssh_key *key, struct str base64)
{
	static const char magic[] = "openssh-key-v1";
	struct str rest, cipher, kdf, options, blob;
	struct buf raw;
	uint32_t count;

	buf_init(&raw, SSH_KEY_MAX_BYTES);
	if (base64_decode(&raw, base64) && raw.len > sizeof(magic) &&
	    memcmp(raw.data, magic, sizeof(magic)) == 0) {
		rest = (struct str){ raw.data + sizeof(magic),
				     raw.len - sizeof(magic) };
		if (ssh_wire_string(&rest, &cipher) &&
		    ssh_wire_string(&rest, &kdf) &&
		    ssh_wire_string(&rest, &options) &&
		    ssh_wire_u32(&rest, &count) &&
		    ssh_wire_string(&rest, &blob)) {
			key->encrypted = !str_eq_cstr(cipher, "none");
			key->readable =
				!key->encrypted || is_known_cipher(cipher);
			buf_clear(&key->blob);
			buf_append(&key->blob, blob.p, blob.len);
		}
	}
	buf_release(&raw);
}

static void
read_private(struct ssh_key *key, struct str text)
{
	static const char begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
	const char *at = str_find(text, begin);
	const char *end = str_find(text, "-----END OPENSSH");

	if (at != NULL && end != NULL && end > at) {
		at += sizeof(begin) - 1;
		read_openssh(key, (struct str){ at, (size_t)(end - at) });
		return;
	}
	key->encrypted =
		str_find(text, "BEGIN ENCRYPTED PRIVATE KEY") != NULL ||
		str_find(text, "4,ENCRYPTED") != NULL;
	if (str_find(text, "BEGIN RSA PRIVATE KEY") != NULL)
		snprintf(key->type, sizeof(key->type), "ssh-rsa");
}

void
ssh_key_read(struct ssh_key *key, const char *path)
{
	struct buf text;

	memset(key, 0, sizeof(*key));
	buf_init(&key->blob, SSH_KEY_MAX_BYTES);
	buf_init(&text, SSH_KEY_MAX_BYTES);
	key->readable = true;
	read_public(key, path);
	if (read_small(path, &text) &&
	    str_find((struct str){ text.data, text.len }, "PRIVATE KEY") !=
		    NULL) {
		key->exists = true;
		read_private(key, (struct str){ text.data, text.len });
	}
	if (key->blob.len > 0)
		ssh_key_type(key->type,
			     (struct str){ key->blob.data, key->blob.len });
	if (text.len > 0)
		explicit_bzero(text.data, text.len);
	buf_release(&text);
}

void
ssh_key_release(struct ssh_key *key)
{
	buf_release(&key->blob);
}
