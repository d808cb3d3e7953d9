#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random keys, mouse events, typed words, pastes, sizes and broken UTF-8 in a
real pseudo-terminal: with the demo, with hostile logs, and with a whole
hostile environment. The program must keep running, and every byte that it
sends to the terminal must be text or a known sequence.

HGYM_KEYS (10000): the number of events; HGYM_SEED (11): the same seed sends
the same events. HGYM_WALKS: names of the walks to run; default: all."""
import os
import random
import re
import select
import sys
import tempfile

SRC = os.environ.get("HGYM_SRC", ".")
TUI = os.path.abspath(os.environ.get("HGYM_TUI", "build/hgym-tui"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SRC, "tests", name)
                for name in ("screen", "support")]
from home import home_dirs  # noqa: E402
from hostile_world import World  # noqa: E402
from tap import finish, note, ok  # noqa: E402
from vt import HOSTILE, Program  # noqa: E402

KEYS = int(os.environ.get("HGYM_KEYS", "10000"))
SEED = int(os.environ.get("HGYM_SEED", "11"))
home = None

# Ctrl-c, Ctrl-z, q and Q end the program; x writes a file each time.
PLAIN = [chr(c) for c in range(32, 127) if chr(c) not in "qQx"]
KEYS_OF_CURSES = [
    "\r", "\t", "\x1b", "\x7f", "\x04", "\x15", "\x0c", "\x01", "\x05",
    "\x0b", "\x12", "\x17", "\x10", "\x0e", "\x1b[A", "\x1b[B", "\x1b[C",
    "\x1b[D", "\x1bOA", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[Z",
    "\x1bOP", "\x1b[20~", "\x1b[17~", "\x1b[3~", "\x1b[2~", "\x1b[99;99~",
    "\x1b[?2026;2$y", "\x1b[I", "\x1b[O", "\x1b[M !!", "\x1b[<", "日", "é"]
BROKEN = [b"\xff", b"\xc0\x80", b"\xe2\x28\xa1", b"\xf0\x9f", b"\xed\xa0\x80",
          b"\x80", b"\xc3", b"\x9b31m", b"\xef\xbf\xbf", b"\x00",
          b"\xf4\x90\x80\x80", b"\xe2\x80\xae"]


def mouse(rng):
    """One mouse event, or a complete drag."""
    def at():
        return rng.randrange(1, 121), rng.randrange(1, 41)
    kind = rng.randrange(4)
    if kind == 0:
        return "\x1b[<%d;%d;%dM" % ((rng.choice((64, 65)),) + at())
    if kind == 1:
        x, y = at()
        return "\x1b[<0;%d;%dM\x1b[<0;%d;%dm" % (x, y, x, y)
    if kind == 2:
        return "\x1b[<0;%d;%dM\x1b[<32;%d;%dM\x1b[<0;%d;%dm" % (
            at() + at() + at())
    return "\x1b[<%d;%d;%d%s" % (rng.randrange(256), rng.randrange(0, 3000),
                                 rng.randrange(0, 3000), rng.choice("Mm"))


def paste(rng):
    text = "".join(chr(rng.choice((9, 10, 13, 32, 65, 0x65E5, 0x301, 0x7F)))
                   for _ in range(rng.randrange(60)))
    return "\x1b[200~" + text + ("\x1b[201~" if rng.random() < 0.9 else "")


def typed(rng):
    """The key of an action that asks for text, and texts, often valid ones."""
    words = ("yes", "no", "0", "-1", "4294967296", "1e999", "nan", "%n%s", "(",
             "a & !b", "x=1,2,3", "[", "\\", "日本", "e\u0301", "z" * 200, "liar1",
             "loss", "local", "here", "b=true", "")
    return (rng.choice((":", "/", "&", "b", "a", "B", "$", "?", "t", "c")) +
            "".join(rng.choice(words) + rng.choice(("\r", "\t", " ", "\x1b[Z"))
                    for _ in range(rng.randrange(1, 6))) + "\r")


def event(rng):
    dice = rng.random()
    if dice < 0.05:
        keys = typed(rng)
    elif dice < 0.50:
        keys = rng.choice(PLAIN)
    elif dice < 0.60:
        # Close overlays as often as they are opened.
        keys = rng.choice(("\x1b", "\x1b", "\r"))
    elif dice < 0.80:
        keys = rng.choice(KEYS_OF_CURSES)
    elif dice < 0.92:
        keys = mouse(rng)
    elif dice < 0.95:
        keys = paste(rng)
    else:
        return rng.choice(BROKEN)
    return keys.encode()


def send(p, data):
    """Send data, and read output meanwhile: otherwise the test and the program
    could wait for each other forever."""
    while data and p.poll() is None:
        if select.select([], [p.fd], [], 0.01)[1]:
            try:
                data = data[os.write(p.fd, data):]
            except BlockingIOError:
                pass
            except OSError:
                return
        if not p.pump(0.001):
            return


def start(args, path=None):
    env = dict(home_dirs(home), SHELL="/bin/true",
               PATH=path or os.environ["PATH"],
               HGYM_TUI_CONFIG=os.path.join(home, "config.json"),
               ASAN_OPTIONS="detect_leaks=1:handle_abort=1:"
               "log_path=%s/san" % home,
               UBSAN_OPTIONS="print_stacktrace=1:log_path=%s/san" % home)
    p = Program([TUI] + args, 120, 40, env, home)
    os.set_blocking(p.fd, False)
    return p


def reports():
    text = ""
    for name in sorted(os.listdir(home)):
        if name.startswith("san."):
            with open(os.path.join(home, name), errors="replace") as report:
                text += report.read()
    return text


def leave(p):
    """Leave every overlay and end the program. Returns the exit status."""
    for keys in (b"\x1b[201~", b"\x1b", b"\x1b", b"\x1b", b"\x03"):
        send(p, keys)
        p.pump(0.2)
    return p.end()


def check_stream(p, stray, osc, modes):
    stray += p.screen.stray
    osc += p.screen.osc
    modes |= p.screen.ever_modes


def walk(name, args, n, seed, world=None):
    rng = random.Random(seed)
    stray, osc, modes, starts, statuses = [], [], set(), 1, []
    path = world and world.path
    p = start(args, path)
    p.wait_for("pods")
    played = 0
    while played < n:
        burst = rng.choice((1, 5, 10, 20))
        send(p, b"".join(event(rng) for _ in range(burst)))
        played += burst
        if world and rng.random() < 0.5:
            world.go_on()
        if rng.random() < 0.04:
            p.resize(rng.randrange(1, 220), rng.randrange(1, 70))
        elif rng.random() < 0.04:
            p.resize(120, 40)
        p.pump(0.005)
        if p.poll() is not None:
            # The help and the palette may run the action that ends the
            # program.
            statuses.append(p.poll())
            check_stream(p, stray, osc, modes)
            p.close()
            if statuses[-1] != 0 or starts > n // 10:
                break
            starts += 1
            p = start(args, path)
            p.wait_for("pods")
    if p.poll() is None:
        statuses.append(leave(p))
        check_stream(p, stray, osc, modes)
        ok(not p.screen.alternate and p.screen.cursor and
           not {b"1000", b"1002", b"1006", b"2004"} & p.screen.modes,
           name + ": the terminal has its old modes afterwards", p.screen.modes)
        p.close()
    ok(played >= n and set(statuses) == {0},
       "%s: %d random events in the terminal" % (name, played),
       "%s\n%s" % (statuses, reports()))
    ok(not stray, name + ": no stray byte", stray[:8])
    asked = re.compile(rb"52;c;[A-Za-z0-9+/=]*$|9;|777;notify;|[02];|104$")
    odd = [o for o in osc if not asked.match(o)]
    ok(not odd, name + ": no unknown sequence", odd[:8])
    ok(modes <= {b"1", b"7", b"12", b"25", b"1000", b"1002", b"1006",
                 b"1049", b"2004", b"2026", b"2026$"},
       name + ": no unknown mode", modes)
    ok(not reports(), name + ": no report of a sanitizer", reports())


def walk_demo():
    walk("demo", ["demo", "--speed", "50"], KEYS // 5, SEED)


def walk_logs():
    evil = os.path.join(home, "evil\x1b]0;dir\x07$(id)")
    os.makedirs(evil)
    for i in range(3):
        with open("%s/a\x1b[31m%d.log" % (evil, i), "wb") as log:
            log.write(HOSTILE * 50)
    walk("hostile logs", [os.path.join(evil, "*")], KEYS // 5, SEED + 1)


def walk_world():
    world = World(home, SEED + 2, TUI, home_dirs(home))
    walk("hostile world", [], KEYS - 2 * (KEYS // 5), SEED + 2, world)
    world.end()


WALKS = {"demo": walk_demo, "logs": walk_logs, "world": walk_world}


def main():
    global home
    note("HGYM_SEED=%d HGYM_KEYS=%d" % (SEED, KEYS))
    for name in os.environ.get("HGYM_WALKS", "").split() or WALKS:
        with tempfile.TemporaryDirectory(
                ignore_cleanup_errors=True) as home:
            with open(os.path.join(home, "config.json"), "w") as conf:
                conf.write('{"ui": {"theme": "light"}}')
            WALKS[name]()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
