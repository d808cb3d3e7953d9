#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which file is which, where a log tries to pass for another one: written
anew by another seed behind the same source, cut in place, its link switched,
renamed out of the globs by a slow writer, one of very many.  What is stored
is what `parse` says of each, and the copies are the files."""
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

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

SOURCE = "".join(f"    x{i} = model.block_{i}(x{i}, depth={i % 7})\n"
                 for i in range(2000))
FINAL = ("final_int8_zlib_roundtrip val_loss:2.0500 val_bpb:1.2345"
         " eval_time:1234ms\n")


def steps(first, last):
    """Without a random number: two runs differ in their seed alone."""
    return "".join(f"step:{i}/900 train_loss:2.{i:05d} train_time:{i * 50}ms"
                   " step_avg:50.00ms\n" for i in range(first, last + 1))


def log_of(seed, last):
    return SOURCE + f"seed:{seed}\n" + steps(0, last)


def put(path, text, mode="w"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode) as file:
        file.write(text)


class Pod:
    """A collector of one pod, over its own folder, by one follower."""

    def __init__(self, variant, pattern):
        self.variant = variant
        self.top = tempfile.mkdtemp(prefix="collect-which.")
        self.logs = self.top + "/logs/"
        self.env = home_env(self.top)
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

    def said(self):
        with open(self.top + "/said") as file:
            return file.read()

    def rows(self, *args):
        done = subprocess.run([TUI, *args, "--json"], env=self.env,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def runs(self):
        """What the database has: name of the log, generation, the run."""
        return sorted((os.path.basename(r["path"]), r["gen"], r["seed"],
                       r["steps"], r["bytes"]) for r in self.rows("runs"))

    def copies(self):
        found = []
        for path in glob.glob(self.top + "/state/**/*.log", recursive=True):
            with open(path) as file:
                found.append(file.read())
        return sorted(found)

    def has(self, want, name):
        """want: (log, generation, text) of each."""
        runs = []
        for log, gen, text in want:
            put(self.top + "/parse/x.log", text)
            runs += [(log, gen, r["seed"], r["steps"], r["bytes"])
                     for r in self.rows("parse", self.top + "/parse/x.log")]
        texts = sorted(w[2] for w in want)
        good = until(lambda: self.runs() == sorted(runs) and
                     self.copies() == texts, 60)
        if not self.ok(good, name):
            note(f"has  {self.runs()}\nwant {sorted(runs)}\n"
                 f"bytes {[len(c) for c in self.copies()]},"
                 f" want {[len(t) for t in texts]}\n{self.said()}")

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


def test_written_anew(pod):
    """Alike but for one number behind 100 kB of source."""
    first, next_, last = log_of(1337, 400), log_of(2025, 500), log_of(3141, 600)
    pod.put("a.log", first)
    pod.start()
    pod.has([("a.log", 0, first)], "a first run")
    pod.stop()
    pod.put("a.log", next_)
    pod.start()
    pod.has([("a.log", 0, first), ("a.log", 1, next_)],
            "written anew by another seed while nobody looks")
    pod.put("a.log", last)
    pod.has([("a.log", 0, first), ("a.log", 1, next_), ("a.log", 2, last)],
            "and in one go while it is followed")


def overwrite(pod, old, new):
    """Another number in the middle, of the same length, in place."""
    with open(pod.path("a.log"), "r+") as file:
        at = file.read().index(old)
        file.seek(at)
        file.write(new)


def test_inside(pod):
    """Alike in its first 400 kB, its last 20 and its length."""
    first = SOURCE * 4 + log_of(1337, 400)
    second = SOURCE * 4 + log_of(2025, 400)
    pod.put("a.log", first)
    pod.start()
    pod.has([("a.log", 0, first)], "a long log")
    overwrite(pod, "seed:1337", "seed:2025")
    pod.has([("a.log", 0, first), ("a.log", 1, second)],
            "another seed in the middle of one that rests")
    if pod.variant == "sh":
        return
    overwrite(pod, "seed:2025", "seed:3141")
    step = 400

    def append(seconds):
        nonlocal step
        step += 1
        pod.put("a.log", steps(step, step), "a")
        time.sleep(seconds)

    pod.ok(until(lambda: any(run[1:3] == (2, 3141) for run in pod.runs()), 600,
                 append), "and of one that never rests",
           (pod.runs(), pod.said()))
    last = SOURCE * 4 + log_of(3141, step)
    pod.ok(until(lambda: last in pod.copies()), "which is had from its begin")


def test_ended(pod):
    """One that was cut has the bytes with which the next one begins."""
    first, second = log_of(7, 300), log_of(7, 300) + steps(301, 400)
    pod.put("a.log", first)
    pod.start()
    pod.has([("a.log", 0, first)], "a run that is stopped early")
    os.truncate(pod.path("a.log"), 0)
    until(lambda: len(pod.copies()) == 2)
    pod.put("a.log", second, "a")
    pod.has([("a.log", 0, first), ("a.log", 1, second)],
            "cut in place, and begun again alike")
    pod.stop()
    pod.put("a.log", FINAL, "a")
    pod.start()
    pod.has([("a.log", 0, first), ("a.log", 1, second + FINAL)],
            "its end goes to the one that lives")
    pod.stop()
    pod.ok({r["gen"]: r["status"] for r in pod.rows("runs")} ==
           {0: "truncated", 1: "finished"}, "which has finished",
           pod.rows("runs"))


def switch(pod, target):
    os.symlink(target, pod.path("new"))
    os.rename(pod.path("new"), pod.path("last.log"))


def test_link(pod):
    """The target that a link led to is read to its end."""
    texts = [log_of(seed, 100) for seed in range(3)]
    for i, text in enumerate(texts):
        pod.put(f"{i}/train.txt", text)
    switch(pod, "0/train.txt")
    pod.start()
    pod.has([("last.log", 0, texts[0])], "the target of a link")
    pod.stop()
    texts[0] += steps(101, 200)
    pod.put("0/train.txt", steps(101, 200), "a")
    switch(pod, "1/train.txt")
    pod.start()
    pod.has([("train.txt", 0, texts[0]), ("last.log", 1, texts[1])],
            "switched while nobody looks: the end of the old one")
    pod.signal(signal.SIGSTOP)
    texts[1] += steps(101, 200)
    pod.put("1/train.txt", steps(101, 200), "a")
    switch(pod, "2/train.txt")
    pod.signal(signal.SIGKILL)
    pod.has([("train.txt", 0, texts[0]), ("train.txt", 1, texts[1]),
             ("last.log", 2, texts[2])], "and while the link is down")


def test_slow_writer(pod):
    """Renamed out of the globs, silent for longer than a rotation takes."""
    text = log_of(1, 50)
    pod.put("a.log", text)
    pod.start()
    pod.has([("a.log", 0, text)], "a log with a slow writer")
    with open(pod.path("a.log"), "a") as file:
        os.rename(pod.path("a.log"), pod.path("a.old"))
        for i in range(51, 53):
            time.sleep(8)
            file.write(steps(i, i))
            file.flush()
            text += steps(i, i)
    pod.has([("a.log", 0, text)], "is read on without its name")


def test_many(pod):
    """The one that begins last, by a name that sorts last, is followed."""
    many = 1200 if pod.variant == "py" else 600
    texts = [(f"{i:04d}.log", 0, f"seed:{i}\n" + steps(0, 3))
             for i in range(many)]
    for name, _, text in texts:
        pod.put(name, text)
    pod.start()

    def offsets():
        return sum(r["bytes"] for r in pod.rows("runs"))

    size = sum(len(text) for _, _, text in texts)
    pod.ok(until(lambda: offsets() == size), f"{many} logs are read",
           (offsets(), size, pod.said()))
    pod.put("zz.log", log_of(1, 9))
    pod.put("0000.log", steps(4, 9), "a")
    size += len(log_of(1, 9)) + len(steps(4, 9))
    pod.ok(until(lambda: offsets() == size), "one more, and one that grows",
           (offsets(), size, pod.said()))
    pod.ok("Too many" not in pod.said(), "nothing is wrong", pod.said())


def test_too_many(pod):
    """More than are followed: one sentence, and the newest are."""
    if pod.variant == "sh":
        return
    for i in range(4200):
        pod.put(f"{i:04d}.log", f"seed:{i}\n")
        os.utime(pod.path(f"{i:04d}.log"), (1e9 + i, 1e9 + i))
    pod.start()
    words = "4200 logs match"
    pod.ok(until(lambda: words in pod.said()), "how many there are is said",
           pod.said())
    pod.ok(until(lambda: len(pod.copies()) == 4096), "4096 are followed",
           len(pod.copies()))
    pod.ok(f"seed:{4199}\n" in pod.copies() and
           "seed:50\n" not in pod.copies(), "the newest")
    # A pod in trouble may be lost and found in between.
    told = [line for line in pod.said().splitlines()
            if not re.search(": (live$|reconnecting: )", line)]
    pod.ok(len(told) == 1, "in one sentence", pod.said())


TESTS = [(test_written_anew, "*.log"), (test_inside, "*.log"),
         (test_ended, "*.log"), (test_link, "last.log"),
         (test_slow_writer, "*.log"), (test_many, "*.log"), (test_too_many, "*.log")]


def main():
    only = sys.argv[1:]
    for test, pattern in TESTS:
        if only and test.__name__ not in only:
            continue
        for variant in "py", "sh":
            pod = Pod(variant, pattern)
            try:
                test(pod)
            finally:
                pod.close()
    return finish()


sys.exit(main())
