#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The log view over real files in a real pseudo-terminal: a log of a million
lines, lines that want to break the screen, filters, and files that grow, are
rotated or written anew while they are looked at."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
LINES = int(os.environ.get("HGYM_LOG_LINES", "1000000"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok  # noqa: E402
from vt import Program  # noqa: E402
from wait import until  # noqa: E402

ROW = "step:%d/100 train_loss:%.4f train_time:%dms step_avg:100.00ms\n"
home = None


def is_seen(program, text, name):
    return ok(program.wait_for(text), name)


def is_gone(program, text, name):
    return ok(program.wait_gone(text), name)


def start(*paths, **kw):
    env = dict(kw.pop("env", {}), **home_dirs(home))
    kw.setdefault("width", 120)
    kw.setdefault("height", 30)
    ready = kw.pop("ready", "ms/step")
    p = Program([TUI] + list(paths), env=env, cwd=home, **kw)
    p.wait_for(ready)
    p.send("5")
    return p


def end(program, name):
    ok(not program.screen.stray and not program.screen.osc,
       name + ": no byte of it is a control",
       program.screen.stray[:5] + program.screen.osc[:5])
    program.send("Q")
    ok(program.end() == 0, name + ": it can be left", program.status)
    program.close()


def path(name):
    return os.path.join(home, name)


def write(name, data, mode="wb"):
    with open(path(name), mode) as out:
        out.write(data if isinstance(data, bytes) else data.encode())
        out.flush()
    return path(name)


def run(*words):
    """What a command says, with the home of the others."""
    return subprocess.run([TUI] + list(words), env=dict(
        os.environ, **home_dirs(home)), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False).stdout.decode()


def title(program):
    return program.screen.text().split("\n")[1]


def test_big():
    log = path("big.log")
    with open(log, "w") as out:
        for i in range(LINES):
            out.write(ROW % (i, 3, i * 100))
            if i == 5:
                out.write("the thimble at the begin\n")
            if i == LINES - 1000:
                out.write("the needle near the end\n")
    p = start(log)
    is_seen(p, "step:%d/" % (LINES - 1), "a long log opens at its end")
    is_seen(p, "{:,} lines".format(LINES + 2), "its lines are counted")
    p.send("/the needle\r")
    is_seen(p, "▸the needle near the end", "a hit near the end")
    is_seen(p, "%d ▸the needle" % (LINES - 997), "with its number")
    p.send("/the thimble\r")
    is_seen(p, "no more matches below; back to the first", "a search goes round")
    is_seen(p, "▸the thimble at the begin", "to a hit above it, far away")
    p.send("N")
    is_seen(p, "no more matches above; back to the last", "and back")
    p.send("/the n(ee\r")
    is_seen(p, "missing closing parenthesis", "a wrong pattern is named")
    ok("): the n(ee" in p.screen.text(), "and stays to be put right",
       p.screen.text())
    p.send("\x7f\x7fone)\r")
    is_seen(p, "no match", "as here")
    p.send("n")
    p.send("G")
    is_seen(p, "following", "G follows again")
    p.send("&needle|thimble\r")
    is_seen(p, "thimble: 2 lines ─", "a filter comes to its end")
    ok("the needle near" in p.screen.text() and
       "the thimble at" in p.screen.text() and
       "step:7/" not in p.screen.text(), "and shows its lines alone",
       p.screen.text())
    p.send("&needle|thimble & !end$ & the\r")
    is_seen(p, "& the: 1 line ─", "several at once")
    p.send("&\x1b[A\t\r")
    is_seen(p, "& !end$ & #the: 1 line ─", "one of them switched off")
    p.send("&\x1b[A\x01\t\t\x05\t\r")
    is_seen(p, "& !end$ & the: 1 line ─", "and on again")
    p.send("&\x1b[A\x01\t\x1b[C\x1b[C" + "\x1b[C" * 16 + "\t\x05\t\r")
    is_seen(p, "following ─", "all of them off are none")
    p.send("&\\#\r")
    is_seen(p, "& \\#: 0 lines ─", "a # that is looked for")
    p.send("&\x15#needle\r")
    is_seen(p, ("a filter starting with # is disabled; to match a #, type \\#",
                "following ─"), "a # that is none")
    p.send("&\x1b[A\x1b[A\x1b[A\x01\t\r")
    is_seen(p, "thimble & #!end$ & #the: 2 lines ─", "each has its switch")
    p.send("&\x15needle|thimble\r")
    is_seen(p, "thimble: 2 lines ─", "and the one before")
    p.send("q")
    is_seen(p, "showing all lines; & and Up", "back ends the filters first")
    p.send("&!step:\r")
    is_seen(p, "& !step:: 2 lines ─", "what a filter leaves out")
    p.send("\x1b")
    is_seen(p, "following ─", "as Esc does")
    p.send("&^step:[0-9]*7/\r")
    is_seen(p, "step:%d/" % (LINES - 3), "a filter with many lines")
    is_seen(p, "7/: {:,} lines ─".format(LINES // 10), "all are found")
    p.send("g")
    is_seen(p, "step:7/", "to its first line")
    p.send("& \x7f\r")
    is_seen(p, "step:9/", "all lines again, at the same place")
    p.send("g ")
    is_seen(p, "1◆▸step:0/", "a line is marked")
    p.send("/the needle\r")
    is_seen(p, "▸the needle", "another")
    p.send(" ")
    is_seen(p, "◆▸the needle", "is marked too")
    p.send("'")
    is_seen(p, "1◆▸step:0/", "the next one is the first")
    p.send(" '")
    is_seen(p, "◆▸the needle", "one that is not marked any more is not found")
    end(p, "a long log")


def test_search_stops():
    p = start(path("big.log"))
    p.wait_for("following")
    # Nothing is found, and looking for it takes long.
    p.send("/(\\S+\\s*)*never\r")
    is_seen(p, "Esc stops", "a search that takes long says so")
    p.send("\x1b")
    is_seen(p, "search stopped", "Esc stops it")
    end(p, "a stopped search")


LONG = (
    ROW % (1, 5, 100) +
    "head " + "x" * 300000 + " middle " + "y" * 900000 + " tail-of-it\n" +
    "\r".join("%3d%%|%s| it/s" % (i, "#" * i) for i in range(0, 101)) + "\n" +
    "a\tb\tlonger text\tend\n" +
    "\x1b[31mred\x1b[0m and \x1b]0;title\x07\x1b[2Jplain\n" +
    "日本語の" * 60 + "終\n" +
    "e\u0301" * 20 + " marks\n")
BYTES = b"bad \xff\xfe\xc0\x80 \x00\x01\x02 \xc2\x9b utf\n"


def test_long_lines():
    log = write("long.log", LONG.encode() + BYTES +
                (ROW % (2, 4.9, 200)).encode())
    p = start(log, width=100, height=30)
    is_seen(p, "step:2/", "a log of odd lines is shown")
    text = p.screen.text()
    ok("100%|#####" in text and " 99%|" not in text,
       "a progress bar shows its last state", text)
    ok("a       b       longer text     end" in text, "tabs are tabs", text)
    ok("red and plain" in text, "escape sequences are out", text)
    ok("bad ���� ··· · utf" in text.replace("�", "�"),
       "bad bytes are marked", text)
    ok(all(len(line) <= 100 for line in text.split("\n")),
       "nothing passes the edge", text)
    p.send("/middle\r")
    is_seen(p, "middle yyy", "a hit far to the right is brought into view")
    ok("from column 2999" in title(p) or "from column 3000" in title(p),
       "and the title says where", title(p))
    p.send("/^head\r")
    is_seen(p, "▸head xxx", "and back to the left")
    p.send("l")
    is_gone(p, "▸head", "l goes to the right")
    p.send("h")
    is_seen(p, "▸head xxx", "h to the left")
    p.send("w")
    p.send("G")
    is_seen(p, "step:2/", "lines are wrapped, and the end is followed")
    p.send("/tail-of-it\r")
    is_seen(p, "yyy tail-of-it", "the end of a line of a megabyte")
    for keys in ("k" * 10, "g", "j" * 12, "\x04", "\x15", "G", "k", "w"):
        p.send(keys)
        p.settle(0.1)
    p.send("G")
    is_seen(p, "following", "and there and back")
    end(p, "odd lines")


def test_growing():
    log = write("grow.log", "".join(ROW % (i, 5, i) for i in range(100)))
    p = start(log)
    is_seen(p, "step:99/", "a log that grows is followed")
    write("grow.log", "a line without its e", "ab")
    is_seen(p, "without its e", "also a line that has no end yet")
    p.send("&line|fresh\r")
    is_seen(p, ": 1 line ", "a filter over it")
    write("grow.log", "nd\nfresh line\n" + ROW % (100, 5, 1), "ab")
    is_seen(p, "fresh line", "passes what comes")
    ok("a line without its end" in p.screen.text() and
       "2 lines" in title(p), "and what is complete now, once",
       p.screen.text())
    p.send("&\r")
    is_seen(p, "step:100/", "all again")
    p.send("kkk")
    is_seen(p, "f follows", "scrolled up it stays")
    write("grow.log", ROW % (101, 5, 1), "ab")
    is_seen(p, "104 lines", "one more line is counted")
    ok("step:101/" not in p.screen.text(), "where it is", p.screen.text())
    p.send("f")
    is_seen(p, "step:101/", "f goes to the end")
    # Truncated and rewritten in place.
    write("grow.log", "".join(ROW % (i, 4, i) for i in range(7000, 7005)))
    is_seen(p, "step:7004/", "truncated: what is new is shown")
    is_gone(p, "step:101/", "and nothing of what was")
    # Rotated: another file under the same name.
    os.rename(log, log + ".1")
    write("grow.log", "".join(ROW % (i, 3, i) for i in range(60)))
    is_seen(p, "step:59/", "rotated: the new file is followed")
    is_gone(p, "step:7004/", "alone")
    p.send("kk")
    is_seen(p, "f follows", "scrolled up again")
    os.rename(log, log + ".2")
    write("grow.log", "".join(ROW % (i, 2, i) for i in range(80, 99)))
    is_seen(p, "rotated, f shows the new log",
            "who reads the old one is left alone")
    p.send("f")
    is_seen(p, "step:98/", "until f")
    p.send("K")
    is_seen(p, "an older log, f shows the newest", "K goes to the old one")
    is_seen(p, "step:59/", "which is shown")
    p.send("f")
    is_seen(p, "step:98/", "and f to the newest again")
    os.unlink(log)
    p.pump(1)
    p.send("g")
    is_seen(p, "step:80/", "removed: what is open stays")
    end(p, "a growing log")


def first_frame(program, text):
    """The first frame that shows the text, whatever came behind it."""
    frames = []
    program.until(lambda: text in program.screen.text() and
                  not frames.append(program.screen.text()), what=text)
    return frames[0] if frames else program.screen.text()


def test_numbers():
    """What comes has its number as soon as it is shown, and so has another
    log that a key chooses."""
    log = write("numbers.log", "".join(ROW % (i, 5, i) for i in range(50)))
    p = start(log, write("other.log", "just a line\nand one without an end"))
    p.wait_for("step:49/")
    p.settle(0.3)
    late = []
    for i in range(50, 70):
        write("numbers.log", ROW % (i, 5, i), "ab")
        frame = first_frame(p, "step:%d/" % i)
        if "%d  step:%d/" % (i + 1, i) not in frame or \
                " %d lines " % (i + 1) not in frame.split("\n")[1]:
            late.append(frame)
    ok(not late, "a line that comes has its number, and is counted", late)
    for keys in "AAJK":
        before = title(p)
        p.send(keys)
        p.until(lambda: title(p) != before, what="another title")
        if ">" in title(p):
            late.append(title(p))
    ok(not late, "the lines of another log are counted at once", late)
    p.send("J")
    is_seen(p, "2  and one without an end", "a last line without its end")
    ok("other · 2 lines" in title(p), "is a line", title(p))
    end(p, "numbers")


def marks(program):
    """What is marked, a text for each row."""
    return [text for text in (
        "".join(char for char, look in row if look == (227, False, True, False))
        for row in program.screen.cells) if text]


def test_marks():
    log = write("marks.log", ROW % (1, 5, 1) + "aaaaaaaa bbbb\n" +
                "word " * 60 + "end\n" + ROW % (2, 5, 2))
    p = start(log, width=80, height=24)
    p.wait_for("step:2/")
    for keys, want in (("/^a\r", ["a"]), ("/(?<=a)a\r", ["aaaaaaa"]),
                       ("/b*$\r", ["bbbb"]), ("/wor\r", ["wor" * 13 + "wo…"]),
                       ("/\\bword \\b\r", ["word " * 13 + "wo…"])):
        p.send(keys)
        ok(p.until(lambda: marks(p) == want), "marks of " + keys.strip(),
           marks(p))
    p.send("l")
    ok(p.until(lambda: marks(p) == [" " + "word " * 13 + "w…"]),
       "a mark that begins left of the screen", marks(p))
    p.send("hw")
    ok(p.until(lambda: "".join(marks(p)) == "word " * 60),
       "marks over wrapped rows", marks(p))
    p.send("/^word\r")
    ok(p.until(lambda: marks(p) == ["word"]),
       "the begin of a row is not that of a line", marks(p))
    ok("   1  step:1/" in p.screen.text() and "4  step:2/" in p.screen.text(),
       "a short log stays on the screen whole", p.screen.text())
    end(p, "marks")


def test_title():
    os.makedirs(path("a-run-of-a-name-that-is-long"))
    log = write("a-run-of-a-name-that-is-long/train_seed_of_1337.log",
                "".join(ROW % (i, 5, i) for i in range(500)))
    p = start(log, width=80, height=24)
    p.wait_for("step:499/")
    p.send("&step:.*9/\r")
    p.send("g")
    is_seen(p, "f follows · & step:.*9/: 50 lines ─",
            "a long name leaves room in the title")
    ok("-long · 500 lines" in title(p) and "─ a-run" in title(p),
       "and keeps its begin and its end", title(p))
    end(p, "a title")


def test_none():
    p = start(write("none.log", ""), ready="starting, 0 lines")
    is_seen(p, "This log has no lines yet.", "a log of 0 bytes")
    p.send("y")
    is_seen(p, "no line to copy", "has no line to copy")
    p.send("A")
    is_seen(p, "These logs have no lines yet.", "nor have all of it")
    write("none.log", ROW % (1, 5, 1), "ab")
    is_seen(p, "step:1/", "until one comes")
    end(p, "none")
    # Keys that come together: nothing was drawn in between.
    write("none.log", "")
    write("none.json", json.dumps({"pods": [
        {"name": "n", "transport": "local", "logs": [path("none.log")]}]}))
    for keys in "5y", "5wjjy", "5i":
        p = Program([TUI, "--config", path("none.json")], 120, 30,
                    home_dirs(home), home)
        p.wait_for("starting, 0 lines")
        p.send(keys)
        is_seen(p, "no line to ", "nor has one of a pod")
        end(p, "none of a pod")


def test_pod():
    """The same over the mirror of a pod that is followed."""
    os.makedirs(path("pod"))
    log = write("pod/train.log", "".join(ROW % (i, 5, i) for i in range(99)))
    config = write("pod.json", json.dumps({
        "schema": "hgym-tui.config/1",
        "pods": [{"name": "here", "transport": "local",
                  "logs": [path("pod/*.log")]}]}))
    p = start("--config", config)
    is_seen(p, "step:98/", "a pod's log is shown from its mirror")
    write("pod/train.log", ROW % (99, 5, 99), "ab")
    is_seen(p, "step:99/", "and followed")
    os.rename(log, log + ".1")
    write("pod/train.log", "".join(ROW % (i, 3, i) for i in range(60)))
    is_seen(p, "step:59/", "over a rotation")
    is_gone(p, "step:99/", "to the new file alone")
    # The mirror is taken away, as pruning does, while it is looked at.
    mirrors = os.path.join(home, "state/hgym-tui")
    gone = [os.path.join(d, f) for d, _, files in os.walk(mirrors)
            for f in files if f.endswith(".log")]
    for name in gone:
        os.unlink(name)
    p.send("g")
    is_seen(p, "step:0/", "what is open stays, though its copy is gone")
    p.send("A")
    p.settle()
    p.send("A")
    is_seen(p, "The local copy of this log was deleted.",
            "opened again it says so")
    ok(gone and "step:" not in p.screen.text(),
       "and shows no line that it cannot read", gone)
    end(p, "a pod's log")


def test_fast():
    """10,000 lines a second, over SSH: four frames a second, no key lost."""
    log = write("fast.log", "".join(ROW % (i, 5, i) for i in range(100)))
    p = start(log, env={"SSH_TTY": "/dev/pts/9"})
    p.wait_for("step:99/")
    p.settle()
    frames = p.screen.frames
    step, begin = 100, time.monotonic()
    with open(log, "a") as out:
        while time.monotonic() - begin < 3:
            for _ in range(500):
                out.write(ROW % (step, 5, step))
                step += 1
            out.flush()
            p.pump(0.05)
            wait = begin + (step - 100) / 10000.0 - time.monotonic()
            if wait > 0:
                time.sleep(wait)
    p.drain()
    frames = p.screen.frames - frames
    took = time.monotonic() - begin
    # At most one in each started quarter of a second.
    ok(2 <= frames <= took * 4 + 2, "at most four frames a second",
       "%d in %.2f s" % (frames, took))
    is_seen(p, "step:%d/" % (step - 1), "the end is shown")
    p.send("kkkkkkkkkk")
    is_seen(p, "step:%d/" % (step - 11 - 24), "ten keys are ten lines")
    end(p, "a fast log")


def test_folds():
    code = "".join("    x%d = %d  # code of the run\n" % (i, i)
                   for i in range(3000))
    source = ("import os\nimport sys\nimport torch\n\n"
              "def main():\n" + code + "    raise ValueError('an error')\n"
              "\nif __name__ == \"__main__\":\n"
              "    main()\n")
    log = write("source.log", source + "=" * 100 + "\n" +
                "".join(ROW % (i, 5, i * 100) for i in range(1, 30000)))
    p = start(log)
    p.wait_for("step:29999/")
    is_seen(p, "33,0", "all is read")
    p.settle()
    p.send("g")
    is_seen(p, ("lines of source code", "step:1/"),
            "source far above is folded into a line")
    p.send("/x1500 = \r")
    is_seen(p, "▸    x1500 = 1500", "a hit in it unfolds it")
    p.send("o")
    p.send("g")
    is_seen(p, ("lines of source code", "step:1/"), "o folds it again")
    # All in one read, as of a program that was held up.
    p.send("Gg/x[78]00 = \r")
    is_seen(p, "▸    x700 = 700", "the first of two hits in it, behind a g")
    p.send("o")
    is_seen(p, "lines of source code", "o folds it")
    p.send("n")
    is_seen(p, "▸    x800 = 800", "n goes on in what is folded")
    p.send("o")
    p.send("G")
    is_seen(p, "following", "to the end")
    p.send("E")
    is_seen(p, "no match", "code that raises errors is no error")
    write("source.log", "RuntimeError: CUDA error: gone\n" + ROW % (9, 5, 1),
          "ab")
    is_seen(p, "step:9/", "an error comes")
    p.send("E")
    is_seen(p, "▸RuntimeError: CUDA", "E finds it")
    end(p, "folds")


def test_merged():
    for name in "ab":
        os.makedirs(path(name), exist_ok=True)
        write(name + "/train.log",
              "".join(ROW % (i, 5, i) for i in range(50)) +
              "last of %s\n" % name)
    write("c.log", "nothing that is measured\n" * 3 + "last of c\n")
    p = start(path("a/train.log"), path("b/train.log"), path("c.log"))
    p.send("A")
    is_seen(p, "All logs, merged", "all logs are merged")
    is_seen(p, "in order of arrival", "it says in which order")
    p.send("&last of\r")
    is_seen(p, "3 lines", "a filter over all")
    ok(all("last of " + x in p.screen.text() for x in "abc"),
       "finds those of each", p.screen.text())
    p.send("/of b\r")
    is_seen(p, "▸last of b", "a search in it")
    p.send("&\r")
    p.send("A")
    for _ in range(3):
        p.send("J")
        p.settle(0.2)
    is_seen(p, "· 4 lines ·", "J goes to the logs without a run, too")
    end(p, "merged")


def test_by_time():
    """Two logs of 20,000 lines with times, one a quarter second later."""
    for name, late in (("a", 0.0), ("b", 0.25)):
        os.makedirs(path("t" + name), exist_ok=True)
        write("t%s/train.log" % name, "".join(
            "%.2f " % (1776143914 + i + late) + ROW % (i, 5, i) +
            ("more of %s %d\n" % (name, i) if i % 100 == 0 else "")
            for i in range(20000)))
    p = start(path("ta/train.log"), path("tb/train.log"))
    p.wait_for("step:19999/")
    p.send("A")
    is_seen(p, "by time", "logs with times are merged by them")

    def in_order():
        rows = [re.search(r"(\d+\.\d\d) step:(\d+)", line)
                for line in p.screen.text().split("\n")]
        rows = [(float(m.group(1)), int(m.group(2))) for m in rows if m]
        return len(rows) > 20 and rows == sorted(rows) and \
            rows[-1] == (1776163913.25, 19999)
    ok(p.until(in_order), "in their order")
    write("ta/train.log", "1776163914.00 a is done\n", "ab")
    write("tb/train.log", "1776163914.25 b is done\n", "ab")
    is_seen(p, "b is done", "what comes is taken in")
    p.send("&more of\r")
    is_seen(p, "& more of: 400 lines · by time ─",
            "a filter goes back to the begin")
    p.send("g")
    is_seen(p, "more of a 0", "as its first line says")
    p.send("&\r")
    p.send("G")
    p.settle(0.3)
    p.send("/more of b 300$\r")
    is_seen(p, ("▸more of b 300", "step:301/"), "a search far above")
    text = p.screen.text()
    ok(text.find("more of a 300") < text.find("more of b 300") <
       text.find("step:301/"), "lines without a time stay behind their own",
       text)
    p.send("g")
    is_seen(p, "step:0/", "to the begin")
    end(p, "by time")


def test_learn():
    """Rules of a line by a key: shown, asked for, written, never over."""
    log = write("own.log", "setting up\n" + "".join(
        "Step %d | loss %.4f | odd %.2f\n" % (i * 10, 9 - i / 7, i / 3)
        for i in range(1, 30)) + "all done\n")
    file = os.path.join(home, "config", "hgym-tui", "formats",
                        "own.log.json")
    p = start(log, ready="train loss")
    p.wait_for("all done")
    p.send("/all done\ri")
    is_seen(p, "cannot create a rule from this line", "a line that is no row")
    p.send("/Step 100 \r")
    is_seen(p, "▸Step 100 ", "a line that is one")
    p.send("i")
    is_seen(p, "This writes a file", "it is asked before rules are written")
    is_seen(p, "29 rows of training: \"Step\" (step), \"loss\" (train_loss),",
            "what they are made of is shown")
    is_seen(p, "formats/own.log.json", "and where they go")
    p.send("no\r")
    is_seen(p, "cancelled", "no is no")
    ok(not os.path.exists(file), "and writes nothing")
    p.send("iyes\r")
    is_seen(p, "takes effect after a restart", "yes writes them")
    p.send("i")
    is_seen(p, "own.log.json already exists", "once, and not over it")
    end(p, "rules of a line")
    told = run("formats", "check", "own.log", log)
    ok("row-1  train     29" in told, "the next start reads by them", told)
    with open(file, "w") as out:
        out.write("no rules")
    ok("own.log.json" in run("formats", "list"), "a broken one is named")
    ok("own.log.json" not in run("parse", "--json", log),
       "parse reads no configuration")
    os.unlink(file)


def test_piped():
    """Standard input is followed as it comes; its copy goes with us, also
    when the terminal does."""
    os.mkdir(path("piped"))
    write("piped/src", b"seed:7\n" + (ROW % (1, 4.5, 100)).encode())
    for how in ("left", "hung up"):
        p = Program(["/bin/sh", "-c", "tail -n +1 -f piped/src | exec %s -" %
                     TUI], env=dict(home_dirs(home), TMPDIR=path("piped")),
                    cwd=home, width=120, height=30)
        is_seen(p, "stdin", "a log is piped in")
        write("piped/src", (ROW % (77, 3.25, 7700)).encode(), "ab")
        is_seen(p, "3.2500", "what comes is shown")
        if how == "left":
            p.send("Q")
            until(lambda: os.listdir(path("piped")) == ["src"], 60, p.pump)
        p.close()
        ok(until(lambda: os.listdir(path("piped")) == ["src"]),
           how + ": its copy is gone", os.listdir(path("piped")))


def main():
    global home
    with tempfile.TemporaryDirectory() as folder:
        home = folder
        for test in (test_big, test_search_stops, test_long_lines,
                     test_growing, test_numbers, test_marks, test_title,
                     test_none, test_pod, test_fast, test_folds,
                     test_merged, test_by_time, test_learn, test_piped):
            test()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
