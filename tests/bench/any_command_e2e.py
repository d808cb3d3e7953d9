#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benches of any command: wall-clock seconds of whole runs, a metric that is
taken from the first run, and the end after a first run without a value."""
import glob
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "screen", "support")]
from run_e2e import TUI, run_tests  # noqa: E402
from tap import ok  # noqa: E402
from vt import Program  # noqa: E402


def words_of(rig, name, control, variant, *more):
    """The command line of a bench without a file, on a local pod."""
    return ["bench", "run", "--pod", "local", "--in",
            os.path.join(rig.dir, "work"), "--name", name, "--blocks", "3",
            "--no-aa", "--control", control, "--variant", "b=" + variant,
            *more]


def bench(rig, name, control, variant, *more):
    return rig.tui(*words_of(rig, name, control, variant, "--yes", *more))


def last_line(done):
    return done.stdout.decode().rstrip("\n").split("\n")[-1]


def runs_of(rig, name):
    return [json.load(open(path)) for path in glob.glob(
        os.path.join(rig.folder(name), "runs", "*", "run.json"))]


def seconds(rig):
    """Commands that print nothing are compared by the seconds of their
    runs."""
    # The difference is larger than the delays of a busy machine.
    done = bench(rig, "wall", "sleep 4", "sleep 1", "--metric", "wall_s",
                 "--prepare", "sleep 1.2; echo noise")
    text = done.stdout.decode()
    ok(done.returncode == 0 and "FASTER by" in text, "wall_s: FASTER", done)
    ok("you state that both arms do the same work" in " ".join(text.split()),
       "wall_s: the report says that equal work is the user's claim", text)
    ok(last_line(done).startswith("b ran ") and
       " times as fast as control (" in last_line(done),
       "wall_s: the last line is a sentence", last_line(done))
    ok(rig.tui("bench", "show", "wall").stdout.decode().rstrip().endswith(
        last_line(done)), "wall_s: bench show ends with the same sentence")
    took = {tag: min(run["up_s"] for run in runs_of(rig, "wall")
                     if run["tag"] == tag) for tag in ("b", "control")}
    ok(1 <= took["b"] < 2.2 and 4 <= took["control"] < 5.2,
       "the time of --prepare is not part of a run", took)
    logs = [open(path).read() for path in glob.glob(os.path.join(
        rig.folder("wall"), "runs", "*", "train.out"))]
    ok(len(logs) == 8 and not any(logs), "each run has an empty log", logs)
    done = bench(rig, "dies", "sleep 0.2", "exit 3", "--metric", "wall_s")
    ok(done.returncode == 3 and
       last_line(done).endswith("INVALID (exit)"),
       "a variant that fails: INVALID, exit status 3",
       (done.returncode, last_line(done)))
    rest = "sleep 600 & sleep "
    for name, control, wanted in (("leaves", "sleep 0.6", "INVALID"),
                                  ("leave", rest + "0.3", "left behind: all")):
        done = bench(rig, name, control, rest + "0.3", "--metric", "wall_s")
        text = " ".join(done.stdout.decode().split())
        ok(wanted in text and "had started still ran" in text and
           ("INVALID (left behind)" in text) == (name == "leaves"),
           name + ": a run ends before the processes that it started", text)
    done = bench(rig, "unprepared", "true", "true", "--metric", "wall_s",
                 "--prepare", "echo no room >&2; false")
    ok(done.returncode == 3 and b"exit status 125" in done.stderr and
       b"no room" in done.stderr, "--prepare fails: reported with its output",
       done.stderr)


def in_home(rig):
    """The working directory may be the home directory."""
    path = rig.bench("home", [rig.pod("p1")], {}, workload={
        "cwd": "~", "command": 'sleep 0.2; test "$PWD" -ef "$HOME"', "env": {}},
        metric={"key": "wall_s"}, design={"blocks_per_pod": 1})
    plan = json.load(open(path))
    del plan["metric"]["window"]
    with open(path, "w") as stream:
        json.dump(plan, stream)
    done = rig.tui("bench", "run", "--yes", path)
    ok([run["rc"] for run in runs_of(rig, "home")] == [0, 0],
       "\"cwd\": \"~\" is the home directory", done.stderr.decode())


def without_value(rig):
    """The bench stops after the first run without a value, and gives the
    reason."""
    for name, command, more, wanted in (
            ("silent", "true", ["--metric", "ms"],
             ['(control) has no value of "ms"', "it printed nothing",
              "train.out"]),
            ("other", "echo '{\"us\": 3}'", ["--metric", "ms"],
             ['the JSON has no "ms"', '{"us": 3}']),
            ("hello", "echo 1; echo hello", [],
             ["printed no training rows", "2 lines of output",
              'the last one "hello"'])):
        done = bench(rig, name, command, command, *more)
        said = done.stderr.decode().rstrip().split("\n")[-1]
        ok(done.returncode == 3 and len(runs_of(rig, name)) == 1 and
           all(want in said for want in wanted + ["--metric wall_s"]),
           name + ": one run, one sentence, exit status 3",
           (done.returncode, said))
    done = bench(rig, "fails", "echo broken; exit 7", "true", "--metric", "ms")
    ok(done.returncode == 3 and b"failed with exit status 7" in done.stderr and
       b'"broken"' in done.stderr, "a first run that fails stops the bench",
       done.stderr)
    done = bench(rig, "short", "true", "true", "--metric", "wall_s")
    took_s = runs_of(rig, "short")[0]["up_s"]
    ok((b"too short to time" in done.stderr and done.returncode == 3) ==
       (took_s < 0.1), "runs shorter than ten ticks of the clock are refused",
       (took_s, done.stderr))
    done = bench(rig, "several", "echo '{\"us\": 3, \"gb_s\": 4}'", "true")
    ok(done.returncode == 3 and
       b"several numbers (us, gb_s)" in done.stderr and
       b"choose one with --metric, for example --metric " in done.stderr,
       "several numbers: the user must choose one", done.stderr)


def chosen(rig):
    """Without --metric the first run decides."""
    number = ("python3 -c \"import os; print('{\\\"name\\\": \\\"x\\\", "
              "\\\"us\\\": %%.3f}' %% (%s + os.urandom(1)[0] / 2550))\"")
    done = bench(rig, "json", number % 100, number % 50, "--json")
    found = json.loads(done.stdout)
    ok(done.returncode == 0 and found["metric"] == "us" and
       "only number" in found["metric_chosen"] and
       found["contrasts"][0]["verdict"] == "FASTER" and
       b"metric: us" in done.stderr,
       "the only number of a JSON object is the metric", (found["metric"], done.stderr))
    ok(len(runs_of(rig, "json")) == 8, "the first run is not repeated")
    done = bench(rig, "rows", "STEP_MS=2000 sh workload.sh",
                 "STEP_MS=1900 sh workload.sh", "--json", "--window",
                 "20:100")
    found = json.loads(done.stdout)
    ok(found["metric"] == "step_ms" and
       found["contrasts"][0]["verdict"] == "FASTER",
       "training rows: the metric is step_ms", found["metric"])


def asked(rig):
    """Only a user at a terminal can choose wall-clock seconds."""
    for answer, wanted in (("n", "has no value of"),
                           ("y", "b ran ")):
        p = Program([TUI, *words_of(rig, "ask-" + answer, "sleep 3",
                                    "sleep 0.5", "--yes")],
                    env=rig.env, cwd=rig.dir, width=200, height=60)
        ok(p.wait_for(("sleep 3 prints no figures: compare wall-clock "
                       "seconds? [y/N]",)),
           "at a terminal the user is asked", p.screen.text())
        p.send(answer + "\r")
        p.wait_for((wanted,))
        p.end()
        ok(wanted in " ".join(p.screen.text().split()),
           "the answer " + answer + " is used", p.screen.text())
        p.close()
    found = json.loads(rig.tui("bench", "show", "--json", "ask-y").stdout)
    ok(found["metric"] == "wall_s" and "asked" in found["metric_chosen"],
       "verdict.json shows how the metric was chosen", found["metric_chosen"])


if __name__ == "__main__":
    sys.exit(run_tests((seconds, in_home, without_value, chosen, asked), ()))
