# SPDX-License-Identifier: MIT
"""What a command prints, as a document writes it: "[...]" stands for anything
in a line, a line "..." for any lines."""
import re


def pattern_of(lines):
    """The lines as a pattern; blanks at their ends do not matter."""
    out = ""
    for line in lines:
        if line == "...":
            out += r"(?:.*\n)*"
        else:
            out += ".*".join(re.escape(part) for part in
                             line.rstrip().split("[...]")) + r"[ ]*\n"
    return out
