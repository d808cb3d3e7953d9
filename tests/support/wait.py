# SPDX-License-Identifier: MIT
"""Waiting for something that another process is about to do."""
import time

# Deadline for expected events: much longer than the slowest machine needs.
PATIENCE_S = 600


def until(check, seconds=PATIENCE_S, between=time.sleep):
    """Wait until check() is true; False if it was not before the deadline.
    Between checks it sleeps or calls the given function, for example the pump
    of a program in a terminal."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        between(0.05)
    return bool(check())
