#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names with escape sequences: every command gets files with such names,
missing files, and arguments with them; none of these bytes reaches a stream
unescaped.  In the C locale no command prints a byte above 127, except in CSV,
and its JSON is equivalent."""
import json
import os
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
from wait import PATIENCE_S  # noqa: E402

EVIL = "\x1b]0;title\x07\x1b[31m\u202e\x9b1m\u2014\xe9\U0001f600"
HARMFUL = (b"\x1b", b"\x07", b"\xe2\x80\xae", b"\xc2\x9b")
LOG = ("seed:42\n1000/1000 val_loss: 2.3 val_bpb: 1.0\n"
       "a line 17 that no rule takes\n")
FORMAT = {"schema": "hgym-tui.format/1", "name": "x" + EVIL, "rules": []}


def write(folder, name, text):
    path = os.path.join(folder, name + EVIL)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    return path


def cases(folder):
    """Yield (command, arguments) for every command that takes a name."""
    log = write(folder, "log", LOG)
    rules = write(folder, "rules.json", json.dumps(FORMAT))
    bench = write(folder, "bench.json", json.dumps({"name": EVIL}))
    conf = write(folder, "config.json", json.dumps({EVIL: 1}))
    pods = write(folder, "pods.json", json.dumps(
        {"pods": [{"name": "p" + EVIL, "transport": "local"}]}))
    garbage = write(folder, "garbage", "{" + EVIL)
    work = os.path.join(folder, "dir" + EVIL)
    os.mkdir(work)
    for name in (log, garbage, work, os.path.join(folder, "none" + EVIL)):
        yield ["parse", name]
        yield ["parse", "--csv", name]
        yield ["parse", "--md", name]
        yield ["board", name]
        yield ["board", "--md", "--csv", name]
        yield ["board", "--group-by", "file", "--values", EVIL + "=1,2", name]
        yield ["board", "--baseline", name, log]
        yield ["board", "--track", name, log]
        yield ["submission", name]
        yield ["export", "--what", "samples", "--csv", name]
        yield ["formats", "show", name]
        yield ["formats", "check", "pytorch", name]
        yield ["formats", "check", name, log]
        yield ["formats", "check", rules, name]
        yield ["harness", name]
        yield ["harness", "pod" + EVIL + ":" + name]
        yield ["bench", "run", "--dry-run", name]
        yield ["bench", "judge", "--control", name, "--variant", "a=" + name]
        yield ["bench", "audit", "p" + EVIL, name]
        yield ["--config", name, "pods"]
        yield ["--config", name, "doctor"]
        yield ["--db", name, "runs"]
        yield ["--db", name, "doctor"]
        yield ["demo", "--script", name]
        yield ["parse", "--format", name, log]
    for word in (EVIL, "--" + EVIL):
        for command in ("pods", "pods check", "bench show", "bench abort",
                        "bench stop", "bench clean", "bench attach",
                        "bench noise", "samples", "runs --pod",
                        "runs --status", "runs --group", "collect",
                        "bench list", "board --fail-on", "demo --snapshot"):
            yield command.split() + [word]
    yield [EVIL]
    yield ["bench", "run", "--dry-run", bench]
    for command in (["pods"], ["pods", "check"], ["collect", "--for", "1"]):
        yield ["--config", conf] + command
        yield ["--config", pods] + command


def run(folder, words, locale):
    return subprocess.run([TUI, *words], env=home_env(folder, LC_ALL=locale),
                          cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE_S)


def rows(text):
    """The objects of a text with one JSON object per line; None for other texts."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return None


def check_plain(folder, words):
    """Return the output of a command in the C locale."""
    r = run(folder, words, "C")
    out = b"" if "--csv" in words else r.stdout
    ok((out + r.stderr).isascii() and r.returncode >= 0,
       "in the C locale: " + ascii(" ".join(words)).replace("#", "?")[:90],
       (r.returncode, r.stdout, r.stderr))
    return r


def check_helps(folder):
    """Every command's help, and the commands that need no name."""
    helps = run(folder, ["--help"], "C").stdout.decode()
    for name in command_names(helps):
        check_plain(folder, [*name.split(), "--help"])
    for line in ("doctor", "runs", "formats list", "demo --snapshot 100x30",
                 "bench list", "nonsense\u2014", "board --values 1.05,1.06"):
        check_plain(folder, line.split())
    ok(b"  -" in run(folder, ["doctor"], "C").stdout and
       "\u2014" in run(folder, ["doctor"], "C.UTF-8").stdout.decode(),
       "a dash is printed as - only in the C locale")
    log = write(folder, "log", LOG)
    for command in ("parse", "export", "board"):
        plain, full = (run(folder, [command, "--json", log], locale)
                       for locale in ("C", "C.UTF-8"))
        ok(plain.stdout.isascii() and not full.stdout.isascii() and
           rows(plain.stdout) == rows(full.stdout) != None,
           command + " --json in the C locale is equivalent to UTF-8",
           (plain.stdout, full.stdout))
    plain, full = (run(folder, ["parse", "--csv", log], locale).stdout
                   for locale in ("C", "C.UTF-8"))
    ok(plain == full and not plain.isascii(),
       "CSV is the same in every locale", plain)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_helps(folder)
        for words in cases(folder):
            r = run(folder, words, "C.UTF-8")
            said = r.stdout + r.stderr
            bad = [byte for byte in HARMFUL if byte in said]
            ok(not bad and r.returncode >= 0,
               ascii(" ".join(words)).replace("#", "?")[:100],
               (r.returncode, said))
            check_plain(folder, words)
    return finish()


sys.exit(main())
