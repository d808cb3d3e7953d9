# SPDX-License-Identifier: MIT
"""A client of the follower for tests: it starts a follower, speaks the
protocol, and keeps what it receives of each file."""
import itertools
import os
import re
import select
import subprocess
import time

from wait import PATIENCE_S

BUILD = os.environ.get("HGYM_BUILD", ".")
COMMAND = os.path.join(BUILD, "tests/follow/follow-command")


def escape(path):
    return b"".join(
        bytes([c]) if chr(c).isalnum() and c < 128 or c in b"/._-~" else
        b"\\0%03o" % c for c in path)


def cksum(data):
    run = subprocess.run(["cksum"], input=data, stdout=subprocess.PIPE)
    return int(run.stdout.split()[0])


class File:
    """The data of one file, one bytearray per generation."""

    def __init__(self, path, key, start):
        self.path, self.key, self.start = path, key, start
        self.parts, self.gone = [bytearray(start)], None
        self.real, self.rests, self.trial = b"", [], None

    @property
    def data(self):
        return self.parts[-1]


class Follower:
    numbers = itertools.count(1)

    def __init__(self, shell, script, edit=None, prefix="", env=None,
                 user=None):
        self.nonce = "n%dx%d" % (os.getpid(), next(self.numbers))
        line = subprocess.check_output([COMMAND, script, self.nonce],
                                       text=True).rstrip("\n")
        if edit:
            line = edit(line)
        self.child = subprocess.Popen(
            [shell, "-c", prefix + line], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
            start_new_session=True, user=user)
        self.buf, self.files, self.log = b"", {}, []
        self.known, self.sums = [], []
        self.hello = self.beat = None
        self.scanned, self.errors, self.previews = 0, [], []
        self.pings = 0

    def say(self, *lines):
        self.child.stdin.write(b"".join(x + b"\n" for x in lines))
        self.child.stdin.flush()

    def follow(self, *globs, known=(), files=()):
        """known: (key, (dev, ino), bytes) of files to resume."""
        self.scanned, self.known = 0, list(known)
        self.say(b"I 50", *[b"G " + escape(g) for g in globs],
                 *[b"F " + escape(f) for f in files], b"GO")
        return self.until(lambda: self.scanned)

    def try_next(self, fid, f):
        """Compare checksums with known files, as the client does; start at 0
        if none fits."""
        f.trial = next((k for k in self.known if k[1] == f.id), None)
        if f.trial is None:
            self.say(b"B %d 0" % fid)
        else:
            self.known.remove(f.trial)
            self.say(b"C %d %d" % (fid, len(f.trial[2])))

    def summed(self, fid, off, value):
        f = self.files[fid]
        self.sums.append((fid, off, value))
        if f.trial is None:
            return
        key, _, data = f.trial
        want = self.sum_of if hasattr(data, "far") else cksum(data)
        if (off, value) != (len(data), want):
            self.try_next(fid, f)
            return
        f.key, f.start = key, off
        f.parts[-1] = bytearray(data) if not hasattr(data, "far") else data
        self.say(b"B %d %d" % (fid, off))

    def read(self, seconds):
        out = self.child.stdout
        ready, _, _ = select.select([out], [], [], seconds)
        if not ready:
            return False
        data = os.read(out.fileno(), 1 << 20)
        if not data:
            return None
        self.buf += data
        while self.frame():
            pass
        return True

    def until(self, what, seconds=PATIENCE_S):
        begin = told = time.monotonic()
        while not what():
            now = time.monotonic()
            left = begin + seconds - now
            if left <= 0:
                return False
            # The follower ends if no ping arrives for a minute.
            if now - told > 20 and not self.child.stdin.closed:
                self.say_ping()
                told = now
            if self.read(min(left, 0.2)) is None and not what():
                return False
        return True

    def pause(self, seconds):
        self.until(lambda: False, seconds)

    def say_ping(self):
        self.pings += 1
        self.say(b"P %d" % self.pings)
        return self.pings

    def ping(self):
        """True after the follower has handled all earlier requests."""
        n = self.say_ping()
        return self.until(lambda: self.beat is not None and self.beat >= n)

    def frame(self):
        if self.hello is None:
            m = re.search(rb"\nHGF2 %s OK (\w+) (\d+)\n"
                          % self.nonce.encode(), self.buf)
            if m:
                self.hello, self.pid = m.group(1), int(m.group(2))
                self.buf = self.buf[m.end():]
            return bool(m)
        head, nl, rest = self.buf.partition(b"\n")
        if not nl:
            return False
        w = head.split(b" ")
        kind, n = w[0], 0
        if kind in (b"N", b"O"):
            n = int(w[5]) + int(w[6])
        elif kind == b"M":
            n = int(w[2]) + int(w[3])
        elif kind in (b"D", b"V", b"E"):
            n = int(w[3])
        if len(rest) < n:
            return False
        assert len(head) < 256 and n <= 1 << 18, head
        self.buf = rest[n:]
        self.take(kind, w, rest[:n])
        return True

    def take(self, kind, w, data):
        self.log.append((kind, w[1:], len(data)))
        fid = int(w[1])
        if kind in (b"N", b"O"):
            assert fid not in self.files
            n = int(w[5])
            f = self.files[fid] = File(data[:n], 0, 0)
            f.id = tuple(int(x) for x in w[2].split(b":"))
            f.real = data[n:]
            self.try_next(fid, f)
        elif kind == b"U":
            self.files[fid].rests.append((int(w[2]), int(w[3])))
        elif kind == b"C":
            self.summed(fid, int(w[2]), int(w[3]))
        elif kind == b"D":
            f = self.files[fid]
            assert int(w[2]) == len(f.data), (w, len(f.data))
            f.data.extend(data)
        elif kind == b"V":
            self.previews.append((fid, int(w[2]), data))
        elif kind == b"T":
            self.files[fid].parts.append(bytearray())
        elif kind == b"M":
            n = int(w[2])
            self.files[fid].path = data[:n] or None
            self.files[fid].real = data[n:]
        elif kind == b"X":
            self.files[fid].gone = int(w[2])
        elif kind == b"E":
            self.errors.append((fid, int(w[2]), data))
        elif kind == b"S":
            self.scanned, self.matching = True, int(w[2])
        elif kind == b"H":
            self.beat = int(w[1])
        else:
            raise AssertionError(kind)

    def of(self, path):
        found = [f for f in self.files.values() if f.path == path]
        return found[-1] if found else None

    def has(self, path, data):
        return self.until(lambda: self.of(path) is not None and
                          bytes(self.of(path).data) == data)

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
        self.child.stdout.close()
        self.child.stderr.close()


def group(sid):
    """The running processes of a session."""
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % p) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == sid and fields[0] != "Z":
            found.append(int(p))
    return found


def put(path, data, mode="ab"):
    with open(path, mode) as f:
        f.write(data)


def temps(nonce):
    return [d for t in ("/dev/shm", "/tmp", os.environ.get("TMPDIR", "/tmp"))
            if os.path.isdir(t) for d in os.listdir(t)
            if d.startswith("hgf.%s." % nonce)]
