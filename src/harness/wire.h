/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "parsers/harness_files.h"
#include "transport.h"

#define HARNESS_WIRE_DIRS 64

/*
 * A HarnessGym directory on a pod, sent by one command that reads and prints
 * its files and leaves nothing behind: all of it, and at each line of stdin
 * what has changed since.  Each time, in lines of ASCII:
 *
 *	HGH1 <now>	the pod's clock, seconds; what came before is noise
 *	D <path>	of a pattern alone: each directory that it matches
 *	R <what> <run>	workspace, run, compare or table; the folder of a run
 *	P <0 or 1>			whether HarnessGym runs there
 *	C <ctime>			of the file that comes next
 *	F <mtime> <size> <path>		a file, then
 *	A <size>			where it has only grown: from what size,
 *	...		and base64 of it (of a long text its end) in lines of
 *			whole bytes, then a line ".", or "," where it changed
 *			while it was read
 *	G <path>			a file that is gone
 *	J <ctime> <sum> <ctime> <sum> <ctime> <sum> <run>/<name>
 *			a judge, as struct harness_judge has it; "-": no sum;
 *			of a comparison <group>/<trial>/<name> that differs
 *	NONE		the directory holds no run and no comparison
 *	END		that was all
 */
struct harness_wire {
	struct harness_files *files; /* borrowed */
	struct buf line;	     /* a line under way */
	struct buf text;	     /* the file under way */
	char path[1024];	     /* of it; "" between files */
	int64_t mtime_ms, ctime_ms;
	uint64_t size, added_to;
	int64_t now_ms; /* the pod's wall clock; 0: no head yet */
	char what[16];	/* "workspace", "run", "compare", "table" */
	char run[256];
	bool ended, none;
	bool changed;		       /* a file did so while it was read: it is left out */
	char *dirs[HARNESS_WIRE_DIRS]; /* owned */
	size_t n_dirs;
};

/*
 * Start what sends a directory: on_data of cb hands its bytes to
 * harness_wire_feed.  "~/" is the home on the pod, which is that index of
 * transport.  It ends when stdin does: at once (`once`), or when the stream is
 * cancelled; on a pod without python3 always after the first time.  Of older
 * runs it sends no texts of phases, but `all` of them where the way is short.
 * NULL with err.
 */
struct stream *harness_wire_start(struct transport *transport, size_t index, const char *dir,
				  bool once, bool all, const struct stream_cb *cb, void *user,
				  struct err *err);

void harness_wire_init(struct harness_wire *wire, struct harness_files *files);
void harness_wire_release(struct harness_wire *wire);
/* Forget the last time, for the next one; its files stay. */
void harness_wire_next(struct harness_wire *wire);
/* Bytes as they come, cut anywhere; whole files go into files. */
void harness_wire_feed(struct harness_wire *wire, struct str data);
