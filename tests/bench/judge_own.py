#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench judge on generated logs whose true difference is known."""
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, note, ok  # noqa: E402


def write(folder, name, text):
    with open(os.path.join(folder, name), "w") as stream:
        stream.write(text)
    return stream.name


def training(folder, name, step_ms, losses=None, seed=42, last=100, val=3.2,
             extra=None):
    """A log with one row per five steps. losses replaces some of them; extra
    is the number of ms by which a step is longer."""
    lines = ["train_batch_tokens:131072 train_seq_len:1024 iterations:100 "
             "warmup_steps:5 max_wallclock_seconds:600.000",
             "world_size:1 grad_accum_steps:8", "seed:%d" % seed]
    ms = 0.0
    for step in range(1, last + 1):
        ms += step_ms + (extra(step) if extra else 0)
        if step > 10 and step % 5:
            continue
        loss = (losses or {}).get(step, "%.4f" % (9.0 / math.sqrt(step)))
        lines.append("step:%d/100 train_loss:%s train_time:%.0fms "
                     "step_avg:%.2fms" % (step, loss, ms, ms / step))
    if last == 100 and val is not None:
        lines.append("step:100/100 val_loss:%.4f val_bpb:2.0170 "
                     "train_time:%.0fms step_avg:%.2fms"
                     % (val, ms, ms / 100))
        lines.append("peak memory allocated: 3205 MiB reserved: 3300 MiB")
        lines.append("final_int8_zlib_roundtrip val_loss:3.2035 "
                     "val_bpb:2.0157 eval_time:225ms")
    return write(folder, name, "\n".join(lines) + "\n")


def run(*words):
    return subprocess.run([TUI, "bench", "judge", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def verdict(control, variants, *more):
    words = ["--json", *more, "--control", *control]
    for tag, logs in variants.items():
        words += ["--variant", "%s=%s" % (tag, logs[0]), *logs[1:]]
    done = run(*words)
    if done.returncode != 0:
        ok(False, "logs are judged", done.stderr)
        return {}
    return {c["variant"]: c for c in json.loads(done.stdout)["contrasts"]}


def arms(folder, name, factor, n=6, noise=0.002, **more):
    rng = random.Random(name)
    return [training(folder, "%s%d.log" % (name, i),
                     1000.0 * factor * math.exp(rng.gauss(0, noise)), **more)
            for i in range(n)]


def words(folder):
    control = arms(folder, "control", 1.0)
    found = verdict(control, {
        "fast": arms(folder, "fast", 0.97), "slow": arms(folder, "slow", 1.03),
        "equal": arms(folder, "equal", 1.0, noise=0.001)},
        "--margin", "0.6")
    ok(found["fast"]["verdict"] == "FASTER", "3 % faster: FASTER", found["fast"])
    ok(found["fast"]["ci_pct"][0] < 3.09 < found["fast"]["ci_pct"][1],
       "the interval contains the true difference", found["fast"]["ci_pct"])
    ok(found["fast"]["p_holm"] >= found["fast"]["p"],
       "three variants: Holm's correction raises p")
    ok(found["slow"]["verdict"] == "SLOWER", "3 % slower: SLOWER", found["slow"])
    ok(found["equal"]["verdict"] in ("SAME", "NO DIFFERENCE SHOWN"),
       "no difference: SAME or NO DIFFERENCE SHOWN", found["equal"])
    noisy = verdict(arms(folder, "n1", 1.0, 4, 0.05),
                    {"b": arms(folder, "n2", 1.0, 4, 0.05)})
    ok(noisy["b"]["verdict"] == "NO DIFFERENCE SHOWN",
       "too much noise: not significant", noisy["b"])
    two = verdict(control[:2], {"b": arms(folder, "two", 0.5, 2)})
    ok(two["b"]["text"] == "NOT JUDGED (2 blocks, need 3)",
       "two blocks are too few, however large the difference", two["b"])


def guards(folder):
    control = arms(folder, "g", 1.0, 3)
    cases = {
        "other work": (dict(losses={3: "4.0000"}), "INVALID (work identity)"),
        "other validation": (dict(val=4.0), "INVALID (work identity)"),
        "NaN": (dict(losses={50: "nan"}), "INVALID (nan)"),
        "a run cut short": (dict(last=60), "INVALID (exit)"),
        "another seed": (dict(seed=7), "INVALID (same work)"),
    }
    for name, (more, want) in cases.items():
        logs = arms(folder, name.replace(" ", "_"), 0.9, 3, **more)
        found = verdict(control, {"b": logs}, "--window", "20:100")["b"]
        ok(found["text"] == want, name + " is " + want, found["text"])
    for i, log in enumerate(arms(folder, "nv", 1.0, 3)):
        lines = [line for line in open(log).read().split("\n")
                 if "/100 val_loss" not in line]
        write(folder, "noval%d.log" % i, "\n".join(lines))
    names = [os.path.join(folder, "noval%d.log" % i) for i in range(3)]
    found = verdict(control, {"b": names})["b"]
    ok("outputs unchecked" in found["suffix"], "no validation loss: quality "
                                               "unchecked",
       found)
    found = verdict(control, {"b": [control[0], control[1], control[2]]})["b"]
    ok(found["text"] == "INVALID (copy)", "the same logs in both arms: INVALID",
       found["text"])


def few_rows(folder, rows):
    """Logs with few rows: none may be INVALID because of its noise."""
    def thin(lines):
        kept, n = [], 0
        for line in lines:
            step = re.match(r"step:(\d+)/100 train", line)
            n += bool(step)
            if not step or (n - 1) % 28 < rows and int(step[1]) != 20:
                kept.append(line)
        return kept

    def logs(name, factor):
        rng = random.Random(name)
        return edited(folder, name, arms(
            folder, name + "_", factor, 6,
            extra=lambda s: 40 * rng.random()), thin)

    variants = {"v%d" % i: logs("few%d_%d" % (rows, i), 0.97)
                for i in range(8)}
    control = logs("few%d" % rows, 1.0)
    words_ = ["--json", "--control", *control]
    for tag, paths in variants.items():
        words_ += ["--variant", "%s=%s" % (tag, paths[0]), *paths[1:]]
    done = json.loads(run(*words_).stdout)
    steps = [int(s) for s in re.findall(r"step:(\d+)/100 train",
                                        open(control[0]).read())]
    ok(done["window_found"] and
       done["window"] == [steps[len(steps) // 4], steps[-1]],
       "%d rows: the window starts after the first quarter" % len(steps),
       (done["window"], steps))
    ok(all(c["verdict"] == "FASTER" for c in done["contrasts"]),
       "every valid variant is judged",
       [c["text"] for c in done["contrasts"]])


def copied_ticks(folder):
    """Copies whose times differ from each other by no more than the clock's
    tick, and honest runs whose logs have equal bytes."""
    def log(name, key, step_ms, tick_ms, noise_ms):
        rng, ms, lines = random.Random(key), 0.0, ["seed:42"]
        for step in range(1, 301):
            ms += step_ms + rng.gauss(0, noise_ms)
            lines.append("step:%d/300 train_loss:%.4f train_time:%dms step_avg:%.2fms"
                         % (step, 9 / math.sqrt(step), ms // tick_ms * tick_ms,
                            ms // tick_ms * tick_ms / step))
        return write(folder, name, "\n".join(lines) + "\n")

    def logs(name, keys, step_ms, tick_ms, noise_ms):
        return [log("%s%d.log" % (name, i), "%s%s" % (name, key), step_ms, tick_ms,
                    noise_ms) for i, key in enumerate(keys)]

    control = logs("ka", "123", 100, 1, 0.15)
    found = verdict(control, {"b": logs("kb", "123", 99, 1, 0.15)})["b"]
    ok(found["verdict"] == "FASTER" and not any(
        g["guard"] == "copy" for g in found["guards"]),
       "honest runs whose steps vary by less than a tick are judged", found)
    copies = logs("kc", "111", 99, 1, 0.15)
    found = verdict(control, {"b": copies})["b"]
    ok(found["text"] == "INVALID (copy)",
       "copies of a log whose steps vary by less than a tick: INVALID", found)
    for n, link in enumerate((os.symlink, os.link)):
        names = [os.path.join(folder, "kd%d%d.log" % (n, i)) for i in range(3)]
        one = logs("ke%d" % n, "1", 25, 10, 0)[0]
        for name in names:
            link(one, name)
        found = verdict(control, {"b": names})["b"]
        ok(found["text"] == "INVALID (copy)", "one file under three names: INVALID", found)
    found = verdict(logs("kf", "123", 25.0005, 10, 1e-4),
                    {"b": logs("kg", "123", 25.0005, 10, 1e-4)})["b"]
    ok(found["verdict"] != "INVALID" and
       any(g["guard"] == "copy" and not g["hard"] for g in found["guards"]),
       "equal logs of steady runs with a coarse clock: a warning", found)


def windows(folder):
    control = arms(folder, "w", 1.0, 3)
    other = arms(folder, "x", 0.95, 3)
    done = run("--all", "--window", "20:95", "--control", *control, "--variant",
               "b=" + other[0], *other[1:])
    ok(b"steps 20..95" in done.stdout, "--window FIRST:LAST sets the window", done.stdout)
    done = run("--all", "--window", "auto", "--control", *control, "--variant",
               "b=" + other[0], *other[1:])
    ok(b"window found" in done.stdout and b"FASTER" in done.stdout,
       "--window auto finds a window", done.stdout)
    ok(b"after the first quarter; according to MSER " in
       b" ".join(done.stdout.split()),
       "--window auto: the report has its rule and the result of MSER", done.stdout)
    for rows in (15, 28):
        few_rows(folder, rows)
    found = verdict(control, {"b": other}, "--window", "20:99")["b"]
    ok(found["text"] == "NOT JUDGED (the control has no value: no training row "
       "at step 99)", "a window that ends at a step without a row: NOT JUDGED", found["text"])
    short = arms(folder, "short", 1.0, last=95)
    found = verdict(control, {"b": short}, "--window", "20:100")["b"]
    ok(found["verdict"] == "INVALID",
       "a window that the variant does not reach: INVALID", found["text"])


def by_intervals(folder, control, variant):
    """The change in percent by the medians of the intervals, and by the mean."""
    def intervals(log):
        rows = [(int(m[1]), int(m[2])) for m in re.finditer(
            r"step:(\d+)/\d+ train_loss:\S+ train_time:(\d+)ms",
            open(log).read())]
        rows = [row for row in rows if 20 <= row[0] <= 100]
        return [(b[1] - a[1]) / (b[0] - a[0])
                for a, b in zip(rows, rows[1:])]

    away, whole = [], []
    for a, b in zip(control, variant):
        a, b = intervals(a), intervals(b)
        median = statistics.median(math.log(y / x) for x, y in zip(a, b))
        whole.append(math.log(sum(a) / sum(b)))
        away.append(whole[-1] + median)
    n = len(away)
    return (100 * math.expm1(sum(whole) / n - sum(away) / n),
            100 * math.expm1(sum(whole) / n))


def unsteady(folder):
    """Runs whose mean depends on a few steps must not reverse the sign."""
    control = arms(folder, "uc", 1.0)

    def judged(name, factor, extra, base=control):
        logs = arms(folder, name, factor, extra=extra)
        found = verdict(base, {"b": logs}, "--window", "20:100")["b"]
        robust, mean = by_intervals(folder, base, logs)
        ok(abs(found["by_intervals_pct"] - robust) < 1e-6 and
           abs(found["pct"] - mean) < 1e-6, "both differences equal those "
                                            "computed by Python", (found["by_intervals_pct"], robust, found["pct"], mean))
        return found, robust, mean

    cases = {
        "a warm-up until step 30": (lambda s: 2100 if s <= 25 else 0, 20, 25),
        "a stop at step 53": (lambda s: 4500 if s == 53 else 0, 50, 55)}
    for name, (extra, lo, hi) in cases.items():
        found, robust, mean = judged("u" + name[2:6].strip(), 0.98, extra)
        ok(robust > 1.5 and mean < -2,
           name + ": the mean shows slower although steps are 2 % faster", (robust, mean))
        ok(re.match(r"NOT JUDGED \(not steady: steps %d to %d took "
                    r"[123].\dx as long\)$" % (lo, hi), found["text"]) and
           "not steady" in found["suffix"], name + " is not judged",
           found["text"])
        ok([g for g in found["guards"] if g["guard"] == "not steady" and
            "%+.2f%% by the mean, %+.2f%% by the median of the intervals" %
            (mean, robust) in g["text"]], "both numbers are shown", found["guards"])
    # A worse case: the pause is at another step in each run.
    places = iter((31, 44, 57, 68, 83, 97))
    logs = [arms(folder, "ul%d" % i, 0.98, 1, extra=lambda s, at=at:
                 4500 if s == at else 0)[0] for i, at in enumerate(places)]
    found = verdict(control, {"b": logs}, "--window", "20:100")["b"]
    ok(found["text"].startswith("NOT JUDGED (not steady: steps "),
       "pauses at different steps are not judged", found["text"])
    # A control that pauses makes its variants look fast.
    stops = arms(folder, "us", 1.0, extra=lambda s: 3000 if s == 44 else 0)
    found, _, _ = judged("uf", 1.0, None, stops)
    ok(found["text"].startswith("NOT JUDGED (not steady: steps 40 to 45 took "
                                "1.") and
       "took the control" in str(found["guards"]),
       "a control that pauses is not judged", found)
    # An honest case: faster at all steps.
    found, _, _ = judged("uh", 0.98, lambda s: 300 if s % 20 == 0 else 0,
                         arms(folder, "ui", 1.0, extra=lambda s:
                              306 if s % 20 == 0 else 0))
    ok(found["verdict"] == "FASTER" and "not steady" not in found["suffix"],
       "the same pauses in both arms are accepted", found["text"])
    # An honest case: a checkpoint, which takes both arms the same time.
    found, robust, mean = judged(
        "up", 0.9, lambda s: 9000 if s % 30 == 0 else 0,
        arms(folder, "uq", 1.0, extra=lambda s: 9000 if s % 30 == 0 else 0))
    ok(found["verdict"] == "FASTER" and mean < robust - 0.5,
       "the same pause in both arms is accepted, although it makes the gain a "
       "smaller share",
       (found["text"], robust, mean))
    rng = random.Random(5)
    noisy = {"n%d" % i: arms(folder, "un%d_" % i, 1.0, extra=lambda s:
                             30 * rng.expovariate(1))
             for i in range(20)}
    found = verdict(arms(folder, "un", 1.0, extra=lambda s:
                         30 * rng.expovariate(1)), noisy)
    ok(sum("not steady" in c["text"] for c in found.values()) <= 3,
       "noise of single steps is accepted", [c["text"] for c in found.values()])


def ticks_of(logs):
    """Ticks of the logs' clock in the shortest window."""
    runs = [[(int(m[1]), int(m[2])) for m in re.finditer(
        r"step:(\d+)/\d+ train_loss:\S+ train_time:(\d+)ms",
        open(log).read())] for log in logs]
    unit = math.gcd(*[b[1] - a[1] for rows in runs
                      for a, b in zip(rows, rows[1:])])
    return min(dict(rows)[100] - dict(rows)[20] for rows in runs) / unit


def clocks(folder):
    """Clocks that are too coarse for what they measure."""
    def swap(i):
        return lambda s: {33: i + 1, 43: -i - 1}.get(s, 0)

    control = arms(folder, "tc", 0.002, noise=0.05)
    fast = arms(folder, "tf", 0.00198, noise=0.05)
    found = verdict(control, {"b": fast}, "--window", "20:100")["b"]
    ticks = min(ticks_of(control), ticks_of(fast))
    lo, hi = found["ci_pct"]
    ok(found["verdict"] == "NO DIFFERENCE SHOWN" and 130 < ticks < 190 and
       lo < -200 / ticks and hi > 200 / ticks and
       "rounds the window to %.0f ticks" % ticks in str(found["guards"]),
       "an interval includes two of the few ticks of its window", found)
    done = run("--json", "--window", "20:100", "--control", *control,
               "--variant", "b=" + fast[0], *fast[1:])
    ok([round(a["clock_ticks"]) for a in json.loads(done.stdout)["arms"]] ==
       [ticks_of(control), ticks_of(fast)], "the number of ticks equals that "
                                            "computed by Python",
       done.stdout)
    def coarse(name, factor):
        """Logs of a clock with ticks of 10 ms that prints ms, starting at
        3."""
        def tens(line):
            m = re.match(r"(step:(\d+)/.* train_time:)(\d+)ms", line)
            ms = int(m[3]) // 10 * 10 + 3 if m else 0
            return "%s%dms step_avg:%.2fms" % (m[1], ms, ms / int(m[2])) \
                if m else line
        return edited(folder, name, arms(folder, name + "_", factor),
                      lambda lines: [tens(line) for line in lines])

    found = verdict(coarse("td", 0.02), {"b": coarse("te", 0.0198)},
                    "--window", "20:100")["b"]
    ok(re.match("NOT JUDGED .coarse clock: the window is 1[56]. ticks ", found["text"]),
       "a clock that prints ms but ticks in 10 ms is detected", found["text"])
    control = coarse("tg", 0.02)
    same = verdict(control, {"b": coarse("th", 0.02)}, "--window", "20:100")["b"]
    ok(same["verdict"] == "NO DIFFERENCE SHOWN" and abs(same["pct"]) < 0.2 and
       1.2 < same["ci_pct"][1] < 2 and same["blocks_to_margin"] is None,
       "equal arms by a coarse clock: no difference larger than its rounding", same)
    found = verdict(control, {"b": coarse("ti", 0.019)}, "--window", "20:100")["b"]
    lo, hi = found["ci_pct"]
    ok(found["verdict"] == "FASTER" and lo < 5.26 < hi and hi - lo > 2.4,
       "a difference far above the rounding of a coarse clock is FASTER", found)
    found = verdict(
        [arms(folder, "ta%d" % i, 1.0, 1, 0, extra=swap(i))[0]
         for i in range(6)],
        {"b": [arms(folder, "tb%d" % i, 0.99, 1, 0, extra=swap(i))[0]
               for i in range(6)]}, "--window", "20:100")["b"]
    ok(found["text"] == "NOT JUDGED (no spread: all blocks show the same "
       "difference)", "a spread of zero is not accepted", found["text"])
    # A worse case: one run of six is a tick off, so the spread is not zero.
    found = verdict(
        [arms(folder, "ty%d" % i, 0.01250, 1, 0, extra=swap(i))[0]
         for i in range(6)],
        {"b": [arms(folder, "tz%d" % i, 0.01249 - (i == 5) * 12e-6, 1, 0,
                    extra=swap(i))[0] for i in range(6)]},
        "--window", "20:100")["b"]
    ok(found["p"] < 0.05 and 0 < found["sd_d"] and found["text"] ==
       "NOT JUDGED (coarse clock: the difference is below two ticks of the log's clock)",
       "a difference of one tick is not accepted", found)


def scores(folder):
    def score(name, value, **more):
        body = {"best_us": value, "status": "passed", "mode": "final"}
        body.update(more)
        return write(folder, name, json.dumps(body))

    control = [score("a%d" % i, 100 + i) for i in range(3)]
    better = [score("b%d" % i, 90 + i) for i in range(3)]
    found = verdict(control, {"b": better})["b"]
    ok(found["verdict"] == "FASTER", "a lower score is FASTER", found)
    found = verdict(control, {"b": better}, "--higher")["b"]
    ok(found["verdict"] == "SLOWER", "a higher score is FASTER if higher is "
                                     "better", found)
    lonely = run("--control", *control, score("a3", 103), "--variant",
                 "b=" + better[0], *better[1:])
    ok(b"block 4: control: no other arm has a run in this block" in
       b" ".join(lonely.stdout.split()), "a log without a partner is reported", lonely.stdout)
    bad = [score("c0", float("inf"), status="failed"), better[1], better[2]]
    found = verdict(control, {"b": bad})["b"]
    ok(found["text"] == "INVALID (exit)", "a score of Infinity: INVALID", found)
    other = [score("d%d" % i, 50, mode="dev") for i in range(3)]
    found = verdict(control, {"b": other})["b"]
    ok(found["text"] == "INVALID (same work)", "runs in different modes: INVALID", found)
    more = [score("f%d" % i, 100 + i, median_us=101 + i) for i in range(3)]
    odd = [score("o%d" % i, 95 + i, median_us=110 + i) for i in range(3)]
    found = verdict(more, {"b": odd})["b"]
    ok([g for g in found["guards"] if g["guard"] == "metrics disagree" and
        not g["hard"] and g["text"] ==
        "+5.21% by best_us, -8.11% by median_us"],
       "two metrics of the same runs that disagree: a warning", found["guards"])
    found = verdict(more, {"b": [score("r%d" % i, 90, repeats=500)
                                 for i in range(3)]})["b"]
    ok(found["text"] == "INVALID (same work)" and
       '"repeats"' in str(found["guards"]),
       "more repeats, which give a smaller minimum: INVALID", found)
    huge = verdict(control, {"b": [score("u%d" % i, 1e300)
                                   for i in range(3)]})["b"]
    ok(huge["text"] == "INVALID (parse)" and
       "1e+300: not a possible measurement" in str(huge["guards"]),
       "a time of 1e300: INVALID", huge)
    for i in range(3):
        text = json.dumps({"best_us": 90 + i, "mode": "final"})
        write(folder, "t%d" % i, text[:-1] + ', "best_us": 80}\n')
        write(folder, "p%d" % i, text + "\n" + text.replace("9", "8"))
    for name, why in (("t", 'duplicate key "best_us"'),
                      ("p", "two JSON objects with")):
        logs = [os.path.join(folder, "%s%d" % (name, i)) for i in range(3)]
        found = verdict(control, {"b": logs})["b"]
        ok(found["text"] == "INVALID (parse)" and
           why in found["guards"][0]["text"], why, found)
    evil = [score("e%d" % i, 90, status="\033]0;x\007") for i in range(3)]
    done = run("--control", *control, "--variant", "b=" + evil[0], *evil[1:])
    ok(b"\033" not in done.stdout, "escape sequences of a log do not reach "
                                   "the terminal")


def edited(folder, name, logs, edit):
    """Copies of logs with each line changed by edit."""
    return [write(folder, "%s%d.log" % (name, i), "\n".join(
        edit(open(log).read().rstrip("\n").split("\n"))) + "\n")
        for i, log in enumerate(logs)]


def faster_clock(lines):
    """train_time is 0.9 of its true value, step_avg is correct."""
    return [re.sub(r"train_time:(\d+)ms", lambda m: "train_time:%dms" % (
        int(m.group(1)) * 0.9), line) for line in lines]


def hostile(folder):
    """Logs that were edited to look faster than they are."""
    control = arms(folder, "h", 1.0, 3)
    fast = arms(folder, "hf", 0.95, 3)

    def of(name, edit, logs=fast):
        return verdict(control, {"b": edited(folder, name, logs, edit)})["b"]

    def said(found, guard, words_):
        return [g for g in found["guards"] if g["guard"] == guard and
                words_ in g["text"]]

    found = of("clock", faster_clock, control)
    ok(found["text"] == "INVALID (parse)" and
       said(found, "parse", "step_avg and train_time disagree"),
       "train_time and step_avg that disagree: INVALID", found)
    found = verdict(control, {"b": edited(
        folder, "copy", [fast[0]] * 3,
        lambda lines: lines + ["made %d" % len(os.listdir(folder))])})["b"]
    ok(found["text"] == "INVALID (copy)",
       "a copied log with small changes: INVALID", found)
    copied_ticks(folder)
    found = of("resume", lambda lines: [
        line for line in lines
        if not re.match("step:([1-9]|10)/100 train", line)])
    ok("outputs unchecked" in found["suffix"] and
       said(found, "outputs unchecked", "steps 1 to 5"),
       "a log whose rows start after step 5: a warning", found)
    found = of("twice", lambda lines: lines + lines)
    ok(said(found, "restarted", "contains 2 runs"),
       "two runs in one log of the variant: a warning", found)
    twice = edited(folder, "c2", control, lambda lines: lines + lines)
    found = verdict(twice, {"b": fast})["b"]
    ok(said(found, "restarted", "the control: its log contains 2 runs"),
       "two runs in one log of the control: a warning", found)
    heads = edited(folder, "ch", control, lambda lines: ["num_heads:8"] +
                   lines)
    found = verdict(heads, {"b": edited(
        folder, "vh", fast, lambda lines: ["num_heads:8", "num_heads:4"] +
        lines)})["b"]
    ok(said(found, "settings", "num_heads with several values"),
       "a setting that a log prints with two values: a warning", found)
    found = of("seedless", lambda lines: [
        line for line in lines if not line.startswith("seed:")])
    ok(found["text"] == "INVALID (same work)" and
       said(found, "same work", "seed is not printed, the control's is 42"),
       "a log without its seed: INVALID", found)
    found = of("back", lambda lines: [
        re.sub(r"train_time:\d+ms", "train_time:9ms", line)
        if line.startswith("step:50/") else line for line in lines])
    ok(found["text"] == "INVALID (parse)", "a time that decreases: INVALID", found)
    found = of("val", lambda lines: [
        re.sub(r" val_loss:\S+", " val_loss:nan", line) for line in lines])
    ok(found["text"] == "INVALID (nan)", "NaN in val_loss only: INVALID", found)


def validations(folder):
    """A validation loss counts at the same step, after the window."""
    control = arms(folder, "vc", 1.0, 3)
    fast = arms(folder, "vf", 0.95, 3)

    def at(step):
        """The validation loss of the end, printed as if it were of that
        step."""
        def edit(lines):
            last = [i for i, line in enumerate(lines)
                    if line.startswith("step:100/100 val_loss")][0]
            val = re.sub("step:100/", "step:%d/" % step, lines.pop(last))
            row = 3 if step == 0 else [
                i for i, line in enumerate(lines)
                if line.startswith("step:%d/" % step)][0] + 1
            if step == 0:
                val = re.sub(" train_time:.*", " train_time:0ms", val)
            return lines[:row] + [val] + lines[row:]
        return edit

    for name, edits, why in (
            ("step 0", (at(0), at(0)), "at step 0, but the window ends at "
             "step 100"),
            ("the window's middle", (at(50), at(50)), "at step 50, but "
             "the window ends at step 100"),
            ("another step", (None, at(50)), "at step 50, the "
             "control's at step 100")):
        a, b = (edited(folder, name[:5] + str(i), logs, edit)
                if edit else logs for i, (logs, edit) in
                enumerate(zip((control, fast), edits)))
        found = verdict(a, {"b": b}, "--window", "20:100")["b"]
        ok("outputs unchecked" in found["suffix"] and
           [g for g in found["guards"] if g["guard"] == "outputs unchecked"
            and why in g["text"]],
           "a validation of %s is not used" % name, found)
    found = verdict(control, {"b": fast}, "--window", "20:100")["b"]
    ok("outputs unchecked" not in found["suffix"], "the validation of the end "
                                                   "is used",
       found)
    bad = edited(folder, "vbad", fast, lambda lines: [
        line.replace("val_loss:3.2000", "val_loss:3.3000")
        for line in at(50)(lines)])
    found = verdict(edited(folder, "vmid", control, at(50)), {"b": bad},
                    "--window", "20:100")["b"]
    ok(found["text"] == "INVALID (work identity)",
       "a validation in the middle that differs is reported", found["text"])


def with_vals(folder, name, logs, vals):
    """The logs with these last validation losses."""
    return [edited(folder, "%s%d_" % (name, i), [log], lambda lines: [
        re.sub("(/100 val_loss):[^ ]+", r"\1:%.4f" % val, line)
        for line in lines])[0] for i, (log, val) in
        enumerate(zip(logs, vals))]


def quality(folder):
    """Losses that are worse in all blocks, each within its tolerance."""
    rng = random.Random(7)
    control = arms(folder, "qc", 1.0)
    fast = arms(folder, "qf", 0.978)

    def judged(name, base, vals, *more):
        logs = with_vals(folder, name, fast, vals)
        return verdict(base, {"b": logs}, *more)["b"]

    found = judged("q1", control, [3.217] * 6)
    ok(found["verdict"] == "FASTER but WORSE" and found["text"].startswith(
        "FASTER but WORSE by 0.0170 nats: 2.") and found["quality"]["worse"],
       "a validation loss that is 0.017 worse in each block: WORSE", found["text"])
    a = [round(3.2 + rng.gauss(0, 0.002), 4) for _ in range(6)]
    b = [round(3.212 + rng.gauss(0, 0.002), 4) for _ in range(6)]
    noisy = with_vals(folder, "q2c", control, a)
    found = judged("q2", noisy, b)
    d = [y - x for x, y in zip(a, b)]
    half = 2.570581835636314 * statistics.stdev(d) / math.sqrt(6)
    q = found["quality"]
    ok(found["verdict"] == "FASTER but WORSE" and q["of"] == "val_loss" and
       q["n_pairs"] == 6 and abs(q["nats"] - statistics.mean(d)) < 1e-9 and
       abs(q["ci_nats"][0] - (q["nats"] - half)) < 1e-9 and
       abs(q["ci_nats"][1] - (q["nats"] + half)) < 1e-9,
       "the loss and its interval equal those computed by Python", (q, half))
    found = judged("q2", noisy, b, "--loss-margin", "0.05")
    ok(found["verdict"] == "FASTER" and found["quality"]["same"],
       "a loss within the tolerated difference is accepted", found["text"])
    logs = with_vals(folder, "q2", fast, b)
    done = run("--all", "--fail-on", "faster-but-worse", "--control", *noisy,
               "--variant", "b=" + logs[0], *logs[1:])
    ok(done.returncode == 3 and b"worse, not within 0.005; smallest "
       in b" ".join(done.stdout.split()),
       "--fail-on faster-but-worse fails, and the report has the smallest "
       "detectable difference",
       done.stdout)
    found = judged("q3", with_vals(folder, "q3c", control, a),
                   [v + rng.gauss(0, 0.001) for v in a])
    ok(found["verdict"] == "FASTER" and found["quality"]["same"],
       "equal losses are accepted", found["quality"])
    # A worse case: the control's own losses have a large spread.
    wild = with_vals(folder, "q4c", control, [2.9, 3.1, 3.2, 3.2, 3.3, 3.5])
    found = judged("q4", wild, [3.2, 3.4, 3.5, 3.5, 3.6, 3.8])
    ok(found["text"] == "INVALID (work identity)",
       "a noisy control does not excuse a loss that is worse by 0.3 nats", found)
    # No validation, and training losses of which only the last agrees.
    bad = {step: "%.4f" % (9.0 / math.sqrt(step) + 0.5)
           for step in range(10, 95, 5)}

    def blind(name, logs):
        return edited(folder, name, logs, lambda lines: [
            line for line in lines if "/100 val_loss" not in line])

    found = verdict(blind("q5c", control), {"b": blind("q5", arms(
        folder, "q5_", 0.978, losses=bad))})["b"]
    ok(found["verdict"] == "FASTER but WORSE" and
       found["quality"]["of"] == "train_loss" and
       "outputs unchecked" in found["suffix"],
       "training losses that get worse towards the end: WORSE", found["text"])
    found = verdict(blind("q5c", control), {"b": blind("q6", fast)})["b"]
    ok(found["verdict"] == "FASTER" and found["quality"]["same"] and
       found["quality"]["nats"] == 0, "equal training losses are accepted", found["text"])


SMI = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI %(driver)s    Driver Version: %(driver)s    CUDA Version: 12.8 |
|   0  %(gpu)s          On  |   00000000:61:00.0 Off |                    0 |
+-----------------------------------------------------------------------------+
"""


def surroundings(folder):
    """Versions, GPU and source that the logs print are compared."""
    control = arms(folder, "sc", 1.0, 3)
    fast = arms(folder, "sf", 0.95, 3)

    def with_head(name, logs, source="", **more):
        told = dict({"torch": "2.9.1+cu128", "python": "3.11.7",
                     "driver": "570.86.10", "gpu": "NVIDIA H100 80GB HBM3"},
                    **more)
        head = ("Running Python %(python)s (main, May 27 2025) [GCC 13]\n"
                "Running PyTorch %(torch)s compiled for CUDA 12.8\n" + SMI
                ) % told
        return edited(folder, name, logs, lambda lines:
                      source.split("\n")[:-1] + head.split("\n") + lines)

    base = with_head("sb", control)
    found = verdict(base, {"b": with_head("s0", fast)})["b"]
    ok(found["verdict"] == "FASTER" and found["suffix"] == [] and
       found["guards"] == [], "equal versions: no warning", found)
    found = verdict(base, {"b": with_head("s1", fast, torch="2.10.0+cu128")}
                    )["b"]
    ok("other environment" in found["suffix"] and [
        g for g in found["guards"] if g["guard"] == "environment" and
        g["text"] == "it ran with torch 2.10.0+cu128, the control with "
        "2.9.1+cu128"], "another version of torch: a warning", found)
    found = verdict(base, {"b": with_head("s2", fast, driver="580.1.1")})["b"]
    ok("other environment" in found["suffix"], "another driver: a warning", found)
    found = verdict(base, {"b": with_head("s3", fast, gpu="NVIDIA H200")})["b"]
    ok(found["text"] == "INVALID (same work)" and
       "it ran with gpu NVIDIA H200, the control with NVIDIA H100 80GB HBM3"
       in str(found["guards"]), "another GPU: INVALID", found)
    # A worse case: the other version is printed after the first row.
    late = edited(folder, "s4", with_head("s4_", fast), lambda lines: lines[
        :-3] + ["Running PyTorch 9.9 compiled", "NVIDIA H200"] + lines[-3:])
    found = verdict(base, {"b": late})["b"]
    ok(found["suffix"] == [], "a version that is printed later is not used", found)
    code = "import os\n" + "".join("x%d = %d\n" % (i, i) for i in range(
        40)) + "=" * 100 + "\n"
    other = code.replace("x7 = 7", "x7 = 77")
    a = with_head("s5", control, code)
    found = verdict(a, {"b": with_head("s6", fast, code)})["b"]
    ok(found["guards"] == [], "one source: no warning", found)
    found = verdict(a, {"b": with_head("s7", fast, other)})["b"]
    ok("the source in its logs has the hash " in str(found["guards"]) and
       found["verdict"] == "FASTER", "another source: a warning", found)
    mixed = with_head("s8", fast[:2], other) + with_head("s9", fast[2:], code)
    found = verdict(a, {"b": mixed})["b"]
    ok(found["text"] == "INVALID (same work)" and
       "the variant's logs contain several sources" in str(found["guards"]),
       "two sources in one arm: INVALID", found)


def again(folder):
    """A/A logs: the noise of the control, and a provisional value of one
    pair."""
    control = arms(folder, "ac", 1.0, 4, 0.001)
    fast = arms(folder, "af", 0.95, 1)

    def judged(aa, *more):
        done = run("--json", "--control", "A=" + control[0], *more, "--aa",
                   *aa, "--variant", "b=" + fast[0])
        text = json.loads(done.stdout)
        return text, {c["variant"]: c for c in text["contrasts"]}

    text, found = judged(control[1:])
    y = [math.log(r["y_ms"]) for r in text["runs"] if r["tag"] != "b"]
    mean = sum(y) / 4
    sd = math.sqrt(sum((v - mean) ** 2 for v in y) / 3)
    ok(abs(text["register"]["sd_pct"] - 100 * sd) < 1e-9 and
       text["register"]["df"] == 3, "the A/A runs give the spread",
       text["register"])
    b = found["b"]
    half = 3.18244630528 * sd * math.sqrt(1.5)
    d = (y[0] + y[1]) / 2 - math.log([r["y_ms"] for r in text["runs"]
                                      if r["tag"] == "b"][0])
    want = "provisional %.2f%% [%.2f, %.2f]" % tuple(
        100 * math.expm1(v) for v in (d, d - half, d + half))
    ok(b["verdict"] == "NOT JUDGED" and want in b["text"],
       "one pair has a provisional value", (b["text"], want))
    ok(found["A~aa"]["aa"] and found["A~aa"]["n_blocks"] == 1 and
       b["p_holm"] is None, "the A/A arm is not a variant", found["A~aa"])
    text, found = judged(control[1:2])
    ok(text["register"] is None and "provisional" not in found["b"]["text"],
       "two runs are too few to estimate noise", text["register"])
    odd = [training(folder, "odd%d.log" % i, 1000.0 + i, seed=7)
           for i in range(3)]
    text, found = judged(odd)
    ok(text["register"] is None and
       found["A~aa"]["text"] == "INVALID (same work)",
       "logs of other work are not an A/A arm", found["A~aa"])
    slow = arms(folder, "as", 1.05, 3, 0.001)
    done = run("--fail-on", "slower", "--control", *control[:3], "--aa",
               *slow)
    ok(done.returncode == 0 and b"(A/A: repeat runs of the control)" in
       done.stdout,
       "an audit of logs names no winner and no loser", done.stdout)


def small(folder):
    """Patterns, a control run with other work, and runs near the median."""
    control = arms(folder, "mc", 1.0, 4, 0.001)
    fast = arms(folder, "mf", 0.95, 4, 0.001)
    plain = verdict(control, {"b": fast})["b"]
    done = run("--json", "--control", "A=" + os.path.join(folder, "mc*.log"),
               "--variant", "b=" + os.path.join(folder, "mf[0-3].log"))
    found = json.loads(done.stdout)["contrasts"][0]
    ok(found["mean_d"] == plain["mean_d"] and found["n_blocks"] == 4 and
       found["control"] == "A", "TAG=PATTERN adds all matching logs", found)
    done = run("--control", *control, "--variant", "b=" + folder + "/no*.log")
    ok(done.returncode == 1 and done.stderr.count(b"\n") == 1 and
       b"no file matches" in done.stderr, "a pattern without a match: one "
                                          "sentence, exit status 1", done.stderr)
    star = arms(folder, "m*", 0.95, 1)[0]
    done = run("--json", "--control", control[0], "--variant", "b=" + star)
    ok(len(json.loads(done.stdout)["runs"]) == 2,
       "a file whose name looks like a pattern is found", done.stderr)
    done = run("--csv", "--control", *control, "--variant", "b=" + fast[0],
               *fast[1:])
    rows = [line.split(",") for line in done.stdout.decode().splitlines()]
    ok(rows[0][0] == "variant" and rows[1][:3] == ["b", "control", "FASTER"],
       "--csv has one row per variant", done.stdout)
    other = edited(folder, "mo", control[:1], lambda lines: [
        line.replace("train_batch_tokens:131072", "train_batch_tokens:65536")
        for line in lines])
    found = verdict(other + control[1:], {"b": fast})["b"]
    ok(found["verdict"] == "FASTER" and found["n_blocks"] == 3,
       "a control run of another batch size: its block is dropped, the "
       "variant is valid",
       found["text"])
    done = run("--control", *other, *control[1:], "--variant", "b=" + fast[0],
               *fast[1:])
    ok(b"control: same work: batch is 65536, the control's is 131072" in
       b" ".join(done.stdout.split()),
       "the report names that control run", done.stdout)
    found = verdict(control, {"b": edited(folder, "mp", fast, lambda lines: [
        line.replace("train_batch_tokens:131072", "train_batch_tokens:65536")
        for line in lines])})["b"]
    ok(found["text"] == "INVALID (same work)",
       "a variant of another batch size is INVALID", found["text"])
    for factor, far in ((0.992, False), (0.97, True)):
        logs = [arms(folder, "mz%d_%d" % (i, far), 1.0 + i * 1e-4, 1, 0,
                     extra=lambda s, i=i: (s == 33) * (i + 1))[0]
                for i in range(5)]
        logs.append(arms(folder, "my%d" % far, factor, 1, 0)[0])
        found = verdict(arms(folder, "mx%d" % far, 1.0, 6, 0.0005),
                        {"b": logs})["b"]
        ok(any(o["tag"] == "b" for o in found["outliers"]) == far,
           "a run at %g of the median is %san outlier" % (
               factor, "" if far else "not "), found["outliers"])


def usage(folder):
    log = training(folder, "u.log", 1000)
    cases = [
        (["--control", log], 2), (["--variant", "b=" + log], 2),
        ([log], 2), (["--control", log, "--variant", log], 2),
        (["--control", log, "--variant", "b=" + log, "--window", "9"], 2),
        (["--control", log, "--variant", "b=" + log, "--metric", "tok_s"], 2),
        (["--control", log, "--variant", "b=" + log, "--margin", "-1"], 2),
        (["--control", log, "--variant", "b=" + log, "--fail-on", "bad"], 2),
        (["--control", log, "--variant", "b=" + folder + "/none"], 1),
        (["--control", log, "--variant", "b=" + folder], 1),
    ]
    for words_, status in cases:
        done = run(*words_)
        ok(done.returncode == status and done.stderr.count(b"\n") == 1 and
           not done.stdout, "exit status %d and one sentence" % status,
           (words_, done.returncode, done.stderr))
    empty = write(folder, "empty", "")
    done = run("--control", empty, "--variant", "b=" + empty)
    ok(done.returncode == 5, "no runs in any log: exit status 5", done.stderr)
    done = run("--md", "--control", log, "--variant", "b=" + log)
    ok(re.search(rb"^### b against control\n\n\*\*INVALID \(copy\)\*\*\n\n"
                 rb"- how sure: neither a difference nor equality is shown\n"
                 rb"- doubts: copy: .*\n- next: .*\n\n"
                 rb"(\|.*\|\n){4}\n"
                 rb"- copy: the log is a byte-for-byte copy of another "
                 rb"run's log\n",
                 done.stdout), "Markdown: verdict, numbers, reasons", done.stdout)


def main():
    for test in (words, guards, windows, unsteady, clocks, scores, hostile,
                 validations, quality, surroundings,
                 again, small, usage):
        note(test.__name__)
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    return finish()


sys.exit(main())
