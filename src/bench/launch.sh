# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2015,SC2153
# The part of a bench that runs on a pod, for `sh -s`.  hgym-tui puts HB_*
# variables and launch_job.sh before it, and the call of one op_ function after
# it.  POSIX sh; uses flock and setsid if the pod has them.
#
# It writes only to $HB_ROOT/$HB_BENCH and to the lock files.  Each job has a
# directory there: cmd.sh, run.sh, pid (pid, group, start time, boot id, pid
# namespace), out.txt, host.csv and gpu.csv (telemetry), stamps (when the bytes
# of out.txt were written), exit (status and times).  Answers are lines
# "HB1 ...".
LC_ALL=C
export LC_ALL
umask 077
HB_TOP=$HB_ROOT/$HB_BENCH

reply() { printf 'HB1 %s\n' "$*"; }

# The pod's steady clock, which hgym-tui compares with its own.
reply_clock() {
	read -r up _ </proc/uptime && reply "up $up"
}

boot_id() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none; }
pid_ns() { readlink /proc/self/ns/pid 2>/dev/null || echo none; }

eval "$(write_marked)"

# Is the process of a pid file alive?  A later process may have its pid.
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
		elif test -f "$1/exit"; then # it has just ended
			echo "done $(cat "$1/exit")"
		else
			echo lost
		fi
	elif test -f "$1/full"; then
		echo full
	elif test -d "$1" && test -n "$(job_left)"; then # it is starting
		echo running
	elif test -d "$1"; then
		echo lost
	else
		echo none
	fi
}

# Processes of a job, or of all jobs, including those that watch it.
job_left() { marked "$HB_TOP/$HB_JOB;" "$HB_TOP/$HB_JOB" HB_MARK; }
all_left() { marked "$HB_TOP/" "$HB_TOP" HB_MARK; }

kill_all() {
	# shellcheck disable=SC2086
	test -z "$1" || kill -KILL $1 2>/dev/null
}

# Wait up to 5 s until no process of the bench is left; $left has the others.
await_end() {
	tries=0
	while left=$(all_left) && test -n "$left" && test $tries -lt 50; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# Print pids with their names: " 123 (python3) 124 (sh)".
name_processes() {
	for pid in $1; do
		printf ' %s (%s)' "$pid" "$(cat "/proc/$pid/comm" 2>/dev/null |
			tr -cd '[:print:]' | head -c 32)"
	done
}

# Can a job be started on this disk?  If not, reply with the reason.
has_space() {
	why=$({ mkdir -p "$HB_TOP" &&
		head -c 65536 /dev/zero >"$HB_TOP/room"; } 2>&1)
	rm -f "$HB_TOP/room"
	case $why in
	"") return 0 ;;
	*"No space left"* | *"quota exceeded"*) reply state full ;;
	*) reply "error cannot write to $HB_TOP: ${why##*: }" ;;
	esac
	return 1
}

lock_path() { echo "$HB_LOCK_DIR/hgym.gpu.$1.lock"; }

# Refuse locks that are symbolic links.  hgym-tui creates none, and the link of
# another user would create or lock a file elsewhere.
check_locks() {
	for name in $HB_LOCKS; do
		path=$(lock_path "$name")
		for link in "$path" "$path.d"; do
			test ! -L "$link" && continue
			reply "error lock $link is a symbolic link; remove it"
			return 1
		done
	done
}

# Remove the locks that no process holds.
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

# Print the pids of programs on the GPUs of this bench.
find_foreign() {
	test -n "$HB_GPUS" && command -v nvidia-smi >/dev/null 2>&1 || return
	nvidia-smi --id="$HB_GPUS" --query-compute-apps=pid \
		--format=csv,noheader </dev/null 2>/dev/null |
		tr -cd '0-9\n' | grep . | tr '\n' ' '
}

# Print "GPU 0 is at 37 %, 20480 MiB used" if a GPU of this bench is in use,
# perhaps by a program of another container, which has no pid here.
find_busy_gpu() {
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

# In the batch job of an allocation: hold its node, and start the runs that its
# steps ask for.  A run that is part of a step would end with the step.
op_hold() {
	exec >/dev/null
	alloc="$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0} $(uname -n)"
	orders=$HB_TOP/orders.$SLURM_JOB_ID
	rm -f "$orders" && mkfifo -m 600 "$orders" && exec 3<>"$orders" ||
		exit 1
	while read -r name <&3; do
		(
			# shellcheck source=/dev/null
			cd "$HB_TOP/$name" && . ./begin.sh || exit
			echo "$alloc" >alloc
			export HB_HOLDER=$$
			new_session sh -c "$chain" >err.txt 2>&1
		) </dev/null 3>&- &
	done
}

# Ask the batch job to start this run.
order_job() {
	tries=0
	until is_held "$HB_TOP"; do
		tries=$((tries + 1))
		test $tries -lt 3000 || {
			reply "error Slurm job $SLURM_JOB_ID has no node"
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
			reply "error Slurm job $SLURM_JOB_ID did not start the run"
			return
		}
		sleep 0.1
	done
}

# Wait up to $1 seconds for the end of a job, unless it has much new output.
# One long query disturbs the timed program less than several short ones.
wait_for_end() {
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

# Start a job, or reply with the state of an existing job of this name.
op_start() {
	job=$HB_TOP/$HB_JOB
	if test -d "$job"; then
		reply exists
		op_state
		return
	fi
	has_space || return
	# nvidia-smi may list a program for a moment after it has ended.
	tries=0
	while test "$HB_FOREIGN" = refuse; do
		others=$(find_foreign)
		busy=
		test -n "$others" || busy=$(find_busy_gpu)
		test -n "$others$busy" || break
		tries=$((tries + 1))
		if test -n "$others" && test $tries -ge 6; then
			reply "foreign $others"
			return
		elif test $tries -ge 20; then
			reply "error $busy before the run started"
			return
		fi
		sleep 0.5
	done
	test -d "$HB_CWD" || {
		reply "error folder $HB_CWD does not exist"
		return
	}
	check_locks || return
	mkdir "$job" || { reply "error cannot create $job"; return; }
	probe=
	if test -n "${HB_PROBE:-}"; then
		printf '%s' "$HB_PROBE" >"$job/probe.py"
		# shellcheck disable=SC2016
		probe='export HGYM_PROBE="$PWD/probe.py"; '
	fi
	# Each arm has its own temporary files and compiler caches.
	mkdir -p "$HB_TOP/tmp.$HB_TAG"
	# shellcheck disable=SC2016
	caches='at=${HB_MARK%/*}/tmp.'$HB_TAG'; export TMPDIR="$at"
export TRITON_CACHE_DIR="$at/triton" TORCHINDUCTOR_CACHE_DIR="$at/inductor"
export TORCH_EXTENSIONS_DIR="$at/extensions" CUDA_CACHE_PATH="$at/cuda"; unset at
'
	# shellcheck disable=SC2016
	enter='cd "$HB_CWD" || exit 126
unset HB_MARK HB_TIMEOUT HB_GPUS HB_CWD HB_FOREIGN HB_LOCKS HB_LOCK_DIR HB_HOLDER'
	printf '%s\nexec %s\n' "$caches$probe$enter" "$HB_CMD" >"$job/cmd.sh"
	test -z "$HB_PREPARE" || printf '%s\nexec %s\n' "$caches$enter" \
		"$HB_PREPARE" >"$job/prepare.sh"
	printf '%s' "$HB_JUDGED" >"$job/judged"
	printf '%s' "$HB_DATA" >"$job/data"
	printf '%s\n' "$HB_READS" | sed 's/>[>|]* *[^ ;|&)]*//g' |
		tr -s "\"\`'=:;,()<>|& 	" '\n' | sort -u >"$job/named"
	write_adopt "$job"
	write_run "$job"
	write_stamp "$job"
	{ write_work && write_marked; } >"$job/work.sh"
	# The whole path is unique; another user may have started a bench with
	# the same name in the same second.
	HB_MARK="$HB_TOP/$HB_JOB;"
	export HB_MARK HB_TIMEOUT HB_GPUS HB_CWD HB_FOREIGN HB_LOCKS HB_LOCK_DIR
	if command -v flock >/dev/null 2>&1; then
		chain=
		for name in $HB_LOCKS; do
			# Create the file without following a symbolic link.
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
	reply started
	op_state
}

# Write a file of a variant's copy of the working folder.
write_file() {
	mkdir -p "$(dirname "$1")" && printf '%s' "$2" >"$1"
}

# Change a JSON file by a merge patch: null removes a key.
merge_json() {
	python3 -c 'import json, sys
path, more = sys.argv[1:]
base, more = json.load(open(path)), json.loads(more)
base = {k: v for k, v in {**base, **more}.items()
        if more.get(k, 0) is not None}
json.dump(base, open(path, "w"), indent=2, sort_keys=True)' "$1" "$2"
}

# In a kernel_config.json next to a kernel.py: refuse keys that the kernel does
# not read; its benchmark prints them, but they change nothing.  A key is read
# if the source contains it, or "num_warps_" for num_warps_4096, which is the
# rule of HarnessGym's tools.
check_settings() {
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
             ": this variant would run the same code as the control")
' "$kernel" "$2"
}

# Find a file that makes python3 import from the working folder, not the copy.
find_editable() {
	sites=$(python3 -c 'import site
print(*site.getsitepackages(), site.getusersitepackages())' 2>/dev/null)
	for site in $sites "$HB_CWD"/.venv/lib/python*/site-packages \
		"$HB_CWD"/venv/lib/python*/site-packages; do
		grep -lsF -e "$HB_CWD" "$site"/*.pth "$site"/*.egg-link \
			"$site"/__editable__*.py
	done | head -n 1
}
# Copy the working folder and apply the variant's changes (ship_files).
op_ship() {
	copy=$HB_TOP/src.$HB_TAG
	if test -d "$copy"; then
		reply shipped
		return
	fi
	mkdir -p "$HB_TOP" && rm -rf "$copy.t" && mkdir "$copy.t" &&
		cp -a "$HB_CWD/." "$copy.t" || {
		reply "error cannot copy $HB_CWD"
		return
	}
	output=$HB_TOP/ship.txt
	if (cd "$copy.t" && ship_files) >"$output" 2>&1 </dev/null; then
		find_editable >"$HB_TOP/editable"
		mv "$copy.t" "$copy"
		reply shipped
	else
		reply "error cannot apply the changes: $(tail -n 1 "$output")"
	fi
}

# Report a file that all arms read and that a variant's run changed, but not one
# that its own runs have made; preferably one that the control does not write.
# Of the control, report those of its files that any run has changed.  Tabs
# enclose the names of files that the control writes.
reply_shared() {
	own=$HB_TOP/written made=$HB_TOP/made.$HB_TAG
	cat "$job/made" >>"$made"
	: >>"$own"
	if test "$HB_TAG" = "$HB_CONTROL"; then
		cat "$job/written" >>"$own"
		both=$(sort -u "$HB_TOP"/*/changed | grep -xF -f "$own" |
			tr '\n' '\t')
		test -z "$both" || reply "shared 	$both"
		return
	fi
	grep -vxF -f "$made" "$job/changed" >"$job/foreign" || return 0
	file=$(grep -vxF -f "$own" "$job/foreign" | head -n 1)
	reply "shared ${file:-	$(head -n 1 "$job/foreign")	}"
}

# The state of a job, and its output from byte HB_OFFSET on.
op_state() {
	job=$HB_TOP/$HB_JOB
	state=$(job_state "$job")
	reply "state $state"
	case $state in
	busy | full) rm -rf "$job" ;;
	lost)
		kill_all "$(job_left)" # so that they release the locks
		alloc=$(cat "$job/alloc" 2>/dev/null || echo none)
		test -z "${HB_HOLD:-}" || ! is_over "$alloc" "$HB_TOP" ||
			reply "moved $alloc"
		;;
	done*)
		cmp -s "$job/hash.before" "$job/hash.after" ||
			reply "files changed"
		test ! -s "$job/written" || reply_shared
		test ! -s "$job/judged" ||
			reply "hash $(sha256sum <"$job/hash.before")"
		test ! -s "$job/alloc" || reply "alloc $(cat "$job/alloc")"
		case $state in *moved) reply "moved $(cat "$job/alloc")" ;; esac
		test ! -s "$job/work" || reply "work $(cat "$job/work")"
		test ! -s "$job/runtime" || while read -r line; do
			reply "runtime $line"
		done <"$job/runtime"
		;;
	esac
	size=$(wc -c <"$job/out.txt" 2>/dev/null | tr -d ' ')
	reply "size ${size:-0}"
	more=$((${size:-0} - HB_OFFSET))
	test "$more" -le "$HB_MAX" || more=$HB_MAX
	test "$more" -gt 0 || return 0
	reply "data $more"
	tail -c "+$((HB_OFFSET + 1))" "$job/out.txt" | head -c "$more"
	echo
}

# Stop one job; run.sh writes its exit file as usual.
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

# Send the telemetry of a job that has ended.
op_gpu() {
	job=$HB_TOP/$HB_JOB
	for name in host.csv stamps gpu.csv; do
		size=$(wc -c <"$job/$name" 2>/dev/null | tr -d ' ')
		test "${size:-0}" -le "$HB_MAX" || size=$HB_MAX
		case $name in
		gpu.csv) reply "data ${size:-0}" ;;
		*) reply "${name%.csv} ${size:-0}" ;;
		esac
		test "${size:-0}" -eq 0 || head -c "$size" "$job/$name"
		echo
	done
}

# Stop all jobs of the bench, and reply with the processes that are left.
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
	await_end
	reply "left $(echo "$left" | grep -c .)$(name_processes "$left")"
	# Processes that runs reported as left behind; some may not be theirs.
	reply "stray$(name_processes "$(cat "$HB_TOP"/*/host.csv 2>/dev/null |
		grep '^! left ' | while read -r _ _ pid start _; do
		case $(stat_of "$pid") in Z*) ;; ?" $start") echo "$pid" ;; esac
	done)")"
	drop_locks
	for name in $HB_LOCKS; do
		path=$(lock_path "$name")
		test -f "$path" || continue
		reply "held $path$(name_processes "$(holders '' "$path" '')")"
	done
}

# Remove all files of the bench from the pod.
op_clean() {
	for job in "$HB_TOP"/*/; do
		if test -f "$job/pid" && is_alive "${job%/}" &&
			test ! -f "$job/exit"; then
			reply "running $(basename "$job")"
			return
		fi
	done
	await_end
	if test -n "$left"; then
		reply "running$(name_processes "$left")"
		return
	fi
	test -z "$HB_BENCH" || rm -rf "$HB_TOP"
	rmdir "$HB_ROOT" 2>/dev/null
	drop_locks
	if test -d "$HB_TOP"; then reply "error cannot remove $HB_TOP"; else
		reply cleaned
	fi
}

# The bench has ended on this pod: remove its locks, keep its folders.
op_finish() {
	drop_locks
	reply finished
}

# Report if the pod lacks the program of a simple command, or the script that an
# interpreter runs, unless the bench creates them first.
reply_missing() {
	kind=$1 program=$2
	shift 2
	case $kind:$program in
	own:*/*) test -x "$program" ;;
	made:*/*) true ;;
	*) command -v "$program" >/dev/null 2>&1 ;;
	esac || reply "error program $program not found"
	while case ${1-} in -[uOBEsSxe]) true ;; *) false ;; esac do shift; done
	case $kind:${program##*/}:${1-} in
	own:python*:*.py | own:sh:*.sh | own:bash:*.sh)
		test -e "$1" || reply "error file $1 not found in $HB_CWD" ;;
	esac
}

# Describe the pod, and reply with everything that is missing on it.
op_preflight() {
	for tool in sha256sum tail head cmp sed cut grep \
		${HB_HOLD:+mkfifo squeue}; do
		command -v "$tool" >/dev/null 2>&1 ||
			reply "error $tool not found"
	done
	command -v setsid >/dev/null 2>&1 ||
		busybox setsid true 2>/dev/null ||
		command -v python3 >/dev/null 2>&1 ||
		command -v perl >/dev/null 2>&1 ||
		reply "error setsid, busybox, python3, perl: none found"
	test -r /proc/self/stat || reply "error /proc is not mounted"
	command -v python3 >/dev/null 2>&1 ||
		reply "env stamps no python3: times of rows are known" \
			"only to the second"
	test -d "$HB_CWD" || reply "error folder $HB_CWD does not exist"
	(cd "$HB_CWD" && echo "$HB_NEEDS" | sort -u |
		while read -r kind words; do
			# shellcheck disable=SC2086
			test -z "$words" || reply_missing "$kind" $words
		done) 2>/dev/null
	mkdir -p "$HB_TOP" || reply "error cannot create $HB_TOP"
	test -z "$HB_LOCKS" || test -w "$HB_LOCK_DIR" ||
		reply "error cannot create locks in $HB_LOCK_DIR"
	check_locks
	reply "env host $(uname -n)"
	reply "env kernel $(uname -sr)"
	reply "env cores $(getconf _NPROCESSORS_ONLN 2>/dev/null)"
	reply "env load $(cut -d' ' -f1 /proc/loadavg)"
	reply "env disk_free_kb $(df -Pk "$HB_ROOT" | tail -n 1 |
		tr -s ' ' | cut -d' ' -f4)"
	reply "env sources $(eval "$(write_work)"; sources "$HB_CWD")"
	if test -n "$HB_DATA"; then
		reply "env data $(printf '%s' "$HB_DATA" |
			while IFS= read -r path; do
				cd "$HB_CWD" && find -H "$path" -type f 2>&1
			done | LC_ALL=C sort | while IFS= read -r file; do
				cd "$HB_CWD" && sha256sum "$file" 2>&1
			done | sha256sum | cut -d' ' -f1)"
	fi
	reply "env commit $(git -C "$HB_CWD" rev-parse HEAD 2>/dev/null)"
	if command -v nvidia-smi >/dev/null 2>&1; then
		columns=index,name,driver_version,memory.used
		columns=$columns,utilization.gpu,clocks.max.sm,uuid
		nvidia-smi --query-gpu="$columns" \
			--format=csv,noheader </dev/null 2>&1 |
			while read -r line; do reply "env gpu $line"; done
	elif test -n "$HB_GPUS"; then
		reply "error nvidia-smi not found, but the bench needs GPUs"
	fi
	for name in torch triton flash-attn numpy; do
		version=$(python3 -c "import importlib.metadata as m
print(m.version('$name'))" </dev/null 2>/dev/null) &&
			reply "env $name $version"
	done
	reply ready
}
