#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pods that programs print: they appear, change their address while the host
key stays, and disappear while their logs are followed; their data is kept. A
program that hangs, fails or prints wrong data changes nothing. Then the
programs for providers, with output as their documentation shows it."""
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
SSHD = os.path.join(SRC, "tests/support/sshd.sh")
OURS = os.path.join(SRC, "src/pods/discover")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_env  # noqa: E402
from manual import example  # noqa: E402
from process import Process  # noqa: E402
from tap import finish, note, ok, skip  # noqa: E402
from vt import Program  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

SAY = """#!/bin/sh
echo asked >>"$HOME/asked"
. "$HOME/how"
"""
LIES = {
    "exit 3": "exited with status 3",
    "echo no JSON": "not valid JSON",
    "echo '[{}]'": 'the key "name" is missing',
    "echo '{}'": "expected an array",
    """echo '[{"name": "x"}]'""": 'expected "host" or "command"',
    """echo '[{"name": "x", "host": "-oProxyCommand=x"}]'""":
        "expected a host",
    """echo '[{"name": "x", "host": "a b"}]'""": "expected a host",
    """echo '[{"name": "../x", "host": "h"}]'""": "a name of 1 to 64",
    """echo '[{"name": "x", "host": "h"}, {"name": "x", "host": "h"}]'""":
        'has the same name, "x"',
    """echo '[{"name": "x", "host": "h", "port": 70000}]'""": "65535",
    "yes '[' | head -c 3000000": "nested deeper than 32 levels",
}


class Box:
    def __init__(self, top):
        self.top, self.env = top, home_env(top)
        self.program = self.put("program", SAY, 0o755)
        os.makedirs(top + "/config/hgym-tui")

    def put(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(f"{self.top}/{name}"), exist_ok=True)
        with open(f"{self.top}/{name}.new", "w") as file:
            file.write(text)
        os.chmod(file.name, mode)
        os.rename(file.name, f"{self.top}/{name}")
        return f"{self.top}/{name}"

    def configure(self, **more):
        self.put("config/hgym-tui/config.json", json.dumps({
            "pods": [{"name": "own", "transport": "local",
                      "logs": [self.top + "/own.log"]}],
            "discover": [dict({"name": "cloud", "command": [self.program],
                               "every_s": 1,
                               "logs": [self.top + "/*.log"]}, **more)]}))

    def answer(self, *pods):
        self.put("how", f"cat <<'END'\n{json.dumps(pods)}\nEND\n")

    def lie(self, text):
        """Write this answer, and wait until it was requested and read."""
        before = self.asked()
        self.put("how", text)
        return until(lambda: self.asked() >= before + 2)

    def asked(self):
        try:
            with open(self.top + "/asked") as file:
                return len(file.readlines())
        except FileNotFoundError:
            return 0

    def run(self, *args, **more):
        return subprocess.run([TUI, *args], env=self.env, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def rows(self, *args):
        return [json.loads(line)
                for line in self.run(*args, "--json").stdout.splitlines()]

    def said(self):
        with open(self.top + "/said") as file:
            return file.read()

    def steps(self):
        return {r["pod"]: r["steps"] for r in self.rows("runs")}

    def write(self, first, last):
        with open(self.top + "/x.log", "a") as log:
            for i in range(first, last + 1):
                log.write(f"step:{i}/99 train_loss:2.5 train_time:{i * 50}ms"
                          " step_avg:50.00ms\n")


def shell(name, **more):
    return dict({"name": name, "command": ["sh"]}, **more)


def test_life(box):
    box.configure()
    box.answer(shell("a"), shell("off", state="EXITED"),
               {"name": "own", "host": "never-asked.invalid"})
    box.write(1, 10)
    with open(box.top + "/said", "w") as said:
        child = subprocess.Popen([TUI, "collect"], env=box.env, stderr=said)
    ok(until(lambda: box.steps() == {"a": 10}), "a pod appears", box.steps())
    box.answer(shell("a"), shell("b", usd_per_hour=2.5, gpu="H100"))
    ok(until(lambda: box.steps() == {"a": 10, "b": 10}), "a second pod appears")
    box.lie("exit 3")
    box.lie("echo '[]]'")
    ok(box.said().count("discover cloud: ") == 1 and
       "removed from" not in box.said(), "a program that fails is reported "
                                         "once and changes nothing", box.said())
    box.answer(shell("a"), shell("b"))
    box.write(11, 20)
    ok(until(lambda: box.steps() == {"a": 20, "b": 20}), "all pods are still "
                                                         "followed")
    box.answer(shell("b"))
    ok(until(lambda: "a: removed from the configuration" in box.said()), "a pod disappears")
    box.write(21, 30)
    ok(until(lambda: box.steps() == {"a": 20, "b": 30}), "a pod disappears: its "
                                                         "data is kept",
       box.steps())
    child.send_signal(signal.SIGTERM)
    ok(child.wait(PATIENCE_S) == 128 + signal.SIGTERM, "the collector ends")


def test_commands(box):
    box.answer(shell("a"), shell("b"))
    rows = {r["pod"]: r for r in box.rows("pods", "check", "a", "b")}
    ok(set(rows) == {"a", "b"} and rows["a"]["target"] == "sh",
       "other commands know the discovered pods", rows)
    missed = []
    for text, why in LIES.items():
        box.put("how", text)
        done = box.run("pods", "check", "own", "--json")
        if not done.stderr.startswith("hgym-tui: discover cloud") or \
                why not in done.stderr or '"own"' not in done.stdout:
            missed.append((text, done.stderr))
    ok(missed == [], "other commands report a program that fails or prints "
                     "wrong data", missed)


def test_screen(box):
    box.configure()
    box.answer(shell("early"))
    p = Program([TUI], 120, 36, box.env, box.top)

    def seen(text, name):
        ok(until(lambda: re.search(text, p.screen.text()), between=p.pump),
           name, p.screen.text())

    seen("Fleet", "the dashboard starts")
    p.send("7")
    seen("early ", "the dashboard shows a discovered pod")
    box.answer(shell("early"), shell("late"))
    seen("late ", "the dashboard shows a pod that appears later")
    box.answer(shell("early"), shell("late", command=["/bin/sh"]))
    seen("late .*/bin/sh", "the pod continues at another address")
    box.put("how", "exit 4")
    seen("discover cloud: exited with status 4", "the dashboard reports the "
                                                 "program that failed")
    box.answer(shell("late"))
    seen("early +gone", "the dashboard shows a pod that disappeared")
    p.send("G")
    seen("─ late ─", "the pod can be selected")
    p.send("$")
    seen(r"\$ sh\b", "its shell runs the pod's command")
    p.send("yes\r")
    until(lambda: not p.screen.alternate, between=p.pump)
    p.send("echo in-$((40 + 2))\r")
    seen("in-42", "the shell of a discovered pod prints the answer")
    p.send("exit 7\r")
    seen(r"shell on late exited with status 7", "the shell of a discovered pod ends")
    p.send("Q")
    ok(p.end() == 0, "the dashboard ends")
    p.close()


def test_address(box):
    """The same pod at another address; only the alias identifies its key."""
    rig = box.top + "/rig"
    if subprocess.run(["sh", SSHD, "start", rig],
                      stdout=subprocess.DEVNULL).returncode == 77:
        return skip("another address",
                    "needs sshd (Debian package openssh-server)")

    def at(host, **more):
        box.answer(dict({"name": "p", "host": host, "user": user,
                         "port": port, "host_key_alias": "cloud-17"}, **more))
        return box.rows("pods", "check", "p")[0]

    with open(rig + "/port") as file:
        port = int(file.read())
    with open(rig + "/user") as file:
        user = file.read().strip()
    with open(rig + "/hk_ed25519.pub") as file:
        key = " ".join(file.read().split()[:2])
    known = box.put("known", f"cloud-17 {key}\n")
    try:
        for transport in "libssh2", "openssh":
            box.configure(identity=rig + "/id_ed25519", known_hosts=known,
                          transport=transport)
            rows = [at("127.0.0.1"), at("localhost")]
            ok(all(r["connect_ms"] is not None for r in rows),
               f"{transport}: one host key at two addresses is accepted", rows)
            row = at("127.0.0.1", host_key_alias="cloud-18")
            ok(row["failure"] == "hostkey", f"{transport}: the key with "
                                            "another name is refused", row)
    finally:
        subprocess.run(["sh", SSHD, "stop", rig])


def test_hang(box):
    """A program that hangs is killed with all its children."""
    box.configure()
    box.put("how", 'cut -d" " -f1,22 /proc/$$/stat >"$HOME/hung"; sleep 600')
    done = box.run("pods", "check", "own", "--no-gpu")
    ok("timed out after 20 s" in done.stderr, "a program that hangs is reported",
       done.stderr)
    with open(box.top + "/hung") as file:
        hung = Process(*file.read().split())
    ok(until(lambda: not hung.is_running()), "a program that hangs is killed", hung)


RUNPOD = {
    "pod list -o json": [
        {"id": "k2x9", "name": "train me!", "desiredStatus": "RUNNING",
         "gpuCount": 1, "costPerHr": 2.69},
        {"id": "z0", "name": "old", "desiredStatus": "EXITED",
         "gpuCount": 1, "costPerHr": 2.69},
        {"id": "noip", "name": "hidden", "desiredStatus": "RUNNING",
         "gpuCount": 1, "costPerHr": 0.5}],
    "ssh info k2x9 -o json": {
        "ssh_command": "ssh root@127.0.0.9 -p 9", "ip": "127.0.0.9",
        "port": 9},
    "ssh info noip -o json": {"ssh_command": None, "ip": None, "port": None}}
VAST = {"show instances --raw": [
    {"id": 11, "label": None, "actual_status": "running", "dph_total": 1.25,
     "public_ipaddr": "127.0.0.8 ", "gpu_name": "H100 SXM",
     "ports": {"22/tcp": [{"HostIp": "0.0.0.0", "HostPort": "9"}]},
     "ssh_host": "ssh5.vast.ai", "ssh_port": 10010, "image_runtype": "ssh"},
    {"id": 12, "label": "lab", "actual_status": "loading", "dph_total": 1.0,
     "public_ipaddr": None, "ports": {}, "ssh_host": "ssh6.vast.ai",
     "ssh_port": 10020, "image_runtype": "jupyter_direc ssh_direc"},
    {"id": 13, "label": "lab", "actual_status": None, "dph_total": None,
     "public_ipaddr": None, "ports": None, "ssh_host": None,
     "ssh_port": None, "image_runtype": None}]}
LAMBDA = {"data": [
    {"id": "0920", "name": "big", "ip": "192.0.2.9", "status": "active",
     "hostname": "192-0-2-9.cloud.lambda.ai", "instance_type": {
         "gpu_description": "H100 (80 GB SXM5)",
         "price_cents_per_hour": 329}},
    {"id": "0921", "name": None, "ip": None, "status": "booting",
     "hostname": None, "instance_type": {}}]}
WANT = {
    "runpod": [{"name": "train-me", "host": "127.0.0.9", "port": 9,
                "user": "root", "host_key_alias": "runpod-k2x9",
                "usd_per_hour": 2.69, "state": "running"}],
    "vast": [{"name": "vast-11", "host": "127.0.0.8", "port": 9,
              "user": "root", "host_key_alias": "vast-11", "gpu": "H100 SXM",
              "usd_per_hour": 1.25, "state": "running"},
             {"name": "lab", "host": "ssh6.vast.ai", "port": 10021,
              "user": "root", "host_key_alias": "vast-12",
              "usd_per_hour": 1.0, "state": "loading"}],
    "lambda": [{"name": "big", "host": "192.0.2.9", "user": "ubuntu",
                "host_key_alias": "lambda-0920", "usd_per_hour": 3.29,
                "gpu": "H100 (80 GB SXM5)", "state": "active"}],
    "skypilot": [{"name": "sky-a", "host": "sky-a"},
                 {"name": "sky-a-worker1", "host": "sky-a-worker1"},
                 {"name": "older", "host": "older"}]}


def tool(box, name, answers):
    """A provider's tool that prints recorded output."""
    text = "#!/bin/sh\ncase $* in\n" + "".join(
        f"'{words}') cat <<'END'\n{json.dumps(said)}\nEND\n;;\n"
        for words, said in answers.items()) + "*) exit 2;;\nesac\n"
    box.put("bin/" + name, text, 0o755)


class Api(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        good = (self.path == "/instances" and
                self.headers["Authorization"] == "Basic czNjcjN0Og==")
        self.send_response(200 if good else 401)
        self.end_headers()
        self.wfile.write(json.dumps(LAMBDA).encode())

    def log_message(self, *args):
        pass


def test_providers(box):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = dict(box.env, LAMBDA_API_KEY="s3cr3t", PATH=box.top + "/bin:" +
               box.env["PATH"], LAMBDA_API_URL="http://127.0.0.1:%d"
               % server.server_address[1])
    tool(box, "runpodctl", RUNPOD)
    tool(box, "vastai", VAST)
    box.put(".sky/generated/ssh/sky-a",
            "Host sky-a\n  HostName 192.0.2.1\n\nHost sky-a-worker1\n")
    box.put(".ssh/config", "Host *\n  Port 22\n# Added by sky (use `sky "
            "stop/down older` to remove)\nHost older\n  Port 2200\n")
    for name, want in WANT.items():
        done = subprocess.run([f"{OURS}/{name}"], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ok(done.returncode == 0 and json.loads(done.stdout) == want,
           f"{name}: the pods", done)
        ok("s3cr3t" not in done.stdout + done.stderr, f"{name}: the output has "
                                                      "no secret")
        box.configure()
        box.put("how", f"exec {OURS}/{name}")
        box.env, old = env, box.env
        done = box.run("pods", "check", "own", "--json")
        box.env = old
        ok('"own"' in done.stdout and done.stderr == "",
           f"{name}: hgym-tui accepts the pods", done.stderr)
    conf = example("hgym-tui-config.5", '"runpod"')
    for one in conf["discover"]:
        one["command"] = [f"{OURS}/{os.path.basename(one['command'][0])}"]
    box.put("config/hgym-tui/config.json", json.dumps(conf))
    box.env, old = env, box.env
    rows = {r["pod"]: r for r in box.rows("pods", "check")}
    box.env = old
    ok({name: row["target"] for name, row in rows.items()} ==
       {"train-me": "root@127.0.0.9:9", "vast-11": "root@127.0.0.8:9"} and
       all(r["failure"] == "ssh" for r in rows.values()),
       "the manual's example gives its pods", rows)
    for said in "null", "[[]]", '[{"id": 1}, 2]', "[" * 9999, '{"jobs": 7}':
        for name in "runpodctl", "vastai", "squeue":
            box.put("bin/" + name, f"#!/bin/sh\necho '{said}'\n", 0o755)
        odd = [subprocess.run([f"{OURS}/{name}"], env=env, text=True,
                              capture_output=True)
               for name in ("runpod", "vast", "slurm")]
        ok(all(one.returncode == 1 and not one.stdout and
               len(one.stderr.splitlines()) == 1 for one in odd),
           f"the tool prints {said[:20]}: one message", odd)
    env.update(LAMBDA_API_KEY="wrong", PATH="/usr/bin:/bin")
    bad = [subprocess.run([sys.executable, f"{OURS}/{name}"], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
           for name in ("runpod", "vast", "lambda")]
    ok(all(one.returncode == 1 and not one.stdout and
           len(one.stderr.splitlines()) == 1 for one in bad),
       "the tool or its key is missing: one message and no output", bad)
    server.shutdown()


top = tempfile.mkdtemp(prefix="discover.")
try:
    box = Box(top)
    test_life(box)
    test_commands(box)
    test_screen(box)
    test_address(box)
    test_hang(box)
    test_providers(box)
    if os.environ.get("VERBOSE"):
        note(box.said())
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(finish())
