#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Charts in pixels: what the program asks the terminal, all kinds of answers,
and a chart in xterm, compared pixel by pixel."""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs, home_env  # noqa: E402
from tap import finish, note, ok, skip  # noqa: E402
from vt import Program  # noqa: E402
from wait import until  # noqa: E402

NONE = "this terminal cannot show pictures; charts use braille"
KITTY = "xterm-kitty|as kitty names itself,\n\tuse=xterm-256color,\n"
STEPS = 200
home = None


def is_braille(char):
    return 0x2800 < ord(char) < 0x2900 if char else False


class Terminal(Program):
    """A terminal that answers the question about its capabilities with
    `answer`, or not at all if that is empty."""

    def __init__(self, answer=b"", env=None, width=120, height=40):
        self.answer = answer
        super().__init__(
            [TUI, "--charset", "pixels", "follow.log"], cwd=home,
            env=dict(home_dirs(home), **(env or {})), width=width,
            height=height)

    def take(self):
        alive = super().take()
        if b"c" in self.screen.questions:
            self.screen.questions.remove(b"c")
            if self.answer:
                self.send(self.answer)
        return alive

    def braille(self):
        return any(is_braille(c) for row in self.screen.cells for c, _ in row)

    def is_shown(self):
        return self.screen.pictures and not self.braille()

    def leave(self, name):
        self.send("\x1b\x1b\x1bQ")
        ok(self.end() == 0 and not self.screen.stray and
           not self.screen.outside and not self.screen.alternate,
           "%s: the program ends, the terminal has its old modes" % name,
           [self.status, self.screen.stray, self.screen.outside])
        self.close()


SIXEL = b"\x1b[4;640;960t\x1b[?62;1;4;22c"


def test_sixel():
    p = Terminal(SIXEL)
    p.wait_for("Runs (1)")
    ok(p.until(p.is_shown), "sixel: pictures replace braille")
    first = p.screen.pictures[0]
    ok(first.startswith(b"\x1bP0;1q\"1;1;"), "sixel: the pictures are sixel", first[:40])
    note("bytes of a picture: %s" % [len(x) for x in p.screen.pictures[:4]])
    p.settle()
    n = len(p.screen.pictures)
    p.pump(2.5)  # two updates of the clock
    ok(len(p.screen.pictures) == n, "an unchanged picture is not sent again",
       [n, len(p.screen.pictures)])
    p.send("?")
    p.wait_for("type to search")
    p.send("\x1b")
    p.wait_gone("type to search")
    n = len(p.screen.pictures)
    p.send("\x0c")  # redraws everything
    ok(p.until(lambda: len(p.screen.pictures) > n), "Ctrl-l sends the "
                                                    "pictures again")
    n = len(p.screen.pictures)
    p.resize(100, 30)
    os.kill(p.pid, signal.SIGWINCH)
    ok(p.until(lambda: len(p.screen.pictures) > n), "a new size sends the "
                                                    "pictures again")
    p.send("C")
    ok(p.until(p.braille), "C: braille again")
    p.leave("sixel")


def test_kitty():
    made = subprocess.run(["tic", "-x", "-o", home + "/terminfo", "-"],
                          input=KITTY, capture_output=True, text=True)
    if made.returncode != 0:
        skip("kitty", "tic: " + made.stderr)
        return
    p = Terminal(b"\x1b[4;640;960t\x1b[?62;c",
                 {"TERM": "xterm-kitty", "TERMINFO": home + "/terminfo"})
    p.wait_for("Runs (1)")
    ok(p.until(p.is_shown), "kitty: pictures replace braille")
    sent = p.screen.pictures
    ok(sent[0].startswith(b"\x1b_Ga=T,"), "kitty: the pictures use its "
                                          "protocol", sent[0][:40])
    note("bytes of a picture: %s" % [len(x) for x in sent[:4]])
    p.send("5")
    ok(p.until(lambda: sent[-1].startswith(b"\x1b_Ga=d,")),
       "another view removes the pictures")
    p.leave("kitty")


def test_none():
    for name, answer in (("no answer", b""), ("no sixel", b"\x1b[?62;22c"),
                         ("an old one", b"\x1b[?6c"),
                         ("nonsense", b"\x1b[?9999999999;;;$;" +
                          b"7;" * 40 + b"5c\x1b[4;;;;t\x1b[4;1;1~"),
                         ("cells of no size", b"\x1b[4;0;0t\x1b[?62;4c"),
                         ("cells of a pixel",
                          b"\x1b[4;40;120t\x1b[?62;4c")):
        p = Terminal(answer)
        ok(p.wait_for(NONE), "%s: reported" % name)
        ok(p.until(p.braille) and not p.screen.pictures,
           "%s: braille is drawn" % name)
        p.send("?")
        ok(p.wait_for("type to search"), "%s: keys still work" % name)
        p.leave(name)


def test_late():
    p = Terminal()
    p.wait_for(NONE)
    p.send(SIXEL)
    p.send("CCC")
    ok(p.until(p.is_shown), "a late answer: C turns pictures on")
    p.leave("late")


def test_pieces():
    """Keys that are typed between the parts of an answer."""
    p = Terminal()
    p.wait_for("Runs (1)")
    p.send("?")
    p.wait_for("type to search")
    # Sent at once: the program waits one second for the rest of an answer.
    p.send(b"".join((b"\x1b[?6", b"l", b"2;1", b"e", b";", b"ad", b"4;22",
                     b"er", b"c")))
    ok(p.wait_for("> leader"), "no key is lost between the parts of an answer")
    p.send(b"\x1b[4;640;960t")
    p.send("\x1b")
    p.wait_gone("type to search")
    p.send("CCC" if NONE in p.screen.text() or p.braille() else "")
    ok(p.until(lambda: p.screen.pictures), "the answer is used")
    p.leave("pieces")
    p = Terminal()
    p.wait_for("Runs (1)")
    p.send(b"\x1b[?12;")
    # Only time in which the program waits, and not for a processor, counts.
    asleep = 0
    while asleep < 30 and p.pump(0.05):
        asleep += p.is_idle()
    p.send("2")
    ok(p.wait_for("events in this log"),
       "an answer without an end swallows no later key")
    p.leave("no end")


def write_log():
    """A loss that falls evenly, so that its line is straight."""
    with open(os.path.join(home, "follow.log"), "w", encoding="ascii") as log:
        for step in range(1, STEPS + 1):
            log.write("step:%d/%d train_loss:%.4f train_time:%dms "
                      "step_avg:100.00ms\n" % (step, STEPS, 5 - step / 100,
                                               step * 100))


def columns_of(path, width, height, color):
    """For each column of a screen dump (xwd), the rows whose color is close to
    `color`."""
    with open(path, "rb") as screen:
        data = screen.read()
    head = struct.unpack(">25I", data[:100])
    at, per_line = head[0] + 12 * head[19], head[12]
    near = {}
    rows = {x: [] for x in range(width)}
    for y in range(height):
        line = data[at + y * per_line:at + y * per_line + 4 * width]
        for x in range(width):
            got = line[4 * x:4 * x + 3]
            if got not in near:
                near[got] = all(abs(a - b) < 4
                                for a, b in zip(got[::-1], color))
            if near[got]:
                rows[x].append(y)
    return rows


def falling(rows):
    """The longest line of a color that goes down from left to right, as the row
    of each column. A border does not go down, so it is not found."""
    ways, best = {}, (0, None)
    for x in sorted(rows):
        now = {}
        for y in rows[x]:
            before = max((ways[k] for k in (y, y - 1, y - 2) if k in ways),
                         default=(0, y, None), key=lambda way: way[0])
            now[y] = before[0] + 1, before[1], (y, before[2])
            if now[y][0] > best[0] and y - now[y][1] > now[y][0] / 9:
                best = now[y][0], now[y][2]
        ways = now
    line, way = [], best[1]
    while way:
        line.insert(0, way[0])
        way = way[1]
    return line


def start_server():
    """Xvfb with a display number of its choice and its screen in a file, or
    None."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1300x900x24",
         "-fbdir", home, "-nolisten", "tcp"], pass_fds=[write],
        stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    if number:
        return server, ":" + number
    server.wait()
    return None, None


def test_xterm():
    missing = [name for name in ("Xvfb", "xterm") if not shutil.which(name)]
    server, display = (None, None) if missing else start_server()
    if server is None:
        skip("xterm", "needs " + " and ".join(missing or ["an X server"]))
        return
    log = open(os.path.join(home, "xterm.err"), "w", encoding="utf-8")
    xterm = subprocess.Popen(
        ["xterm", "-ti", "vt340", "-tn", "xterm-256color", "-bg", "#000000",
         "-fn", "fixed", "-b", "0", "+sb", "-geometry", "100x36+0+0",
         "-e", TUI, "--charset", "pixels", "follow.log"], cwd=home,
        env=home_env(home, DISPLAY=display, LC_ALL="C.UTF-8", TERM="xterm"),
        stderr=log)
    screen = os.path.join(home, "Xvfb_screen0")
    # SERIES_1 of the dark theme is number 74 of the 256 colors.
    color, line = (95, 175, 215), []

    def is_drawn():
        if os.path.exists(screen):
            line[:] = falling(columns_of(screen, 600, 470, color))
        return len(line) > 150 or xterm.poll() is not None
    try:
        ok(until(is_drawn) and line, "xterm: a line is drawn",
           open(log.name, encoding="utf-8").read())
        ok(len(set(line)) > 40,
           "xterm: the line falls by single pixels, as no character does", line)
        slope = (line[-1] - line[0]) / max(len(line) - 1, 1) if line else 0
        off = max([abs(line[0] + slope * i - y)
                   for i, y in enumerate(line)] or [99])
        # Allow some pixels: the smoothed line lags at its start.
        ok(off <= 6, "xterm: the line is straight (%.1f pixels off)" % off, line)
    finally:
        for process in (xterm, server):
            process.terminate()
            process.wait()
        log.close()


def main():
    global home
    parts = {name[5:]: part for name, part in globals().items()
             if name.startswith("test_")}
    with tempfile.TemporaryDirectory() as folder:
        home = folder
        write_log()
        for name in sys.argv[1:] or parts:
            parts[name]()
    finish()


main()
