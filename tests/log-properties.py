#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Properties that `parse` has for every log, checked over the corpora of real
logs: a launcher's prefix changes nothing; a log that is cut claims nothing that
the whole log does not have; failures and end words decide the status."""
import json
import os
import subprocess
import sys
import tempfile

TUI = os.environ["HGYM_TUI"]
SRC = os.environ["HGYM_SRC"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from tap import finish, ok, skip_all  # noqa: E402

SHARED = os.environ.get("HGYM_SHARED", os.path.join(SRC, "..", "shared"))
PREFIXES = [sample for kind in json.load(
    open(os.path.join(SRC, "parsers/formats/prefixes.json")))
            for sample in kind["samples"]] + [
    "2026-11-27T23:55:23.1234567Z ", "2026-11-27 23:55:23,123 ",
    "[2026-11-27 23:55:23] ",
    "12:00:00 ", "1776143914.261 ", "Nov 20 12:00:00 node-3 python3[123]: "]

# What may differ between a log and its copy with prefixes: places and sizes.
PLACES = {"file", "bytes", "lines", "first_line"}


def find_logs():
    logs = []
    for part in ("logs", "nanogpt", "trainers"):
        for folder, _, names in os.walk(os.path.join(SHARED, "corpus", part)):
            logs += [os.path.join(folder, x) for x in names
                     if x not in ("README.md", "truth.json")]
    return sorted(logs)


def parse_many(texts, folder):
    """The runs of each text, as `parse` prints them."""
    runs = [[] for _ in texts]
    for i, text in enumerate(texts):
        with open(os.path.join(folder, "%d.log" % i), "wb") as f:
            f.write(text)
    r = subprocess.run([TUI, "parse", "--json"] + [
        "%d.log" % i for i in range(len(texts))],
                       capture_output=True, cwd=folder)
    for line in r.stdout.decode().splitlines():
        run = json.loads(line)
        runs[int(run["file"].split(".")[0])].append(run)
    return runs


def strip_places(runs):
    return [{k: v for k, v in run.items() if k not in PLACES} for run in runs]


def differences(got, want):
    if len(got) != len(want):
        return "%d runs, not %d" % (len(got), len(want))
    return "; ".join("%s: %.90r, not %.90r" % (k, g.get(k), w.get(k))
                     for g, w in zip(got, want) for k in w if g.get(
                         k) != w.get(k))


def check_prefixes(logs, texts, whole, folder):
    for prefix in PREFIXES:
        head = prefix.encode()
        marked = [b"".join(
            head + line for line in text.splitlines(keepends=True))
                  if b"\r" not in text else
                  b"\n".join(head + line for line in text.split(b"\n"))
                      for text in texts]
        wrong = []
        for log, got, want in zip(logs, parse_many(marked, folder), whole):
            what = differences(strip_places(got), strip_places(want))
            if what:
                wrong.append("%s: %s" % (os.path.relpath(log, SHARED), what))
        ok(not wrong, "the same figures after the prefix \"%s\"" % prefix.strip(),
           "%d of %d logs\n" % (len(wrong), len(logs)) + "\n".join(wrong))


# Logs whose lines resemble a prefix that they do not have: a row, its step and
# its training loss.
DOUBLES = [
    ("a figure and its name", "loss: %(loss)s, step: %(i)d, lr: 0.1\n", 12,
        2.12),
    ("a counter before a colon", "%(i)d: loss %(loss)s acc 0.5\n", None, 2.12),
    ("a counter in brackets", "[%(i)d]: loss %(loss)s acc 0.5\n", None, 2.12),
    ("a step and a bar", "step %(i)d | loss %(loss)s | lr 0.1\n", 12, 2.12),
    ("a step before a colon", "step: %(i)d loss: %(loss)s lr: 0.1\n", 12, 2.12),
    ("a column before a tab", "phase=val\tstep=%(i)d\tloss=%(loss)s\n", 12, None),
    ("rows of a training and of an evaluation",
     "step %(i)d loss %(loss)s lr 0.1\n" +
     "valid: step %(i)d loss 9.5 lr 0.1\n" * 12, 12, 2.12),
]


def check_doubles(folder):
    texts = ["".join(
        form % {"i": i, "loss": "%.2f" % (2 + i / 100)} for i in range(1, 13))
             for _, form, _, _ in DOUBLES]
    for (name, _, step, loss), runs in zip(DOUBLES, parse_many(
        [t.encode() for t in texts],
                                                               folder)):
        ok([(x["steps"], x["last_train_loss"]) for x in runs] == [(step, loss)],
           "not a prefix: " + name,
           [(x["steps"], x["last_train_loss"], x["metrics"]) for x in runs])


# Keys by which a run claims that it has ended, with a score.
SCORES = ("final_bpb", "final_val_loss", "final_line", "final_stage")


def check_cuts(logs, texts, whole, folder):
    """A part of a log has no score and no end that the whole log has not."""
    wrong, n_scores, n_ends = [], 0, 0
    for i in range(20):
        # ten places in the whole log, and ten inside the lines of its end
        cut = [text[:len(text) * (i + 1) // 11] if i < 10 else
               b"\n".join(text.split(b"\n")[:-3 * (i - 9)])[:-7]
                   for text in texts]
        for log, got, want in zip(logs, parse_many(cut, folder), whole):
            if not want or not got:
                continue
            last = got[-1]
            scores = [tuple(x[k] for k in SCORES[:2]) for x in want]
            if last["final_bpb"] is not None:
                n_scores += 1
                if tuple(last[k] for k in SCORES[:2]) not in scores:
                    wrong.append("%s, part %d: score %r of line %r" % (
                        os.path.relpath(log, SHARED), i, last["final_bpb"],
                            last["final_line"]))
            n_ends += last["status"] == "finished"
            if last["status"] == "finished" and "finished" not in [x["status"]
                for x in want]:
                wrong.append("%s, part %d: finished, %s" % (
                    os.path.relpath(log, SHARED), i, last["status_reason"]))
    ok(not wrong, "a truncated log claims no more than the complete one",
       "%d of %d scores and %d ends\n" % (len(wrong), n_scores, n_ends) +
       "\n".join(wrong))


FAILED = ("crashed", "killed", "oom", "diverged")


def check_endings(logs, texts, whole, folder):
    """A failure, or the words of an end, after a log decide its status, except
    after a score."""
    for line, statuses in ((b"Segmentation fault (core dumped)", FAILED),
                           (b"./run.sh: line 5:  1234 Killed   python train.py", FAILED),
                           (b"Training completed!", ("finished",) + FAILED)):
        ended = [text + (b"" if text.endswith(b"\n") else b"\n") + line +
            b"\n" for text in texts]
        wrong = []
        for log, got, want in zip(logs, parse_many(ended, folder), whole):
            if not want:
                continue
            has_score = want[-1]["status"] == "finished" and want[-1][
                "final_bpb"] is not None
            is_over = want[-1]["status"] == "finished" and line[:5] != b"Train"
            good = got and (got[-1]["status"] in statuses or (is_over and (
                has_score or want[-1]["status_reason"].startswith("line "))))
            keeps = got and all(got[-1][k] == want[-1][k] for k in SCORES
                                if want[-1][k] is not None and has_score)
            if not good or not keeps:
                wrong.append("%s: %s after %s, %s" % (
                    os.path.relpath(log, SHARED), got and got[-1]["status"],
                        want[-1]["status"],
                    got and got[-1]["status_reason"]))
        ok(not wrong, "the same status if \"%s\" follows" % line.decode(),
           "%d of %d logs\n" % (len(wrong), len(logs)) + "\n".join(wrong))


def main():
    logs = find_logs()
    if not logs:
        return skip_all(
            "needs ../shared/corpus, which is not part of the repository")
    texts = []
    for log in logs:
        with open(log, "rb") as f:
            texts.append(f.read())
    with tempfile.TemporaryDirectory() as folder:
        whole = parse_many(texts, folder)
        check_doubles(folder)
        check_cuts(logs, texts, whole, folder)
        check_endings(logs, texts, whole, folder)
        check_prefixes(logs, texts, whole, folder)
    return finish()


sys.exit(main())
