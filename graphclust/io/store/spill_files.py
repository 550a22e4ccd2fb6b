"""The files of a conversion between its steps: edges as they were read, buckets of keys, growing arrays.

Every file only grows. A step notes the lengths of its files once they are on the disk; a process that resumes after a
kill first cuts the files to these lengths.
"""

import io
import json
import os
from collections.abc import Iterator
from typing import IO, Any, Self

import numpy as np

from graphclust.io.formats.array_files import parse_json
from graphclust.io.store.store_files import DTYPES, npy_header

Part = tuple[np.ndarray, np.ndarray, np.ndarray | None]
_COUNTS = np.dtype("<i8")


class GrowingFile:
    """A file that is appended to; `length` bytes of it are sure."""

    def __init__(self, path: str, length: int = 0, start: bytes = b""):
        self.path = path
        self._file: IO[bytes] = io.FileIO(path, "r+" if os.path.exists(path) else "x+")
        if length == 0:
            self._file.write(start)
            length = len(start)
        self._file.truncate(length)
        self._file.seek(length)
        self.length = length

    def append(self, array: np.ndarray) -> None:
        view = np.ascontiguousarray(array).view(np.uint8).data
        while len(view):
            n_written = self._file.write(view)
            self.length += n_written
            view = view[n_written:]

    def to_disk(self) -> int:
        os.fsync(self._file.fileno())
        return self.length

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self._file.close()


class GrowingArray(GrowingFile):
    """A .npy file of an array of a store whose length is known only at the end."""

    def __init__(self, folder: str, array: str, n_numbers: int = 0):
        self.array, self._dtype = array, np.dtype(DTYPES[array])
        start = npy_header(DTYPES[array], 0)
        n_bytes = len(start) + n_numbers * self._dtype.itemsize if n_numbers else 0
        super().__init__(os.path.join(folder, array + ".npy"), n_bytes, start)
        self._n_start = len(start)

    @property
    def n_numbers(self) -> int:
        return (self.length - self._n_start) // self._dtype.itemsize

    def finish(self) -> int:
        """Write the length into the header; returns it."""
        self._file.seek(0)
        self._file.write(npy_header(DTYPES[self.array], self.n_numbers))
        return self.n_numbers


def append_parts(file: GrowingFile, parts: list[Part]) -> None:
    """Append parts as records: the number of lines, the bytes of an id, whether there are weights, and the lines."""
    for sources, targets, weights in parts:
        if len(sources):
            file.append(np.array([len(sources), sources.itemsize, weights is not None], _COUNTS))
            for column in (sources, targets, weights):
                if column is not None:
                    file.append(column)


def read_parts(path: str, start: int = 0) -> Iterator[tuple[Part, int]]:
    """The lines of such a file, a record at a time, and where the next record begins."""
    with open(path, "rb") as file:
        file.seek(start)
        while len(counts := np.fromfile(file, _COUNTS, 3)):
            n, id_bytes, weighted = counts.tolist()
            ids = np.int32 if id_bytes == 4 else np.int64
            sources, targets = np.fromfile(file, ids, n), np.fromfile(file, ids, n)
            yield (sources, targets, np.fromfile(file, np.float64, n) if weighted else None), file.tell()


class Notebook:
    """What is known of a conversion that may go on another time; a note replaces the one before as a whole."""

    def __init__(self, path: str, task: dict[str, Any]):
        self.path = path
        self.notes: dict[str, Any] = {"task": task}

    def recall(self) -> bool:
        """Take up the notes of the same task, if there are any."""
        try:
            with open(self.path, "rb") as file:
                notes = parse_json(file.read())
        except (FileNotFoundError, ValueError):
            return False
        if not isinstance(notes, dict) or notes.get("task") != self.notes["task"]:
            return False
        self.notes = notes
        return True

    def note(self, **what: Any) -> None:
        self.notes.update(what)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.notes, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)
