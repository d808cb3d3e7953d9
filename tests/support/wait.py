# SPDX-License-Identifier: MIT
"""Waiting for what another process is about to do."""
import time


def until(check, seconds=60):
    """True as soon as check() is; False when it was not in all that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.05)
    return bool(check())
