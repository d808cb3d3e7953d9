#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The samples of rules are their test: a rule matches its samples, and not its
others, as `formats check` counts them."""
import glob
import json
import os
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, ok  # noqa: E402


# Rules of the stage "other" count only after a row of their format, and progress
# of an evaluation only after a validation with a BPB.
ROW = {"name": "row", "kind": "train", "match": r"^first row (?<step>\d+)$"}
CONTEXT = "step:2/2 val_loss:2 val_bpb:1.2 train_time:1ms step_avg:1.00ms\n"


def count_matches(path, rule, lines, folder):
    """How many of the lines a rule matches that is alone in its format."""
    alone, log = os.path.join(folder, "alone.json"), os.path.join(folder,
        "lines.log")
    is_later = rule.get("stage") == "other" and rule["kind"] in ("train", "val")
    lines = ["first row 1"] * is_later + lines
    with open(alone, "w") as f:
        json.dump({"schema": "hgym-tui.format/1", "name": "alone",
                   "rules": [ROW] * is_later + [rule]}, f)
    with open(log, "w") as f:
        f.write(CONTEXT + "".join(line + "\n" for line in lines))
    r = subprocess.run([TUI, "formats", "check", "--json", alone, log],
        capture_output=True,
                       text=True)
    rows = [json.loads(x) for x in r.stdout.splitlines()]
    n = sum(x["lines"] for x in rows if x.get("format") == "alone")
    return n - is_later, r.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(
            os.path.join(SRC, "parsers/formats/*.json"))):
            with open(path) as f:
                root = json.load(f)
            if isinstance(root,
                list):  # prefixes, which log-properties.py tests
                continue
            for rule in root["rules"]:
                if "samples" not in rule:
                    continue
                name = "%s/%s" % (root["name"], rule["name"])
                n, why = count_matches(path, rule, rule["samples"], folder)
                ok(n == len(rule["samples"]), name + " matches its samples", (
                    n, why))
                if rule.get("others"):
                    n, why = count_matches(path, rule, rule["others"], folder)
                    ok(n == 0, name + " does not match the others", (n, why))
    return finish()


sys.exit(main())
