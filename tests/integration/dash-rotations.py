#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The number of descriptors that a dashboard has open: for a log that is
truncated or replaced again and again, and for logs that did not change for an
hour."""
import os
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name)
                for name in ("screen", "support")]
from home import home_env  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from vt import Program  # noqa: E402

TUI = os.path.abspath(os.environ["HGYM_TUI"])
CUTS, REPLACED = 12, 70
# MODEL_MAX_KEPT: the dashboard still shows the lines of this many replaced
# files, and each needs a descriptor.
KEPT = 64


def run_of(seed):
    """Return a log that is shorter than the previous one."""
    return f"seed:{seed}\n" + "".join(
        f"step:{i}/900 train_loss:{6 - i / 300:.4f} train_time:{i * 50}ms"
        " step_avg:50.00ms\n" for i in range(200 - seed))


class Dashboard:
    """A dashboard that shows a new log and logs that are an hour old."""

    def __init__(self, top, n_old=0):
        self.log = top + "/train.log"
        self.runs = 0
        old = [f"{top}/train.log.old{i}" for i in range(n_old)]
        for path in old:
            self.write(path)
            os.utime(path, (time.time() - 3600,) * 2)
        self.write(self.log)
        self.screen = Program([TUI, self.log, *old], 120, 40, home_env(top),
                              top)
        self.sees()

    def write(self, path):
        with open(path, "w") as file:
            file.write(run_of(self.runs))
        self.runs += 1

    def sees(self):
        """Wait until every run that was written is on the screen, and the last
        one is read: an emptied file has a row before its next run is there."""
        return self.screen.wait_for((f"Runs ({self.runs})",
                                     f" {200 - self.runs} "))

    def cut(self):
        self.write(self.log)
        return self.sees()

    def replace(self):
        self.write(self.log + ".new")
        os.rename(self.log + ".new", self.log)
        return self.sees()

    def open_files(self):
        """Descriptors of the log and of files that had its name before."""
        folder = f"/proc/{self.screen.pid}/fd"
        found = []
        for name in os.listdir(folder):
            try:
                found.append(os.readlink(f"{folder}/{name}"))
            except OSError:
                pass
        return [path for path in found if path.startswith(self.log)]

    def comes_to(self, most):
        """Wait until at most `most` descriptors are open: drawing opens a log
        for a moment."""
        return self.screen.until(lambda: len(self.open_files()) <= most)

    def stop(self):
        self.screen.send("q")
        self.screen.close()


def main():
    if not os.path.isdir(f"/proc/{os.getpid()}/fd"):
        skip("descriptors of a process", "needs /proc")
        return finish()
    top = tempfile.mkdtemp(prefix="dash-rotations.")
    dash = Dashboard(top)
    ok(dash.comes_to(1), "a log is opened once", dash.open_files())
    ok(all(dash.cut() for _ in range(CUTS)), "each truncation starts a new "
                                             "run")
    ok(dash.comes_to(1), f"truncated {CUTS} times: the log is open once",
       dash.open_files())
    ok(all(dash.replace() for _ in range(REPLACED)),
       "each replacement starts a new run")
    ok(dash.comes_to(1 + KEPT),
       f"replaced {REPLACED} times: the last {KEPT} files are open once",
       dash.open_files())
    ok(dash.log in dash.open_files(), "replaced: the file with the current "
                                      "name is open once",
       dash.open_files())
    with open(dash.log, "a") as file:
        file.write("step:899/900 train_loss:1.2345 train_time:44950ms"
                   " step_avg:50.00ms\n")
    ok(dash.screen.wait_for("1.2345"), "replaced: the file with the current "
                                       "name is read")
    dash.stop()

    dash = Dashboard(top, 20)
    ok(dash.comes_to(1), "20 logs that are an hour old are read and closed",
       dash.open_files())
    dash.stop()
    shutil.rmtree(top)
    return finish()


sys.exit(main())
