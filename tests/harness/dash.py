#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The dashboard on a real pseudo-terminal shows a HarnessGym run: of a named
directory, and of a configured pod while the run goes on."""
import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

TUI, BUILD = os.environ["HGYM_TUI"], os.environ["HGYM_BUILD"]
GEN = os.path.join(BUILD, "tests/tools/harness-gen")
LIMIT_S = 60
count = 0


def ok(good, name):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    return good


class Screen:
    """A child on a terminal, and all that it wrote."""

    def __init__(self, args, folder):
        env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8",
                   HOME=folder, XDG_STATE_HOME=folder, XDG_DATA_HOME=folder,
                   XDG_CACHE_HOME=folder)
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(args[0], args, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 40, 150, 0, 0))

    def wait_for(self, text):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            if text.encode() in self.seen:
                return True
            ready, _, _ = select.select([self.fd], [], [], 0.2)
            if ready:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    data = b""
                if not data:
                    break
                self.seen += data
        return text.encode() in self.seen

    def press(self, keys):
        self.seen = b""
        os.write(self.fd, keys.encode())

    def leave(self):
        os.write(self.fd, b"Q")
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            try:
                if select.select([self.fd], [], [], 0.1)[0]:
                    os.read(self.fd, 65536)
            except OSError:
                pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        return None


def main():
    folder = tempfile.mkdtemp()
    work = os.path.join(folder, "work")
    try:
        subprocess.run([GEN, work], check=True)
        screen = Screen([TUI, work], folder)
        ok(screen.wait_for("Harness"), "a named directory opens")
        screen.press("8")
        ok(screen.wait_for("best VERIFIED"), "its run is shown")
        ok(screen.leave() == 0, "and left")

        shutil.rmtree(work)
        subprocess.run([GEN, work, "6"], check=True)
        config = os.path.join(folder, "config.json")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"schema": "hgym-tui.config/1", "pods": [
                {"name": "here", "transport": "local",
                 "logs": [folder + "/*.log"], "harnessgym": [work]}]}, out)
        screen = Screen([TUI, "--config", config, "--db",
                         os.path.join(folder, "db")], folder)
        ok(screen.wait_for("Harness"), "the dashboard of a pod opens")
        screen.press("8")
        ok(screen.wait_for("rmsnorm-h100"), "its run is there")
        screen.seen = b""
        subprocess.run([GEN, work], check=True)
        ok(screen.wait_for("tooling_built"), "and is followed to its end")
        ok(screen.leave() == 0, "and left")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"1..{count}")


sys.exit(main())
