#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pod whose follower sends wrong data: each kind must end the stream with
one sentence, in bounded memory, and must be retried; a stream that stops
sending is noticed. A fake sh in PATH sends the data over the local
transport."""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, ok  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

TOOL = os.path.join(BUILD, "tests/follow/follow-mirror")

LIAR = """#!%s
import os, sys, time
nonce = sys.argv[-1].rsplit(" ", 1)[-1]
hello = b"\\nHGF2 %%s OK py 1\\n" %% nonce.encode()
new = b"N 1 1:1 4 7 1 0\\na"
out = os.fdopen(1, "wb", 0)
def endless(what):
    while True:
        out.write(what)
try:
    exec(os.environ["LIE"])
except BrokenPipeError:
    pass
""" % sys.executable

NOISE = "printed more than"
LIES = {
    # name: (what the fake follower does, text that the status must contain)
    "no frame": ("out.write(hello + b'rubbish here\\n')", "not a frame"),
    "endless noise": ("endless(b'noise ' * 10000)", NOISE),
    "endless noise of lines": ("endless(b'a line\\n' * 10000)", NOISE),
    "an endless header": ("out.write(hello); endless(b'D' * 9999)",
                          "header of more than"),
    "a length beyond all": (
        "out.write(hello + new + b'D 1 0 99999999999\\n')", "invalid D frame"),
    "a negative length": (
        "out.write(hello + new + b'D 1 0 -1\\n')", "invalid D frame"),
    "bytes at a wrong offset": (
        "out.write(hello + new + b'D 1 7 1\\nx')", "skipped bytes"),
    "bytes twice": (
        "out.write(hello + new + b'D 1 0 1\\nxD 1 0 1\\nx')",
        "skipped bytes"),
    "bytes of an unknown file": (
        "out.write(hello + b'D 1 0 1\\nx')", "not open"),
    "a file out of order": (
        "out.write(hello + new.replace(b'N 1', b'N 2'))", "out of order"),
    "a start after the first byte": (
        "out.write(hello + new + b'D 1 5 1\\nx')", "skipped bytes"),
    "a checksum that was not requested": (
        "out.write(hello + new + b'C 1 4 5\\n')", "not requested"),
    "a checksum of an unknown file": ("out.write(hello + b'C 9 4 5\\n')", "not requested"),
    "rest of an unknown file": ("out.write(hello + b'U 9 4 5\\n')", "dropped"),
    "bytes of a dropped file": (
        "out.write(hello + new + b'M 1 0 0\\nX 1 0\\nD 1 0 1\\nx')",
        "not open"),
    "an end without its name": (
        "out.write(hello + new + b'X 1 0\\nX 1 0\\n')", "not open"),
    "a path with a NUL": (
        "out.write(hello + b'N 1 1:1 9 7 3 0\\na\\0b')", "invalid path"),
    "no path": ("out.write(hello + b'N 1 1:1 9 7 0 0\\n')",
                "invalid path"),
    "a path without an end": (
        "out.write(hello + b'N 1 1:1 9 7 1025 0\\n')", "invalid N frame"),
    "missing tools": (
        "out.write(hello.replace(b'OK py 1', b'LACKS stat \\x1b[31m'))",
        "neither python3 nor stat"),
    "an early end": (
        "out.write(hello + new + b'X 1 9\\n')", "skipped the end"),
    "a rename of an unknown file": ("out.write(hello + b'M 9 1 0\\nx')", "not open"),
    "endless files": (
        "out.write(hello)\n"
        "for i in range(1, 70000): "
        "out.write(b'N %d 1:%d 4 7 5 0\\n%05d' % (i, i, i))",
        "more than"),
    "endless files, each dropped": (
        "out.write(hello)\n"
        "for i in range(1, 70000): out.write("
        "b'N %d 1:%d 4 7 5 0\\n%05dM %d 0 0\\nX %d 0\\n' % (i, i, i, i, i))",
        "further ones are ignored"),
    "endless cuts": (
        "out.write(hello + new)\n"
        "for i in range(99999): out.write(b'T 1 0\\n')", "too often"),
    "an exit": ("sys.exit(3)", "exited with status 3"),
    "a message and an exit": (
        "os.write(2, b'\\x1b[31mno such thing\\x07\\n'); sys.exit(127)",
        "no such thing"),
    "silence": ("out.write(hello); time.sleep(300)", "nothing came"),
    "a file, then silence": (
        "out.write(hello + new + b'D 1 0 100\\nhalf'); time.sleep(300)",
        "nothing came"),
}


def start(box, lie):
    env = dict(os.environ, PATH=box + ":" + os.environ["PATH"], LIE=lie)
    out = tempfile.mkdtemp(dir=box)

    # A sanitizer reserves far more memory than it uses.
    limit = "" if os.environ.get("ASAN_OPTIONS") else "ulimit -d 262144 && "
    return subprocess.Popen(
        ["/bin/sh", "-c", limit + 'exec "$@"', "sh", TOOL, "local", out,
         "/nonexistent/*"], env=env, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def expect(child, want):
    """Read until the stream has ended with this text.  Returns whether it did,
    the last line, the exit status and the time in seconds."""
    begun = time.monotonic()
    said, good = "", False
    for line in child.stdout:
        said = line.decode("utf-8", "replace")
        if " waiting " in said and want in said:
            good = "\x1b" not in said and "\x07" not in said
            break
    took = time.monotonic() - begun
    child.stdin.close()
    status = child.wait(PATIENCE_S)
    child.stdout.close()
    return good, said, status, took


def main():
    box = tempfile.mkdtemp(prefix="hgym-hostile-")
    with open(box + "/sh", "w") as f:
        f.write(LIAR)
    os.chmod(box + "/sh", stat.S_IRWXU)
    order = list(LIES.items())
    with ThreadPoolExecutor() as pool:
        slow = {name: pool.submit(expect, start(box, lie), want)
                for name, (lie, want) in order if "silence" in name}
        for name, (lie, want) in order:
            good, said, status, took = (
                slow[name].result() if name in slow else
                expect(start(box, lie), want))
            ok(good and status == 0, "wrong data: " + name,
               "status %s, last: %s" % (status, said.rstrip()))
            if name == "silence":
                ok(took < 120, "a stream that stops is noticed (after %.0f s)" % took)
    shutil.rmtree(box)
    return finish()


sys.exit(main())
