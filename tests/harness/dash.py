#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The dashboard on a real pseudo-terminal shows a HarnessGym run: of a named
directory, and of a configured pod while the run goes on."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SRC, BUILD = os.environ["HGYM_SRC"], os.environ["HGYM_BUILD"]
TUI = os.path.abspath(os.environ["HGYM_TUI"])
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok  # noqa: E402
from vt import Program  # noqa: E402

GEN = os.path.join(BUILD, "tests/tools/harness-gen")
LIMIT_S = 60


def start(args, folder):
    return Program([TUI, *args], 150, 40, home_dirs(folder), folder)


def leave(program):
    """The exit status."""
    program.send("Q")
    status = program.end(LIMIT_S)
    program.close()
    return status


def main():
    folder = tempfile.mkdtemp()
    work = os.path.join(folder, "work")
    try:
        subprocess.run([GEN, work], check=True)
        screen = start([work], folder)
        ok(screen.wait_for("Harness", LIMIT_S), "a named directory opens")
        screen.send("8")
        ok(screen.wait_for("best VERIFIED", LIMIT_S), "its run is shown")
        ok(leave(screen) == 0, "and left")

        # Named before the run begins: it is waited for.
        os.mkdir(os.path.join(folder, "task"))
        with open(os.path.join(folder, "task", "task.md"), "w",
                  encoding="utf-8") as out:
            out.write("Make it faster.\n")
        screen = start([os.path.join(folder, "task")], folder)
        ok(screen.wait_for("Harness", LIMIT_S), "a task's folder opens")
        screen.send("8")
        subprocess.run([GEN, os.path.join(folder, "task")], check=True)
        ok(screen.wait_for("tooling_built", LIMIT_S), "and shows its run")
        ok(leave(screen) == 0, "and is left")

        shutil.rmtree(work)
        subprocess.run([GEN, work, "6"], check=True)
        config = os.path.join(folder, "config.json")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"schema": "hgym-tui.config/1", "pods": [
                {"name": "here", "transport": "local",
                 "logs": [folder + "/*.log"], "harnessgym": [work]}]}, out)
        screen = start(["--config", config, "--db",
                        os.path.join(folder, "db")], folder)
        ok(screen.wait_for("Harness", LIMIT_S), "the dashboard of a pod opens")
        screen.send("8")
        ok(screen.wait_for("rmsnorm-h100", LIMIT_S), "its run is there")
        subprocess.run([GEN, work], check=True)
        ok(screen.wait_for("tooling_built", LIMIT_S),
           "and is followed to its end")
        ok(screen.wait_for("cases of iteration 3", LIMIT_S),
           "to the cases of its best, which nobody chose")
        ok(leave(screen) == 0, "and left")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


sys.exit(main())
