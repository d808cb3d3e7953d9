# SPDX-License-Identifier: MIT
"""Shared by the programs of this directory: run the provider's tool, and print
pods in the format of hgym-tui (hgym-tui-config(5), DISCOVER).  Keys and tokens
stay with the tool."""
import json
import re
import subprocess
import sys


def leave(text):
    sys.exit(f"{sys.argv[0].rsplit('/', 1)[-1]}: {text}")


def print_error(kind, why, _):
    """For an unexpected answer, print one line instead of a traceback."""
    print(f"{sys.argv[0].rsplit('/', 1)[-1]}: unexpected answer:"
          f" {kind.__name__}: {why}", file=sys.stderr)


sys.excepthook = print_error


def ask(*command):
    """Run a program and parse the JSON that it prints."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, timeout=15)
    except (OSError, subprocess.TimeoutExpired) as why:
        leave(why)
    if done.returncode != 0:
        leave(f"{command[0]} exited with status {done.returncode}")
    return read(done.stdout, command[0])


def read(text, whom):
    try:
        return json.loads(text)
    except ValueError as why:
        leave(f"{whom}: not JSON: {why}")


def show(pods):
    """Print the pods; change names that are invalid or used twice."""
    seen, rows = set(), []
    for pod in pods:
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", pod["name"]).strip("-.")
        name = name[:40] or pod["id"]
        if name in seen:
            name = f"{name}-{pod['id']}"
        seen.add(name)
        rows.append({key: value for key, value in dict(pod, name=name).items()
                     if value is not None and key != "id"})
    print(json.dumps(rows))
