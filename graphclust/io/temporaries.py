"""Temporaries beside the file or folder that is being written: their names, their locks, and their removal.

A writer holds a lock (flock) on its temporary; the system releases the lock when the process ends, however it ends.
Another writer that gets the lock knows that the first one is dead, and removes its temporary.
Without locks (Windows, some network file systems) nothing is removed, since a writer may live. Names of temporaries are
short, whatever the target is called.

The folder where a conversion makes the parts of a store stays behind where it is killed, so that the next one can go
on. What another user has put in its place, or a link to elsewhere, is refused, since files in it are overwritten.
"""

import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from graphclust.errors import ParameterError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK, NOTES = "lock", "state.json"
_PARTS = re.compile(r"lock|lines|store|state\.json(\.new)?|(keys|weights)-\d+")
PREFIX = ".graphclust-"
PARTIAL = ".partial"
LONGEST_NAME = 255  # bytes
MOST_TRIALS = 100  # to lock a folder that others replace
_FILE = re.compile(re.escape(PREFIX) + r"[0-9a-z_]{8}")
_FOLDER = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}-new-[0-9a-f]{8}")
_LINKS_REFUSED = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)  # of Windows
_RENAME_EXCHANGE, _AT_FDCWD = 2, -100  # of Linux


def check_length(path: str) -> None:
    """Raise OSError for a name that is longer than the file system allows, before any work is done."""
    with suppress(FileNotFoundError):
        os.lstat(path)


@contextmanager
def temporary_file(folder: str) -> Iterator[tuple[int, str]]:
    """A new file in a folder, open for writing: its handle and its path. It is removed unless it was renamed."""
    remove_abandoned(folder)
    path, handle = "", -1
    try:
        while handle < 0:
            path = os.path.join(folder, PREFIX + secrets.token_hex(4))
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
            _lock(handle)
            if not os.path.lexists(path):  # another writer took it for abandoned before it was locked
                os.close(handle)
                handle = -1
        yield handle, path
    finally:
        with suppress(OSError):
            os.unlink(path)
        if handle >= 0:
            os.close(handle)


@contextmanager
def temporary_folder(target: str) -> Iterator[str]:
    """A new folder beside the target, for what will take its place; it is removed unless it was renamed."""
    remove_abandoned(os.path.dirname(target), target)
    folder, handle = "", -1
    try:
        while not os.path.isdir(folder):  # or another writer took it for abandoned before it was locked
            folder = _beside(target, "new")
            os.mkdir(folder)
            handle = _hold(folder)
        yield folder
    finally:
        remove_tree(folder)
        if handle >= 0:
            os.close(handle)


def remove_abandoned(folder: str, target: str | None = None) -> None:
    """Remove the temporaries of dead writers from a folder, also a store that was replaced by the one at the target."""
    with suppress(OSError), os.scandir(folder or ".") as entries:
        names = [entry.name for entry in entries if entry.name.startswith(PREFIX)]
        replaced = _start(target, "old") if target is not None and os.path.lexists(target) else None
        for name in names:
            if _FILE.fullmatch(name) or _FOLDER.fullmatch(name) or (replaced and name.startswith(replaced)):
                _remove_if_abandoned(os.path.join(folder, name))


def _remove_if_abandoned(path: str) -> None:
    """Remove what a process that is gone has left: it holds no lock, and is a file or folder of this user."""
    if fcntl is None:
        return
    with suppress(OSError):
        is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
        handle = os.open(path, (os.O_RDONLY if is_folder else os.O_RDWR) | os.O_NONBLOCK | _LINKS_REFUSED)
        try:
            facts = os.fstat(handle)
            if facts.st_uid == os.geteuid() and (is_folder or stat.S_ISREG(facts.st_mode)):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path) if is_folder else os.unlink(path)
        finally:
            os.close(handle)


def replace_folder(folder: str, target: str) -> None:
    """Put a folder in the place of the one at the target, which is removed.

    Where the system exchanges two names in one step there is a folder under the target's name at any moment. Elsewhere
    the old one steps aside first; `take_back` gives it its name again if the process dies before the new one has it.
    """
    for left in reversed(range(MOST_TRIALS)):
        if exchange(folder, target):
            remove_tree(folder)
            return
        try:
            if os.path.lexists(target):
                _step_aside(target, folder)
            else:
                os.rename(folder, target)
            return
        except OSError as problem:
            if not left or problem.errno not in (errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY):
                raise  # else another process is replacing it too


def _step_aside(target: str, folder: str) -> None:
    """Give the target's name to a folder in two steps, and remove what had it before."""
    aside = _beside(target, "old")
    handle = _hold(target, wait=True)  # who misses the target meanwhile waits in `take_back`
    try:
        try:
            os.rename(target, aside)
            os.rename(folder, target)
        finally:
            if os.path.lexists(aside) and not os.path.lexists(target):
                os.rename(aside, target)
            elif os.path.lexists(aside):
                done = _beside(target, "new")
                os.rename(aside, done)  # nobody takes back what is half removed
                remove_tree(done)
    finally:
        if handle >= 0:
            os.close(handle)


def take_back(target: str) -> None:
    """Give a folder its name again if the process that was replacing it died between its two steps."""
    if os.path.lexists(target):
        return
    folder, start = os.path.dirname(target), _start(target, "old")
    with suppress(OSError, ValueError):
        for name in sorted(os.listdir(folder or ".")):
            if not name.startswith(start):
                continue
            aside = os.path.join(folder, name)
            handle = _hold(aside, wait=True)
            try:
                if not os.path.lexists(target):
                    os.rename(aside, target)
            finally:
                if handle >= 0:
                    os.close(handle)


def exchange(one: str, other: str) -> bool:
    """Swap two names in one step, by renameat2 of Linux; False where the system or the file system cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0


def remove_tree(path: str) -> None:
    """Remove a folder with all that is in it, or a link to one, if it is there."""
    if os.path.islink(path):
        os.unlink(path)
    else:
        shutil.rmtree(path, ignore_errors=True)


def name_of_partial(target: str) -> str:
    """Where a conversion makes the parts of a store: its name and .partial, if a name can be as long."""
    folder, name = os.path.split(target)
    if len(os.fsencode(name)) + len(PARTIAL) <= LONGEST_NAME:
        return target + PARTIAL
    return os.path.join(folder, _start(target, "parts") + "0")


def _start(target: str, kind: str) -> str:
    """How the temporaries of a target begin: by a digest of its name, which may be too long to be added to."""
    name = os.fsencode(os.path.basename(target))
    return f"{PREFIX}{hashlib.blake2b(name, digest_size=8).hexdigest()}-{kind}-"


def _beside(target: str, kind: str) -> str:
    return os.path.join(os.path.dirname(target), _start(target, kind) + secrets.token_hex(4))


def _hold(folder: str, wait: bool = False) -> int:
    """A handle that holds the lock of a folder; with `wait` of the one that has the name when the lock is free.

    -1 where the folder is gone, or where folders cannot be opened.
    """
    for left in reversed(range(MOST_TRIALS if wait else 1)):
        try:
            handle = os.open(folder, os.O_RDONLY)
        except OSError:
            break
        _lock(handle)
        if _is_at(handle, folder) or (wait and not left):
            return handle
        os.close(handle)
    return -1


def _lock(handle: int) -> None:
    """Wait for the lock; where there are none, go on."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)


def _is_at(handle: int, path: str) -> bool:
    """Whether an open file or folder has this name."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


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
        handle = _lock_at_once(folder)
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


def _lock_at_once(folder: str) -> int | None:
    """The handle of the lock of a folder, made where it is missing; None where another process has it."""
    path = os.path.join(folder, LOCK)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | _LINKS_REFUSED, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_held = _is_at(handle, path)  # or its owner has finished meanwhile, and removed the folder
    except BlockingIOError:
        is_held = False
    except OSError:  # a file system without locks
        is_held = True
    if not is_held:
        os.close(handle)
    return handle if is_held else None
