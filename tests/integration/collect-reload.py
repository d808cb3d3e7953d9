#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes under a running collector: pods are removed from the configuration,
come back with the same name and get other logs, again and again in the middle
of a backlog; then the database is deleted while it is written, and the
telemetry of a pod hangs. Afterwards the database must contain what `parse`
prints for the files, each sample once, and every message must have been
true."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from clock import Clock  # noqa: E402
from database import read_rows  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

FILES = 3
STEPS = 20000


def rows_of(first, last):
    return "".join(f"step:{i}/99999 train_loss:2.{i:05d}"
                   f" train_time:{i * 50}ms step_avg:50.00ms\n"
                   for i in range(first, last))


class Box:
    def __init__(self, top):
        self.top, self.logs, self.db = top, top + "/logs", top + "/x.db"
        os.mkdir(self.logs)
        self.clock = Clock(top + "/clock")
        self.env = home_env(top, **self.clock.env)

    def configure(self, *names, logs="*.log", **more):
        path = self.top + "/config.json"
        with open(path + ".new", "w") as file:
            json.dump({"pods": [{"name": name, "transport": "local",
                                 "logs": [f"{self.logs}/{logs}"]}
                                for name in names], **more}, file)
        os.rename(path + ".new", path)

    def collect(self, *args):
        with open(self.top + "/said", "a") as said:
            return subprocess.Popen(
                [TUI, "--config", self.top + "/config.json", "--db", self.db,
                 "collect", *args], env=self.env, stderr=said)

    def said(self):
        with open(self.top + "/said") as file:
            return file.read()

    def ask(self, sql):
        return read_rows(self.db, sql)

    def has_all(self, pods):
        sizes = {f"{self.logs}/{name}": os.stat(f"{self.logs}/{name}").st_size
                 for name in os.listdir(self.logs)}
        return sorted(self.ask("SELECT pod, path, offset FROM v_tails"
                               " WHERE pod IN ('a', 'b')")) == sorted(
            (pod, path, size) for pod in pods for path, size in sizes.items())

    def rows(self, *args):
        done = subprocess.run([TUI, *args, "--json"], env=self.env,
                              stdout=subprocess.PIPE, timeout=PATIENCE_S)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def compare(self, pods, name):
        stored = {(r["pod"], r["path"]): r
                  for r in self.rows("--db", self.db, "runs")}
        bad = []
        for log in sorted(os.listdir(self.logs)):
            path = f"{self.logs}/{log}"
            parsed = self.rows("parse", path)[0]
            for pod in pods:
                mine = stored.get((pod, path), {})
                keys = set(parsed) - {"file", "bytes"}
                bad += [(pod, log, k) for k in keys
                        if mine.get(k) != parsed[k]]
        ok(not bad, f"{name}: the runs equal the output of parse")
        note(bad[:10] if bad else "")
        with_row = {name: open(f"{self.logs}/{name}").read().count("_loss:")
                    for name in os.listdir(self.logs)}
        got = self.ask("SELECT r.pod, r.path, count(*) FROM v_samples s JOIN"
                       " v_runs r USING(run_id) WHERE s.metric ="
                       " 'train_loss' AND r.pod IN ('a', 'b') GROUP BY 1, 2")
        want = sorted((pod, f"{self.logs}/{name}", n)
                      for name, n in with_row.items() for pod in pods)
        ok(sorted(got) == want, f"{name}: each sample is stored once")
        note((sorted(got), want) if sorted(got) != want else "")


def test_reload(box):
    rng = random.Random(int(os.environ.get("RELOAD_SEED", "3")))
    lists = [(("b",), {}), (("a",), {}), (("a", "c"), {}),
             (("b", "a"), {}), (("a", "b"), {"logs": "1.log"})]
    box.configure("a", "b")
    child = box.collect()
    until(lambda: box.has_all(("a",)) or box.ask("SELECT 1 FROM runs"))
    at = STEPS
    for _ in range(int(os.environ.get("RELOAD_TIMES", "8"))):
        time.sleep(rng.uniform(0.05, 0.5))
        names, more = rng.choice(lists)
        box.configure(*names, **more)
        child.send_signal(signal.SIGHUP)
        with open(f"{box.logs}/{rng.randrange(FILES)}.log", "a") as file:
            file.write(rows_of(at, at + 50))
        at += 50
    box.configure("a", "b")
    child.send_signal(signal.SIGHUP)
    ok(until(lambda: box.has_all(("a", "b"))), "everything is read in the end",
       box.ask("SELECT pod, path, offset FROM v_tails"))
    child.send_signal(signal.SIGTERM)
    ok(child.wait(PATIENCE_S) == 128 + signal.SIGTERM, "the collector ends on "
                                                       "SIGTERM")
    box.compare(("a", "b"), "reloaded")


def test_removed(box):
    box.configure("a")
    with open(box.logs + "/1.log", "a") as file:
        file.write(rows_of(89990, 90000))
    child = box.collect()
    ok(until(lambda: box.ask("SELECT 1 FROM v_samples WHERE step = 89999")),
       "the next collector continues")
    for end in "", "-wal", "-shm":
        if os.path.exists(box.db + end):
            os.unlink(box.db + end)
    with open(box.logs + "/1.log", "a") as file:
        file.write(rows_of(90000, 90010))
    ok(until(lambda: "removed or replaced" in box.said()),
       "a deleted database is reported")
    child.send_signal(signal.SIGTERM)
    ok(child.wait(PATIENCE_S) == 1, "a deleted database: exit status of an "
                                    "error")
    ok(not os.path.exists(box.db), "a deleted database: no new one is created")
    child = box.collect()
    ok(until(lambda: box.has_all(("a",))), "the next collector reads "
                                           "everything again")
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)
    box.compare(("a",), "removed")


SLOW_DF = """#!/bin/sh
date +%s.%N >>"$HOME/asked"
while test -e "$HOME/slow"; do sleep 0.1; done
exec /bin/df "$@"
"""


def test_slow_pod(box):
    """Telemetry that hangs for a while is not requested many times at once
    when it continues."""
    def asked():
        with open(box.top + "/asked") as file:
            return len(file.readlines())
    def burst_s():
        """The time for the first five requests after the one that hung."""
        with open(box.top + "/asked") as file:
            at = [float(line) for line in file.readlines()[before:]]
        return at[5] - at[0]

    os.mkdir(box.top + "/bin")
    with open(box.top + "/bin/df", "w") as file:
        file.write(SLOW_DF)
    os.chmod(box.top + "/bin/df", 0o755)
    box.env["PATH"] = box.top + "/bin:" + box.env["PATH"]
    box.configure("a", telemetry_s=1)
    open(box.top + "/asked", "w").close()
    child = box.collect()
    ok(until(lambda: asked() >= 2), "telemetry is requested")
    open(box.top + "/slow", "w").close()
    box.clock.forward(8, step=1)
    before = asked()
    os.unlink(box.top + "/slow")
    if ok(until(lambda: asked() - before >= 6), "telemetry continues",
          (before, asked())):
        # One request per second; missed ones would come all at once.
        ok(burst_s() > 1.5, "requests missed during the hang are not sent "
                            "later", burst_s())
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)


def main(top):
    box = Box(top)
    for i in range(FILES):
        with open(f"{box.logs}/{i}.log", "w") as file:
            file.write(f"seed:{i}\n" + rows_of(0, STEPS))
    with open(box.logs + "/one.log", "w") as file:
        file.write(rows_of(1, 2))
    test_reload(box)
    test_removed(box)
    test_slow_pod(box)
    note(box.said())


top = tempfile.mkdtemp(prefix="collect-reload.")
try:
    main(top)
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(finish())
