#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench run: local pods and a real sshd on loopback."""
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import xml.dom.minidom

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from process import Process, read_pid  # noqa: E402
from tap import finish, note, ok, skip, skip_all  # noqa: E402
import wait  # noqa: E402

SSHD = os.path.join(SRC, "tests", "support", "sshd.sh")
WORK = os.path.join(SRC, "tests", "bench", "workload.sh")
# Benches without a pod of their own wait for those of other tests on this machine.
PATIENCE_S = 3 * wait.PATIENCE_S


class Rig:
    """A folder with separate state, configuration, pods and benches."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="hgym-bench-")
        self.env = home_env(self.dir)
        self.pods = []
        os.mkdir(os.path.join(self.dir, "work"))
        shutil.copy(WORK, os.path.join(self.dir, "work", "workload.sh"))

    def pod(self, name, alone=False, **more):
        """A pod; with alone=True it has separate locks and runs at the same
        time as others."""
        locks = os.path.join(self.dir, "locks" + alone * ("-" + name))
        os.makedirs(locks, exist_ok=True)
        pod = {"id": name, "transport": "local", "lock_dir": locks,
               "root": os.path.join(self.dir, "root-" + name)}
        pod.update(more)
        return pod

    def bench(self, name, pods, variant, **more):
        plan = {
            "schema": "hgym.bench/1", "name": name, "seed": 7,
            "workload": {"cwd": os.path.join(self.dir, "work"),
                         "command": "sh workload.sh",
                         "env": {"STEP_MS": "2000"}, "timeout_s": 600},
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

    def start(self, path, *words):
        return subprocess.Popen([TUI, "bench", "run", "--yes", *words, path],
                                env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_all(self, *paths):
        """Run benches at the same time: their pods share nothing."""
        children = [self.start(path, "--json") for path in paths]
        return [ended(child) for child in children]

    def folder(self, name):
        return glob.glob(os.path.join(self.dir, "state", "hgym-tui",
                                      "benches", name + "-*"))[0]

    def processes(self):
        """Pids whose environment or command line contains this folder."""
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

    def abort(self, name):
        """bench abort, or None while another process still drives the
        bench."""
        done = self.tui("bench", "abort", name)
        return None if b"another hgym-tui is running" in done.stderr else done

    def clean(self, *names):
        """bench clean; afterwards nothing is left on the pods."""
        for name in names:
            done = self.tui("bench", "clean", name)
            ok(done.returncode == 0, "bench clean", done.stderr.decode())
        left = glob.glob(os.path.join(self.dir, "root-*"))
        ok(not left, "no folder is left on the pods", left)
        locks = glob.glob(os.path.join(self.dir, "locks*", "*"))
        ok(not locks, "no lock is left", locks)
        wait_for(lambda: not self.processes())
        ok(not self.processes(), "no process is left", self.processes())

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def ended(child):
    """Wait for a program and return its result."""
    out, err = child.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(child.args, child.returncode, out, err)


def wait_for(check, patience=wait.PATIENCE_S):
    """Wait until check() returns a true value, and return it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        said = check()
        if said:
            return said
        time.sleep(0.1)
    note("nothing after %d s" % patience)
    return check()


def verdict_of(done):
    try:
        return json.loads(done.stdout)["contrasts"][0]
    except (ValueError, KeyError, IndexError):
        return {"text": done.stderr.decode("utf-8", "replace")}


def check_faster(found, name):
    """STEP_MS 1900 compared with 2000 is 5.26 % faster."""
    ok(found.get("verdict") == "FASTER", name, found["text"])
    lo, hi = found.get("ci_pct", (0, 0))
    ok(lo is not None and lo - 1 < 5.26 < hi + 1,
       "the interval contains the true difference", (lo, hi))


def two_pods(rig):
    path = rig.bench("two", [rig.pod("p1", usd_per_h=2.0), rig.pod("p2")],
                     {"env": {"STEP_MS": "1900"}}, decision={"early": "none"})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    check_faster(found, "2 pods x 3 blocks: FASTER")
    ok(found.get("n_blocks") == 6, "2 pods x 3 blocks: six blocks", found)
    folder = rig.folder("two")
    for name in ("bench.json", "verdict.json", "summary.json", "state.json",
                 "env.p1.txt", "runs/0_p1_A/train.out", "runs/2_p2_B/run.json",
                 "runs/0_p1_B/steps.csv"):
        ok(os.path.exists(os.path.join(folder, name)), name + " is stored")
    runs = json.load(open(os.path.join(folder, "verdict.json")))["runs"]
    ok(all(r["state"] in ("verified", "confirmed") for r in runs),
       "every run is verified", runs)
    done = rig.tui("bench", "show", "two")
    ok(all(word in done.stdout for word in (b"FASTER by", b"how sure",
                                            b"doubts", b"next")) and
       b"paired by block" not in done.stdout,
       "bench show answers in four sentences", done.stdout)
    done = rig.tui("bench", "show", "--all", "two")
    ok(b"FASTER by" in done.stdout and b"pod p1" in done.stdout,
       "bench show has the verdict and the pods", done.stdout)
    done = rig.tui("bench", "list", "--json")
    ok(json.loads(done.stdout)["state"] == "done", "bench list has the state", done.stdout)
    database = sqlite3.connect(os.path.join(rig.dir, "data", "hgym-tui",
                                            "history.db"))
    rows = database.execute("SELECT name, state, verdict FROM v_benches")
    ok([r[:2] for r in rows if "FASTER" in r[2]] == [("two", "done")],
       "v_benches has the bench")
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
        ok(found["text"] == want, "an arm with MODE=%s: %s" % (mode, want),
           found["text"])
        rig.clean(mode)
    path = rig.bench("early", [rig.pod("p1")],
                     {"env": {"MODE": "less", "LAST_S": "300"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    ok(found["text"] == "INVALID (work identity)" and
       b": stopping run " in done.stderr,
       "a run that does different work is stopped at once", done.stderr.decode())
    rig.clean("early")
    path = rig.bench("mark", [rig.pod("p1")],
                     {"env": {"STEP_MS": "1900"},
                      "must_match": ["^\\[fast-path\\] enabled"]})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (marker)",
       "a variant that did not take effect: INVALID", found["text"])
    rig.clean("mark")


def few_looks(rig):
    """A pod is polled seldom while it times a run: each command is counted."""
    shims, asked = (os.path.join(rig.dir, name) for name in ("shims", "asked"))
    os.mkdir(shims)
    with open(os.path.join(shims, "sh"), "w") as shim:
        os.chmod(shim.fileno(), 0o755)
        shim.write('#!/bin/sh\ntest "$1" = -s || exec /bin/sh "$@"\n'
                   'cat >"$0.$$"\ngrep \'^op_state$\' "$0.$$" >>%s\n'
                   'exec /bin/sh -s <"$0.$$"\n' % asked)
    path = rig.bench("few", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"env": {"STEP_MS": "2000", "LAST_S": "5"}},
                     design={"blocks_per_pod": 1})
    env = dict(rig.env, PATH=shims + ":" + os.environ["PATH"])
    done = subprocess.run([TUI, "bench", "run", "--yes", path], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE_S)
    runs = [json.load(open(name)) for name in glob.glob(os.path.join(
        rig.folder("few"), "runs", "*", "run.json"))]
    most = sum(2 + run["up_s"] // 8 for run in runs)
    count = len(open(asked).readlines())
    ok(len(runs) == 2 and 2 <= count <= most,
       "a run is polled once per 8 s, and at its end",
       (count, most, runs, done.stderr.decode()))
    said = done.stderr.decode().replace(rig.dir, "")
    ok("unknown: 2 runs" in said and "nan" not in said,
       "one block: the plan contains no NaN", said)
    rig.clean("few")


def tricks(rig):
    """A variant that changes the control, and one that prints an old log."""
    work = os.path.join(rig.dir, "work")
    with open(os.path.join(work, "old.py"), "w") as script:
        script.write("import os\nms = float(os.environ['STEP_MS'])\n"
                     "if ms < 20: __import__('time').sleep(1.6)\n"
                     "for i in range(101):\n"
                     "    print('step:%d/100 train_loss:2.0 train_time:%.1fms"
                     " step_avg:%.2fms' % (i, i * ms, ms))\n")
    path = rig.bench("tricks", [rig.pod("p1")], {
        "command": "mkdir -p lib; date +%s.%N >lib/slow.py; sh workload.sh"})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"].startswith("INVALID (same work)"),
       "a new file that the control would read: INVALID", found)
    rig.clean("tricks")
    path = rig.bench("old", [rig.pod("p1")], {"env": {"STEP_MS": "60000"}},
                     workload={"command": "exec python3 old.py",
                               "env": {"STEP_MS": "16"}})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (log clock)",
       "a log that counts more time than the run took: INVALID", found)
    rig.clean("old")


def killed(rig):
    path = rig.bench("kill", [rig.pod("p1", usd_per_h=3600)],
                     {"env": {"STEP_MS": "1900"}},
                     workload={"env": {
                         "STEP_MS": "2000", "WAIT_FOR":
                         "case $job in */1_*) test -e %s/go ;; esac" %
                         rig.dir}})
    child = rig.start(path)
    wait_for(lambda: glob.glob(os.path.join(
        rig.dir, "root-p1", "*", "1_p1_*", "pid")))
    folder = rig.folder("kill")
    child.send_signal(signal.SIGKILL)
    child.communicate()
    open(os.path.join(rig.dir, "go"), "w").close()
    with open(os.path.join(folder, "state.json")) as stream:
        state = json.load(stream)
    ok(state["state"] == "running", "killed in the second block", state)
    # As if this machine's clock had been set back by an hour.
    state["started_ms"] += 3600 * 1000
    with open(os.path.join(folder, "state.json"), "w") as stream:
        json.dump(state, stream)
    done = rig.tui("bench", "attach", "--json", "kill")
    check_faster(verdict_of(done), "bench attach continues: FASTER")
    cost = json.loads(done.stdout)["cost_usd"]
    ok(0 < cost < 3000, "a clock that was set back does not reduce the cost", cost)
    jobs = glob.glob(os.path.join(rig.dir, "root-p1", "*", "*", "pid"))
    ok(len(jobs) == 6, "no run was started twice", jobs)
    rig.clean("kill")


def aborted(rig):
    pids = os.path.join(rig.dir, "pids")
    path = rig.bench("hang", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"env": {"STEP_MS": "2000", "MODE": "hang",
                                       "PIDS": pids}})
    child = rig.start(path)
    ok(wait_for(lambda: read_pid(pids + ".3")), "the hanging run has started its workers")
    workers = [Process(read_pid("%s.%d" % (pids, i))) for i in (1, 2, 3)]
    ok(all(w.is_running() for w in workers), "its workers are running", workers)
    done = rig.tui("bench", "clean", "hang")
    ok(done.returncode == 3, "bench clean refuses while another process "
                             "drives the bench",
       (done.returncode, done.stderr))
    done = wait_for(lambda: rig.abort("hang"))
    ok(done and b"no process left" in done.stderr and done.returncode == 0,
       "bench abort: no process is left", done)
    ok(wait_for(lambda: not any(w.is_running() for w in workers)),
       "bench abort: workers in other sessions are gone", workers)
    child.communicate()
    wait_for(lambda: not rig.processes())
    ok(not rig.processes(), "bench abort: a worker that left its parents is "
                            "gone",
       rig.processes())
    done = rig.tui("bench", "list")
    ok(b"aborted" in done.stdout, "bench list shows it as aborted", done.stdout)
    rig.clean("hang")


def wrapper(rig):
    """The watcher of a run is killed: its worker must not keep the lock."""
    path = rig.bench("wrap", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"env": {"STEP_MS": "2000",
                                       "WAIT_FOR": "test -e %s/go-on"
                                       % rig.dir}})
    child = rig.start(path)
    pid = wait_for(lambda: glob.glob(rig.dir + "/root-p1/*/*/pid"))[0]
    host = os.path.dirname(pid) + "/host.csv"
    wait_for(lambda: os.path.exists(host))
    left = [Process(p) for p in rig.processes() if p != str(child.pid)]
    os.kill(int(open(pid).read().split()[0]), signal.SIGKILL)
    ok(wait_for(lambda: glob.glob(rig.dir + "/root-p1/*/*.2/pid") or
                len(glob.glob(rig.dir + "/root-p1/*/*/pid")) == 2),
       "the watcher is killed: its run is repeated")
    ok(wait_for(lambda: not any(p.is_running() for p in left)),
       "the watcher is killed: the rest of its run is killed, too")
    open(rig.dir + "/go-on", "w").close()
    said = child.communicate()[1]
    ok(child.returncode == 0 and b"was lost" in said and
       b"locked by another" not in said, "the watcher is killed: the lock is "
                                         "free", said)
    rig.clean("wrap")


def full(rig):
    disk = os.path.join(rig.dir, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs",
                       disk], stderr=subprocess.DEVNULL).returncode != 0:
        skip("a pod's full disk", "needs root, to mount a small disk")
        return
    try:
        path = rig.bench("full", [rig.pod("p1", root=disk + "/root")],
                         {"env": {"STEP_MS": "1900"}},
                         workload={"env": {"STEP_MS": "2000",
                                           "WAIT_FOR": "test -e %s/room"
                                           % rig.dir}})
        told = os.path.join(rig.dir, "told-full")
        with open(told, "wb") as stream:
            child = subprocess.Popen(
                [TUI, "bench", "run", "--yes", "--json", path], env=rig.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=stream)
        wait_for(lambda: glob.glob(disk + "/root/*/*/pid"))
        subprocess.run(["dd", "if=/dev/zero", "of=" + disk + "/filler"],
                       stderr=subprocess.DEVNULL)
        open(rig.dir + "/room", "w").close()
        ok(wait_for(lambda: b"disk is full" in open(told, "rb").read()),
           "the pod's disk is full: reported", open(told, "rb").read())
        ok(child.poll() is None, "the pod's disk is full: the bench waits")
        os.unlink(disk + "/filler")
        out = child.communicate()[0]
        check_faster(verdict_of(subprocess.CompletedProcess([], 0, out, b"")),
                     "the pod's disk has space again: FASTER")
        said = open(told, "rb").read()
        ok(b"has space again" in said and b"locked by another" not in said,
           "the pod's disk is full: no message about locks", said)
        rig.clean("full")
    finally:
        subprocess.run(["umount", "-l", disk])


def detached(rig):
    path = rig.bench("away", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}})
    done = rig.tui("bench", "run", "--yes", "--detach", path)
    ok(done.returncode == 0 and done.stdout.startswith(b"away-"),
       "--detach prints the id", done)
    done = rig.tui("bench", "attach", "--json", done.stdout.decode().strip())
    check_faster(verdict_of(done), "--detach: the verdict is FASTER")
    rig.clean("away")


def heed_signals():
    """nohup and a background job of a script ignore some of them."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)


def interrupted(rig):
    """A signal at any moment after the folder of a bench exists detaches the
    bench, and a signal before that leaves nothing behind."""
    path = rig.bench("sig", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"env": {"STEP_MS": "2000", "WAIT_FOR":
                                       "test -e %s/go" % rig.dir}})
    benches = os.path.join(rig.dir, "state", "hgym-tui", "benches")
    said = os.path.join(rig.dir, "said-sig")
    wrong, exits = [], set()
    for i in range(20):
        with open(said, "wb") as stream:
            child = subprocess.Popen(
                [TUI, "bench", "run", "--yes", path], env=rig.env,
                stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
                preexec_fn=heed_signals)
        if i % 2:  # from the moment at which the folder exists
            wait_for(lambda: os.path.isdir(benches) and os.listdir(benches) and
                     b" in " in open(said, "rb").read())
        time.sleep(0.01 * (i // 2))
        child.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3])
        exits.add(child.wait(timeout=PATIENCE_S) == 130)
        ids = os.listdir(benches) if os.path.isdir(benches) else []
        text = open(said, "rb").read()
        if (b"detached; runs continue" in text) != (child.returncode == 130) or \
                (child.returncode == 130) != bool(ids):
            wrong.append((i, child.returncode, ids, text))
        for name in ids:
            for word in ("abort", "clean"):
                done = rig.tui("bench", word, name)
                if done.returncode != 0:
                    wrong.append((i, word, done))
            shutil.rmtree(os.path.join(benches, name))
        left = glob.glob(rig.dir + "/root-*") + glob.glob(rig.dir + "/locks/*")
        if left or not wait_for(lambda: not rig.processes()):
            wrong.append((i, left, rig.processes()))
    ok(not wrong, "a signal detaches a bench as soon as it exists", wrong)
    ok(True in exits, "some of the early signals detached a bench", exits)


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
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(b"overlay config.json {" in done.stdout,
       "--dry-run shows how arms of one command differ", done.stdout)
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    check_faster(found, "an overlay in a separate copy: FASTER")
    ok("imports from" not in str(found["guards"]), "no arm imports from the "
       "common folder", found["guards"])
    rig.clean("ship")
    site = os.path.join(rig.env["HOME"], ".local/lib/python%d.%d/site-packages"
                        % sys.version_info[:2])
    os.makedirs(site)
    link = os.path.join(site, "easy.pth")
    with open(link, "w") as stream:
        stream.write(os.path.join(rig.dir, "work") + "\n")
    with open(os.path.join(rig.dir, "evil.sh"), "w") as stream:
        stream.write(open(WORK).read() + "\n# changed\n")
    path = rig.bench("evil", [rig.pod("p1")],
                     {"files": {"workload.sh": "evil.sh"},
                      "env": {"STEP_MS": "1900"}},
                     workload={"judge_files": ["workload.sh"]})
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(b"file workload.sh from evil.sh" in done.stdout, "--dry-run names the "
                                                        "files of an arm",
       done.stdout)
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "INVALID (judge files)",
       "a variant that changes its own check: INVALID", found["text"])
    # A very long name is shortened.
    named = [g["text"].split(" imports from the common folder")[0]
             for g in found["guards"] if "imports from" in g["text"]]
    ok(len(named) == 1 and link.startswith(named[0]) and
       len(named[0]) >= min(len(link), 80),
       "an editable install of the common folder is named", found["guards"])
    rig.clean("evil")


def refused(rig):
    path = rig.bench("no", [rig.pod("p1")], {"env": {}})
    done = rig.tui("bench", "run", path)
    ok(done.returncode == 2 and b"--yes" in done.stderr,
       "no terminal: --yes is required", done.stderr)
    done = rig.tui("--read-only", "bench", "run", "--yes", path)
    ok(done.returncode == 2, "--read-only refuses a bench", done.stderr)
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(b"sh -c 'sh workload.sh'" in done.stdout, "--dry-run shows commands",
       done.stdout)
    done = rig.tui("bench", "show", "nothing")
    ok(done.returncode == 5, "unknown bench: exit status 5", done.stderr)
    later = os.path.join(rig.dir, "later")
    path = rig.bench("lost", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     workload={"cwd": "later"})  # below the home directory
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b" does not exist" in done.stderr,
       "a folder that does not exist is reported", (done.returncode, done.stderr))
    shutil.copytree(os.path.join(rig.dir, "work"), later)
    check_faster(verdict_of(rig.tui("bench", "attach", "--json", "lost")),
                 "attach after a failure continues: FASTER")
    path = rig.bench("gone", [rig.pod("p1", transport="openssh",
                                      ssh="nobody@127.0.0.1:1")],
                     {"env": {}}, budget={"minutes": 0.05})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and b"never reached" in done.stderr,
       "a bench with an unreachable pod ends with its budget",
       (done.returncode, done.stderr))
    row = bench_row(rig, "gone")
    ok(row["state"] == "failed" and
       row["waits_for"].startswith("pod p1: given up ") and
       row["waits_for"].endswith(" ago: it was never reached"),
       "bench list shows that the bench gave up on the pod", row)
    done = rig.tui("bench", "clean", "lost")
    ok(done.returncode == 0, "bench clean works after attach", done.stderr)


def page(rig):
    """bench show --md and --plot of the bench of one_line."""
    picture = os.path.join(rig.dir, "line.svg")
    done = rig.tui("bench", "show", "line", "--md", "--plot", picture)
    text = done.stdout.decode()
    rows = [row for row in text.splitlines() if row.startswith("    patched ")]
    ok("**patched: FASTER by " in text and len(rows) == 1 and
       1 <= rows[0].count("o") <= 3 and rows[0].index("|") <
       rows[0].index("o") < rows[0].index("]"),
       "the page has the verdict, and its blocks as dots", text)
    ok(all(word in text for word in (
        "- pod local: kernel Linux", "seed 42", "- when: 20",
        '{"tag":"patched",', "SLOW")) and "hunter2" not in text and
       '"hf_Token":"..."' in text,
       "the page has pods, time and metric, and no secret", text)
    tree = xml.dom.minidom.parse(picture)
    dots = tree.getElementsByTagName("circle")
    ok(len(dots) == 6 and
       len({dot.getAttribute("cy") for dot in dots}) == 2,
       "the picture has one dot per block", tree.toxml())
    texts = [text.firstChild.data for text in tree.getElementsByTagName("text")]
    ok(any(text.startswith("patched: FASTER by ") for text in texts) and
       any("right of zero is faster" in text for text in texts),
       "the picture has the verdict and a legend", texts)
    labels = sorted(float(text.getAttribute("x"))
                    for text in tree.getElementsByTagName("text")
                    if text.getAttribute("text-anchor") == "middle")
    ok(all(b - a >= 70 for a, b in zip(labels, labels[1:])),
       "no two labels of the picture's axis overlap", labels)
    ok(os.stat(picture).st_mode & 0o777 == 0o644, "the picture is readable by other users")
    done = rig.tui("bench", "show", "line", "--plot", "/nowhere/x.svg")
    ok(done.returncode == 1 and not done.stdout and
       b"/nowhere/x.svg" in done.stderr, "a picture that cannot be written is "
                                         "reported", done)


def one_line(rig):
    """A bench from the command line, without a file."""
    work = os.path.join(rig.dir, "work")
    with open(os.path.join(rig.dir, "fast.patch"), "w") as stream:
        stream.write("--- a/step\n+++ b/step\n@@ -1 +1 @@\n-2000\n+1900\n")
    with open(os.path.join(work, "step"), "w") as stream:
        stream.write("2000\n")
    words = ["bench", "run", "--pod", "local", "--in", work, "--name", "line",
             "--env", "NOISE=0.002", "--env", "hf_Token=hunter2",
             "--control",
             "STEP_MS=$(cat step) sh workload.sh", "--variant", "patched",
             "--patch", "fast.patch", "--variant",
             "env=STEP_MS=$SLOW sh workload.sh", "--env", "SLOW=2100",
             "--prepare", "echo step:1/100 train_time:1ms; test -f step",
             "--metric", "step_ms", "--metric", "peak_mem_mib",
             "--metric", "wall_s", "--metric", "nothing",
             "--blocks", "3", "--gap", "0", "--minutes", "30", "--no-aa"]
    done = rig.tui(*words, "--dry-run", cwd=rig.dir)
    plan = json.loads(done.stdout.splitlines()[-1])
    arms = {v["tag"]: v for v in plan["variants"]}
    ok(plan["workload"]["env"] == {"NOISE": "0.002",
                                   "hf_Token": "hunter2"} and
       arms["env"]["env"] == {"SLOW": "2100"} and
       "env" not in arms["patched"] and
       arms["patched"]["patch"] == os.path.join(rig.dir, "fast.patch"),
       "--dry-run prints the plan of a command line", plan)
    done = rig.tui(*words, "--yes", "--json", cwd=rig.dir)
    ok(done.returncode == 0, "a bench from a command line ends regularly", done.stderr.decode())
    found = {c["variant"]: c for c in json.loads(done.stdout)["contrasts"]}
    check_faster(found["patched"], "the arm with a patch: FASTER")
    ok(found["env"]["verdict"] == "SLOWER", "the arm with a variable: SLOWER", found)
    also = {m["metric"]: m for m in json.loads(done.stdout)["metrics"]}
    arms = also["peak_mem_mib"]["arms"]
    ok([arm["median"] for arm in arms] == [3205.0] * 3 and
       also["peak_mem_mib"]["contrasts"][0]["pct"] == 0.0 and
       also["wall_s"]["arms"][0]["valid"] == 3 and
       also["nothing"]["contrasts"][0]["verdict"] == "NOT JUDGED",
       "each metric has its own verdict", also)
    ok(b" has finished (12 of 12)" in done.stderr and
       re.search(rb" has finished \(\d of 12; at most about (\d+ s|\d+\.\d minutes) "
                 rb"left\)", done.stderr), "bench run reports the remaining time", done.stderr)
    kept = json.load(open(os.path.join(rig.folder("line"), "bench.json")))
    ok(kept == plan, "a bench from the command line: its plan is stored")
    page(rig)
    for wrong, why in ((words[:2] + words[4:], "give either one FILE"),
                       (words + ["plan.json"], "give either one FILE"),
                       (words[:2] + ["--pod", "nowhere"] + words[4:],
                        'has no pod "nowhere"'),
                       (words + ["--variant", "a b=true"], "letters, digits"),
                       (words + ["--control", "true"], "given twice"),
                       (words + ["--env", "SLOW"], "NAME=VALUE")):
        done = rig.tui(*wrong, "--dry-run", cwd=rig.dir)
        ok(done.returncode == 2 and why in done.stderr.decode(),
           "refused: " + why, (wrong, done))


def bench_row(rig, name):
    """The row of bench list for the bench of that name."""
    done = rig.tui("bench", "list", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if row["name"] == name][0]


def sshd_do(what, folder):
    return subprocess.run(["sh", SSHD, what, folder], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode


def ssh_pods(rig, sshd, *ways):
    """One pod of that sshd for each (name, transport)."""
    def read(name):
        return open(os.path.join(sshd, name)).read().strip()

    return [rig.pod(name, transport=way,
                    ssh="%s@127.0.0.1:%s" % (read("user"), read("port")),
                    identity=os.path.join(sshd, "id_ed25519"),
                    known_hosts=os.path.join(sshd, "known_hosts"))
            for name, way in ways]


def unreachable(rig):
    """Every command shows what a bench waits for, while it waits."""
    sshd = os.path.join(rig.dir, "sshd")
    if sshd_do("start", sshd) == 77:
        skip("unreachable", "needs sshd (Debian package openssh-server)")
        return
    said = os.path.join(rig.dir, "said")
    try:
        pods = ssh_pods(rig, sshd, ("s1", "libssh2"))
        path = rig.bench("away", pods, {"env": {"STEP_MS": "1900"}})
        sshd_do("stop", sshd)
        child = rig.start(path)
        wait_for(lambda: glob.glob(os.path.join(
            rig.dir, "state", "hgym-tui", "benches", "*", "waits.json")))
        with open(said, "wb") as stream:
            other = subprocess.Popen(
                [TUI, "bench", "attach", "--json", "away"], env=rig.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=stream)
        rows = []
        wait_for(lambda: rows.append(bench_row(rig, "away")) or
                 str(rows[-1]["waits_for"]).startswith(
                     "pod s1: cannot be reached"))
        row = rows[-1]
        ok(row["state"] == "running" and
           "pod s1: cannot be reached" in str(row["waits_for"]) and
           "Connection refused" in row["waits_for"] and
           row["driven"] is True and len(row["waits"]) == 1 and
           row["waits"][0]["pod"] == "s1" and
           row["waits"][0]["state"] == "unreachable" and
           "Connection refused" in row["waits"][0]["why"] and
           re.match(r"20\d\d-\d\d-\d\dT.*Z$", row["waits"][0]["since"]),
           "bench list shows what the bench waits for", row)
        shown = []
        wait_for(lambda: shown.append(rig.tui("bench", "show", "away").stdout)
                 or b"pod s1: cannot be reached" in shown[-1])
        ok(b"no verdict yet" in shown[-1] and
           b"pod s1: cannot be reached" in shown[-1] and
           b": s1: " not in shown[-1],
           "bench show shows what the bench waits for", shown[-1].decode())
        wait_for(lambda: b"cannot be reached" in open(said, "rb").read())
        sshd_do("restart", sshd)
        out, err = child.communicate(timeout=PATIENCE_S)
        ok(b"pod s1: cannot be reached" in err and
           b"pod s1: answers again after " in err,
           "bench run reports the wait and its end", err.decode())
        check_faster(verdict_of(subprocess.CompletedProcess(
            [], 0, other.communicate(timeout=PATIENCE_S)[0], b"")),
            "the wait is over: FASTER")
        text = open(said).read()
        ok("pod s1: cannot be reached" in text and
           "pod s1: answers again after " in text,
           "bench attach reported the wait", text)
        row = bench_row(rig, "away")
        ok(row["state"] == "done" and row["waits_for"] is None and
           row["waits"] == [] and row["driven"] is None,
           "bench list shows no wait afterwards", row)
        rig.clean("away")
        pods[0]["identity"] = os.path.join(sshd, "other")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                        pods[0]["identity"]], stdin=subprocess.DEVNULL)
        done = rig.tui("bench", "run", "--yes",
                       rig.bench("locked", pods, {"env": {}}))
        row = bench_row(rig, "locked")
        ok(done.returncode == 4 and row["state"] == "failed" and
           row["waits_for"].startswith("pod s1: given up "),
           "a refused key: the bench fails, with the reason", row)
        done = rig.tui("bench", "show", "locked")
        ok(b"pod s1: given up " in done.stdout, "a refused key: bench show "
                                                "has the reason",
           done.stdout.decode())
    finally:
        sshd_do("stop", sshd)


def over_ssh(rig):
    sshd = os.path.join(rig.dir, "sshd")
    if sshd_do("start", sshd) == 77:
        skip("over ssh", "needs sshd (Debian package openssh-server)")
        return
    pods = ssh_pods(rig, sshd, ("s1", "openssh"), ("s2", "libssh2"))
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
        sshd_do("restart", sshd)
        out, err = child.communicate(timeout=PATIENCE_S)
        done = subprocess.CompletedProcess([], child.returncode, out, err)
        found = verdict_of(done)
        check_faster(found, "over ssh with a broken connection: FASTER")
        ok(found.get("n_blocks") == 6, "over ssh with a broken connection: "
                                       "all six blocks",
           err.decode("utf-8", "replace"))
        rig.clean("ssh")
    finally:
        sshd_do("stop", sshd)


def begin_test(test):
    """Start a test in a separate process.  Returns its pid, the file with its
    checks, and its start time."""
    told = tempfile.TemporaryFile("w+")
    pid = os.fork()
    if pid:
        return pid, told, time.monotonic()
    status = 1
    try:
        os.dup2(told.fileno(), 1)
        rig = Rig()
        try:
            test(rig)
        finally:
            rig.close()
        status = 0
    except Exception:
        traceback.print_exc(file=sys.stdout)
    finally:
        sys.stdout.flush()
        os._exit(status)


def tell_test(test, told, began, status):
    """Add the checks of an ended test to the others."""
    note("%s: %.0f s" % (test.__name__, time.monotonic() - began))
    told.seek(0)
    for line in told.read().splitlines():
        check = re.match(r"(not )?ok \d+ - (.*)", line)
        if check:
            ok(not check[1], check[2])
        else:
            note(line.removeprefix("# "))
    if status != 0:
        ok(False, test.__name__ + " ends regularly", status)


def run_tests(tests, tools=("flock", "setsid")):
    """Run the tests named on the command line, or else all, two at a time:
    they mostly wait."""
    if not all(map(shutil.which, tools)) or not os.path.isdir("/proc/self"):
        return skip_all("needs /proc and " + ", ".join(tools))
    only, running = sys.argv[1:], {}
    left = [test for test in tests if not only or test.__name__ in only]
    while left or running:
        while left and len(running) < 2:
            test = left.pop(0)
            pid, *told = begin_test(test)
            running[pid] = (test, *told)
        pid, status = os.wait()
        tell_test(*running.pop(pid), status)
    return finish()


if __name__ == "__main__":
    sys.exit(run_tests((two_pods, misbehaving, few_looks, tricks, killed,
                        aborted, wrapper, full,
                        detached, interrupted, shipped, refused, one_line, unreachable,
                        over_ssh)))
