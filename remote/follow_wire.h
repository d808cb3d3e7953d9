/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_FOLLOW_WIRE_H
#define HGYM_REMOTE_FOLLOW_WIRE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/cksum.h"
#include "base/str.h"

/*
 * What the client of a follower says: the command line that starts it, and
 * its lines (remote/frame.h has the answers).  Every line is ASCII; a path or
 * a glob is one word in which each byte outside a small set is \0ooo (octal).
 *
 *	I <ms>		poll so often (ms >= 20)
 *	C <bytes>	at most so many bytes a D frame (4096..262144)
 *	G <glob>	follow what it matches; "~/" is the home directory
 *	F <path>	follow this file, in quiet times too
 *	R <key> <dev>:<ino> <off> <hlen> <hsum> <tlen> <tsum> <path>
 *			the client has off bytes of a file, whose guards
 *			(base/cksum.h) are these; key > 0 comes back in N;
 *			looked for beside its path where no glob has it
 *	K ...		the same, of a file that had ended: not looked for
 *	GO		take the G and F since the last GO as the new list
 *	Q <0|1>		quiet: look at nothing but the F files, no H unasked
 *	P <seq>		answer with an H; 60 s without a line end the follower
 */

enum follow_variant {
	FOLLOW_AUTO, /* python3 where there is one that runs, else sh */
	FOLLOW_PYTHON,
	FOLLOW_SHELL,
};

#define FOLLOW_NONCE_SIZE 17

/* 16 hexadecimal digits that no one can foresee. */
void follow_wire_nonce(char nonce[FOLLOW_NONCE_SIZE]);

/*
 * Append the command line that starts a follower, for any login shell: one
 * line of ASCII of less than 32 KiB.  It lowers its own CPU and disk priority.
 */
void follow_wire_start(struct buf *out, enum follow_variant variant,
		       const char *nonce);

/* Append s as one word. */
void follow_wire_escape(struct buf *out, struct str s);

/* What of a file is told: letter 'R' or 'K', dev and ino as last seen. */
struct follow_have {
	char letter;
	uint32_t key;
	uint64_t dev, ino;
	const struct guard *guard; /* borrowed */
	struct str path;
};

/* Append its line. */
void follow_wire_resume(struct buf *out, const struct follow_have *have);

#endif
