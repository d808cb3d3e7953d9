#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A log with its own colors in the log view, in a real pseudo-terminal: with
256 and with 16 colors, without colors, and in the light theme; the setting that
hides these colors; search matches over them. A golden file contains the text of
the screen, and then one letter per cell for its style.

HGYM_UPDATE=1 writes the golden files again; look at the difference before you
commit it."""
import json
import os
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
UPDATE = os.environ.get("HGYM_UPDATE")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from views import GOLDEN, golden  # noqa: E402
from vt import SIXTEEN, Program  # noqa: E402

HUES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
ROW = "step:%d/100 train_loss:%.4f train_time:%dms step_avg:100.00ms\n"
LOG = (
    "[\x1b[32m2026-11-20 10:00:00\x1b[0m][\x1b[34mtrain\x1b[0m] begin\n" +
    " ".join("\x1b[%dm%s\x1b[0m" % (30 + i, hue)
             for i, hue in enumerate(HUES)) + "\n" +
    " ".join("\x1b[%dm%s\x1b[0m" % (90 + i, hue)
             for i, hue in enumerate(HUES)) + "\n" +
    "\x1b[1mbold\x1b[22m \x1b[2mfaint\x1b[22m \x1b[7mreverse\x1b[27m "
    "\x1b[1;7;33mall of it\x1b[0m \x1b[30;43mon a background\x1b[0m\n"
    "\x1b[38;5;208morange\x1b[m \x1b[38;5;244mgrey\x1b[m "
    "\x1b[38;2;30;60;250mblue\x1b[m \x1b[38:2::250:60:200mpink\x1b[m\n"
    "\x1b[1;31mRuntimeError\x1b[0m: CUDA error: \x1b[35minvalid\x1b[0m\n"
    "\x1b[33mW1120 warning\x1b[0m: the state ends with the line \x1b[31mred\n"
    "not red\tand \x1b[36ma tab\tcyan\x1b[0m\n"
    "\x1b[32m 50%|###   |\r100%|######|\x1b[0m done\n"
    "wide \x1b[33m日本語\x1b[0m "
    "\x1b[31mcut at the edge \x1b[32m" + "x" * 200 + "\n"
    "\x1b]0;title\x07\x1b(B\x1b[2J\x1b[31\x1b[32mbroken\x1b[m ones\n" +
    ROW % (1, 5, 100) +
    "\x1b[36m" + (ROW % (2, 4.9, 200)).replace("\n", "\x1b[0m\n"))

home = None


def start(env=None, **conf):
    config = os.path.join(home, "config.json")
    with open(config, "w") as out:
        json.dump(dict({"schema": "hgym-tui.config/1"}, **conf), out)
    environ = dict(env or {}, HGYM_TUI_CONFIG=config, **home_dirs(home))
    p = Program([TUI, os.path.join(home, "runs/color.log")], env=environ,
                cwd=home)
    p.wait_for("ms/step")
    p.send("5")
    p.wait_for("step:2/100")
    return p


def settled(p):
    """Wait until all lines are counted: the first frame may come before."""
    p.wait_for("13 lines · following")
    p.settle(0.3)


def end(p, name):
    ok(not p.screen.stray and not p.screen.osc,
       name + ": no byte of the log is a control character",
       p.screen.stray[:5] + p.screen.osc[:5])
    p.send("Q")
    p.end()
    p.close()


def name_of(look):
    colour, bold, reverse, dim = look
    return " ".join(["none" if colour is None else str(colour)] +
                    ["bold"] * bold + ["reverse"] * reverse + ["dim"] * dim)


def dump(screen):
    """The rows of the log: text and styles."""
    letters = {"none": " "}
    rows = []
    for row in screen.cells[1:-2]:
        line = ""
        for char, look in row:
            # Only the background of a blank is visible.
            name = name_of(look) if char != " " or look[2] else "none"
            letter = chr(ord("a") + len(letters) - 1)
            line += letters.setdefault(name, letter)
        rows.append(line.rstrip())
    text = screen.text().split("\n")[1:-3]
    legend = ["%s %s" % (letter, name) for name, letter in letters.items()]
    return "\n".join(text + rows + legend[1:]) + "\n"


def hold(name, p):
    settled(p)
    file = "colors-80x24-%s.txt" % name
    got = dump(p.screen)
    if UPDATE:
        with open(os.path.join(GOLDEN, file), "w", encoding="utf-8") as out:
            out.write(got)
    want = golden(file)
    ok(got == want, file, "\n".join(
        "-%s\n+%s" % pair for pair in zip(want.split("\n"), got.split("\n"))
        if pair[0] != pair[1]))


def looks_of(p, word, line=""):
    """The looks of the cells of `word`, in the first row that also contains
    `line`; None if no row does."""
    for row in p.screen.cells:
        text = "".join(char or "\0" for char, _ in row)
        if word in text and line in text:
            at = text.index(word)
            return {look for _, look in row[at:at + len(word)]}
    return None


def test_marks():
    p = start()
    settled(p)
    p.send("/all of\r")
    p.wait_for("▸")
    p.settle(0.3)
    mark = (227, False, True, False)
    ok(looks_of(p, "all of") == {mark}, "a match is marked over colors",
       looks_of(p, "all of"))
    ok(looks_of(p, "reverse", "bold faint") == {(248, False, False, False)} and
       looks_of(p, " it") == {(178, True, False, False)},
       "only the match is in reverse",
       (looks_of(p, "reverse", "bold faint"), looks_of(p, " it")))
    p.send("/nd \\[36\r")
    ok(p.wait_for("no match"), "an escape sequence is not searched as text")
    p.send("/RuntimeError: CUDA error: inv\r")
    ok(p.until(lambda: looks_of(p, "RuntimeError: CUDA error: inv") ==
               {mark}), "a match spans several colors",
       looks_of(p, "RuntimeError: CUDA error: inv"))
    p.send("&^black red\r")
    ok(p.wait_for("& ^black red: 2 lines"), "a filter ignores colors")
    end(p, "marks")


def test_wrapped():
    p = start()
    settled(p)
    p.send("w")
    ok(p.until(lambda: {look[0] for row in p.screen.cells for char, look in
                        row if char == "x"} - {248} == {71}),
       "a color continues on the rows of a wrapped line")
    p.send("wl")
    ok(p.until(lambda: looks_of(p, "xxxxxx") == {(71, False, False, False)}),
       "a color continues after scrolling to the right", looks_of(p, "xxxxxx"))
    end(p, "wrapped")


def test_off():
    p = start(ui={"log_colors": False})
    settled(p)
    ok(looks_of(p, "green", "black") == {(248, False, False, False)} and
       looks_of(p, "RuntimeError") == {(203, True, False, False)},
       "ui.log_colors false: lines keep bold and faint text only",
       looks_of(p, "green", "black"))
    end(p, "off")


def main():
    global home
    with tempfile.TemporaryDirectory() as folder:
        home = folder
        os.makedirs(os.path.join(home, "runs"))
        with open(os.path.join(home, "runs/color.log"), "w") as out:
            out.write(LOG)
        modes = [("256", {}, {}), ("none", {"NO_COLOR": "1"}, {}),
                 ("light", {}, {"ui": {"theme": "light"}})]
        made = subprocess.run(["tic", "-x", "-o", home + "/terminfo", "-"],
                              input=SIXTEEN, capture_output=True, text=True)
        if made.returncode == 0:
            modes.insert(1, ("16", {"TERM": "xterm-of-16",
                                    "TERMINFO": home + "/terminfo"}, {}))
        else:
            skip("16 colours", "needs tic (Debian package ncurses-bin)")
        for name, env, conf in modes:
            p = start(env, **conf)
            hold(name, p)
            end(p, name)
        test_marks()
        test_wrapped()
        test_off()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
