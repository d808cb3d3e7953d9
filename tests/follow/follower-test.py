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
from follower import (WAIT, Follower, cksum, escape, group,  # noqa: E402
                      put, resume_line, temps)
from tap import finish, note, ok  # noqa: E402

TESTS = []


class Suite:
    def __init__(self, name, shell, script, env=None):
        self.name, self.shell, self.script = name, shell, script
        self.env = env

    def new(self, **kw):
        return Follower(self.shell, self.script, env=self.env, **kw)

    def ok(self, good, name):
        return ok(good, "%s: %s" % (self.name, name))

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
        st = os.stat(log)
        head, tail = b"head" + bytes(252), bytes(64)
        f.say(b"R 9 %d:%d %d 256 %d 64 %d %s" % (
            st.st_dev, st.st_ino, size, cksum(head), cksum(tail),
            escape(log)))
        class Big(bytearray):
            def __len__(self):
                return size + bytearray.__len__(self)
        take = f.take

        def big_take(kind, w, data):
            take(kind, [w[0], w[1], w[2], b"0"] + w[4:], data) if (
                kind == b"N") else take(kind, w, data)
            if kind == b"N":
                f.files[int(w[1])].start = int(w[3])
                f.files[int(w[1])].parts = [Big()]
        f.take = big_take
        f.follow(log)
        g = f.of(log)
        self.ok(g.start == size and g.key == 9, "resumes beyond 4 GiB")
        put(log, b"after!\n")
        self.ok(f.until(lambda: bytes(bytearray(g.data)[-7:]) ==
                        b"after!\n"), "and reads on there")

    def t_resume(self, f, d):
        def stat(p):
            s = os.stat(p)
            return s.st_dev, s.st_ino
        text = bytes((i * 7) % 251 for i in range(900))
        names = [b"same", b"wrong", b"short", b"moved", b"small", b"bypath",
                 b"twin", b"young"]
        for n in names:
            put(d + b"/" + n, text)
        s = {n: stat(d + b"/" + n) for n in names}
        os.rename(d + b"/moved", d + b"/moved.old")
        put(d + b"/moved", b"the next log\n")
        for n in b"twin", b"young":
            os.rename(d + b"/" + n, d + b"/" + n + b".old")
            put(d + b"/" + n, text)
        known = [resume_line(1, s[b"same"], text[:700], d + b"/same"),
                 resume_line(2, s[b"wrong"], text[:700], d + b"/wrong", 1),
                 resume_line(3, s[b"short"], text + b"more", d + b"/short"),
                 resume_line(4, s[b"moved"], text[:300], d + b"/moved"),
                 resume_line(5, s[b"small"], text[:100], d + b"/small"),
                 resume_line(6, (1, 2), text[:800], d + b"/bypath"),
                 resume_line(7, s[b"twin"], text[:90], d + b"/twin"),
                 resume_line(8, s[b"young"], b"", d + b"/young")]
        f.follow(*[d + b"/" + n for n in names], known=known)
        f.until(lambda: len(f.files) >= 11)

        def is_(name, key, start):
            g = f.of(d + b"/" + name)
            return g is not None and (g.key, g.start) == (key, start)
        self.ok(is_(b"same", 1, 700), "resume at the byte")
        self.ok(is_(b"small", 5, 100), "resume with short guards")
        self.ok(is_(b"wrong", 0, 0), "another checksum: from the start")
        self.ok(is_(b"short", 0, 0), "a shorter file: from the start")
        self.ok(is_(b"bypath", 6, 800), "another inode, the same bytes")
        self.ok(is_(b"moved", 0, 0), "rotated while away: the new from 0")
        self.ok(is_(b"moved.old", 4, 300), "rotated while away: the old goes "
                "on, though no glob has it")
        self.ok(is_(b"twin", 0, 0) and is_(b"twin.old", 7, 90),
                "rotated while away, and the next begins alike")
        self.ok(is_(b"young", 0, 0) and is_(b"young.old", 8, 0),
                "rotated while away, before a byte was read")
        self.ok(f.until(lambda: f.of(d + b"/same").data[700:] == text[700:]),
                "the rest comes")

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
        kinds = [x[0] for x in f.log if x[0] in (b"D", b"V")]
        self.ok(kinds[0] == b"V", "its end is shown first")
        fid, off, data = f.previews[0]
        self.ok(text[off:off + len(data)] == data and
                off + len(data) > len(text) - (1 << 16),
                "the look ahead is the end of the file")

    def t_many(self, f, d):
        for i in range(515):
            put(d + b"/%03d.log" % i, b"%d" % i)
        f.follow(d + b"/*.log")
        if not self.ok(f.until(lambda: len(f.errors) == 3 and sum(
                x.data == x.path[-7:-4].lstrip(b"0") or x.data == b"0"
                for x in f.files.values()) == 512, 3 * WAIT),
                "512 files are followed, the rest is told of"):
            note("%d files, %s" % (len(f.files), f.errors))

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
        end = time.monotonic() + WAIT
        while time.monotonic() < end and (group(f.child.pid) or
                                          temps(f.nonce)):
            time.sleep(0.05)
        self.ok(not group(f.child.pid) and not temps(f.nonce), name)

    def t_end(self, f, d):
        for i in range(8):
            put(d + b"/%d.log" % i, b"x")
        f.follow(d + b"/*.log")
        f.child.stdin.close()
        f.child.wait(WAIT)
        self.ends(f, "the client is gone: nothing stays")
        f.close = lambda: None

    def t_end_killed(self, f, d):
        put(d + b"/a.log", b"x")
        f.follow(d + b"/*.log")
        os.kill(f.pid, signal.SIGKILL)
        f.child.wait(WAIT)
        f.child.stdin.close()
        self.ends(f, "killed: nothing stays")
        f.close = lambda: None

    def t_end_blocked(self, f, d):
        put(d + b"/a.log", bytes(8 << 20))
        f.follow(d + b"/*.log")
        time.sleep(0.5)
        f.child.stdout.close()
        f.child.stdin.close()
        f.child.wait(WAIT)
        self.ends(f, "gone while it had more to say: nothing stays")
        f.close = lambda: None

    def t_end_silent(self, f, d):
        def edit(line):
            line = line.replace("DEAD, GRACE = 512, 60,",
                                "DEAD, GRACE = 512, 2,")
            return line.replace("-lt 60000", "-lt 2000")
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
            g.child.wait(WAIT)
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
            st = os.stat(log)
            g = self.new()
            g.until(lambda: g.hello)
            g.say(resume_line(7, (st.st_dev, st.st_ino), text[:300], log),
                  b"G " + escape(e + b"/") + b"\\0052.log", b"GO")
            g.pause(0.01 + 0.05 * i)
            os.rename(log, log + b".1")
            put(log, b"the next")
            old = []
            good &= g.has(log, b"the next") and g.until(lambda: g.scanned)
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
    only = [a for a in sys.argv[1:] if not a.startswith("t_")]
    TESTS.extend(a for a in sys.argv[1:] if a.startswith("t_"))
    box = tempfile.mkdtemp()
    suites = [Suite("python", "sh", "py")]
    if shutil.which("dash"):
        os.mkdir(box + "/dash")
        os.symlink(shutil.which("dash"), box + "/dash/sh")
        suites.append(Suite("dash", "sh", "sh", dict(
            os.environ, PATH=box + "/dash:" + os.environ["PATH"])))
    if shutil.which("busybox"):
        os.mkdir(box + "/box")
        subprocess.run(["busybox", "--install", "-s", box + "/box"])
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
