# SPDX-License-Identifier: MIT
"""Processes that a test did not start itself.  Right after a kill they may be
zombies, and soon another process may have their pid."""
import contextlib
import os
import signal


def start_of(pid):
    """When a running process was started; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(") ", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class Process:
    """The process that has this pid now, or had it when it started at start."""

    def __init__(self, pid, start=None):
        self.pid = int(pid)
        self.start = start or start_of(self.pid)

    def __repr__(self):
        return str(self.pid)

    def is_running(self):
        return self.start is not None and start_of(self.pid) == self.start

    def kill(self, signum=signal.SIGKILL):
        """Send a signal, if it is still running."""
        with contextlib.suppress(ProcessLookupError):
            if self.is_running():
                os.kill(self.pid, signum)


def pids_of(mark):
    """Processes that have the text in their environment, except zombies."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if os.fsencode(mark) in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def read_pid(path):
    """The first number in a file of pids; None before its line is complete."""
    try:
        with open(path) as file:
            line = file.readline()
    except FileNotFoundError:
        return None
    return int(line.split()[0]) if line.endswith("\n") else None
