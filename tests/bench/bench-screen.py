#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of the screen: bytes to the terminal and CPU of the program per
frame, in a real pseudo-terminal, at 80x24 and 200x60.

unchanged: only the clock changes (one frame per second); growing: the demo's
runs continue, charts on a fixed axis; scrolling: a log is scrolled by a key,
one line per frame.

And the time until the first full screen (bench-log.py: of long logs)."""
import os
import sys
import tempfile
import time

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
TUI = os.environ.get("HGYM_TUI", os.path.join(BUILD, "hgym-tui"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "8"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from vt import Program  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def cpu_ms(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000.0 / TICK


def start(args, size, home):
    width, height = size
    return Program([os.path.abspath(TUI)] + args, width, height,
                   home_dirs(home), home)


def measure(program, frames, step):
    """Bytes and CPU of this number of frames, each started by step()."""
    program.settle(0.3, 3)
    bytes_0, cpu_0 = program.bytes, cpu_ms(program.pid)
    for _ in range(frames):
        step()
    return ((program.bytes - bytes_0) / frames,
            (cpu_ms(program.pid) - cpu_0) / frames)


def main():
    print("%-10s %-8s %12s %14s" % ("screen", "size", "bytes/frame",
                                    "CPU ms/frame"))
    with tempfile.TemporaryDirectory() as home:
        for size in ((80, 24), (200, 60)):
            name = "%dx%d" % size
            p = start(["demo", "--speed", "0.001"], size, home)
            p.wait_for("h100-a")
            print("%-10s %-8s %12.0f %14.2f" % (("unchanged", name) + measure(
                p, int(SECONDS), lambda: p.pump(1))))
            p.send("5")

            def scroll():
                p.send("k")
                p.pump(0.06)
            print("%-10s %-8s %12.0f %14.2f" % (
                ("scrolling", name) + measure(p, 60, scroll)))
            p.close()
            p = start(["demo", "--speed", "10"], size, home)
            p.wait_for("h100-a")
            print("%-10s %-8s %12.0f %14.2f" % (("growing", name) + measure(
                p, int(SECONDS * 5), lambda: p.pump(0.2))))
            p.close()

        before = time.monotonic()
        p = start(["demo"], (120, 40), home)
        p.wait_for("Runs (12)")
        print("first screen of the demo: %.0f ms" %
              ((time.monotonic() - before) * 1e3))
        p.close()


if __name__ == "__main__":
    main()
