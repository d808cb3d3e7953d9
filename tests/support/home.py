# SPDX-License-Identifier: MIT
"""A home of its own for a program that a test starts: it finds no file and no
setting of whoever runs the test, and what it writes lies in one folder."""
import os

SETTINGS = ("HGYM_TUI_", "HARNESSGYM_")


def home_dirs(top):
    """The variables that name a home, all of them below the folder top."""
    dirs = {"XDG_%s_HOME" % name.upper(): os.path.join(top, name)
            for name in ("config", "data", "state", "cache")}
    return dict(dirs, HOME=top, TMPDIR=top)


def home_env(top, **more):
    """This process's environment with such a home, and more set in it."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(SETTINGS)}
    env.update(home_dirs(top))
    env.update(more)
    return env
