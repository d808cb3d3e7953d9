#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands collect, runs, samples and pods as a user types them."""
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
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

top = tempfile.mkdtemp(prefix="collect.")
env = home_env(top)


def same(got, want, name):
    if not ok(got == want, name):
        note(f" got: {got!r}\nexpected: {want!r}")


def waits(check, name):
    """Wait until a check passes. Print all runs if it does not."""
    if not ok(until(check), name):
        note("\n".join(map(repr, rows("runs"))))


def tui(*args):
    return subprocess.run([TUI, *args], env=env, capture_output=True,
                          text=True, timeout=PATIENCE_S)


def start(*args):
    return subprocess.Popen([TUI, *args], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def rows(*args):
    """Read the runs with another configuration: the test's own may be invalid
    now."""
    put(top + "/empty.json", "{}")
    done = tui("--config", top + "/empty.json", *args, "--json")
    return [json.loads(line) for line in done.stdout.splitlines()]


def put(path, text, mode="w"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode) as file:
        file.write(text)


CONFIG = top + "/config/hgym-tui/config.json"
ROW = ("step:{0}/20 train_loss:{1:.4f} train_time:{2}ms"
       " step_avg:50.00ms\n")


def log_rows(first, last):
    return "".join(ROW.format(i, 6 - i / 10, i * 50)
                   for i in range(first, last + 1))


def configure(pods, **more):
    put(CONFIG, json.dumps({"pods": pods, **more}))


def local(name, glob):
    return {"name": name, "transport": "local", "logs": [glob]}


def test_nothing():
    done = tui("runs")
    same(done.returncode, 5, "no database: exit status 5")
    same(done.stderr, f"hgym-tui: no database at {top}/data/hgym-tui/"
         "history.db yet; pass log files (hgym-tui board LOG...), or run "
         "hgym-tui collect\n", "no database: the message has the next step")
    done = tui("collect", "--for", "1")
    same(done.returncode, 2, "no pods: exit status 2")
    same(done.stderr, f"hgym-tui: no pods configured: {CONFIG} does not exist; "
         "hgym-tui init adds one\n",
         "no pods: the message has the next step")
    put(CONFIG, '{"pods": [\n {"nam": "x"}]}')
    done = tui("collect")
    same((done.returncode, done.stderr),
         (2, f"hgym-tui: {CONFIG}:2: pods[0].nam: unknown key; did you mean "
         "\"name\"?\n"),
         "an invalid configuration: file, line and key path")
    same(tui("collect", "--for", "x").returncode, 2, "an invalid number of "
                                                     "seconds")


def test_no_logs():
    """A pattern without files is reported, and gives exit status 5."""
    put(top + "/some/a.log", log_rows(0, 5))
    configure([local("none", top + "/none/*.log"),
               local("some", top + "/some/*.log")])
    collect = ["--db", top + "/none.db", "collect", "--until-idle", "1",
               "--for", "60"]
    done = tui(*collect)
    same(done.returncode, 5, "a pod without any log: exit status 5")
    ok(f"none: live: no readable file matches {top}/none/*.log"
       in done.stderr and "some: live\n" in done.stderr,
       "the pattern without files is named, and no other one", done.stderr)
    configure([local("some", top + "/some/*.log")])
    same(tui(*collect).returncode, 0, "pods with a log give exit status 0")


def steps_of(*args):
    """Return the steps of the first run, if there is one."""
    return next((r["steps"] for r in rows("runs", *args)), None)


def test_live():
    """Follow a log, report a running run, continue after a signal."""
    log = top + "/a/train.log"
    put(log, "seed:7\ntrain_batch_tokens:1000 train_seq_len:10\n"
        + log_rows(0, 5))
    configure([local("here", top + "/a/*.log")])
    child = start("collect")
    waits(lambda: [r["steps"] for r in rows("runs")] == [5],
          "the steps of a log are stored")
    put(log, log_rows(6, 9), "a")
    waits(lambda: [r["steps"] for r in rows("runs")] == [9],
          "new steps are stored")
    row = rows("runs")[0]
    same((row["pod"], row["path"], row["run_id"], row["status"], row["seed"]),
         ("here", log, 1, "running", 7), "a row has pod, path, id and status")
    same(row["final_bpb"], None, "a missing value is null")
    second = tui("collect", "--for", "1")
    same(second.returncode, 1, "a second collector is refused")
    same(second.stderr, f"hgym-tui: another hgym-tui (process {child.pid})"
         f" writes {top}/data/hgym-tui/history.db; this one only reads it\n",
         "a second collector: the message names the first")
    child.send_signal(signal.SIGTERM)
    same(child.wait(PATIENCE_S), 128 + signal.SIGTERM, "SIGTERM: exit status 143")
    same(rows("runs")[0]["status"], "truncated",
         "after the end, the status of a run comes from its log")
    parsed = rows("parse", log)[0]
    stored = rows("runs")[0]
    same({k: stored[k] for k in parsed}, parsed, "runs --json has all keys of "
                                                 "parse --json")


def test_queries():
    log = top + "/a/train.log"
    samples = rows("samples", "1")
    losses = [(s["step"], s["value"]) for s in samples
              if s["metric"] == "train_loss"]
    same(losses, [(i, round(6 - i / 10, 4)) for i in range(10)],
         "samples equal the rows of the log")
    same(rows("samples", "train", "--metric", "train_loss"),
         [s for s in samples if s["metric"] == "train_loss"],
         "samples of one metric, of a run given by a prefix of its name")
    same(tui("samples", "nothing").returncode, 5, "an unknown run: exit status 5")
    same(tui("samples", "1", "--metric", "x").returncode, 2, "an unknown metric: exit status 2")
    same(tui("runs", "--pod", "other").returncode, 5, "a pod without runs: exit status 5")
    same([r["group"] for r in rows("runs", "--group", "a")], [top + "/a"],
         "the runs of a group")
    same(tui("runs", "--group", "b").returncode, 5, "a group without runs: exit status 5")
    same(tui("runs", "--status", "odd").returncode, 2, "an unknown status: exit status 2")
    same(len(tui("runs", "--csv").stdout.splitlines()), 2, "runs as CSV")
    ok(tui("runs", "--md").stdout.startswith("| id |"), "runs as Markdown")
    ok(os.path.basename(log) in tui("runs").stdout, "runs as a table")
    db = sqlite3.connect(top + "/data/hgym-tui/history.db")
    same(db.execute("SELECT offset FROM v_tails WHERE pod = 'here' AND"
                    " path = ?", (log,)).fetchone()[0],
         os.path.getsize(log), "v_tails has the offset")
    same(oct(os.stat(top + "/data/hgym-tui/history.db").st_mode & 0o777),
         "0o600", "only the owner can read the database")
    db.close()


def test_reload():
    put(top + "/b/x.log", log_rows(0, 3))
    child = start("collect")
    waits(lambda: [r["status"] for r in rows("runs")] == ["running"],
          "after a restart a run is running again")
    put(CONFIG, '{"pods": 1}')
    child.send_signal(signal.SIGHUP)
    put(top + "/a/train.log", log_rows(10, 12), "a")
    waits(lambda: steps_of() == 12,
          "an invalid configuration changes nothing")
    configure([local("here", top + "/a/*.log"), local("new", top + "/b/*")])
    child.send_signal(signal.SIGHUP)
    waits(lambda: {r["pod"] for r in rows("runs")} == {"here", "new"},
          "a new pod in the configuration is followed")
    put(top + "/a/train.log", log_rows(13, 14), "a")
    waits(lambda: steps_of("--pod", "here") == 14,
          "a new pod in the configuration: the old one continues")
    configure([local("new", top + "/b/*")])
    child.send_signal(signal.SIGHUP)
    waits(lambda: [r["status"] for r in rows("runs", "--pod", "here")]
          not in ([], ["running"]), "a pod without configuration is not "
                                    "followed")
    put(top + "/b/x.log", log_rows(4, 6), "a")
    waits(lambda: steps_of("--pod", "new") == 6,
          "a pod without configuration: the other one continues")
    child.send_signal(signal.SIGINT)
    same(child.wait(PATIENCE_S), 130, "SIGINT: exit status 130")
    errors = child.stderr.read()
    ok(f"configuration not reloaded: {CONFIG}:1: pods: expected an"
       " array" in errors, "the invalid configuration was reported", errors)


def test_rotation():
    """Every generation of a path is a separate run."""
    configure([local("rot", top + "/c/*")])
    log = top + "/c/t.log"
    put(log, "seed:1\n" + log_rows(0, 4))
    child = start("collect")
    waits(lambda: [r["steps"] for r in rows("runs", "--pod", "rot")]
          == [4], "the first file is stored")
    os.rename(log, log + ".1")
    put(log, "seed:2\n" + log_rows(0, 2))
    waits(lambda: {(r["path"], r["seed"], r["steps"])
          for r in rows("runs", "--pod", "rot")}
          == {(log + ".1", 1, 4), (log, 2, 2)}, "rotated: both files are "
                                                "stored")
    put(log, "seed:3\n" + log_rows(0, 1))
    waits(lambda: {(r["gen"], r["seed"], r["steps"]) for r in
          rows("runs", "--pod", "rot") if r["path"] == log and
          r["seed"] == 3} == {(2, 3, 1)},
          "truncated: a new generation")
    same(len(rows("runs", "--pod", "rot")), 3, "truncated: the old run is "
                                               "kept")
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)


def test_rules():
    """After a change of the rules a log is read again from its first byte."""
    put(top + "/d/t.log", "seed:5\n" + "".join(
        f"mine {i} loss={i}.5\n" + ROW.format(i, 3, i * 50)
        for i in range(4)))
    configure([local("own", top + "/d/*")])

    def metrics():
        found = rows("runs", "--pod", "own")
        return [(r["run_id"], s["metric"], s["value"]) for r in found
                for s in rows("samples", str(r["run_id"]))
                if s["metric"] in ("fitness", "train_loss")]

    def collect():
        same(tui("collect", "--until-idle", "1").returncode, 0, "the log is collected")

    collect()
    before = metrics()
    same([m[1] for m in before], ["train_loss"] * 4, "a run that matches the "
                                                     "current rules")
    put(top + "/mine.json", json.dumps(
        {"schema": "hgym-tui.format/1", "name": "mine", "rules": [
            {"name": "m", "kind": "train", "needs": "mine ",
             "match": r"^mine (?<step>\d+) loss=(?<fitness>\S+)"}]}))
    configure([local("own", top + "/d/*")], formats=[top + "/mine.json"])
    collect()
    after = metrics()
    same(sorted(m[1] for m in after), ["fitness"] * 4 + ["train_loss"] * 4,
         "a run that matches a new rule, from the first line on")
    same({m[0] for m in after}, {m[0] for m in before}, "new rules: runs keep "
                                                        "their ids")
    configure([local("own", top + "/d/*")])
    collect()
    same(metrics(), before, "old rules again: the old values")


def test_metrics():
    """A metrics file that grows, cut at any byte, across a restart."""
    log = top + "/m/metrics.csv"
    text = "".join(f"{i},{5 - i / 8},{i / 4},,x\r\n" for i in range(1, 9))

    def samples(*args):
        return [(s["step"], s["metric"], s["value"])
                for s in rows("samples", top + "/m", *args)]

    put(log, "step,loss,grad/norm,train_loss,host\r\n" + text[:15])
    put(log, "\r\n\r\n", "a")
    configure([local("m", top + "/m/*.csv")])
    # Text that may be a partial row is not counted; it may be a row after a
    # restart.
    same(tui("collect", "--until-idle", "1").returncode, 0, "the first row arrives")
    same(rows("runs", "--pod", "m"), [], "the first row alone is not a run")
    child = start("collect")
    for at in range(15, len(text), 7):
        put(log, text[at:at + 7], "a")
    put(log, "9,3,,7,x\n", "a")
    waits(lambda: steps_of("--pod", "m") == 9, "with more rows it is a run")
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)
    same(samples("--metric", "train_loss"),
         [(i, "train_loss", 5 - i / 8) for i in range(1, 9)],
         "no point is lost; a row with two training losses has none")
    same(samples("--metric", "loss"), samples("--metric", "train_loss"),
         "a metric by its printed name")
    same(samples("--metric", "grad/norm"),
         [(i, "grad/norm", i / 4) for i in range(1, 9)], "an additional metric")
    same(samples("--metric", "train_loss (printed)"),
         [(9, "train_loss (printed)", 7)],
         "a printed name that is also the name of a metric")
    done = tui("samples", top + "/m", "--metric", "Loss")
    same(done.returncode, 2, "an unknown printed name")
    ok(" has loss, grad/norm, " in done.stderr,
       "an unknown printed name: the message lists the known ones: " + done.stderr)
    stored = rows("runs", "--pod", "m")[0]
    parsed = rows("parse", log)[0]
    same({k: stored[k] for k in parsed}, parsed, "a run has the values that "
                                                 "parse prints")


def test_unreachable():
    configure([local("here", top + "/a/*.log"),
               {"name": "far", "ssh": "x@127.0.0.1:1",
                "transport": "openssh", "logs": ["/x"]}])
    done = tui("collect", "--until-idle", "1", "--for", "60")
    same(done.returncode, 4, "a pod that cannot be reached: exit status 4")
    ok("far: not reached: " in done.stderr, "a pod that cannot be reached: message: " + done.stderr.strip()[:200]
       .replace("\n", " / "))
    done = tui("pods", "here", "--json")
    same(done.returncode, 0, "pods with one name: exit status 0")
    row = json.loads(done.stdout)
    same((row["pod"], row["state"], row["why"]), ("here", "live", None),
         "pods with one name: the pod is live")
    ok(row["host_load"] is not None and row["disk_free_bytes"] > 0,
       "load and free disk space are known")
    same(tui("pods", "nobody").returncode, 2, "an unknown pod: exit status 2")


SLOW = """#!/bin/sh
%s "$@" | { stdbuf -o0 head -c 100000; sleep 3; cat; }
"""


def test_slow_pod():
    """A pod that pauses in the middle of a log is not finished."""
    log = top + "/slow/t.log"
    put(log, log_rows(0, 9) + "words that nobody takes\n" * 10000
        + log_rows(10, 20))
    configure([local("slow", top + "/slow/*")])
    put(top + "/bin/python3", SLOW % sys.executable)
    os.chmod(top + "/bin/python3", 0o755)
    path = env["PATH"]
    env["PATH"] = top + "/bin:" + path
    done = tui("collect", "--until-idle", "1", "--for", "200")
    env["PATH"] = path
    same((done.returncode, [(r["steps"], r["bytes"]) for r in
                            rows("runs", "--pod", "slow")]),
         (0, [(20, os.path.getsize(log))]), "the rest of a log from a slow "
                                            "pod is read")


def test_damage():
    """A page of the database is damaged: nothing is read from it."""
    configure([local("worn", top + "/a/*.log")])
    db = top + "/worn.db"
    collect = ["--db", db, "collect", "--until-idle", "1", "--for", "60"]
    same(tui(*collect).returncode, 0, "a separate database")
    base = sqlite3.connect(db)
    base.execute("WITH n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n"
                 " WHERE i < 4000) INSERT INTO tails(id, pod, name, gen, path)"
                 " SELECT i, 'worn', 'n' || i, 0, '/gone/' || i FROM n")
    base.commit()
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    page_bytes = base.execute("PRAGMA page_size").fetchone()[0]
    base.close()
    with open(db, "r+b") as file:
        at = file.read().index(b"/gone/2500") // page_bytes * page_bytes
        file.seek(at)
        file.write(b"\xff" * page_bytes)
    done = tui(*collect)
    same(done.returncode, 1, "a damaged page: exit status 1")
    ok("malformed" in done.stderr and done.stderr.count("\n") == 1,
       "a damaged page is reported before any log is followed: " + done.stderr.strip())


try:
    test_nothing()
    test_no_logs()
    test_live()
    test_queries()
    test_reload()
    test_rotation()
    test_rules()
    test_metrics()
    test_unreachable()
    test_slow_pod()
    test_damage()
finally:
    status = finish()
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
