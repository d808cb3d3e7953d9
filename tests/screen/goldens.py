#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare every view at several sizes, in UTF-8 and in the C locale, with golden
files of its text and of the styles of its cells. The demo shows the same each
time.
looks-test.py compares the colors that a terminal shows for the styles.

HGYM_UPDATE=1 writes the golden files again; look at the difference before you
commit it."""
import difflib
import os
import re
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from tap import finish, ok  # noqa: E402
from views import GOLDEN, SIZES, SMALL, VIEWS, golden, in_size  # noqa: E402

TUI = os.environ.get("HGYM_TUI", "build/hgym-tui")
UPDATE = os.environ.get("HGYM_UPDATE")
LOCALES = {"utf8": "C.UTF-8", "ascii": "C"}


def hold(name, got, status):
    if UPDATE:
        with open(os.path.join(GOLDEN, name), "w", encoding="utf-8") as out:
            out.write(got)
    want = golden(name)
    ok(status == 0 and got == want, name, "\n".join(difflib.unified_diff(
        want.split("\n"), got.split("\n"), "golden", "screen", lineterm="",
        n=1)))


def play(folder, size, keys, lc_all):
    """Play the keys. Returns the exit status, the screen with fixed names for
    temporary folders, and the styles."""
    files = [os.path.join(folder, "shot.txt"),
             os.path.join(folder, "shot.styles")]
    script = "size %s\n%s\nsave %s\nstyles %s\n" % (
        size, "\n".join("key " + key for key in keys), *files)
    env = dict(os.environ, LC_ALL=lc_all, TMPDIR=folder,
               TERM="xterm-256color")
    env.pop("SSH_TTY", None)
    run = subprocess.run([TUI, "demo", "--script", "-"], input=script,
                         env=env, capture_output=True, text=True)
    shots = [run.stderr, ""]
    for i, path in enumerate(files):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as shot:
                shots[i] = shot.read()
            os.unlink(path)
    text = shots[0].replace(folder, "/tmp/hgXXXXXXXX")
    text = re.sub(r"hgym-demo-\w{6}", "hgym-demo-XXXXXX", text)
    return run.returncode, text, shots[1]


def main():
    os.makedirs(GOLDEN, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hg", dir="/tmp") as folder:
        for locale, lc_all in LOCALES.items():
            for view, keys, _ in VIEWS:
                for size in (s for s in SIZES if in_size(view, s)):
                    status, text, styles = play(folder, size, keys, lc_all)
                    hold("%s-%s-%s.txt" % (view, size, locale), text, status)
                    if locale == "utf8" and size not in SMALL:
                        hold("%s-%s.styles" % (view, size), styles, status)
        left = [f for f in os.listdir(folder) if f.startswith("hgym-demo")]
        ok(not left, "the demo leaves no file behind", left)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
