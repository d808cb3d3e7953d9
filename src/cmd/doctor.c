/* SPDX-License-Identifier: MIT */
/* `doctor`: what is wrong here, and the next step; reads only. */
#include "config.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/doctor_keys.h"
#include "cmd/version.h"
#include "conf/conf.h"
#include "parsers/json.h"
#include "report/out.h"
#include "store/query.h"

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, NULL, NULL, NULL },
};

static const struct out_column columns[] = {
	{ "area", NULL, 0, 0 }, { "state", NULL, 0, 0 },
	{ "what", NULL, 0, 0 }, { "next", "next step", 0, 0 },
	{ NULL, NULL, 0, 0 },
};

struct doctor {
	struct out *out;
	struct context *context;
	bool failed;
};

/* One line of the report; next is NULL when there is nothing to do. */
static void __attribute__((format(printf, 5, 6)))
say(struct doctor *d, const char *area, enum doctor_state state,
    const char *next, const char *fmt, ...)
{
	static const char *const names[] = { "ok", "warn", "fail" };
	cJSON *row = cJSON_CreateObject();
	struct buf text;
	va_list ap;

	buf_init(&text, 4096);
	va_start(ap, fmt);
	buf_vappendf(&text, fmt, ap);
	va_end(ap);
	json_add_string(row, "area", area);
	json_add_string(row, "state", names[state]);
	json_add_string(row, "what", text.data);
	json_add_string(row, "next", next);
	out_row(d->out, row);
	cJSON_Delete(row);
	buf_release(&text);
	if (state == DOCTOR_FAIL)
		d->failed = true;
}

/* True when a description of that terminal is installed. */
static bool
knows_terminal(const char *term)
{
	static const char *const dirs[] = { "/etc/terminfo", "/lib/terminfo",
					    "/usr/share/terminfo",
					    "/usr/lib/terminfo",
					    "/usr/local/share/terminfo" };
	const char *own = getenv("TERMINFO"), *home = getenv("HOME");
	char path[512];

	if (strchr(term, '/') != NULL)
		return false;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) + 2; i++) {
		const char *dir = i >= 2 ? dirs[i - 2] : i == 0 ? own : home;

		if (dir == NULL)
			continue;
		(void)snprintf(path, sizeof(path), "%s%s/%c/%s", dir,
			       i == 1 ? "/.terminfo" : "", term[0], term);
		if (access(path, R_OK) == 0)
			return true;
		(void)snprintf(path, sizeof(path), "%s%s/%x/%s", dir,
			       i == 1 ? "/.terminfo" : "",
			       (unsigned int)(unsigned char)term[0], term);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static void
check_colours(struct doctor *d, const char *term)
{
	const char *color = getenv("COLORTERM"), *none = getenv("NO_COLOR");
	bool is_true = color != NULL && (strstr(color, "truecolor") != NULL ||
					 strstr(color, "24bit") != NULL);

	if (none != NULL && none[0] != '\0')
		say(d, "terminal", DOCTOR_OK, NULL, "no colours: NO_COLOR");
	else if (is_true || strstr(term, "256color") != NULL)
		say(d, "terminal", DOCTOR_OK, NULL, "%s colours",
		    is_true ? "24-bit" : "256");
	else
		say(d, "terminal", DOCTOR_WARN,
		    "use a TERM with 256color if the terminal can",
		    "few colours");
}

static void
check_terminal(struct doctor *d)
{
	const char *term = getenv("TERM");
	const char *codeset = nl_langinfo(CODESET);
	struct winsize size = { 0, 0, 0, 0 };

	if (term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0)
		say(d, "terminal", DOCTOR_WARN,
		    "set TERM, or use the commands only",
		    "TERM is %s: no dashboard",
		    term == NULL || term[0] == '\0' ? "not set" : term);
	else if (!knows_terminal(term))
		say(d, "terminal", DOCTOR_WARN,
		    "install its terminfo, or set TERM=xterm-256color",
		    "TERM is %s, which is not described here", term);
	else
		say(d, "terminal", DOCTOR_OK, NULL, "TERM is %s", term);
	check_colours(d, term != NULL ? term : "");
	if (strcmp(codeset, "UTF-8") == 0)
		say(d, "terminal", DOCTOR_OK, NULL, "the locale has UTF-8");
	else
		say(d, "terminal", DOCTOR_WARN, "set LC_CTYPE=C.UTF-8",
		    "the locale has %s: charts are drawn in ASCII", codeset);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 &&
	    ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0)
		say(d, "terminal", DOCTOR_OK, NULL, "size unknown: a pipe");
	else
		say(d, "terminal",
		    size.ws_col >= 80 && size.ws_row >= 24 ? DOCTOR_OK
							   : DOCTOR_WARN,
		    size.ws_col >= 80 && size.ws_row >= 24
			    ? NULL
			    : "make it 80 x 24 or more",
		    "%d columns, %d rows", size.ws_col, size.ws_row);
}

static void
check_libraries(struct doctor *d)
{
	struct version_library libraries[VERSION_LIBRARIES];

	version_libraries(libraries);
	for (size_t i = 0; i < VERSION_LIBRARIES; i++)
		say(d, "libraries", DOCTOR_OK, NULL, "%s %s", libraries[i].name,
		    libraries[i].version);
	if (version_has_jit())
		say(d, "libraries", DOCTOR_OK, NULL, "PCRE2 has its JIT");
	else
		say(d, "libraries", DOCTOR_WARN,
		    "install a PCRE2 that was built with --enable-jit",
		    "PCRE2 has no JIT: parsing is several times slower");
	if (!version_has_rsa_sha2())
		say(d, "libraries", DOCTOR_WARN,
		    "use an ed25519 key, or \"transport\": \"openssh\" for "
		    "pods with an RSA key",
		    "this libssh2 cannot log in with RSA keys (1.11 can)");
}

static void
check_config(struct doctor *d)
{
	const struct conf *conf = &d->context->conf;
	struct err err = { ERR_NONE, "" };

	if (context_open(d->context, CONTEXT_CONF, &err) != 0) {
		say(d, "config", DOCTOR_FAIL, "correct the file", "%s",
		    err.text);
		return;
	}
	if (conf->path == NULL)
		say(d, "config", DOCTOR_WARN,
		    "write one (man hgym-tui-config) to follow pods",
		    "there is no configuration file");
	else
		say(d, "config", DOCTOR_OK, NULL, "%s", conf->path);
	say(d, "config", conf->n_pods > 0 ? DOCTOR_OK : DOCTOR_WARN,
	    conf->n_pods > 0 ? NULL : "add pods to the configuration",
	    "%zu pods", conf->n_pods);
	if (context_open(d->context, CONTEXT_FORMATS, &err) != 0)
		say(d, "config", DOCTOR_FAIL,
		    "correct the file, or \"formats\" in the configuration",
		    "%s", err.text);
	if (context_open(d->context, CONTEXT_TRACK, &err) != 0)
		say(d, "config", DOCTOR_FAIL,
		    "correct \"track\" or \"tracks\" in the configuration",
		    "%s", err.text);
}

static void
say_key(void *user, enum doctor_state state, const char *what, const char *next)
{
	say(user, "keys", state, next, "%s", what);
}

static bool
in_path(const char *program)
{
	const char *path = getenv("PATH");
	struct str rest = str_from(path != NULL ? path : ""), dir;
	char file[1024];

	while (str_next(&rest, ':', &dir)) {
		(void)snprintf(file, sizeof(file), "%.*s/%s", (int)dir.len,
			       dir.p, program);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static void
check_ssh(struct doctor *d)
{
	bool has_ssh = in_path("ssh");

	say(d, "ssh", has_ssh ? DOCTOR_OK : DOCTOR_WARN,
	    has_ssh ? NULL
		    : "install openssh-client: host aliases, jump hosts and "
		      "the transport openssh need it",
	    has_ssh ? "ssh is there" : "there is no ssh in PATH");
	doctor_check_agent(say_key, d);
	doctor_check_keys(&d->context->conf, version_has_rsa_sha2(), say_key,
			  d);
}

static void
check_open_database(struct doctor *d)
{
	const char *path = d->context->db_path;
	struct err err = { ERR_NONE, "" };
	struct stat st;

	if (store_check(d->context->store, &err) != 0)
		say(d, "database", DOCTOR_FAIL,
		    "move it away (the logs are still mirrored) and collect "
		    "again",
		    "%s", err.text);
	else
		say(d, "database", DOCTOR_OK, NULL, "sound, schema known");
	if (stat(path, &st) != 0)
		return;
	say(d, "database", DOCTOR_OK, NULL, "%s, %lld bytes", path,
	    (long long)st.st_size);
	if ((st.st_mode & 077) != 0)
		say(d, "database", DOCTOR_WARN, "chmod 600 it",
		    "others may read %s", path);
	if (access(path, W_OK) != 0)
		say(d, "database", DOCTOR_FAIL,
		    "make it writable, or name another with --db",
		    "cannot write %s: %s", path, strerror(errno));
	if (d->context->writer != 0)
		say(d, "database", DOCTOR_OK, NULL,
		    "process %ld writes to it now", d->context->writer);
}

static void
check_database(struct doctor *d)
{
	struct err err = { ERR_NONE, "" };

	if (context_open(d->context, CONTEXT_DB, &err) == 0)
		check_open_database(d);
	else if (err.code == ERR_NODATA)
		say(d, "database", DOCTOR_OK, NULL, "none yet: %s",
		    d->context->db_path);
	else
		say(d, "database", DOCTOR_FAIL,
		    "move it away, or name another with --db", "%s", err.text);
}

/* Free space where dir is, or will be. */
static void
check_disk(struct doctor *d, char *dir)
{
	struct statvfs fs;
	char *slash;
	double free_bytes;
	enum doctor_state state = DOCTOR_OK;

	while (statvfs(dir, &fs) != 0 && (slash = strrchr(dir, '/')) != NULL &&
	       slash != dir)
		*slash = '\0';
	if (statvfs(dir, &fs) != 0)
		return;
	free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	if (free_bytes < 1e8)
		state = DOCTOR_FAIL;
	else if (free_bytes < 2e9)
		state = DOCTOR_WARN;
	say(d, "disk", state,
	    state == DOCTOR_OK ? NULL : "make room: logs are mirrored there",
	    "%.1f GB free at %s", free_bytes / 1e9, dir);
}

static void
check_disks(struct doctor *d)
{
	char *db = xstrdup(d->context->db_path);
	char *state = conf_dir_state();

	check_disk(d, db);
	check_disk(d, state);
	free(db);
	free(state);
}

static int
run(struct cmd_args *args, struct err *err)
{
	struct doctor d = { .context = args->context };
	enum out_format format;

	if (cmd_output_options(args, &format, err) != 0)
		return -1;
	if (args->next < args->argc)
		return err_set(err, ERR_USAGE, "doctor takes no argument");
	d.out = out_new(stdout, format, columns);
	check_terminal(&d);
	check_libraries(&d);
	check_config(&d);
	check_ssh(&d);
	check_database(&d);
	check_disks(&d);
	if (out_free(d.out) != 0)
		return err_set(err, ERR_IO, "cannot write the output");
	return d.failed ? err_exit_status(ERR_CHECK) : 0;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.usage = "[OPTIONS]",
	.summary = "say what is wrong here, and what to do about it",
	.help = "Looks at the terminal, the libraries, the configuration, SSH "
		"keys and their agent,\nthe database and the free disk; "
		"touches no pod (`pods check` does).  Exit status 3\nwhen a "
		"line says fail.",
	.options = options,
	.exec = run,
};
