#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The demo from start to end: its recordings, what the program reads from them,
and whether it leaves files behind."""
import glob
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import tempfile

SRC = os.path.abspath(os.environ.get("HGYM_SRC", "."))
BUILD = os.path.abspath(os.environ.get("HGYM_BUILD", "build"))
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

RECORDINGS = os.path.join(SRC, "src/app/demo")
END_S = 2000  # seconds of the demo: all recordings have ended by then
home = None

# The status of each run at its end, and the stage of its final score.
CAST = {
    "naive-base/train_vast-e_s1337.log": ("finished", "roundtrip"),
    "naive-base/train_h200-d_s42.log": ("finished", "roundtrip"),
    "polar-min/train_h100-a_s42.log": ("finished", "ttt"),
    "polar-min/train_h100-b_s314.log": ("finished", "ttt"),
    "polar-min/train_h100-c_s1234.log": ("finished", "ttt"),
    "big-embed/train_vast-e_s42.log": ("finished", "ttt"),
    "gate-lqer/train_h200-d_s7.log": ("finished", "ttt"),
    "gate-lqer/train_h100-a_s42.log": ("finished", "ttt"),
    "gate-lqer/train_h100-b_s314.log": ("finished", "ttt"),
    "gate-lqer/train_h100-c_s1234.log": ("finished", "ttt"),
    "hot-muon/train_vast-e_s9.log": ("diverged", None),
    "speedrun/train_h200-d_s7.log": ("truncated", None),
    "wide-mlp/train_vast-e_s42.log": ("oom", None),
    "conv-stem/train_h200-d_s42.log": ("crashed", None),
    "speedrun/train_h200-d_s8.log": ("finished", None),
    "gate-wide/train_h100-a_s42.log": ("finished", "ttt"),
}


def folders():
    return glob.glob(os.path.join(home, "hgym-demo-*"))


class Demo:
    """A demo that plays a script through a pipe of this test."""

    def __init__(self, **more):
        self.process = subprocess.Popen(
            [TUI, "demo", "--script", "-"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=home_env(home, LC_ALL="C.UTF-8"), cwd=home, **more)
        until(folders)
        self.folder = folders()[0]

    def does(self, *lines):
        """Play these lines. Returns the screen afterwards."""
        shots = [os.path.join(home, name) for name in ("shot", "after")]
        for shot in shots:
            if os.path.exists(shot):
                os.unlink(shot)
        lines += ("size 120x40", "save " + shots[0], "save " + shots[1])
        self.process.stdin.write("\n".join(lines) + "\n")
        self.process.stdin.flush()
        # The first file is complete when the second one exists.
        until(lambda: os.path.exists(shots[1]), 600)
        with open(shots[0], encoding="utf-8") as text:
            return text.read()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


def parse(paths):
    done = subprocess.run([TUI, "parse", "--json"] + paths, text=True,
                          capture_output=True, env=home_env(home))
    return {os.path.join(*row["file"].split("/")[-2:]): row
            for row in map(json.loads, done.stdout.splitlines())}


def test_cast():
    demo = Demo()
    screen = demo.does("key 1")
    logs = sorted(glob.glob(demo.folder + "/*/train_*.log"))
    ok(len(logs) == 12 and "Runs (12)" in screen and "5/5 pods" in screen,
       "the demo starts with twelve runs on five pods", (logs, screen))
    screen = demo.does("wait 45")
    ok("4/5 pods" in screen, "a connection fails", screen)
    screen = demo.does("wait 60")
    ok("out of memory" in screen and "RuntimeError" in screen,
       "one run is out of memory, one crashes with an exception", screen)
    screen = demo.does("key !")
    for what in ("vast-e wide-mlp s42: out of GPU memory",
                 "h200-d conv-stem s42: crashed",
                 "h100-b: reconnecting: read: connection reset by peer",
                 "h200-d speedrun s7: no output",
                 "vast-e hot-muon s9: loss is NaN",
                 "h100-c gate-lqer s1234: ",
                 "vast-e big-embed s42: artifact is"):
        ok(what in screen, "the events contain " + what, screen)
    demo.does("key Esc", "wait %d" % END_S)
    rows = parse(sorted(glob.glob(demo.folder + "/*/train_*.log")))
    ok(set(rows) == set(CAST), "all runs appear", sorted(rows))
    for name, (status, stage) in CAST.items():
        row = rows.get(name, {})
        ok(row.get("status") == status and row.get("final_class") == stage,
           "%s: %s" % (name, status), row)
    dialects = {name for row in rows.values() for name in row["formats"]}
    ok(dialects >= {"parameter-golf", "nanogpt-speedrun"},
       "the logs have several formats", dialects)
    ok(sum(row["source_lines"] is not None for row in rows.values()) >= 4,
       "some logs contain the source")
    screen = demo.does("key 1", "key 8")
    ok("finished" in screen, "the HarnessGym run ends", screen)
    ok(demo.end() == 0 and not folders(), "no file is left", folders())


def test_same_bytes():
    """The logs of the demo equal the recordings without their times."""
    demo = Demo()
    demo.does("wait %d" % END_S)
    logs = 0
    for path in sorted(glob.glob(RECORDINGS + "/log-*.rec")):
        with open(path, newline="", encoding="utf-8") as rec:
            lines = rec.read().split("\n")[1:-1]
        name = re.sub(r"^\d*\*", "", lines.pop(0))
        text = ""
        for line in lines:
            kind, rest = re.match(r"\d*([ _^])(.*)$", line, re.S).groups()
            text += rest + {" ": "\n", "_": "", "^": "\r"}[kind]
        with open(os.path.join(demo.folder, name), newline="",
                  encoding="utf-8") as log:
            logs += log.read() == text
    ok(logs == len(CAST), "each log has the recorded bytes", logs)
    demo.end()


def test_made():
    """The recordings equal the output of record-demo. Their times differ with
    other floating-point arithmetic, so they are not compared."""
    if platform.machine() != "x86_64":
        skip("recordings that are made again are the same",
             "needs x86-64: other processors round differently")
        return
    with tempfile.TemporaryDirectory() as fresh:
        subprocess.run([os.path.join(BUILD, "tests/tools/record-demo"),
                        fresh], check=True)
        made = sorted(os.listdir(fresh))
        kept = set(os.listdir(RECORDINGS)) - {"home.rec", "bench.rec"}
        ok(set(made) == kept, "record-demo writes all recordings",
           set(made) ^ kept)
        differ = []
        for name in made:
            with open(os.path.join(fresh, name), "rb") as one, \
                    open(os.path.join(RECORDINGS, name), "rb") as other:
                if one.read() != other.read():
                    differ.append(name)
        ok(not differ, "record-demo writes the same recordings", differ)


def test_ended():
    """The demo is ended by signals, also by SIGKILL, which no program can
    catch; its folder is deleted."""
    # The caller may have set SIGINT or SIGHUP to be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for signum in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM,
                   signal.SIGKILL):
        demo = Demo()
        demo.does("key 1")  # the demo plays, so the process that deletes its folder runs
        demo.process.send_signal(signum)
        ok(demo.process.wait(PATIENCE_S) == -signum,
           "%s ends the demo" % signum.name,
           demo.process.returncode)
        ok(until(lambda: not folders()),
           "%s: the demo's folder is deleted" % signum.name, folders())
        demo.process.stdin.close()


def run_demo(**more):
    env = home_env(home, **more.pop("env", {}))
    return subprocess.run([TUI, "demo", "--snapshot", "120x40"], env=env,
                          capture_output=True, text=True, **more)


def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_no_room():
    done = run_demo(preexec_fn=limit_files)
    ok(done.returncode == 1 and done.stderr.count("\n") == 1 and
       "File too large" in done.stderr, "a full disk: one sentence",
       done)
    ok(not folders(), "a full disk: no file is left", folders())
    done = run_demo(env={"TMPDIR": "/no/such/place"})
    ok(done.returncode == 1 and done.stderr.count("\n") == 1 and
       "/no/such/place" in done.stderr, "a folder that does not exist: one "
                                        "sentence", done)


def test_alone():
    """The demo does not read the user's configuration and writes nothing
    there."""
    config = os.path.join(home, "config/hgym-tui")
    os.makedirs(config)
    with open(config + "/config.json", "w") as broken:
        broken.write("{no JSON")
    before = sorted(os.walk(home))
    done = run_demo()
    ok(done.returncode == 0 and "Runs (12)" in done.stdout,
       "an invalid configuration of the user is ignored", done)
    done = run_demo(env={"HGYM_TUI_CONFIG": config + "/config.json"})
    ok(done.returncode == 0, "an invalid configuration with --config is "
                             "ignored", done.stderr)
    ok(sorted(os.walk(home)) == before, "no file is written",
       sorted(os.walk(home)))


def main():
    global home
    with tempfile.TemporaryDirectory() as folder:
        home = folder
        test_cast()
        test_same_bytes()
        test_made()
        test_ended()
        test_no_room()
        test_alone()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
