#!/bin/sh
# SPDX-License-Identifier: MIT
# Real HarnessGym directories with known results, from ../shared/corpus.
set -u
shared=${HGYM_SHARED:-$HGYM_SRC/../shared}
checker=$shared/check/harness_expected.py
corpus=$shared/corpus/harnessgym

if [ ! -f "$checker" ] || [ ! -d "$corpus" ]; then
    echo "1..0 # SKIP needs ../shared, which is not part of the repository"
    exit 0
fi
echo 1..2
if python3 "$checker" "$HGYM_TUI" "$corpus" -v >harness-expected.out 2>&1; then
    echo "ok 1 - every run has the expected values"
else
    sed 's/^/# /' harness-expected.out
    echo "not ok 1 - every run has the expected values"
fi
rm -f harness-expected.out

# Each run has a page in all formats, without escape sequences.
bad=0
for dir in "$corpus"/*/; do
    case $dir in *bench_*) continue ;; esac
    for form in "" --md --csv; do
        # shellcheck disable=SC2086
        "$HGYM_TUI" harness $form "$dir" >harness-page.out 2>&1 || bad=1
        if LC_ALL=C grep -q "$(printf '\033')" harness-page.out; then bad=1; fi
    done
done
rm -f harness-page.out
[ $bad = 0 ] && echo "ok 2 - the page of each run in all formats" ||
    echo "not ok 2 - the page of each run in all formats"
