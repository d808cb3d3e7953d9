#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What belongs to the judge: each lie that changes one of its files is INVALID,
and an honest run that changes something similar keeps its scores."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SRC = os.environ["HGYM_SRC"]
TUI = os.path.abspath(os.environ["HGYM_TUI"])
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("tools", "support")]
import harness_liar as liar  # noqa: E402
from tap import finish, ok  # noqa: E402

IMPORTS = "import argparse\nimport helper\n"
READS = """limits = json.load(open(os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "limits.json")))
"""
WRITES = """with open("benchmark_results.json", "w") as out:
    out.write(value)
with open("measurements.log", "a") as out:
    out.write(value)
"""


def judge(first="", last="", path='"kernel.txt"'):
    """The verifier with more statements."""
    text = liar.VERIFIER.replace('"kernel.txt"', path)
    return text.replace("begun =", first + "begun =", 1) + last


def put(**files):
    """Write these files of the workspace; __ stands for /, and the last _ for
    the dot of the extension."""
    def act(run):
        for name, text in files.items():
            stem, _, end = name.replace("__", "/").rpartition("_")
            liar.write(os.path.join(run.work, stem + "." + end), text)
    return act


def link_judge(run):
    """The verifier is a link into a folder of the workspace."""
    path = os.path.join(run.work, "verifier.py")
    liar.write(os.path.join(run.work, "common", "v.py"), liar.VERIFIER)
    os.remove(path)
    os.symlink("common/v.py", path)


def put_program(run):
    path = os.path.join(run.work, "bin", "python3")
    liar.write(path, "#!/bin/sh\necho '%s'\n" % liar.FULL.strip())
    os.chmod(path, 0o755)


def put_outside(text):
    def act(run):
        liar.write(run.work + "-shared/v.py", text)
    return act


def solve(run):
    """The agent writes its solution where the command reads it."""
    liar.write(os.path.join(run.work, "submission.py"), "%s\n" % run.true())


def put_module(text):
    def act(run):
        liar.write(os.path.join(run.work, "perf", "__main__.py"), text)
    return act


def outside(folder):
    return "python3 ../%s-shared/v.py" % folder


# Name: (files at the start, what the agent does in iteration 2, command, file
# that is reported as changed).
LIES = {
    "script below a script": (
        put(run_sh="cd \"$(dirname \"$0\")\"\npython3 -u eval.py\n",
            eval_py=liar.VERIFIER),
        put(eval_py=liar.LIAR), "sh run.sh", "eval.py"),
    "package started with -m": (
        put_module(liar.VERIFIER), put_module(liar.LIAR), "python3 -m perf",
        "perf/__main__.py"),
    "module of another name": (
        put(verifier_py=judge(IMPORTS), helper_py=""),
        put(helper_py="import os\n%sos._exit(0)\n" % liar.LIAR.replace(
            ")\n", ", flush=True)\n")), None, "helper.py"),
    "module that a module imports": (
        put(verifier_py=judge(IMPORTS), helper_py=""),
        put(gettext_py="import os\n%sos._exit(0)\n" % liar.LIAR.replace(
            ")\n", ", flush=True)\n")), None, "gettext.py"),
    "sourced file": (
        put(env_sh="true\n"),
        put(env_sh="printf '%%s' '%s'; exit\n" % liar.FULL.strip()),
        ". ./env.sh && python3 verifier.py", "env.sh"),
    "program in a folder of PATH": (
        put(run_sh="PATH=$PWD/bin:$PATH\npython3 verifier.py\n"),
        put_program, "sh run.sh", "bin/python3"),
    "configuration": (
        put(verifier_py=judge(READS), limits_json="{}"),
        put(limits_json='{"a": 1}', kernel_txt="1.5\n"), None,
        "limits.json"),
    "target of a link": (
        link_judge, put(common__v_py=liar.LIAR), None, "verifier.py"),
    "outside the workspace": (
        put_outside(liar.VERIFIER), put_outside(liar.LIAR), outside,
        "v.py"),
}

# Name: (files at the start, what the agent does in each iteration, command,
# judge_unchanged, text of the page).
HONEST = {
    "operand of the command": (
        put(eval_py=judge(path="sys.argv[1]"), submission_py="140\n"), solve,
        "python3 eval.py submission.py", None,
        "the command also names submission.py, which changed"),
    "operand of an option": (
        put(eval_py=judge(path="sys.argv[-1]"), submission_py="140\n"), solve,
        "python3 eval.py --kernel submission.py", None,
        "the command also names submission.py, which changed"),
    "operand that task.md names": (
        put(eval_py=judge(path="sys.argv[1]"), submission_py="140\n",
            task_md="Write your solution in `submission.py`.\n"), solve,
        "python3 eval.py submission.py", True,
        "submission.py changed (candidate)"),
    "names that contain a word": (
        put(attention_scores_py="", underscore_kernel_py=""),
        put(attention_scores_py="1\n", underscore_kernel_py="2\n"), None,
        True, "attention_scores.py changed"),
    "files that the judge writes": (
        put(verifier_py=judge(last=WRITES), measurements_log="",
            benchmark_results_json="{}"), None, None, True,
        "benchmark_results.json changed (product)"),
    "binary that the command builds": (
        put(bench_bin="140\n"), None,
        "cp kernel.txt bench.bin && python3 verifier.py", True,
        "bench.bin changed (product)"),
    "programs in a folder of PATH": (
        put(run_sh="PATH=$PWD/bin:$PATH\npython3 verifier.py\n",
            bin__tool_sh="true\n"), None, "sh run.sh", True, "run.sh"),
    "file whose existence is asked": (
        put(verifier_py=judge("os.path.exists('mine.txt')\n")),
        put(mine_txt="1\n"), None, None,
        "it also uses mine.txt, which changed"),
    "files of its own": (
        None, put(test_py="1\n", notes_md="faster\n"), None, True,
        "test.py added"),
    "helper of the kernel": (
        put(verifier_py=judge(IMPORTS), helper_py="",
            task_md="Edit only `kernel.txt` and `helper.py`. Do not edit "
            "`verifier.py`.\n"), put(helper_py="x = 1\n"), None, True,
        "helper.py changed (candidate)"),
    "module that task.md does not mention": (
        put(verifier_py=judge(IMPORTS), helper_py="", task_md="Be fast.\n"),
        put(helper_py="x = 1\n"), None, None,
        "it also uses helper.py, which changed"),
    "linked judge": (link_judge, None, None, True, "verifier.py"),
    "judge outside the workspace": (
        put_outside(liar.VERIFIER), None, outside, None,
        "v.py: outside the workspace"),
    "path that nobody can follow": (
        put(verifier_py=judge("open(chr(47) + 'dev' + chr(47) + 'null')\n")),
        None, None, None, "cannot be followed: verifier.py: line 2, open"),
}


def play(folder, begin, act, command, moment):
    work = os.path.join(folder, "w")
    config = {}
    if callable(command):
        command = command("w")
    if command:
        config["post_attempt_command"] = command
    lies = {key: value for key, value in (("begun", begin), (moment, act))
            if value}
    liar.Run(work, lies, **config).play()
    done = [subprocess.run([TUI, "harness", *args, work], check=False,
                           capture_output=True, text=True).stdout
            for args in (["--json"], [])]
    return json.loads(done[0]), done[1]


def main():
    folder = tempfile.mkdtemp()
    names = sys.argv[1:] or [*LIES, *HONEST]

    def work(name):
        own = os.path.join(folder, name.replace(" ", "-"))
        os.mkdir(own)
        case = LIES.get(name) or HONEST[name]
        return play(own, *case[:3],
                    "attempt 2" if name in LIES else "attempt")
    try:
        with ThreadPoolExecutor(8) as pool:
            for name, (run, page) in zip(names, pool.map(work, names)):
                scores = [it["score_verified"] for it in run["iterations"]]
                best = (run["best_verified"] or {}).get("score")
                if name in LIES:
                    ok(scores[1:] == [None] and
                       best in (liar.BASELINE, liar.TRUE[0]),
                       "%s: not believed" % name, page)
                    ok(run["judge_unchanged"] is False and
                       run["judge_changed"].endswith(LIES[name][3]),
                       "%s is named" % LIES[name][3], page)
                    continue
                _, _, _, unchanged, text = HONEST[name]
                ok(scores == list(liar.TRUE) and
                   best == liar.TRUE[1],
                   "%s: not accused" % name, page)
                ok(run["judge_unchanged"] is unchanged and
                   run["judge_changed"] is None,
                   "judge_unchanged is %s" % json.dumps(unchanged),
                   json.dumps(run, indent=1))
                ok(text in page, text, page)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


sys.exit(main())
