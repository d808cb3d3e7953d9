#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual and the completions: no complaint of mandoc and groff, nothing of
# --help is missing, and the shells take the scripts.
set -u
man=${HGYM_BUILD:?}/man
program=${HGYM_TUI:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0

# result STATUS NAME FILE: the file's lines tell why.
result() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - docs: $2"
    else
        failed=$((failed + 1))
        echo "not ok $count - docs: $2"
        sed 's/^/# /' "$3" | head -n 20
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count - docs: $1 # SKIP $2 is not installed"
}

# silent NAME COMMAND...: it succeeds and prints nothing.
silent() {
    name=$1
    shift
    "$@" >"$tmp/out" 2>&1
    status=$?
    [ ! -s "$tmp/out" ] || status=1
    result "$status" "$name" "$tmp/out"
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
        skip "mandoc on $base" mandoc
    fi
    if command -v groff >/dev/null; then
        silent "groff has nothing to say of $base" groff_warnings "$page"
    else
        skip "groff on $base" groff
    fi
    ! grep -n '@' "$page" >"$tmp/out" ||
        ! grep -v 'user' "$tmp/out" >"$tmp/left"
    result $? "$base is filled" "$tmp/left"
done

# Every command and every option of --help stands in the page.
options_of() {
    sed -n '/^options:/,$s/^  *\(-[^ ]*,\)\{0,1\} *\(--[a-z-]*\).*/\2/p'
}

sed 's/\\-/-/g' "$man/hgym-tui.1" >"$tmp/page"
"$program" --help >"$tmp/help" 2>&1
result $? "--help" "$tmp/help"
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
result $? "the page has every command and option of --help" "$tmp/missing"
[ "$(wc -l <"$tmp/commands")" -ge 1 ] && [ "$(wc -l <"$tmp/options")" -ge 8 ]
result $? "and --help has some" "$tmp/help"

# What they offer is held by completion.sh.
for pair in bash:hgym-tui.bash zsh:_hgym-tui fish:hgym-tui.fish; do
    shell=${pair%%:*}
    if command -v "$shell" >/dev/null; then
        silent "$shell takes its completion" "$shell" -n "$man/${pair#*:}"
    else
        skip "$shell takes its completion" "$shell"
    fi
done

echo "1..$count"
[ "$failed" -eq 0 ]
