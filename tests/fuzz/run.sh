#!/bin/sh
# SPDX-License-Identifier: MIT
# `make fuzz-run`: every fuzz target of a build with --enable-fuzzing, one
# after another, FUZZ_SECONDS each.  Inputs that fail stay in fuzz-found/.
set -u
src=${HGYM_SRC:?} build=${HGYM_BUILD:?}
seconds=${FUZZ_SECONDS:-60}
found=$build/fuzz-found
mkdir -p "$found" "$build/fuzz-corpus"
count=0
failed=0
for program in "$build"/tests/fuzz/fuzz-*; do
    case $program in *.o | *.dSYM) continue ;; esac
    [ -x "$program" ] || continue
    name=${program##*/fuzz-}
    count=$((count + 1))
    mkdir -p "$build/fuzz-corpus/$name"
    # New inputs go to the first folder; the seeds stay unchanged.
    if nice "$program" -max_total_time="$seconds" -max_len=16384 \
        -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$found/$name-" "$build/fuzz-corpus/$name" \
        "$src/tests/fuzz/corpus/$name" >"$build/fuzz-$name.log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' \
            "$build/fuzz-$name.log")
        echo "ok $count - fuzz $name: $runs inputs in $seconds s"
    else
        failed=$((failed + 1))
        echo "not ok $count - fuzz $name"
        tail -n 40 "$build/fuzz-$name.log" | sed 's/^/# /'
    fi
done
[ "$count" -gt 0 ] || {
    count=1
    failed=1
    echo "not ok 1 - no target: configure with --enable-fuzzing"
}
echo "1..$count"
[ "$failed" -eq 0 ]
