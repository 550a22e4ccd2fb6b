"""Write a file whole or not at all: into a new file that then takes its name. Pipes are written directly."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO

from graphclust.errors import ParameterError, escape_controls
from graphclust.io.temporaries import check_length, temporary_file

_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def check_target(path: str | os.PathLike, overwrite: bool, never: str | os.PathLike | None = None) -> None:
    """Refuse a path that cannot or must not be written, by OSError or ParameterError, before any work is done for it.

    path : of a file, or of a pipe or a device, which takes whatever it is given.
    overwrite : whether a file that is there may be replaced.  never : a file that must not be, the input.
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
    if is_open_file(name):
        raise ParameterError(f"{name} stands for a file that is open already; give that file's own name")
    check_not_input(name, never)
    if os.path.lexists(name) and not overwrite:
        remedy = "choose another name, or pass overwrite=True"
        raise FileExistsError(f"{said} exists already and was left as it is; {remedy}")
    if not os.access(folder, os.W_OK):
        where = escape_controls(folder)
        raise PermissionError(f"cannot write {said}: no file can be made in the folder {where}, permission denied")


def check_not_input(name: str, never: str | os.PathLike | None) -> None:
    """Refuse an output that is the input, `never`, whatever the two are called."""
    if never is not None and os.path.exists(name) and os.path.exists(never) and os.path.samefile(name, never):
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
        else:
            yield from _rename_when_whole(name, overwrite)


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


def _rename_when_whole(name: str, overwrite: bool) -> Iterator[IO[bytes]]:
    """A file beside the target, which takes its name once it is whole and on the disk, and else goes."""
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
