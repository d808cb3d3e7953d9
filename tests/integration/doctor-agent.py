#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lines of `doctor` about the SSH agent: the number of keys, or why the
agent cannot be used. An agent that hangs does not stop the doctor."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from tap import finish, ok, skip_all  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402


def doctor(top, sock):
    """The line about the agent."""
    env = home_env(top)
    env.pop("SSH_AUTH_SOCK", None)
    if sock is not None:
        env["SSH_AUTH_SOCK"] = sock
    out = subprocess.run([TUI, "doctor", "--json"], env=env,
                         timeout=PATIENCE_S,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         text=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    found = [r for r in rows if r["area"] == "keys" and
             ("agent" in r["what"] or "AUTH_SOCK" in r["what"])]
    assert len(found) == 1, rows
    return found[0]


def check(top, sock, state, words, name):
    row = doctor(top, sock)
    ok(row["state"] == state and words in row["what"] and
       (state == "ok") == (row["next"] is None), name, json.dumps(row))


def listens(sock):
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(sock) == 0


def hang_up(server):
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


def main(top):
    sock = top + "/agent"
    check(top, None, "ok", "SSH_AUTH_SOCK is not set", "no agent: not an error")
    check(top, sock, "warn", "no agent listens", "the socket does not exist")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", sock],
                             stdout=subprocess.DEVNULL)
    try:
        ok(until(lambda: listens(sock)), "an agent is started")
        check(top, sock, "ok", "has 0 keys", "an agent without keys")
        for name in "ab":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", top + "/" + name], check=True)
            subprocess.run(["ssh-add", "-q", top + "/" + name], check=True,
                           env=dict(os.environ, SSH_AUTH_SOCK=sock))
            check(top, sock, "ok", "has 1 key" if name == "a" else
                  "has 2 keys", "an agent with keys: their number")
        agent.send_signal(signal.SIGSTOP)
        check(top, sock, "warn", "does not answer", "an agent that hangs: doctor ends")
    finally:
        agent.send_signal(signal.SIGCONT)
        agent.kill()
        agent.wait()
    check(top, sock, "warn", "no agent listens", "an agent that has ended")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(top + "/other")
        server.listen()
        thread = threading.Thread(target=hang_up, args=(server,),
                                  daemon=True)
        thread.start()
        check(top, top + "/other", "warn", "is not an SSH agent",
              "another program on the socket")
        server.shutdown(socket.SHUT_RDWR)
    check(top, top + "/" + "x" * 200, "warn", "no agent listens",
          "a path that is too long for a socket")


if not shutil.which("ssh-agent"):
    status = skip_all("needs ssh-agent (Debian package openssh-client)")
else:
    top = tempfile.mkdtemp(prefix="doctor-agent.")
    try:
        main(top)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    status = finish()
sys.exit(status)
