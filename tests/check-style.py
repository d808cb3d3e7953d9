#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the style rules that a program can check, one TAP line per rule.

A rule is a function that takes a file and yields (line, message).  Each rule
has a planted violation below, to show that it can fail.
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "support"))
from tap import finish, ok, skip  # noqa: E402

FOLDERS = ("src", "ui", "parsers", "remote", "tests", "man", ".ci", ".github",
           "debian", "packaging")
ROOT_FILES = ("configure.ac", "Makefile.am", "bootstrap", "README.md", "NEWS",
              "REUSE.toml")
# Files that cannot contain the line; REUSE.toml lists them.
LICENSED = ("*.json", "*.rec", "*.txt", "*.svg", "debian/*", "docs/evidence/*",
            "tests/fuzz/corpus/*", "tests/*/golden/*", "LICENSE", "NEWS")
SPDX = "SPDX-License-Identifier: MIT"
MAX_COLUMNS, MAX_FUNCTION, P95_FUNCTION = 100, 100, 60

BANNED = {
    "atoi": "str_to_i64", "atol": "str_to_i64", "atoll": "str_to_i64",
    "atof": "str_to_double", "strcpy": "buf_append_str",
    "strcat": "buf_append_str", "strncpy": "memcpy or buf_append",
    "strncat": "buf_append", "sprintf": "snprintf",
    "vsprintf": "vsnprintf", "strtok": "str_next", "gets": "fgets",
    "localtime": "localtime_r", "gmtime": "gmtime_r", "ctime": "strftime",
    "asctime": "strftime", "system": "posix_spawn", "popen": "posix_spawn",
    "alloca": "xmalloc", "tmpnam": "mkstemp", "mktemp": "mkstemp",
    "rand": "a seeded generator", "srand": "a seeded generator",
}
# Memory comes from xalloc.h, which aborts, so that callers need no check.
ALLOCATORS = ("malloc", "calloc", "realloc", "reallocarray", "strdup",
              "strndup", "asprintf", "vasprintf")


class File:
    """A text file of the tree; code is its text without comments and strings."""

    def __init__(self, root, path):
        self.path = path
        self.full = os.path.join(root, path)
        with open(self.full, "rb") as stream:
            self.bytes = stream.read()
        self.text = self.bytes.decode("utf-8", "replace")
        self.lines = self.text.split("\n")
        self.is_c = path.endswith((".c", ".h"))
        self._code = None

    @property
    def code(self):
        """Lines with comments and the inside of literals blanked."""
        if self._code is None:
            pattern = (r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
                       r"|'(?:\\.|[^'\\\n])*'")
            self._code = re.sub(
                pattern, lambda m: re.sub(r"[^\n]", " ", m.group()),
                self.text, flags=re.S).split("\n")
        return self._code


def spdx(f):
    """Every file names its licence first, or REUSE.toml does."""
    if f.is_c and f.lines[0] != "/* %s */" % SPDX:
        yield 1, "the first line is not /* %s */" % SPDX
    elif not any(SPDX in line for line in f.lines[:3]) and \
            not any(fnmatch.fnmatch(f.path, one) for one in LICENSED):
        yield 1, "%s is not among the first three lines" % SPDX


def purpose(f):
    """The second line of each .c starts a comment about its purpose."""
    if not f.path.endswith(".c"):
        return
    if len(f.lines) < 2 or not f.lines[1].startswith("/*"):
        yield 2, "the second line does not start a comment on the purpose of the file"


def guard(f):
    """A header has #pragma once after its licence."""
    if f.path.endswith(".h") and f.lines[1:2] != ["#pragma once"]:
        yield 2, "the second line is not #pragma once"


def include_order(f):
    """First the own header, then <system>, then project headers; no config.h."""
    found = []
    for number, line in enumerate(f.lines, 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
        if match:
            found.append((number, match.group(1), match.group(2)))
    if f.path.endswith(".c"):
        stem = os.path.basename(f.path)[:-2]
        own = os.path.join(os.path.dirname(f.full), stem + ".h")
        if os.path.exists(own):
            # x_internal.h may be first instead of x.h, which it includes.
            if not found or not os.path.basename(
                    found[0][2]).startswith(stem):
                yield 1, "the first include is not the file's own header"
                return
        # A test includes the header of the code under test first.
        if found and found[0][1] == '"':
            found = found[1:]
    seen_ours = False
    for number, mark, name in found:
        if name == "config.h":
            yield number, '"config.h" is included by the compiler option -include'
        seen_ours = seen_ours or mark == '"'
        if mark == "<" and seen_ours:
            yield number, "<%s> comes after project headers" % name


def columns(f):
    """No line is wider than 100 columns; a tab counts as 8.

    Tests may contain the output of a program as one literal.
    """
    if not (f.is_c or f.path.endswith((".sh", ".py", ".ac", ".am", ".inc"))):
        return
    for number, line in enumerate(f.lines, 1):
        width = len(line.expandtabs(8))
        literal = (re.match(r'\s*"([^"\\]|\\.)*"[,;)]*$', line)
                   or not f.is_c and re.search(r"(['\"]).{40,}\1", line))
        if width > MAX_COLUMNS and not (literal and "tests/" in f.path):
            yield number, "%d columns" % width


def blanks(f):
    """No trailing blanks, no CR, one newline at the end."""
    for number, line in enumerate(f.lines, 1):
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
    if f.text and (not f.text.endswith("\n") or f.text.endswith("\n\n")):
        yield len(f.lines), "the file does not end with one newline"


def banned_calls(f):
    """Functions that cannot be used safely are not called."""
    if not f.is_c:
        return
    names = dict(BANNED)
    if not f.path.startswith(("tests/", "src/base/xalloc")):
        names.update((name, "x" + name) for name in ALLOCATORS)
    pattern = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(names))
    for number, line in enumerate(f.code, 1):
        for match in pattern.finditer(line):
            yield number, "%s(): use %s" % (match.group(1),
                                            names[match.group(1)])


# Functions that open something that main opens once, then the files and
# directories that may call them.
OPENERS = {
    "conf_load": ("src/conf/", "src/context.c"),
    "format_set_new_builtin": ("parsers/", "src/context.c"),
    "format_set_load": ("parsers/", "src/context.c"),
    "track_load": ("src/model/", "src/context.c"),
    "conf_db_path": ("src/conf/", "src/context.c"),
    # The collector opens it for writing.
    "store_open": ("src/store/", "src/context.c", "src/ingest/"),
}


def opened_once(f):
    """Only the context opens configuration, rules, track and database."""
    if not f.is_c or f.path.startswith("tests/"):
        return
    for number, line in enumerate(f.code, 1):
        for name in re.findall(r"\b(%s)\s*\(" % "|".join(OPENERS), line):
            if not f.path.startswith(OPENERS[name]):
                yield number, "%s(): use the context, which has it open" % name


def stdout_is_cmds(f):
    """Only the commands print to stdout; the screen has its terminal."""
    if not f.is_c or f.path.startswith(("src/cmd/", "src/base/plain.c",
                                        "tests/")):
        return
    pattern = r"\bstdout\b|(?<![\w.>])(v?printf|puts|putchar)\s*\("
    if not f.path.startswith("ui/"):
        pattern += r"|\bSTDOUT_FILENO\b"
    for number, line in enumerate(f.code, 1):
        if re.search(pattern, line):
            yield number, "only src/cmd may print to stdout"


def no_typedef(f):
    """A struct is called struct."""
    if not f.is_c:
        return
    for number, line in enumerate(f.code, 1):
        if re.match(r"\s*typedef\s+(struct|union|enum)\b", line):
            yield number, "typedef of a struct"


def kept_texts(f):
    """A pointer into a temporary value must not outlive its statement."""
    code = "\n".join(f.code) if f.is_c else ""
    for match in re.finditer(r"[^=!<>](=)\s*(?:str_from\()?(?:fmt_\w+|"
                             r"plot_run_label)\([^;]*\)\s*\.s\)?;", code):
        yield (code.count("\n", 0, match.start(1)) + 1,
               "a pointer into a temporary value is kept")


def functions(f):
    """(line, number of lines) of each function."""
    start = 0
    for number, line in enumerate(f.code, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            yield start, number - start
            start = 0


def function_length(f):
    """No function has more than 100 lines."""
    if not f.is_c:
        return
    for start, size in functions(f):
        if size > MAX_FUNCTION:
            yield start, "a function of %d lines" % size


def function_p95(files):
    """The 95th percentile of function lengths in the product, in lines."""
    sizes = sorted(size for f in files
                   if f.is_c and not f.path.startswith("tests/")
                   for _, size in functions(f))
    return sizes[len(sizes) * 95 // 100] if sizes else 0


def local_paths(f):
    """No path of a developer's machine."""
    folders = "work/(?:main|wt-|shared|tools)"
    if not f.path.startswith("tests/"):
        folders += "|home/[a-z]"
    pattern = re.compile(r"(?<![\w.~-])/(?:%s)" % folders)
    for number, line in enumerate(f.lines, 1):
        if pattern.search(line):
            yield number, "a path of one machine"


def left_overs(f):
    """No left-over marks."""
    pattern = re.compile(r"\b(%s)\b" % "|".join(("TO" + "DO", "FIX" + "ME",
                                                 "X" + "XX:", "HA" + "CK")))
    for number, line in enumerate(f.lines, 1):
        if pattern.search(line):
            yield number, "a left-over mark"


def one_tap(f):
    """A test in Python counts by tests/support/tap.py."""
    if not f.path.startswith("tests/") or not f.path.endswith(".py") or \
            f.path == "tests/support/tap.py":
        return
    for number, line in enumerate(f.lines, 1):
        if re.match(r"def ok\(|.*print\(f?['\"]1\.\.", line):
            yield number, "use tests/support/tap.py for counts and plan"


# Turns of phrase that stop an English reader, and what to write instead.
PHRASES = {
    r"(is|are|was|were|be) no (number|file|folder|pod|run|log|row|key|line|"
    r"name|path|value|option|command|format|rule|list|object|loss|step)\b":
        'is not a ..',
    r"(says?|said) (of|so|what|it|how|whether|which|why|where|nothing)\b":
        "report, show or print something",
    r"(tells?|told) (of|what|how|whether|which|why|where|by)\b|is told\b|"
    r"are told\b": "shows, is reported",
    r"(hold|holds|held) (it |them |that |each )?against\b": "compare with",
    r"(begins?|began|begun)\b": "start",
    r"stands? (behind|twice|beside|here|there)\b": "is, comes after",
    r"(lies|lie) (in|at|here|there|below|beside)\b": "is in",
    r"anew\b": "again",
    r"(nobody|whoever)\b": "name who or what it is",
    r"so (many|long) (seconds|minutes|bytes|lines|runs|blocks)\b": "N ..",
    r"a (row|line|object|file) a (row|line|run|pod|file|key|group|arm)\b":
        "one .. per ..",
    r"but for (a|an|the|its|their|those|that|what)\b": "except",
    r"at hand\b": "name it",
    r"(lets?|letting) (it |them )?go\b": "close, release, drop",
    r"(thereof|therein|thereby|withal|whereof|hitherto|naught|nought)\b":
        "plain English",
    r"(were|be) it\b": "if it is",
    r"(Has|Have) (the|another) \w+ (a|an|another|the same)\b": "Does .. have",
    r"(comes?|came) to rest\b": "stops growing, stopped",
    r"(differs?|differed) from itself\b": "name both sides",
    r"(rows?|lines?|runs?|files?|benches|messages|MB) an? (hour|minute|day)\b":
        "N .. per ..",
    r"of (its|their|his) own:": "with its own, separate",
    r"is no (process|copy|band|error|measurement)\b": "is not a ..",
    r"nor (is|are|does|do|has|have|was|were|can|may|will)\b": "and .. not",
    r"(and|but),? so (is|are|do|does|did|was|were|has|have)\b": "as is, as do",
    r"(log|file|database|model|table|row|manual|script|library) "
    r"(knows|wants|thinks|believes|tells|sees)\b": "contains, expects",
    r"another \w+ than\b": "a different .. from",
}
PHRASE = re.compile(r"(?<![\w-])(?<!there )(?:%s)" % "|".join(
    "(?P<p%d>%s)" % (n, phrase) for n, phrase in enumerate(PHRASES)))


def prose_of(f):
    """(line, text) of each comment, and of literals of C and lines of manuals.

    Short literals are names and not prose.
    """
    if f.is_c:
        pattern = (r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
                   r'(?:\s*"(?:\\.|[^"\\\n])*")*')
        for match in re.finditer(pattern, f.text, re.S):
            text = re.sub(r'"\s*"|\n\s*\*', " ", match.group())
            if len(text.split()) > 2:
                yield f.text.count("\n", 0, match.start()) + 1, text
    else:
        pattern = r"(?:^|\s)#\s.*" if f.path.endswith((".py", ".sh")) else ".*"
        for number, line in enumerate(f.lines, 1):
            for match in re.finditer(pattern, line):
                yield number, match.group()


def test_names(f):
    """A test's name does not continue the name before it."""
    if not f.path.startswith("tests/"):
        return
    pattern = re.compile(
        r'"(?:nor|neither is|also (?:if|in)|but not|so (?:is|are|do|does|may)|'
        r"and (?:is|are|has|was|no|not|it|keeps|then)|until it) [a-z]")
    for number, line in enumerate(f.lines, 1):
        if pattern.search(line):
            yield number, "a test name that needs the one before it"


def plain_words(f):
    """Comments, messages and the manual avoid phrases that stop a reader."""
    if f.path.endswith((".json", "check-style.py", "loggen_blocks.c")):
        return
    for number, text in prose_of(f):
        for match in PHRASE.finditer(re.sub(r"\s+", " ", text)):
            instead = list(PHRASES.values())[int(match.lastgroup[1:])]
            yield number, "%s: write %s" % (match.group(), instead)


RULES = (spdx, purpose, guard, include_order, columns, blanks, banned_calls,
         opened_once, stdout_is_cmds, no_typedef, kept_texts,
         function_length, local_paths, left_overs, one_tap, test_names,
         plain_words)

HEAD = "/* %s */\n/* For the test. */\n" % SPDX
PLANTED = {
    spdx: ("src/x.c", "/* nothing */\n"),
    purpose: ("src/x.c", "/* %s */\nint x;\n" % SPDX),
    guard: ("src/base/x.h", "/* %s */\n#ifndef X_H\n" % SPDX),
    include_order: ("src/x.c", HEAD + '\n#include "base/a.h"\n'
                    '#include "base/b.h"\n#include <stdio.h>\n'),
    columns: ("src/x.c", HEAD + "\tint x;" + " " * 80 + "/* wide */\n"),
    blanks: ("src/x.c", HEAD + "int x; \n"),
    banned_calls: ("src/x.c", HEAD + "int x = at" "oi(s);\n"),
    opened_once: ("src/bench/x.c", HEAD + "int x = conf_load(&c, p, err);\n"),
    stdout_is_cmds: ("src/bench/x.c", HEAD + "int x = printf(s);\n"),
    kept_texts: ("src/x.c", HEAD + "\tname = fmt_age(x)\n\t\t.s;\n"),
    no_typedef: ("src/x.c", HEAD + "typedef struct { int a; } b;\n"),
    function_length: ("src/x.c",
                      HEAD + "int f(void)\n{\n" + "\tg();\n" * 101 + "}\n"),
    local_paths: ("src/x.c", HEAD + '"/ho' 'me/somebody/x";\n'),
    left_overs: ("src/x.c", HEAD + "/* TO" "DO */\n"),
    one_tap: ("tests/x.py", "def ok" "(passed):\n"),
    test_names: ("tests/x.c", HEAD + '\tok(x, "nor' ' is the other");\n'),
    plain_words: ("src/x.c", HEAD + '"the name is no num' 'ber"\n'),
}


def read_tree(root):
    """Read every text file of the project under root, sorted by path."""
    paths = [p for p in ROOT_FILES if os.path.exists(os.path.join(root, p))]
    for folder in FOLDERS:
        for at, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [d for d in folders
                          if d not in ("data", "corpus", "__pycache__")]
            for name in names:
                if name.endswith((".c", ".h", ".sh", ".py", ".inc", ".md",
                                  ".json", ".1", ".5", ".in")):
                    paths.append(os.path.relpath(os.path.join(at, name), root))
    return [File(root, path) for path in sorted(paths)]


def violations(rule, files):
    return ["%s:%d: %s" % (f.path, number, message)
            for f in files for number, message in rule(f)]


def clang_format(files):
    """(violations, reason to skip)"""
    tool = shutil.which("clang-format")
    if tool is None:
        return [], "clang-format is not installed"
    version = subprocess.run([tool, "--version"], stdout=subprocess.PIPE,
                             check=True, text=True).stdout
    if not re.search(r"version 14\.", version):
        return [], "the layout is that of clang-format 14"
    done = subprocess.run(
        [tool, "--dry-run", "--Werror", "--style=file"]
        + [f.full for f in files if f.is_c],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    found = [line for line in done.stderr.split("\n")
             if "clang-format-violations" in line]
    return found if done.returncode else [], None


def hold(name, found):
    ok(not found, name, "\n".join(found[:40]))


def check_planted():
    """Each rule must find its planted violation."""
    for rule, (path, text) in PLANTED.items():
        with tempfile.TemporaryDirectory() as root:
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full))
            with open(full, "w", encoding="utf-8") as stream:
                stream.write(text)
            found = violations(rule, read_tree(root))
        ok(found, "%s can fail" % rule.__name__, "nothing found in: %r" %
           text)


def main():
    root = os.environ.get("HGYM_SRC") or os.path.dirname(HERE)
    files = read_tree(root)
    for rule in RULES:
        hold("%s: %s" % (rule.__name__, rule.__doc__.split("\n")[0]),
             violations(rule, files))
    found, why = clang_format(files)
    name = "clang_format: the layout matches clang-format"
    if why:
        skip(name, why)
    else:
        hold(name, found)
    p95 = function_p95(files)
    ok(0 < p95 < P95_FUNCTION, "95 %% of all functions have fewer than %d "
       "lines" % P95_FUNCTION, "95 %% have up to %d" % p95)
    ok(len(files) > 30, "the tree was read", "%d files" % len(files))
    check_planted()
    return finish()


sys.exit(main())
