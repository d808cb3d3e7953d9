#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench run with variants that do other work, or whose logs are wrong."""
import glob
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "support")]
from odd_e2e import ROWS, over_sshd, put  # noqa: E402
from run_e2e import check_faster, run_tests, verdict_of  # noqa: E402
from tap import ok  # noqa: E402


def other_work(rig):
    """Settings, sources and data that differ from the control's."""
    env = {"MODE": "heads", "STEP_MS": "1900"}
    heads = rig.bench("heads", [rig.pod("p1", alone=True)], {"env": env})
    told = rig.bench("told", [rig.pod("p2", alone=True)],
                     {"env": env, "declares": ["num_heads"]})
    place = "echo output_dir: runs/$PLACE; sh workload.sh"
    places = [rig.bench(name, [rig.pod("p%d" % pod, alone=True)],
                        {"env": {"STEP_MS": "1900"}},
                        workload={"command": "case ${HGYM_JOB##*/} in "
                                  "*_A*) PLACE=%s ;; *) PLACE=%s ;; esac; %s"
                                  % (control, variant, place)})
              for name, pod, control, variant in (
                  ("place", 4, "A/x", "B/x"), ("lost", 5, "A/x", "C/x"))]
    work = os.path.join(rig.dir, "work")
    data = os.path.join(work, "data")
    os.mkdir(data)
    put(os.path.join(data, "train.bin"), "tokens")
    wrong = {"workload": {"data": ["data"], "data_sha256": "0" * 64}}
    faster, pods = {"env": {"STEP_MS": "1900"}}, [rig.pod("p3", alone=True)]
    done = rig.tui("bench", "run", "--yes",
                   rig.bench("data", pods, faster, **wrong))
    ok(done.returncode == 4 and b"its data has the hash" in done.stderr,
       "data that differs from the plan's is refused", done.stderr)
    right = done.stderr.split(b"its data has the hash ")[1][:64].decode()
    wrong["workload"]["data_sha256"] = right
    heads, told, own, other, right = map(verdict_of, rig.run_all(
        heads, told, *places, rig.bench("right", pods, faster, **wrong)))
    check_faster(own, "a separate folder for results: FASTER")
    ok(other["text"] == "INVALID (same work)" and "output_dir" in
       str(other["guards"]), "a folder outside the arm's: INVALID",
       other)
    ok(heads["text"] == "INVALID (same work)" and
       "num_heads 16, the control's 8" in str(heads["guards"]),
       "a setting that was not declared: INVALID", heads)
    check_faster(told, "a declared setting: FASTER")
    check_faster(right, "declared data: FASTER")
    record = os.path.join(rig.folder("right"), "runs", "1_p3_A", "run.json")
    text = json.load(open(record))
    text["drift_s"] = text["up_s"] + 3.0
    put(record, json.dumps(text))
    done = rig.tui("bench", "show", "--json", "right")
    ok(verdict_of(done)["verdict"] == "FASTER",
       "a stored verdict does not change", verdict_of(done)["text"])
    for words in (["attach", "--json", "right"], ["show", "--json", "right"]):
        done = rig.tui("bench", *words)
        found = verdict_of(done)
        ok(found["text"] == "NOT JUDGED (2 blocks, need 3)" and "clock drift"
           in json.loads(done.stdout)["dropped_blocks"][0]["reason"],
           "a pod whose clock stood still: its block is dropped, bench "
           + words[0] + " judged again", found["text"])
    done = rig.tui("bench", "list", "--json")
    ok(b"NOT JUDGED (2 blocks, need 3)" in done.stdout, "bench list has the verdict "
                                                        "judged again", done.stdout)
    rig.clean("data", "heads", "told", "place", "lost", "right")


def edited(rig):
    path = rig.bench("edit", [rig.pod("p1")], {"env": {
        "MODE": "edit", "STEP_MS": "1900",
        "ONCE": os.path.join(rig.dir, "once")}})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (shared files)" and
       "changed workload.sh, which" in str(found["guards"]),
       "a script that a run edits: INVALID", (found["text"], found["guards"]))
    rig.clean("edit")


TRAINER = """import mmap, os, subprocess, sys, time
file = open(os.path.join(os.environ["SITE"], "torch/lib/libtorch.so"), "rb")
torch = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
seen = os.path.join(os.path.dirname(os.readlink("/proc/self/fd/1")), "seen")
for _ in range(600):
    if os.path.exists(seen) and "torch" in open(seen).read():
        break
    time.sleep(0.1)
sys.exit(subprocess.run(["sh", "workload.sh"]).returncode)
"""


def runtimes(rig):
    """Arms that run with another torch, declared or not."""
    work = os.path.join(rig.dir, "work")
    put(os.path.join(work, "train.py"), TRAINER)
    sites = []
    for version in ("2.6.0", "2.9.1+cu128"):
        site = os.path.join(rig.dir, "venv-" + version, "site-packages")
        os.makedirs(os.path.join(site, "torch", "lib"))
        os.mkdir(os.path.join(site, "torch-%s.dist-info" % version))
        put(os.path.join(site, "torch", "lib", "libtorch.so"), "x" * 4096)
        sites.append(site)

    def bench(name, pod, variant):
        return rig.bench(name, [rig.pod(pod, alone=True)], variant, workload={
            "command": "python3 train.py",
            "env": {"STEP_MS": "2000", "SITE": sites[0]}})

    env = {"STEP_MS": "1900", "SITE": sites[1]}
    (found, said), (told, said_told), (other, said_other) = [
        (found, [g for g in found.get("guards", [])
                 if g["guard"] == "environment"])
        for found in map(verdict_of, rig.run_all(
            bench("venv", "p1", {"env": env}),
            bench("told", "p2", {"env": env, "declares": ["torch"]}),
            bench("other", "p3", {"env": {"STEP_MS": "1900"}, "command":
                                  "env SITE=%s python3 train.py" %
                                  sites[1]})))]
    ok(found["text"] == "INVALID (environment)" and said and
       said[0]["text"] == "it ran with torch 2.9.1+cu128, the control with "
       "2.6.0", "another torch by an undeclared variable: INVALID",
       (found["text"], said))
    run = json.load(open(os.path.join(rig.folder("venv"), "runs", "0_p1_A",
                                      "run.json")))
    ok(run["runtime"].startswith("python /") and
       run["runtime"].endswith("; torch 2.6.0"), "run.json has the version",
       run["runtime"])
    check_faster(told, "a declared version: FASTER")
    ok(not said_told and not told["suffix"], "a declared version: no warning", said_told)
    check_faster(other, "a variant with its own command: FASTER")
    ok("other environment" in other["text"] and said_other and
       not said_other[0]["hard"], "a variant with its own command: the verdict names the environment",
       (other["text"], said_other))
    rig.clean("venv", "told", "other")


def false_clock(rig):
    """A log whose clock shows less time than passed, while rows appear as
    before."""
    pods = [rig.pod(name, alone=True) for name in ("p1", "p2", "p3")]
    path = rig.bench("clock", pods, {"env": {"STEP_MS": "120"}}, workload={
        "env": {"STEP_MS": "200", "MODE": "live", "ROW_S": "1"}},
        design={"blocks_per_pod": 1})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (log clock)" and any(
           g["hard"] and "by the pod's clock" in g["text"]
           for g in found["guards"]),
       "time that the log does not count: no verdict", found)
    rig.clean("clock")


def hooks(rig):
    """A kernel_config.json with keys that the kernel does not read."""
    work = os.path.join(rig.dir, "work")
    put(os.path.join(work, "kernel_config.json"), '{"num_warps": 8}')
    put(os.path.join(work, "kernel.py"),
        'c = load()\nw = c.get("num_warps", 8)\n')
    path = rig.bench("deaf", [rig.pod("p1")], {"overlay": {
        "kernel_config.json": {"num_warps": 4, "rows_per_program_4096": 2}}})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b"does not read rows_per_program_4096: this "
       b"variant would run the same code as the control" in done.stderr,
       "an overlay key that the kernel does not read is refused", done.stderr)
    rig.clean("deaf")
    put(os.path.join(rig.dir, "hooked.py"),
        'w = c.get("num_warps")\nr = c.get(f"rows_per_program_{dim}")\n')
    path = rig.bench("hears", [rig.pod("p1")], {
        "env": {"STEP_MS": "1900"}, "files": {"kernel.py": "hooked.py"},
        "overlay": {"kernel_config.json": {"rows_per_program_4096": 2}}})
    check_faster(verdict_of(rig.tui("bench", "run", "--yes", "--json", path)),
                 "an overlay key that the new kernel reads: FASTER")
    rig.clean("hears")


@over_sshd
def buffered(rig, sshd):
    """Rows of a Python program are timed when they are printed, or known to be
    late."""
    put(os.path.join(rig.dir, "work", "rows.py"), ROWS)
    path = rig.bench("rows", [sshd.pod("p1", gpus=[0])],
                     {"env": {"KEEP": "1"}}, workload={
        "command": "exec python3 rows.py", "env": {}}, metric={
        "window": {"mode": "fixed", "lo": 5, "hi": 30}},
        design={"blocks_per_pod": 1})
    text = json.load(open(path))
    text["variants"].append({"tag": "C", "env": {"DIVERGE": "1"}})
    text["seed"] = 8  # A runs before C
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = json.loads(done.stdout)
    runs = {r["id"]: r for r in found["runs"]}
    late = {r["tag"]: [g["text"] for g in r["guards"] if g["guard"] ==
                       "output came at the end"] for r in found["runs"]}
    held_s = re.match(r"\d+ of its 30 rows reached the log up to ([\d.]+) s late",
                      (late["B"] or [""])[0])
    ok(late["A"] == [] and len(late["B"]) == 1 and held_s and
       float(held_s[1]) >= 3,
       "rows that all came at the end are detected", late)
    folder = rig.folder("rows")
    seen = {}
    for tag in "AB":
        name = [i for i in runs if i.endswith("_" + tag)][0]
        rows = open(os.path.join(folder, "runs", name, "steps.csv"),
                    newline="").read().split("\r\n")[1:-1]
        seen[tag] = [row.split(",")[7] for row in rows]
    moments = [float(row.split(",")[-1]) for row in open(os.path.join(
        folder, "runs", "0_p1_A", "steps.csv"),
        newline="").read().split("\r\n")[1:-1]]
    # The last row came 5.8 s after the first, which may have got its time late.
    ok(len(moments) == 30 and moments == sorted(moments) and
       moments[-1] - moments[0] > 3, "each row of Python has its time by the "
                                     "pod's clock", moments)
    ok(seen["A"] == ["1980"] * 30, "Python's rows have telemetry",
       seen["A"])
    ok(seen["B"][:10] == [""] * 10, "rows that all came at the end have no "
                                    "telemetry",
       seen["B"])
    ok(all(r["state"] == "verified" for r in runs.values()
           if r["tag"] == "B"), "late rows do not invalidate the run", runs)
    diverged = [c for c in found["contrasts"] if c["variant"] == "C"][0]
    ok(diverged["text"] == "INVALID (work identity)" and
       b": stopping run " in done.stderr and
       b"had already finished" in done.stderr,
       "a run that diverges is stopped early, but may end before that",
       done.stderr.decode())
    record = json.load(open(glob.glob(os.path.join(
        folder, "runs", "*_C", "run.json"))[0]))
    ok(record["rc"] == 0 and not record["cut"], "a run that ended before that "
                                                "is not recorded as stopped",
       (record, open(glob.glob(os.path.join(folder, "runs", "*_C", "train.out")
                               )[0]).read()[-300:]))
    rig.clean("rows")


def clocks(rig):
    """Clocks of logs that contradict the pod's clock, and attempts to falsify
    the time stamps of the pod."""
    put(os.path.join(rig.dir, "work", "rows.py"), ROWS)
    # The mean of two runs: a busy machine may delay one of them by the 0.2 s that
    # the guard allows.
    pods = [rig.pod(name, alone=True) for name in ("p1", "p2")]
    path = rig.bench("clocks", pods, {}, workload={
        "command": "exec python3 rows.py", "env": {"ROW_S": "0.1"}},
        metric={"window": {"mode": "fixed", "lo": 5, "hi": 30}},
        design={"blocks_per_pod": 1})
    text = json.load(open(path))
    arms = {"B": {}, "quick": {"ROW_S": "0.06"}, "fast": {"CLOCK": "0.7"},
            "slow": {"CLOCK": "1.4"}, "kill": {"LIE": "kill"},
            "forge": {"LIE": "forge"}, "rewrite": {"LIE": "rewrite"}}
    text["variants"] = [{"tag": "A", "control": True}] + [
        {"tag": tag, "env": env} for tag, env in arms.items()]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = json.loads(done.stdout)
    said = {c["variant"]: (c["text"], [g["guard"] for g in c["guards"]])
            for c in found["contrasts"]}
    for tag in ("B", "quick"):
        ok(said[tag][0].startswith("NOT JUDGED (2 blocks") and
           not {"log clock", "not stamped"} & set(said[tag][1]),
           "a correct clock: no warning: " + tag, said)
    for tag in ("fast", "slow"):
        ok(said[tag][0] == "INVALID (log clock)",
           "a clock that runs at another speed: INVALID: " + tag, said)
    for tag in ("kill", "forge", "rewrite"):
        ok("not stamped" in said[tag][1] and
           said[tag][0].startswith("NOT JUDGED (2 blocks"),
           "changed time stamps are not used, and that is reported: " + tag,
           (said, found["runs"]))
    ok({(r["tag"], r["health"]["stamped"]) for r in found["runs"]} ==
       {("A", True), ("B", True), ("quick", True), ("fast", True), ("slow", True),
        ("kill", False), ("forge", False), ("rewrite", False)},
       "each run records whether its stamps are valid", found["runs"])
    rig.clean("clocks")


SLEEPER = """\
import os, time
begin, rate = time.time(), float(os.environ.get("RATE", "1"))
# No two runs are equal: a verdict needs a spread.
step_s = float(os.environ.get("STEP_S", "0.07")) * (
    1 + 0.01 * os.urandom(1)[0] / 255)
time.sleep(float(os.environ.get("COMPILE_S", "0.2")))
began, rows = time.time(), []
for step in range(1, 61):
    # Never two rows at the same moment, even if the machine was paused.
    time.sleep(max(0.001, began + step * step_s - time.time()))
    ms = 1000 * (time.time() - began) * rate
    rows.append("step:%d/60 train_loss:%.4f train_time:%.1fms step_avg:%.3fms"
                % (step, 9 / step, ms, ms / step))
print("train_batch_tokens:1024 iterations:60\\nworld_size:1 "
      "grad_accum_steps:1\\nseed:42\\n" + "\\n".join(rows))
print("step:60/60 val_loss:3.2000 val_bpb:2.0 train_time:%.1fms "
      "step_avg:%.3fms" % (ms, ms / 60))
"""


def at_once(rig):
    """Rows that all come at the end prove nothing: only whole runs do."""
    put(os.path.join(rig.dir, "work", "sleeper.py"), SLEEPER)
    pods = [rig.pod(name, alone=True) for name in ("p1", "p2", "p3", "p4")]
    path = rig.bench("once", pods, {}, workload={
        "command": "exec python3 sleeper.py", "env": {}},
        metric={"window": {"mode": "fixed", "lo": 10, "hi": 60}},
        design={"blocks_per_pod": 1})
    text = json.load(open(path))
    arms = {"liar": {"RATE": "0.7"}, "slow": {"RATE": "1.2"},
            "honest": {"STEP_S": "0.035"},
            "longer": {"STEP_S": "0.035", "COMPILE_S": "2.7"}}
    text["variants"] = [{"tag": "A", "control": True}] + [
        {"tag": tag, "env": env} for tag, env in arms.items()]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    said = {c["variant"]: c["text"]
            for c in json.loads(done.stdout)["contrasts"]}
    ok(said["honest"].startswith("FASTER by "), "the whole runs are faster, too: FASTER", said)
    for tag in ("liar", "slow", "longer"):
        ok(said[tag].startswith("NOT JUDGED (all rows appeared at once: the log "
                                "gained "), "the whole runs are not faster: " + tag,
           said)
    rig.clean("once")


def shared_files(rig):
    """Variants that change files that all arms read, or only their own."""
    cwd = os.path.join(rig.dir, "work")
    put(os.path.join(cwd, "config.json"), "{}")
    site = os.path.join(rig.env["HOME"], ".local/lib/python3.9/site-packages")
    os.makedirs(site)
    rig.env["VIRTUAL_ENV"] = os.path.join(rig.dir, "env")
    packages = os.path.join(rig.env["VIRTUAL_ENV"], "lib/python3.9/site-packages")
    os.makedirs(packages)
    put(os.path.join(cwd, "rows.txt"), "1")
    path = rig.bench("shared", [rig.pod("p1")], {}, workload={
        "command": "cat <rows.txt; echo >>rows.txt.log; sh workload.sh"})
    text = json.load(open(path))
    arms = {"startup": "echo >>%s/usercustomize.py" % site,
            "active": "echo >>%s/slow.pth" % packages,
            "cached": "mkdir -p %s/pkg/__pycache__; echo >>%s/pkg/__pycache__/x.pyc"
                      % (packages, packages),
            "config": "echo >>config.json", "data": "echo >>rows.txt",
            "own": "case $TMPDIR in */tmp.own) echo >$TMPDIR/x ;; *) exit 1 ;;"
                   " esac; echo >>~/history; echo >>results.json"}
    text["variants"] = [{"tag": "A", "control": True}] + [
        {"tag": tag, "env": {"STEP_MS": "1900"},
         "command": "%s; sh workload.sh" % change}
        for tag, change in arms.items()]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = {c["variant"]: c for c in json.loads(done.stdout)["contrasts"]}
    for tag, name in (("startup", ".local/"), ("active", "slow.pth"),
                      ("config", "config.json"), ("data", "rows.txt")):
        ok(found[tag]["text"] == "INVALID (shared files)" and
           name in str(found[tag]["guards"]),
           "a variant that changes what the control reads: " + tag,
           (found[tag]["text"], found[tag]["guards"]))
    put(os.path.join(rig.dir, "more.txt"), "x")
    path = rig.bench("copies", [rig.pod("p1")], {
        "files": {"more.txt": "more.txt"}, "env": {"STEP_MS": "1900"},
        "command": "echo sleep 1 >>../src.A/workload.sh; sh workload.sh"})
    copies = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(copies["text"] == "INVALID (shared files)" and
       "/src.A/workload.sh" in str(copies["guards"]),
       "a variant that changes the copy of the control",
       (copies["text"], copies["guards"]))
    for tag in ("own", "cached"):
        check_faster(found[tag], "a variant that changes nothing that the control reads: " + tag)
    path = rig.bench("both", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"command": "echo $$ >config.json; echo $$ "
                                          ">out.txt; sh workload.sh"})
    both = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    check_faster(both, "settings that every run writes: faster")
    ok("shared files" in str(both["guards"]), "settings that every run writes: the file is named", both["guards"])
    path = rig.bench(
        "flag", [rig.pod("p1")],
        {"env": {"STEP_MS": "1900"}, "command": "touch ~/flag; sh workload.sh"},
        workload={"command": "test ! -e ~/flag || export STEP_MS=2300; "
                             "sh workload.sh"},
        design={"burn_in": 1})
    flag = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(flag["text"].endswith(", the control became slower"),
       "a variant whose own file slows the control: a warning", flag["text"])
    rig.clean("shared", "copies", "both", "flag")


# The window of 30 steps takes 1.5 s.  The lies about time hide 0.75 s of it, far above the 0.22 s
# that the guard allows and the delays of a busy machine.
LIAR = """\
import math, os, sys, time
lie, step_s = os.environ.get("LIE", ""), 0.05
seed = 7 if lie.endswith("seed") else 42
def say(text):
    print(text, flush=True)
say("train_batch_tokens:1024 iterations:40\\nworld_size:1 "
    "grad_accum_steps:1\\nseed:%d" % (42 if lie == "hidden-seed" else seed))
began, counted = time.time(), 0.0
for step in range(1, 41):
    row = time.time()
    if not (lie == "unrun" and step > 20):
        time.sleep(step_s / 2 if lie == "less" else step_s)
    counted += time.time() - row
    if lie == "uncounted" and step % 2 == 0:
        time.sleep(step_s)
    ms = 1000 * (counted if lie == "uncounted" else time.time() - began)
    if lie == "early":  # it stops its clock before the device is done
        ms *= 0.5
    loss = 9 / math.sqrt(step) * (1 if seed == 42 else 1.01)
    loss += 0.01 * step if lie == "less" else 0
    say("step:%d/40 train_loss:%.4f train_time:%.1fms step_avg:%.3fms" %
        (step, loss, ms, ms / step))
val = float(open("val").read())  # as in an earlier run
say("step:40/40 val_loss:%.4f val_bpb:2.0 train_time:%.1fms step_avg:%.3fms" %
    (val, ms, ms / 40))
"""


def liars(rig):
    """Variants that are fast because of what they leave out or print."""
    for name, text in (("liar.py", LIAR), ("val", "3.2")):
        put(os.path.join(rig.dir, "work", name), text)
    pods = [rig.pod(name, alone=True) for name in ("p1", "p2", "p3")]
    path = rig.bench("liars", pods, {}, workload={
        "command": "exec python3 liar.py", "env": {}},
        metric={"window": {"mode": "fixed", "lo": 10, "hi": 40}},
        design={"blocks_per_pod": 1})
    wanted = {"seed": "same work", "hidden-seed": "work identity",
              "less": "work identity", "unrun": "parse",
              "uncounted": "log clock", "early": "log clock"}
    text = json.load(open(path))
    text["variants"] = [{"tag": "A", "control": True}] + [
        {"tag": tag, "env": {"LIE": tag}} for tag in wanted]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    said = {c["variant"]: c["text"]
            for c in json.loads(done.stdout)["contrasts"]}
    for tag, guard in wanted.items():
        ok(said[tag] == "INVALID (%s)" % guard, "a cheating variant: " + tag, said)
    rig.clean("liars")


if __name__ == "__main__":
    sys.exit(run_tests((other_work, false_clock, shared_files, at_once, liars,
                        runtimes, clocks, buffered, edited, hooks), ("flock",)))
