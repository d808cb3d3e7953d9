#!/bin/sh
# SPDX-License-Identifier: MIT
# A directory that repeats the published experiment gives exactly its results.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"

# holds NAME TEXT FILE: check that the file contains the text.
holds() {
    grep -qF -e "$2" "$3"
    check "$1" $? "$3"
}

"$HGYM_BUILD/tests/tools/harness-gen" "$dir/w" || exit 1
"$HGYM_TUI" harness "$dir/w" >"$dir/page" || exit 1
"$HGYM_TUI" harness --json "$dir/w" >"$dir/json" || exit 1
"$HGYM_TUI" harness --md "$dir/w" >"$dir/md" || exit 1

holds "the baseline is read" '"baseline":{"score":142.848,"passed":true' "$dir/json"
holds "the best verified score comes from iteration 3" \
    '"best_verified":{"score":99.744,"iteration":3}' "$dir/json"
unverified='"score":97.664,"iteration":4,"source":"in_session"'
holds "the best unverified score is shown with its source" \
    "\"best_unverified_better_than_verified\":{$unverified}" "$dir/json"
holds "the stop score is not reached" \
    '"stop_score":90,"stop_score_reached_by_verified":false' "$dir/json"
holds "the checkpoint was restored from iteration 3" \
    '"restored":{"restored":true,"iteration":3,"score":99.744,' "$dir/json"
holds "the verifier after the restore lost its pod" \
    '"post_restore_infra_failure":"ssh_masked_by_tar"' "$dir/json"
holds "the gain over the baseline is 30.2 %" \
    '99.744 of iteration 3, 30.2 % better than the baseline' "$dir/page"
holds "the gain over iteration 1 is 4.9 %" '4.9 % better than iteration 1 (104.832)' \
    "$dir/page"
holds "the gain over the previous run is 3.5 %" \
    '103.328 of run rmsnorm-h100-first; now 3.5 % better' "$dir/page"
"$HGYM_TUI" harness --reference 100 "$dir/w" >"$dir/out"
holds "the best is compared with a score that the user gives" \
    '100, given as the reference; now 0.3 % better' "$dir/out"
holds "the page marks an unverified score by a word" \
    '? unverified      97.664 of iteration 4' "$dir/page"
holds "a name is not read as Markdown" 'compare\_history 6' "$dir/md"
for row in '104.832|17 (+17)' '107.488|28 (+11)' '99.744|45 (+17)' \
    '—|53 (+8)'; do
    score=${row%|*} calls=${row#*|}
    grep -F -e "$calls" "$dir/page" >"$dir/row"
    holds "the row of $calls has $score" "$score" "$dir/row"
done
holds "iteration 4 was blocked, not worse" 'no score (ssh)' "$dir/row"
holds "attempts reached their time limit" 'timed out at 8m' "$dir/page"
holds "the other phases are shown with their durations" \
    'reflection completed 1m01s, build completed 2m54s' "$dir/page"
build='"timed_out":false,"duration_s":174,"limit_s":600'
holds "JSON has the limits of the phases" \
    '{"phase":"build","status":"completed","return_code":0,'"$build" "$dir/json"

# A run that ended after any step is still shown.
steps=0
bad=0
while [ $steps -lt 48 ]; do
    rm -rf "$dir/w"
    steps=$((steps + 7))
    "$HGYM_BUILD/tests/tools/harness-gen" "$dir/w" $steps || bad=1
    "$HGYM_TUI" harness --json --all "$dir/w" >"$dir/json" || bad=1
    "$HGYM_TUI" harness --md "$dir/w" >"$dir/page" || bad=1
done
check "a run that ended after any step is shown" $bad "$dir/page"

# A directory without a run.
mkdir "$dir/empty"
"$HGYM_TUI" harness "$dir/empty" >"$dir/out" 2>"$dir/errors"
[ $? = 5 ]
check "a directory without a run: exit status 5" $? "$dir/errors"
holds "a directory without a run gives one sentence" 'contains no HarnessGym run or comparison' \
    "$dir/errors"
finish
