#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collect, runs, samples and pods as a user meets them."""
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
        note(f" got: {got!r}\nwant: {want!r}")


def waits(check, name):
    """A check of what is to come; all runs tell why it did not."""
    if not ok(until(check), name):
        note("\n".join(map(repr, rows("runs"))))


def tui(*args):
    return subprocess.run([TUI, *args], env=env, capture_output=True,
                          text=True, timeout=PATIENCE_S)


def start(*args):
    return subprocess.Popen([TUI, *args], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def rows(*args):
    """By a configuration of its own: ours may be broken just now."""
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
    same(done.returncode, 5, "no database is exit status 5")
    same(done.stderr, f"hgym-tui: no database at {top}/data/hgym-tui/"
         "history.db yet; pass log files (hgym-tui board LOG...), or run "
         "hgym-tui collect\n", "and said")
    done = tui("collect", "--for", "1")
    same(done.returncode, 2, "no pods is exit status 2")
    same(done.stderr, f"hgym-tui: no pods configured: {CONFIG} does not exist; "
         "hgym-tui init adds one\n",
         "and said")
    put(CONFIG, '{"pods": [\n {"nam": "x"}]}')
    done = tui("collect")
    same((done.returncode, done.stderr),
         (2, f"hgym-tui: {CONFIG}:2: pods[0].nam: unknown key; did you mean "
         "\"name\"?\n"),
         "a wrong configuration names file, line and key path")
    same(tui("collect", "--for", "x").returncode, 2, "wrong seconds")


def test_no_logs():
    """A pattern without files is reported, and is exit status 5."""
    put(top + "/some/a.log", log_rows(0, 5))
    configure([local("none", top + "/none/*.log"),
               local("some", top + "/some/*.log")])
    collect = ["--db", top + "/none.db", "collect", "--until-idle", "1",
               "--for", "60"]
    done = tui(*collect)
    same(done.returncode, 5, "a pod without any log is exit status 5")
    ok(f"none: live: no readable file matches {top}/none/*.log"
       in done.stderr and "some: live\n" in done.stderr,
       "its pattern is named, and that of no other pod", done.stderr)
    configure([local("some", top + "/some/*.log")])
    same(tui(*collect).returncode, 0, "a pod with a log is not")


def steps_of(*args):
    """The steps of the first run, if there is one."""
    return next((r["steps"] for r in rows("runs", *args)), None)


def test_live():
    """Follows, says running, goes on after a signal."""
    log = top + "/a/train.log"
    put(log, "seed:7\ntrain_batch_tokens:1000 train_seq_len:10\n"
        + log_rows(0, 5))
    configure([local("here", top + "/a/*.log")])
    child = start("collect")
    waits(lambda: [r["steps"] for r in rows("runs")] == [5],
          "the steps of a log are there")
    put(log, log_rows(6, 9), "a")
    waits(lambda: [r["steps"] for r in rows("runs")] == [9],
          "and the next ones when they come")
    row = rows("runs")[0]
    same((row["pod"], row["path"], row["run_id"], row["status"], row["seed"]),
         ("here", log, 1, "running", 7), "a row with pod, path, id, status")
    same(row["final_bpb"], None, "what is not there is null")
    second = tui("collect", "--for", "1")
    same(second.returncode, 1, "a second collector is refused")
    same(second.stderr, f"hgym-tui: another hgym-tui (process {child.pid})"
         f" writes {top}/data/hgym-tui/history.db; this one only reads it\n",
         "and says by whom")
    child.send_signal(signal.SIGTERM)
    same(child.wait(PATIENCE_S), 128 + signal.SIGTERM, "SIGTERM ends it: 143")
    same(rows("runs")[0]["status"], "truncated",
         "then a run is what its log says")
    parsed = rows("parse", log)[0]
    stored = rows("runs")[0]
    same({k: stored[k] for k in parsed}, parsed, "all keys are those of parse")


def test_queries():
    log = top + "/a/train.log"
    samples = rows("samples", "1")
    losses = [(s["step"], s["value"]) for s in samples
              if s["metric"] == "train_loss"]
    same(losses, [(i, round(6 - i / 10, 4)) for i in range(10)],
         "samples are those of the log")
    same(rows("samples", "train", "--metric", "train_loss"),
         [s for s in samples if s["metric"] == "train_loss"],
         "by the beginning of its name, one metric")
    same(tui("samples", "nothing").returncode, 5, "no such run")
    same(tui("samples", "1", "--metric", "x").returncode, 2, "an unknown metric")
    same(tui("runs", "--pod", "other").returncode, 5, "no run of a pod")
    same([r["group"] for r in rows("runs", "--group", "a")], [top + "/a"],
         "the runs of a group")
    same(tui("runs", "--group", "b").returncode, 5, "no run of a group")
    same(tui("runs", "--status", "odd").returncode, 2, "no such status")
    same(len(tui("runs", "--csv").stdout.splitlines()), 2, "CSV")
    ok(tui("runs", "--md").stdout.startswith("| id |"), "Markdown")
    ok(os.path.basename(log) in tui("runs").stdout, "a table")
    db = sqlite3.connect(top + "/data/hgym-tui/history.db")
    same(db.execute("SELECT offset FROM v_tails WHERE pod = 'here' AND"
                    " path = ?", (log,)).fetchone()[0],
         os.path.getsize(log), "v_tails has the offset")
    same(oct(os.stat(top + "/data/hgym-tui/history.db").st_mode & 0o777),
         "0o600", "the database is its owner's alone")
    db.close()


def test_reload():
    put(top + "/b/x.log", log_rows(0, 3))
    child = start("collect")
    waits(lambda: [r["status"] for r in rows("runs")] == ["running"],
          "a run is running again")
    put(CONFIG, '{"pods": 1}')
    child.send_signal(signal.SIGHUP)
    put(top + "/a/train.log", log_rows(10, 12), "a")
    waits(lambda: steps_of() == 12,
          "a broken configuration changes nothing")
    configure([local("here", top + "/a/*.log"), local("new", top + "/b/*")])
    child.send_signal(signal.SIGHUP)
    waits(lambda: {r["pod"] for r in rows("runs")} == {"here", "new"},
          "a new pod is followed")
    put(top + "/a/train.log", log_rows(13, 14), "a")
    waits(lambda: steps_of("--pod", "here") == 14,
          "the old one goes on")
    configure([local("new", top + "/b/*")])
    child.send_signal(signal.SIGHUP)
    waits(lambda: [r["status"] for r in rows("runs", "--pod", "here")]
          not in ([], ["running"]), "one that is gone is let go")
    put(top + "/b/x.log", log_rows(4, 6), "a")
    waits(lambda: steps_of("--pod", "new") == 6,
          "the other goes on")
    child.send_signal(signal.SIGINT)
    same(child.wait(PATIENCE_S), 130, "SIGINT: 130")
    errors = child.stderr.read()
    ok(f"configuration not reloaded: {CONFIG}:1: pods: expected an"
       " array" in errors, "the broken one was said", errors)


def test_rotation():
    """Every generation of a path is a run of its own."""
    configure([local("rot", top + "/c/*")])
    log = top + "/c/t.log"
    put(log, "seed:1\n" + log_rows(0, 4))
    child = start("collect")
    waits(lambda: [r["steps"] for r in rows("runs", "--pod", "rot")]
          == [4], "the first file")
    os.rename(log, log + ".1")
    put(log, "seed:2\n" + log_rows(0, 2))
    waits(lambda: {(r["path"], r["seed"], r["steps"])
          for r in rows("runs", "--pod", "rot")}
          == {(log + ".1", 1, 4), (log, 2, 2)}, "rotated: both")
    put(log, "seed:3\n" + log_rows(0, 1))
    waits(lambda: {(r["gen"], r["seed"], r["steps"]) for r in
          rows("runs", "--pod", "rot") if r["path"] == log and
          r["seed"] == 3} == {(2, 3, 1)},
          "cut short: a new generation")
    same(len(rows("runs", "--pod", "rot")), 3, "and the old run stays")
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)


def test_rules():
    """With other rules a live log is read again from its first byte."""
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
        same(tui("collect", "--until-idle", "1").returncode, 0, "collected")

    collect()
    before = metrics()
    same([m[1] for m in before], ["train_loss"] * 4, "by the rules that are")
    put(top + "/mine.json", json.dumps(
        {"schema": "hgym-tui.format/1", "name": "mine", "rules": [
            {"name": "m", "kind": "train", "needs": "mine ",
             "match": r"^mine (?<step>\d+) loss=(?<fitness>\S+)"}]}))
    configure([local("own", top + "/d/*")], formats=[top + "/mine.json"])
    collect()
    after = metrics()
    same(sorted(m[1] for m in after), ["fitness"] * 4 + ["train_loss"] * 4,
         "by one more rule, from the first line on")
    same({m[0] for m in after}, {m[0] for m in before}, "runs keep their ids")
    configure([local("own", top + "/d/*")])
    collect()
    same(metrics(), before, "and back")


def test_metrics():
    """A metrics file that grows, cut anywhere, over a restart."""
    log = top + "/m/metrics.csv"
    text = "".join(f"{i},{5 - i / 8},{i / 4},,x\r\n" for i in range(1, 9))

    def samples(*args):
        return [(s["step"], s["metric"], s["value"])
                for s in rows("samples", top + "/m", *args)]

    put(log, "step,loss,grad/norm,train_loss,host\r\n" + text[:15])
    put(log, "\r\n\r\n", "a")
    configure([local("m", top + "/m/*.csv")])
    # What can be a row only is none, and may be one after a restart.
    same(tui("collect", "--until-idle", "1").returncode, 0, "a first row")
    same(rows("runs", "--pod", "m"), [], "is no run yet")
    child = start("collect")
    for at in range(15, len(text), 7):
        put(log, text[at:at + 7], "a")
    put(log, "9,3,,7,x\n", "a")
    waits(lambda: steps_of("--pod", "m") == 9, "with the next ones it is")
    child.send_signal(signal.SIGTERM)
    child.wait(PATIENCE_S)
    same(samples("--metric", "train_loss"),
         [(i, "train_loss", 5 - i / 8) for i in range(1, 9)],
         "no point is lost; of a row with two training losses there is none")
    same(samples("--metric", "loss"), samples("--metric", "train_loss"),
         "by its printed name too")
    same(samples("--metric", "grad/norm"),
         [(i, "grad/norm", i / 4) for i in range(1, 9)], "one of its own")
    same(samples("--metric", "train_loss (printed)"),
         [(9, "train_loss (printed)", 7)],
         "one that is printed like the metric")
    done = tui("samples", top + "/m", "--metric", "Loss")
    same(done.returncode, 2, "a name that is not there")
    ok(" has loss, grad/norm, " in done.stderr,
       "is told with those that are: " + done.stderr)
    stored = rows("runs", "--pod", "m")[0]
    parsed = rows("parse", log)[0]
    same({k: stored[k] for k in parsed}, parsed, "a run as parse tells it")


def test_unreachable():
    configure([local("here", top + "/a/*.log"),
               {"name": "far", "ssh": "x@127.0.0.1:1",
                "transport": "openssh", "logs": ["/x"]}])
    done = tui("collect", "--until-idle", "1", "--for", "60")
    same(done.returncode, 4, "a pod that cannot be reached: 4")
    ok("far: re" in done.stderr, "and said: " + done.stderr.strip()[:200]
       .replace("\n", " / "))
    done = tui("pods", "here", "--json")
    same(done.returncode, 0, "one pod is asked")
    row = json.loads(done.stdout)
    same((row["pod"], row["state"], row["why"]), ("here", "live", None),
         "and lives")
    ok(row["host_load"] is not None and row["disk_free_bytes"] > 0,
       "load and free disk are known")
    same(tui("pods", "nobody").returncode, 2, "no such pod")


SLOW = """#!/bin/sh
%s "$@" | { stdbuf -o0 head -c 100000; sleep 3; cat; }
"""


def test_slow_pod():
    """A pod that says nothing in the middle of a log is not taken for idle."""
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
         (0, [(20, os.path.getsize(log))]), "a slow pod is waited for")


def test_damage():
    """A page of what was followed is rubbish: no half of it is taken."""
    configure([local("worn", top + "/a/*.log")])
    db = top + "/worn.db"
    collect = ["--db", db, "collect", "--until-idle", "1", "--for", "60"]
    same(tui(*collect).returncode, 0, "a database of its own")
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
    same(done.returncode, 1, "a damaged page is told: 1")
    ok("malformed" in done.stderr and done.stderr.count("\n") == 1,
       "before anything is followed: " + done.stderr.strip())


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
