# SPDX-License-Identifier: MIT
"""A small terminal emulator: the screen that the program's bytes produce, and
every byte that is neither text nor a known sequence."""
import codecs
import errno
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../support"))
from home import SETTINGS  # noqa: E402
from tap import note  # noqa: E402
from wait import PATIENCE_S, wait_limit_s, waited_in_vain  # noqa: E402

CSI = re.compile(rb"\x1b\[([0-9;?$]*)([@-~])")
CANCELLED = re.compile(rb"\x1b([()]?|[\[\]P][^\x07\x18\x1b]*)\x18")
OSC = re.compile(rb"\x1b\]([^\x07\x1b]*)(\x07|\x1b\\)")
# The starts of sixel and kitty pictures, which charts use.
PICTURE = re.compile(rb"\x1b(?:P0;1q|_G)([ -~]*)\x1b\\")
PICTURES = (b"\x1bP0;1q", b"\x1b_G")


def states_of(pid, group, is_first=False):
    """The states of all threads of a process and of its children. Processes
    outside the process group are left out, except the first one (is_first)."""
    states = []
    try:
        tasks = os.listdir("/proc/%d/task" % pid)
    except OSError:
        return states
    for task in tasks:
        try:
            with open("/proc/%d/task/%s/stat" % (pid, task)) as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            if is_first or int(fields[2]) == group:
                states.append(fields[0])
            with open("/proc/%d/task/%s/children" % (pid, task)) as children:
                for child in children.read().split():
                    states += states_of(int(child), group)
        except (OSError, IndexError):
            pass
    return states


# The look of a cell: color (None: the terminal's default), bold, reverse, dim.
PLAIN = (None, False, False, False)
BLANK = (" ", PLAIN)


def change_look(look, params):
    colour, bold, reverse, dim = look
    i = 0
    while i < len(params):
        p = params[i]
        if p == 0:
            colour, bold, reverse, dim = PLAIN
        elif p in (1, 2, 7):
            bold, dim, reverse = bold or p == 1, dim or p == 2, \
                reverse or p == 7
        elif p == 22:
            bold = dim = False
        elif p == 27:
            reverse = False
        elif 30 <= p <= 37 or 90 <= p <= 97:
            colour = p - 30 if p < 40 else p - 82
        elif p == 39:
            colour = None
        elif p == 38 and params[i + 1:i + 2] == [5]:
            colour = params[i + 2]
            i += 2
        i += 1
    return colour, bold, reverse, dim


# A terminal type with 16 colors: not every system has one.
SIXTEEN = r"""xterm-of-16|a terminal of 16 colours,
	colors#16, pairs#256,
	setaf=\E[%?%p1%{8}%<%t%p1%{30}%+%e%p1%{82}%+%;%dm,
	setab=\E[%?%p1%{8}%<%t%p1%{40}%+%e%p1%{92}%+%;%dm,
	use=xterm-256color,
"""

# Lines of a log with control characters and escape sequences.
HOSTILE = (
    b"step:1/100 train_loss:5.0 train_time:100ms step_avg:100.00ms\n"
    b"\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[2J\x1b[31mred\x1b[0m\n"
    b"\x9b31m\x9d0;c1\x9c \xc2\x9b5n \xff\xfe\xc0\x80 bad utf-8\n"
    b"a\x00b\x08c\x7fd\x0e\x0f\x05 controls\n"
    b"\xe2\x80\xae evil \xe2\x81\xa6 bidi \xe2\x80\x8b zero\n"
    b"progress 1%\rprogress 50%\rprogress 100%\n"
    b"\x1bP+q544e\x1b\\\x1b_apc\x1b\\ dcs\n" + b"x" * 300000 + b"\n"
    b"%s%n $(touch /tmp/owned) `id` ; rm -rf ~\n"
    b"step:2/100 train_loss:4.9 train_time:200ms step_avg:100.00ms\n")


class Screen:
    def __init__(self, width, height):
        self.pending = b""
        self.utf8 = codecs.getincrementaldecoder("utf-8")("strict")
        # Unknown bytes in the program's screen (stray), and in the shell's
        # screen, which echoes keys (outside).
        self.stray, self.outside, self.osc, self.sgr = [], [], [], set()
        # Pictures, and questions about the terminal.
        self.pictures, self.questions = [], []
        self.alternate = self.cursor = self.paste = self.sync = False
        self.asked = False  # a question about synchronized output is open
        self.frames, self.is_frame_last = 0, False
        self.on_frame = lambda: None
        self.ever_cleared = 0
        self.modes, self.ever_modes = set(), set()
        self.look = PLAIN
        self.saved = 0, 0, PLAIN
        self.resize(width, height)

    def resize(self, width, height):
        self.w, self.h, self.x, self.y = width, height, 0, 0
        self.top, self.bottom = 0, height - 1
        self.cells = [[BLANK] * width for _ in range(height)]

    def complain(self, data):
        (self.stray if self.alternate else self.outside).append(data)

    def text(self):
        return "\n".join("".join(c for c, _ in row).rstrip()
                         for row in self.cells) + "\n"

    def scroll(self, n):
        for _ in range(n):
            self.cells.pop(self.top)
            self.cells.insert(self.bottom, [BLANK] * self.w)

    def scroll_down(self, n):
        for _ in range(n):
            self.cells.pop(self.bottom)
            self.cells.insert(self.top, [BLANK] * self.w)

    def put(self, char):
        if unicodedata.category(char) == "Cf":
            self.complain(char.encode())
        if unicodedata.combining(char):
            return
        wide = unicodedata.east_asian_width(char) in "WF"
        if self.x + wide >= self.w + 0 and self.x >= self.w:
            self.x = 0
            self.line_feed()
        self.cells[self.y][self.x] = (char, self.look)
        self.last = char
        if wide and self.x + 1 < self.w:
            self.cells[self.y][self.x + 1] = ("", self.look)
        self.x = min(self.x + 1 + wide, self.w)

    def line_feed(self):
        if self.y == self.bottom:
            self.scroll(1)
        elif self.y < self.h - 1:
            self.y += 1

    def csi(self, params, final):
        if params.startswith(b"?"):
            on = final == b"h"
            for mode in params[1:].split(b";"):
                (self.modes.add if on else self.modes.discard)(mode)
                self.ever_modes.add(mode)
                if mode == b"1049":
                    self.alternate = on
                elif mode == b"25":
                    self.cursor = on
                elif mode == b"2004":
                    self.paste = on
                elif mode == b"2026":
                    self.sync = on
                elif mode == b"2026$":
                    self.asked = True
            return
        if final in b"ct":
            self.questions.append(params + final)
        n = [int(p) if p.isdigit() else 0 for p in params.split(b";")]
        one = n[0] or 1
        row = self.cells[self.y]
        x = min(self.x, self.w - 1)
        if final == b"H":
            self.y = min(one, self.h) - 1
            self.x = min(n[1] if len(n) > 1 and n[1] else 1, self.w) - 1
        elif final == b"A":
            self.y = max(self.y - one, 0)
        elif final == b"B":
            self.y = min(self.y + one, self.h - 1)
        elif final == b"C":
            self.x = min(self.x + one, self.w - 1)
        elif final == b"D":
            self.x = max(self.x - one, 0)
        elif final == b"G":
            self.x = min(one, self.w) - 1
        elif final == b"d":
            self.y = min(one, self.h) - 1
        elif final == b"J":
            if n[0] == 2:
                self.ever_cleared += 1
                self.cells = [[BLANK] * self.w for _ in range(self.h)]
            else:
                row[x:] = [BLANK] * (self.w - x)
                for y in range(self.y + 1, self.h):
                    self.cells[y] = [BLANK] * self.w
        elif final == b"K":
            if n[0] == 1:
                row[:x + 1] = [BLANK] * (x + 1)
            else:
                row[x:] = [BLANK] * (self.w - x)
        elif final == b"X":
            row[x:x + one] = [BLANK] * min(one, self.w - x)
        elif final == b"P":
            self.cells[self.y] = (row[:x] + row[x + one:] +
                                  [BLANK] * one)[:self.w]
        elif final == b"@":
            self.cells[self.y] = (row[:x] + [BLANK] * one + row[x:])[:self.w]
        elif final == b"L":
            keep, self.top = self.top, self.y
            self.scroll_down(one)
            self.top = keep
        elif final == b"M":
            keep, self.top = self.top, self.y
            self.scroll(one)
            self.top = keep
        elif final == b"S":
            self.scroll(one)
        elif final == b"T":
            self.scroll_down(one)
        elif final == b"r":
            self.top = one - 1
            # The program may have sent this before it knew of a smaller size.
            self.bottom = min(n[1] if len(n) > 1 and n[1] else self.h,
                              self.h) - 1
            self.top = min(self.top, self.bottom)
            self.x = self.y = 0
        elif final == b"b":
            for _ in range(one):
                self.put(self.last)
        elif final == b"m":
            self.sgr.add(params)
            self.look = change_look(self.look, n)
        elif final not in b"hltpcn":
            self.complain(b"\x1b[" + params + final)

    def escape(self, data, i):
        """The index after the sequence at i, or None if it is incomplete."""
        m = CANCELLED.match(data, i)
        if m:
            return m.end()
        m = CSI.match(data, i)
        if m:
            self.csi(m.group(1), m.group(2))
            return m.end()
        m = OSC.match(data, i)
        if m:
            self.osc.append(m.group(1))
            return m.end()
        m = PICTURE.match(data, i)
        if m:
            self.pictures.append(m.group(0))
            return m.end()
        if any(b.startswith(data[i:i + len(b)]) for b in PICTURES) and \
                len(data) - i < 1 << 22:
            return None
        two = data[i:i + 2]
        if len(two) < 2 or two in (b"\x1b[", b"\x1b]"):
            # Only a copy to the clipboard may be long.
            most = 200000 if two == b"\x1b]" else 200
            return None if len(data) - i < most else self.odd(data, i)
        if two in (b"\x1b(", b"\x1b)"):
            return i + 3 if len(data) >= i + 3 else None
        if two == b"\x1bM":
            if self.y == self.top:
                self.scroll_down(1)
            else:
                self.y -= 1
        elif two == b"\x1b7":
            self.saved = self.x, self.y, self.look
        elif two == b"\x1b8":
            self.x, self.y, self.look = self.saved
            self.y = min(self.y, self.h - 1)
        elif two not in (b"\x1b=", b"\x1b>"):
            self.complain(two)
        return i + 2

    def odd(self, data, i):
        self.complain(data[i:i + 20])
        return i + 1

    def feed(self, data):
        """Handle bytes; on_frame is called at the end of each frame."""
        data = self.pending + data
        self.pending = b""
        self.is_frame_last = False
        i = 0
        while i < len(data):
            byte = data[i]
            if byte < 0x20 and self.utf8.getstate()[0]:
                # Before a CAN, a character is cut off on purpose.
                if byte != 0x18:
                    self.complain(self.utf8.getstate()[0])
                self.utf8.reset()
            if byte == 0x1B:
                was_in_frame = self.sync
                j = self.escape(data, i)
                if j is None:
                    self.pending = data[i:]
                    return
                i = j
                if was_in_frame and not self.sync:
                    self.frames += 1
                    self.is_frame_last = i == len(data)
                    self.on_frame()
                continue
            i += 1
            if byte == 0x0D:
                self.x = 0
            elif byte == 0x0A:
                self.line_feed()
            elif byte == 0x08:
                self.x = max(self.x - 1, 0)
            elif byte == 0x09:
                self.x = min((self.x // 8 + 1) * 8, self.w - 1)
            elif byte in (0x07, 0x0E, 0x0F, 0x18, 0x00):
                pass
            elif byte < 0x20 or byte == 0x7F:
                self.complain(bytes([byte]))
            else:
                try:
                    for char in self.utf8.decode(bytes([byte])):
                        if 0x80 <= ord(char) < 0xA0:
                            self.complain(char.encode())
                        else:
                            self.put(char)
                except UnicodeDecodeError:
                    self.complain(bytes([byte]))
                    self.utf8.reset()


def has_asan(program):
    """Was the program compiled with a sanitizer, which reports a crash
    itself?"""
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


class Program:
    """A program in a separate pseudo-terminal, and its screen.

    The terminal reports that it has synchronized output (mode 2026), so the
    bytes between two marks are one frame, and no check sees half of a frame."""

    def __init__(self, argv, width=80, height=24, env=None, cwd=None,
                 answers=True):
        self.screen = Screen(width, height)
        self.screen.on_frame = self.look
        self.answers = answers
        self.bytes = 0
        self.wanted, self.is_met = None, False
        environ = {k: v for k, v in os.environ.items()
                   if k not in ("NO_COLOR", "TMUX", "SSH_TTY",
                                "SSH_CONNECTION", "LC_ALL", "LANG") and
                   not k.startswith(SETTINGS)}
        environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
                        "TZ": "UTC"})
        environ.update(env or {})
        self.fd, tty = os.openpty()
        fcntl.ioctl(tty, termios.TIOCSWINSZ,
                    struct.pack("HHHH", height, width, 0, 0))
        # The modes before the program could change them.
        self.before = termios.tcgetattr(tty)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                fcntl.ioctl(tty, termios.TIOCSCTTY, 0)
                for fd in range(3):
                    os.dup2(tty, fd)
                if cwd:
                    os.chdir(cwd)
                os.execve(argv[0], argv, environ)
            finally:
                os._exit(127)
        os.close(tty)
        self.status = None

    def take(self):
        """Read what is available; False if no more can come."""
        try:
            data = os.read(self.fd, 65536)
        except OSError as e:
            if e.errno != errno.EIO:
                raise
            return False
        if not data:
            return False
        self.bytes += len(data)
        self.screen.feed(data)
        if self.screen.asked:
            self.screen.asked = False
            if self.answers:
                self.send(b"\x1b[?2026;2$y")
        return True

    def pump(self, seconds):
        """Read output for this number of seconds; False if the program has
        ended."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return True
            if not select.select([self.fd], [], [], left)[0]:
                return True
            if not self.take():
                return False

    def drain(self, quiet=0):
        """Read all available output, however long that takes."""
        while select.select([self.fd], [], [], quiet)[0]:
            if not self.take():
                return False
        return True

    def is_idle(self):
        """Do all threads of the foreground processes sleep? They do not if one
        is stopped, or waits for a processor."""
        try:
            group = os.tcgetpgrp(self.fd)
        except OSError:
            return True
        return all(state in "SZX" for state in
                   states_of(self.pid, group, True))

    def is_whole(self):
        """Does the screen show a complete frame?"""
        s = self.screen
        return not s.sync and (s.is_frame_last or
                               (self.is_idle() and not select.select(
                                   [self.fd], [], [], 0.01)[0] and
                                self.is_idle()))

    def look(self):
        """Check each frame, because a text may be shown only briefly."""
        if self.wanted and not self.is_met:
            self.is_met = bool(self.wanted())

    def until(self, check, seconds=PATIENCE_S, what=""):
        """Wait until check() is true; it is also called for every complete
        frame."""
        seconds = wait_limit_s(seconds)
        end = time.monotonic() + seconds
        self.wanted, self.is_met = check, False
        alive = True
        try:
            while True:
                if self.is_met or (self.is_whole() and check()):
                    return True
                if not alive or time.monotonic() > end:
                    break
                if select.select([self.fd], [], [], 0.05)[0]:
                    alive = self.take()
        finally:
            self.wanted = None
        waited_in_vain(seconds)
        note("waited %d s for %s; alive: %s, exit status: %s, asleep: %s, "
             "bytes: %d\n%s" % (seconds, what or "a state of the screen",
                                alive, self.poll(), self.is_idle(),
                                self.bytes, self.screen.text()))
        return False

    def wait_for(self, text, seconds=PATIENCE_S):
        """Wait until a frame shows the text, or all of several texts at
        once."""
        texts = (text,) if isinstance(text, str) else text

        def shown():
            now = self.screen.text()
            return all(t in now for t in texts)
        return self.until(shown, seconds, repr(text))

    def wait_gone(self, text, seconds=PATIENCE_S):
        """Wait until no part of the screen is that text."""
        return self.until(lambda: text not in self.screen.text(), seconds,
                          "no %r" % text)

    def at_shell(self, prompt="shell>"):
        """Wait until the program, which is a shell, shows its prompt."""
        def prompted():
            row = self.screen.cells[self.screen.y]
            return os.tcgetpgrp(self.fd) == self.pid and \
                "".join(char for char, _ in row).startswith(prompt)
        return self.until(prompted, what="the shell")

    def settle(self, quiet=0.4, seconds=PATIENCE_S):
        """Wait until no output has arrived for `quiet` seconds. Time in which
        the program waits for a processor does not count."""
        end = time.monotonic() + seconds
        count = 0
        while count * 0.05 < quiet and time.monotonic() < end:
            before = self.bytes
            if not self.pump(0.05):
                return
            if self.bytes != before or self.screen.sync:
                count = 0
            elif self.is_idle():
                count += 1

    def send(self, keys):
        data = keys if isinstance(keys, bytes) else keys.encode()
        while data:
            data = data[os.write(self.fd, data):]

    def resize(self, width, height):
        self.screen.resize(width, height)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", height, width, 0, 0))

    def poll(self):
        """The exit status (negative: the signal); None while it runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def end(self, seconds=PATIENCE_S):
        limit = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < limit:
            if not self.pump(0.05):
                time.sleep(0.01)
        if self.poll() is None:
            note("the program did not end in %d s; asleep: %s, bytes: %d\n%s" % (
                seconds, self.is_idle(), self.bytes, self.screen.text()))
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.status = "hung"
        self.drain()  # its last output
        return self.status

    def close(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.status = "killed"
        os.close(self.fd)
