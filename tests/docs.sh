#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual and the completions: no complaint of mandoc and groff, nothing of
# --help is missing, and the shells take the scripts.
set -u
man=${HGYM_BUILD:?}/man
program=${HGYM_TUI:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"

# silent NAME COMMAND...: it succeeds and prints nothing.
silent() {
    name=$1
    shift
    "$@" >"$tmp/out" 2>&1
    status=$?
    [ ! -s "$tmp/out" ] || status=1
    check "$name" "$status" "$tmp/out"
}

groff_warnings() {
    { groff -ww -man -Tutf8 "$1" >/dev/null; } 2>&1
}

for page in "$man"/hgym-tui.1 "$man"/hgym-tui-config.5 \
    "$man"/hgym-tui-formats.5 "$man"/hgym-tui-bench.5; do
    base=${page##*/}
    if command -v mandoc >/dev/null; then
        silent "mandoc has nothing to say of $base" mandoc -Tlint "$page"
    else
        skip "mandoc on $base" "mandoc is not installed"
    fi
    if command -v groff >/dev/null; then
        silent "groff has nothing to say of $base" groff_warnings "$page"
    else
        skip "groff on $base" "groff is not installed"
    fi
    ! grep -n '@' "$page" >"$tmp/out" ||
        ! grep -v 'user' "$tmp/out" >"$tmp/left"
    check "$base is filled" $? "$tmp/left"
done

# Every command and every option of --help stands in the page.
options_of() {
    sed -n '/^options:/,$s/^  *\(-[^ ]*,\)\{0,1\} *\(--[a-z-]*\).*/\2/p'
}

sed 's/\\-/-/g' "$man/hgym-tui.1" >"$tmp/page"
"$program" --help >"$tmp/help" 2>&1
check "--help" $? "$tmp/help"
: >"$tmp/missing"
sed -n '/^commands:/,/^$/s/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' "$tmp/help" |
    sed 's/ *$//' >"$tmp/commands"
options_of <"$tmp/help" >"$tmp/options"
while read -r command; do
    grep -q "^\.B $command " "$tmp/page" ||
        echo "command $command" >>"$tmp/missing"
    # The name is one word or two.
    # shellcheck disable=SC2086
    "$program" $command --help | options_of >>"$tmp/options"
done <"$tmp/commands"
sort -u "$tmp/options" | while read -r option; do
    grep -q -e "^\.B .*$option\( \|\$\)" "$tmp/page" ||
        echo "option $option" >>"$tmp/missing"
done
[ ! -s "$tmp/missing" ]
check "the page has every command and option of --help" $? "$tmp/missing"
[ "$(wc -l <"$tmp/commands")" -ge 1 ] && [ "$(wc -l <"$tmp/options")" -ge 8 ]
check "and --help has some" $? "$tmp/help"

# What they offer is held by completion.sh.
for pair in bash:hgym-tui.bash zsh:_hgym-tui fish:hgym-tui.fish; do
    shell=${pair%%:*}
    if command -v "$shell" >/dev/null; then
        silent "$shell takes its completion" \
            "$shell" -n "$HGYM_SRC/man/${pair#*:}"
    else
        skip "$shell takes its completion" "$shell is not installed"
    fi
done

finish
