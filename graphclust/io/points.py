"""Read points, a row each, from a table of text or a file of NumPy's."""

import os
import zipfile
from typing import Any

import numpy as np

from graphclust.errors import GraphFormatError, ParameterError

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": None}  # None: any white space


def read_points(path: str | os.PathLike) -> np.ndarray:
    """Points of a file, float64, shape (n, d).

    path : .npy, .npz with one array (or one of several called "points" or "X"), .csv, .tsv or .txt; a table's first
        line may name its columns.

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
    ending = os.path.splitext(name)[1].lower()
    try:
        if ending in (".npy", ".npz"):
            points = _from_numpy(name)
        elif ending in DELIMITERS:
            points = _from_table(name, DELIMITERS[ending])
        else:
            raise ParameterError(f"{name!r} ends in none of .npy, .npz, {', '.join(DELIMITERS)}")
        if points.ndim != 2 or points.dtype.kind not in "biuf":
            raise ValueError(f"shape {points.shape} and dtype {points.dtype}, expected numbers in two dimensions")
        return points.astype(np.float64, copy=False)
    except ParameterError:
        raise
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as problem:
        reason = "pickled objects are never loaded" if "pickle" in str(problem) else str(problem)
        raise GraphFormatError(f"holds no table of points: {reason}", name) from None


def _from_numpy(name: str) -> np.ndarray:
    stored: Any = np.load(name, allow_pickle=False)
    if isinstance(stored, np.ndarray):
        return stored
    with stored:
        names = stored.files
        chosen = names if len(names) == 1 else [key for key in ("points", "X") if key in names][:1]
        if not chosen:
            raise ValueError(f"arrays {', '.join(names)}, expected one, or one called points or X")
        return stored[chosen[0]]


def _from_table(name: str, delimiter: str | None) -> np.ndarray:
    with open(name, encoding="utf-8") as file:
        first = file.readline().split(delimiter)
    return np.loadtxt(name, delimiter=delimiter, skiprows=int(not all(map(_is_number, first))), ndmin=2)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
