#!/bin/sh
# SPDX-License-Identifier: MIT
# `make bench`: run every bench-*.sh and bench-*.py of this directory.
# They print measurements and compare nothing with a limit.  BENCH_TOY=1 makes
# them so small that they only show that each benchmark still runs.
set -u
if [ -n "${BENCH_TOY:-}" ]; then
    export BENCH_SECONDS=2 BENCH_PODS=2 BENCH_FILES=2 BENCH_RATE=20 \
        BENCH_BACKLOG_MB=4 BENCH_LOGS='1 2' BENCH_ROUNDS=1 BENCH_MB=2 \
        BENCH_LOG_LINES=20000 BENCH_RUNS=20 BENCH_JOBS=5 BENCH_COPIES=1
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

measure() {
    echo "== ${1##*/}"
    case $1 in
    *.py) nice python3 "$1" ;;
    *.sh) nice sh "$1" ;;
    esac && return
    echo "bench: FAILED: ${1##*/}"
    return 1
}

status=0
pids=
for bench in "${HGYM_SRC:?}"/tests/bench/bench-*; do
    if [ -z "${BENCH_TOY:-}" ]; then
        measure "$bench" || status=1
    else # measurements do not matter: run all at the same time
        measure "$bench" >"$work/${bench##*/}" 2>&1 &
        pids="$pids $!"
    fi
done
for pid in $pids; do
    wait "$pid" || status=1
done
[ -z "$pids" ] || cat "$work"/*
exit $status
