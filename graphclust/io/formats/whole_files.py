"""Binary files that are read whole: archives of arrays, Parquet tables of edges, sparse matrices of MATLAB."""

import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphClustError, GraphFormatError, GraphValidationError, ParameterError
from graphclust.io.edges import Edges, check_memory
from graphclust.io.formats.array_files import BROKEN, name_failures
from graphclust.io.formats.matrix_archive import edges_of_matrix, read_matrix_archive
from graphclust.io.tables import edges_of_table
from graphclust.io.text.edge_lines import Reading


def whole_format(path: str | os.PathLike) -> str | None:
    """Which of these formats a file has, by its beginning and, if it is binary, by its name; None for any other."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        start = file.read(8)
    name = os.fsdecode(path)
    if start.startswith(b"PK\3\4"):
        with suppress(*BROKEN), zipfile.ZipFile(path) as archive:
            return "npz" if any(member.endswith(".npy") for member in archive.namelist()) else None
        return "npz" if name.endswith(".npz") else None  # whose directory is damaged
    if start.startswith(b"PAR1"):
        return "parquet"
    is_binary = b"\0" in start  # as version 4 is, which begins with no word
    return "mat" if start.startswith(b"MATLAB ") or (is_binary and name.endswith(".mat")) else None


class _ParquetTable:
    """A Parquet file as a table whose columns are read when they are asked for."""

    def __init__(self, path: str, memory_limit: int | None):
        from pyarrow import parquet

        self._path, self._read, self._columns = path, parquet.read_table, dict[str, Any]()
        with name_failures(path, "is not a Parquet file"):
            n_rows = parquet.read_metadata(path).num_rows
            self.columns = parquet.read_schema(path).names
        check_memory(path, 1, n_rows, True, os.path.getsize(path), memory_limit)

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            with name_failures(self._path, "is not a Parquet file"):
                self._columns[name] = self._read(self._path, columns=[name])[name]
        return self._columns[name]


def _read_parquet(path: str, reading: Reading) -> tuple[Edges, int]:
    """The edges of a Parquet file, of which only the columns of ends and weights are read."""
    asked = reading.columns
    try:
        table = _ParquetTable(path, reading.memory_limit)
    except ImportError:
        raise ImportError(f'{path} is a Parquet file, which pyarrow reads: pip install "graphclust[dask]"') from None
    if asked.header is not None:
        raise ParameterError(f"header={asked.header!r} is for text, and {path} is a Parquet file; leave it out")
    names = table.columns
    source, target, weight = (
        names[column] if isinstance(column, int) and column < len(names) else column for column in asked[:3]
    )
    try:
        with name_failures(path, "holds no table of edges"):
            edges = edges_of_table(
                table, source, target, weight or "weight", bipartite=reading.bipartite, missing=reading.missing,
                path=path, weights=reading.weights,
            )  # fmt: skip
            return edges, os.path.getsize(path)
    except GraphClustError as problem:
        if path not in str(problem):
            problem.args = (f"{path}: {problem}",)
        raise


def _read_matlab(path: str, reading: Reading) -> tuple[Edges, int]:
    """The edges of the one square matrix of a MATLAB file."""
    from scipy import io

    n_bytes = os.path.getsize(path)
    with open(path, "rb") as file:
        if file.read(10) == b"MATLAB 7.3":
            raise GraphFormatError("is of MATLAB 7.3, expected version 7 or older; save it with the option -v7", path)
    with name_failures(path, "holds no matrix of MATLAB"):
        for _, shape, _ in io.whosmat(path):
            check_memory(path, max(shape, default=1), 0, True, n_bytes, reading.memory_limit)
        matrix = _matrix(io.loadmat(path), path)
        # SciPy cuts what is stored beyond the last column, where a whole file has zeros if anything.
        stored = matrix.data.base if sparse.issparse(matrix) else None
        if isinstance(stored, np.ndarray) and stored[len(matrix.data) :].any():
            raise ValueError(f"its columns end at entry {len(matrix.data)}, but {len(stored)} are stored")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise GraphValidationError(f"{path}: the matrix has shape {matrix.shape}, expected a square one")
    return edges_of_matrix(matrix, path, reading.weights, "holds no matrix of MATLAB"), n_bytes


def _matrix(variables: dict[str, Any], path: str) -> Any:
    """The one matrix of a file: that of the SuiteSparse collection's Problem, the sparse one, or the square one."""
    there = {name: value for name, value in variables.items() if not name.startswith("__")}
    problem = there.get("Problem")
    if isinstance(problem, np.ndarray) and "A" in (problem.dtype.names or ()) and problem.size == 1:
        return problem["A"].item()
    names = [name for name, value in there.items() if sparse.issparse(value)]
    arrays = {name: value for name, value in there.items() if isinstance(value, np.ndarray) and value.ndim == 2}
    names = names or [name for name, a in arrays.items() if a.dtype.kind in "biuf" and a.shape[0] == a.shape[1]]
    if len(names) != 1:
        found = f"holds {len(names)} matrices that may be the graph among {', '.join(there) or 'no variables'}"
        raise GraphFormatError(f"{found}; expected one sparse matrix, or one square one", path)
    return there[names[0]]


# NAME(path, reading) gives the edges, and how many bytes were read.
WHOLE: dict[str, Callable[[str, Reading], tuple[Edges, int]]] = {
    "npz": read_matrix_archive, "parquet": _read_parquet, "mat": _read_matlab
}  # fmt: skip
