"""The folder where a conversion makes the parts of a store: kept from other processes and other users.

It stays behind where a conversion is killed, so that the next one can go on. What another user has put in its place, or
a link to somewhere else, is refused, since files in it are overwritten.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from graphclust.errors import ParameterError
from graphclust.io.temporaries import name_of_partial, remove_abandoned

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK, NOTES = "lock", "state.json"
_PARTS = re.compile(r"lock|lines|store|state\.json(\.new)?|(keys|weights)-\d+")


@contextmanager
def partial_folder(target: str) -> Iterator[str]:
    """The folder for the parts of a store, new or as a conversion left it, held for this process alone.

    It is removed at the end unless it holds notes to go on from.
    """
    remove_abandoned(os.path.dirname(target), target)
    folder = name_of_partial(target)
    handle: int | None = None
    try:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            _check_own(folder)
        handle = _lock(folder)
        if handle is None:
            raise ParameterError(f"{folder} is being written by another process; wait for it")
        yield folder
    finally:
        if handle is not None:
            if not os.path.exists(os.path.join(folder, NOTES)):
                shutil.rmtree(folder, ignore_errors=True)
            os.close(handle)


def remove_partial(target: str) -> None:
    """Remove what a dead conversion to this target left, before something else is written there."""
    folder = name_of_partial(target)
    with suppress(OSError, ParameterError):
        if all(_PARTS.fullmatch(name) for name in os.listdir(folder)):
            with partial_folder(target):
                forget(folder)


def forget(folder: str) -> None:
    """Remove the notes of a conversion: nobody goes on from there."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, NOTES))


def _check_own(folder: str) -> None:
    """Refuse a folder that is a link, or holds one, or belongs to another user, or that others can write to."""
    facts = os.lstat(folder)
    links = [entry.path for entry in os.scandir(folder) if entry.is_symlink()] if stat.S_ISDIR(facts.st_mode) else []
    if not stat.S_ISDIR(facts.st_mode):
        what = "is not a folder"
    elif hasattr(os, "geteuid") and facts.st_uid != os.geteuid():
        what = "belongs to another user"
    elif hasattr(os, "geteuid") and facts.st_mode & 0o022:
        what = "can be written to by other users"
    elif links:
        what = f"holds a link, {links[0]}"
    else:
        return
    remedy = "remove it if nobody converts there, or choose another target"
    raise ParameterError(f"{folder}, where the parts of the store are made, {what}; {remedy}")


def _lock(folder: str) -> int | None:
    """The handle of the lock of a folder, made where it is missing; None where another process has it."""
    path = os.path.join(folder, LOCK)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    if fcntl is None:
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:  # a file system without locks
        return handle
    if os.path.exists(path) and os.path.samestat(os.fstat(handle), os.stat(path)):
        return handle
    os.close(handle)  # its owner has finished meanwhile, and removed the folder
    return None
