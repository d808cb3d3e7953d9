#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pods that are reached by any command: programs that behave like `docker exec
-i` and `kubectl exec -i`, with the manual's examples. They are checked,
followed while they are killed repeatedly, and used for a bench. Commands that
hang, fail or print endlessly do not disturb other pods."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from manual import example  # noqa: E402
from process import pids_of  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

# These programs copy the bytes in another process, and lose the exit status of
# the shell.
STAND_IN = """#!/bin/sh
echo "$0 $*" >>"$HOME/asked"
echo $$ >>"$HOME/pids"
case "${0##*/} $*" in
"docker exec -i pod-a sh") ;;
"kubectl exec -i -n ml pod-b -- sh")
	echo 'Defaulted container "main" out of: main, sidecar' >&2 ;;
*) exec sh ;;
esac
cat | sh | cat
"""
LIARS = {"dead": ["false"], "mute": ["sleep", "1000"], "raving": ["yes"],
         "loud": ["sh", "-c", "yes >&2"], "gone": ["/nowhere/docker"],
         "cut": ["head", "-c", "10"]}
WORKLOAD = """i=0
while test $i -lt 30; do i=$((i + 1))
echo "step:$i/30 train_loss:2.5 train_time:$((i * ${MS:-50}))ms \
step_avg:${MS:-50}.00ms"
done
"""


class Box:
    def __init__(self, top):
        self.top, self.step, self.killed = top, 0, 0
        os.makedirs(top + "/bin")
        for name in "docker", "kubectl":
            with open(f"{top}/bin/{name}", "w") as file:
                file.write(STAND_IN)
            os.chmod(file.name, 0o755)
        self.env = home_env(top)
        self.env["PATH"] = top + "/bin:" + self.env["PATH"]

    def configure(self, pods, **more):
        os.makedirs(self.top + "/config/hgym-tui", exist_ok=True)
        with open(self.top + "/config/hgym-tui/config.json", "w") as file:
            json.dump({"pods": pods, **more}, file)

    def write(self, n):
        with open(self.top + "/x.log", "a") as log:
            for _ in range(n):
                self.step += 1
                log.write(f"step:{self.step}/999 train_loss:2.5"
                          f" train_time:{self.step * 50}ms"
                          " step_avg:50.00ms\n")

    def run(self, *args):
        return subprocess.run([TUI, *args], env=self.env, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def rows(self, *args):
        return [json.loads(line)
                for line in self.run(*args, "--json").stdout.splitlines()]

    def shells(self):
        with open(self.top + "/pids") as file:
            return [int(pid) for pid in file.read().split()]

    def kill_shells(self):
        """Kill the shells that were started since the last call."""
        pids = self.shells()
        for pid in set(pids[self.killed:]).intersection(pids_of(self.top)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self.killed = len(pids)


def pods_of_manual(box):
    pods = [example("hgym-tui-config.5", f'"{name}"')["pods"][0]
            for name in ("pod-a", "pod-b")]
    for pod in pods:
        pod["logs"] = [box.top + "/x.log"]
        pod["remote_root"] = box.top + "/root-" + pod["name"]
    return pods


def test_check(box, pods):
    def check(timeout_s, *names):
        done = box.run("pods", "check", "--json", "--timeout", timeout_s,
                       *names)
        return done, {row["pod"]: row for row in map(json.loads,
                                                     done.stdout.splitlines())}

    box.configure(pods + [
        {"name": name, "transport": "command", "command": words,
         "logs": ["/nowhere/*"]} for name, words in LIARS.items()])
    # Other tests may run benches on this machine, and `pods check` of the bad
    # pods would report these benches.
    done, rows = check("600", *(p["name"] for p in pods))
    ok(all(rows[p["name"]].get("python") for p in pods),
       "pods check: the manual's examples can be reached", done.stdout)
    ok([rows[p["name"]]["target"] for p in pods] == ["docker", "kubectl"],
       "pods check: the target is the program's name")
    done, rows = check("10")
    ok(done.returncode == 4, "pods check: some pods cannot be reached", done)
    classes = {name: rows[name]["failure"] for name in LIARS}
    ok(all(c in ("command", "timeout") for c in classes.values()),
       "pods check: each bad command is reported", classes)
    ok("/nowhere/docker" in rows["gone"]["text"], "pods check: a missing "
                                                  "program is reported with "
                                                  "its path", rows["gone"])


def test_follow(box, pods):
    box.configure(pods + [
        {"name": name, "transport": "command", "command": words,
         "logs": ["/nowhere/*"]} for name, words in LIARS.items()],
                  telemetry_s=1)
    box.write(100)
    with open(box.top + "/said", "w") as said:
        child = subprocess.Popen([TUI, "collect"], env=box.env, stderr=said)

    def has_all():
        return [r["steps"] for r in box.rows("runs")] == [box.step] * 2

    ok(until(has_all, PATIENCE_S), "both pods are followed", box.rows("runs"))
    for _ in range(10):
        box.kill_shells()
        box.write(50)
        until(lambda: len(box.shells()) > box.killed)
    if not ok(until(has_all, PATIENCE_S), "both pods are followed again after "
                                          "ten kills"):
        note(open(box.top + "/said").read())
    seen = [box.rows("samples", str(run)) for run in (1, 2)]
    ok(all([s["step"] for s in one if s["metric"] == "train_loss"] ==
           list(range(1, box.step + 1)) for one in seen),
       "every row is stored once")
    child.send_signal(signal.SIGTERM)
    ok(child.wait(PATIENCE_S) == 128 + signal.SIGTERM,
       "the collector ends on SIGTERM although some commands hang")


def test_bench(box, pods):
    work = box.top + "/work"
    os.mkdir(work)
    with open(work + "/train.sh", "w") as file:
        file.write(WORKLOAD)
    box.configure(pods)
    plan = {"schema": "hgym.bench/1", "name": "by-command", "seed": 7,
            "workload": {"cwd": work, "command": "sh train.sh",
                         "timeout_s": 600},
            "metric": {"key": "step_ms",
                       "window": {"mode": "fixed", "lo": 5, "hi": 30}},
            "variants": [{"tag": "A", "control": True},
                         {"tag": "B", "env": {"MS": "40"}}],
            "pods": [{"id": p["name"], "root": p["remote_root"]}
                     for p in pods],
            "design": {"blocks_per_pod": 3, "burn_in": 0, "aa": False,
                       "gap_s": 0}, "budget": {"minutes": 10}}
    with open(box.top + "/bench.json", "w") as file:
        json.dump(plan, file)
    done = box.run("bench", "run", "--yes", "--json", box.top + "/bench.json")
    ok(done.returncode == 0, "a bench runs on both pods", done.stderr)
    got = json.loads(done.stdout or "{}")
    # A bench may stop before each pod has a run of each arm.
    ms = {(run["tag"], run["y_ms"]) for run in got.get("runs", [])
          if run["counted"]}
    ok(ms == {("A", 50), ("B", 40)}, "the bench reads the output of its runs",
       (ms, done.stderr))


top = tempfile.mkdtemp(prefix="command.")
try:
    box = Box(top)
    pods = pods_of_manual(box)
    test_check(box, pods)
    test_follow(box, pods)
    test_bench(box, pods)
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(finish())
