#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the screen costs: bytes to the terminal and CPU time per frame, in a
real pseudo-terminal, at 80x24 and 200x60.

	unchanged	only the clock changes (one frame per second)
	growing		the runs of the demo continue, charts have a fixed axis
	scrolling	a key scrolls a log by one line per frame

Then the time until the first full screen of the demo, and with many logs:

	first screen	until the list of 5,000 short logs is painted
	key		CPU time of each key over 5,000 runs, the worst one named
			(goal: first screen 150 ms, key 16 ms)
	memory		peak of 1,024 logs of 1 MB, by path and of a pod with a
			database (goal: 96 MB)

BENCH_SECONDS (8), BENCH_RUNS (5000), BENCH_FILES (1024)."""
import json
import os
import select
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
TUI = os.environ.get("HGYM_TUI", os.path.join(BUILD, "hgym-tui"))
GEN = os.path.join(BUILD, "tests/tools/gen-logs")
SECONDS = float(os.environ.get("BENCH_SECONDS", "8"))
RUNS = int(os.environ.get("BENCH_RUNS", "5000"))
FILES = int(os.environ.get("BENCH_FILES", "1024"))
KEYS = ["j", "k", "G", "g", "\x1b[6~", "s", "S", "/", "s", "4", "2", "\x1b",
        " ", "R", "]", "3", "j", "4", "l", "2", "J", "7", "6", "1"]
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


def main_ms(pid):
    """CPU time of the main thread, which is more precise than cpu_ms."""
    with open("/proc/%d/schedstat" % pid) as stat:
        return int(stat.read().split()[0]) / 1e6


def peak_mb(pid):
    with open("/proc/%d/status" % pid) as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def wait_until_read(program, seconds=600):
    """Wait until the program uses less than a fifth of a processor."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = cpu_ms(program.pid)
        program.pump(2)
        if cpu_ms(program.pid) - before < 400:
            return


def window_ms(program):
    """CPU time of the main thread in the next second; less at toy size."""
    before, end = main_ms(program.pid), time.monotonic() + min(1, SECONDS / 8)
    while time.monotonic() < end:
        program.pump(0.05)
    return main_ms(program.pid) - before


def many_runs(home):
    os.mkdir(home + "/many")
    paths = ["%s/many/%04d.log" % (home, i) for i in range(RUNS)]
    for i, path in enumerate(paths):
        with open(path, "w") as log:
            log.write("seed:%d\ntrain_batch_tokens:1000 train_seq_len:10 "
                      "iterations:1000\n" % i)
            log.writelines(
                "step:%d/1000 train_loss:%.4f train_time:%dms "
                "step_avg:100.00ms\n" % (step, 5 - step / 300 + i / RUNS,
                                         step * 100)
                for step in range(100, 1001, 100))
            log.write("step:1000/1000 val_loss:2.0 val_bpb:%.4f "
                      "train_time:100000ms step_avg:100.00ms\n" %
                      (1 + i / RUNS))
    begin = time.monotonic()
    p = start(paths, (120, 40), home)
    while "Runs (" not in p.screen.text():
        if select.select([p.fd], [], [], 10)[0]:
            p.drain()
    print("%d logs: first screen %.0f ms" %
          (RUNS, (time.monotonic() - begin) * 1e3))
    wait_until_read(p)
    # The program checks all files for changes once per second: measure whole
    # seconds, without and with a key.
    took = []
    for key in KEYS:
        idle = window_ms(p)
        p.send(key)
        took.append((window_ms(p) - idle, key))
    took.sort()
    print("CPU of a key: median %.1f ms, worst %.1f ms (%r), %.1f ms (%r)" %
          (took[len(took) // 2][0], *took[-1], *took[-2]))
    p.close()


def memory(home):
    subprocess.run([GEN, "--files", str(FILES), "--mb", "1", home + "/big"],
                   check=True)
    with open(home + "/config.json", "w") as config:
        json.dump({"telemetry_s": 3600, "pods": [
            {"name": "pod", "transport": "local",
             "logs": [home + "/big/*.log"]}]}, config)
    names = sorted(os.listdir(home + "/big"))
    for name, args in (
            ("by path", [home + "/big/" + log for log in names]),
            ("of a pod", ["--config", home + "/config.json",
                          "--db", home + "/big.db"])):
        p = start(args, (120, 40), home)
        p.wait_for("Runs (")
        wait_until_read(p)
        print("%d logs of 1 MB %s: peak %.0f MB" %
              (len(names), name, peak_mb(p.pid)))
        p.close()


def measure(program, frames, step):
    """Bytes and CPU time of a number of frames, each started by step()."""
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
        many_runs(home)
        memory(home)


if __name__ == "__main__":
    main()
