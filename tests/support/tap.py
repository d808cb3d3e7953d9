# SPDX-License-Identifier: MIT
"""TAP of the tests in Python, as tests/support/tap.h is of those in C: a line
a check, and the plan at the end."""
import os
import sys
import threading

# Where python3 is a script that looks for one, each child pays for that.
os.environ["PATH"] = "%s:%s" % (os.path.dirname(sys.executable),
                                os.environ.get("PATH", ""))
_count = _failed = 0
_lock = threading.RLock()


def note(text):
    """Say it beside the checks; no line of it is taken for one."""
    for line in str(text).splitlines():
        print("# " + line, flush=True)


def ok(passed, name, got=None):
    """One check; what was got is told when it is wrong.  True: it passed."""
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
    """A check that cannot be made here."""
    ok(True, "%s # SKIP %s" % (name, why))


def skip_all(why):
    """Instead of all checks; the exit status."""
    print("1..0 # SKIP " + why, flush=True)
    return 0


def failed():
    """How many checks have failed so far."""
    return _failed


def finish():
    """The plan, behind the last check; the exit status."""
    print("1..%d" % _count, flush=True)
    return int(_failed > 0)
