#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Common tasks with thirty runs of ten groups with long names, in a limited
number of keys; and a search in a list must not trigger an action."""
import csv
import glob
import os
import random
import re
import sys
import tempfile
from xml.etree import ElementTree

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok  # noqa: E402
from vt import Program  # noqa: E402

GROUPS = 10
BEST = (7, 314)  # group and seed of the best run
SLOW = (4, 42)
CRASHED = (9, 1337)
KEY = re.compile(r"\x1b\[[<0-9;]*[A-Za-z~]|.", re.S)
LIST_VIEWS = {"1": "fleet", "3": "RECIPE", "4": "against ◆", "6": "Bench",
              "7": "DISK free", "8": "HarnessGym"}
home = None


def folder(group):
    return "2026-04-23_SP8192_CaseOps_SparseGate_Loop45_try%d_FusedCE" % group


def log(group, seed):
    """A run of 2000 steps in a minute; groups and seeds differ slightly."""
    ms = 90 if (group, seed) == SLOW else 30
    end = 1.2 + group * 0.01 + seed % 10 * 0.001
    if (group, seed) == BEST:
        end = 1.1
    lines = ["import os", "width = %d" % (1 << group), "=" * 100,
             "seed:%d" % seed, "matrix_lr: 0.0%d" % group]
    for step in range(0, 2001, 50):
        if step == 1000 and (group, seed) == CRASHED:
            return lines + ["Traceback (most recent call last):",
                            "ModuleNotFoundError: No module named 'cuda'"]
        loss = end + 3 / (step + 10)
        lines.append("step:%d/2000 train_loss:%.4f train_time:%dms "
                     "step_avg:%.2fms" % (step, loss * 2.3, step * ms, ms))
        if step % 500 == 0:
            lines.append("step:%d/2000 val_loss:%.4f val_bpb:%.4f "
                         "train_time:%dms step_avg:%.2fms" %
                         (step, loss * 2.3, loss, step * ms, ms))
    return lines + ["final_int8_zlib_roundtrip_exact val_loss:%.8f "
                    "val_bpb:%.8f" % (end * 2.3, end)]


def write_logs():
    for group in range(GROUPS):
        os.makedirs(os.path.join(home, "records", folder(group)))
        for seed in (42, 314, 1337):
            path = os.path.join(home, "records", folder(group),
                                "train_seed%d.log" % seed)
            with open(path, "w", encoding="utf-8") as out:
                out.write("\n".join(log(group, seed)) + "\n")
            os.utime(path, (10 ** 9 + group * 10, 10 ** 9 + group * 10))


class Desk(Program):
    """A user whose keys are counted."""

    def __init__(self, *args, width=120, height=40):
        super().__init__([TUI] + list(args or ["records"]), width, height,
                         home_dirs(home), home)
        self.pressed = 0
        self.wait_for("Runs (")

    def press(self, keys):
        self.pressed += len(KEY.findall(keys))
        self.send(keys)
        self.settle(0.1)

    def row(self, n):
        """The n-th row of the first list."""
        lines = self.screen.text().split("\n")
        at = next(i for i, line in enumerate(lines)
                  if re.search(r"RUN|RECIPE|POD ", line))
        return lines[at + 1 + n]

    def job(self, keys, most, done, what):
        """Do a task, starting in Fleet, with at most `most` keys."""
        self.send("Q" if done is None else "\x1b")
        self.settle(0.1)
        self.send("\x1b")
        self.settle(0.1)
        self.send("\x1b1")
        self.settle(0.1)
        self.pressed = 0
        self.press(keys)
        ok(self.until(done, what=what) and self.pressed <= most,
           "%s: %d of %d keys" % (what, self.pressed, most))

    def leave(self):
        self.send("Q")
        ok(self.end() == 0 and not self.screen.stray, "q ends the program")
        self.close()


def test_jobs():
    p = Desk()
    p.wait_for("Runs (30)")
    ok(p.until(lambda: all("try%d" % g in p.screen.text()
                           for g in (9, 8, 7)) and
               "2026-04-23" not in p.row(0)),
       "short names distinguish the groups", p.screen.text())
    p.press("!")
    ok(p.wait_for("Alerts and events") and
       not re.search(r"event .*(finished|crashed)", p.screen.text()),
       "existing logs raise no events", p.screen.text())
    p.job("s", 2, lambda: "try%d" % BEST[0] in p.row(0) and
          " %d " % BEST[1] in p.row(0) and "1.1000" in p.row(0),
          "the best run")
    p.job("ss", 3, lambda: "ms/step▲" in p.screen.text(), "sorted by ms/step")
    p.press("S")
    ok(p.until(lambda: "try%d" % SLOW[0] in p.row(0) and "90" in p.row(0)),
       "the slowest run is first", p.row(0))
    p.press("/try9\r")
    ok(p.until(lambda: "(3 shown)" in p.screen.text() and
               "3 of 30" in p.screen.text()), "a filter of a list",
       p.screen.text())
    p.job("/NotFound\r\r5", 12, lambda: "ModuleNotFoundError" in
          p.screen.text(), "the line of a crash, found by its word")
    p.press("1\x1bg")
    p.job("e5", 2, lambda: "ModuleNotFoundError" in p.screen.text() and
          "step:950/2000" in p.screen.text(), "the line of a crash")
    p.press("1")
    p.press("/seed=%d state:crashed\r" % CRASHED[1])
    ok(p.until(lambda: "(1 shown)" in p.screen.text() and
               "try%d" % CRASHED[0] in p.row(0)),
       "columns are filtered by their names", p.screen.text())
    p.press("1\x1bg")
    p.job(" ssj 4", 6, lambda: "against ◆" in p.screen.text() and
          "2,000" in p.screen.text(), "two runs compared at a printed step")
    ok(p.wait_for("source differs in 1 line, 1 setting differs"),
       "the scripts and settings of both runs are compared", p.screen.text())
    p.press("d")
    ok(p.until(lambda: "+width = " in p.screen.text() and
               "-width = " in p.screen.text() and
               "matrix_lr" in p.screen.text()), "the differences are listed",
       p.screen.text())
    p.press("/matrix\r")
    ok(p.until(lambda: "matrix_lr" in p.screen.text() and
               "+width" not in p.screen.text()), "the list of differences can "
                                                 "be filtered",
       p.screen.text())
    p.send("\x1b")
    ok(p.wait_for("+width = "), "Esc shows all differences again", p.screen.text())
    p.send("\x1b")
    ok(p.wait_for("against ◆"), "Esc shows the runs again", p.screen.text())
    p.leave()


def test_board():
    """Compare three marked seeds with scores that the user types."""
    p = Desk()
    p.wait_for("Runs (30)")
    text = "pub=1.31,1.32,1.33"
    p.job("3/try0\rB%s\r" % text, 6 + len("try0" + text),
          lambda: re.search("pub .*1.32000", p.screen.text()) and
          "try0" in p.row(0) and "RECORD SHOWN" in p.screen.text(),
          "three seeds ranked against a typed baseline")
    p.press("\x1bB\x15\r")
    p.job("/try0\r j j 3*B" + text + "\r", 12 + len("/try0\r") + len(text),
          lambda: "◆ pub" in p.screen.text() and "try0" in p.row(0) and
          "try1" not in p.screen.text() and "SHOWN" in p.screen.text(),
          "three marked seeds ranked against a typed baseline")
    p.press("B\x15pub=1.1,x\r")
    ok(p.wait_for('"x" is not a positive number') and
       "pub=1.1,x" in p.screen.text(),
       "an invalid score: one sentence, and the text stays")
    p.press("\x15name\r")
    ok(p.wait_for("expected name=v1,v2,v3"), "a baseline without scores: one "
                                             "sentence")
    p.press("\x15\r*")
    ok(p.wait_gone("◆ pub") and p.wait_for("try5"),
       "no baseline again: all runs are shown")
    p.press("g\rj jj ")
    ok(p.until(lambda: p.screen.text().count("+ seed") == 1),
       "seeds are marked on the board", p.screen.text())
    p.leave()


def exported(name):
    with open(os.path.join(home, name), encoding="utf-8") as text:
        return text.read()


def test_export():
    """Export what a view shows, in a format, to a new or existing file."""
    evil = "a<b>&c,d" + "\x1b[31m"
    os.makedirs(os.path.join(home, "evil", evil))
    for seed in (1, 2):
        with open(os.path.join(home, "evil", evil, "=s%d.log" % seed), "w",
                  encoding="utf-8") as out:
            out.write("\n".join(log(seed, seed)) + "\n")
    p = Desk("evil")
    p.wait_for("Runs (2)")
    p.job("x\x1b[B\r", 3, lambda: "saved hgym-fleet.svg" in p.screen.text(),
          "a curve exported as SVG")
    svg = ElementTree.fromstring(exported("hgym-fleet.svg"))
    ok(svg.tag.endswith("}svg") and any("BPB" in (t.text or "")
                                        for t in svg.iter()),
       "the exported curve is an SVG, whatever the run is called")
    p.press("x\r")
    ok(p.wait_for("saved hgym-fleet.csv"), "a table is exported")
    rows = list(csv.reader(exported("hgym-fleet.csv").splitlines()))
    at = {name: i for i, name in enumerate(rows[0])}
    ok(len(rows) == 3 and sorted(r[at["SEED"]] for r in rows[1:]) ==
       ["1", "2"] and all(r[at["FILE"]].endswith("=s%s.log" % r[at["SEED"]])
                          for r in rows[1:]) and
       "1.211" in [r[at["→FINAL"]] for r in rows[1:]],
       "the table has seeds, files and full numbers", rows)
    p.press("g j 4x\x1b[B\x1b[B\r")
    ok(p.wait_for("saved hgym-compare.csv"), "the curves of a comparison are "
                                             "exported")
    rows = list(csv.reader(exported("hgym-compare.csv").splitlines()))
    ok(rows[0] == ["run", "seed", "file", "series", "train_s", "value"] and
       {r[1] for r in rows[1:]} == {"1", "2"} and
       all(len(r) == 6 and float(r[5]) > 1 for r in rows[1:]) and
       len(rows) > 80, "each point has its run, seed and file", rows[:3])
    with open(os.path.join(home, "kept.csv"), "w", encoding="utf-8") as out:
        out.write("mine")
    to_mine = "\x15kept.csv\r"
    p.press("x" + to_mine)
    ok(p.wait_for("file exists: y overwrite, n save as kept-1.csv"),
       "an existing file: the user is asked")
    p.press("\x1b[200~y\x1b[201~\x1b")
    p.settle(0.1)
    ok(exported("kept.csv") == "mine" and p.wait_gone("file exists"),
       "pasted text is not an answer", p.screen.text())
    p.press("x" + to_mine + "n")
    ok(p.wait_for("saved kept-1.csv") and exported("kept.csv") == "mine",
       "n keeps the file")
    p.press("x" + to_mine + "y")
    ok(p.wait_for("saved kept.csv") and "Δ final" in exported("kept.csv") and
       len(glob.glob(os.path.join(home, "kept*"))) == 2, "y overwrites the file")
    p.press("x\x15none/x.csv\r")
    ok(p.wait_for("cannot write none/x.csv") and
       p.wait_for("File: none/x.csv"), "a failed export keeps the text")
    p.press("\x1b")
    ok(p.wait_gone("File: none/x.csv") and "against ◆" in p.screen.text(),
       "Esc closes one layer")
    for key, name in (("2", "run.svg"), ("3", "board.csv"),
                      ("5", "logs.txt"), ("7", "pods.csv")):
        p.press(key + "x\r")
        ok(p.wait_for("saved hgym-" + name) and exported("hgym-" + name),
           "hgym-" + name)
    p.press("8x\r")
    ok(p.wait_for("saved hgym-harness.csv") and
       exported("hgym-harness.csv").count("\n") == 1,
       "a list without rows exports its header")
    p.press("6x\x1b[A\r")
    ok(p.wait_for("nothing saved: there is no data yet"),
       "a missing picture is not written")
    p.leave()


def kept():
    """The files in which the user's choices are saved."""
    return glob.glob(os.path.join(home, "**", "screen-*.json"),
                     recursive=True)


def test_chosen():
    """The user's choices are saved for the next start."""
    p = Desk()
    p.wait_for("Runs (30)")
    p.press("1ss jR jXTB\x15pub=1.31,1.32,1.33\r")
    p.wait_for("theme: light")
    p.press("3ss")
    before = p.screen.text().split("\n")[1:5]
    p.leave()
    p = Desk()
    p.wait_for("Runs (30)")
    p.press("g")
    ok(p.until(lambda: p.screen.text().count("│ + ") == 2 and
               "over step" in p.screen.text() and
               "BPB▲" in p.screen.text()),
       "marks, x axis and sort order of Fleet are kept", p.screen.text())
    p.press("3")
    ok(p.until(lambda: p.screen.text().split("\n")[1:5] == before),
       "baseline and sort order of Board are kept", (before, p.screen.text()))
    p.press("T")
    ok(p.wait_for("theme: contrast"), "the theme is kept")
    p.leave()
    for text in ("", "[]", '{"runs": [1, "x"], "orders": {"Fleet": {}, '
                 '"Pods": "no"}, "x_axis": 99, "theme": "x", "baseline": "x"}'):
        for path in kept():
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        p = Desk()
        ok(p.wait_for("Runs (30)"), "a damaged file of choices is ignored")
        p.leave()


def test_words():
    """The help explains columns; a menu sorts by one and explains it."""
    p = Desk()
    p.wait_for("Runs (30)")
    p.press("?FINAL")
    ok(p.wait_for("final score; after ~ a forecast"),
       "? explains a column", p.screen.text())
    p.press("\x15MISSES THE BAR")
    ok(p.wait_for("worse than the track requires, and by how much"),
       "? explains a word of another view", p.screen.text())
    p.press("\x1b?q")
    ok(p.wait_gone("Help: "), "q leaves it", p.screen.text())
    p.press(">SIZE")
    ok(p.wait_for("artifact size in millions of bytes"),
       "the menu of columns explains them", p.screen.text())
    p.press("\x15STATE\r")
    ok(p.wait_for("sorted by STATE, ascending"), "the menu of columns sorts by any of them",
       p.screen.text())
    p.press(">STATE\r")
    ok(p.wait_for("sorted by STATE, descending"), "a second choice reverses the order")
    p.press(">default\r")
    ok(p.wait_for("default order"), "the menu of columns restores the default order")
    p.press("/try7\rg")
    p.send("ySEED\r")
    ok(p.wait_for("copied "), "y copies a cell", p.screen.text())
    p.press("y")
    ok(p.wait_for("all"), "y offers the whole row too")
    p.press("\x1b")
    ok(p.wait_gone("Copy · "), "y asks what to copy, and Esc cancels", p.screen.text())
    p.leave()


def test_search_does_nothing():
    """In each view: a search that is typed, pasted, kept and cancelled starts
    no action."""
    p = Desk("demo", "--speed", "0.001")
    p.wait_for("Runs (12)")
    p.settle(0.1)
    alerts = re.search(r"\d+ alerts", p.screen.text()).group()
    for key in LIST_VIEWS.keys() | {"2", "5"}:
        p.send("\x1b")
        p.settle(0.1)
        p.send(key)
        p.settle(0.1)
        for keys in ("/Smearbqa$x", "\x7f\x7f", "\x1b"):
            p.press(keys)
        p.press("\x1b[200~Smear$abyes\rQ\x1b[201~")
        text = p.screen.text()
        ok(p.poll() is None and alerts in text and "type yes" not in text and
           "wrote" not in text and "ref " not in text.split("\n")[0],
           "a search in view %s starts no action" % key, text)
        for _ in range(3):
            p.send("\x1b")
            p.settle(0.1)
        ok("Runs (12)" in p.screen.text() and "/S" not in p.screen.text(),
           "Esc three times shows Fleet", p.screen.text())
    p.press("!/Smear")
    ok(p.wait_for("no match for Smear"), "/ also searches the events")
    p.press("\x1ba")
    ok(p.wait_for("0 alerts"), "a acknowledges alerts in the list of events")
    ok(not glob.glob(os.path.join(home, "hgym-*.md")), "no file was written")
    p.press("\x1b1")
    p.press("2q")
    ok(p.wait_for("Runs (12)") and p.poll() is None,
       "q returns to Fleet")
    p.press("q")
    ok(p.end() == 0, "q in Fleet ends the program")
    p.close()


def test_escape():
    """After random keys, Esc three times shows Fleet."""
    rng = random.Random(4)
    p = Desk("demo", "--speed", "0.001")
    p.wait_for("Runs (12)")
    keys = [chr(c) for c in range(33, 127) if chr(c) not in "qQxP"] + ["\r"]
    missed = []
    for _ in range(40):
        typed = "".join(rng.choice(keys) for _ in range(12))
        p.send(typed)
        for _ in range(3):
            p.settle(0.05)
            p.send("\x1b")
        p.settle(0.05)
        if not re.search(r"─ Runs \(\d+( shown)?\)", p.screen.text()):
            missed.append((typed, p.screen.text()))
    ok(not missed, "Esc three times shows Fleet", missed[:1])
    p.leave()


def click(p, x, y):
    p.send("\x1b[<0;%d;%dM\x1b[<0;%d;%dm" % (x + 1, y + 1, x + 1, y + 1))
    p.settle(0.1)


def test_lists():
    """Every list: the same keys, and clicks on headers and hints."""
    p = Desk("demo", "--speed", "0.001")
    p.wait_for("Runs (12)")
    for key, title in (("1", "BPB"), ("3", "MEAN"), ("6", "STATE"),
                       ("7", "GPU %"), ("8", "VERIFIED")):
        p.send("\x1b")
        p.settle(0.1)
        p.press(key)
        lines = p.screen.text().split("\n")
        y = next(i for i, line in enumerate(lines) if title in line)
        x = lines[y].index(title) + 1
        click(p, x, y)
        ok(p.wait_for("sorted by %s, " % title), "a click sorts by " +
           title)
        is_least = ", ascending" in p.screen.text()
        click(p, x, y)
        ok(p.wait_for("descending" if is_least else "ascending"),
           "a second click reverses the order")
        p.press("/no:row\r")
        ok(p.wait_for("no match for no:row"), "/ without a match shows no row")
        p.press("jkgG\rs")
        ok(p.poll() is None and p.wait_for("no:row"),
           "keys in an empty list do no harm")
        p.press("\x1b")
        ok(p.wait_gone("no:row"), "Esc shows all rows")
    p.press("1")
    lines = p.screen.text().split("\n")
    y = next(i for i, line in enumerate(lines) if "? help" in line)
    click(p, lines[y].index("reference"), y)
    ok(p.wait_for("◆"), "a hint can be clicked", p.screen.text())
    p.press("?")
    ok(p.wait_for("Help: Fleet") and "mark" in p.screen.text().split(
        "description")[1].split("\n")[1], "the help starts with the current "
                                          "view")
    p.press("compare curves")
    ok(p.wait_for("curves of the marked runs"), "the help can be searched")
    p.press("\x1b")
    p.leave()


def test_advice():
    """A run that is behind is compared with ten runs that have ended."""
    os.makedirs(os.path.join(home, "sweep"))
    for seed in range(10, 21):
        lines = log(0 if seed < 20 else 2, seed)
        if seed == 20:
            lines = lines[:lines.index(next(x for x in lines
                                            if "step:1050/" in x))]
        with open(os.path.join(home, "sweep", "%d.log" % seed), "w",
                  encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
    p = Desk("sweep", width=200, height=60)
    p.until(lambda: "Runs (11)" in p.screen.text() and " 20 " in p.row(0))
    p.press("g")
    ok(p.until(lambda: "0.0155 BPB behind the reference at step 1000; "
               "0 of 5 earlier runs this far behind still finished ahead "
               "(error <= 46 %)" in
               " ".join(p.screen.text().replace("│", " ").split())),
       "a slow run: the outcome of similar runs is shown",
       p.screen.text())
    p.leave()


def write_seed(where, seed, off, upto=2000, ms=30):
    """Write a log with a row every ten steps up to step `upto`. An existing log
    grows."""
    lines = ["seed:%d" % seed]
    for step in range(10, upto + 1, 10):
        loss = 2.8 + 3 / (1 + step / 50) + off
        row = "step:%d/2000 %%s train_time:%dms step_avg:%.2fms" % (
            step, step * ms, ms)
        lines.append(row % ("train_loss:%.4f" % loss))
        if step % 250 == 0:
            lines.append(row % ("val_loss:%.4f val_bpb:%.4f" %
                                (loss, loss / 2.5)))
    if upto == 2000:
        lines.append("final_int8_zlib_roundtrip_exact val_loss:%.8f "
                     "val_bpb:%.8f" % (loss, loss / 2.5))
    path = os.path.join(home, where, "%d.log" % seed)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    before = os.path.getsize(path) if os.path.exists(path) else 0
    with open(path, "a", encoding="utf-8") as out:
        out.write(("\n".join(lines) + "\n")[before:])


def x_end(p):
    """The last number at the x axis of the first chart, or -1."""
    found = re.search(r"└0─[^\n│]*?([\d,]+)─*│", p.screen.text())
    return int(found.group(1).replace(",", "")) if found else -1


def test_reference():
    """A growing run is compared with a reference that has ended, and with the
    reference's seeds."""
    for seed in range(4):
        write_seed("band/ref", seed, 0.02 * seed)
    write_seed("band/two", 1, 0.1)
    write_seed("band/two", 2, 0.2)
    write_seed("band/live", 9, 0.5, 500)
    p = Desk("band")
    p.wait_for("Runs (7)")
    p.press("X/ref\r")
    p.wait_for("(4 shown)")
    p.press("gR\x1b")
    p.press("/live\r")
    p.wait_for("(1 shown)")
    p.press("g2")
    ok(p.wait_for("next seed, 95 % (4 seeds)"), "a band of four seeds",
       p.screen.text())
    ref = int(re.search(r" ref s(\d)", p.screen.text()).group(1))
    loss = 2.8 + 3 / 11
    ok(p.wait_for("reference %.4f val BPB at step 500: this run %.4f, " %
                  ((loss + 0.02 * ref) / 2.5, (loss + 0.5) / 2.5)) and
       p.wait_for("±0.0000 behind"), "a run and its reference at the same "
                                     "step",
       p.screen.text())
    ok(x_end(p) == 2000, "the reference is shown completely",
       p.screen.text())
    p.press("v.")
    ok(p.wait_for("· replay") and 0 < x_end(p) <= 500,
       "the reference is shown up to the step of this run", p.screen.text())
    write_seed("band/live", 9, 0.5, 1000)
    ok(p.wait_for("val BPB at step 1,000: ") and
       p.until(lambda: 500 < x_end(p) <= 1000),
       "the reference grows with the run", p.screen.text())
    p.press(".")
    ok(p.wait_for("other curves are shown whole") and
       p.until(lambda: x_end(p) == 2000),
       "the reference is shown completely again", p.screen.text())
    p.press("4")
    ok(p.wait_for("next seed, 95 % (4 seeds)"), "Compare shows the band",
       p.screen.text())
    p.press("1\x1b/ref\r")
    p.wait_for("(4 shown)")
    p.press("gj2")
    ok(p.wait_for("next seed, 95 % (3 seeds)"),
       "a seed is compared only with the others", p.screen.text())
    p.press("1\x1b/ two\r")
    p.wait_for("(2 shown)")
    p.press("gR\x1b/live\r")
    p.wait_for("(1 shown)")
    p.press("g2")
    ok(p.wait_for("no band (2 seeds)") and
       "next seed," not in p.screen.text(), "two seeds give no band",
       p.screen.text())
    p.leave()


def test_no_gap():
    """Runs without a common point have neither a gap nor an axis for it."""
    for name, lines in (("curve", log(1, 42)), ("score", log(2, 42)[-1:])):
        os.makedirs(os.path.join(home, "apart", name))
        with open(os.path.join(home, "apart", name, "train.log"), "w",
                  encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
    p = Desk("apart")
    p.wait_for("Runs (2)")
    p.press("/curve\r")
    p.wait_for("(1 shown)")
    p.press("gR \x1b")
    p.wait_for("Runs (2)")
    p.press("/score\r")
    p.wait_for("(1 shown)")
    p.press("g 4")
    ok(p.wait_for(("Gap to reference",
                   "no data in common with the reference")),
       "without a common point there is no gap", p.screen.text())
    ok("no row to compare with" in p.screen.text(),
       "without a common point no row is named", p.screen.text())
    p.leave()


def main():
    global home
    with tempfile.TemporaryDirectory() as folder_:
        home = folder_
        write_logs()
        tests = (test_jobs, test_board, test_export, test_chosen, test_words,
                 test_search_does_nothing,
                 test_escape, test_lists, test_advice,
                 test_reference, test_no_gap)
        for test in tests:
            if sys.argv[1:] and test.__name__[5:] not in sys.argv[1:]:
                continue
            for path in kept():
                os.unlink(path)
            test()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
