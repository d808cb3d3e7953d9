#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cheating agent is never believed: whatever it writes, and whenever the run
is read, its score 1.5 is not verified."""
import json
import os
import re
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

# Cases whose best score at the end is not 110, the score of iteration 2.
# 130 is the true score of iteration 1, and 140 the score of the baseline.
BEST = {
    130: ["judge swapped", "judge linked", "byte code linked",
          "module shadowed", "module shadowed as bytes",
          "module shadowed below", "judge hides itself", "output rewritten",
          "output replaced", "output linked", "output hard-linked",
          "output edited at once", "output edited, then the result",
          "output pushed out", "verifier's sentence", "iteration linked",
          "score 1e999", "score nan", "score twice", "score true",
          "score below 0", "score in quotes", "judge restored at once",
          "judge moved", "printed over", "output piped",
          "prompt again", "score of another task", "judge compiled",
          "judge compiled with its date", "judge compiled with its hash",
          "judge compiled among many",
          "module a package of bytes", "python customized",
          "module hidden among many", "module beside the judge",
          "expected changed",
          "cases with names only", "printed before it", "printed after it",
          "printed before a null", "printed behind a mark",
          "on another device", "in another mode", "time longer than the run",
          "score in capitals", "score escaped", "score below", "case twice",
          "output cut", "output added to", "output of another run",
          "output a folder", "checkpoint claimed", "score 0", "score a list",
          "score in full-width digits", "score of near 0", "total of others",
          "template's judge dropped"],
    140: ["judge put back", "judge and template swapped",
          "judge swapped and left", "judge swapped twice", "manifest touched",
          *("manifest of iteration %s" % value
            for value in (99, "nan", 1e300, 1.5, -1, None)), "restore claimed",
          "module shadowed and gone", "iterations renumbered",
          "iteration moved in", "old run newest", "output copied",
          "template dropped", "no template",
          "template emptied", ],
    None: ["run beside it", "direction turned", "post without a command",
           "output without a command", "command added", "key changed"],
}
# Moments at which a forgery is not detected yet: the agent has forged all files in
# the right order. It is detected when HarnessGym continues.
UNDECIDED = {"run beside it": ["build 2"]}
TRUE = {None, liar.BASELINE, *liar.TRUE}
# Text that the JSON or the page contains at the end.
SAYS = {
    "score edited": "iteration 1: result.json has 1.5, the verifier "
                    "printed 130",
    "score edited in the last build":
        "iteration 2: result.json has 1.5, the verifier printed 110",
    "judge swapped": "judge changed: verifier.py",
    **{"manifest of iteration %s" % value:
       "best_manifest.json names no iteration of this run"
       for value in (99, "nan", 1e300, 1.5, -1, None)},
    "judge linked": "judge changed: verifier.py",
    "judge put back later": "judge rewritten: verifier.py",
    "judge put back": "checkpoint changed: verifier.py",
    "judge hides itself": "iteration 2: the verifier printed 1.5, and 110 "
                          "after the restore",
    "judge swapped twice": "checkpoint changed: verifier.py",
    "restore claimed": "judge rewritten: verifier.py",
    "module shadowed as bytes": "judge changed: json.pyc",
    "module shadowed below": "judge changed: bisect.py",
    "module shadowed and gone": "checkpoint changed: verifier.py",
    "output edited at once": "iteration 2: best_manifest.json has 110, the "
                             "verifier printed 1.5",
    "output edited, then the result": "the checkpoint has a worse score",
    "verifier's sentence": "0 of the baseline's 2 cases",
    "iterations renumbered": "HarnessGym has not started this iteration",
    "iteration moved in": "the next iteration started before this one "
                          "ended",
    "score 1e999": "verifier printed no finite number",
    "score nan": "verifier printed no finite number",
    "score twice": 'duplicate key "',
    "score below 0": "not a possible measurement",
    "module shadowed": "judge changed: json.py",
    "judge and template swapped": "verifier.py: rewritten during the run",
    "output rewritten": "changed after it was written",
    "output replaced": "changed after it was written",
    "post without a command": "not measured",
    "run beside it": "another run was active",
    "template dropped": "template changed: qualification/workspace_template",
    "template emptied": "template changed: qualification",
    "template's judge dropped": "judge changed: verifier.py",
    "no template": "judge rewritten: verifier.py",
    "judge compiled": "judge changed: __pycache__/reference.",
    "output copied": "iteration 1: result.json has 130, the verifier "
                     "printed 110",
    "judge compiled with its date": "judge changed: __pycache__/reference.",
    "judge compiled with its hash": "judge changed: __pycache__/reference.",
    "judge compiled among many": "judge changed: __pycache__/reference.",
    "module a package of bytes": "judge changed: reference/__init__.pyc",
    "python customized": "judge changed: sitecustomize.py",
    "module hidden among many": "judge changed: json.py",
    "module beside the judge": "judge changed: bench/json.py",
    "byte code linked": "__pycache__/reference.",
    "expected changed": "judge changed: expected.bin",
    "cases with names only": '"device" of the baseline is missing',
    "printed before it": "iteration 2: the verifier printed 1.5 and 110: "
                         "neither counts",
    "printed after it": "iteration 2: the verifier printed 110 and 1.5: "
                         "neither counts",
    "on another device": "device is NVIDIA H100, but cpu in the baseline",
    "in another mode": "mode is dev, but final in the baseline",
    "time longer than the run": "reports 60 s of work, but the command ran ",
    "total of others": "INVALID 1.5 (its cases give the score 110)",
    "checkpoint dropped": "the checkpoint of iteration 2 has no files",
    "score in quotes": "verifier printed no finite number",
}


def told(folder, *args):
    """Show the run that was started, even if another looks newer."""
    if folder.endswith("old-run-newest"):
        args = (*args, "--run", "liar")
    done = subprocess.run([TUI, "harness", *args, folder], check=False,
                          capture_output=True, text=True)
    return done.stdout


def told_of_pod(folder, config):
    """The same over a transport, without values that depend on the clock."""
    name = "here:" + folder
    more = ("--run", "liar") if folder.endswith("old-run-newest") else ()
    done = subprocess.run([TUI, "--config", config, "harness", "--json", *more,
                           name], check=False, capture_output=True, text=True)
    return still(done.stdout) if done.stdout else done.stderr


def still(text):
    return {**json.loads(text), "live": None}


def believed(text):
    """Return the forged scores that are shown as verified."""
    run = json.loads(text)
    numbers = [it["score_verified"] for it in run["iterations"]]
    best = run["best_verified"]
    return {*numbers, best["score"] if best else None} - TRUE


def lie(case):
    """Play a run: (moments when it was believed, moments, JSON and page at the end)."""
    name, folder = case
    wrong, seen = [], []
    acts = [key for key, act in liar.LIES[name].items() if callable(act)]
    first = acts[0] if acts and all(act.endswith(" 2") for act in acts) else ""

    def look(moment, run):
        # Before the first forgery the run equals the honest one.
        if first and not seen and moment != first:
            return
        text = told(run.work, "--json")
        seen.append(moment)
        if moment != "end 2" and json.loads(text)["run_state"] == "finished":
            wrong.append(moment + ": finished")
        if believed(text) and moment not in UNDECIDED.get(name, []):
            wrong.append(moment)
    try:
        liar.play(folder, name, look)
        if first and first not in seen:
            wrong.append("the scenario has no lie")
        return wrong, seen, told(folder, "--json"), told(folder)
    except Exception as error:  # reported as a failure of the check
        return ["%r" % error], seen, "", ""


def lie_printed(names, folder):
    """Play all forgeries that only print in one run, each in its own iteration."""
    wrong = {}

    def look(moment, run):
        phase, n = moment.split()
        if phase in ("printed", "build", "end") and run.n > 1:
            text = told(run.work, "--json")
            if believed(text) or phase != "end" and json.loads(text)[
                    "run_state"] == "finished":
                wrong.setdefault(names[int(n) - 2], []).append((moment, text))
    liar.play_printed(folder, names, look)
    return wrong, told(folder, "--json"), told(folder)


def judge_printed(names, folder, config, outcome):
    wrong, text, page = outcome
    run = json.loads(text)
    ok(run["best_verified"]["score"] == 130, "the best score is the true one", text)
    ok(told_of_pod(folder, config) == still(text), "the best score on a pod is the true one")
    ok("passed with 1.5" not in page, "the restored score 1.5 is not shown as "
                                      "passed", page)
    for n, name in enumerate(names, 2):
        its = run["iterations"][n - 1]
        says = SAYS.get(name, "").replace("iteration 2:", "iteration %d:" % n)
        said = "%s %s" % (json.dumps(its), run["contradictions"]) + "".join(
            line for line in page.splitlines()
            if re.match(r"\W*%d " % n, line))
        ok(name not in wrong and its["score_verified"] is None and
           name in BEST[130], "%s: not believed" % name, wrong.get(name, its))
        ok(says in said, "%s: the reason is shown" % name, (says, said))


def judge(name, folder, config, outcome):
    wrong, seen, text, page = outcome
    if not ok(not wrong and seen, "%s: not believed" % name,
              (wrong, text)):
        return
    ok("passed with 1.5" not in page, "the restored score 1.5 is not shown as "
                                      "passed", page)
    run = json.loads(text)
    best = run["best_verified"]
    true = ([score for score, names in BEST.items() if name in names] or
            [110])[0]
    ok((best and best["score"]) == true, "the best is %s" % true, text)
    pod = told_of_pod(folder, config)
    ok(pod == still(text), "a pod gives the same result", pod)
    if name in SAYS:
        ok(SAYS[name] in text or SAYS[name] in page, "%s: the reason is shown" % name,
           text + page)
    if name == "honest" or name == "judge divided":
        ok(run.get("contradictions") == [] and
           run.get("judge_unchanged") is True and
           [it.get("evidence") for it in run["iterations"]] == ["printed"] * 2,
           "an honest run is not accused", text)
    if name == "baseline worsened":
        ok(run["improvement_vs_baseline_pct"] is None,
           "a changed baseline gives no gain", text)


def test_copies(folder):
    """A copied run keeps its scores."""
    for name, command in (("with times", ["cp", "-a"]),
                          ("without", ["cp", "-r"])):
        to = os.path.join(folder, "copy-" + name.replace(" ", "-"))
        subprocess.run(command + [os.path.join(folder, "honest"), to],
                       check=True)
        run = json.loads(told(to, "--json"))
        ok(run["best_verified"]["score"] == 110, "a copy %s keeps its scores" % name, run)
        ok(run["iterations"][0].get("evidence") == "copied",
           "the evidence of a copied run is \"copied\"", run)
    one, two = (os.path.join(to, ".harnessgym/runs/liar/iterations", n)
                for n in "12")
    os.rename(one, one + "x")
    os.rename(two, one)
    os.rename(one + "x", two)
    page = told(to)
    ok(page.count("result.json belongs to another iteration") == 3,
       "swapped iterations are reported", page)


def main():
    folder = tempfile.mkdtemp()
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"schema": "hgym-tui.config/1", "pods": [
            {"name": "here", "transport": "local"}]}, out)
    printed = [] if sys.argv[1:] else list(filter(liar.is_printed, liar.LIES))
    cases = [(name, os.path.join(folder, name.replace(" ", "-")))
             for name in sys.argv[1:] or liar.LIES if name not in printed]
    try:
        # Most of the time is spent in the simulated HarnessGym.
        with ThreadPoolExecutor(16) as pool:
            shared = [(printed[i::3], os.path.join(folder, "printed-%d" % i))
                      for i in range(3) if printed]
            told_by = [pool.submit(lie_printed, *one) for one in shared]
            for (name, path), outcome in zip(cases, pool.map(lie, cases)):
                judge(name, path, config, outcome)
            for one, outcome in zip(shared, told_by):
                judge_printed(*one, config, outcome.result())
        if not sys.argv[1:]:
            test_copies(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


sys.exit(main())
