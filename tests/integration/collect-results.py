#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stop, kill and restart `collect` when a run is over: the database must have its
result. A log may contain several runs, each after its printed script: a
run is over when the script of the next one starts, and no run is running until
that script ends. A log ends when it is truncated: then its last line counts
too, even without a newline."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
SSHD = os.path.join(SRC, "tests/support/sshd.sh")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from database import read_rows  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, note, ok, skip  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

STEPS = 200
SCRIPT = ["import os\n", "import torch\n"] + [f"x{i} = {i}\n"
                                              for i in range(200)]
SCRIPT_END = "=" * 100 + "\n"
# Fields of `runs` and `parse` that describe the row and not the run.
PLACE = {"run_id", "pod", "path", "gen", "first_seen", "last_seen", "file",
         "group"}


def train(first, last):
    return "".join(f"step:{i}/{STEPS} train_loss:{6 - i / STEPS:.4f}"
                   f" train_time:{i * 50}ms step_avg:50.00ms\n"
                   for i in range(first, last + 1))


def head(seed):
    return f"seed:{seed}\nworld_size:8 grad_accum_steps:1\n"


def result(seed):
    return ("Serialized model int8+zlib: 15900000 bytes\n"
            "final_int8_zlib_roundtrip val_loss:2.0500"
            f" val_bpb:1.{seed:04d} eval_time:1234ms\n")


def script_text(n=None):
    return "".join(SCRIPT[:n])


# Text that is appended to each log in each stage. The collector commits a
# stage before the next one is written, so the runs are stored as running
# first.
RUN_2 = SCRIPT_END + head(2) + train(0, STEPS // 2)
STAGES = {
    "script.log": [script_text() + SCRIPT_END + head(1) + train(0, 120),
                   train(121, STEPS) + result(1) + script_text(100),
                   "".join(SCRIPT[100:]) + RUN_2],
    "first-line.log": [head(1) + train(0, 120),
                       train(121, STEPS) + result(1) + script_text(1),
                       "".join(SCRIPT[1:]) + RUN_2],
    "cut-line.log": [head(1) + train(0, 120),
                     train(121, STEPS) + result(1) + script_text(50) + "x50 ",
                     "= 50\n" + "".join(SCRIPT[51:]) + RUN_2],
    # The whole run and the script arrive at once: it was never running.
    "at-once.log": ["", head(1) + train(0, STEPS) + result(1) + script_text(9),
                    "".join(SCRIPT[9:]) + RUN_2],
    "no-script.log": [head(1) + train(0, 120),
                      train(121, STEPS) + result(1) + head(2) + train(0, 9),
                      train(10, 100)],
    # These two do not finish: one stops, one is running all the time.
    "stopped.log": [head(1) + train(0, 120),
                    train(121, 150) + script_text(100),
                    "".join(SCRIPT[100:]) + RUN_2],
    "under-way.log": [head(1) + train(0, 100), train(101, 150),
                      train(151, 180)],
}


class Box:
    def __init__(self, top, ssh):
        self.top, self.logs, self.db = top, top + "/logs", top + "/x.db"
        os.makedirs(self.logs)
        self.env = home_env(top)
        pod = dict({"name": "pod", "logs": [self.logs + "/*.log"]},
                   **(ssh or {"transport": "local"}))
        with open(top + "/config.json", "w") as file:
            json.dump({"pods": [pod]}, file)

    def append(self, stage):
        for name, texts in STAGES.items():
            with open(f"{self.logs}/{name}", "a") as file:
                file.write(texts[stage])

    def start(self):
        with open(self.top + "/stderr", "a") as errors:
            return subprocess.Popen(
                [TUI, "--config", self.top + "/config.json", "--db", self.db,
                 "collect"], env=self.env, stderr=errors)

    def ask(self, sql):
        return read_rows(self.db, sql)

    def has_committed(self):
        """Does the database have rows up to the end of each log?"""
        at = dict(self.ask("SELECT path, offset FROM tails WHERE NOT ended"))
        return all(at.get(f"{self.logs}/{name}", 0) ==
                   os.stat(f"{self.logs}/{name}").st_size for name in STAGES)

    def wait_committed(self, name):
        if not ok(until(self.has_committed), f"{name}: all logs are stored"):
            with open(self.top + "/stderr") as file:
                note(file.read()[-4000:])

    def rows(self, *args):
        done = subprocess.run([TUI, *args, "--json"], env=self.env,
                              stdout=subprocess.PIPE, timeout=PATIENCE_S)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def runs(self, key, rows):
        found = {name: [] for name in STAGES}
        for row in rows:
            found[os.path.basename(row[key])].append(
                {k: v for k, v in row.items() if k not in PLACE})
        return found

    def compare(self, when, is_live):
        """Compare the runs of the database with those of `parse`.  While a
        log is followed, its last run is running unless it is over."""
        stored = self.runs("path", self.rows("--db", self.db, "runs"))
        parsed = self.runs("file", self.rows(
            "parse", *(f"{self.logs}/{name}" for name in STAGES)))
        for name in STAGES:
            want = parsed[name]
            if is_live and self.is_under_way(name):
                want[-1]["status"] = "running"
            if not ok(stored[name] == want, f"{when}: {name}"):
                self.note_difference(stored[name], want)

    def is_under_way(self, name):
        """Does the log end with rows of a run, and not with a script?"""
        with open(f"{self.logs}/{name}") as file:
            return file.readlines()[-1].startswith("step:")

    def note_difference(self, stored, want):
        note(f"{len(stored)} runs, but parse finds {len(want)}")
        for a, b in zip(stored, want):
            for key in b:
                if a.get(key) != b[key]:
                    note(f"  run {b['run_index']}: {key}: {a.get(key)!r},"
                         f" parse: {b[key]!r}")


def end(child, how):
    child.send_signal(how)
    status = child.wait(PATIENCE_S)
    ok(status == (-how if how == signal.SIGKILL else 128 + how),
       f"{signal.Signals(how).name} ends the collector", status)


def check(top, title, ssh, how):
    """Stop the collector with the signal `how` while it reads the scripts."""
    box = Box(top, ssh)
    title = f"{title}, {signal.Signals(how).name}"
    box.append(0)
    child = box.start()
    box.wait_committed(title)
    box.append(1)
    box.wait_committed(title)
    box.compare(f"{title}, in the script", True)
    end(child, how)
    box.compare(f"{title}, stopped in the script", False)
    child = box.start()
    until(lambda: "running" in str(box.rows("--db", box.db, "runs")))
    end(child, how)
    box.compare(f"{title}, restarted in the script", False)
    child = box.start()
    box.append(2)
    box.wait_committed(title)
    box.compare(f"{title}, next run", True)
    end(child, signal.SIGTERM)
    box.compare(f"{title}, stopped in the next run", False)


def check_ended(top, title, ssh):
    """Kill the collector as soon as the database has the end of truncated
    logs. Nobody reads those logs again, so the database must have their last
    lines, which have no newline."""
    box = Box(top, ssh)

    def write(gen):
        for name in STAGES:
            with open(f"{box.logs}/{name}", "w") as file:
                file.write(head(gen) + train(0, 120 - gen).rstrip("\n"))

    def n_ended():
        return box.ask("SELECT count(*) FROM tails WHERE ended")

    write(0)
    want = []
    for gen in range(4):
        child = box.start()
        box.wait_committed(f"{title}, truncated")
        write(gen + 1)
        want.append((gen, 123 - gen, len(STAGES)))
        ok(until(lambda: n_ended() == [(len(want) * len(STAGES),)]),
           f"{title}, truncated: the logs have ended", n_ended())
        end(child, signal.SIGKILL)
        got = box.ask("SELECT gen, r.lines, count(*) FROM runs r JOIN tails t"
                      " ON t.id = r.tail_id WHERE ended GROUP BY 1, 2")
        ok(got == want, f"{title}, truncated: the last lines are stored", got)


def start_sshd(folder):
    """Return the settings of a pod behind sshd, or None without sshd."""
    if subprocess.run(["sh", SSHD, "start", folder],
                      stdout=subprocess.DEVNULL).returncode != 0:
        return None
    with open(folder + "/port") as port, open(folder + "/user") as user:
        host = f"{user.read().strip()}@127.0.0.1:{port.read().strip()}"
    return {"ssh": host, "identity": folder + "/id_ed25519",
            "known_hosts": folder + "/known_hosts", "transport": "libssh2"}


def main(top):
    check(top + "/a", "local", None, signal.SIGTERM)
    check(top + "/b", "local", None, signal.SIGKILL)
    check_ended(top + "/e", "local", None)
    ssh = start_sshd(top + "/sshd")
    if ssh is None:
        skip("ssh", "needs sshd (Debian package openssh-server)")
        return
    try:
        check(top + "/c", "ssh", ssh, signal.SIGTERM)
        check(top + "/d", "ssh", ssh, signal.SIGKILL)
        check_ended(top + "/f", "ssh", ssh)
    finally:
        subprocess.run(["sh", SSHD, "stop", top + "/sshd"])


top = tempfile.mkdtemp(prefix="collect-results.")
try:
    main(top)
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(finish())
