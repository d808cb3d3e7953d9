# SPDX-License-Identifier: MIT
"""A clock that a test sets.  For programs that were started with its env, time
passes without waiting.  Scripts of the shell run `clock.py FILE SECONDS`."""
import os
import struct
import sys
import time


class Clock:
    def __init__(self, path):
        self.path, self.env = path, {"HGYM_TUI_TEST_CLOCK": path}
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(bytes(8))
        with open(path, "rb") as file:
            self.ahead_s = struct.unpack("=q", file.read())[0] / 1000

    def forward(self, seconds, step=5):
        """Advance the clock in steps, with time to react to each: if all of it
        passed at once, answers that are on their way would be too late."""
        end = self.ahead_s + seconds
        while self.ahead_s < end:
            self.ahead_s = min(self.ahead_s + step, end)
            # Programs have mapped the file: do not create it again.
            with open(self.path, "r+b") as file:
                file.write(struct.pack("=q", round(self.ahead_s * 1000)))
            time.sleep(0.2)


if __name__ == "__main__":
    Clock(sys.argv[1]).forward(int(sys.argv[2]))
