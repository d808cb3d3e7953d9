# SPDX-License-Identifier: MIT
"""What the programs of this folder share: the provider's own tool is asked,
and pods are printed as hgym-tui takes them (man hgym-tui-config, DISCOVER).
Keys and tokens stay with the tool."""
import json
import re
import subprocess
import sys


def leave(text):
    sys.exit(f"{sys.argv[0].rsplit('/', 1)[-1]}: {text}")


def say_odd(kind, why, _):
    """One sentence of an answer that nobody thought of, and no traceback."""
    print(f"{sys.argv[0].rsplit('/', 1)[-1]}: the answer has a shape that is"
          f" not known: {kind.__name__}: {why}", file=sys.stderr)


sys.excepthook = say_odd


def ask(*command):
    """The JSON that a program prints."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, timeout=15)
    except (OSError, subprocess.TimeoutExpired) as why:
        leave(why)
    if done.returncode != 0:
        leave(f"{command[0]} ended with status {done.returncode}")
    return read(done.stdout, command[0])


def read(text, whom):
    try:
        return json.loads(text)
    except ValueError as why:
        leave(f"{whom}: no JSON: {why}")


def show(pods):
    """Print them; a name that no pod can have, or that two have, is mended."""
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
