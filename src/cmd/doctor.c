/* SPDX-License-Identifier: MIT */
/* `doctor`: check this machine's setup, without changing anything. */
#include <fcntl.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/version.h"
#include "remote/ssh_agent.h"
#include "store/query.h"
#include "ui/term.h"

enum state { STATE_OK, STATE_WARN, STATE_FAIL };

static const char columns[] = "area, state, what, next=next step";

struct doctor {
	struct out *out;
	struct context *context;
	bool failed;
};

/* Add a row to the report; next is NULL if there is nothing to do. */
LIKE_PRINTF(5, 6)
static void add_finding(struct doctor *d, const char *area, enum state state, const char *next,
			const char *fmt, ...)
{
	static const char *const names[] = { "ok", "warn", "fail" };
	AUTO_BUF text = buf_new(4096);

	buf_append_args(&text, fmt);
	out_take(d->out, json_new(JTEXT("area", area), JTEXT("state", names[state]),
				  JTEXT("what", text.data), JTEXT("next", next)));
	d->failed |= state == STATE_FAIL;
}

static void check_terminal(struct doctor *d)
{
	const char *term = getenv("TERM"), *color = getenv("COLORTERM"),
		   *no_color = getenv("NO_COLOR");
	const char *codeset = nl_langinfo(CODESET);
	bool has_true_color = color != NULL && (strstr(color, "truecolor") != NULL ||
						strstr(color, "24bit") != NULL);
	struct winsize size = { 0, 0, 0, 0 };
	struct err why;

	if (!term_fits(&why))
		add_finding(d, "terminal", STATE_WARN,
			    "set TERM or install its terminfo entry; commands work without it",
			    "%s", why.text);
	else
		add_finding(d, "terminal", STATE_OK, NULL, "TERM is %s", term);
	if (no_color != NULL && no_color[0] != '\0')
		add_finding(d, "terminal", STATE_OK, NULL, "no colors: NO_COLOR is set");
	else if (has_true_color || (term != NULL && strstr(term, "256color") != NULL))
		add_finding(d, "terminal", STATE_OK, NULL, "%s colors",
			    has_true_color ? "24-bit" : "256");
	else
		add_finding(d, "terminal", STATE_WARN,
			    "set TERM to an entry with 256color if the terminal supports it",
			    "few colors");
	if (strcmp(codeset, "UTF-8") == 0)
		add_finding(d, "terminal", STATE_OK, NULL, "the locale uses UTF-8");
	else
		add_finding(d, "terminal", STATE_WARN, "set LC_CTYPE=C.UTF-8",
			    "the locale uses %s: charts are drawn in ASCII", codeset);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 &&
	    ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0)
		add_finding(d, "terminal", STATE_OK, NULL, "size unknown: not a terminal");
	else if (size.ws_col >= 80 && size.ws_row >= 24)
		add_finding(d, "terminal", STATE_OK, NULL, "%d columns, %d rows", size.ws_col,
			    size.ws_row);
	else
		add_finding(d, "terminal", STATE_WARN, "enlarge it to 80 x 24 or more",
			    "%d columns, %d rows", size.ws_col, size.ws_row);
}

static void check_libraries(struct doctor *d)
{
	struct version_library libraries[VERSION_LIBRARIES];

	version_libraries(libraries);
	for (size_t i = 0; i < VERSION_LIBRARIES; i++)
		add_finding(d, "libraries", STATE_OK, NULL, "%s %s", libraries[i].name,
			    libraries[i].version);
	if (version_has_jit())
		add_finding(d, "libraries", STATE_OK, NULL, "PCRE2 has JIT");
	else
		add_finding(d, "libraries", STATE_WARN, "install a PCRE2 built with --enable-jit",
			    "PCRE2 has no JIT: parsing is several times slower");
	if (!version_has_rsa_sha2())
		add_finding(
			d, "libraries", STATE_WARN,
			"use an ed25519 key, or \"transport\": \"openssh\" for pods with an RSA "
			"key",
			"this libssh2 cannot log in with RSA keys (needs 1.11)");
}

static void check_config(struct doctor *d)
{
	const struct conf *conf = &d->context->conf;
	struct err err = { ERR_NONE, "" };

	if (context_open(d->context, CONTEXT_CONF, &err) != 0) {
		add_finding(d, "config", STATE_FAIL, "correct the file", "%s", err.text);
		return;
	}
	AUTO_TEXT path = conf_file(conf);
	if (conf->path == NULL)
		add_finding(d, "config", STATE_WARN, "to follow pods, run hgym-tui init",
			    "no configuration file at %s", path);
	else
		add_finding(d, "config", STATE_OK, NULL, "%s", path);
	bool has_pods = conf->n_pods + conf->n_discover > 0;
	add_finding(d, "config", has_pods ? STATE_OK : STATE_WARN,
		    has_pods ? NULL : "hgym-tui init adds a pod", "%zu pod%s", conf->n_pods,
		    conf->n_pods == 1 ? "" : "s");
	if (context_open(d->context, CONTEXT_FORMATS, &err) != 0)
		add_finding(d, "config", STATE_FAIL,
			    "correct the rule file, or \"formats\" in the configuration", "%s",
			    err.text);
	if (context_open(d->context, CONTEXT_TRACK, &err) != 0)
		add_finding(d, "config", STATE_FAIL,
			    "correct \"track\" or \"tracks\" in the configuration", "%s", err.text);
}

/* Read the start of a file as a string; "" if it cannot be read. */
static void read_start(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

static void check_key(struct doctor *d, const char *path, bool must_work)
{
	AUTO_TEXT public_path = xasprintf("%s.pub", path);
	char start[512], public[64];
	struct stat st;

	if (stat(path, &st) != 0) {
		add_finding(d, "keys", STATE_FAIL, "correct \"identity\" of the pod", "%s: %s",
			    path, strerror(errno));
		return;
	}
	read_start(path, start, sizeof(start));
	read_start(public_path, public, sizeof(public));
	/* The first line of an old private key names its type, otherwise the .pub file does. */
	bool is_rsa = strstr(start, "BEGIN RSA PRIVATE KEY") != NULL ||
		      str_starts_with(str_from(public), "ssh-rsa ");
	if ((st.st_mode & 077) != 0)
		add_finding(d, "keys", STATE_WARN, "chmod 600 the file: ssh refuses it otherwise",
			    "%s: other users can read this private key", path);
	if (strstr(start, "PRIVATE KEY") == NULL)
		add_finding(d, "keys", STATE_FAIL, "give the private key (the file without .pub)",
			    "%s is not a readable private key", path);
	else if (must_work && is_rsa)
		add_finding(d, "keys", STATE_WARN,
			    "use an ed25519 key, or \"transport\": \"openssh\"",
			    "%s is an RSA key, which this libssh2 cannot use", path);
	else
		add_finding(d, "keys", STATE_OK, NULL, "%s", path);
}

static void check_known_hosts(struct doctor *d, const char *path)
{
	if (access(path, R_OK) == 0)
		add_finding(d, "keys", STATE_OK, NULL, "%s", path);
	else
		add_finding(d, "keys", STATE_WARN,
			    "log in once with ssh, or run hgym-tui pods check --accept-new",
			    "%s: %s: no known host keys", path, strerror(errno));
}

/* Is this pod the first one that names the file (NULL: none)? */
static bool is_first_use(const struct conf *conf, size_t pod, const char *file)
{
	return file != NULL && !array_any(other, conf->pods, pod,
					  conf_same_text(other->identity, file) ||
						  conf_same_text(other->known_hosts, file));
}

static void check_keys(struct doctor *d)
{
	const struct conf *conf = &d->context->conf;
	bool has_rsa_sha2 = version_has_rsa_sha2();
	AUTO_TEXT usual = file_expand_home("~/.ssh/known_hosts");
	static const char *const names[] = { "id_ed25519", "id_ecdsa", "id_rsa" };
	size_t found = 0, remote = 0;

	for (size_t i = 0; i < LENGTH(names); i++) {
		AUTO_TEXT short_path = xasprintf("~/.ssh/%s", names[i]);
		AUTO_TEXT path = file_expand_home(short_path);

		if (access(path, F_OK) != 0)
			continue;
		check_key(d, path, !has_rsa_sha2);
		found++;
	}
	for (size_t i = 0; i < conf->n_pods; i++) {
		const struct conf_pod *pod = &conf->pods[i];

		remote += pod->ssh != NULL;
		if (is_first_use(conf, i, pod->identity))
			check_key(d, pod->identity,
				  !has_rsa_sha2 && pod->transport == CONF_LIBSSH2);
		if (is_first_use(conf, i, pod->known_hosts))
			check_known_hosts(d, pod->known_hosts);
		found += pod->identity != NULL;
	}
	if (remote > 0)
		check_known_hosts(d, usual);
	if (remote > 0 && found == 0)
		add_finding(d, "keys", STATE_WARN, "run ssh-keygen -t ed25519, or use an SSH agent",
			    "no key in ~/.ssh, and no pod has an \"identity\"");
}

static void check_agent(struct doctor *d)
{
	const char *path = getenv("SSH_AUTH_SOCK");
	const atomic_bool never = false;
	struct ssh_agent agent;

	if (path == NULL || path[0] == '\0') {
		add_finding(d, "keys", STATE_OK, NULL, "no agent: SSH_AUTH_SOCK is not set");
		return;
	}
	if (ssh_agent_open(&agent, path, &never))
		add_finding(d, "keys", STATE_OK, NULL, "agent at %s has %zu %s", path, agent.n_keys,
			    agent.n_keys == 1 ? "key" : "keys");
	else if (agent.has_answered)
		add_finding(d, "keys", STATE_WARN, "start the agent again, or unset SSH_AUTH_SOCK",
			    "the socket %s (SSH_AUTH_SOCK) is not an SSH agent", path);
	else if (agent.is_connected)
		add_finding(
			d, "keys", STATE_WARN,
			"enter its passphrase if it asks for one; otherwise restart it, or unset "
			"SSH_AUTH_SOCK",
			"the agent at %s does not answer", path);
	else
		add_finding(d, "keys", STATE_WARN, "start the agent again, or unset SSH_AUTH_SOCK",
			    "no agent listens at %s (SSH_AUTH_SOCK)", path);
	ssh_agent_close(&agent);
}

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	struct str rest = str_from(path != NULL ? path : ""), dir;
	char file[1024];

	while (str_next(&rest, ':', &dir)) {
		print_into(file, "%.*s/%s", (int)dir.len, dir.p, program);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static void check_database(struct doctor *d)
{
	struct err err = { ERR_NONE, "" };
	bool is_partial;
	struct stat st;

	if (context_open(d->context, CONTEXT_DB, &err) != 0) {
		if (err.code == ERR_NODATA)
			add_finding(d, "database", STATE_OK, NULL, "none yet: %s",
				    d->context->db_path);
		else
			add_finding(d, "database", STATE_FAIL,
				    "move it away, or choose another with --db", "%s", err.text);
		return;
	}
	if (store_check(d->context->store, &is_partial, &err) != 0)
		add_finding(d, "database", STATE_FAIL,
			    "move it away and run hgym-tui collect (the local copies of the logs "
			    "are kept)",
			    "%s", err.text);
	else
		add_finding(d, "database", STATE_OK, NULL,
			    is_partial ? "no damage found (too large to read all samples), with "
					 "a known schema"
				       : "intact, with a known schema");
	const char *path = d->context->db_path;
	if (stat(path, &st) != 0)
		return;
	add_finding(d, "database", STATE_OK, NULL, "%s, %lld bytes", path, (long long)st.st_size);
	if ((st.st_mode & 077) != 0)
		add_finding(d, "database", STATE_WARN, "chmod 600 the file",
			    "other users can read %s", path);
	if (access(path, W_OK) != 0)
		add_finding(d, "database", STATE_FAIL,
			    "make it writable, or choose another with --db", "cannot write %s: %s",
			    path, strerror(errno));
	if (d->context->writer != 0)
		add_finding(d, "database", STATE_OK, NULL, "process %ld is writing to it",
			    d->context->writer);
}

/* Check the free space where dir is or will be created; cuts dir to a folder that exists. */
static void check_disk(struct doctor *d, char *dir)
{
	struct statvfs fs;
	char *slash;

	while (statvfs(dir, &fs) != 0 && (slash = strrchr(dir, '/')) != NULL && slash != dir)
		*slash = '\0';
	if (statvfs(dir, &fs) != 0)
		return;
	double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	enum state state = free_bytes < 1e8 ? STATE_FAIL : free_bytes < 2e9 ? STATE_WARN : STATE_OK;
	add_finding(d, "disk", state,
		    state == STATE_OK ? NULL : "free some space: copies of logs are stored there",
		    "%.1f GB free at %s", free_bytes / 1e9, dir);
}

static int exec_doctor(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct cmd_output *call = opaque;
	struct doctor d = { .context = args->context };

	d.out = cmd_out(call->format, columns);
	check_terminal(&d);
	check_libraries(&d);
	check_config(&d);
	if (is_in_path("ssh"))
		add_finding(&d, "ssh", STATE_OK, NULL, "ssh is installed");
	else
		add_finding(&d, "ssh", STATE_WARN,
			    "install openssh-client: host aliases, jump hosts and the transport "
			    "openssh need it",
			    "no ssh in PATH");
	check_agent(&d);
	check_keys(&d);
	check_database(&d);
	AUTO_TEXT db = xstrdup(d.context->db_path);
	AUTO_TEXT state = conf_dir_state();
	check_disk(&d, db);
	check_disk(&d, state);
	return cmd_out_end(d.out, d.failed ? err_exit_status(ERR_CHECK) : 0, err);
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.usage = "[OPTIONS]",
	.summary = "check terminal, libraries, configuration, keys and database",
	CMD_OUTPUT_ONLY,
	.exec = exec_doctor,
};
