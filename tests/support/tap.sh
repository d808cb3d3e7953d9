# SPDX-License-Identifier: MIT
# TAP for tests in sh: one line per check, the plan at the end.  Source this.
# shellcheck shell=sh
count=0
failed=0

# check NAME STATUS [FILE...]: passes with status 0; otherwise the files are
# shown.
check() {
    check_name=$1
    check_status=$2
    shift 2
    count=$((count + 1))
    if [ "$check_status" -eq 0 ]; then
        echo "ok $count - $check_name"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $count - $check_name"
    [ $# -eq 0 ] || cat "$@" | head -n 200 | sed 's/^/# /'
}

# skip NAME WHY: a check that cannot run on this machine.
skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# finish: print the plan after the last check; fails if a check has failed.
finish() {
    echo "1..$count"
    [ "$failed" -eq 0 ]
}
