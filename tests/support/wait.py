# SPDX-License-Identifier: MIT
"""Waiting for something that another process is about to do."""
import time

# Deadline for expected events: much longer than the slowest machine needs.
PATIENCE_S = 600
_patience = [PATIENCE_S]


def wait_limit_s(seconds):
    """The seconds to wait for an expected event.  A script that has waited in
    vain once has failed already, and does not wait as long again."""
    return min(seconds, _patience[0])


def waited_in_vain(seconds):
    """Say that an event did not happen within so many seconds."""
    if seconds == PATIENCE_S:
        _patience[0] = 20


def until(check, seconds=PATIENCE_S, between=time.sleep):
    """Wait until check() is true; False if it was not before the deadline.
    Between checks it sleeps or calls the given function, for example the pump
    of a program in a terminal."""
    end = time.monotonic() + wait_limit_s(seconds)
    while time.monotonic() < end:
        if check():
            return True
        between(0.05)
    met = bool(check())
    if not met:
        waited_in_vain(seconds)
    return met
