#!/bin/sh
# SPDX-License-Identifier: MIT
# A training run with a known speed: by its own clock a step takes STEP_MS, plus
# or minus NOISE (a fraction), which is the same for runs of the same name.
# MODE selects a failure.  The run ends once the command WAIT_FOR succeeds; in
# that command, $job is the folder of the run with its telemetry.
n=100
job=$(readlink "/proc/$$/fd/1")
job=${job%/*}

# Wait until a command succeeds, ten minutes at most.
until_true() {
	tries=0
	until eval "$1" 2>/dev/null || test $tries -ge 6000; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

lines_of() { wc -l <"$1"; }
case ${MODE:-} in
crash)
	echo "Traceback (most recent call last):"
	echo "RuntimeError: CUDA error: an illegal memory access"
	exit 3
	;;
hang)
	setsid sleep 300 &
	echo "$!" >"$PIDS.1"
	env -i setsid sleep 300 &
	echo "$!" >"$PIDS.2"
	env -i setsid sleep 300 >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- &
	until_true "grep -q '^$! ' '$job/tree'"
	echo "$!" >"$PIDS.3"
	sleep 300
	;;
guest) # once: another user is on the GPU for a while
	if mkdir "$ONCE" 2>/dev/null; then
		echo "$GUEST" >"$APPS"
		# shellcheck disable=SC2016
		until_true 'grep -q foreign "$job/host.csv"'
		: >"$APPS"
	fi
	;;
edit) # once: the sources are edited while the bench runs
	mkdir "$ONCE" 2>/dev/null && echo "# edited" >>workload.sh
	;;
stall) # the STALL_AT-th process takes six times as long
	mkdir -p "$ONCE"
	turn=0
	until mkdir "$ONCE/$turn" 2>/dev/null; do turn=$((turn + 1)); done
	test "$turn" -ne "$STALL_AT" || STEP_MS=$((STEP_MS * 6))
	;;
esac
awk -v ms="$STEP_MS" -v n="$n" -v noise="${NOISE:-0.002}" -v mode="${MODE:-}" \
	-v name="${HGYM_JOB##*/}" '
# Each awk has its own generator of random numbers; this one is the same in
# all.
function random() {
	seed = (seed * 16807) % 2147483647
	return seed / 2147483647
}
BEGIN {
	seed = 4711
	for (i = 1; i <= length(name); i++)
		seed = (seed * 131 + index("0123456789_.pABCab", \
			substr(name, i, 1)) + 1) % 2147483647
	for (i = 0; i < 9; i++) random()
	level = 1 + noise * (random() + random() + random() + random() - 2) \
		* 1.7
	print "train_batch_tokens:131072 train_seq_len:1024 iterations:" n \
		" warmup_steps:5 max_wallclock_seconds:600.000"
	print "world_size:1 grad_accum_steps:8"
	print "num_heads:" (mode == "heads" ? 16 : 8) " muon_lr:0.04"
	print "seed:42"
	if (mode == "mark") print "[fast-path] enabled"
	for (i = 1; i <= n; i++) {
		t += ms * level
		if (i > 10 && i % 5) continue
		loss = 9 / sqrt(i) - (mode == "less" ? i / 40 : 0)
		loss = sprintf("%.4f", loss)
		if (mode == "nan" && i == 50) loss = "nan"
		printf "step:%d/%d train_loss:%s train_time:%.0fms " \
			"step_avg:%.2fms\n", i, n, loss, t, t / i
	}
	val = mode == "less" ? 4.1 : 3.2
	printf "step:%d/%d val_loss:%.4f val_bpb:2.0170 train_time:%.0fms " \
		"step_avg:%.2fms\n", n, n, val, t, t / n
	print "peak memory allocated: 3205 MiB reserved: 3300 MiB"
	print "final_int8_zlib_roundtrip val_loss:3.2035 val_bpb:2.0157 " \
		"eval_time:225ms"
}' | if test "${MODE:-}" = live; then
	# 0.2 s per row up to step 10, then 5 steps in ROW_S: the printed speed is
	# true if ROW_S is five times STEP_MS.
	while IFS= read -r line; do
		case $line in
		step:[1-9]/* | step:10/*) sleep 0.2 ;;
		step:*val_loss*) ;;
		step:*) sleep "${ROW_S:-0.25}" ;;
		esac
		printf '%s\n' "$line"
	done
else
	cat
fi
until_true "${WAIT_FOR:-:}"
sleep "${LAST_S:-0.1}"
