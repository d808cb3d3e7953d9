#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill the collector at random times while logs grow: no row is lost or stored
twice.

Logs of several formats grow in a folder, are rotated and truncated, while
`collect` is killed by SIGKILL again and again: over the local transport, or
over sshd (HGYM_KILL_TRANSPORT=libssh2 or openssh), whose connections are
killed too. Afterwards the database must contain what `parse` prints for the
files, and the same series as a database whose collector was never killed.
HGYM_KILLS is the number of kills (default 8)."""
import json
import os
import random
import shutil
import signal
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
from tap import failed, finish, note, ok, skip_all  # noqa: E402

KILLS = int(os.environ.get("HGYM_KILLS", "8"))


def script(rng):
    """Return a log of one or two runs, as bytes."""
    out = []
    for _ in range(rng.choice([1, 1, 2])):
        steps = rng.randrange(200, 900)
        seed = rng.randrange(10000)
        out.append(f"seed:{seed}\nworld_size:8 grad_accum_steps:1\n"
                   f"train_batch_tokens:524288 train_seq_len:1024\n")
        ms = 0.0
        for step in range(steps + 1):
            ms += rng.uniform(40, 60)
            if step % 100 == 0:
                out.append(f"step:{step}/{steps} val_loss:{5 - step / 300:.4f}"
                           f" val_bpb:{3 - step / 500:.4f}"
                           f" train_time:{ms:.0f}ms"
                           f" step_avg:{ms / max(step, 1):.2f}ms\n")
            out.append(f"step:{step}/{steps} train_loss:"
                       f"{rng.uniform(2, 6):.4f} train_time:{ms:.0f}ms"
                       f" step_avg:{ms / max(step, 1):.2f}ms\n")
            if rng.random() < 0.02:
                out.append("progress 1/3\rprogress 2/3\rprogress 3/3\n")
            if rng.random() < 0.01:
                out.append("\udcff\udc80rubbish\x00 \x1b[31m red\n")
        if rng.random() < 0.5:
            out.append("Serialized model int8+zlib: 15900000 bytes\n")
            out.append("final_int8_zlib_roundtrip val_loss:2.0500"
                       f" val_bpb:1.{rng.randrange(1000):04d}"
                       " eval_time:1234ms\n")
        else:
            out.append("Traceback (most recent call last):\n"
                       "torch.OutOfMemoryError: CUDA out of memory.\n")
    return "".join(out).encode("utf-8", "surrogateescape")


class Writer(threading.Thread):
    """Append random pieces of a log to a file."""

    def __init__(self, path, seed, kind):
        super().__init__(daemon=True)
        self.path, self.kind = path, kind
        self.rng = random.Random(seed)
        self.stop = False

    def run(self):
        rng = self.rng
        while not self.stop:
            data = script(rng)
            at = 0
            with open(self.path, "ab", 0) as file:
                while at < len(data) and not self.stop:
                    n = rng.choice([1, 7, 100, 3000, 20000])
                    file.write(data[at:at + n])
                    at += n
                    time.sleep(rng.uniform(0.001, 0.05))
                # Complete the last line: it may end anywhere.
                if self.stop and rng.random() < 0.5:
                    file.write(data[at:])
            if self.stop or self.kind == "once":
                return
            if self.kind == "rotate":
                os.rename(self.path, f"{self.path}.{rng.randrange(10**9)}.log")
            elif self.kind == "truncate":
                os.truncate(self.path, 0)
            time.sleep(rng.uniform(0.01, 0.2))


NAMES = [("plain.log", "append"), ("with space.log", "append"),
         ("quo'te\"$(x).log", "append"), ("new\nline.log", "append"),
         ("once.log", "once"), ("rotated.log", "rotate"),
         ("cut.log", "truncate"), ("bytes\udcff.log", "append")]


def run(args, env, **kwargs):
    return subprocess.run([TUI] + args, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=900, **kwargs)


def rows(args, env):
    done = run(args, env)
    if done.returncode not in (0, 5):
        note(done.stderr.decode(errors="replace"))
    return [json.loads(line) for line in done.stdout.splitlines()]


OWN = {"run_id", "pod", "path", "gen", "first_seen", "last_seen", "file",
       "lines", "bytes", "group"}


def plain(row):
    return {k: v for k, v in row.items() if k not in OWN}


def compare_runs(logs, env, db):
    """Compare the newest generation of each file with the output of parse."""
    stored = {}
    for row in rows(["--db", db, "runs", "--json"], env):
        stored.setdefault(row["path"], {}).setdefault(row["gen"], []).append(
            row)
    bad = 0
    total = 0
    for name in sorted(os.listdir(os.fsencode(logs))):
        path = os.path.join(os.fsencode(logs), name)
        parsed = rows(["parse", "--json", path], env)
        total += len(parsed)
        if not parsed:
            continue
        gens = stored.get(parsed[0]["file"], {})
        mine = gens[max(gens)] if gens else []
        if [plain(r) for r in mine] != [plain(r) for r in parsed] or \
                [r["lines"] for r in mine] != [r["lines"] for r in parsed]:
            bad += 1
            note(f"{name!r}: stored {len(mine)} runs, parsed {len(parsed)}")
            for a, b in zip(mine, parsed):
                for key in b:
                    if key != "file" and a.get(key) != b[key]:
                        note(f"  {key}: {a.get(key)!r} != {b[key]!r}")
    ok(total > 0 and bad == 0,
       f"{total} runs equal the output of parse")


def series(env, db, logs):
    """Return {(path, run_index): samples} of the files that exist."""
    out = {}
    newest = {}
    all_runs = rows(["--db", db, "runs", "--json"], env)
    for row in all_runs:
        newest[row["path"]] = max(newest.get(row["path"], 0), row["gen"])
    for name in os.listdir(os.fsencode(logs)):
        path = os.path.join(os.fsencode(logs), name)
        for run_row in rows(["parse", "--json", path], env):
            key = (run_row["file"], run_row["run_index"])
            ids = [r["run_id"] for r in all_runs
                   if (r["path"], r["run_index"]) == key and
                   r["gen"] == newest[r["path"]]]
            samples = rows(["--db", db, "samples", str(ids[0]), "--json"],
                           env) if ids else []
            for sample in samples:
                del sample["run_id"]
            out[key] = samples
    return out


def note_tail(path):
    with open(path, errors="replace") as file:
        note(file.read()[-4000:])


def write_config(path, logs, ssh):
    pod = {"name": "here", "logs": [os.path.join(logs, "*.log")]}
    if ssh:
        pod.update(ssh)
    else:
        pod["transport"] = "local"
    with open(path, "w") as file:
        json.dump({"pods": [pod]}, file)


def mirrors_equal(logs, state):
    """Does each existing log have a local copy with the same bytes?"""
    held = {}
    for folder, _, names in os.walk(os.fsencode(state)):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                held[name] = file.read()
    missing = []
    for name in os.listdir(os.fsencode(logs)):
        with open(os.path.join(os.fsencode(logs), name), "rb") as file:
            data = file.read()
        if data not in held.values():
            missing.append(name)
            note(f"no local copy equals {name!r}, {len(data)} bytes")
    for name in sorted(held) if missing else []:
        note(f"{name!r}: {len(held[name])} bytes")
    return not missing


def start_sshd(folder):
    """An sshd for this test if HGYM_KILL_TRANSPORT names an SSH transport."""
    transport = os.environ.get("HGYM_KILL_TRANSPORT")
    if not transport:
        return None
    subprocess.run(["sh", SSHD, "start", folder], check=True,
                   stdout=subprocess.DEVNULL)
    with open(folder + "/port") as port, open(folder + "/user") as user:
        host = f"{user.read().strip()}@127.0.0.1:{port.read().strip()}"
    return {"ssh": host, "identity": folder + "/id_ed25519",
            "known_hosts": folder + "/known_hosts", "transport": transport}


def kill_connections(folder, rng):
    """Kill the server's end of a connection from time to time."""
    done = subprocess.run(["sh", SSHD, "conns", folder],
                          stdout=subprocess.PIPE, text=True)
    for pid in done.stdout.split():
        if rng.random() < 0.5:
            subprocess.run(["kill", "-9", pid], stderr=subprocess.DEVNULL)


def main():
    rng = random.Random(int(os.environ.get("HGYM_SEED", "1")))
    top = tempfile.mkdtemp(prefix="collect-kill.")
    logs = os.path.join(top, "logs")
    os.mkdir(logs)
    env = home_env(top)
    config = os.path.join(top, "config.json")
    ssh = start_sshd(os.path.join(top, "sshd"))
    write_config(config, logs, ssh)
    db = os.path.join(top, "a.db")
    args = ["--config", config, "--db", db, "collect"]
    writers = [Writer(os.path.join(logs, name), i, kind)
               for i, (name, kind) in enumerate(NAMES)]
    for writer in writers:
        writer.start()
    kills = 0
    for _ in range(KILLS):
        with open(os.path.join(top, "stderr"), "ab") as errors:
            child = subprocess.Popen([TUI] + args, env=env, stderr=errors)
        time.sleep(rng.choice([0.02, 0.2, 0.5, 1.0]) * rng.random() + 0.05)
        if ssh and rng.random() < 0.5:
            kill_connections(os.path.join(top, "sshd"), rng)
            time.sleep(rng.random())
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            kills += 1
        child.wait()
    if not ok(kills == KILLS, f"{kills} kills"):
        note_tail(os.path.join(top, "stderr"))
    for writer in writers:
        writer.stop = True
    for writer in writers:
        writer.join()
    done = run(args + ["--until-idle", "2", "--for", "600"], env)
    if not ok(done.returncode == 0, "the last collector reads all logs"):
        note(done.stderr.decode(errors="replace"))
        note_tail(os.path.join(top, "stderr"))
    compare_runs(logs, env, db)
    ok(mirrors_equal(logs, os.path.join(top, "state")),
       "the local copy of each log equals the log")
    fresh = os.path.join(top, "b.db")
    run(["--config", config, "--db", fresh, "collect", "--until-idle", "2",
         "--for", "600"], env)
    one, two = series(env, db, logs), series(env, fresh, logs)
    for key in set(one) | set(two):
        if one.get(key) != two.get(key):
            note(f"{key}: {len(one.get(key, []))} samples, never killed "
                 f"{len(two.get(key, []))}")
    ok(one == two and sum(map(len, one.values())) > 1000,
       f"the same {sum(map(len, one.values()))} samples as without a kill")
    if ssh:
        subprocess.run(["sh", SSHD, "stop", os.path.join(top, "sshd")])
    if failed() and os.environ.get("HGYM_KEEP"):
        note(f"files are kept in {top}")
    else:
        shutil.rmtree(top, ignore_errors=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main() if sys.platform == "linux" else skip_all("Linux is required"))
