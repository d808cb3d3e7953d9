/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* The configuration file ("hgym-tui.config/1", hgym-tui-config(5)), with `~` expanded, local paths
 * absolute (relative ones start at the directory of the file) and defaults filled in.  The struct
 * owns all strings; a missing string is NULL, a missing number NAN. */
#define CONF_SCHEMA "hgym-tui.config/1"

#define CONF_MAX_PODS 1024
#define CONF_MAX_LIST 4096

enum conf_transport {
	CONF_LIBSSH2,
	CONF_OPENSSH, /* a child process ssh */
	CONF_LOCAL,   /* a child process sh on this machine */
	CONF_COMMAND, /* a program that provides a shell on stdin and stdout */
};

struct conf_strings {
	char **v; /* owned; ends with NULL */
	size_t n;
};

/* Append a text, which the list owns from now on. */
void conf_strings_add(struct conf_strings *strings, char *text);

/* The allocation that benches on a login node request; values as for sbatch. */
struct conf_slurm {
	bool is_given; /* the pod has "slurm"; members may be NULL */
	char *partition, *gres, *time, *account;
	struct conf_strings extra; /* more options of sbatch */
};

struct conf_pod {
	char *name; /* unique; no spaces, slashes or shell metacharacters */
	enum conf_transport transport;
	char *ssh; /* alias or [user@]host[:port]; NULL for LOCAL and COMMAND */
	/* For COMMAND: program and arguments; ends with NULL. */
	struct conf_strings command;
	struct conf_strings shell;    /* the same, for an interactive shell; n 0: none */
	char *identity, *known_hosts; /* local files; NULL: those of ssh_config */
	char *proxy_jump;
	char *host_key_alias;		/* name in known_hosts; NULL: that of ssh_config */
	struct conf_strings logs;	/* globs on the pod; absolute if local */
	struct conf_strings harnessgym; /* directories on the pod */
	char *remote_root;		/* scratch directory for benches on the pod */
	int *gpus;			/* owned; GPUs that may be used; n_gpus 0: all */
	size_t n_gpus;
	char *stop_cmd; /* command that stops the pod; or NULL */
	struct conf_slurm slurm;
	double usd_per_hour;
};

/* A local program that prints pods; see conf_take_answer. */
struct conf_discover {
	char *name; /* unique */
	struct conf_strings command;
	double every_s;		   /* pause between two runs of the program */
	struct conf_pod like;	   /* defaults for its pods */
	char *answer;		   /* last valid answer; NULL: none yet */
	struct conf_strings notes; /* messages for the user in that answer */
};

/* What the runs of a group on the leaderboard have in common. */
enum conf_group_by {
	CONF_BY_DIRNAME, /* the directory of the log */
	CONF_BY_FILE,	 /* the log */
	CONF_BY_SOURCE,	 /* the training script (source_sha256) */
	CONF_BY_PATTERN, /* what (?<group>..) in groups.pattern matches in the path */
	CONF_BY_POD,	 /* the pod; local files have none */
};

struct conf_baseline {
	char *name;  /* NULL: no baseline */
	double *bpb; /* owned */
	size_t n_bpb;
	double *val_loss; /* owned */
	size_t n_val_loss;
	double nats_per_bpb;
	char *file; /* summary or log with the numbers */
};

enum conf_stall {
	CONF_STALL_AUTO, /* depends on the pace of the run */
	CONF_STALL_OFF,
	CONF_STALL_SECONDS,
};

/* A limit that raises an alert: {"metric": "loss", "above": 5} */
struct conf_alert_rule {
	char *metric;
	double above, below; /* NAN: not given */
};

struct conf_alerts {
	enum conf_stall stall;
	double stall_s; /* for CONF_STALL_SECONDS */
	bool bell;
	bool notify;   /* send OSC 9 and 777 to the terminal */
	char *command; /* local command to run on an alert; NULL: none */
	struct conf_alert_rule *metrics;
	size_t n_metrics;
};

/* A changed key binding: "quit" -> "x". */
struct conf_key {
	char *action;
	char *key; /* NULL: the action has no key */
};

struct conf_ui {
	char *charset;		 /* braille .. pixels; NULL: depends on the locale */
	char *color;		 /* auto, always, never; NULL: auto */
	char *theme;		 /* dark, light, contrast; NULL: dark */
	bool mouse;		 /* default true */
	bool utc;		 /* show times in UTC; default true */
	bool log_colors;	 /* show colors that logs contain; default true */
	int64_t escape_delay_ms; /* 0: depends on the terminal */
};

struct conf {
	char *path;		    /* of the file; NULL: no file */
	char *track;		    /* name of the track; NULL: the default */
	struct conf_strings tracks; /* the user's own track files */
	char *text;		    /* content of the file */
	struct conf_pod *pods;	    /* pods of the file, then discovered pods */
	size_t n_pods;
	struct conf_discover *discover;
	size_t n_discover;
	enum conf_group_by group_by;
	char *group_pattern; /* PCRE2; for CONF_BY_PATTERN */
	struct conf_baseline baseline;
	struct conf_strings formats; /* files */
	struct conf_strings benches; /* globs of local bench.json files */
	struct conf_alerts alerts;
	struct conf_key *keys;
	size_t n_keys;
	struct conf_ui ui;
	char *db;		  /* database file; NULL: the default */
	int64_t mirror_cap_bytes; /* for all local copies of logs; default 20 GB */
	double telemetry_s;	  /* seconds between two samples of a pod; default 5 */
};

/* Set defaults, without pods. */
void conf_init(struct conf *conf);
void conf_release(struct conf *conf);

/* Read the configuration from path (--config), or from $HGYM_TUI_CONFIG, which must exist, or from
 * hgym-tui/config.json in the XDG configuration directory if that exists. Then add the pod
 * `harnessgym` of the HARNESSGYM_GPU_* variables. *conf need not be initialized, and must not be
 * used after a failure. Errors (ERR_CONFIG) start with "file:line: key path: ". */
int conf_load(struct conf *conf, const char *path, struct err *err) MUST_USE;

/* The same from a text. file is the name for errors, and relative paths start at its directory.
 * HARNESSGYM_GPU_* variables are ignored. */
int conf_parse(struct conf *conf, const char *file, struct str text, struct err *err) MUST_USE;

/* Add the pods that discover[i] printed: an array of objects with "name" and "host" or "command".
 * Pods that are not running are skipped, as are pods whose name is already used. -1 with err,
 * and without any change, if the answer is invalid. */
int conf_take_answer(struct conf *conf, size_t i, struct str answer, struct err *err) MUST_USE;

/* Store a new answer of discover[i], and rebuild the pods of conf from its text and all answers.
 * *old gets the previous pods; it need not be initialized, and must not be used after a failure. */
int conf_renew(struct conf *conf, struct conf *old, size_t i, struct str answer,
	       struct err *err) MUST_USE;

/* Copy the answers from old for the programs in conf.discover that old has too. */
void conf_keep_answers(struct conf *conf, const struct conf *old);

/* Index of the pod with this name; -1: none. */
int conf_find_pod(const struct conf *conf, const char *name);

/* If the word is HOST:PATH and not an existing file, return the length of HOST, which is a pod's
 * name or [user@]host[:port]; otherwise 0. */
size_t conf_place(const char *word);

/* Keep only the pods of these HOST:PATH words, and follow only their PATHs. */
void conf_follow_places(struct conf *conf, char *const *words, size_t n);

/* Address of the pod for people: `ssh`, the program of `command`, or "local". */
const char *conf_pod_target(const struct conf_pod *pod);

/* Do both pods have the same connection settings? Logs and price may differ. */
bool conf_pod_same_link(const struct conf_pod *a, const struct conf_pod *b);

bool conf_same_text(const char *a, const char *b); /* NULL equals NULL */
bool conf_same_strings(const struct conf_strings *a, const struct conf_strings *b);

const char *conf_transport_name(enum conf_transport transport);
/* The transport with this name; fallback if it is NULL or unknown. */
enum conf_transport conf_transport_of(const char *name, enum conf_transport fallback);
/* The value of groups.by with this name; CONF_BY_PATTERN for any other text, which is a pattern. */
enum conf_group_by conf_group_of(const char *word);
/* The values of ui.charset and --charset, and of ui.color and --color; NULL-terminated. */
extern const char *const conf_charsets[], *const conf_colors[];

/* Directories of hgym-tui, "<XDG directory>/hgym-tui"; owned by the caller.  Relative XDG values
 * are ignored, as the specification requires. */
char *conf_dir_config(void); /* XDG_CONFIG_HOME, ~/.config */
char *conf_dir_state(void);  /* XDG_STATE_HOME, ~/.local/state */

/* Path of the configuration file, which may not exist; owned. */
char *conf_file(const struct conf *conf);

/* The path of the database: --db, or the configured one, or the default; owned. */
char *conf_db_path(const struct conf *conf, const char *option);

/* Create path and its parents, mode 0700; 0 also if it exists. */
int conf_make_dir(const char *path, struct err *err) MUST_USE;

/* The same for the directory of a file. */
int conf_make_dir_of(const char *file, struct err *err) MUST_USE;
