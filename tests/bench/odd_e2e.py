#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench run on unusual pods: throttled, shared, stalled, without tools."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "support")]
from run_e2e import (PATIENCE_S, SSHD, TUI, check_faster, ended,  # noqa: E402
                     run_tests, verdict_of, wait_for)
from tap import ok  # noqa: E402


SMI = """#!/bin/sh
# Print what nvidia-smi prints, from files: this machine has no GPU.
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
    """Run a test that takes a rig and the maker of its pods."""
    def run(rig):
        rig.tools = fake_gpu(rig)
        with Sshd(rig) as sshd:
            test(rig, sshd)
    run.__name__ = test.__name__
    return run


ROWS = """\
import glob, os, signal, sys, time
job = os.path.dirname(os.readlink("/proc/self/fd/1"))
row_s = float(os.environ.get("ROW_S", "0.2"))
clock = float(os.environ.get("CLOCK", "1"))
lie = os.environ.get("LIE", "")
if lie == "kill":  # kill the process that stamps its rows
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
        os.kill(pid, signal.SIGTERM)  # which that process ignores
        os.kill(pid, signal.SIGKILL)
elif lie == "forge":  # forge stamps and an early end
    for name in ("stamps.t", "over"):
        open(os.path.join(job, name), "w").close()
if os.environ.get("KEEP"):  # buffer all rows until the end
    sys.stdout = open(1, "w", buffering=1 << 20)
told = []  # on SIGTERM continue faster, to the regular end
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
elif lie == "rewrite":  # rewrite earlier rows
    with open("/proc/self/fd/1", "r+b", buffering=0) as log:
        log.seek(100)
        log.write(b"x")
print("step:30/30 val_loss:3.2000 val_bpb:2.0 train_time:%.0fms "
      "step_avg:%.2fms" % (ms, ms / 30))
print("final_int8_zlib_roundtrip val_loss:3.2 val_bpb:2.0 eval_time:2ms")
"""


NEEDED = ("sh awk basename cat chmod cmp cp cut date df dirname env find "
          "getconf grep head kill ls mkdir mv od patch readlink rm rmdir sed "
          "sha256sum sleep tail touch tr uname wc").split()


@over_sshd
def gpus(rig, sshd):
    fake_gpu(rig, "20")
    path = rig.bench("gpu", [sshd.pod("p1", gpus=[0, 2])],
                     {"env": {"STEP_MS": "1900"}}, workload={
        "env": {"STEP_MS": "2000", "WAIT_FOR": "test -s \"$job/gpu.csv\" && "
                "test $(lines_of \"$job/host.csv\") -gt 1"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    check_faster(verdict_of(done), "on GPUs: FASTER")
    ok(b"repeating block 1" in done.stderr and b"0x20" in done.stderr,
       "a block with a throttled run is repeated", done.stderr.decode())
    found = json.loads(done.stdout)
    runs = found["runs"]
    ok(len(runs) == 6 and not any(g["guard"] != "host load" for r in runs
                                  for g in r["guards"]),
       "the repeated block counts", runs)
    ok(sorted(r["id"] for r in runs if r["block"] == 0) ==
       ["0_p1_A.b1", "0_p1_B.b1"], "the block is repeated as a whole, by new "
                                   "processes",
       [r["id"] for r in runs])
    ok([(d["block"], d["repeated"]) for d in found["dropped_blocks"]] ==
       [(0, True)] and "throttled" in found["dropped_blocks"][0]["reason"],
       "the verdict lists the repeated block with its reason", found["dropped_blocks"])
    ok(all(r["health"]["sm_mhz"] == 1980 and r["health"]["busy_cores"] > 0
           for r in runs), "each run has telemetry", runs)
    folder = rig.folder("gpu")
    ok(os.path.exists(os.path.join(folder, "runs", "1_p1_A", "gpu.csv")),
       "the telemetry is stored")
    steps = open(os.path.join(folder, "runs", "1_p1_A", "steps.csv"),
                 newline="").read()
    ok(steps.split("\r\n")[0].endswith(
           ",sm_mhz,power_w,temp_c,reasons,pod_s") and
       re.search(r",1980,300.1,40,0x4,\d+\.\d{3}$", steps.split("\r\n")[-2]),
       "steps.csv has the telemetry of each step", steps[-200:])
    ok("NVIDIA Test" in open(os.path.join(folder, "env.p1.txt")).read(),
       "env.txt names the GPU")
    rig.clean("gpu")


@over_sshd
def idle(rig, sshd):
    """A GPU that waits for its host: a warning next to the verdict."""
    put(os.path.join(rig.tools, "nvidia-smi"),
        SMI.replace("300.1, 99", "300.1, 6").replace("sleep 1", "sleep 0.1")
        .replace("0x$bits", "0x$bits, GPU-7, 700.00")
        % {"dir": rig.tools}, 0o755)
    path = rig.bench("idle", [sshd.pod("p1", gpus=[0])],
                     {"env": {"STEP_MS": "1900"}}, workload={
        "env": {"STEP_MS": "2000", "WAIT_FOR":
                "test $(lines_of \"$job/gpu.csv\") -gt 3"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    check_faster(found, "a GPU that waits for its host: FASTER")
    ok({"guard": "host-bound", "hard": False,
        "text": "the GPU was idle 94% of the time"} in found["guards"],
       "a GPU that waits for its host: warning host-bound", found["guards"])
    runs = json.loads(done.stdout)["runs"]
    ok(all(r["state"] != "measured" for r in runs), "a warning does not invalidate a run",
       done.stdout)
    ok(all(r["runtime"].endswith("gpu_uuid GPU-7; power_limit 700.00")
           for r in runs), "each run records its GPU", runs)


@over_sshd
def hot_before(rig, sshd):
    """Throttling before the window is not a problem."""
    smi = os.path.join(rig.tools, "nvidia-smi")
    put(smi, open(smi).read().replace(
        "bits=$(cat %s/bits)\n" % rig.tools, "bits=20\n").replace(
        "sleep 1\n", "sleep 1\n        bits=4\n"), 0o755)
    put(os.path.join(rig.dir, "work", "rows.py"), ROWS)
    put(os.path.join(rig.dir, "work", "run.sh"),
        'job=$(dirname "$(readlink /proc/$$/fd/1)")\n'
        'until test -s "$job/gpu.csv"; do sleep 0.05; done\n'
        "exec python3 rows.py\n")
    path = rig.bench("before", [sshd.pod("p1", gpus=[0])],
                     {"env": {"ROW_S": "0.15"}},
                     workload={"command": "exec sh run.sh", "env": {}},
                     metric={"window": {"mode": "fixed", "lo": 5, "hi": 30}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = json.loads(done.stdout)
    ok(found["contrasts"][0]["n_blocks"] == 3 and
       b"repeating block" not in done.stderr,
       "throttled in the warm-up: the block is not repeated", done.stderr.decode())
    folder = rig.folder("before")
    first = open(os.path.join(folder, "runs", "0_p1_A", "gpu.csv")).readline()
    seen = [r["health"]["reasons"] for r in found["runs"]]
    ok("0x20" in first and seen == [4] * 6, "only samples in the window count",
       (first, seen))
    rig.clean("before")


@over_sshd
def always_hot(rig, sshd):
    """A variant that throttles in every run is INVALID, not dropped."""
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
       "a variant that throttles in every run: INVALID", verdict_of(done)["text"])
    ok(done.stderr.count(b"repeating block") == 2,
       "a variant that throttles in every run: two repeats",
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
       "another process on the GPU: refused", done.stderr)
    ok(re.search(rb"p1: preflight: connecting\n.*p1: preflight: answered "
                 rb"after \d+\.\d s\n.*p1: preflight: gpu: ", done.stderr,
                 re.S),
       "another process on the GPU: the steps of pods check were shown", done.stderr)
    rows = json.load(open(os.path.join(rig.folder("taken"),
                                       "preflight.json")))
    ok("gpu" in rows[0]["failure"], "another process on the GPU: "
                                    "preflight.json has it", rows)
    put(os.path.join(tools, "apps"), "")
    done = rig.tui("bench", "attach", "taken")
    ok(done.returncode == 4 and b"GPU 0 is at 37 %, 20480 MiB" in done.stderr,
       "a GPU that is not idle is refused without a known process", done.stderr)
    put(os.path.join(tools, "idle"), "0, 0, 4\n")
    rig.clean("taken")
    # A real process that has the device open; it is seen during one run of B.
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
        check_faster(verdict_of(done), "another process during a run: FASTER")
        ok(b"repeating block" in done.stderr and
           b"foreign process: pids %d" % guest.pid in done.stderr,
           "another process during a run: its block is repeated",
           done.stderr.decode())
    finally:
        guest.kill()
        guest.wait()
    rig.clean("guest")


@over_sshd
def stalled(rig, sshd):
    """One process of twelve takes six times as long for an unknown reason."""
    def stall(name, pod, **design):
        return rig.bench(name, [pod], {"env": {"STEP_MS": "1000"}}, workload={
            "env": {"STEP_MS": "2000", "MODE": "stall", "STALL_AT": "4",
                    "ONCE": os.path.join(rig.dir, "once-" + name)}},
            decision={"early": "none"}, design=design)

    done, other = rig.run_all(
        stall("stall", sshd.pod("p1", alone=True), blocks_per_pod=6),
        stall("median", sshd.pod("p2", alone=True), blocks_per_pod=3,
              runs_per_block=3))
    found = verdict_of(done)
    ok(found["verdict"] == "NO DIFFERENCE SHOWN" and found["n_blocks"] == 6,
       "no run is dropped for its value: no verdict", found["text"])
    worst = max(found["outliers"], key=lambda o: o["times_median"])
    ok(found["widened"] and worst["times_median"] > 5,
       "the slow run is named as an outlier",
       {key: found[key] for key in ("outliers", "widened", "robust_sd_d",
                                    "sd_d") if key in found})
    ok(found["n_agree"] >= 5 and
       abs(2 ** 0.5 - 2 ** (found["hl_d"] / 1.3863)) < 0.2,
       "estimates that the outlier hardly changes are shown", (found["n_agree"], found["hl_d"]))
    done = rig.tui("bench", "show", "--all", "stall")
    flat = " ".join(done.stdout.decode().split())
    ok("1 of 12 runs is an outlier" in flat and worst["run"] in flat and
       "Showing" in flat, "bench show explains the widened interval",
       done.stdout.decode())
    found = verdict_of(other)
    ok(found["verdict"] == "FASTER" and found["n_blocks"] == 3 and
       95 < found["ci_pct"][0] < found["ci_pct"][1] < 105,
       "blocks with three runs per arm use medians", found["text"])
    ok(max(o["times_median"] for o in found["outliers"]) > 5,
       "blocks with three runs per arm name the outlier", found["outliers"])
    runs = json.loads(other.stdout)["runs"]
    ok(len(runs) == 18 and "1.2_p2_B" in [r["id"] for r in runs],
       "all 18 runs are listed", [r["id"] for r in runs])
    rig.clean("stall", "median")


def without_flock(rig):
    """A pod without flock and setsid: locks by mkdir, sessions by perl."""
    tools = os.path.join(rig.dir, "few")
    os.mkdir(tools)
    for name in NEEDED + ["perl"]:
        found = shutil.which(name)
        if found:
            os.symlink(found, os.path.join(tools, name))
    rig.env["PATH"] = tools
    path = rig.bench("few", [rig.pod("p1", gpus=[])],
                     {"env": {"STEP_MS": "1900"}})
    beside = rig.start(rig.bench("beside", [rig.pod("p2", alone=True)],
                                 {"env": {"STEP_MS": "1900"}}), "--json")
    # A bench waits for a lock whose owner is alive, and takes others.
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
       os.path.isdir(lock), "a lock with a living owner is respected")
    guest.kill()
    guest.wait()
    out = child.communicate(timeout=PATIENCE_S)[0]
    check_faster(verdict_of(subprocess.CompletedProcess([], 0, out, b"")),
                 "a lock whose owner has ended is taken: FASTER")
    ok(waits() == 1, "the wait was reported once", open(told, "rb").read())
    done = ended(beside)
    check_faster(verdict_of(done), "locks by mkdir, sessions by perl: FASTER")
    ok(b"p2: no python3: times of rows are known" in done.stderr and
       b"not stamped" not in done.stdout, "no python3: the missing time "
                                          "stamps are reported",
       done.stderr)
    rig.clean("few", "beside")


def foreign_link(rig):
    """A symbolic link in place of the lock: no run starts, no file is created
    at its target."""
    victim = os.path.join(rig.dir, "victim")
    link = os.path.join(rig.dir, "locks", "hgym.gpu.host.lock")
    path = rig.bench("linked", [rig.pod("p1", gpus=[])],
                     {"env": {"STEP_MS": "1900"}})
    for place in (link, link + ".d"):
        os.symlink(victim, place)
        done = rig.tui("bench", "run", "--yes", path)
        ok(done.returncode != 0 and
           ("lock %s is a symbolic link" % place).encode() in done.stderr and
           not os.path.lexists(victim) and os.path.islink(place),
           "a symbolic link in place of the lock is reported and not followed",
           (done, os.path.lexists(victim)))
        os.unlink(place)


def crowded(rig):
    """More processes than fit one command line."""
    job = open(os.path.join(os.environ["HGYM_SRC"], "src", "bench",
                            "launch_job.sh")).read()
    function = re.search(r"^of_all\(\) \{\n.*?^\}\n", job, re.M | re.S)[0]
    crowd = os.path.join(rig.dir, "crowd")
    os.mkdir(crowd)
    for i in range(3000):
        put(os.path.join(crowd, "%0100d" % i), "mine" if i % 1000 == 7 else "")
    words = "ulimit -s 256\n" + function + "%s | sed 's/.*0//'" % (
        "of_all '%s/*' grep -lsF mine" % crowd)
    done = subprocess.run(["sh", "-c", words], stdout=subprocess.PIPE)
    ok(done.stdout.split() == [b"7"] * 3, "each of 3,000 processes is checked",
       done.stdout)
    shutil.rmtree(crowd)


if __name__ == "__main__":
    sys.exit(run_tests((crowded, stalled, foreign, without_flock, gpus, idle,
                        hot_before, always_hot, foreign_link), ("flock",)))
