"""Where numba keeps compiled loops when it may write neither beside the package nor in the home folder.

Read-only containers are like that, and numba then refuses every loop that asks for a cache. Nor are loops kept where
other users could put files of theirs.
"""

import contextlib
import functools
import os
import pathlib
import stat
import tempfile

from numba import config, njit

_PACKAGE = str(pathlib.Path(__file__).parents[2])


def provide_cache_folder() -> None:
    """Let numba use a folder for temporary files if it finds no other; loops are compiled again when that is gone.

    Where there is no such folder either, nothing is kept.
    """
    try:
        njit(cache=True)(_loop)
    except RuntimeError:
        with contextlib.suppress(OSError):
            config.CACHE_DIR = private_folder()


def _loop() -> None:
    """Anything: numba looks for its folder when a loop is decorated."""


def fault_of_cache(path: str) -> str | None:
    """Why loops must not be loaded from this folder: others can write to it, or to the one that it is in.

    Beside the sources only the folder itself counts: who can write to those needs no loops.
    """
    if not hasattr(os, "getuid"):
        return None
    beside_sources = path.startswith(_PACKAGE + os.sep)
    trusted = {os.getuid(), 0, os.stat(_PACKAGE).st_uid}
    for folder in (path,) if beside_sources else (os.path.dirname(path), path):
        try:
            found = os.stat(folder)
        except OSError:
            continue
        if found.st_mode & stat.S_IWOTH:
            return f"{folder}, to which every user can write"
        if not beside_sources and found.st_uid not in trusted:
            return f"{folder}, which belongs to another user"
    return None


@functools.cache
def private_folder() -> str:
    """A folder that nobody else can write to: code that is loaded from it is run."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = pathlib.Path(tempfile.gettempdir(), f"graphclust-{user}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022:
        return str(folder)
    return tempfile.mkdtemp(prefix="graphclust-")
