# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016,SC2086
# The files of a job: functions that write run.sh and its parts.  This file
# comes before launch.sh, whose op_start calls them.

# Run a command in a new session, with a program that the pod has for that.
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

# Locks for pods without flock: a directory with the pid, start time, boot id
# and pid namespace of its owner.  A lock whose owner no longer exists is
# renamed, which only one process can do, and removed.
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
	else # its creator died before it wrote the file
		test -n "$(find "$1" -maxdepth 0 -mmin +1 2>/dev/null)"
	fi
}
take_lock() {
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
	take_lock "$path" || break
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

# Functions that find the processes of a bench: for launch.sh and run.sh.
write_marked() {
	cat <<'HB_MARKED'
# State letter and start time of a process.
stat_of() {
	sed -n '$s/.*) //p' 2>/dev/null "/proc/$1/stat" | cut -d' ' -f1,20
}
# Run a command on all files that match a pattern, however many there are.
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
# Print processes that have a file open: $1 is "?w" for writers, $2 the start of
# the path, $3 a pattern for the rest.
holders() {
	# A shell reads a pipe byte by byte, so awk selects the lines first.
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
# Print the processes of the jobs with mark $1 and folder $2, even if they have
# changed their session: all that have the mark in their environment (as
# HGYM_JOB or as $3), write to the log, or were seen as descendants of the run.
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
# Does the batch job of the bench in folder $1 hold this node?
is_held() {
	test -n "$(holders '' "$(cd "$1" && pwd -P)/orders.$SLURM_JOB_ID" '')"
}
# Has the allocation "17.0 node" ended, or is Slurm ending it?  Slurm changes
# the state before it kills processes.  An allocation whose batch job exited
# has ended, too.
is_over() {
	of=${1%% *} tries=0
	runs="${of%.*} ${of#*.} RUNNING"
	until row=$(squeue -h -j "$SLURM_JOB_ID" \
		-O JobID:30,RestartCnt:30,State:30); do
		# Give up after 3 to 10 minutes; one answer may take 20 s.
		# By then Slurm has killed the batch job, if it was going to.
		is_held "$2" || return 0
		tries=$((tries + 1))
		test $tries -lt 20 || return 1
		sleep $tries
	done
	test "$(echo $row)" != "$runs" || ! is_held "$2"
}
HB_MARKED
}

# stamp.py records when the bytes of the log were written.  It runs next to the
# run, polls the size of the log 50 times per second, and so cannot delay the
# run.  It keeps the times in memory, where the run cannot change them, until
# all processes of the run are gone.  Then it writes lines "bytes ns ns": at the
# first time the log had this size, at the second it was still smaller.  It
# writes none if the log was truncated or its content replaced.
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

# adopt.py makes the shell of the run the parent of orphaned descendants
# (PR_SET_CHILD_SUBREAPER), so that no process can leave the run unnoticed.
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
# Print size, time and inode of the files in folders, or of files.
describe() {
	find -H "$@" -type f -exec stat -Lc '%s,%Y,%i  %n' {} + | head -n 20000
}
# Describe the files that the control reads: its data, and the files that its
# command names, the small ones by their hash.
inputs() {
	job=$PWD
	cd "$HB_CWD" || return
	while IFS= read -r path; do describe "$path"; done <"$job/data"
	while IFS= read -r path; do
		test -f "$path" || continue
		test -n "$(find -H "$path" -size -2000)" &&
			sha256sum "$path" || describe "$path"
	done <"$job/named"
}
# Hash the files that programs of all arms read when they start, and the
# settings in a folder that all arms use.  If each arm has its own copy of that
# folder, describe the copies of the other arms.
shared() {
	python=$(command -v python3 || command -v python)
	for site in "$HOME"/.local "$HB_CWD"/.venv "$HB_CWD"/venv \
		"${VIRTUAL_ENV:-/none}" "${CONDA_PREFIX:-/none}" \
		"${python%/bin/*}" /usr/local; do
		sha256sum "$site"/lib/python*/*-packages/*custom*.py \
			"$site"/lib/python*/*-packages/*.pth
	done
	cd && sha256sum .bashrc .bash_profile .bash_login .profile .zshenv
	here=$(cd "$HB_CWD" && pwd -P)
	case $here in "$(dirname "$1")"/src.*)
		for copy in "$(dirname "$1")"/src.*; do
			test "$copy" = "$here" || describe "$copy"
		done
		return
		;;
	esac
	cd "$here" && find . -maxdepth 1 -type f -size -2000 \( \
		-name '*config*.*' -o -name '*settings*.*' \) \
		-exec sha256sum {} +
}
. ./work.sh
(sources "$HB_CWD") >work
hashes >hash.before
(shared "$(pwd -P)") 2>/dev/null | sort -u >shared.before
(inputs) 2>/dev/null | sort -u >inputs.before
t0=$(date +%s) up0=$(cut -d' ' -f1 /proc/uptime)
if ! { echo "$$ $group $began $boot $ns" >pid.t && mv pid.t pid; }; then
	: >full
	exit
fi
echo "# cores $(getconf _NPROCESSORS_ONLN) up $up0 date $(
	date '+%Y/%m/%d %H:%M:%S.%N')" >host.csv
# Does this process use a GPU without being part of the run?
is_foreign() {
	test -d "/proc/$1" || return 1
	grep -qsF "HGYM_JOB=$HB_MARK" "/proc/$1/environ" && return 1
	if test -r "/proc/$1/environ"; then
		ls -l "/proc/$1/fd" 2>/dev/null | grep -q '/dev/nvidia'
	else # the pid is valid only in the first pid namespace
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
# Processes that only watch must not keep the locks after the run: they close
# the descriptors of flock, as far as a sh can name them.
if test -n "$HB_GPUS" && command -v nvidia-smi >/dev/null 2>&1; then
	reasons=clocks_event_reasons.active
	nvidia-smi --id="$HB_GPUS" --query-gpu=$reasons --format=csv \
		</dev/null >/dev/null 2>&1 ||
		reasons=clocks_throttle_reasons.active
	columns=timestamp,index,clocks.sm,clocks.mem,temperature.gpu
	columns=$columns,power.draw,utilization.gpu,$reasons,uuid,power.limit
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
# Record the new processes of the run, so that op_abort finds them even if they
# change their session and their environment.
record_tree() {
	kids=
	test -z "$adopts" || read -r kids </proc/$$/task/$$/children
	for pid in $kids; do # the watchers are in the same group
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
# One row of host.csv, read mostly by the shell itself: steady clock, bytes of
# the log, load, busy and stolen CPU time, time that the main threads of the run
# waited for a CPU, time that the container's quota throttled them.
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
# Find the python of the run and the torch that it has mapped.  Called after
# each sample_host until torch is found, for half a minute at most: a run imports
# torch before it trains.
find_runtime() {
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
# Print "torch 2.9.1" for each package found, from the name of its folder.
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
# Print "gpu_uuid GPU-1,GPU-2" and "power_limit 700.00" from the samples, except
# with Slurm, which may give each allocation other GPUs.
gpus() {
	test -s gpu.csv && test ! -f alloc || return 0
	for column in 9:gpu_uuid 10:power_limit; do
		all=$(cut -d, -s -f"${column%:*}" gpu.csv | tr -d ' ' | sort -u |
			tr '\n' ,)
		test "${#all}" -le 90 || all=$(echo "$all" | sha256sum | cut -c1-40)
		test -z "${all%,}" || echo "${column#*:} ${all%,}"
	done
}
: >out.txt
# The preparation is not part of the run: its output is not in the log and its
# time does not count.  If it fails, the run has status 125.
if test -f prepare.sh; then
	HGYM_JOB=$HB_MARK sh ./prepare.sh </dev/null >/dev/null 2>prepare.err &
	child=$!
	(
		sleep "$HB_TIMEOUT" || exit
		kill -KILL "$child"
	) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	limit=$!
	wait "$child" || printf 'cat prepare.err\nexit 125\n' >cmd.sh
	kill -KILL "$limit" 2>/dev/null
fi
stamper=
if command -v python3 >/dev/null 2>&1; then
	echo "! stamps" >>host.csv
	(
		trap '' TERM INT
		exec python3 -I -S stamp.py
	) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	stamper=$!
fi
t0=$(date +%s)
read -r up0 _ </proc/uptime
HGYM_JOB=$HB_MARK sh ./cmd.sh </dev/null >out.txt 2>&1 &
child=$!
(
	looks=0 noted=" "
	while :; do
		sample_host >>host.csv
		record_tree
		test $looks -ge 30 || find_runtime
		sleep 1
	done
) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
watchers=$!
# Stop the run; it may ignore the first signal.
end_run() {
	trap : TERM
	kill -TERM 0
	sleep 10
	kill -KILL "$child"
}
(
	# A signal to the whole group may end the sleep before this shell.
	sleep "$HB_TIMEOUT" || exit
	: >timedout
	end_run
) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
watchers="$watchers $!"
# The run must not outlive the batch job that holds the node.
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
read -r up1 _ </proc/uptime
t1=$(date +%s)
# The time of the run ends here.  KILL, because a watcher that has just been
# forked still has the traps of this shell and would ignore TERM.
kill -KILL $watchers 2>/dev/null
sample_host >>host.csv
# Processes that still work now may do a part of the run outside its time.  Those
# that end together with the run are gone at the second look.
unfinished=$(marked "$HB_MARK" . HGYM_JOB)
test -z "$unfinished" || sleep 0.2
for pid in $unfinished; do
	case $(stat_of "$pid") in
	Z* | "") ;;
	*) echo "! unfinished" >>host.csv ;;
	esac
done
# A run has not failed if Slurm took its node away, but it has no result.
moved=
test ! -f alloc || test -f cut || test -f timedout ||
	! is_over "$(cat alloc)" .. || moved=moved
hashes >hash.after
(shared "$(pwd -P)") 2>/dev/null | sort -u >shared.after
(inputs) 2>/dev/null | sort -u >inputs.after
# Of a large folder, new files may have displaced others from the list.
sort inputs.before inputs.after inputs.after | uniq -u | sed 's/^[^ ]*  //' |
	tr '\n' '\0' | (cd "$HB_CWD" && xargs -0 stat -Lc '%s,%Y,%i  %n') \
	>>inputs.after 2>/dev/null
# At the same time, other pods of this host may run their arms in the same copies.
theirs='^$'
for other in ../*/pid; do
	other=${other%/pid}
	test "$other" = "../${PWD##*/}" || {
		test -f "$other/exit" &&
			test -z "$(find "$other/exit" -newer work)"
	} || theirs='/src\.'
done
# A new file is not an input that the run changed, but one that it writes.
for list in written changed; do
	{
		sort shared.before shared.after | uniq -u | grep -v "$theirs"
		sort inputs.before inputs.after ${again-} | uniq -u
	} | sed 's/^[^ ]*  //' | sort -u >$list
	again=inputs.after
done
for list in before before after; do
	sed 's/^[^ ]*  //' inputs.$list | sort -u
done | sort | uniq -u >made
{
	runtime
	gpus
	test ! -s ../editable || echo "editable $(cat ../editable)"
} >runtime
# Create an orphan to find the process that adopts orphans.
test -n "$adopts" ||
	set -- $(sed 's/.*) //' "/proc/$(sleep 9 >/dev/null & echo $!)/stat")
adopter=${2-}
trap '' TERM
kill -TERM 0
# Set $orphans to the children of $1 that started no earlier than the run,
# without the process group $2.  A process name may contain newlines.
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
# Report processes that the run left behind: pid, start time and name.
report_left() {
	for pid in "$@"; do
		stat=$(stat_of "$pid")
		case $stat in Z* | "") continue ;; esac
		grep -q "^! left $pid " host.csv && continue
		test -z "$adopts" || echo "$pid ${stat#? }" >>tree
		echo "! left $pid ${stat#? } $(tr -cd '[:alnum:]_.+-' \
			<"/proc/$pid/comm")" >>host.csv
	done
}
# Workers that left the process group would keep the GPU: kill them.
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
report_left $left
# If this shell cannot adopt orphans, report those that another process adopted.
# They may belong to another program, so do not kill them.
if test -z "$adopts"; then
	find_orphans "$adopter" "$group"
	for pid in $orphans; do
		test ! -O "/proc/$pid" || report_left "$pid"
	done
fi
# Now no process is left that could forge the stamps.
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

# Describe the sources in a folder: the commit, and a hash of the differences
# and of untracked sources; without git, a hash of all sources.  Only the folder
# and its direct subfolders count, as deeper files may be output of runs.
# Shared folders such as /tmp are not described.
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
