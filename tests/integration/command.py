#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pods behind whatever brings a shell: stand-ins of `docker exec -i` and
`kubectl exec -i`, the examples of the manual, are checked, followed while
they are killed again and again, and measured on; those that hang, die and
rave harm nobody."""
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
from tap import finish, note, ok  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

# Bytes are pumped to and fro by another process, as these programs do, and
# the status of the shell is lost.
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
        self.top, self.step = top, 0
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

    def kill_shells(self):
        with open(self.top + "/pids") as file:
            for pid in file.read().split():
                try:
                    os.killpg(int(pid), signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
        open(self.top + "/pids", "w").close()


def pods_of_manual(box):
    pods = [example("hgym-tui-config.5", f'"{name}"')["pods"][0]
            for name in ("pod-a", "pod-b")]
    for pod in pods:
        pod["logs"] = [box.top + "/x.log"]
        pod["remote_root"] = box.top + "/root-" + pod["name"]
    return pods


def test_check(box, pods):
    box.configure(pods + [
        {"name": name, "transport": "command", "command": words,
         "logs": ["/nowhere/*"]} for name, words in LIARS.items()])
    done = box.run("pods", "check", "--json", "--timeout", "10")
    rows = {row["pod"]: row for row in map(json.loads,
                                           done.stdout.splitlines())}
    ok(done.returncode == 4, "pods check: some cannot be reached", done)
    # Other tests may run benches on this machine, which these two report.
    ok(all(rows[p["name"]].get("python") for p in pods),
       "the examples of the manual can", done.stdout)
    ok([rows[p["name"]]["target"] for p in pods] == ["docker", "kubectl"],
       "by their programs")
    classes = {name: rows[name]["failure"] for name in LIARS}
    ok(all(c in ("command", "timeout") for c in classes.values()),
       "each liar is told", classes)
    ok("/nowhere/docker" in rows["gone"]["text"], "a program that is not"
       " there by its name", rows["gone"])


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

    ok(until(has_all, PATIENCE_S), "both are followed", box.rows("runs"))
    for _ in range(10):
        box.kill_shells()
        box.write(50)
        until(lambda: os.path.getsize(box.top + "/pids") > 0, PATIENCE_S)
    if not ok(until(has_all, PATIENCE_S), "and found again, ten times"):
        note(open(box.top + "/said").read())
    seen = [box.rows("samples", str(run)) for run in (1, 2)]
    ok(all([s["step"] for s in one if s["metric"] == "train_loss"] ==
           list(range(1, box.step + 1)) for one in seen),
       "every row is there once")
    child.send_signal(signal.SIGTERM)
    ok(child.wait(PATIENCE_S) == 128 + signal.SIGTERM,
       "it ends when told, beside those that hang")


def test_bench(box, pods):
    work = box.top + "/work"
    os.mkdir(work)
    with open(work + "/train.sh", "w") as file:
        file.write(WORKLOAD)
    box.configure(pods)
    plan = {"schema": "hgym.bench/1", "name": "by-command", "seed": 7,
            "workload": {"cwd": work, "command": "sh train.sh",
                         "timeout_s": 120},
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
    ok(done.returncode == 0, "a bench runs on both", done.stderr)
    got = json.loads(done.stdout or "{}")
    # It ends when it knows enough: not each pod may have a run by then.
    ms = {(run["tag"], run["y_ms"]) for run in got.get("runs", [])
          if run["counted"]}
    ok(ms == {("A", 50), ("B", 40)}, "and reads what its runs printed",
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
