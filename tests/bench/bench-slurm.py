#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cluster with many jobs of one user, each with a log: the cost, in percent
of a core, of one squeue for all of them every 30 s and of following their
logs, while a few grow and the others have not grown for a minute. The squeue
is a file as large as that of Slurm 22.05.

BENCH_JOBS (1000), BENCH_SECONDS (90)."""
import getpass
import json
import os
import subprocess
import sys
import tempfile
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.path.abspath(os.environ.get("HGYM_SRC", "."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from wait import until  # noqa: E402

JOBS = int(os.environ.get("BENCH_JOBS", "1000"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "90"))
TICK = os.sysconf("SC_CLK_TCK")
# Fields of a job in 22.05 that the program does not read: 2.7 KB.
REST = {f"a_key_of_its_own_{i}": "0" if i % 3 else 0 for i in range(85)}


def cpu_s():
    """CPU by name: of this program, and of its children, including ended
    ones."""
    stats, spent = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                name, rest = file.read().rsplit(")", 1)
        except OSError:
            continue
        fields = rest.split()
        stats[int(pid)] = (name.split("(")[1], int(fields[1]),
                           [int(f) / TICK for f in fields[11:15]])
    for pid, (name, parent, times) in stats.items():
        above = pid
        while above not in (child.pid, 0, 1):
            above = stats.get(above, ("", 0))[1]
        if above != child.pid:
            continue
        spent[name] = spent.get(name, 0) + times[0] + times[1]
        key = "ended" if pid == child.pid else name
        spent[key] = spent.get(key, 0) + times[2] + times[3]
    return spent


with tempfile.TemporaryDirectory(prefix="bench-slurm.") as top:
    env = home_env(top)
    env["PATH"] = top + "/bin:" + env["PATH"]
    for name in "bin", "logs", "config/hgym-tui":
        os.makedirs(f"{top}/{name}")
    with open(top + "/bin/squeue", "w") as file:
        file.write('#!/bin/sh\nexec cat "$HOME/shape"\n')
    os.chmod(file.name, 0o755)
    logs = [f"{top}/logs/{i}.out" for i in range(JOBS)]
    with open(top + "/shape", "w") as file:
        json.dump({"jobs": [dict(
            REST, job_id=i, name=f"run{i}", user_name=getpass.getuser(),
            job_state="RUNNING", standard_output=log)
            for i, log in enumerate(logs)]}, file)
    step = 0

    def grow(paths):
        global step
        step += 1
        for path in paths:
            with open(path, "a") as log:
                log.write(f"step:{step}/99999 train_loss:2.5 train_time:"
                          f"{step * 50}ms step_avg:50.00ms\n")

    grow(logs)
    with open(top + "/config/hgym-tui/config.json", "w") as file:
        json.dump({"discover": [{"name": "hpc", "every_s": 30, "command": [
            SRC + "/src/pods/discover/slurm"]}]}, file)
    child = subprocess.Popen([TUI, "collect"], env=env,
                             stderr=subprocess.DEVNULL)

    def n_runs():
        return subprocess.run([TUI, "runs", "--json"], env=env,
                              capture_output=True).stdout.count(b"\n")

    if not until(lambda: n_runs() >= JOBS):
        sys.exit(f"{n_runs()} of {JOBS} logs are followed")
    # A log is read more often for a minute after its last line.
    time.sleep(min(SECONDS, 65))
    before, start = cpu_s(), time.monotonic()
    while time.monotonic() < start + SECONDS:
        grow(logs[step % JOBS:][:5])
        time.sleep(1)
    after, seconds = cpu_s(), time.monotonic() - start
    child.terminate()
    child.wait()
    share = {name: 100 * (after[name] - before.get(name, 0)) / seconds
             for name in after}
    print(f"{JOBS} jobs, 5 of their logs growing every second: "
          f"{sum(share.values()):.2f} % of a core (" + ", ".join(
              f"{name} {value:.2f}" for name, value in share.items()) + ")")
