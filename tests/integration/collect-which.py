#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Telling log files apart when one looks like another: rewritten by a run with
another seed, truncated in place, reached by a link that was switched, renamed
by a slow writer, one of very many.  The database must contain what `parse`
prints for each file, and the local copies must equal the files."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from clock import Clock  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

SOURCE = "".join(f"    x{i} = model.block_{i}(x{i}, depth={i % 7})\n"
                 for i in range(2000))
FINAL = ("final_int8_zlib_roundtrip val_loss:2.0500 val_bpb:1.2345"
         " eval_time:1234ms\n")


def steps(first, last):
    """Return rows without random numbers: two runs differ only in their seed."""
    return "".join(f"step:{i}/900 train_loss:2.{i:05d} train_time:{i * 50}ms"
                   " step_avg:50.00ms\n" for i in range(first, last + 1))


def log_of(seed, last):
    return SOURCE + f"seed:{seed}\n" + steps(0, last)


def put(path, text, mode="w"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode) as file:
        file.write(text)


class Pod:
    """A collector with one pod, which is a folder of this machine."""

    def __init__(self, variant, pattern):
        self.variant = variant
        self.top = tempfile.mkdtemp(prefix="collect-which.")
        self.logs = self.top + "/logs/"
        self.clock = Clock(self.top + "/clock")
        self.env = home_env(self.top, **self.clock.env)
        if variant == "sh":
            put(self.top + "/bin/python3", "#!/bin/sh\nexit 1\n")
            os.chmod(self.top + "/bin/python3", stat.S_IRWXU)
            self.env["PATH"] = self.top + "/bin:" + self.env["PATH"]
        put(self.top + "/config/hgym-tui/config.json", json.dumps(
            {"pods": [{"name": "p", "transport": "local",
                       "logs": [self.logs + pattern]}],
             "telemetry_s": 3600}))
        self.child = None

    def ok(self, good, name, told=None):
        return ok(good, f"{self.variant}: {name}", told)

    def path(self, name):
        return self.logs + name

    def put(self, name, text, mode="w"):
        put(self.path(name), text, mode)

    def start(self):
        with open(self.top + "/said", "a") as said:
            self.child = subprocess.Popen([TUI, "collect"], env=self.env,
                                          stderr=said)

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(PATIENCE_S)
        self.child = None

    def output(self):
        with open(self.top + "/said") as file:
            return file.read()

    def rows(self, *args):
        done = subprocess.run([TUI, *args, "--json"], env=self.env,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def runs(self):
        """Return the runs in the database: name of the log, generation, values."""
        return sorted((os.path.basename(r["path"]), r["gen"], r["seed"],
                       r["steps"], r["bytes"]) for r in self.rows("runs"))

    def copies(self):
        found = []
        for path in glob.glob(self.top + "/state/**/*.log", recursive=True):
            with open(path) as file:
                found.append(file.read())
        return sorted(found)

    def expect(self, want, name):
        """Wait for these runs and local copies: (log, generation, text)."""
        runs = []
        for log, gen, text in want:
            put(self.top + "/parse/x.log", text)
            runs += [(log, gen, r["seed"], r["steps"], r["bytes"])
                     for r in self.rows("parse", self.top + "/parse/x.log")]
        texts = sorted(w[2] for w in want)
        good = until(lambda: self.runs() == sorted(runs) and
                     self.copies() == texts)
        if not self.ok(good, name):
            note(f"has  {self.runs()}\nwant {sorted(runs)}\n"
                 f"bytes {[len(c) for c in self.copies()]},"
                 f" want {[len(t) for t in texts]}\n{self.output()}")

    def followers(self):
        done = subprocess.run(["pgrep", "-P", str(self.child.pid)],
                              stdout=subprocess.PIPE)
        return [int(pid) for pid in done.stdout.split()]

    def signal(self, number):
        for pid in self.followers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def close(self):
        if self.child is not None:
            self.stop()
        shutil.rmtree(self.top, ignore_errors=True)


def test_rewritten(pod):
    """The logs differ only in one number after 100 kB of source."""
    first, next_, last = log_of(1337, 400), log_of(2025, 500), log_of(3141, 600)
    pod.put("a.log", first)
    pod.start()
    pod.expect([("a.log", 0, first)], "a first run")
    pod.stop()
    pod.put("a.log", next_)
    pod.start()
    pod.expect([("a.log", 0, first), ("a.log", 1, next_)],
               "rewritten with another seed while collect is stopped: a new run")
    pod.put("a.log", last)
    pod.expect([("a.log", 0, first), ("a.log", 1, next_), ("a.log", 2, last)],
               "rewritten at once while it is followed: a new run")


def overwrite(pod, old, new):
    """Replace a number in the file by another one of the same length."""
    with open(pod.path("a.log"), "r+") as file:
        at = file.read().index(old)
        file.seek(at)
        file.write(new)


def test_inside(pod):
    """The logs have the same length, first 400 kB and last 20 kB."""
    first = SOURCE * 4 + log_of(1337, 400)
    second = SOURCE * 4 + log_of(2025, 400)
    pod.put("a.log", first)
    pod.start()
    pod.expect([("a.log", 0, first)], "a long log")
    overwrite(pod, "seed:1337", "seed:2025")
    pod.expect([("a.log", 0, first), ("a.log", 1, second)],
               "another seed in the middle of a log that does not grow: a new run")
    if pod.variant == "sh":
        return
    overwrite(pod, "seed:2025", "seed:3141")
    step = 400

    def append(_):
        nonlocal step
        step += 1
        pod.put("a.log", steps(step, step), "a")
        pod.clock.forward(5)

    pod.ok(until(lambda: any(run[1:3] == (2, 3141) for run in pod.runs()), 600,
                 append), "another seed in the middle of a log that grows: a new run",
           (pod.runs(), pod.output()))
    last = SOURCE * 4 + log_of(3141, step)
    pod.ok(until(lambda: last in pod.copies()), "the local copy of the new run starts at its first byte")


def test_ended(pod):
    """A truncated log contains the bytes with which the next one starts."""
    first, second = log_of(7, 300), log_of(7, 300) + steps(301, 400)
    pod.put("a.log", first)
    pod.start()
    pod.expect([("a.log", 0, first)], "a run that is stopped early")
    os.truncate(pod.path("a.log"), 0)
    until(lambda: len(pod.copies()) == 2)
    pod.put("a.log", second, "a")
    pod.expect([("a.log", 0, first), ("a.log", 1, second)],
               "truncated in place and written again: a new run")
    pod.stop()
    pod.put("a.log", FINAL, "a")
    pod.start()
    pod.expect([("a.log", 0, first), ("a.log", 1, second + FINAL)],
               "the last lines belong to the new run")
    pod.stop()
    pod.ok({r["gen"]: r["status"] for r in pod.rows("runs")} ==
           {0: "truncated", 1: "finished"}, "the first run is truncated, the new one finished",
           pod.rows("runs"))


def switch(pod, target):
    os.symlink(target, pod.path("new"))
    os.rename(pod.path("new"), pod.path("last.log"))


def test_link(pod):
    """A link is switched: its old target is read to the end."""
    texts = [log_of(seed, 100) for seed in range(3)]
    for i, text in enumerate(texts):
        pod.put(f"{i}/train.txt", text)
    switch(pod, "0/train.txt")
    pod.start()
    pod.expect([("last.log", 0, texts[0])], "the target of a link")
    pod.stop()
    texts[0] += steps(101, 200)
    pod.put("0/train.txt", steps(101, 200), "a")
    switch(pod, "1/train.txt")
    pod.start()
    pod.expect([("train.txt", 0, texts[0]), ("last.log", 1, texts[1])],
               "switched while collect is stopped: the last lines of the old target")
    pod.signal(signal.SIGSTOP)
    texts[1] += steps(101, 200)
    pod.put("1/train.txt", steps(101, 200), "a")
    switch(pod, "2/train.txt")
    pod.signal(signal.SIGKILL)
    pod.expect([("train.txt", 0, texts[0]), ("train.txt", 1, texts[1]),
                ("last.log", 2, texts[2])],
               "switched while the connection is down: the last lines, too")


def test_slow_writer(pod):
    """A renamed log without new lines for longer than a rotation takes."""
    text = log_of(1, 50)
    pod.put("a.log", text)
    pod.start()
    pod.expect([("a.log", 0, text)], "a log with a slow writer")
    with open(pod.path("a.log"), "a") as file:
        os.rename(pod.path("a.log"), pod.path("a.old"))
        for i in range(51, 53):
            pod.clock.forward(8)
            file.write(steps(i, i))
            file.flush()
            text += steps(i, i)
    pod.expect([("a.log", 0, text)], "renamed so that no pattern matches: its new lines are still read")


def test_many(pod):
    """The newest log is followed, although its name sorts last."""
    # More than the sh follower holds open at the same time, which is 256.
    many = 1200 if pod.variant == "py" else 280
    texts = [(f"{i:04d}.log", 0, f"seed:{i}\n" + steps(0, 3))
             for i in range(many)]
    for name, _, text in texts:
        pod.put(name, text)
    pod.start()

    def offsets():
        return sum(r["bytes"] for r in pod.rows("runs"))

    size = sum(len(text) for _, _, text in texts)
    pod.ok(until(lambda: offsets() == size), f"{many} logs are read",
           (offsets(), size, pod.output()))
    pod.put("zz.log", log_of(1, 9))
    pod.put("0000.log", steps(4, 9), "a")
    size += len(log_of(1, 9)) + len(steps(4, 9))
    pod.ok(until(lambda: offsets() == size), "a new log and a new line in an old one are read",
           (offsets(), size, pod.output()))
    pod.ok("Too many" not in pod.output(), "no message about too many files", pod.output())


def test_too_many(pod):
    """More logs than the limit: one message, and the newest are followed."""
    if pod.variant == "sh":
        return
    for i in range(4200):
        pod.put(f"{i:04d}.log", f"seed:{i}\n")
        os.utime(pod.path(f"{i:04d}.log"), (1e9 + i, 1e9 + i))
    pod.start()
    words = "4200 logs match"
    pod.ok(until(lambda: words in pod.output()), "4200 logs match: reported",
           pod.output())
    pod.ok(until(lambda: len(pod.copies()) == 4096), "4200 logs match: 4096 are followed",
           len(pod.copies()))
    pod.ok(f"seed:{4199}\n" in pod.copies() and
           "seed:50\n" not in pod.copies(), "4200 logs match: the newest are followed")
    # A slow machine may lose the connection and reconnect.
    told = [line for line in pod.output().splitlines()
            if not re.search(": (live$|reconnecting: )", line)]
    pod.ok(len(told) == 1, "4200 logs match: one message", pod.output())


# The longest tests first.
TESTS = [(test_inside, "*.log"), (test_many, "*.log"),
         (test_slow_writer, "*.log"), (test_too_many, "*.log"),
         (test_link, "last.log"), (test_rewritten, "*.log"),
         (test_ended, "*.log")]


def run(test, pattern, variant):
    pod, begin = Pod(variant, pattern), time.monotonic()
    try:
        test(pod)
    finally:
        pod.close()
    note(f"{variant}: {test.__name__}: {time.monotonic() - begin:.0f} s")


def main():
    only = sys.argv[1:]
    # The tests mostly wait, so run several at the same time.
    with ThreadPoolExecutor(6) as pool:
        for case in [pool.submit(run, test, pattern, variant)
                     for test, pattern in TESTS for variant in ("py", "sh")
                     if not only or test.__name__ in only]:
            case.result()
    return finish()


sys.exit(main())
