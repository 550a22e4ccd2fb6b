"""NumPy's files, .npy and .npz, from any source: the sizes that they claim are checked before memory is taken.

`numpy.load` and `scipy.sparse.load_npz` allocate whatever a header asks for, and a damaged byte ends in any of a dozen
exceptions. Here sizes are compared with the bytes of the file and with a limit before numbers are read, block by block,
and checksums after it. Pickled objects are never loaded.

Source of the format: NEP 1, "A simple file format for NumPy arrays".
"""

import ast
import io
import json
import math
import os
import re
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from graphclust.errors import GraphClustError, GraphFormatError, ResourceLimitError
from graphclust.io.edges import allowed_bytes

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000  # bytes, as NumPy has it: longer ones take the parser of Python long
MOST_DEFLATED = 1100  # bytes from one: deflate packs at most 1032 to one
_BLOCK = 1 << 18  # bytes that stay in a processor's cache on their way
# What a changed byte leads to in zipfile, zlib, struct, the parsers of Python and JSON, or as a place in the file.
BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, RuntimeError, SyntaxError,
    ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError,
)  # fmt: skip


@contextmanager
def name_failures_of_memory(path: str | os.PathLike[str]) -> Iterator[None]:
    """A ResourceLimitError that names the file where memory runs out."""
    try:
        yield
    except MemoryError as problem:
        if isinstance(problem, ResourceLimitError):
            raise
        raise ResourceLimitError(f"{os.fsdecode(path)}: memory ran out while loading; {problem}") from None


@contextmanager
def name_failures(path: str, complaint: str) -> Iterator[None]:
    """Turn every failure of the block into an error with the path: GraphFormatError, or ResourceLimitError for memory.

    complaint : such as "holds no matrix". Errors of this package, and those of the system that name a file, stay.
    """
    try:
        with name_failures_of_memory(path):
            yield
    except BROKEN as problem:
        if isinstance(problem, GraphClustError) or (isinstance(problem, OSError) and problem.filename is not None):
            raise
        raise GraphFormatError(f"{complaint}: {problem or type(problem).__name__}", path) from None


def check_version(kind_there: Any, kind: str, version: Any, *known: int) -> None:
    """ValueError where a file is no such kind, or of a version that this release does not read, with what to do."""
    if kind_there != kind:
        raise ValueError(f"it is {kind_there!r}")
    if version not in known:
        raise ValueError(
            f"version is {version!r}, expected {' or '.join(map(str, known))}; another release of graphclust wrote it: "
            "install that one or a newer one, or write the file again with this one"
        )


@dataclass(frozen=True)
class ArrayHeader:
    """What stands before the numbers of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran_order: bool

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: IO[bytes]) -> ArrayHeader:
    """The header of a .npy file, after which the numbers follow; ValueError for what is none."""
    start = file.read(8)
    if start[:6] != MAGIC or start[6:] not in (b"\1\0", b"\2\0", b"\3\0"):
        raise ValueError(f"an array starts with {start!r}, expected NumPy's {MAGIC!r} and its version 1, 2 or 3")
    size = file.read(2 if start[6] == 1 else 4)
    length = int.from_bytes(size, "little")
    if length > LONGEST_HEADER:
        raise ValueError(f"the header of an array claims {length} bytes, expected at most {LONGEST_HEADER}")
    text = file.read(length)
    if len(text) < length:
        raise ValueError("it ends within the header of an array")
    return _parse_header(text.decode("latin-1" if start[6] < 3 else "utf-8"))


def _parse_header(text: str) -> ArrayHeader:
    """Shape, order and type of an array, from the text that NumPy writes before it; it is parsed, never run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, of spellings that it will not take for ever
            facts = ast.literal_eval(re.sub(r"(\d)L\b", r"\1", text.strip()))  # as Python 2 wrote long numbers
            descr, fortran_order, shape = facts["descr"], facts["fortran_order"], facts["shape"]
            dtype = np.dtype(descr) if isinstance(descr, str) else None
    except (SyntaxError, ValueError, TypeError, KeyError, MemoryError, RecursionError):
        raise ValueError(f"the header of an array is {text[:80]!r}, expected its descr, fortran_order, shape") from None
    if dtype is not None and dtype.hasobject:
        raise ValueError("pickled objects are never loaded, expected numbers or texts")
    if dtype is None or dtype.kind not in "biufcSU" or dtype.itemsize == 0:
        raise ValueError(f"an array is of the type {descr!r}, expected numbers or texts")
    if not (isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)):
        raise ValueError(f"the shape of an array is {shape!r}, expected whole numbers >= 0")
    if type(fortran_order) is not bool:
        raise ValueError(f"the fortran_order of an array is {fortran_order!r}, expected True or False")
    return ArrayHeader(shape, dtype, fortran_order)


def _read_numbers(file: IO[bytes], header: ArrayHeader) -> np.ndarray:
    """The array after its header. ValueError where the file has fewer bytes than that, or more."""
    array = np.empty(header.shape, header.dtype, order="F" if header.fortran_order else "C")
    n_bytes = header.n_bytes
    view = array.reshape(-1, order="A").view(np.uint8) if n_bytes else np.empty(0, np.uint8)
    n_read = 0
    while n_read < n_bytes:
        n_more = file.readinto(view[n_read : n_read + _BLOCK].data)  # type: ignore[attr-defined]
        if not n_more:
            raise ValueError(f"it ends after {n_read} of the {n_bytes} bytes of an array")
        n_read += n_more
    if file.read(1):  # at the end of a member its checksum is compared
        raise ValueError(f"more bytes follow after the array of shape {header.shape}, expected one array")
    if header.dtype.kind == "U" and n_bytes:
        letters = array.reshape(-1, order="A").view(np.dtype(np.uint32).newbyteorder(header.dtype.byteorder))
        if letters.max() > sys.maxunicode:
            raise ValueError(f"an array of texts holds the number {letters.max()}, expected letters of Unicode")
    return array


class ArrayArchive:
    """The arrays of an .npz file, each of which is looked at when it is asked for. names : of all members."""

    def __init__(self, archive: zipfile.ZipFile, path: str, file_bytes: int, memory_limit: int | None):
        self._archive, self._path, self._file_bytes, self._limit = archive, path, file_bytes, memory_limit
        self._members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        self.names = list(self._members)
        if len(self._members) < len(archive.infolist()):
            raise ValueError("two of its members have one name")

    def header(self, name: str) -> ArrayHeader:
        """What an array claims; ValueError where it is missing, or cannot have been stored or deflated to its bytes."""
        member = self._member(name)
        packed = min(member.compress_size, self._file_bytes)
        most = min(member.file_size, packed if member.compress_type == zipfile.ZIP_STORED else packed * MOST_DEFLATED)
        with self._archive.open(member) as file:
            header = read_header(file)
        if header.n_bytes > most:
            raise ValueError(
                f"{name} has shape {header.shape} and type {header.dtype}, {header.n_bytes} bytes, but at most {most} "
                "are there"
            )
        return header

    def read(self, *names: str) -> list[np.ndarray]:
        """Some arrays. Raises as `header` does; ResourceLimitError where they exceed the limit together."""
        n_bytes = sum(self.header(name).n_bytes for name in names)
        check_allowed(self._path, n_bytes, self._file_bytes, self._limit)
        arrays = []
        for name in names:
            with self._archive.open(self._member(name)) as file:
                arrays.append(_read_numbers(file, read_header(file)))
        return arrays

    def _member(self, name: str) -> zipfile.ZipInfo:
        member = self._members.get(name)
        if member is None:
            there = ", ".join(map(repr, self.names[:12])) + " ..." * (len(self.names) > 12)
            raise ValueError(f"it has no array {name!r}, but {there or 'nothing'}")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its member {name!r} is neither stored nor deflated, as NumPy writes them")
        return member


def check_allowed(path: str, n_bytes: int, file_bytes: int, memory_limit: int | None) -> None:
    """Refuse arrays that take more memory than is allowed."""
    allowed = allowed_bytes(file_bytes, memory_limit)
    if n_bytes > allowed:
        wrong = f"{path}: the arrays take {n_bytes} bytes, but memory_limit is {allowed} for {file_bytes} bytes of file"
        raise ResourceLimitError(f"{wrong}; pass a larger memory_limit if the file is right")


@contextmanager
def open_archive(
    file: str | os.PathLike | IO[bytes], path: str, complaint: str, memory_limit: int | None = None
) -> Iterator[ArrayArchive]:
    """The arrays of an .npz file, to be read within the block.

    path : what errors call the file.  complaint : see `name_failures`.
    memory_limit : most bytes of the arrays that are read together; None allows what `allowed_bytes` does.
    """
    with name_failures(path, complaint), _open(file) as stream:
        file_bytes = stream.seek(0, io.SEEK_END)
        with zipfile.ZipFile(stream) as archive:
            yield ArrayArchive(archive, path, file_bytes, memory_limit)


def read_array(file: IO[bytes], path: str, complaint: str) -> np.ndarray:
    """The array of an .npy file; arguments and errors as of `open_archive`."""
    with name_failures(path, complaint):
        file_bytes = file.seek(0, io.SEEK_END)
        file.seek(0)
        header = read_header(file)
        if header.n_bytes > file_bytes:
            wrong = f"an array of shape {header.shape} and type {header.dtype} has {header.n_bytes} bytes, the file"
            raise ValueError(f"{wrong} {file_bytes}")
        check_allowed(path, header.n_bytes, file_bytes, None)
        return _read_numbers(file, header)


def _open(file: str | os.PathLike | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return open(file, "rb") if isinstance(file, str | os.PathLike) else nullcontext(file)


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError for other text, and for values nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deep") from None
