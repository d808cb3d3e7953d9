/* SPDX-License-Identifier: MIT */
/* `doctor`: what is wrong here, and the next step; reads only. */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/version.h"
#include "parsers/json.h"
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

/* One line of the report; next is NULL when there is nothing to do. */
static void __attribute__((format(printf, 5, 6)))
doctor_say(struct doctor *d, const char *area, enum state state, const char *next, const char *fmt,
	   ...)
{
	static const char *const names[] = { "ok", "warn", "fail" };
	AUTO_BUF text = buf_new(4096);
	va_list ap;

	va_start(ap, fmt);
	buf_vappendf(&text, fmt, ap);
	va_end(ap);
	out_take(d->out, json_new(JTEXT("area", area), JTEXT("state", names[state]),
				  JTEXT("what", text.data), JTEXT("next", next)));
	if (state == STATE_FAIL)
		d->failed = true;
}

static void check_colours(struct doctor *d, const char *term)
{
	const char *color = getenv("COLORTERM"), *none = getenv("NO_COLOR");
	bool is_true = color != NULL &&
		       (strstr(color, "truecolor") != NULL || strstr(color, "24bit") != NULL);

	if (none != NULL && none[0] != '\0')
		doctor_say(d, "terminal", STATE_OK, NULL, "no colours: NO_COLOR");
	else if (is_true || strstr(term, "256color") != NULL)
		doctor_say(d, "terminal", STATE_OK, NULL, "%s colours", is_true ? "24-bit" : "256");
	else
		doctor_say(d, "terminal", STATE_WARN,
			   "use a TERM with 256color if the terminal can", "few colours");
}

static void check_terminal(struct doctor *d)
{
	const char *term = getenv("TERM");
	const char *codeset = nl_langinfo(CODESET);
	struct winsize size = { 0, 0, 0, 0 };
	struct err why;

	if (!term_fits(&why))
		doctor_say(d, "terminal", STATE_WARN,
			   "set TERM or install its terminfo, or use the "
			   "commands only",
			   "%s", why.text);
	else
		doctor_say(d, "terminal", STATE_OK, NULL, "TERM is %s", term);
	check_colours(d, term != NULL ? term : "");
	if (strcmp(codeset, "UTF-8") == 0)
		doctor_say(d, "terminal", STATE_OK, NULL, "the locale has UTF-8");
	else
		doctor_say(d, "terminal", STATE_WARN, "set LC_CTYPE=C.UTF-8",
			   "the locale has %s: charts are drawn in ASCII", codeset);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 &&
	    ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0)
		doctor_say(d, "terminal", STATE_OK, NULL, "size unknown: a pipe");
	else
		doctor_say(d, "terminal",
			   size.ws_col >= 80 && size.ws_row >= 24 ? STATE_OK : STATE_WARN,
			   size.ws_col >= 80 && size.ws_row >= 24 ? NULL
								  : "make it 80 x 24 or more",
			   "%d columns, %d rows", size.ws_col, size.ws_row);
}

static void check_libraries(struct doctor *d)
{
	struct version_library libraries[VERSION_LIBRARIES];

	version_libraries(libraries);
	for (size_t i = 0; i < VERSION_LIBRARIES; i++)
		doctor_say(d, "libraries", STATE_OK, NULL, "%s %s", libraries[i].name,
			   libraries[i].version);
	if (version_has_jit())
		doctor_say(d, "libraries", STATE_OK, NULL, "PCRE2 has its JIT");
	else
		doctor_say(d, "libraries", STATE_WARN,
			   "install a PCRE2 that was built with --enable-jit",
			   "PCRE2 has no JIT: parsing is several times slower");
	if (!version_has_rsa_sha2())
		doctor_say(d, "libraries", STATE_WARN,
			   "use an ed25519 key, or \"transport\": \"openssh\" for "
			   "pods with an RSA key",
			   "this libssh2 cannot log in with RSA keys (1.11 can)");
}

static void check_config(struct doctor *d)
{
	const struct conf *conf = &d->context->conf;
	struct err err = { ERR_NONE, "" };

	if (context_open(d->context, CONTEXT_CONF, &err) != 0) {
		doctor_say(d, "config", STATE_FAIL, "correct the file", "%s", err.text);
		return;
	}
	if (conf->path == NULL)
		doctor_say(d, "config", STATE_WARN,
			   "write one (man hgym-tui-config) to follow pods",
			   "there is no configuration file");
	else
		doctor_say(d, "config", STATE_OK, NULL, "%s", conf->path);
	bool has_pods = conf->n_pods + conf->n_discover > 0;
	doctor_say(d, "config", has_pods ? STATE_OK : STATE_WARN,
		   has_pods ? NULL : "add pods to the configuration", "%zu pod%s", conf->n_pods,
		   conf->n_pods == 1 ? "" : "s");
	if (context_open(d->context, CONTEXT_FORMATS, &err) != 0)
		doctor_say(d, "config", STATE_FAIL,
			   "correct the file, or \"formats\" in the configuration", "%s", err.text);
	if (context_open(d->context, CONTEXT_TRACK, &err) != 0)
		doctor_say(d, "config", STATE_FAIL,
			   "correct \"track\" or \"tracks\" in the configuration", "%s", err.text);
}

/* The first bytes of a file as a text; "" when it cannot be read. */
static void read_head(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

/* The type is in the head of an old private key, or in the .pub beside it. */
static bool is_rsa(const char *path, const char *head)
{
	AUTO_TEXT public_path = xasprintf("%s.pub", path);
	char text[64];

	read_head(public_path, text, sizeof(text));
	return strstr(head, "BEGIN RSA PRIVATE KEY") != NULL ||
	       str_starts_with(str_from(text), "ssh-rsa ");
}

static void check_key(struct doctor *d, const char *path, bool must_work)
{
	char head[512];
	struct stat st;

	if (stat(path, &st) != 0) {
		doctor_say(d, "keys", STATE_FAIL, "correct \"identity\" of the pod", "%s: %s", path,
			   strerror(errno));
		return;
	}
	read_head(path, head, sizeof(head));
	if ((st.st_mode & 077) != 0)
		doctor_say(d, "keys", STATE_WARN, "chmod 600 it: ssh refuses it so",
			   "%s: others may read this private key", path);
	if (strstr(head, "PRIVATE KEY") == NULL)
		doctor_say(d, "keys", STATE_FAIL, "name the private key (the file without .pub)",
			   "%s is no private key that can be read", path);
	else if (must_work && is_rsa(path, head))
		doctor_say(d, "keys", STATE_WARN,
			   "use an ed25519 key, or \"transport\": \"openssh\"",
			   "%s is an RSA key, which this libssh2 cannot use", path);
	else
		doctor_say(d, "keys", STATE_OK, NULL, "%s", path);
}

/* The usual keys: those that are there. */
static size_t check_usual_keys(struct doctor *d, bool has_rsa_sha2)
{
	static const char *const names[] = { "id_ed25519", "id_ecdsa", "id_rsa" };
	size_t found = 0;

	for (size_t i = 0; i < LENGTH(names); i++) {
		AUTO_TEXT usual = xasprintf("~/.ssh/%s", names[i]);
		AUTO_TEXT path = file_expand_home(usual);

		if (access(path, F_OK) == 0) {
			check_key(d, path, !has_rsa_sha2);
			found++;
		}
	}
	return found;
}

static void check_known_hosts(struct doctor *d, const char *path)
{
	if (access(path, R_OK) == 0)
		doctor_say(d, "keys", STATE_OK, NULL, "%s", path);
	else
		doctor_say(d, "keys", STATE_WARN,
			   "log in once with ssh, or see pods check --accept-new",
			   "%s: %s: no host key is known", path, strerror(errno));
}

/* A file that a pod names, and none before it. */
static bool is_first(const struct conf *conf, size_t pod, const char *file)
{
	for (size_t i = 0; i < pod && file != NULL; i++)
		if (conf_same_text(conf->pods[i].identity, file) ||
		    conf_same_text(conf->pods[i].known_hosts, file))
			return false;
	return file != NULL;
}

static void check_keys(struct doctor *d)
{
	const struct conf *conf = &d->context->conf;
	bool has_rsa_sha2 = version_has_rsa_sha2();
	AUTO_TEXT usual = file_expand_home("~/.ssh/known_hosts");
	size_t found = check_usual_keys(d, has_rsa_sha2), remote = 0;

	for (size_t i = 0; i < conf->n_pods; i++) {
		const struct conf_pod *pod = &conf->pods[i];

		remote += pod->ssh != NULL;
		if (is_first(conf, i, pod->identity))
			check_key(d, pod->identity,
				  !has_rsa_sha2 && pod->transport == CONF_LIBSSH2);
		if (is_first(conf, i, pod->known_hosts))
			check_known_hosts(d, pod->known_hosts);
		found += pod->identity != NULL;
	}
	if (remote > 0)
		check_known_hosts(d, usual);
	if (remote > 0 && found == 0)
		doctor_say(d, "keys", STATE_WARN, "ssh-keygen -t ed25519, or use an agent",
			   "there is no key in ~/.ssh and no pod names one");
}

/* Ask the agent for its keys; it may hang, but not us for long. */
static void ask_agent(struct doctor *d, const char *path)
{
	const atomic_bool never = false;
	struct ssh_agent agent;

	if (ssh_agent_open(&agent, path, &never))
		doctor_say(d, "keys", STATE_OK, NULL, "agent at %s holds %zu %s", path,
			   agent.n_keys, agent.n_keys == 1 ? "key" : "keys");
	else if (agent.has_answered)
		doctor_say(d, "keys", STATE_WARN, "start it again, or unset SSH_AUTH_SOCK",
			   "what listens at %s (SSH_AUTH_SOCK) is no SSH agent", path);
	else if (agent.is_connected)
		doctor_say(d, "keys", STATE_WARN,
			   "does it wait for you? else start it again, or unset "
			   "SSH_AUTH_SOCK",
			   "the agent at %s does not answer", path);
	else
		doctor_say(d, "keys", STATE_WARN, "start it again, or unset SSH_AUTH_SOCK",
			   "SSH_AUTH_SOCK names %s, where no agent listens", path);
	ssh_agent_close(&agent);
}

static void check_agent(struct doctor *d)
{
	const char *path = getenv("SSH_AUTH_SOCK");

	if (path == NULL || path[0] == '\0')
		doctor_say(d, "keys", STATE_OK, NULL, "no agent: SSH_AUTH_SOCK is not set");
	else
		ask_agent(d, path);
}

static bool in_path(const char *program)
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

static void check_ssh(struct doctor *d)
{
	bool has_ssh = in_path("ssh");

	doctor_say(d, "ssh", has_ssh ? STATE_OK : STATE_WARN,
		   has_ssh ? NULL
			   : "install openssh-client: host aliases, jump "
			     "hosts and the transport openssh need it",
		   has_ssh ? "ssh is there" : "there is no ssh in PATH");
	check_agent(d);
	check_keys(d);
}

static void check_open_database(struct doctor *d)
{
	const char *path = d->context->db_path;
	struct err err = { ERR_NONE, "" };
	struct stat st;

	if (store_check(d->context->store, &err) != 0)
		doctor_say(d, "database", STATE_FAIL,
			   "move it away (the logs are still mirrored) and "
			   "collect again",
			   "%s", err.text);
	else
		doctor_say(d, "database", STATE_OK, NULL, "sound, schema known");
	if (stat(path, &st) != 0)
		return;
	doctor_say(d, "database", STATE_OK, NULL, "%s, %lld bytes", path, (long long)st.st_size);
	if ((st.st_mode & 077) != 0)
		doctor_say(d, "database", STATE_WARN, "chmod 600 it", "others may read %s", path);
	if (access(path, W_OK) != 0)
		doctor_say(d, "database", STATE_FAIL, "make it writable, or name another with --db",
			   "cannot write %s: %s", path, strerror(errno));
	if (d->context->writer != 0)
		doctor_say(d, "database", STATE_OK, NULL, "process %ld writes to it now",
			   d->context->writer);
}

static void check_database(struct doctor *d)
{
	struct err err = { ERR_NONE, "" };

	if (context_open(d->context, CONTEXT_DB, &err) == 0)
		check_open_database(d);
	else if (err.code == ERR_NODATA)
		doctor_say(d, "database", STATE_OK, NULL, "none yet: %s", d->context->db_path);
	else
		doctor_say(d, "database", STATE_FAIL, "move it away, or name another with --db",
			   "%s", err.text);
}

/* Free space where dir is, or will be. */
static void check_disk(struct doctor *d, char *dir)
{
	struct statvfs fs;
	char *slash;
	enum state state = STATE_OK;

	while (statvfs(dir, &fs) != 0 && (slash = strrchr(dir, '/')) != NULL && slash != dir)
		*slash = '\0';
	if (statvfs(dir, &fs) != 0)
		return;
	double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	if (free_bytes < 1e8)
		state = STATE_FAIL;
	else if (free_bytes < 2e9)
		state = STATE_WARN;
	doctor_say(d, "disk", state,
		   state == STATE_OK ? NULL : "make room: logs are mirrored there",
		   "%.1f GB free at %s", free_bytes / 1e9, dir);
}

static void check_disks(struct doctor *d)
{
	AUTO_TEXT db = xstrdup(d->context->db_path);
	AUTO_TEXT state = conf_dir_state();

	check_disk(d, db);
	check_disk(d, state);
}

static int exec_doctor(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct cmd_output *call = opaque;
	struct doctor d = { .context = args->context };

	d.out = cmd_out(call->format, columns);
	check_terminal(&d);
	check_libraries(&d);
	check_config(&d);
	check_ssh(&d);
	check_database(&d);
	check_disks(&d);
	return cmd_out_end(d.out, d.failed ? err_exit_status(ERR_CHECK) : 0, err);
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.usage = "[OPTIONS]",
	.summary = "say what is wrong here, and what to do about it",
	.help = "Looks at the terminal, the libraries, the configuration, SSH "
		"keys and their agent,\nthe database and the free disk; "
		"touches no pod (`pods check` does).  Exit status 3\nwhen a "
		"line says fail.",
	.options = cmd_output_options,
	.size = sizeof(struct cmd_output),
	.exec = exec_doctor,
};
