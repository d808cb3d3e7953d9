#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The README's picture: the demo in a real pseudo-terminal, as SVG.

	docs/picture.py build/hgym-tui [WxH] [KEYS] > docs/screen.svg"""
import os
import sys
import tempfile
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../tests/screen"))
from vt import Program  # noqa: E402

CW, CH, PAD = 8.0, 17, 12
BASE = ["#1b1d23", "#d0574e", "#59a869", "#d9a343", "#5394ec", "#b576c6",
        "#4fa8b8", "#c8ccd4", "#6b7280", "#ef6b62", "#7cc98a", "#f0c674",
        "#7fb3f5", "#d19ce0", "#7fd0dd", "#f2f4f8"]
INK, PAPER = "#c8ccd4", "#14161a"
BRAILLE = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))


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


def shapes(char, x, y, ink):
    """Dots and bars are drawn, so that no font is needed for them."""
    code = ord(char)
    if 0x2800 < code <= 0x28FF:
        for bit, (dx, dy) in enumerate(BRAILLE):
            if code - 0x2800 & 1 << bit:
                yield '<circle cx="%.1f" cy="%.1f" r="1.1" fill="%s"/>' % (
                    x + 2 + dx * 4, y + 2.5 + dy * 4.1, ink)
    elif char == "█":
        yield '<rect x="%.1f" y="%d" width="%.1f" height="11" fill="%s"/>' % (
            x, y + 3, CW + 0.1, ink)
    elif char == "░":
        yield '<rect x="%.1f" y="%d" width="%.1f" height="2" fill="%s"/>' % (
            x, y + 8, CW - 2, ink)


def line_shapes(char, x, y, ink):
    """Box lines as strokes: up, right, down, left from the middle."""
    arms = {"─": "rl", "│": "ud", "┌": "rd", "┐": "ld", "└": "ur",
            "┘": "ul", "┤": "uld", "┆": "ud", "━": "rl", "╌": "rl"}.get(char)
    if not arms:
        return None
    mx, my = x + CW / 2, y + CH / 2
    ends = {"u": (mx, y), "d": (mx, y + CH), "l": (x, my), "r": (x + CW, my)}
    path = "".join("M%.1f %.1fL%.1f %.1f" % ((mx, my) + ends[a])
                   for a in arms)
    dash = ' stroke-dasharray="2 2"' if char in "┆╌" else ""
    return '<path d="%s" stroke="%s" stroke-width="%s" fill="none"%s/>' % (
        path, ink, 2 if char == "━" else 1, dash)


def svg(screen):
    width = screen.w * CW + 2 * PAD
    height = screen.h * CH + 2 * PAD
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" '
           'font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" '
           'font-size="13.29">' % (width, height),
           '<rect width="100%%" height="100%%" rx="8" fill="%s"/>' % PAPER]
    for row, cells in enumerate(screen.cells):
        y = PAD + row * CH
        run, start, look = "", 0, None
        for col in range(screen.w + 1):
            char, this = cells[col] if col < screen.w else ("", None)
            x = PAD + col * CW
            if this is not None and this[2]:
                out.append('<rect x="%g" y="%g" width="%g" height="%d" '
                           'fill="%s"/>' % (x, y, CW + 0.2, CH,
                                            colour(this[0])))
            ink = colour(this[0]) if this else INK
            drawn = list(shapes(char, x, y, ink)) if char else []
            stroke = line_shapes(char, x, y, ink) if char else None
            if stroke:
                drawn.append(stroke)
            text = char if char and not drawn else " "
            out += drawn
            if this != look or col == screen.w:
                if run.strip():
                    lead = len(run) - len(run.lstrip())
                    body = run.strip()
                    fill = PAPER if look[2] else colour(look[0])
                    out.append(
                        '<text x="%g" y="%g" fill="%s"%s '
                        'textLength="%g">%s</text>' % (
                            PAD + (start + lead) * CW, y + 13, fill,
                            ' font-weight="bold"' if look[1] else "",
                            len(body) * CW,
                            escape(body.replace(" ", "\u00a0"))))
                run, start, look = "", col, this
            run += text
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    size = sys.argv[2] if len(sys.argv) > 2 else "120x40"
    keys = sys.argv[3] if len(sys.argv) > 3 else ""
    width, height = (int(n) for n in size.split("x"))
    with tempfile.TemporaryDirectory() as home:
        program = Program([os.path.abspath(sys.argv[1]), "demo", "--speed",
                           "0.001"], width, height,
                          {"HOME": home, "TMPDIR": home}, home)
        program.wait_for("h100-a")
        for key in keys:
            program.send(key)
            program.settle()
        program.settle()
        sys.stdout.write(svg(program.screen))
        program.send("Q")
        program.end()
        program.close()


if __name__ == "__main__":
    main()
