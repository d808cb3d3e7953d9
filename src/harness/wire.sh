# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2012,SC2030,SC2031,SC2034,SC2044,SC2088,SC2164,SC3013
# Send a HarnessGym directory once. Runs on pods without python3; judge files
# are not compared. The protocol is in src/harness/wire.h. $1 is the directory.
# Sends all needed files of the newest run (or of the named run), and the JSON
# and the output of verifiers of 32 older runs. Skips copies of the workspace.
d=$1
case $d in "~/"*) d=$HOME/${d#??} ;; esac
LC_ALL=C
export LC_ALL
echo
echo "HGH1 $(date +%s)"
case $d in
*[*?]* | *"["*)
	[ -e "$d" ] || {
		IFS=
		for x in $d; do
			for f in .harnessgym/runs compare_report.json \
				plain/trial_1 harnessed/trial_1 \
				run_config.json results.tsv; do
				[ ! -e "$x/$f" ] || {
					echo "D $x"
					break
				}
			done
		done
		echo END
		exit 0
	}
	;;
esac
look() { stat -c "%Z %Y %s" "$1" 2>/dev/null || echo 0 0 0; }
send() {
	while IFS= read -r f; do
		[ -f "$f" ] || continue
		f=${f#./}
		s=$(look "$f")
		echo "C ${s%% *}"
		echo "F ${s#* } $f"
		case $f in
		*.prompt.txt | */workspace/*) ;;
		*.txt) tail -c 262144 "$f" | base64 ;;
		*.jsonl) tail -c 8388608 "$f" | base64 ;;
		*.tsv) head -c 1048576 "$f" | base64 ;;
		*.log) tail -c 65536 "$f" | base64 ;;
		*) head -c 4194305 "$f" | base64 ;;
		esac
		if [ "$s" = "$(look "$f")" ]; then echo .; else echo ,; fi
	done
}
process() {
	t=$(cd "$1" && pwd -P)
	case $t in *" "*) return ;; esac
	[ -r /proc/self/cmdline ] || return
	p=0
	set -f
	for q in $(
		set +f
		grep -la harnessgym /proc/[0-9]*/cmdline 2>/dev/null
	); do
		h=0
		x=.
		y=
		for a in $(tr -c "[:print:]" " " <"$q" 2>/dev/null); do
			[ -z "$y" ] || {
				x=$a
				y=
			}
			case $a in
			harnessgym | */harnessgym | harnessgym.*) h=1 ;;
			run | compare) [ "$h" = 0 ] || h=2 ;;
			--workspace | --output-dir) y=1 ;;
			--workspace=* | --output-dir=*) x=${a#*=} ;;
			esac
		done
		[ "$h" = 2 ] || continue
		case $x in /*) x=${q%/*}/root$x ;; *) x=${q%/*}/cwd/$x ;; esac
		u=$t
		while [ -n "$u" ]; do
			[ ! "$x" -ef "$u" ] || p=1
			u=${u%/*}
		done
	done
	set +f
	# A process of another container that shares the folder is not seen.
	[ "$p" = 1 ] || case $(readlink /proc/self/ns/pid) in
	"pid:[4026531836]") ;;
	*) [ "$(stat -c %d /)" = "$(stat -c %d "$t")" ] || return ;;
	esac
	# Another process there may be an agent of HarnessGym's Python API.
	[ "$p" = 1 ] || ls -ld /proc/[0-9]*/cwd 2>/dev/null |
		while IFS= read -r l; do
			case $l/ in
			*"/proc/$$/"* | *"/proc/$PPID/"*) ;;
			*" -> $t/"*) exit 1 ;;
			esac
		done || return
	echo "P $p"
}
w=
if [ -d "$d/.harnessgym/runs" ]; then
	process "$d"
	cd "$d/.harnessgym" && echo "R workspace"
elif [ -f "$d/compare_report.json" ] || [ -d "$d/plain/trial_1" ] ||
	[ -d "$d/harnessed/trial_1" ]; then
	cd "$d" && echo "R compare"
	process .
	find . -maxdepth 3 "(" -name trial.json -o -name compare_report.json \
		-o -name "post.std*.txt" ")" -type f | send
	for f in */trial_*/workspace/.harnessgym/runs/*/run_config.json \
		*/trial_*/workspace/.harnessgym/runs/*/iterations/*/*.txt; do
		echo "$f"
	done | send
	echo END
	exit 0
elif [ -f "$d/run_config.json" ] || [ -d "$d/iterations/1" ]; then
	d=$(cd "$d" && pwd -P)
	w=${d##*/}
	cd "$d/../.." && echo "R run $w"
	process ..
elif [ -d "$d/runs" ] && [ "${d##*/}" = .harnessgym ]; then
	cd "$d" && echo "R workspace"
	process ..
elif [ -f "$d/results.tsv" ]; then
	cd "$d" && echo "R table"
	printf "%s\n" results.tsv run.log | send
	echo END
	exit 0
else
	echo NONE
	exit 0
fi
for f in registry.json activation.json mcp_calls.jsonl \
	mcp/*/.harnessgym/mcp_calls.jsonl history/*.jsonl; do
	echo "$f"
done | send
n=0
ls -t runs | while IFS= read -r r; do
	n=$((n + 1))
	[ $n -lt 33 ] || [ "$r" = "$w" ] || continue
	if [ "$r" = "$w" ] || { [ -z "$w" ] && [ $n = 1 ]; }; then
		find "runs/$r" -maxdepth 5 -type d "(" -name workspace \
			-o -name best -o -name workspace_template ")" \
			-prune -o -type f \
			"(" -name "*.json" -o -name "*.txt" ")" -print | send
	else
		find "runs/$r" -maxdepth 3 -type f "(" -name "*.json" -o \
			-name post_attempt.stdout.txt -o \
			-name baseline.stdout.txt ")" -print | send
	fi
done
echo END
