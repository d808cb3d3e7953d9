#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Properties that `parse` has for every log, checked over the corpora of real
logs: a launcher's prefix changes nothing; a log that is cut claims nothing that
the whole log does not have; failures and end words decide the status; other names
give no other figures; the lines of another program change none."""
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


# Figures that a log with other names may lack, but must not have otherwise.
FIGURES = ("steps", "planned_steps", "last_train_loss", "last_val_loss", "final_val_loss",
           "last_val_bpb", "prequant_bpb", "quant_bpb", "sliding_bpb", "final_bpb", "step_ms_median",
           "tok_s_last", "artifact_bytes")

# The names of metrics and of stages, and others for them. A stage is read by its parts.
RENAMED = (
    ("metrics by their long names", (("train_loss", "training_loss"),
                                     ("val_loss", "validation_loss"))),
    ("metrics with their part first", (("train_loss", "train/loss"), ("val_loss", "val/loss"),
                                       ("val_bpb", "val/bpb"))),
    ("metrics by names of no meaning", (("train_loss", "objective_a"), ("val_loss", "objective_b"),
                                        ("loss", "objective_c"))),
    ("steps by another name", (("step:", "update:"), ("iter ", "it "), ("step ", "update "))),
    ("stages of another quantization", (("int8_zlib", "w7x9_brotli"), ("int6", "w7x9"))),
    ("stages with more parts", (("final_int", "final_export_int"), ("legal_ttt", "legal_lora_ttt"),
                                ("quantized_", "quantized_export_"))),
    ("stages of no meaning", (("roundtrip", "aaa"), ("sliding_window", "bbb"), ("_ttt", "_ccc"),
                              ("final_", "ddd_"))),
)


def check_renamed(logs, texts, whole, folder):
    """With other names, figures may be missing, but none is wrong or new."""
    for title, names in RENAMED:
        changed = []
        for text in texts:
            for old, new in names:
                text = text.replace(old.encode(), new.encode())
            changed.append(text)
        wrong, n, n_same = [], 0, 0
        for log, got, want in zip(logs, parse_many(changed, folder), whole):
            if not got or not want:
                continue
            for key in FIGURES:
                values = [x[key] for x in want]
                n += got[-1][key] is not None
                n_same += got[-1][key] in values
                if got[-1][key] is not None and got[-1][key] not in values:
                    wrong.append("%s: %s: %r, not %r (line %r)" % (
                        os.path.relpath(log, SHARED), key, got[-1][key], values,
                        got[-1]["final_line"]))
            # without the name of its validation, a run is complete with its plan
            is_whole = got[-1]["status_reason"] == "step %s of %s" % (
                got[-1]["steps"], got[-1]["steps"])
            if got[-1]["status"] == "finished" and not is_whole and \
                    "finished" not in [x["status"] for x in want]:
                wrong.append("%s: finished, %s" % (os.path.relpath(log, SHARED),
                                                   got[-1]["status_reason"]))
        ok(not wrong, "no other figures with " + title,
           "%d of %d figures\n" % (len(wrong), n) + "\n".join(wrong))


# Lines of other programs, which print counters, totals and figures too.
FOREIGN = (
    ("a download", "".join("\rmodel.safetensors: %3d%%|####      | %.1fG/5.0G [00:%02d<01:00, "
                           "48.1MB/s]" % (i, i / 20, i) for i in range(0, 100, 10)) + "\n"),
    ("a tokenizer", "".join("Map (num_proc=8): %3d%%|####      | %d/1000 [00:01<00:02, "
                            "401.2 examples/s]\n" % (i, i * 10) for i in range(0, 101, 10))),
    ("a build", "".join("[%d/12] c++ -O2 -c kernel_%d.cu\n" % (i, i) for i in range(1, 13))),
    ("packages", "Collecting torch==2.9.0\n  Downloading torch-2.9.0.whl (766.6 MB)\n" + "".join(
        "     ---- %d.0/766.6 MB 48.1 MB/s eta 0:00:0%d\n" % (i * 100, 8 - i)
        for i in range(1, 8))),
    ("shards", "".join("loaded shard %d/80 in %.2fs, %d tokens\n" % (i, i / 7, 1000 + i)
                       for i in range(1, 12))),
    ("a table of devices", "| GPU  Name      | Memory-Usage |\n" + "".join(
        "| %d  H100 80GB    | %dMiB / 81559MiB |\n" % (i, 1000 + i) for i in range(8))),
    ("answers", "".join("question %d/100: score %.2f\n" % (i, i / 100) for i in range(1, 12))),
)


def split_middle(text):
    at = text.find(b"\n", len(text) * 2 // 3) + 1
    return (text[:at], text[at:]) if at > 0 else (text, b"")


def check_foreign(logs, texts, whole, folder):
    """The lines of another program in the middle of a log change no figure."""
    for title, lines in FOREIGN:
        mixed = [lines.encode().join(split_middle(text)) for text in texts]
        wrong = []
        for log, got, want in zip(logs, parse_many(mixed, folder), whole):
            keys = FIGURES + ("status", "seed", "final_stage")
            what = differences([{k: x[k] for k in keys} for x in got],
                               [{k: x[k] for k in keys} for x in want])
            if what:
                wrong.append("%s: %s" % (os.path.relpath(log, SHARED), what))
        ok(not wrong, "the same figures with the lines of %s in the middle" % title,
           "%d of %d logs\n" % (len(wrong), len(logs)) + "\n".join(wrong))


def check_other_rows(logs, texts, folder):
    """Rows of another shape, with the plan of the run, continue it."""
    heads = [split_middle(text)[0] for text in texts]
    runs = [x[-1] if x else None for x in parse_many(heads, folder)]
    wrong, n = [], 0
    for i, run in enumerate(runs):
        if run is None or run["status"] != "truncated" or not run["planned_steps"] or \
                run["last_train_loss"] is None or run["steps"] is None:
            continue
        for k in range(1, 5):
            heads[i] += ("step:%d/%d [QAT] train_loss:1.2345 lr:0.1\n" % (
                run["steps"] + k, run["planned_steps"])).encode()
    for log, before, got in zip(logs, runs, parse_many(heads, folder)):
        if before is None or before["status"] != "truncated" or not before["planned_steps"] or \
                before["last_train_loss"] is None or before["steps"] is None:
            continue
        n += 1
        if (got[-1]["steps"], got[-1]["last_train_loss"]) != (before["steps"] + 4, 1.2345):
            wrong.append("%s: step %r with loss %r, not %r" % (
                os.path.relpath(log, SHARED), got[-1]["steps"], got[-1]["last_train_loss"],
                before["steps"] + 4))
    ok(not wrong and n > 0, "rows of another shape continue a run",
       "%d of %d logs\n" % (len(wrong), n) + "\n".join(wrong))


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
        check_renamed(logs, texts, whole, folder)
        check_foreign(logs, texts, whole, folder)
        check_other_rows(logs, texts, folder)
        check_prefixes(logs, texts, whole, folder)
    return finish()


sys.exit(main())
