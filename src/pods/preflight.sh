#!/bin/sh
# SPDX-License-Identifier: MIT
# What `pods check` runs on a pod: it changes nothing and prints one fact per
# line ("key TAB value").  sh reads it from stdin, so that no login shell has to
# understand it; the braces make sh read the whole script before it runs any
# command.  The line $1 separates the facts from output of the login shell; $2
# is the scratch directory, which may not exist yet; the other arguments are
# patterns of logs.  After $1, the caller sends a line to request the clock; the
# round trip limits the error of the answer.
{
put() { printf '%s\t%s\n' "$1" "$2"; }
each() { while IFS= read -r l; do put "$1" "$l"; done; }
printf '\n%s\n' "$1"
# shellcheck disable=SC2034
read -r go
put clock "$(date +%s.%N)"
exec </dev/null
put shell "${SHELL:-}"
put system "$(uname -srm)"
d=$2
while test ! -d "$d"; do d=$(dirname -- "$d"); done
put scratch "$d"
if test -w "$d"; then put writable 1; else put writable 0; fi
put df "$(df -Pk "$d" 2>/dev/null | tail -n 1)"
t=; command -v timeout >/dev/null 2>&1 && t='timeout 20'
if command -v nvidia-smi >/dev/null 2>&1; then
	q=index,name,memory.total,memory.used,utilization.gpu,driver_version
	o=$($t nvidia-smi --query-gpu=$q --format=csv,noheader,nounits 2>&1)
	put smi $?
	printf '%s\n' "$o" | head -n 64 | each gpu
	$t nvidia-smi --query-compute-apps=pid,used_memory,process_name \
		--format=csv,noheader,nounits 2>/dev/null |
		head -n 64 | each app
fi
if command -v python3 >/dev/null 2>&1; then
	$t python3 -c '
import sys
print("python\t%d.%d.%d" % sys.version_info[:3])
from importlib import metadata
for name in ("torch", "triton"):
    try:
        print(name + "\t" + metadata.version(name))
    except Exception:
        pass
' 2>/dev/null
fi
for f in $(grep -lsF HGYM_JOB= /proc/[0-9]*/environ | head -n 64); do
	p=${f#/proc/}
	p=${p%/environ}
	test "$p" = $$ || put job "$p $(tr '\0' '\n' <"$f" 2>/dev/null |
		sed -n 's/^HGYM_JOB=//p' | head -n 1)"
done
shift 2
for p in "$@"; do
	g=$p
	test "${p#?/}" = "$p" || test "${p%"${p#?}"}" != '~' || g=$HOME/${p#??}
	# shellcheck disable=SC2086
	n=$(IFS=''; set -- $g; if test -e "$1"; then echo $#; else echo 0; fi)
	put logs "$n $p"
	test "$n" = 0 || continue
	# Where are files that could be logs?  Look in the folder of the pattern.
	d=${g%%[*?[]*}
	d=${d%/*}/
	while test ! -d "$d"; do d=$(dirname -- "$d"); done
	test "$d" != / || continue
	${t:+timeout 5} find "$d" -maxdepth 3 -type f \( -name '*.log' \
		-o -name '*.txt' -o -name '*.out' \) 2>/dev/null | head -n 2000 |
		sed 's,//*,/,g; s,/[^/]*\(\.[a-z]*\)$,/*\1,' |
		sort | uniq -c | sort -rn | head -n 3 | sed 's/^ *//' | each near
done
put end 0
exit 0
}
