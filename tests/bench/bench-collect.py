#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The collector, including parsing and storing, over a real sshd on loopback.

Latency: from the append of a row to the model (what the next frame shows) and
to the database. Fleet: CPU and memory with many pods and logs. Telemetry: the
same fleet with and without it, on this machine and on the pod, with a fake
nvidia-smi of 8 GPUs, and the bytes that it adds to the database. Backlog: MB/s
of large logs of one pod, one or many at the same time, next to a bare read
loop over libssh2 with one channel per log, and `ssh pod cat` with the same
cipher, with the CPU seconds of each part; with rows in one line of ten, and
without rows. MB are 1,000,000 bytes.

BENCH_SECONDS (20), BENCH_PODS (64), BENCH_FILES (16 per pod), BENCH_RATE (640
lines per second in all), BENCH_BACKLOG_MB (1000) of all logs of a backlog,
BENCH_LOGS ("1 16": numbers of logs), BENCH_ROUNDS (3) of the backlogs, of
which the median counts, BENCH_TRANSPORT (libssh2)."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

TUI = os.environ["HGYM_TUI"]
SRC = os.environ.get("HGYM_SRC", ".")
TOOL = os.path.join(os.environ.get("HGYM_BUILD", "build"),
                    "tests/tools/collect-latency")
BARE = os.path.join(os.environ.get("HGYM_BUILD", "build"),
                    "tests/tools/bare-libssh2")
SSHD = os.path.join(SRC, "tests/support/sshd.sh")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/support"))
from home import home_env  # noqa: E402

SECONDS = float(os.environ.get("BENCH_SECONDS", "20"))
PODS = int(os.environ.get("BENCH_PODS", "64"))
FILES = int(os.environ.get("BENCH_FILES", "16"))
RATE = float(os.environ.get("BENCH_RATE", "640"))
BACKLOG_MB = int(os.environ.get("BENCH_BACKLOG_MB", "1000"))
LOGS = [int(n) for n in os.environ.get("BENCH_LOGS", "1 16").split()]
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
TRANSPORT = os.environ.get("BENCH_TRANSPORT", "libssh2")
TICK = os.sysconf("SC_CLK_TCK")


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


class Writer(threading.Thread):
    """Append rows to the files in turn, at this rate per second."""

    def __init__(self, paths, rate):
        super().__init__(daemon=True)
        self.files = [open(path, "a", 1) for path in paths]
        self.rate, self.stop, self.at = rate, False, {}

    def run(self):
        step, start = 0, time.monotonic()
        while not self.stop:
            file = self.files[step % len(self.files)]
            now = time.monotonic()
            file.write(f"step:{step}/99999999 train_loss:{now:.6f}"
                       f" train_time:{step * 50}ms step_avg:50.00ms\n")
            self.at[step] = now
            step += 1
            wait = start + step / self.rate - time.monotonic()
            if wait > 0:
                time.sleep(wait)


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0


class Box:
    """A folder with an sshd and a separate environment."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="bench-collect.")
        self.rig = self.top + "/rig"
        subprocess.run(["sh", SSHD, "start", self.rig, "MaxSessions 100",
                        f"SetEnv PATH={self.top}/bin:/usr/bin:/bin"
                        f" HOME={self.rig}/home"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(self.rig + "/port") as port, \
                open(self.rig + "/user") as user:
            self.host = (f"{user.read().strip()}@127.0.0.1:"
                         f"{port.read().strip()}")
        self.env = home_env(self.top)

    def pod(self, name, folder):
        return {"name": name, "ssh": self.host, "transport": TRANSPORT,
                "identity": self.rig + "/id_ed25519",
                "known_hosts": self.rig + "/known_hosts",
                "logs": [folder + "/*.log"]}

    def config(self, pods, telemetry_s=3600):
        path = self.top + "/config.json"
        with open(path, "w") as file:
            json.dump({"pods": pods, "telemetry_s": telemetry_s}, file)
        return path

    def close(self):
        subprocess.run(["sh", SSHD, "stop", self.rig])
        shutil.rmtree(self.top, ignore_errors=True)


def folders(box, pods, files):
    out = []
    for i in range(pods):
        folder = f"{box.top}/pod{i}"
        os.mkdir(folder)
        out.append([f"{folder}/{k}.log" for k in range(files)])
    return out


def committed(db, writer, seconds):
    """Measure the time from append to commit, by polling the newest rows."""
    seen, latency = -1, []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.02)
        try:
            base = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
            last = base.execute("SELECT max(steps) FROM runs").fetchone()[0]
            base.close()
        except sqlite3.Error:
            continue
        now = time.monotonic()
        if last is None or last <= seen:
            continue
        if seen >= 0:
            latency += [(now - writer.at[s]) * 1e3
                        for s in range(seen + 1, int(last) + 1)]
        seen = int(last)
    return latency


def latency(box):
    paths = folders(box, 1, 16)[0]
    writer = Writer(paths, 50)
    writer.start()
    config = box.config([box.pod("p", box.top + "/pod0")])
    db = box.top + "/latency.db"
    seconds, stored, out = SECONDS, [], []
    # A slow machine may need all of the time to connect.
    while not (stored and out) and seconds < 1000:
        tool = subprocess.Popen([TOOL, config, db, str(seconds + 3)],
                                env=box.env, stdout=subprocess.PIPE, text=True)
        time.sleep(3)
        stored = committed(db, writer, seconds - 1)
        out = tool.communicate()[0].split()
        seconds *= 2
    writer.stop = True
    print(f"append to model      p50 {out[1]} ms  p99 {out[2]} ms  max"
          f" {out[3]} ms  ({out[0]} rows, 16 logs, 50 rows/s)")
    print(f"append to committed  p50 {quantile(stored, .5):.0f} ms  p99"
          f" {quantile(stored, .99):.0f} ms  max {max(stored):.0f} ms")


def wait_live(child):
    live = 0
    while live < PODS:
        live += child.stderr.readline().rstrip().endswith(": live")


def fleet(box):
    all_paths = folders(box, PODS, FILES)
    pods = [box.pod(f"p{i}", os.path.dirname(paths[0]))
            for i, paths in enumerate(all_paths)]
    writer = Writer([p for paths in all_paths for p in paths], RATE)
    writer.start()
    child = subprocess.Popen(
        [TUI, "--config", box.config(pods), "--db", box.top + "/fleet.db",
         "collect", "--for", "600"], env=box.env, stderr=subprocess.PIPE,
        text=True)
    wait_live(child)
    time.sleep(5)
    before, start = cpu_s(child.pid), time.monotonic()
    time.sleep(SECONDS)
    used = (cpu_s(child.pid) - before) / (time.monotonic() - start)
    print(f"fleet                {PODS} pods x {FILES} logs, {RATE:.0f} rows/s:"
          f" {used * 100:.1f} % of a core, {memory_mb(child.pid):.1f} MB"
          f" resident at most")
    writer.stop = True
    child.terminate()
    child.wait()


SMI = """#!/bin/sh
for i in 0 1 2 3 4 5 6 7; do
    echo "$i, NVIDIA H100 80GB HBM3, 9$i, 7${i}123, 69$i.42, 6$i, 1980, 0x04"
done
"""


def below(pid):
    """All descendants of a process."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
    except OSError:
        return []
    return [p for child in children for p in [child] + below(child)]


def pod_parts_s(box):
    """CPU seconds of the processes below sshd, including ended children."""
    with open(box.rig + "/sshd.pid") as file:
        sshd = file.read().strip()
    parts = dict.fromkeys(("follower", "telemetry", "sshd"), 0)
    for pid in below(sshd):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read()
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        part = ("sshd" if command.startswith(b"sshd") else
                "telemetry" if b"HGT1" in command else
                "follower" if b"python3" in command else None)
        if part:
            parts[part] += sum(map(int, fields[11:15])) / TICK
    return parts


def an_hour(db):
    """Bytes that one hour of such telemetry adds to a database; its newest
    rows are copied."""
    base = sqlite3.connect(db)
    pages = "PRAGMA page_count"
    columns = [row[1] for row in base.execute("PRAGMA table_info(telemetry)")]
    shifted = ", ".join("at_ms + :ms" if c == "at_ms" else c for c in columns)
    base.execute("DELETE FROM telemetry WHERE (pod_id, at_ms) NOT IN"
                 " (SELECT pod_id, max(at_ms) FROM telemetry GROUP BY 1)")
    rows = base.execute("SELECT count(*) FROM telemetry").fetchone()[0]
    base.commit()
    base.execute("VACUUM")
    before = base.execute(pages).fetchone()[0]
    base.execute("CREATE TEMP TABLE moment AS SELECT * FROM telemetry")
    for i in range(1, 361):
        base.execute(f"INSERT INTO telemetry SELECT {shifted} FROM moment",
                     {"ms": i * 10000})
    base.commit()
    size = base.execute("PRAGMA page_size").fetchone()[0]
    added = (base.execute(pages).fetchone()[0] - before) * size
    base.close()
    return rows, added


def telemetry(box):
    os.mkdir(box.top + "/bin")
    with open(box.top + "/bin/nvidia-smi", "w") as file:
        file.write(SMI)
    os.chmod(box.top + "/bin/nvidia-smi", 0o755)
    all_paths = folders(box, PODS, FILES)
    pods = [box.pod(f"p{i}", os.path.dirname(paths[0]))
            for i, paths in enumerate(all_paths)]
    writer = Writer([p for paths in all_paths for p in paths], RATE)
    writer.start()
    for name, every_s in ("off", 3600), ("on", 5):
        db = f"{box.top}/telemetry-{name}.db"
        child = subprocess.Popen(
            [TUI, "--config", box.config(pods, every_s), "--db", db,
             "collect", "--for", "600"], env=box.env, stderr=subprocess.PIPE,
            text=True)
        wait_live(child)
        time.sleep(min(SECONDS, 8))
        parts, before = pod_parts_s(box), cpu_s(child.pid)
        start = time.monotonic()
        time.sleep(SECONDS)
        used = cpu_s(child.pid) - before
        per_s = 100 / (time.monotonic() - start)
        after = pod_parts_s(box)
        print(f"telemetry {name:3}        {used * per_s:.1f} % of a core,"
              f" {memory_mb(child.pid):.1f} MB at most; per pod: " + ", ".join(
                  f"{part} {(after[part] - parts[part]) * per_s / PODS:.2f} %"
                  for part in parts))
        child.terminate()
        child.wait()
        child.stderr.close()
    writer.stop = True
    rows, added = an_hour(db)
    print(f"                     every 5 s, 8 GPUs a pod; stored every 10 s:"
          f" {rows} rows per time, {added / 1e6:.1f} MB per hour")


OTHER = "some other line of a log, as there are many of them in a real one\n"


def big_log(path, dense, least):
    size = 0
    with open(path, "w") as file:
        while size < least:
            size += file.write("".join(
                (f"step:{i}/10000 train_loss:{6 - i / 5000:.4f}"
                 f" train_time:{i * 50}ms step_avg:50.00ms\n" if dense else
                 OTHER) + OTHER * 9 for i in range(10000)))
    return size


def threads_cpu_s(pid):
    """CPU seconds of the loop's thread, and of all other threads."""
    seconds = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        seconds[int(tid)] = cpu_s(f"{pid}/task/{tid}")
    return seconds.pop(pid), sum(seconds.values())


def pod_cpu_s(box):
    """CPU seconds of all ended processes that sshd started."""
    with open(box.rig + "/sshd.pid") as file:
        pid = file.read().strip()
    while subprocess.call(["pgrep", "-P", pid],
                          stdout=subprocess.DEVNULL) == 0:
        time.sleep(0.05)
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) / TICK


def bare(box, paths):
    """Seconds of the bare reader and of ssh, and the MAC."""
    user, _, port = box.host.rpartition(":")
    out = subprocess.check_output(
        [BARE, port, user.partition("@")[0], box.rig + "/id_ed25519",
         *("cat " + path for path in paths)], text=True).split()
    start = time.monotonic()
    subprocess.run(
        ["ssh", "-F", "none", "-p", port, "-i", box.rig + "/id_ed25519",
         "-o", "UserKnownHostsFile=" + box.rig + "/known_hosts", "-c",
         "aes128-ctr", "-m", out[2], user, "cat", *paths],
        stdout=subprocess.DEVNULL, check=True)
    return float(out[1]), time.monotonic() - start, out[2]


def stored(db):
    """Bytes of the logs in the database; 0 if it does not exist yet."""
    try:
        base = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
        row = base.execute("SELECT sum(offset) FROM tails").fetchone()
        base.close()
        return row[0] or 0
    except sqlite3.Error:
        return 0


def collect_all(box, folder, size):
    """Collect a folder with logs of this total size. Returns seconds, the CPU
    seconds of loop, other threads and pod, and MB."""
    pod_before = pod_cpu_s(box)
    db = folder + ".db"
    start = time.monotonic()
    child = subprocess.Popen(
        [TUI, "--config", box.config([box.pod("p", folder)]),
         "--db", db, "collect", "--for", "600"], env=box.env,
        stderr=subprocess.DEVNULL)
    while stored(db) < size:
        time.sleep(0.05)
    seconds = time.monotonic() - start
    loop_s, pool_s = threads_cpu_s(child.pid)
    memory = memory_mb(child.pid)
    child.terminate()
    child.wait()
    for name in (db, db + "-wal", db + "-shm"):
        if os.path.exists(name):
            os.unlink(name)
    shutil.rmtree(box.top + "/state", ignore_errors=True)
    return seconds, loop_s, pool_s, pod_cpu_s(box) - pod_before, memory


def short_log(path):
    with open(path, "w") as file:
        return file.write(OTHER)


def some_logs(folder, n, make):
    """Create n logs. Returns their paths and bytes."""
    os.mkdir(folder)
    paths = [f"{folder}/{i}.log" for i in range(n)]
    return paths, sum(make(path) for path in paths)


def backlog(box, dense, n):
    """Medians of some rounds: other programs may use the machine too."""
    folder, short = f"{box.top}/big{n}", f"{box.top}/short{n}"
    paths, size = some_logs(
        folder, n, lambda path: big_log(path, dense, BACKLOG_MB * 1e6 / n))
    _, few = some_logs(short, n, short_log)
    rounds = [(bare(box, paths), collect_all(box, folder, size),
               collect_all(box, short, few)[0])
              for _ in range(ROUNDS)]
    bare_s, cat_s = (quantile([r[0][i] for r in rounds], .5) for i in (0, 1))
    ours = sorted(r[1] for r in rounds)[ROUNDS // 2]
    start_s = quantile([r[2] for r in rounds], .5)
    mb, took_s = size / 1e6, ours[0] - start_s
    print(f"backlog, {'rows' if dense else 'none'}        {mb:.0f} MB of {n}"
          f" in {ours[0]:.1f} s, {start_s:.1f} s of it for any log:"
          f" {mb / took_s:.0f} MB/s read, mirrored, parsed and"
          f" stored\n                     bare libssh2 {mb / bare_s:.0f},"
          f" ssh cat {mb / cat_s:.0f} MB/s (aes128-ctr {rounds[0][0][2]}):"
          f" {bare_s / took_s:.2f} of bare\n"
          f"                     CPU s: loop {ours[1]:.1f}, parser and"
          f" database {ours[2]:.1f}, pod {ours[3]:.1f}; {ours[4]:.1f} MB at"
          f" most; load {os.getloadavg()[0]:.1f}", flush=True)
    shutil.rmtree(folder)


def backlogs(box, dense):
    for n in LOGS:
        backlog(box, dense, n)


PARTS = {"latency": latency, "fleet": fleet, "telemetry": telemetry,
         "backlog": lambda box: backlogs(box, True),
         "backlog-none": lambda box: backlogs(box, False)}
for name in sys.argv[1:] or PARTS:
    box = Box()
    try:
        PARTS[name](box)
    finally:
        box.close()
