# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2153
# A bench in a Slurm allocation, for `sh -s` on a login node.  hgym-tui puts
# these before it: HB_ROOT, HB_BENCH, HB_POD, HB_TEXT (the script for the node),
# HB_CALL (the function to call there), HB_ASK (1: look the allocation up
# first), HB_ENDS (1: the call needs no allocation), and submit, which calls
# sbatch.
#
# The allocation is one batch job, which holds its node until it is cancelled
# and starts the runs (op_hold).  Each call is a step of it.
HB_TOP=$HB_ROOT/$HB_BENCH
HB_NAME=$HB_BENCH-$HB_POD
HB_FILE=$HB_TOP/slurm.$HB_POD # contains the number of the job

reply() { printf 'HB1 %s\n' "$*"; }

reply_queued() {
	reply "queued $*"
	exit 0
}

# Set the job's id, state and reason; of several jobs prefer a running one.
find_job() {
	id='' state='' why=''
	rows=$(squeue -h -u "$(id -un)" -n "$HB_NAME" -o '%i %T %r' \
		2>/dev/null) || reply_queued "squeue failed"
	while read -r its_id its_state its_why; do
		test "$state" != RUNNING || break
		id=$its_id state=$its_state why=$its_why
	done <<ROWS
$rows
ROWS
}

submit_job() {
	mkdir -p "$HB_TOP" || { reply "error cannot create $HB_TOP"; exit 0; }
	# A job that failed could not hold its node: a new one would fail, too.
	last=$(cat "$HB_FILE.last" 2>/dev/null) && rm -f "$HB_FILE.last"
	case $(scontrol show job -o "${last:-none}" 2>/dev/null) in
	*" JobState=FAILED "*)
		reply "error Slurm job $last failed, see $HB_FILE.out"
		exit 0
		;;
	esac
	id=$(printf '#!/bin/sh\n%s\nop_hold\n' "$HB_TEXT" |
		submit --parsable --job-name="$HB_NAME" --nodes=1 --ntasks=1 \
			--requeue --open-mode=append \
			--output="$HB_FILE.out" 2>"$HB_FILE.err") || {
		why=$(tail -n 1 "$HB_FILE.err")
		reply "error sbatch: ${why#sbatch: error: }"
		exit 0
	}
	echo "${id%%;*}" >"$HB_FILE.last"
	reply_queued "job ${id%%;*} was submitted"
}

# Cancel the job, and wait until squeue no longer lists it.
op_release() {
	tries=0
	find_job
	while test -n "$id"; do
		test $((tries % 4)) -ne 0 || scancel "$id"
		tries=$((tries + 1))
		test $tries -lt 8 || reply_queued "job $id is being cancelled"
		sleep 1
		find_job
	done
	rm -f "$HB_FILE"
	reply finished
}

if test "$HB_CALL" = op_release; then
	op_release
	exit
fi
if test "$HB_ASK" = 1 || ! read -r id <"$HB_FILE"; then
	find_job
	case $state in
	RUNNING) echo "$id" >"$HB_FILE" ;;
	COMPLETING) reply_queued "job $id is completing" ;;
	*)
		if test "$HB_ENDS" = 1; then
			if test -n "$id" && test "$HB_CALL" = op_clean; then
				reply "running Slurm job $id"
			else # no allocation, so no process to stop
				printf '%s\n%s\n' "$HB_TEXT" "$HB_CALL" | sh -s
			fi
			exit
		fi
		test -n "$id" || submit_job
		reply_queued "job $id is $(echo "$state" | tr '[:upper:]' \
			'[:lower:]') ($why)"
		;;
	esac
fi
printf '%s\n%s\nreply_clock\n' "$HB_TEXT" "$HB_CALL" |
	srun --jobid="$id" --overlap --nodes=1 --ntasks=1 --quiet sh -s
