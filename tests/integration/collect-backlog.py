#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Logs that are several megabytes long before the collector starts: they are
parsed in other threads while they grow, are truncated and rotated, and while
the collector is stopped in the middle. The database must contain what `parse`
prints for the files, and the same samples as a database whose collector ran
from the start."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

FILES = int(os.environ.get("BACKLOG_FILES", "5"))
MB = float(os.environ.get("BACKLOG_MB", "4"))
STOPS = int(os.environ.get("BACKLOG_STOPS", "4"))


def one_run(rng):
    out = [f"seed:{rng.randrange(10000)}\nworld_size:8\n"
           "train_batch_tokens:524288 train_seq_len:1024\n"]
    steps, ms = rng.randrange(300, 3000), 0.0
    for step in range(steps + 1):
        ms += rng.uniform(40, 60)
        avg = ms / max(step, 1)
        if step % 100 == 0:
            out.append(f"step:{step}/{steps} val_loss:{5 - step / 900:.4f}"
                       f" val_bpb:{3 - step / 1500:.4f}"
                       f" train_time:{ms:.0f}ms step_avg:{avg:.2f}ms\n")
        out.append(f"step:{step}/{steps} train_loss:{rng.uniform(2, 6):.4f}"
                   f" train_time:{ms:.0f}ms step_avg:{avg:.2f}ms\n")
        if rng.random() < 0.1:
            out.append("some words that nobody takes\n" * rng.randrange(40))
        if rng.random() < 0.01:
            out.append("progress 1/3\rprogress 2/3\rprogress 3/3\n")
        if rng.random() < 0.003:
            out.append("x" * rng.randrange(70000) + "\n")
    if rng.random() < 0.5:
        out.append("Serialized model int8+zlib: 15900000 bytes\n"
                   "final_int8_zlib_roundtrip val_loss:2.0500"
                   f" val_bpb:1.{rng.randrange(1000):04d} eval_time:9ms\n")
    else:
        out.append("Traceback (most recent call last):\n"
                   "torch.OutOfMemoryError: CUDA out of memory.\n")
    return "".join(out).encode()


def some_log(rng, size):
    data = b""
    while len(data) < size:
        data += one_run(rng)
    return data[:int(size)]


class Box:
    def __init__(self, top):
        self.top, self.logs = top, top + "/logs"
        os.mkdir(self.logs)
        self.env = home_env(top)
        with open(top + "/config.json", "w") as file:
            json.dump({"pods": [{"name": "here", "transport": "local",
                                 "logs": [self.logs + "/*.log"]}]}, file)

    def collect(self, db, *args):
        return subprocess.Popen(
            [TUI, "--config", self.top + "/config.json", "--db",
             self.top + "/" + db, "collect", *args], env=self.env,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self, db):
        child = self.collect(db, "--until-idle", "2", "--for", "600")
        said = child.communicate()[1].decode(errors="replace")
        if child.returncode != 0:
            note(said)
        return child.returncode == 0

    def rows(self, *args):
        done = subprocess.run([TUI, *args, "--json"], env=self.env,
                              stdout=subprocess.PIPE, timeout=PATIENCE_S)
        return [json.loads(line) for line in done.stdout.splitlines()]


OWN = {"run_id", "pod", "path", "gen", "first_seen", "last_seen", "file",
       "bytes", "group"}


def plain(row):
    return {k: v for k, v in row.items() if k not in OWN}


def stored(box, db):
    """Return {path: (runs, samples)} of the newest generation of each log."""
    found, newest = {}, {}
    runs = box.rows("--db", box.top + "/" + db, "runs")
    for run in runs:
        newest[run["path"]] = max(newest.get(run["path"], 0), run["gen"])
    for run in runs:
        if run["gen"] != newest[run["path"]]:
            continue
        one = found.setdefault(run["path"], ([], []))
        one[0].append(plain(run))
        for sample in box.rows("--db", box.top + "/" + db, "samples",
                               str(run["run_id"])):
            del sample["run_id"]
            one[1].append(sample)
    return found


def compare(box, found, name):
    bad = total = 0
    for log in sorted(os.listdir(box.logs)):
        parsed = box.rows("parse", box.logs + "/" + log)
        total += len(parsed)
        mine = found.get(box.logs + "/" + log, ([], []))[0]
        if mine != [plain(row) for row in parsed]:
            bad += 1
            note(f"{log}: {len(mine)} runs stored, {len(parsed)} parsed")
    ok(bad == 0 and total > 0, f"{name}: {total} runs equal the output of "
                               "parse")


def tell(got, want):
    """Report the runs and samples of each log that differ."""
    for path in sorted(set(got) | set(want)):
        a, b = got.get(path, ([], [])), want.get(path, ([], []))
        if a == b:
            continue
        note(f"{path}: {len(a[0])} runs and {len(a[1])} samples, expected "
             f"{len(b[0])} and {len(b[1])}")
        for x, y in zip(a[0], b[0]):
            if x != y:
                note({k: (x.get(k), v) for k, v in y.items()
                      if x.get(k) != v})
        for i, (x, y) in enumerate(zip(a[1], b[1])):
            if x != y:
                note(f"sample {i}: {x}, expected {y}")
                break


def append(box, rng, stop):
    """The logs grow while they are read; one is truncated, one rotated."""
    paths = [f"{box.logs}/{i}.log" for i in range(FILES)]
    os.truncate(paths[0], 0)
    os.rename(paths[1], box.logs + "/rotated.log")
    while not stop.is_set():
        with open(rng.choice(paths), "ab") as file:
            file.write(one_run(rng)[:rng.randrange(100000)])
        time.sleep(rng.uniform(0.005, 0.05))


def main(top):
    rng = random.Random(int(os.environ.get("BACKLOG_SEED", "1")))
    box = Box(top)
    for i in range(FILES):
        with open(f"{box.logs}/{i}.log", "wb") as file:
            file.write(some_log(rng, MB * 1e6))
    ok(box.finish("whole.db"), "a backlog is stored")
    whole = stored(box, "whole.db")
    compare(box, whole, "a backlog")
    for i in range(STOPS):
        child = box.collect("stopped.db")
        time.sleep(rng.uniform(0.1, 1))
        child.send_signal(signal.SIGKILL if i % 2 else signal.SIGTERM)
        child.communicate()
    ok(box.finish("stopped.db"), "a backlog is stored although the collector "
                                 "is stopped and killed")
    stopped = stored(box, "stopped.db")
    if not ok(stopped == whole and
              sum(len(s) for _, s in whole.values()) > 10000,
              "stopped and killed: the same runs and samples"):
        tell(stopped, whole)
    stop = threading.Event()
    child = box.collect("grown.db")
    thread = threading.Thread(target=append, args=(box, rng, stop))
    thread.start()
    time.sleep(3)
    stop.set()
    thread.join()
    child.send_signal(signal.SIGTERM)
    child.communicate()
    ok(box.finish("grown.db") and box.finish("again.db"),
       "logs that change while they are read are stored")
    grown, again = stored(box, "grown.db"), stored(box, "again.db")
    compare(box, grown, "grown")
    if not ok(grown == again, "runs and samples equal those of a read at the end"):
        tell(grown, again)


top = tempfile.mkdtemp(prefix="collect-backlog.")
try:
    main(top)
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(finish())
