# SPDX-License-Identifier: MIT
"""TAP for tests in Python, like tests/support/tap.h for C: one line per check,
and the plan at the end."""
import os
import re
import sys
import threading

# If python3 is a wrapper script, each child process pays for running it.
os.environ["PATH"] = "%s:%s" % (os.path.dirname(sys.executable),
                                os.environ.get("PATH", ""))
# Programs do not use a temporary folder whose name has blanks or quotes, and the
# path of a socket must be short.
if re.search(r"[^\w./-]|.{12}", os.environ.get("TMPDIR", "")):
    os.environ["TMPDIR"] = "/tmp"
if os.environ.get("TMPDIR", "") in ("", "/tmp"):  # Python would take these next
    os.environ.pop("TEMP", None)
    os.environ.pop("TMP", None)
# Some logs and pictures are for other users.
os.umask(0o022)
_count = _failed = 0
_lock = threading.RLock()


def note(text):
    """Print a diagnostic; none of its lines is read as a check."""
    for line in str(text).splitlines():
        print("# " + line, flush=True)


def ok(passed, name, got=None):
    """Report one check, with the actual value if it failed.  True: it passed."""
    global _count, _failed
    with _lock:
        _count += 1
        _failed += not passed
        print("%sok %d - %s" % ("" if passed else "not ", _count, name),
              flush=True)
        if not passed and got is not None:
            if isinstance(got, bytes):
                got = got.decode("utf-8", "backslashreplace")
            note((got if isinstance(got, str) else repr(got))[-6000:])
    return bool(passed)


def skip(name, why):
    """Report a check that cannot run on this machine."""
    ok(True, "%s # SKIP %s" % (name, why))


def skip_all(why):
    """Skip all checks; returns the exit status."""
    print("1..0 # SKIP " + why, flush=True)
    return 0


def failed():
    """The number of failed checks."""
    return _failed


def finish():
    """Print the plan after the last check; returns the exit status."""
    print("1..%d" % _count, flush=True)
    return int(_failed > 0)
