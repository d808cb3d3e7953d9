/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/files.h"
#include "transport.h"

#define HARNESS_WIRE_DIRS 64

/*
 * A HarnessGym directory, sent by a command that only reads: first all of it,
 * then for each line on stdin what has changed. Every answer consists of ASCII
 * lines:
 *
 *	HGH1 <now>	the pod's clock in seconds; ignore everything before it
 *	D <path>	a directory that matches the pattern; then only D and END
 *	R <what> <run>	workspace, run, compare or table; the folder of a run
 *	P <0 or 1>	does HarnessGym run there?
 *	C <ctime>	of the file that follows
 *	F <mtime> <size> <path>		a file; then
 *	A <size>			if it has only grown: its former size,
 *	...		its content (of a long text the end) as base64 in lines of
 *			whole bytes, then a line ".", or "," if it changed
 *			while it was read
 *	G <path>			a file that was deleted
 *	J <ctime> <sum> <ctime> <sum> <ctime> <sum> <run>/<name>
 *			a judge file, see struct harness_judge; "-": no checksum;
 *			of a comparison <group>/<trial>/<name> that differs
 *	NONE		the directory has no run and no comparison
 *	END		end of the answer
 */
struct harness_wire {
	struct harness_files *files; /* borrowed */
	struct buf line;	     /* incomplete line */
	struct buf text;	     /* content of the current file */
	char path[1024];	     /* of the current file; "" between files */
	int64_t mtime_ms, ctime_ms;
	uint64_t size, added_to;
	int64_t now_ms; /* the pod's wall clock; 0: no header yet */
	char what[16];	/* "workspace", "run", "compare", "table" */
	char run[256];
	bool ended, none;
	bool changed;		       /* a file changed while it was read, and was skipped */
	char *dirs[HARNESS_WIRE_DIRS]; /* owned */
	size_t n_dirs;
};

/* Start the command that sends dir from pod number `index` of transport; cb's on_data passes its
 * bytes to harness_wire_feed. "~/" is the home directory on the pod. The command ends when its
 * stdin does: at once (`once`), or when the stream is cancelled; on a pod without python3 after the
 * first answer. The phase texts of older runs are sent only with `all`. NULL with err. */
struct stream *harness_wire_start(struct transport *transport, size_t index, const char *dir,
				  bool once, bool all, const struct stream_cb *cb, void *user,
				  struct err *err);

void harness_wire_init(struct harness_wire *wire, struct harness_files *files);
void harness_wire_release(struct harness_wire *wire);
/* Prepare for the next answer; the files stay. */
void harness_wire_next(struct harness_wire *wire);
/* Parse received bytes, split anywhere; complete files are put into files. */
void harness_wire_feed(struct harness_wire *wire, struct str data);
