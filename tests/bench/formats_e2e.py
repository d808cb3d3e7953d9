#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Logs that only the configuration's rules can read: bench on a local pod, the
dashboard and every other command use these rules."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["HGYM_SRC"], "tests", name)
                for name in ("bench", "screen", "support")]
from run_e2e import TUI, check_faster, run_tests, verdict_of  # noqa: E402
from tap import ok  # noqa: E402
from vt import Program  # noqa: E402

# A trainer that no built-in rule matches; a step takes about MS.
WORKLOAD = """\
awk -v ms="$MS" -v name="${HGYM_JOB##*/}" 'BEGIN {
    for (i = 1; i <= length(name); i++)
        seed = (seed * 31 + index("0123456789_.pAB", substr(name, i, 1))) % 97
    ms *= 1 + seed / 97 / 500
    print "seedling <42>"
    for (i = 5; i <= 100; i += 5)
        printf "brr %d of 100; lossy %.4f; spent %.1f\\n", i, 9 / i, i * ms
}'
"""
RULES = [
    {"name": "seed", "kind": "setting", "match": "^seedling <(?<seed>\\d+)>$"},
    {"name": "row", "kind": "train",
     "match": "^brr (?<step>\\d+) of (?<planned>\\d+); "
              "lossy (?<train_loss>[\\d.]+); spent (?<train_ms>[\\d.]+)$"}]


def put(rig, name, value):
    path = os.path.join(rig.dir, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        stream.write(value if isinstance(value, str) else json.dumps(value))
    return path


def configure(rig, **keys):
    put(rig, "config/hgym-tui/config.json",
        dict({"schema": "hgym-tui.config/1"}, **keys))


def with_rules(rig, **keys):
    put(rig, "config/hgym-tui/formats.d/brr.json",
        {"schema": "hgym-tui.format/1", "name": "brr", "rules": RULES})
    configure(rig, formats=["formats.d/brr.json"], **keys)


def write_logs(rig):
    """A control and a faster variant, three blocks each."""
    return {tag: [put(rig, "logs/%s%d.log" % (tag, block), "".join(
        ["seedling <42>\n"] +
        ["brr %d of 100; lossy %.4f; spent %.1f\n" %
         (i, 9 / i, i * (ms + block / 10)) for i in range(5, 101, 5)]))
        for block in range(3)] for tag, ms in (("A", 20), ("B", 19))}


def screen(rig, *words, want, keys=""):
    """The screen of a dashboard, once it contains all wanted texts."""
    p = Program([TUI, *words], env=rig.env, cwd=rig.dir, width=110, height=40)
    p.wait_for("Fleet")
    p.send(keys)
    ok(p.wait_for(want), "the screen contains " + ", ".join(want),
       p.screen.text())
    text = p.screen.text()
    p.send("Q")
    p.end()
    p.close()
    return text


def bench(rig):
    """bench run, show, list, and the Bench view."""
    with_rules(rig)
    put(rig, "work/mine.sh", WORKLOAD)
    path = rig.bench("brr", [rig.pod("p1")], {"env": {"MS": "1900"}},
                     workload={"command": "sh mine.sh",
                               "env": {"MS": "2000"}})
    done = rig.tui("bench", "run", "--yes", "--json", path)
    check_faster(verdict_of(done), "bench run with rules of the "
                                   "configuration: FASTER")
    done = rig.tui("bench", "show", "brr")
    ok(b"FASTER by" in done.stdout, "bench show has the same verdict",
       done.stdout.decode())
    done = rig.tui("bench", "attach", "--json", "brr")
    check_faster(verdict_of(done), "bench attach: FASTER")
    text = screen(rig, keys="6", want=("FASTER by", "brr"))
    ok("INVALID" not in text and "exit" not in text,
       "the Bench view shows no invalid run", text)
    rig.clean("brr")


def judged(rig):
    """bench judge, with rules of the configuration and of --format."""
    logs = write_logs(rig)
    words = ["bench", "judge", "--json", "--control", *logs["A"], "--variant",
             "B=" + logs["B"][0], *logs["B"][1:]]
    done = rig.tui(*words)
    ok(done.returncode == 5, "no built-in rule matches these logs",
       (done.returncode, done.stdout))
    with_rules(rig)
    found = verdict_of(rig.tui(*words))
    check_faster(found, "bench judge: FASTER")
    configure(rig)
    rules = os.path.join(rig.dir, "config/hgym-tui/formats.d/brr.json")
    found = verdict_of(rig.tui(*words, "--format", rules))
    check_faster(found, "bench judge --format: FASTER")


def series(rig):
    """export --what samples and board, with and without --format."""
    logs = write_logs(rig)["A"]
    words = ["export", "--what", "samples", "--csv", logs[0]]
    ok(b"train_loss" not in rig.tui(*words).stdout,
       "no built-in rule matches these samples")
    with_rules(rig)
    lines = rig.tui(*words).stdout.decode().splitlines()
    ok(len([line for line in lines if ",train_loss," in line]) == 20,
       "export has twenty samples", lines[:3])
    done = rig.tui("board", "--json", "--score", "final_val_loss", *logs)
    ok(done.stdout.count(b'"steps":100') == 3, "board has three runs",
       done.stdout)
    # A rule of --format comes before rules of the configuration.
    other = json.loads(json.dumps(RULES))
    other[1]["match"] = (other[1]["match"].replace("train_loss", "x")
                         .replace("train_ms", "train_loss")
                         .replace("<x>", "<train_ms>"))
    path = put(rig, "other.json", {"schema": "hgym-tui.format/1",
                                   "name": "other", "rules": other})
    done = rig.tui(*words, "--format", path)
    ok(b",train_loss,2000," in done.stdout and
       b",train_loss,0.09," not in done.stdout,
       "export: --format comes before the configuration", done.stdout[:200])
    done = rig.tui("board", "--json", "--format", path, *logs)
    ok(b'"last_train_loss":2000' in done.stdout, "board: --format comes "
                                                 "before the configuration", done.stdout)


def listed(rig):
    """formats list, show and check include the configuration's sets."""
    log = write_logs(rig)["A"][0]
    with_rules(rig)
    rows = [json.loads(line) for line in
            rig.tui("formats", "list", "--json").stdout.splitlines()]
    mine = [row for row in rows if row["name"] == "brr"]
    ok(mine and mine[0]["from"] == "user" and mine[0]["rules"] == 2,
       "formats list names the set and its file", rows)
    done = rig.tui("formats", "show", "brr", "--json")
    ok(done.stdout.count(b'"format":"brr"') == 2, "formats show prints its "
                                                  "rules",
       (done.stdout, done.stderr))
    done = rig.tui("formats", "check", "brr", log, "--json")
    ok(b'"lines":20' in done.stdout and b"no rule matched" not in done.stderr,
       "formats check uses its rules", (done.stdout, done.stderr))


def tracks(rig):
    """A track of the user, for board and for the dashboard."""
    log = put(rig, "runs/a.log",
              "seed:1\nstep:9/9 train_loss:3.0 train_time:90ms "
              "step_avg:10.00ms\nstep:9/9 val_loss:3.0 val_bpb:1.2 "
              "train_time:90ms step_avg:10.00ms\n"
              "final_int8_zlib_roundtrip val_loss:3.1 val_bpb:1.21 "
              "eval_time:225ms\nTotal submission size int8+zlib: 999 bytes\n")
    put(rig, "config/hgym-tui/t/mine.json",
        {"schema": "hgym-tui.track/1", "name": "my-track",
         "caps": {"artifact_bytes": 777}})
    configure(rig, track="my-track", tracks=["t/mine.json"])
    done = rig.tui("board", "--baseline", "none", "--values", "a=1.1,1.2")
    ok(b"my-track" in done.stdout, "board ranks the user's track",
       (done.stdout, done.stderr))
    screen(rig, log, keys="3", want=("my-track",))
    configure(rig, track="no-such")
    done = rig.tui(log)
    ok(done.returncode == 2 and b'unknown track "no-such"' in done.stderr and
       done.stderr.count(b"\n") == 1,
       "an unknown track: one sentence, exit status 2",
       (done.returncode, done.stderr))


def broken(rig):
    """A configuration that cannot be read, and commands that do not need
    it."""
    log = put(rig, "step.log", "step:1/2 train_loss:3.0 train_time:10ms "
                               "step_avg:10.00ms\n")
    for what, text in (("a broken file", "{\n"),
                       ("a rule file that does not exist",
                        '{"formats": ["none.json"]}'),
                       ("rules that are wrong", '{"formats": ["bad.json"]}')):
        put(rig, "config/hgym-tui/bad.json",
            '{"schema": "hgym-tui.format/1", "name": "b", "rules": [\n'
            '{"name": "x", "kind": "train", "match": "(("}]}')
        put(rig, "config/hgym-tui/config.json", text)
        for words in (["bench", "run", log], ["board"], ["bench", "judge",
                       "--control", log, "--variant", "B=" + log],
                      ["formats", "list"], ["collect"], [log], []):
            done = rig.tui(*words)
            ok(done.returncode == 2 and done.stderr.count(b"\n") == 1 and
               done.stderr.startswith(b"hgym-tui: /") and not done.stdout,
               "%s: %s reports it in one sentence, exit status 2" %
               (what, " ".join(words) if words != [log] else "LOG"),
               (done.returncode, done.stdout, done.stderr))
        # Commands that need no rules work although the rules are wrong.
        ok(rig.tui("parse", log).returncode == 0,
           "%s: parse works" % what)
        done = rig.tui("doctor", "--json")
        ok(done.returncode == 3 and b'"area":"config","state":"fail"' in
           done.stdout, "%s: doctor reports it" % what, done.stdout)


if __name__ == "__main__":
    sys.exit(run_tests((bench, judged, series, listed, tracks, broken)))
