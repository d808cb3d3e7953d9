#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""While a bench runs on a pod, the collector sends no command to that pod."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENDED = "p: polled again, the bench has ended"
TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from database import read_rows  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402


def put(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


def plan(top):
    return {
        "schema": "hgym.bench/1", "name": "b", "seed": 7,
        "workload": {"cwd": top, "command": "sh workload.sh", "timeout_s": 600,
                     "env": {"STEP_MS": "2000",
                             "WAIT_FOR": f"test -e {top}/go"}},
        "metric": {"key": "step_ms",
                   "window": {"mode": "fixed", "lo": 20, "hi": 100}},
        "variants": [{"tag": "A", "control": True},
                     {"tag": "B", "env": {"STEP_MS": "1900"}}],
        "pods": [{"id": "p", "transport": "local", "root": top + "/root",
                  "lock_dir": top}],
        "design": {"blocks_per_pod": 2, "burn_in": 0, "aa": False,
                   "gap_s": 0},
        "budget": {"minutes": 10}}


def main(top):
    env = home_env(top)
    shutil.copy(SRC + "/tests/bench/workload.sh", top)
    os.makedirs(top + "/config/hgym-tui")
    put(top + "/config/hgym-tui/config.json", json.dumps(
        {"pods": [{"name": "p", "transport": "local",
                   "logs": [top + "/*.log"]}]}))
    put(top + "/b.json", json.dumps(plan(top)))
    put(top + "/x.log", "step:1/9 train_loss:2 train_time:50ms"
        " step_avg:50.00ms\n")
    db = top + "/data/hgym-tui/history.db"
    with open(top + "/said", "w") as errors:
        child = subprocess.Popen([TUI, "collect"], env=env, stderr=errors)

    def said(text):
        with open(top + "/said") as file:
            return text in file.read()

    def steps():
        return read_rows(db, "SELECT steps FROM v_runs")

    ok(until(lambda: steps() == [(1,)]), "a log is followed")
    bench = subprocess.Popen([TUI, "bench", "run", "--yes", top + "/b.json"],
                             env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ok(until(lambda: read_rows(db, "SELECT state FROM v_benches") ==
             [("running",)]), "a bench is in the database")
    ok(until(lambda: said("p: not polled while a bench is running")),
       "the collector stops polling the pod of a bench")
    current = top + "/*/hgym-tui/**/current.p"
    ok(until(lambda: [open(p).read() for p in
                      glob.glob(current, recursive=True)][:1] > ["runs/"]),
       "the bench names the log of the run in progress",
       glob.glob(current, recursive=True))
    last, seen = 1, []

    def is_quiet():
        """Append a row; is one of the last rows unread? The pod may get the
        request to pause while it looks at its files: then the next row
        counts."""
        nonlocal last
        last += 1
        put(top + "/x.log", f"step:{last}/9999 train_loss:2 train_time:"
            f"{last * 50}ms step_avg:50.00ms\n", "a")
        time.sleep(1.5)
        seen.append(steps())
        return [()] < seen[-1] < [(last,)]

    ok(until(is_quiet) and not said(ENDED),
       "new rows on the pod are not read during the bench", seen)
    put(top + "/go", "")
    _, errors = bench.communicate(timeout=600)
    ok(bench.returncode == 0, "the bench ends", errors)
    ok(until(lambda: steps() == [(last,)] and said(ENDED)),
       "the collector continues at its offset after the bench", (last, steps()))
    ok(until(lambda: read_rows(db, "SELECT state, verdict IS NOT NULL FROM"
                               " v_benches") == [("done", 1)]), "the bench is done and has a verdict",
       read_rows(db, "SELECT * FROM v_benches"))
    runs = read_rows(db, "SELECT tag, y_ms, state FROM v_bench_runs ORDER BY tag")
    ok([r[0] for r in runs] == ["A", "A", "B", "B"] and
       all(1800 < r[1] < 2200 for r in runs), "the runs of the bench are "
                                              "stored", runs)
    child.send_signal(signal.SIGTERM)
    ok(child.wait(PATIENCE_S) == 143, "the collector ends")
    with open(top + "/said") as file:
        note(file.read())
    subprocess.run([TUI, "bench", "clean", "b"], env=env,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


top = tempfile.mkdtemp(prefix="collect-bench.")
try:
    main(top)
finally:
    status = finish()
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
