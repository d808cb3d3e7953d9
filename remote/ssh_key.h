/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/*
 * What can be told of a key without its passphrase.  Formats: PROTOCOL.key
 * of OpenSSH, RFC 4253 section 6.6 (public keys), PEM of OpenSSL.
 */

#define SSH_KEY_MAX_BYTES 65536

struct ssh_key {
	bool exists;	   /* a private key could be read, which may be used */
	bool is_garbage;   /* there is a file, which holds no private key */
	unsigned int mode; /* others may do that with it: it is not used; or 0 */
	bool encrypted;
	bool readable;	 /* by libssh2: not one of its unknown ciphers */
	char type[64];	 /* "ssh-ed25519"; "" when it cannot be told */
	struct buf blob; /* the public half; empty when it cannot be told */
};

/* Look at the private key at path, and at path.pub; release the blob. */
void ssh_key_read(struct ssh_key *key, const char *path);

/* The type that a public key's blob begins with. */
void ssh_key_type(char out[64], struct str blob);

/*
 * Cut a string of the SSH wire format (length in four bytes) off *rest;
 * false when there is none.
 */
bool ssh_wire_string(struct str *rest, struct str *out);
bool ssh_wire_u32(struct str *rest, uint32_t *out);
void ssh_wire_put_u32(struct buf *out, uint32_t value);
void ssh_wire_put(struct buf *out, struct str data);

/*
 * Known hosts: what `ssh-keygen -F` found for a name (it knows patterns,
 * hashes and markers), and the judgement of the key that a server showed.
 * Format: sshd(8), SSH_KNOWN_HOSTS FILE FORMAT.
 */
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

/*
 * Take the lines that ssh-keygen -F printed; malformed ones are skipped.  Of
 * other lines (name not NULL) those with that name, as it stands.
 */
void known_keys_add(struct known_keys *known, struct str lines, const char *name);
/* The same of a known_hosts file itself. */
void known_keys_add_file(struct known_keys *known, const char *path, const char *name);
void known_keys_clear(struct known_keys *known);

/*
 * Host key algorithms in the order to offer: those of known keys first, so
 * that a server shows the key that can be checked.
 */
void known_keys_preference(const struct known_keys *known, struct buf *out);

enum known_verdict {
	KNOWN_GOOD,
	KNOWN_NEW,	  /* nothing is known of this host */
	KNOWN_OTHER_TYPE, /* keys of other types are known */
	KNOWN_CHANGED,	  /* another key of this type is known */
	KNOWN_REVOKED,
};
enum known_verdict known_keys_judge(const struct known_keys *known, const char *type,
				    const char *base64);

/* Append one line to the file, which is made (0600) when missing. */
int known_keys_append(const char *path, const char *name, const char *type, const char *base64,
		      struct err *err) __attribute__((warn_unused_result));
