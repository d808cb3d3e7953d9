#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The transcripts in the README match what the program prints.

A fenced block whose first line starts with "$ " is a transcript: its command
is run in an empty directory, must succeed and print the rest.  "[...]" stands
for any text within a line, a line "..." for any lines.  A comment before the
block, <!-- test: COMMAND -->, prepares it; <!-- test: skip WHY --> skips it.
JSON blocks must be valid configurations, and each command and option named in
the text must exist."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SRC = os.path.abspath(os.environ.get("HGYM_SRC", "."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from commands import command_names  # noqa: E402
from tap import finish, ok, skip  # noqa: E402
from transcript import pattern_of  # noqa: E402

BUILD = os.path.abspath(os.environ.get("HGYM_BUILD", "build"))
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))


def blocks(text):
    """Yield (language, body, test comments directly before the block)."""
    for m in re.finditer(r"((?:<!-- test: .*? -->\n)*)```(\w*)\n(.*?)\n```",
                         text, re.S):
        yield m.group(2), m.group(3), re.findall(r"<!-- test: (.*?) -->",
                                                 m.group(1), re.S)


def split_transcript(body):
    """Yield (command, expected output) pairs."""
    lines = body.split("\n")
    while lines:
        command = lines.pop(0)[2:]
        while command.endswith("\\"):
            command = command[:-1] + lines.pop(0)
        out = []
        while lines and not lines[0].startswith("$ "):
            out.append(lines.pop(0))
        yield command, out


def run(command, folder):
    env = dict(os.environ, HOME=folder, LC_ALL="C.UTF-8", PATH=os.pathsep.join(
        (os.path.join(folder, ".bin"), os.environ["PATH"])))
    for name in list(env):
        if name.startswith(("XDG_", "HGYM_", "HARNESSGYM_")):
            del env[name]
    return subprocess.run(["sh", "-c", command], cwd=folder, env=env,
                          capture_output=True, text=True)


def make_folder(folder):
    os.makedirs(os.path.join(folder, ".bin"))
    for program in (TUI, os.path.join(BUILD, "tests/tools/gen-logs")):
        os.symlink(program, os.path.join(folder, ".bin",
                                         os.path.basename(program)))


def check_transcript(body, wants):
    folder = tempfile.mkdtemp()
    make_folder(folder)
    for want in wants:
        done = run(want, folder)
        ok(done.returncode == 0, "made by: " + want, done.stderr)
    for command, lines in split_transcript(body):
        done = run(command, folder)
        ok(done.returncode == 0 and
           re.fullmatch(pattern_of(lines), done.stdout),
           "prints as documented: " + command[:60],
           "%s\n%s%s" % (done.returncode, done.stdout, done.stderr))
    shutil.rmtree(folder)


def check_json(body):
    folder = tempfile.mkdtemp()
    make_folder(folder)
    with open(os.path.join(folder, "c.json"), "w") as conf:
        conf.write(body)
    done = run("hgym-tui --config c.json runs", folder)
    ok(done.returncode == 5 and "c.json" not in done.stderr,
       "the configuration is valid", done.stderr)
    shutil.rmtree(folder)


def check_names(text):
    """Commands and options in `code`."""
    code = re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(
        r"```.*?```", "", text, flags=re.S))
    helps = subprocess.run([TUI, "--help"], capture_output=True,
                           text=True).stdout
    names = set(command_names(helps))
    options = set(re.findall(r"--[a-z-]+", helps))
    for name in names:
        options |= set(re.findall(r"--[a-z-]+", subprocess.run(
            [TUI] + name.split() + ["--help"], capture_output=True,
            text=True).stdout))
    firsts = {name.split()[0] for name in names}
    wrong = []
    for piece in code:
        words = piece.split()
        if words[0] == "hgym-tui" and len(words) > 1 and \
                re.fullmatch(r"[a-z]+", words[1]) and words[1] not in firsts:
            wrong.append(piece)
        if words[0] == "hgym-tui" or words[0] in firsts or \
                words[0].startswith("--"):
            wrong += [w for w in words if w.startswith("--") and
                      w.rstrip(".,") not in options]
    ok(not wrong and len(code) > 20, "every command and option that it names exists: "
       "there", wrong)


def main():
    with open(os.path.join(SRC, "README.md"), encoding="utf-8") as readme:
        text = readme.read()
    transcripts = 0
    for language, body, wants in blocks(text):
        if wants and wants[0].startswith("skip"):
            skip("a block", wants[0][5:])
        elif language == "json":
            check_json(body)
        elif body.startswith("$ "):
            transcripts += 1
            check_transcript(body, wants)
    ok(transcripts >= 2, "the README has transcripts")
    check_names(text)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
