#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The disk of the collector is full: it reports that, waits, and loses
nothing.

The database and the local copies are on a small tmpfs (this needs root), which
is enlarged after a while."""
import json
import os
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
from home import home_env  # noqa: E402
from tap import finish, note, ok, skip_all  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402


def mount(*args):
    return subprocess.run(["mount", *args], stderr=subprocess.DEVNULL
                          ).returncode == 0


def rows(env, *args):
    done = subprocess.run([TUI, *args, "--json"], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def write_logs(folder):
    os.mkdir(folder)
    for i in range(3):
        with open(f"{folder}/{i}.log", "w") as log:
            log.write(f"seed:{i}\n")
            for step in range(30000):
                log.write(f"step:{step}/30000 train_loss:{2 + i}.5"
                          f" train_time:{step * 50}ms step_avg:50.00ms\n")


def main(top, disk):
    env = home_env(top, XDG_STATE_HOME=disk + "/state",
                   XDG_DATA_HOME=disk + "/data")
    write_logs(top + "/logs")
    os.makedirs(top + "/config/hgym-tui")
    with open(top + "/config/hgym-tui/config.json", "w") as file:
        json.dump({"pods": [{"name": "p", "transport": "local",
                             "logs": [top + "/logs/*.log"]}]}, file)
    said = top + "/said"
    with open(said, "w") as errors:
        child = subprocess.Popen([TUI, "collect"], env=env, stderr=errors)

    def has_said(*words):
        with open(said) as file:
            text = file.read()
        return any(word in text for word in words)

    full = ("No space left", "disk is full")
    ok(until(lambda: has_said(*full)), "a full disk is reported")
    time.sleep(1)
    ok(child.poll() is None, "the collector waits for free space")
    done = subprocess.run([TUI, "doctor", "--json"], env=env,
                          stdout=subprocess.PIPE)
    ok(done.returncode == 3 and any(
        row["area"] == "disk" and row["state"] == "fail"
        for row in map(json.loads, done.stdout.splitlines())),
       "doctor reports the full disk as a failure", done.stdout)
    ok(mount("-o", "remount,size=200m", disk), "free space again is reported")
    ok(until(lambda: [r["steps"] for r in rows(env, "runs")] == [29999] * 3),
       "everything is read")
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)
    parsed = [r for i in range(3)
              for r in rows(env, "parse", f"{top}/logs/{i}.log")]
    stored = sorted(rows(env, "runs"), key=lambda r: r["path"])
    ok([{k: s[k] for k in p} for s, p in zip(stored, parsed)] == parsed,
       "the runs equal the output of parse")
    ok(all(len(rows(env, "samples", str(r["run_id"]), "--metric",
                    "train_loss")) == 30000 for r in stored),
       "no sample is missing")
    with open(said) as file:
        for line in file:
            note(line.rstrip()[:200])


top = tempfile.mkdtemp(prefix="collect-disk.")
disk = top + "/disk"
os.mkdir(disk)
if sys.platform == "linux" and os.geteuid() == 0 and \
        mount("-t", "tmpfs", "-o", "size=3m", "tmpfs", disk):
    try:
        main(top, disk)
        status = finish()
    finally:
        subprocess.run(["umount", "-l", disk])
        shutil.rmtree(top, ignore_errors=True)
else:
    status = skip_all("needs root, to mount a small disk")
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
