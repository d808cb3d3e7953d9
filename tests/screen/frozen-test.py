#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A terminal that reads no output, like an SSH client that is suspended: the
program continues, can be ended, and the screen is complete when the terminal
reads again."""
import base64
import fcntl
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from home import home_dirs, home_env  # noqa: E402
from tap import finish, note, ok, skip  # noqa: E402
from vt import PATIENCE_S, Program, has_asan  # noqa: E402
from wait import until  # noqa: E402

TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
LINE = b"x" * 70000
REPAINT = "\x0c"
ROW = "step:%d/9999 train_loss:%.4f train_time:%dms step_avg:100.00ms\n"
TIOCGPTPEER = 0x5441
MODES = {b"1000", b"1002", b"1006", b"2004"}
home = None


class Sleeper(Program):
    """A program whose terminal can stop reading."""

    def __init__(self, argv, width=250, height=60, **more):
        super().__init__(argv, width, height,
                         home_env(home, HGYM_TUI_CONFIG=home + "/config.json",
                                  **more), home)
        # Another descriptor of the terminal, so that it outlives the program.
        self.tty = fcntl.ioctl(self.fd, TIOCGPTPEER, os.O_RDWR |
                               os.O_NOCTTY | os.O_NONBLOCK)

    def close(self):
        super().close()
        os.close(self.tty)

    def is_full(self):
        return not select.select([], [self.tty], [], 0)[1]

    def fall_asleep(self):
        """Draw frames until the terminal's buffer is full."""
        def full():
            if self.is_full():
                return True
            self.send(REPAINT)
            time.sleep(0.1)
            return self.is_full()
        return until(full, PATIENCE_S)

    def cpu_s(self):
        with open("/proc/%d/stat" % self.pid) as stat:
            times = stat.read().rsplit(")", 1)[1].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def is_sane(self):
        """After the program ended: are screen and modes as before?"""
        self.drain(0.2)
        s = self.screen
        return (not s.alternate and s.cursor and not s.modes & MODES and
                not s.pending and
                termios.tcgetattr(self.tty)[:4] == self.before[:4])

    def state(self):
        s = self.screen
        return (s.alternate, s.cursor, s.modes, s.pending[:40],
                termios.tcgetattr(self.tty)[:4], self.before[:4], s.text())


class Log:
    """A log that grows."""

    def __init__(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.file = open(path, "wb", buffering=0)
        self.step = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.grow)
        self.file.write(LINE + b"\n")
        self.thread.start()

    def grow(self):
        while not self.stop.wait(0.05):
            self.step += 1
            self.file.write((ROW % (self.step, 5 - self.step / 9999,
                                    self.step * 100)).encode())

    def end(self):
        self.stop.set()
        self.thread.join()
        self.file.close()


def stored_steps(name="a.log"):
    """The number of steps in the database, as another process reads it."""
    done = subprocess.run([TUI, "runs", "--json"], capture_output=True,
                          env=home_env(home), text=True)
    if done.returncode not in (0, 5):
        note("runs: %d: %s" % (done.returncode, done.stderr))
    rows = map(json.loads, done.stdout.splitlines())
    return max([row["steps"] or 0 for row in rows
                if row["path"].endswith(name)] or [0])


def test_follows():
    log = Log(os.path.join(home, "logs/a.log"))
    p = Sleeper([TUI])
    try:
        p.wait_for("ms/step")
        p.send("5")
        p.wait_for("following")
        p.send("g")
        p.wait_for("f follows")
        p.screen.osc.clear()
        ok(p.fall_asleep(), "a terminal that reads no output")
        p.send("y" + REPAINT + "y" + REPAINT)
        first = log.step
        ok(until(lambda: stored_steps() > first, PATIENCE_S),
           "the program still reads and stores",
           (first, stored_steps(), log.step))
        before, begin = p.cpu_s(), time.monotonic()
        time.sleep(4)
        used, took = p.cpu_s() - before, time.monotonic() - begin
        ok(used < 0.375 * took, "the program uses little CPU", (used, took))
        second = log.step
        ok(until(lambda: stored_steps() > second, PATIENCE_S),
           "the program uses little CPU for a longer time",
           (second, stored_steps(), log.step))
        ok(p.is_full() and p.poll() is None, "the terminal still reads no "
                                             "output")
        awakes(p, log)
        ends(p, log, signal.SIGTERM, 143)
    finally:
        log.end()
        p.close()


def awakes(p, log):
    log.stop.set()
    log.thread.join()
    p.wait_for(" %d " % (log.step + 1))
    copies = 2 * [b"52;c;" + base64.b64encode(LINE)]
    ok(p.until(lambda: p.screen.osc == copies, what="two copies"),
       "the terminal reads again: the copied text is complete",
       [(len(o), o[:40], o[-40:]) for o in p.screen.osc])
    ok(not p.screen.stray and not p.screen.pending,
       "the terminal reads again: no sequence is cut",
       (p.screen.stray[:5], p.screen.pending[:40]))
    p.settle()
    for _ in range(20):
        shown = page(p)
        before = p.screen.ever_cleared
        p.send(REPAINT)
        p.until(lambda: p.screen.ever_cleared > before, what="a new screen")
        p.settle(0.2)
        if page(p) == shown:
            break
    ok(page(p) == shown and "train_loss" in shown,
       "the terminal reads again: the screen equals a new one", p.screen.text())


def page(p):
    """The screen without the time of day."""
    return "\n".join(p.screen.text().split("\n")[1:-3])


def ends(p, log, signum, status):
    """The terminal stops reading again; the program stores the end of the
    log."""
    p.fall_asleep()
    os.kill(p.pid, signum)
    ok(until(lambda: p.poll() is not None, PATIENCE_S) and p.poll() == status,
       "%s ends the program while the terminal does not read" % signum.name,
       p.poll())
    ok(p.is_sane(), "the terminal has its normal modes afterwards", p.state())
    if log:
        ok(stored_steps() == log.step, "everything is stored",
           (stored_steps(), log.step))


def test_signals():
    path = os.path.join(home, "long.log")
    with open(path, "wb") as out:
        out.write((ROW % (1, 5, 100)).encode() + LINE)
    signals = [(signal.SIGINT, 130),
               (signal.SIGSEGV, -signal.SIGSEGV)]
    if has_asan(TUI):
        skip("SIGSEGV asleep", "a sanitizer handles crashes itself")
        signals.pop()
    for signum, status in signals:
        p = Sleeper([TUI, path])
        p.wait_for("ms/step")
        ends(p, None, signum, status)
        p.close()
    p = Sleeper([TUI, path])
    p.wait_for("ms/step")
    p.fall_asleep()
    os.close(p.tty)
    os.close(p.fd)
    ok(until(lambda: p.poll() is not None, PATIENCE_S) and p.poll() == 129,
       "closing the terminal ends the program, too", p.poll())


def test_keys():
    """Functions that let another program use the terminal, while the terminal
    reads no output."""
    if not os.path.exists("/bin/bash"):
        skip("keys asleep", "needs bash")
        return
    p = Sleeper(["/bin/bash", "--norc", "--noprofile", "-i"],
                PS1="shell> ", SHELL="/bin/sh")
    p.wait_for("shell>")
    p.send("%s\r" % TUI)
    p.wait_for("1 Fleet")
    ok(p.fall_asleep(), "a terminal that does not read, under a shell")
    p.send("7$")
    time.sleep(1)
    p.send("yes\r")
    ok(until(lambda: not p.is_full(), PATIENCE_S),
       "a shell on a pod gets the terminal")
    # Keys that are typed before the shell reads belong to the program.
    p.until(lambda: termios.tcgetattr(p.tty)[3] & termios.ICANON and
            not p.screen.alternate, what="a shell on the pod")
    p.settle()
    p.send("echo $((6 * 7))7\r")
    ok(p.wait_for("427") and not p.screen.alternate, "the shell on a pod gets "
                                                     "its keys",
       p.screen.text())
    p.send("exit 3\r")
    ok(p.wait_for("exited with status 3"), "the shell on a pod ends")
    ok(p.wait_for("7 Pods") and p.screen.alternate and not p.screen.stray,
       "the screen of the program is complete",
       (p.screen.alternate, p.screen.stray[:5],
        p.screen.text()[:2000]))
    p.fall_asleep()
    p.send("\x1a")
    ok(until(lambda: not p.is_full(), PATIENCE_S) and p.wait_for("Stopped"),
       "Ctrl-z returns to the shell", p.screen.text())
    ok(p.at_shell() and not p.screen.alternate, "the shell has its own screen",
       p.state())
    p.send("fg\r")
    ok(p.until(lambda: p.screen.alternate and "8 Harness" in
               p.screen.text()), "fg shows the screen again")
    p.fall_asleep()
    p.send("Q")
    until(lambda: not p.is_full(), PATIENCE_S)
    p.at_shell()
    p.send("echo $((6 * 7))$?\r")
    ok(p.wait_for("420") and not p.screen.alternate, "Q ends the program",
       p.state())
    p.send("exit\r")
    p.end()
    p.close()


def test_collect():
    """Without a screen: messages that nobody reads, as after Ctrl-s."""
    log = Log(os.path.join(home, "logs/b.log"))
    told = "configuration reloaded"
    p = Sleeper([TUI, "collect"])
    try:
        until(lambda: stored_steps("b.log") > 0, PATIENCE_S)
        p.send("\x13")
        ok(until(p.is_full, PATIENCE_S),
           "collect in a stopped terminal")
        # Two pending signals are delivered as one, so wait until each has been
        # handled.
        for _ in range(3):
            os.kill(p.pid, signal.SIGHUP)
            first = log.step
            ok(until(lambda: stored_steps("b.log") > first, PATIENCE_S),
               "collect still reads and stores", (first, log.step))
        p.pump(0.2)
        ok(told not in p.screen.text(), "collect: nothing is printed "
                                        "meanwhile")
        p.send("\x11")
        ok(p.until(lambda: p.screen.text().count(told) == 3),
           "collect: the messages come later")
        p.send("\x13")
        until(p.is_full, PATIENCE_S)
        os.kill(p.pid, signal.SIGHUP)
        time.sleep(0.5)
        os.kill(p.pid, signal.SIGTERM)
        ok(until(lambda: p.poll() is not None, PATIENCE_S) and
           p.poll() == 143,
           "collect can be ended", p.poll())
    finally:
        log.end()
        p.close()


def test_demo():
    """The screen equals the one that is drawn without a terminal."""
    script = "size 250x60\nkey 7\nsave -\n"
    want = subprocess.run([TUI, "demo", "--script", "-"], input=script,
                          env=home_env(home, LC_ALL="C.UTF-8"),
                          capture_output=True, text=True).stdout

    def plain(text):
        return re.sub(r"\d\d:\d\d:\d\d", "", text)
    p = Sleeper([TUI, "demo", "--speed", "0.001"])
    p.wait_for("ms/step")
    p.fall_asleep()
    for keys in "2345681?\x1b:\x1b!\x1b7":
        p.send(keys)
        time.sleep(0.15)
    time.sleep(1)
    p.wait_for("DISK free")
    ok(p.until(lambda: plain(p.screen.text()) == plain(want)) and
       not p.screen.stray,
       "after keys during the pause, the screen is up to date", want)
    p.send("Q")
    ok(p.end() == 0 and p.is_sane(), "the program can be ended", p.state())
    p.close()


def test_two_terminals():
    """Keys come from a different terminal, not from the one that shows the screen."""
    p = Sleeper(["/bin/sleep", "999"], 100, 30)
    keys, stdin = os.openpty()
    modes = termios.tcgetattr(stdin)
    child = subprocess.Popen([TUI, "demo", "--speed", "1"], stdin=stdin,
                             stdout=p.tty, stderr=subprocess.DEVNULL,
                             env=home_env(home, TERM="xterm-256color",
                                          LC_ALL="C.UTF-8"))
    p.wait_for("ms/step")
    ok(not termios.tcgetattr(stdin)[3] & (termios.ICANON | termios.ECHO),
       "the terminal with the keyboard: each key is read at once")
    os.write(keys, b"7")
    ok(p.wait_for("DISK free"), "the other terminal shows the screen")
    os.write(keys, b"Q")
    ok(p.until(lambda: child.poll() is not None, what="its end") and
       p.is_sane() and termios.tcgetattr(stdin)[:4] == modes[:4],
       "both terminals have their normal modes afterwards", p.state())
    child.kill()
    child.wait()
    p.close()
    os.close(keys)
    os.close(stdin)


def test_other_users():
    """A terminal that cannot be opened a second time."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        skip("a terminal of another user", "needs root and setpriv")
        return
    for name, before in (("of our session", []),
                         ("of no session", ["setsid", "-w"])):
        with tempfile.TemporaryDirectory() as folder:
            other_user(folder, name, before)


def other_user(folder, name, before):
    log = os.path.join(folder, "long.log")
    program = os.path.join(folder, "hgym-tui")
    shutil.copy(TUI, program)
    with open(log, "wb") as out:
        out.write((ROW % (1, 5, 100)).encode() + LINE)
    for path in (folder, log, program):
        os.chmod(path, 0o755)
    words = before + ["setpriv", "--reuid=65534", "--regid=65534",
                      "--clear-groups", program, log]
    p = Sleeper(["/usr/bin/env", "-u", "HGYM_TUI_CONFIG"] +
                ["%s=%s" % item for item in home_dirs(folder).items()] +
                words)
    p.wait_for("ms/step")
    p.send("5")
    p.settle(0.2)
    p.send("G")
    p.settle(0.2)
    p.screen.osc.clear()
    ok(p.fall_asleep(), "does not read, belongs to another user: " + name, p.state())
    p.send("y")
    time.sleep(1)
    p.send("Q")
    ok(until(lambda: not p.is_full(), PATIENCE_S),
       "the program can be ended: " + name)
    ok(p.end() == 0 and p.is_sane(), "normal modes afterwards: " + name, p.state())
    p.close()


def main():
    global home
    with tempfile.TemporaryDirectory() as folder:
        home = folder
        with open(os.path.join(home, "config.json"), "w") as out:
            json.dump({"schema": "hgym-tui.config/1", "pods": [
                {"name": "here", "transport": "local",
                 "logs": [os.path.join(home, "logs/*.log")]}]}, out)
        for test in (test_follows, test_keys, test_signals, test_collect,
                     test_demo, test_two_terminals, test_other_users):
            test()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
