#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The log view with real files in a real pseudo-terminal: a log of a million
lines, lines that could damage the screen, filters, and files that grow, are
rotated or rewritten while they are shown."""
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
       name + ": no byte of the log is a control character",
       program.screen.stray[:5] + program.screen.osc[:5])
    program.send("Q")
    ok(program.end() == 0, name + ": it can be ended", program.status)
    program.close()


def path(name):
    return os.path.join(home, name)


def write(name, data, mode="wb"):
    with open(path(name), mode) as out:
        out.write(data if isinstance(data, bytes) else data.encode())
        out.flush()
    return path(name)


def run(*words):
    """The output of a command with the same home."""
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
    is_seen(p, "{:,} lines".format(LINES + 2), "the lines are counted")
    p.send("/the needle\r")
    is_seen(p, "▸the needle near the end", "a match near the end")
    is_seen(p, "%d ▸the needle" % (LINES - 997), "the match has its line "
                                                 "number")
    p.send("/the thimble\r")
    is_seen(p, "no more matches below; back to the first", "a search wraps around")
    is_seen(p, "▸the thimble at the begin", "a match far above")
    p.send("N")
    is_seen(p, "no more matches above; back to the last", "a search upwards wraps "
                                                          "around")
    p.send("/the n(ee\r")
    is_seen(p, "missing closing parenthesis", "an invalid pattern is reported")
    ok("): the n(ee" in p.screen.text(), "an invalid pattern can be corrected",
       p.screen.text())
    p.send("\x7f\x7fone)\r")
    is_seen(p, "no match", "no match: the same line stays")
    p.send("n")
    p.send("G")
    is_seen(p, "following", "G follows again")
    p.send("&needle|thimble\r")
    is_seen(p, "thimble: 2 lines ─", "a filter finishes")
    ok("the needle near" in p.screen.text() and
       "the thimble at" in p.screen.text() and
       "step:7/" not in p.screen.text(), "a filter shows only matching lines",
       p.screen.text())
    p.send("&needle|thimble & !end$ & the\r")
    is_seen(p, "& the: 1 line ─", "several filters")
    p.send("&\x1b[A\t\r")
    is_seen(p, "& !end$ & #the: 1 line ─", "one filter is switched off")
    p.send("&\x1b[A\x01\t\t\x05\t\r")
    is_seen(p, "& !end$ & the: 1 line ─", "the filter is switched on again")
    p.send("&\x1b[A\x01\t\x1b[C\x1b[C" + "\x1b[C" * 16 + "\t\x05\t\r")
    is_seen(p, "following ─", "all filters off: all lines")
    p.send("&\\#\r")
    is_seen(p, "& \\#: 0 lines ─", "a literal # in a filter")
    p.send("&\x15#needle\r")
    is_seen(p, ("a filter starting with # is disabled; to match a #, type \\#",
                "following ─"), "a # that switches a filter off")
    p.send("&\x1b[A\x1b[A\x1b[A\x01\t\r")
    is_seen(p, "thimble & #!end$ & #the: 2 lines ─", "each filter has its own "
                                                     "switch")
    p.send("&\x15needle|thimble\r")
    is_seen(p, "thimble: 2 lines ─", "the previous filter")
    p.send("q")
    is_seen(p, "showing all lines; & and Up", "backspace removes the filters "
                                              "first")
    p.send("&!step:\r")
    is_seen(p, "& !step:: 2 lines ─", "a filter that excludes lines")
    p.send("\x1b")
    is_seen(p, "following ─", "Esc removes the filter")
    p.send("&^step:[0-9]*7/\r")
    is_seen(p, "step:%d/" % (LINES - 3), "a filter with many lines")
    is_seen(p, "7/: {:,} lines ─".format(LINES // 10), "all lines are found")
    p.send("g")
    is_seen(p, "step:7/", "the first matching line")
    p.send("& \x7f\r")
    is_seen(p, "step:9/", "without the filter: all lines at the same place")
    p.send("g ")
    is_seen(p, "1◆▸step:0/", "a line is marked")
    p.send("/the needle\r")
    is_seen(p, "▸the needle", "a search after marking a line")
    p.send(" ")
    is_seen(p, "◆▸the needle", "a second line is marked")
    p.send("'")
    is_seen(p, "1◆▸step:0/", "the next mark is the first")
    p.send(" '")
    is_seen(p, "◆▸the needle", "a removed mark is not found")
    end(p, "a long log")


def test_search_stops():
    p = start(path("big.log"))
    p.wait_for("following")
    # A pattern that matches nothing and takes long.
    p.send("/(\\S+\\s*)*never\r")
    is_seen(p, "Esc stops", "a long search shows how to stop it")
    p.send("\x1b")
    is_seen(p, "search stopped", "Esc stops a search")
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
    is_seen(p, "step:2/", "a log of unusual lines is shown")
    text = p.screen.text()
    ok("100%|#####" in text and " 99%|" not in text,
       "a progress bar shows its last state", text)
    ok("a       b       longer text     end" in text, "tabs are expanded", text)
    ok("red and plain" in text, "escape sequences are removed", text)
    ok("bad ���� ··· · utf" in text.replace("�", "�"),
       "invalid bytes are marked", text)
    ok(all(len(line) <= 100 for line in text.split("\n")),
       "no line passes the right edge", text)
    p.send("/middle\r")
    is_seen(p, "middle yyy", "a match far to the right is scrolled into view")
    ok("from column 2999" in title(p) or "from column 3000" in title(p),
       "the title shows the column", title(p))
    p.send("/^head\r")
    is_seen(p, "▸head xxx", "back to the first column")
    p.send("l")
    is_gone(p, "▸head", "l scrolls to the right")
    p.send("h")
    is_seen(p, "▸head xxx", "h scrolls to the left")
    p.send("w")
    p.send("G")
    is_seen(p, "step:2/", "lines are wrapped, and the end is followed")
    p.send("/tail-of-it\r")
    is_seen(p, "yyy tail-of-it", "the end of a line of a megabyte")
    for keys in ("k" * 10, "g", "j" * 12, "\x04", "\x15", "G", "k", "w"):
        p.send(keys)
        p.settle(0.1)
    p.send("G")
    is_seen(p, "following", "wrapping off and on again")
    end(p, "odd lines")


def test_growing():
    log = write("grow.log", "".join(ROW % (i, 5, i) for i in range(100)))
    p = start(log)
    is_seen(p, "step:99/", "a log that grows is followed")
    write("grow.log", "a line without its e", "ab")
    is_seen(p, "without its e", "a last line without its newline is shown")
    p.send("&line|fresh\r")
    is_seen(p, ": 1 line ", "a filter over a growing log")
    write("grow.log", "nd\nfresh line\n" + ROW % (100, 5, 1), "ab")
    is_seen(p, "fresh line", "a new matching line is shown")
    ok("a line without its end" in p.screen.text() and
       "2 lines" in title(p), "the completed line is shown once",
       p.screen.text())
    p.send("&\r")
    is_seen(p, "step:100/", "all lines again")
    p.send("kkk")
    is_seen(p, "f follows", "scrolled up: the view stays")
    write("grow.log", ROW % (101, 5, 1), "ab")
    is_seen(p, "104 lines", "scrolled up: a new line is counted")
    ok("step:101/" not in p.screen.text(), "scrolled up: the same lines are "
                                           "shown", p.screen.text())
    p.send("f")
    is_seen(p, "step:101/", "f jumps to the end")
    # Truncated and rewritten in place.
    write("grow.log", "".join(ROW % (i, 4, i) for i in range(7000, 7005)))
    is_seen(p, "step:7004/", "truncated: the new lines are shown")
    is_gone(p, "step:101/", "truncated: the old lines are gone")
    # Rotated: another file under the same name.
    os.rename(log, log + ".1")
    write("grow.log", "".join(ROW % (i, 3, i) for i in range(60)))
    is_seen(p, "step:59/", "rotated: the new file is followed")
    is_gone(p, "step:7004/", "rotated: the old lines are gone")
    p.send("kk")
    is_seen(p, "f follows", "scrolled up again")
    os.rename(log, log + ".2")
    write("grow.log", "".join(ROW % (i, 2, i) for i in range(80, 99)))
    is_seen(p, "rotated, f shows the new log",
            "scrolled up in the old log: the view stays")
    p.send("f")
    is_seen(p, "step:98/", "f shows the new log")
    p.send("K")
    is_seen(p, "an older log, f shows the newest", "K selects the older log")
    is_seen(p, "step:59/", "the older log is shown")
    p.send("f")
    is_seen(p, "step:98/", "f shows the newest log again")
    os.unlink(log)
    p.pump(1)
    p.send("g")
    is_seen(p, "step:80/", "deleted: the open log is still shown")
    end(p, "a growing log")


def first_frame(program, text):
    """The first frame that contains the text, even if more follows."""
    frames = []
    program.until(lambda: text in program.screen.text() and
                  not frames.append(program.screen.text()), what=text)
    return frames[0] if frames else program.screen.text()


def test_numbers():
    """Each new line is shown with its number at once, as are the lines of another
    log that is selected."""
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
    ok(not late, "a new line has its number and is counted", late)
    for keys in "AAJK":
        before = title(p)
        p.send(keys)
        p.until(lambda: title(p) != before, what="another title")
        if ">" in title(p):
            late.append(title(p))
    ok(not late, "the lines of another log are counted at once", late)
    p.send("J")
    is_seen(p, "2  and one without an end", "a last line without a newline")
    ok("other · 2 lines" in title(p), "a last line without a newline is "
                                      "counted", title(p))
    end(p, "numbers")


def marks(program):
    """The highlighted cells, as one text per row."""
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
       "a match that starts left of the screen", marks(p))
    p.send("hw")
    ok(p.until(lambda: "".join(marks(p)) == "word " * 60),
       "matches over wrapped rows", marks(p))
    p.send("/^word\r")
    ok(p.until(lambda: marks(p) == ["word"]),
       "^ matches the start of a line, not of a row", marks(p))
    ok("   1  step:1/" in p.screen.text() and "4  step:2/" in p.screen.text(),
       "a short log is shown completely", p.screen.text())
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
       "a long name keeps its start and its end", title(p))
    end(p, "a title")


def test_none():
    p = start(write("none.log", ""), ready="starting, 0 lines")
    is_seen(p, "This log has no lines yet.", "a log of 0 bytes")
    p.send("y")
    is_seen(p, "no line to copy", "an empty log has no line to copy")
    p.send("A")
    is_seen(p, "These logs have no lines yet.", "the merged view has no lines")
    write("none.log", ROW % (1, 5, 1), "ab")
    is_seen(p, "step:1/", "the merged view gets a line")
    end(p, "none")
    # Keys that arrive together: no frame is drawn between them.
    write("none.log", "")
    write("none.json", json.dumps({"pods": [
        {"name": "n", "transport": "local", "logs": [path("none.log")]}]}))
    for keys in "5y", "5wjjy", "5i":
        p = Program([TUI, "--config", path("none.json")], 120, 30,
                    home_dirs(home), home)
        p.wait_for("starting, 0 lines")
        p.send(keys)
        is_seen(p, "no line ", "an empty log of a pod has no line to copy")
        end(p, "none of a pod")


def test_pod():
    """A pod's log, shown from its local copy."""
    os.makedirs(path("pod"))
    log = write("pod/train.log", "".join(ROW % (i, 5, i) for i in range(99)))
    config = write("pod.json", json.dumps({
        "schema": "hgym-tui.config/1",
        "pods": [{"name": "here", "transport": "local",
                  "logs": [path("pod/*.log")]}]}))
    p = start("--config", config)
    is_seen(p, "step:98/", "a pod's log is shown from its local copy")
    write("pod/train.log", ROW % (99, 5, 99), "ab")
    is_seen(p, "step:99/", "a pod's log is followed")
    os.rename(log, log + ".1")
    write("pod/train.log", "".join(ROW % (i, 3, i) for i in range(60)))
    is_seen(p, "step:59/", "a pod's log is followed after a rotation")
    is_gone(p, "step:99/", "only the new file is shown")
    # Delete the local copy while it is shown, like the limit mirror_cap_bytes.
    mirrors = os.path.join(home, "state/hgym-tui")
    gone = [os.path.join(d, f) for d, _, files in os.walk(mirrors)
            for f in files if f.endswith(".log")]
    for name in gone:
        os.unlink(name)
    p.send("g")
    is_seen(p, "step:0/", "the open log is still shown without its copy")
    p.send("A")
    p.settle()
    p.send("A")
    is_seen(p, "The local copy of this log was deleted.",
            "opened again: the deleted copy is reported")
    ok(gone and "step:" not in p.screen.text(),
       "opened again: no line of the deleted copy is shown", gone)
    end(p, "a pod's log")


def test_fast():
    """10,000 lines per second, over SSH: four frames per second, no key is
    lost."""
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
    # At most one frame per started quarter of a second.
    ok(2 <= frames <= took * 4 + 2, "at most four frames per second",
       "%d in %.2f s" % (frames, took))
    is_seen(p, "step:%d/" % (step - 1), "the end is shown")
    p.send("kkkkkkkkkk")
    is_seen(p, "step:%d/" % (step - 11 - 24), "ten keys scroll ten lines")
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
    is_seen(p, "33,0", "all lines are read")
    p.settle()
    p.send("g")
    is_seen(p, ("lines of source code", "step:1/"),
            "source code far above is folded into one line")
    p.send("/x1500 = \r")
    is_seen(p, "▸    x1500 = 1500", "a match in folded source unfolds it")
    p.send("o")
    p.send("g")
    is_seen(p, ("lines of source code", "step:1/"), "o folds it again")
    # Send all keys at once, as if the program had been delayed.
    p.send("Gg/x[78]00 = \r")
    is_seen(p, "▸    x700 = 700", "g and a search: the first of two matches "
                                  "in it")
    p.send("o")
    is_seen(p, "lines of source code", "o folds the source")
    p.send("n")
    is_seen(p, "▸    x800 = 800", "n finds the next match in folded source")
    p.send("o")
    p.send("G")
    is_seen(p, "following", "to the end")
    p.send("E")
    is_seen(p, "no match", "source that raises errors is not an error")
    write("source.log", "RuntimeError: CUDA error: gone\n" + ROW % (9, 5, 1),
          "ab")
    is_seen(p, "step:9/", "an error line arrives")
    p.send("E")
    is_seen(p, "▸RuntimeError: CUDA", "E finds the error line")
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
    is_seen(p, "in order of arrival", "the title shows the order")
    p.send("&last of\r")
    is_seen(p, "3 lines", "a filter over all logs")
    ok(all("last of " + x in p.screen.text() for x in "abc"),
       "the filter matches lines of each log", p.screen.text())
    p.send("/of b\r")
    is_seen(p, "▸last of b", "a search in all logs")
    p.send("&\r")
    p.send("A")
    for _ in range(3):
        p.send("J")
        p.settle(0.2)
    is_seen(p, "· 4 lines ·", "J includes logs without a run")
    end(p, "merged")


def test_by_time():
    """Two logs of 20,000 lines with times, one a quarter of a second later."""
    for name, late in (("a", 0.0), ("b", 0.25)):
        os.makedirs(path("t" + name), exist_ok=True)
        write("t%s/train.log" % name, "".join(
            "%.2f " % (1776143914 + i + late) + ROW % (i, 5, i) +
            ("more of %s %d\n" % (name, i) if i % 100 == 0 else "")
            for i in range(20000)))
    p = start(path("ta/train.log"), path("tb/train.log"))
    p.wait_for("step:19999/")
    p.send("A")
    is_seen(p, "by time", "logs with times are merged by time")

    def in_order():
        rows = [re.search(r"(\d+\.\d\d) step:(\d+)", line)
                for line in p.screen.text().split("\n")]
        rows = [(float(m.group(1)), int(m.group(2))) for m in rows if m]
        return len(rows) > 20 and rows == sorted(rows) and \
            rows[-1] == (1776163913.25, 19999)
    ok(p.until(in_order), "the merged lines are in order")
    write("ta/train.log", "1776163914.00 a is done\n", "ab")
    write("tb/train.log", "1776163914.25 b is done\n", "ab")
    is_seen(p, "b is done", "new lines are merged")
    p.send("&more of\r")
    is_seen(p, "& more of: 400 lines · by time ─",
            "a filter over merged logs")
    p.send("g")
    is_seen(p, "more of a 0", "g shows the first line of the filter")
    p.send("&\r")
    p.send("G")
    p.settle(0.3)
    p.send("/more of b 300$\r")
    is_seen(p, ("▸more of b 300", "step:301/"), "a search far above")
    text = p.screen.text()
    ok(text.find("more of a 300") < text.find("more of b 300") <
       text.find("step:301/"), "lines without a time follow their previous "
                               "line",
       text)
    p.send("g")
    is_seen(p, "step:0/", "jump to the start")
    end(p, "by time")


def test_learn():
    """A key makes rules from a line: they are shown, confirmed, written, and
    never overwritten."""
    log = write("own.log", "setting up\n" + "".join(
        "Step %d | loss %.4f | odd %.2f\n" % (i * 10, 9 - i / 7, i / 3)
        for i in range(1, 30)) + "all done\n")
    file = os.path.join(home, "config", "hgym-tui", "formats",
                        "own.log.json")
    p = start(log, ready="train loss")
    p.wait_for("all done")
    p.send("/all done\ri")
    is_seen(p, "cannot create a rule from this line", "a line without values")
    p.send("/Step 100 \r")
    is_seen(p, "▸Step 100 ", "a line with values")
    p.send("i")
    is_seen(p, "This writes a file", "rules are written after a confirmation")
    is_seen(p, "29 rows of training: \"Step\" (step), \"loss\" (train_loss),",
            "the rules are explained")
    is_seen(p, "formats/own.log.json", "the file is named")
    p.send("no\r")
    is_seen(p, "cancelled", "no: nothing happens")
    ok(not os.path.exists(file), "no: no file is written")
    p.send("iyes\r")
    is_seen(p, "takes effect after a restart", "yes: the rules are written")
    p.send("i")
    is_seen(p, "own.log.json already exists", "an existing file is not "
                                              "overwritten")
    end(p, "rules of a line")
    told = run("formats", "check", "own.log", log)
    ok("row-1  train     29" in told, "the next start uses the rules", told)
    with open(file, "w") as out:
        out.write("no rules")
    ok("own.log.json" in run("formats", "list"), "invalid rules are reported "
                                                 "with their file")
    ok("own.log.json" not in run("parse", "--json", log),
       "parse does not read the configuration")
    os.unlink(file)


def test_piped():
    """The program follows standard input, and deletes its copy at the end, also
    if the terminal is closed."""
    os.mkdir(path("piped"))
    write("piped/src", b"seed:7\n" + (ROW % (1, 4.5, 100)).encode())
    for how in ("left", "hung up"):
        p = Program(["/bin/sh", "-c", "tail -n +1 -f piped/src | exec %s -" %
                     TUI], env=dict(home_dirs(home), TMPDIR=path("piped")),
                    cwd=home, width=120, height=30)
        is_seen(p, "stdin", "a log is read from a pipe")
        write("piped/src", (ROW % (77, 3.25, 7700)).encode(), "ab")
        is_seen(p, "3.2500", "new lines are shown")
        if how == "left":
            p.send("Q")
            until(lambda: os.listdir(path("piped")) == ["src"], 60, p.pump)
        p.close()
        ok(until(lambda: os.listdir(path("piped")) == ["src"]),
           how + ": its copy is deleted", os.listdir(path("piped")))


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
