#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The colors that a terminal shows for each view, at three sizes: with 256 and
with 16 colors, without colors, and in the C locale. The text must equal the
golden file; the look of each cell must be what the theme defines for the
golden file's style."""
import os
import re
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from views import SIZES, SMALL, VIEWS, golden  # noqa: E402
from vt import SIXTEEN, Program  # noqa: E402

NAMED = {"Enter": "\r", "Space": " ", "Esc": "\x1b", "Tab": "\t"}
home = None


def theme():
    """The attributes of each style, and its colors in the dark theme."""
    text = open(os.path.join(SRC, "ui/theme.h"), encoding="utf-8").read()
    rows = re.findall(r"X\((\w+), ([^,]+), (-?\d+), (-?\d+), [-\d, ]+\)",
                      text)
    return {name: (attributes, int(c256), int(c16))
            for name, attributes, c256, c16 in rows}


STYLES = theme()


def look_of(style, colours):
    """(color, bold, reverse, dim) that the terminal must show."""
    name, *more = style.split()
    attributes, c256, c16 = STYLES[name]
    ink = {256: c256, 16: c16, 0: -1}[colours]
    return (None if ink < 0 else ink,
            "BOLD" in attributes or "bold" in more,
            "REVERSE" in attributes or "reverse" in more,
            colours == 0 and c16 == 8)


def styles_of(name, height):
    """A golden file of styles: its rows, and the style of each letter."""
    lines = golden(name).split("\n")
    legend = {line[0]: line[2:] for line in lines[height:] if line}
    legend[" "] = "NORMAL"
    return lines[:height], legend


def wrong_looks(screen, name, colours):
    rows, legend = styles_of(name, screen.h)
    wrong = []
    for y, row in enumerate(screen.cells):
        for x, (char, look) in enumerate(row):
            letter = rows[y][x:x + 1] or " "
            want = look_of(legend.get(letter, "NORMAL"), colours)
            # Only the background of a blank is visible.
            if char == "" or (char == " " and not want[2] and not look[2]):
                continue
            if look != want:
                wrong.append("%d,%d %r: %s, not %s (%s)" % (
                    x, y, char, look, want, legend.get(letter)))
    return wrong


def plain(text):
    """The screen with fixed names for the demo's folder and `home`."""
    text = re.sub(r"hgym-demo-\w{6}", "hgym-demo-XXXXXX", text)
    return "\n".join(line.rstrip() for line in
                     text.replace(home, "/tmp/hgXXXXXXXX").split("\n"))


def show(p, keys):
    for key in keys:
        p.send(NAMED.get(key, key))
        if key == "Esc":
            p.settle(0.1)


def walk(name, size, colours, env, locale):
    width, height = (int(n) for n in size.split("x"))
    p = Program([TUI, "demo", "--speed", "0.001"], width, height,
                dict(env, **home_dirs(home)), home)
    p.wait_for("h100-a")
    for view, keys, back in VIEWS:
        show(p, keys)
        want = golden("%s-%s-%s.txt" % (view, size, locale))
        want = plain(want)
        if not p.until(lambda: plain(p.screen.text()) == want):
            got = plain(p.screen.text()).split("\n")
            lines = [(w, g) for w, g in zip(want.split("\n"), got) if w != g]
            ok(False, "%s: %s at %s" % (name, view, size),
               "\n".join("-%s\n+%s" % pair for pair in lines))
        elif locale == "ascii":
            ok(p.screen.text().isascii(), "%s: %s at %s" % (name, view, size),
               p.screen.text())
        else:
            held = "%s-%s.styles" % (view, size)
            wrong = []

            def right():
                wrong[:] = wrong_looks(p.screen, held, colours)
                return not wrong
            ok(p.until(right), "%s: %s at %s" % (name, view, size),
               "\n".join(wrong[:20]))
        show(p, back)
    ok(not p.screen.stray, "%s at %s: no stray byte" % (name, size),
       p.screen.stray)
    p.send("Q")
    p.end()
    p.close()


def main():
    global home
    # The name must be as long as the name in the golden files.
    with tempfile.TemporaryDirectory(prefix="hg", dir="/tmp") as folder:
        home = folder
        made = subprocess.run(["tic", "-x", "-o", home + "/terminfo", "-"],
                              input=SIXTEEN, capture_output=True, text=True)
        modes = [("256 colours", 256, {}, "utf8"),
                 ("no colours", 0, {"NO_COLOR": "1"}, "utf8"),
                 ("C locale", 256, {"LC_ALL": "C"}, "ascii")]
        if made.returncode == 0:
            modes.insert(1, ("16 colours", 16,
                             {"TERM": "xterm-of-16",
                              "TERMINFO": home + "/terminfo"}, "utf8"))
        else:
            skip("16 colours", "needs tic (Debian package ncurses-bin)")
        for name, colours, env, locale in modes:
            for size in (s for s in SIZES if s not in SMALL):
                walk(name, size, colours, env, locale)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
