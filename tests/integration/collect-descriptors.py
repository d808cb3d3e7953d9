#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program has no free file descriptors for a while. A pod that is added to
the configuration at that time is lost, not refused: it is tried again and
followed once there is room. The pod that was followed before is followed all
the time."""
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from database import read_rows  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

WORDS = "cannot create a pipe"


def rows_of(seed, first, last):
    return f"seed:{seed}\n" * (first == 0) + "".join(
        f"step:{i}/99999 train_loss:2.{i:05d} train_time:{i * 50}ms"
        " step_avg:50.00ms\n" for i in range(first, last))


def append(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def configure(top, *names):
    with open(top + "/config.new", "w", encoding="utf-8") as file:
        json.dump({"pods": [{"name": name, "transport": "local",
                             "logs": [f"{top}/{name}.log"]}
                            for name in names]}, file)
    os.rename(top + "/config.new", top + "/config.json")


def stored(top):
    """The bytes of each pod's log that are stored in the database."""
    return dict(read_rows(top + "/x.db", "SELECT pod, offset FROM v_tails"))


def has(top, *names):
    return all(stored(top).get(name) == os.stat(f"{top}/{name}.log").st_size
               for name in names)


def descriptors(pid):
    """The number that the process has open most of the time."""
    found = []
    for _ in range(50):
        found.append(len(os.listdir(f"/proc/{pid}/fd")))
        time.sleep(0.01)
    return statistics.mode(found)


def main():
    if not os.path.isdir(f"/proc/{os.getpid()}/fd"):
        skip("descriptors of a process", "needs /proc")
        return finish()
    with tempfile.TemporaryDirectory() as top:
        env = home_env(top)
        log = top + "/state/hgym-tui/debug.log"
        for name in "ab":
            append(f"{top}/{name}.log", rows_of(1, 0, 50))
        configure(top, "a")
        child = subprocess.Popen(
            [TUI, "-v", "--config", top + "/config.json", "--db",
             top + "/x.db", "collect"], env=env, stderr=subprocess.DEVNULL)
        ok(until(lambda: has(top, "a")), "a pod is followed", stored(top))
        # Enough descriptors to read the configuration, too few for pipes.
        hard = resource.prlimit(child.pid, resource.RLIMIT_NOFILE)[1]
        low = descriptors(child.pid) + 2
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (low, hard))
        configure(top, "a", "b")
        child.send_signal(signal.SIGHUP)
        ok(until(lambda: WORDS in read(log)), "no descriptor is left for the "
                                              "new pod",
           read(log)[-2000:])
        lines = [line for line in read(log).splitlines()
                 if WORDS in line and " link: " in line]
        ok(lines and all(" link: b: waiting: " in line for line in lines),
           "the new pod is lost, not refused", lines)
        append(top + "/a.log", rows_of(1, 50, 60))
        ok(until(lambda: has(top, "a")), "the other pod is followed all the "
                                         "time",
           stored(top))
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (hard, hard))
        ok(until(lambda: has(top, "a", "b")), "with free descriptors both "
                                              "pods are followed",
           (stored(top), read(log)[-2000:]))
        child.terminate()
        ok(child.wait(timeout=PATIENCE_S) == 128 + signal.SIGTERM, "the collector ends")
    return finish()


sys.exit(main())
