/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_WIRE_H
#define HGYM_HARNESS_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "parsers/harness_files.h"
#include "transport.h"

#define HARNESS_WIRE_DIRS 64

/*
 * A HarnessGym directory on a pod, fetched by one command that reads and
 * prints its files and leaves nothing behind.  Lines of ASCII:
 *
 *	HGH1 <now>	the pod's clock, seconds; what came before is noise
 *	D <path>	of a pattern alone: each directory that it matches
 *	R <what> <run>	workspace, run or compare; the run's folder of a run
 *	P <0 or 1>			whether HarnessGym runs there
 *	C <ctime>			of the file that comes next
 *	F <mtime> <size> <path>		a file, then base64 of it in lines of
 *	...		whole bytes (of a long text its end), then a line
 *			".", or "," where it changed while it was read
 *	END		all of it was sent
 *	NONE		the directory holds no run and no comparison
 */
struct harness_wire {
	struct harness_files *files; /* borrowed */
	struct buf line;	     /* a line under way */
	struct buf text;	     /* the file under way */
	char path[1024];	     /* of it; "" between files */
	int64_t mtime_ms, ctime_ms;
	uint64_t size;
	int64_t now_ms; /* the pod's wall clock; 0: no head yet */
	char what[16];	/* "workspace", "run", "compare" */
	char run[256];
	bool ended, none;
	char *dirs[HARNESS_WIRE_DIRS]; /* owned */
	size_t n_dirs;
};

/*
 * Start what sends a directory: on_data of cb hands its bytes to
 * harness_wire_feed.  "~/" is the home on the pod, which is that index of
 * transport.  NULL with err.
 */
struct stream *harness_wire_start(struct transport *transport, size_t index,
				  const char *dir, const struct stream_cb *cb,
				  void *user, struct err *err);

void harness_wire_init(struct harness_wire *wire, struct harness_files *files);
void harness_wire_release(struct harness_wire *wire);
/* Bytes as they come, cut anywhere; whole files go into files. */
void harness_wire_feed(struct harness_wire *wire, struct str data);

#endif
