"""Read points, a row each, from a table of text or a file of NumPy's."""

import io
import os
import warnings
import zipfile
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from graphclust.errors import GraphFormatError, ParameterError
from graphclust.io.pipes import is_pipe

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": None}  # None: any white space
_NUMPY_STARTS = (b"\x93NUMPY", b"PK\x03\x04")


def read_points(path: str | os.PathLike) -> np.ndarray:
    """Points of a file, float64, shape (n, d).

    path : .npy, .npz with one array (or one of several called "points" or "X"), .csv, .tsv or .txt; a table's first
        line may name its columns. What comes from a pipe is known by its content: NumPy's, or a table, between commas
        where its first line has any, else between white space.

    Raises OSError as `open` does, ParameterError for another ending, GraphFormatError for another content.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/points.csv", "w") as file:
    ...         _ = file.write("x,y\\n1,2\\n3,4.5\\n")
    ...     read_points(f"{folder}/points.csv")
    array([[1. , 2. ],
           [3. , 4.5]])
    """
    name = os.fsdecode(path)
    if is_pipe(path):
        with open(path, "rb") as file:
            return points_of(file, name)
    ending = os.path.splitext(name)[1].lower()
    if ending in (".npy", ".npz"):
        return _checked(lambda: _from_numpy(name), name)
    if ending in DELIMITERS:
        with open(name, encoding="utf-8") as file:
            return _checked(lambda: _from_table(file, DELIMITERS[ending]), name)
    raise ParameterError(f"{name!r} ends in none of .npy, .npz, {', '.join(DELIMITERS)}")


def points_of(stream: IO[bytes], name: str) -> np.ndarray:
    """The points of a stream, which is read to its end; its content tells the format, and errors call it `name`."""
    content = stream.read()
    if content.startswith(_NUMPY_STARTS):
        return _checked(lambda: _from_numpy(io.BytesIO(content)), name)
    delimiter = "," if b"," in content.lstrip().partition(b"\n")[0] else None
    return _checked(lambda: _from_table(io.StringIO(content.decode()), delimiter), name)


def _checked(read: Callable[[], np.ndarray], name: str) -> np.ndarray:
    try:
        points = read()
        if points.ndim != 2 or points.dtype.kind not in "biuf":
            raise ValueError(f"shape {points.shape} and dtype {points.dtype}, expected numbers in two dimensions")
        return points.astype(np.float64, copy=False)
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as problem:
        reason = "pickled objects are never loaded" if "pickle" in str(problem) else str(problem)
        raise GraphFormatError(f"holds no table of points: {reason}", name) from None


def _from_numpy(file: str | IO[bytes]) -> np.ndarray:
    stored: Any = np.load(file, allow_pickle=False)
    if isinstance(stored, np.ndarray):
        return stored
    with stored:
        names = stored.files
        chosen = names if len(names) == 1 else [key for key in ("points", "X") if key in names][:1]
        if not chosen:
            raise ValueError(f"arrays {', '.join(names)}, expected one, or one called points or X")
        return stored[chosen[0]]


def _from_table(text: IO[str], delimiter: str | None) -> np.ndarray:
    first = text.readline().split(delimiter)
    text.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # NumPy's, of a table without rows
        points = np.loadtxt(text, delimiter=delimiter, skiprows=int(not all(map(_is_number, first))), ndmin=2)
    if points.size == 0:
        raise ValueError("it is empty, expected a row of numbers for each point")
    return points


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
