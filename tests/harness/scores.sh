#!/bin/sh
# SPDX-License-Identifier: MIT
# parse and board read the JSON of a verifier like any log.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"

has() { grep -qF -e "$2" "$dir/out"; check "$1" $? "$dir/out"; }
hasnt() { ! grep -qF -e "$2" "$dir/out"; check "$1" $? "$dir/out"; }

mkdir "$dir/a" "$dir/b"
printf '{"best_us": 99.744, "mode": "final", "status": "passed", %s}\n' \
    '"target_best_us": 90.0, "cases": [{"best_us": 99.744, "median_us": 101,
 "name": "final_r192_d8192", "seed": 2704}]' >"$dir/a/one.json"
cat >"$dir/a/two.txt" <<'EOF'
a warning before it
{
  "best_us": 101.5,
  "mode": "final",
  "status": "passed",
  "target_best_us": 90.0
}
EOF
printf '{"best_us": 80.1, "mode": "dev", "status": "passed", %s}' \
    '"target_best_us": 90.0' >"$dir/a/dev.json"
printf '{"best_us": Infinity, "mode": "final", "status": "failed", %s}' \
    '"target_best_us": 90.0, "score": Infinity' >"$dir/b/inf.json"
printf '{"best_us": 70.0, "mode": "final", "status": "failed", %s}' \
    '"target_best_us": 90.0' >"$dir/b/wrong.json"
printf '{"run_id": "x", "status": "running", "score": 5}' >"$dir/b/result.json"

"$HGYM_TUI" parse --json "$dir"/a/*.json "$dir/a/two.txt" >"$dir/out"
check "parse reads scores" $?
has "a score on one line is read" '"score_key":"best_us","score":99.744'
has "a score has its task and mode" '"task":"triton_rmsnorm_h100","mode":"final"'
has "a pretty-printed score after other text is read" '"score":101.5'
has "a score has its cases by seed" '"name":"final_r192_d8192","seed":2704'
"$HGYM_TUI" parse --json "$dir"/b/inf.json "$dir"/b/wrong.json >"$dir/out"
has "a failed case does not count" \
    '"score":null,"score_printed":70,"score_valid":false'
has "an infinite value is not a score" '"score_printed":null'
"$HGYM_TUI" parse "$dir/b/result.json" >"$dir/out" 2>&1
[ $? = 5 ]
check "HarnessGym's own result.json is not a verifier's output: exit status 5" $?
"$HGYM_TUI" parse --json - <"$dir/a/two.txt" >"$dir/out"
has "a score from standard input is read" '"score":101.5'

"$HGYM_TUI" board --json "$dir"/a/* "$dir"/b/inf.json "$dir"/b/wrong.json \
    >"$dir/out"
check "board reads scores" $?
has "scores of mode final are compared with each other" \
    '"work":"triton_rmsnorm_h100 final best_us","n_valid":2'
has "scores of mode dev form a separate group" '"work":"triton_rmsnorm_h100 dev best_us","n_valid":1'
has "failed scores are counted, not ranked" \
    '"n_valid":0,"n_invalid":2,"median":null'
hasnt "failed scores are not in the statistics" ':70'
"$HGYM_BUILD/tests/tools/harness-gen" "$dir/run"
"$HGYM_TUI" board --json "$dir/run" >"$dir/out"
check "board reads a HarnessGym workspace" $?
has "each iteration is a group" \
    '"group":"rmsnorm-h100 iteration 3"'
has "the number of repeats comes from the command" \
    '"work":"triton_rmsnorm_h100 final best_us, warm-up 20, repeats 50"'
hasnt "a lost pod is not an invalid score" 'iteration 4'
finish
