# SPDX-License-Identifier: MIT
"""Results folders of benches that were recorded by tests/tools/record-bench.py:
a screen shows them without running a bench."""
import fcntl
import json
import os
import time

SRC = os.environ.get("HGYM_SRC", ".")
DEMO = os.path.join(SRC, "src/app/demo/bench.rec")
AUDIT = os.path.join(SRC, "tests/screen/recorded/audit.rec")


class Recorded:
    """A recorded bench below a home directory, in which it appears in parts."""

    def __init__(self, path, home):
        self.files = {}  # path in the folder: text
        benches = os.path.join(home, "state/hgym-tui/benches")
        with open(path, encoding="utf-8") as rec:
            for part in rec.read()[1:].split("\n>"):
                name, *lines = part.rstrip("\n").split("\n")
                self.id, name = name.split("/", 4)[3:]
                self.files[name] = "".join(
                    (line[1:].replace("@", home) if line[0] == "@" else
                     line[1:]) + "\n" * (line[0] != "_") for line in lines)
        self.folder = os.path.join(benches, self.id)
        self.lock = None

    def write(self, wanted):
        """Write the files whose path wanted() accepts; state.json always, and at
        last: a screen that sees it change reads the folder again."""
        for name, text in self.files.items():
            path = os.path.join(self.folder, name)
            if name != "state.json" and wanted(name):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
        path = os.path.join(self.folder, "state.json")
        with open(path + ".new", "w", encoding="utf-8") as out:
            out.write(self.files["state.json"])
        os.rename(path + ".new", path)

    def start(self, blocks):
        """The bench runs, and this number of blocks is complete. Like the process
        that drives a bench, this one holds its lock."""
        ended = self.files["state.json"]
        self.files["state.json"] = json.dumps({
            "schema": "hgym-tui.bench-state/1", "name": json.loads(ended)["name"],
            "state": "running", "started_ms": round(time.time() - 60) * 1000})
        self.write(lambda name: name != "verdict.json" and (
            not name.startswith("runs/") or name[5:].split("_")[0] in
            ["burn0"] + ["%d" % i for i in range(blocks)]))
        self.files["state.json"] = ended
        self.lock = open(os.path.join(self.folder, "lock"), "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def finish(self):
        """The bench has finished, with a verdict."""
        self.write(lambda name: True)
        if self.lock:
            self.lock.close()
            self.lock = None
