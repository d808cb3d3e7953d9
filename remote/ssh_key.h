/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_KEY_H
#define HGYM_REMOTE_SSH_KEY_H

#include "base/buf.h"
#include "base/str.h"

/*
 * What can be told of a key without its passphrase.  Formats: PROTOCOL.key
 * of OpenSSH, RFC 4253 section 6.6 (public keys), PEM of OpenSSL.
 */

#define SSH_KEY_MAX_BYTES 65536

struct ssh_key {
	bool exists; /* a private key could be read */
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

#endif
