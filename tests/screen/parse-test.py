#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fleet, Run, Board and Compare show the figures of `parse` and `board` for the
same bytes. The logs are real ones, complete or cut at a random line. They have
ended, or they may still grow, then grow to their end, perhaps within a line,
then are silent, and then some are truncated or replaced by other logs.
There are also logs with one slow step, with a validation from long ago, and
with an evaluation of several stages. A ~ marks provisional figures.

HGYM_CUTS (26): number of real logs; HGYM_SEED (3): which ones."""
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
SHARED = os.path.join(os.path.abspath(SRC), "..", "shared", "corpus")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from clock import Clock  # noqa: E402
from home import home_dirs  # noqa: E402
from tap import finish, ok, skip_all  # noqa: E402
from vt import Program  # noqa: E402

CUTS = int(os.environ.get("HGYM_CUTS", "26"))
SEED = int(os.environ.get("HGYM_SEED", "3"))
LONG_AGO = 10 ** 9
ROW_COLUMNS = {"SEED": "seed", "STEP": "step", "ms/step": "ms",
               "Mtok/s": "tok", "ktok/s/dev": "device", "BPB": "bpb",
               "TRAIN nat": "train", "VAL nat": "val", "METRIC": "metric", "→FINAL": "final",
               "EVAL s": "eval", "SIZE MB": "size"}
BOARD_COLUMNS = {"n": "n", "MEAN": "mean", "ms/step": "ms", "STEPS": "steps",
                 "TRAIN s": "train", "EVAL s": "eval", "BYTES": "size"}
COMPARE_COLUMNS = {"STEP": "step", "ms/step": "ms", "FINAL BPB": "final",
                   "Δ final": "delta"}
MARKED = 6  # runs that are compared
NAME = re.compile(r"(?<![a-z0-9])([a-z]{2}\d+)(?![a-z0-9])")


def logs():
    found = []
    for folder in ("logs", "nanogpt/logs", "trainers"):
        for end in ("log", "txt"):
            found += glob.glob("%s/%s/**/*.%s" % (SHARED, folder, end),
                               recursive=True)
    return sorted(found)


def hard_logs():
    """For each folder: the lines of a log whose figures were once shown wrongly,
    and how many of them are written before the log grows."""
    golf = ["seed:42", "train_batch_tokens:1000 train_seq_len:10 "
            "iterations:5000"]
    rows = ["step:%d/5000 train_loss:%.4f train_time:%dms step_avg:100.00ms" %
            (step, 5 - step * 5e-4, step * 100)
            for step in range(500, 5001, 500)]
    val = ["step:%d/5000 val_loss:%.4f val_bpb:%.4f train_time:%dms "
           "step_avg:100.00ms" % (step, 6 - step * 1e-3, 3.4877 - step * 5e-4,
                                  step * 100) for step in (0, 5000)]
    slow = ["step %05d/21400 (%.2f%%) | loss: %.6f | lrm: 1.00 | dt: %d.00ms "
            "| tok/sec: %d | mfu: 40.00" %
            (i, i / 214, 5 - i * 0.001, ms, 524288 / ms * 1000)
            for i in range(500) for ms in [30000 if i == 400 else 477]]
    stages = ["stopping_early: wallclock_cap train_time: 500000ms "
              "step: 5000/5000",
              "final_int6_sliding_window val_loss:2.0 val_bpb:1.1217 "
              "stride:64 eval_time:70000ms"] + [
        "  ttt_chunk [%d/1389] bpb=%.6f time=%.1fs" %
        (i, 1.2 - i * 1e-4, i / 10 + 0.5) for i in range(1, 1389, 100)]
    return {
        "zs1": (["Total batch size 524,288 => gradient accumulation steps: 1"]
                + slow, 402),
        "zo2": (golf + val[:1] + rows + val[1:], 9),
        "ze3": (golf + val[:1] + rows + val[1:] + stages, len(rows) + 9),
    }


def write_log(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "ab") as out:
        out.writelines(lines)


def cut(rng, source):
    """The lines of a log that exist at some moment, and those that follow; one
    log in four is complete."""
    with open(source, "rb") as log:
        lines = log.readlines()
    n = rng.randrange(1, len(lines) + 1) if rng.randrange(4) else len(lines)
    return lines[:n], lines[n:]


def parsed(paths, home):
    """The rows of `parse` by folder, for logs with exactly one run."""
    out = subprocess.run([TUI, "parse", "--json"] + paths, text=True,
                         env=dict(os.environ, **home_dirs(home)),
                         capture_output=True).stdout
    rows = {}
    for row in json.loads("[%s]" % ",".join(out.split("\n")[:-1])):
        name = os.path.basename(os.path.dirname(row["file"]))
        rows[name] = None if name in rows else row
    return {name: row for name, row in rows.items() if row}


def table(screen, columns):
    """The cells of each row, by folder. A cell ends where its title ends."""
    rows, ends = {}, {}
    for line in screen.text().split("\n"):
        if all(title in line for title in list(columns)[:2]):
            ends = {key: line.index(title) + len(title)
                    for title, key in columns.items() if title in line}
            continue
        name = NAME.search(line)
        is_alert = re.match(r" \d\d:\d\d:\d\d ", line)
        if ends and name and not is_alert and name.group(1) not in rows:
            rows[name.group(1)] = {key: line[:end].split()[-1]
                                   for key, end in ends.items()}
    return rows


def is_number(cell, value, decimals, part=1):
    """Does a cell show this value? If value is None, the cell must be empty or
    missing."""
    cell = (cell or "—").rstrip("!").replace("−", "-")
    if cell == "—" or value is None:
        return cell == "—" and value is None
    if cell[-1] in "kM":
        part *= 1e3 if cell[-1] == "k" else 1e6
        decimals = len(cell.partition(".")[2]) - (cell[-1] == "k")
        cell = cell[:-1]
    try:
        number = float(cell.replace(",", ""))
    except ValueError:
        return False
    return abs(number - value / part) <= 0.51 * 10 ** -decimals


def first(*values):
    return next((value for value in values if value is not None), None)


def pace(row):
    """Step time, rate and training time: from the mean of all steps, else from
    the median of single steps."""
    tok_s, batch = row["tok_s_last"], row["train_batch_tokens"]
    median = row["step_ms_median"]
    # Where single steps are printed, the rate belongs to the last step.
    counts_all = median is None and row["tok_s_interval"] is not None
    mean = first(row["ms_per_step"], batch / tok_s * 1000
                 if batch and tok_s and counts_all else None,
                 row["step_avg_printed_ms"])
    ms = first(mean, median)
    rate = batch / ms * 1000 if batch and ms else row["tok_s_interval"]
    steps = row["steps"]
    train = first(row["train_ms"],
                  None if mean is None or steps is None else steps * mean)
    return ms, rate, train


def own_loss(row):
    """The series shown as loss of a run without a known loss."""
    if first(row["last_train_loss"], row["last_val_loss"],
             row["last_val_bpb"]) is not None:
        return None
    own = [m for m in row["metrics"] if not m.get("metric") and m["points"]]
    named = [m for m in own if "loss" in m["name"].lower()] or own
    return named[0]["last"] if named else None


def fleet_differences(row, cells, grows):
    score, last = row["final_bpb"], row["last_val_bpb"]
    ms, rate, _ = pace(row)
    wrong = []
    # "3.4877@0" is a value of an earlier step.
    cells = {key: cell.split("@")[0] for key, cell in cells.items()}
    # A log that may grow may have further stages, so its score is not final.
    is_open = grows and cells.get("bpb", "—")[0] == "~"
    if cells.get("final", "—")[0] != "~" and not is_open and not is_number(
            cells.get("final"), score, 4):
        wrong.append("final %s" % score)
    if cells.get("bpb", "—")[0] != "~" and not is_number(
            cells.get("bpb"), first(score, last), 4):
        wrong.append("bpb %s or %s" % (score, last))
    if cells.get("bpb", "—")[0] == "~" and not grows:
        wrong.append("it is over: no ~")
    own = own_loss(row)
    if own is not None:
        own = float("%.5g" % own)
    for key, value, decimals, part in (
            ("seed", row["seed"], 0, 1), ("step", row["steps"], 0, 1),
            ("ms", ms, 1, 1), ("tok", rate, 2, 1e6),
            ("device", row["tok_s_per_device_last"], 2, 1e3),
            ("train", row["last_train_loss"], 4, 1),
            ("val", row["last_val_loss"], 4, 1),
            ("metric", own, 9, 1),
            ("eval", first(row["eval_total_s"], row["eval_s"]), 1, 1),
            ("size", row["artifact_bytes"], 3, 1e6)):
        if grows and key == "eval" and cells.get(key, "—")[0] == "~":
            continue
        if key in ("train", "val") and key not in cells:
            continue
        if not is_number(cells.get(key), value, decimals, part):
            wrong.append("%s %s" % (key, value))
    return wrong


def fleet_bad(want, got, grows):
    """The runs that are missing or shown with other figures than parsed."""
    bad = []
    for name, row in want.items():
        # A growing log may not contain a run yet.
        if name not in got:
            bad += [] if grows and row["steps"] is None else [(name, "none")]
            continue
        wrong = fleet_differences(row, got[name], grows)
        if wrong:
            bad.append((name, wrong, got[name]))
    return bad


# Facts of a run: label, key in the output of `parse`, decimals, divisor.
FACTS = (("seed", "seed", 0, 1), ("GPUs", "n_gpus", 0, 1),
         ("step", "steps", 0, 1), ("of", "planned_steps", 0, 1),
         ("train", "train", 1, 1000), ("mean", "ms", 2, 1),
         ("batch", "train_batch_tokens", 0, 1),
         ("train loss", "last_train_loss", 4, 1),
         ("val loss", "last_val_loss", 4, 1),
         ("val BPB", "last_val_bpb", 4, 1),
         ("pre-quant", "prequant_bpb", 6, 1),
         ("quantised", "quant_bpb", 6, 1), ("sliding", "sliding_bpb", 6, 1),
         ("TTT", "ttt_bpb", 6, 1), ("FINAL", "final_bpb", 6, 1),
         ("eval", "eval_s", 1, 1), ("artifact", "artifact_bytes", 0, 1),
         ("peak memory", "peak_mem_mib", 0, 1))


def run_bad(screen, name, row, grows):
    """The facts above the charts of a run that differ from `parse`."""
    lines = screen.text().split("\n")
    facts = [fact for line in lines[2:6]
             for fact in line.strip().split("   ")]
    ms, _, train = pace(row)
    known = dict(row, ms=ms, train=train)
    if ms is not None and ms == row["step_ms_median"]:
        known["ms"] = None
    wrong = []
    for label, key, decimals, part in FACTS:
        told = [fact[len(label) + 1:].split()[0] for fact in facts
                if re.match(re.escape(label) + r" [-−~\d]", fact)]
        if grows and told and told[0][0] == "~":
            continue
        # Further stages may follow in a log that may grow.
        if label == "FINAL" and grows and not told:
            continue
        if not is_number(told[0] if told else None, known[key], decimals,
                         part):
            wrong.append((label, told, known[key]))
    return [(name, wrong, facts)] if wrong else []


def runs_bad(p, want, grows):
    """Check the facts of all runs in `want`, in the order of J. Returns the runs
    that were seen, and the differences."""
    seen, bad = set(), []
    n = int(re.search(r"Runs \((\d+)\)", p.screen.text()).group(1))
    p.send("2" + "K" * n)
    p.wait_for(" pod here")
    for _ in range(n):
        p.settle(0.1)
        name = NAME.search(p.screen.text().split("\n")[1])
        if name and name.group(1) in want:
            seen.add(name.group(1))
            bad += run_bad(p.screen, name.group(1), want[name.group(1)],
                           grows)
        p.send("J")
    return seen, bad


def ranked(paths, home):
    out = subprocess.run([TUI, "board", "--json"] + paths, text=True,
                         env=dict(os.environ, **home_dirs(home)),
                         capture_output=True).stdout
    groups = [json.loads(line) for line in out.split("\n") if line]
    return {os.path.basename(group["group"]): group for group in groups
            if "means" in group}


def board_bad(groups, got):
    bad = []
    for name, group in groups.items():
        means = group["means"]
        train = means.get("train_ms")
        wrong = [(key, value) for key, value, decimals, part in (
            ("n", group["n"], 0, 1),
            ("mean", group["mean_" + group["unit"]], 5, 1),
            ("ms", means.get("ms_per_step"), 2, 1),
            ("steps", means.get("steps"), 0, 1), ("train", train, 1, 1000),
            ("eval", first(means.get("eval_total_s"), means.get("eval_s")), 1,
             1),
            ("size", group["max_artifact_bytes"], 0, 1))
            if not is_number(got.get(name, {}).get(key), value, decimals,
                             part)]
        if wrong:
            bad.append((name, wrong, got.get(name)))
    return bad


def compare_bad(want, got, base):
    bad = []
    for name, cells in got.items():
        row = want.get(name)
        if row is None or base not in want:
            continue
        mine, other = row["final_bpb"], want[base]["final_bpb"]
        delta = None if mine is None or other is None or name == base \
            else mine - other
        wrong = [(key, value) for key, value, decimals in (
            ("step", row["steps"], 0), ("ms", pace(row)[0], 2),
            ("final", mine, 6), ("delta", delta, 6))
            if cells.get(key, "—")[0] != "~" and
            (key != "delta" or cells.get("final", "—")[0] != "~") and
            not is_number(cells.get(key), value, decimals)]
        if wrong:
            bad.append((name, wrong, cells))
    return bad


def settled(p, check, what):
    """Wait until there are no differences; return those that remain."""
    try:
        p.until(lambda: not check(), what=what)
    except Exception:  # pylint: disable=broad-except
        pass
    return "\n".join(map(str, check()))


def write_logs(rng, sources, folder):
    """Write all logs as they are at some moment; return what follows."""
    rest = {}
    for i in range(CUTS):
        path = "%s/%s%s%d/x.log" % (folder, chr(97 + i % 26),
                                    chr(97 + i * 7 % 26), i)
        lines, rest[path] = cut(rng, rng.choice(sources))
        write_log(path, lines)
    for name, (lines, n) in hard_logs().items():
        path = "%s/%s/x.log" % (folder, name)
        lines = [line.encode() + b"\n" for line in lines]
        rest[path] = lines[n:]
        write_log(path, lines[:n])
    return rest


def append_torn(rng, path, lines):
    """Append all lines but the last one, and then a part of that one. Return
    what is missing."""
    torn = lines[-1] if lines else b""
    n = rng.randrange(len(torn)) if torn else 0
    write_log(path, lines[:-1] + [torn[:n]])
    return torn[n:]


def parsed_lines(paths, home):
    """The rows of `parse` for the complete lines of these logs, since the
    screen waits for the end of a line."""
    copies = []
    for path in paths:
        with open(path, "rb") as log:
            data = log.read()
        copies.append("%s/lines/%s/x.log" % (
            home, os.path.basename(os.path.dirname(path))))
        os.makedirs(os.path.dirname(copies[-1]), exist_ok=True)
        with open(copies[-1], "wb") as out:
            out.write(data[:data.rfind(b"\n") + 1])
    return parsed(copies, home)


def replace_logs(rng, sources, paths):
    """Truncate some logs, overwrite some, and rename another log over some."""
    for path in paths:
        how = rng.randrange(4)
        lines, _ = cut(rng, rng.choice(sources))
        if how == 0:
            os.truncate(path, os.path.getsize(path) // rng.randrange(2, 9))
        elif how == 1:
            os.truncate(path, 0)
            write_log(path, lines)
        elif how == 2:
            write_log(path + ".new", lines)
            os.rename(path + ".new", path)


def show(rng, sources, home, grows):
    rest = write_logs(rng, sources, "%s/%d" % (home, grows))
    paths = list(rest)
    when = "they may grow" if grows else "nothing grows"
    for path in paths:
        if not grows:
            os.utime(path, (LONG_AGO, LONG_AGO))
    want = parsed(paths, home)
    ok(len(want) > CUTS / 2, "there are runs", len(want))
    clock = Clock("%s/clock-%d" % (home, grows))
    p = Program([TUI] + paths, 200, 3 * CUTS + 100,
                dict(home_dirs(home), **clock.env), home)
    p.wait_for("Runs (")
    bad = settled(p, lambda: fleet_bad(want, table(p.screen, ROW_COLUMNS),
                                       grows), "the figures of parse")
    ok(not bad, "%s: the fleet shows the figures of parse" % when, bad)
    # Append a third of the remaining lines, then half, both ending within a
    # line, then the rest.
    for part in (3, 2, 1) if grows else ():
        for path in paths:
            n = len(rest[path]) // part
            now, rest[path] = rest[path][:n], rest[path][n:]
            if part > 1:
                rest[path].insert(0, append_torn(rng, path, now))
            else:
                write_log(path, now)
        want = parsed_lines(paths, home)
        bad = settled(p, lambda: fleet_bad(want, table(p.screen, ROW_COLUMNS),
                                           grows), "the figures of parse")
        ok(not bad, "%s: the fleet follows parse after the logs have grown" % when, bad)
    seen, bad = runs_bad(p, want, grows)
    ok(not bad and len(seen) > CUTS / 2,
       "%s: Run shows the numbers of parse" % when, "\n".join(map(str, bad)) or seen)
    if not grows:
        groups = ranked(paths, home)
        p.send("3")
        p.wait_for("RECIPE")
        bad = settled(p, lambda: board_bad(
            groups, table(p.screen, BOARD_COLUMNS)), "the numbers of board")
        ok(groups and not bad, "Board shows the numbers of board", bad)
    p.send("1")
    p.wait_for("Runs (")
    p.send("g")
    for _ in range(MARKED):
        p.send(" j")
    p.send("gR4")
    p.wait_for("◆")
    p.settle(0.2)
    got = table(p.screen, COMPARE_COLUMNS)
    base = [NAME.search(line).group(1) for line
            in p.screen.text().split("\n") if "◆" in line and
            NAME.search(line)]
    bad = compare_bad(want, got, base[0] if base else None)
    ok(base and len(got) >= MARKED - 1 and not bad,
       "%s: Compare shows the numbers of board" % when,
       "\n".join(map(str, bad)) or p.screen.text())
    if grows:
        p.send("1")
        p.wait_for("Runs (")
        clock.forward(3600, step=600)
        ok(p.until(lambda: re.search(r"silent \d+ min", p.screen.text())),
           "an hour later: runs without a new line are silent",
           p.screen.text())
        bad = settled(p, lambda: fleet_bad(want, table(p.screen, ROW_COLUMNS),
                                           grows), "the figures of parse")
        ok(not bad, "an hour later: they keep the figures that they printed",
           bad)
        replace_logs(rng, sources, paths)
        want = parsed_lines(paths, home)
        bad = settled(p, lambda: fleet_bad(want, table(p.screen, ROW_COLUMNS),
                                           grows), "the figures of parse")
        ok(not bad, "truncated and replaced: they have the figures of the new "
           "content", bad)
    p.send("Q")
    p.end()
    p.close()


def check_no_figures(home):
    """A log that the user named is listed even without a row, and the Run view
    offers the next step."""
    path = os.path.join(home, "prose.log")
    with open(path, "w") as log:
        log.write("no row\n" * 3)
    os.utime(path, (LONG_AGO, LONG_AGO))
    p = Program([TUI, path], 120, 36, home_dirs(home), home)
    ok(p.wait_for("no figures, 3 lines"), "a log without figures has a row",
       p.screen.text())
    p.send("2")
    ok(p.wait_for("learn its format"), "its row offers to learn the format",
       p.screen.text())
    p.close()


def main():
    sources = logs()
    if not sources:
        return skip_all(
            "needs ../shared/corpus, which is not part of the repository")
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as home:
        for grows in (False, True):
            show(rng, sources, home, grows)
        check_no_figures(home)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
