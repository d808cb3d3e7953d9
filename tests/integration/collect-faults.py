#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that freezes, stops and comes back while the collector is
connected: the reported state is true, and the database has every row once."""
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
from clock import Clock  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, note, ok, skip_all  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402


def sshd(*args):
    return subprocess.run(["sh", SSHD, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


class Box:
    def __init__(self, top):
        self.top, self.rig = top, top + "/rig"
        self.clock = Clock(top + "/clock")
        self.env = home_env(top, **self.clock.env)
        self.step = 0

    def configure(self, **more):
        with open(self.rig + "/port") as port, \
                open(self.rig + "/user") as user:
            host = (f"{user.read().strip()}@127.0.0.1:"
                    f"{port.read().strip()}")
        os.makedirs(self.top + "/config/hgym-tui")
        with open(self.top + "/config/hgym-tui/config.json", "w") as file:
            json.dump({"pods": [
                {"name": "p", "ssh": host, "logs": [self.top + "/*.log"],
                 "identity": self.rig + "/id_ed25519",
                 "known_hosts": self.rig + "/known_hosts"}], **more}, file)

    def write(self, n):
        with open(self.top + "/x.log", "a") as log:
            for _ in range(n):
                self.step += 1
                log.write(f"step:{self.step}/999 train_loss:2.5"
                          f" train_time:{self.step * 50}ms"
                          " step_avg:50.00ms\n")

    def rows(self, *args):
        done = subprocess.run([TUI, *args, "--json"], env=self.env,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def has_all(self):
        return [r["steps"] for r in self.rows("runs")] == [self.step]

    def said(self):
        with open(self.top + "/said") as file:
            return [line.strip() for line in file]

    def count(self, text):
        return sum(text in line for line in self.said())


def main(top):
    box = Box(top)
    if sshd("start", box.rig).returncode == 77:
        return skip_all("needs sshd (Debian package openssh-server)")
    box.configure()
    box.write(5)
    with open(top + "/said", "w") as errors:
        child = subprocess.Popen([TUI, "collect"], env=box.env, stderr=errors)
    try:
        ok(until(box.has_all), "a log is read")
        for pid in sshd("conns", box.rig).stdout.split():
            os.kill(int(pid), signal.SIGSTOP)
        box.write(5)
        ok(until(lambda: box.count("p: reconnecting") >= 1,
                 between=lambda _: box.clock.forward(1)),
           "a frozen server is noticed", box.said())
        ok(until(box.has_all, between=lambda _: box.clock.forward(1)) and
           box.clock.ahead_s < 80,
           "a frozen server: the log is read over another connection",
           (box.clock.ahead_s, box.said()))
        for pid in sshd("conns", box.rig).stdout.split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        box.write(5)
        ok(until(box.has_all), "a killed connection is opened again")
        before = box.count("p: live")
        sshd("stop", box.rig)
        ok(until(lambda: any("refused" in line and "p: reconnecting" in line
                             for line in box.said())),
           "a stopped server is reported with the reason")
        box.write(5)
        box.clock.forward(10)
        ok(child.poll() is None and not box.has_all(), "the collector waits for "
                                                       "the server")
        again = sshd("restart", box.rig)
        if again.returncode != 0:
            note(again.stderr)
        ok(until(box.has_all) and until(lambda: box.count("p: live") >
                                        before), "the server is back: the log "
                                                 "is read")
        steps = [s["step"] for s in box.rows("samples", "1")
                 if s["metric"] == "train_loss"]
        ok(steps == list(range(1, box.step + 1)), "every row is stored once",
           steps)
    finally:
        end(box, child)
    one_session(top + "/one")
    long_banner(top + "/loud")
    return finish()


def end(box, child):
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)
    for line in box.said():
        note(line)
    sshd("stop", box.rig)


def one_session(top):
    """A server that allows one command per connection: the follower and the
    telemetry use one connection each."""
    os.mkdir(top)
    box = Box(top)
    if sshd("start", box.rig, "MaxSessions 1").returncode == 77:
        return
    box.configure(telemetry_s=1)
    box.write(5)
    with open(top + "/said", "w") as errors:
        child = subprocess.Popen([TUI, "collect"], env=box.env, stderr=errors)
    try:
        ok(until(box.has_all), "MaxSessions 1: a log is read")
        ok(until(lambda: len(sshd("conns", box.rig).stdout.split()) == 2),
           "MaxSessions 1: telemetry uses another connection")
        box.write(5)
        ok(until(box.has_all), "MaxSessions 1: the log continues")
        box.clock.forward(4, step=1)
        conns = sshd("conns", box.rig).stdout
        ok(len(conns.split()) == 2 and
           not any("MaxSessions" in line for line in box.said()),
           "MaxSessions 1: two connections and no error", conns)
    finally:
        end(box, child)


def long_banner(top):
    """A login shell that prints more than the follower skips: the pod is not
    live between two attempts, and becomes live once the shell prints less."""
    os.mkdir(top)
    box = Box(top)
    command = (f"ForceCommand echo x >>{top}/logins; test ! -e {top}/loud || "
               'yes noise | head -c 1200000; eval "$SSH_ORIGINAL_COMMAND"')
    if sshd("start", box.rig, command).returncode == 77:
        return
    box.configure()
    box.write(5)
    open(top + "/loud", "w").close()
    with open(top + "/said", "w") as errors:
        child = subprocess.Popen([TUI, "collect"], env=box.env, stderr=errors)

    def logins():
        if not os.path.exists(top + "/logins"):
            return 0
        with open(top + "/logins") as file:
            return len(file.readlines())

    try:
        ok(until(lambda: box.count("p: reconnecting") > 0 and logins() > 2),
           "a login shell that prints 1.2 MB: the pod is tried again")
        ok(box.count("p: live") == 0 and
           box.count("p: reconnecting: the pod's login shell printed more"
                     " than") == box.count("p: reconnecting") == 1,
           "the pod is never live, and the reason is reported once", box.said())
        os.unlink(top + "/loud")
        ok(until(box.has_all) and until(lambda: box.count("p: live") == 1),
           "the pod is live and read once the shell prints less", box.said())
    finally:
        end(box, child)


top = tempfile.mkdtemp(prefix="collect-faults.")
try:
    status = main(top)
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
