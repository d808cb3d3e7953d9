# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2015,SC2153
# What a bench runs on a pod, for `sh -s`: HB_* variables stand before it, one
# call of an op_ function behind it.  POSIX sh; flock and setsid where they are.
#
# Nothing but $HB_ROOT/$HB_BENCH and the lock files is written.  A job is a
# directory there: cmd.sh, run.sh, pid (pid, group, start time, boot id, pid
# namespace), out.txt, host.csv and gpu.csv (telemetry), stamps (when which
# bytes of out.txt were written), exit (status and times).  Answers are lines
# "HB1 ...".
LC_ALL=C
export LC_ALL
umask 077
HB_TOP=$HB_ROOT/$HB_BENCH

say() { printf 'HB1 %s\n' "$*"; }

# The pod's steady clock, for ours to be held against.
say_up() {
	read -r up _ </proc/uptime && say "up $up"
}

boot_id() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none; }
pid_ns() { readlink /proc/self/ns/pid 2>/dev/null || echo none; }

eval "$(write_marked)"

# Is the process of a pid file still that very process?
is_alive() {
	read -r pid group start boot ns <"$1/pid" || return 1
	test "$boot" = "$(boot_id)" && test "$ns" = "$(pid_ns)" || return 1
	case $(stat_of "$pid") in
	"Z $start") return 1 ;;
	?" $start") return 0 ;;
	esac
	return 1
}

job_state() {
	if test -f "$1/exit"; then
		echo "done $(cat "$1/exit")"
	elif test -f "$1/busy"; then
		echo busy
	elif test -f "$1/pid"; then
		if is_alive "$1"; then
			echo running
		elif test -f "$1/exit"; then # it ended while we looked
			echo "done $(cat "$1/exit")"
		else
			echo lost
		fi
	elif test -f "$1/full"; then
		echo full
	elif test -d "$1" && test -n "$(job_left)"; then # it is beginning
		echo running
	elif test -d "$1"; then
		echo lost
	else
		echo none
	fi
}

# What runs of a job, or of all, with what watches it.
job_left() { marked "$HB_TOP/$HB_JOB;" "$HB_TOP/$HB_JOB" HB_MARK; }
all_left() { marked "$HB_TOP/" "$HB_TOP" HB_MARK; }

kill_all() {
	# shellcheck disable=SC2086
	test -z "$1" || kill -KILL $1 2>/dev/null
}

# "123 (python3) 124 (sh)"
named() {
	for pid in $1; do
		printf ' %s (%s)' "$pid" "$(cat "/proc/$pid/comm" 2>/dev/null |
			tr -cd '[:print:]' | head -c 32)"
	done
}

# Is there room to begin a job?  Else say what is wrong.
has_room() {
	told=$({ mkdir -p "$HB_TOP" &&
		head -c 65536 /dev/zero >"$HB_TOP/room"; } 2>&1)
	rm -f "$HB_TOP/room"
	case $told in
	"") return 0 ;;
	*"No space left"* | *"quota exceeded"*) say state full ;;
	*) say "error cannot write to $HB_TOP: ${told##*: }" ;;
	esac
	return 1
}

lock_path() { echo "$HB_LOCK_DIR/hgym.gpu.$1.lock"; }

# A link in a lock's place is somebody else's: following it would make or hold
# a file elsewhere.
check_locks() {
	for name in $HB_LOCKS; do
		path=$(lock_path "$name")
		for link in "$path" "$path.d"; do
			test ! -L "$link" && continue
			say "error $link is a link and no lock"
			return 1
		done
	done
}

# Remove the locks that nobody holds.
drop_locks() {
	for name in $HB_LOCKS; do
		path=$(lock_path "$name")
		test -L "$path" && continue
		test -f "$path" && flock -n "$path" rm -f "$path"
		test -d "$path.d" || continue
		write_lock "$HB_TOP" 2>/dev/null || continue
		(
			# shellcheck source=/dev/null
			. "$HB_TOP/lock.sh"
			is_stale "$path.d" && rm -rf "$path.d"
		)
		rm -f "$HB_TOP/lock.sh" "$HB_TOP/locked.sh"
	done
}

# Programs on our GPUs that are not ours.
foreign() {
	test -n "$HB_GPUS" && command -v nvidia-smi >/dev/null 2>&1 || return
	nvidia-smi --id="$HB_GPUS" --query-compute-apps=pid \
		--format=csv,noheader </dev/null 2>/dev/null |
		tr -cd '0-9\n' | grep . | tr '\n' ' '
}

# "GPU 0 is at 37 %, 20480 MiB used": somebody works on our GPUs unseen.
busy_gpu() {
	test -n "$HB_GPUS" && command -v nvidia-smi >/dev/null 2>&1 || return
	nvidia-smi --id="$HB_GPUS" \
		--query-gpu=index,utilization.gpu,memory.used \
		--format=csv,noheader,nounits </dev/null 2>/dev/null |
		tr -d ' ' | while IFS=, read -r index util used _; do
		case $util$used in
		"" | *[!0-9]*) continue ;;
		esac
		test "$util" -gt 5 || test "$used" -gt 1024 || continue
		echo "GPU $index is at $util %, $used MiB used"
		break
	done
}

# In the batch job of an allocation: hold its node, and begin the runs that
# its steps order.  A run of a step would end with it.
op_hold() {
	exec >/dev/null
	told="$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0} $(uname -n)"
	orders=$HB_TOP/orders.$SLURM_JOB_ID
	rm -f "$orders" && mkfifo -m 600 "$orders" && exec 3<>"$orders" ||
		exit 1
	while read -r name <&3; do
		(
			# shellcheck source=/dev/null
			cd "$HB_TOP/$name" && . ./begin.sh || exit
			echo "$told" >alloc
			export HB_HOLDER=$$
			new_session sh -c "$chain" >err.txt 2>&1
		) </dev/null 3>&- &
	done
}

# Have the batch job begin this one.
order_job() {
	tries=0
	until is_held "$HB_TOP"; do
		tries=$((tries + 1))
		test $tries -lt 3000 || {
			say "error job $SLURM_JOB_ID of Slurm holds no node"
			return
		}
		sleep 0.1
	done
	{ export -p | grep ' HB_' && printf "chain='%s'\n" "$1"; } \
		>"$HB_TOP/$HB_JOB/begin.sh"
	echo "$HB_JOB" >"$HB_TOP/orders.$SLURM_JOB_ID"
	until test -f "$HB_TOP/$HB_JOB/alloc" || ! is_held "$HB_TOP"; do
		tries=$((tries + 1))
		test $tries -lt 3000 || {
			rm -f "$HB_TOP/$HB_JOB/begin.sh"
			say "error job $SLURM_JOB_ID of Slurm begins no run"
			return
		}
		sleep 0.1
	done
}

# Let a look last while a job runs and has little to tell, but not longer than
# so many seconds: looks disturb what is timed.
await() {
	naps=$(($1 + 5))
	read -r pid _ <"$HB_TOP/$HB_JOB/pid" 2>/dev/null || return
	test "$(wc -c <"$HB_TOP/$HB_JOB/out.txt")" -le \
		$((HB_OFFSET + HB_MAX)) || return
	while test "$naps" -gt 0 && test ! -f "$HB_TOP/$HB_JOB/exit" &&
		test -d "/proc/$pid"; do
		test "$naps" -gt "$1" && sleep 0.2 || sleep 1
		naps=$((naps - 1))
	done
}

# Start a job, or say what became of the one of that name.
op_start() {
	job=$HB_TOP/$HB_JOB
	if test -d "$job"; then
		say exists
		op_state
		return
	fi
	has_room || return
	# A run that has just ended may be listed a moment longer.
	tries=0
	while test "$HB_FOREIGN" = refuse; do
		others=$(foreign)
		busy=
		test -n "$others" || busy=$(busy_gpu)
		test -n "$others$busy" || break
		tries=$((tries + 1))
		if test -n "$others" && test $tries -ge 6; then
			say "foreign $others"
			return
		elif test $tries -ge 20; then
			say "error $busy before the run began"
			return
		fi
		sleep 0.5
	done
	test -d "$HB_CWD" || { say "error no folder $HB_CWD"; return; }
	check_locks || return
	mkdir "$job" || { say "error cannot make $job"; return; }
	probe=
	if test -n "${HB_PROBE:-}"; then
		printf '%s' "$HB_PROBE" >"$job/probe.py"
		# shellcheck disable=SC2016
		probe='export HGYM_PROBE="$PWD/probe.py"; '
	fi
	# shellcheck disable=SC2016
	printf '%s\n%s\nexec %s\n' "$probe"'cd "$HB_CWD" || exit 126' \
		"unset HB_MARK HB_TIMEOUT HB_GPUS HB_CWD HB_FOREIGN \
HB_LOCKS HB_LOCK_DIR HB_HOLDER" "$HB_CMD" >"$job/cmd.sh"
	printf '%s' "$HB_JUDGED" >"$job/judged"
	write_adopt "$job"
	write_run "$job"
	write_stamp "$job"
	{ write_work && write_marked; } >"$job/work.sh"
	# By its whole path: who else begins a bench of that name in that second
	# has another folder.
	HB_MARK="$HB_TOP/$HB_JOB;"
	export HB_MARK HB_TIMEOUT HB_GPUS HB_CWD HB_FOREIGN HB_LOCKS HB_LOCK_DIR
	if command -v flock >/dev/null 2>&1; then
		chain=
		for name in $HB_LOCKS; do
			# Made by us, or there already: by no link's name.
			(set -C && : >"$(lock_path "$name")") 2>/dev/null
			chain="$chain flock -n $(lock_path "$name")"
		done
		# shellcheck disable=SC2016
		chain="$chain sh ./run.sh
			test -f pid || test -f full || : >busy"
	else
		write_lock "$job"
		chain=". ./locked.sh"
	fi
	if test -n "${HB_HOLD:-}"; then
		order_job "$chain"
	else (
		cd "$job" || exit
		new_session sh -c "$chain" </dev/null >err.txt 2>&1
	) & fi
	tries=0
	until test -f "$job/pid" || test -f "$job/busy" ||
		test -f "$job/full" || test -f "$job/exit" ||
		test $tries -ge 50; do
		tries=$((tries + 1))
		sleep 0.1
	done
	say started
	op_state
}

# Files of a variant's own copy of the working folder.
put() {
	mkdir -p "$(dirname "$1")" && printf '%s' "$2" >"$1"
}

# As a JSON merge patch: what is null there is left out.
overlay() {
	python3 -c 'import json, sys
path, more = sys.argv[1:]
base, more = json.load(open(path)), json.loads(more)
base = {k: v for k, v in {**base, **more}.items()
        if more.get(k, 0) is not None}
json.dump(base, open(path, "w"), indent=2, sort_keys=True)' "$1" "$2"
}

# A kernel_config.json beside a kernel.py: keys that the kernel does not read
# are echoed by its benchmark and change nothing.  As HarnessGym's tools look
# for it: a key of its own, or "num_warps_" for num_warps_4096, in the source.
hooks() {
	kernel=$(dirname "$1")/kernel.py
	test "$(basename "$1")" = kernel_config.json || return 0
	test -f "$kernel" || return 0
	python3 -c 'import json, re, sys
text = open(sys.argv[1]).read()
keys = [k for k, v in json.loads(sys.argv[2]).items()
        if v is not None and k not in text
        and re.sub("[0-9]+$", "", k) not in text]
if keys:
    sys.exit("kernel.py does not read " + ", ".join(keys) +
             ": this variant would be the control once more")
' "$kernel" "$2"
}

# A copy of the working folder with what the variant changes (ship_files).
op_ship() {
	copy=$HB_TOP/src.$HB_TAG
	if test -d "$copy"; then
		say shipped
		return
	fi
	mkdir -p "$HB_TOP" && rm -rf "$copy.t" && mkdir "$copy.t" &&
		cp -a "$HB_CWD/." "$copy.t" || {
		say "error cannot copy $HB_CWD"
		return
	}
	told=$HB_TOP/ship.txt
	if (cd "$copy.t" && ship_files) >"$told" 2>&1 </dev/null; then
		mv "$copy.t" "$copy"
		say shipped
	else
		say "error cannot change the copy: $(tail -n 1 "$told")"
	fi
}

# What became of a job, and the bytes of its log from HB_OFFSET on.
op_state() {
	job=$HB_TOP/$HB_JOB
	state=$(job_state "$job")
	say "state $state"
	case $state in
	busy | full) rm -rf "$job" ;;
	lost)
		kill_all "$(job_left)" # they would keep the locks
		told=$(cat "$job/alloc" 2>/dev/null || echo none)
		test -z "${HB_HOLD:-}" || ! is_over "$told" "$HB_TOP" ||
			say "moved $told"
		;;
	done*)
		cmp -s "$job/hash.before" "$job/hash.after" ||
			say "files changed"
		test ! -s "$job/judged" ||
			say "hash $(sha256sum <"$job/hash.before")"
		test ! -s "$job/alloc" || say "alloc $(cat "$job/alloc")"
		case $state in *moved) say "moved $(cat "$job/alloc")" ;; esac
		test ! -s "$job/work" || say "work $(cat "$job/work")"
		test ! -s "$job/runtime" || while read -r line; do
			say "runtime $line"
		done <"$job/runtime"
		;;
	esac
	size=$(wc -c <"$job/out.txt" 2>/dev/null | tr -d ' ')
	say "size ${size:-0}"
	more=$((${size:-0} - HB_OFFSET))
	test "$more" -le "$HB_MAX" || more=$HB_MAX
	test "$more" -gt 0 || return 0
	say "data $more"
	tail -c "+$((HB_OFFSET + 1))" "$job/out.txt" | head -c "$more"
	echo
}

# End one job; its exit file comes as with any other end.
op_cut() {
	job=$HB_TOP/$HB_JOB
	: >"$job/cut"
	is_alive "$job" && kill -TERM "-$group"
	tries=0
	while is_alive "$job" && test $tries -lt "$((HB_GRACE * 5))"; do
		tries=$((tries + 1))
		sleep 0.2
	done
	is_alive "$job" && kill -KILL "-$group"
	kill_all "$(job_left)"
	op_state
}

# The telemetry of a job that is over.
op_gpu() {
	job=$HB_TOP/$HB_JOB
	for name in host.csv stamps gpu.csv; do
		size=$(wc -c <"$job/$name" 2>/dev/null | tr -d ' ')
		test "${size:-0}" -le "$HB_MAX" || size=$HB_MAX
		case $name in
		gpu.csv) say "data ${size:-0}" ;;
		*) say "${name%.csv} ${size:-0}" ;;
		esac
		test "${size:-0}" -eq 0 || head -c "$size" "$job/$name"
		echo
	done
}

# End every job of the bench and prove that nothing of it is left.
op_abort() {
	for job in "$HB_TOP"/*/; do
		job=${job%/}
		test -f "$job/pid" && is_alive "$job" && kill -TERM "-$group"
	done
	tries=0
	while test $tries -lt "$((HB_GRACE * 5))"; do
		test -n "$(all_left)" || break
		tries=$((tries + 1))
		sleep 0.2
	done
	kill_all "$(all_left)"
	for job in "$HB_TOP"/*/; do
		job=${job%/}
		tries=0
		while test -f "$job/pid" && is_alive "$job" &&
			test $tries -lt 50; do
			tries=$((tries + 1))
			test $tries -ne 40 || kill -KILL "-$group"
			sleep 0.1
		done
	done
	left=$(all_left)
	say "left $(echo "$left" | grep -c .)$(named "$left")"
	# What its runs told of, which may be somebody else's.
	say "stray$(named "$(cat "$HB_TOP"/*/host.csv 2>/dev/null |
		grep '^! left ' | while read -r _ _ pid start _; do
		case $(stat_of "$pid") in Z*) ;; ?" $start") echo "$pid" ;; esac
	done)")"
	drop_locks
	for name in $HB_LOCKS; do
		path=$(lock_path "$name")
		test -f "$path" || continue
		say "held $path$(named "$(holders '' "$path" '')")"
	done
}

# Remove what the bench left here.
op_clean() {
	for job in "$HB_TOP"/*/; do
		if test -f "$job/pid" && is_alive "${job%/}" &&
			test ! -f "$job/exit"; then
			say "running $(basename "$job")"
			return
		fi
	done
	left=$(all_left)
	if test -n "$left"; then
		say "running$(named "$left")"
		return
	fi
	test -z "$HB_BENCH" || rm -rf "$HB_TOP"
	rmdir "$HB_ROOT" 2>/dev/null
	drop_locks
	if test -d "$HB_TOP"; then say "error cannot remove $HB_TOP"; else
		say cleaned
	fi
}

# The end of a pod's part: the locks go, the jobs' folders stay.
op_finish() {
	drop_locks
	say finished
}

# What a command of plain words needs that is not here: its program, and the
# script of an interpreter where nothing makes it first.
say_missing() {
	kind=$1 program=$2
	shift 2
	case $kind:$program in
	own:*/*) test -x "$program" ;;
	made:*/*) true ;;
	*) command -v "$program" >/dev/null 2>&1 ;;
	esac || say "error no program $program here"
	while case ${1-} in -[uOBEsSxe]) true ;; *) false ;; esac do shift; done
	case $kind:${program##*/}:${1-} in
	own:python*:*.py | own:sh:*.sh | own:bash:*.sh)
		test -e "$1" || say "error no file $1 in $HB_CWD" ;;
	esac
}

# What the pod is, and what it lacks.
op_preflight() {
	for tool in sha256sum tail head cmp sed cut grep \
		${HB_HOLD:+mkfifo squeue}; do
		command -v "$tool" >/dev/null 2>&1 || say "error no $tool here"
	done
	command -v setsid >/dev/null 2>&1 ||
		busybox setsid true 2>/dev/null ||
		command -v python3 >/dev/null 2>&1 ||
		command -v perl >/dev/null 2>&1 ||
		say "error no setsid, busybox, python3 or perl here"
	test -r /proc/self/stat || say "error no /proc here"
	command -v python3 >/dev/null 2>&1 ||
		say "env stamps no python3 to stamp rows with: they are" \
			"looked at once a second"
	test -d "$HB_CWD" || say "error no folder $HB_CWD"
	(cd "$HB_CWD" && echo "$HB_NEEDS" | sort -u |
		while read -r kind words; do
			# shellcheck disable=SC2086
			test -z "$words" || say_missing "$kind" $words
		done) 2>/dev/null
	mkdir -p "$HB_TOP" || say "error cannot make $HB_TOP"
	test -z "$HB_LOCKS" || test -w "$HB_LOCK_DIR" ||
		say "error cannot write locks into $HB_LOCK_DIR"
	check_locks
	say "env host $(uname -n)"
	say "env kernel $(uname -sr)"
	say "env cores $(getconf _NPROCESSORS_ONLN 2>/dev/null)"
	say "env load $(cut -d' ' -f1 /proc/loadavg)"
	say "env disk_free_kb $(df -Pk "$HB_ROOT" | tail -n 1 |
		tr -s ' ' | cut -d' ' -f4)"
	say "env sources $(eval "$(write_work)"; sources "$HB_CWD")"
	if test -n "$HB_DATA"; then
		say "env data $(printf '%s' "$HB_DATA" |
			while IFS= read -r path; do
				cd "$HB_CWD" && find -H "$path" -type f 2>&1
			done | LC_ALL=C sort | while IFS= read -r file; do
				cd "$HB_CWD" && sha256sum "$file" 2>&1
			done | sha256sum | cut -d' ' -f1)"
	fi
	say "env commit $(git -C "$HB_CWD" rev-parse HEAD 2>/dev/null)"
	if command -v nvidia-smi >/dev/null 2>&1; then
		columns=index,name,driver_version,memory.used
		columns=$columns,utilization.gpu,clocks.max.sm,uuid
		nvidia-smi --query-gpu="$columns" \
			--format=csv,noheader </dev/null 2>&1 |
			while read -r line; do say "env gpu $line"; done
	elif test -n "$HB_GPUS"; then
		say "error no nvidia-smi here, but GPUs are asked for"
	fi
	for name in torch triton flash-attn numpy; do
		version=$(python3 -c "import importlib.metadata as m
print(m.version('$name'))" </dev/null 2>/dev/null) &&
			say "env $name $version"
	done
	say ready
}
