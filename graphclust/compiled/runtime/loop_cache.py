"""The cache of compiled loops: one file for each loop and each types of its arguments.

Files lie in root/fingerprint/folder of the source/. The fingerprint is a digest of all sources, of the versions of
Python (3.12, not 3.12.1) and the compiler, and of its settings: numba's own cache looks at the file of a loop, but not
at those of the loops that it calls. A file begins with a checksum: one that was cut short or changed is not used, and
its loop is compiled again.

Loops are kept in NUMBA_CACHE_DIR, else in the user's folder for caches, else in a private folder for temporary files,
which is made when the first loop is kept. They are also read, and never written, in the folder that GRAPHCLUST_LOOPS
names and in the package's own, `graphclust/compiled/cache`, which a wheel may carry.

Loops are code that is run, so none are taken from a folder that somebody else could have written.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import logging
import os
import pathlib
import pickle
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

NAMED, NUMBAS, FORBIDDEN = "GRAPHCLUST_LOOPS", "NUMBA_CACHE_DIR", "GRAPHCLUST_NO_COMPILE"
PACKAGE = pathlib.Path(__file__).parents[2]
CARRIED = PACKAGE / "compiled" / "cache"
COMPILERS = ("numba", "llvmlite")
SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO", "LLVM_REFPRUNE_PASS")
DIGEST = 16  # bytes


@functools.cache
def fingerprint() -> str:
    """A digest of what compiled loops are made of; not of the processor: code for one may run on others."""
    digest = hashlib.blake2b(digest_size=8)
    for name, content in _sources(files("graphclust.compiled")):
        digest.update(f"{name} {len(content)} ".encode() + content)
    facts = [sys.implementation.cache_tag, getattr(sys, "abiflags", ""), *map(_version, COMPILERS)]
    facts += [(name, os.environ.get(f"NUMBA_{name}")) for name in SETTINGS]
    digest.update(repr(facts).encode())
    return digest.hexdigest()


def _sources(folder: Any) -> Iterator[tuple[str, bytes]]:
    """The Python files of a folder and its subfolders, in the order of their names."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".py"):
            yield item.name, item.read_bytes().replace(b"\r\n", b"\n")
        elif item.is_dir() and item.name.isidentifier() and not item.name.startswith("__"):
            yield from _sources(item)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # a copy without its metadata
        return str(__import__(package).__version__)


class NotCompiledError(RuntimeError):
    """A loop is not there, and the environment forbids to compile it."""


class _Override:
    root: str | None = None


def keep_in(root: str) -> None:
    """From now on loops are kept under this folder, and read from it alone."""
    _Override.root = root
    root_to_keep.cache_clear()
    folders_to_read.cache_clear()


@functools.cache
def root_to_keep() -> str | None:
    """The folder in which loops are kept; None where none can be written, and none is trusted."""
    for root in _roots_to_keep():
        nearest = root  # folder that is there
        while not os.path.lexists(nearest):
            nearest = os.path.dirname(nearest)
        is_writable = os.path.isdir(nearest) and os.access(nearest, os.W_OK | os.X_OK)
        if is_writable and _is_trusted(root, root):
            return root
    return None


def _roots_to_keep() -> Iterator[str]:
    """Where loops may be kept, the best place first."""
    if _Override.root is not None:
        yield _Override.root
        return
    if os.environ.get(NUMBAS):
        yield os.path.abspath(os.environ[NUMBAS])
    else:
        home = os.path.expanduser("~")
        caches = "Library/Caches" if sys.platform == "darwin" else "AppData/Local" if os.name == "nt" else ".cache"
        folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, caches)
        if os.path.isabs(folder):  # else the user has neither a home folder nor a name
            yield os.path.join(folder, "graphclust", "loops")
    with contextlib.suppress(OSError):  # no folder for temporary files
        yield os.path.join(tempfile.gettempdir(), f"graphclust-{os.getuid() if hasattr(os, 'getuid') else 'user'}")


@functools.cache
def folders_to_read(room: str) -> list[str]:
    """The folders in which loops of the sources in compiled/room may be."""
    roots = [root_to_keep()]
    if _Override.root is None:
        roots += [named and os.path.abspath(named) for named in (os.environ.get(NAMED), str(CARRIED))]
    folders = ((root, os.path.join(root, fingerprint(), room)) for root in roots if root)
    return [folder for root, folder in folders if os.access(folder, os.R_OK | os.X_OK) and _is_trusted(folder, root)]


@functools.cache
def are_at_hand(path: str) -> bool:
    """Whether some compiled loop of a source file can be read."""
    source = pathlib.Path(path)
    return any(
        next(pathlib.Path(folder).glob(f"{source.stem}.*"), None) for folder in folders_to_read(source.parent.name)
    )


def _is_trusted(folder: str, root: str) -> bool:
    fault = fault_of(folder, root)
    if fault is not None:
        _warn_once(
            f"compiled loops are not taken from {fault}, since they are code that is run; take that right away, or "
            f"set {NUMBAS} to a folder of your own"
        )
    return fault is None


def fault_of(folder: str, root: str) -> str | None:
    """Why loops are not taken from a folder: others can write to it, or to one from its root down to it."""
    if not hasattr(os, "getuid"):
        return None
    carried = root == str(CARRIED)  # who can write to the package needs no loops
    trusted = {os.getuid(), 0, os.stat(str(PACKAGE)).st_uid}
    for part in (folder, *map(str, pathlib.Path(folder).parents)):
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(part)
            if status.st_mode & stat.S_IWOTH:
                return f"{part}, to which every user can write"
            if not carried and status.st_uid not in trusted:
                return f"{part}, which belongs to another user"
            if not carried and status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid, status.st_uid):
                return f"{part}, to which a group of users can write"
        if part == root:
            break
    return None


def _is_private(group: int, user: int) -> bool:
    """Whether a group is that of one user alone, as many systems make one for each."""
    import grp
    import pwd

    try:
        name, entry = pwd.getpwuid(user).pw_name, grp.getgrgid(group)
    except KeyError:  # of a container, without names
        return False
    return entry.gr_name == name and set(entry.gr_mem) <= {name}


class LoopCache:
    """The compiled code of one loop on the disk, as numba's dispatchers ask for it."""

    def __init__(self, loop: Callable[..., Any]):
        source = pathlib.Path(loop.__code__.co_filename)
        self._room = source.parent.name
        self._name = f"{source.stem}.{loop.__qualname__}-{loop.__code__.co_firstlineno}"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled loop for these types, or None where there is no sound file of it: then numba compiles.

        Raises NotCompiledError instead of None where the environment has GRAPHCLUST_NO_COMPILE=1.
        """
        target.refresh()
        made_for = target.codegen().magic_tuple()
        for folder in folders_to_read(self._room):
            own = pathlib.Path(folder, self._file_name(signature, made_for))
            others = pathlib.Path(folder).glob(self._file_name(signature, None))
            for path in (own, *(path for path in others if path != own)):
                code = _read(path, made_for)
                if code is not None:
                    with contextlib.suppress(Exception):  # whatever LLVM makes of another's code
                        return _rebuild(target, code)
        if os.environ.get(FORBIDDEN, "0") not in ("", "0"):
            raise NotCompiledError(
                f"the loop {self._name} is not compiled for {signature}, and {FORBIDDEN} is set; run "
                f"`graphclust compile` with this version of the package first, or unset {FORBIDDEN}"
            )
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a loop that was compiled, which is of use even if it cannot be kept."""
        from numba.core import serialize

        root = root_to_keep()
        if root is None or compiled.library.has_dynamic_globals:
            return
        made_for = compiled.target_context.codegen().magic_tuple()
        content = pickle.dumps((made_for, serialize.dumps(compiled._reduce())))
        folder = os.path.join(root, fingerprint(), self._room)
        try:
            if not os.path.isdir(folder):
                _make_folder(folder, root)
            _write(os.path.join(folder, self._file_name(signature, made_for)), _digest(content) + content)
        except OSError as problem:
            _warn_once(
                f"compiled loops cannot be kept in {root} ({problem}), so that every process compiles them; make room "
                f"or set {NUMBAS} to another folder"
            )

    def _file_name(self, signature: Any, made_for: Any) -> str:
        """The name of a file, or for any processor the pattern of names."""
        processor = "*" if made_for is None else _digest(repr(made_for).encode())[:4].hex()
        return f"{self._name}.{_digest(repr(signature).encode())[:8].hex()}.{processor}"


def _make_folder(folder: str, root: str) -> None:
    """Make a folder for loops, to which nobody else can write."""
    private = not os.path.exists(root)
    os.makedirs(root, mode=0o700 if private and _Override.root is None else 0o755, exist_ok=True)
    for part in (os.path.dirname(folder), folder):
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, 0o755)
    folders_to_read.cache_clear()


def _write(path: str, content: bytes) -> None:
    """Write a file that is whole whenever it is read."""
    partial = f"{path}.{os.getpid()}"
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "wb") as file:
            file.write(content)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise


def _read(path: pathlib.Path, processor: tuple[str, str, str]) -> Any:
    """What was saved in a file; None where it is not whole, others could have written it or it does not run here."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_mode & stat.S_IWOTH and os.stat(path.parent).st_mode & stat.S_IXOTH:
                return None
            content = file.read()
    except OSError:
        return None
    if _digest(content[DIGEST:]) != content[:DIGEST]:
        return None
    made_for, compiled = pickle.loads(content[DIGEST:])
    return compiled if serves(made_for, processor) else None


def _rebuild(target: Any, compiled: bytes) -> Any:
    from numba.core.compiler import CompileResult

    return CompileResult._rebuild(target, *pickle.loads(compiled))


def serves(made_for: tuple[str, str, str], processor: tuple[str, str, str]) -> bool:
    """Whether code for one processor runs on another: it needs no feature that this one lacks."""
    (system, name, needed), (own_system, own_name, own) = made_for, processor
    is_known = name in ("generic", own_name) or "-" in needed  # else the name alone says what the code needs
    features = {feature for feature in needed.split(",") if feature.startswith("+")}
    return system == own_system and is_known and features <= set(own.split(","))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST).digest()


@functools.cache
def _warn_once(sentence: str) -> None:
    logging.getLogger("graphclust").warning(sentence)
    warnings.warn(sentence, RuntimeWarning, stacklevel=3)
