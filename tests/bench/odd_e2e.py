#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench run where pods are odd: throttled, shared, stalled, without tools."""
import glob
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "support")]
from run_e2e import (PATIENCE_S, SSHD, TUI, check_faster,  # noqa: E402
                     run_tests, verdict_of, wait_for)
from tap import ok  # noqa: E402

SMI = """#!/bin/sh
# What nvidia-smi prints, from files: this machine has none.
case "$*" in
*--query-compute-apps*-lms*)
    while :; do
        cat %(dir)s/apps
        sleep 0.3
    done ;;
*--query-compute-apps*) cat %(dir)s/apps ;;
*-lms*)
    bits=$(cat %(dir)s/bits)
    echo 4 >%(dir)s/bits
    while :; do
        echo "$(date '+%%Y/%%m/%%d %%H:%%M:%%S.%%3N'), 0," \\
            "1980, 2619, 40, 300.1, 99, 0x$bits"
        sleep 1
    done ;;
*utilization.gpu,memory.used*) cat %(dir)s/idle ;;
*memory.total*)
    IFS=' ,' read -r _ util used <%(dir)s/idle
    echo "0, NVIDIA Test, 81559, $used, $util, 999.1" ;;
*) echo "0, NVIDIA Test, 999.1, 1, 0, 1980" ;;
esac
"""


def put(path, text, mode=0o644):
    with open(path, "w") as stream:
        stream.write(text)
    os.chmod(path, mode)


def fake_gpu(rig, bits="0"):
    tools = os.path.join(rig.dir, "tools")
    os.makedirs(tools, exist_ok=True)
    put(os.path.join(tools, "nvidia-smi"), SMI % {"dir": tools}, 0o755)
    for name, text in (("apps", ""), ("bits", bits), ("idle", "0, 0, 4\n")):
        put(os.path.join(tools, name), text)
    rig.env["PATH"] = tools + ":" + os.environ["PATH"]
    return tools


class Sshd:
    """A real sshd whose sessions find the tools above; else a local pod."""

    def __init__(self, rig):
        self.rig = rig
        self.dir = os.path.join(rig.dir, "sshd")
        done = subprocess.run(["sh", SSHD, "start", self.dir,
                               "SetEnv PATH=" + rig.env["PATH"]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.there = done.returncode == 0

    def pod(self, name, **more):
        def read(what):
            return open(os.path.join(self.dir, what)).read().strip()

        if not self.there:
            return self.rig.pod(name, **more)
        return self.rig.pod(
            name, transport="libssh2",
            ssh="%s@127.0.0.1:%s" % (read("user"), read("port")),
            identity=os.path.join(self.dir, "id_ed25519"),
            known_hosts=os.path.join(self.dir, "known_hosts"), **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.there:
            subprocess.run(["sh", SSHD, "stop", self.dir],
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)


def over_sshd(test):
    """Run a test that takes a rig and what makes its pods."""
    def run(rig):
        rig.tools = fake_gpu(rig)
        with Sshd(rig) as sshd:
            test(rig, sshd)
    run.__name__ = test.__name__
    return run


@over_sshd
def gpus(rig, sshd):
    fake_gpu(rig, "20")
    path = rig.bench("gpu", [sshd.pod("p1", gpus=[0, 2])],
                     {"env": {"STEP_MS": "1900"}}, workload={
        "env": {"STEP_MS": "2000", "WAIT_FOR": "test -s \"$job/gpu.csv\" && "
                "test $(lines_of \"$job/host.csv\") -gt 1"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    check_faster(verdict_of(done), "on GPUs: faster")
    ok(b"block 1 begins again" in done.stderr and b"0x20" in done.stderr,
       "a block with a throttled run begins again", done.stderr.decode())
    found = json.loads(done.stdout)
    runs = found["runs"]
    ok(len(runs) == 6 and not any(g["guard"] != "host load" for r in runs
                                  for g in r["guards"]),
       "and then counts", runs)
    ok(sorted(r["id"] for r in runs if r["block"] == 0) ==
       ["0_p1_A.b1", "0_p1_B.b1"], "as a whole, by processes of its own",
       [r["id"] for r in runs])
    ok([(d["block"], d["repeated"]) for d in found["dropped_blocks"]] ==
       [(0, True)] and "throttled" in found["dropped_blocks"][0]["reason"],
       "the verdict lists it with its reason", found["dropped_blocks"])
    ok(all(r["health"]["sm_mhz"] == 1980 and r["health"]["busy_cores"] > 0
           for r in runs), "each run has its telemetry", runs)
    folder = rig.folder("gpu")
    ok(os.path.exists(os.path.join(folder, "runs", "1_p1_A", "gpu.csv")),
       "which is kept")
    steps = open(os.path.join(folder, "runs", "1_p1_A", "steps.csv"),
                 newline="").read()
    ok(steps.split("\r\n")[0].endswith(
           ",sm_mhz,power_w,temp_c,reasons,pod_s") and
       re.search(r",1980,300.1,40,0x4,\d+\.\d{3}$", steps.split("\r\n")[-2]),
       "and stands beside the steps", steps[-200:])
    ok("NVIDIA Test" in open(os.path.join(folder, "env.p1.txt")).read(),
       "the GPU is named")
    rig.clean("gpu")


@over_sshd
def idle(rig, sshd):
    """A GPU that waits for its host: told beside the verdict."""
    put(os.path.join(rig.tools, "nvidia-smi"),
        SMI.replace("300.1, 99", "300.1, 6").replace("sleep 1", "sleep 0.1")
        % {"dir": rig.tools}, 0o755)
    path = rig.bench("idle", [sshd.pod("p1", gpus=[0])],
                     {"env": {"STEP_MS": "1900"}}, workload={
        "env": {"STEP_MS": "2000", "WAIT_FOR":
                "test $(lines_of \"$job/gpu.csv\") -gt 3"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    check_faster(found, "of a GPU that idles: faster")
    ok({"guard": "host-bound", "hard": False,
        "text": "the GPU idled 94% of the time"} in found["guards"],
       "but host-bound", found["guards"])
    ok(all(r["state"] != "measured" for r in json.loads(done.stdout)["runs"]),
       "which spoils no run", done.stdout)


@over_sshd
def hot_before(rig, sshd):
    """What throttles before the window began is nobody's loss."""
    smi = os.path.join(rig.tools, "nvidia-smi")
    put(smi, open(smi).read().replace(
        "bits=$(cat %s/bits)\n" % rig.tools, "bits=20\n").replace(
        "sleep 1\n", "sleep 1\n        bits=4\n"), 0o755)
    put(os.path.join(rig.dir, "work", "rows.py"), ROWS)
    path = rig.bench("before", [sshd.pod("p1", gpus=[0])],
                     {"env": {"ROW_S": "0.15"}},
                     workload={"command": "exec python3 rows.py", "env": {}},
                     metric={"window": {"mode": "fixed", "lo": 5, "hi": 30}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = json.loads(done.stdout)
    ok(found["contrasts"][0]["n_blocks"] == 3 and
       b"begins again" not in done.stderr,
       "throttled in the warm-up: not begun again", done.stderr.decode())
    folder = rig.folder("before")
    first = open(os.path.join(folder, "runs", "0_p1_A", "gpu.csv")).readline()
    seen = [r["health"]["reasons"] for r in found["runs"]]
    ok("0x20" in first and seen == [4] * 6, "only the window's samples count",
       (first, seen))
    rig.clean("before")


@over_sshd
def always_hot(rig, sshd):
    """A variant whose every run is throttled is INVALID, not dropped."""
    tools = rig.tools
    path = rig.bench("hot", [sshd.pod("p1", gpus=[0])],
                     {"command": "echo 20 >%s/bits; sh workload.sh; "
                                 "echo 4 >%s/bits" % (tools, tools),
                      "env": {"WAIT_FOR": "grep -q 0x20 \"$job/gpu.csv\""}})
    smi = os.path.join(tools, "nvidia-smi")
    put(smi, open(smi).read().replace(
        "bits=$(cat %s/bits)\n" % tools, "").replace(
        "0x$bits", "0x$(cat %s/bits)" % tools).replace(
        "    echo 4 >%s/bits\n" % tools, ""), 0o755)
    done = rig.tui("bench", "run", "--yes", "--json", path)
    ok(verdict_of(done)["text"] == "INVALID (throttled)",
       "a variant that is throttled each time", verdict_of(done)["text"])
    ok(done.stderr.count(b"begins again") == 2, "after two repeats",
       done.stderr.decode())
    rig.clean("hot")


@over_sshd
def foreign(rig, sshd):
    tools = rig.tools
    put(os.path.join(tools, "apps"), "4711\n")
    put(os.path.join(tools, "idle"), "0, 37, 20480\n")
    path = rig.bench("taken", [sshd.pod("p1", gpus=[0])], {"env": {}})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b"4711" in done.stderr,
       "a foreign process on the GPU is refused", done.stderr)
    ok(re.search(rb"p1: preflight: connecting\n.*p1: preflight: answered "
                 rb"after \d+\.\d s\n.*p1: preflight: gpu: ", done.stderr,
                 re.S),
       "the preflight of pods check said so before", done.stderr)
    rows = json.load(open(os.path.join(rig.folder("taken"),
                                       "preflight.json")))
    ok("gpu" in rows[0]["failure"], "and it is kept", rows)
    put(os.path.join(tools, "apps"), "")
    done = rig.tui("bench", "attach", "taken")
    ok(done.returncode == 4 and b"GPU 0 is at 37 %, 20480 MiB" in done.stderr,
       "so is a GPU that is not idle, whoever it is", done.stderr)
    put(os.path.join(tools, "idle"), "0, 0, 4\n")
    rig.clean("taken")
    # A real program that holds a device; it is seen during one run of B.
    device = os.path.join(rig.dir, "dev", "nvidia0")
    os.mkdir(os.path.dirname(device))
    guest = subprocess.Popen(["sleep", "600"],
                             stdin=open(device, "w"), cwd="/")
    try:
        path = rig.bench("guest", [sshd.pod("p1", gpus=[0])],
                         {"env": {"STEP_MS": "1900", "MODE": "guest",
                                  "GUEST": str(guest.pid), "ONCE": os.path.join(
                                      rig.dir, "once"),
                                  "APPS": os.path.join(tools, "apps")}})
        done = rig.tui("bench", "run", "--yes", "--json", path)
        check_faster(verdict_of(done), "a guest during a run: faster still")
        ok(b"begins again" in done.stderr and
           b"foreign process: pids %d" % guest.pid in done.stderr,
           "its block began again, by what was seen of the GPU",
           done.stderr.decode())
    finally:
        guest.kill()
        guest.wait()
    rig.clean("guest")


@over_sshd
def stalled(rig, sshd):
    """One process of twelve takes six times its time, and nobody knows why."""
    stall = {"workload": {"env": {"STEP_MS": "2000", "MODE": "stall",
                                  "ONCE": os.path.join(rig.dir, "once"),
                                  "STALL_AT": "4"}},
             "decision": {"early": "none"}}
    path = rig.bench("stall", [sshd.pod("p1")], {"env": {"STEP_MS": "1000"}},
                     design={"blocks_per_pod": 6}, **stall)
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    ok(found["verdict"] == "NO DIFFERENCE SHOWN" and found["n_blocks"] == 6,
       "no run is removed for its value: nothing is shown", found["text"])
    worst = max(found["outliers"], key=lambda o: o["times_median"])
    ok(found["swollen"] and worst["times_median"] > 5,
       "but the run that did it is named",
       {key: found[key] for key in ("outliers", "swollen", "robust_sd_d", "sd_d")
        if key in found})
    ok(found["n_agree"] >= 5 and
       abs(2 ** 0.5 - 2 ** (found["hl_d"] / 1.3863)) < 0.2,
       "with what it moves little", (found["n_agree"], found["hl_d"]))
    done = rig.tui("bench", "show", "stall")
    ok(b"1 of its 12 runs stands far out" in done.stdout and
       worst["run"].encode() in done.stdout and
       b"To show" in done.stdout, "bench show says all that",
       done.stdout.decode())
    rig.clean("stall")
    shutil.rmtree(os.path.join(rig.dir, "once"))
    path = rig.bench("median", [sshd.pod("p1")], {"env": {"STEP_MS": "1000"}},
                     design={"blocks_per_pod": 3, "runs_per_block": 3},
                     **stall)
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    ok(found["verdict"] == "FASTER" and found["n_blocks"] == 3 and
       95 < found["ci_pct"][0] < found["ci_pct"][1] < 105,
       "blocks of three runs an arm count by their medians", found["text"])
    ok(max(o["times_median"] for o in found["outliers"]) > 5,
       "and still name the run", found["outliers"])
    runs = json.loads(done.stdout)["runs"]
    ok(len(runs) == 18 and "1.2_p1_B" in [r["id"] for r in runs],
       "all 18 runs are there", [r["id"] for r in runs])
    rig.clean("median")


def other_work(rig):
    """Settings, sources and data that are not the control's."""
    def verdict(name, variant, **more):
        path = rig.bench(name, [rig.pod("p1")], variant, **more)
        done = rig.tui("bench", "run", "--yes", "--json", path)
        return verdict_of(done), done

    env = {"MODE": "heads", "STEP_MS": "1900"}
    found, _ = verdict("heads", {"env": env})
    ok(found["text"] == "INVALID (same work)" and
       "num_heads 16, the control's 8" in str(found["guards"]),
       "a setting that nobody declared", found)
    rig.clean("heads")
    found, _ = verdict("told", {"env": env, "declares": ["num_heads"]})
    check_faster(found, "one that was declared: faster")
    rig.clean("told")
    work = os.path.join(rig.dir, "work")
    found, _ = verdict("edit", {"env": {
        "MODE": "edit", "STEP_MS": "1900",
        "ONCE": os.path.join(rig.dir, "once")}})
    ok(found["text"] == "INVALID (same work)" and
       "sources are not those of run" in str(found["guards"]),
       "sources that are edited while it runs", found)
    rig.clean("edit")
    data = os.path.join(work, "data")
    os.mkdir(data)
    put(os.path.join(data, "train.bin"), "tokens")
    wrong = {"workload": {"data": ["data"], "data_sha256": "0" * 64}}
    _, done = verdict("data", {"env": {"STEP_MS": "1900"}}, **wrong)
    ok(done.returncode == 4 and b"its data has the hash" in done.stderr,
       "data that is not the plan's", done.stderr)
    right = done.stderr.split(b"its data has the hash ")[1][:64].decode()
    wrong["workload"]["data_sha256"] = right
    found, _ = verdict("right", {"env": {"STEP_MS": "1900"}}, **wrong)
    check_faster(found, "and data that is: faster")
    record = os.path.join(rig.folder("right"), "runs", "1_p1_A", "run.json")
    text = json.load(open(record))
    text["drift_s"] = text["up_s"] + 3.0
    put(record, json.dumps(text))
    done = rig.tui("bench", "show", "--json", "right")
    ok(verdict_of(done)["verdict"] == "FASTER",
       "a verdict that was written stays", verdict_of(done)["text"])
    for words in (["attach", "--json", "right"], ["show", "--json", "right"]):
        done = rig.tui("bench", *words)
        found = verdict_of(done)
        ok(found["text"] == "NOT JUDGED (2 blocks, need 3)" and "clock drift"
           in json.loads(done.stdout)["dropped_blocks"][0]["reason"],
           "a pod whose clock stood still: its block is nobody's, says bench "
           + words[0] + " once it is judged again", found["text"])
    done = rig.tui("bench", "list", "--json")
    ok(b"NOT JUDGED (2 blocks, need 3)" in done.stdout, "and bench list",
       done.stdout)
    rig.tui("bench", "clean", "data")
    rig.clean("right")


TRAINER = """import mmap, os, subprocess, sys, time
file = open(os.path.join(os.environ["SITE"], "torch/lib/libtorch.so"), "rb")
torch = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
seen = os.path.join(os.path.dirname(os.readlink("/proc/self/fd/1")), "seen")
for _ in range(600):
    if os.path.exists(seen) and "torch" in open(seen).read():
        break
    time.sleep(0.1)
sys.exit(subprocess.run(["sh", "workload.sh"]).returncode)
"""


def runtimes(rig):
    """Arms that run with another torch, declared or not."""
    work = os.path.join(rig.dir, "work")
    put(os.path.join(work, "train.py"), TRAINER)
    sites = []
    for version in ("2.6.0", "2.9.1+cu128"):
        site = os.path.join(rig.dir, "venv-" + version, "site-packages")
        os.makedirs(os.path.join(site, "torch", "lib"))
        os.mkdir(os.path.join(site, "torch-%s.dist-info" % version))
        put(os.path.join(site, "torch", "lib", "libtorch.so"), "x" * 4096)
        sites.append(site)

    def verdict(name, variant):
        path = rig.bench(name, [rig.pod("p1")], variant, workload={
            "command": "python3 train.py",
            "env": {"STEP_MS": "2000", "SITE": sites[0]}})
        found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
        return found, [g for g in found.get("guards", [])
                       if g["guard"] == "environment"]

    env = {"STEP_MS": "1900", "SITE": sites[1]}
    found, said = verdict("venv", {"env": env})
    ok(found["text"] == "INVALID (environment)" and said and
       said[0]["text"] == "it ran with torch 2.9.1+cu128, the control with "
       "2.6.0", "another torch by a variable that does not say so",
       (found["text"], said))
    run = json.load(open(os.path.join(rig.folder("venv"), "runs", "0_p1_A",
                                      "run.json")))
    ok(run["runtime"].startswith("python /") and
       run["runtime"].endswith("; torch 2.6.0"), "run.json has it",
       run["runtime"])
    rig.clean("venv")
    found, said = verdict("told", {"env": env, "declares": ["torch"]})
    check_faster(found, "declared: faster")
    ok(not said and not found["suffix"], "and no word of it", said)
    rig.clean("told")
    found, said = verdict("other", {"env": {"STEP_MS": "1900"}, "command":
                                    "env SITE=%s python3 train.py" %
                                    sites[1]})
    check_faster(found, "by a command of its own: faster")
    ok("other environment" in found["text"] and said and not said[0]["hard"],
       "and the verdict says so", (found["text"], said))
    rig.clean("other")


def false_clock(rig):
    """A log whose clock says less time than passed: rows come as before."""
    pods = [rig.pod(name, lock_dir=os.path.join(rig.dir, name))
            for name in ("p1", "p2", "p3")]
    for pod in pods:
        os.mkdir(pod["lock_dir"])
    path = rig.bench("clock", pods, {"env": {"STEP_MS": "120"}}, workload={
        "env": {"STEP_MS": "200", "MODE": "live", "ROW_S": "1"}},
        design={"blocks_per_pod": 1})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (log clock)" and "by the pod's clock" in
       [g["text"] for g in found["guards"] if g["hard"]][0],
       "time that a log does not count gives no verdict", found)
    rig.clean("clock")


def hooks(rig):
    """A kernel_config.json with keys that the kernel does not read."""
    work = os.path.join(rig.dir, "work")
    put(os.path.join(work, "kernel_config.json"), '{"num_warps": 8}')
    put(os.path.join(work, "kernel.py"),
        'c = load()\nw = c.get("num_warps", 8)\n')
    path = rig.bench("deaf", [rig.pod("p1")], {"overlay": {
        "kernel_config.json": {"num_warps": 4, "rows_per_program_4096": 2}}})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b"does not read rows_per_program_4096: this "
       b"variant would be the control" in done.stderr,
       "hooks that ignore a key are refused", done.stderr)
    rig.clean("deaf")
    put(os.path.join(rig.dir, "hooked.py"),
        'w = c.get("num_warps")\nr = c.get(f"rows_per_program_{dim}")\n')
    path = rig.bench("hears", [rig.pod("p1")], {
        "env": {"STEP_MS": "1900"}, "files": {"kernel.py": "hooked.py"},
        "overlay": {"kernel_config.json": {"rows_per_program_4096": 2}}})
    check_faster(verdict_of(rig.tui("bench", "run", "--yes", "--json", path)),
                 "a file that brings the hook: faster")
    rig.clean("hears")


def at_the_end(rig):
    """Pods are stopped at the end, when that is asked for, whatever came."""
    said = os.path.join(rig.dir, "stopped")
    pod = rig.pod("p1", usd_per_h=2.5, stop_cmd="echo gone >>" + said)
    env = {"env": {"STEP_MS": "1900"}}
    path = rig.bench("ask", [pod], env)
    done = rig.tui("bench", "run", "--yes", path)
    ok(not os.path.exists(said) and
       b"still up: p1 (2.50 USD an hour); hgym-tui bench stop ask-" in
       done.stderr, "no terminal: told what to run", done.stderr.decode())
    done = rig.tui("bench", "stop", "ask")
    ok(done.returncode == 0 and open(said).read() == "gone\n",
       "bench stop runs it", done.stderr)
    rig.clean("ask")
    os.unlink(said)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(rig.env)
        os.execv(TUI, [TUI, "bench", "run", "--yes", path])
    text, answered = b"", False
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        text += more
        if b"stop_cmd? [y/N]" in text and not answered:
            os.write(terminal, b"y\n")
            answered = True
        if not more:
            break
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    ok(answered and status == 0 and open(said).read() == "gone\n",
       "somebody at a terminal is asked", (status, text.decode()))
    os.unlink(said)
    rig.tui("bench", "clean", json.loads(rig.tui(
        "bench", "list", "--json").stdout.split(b"\n")[0])["id"])
    path = rig.bench("crash", [pod], {"env": {"MODE": "crash"}},
                     workload={"env": {"STEP_MS": "2000", "MODE": "crash"}},
                     budget={"on_end": "stop_pods"})
    rig.tui("bench", "run", "--yes", path)
    ok(os.path.exists(said) and open(said).read() == "gone\n",
       "stop_pods: also when all crashed")
    rig.clean("crash")


NEEDED = ("sh awk basename cat chmod cmp cp cut date df dirname env find "
          "getconf grep head kill ls mkdir mv od patch readlink rm rmdir sed "
          "sha256sum sleep tail touch tr uname wc").split()


def without_flock(rig):
    """A pod without flock and setsid: locks by mkdir, a session by perl."""
    tools = os.path.join(rig.dir, "few")
    os.mkdir(tools)
    for name in NEEDED + ["perl"]:
        found = shutil.which(name)
        if found:
            os.symlink(found, os.path.join(tools, name))
    rig.env["PATH"] = tools
    path = rig.bench("few", [rig.pod("p1", gpus=[])],
                     {"env": {"STEP_MS": "1900"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    check_faster(verdict_of(done), "locks by mkdir, sessions by perl: faster")
    ok(b"p1: no python3 to stamp rows with" in done.stderr and
       b"not stamped" not in done.stdout, "no python3, no stamps: it is said",
       done.stderr)
    rig.clean("few")
    # A lock whose owner lives is waited for; one whose owner is gone is not.
    lock = os.path.join(rig.dir, "locks", "hgym.gpu.host.lock.d")
    guest = subprocess.Popen(["sleep", "600"], cwd="/")

    def take(pid, start):
        boot = open("/proc/sys/kernel/random/boot_id").read().strip()
        os.makedirs(lock, exist_ok=True)
        put(os.path.join(lock, "owner"), "%d %s %s %s\n" % (
            pid, start, boot, os.readlink("/proc/self/ns/pid")))

    start = open("/proc/%d/stat" % guest.pid).read().rsplit(") ", 1)[1]
    take(guest.pid, start.split()[19])
    told = os.path.join(rig.dir, "told")
    with open(told, "wb") as stream:
        child = subprocess.Popen(
            [TUI, "bench", "run", "--yes", "--json", path], env=rig.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stream)

    def waits():
        return open(told, "rb").read().count(
            b"locked by another bench; waiting")
    wait_for(waits)
    time.sleep(2)
    ok(not glob.glob(os.path.join(rig.dir, "root-p1", "*", "*", "pid")) and
       os.path.isdir(lock), "a lock that is held is respected")
    guest.kill()
    guest.wait()
    out = child.communicate(timeout=PATIENCE_S)[0]
    check_faster(verdict_of(subprocess.CompletedProcess([], 0, out, b"")),
                 "it is taken over when its owner is gone: faster")
    ok(waits() == 1, "and that was told once", open(told, "rb").read())
    done = rig.tui("bench", "list", "--json")
    for row in done.stdout.split(b"\n")[:-1]:
        rig.tui("bench", "clean", json.loads(row)["id"])
    ok(not os.listdir(os.path.join(rig.dir, "locks")) and
       not rig.processes(), "nothing is left",
       (os.listdir(os.path.join(rig.dir, "locks")), rig.processes()))


def foreign_link(rig):
    """Somebody's link in the lock's place: nothing is run, nothing is made
    where it leads."""
    victim = os.path.join(rig.dir, "victim")
    link = os.path.join(rig.dir, "locks", "hgym.gpu.host.lock")
    path = rig.bench("linked", [rig.pod("p1", gpus=[])],
                     {"env": {"STEP_MS": "1900"}})
    os.makedirs(os.path.dirname(link), exist_ok=True)
    for place in (link, link + ".d"):
        os.symlink(victim, place)
        done = rig.tui("bench", "run", "--yes", path)
        ok(done.returncode != 0 and
           ("%s is a link and no lock" % place).encode() in done.stderr and
           not os.path.lexists(victim) and os.path.islink(place),
           "a link in the place of a lock is told and not followed",
           (done, os.path.lexists(victim)))
        os.unlink(place)


def best(rig):
    """Of several variants the best is chosen, then confirmed afresh."""
    three = [{"tag": "A", "control": True},
             {"tag": "B", "env": {"STEP_MS": "1800"}},
             {"tag": "C", "env": {"STEP_MS": "1900"}}]
    plan = {"design": {"confirm_blocks": 3}, "decision": {"early": "none"},
            "workload": {"env": {"STEP_MS": "2000", "LAST_S": "0.5"}}}
    path = rig.bench("best", [rig.pod("p1"), rig.pod("p2")], {}, **plan)
    text = json.load(open(path))
    text["variants"] = three
    put(path, json.dumps(text))
    child = rig.start(path)
    wait_for(lambda: glob.glob(os.path.join(rig.dir, "root-p*", "*", "4_p*",
                                            "pid")))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    done = rig.tui("bench", "attach", "--json", "best")
    found = json.loads(done.stdout)
    ok([c["verdict"] for c in found["contrasts"]] == ["FASTER", "FASTER"] and
       all(c["n_blocks"] == 6 for c in found["contrasts"]),
       "the blocks that choose: both faster",
       [c["text"] for c in found["contrasts"]])
    top = found["best"]
    ok(top["state"] == "confirmed" and top["tag"] == "B" and
       top["pairs"] == 3 and top["fresh_blocks"] == 6,
       "B is the best, killed on the way or not", top)
    ok(top["text"].startswith("BEST B, confirmed in 6 fresh blocks") and
       top["over_runner_up"]["tag"] == "C" and
       4.5 < top["over_runner_up"]["pct"] < 6.5,
       "over the runner-up and the control", top)
    jobs = glob.glob(os.path.join(rig.dir, "root-p*", "*", "*", "pid"))
    ok(len(jobs) == 36, "no run was made twice", len(jobs))
    rig.clean("best")
    text["variants"][2]["env"]["STEP_MS"] = "1800"
    text["name"] = "tied"
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = json.loads(done.stdout)
    ok(found["best"]["state"] in ("none", "leads") and
       not found["best"]["text"].startswith("BEST B, confirmed"),
       "two that are alike have no best", found["best"])
    text["design"]["confirm_blocks"] = 1
    text["pods"] = text["pods"][:1]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(done.returncode == 2 and b"confirm_blocks" in done.stderr,
       "too few fresh blocks are refused", done.stderr)
    rig.clean("tied")


ROWS = """\
import glob, os, signal, sys, time
job = os.path.dirname(os.readlink("/proc/self/fd/1"))
row_s = float(os.environ.get("ROW_S", "0.2"))
clock = float(os.environ.get("CLOCK", "1"))
lie = os.environ.get("LIE", "")
if lie == "kill":  # what stamps its rows, once it is there
    found = []
    while not found:
        for path in glob.glob("/proc/[0-9]*/cwd"):
            try:
                pid = path.split("/")[2]
                if (os.readlink(path) == job and
                        b"stamp.py" in open("/proc/%s/cmdline" % pid,
                                            "rb").read()):
                    found.append(int(pid))
            except OSError:
                pass
    for pid in found:
        os.kill(pid, signal.SIGTERM)  # which it passes over
        os.kill(pid, signal.SIGKILL)
elif lie == "forge":  # its own stamps, and an end before its time
    for name in ("stamps.t", "over"):
        open(os.path.join(job, name), "w").close()
if os.environ.get("KEEP"):  # rows until the end
    sys.stdout = open(1, "w", buffering=1 << 20)
told = []  # to end; it comes to its own end all the same
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
print("train_batch_tokens:1024 iterations:30\\nworld_size:1 "
      "grad_accum_steps:1\\nseed:42")
began = time.time()
for step in range(1, 31):
    time.sleep(0.02 if told else row_s)
    ms = 1000 * (time.time() - began) * clock
    loss = 9 / step + (step > 1 and bool(os.environ.get("DIVERGE")))
    print("step:%d/30 train_loss:%.4f train_time:%.0fms step_avg:%.2fms" %
          (step, loss, ms, ms / step))
    while step == 5 and os.environ.get("DIVERGE") and not told:
        time.sleep(0.1)
if lie == "forge":
    open(os.path.join(job, "stamps"), "w").write(
        "# up 1.0 ns 1\\n99999 2 1\\n")
elif lie == "rewrite":  # rows that were there already
    with open("/proc/self/fd/1", "r+b", buffering=0) as log:
        log.seek(100)
        log.write(b"x")
print("step:30/30 val_loss:3.2000 val_bpb:2.0 train_time:%.0fms "
      "step_avg:%.2fms" % (ms, ms / 30))
print("final_int8_zlib_roundtrip val_loss:3.2 val_bpb:2.0 eval_time:2ms")
"""


@over_sshd
def buffered(rig, sshd):
    """Rows of a python program are seen when they are made, or known not to
    be."""
    put(os.path.join(rig.dir, "work", "rows.py"), ROWS)
    path = rig.bench("rows", [sshd.pod("p1", gpus=[0])],
                     {"env": {"KEEP": "1"}}, workload={
        "command": "exec python3 rows.py", "env": {}}, metric={
        "window": {"mode": "fixed", "lo": 5, "hi": 30}},
        design={"blocks_per_pod": 1})
    text = json.load(open(path))
    text["variants"].append({"tag": "C", "env": {"DIVERGE": "1"}})
    text["seed"] = 8  # A runs before C
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = json.loads(done.stdout)
    runs = {r["id"]: r for r in found["runs"]}
    late = {r["tag"]: [g["text"] for g in r["guards"] if g["guard"] ==
                       "output came at the end"] for r in found["runs"]}
    ok(late["A"] == [] and len(late["B"]) == 1 and
       re.match(r"\d+ of its 30 rows were seen up to [3456]\.\d s after they "
                "were made", late["B"][0]),
       "rows that came at the end are known as such", late)
    folder = rig.folder("rows")
    seen = {}
    for tag in "AB":
        name = [i for i in runs if i.endswith("_" + tag)][0]
        rows = open(os.path.join(folder, "runs", name, "steps.csv"),
                    newline="").read().split("\r\n")[1:-1]
        seen[tag] = [row.split(",")[7] for row in rows]
    moments = [float(row.split(",")[-1]) for row in open(os.path.join(
        folder, "runs", "0_p1_A", "steps.csv"),
        newline="").read().split("\r\n")[1:-1]]
    ok(len(moments) == 30 and moments == sorted(moments) and
       moments[-1] - moments[0] > 5.7, "and the pod's clock", moments)
    ok(seen["A"] == ["1980"] * 30, "python's rows have their telemetry",
       seen["A"])
    ok(seen["B"][:10] == [""] * 10, "rows that came at the end have none",
       seen["B"])
    ok(all(r["state"] == "verified" for r in runs.values()
           if r["tag"] == "B"), "which takes nothing from a run", runs)
    diverged = [c for c in found["contrasts"] if c["variant"] == "C"][0]
    ok(diverged["text"] == "INVALID (work identity)" and
       b"is ended early" in done.stderr and
       b"was over before that" in done.stderr,
       "what diverged is ended early; one that ends by itself is no such",
       done.stderr.decode())
    record = json.load(open(glob.glob(os.path.join(
        folder, "runs", "*_C", "run.json"))[0]))
    ok(record["rc"] == 0 and not record["cut"], "and its record says so",
       (record, open(glob.glob(os.path.join(folder, "runs", "*_C", "train.out")
                               )[0]).read()[-300:]))
    rig.clean("rows")


def clocks(rig):
    """Clocks of logs that the pod's tells wrong, and who gets at that one."""
    put(os.path.join(rig.dir, "work", "rows.py"), ROWS)
    path = rig.bench("clocks", [rig.pod("p1")], {}, workload={
        "command": "exec python3 rows.py", "env": {"ROW_S": "0.1"}},
        metric={"window": {"mode": "fixed", "lo": 5, "hi": 30}},
        design={"blocks_per_pod": 1})
    text = json.load(open(path))
    arms = {"B": {}, "quick": {"ROW_S": "0.06"}, "fast": {"CLOCK": "0.7"},
            "slow": {"CLOCK": "1.4"}, "kill": {"LIE": "kill"},
            "forge": {"LIE": "forge"}, "rewrite": {"LIE": "rewrite"}}
    text["variants"] = [{"tag": "A", "control": True}] + [
        {"tag": tag, "env": env} for tag, env in arms.items()]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = json.loads(done.stdout)
    said = {c["variant"]: (c["text"], [g["guard"] for g in c["guards"]])
            for c in found["contrasts"]}
    for tag in ("B", "quick"):
        ok(said[tag][0].startswith("NOT JUDGED (1 block") and
           not {"log clock", "not stamped"} & set(said[tag][1]),
           "a clock that is right is no guard's: " + tag, said)
    for tag in ("fast", "slow"):
        ok(said[tag][0] == "INVALID (log clock)",
           "one that counts other time has no verdict: " + tag, said)
    for tag in ("kill", "forge", "rewrite"):
        ok("not stamped" in said[tag][1] and
           said[tag][0].startswith("NOT JUDGED (1 block"),
           "stamps that were got at are none, and that is told: " + tag,
           (said, found["runs"]))
    ok({r["tag"]: r["health"]["stamped"] for r in found["runs"]} ==
       {"A": True, "B": True, "quick": True, "fast": True, "slow": True,
        "kill": False, "forge": False, "rewrite": False}, "each run says so", found["runs"])
    rig.clean("clocks")


DAEMON = """\
import os, sys
if os.fork():  # no mark, file, group nor parent of the run's
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.closerange(0, 64)
os.chdir("/")
os.execve("/bin/sleep", ["sleep", sys.argv[1]], {})
"""
# A number of seconds that is this process's own.
NAP = str(1000 + os.getpid() % 100000)


def napping():
    """Those daemons that are there."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if open(path).read() == "sleep\0%s\0" % NAP:
                found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def is_child(parent, pid):
    try:
        return int(open("/proc/%d/stat" % pid).read().rsplit(") ", 1)[1]
                   .split()[1]) == parent
    except OSError:
        return False


def aborted(rig, name):
    """bench abort; None while who drives it has not let go yet."""
    done = rig.tui("bench", "abort", name)
    return None if b"another hgym-tui drives" in done.stderr else done


def daemons(rig):
    """A variant that leaves something running: it ends with its run."""
    put(os.path.join(rig.dir, "work", "daemon.py"), DAEMON)
    away = {"command": "python3 daemon.py %s; sh workload.sh" % NAP,
            "env": {"STEP_MS": "1900"}}
    path = rig.bench("daemon", [rig.pod("p1")], away)
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    check_faster(found, "a daemon of a variant: faster")
    ok(not napping() and "left behind" not in [g["guard"] for g in
                                               found["guards"]],
       "it ends with its run", (napping(), found["guards"]))
    rig.clean("daemon")
    path = rig.bench("hung", [rig.pod("p1")], dict(
        away, command=away["command"] + "; sleep 300"))
    child = rig.start(path)
    wait_for(napping)
    done = wait_for(lambda: aborted(rig, "hung"))
    ok(done and b"no process left" in done.stderr and not napping(),
       "or is aborted",
       (done.stderr, napping()))
    child.communicate()
    rig.clean("hung")


def unadopted(rig):
    """The same where no python3 can take in what loses its parents."""
    tools = os.path.join(rig.dir, "few")
    os.mkdir(tools)
    for name in NEEDED + ["flock", "setsid"]:
        if shutil.which(name):
            os.symlink(shutil.which(name), os.path.join(tools, name))
    rig.env["PATH"] = tools
    put(os.path.join(rig.dir, "work", "daemon.py"), DAEMON)
    path = rig.bench("told", [rig.pod("p1")], {"command": "%s daemon.py %s; "
        "sh workload.sh" % (sys.executable, NAP), "env": {"STEP_MS": "1900"}})
    # One that has its parent is nobody's orphan.
    guest = subprocess.Popen(["sh", "-c", "while :; do sleep 1; done"],
                             cwd="/", start_new_session=True)
    try:
        done = rig.tui("bench", "run", "--yes", "--json", path)
        told = {pid: r["tag"] for r in json.loads(done.stdout)["runs"]
                for g in r["guards"] if g["guard"] == "left behind" and
                not g["hard"] and "still there: " in g["text"]
                for pid in map(int, re.findall(r"(\d+) sleep", g["text"]))}
        # Others of this machine may have begun what they left, too.
        ok(len(napping()) == 3 and
           all(told.get(pid) == "B" for pid in napping()) and
           not any(is_child(guest.pid, pid) for pid in told),
           "what outlives a run is told, and what has its parent is not",
           (told, napping()))
        ok("left behind" in [g["guard"] for g in verdict_of(done)["guards"]],
           "beside the verdict", done.stdout)
        done = rig.tui("bench", "abort", "told")
        ok(re.search(rb"p1: what began during its runs is still there, and "
                     rb"may be of others: .*\d+ \(sleep\)", done.stderr),
           "and by who aborts it", done.stderr)
    finally:
        for pid in napping():
            os.kill(pid, signal.SIGKILL)
        os.killpg(guest.pid, signal.SIGKILL)
        guest.wait()
    rig.clean("told")


SLEEPER = """\
import os, time
begin, rate = time.time(), float(os.environ.get("RATE", "1"))
# No two runs alike, or there is no spread to judge by.
step_s = float(os.environ.get("STEP_S", "0.07")) * (
    1 + 0.01 * os.urandom(1)[0] / 255)
time.sleep(float(os.environ.get("COMPILE_S", "0.2")))
began, rows = time.time(), []
for step in range(1, 61):
    time.sleep(max(0, began + step * step_s - time.time()))
    ms = 1000 * (time.time() - began) * rate
    rows.append("step:%d/60 train_loss:%.4f train_time:%.1fms step_avg:%.3fms"
                % (step, 9 / step, ms, ms / step))
print("train_batch_tokens:1024 iterations:60\\nworld_size:1 "
      "grad_accum_steps:1\\nseed:42\\n" + "\\n".join(rows))
print("step:60/60 val_loss:3.2000 val_bpb:2.0 train_time:%.1fms "
      "step_avg:%.3fms" % (ms, ms / 60))
"""


def at_once(rig):
    """Rows that come at the end bear no witness: whole runs do."""
    put(os.path.join(rig.dir, "work", "sleeper.py"), SLEEPER)
    pods = [rig.pod(name, lock_dir=os.path.join(rig.dir, name))
            for name in ("p1", "p2", "p3", "p4")]
    for pod in pods:
        os.mkdir(pod["lock_dir"])
    path = rig.bench("once", pods, {}, workload={
        "command": "exec python3 sleeper.py", "env": {}},
        metric={"window": {"mode": "fixed", "lo": 10, "hi": 60}},
        design={"blocks_per_pod": 1})
    text = json.load(open(path))
    arms = {"liar": {"RATE": "0.7"}, "slow": {"RATE": "1.2"},
            "honest": {"STEP_S": "0.035"},
            "longer": {"STEP_S": "0.035", "COMPILE_S": "2.7"}}
    text["variants"] = [{"tag": "A", "control": True}] + [
        {"tag": tag, "env": env} for tag, env in arms.items()]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    said = {c["variant"]: c["text"]
            for c in json.loads(done.stdout)["contrasts"]}
    ok(said["honest"].startswith("FASTER by "), "faster as a whole", said)
    for tag in ("liar", "slow", "longer"):
        ok(said[tag].startswith("NOT JUDGED (rows came at once: its log "
                                "gained "), "not seen as a whole: " + tag,
           said)
    rig.clean("once")


LIAR = """\
import math, os, sys, time
lie, step_s = os.environ.get("LIE", ""), 0.05
seed = 7 if lie.endswith("seed") else 42
def say(text):
    print(text, flush=True)
say("train_batch_tokens:1024 iterations:40\\nworld_size:1 "
    "grad_accum_steps:1\\nseed:%d" % (42 if lie == "hidden-seed" else seed))
began, counted = time.time(), 0.0
for step in range(1, 41):
    row = time.time()
    if not (lie == "unrun" and step > 20):
        time.sleep(step_s / 2 if lie == "less" else step_s)
    counted += time.time() - row
    if lie == "uncounted" and step % 4 == 0:
        time.sleep(step_s)
    ms = 1000 * (counted if lie == "uncounted" else time.time() - began)
    if lie == "early":  # it stops its clock before the device is done
        ms *= 0.8
    loss = 9 / math.sqrt(step) * (1 if seed == 42 else 1.01)
    loss += 0.01 * step if lie == "less" else 0
    say("step:%d/40 train_loss:%.4f train_time:%.1fms step_avg:%.3fms" %
        (step, loss, ms, ms / step))
val = float(open("val").read())  # as it was last time
say("step:40/40 val_loss:%.4f val_bpb:2.0 train_time:%.1fms step_avg:%.3fms" %
    (val, ms, ms / 40))
"""


def liars(rig):
    """Variants that are fast by what they leave out or print."""
    for name, text in (("liar.py", LIAR), ("val", "3.2")):
        put(os.path.join(rig.dir, "work", name), text)
    pods = [rig.pod(name, lock_dir=os.path.join(rig.dir, name))
            for name in ("p1", "p2", "p3")]
    for pod in pods:
        os.mkdir(pod["lock_dir"])
    path = rig.bench("liars", pods, {}, workload={
        "command": "exec python3 liar.py", "env": {}},
        metric={"window": {"mode": "fixed", "lo": 10, "hi": 40}},
        design={"blocks_per_pod": 1})
    wanted = {"seed": "same work", "hidden-seed": "work identity",
              "less": "work identity", "unrun": "parse",
              "uncounted": "log clock", "early": "log clock"}
    text = json.load(open(path))
    text["variants"] = [{"tag": "A", "control": True}] + [
        {"tag": tag, "env": {"LIE": tag}} for tag in wanted]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--yes", "--json", path)
    said = {c["variant"]: c["text"]
            for c in json.loads(done.stdout)["contrasts"]}
    for tag, guard in wanted.items():
        ok(said[tag] == "INVALID (%s)" % guard, "a liar: " + tag, said)
    rig.clean("liars")


sys.exit(run_tests((daemons, unadopted, at_once, liars, buffered, clocks, gpus,
                    idle, hot_before, always_hot, foreign, stalled, other_work,
                    runtimes, false_clock, hooks, at_the_end, foreign_link,
                    without_flock, best),
                   ("flock",)))
