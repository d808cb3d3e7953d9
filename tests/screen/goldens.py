#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every view at three sizes, in UTF-8 and in the C locale, as text: the
demo's screens are the same bytes each time.  HGYM_UPDATE=1 writes them anew;
look at the difference before it is committed."""
import difflib
import os
import re
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.environ.get("HGYM_TUI", "build/hgym-tui")
GOLDEN = os.path.join(SRC, "tests/screen/golden")
UPDATE = os.environ.get("HGYM_UPDATE")

SIZES = ["80x24", "120x40", "200x60", "60x15", "40x10"]
VIEWS = [
    ("fleet", "key 1"),
    ("run", "key 2"),
    ("board", "key 3\nkey j Enter"),
    ("compare", "key 1\nkey g Space j j Space\nkey 4"),
    ("logs", "key 1\nkey g\nkey 5"),
    ("bench", "key 6"),
    ("pods", "key 7\nkey j j"),
    ("harness", "key 8"),
    ("help", "key ?\ntype chart"),
    ("palette", "key :\ntype polar"),
    ("events", "key !"),
]
SMALL = ("60x15", "40x10")
LOCALES = {"utf8": "C.UTF-8", "ascii": "C"}


def shots(locale):
    """(name, script of one view at one size)."""
    for view, keys in VIEWS:
        for size in SIZES:
            if size in SMALL and view not in ("fleet", "logs", "help"):
                continue
            if locale == "ascii" and size == "200x60":
                continue
            yield "%s-%s-%s" % (view, size, locale), size, keys


def main():
    count = failed = 0
    os.makedirs(GOLDEN, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hg", dir="/tmp") \
            as folder:
        for locale, lc_all in LOCALES.items():
            for name, size, keys in shots(locale):
                shot = os.path.join(folder, name + ".txt")
                script = "size %s\n%s\nsave %s\n" % (size, keys, shot)
                env = dict(os.environ, LC_ALL=lc_all, TMPDIR=folder,
                           TERM="xterm-256color")
                env.pop("SSH_TTY", None)
                run = subprocess.run(
                    [TUI, "demo", "--script", "-"], input=script, env=env,
                    capture_output=True, text=True)
                count += 1
                golden = os.path.join(GOLDEN, name + ".txt")
                got = open(shot, encoding="utf-8").read() \
                    if os.path.exists(shot) else run.stderr
                got = got.replace(folder, "/tmp/hgXXXXXXXX")
                got = re.sub(r"hgym-demo-\w{6}", "hgym-demo-XXXXXX", got)
                if UPDATE:
                    with open(golden, "w", encoding="utf-8") as out:
                        out.write(got)
                want = open(golden, encoding="utf-8").read() \
                    if os.path.exists(golden) else ""
                good = run.returncode == 0 and got == want
                failed += not good
                print("%sok %d - %s" % ("" if good else "not ", count, name))
                if not good:
                    for line in difflib.unified_diff(
                            want.split("\n"), got.split("\n"), "golden",
                            "screen", lineterm="", n=1):
                        print("# " + line)
        left = [f for f in os.listdir(folder) if f.startswith("hgym-demo")]
        count += 1
        print("%sok %d - the demo leaves nothing behind" %
              ("not " if left else "", count))
        failed += bool(left)
    print("1..%d" % count)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
