#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A local copy that is ahead of the database, as after a kill. While the copy is
read again, the database never has samples without their run, and after another
kill no sample belongs to another run."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from database import read_rows  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

top = tempfile.mkdtemp(prefix="collect-replay.")
env = home_env(top)
CONFIG, DB, LOG = top + "/config.json", top + "/all.db", top + "/logs/a.log"
STEPS = 60000
ORPHANS = ("SELECT count(*) FROM sample_rows"
           " WHERE run_id NOT IN (SELECT id FROM runs)")


def make_log():
    os.mkdir(top + "/logs")
    with open(LOG, "w") as file:
        for seed, steps in (1, 50), (2, STEPS), (3, STEPS):
            file.write(f"seed:{seed}\nworld_size:8 grad_accum_steps:1\n")
            file.write("".join(
                f"step:{i}/{steps} train_loss:{6 - i / steps:.4f}"
                f" train_time:{i * 50}ms step_avg:50.00ms\n"
                for i in range(1, steps + 1)))
            file.write("final_int8_zlib_roundtrip val_loss:2.0500"
                       " val_bpb:1.2345 eval_time:1234ms\n")
    configure("here")


def configure(*pods):
    with open(CONFIG + ".new", "w") as file:
        json.dump({"pods": [{"name": name, "transport": "local",
                             "logs": [LOG]} for name in pods]}, file)
    os.rename(CONFIG + ".new", CONFIG)


def collect(*args):
    return subprocess.Popen([TUI, "--config", CONFIG, "--db", DB, "collect",
                             *args], env=env, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


def read_all():
    child = collect("--until-idle", "1", "--for", "300")
    said = child.communicate()[1].decode(errors="replace")
    if not ok(child.returncode == 0, "the log is stored"):
        note(said)


def ask(sql):
    """Return the rows, or 0 if the database or the table does not exist."""
    return read_rows(DB, sql) or [(0,)]


def all_samples():
    return ask("SELECT r.run_index, s.line, s.seq, s.step, s.m0, s.v0, s.m1,"
               " s.v1, s.m2, s.v2, s.m3, s.v3 FROM sample_rows s"
               " JOIN runs r ON r.id = s.run_id ORDER BY 1, 2, 3")


def begin_of_second():
    """Return the line before the second run, and the offset of its end."""
    line = ask("SELECT first_line FROM runs WHERE run_index = 1")[0][0] - 1
    with open(LOG, "rb") as file:
        return line, sum(len(file.readline()) for _ in range(line))


def go_back(place):
    """Reset the database to when it had only the first run."""
    base = sqlite3.connect(DB)
    base.execute("DELETE FROM sample_rows WHERE run_id != 1")
    base.execute("DELETE FROM runs WHERE id != 1")
    base.execute("UPDATE tails SET lines = ?, offset = ?", place)
    base.commit()
    base.close()


def kill_in_the_middle(n_all):
    """Kill the collector when a part is stored. Returns the number of samples
    without a run."""
    child = collect("--for", "300")
    orphans = n = 0
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and child.poll() is None:
        n = ask("SELECT count(*) FROM sample_rows")[0][0]
        orphans = max(orphans, ask(ORPHANS)[0][0])
        if n > 60:
            break
    child.kill()
    child.communicate()
    n = ask("SELECT count(*) FROM sample_rows")[0][0]
    return max(orphans, ask(ORPHANS)[0][0]), 60 < n < n_all


def leave_in_the_middle(wait_s):
    """Remove a pod and add it again, then stop the program. Returns its
    runs."""
    for path in DB, DB + "-wal", DB + "-shm":
        if os.path.exists(path):
            os.unlink(path)
    shutil.rmtree(top + "/state", ignore_errors=True)
    child = collect("--for", "300")
    size = os.stat(LOG).st_size
    until(lambda: ask("SELECT max(offset) FROM tails") == [(size,)])
    for pods in (), ("here",):
        configure(*pods)
        child.send_signal(signal.SIGHUP)
        time.sleep(wait_s)
    child.send_signal(signal.SIGTERM)
    child.communicate()
    return ask("SELECT run_index, status, lines, steps, last_train_loss,"
               " final_bpb FROM runs ORDER BY 1")


def age():
    """Make the runs look as if they had been stored two days ago."""
    with sqlite3.connect(DB) as base:
        base.execute("UPDATE runs SET last_wall_ms = last_wall_ms - 172800000")
    base.close()


def kill_before_the_end():
    """Kill the collector while a log ends within a line, and start another one
    days later."""
    for path in DB, DB + "-wal", DB + "-shm":
        os.unlink(path)
    shutil.rmtree(top + "/state", ignore_errors=True)
    with open(LOG, "w") as file:
        file.write("seed:1\nworld_size:8 grad_accum_steps:1\n"
                   "step:0/594 val_loss:5.0000 val_bpb:3.0000 train_time:")
    child = collect("--for", "300")
    ok(until(lambda: ask("SELECT count(*) FROM runs WHERE live = 1") == [(1,)]),
       "a run in progress is stored")
    child.kill()
    child.communicate()
    age()
    read_all()
    sql = "SELECT lines, status_reason, rev, last_wall_ms > 0 FROM runs"
    row = ask(sql)
    ok(row[0][:2] == (3, "the log ends inside a line"),
       "the last line of an old log counts although it has no newline", row)
    age()
    read_all()
    ok(ask(sql) == row, "a run that is stored completely is not read again",
       ask(sql))


try:
    make_log()
    read_all()
    want = all_samples()
    ok(len(want) > 2 * STEPS, f"the log has {len(want)} rows of samples")
    place = begin_of_second()
    worst, parts = 0, 0
    for _ in range(20):
        go_back(place)
        orphans, is_part = kill_in_the_middle(len(want))
        worst = max(worst, orphans)
        parts += is_part
        if parts == 3:
            break
    ok(parts > 0, f"killed {parts} times with a part stored")
    ok(worst == 0, f"no sample is without its run ({worst})")
    read_all()
    ok(all_samples() == want, "the same samples as before the kills")
    ok(ask("SELECT count(*) FROM runs") == [(3,)], "the samples belong to the "
                                                   "same runs")
    got = [leave_in_the_middle(0.03 * 2 ** n) for n in range(4)]
    if not ok(len(got[0]) == 3 and all(g == got[0] for g in got),
              "a stored row does not change while its log is read again"):
        note(got)
    kill_before_the_end()
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(finish())
