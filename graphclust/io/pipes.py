"""Pipes, terminals and their like, which are read or written once: no file can take their place."""

import os
import stat


def is_pipe(path: str | os.PathLike) -> bool:
    """Whether a pipe, a terminal or another device of characters such as /dev/null has this name."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def is_open_file(path: str | os.PathLike) -> bool:
    """Whether a name such as /dev/stdout stands for a file that this process was given open."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(os.fsdecode(path))))
    return os.path.isfile(path) and (folder == "/dev" or folder.startswith("/proc/"))
