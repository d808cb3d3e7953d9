#!/bin/sh
# SPDX-License-Identifier: MIT
# `harness POD:DIR`: reading over a transport gives the same as reading locally.
set -u
dir=$(mktemp -d) || exit 1
sshd=$HGYM_SRC/tests/support/sshd.sh
trap 'sh "$sshd" stop "$dir/sshd" 2>/dev/null; rm -rf "$dir"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"

# told NAME STATUS: a check that prints the errors of the program if it fails.
told() { check "$1" "$2" "$dir/errors"; }

# Compare both objects, except the values that depend on the clock.
same() {
    for side in a b; do
        sed 's/"silent_s":[0-9]*/"silent_s":0/' "$dir/$side" >"$dir/$side.s"
    done
    cmp -s "$dir/a.s" "$dir/b.s"
}

: >"$dir/errors"
work="$dir/it's a \$HOME"
"$HGYM_BUILD/tests/tools/harness-gen" "$work" || exit 1
# A copy of the workspace as qualification makes them: not to be read.
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
told "a workspace over a child sh" $?
mkdir "$dir/bin" # a pod without python3
for tool in base64 cat cut date find grep head ls nice sh stat tail tr; do
    ln -s "$(command -v $tool)" "$dir/bin/$tool"
done
PATH=$dir/bin "$HGYM_TUI" "$@" "here:$work" >"$dir/b" 2>>"$dir/errors"
same
told "the same without python3" $?
"$HGYM_TUI" harness "$work" >"$dir/b" 2>>"$dir/errors"
grep -q "^it  attempt " "$dir/b" && ! grep -q "^run  it " "$dir/b"
told "the iterations have no column of dashes for the run" $?
"$HGYM_TUI" harness --csv "$work" >"$dir/b" 2>>"$dir/errors"
head -1 "$dir/b" | grep -q "^run_id,iteration,"
told "as CSV they name it in each row" $?
run="$work/.harnessgym/runs/rmsnorm-h100-first"
"$HGYM_TUI" harness --json "$run" >"$dir/a" 2>>"$dir/errors"
"$HGYM_TUI" "$@" "here:$run" >"$dir/b" 2>>"$dir/errors"
grep -q '"run_id":"rmsnorm-h100-first"' "$dir/a" &&
    grep -q '"run_id":"rmsnorm-h100-first"' "$dir/b"
told "one run's folder" $?
# The pod that HarnessGym's own variables describe names a pattern.
"$HGYM_BUILD/tests/tools/harness-gen" "$dir/root/b c" 4 || exit 1
"$HGYM_BUILD/tests/tools/harness-gen" "$dir/root/a" || exit 1
mkdir "$dir/root/none"
"$HGYM_TUI" "$@" --all "here:$dir/root/*" >"$dir/b" 2>"$dir/errors"
[ "$(grep -c '"run_id":"rmsnorm-h100"' "$dir/b")" = 2 ]
told "a pattern is expanded on the pod: each workspace" $?
"$HGYM_TUI" "$@" "here:$dir/root/n*" >"$dir/b" 2>"$dir/errors"
[ $? = 5 ] && grep -q 'or comparison matches' "$dir/errors"
told "one that matches nothing: exit 5" $?
"$HGYM_TUI" "$@" "here:$dir/none" >"$dir/b" 2>"$dir/errors"
[ $? = 5 ]
told "no run there: exit 5" $?
"$HGYM_TUI" "$@" "nobody:$dir" >"$dir/b" 2>"$dir/errors"
[ $? = 2 ]
told "no such pod: exit 2" $?
"$HGYM_TUI" "$@" "dead:$dir" >"$dir/b" 2>"$dir/errors"
[ $? = 4 ]
told "a pod that does not answer: exit 4" $?

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
    skip "a workspace over SSH" "no sshd can run here"
fi
finish
