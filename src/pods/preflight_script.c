/* SPDX-License-Identifier: MIT */
/*
 * What `pods check` runs on a pod: POSIX sh, it only reads, a line a fact
 * ("key TAB value").  It goes to the stdin of a sh, so that no login shell
 * needs to understand it.
 */
#include "config.h"

#include "base/quote.h"
#include "pods/preflight.h"

/* Where benches and followers have their scratch when nothing is said. */
#define DEFAULT_ROOT "/tmp"

/*
 * $1 parts the facts from what the login shell printed; $2 is the scratch
 * directory or one that may be made.  The braces make sh read the whole of
 * it before anything runs.  A line that is sent when $1 has come asks for
 * the clock: how long that takes bounds how wrong the answer can be.
 */
const char preflight_script[] =
	"{\n"
	"put() { printf '%s\\t%s\\n' \"$1\" \"$2\"; }\n"
	"each() { while IFS= read -r l; do put \"$1\" \"$l\"; done; }\n"
	"printf '\\n%s\\n' \"$1\"\n"
	"read -r go\n"
	"put clock \"$(date +%s.%N)\"\n"
	"exec </dev/null\n"
	"put shell \"${SHELL:-}\"\n"
	"put system \"$(uname -srm)\"\n"
	"d=$2\n"
	"while test ! -d \"$d\"; do d=$(dirname -- \"$d\"); done\n"
	"put scratch \"$d\"\n"
	"test -w \"$d\" && put writable 1 || put writable 0\n"
	"put df \"$(df -Pk \"$d\" 2>/dev/null | tail -n 1)\"\n"
	"t=; command -v timeout >/dev/null 2>&1 && t='timeout 20'\n"
	"if command -v nvidia-smi >/dev/null 2>&1; then\n"
	"o=$($t nvidia-smi --query-gpu=index,name,memory.total,memory.used,"
	"utilization.gpu,driver_version --format=csv,noheader,nounits 2>&1)\n"
	"put smi $?\n"
	"printf '%s\\n' \"$o\" | head -n 64 | each gpu\n"
	"$t nvidia-smi --query-compute-apps=pid,used_memory,process_name "
	"--format=csv,noheader,nounits 2>/dev/null | head -n 64 | each app\n"
	"fi\n"
	"if command -v python3 >/dev/null 2>&1; then\n"
	"$t python3 -c '\n"
	"import sys\n"
	"print(\"python\\t%d.%d.%d\" % sys.version_info[:3])\n"
	"from importlib import metadata\n"
	"for name in (\"torch\", \"triton\"):\n"
	"    try:\n"
	"        print(name + \"\\t\" + metadata.version(name))\n"
	"    except Exception:\n"
	"        pass\n"
	"' 2>/dev/null\n"
	"fi\n"
	"for f in $(grep -lsF HGYM_JOB= /proc/[0-9]*/environ | head -n 64)\n"
	"do\n"
	"p=${f#/proc/}; p=${p%/environ}\n"
	"test \"$p\" = $$ || put job \"$p $(tr '\\0' '\\n' <\"$f\" 2>/dev/null "
	"| sed -n 's/^HGYM_JOB=//p' | head -n 1)\"\n"
	"done\n"
	"put end 0\n"
	"exit 0\n"
	"}\n";

void
preflight_command(struct buf *out, const char *nonce,
		  const struct conf_pod *pod)
{
	const char *root =
		pod->remote_root != NULL ? pod->remote_root : DEFAULT_ROOT;
	const char *const argv[] = {
		"exec", "sh", "-s", "--", nonce, root, NULL
	};

	quote_argv(out, argv);
}
