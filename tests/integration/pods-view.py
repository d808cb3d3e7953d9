#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Pods view with a real sshd on loopback, in a real pseudo-terminal: the
connection and why it is refused, the check of a pod by its key, a shell on the
pod and the return from it; and logs on pods named on the command line."""
import json
import os
import signal
import subprocess
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
RELAY = os.path.join(os.path.dirname(TUI), "tests/support/relay")
RIG = os.path.join(SRC, "tests/support/sshd.sh")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from tap import finish, ok, skip_all  # noqa: E402
from vt import Program  # noqa: E402
import wait  # noqa: E402
from wait import PATIENCE_S  # noqa: E402

STOP = 'test -n "$SSH_CONNECTION" && exit 3'
home = None


def is_seen(p, text, name, seconds=PATIENCE_S):
    return ok(p.wait_for(text, seconds), name, p.screen.text())


def until(p, check, seconds=PATIENCE_S):
    return wait.until(check, seconds, p.pump)


def is_so(p, check, name):
    """Wait until the text is on the screen: a frame may arrive in parts."""
    return ok(until(p, check), name, p.screen.text())


def answers(p, keys, text, name):
    """Type into a shell until the answer is there: a size or a signal may arrive
    late."""
    for _ in range(30):
        p.send(keys)
        if p.wait_for(text, 3):
            break
    ok(text in p.screen.text(), name, p.screen.text())


def read(name):
    with open(os.path.join(home, "rig", name)) as f:
        return f.read().strip()


def write_config(pods):
    path = os.path.join(home, "config.json")
    with open(path, "w") as out:
        json.dump({"schema": "hgym-tui.config/1", "pods": pods}, out)
    return path


def pod(name, **more):
    rig = os.path.join(home, "rig")
    row = {"name": name, "logs": [os.path.join(home, "none-*.log")],
           "ssh": "%s@127.0.0.1:%s" % (read("user"), read("port")),
           "identity": os.path.join(rig, "id_ed25519"),
           "known_hosts": os.path.join(rig, "known_hosts")}
    row.update(more)
    return row


def start(config, *args, width=120):
    env = dict(home_dirs(home), SHELL="/bin/sh")
    p = Program([TUI, "--config", config] + list(args), width, 36, env, home)
    p.wait_for("Fleet")
    p.send("7")
    return p


def test_links(p):
    is_seen(p, "good        live", "a pod is live")
    is_seen(p, "answers in", "the response time is shown")
    is_seen(p, "refused", "the other pod is refused")
    p.send("j")
    is_seen(p, "link   refused: ", "the reason is a sentence")
    p.send("ss")
    is_seen(p, "sorted by LINK, descending", "s sorts")

    def line(n):
        return p.screen.text().split("\n")[n]
    is_so(p, lambda: " bad " in line(3) and " good " in line(4),
          "the refused pod is the first row")
    is_so(p, lambda: "─ bad ─" in p.screen.text(),
          "the refused pod is selected")
    p.send("g" if "good" in line(3) else "G")


def test_check(p):
    is_seen(p, "not checked yet; press c to check", "no check has run")
    p.send("c")
    is_seen(p, "is being checked", "c starts a check")
    is_seen(p, "for a run, as of", "the result of the check is shown with its "
                                   "time")
    is_seen(p, "gpu: ", "the failed step is shown")
    is_seen(p, "next: install the NVIDIA driver", "the next step is shown")
    is_seen(p, "login in", "known facts about the pod are shown")
    p.send("1")
    p.pump(0.3)
    p.send("7")
    is_seen(p, "for a run, as of", "the result is kept")


def test_shell(p):
    p.send("$")
    is_seen(p, "$ ssh -t -i ", "$ shows the exact command")
    is_seen(p, "type yes to continue", "$ asks before it runs the command")
    p.send("no\r")
    is_seen(p, "cancelled", "no: nothing happens")
    p.send("$")
    p.wait_for("type yes to continue")
    p.send("yes\r")
    is_so(p, lambda: not p.screen.alternate, "the screen of the program is "
                                             "left")
    is_seen(p, "good: $ ssh", "the command is shown")
    p.send("PS1='pod> '; stty size; echo in-$((40 + 2))\r")
    is_seen(p, "in-42", "a shell answers")
    ok("36 120" in p.screen.text(), "the shell has a terminal of the same "
                                    "size",
       p.screen.text())
    p.send("sleep 100\r")
    p.pump(1)
    answers(p, "\x03echo after-$((1 + 2))\r", "after-3",
            "Ctrl-c goes to the shell")
    ok(p.poll() is None, "Ctrl-c does not end the program")
    p.resize(100, 30)
    answers(p, "stty size\r", "30 100", "a new size goes to the shell")
    p.send("exit 7\r")
    is_seen(p, "shell on good exited with status 7", "the end of the shell is "
                                                     "reported")
    is_so(p, lambda: p.screen.alternate and "─ good ─" in p.screen.text(),
          "the screen is shown again in the current size")
    p.send("1")
    p.pump(0.3)
    p.send("7")
    is_seen(p, "DISK free", "keys work again")


def test_stop(p):
    p.send("B")
    is_seen(p, "&& exit 3'", "B shows the stop_cmd")
    p.send("no\r")
    is_seen(p, "cancelled", "B asks before it runs stop_cmd")
    p.send("B")
    p.wait_for("type yes to continue")
    p.send("yes\r")
    is_seen(p, "stop_cmd on good exited with status 3", "yes runs stop_cmd")


def test_end(p):
    p.send("$")
    p.wait_for("type yes to continue")
    p.send("yes\r")
    until(p, lambda: not p.screen.alternate)
    p.pump(1)
    p.send("echo still-$((1 + 1))\r")
    p.wait_for("still-2")
    os.kill(p.pid, 15)
    ok(p.end() == 143, "SIGTERM while a shell is open", p.status)
    ok(not p.screen.alternate and p.screen.cursor, "SIGTERM while a shell is "
                                                   "open: normal modes "
                                                   "afterwards")
    p.close()


def test_read_only(config):
    p = start(config, "--read-only")
    p.wait_for("DISK free")
    is_seen(p, "c check", "--read-only: the key for a check is shown")
    ok("$ shell" not in p.screen.text(), "--read-only: no key for a shell is "
                                         "shown",
       p.screen.text())
    p.send("$")
    is_seen(p, "--read-only", "--read-only: no shell is opened")
    p.send("c")
    is_seen(p, "for a run, as of", "--read-only: a check runs, it only reads")
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()


def test_local():
    p = start(write_config([{"name": "here", "transport": "local",
                             "logs": [os.path.join(home, "*.log")]}]))
    p.wait_for("DISK free")
    p.send("B")
    is_seen(p, "here has no stop_cmd in ", "no stop_cmd")
    p.send("$")
    is_seen(p, "$ /bin/sh", "the shell of a local pod runs on this machine")
    p.send("yes\r")
    until(p, lambda: not p.screen.alternate)
    p.send("echo here-$((3 + 4)); exit\r")
    is_seen(p, "shell on here exited with status 0", "the shell of a local pod "
                                                     "ends")
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()


class Relay:
    """A TCP relay to the sshd, frozen until it is thawed."""
    def __init__(self, name):
        path = os.path.join(home, name + ".port")
        self.child = subprocess.Popen([RELAY, path, read("port")])
        wait.until(lambda: os.path.exists(path))
        self.child.send_signal(signal.SIGUSR1)
        with open(path) as f:
            self.ssh = "%s@127.0.0.1:%s" % (read("user"), f.read().strip())

    def thaw(self):
        self.child.send_signal(signal.SIGUSR2)


def test_unreached():
    """Nothing listens at the port: there is no connection to restore."""
    p = start(write_config([pod("away", ssh="%s@127.0.0.1:1" %
                                read("user"))]))
    is_seen(p, "link   not reached: ", "a pod that never answered was not "
                                       "reached, and the reason is shown")
    is_seen(p, "next try in", "the time of the next try is shown")
    ok("reconnecting" not in p.screen.text(), "a pod that was never reached is not reconnecting",
       p.screen.text())
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()


def test_removed():
    """A pod that is removed while it connects asks nothing afterwards."""
    def log(text):
        with open(os.path.join(home, "rig", "log")) as f:
            return f.read().count(text)
    known = os.path.join(home, "known_none")
    open(known, "w").close()
    relays = {name: Relay(name) for name in "ab"}
    pods = [pod(name, ssh=relay.ssh, known_hosts=known)
            for name, relay in relays.items()]
    p = start(write_config(pods))
    is_seen(p, "0/2 pods", "two pods connect")
    write_config(pods[1:])
    p.send("\x12")
    is_seen(p, "0/1 pods", "one pod is removed meanwhile")
    before = log("NEWKEYS sent")
    relays["a"].thaw()
    is_so(p, lambda: log("NEWKEYS sent") > before, "the removed pod's host answers")
    relays["b"].thaw()
    is_seen(p, "b: the host key of [", "the remaining pod asks about its host "
                                       "key")
    p.send("\x1b")
    ok(p.wait_gone("A pod asks"), "the removed pod shows no prompt",
       p.screen.text())
    p.send("Q")
    p.end()
    p.close()
    for relay in relays.values():
        relay.child.kill()
        relay.child.wait()


def parse(config, *args):
    """Return the exit status, the rows without their host, and the messages."""
    run = subprocess.run([TUI, "--config", config, "parse", "--json", *args],
                         env=dict(os.environ, **home_dirs(home)), text=True,
                         stdin=subprocess.DEVNULL, capture_output=True)
    return run.returncode, run.stdout.replace('"good:', '"'), run.stderr


def test_places(config):
    """HOST:PATH: a pod's logs are read like local ones, and nothing is
    stored."""
    runs, kept = os.path.join(home, "runs"), home_dirs(home)
    row = "step:%d/99 train_loss:%.4f train_time:%dms step_avg:50.00ms\n"

    def write(name, *steps):
        with open(os.path.join(runs, name), "a") as log:
            log.writelines(row % (i, 5 - i / 100, i * 50) for i in steps)
    os.mkdir(runs)
    for n in 2, 10:
        write(f"a:{n}.txt", *range(n))
    here = parse(config, runs)
    ok(here[1].count("\n") == 2 and here[0] == 0 and
       parse(config, "good:" + runs) == here == parse(
           config, f"good:{runs}/*.txt") == parse(
               config, f"good:{runs}/a:10.txt", f"good:{runs}/a:2.txt"),
       "a pod's logs are parsed like local ones", here)
    ok(parse(config, f"bad:{runs}", f"good:{runs}/a:2.txt")[:2] ==
       (4, here[1].splitlines(True)[0]),
       "a pod that cannot be reached does not hide the others")
    gone = parse(config, f"good:{runs}/*.tyt", f"good:{runs}/a:2.txt")
    ok(gone[:2] == (0, here[1].splitlines(True)[0]) and
       f"good:{runs}/*.tyt: no log matches on the pod" in gone[2],
       "a path without a log is named", gone)
    new = "%s@127.0.0.1:%s:%s" % (read("user"), read("port"), runs)
    code, out, said = parse(config, new)
    ok(code == 4 and out == "" and "is not known" in said and
       "--accept-new" in said, "an unknown host is not trusted", said)
    code, out, said = parse(config, f"good:{runs}/*.txt", runs)
    ok(code == 2 and "cannot be read together" in said,
       "local and remote logs are not mixed up", said)
    p = Program([TUI, "--config", config, f"good:{runs}/*.txt"], 120, 36,
                dict(kept), home)
    is_seen(p, "a:10", "the dashboard follows remote logs")
    is_so(p, lambda: "bad" not in p.screen.text(), "no other pod is shown")
    for _ in range(2):
        p.send("\x12")
        is_seen(p, "configuration reloaded", "the dashboard reloads its "
                                             "configuration")
    write("a:10.txt", 77)
    is_seen(p, "4.2300", "the remote logs are still followed")
    p.send("Q")
    ok(p.end() == 0, "q ends the program")
    p.close()
    left = [f for f in os.listdir(home) if f.startswith("hgym-")]
    ok(not left and not os.path.exists(kept["XDG_STATE_HOME"] +
                                       "/hgym-tui/mirror") and
       not os.path.exists(kept["XDG_DATA_HOME"] + "/hgym-tui/history.db"),
       "nothing of the remote logs is stored", left)


def main():
    global home
    with tempfile.TemporaryDirectory(prefix="hg") as home:
        rig = os.path.join(home, "rig")
        run = subprocess.run(["sh", RIG, "start", rig, "LogLevel DEBUG1"],
                             capture_output=True, text=True)
        if run.returncode != 0:
            return skip_all("needs sshd (Debian package openssh-server)")
        try:
            other = os.path.join(home, "other_key")
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", other], check=True)
            config = write_config([pod("good", stop_cmd=STOP),
                                   pod("bad", identity=other)])
            test_places(config)
            test_unreached()
            test_removed()
            config = write_config([pod("good", stop_cmd=STOP),
                                   pod("bad", identity=other)])
            p = start(config)
            test_links(p)
            test_check(p)
            test_shell(p)
            test_stop(p)
            test_end(p)
            test_read_only(config)
            test_local()
        finally:
            subprocess.run(["sh", RIG, "stop", rig], capture_output=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
