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
	updates		the same logs grow, a tenth of them 10 times per second:
			CPU time per second, and time from a key to its frame
	memory		peak of 1,024 logs of 1 MB, by path and of a pod with a
			database (goal: 96 MB)

BENCH_BASE: an older hgym-tui, measured in turns with this one. BENCH_SECONDS
(8), BENCH_RUNS (5000), BENCH_FILES (1024), BENCH_ROUNDS (5)."""
import json
import os
import resource
import select
import statistics
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
TUI = os.environ.get("HGYM_TUI", os.path.join(BUILD, "hgym-tui"))
PROGRAMS = [os.path.abspath(path)
            for path in (TUI, os.environ.get("BENCH_BASE")) if path]
GEN = os.path.join(BUILD, "tests/tools/gen-logs")
SECONDS = float(os.environ.get("BENCH_SECONDS", "8"))
RUNS = int(os.environ.get("BENCH_RUNS", "5000"))
FILES = int(os.environ.get("BENCH_FILES", "1024"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
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


def start(args, size, home, path=PROGRAMS[0]):
    width, height = size
    return Program([path] + args, width, height, home_dirs(home), home)


def report(name, values, unit):
    """Print a figure of each program, and the ratio to the base."""
    text = "%s: %.1f %s" % (name, values[0], unit)
    if len(values) > 1:
        text += ", base %.1f %s, %.2f x" % (values[1], unit,
                                            values[0] / (values[1] or 1e-9))
    print(text, flush=True)


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


STEP = "step:%d/1000 train_loss:%.4f train_time:%dms step_avg:100.00ms\n"


def make_runs(home):
    os.mkdir(home + "/many")
    paths = ["%s/many/%04d.log" % (home, i) for i in range(RUNS)]
    for i, path in enumerate(paths):
        with open(path, "w") as log:
            log.write("seed:%d\ntrain_batch_tokens:1000 train_seq_len:10 "
                      "iterations:1000\n" % i)
            log.writelines(STEP % (step, 5 - step / 300 + i / RUNS, step * 100)
                           for step in range(100, 1001, 100))
            log.write("step:1000/1000 val_loss:2.0 val_bpb:%.4f "
                      "train_time:100000ms step_avg:100.00ms\n" %
                      (1 + i / RUNS))
    return paths


def first_screen_ms(path, paths, home):
    begin = time.monotonic()
    p = start(paths, (120, 40), home, path)
    while "Runs (" not in p.screen.text():
        if select.select([p.fd], [], [], 10)[0]:
            p.drain()
    took = time.monotonic() - begin
    p.close()
    return took * 1e3


def measure_keys(programs):
    """CPU time of each key: lists of (ms, key) by program."""
    # The program checks all files for changes once per second: measure whole
    # seconds, without and with a key.
    took = [[] for _ in programs]
    for key in KEYS:
        for p, times in zip(programs, took):
            idle = window_ms(p)
            p.send(key)
            times.append((window_ms(p) - idle, key))
    return took


def measure_updates(program, paths):
    """While the logs grow: CPU ms per second, median ms from key to frame."""
    logs = [os.open(path, os.O_WRONLY | os.O_APPEND) for path in paths]
    views = (("3", "RECIPE"), ("1", "Runs ("))
    begin, cpu, times, turn = time.monotonic(), cpu_ms(program.pid), [], 0
    while time.monotonic() < begin + SECONDS:
        line = (STEP % (1001 + turn // 10, 2, 100000)).encode()
        for log in logs[turn % 10::10]:
            os.write(log, line)
        turn += 1
        program.pump(max(0, begin + turn / 10 - time.monotonic()))
        if turn % 5 == 0:
            key, text = views[turn // 5 % 2]
            sent = time.monotonic()
            program.send(key)
            program.until(lambda want=text: want in program.screen.text(), 10)
            times.append((time.monotonic() - sent) * 1e3)
    took = time.monotonic() - begin
    for log in logs:
        os.close(log)
    return (cpu_ms(program.pid) - cpu) / took, statistics.median(times)


def many_runs(home):
    paths = make_runs(home)
    took = [[] for _ in PROGRAMS]
    for _ in range(ROUNDS):
        for path, times in zip(PROGRAMS, took):
            times.append(first_screen_ms(path, paths, home))
    report("first screen of %d logs" % RUNS,
           [statistics.median(times) for times in took], "ms")
    programs = [start(paths, (120, 40), home, path) for path in PROGRAMS]
    for p in programs:
        p.wait_for("Runs (")
        wait_until_read(p)
    keys = [sorted(times) for times in measure_keys(programs)]
    for p in programs:
        p.close()
    report("CPU of a key, median", [k[len(k) // 2][0] for k in keys], "ms")
    report("CPU of the worst key (%s)" % ", ".join(repr(k[-1][1])
                                                   for k in keys),
           [k[-1][0] for k in keys], "ms")
    # One descriptor per log.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    took = []
    for path in PROGRAMS:
        p = start(paths, (120, 40), home, path)
        p.wait_for("Runs (")
        wait_until_read(p)
        took.append(measure_updates(p, paths))
        p.close()
    report("updates: CPU per second", [cpu for cpu, _ in took], "ms")
    report("updates: key to frame", [ms for _, ms in took], "ms")


def memory(home):
    subprocess.run([GEN, "--files", str(FILES), "--mb", "1", home + "/big"],
                   check=True)
    with open(home + "/config.json", "w") as config:
        json.dump({"telemetry_s": 3600, "pods": [
            {"name": "pod", "transport": "local",
             "logs": [home + "/big/*.log"]}]}, config)
    names = sorted(os.listdir(home + "/big"))
    paths = [home + "/big/" + log for log in names]
    for name, args in (("by path", lambda i: paths),
                       ("of a pod", lambda i: [
                           "--config", home + "/config.json",
                           "--db", "%s/big%d.db" % (home, i)])):
        peaks = []
        for i, path in enumerate(PROGRAMS):
            p = start(args(i), (120, 40), home, path)
            p.wait_for("Runs (")
            wait_until_read(p)
            peaks.append(peak_mb(p.pid))
            p.close()
        report("%d logs of 1 MB %s: peak" % (len(names), name), peaks, "MB")


def measure(program, frames, step):
    """Bytes and CPU time of a number of frames, each started by step()."""
    program.settle(0.3, 3)
    bytes_0, cpu_0 = program.bytes, cpu_ms(program.pid)
    for _ in range(frames):
        step()
    return ((program.bytes - bytes_0) / frames,
            (cpu_ms(program.pid) - cpu_0) / frames)


def frames(home, path):
    for size in ((80, 24), (200, 60)):
        name = "%dx%d" % size
        p = start(["demo", "--speed", "0.001"], size, home, path)
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
        p = start(["demo", "--speed", "10"], size, home, path)
        p.wait_for("h100-a")
        print("%-10s %-8s %12.0f %14.2f" % (("growing", name) + measure(
            p, int(SECONDS * 5), lambda: p.pump(0.2))))
        p.close()


def demo_ms(home, path):
    before = time.monotonic()
    p = start(["demo"], (120, 40), home, path)
    p.wait_for("Runs (12)")
    took = time.monotonic() - before
    p.close()
    return took * 1e3


def main():
    with tempfile.TemporaryDirectory() as home:
        for path in PROGRAMS:
            if len(PROGRAMS) > 1:
                print(path)
            print("%-10s %-8s %12s %14s" % ("screen", "size", "bytes/frame",
                                            "CPU ms/frame"))
            frames(home, path)
        report("first screen of the demo",
               [demo_ms(home, path) for path in PROGRAMS], "ms")
        many_runs(home)
        memory(home)


if __name__ == "__main__":
    main()
