"""Read points, a row each, from a table of text or a file of NumPy's."""

import io
import os
import warnings
from collections.abc import Callable
from typing import IO

import numpy as np

from graphclust.errors import ParameterError, quote
from graphclust.io.atomic_write import is_pipe
from graphclust.io.columns import is_plain_number
from graphclust.io.formats.array_files import MAGIC, name_failures, open_archive, read_array

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": None}  # None: any white space
_ARCHIVE = b"PK\x03\x04"
_COMPLAINT = "holds no table of points"


def read_points(path: str | os.PathLike) -> np.ndarray:
    """Points of a file, float64, shape (n, d).

    path : .npy, .npz with one array (or one of several called "points" or "X"), .csv, .tsv or .txt; a table's first
        line may name its columns, none of them by a number. What comes from a pipe is known by its content: NumPy's, or
        a table, between commas where its first line has any, else between white space.
    """
    name = os.fsdecode(path)
    if is_pipe(path):
        with open(path, "rb") as file:
            return points_of(file, name)
    ending = os.path.splitext(name)[1].lower()
    if ending in (".npy", ".npz"):
        with open(name, "rb") as content:
            return _from_numpy(content, name)
    if ending in DELIMITERS:
        with open(name, encoding="utf-8-sig") as file:
            return _check(lambda: _from_table(file, DELIMITERS[ending]), name)
    raise ParameterError(f"{name!r} ends in none of .npy, .npz, {', '.join(DELIMITERS)}")


def points_of(stream: IO[bytes], name: str) -> np.ndarray:
    """The points of a stream, which is read to its end; its content tells the format, and errors call it `name`."""
    content = stream.read()
    if content.startswith((MAGIC, _ARCHIVE)):
        return _from_numpy(io.BytesIO(content), name)
    delimiter = "," if b"," in content.lstrip().partition(b"\n")[0] else None
    return _check(lambda: _from_table(io.StringIO(content.decode("utf-8-sig")), delimiter), name)


def _check(read: Callable[[], np.ndarray], name: str) -> np.ndarray:
    with name_failures(name, _COMPLAINT), np.errstate(over="ignore"):  # a longer float becomes infinite
        points = read()
        if points.ndim != 2 or points.dtype.kind not in "biuf":
            raise ValueError(f"shape {points.shape} and dtype {points.dtype}, expected numbers in two dimensions")
        return points.astype(np.float64, copy=False)


def _from_numpy(file: IO[bytes], name: str) -> np.ndarray:
    """The array of a `.npy` file, or the one that holds points in an `.npz` archive."""
    start = file.read(len(_ARCHIVE))
    file.seek(0)
    if start != _ARCHIVE:
        return _check(lambda: read_array(file, name, _COMPLAINT), name)
    with open_archive(file, name, _COMPLAINT) as archive:
        names = archive.names
        chosen = names if len(names) == 1 else [key for key in ("points", "X") if key in names][:1]
        if not chosen:
            raise ValueError(f"arrays {', '.join(names[:12])}, expected one, or one called points or X")
        return _check(lambda: archive.read(chosen[0])[0], name)


def _from_table(text: IO[str], delimiter: str | None) -> np.ndarray:
    """The numbers of a table, without a first line that names the columns."""
    line = text.readline()
    text.seek(0)
    are_numbers = list(map(is_plain_number, line.partition("#")[0].split(delimiter)))
    if any(are_numbers) and not all(are_numbers):
        problem = f"its first line, {quote(line.rstrip().encode())!r}, holds numbers and other things"
        raise ValueError(f"{problem}; expected numbers alone, or names of columns that are none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # NumPy's, of a table without rows
        points = np.loadtxt(text, delimiter=delimiter, skiprows=int(not all(are_numbers)), ndmin=2)
    if points.size == 0:
        raise ValueError("it is empty, expected a row of numbers for each point")
    return points
