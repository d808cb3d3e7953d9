#!/bin/sh
# SPDX-License-Identifier: MIT
# The Harness view on the demonstration's run, against the screens kept in
# golden/.  HGYM_GOLDEN=write replaces the golden files.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
golden=$HGYM_SRC/tests/harness/golden
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"
LC_ALL=C.UTF-8
export LC_ALL

# The view alone: tabs and the last two lines belong to others.
body() { sed '1d' "$1" | sed -e :a -e '$d;N;2,2ba' -e 'P;D'; }

screen() {
    body "$dir/$1" >"$dir/body"
    if [ "${HGYM_GOLDEN:-}" = write ]; then
        mkdir -p "$golden"
        cp "$dir/body" "$golden/$1"
    fi
    diff "$golden/$1" "$dir/body" >"$dir/differs"
    check "$1: $2" $? "$dir/differs"
}

cat >"$dir/script" <<EOF
size 140x42
key 8
save $dir/live
key Enter
key k
key ]
save $dir/words
key ]
key ]
save $dir/artifacts
key ]
key Enter
save $dir/text
key Esc
size 80x24
save $dir/narrow
key [
key [
key [
key Enter
save $dir/words-narrow
key j
key G
save $dir/words-end
key Esc
key ]
key ]
key ]
wait 900
size 120x38
key ]
save $dir/finished
key X
save $dir/wall
key X
save $dir/cost
EOF
"$HGYM_TUI" demo --script "$dir/script" || exit 1
screen live "an attempt is under way, three scores are verified"
screen artifacts "what the workspace has built"
screen words "what the lines above have no room for"
screen words-narrow "all of it at 80 columns, from its beginning"
screen words-end "to its end, with the selected iteration"
screen text "a text of a phase, as large as the screen"
screen narrow "80 columns"
screen finished "the pod was lost: no score, and that is no verdict"
screen wall "the scores by wall time"
grep -q 'no score has a known value on this axis' "$dir/cost"
check "by cost where nobody tells one: none" $? "$dir/cost"

printf 'size 100x30\nkey 8\nsave %s\n' "$dir/ascii" >"$dir/script"
LC_ALL=C "$HGYM_TUI" --charset ascii demo --script "$dir/script" || exit 1
screen ascii "without Unicode: verified and not are told apart"
finish
