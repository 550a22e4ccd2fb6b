"""Where compiled loops are kept, where they are read only, and which folders are trusted.

A process keeps loops where numba does: in NUMBA_CACHE_DIR, beside the package or in the user's folder for caches, and
where it may write to none of these in a private folder for temporary files. And it reads them where it cannot write:

- in the folder that GRAPHCLUST_LOOPS names, which `graphclust compile --into` has filled,
- in the package's own, `graphclust/compiled/cache`, which a wheel may carry,
- beside the package, where another user has compiled them.

Loops are code that is run, so none are taken from a folder that somebody else could have written.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import stat
import sys
import tempfile

from graphclust.compiled.runtime.fingerprint import fingerprint

VARIABLE, NUMBAS = "GRAPHCLUST_LOOPS", "NUMBA_CACHE_DIR"
PACKAGE = pathlib.Path(__file__).parents[2]
CARRIED = PACKAGE / "compiled" / "cache"


class _Override:
    """The folder where `compile_ahead` keeps loops; while it is set, loops are read from there alone."""

    into: str | None = None


def keep_in(root: str | None) -> None:
    """From now on loops are kept under this folder and read from it alone; None for the usual folders."""
    _Override.into = root


def override_folder(file: str) -> str | None:
    """The folder of a source file's loops under the one that `keep_in` set, if any."""
    return None if _Override.into is None else _folder_under(_Override.into, file)


def folders_to_read(file: str) -> list[tuple[str, str]]:
    """Folders in which loops of a source file may be, beside the one where they are kept: (root, folder) of each."""
    if _Override.into is not None or not pathlib.Path(file).is_relative_to(PACKAGE):
        return []
    named = os.environ.get(VARIABLE)
    roots = [root for root in (named and os.path.abspath(named), str(CARRIED)) if root and os.path.isdir(root)]
    found = [(root, _folder_under(root, file)) for root in roots]
    if not os.environ.get(NUMBAS):
        beside = str(pathlib.Path(file).parent / "__pycache__")
        found.append((beside, beside))
    return found


def folders_of_user() -> list[pathlib.Path]:
    """Folders in which numba may keep loops of this user, in folders of theirs, outside the package."""
    if os.environ.get(NUMBAS):
        return [pathlib.Path(os.environ[NUMBAS])]
    home = pathlib.Path("~").expanduser()
    caches = home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    folders = [pathlib.Path(os.environ.get("XDG_CACHE_HOME") or caches, "numba")]
    with contextlib.suppress(OSError):
        folders.append(pathlib.Path(tempfile.gettempdir(), f"graphclust-{_user()}"))
    return folders


def _folder_under(root: str, file: str) -> str:
    """Loops of several versions share a folder: those of one are in a folder named by their fingerprint."""
    room = pathlib.Path(file).parent.relative_to(PACKAGE / "compiled")
    return os.path.join(root, fingerprint(), str(room))


def provide_cache_folder() -> None:
    """Let numba use a folder for temporary files if it finds no other; loops are compiled again when that is gone.

    Where there is no such folder either, nothing is kept.
    """
    from numba import config, njit

    try:
        njit(cache=True)(_loop)
    except RuntimeError:
        with contextlib.suppress(OSError):
            config.CACHE_DIR = private_folder()


def _loop() -> None:
    """Anything: numba looks for its folder when a loop is decorated."""


def fault_of_cache(path: str, root: str | None = None) -> str | None:
    """Why loops must not be loaded from this folder: others can write to it, or to one that it is in.

    root : the uppermost folder that is asked for; by default the one that this one is in. Beside the sources only the
    folder itself counts: who can write to those needs no loops.
    """
    if not hasattr(os, "getuid"):
        return None
    beside_sources = path.startswith(str(PACKAGE) + os.sep)
    trusted = {os.getuid(), 0, os.stat(str(PACKAGE)).st_uid}
    for folder in (path,) if beside_sources else _folders(root or os.path.dirname(path), path):
        try:
            found = os.stat(folder)
        except OSError:
            continue
        if found.st_mode & stat.S_IWOTH:
            return f"{folder}, to which every user can write"
        if not beside_sources and found.st_uid not in trusted:
            return f"{folder}, which belongs to another user"
        if not beside_sources and found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid, found.st_uid):
            return f"{folder}, to which a group of users can write"
    return None


def _folders(root: str, path: str) -> list[str]:
    """The folders from the root to the path."""
    found = [path]
    while len(found[-1]) > len(root) and os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found[::-1]


def _is_private(group: int, user: int) -> bool:
    """Whether a group is that of one user alone, as many systems make one for each."""
    import grp
    import pwd

    try:
        name, entry = pwd.getpwuid(user).pw_name, grp.getgrgid(group)
    except KeyError:  # of a container, without names
        return False
    return entry.gr_name == name and set(entry.gr_mem) <= {name}


@functools.cache
def private_folder() -> str:
    """A folder that nobody else can write to: code that is loaded from it is run."""
    user = _user()
    folder = pathlib.Path(tempfile.gettempdir(), f"graphclust-{user}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022:
        return str(folder)
    return tempfile.mkdtemp(prefix="graphclust-")


def _user() -> int | str:
    return os.getuid() if hasattr(os, "getuid") else "user"
