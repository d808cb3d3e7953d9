#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command that prints a bench prints the same verdict."""
import glob
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "support", "screen")]
from run_e2e import TUI, run_tests  # noqa: E402
from tap import ok  # noqa: E402
from vt import Program  # noqa: E402


def words_on_screen(rig, wanted):
    """The Bench view of the dashboard, once it has all wanted texts."""
    p = Program([TUI], width=140, height=50, env=rig.env, cwd=rig.dir)
    try:
        p.wait_for("Fleet")
        p.send("6")
        p.wait_for(wanted)
        return p.screen.text()
    finally:
        p.send("Q")
        p.end()
        p.close()


def flat(text):
    """The text without line ends and Markdown marks."""
    return " ".join(text.replace("*", "").replace("\\", "").split())


def stopped_arm(rig):
    """One of two variants is stopped as INVALID after its first block."""
    path = rig.bench("three", [rig.pod("p1")], {"env": {"STEP_MS": "1900"}},
                     decision={"early": "none"})
    plan = json.load(open(path))
    plan["variants"].append({"tag": "C", "env": {"STEP_MS": "1800",
                                                 "MODE": "less"}})
    with open(path, "w") as stream:
        json.dump(plan, stream)
    closing = rig.tui("bench", "run", "--yes", path)
    folder = rig.folder("three")
    verdict = json.load(open(os.path.join(folder, "verdict.json")))
    logs = {tag: sorted(glob.glob(os.path.join(folder, "runs", "*_" + tag,
                                               "train.out")))
            for tag in "ABC"}
    ok([len(logs[tag]) for tag in "ABC"] == [3, 3, 1],
       "the INVALID arm has no more runs", logs)
    judge = ["bench", "judge", "--window", "20:100", "--control",
             "A=" + logs["A"][0], *logs["A"][1:], "--variant",
             "B=" + logs["B"][0], *logs["B"][1:], "--variant",
             "C=" + logs["C"][0]]
    found = {c["variant"]: c for c in verdict["contrasts"]}
    ok(found["B"]["verdict"] == "FASTER" and found["B"]["n_blocks"] == 3 and
       found["C"]["text"] == "INVALID (work identity)",
       "the other arm has its verdict from three blocks",
       [c["text"] for c in verdict["contrasts"]])
    for more in (["show", "three", "--json"], judge[1:] + ["--json"]):
        other = json.loads(rig.tui("bench", *more).stdout)
        ok(all(c[key] == found[c["variant"]][key]
               for c in other["contrasts"]
               for key in ("text", "if_valid", "n_blocks", "pct", "ci_pct",
                           "p", "p_holm", "p_signflip", "mde_pct",
                           "suffix")),
           "bench %s --json has the numbers of verdict.json" % more[0],
           other["contrasts"])
    printed = {
        "the closing report": closing.stdout,
        "bench show": rig.tui("bench", "show", "three").stdout,
        "bench show --md": rig.tui("bench", "show", "--md", "three").stdout,
        "bench list": rig.tui("bench", "list").stdout,
        "bench judge": rig.tui(*judge).stdout,
        "bench judge --md": rig.tui(*judge, "--md").stdout,
    }
    texts = {name: flat(text.decode()) for name, text in printed.items()}
    texts["the Bench view"] = flat(words_on_screen(
        rig, ["B: " + found["B"]["text"], "C: " + found["C"]["text"]]))
    for name, text in texts.items():
        ok(all(c["text"] in text for c in found.values()),
           name + " has the words of verdict.json", text)
        ok("NOT JUDGED" not in re.sub("if it were valid:? NOT JUDGED", "", text),
           name + " has no other words", text)
    for name, text in texts.items():
        if name not in ("bench list", "the Bench view"):
            ok("p %.4f" % found["B"]["p"] in text or
               "%.2g" % found["B"]["p"] in text,
               name + " has the same p", text)
    rig.clean("three")


sys.exit(run_tests((stopped_arm,)))
