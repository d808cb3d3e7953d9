# SPDX-License-Identifier: MIT
"""Waiting for something that another process is about to do."""
import time

# Deadline for expected events: much longer than the slowest machine needs.
PATIENCE_S = 600
_patience = [PATIENCE_S]


def wait_limit_s(seconds):
    """The seconds to wait for an expected event.  After one event did not happen
    the script has failed already, and does not wait as long again."""
    return min(seconds, _patience[0])


def waited_in_vain(seconds):
    """An event did not happen within this number of seconds."""
    if seconds == PATIENCE_S:
        _patience[0] = 20


def until(check, seconds=PATIENCE_S, between=time.sleep):
    """Wait until check() is true.  Returns False if the deadline passes first.
    Between two checks it waits four times as long as a check takes, so that
    waiting leaves the machine to the program that is waited for; between() may
    do some work instead, for example pump() of a program in a terminal."""
    end = time.monotonic() + wait_limit_s(seconds)
    while True:
        now = time.monotonic()
        if check():
            return True
        if now >= end:
            waited_in_vain(seconds)
            return False
        between(min(max(0.05, 4 * (time.monotonic() - now)), 0.5))
