#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A connection that breaks during the login is opened again, wherever it
breaks. A proxy for each pod cuts the first connection at the client's nth
packet; each pod must become live afterwards. If the server's answer excludes a
key or host key, the pod is refused, and not tried again at once."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
SSHD = os.path.join(SRC, "tests/support/sshd.sh")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402
from tap import finish, note, ok, skip_all  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

# A login with one key takes 8 packets, starting a command a few more.
PACKETS = 14
# The shortest delay before a refused key is tried again.
RETRY_S = 240


class Proxy:
    """Forwards to sshd. The first connection ends when the client has sent
    cut_at packets; the last of these is not forwarded. 0: it does not end."""

    def __init__(self, target, cut_at=0, reset=False):
        self.target, self.cut_at, self.reset = target, cut_at, reset
        self.accepted, self.has_cut = 0, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            for sock in client, server:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.accepted += 1
            cut_at = self.cut_at if self.accepted == 1 else 0
            threading.Thread(target=self.forward, daemon=True,
                             args=(client, server, cut_at)).start()
            threading.Thread(target=self.forward, daemon=True,
                             args=(server, client, 0)).start()

    def forward(self, source, sink, cut_at):
        packets = 0
        try:
            while data := source.recv(65536):
                packets += 1
                if packets == cut_at:
                    self.cut(source, sink)
                    return
                sink.sendall(data)
        except OSError:
            pass
        for sock in source, sink:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, client, server):
        """Close both sides: with a reset, or like a process that exits."""
        self.has_cut = True
        if self.reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                              struct.pack("ii", 1, 0))
        else:
            client.shutdown(socket.SHUT_RDWR)
        server.shutdown(socket.SHUT_RDWR)
        client.close()


class Box:
    def __init__(self, top):
        self.top, self.rig = top, top + "/rig"
        self.env = home_env(top)
        self.pods, self.proxies, self.known = [], {}, {}

    def start_sshd(self):
        return subprocess.run(["sh", SSHD, "start", self.rig]).returncode

    def read(self, name):
        with open(os.path.join(self.rig, name)) as file:
            return file.read().strip()

    def new_key(self, name):
        path = os.path.join(self.top, name)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                        path], stdin=subprocess.DEVNULL, check=True)
        return path

    def add_pod(self, name, host_key, identity=None, **proxy):
        """host_key: the public key file in known_hosts; None: no entry."""
        proxy = Proxy(int(self.read("port")), **proxy)
        known_hosts = os.path.join(self.top, name + ".known")
        with open(known_hosts, "w") as file:
            if host_key is not None:
                with open(host_key) as key:
                    words = key.read().split()
                file.write("[127.0.0.1]:%d %s %s\n" %
                           (proxy.port, words[0], words[1]))
        self.proxies[name] = proxy
        self.pods.append({
            "name": name, "logs": [self.top + "/*.log"],
            "ssh": "%s@127.0.0.1:%d" % (self.read("user"), proxy.port),
            "identity": identity or os.path.join(self.rig, "id_ed25519"),
            "known_hosts": known_hosts})

    def configure(self):
        os.makedirs(self.top + "/config/hgym-tui")
        with open(self.top + "/config/hgym-tui/config.json", "w") as file:
            json.dump({"pods": self.pods}, file)

    def messages(self, name):
        """The messages about that pod: states and reasons."""
        prefix = "hgym-tui: %s: " % name
        with open(self.top + "/messages") as file:
            return [line.strip()[len(prefix):] for line in file
                    if line.startswith(prefix)]

    def is_live(self, name):
        """Is the pod live over the connection after the one that was cut?"""
        proxy, messages = self.proxies[name], self.messages(name)
        return (proxy.has_cut and proxy.accepted > 1 and messages != [] and
                messages[-1].startswith("live"))

    def is_over(self, name):
        """Is the pod live or refused?"""
        return self.is_live(name) or self.is_refused(name)

    def is_refused(self, name):
        return any(text.startswith("refused") for text in self.messages(name))


def add_pods(box):
    host_key = box.rig + "/hk_ed25519.pub"
    for n in range(1, PACKETS + 1):
        box.add_pod("eof-%d" % n, host_key, cut_at=n)
        box.add_pod("reset-%d" % n, host_key, cut_at=n, reset=True)
    box.add_pod("wrong-key", host_key, identity=box.new_key("stranger"))
    box.add_pod("changed-host", box.new_key("other") + ".pub")
    box.add_pod("new-host", None)


def check_cuts(box):
    for name in box.proxies:
        if not name.startswith(("eof-", "reset-")):
            continue
        how, n = name.split("-")
        ok(until(lambda: box.is_over(name)) and not box.is_refused(name),
           "live after the connection was cut at packet %s (%s)" % (n, how),
           "\n".join(box.messages(name)))


def check_refusals(box, start):
    for name, sentence in (("wrong-key", "accepted none of the keys"),
                           ("changed-host", "HAS CHANGED"),
                           ("new-host", "is not known")):
        until(lambda: box.is_refused(name))
        refusals = [text for text in box.messages(name)
                    if text.startswith("refused: ") and sentence in text]
        tries = box.proxies[name].accepted
        # A slow machine may take so long that the refused key is tried again.
        most = 1
        if name == "wrong-key":
            most += int((time.monotonic() - start) / RETRY_S)
        ok(1 <= len(refusals) <= most, name + ": refused once, with the reason",
           "\n".join(box.messages(name)))
        ok(1 <= tries <= most, name + ": not tried again at once", tries)


def main(top):
    box = Box(top)
    if box.start_sshd() == 77:
        return skip_all("needs sshd (Debian package openssh-server)")
    add_pods(box)
    box.configure()
    with open(top + "/x.log", "w") as log:
        log.write("step:1/9 train_loss:2.5 train_time:50ms"
                  " step_avg:50.00ms\n")
    start = time.monotonic()
    with open(top + "/messages", "w") as errors:
        child = subprocess.Popen([TUI, "collect"], env=box.env, stderr=errors)
    try:
        check_cuts(box)
        check_refusals(box, start)
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(PATIENCE_S)
        subprocess.run(["sh", SSHD, "stop", box.rig])
    with open(top + "/messages") as file:
        note(file.read())
    return finish()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(folder))
