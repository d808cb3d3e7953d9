#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The results.tsv that an agent writes itself is reported as a claim: counted,
compared with run.log and with its own earlier content, and never verified."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SRC = os.environ["HGYM_SRC"]
TUI = os.path.abspath(os.environ["HGYM_TUI"])
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok  # noqa: E402
from vt import Program  # noqa: E402

HEAD = "commit\tval_bpb\tmemory_gb\tstatus\tdescription\n"
ROWS = ["a1b2c3d\t0.997900\t44.0\tkeep\tbaseline",
        "a1b2c3d\t0.999100\t44.0\tdiscard\tbaseline again",
        "b2c3d4e\t0.993200\t44.2\tkeep\tincrease LR to 0.04",
        "c3d4e5f\t1.005000\t44.0\tdiscard\tswitch to GeLU",
        "d4e5f6a\t0.000000\t0.0\tcrash\tdouble the width (OOM)",
        "e5f6a7b\t0.992900\t44.0\tkeep\tsmaller head"]
LOG = "step 953 loss 2.9\n---\nval_bpb:          %s\npeak_vram_mb: 45060.2\n"


def put(folder, table, log=None, newer=False):
    """Write both files as if unchanged for an hour; newer: run.log is newer."""
    os.makedirs(folder, exist_ok=True)
    for name, text, age in (("results.tsv", table, 3600),
                            ("run.log", log, 3000 if newer else 4000)):
        path = os.path.join(folder, name)
        if text is None:
            if os.path.exists(path):
                os.unlink(path)
            continue
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        at = os.stat(path).st_mtime - age
        os.utime(path, (at, at))


def table_of(rows, head=HEAD, end="\n"):
    return (head + "".join(row + "\n" for row in rows)).replace("\n", end)


def told(*args):
    done = subprocess.run([TUI, *args], check=False, capture_output=True,
                          text=True)
    return done


def look(folder):
    run = json.loads(told("harness", "--json", folder).stdout)
    return run, run["table"]


def test_honest(folder):
    put(folder, table_of(ROWS), LOG % "0.992913")
    run, table = look(folder)
    ok([table[k] for k in ("rows", "kept", "discarded", "crashed")] ==
       [6, 3, 2, 1], "rows are counted by status", table)
    ok(run["best_verified"] is None and table["best_kept_claimed"] ==
       {"score": 0.9929, "iteration": 6, "source": "run_log"},
       "the best row is a claim that run.log confirms", table)
    ok(table["baselines"] == 2 and abs(table["noise_floor"] - 0.0012) < 1e-9,
       "the noise floor is the range of two baselines", table)
    its = run["iterations"]
    ok([it["kept_within_noise"] for it in its] ==
       [None, None, False, None, None, True], "a gain below the noise floor "
                                              "is marked")
    ok(its[4]["score_claimed_unverified"] is None,
       "a crash has no score, not 0")
    ok([it["evidence"] for it in its] == ["none"] * 5 + ["run_log"] and
       run["contradictions"] == [], "run.log confirms only the last row", run)
    page = told("harness", folder).stdout
    ok("within noise" in page and "not verified" in page and
       "6 in results.tsv, 3 kept, 2 discarded, 1 crashed" in page,
       "the page shows claims and noise", page)
    header = [line.split() for line in page.splitlines() if "notes" in line]
    ok(header and header[0][:2] == ["row", "status"],
       "the table has no column for the run", page)
    put(folder, table_of(ROWS[:5]), LOG % "0.992913", newer=True)
    run, table = look(folder)
    ok(run["live"]["phase"] == "experiment" and not run["contradictions"] and
       table["run_log_row"] is None and table["run_log_score"] == 0.992913,
       "a newer run.log belongs to an experiment without a row", run)


def says(folder, what, text):
    run, _ = look(folder)
    ok(any(text in line for line in run["contradictions"]),
       what, run["contradictions"])


def test_liars(folder):
    """Attempts to claim a better best score, or a false gain."""
    fake = ROWS + ["f6a7b8c\t0.500000\t44.0\tkeep\tmuch better"]
    put(folder, table_of(fake), LOG % "0.992913")
    run, table = look(folder)
    ok(table["best_kept_claimed"]["source"] == "claimed" and
       run["iterations"][6]["evidence"] == "none",
       "a best row without a run.log is only a claim", table)
    put(folder, table_of(fake), LOG % "0.981200")
    says(folder, "another number in run.log is reported with both numbers",
         "row 7: results.tsv has 0.5, run.log has 0.9812")
    put(folder, table_of(fake), "Traceback (most recent call last):\n")
    says(folder, "a run.log without a score is reported",
         "row 7: results.tsv has 0.5, run.log has no score")
    put(folder, table_of(ROWS), LOG % "0.992913" +
        "Traceback (most recent call last):\n  File x\nRuntimeError: CUDA\n")
    says(folder, "a crash after the score in run.log is reported",
         "row 6: results.tsv has keep, but run.log ends with a "
         "traceback")
    ok(look(folder)[0]["iterations"][5]["evidence"] == "none",
       "a crashed run.log confirms nothing")
    for twin in "status", "val_bpb":
        put(folder, table_of([row + "\t0.5" for row in ROWS],
                             HEAD.rstrip() + "\t%s\n" % twin))
        says(folder, "a second column of the same name is reported",
             'two columns for "%s"' % twin)
    put(folder, table_of(ROWS + ["c\t\uff10.\uff15\t44\tkeep\tx",
                                 "d\t0.5\0\t44\tkeep\tx",
                                 "e\t0x1p-3\t44\tkeep\tx",
                                 "f\t0.98\t44\tcrash\tx\tkeep\t0.1"]))
    ok(look(folder)[1]["best_kept_claimed"]["score"] == 0.9929,
       "full-width digits, a null byte, a hexadecimal number and tabs in a "
       "description")
    put(folder, table_of(ROWS[:5]), LOG % "0.95")
    says(folder, "a score in run.log for a row with crash is reported",
         "row 5: results.tsv has crash, run.log has 0.95")
    put(folder, table_of(ROWS + ["b2c3d4e\t0.98\t44\tkeep\tagain"]))
    says(folder, "two scores of one commit are reported",
         "rows 3 and 7 have different scores for commit b2c3d4e: 0.9932 "
         "and 0.98")
    bad = [row % n for n, row in enumerate(
        ("b%d\tnan\t0\tkeep\tx", "b%d\t-inf\t0\tkeep\tx",
         "b%d\t0.0\t0\tkeep\tx", "b%d\t-3\t0\tkeep\tx", "b%d\t0,5\t0\tkeep\tx",
         "b%d\t1e-30\t0\tkeep\tx", "b%d\t0.4\t0\tKEEP?no\tx",
         "b%d\t0.4\t0\t\tx", "b%d 0.4 0 keep x"))]
    put(folder, table_of(ROWS + bad[:6] + bad[7:]))
    _, table = look(folder)
    ok(table["best_kept_claimed"]["score"] == 0.9929 and
       table["other"] == 1 and table["broken_lines"] == 1,
       "a value that a loss cannot have is not a score", table)
    other = HEAD.replace("val_bpb\tmemory_gb", "memory_gb\tval_bpb")
    put(folder, table_of(ROWS[:3] + [other.strip(), "g\t0.1\t0.98\tkeep\tx"]))
    says(folder, "a second header in the middle is reported",
         "second header after row 3: later rows are ignored")
    _, table = look(folder)
    ok(table["rows"] == 3 and table["best_kept_claimed"]["score"] == 0.9932,
       "after a second header no other column is read as the score", table)
    mixed = ROWS[:1] + ["b\t0.9\t44\tkeep\tbaseline + rope",
                        "a1b2c3d\t0.8\t44\tkeep\tbaseline with rope"]
    put(folder, table_of(mixed))
    _, table = look(folder)
    ok(table["noise_floor"] is None and table["baselines"] == 1,
       "another experiment does not widen the noise floor", table)


def test_forms(folder):
    """Tables of programs that are derived from autoresearch."""
    put(folder, table_of(ROWS, end="\r\n"), LOG % "0.992913")
    run, table = look(folder)
    ok(table["kept"] == 3 and run["iterations"][0]["note"] ==
       "a1b2c3d  baseline", "lines that end with CR LF are read", table)
    put(folder, table_of(ROWS), " 10%|#\r 90%|##\rval_bpb: 0.992913\n")
    ok(look(folder)[1]["run_log_row"] == 6, "a score after a progress bar is read")
    put(folder, table_of(ROWS).rstrip("\n"))
    ok(look(folder)[1]["rows"] == 6, "an unchanged last line without a "
                                     "newline counts")
    with open(folder + "/results.tsv", "a", encoding="utf-8") as out:
        out.write("\nf\t0.9\t44\tkeep\thalf a l")
    late = os.stat(out.name).st_mtime + 3600
    os.utime(out.name, (late, late))
    ok(look(folder)[1]["rows"] == 6, "a last line that is being written does "
                                     "not count")
    put(folder, "Status\tnotes\ttrain_seconds\tVal_Acc\n"
        "keep\tbaseline\t300\t0.70\nkeep\twider\t301\t0.74\n"
        "discard\tdeeper\t300\t0.72\n", "val_acc: 1\nVal_Acc = 0.72\n")
    run, table = look(folder)
    ok(run["higher_is_better"] is True and run["score_key"] == "Val_Acc" and
       table["best_kept_claimed"]["iteration"] == 2 and
       table["run_log_row"] == 3, "other columns are read; a higher accuracy is better", run)
    put(folder, "elo\tstatus\n1200\tkeep\n1230\tkeep\n")
    ok(look(folder)[0]["higher_is_better"] is True,
       "an unknown score column: rows with keep decide the direction")
    put(folder, "elo\tstatus\n1200\tkeep\n1230\tkeep\n1210\tkeep\n")
    run, table = look(folder)
    ok(run["higher_is_better"] is None and
       table["best_kept_claimed"] is None, "an unknown score column without "
                                           "rows with keep", run)
    put(folder, HEAD)
    ok(look(folder)[1]["rows"] == 0, "a table without rows is read")
    put(folder, "name\tvalue\nx\t1\n")
    done = told("harness", folder)
    ok(done.returncode == 5 and not done.stdout,
       "another kind of results.tsv is not a run: exit status 5", done.stderr)
    put(folder, HEAD + "a\t0.9\t1\tdiscard\tnone\n" * 60000)
    run, table = look(folder)
    ok(table["rows"] > 40000 and len(run["iterations"]) == 1000 and
       "longer than 1 MB" in run["contradictions"][0],
       "a very large table: only the rows that were read count", table)


def test_trend(folder):
    """The trend shows whether the loop still improves."""
    worse = "z\t0.999\t44\tdiscard\tworse"
    crash = "z\t0\t0\tcrash\tout of memory"
    for more, trend in (([worse] * 9, "improving"), ([worse] * 10, "plateau"),
                        ([crash] * 4, "improving"), ([crash] * 5, "crashing"),
                        ([crash] * 5 + [worse], "improving")):
        put(folder, table_of(ROWS + more))
        run, table = look(folder)
        ok((table["trend"], table["rows_since_best"]) == (trend, len(more)),
           "%s after %d rows" % (trend, len(more)), table)
    put(folder, table_of(ROWS), "METRIC val_bpb=0.992913\n")
    ok(look(folder)[1]["run_log_row"] == 6, "a METRIC line has the score")


def test_kinds(folder):
    """Tables with a column of correctness instead of a status, and tables of several
    kernels, whose scores are not compared with each other."""
    put(folder, "experiment\tkernel_type\tlatency_us\tcorrectness\n"
        "1\tmatmul\t5000\tPASS\n2\tmatmul\t4000\tPASS\n"
        "3\tsoftmax\t50\tPASS\n4\tsoftmax\t20\tFAIL\n"
        "5\tsoftmax\t40\tPASS\n")
    run, table = look(folder)
    ok(table["kept"] == 4 and table["crashed"] == 1 and
       table["kind"] == "softmax" and table["best_kept_pct"] == 20 and
       table["baseline_claimed"]["score"] == 50,
       "best and gain belong to the last kernel", table)
    put(folder, "exp\tval_loss\tkept\n1\t3.3\tyes\n2\t3.2\tno\n3\t3.1\tyes, no doubt\n")
    _, table = look(folder)
    ok((table["kept"], table["discarded"]) == (2, 1), 'a column "kept" with yes or no is the status', table)
    put(folder, "exp\tval_loss\tstatus\n1\t3.3\tbaseline\n2\t3.2\tnot kept\n"
        "3\t3.1\tno_improvement\n4\t3.0\tkeep\n")
    _, table = look(folder)
    ok((table["kept"], table["discarded"], table["other"]) == (2, 2, 0) and
       table["best_kept_claimed"]["score"] == 3, "the status \"not kept\" is discarded", table)
    put(folder, HEAD + "a\t0.9\t1\tkeep\tx\nb\t0.8\t1\tkeep\ty\n")
    run, table = look(folder)
    ok(table["kind"] == "" and abs(table["best_kept_pct"] - 11.111) < 0.001,
       "a table with a single kind of rows has a best gain", table)


EVOLVE = """2026-01-01 10:00:00,123 - INFO - Evaluated program aa in 0.52s: \
combined_score=0.5000, runs=1.0000
2026-01-01 10:00:01,123 - INFO - Iteration 1: Program bb (parent: aa) done
2026-01-01 10:00:01,124 - INFO - Evaluated program bb in 0.52s: \
combined_score=0.4000, runs=1.0000
2026-01-01 10:00:02,124 - INFO - Evaluated program cc in 0.52s: error=1.0
2026-01-01 10:00:02,200 - INFO - Iteration 2: Program ee (parent: aa) done
2026-01-01 10:00:02,201 - INFO - Metrics: combined_score=0.6000, runs=1.0000
2026-01-01 10:00:03,124 - INFO - Evaluated program dd in 0.52s: \
combined_score=0.7500, runs=1.0000
"""


def test_loops(folder):
    """Scores of other loops, measured by their own evaluators, are not verified."""
    def loop(name, files):
        own = os.path.join(folder, name)
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(own, path)),
                        exist_ok=True)
            with open(os.path.join(own, path), "w", encoding="utf-8") as out:
                out.write(text)
        run = json.loads(told("harness", "--json", own).stdout or "{}")
        page = told("harness", own).stdout
        best = run.get("table", {}).get("best_kept_claimed") or {}
        ok(run.get("run_id") == name.split("-")[0] and
           run["best_verified"] is None and best.get("source") == "loop" and
           "not verified" in page, "%s: a loop with a page" % name, page)
        return run, best.get("score"), run.get("table", {}).get("best_kept_pct")
    info = '{"id": "dd", "metrics": {"combined_score": %s, "runs": 1.0}}'
    run, best, gain = loop("openevolve", {
        "logs/openevolve_1.log": EVOLVE,
        "checkpoints/checkpoint_10/best_program_info.json": info % 0.75})
    ok((best, gain) == (0.75, 50) and run["contradictions"] == [] and
       (run["table"]["rows"], run["table"]["crashed"]) == (5, 1),
       "the best score and its gain are read from the log", run["table"])
    run, best, gain = loop("openevolve-forged", {
        "logs/openevolve_1.log": EVOLVE,
        "best/best_program_info.json": info % 0.99})
    ok(best == 0.75 and "has 0.99, which the log does not have" in
       run["contradictions"][0], "a best score that no evaluation gave is reported", run)
    failed = ("".join("2026-01-01 10:00:0%d,123 - INFO - Iteration %d: Child c%d from "
                      "parent aa in 1.00s. Metrics: combined_score=%.4f (\u0394: "
                      "combined_score=+0.1000)\n" % (n, n, n, n / 10)
                      for n in (1, 2)) +
              "".join("2026-01-01 10:00:04,124 - INFO - Evaluated program %s in "
                      "0.52s: %s\n" % pair for pair in (
                          ("e1", "error=0.0000, timeout=1.0000"),
                          ("e2", "error=0.0000"),
                          ("e3", "combined_score=0.0000, error=no module"),
                          ("e4", "combined_score=0.3000, error=0.0200"))))
    run, best, gain = loop("openevolve-failed", {
        "openevolve_output/logs/openevolve_20260101_100000.log": failed,
        "openevolve_output/best/best_program_info.json": json.dumps(
            {"id": "e4", "generation": 1, "iteration": 2, "parent_id": "aa",
             "metrics": {"combined_score": 0.3, "error": 0.02}})})
    ok((best, round(gain), run["table"]["rows"], run["table"]["crashed"]) ==
       (0.3, 200, 6, 3) and run["contradictions"] == [],
       "evaluations that failed have no score", run["table"])
    one = {"compiled": True, "correctness": True, "runtime": 2.0,
           "ref_runtime": 3.0}
    bench = {"1": {"0": one, "1": {**one, "runtime": 1.0}},
             "2": [{**one, "correctness": False, "runtime": 0.1}]}
    # As the program writes it: a list of samples, and -1 for no time.
    own = {"sample_id": 0, "compiled": True, "correctness": True, "metadata": {
        "hardware": "NVIDIA H100", "device": "cuda:0"}, "runtime_stats": {}}
    run, best, gain = loop("KernelBench-untimed", {"eval_results.json": json.dumps(
        {"1": [{**own, "runtime": -1.0}, {**own, "sample_id": 1, "runtime": 1.5},
               {**own, "sample_id": 2, "runtime": -1.0, "correctness": False}]})})
    ok((best, run["table"]["crashed"], run["table"]["discarded"],
        run["score_key"]) == (1.5, 1, 1, "runtime_ms") and "not timed" in
       run["iterations"][0]["note"],
       "a correct kernel without a time has not failed", run)
    run, best, gain = loop("KernelBench", {
        "eval_results.json": json.dumps(bench)})
    ok((best, gain) == (3, 100) and run["higher_is_better"] is True,
       "a wrong result gives no speedup", run["table"])
    deep = '{"3": {"\\ud800\\t": {"compiled": true}}, "4": %s' % ("[" * 9999)
    for text in deep, json.dumps({**bench, "a\tb\n": {"0": {
            **one, "runtime": "1e999", "sample_id": "\ud800\tx"}}}):
        own = os.path.join(folder, "hostile")
        os.makedirs(own, exist_ok=True)
        with open(own + "/eval_results.json", "w", encoding="utf-8") as out:
            out.write(text)
        done = told("harness", "--json", own)
        ok(done.returncode == 5 or
           json.loads(done.stdout)["table"]["crashed"] == 2,
           "hostile results give no gain", done)
    text = "benchmark.0.mean: %s\nbenchmark.1.mean: %s\ncheck: %s\n"
    run, best, gain = loop("popcorn", {
        "1.txt": text % (400, 100, "pass") + text % (100, 100, "pass"),
        "2.txt": text % (1, 1, "fail")})
    ok((best, gain) == (100, 50) and run["higher_is_better"] is False,
       "the score is the geometric mean, if the check passed", run["table"])
    shown = ("## Benchmarks:\nk: 64\n \u23f1 90.0 \u00b1 0.1 \u00b5s\n\n"
             "## Ranked Benchmark:\nk: 64; seed: 1\n \u23f1 %s\n"
             " \u26a1 9.9 \u00b5s \U0001f40c 11.0 \u00b5s\n\nk: 128\n"
             " \u23f1 0.04 \u00b1 0.001 ms\n")
    run, best, gain = loop("popcorn-cli", {
        "1.txt": shown % "10.0 \u00b1 0.03 \u00b5s",
        "2.txt": "\u274c Testing failed\n" + shown % "1.0 \u00b1 0.03 \u00b5s"})
    ok((round(best), run["table"]["rows"], run["table"]["crashed"]) ==
       (20000, 2, 1), "the ranked times that popcorn-cli shows are read", run["table"])


def test_pod(folder):
    """A table on a pod is read the same, with and without python3."""
    put(folder, table_of(ROWS), "x" * 70000 + "\n" + LOG % "0.992913")
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"schema": "hgym-tui.config/1",
                   "pods": [{"name": "here", "transport": "local"}]}, out)
    here = json.loads(told("harness", "--json", folder).stdout)
    tools = os.path.join(folder, "bin")
    os.mkdir(tools)
    for tool in ("base64 cat cut date find grep head ls nice sh stat tail "
                 "tr").split():
        os.symlink(shutil.which(tool), os.path.join(tools, tool))
    for path in (os.environ["PATH"], tools):
        there = json.loads(subprocess.run(
            [TUI, "--config", config, "harness", "--json", "here:" + folder],
            check=False, capture_output=True, text=True,
            env={**os.environ, "PATH": path}).stdout)
        for run in (here, there):
            run["live"]["silent_s"] = 0
        ok(there == here, "a pod gives the same result", there)


def test_dash(folder):
    """Rows that are edited while the dashboard shows them."""
    put(folder, table_of(ROWS), LOG % "0.992913")
    screen = Program([TUI, folder], 150, 40, home_dirs(folder), folder)
    screen.send("8")
    ok(screen.wait_for("the range of 2 baselines"), "the dashboard starts")
    put(folder, table_of([ROWS[0].replace("0.9979", "1.0979")] + ROWS[1:]),
        LOG % "0.992913")
    ok(screen.wait_for('results.tsv had "a1b2c3d 0.997900') and
       screen.wait_for('now "a1b2c3d 1.097900'),
       "both numbers of an edited row are shown", screen.screen.text())
    screen.send("b")
    ok(screen.wait_for("no checkpoint"), "the run has no arms for a bench")
    screen.send("Q")
    ok(screen.end() == 0, "the dashboard ends")
    screen.close()


def main():
    folder = tempfile.mkdtemp()
    try:
        for test in (test_honest, test_liars, test_forms, test_trend, test_kinds,
                     test_loops, test_pod,
                     test_dash):
            test(os.path.join(folder, test.__name__))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


sys.exit(main())
