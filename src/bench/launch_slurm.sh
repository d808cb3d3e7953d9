# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2153
# A bench in an allocation of Slurm, for `sh -s` on a login node.  Before it
# stand HB_ROOT, HB_BENCH, HB_POD, HB_TEXT (variables and launch.sh, for the
# node), HB_CALL (what of it), HB_ASK (whether the allocation is looked for
# first), HB_ENDS (it needs none) and submit, which hands a script to sbatch.
#
# The allocation is one batch job, which holds its node until it is cancelled
# and begins the runs (op_hold).  Each call is a step of it.
HB_TOP=$HB_ROOT/$HB_BENCH
HB_NAME=$HB_BENCH-$HB_POD
HB_FILE=$HB_TOP/slurm.$HB_POD # the number of the job

say() { printf 'HB1 %s\n' "$*"; }

wait_for() {
	say "queued $*"
	exit 0
}

# Its number, state and the reason of that; of several the one that runs.
find_job() {
	id='' state='' why=''
	rows=$(squeue -h -u "$(id -un)" -n "$HB_NAME" -o '%i %T %r' \
		2>/dev/null) || wait_for "Slurm gives no answer"
	while read -r its_id its_state its_why; do
		test "$state" != RUNNING || break
		id=$its_id state=$its_state why=$its_why
	done <<ROWS
$rows
ROWS
}

begin_job() {
	mkdir -p "$HB_TOP" || { say "error cannot make $HB_TOP"; exit 0; }
	# It ends when it is told to, or cannot hold a node at all.
	last=$(cat "$HB_FILE.last" 2>/dev/null) && rm -f "$HB_FILE.last"
	case $(scontrol show job -o "${last:-none}" 2>/dev/null) in
	*" JobState=FAILED "*)
		say "error job $last of Slurm failed, see $HB_FILE.out"
		exit 0
		;;
	esac
	id=$(printf '#!/bin/sh\n%s\nop_hold\n' "$HB_TEXT" |
		submit --parsable --job-name="$HB_NAME" --nodes=1 --ntasks=1 \
			--requeue --open-mode=append \
			--output="$HB_FILE.out" 2>"$HB_FILE.err") || {
		why=$(tail -n 1 "$HB_FILE.err")
		say "error sbatch: ${why#sbatch: error: }"
		exit 0
	}
	echo "${id%%;*}" >"$HB_FILE.last"
	wait_for "job ${id%%;*} was submitted"
}

# Give the node back; squeue proves it.
op_release() {
	tries=0
	find_job
	while test -n "$id"; do
		test $((tries % 4)) -ne 0 || scancel "$id"
		tries=$((tries + 1))
		test $tries -lt 8 || wait_for "job $id is being cancelled"
		sleep 1
		find_job
	done
	rm -f "$HB_FILE"
	say finished
}

if test "$HB_CALL" = op_release; then
	op_release
	exit
fi
if test "$HB_ASK" = 1 || ! read -r id <"$HB_FILE"; then
	find_job
	case $state in
	RUNNING) echo "$id" >"$HB_FILE" ;;
	COMPLETING) wait_for "job $id is completing" ;;
	*)
		if test "$HB_ENDS" = 1; then
			if test -n "$id" && test "$HB_CALL" = op_clean; then
				say "running job $id of Slurm"
			else # squeue says it: nothing of it runs
				printf '%s\n%s\n' "$HB_TEXT" "$HB_CALL" | sh -s
			fi
			exit
		fi
		test -n "$id" || begin_job
		wait_for "job $id is $(echo "$state" | tr '[:upper:]' \
			'[:lower:]') ($why)"
		;;
	esac
fi
printf '%s\n%s\nsay_up\n' "$HB_TEXT" "$HB_CALL" |
	srun --jobid="$id" --overlap --nodes=1 --ntasks=1 --quiet sh -s
