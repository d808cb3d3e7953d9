# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016,SC2086
# What a job of a bench is made of, written into its folder by op_start of
# launch.sh, which this stands before: run.sh, and what it needs.
# A session of its own, by what there is.
new_session() {
	if command -v setsid >/dev/null 2>&1; then
		exec setsid "$@"
	elif busybox setsid true 2>/dev/null; then
		exec busybox setsid "$@"
	elif command -v python3 >/dev/null 2>&1; then
		exec python3 -c 'import os, signal, sys
os.setsid()
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
	fi
	exec perl -e 'use POSIX; POSIX::setsid(); exec @ARGV' "$@"
}

# Without flock: a lock is a directory with its owner's pid, start time, boot
# id and pid namespace in it.  One whose owner is gone is taken over by a mv,
# which only one can win.
write_lock() {
	cat >"$1/lock.sh" <<'HB_LOCK'
start_of() { sed 's/.*) //' 2>/dev/null "/proc/$1/stat" | cut -d' ' -f20; }
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none)
ns=$(readlink /proc/self/ns/pid 2>/dev/null || echo none)
is_stale() {
	if read -r pid start its_boot its_ns 2>/dev/null <"$1/owner"; then
		test "$its_boot" = "$boot" || return 0
		test "$its_ns" = "$ns" || return 1
		test "$(start_of "$pid")" != "$start"
	else # its maker died between two steps
		test -n "$(find "$1" -maxdepth 0 -mmin +1 2>/dev/null)"
	fi
}
take() {
	if test -d "$1" && is_stale "$1"; then
		mv "$1" "$1.stale.$$" 2>/dev/null && rm -rf "$1.stale.$$"
	fi
	mkdir "$1" 2>/dev/null || return 1
	echo "$$ $(start_of $$) $boot $ns" >"$1/owner"
}
HB_LOCK
	cat >"$1/locked.sh" <<'HB_LOCKED'
. ./lock.sh
trap : TERM INT HUP
held=
for name in $HB_LOCKS; do
	path=$HB_LOCK_DIR/hgym.gpu.$name.lock.d
	take "$path" || break
	held="$held $path"
done
if test "$(echo $held | wc -w)" -eq "$(echo $HB_LOCKS | wc -w)"; then
	sh ./run.sh
fi
for path in $held; do
	rm -rf "$path"
done
test -f pid || test -f full || : >busy
HB_LOCKED
}

# What looks for processes of ours: on the pod, and in each run.
write_marked() {
	cat <<'HB_MARKED'
# State letter and start time of a process.
stat_of() {
	sed -n '$s/.*) //p' 2>/dev/null "/proc/$1/stat" | cut -d' ' -f1,20
}
# A command on all files of a pattern, however many there are.
of_all() {
	files=$1
	shift
	# shellcheck disable=SC2086
	if command -v xargs >/dev/null 2>&1; then
		printf '%s\0' $files | xargs -0 "$@"
	else
		"$@" $files
	fi 2>/dev/null
}
# Processes that have a file open: of lines of `ls -l`, by "?w" who writes to
# it, by the begin of its path, and by a pattern of the rest.
holders() {
	# A shell reads a pipe byte by byte: it gets what matters alone.
	of_all '/proc/[0-9]*/fd' ls -lR | HB_AT=" -> $2" awk '
		/^\/proc\/.*:$/ { of = $0; next }
		index($0, ENVIRON["HB_AT"]) { print of; print }' |
	while read -r line; do
		case $line in
		/proc/*/fd:) pid=${line#/proc/} pid=${pid%/fd:} ;;
		l$1*" -> $2"$3) echo "$pid" ;;
		esac
	done
}
# Processes of a mark and a folder, wherever their session went: that carry the
# mark, by that name too, write to the log, or were once seen in the run's tree.
marked() {
	{
		of_all '/proc/[0-9]*/environ' \
			grep -lsF -e "HGYM_JOB=$1" -e "$3=$1" | cut -d/ -f3
		top=$(cd "$2" 2>/dev/null && pwd -P) &&
			holders '?w' "$top" '/*out.txt'
		cat "$2/tree" "$2"/*/tree 2>/dev/null | while read -r pid start
		do
			test -d "/proc/$pid" || continue
			case $(stat_of "$pid") in
			?" $start") echo "$pid" ;;
			esac
		done
	} | {
		seen=" "
		while read -r pid; do
			case $seen in *" $pid "*) continue ;; esac
			seen="$seen$pid "
			case $(stat_of "$pid") in
			Z* | "") ;;
			*) echo "$pid" ;;
			esac
		done
	}
}
# Is the batch job there that holds our node, for a bench in that folder?
is_held() {
	test -n "$(holders '' "$(cd "$1" && pwd -P)/orders.$SLURM_JOB_ID" '')"
}
# Is an allocation "17.0 node" over, or being ended?  Slurm knows before it
# ends a process; one whose batch job ended of itself is held no more.
is_over() {
	of=${1%% *} tries=0
	runs="${of%.*} ${of#*.} RUNNING"
	until row=$(squeue -h -j "$SLURM_JOB_ID" \
		-O JobID:30,RestartCnt:30,State:30); do
		# After 3 to 10 minutes, an answer may take 20 s, who holds
		# the node knows: what Slurm meant to end is gone by then.
		is_held "$2" || return 0
		tries=$((tries + 1))
		test $tries -lt 20 || return 1
		sleep $tries
	done
	test "$(echo $row)" != "$runs" || ! is_held "$2"
}
HB_MARKED
}

# What stamps the bytes of a log with the steady clock, from beside the run: it
# looks at the log's size 50 times a second, so nothing that becomes of it can
# hold the run up.  What it saw it keeps to itself, where the run cannot reach
# it, until the run and all that it left are gone; then come lines "bytes ns
# ns": so much was there, and was not there yet.  None where the log was cut, or
# what was seen of it was written anew.
write_stamp() {
	cat >"$1/stamp.py" <<'HB_STAMP'
import binascii
import itertools
import os
import time

KEPT, CHECKED, BLOCK = 20000, 1 << 26, 1 << 20
parent, clock = os.getppid(), time.monotonic_ns
log = os.open("out.txt", os.O_RDONLY)
with open("/proc/uptime") as uptime:
    head = "# up %s ns %d\n" % (uptime.read().split()[0], clock())
stamps, at, checked, crc, before, whole = [], 0, 0, 0, 0, True


def checksum(begin, end, crc):
    while begin < end:
        block = os.pread(log, min(BLOCK, end - begin), begin)
        if not block:
            break
        crc = binascii.crc32(block, crc)
        begin += len(block)
    return crc


for look in itertools.count():
    last = look % 5 == 0 and (os.path.exists("over") or
                              os.getppid() != parent)
    asked = clock()
    size = os.fstat(log).st_size
    if size > at:
        stamps.append((size, clock(), before))
        upto = min(size, CHECKED)
        crc, checked, at = checksum(checked, upto, crc), upto, size
        if len(stamps) > KEPT:
            stamps = [b[:2] + a[2:] for a, b in zip(stamps[::2], stamps[1::2])
                      ] + stamps[len(stamps) // 2 * 2:]
    whole = whole and size == at
    before = asked
    if last:
        break
    time.sleep(0.02)
whole = whole and checksum(0, checked, 0) == crc
with open("stamps.t", "w") as out:
    out.write(head)
    out.writelines("%d %d %d\n" % stamp for stamp in stamps if whole)
os.rename("stamps.t", "stamps")
HB_STAMP
}

# What has the shell of a run take in all that loses its parents in it, as init
# does elsewhere (PR_SET_CHILD_SUBREAPER): nothing leaves it unseen.
write_adopt() {
	cat >"$1/adopt.py" <<'HB_ADOPT'
import ctypes
import os
import signal
import sys

rc = ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
if rc == 0 and len(sys.argv) > 1:
    os.execvp(sys.argv[1], sys.argv[1:])
sys.exit(rc != 0)
HB_ADOPT
}

write_run() {
	cat >"$1/run.sh" <<'HB_RUN'
if test $# -eq 0 && python3 -I -S adopt.py >/dev/null 2>&1; then
	exec python3 -I -S adopt.py sh ./run.sh adopts
fi
trap : TERM INT
trap '' HUP
adopts=${1-}
stat_rest=$(sed 's/.*) //' /proc/$$/stat)
set -- $stat_rest
group=$3 began=${20}
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none)
ns=$(readlink /proc/self/ns/pid 2>/dev/null || echo none)
hashes() {
	test -s judged || return 0
	while IFS= read -r file; do
		(cd "$HB_CWD" && sha256sum "$file" 2>&1)
	done <judged
}
. ./work.sh
(sources "$HB_CWD") >work
hashes >hash.before
t0=$(date +%s) up0=$(cut -d' ' -f1 /proc/uptime)
if ! { echo "$$ $group $began $boot $ns" >pid.t && mv pid.t pid; }; then
	: >full
	exit
fi
echo "# cores $(getconf _NPROCESSORS_ONLN) up $up0 date $(
	date '+%Y/%m/%d %H:%M:%S.%N')" >host.csv
# Is it a program on a GPU, and none of this run?
is_foreign() {
	test -d "/proc/$1" || return 1
	grep -qsF "HGYM_JOB=$HB_MARK" "/proc/$1/environ" && return 1
	if test -r "/proc/$1/environ"; then
		ls -l "/proc/$1/fd" 2>/dev/null | grep -q '/dev/nvidia'
	else # a pid of ours only where there is one namespace, the first
		test "$ns" = "pid:[4026531836]"
	fi
}
watch_others() {
	known=" "
	while read -r pid; do
		case $pid in "" | *[!0-9]*) continue ;; esac
		case $known in *" $pid "*) continue ;; esac
		known="$known$pid "
		is_foreign "$pid" && echo "! foreign $pid" >>host.csv
	done
}
# What only watches must not hold the locks a moment longer than the run: the
# descriptors of flock are closed in it, as far as a sh can name them.
if test -n "$HB_GPUS" && command -v nvidia-smi >/dev/null 2>&1; then
	reasons=clocks_event_reasons.active
	nvidia-smi --id="$HB_GPUS" --query-gpu=$reasons --format=csv \
		</dev/null >/dev/null 2>&1 ||
		reasons=clocks_throttle_reasons.active
	columns=timestamp,index,clocks.sm,clocks.mem,temperature.gpu
	columns=$columns,power.draw,utilization.gpu,$reasons
	nvidia-smi --id="$HB_GPUS" --query-gpu="$columns" \
		--format=csv,noheader,nounits -lms 1000 \
		</dev/null >gpu.csv 2>/dev/null \
		3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	test "$HB_FOREIGN" != refuse || {
		nvidia-smi --id="$HB_GPUS" --query-compute-apps=pid \
			--format=csv,noheader -lms 5000 </dev/null 2>/dev/null |
			watch_others
	} 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
fi
# Those of the run that were not seen before, for who ends it: one may leave
# its session, and take nothing of ours along.
note_tree() {
	kids=
	test -z "$adopts" || read -r kids </proc/$$/task/$$/children
	for pid in $kids; do # who watches is of our group
		read -r stat 2>/dev/null <"/proc/$pid/stat" || continue
		set -- ${stat##*) }
		test "$3" = "$group" || tree="$tree $pid"
	done
	for pid in $tree; do
		case $noted in *" $pid "*) continue ;; esac
		test "${#noted}" -lt 65536 || return
		noted="$noted$pid "
		read -r stat 2>/dev/null <"/proc/$pid/stat" || continue
		set -- ${stat##*) }
		echo "$pid ${20}" >>tree
	done
}
# One line of the host, mostly by what the shell itself can read: steady
# clock, bytes of the log, load, busy and stolen CPU time, time that the main
# threads of the run waited for a CPU, time that the container's quota held it.
sample_host() {
	read -r up _ </proc/uptime
	bytes=
	while read -r key value; do
		case $key in pos:) bytes=$value ;; esac
	done 2>/dev/null <"/proc/$child/fdinfo/1"
	read -r load _ </proc/loadavg
	read -r _ user nice system _ _ irq soft steal _ </proc/stat
	busy=$((user + nice + system + irq + soft + ${steal:-0}))
	wait_ns=0 level=$child deep=0 tree=
	while test -n "$level" && test $deep -lt 8; do
		below=
		for pid in $level; do
			ns_waited=
			read -r _ ns_waited _ 2>/dev/null \
				<"/proc/$pid/schedstat"
			wait_ns=$((wait_ns + ${ns_waited:-0}))
			kids=
			read -r kids 2>/dev/null \
				<"/proc/$pid/task/$pid/children"
			below="$below $kids"
		done
		tree="$tree $level"
		level=${below# } deep=$((deep + 1))
		case $level in *[0-9]*) ;; *) level= ;; esac
	done
	test "$wait_ns" -gt 0 || wait_ns=
	held=
	for file in /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat; do
		test -r $file || continue
		while read -r key value; do
			case $key in
			throttled_usec) held=$value ;;
			throttled_time) held=$((value / 1000)) ;;
			esac
		done <$file
		break
	done
	echo "$up,$bytes,$load,$busy,${steal:-},$wait_ns,$held"
}
# Which python runs, and whose torch it has mapped: looked at beside the host
# until torch is there, half a minute at most; a run imports before it trains.
look_at_runtime() {
	looks=$((looks + 1)) python= site=
	for pid in $tree; do
		exe=$(readlink "/proc/$pid/exe" 2>/dev/null)
		case ${exe##*/} in python* | pypy*) ;; *) continue ;; esac
		python=$exe
		line=$(grep -m 1 -F -e -packages/torch/ "/proc/$pid/maps" \
			2>/dev/null)
		test -n "$line" || continue
		site=/${line#*/}
		site=${site%"${site#*-packages/torch/}"}
		break
	done
	test -z "$python" || printf '%s\n%s\n' "$python" "$site" >seen
	test -z "$site" || looks=30
}
# "torch 2.9.1" of the packages that were seen, by the names of their folders.
runtime() {
	test -s seen || return 0
	{ read -r python && read -r site; } <seen
	echo "python $python"
	test -n "$site" || return 0
	for name in torch triton flash_attn numpy; do
		for at in "${site%torch/}$name"-*.dist-info \
			"${site%torch/}$name"-*.egg-info; do
			test -e "$at" || continue
			at=${at##*/}
			at=${at#"$name"-}
			echo "$name ${at%.*-info}"
		done
	done
}
: >out.txt
stamper=
if command -v python3 >/dev/null 2>&1; then
	echo "! stamps" >>host.csv
	(
		trap '' TERM INT
		exec python3 -I -S stamp.py
	) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	stamper=$!
fi
HGYM_JOB=$HB_MARK sh ./cmd.sh </dev/null >out.txt 2>&1 &
child=$!
(
	looks=0 noted=" "
	while :; do
		sample_host >>host.csv
		note_tree
		test $looks -ge 30 || look_at_runtime
		sleep 1
	done
) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
watchers=$!
# What the run is told it may pass over.
end_run() {
	trap : TERM
	kill -TERM 0
	sleep 10
	kill -KILL "$child"
}
(
	# Whoever tells the whole job to end may reach it before this shell.
	sleep "$HB_TIMEOUT" || exit
	: >timedout
	end_run
) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
watchers="$watchers $!"
# It may not outlive the batch job that holds the node.
test -z "${HB_HOLDER:-}" || {
	(
		while kill -0 "$HB_HOLDER" 2>/dev/null; do sleep 1; done
		end_run
	) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	watchers="$watchers $!"
}
while :; do
	wait "$child"
	rc=$?
	kill -0 "$child" 2>/dev/null || break
done
t1=$(date +%s) up1=$(cut -d' ' -f1 /proc/uptime)
# What follows is no part of the run's time.  One that was made just now may
# still have our own trap, and pass over a TERM.
kill -KILL $watchers 2>/dev/null
sample_host >>host.csv
# A run that Slurm takes the node from is no failure, and no number.
moved=
test ! -f alloc || test -f cut || test -f timedout ||
	! is_over "$(cat alloc)" .. || moved=moved
hashes >hash.after
runtime >runtime
# Who takes in what loses its parents, as it does one of ours.
test -n "$adopts" ||
	set -- $(sed 's/.*) //' "/proc/$(sleep 9 >/dev/null & echo $!)/stat")
adopter=${2-}
trap '' TERM
kill -TERM 0
# In $orphans: processes of that parent that began no earlier than the run, but
# none of that group.  A name may have line ends in it.
find_orphans() {
	orphans=
	for file in $(of_all '/proc/[0-9]*/stat' grep -lsE "\) [^Z] $1 "); do
		stat=
		while read -r line; do stat=$line; done 2>/dev/null <"$file"
		set -- "$1" "$2" ${stat##*) }
		test "$4" = "$1" && test "$3" != Z && test "$5" != "$2" &&
			test "${22}" -ge "$began" || continue
		file=${file#/proc/} pid=${file%/stat}
		test "$pid" = "$stamper" || orphans="$orphans $pid"
	done
}
# What the run leaves behind: its pid, start and name.
tell_left() {
	for pid in "$@"; do
		stat=$(stat_of "$pid")
		case $stat in Z* | "") continue ;; esac
		grep -q "^! left $pid " host.csv && continue
		test -z "$adopts" || echo "$pid ${stat#? }" >>tree
		echo "! left $pid ${stat#? } $(tr -cd '[:alnum:]_.+-' \
			<"/proc/$pid/comm")" >>host.csv
	done
}
# Workers that left the group still hold the GPU: they end with the run.
tries=0 orphans=
while :; do
	left=$(marked "$HB_MARK" . HGYM_JOB)
	test -z "$adopts" || find_orphans $$ none
	left="$left$orphans"
	test -n "$left" || break
	tries=$((tries + 1))
	test $tries -le 3 || kill -KILL $left 2>/dev/null
	test $tries -le 20 || break
	sleep 0.5
done
tell_left $left
# Where this shell takes in nothing it can tell of what its parents' does: it
# may be somebody else's.
if test -z "$adopts"; then
	find_orphans "$adopter" "$group"
	for pid in $orphans; do
		test ! -O "/proc/$pid" || tell_left "$pid"
	done
fi
# Now nothing is left that could write what the stamps say.
rm -rf stamps stamps.t over
: >over
tries=0
until test -z "$stamper" || test -f stamps || test $tries -ge 100; do
	tries=$((tries + 1))
	case $(stat_of "$stamper") in Z* | "") break ;; esac
	sleep 0.1
done
test -z "$stamper" || kill -KILL "$stamper" 2>/dev/null
test -f timedout && rc=124
echo "$rc $t0 $t1 $up0 $up1 $moved" >exit.t && mv exit.t exit
HB_RUN
}

# What the sources of a folder are: commit and the hash of what differs from
# it and of what git does not know; without git, the hash of the sources.  Those
# that lie in it or in a folder of it: others may be what a run writes.  Nothing
# is said of a folder that everybody writes to.
write_work() {
	cat <<'HB_WORK'
hash_sources() {
	grep -E '^(\./)?([^/]+/)?[^/]+\.(py|sh|cu|cuh|c|cpp|h)$' |
		LC_ALL=C sort | head -n 2000 | while IFS= read -r file; do
		sha256sum "$file"
	done
}
sources() {
	cd "$1" 2>/dev/null || return
	case $(pwd -P) in / | /tmp | /var/tmp | "$HOME") return ;; esac
	if commit=$(git rev-parse HEAD 2>/dev/null); then
		changed=$({
			GIT_OPTIONAL_LOCKS=0 git diff HEAD -- .
			git ls-files -o --exclude-standard | hash_sources
		} 2>/dev/null | sha256sum)
	else
		commit=none
		changed=$(find . -maxdepth 2 -type f -size -2000 2>/dev/null |
			hash_sources | sha256sum)
	fi
	echo "$commit $changed" | cut -d' ' -f1,2
}
HB_WORK
}
