#!/bin/sh
# SPDX-License-Identifier: MIT
# The Harness view with the demonstration's run, compared with the screens in
# golden/.  HGYM_GOLDEN=write replaces the golden files.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
golden=$HGYM_SRC/tests/harness/golden
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"
LC_ALL=C.UTF-8
export LC_ALL

# Print the view alone, without the tabs and the last two lines.
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
screen live "an attempt is running, three scores are verified"
screen artifacts "the files that the workspace built are listed"
screen words "the page shows the texts that the upper lines have no room for"
screen words-narrow "the page starts at its beginning at 80 columns"
screen words-end "the page ends with the selected iteration"
screen text "the text of a phase fills the screen"
screen narrow "the view fits into 80 columns"
screen finished "the pod was lost: no score and no verdict"
screen wall "the scores are drawn by wall time"
grep -q 'no score has a known value on this axis' "$dir/cost"
check "the scores by cost: no cost is known" $? "$dir/cost"

printf 'size 100x30\nkey 8\nsave %s\n' "$dir/ascii" >"$dir/script"
LC_ALL=C "$HGYM_TUI" --charset ascii demo --script "$dir/script" || exit 1
screen ascii "without Unicode: verified and unverified scores differ"
finish
