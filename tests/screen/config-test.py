#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Settings that change the screen, and SIGHUP while it is shown: in a real
pseudo-terminal, with pods on this machine."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs, home_env  # noqa: E402
from tap import finish, ok  # noqa: E402
from vt import Program  # noqa: E402
from wait import until  # noqa: E402

home = conf = None


def write_log(path, seed, bpb):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as log:
        log.write("seed:%d\n" % seed)
        for step in range(1, 41):
            log.write("step:%d/40 train_loss:%.4f train_time:%dms "
                      "step_avg:100.00ms\n" %
                      (step, 6 - step / 20, step * 100))
        log.write("step:40/40 val_loss:%.4f val_bpb:%.4f "
                  "train_time:4000ms step_avg:100.00ms\n" %
                  (bpb * 2.6, bpb))


def pod(name, folder):
    return {"name": name, "transport": "local",
            "logs": [os.path.join(home, folder, "*/*.log")]}


def configure(pods=("a",), **more):
    with open(conf, "w") as out:
        json.dump(dict({"schema": "hgym-tui.config/1",
                        "pods": [pod(p, p) for p in pods]}, **more), out)


def start(env=None, top=None, **kw):
    environ = dict(env or {}, HGYM_TUI_CONFIG=conf, **home_dirs(top or home))
    return Program([TUI], env=environ, cwd=home, width=120, height=40, **kw)


def leave(p):
    p.send("Q")
    status = p.end()
    p.close()
    return status


def colours(screen):
    return {look[0] for row in screen.cells for _, look in row}


def test_theme():
    seen = {}
    for theme in ("dark", "light", "contrast"):
        configure(ui={"theme": theme})
        p = start()
        p.wait_for("Runs (2)")
        p.settle(0.2)
        seen[theme] = colours(p.screen)
        leave(p)
    ok(74 in seen["dark"] and 74 not in seen["light"] | seen["contrast"],
       "theme dark has its colors", seen)
    ok(24 in seen["light"] and 24 not in seen["dark"] | seen["contrast"],
       "theme light has its colors", seen)
    ok(123 in seen["contrast"] and 245 not in seen["contrast"],
       "theme contrast has its colors", seen)
    configure(ui={"theme": "light"})
    p = start(env={"NO_COLOR": "1"})
    p.wait_for("Runs (2)")
    p.settle(0.2)
    ok(colours(p.screen) == {None}, "NO_COLOR: no theme has colors",
       colours(p.screen))
    p.send("T")
    ok(p.wait_for("theme: contrast"), "T selects the next theme")
    ok(colours(p.screen) == {None}, "NO_COLOR: the next theme has no colors")
    leave(p)
    configure(ui={"theme": "mauve"})
    p = start()
    ok(p.end() == 2 and "ui.theme" in p.screen.text() and
       "contrast" in p.screen.text(),
       "an unknown theme: one sentence, exit status 2", p.screen.text())
    p.close()


def test_zone():
    configure(ui={"utc": False})
    hours = []
    for env, zone in (({"TZ": "XST-5:30"}, "XST"), ({"TZ": "UTC"}, "UTC")):
        p = start(env=env)
        p.wait_for("Runs (2)")
        m = re.search(r"(\d\d):(\d\d):\d\d (\w+)", p.screen.text())
        ok(m and m.group(3) == zone, "ui.utc false: the time of %s" % zone,
           p.screen.text())
        hours.append(int(m.group(1)) * 60 + int(m.group(2)) if m else 0)
        leave(p)
    # The second time was read a moment later.
    ok(300 < (hours[0] - hours[1]) % 1440 <= 330, "the two time zones differ "
                                                  "by 5:30 h", hours)
    configure()
    p = start(env={"TZ": "XST-5:30"})
    p.wait_for("Runs (2)")
    m = re.search(r"(\d\d):(\d\d):\d\d UTC", p.screen.text())
    ok(m and (int(m.group(1)) * 60 + int(m.group(2)) - hours[1]) % 1440 < 30,
       "without ui.utc the time is UTC", p.screen.text())
    leave(p)


def test_escape():
    configure(ui={"escape_delay_ms": 1000})
    p = start()
    p.wait_for("Runs (2)")
    p.send("?")
    p.wait_for("type to search")
    begin = time.monotonic()
    p.send("\x1b")
    for signum in (signal.SIGCHLD, signal.SIGCONT, signal.SIGWINCH):
        p.pump(0.1)
        os.kill(p.pid, signum)
    gone = p.wait_gone("type to search")
    took = time.monotonic() - begin
    ok(gone and took >= 0.9, "escape_delay_ms 1000: Esc waits for the rest",
       took)
    for _ in range(20):
        p.send("?")
        p.wait_for("type to search")
        begin = time.monotonic()
        p.send("\x1b")
        p.pump(0.2)
        p.send("[B")
        # If this test itself was slow, try again.
        if time.monotonic() - begin < 0.9:
            break
        p.wait_gone("type to search")
    p.settle()
    ok("type to search" in p.screen.text(),
       "Esc and the following key are one key", p.screen.text())
    p.send("\x1b")
    leave(p)


def board(groups, names):
    configure(pods=("a", "b"), **({"groups": groups} if groups else {}))
    p = start()
    p.wait_for("Runs (4)")
    p.send("3")
    p.wait_for("RECIPE")
    p.until(lambda: are_groups(p.screen.text(), names), what=names)
    text = p.screen.text()
    leave(p)
    return text


def are_groups(text, names):
    """Does the board have a row for each of the names?"""
    rows = [line for line in text.split("\n") if re.match(r"│ +\d+ ", line)]
    return len(rows) == len(names) and \
        all(any(n.strip() in r for r in rows) for n in names)


def test_groups():
    """The board on the screen has the groups of the command `board`."""
    for groups, names in (
            (None, ("alpha", "beta", "gamma")),
            ({"by": "file"}, ("alpha/one.log", "alpha/two.log", "beta/one",
                              "gamma/one")),
            ({"by": "pod"}, (" a ", " b ")),
            ({"pattern": "/(?<group>[a-z])[a-z]*/[^/]*$"},
             (" a ", " b ", " g "))):
        text = board(groups, names)
        ok(are_groups(text, names),
           "groups %s: %d of them" % (groups, len(names)), text)
        env = home_env(home, HGYM_TUI_CONFIG=conf, LC_ALL="C.UTF-8")
        out = subprocess.run([TUI, "board", "--json"], env=env,
                             capture_output=True, text=True).stdout
        keys = [json.loads(line)["group"] for line in out.splitlines()]
        ok(len(keys) == len(names), "the command board has the same number of "
                                    "groups", keys)


def test_reload():
    configure()
    # Use a new database, in which no run of another pod is known.
    fresh = os.path.join(home, "fresh")
    os.mkdir(fresh)
    p = start(top=fresh)
    ok(p.wait_for("Runs (2)"), "the runs of one pod")
    ok(p.wait_for("1/1 pods"), "one pod")
    configure(pods=("a", "b"), ui={"theme": "light"},
              keys={"board": "F5", "help": "? F1"})
    os.kill(p.pid, signal.SIGHUP)
    ok(p.wait_for("configuration reloaded"), "SIGHUP reloads the "
                                             "configuration")
    ok(p.wait_for("Runs (4)"), "a new pod's runs appear")
    ok(p.until(lambda: 24 in colours(p.screen) and
               74 not in colours(p.screen)),
       "SIGHUP: the theme has changed", colours(p.screen))
    p.send("\x1b[15~")
    ok(p.wait_for("RECIPE"), "SIGHUP: the keys have changed")
    p.send("1")
    p.wait_for("ms/step")
    p.send("\x1b[20~")
    ok(p.wait_for("the mouse is"), "a key turns mouse support off")
    before = "off:" in p.screen.text()
    os.kill(p.pid, signal.SIGHUP)
    ok(p.wait_for("configuration reloaded"), "another reload")
    p.send("\x1b[20~")
    ok(p.wait_for("the mouse is on" if before else "the mouse is off"),
       "a reload keeps the choice made by a key", p.screen.text())
    with open(conf, "w") as out:
        out.write('{"schema": "hgym-tui.config/1",\n "ui": {"theme": 3}}\n')
    os.kill(p.pid, signal.SIGHUP)
    ok(p.wait_for(("configuration not reloaded",
                   "config.json:2: ui.theme")),
       "an invalid configuration changes nothing and is reported")
    p.settle(0.3)
    ok("Runs (4)" in p.screen.text() and 24 in colours(p.screen),
       "an invalid configuration: all settings stay", p.screen.text())
    p.send("!")
    ok(p.wait_for("config.json:2: ui.theme"), "an invalid configuration is in "
                                              "the events")
    p.send("\x1b")
    configure(pods=("b",), keys={"no-such-action": "F5"})
    os.kill(p.pid, signal.SIGHUP)
    ok(p.wait_for("no-such-action"), "an unknown action in keys is in the "
                                     "events")
    configure(pods=("b",))
    p.send("\x12")
    p.send("!")
    ok(p.wait_for(("a: removed from the configuration", "1/1 pods")),
       "Ctrl-r reloads too; a removed pod is no longer followed")
    p.send("\x1b")
    ok(p.until(lambda: 74 in colours(p.screen)),
       "a removed setting has its default again", colours(p.screen))
    ok(not p.screen.stray, "no stray byte on the screen", p.screen.stray)
    ok(leave(p) == 0, "q ends the program")
    p = start()
    p.wait_for("Runs (")
    pid, fd = p.pid, p.fd
    os.close(fd)  # the terminal is closed
    until(lambda: p.poll() is not None)
    ok(p.poll() == 129, "the program ends when its terminal is closed", p.poll())
    if p.poll() is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_track():
    """Unless a track is chosen, no rule about BPB applies to runs without
    BPB."""
    folder = os.path.join(home, "speedrun")
    os.makedirs(folder)
    for seed in (1, 2):
        with open(os.path.join(folder, "%d.log" % seed), "w") as log:
            for step in range(125, 1001, 125):
                log.write("step:%d/1000 val_loss:%.4f train_time:%dms "
                          "step_avg:700.00ms\n" %
                          (step, 6 - step / 400, step * 700))
    seen = {}
    for name in (None, "parameter-golf-10min", "nanogpt-speedrun"):
        p = Program([TUI, folder] + (["--track", name] if name else []),
                    env=home_dirs(home), cwd=home, width=120, height=40)
        p.wait_for("Runs (2)")
        p.wait_for("over train cap" if name == "parameter-golf-10min"
                   else "done 700.0 s")
        seen[name] = p.screen.text()
        p.send("3")
        ok(p.wait_for("track %s" % (name or "open")),
           "the track is %s" % (name or "chosen by the runs"),
           p.screen.text())
        leave(p)
    p = Program([TUI, folder], env=home_dirs(home), cwd=home, width=120,
                height=40)
    p.wait_for("done 700.0 s")
    p.send("3")
    p.wait_for("track open")
    found = set()

    def track():
        named = re.findall(r"Board · track ([\w-]+)", p.screen.text())
        return named[0] if named else None
    p.send("tno caps")
    ok(p.wait_for("Choose a track") and p.until(lambda: re.search(
        "open +no caps, no record rule +2 logs", p.screen.text())),
       "t lists the tracks and their numbers of logs", p.screen.text())
    p.send("\x15opti")
    ok(p.until(lambda: re.search(
        r"name .*\n.* nanogpt-optimization .*\n(?s:.*)Its logs have a line that "
        r"matches[ │\n]+\^step:", p.screen.text())),
       "t shows which lines a track is recognized by, letters in a row first",
       p.screen.text())
    p.send("\x1b")
    for name in ("autoresearch", "nanochat", "medium", "optimization",
                 "slowrun", "speedrun", "golf", "no caps"):
        before = track()
        p.send("t" + name + "\r")
        p.until(lambda: track() not in (None, before))
        found.add(track())
    ok(found == {"autoresearch-5min", "nanochat-gpt2", "nanogpt-medium",
                 "nanogpt-optimization", "nanogpt-slowrun",
                 "nanogpt-speedrun", "open", "parameter-golf-10min"},
       "each track can be chosen", found)
    leave(p)
    ok("cap" not in seen[None] and "0 alerts" in seen[None],
       "without BPB no run exceeds the size cap", seen[None])
    run = subprocess.run([TUI, "board", folder, "--json"], text=True,
                         env=dict(os.environ, **home_dirs(home)),
                         capture_output=True)
    ok('"track":"open"' in run.stdout.replace(": ", ":"),
       "the command board has the same order", run.stdout[:400] + run.stderr)
    p = Program([TUI, "--track", "mauve", folder], env=home_dirs(home),
                cwd=home)
    ok(p.end() == 2 and 'unknown track "mauve"' in p.screen.text(),
       "an unknown track: exit status 2", p.screen.text())
    p.close()


PLACE = {"group", "title", "rows"}


def test_database():
    """The boards of a database are those of its logs."""
    top = os.path.join(home, "steps")
    for i in range(3):
        folder = os.path.join(top, "s", "muon")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "%d.log" % i), "w") as log:
            for step in range(250, 2751, 250):
                log.write("step:%d/3000 val_loss:%.5f train_time:%.3fs "
                          "step_avg:500.00ms\n" %
                          (step, 3.2756 + i / 1000 + (2500 - step) / 1e5,
                           step / 2))
    write_log(top + "/s/golf/one.log", 1, 1.10)
    with open(conf, "w") as out:
        json.dump({"schema": "hgym-tui.config/1", "pods": [
            {"name": "s", "transport": "local",
             "logs": [top + "/s/*/*.log"]}]}, out)
    env = home_env(top, HGYM_TUI_CONFIG=conf, LC_ALL="C.UTF-8")
    subprocess.run([TUI, "collect", "--until-idle", "1"], env=env,
                   capture_output=True, check=True)
    stored, read = (
        [{k: v for k, v in json.loads(line).items() if k not in PLACE}
         for line in subprocess.run([TUI, "board", "--json"] + paths, env=env,
                                    capture_output=True,
                                    text=True).stdout.splitlines()]
        for paths in ([], [top + "/s"]))
    ok(stored == read and
       [group["track"] for group in read] ==
       ["nanogpt-optimization", "parameter-golf-10min"],
       "the database has what a board needs", (stored, read))
    shown = read[0]["verdict"] if read else "no group"
    ok(shown.startswith("TARGET SHOWN at step 2500"), "the target is shown",
       shown)
    p = start(top=top)
    p.wait_for("Runs (4)")
    p.send("3")
    ok(p.wait_for("TARGET SHOWN at step 2500"),
       "the dashboard shows the verdict of board", p.screen.text())
    ok(re.search("RECIPE / seed +TARGET AT  n .*\n.* muon +2,500  3 ",
                 p.screen.text()), "the step is the first column", p.screen.text())
    leave(p)


def test_verdicts():
    """Whatever room a verdict has, the words that decide it are shown."""
    top = os.path.join(home, "verdicts")
    for name, first, last in (("shown/0", 3.2756, 2750), ("shown/1", 3.2766, 2750),
                              ("shown/2", 3.2776, 2750), ("short/0", 3.2790, 2750),
                              ("live/0", 3.2790, 2750), ("live/1", 3.2792, 1000),
                              ("missed_" * 9 + "/0", 3.2890, 2750)):
        os.makedirs(os.path.join(top, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(top, name + ".log"), "w") as log:
            for step in range(250, last + 1, 250):
                log.write("step:%d/3000 val_loss:%.5f train_time:%.3fs "
                          "step_avg:500.00ms\n" %
                          (step, first + (2500 - step) / 1e5, step / 2))
    for width, height in ((80, 24), (120, 40), (200, 60)):
        p = Program([TUI, top], env=home_dirs(home), cwd=home, width=width,
                    height=height)
        p.wait_for("live")
        p.send("3")
        ok(p.until(lambda: all(
            re.search(line, p.screen.text()) for line in (
                r" shown .*TARGET SHOWN", r" short .*MEETS TARGET.*, NOT SHOWN",
                r" live .*PROVISIONAL: .*NOT SHOWN", "MISSES THE TARGET"))),
           "%d columns: no verdict loses the words that decide it" % width,
           p.screen.text())
        ok(not re.search("……|step 2…|[(]m?…|by [0-9.]*…", p.screen.text()),
           "%d columns: no verdict ends in a useless rest" % width,
           p.screen.text())
        leave(p)


def test_welcome():
    """Without a configuration, Enter asks for a pod and follows it. Then write
    an option, and open a log in the editor."""
    top = os.path.join(home, "welcome")
    wrote = os.path.join(top, "config", "hgym-tui", "config.json")
    edited = os.path.join(top, "edited")
    os.makedirs(top)
    with open(top + "/editor", "w") as script:
        script.write('echo "$@" >%s.new && mv %s.new %s\n' % ((edited,) * 3))
    with open(top + "/vi", "w") as script:
        script.write('#!/bin/sh\n. %s/editor\n' % top)
    os.chmod(top + "/vi", 0o755)
    p = Program([TUI], env=dict(home_dirs(top), VISUAL="sh %s/editor" % top),
                cwd=home, width=120, height=40)
    ok(p.wait_for("adds a pod to " + wrote), "without pods the screen shows "
       "how to add one, and which file it is added to", p.screen.text())
    p.send("\r")
    ok(p.wait_for("Host of ~/.ssh/config"), "Enter asks for a host")
    p.send("local\r")
    p.wait_for("Pattern of its logs")
    p.send(os.path.join(home, "a", "*", "*.txt") + "\r")
    ok(p.wait_for("2 " + os.path.join(home, "a")), "a pattern without files "
       "leads to one with files", p.screen.text())
    p.send("\r")
    ok(p.wait_for("Runs (2)"), "the pod is followed at once", p.screen.text())
    with open(wrote) as out:
        before = json.load(out)
    p.send("\x1bOQ")
    p.wait_for("Options · ")
    p.send("times in the local\r")
    ok(p.until(lambda: '"ui"' in open(wrote).read()), "F2 writes an option",
       p.screen.text())
    with open(wrote) as out:
        ok(json.load(out) == dict(before, ui={"utc": False}),
           "F2 keeps the pods of the configuration", before)
    p.send("5v")
    ok(until(lambda: os.path.exists(edited) and
             open(edited).read().endswith(".log\n")),
       "v opens the log in $VISUAL")
    ok(not open(edited).read().startswith("+"), "sh gets only the file, because "
       "it does not know +LINE")
    p.send("1")
    ok(p.wait_for("Runs (2)"), "the dashboard returns after the editor exits")
    leave(p)
    os.unlink(edited)
    p = Program([TUI], env=dict(home_dirs(top), VISUAL=top + "/vi"), cwd=home,
                width=120, height=40)
    p.wait_for("Runs (2)")
    p.send("5")
    p.wait_for("following")
    p.send("g")
    p.wait_for("f follows")
    p.send("v")
    ok(until(lambda: os.path.exists(edited)) and
       open(edited).read().startswith("+1 "), "vi opens the log at the line",
       os.path.exists(edited) and open(edited).read())
    leave(p)


def main():
    global home, conf
    with tempfile.TemporaryDirectory() as folder:
        home = folder
        conf = os.path.join(home, "config.json")
        write_log(home + "/a/alpha/one.log", 1, 1.10)
        write_log(home + "/a/alpha/two.log", 2, 1.11)
        write_log(home + "/b/beta/one.log", 1, 1.12)
        write_log(home + "/b/gamma/one.log", 1, 1.13)
        for test in (test_theme, test_track, test_zone, test_escape,
                     test_groups, test_reload, test_database,
                     test_verdicts, test_welcome):
            test()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
