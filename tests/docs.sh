#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual has no warnings from mandoc and groff and documents every option
# and every key of a bench; the shells accept the completions; CONTRIBUTING
# names only functions and files that exist.
set -u
man=${HGYM_BUILD:?}/man
program=${HGYM_TUI:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"

# silent NAME COMMAND...: the command succeeds and prints nothing.
silent() {
    name=$1
    shift
    "$@" >"$tmp/out" 2>&1
    status=$?
    [ ! -s "$tmp/out" ] || status=1
    check "$name" "$status" "$tmp/out"
}

# Ignore lines that are long because of the installation directory.
groff_warnings() {
    { groff -ww -man -Tutf8 "$1" >/dev/null; } 2>&1 |
        grep -vE "cannot adjust line|can't break line" || true
}

for page in "$man"/hgym-tui.1 "$man"/hgym-tui-config.5 \
    "$man"/hgym-tui-formats.5 "$man"/hgym-tui-bench.5; do
    base=${page##*/}
    if command -v mandoc >/dev/null; then
        silent "mandoc has no warnings for $base" mandoc -Tlint "$page"
    else
        skip "mandoc on $base" "mandoc is not installed"
    fi
    if command -v groff >/dev/null; then
        silent "groff has no warnings for $base" groff_warnings "$page"
    else
        skip "groff on $base" "groff is not installed"
    fi
    ! grep -nE '@[A-Za-z_]+@' "$page" >"$tmp/out"
    check "$base is filled" $? "$tmp/out"
done

# The README shows its pictures as images: they load and run nothing, and the
# animation is small, with one keyframe rule per frame.
for picture in screen demo; do
    file=${HGYM_SRC:-.}/docs/$picture.svg
    ! grep -nE '<script|<image|@import|url\(|href="[^#]|src=| on[a-z]+=' \
        "$file" >"$tmp/out"
    check "$picture.svg loads and runs nothing" $? "$tmp/out"
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' \
        "$file" >"$tmp/out" 2>&1
    check "$picture.svg is well-formed" $? "$tmp/out"
    grep -q "src[set]*=\"docs/$picture.svg\"" "${HGYM_SRC:-.}/README.md"
    check "the README shows $picture.svg" $? "$tmp/out"
done
size=$(wc -c <"$file")
frames=$(grep -c '<g class="f"' "$file")
rules=$(grep -c '@keyframes' "$file")
echo "$size bytes, $frames frames, $rules rules" >"$tmp/out"
[ "$size" -lt 600000 ] && [ "$frames" -ge 30 ] && [ "$frames" -eq "$rules" ]
check "demo.svg is complete" $? "$tmp/out"

# Every command and every option of --help is in the page.
options_of() {
    sed -n 's/^  *\(-[^ ]*,\)\{0,1\} *\(--[a-z-]*\).*/\2/p'
}

# The list of commands: "  parse  SUMMARY", "  bench list | show", "  help, version".
commands_of() {
    awk '/^  [a-z]/ {
        sub(/^  /, "")
        sub(/  .*/, "")
        n = split($0, name, / [|] |, /)
        group = name[1] ~ / / ? substr(name[1], 1, index(name[1], " ")) : ""
        print name[1]
        for (i = 2; i <= n; i++)
            print group name[i]
    }'
}

sed 's/\\-/-/g' "$man/hgym-tui.1" >"$tmp/page"
"$program" --help >"$tmp/help" 2>&1
check "--help" $? "$tmp/help"
: >"$tmp/missing"
commands_of <"$tmp/help" >"$tmp/commands"
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
[ "$(wc -l <"$tmp/commands")" -ge 30 ] && [ "$(wc -l <"$tmp/options")" -ge 8 ] &&
    grep -qx "bench stop" "$tmp/commands" && grep -qx version "$tmp/commands"
check "--help lists at least 30 commands, including those that share a line" $? "$tmp/commands"

# Each key read from bench.json has its own paragraph, and every paragraph has
# a key; each key written to a document is named.
keys_read() {
    awk '
        /^static const struct json_field [a-z]*_keys\[\]/ {
            section = $5
            sub(/_keys.*/, "", section)
            sub(/^top$/, "The whole file", section)
            sub(/^window$/, "metric.window", section)
            sub(/^(variant|pod)$/, "&s", section)
        }
        /^};/ { section = "" }
        section != "" && /^\t([A-Z]+\(|\{ )"/ {
            split($0, part, "\"")
            print section ": " part[2]
        }' "$HGYM_SRC"/src/bench/plan*.c | sort
}

keys_told() {
    awk '
        /^\.SH/ { told = $2 == "DEFINITION" }
        told && /^\.SS/ { section = substr($0, 5) }
        told && before == ".TP" {
            sub(/^\.BR? /, "")
            gsub(/"[^"]*"/, "")
            for (i = 1; i <= NF; i++)
                print section ": " $i
        }
        { before = $0 }' "$1" | sort
}

keys_written() {
    written='J[A-Z]+\(|(json_add_[a-z]+|cJSON_Add[A-Za-z]+|add_[a-z]+)\([a-z]+, '
    grep -oE "($written)\"[A-Za-z0-9_]+\"" \
        "$HGYM_SRC/src/bench/verdict_json.c" | cut -d'"' -f2 | sort -u
}

bench=$man/hgym-tui-bench.5
keys_read >"$tmp/read"
keys_told "$bench" >"$tmp/told"
diff "$tmp/read" "$tmp/told" >"$tmp/out"
check "each key of bench.json has its paragraph" $? "$tmp/out"
awk '/^\.SH/ { on = $2 ~ /^(RESULTS|VERDICT.JSON)$/ } on' "$bench" >"$tmp/page"
keys_written >"$tmp/keys"
while read -r key; do
    grep -qE "^\.BR?( .*)? $key( |,|\$)" "$tmp/page" || echo "$key"
done <"$tmp/keys" >"$tmp/missing"
[ ! -s "$tmp/missing" ]
check "each key of verdict.json and summary.json is named" $? "$tmp/missing"
[ "$(wc -l <"$tmp/read")" -ge 60 ] && [ "$(wc -l <"$tmp/keys")" -ge 100 ]
check "the page names at least 100 keys" $? "$tmp/keys"
sed '/^\.BR cwd /d' "$bench" >"$tmp/liar"
keys_told "$tmp/liar" | diff "$tmp/read" - >"$tmp/out"
grep -q '^< workload: cwd$' "$tmp/out"
check "a page that lacks a key is detected" $? "$tmp/out"

# The functions and paths named in CONTRIBUTING exist.
map=$HGYM_SRC/.github/CONTRIBUTING.md
# shellcheck disable=SC2016
names_lost() {
    grep -oE '`[a-z_0-9]+\(\)`' "$1" | tr -d '`()' | sort -u >"$tmp/names"
    while read -r name; do
        grep -rqE "^[a-z].*[ *]$name\(" "$HGYM_SRC/src" "$HGYM_SRC/ui" \
            "$HGYM_SRC/remote" "$HGYM_SRC/parsers" || echo "$name()"
    done <"$tmp/names"
    grep -oE '`(src|ui|remote|parsers|tests)/[a-z_/.-]+`' "$1" | tr -d '`' |
        while read -r path; do
            [ -e "$HGYM_SRC/$path" ] || echo "$path"
        done
}
names_lost "$map" >"$tmp/out"
[ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/names")" -ge 20 ]
check "functions and files named in CONTRIBUTING exist" $? "$tmp/out"
# shellcheck disable=SC2016
printf '`no_such_function()` in `src/no-such.c`\n' >"$tmp/liar"
[ "$(names_lost "$tmp/liar" | wc -l)" = 2 ]
check "names that do not exist are detected" $? "$tmp/liar"

# completion.sh checks the offered words.
for pair in bash:hgym-tui.bash zsh:_hgym-tui fish:hgym-tui.fish; do
    shell=${pair%%:*}
    if command -v "$shell" >/dev/null; then
        silent "$shell parses its completion" \
            "$shell" -n "$HGYM_SRC/man/${pair#*:}"
    else
        skip "$shell parses its completion" "$shell is not installed"
    fi
done

# Every column header of the screen is in the glossary.
sed -n '/^.SH GLOSSARY/,/^.SH "SEE/s/^.B "\(.*\)"$/\1/p' "$man/hgym-tui.1" |
    sed 's/\\-/-/g' >"$tmp/glossary"
sed -n 's/^	X([A-Z_]*, "\([^"]\{1,\}\)", [0-9].*/\1/p' \
    "${HGYM_SRC:-.}"/ui/view_*.c | sed 's/→/\\[u2192]/; s/±/\\[u00B1]/
        s/Δ/\\[u0394]/; s/σ/\\[u03C3]/; s/°/\\[u00B0]/' | sort -u >"$tmp/heads"
while read -r head; do
    grep -qF -e "$head" "$tmp/glossary" || echo "$head"
done <"$tmp/heads" >"$tmp/missing"
[ ! -s "$tmp/missing" ] && [ "$(wc -l <"$tmp/heads")" -gt 30 ]
check "every column of the screen is in the glossary" $? "$tmp/missing"

finish
