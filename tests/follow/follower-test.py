#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The follower that is sent to a pod, as python3, dash and busybox run it,
against real files: rotation in all its forms, names of any bytes, resumption,
quiet, and its end."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(1, os.path.join(os.environ.get("HGYM_SRC", "."),
                                "tests/support"))
from follower import (Follower, cksum, escape, group, put,  # noqa: E402
                      temps)
from tap import finish, note, ok, skip, skip_all  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

TESTS = []


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


def quicker(line):
    """Files that nothing names are let go after 5 s and not a minute."""
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

    def run(self):
        for name in sorted(dir(self)):
            if name.startswith("t_") and (not TESTS or name in TESTS):
                self.dir = tempfile.mkdtemp(prefix="hgym-follow-").encode()
                self.f = self.new()
                try:
                    getattr(self, name)(self.f, self.dir)
                except AssertionError as e:
                    self.ok(False, "%s: %r" % (name, e))
                self.f.close()
                shutil.rmtree(self.dir)

    def t_append(self, f, d):
        log = d + b"/a.log"
        put(log, b"one\ntwo\npart")
        f.follow(d + b"/*.log")
        self.ok(f.has(log, b"one\ntwo\npart"), "what is there, to the byte")
        blob = bytes(range(256)) * 5
        put(log, b"ial\n\0\0" + blob)
        self.ok(f.has(log, b"one\ntwo\npartial\n\0\0" + blob),
                "a partial line goes on; NUL and all bytes pass")
        for i in range(30):
            put(log, b"x%d" % i)
        put(d + b"/b.log", b"new file")
        self.ok(f.has(d + b"/b.log", b"new file"), "a new file is found")
        want = b"one\ntwo\npartial\n\0\0" + blob + b"".join(
            b"x%d" % i for i in range(30))
        self.ok(f.has(log, want), "small appends come whole")
        self.ok(f.ping(), "a ping is answered")

    def t_names(self, f, d):
        names = [b"with space.log", b"quote'd\".log", b"new\nline.log",
                 b"-dash.log", b"$HOME `x`.log", b"back\\slash.log",
                 b"\xff\xfe\x80.log", b"star*.log", b"end\n.log"]
        for n in names:
            put(d + b"/" + n, n)
        f.follow(d + b"/*.log")
        self.ok(all(f.has(d + b"/" + n, n) for n in names) and
                len(f.files) == len(names), "names of any bytes")
        f.follow(d + b"/new\nline.log", d + b"/with space.log")
        put(d + b"/new\nline.log", b"+")
        self.ok(f.has(d + b"/new\nline.log", b"new\nline.log+"),
                "a new list of globs, with a newline in a name")
        self.ok(f.until(lambda: sum(x.gone is not None
                                    for x in f.files.values()) == 7),
                "what is off the list is let go")

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
            self.ok(f.has(log, b"fresh %d\n" % i), "rename, create: the new")
            want = (b"first\n" if i == 0 else b"fresh %d\n" % (i - 1)) + \
                b"last words %d\n" % i
            self.ok(f.until(lambda: bytes(old.data) == want),
                    "rename, create: the last bytes of the old")
            old = f.of(log)
        os.rename(log, d + b"/b.log")
        self.ok(f.until(lambda: old.path == d + b"/b.log"),
                "a rename inside the globs is told")
        put(d + b"/b.log", b"more")
        self.ok(f.has(d + b"/b.log", b"fresh 2\nmore"), "and goes on")

    def t_truncate(self, f, d):
        log = d + b"/a.log"
        put(log, b"x" * 1000)
        f.follow(log)
        f.has(log, b"x" * 1000)
        put(log, b"short", "wb")
        self.ok(f.has(log, b"short") and len(f.of(log).parts) == 2,
                "cut short: a new generation")
        f.has(log, b"short")
        put(log, b"y" * 3000, "wb")
        self.ok(f.has(log, b"y" * 3000) and len(f.of(log).parts) == 3,
                "regrown past the offset at once: a new generation")
        put(log, b"", "wb")
        self.ok(f.until(lambda: len(f.of(log).parts) == 4), "emptied")
        put(log, b"again")
        self.ok(f.has(log, b"again"), "and written again")
        # Only the tail differs.
        put(log, b"h" * 400 + b"1" * 100, "wb")
        f.has(log, b"h" * 400 + b"1" * 100)
        put(log, b"h" * 400 + b"2" * 200, "wb")
        self.ok(f.has(log, b"h" * 400 + b"2" * 200),
                "a rewrite with the same head")

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
        self.ok(good, "delete, create: each file by itself")
        self.ok(f.until(lambda: all(
            bytes(x.data).endswith(b"!") for x in list(
                f.files.values())[:-1])), "the last byte of each deleted")
        self.ok(f.until(lambda: sum(
            x.gone is not None for x in f.files.values()) == 6),
            "deleted files are let go")

    def t_sparse(self, f, d):
        log = d + b"/big.log"
        size = 5 << 30
        with open(log, "wb") as x:
            x.write(b"head")
            x.truncate(size)
        class Big(bytearray):
            far = True

            def __len__(self):
                return size + bytearray.__len__(self)
        big = Big()
        done = subprocess.run(["cksum", log], stdout=subprocess.PIPE)
        f.sum_of = int(done.stdout.split()[0])
        f.follow(log, known=[(9, stat_of(log), big)])
        g = f.of(log)
        f.until(lambda: g.key == 9)
        self.ok(g.start == size and g.key == 9, "resumes beyond 4 GiB")
        put(log, b"after!\n")
        self.ok(f.until(lambda: bytes(bytearray(g.data)[-7:]) ==
                        b"after!\n"), "and reads on there")

    def t_sums(self, f, d):
        """What the client asks before it lets a file go on."""
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
        self.ok(is_(b"same", 1, 700), "goes on at the byte")
        self.ok(is_(b"wrong", 0, 0), "another beginning has another sum")
        self.ok(is_(b"short", 0, 0) and (
            [x[1] for x in f.sums if f.files[x[0]].path == d + b"/short"] ==
            [len(text)]), "of a shorter file all is summed")
        self.ok(is_(b"none", 4, 0), "of no bytes too")
        self.ok(is_(b"large", 5, 299999), "and of many")

    def t_compared(self, f, d):
        """A client that doubts has all of it compared, and what is not that
        any more comes anew."""
        log = d + b"/a.log"
        old = os.urandom(600000)
        new = old[:300000] + b"x" * 100 + old[300100:]
        put(log, old)
        f.follow(log)
        f.has(log, old)
        fid = next(iter(f.files))
        f.say(b"C %d %d %d" % (fid, len(old), cksum(old)))
        self.ok(f.until(lambda: (fid, len(old), cksum(old)) in f.sums),
                "what was sent is there")
        put(log, b"more")
        self.ok(f.has(log, old + b"more") and len(f.of(log).parts) == 1,
                "and it goes on")
        with open(log, "r+b") as file:
            file.write(new)
        f.say(b"C %d %d %d" % (fid, len(old), cksum(old)))
        self.ok(f.has(log, new + b"more") and len(f.of(log).parts) == 2,
                "another one of that length is a new generation")
        f.say(b"C %d %d %d" % (fid, len(old), cksum(old)))
        f.ping()
        put(log, b"!")
        self.ok(f.has(log, new + b"more!") and len(f.of(log).parts) == 3,
                "in doubt it is sent once more")
        f.say(b"C %d 900000 1" % fid)
        self.ok(f.ping() and f.has(log, new + b"more!") and
                len(f.of(log).parts) == 3,
                "what was not sent yet is not compared")

    def t_look_for(self, f, d):
        """A known file that was rotated out of the globs is found."""
        put(d + b"/a.log", b"old")
        st = stat_of(d + b"/a.log")
        os.rename(d + b"/a.log", d + b"/a.log.1")
        put(d + b"/a.log", b"the next")
        f.follow(d + b"/*.log")
        f.scanned = 0
        f.say(b"L %d:%d %s" % (*st, escape(d + b"/a.log")), b"A")
        self.ok(f.until(lambda: f.scanned) and
                f.has(d + b"/a.log.1", b"old") and
                f.of(d + b"/a.log.1").id == st, "by its inode, elsewhere")

    def t_link(self, f, d):
        os.mkdir(d + b"/1")
        put(d + b"/1/x.txt", b"one")
        put(d + b"/y.txt", b"two")
        os.symlink(b"1/x.txt", d + b"/last.log")
        f.follow(d + b"/*.log")
        f.has(d + b"/last.log", b"one")
        first = f.of(d + b"/last.log")
        self.ok(first.real == os.path.realpath(d) + b"/1/x.txt",
                "where a link leads is told", first.real)
        os.symlink(b"y.txt", d + b"/new")
        os.rename(d + b"/new", d + b"/last.log")
        put(d + b"/1/x.txt", b" more")
        self.ok(f.has(d + b"/last.log", b"two") and
                f.until(lambda: bytes(first.data) == b"one more"),
                "it is switched: the last bytes of both")

    def t_rest(self, f, d):
        """A file that is silent says so, by which it is known again."""
        log = d + b"/a.log"
        put(log, b"x")
        f.follow(log)
        f.has(log, b"x")
        g = f.of(log)
        self.ok(f.until(lambda: g.rests), "it rests")
        size, stamp = g.rests[-1]
        unit = 1 if self.script == "py" else 1000000000
        self.ok((size, stamp) == (1, os.stat(log).st_ctime_ns // unit),
                "its size and change time are told")
        f.pause(1.5)
        self.ok(len(g.rests) == 1, "once")
        put(log, b"y")
        self.ok(f.until(lambda: len(g.rests) == 2) and
                g.rests[-1][0] == 2, "and again after it grew")

    def t_rewritten(self, f, d):
        """Cut and written in one go to more than was sent, alike at its end:
        it is read anew all the same."""
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
        self.ok(good, "rewritten in one go")

    def t_slow(self, f, d):
        """A log that is renamed out of the globs has a slow writer."""
        g = self.new(edit=None)
        log, old = d + b"/a.log", d + b"/gone"
        put(log, b"one ")
        g.follow(d + b"/*.log")
        g.has(log, b"one ")
        of = g.of(log)
        os.rename(log, old)
        self.ok(g.until(lambda: of.path is None), "that its name is gone is "
                "told")
        g.say(b"P 1")
        for i in range(3):
            g.pause(9)
            g.ping()
            put(old, b"%d" % i)
        self.ok(g.until(lambda: bytes(of.data) == b"one 012") and
                of.gone is None, "it is read on for a minute")
        os.rename(old, log)
        self.ok(g.until(lambda: of.path == log), "and has a name again")
        g.close()

    def t_quiet(self, f, d):
        put(d + b"/a.log", b"a")
        put(d + b"/bench.log", b"b")
        f.follow(d + b"/a.log", files=[d + b"/bench.log"])
        self.ok(f.has(d + b"/a.log", b"a") and f.has(d + b"/bench.log", b"b"),
                "globs and named files")
        f.say(b"Q 1")
        f.ping()
        f.pause(0.5)
        seen = len(f.log)
        put(d + b"/a.log", b"aa")
        put(d + b"/bench.log", b"bb")
        self.ok(f.has(d + b"/bench.log", b"bbb"), "quiet: the named one")
        f.pause(2.5)
        self.ok(bytes(f.of(d + b"/a.log").data) == b"a" and
                all(x[0] == b"D" for x in f.log[seen:]),
                "quiet: nothing else, no beat unasked")
        self.ok(f.ping(), "quiet: pings are answered")
        f.say(b"Q 0")
        self.ok(f.has(d + b"/a.log", b"aaa"), "loud again: nothing missed")

    def t_backlog(self, f, d):
        log, live = d + b"/big.log", d + b"/live.log"
        text = b"".join(b"line %d of a long log\n" % i for i in range(200000))
        put(log, text)
        put(live, b"l")
        f.follow(d + b"/*.log")
        self.ok(f.has(log, text), "a backlog comes in order")
        fid = b"%d" % next(k for k, x in f.files.items() if x.path == log)
        kinds = [x[0] for x in f.log if x[0] in (b"D", b"V") and x[1][0] == fid]
        self.ok(kinds[0] == b"V", "its end is shown first")
        fid, off, data = f.previews[0]
        self.ok(text[off:off + len(data)] == data and
                off + len(data) > len(text) - (1 << 16),
                "the look ahead is the end of the file")

    def t_many(self, f, d):
        """More than there is room for: the newest are followed, and a new one
        takes the place of one that is silent."""
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
            "each comes whole")
        g.pause(1.5)
        put(d + b"/zz.log", b"the last one by name")
        self.ok(g.has(d + b"/zz.log", b"the last one by name"),
                "a new one is followed too")
        self.ok(sum(x.gone is not None for x in g.files.values()) == 1,
                "in the place of one that was silent")
        old = d + b"/000.log"
        self.ok(old not in {x.path for x in g.files.values()}, "not yet")
        g.pause(1.5)
        put(old, b"+")
        self.ok(g.has(old, b"0+"), "and one that grows")
        g.close()

    def t_few_open(self, f, d):
        """More files than may be open at once: all are read, all go on."""
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
                "all are read")
        for p in logs:
            put(p, b"more")
        self.ok(all([g.has(p, b"%dmore" % i) for i, p in enumerate(logs)]),
                "all go on")
        put(logs[0], b"another", "wb")
        self.ok(g.has(logs[0], b"another"), "one that was cut begins anew")
        self.ok(all(len(x.parts) == 1 + (x.path == logs[0])
                    for x in g.files.values()), "and no other one")
        g.close()

    def t_slow_to_open(self, f, d):
        """A pod that needs long to open its logs is not silent meanwhile."""
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
                "slow to open: it tells that it lives", kinds)
        g.close()

    def t_killed_helpers(self, f, d):
        """On a pod that kills processes, each seventh one here, before it
        wrote or after half: a log is recognized, and comes once."""
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
        self.ok(g.has(log, text), "helpers are killed: all bytes come")
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
        self.ok(len(killed) >= 3, "and they were killed", killed)
        put(log, b"another", "wb")
        self.ok(g.has(log, b"another") and len(g.of(log).parts) == 2,
                "one that was cut starts again")
        g.close()

    def t_unlistable(self, f, d):
        """A folder that cannot be looked into is told, as anybody but root
        sees it."""
        if os.getuid() != 0:
            os.mkdir(d + b"/shut", 0)
            f.follow(d + b"/shut/*.log")
            self.ok(f.until(lambda: f.errors) and
                    f.errors[0][1:] == (13, d + b"/shut"), "told")
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
                "an unlistable folder is told", g.errors)
        self.ok(g.has(d + b"/open/a.log", b"x"), "beside one that can be")
        g.close()

    def t_lacks(self, f, d):
        """What the shell's follower needs is named where it is not there."""
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
        self.ok(b"LACKS stat mkfifo\n" in g.buf, "what is missing is named",
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
                "the pod's files are as they were")

    def t_unreadable(self, f, d):
        os.mkfifo(d + b"/pipe.log")
        os.mkdir(d + b"/dir.log")
        os.symlink(b"nowhere", d + b"/link.log")
        put(d + b"/real.txt", b"real")
        os.symlink(b"real.txt", d + b"/alias.log")
        put(d + b"/secret.log", b"s")
        os.chmod(d + b"/secret.log", 0)
        f.follow(d + b"/*.log")
        self.ok(f.has(d + b"/alias.log", b"real"), "a link is followed")
        if os.getuid() != 0:
            self.ok(f.until(lambda: f.errors) and
                    f.errors[0][1:] == (13, d + b"/secret.log"),
                    "no permission is told")
        self.ok(f.of(d + b"/pipe.log") is None and
                f.of(d + b"/dir.log") is None, "pipes and folders are not")

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
        self.ends(f, "the client is gone: nothing stays")
        f.close = lambda: None

    def t_end_killed(self, f, d):
        put(d + b"/a.log", b"x")
        f.follow(d + b"/*.log")
        os.kill(f.pid, signal.SIGKILL)
        f.child.wait(PATIENCE_S)
        f.child.stdin.close()
        self.ends(f, "killed: nothing stays")
        f.close = lambda: None

    def t_end_blocked(self, f, d):
        put(d + b"/a.log", bytes(8 << 20))
        f.follow(d + b"/*.log")
        time.sleep(0.5)
        f.child.stdout.close()
        f.child.stdin.close()
        f.child.wait(PATIENCE_S)
        self.ends(f, "gone while it had more to say: nothing stays")
        f.close = lambda: None

    def t_end_silent(self, f, d):
        def edit(line):
            line = line.replace("DEAD, GRACE = 4096, 60,",
                                "DEAD, GRACE = 4096, 2,")
            return line.replace("dead=60000", "dead=2000")
        put(d + b"/a.log", b"x")
        # Whoever pings late, on a machine that has no time, tries again.
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
        self.ok(g.child.poll() is None, "it lives while it is pinged")
        try:
            g.child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            pass
        g.child.stdin.close()
        self.ends(g, "no ping for long: it ends by itself")

    def t_noise(self, f, d):
        put(d + b"/a.log", b"x")
        g = self.new(prefix="echo 'welcome HGF1'; printf 'no newline'; ")
        g.follow(d + b"/*.log")
        self.ok(g.has(d + b"/a.log", b"x"), "noise of a login shell")
        g.close()

    def t_rotated_while_looking(self, f, d):
        """A known log is rotated out of the globs during the first look."""
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
            # As the client does with one that it knows and that is not there.
            while g.known:
                g.scanned = 0
                g.say(b"L %d:%d %s" % (*st, escape(log)), b"A")
                g.until(lambda: g.scanned)
            g.until(lambda: any(x.key == 7 for x in g.files.values()))
            old = [x for x in g.files.values() if x.key == 7]
            good &= bool(old) and g.until(
                lambda: bytes(old[0].data[300:]) == text[300:])
            g.close()
        self.ok(good, "rotated during the first look: both are read")

    def t_rotations(self, f, d):
        """Rotate at random while writing; every byte must come."""
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
                "rotations while writing: every byte")


def other_login_shells(script):
    """The command line must be one word list for every shell here."""
    for shell in ("bash", "zsh", "fish", "tcsh", "csh", "ksh", "mksh"):
        path = shutil.which(shell)
        if not path:
            continue
        d = tempfile.mkdtemp().encode()
        put(d + b"/a.log", b"text")
        f = Follower(path, script)
        f.follow(d + b"/*.log")
        ok(f.has(d + b"/a.log", b"text"), "login shell %s starts %s" %
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
        # The one of Debian has no cksum.
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
    """The suites wait most of their time: run them at once."""
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
            ok(False, "the suite ended with %d" % run.returncode)


if __name__ == "__main__":
    sys.exit(main())
