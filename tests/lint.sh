#!/bin/sh
# SPDX-License-Identifier: MIT
# `make lint`: all checkers of the source.  TAP, one line per tool; a tool that
# is not installed is skipped.
set -u
src=${HGYM_SRC:-$(cd "$(dirname "$0")/.." && pwd)}
build=${HGYM_BUILD:-$src/build}
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/support/tap.sh
. "$src/tests/support/tap.sh"
cd "$src" || exit 1

sources() {
    find src ui parsers remote -name '*.c' | sort
}

scripts() {
    ls bootstrap
    find tests remote src -name '*.sh' -type f
    [ ! -f .ci/run ] || echo .ci/run
}

sh tests/check-layers.sh >"$tmp/layers" 2>&1
check layers $? "$tmp/layers"
python3 tests/check-style.py >"$tmp/style" 2>&1
check style $? "$tmp/style"
# Advice only: a long file should have one subject.
find src ui parsers remote tests \( -name '*.[ch]' -o -name '*.py' -o \
    -name '*.sh' \) -exec wc -l {} + | awk '$1 > 600 && $2 != "total" {
        print "# " $2 " has " $1 " lines: one subject?" }'

if command -v shellcheck >/dev/null; then
    # Some tests read from a pipe on purpose.
    scripts | xargs shellcheck -e SC2002 >"$tmp/shellcheck" 2>&1
    check shellcheck $? "$tmp/shellcheck"
else
    skip shellcheck "shellcheck is not installed"
fi

if command -v cppcheck >/dev/null; then
    sources | cppcheck --file-list=- -j "$jobs" --quiet --std=c11 \
        --enable=warning,performance,portability --inline-suppr \
        --suppress=arrayIndexThenCheck --suppress=missingInclude \
        --suppress=unknownMacro --suppress=autoVariables \
        --suppress=arrayIndexOutOfBoundsCond \
        --suppress=normalCheckLevelMaxBranches --suppress=constStatement \
        --error-exitcode=1 -I. -Isrc -I"$build" --include="$build/config.h" \
        >"$tmp/cppcheck" 2>&1
    check cppcheck $? "$tmp/cppcheck"
else
    skip cppcheck "cppcheck is not installed"
fi

# tidy NAME CHECKS: run clang-tidy over all sources, with CHECKS in addition to
# .clang-tidy.
tidy() {
    # shellcheck disable=SC2016
    sources | BUILD=$build CHECKS=$2 xargs -P "$jobs" -n 1 sh -c \
        'clang-tidy --quiet --checks="$CHECKS" "$@" -- -std=gnu11 \
            -include "$BUILD/config.h" -I. -Isrc -I"$BUILD"' tidy \
        >"$tmp/tidy" 2>/dev/null
    check "$1" $? "$tmp/tidy"
}

if command -v clang-tidy >/dev/null; then
    tidy clang-tidy ''
    # Takes a second or more per file, and misreads cJSON's type tests (it
    # assumes that cJSON_IsNumber(NULL) may be true), so it only runs on
    # request.
    [ -z "${LINT_ANALYZER:-}" ] || tidy analyzer \
        '-*,clang-analyzer-*,-clang-analyzer-core.NullDereference,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling'
else
    skip clang-tidy "clang-tidy is not installed"
fi

finish
