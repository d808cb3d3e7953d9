# SPDX-License-Identifier: MIT
"""A separate home directory for a program started by a test: it finds no files
or settings of the user, and its own files are in one directory."""
import os

SETTINGS = ("HGYM_TUI_", "HARNESSGYM_")


def home_dirs(top):
    """The variables that name home directories, all below the directory top,
    and an editor that exits at once."""
    dirs = {"XDG_%s_HOME" % name.upper(): os.path.join(top, name)
            for name in ("config", "data", "state", "cache")}
    return dict(dirs, HOME=top, TMPDIR=top, VISUAL="true")


def home_env(top, **more):
    """This process's environment with such a home, and additional variables."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(SETTINGS)}
    env.update(home_dirs(top))
    env.update(more)
    return env
