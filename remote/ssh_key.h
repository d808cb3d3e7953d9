/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* Read key files as far as that needs no passphrase, and known_hosts. Formats: PROTOCOL.key of
 * OpenSSH, RFC 4253 section 6.6 (public keys), PEM of OpenSSL. */

#define SSH_KEY_MAX_BYTES 65536

struct ssh_key {
	bool exists;	   /* a private key was read and may be used */
	bool is_garbage;   /* the file exists but contains no private key */
	unsigned int mode; /* permissions of the file if they are too open; otherwise 0 */
	bool encrypted;
	bool readable;	 /* libssh2 can decrypt it */
	char type[64];	 /* "ssh-ed25519"; "" if unknown */
	struct buf blob; /* the public half; empty if unknown */
};

/* Read the private key at path, and path.pub. The caller releases the blob. */
void ssh_key_read(struct ssh_key *key, const char *path);

/* Copy the type at the start of a public key; "" if it is malformed. */
void ssh_key_type(char out[64], struct str blob);

/* Cut a string of the SSH wire format (4 bytes of length) off *rest; false if it is incomplete. */
bool ssh_wire_string(struct str *rest, struct str *out);
bool ssh_wire_u32(struct str *rest, uint32_t *out);
void ssh_wire_put_u32(struct buf *out, uint32_t value);
void ssh_wire_put(struct buf *out, struct str data);

/* Known hosts: check the key that a server presents against the entries for its name. `ssh-keygen
 * -F` finds them, also patterns and hashed names. Format: sshd(8), SSH_KNOWN_HOSTS FILE FORMAT. */
#define KNOWN_KEYS_MAX 128

struct known_key {
	char type[40]; /* "ssh-ed25519" */
	char *base64;  /* owned */
	bool revoked;
};

struct known_keys {
	struct known_key keys[KNOWN_KEYS_MAX];
	size_t n;
};

/* Add the keys in lines of a known_hosts file; malformed lines are skipped. If name is not NULL,
 * only lines with exactly that name count; with NULL all do, as in the output of ssh-keygen -F. */
void known_keys_add(struct known_keys *known, struct str lines, const char *name);
/* Add the keys in the known_hosts file at path. */
void known_keys_add_file(struct known_keys *known, const char *path, const char *name);
void known_keys_clear(struct known_keys *known);

/* Append the host key algorithms in the order to offer them: algorithms of known keys first, so
 * that a server presents a key that can be checked. */
void known_keys_preference(const struct known_keys *known, struct buf *out);

enum known_verdict {
	KNOWN_GOOD,
	KNOWN_NEW,	  /* the host is unknown */
	KNOWN_OTHER_TYPE, /* keys of other types are known */
	KNOWN_CHANGED,	  /* another key of this type is known */
	KNOWN_REVOKED,
};
/* Compare the key that a server presents with the known ones. */
enum known_verdict known_keys_judge(const struct known_keys *known, const char *type,
				    const char *base64);

/* Append a line with the key to the known_hosts file at path; a new file gets mode 0600. */
int known_keys_append(const char *path, const char *name, const char *type, const char *base64,
		      struct err *err) MUST_USE;
