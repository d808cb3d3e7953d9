#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernel benches: arms in one process, and arms that cheat."""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_e2e import run_tests  # noqa: E402
from tap import ok  # noqa: E402

TASK = """import random
CASES = [{"n": 400}, {"name": "long", "n": 800}]
TOLERANCE = {"abs": 1e-9, "rel": 1e-9}
def inputs(case, seed):
    source = random.Random(seed)
    return ([source.random() for _ in range(case["n"])],)
def work(case):
    return 16 * case["n"], 2 * case["n"]
"""
WORK = "[2.0 * v + 1.0 for v in x]"
# Sleeps for much longer than the delays of a busy machine.
HONEST = """import time
def make(case, ms=40):
    def f(x):
        time.sleep(ms / 1e3)
        return %s
    return f
""" % WORK
# What each cheating arm returns instead of working for 40 ms.
LIARS = {
    # The result of the first call with that size.
    "cache": """kept = {}
def make(case):
    return lambda x: kept.setdefault(len(x), %s)
""" % WORK,
    # Returns the control's own output, which is in the control's memory.
    "steal": """import gc
def make(case):
    def f(x):
        for arm in gc.get_objects():
            if type(arm).__name__ == "Arm" and arm.tag == "control":
                return arm.out[0] if arm.out else %s
    return f
""" % WORK,
    # The same in separate memory.
    "copy": """import gc
def make(case):
    def f(x):
        for arm in gc.get_objects():
            if type(arm).__name__ == "Arm" and arm.tag == "control":
                return list(arm.out[0]) if arm.out else %s
    return f
""" % WORK,
    "nothing": "def make(case):\n    return lambda x: None\n",
    # Correct and slow while it is checked, then wrong and fast.
    "later": """calls = [0]
def make(case):
    def f(x):
        calls[0] += 1
        return %s if calls[0] < 4 else x
    return f
""" % WORK,
}
# Fast only for inputs that it has seen before.
MEMO = """memo = {}
import time
def make(case, ms=80):
    def f(x):
        key = tuple(x)
        if key not in memo:
            time.sleep(ms / 1e3)
            memo[key] = %s
        return list(memo[key])
    return f
""" % WORK
# Prints the result that it would like to have.
FORGED = HONEST + """print('{"arm": "forged", "status": "passed", "us": 1e-3}')
"""
CRASH = "def make(case):\n    raise ValueError('no launch for this')\n"


def write(rig, files):
    for name, text in files.items():
        with open(os.path.join(rig.dir, name), "w") as stream:
            stream.write(text)


def task(rig):
    write(rig, {"work/task.py": TASK, "work/kernel.py": HONEST})


def line(rig, *words):
    return ["bench", "run", "--yes", "--json", "--pod", "local", "--in",
            os.path.join(rig.dir, "work"), "--name", "kernel", "--kernel",
            "kernel.py", *words]


def contrasts(done):
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = {"contrasts": []}
    return found, {c["variant"]: c for c in found["contrasts"]}


def liars(rig):
    task(rig)
    arms = dict(LIARS, memo=MEMO, forged=FORGED, crash=CRASH)
    write(rig, {tag + ".py": text for tag, text in arms.items()})
    words = ["--variant", "fast", "--launch", "ms=10"]
    for tag in arms:
        words += ["--variant", "%s=%s.py" % (tag, tag)]
    done = rig.tui(*line(rig, *words), cwd=rig.dir)
    found, arms = contrasts(done)
    ok(done.returncode == 0, "a bench with arms in one process ends regularly", done.stderr.decode())
    fast = arms["fast"]
    ok(fast["verdict"] == "FASTER" and fast["n_blocks"] == 3 and
       fast["ci_pct"][0] > 0, "a quarter of the time: FASTER", fast)
    for tag in LIARS:
        ok(arms[tag]["text"] == "INVALID (work identity)",
           tag + ": INVALID", arms[tag])
        ok(arms[tag]["n_blocks"] == 0, "an INVALID arm has no block", arms[tag])
    ok(arms["memo"]["verdict"] not in ("FASTER", "SAME") and
       arms["memo"]["n_blocks"] == 3,
       "fast only for inputs seen before: not FASTER", arms["memo"])
    ok(arms["forged"]["verdict"] == "INVALID",
       "a result that an arm prints itself is not used", arms["forged"])
    ok(arms["crash"]["text"] == "INVALID (exit)" and
       "no launch for this" in json.dumps(arms["crash"]["guards"]),
       "an exception is reported", arms["crash"])
    kernels = {k["arm"]: k for k in found["kernels"]}
    ok(kernels["control"]["mode"] == "cpu" and
       kernels["cache"]["status"] == "failed", "the probe's result for each "
                                               "arm is stored", sorted(kernels))
    case = kernels["control"]["cases"][1]
    ok(case["name"] == "long" and case["rounds"] >= 8 and
       abs(case["gb_s"] * case["us"] / 12.8 - 1) < 1e-6,
       "bytes per second come from the task", case)
    runs = {r["id"]: r for r in found["runs"]}
    ok(runs["0_local_fast"]["t0"] == runs["0_local_control"]["t0"],
       "both arms run in one process", runs["0_local_fast"])
    ok(not any(r["pos"] for r in found["runs"]),
       "runs of one process have no position in the block")
    shown = rig.tui("bench", "show", "--all", "kernel").stdout.decode()
    ok("kernels (last process)" in shown and
       "the host's clock" in shown, "bench show has the times of kernels", shown)


def killed(rig):
    """A process continues without hgym-tui, and all its arms are picked up."""
    task(rig)
    path = os.path.join(rig.dir, "kernel.json")
    plan = {"schema": "hgym.bench/1", "name": "kernel",
            "workload": {"kind": "kernel", "cwd": os.path.join(rig.dir, "work"),
                         "seconds": 0.5},
            "metric": {"key": "us"},
            "variants": [{"tag": "A", "control": True},
                         {"tag": "B", "launch": {"ms": 10}}],
            "pods": [rig.pod("p1")],
            "design": {"blocks_per_pod": 3, "aa": False}}
    write(rig, {"kernel.json": json.dumps(plan)})
    child = rig.start(path)
    began = []
    for text in child.stderr:
        began += [text] if b" started" in text else []
        if len(began) == 2:
            break
    child.send_signal(signal.SIGKILL)
    child.communicate()
    done = rig.tui("bench", "attach", "--json", "kernel")
    found = contrasts(done)[1].get("B", {})
    ok(found.get("verdict") == "FASTER" and found["n_blocks"] == 3,
       "bench attach fetches a process that continued", (found, done.stderr))
    runs = json.loads(done.stdout)["runs"]
    ok(len(runs) == 6 and all(
        r["t0"] == next(o for o in runs if o["block"] == r["block"])["t0"]
        for r in runs), "each block has arms of one process", runs)
    rig.clean("kernel")
    lost = dict(plan, name="lost", workload=dict(plan["workload"],
                                                 task="nothing.py"))
    write(rig, {"kernel.json": json.dumps(lost)})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    ok(done.returncode == 3 and b"the first run (A) has no value" in done.stderr
       and b"nothing.py" in done.stderr, "a missing task file is reported",
       (done.returncode, done.stderr))
    for change, why in (({"command": "true"}, '"command" is not allowed'),
                        ({"kind": "command"}, 'only allowed with "kind"'),
                        ({"module": "/etc/x.py"}, "inside the working folder"),
                        ({"function": "a b"}, "a function name")):
        wrong = dict(plan, workload=dict(plan["workload"], **change))
        write(rig, {"kernel.json": json.dumps(wrong)})
        done = rig.tui("bench", "run", "--dry-run", path)
        ok(done.returncode == 2 and why in done.stderr.decode(),
           "refused: " + why, done.stderr)


def grid(rig):
    task(rig)
    write(rig, {"work/task.py": TASK.replace("CASES", "OTHERS")
                .replace('case["n"]', "300")})
    done = rig.tui(*line(rig, "--blocks", "5", "--grid", "ms=10,60,80"),
                   cwd=rig.dir)
    found, arms = contrasts(done)
    ok(arms["ms10"]["verdict"] == "FASTER" and
       arms["ms60"]["verdict"] == "SLOWER", "a grid of settings: each value has its verdict", arms)
    best = found["best"]
    ok((best["tag"], best["state"]) == ("ms10", "confirmed") and
       best["fresh_blocks"] == 3,
       "the best of a grid is confirmed by processes that did not choose it", best)
    done = rig.tui(*line(rig, "--grid", "ms"), cwd=rig.dir)
    ok(done.returncode == 2 and b"expected NAME=VALUE" in done.stderr,
       "a grid without values is refused", done.stderr)


def bytecode(rig):
    """If torch has no bytecode, the processes of a bench compile it only once."""
    task(rig)
    site = os.path.join(rig.dir, "site")
    os.makedirs(os.path.join(site, "torch"))
    write(rig, {"site/torch/__init__.py": "from . import cuda\n", "site/torch/cuda.py":
                "def is_available():\n    return False\n"})
    words = ("--env", "PYTHONPATH=" + site, "--variant", "fast", "--launch", "ms=10")
    found = {}
    for name in ("bare", "compiled"):
        if name == "compiled":
            os.mkdir(os.path.join(site, "torch", "__pycache__"))
        done = rig.tui(*line(rig, "--name", name, *words), cwd=rig.dir)
        ok(contrasts(done)[1]["fast"]["verdict"] == "FASTER", name + " packages: FASTER",
           done.stderr)
        found[name] = [file.split(".")[0] for path, _, files in os.walk(rig.dir)
                       if "/%s-" % name in path and "/bytecode/" in path for file in files]
    ok(sorted(found["bare"]) == ["__init__", "cuda"],
       "the bench's folder keeps only torch's bytecode, not the task's or the arms'",
       found["bare"])
    ok(not found["compiled"] and not os.listdir(os.path.join(site, "torch", "__pycache__")),
       "packages that have bytecode are left alone", found["compiled"])
    rig.clean("bare", "compiled")


if __name__ == "__main__":
    sys.exit(run_tests((liars, killed, grid, bytecode)))
