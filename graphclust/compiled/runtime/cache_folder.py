"""Where numba keeps compiled loops when it may write neither beside the package nor in the home folder.

Read-only containers are like that, and numba then refuses every loop that asks for a cache.
"""

import contextlib
import os
import pathlib
import stat
import tempfile

from numba import config, njit


def provide_cache_folder() -> None:
    """Let numba use a folder for temporary files if it finds no other; loops are compiled again when that is gone."""
    try:
        njit(cache=True)(_loop)
    except RuntimeError:
        config.CACHE_DIR = str(_private_folder())


def _loop() -> None:
    """Anything: numba looks for its folder when a loop is decorated."""


def _private_folder() -> pathlib.Path:
    """A folder that nobody else can write to: code that is loaded from it is run."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = pathlib.Path(tempfile.gettempdir(), f"graphclust-{user}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022:
        return folder
    return pathlib.Path(tempfile.mkdtemp(prefix="graphclust-"))
