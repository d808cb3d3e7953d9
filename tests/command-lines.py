#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Command lines as people type them, compared with command-lines.txt."""
import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios

SRC = os.path.abspath(os.environ.get("HGYM_SRC", "."))
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from tap import finish, ok  # noqa: E402
from transcript import pattern_of  # noqa: E402


def lines_of(path):
    """Yield (line, expected stdout, expected stderr)."""
    with open(path, encoding="utf-8") as data:
        blocks = re.split(r"^(?=\$)", data.read(), flags=re.M)
    for block in blocks[1:]:
        line, *rest = block.rstrip("\n").split("\n")
        yield (line[2:].strip(), [one for one in rest if one[:2] != "! "],
               [one[2:] for one in rest if one[:2] == "! "])


def run_in_terminal(words, **how):
    """Run on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    with subprocess.Popen(words, stdout=theirs, stderr=subprocess.PIPE,
                          stdin=theirs, **how) as child:
        os.close(theirs)
        out = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
        said = child.stderr.read()
    os.close(ours)
    return child.returncode, out.replace(b"\r\n", b"\n"), said


def run(words, folder, env):
    """Return (status, stdout, stderr) of a command line."""
    settings = [word for word in words if re.match("[A-Z_]+=", word)]
    words = words[len(settings):]
    env = dict(env, **dict(word.split("=", 1) for word in settings))
    if env.pop("TTY", None):
        return run_in_terminal([TUI, *words], cwd=folder, env=env)
    done = subprocess.run([TUI, *words], cwd=folder, env=env, check=False,
                          capture_output=True,
                          input=env.pop("STDIN", "").encode())
    return done.returncode, done.stdout, done.stderr


def main():
    with tempfile.TemporaryDirectory(prefix="hgym-lines-") as folder:
        env = home_env(folder, LC_ALL="C.UTF-8", PATH=os.environ["PATH"])
        env.pop("COLUMNS", None)
        os.mkdir(os.path.join(folder, "logs"))
        for name, seed in (("a.log", 1), ("b.log", 2)):
            with open(os.path.join(folder, "logs", name), "w") as log:
                log.write("seed:%d\nstep:9/9 train_loss:1.5 train_time:90ms "
                          "step_avg:10.00ms\n" % seed)
        path = os.path.join(SRC, "tests/command-lines.txt")
        for line, prints, says in lines_of(path):
            words = shlex.split(line)
            want = 0
            if words[-2:-1] == ["=>"]:
                want = int(words[-1])
                words = words[:-2]
            status, out, said = run(words, folder, env)
            ok(status == want and
               re.fullmatch(pattern_of(prints), out.decode()) and
               re.fullmatch(pattern_of(says), said.decode()),
               line.replace("#", "?")[:70], (status, out, said))
    return finish()


sys.exit(main())
