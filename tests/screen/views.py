# SPDX-License-Identifier: MIT
"""The views with golden files, and where the files are."""
import os

SRC = os.environ.get("HGYM_SRC", ".")
GOLDEN = os.path.join(SRC, "tests/screen/golden")
SIZES = ["80x24", "120x40", "200x60", "60x15", "40x10"]
SMALL = ("60x15", "40x10")
SMALL_VIEWS = ("fleet", "logs", "help")

# For each view: its name, the keys that show it, and the keys that undo its
# changes. One program can show all views in this order. The view that marks
# runs is the last, because its marks stay.
VIEWS = [
    ("fleet", ["1"], []),
    ("run", ["2"], []),
    ("board", ["3", "j", "Enter"], []),
    ("bench", ["6"], []),
    ("plan", ["6", "j"], []),
    ("pods", ["7", "j", "j"], []),
    ("form", ["7", "g", "Space", "j", "Space", "b", "Enter", "Tab", "Tab"] +
     list("/srv") + ["Tab"], ["Esc", "Space", "k", "Space"]),
    ("harness", ["8"], ["1"]),
    ("help", ["?"] + list("chart"), ["Esc"]),
    ("palette", [":"] + list("polar"), ["Esc"]),
    ("events", ["!"], ["Esc"]),
    ("logs", ["1", "g", "5"], []),
    ("compare", ["1", "g", "Space", "j", "j", "Space", "4"], []),
]


def golden(name):
    """The text of a golden file; empty if it does not exist."""
    path = os.path.join(GOLDEN, name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as text:
        return text.read()


def in_size(view, size):
    return size not in SMALL or view in SMALL_VIEWS
