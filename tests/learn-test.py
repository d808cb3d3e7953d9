#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`formats learn`, and no false rows from the reader of unknown formats."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, ok, skip  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

# Rows of unknown trainers; the counter starts at 10.
ROWS = 12
LOGS = {
    "steps": lambda i: "Update %d of 500 | objective 0.5 | loss %.3f | "
                       "dt: %dms | speed 3.5k\n" % (i, 9 - i / 100, 100 + i),
    "validations": lambda i: "[trn] update: %d, loss: %.3f, pace: 0.5\n"
                             % (i, 9 - i / 100) +
                             ("[trn] update: %d, val_loss: %.3f\n"
                              % (i, 9.5 - i / 100) if i % 40 == 0 else ""),
    "epochs": lambda i: "Epoch %d: loss=%.3f, kl (nats)=%.2f, valid_loss=9\n"
                        % (i / 10, 9 - i / 100, i / 50),
    "strides": lambda i: "[%d] accuracy=0.%d, loss=%.3f\n"
                         % (i, i, 9 - i / 100),
    "bars": lambda i: "Steps:  %d%%|#   | %d/500 [00:%02d<00:50, 2.0it/s, "
                      "loss=%.3f, lr=0.1]\n" % (i / 5, i, i / 10,
                                                9 - i / 100),
    "two counters": lambda i: "iter %d: loss %.3f, beta 0.5\n"
                              % (i, 9 - i / 100) +
                              ("step %d: train loss 9.125, dev loss %.3f\n"
                               % (i, 9 - i / 200) if i % 20 == 0 else ""),
}
FIELDS = ["steps", "planned_steps", "last_train_loss", "last_val_loss",
          "step_ms_median", "tok_s_last"]


def run(*args):
    return subprocess.run([TUI, *args], capture_output=True,
                          timeout=PATIENCE_S)


def rows(*args):
    out = run("parse", "--json", *args).stdout.decode()
    return [json.loads(x) for x in out.splitlines()]


def learns(folder):
    """A rule learned from a log gives the same figures as reading without it."""
    for name, row in LOGS.items():
        log = os.path.join(folder, name.replace(" ", "-") + ".log")
        rules = log + ".json"
        with open(log, "w", encoding="ascii") as f:
            f.write("".join(row(10 * i) for i in range(1, ROWS + 1)))
        before = rows(log)
        ok(len(before) == 1 and before[0]["formats"] == ["generic"] and
           before[0]["last_train_loss"] is not None,
           "%s: rows without a rule" % name, before)
        learned = run("formats", "learn", "--name", "mine", log)
        ok(learned.returncode == 0 and b"# " in learned.stderr,
           "%s: a rule file and its source" % name, learned.stderr)
        with open(rules, "wb") as f:
            f.write(learned.stdout)
        after = rows("--format", rules, log)
        ok(len(after) == 1 and after[0]["formats"] == ["mine"] and
           all(before[0][k] == after[0][k] for k in FIELDS),
           "%s: the rule gives the same figures" % name,
           (learned.stdout.decode(), before, after))
        again = run("formats", "learn", "--format", rules, log)
        ok(again.returncode == 5 and not again.stdout,
           "%s: there is nothing left to learn" % name, again.stdout)


def refuses(folder):
    """If nothing can be learned, one sentence gives the reason."""
    prose = os.path.join(folder, "prose.log")
    with open(prose, "w", encoding="ascii") as f:
        f.write("It was 3 in the morning.\n" * 9)
    for args, status, say in [
            ([prose], 5, b"no training rows"), ([folder], 1, b"no logs in this directory"),
            ([prose + "x"], 1, b"cannot open"), ([], 2, b"at least one log")]:
        r = run("formats", "learn", *args)
        ok(r.returncode == status and say in r.stderr and not r.stdout,
           "formats learn %s: %s" % (" ".join(map(os.path.basename, args)),
                                     say.decode()), r.stderr)


def finds(folder):
    """All rule files next to the configuration are read, whatever their names."""
    log = os.path.join(folder, "steps.log")
    os.environ["XDG_CONFIG_HOME"] = os.path.join(folder, "a[1]*")
    beside = os.path.join(folder, "a[1]*", "hgym-tui", "formats")
    os.makedirs(beside)
    shutil.copy(log + ".json", os.path.join(beside, "own.json"))
    for hidden in ".half.json", "notes.txt":
        with open(os.path.join(beside, hidden), "w", encoding="ascii") as f:
            f.write("no rules")
    r = run("formats", "check", "mine", log)
    ok(r.returncode == 0, "rules in a directory named like a pattern", r.stderr)
    with open(os.path.join(beside, "z.json"), "w", encoding="ascii") as f:
        f.write("no rules")
    for word in "board", "diff":
        r = run(word, log, log)
        ok(r.returncode == 2 and r.stderr.count(b"\n") == 1 and
           b"formats/z.json: line 1: not valid JSON" in r.stderr,
           "%s reports an invalid rule file" % word, r.stderr)
    shutil.rmtree(beside)
    ok(run("formats", "list").returncode == 0, "a missing directory is not an error")
    with open(beside, "w", encoding="ascii"):
        pass
    r = run("formats", "list")
    ok(r.returncode == 1 and not r.stdout and
       b"formats: Not a directory" in r.stderr,
       "an unreadable directory is reported", r.stderr)


def texts(root, most):
    """A fixed selection of text files below root."""
    found = []
    for path in sorted(glob.glob(root + "/**", recursive=True)):
        if len(found) == most:
            break
        if not os.path.isfile(path) or os.path.islink(path) or \
                not 500 < os.path.getsize(path) < 1 << 20 or \
                not os.access(path, os.R_OK):
            continue
        with open(path, "rb") as f:
            if b"\0" not in f.read(4096):
                found.append(path)
    return found


def is_silent():
    """No rows in files that are not training logs."""
    for root in ["/usr/share/doc", "/usr/share/perl", "/usr/share/misc",
                 "/usr/include", "/usr/lib/python3", "/usr/src", "/var/log",
                 "/etc", SRC + "/src/base", SRC + "/parsers", SRC + "/man"]:
        files = texts(root, 60)
        if not files:
            skip("silence over " + root, "no text files there")
            continue
        found = [r for r in rows(*files) if "generic" in r.get("formats", [])]
        ok(not found, "no rows in %d files of %s"
           % (len(files), os.path.basename(root)), found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        learns(folder)
        refuses(folder)
        is_silent()
        finds(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
