#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From the start to the first full screen, with a database of BENCH_RUNS
(1,000) runs and about ten million samples: generated logs, stored by
`collect`, then the dashboard in a pseudo-terminal.

runs: the table of all runs is on the screen; full: so are the charts and the
log of the selected run.

Next to it, in the same rounds, the time of `sqlite3` to count the runs of that
database, and of the dashboard with an empty database. BENCH_EVERY (2): one row
per this number of steps; 4 halves the samples. BENCH_ROUNDS (7)."""
import json
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
TUI = os.path.abspath(os.environ.get("HGYM_TUI",
                                     os.path.join(BUILD, "hgym-tui")))
GEN = os.path.abspath(os.path.join(BUILD, "tests/tools/gen-logs"))
RUNS = int(os.environ.get("BENCH_RUNS", "1000"))
EVERY = os.environ.get("BENCH_EVERY", "2")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "7"))
PODS = 4
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_env  # noqa: E402
from vt import PATIENCE_S, Program  # noqa: E402


def first_screen(top, env, db, want):
    """Seconds until each text of want is shown, by its name: the output of two
    seconds is replayed piece by piece afterwards."""
    begin = time.monotonic()
    program = Program([TUI, "--config", top + "/config.json", "--db", db],
                      120, 40, env, top)
    end, seen = 2, {}
    # A slow machine needs longer.
    while len(seen) < len(want) and end < PATIENCE_S:
        pieces = []
        while time.monotonic() - begin < end:
            if select.select([program.fd], [], [], 0.1)[0]:
                data = os.read(program.fd, 65536)
                pieces.append((time.monotonic() - begin, data))
        for at, data in pieces:
            program.screen.feed(data)
            text = program.screen.text()
            for name, check in want.items():
                if name not in seen and check(text):
                    seen[name] = at
        end += 2
    program.close()
    return seen


def sqlite_s(db):
    begin = time.monotonic()
    subprocess.run(["sqlite3", db, "SELECT count(*) FROM runs"], check=True,
                   stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    if shutil.which("sqlite3") is None:
        print("needs sqlite3")
        return
    with tempfile.TemporaryDirectory(prefix="bench-start.") as top:
        env = home_env(top)
        for i in range(PODS):
            subprocess.run([GEN, "--every", EVERY, "--files",
                            str(RUNS // PODS), "--seed",
                            str(1 + i * RUNS // PODS), f"{top}/logs{i}"],
                           check=True)
        with open(top + "/config.json", "w") as file:
            json.dump({"telemetry_s": 3600, "pods": [
                {"name": f"pod{i}", "transport": "local",
                 "logs": [f"{top}/logs{i}/*.log"]} for i in range(PODS)]},
                file)
        db = top + "/big.db"
        subprocess.run([TUI, "--config", top + "/config.json", "--db", db,
                        "collect", "--until-idle", "3"],
                       env=env, check=True,
                       stderr=subprocess.DEVNULL)
        # They ended an hour ago, like runs of the last evening.
        subprocess.run(["sqlite3", db, "UPDATE runs SET last_wall_ms ="
                        " last_wall_ms - 3600000"], check=True)
        count = subprocess.run(
            ["sqlite3", db, "SELECT count(*) FROM v_samples"], check=True,
            stdout=subprocess.PIPE, text=True).stdout.strip()
        print(f"{RUNS} runs, {int(count):,} samples, "
              f"{os.path.getsize(db) / 1e6:.0f} MB")
        want = {"runs": lambda t: f"Runs ({RUNS // PODS * PODS})" in t,
                "full": lambda t: t.count("┤") >= 4 and "loading from" not in t}
        got, sqlite, empty = [], [], []
        for i in range(ROUNDS):
            sqlite.append(sqlite_s(db))
            got.append(first_screen(top, env, db, want))
            empty.append(first_screen(
                top, env, f"{top}/none{i}.db",
                {"paint": lambda t: "Fleet" in t})["paint"])
        base = statistics.median(sqlite)
        for name, values in (("runs", [g["runs"] for g in got]),
                             ("full", [max(g.values()) for g in got]),
                             ("an empty database", empty),
                             ("sqlite3 count(*)", sqlite)):
            mid = statistics.median(values)
            print(f"{name:18} {mid * 1e3:6.0f} ms  worst "
                  f"{max(values) * 1e3:6.0f} ms  {mid / base:6.1f} x sqlite3")


if __name__ == "__main__":
    main()
