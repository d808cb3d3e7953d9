#!/bin/sh
# SPDX-License-Identifier: MIT
# `harness POD:DIR`: reading over a transport gives the same as reading locally.
set -u
dir=$(mktemp -d) || exit 1
sshd=$HGYM_SRC/tests/support/sshd.sh
trap 'sh "$sshd" stop "$dir/sshd" 2>/dev/null; rm -rf "$dir"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"

# told NAME STATUS: report a check; print the program's messages if it failed.
told() { check "$1" "$2" "$dir/errors"; }

# Are both objects equal, except for values that depend on the clock?
same() {
    for side in a b; do
        sed 's/"silent_s":[0-9]*/"silent_s":0/' "$dir/$side" >"$dir/$side.s"
    done
    cmp -s "$dir/a.s" "$dir/b.s"
}

: >"$dir/errors"
work="$dir/it's a \$HOME"
"$HGYM_BUILD/tests/tools/harness-gen" "$work" || exit 1
# A copy of the workspace like those that qualification makes: it must not be read.
copy="$work/.harnessgym/runs/rmsnorm-h100/iterations/1/qualification"
copy="$copy/attempt_1/workspace/.harnessgym"
mkdir -p "$copy"
printf '{"artifacts": []}' >"$copy/registry.json"

cat >"$dir/config.json" <<EOF
{"schema": "hgym-tui.config/1", "pods": [
 {"name": "here", "transport": "local"},
 {"name": "dead", "ssh": "x@127.0.0.1:1", "transport": "libssh2"}]}
EOF
set -- --config "$dir/config.json" harness --json
"$HGYM_TUI" harness --json "$work" >"$dir/a" 2>>"$dir/errors"
"$HGYM_TUI" "$@" "here:$work" >"$dir/b" 2>>"$dir/errors"
same
told "a child sh gives the same workspace" $?
mkdir "$dir/bin" # a pod without python3
for tool in base64 cat cut date find grep head ls nice sh stat tail tr; do
    ln -s "$(command -v $tool)" "$dir/bin/$tool"
done
PATH=$dir/bin "$HGYM_TUI" "$@" "here:$work" >"$dir/b" 2>>"$dir/errors"
same
told "a pod without python3 gives the same workspace" $?
"$HGYM_TUI" harness "$work" >"$dir/b" 2>>"$dir/errors"
grep -q "^it  attempt " "$dir/b" && ! grep -q "^run  it " "$dir/b"
told "the table of iterations has no column for the run" $?
"$HGYM_TUI" harness --csv "$work" >"$dir/b" 2>>"$dir/errors"
head -1 "$dir/b" | grep -q "^run_id,iteration,"
told "CSV has the run in each row" $?
run="$work/.harnessgym/runs/rmsnorm-h100-first"
"$HGYM_TUI" harness --json "$run" >"$dir/a" 2>>"$dir/errors"
"$HGYM_TUI" "$@" "here:$run" >"$dir/b" 2>>"$dir/errors"
grep -q '"run_id":"rmsnorm-h100-first"' "$dir/a" &&
    grep -q '"run_id":"rmsnorm-h100-first"' "$dir/b"
told "the folder of one run is read" $?
# HarnessGym's own variables give a pod whose path is a pattern.
"$HGYM_BUILD/tests/tools/harness-gen" "$dir/root/b c" 4 || exit 1
"$HGYM_BUILD/tests/tools/harness-gen" "$dir/root/a" || exit 1
mkdir "$dir/root/none"
"$HGYM_TUI" "$@" --all "here:$dir/root/*" >"$dir/b" 2>"$dir/errors"
[ "$(grep -c '"run_id":"rmsnorm-h100"' "$dir/b")" = 2 ]
told "a pattern is expanded on the pod" $?
"$HGYM_TUI" "$@" "here:$dir/root/n*" >"$dir/b" 2>"$dir/errors"
[ $? = 5 ] && grep -q 'or comparison matches' "$dir/errors"
told "a pattern without a match: exit status 5" $?
"$HGYM_TUI" "$@" "here:$dir/none" >"$dir/b" 2>"$dir/errors"
[ $? = 5 ]
told "no run in the folder: exit status 5" $?
"$HGYM_TUI" "$@" "nobody:$dir" >"$dir/b" 2>"$dir/errors"
[ $? = 2 ]
told "an unknown pod: exit status 2" $?
"$HGYM_TUI" "$@" "dead:$dir" >"$dir/b" 2>"$dir/errors"
[ $? = 4 ]
told "a pod that does not answer: exit status 4" $?

if sh "$sshd" start "$dir/sshd" 2>>"$dir/errors"; then
    user=$(cat "$dir/sshd/user") port=$(cat "$dir/sshd/port")
    cat >"$dir/config.json" <<EOF
{"schema": "hgym-tui.config/1", "pods": [
 {"name": "pod", "ssh": "$user@127.0.0.1:$port",
  "identity": "$dir/sshd/id_ed25519",
  "known_hosts": "$dir/sshd/known_hosts"}]}
EOF
    "$HGYM_TUI" harness --json "$work" >"$dir/a" 2>>"$dir/errors"
    "$HGYM_TUI" "$@" "pod:$work" >"$dir/b" 2>>"$dir/errors"
    same
    told "a workspace over SSH" $?
else
    skip "a workspace over SSH" "sshd cannot be started"
fi
finish
