"""Write a file or a folder whole or not at all: under another name, which it then changes. Pipes are written directly.

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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from graphclust.errors import ParameterError, escape_controls

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK, NOTES = "lock", "state.json"
_PARTS = re.compile(r"lock|lines|store|state\.json(\.new)?|(keys|weights)-\d+")
PREFIX = ".graphclust-"
PARTIAL = ".partial"
LONGEST_NAME = 255  # bytes
MOST_TRIALS = 100  # to replace a folder that others replace
_TEMPORARY = re.compile(re.escape(PREFIX) + r"([0-9a-z_]{8}|[0-9a-f]{16}-new-[0-9a-f]{8})")  # a file, or a folder
_LINKS_REFUSED = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)  # of Windows
_RENAME_EXCHANGE, _AT_FDCWD = 2, -100  # of Linux
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def check_target(path: str | os.PathLike, overwrite: bool) -> None:
    """Refuse a path that cannot or must not be written, by OSError or ParameterError, before any work is done for it.

    path : of a file, or of a pipe or a device, which takes whatever it is given.
    overwrite : whether a file that is there may be replaced.
    """
    name = os.fsdecode(path)
    if not name:
        raise FileNotFoundError("the name of a file to write is empty, expected one")
    if is_pipe(name):
        return
    folder = os.path.dirname(name) or "."
    said = escape_controls(name)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot write {said}: there is no folder {escape_controls(folder)}")
    check_length(name)
    if os.path.isdir(name):
        raise IsADirectoryError(f"cannot write {said}: it is a folder, expected the name of a file")
    if os.path.exists(name) and not os.path.isfile(name):
        raise ParameterError(f"cannot write {name}: it is a device or a socket, expected the name of a file or a pipe")
    device = os.path.realpath(os.path.dirname(os.path.abspath(name)))
    if os.path.isfile(name) and (device == "/dev" or device.startswith("/proc/")):  # such as /dev/stdout
        raise ParameterError(f"{name} stands for a file that is open already; give that file's own name")
    if os.path.lexists(name) and not overwrite:
        remedy = "choose another name, or pass overwrite=True"
        raise FileExistsError(f"{said} exists already and was left as it is; {remedy}")
    if not os.access(folder, os.W_OK):
        where = escape_controls(folder)
        raise PermissionError(f"cannot write {said}: no file can be made in the folder {where}, permission denied")


def check_not_input(name: str, never: str) -> None:
    """Refuse an output that is the input, `never`, whatever both are called."""
    if os.path.exists(name) and os.path.exists(never) and os.path.samefile(name, never):
        raise ParameterError(f"output {name} is the input file, which is never overwritten; choose another name")


@contextmanager
def whole_file(
    path: str | os.PathLike, overwrite: bool = False, size: Callable[[], int] | None = None
) -> Iterator[IO[bytes]]:
    """A binary file that appears under its name when the block ends, and leaves nothing behind if that fails.

    A pipe or a device is written straight: nothing can take its place.
    size : about how many bytes it will have, asked for if there is no room for them.
    """
    check_target(path, overwrite)
    name = os.fsdecode(path)
    with no_room_named(name, lambda: "" if size is None else f" for about {size():,} bytes"):
        if is_pipe(name):
            with open(name, "wb") as file:
                yield file
            return
        folder = os.path.dirname(name) or "."
        with ExitStack() as stack:
            try:
                handle, temporary = stack.enter_context(temporary_file(folder))
            except OSError as problem:
                where = f"no file can be made in the folder {escape_controls(folder)}, {problem.strerror}"
                raise type(problem)(problem.errno, f"cannot write {escape_controls(name)}: {where}") from None
            with os.fdopen(handle, "wb", buffering=1 << 20, closefd=False) as file:
                yield file
            os.fsync(handle)
            check_target(name, overwrite)
            os.replace(temporary, name)


@contextmanager
def no_room_named(name: str, needed: Callable[[], str], advice: str = "nothing was left behind") -> Iterator[None]:
    """An OSError for want of room says where, how much is needed, and what then; every other one stays as it is."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in (None, *_NO_ROOM):  # NumPy's own complaint of a short write has no number
            raise
        code = problem.errno or errno.ENOSPC
        reason = f"{os.strerror(code)}{needed()}; {advice}"
        raise OSError(code, f"cannot write {escape_controls(name)}: {reason}") from problem


def is_pipe(path: str | os.PathLike) -> bool:
    """Whether a pipe, a terminal or another device of characters such as /dev/null has this name."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


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
    folder = ""
    with ExitStack() as stack:
        try:
            while not os.path.isdir(folder):  # or another writer took it for abandoned before it was locked
                folder = _beside(target, "new")
                os.mkdir(folder)
                stack.enter_context(_held(folder))
            yield folder
        finally:
            remove_tree(folder)


def remove_abandoned(folder: str, target: str | None = None) -> None:
    """Remove the temporaries of dead writers from a folder, also a store that was replaced by the one at the target."""
    if fcntl is None:
        return
    with suppress(OSError):
        replaced = _start(target, "old") if target is not None and os.path.lexists(target) else None
        for name in os.listdir(folder or "."):
            if _TEMPORARY.fullmatch(name) or (replaced and name.startswith(replaced)):
                _remove_if_abandoned(os.path.join(folder, name))


def _remove_if_abandoned(path: str) -> None:
    """Remove what holds no lock, so that its writer is gone, and is a file or a folder of this user."""
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
    with _held(target):  # who misses the target meanwhile waits in `take_back`
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


def take_back(target: str) -> None:
    """Give a folder its name again if the process that was replacing it died between its two steps."""
    if os.path.lexists(target):
        return
    folder, start = os.path.dirname(target), _start(target, "old")
    with suppress(OSError, ValueError):
        for name in sorted(name for name in os.listdir(folder or ".") if name.startswith(start)):
            with _held(aside := os.path.join(folder, name)):
                if not os.path.lexists(target):
                    os.rename(aside, target)


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


@contextmanager
def _held(folder: str) -> Iterator[None]:
    """Hold the lock of the folder that has the name when the lock is free; none where no folder can be opened."""
    with ExitStack() as stack:
        with suppress(OSError):
            while True:
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                _lock(handle)
                if _is_at(handle, folder):
                    break
                stack.close()
        yield


def _lock(handle: int, wait: bool = True) -> bool:
    """Take the lock, or do not `wait` and say False where another process has it; where there are no locks, go on."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


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
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        _check_own(folder)
    path = os.path.join(folder, LOCK)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | _LINKS_REFUSED, 0o600)
    try:
        if not (_lock(handle, wait=False) and _is_at(handle, path)):  # or its owner has just removed the folder
            raise ParameterError(f"{folder} is being written by another process; wait for it")
        try:
            yield folder
        finally:
            if not os.path.exists(os.path.join(folder, NOTES)):
                shutil.rmtree(folder, ignore_errors=True)
    finally:
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
    if not stat.S_ISDIR(facts.st_mode):
        what = "is not a folder"
    elif hasattr(os, "geteuid") and facts.st_uid != os.geteuid():
        what = "belongs to another user"
    elif hasattr(os, "geteuid") and facts.st_mode & 0o022:
        what = "can be written to by other users"
    elif links := [entry.path for entry in os.scandir(folder) if entry.is_symlink()]:
        what = f"holds a link, {links[0]}"
    else:
        return
    remedy = "remove it if nobody converts there, or choose another target"
    raise ParameterError(f"{folder}, where the parts of the store are made, {what}; {remedy}")
