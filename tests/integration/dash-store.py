#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The dashboard and its database: what it shows after a restart, next to a
second dashboard, and when another one is killed. Real processes, real kills."""
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name)
                for name in ("screen", "support")]
from home import home_env  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from vt import Program  # noqa: E402
from wait import PATIENCE_S, until  # noqa: E402

TUI = os.path.abspath(os.environ["HGYM_TUI"])
top = tempfile.mkdtemp(prefix="dash-store.")
env = home_env(top)
CONFIG = top + "/config/hgym-tui/config.json"
DB = top + "/data/hgym-tui/history.db"


def put(path, text, mode="w"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode) as file:
        file.write(text)


def log_rows(first, last):
    return "".join(f"step:{i}/900 val_loss:{6 - i / 300:.4f} val_bpb:"
                   f"{3 - i / 600:.4f} train_time:{i * 50}ms"
                   " step_avg:50.00ms\n" * (i % 100 == 0) +
                   f"step:{i}/900 train_loss:{6 - i / 300:.4f}"
                   f" train_time:{i * 50}ms step_avg:50.00ms\n"
                   for i in range(first, last + 1))


def tui(*args):
    return subprocess.run([TUI, *args], env=env, capture_output=True,
                          text=True, timeout=PATIENCE_S)


def rows(*args):
    done = tui(*args, "--json")
    return [json.loads(line) for line in done.stdout.splitlines()]


def dash(*args):
    return Program([TUI, *args], 120, 40, env, top)


def shows(screen, text, name):
    if not ok(screen.wait_for(text), name):
        note(screen.screen.text())


def hides(screen, text, name):
    if not ok(screen.wait_gone(text), name):
        note(screen.screen.text())


def leave(screen):
    """End the dashboard regularly: everything that it read is stored."""
    os.kill(screen.pid, signal.SIGTERM)
    status = screen.end()
    if status != 143:
        note(f"exit status {status}\n{screen.screen.text()}")
    screen.close()


def steps_of(pod):
    return [r["steps"] for r in rows("runs", "--pod", pod)]


def children(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)],
                          capture_output=True, text=True)
    return done.stdout.split()


def equal_to_parse(path, name):
    """Check that the database contains what parse prints for the file."""
    want = rows("parse", path)
    got = [r for r in rows("runs") if r["path"] == path]
    same = ("lines", "steps", "last_train_loss", "final_bpb", "status")
    got = [[r[k] for k in same] for r in got]
    want = [[r[k] for k in same] for r in want]
    if not ok(got == want, name):
        note(f"{got}\n{want}")


def export(screen, least):
    """Export the points of the chart on the screen and return them, once the
    export has at least this many lines."""
    pattern = top + "/hgym-run*.csv"
    text = ""
    for _ in range(40):
        screen.send("x")
        screen.send("\x1b[B\r")
        until(lambda: glob.glob(pattern), 3, screen.pump)
        for path in glob.glob(pattern):
            with open(path) as file:
                text = file.read()
            os.unlink(path)
        if text.count("\n") >= least:
            return text
    note(f"no export with {least} lines: {text!r}\n{screen.screen.text()}")
    return text


def open_run(screen):
    screen.send("2")
    shows(screen, "step time", "the run has its charts")


def age_runs(ms):
    """Make the last bytes of all runs older."""
    db = sqlite3.connect(DB)
    db.execute("UPDATE runs SET last_wall_ms = last_wall_ms - ?", (ms,))
    db.commit()
    db.close()


def test_restart():
    """After a restart the same runs are shown without reading the log
    again."""
    over, runs = top + "/a/over.log", top + "/a/runs.log"
    put(over, "seed:1\n" + log_rows(0, 900) + "final_int8_zlib_roundtrip"
        " val_loss:2.0500 val_bpb:1.2345 eval_time:1234ms\n")
    os.utime(over, (time.time() - 3600,) * 2)
    pod = {"name": "here", "transport": "local", "logs": [top + "/a/*.log"]}
    config = json.dumps({"pods": [pod], "telemetry_s": 3600})
    put(CONFIG, config)
    screen = dash()
    shows(screen, "Runs (1)", "a run is shown")
    shows(screen, "1.2345", "the run has its score")
    open_run(screen)
    before = export(screen, 501)
    ok(before.count("\n") > 500, "the points of a chart are exported")
    leave(screen)
    equal_to_parse(over, "the runs equal the output of parse")
    # The database also has an old time for the last bytes.
    age_runs(3600000)

    put(runs, "seed:2\n" + log_rows(0, 300))
    screen = dash()
    shows(screen, "Runs (2)", "a restart shows stored runs and new ones")
    leave(screen)
    pod.update(transport="command", command=["sleep", "3600"])
    put(CONFIG, json.dumps({"pods": [pod]}))
    screen = dash()
    shows(screen, "▶ ", "an unfinished run is running until its log is read")
    hides(screen, "truncated", "an unfinished run is not truncated before "
                               "its log is read")
    screen.close()
    age_runs(172800000)
    screen = dash()
    shows(screen, "truncated at 300", "an unfinished run that was silent for "
                                      "two days is truncated")
    screen.close()
    age_runs(-172800000)
    put(CONFIG, config)
    screen = dash()
    shows(screen, "Runs (2)", "both runs come from the database")
    shows(screen, "1.2345", "a run from the database has its score")
    screen.send("j")
    screen.settle()
    open_run(screen)
    after = export(screen, before.count("\n"))
    if not ok(before == after, "the points of a finished run equal those of "
                               "the log"):
        note(f"{len(before)} and {len(after)} bytes")
    screen.send("1")
    put(over, "seed:3\n" + log_rows(0, 77), "a")
    shows(screen, "Runs (3)", "a finished log grows: a new run")
    put(runs, log_rows(301, 444), "a")
    shows(screen, " 444 ", "an unfinished log grows: the run continues")
    leave(screen)
    # Truncated, and without new bytes for two days.
    age_runs(172800000)
    screen = dash()
    shows(screen, "truncated at 444", "a log without new bytes for two days "
                                      "is truncated")
    put(runs, log_rows(445, 450), "a")
    shows(screen, " 450 ", "the log grows again")
    shows(screen, "▶ a ", "the log grows again: the run is running")
    leave(screen)
    equal_to_parse(over, "the log that grew: the runs equal the output of "
                         "parse")
    equal_to_parse(runs, "the other log: the runs equal the output of parse")


def test_second():
    """Two dashboards: the second one only reads the database, and takes
    over."""
    log = top + "/b/t.log"
    put(log, "seed:7\n" + log_rows(0, 100))
    put(CONFIG, json.dumps({"pods": [
        {"name": "there", "transport": "local", "logs": [top + "/b/*.log"]}],
        "telemetry_s": 3600}))
    first = subprocess.Popen([TUI, "collect"], env=env,
                             stderr=subprocess.DEVNULL)
    ok(until(lambda: steps_of("there") == [100]), "the first dashboard stores "
                                                  "the runs")
    second = dash()
    shows(second, f"another hgym-tui (process {first.pid})",
          "the second dashboard reports that it only reads")
    shows(second, " 100 ", "the second dashboard shows the stored runs")
    shows(second, " from db · 1/", "the second dashboard: the header shows "
                                   "\"from db\"")
    put(log, log_rows(101, 222), "a")
    shows(second, " 222 ", "the second dashboard shows what the first one "
                           "stores")
    second.send("2")
    shows(second, "step time", "the second dashboard shows the series")
    second.send("5")
    shows(second, "step:222/900", "the second dashboard shows the end of the "
                                  "log")
    put(log, log_rows(223, 230), "a")
    shows(second, "step:230/900", "the second dashboard shows new lines of "
                                  "the local copy")
    ok(children(second.pid) == [], "the second dashboard has no process on "
                                   "the pod")
    first.send_signal(signal.SIGKILL)
    first.wait()
    put(log, log_rows(231, 300), "a")
    second.send("!")
    shows(second, "this one follows", "the first one is killed: the second "
                                      "one takes over and reports it")
    # Esc followed at once by a key would be read as another key.
    second.send("\x1b")
    hides(second, "this one follows", "Esc closes the events")
    second.send("1")
    shows(second, " 300 ", "the new writer continues at the offset of the old "
                           "one")
    ok(children(second.pid) != [], "the new writer has a process on the pod")
    hides(second, " from db · ", "the header no longer shows \"from db\"")
    open_run(second)
    points = export(second, 300)
    ok(points.count("\n") >= 300, "the series have no gap")
    third = dash()
    shows(third, f"another hgym-tui (process {second.pid})",
          "a third dashboard reads what the second one stores")
    put(log, log_rows(301, 333), "a")
    shows(third, " 333 ", "the third dashboard shows new rows")
    second.close()
    put(log, log_rows(334, 350), "a")
    third.send("!")
    shows(third, "this one follows", "the second one ends: the third one "
                                     "takes over")
    ok(until(lambda: third.pump(0.1) and steps_of("there") == [350]),
       "no row is lost at the takeover", steps_of("there"))
    leave(third)
    equal_to_parse(log, "the runs equal the output of parse")
    samples = [s for s in rows("samples", log) if s["metric"] == "train_loss"]
    if not ok([s["step"] for s in samples] == list(range(351)),
              "each sample is stored once"):
        note(tui("runs").stdout + tui("samples", log).stderr)


SMI = """#!/bin/sh
cat %s/smi
"""
GPU = "{0}, NVIDIA H100 80GB HBM3, {1}, 71234, {2}, 61, 1830, 0x{3:016x}\n"


def test_telemetry():
    """The telemetry of pods is stored, and shown after a restart."""
    put(top + "/bin/nvidia-smi", SMI % top)
    os.chmod(top + "/bin/nvidia-smi", 0o755)
    env["PATH"] = top + "/bin:" + env["PATH"]
    put(top + "/smi", GPU.format(0, 98, 601.5, 4) + GPU.format(1, 90, 99, 1))
    put(top + "/c/t.log", "seed:9\n" + log_rows(0, 50))
    put(CONFIG, json.dumps({"pods": [
        {"name": "gpus", "transport": "local", "logs": [top + "/c/*.log"]}],
        "telemetry_s": 1}))
    first = subprocess.Popen([TUI, "collect"], env=env,
                             stderr=subprocess.DEVNULL)

    def telemetry(*args):
        return rows("samples", "--pod", "gpus", *args)

    ok(until(lambda: len({r["wall_s"] for r in telemetry()}) >= 2),
       "telemetry is stored")
    got = {(r["gpu"], r["metric"]): r["value"] for r in telemetry()}
    ok((got[0, "gpu_util"], got[1, "gpu_util"], got[None, "gpu_util"]) ==
       (98, 90, 94), "telemetry: each GPU and their mean")
    ok((got[1, "gpu_power_w"], got[None, "gpu_power_w"]) == (99, 700.5),
       "telemetry: power of each GPU and the sum")
    ok((got[0, "gpu_throttle"], got[None, "gpu_throttle"]) == (4, 5),
       "telemetry: throttle reasons of each GPU and of all")
    ok((None, "host_load") in got and (0, "host_load") not in got and
       got[None, "disk_free_bytes"] > 0, "telemetry: load and disk of the "
                                         "host")
    times = sorted({r["wall_s"] for r in telemetry()})
    ok(all(b - a > 8 for a, b in zip(times, times[1:])),
       "telemetry: at most one row per ten seconds", times)
    ok({r["metric"] for r in telemetry("--metric", "gpu_temp_c")} ==
       {"gpu_temp_c"}, "telemetry: one metric")
    done = tui("samples", "--pod", "nobody")
    ok(done.returncode == 5, "telemetry: unknown pod: " + done.stderr.strip()[-40:])
    ok(tui("samples").returncode == 2, "samples without a run or pod: usage "
                                       "error")

    second = dash()
    second.send("7")
    shows(second, "live", "the second dashboard shows the state of the pod")
    shows(second, "H100", "the second dashboard shows the GPU of the pod")
    second.close()
    first.send_signal(signal.SIGKILL)
    first.wait()
    # The pod does not answer: its values come from the database.
    put(top + "/bin/nvidia-smi", "#!/bin/sh\nexit 1\n")
    screen = dash()
    screen.send("7")
    shows(screen, "H100", "after a restart the GPU of the pod is shown")
    open_run(screen)
    screen.send("]]]]")
    shows(screen, "GPU utilisation (%)", "the metrics of the pod are in the "
                                         "list")
    screen.send("K")
    shows(screen, "the pod has no GPU utilisation", "a run on another pod has "
                                                   "no GPU metrics")
    screen.send("x\r")
    shows(screen, "nothing saved: the pod has no GPU utilisation",
          "no file is written without a point")
    screen.send("J")
    text = export(screen, 3)
    head, *points = [line.split(",") for line in text.splitlines()] or [[]]
    if not ok(head == ["run", "seed", "file", "series", "wall_s", "value"] and
              len(points) >= 2 and
              {(p[3], float(p[5])) for p in points} == {("gpu_util", 94)},
              "the run has a chart of the pod's GPU"):
        note(text)
    screen.close()
    count_rows = len(telemetry("--metric", "gpu_util"))
    ok(count_rows >= 6, f"{count_rows} rows are kept")


def test_no_pods():
    """The history is shown without any pod."""
    put(CONFIG, "{}")
    screen = dash()
    shows(screen, "Runs (5)", "runs of pods that are no longer configured are shown")
    put(top + "/e/t.log", "seed:5\n" + log_rows(0, 60))
    put(CONFIG, json.dumps({"pods": [
        {"name": "late", "transport": "local", "logs": [top + "/e/*.log"],
         "harnessgym": [top + "/none"]}], "telemetry_s": 3600}))
    os.kill(screen.pid, signal.SIGHUP)
    shows(screen, "Runs (6)", "a configuration with a pod: the pod is "
                              "followed")
    second = dash()
    shows(second, "another hgym-tui", "the first dashboard writes")
    os.kill(second.pid, signal.SIGHUP)
    shows(second, "configuration reloaded", "the second dashboard reads the "
                                            "new configuration")
    shows(second, "Runs (6)", "the second dashboard shows the same runs")
    screen.close()
    second.send("!")
    shows(second, "this one follows", "the first dashboard ends: the second "
                                      "one follows")
    second.close()


try:
    test_restart()
    test_second()
    test_telemetry()
    test_no_pods()
    status = finish()
finally:
    shutil.rmtree(top, ignore_errors=True)
sys.exit(status)
