/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * The configuration file ("hgym-tui.config/1", man hgym-tui-config) as it was
 * meant: `~` expanded, paths of this machine absolute (relative ones belong
 * to the folder of the file), defaults filled in.  All strings are owned by
 * the struct; one that was not given is NULL, a number NAN.
 */
#define CONF_SCHEMA "hgym-tui.config/1"

#define CONF_MAX_PODS 1024
#define CONF_MAX_LIST 4096

enum conf_transport {
	CONF_LIBSSH2,
	CONF_OPENSSH, /* a child ssh */
	CONF_LOCAL,   /* a child sh, no network */
	CONF_COMMAND, /* a program that brings a shell */
};

struct conf_strings {
	char **v; /* owned */
	size_t n;
};

/* The allocation that benches on a login node get; all as sbatch takes it. */
struct conf_slurm {
	bool is_given; /* the rest may be NULL */
	char *partition, *gres, *time, *account;
	struct conf_strings extra; /* more options */
};

struct conf_pod {
	char *name; /* unique; no blanks, slashes or control characters */
	enum conf_transport transport;
	char *ssh; /* alias or [user@]host[:port]; NULL of LOCAL, COMMAND */
	/* Of COMMAND: the program and its arguments, ended by NULL. */
	struct conf_strings command;
	struct conf_strings shell;    /* the same for a person; n 0: none */
	char *identity, *known_hosts; /* files here; NULL: as ssh has it */
	char *proxy_jump;
	char *host_key_alias;		/* its name in known_hosts; NULL: as ssh has it */
	struct conf_strings logs;	/* globs on the pod; absolute when local */
	struct conf_strings harnessgym; /* directories on the pod */
	char *remote_root;		/* scratch of benches on the pod */
	int *gpus;			/* owned; which GPUs may be used; n_gpus 0: all */
	size_t n_gpus;
	char *stop_cmd; /* run on it to stop it; or NULL */
	struct conf_slurm slurm;
	double usd_per_hour;
};

/* A program of this machine that prints pods; see conf_take_answer. */
struct conf_discover {
	char *name; /* unique */
	struct conf_strings command;
	double every_s;		   /* from the end of one to the next */
	struct conf_pod like;	   /* what a pod has where the program is silent */
	char *answer;		   /* the last that was taken; NULL: none yet */
	struct conf_strings notes; /* of it: sentences for a person */
};

/* How runs become groups of a leaderboard. */
enum conf_group_by {
	CONF_BY_DIRNAME, /* the folder of the log */
	CONF_BY_FILE,	 /* each log is a group */
	CONF_BY_SOURCE,	 /* the training script (source_sha256) */
	CONF_BY_PATTERN, /* group (?<group>..) of groups.pattern in the path */
	CONF_BY_POD,	 /* of a stored run; files here are of none */
};

struct conf_baseline {
	char *name;  /* NULL: no baseline is set */
	double *bpb; /* owned */
	size_t n_bpb;
	double *val_loss; /* owned */
	size_t n_val_loss;
	double nats_per_bpb;
	char *file; /* a summary or log to take it from */
};

enum conf_stall {
	CONF_STALL_AUTO, /* by the run's own pace */
	CONF_STALL_OFF,
	CONF_STALL_SECONDS,
};

/* {"metric": "loss", "above": 5} */
struct conf_alert_rule {
	char *metric;
	double above, below; /* NAN: not given */
};

struct conf_alerts {
	enum conf_stall stall;
	double stall_s; /* of CONF_STALL_SECONDS */
	bool bell;
	bool notify;   /* OSC 9 / 777 to the terminal */
	char *command; /* run here on an alert; NULL: none */
	struct conf_alert_rule *metrics;
	size_t n_metrics;
};

/* One rebound key: "quit" -> "x". */
struct conf_key {
	char *action;
	char *key; /* NULL: the action has no key */
};

struct conf_ui {
	char *charset;		 /* braille .. pixels; NULL: by the locale */
	char *color;		 /* auto, always, never; NULL: auto */
	char *theme;		 /* dark, light, contrast; NULL: dark */
	bool mouse;		 /* default true */
	bool utc;		 /* times in UTC rather than local; default true */
	bool log_colors;	 /* of the logs' own; default true */
	int64_t escape_delay_ms; /* 0: by the terminal */
};

struct conf {
	char *path;		    /* of the file; NULL: there was none */
	char *track;		    /* name of the track; NULL: the default one */
	struct conf_strings tracks; /* the user's own track files */
	char *text;		    /* of the file */
	struct conf_pod *pods;	    /* those of the file, then the discovered */
	size_t n_pods;
	struct conf_discover *discover;
	size_t n_discover;
	enum conf_group_by group_by;
	char *group_pattern; /* PCRE2; of CONF_BY_PATTERN */
	struct conf_baseline baseline;
	struct conf_strings formats; /* files */
	struct conf_strings benches; /* globs of bench.json files here */
	struct conf_alerts alerts;
	struct conf_key *keys;
	size_t n_keys;
	struct conf_ui ui;
	char *db;		  /* database file; NULL: the default */
	int64_t mirror_cap_bytes; /* of all mirrored logs; default 20 GB */
	double telemetry_s;	  /* between two samples of a pod; default 5 */
};

/* Defaults, no pods. */
void conf_init(struct conf *conf);
void conf_release(struct conf *conf);

/*
 * Read the configuration: path (of --config; must exist), or else
 * $HGYM_TUI_CONFIG (must exist), or else hgym-tui/config.json below the XDG
 * configuration folder (may be absent).  Then add the pod `harnessgym` of
 * the HARNESSGYM_GPU_* variables.  *conf is uninitialised before and after a
 * failure.  Errors (ERR_CONFIG) begin "file:line: key path: ".
 */
int conf_load(struct conf *conf, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The same from text; file names it in errors, and the folder of it is the
 * one that relative paths belong to.  Environment pods are not added.
 */
int conf_parse(struct conf *conf, const char *file, struct str text, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Add the pods that discover[i] printed: an array of objects with "name" and
 * "host" or "command".  Those that do not run are left out, and so are those
 * whose name a pod of the file, or of another program, has already.  -1 with
 * err, and nothing added, when any of it is wrong.
 */
int conf_take_answer(struct conf *conf, size_t i, struct str answer, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The configuration that old was read from, with its answers, but for
 * discover[i] this one.  *fresh is uninitialised before and after a failure.
 */
int conf_renew(struct conf *fresh, const struct conf *old, size_t i, struct str answer,
	       struct err *err) __attribute__((warn_unused_result));

/* Exchange the pods of the two, and the programs that print pods. */
void conf_swap_pods(struct conf *a, struct conf *b);

/* Take the answers that old has of the programs which both have. */
void conf_keep_answers(struct conf *conf, const struct conf *old);

/* The index of the pod of that name, or -1. */
int conf_find_pod(const struct conf *conf, const char *name);

/*
 * HOST:PATH, no file here, where HOST is a pod's name or [user@]host[:port]:
 * how long HOST is, 0 when the word is something else.
 */
size_t conf_place(const char *word);

/* The pods of these n places, each with the logs of its PATHs alone, instead of
 * all that the configuration has and discovers. */
void conf_follow_places(struct conf *conf, char *const *words, size_t n);

/* What a person is told of its place: `ssh`, the program, or "local". */
const char *conf_pod_target(const struct conf_pod *pod);

/* True when a link to a would be the same as to b (all but logs, price). */
bool conf_pod_same_link(const struct conf_pod *a, const struct conf_pod *b);

bool conf_same_text(const char *a, const char *b); /* or both NULL */
bool conf_same_strings(const struct conf_strings *a, const struct conf_strings *b);

const char *conf_transport_name(enum conf_transport transport);
/* The transport of that name; fallback for NULL, or when there is none. */
enum conf_transport conf_transport_of(const char *name, enum conf_transport fallback);
/* What such a word means; CONF_BY_PATTERN: it is a pattern. */
enum conf_group_by conf_group_of(const char *word);
const char *conf_group_name(enum conf_group_by by);
/* Of --color and --charset too; ended by NULL. */
extern const char *const conf_charsets[], *const conf_colors[];

/*
 * Folders of ours, owned by the caller: "<XDG folder>/hgym-tui".  Relative
 * XDG values are ignored, as the specification wants.
 */
char *conf_dir_config(void); /* XDG_CONFIG_HOME, ~/.config */
char *conf_dir_state(void);  /* XDG_STATE_HOME, ~/.local/state */

/* The database: --db, else the configuration's, else history.db; owned. */
char *conf_db_path(const struct conf *conf, const char *option);

/* Make path and its parents, mode 0700; 0 when it is there at the end. */
int conf_make_dir(const char *path, struct err *err) __attribute__((warn_unused_result));

/* The same for the folder that a file is to lie in. */
int conf_make_dir_of(const char *file, struct err *err) __attribute__((warn_unused_result));
