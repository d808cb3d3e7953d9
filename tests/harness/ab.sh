#!/bin/sh
# SPDX-License-Identifier: MIT
# `harness --ab` prints a bench for a run's best checkpoint, and that bench works.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=tests/support/tap.sh
. "${HGYM_SRC:-.}/tests/support/tap.sh"

# told NAME STATUS: report a check; print the bench and the messages if it failed.
told() { check "$1" "$2" "$dir/bench.json" "$dir/out"; }

work="$dir/it's here"
best="$work/.harnessgym/runs/r/checkpoints/best"
mkdir -p "$best"
cat >"$work/verifier.py" <<'EOF'
import json, os
noise = os.environ.get("NOISE", "")
value = float(open("kernel.txt").read())
if "bench" in noise:
    value *= 1 + int.from_bytes(os.urandom(1), "big") / 256e3
print(json.dumps({"best_us": value, "status": "passed", "mode": "final"}))
EOF
cp "$work/verifier.py" "$best"
echo 99.5 >"$best/kernel.txt"
echo 97.25 >"$work/kernel.txt"
cat >"$work/.harnessgym/runs/r/run_config.json" <<'EOF'
{"run_id": "r", "higher_is_better": false, "post_attempt_score_key": "best_us",
 "post_attempt_command": "python3 verifier.py",
 "post_attempt_timeout_seconds": 120}
EOF
first="$work/.harnessgym/runs/r/iterations/1/result.json"
mkdir -p "${first%/*}"
echo '{"iteration": 1}' >"$first"
echo '{"iteration": 1, "score": 99.5}' \
    >"$work/.harnessgym/runs/r/checkpoints/best_manifest.json"

# of KEY...: print a value of the bench.
of() {
    python3 -c 'import json, sys
node = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    node = node[int(key) if key.isdigit() else key]
print(node)' "$dir/bench.json" "$@"
}

# ab: create the bench again, before its first run.
ab() {
    rm -rf "$dir/job"
    mkdir "$dir/job"
    "$HGYM_TUI" harness --ab "$work" >"$dir/bench.json" 2>"$dir/out"
}

# arm N: prepare and run the command of the N-th variant, as a bench does.
arm() {
    (
        export HGYM_JOB="$dir/job/run;"
        sh -c "$(of workload prepare)" && sh -c "$(of variants "$1" command)"
    ) >"$dir/out" 2>&1
}

# arms TAG...: does the bench have exactly these arms?
arms() { [ "$(of variants | grep -o "'tag': '[a-z]*'" | cut -d"'" -f4)" = "$*" ]; }

# A command that sends the workspace to a pod.
config="$work/.harnessgym/runs/r/run_config.json"
cp "$config" "$dir/config.json"
sed "s|python3 verifier.py|echo remote_h100.py --workspace '/p/a b' --x|" \
    "$dir/config.json" >"$config"
touch "$best"/* "$best/../best_manifest.json" "$first" # no older than its run
ab
arm 0 && grep -qx 'remote_h100.py --workspace /p/a b_hgym_ab --x' "$dir/out"
told "each bench has its own folder on a pod, also if its name has blanks" $?
cp "$dir/config.json" "$config"
touch "$best"/* "$best/../best_manifest.json" "$first"
cp "$best/kernel.txt" "$work/kernel.txt"
ab
[ $? = 5 ] && grep -q 'the same files' "$dir/out"
told "a workspace equal to the checkpoint gives no bench: exit status 5" $?
echo 97.25 >"$work/kernel.txt"
ab
told "a bench is printed" $?
(cd "$work" && find . -type f -exec cksum {} + | sort) >"$dir/before"
arm 0 && grep -q '"best_us": 99.5' "$dir/out"
told "the control measures the checkpoint" $?
arm 1 && grep -q '"best_us": 97.25' "$dir/out"
told "the variant measures the workspace" $?
(cd "$work" && find . -type f -exec cksum {} + | sort) >"$dir/after"
cmp -s "$dir/before" "$dir/after"
told "checkpoint and workspace are unchanged" $?
echo 1.5 >"$best/kernel.txt"
arm 0 && grep -q '"best_us": 99.5' "$dir/out"
told "a run that replaces its checkpoint meanwhile changes no arm" $?
ab
arm 0 && grep -q '"best_us": 1.5' "$dir/out"
told "the next bench measures the new checkpoint" $?
echo 99.5 >"$best/kernel.txt"
# The bench itself, on this machine and without its pauses.
sed 's/"burn_in":1/"burn_in":1,"gap_s":0/' "$dir/bench.json" >"$dir/ab.json"
NOISE=bench HOME=$dir timeout 1800 "$HGYM_TUI" --db "$dir/db" bench run --yes \
    "$dir/ab.json" >"$dir/out" 2>&1
grep -q FASTER "$dir/out"
told "bench run accepts the definition and finds the workspace faster" $?
(cd "$work" && find . -type f -exec cksum {} + | sort) >"$dir/after"
cmp -s "$dir/before" "$dir/after"
told "bench run does not change the workspace" $?
"$HGYM_TUI" harness --ab "$dir" >"$dir/out" 2>&1
[ $? = 5 ]
told "a folder without a run: exit status 5" $?

# The task's template is the control, and its judge has another name.
template="$work/.harnessgym/runs/r/qualification/workspace_template"
mkdir -p "$template"
for to in "$template" "$best" "$work"; do cp "$best/verifier.py" "$to/eval.py"; done
echo 140 >"$template/kernel.txt"
sed 's/verifier.py/eval.py/' "$dir/config.json" >"$config"
touch "$best"/* "$best/../best_manifest.json" "$first"
ab
arms "template
checkpoint
workspace"
told "template, checkpoint and a workspace that differs are the arms" $?
arm 0 && grep -q '"best_us": 140' "$dir/out" &&
    arm 1 && grep -q '"best_us": 99.5' "$dir/out" &&
    arm 2 && grep -q '"best_us": 97.25' "$dir/out"
told "each arm with the judge of the template is measured" $?
echo 'print("{}")' >>"$work/eval.py"
ab
arm 2
[ $? = 9 ]
told "a forged judge of any name voids the run" $?
{ cat "$best/eval.py" && echo '# the end'; } >"$work/eval.py"
ab
arm 2 && grep -q '"best_us": 97.25' "$dir/out"
told "a judge with another comment does not void the run" $?
cp "$best/eval.py" "$work"
echo 'def dumps(_): return "{\"best_us\": 1.5}"' >"$work/json.py"
ab
! arm 2 && ! grep -qF '"best_us": 1.5' "$dir/out"
told "a module that shadows one of the judge's voids the run" $?
mv "$work/json.py" "$work/notes.py"
ab
arm 2 && grep -q '"best_us": 97.25' "$dir/out"
told "another new file does not void the run" $?
rm "$work/notes.py"
cp "$best"/* "$work"
ab
arms "template
checkpoint"
told "a workspace that was restored is not an arm" $?
mkdir "$work/.harnessgym/runs/x"
mv "$work/.harnessgym/runs/r" "$work/.harnessgym/runs/x/y"
ab
arm 1 && grep -q '"best_us": 99.5' "$dir/out"
told "a run whose id contains a slash has arms, too" $?
mv "$work/.harnessgym/runs/x/y" "$work/.harnessgym/runs/r"
rmdir "$work/.harnessgym/runs/x"
rm -r "$template" "$best/eval.py"

# --diff shows how the checkpoint differs from the template: files, then lines.
template="$work/.harnessgym/runs/r/qualification/workspace_template"
mkdir -p "$template"
cp "$best/verifier.py" "$template"
printf '140\nkept\n' >"$template/kernel.txt"
printf '99.5\nkept\n' >"$best/kernel.txt"
: >"$template/gone.txt"
printf 'x = "\033[31m"\n' >"$best/new.py"
printf 'a\0b' >"$best/blob"
echo 'nothing changed' >"$work/.harnessgym/runs/r/checkpoints/best.diff"
"$HGYM_TUI" harness --diff "$work" >"$dir/out" 2>&1
printf '%s\n' 'blob: added' 'gone.txt: removed' \
    'kernel.txt: changed, +1 -1 lines' 'new.py: added, +1 -0 lines' '' \
    '--- kernel.txt' '+++ kernel.txt' '@@ -1,2 +1,2 @@' -140 +99.5 ' kept' \
    '' '--- new.py' '+++ new.py' '@@ -0,0 +1 @@' '+x = "·[31m"' >"$dir/want"
cmp "$dir/out" "$dir/want"
told "--diff shows the changes from the template to the best checkpoint" $?
rm "$work/.harnessgym/runs/r/checkpoints/best_manifest.json"
"$HGYM_TUI" harness --diff "$work" >"$dir/out" 2>&1
[ $? = 5 ] && grep -q 'no checkpoint and template' "$dir/out"
told "nothing to compare: exit status 5" $?
"$HGYM_TUI" harness --ab "$work" >"$dir/out" 2>&1
[ $? = 5 ] && grep -q 'has no checkpoint' "$dir/out"
told "no checkpoint: exit status 5 and one sentence" $?
finish
