/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_FOLLOW_WIRE_H
#define HGYM_REMOTE_FOLLOW_WIRE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * What the client of a follower says: the command line that starts it, and
 * its lines (remote/frame.h has the answers).  Every line is ASCII; a path or
 * a glob is one word in which each byte outside a small set is \0ooo (octal).
 *
 *	I <ms>		poll so often (ms >= 20)
 *	G <glob>	follow what it matches; "~/" is the home directory
 *	F <path>	follow this file, in quiet times too
 *	GO		take the G and F since the last GO as the new list, look
 *	L <dev>:<ino> <path>	with the next look: find the file with that
 *			inode in the folder of path, and name it
 *	A		look again
 *	C <id> <off>	sum the first off bytes of a file that N named
 *	B <id> <off>	send its bytes from that offset on
 *	Q <0|1>		quiet: look at nothing but the F files, no H unasked
 *	P <seq>		answer with an H; 60 s without a line end the follower
 *
 * The client knows which file is which.  A file is summed before it goes on, so
 * that the follower knows what was sent of it: where that is not its beginning
 * any more before the next bytes are sent, it says T.
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

#endif
