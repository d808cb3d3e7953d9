#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The speed with which `parse` extracts every field, next to tools that only
search.

First unchanged logs, next to rg with seven patterns that a user who looks for
results would type: the corpus of real logs, BENCH_COPIES (60) times, if
../shared/corpus exists; otherwise, and in three more shapes, generated logs.  Then
BENCH_MB (250) megabytes of generated logs in the shapes of real ones, one log per
run, and all of them in one file, next to tools that search for the program's own
rules.  Each tool reads the same bytes from the page cache, in turn with the
others; the best of BENCH_ROUNDS (5) counts; slow tools read a smaller slice.
MB are 1,000,000 bytes; peak RSS is that of the process, from the kernel.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ.get("HGYM_BUILD", "build")
PROGRAM = os.environ.get("HGYM_TUI", os.path.join(BUILD, "hgym-tui"))
MB = float(os.environ.get("BENCH_MB", "250"))
SLICE_MB = 25
TIMES = int(os.environ.get("BENCH_ROUNDS", "5"))
CORPUS = os.path.join(os.environ.get("HGYM_SRC", "."), "..", "shared",
                      "corpus", "logs")
COPIES = int(os.environ.get("BENCH_COPIES", "60"))
SEVEN = "|".join((
    r"^([0-9.]+ )?(step:)?[0-9]+/[0-9]+ .*loss: ?[0-9.]+",
    r"val_bpb: ?[0-9.]+", r"^Total submission size.*bytes",
    r"^total_eval_time", r"^ *seed: ?[0-9]+", r"^stopping_early",
    r"^peak memory"))


def copy_corpus(folder):
    """Copies of each log in separate folders. Returns the paths in order."""
    paths = []
    for n in range(COPIES):
        copy = os.path.join(folder, "%02d" % n)
        shutil.copytree(CORPUS, copy, copy_function=shutil.copyfile)
        for at, _, names in os.walk(copy):
            paths += [os.path.join(at, name) for name in names]
    return sorted(paths)


def as_recorded(lines):
    """The same as sent to a terminal: CR LF, colors, progress bars that are
    drawn again."""
    for n, line in enumerate(lines):
        if n % 7 == 0:
            line = b"\x1b[32m" + line + b"\x1b[0m"
        yield line + b"\r"
        if n % 50 == 0:
            yield b"\r".join(b" %d%%|###   | %d/100 [00:10<00:12, 4.4it/s]" %
                             (k, k) for k in range(0, 100, 10)) + b"\r"


def with_times(lines):
    """The same with a time before each line, as loggers and containers print
    it."""
    for n, line in enumerate(lines):
        yield b"17761%05d.%03d " % (n // 10 % 100000, n % 1000) + line


def as_printed(lines):
    return lines


def join(paths, path, shape=as_printed):
    """The same in one file."""
    with open(path, "wb") as out:
        for name in paths:
            with open(name, "rb") as log:
                lines = log.read().split(b"\n")
                out.write(b"\n".join(shape(lines)))
    return path


def compare_seven(what, paths, pattern=SEVEN):
    """parse and rg in turn over the same files."""
    size = sum(os.path.getsize(path) for path in paths)
    tools = (("hgym-tui parse -j1", [PROGRAM, "parse", "--json", "-j1"]),
             ("rg -j1 -c, 7 patterns" if pattern == SEVEN else
              "rg -j1 -c " + pattern, ["rg", "-j1", "-a", "-c", pattern]))
    if shutil.which("rg") is None:
        print("rg is not installed")
        tools = tools[:1]
    runs = [[] for _ in tools]
    run_once(["cat"] + paths)
    for _ in range(TIMES):
        for seen, (_, command) in zip(runs, tools):
            seen.append(run_once(command + paths))
    rates = [size / 1e6 / min(run[0] for run in seen) for seen in runs]
    print("%s: %d files, %.0f MB" % (what, len(paths), size / 1e6))
    for (name, _), seen, rate in zip(tools, runs, rates):
        print("  %-24s %6.0f MB/s, x rg %s, peak RSS %.1f MB" % (
            name, rate,
            "%.2f" % (rate / rates[1]) if len(rates) > 1 else "-",
            max(run[1] for run in seen)))


def bench_as_they_are():
    with tempfile.TemporaryDirectory(prefix="hgym-bench-") as folder:
        if os.path.isdir(CORPUS):
            paths = copy_corpus(folder)
            compare_seven("Real logs as they are", paths)
            one = join(paths, os.path.join(folder, "one.log"))
            compare_seven("The same in one file", [one])
    with tempfile.TemporaryDirectory(prefix="hgym-bench-") as folder:
        paths, whole, _ = make_logs(folder, [])
        compare_seven("Generated logs, the script first", paths)
        for what, shape in (("recorded from a terminal", as_recorded),
                            ("a time before each line", with_times)):
            compare_seven("The same in one file, " + what,
                          [join(paths, whole, shape)])


SHAPES = (
    ("in turns", "epoch 1 step %d loss %.4f lr 0.1\n"
                 "step %d val_loss %.4f acc 0.5\n"),
    ("of two ranks", "[rank0]: step %d loss %.4f\n"
                     "[rank1]: step %d loss %.4f\n"),
    ("in bars", "\rfit:  7%%|#  | %d/9999999 [01:00<10:12, 4.4it/s, loss=%.3f]"
                "\rfit:  7%%|#  | %d/9999999 [01:00<10:12, 4.4it/s, loss=%.3f]"),
)


def bench_unknown():
    """Rows that match no rule, read by their shape."""
    for what, shape in SHAPES:
        with tempfile.TemporaryDirectory(prefix="hgym-bench-") as folder:
            path = os.path.join(folder, "unknown.log")
            with open(path, "w", encoding="ascii") as out:
                for n in range(1, int(MB * 1e6 / 2 / len(shape))):
                    loss = 9 - n % 997 / 1e3
                    out.write(shape % (2 * n, loss, 2 * n + 1, loss))
            compare_seven("Rows that match no rule, " + what, [path], "loss")
    with tempfile.TemporaryDirectory(prefix="hgym-bench-") as folder:
        path = os.path.join(folder, "unknown.log")
        with open(path, "w", encoding="ascii") as out:
            for n in range(1, int(MB * 1e6 / 130)):
                out.write("Update %d of 9999999 | loss %.4f | lr 1.000e-04 | "
                          "gnorm %.3f | dt: %.2fms | tok/sec: %d | "
                          "mem 12.3GB | objective %.5f\n"
                          % (n, 9 - n % 997 / 1e3, n % 89 / 100,
                             100 + n % 7, 25000 + n % 999, n % 83 / 100))
        compare_seven("Rows that match no rule", [path], "loss")


def one_alternation():
    """All rules of the program as one plain pattern that matches the same
    lines.

    Groups lose their names, possessive quantifiers become greedy, and features
    that only PCRE2 has (look-around) are left out or, at the end of a field,
    written as "a blank or the end"."""
    patterns, left_out = [], 0
    listed = subprocess.run([PROGRAM, "formats", "list", "--json"],
                            stdout=subprocess.PIPE, check=True).stdout
    for name in (json.loads(line)["name"] for line in listed.splitlines()):
        shown = subprocess.run([PROGRAM, "formats", "show", name, "--json"],
                               stdout=subprocess.PIPE, check=True).stdout
        for line in shown.decode().splitlines():
            pattern = plain(json.loads(line)["match"])
            if is_plain(pattern):
                patterns.append(pattern)
            else:
                left_out += 1
    if left_out:
        print("%d of %d rules have no plain pattern: the other tools skip them"
              % (left_out, left_out + len(patterns)))
    return "|".join(patterns)


def is_plain(pattern):
    """Can Python, grep and, if it is installed, rg read the pattern?"""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return "(?" not in pattern and all(
        subprocess.run([*tool, "-e", pattern, "/dev/null"],
                       stderr=subprocess.DEVNULL).returncode < 2
        for tool in (["grep", "-E"], ["rg"]) if shutil.which(tool[0]))


def plain(pattern):
    pattern = re.sub(r"\(\?<\w+>", "(", pattern)
    pattern = re.sub(r"([+*?])\+", r"\1", pattern)
    pattern = re.sub(r"\(\?=\.\*[^|]*?\|\)", "", pattern)
    pattern = re.sub(r"\(\?=[^()]*(\([^()]*\)[^()]*)*\|\)", "", pattern)
    pattern = pattern.replace("(?=.{300})", "")
    pattern = pattern.replace("(?= |$)", "( |$)")
    pattern = pattern.replace("(?= |,|$)", "( |,|$)")
    pattern = re.sub(r"\(\?[!=]([^()]|\([^()]*\))*\)", "", pattern)
    pattern = pattern.replace("(?:", "(").replace("*?", "*")
    pattern = pattern.replace("{0,4}?", "{0,4}").replace(r"\w+?", r"\w+")
    # ASCII classes, which mean the same in all these tools.
    pattern = re.sub(r"\[[^]]*\]", lambda m: m.group().replace(
        r"\w", "A-Za-z0-9_").replace(r"\d", "0-9"), pattern)
    pattern = pattern.replace(r"\w", "[A-Za-z0-9_]").replace(r"\d", "[0-9]")
    return pattern.replace(r"\S", "[^ ]").replace(r"\b", "")


PYTHON_LOOP = """
import re, sys
taken = 0
find = re.compile(sys.argv[1]).search
with open(sys.argv[2], encoding="utf-8", errors="replace") as log:
    for line in log:
        taken += find(line) is not None
print(taken)
"""


def make_logs(folder, dense):
    """The logs, the file that contains all of them, and its first part."""
    logs = os.path.join(folder, "logs")
    subprocess.run([os.path.join(BUILD, "tests/tools/gen-logs"), "--mb",
                    str(int(MB)), *dense, logs], check=True)
    paths = sorted(os.path.join(logs, name) for name in os.listdir(logs))
    whole = os.path.join(folder, "all.log")
    with open(whole, "wb") as out:
        for path in paths:
            with open(path, "rb") as log:
                shutil.copyfileobj(log, out, 1 << 20)
    part = os.path.join(folder, "slice.log")
    with open(whole, "rb") as log, open(part, "wb") as out:
        out.write(log.read(SLICE_MB * 1000000))
    return paths, whole, part


def run_once(command):
    """Returns (seconds, peak RSS in MB)."""
    done = subprocess.run([os.path.join(BUILD, "tests/tools/measure")]
                          + command, stdout=subprocess.PIPE, check=True,
                          env=dict(os.environ, LC_ALL="C"))
    took, rss = done.stdout.split()
    return float(took), int(rss) / 1e6


def measure(command, size, times):
    """Returns (MB/s of the best run, highest peak RSS in MB, MB read)."""
    runs = [run_once(command) for _ in range(times)]
    return (size / 1e6 / min(run[0] for run in runs),
            max(run[1] for run in runs), size / 1e6)


def tools(paths, whole, part):
    """The tools, each as (name, command, file that it reads, number of times)."""
    lines = one_alternation()
    parse = [PROGRAM, "parse", "--json"]
    return (
        ("hgym-tui parse, 1 thread, 1 file", parse + ["-j", "1", whole],
         whole, TIMES),
        ("hgym-tui parse, 1 thread, %d files" % len(paths),
         parse + ["-j", "1"] + paths, whole, TIMES),
        ("hgym-tui parse, all cores, %d files" % len(paths), parse + paths,
         whole, TIMES),
        ("wc -l", ["wc", "-l", whole], whole, TIMES),
        ("rg -c", ["rg", "-j1", "-c", lines, whole], whole, TIMES),
        ("grep -cE", ["grep", "-cE", lines, whole], whole, TIMES),
        ("pcre2grep -c", ["pcre2grep", "-c", lines, part], part, TIMES),
        ("lnav -n :filter-in",
         ["lnav", "-n", "-c", ":filter-in " + lines, part], part, 1),
        ("python3 re loop",
         [sys.executable, "-c", PYTHON_LOOP, lines, part], part, 1))


def print_table(table):
    base = next((row[1][0] for row in table if row[0] == "rg -c"), None)
    print("%-38s %9s %9s %12s %8s" % ("", "MB/s", "x rg -c", "peak RSS MB",
                                      "MB read"))
    for name, (rate, rss, size) in table:
        print("%-38s %9.0f %9s %12.1f %8.0f" % (
            name, rate, "%.2f" % (rate / base) if base else "-", rss, size))


def bench(what, dense):
    with tempfile.TemporaryDirectory(prefix="hgym-bench-") as folder:
        paths, whole, part = make_logs(folder, dense)
        print("\n%s: %d logs, %.0f MB, %d cores" % (
            what, len(paths), os.path.getsize(whole) / 1e6,
            os.cpu_count() or 1))
        run_once(["cat", whole])
        table = []
        for name, command, read, times in tools(paths, whole, part):
            if shutil.which(command[0]) is None:
                print("%s is not installed" % command[0])
                continue
            try:
                table.append((name, measure(command, os.path.getsize(read),
                                            times)))
            except subprocess.CalledProcessError as error:
                print("%s: status %d" % (name, error.returncode))
        print_table(table)


def main():
    bench_as_they_are()
    bench_unknown()
    bench("One row per step (nearly every line is a row)", ["--dense"])
    bench("Output of training scripts (source, tables, settings between the "
          "rows)", [])
    return 0


sys.exit(main())
