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
status=0
for bench in "${HGYM_SRC:?}"/tests/bench/bench-*; do
    echo "== ${bench##*/}"
    case $bench in
    *.py) nice python3 "$bench" ;;
    *.sh) nice sh "$bench" ;;
    esac || {
        echo "bench: FAILED: ${bench##*/}"
        status=1
    }
done
exit $status
