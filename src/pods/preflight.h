/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/embed.h"
#include "conf/conf.h"
#include "parsers/json.h"
#include "transport.h"

/* Find out whether a pod is ready for a run: a read-only script for the pod, and the evaluation of
 * its output. The caller transports the bytes. */

/* id, name, default next step */
#define PREFLIGHT_CLASS_LIST(X)                                                               \
	X(PREFLIGHT_SSH, "ssh",                                                               \
	  "check that the pod is running and that its address and port are right; "           \
	  "ssh -v shows more")                                                                \
	X(PREFLIGHT_COMMAND, "command",                                                       \
	  "run the pod's \"command\" in a terminal: a shell must answer on stdin and stdout") \
	X(PREFLIGHT_AUTH, "auth",                                                             \
	  "add the public key to ~/.ssh/authorized_keys on the pod, or set \"identity\"")     \
	X(PREFLIGHT_HOSTKEY, "hostkey",                                                       \
	  "compare the fingerprint with the pod's own: ssh-keygen -lf "                       \
	  "/etc/ssh/ssh_host_ed25519_key.pub")                                                \
	X(PREFLIGHT_GPU, "gpu",                                                               \
	  "run nvidia-smi on the pod; stop processes you own, or use another pod")            \
	X(PREFLIGHT_DISK, "disk", "free some space, or set another \"remote_root\"")          \
	X(PREFLIGHT_ENVIRONMENT, "environment", "log in with ssh and check the login shell")  \
	X(PREFLIGHT_TIMEOUT, "timeout",                                                       \
	  "the pod or the network hangs; check the pod's load and try again")

enum preflight_class { PREFLIGHT_CLASS_LIST(LIST_ID) };

/* Exit status for a row: 0, 3 not ready, 4 unreachable. */
int preflight_status(const cJSON *row);

/* The command to run, and the script for its stdin; nonce: letters and digits. After its line has
 * arrived, send PREFLIGHT_GO; the line that starts with PREFLIGHT_CLOCK is the answer. */
#define PREFLIGHT_GO	"go\n"
#define PREFLIGHT_CLOCK "\nclock\t"
void preflight_command(struct buf *out, const char *nonce, const struct conf_pod *pod);
extern const struct embed_file preflight_text[]; /* one file: the script */

/* The output of the script and how it ended; all borrowed. */
struct preflight {
	const struct conf_pod *pod;
	const char *nonce;
	struct str out, errors; /* stdout, tail of stderr */
	const struct stream_exit *exit;
	bool late;			   /* cancelled after the time limit */
	bool is_noisy;			   /* cancelled because the login shell printed too much */
	int64_t connect_ms;		   /* until the script started; -1: it did not */
	int64_t sent_wall_ms, got_wall_ms; /* when the clock was requested and received */
	const char *host_key;		   /* "SHA256:.." or "" */
	bool need_gpu;
	double min_free_bytes;
};

/* The row of `pods check`; its `failures` are empty if the pod is ready.  The caller deletes it. */
cJSON *preflight_row(const struct preflight *p);
