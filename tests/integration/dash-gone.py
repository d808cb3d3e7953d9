#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Logs that are deleted with their folder while they are followed, and come
back: what the dashboard shows for a pod and for named files, and what collect
reports. All three run at the same time."""
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name)
                for name in ("screen", "support")]
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from vt import Program  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

TUI = os.path.abspath(os.environ["HGYM_TUI"])
FINAL = ("final_int8_zlib_roundtrip val_loss:2.0500 val_bpb:1.2345"
         " eval_time:1234ms\n")


class Box:
    """A home with two logs: one of a running run, one of a finished run."""
    def __init__(self, top, name, folder="/logs"):
        self.top = os.path.join(top, name)
        self.logs = self.top + folder
        self.alerts = self.top + "/alerts"
        self.config = self.top + "/config.json"
        os.mkdir(self.top)
        self.env = home_env(self.top)
        self.write(0, 300)
        command = self.top + "/on-alert"
        with open(command, "w") as file:
            file.write('#!/bin/sh\nprintf "%s: %s\\n" "$@" >>' +
                       shlex.quote(self.alerts))
        os.chmod(command, 0o755)
        with open(self.config, "w") as file:
            json.dump({"alerts": {"command": command}, "pods": [{"name": "pod", "transport": "local",
                                 "logs": [self.logs + "/*.log"]}],
                       "telemetry_s": 3600}, file)

    def write(self, first, last):
        os.makedirs(self.logs, exist_ok=True)
        for name, end in (("open", ""), ("over", FINAL)):
            with open(f"{self.logs}/{name}.log", "a") as log:
                log.write("seed:1\n" * (first == 0) + "".join(
                    f"step:{i}/900 train_loss:{6 - i / 300:.4f}"
                    f" train_time:{i * 50}ms step_avg:50.00ms\n"
                    for i in range(first, last + 1)) + end)

    def start(self, *args):
        return Program([TUI, *args], 120, 40, self.env, self.top)


def shows(screen, text, name):
    if not ok(screen.wait_for(text), name):
        note(screen.screen.text())


def row(screen, text):
    return next((line for line in screen.screen.text().split("\n")
                 if text in line), "")


def test_gone(screen, what):
    shows(screen, "log deleted", what + ": the row shows that the log was "
                                        "deleted")
    ok("300" in row(screen, "log deleted") and "50.0" in row(screen, "log deleted"),
       what + ": the row keeps its last numbers", screen.screen.text())
    shows(screen, "1 alert", what + ": an alert for the deleted log")
    screen.send("!")
    shows(screen, "!  log-gone", what + ": the event list has the alert")
    shows(screen, "over.log is gone",
          what + ": the deleted log of a finished run is an event, not an "
                 "alert")
    screen.send("!")
    screen.wait_for("Budget")


def test_back(screen, what):
    screen.send("!")
    shows(screen, "open.log is back (a new file)",
          what + ": an event reports that the log is back")
    shows(screen, "end of log-gone", what + ": the event list has the end of "
                                          "the alert")
    screen.send("!")
    screen.wait_for("Budget")
    shows(screen, "0 alerts", what + ": no alert is left")
    ok(screen.until(lambda: "log deleted" not in screen.screen.text() and
                    row(screen, " 20 ")),
       what + ": the rows show the new log", screen.screen.text())


def main(top):
    pod, bare = Box(top, "pod"), Box(top, "bare")
    named = Box(top, "named", "/a\x1b[m\n")
    screens = {"a pod": pod.start("--config", pod.config),
               "named logs": named.start("--config", named.config,
                                         named.logs + "/open.log",
                                         named.logs + "/over.log")}
    said = bare.top + "/said"
    with open(said, "w") as errors:
        child = subprocess.Popen([TUI, "--config", bare.config, "collect"],
                                 env=bare.env, stderr=errors)

    def has_said(*words):
        with open(said) as file:
            text = file.read()
        return all(word in text for word in words)

    def is_read():
        done = subprocess.run([TUI, "runs", "--json"], env=bare.env,
                              capture_output=True, text=True)
        return done.stdout.count('"steps":300') == 2
    for what, screen in screens.items():
        screen.wait_for("Runs (2)")
        shows(screen, "300", what + ": the logs are read")
    ok(until(is_read), "collect has read its logs")
    for box in (pod, named, bare):
        shutil.rmtree(box.logs)
    for what, screen in screens.items():
        test_gone(screen, what)
    for box in (pod, named):
        def alerts(path=box.alerts):
            if not os.path.exists(path):
                return ""
            with open(path) as file:
                return file.read()
        until(lambda: alerts().endswith("\n"))
        text = alerts()
        ok(text.startswith("log-gone: ") and text.count("\n") == 1 and
           text[:-1].isprintable(), "the alert command gets one printable "
                                    "line, whatever the folder is called", repr(text))
    ok(until(lambda: has_said("open.log is gone from the pod; its "
                              "data is kept", "over.log is gone")),
       "collect reports both deleted logs")
    for box in (pod, named, bare):
        box.write(0, 20)
    for what, screen in screens.items():
        test_back(screen, what)
    ok(until(lambda: has_said("open.log is back (a new file)")),
       "collect reports that the log is back")
    with open(said) as file:
        text = file.read()
    ok(text.count("open.log is") == 2, "collect reports each of them once", text)
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)
    for screen in screens.values():
        os.kill(screen.pid, signal.SIGTERM)
        until(lambda: screen.poll() is not None)
        screen.close()
    return finish()


top = tempfile.mkdtemp(prefix="dash-gone.")
try:
    status = main(top)
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
