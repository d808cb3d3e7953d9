#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Local copies of logs are deleted by the user while they are written, while
they are closed, and while the log itself is missing: the program reports the
consequence, and the database still contains what `parse` prints for the
files."""
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from database import read_rows  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

top = tempfile.mkdtemp(prefix="collect-mirror.")
env = home_env(top)
LOGS, CONFIG, DB, SAID = (top + "/" + name for name in
                          ("logs", "config.json", "x.db", "said"))
FINAL = ("final_int8_zlib_roundtrip val_loss:2.0500 val_bpb:1.2345"
         " eval_time:1234ms\n")


def write(name, first, last, end=""):
    with open(f"{LOGS}/{name}.log", "a") as log:
        log.write("seed:1\n" * (first == 0) + "".join(
            f"step:{i}/900 train_loss:2.{i:05d} train_time:{i * 50}ms"
            " step_avg:50.00ms\n" for i in range(first, last + 1)) + end)


def collect():
    with open(SAID, "w") as said:
        return subprocess.Popen([TUI, "--config", CONFIG, "--db", DB,
                                 "collect"], env=env, stderr=said)


def said():
    with open(SAID) as file:
        return file.read()


def leave(child):
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)


def rows(*args):
    done = subprocess.run([TUI, *args, "--json"], env=env, timeout=PATIENCE_S,
                          stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask(sql):
    return read_rows(DB, sql)


def mirrors():
    return glob.glob(top + "/state/hgym-tui/**/*.log", recursive=True)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def is_stored():
    """Are the offsets in the database the sizes of the files?"""
    sizes = sorted((p, os.stat(p).st_size) for p in glob.glob(LOGS + "/*"))
    return sorted(ask("SELECT path, offset FROM v_tails")) == sizes


def compare(name):
    ok(until(is_stored), name + ": all bytes are read", (said(), ask(
        "SELECT path, offset FROM v_tails")))
    bad = []
    stored = {(r["path"], r["run_index"]): r
              for r in rows("--db", DB, "runs")}
    want = [(path, r) for path in glob.glob(LOGS + "/*")
            for r in rows("parse", path)]
    for path, parsed in want:
        mine = stored.get((path, parsed["run_index"]), {})
        bad += [(path, parsed["run_index"], k, mine.get(k), parsed[k])
                for k in set(parsed) - {"file", "status"}
                if mine.get(k) != parsed[k]]
    ok(not bad and len(stored) == len(want),
       name + ": the runs equal the output of parse", bad[:5])
    n = sum(content(path).count(b"train_loss:") for path in glob.glob(LOGS + "/*"))
    got = ask("SELECT count(*) FROM v_samples WHERE metric ="
              " 'train_loss'")
    ok(got == [(n,)], name + ": each sample is stored once", (got, n))


def are_whole():
    """Do the local copies equal the files?"""
    return sorted(map(content, mirrors())) == \
        sorted(map(content, glob.glob(LOGS + "/*")))


def remove():
    for path in mirrors():
        os.unlink(path)


def test_live():
    write("a", 0, 300)
    write("b", 0, 200)
    child = collect()
    ok(until(is_stored) and are_whole(), "two logs have local copies")
    remove()
    write("a", 301, 400)
    words = "local copy of " + LOGS + "/a.log was deleted; still following"
    ok(until(lambda: words in said()), "a deleted copy is reported", said())
    write("a", 401, 500)
    write("b", 201, 300)
    compare("removed")
    ok(said().count("was deleted") == 2 and "paused" not in said(),
       "a deleted copy is reported once, and reading continues", said())
    ok(not mirrors(), "a deleted copy is not created again while the program "
                      "runs")
    leave(child)
    child = collect()
    ok(until(are_whole), "the next start creates all copies again", mirrors())
    write("a", 501, 510)
    compare("anew")
    ok(are_whole(), "the next start: new bytes are in the copies", mirrors())
    leave(child)


def test_idle():
    """The log of a finished run: its copy is closed until the log grows."""
    write("a", 511, 520, FINAL)
    write("b", 301, 310, FINAL)
    child = collect()
    until(is_stored)
    leave(child)
    base = sqlite3.connect(DB)
    base.execute("UPDATE runs SET last_wall_ms = last_wall_ms - 3600000")
    base.commit()
    base.close()
    child = collect()
    until(lambda: "live" in said())
    shutil.rmtree(os.path.dirname(mirrors()[0]))
    write("a", 0, 50)
    ok(until(lambda: "a.log is incomplete" in said()),
       "a finished log whose copy was deleted grows: this is reported", said())
    compare("idle")
    leave(child)
    note(said())


def test_away():
    child = collect()
    # The database has all bytes already: only the copies show when all
    # arrived.
    ok(until(are_whole), "both copies are created again", mirrors())
    compare("before the log was deleted")
    os.rename(LOGS + "/b.log", top + "/b.log")
    ok(until(lambda: "b.log is gone from the pod" in said()),
       "a deleted log is reported", said())
    remove()
    with open(top + "/b.log", "a") as log:
        log.write("step:311/900 train_loss:2.9 train_time:15550ms"
                  " step_avg:50.00ms\n")
    os.rename(top + "/b.log", LOGS + "/b.log")
    ok(until(lambda: "b.log is back (the same file)" in said()),
       "a log that is back is reported", said())
    ok(until(lambda: "b.log is incomplete" in said()),
       "without its copy, the whole log is read again", said())
    compare("back")
    leave(child)
    note(said())


def main():
    os.mkdir(LOGS)
    with open(CONFIG, "w") as file:
        json.dump({"pods": [{"name": "p", "transport": "local",
                             "logs": [LOGS + "/*.log"]}],
                   "telemetry_s": 3600}, file)
    test_live()
    test_idle()
    test_away()
    return finish()


try:
    status = main()
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
