#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fleet shows no figure that `parse` does not have of the same bytes: real
logs, whole and cut at random lines, as they lie there and as they would grow.
What is provisional is marked.

HGYM_CUTS (40): how many of them; HGYM_SEED (3): which."""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
SHARED = os.path.join(os.path.abspath(SRC), "..", "shared", "corpus")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok, skip_all  # noqa: E402
from vt import Program  # noqa: E402

CUTS = int(os.environ.get("HGYM_CUTS", "40"))
SEED = int(os.environ.get("HGYM_SEED", "3"))
LONG_AGO = 10 ** 9
COLUMNS = {"RUN": "run", "SEED": "seed", "STEP": "step", "BPB": "bpb",
           "LOSS nat": "loss", "→FINAL": "final", "EVAL s": "eval",
           "SIZE MB": "size"}


def logs():
    found = []
    for folder in ("logs", "nanogpt/logs", "trainers"):
        for end in ("log", "txt"):
            found += glob.glob("%s/%s/**/*.%s" % (SHARED, folder, end),
                               recursive=True)
    return sorted(found)


def cut(rng, source, path):
    """A log as it was at some moment; one in four is whole."""
    with open(source, "rb") as log:
        lines = log.readlines()
    if rng.randrange(4):
        lines = lines[:rng.randrange(1, len(lines) + 1)]
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as out:
        out.writelines(lines)


def parsed(paths, home):
    """By folder what `parse` says; those with one run alone."""
    out = subprocess.run([TUI, "parse", "--json"] + paths, text=True,
                         env=dict(os.environ, **home_dirs(home)),
                         capture_output=True).stdout
    rows = {}
    for row in json.loads("[%s]" % ",".join(out.split("\n")[:-1])):
        name = os.path.basename(os.path.dirname(row["file"]))
        rows[name] = None if name in rows else row
    return {name: row for name, row in rows.items() if row}


def shown(screen):
    """By folder the cells of its row; a column that no row has is "—"."""
    rows, ends = {}, {}
    for line in screen.text().split("\n"):
        if " RUN " in line:
            ends = {key: line.index(title) + len(title)
                    for title, key in COLUMNS.items() if title in line}
        elif ends and line.startswith("│") and line[6:7].isalpha():
            cells = {key: line[:end].split()[-1]
                     for key, end in ends.items() if key != "run"}
            name = line[ends["run"] - 3:].split()[0].split("/")[0]
            rows[name] = dict(dict.fromkeys(COLUMNS.values(), "—"), **cells)
        elif rows:
            break
    return rows


def is_number(cell, value, decimals, part=1):
    if cell == "—" or value is None:
        return cell == "—" and value is None
    if cell.endswith("k"):
        cell, part, decimals = cell[:-1], 1000 * part, 1
    try:
        number = float(cell.replace(",", ""))
    except ValueError:
        return False
    return abs(number - value / part) <= 0.51 * 10 ** -decimals


def differences(row, cells, grows):
    final, last = row["final_bpb"], row["last_val_bpb"]
    loss = row["last_val_loss"]
    if loss is None:
        loss = row["last_train_loss"]
    evals = row["eval_total_s"]
    if evals is None:
        evals = row["eval_s"]
    wrong = []
    if cells["final"][0] != "~" and not is_number(cells["final"], final, 4):
        wrong.append("final %s" % final)
    if cells["bpb"][0] != "~" and not is_number(
            cells["bpb"], last if final is None else final, 4):
        wrong.append("bpb %s or %s" % (final, last))
    if cells["bpb"][0] == "~" and not grows:
        wrong.append("it is over: no ~")
    for key, value, decimals, part in (
            ("seed", row["seed"], 0, 1), ("step", row["steps"], 0, 1),
            ("loss", loss, 4, 1), ("eval", evals, 1, 1),
            ("size", row["artifact_bytes"], 3, 1e6)):
        if grows and key == "eval" and cells[key][0] == "~":
            continue
        if not is_number(cells[key], value, decimals, part):
            wrong.append("%s %s" % (key, value))
    return wrong


def compare(want, got, grows):
    """What is shown otherwise than it is parsed."""
    bad = []
    for name, row in want.items():
        # One that grows may be no run yet.
        if name not in got:
            bad += [] if grows and row["steps"] is None else [(name, "none")]
            continue
        wrong = differences(row, got[name], grows)
        if wrong:
            bad.append((name, wrong, got[name]))
    return bad


def show(rng, sources, home, grows):
    paths = ["%s/%s%d/x.log" % (home, "n" if grows else "o", i)
             for i in range(CUTS)]
    for path in paths:
        cut(rng, rng.choice(sources), path)
        if not grows:
            os.utime(path, (LONG_AGO, LONG_AGO))
    want = parsed(paths, home)
    ok(len(want) > CUTS / 2, "there are runs", len(want))
    p = Program([TUI] + paths, 200, 3 * CUTS + 90, home_dirs(home), home)
    p.wait_for("Runs (")
    p.until(lambda: not compare(want, shown(p.screen), grows),
            what="the figures of parse")
    bad = compare(want, shown(p.screen), grows)
    ok(not bad, "%s: the fleet shows what parse has" %
       ("they may grow" if grows else "nothing grows"),
       "\n".join(map(str, bad)))
    p.send("Q")
    p.end()
    p.close()


def main():
    sources = logs()
    if not sources:
        return skip_all("no real logs here")
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as home:
        for grows in (False, True):
            show(rng, sources, home, grows)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
