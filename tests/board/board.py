#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""board, run by a user: tables typed in, logs, and bad input.  If the corpus
of real logs is available, every published group is reproduced."""
import csv
import io
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("HGYM_TUI", "./hgym-tui")
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

SHARED = os.environ.get("HGYM_SHARED", os.path.join(SRC, "..", "shared"))
PR2014 = """seed,steps,ms_per_step,train_ms,final_bpb,eval_s,artifact_bytes
42,4888,121.9,596025,1.05740567,572.4,15981945
314,4882,122.1,595976,1.05730104,489.9,15984387
0,4884,122.0,596022,1.05807084,493.5,15981122
"""
PR1855 = "PR#1855=1.05989454,1.06124613,1.06208695"
K = "2.1883706733"
WORDS = "BEATS BAR, NOT SHOWN (p=0.019, need ~4 seeds)"
home = tempfile.mkdtemp()


def near(got, want, tolerance, name):
    ok(got is not None and abs(got - want) <= tolerance, name, (got, want))


def board(*args, stdin=None, command="board"):
    """Return (exit status, stdout, stderr) of `hgym-tui board ARGS`."""
    env = home_env(home)
    env.pop("COLUMNS", None)
    run = subprocess.run([PROGRAM, command, *args], input=stdin, env=env,
                         capture_output=True, text=True, timeout=PATIENCE_S)
    return run.returncode, run.stdout, run.stderr


def groups(*args, stdin=None):
    """Return the groups of `board --json ARGS`."""
    status, out, err = board("--json", *args, stdin=stdin)
    if status != 0:
        ok(False, "exit 0 of " + " ".join(args), (status, err))
    return [json.loads(line) for line in out.splitlines()]


def write(name, text):
    path = os.path.join(home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        stream.write(text)
    return path


def golf_log(seed, bpb, step_ms=120, steps=5000, size=15900000, status=True):
    """A short log in the most common format of the challenge."""
    loss = bpb * 2.1883706733
    lines = ["seed:%d" % seed, "train_batch_tokens:786432"]
    for step in range(1000, steps + status, 1000):
        lines.append("%d/%d train_loss: 2.4 train_time: %.1fm tok/s: 6500000"
                     % (step, steps, step * step_ms / 60000))
        lines.append("%d/%d val_loss: %.4f val_bpb: %.4f"
                     % (step, steps, loss + .05, bpb + .02))
    if status:
        lines += ["stopping_early: wallclock_cap train_time: %dms step: "
                  "%d/%d" % (steps * step_ms, steps, steps),
                  "Total submission size quantized+brotli: %d bytes" % size,
                  "quantized val_loss:%.8f val_bpb:%.8f eval_time:9000ms"
                  % (loss, bpb)]
    return "\n".join(lines) + "\n"


def check_published(made, name):
    g = made[0]
    a, b = g["tests"]["A"], g["tests"]["B"]
    near(g["mean_bpb"], 1.0575925167, 1e-10, name + ": mean")
    near(g["sd_population_bpb"], 0.0003409123, 1e-10, name + ": population sd")
    near(g["sd_sample_bpb"], 0.0004175306, 1e-10, name + ": sample sd")
    near(g["se_bpb"], 0.0002410614, 1e-10, name + ": standard error")
    near(g["delta_bpb"], -0.0034833567, 1e-10, name + ": delta in BPB")
    near(g["delta_nats"], -0.0076228756, 1e-10, name + ": delta in nats")
    near(g["bar_bpb"], 1.0587910685, 1e-10, name + ": bar")
    near(a["t"], -4.9719776, 5e-8, name + ": t of A")
    near(a["p_one_sided"], 0.01907608, 5e-9, name + ": p of A")
    near(b["t"], -1.7559195, 5e-8, name + ": t of B")
    near(b["df"], 2.5586448, 5e-8, name + ": df of B")
    near(b["p_one_sided"], 0.09647153, 5e-9, name + ": p of B")
    ok(g["verdict"] == WORDS, name + ": words", g["verdict"])
    ok(g["seeds_needed"] == 4, name + ": seeds needed", g["seeds_needed"])


def edits(a, b):
    """The smallest number of removed and added lines that turn a into b."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        before, row = row, [i + 1]
        for k, y in enumerate(b):
            row.append(before[k] if x == y else
                       1 + min(before[k + 1], row[k]))
    return row[-1]


def patched(a, lines):
    """Apply a unified diff to a; every line of it must fit."""
    out, at = [], 0
    for line in lines:
        if line[0] == "@":
            where, n = map(int, re.match(r"@@ -(\d+),(\d+)", line).groups())
            where -= n > 0
            out += a[at:where]
            at = where
        elif line[0] == "+":
            out.append(line[1:])
        elif a[at] != line[1:]:
            return None
        else:
            out += [line[1:]] if line[0] == " " else []
            at += 1
    return out + a[at:]


def test_diff():
    dice = random.Random(7)
    head, rule = ["import os", "import sys"], ["=" * 100]

    def printed(name, script, seed, extra=""):
        text = golf_log(seed, 1.06).split("\n")
        text[1:1] = ["Hyperparameters:", "  matrix_lr: 0.0%d" % seed,
                     "  betas: (0.9, 0.95)", extra + "\x1b[31m"]
        return write(name, "\n".join(script + text))
    for n in (0, 1, 30, 200):
        a = head + ["x = %d" % dice.randrange(20) for _ in range(n)]
        b = list(a)
        for _ in range(n // 6 + 1):
            at = dice.randrange(2, len(b) + 1)
            b[at:at + dice.randrange(3)] = ["y"] * dice.randrange(3)
        a, b = a + rule, b + rule
        one, two = printed("d/a.log", a, 3), printed("d/b.log", b, 4)
        status, out, err = board(one, two, command="diff")
        made = out.splitlines()
        ok(patched(a, made[3:]) == b, "%d lines: applying the diff to a gives b" % n,
           out)
        ok(sum(line[0] in "+-" for line in made[3:]) == edits(a, b),
           "%d lines: the diff is the shortest one" % n, out)
        ok([line.split() for line in made[1:3]] == [
            ["seed", "3", "4"], ["matrix_lr", "0.03", "0.04"]] and
           "2 settings differ" in made[0], "what differs", out)
    bare = printed("d/c.log", [], 3, "betas: (0.9, 0.99) ")
    status, out, err = board(one, bare, command="diff")
    ok(out.startswith("only one of the logs contains its source, "
                      "1 setting differs"),
       "the later value of a setting counts; no diff without source", out)
    status, out, err = board(bare, bare, command="diff")
    ok(out == "neither log contains its source, 0 settings differ\n",
       "two logs without source", out)
    two_runs = write("d/f.log", open(bare).read() + open(two).read())
    status, out, err = board(two_runs, two, command="diff")
    ok(out == "the same source, 0 settings differ\n",
       "diff uses the last run of a log", out)
    empty = write("d/e.log", "hello\n")
    status, out, err = board(one, empty, command="diff")
    ok(status != 0 and "neither settings nor a training script" in err,
       "diff reports that there is nothing to compare", err)


def test_published():
    table = write("pr2014.csv", PR2014)
    against = ["--baseline", PR1855, "--nats-per-bpb", K]
    check_published(groups(table, *against), "csv")
    priced = groups(table, "--usd-per-hour", "20", *against)[0]
    hours = [(t / 1e3 + e) / 3600 for t, e in
             ((596025, 572.4), (595976, 489.9), (596022, 493.5))]
    near(priced["rows"][1]["cost_usd"], 20 * hours[1], 1e-9, "cost of a run")
    near(priced["usd_planned"], 2 * 20 * sum(hours) / 3, 1e-9,
         "price of the seeds that are still needed")
    ok(priced["seeds_planned"] == 5, "seeds for power 80 %", priced)
    plain = board("--usd-per-hour", "20", *against, table)[1]
    ok("5 seeds, if mean and spread stay the same; 2 more cost about $12.38 "
       "($6.19 each)" in " ".join(plain.split()), "the missing seeds and their cost are printed", plain)
    ok(groups(table, *against)[0]["usd_planned"] is None,
       "without a price no cost is shown")
    rows = list(csv.DictReader(io.StringIO(PR2014)))
    lines = "\n".join(json.dumps({k: float(v) for k, v in row.items()})
                      for row in rows)
    check_published(groups(write("rows.jsonl", lines), *against), "jsonl")
    check_published(groups("-", *against, stdin=lines), "standard input")
    check_published(groups("-", *against, stdin=PR2014), "csv on stdin")
    check_published(groups(
        "--values", "mine=1.05740567,1.05730104,1.05807084", *against),
        "values")
    base = write("pr1855.csv", "seed,final_bpb\n42,1.05989454\n"
                 "0,1.06124613\n1234,1.06208695\n")
    made = groups(table, "--baseline", base, "--nats-per-bpb", K)
    check_published(made, "baseline from a file")
    pairs = {p["seed"]: p["delta_bpb"] for p in made[0]["common_seeds"]}
    near(pairs.get(42), -0.00248887, 1e-10, "seed 42 in both")
    near(pairs.get(0), -0.00317529, 1e-10, "seed 0 in both")
    base = write("records/1855/submission.json", json.dumps(
        {"name": "PR#1855", "author": "x", "val_bpb": 1.06107587,
         "seed_results": {
             "42": {"val_bpb": 1.05989454, "val_loss": 2.31944212},
             "0": {"val_bpb": 1.06124613, "val_loss": 2.32239991},
             "1234": {"val_bpb": 1.06208695, "val_loss": 2.32423994}}},
        indent=2))
    made = groups(table, "--baseline", base)
    near(made[0]["nats_per_bpb"], 2.1883706733, 1e-8, "nats per BPB from submission.json")
    near(made[0]["bar_bpb"], 1.0587910685, 1e-10, "the bar from submission.json")
    ok(made[0]["verdict"] == WORDS and len(made[0]["common_seeds"]) == 2,
       "a record's submission.json can be the baseline", made[0]["verdict"])
    ok(made[0]["nats_per_bpb_source"].startswith("the baseline's"),
       "nats per BPB is attributed to it", made[0]["nats_per_bpb_source"])
    base = write("base.json", '{"name": "b", "bpb": [1.05989454, 1.06124613, '
                 '1.06208695]}')
    check_published(groups(table, "--baseline", base, "--nats-per-bpb", K),
                    "a baseline file as the configuration has it")
    zero = write("zero.csv", "seed,final_bpb\n1,0\n2,1.1\n")
    status, out, err = board(zero)
    ok("zero.csv:2: final_bpb: not above 0" in err, "a BPB of 0 is an error", err)
    form = write("template/submission.json", json.dumps(
        {"name": "t", "seed_results": {"0": {"val_bpb": 1.1},
                                       "1": {"val_bpb": 0}}}))
    made = groups(form)
    ok(made[0]["n"] == 1, "a 0 left from a template is not a score", made[0])
    both = write("both.csv", "group,seed,final_bpb\na,1,1.05740567\n"
                 "a,2,1.05730104\na,3,1.05807084\nb,1,1.05989454\n"
                 "b,2,1.06124613\nb,3,1.06208695\n")
    check_published(groups(both, "--baseline", "b", "--nats-per-bpb", K),
                    "baseline among the groups")
    status, out, _ = board(table, *against)
    ok(status == 0 and WORDS in out and "1.05759252" in out and
       "—" not in out.split("PR#1855")[0], "table", out)
    ok("\033" not in out, "no escapes if stdout is not a terminal", out)
    status, out, _ = board(table, "--md", *against)
    ok("| 42 | 4,888 | 121.90 |" in out and "**1.05759252**" in out and
       "**" + WORDS + "**" in out, "Markdown", out)
    status, out, _ = board(table, "--csv", *against)
    rows = list(csv.DictReader(io.StringIO(out)))
    ok([r["kind"] for r in rows] == ["run"] * 3 + ["group"] + ["run"] * 3 +
       ["group"] and rows[3]["verdict"] == WORDS, "CSV", out)
    status, _, err = board(table, "--fail-on", "not-shown", *against)
    ok(status == 3 and WORDS in err, "--fail-on not-shown exits 3", err)
    status, _, err = board(table, "--fail-on", "invalid,below", *against)
    ok(status == 0 and err == "", "--fail-on with a condition that is not met exits 0", err)


def test_logs():
    for seed, bpb in ((1, 1.05), (2, 1.051), (10, 1.0521)):
        write("runs/mine/train_seed%d.log" % seed, golf_log(seed, bpb))
    shutil.copy(home + "/runs/mine/train_seed1.log",
                home + "/runs/mine/train.log")
    write("runs/mine/notes.txt", "not a run\n")
    write("runs/mine/.hidden.log", golf_log(7, 2))
    write("runs/theirs/a.log", golf_log(1, 1.06))
    write("runs/theirs/b.log", golf_log(2, 1.061))
    write("runs/theirs/c.log", golf_log(3, 1.0615))
    write("runs/theirs/d.log", golf_log(4, 1.0, status=False))
    write("runs/fat/a.log", golf_log(1, 1.04, size=16000001))
    made = {g["title"]: g for g in groups(home + "/runs", "--baseline",
                                          "theirs")}
    ok([g["title"] for g in groups(home + "/runs")] ==
       ["mine", "theirs", "fat"],
       "a better mean that exceeds a cap ranks after those within it")
    mine = made["mine"]
    ok(mine["n"] == 3 and mine["n_copies"] == 1 and mine["n_rows"] == 4,
       "a copy counts once", mine)
    ok([r["file"].rsplit("/", 1)[1] for r in mine["rows"]] ==
       ["train.log", "train_seed1.log", "train_seed2.log",
        "train_seed10.log"], "files in natural order", mine["rows"])
    near(mine["nats_per_bpb"], 2.1883706733, 1e-7, "nats per BPB from the logs")
    ok(mine["nats_per_bpb_source"].startswith("its logs"), "the source of nats per BPB is named",
       mine["nats_per_bpb_source"])
    ok(mine["verdict"].startswith("RECORD SHOWN (A"), "a record", mine)
    ok(made["theirs"]["n_unfinished"] == 1 and made["theirs"]["n"] == 3,
       "an unfinished run does not count", made["theirs"])
    ok(made["fat"]["verdict"] == "INVALID (bytes)", "one byte over the cap: INVALID",
       made["fat"]["verdict"])
    status, _, err = board(home + "/runs", "--baseline", "theirs",
                           "--fail-on", "invalid")
    ok(status == 3 and "fat: INVALID (bytes)" in err, "a cap that is exceeded: exit status 3", err)
    made = groups(home + "/runs", "--group-by", r"runs/(\w+)/")
    ok(sorted(g["title"] for g in made) == ["fat", "mine", "theirs"],
       "groups by the first capture", made)
    made = groups(home + "/runs/fat/a.log", home + "/runs/fat",
                  home + "/runs/*/a.log", "--group-by", "(runs)")
    ok(made[0]["n_rows"] == 2, "a file given twice is read once", made)
    made = groups("-", stdin=golf_log(5, 1.07))
    ok(made[0]["rows"][0]["seed"] == 5, "a log on standard input", made)


def test_streams():
    """A stream shows by its content what it is; its name has no meaning."""
    metrics = "".join('{"step": %d, "loss": 2.%d}\n' % (i, 50 - i)
                      for i in range(1, 20))
    docker = "".join(json.dumps({
        "log": line + "\n", "stream": "stdout",
        "time": "2026-11-28T12:00:00.5Z"}, separators=(",", ":")) + "\n"
        for line in golf_log(5, 1.07).splitlines())
    for name in "stdin.csv", "stdin.json", "stdin.log":
        os.symlink("/dev/stdin", os.path.join(home, name))
    for name in "-", "/dev/stdin", "stdin.csv", "stdin.json", "stdin.log":
        path = os.path.join(home, name) if name != "-" else name
        check_published(groups(path, "--baseline", PR1855, "--nats-per-bpb",
                               K, stdin=PR2014), "a table from " + name)
        for kind, log, steps in (("log", golf_log(5, 1.07), 5000),
                                 ("Docker's log", docker, 5000),
                                 ("metrics", metrics, 19)):
            row = groups(path, stdin=log)[0]["rows"][0]
            ok(row["steps"] == steps, "%s from %s" % (kind, name), row)


def test_submission():
    runs = [home + "/runs/mine", "--baseline", "1.06,1.061,1.0615"]
    folder = home + "/submission"
    status, out, err = board(*runs, "--out", folder, "--name", "Mine|1",
                             "--author", "A", command="submission")
    ok(status == 3 and "no GitHub id" in err and out == "",
       "an incomplete submission exits 3", (status, err))
    ok(sorted(os.listdir(folder)) == ["README.md", "submission.json",
                                      "train_seed1.log", "train_seed10.log",
                                      "train_seed2.log"], "its files",
       os.listdir(folder))
    with open(folder + "/submission.json") as stream:
        made = json.load(stream)
    near(made["val_bpb"], 1.0510333333, 1e-9, "its score")
    ok(made["github_id"] is None and made["name"] == "Mine|1", "its texts",
       made)
    ok(made["seed_results"]["10"]["val_bpb"] == 1.0521, "its seeds", made)
    with open(folder + "/README.md") as stream:
        text = stream.read()
    again = groups(folder + "/submission.json")[0]
    ok(again["title"] == "Mine|1" and again["mean_bpb"] == made["val_bpb"] and
       again["sd_sample_bpb"] == made["val_bpb_std"],
       "board.json reproduces the group", again)
    ok("| 10 | 5,000 | 120.00 |" in text and "no GitHub id" in text,
       "its table", text)
    with open(folder + "/train_seed2.log") as copy:
        with open(home + "/runs/mine/train_seed2.log") as log:
            ok(copy.read() == log.read(), "its logs")
    status, _, err = board(*runs, "--out", folder, command="submission")
    ok(status == 2 and "not empty" in err, "nothing is overwritten", err)
    for n in 1, 2:
        write("same/%d/train.log" % n, golf_log(7, 1.05 + n / 100))
    status, _, err = board(home + "/same", "--group-by", "(same)", "--out",
                           home + "/twice", command="submission")
    ok(status == 3 and sorted(os.listdir(home + "/twice")) == [
        "1-train.log", "2-train.log", "README.md", "submission.json"],
       "logs of one name are told apart by their folders",
       (err, os.listdir(home)))
    write("same/2/README.md", golf_log(8, 1.05))
    status, _, err = board(home + "/same/1/train.log",
                           home + "/same/2/README.md", home +
                           "/same/2/train.log", "--group-by", "(same)",
                           "--out", home + "/half", command="submission")
    ok(status not in (0, 3) and not any(
        name.startswith("half") for name in os.listdir(home)),
       "a submission that fails leaves nothing", (status, err))
    status, _, err = board(home + "/runs", command="submission")
    ok(status == 2 and "--group" in err, "one of several groups must be named", err)
    status, out, _ = board(home + "/runs", "--group", "fat",
                           command="submission")
    ok(status == 3 and json.loads(out)["val_bpb"] == 1.04,
       "to standard output", out)
    ok(json.loads(out)["comparison"] is None and
       json.loads(out)["val_bpb_std"] is None, "missing values are null",
       out)


def test_export():
    runs = [home + "/runs/mine", home + "/runs/theirs"]
    folder = home + "/export"
    status, _, err = board(*runs, "--out", folder, "--baseline", "theirs",
                           command="export")
    ok(status == 0 and err == "", "export", (status, err))
    ok(sorted(os.listdir(folder)) == ["board.csv", "board.json", "board.md",
                                      "runs.csv", "runs.json", "samples.csv"],
       "its files", os.listdir(folder))
    direct = groups(*runs, "--baseline", "theirs")
    with open(folder + "/board.json") as stream:
        ok([json.loads(line) for line in stream] == direct,
           "board.json equals the output of board")
    for name in ("runs.json", "runs.csv", "board.csv"):
        again = groups(folder + "/" + name, "--baseline", "theirs")
        ok([(g["group"], g["n"], g["mean_bpb"], g["verdict"])
            for g in again] == [(g["group"], g["n"], g["mean_bpb"],
                                 g["verdict"]) for g in direct],
           name + " gives the same board", again)
        _, _, err = board(folder + "/" + name)
        ok(err == "", name + " is read without a message", err)
    with open(folder + "/samples.csv") as stream:
        points = [p for p in csv.DictReader(stream)
                  if p["file"].endswith("seed1.log") and
                  p["metric"] == "val_bpb"]
    ok([p["step"] for p in points] == ["1000", "2000", "3000", "4000",
                                       "5000"], "the series", points)
    status, out, _ = board(runs[0], "--what", "samples", "--csv",
                           command="export")
    ok(status == 0 and out.startswith("file,run_index,step,metric"),
       "samples to standard output", out)
    status, _, err = board(*runs, "--out", folder, command="export")
    ok(status == 2 and "not empty" in err, "nothing is overwritten", err)
    status, _, err = board(*runs, "--what", "x", command="export")
    ok(status == 2 and "--what" in err, "a wrong word", err)
    parse = subprocess.run([PROGRAM, "parse", "--json",
                            home + "/runs/mine/train_seed1.log"],
                           capture_output=True, text=True)
    status, out, err = board("-", "--json", stdin=parse.stdout)
    ok(status == 0 and err == "" and json.loads(out)["mean_bpb"] == 1.05,
       "board reads the output of parse", (out, err))
    _, listed, _ = board("--csv", home + "/runs/mine")
    for name in ("listed.csv", "parsed.jsonl"):
        again = write(name, listed if name == "listed.csv" else parse.stdout)
        status, out, err = board(again, "--json", "--baseline", "none")
        ok(status == 0 and err == "" and
           json.loads(out.splitlines()[0])["n_rows"] ==
           (listed.count("\nrun,") if name == "listed.csv" else 1),
           name + " is read without a message and gives no group",
           (out, err))

def test_tracks():
    table = write("t.csv", "seed,final_bpb,artifact_bytes\n1,1.05,99\n"
                  "2,1.06,100\n3,1.07,101\n")
    track = write("track.json", json.dumps(
        {"schema": "hgym-tui.track/1", "name": "tiny",
         "score": "final_bpb", "caps": {"artifact_bytes": 100},
         "record": {"target": 1.08, "alpha": 0.2, "tests": ["A"]}}))
    g = groups(table, "--track", track)[0]
    ok(g["track"] == "tiny" and g["verdict"] == "INVALID (bytes)",
       "a user's track", g["verdict"])
    track = write("track.json", '{"schema": "hgym-tui.track/1", "nam": "x"}')
    status, _, err = board(table, "--track", track)
    ok(status == 2 and "track.json:1: nam" in err, "an invalid track is reported", err)
    status, _, err = board(table, "--track", "golf")
    ok(status == 2 and "parameter-golf-10min" in err, "an unknown track", err)
    g = groups(table, "--track", "open", "--baseline", "1.1,1.2")[0]
    ok(g["verdict"] is None and g["tests"]["D"]["p_one_sided"] is not None,
       "the open track compares but gives no verdict", g)
    g = groups("--track", "nanogpt-speedrun", "--values",
               "3.2747,3.2771,3.2745,3.2794,3.2767")[0]
    near(g["tests"]["A"]["p_one_sided"], 0.00855446, 5e-9, "p of a speedrun")
    ok(g["verdict"] == "TARGET SHOWN (p=0.0086)", "its words", g["verdict"])


def test_small():
    one = groups("--values", "1.05", "--baseline", PR1855, "--nats-per-bpb",
                 K)[0]
    ok(one["sd_sample_bpb"] is None and one["sd_population_bpb"] is None and
       one["se_bpb"] is None, "one value has no spread", one)
    ok(one["verdict"] == "NOT JUDGED (1 seed, need 3)", "one value: no verdict", one)
    two = groups("--values", "1.05,1.051")[0]
    near(two["sd_sample_bpb"], 0.001 / 2 ** .5, 1e-12, "two values have a spread")
    same = groups("--values", "1.05,1.05,1.05", "--baseline", PR1855,
                  "--nats-per-bpb", K)[0]
    ok(same["sd_sample_bpb"] == 0 and same["tests"]["A"]["p_one_sided"] is None
       and same["verdict"] == "BEATS BAR, NOT SHOWN (no spread, no test)",
       "equal values allow no test", same)
    alone = groups("--values", "1.05,1.06")[0]
    ok(alone["verdict"] is None and alone["delta_bpb"] is None,
       "without a baseline, no verdict", alone)


def test_status():
    text = "seed,status,final_bpb\n1,finished,1.05\n2,,1.06\n3,crashed,1\n"
    g = groups(write("status.csv", text))[0]
    ok(g["n"] == 1 and g["n_unfinished"] == 2 and g["mean_bpb"] == 1.05,
       "a run with an empty status does not count", g)
    lines = '{"seed": 1, "status": null, "final_bpb": 1.05}\n'
    g = groups("-", stdin=lines)[0]
    ok(g["n"] == 0 and g["mean_bpb"] is None and
       g["verdict"] == "NO RUN COUNTS", "a null status does not count", g)


def test_empty_database():
    """A database without runs: the error says so, not how many paths."""
    write("none/a.log", "no run here\n")
    config = write("none/config.json", json.dumps(
        {"schema": "hgym-tui.config/1", "pods": [
            {"name": "here", "transport": "local",
             "logs": [os.path.join(home, "none/*.log")]}]}))
    db = os.path.join(home, "none/x.db")
    board("--config", config, "--db", db, "--until-idle", "1",
          command="collect")
    status, _, err = board("--db", db)
    ok(status == 5 and "no runs in the database yet; pass log files" in err,
       "an empty database is reported", (status, err))
    log = write("none/b.log", golf_log(1, 1.05))
    status, _, err = board("--db", db, log)
    ok(status == 0 and "database" not in err, "logs on the command line need no database", err)


def test_many_columns():
    """256 columns are read; one more is an error, not a row."""
    def table(columns):
        extra = ",".join("x%d" % i for i in range(columns - 2))
        return write("wide%d.csv" % columns, "seed,final_bpb,%s\n1,1.05%s\n"
                     % (extra, "," * (columns - 2)))

    g = groups(table(256))[0]
    ok(g["n"] == 1 and g["mean_bpb"] == 1.05, "a table of 256 columns", g)
    status, out, err = board("--json", table(257))
    ok(status == 1 and out == "" and err.count("\n") == 1 and
       "wide257.csv:1: the header has more than 256 columns" in err,
       "a table of 257 columns is refused in one sentence",
       (status, out, err))


def test_metric():
    """Any metric of the runs; lower or higher is better."""
    acc = {"a": (0.81, 0.84, 0.86), "b": (0.71, 0.72, 0.75)}
    for name, values in acc.items():
        for i, value in enumerate(values):
            write("metric/%s/metrics_%d.csv" % (name, i),
                  "epoch,step,acc,train_loss\n0,1,0.99,5\n1,2,,4\n"
                  "2,3,%g,\n3,4,nan,%g\n" % (value, value))
    top = os.path.join(home, "metric")
    a, b = (os.path.join(top, x) for x in acc)

    def welch():
        s = [statistics.variance(acc[x]) / 3 for x in acc]
        m = [statistics.mean(acc[x]) for x in acc]
        return (m[1] - m[0]) / math.sqrt(sum(s))

    up = groups(a, b, "--score", "acc", "--higher", "--baseline", b)
    down = groups(a, b, "--score", "acc", "--baseline", b)
    ok([g["group"] for g in up] == [a, b] and
       [g["group"] for g in down] == [b, a],
       "the higher mean comes first with --higher, otherwise the lower one",
       (up, down))
    ok(up[0]["score"] == "acc" and up[0]["unit"] == "value" and
       abs(up[0]["mean_value"] - statistics.mean(acc["a"])) < 1e-12 and
       abs(up[0]["sd_sample_value"] - statistics.stdev(acc["a"])) < 1e-12,
       "mean and spread of the last values", up[0])
    ok([r["value"] for r in up[0]["rows"]] == list(acc["a"]),
       "a NaN is not the last value", up[0])
    t, other = up[0]["tests"]["B"], down[1]["tests"]["B"]
    ok(abs(t["t"] - welch()) < 1e-9 and abs(other["t"] + welch()) < 1e-9 and
       abs(t["p_one_sided"] + other["p_one_sided"] - 1) < 1e-9,
       "Welch's test asks whether it is better", (t, other))
    ok(up[0]["word"] in ("shown", "not_shown") and
       down[1]["word"] == "below_bar", "the bar is the baseline's mean",
       (up[0], down[1]))
    losses = groups(a, "--score", "train_loss")
    ok(losses[0]["unit"] == "nats", "a metric that is a loss is in nats")
    status, _, err = board(a, "--score", "Acc")
    ok(status == 2 and "epoch, acc, train_loss" in err,
       "an unknown metric lists the known ones", err)
    status, out, _ = board(a, "--score", "acc", "--csv")
    ok(status == 0 and ",0.86," in out, "CSV has the value", out)


def test_wrong():
    cases = (
        (["/nowhere.log"], 1, "cannot open /nowhere.log"),
        ([write("empty.log", "")], 5, "empty.log: empty"),
        ([write("bad.csv", "a,b\n1,2\n")], 1, "no column has the name of"),
        ([write("bad2.csv", "seed,final_bpb\n1,x\n")], 1,
         "bad2.csv:2: final_bpb: not a number"),
        ([write("bad3.csv", "seed,final_bpb\n1,nan\n")], 1, "finite"),
        ([write("bad4.csv", "seed,final_bpb\n1,2,3\n")], 1, "more cells"),
        ([write("bad5.csv", 'seed,final_bpb\n1,"2\n')], 1, "quote"),
        ([write("bad.jsonl", '{"seed": 1}\n{"seed"\n')], 1, "bad.jsonl:2"),
        (["--values", "1.0,x"], 2, "not a list of numbers"),
        (["--values", "1,2", "--baseline", "nothing"], 2,
         'unknown group "nothing"'),
        (["--values", "1,2", "--nats-per-bpb", "0"], 2, "above 0"),
        (["--values", "1,2", "--score", "steps"], 2, "--score"),
        (["--values", "1,2", "--group-by", "x"], 2, "has no group"),
        (["--values", "1,2", "--group-by", "("], 2, "pattern"),
        (["--values", "1,2", "--fail-on", "x"], 2, "--fail-on"),
        ([], 5, ""),
    )
    for args, want, text in cases:
        status, _, err = board(*args)
        ok(status == want and text in err,
           "exit %d: %s" % (want, " ".join(args)), (status, err))
    good = write("good.csv", "seed,final_bpb,colour\n1,1.05,red\n")
    status, out, err = board("/nowhere.log", good)
    ok(status == 1 and "1.05" in out, "the other columns are still read", (out, err))
    ok('"colour"' in err, "an unknown column is reported", err)


def write_steps(name, losses, planned=3000, last=None):
    """Write a log of the optimization benchmark: the loss at each step."""
    rows = [f"step:{step}/{planned} val_loss:{loss:.5f} "
            f"train_time:{step / 2:.3f}s step_avg:500.00ms"
            for step, loss in sorted(losses.items())
            if last is None or step <= last]
    os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
    return write(name, "\n".join(rows) + "\n")


def step_group(*args):
    """Return the only group, without what describes its rows."""
    made = groups(*args, "--summary")
    ok(len(made) == 1, "one group", made)
    return made[0]


def target_of(group):
    return {key: group[key] for key in (
        "track", "target", "target_metric", "target_n", "target_mean",
        "margin_root_n", "p_target", "steps_to_target", "steps_lower",
        "steps_spacing", "verdict")}


def test_steps():
    losses = [{1000: 3.4, 1500: 3.29, 2000: 3.2801 - i / 1000,
               2500: 3.2765 + i / 1000, 3000: 3.27} for i in range(3)]
    for i, loss in enumerate(losses):
        write_steps(f"steps/run{i}.txt", loss)
    folder = os.path.join(home, "steps")
    whole = step_group(folder)
    ok(whole["track"] == "nanogpt-optimization" and
       whole["track_from"] == "logs", "the track is recognized", whole)
    ok(whole["steps_to_target"] == 2500 and whole["steps_lower"] == 2000 and
       whole["steps_spacing"] == 500 and whole["target_n"] == 3,
       "the first step at which the target is shown", whole)
    near(whole["target_mean"], 3.2775, 1e-9, "the mean at that step")
    near(whole["margin_root_n"], .0025 * math.sqrt(3), 1e-9, "the margin")
    out = re.sub(" +", " ", re.sub(r"\*\*|\\", "", board("--md", folder)[1]))
    ok("| run | 2000 | 2500 | 3000 |" in out and
       "| run1.txt | 3.27910 | 3.27750 | 3.27000 |" in out and
       "| mean | 3.279100 | 3.277500 | 3.270000 |" in out and
       "| (3.28 - mean) * sqrt(n) | 0.00156 ✗ | 0.00433 ✓ | 0.01732 ✓ |"
       in out, "the evidence of a pull request", out)
    ok("| 2500 | 3.2775 (n=3) | | | steps |" in out,
       "the row for the competition's README", out)
    for i, loss in enumerate(losses):
        write_steps(f"slower/run{i}.txt",
                    {step + 50 * (step == 2500): value
                     for step, value in loss.items()})
    fast, slow = groups(folder, os.path.join(home, "slower"), "--summary")
    near(fast["pair_margin"], 50 * .000045 / math.sqrt(2 / 3), 1e-9,
         "record against record")
    ok(fast["compared_with"] == slow["group"] and not fast["pair_shown"] and
       slow["steps_to_target"] == 2550 and slow["compared_with"] is None,
       "by the pairwise rule of the track", (fast, slow))
    seeded = []
    for name in "seeded", "again":
        for i, loss in enumerate(losses):
            file = write_steps(f"{name}/run{i}.txt",
                               {**loss, 3000: 3.27 + i / 1000})
            with open(file) as old:
                text = old.read()
            write(f"{name}/run{i}.txt", "seed:7\n" + text)
        seeded.append(os.path.join(home, name))
    first = groups(*seeded, "--summary", "--baseline", "again")[0]
    ok([pair["seed"] for pair in first["common_seeds"]] == [7, 7, 7],
       "each run of a repeated seed is compared once", first)
    two = step_group(folder, "--exclude", "run2.txt")
    ok(two["target_n"] == 2 and two["n_rows"] == 3 and
       two["notes"][0].startswith("with the 1 excluded run the target is "
                                  "shown at step 2500 (3.277500, n=3"),
       "a note gives the result including the excluded run", two["notes"])
    status, _, err = board(folder, "--exclude", "run9.txt")
    ok(status == 2 and "--exclude run9.txt: no such run" in err,
       "an unknown run cannot be excluded", err)
    paths = [os.path.join(folder, f"run{i}.txt") for i in (2, 0, 1)]
    ok(target_of(step_group(*paths)) == target_of(whole),
       "the order of runs changes nothing")
    capped = write("capped.json", json.dumps({
        "schema": "hgym-tui.track/2", "name": "capped",
        "score": "steps_to_target", "rank_by": "steps",
        "target": {"metric": "val_loss", "value": 3.28},
        "test": {"kind": "mean"}, "caps": {"train_s": 100}}))
    out = board("--md", folder, "--track", capped)[1]
    ok("INVALID (time)" in out and "README row" not in out,
       "a group that exceeds a cap claims no record", out)
    for i, loss in enumerate(losses):
        write_steps(f"folders/seed_{i}/logs/run.txt", loss)
        write_steps(f"folders/seed_{i}/seed-lr/run.txt", {1000: 3.4})
    made = {g["group"]: g for g in
            groups(os.path.join(home, "folders"), "--summary")}
    ok(target_of(made.pop(os.path.join(home, "folders"))) == target_of(whole)
       and len(made) == 3, "folders of seeds form one group, others do not",
       made)
    packed = write("folders/seed_0/logs/more.txt.gz", "x")
    status, out, err = board(os.path.join(home, "folders/seed_0"))
    ok(status == 1 and packed + ": compressed: unpack it first" in err and
       "run.txt" in out, "a compressed log is not left out silently", err)
    write_steps("steps/run1.txt", losses[1], last=2500)
    ok(target_of(step_group(folder)) == target_of(whole),
       "a run cut after the step counts")
    write_steps("steps/run1.txt", losses[1], last=2000)
    short = step_group(folder)
    ok(short["steps_to_target"] is None and short["n_short"] == 1 and
       "1 of 3 runs ended before" in short["verdict"],
       "a run cut before the step counts against the group", short)
    out = board(folder)[1]
    ok("run1.txt" in out and "truncated, no val_loss at step" in out,
       "the run that was cut is named", out)
    write_steps("steps/run1.txt", losses[1])
    os.makedirs(os.path.join(home, "foreign"))
    foreign = write("foreign/golf.txt", "step:10/10 val_loss:2.5 val_bpb:1.2 "
                    "train_time:700000ms step_avg:70000.00ms\n")
    both = {g["track"]: g for g in groups(folder, foreign, "--summary")}
    ok(target_of(both["nanogpt-optimization"]) == target_of(whole) and
       both["nanogpt-optimization"]["caps"]["train"] is None and
       "parameter-golf-10min" in both,
       "a foreign log changes no other group", both)
    shutil.copy(foreign, os.path.join(folder, "golf.txt"))
    mixed = step_group(folder)
    ok(target_of(mixed) == target_of(whole),
       "a foreign log in the folder is not counted", mixed)
    os.remove(os.path.join(folder, "golf.txt"))
    for seed in range(20):
        rand = random.Random(seed)
        name = f"random{seed}"
        for i in range(rand.randint(1, 5)):
            write_steps(f"{name}/{i}.txt", {
                step: 3.283 - step / 1e6 + rand.gauss(0, .0013)
                for step in range(0, 9000, 500)})
        before = step_group(os.path.join(home, name))["steps_to_target"]
        write_steps(f"{name}/more.txt", {
            step: 3.28 + abs(rand.gauss(0, .001))
            for step in range(0, 9000, 500)})
        after = step_group(os.path.join(home, name))["steps_to_target"]
        ok(after is None or after >= before,
           "a run at or above the target never lowers the step", (before, after))
    one = write_steps("one/run.txt", {100: 3.276})
    ok(step_group(one)["steps_to_target"] == 100,
       "one run at 3.276 is enough")
    one = write_steps("one/run.txt", {100: 3.27601})
    group = step_group(one)
    ok(group["steps_to_target"] is None and group["seeds_planned"] == 2,
       "one run at 3.27601 is not enough, two would be", group["seeds_planned"])
    status, _, err = board(folder, "--track", "nanogpt-optimization",
                           "--score", "final_val_loss")
    ok(status == 2 and "--score-metric" in err,
       "--score cannot be used with steps", err)


def test_competitions():
    """What each competition counts, from the lines that its trainer prints."""
    rows = ["step %05d (%.2f%%) | loss: 3.1 | lrm: 1.00 | dt: 900.00ms | "
            "tok/sec: 400,000 | mfu: 40.1" % (i, i / 2) for i in range(1, 200)]
    slow = ["Step 00100 | Epoch 1 | Val BPB: 1.20 | Val Loss: 3.370000",
            "Step 00199 | Epoch 2 | Val BPB: 1.23 | Val Loss: 3.419000",
            "Total training time: 14.43m", "Min val Loss: 3.349000"]
    chat = ["Step 00199 | CORE metric: 0.2607",
            "wandb: total_training_time 5940.3", "- CORE metric: 0.2561"]
    auto = ["Time budget: 300s", "val_bpb:          0.997900",
            "training_seconds: 300.1", "num_steps:        199"]
    for name, lines, track, mean, ms in (
            ("slow", slow, "nanogpt-slowrun", 3.349, 865800),
            ("chat", chat, "nanochat-gpt2", .2561, 5940300),
            ("auto", auto, "autoresearch-5min", .9979, 300100)):
        got = step_group(write(f"kinds/{name}.log",
                               "\n".join(rows + lines) + "\n"))
        ok(got["track"] == track and got["n"] == 1 and
           got["means"]["train_ms"] == ms, name + ": track and time", got)
        near(got["mean_" + got["unit"]], mean, 1e-9, name + ": score")
    tiny = ["n_layer=16, n_embd=1024, n_head=8, head_dim=128"]
    ema = ["Step 00199 | Epoch 2 | EMA Val BPB: 1.10 | EMA Val Loss: 3.310000",
           "Ckpt avg (last 3 epochs) | Val BPB: 1.11 | Val Loss: 3.320000"]
    for name, lines, minutes, verdict, mean in (
            ("kept", slow[:2], "15.00", None, 3.37),
            ("averages", slow[:2] + ema, "14.43", None, 3.31),
            ("late", slow[:2] + ema, "15.01", "INVALID (time)", 3.31)):
        got = step_group(write("tiny/%s.log" % name, "\n".join(
            tiny + rows[:100] + lines[:1] + rows[100:] + lines[1:] +
            ["Total training time: %sm" % minutes]) + "\n"))
        ok(got["track"] == "nanogpt-slowrun-tiny" and
           got["verdict"] == verdict, "slowrun in 15 minutes: " + name, got)
        near(got["mean_" + got["unit"]], mean, 1e-9, name + ": best val_loss")
    cut = write("tiny ends/cut.log", "\n".join(
        tiny + rows[:100] + slow[:1]) + "\n")
    ok(step_group(cut)["n"] == 1, "slowrun: a log that shows no end counts")
    write("tiny ends/whole.log", "\n".join(tiny + rows + slow) + "\n")
    got = step_group(os.path.dirname(cut))
    ok(got["n"] == 1 and got["n_unfinished"] == 1,
       "slowrun: a log that was cut does not count beside a whole one", got)
    table = "CORE                               ,           , 0.2561"
    for name, last, mean, words in (
            ("estimate", [], .2607, "PROVISIONAL: TARGET SHOWN (mean of 1 "
             "run); 1 run with an estimated score"),
            ("500", ["+ base_train --core-metric-max-per-task=500"], .2607,
             "PROVISIONAL: TARGET SHOWN (mean of 1 run); 1 run with an "
             "estimated score"),
            ("all", ["+ base_train --core-metric-max-per-task=-1"], .2607,
             "TARGET SHOWN (mean of 1 run)"),
            ("again", ["CORE metric: 0.2561"], .2561,
             "MISSES THE TARGET by 0.0004"),
            ("evaluated", [table], .2561, "MISSES THE TARGET by 0.0004"),
            ("passed", ["- CORE metric: 0.2580"], .2580,
             "TARGET SHOWN (mean of 1 run)")):
        got = step_group(write(f"kinds/{name}.log",
                               "\n".join(rows + chat[:2] + last) + "\n"))
        ok(got["verdict"] == words, "CORE, " + name, got["verdict"])
        near(got["mean_" + got["unit"]], mean, 1e-9, name + ": CORE")
    got = step_group(write("kinds/wandb.log", "wandb: Run summary:\n"
                           "wandb:          core_metric 0.25851\n"
                           "wandb:  total_training_time 10949.46713\n"))
    ok(got["mean_value"] == .25851 and got["means"]["train_ms"] == 10949467.13
       and got["provisional"], "CORE and time of a summary of wandb", got)
    report = ["- core_metric_max_per_task: %d", "- CORE metric estimate: 0.2600",
              "- Total training time: 182.49m"]
    for number, provisional in (-1, False), (500, True):
        got = step_group(write("kinds/report.txt",
                               "\n".join(report) % number + "\n"))
        ok(got["track"] == "nanochat-gpt2" and
           got["word"] == "shown" and got["provisional"] == provisional and
           got["means"]["train_ms"] == 10949400,
           "a report, %d examples per task" % number, got)
    report = ["- DDP world size: 8", "- Final validation bpb: %s",
              "- CORE metric estimate: %s", "- Total training time: %sm",
              "- CORE metric: 0.2585"]
    log = rows + ["Step 00199 | Validation bpb: 0.718004"] + chat[:2]
    for name, figures, n, mean in (
            ("own", ("0.7180", "0.2607", "99.01"), 1, .2585),
            ("other time", ("0.7180", "0.2607", "99.02"), 2, .2596),
            ("other estimate", ("0.7180", "0.2606", "99.01"), 2, .2596),
            ("other loss", ("0.7182", "0.2607", "99.01"), 2, .2596)):
        folder = os.path.join(home, "with a report", name)
        os.makedirs(folder)
        for log_name in ("run.log", "tee.log")[:1 + (name == "own")]:
            write(os.path.join(folder, log_name), "\n".join(log) + "\n")
        write(os.path.join(folder, "report.md"),
              "# nanochat training report\n\n## Base model training\n\n" +
              "\n".join(report) % figures + "\n")
        write(os.path.join(folder, "README.md"), "\n".join(chat) + "\n")
        got = groups(folder)[0]
        got["rows"].sort(key=lambda row: row["file"])
        ok(got["n"] == n and got["rows"][1]["n_gpus"] ==
           (8 if n == 1 else None) and got["rows"][0]["use"] ==
           ("report" if n == 1 else "counted"),
           "a log and a report: " + name, got)
        near(got["mean_" + got["unit"]], mean, 1e-9, name + ": CORE")
    paths = [write("other trainer/run.log", golf_log(42, .698, 1188.12)),
             write("other trainer/report.md",
                   "\n".join(report[1::2]) % ("0.7180", "99.01") + "\n")]
    uses = {row["file"]: row["use"] for row in groups(*paths)[0]["rows"]}
    ok(uses[paths[0]] == "counted" and uses[paths[1]] != "report",
       "a report is not that of another trainer's log", uses)
    folder = os.path.join(home, "with a report", "own")
    files = [os.path.join(folder, name) for name in ("report.md", "run.log")]
    for excluded, n, mean, uses in (
            ("report.md", 1, .2607, ["report", "counted"]),
            ("run.log", 0, None, ["report", "excluded"])):
        got = groups(*files, "--exclude", excluded)[0]
        ok(got["n"] == n and got["mean_" + got["unit"]] == mean and
           [row["use"] for row in got["rows"]] == uses and
           got["rows"][0]["note"] == "report of run.log" +
           (", excluded" if n else ""), "excluded: " + excluded, got)
    kinds = {name: write("limit/%s/run.log" % name, "\n".join(
        rows + auto + ["total_seconds:    %s" % total]) + "\n")
        for name, total in (("kept", "600.0"), ("late", "600.1"))}
    kept, late = groups(*kinds.values())
    ok(kept["verdict"] is None and kept["caps"]["metric"] == "kept",
       "autoresearch: 600 s in total are allowed", kept)
    ok(late["verdict"] == "INVALID (total_seconds)" and
       late["rows"][0]["note"] == "total_seconds is 600.1, 0.1 over the cap of 600",
       "autoresearch: a run of more than 600 s is a failure", late)


def test_track_files():
    status, out, _ = board("list", "--json", command="tracks")
    names = [json.loads(line)["name"] for line in out.splitlines()]
    ok(status == 0 and "nanogpt-optimization" in names and len(names) == 12,
       "tracks list", names)
    status, out, _ = board("show", "nanogpt-optimization", command="tracks")
    ok(status == 0 and json.loads(out)["score"] == "steps_to_target",
       "tracks show", out)
    mine = write("mine.json", json.dumps({
        "schema": "hgym-tui.track/2", "name": "mine", "score": "auto",
        "detect": [{"match": "^mine", "weight": 500}]}))
    row = "step:1/2 val_loss:3.3 train_time:1.5s step_avg:2ms\n"
    logs = [write("mine.txt", "mine\n" + row), write("other.txt", row)]
    status, out, _ = board("check", mine, logs[0], "--json", command="tracks")
    ok(status == 0 and json.loads(out)["track"] == "mine", "tracks check", out)
    for file in "/dev/stdin", "stdin.json":
        with open(mine) as stream:
            status, out, err = board("check", os.path.join(home, file), logs[0],
                                     "--json", command="tracks",
                                     stdin=stream.read())
        ok(status == 0 and json.loads(out)["track"] == "mine",
           "a track from a stream: " + file, err)
    status, out, _ = board("check", mine, logs[1], "--json", command="tracks")
    ok(status == 3 and json.loads(out)["track"] == "nanogpt-optimization",
       "a log of another track exits 3", out)
    wrong = write("wrong.json", '{"schema": "hgym-tui.track/2", "nam": 1}')
    status, _, err = board("check", wrong, command="tracks")
    ok(status == 2 and "nam" in err, "an unknown key exits 2", err)
    wrong = write("wrong.json", json.dumps({
        "schema": "hgym-tui.track/2", "name": "x",
        "detect": [{"match": "(", "weight": 10}]}))
    status, _, err = board("check", wrong, command="tracks")
    ok(status == 2 and "detect[0]" in err, "an invalid pattern exits 2", err)


def test_results():
    folder = os.path.join(SHARED, "corpus/track3")
    if not os.path.exists(folder):
        skip(folder, "needs ../shared, which is not part of the repository")
        return
    with open(os.path.join(folder, "truth.json")) as stream:
        for want in json.load(stream)["groups"]:
            name = want["dir"]
            got = step_group(os.path.join(folder, "results", name),
                             "--score-metric", want["metric"])
            ok(got["steps_to_target"] == want["steps_to_target"] and
               got["target_n"] == want["n"], name + ": steps and runs",
               target_of(got))
            near(got["target_mean"], want["mean"], 1e-5, name + ": mean")


def run_group(folder, group):
    """Reproduce one published group from its logs."""
    nanogpt = group["field"] == "final_val_loss"
    paths = [os.path.join(folder, p) for p in group.get("corpus_paths") or
             [p.replace("records/track_10min_16mb/", "logs/")
              .replace("records/track_non_record_16mb/", "logs/")
              for p in group["paths"]]]
    made = groups(*paths, "--score", group["field"], "--track",
                  "nanogpt-speedrun" if nanogpt else "open", "--group-by",
                  "(.).*", "--baseline", "none")
    name = group["title"][:50]
    g, unit = made[0], "nats" if nanogpt else "bpb"
    ok(len(made) == 1 and g["n"] == group["n"], name + ": n", g["n"])
    near(g["mean_" + unit], group["computed_mean"], 5.1e-9, name + ": mean")
    near(g["sd_sample_" + unit], group["computed_std_sample"], 5.1e-9,
         name + ": sample sd")
    if "computed_std_population" in group:
        near(g["sd_population_" + unit], group["computed_std_population"],
             5.1e-9, name + ": population sd")
    if nanogpt:
        a = g["tests"]["A"]
        near(a["t"], group["computed_t"], 5.1e-7, name + ": t")
        near(a["p_one_sided"], group["computed_p_t"],
             5.1e-6 * group["computed_p_t"], name + ": p")
        near(g["p_z"], group["computed_p_z"], 5.1e-6 * group["computed_p_z"],
             name + ": p of z")
        near(g["train_time"]["mean_ms"], group["train_ms_mean"], .001,
             name + ": train time")
        near(g["train_time"]["sd_sample_ms"], group["train_ms_std_sample"],
             .001, name + ": its sd")
    else:
        near(g["max_artifact_bytes"] or 0, group["max_artifact_bytes"] or 0,
             0, name + ": largest artifact")


def test_corpus():
    for folder in ("corpus", "corpus/nanogpt"):
        folder = os.path.join(SHARED, folder)
        truth = os.path.join(folder, "truth.json")
        if not os.path.exists(truth):
            skip(
                folder, "needs ../shared, which is not part of the repository")
            continue
        with open(truth) as stream:
            for group in json.load(stream)["groups"]:
                run_group(folder, group)


def main():
    try:
        test_published()
        test_diff()
        test_logs()
        test_streams()
        test_submission()
        test_export()
        test_tracks()
        test_steps()
        test_competitions()
        test_track_files()
        test_results()
        test_small()
        test_status()
        test_empty_database()
        test_many_columns()
        test_metric()
        test_wrong()
        test_corpus()
    finally:
        shutil.rmtree(home)
    return finish()


sys.exit(main())
