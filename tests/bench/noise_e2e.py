#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench audit, bench noise and provisional values: local pods and a real sshd
on loopback."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "support")]
from run_e2e import SSHD, run_tests, verdict_of  # noqa: E402
from tap import ok, skip  # noqa: E402


def rows_of(done):
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def configure(rig, pods):
    folder = os.path.join(rig.dir, "config", "hgym-tui")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as stream:
        json.dump({"schema": "hgym-tui.config/1", "pods": pods}, stream)


def register(rig):
    """The control of a bench file, audited on two pods with different
    noise."""
    done = rig.tui("bench", "noise")
    ok(done.returncode == 5, "no measurements: reported", done.stderr)
    noisy = {"env": {"STEP_MS": "2000", "NOISE": "0.02"}}
    for pod, more in (("p1", {}), ("p2", noisy)):
        path = rig.bench("w-" + pod, [rig.pod(pod, usd_per_h=3.0)],
                         {"env": {"STEP_MS": "1900"}},
                         workload=dict({"noise_class": "w"}, **more))
        done = rig.tui("bench", "audit", pod, path, "--yes", "--json",
                       "--blocks", "4")
        if not ok(done.returncode == 0, "audit of " + pod, done.stderr):
            return
        row = rows_of(done)[0]
        ok(row["pod"] == pod and row["class"] == "w" and
           row["n_runs"] == 8 and row["n_blocks"] == 4,
           "eight runs of the control, in four blocks", row)
        ok(b"2 arms x 4 blocks" in done.stderr and
           b"sh -c 'sh workload.sh'" in done.stderr and
           b"3.00 USD an hour" in done.stderr,
           "the plan and its cost are shown first", done.stderr.decode())
        ok(0.01 < row["sd_pct"] < 10 and row["mde3_pct"] >
           row["mde6_pct"] > row["mde10_pct"] > 0 and
           row["drift_pct"] is not None and row["when"],
           "spread, drift, and the smallest difference with 3, 6, 10 blocks", row)
        if pod == "p1":
            quiet = row
            runs = json.loads(rig.tui("bench", "show", "audit-w-p1", "--json")
                              .stdout)["runs"]
        rig.clean("audit-w-" + pod)
    stamps = [datetime.fromisoformat(run[key].replace("Z", "+00:00"))
              for run in runs for key in ("t0", "t1")]
    span_s = (max(stamps) - min(stamps)).total_seconds()
    all_s = quiet["run_s"] * len(runs)
    took_s = sum((b - a).total_seconds()
                 for a, b in zip(stamps[::2], stamps[1::2]))
    ok(took_s <= all_s and (all_s > span_s - 1e-6 or span_s > took_s + 10),
       "the time of a run includes the pause before it",
       (took_s, all_s, span_s))
    took = (6 * quiet["run_s"] + 3) / 60  # and one poll of the pod
    done = rig.tui("bench", "run", "--dry-run", rig.bench(
        "w-again", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
        workload={"noise_class": "w"}))
    told = re.search(rb"takes     about ([0-9.]+) minutes", done.stdout)
    ok(told and abs(float(told[1]) - took) < 0.0501,
       "the time of a bench includes the pauses",
       (done.stdout, took))
    rows = rows_of(rig.tui("bench", "noise", "--json"))
    ok([(r["pod"], r["rank"], r["of"]) for r in rows] ==
       [("p1", 1, 2), ("p2", 2, 2)], "the quiet pod ranks first", rows)
    ok(rows[1]["p_quietest"] is not None and rows[1]["p_quietest"] < 0.05,
       "the two pods differ significantly", rows[1])
    done = rig.tui("bench", "noise", "p2", "--csv")
    ok(len(done.stdout.decode().strip().splitlines()) == 2,
       "bench noise of one pod, as CSV", done.stdout)
    done = rig.tui("bench", "noise", "--md")
    ok(done.stdout.startswith(b"| pod"), "bench noise as Markdown", done.stdout)
    done = rig.tui("bench", "list")
    ok(b"A/A: detects" in done.stdout, "bench list shows audits",
       done.stdout)
    provisional(rig)
    again(rig)


def provisional(rig):
    """One block, judged by the measured noise: a number, but no verdict."""
    one = {"blocks_per_pod": 1, "burn_in": 0, "aa": False, "gap_s": 0}
    path = rig.bench("one", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     design=one, workload={"noise_class": "w"})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    found = verdict_of(done)
    row = rows_of(rig.tui("bench", "noise", "--json", "p1"))[0]
    text = found["text"]
    ok(text.startswith("NOT JUDGED (1 block, need 3); provisional ") and
       found["verdict"] == "NOT JUDGED", "one block has a provisional value", text)
    lo, hi = [float(x) for x in text.split("[")[1].rstrip("]").split(",")]
    # t_.975 with 7 degrees of freedom, two times the variance of the runs.
    half = 2.36462425101 * row["sd_pct"] * 2 ** 0.5
    ok(abs((hi - lo) / 2 - half * (1 + found["pct"] / 100)) < 0.02,
       "the provisional interval uses t and the measured spread", (lo, hi, half))
    ok(lo - 1 < 5.26 < hi + 1, "the value is near the true one", (lo, hi))
    done = rig.tui("bench", "show", "one")
    ok(b"provisional" in done.stdout, "bench show has the provisional value", done.stdout)
    rig.clean("one")
    for name, more, why in (
            ("other", {"env": {"STEP_MS": "1900"}, "noise_class": "graphs"},
             "a variant of another class"),
            ("own", {"command": "STEP_MS=1900 sh workload.sh"},
             "a command of its own")):
        path = rig.bench(name, [rig.pod("p1")], more, design=one,
                         workload={"noise_class": "w"})
        found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
        ok(found["text"] == "NOT JUDGED (1 block, need 3)",
           why + " has no provisional value", found["text"])
    path = rig.bench("unknown", [rig.pod("p3")], {"env": {"STEP_MS": "1900"}},
                     design=one, workload={"noise_class": "w"})
    found = verdict_of(rig.tui("bench", "run", "--yes", "--json", path))
    ok(found["text"] == "NOT JUDGED (1 block, need 3)",
       "a pod without an audit has no provisional value", found["text"])
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(b"is not measured yet" in done.stdout, "the plan shows that the noise "
                                              "is not measured",
       done.stdout)


def known(rig):
    """The first bench of a command line has an A/A arm, the next ones do not."""
    words = ["bench", "run", "--pod", "local", "--name", "known", "--in",
             os.path.join(rig.dir, "work"), "--control", "sh workload.sh",
             "--env", "STEP_MS=2000", "--variant", "b", "--env",
             "STEP_MS=1900", "--metric", "step_ms", "--blocks", "3",
             "--gap", "0"]
    done = rig.tui(*words, "--yes")
    ok(done.returncode == 0 and b"A/A arm   control, run" in done.stderr and
       b"FASTER by" in done.stdout, "noise that is unknown: an A/A arm",
       done)
    done = rig.tui(*words, "--dry-run")
    ok(b"A/A arm   none: the noise" in done.stdout and
       json.loads(done.stdout.splitlines()[-1])["design"]["aa"] is False,
       "noise that is known: no A/A arm", done.stdout)
    done = rig.tui(*words, "--aa", "--dry-run")
    ok(b"A/A arm   control, run" in done.stdout, "noise that is known: --aa adds the A/A arm",
       done.stdout)
    done = rig.tui(*[word.replace("2000", "2001") for word in words],
                   "--dry-run")
    ok(b"A/A arm   control, run" in done.stdout,
       "another control: an A/A arm", done.stdout)
    rig.clean("known")


def again(rig):
    """A bench with an A/A arm adds a measurement, and folders may be
    deleted."""
    path = rig.bench("aa", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     design={"aa": True}, workload={"noise_class": "w"})
    done = rig.tui("bench", "run", "--dry-run", path)
    ok(b"in the noise register" in done.stdout and b"about" in done.stdout,
       "the plan shows the smallest detectable difference", done.stdout)
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 0, "a bench with an A/A arm ends regularly", done.stderr)
    row = rows_of(rig.tui("bench", "noise", "--json", "p1"))[0]
    ok(row["n_benches"] == 2 and row["n_runs"] == 14 and
       row["level_pct"] is not None, "the runs of both measurements are "
                                     "pooled", row)
    folder = rig.folder("aa")
    shutil.rmtree(folder)
    done = rig.tui("bench", "list", "--json")
    mine = [r for r in rows_of(done) if r["name"] == "aa"]
    ok(len(mine) == 1 and mine[0]["dir"] is None and
       "FASTER" in mine[0]["verdict"], "bench list has a bench without a folder", mine)
    done = rig.tui("bench", "show", mine[0]["id"][:-2])
    ok(done.returncode == 0 and b"FASTER" in done.stdout and
       b"from the database" in done.stdout, "bench show prints it from the "
                                            "database", done)
    done = rig.tui("bench", "show", "--json", mine[0]["id"])
    ok(json.loads(done.stdout)["schema"] == "hgym.verdict/1",
       "bench show --json prints it from the database", done)
    database = sqlite3.connect(os.path.join(rig.dir, "data", "hgym-tui",
                                            "history.db"))
    rows = database.execute("SELECT count(*), sum(n_runs) FROM v_noise "
                            "WHERE n_blocks > 0").fetchone()
    ok(rows == (3, 22), "v_noise has one row per measurement", rows)
    history(rig, database)
    database.close()


def history(rig, database):
    """The control of repeated benches: where did its level change?"""
    rows = rows_of(rig.tui("bench", "history", "--json"))
    by = {r["bench"].rsplit("-", 2)[0]: r for r in rows}
    ok(all(name in by for name in ("audit-w-p1", "aa", "one")) and
       by["aa"]["class"] == by["one"]["class"] == "w" and
       all(1900 < r["value"] < 2200 and r["change"] is None for r in rows),
       "each bench has one row, with or without an A/A arm", rows)
    put = ("INSERT INTO noise (bench_id, pod, gpus, gpu, gpu_id, driver, "
           "class, metric, n_runs, n_blocks, mean, sd, when_ms) VALUES "
           "(?, ?, '0', 'NVIDIA H100', ?, ?, 'w', 'step_ms', 6, 3, ?, .002, "
           "?)")
    noise = (3, -2, 0, 1, -1, 2, -3, 1, 0, -2, 2, -1, 1, 3)
    for i, x in enumerate(noise):  # 3 % slower from the ninth on, on two pods
        database.execute(put, ("night-20261101-0000%02d" % i, "ab"[i % 2],
                               "GPU-a", "570.1" if i < 8 else "580.2",
                               5 + x / 1e4 + (.03 if i >= 8 else 0), i))
        # Two times the GPUs: a different series, with the old speed.
        database.execute(put, ("pair-20261101-0000%02d" % i, "c",
                               "GPU-c,GPU-d", "570.1", 4 + x / 1e4, i))
    database.commit()
    rows = rows_of(rig.tui("bench", "history", "night", "--json"))
    marked = [i for i, row in enumerate(rows) if row["change"] is not None]
    ok(len(rows) == len(noise) and marked == [8] and
       rows[8]["kind"] == "NVIDIA H100" and
       abs(rows[8]["change_pct"] - 3.05) < .1 and
       abs(rows[8]["before"] / 148.41 - 1) < .001 and
       "from here" in rows[8]["change"] and
       "driver 570.1 -> 580.2" in rows[8]["change"],
       "the first slower bench is marked, with what else changed", rows)
    rows = [r for r in rows_of(rig.tui("bench", "history", "w", "--json"))
            if r["kind"] == "2 x NVIDIA H100"]
    ok(len(rows) == len(noise) and all(r["change"] is None for r in rows),
       "bench history shows other GPUs as a separate series", rows)
    done = rig.tui("bench", "history")
    ok(done.returncode == 0 and b"570.1 -> 580.2" in done.stdout,
       "bench history as a table", done.stdout)
    done = rig.tui("bench", "history", "nigh")
    ok(done.returncode == 5 and
       b"no finished bench of that name" in done.stderr,
       "a part of a name does not match", done)
    rows = rows_of(rig.tui("bench", "noise", "--json"))
    ok({r["n_benches"] for r in rows if r["pod"] == "p1"} == {2},
       "a control without an A/A arm has no noise", rows)


def probe(rig):
    """Without a bench file: the probe, on a configured pod."""
    configure(rig, [{"name": "here", "transport": "local",
                     "usd_per_hour": 1.5,
                     "remote_root": os.path.join(rig.dir, "root-here")}])
    done = rig.tui("bench", "audit", "here")
    ok(done.returncode == 2 and b"--yes" in done.stderr,
       "no terminal: --yes is required", done.stderr)
    done = rig.tui("--read-only", "bench", "audit", "here", "--yes")
    ok(done.returncode == 2, "--read-only refuses an audit", done.stderr)
    done = rig.tui("bench", "audit", "nobody", "--yes")
    ok(done.returncode == 2 and b"nobody" in done.stderr,
       "an unknown pod is refused", done.stderr)
    done = rig.tui("bench", "audit", "here", "--blocks", "2")
    ok(done.returncode == 2, "too few blocks are refused", done.stderr)
    done = rig.tui("bench", "audit", "here", "--variant", "B")
    ok(done.returncode == 2, "--variant without FILE is refused", done.stderr)
    done = rig.tui("bench", "audit", "here", "--dry-run")
    ok(b"awk" in done.stdout and b"1.50 USD an hour" in done.stdout and
       b"not the GPU" in done.stderr,
       "--dry-run describes the probe", done.stdout + done.stderr)
    done = rig.tui("bench", "audit", "here", "--yes", "--blocks", "3")
    text = done.stdout.decode()
    ok(done.returncode == 0 and "6 A/A runs" in text and
       "detects" in text and "no other pod" in text,
       "an audit by the probe prints the noise", text + done.stderr.decode())
    ok("FASTER" not in text and "SLOWER" not in text,
       "an audit names no winner", text)
    rig.clean("audit")
    python = os.path.join(rig.dir, "bin", "python3")
    os.mkdir(os.path.dirname(python))
    with open(python, "w") as stream:  # a python3 that has no torch
        stream.write("#!/bin/sh\nexit 1\n")
    os.chmod(python, 0o755)
    path = rig.env.get("PATH", os.environ["PATH"])
    rig.env["PATH"] = os.path.dirname(python) + ":" + path
    done = rig.tui("bench", "audit", "here", "--probe", "gpu", "--yes")
    rig.env["PATH"] = path
    ok(done.returncode == 4 and b"its python3 has no torch, which the GPU "
       b"probe needs" in done.stderr and b" started" not in done.stderr,
       "the GPU probe reports what the pod lacks before it starts",
       (done.returncode, done.stderr.decode()))


def broken(rig):
    """Failed runs are no measurement."""
    path = rig.bench("bad", [rig.pod("p1")], {"env": {}},
                     workload={"env": {"STEP_MS": "2000", "MODE": "crash"}})
    done = rig.tui("bench", "audit", "p1", path, "--yes")
    ok(done.returncode == 3 and b"the first run (A) failed" in done.stderr,
       "a control that crashes has no noise",
       (done.returncode, done.stderr.decode()))
    rig.clean("audit-bad")
    done = rig.tui("bench", "noise")
    ok(done.returncode == 5, "a control that crashes: nothing is stored", done.stdout)
    lacks = {"command": "nosuch --x", "files": {"new.sh": "new.sh"}}
    with open(os.path.join(rig.dir, "new.sh"), "w") as stream:
        stream.write("exit 0\n")
    path = rig.bench("lacks", [rig.pod("p1")], lacks,
                     workload={"command": "sh -e missing.sh 1"})
    done = rig.tui("bench", "run", "--yes", path)
    ok(done.returncode == 4 and
       b"file missing.sh not found in " in done.stderr and
       b"program nosuch not found" in done.stderr and
       b" started" not in done.stderr,
       "all missing programs are reported before the start",
       done.stderr.decode())
    # A program that the patch, a file or a changed PATH provides is not
    # required.
    path = rig.bench("brings", [rig.pod("p1")],
                     {"command": "sh new.sh", "files": {"new.sh": "new.sh"}},
                     workload={"command": "sh missing.sh",
                               "env": {"PATH": "/bin:/usr/bin"}})
    done = rig.tui("bench", "run", "--yes", path)
    ok(b" started" in done.stderr and b"not found" not in done.stderr,
       "a program that the bench provides is not reported as missing", done.stderr.decode())


def over_ssh(rig):
    sshd = os.path.join(rig.dir, "sshd")
    done = subprocess.run(["sh", SSHD, "start", sshd],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 77:
        skip("over ssh", "needs sshd (Debian package openssh-server)")
        return

    def read(name):
        return open(os.path.join(sshd, name)).read().strip()

    try:
        configure(rig, [{
            "name": name, "transport": way,
            "ssh": "%s@127.0.0.1:%s" % (read("user"), read("port")),
            "identity": os.path.join(sshd, "id_ed25519"),
            "known_hosts": os.path.join(sshd, "known_hosts"),
            "remote_root": os.path.join(rig.dir, "root-" + name)}
            for name, way in (("s1", "libssh2"), ("s2", "openssh"))])
        path = rig.bench("w", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}})
        for name in ("s1", "s2"):
            done = rig.tui("bench", "audit", name, path, "--yes", "--json",
                           "--blocks", "3")
            ok(done.returncode == 0 and rows_of(done)[0]["n_runs"] == 6,
               "an audit over ssh: " + name, done.stderr.decode())
        rows = rows_of(rig.tui("bench", "noise", "--json"))
        ok(sorted(r["pod"] for r in rows) == ["s1", "s2"] and
           sorted(r["rank"] for r in rows) == [1, 2],
           "two pods are ranked", rows)
        for row in rows_of(rig.tui("bench", "list", "--json")):
            rig.tui("bench", "clean", row["id"])
        left = [name for name in os.listdir(rig.dir)
                if name.startswith("root-")]
        ok(not left, "nothing is left on the pods", left)
    finally:
        subprocess.run(["sh", SSHD, "stop", sshd],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


sys.exit(run_tests((register, known, probe, broken, over_ssh)))
