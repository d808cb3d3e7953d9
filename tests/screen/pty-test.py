#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program in a real pseudo-terminal: keys, colors, sizes, signals, and
that every byte of a log reaches the terminal only as text.

HGYM_SCRIPT_KEYS (10000): the number of random keys without a terminal;
random-test.py sends them in a terminal."""
import base64
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs, home_env  # noqa: E402
from process import pids_of  # noqa: E402
from recorded import AUDIT, DEMO, Recorded  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from vt import HOSTILE, SIXTEEN, Program, has_asan  # noqa: E402
from wait import until  # noqa: E402

SCRIPT_KEYS = int(os.environ.get("HGYM_SCRIPT_KEYS", "10000"))
home = None


def start(args=("demo", "--speed", "1"), **kw):
    env = dict(kw.pop("env", {}), **home_dirs(home))
    return Program([TUI] + list(args), env=env, cwd=home, **kw)


def colours(program):
    return [p for p in program.screen.sgr
            if re.search(rb"(^|;)(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;|$)", p)]


def test_walk():
    p = start(width=120, height=40)
    ok(p.wait_for("Runs (12)"), "the first screen appears")
    ok(p.screen.alternate and p.screen.paste and not p.screen.cursor,
       "the program uses the alternate screen and hides the cursor")
    for key, text in (("2", "events in this log"), ("3", "RECIPE"),
                      ("4", "Mark the runs to compare"), ("5", "following"),
                      ("6", "bench"), ("7", "DISK free"),
                      ("8", "VERIFIED"), ("1", "ms/step")):
        p.send(key)
        ok(p.wait_for(text), "key %s shows its view" % key)
    p.send("?")
    ok(p.wait_for("type to search"), "help opens")
    p.send("leaderboard\r")
    ok(p.wait_for("RECIPE"), "Enter in the help runs the selected action")
    p.send(":")
    ok(p.wait_for("Go to"), "the palette opens")
    p.send("logs\r")
    ok(p.wait_for("following"), "the palette runs an action")
    p.send("/val_bpb\r")
    ok(p.wait_for("▸"), "a search marks its match")
    p.send("/(\r")
    ok(p.wait_for("invalid pattern: "), "an invalid pattern: one sentence")
    ok(p.wait_for("search (PCRE2, Esc: cancel): ("), "an invalid pattern can "
                                                     "be corrected")
    p.send("\x1b")
    p.wait_gone("search (PCRE2")
    p.send("\x1b[5~\x1b[A\x1bOA")
    p.settle()
    p.send("y")
    ok(p.wait_for("copied") and p.until(lambda: any(
        o.startswith(b"52;c;") for o in p.screen.osc), what="OSC 52"),
       "y copies by OSC 52", p.screen.osc)
    p.send("1")
    p.wait_for("ms/step")
    p.send("x")
    ok(p.wait_for("Export: table (CSV)  [Up/Down: other format, Esc: "
                  "cancel]  File: hgym-fleet.csv"),
       "x asks for format and file")
    p.send("\r")
    ok(p.wait_for("saved hgym-fleet.csv") and
       os.path.exists(os.path.join(home, "hgym-fleet.csv")),
       "Enter writes the file")
    p.send("7")
    p.wait_for("DISK free")
    p.send("x\x1b[A")
    p.wait_for("table (Markdown)")
    p.send("\r")
    ok(p.wait_for("saved hgym-pods.md"), "x in a list writes its table")
    with open(os.path.join(home, "hgym-pods.md"), encoding="utf-8") as table:
        lines = table.read().splitlines()
    ok("| POD |" in lines[0] and "| h100-a |" in lines[2] and
       "| DISK free |" in lines[0], "the table has all columns and rows", lines[:3])
    ok(not p.screen.stray, "no stray byte on the screen", p.screen.stray)
    ok(p.screen.ever_cleared <= 2, "the screen is cleared only once",
       p.screen.ever_cleared)
    p.send("Q")
    ok(p.end() == 0, "Q ends with exit status 0", p.status)
    ok(not p.screen.alternate and p.screen.cursor and not p.screen.paste,
       "the terminal has its old modes afterwards")
    p.close()


def test_pod_to_log():
    """Enter leads from a pod to its runs, to its first run, to its log."""
    p = start(("demo", "--speed", "0.001"), width=100, height=30)
    p.wait_for("ms/step")
    p.send("7")
    p.wait_for("DISK free")
    p.send("j\r")
    p.wait_for("/h100-b  2 of 12")
    p.send("\r")
    ok(p.wait_for("pod h100-b"), "the run belongs to that pod",
       p.screen.text())
    p.send("\r")
    ok(p.wait_for("gate-lqer s314 · 396 lines"), "the log belongs to that run",
       p.screen.text())
    p.close()


def test_esc_is_named():
    """Each overlay shows how to close it."""
    p = start(("demo", "--speed", "0.001"))
    p.wait_for("ms/step")
    for key, words in (("?", "Help"), (":", "Go to"), ("!", "Alerts"),
                       ("x", "Export"), ("B", "baseline"), ("/", "/")):
        p.send(key)
        ok(p.wait_for((words, "Esc")), key + " names Esc", p.screen.text())
        p.send("\x1b")
        ok(p.wait_gone("Esc"), "Esc closes it", p.screen.text())
    p.send("5")
    p.wait_for("following")
    for key in "&/":
        p.send(key)
        ok(p.wait_for("Esc: cancel):"), key + " of Logs names Esc")
        p.send("\x1b")
        ok(p.wait_gone("Esc"), "Esc closes it", p.screen.text())
    p.close()


def test_same_as_text():
    """The terminal shows what the program drew into its cells."""
    script = "size 100x30\nkey 7\nsave -\n"
    text = subprocess.run([TUI, "demo", "--script", "-"], input=script,
                          env=home_env(home, LC_ALL="C.UTF-8"),
                          capture_output=True, text=True).stdout
    p = start(("demo", "--speed", "0.001"), width=100, height=30)
    p.wait_for("ms/step")
    p.send("7")
    p.wait_for("DISK free")

    def plain(screen):
        return re.sub(r"\d\d:\d\d:\d\d", "", screen)
    ok(p.until(lambda: plain(p.screen.text()) == plain(text)),
       "the terminal shows the cells", text)
    p.close()


def make_terminal():
    """A terminal type with 16 colors: not every system has one."""
    folder = os.path.join(home, "terminfo")
    made = subprocess.run(["tic", "-x", "-o", folder, "-"], input=SIXTEEN,
                          capture_output=True, text=True)
    return {"TERM": "xterm-of-16", "TERMINFO": folder} \
        if made.returncode == 0 else {"TERM": "xterm"}


def test_colours():
    for name, env, args, check in (
            ("256 colours", {}, (), lambda c: any(b"38;5" in x for x in c)),
            ("16 colours", make_terminal(), (),
             lambda c: c and not any(b"38;5" in x for x in c)),
            ("NO_COLOR", {"NO_COLOR": "1"}, (), lambda c: not c),
            ("--color never", {}, ("--color", "never"), lambda c: not c),
            ("8 colours", {"TERM": "xterm"}, (),
             lambda c: c and not any(b"38;5" in x for x in c)),
            ("vt100", {"TERM": "vt100"}, (), lambda c: not c)):
        # Without answers, as from a terminal without synchronized output.
        p = start(args + ("demo", "--speed", "1"), env=env, answers=False)
        seen = p.wait_for("h100-a")
        p.settle(0.2, 3)
        ok(seen and check(colours(p)), name, colours(p) or p.screen.text())
        stray = p.screen.stray + p.screen.outside
        ok(not stray, name + ": no stray byte on the screen", stray)
        p.close()
    p = start(env={"LC_ALL": "C"})
    ok(p.wait_for("h100-a"), "the C locale: a screen appears")
    p.settle(0.2, 3)
    ok(all(ord(c) < 0x80 for c in p.screen.text()),
       "the C locale: ASCII only", p.screen.text())
    p.close()
    # Do not report memory that curses itself does not free.
    p = start(env={"TERM": "no-such-terminal",
                   "ASAN_OPTIONS": "detect_leaks=0"})
    ok(p.end() == 2 and "TERM" in p.screen.text(),
       "an unknown terminal: one sentence, exit status 2", p.screen.text())
    p.close()


def mouse(p, *events):
    """Send mouse events: (event, x, y), with x and y counted from 0."""
    codes = {"press": (0, "M"), "move": (32, "M"), "release": (0, "m"),
             "over": (35, "M"),
             "up": (64, "M"), "down": (65, "M")}
    p.send("".join("\x1b[<%d;%d;%d%s" % (codes[what][0], x + 1, y + 1,
                                         codes[what][1])
                   for what, x, y in events))


def reversed_at(p, x, y):
    return p.screen.cells[y][x][1][2]


def y_axis(p):
    return [line[1:8] for line in p.screen.text().split("\n")[7:17]]


def test_mouse():
    p = start(("demo", "--speed", "0.001"), width=120, height=40)
    p.wait_for("h100-a")
    p.settle()
    ok({b"1000", b"1002", b"1006"} <= p.screen.modes,
       "the terminal reports buttons and motion", p.screen.modes)
    mouse(p, ("press", 17, 0), ("release", 17, 0))
    ok(p.wait_for("RECIPE"), "a click on a tab shows its view")
    p.send("1")
    p.wait_for("ms/step")
    mouse(p, ("press", 20, 4), ("release", 20, 4))
    ok(p.until(lambda: reversed_at(p, 20, 4)), "a click selects a row")
    mouse(p, ("press", 20, 4), *[("move", 20, y) for y in range(5, 9)])
    ok(p.until(lambda: reversed_at(p, 20, 8) and not reversed_at(p, 20, 4)),
       "a drag moves the selection")
    mouse(p, ("release", 20, 8), ("over", 20, 10))
    p.settle()
    ok(reversed_at(p, 20, 8), "the drag ends with the button", p.screen.text())
    p.send("g")
    p.settle()
    mouse(p, ("down", 20, 8))
    ok(p.until(lambda: reversed_at(p, 20, 6)), "the wheel scrolls a list")
    p.send("g2")
    p.wait_for("over train time")
    p.settle()
    before = y_axis(p)
    mouse(p, ("press", 20, 10), ("move", 25, 10), ("move", 32, 11))
    ok(p.until(lambda: reversed_at(p, 26, 9) and not reversed_at(p, 40, 9)),
       "a drag in a chart shows its range")
    mouse(p, ("release", 32, 11))
    ok(p.wait_for("4.08x"), "the end of the drag zooms to the range")
    p.settle()
    ok(y_axis(p) != before, "the y axis fits the visible points", p.screen.text())
    p.send("H")
    ok(p.wait_for("y fixed"), "H fixes the y axis")
    ok(p.until(lambda: y_axis(p) == before), "H: the y axis fits all points", before)
    p.send("H0")
    p.settle()
    mouse(p, ("up", 30, 10))
    ok(p.wait_for("2x"), "the wheel zooms a chart")
    mouse(p, ("down", 30, 10))
    ok(p.until(lambda: "2x" not in p.screen.text().split("\n")[6]),
       "the wheel zooms out again")
    mouse(p, ("press", 30, 10), ("move", 31, 10), ("release", 31, 10))
    ok(p.until(lambda: re.search(r"· \d+s: \d\.\d+ bits/byte",
                                 p.screen.text())),
       "a click in a chart shows the value there")
    p.send("\x1b[20~")
    ok(p.wait_for("the mouse is off") and p.until(
        lambda: not {b"1000", b"1002", b"1003", b"1006"} & p.screen.modes),
       "F9 gives the mouse to the terminal", p.screen.modes)
    p.send("\x1b[20~")
    ok(p.wait_for("the mouse is on") and
       p.until(lambda: b"1002" in p.screen.modes),
       "F9 takes the mouse again", p.screen.modes)
    ok(not p.screen.stray, "no stray byte on the screen", p.screen.stray)
    p.send("Q")
    ok(p.end() == 0 and not {b"1000", b"1002", b"1006", b"2004"} &
       p.screen.modes, "no mode is left on", p.screen.modes)
    p.close()


def test_hostile():
    folder = os.path.join(home, "evil\x1b]0;dir\x07$(id)")
    os.makedirs(folder)
    with open(os.path.join(folder, "a\x1b[31m.log"), "wb") as log:
        log.write(HOSTILE * 50)
    p = start((os.path.join(folder, "a\x1b[31m.log"),), width=120, height=40)
    ok(p.wait_for("Runs ("), "a hostile log is opened")
    for keys in ("5", "g", "G", "k" * 30, "/evil\r", "A", "A", "2", "3", "1",
                 "!", "\x1b", ":", "\x1b", "?", "\x1b"):
        p.send(keys)
        p.settle(0.15)
    ok(p.poll() is None, "a hostile log: the program runs")
    ok(not p.screen.stray, "a hostile log: no byte is a control character", p.screen.stray[:5])
    ok(not p.screen.osc, "a hostile log: no byte starts a sequence", p.screen.osc[:5])
    p.send("Q")
    ok(p.end() == 0, "a hostile log: the program can be ended")
    p.close()


def test_slow_terminal():
    """A slow terminal gets every byte, and the flags that the shell shares
    with the program are not changed."""
    line = b"x" * 70000
    with open(os.path.join(home, "long.log"), "wb") as log:
        log.write(b"step:1/100 train_loss:5.0 step_avg:100.00ms\n" + line +
                  b"\n")
    # The shell's stdin is the same open file as the program's.
    shell = ("%s long.log; exec %s -c 'import fcntl, os; print(\"waits\" if "
             "not fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK else "
             "\"does not wait\")'" % (TUI, sys.executable))
    p = Program(["/bin/sh", "-c", shell], 80, 24, home_dirs(home), home)
    p.wait_for("1Fleet")
    p.send("5")
    ok(p.wait_for("2 lines"), "a log with a long line")
    p.send("G")
    p.settle()
    p.send("y")
    time.sleep(1)
    copy = [b"52;c;" + base64.b64encode(line)]
    ok(p.wait_for("copied") and p.until(lambda: p.screen.osc == copy),
       "a slow terminal gets a long copy completely",
       [(len(o), o[:40], o[-40:]) for o in p.screen.osc])
    p.send("Q")
    ok(p.end() == 0 and "waits" in p.screen.text(),
       "a slow terminal: the shell's flags are not changed", p.screen.text())
    p.close()


def test_resize():
    p = start(width=80, height=24)
    p.wait_for("h100-a")
    rng = random.Random(7)
    for _ in range(60):
        p.resize(rng.choice((1, 2, 7, 20, 59, 60, 80, 133, 200, 400)),
                 rng.choice((1, 2, 3, 10, 14, 15, 24, 60, 120)))
        p.send(rng.choice("12345678jk"))
        p.pump(0.02)
    p.settle(0.3, 20)
    p.resize(120, 40)
    p.send("1")
    ok(p.wait_for("Runs (12)"), "after many changes of size the screen is "
                                "complete")
    p.resize(50, 12)
    ok(p.wait_for("enlarge to 60x15"), "a very small terminal gets a message")
    p.send("Q")
    ok(p.end() == 0, "a very small terminal: the program can be ended")
    p.close()


def folders():
    return {f for f in os.listdir(home) if f.startswith("hgym-demo")}


def test_signals():
    ok(until(lambda: not folders()), "killed programs left no file",
       folders())
    for signum, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129),
                           (signal.SIGINT, 130)):
        p = start()
        p.wait_for("h100-a")
        os.kill(p.pid, signum)
        ok(p.end() == status, "%s: exit status %d" % (signum.name, status),
           p.status)
        ok(not p.screen.alternate and p.screen.cursor,
           "%s: the screen is restored" % signum.name)
        try:
            after = termios.tcgetattr(p.fd)
            ok(p.before[3] == after[3], "%s: the modes are restored" %
               signum.name, (p.before, after))
        except termios.error:
            pass
        p.close()
    ok(not folders(), "the demo's folders are deleted", folders())


def test_suspend():
    """Ctrl-z, under a shell with job control: only its jobs can be stopped."""
    if not os.path.exists("/bin/bash"):
        skip("Ctrl-z", "needs bash")
        return
    env = {"HOME": home, "TMPDIR": home, "TUI": TUI, "PS1": "shell> "}
    p = Program(["/bin/bash", "--norc", "--noprofile", "-i"], env=env,
                cwd=home)
    p.wait_for("shell>")
    p.send("$TUI demo --speed 1\r")
    p.wait_for("h100-a")
    p.send("\x1a")
    ok(p.wait_for("Stopped") and not p.screen.alternate and p.at_shell(),
       "Ctrl-z returns to the shell", p.screen.text())
    p.send("fg\r")
    ok(p.until(lambda: p.screen.alternate and
               "ms/step" in p.screen.text()), "fg shows the screen again")
    p.settle()
    # The shell does not know the terminal modes of a job stopped this way.
    child = subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True,
                           text=True).stdout.split()[0]
    modes = termios.tcgetattr(p.fd)
    os.kill(int(child), signal.SIGSTOP)
    p.wait_for("Stopped")
    p.at_shell()
    p.send("fg\r")
    ok(p.until(lambda: termios.tcgetattr(p.fd)[:4] == modes[:4], what=modes)
       and p.wait_gone("Stopped"), "the shell has its modes after kill -STOP, too",
       termios.tcgetattr(p.fd))
    p.send("q")
    ok(p.until(lambda: not p.screen.alternate) and p.at_shell(), "q ends the program")
    p.send("exit\r")
    p.end()
    p.close()


def write_config(config):
    folder = os.path.join(home, "config", "hgym-tui")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "config.json")
    with open(path, "w") as out:
        json.dump(dict(config, schema="hgym-tui.config/1"), out)
    return path


def test_bench():
    """The key that starts a bench shows its command and asks. A recorded bench
    runs, ends with a verdict, and an audit appears next to it."""
    p = start(width=120, height=40)
    p.wait_for("h100-a")
    p.send("6")
    ok(p.wait_for(("packed: FASTER by", "padded: SAME within", "18 of 30")),
       "a finished bench shows its verdicts")
    p.send("jb")
    ok(p.wait_for(("type yes to continue", "$ hgym-tui bench run")),
       "b shows the exact command and asks")
    p.send("no\r")
    ok(p.wait_for("cancelled"), "any answer except yes starts nothing")
    p.close()
    p = start(("--read-only", "demo", "--speed", "1"))
    p.wait_for("h100-a")
    p.send("6jb")
    ok(p.wait_for("--read-only"), "--read-only starts no bench")
    p.close()

    config = write_config({"pods": [
        {"name": "h100-a", "transport": "local", "logs": []}]})
    bench, audit = (Recorded(path, home) for path in (DEMO, AUDIT))
    bench.start(1)
    p = start((), width=120, height=40)
    p.wait_for("Fleet")
    p.send("6")
    ok(p.wait_for(("run 13 of 30", "packed: no verdict yet", "✓✓✓ ✓✓✓ ▶··")) and
       "FASTER" not in p.screen.text(), "no verdict is shown while a bench runs",
       p.screen.text())
    ok(p.wait_for("first analysis after block 3; block 1 of 8 is next"),
       "a running bench shows when the next analysis decides")
    bench.finish()
    ok(p.wait_for(("packed: FASTER by", "median", "faster by %", "check ",
                   "· stopped early")),
       "a finished bench shows its runs, its interval, and why it ended")
    p.send("\r")
    ok(p.wait_for("paired by block"), "Enter shows the report")
    p.send("\r")
    p.wait_gone("paired by block")
    audit.finish()
    ok(p.wait_for(("audit-h100-a", "18 of 30 runs")),
       "the selection stays on its bench", p.screen.text())
    p.send("G")
    ok(p.wait_for(("A/A: the same code differs by", "6 of 6 runs")),
       "an audit names no winner")
    # The program that drives a bench stores its noise.
    subprocess.run([TUI, "bench", "attach", audit.id], env=home_env(home),
                   stdin=subprocess.DEVNULL, capture_output=True)
    p.send("7")
    ok(p.wait_for("6 blocks detect"), "the result of the audit is shown with "
                                      "the pod")
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()
    for recorded in bench, audit:
        shutil.rmtree(recorded.folder)
    os.unlink(config)


def fill(p, values):
    """Fill in the form's fields, one after another; None leaves a field
    unchanged."""
    for value in values:
        if value is not None:
            p.send("\x15" + value)
        p.send("\t")
        p.settle(0.02)


def test_bench_form():
    """Start a bench on marked pods with the form: it runs until its verdict."""
    p = start(width=120, height=40)
    p.wait_for("h100-a")
    folder = glob.glob(os.path.join(home, "hgym-demo-*", "bench"))[0]
    p.send("7 j b")
    ok(p.wait_for(("Choose a bench", "fused-ce")),
       "b on a pod offers bench files")
    p.send("\r")
    ok(p.wait_for(("New bench", "h100-a")),
       "b on a pod offers a form with the marked pod")
    p.send("\r")
    ok(p.wait_for("folder: expected the directory"),
       "the form names a missing field, and goes to it")
    p.send("\x1b[Z\x1b[Z")
    fill(p, ["typed", None, folder, "sh run.sh", "old STEP_MS=1198",
             "new STEP_MS=1150", None, None, None, "3", "no", None])
    p.send("\r")
    ok(p.wait_for(("type yes to continue", "STEP_MS=1150", "39.84 USD an hour",
                   "limit     60 minutes")),
       "Enter shows the exact commands and the cost")
    p.send("yes\r6")
    ok(p.wait_for(("no verdict yet", "typed")), "yes starts the bench")
    ok(p.wait_for("new: FASTER by"), "the bench runs until its verdict")
    p.send("7a")
    # A box breaks a long path anywhere.
    plan = "(?: │.*\n.*│ )?".join("plans/audit-")
    ok(p.wait_for(("type yes to continue", "A/A arm")) and
       p.until(lambda: re.search(plan, p.screen.text())),
       "a asks before it starts an audit", p.screen.text())
    p.send("\x1b")
    p.wait_gone("type yes to continue")
    p.send("8b")
    ok(p.wait_for(("type yes to continue", "checkpoint")),
       "b on a HarnessGym run shows its bench")
    p.send("\x1b")
    p.wait_gone("type yes to continue")
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()


def test_bench_dash():
    """Start an audit of a configured pod, and end it by a key."""
    config = write_config({"pods": [
        {"name": "mine", "transport": "local", "logs": [], "usd_per_hour": 1.5,
         "remote_root": home + "/root"}]})
    p = start((), width=110, height=32)
    p.wait_for("Fleet")
    p.send("7")
    p.wait_for("mine")
    p.send("a")
    ok(p.wait_for(("type yes to continue", "awk", "1.50 USD an hour")),
       "an audit of a pod asks first")
    p.send("yes\r6")
    ok(p.wait_for("no verdict yet"), "the audit starts")
    p.send("B")
    ok(p.wait_for("bench abort"), "B asks before it ends the audit")
    p.send("yes\r")
    ok(p.until(lambda: re.search(r"NOT JUDGED \([012] block", p.screen.text())
               and "aborted" in p.screen.text()),
       "B ends the audit without a verdict")
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()
    os.unlink(config)
    ok(until(lambda: not pids_of(home)), "no process is left", pids_of(home))


def test_still_up():
    """A bench that leaves its pod running is reported; a key stops the pod."""
    folder = os.path.join(home, "up")
    os.makedirs(folder)
    said = os.path.join(folder, "stopped")
    plan = {
        "schema": "hgym.bench/1", "name": "leaver", "seed": 1,
        "workload": {"cwd": folder, "timeout_s": 600, "command":
                     "for i in 1 2 3 4 5 6 7 8; do echo step:$i/8 "
                     "train_loss:4.0 train_time:${i}00ms step_avg:100.00ms; "
                     "done; until test -e go; do sleep 0.1; done"},
        "metric": {"key": "step_ms",
                   "window": {"mode": "fixed", "lo": 2, "hi": 8}},
        "variants": [{"tag": "old", "control": True}, {"tag": "new"}],
        "pods": [{"id": "mine", "transport": "local", "usd_per_h": 2.5,
                  "root": folder + "/root", "lock_dir": folder,
                  "stop_cmd": "echo gone >>" + said}],
        "design": {"blocks_per_pod": 1, "burn_in": 0, "gap_s": 0}}
    with open(folder + "/bench.json", "w") as out:
        json.dump(plan, out)
    config = write_config({
        "pods": [{"name": "mine", "transport": "local", "logs": []}],
        "benches": [folder + "/bench.json"]})
    p = start((), width=140, height=32)
    p.wait_for("Fleet")
    p.send("6G")
    p.wait_for("not started: bench.json")
    p.send("b")
    p.wait_for("type yes to continue")
    p.send("yes\r1")
    ok(p.wait_for("0_mine_"), "the current run is in Fleet")
    p.send("5")
    ok(p.wait_for("step:8/8 train_loss:4.0"), "the log of the current run is "
                                              "in Logs")
    open(folder + "/go", "w").close()
    p.send("6!")
    ok(p.wait_for("bench leaver: pods still running: mine (2.50 USD an hour)"),
       "a bench that leaves its pod running is reported")
    p.send("\x1b")
    p.wait_for("n 1, median")
    p.send("B")
    ok(p.wait_for(("type yes to continue", "bench stop leaver")) and
       not os.path.exists(said), "B asks before it stops the pod")
    p.send("yes\r")
    ok(until(lambda: os.path.exists(said)) and
       p.wait_gone("an hour): bench-stop"), "B stops the pod")
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()
    p = start((), width=140, height=32)
    p.wait_for("Fleet")
    p.send("6")
    p.wait_for("leaver")
    p.send("!")
    ok(p.wait_for("mine: live") and "still running" not in p.screen.text(),
       "runs that ended before raise no alert", p.screen.text())
    p.close()
    os.unlink(config)


def test_crash():
    if has_asan(TUI):
        skip("a crash", "a sanitizer handles crashes itself")
        return
    p = start()
    p.wait_for("h100-a")
    os.kill(p.pid, signal.SIGSEGV)
    p.end()
    ok(p.status == -signal.SIGSEGV and not p.screen.alternate and
       p.screen.cursor, "a crash restores the terminal", p.status)
    p.close()


def test_random_script():
    rng = random.Random(5)
    names = (["Space", "Enter", "Esc", "Tab", "S-Tab", "Up", "Down", "Left",
              "Right", "PgUp", "PgDn", "Home", "End", "Ctrl-d", "Ctrl-u",
              "Backspace", "Delete", "F1"] +
             [chr(c) for c in range(33, 127) if chr(c) not in "qQx"])
    lines = []
    for i in range(SCRIPT_KEYS // 20):
        lines.append("key " + " ".join(rng.choice(names)
                                       for _ in range(20)))
        if i % 25 == 0:
            lines.append("size %dx%d" % (rng.randrange(1, 220),
                                         rng.randrange(1, 70)))
            lines.append("wait 2")
    lines.append("save -")
    run = subprocess.run([TUI, "demo", "--script", "-"], cwd=home,
                         input="\n".join(lines) + "\n", capture_output=True,
                         text=True, env=home_env(home, LC_ALL="C.UTF-8"))
    ok(run.returncode == 0, "%d random keys without a terminal" % SCRIPT_KEYS,
       run.stderr[-3000:])
    ok(not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", run.stdout),
       "no control character on the screen")


def test_no_terminal():
    run = subprocess.run([TUI, "demo"], capture_output=True, text=True,
                         env=home_env(home, LC_ALL="C.UTF-8"))
    ok(run.returncode == 0 and "Runs (12)" in run.stdout and
       "\x1b" not in run.stdout, "demo with a pipe as stdout prints one "
                                 "screen",
       (run.returncode, run.stdout, run.stderr))
    run = subprocess.run([TUI, "/nonexistent.log"], capture_output=True,
                         text=True, env=home_env(home))
    ok(run.returncode != 0 and "nonexistent" in run.stderr,
       "a log that does not exist: one sentence", run.stderr)


def main():
    global home
    with tempfile.TemporaryDirectory() as folder:
        home = folder
        for test in (test_walk, test_pod_to_log, test_esc_is_named,
                     test_mouse, test_same_as_text, test_colours,
                     test_hostile, test_slow_terminal, test_resize,
                     test_signals, test_suspend, test_bench,
                     test_bench_form, test_bench_dash, test_still_up,
                     test_crash,
                     test_random_script, test_no_terminal):
            test()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
