#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`b` on a run with a kernel_config.json offers its values as the arms of a
bench; whatever an agent writes into such a file, nothing of it is executed. On
a comparison it offers the trials."""
import glob
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
                for name in ("screen", "support", "tools")]
import harness_liar as liar  # noqa: E402
from home import home_dirs  # noqa: E402
from tap import finish, ok  # noqa: E402
from vt import Program  # noqa: E402
from wait import until  # noqa: E402

TOLD = "kernel_config.json"
# A verifier as in the published tasks; SILENT: it does not print its
# configuration.
VERIFIER = """import json
config = json.load(open("kernel_config.json"))
told = {} if config.get("silent") else {"config": config}
print(json.dumps({"best_us": 100.0 + 10 * config["num_warps"],
                  "mode": "final", "status": "passed", **told}))
"""
KERNEL = """import json, os, time
HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "kernel_config.json")) as text:
    config = json.load(text)
def make(case):
    def f(x):
        time.sleep((2 + config["num_warps"] + config.get("more", 0)) / 250)
        return [2.0 * v for v in x]
    return f
"""
MAY_EDIT = "You may edit `kernel.py`, `kernel.txt` and `kernel_config.json`.\n"
TASK = """DEVICE = "cpu"
def inputs(case, seed):
    return ([float(seed % 97)],)
"""


def play(folder, told, files=None):
    """Play a run with these kernel configurations: first for the template, then for
    each iteration (None: unchanged)."""
    def begun(run):
        for name, text in {"verifier.py": VERIFIER, "kernel.py": KERNEL,
                           TOLD: json.dumps(told[0]), "task.md": MAY_EDIT,
                           **(files or {})}.items():
            liar.write(os.path.join(run.work, name), text)

    def attempt(run):
        if told[run.n] is not None:
            liar.write(os.path.join(run.work, TOLD), json.dumps(told[run.n]))
    liar.Run(folder, {"begun": begun, "attempt": attempt}, None,
             iterations=len(told) - 1).play()
    return os.path.join(folder, ".harnessgym/runs/liar")


def start(folder, work):
    screen = Program([TUI, work], 150, 50, home_dirs(folder), folder)
    screen.send("8")
    screen.wait_for("best VERIFIED")
    return screen


def leave(screen):
    screen.send("Q")
    ok(screen.end() == 0, "the dashboard ends")
    screen.close()


def ask(screen):
    """Choose the second of the two benches."""
    screen.send("b")
    ok(screen.wait_for("Choose a bench") and
       screen.wait_for("as a kernel bench"),
       "the run offers two benches", screen.screen.text())
    screen.send("settings\r")


def plans(folder):
    found = glob.glob(folder + "/**/plans/liar-set.json", recursive=True)
    return [json.load(open(path, encoding="utf-8")) for path in found]


def test_kernel(folder):
    """With a task.py, the run offers a kernel bench, which starts after "yes"."""
    work = os.path.join(folder, "it's here")
    play(work, [{"num_warps": 8}, {"num_warps": 4, "more": 1},
                {"num_warps": 1}], {"task.py": TASK})
    screen = start(folder, work)
    ask(screen)
    ok(screen.wait_for("type yes") and
       screen.wait_for('overlay kernel_config.json {"num_warps":8}')
       and screen.wait_for(
           'overlay kernel_config.json {"num_warps":4,"more":1}') and
       screen.wait_for("HGYM_PROBE"),
       "the exact command and the overlays are shown", screen.screen.text())
    plan = plans(folder)[0]
    ok(plan["workload"]["kind"] == "kernel" and
       [v["tag"] for v in plan["variants"]] ==
       ["template", "iteration-2", "iteration-1"] and
       plan["variants"][0]["control"] and
       "overlay" not in plan["variants"][1],
       "the template is the control, then the best iteration, then the other", plan)
    screen.send("no\r")
    ok(screen.wait_for("cancelled"),
       "an answer other than yes starts nothing")
    ask(screen)
    screen.wait_for("type yes")
    screen.send("yes\r")

    def verdict():
        for path in glob.glob(folder + "/**/verdict.json", recursive=True):
            for one in liar.read(path).get("contrasts", []):
                if one["variant"] == "iteration-2":
                    return one["verdict"]
        return None
    ok(until(lambda: verdict() == "FASTER"),
       "the bench finds 12 ms faster than 40 ms", verdict())
    leave(screen)


def test_command(folder):
    """Without a task.py the verifier measures, and must equal that of the
    template; a key that the template lacks is removed from the control's
    file."""
    work = os.path.join(folder, "work")
    run = play(work, [{"num_warps": 8, "silent": True},
                      {"num_warps": 1, "num_warps_4096": 2, "silent": True}])
    screen = start(folder, work)
    ask(screen)
    screen.wait_for("type yes")
    plan = plans(folder)[0]
    ok(plan["variants"][0]["overlay"] ==
       {TOLD: {"num_warps": 8, "num_warps_4096": None}},
       "the overlay comes from both files", plan)
    ok(run + "/qualification/workspace_template" in
       plan["workload"]["command"] and "cmp" in plan["workload"]["command"],
       "the template's verifier is used", plan)
    screen.send("\x1b")
    # The other bench can still be chosen.
    screen.send("b")
    screen.wait_for("Choose a bench")
    screen.send("\r")
    ok(screen.wait_for("template, run a second time in each"),
       "the first bench compares the template with the checkpoint", screen.screen.text())
    screen.send("\x1b")
    leave(screen)


def trial(folder, group, number, kernel, valid=True, judge=VERIFIER,
          printed=None):
    """Write a trial as HarnessGym leaves it; printed: the verifier's output."""
    own = os.path.join(folder, group, "trial_%d" % number)
    for name, text in (("verifier.py", judge), (TOLD, json.dumps(kernel))):
        liar.write(os.path.join(own, "workspace", name), text)
    liar.write(own + "/workspace/.harnessgym/runs/%s/run_config.json" % group,
               {})
    done = subprocess.run(["python3", "verifier.py"], cwd=own + "/workspace",
                          check=False, capture_output=True, text=True)
    printed = printed or done.stdout
    liar.write(own + "/post.stdout.txt", printed)
    score = json.loads(printed)["best_us"]
    liar.write(own + "/trial.json", {
        "group": group, "trial": number, "status": "solved",
        "run_id": group, "comparison_valid": True, "post_valid": valid,
        "objective_post_valid": valid, "post_score": score, "post_result": {
            "command": "python3 verifier.py", "status": "completed",
            "return_code": 0, "score": score, "score_key": "best_us"}})


def test_trials(folder):
    """The arms are the trials that count and have different files, measured by
    the task's own judge."""
    work, task = (os.path.join(folder, name) for name in ("out", "the task"))
    liar.write(task + "/verifier.py", VERIFIER)
    trial(work, "plain", 1, {"num_warps": 8})
    trial(work, "plain", 2, {"num_warps": 8})
    trial(work, "harnessed", 1, {"num_warps": 4})
    trial(work, "harnessed", 2, {"num_warps": 2}, valid=False)
    trial(work, "harnessed", 3, {"num_warps": 1},
          judge=VERIFIER.replace("100.0", "10.0"))

    def made():
        return subprocess.run([TUI, "harness", "--ab", work], check=False,
                              capture_output=True, text=True)
    done = made()
    ok(done.returncode != 0 and "has no report yet" in done.stderr,
       "a running comparison gives no bench", done)

    def changed():
        page = subprocess.run([TUI, "harness", work], check=False,
                              capture_output=True, text=True).stdout
        return page.count("judge changed: verifier.py")
    ok(changed() == 0, "without a template no judge is compared")
    copy = work + ("/plain/trial_1/workspace/.harnessgym/runs/plain/"
                   "qualification/workspace_template/verifier.py")
    liar.write(copy, VERIFIER)
    ok(changed() == 1, "with a template the judge is compared before the "
                       "report exists")
    os.remove(copy)
    liar.write(work + "/compare_report.json",
               {"workspace_template": task, "trials": [], "summary": {}})
    done = made()
    plan = json.loads(done.stdout or "{}")
    ok([v["tag"] for v in plan.get("variants", [])] ==
       ["plain-1", "harnessed-1"] and
       plan["variants"][0]["control"] is True,
       "the arms are the trials that count, each once", done)
    trial(work, "harnessed", 4, {"num_warps": 5},
          printed='{"best_us": 1.5, "status": "passed"}\n')
    page = subprocess.run([TUI, "harness", work], check=False,
                          capture_output=True, text=True).stdout
    ok('INVALID 1.5 ("mode" of plain trial 1 is missing)' in page and
       "1 of 4 trials valid" in page and "2 of 2 trials valid" in page,
       "only the trial whose output lacks a key is doubted",
       page)
    shutil.rmtree(work + "/harnessed/trial_4")
    liar.write(work + "/harnessed/trial_1/workspace/verifier.py",
               VERIFIER.replace("100.0", "10.0"))
    os.mkdir(work + "/job")
    ran = [subprocess.run(["sh", "-c", command], check=False,
                          capture_output=True, text=True,
                          env={**os.environ, "HGYM_JOB": work + "/job/1;"})
           for command in [plan["workload"]["prepare"]] +
           [v["command"] for v in plan["variants"]]][1:]
    ok([r.returncode for r in ran] == [0, 9] and
       json.loads(ran[0].stdout)["best_us"] == 180,
       "each arm runs, except one whose judge changed since", ran)
    liar.write(work + "/harnessed/trial_1/workspace/verifier.py", VERIFIER)
    screen = Program([TUI, work], 150, 50, home_dirs(folder), folder)
    screen.send("8")
    ok(screen.wait_for(("by python3 verifier.py", "solved    valid 180")),
       "score, state and trials are shown", screen.screen.text())
    screen.send("b")
    ok(screen.wait_for("type yes") and
       screen.wait_for("harnessed-1"),
       "b shows the arms and waits for yes", screen.screen.text())
    screen.send("\x1b")
    leave(screen)
    for i in range(4, 12):
        trial(work, "harnessed", i, {"num_warps": 10 * i})
    plan, more = json.loads(made().stdout), plan
    ok(len(plan["variants"]) == 8 and plan["note"] ==
       "2 more trials left out: this bench has at most 8 arms" and
       "note" not in more, "trials that eight arms leave out are reported", plan)
    liar.write(work + "/many.json", json.dumps(plan))
    done = subprocess.run([TUI, "bench", "run", "--dry-run",
                           work + "/many.json"], check=False,
                          capture_output=True, text=True)
    ok("2 more trials left out" in done.stdout, "more than eight arms: "
                                                "reported before the start", done)
    shutil.rmtree(task)
    ok(subprocess.run(["sh", "-c", plan["workload"]["prepare"] + " && " +
                       plan["variants"][0]["command"]], check=False,
                      capture_output=True, env={
                          **os.environ, "HGYM_JOB": work + "/more/1;"}
                      ).returncode != 0,
       "without the task's folder nothing is measured")
    shutil.rmtree(work + "/harnessed")
    done = made()
    ok(done.returncode != 0 and "fewer than two trials" in done.stderr,
       "trials with equal files are not compared", done)


# tests/unit/t-bench-plan.c tests other invalid files.
HOSTILE = {
    "huge": ('{"num_warps": 1, "pad": "%s"}' % ("x" * 5000000),
             "not a JSON object"),
    "a shell": (json.dumps({"num_warps": "$(touch owned)"}),
                '"num_warps" is not a number'),
    "an escape in a name": ('{"\\u001b]0;owned\\u0007": 1}',
                            "]0;owned\u00b7\" is not a number"),
    "another": ('{"num_warps": 2}', "contains num_warps 2, but the "
                "verifier printed 1"),
}


def test_hostile(folder):
    work = os.path.join(folder, "work")
    path = play(work, [{"num_warps": 8}, {"num_warps": 1}]) + \
        "/checkpoints/best/" + TOLD
    for name, (text, words) in HOSTILE.items():
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        # A dashboard that starts now shows the run only after it has read all
        # of its files, so one press gives the answer for this text.
        screen = start(folder, work)
        ask(screen)
        ok(screen.wait_for(words), "%s is refused with one sentence" % name,
           screen.screen.text())
        leave(screen)
    ok(not glob.glob(folder + "/**/owned", recursive=True),
       "no part of an invalid file was executed")


def main():
    folder = tempfile.mkdtemp()

    def alone(test):
        own = os.path.join(folder, test.__name__)
        os.mkdir(own)
        test(own)
    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(alone, (test_kernel, test_command, test_trials,
                                  test_hostile)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


sys.exit(main())
