#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two dashboards with one database, killed at random times while logs grow.

One follows and writes, the other one reads. Whichever is killed by SIGKILL is
started again; if it was the writer, the other one takes over. Afterwards the
database must contain what `parse` prints for the files, and the same series as
a database whose dashboard was never killed. HGYM_KILLS is the number of kills
(default 6)."""
import fcntl
import importlib.util
import os
import random
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name)
                for name in ("screen", "support")]
os.environ.setdefault("HGYM_KILLS", "6")
from home import home_env  # noqa: E402
from tap import finish, note, ok, skip_all  # noqa: E402
from vt import Program  # noqa: E402
from wait import until  # noqa: E402


def load(name):
    """Load the parts of the test with one collector."""
    spec = importlib.util.spec_from_file_location(
        "one", os.path.join(HERE, name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def starts_while_locked(dash, db):
    """The first dashboard starts while another process has the lock but no
    database yet."""
    with open(db + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        program = dash()
        program.pump(0.5)
    ok(until(lambda: os.path.exists(db) or program.poll() is not None,
             between=program.pump) and program.poll() is None,
       "the dashboard waits until the database exists",
       program.screen.text())
    return program


def main():
    one = load("collect-kill.py")
    rng = random.Random(int(os.environ.get("HGYM_SEED", "1")))
    top = tempfile.mkdtemp(prefix="pair-kill.")
    logs = os.path.join(top, "logs")
    os.mkdir(logs)
    env = home_env(top)
    config, db = top + "/config.json", top + "/a.db"
    one.write_config(config, logs, None)
    writers = [one.Writer(os.path.join(logs, name), i, kind)
               for i, (name, kind) in enumerate(one.NAMES)]
    for writer in writers:
        writer.start()

    def dash():
        return Program([os.path.abspath(one.TUI), "--config", config, "--db",
                        db], 100, 30, env, top)

    pair = [starts_while_locked(dash, db), dash()]
    kills = 0
    for _ in range(one.KILLS):
        for program in pair:
            program.pump(rng.random())
        i = rng.randrange(2)
        os.kill(pair[i].pid, signal.SIGKILL)
        kills += 1
        pair[i].close()
        if rng.random() < 0.5:
            time.sleep(rng.random())
        pair[i] = dash()
    ok(kills == one.KILLS, f"{kills} kills")
    for writer in writers:
        writer.stop = True
    for writer in writers:
        writer.join()
    for program in pair:
        program.pump(3)
        ok(program.screen.stray == [], "no stray byte on the screen",
           program.screen.stray)

    # The writer ends first: the other one continues for a while.
    def writes(programs):
        with open(db + ".lock") as file:
            pid = file.read().strip()
        return any(str(program.pid) == pid for program in programs)

    def soon(programs, name):
        """The dashboard may first have to notice that the other one has
        ended."""
        if not ok(until(lambda: writes(programs), between=both), name):
            for program in pair:
                note(f"{program.pid}\n{program.screen.text()}")

    def both(seconds):
        for program in pair:
            program.pump(seconds)

    soon(pair, "one dashboard writes")
    pair.sort(key=lambda program: not writes([program]))
    pair.pop(0).close()
    soon(pair, "the other dashboard takes over")
    pair[0].close()
    done = one.run(["--config", config, "--db", db, "collect",
                    "--until-idle", "2", "--for", "600"], env)
    ok(done.returncode == 0, "the last rows are stored", done.stderr)
    one.compare_runs(logs, env, db)
    ok(one.mirrors_equal(logs, top + "/state"),
           "the local copy of each log equals the log")
    fresh = top + "/b.db"
    one.run(["--config", config, "--db", fresh, "collect", "--until-idle",
             "2", "--for", "600"], env)
    first, second = one.series(env, db, logs), one.series(env, fresh, logs)
    for key in set(first) | set(second):
        if first.get(key) != second.get(key):
            note(f"{key}: {len(first.get(key, []))} samples, never killed "
                 f"{len(second.get(key, []))}")
    ok(first == second and sum(map(len, first.values())) > 1000,
           f"the same {sum(map(len, first.values()))} samples as without a "
           "kill")
    shutil.rmtree(top, ignore_errors=True)
    return finish()


sys.exit(main() if sys.platform == "linux" else skip_all("Linux is required"))
