#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench run from end to end: local pods and a real sshd on loopback."""
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
SSHD = os.path.join(SRC, "tests", "support", "sshd.sh")
WORK = os.path.join(SRC, "tests", "bench", "workload.sh")
PATIENCE_S = 240
count = failed = 0


def ok(passed, name, got=None):
    global count, failed
    count += 1
    print("%sok %d - %s" % ("" if passed else "not ", count, name),
          flush=True)
    if not passed:
        failed += 1
        for line in str(got).split("\n"):
            print("# got: " + line, flush=True)
    return passed


class Rig:
    """A folder with its own state, configuration, pods and benches."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="hgym-bench-")
        self.env = dict(os.environ,
                        XDG_STATE_HOME=os.path.join(self.dir, "state"),
                        XDG_DATA_HOME=os.path.join(self.dir, "data"),
                        XDG_CONFIG_HOME=os.path.join(self.dir, "config"))
        self.pods = []
        for folder in ("locks", "work"):
            os.mkdir(os.path.join(self.dir, folder))
        shutil.copy(WORK, os.path.join(self.dir, "work", "workload.sh"))

    def pod(self, name, **more):
        pod = {"id": name, "transport": "local",
               "root": os.path.join(self.dir, "root-" + name),
               "lock_dir": os.path.join(self.dir, "locks")}
        pod.update(more)
        return pod

    def bench(self, name, pods, variant, **more):
        plan = {
            "schema": "hgym.bench/1", "name": name, "seed": 7,
            "workload": {"cwd": os.path.join(self.dir, "work"),
                         "command": "sh workload.sh",
                         "env": {"STEP_MS": "2000"}, "timeout_s": 120},
            "metric": {"key": "step_ms",
                       "window": {"mode": "fixed", "lo": 20, "hi": 100}},
            "variants": [{"tag": "A", "control": True},
                         dict({"tag": "B"}, **variant)],
            "pods": pods,
            "design": {"blocks_per_pod": 3, "burn_in": 0, "aa": False,
                       "gap_s": 0},
            "budget": {"minutes": 10}}
        for key, value in more.items():
            plan[key] = dict(plan.get(key, {}), **value)
        path = os.path.join(self.dir, name + ".json")
        with open(path, "w") as stream:
            json.dump(plan, stream)
        return path

    def tui(self, *words, **more):
        return subprocess.run([TUI, *words], env=self.env,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE_S, **more)

    def start(self, path):
        return subprocess.Popen([TUI, "bench", "run", "--yes", path],
                                env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def folder(self, name):
        return glob.glob(os.path.join(self.dir, "state", "hgym-tui",
                                      "benches", name + "-*"))[0]

    def processes(self):
        """Pids whose environment or command line names this rig."""
        found = []
        me = (os.getpid(), os.getppid())
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as stream:
                    text = stream.read()
                with open("/proc/%s/cmdline" % pid, "rb") as stream:
                    text += stream.read()
            except OSError:
                continue
            if self.dir.encode() in text and int(pid) not in me and \
                    b"sshd" not in text:
                found.append(pid)
        return found

    def clean(self, name):
        """bench clean, then nothing is left on the pods."""
        done = self.tui("bench", "clean", name)
        ok(done.returncode == 0, "bench clean", done.stderr.decode())
        left = glob.glob(os.path.join(self.dir, "root-*"))
        ok(not left, "no folder is left on the pods", left)
        locks = os.listdir(os.path.join(self.dir, "locks"))
        ok(not locks, "no lock is left", locks)
        wait_for(lambda: not self.processes())
        ok(not self.processes(), "no process is left", self.processes())

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def wait_for(check, patience=60):
    end = time.monotonic() + patience
    while not check() and time.monotonic() < end:
        time.sleep(0.1)
    return check()


def verdict_of(done):
    try:
        return json.loads(done.stdout)["contrasts"][0]
    except (ValueError, KeyError, IndexError):
        return {"text": done.stderr.decode("utf-8", "replace")}


def check_faster(found, name):
    """STEP_MS 1900 against 2000 is 5.26 % faster."""
    ok(found.get("verdict") == "FASTER", name, found["text"])
    lo, hi = found.get("ci_pct", (0, 0))
    ok(lo is not None and lo - 1 < 5.26 < hi + 1,
       "the interval is about the truth", (lo, hi))


def two_pods(rig):
    path = rig.bench("two", [rig.pod("p1", usd_per_h=2.0), rig.pod("p2")],
                     {"env": {"STEP_MS": "1900"}}, decision={"early": "none"})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    check_faster(found, "2 pods x 3 blocks: faster")
    ok(found.get("n_blocks") == 6, "from six blocks", found)
    folder = rig.folder("two")
    for name in ("bench.json", "verdict.json", "summary.json", "state.json",
                 "env.p1.txt", "runs/0_p1_A/train.out", "runs/2_p2_B/run.json",
                 "runs/0_p1_B/steps.csv"):
        ok(os.path.exists(os.path.join(folder, name)), name + " is kept")
    runs = json.load(open(os.path.join(folder, "verdict.json")))["runs"]
    ok(all(r["state"] in ("verified", "confirmed") for r in runs),
       "every run is verified", runs)
    done = rig.tui("bench", "show", "two")
    ok(b"FASTER by" in done.stdout and b"pod p1" in done.stdout,
       "bench show", done.stdout)
    done = rig.tui("bench", "list", "--json")
    ok(json.loads(done.stdout)["state"] == "done", "bench list", done.stdout)
    database = sqlite3.connect(os.path.join(rig.dir, "data", "hgym-tui",
                                            "history.db"))
    rows = database.execute("SELECT name, state, verdict FROM v_benches")
    ok([r[:2] for r in rows if "FASTER" in r[2]] == [("two", "done")],
       "v_benches has it")
    rows = database.execute("SELECT count(*), count(y_ms), max(rc) "
                            "FROM v_bench_runs WHERE tag = 'B'").fetchone()
    ok(rows == (6, 6, 0), "v_bench_runs has its runs", rows)
    database.close()
    rig.clean("two")


def misbehaving(rig):
    for mode, want in (("crash", "INVALID (exit)"), ("nan", "INVALID (nan)"),
                       ("less", "INVALID (work identity)")):
        path = rig.bench(mode, [rig.pod("p1")],
                         {"env": {"MODE": mode, "STEP_MS": "1000"}})
        found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
        ok(found["text"] == want, "an arm that does %s: %s" % (mode, want),
           found["text"])
        rig.clean(mode)
    path = rig.bench("early", [rig.pod("p1")],
                     {"env": {"MODE": "less", "LAST_S": "300"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    ok(found["text"] == "INVALID (work identity)" and
       b"is ended early" in done.stderr,
       "other work is not waited for", done.stderr.decode())
    rig.clean("early")
    path = rig.bench("mark", [rig.pod("p1")],
                     {"env": {"STEP_MS": "1900"},
                      "must_match": ["^\\[fast-path\\] enabled"]})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (marker)",
       "an arm that did not take effect", found["text"])
    rig.clean("mark")


def killed(rig):
    path = rig.bench("kill", [rig.pod("p1")],
                     {"env": {"STEP_MS": "1900"}},
                     workload={"env": {"STEP_MS": "2000", "LAST_S": "1"}})
    child = rig.start(path)
    folder = None
    if wait_for(lambda: glob.glob(os.path.join(
            rig.dir, "root-p1", "*", "1_p1_*", "pid"))):
        folder = rig.folder("kill")
    child.send_signal(signal.SIGKILL)
    child.communicate()
    state = json.load(open(os.path.join(folder, "state.json")))["state"]
    ok(state == "running", "killed in the second block", state)
    done = rig.tui("bench", "attach", "--json", "kill")
    check_faster(verdict_of(done), "attach goes on: faster")
    jobs = glob.glob(os.path.join(rig.dir, "root-p1", "*", "*", "pid"))
    ok(len(jobs) == 6, "no run was made twice", jobs)
    rig.clean("kill")


def aborted(rig):
    pids = os.path.join(rig.dir, "pids")
    path = rig.bench("hang", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"env": {"STEP_MS": "2000", "MODE": "hang",
                                       "PIDS": pids}})
    child = rig.start(path)
    ok(wait_for(lambda: glob.glob(pids + ".*")), "a run that hangs began")
    done = rig.tui("bench", "clean", "hang")
    ok(done.returncode == 3, "clean refuses while another drives it",
       (done.returncode, done.stderr))
    done = rig.tui("bench", "abort", "hang")
    ok(done.returncode == 0 and b"no process left" in done.stderr,
       "bench abort proves it", done.stderr.decode())
    child.communicate()
    wait_for(lambda: not rig.processes())
    ok(not rig.processes(), "its escaped worker is gone too",
       rig.processes())
    done = rig.tui("bench", "list")
    ok(b"aborted" in done.stdout, "it is listed as aborted", done.stdout)
    rig.clean("hang")


def detached(rig):
    path = rig.bench("away", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}})
    done = rig.tui("bench", "run", "--yes", "--detach", path)
    ok(done.returncode == 0 and done.stdout.startswith(b"away-"),
       "--detach prints the id", done)
    done = rig.tui("bench", "attach", "--json", done.stdout.decode().strip())
    check_faster(verdict_of(done), "and the verdict comes: faster")
    rig.clean("away")


def shipped(rig):
    with open(os.path.join(rig.dir, "work", "config.json"), "w") as stream:
        stream.write('{"step_ms": 2000, "other": 1}')
    command = ("STEP_MS=$(python3 -c 'import json; "
               "print(json.load(open(\"config.json\"))[\"step_ms\"])') "
               "sh workload.sh")
    path = rig.bench("ship", [rig.pod("p1")],
                     {"overlay": {"config.json": {"step_ms": 1900}}},
                     workload={"command": command,
                               "judge_files": ["workload.sh"]})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    check_faster(found, "an overlay in a copy of its own: faster")
    rig.clean("ship")
    with open(os.path.join(rig.dir, "evil.sh"), "w") as stream:
        stream.write(open(WORK).read() + "\n# changed\n")
    path = rig.bench("evil", [rig.pod("p1")],
                     {"files": {"workload.sh": "evil.sh"},
                      "env": {"STEP_MS": "1900"}},
                     workload={"judge_files": ["workload.sh"]})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (judge files)",
       "a variant that changes its judge", found["text"])
    rig.clean("evil")


def refused(rig):
    path = rig.bench("no", [rig.pod("p1")], {"env": {}})
    done = rig.tui("bench", "run", path)
    ok(done.returncode == 2 and b"--yes" in done.stderr,
       "nobody to ask", done.stderr)
    done = rig.tui("--read-only", "bench", "run", "--yes", path)
    ok(done.returncode == 2, "not with --read-only", done.stderr)
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(b"sh -c 'sh workload.sh'" in done.stdout, "--dry-run shows commands",
       done.stdout)
    done = rig.tui("bench", "show", "nothing")
    ok(done.returncode == 5, "no such bench: exit 5", done.stderr)
    later = os.path.join(rig.dir, "later")
    path = rig.bench("lost", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"cwd": later})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b"no folder " in done.stderr,
       "a folder that is not there", (done.returncode, done.stderr))
    shutil.copytree(os.path.join(rig.dir, "work"), later)
    check_faster(verdict_of(rig.tui("bench", "attach", "--json", "lost")),
                 "what failed is taken up again: faster")
    path = rig.bench("gone", [rig.pod("p1", transport="openssh",
                                      ssh="nobody@127.0.0.1:1")],
                     {"env": {}}, budget={"minutes": 0.05})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b"never reached" in done.stderr,
       "a pod that is not there ends with the budget",
       (done.returncode, done.stderr))
    done = rig.tui("bench", "clean", "lost")
    ok(done.returncode == 0, "is cleaned", done.stderr)


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


def gpus(rig):
    fake_gpu(rig, "20")
    path = rig.bench("gpu", [rig.pod("p1", gpus=[0, 2])],
                     {"env": {"STEP_MS": "1900"}})
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
    ok(steps.split("\r\n")[0].endswith(",sm_mhz,power_w,temp_c,reasons") and
       steps.split("\r\n")[-2].endswith(",1980,300.1,40,0x4"),
       "and stands beside the steps", steps[-200:])
    ok("NVIDIA Test" in open(os.path.join(folder, "env.p1.txt")).read(),
       "the GPU is named")
    rig.clean("gpu")


def always_hot(rig):
    """A variant whose every run is throttled is INVALID, not dropped."""
    tools = fake_gpu(rig)
    path = rig.bench("hot", [rig.pod("p1", gpus=[0])],
                     {"command": "echo 20 >%s/bits; sh workload.sh; "
                                 "sleep 1.5" % tools},
                     workload={"command": "echo 4 >%s/bits; sh workload.sh"
                                          % tools})
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


def foreign(rig):
    tools = fake_gpu(rig)
    put(os.path.join(tools, "apps"), "4711\n")
    path = rig.bench("taken", [rig.pod("p1", gpus=[0])], {"env": {}})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b"4711" in done.stderr,
       "a foreign process on the GPU is refused", done.stderr)
    put(os.path.join(tools, "apps"), "")
    put(os.path.join(tools, "idle"), "0, 37, 20480\n")
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
        path = rig.bench("guest", [rig.pod("p1", gpus=[0])],
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


def stalled(rig):
    """One process of twelve takes six times its time, and nobody knows why."""
    stall = {"workload": {"env": {"STEP_MS": "2000", "MODE": "stall",
                                  "ONCE": os.path.join(rig.dir, "once"),
                                  "STALL_AT": "4"}},
             "decision": {"early": "none"}}
    path = rig.bench("stall", [rig.pod("p1")], {"env": {"STEP_MS": "1000"}},
                     design={"blocks_per_pod": 6}, **stall)
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    ok(found["verdict"] == "NO DIFFERENCE SHOWN" and found["n_blocks"] == 6,
       "no run is removed for its value: nothing is shown", found["text"])
    worst = max(found["outliers"], key=lambda o: o["times_median"])
    ok(found["swollen"] and worst["times_median"] > 5,
       "but the run that did it is named", found["outliers"])
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
    path = rig.bench("median", [rig.pod("p1")], {"env": {"STEP_MS": "1000"}},
                     design={"blocks_per_pod": 3, "runs_per_block": 3},
                     **stall)
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    ok(found["verdict"] == "FASTER" and found["n_blocks"] == 3 and
       95 < found["ci_pct"][0] < 100 < found["ci_pct"][1] < 105,
       "blocks of three runs an arm count by their medians", found["text"])
    ok(max(o["times_median"] for o in found["outliers"]) > 5,
       "and still name the run", found["outliers"])
    runs = json.loads(done.stdout)["runs"]
    ok(len(runs) == 18 and "1.2_p1_B" in [r["id"] for r in runs],
       "all 18 runs are there", [r["id"] for r in runs])
    rig.clean("median")


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
    check_faster(verdict_of(rig.tui("bench", "run", "--yes", "--json", path)),
                 "locks by mkdir, sessions by perl: faster")
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
    child = subprocess.Popen([TUI, "bench", "run", "--yes", "--json", path],
                             env=rig.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(4)
    ok(not glob.glob(os.path.join(rig.dir, "root-p1", "*", "*", "pid")) and
       os.path.isdir(lock), "a lock that is held is respected")
    guest.kill()
    guest.wait()
    out, err = child.communicate(timeout=PATIENCE_S)
    check_faster(verdict_of(subprocess.CompletedProcess([], 0, out, err)),
                 "it is taken over when its owner is gone: faster")
    ok(err.count(b"locked by another bench; waiting") == 1,
       "and that was told once", err.decode())
    done = rig.tui("bench", "list", "--json")
    for row in done.stdout.split(b"\n")[:-1]:
        rig.tui("bench", "clean", json.loads(row)["id"])
    ok(not os.listdir(os.path.join(rig.dir, "locks")) and
       not rig.processes(), "nothing is left",
       (os.listdir(os.path.join(rig.dir, "locks")), rig.processes()))


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


def over_ssh(rig):
    sshd = os.path.join(rig.dir, "sshd")
    done = subprocess.run(["sh", SSHD, "start", sshd],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 77:
        ok(True, "over ssh # SKIP no sshd")
        return

    def read(name):
        return open(os.path.join(sshd, name)).read().strip()

    pods = [rig.pod(name, transport=way,
                    ssh="%s@127.0.0.1:%s" % (read("user"), read("port")),
                    identity=os.path.join(sshd, "id_ed25519"),
                    known_hosts=os.path.join(sshd, "known_hosts"))
            for name, way in (("s1", "openssh"), ("s2", "libssh2"))]
    try:
        path = rig.bench("ssh", pods, {"env": {"STEP_MS": "1900"}},
                         decision={"early": "none"},
                         workload={"env": {"STEP_MS": "2000",
                                           "LAST_S": "1"}})
        child = subprocess.Popen(
            [TUI, "bench", "run", "--yes", "--json", path], env=rig.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        wait_for(lambda: glob.glob(os.path.join(
            rig.dir, "root-s*", "*", "0_*", "exit")))
        subprocess.run(["sh", SSHD, "restart", sshd],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        out, err = child.communicate(timeout=PATIENCE_S)
        done = subprocess.CompletedProcess([], child.returncode, out, err)
        found = verdict_of(done)
        check_faster(found, "over ssh, with the link cut: faster")
        ok(found.get("n_blocks") == 6, "all six blocks",
           err.decode("utf-8", "replace"))
        rig.clean("ssh")
    finally:
        subprocess.run(["sh", SSHD, "stop", sshd],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    if shutil.which("flock") is None or shutil.which("setsid") is None or \
            not os.path.isdir("/proc/self"):
        print("1..0 # SKIP no flock, setsid or /proc here")
        return 0
    only = sys.argv[1:]
    for test in (two_pods, misbehaving, killed, aborted, detached, shipped,
                 refused, gpus, always_hot, foreign, stalled,
                 without_flock, best, over_ssh):
        if only and test.__name__ not in only:
            continue
        print("# " + test.__name__, flush=True)
        rig = Rig()
        try:
            test(rig)
        finally:
            rig.close()
    print("1..%d" % count)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
