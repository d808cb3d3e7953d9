/* SPDX-License-Identifier: MIT */
/* Parse what the command on the pod sends from a HarnessGym directory. */
#include "harness/wire.h"

#include <sys/param.h>

#include "base/base64.h"
#include "base/quote.h"
#include "harness/wire_priv.h"

#define LINE_MAX_BYTES	 4096U
#define SCRIPT_MAX_BYTES (256U * 1024)
/* End of the year 9999; later times of a pod are ignored. */
#define CLOCK_MAX_S 253402300799

/* Run wire.py if the pod has a python3 that starts, else wire.sh.  The command is limited in
 * length, so python reads its script, which has $2 bytes, from stdin.  This is a single line that
 * works in any login shell: it has no backslash, newline or "!". */
static const char boot[] = "if python3 -ISc \"import hashlib, json\" </dev/null >/dev/null 2>&1; "
			   "then exec python3 -ISc \"import sys; exec(sys.stdin.buffer.read($2))\" "
			   "\"$1\" \"$4\"; fi; eval \"$(printf %b \"$3\")\"";

struct stream *harness_wire_start(struct transport *transport, size_t index, const char *dir,
				  bool once, bool all, const struct stream_cb *cb, void *user,
				  struct err *err)
{
	char size[32];
	const char *const argv[] = { "nice",	       "sh", "-c", boot,
				     "hgym-harness",   dir,  size, wire_script_sh,
				     all ? "all" : "", NULL };
	AUTO_BUF command = buf_new(65536);

	AUTO_BUF script = buf_new(SCRIPT_MAX_BYTES);
	for (const struct embed_file *file = wire_scripts; file->name != NULL; file++)
		buf_append_str(&script, file->text);
	print_into(size, "%zu", script.len);
	quote_argv(&command, all ? argv + 1 : argv); /* skip nice */
	struct stream *stream = transport->ops->exec(transport, index, command.data, cb, user, err);
	if (stream == NULL)
		return NULL;
	if (transport->ops->write(stream, script.data, script.len, err) != 0) {
		transport->ops->cancel(stream);
		return NULL;
	}
	if (once)
		transport->ops->close_stdin(stream);
	return stream;
}

void harness_wire_init(struct harness_wire *wire, struct harness_files *files)
{
	*wire = (struct harness_wire){ .files = files };
	buf_init(&wire->line, LINE_MAX_BYTES);
	buf_init(&wire->text, HARNESS_LINES_MAX);
}

void harness_wire_release(struct harness_wire *wire)
{
	buf_release(&wire->line);
	buf_release(&wire->text);
	for (size_t i = 0; i < wire->n_dirs; i++)
		free(wire->dirs[i]);
	wire->n_dirs = 0;
}

static void end_file(struct harness_wire *wire)
{
	const struct harness_file *file = harness_files_get(wire->files, wire->path);
	AUTO_BUF text = buf_new(HARNESS_LINES_MAX);

	/* Appended bytes are useful only together with the part that was sent before. */
	if (wire->added_to > 0 && file != NULL && file->len == wire->added_to)
		buf_append(&text, file->text, file->len);
	buf_append(&text, wire->text.data, wire->text.len);
	(void)harness_files_put(wire->files, wire->path, buf_str(&text),
				wire->text.truncated || text.truncated || wire->size > text.len,
				wire->mtime_ms);
	harness_files_changed(wire->files, wire->path, wire->ctime_ms);
	wire->ctime_ms = 0;
	wire->path[0] = '\0';
}

/* Parse "<seconds>" or "<seconds>.<milliseconds>"; false: not a plausible time. */
static bool read_time(struct str word, int64_t *ms)
{
	double s;

	if (!str_to_double(word, &s) || !(s >= 0 && s <= CLOCK_MAX_S))
		return false;
	*ms = (int64_t)(s * 1000 + 0.5);
	return true;
}

/* Parse "F <mtime> <size> <path>"; a path may contain spaces. */
static void start_file(struct harness_wire *wire, struct str rest)
{
	struct str word;

	wire->size = 0;
	wire->added_to = 0;
	if (!str_next(&rest, ' ', &word) || !read_time(word, &wire->mtime_ms) ||
	    !str_next(&rest, ' ', &word) || !str_to_u64(word, &wire->size) || rest.len == 0 ||
	    rest.len >= sizeof(wire->path))
		return;
	print_into(wire->path, "%.*s", (int)rest.len, rest.p);
	buf_clear(&wire->text);
	wire->text.truncated = false;
}

/* Parse three pairs of ctime and checksum ("-": none), and "<run>/<name>". */
static void read_judge(struct harness_wire *wire, struct str rest)
{
	struct harness_judge_copy copies[3];
	AUTO_TEXT path = NULL;
	struct str word;

	array_each (copy, copies, LENGTH(copies)) {
		if (!str_next(&rest, ' ', &word) || !read_time(word, &copy->ctime_ms) ||
		    !str_next(&rest, ' ', &word) || word.len >= sizeof(copy->sum))
			return;
		print_into(copy->sum, "%.*s", (int)word.len, word.p);
		if (strcmp(copy->sum, "-") == 0)
			copy->sum[0] = '\0';
	}
	path = xstrndup(rest.p != NULL ? rest.p : "", rest.len);
	char *name = strchr(path, '/');
	if (name == NULL)
		return;
	*name++ = '\0';
	harness_files_judge(wire->files, path, name, copies);
}

static void read_fact(struct harness_wire *wire, struct str line)
{
	struct str rest = { line.p + 2, line.len > 2 ? line.len - 2 : 0 }, word;

	if (str_starts_with(line, "C ")) {
		if (!read_time(rest, &wire->ctime_ms))
			wire->ctime_ms = 0;
	} else if (str_starts_with(line, "F ")) {
		start_file(wire, rest);
	} else if (str_starts_with(line, "G ")) {
		harness_files_gone(wire->files, rest);
	} else if (str_starts_with(line, "J ")) {
		read_judge(wire, rest);
	} else if (str_eq_cstr(line, "P 0") || str_eq_cstr(line, "P 1")) {
		wire->files->process = HARNESS_TRI(line.p[2] == '1');
	} else if (str_starts_with(line, "D ")) {
		if (wire->n_dirs < HARNESS_WIRE_DIRS && rest.len > 0)
			wire->dirs[wire->n_dirs++] = xstrndup(rest.p, rest.len);
	} else if (str_starts_with(line, "R ")) {
		if (str_next(&rest, ' ', &word))
			print_into(wire->what, "%.*s", (int)MIN(word.len, 15), word.p);
		print_into(wire->run, "%.*s", (int)MIN(rest.len, 255),
			   rest.p != NULL ? rest.p : "");
	} else if (str_eq_cstr(line, "END")) {
		wire->ended = true;
	} else if (str_eq_cstr(line, "NONE")) {
		wire->none = true;
	}
}

static void read_line(struct harness_wire *wire, struct str line)
{
	int64_t now_s;

	if (wire->now_ms == 0) { /* the header */
		if (!str_starts_with(line, "HGH1 ") || !str_to_i64(str_skip(line, 5), &now_s) ||
		    now_s <= 0 || now_s > CLOCK_MAX_S)
			return;
		wire->now_ms = now_s * 1000;
		wire->files->process = HARNESS_UNKNOWN;
	} else if (wire->path[0] == '\0') {
		read_fact(wire, line);
	} else if (str_eq_cstr(line, ".")) {
		end_file(wire);
	} else if (str_eq_cstr(line, ",")) {
		wire->path[0] = '\0';
		wire->changed = true;
	} else if (str_starts_with(line, "A ")) {
		if (!str_to_u64((struct str){ line.p + 2, line.len - 2 }, &wire->added_to))
			wire->added_to = 0;
	} else if (!base64_decode(&wire->text, line)) {
		wire->text.truncated = true;
	}
}

void harness_wire_next(struct harness_wire *wire)
{
	struct harness_files *files = wire->files;

	harness_wire_release(wire);
	harness_wire_init(wire, files);
}

void harness_wire_feed(struct harness_wire *wire, struct str data)
{
	while (data.len > 0) {
		const char *end = memchr(data.p, '\n', data.len);
		size_t n = end != NULL ? (size_t)(end - data.p) : data.len;

		buf_append(&wire->line, data.p, n);
		if (end != NULL) {
			read_line(wire, buf_str(&wire->line));
			buf_clear(&wire->line);
			wire->line.truncated = false;
			n++;
		}
		data.p += n;
		data.len -= n;
	}
}
