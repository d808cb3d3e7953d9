#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options and arguments of every command, right and wrong, and where they
may appear."""
import os
import re
import subprocess
import sys
import tempfile

TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ.get("HGYM_SRC", "."), "tests",
                                "support"))
from commands import command_names  # noqa: E402
from home import home_env  # noqa: E402
from tap import finish, ok  # noqa: E402

# Wrong command lines and their messages on stderr.
WRONG = (
    ("nonsense", 'unknown command "nonsense" (see hgym-tui --help)'),
    ("--nope", "--nope: unknown option (see hgym-tui --help)"),
    ("-x runs", "-x: unknown option (see hgym-tui --help)"),
    ("--config", "--config: needs a value (see hgym-tui --help)"),
    ("runs --nope", "runs: --nope: unknown option (see hgym-tui runs --help)"),
    ("runs --json=yes",
     "runs: --json=yes: takes no value (see hgym-tui runs --help)"),
    ("runs --pod", "runs: --pod: needs a value (see hgym-tui runs --help)"),
    ("runs x", "runs takes no argument: x"),
    ("doctor x", "doctor takes no argument: x"),
    ("collect x", "collect takes no argument: x"),
    ("runs --status moon",
     "runs: --status moon: expected running, finished, truncated, crashed, "
     "oom, diverged, killed or unknown (see hgym-tui runs --help)"),
    ("--color often runs",
     "--color often: expected auto, always or never (see hgym-tui --help)"),
    ("runs --color often",
     "runs: --color often: expected auto, always or never (see hgym-tui runs "
     "--help)"),
    ("parse", "parse: give at least one log (- is standard input)"),
    ("parse -j0 x", "parse: --jobs 0: expected a whole number from 1 to 64 "
     "(see hgym-tui parse --help)"),
    ("parse -j 65 x", "parse: --jobs 65: expected a whole number from 1 to "
     "64 (see hgym-tui parse --help)"),
    ("parse --jobs=1.5 x", "parse: --jobs 1.5: expected a whole number from "
     "1 to 64 (see hgym-tui parse --help)"),
    ("parse -yx", "parse: -yx: unknown option (see hgym-tui parse --help)"),
    ("collect --for 0", "collect: --for 0: expected a number above 0 and "
     "below 1e+09 (see hgym-tui collect --help)"),
    ("collect --for nan", "collect: --for nan: expected a number above 0 and "
     "below 1e+09 (see hgym-tui collect --help)"),
    ("pods check --timeout inf", "pods check: --timeout inf: expected a "
     "number from 0 to 3600 (see hgym-tui pods check --help)"),
    ("bench run", "bench run: give either one FILE (a bench.json), or --pod, "
     "--control and --variant"),
    ("bench run a b", "bench run: give one FILE (a bench.json)"),
    ("bench run a.json --blocks 9", "bench run: give either one FILE (a "
     "bench.json), or --pod, --control and --variant"),
    ("bench run --pod local --grid a=1", "bench run: --task, --function and "
     "--grid need --kernel"),
    ("bench run --pod local --kernel k.py --prepare true", "bench run: "
     "--prepare and --window cannot be used with --kernel"),
    ("bench show", "bench show: give the ID of one bench (see hgym-tui bench "
     "list)"),
    ("bench abort a b", "bench abort: give the ID of one bench (see hgym-tui "
     "bench list)"),
    ("bench audit p --probe tpu", "bench audit: --probe tpu: expected cpu or "
     "gpu (see hgym-tui bench audit --help)"),
    ("bench audit p --variant x",
     "bench audit: --variant needs FILE"),
    ("bench judge x", "bench judge: x: logs come after --control, --aa "
     "or --variant"),
    ("bench judge --control x", "bench judge: give --control LOG... and at "
     "least one --variant TAG=LOG..."),
    ("bench judge --margin 100", "bench judge: --margin 100: expected a "
     "number above 0 and below 100 (see hgym-tui bench judge --help)"),
    ("samples", "samples: give either one run (its id or path, see "
     "hgym-tui runs) or --pod NAME"),
    ("samples --pod p --metric mood", "samples: unknown metric \"mood\""),
    ("export --what all", "export: --what all: expected board, runs or "
     "samples (see hgym-tui export --help)"),
    ("board " + "--values 1 " * 65, "board: --values 1: given more than 64 "
     "times (see hgym-tui board --help)"),
    ("demo --snapshot 0x9", "demo: --snapshot: a size is WxH, e.g. 80x24, "
     "at most 1000x1000"),
    ("submission --date 1.1.2026", "submission: --date 1.1.2026: expected "
     "YYYY-MM-DD"),
    ("submission --date 2026-1-1", "submission: --date 2026-1-1: expected YYYY-MM-DD"),
    ("harness", "harness: give a HarnessGym workspace, the folder of a run, "
     "or a comparison"),
)
# One command line in several orders.
SAME = (
    ("parse --json LOG", "parse LOG --json", "--verbose parse LOG --json",
     "parse LOG --verbose --json", "parse --json -- LOG",
     "parse -j2 LOG --json", "parse --jobs=2 --json LOG",
     "parse --color never --json LOG"),
    ("--read-only runs", "runs --read-only"),
    ("bench judge --control LOG LOG LOG --variant B=LOG LOG LOG --json",
     "bench judge --json --control LOG --control=LOG LOG --variant B=LOG "
     "--variant B=LOG LOG",
     "--db x bench judge --control LOG LOG LOG --variant B=LOG LOG -v LOG "
     "--json"),
)
LOG = "".join("step:%d/9 train_loss:%d.5 train_time:%dms step_avg:10.00ms\n" %
              (i, 9 - i, i * 10) for i in range(1, 10))


def run(env, line, **more):
    return subprocess.run([TUI, *line.split()], env=env, capture_output=True,
                          stdin=subprocess.DEVNULL, check=False, **more)


def main():
    with tempfile.TemporaryDirectory(prefix="hgym-options-") as top:
        env = home_env(top)
        for line, says in WRONG:
            done = run(env, line)
            ok((done.returncode, done.stdout, done.stderr.decode()) ==
               (2, b"", "hgym-tui: %s\n" % says), line[:60], done)
        log = os.path.join(top, "a.log")
        with open(log, "w") as out:
            out.write(LOG)
        os.mkdir(os.path.join(top, "runs"))
        for cwd, hint in ((top, True), (os.path.join(top, "runs"), False)):
            done = run(env, "runs", cwd=cwd)
            ok((b"to open the folder, run hgym-tui ./runs" in done.stderr) ==
               hint, "runs %s a folder of that name" %
               ("next to" if hint else "without"), done)
        head = subprocess.run(
            "%s export --what samples --csv %s | head -1; "
            "echo ${PIPESTATUS[0]}" % (TUI, log), shell=True, env=env,
            executable="/bin/bash", capture_output=True, check=False)
        ok(head.stderr == b"", "a reader that closes the pipe is not an error",
           head)
        for first, *others in SAME:
            want = run(env, first.replace("LOG", log))
            for line in others:
                done = run(env, line.replace("LOG", log))
                ok((done.returncode, done.stdout) ==
                   (want.returncode, want.stdout), "%s is %s" % (line, first),
                   (want, done))
        names = command_names(run(env, "--help").stdout.decode())
        ok(len(names) >= 30 and {"bench stop", "version"} <= set(names),
           "--help lists the commands", names)
        for name in ["", "bench", "formats", *names]:
            text = run(env, name + " --help").stdout.decode()
            wide = [line for line in text.split("\n") if len(line) > 80]
            ok(text and not wide, name + " --help fits 80 columns", wide)
            headings = re.findall(r"^[a-z].*:$", text, re.M)
            ok(len(headings) == len(set(headings)),
               name + " --help has each heading once", headings)
        for name in names:
            want = run(env, name + " --help")
            ok(want.returncode == 0 and want.stdout.decode().startswith(
                "usage: hgym-tui %s" % name), name + " --help", want)
            for line in (name + " -h", name + " x -h", "-h " + name,
                         name + " --nope --help"):
                done = run(env, line)
                ok(done.stdout == want.stdout and done.returncode == 0,
                   line + " is the same", done)
            done = run(env, name + " --nope")
            ok(done.returncode == 2 and not done.stdout and
               done.stderr.decode() == "hgym-tui: %s: --nope: unknown option "
               "(see hgym-tui %s --help)\n" % (name, name), name + " --nope",
               done)
        for line in ("--help", "-h", "-v --help", "--help --nope"):
            done = run(env, line)
            ok(b"benchmarks:" in done.stdout and done.returncode == 0, line,
               done)
        for line in ("--version", "-V", "runs --version"):
            done = run(env, line)
            ok(done.stdout.startswith(b"hgym-tui ") and done.returncode == 0,
               line, done)
        with open("/dev/full", "w") as full:
            for line in ("--help", "parse " + log, "parse --json " + log,
                         "formats list", "doctor", "board --values 1,2",
                         "export " + log):
                done = subprocess.run([TUI, *line.split()], env=env,
                                      stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, check=False)
                ok(done.returncode == 1 and done.stderr ==
                   b"hgym-tui: cannot write to standard output\n",
                   "%s to a full device" %
                   line.replace(log, "LOG"), done)
            for line in ("--help", "parse " + log, "parse --json " + log,
                         "formats list", "board --values 1,2"):
                gone, out = os.pipe()
                os.close(gone)
                done = subprocess.run([TUI, *line.split()], env=env,
                                      stdin=subprocess.DEVNULL, stdout=out,
                                      stderr=subprocess.PIPE, check=False)
                os.close(out)
                ok(done.returncode == 141 and done.stderr == b"",
                   "%s to a closed pipe" % line.replace(log, "LOG"), done)
    return finish()


sys.exit(main())
