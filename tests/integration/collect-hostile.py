#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits for what a hostile or broken pod can cause: runs per log, messages
per pod, logs that appear and disappear; each limit is reported once. And 512
logs that grow at the same time take little memory in the dashboard."""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "..", name)
                for name in ("screen", "support")]
from database import read_rows  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, ok, skip, skip_all  # noqa: E402
from vt import Program  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

# A follower that reports endless errors, each with another file.
LIAR = """#!%s
import os, sys
nonce = sys.argv[-1].rsplit(" ", 1)[-1]
out = os.fdopen(1, "wb")
out.write(b"\\nHGF2 %%s OK py 1\\n" %% nonce.encode())
n = 0
try:
    while n < 200000:
        n += 1
        name = b"/log-%%06d" %% n
        out.write(b"E 0 13 %%d\\n%%s" %% (len(name), name))
    out.write(b"S 0 0\\n")
    out.flush()
    open(os.environ["SAID_ALL"], "w").close()
    sys.stdin.read()
except BrokenPipeError:
    pass
""" % sys.executable


class Box:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="collect-hostile.")
        self.env = home_env(self.top)
        self.config, self.db = self.top + "/config.json", self.top + "/a.db"
        os.mkdir(self.top + "/logs")
        with open(self.config, "w") as file:
            json.dump({"pods": [{"name": "p", "transport": "local",
                                 "logs": [self.top + "/logs/*.log"]}],
                       "telemetry_s": 3600}, file)

    def put(self, name, text):
        with open(f"{self.top}/logs/{name}", "w") as file:
            return file.write(text)

    def argv(self, *more):
        return [os.path.abspath(TUI), "--config", self.config, "--db",
                self.db, *more]

    def number(self, sql):
        return (read_rows(self.db, sql) or [(0,)])[0][0] or 0

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


def memory_mb(pid, what):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(what):
                return int(line.split()[1]) * 1024 / 1e6
    return 0


def rows(n):
    return "".join(f"step:{i}/9999 train_loss:2.{i:04d} train_time:{i * 50}ms"
                   " step_avg:50.00ms\n" for i in range(n))


def test_endless_runs(box):
    box.put("a.log", "".join(f"seed:{i}\n" + rows(2) for i in range(3000)))
    box.put("b.log", "seed:1\n" + rows(2))
    done = subprocess.run(
        box.argv("collect", "--until-idle", "1", "--for", "600"), env=box.env,
        stderr=subprocess.PIPE, text=True)
    ok(box.number("SELECT count(*) FROM runs") == 1001,
       "a log with too many runs: 1,000 are stored, and all of another log",
       box.number("SELECT count(*) FROM runs"))
    ok(done.stderr.count("only the first 1000 runs") == 1, "a log with too many "
                                                           "runs: reported once",
       done.stderr)


def test_endless_trouble(box):
    path = box.top + "/bin/sh"
    os.mkdir(box.top + "/bin")
    with open(path, "w") as file:
        file.write(LIAR)
    os.chmod(path, stat.S_IRWXU)
    env = dict(box.env, PATH=box.top + "/bin:" + box.env["PATH"],
               SAID_ALL=box.top + "/said-all")
    with open(box.top + "/stderr", "w") as err:
        child = subprocess.Popen(box.argv("collect", "--for", "600"), env=env,
                                 stderr=err)
    ok(until(lambda: os.path.exists(box.top + "/said-all")),
       "a pod reports 200,000 errors")
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)
    with open(box.top + "/stderr") as file:
        said = file.read()
    ok(0 < said.count("\n") < 300, "a pod reports 200,000 errors: the first "
                                   "ones are shown", said.count("\n"))
    ok("further messages about this pod are suppressed" in said, "a pod reports 200,000 "
                                                                 "errors: the limit is "
                                                                 "shown",
       said[-500:])


def test_many_at_once(box):
    text = rows(3600)
    size = sum(box.put(f"{i}.log", f"seed:{i}\n" + text) for i in range(512))
    program = Program(box.argv(), 100, 30, box.env, box.top)
    stored = "SELECT sum(offset) FROM tails"
    ok(until(lambda: box.number(stored) == size, between=program.pump),
       "512 logs that grow are read", (box.number(stored), size))
    if os.environ.get("ASAN_OPTIONS"):
        skip("512 logs use less memory than all their points",
             "memory is not measured under a sanitizer")
    else:
        most = memory_mb(program.pid, "VmHWM")
        ok(0 < most < 96, "512 logs use less memory than all their points",
           f"{most:.1f} MB at most")
    program.close()


def main():
    for test in test_endless_runs, test_endless_trouble, test_many_at_once:
        box = Box()
        try:
            test(box)
        finally:
            box.close()
    return finish()


sys.exit(main() if sys.platform == "linux" else skip_all("Linux is required"))
