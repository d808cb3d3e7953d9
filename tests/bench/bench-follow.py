#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The follower, next to what one would use without it, over a real sshd on
loopback.

Latency: from the append to the bytes in the program, next to `ssh pod tail -F`
into a reader, at the same time on the same files. Idle: the CPU of the
follower with 64 files that do not change. Backlog: MB/s of one large file to
the program and to a local copy on disk, next to `ssh pod cat` with the same
cipher and a loop over libssh2 that only reads. MB are 1,000,000 bytes.

BENCH_SECONDS (20) for latency and idle, BENCH_BACKLOG_MB (1000), BENCH_ROUNDS
(3) of the backlog, BENCH_TRANSPORTS ("libssh2 openssh")."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
TOOL = os.path.join(BUILD, "tests/follow/follow-mirror")
SSHD = os.path.join(SRC, "tests/support/sshd.sh")
SECONDS = float(os.environ.get("BENCH_SECONDS", "20"))
BACKLOG_MB = int(os.environ.get("BENCH_BACKLOG_MB", "1000"))
TRANSPORTS = os.environ.get("BENCH_TRANSPORTS", "libssh2 openssh").split()
BARE = os.path.join(BUILD, "tests/tools/bare-libssh2")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
FILES = 16
RATE = 50

sys.dont_write_bytecode = True
sys.path[:0] = (os.path.join(SRC, "tests", part)
                for part in ("follow", "support"))
os.environ["HGYM_BUILD"] = BUILD
from follower import Follower  # noqa: E402


def row(*cells):
    print("%-42s" % cells[0] + "".join(" %12s" % c for c in cells[1:]),
          flush=True)


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def tool(box, transport, variant, *args, **kw):
    rig = box + "/rig"
    return subprocess.Popen(
        [TOOL, "-v", variant, "-k", rig + "/known_hosts", "-i",
         rig + "/id_ed25519", transport if transport == "local" else
         transport + ":pod", *args],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, **kw)


def blind(box):
    """A folder with a python3 without inotify, as on a network volume."""
    path = box + "/blind"
    os.mkdir(path)
    with open(path + "/python3", "w") as f:
        f.write("#!%s\nimport os, sys\n"
                "args = [a.replace('inotify_init1,', 'no_such_call,')"
                " for a in sys.argv[1:]]\n"
                "os.execv(sys.executable, [sys.executable] + args)\n"
                % sys.executable)
    os.chmod(path + "/python3", 0o755)
    return path


class Received:
    """The arrival times of one reader: ends of bytes from the follower, lines
    from tail."""

    def __init__(self, name, child, ours):
        self.name, self.child, self.ours = name, child, ours
        self.came, self.ready = {}, threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.child.stdout:
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            words = line.split()
            if not self.ours:
                self.ready.set()
                self.came[int(words[0])] = now
            elif words[0] == b"got":
                self.came.setdefault(words[1].decode(), []).append(
                    (int(words[2]), int(words[3])))
            elif words[0] == b"state" and b"scanned 1" in line:
                self.ready.set()

    def delays(self, sent):
        """ms from each append to its arrival."""
        found = []
        at = dict.fromkeys(self.came, 0)
        for stamp, path, end in sent:
            if not self.ours:
                if stamp in self.came:
                    found.append((self.came[stamp] - stamp) / 1e6)
                continue
            ends = self.came.get(path, [])
            i = at.get(path, 0)
            while i < len(ends) and ends[i][0] < end:
                i += 1
            at[path] = i
            if i < len(ends):
                found.append((ends[i][1] - stamp) / 1e6)
        return found


def latency(box):
    logs = [box + "/lat/%d.log" % i for i in range(FILES)]
    os.mkdir(box + "/lat")
    for p in logs:
        open(p, "w").close()
    readers = []
    for transport in TRANSPORTS:
        for variant in ("py", "sh"):
            readers.append(Received(
                "%s, follower %s" % (transport, variant),
                tool(box, transport, variant, "-n", "-g",
                     tempfile.mkdtemp(dir=box), box + "/lat/*.log"), True))
    for name, path in (("", ""), (", no inotify", blind(box) + ":")):
        env = dict(os.environ, PATH=path + os.environ["PATH"])
        readers.append(Received("local, follower py" + name, tool(
            box, "local", "py", "-n", "-g", tempfile.mkdtemp(dir=box),
            box + "/lat/*.log", env=env), True))
    readers.append(Received("ssh pod tail -F", subprocess.Popen(
        ["ssh", "pod", "exec tail -q -n +1 -F " + box + "/lat/*.log"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE), False))
    outs = [open(p, "ab", buffering=0) for p in logs]
    outs[0].write(b"%d start\n" % 1)
    for r in readers:
        r.ready.wait(60)
    time.sleep(1)
    ends = [os.path.getsize(p) for p in logs]
    sent, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        i = random.randrange(FILES)
        stamp = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        line = b"%d step:100/20000 train_loss:2.3456 step_avg:33.1ms\n" % stamp
        outs[i].write(line)
        ends[i] += len(line)
        sent.append((stamp, logs[i], ends[i]))
        time.sleep(random.expovariate(RATE))
    time.sleep(2)
    row("latency, append to received (ms)", "p50", "p99", "max", "lines")
    for r in readers:
        d = r.delays(sent)
        if d:
            row("  " + r.name, "%.1f" % quantile(d, .5),
                "%.1f" % quantile(d, .99), "%.1f" % max(d),
                "%d/%d" % (len(d), len(sent)))
        r.child.stdin and r.child.stdin.close()
        r.child.terminate() if not r.ours else None
        r.child.wait()


def cpu_s(pid):
    """CPU seconds of a process and of its children that ended."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def rss_kb(sid):
    total = 0
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % p) as f:
                if int(f.read().rpartition(")")[2].split()[3]) != sid:
                    continue
            with open("/proc/%s/smaps_rollup" % p) as f:
                total += sum(int(x.split()[1]) for x in f
                             if x.startswith("Pss:"))
        except OSError:
            pass
    return total


def idle(box):
    os.mkdir(box + "/idle")
    for i in range(64):
        with open(box + "/idle/%d.log" % i, "w") as f:
            f.write("a line of a log that is idle\n" * 1000)
    row("64 idle files, the follower alone", "% of a core", "memory MB")
    for variant in ("py", "sh"):
        f = Follower("sh", variant)
        f.say(b"I 200", b"G " + (box + "/idle/").encode() + b"\\0052.log",
              b"GO")
        f.until(lambda: f.scanned and sum(
            len(x.data) for x in f.files.values()) == 64 * 29000)
        f.pause(12)
        start, before = time.monotonic(), cpu_s(f.pid)
        end = start + SECONDS
        while time.monotonic() < end:
            f.ping()
            f.pause(min(5, SECONDS))
        used = (cpu_s(f.pid) - before) / (time.monotonic() - start)
        row("  " + variant, "%.2f" % (100 * used),
            "%.1f" % (rss_kb(f.child.pid) / 1e3))
        f.close()


def timed_tool(box, transport, variant, size, *args):
    """Seconds from the first to the last byte that the program receives."""
    child = tool(box, transport, variant, *args, "-g",
                 tempfile.mkdtemp(dir=box), box + "/backlog.log")
    first = last = 0
    for line in child.stdout:
        words = line.split()
        if words[0] == b"got":
            first = first or int(words[3])
            last = int(words[3])
            if int(words[2]) == size:
                break
    child.stdin.close()
    child.stdout.close()
    child.wait()
    return (last - first) / 1e9


def timed_libssh2(box):
    """Seconds of a bare loop over libssh2, and its MAC."""
    rig = box + "/rig"
    with open(rig + "/port") as port, open(rig + "/user") as user:
        out = subprocess.check_output(
            [BARE, port.read().strip(), user.read().strip(),
             rig + "/id_ed25519", "cat " + box + "/backlog.log"]).split()
    return float(out[1]), out[2].decode()


def timed_cat(box, size, args):
    child = subprocess.Popen(["ssh", *args, "pod", "cat",
                              box + "/backlog.log"],
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE)
    got, first = 0, 0
    while got < size:
        n = len(os.read(child.stdout.fileno(), 1 << 18))
        first = first or time.monotonic()
        got += n
        if not n:
            break
    took = time.monotonic() - first
    child.stdout.close()
    child.wait()
    return took


def backlog(box):
    line = b"step:%d/20000 train_loss:2.3456 train_time:%dms step_avg:33.1ms\n"
    block = b"".join(line % (i, i * 33) for i in range(15000))
    size = 0
    with open(box + "/backlog.log", "wb") as f:
        while size < BACKLOG_MB * 1000000:
            size += f.write(block)
    row("backlog of %d MB" % (size // 1000000), "MB/s")

    def show(name, seconds):
        row("  " + name, "%.0f" % (size / 1e6 / max(seconds, 1e-9)))
    show("ssh pod cat, its own cipher", timed_cat(box, size, []))
    mac = timed_libssh2(box)[1]

    def ours(transport, variant, *args):
        return lambda: timed_tool(box, transport, variant, size, *args)
    ways = {"ssh pod cat, aes128-ctr " + mac:
            lambda: timed_cat(box, size, ["-c", "aes128-ctr", "-m", mac]),
            "bare libssh2, the same": lambda: timed_libssh2(box)[0]}
    for transport in ["local"] + TRANSPORTS:
        ways[f"{transport}, follower py"] = ours(transport, "py", "-n")
        ways[f"{transport}, follower py, and to the mirror"] = \
            ours(transport, "py")
    # Take turns and keep the best of each: other programs may use the machine
    # too.
    took = [{name: way() for name, way in ways.items()}
            for _ in range(ROUNDS)]
    for name in ways:
        show(name, min(one[name] for one in took))
    for transport in ["local"] + TRANSPORTS:
        show(f"{transport}, follower sh", ours(transport, "sh", "-n")())


def main():
    box = tempfile.mkdtemp(prefix="hgym-bench-")
    only = sys.argv[1:]
    print("%d cores, load %.1f before" % (os.cpu_count(), os.getloadavg()[0]))
    try:
        if subprocess.call(["sh", SSHD, "start", box + "/rig"]):
            print("needs sshd (Debian package openssh-server)")
            return 1
        os.environ["PATH"] = box + "/rig/bin:" + os.environ["PATH"]
        os.environ.pop("SSH_AUTH_SOCK", None)
        for name, part in (("latency", latency), ("idle", idle),
                           ("backlog", backlog)):
            if not only or name in only:
                part(box)
    finally:
        subprocess.call(["sh", SSHD, "stop", box + "/rig"])
        shutil.rmtree(box, ignore_errors=True)
    return 0


sys.exit(main())
