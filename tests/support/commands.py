# SPDX-License-Identifier: MIT
"""The commands in the list of --help."""
import re


def command_names(helps):
    """The names in the text of --help; several can share a line: "bench list | show"."""
    names = []
    for line in re.findall(r"^  ([a-z].*)", helps, re.M):
        first, *more = re.split(r" \| |, ", line.split("  ")[0])
        names += [first] + [" ".join(first.split(" ")[:-1] + [name])
                            for name in more]
    return names
