#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record a finished bench: run it on this machine with the demo's workload, and
store its results folder.

tests/tools/record-bench.py build/hgym-tui src/app/demo/bench.rec
tests/tools/record-bench.py build/hgym-tui tests/screen/recorded/audit.rec

The first one is the bench of the demo: it takes ten minutes. The second one is an
audit for tests of the screen. The noise differs each time."""
import calendar
import os
import re
import subprocess
import sys
import tempfile
import time

SRC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BEGAN = calendar.timegm((2026, 1, 15, 12, 38, 12))
BENCHES = {"bench.rec": (18, """{"schema": "hgym.bench/1", "name": "qkv-pack", "seed": 11,
 "workload": {"cwd": "@/bench", "command": "sh run.sh",
  "env": {"STEP_MS": "198.2"}, "timeout_s": 300},
 "metric": {"key": "step_ms",
  "window": {"mode": "fixed", "lo": 20, "hi": 100}},
 "variants": [{"tag": "base", "control": true},
  {"tag": "packed", "env": {"STEP_MS": "195.4"}},
  {"tag": "padded", "env": {"STEP_MS": "198.2"}}],
 "pods": [{"id": "h100-a", "transport": "local", "usd_per_h": 19.92,
   "root": "@/root-h100-a", "lock_dir": "@/bench"},
  {"id": "h100-b", "transport": "local", "usd_per_h": 19.92,
   "root": "@/root-h100-b", "lock_dir": "@/home"}],
 "design": {"blocks_per_pod": 4, "burn_in": 1, "aa": false, "gap_s": 0},
 "budget": {"minutes": 30, "usd": 25}}
"""), "audit.rec": (3, """{"schema": "hgym.bench/1", "name": "audit-h100-a", "seed": 5,
 "workload": {"cwd": "@/bench", "command": "sh run.sh",
  "env": {"STEP_MS": "198.2"}, "timeout_s": 300},
 "metric": {"key": "step_ms",
  "window": {"mode": "fixed", "lo": 20, "hi": 100}},
 "variants": [{"tag": "base", "control": true}],
 "pods": [{"id": "h100-a", "transport": "local", "usd_per_h": 19.92,
   "root": "@/root-h100-a", "lock_dir": "@/bench"}],
 "design": {"blocks_per_pod": 3, "burn_in": 0, "aa": true, "gap_s": 0},
 "budget": {"minutes": 30, "usd": 25}}
""")}  # seconds of one run, and the plan
# The tools of the recorded pod.
TOOLS = {
    "getconf": 'test "$1" = _NPROCESSORS_ONLN && echo 128',
    "uname": 'case $1 in -n) echo "$POD";; '
             '*) echo Linux 6.8.0-60-generic x86_64;; esac',
    # Benches of other programs on this machine are not this pod's.
    "grep": 'case $* in *HGYM_JOB=*) exit 1;; esac; exec /bin/grep "$@"',
}
TORCH = "import mmap, sys, time; f = open(sys.argv[1], 'rb'); " \
    "m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); " \
    "time.sleep(float(sys.argv[2]))"


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(path, mode)


def workload():
    """run.sh of the demo."""
    with open(SRC + "/src/app/demo/home.rec", encoding="utf-8") as rec:
        text = rec.read().split(">bench/run.sh\n")[1]
    return "".join(line[1:] + "\n" for line in text.split("\n>")[0].split("\n"))


def run_bench(program, top, run_s, plan):
    """Run it below top. Returns the results folder."""
    packages = os.path.join(top, "lib/dist-packages")
    write(packages + "/torch/_C.so", "x" * 4096)
    write(packages + "/torch-2.10.0.dist-info/METADATA", "")
    for name, body in TOOLS.items():
        write("%s/bin/%s" % (top, name), "#!/bin/sh\n%s\n" % body, 0o755)
    write(top + "/bench/run.sh", "python3 -c \"%s\" %s/torch/_C.so %d &\n%s" % (
        TORCH, packages, run_s, workload()))
    write(top + "/bench/bench.json", plan.replace("@", top))
    os.makedirs(top + "/home")
    env = dict(os.environ, PATH="%s/bin:%s" % (top, os.environ["PATH"]),
               RUN_S=str(run_s), POD="h100", SHELL="/bin/bash", HOME=top,
               **{"XDG_%s_HOME" % name: top + "/home"
                  for name in ("CONFIG", "DATA", "STATE")})
    subprocess.run([program, "bench", "run", "--yes",
                    top + "/bench/bench.json"], env=env, check=True)
    benches = top + "/home/hgym-tui/benches"
    return os.path.join(benches, os.listdir(benches)[0])


def shifted(text, by_s):
    """Shift every time in a file of the folder, as if it had started then."""
    def ms(m):
        return "%s%d" % (m[1], int(m[2]) + by_s * 1000)

    def s(m):
        return "%s%d" % (m[1], int(m[2]) + by_s)

    def date(m):
        at = calendar.timegm(tuple(map(int, m.group(1, 3, 4, 6, 7, 8))))
        t = time.gmtime(at + by_s)
        return m[2].join("%02d" % n for n in t[:3]) + m[5] + \
            ":".join("%02d" % n for n in t[3:6])
    text = re.sub(r'("\w+_ms":)(\d{13})\b', ms, text)
    text = re.sub(r'("\w+_s":)(\d{10})\b', s, text)
    return re.sub(r"(\d{4})([-/])(\d\d)[-/](\d\d)([T ])(\d\d):(\d\d):(\d\d)",
                  date, text)


def record(folder, top, to):
    """The files of the folder as records; those with paths have @ for them."""
    with open(folder + "/state.json", encoding="utf-8") as state:
        began = int(re.search(r'"started_ms":(\d+)', state.read())[1]) // 1000
    old = os.path.basename(folder)
    new = re.sub(r"\d+-\d+$", "", old) + time.strftime("%Y%m%d-%H%M%S",
                                                       time.gmtime(BEGAN))
    for at, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(set(names) - {"lock"}):
            path = os.path.join(at, name)
            with open(path, encoding="utf-8") as text:
                data = shifted(text.read(), BEGAN - began).replace(old, new)
            to.write(">home/hgym-tui/benches/%s%s\n" % (
                new, path[len(folder):]))
            lines = data.split("\n")
            for line in lines[:-1]:
                to.write(("@" + line.replace(top, "@") if top in line
                          else " " + line) + "\n")
            if lines[-1]:
                to.write("@%s\n" % lines[-1].replace(top, "@")
                         if top in lines[-1] else "_%s\n" % lines[-1])


def main():
    if len(sys.argv) != 3 or os.path.basename(sys.argv[2]) not in BENCHES:
        sys.exit(__doc__)
    program, recording = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as top:
        folder = run_bench(program, top, *BENCHES[os.path.basename(recording)])
        with open(recording, "w", encoding="utf-8") as to:
            record(folder, top, to)


if __name__ == "__main__":
    main()
