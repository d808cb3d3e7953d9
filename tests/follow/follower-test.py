#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The follower that hgym-tui starts on a pod, run by python3, dash and busybox
on real files: all kinds of rotation, names of any bytes, resuming, quiet mode,
and its end."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(1, os.path.join(os.environ.get("HGYM_SRC", "."),
                                "tests/support"))
from follower import (Follower, cksum, escape, group, put,  # noqa: E402
                      temps)
from tap import finish, note, ok, skip, skip_all  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

TESTS = []
SLOW = ("t_slow", "t_sparse", "t_end_silent")
# The result of cksum for the file of t_sparse, which takes seconds to compute.
SPARSE_SIZE, SPARSE_SUM = (4 << 30) + 4096, 3318904201


# Writers of frames are spared: without them the follower ends.
KILLER = """#!/bin/sh
d={d}
[ -e $d/pid ] || exec {real} "$@"
read -r follower <$d/pid
[ ! /proc/$$/fd/1 -ef /proc/$follower/fd/1 ] || exec {real} "$@"
n=0
read -r n 2>/dev/null <$d/n-{tool}
n=$((n + 1))
echo $n >$d/n-{tool}
[ $((n % 7)) = 3 ] || exec {real} "$@"
mkdir -p $d/killed/{tool}
[ $((n % 14)) = 3 ] || {real} "$@" | dd bs=100 count=1 2>/dev/null
kill -9 $$
"""

# Appends to the log once, when the follower scans for files.
GROWER = """#!/bin/sh
case $2 in *%Y) rm {d}/grow 2>/dev/null && printf y >>{d}/a.log ;; esac
exec {real} "$@"
"""


def quicker(line):
    """Shorten the time after which an unnamed file is closed from 60 s to 5
    s."""
    assert "DEAD, GRACE = 4096, 60, 60" in line and "grace=60000" in line
    return line.replace("DEAD, GRACE = 4096, 60, 60",
                        "DEAD, GRACE = 4096, 60, 5").replace(
        "grace=60000", "grace=5000")


def stat_of(path):
    st = os.stat(path)
    return st.st_dev, st.st_ino


class Suite:
    def __init__(self, name, shell, script, env=None):
        self.name, self.shell, self.script = name, shell, script
        self.env = env

    def new(self, edit=quicker, **kw):
        return Follower(self.shell, self.script, env=self.env, edit=edit, **kw)

    def ok(self, good, name, told=None):
        return ok(good, "%s: %s" % (self.name, name), told)

    def run_one(self, name):
        folder = tempfile.mkdtemp(prefix="hgym-follow-").encode()
        follower = self.new()
        try:
            getattr(self, name)(follower, folder)
        except AssertionError as e:
            self.ok(False, "%s: %r" % (name, e))
        follower.close()
        shutil.rmtree(folder)

    def run(self):
        names = [name for name in dir(self) if name.startswith("t_") and
                 (not TESTS or name in TESTS)]
        # The tests mostly wait, so run several at the same time, the slowest
        # first.
        names.sort(key=lambda name: (name not in SLOW, name))
        with ThreadPoolExecutor(4) as pool:
            for test in [pool.submit(self.run_one, name) for name in names]:
                test.result()

    def t_append(self, f, d):
        log = d + b"/a.log"
        put(log, b"one\ntwo\npart")
        f.follow(d + b"/*.log")
        self.ok(f.has(log, b"one\ntwo\npart"), "an existing log is read to "
                                               "the last byte")
        blob = bytes(range(256)) * 5
        put(log, b"ial\n\0\0" + blob)
        self.ok(f.has(log, b"one\ntwo\npartial\n\0\0" + blob),
                "a partial line is completed; NUL and all other bytes arrive")
        for i in range(30):
            put(log, b"x%d" % i)
        put(d + b"/b.log", b"new file")
        self.ok(f.has(d + b"/b.log", b"new file"), "a new file is found")
        want = b"one\ntwo\npartial\n\0\0" + blob + b"".join(
            b"x%d" % i for i in range(30))
        self.ok(f.has(log, want), "30 small appends arrive")
        self.ok(f.ping(), "a ping is answered")

    def t_names(self, f, d):
        names = [b"with space.log", b"quote'd\".log", b"new\nline.log",
                 b"-dash.log", b"$HOME `x`.log", b"back\\slash.log",
                 b"\xff\xfe\x80.log", b"star*.log", b"end\n.log"]
        for n in names:
            put(d + b"/" + n, n)
        f.follow(d + b"/*.log")
        self.ok(all(f.has(d + b"/" + n, n) for n in names) and
                len(f.files) == len(names), "file names of any bytes")
        f.follow(d + b"/new\nline.log", d + b"/with space.log")
        put(d + b"/new\nline.log", b"+")
        self.ok(f.has(d + b"/new\nline.log", b"new\nline.log+"),
                "new patterns, one with a newline")
        self.ok(f.until(lambda: sum(x.gone is not None
                                    for x in f.files.values()) == 7),
                "new patterns: files that no longer match are closed")

    def t_rename(self, f, d):
        log = d + b"/a.log"
        put(log, b"first\n")
        f.follow(d + b"/*.log")
        f.has(log, b"first\n")
        old = f.of(log)
        for i in range(3):
            put(log, b"last words %d\n" % i)
            os.rename(log, d + b"/a.log.%d" % i)
            put(log, b"fresh %d\n" % i)
            self.ok(f.has(log, b"fresh %d\n" % i), "rename and create: the "
                                                   "new file is read")
            want = (b"first\n" if i == 0 else b"fresh %d\n" % (i - 1)) + \
                b"last words %d\n" % i
            self.ok(f.until(lambda: bytes(old.data) == want),
                    "rename and create: the last bytes of the old file are "
                    "read")
            old = f.of(log)
        os.rename(log, d + b"/b.log")
        self.ok(f.until(lambda: old.path == d + b"/b.log"),
                "renamed within the patterns: the new name is reported")
        put(d + b"/b.log", b"more")
        self.ok(f.has(d + b"/b.log", b"fresh 2\nmore"), "renamed within the "
                                                        "patterns: new bytes are "
                                                        "read")

    def t_truncate(self, f, d):
        log = d + b"/a.log"
        put(log, b"x" * 1000)
        f.follow(log)
        f.has(log, b"x" * 1000)
        put(log, b"short", "wb")
        self.ok(f.has(log, b"short") and len(f.of(log).parts) == 2,
                "truncated: a new generation")
        f.has(log, b"short")
        put(log, b"y" * 3000, "wb")
        self.ok(f.has(log, b"y" * 3000) and len(f.of(log).parts) == 3,
                "truncated and grown past the offset at once: a new "
                "generation")
        put(log, b"", "wb")
        self.ok(f.until(lambda: len(f.of(log).parts) == 4), "emptied: a new "
                                                            "generation")
        put(log, b"again")
        self.ok(f.has(log, b"again"), "emptied: new bytes are read")
        # The files differ only at the end.
        put(log, b"h" * 400 + b"1" * 100, "wb")
        f.has(log, b"h" * 400 + b"1" * 100)
        put(log, b"h" * 400 + b"2" * 200, "wb")
        self.ok(f.has(log, b"h" * 400 + b"2" * 200),
                "rewritten with the same first 400 bytes: a new generation")

    def t_recreate(self, f, d):
        log = d + b"/a.log"
        put(log, b"old bytes")
        f.follow(d + b"/*.log")
        f.has(log, b"old bytes")
        good = True
        for i in range(6):
            put(log, b"!")
            os.unlink(log)
            put(log, b"new file %d which is longer" % i)
            good &= f.has(log, b"new file %d which is longer" % i)
        self.ok(good, "delete and create: each file is read")
        self.ok(f.until(lambda: all(
            bytes(x.data).endswith(b"!") for x in list(
                f.files.values())[:-1])), "delete and create: the last byte "
                                          "of each deleted file is read")
        self.ok(f.until(lambda: sum(
            x.gone is not None for x in f.files.values()) == 6),
            "deleted files are closed")

    def t_sparse(self, f, d):
        log = d + b"/big.log"
        size = SPARSE_SIZE
        with open(log, "wb") as x:
            x.write(b"head")
            x.truncate(size)

        class Big(bytearray):
            far = True

            def __len__(self):
                return size + bytearray.__len__(self)
        big = Big()
        f.sum_of = SPARSE_SUM
        f.follow(log, known=[(9, stat_of(log), big)])
        g = f.of(log)
        f.until(lambda: g.key == 9)
        self.ok(g.start == size and g.key == 9, "a 4 GiB file resumes at its "
                                                "end")
        put(log, b"after!\n")
        self.ok(f.until(lambda: bytes(bytearray(g.data)[-7:]) ==
                        b"after!\n"), "a 4 GiB file: new bytes are read")

    def t_sums(self, f, d):
        """Checksums that the client requests before it resumes a file."""
        text = bytes((i * 7) % 251 for i in range(300000))
        names = [b"same", b"wrong", b"short", b"none", b"large"]
        for n in names:
            put(d + b"/" + n, text)
        s = {n: stat_of(d + b"/" + n) for n in names}
        f.follow(*[d + b"/" + n for n in names], known=[
            (1, s[b"same"], text[:700]), (2, s[b"short"], text + b"more"),
            (3, s[b"wrong"], text[:800] + b"!"), (4, s[b"none"], b""),
            (5, s[b"large"], text[:299999])])

        def is_(name, key, start):
            g = f.of(d + b"/" + name)
            return f.has(d + b"/" + name, text) and (
                g.key, g.start) == (key, start)
        self.ok(is_(b"same", 1, 700), "same first bytes: resumes at the "
                                      "offset")
        self.ok(is_(b"wrong", 0, 0), "other first bytes: starts at 0")
        self.ok(is_(b"short", 0, 0) and (
            [x[1] for x in f.sums if f.files[x[0]].path == d + b"/short"] ==
            [len(text)]), "the file is shorter than the local copy: its "
                          "checksum covers all of it")
        self.ok(is_(b"none", 4, 0), "an empty local copy: starts at 0")
        self.ok(is_(b"large", 5, 299999), "a large local copy: resumes at the "
                                          "offset")

    def t_compared(self, f, d):
        """The client may ask for a comparison; a file that differs is sent
        again."""
        log = d + b"/a.log"
        old = os.urandom(600000)
        new = old[:300000] + b"x" * 100 + old[300100:]
        put(log, old)
        f.follow(log)
        f.has(log, old)
        fid = next(iter(f.files))
        f.say(b"C %d %d %d" % (fid, len(old), cksum(old)))
        self.ok(f.until(lambda: (fid, len(old), cksum(old)) in f.sums),
                "comparison: equal bytes are confirmed")
        put(log, b"more")
        self.ok(f.has(log, old + b"more") and len(f.of(log).parts) == 1,
                "comparison: an equal file continues")
        with open(log, "r+b") as file:
            file.write(new)
        f.say(b"C %d %d %d" % (fid, len(old), cksum(old)))
        self.ok(f.has(log, new + b"more") and len(f.of(log).parts) == 2,
                "comparison: a file that differs in the middle is a new "
                "generation")
        f.say(b"C %d %d %d" % (fid, len(old), cksum(old)))
        f.ping()
        put(log, b"!")
        self.ok(f.has(log, new + b"more!") and len(f.of(log).parts) == 3,
                "comparison: a checksum that differs makes the follower send "
                "it again")
        f.say(b"C %d 900000 1" % fid)
        self.ok(f.ping() and f.has(log, new + b"more!") and
                len(f.of(log).parts) == 3,
                "comparison beyond the bytes sent so far is ignored")

    def t_look_for(self, f, d):
        """A known file that was rotated out of the patterns is found."""
        put(d + b"/a.log", b"old")
        st = stat_of(d + b"/a.log")
        os.rename(d + b"/a.log", d + b"/a.log.1")
        put(d + b"/a.log", b"the next")
        f.follow(d + b"/*.log")
        f.scanned = 0
        f.say(b"L %d:%d %s" % (*st, escape(d + b"/a.log")), b"A")
        self.ok(f.until(lambda: f.scanned) and
                f.has(d + b"/a.log.1", b"old") and
                f.of(d + b"/a.log.1").id == st, "a renamed file is found by "
                                                "its inode")

    def t_link(self, f, d):
        os.mkdir(d + b"/1")
        put(d + b"/1/x.txt", b"one")
        put(d + b"/y.txt", b"two")
        os.symlink(b"1/x.txt", d + b"/last.log")
        f.follow(d + b"/*.log")
        f.has(d + b"/last.log", b"one")
        first = f.of(d + b"/last.log")
        self.ok(first.real == os.path.realpath(d) + b"/1/x.txt",
                "the target of a symlink is reported", first.real)
        os.symlink(b"y.txt", d + b"/new")
        os.rename(d + b"/new", d + b"/last.log")
        put(d + b"/1/x.txt", b" more")
        self.ok(f.has(d + b"/last.log", b"two") and
                f.until(lambda: bytes(first.data) == b"one more"),
                "a symlink is switched: the last bytes of both targets are "
                "read")

    def t_rest(self, f, d):
        """The follower reports when a file stops growing, with its size and
        change time."""
        log = d + b"/a.log"
        put(log, b"x")
        f.follow(log)
        f.has(log, b"x")
        g = f.of(log)
        self.ok(f.until(lambda: g.rests), "a file that stops growing is "
                                          "reported")
        size, stamp = g.rests[-1]
        unit = 1 if self.script == "py" else 1000000000
        self.ok((size, stamp) == (1, os.stat(log).st_ctime_ns // unit),
                "a file that stops growing: size and change time")
        f.pause(1.5)
        self.ok(len(g.rests) == 1, "a file that stops growing is reported "
                                   "once")
        put(log, b"y")
        self.ok(f.until(lambda: len(g.rests) == 2) and
                g.rests[-1][0] == 2, "a file that grew and stops again is "
                                     "reported again")

    def t_rest_after_scan(self, f, d):
        """A scan may see new bytes before they are read."""
        if self.name != "dash":
            return
        log = d + b"/a.log"
        os.mkdir(d + b"/bin")
        put(d + b"/bin/stat", GROWER.format(
            d=d.decode(), real=shutil.which("stat")).encode())
        os.chmod(d + b"/bin/stat", 0o755)
        g = Follower(self.shell, self.script, env=dict(
            self.env, PATH=d.decode() + "/bin:" + self.env["PATH"]))
        put(log, b"x")
        g.follow(log)
        g.until(lambda: g.of(log).rests)
        put(d + b"/grow", b"")
        self.ok(g.has(log, b"xy") and
                g.until(lambda: g.of(log).rests[-1][0] == 2),
                "a file that grew during a scan and stops is reported")
        g.close()

    def t_rewritten(self, f, d):
        """Truncated and rewritten at once, longer than before and with the
        same end: it must be read again."""
        log = d + b"/a.log"
        same, good = b"the same source text\n" * 1000, True
        for seed in range(5):
            put(log, b"seed %d\n" % seed + same, "wb")
            f.follow(log)
            good &= f.has(log, b"seed %d\n" % seed + same)
            f.pause(0.3 * seed)
            text = b"seed %d\n" % (seed + 100) + same + b"x" * seed
            put(log, text, "wb")
            good &= f.has(log, text)
        self.ok(good, "rewritten at once with the same end: a new generation")

    def t_slow(self, f, d):
        """A log that was renamed out of the patterns, with a slow writer."""
        g = self.new(edit=None)
        log, old = d + b"/a.log", d + b"/gone"
        put(log, b"one ")
        g.follow(d + b"/*.log")
        g.has(log, b"one ")
        of = g.of(log)
        os.rename(log, old)
        self.ok(g.until(lambda: of.path is None), "the log was renamed out of "
                                                  "the patterns: reported")
        g.say(b"P 1")
        for i in range(3):
            g.pause(9)
            g.ping()
            put(old, b"%d" % i)
        self.ok(g.until(lambda: bytes(of.data) == b"one 012") and
                of.gone is None, "the renamed log is read for a minute")
        os.rename(old, log)
        self.ok(g.until(lambda: of.path == log), "the renamed log gets its "
                                                 "name back: reported")
        g.close()

    def t_quiet(self, f, d):
        put(d + b"/a.log", b"a")
        put(d + b"/bench.log", b"b")
        f.follow(d + b"/a.log", files=[d + b"/bench.log"])
        self.ok(f.has(d + b"/a.log", b"a") and f.has(d + b"/bench.log", b"b"),
                "files from patterns and from names are read")
        f.say(b"Q 1")
        f.ping()
        f.pause(0.5)
        seen = len(f.log)
        put(d + b"/a.log", b"aa")
        put(d + b"/bench.log", b"bb")
        self.ok(f.has(d + b"/bench.log", b"bbb"), "quiet mode: the named file "
                                                  "is read")
        f.pause(2.5)
        self.ok(bytes(f.of(d + b"/a.log").data) == b"a" and
                all(x[0] == b"D" for x in f.log[seen:]),
                "quiet mode: no other file, no unrequested heartbeat")
        self.ok(f.ping(), "quiet mode: pings are answered")
        f.say(b"Q 0")
        self.ok(f.has(d + b"/a.log", b"aaa"), "quiet mode ends: missed bytes "
                                              "are read")

    def t_backlog(self, f, d):
        log, live = d + b"/big.log", d + b"/live.log"
        text = b"".join(b"line %d of a long log\n" % i for i in range(200000))
        put(log, text)
        put(live, b"l")
        f.follow(d + b"/*.log")
        self.ok(f.has(log, text), "a large log arrives in order")
        fid = b"%d" % next(k for k, x in f.files.items() if x.path == log)
        kinds = [x[0] for x in f.log if x[0] in (b"D", b"V") and x[1][0] == fid]
        self.ok(kinds[0] == b"V", "a large log: its end comes first, as a "
                                  "preview")
        fid, off, data = f.previews[0]
        self.ok(text[off:off + len(data)] == data and
                off + len(data) > len(text) - (1 << 16),
                "a large log: the preview contains the end of the file")

    def t_many(self, f, d):
        """More files than the limit: the newest are followed, and a new file
        takes the place of one that does not grow."""
        def few(line):
            return quicker(line).replace(
                "MAX_FILES, DEAD, GRACE = 4096,", "MAX_FILES, DEAD, GRACE = 300,"
            ).replace("limit=4096", "limit=300").replace(
                "grew < 60:", "grew < 1:").replace("now - 60000)", "now - 1000)")
        for i in range(310):
            put(d + b"/%03d.log" % i, b"%d" % i)
            os.utime(d + b"/%03d.log" % i, (1e9, 1e9 + (i * 7) % 310))
        g = self.new(edit=few)
        g.follow(d + b"/*.log")
        newest = {d + b"/%03d.log" % i for i in range(310) if i * 7 % 310 > 9}
        self.ok({x.path for x in g.files.values()} == newest and
                g.matching == 310, "the newest 300 of 310 are followed")
        self.ok(g.until(lambda: all(
            x.data == b"%d" % int(x.path[-7:-4]) for x in g.files.values())),
            "each of the 300 files is complete")
        g.pause(1.5)
        put(d + b"/zz.log", b"the last one by name")
        self.ok(g.has(d + b"/zz.log", b"the last one by name"),
                "above the limit: a new file is followed")
        self.ok(sum(x.gone is not None for x in g.files.values()) == 1,
                "above the limit: one file that does not grow is dropped")
        old = d + b"/000.log"
        self.ok(old not in {x.path for x in g.files.values()}, "above the limit: an old "
                                                               "file is not followed")
        g.pause(1.5)
        put(old, b"+")
        self.ok(g.has(old, b"0+"), "above the limit: an old file that grows "
                                   "is followed")
        g.close()

    def t_few_open(self, f, d):
        """More files than may be open at once: all are read, and all
        continue."""
        def few(line):
            return quicker(line).replace("MAX_OPEN = 1024 if",
                                         "MAX_OPEN = 9 if 1 else 1024 if"
                                         ).replace("most=256", "most=9")
        logs = [d + b"/%02d.log" % i for i in range(40)]
        for i, p in enumerate(logs):
            put(p, b"%d" % i)
        g = self.new(edit=few)
        g.follow(d + b"/*.log")
        self.ok(all([g.has(p, b"%d" % i) for i, p in enumerate(logs)]),
                "40 files with 9 open at once: all are read")
        for p in logs:
            put(p, b"more")
        self.ok(all([g.has(p, b"%dmore" % i) for i, p in enumerate(logs)]),
                "40 files with 9 open at once: all continue")
        put(logs[0], b"another", "wb")
        self.ok(g.has(logs[0], b"another"), "40 files with 9 open at once: a "
                                            "truncated file starts again")
        self.ok(all(len(x.parts) == 1 + (x.path == logs[0])
                    for x in g.files.values()), "40 files with 9 open at "
                                                "once: no other file starts "
                                                "again")
        g.close()

    def t_slow_to_open(self, f, d):
        """A pod that opens its logs slowly still sends heartbeats."""
        if self.name != "dash":
            return
        stat = d + b"/bin/stat"
        os.mkdir(os.path.dirname(stat))
        put(stat, b"#!/bin/sh\nsleep 0.3\nexec /usr/bin/stat \"$@\"\n")
        os.chmod(stat, 0o755)
        for i in range(24):
            put(d + b"/%02d.log" % i, b"%d" % i)
        g = Follower(self.shell, self.script, env=dict(self.env, PATH=":".join(
            (os.path.dirname(stat).decode(), self.env["PATH"]))),
            edit=lambda line: line.replace("most=256", "most=4"))
        g.follow(d + b"/*.log")
        seen = len(g.log)
        g.until(lambda: any(x[0] == b"D" for x in g.log[seen:]))
        kinds = [x[0] for x in g.log[seen:]]
        self.ok(kinds[:kinds.index(b"D")].count(b"H") > 1,
                "opening logs slowly: heartbeats are sent", kinds)
        g.close()

    def t_killed_helpers(self, f, d):
        """A pod that kills every seventh process, before or in the middle of its output:
        each log is recognized and sent once."""
        if self.name != "dash":
            return
        os.mkdir(d + b"/bin")
        for tool in "stat dd head tail sort cksum".split():
            path = d + b"/bin/" + tool.encode()
            put(path, KILLER.format(d=d.decode(), tool=tool,
                                    real=shutil.which(tool)).encode())
            os.chmod(path, 0o755)
        g = Follower(self.shell, self.script, env=dict(
            self.env, PATH=d.decode() + "/bin:" + self.env["PATH"]))
        g.until(lambda: g.hello)
        put(d + b"/pid", b"%d\n" % g.pid)
        log, fresh = d + b"/a.log", d + b"/b.log"
        text = os.urandom(300000)
        put(log, text)
        put(fresh, b"1")
        g.follow(d + b"/*.log", known=[(7, stat_of(log), text[:280000])])
        self.ok(g.has(log, text), "helpers are killed: every byte arrives")
        for i in range(8):
            more = os.urandom(20000)
            text += more
            put(log, more)
            put(fresh, b"+")
            g.has(log, text)
            g.has(fresh, b"1" + b"+" * (i + 1))
        self.ok(g.of(log).key == 7 and
                all(len(x.parts) == 1 for x in g.files.values()),
                "a log is not taken for another one",
                [x[:2] for x in g.log if x[0] in (b"T", b"C", b"X", b"E")])
        killed = os.listdir(d + b"/killed")
        self.ok(len(killed) >= 3, "the helpers were killed", killed)
        put(log, b"another", "wb")
        self.ok(g.has(log, b"another") and len(g.of(log).parts) == 2,
                "a log that was truncated starts again")
        g.close()

    def t_unlistable(self, f, d):
        """A folder that cannot be listed is reported; root can list every
        folder, so another user tries."""
        if os.getuid() != 0:
            os.mkdir(d + b"/shut", 0)
            f.follow(d + b"/shut/*.log")
            self.ok(f.until(lambda: f.errors) and
                    f.errors[0][1:] == (13, d + b"/shut"), "a folder that cannot be "
                                                           "listed is reported")
            os.chmod(d + b"/shut", 0o700)
            return
        os.chmod(d, 0o755)
        for name, mode in ((b"/shut", 0o700), (b"/open", 0o755)):
            os.mkdir(d + name)
            os.chmod(d + name, mode)
            put(d + name + b"/a.log", b"x")
        g = self.new(user="nobody")
        g.follow(d + b"/shut/*.log", d + b"/open/*.log",
                 d + b"/shut/below/*.log")
        self.ok(g.errors and all(e[1] == 13 and e[2].startswith(
            d + b"/shut") for e in g.errors),
                "a folder that cannot be listed is reported", g.errors)
        self.ok(g.has(d + b"/open/a.log", b"x"), "a folder that cannot be "
                                                 "listed: other folders are "
                                                 "read")
        g.close()

    def t_lacks(self, f, d):
        """The shell follower names the tools that the pod lacks."""
        if self.script != "sh":
            return
        box = d + b"/bin"
        os.mkdir(box)
        for tool in "sh dd head tail cat sort cksum mkdir rm sleep env".split():
            path = shutil.which(tool, path=(self.env or os.environ)["PATH"])
            os.symlink(os.path.realpath(path) if "busybox" not in
                       os.path.realpath(path) else path, box + b"/" +
                       tool.encode())
        env = dict(self.env or os.environ, PATH=box.decode())
        shell = shutil.which(self.shell, path=(
            self.env or os.environ)["PATH"]) or self.shell
        if not subprocess.run([shell, "-c", "command -v stat"], env=env,
                              stdout=subprocess.DEVNULL).returncode:
            return skip(self.name + ": what is missing",
                        "this shell has stat and mkfifo built in")
        g = Follower(shell, "sh", env=env)
        g.child.wait(PATIENCE_S)
        g.read(1)
        self.ok(b"LACKS stat mkfifo\n" in g.buf, "missing tools are named",
                g.buf)
        g.close()

    def t_untouched(self, f, d):
        logs = [d + b"/%d.log" % i for i in range(3)]
        for p in logs:
            put(p, b"data\n")
            os.utime(p, (1e9, 1e9))
        before = sorted(os.listdir(d))
        f.follow(d + b"/*.log")
        for p in logs:
            f.has(p, b"data\n")
        f.ping()
        self.ok(sorted(os.listdir(d)) == before and
                all(os.stat(p).st_mtime == 1e9 for p in logs),
                "the followed files and their folder are not changed")

    def t_unreadable(self, f, d):
        os.mkfifo(d + b"/pipe.log")
        os.mkdir(d + b"/dir.log")
        os.symlink(b"nowhere", d + b"/link.log")
        put(d + b"/real.txt", b"real")
        os.symlink(b"real.txt", d + b"/alias.log")
        put(d + b"/secret.log", b"s")
        os.chmod(d + b"/secret.log", 0)
        f.follow(d + b"/*.log")
        self.ok(f.has(d + b"/alias.log", b"real"), "a symlink to a log is "
                                                   "followed")
        if os.getuid() != 0:
            self.ok(f.until(lambda: f.errors) and
                    f.errors[0][1:] == (13, d + b"/secret.log"),
                    "a file without read permission is reported")
        self.ok(f.of(d + b"/pipe.log") is None and
                f.of(d + b"/dir.log") is None, "pipes and folders are not "
                                               "reported")

    def ends(self, f, name):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and (group(f.child.pid) or
                                          temps(f.nonce)):
            time.sleep(0.05)
        self.ok(not group(f.child.pid) and not temps(f.nonce), name)

    def t_end(self, f, d):
        for i in range(8):
            put(d + b"/%d.log" % i, b"x")
        f.follow(d + b"/*.log")
        f.child.stdin.close()
        f.child.wait(PATIENCE_S)
        self.ends(f, "the client has ended: no process and no file is left")
        f.close = lambda: None

    def t_end_killed(self, f, d):
        put(d + b"/a.log", b"x")
        f.follow(d + b"/*.log")
        os.kill(f.pid, signal.SIGKILL)
        f.child.wait(PATIENCE_S)
        f.child.stdin.close()
        self.ends(f, "killed: no process and no file is left")
        f.close = lambda: None

    def t_end_blocked(self, f, d):
        put(d + b"/a.log", bytes(8 << 20))
        f.follow(d + b"/*.log")
        time.sleep(0.5)
        f.child.stdout.close()
        f.child.stdin.close()
        f.child.wait(PATIENCE_S)
        self.ends(f, "the client ended while data was pending: no process and "
                     "no file is left")
        f.close = lambda: None

    def t_end_silent(self, f, d):
        def edit(line):
            line = line.replace("DEAD, GRACE = 4096, 60,",
                                "DEAD, GRACE = 4096, 2,")
            return line.replace("dead=60000", "dead=2000")
        put(d + b"/a.log", b"x")
        # A machine without spare time may ping too late: try again.
        for _ in range(20):
            g = self.new(edit=edit)
            slowest, last = 0, time.monotonic()
            try:
                g.follow(d + b"/*.log")
                for _ in range(6):
                    g.pause(0.6)
                    g.ping()
                    now = time.monotonic()
                    slowest, last = max(slowest, now - last), now
            except BrokenPipeError:
                slowest = max(slowest, time.monotonic() - last)
            if g.child.poll() is None or slowest < 1.5:
                break
            g.close()
        self.ok(g.child.poll() is None, "the follower runs as long as pings arrive")
        try:
            g.child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            pass
        g.child.stdin.close()
        self.ends(g, "no pings: the follower exits by itself")

    def t_noise(self, f, d):
        put(d + b"/a.log", b"x")
        g = self.new(prefix="echo 'welcome HGF1'; printf 'no newline'; ")
        g.follow(d + b"/*.log")
        self.ok(g.has(d + b"/a.log", b"x"), "a login shell prints text before "
                                            "the start marker")
        g.close()

    def t_rotated_while_looking(self, f, d):
        """A known log is rotated out of the patterns during the first look."""
        text = os.urandom(500)
        good = True
        for i in range(6):
            e = d + b"/%d" % i
            os.mkdir(e)
            for k in range(30):
                put(e + b"/a%02d.log" % k, b"x" * 1000)
            log = e + b"/m.log"
            put(log, text)
            st = stat_of(log)
            g = self.new()
            g.until(lambda: g.hello)
            g.known = [(7, st, text[:300])]
            g.say(b"G " + escape(e + b"/") + b"\\0052.log", b"GO")
            g.pause(0.01 + 0.05 * i)
            os.rename(log, log + b".1")
            put(log, b"the next")
            good &= g.has(log, b"the next") and g.until(lambda: g.scanned)
            # Like the client, ask for a known file that no pattern matched.
            while g.known:
                g.scanned = 0
                g.say(b"L %d:%d %s" % (*st, escape(log)), b"A")
                g.until(lambda: g.scanned)
            g.until(lambda: any(x.key == 7 for x in g.files.values()))
            old = [x for x in g.files.values() if x.key == 7]
            good &= bool(old) and g.until(
                lambda: bytes(old[0].data[300:]) == text[300:])
            g.close()
        self.ok(good, "rotated during the first look: both files are read")

    def t_rotations(self, f, d):
        """Rotate at random times while writing: every byte must arrive."""
        written = {}
        f.follow(d + b"/*")
        log = d + b"/r.log"
        out = open(log, "ab")
        want = b""
        for i in range(40):
            piece = b"%d:" % i + os.urandom(200 * (i % 7))
            out.write(piece)
            out.flush()
            want += piece
            if i % 8 == 7:
                os.rename(log, d + b"/old%d" % i)
                out.write(b"tail")
                out.close()
                written[d + b"/old%d" % i] = want + b"tail"
                out, want = open(log, "ab"), b""
            f.pause(0.03)
        out.close()
        self.ok(all(f.has(p, w) for p, w in written.items()),
                "40 random rotations: every byte arrives")


def other_login_shells(script):
    """Every login shell on this machine must accept the command line."""
    for shell in ("bash", "zsh", "fish", "tcsh", "csh", "ksh", "mksh"):
        path = shutil.which(shell)
        if not path:
            continue
        d = tempfile.mkdtemp().encode()
        put(d + b"/a.log", b"text")
        f = Follower(path, script)
        f.follow(d + b"/*.log")
        ok(f.has(d + b"/a.log", b"text"), "login shell %s starts the follower "
                                          "%s" %
           (shell, script))
        f.close()
        shutil.rmtree(d)


def main():
    if os.environ.get("ASAN_OPTIONS"):
        return skip_all("tests scripts, so a sanitizer finds nothing")
    only = [a for a in sys.argv[1:] if not a.startswith("t_")]
    TESTS.extend(a for a in sys.argv[1:] if a.startswith("t_"))
    box = tempfile.mkdtemp()
    os.chmod(box, 0o755)
    suites = [Suite("python", "sh", "py")]
    if shutil.which("dash"):
        os.mkdir(box + "/dash")
        os.symlink(shutil.which("dash"), box + "/dash/sh")
        suites.append(Suite("dash", "sh", "sh", dict(
            os.environ, PATH=box + "/dash:" + os.environ["PATH"])))
    if shutil.which("busybox"):
        os.mkdir(box + "/box")
        subprocess.run(["busybox", "--install", "-s", box + "/box"])
        # Debian's busybox has no cksum.
        if not os.path.exists(box + "/box/cksum"):
            os.symlink(shutil.which("cksum"), box + "/box/cksum")
        if os.path.exists(box + "/box/sh"):
            suites.append(Suite("busybox", box + "/box/sh", "sh",
                                dict(os.environ, PATH=box + "/box")))
    if not only:
        side_by_side([s.name for s in suites])
    for s in suites:
        if s.name in only:
            s.run()
    if not only:
        other_login_shells("auto")
        other_login_shells("sh")
    shutil.rmtree(box)
    return finish()


def side_by_side(names):
    """Run the suites at the same time: they mostly wait."""
    runs = [subprocess.Popen([sys.executable, __file__, name],
                             stdout=subprocess.PIPE, text=True)
            for name in names]
    for run in runs:
        for line in run.communicate()[0].splitlines():
            if re.match("(not )?ok ", line):
                ok(line.startswith("ok"), line.partition(" - ")[2])
            elif not line.startswith("1.."):
                note(line.removeprefix("# "))
        if run.returncode not in (0, 1):
            ok(False, "the suite ended with exit status %d" % run.returncode)


if __name__ == "__main__":
    sys.exit(main())
