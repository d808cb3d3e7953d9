#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The client of the follower, with a real follower over the local transport: a
slow consumer, quiet mode, new patterns, a killed follower, a killed program,
and nothing left at the end. Then over a proxy that offers only terminals, and
logs that are rotated while the program is stopped, next to files that cannot
be read and links."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

SRC = os.environ.get("HGYM_SRC", ".")
BUILD = os.environ.get("HGYM_BUILD", "build")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from manual import example  # noqa: E402
from process import Process  # noqa: E402
from tap import finish, note, ok, skip  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

TOOL = os.path.join(BUILD, "tests/follow/follow-mirror")
SSHD = os.path.join(SRC, "tests/support/sshd.sh")
PTY = os.path.join(SRC, "src/pods/pty-shell")


def put(path, data, mode="ab"):
    with open(path, mode) as f:
        f.write(data)


class Tool:
    """The program follow-mirror, which follows the logs of a folder."""

    def __init__(self, box, variant, *args, way="local", env=None):
        self.out, self.said = box + "/out", box + "/said"
        os.makedirs(self.out, exist_ok=True)
        self.log = open(self.said, "ab")
        self.child = subprocess.Popen(
            [TOOL, "-v", variant, *args, way, self.out,
             box + "/logs/*.log"], stdin=subprocess.PIPE, stdout=self.log,
            env=env)

    def say(self, line):
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def heard(self, text):
        with open(self.said) as f:
            return text in f.read()

    def mirrors(self):
        return sorted(self.read(n) for n in os.listdir(self.out)
                      if n != "journal")

    def read(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()

    def has(self, *contents):
        want = sorted(contents)
        if until(lambda: self.mirrors() == want):
            return True
        note("%s bytes, expected %s; its output:" % (
            [len(x) for x in self.mirrors()], [len(x) for x in want]))
        with open(self.said, errors="replace") as f:
            note(f.read()[-3000:])
        return False

    def followers(self):
        """The pids of the tool's child processes."""
        run = subprocess.run(["pgrep", "-P", str(self.child.pid)],
                             stdout=subprocess.PIPE)
        return [Process(p) for p in run.stdout.split()]

    def stop(self):
        self.child.stdin.close()
        status = self.child.wait(PATIENCE_S)
        self.log.close()
        return status


def kill_holder(follower, log):
    """Kill the process by which the sh follower holds a log open."""
    run = subprocess.run(["pgrep", "-P", str(follower.pid)],
                         stdout=subprocess.PIPE)
    for pid in run.stdout.split():
        with contextlib.suppress(OSError):
            if os.readlink("/proc/%d/fd/3" % int(pid)) == log:
                os.kill(int(pid), signal.SIGKILL)


def append_until_unread(t, log, text):
    """Append to the log until that is not read.  Returns whether that was the
    case, and the text of the log."""
    def is_quiet():
        nonlocal text
        before = t.mirrors()
        put(log, b"psst")
        text += b"psst"
        time.sleep(2)
        return t.mirrors() == before != [text]
    return until(is_quiet), text


def test(box, variant):
    def name(text):
        return "%s: %s" % (variant, text)
    log = box + "/logs/a b'\n.log"
    os.mkdir(box + "/logs")
    text = os.urandom(3 << 20)
    put(log, text)
    t = Tool(box, variant, "-s", "10000")
    ok(t.has(text), name("a slow consumer gets every byte"))
    ok(t.stop() == 0, name("the program ends"))

    put(log, b"while it was off")
    text += b"while it was off"
    t = Tool(box, variant)
    ok(t.has(text), name("after a restart the follower continues at the same byte"))
    with open(box + "/said") as f:
        ok("resumes" in f.read(), name("after a restart it reports the "
                                       "resumed offset"))

    pids = t.followers()
    if variant == "sh":
        # A shell prints the text of a command that was killed.  If the follower
        # needed a checksum of the log at that moment, it ends, and another starts.
        kill_holder(pids[0], log)
        until(lambda: t.heard("trouble") or t.heard("state waiting"))
        put(log, b"?")
        text += b"?"
        t.has(text)
        pids = t.followers()
    for pid in pids:
        pid.kill()
    put(log, b"!")
    text += b"!"
    ok(t.has(text) and t.heard("state waiting"),
       name("a killed follower is started again"))
    ok(until(lambda: t.heard(": the follower on the pod was killed by SIGKILL\n")),
       name("a killed follower: the reason is one sentence"))

    t.say("quiet 1")
    t.say("status")
    ok(until(lambda: t.heard("status live")), name("the status is live"))
    # The follower may read the command only after its next look at the files.
    quiet, text = append_until_unread(t, log, text)
    ok(quiet, name("quiet mode: nothing is read"))
    t.say("quiet 0")
    ok(t.has(text), name("quiet mode ends: everything that was missed is read"))

    put(box + "/logs/other.txt", b"other")
    t.say("globs " + box + "/logs/*.txt")
    ok(t.has(text, b"other"), name("new patterns while it runs: the new file "
                                   "is followed"))
    ok(until(lambda: t.heard("ends ")), name("new patterns while it runs: a "
                                             "file without a pattern has "
                                             "ended"))

    t.child.kill()
    t.child.wait()
    t.stop()
    put(box + "/logs/other.txt", b"+", "wb")
    t = Tool(box, variant)
    put(log, b"more")
    ok(t.has(text + b"more", b"other"),
       name("killed and restarted: ended logs resume, a truncated log keeps "
            "its old copy"))
    pids = t.followers()
    ok(t.stop() == 0, name("after a restart the program ends"))
    ok(until(lambda: not any(p.is_running() for p in pids)),
       name("the program ends: its follower has ended too"))


FIRST = b"step 1 loss 2.0\n"

# Root can read every file: run the rest of the command line unprivileged.
AS_NOBODY = """#!%s
import os, sys
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
os.execvp(sys.argv[1], sys.argv[1:])
""" % sys.executable


class Rotation:
    """A folder with two logs, and a program that follows them."""

    def __init__(self, top, variant, way, env=None):
        self.box = tempfile.mkdtemp(dir=top)
        self.logs = self.box + "/logs"
        self.variant, self.way, self.env = variant, way, env
        os.mkdir(self.logs)
        os.chmod(self.box, 0o755)
        put(self.logs + "/steady.log", b"steady\n")
        put(self.logs + "/a.log", FIRST)

    def start(self):
        self.tool = Tool(self.box, self.variant, "-r", *self.way[:-1],
                         way=self.way[-1], env=self.env)

    def stop(self):
        self.tool.stop()

    def rotate(self):
        """Append to the log, rename it out of the pattern, create a new one.
        Returns the two texts."""
        log = self.logs + "/a.log"
        put(log, b"step 2 loss 1.5\n")
        os.rename(log, self.logs + "/a.log.1")
        put(self.logs + "/a.log.1", b"the last line of its writer\n")
        put(log, b"step 1 loss 3.0\n")
        with open(self.logs + "/a.log.1", "rb") as f:
            return f.read(), b"step 1 loss 3.0\n"

    def has(self, *texts):
        return self.tool.has(b"steady\n", *texts)

    def counts(self, followed, matching):
        """Wait until the follower reported these numbers."""
        def is_reported():
            self.tool.say("status")
            time.sleep(0.1)
            return self.tool.heard("scanned 1 followed %d of %d:" %
                                   (followed, matching))
        return until(is_reported)


def make_unreadable(logs):
    put(logs + "/secret.log", b"secret")
    os.chmod(logs + "/secret.log", 0)


def make_others(logs):
    os.symlink("nowhere", logs + "/dangling.log")
    os.mkdir(logs + "/folder.log")
    os.mkfifo(logs + "/pipe.log")


NEIGHBORS = {
    "nothing else": lambda logs: None,
    "an unreadable file": make_unreadable,
    "a symlink to a log":
        lambda logs: os.symlink("steady.log", logs + "/z.log"),
    "a hard link to a log":
        lambda logs: os.link(logs + "/steady.log", logs + "/z.log"),
    "a folder, a FIFO and a dangling link": make_others,
}


def test_rotated(top, variant, way, neighbor, env=None):
    def name(text):
        return "%s, %s, next to %s: %s" % (variant, way[-1].split(":")[0],
                                           neighbor, text)
    r = Rotation(top, variant, way, env)
    NEIGHBORS[neighbor](r.logs)
    r.start()
    ok(r.has(FIRST) and r.counts(2, 2),
       name("two logs are followed and counted"))
    r.stop()
    old, new = r.rotate()
    os.unlink(r.box + "/said")
    r.start()
    ok(r.has(old, new), name("rotated while the program was stopped: every "
                             "byte of both, once"))
    ok(r.tool.heard("resumes %s/a.log.1 0 %d\n" % (r.logs, len(FIRST))),
       name("the rotated log continues at its offset"))
    ok(r.counts(3, 3), name("three logs are counted"))
    ok(not r.tool.heard("ends %s/a.log " % r.logs),
       name("the rotated log is not reported as ended"))
    r.stop()

    os.unlink(r.logs + "/a.log")
    os.unlink(r.box + "/said")
    r.start()
    ok(until(lambda: r.tool.heard("ends %s/a.log " % r.logs)),
       name("a log that was deleted is reported as ended"))
    ok(r.has(old, new), name("a log that was deleted keeps its local copy"))
    r.stop()


def test_unreadable(top, variant, way):
    """A log that is unreadable for a while has not ended."""
    r = Rotation(top, variant, way)
    r.start()
    r.has(FIRST)
    r.stop()
    os.chmod(r.logs + "/a.log", 0)
    put(r.logs + "/a.log", b"step 2 loss 1.5\n")
    os.unlink(r.box + "/said")
    r.start()
    ok(r.counts(1, 1) and r.tool.heard("trouble") and
       not r.tool.heard("ends "),
       "%s: a log that cannot be read is reported and has not ended" % variant)
    os.chmod(r.logs + "/a.log", 0o644)
    ok(r.has(FIRST + b"step 2 loss 1.5\n"),
       "%s: the log continues when it can be read again" % variant)
    r.stop()


def test_rotations():
    top = tempfile.mkdtemp(prefix="hgym-rotated-")
    rig, wrapper = top + "/rig", top + "/as-nobody"
    os.chmod(top, 0o755)
    put(wrapper, AS_NOBODY.encode())
    put(top + "/session", b"#!/bin/sh\nexec %s sh -c \"$SSH_ORIGINAL_COMMAND\""
        b"\n" % wrapper.encode())
    os.chmod(wrapper, 0o755)
    os.chmod(top + "/session", 0o755)
    local = ["command:%s sh" % wrapper]
    cases = [(test_rotated, top, variant, local, neighbor)
             for variant in ("py", "sh") for neighbor in NEIGHBORS]
    cases += [(test_unreadable, top, variant, local)
              for variant in ("py", "sh")]
    if subprocess.run(["sh", SSHD, "start", rig, "ForceCommand %s/session" %
                       top]).returncode != 0:
        skip("rotated logs over ssh",
             "needs sshd (Debian package openssh-server)")
    else:
        ssh = ["-k", rig + "/known_hosts", "-i", rig + "/id_ed25519"]
        env = dict(os.environ, PATH=rig + "/bin:" + os.environ["PATH"])
        cases += [(test_rotated, top, "py", ssh + ["libssh2:pod"],
                   "an unreadable file", env),
                  (test_rotated, top, "sh", ssh + ["openssh:pod"],
                   "a symlink to a log", env)]
    try:
        # The cases mostly wait, so run them at the same time.
        with ThreadPoolExecutor(len(cases)) as pool:
            for case in [pool.submit(*case) for case in cases]:
                case.result()
    finally:
        subprocess.run(["sh", SSHD, "stop", rig])
    shutil.rmtree(top)


def test_changed():
    """A connection that changes a letter."""
    for sed, status, want in (("s/x/x/", 0, b"hey\n"), ("s/=/A/", 1, b"")):
        done = subprocess.run([PTY, "sh", "-c", f"sh 2>&1 | sed -u {sed}"],
                              input=b"echo hey\n", capture_output=True)
        ok((done.returncode, done.stdout) == (status, want),
           "pty: the session ends if the connection changes a byte", done)


def test_pty(box):
    """A proxy that offers only a terminal, and is killed 20 times."""
    log, only, rig = box + "/logs/a.log", box + "/only-pty", box + "/rig"
    os.mkdir(box + "/logs")
    put(only, b"#!/bin/sh\ntest -t 0 || { echo no commands here >&2; exit 1; }"
        b"\necho == welcome ==\nexec sh -i\n")
    os.chmod(only, 0o755)

    def sshd(mode, *args):
        return subprocess.run(["sh", SSHD, mode, rig, *args], text=True,
                              stdout=subprocess.PIPE)
    if sshd("start", "ForceCommand " + only).returncode != 0:
        return skip("a proxy with terminals only",
                    "needs sshd (Debian package openssh-server)")
    try:
        ssh = ["ssh", "-F", rig + "/ssh_config"]
        done = subprocess.run(ssh + ["pod", "true"], capture_output=True)
        ok(done.returncode == 1 and b"no commands" in done.stderr,
           "pty: the proxy rejects commands", done)
        text = os.urandom(1 << 20)
        put(log, text)
        tty = example("hgym-tui-config.5", '"pod-c"')["pods"][0]["command"][2]
        t = Tool(box, "auto", "-r", way=" ".join(
            ["command:" + PTY, *ssh, tty, "pod"]))
        fallen = 0
        for _ in range(20):
            had = sum(map(len, t.mirrors()))
            until(lambda: sum(map(len, t.mirrors())) > had)
            # The new bytes may come from the connection that was killed
            # before.
            pids = []
            until(lambda: pids.extend(sshd("conns").stdout.split()) or pids)
            fallen += len(pids) > 0
            for pid in pids:
                Process(pid).kill()
            put(log, os.urandom(300000))
        with open(log, "rb") as f:
            ok(t.has(f.read()) and fallen == 20,
               "pty: every byte arrives although the connection is killed 20 "
               "times", fallen)
        ok(t.stop() == 0, "pty: the program ends")
        ok(until(lambda: not sshd("conns").stdout), "pty: the connection ends "
                                                    "with the program")
    finally:
        sshd("stop")


def in_box(test, *args):
    """Run a test in its own folder."""
    box = tempfile.mkdtemp(prefix="hgym-client-")
    test(box, *args)
    shutil.rmtree(box)


def main():
    # They mostly wait, so run them at the same time.
    with ThreadPoolExecutor() as pool:
        for case in [pool.submit(test_rotations), pool.submit(test_changed),
                     pool.submit(in_box, test_pty),
                     pool.submit(in_box, test, "py"),
                     pool.submit(in_box, test, "sh")]:
            case.result()
    return finish()


sys.exit(main())
