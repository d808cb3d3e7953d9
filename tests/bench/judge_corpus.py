#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench judge on real A/B logs, compared with their known results."""
import glob
import json
import os
import subprocess
import sys

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, note, ok, skip_all  # noqa: E402

SHARED = os.environ.get("HGYM_SHARED", os.path.join(SRC, "..", "shared"))
CORPUS = os.path.join(SHARED, "corpus")


def near(got, want, name, tolerance=1e-9):
    ok(got is not None and abs(got - want) <= tolerance * abs(want), name,
       (got, want))


def judge(*words, status=0):
    done = subprocess.run([TUI, "bench", "judge", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != status:
        ok(False, "exit status %d" % status,
           (done.returncode, done.stderr.decode("utf-8", "replace")))
    return done.stdout.decode()


def judge_json(*words):
    return json.loads(judge("--json", *words))


def path(*parts):
    return os.path.join(CORPUS, *parts)


def contrast(verdict, tag):
    return next(c for c in verdict["contrasts"] if c["variant"] == tag)


def guards(found):
    return {g["guard"]: g["hard"] for g in found["guards"]}


def phase_a2():
    key = json.load(open(path("ab", "truth.json")))["phases"]["phase_a2"]
    words = ["--control",
             "A_no_graphs=" + path("ab", "phase_a2", "A_no_graphs_train.out"),
             "--variant", "B_cudagraphs=" +
             path("ab", "phase_a2", "B_cudagraphs_train.out")]
    verdict = judge_json(*words)
    found = contrast(verdict, "B_cudagraphs")
    for run in verdict["runs"]:
        want = key["variants"][run["tag"]]
        near(run["legacy_mean"], want["published_mean"],
             "published mean of " + run["tag"])
        near(786432 * 1000 / run["y_ms"], want["marginal_tok_s_20_100"],
             "rate of %s over steps 20..100" % run["tag"], 1e-7)
    near(found["legacy_pct"], 3.68, "published difference", 2e-3)
    near(found["pct"], 1.8051, "difference by the step time", 1e-4)
    ok(found["text"] == "INVALID (work identity)", "INVALID", found["text"])
    ok(found["if_valid"] == "NOT JUDGED (1 block, need 3)",
       "one pair cannot be judged", found["if_valid"])
    ok(guards(found).get("clock-lag") is False, "the lag of the clock is a "
                                                "warning",
       guards(found))
    text = judge("--all", *words)
    for part in ("1,378,296.78", "1,428,985.56", "+3.68%", "+1.81%",
                 "INVALID (work identity)", "clock-lag", "step 2"):
        ok(part in text, "the report contains " + part, text)
    ok(all(len(line) <= 80 for line in text.split("\n")), "the report fits 80 "
                                                          "columns")
    judge("--fail-on", "invalid", *words, status=3)
    judge("--fail-on", "slower", *words)


def phase_z():
    key = json.load(open(path("ab", "truth.json")))["phases"]["phase_z_v6"]
    base = path("ab", "phase_z_v6", "%s_train.out")
    verdict = judge_json("--control", "A_baseline=" + base % "A_baseline",
                         "--variant", "B_M_fine=" + base % "B_M_fine",
                         "--variant", "C_N_wide=" + base % "C_N_wide")
    for run in verdict["runs"]:
        near(run["legacy_mean"], key["variants"][run["tag"]]["published_mean"],
             "published mean of " + run["tag"])
    for tag, delta in key["deltas"].items():
        found = contrast(verdict, tag)
        near(found["legacy_pct"], delta["delta_pct"],
             "published difference of " + tag, 1e-4)
        near(found["pct"], delta["delta_pct_marginal_20_100"],
             "difference of %s by the step time" % tag, 1e-4)
        ok(found["text"] == "NOT JUDGED (1 block, need 3)", "NOT JUDGED",
           found["text"])


def sdpa():
    key = json.load(open(path("h200", "truth.json")))["ab_sdpa"]
    arms = {a: sorted(glob.glob(path("h200", "ab_sdpa", a + "_rep*.log")))
            for a in "AB"}
    verdict = judge_json("--control", *arms["A"], "--variant",
                         "B=" + arms["B"][0], *arms["B"][1:])
    found = contrast(verdict, "B")
    for arm, tag in (("A", "control"), ("B", "B")):
        got = [r["y_ms"] for r in verdict["runs"] if r["tag"] == tag]
        ok(all(abs(g - w) < 1e-9 * w for g, w in
               zip(got, key["ms_per_step"][arm])), "ms per step of " + arm, got)
    check_paired(found, key["paired"])
    ok(found["verdict"] == "NO DIFFERENCE SHOWN", "NO DIFFERENCE SHOWN",
       found["text"])
    ok("smallest detectable difference" in found["text"] and
       found["mde_pct"] > 100, "the report has the smallest detectable "
                               "difference")
    ok(not any(guards(found).values()), "both arms did the same work",
       found["guards"])


def check_paired(found, want):
    near(found["pct"], want["mean_pct"], "mean")
    near(found["sd_d"], want["sd_d"], "sd")
    near(found["t"], want["t"], "t")
    near(found["ci_pct"][0], want["ci_pct"][0], "lower end of the interval")
    near(found["ci_pct"][1], want["ci_pct"][1], "upper end of the interval")


def rmsnorm():
    key = json.load(open(path("h200", "truth.json")))["ab_rmsnorm"]
    arms = {a: sorted(glob.glob(path("h200", "ab_rmsnorm", a + "_rep*.json")))
            for a in "AB"}
    for metric in ("best_us", "median_us"):
        verdict = judge_json("--metric", metric, "--control", *arms["A"],
                             "--variant", "B=" + arms["B"][0], *arms["B"][1:])
        found = contrast(verdict, "B")
        check_paired(found, key[metric])
        ok(found["verdict"] == "SLOWER", "SLOWER by " + metric,
           found["text"])


def moe():
    folder = path("harnessgym", "bench_moe_ab")
    key = json.load(open(os.path.join(folder, "expected.json")))
    arms = {a: sorted(glob.glob(os.path.join(folder, a + "_*.txt")))
            for a in "ABC"}
    verdict = judge_json("--control", "A=" + arms["A"][0], *arms["A"][1:],
                         "--variant", "B=" + arms["B"][0], *arms["B"][1:],
                         "--variant", "C=" + arms["C"][0])
    for arm in verdict["arms"]:
        want = key["variants"][arm["tag"]]
        ok(arm["valid"] == want["valid"] and
           arm["invalid"] == len(want["invalid"]), "runs of " + arm["tag"],
           arm)
        for name in ("min", "median", "max"):
            ok(arm[name] == want[name], "%s of %s" % (name, arm["tag"]), arm)
        if want["spread_pct_of_median"] is not None:
            near(arm["spread_pct_of_median"], want["spread_pct_of_median"],
                 "spread", 1e-3)
    found = contrast(verdict, "B")
    want = key["A_vs_B"]
    near(found["median_delta_pct"], want["median_delta_pct"], "medians", 1e-3)
    near(found["min_delta_pct"], want["min_delta_pct"], "minima", 1e-3)
    rank = found["mann_whitney"]
    ok(rank["u_control"] == want["mann_whitney_U_A"] and rank["exact"],
       "Mann-Whitney U", rank)
    near(rank["p"], want["exact_two_sided_p"], "exact p", 2e-2)
    ok(found["verdict"] == "NO DIFFERENCE SHOWN",
       "no winner for blocks with a spread of 19.6 %", found["text"])
    ok(contrast(verdict, "C")["verdict"] == "INVALID",
       "a failed variant is INVALID")


def crashed():
    log = path("ab", "b200", "train.out")
    judge("--control", log, "--variant", "B=" + log, status=5)
    good = path("ab", "phase_z_v6", "A_baseline_train.out")
    found = contrast(judge_json("--control", good, "--variant", "B=" + log),
                     "B")
    ok(found["text"] == "INVALID (exit)", "a crashed arm is INVALID",
       found["text"])


def main():
    if not os.path.isdir(CORPUS):
        return skip_all(
            "needs ../shared/corpus, which is not part of the repository")
    for test in (phase_a2, phase_z, sdpa, rmsnorm, moe, crashed):
        note(test.__name__)
        test()
    return finish()


sys.exit(main())
