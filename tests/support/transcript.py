# SPDX-License-Identifier: MIT
"""Expected output as written in documents: "[...]" stands for any text within
a line, a line "..." for any lines."""
import re


def pattern_of(lines):
    """The lines as a pattern; trailing spaces do not matter."""
    out = ""
    for line in lines:
        if line == "...":
            out += r"(?:.*\n)*"
        else:
            out += ".*".join(re.escape(part) for part in
                             line.rstrip().split("[...]")) + r"[ ]*\n"
    return out
