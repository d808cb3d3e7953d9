#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The README's pictures: the demo in a real pseudo-terminal, as SVG.

	docs/picture.py build/hgym-tui [WxH] [KEYS] > docs/screen.svg
	docs/picture.py build/hgym-tui --moving [WxH] > docs/demo.svg

The moving one is a loop of real frames, shown one after the other with CSS; a
row that several frames share is stored once."""
import os
import sys
import tempfile
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../tests/screen"))
from vt import Program  # noqa: E402

CW, CH, PAD = 8, 17, 12
BASE = ["#1b1d23", "#d0574e", "#59a869", "#d9a343", "#5394ec", "#b576c6",
        "#4fa8b8", "#c8ccd4", "#6b7280", "#ef6b62", "#7cc98a", "#f0c674",
        "#7fb3f5", "#d19ce0", "#7fd0dd", "#f2f4f8"]
INK, PAPER = "#c8ccd4", "#14161a"
BRAILLE = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))


# The script of the moving picture: keys to press, the seconds until the next
# ones, and the caption below the screen from then on.
TOUR = [
    ("", 1.2, "hgym-tui demo"),
    ("j", 0.6, "j  select a run"), ("j", 1.0, "j  select a run"),
    ("2", 1.2, "2  Run: its charts"),
    ("v", 1.0, "v  one large chart"), ("v", 0.2, "v  all of them"),
    ("5", 1.2, "5  Logs, followed live"),
    ("/", 0.3, "/  search"), ("v", 0.15, "/  search"),
    ("a", 0.15, "/  search"), ("l", 0.15, "/  search"),
    ("_", 0.15, "/  search"), ("b", 0.5, "/  search"),
    ("\r", 0.7, "Enter  matches are highlighted"), ("N", 0.9, "N  the previous match"),
    ("\x1b", 0.2, "Esc  back"), ("1", 0.3, "1  Fleet"),
    ("g", 0.3, "g  first run"), (" ", 0.5, "Space  mark"),
    ("j", 0.2, "j  down"), ("j", 0.2, "j  down"), (" ", 0.5, "Space  mark"),
    ("4", 1.2, "4  Compare: the marked runs"),
    ("h", 0.2, "h  move the cursor"), ("h", 0.2, "h  the cursor"),
    ("h", 0.8, "h  move the cursor"),
    ("6", 1.2, "6  Bench: was it faster?"),
    ("3", 0.9, "3  Board: means, spread, tests"),
    ("j", 0.3, "j  down"), ("R", 0.9, "R  set the reference"),
    ("k", 1.0, "k  up"), ("\r", 1.0, "Enter  its seeds"),
    ("\x1b", 0.2, "Esc  back"), ("1", 0.5, "1  Fleet"),
]
STEP_S = 0.5  # interval between frames while no key is pressed


def colour(n):
    if n is None:
        return INK
    if n < 16:
        return BASE[n]
    if n < 232:
        n -= 16
        level = (0, 95, 135, 175, 215, 255)
        return "#%02x%02x%02x" % (level[n // 36], level[n // 6 % 6],
                                  level[n % 6])
    return "#%02x%02x%02x" % ((8 + (n - 232) * 10,) * 3)


def dots(char):
    """Where the dots of a braille character are, in a cell."""
    code = ord(char) if len(char) == 1 else 0
    for bit, (dx, dy) in enumerate(BRAILLE):
        if 0x2800 < code <= 0x28FF and code - 0x2800 & 1 << bit:
            yield 2 + dx * 4, 2 + dy * 4


# Box lines as strokes: up, right, down, left from the middle.
ARMS = {"─": "rl", "│": "ud", "┌": "rd", "┐": "ld", "└": "ur", "┘": "ul",
        "┤": "uld", "├": "urd", "┬": "rdl", "┴": "url", "┼": "urdl",
        "┆": "ud", "━": "rl", "╌": "rl"}
# Bars: their top, their height and how much narrower than a cell they are.
BARS = {"░": (8, 2, 2)}
BARS.update({chr(0x2580 + n): (14 - 11 * n / 8, 11 * n / 8, 0)
             for n in range(1, 9)})


def line_path(char, x):
    mx, my = x + CW // 2, CH / 2
    arms = {"u": "M%d %gV0", "d": "M%d %gV17", "l": "M%d %gh-4",
            "r": "M%d %gh4"}
    return "".join(arms[a] % (mx, my) for a in ARMS.get(char, ""))


class Row:
    """A row of cells as SVG; dots, bars and lines are drawn, so that no font
    is needed for them."""

    def __init__(self, cells):
        self.under, self.over, self.paths = [], [], {}
        self.run, self.start, self.look = "", 0, None
        for col, (char, look) in enumerate(cells):
            self.add(col, char, look)
        self.end_run(len(cells), None)

    def path(self, kind, ink, d):
        self.paths.setdefault((kind, ink), []).append(d)

    def add(self, col, char, look):
        x, ink = col * CW, colour(look[0])
        if look[2]:
            self.path("b", ink, "M%d 0h8.2v17h-8.2z" % x)
            ink = PAPER
        drawn = "".join("M%d %dh0" % (x + dx, dy) for dx, dy in dots(char))
        if drawn:
            self.path("d", ink, drawn)
        elif char in BARS and char:
            top, high, less = BARS[char]
            self.path("b", ink, "M%d %gh%gv%gH%dz" % (
                x, top, CW + 0.1 - less, high, x))
            drawn = char
        elif char in ARMS and char:
            drawn = line_path(char, x)
            self.path({"━": "w", "┆": "t", "╌": "t"}.get(char, "l"), ink,
                      drawn)
        if look != self.look:
            self.end_run(col, look)
        self.run += " " if drawn or not char else char

    def end_run(self, col, look):
        body = self.run.strip()
        if body:
            lead = len(self.run) - len(self.run.lstrip())
            ink = PAPER if self.look[2] else colour(self.look[0])
            self.over.append('<text x="%d" y="13" fill="%s"%s textLength='
                             '"%d">%s</text>' % (
                                 (self.start + lead) * CW, ink,
                                 ' font-weight="bold"' if self.look[1] else "",
                                 len(body) * CW,
                                 escape(body.replace(" ", "\u00a0"))))
        self.run, self.start, self.look = "", col, look

    def svg(self):
        return "".join(
            '<path class="%s" %s="%s" d="%s"/>' % (
                kind, "fill" if kind == "b" else "stroke", ink, "".join(d))
            for (kind, ink), d in sorted(self.paths.items())) + \
            "".join(self.over)


STYLE = """.d,.l,.t,.w{fill:none}
.d{stroke-width:2.2;stroke-linecap:round}
.w{stroke-width:2}
.t{stroke-dasharray:2 2}
"""


def head(width, height, style=""):
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
            'font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" '
            'font-size="13.29">\n<style>%s</style>\n'
            '<rect width="100%%" height="100%%" rx="8" fill="%s"/>\n' % (
                width * CW + 2 * PAD, height * CH + 2 * PAD, STYLE + style,
                PAPER))


def svg(screen):
    rows = ['<g transform="translate(%d %d)">%s</g>' % (
        PAD, PAD + y * CH, Row(cells).svg())
        for y, cells in enumerate(screen.cells)]
    return "\n".join([head(screen.w, screen.h)] + rows + ["</svg>\n"])


def moving(frames, width, height):
    """frames: pairs of rows of cells (the last row is a caption) and the second
    from which they are shown; the last frame marks the end."""
    ids, defs, shown, style = {}, [], [], []
    length = frames[-1][1]
    for i, (rows, since) in enumerate(frames[:-1]):
        uses = []
        for y, cells in enumerate(rows):
            row = Row(cells).svg()
            if row and row not in ids:
                ids[row] = "r%d" % len(ids)
                defs.append('<g id="%s">%s</g>' % (ids[row], row))
            if row:
                uses.append('<use href="#%s" y="%d"/>' % (ids[row], y * CH))
        shown.append('<g class="f" style="animation-name:f%d">%s</g>' % (
            i, "".join(uses)))
        style.append("@keyframes f%d{0%%{visibility:%s}%.2f%%{visibility:"
                     "visible}%.2f%%,to{visibility:hidden}}" % (
                         i, "hidden" if i else "visible",
                         100 * since / length,
                         100 * frames[i + 1][1] / length))
    style.append(".f{visibility:hidden;animation:%.1fs step-end infinite}\n"
                 ".f:first-child{visibility:visible}" % length)
    return "".join([head(width, height + 2, "\n".join(style)),
                    "<defs>", "\n".join(defs), "</defs>\n",
                    '<g transform="translate(%d %d)">\n' % (PAD, PAD),
                    "\n".join(shown), "\n</g></svg>\n"])


def record(program):
    """The frames of the tour, each with the second at which it starts."""
    frames, now = [], 0.0
    bold, plain = (214, True, False, False), (245, False, False, False)
    for keys, seconds, words in TOUR:
        program.send(keys)
        end = now + seconds
        key, _, what = words.partition("  ")
        caption = [(c, bold) for c in " " + key] + \
            [(c, plain) for c in "  " + what]
        while now < end - 1e-6:
            program.pump(min(STEP_S, end - now))
            program.until(lambda: True)
            rows = [list(row) for row in program.screen.cells] + [[], caption]
            if not frames or frames[-1][0] != rows:
                frames.append((rows, now))
            now += min(STEP_S, end - now)
    return frames + [(None, now)]


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--moving"]
    is_moving = args != sys.argv[1:]
    if not args:
        sys.exit(__doc__)
    size = args[1] if len(args) > 1 else "100x30" if is_moving else "120x40"
    width, height = (int(n) for n in size.split("x"))
    with tempfile.TemporaryDirectory() as home:
        program = Program([os.path.abspath(args[0]), "demo"] +
                          ([] if is_moving else ["--speed", "0.001"]),
                          width, height, {"HOME": home, "TMPDIR": home}, home)
        program.wait_for(("h100-a", "quit"))
        if is_moving:
            picture = moving(record(program), width, height)
        else:
            for key in args[2] if len(args) > 2 else "":
                program.send(key)
                program.settle()
            program.settle()
            picture = svg(program.screen)
        sys.stdout.write(picture)
        program.send("\x1b\x1bQ")
        program.end()
        program.close()


if __name__ == "__main__":
    main()
