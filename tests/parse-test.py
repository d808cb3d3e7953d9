#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`parse` and `formats`, run by a user: bad input, many files, corpora."""
import csv
import fcntl
import gzip
import io
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import termios
import threading

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
BUILD = os.environ["HGYM_BUILD"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, ok, skip  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

SHARED = os.environ.get("HGYM_SHARED", os.path.join(SRC, "..", "shared"))


GOOD = (b"seed:42\n"
        b"step:5/5 train_loss:2.5 train_time:100ms step_avg:20.00ms\n"
        b"step:5/5 val_loss:2.4 val_bpb:1.4 train_time:100ms "
        b"step_avg:20.00ms\n")


def run(*args, **kw):
    return subprocess.run([TUI, *args], capture_output=True,
                          timeout=PATIENCE_S, **kw)


def rows(result):
    return [json.loads(x) for x in result.stdout.decode().splitlines()]


def waits_in(pipe):
    """Return the number of bytes that have not been read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def bad_input(folder):
    """Bad input gives one clear sentence, and the other files are read."""
    def path(name, data=None):
        p = os.path.join(folder, name)
        if data is not None:
            with open(p, "wb") as f:
                f.write(data)
        return p

    good = path("good.log", GOOD)
    empty = os.path.join(folder, "none")
    os.makedirs(os.path.join(empty, ".hidden"))
    with open(os.path.join(empty, ".hidden", "x.log"), "wb") as f:
        f.write(GOOD)
    cases = [
        ("a missing file", path("nope.log"), "cannot open", 1),
        ("a directory", empty, "no logs in this directory", 1),
        ("an empty file", path("empty.log", b""), "empty", 0),
        ("a packed log", path("z.log.gz", gzip.compress(GOOD)), "unpack it",
         1),
        ("a binary", path("bin", bytes(map(random.Random(7).randrange, [256] * 200000))),
         "no training rows", 0),
    ]
    for name, p, words, status in cases:
        r = run("parse", "--json", p, good)
        err = r.stderr.decode()
        ok(words in err and err.count("\n") == 1, name + ": one sentence",
           err)
        ok(r.returncode == status, name + ": exit status", r.returncode)
        ok([x["seed"] for x in rows(r)] == [42],
           name + ": the other file is read", r.stdout)
    r = run("parse", path("empty.log"))
    ok(r.returncode == 5, "no data: exit status 5", r.returncode)
    r = run("parse")
    ok(r.returncode == 2, "no path: exit status 2", r.returncode)
    r = run("parse", "--nope", good)
    ok(r.returncode == 2 and b"unknown option" in r.stderr, "an unknown option is an error")

    fifo = path("fifo")
    os.mkfifo(fifo)
    r = run("parse", "--json", fifo, good)
    ok("no process has opened" in r.stderr.decode() and len(rows(r)) == 1,
       "a FIFO without a writer does not hang", r.stderr)

    # The writer is open before the reader opens the FIFO, until all is read.
    writer = os.open(fifo, os.O_RDWR)
    p = subprocess.Popen([TUI, "parse", "--json", fifo],
                         stdout=subprocess.PIPE)
    os.write(writer, GOOD)
    until(lambda: waits_in(writer) == 0)
    os.close(writer)
    out = p.communicate(timeout=PATIENCE_S)[0]
    ok(b'"seed":42' in out, "a FIFO with a writer is read", out)

    r = run("parse", "--json", "-", input=GOOD)
    ok(rows(r)[0]["file"] == "-", "- is standard input")
    name = path("a b\x1b[31m\n.log", GOOD)
    r = run("parse", name)
    ok(b"\x1b" not in r.stdout and r.returncode == 0,
       "a hostile file name does not reach the terminal")
    for name in ("=1+1.log", "+1.log", "-1.log", "@SUM(A1).log"):
        path(name, GOOD)
        r = run("parse", "--csv", "--", name, cwd=folder)
        line = r.stdout.split(b"\n")[1]
        ok(line.startswith(b"'" + name.encode() + b",") and
           b",42," in line, "a spreadsheet does not evaluate " + name, line)
    r = run("parse", "--json", os.path.join(folder, "g*.log"))
    ok(len(rows(r)) == 1, "a glob is expanded")


METRICS = ("epoch,step,train_loss,val_loss\r\n0,9,2.5,\r\n0,9,,2.25\r\n"
           "1,19,1.5,\r\n1,19,,1.75\r\n")
STATE = {"best_metric": None, "max_steps": 30, "log_history": [
    {"epoch": 0.5, "learning_rate": 5e-05, "loss": 2.5, "step": 10},
    {"epoch": 1.0, "grad_norm": float("nan"), "loss": 2.0, "step": 20},
    {"epoch": 1.0, "eval_loss": 2.25, "eval_runtime": 1.5, "step": 20},
    {"epoch": 1.5, "loss": 1.75, "step": 30},
    {"epoch": 1.5, "train_loss": 2.08, "train_runtime": 99.0, "step": 30}]}


def directories(folder):
    """The logs below a directory are read, sorted, and each run only once."""
    top = os.path.join(folder, "runs")

    def put(name, text):
        p = os.path.join(top, name)
        os.makedirs(os.path.dirname(p), exist_ok=True)
        with open(p, "w") as f:
            f.write(text)
        return p

    log = GOOD.decode()
    want = [put("a/seed_7.log", log), put("a/seed_42.log", log),
            put("b/version_0/metrics.csv", METRICS), put("b/x/train.out", log)]
    put("a/metrics.csv", METRICS)  # not read: its log is in the same directory
    put("a/notes.md", log)
    put("b/version_0/prices_log.csv", "step,price\n2,3\n1,4\n")
    put("b/version_0/data.csv", METRICS)
    put("c/readme.txt", "no run\n")
    os.symlink(os.path.join(top, "a"), os.path.join(top, "b", "linked"))
    r = run("parse", "--json", top)
    ok([x["file"] for x in rows(r)] == want, "the logs below a directory are read, sorted",
       r.stdout)
    ok(r.returncode == 0 and r.stderr == b"",
       "files without runs are not reported", r.stderr)
    again = rows(run("parse", "--json", want[0], os.path.join(top, "a"),
                     want[0]))
    ok([x["file"] for x in again] == [want[0], *want[:2], want[0]],
       "each argument is read by itself", again)
    row = rows(r)[2]
    ok((row["steps"], row["last_train_loss"], row["last_val_loss"]) ==
       (19, 1.5, 1.75), "a metrics file is a log", row)
    ok({m["name"]: (m["points"], m["metric"]) for m in row["metrics"]} ==
       {"epoch": (4, None), "train_loss": (2, "train_loss"),
        "val_loss": (2, "val_loss")}, "the series of a metrics file keep their names", row)
    r = run("board", "--json", os.path.join(top, "b", "version_0"))
    ok(b"metrics.csv" in r.stdout, "board reads a metrics file, too", r.stdout)
    r = run("export", "--what", "samples", "--json", want[2])
    ok([(x["step"], x["metric"], x["value"]) for x in rows(r)
        if x["metric"] != "epoch"] ==
       [(9, "train_loss", 2.5), (9, "val_loss", 2.25),
        (19, "train_loss", 1.5), (19, "val_loss", 1.75)],
       "export writes each point under its name", r.stdout)
    row = rows(run("parse", "--json",
                   put("trainer_state.json", json.dumps(STATE, indent=1))))[0]
    ok((row["steps"], row["planned_steps"], row["last_train_loss"],
        row["last_val_loss"], row["status"]) ==
       (30, 30, 1.75, 2.25, "finished"),
       "in a trainer_state.json the mean at the end is not the last loss", row)
    kernels = {"1": [{"compiled": True, "correctness": False, "runtime": 1.0},
                     {"compiled": True, "correctness": True, "runtime": 2.5}],
               "2": {"compiled": True, "correctness": True, "runtime": 1.5},
               "3\nval_bpb: 1": [{"compiled": False, "correctness": False,
                                  "runtime": -1.0}]}
    row = rows(run("parse", "--json",
                   put("eval_results.json", json.dumps(kernels))))[0]
    ok([(x["name"][12:], x["last"]) for x in row["metrics"]] ==
       [("problems", 3), ("compiled", 2), ("correct", 2),
        ("problem 1 runtime (ms)", 2.5), ("problem 2 runtime (ms)", 1.5)] and
       row["status"] == "finished", "KernelBench's eval_results.json is a log", row)
    r = run("parse", "--json", put("eval_results.json", '{"a": {"b": 1}}'))
    ok(not rows(r), "another eval_results.json has no scores", r.stdout)


def growing(folder):
    """A file that grows while it is read gives a correct row, and reading ends."""
    p = os.path.join(folder, "grow.log")
    stop = threading.Event()
    with open(p, "wb") as f:
        f.write(GOOD)

    def grow():
        step = 6
        with open(p, "ab", buffering=0) as f:
            # Write more slowly than the reader reads, and not without end.
            while not stop.wait(0.001) and f.tell() < 30e6:
                f.write(b"step:%d/9 train_loss:2.5 train_time:%dms "
                        b"step_avg:20.00ms\n" % (step, step * 20) * 200)
                step += 1

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        results = [run("parse", "--json", p) for _ in range(5)]
    finally:
        stop.set()
        thread.join()
    ok(all(r.returncode == 0 and rows(r)[0]["ms_per_step"] == 20
           for r in results), "a file that grows gives correct rows",
       [(r.returncode, r.stdout, r.stderr) for r in results])


def output_forms(folder):
    p = os.path.join(folder, "good.log")
    r = run("parse", "--csv", p)
    table = list(csv.DictReader(io.StringIO(r.stdout.decode())))
    ok(table[0]["seed"] == "42" and table[0]["final_bpb"] == "",
       "CSV prints an absent number as an empty cell, never as 0")
    r = run("parse", "--md", p, env=dict(os.environ, LC_ALL="C.UTF-8"))
    ok(r.stdout.startswith(b"| file |") and "—" in r.stdout.decode(),
       "Markdown prints an absent number as a dash")
    r = run("parse", p)
    ok(b"\x1b" not in r.stdout, "the table has no escape sequences")
    want = {"file", "run_index", "status", "seed", "steps", "train_ms",
            "ms_per_step", "tok_s_last", "final_bpb", "events", "formats",
            "source_sha256", "lines", "bytes", "matched"}
    row = rows(run("parse", "--json", p))[0]
    ok(want <= set(row), "JSON has the documented keys", want - set(row))
    ok("parameter-golf" in row["formats"], "JSON names the rule sets used")
    ok(row["lines"] == 3 and row["bytes"] == len(GOOD), "JSON counts lines and bytes")


def many_files(folder):
    """Several threads give the same rows in the same order."""
    logs = os.path.join(folder, "many")
    subprocess.run([os.path.join(BUILD, "tests/tools/gen-logs"), "--files",
                    "40", logs], check=True)
    paths = sorted(os.path.join(logs, x) for x in os.listdir(logs))
    one = run("parse", "--json", "-j", "1", *paths).stdout
    four = run("parse", "--json", "-j", "4", *paths).stdout
    ok(one == four and one.count(b"\n") >= 40,
       "four threads print what one prints")


def user_formats(folder):
    p = os.path.join(folder, "mine.json")
    log = os.path.join(folder, "mine.log")
    with open(log, "w") as f:
        f.write("it 7 of 9 loss=1.5 ms=140\n")
    with open(p, "w") as f:
        json.dump({"schema": "hgym-tui.format/1", "name": "mine", "rules": [
            {"name": "row", "kind": "train", "match":
             r"^it (?<step>\d+) of (?<planned>\d+) loss=(?<train_loss>\S+) "
             r"ms=(?<train_ms>\d+)"}]}, f)
    row = rows(run("parse", "--json", "--format", p, log))[0]
    ok(row["steps"] == 7 and row["ms_per_step"] == 20 and
       row["formats"] == ["mine"], "a user's rules read a new dialect", row)
    r = run("formats", "check", p, log)
    ok(r.returncode == 0 and b"row" in r.stdout, "formats check shows the rules that match")
    with open(p, "a") as f:
        f.write("x")
    r = run("formats", "check", p, log)
    ok(r.returncode == 2 and p.encode() in r.stderr,
       "a broken rule file is named, exit status 2", r.stderr)
    r = run("formats", "list", "--json")
    ok({"parameter-golf", "nanogpt-speedrun", "failures"} <=
       {x["name"] for x in rows(r)}, "formats list shows the built-in sets")
    r = run("formats", "show", "failures", "--json")
    ok(any(x["rule"] == "traceback" for x in rows(r)), "formats show lists the rules of a set")


def corpora():
    check = os.path.join(SHARED, "check", "parse_truth.py")
    for part in ("", "nanogpt"):
        name = f"the corpus of real logs {part}".strip()
        root = os.path.join(SHARED, "corpus", part)
        truth = os.path.join(root, "truth.json")
        if not os.path.exists(check) or not os.path.exists(truth):
            skip(name, "needs ../shared/corpus, which is not part of the repository")
            continue
        r = subprocess.run([sys.executable, check, TUI, truth, root],
                           capture_output=True, text=True)
        last = r.stdout.strip().splitlines()[-1]
        right = float(last.split("(")[1].split("%")[0])
        ok("wrong 0, invented 0" in last and right >= 99.5, name, r.stdout)


def trainers():
    """Logs of other trainers, compared with their known values."""
    name = "the corpus of trainers"
    check = os.path.join(SHARED, "check", "trainers_truth.py")
    root = os.path.join(SHARED, "corpus", "trainers")
    if not os.path.exists(check) or not os.path.exists(root):
        skip(name, "needs ../shared/corpus, which is not part of the repository")
        return
    r = subprocess.run([sys.executable, check, TUI,
                        os.path.join(root, "truth.json"), root],
                       capture_output=True, text=True)
    last = r.stdout.strip().splitlines()[-1]
    right = float(last.split("(")[1].split("%")[0])
    ok("wrong 0, invented 0" in last and right >= 98, name, r.stdout)


with tempfile.TemporaryDirectory() as tmp:
    bad_input(tmp)
    directories(tmp)
    growing(tmp)
    output_forms(tmp)
    many_files(tmp)
    user_formats(tmp)
corpora()
trainers()
sys.exit(finish())
