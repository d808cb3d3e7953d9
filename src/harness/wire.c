/* SPDX-License-Identifier: MIT */
/* What a pod sends of a HarnessGym directory; for pod.c and feed.c. */
#include "config.h"

#include "harness/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/quote.h"
#include "base/xalloc.h"

#define LINE_MAX_BYTES 4096U
#define OLD_RUNS_TEXT  "33"
/* The end of the year 9999: a pod's clock says less. */
#define CLOCK_MAX_S 253402300799

/*
 * One line for any login shell: no backslash, no newline, no "!".  $1 is the
 * directory.  Of the newest run (or the one that was named) all that counts
 * is sent, of 32 older ones their JSON and what verifiers printed; copies of
 * the workspace are passed by.
 */
static const char script[] =
	"d=$1; case $d in \"~/\"*) d=$HOME/${d#??};; esac; "
	"LC_ALL=C; export LC_ALL; "
	"echo; echo \"HGH1 $(date +%s)\"; "
	"case $d in *[*?]*|*\"[\"*) [ -e \"$d\" ] || { IFS=; for x in $d; do "
	"for f in .harnessgym/runs compare_report.json plain/trial_1 "
	"harnessed/trial_1 run_config.json; do "
	"[ ! -e \"$x/$f\" ] || { echo \"D $x\"; break; }; done; done; "
	"echo END; exit 0; };; esac; "
	"look() { stat -c \"%Z %Y %s\" \"$1\" 2>/dev/null || echo 0 0 0; }; "
	"send() { while IFS= read -r f; do [ -f \"$f\" ] || continue; "
	"case $f in ./*) f=${f#./};; esac; "
	"s=$(look \"$f\"); echo \"C ${s%% *}\"; echo \"F ${s#* } $f\"; "
	"case $f in *.prompt.txt) ;; "
	"*.txt) tail -c 262144 \"$f\" | base64;; "
	"*.jsonl) tail -c 8388608 \"$f\" | base64;; "
	"*) head -c 4194305 \"$f\" | base64;; esac; "
	"if [ \"$s\" = \"$(look \"$f\")\" ]; then echo .; else echo ,; fi; "
	"done; }; "
	"process() { t=$(cd \"$1\" && pwd -P); "
	"case $t in *\" \"*) return;; esac; "
	"[ -r /proc/self/cmdline ] || return; p=0; set -f; "
	"for q in $(set +f; grep -la harnessgym "
	"/proc/[0-9]*/cmdline 2>/dev/null); do h=; x=.; y=; for a in "
	"$(tr -c \"[:print:]\" \" \" <$q 2>/dev/null); do "
	"[ -z \"$y\" ] || { x=$a; y=; }; "
	"case $a in harnessgym|*/harnessgym|harnessgym.*) h=1;; "
	"run|compare) [ -z \"$h\" ] || h=2;; "
	"--workspace|--output-dir) y=1;; "
	"--workspace=*|--output-dir=*) x=${a#*=};; esac; done; "
	"[ \"$h\" = 2 ] || continue; "
	"q=$(cd ${q%/*}/cwd 2>/dev/null && cd \"$x\" 2>/dev/null && pwd -P); "
	"case $t/ in \"${q:-?}\"/*) p=1;; esac; done; set +f; echo P $p; }; "
	"if [ -d \"$d/.harnessgym/runs\" ]; then process \"$d\"; "
	"cd \"$d/.harnessgym\" && echo \"R workspace\"; w=; "
	"elif [ -f \"$d/compare_report.json\" ] || [ -d \"$d/plain/trial_1\" ] "
	"|| [ -d \"$d/harnessed/trial_1\" ]; then cd \"$d\" && "
	"echo \"R compare\"; process .; "
	"find . -maxdepth 3 \"(\" -name trial.json -o -name "
	"compare_report.json -o -name post.stderr.txt \")\" -type f | send; "
	"for f in */trial_*/workspace/.harnessgym/runs/*/run_config.json; do "
	"echo \"$f\"; done | send; echo END; exit 0; "
	"elif [ -f \"$d/run_config.json\" ] || [ -d \"$d/iterations/1\" ]; "
	"then d=$(cd \"$d\" && pwd -P); w=${d##*/}; cd \"$d/../..\" && "
	"echo \"R run $w\"; process ..; "
	"elif [ -d \"$d/runs\" ] && [ \"${d##*/}\" = .harnessgym ]; then "
	"cd \"$d\" && echo \"R workspace\"; process ..; w=; "
	"else echo NONE; exit 0; fi; "
	"for f in registry.json activation.json mcp_calls.jsonl "
	"mcp/*/.harnessgym/mcp_calls.jsonl history/*.jsonl; do echo \"$f\"; "
	"done | send; n=0; "
	"ls -t runs | while IFS= read -r r; do n=$((n+1)); "
	"[ $n -lt " OLD_RUNS_TEXT " ] || [ \"$r\" = \"$w\" ] || continue; "
	"if [ \"$r\" = \"$w\" ] || { [ -z \"$w\" ] && [ $n = 1 ]; }; then "
	"find \"runs/$r\" -maxdepth 5 -type d \"(\" -name workspace -o -name "
	"best -o -name workspace_template \")\" -prune -o -type f \"(\" -name "
	"\"*.json\" -o -name \"*.txt\" \")\" -print | send; "
	"else find \"runs/$r\" -maxdepth 3 -type f \"(\" -name \"*.json\" -o "
	"-name post_attempt.stdout.txt -o -name baseline.stdout.txt \")\" "
	"-print | send; "
	"fi; done; echo END";

struct stream *
harness_wire_start(struct transport *transport, size_t index, const char *dir,
		   const struct stream_cb *cb, void *user, struct err *err)
{
	const char *const argv[] = { "nice",	     "sh", "-c", script,
				     "hgym-harness", dir,  NULL };
	AUTO_BUF command = buf_new(65536);
	struct stream *stream;

	quote_argv(&command, argv);
	stream = transport->ops->exec(transport, index, command.data, cb, user,
				      err);
	if (stream != NULL)
		transport->ops->close_stdin(stream);
	return stream;
}

void
harness_wire_init(struct harness_wire *wire, struct harness_files *files)
{
	*wire = (struct harness_wire){ .files = files };
	buf_init(&wire->line, LINE_MAX_BYTES);
	buf_init(&wire->text, HARNESS_LINES_MAX);
}

void
harness_wire_release(struct harness_wire *wire)
{
	buf_release(&wire->line);
	buf_release(&wire->text);
	for (size_t i = 0; i < wire->n_dirs; i++)
		free(wire->dirs[i]);
	wire->n_dirs = 0;
}

static void
end_file(struct harness_wire *wire)
{
	(void)harness_files_put(wire->files, wire->path, buf_str(&wire->text),
				wire->text.truncated ||
					wire->size > wire->text.len,
				wire->mtime_ms);
	harness_files_changed(wire->files, wire->path, wire->ctime_ms);
	wire->ctime_ms = 0;
	wire->path[0] = '\0';
}

/* "F <mtime> <size> <path>": a path may hold blanks. */
static void
begin_file(struct harness_wire *wire, struct str rest)
{
	struct harness_path what;
	struct str word;
	int64_t mtime_s = 0;

	wire->size = 0;
	if (!str_next(&rest, ' ', &word) || !str_to_i64(word, &mtime_s) ||
	    !str_next(&rest, ' ', &word) || !str_to_u64(word, &wire->size) ||
	    mtime_s < 0 || mtime_s > CLOCK_MAX_S || rest.len == 0 ||
	    rest.len >= sizeof(wire->path))
		return;
	(void)snprintf(wire->path, sizeof(wire->path), "%.*s", (int)rest.len,
		       rest.p);
	/* Its content was left out, or is not wanted. */
	if (harness_path_read(wire->path, &what) &&
	    harness_kind_form(what.kind) == HARNESS_MARK)
		wire->size = 0;
	wire->mtime_ms = mtime_s * 1000;
	buf_clear(&wire->text);
	wire->text.truncated = false;
}

/* "C <ctime>" of the file that comes next. */
static void
read_ctime(struct harness_wire *wire, struct str word)
{
	int64_t s;

	wire->ctime_ms = str_to_i64(word, &s) && s > 0 && s <= CLOCK_MAX_S
				 ? s * 1000
				 : 0;
}

static void
read_root(struct harness_wire *wire, struct str rest)
{
	struct str word;

	if (str_next(&rest, ' ', &word))
		(void)snprintf(wire->what, sizeof(wire->what), "%.*s",
			       (int)(word.len < 15 ? word.len : 15), word.p);
	(void)snprintf(wire->run, sizeof(wire->run), "%.*s",
		       (int)(rest.len < 255 ? rest.len : 255),
		       rest.p != NULL ? rest.p : "");
}

static void
read_head(struct harness_wire *wire, struct str line)
{
	int64_t now_s;

	if (str_starts_with(line, "HGH1 ") &&
	    str_to_i64((struct str){ line.p + 5, line.len - 5 }, &now_s) &&
	    now_s > 0 && now_s <= CLOCK_MAX_S)
		wire->now_ms = now_s * 1000;
}

/* A directory that the pattern matches. */
static void
read_dir(struct harness_wire *wire, struct str path)
{
	if (wire->n_dirs < HARNESS_WIRE_DIRS && path.len > 0)
		wire->dirs[wire->n_dirs++] = xstrndup(path.p, path.len);
}

static void
read_line(struct harness_wire *wire, struct str line)
{
	if (wire->now_ms == 0)
		read_head(wire, line);
	else if (wire->path[0] != '\0' && str_eq_cstr(line, "."))
		end_file(wire);
	else if (wire->path[0] != '\0' && str_eq_cstr(line, ","))
		wire->path[0] = '\0'; /* it changed while it was read */
	else if (wire->path[0] != '\0' && !base64_decode(&wire->text, line))
		wire->text.truncated = true; /* it counts as cut off */
	else if (wire->path[0] != '\0')
		return;
	else if (str_starts_with(line, "C "))
		read_ctime(wire, (struct str){ line.p + 2, line.len - 2 });
	else if (str_starts_with(line, "F "))
		begin_file(wire, (struct str){ line.p + 2, line.len - 2 });
	else if (str_eq_cstr(line, "P 0") || str_eq_cstr(line, "P 1"))
		wire->files->process =
			line.p[2] == '1' ? HARNESS_YES : HARNESS_NO;
	else if (str_starts_with(line, "D "))
		read_dir(wire, (struct str){ line.p + 2, line.len - 2 });
	else if (str_starts_with(line, "R "))
		read_root(wire, (struct str){ line.p + 2, line.len - 2 });
	else if (str_eq_cstr(line, "END"))
		wire->ended = true;
	else if (str_eq_cstr(line, "NONE"))
		wire->none = true;
}

void
harness_wire_feed(struct harness_wire *wire, struct str data)
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
