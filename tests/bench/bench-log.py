#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A log of BENCH_LOG_LINES (10,000,000) lines on the screen: how soon its end
is shown, and the first match of a search, next to programs that users know:
`less` in the same pseudo-terminal, and `rg` (or `grep`) over the whole file.

The file is in the page cache, like a file that was just written. A search starts at
the end; near: a hit 10 % before it; far: at the start; none: no hit.
BENCH_ROUNDS (5): medians of this many."""
import os
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
LINES = int(os.environ.get("BENCH_LOG_LINES", "10000000"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from vt import PATIENCE_S, Program  # noqa: E402

ROW = ("step:%d/10000000 train_loss:%.4f train_time:%dms "
       "step_avg:100.00ms\n")
WORDS = {"near": "the needle", "far": "the thimble", "none": "the haystack"}


def write_log(path):
    with open(path, "w", buffering=1 << 20) as out:
        for first in range(0, LINES, 10000):
            out.write("".join(ROW % (i, 3 + 1 / (i + 1), i * 100)
                              for i in range(first,
                                             min(first + 10000, LINES))))
            if first == 0:
                out.write(WORDS["far"] + " at the begin\n")
            if first == LINES * 9 // 10 // 10000 * 10000:
                out.write(WORDS["near"] + " before the end\n")
    with open(path, "rb") as log:
        while log.read(1 << 20):
            pass


def cpu_ticks(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def settle(program):
    """Wait until the program has read the log and uses no more CPU."""
    before = cpu_ticks(program.pid)
    while True:
        program.pump(1.0)
        now = cpu_ticks(program.pid)
        if now - before < 10:
            return
        before = now


def until(program, texts):
    """Milliseconds until one of the texts is on the screen."""
    begin = time.monotonic()
    while not any(t in program.screen.text() for t in texts):
        if time.monotonic() - begin > PATIENCE_S or not program.pump(0.002):
            sys.exit("bench-log: %s never came:\n%s" %
                     (texts, program.screen.text()))
    return (time.monotonic() - begin) * 1e3


def ours(log, home):
    last = ["step:%d/" % (LINES - 1)]
    took = {"open": []}
    for _ in range(ROUNDS):
        p = Program([TUI, log], 120, 40, home_dirs(home), home)
        until(p, ["ms/step"])
        p.send("5")
        took["open"].append(until(p, last))
        p.close()
    p = Program([TUI, log], 120, 40, home_dirs(home), home)
    until(p, ["ms/step"])
    p.send("5")
    settle(p)
    for where, words in WORDS.items():
        took[where] = []
        for _ in range(ROUNDS):
            p.send("G")
            p.settle(0.2, 3)
            until(p, ["following"])
            # The message of the previous search disappears.
            while "no match" in p.screen.text():
                p.pump(0.2)
            p.send("/%s\r" % words)
            took[where].append(until(p, [words + " ", "no match"]))
    with open("/proc/%d/status" % p.pid) as status:
        peak = [w for w in status if w.startswith("VmHWM")][0].split()[1]
    p.send("Q")
    p.end()
    p.close()
    return took, int(peak) / 1024


def of_less(log, home):
    took = {"open": []}
    env = {"HOME": home, "LESS": "", "LESSHISTFILE": "-"}
    last = ["step:%d/" % (LINES - 1)]
    for _ in range(ROUNDS):
        begin = time.monotonic()
        p = Program([shutil.which("less"), "+G", log], 120, 40, env, home)
        until(p, last)
        took["open"].append((time.monotonic() - begin) * 1e3)
        p.close()
    # The near match takes ten seconds, the others more than a minute.
    p = Program([shutil.which("less"), "+G", log], 120, 40, env, home)
    until(p, last)
    p.send("?%s\r" % WORDS["near"])
    took["near"] = [until(p, [WORDS["near"] + " before"])]
    p.close()
    return took


def of_grep(log):
    """Read the whole file, as a search for the first match must."""
    tool = shutil.which("rg") or shutil.which("grep")
    took = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        subprocess.run([tool, "-i", "-m1", WORDS["none"], log],
                       stdout=subprocess.DEVNULL)
        took.append((time.monotonic() - begin) * 1e3)
    return os.path.basename(tool), statistics.median(took)


def main():
    with tempfile.TemporaryDirectory() as home:
        log = os.path.join(home, "big.log")
        write_log(log)
        print("%d lines, %.0f MB" % (LINES, os.path.getsize(log) / 1e6))
        took, peak = ours(log, home)
        less = of_less(log, home) if shutil.which("less") else {}
        tool, whole = of_grep(log)
        print("%-22s %9s %9s %9s %9s" % ("ms", "median", "worst", "less",
                                         "ratio"))
        for name, runs in took.items():
            other = statistics.median(less[name]) if name in less else None
            print("%-22s %9.0f %9.0f %9s %9s" % (
                "its end" if name == "open" else "first hit, " + name,
                statistics.median(runs), max(runs),
                "-" if other is None else "%.0f" % other,
                "-" if other is None else "%.2f" %
                (statistics.median(runs) / other)))
        print("%s -i -m1 over all of it: %.0f ms; first hit, none, beside "
              "it: %.2f" % (tool, whole,
                            statistics.median(took["none"]) / whole))
        print("peak memory: %.1f MiB" % peak)


if __name__ == "__main__":
    main()
