#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benches of trainers that print their speed in different ways: a variant that
is 5 % faster is FASTER, an equal one is not, and if the control has no value,
no variant is blamed."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "support")]
from run_e2e import run_tests, verdict_of  # noqa: E402
from tap import ok  # noqa: E402
from trainer_logs import FAMILIES, STEPS, Run  # noqa: E402

# Logs without the time of a row: `bench judge` cannot compare them; `bench
# run` compares the times at which rows appear.
NO_CLOCK = {"litgpt", "huggingface"}
# Logs in which no line has a step of the run.
NO_ROWS = {"lightning"}
STEP_MS = 200.0


def put(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as stream:
        stream.write(text)
    return path


def write_logs(rig, family, tag, step_ms, change=lambda text: text):
    return [put(rig.dir, "%s.%s%d.log" % (family, tag, block), change(
        FAMILIES[family](Run("%s %s %d" % (family, tag, block), step_ms))))
        for block in range(4)]


def judge(rig, control, **variants):
    words = ["bench", "judge", "--json", "--control", *control]
    for tag, logs in variants.items():
        words += ["--variant", tag + "=" + logs[0], *logs[1:]]
    done = rig.tui(*words)
    if done.returncode != 0:
        return done
    return {c["variant"]: c for c in json.loads(done.stdout)["contrasts"]}


def judged(rig):
    """bench judge for all trainers."""
    for family in FAMILIES:
        control = write_logs(rig, family, "A", STEP_MS)
        found = judge(rig, control,
                      faster=write_logs(rig, family, "B", STEP_MS / 1.05),
                      same=write_logs(rig, family, "C", STEP_MS))
        if family in NO_ROWS:
            ok(found.returncode == 5 and b"none of the logs" in found.stderr,
               family + ": no training row is found", found)
            continue
        faster, same = found["faster"], found["same"]
        if family in NO_CLOCK:
            ok(all(c["text"].startswith("NOT JUDGED (the control has no value: "
                                        "its rows have neither times")
                   for c in found.values()),
               family + ": NOT JUDGED, with the reason",
               (faster["text"], same["text"]))
            continue
        lo, hi = faster["ci_pct"]
        ok(faster["verdict"] == "FASTER" and lo - 0.5 < 5 < hi + 0.5,
           family + ": 5 % faster is FASTER", faster)
        ok(same["verdict"] in ("SAME", "NO DIFFERENCE SHOWN"),
           family + ": equal speed is not FASTER", same)


def blamed(rig):
    """A log that cannot be judged although the control's can."""
    control = write_logs(rig, "build_nanogpt", "A", STEP_MS)

    def without_times(text):
        return text.replace("dt:", "about:")

    def set_back(text):
        """As if the clock of the last steps had started again."""
        rows, total = [], {}
        for row in text.split("\n"):
            if row.startswith("step:"):
                step = int(row[5:].split("/")[0])
                ms = int(row.split("train_time:")[1].split("ms")[0])
                total[step] = ms
                if step > 60:
                    row = row.replace("train_time:%dms" % ms,
                                      "train_time:%dms" % (ms - total[60]))
            rows.append(row)
        return "\n".join(rows)

    found = judge(rig, control, B=write_logs(
        rig, "build_nanogpt", "B", STEP_MS / 1.05, without_times))["B"]
    ok(found["text"] == "INVALID (parse)" and "its log gives the tok/s" in
       str(found["guards"]), "a variant that hides its step times is INVALID",
       found)
    found = judge(rig, write_logs(rig, "speedrun_whole", "A", STEP_MS),
                  B=write_logs(rig, "speedrun_whole", "B", STEP_MS / 1.05,
                               set_back))["B"]
    ok(found["text"] == "INVALID (parse)",
       "a variant whose clock goes back in the window is INVALID", found)
    found = judge(rig, write_logs(rig, "speedrun_whole", "A", STEP_MS,
                                  set_back),
                  B=write_logs(rig, "speedrun_whole", "B", STEP_MS / 1.05,
                               set_back))["B"]
    ok(found["text"].startswith("NOT JUDGED (the control has no value: step 61"),
       "the control's clock goes back: the variant is not blamed", found)
    short = [put(rig.dir, "short%d.log" % i, "\n".join(
        text.split("\n")[:-25]) + "\n") for i, text in enumerate(
            FAMILIES["interval_rate"](Run("short %d" % i, STEP_MS / 1.05))
            .replace("step 100 ", "step 105 ") for i in range(4))]
    found = judge(rig, write_logs(rig, "interval_rate", "A", STEP_MS), B=short)
    ok(found["B"]["verdict"] == "INVALID",
       "a variant that stops before the control is INVALID", found["B"])


PRINT_LOG = """\
import os, sys
sys.dont_write_bytecode = True
from trainer_logs import FAMILIES, Run
sys.stdout.write(FAMILIES[os.environ["FAMILY"]](
    Run(os.path.basename(os.environ["HGYM_JOB"]),
        float(os.environ["STEP_MS"]))))
"""


def ran(rig):
    """bench run on a pod, for trainers that print their speed in different
    ways."""
    work = os.path.join(rig.dir, "work")
    shutil.copy(os.path.join(os.environ["HGYM_SRC"], "tests", "bench",
                             "trainer_logs.py"), work)
    put(work, "print_log.py", PRINT_LOG)
    families = ("nanogpt", "megatron", "torchtitan", "speedrun",
                "interval_rate", "words")
    children = {}
    for i, family in enumerate(families):
        path = rig.bench(family, [rig.pod("p%d" % i, alone=True)],
                         {"env": {"STEP_MS": str(STEP_MS / 1.05)}},
                         workload={"command": "exec python3 print_log.py",
                                   "env": {"STEP_MS": str(STEP_MS),
                                           "FAMILY": family}})
        plan = json.load(open(path))
        plan["variants"].append({"tag": "C", "declares": ["nothing"]})
        del plan["metric"]["window"]
        put(rig.dir, family + ".json", json.dumps(plan))
        children[family] = path
    for family, done in zip(families, rig.run_all(*children.values())):
        try:
            found = {c["variant"]: c
                     for c in json.loads(done.stdout)["contrasts"]}
        except ValueError:
            ok(False, family + " has a verdict", done.stderr.decode())
            continue
        ok(found["B"]["verdict"] == "FASTER",
           "bench run, %s: 5 %% faster is FASTER" % family, found["B"])
        ok(found["C"]["verdict"] not in ("FASTER", "SLOWER", "INVALID"),
           "bench run, %s: equal speed is not FASTER" % family, found["C"])
    rig.clean(*families)


# Prints a loss for each step, ROWS of them at once, without times.
NO_TIMES = """\
import os, time
step_s = float(os.environ["STEP_S"])
begin, rows = time.time(), ""
time.sleep(0.2)
for step in range(1, 81):
    # No two runs are equal: a verdict needs a spread.
    time.sleep(max(0.001, step_s * (1 + 0.02 * os.urandom(1)[0] / 255)))
    rows += "%3d%%|    | %d/80 [00:0%d<00:00, 9.9it/s]\\r" % (
        step * 100 / 80, step, step / 9)
    rows += ("{'loss': %.4f, 'grad_norm': 1.2345, 'learning_rate': 4.5e-05, "
             "'epoch': %.2f}\\n" % (9 / step, step / 80))
    if step % int(os.environ["ROWS"]) == 0:
        print(rows, end="")
        rows = ""
print("{'train_runtime': %.4f, 'train_samples_per_second': 9.0, "
      "'train_steps_per_second': 9.0, 'train_loss': 1.0, 'epoch': 1.0}" %
      (time.time() - begin))
"""


def by_stamps(rig):
    """Rows without any time: the pod's clock shows when they appeared."""
    put(os.path.join(rig.dir, "work"), "no_times.py", NO_TIMES)
    pods = [rig.pod(name, alone=True) for name in ("p1", "p2", "p3")]
    path = rig.bench("stamps", pods, {"env": {"STEP_S": "0.075", "ROWS": "2"}},
                     workload={"command": "exec python3 no_times.py",
                               "env": {"STEP_S": "0.12", "ROWS": "1"}},
                     metric={"window": {"mode": "auto"}},
                     design={"blocks_per_pod": 1})
    plan = json.load(open(path))
    plan["variants"].append({"tag": "C", "env": {"ROWS": "80"}})
    put(rig.dir, "stamps.json", json.dumps(plan))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found, at_once = json.loads(done.stdout)["contrasts"]
    ok(found.get("verdict") == "FASTER", "rows that appear sooner, in pairs: FASTER",
       found)
    ok(at_once["verdict"] == "NOT JUDGED" and "ticks of the pod's clock" in
       at_once["text"], "rows that all appear at the end are not sooner", at_once)
    ok(all("pod's clock" in str(run["timed_by"])
           for run in json.loads(done.stdout)["runs"]),
       "rows that appear sooner: timed by the pod's clock", done.stdout)
    rig.clean("stamps")


if __name__ == "__main__":
    assert STEPS == 100
    sys.exit(run_tests((by_stamps, ran, judged, blamed)))
