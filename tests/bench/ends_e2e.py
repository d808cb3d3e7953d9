#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How bench run ends: with the best of several variants, and with nothing left
running."""
import glob
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "support")]
from odd_e2e import NEEDED, put  # noqa: E402
from run_e2e import (TUI, check_faster, ended, run_tests,  # noqa: E402
                     verdict_of, wait_for)
from tap import ok  # noqa: E402


DAEMON = """\
import os, sys
if os.fork():  # without the run's mark, files, group and parent
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.closerange(0, 64)
os.chdir("/")
os.execve("/bin/sleep", ["sleep", sys.argv[1]], {})
"""


def nap():
    """Seconds to sleep: a number that no other test uses, to find the process."""
    return str(1000 + os.getpid() % 100000)


def napping():
    """The daemons that are running."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if open(path).read() == "sleep\0%s\0" % nap():
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


def daemons(rig):
    """A variant starts a daemon: it is killed when its run ends."""
    put(os.path.join(rig.dir, "work", "daemon.py"), DAEMON)
    away = {"command": "python3 daemon.py %s; sh workload.sh" % nap(),
            "env": {"STEP_MS": "1900"}}
    path = rig.bench("daemon", [rig.pod("p1")], away)
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    check_faster(found, "a variant with a daemon: FASTER")
    ok(not napping() and "left behind" not in [g["guard"] for g in
                                               found["guards"]],
       "a variant with a daemon: it is killed with its run", (napping(), found["guards"]))
    rig.clean("daemon")
    path = rig.bench("hung", [rig.pod("p1")], dict(
        away, command=away["command"] + "; sleep 300"))
    child = rig.start(path)
    wait_for(napping)
    done = wait_for(lambda: rig.abort("hung"))
    ok(done and b"no process left" in done.stderr and not napping(),
       "a variant with a daemon: it is killed by bench abort",
       (done.stderr, napping()))
    child.communicate()
    rig.clean("hung")


def unadopted(rig):
    """The same on a pod without python3, which would adopt orphaned
    processes."""
    tools = os.path.join(rig.dir, "few")
    os.mkdir(tools)
    for name in NEEDED + ["flock", "setsid"]:
        if shutil.which(name):
            os.symlink(shutil.which(name), os.path.join(tools, name))
    rig.env["PATH"] = tools
    put(os.path.join(rig.dir, "work", "daemon.py"), DAEMON)
    path = rig.bench("told", [rig.pod("p1")], {"command": "%s daemon.py %s; "
        "sh workload.sh" % (sys.executable, nap()), "env": {"STEP_MS": "1900"}})
    # A process with a parent is not an orphan.
    guest = subprocess.Popen(["sh", "-c", "while :; do sleep 1; done"],
                             cwd="/", start_new_session=True)
    try:
        done = rig.tui("bench", "run", "--yes", "--json", path)
        told = {pid: r["tag"] for r in json.loads(done.stdout)["runs"]
                for g in r["guards"] if g["guard"] == "left behind" and
                not g["hard"] and "still running: " in g["text"]
                for pid in map(int, re.findall(r"(\d+) sleep", g["text"]))}
        # Other tests on this machine may leave processes, too.
        ok(len(napping()) == 3 and
           all(told.get(pid) == "B" for pid in napping()) and
           not any(is_child(guest.pid, pid) for pid in told),
           "an orphan that outlives its run is reported, a process with a "
           "parent is not",
           (told, napping()))
        ok("left behind" in [g["guard"] for g in verdict_of(done)["guards"]],
           "the orphan is reported next to the verdict", done.stdout)
        done = rig.tui("bench", "abort", "told")
        ok(re.search(rb"p1: still running, and may have been left behind by its "
                     rb"runs: .*\d+ \(sleep\)", done.stderr),
           "the orphan is reported by bench abort", done.stderr)
    finally:
        for pid in napping():
            os.kill(pid, signal.SIGKILL)
        os.killpg(guest.pid, signal.SIGKILL)
        guest.wait()
    rig.clean("told")


MARKS = """
BENCH=${HGYM_SRC:?}/src/bench
. $BENCH/launch_job.sh; . $BENCH/launch.sh
write_run "$HB_ROOT"
eval "$(sed -n '/^find_orphans() {/,/^}/p' "$HB_ROOT/run.sh")"
"""


def others(rig):
    """In each shell that a pod may have: processes of other programs are not
    listed."""
    for shell in ("dash", "busybox sh", "bash"):
        if not shutil.which(shell.split()[0]):
            continue
        root, job = os.path.join(rig.dir, shell[:4]), "night-1/0_p1_A"
        top = os.path.join(root, "a.b+(c")
        ours = os.path.join(top, job)
        os.makedirs(ours)
        log = open(os.path.join(ours, "out.txt"), "w")
        spawned = [subprocess.Popen(["sleep", "600"], cwd="/", **more)
                   for more in (
                       {"env": {"HGYM_JOB": ours + ";"}},
                       {"env": {"HB_MARK": ours + ";"}},
                       {"env": {}, "stdout": log},
                       # A bench of the same name and second elsewhere; a run
                       # with a name that only starts the same; a reader.
                       {"env": {"HGYM_JOB": root + "/b/" + job + ";"}},
                       {"env": {"HGYM_JOB": job + ";"}},
                       {"env": {"HGYM_JOB": ours + "2;"}},
                       {"env": {}, "stdin": open(log.name)})]
        log.close()
        # Not an orphan of this run, although its name looks like it.
        named = "\n%d () S %d" % (spawned[3].pid, os.getpid() % 10)
        liar = subprocess.Popen(
            [sys.executable, "-c", "import signal, sys\n"
             "open('/proc/self/comm', 'w').write(sys.argv[1][:15])\n"
             "print(flush=True); signal.pause()", named], cwd="/",
            stdout=subprocess.PIPE)
        liar.stdout.readline()
        try:
            done = subprocess.run([*shell.split(), "-c", MARKS + """
job_left
began=0 stamper=%d
find_orphans %d none
echo orphans $orphans
HB_ROOT=%s/none; HB_TOP=$HB_ROOT/$HB_BENCH; job_left; all_left
""" % (spawned[0].pid, os.getpid(), root)], env=dict(
                rig.env, PATH=os.environ["PATH"], HB_ROOT=top,
                HB_BENCH="night-1", HB_JOB="0_p1_A"),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            left, _, rest = done.stdout.decode().partition("orphans ")
            ok(sorted(map(int, left.split())) ==
               sorted(child.pid for child in spawned[:3]),
               shell + ": only the processes of the run are listed",
               (done, [child.pid for child in spawned]))
            orphans, _, other = rest.partition("\n")
            known = {child.pid for child in spawned[1:]} | {liar.pid}
            ok(known <= set(map(int, orphans.split())) and not other and
               spawned[0].pid not in map(int, orphans.split()),
               shell + ": the orphans are the other children; a folder that "
                       "does not exist has no processes",
               (done, known))
        finally:
            for child in [*spawned, liar]:
                child.kill()
                child.wait()


ENDING = """
kill_all() { :; }
sleep() { echo >>"$HB_ROOT/naps"; }
all_left() { test "$(wc -l <"$HB_ROOT/naps")" -ge %d || echo $$; }
: >"$HB_ROOT/naps"; op_abort; : >"$HB_ROOT/naps"; op_clean
"""


def ending(rig):
    """A killed process takes a moment to end; one that never ends is
    reported."""
    root = os.path.join(rig.dir, "ending")
    for looks, want in ((3, ["HB1 left 0", "HB1 cleaned"]),
                        (1000, ["HB1 left 1 ", "HB1 running "])):
        os.makedirs(os.path.join(root, "night-1"))
        done = subprocess.run(
            ["sh", "-c", MARKS + ENDING % looks], env=dict(
                rig.env, PATH=os.environ["PATH"], HB_ROOT=root,
                HB_BENCH="night-1", HB_JOB="0_p1_A", HB_GRACE="0",
                HB_LOCKS=""), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        ok([any(line.startswith(text) for line in done.stdout.splitlines())
            for text in want] == [True, True],
           "processes that exit after %d looks: %s" % (looks, ", ".join(want)), done)
        shutil.rmtree(root, ignore_errors=True)


def at_the_end(rig):
    """Pods are stopped at the end if requested, whatever the result."""
    said = os.path.join(rig.dir, "stopped")
    pod = rig.pod("p1", usd_per_h=2.5, stop_cmd="echo gone >>" + said)
    env = {"env": {"STEP_MS": "1900"}}
    path = rig.bench("ask", [pod], env, design={"blocks_per_pod": 1})
    done = rig.tui("bench", "run", "--yes", path)
    ok(not os.path.exists(said) and
       b"pods still running: p1 (2.50 USD an hour)\nto run their stop_cmd: "
       b"hgym-tui bench stop ask-" in done.stderr, "no terminal: the command "
                                                   "to run is shown", done.stderr.decode())
    done = rig.tui("bench", "stop", "ask")
    ok(done.returncode == 0 and open(said).read() == "gone\n",
       "bench stop runs the command", done.stderr)
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
       "at a terminal the user is asked", (status, text.decode()))
    os.unlink(said)
    rig.tui("bench", "clean", json.loads(rig.tui(
        "bench", "list", "--json").stdout.split(b"\n")[0])["id"])
    path = rig.bench("crash", [pod], {"env": {"MODE": "crash"}},
                     workload={"env": {"STEP_MS": "2000", "MODE": "crash"}},
                     budget={"on_end": "stop_pods"})
    rig.tui("bench", "run", "--yes", path)
    ok(os.path.exists(said) and open(said).read() == "gone\n",
       "stop_pods: also after all runs crashed")
    rig.clean("crash")


def best(rig):
    """The best of several variants is chosen, then confirmed by new blocks."""
    three = [{"tag": "A", "control": True},
             {"tag": "B", "env": {"STEP_MS": "1800"}},
             {"tag": "C", "env": {"STEP_MS": "1900"}}]
    plan = {"design": {"confirm_blocks": 3}, "decision": {"early": "none"},
            "workload": {"env": {"STEP_MS": "2000", "LAST_S": "0.5"}}}
    path = rig.bench("best", [rig.pod("p1", alone=True),
                              rig.pod("p2", alone=True)], {}, **plan)
    text = json.load(open(path))
    text["variants"] = three
    put(path, json.dumps(text))
    three[2]["env"]["STEP_MS"] = "1800"
    tied = os.path.join(rig.dir, "tied.json")
    put(tied, json.dumps(dict(text, name="tied", variants=three,
                              pods=[rig.pod("p3", alone=True)])))
    beside = rig.start(tied, "--json")
    child = rig.start(path)
    wait_for(lambda: glob.glob(os.path.join(rig.dir, "root-p[12]", "*",
                                            "4_p*", "pid")))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    done = rig.tui("bench", "attach", "--json", "best")
    found = json.loads(done.stdout)
    ok([c["verdict"] for c in found["contrasts"]] == ["FASTER", "FASTER"] and
       all(c["n_blocks"] == 6 for c in found["contrasts"]),
       "the first blocks: both variants are faster",
       [c["text"] for c in found["contrasts"]])
    top = found["best"]
    ok(top["state"] == "confirmed" and top["tag"] == "B" and
       top["pairs"] == 3 and top["fresh_blocks"] == 6,
       "B is the best, with or without a kill in between", top)
    ok(top["text"].startswith("BEST B, confirmed in 6 extra blocks") and
       top["over_runner_up"]["tag"] == "C" and
       4.5 < top["over_runner_up"]["pct"] < 6.5,
       "B is better than the second best and the control", top)
    jobs = glob.glob(os.path.join(rig.dir, "root-p[12]", "*", "*", "pid"))
    ok(len(jobs) == 36, "no run was started twice", len(jobs))
    found = json.loads(ended(beside).stdout)
    ok(found["best"]["state"] in ("none", "leads") and
       not found["best"]["text"].startswith("BEST B, confirmed"),
       "two equal variants: no best one", found["best"])
    text["design"]["confirm_blocks"] = 1
    text["pods"] = text["pods"][:1]
    put(path, json.dumps(text))
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(done.returncode == 2 and b"confirm_blocks" in done.stderr,
       "too few blocks to confirm: refused", done.stderr)
    rig.clean("best", "tied")


if __name__ == "__main__":
    sys.exit(run_tests((best, daemons, at_the_end, unadopted,
                        others, ending), ("flock",)))
