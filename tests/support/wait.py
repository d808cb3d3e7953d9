# SPDX-License-Identifier: MIT
"""Waiting for what another process is about to do."""
import time

# A deadline of what has to come: far beyond what a machine in trouble takes.
PATIENCE_S = 600


def until(check, seconds=PATIENCE_S, between=time.sleep):
    """True as soon as check() is; False when it was not in all that time.
    Meanwhile it sleeps, or does what the caller has to do in between: the
    pump of a program in a terminal."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        between(0.05)
    return bool(check())
