#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Soak test: many files on a pod get random bytes and are rotated, truncated
and rewritten, while the pod's sshd and the program that follows them are
killed at random. At the end each local copy must equal what was written.

make check runs a short version; SOAK_MB=300 SOAK_KILLS=50 SOAK_FILES=64 is the
full one. SOAK_TRANSPORT and SOAK_VARIANT choose the transport and the
follower."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
TOOL = os.path.join(BUILD, "tests/follow/follow-mirror")
SSHD = os.path.join(SRC, "tests/support/sshd.sh")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from process import Process  # noqa: E402
from tap import finish, note, ok, skip_all  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

MB = float(os.environ.get("SOAK_MB", "12"))
KILLS = int(os.environ.get("SOAK_KILLS", "6"))
FILES = int(os.environ.get("SOAK_FILES", "16"))
TRANSPORT = os.environ.get("SOAK_TRANSPORT", "libssh2")
VARIANT = os.environ.get("SOAK_VARIANT", "auto")
# Longest time between kills, in seconds, if the program gets a connection.
PAUSE = float(os.environ.get("SOAK_PAUSE", "1.4"))
SEED = int(os.environ.get("SOAK_SEED", time.time()))
DEADLINE = PATIENCE_S + MB * 2 + KILLS * 6


def mirror_name(path, generation):
    h = 14695981039346656037
    for b in b"pod\0" + path:
        h = (h ^ b) * 1099511628211 & (1 << 64) - 1
    tail = "".join(chr(c) if chr(c).isalnum() and c < 128 or c in b"._"
                   else "-" for c in path[-48:])
    name = "%016x-%d-%s" % (h, generation, tail)
    return name if name.endswith(".log") else name + ".log"


class Log:
    """One path on the pod, with all that was ever written there."""

    def __init__(self, soak, n):
        self.soak = soak
        names = [b"plain%d.log", b"with space %d.log", b"quote'%d.log",
                 b"new\nline%d.log", b"\xff%d.log", b"$(no)%d.log"]
        self.path = soak.logs + b"/" + names[n % len(names)] % n
        self.kept = []
        self.rotated = 0
        self.begin()

    def begin(self):
        self.keep = os.path.join(soak_dir, "kept-%d" % self.soak.next_kept())
        self.kept.append(self.keep)
        open(self.keep, "wb").close()
        self.out = open(self.path, "ab", buffering=0)

    def write(self, data):
        with open(self.keep, "ab") as f:
            f.write(data)
        self.out.write(data)

    def mirror(self, generation):
        return os.path.join(self.soak.out, mirror_name(self.path, generation))

    def mirrored(self):
        """Is the newest generation complete?"""
        try:
            return os.path.getsize(self.mirror(len(self.kept) - 1)) == \
                os.path.getsize(self.keep)
        except OSError:
            return False

    def wait(self):
        end = time.monotonic() + DEADLINE
        while not self.mirrored():
            if time.monotonic() > end:
                raise TimeoutError("%r: never complete" % self.path)
            time.sleep(0.02)

    def rotate(self):
        """Wait before bytes are truncated or deleted: nobody could read them
        afterwards."""
        how = random.choice(["rename", "rename", "cut", "regrow", "delete"])
        if how == "rename":
            try:
                os.stat(self.mirror(len(self.kept) - 1))
            except OSError:
                return
            self.write(b"last words")
            os.rename(self.path, self.path + b".%d" % len(self.kept))
            self.write(b"and more")
            self.out.close()
            self.begin()
            self.write(os.urandom(300))
            return
        if os.path.getsize(self.keep) == 0:
            return
        self.wait()
        size = os.path.getsize(self.keep)
        self.out.close()
        if how == "delete":
            os.unlink(self.path)
        else:
            os.truncate(self.path, 0)
        self.begin()
        self.write(os.urandom(size + 999 if how == "regrow" and size < 4e6
                              else random.randrange(1, 1 + min(size, 99999))))

    def wrong(self):
        """The generations whose local copy differs from what was written."""
        bad = []
        for i, kept in enumerate(self.kept):
            if not same(kept, self.mirror(i)):
                bad.append((self.path, i, kept, self.mirror(i)))
        return bad


def same(a, b):
    try:
        with open(a, "rb") as x, open(b, "rb") as y:
            while True:
                p, q = x.read(1 << 20), y.read(1 << 20)
                if p != q:
                    return False
                if not p:
                    return True
    except OSError:
        return False


class Soak:
    def __init__(self):
        self.logs = os.path.join(soak_dir, "logs").encode()
        self.out = os.path.join(soak_dir, "out")
        self.rig = os.path.join(soak_dir, "rig")
        self.kept = self.kills = self.restarts = 0
        self.last, self.connected = b"", 0
        self.events = {}
        # Use a copy: a build at the same time could replace the program.
        self.program = shutil.copy(TOOL, soak_dir)
        os.mkdir(self.logs)
        os.mkdir(self.out)
        if subprocess.call(["sh", SSHD, "start", self.rig]):
            sys.exit(skip_all("needs sshd (Debian package openssh-server)"))
        os.environ["PATH"] = self.rig + "/bin:" + os.environ["PATH"]
        os.environ.pop("SSH_AUTH_SOCK", None)
        self.files = [Log(self, i) for i in range(FILES)]
        self.start()

    def next_kept(self):
        self.kept += 1
        return self.kept

    def start(self):
        self.tool = subprocess.Popen(
            [self.program, "-r", "-v", VARIANT, "-k", self.rig + "/known_hosts", "-i",
             self.rig + "/id_ed25519", TRANSPORT + ":pod", self.out,
             self.logs + b"/*.log"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self.listen, args=[self.tool],
                                       daemon=True)
        self.reader.start()

    def listen(self, tool):
        for line in tool.stdout:
            word = line.split()[0].decode()
            self.events[word] = self.events.get(word, 0) + 1
            self.last = line
            self.connected += line.startswith(b"state live")

    def connections(self):
        pids = subprocess.run(["sh", SSHD, "conns", self.rig],
                              stdout=subprocess.PIPE).stdout.split()
        return [int(p) for p in pids]

    def kill_sshd(self):
        pids = self.connections()
        for p in pids:
            for q in subprocess.run(["pgrep", "-P", str(p)],
                                    stdout=subprocess.PIPE).stdout.split():
                Process(q).kill()
            Process(p).kill()
        self.kills += bool(pids)

    def kill_tool(self):
        self.tool.kill()
        self.tool.wait()
        self.reader.join()
        self.tool.stdin.close()
        self.tool.stdout.close()
        self.restarts += 1
        self.start()

    def trouble(self):
        """Kill the tool or an sshd at random times; runs in its own thread."""
        pause, connected = PAUSE, 0
        while not self.calm.wait(random.uniform(0.3, pause)):
            # A slow machine needs longer to connect.
            pause = PAUSE if self.connected > connected else 2 * pause
            connected = self.connected
            if random.random() < 0.2:
                self.kill_tool()
            elif self.kills < KILLS:
                self.kill_sshd()

    def work(self):
        self.calm = threading.Event()
        killer = threading.Thread(target=self.trouble, daemon=True)
        killer.start()
        written, start = 0, time.monotonic()
        while (written < MB * 1e6 or self.kills < KILLS) and (
                time.monotonic() - start < DEADLINE):
            log = random.choice(self.files)
            size = int(10 ** random.uniform(0, 5.3))
            if written >= MB * 1e6:
                size = 10
                time.sleep(0.01)
            log.write(os.urandom(size))
            written += size
            if random.random() < 0.01:
                log.rotate()
            time.sleep(size / 25e6)
        self.calm.set()
        killer.join()
        self.written = written

    def end(self):
        self.tool.kill()
        subprocess.call(["sh", SSHD, "stop", self.rig])

    def finish(self):
        for log in self.files:
            log.wait()
        end = time.monotonic() + PATIENCE_S
        bad = [1]
        while bad and time.monotonic() < end:
            time.sleep(0.2)
            bad = sum((log.wrong() for log in self.files), [])
        self.tool.stdin.close()
        self.tool.wait(PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while self.connections() and time.monotonic() < end:
            time.sleep(0.1)
        left = self.connections()
        subprocess.call(["sh", SSHD, "stop", self.rig])
        return bad, left


def main():
    note("seed %d" % SEED)
    random.seed(SEED)
    soak = Soak()
    try:
        soak.work()
        bad, left = soak.finish()
    except (TimeoutError, subprocess.TimeoutExpired) as e:
        note("%s; last: %s" % (e, soak.last))
        bad, left = [("timeout",)], []
        soak.end()
    generations = sum(len(x.kept) for x in soak.files)
    note("%.1f MB, %d files, %d generations, %d sshd killed, %d restarts"
         % (soak.written / 1e6, FILES, generations, soak.kills,
            soak.restarts))
    note(soak.events)
    for wrong in bad[:10]:
        note("wrong: %r %s" % (wrong, [
            os.path.getsize(p) for p in wrong[2:] if os.path.exists(p)]))
    ok(soak.kills >= KILLS, "at least the wanted number of connections was "
                            "killed")
    ok(not bad, "the local copy of every generation equals what was written")
    ok(not left, "no connection is left", left)
    return finish()


soak_dir = tempfile.mkdtemp(prefix="hgym-soak-")
signal.signal(signal.SIGTERM, lambda *args: sys.exit(1))
try:
    status = main()
finally:
    subprocess.call(["sh", SSHD, "stop", soak_dir + "/rig"])
    if not os.environ.get("SOAK_KEEP"):
        shutil.rmtree(soak_dir, ignore_errors=True)
sys.exit(status)
