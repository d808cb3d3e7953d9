#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A killed run is not shown as running, on this machine and on a pod. A run whose
process exists is shown as running, however long it is silent. A file that stays
incomplete is named. A run with the name of an earlier one is a new run."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SRC = os.environ["HGYM_SRC"]
TUI = os.path.abspath(os.environ["HGYM_TUI"])
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("tools", "support")]
import harness_liar  # noqa: E402
from tap import finish, ok  # noqa: E402
from wait import until  # noqa: E402

PLAY = """import sys, time
sys.path.insert(0, sys.argv[1])
import harness_liar
harness_liar.Run(sys.argv[-1],
                 {"attempt 2": lambda run: time.sleep(600)}).play()
"""


# HarnessGym's Python API, while its agent works in the workspace.
API = """import subprocess, sys
sys.path.insert(0, sys.argv[1])
import harness_liar
harness_liar.Run(sys.argv[2], {"attempt 1": lambda run: subprocess.run(
    ["sh", "-c", ": >agent; exec sleep 600"], cwd=run.work)}).play()
"""


def told(*args):
    done = subprocess.run([TUI, *args], check=False, capture_output=True,
                          text=True)
    return done.stdout


def state_of(work):
    return json.loads(told("harness", "--json", work))["live"]["state"]


def begin(folder, work):
    """Start a process with HarnessGym's command line, in the attempt of iteration 2."""
    run = subprocess.Popen(
        [sys.executable, "-c", PLAY, os.path.join(SRC, "tests", "tools"),
         "harnessgym", "run", "--workspace", os.path.basename(work)],
        cwd=folder)
    prompt = os.path.join(work, ".harnessgym/runs/liar/iterations/2",
                          "attempt.prompt.txt")
    ok(until(lambda: os.path.exists(prompt)), "a run continues")
    return run


def test_unseen(folder, config):
    """A run through HarnessGym's Python API, or through another mount: silence
    decides if its process is not recognized."""
    work = os.path.join(folder, "api")
    run = subprocess.Popen([sys.executable, "-c", API, os.path.join(
        SRC, "tests", "tools"), work], start_new_session=True)
    try:
        ok(until(lambda: os.path.exists(work + "/agent")),
           "a run of the Python API is running")
        for args in (work,), ("--config", config, "here:" + work):
            now = json.loads(told(*args[:-1], "harness", "--json", args[-1]))
            ok(now["live"]["state"] == "running" and
               now["live"]["process"] is None,
               "an agent works in the workspace: the run is not reported as dead", now["live"])
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    ok(until(lambda: "cut off" in told("harness", work)),
       "a silent run without a process is reported as dead", told("harness", work))
    test_container(work)
    # The same folder under another name, as a container may mount it.
    os.symlink(work, os.path.join(folder, "mount"))
    run = subprocess.Popen([sys.executable, "-c", "input()", "harnessgym",
                            "run", "--workspace=../mount/."], cwd=work,
                           stdin=subprocess.PIPE)
    try:
        now = json.loads(told("harness", "--json", work))["live"]
        ok(now["state"] == "running" and now["process"] is True,
           "a run is found although the process has another name for its workspace", now)
    finally:
        run.communicate(b"\n")


def test_container(work):
    """In a folder that containers share, processes of other containers are not seen."""
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork",
              "--mount-proc"]
    if not shutil.which("unshare") or not os.path.isdir("/dev/shm") or \
            os.stat("/dev/shm").st_dev == os.stat("/").st_dev or \
            subprocess.run([*inside, "true"], check=False,
                           stderr=subprocess.DEVNULL).returncode != 0:
        return
    shared = tempfile.mkdtemp(dir="/dev/shm")
    try:
        shutil.copytree(work, shared + "/w")
        done = subprocess.run([*inside, TUI, "harness", "--json", shared + "/w"],
                              check=False, capture_output=True, text=True)
        ok(json.loads(done.stdout)["live"]["process"] is None,
           "a process in another container may exist", done)
        ok(json.loads(told("harness", "--json", shared + "/w"))["live"]["process"] is
           False, "outside of containers all processes are seen")
    finally:
        shutil.rmtree(shared)


def test_again(folder):
    """If a run id is used again, nothing of the earlier run is shown."""
    work, seen, wrong = os.path.join(folder, "again"), [], []

    def look(moment, run):
        now = json.loads(told("harness", "--json", run.work))
        started = now["iterations_started"]
        best = now["best_verified"]
        seen.append(moment)
        if moment != "end 1" and now["run_state"] == "finished":
            wrong.append((moment, "finished"))
        if started != run.n:
            wrong.append((moment, started))
        if best and best["iteration"] > run.n:
            wrong.append((moment, best))
    harness_liar.Run(work, iterations=3).play()
    harness_liar.Run(work, {}, look, iterations=1).play()
    ok(seen[:1] == ["begun 0"] and seen[-1:] == ["end 1"] and not wrong,
       "a run id that is used again: only the new run is shown", wrong)


def test_old_date(folder):
    """A run that starts now is the newest, whatever date its name contains."""
    work, states = os.path.join(folder, "dated"), []

    def look(moment, run):
        now = json.loads(told("harness", "--json", run.work))
        if moment == "begun 0":
            states.append((now["run_id"], now["live"]["state"]))
    harness_liar.Run(work, iterations=1).play()
    harness_liar.Run(work, {}, look, iterations=1,
                     run_id="20200101T000000Z-0a1b2c3d").play()
    ok(states == [("20200101T000000Z-0a1b2c3d", "stale")] or
       states == [("20200101T000000Z-0a1b2c3d", "running")],
       "a run with an old date in its name is the newest, and running", states)


# A file is emptied once between its stat and its read.
TEAR = """import base64, sys
code, path, encode = sys.argv[-1], sys.argv[-2], base64.encodebytes
def tear(data):
    base64.encodebytes = encode
    open(path, "w").write('{"iterations": 7}')
    return encode(data)
base64.encodebytes = tear
for name in "judge.py", "loops.py", "tamper.py", "wire.py":
    exec(compile(open(code + "/" + name).read(), name, "exec"))
"""


def test_torn(folder):
    """A read during a rewrite is not sent, but requested again."""
    work = os.path.join(folder, "torn")
    config = os.path.join(work, ".harnessgym/runs/r/run_config.json")
    os.makedirs(os.path.dirname(config))
    with open(config, "w", encoding="utf-8") as out:
        out.write('{"iterations": 2}')
    done = subprocess.run(
        [sys.executable, "-c", TEAR, work, "", config,
         os.path.join(SRC, "src/harness")], check=False, input="\n",
        capture_output=True, text=True)
    first, second = done.stdout.split("END\n")[:2]
    ok("\n,\n" in first and "\n.\n" not in first and
       "eyJpdGVyYXRpb25zIjogN30=" in second and "\n.\n" in second,
       "a read during a rewrite is repeated", done.stdout +
       done.stderr)


def test_compare(folder, config):
    """A comparison shows its current trial, and the trial in which it was killed."""
    out = os.path.join(folder, "comparison")
    harness_liar.write(os.path.join(out, "plain/trial_1/trial.json"),
                       {"trial": 1, "group": "plain"})
    for n in 1, 2:
        harness_liar.write(
            os.path.join(out, "plain/trial_%d/workspace/.harnessgym/runs"
                         "/compare-plain-%d/run_config.json" % (n, n)), {})
    run = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)", "harnessgym",
         "compare", "--output-dir=" + out])
    its = os.path.join(out, "plain/trial_2/workspace/.harnessgym/runs"
                       "/compare-plain-2/iterations/3/")
    for words in ("running in plain trial 2\n", "attempt of iteration 3",
                  "verifying of iteration 3", "build of iteration 3",
                  "killed in plain trial 2, build of iteration 3",
                  "aborted between trials"):
        for name in {"at": ["attempt.prompt.txt"],
                     "ve": ["attempt.stdout.txt"],
                     "bu": ["reflection.stdout.txt", "build.prompt.txt"],
                     }.get(words[:2], []):
            harness_liar.write(its + name, "x")
        if words.startswith("killed"):
            run.kill()
            run.wait()
        if words.startswith("aborted"):
            harness_liar.write(os.path.join(out, "plain/trial_2/trial.json"),
                               {"trial": 2, "group": "plain"})
        for args in (out,), ("--config", config, "here:" + out):
            page = told(*args[:-1], "harness", args[-1])
            ok(words in page, words, page)


def main():
    folder = os.path.realpath(tempfile.mkdtemp())
    work = os.path.join(folder, "work")
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"schema": "hgym-tui.config/1", "pods": [
            {"name": "here", "transport": "local"}]}, out)
    places = {"here": (work,), "on a pod": ("--config", config,
                                            "here:" + work)}
    run = begin(folder, work)

    def live(place, *options):
        *before, path = places[place]
        return told(*before, "harness", *options, path)
    try:
        # Hours of silence: only the process shows that the run is active.
        old = time.time() - 5 * 3600
        for top, _, names in os.walk(os.path.join(work, ".harnessgym")):
            for name in names:
                os.utime(os.path.join(top, name), (old, old))
        for place in places:
            now = json.loads(live(place, "--json"))["live"]
            ok(now["state"] == "running" and now.get("process") is True,
               "%s: running while its process exists" % place, now)
        done = subprocess.run([TUI, "harness", "--ab", work], check=False,
                              capture_output=True, text=True)
        ok("the bench measures copies made before its first run" in done.stderr,
           "a bench of a running run gets a warning", done.stderr)
        other = os.path.join(folder, "other")
        shutil.copytree(work, other)
        ok(until(lambda: state_of(other) != "running"),
           "processes of other workspaces do not count", told("harness", other))
        run.kill()
        run.wait()
        until(lambda: state_of(work) == "stale")
        for place in places:
            now = json.loads(live(place, "--json"))["live"]
            ok(now["state"] == "stale" and now.get("process") is False and
               now["phase_left_s"] is None, "%s: killed" % place, now)
            page = live(place)
            ok("its process is not running" in page,
               "%s: the message reports that the process is gone" % place, page)
        with open(os.path.join(work, ".harnessgym/runs/liar/iterations/2",
                               "result.json"), "w", encoding="utf-8") as out:
            out.write('{"iteration": 2, "sta')
        page = live("here")
        ok("iterations/2/result.json is incomplete" in page,
           "a file that stays incomplete is named", page)
        test_again(folder)
        test_old_date(folder)
        test_torn(folder)
        test_compare(folder, config)
        test_unseen(folder, config)
    finally:
        run.kill()
        run.wait()
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


sys.exit(main())
