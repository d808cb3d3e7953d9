/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/json.h"
#include "transport.h"

/*
 * The preflight of a pod: a script that only reads, what it printed, and the
 * judgement of that.  Pure: the bytes come and go elsewhere.
 */

/* id, name, next step in words */
#define PREFLIGHT_CLASS_LIST(X)                                                              \
	X(SSH, "ssh",                                                                        \
	  "is the pod running, are its address and port right? "                             \
	  "`ssh -v` to it shows more")                                                       \
	X(COMMAND, "command",                                                                \
	  "run the pod's \"command\" by hand: a shell must answer on its "                   \
	  "stdin and stdout")                                                                \
	X(AUTH, "auth",                                                                      \
	  "put the public key on the pod, or name the right one by "                         \
	  "\"identity\"")                                                                    \
	X(HOSTKEY, "hostkey",                                                                \
	  "hold the fingerprint against the pod's own (ssh-keygen -lf "                      \
	  "/etc/ssh/ssh_host_ed25519_key.pub there)")                                        \
	X(GPU, "gpu",                                                                        \
	  "look at nvidia-smi on the pod; end what is not yours to keep, "                   \
	  "or take another pod")                                                             \
	X(DISK, "disk", "free some space, or name another \"remote_root\"")                  \
	X(ENVIRONMENT, "environment", "log in by hand and look at the shell and at python3") \
	X(TIMEOUT, "timeout", "the pod or the way to it hangs: look at its load, try again")

enum preflight_class {
#define X(id, name, next) PREFLIGHT_##id,
	PREFLIGHT_CLASS_LIST(X)
#undef X
};

/* What a row means as an exit status: 0, 3 not fit, 4 not reached. */
int preflight_status(const cJSON *row);

/*
 * The command to run, and what goes to its stdin; nonce: letters, digits.
 * When the nonce has come on a line of its own, PREFLIGHT_GO is to be sent,
 * and the line that begins with PREFLIGHT_CLOCK is the answer to it.
 */
#define PREFLIGHT_GO	"go\n"
#define PREFLIGHT_CLOCK "\nclock\t"
void preflight_command(struct buf *out, const char *nonce, const struct conf_pod *pod);
const char *preflight_script(void);

/* What came of it; all borrowed. */
struct preflight {
	const struct conf_pod *pod;
	const char *nonce;
	struct str out, errors; /* stdout, tail of stderr */
	const struct stream_exit *exit;
	bool late;			   /* it was ended because it took too long */
	bool is_noisy;			   /* its login shell printed without end */
	int64_t connect_ms;		   /* until it answered; -1: it never did */
	int64_t sent_wall_ms, got_wall_ms; /* of the question for the clock */
	const char *host_key;		   /* "SHA256:.." or "" */
	bool need_gpu;
	double min_free_bytes;
};

/* The row; `failures` in it is empty when all is well.  Caller deletes. */
cJSON *preflight_row(const struct preflight *p);
