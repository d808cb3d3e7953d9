#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benches of any command: seconds of whole runs, the metric that the first run
shows, and the end after a first run without a value."""
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
    """A bench by options, on a pod of its own folder."""
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
    """Commands that print nothing, by the seconds of their runs."""
    done = bench(rig, "wall", "sleep 1.5", "sleep 0.2", "--metric", "wall_s",
                 "--prepare", "sleep 1.2; echo noise")
    text = done.stdout.decode()
    ok(done.returncode == 0 and "FASTER by" in text, "wall_s: FASTER", done)
    ok("is your claim" in " ".join(text.split()),
       "that the work is equal is said to be the user's claim", text)
    ok(last_line(done).startswith("b ran ") and
       " times as fast as control (" in last_line(done),
       "the last line is a sentence", last_line(done))
    ok(rig.tui("bench", "show", "wall").stdout.decode().rstrip().endswith(
        last_line(done)), "bench show ends with it too")
    took = {run["tag"]: run["up_s"] for run in runs_of(rig, "wall")}
    ok(took["b"] < 1.2 < took["control"],
       "the preparation is not in the time of a run", took)
    logs = [open(path).read() for path in glob.glob(os.path.join(
        rig.folder("wall"), "runs", "*", "train.out"))]
    ok(len(logs) == 8 and not any(logs), "each run has an empty log", logs)
    done = bench(rig, "dies", "sleep 0.2", "exit 3", "--metric", "wall_s")
    ok(done.returncode == 3 and
       last_line(done).endswith("INVALID (exit)"),
       "a variant that fails is INVALID, exit status 3",
       (done.returncode, last_line(done)))
    done = bench(rig, "unprepared", "true", "true", "--metric", "wall_s",
                 "--prepare", "echo no room >&2; false")
    ok(done.returncode == 3 and b"exit status 125" in done.stderr and
       b"no room" in done.stderr, "a preparation that fails is told",
       done.stderr)


def in_home(rig):
    """The working directory may be the home itself."""
    path = rig.bench("home", [rig.pod("p1")], {}, workload={
        "cwd": "~", "command": 'sleep 0.2; test "$PWD" -ef "$HOME"', "env": {}},
        metric={"key": "wall_s"}, design={"blocks_per_pod": 1})
    plan = json.load(open(path))
    del plan["metric"]["window"]
    with open(path, "w") as stream:
        json.dump(plan, stream)
    done = rig.tui("bench", "run", "--yes", path)
    ok([run["rc"] for run in runs_of(rig, "home")] == [0, 0],
       "cwd ~ is the home", done.stderr.decode())


def without_value(rig):
    """The bench ends after the first run, and says why."""
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
       b'"broken"' in done.stderr, "a first run that fails ends it too",
       done.stderr)
    done = bench(rig, "short", "true", "true", "--metric", "wall_s")
    took_s = runs_of(rig, "short")[0]["up_s"]
    ok((b"too short to time" in done.stderr and done.returncode == 3) ==
       (took_s < 0.1), "runs shorter than ten ticks of the clock are refused",
       (took_s, done.stderr))
    done = bench(rig, "several", "echo '{\"us\": 3, \"gb_s\": 4}'", "true")
    ok(done.returncode == 3 and
       b"several numbers (us, gb_s)" in done.stderr and
       b"choose one with --metric" in done.stderr,
       "several numbers: the user chooses", done.stderr)


def chosen(rig):
    """Without --metric the first run shows it."""
    number = ("python3 -c \"import os; print('{\\\"name\\\": \\\"x\\\", "
              "\\\"us\\\": %%.3f}' %% (%s + os.urandom(1)[0] / 2550))\"")
    done = bench(rig, "json", number % 100, number % 50, "--json")
    found = json.loads(done.stdout)
    ok(done.returncode == 0 and found["metric"] == "us" and
       "only number" in found["metric_chosen"] and
       found["contrasts"][0]["verdict"] == "FASTER" and
       b"metric: us" in done.stderr,
       "the only number of a JSON object", (found["metric"], done.stderr))
    ok(len(runs_of(rig, "json")) == 8, "its first run is not made twice")
    done = bench(rig, "rows", "STEP_MS=2000 sh workload.sh",
                 "STEP_MS=1900 sh workload.sh", "--json", "--window",
                 "20:100")
    found = json.loads(done.stdout)
    ok(found["metric"] == "step_ms" and
       found["contrasts"][0]["verdict"] == "FASTER",
       "training rows give the step time", found["metric"])


def asked(rig):
    """Only a person chooses wall-clock seconds."""
    for answer, wanted in (("n", "has no value of"),
                           ("y", "b ran ")):
        p = Program([TUI, *words_of(rig, "ask-" + answer, "sleep 0.8",
                                    "sleep 0.1", "--yes")],
                    env=rig.env, cwd=rig.dir, width=200, height=60)
        ok(p.wait_for(("sleep 0.8 prints no figures: compare wall-clock "
                       "seconds? [y/N]",)),
           "a terminal is asked", p.screen.text())
        p.send(answer + "\r")
        p.wait_for((wanted,))
        p.end()
        ok(wanted in " ".join(p.screen.text().split()),
           "the answer " + answer + " counts", p.screen.text())
        p.close()
    found = json.loads(rig.tui("bench", "show", "--json", "ask-y").stdout)
    ok(found["metric"] == "wall_s" and "asked" in found["metric_chosen"],
       "verdict.json says so", found["metric_chosen"])


if __name__ == "__main__":
    sys.exit(run_tests((seconds, in_home, without_value, chosen, asked), ()))
