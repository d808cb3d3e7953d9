# SPDX-License-Identifier: MIT
"""Everything that the dashboard reads, with hostile contents: logs, pods,
benches, HarnessGym runs, GPUs and discovery programs. The contents change while
the dashboard is shown. They are in one folder, and a seed determines them."""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys

from vt import HOSTILE

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
LOG_MAX = 2 << 20

# Runs a shell and changes some bytes of its output. The output comes from a
# follower, a check of the pod, or a reader of HarnessGym runs.
LIAR = """#!%s
import os, random, subprocess, sys
folder, rate, seed = sys.argv[1], float(sys.argv[2]), sys.argv[3]
turn = len(os.listdir(folder))
open(os.path.join(folder, str(turn)), "w").close()
rng = random.Random(seed + "." + str(turn))
pieces = [b"\\n", b"\\0", b"-1", b"99999999999999999999", b"\\x1b]0;evil\\x07",
          b"E 0 13 5\\nhello", b"S 4294967295 0\\n", b"D 1 0 262144\\n",
          b"X 1 0\\n", b"T 1 0\\n", b"N 7 0:0 9 9 0 1024\\n", b"{", b"]", b'"',
          b"U 1 9223372036854775807 1\\n", b"M 1 0 0\\n", b"\\xff\\xfe"]
with subprocess.Popen("sh", stdout=subprocess.PIPE) as shell:
    seen = 0
    while data := os.read(shell.stdout.fileno(), 65536):
        # Do not change the markers and first words, so that the program reads
        # the rest.
        if seen > 100 and rng.random() < rate:
            at = rng.randrange(len(data))
            to = min(len(data), at + rng.choice((0, 0, 1, 1, 5, 300)))
            middle = rng.choice(pieces) * rng.choice((1, 1, 1, 3, 50))
            if rng.random() < 0.2:
                middle = data[at:to] * 3
            data = data[:at] + middle + data[to:]
        seen += len(data)
        try:
            while data:
                data = data[os.write(1, data):]
        except OSError:
            break
    shell.kill()
""" % sys.executable
WORKLOAD = """for i in 1 2 3 4 5 6 7 8 9 10; do
    echo "step:$i/10 train_loss:2.0 train_time:${i}00ms step_avg:100.00ms"
done"""
PIECES = [b"", b"\n", b"\0", b"-", b"1e999", b"99999999999999999999", b"nan",
          b"null", b"{}", b"[", b"\"", b"\x1b]52;c;eA==\x07", b"\xff\xfe",
          b"true", b"0", b"\xe2\x80\xae", b"9" * 400, b"A" * 70000]


def spoil(rng, data):
    """The bytes, changed in up to eight places."""
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(data) + 1)
        to = at + rng.choice((0, 1, 1, 4, 40, len(data)))
        data = data[:at] + rng.choice(PIECES) + data[to:]
    return data


class Tree:
    """A folder whose files are damaged, removed and restored."""

    def __init__(self, folder):
        self.true = {}
        for top, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(top, name)
                with open(path, "rb") as file:
                    self.true[path] = file.read()

    def change(self, rng):
        path = rng.choice(sorted(self.true))
        data, dice = self.true[path], rng.random()
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif dice < 0.5 or os.path.lexists(path):
            os.path.lexists(path) and os.unlink(path)
        if dice < 0.05:
            os.makedirs(path)
        elif dice < 0.1:
            os.symlink(path, path)
        elif dice > 0.2:
            with open(path, "wb") as file:
                file.write(data if dice < 0.5 else spoil(rng, data))


class World:
    def __init__(self, home, seed, tui, env):
        self.home, self.rng = home, random.Random(seed)
        for name in ("logs", "bin", "pods", "harness", "bench"):
            os.mkdir(os.path.join(home, name))
        self.put("bin/liar", LIAR.encode(), 0o755)
        self.put("bin/nvidia-smi", b'#!/bin/sh\ncat "$HOME/gpus"\n', 0o755)
        self.put("bin/names", b'#!/bin/sh\ncat "$HOME/names"\n', 0o755)
        self.path = self.home + "/bin:" + os.environ["PATH"]
        subprocess.run([os.path.join(BUILD, "tests/tools/harness-gen"),
                        home + "/harness/one"], check=True)
        subprocess.run(
            [tui, "bench", "run", "--yes", "--pod", "local", "--control",
             WORKLOAD, "--variant", "b", "--blocks", "3", "--gap", "0",
             "--no-aa", "--window", "2:10", "--name", "old"], check=True,
            env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        plan = glob.glob(home + "/state/hgym-tui/benches/*/bench.json")[0]
        shutil.copy(plan, home + "/bench/a.json")
        self.trees = [Tree(home + "/harness"), Tree(home + "/bench"),
                      Tree(os.path.dirname(plan))]
        for _ in range(40):
            self.go_on()
        self.config(seed)

    def put(self, name, data, mode=0o644):
        path = os.path.join(self.home, name)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, mode)

    def config(self, seed):
        here = [self.home + "/logs/*"]
        pod = {"harnessgym": [self.home + "/harness/*"], "logs": here,
               "stop_cmd": "printf '\\033]0;no\\007'"}
        command = dict(pod, transport="command", shell=["true"])
        pods = [dict(command, name="liar%d" % i,
                     command=[self.home + "/bin/liar", self.home + "/pods",
                              str(rate), "%d.%d" % (seed, i)])
                for i, rate in enumerate((0.02, 0.2, 1))]
        pods += [dict(command, name="endless", command=["yes"]),
                 dict(command, name="gone", command=["false"],
                      usd_per_hour=2),
                 dict(pod, name="here", transport="local")]
        self.put("config.json", json.dumps({
            "pods": pods, "benches": [self.home + "/bench/*.json"],
            "discover": [{"name": "d", "command": [self.home + "/bin/names"],
                          "every_s": 1}],
            "alerts": {"bell": True, "notify": True, "metrics": [
                {"metric": "train_loss", "above": 1}]},
            "telemetry_s": 1}).encode())

    def rows(self):
        rng = self.rng
        first = rng.randrange(100)
        loss = rng.choice((b"2.5", b"nan", b"inf", b"-1e300", b"1e999"))
        return b"".join(
            b"step:%d/100 train_loss:%b train_time:%dms step_avg:50.00ms\n" %
            (i, loss, i * 50) for i in range(first, first + 20))

    def words(self):
        """Text that is appended to a log."""
        rng = self.rng
        return rng.choice((
            self.rows, self.rows, self.rows,
            lambda: b"seed:%d\n" % rng.randrange(9) + self.rows(),
            lambda: HOSTILE, lambda: b"\0" * 5000,
            lambda: bytes(map(rng.randrange, [256] * rng.randrange(5000))),
            lambda: rng.choice((b"y", b"\xf0\x9f\x98\x80", b"\x1b[31m",
                                b"\t", b"\xcc\x81")) * 300000,
            lambda: b"".join(b'{"step": %d, "m%d": %d}\n' %
                             (i, rng.randrange(10 ** 6), i)
                             for i in range(50)),
            lambda: b"Traceback (most recent call last):\nE: \x9b31m\n",
            lambda: b"final_int8_zlib_roundtrip val_loss:3 val_bpb:1.2 "
            b"eval_time:225ms\n"))()

    def log(self):
        rng = self.rng
        names = ["%d.log" % i for i in range(6)] + [
            "\x1b]0;x\x07.log", "n" * 255, "\udcff\udcfe", "a\nb",
            "\u202e$(id)`id`"]
        path = os.path.join(self.home, "logs", rng.choice(names))
        dice = rng.random()
        try:
            size = os.stat(path).st_size
        except OSError:
            size = -1
        if size > LOG_MAX or dice < 0.03:
            os.path.lexists(path) and os.unlink(path)
        elif size >= 0 and dice < 0.06:
            os.rename(path, os.path.join(self.home, "logs",
                                         rng.choice(names)))
        elif size >= 0 and dice < 0.1:
            os.truncate(path, rng.randrange(size + 1))
        elif size < 0 and dice < 0.15 and not os.path.lexists(path):
            os.symlink(rng.choice(names), path)
        else:
            try:
                with open(path, "wb" if dice > 0.95 else "ab") as file:
                    file.write(self.words())
            except OSError:
                os.unlink(path)  # a link to itself or to nothing

    def gpus(self):
        rng = self.rng
        line = b"0, NVIDIA H100, 81559, 4, 99, 550.1\n"
        self.put("gpus", b"".join(
            spoil(rng, line) if rng.random() < 0.3 else line
            for _ in range(rng.choice((1, 8, 300)))))

    def names(self):
        rng = self.rng
        pods = json.dumps([
            {"name": "d%d" % i, "command": ["false"], "logs": ["/x"],
             "notes": ["\x1b]0;x\x07", "n" * 9000], "state": "running"}
            for i in range(rng.randrange(5))]).encode()
        self.put("names", spoil(rng, pods) if rng.random() < 0.5 else pods)

    def go_on(self):
        """One random event."""
        rng = self.rng
        rng.choice((self.log, self.log, self.log, self.gpus, self.names,
                    lambda: rng.choice(self.trees).change(rng)))()

    def end(self):
        """Kill the benches and audits that are still running: they outlive the
        dashboard."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as stream:
                    if ("=%s\0" % self.home).encode() in stream.read():
                        os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass
