#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The dashboard in a real pseudo-terminal shows a HarnessGym run: in a named
directory, and on a configured pod while the run continues."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

SRC, BUILD = os.environ["HGYM_SRC"], os.environ["HGYM_BUILD"]
TUI = os.path.abspath(os.environ["HGYM_TUI"])
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok  # noqa: E402
from vt import Program  # noqa: E402
from wait import until  # noqa: E402

GEN = os.path.join(BUILD, "tests/tools/harness-gen")


def start(args, folder):
    return Program([TUI, *args], 150, 40, home_dirs(folder), folder)


def leave(program):
    """Quit the dashboard, and return its exit status."""
    program.send("Q")
    status = program.end()
    program.close()
    return status


# A process with HarnessGym's command line, in the attempt of its 7th
# iteration.
PLAY = """import sys, time
sys.path.insert(0, sys.argv[1])
import harness_liar
harness_liar.Run(sys.argv[-1], {"attempt 7": lambda run: time.sleep(600)},
                 iterations=7).play()
"""


class Meter(threading.Thread):
    """A TCP relay that counts the bytes in both directions."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.to, self.bytes = port, 0
        self.ear = socket.create_server(("127.0.0.1", 0))
        self.port = self.ear.getsockname()[1]
        self.start()

    def run(self):
        while True:
            near = self.ear.accept()[0]
            far = socket.create_connection(("127.0.0.1", self.to))
            for ends in (near, far), (far, near):
                threading.Thread(target=self.carry, args=ends,
                                 daemon=True).start()

    def carry(self, source, target):
        try:
            while data := source.recv(65536):
                self.bytes += len(data)
                target.sendall(data)
        except OSError:
            pass
        target.close()

    def over(self, seconds):
        before = self.bytes
        time.sleep(seconds)
        return self.bytes - before


def test_traffic(folder):
    """A running but quiet run causes hardly any traffic over SSH, however many
    files it has; changes are still shown."""
    work, sshd = (os.path.join(folder, name) for name in ("quiet", "sshd"))
    tool = os.path.join(SRC, "tests/support/sshd.sh")
    if subprocess.run(["sh", tool, "start", sshd], check=False).returncode:
        return ok(
            True, "traffic # SKIP needs sshd (Debian package openssh-server)")
    run = subprocess.Popen([sys.executable, "-c", PLAY,
                            os.path.join(SRC, "tests/tools"), "harnessgym",
                            "run", "--workspace", work])
    its = os.path.join(work, ".harnessgym/runs/liar/iterations")
    try:
        ok(until(lambda: os.path.exists(its + "/7/attempt.prompt.txt")),
           "a run is in its 7th iteration")
        for n in range(1, 7):
            with open("%s/%d/attempt.stdout.txt" % (its, n), "a",
                      encoding="utf-8") as out:
                out.write("what an agent says\n" * 55000)
        names = ("port", "user", "known_hosts")
        port, user, hosts = (open(os.path.join(sshd, name),
                                  encoding="utf-8").read().strip()
                             for name in names)
        meter = Meter(int(port))
        with open(os.path.join(sshd, "hosts"), "w", encoding="utf-8") as out:
            out.write(hosts.replace(":" + port, ":%d" % meter.port) + "\n")
        config = os.path.join(folder, "quiet.json")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"schema": "hgym-tui.config/1", "pods": [
                {"name": "pod", "ssh": "%s@127.0.0.1:%d" % (user, meter.port),
                 "identity": sshd + "/id_ed25519", "logs": [],
                 "known_hosts": sshd + "/hosts", "harnessgym": [work]}]}, out)
        screen = start(["--config", config, "--db",
                        os.path.join(folder, "db2")], folder)
        screen.send("8")
        ok(screen.wait_for("running, attempt 7"), "the run is followed")
        # Wait until the logs have arrived; a busy machine may need long.
        used = []
        until(lambda: used.append(meter.over(20) * 3) or used[-1] < 10000)
        ok(used[-1] < 10000, "a quiet run causes less than 10 kB per minute", used)
        run.kill()
        run.wait()
        ok(screen.wait_for("stale, attempt 7"),
           "the end of a quiet run is shown")
        ok(leave(screen) == 0, "the dashboard ends")
    finally:
        run.kill()
        run.wait()
        subprocess.run(["sh", tool, "stop", sshd], check=False)
    return used[-1]


def test_chosen(work, config, folder):
    """An iteration that the user selected stays selected."""
    shutil.rmtree(work)
    subprocess.run([GEN, work, "20"], check=True)
    screen = start(["--config", config, "--db", os.path.join(folder, "db1")],
                   folder)
    ok(screen.wait_for("Harness"), "a run is in its second iteration")
    screen.send("8")
    ok(screen.wait_for("cases of iteration 2"), "the cases of the second "
                                                "iteration are shown")
    screen.send("\rk")
    ok(screen.wait_for("cases of iteration 1"), "the user selects the first "
                                                "iteration")
    subprocess.run([GEN, work], check=True)
    ok(screen.wait_for(("tooling_built", "cases of iteration 1")),
       "the first iteration stays selected until the run ends")
    ok(leave(screen) == 0, "the dashboard ends")


def main():
    folder = tempfile.mkdtemp()
    work = os.path.join(folder, "work")
    try:
        subprocess.run([GEN, work], check=True)
        screen = start([work], folder)
        ok(screen.wait_for("Harness"), "a named directory is opened")
        screen.send("8")
        ok(screen.wait_for("best VERIFIED"), "the run of a named directory is shown")
        ok(leave(screen) == 0, "the dashboard ends")

        # A directory that is named before its run starts is watched.
        os.mkdir(os.path.join(folder, "task"))
        with open(os.path.join(folder, "task", "task.md"), "w",
                  encoding="utf-8") as out:
            out.write("Make it faster.\n")
        screen = start([os.path.join(folder, "task")], folder)
        ok(screen.wait_for("Harness"), "the folder of a task is opened")
        screen.send("8")
        subprocess.run([GEN, os.path.join(folder, "task")], check=True)
        ok(screen.wait_for("tooling_built"), "a run that starts later is shown")
        ok(leave(screen) == 0, "the dashboard ends")

        shutil.rmtree(work)
        subprocess.run([GEN, work, "6"], check=True)
        config = os.path.join(folder, "config.json")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"schema": "hgym-tui.config/1", "pods": [
                {"name": "here", "transport": "local",
                 "logs": [folder + "/*.log"], "harnessgym": [work]}]}, out)
        screen = start(["--config", config, "--db",
                        os.path.join(folder, "db")], folder)
        ok(screen.wait_for("Harness"), "the dashboard with a pod starts")
        screen.send("8")
        ok(screen.wait_for("rmsnorm-h100"), "the run on the pod is shown")
        subprocess.run([GEN, work], check=True)
        ok(screen.wait_for("tooling_built"),
           "the run on the pod is followed until its end")
        ok(screen.wait_for("cases of iteration 3"),
           "the cases of the best iteration are shown if the user selected "
           "none")
        ok(leave(screen) == 0, "the dashboard ends")
        test_chosen(work, config, folder)
        print("# bytes a minute:", test_traffic(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


sys.exit(main())
