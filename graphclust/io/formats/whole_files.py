"""Binary files that are read whole by libraries of their own: Parquet tables of edges, sparse matrices of MATLAB."""

import os
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphClustError, GraphFormatError, GraphValidationError, ParameterError
from graphclust.io.edges import Edges, check_memory
from graphclust.io.formats.array_files import name_failures
from graphclust.io.formats.matrix_archive import edges_of_matrix
from graphclust.io.tables import edges_of_table
from graphclust.io.text.edge_lines import Reading

WHOLE_FORMATS = ("npz", "parquet", "mat")


def whole_format(path: str | os.PathLike) -> str | None:
    """ "parquet" or "mat" for a file that begins as one, or is called .mat; None for any other."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        start = file.read(8)
    if start.startswith(b"PAR1"):
        return "parquet"
    is_binary = b"\0" in start  # as version 4 is, which begins with no word
    return "mat" if start.startswith(b"MATLAB ") or (is_binary and os.fsdecode(path).endswith(".mat")) else None


def read_whole_file(
    path: str | os.PathLike, format: str, weights: str | None, reading: Reading, memory_limit: int | None
) -> tuple[Edges, int]:
    """The edges of such a file, and its bytes.

    Raises GraphFormatError for a damaged file or a table in which no two columns are plainly the ends of an edge,
    GraphValidationError for what is no graph, ResourceLimitError, ImportError for Parquet where pyarrow is missing.
    """
    name, n_bytes = os.fsdecode(path), os.path.getsize(path)
    if format == "parquet":
        return _read_parquet(name, n_bytes, weights, reading, memory_limit), n_bytes
    return _read_matlab(name, n_bytes, weights, memory_limit), n_bytes


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


def _read_parquet(path: str, n_bytes: int, weights: str | None, reading: Reading, memory_limit: int | None) -> Edges:
    """The edges of a Parquet file, of which only the columns of ends and weights are read."""
    asked = reading.columns
    try:
        table = _ParquetTable(path, memory_limit)
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
            return edges_of_table(
                table, source, target, weight or "weight", bipartite=reading.bipartite, missing=reading.missing,
                path=path, weights=weights,
            )  # fmt: skip
    except GraphClustError as problem:
        if path not in str(problem):
            problem.args = (f"{path}: {problem}",)
        raise


def _read_matlab(path: str, n_bytes: int, weights: str | None, memory_limit: int | None) -> Edges:
    """The edges of the one square matrix of a MATLAB file."""
    from scipy import io

    with open(path, "rb") as file:
        if file.read(10) == b"MATLAB 7.3":
            raise GraphFormatError("is of MATLAB 7.3, expected version 7 or older; save it with the option -v7", path)
    with name_failures(path, "holds no matrix of MATLAB"):
        for _, shape, _ in io.whosmat(path):
            check_memory(path, max(shape, default=1), 0, True, n_bytes, memory_limit)
        matrix = _matrix(io.loadmat(path), path)
        # SciPy cuts what is stored beyond the last column, where a whole file has zeros if anything.
        stored = matrix.data.base if sparse.issparse(matrix) else None
        if isinstance(stored, np.ndarray) and stored[len(matrix.data) :].any():
            raise ValueError(f"its columns end at entry {len(matrix.data)}, but {len(stored)} are stored")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise GraphValidationError(f"{path}: the matrix has shape {matrix.shape}, expected a square one")
    return edges_of_matrix(matrix, path, weights, "holds no matrix of MATLAB")


def _matrix(variables: dict[str, Any], path: str) -> Any:
    """The one matrix of a file: that of the SuiteSparse collection's Problem, the sparse one, or the square one."""
    there = {name: value for name, value in variables.items() if not name.startswith("__")}
    problem = there.get("Problem")
    if isinstance(problem, np.ndarray) and "A" in (problem.dtype.names or ()) and problem.size == 1:
        return problem["A"].item()
    names = [name for name, value in there.items() if sparse.issparse(value)]
    names = names or [name for name, value in there.items() if _is_square(value)]
    if len(names) != 1:
        raise GraphFormatError(
            f"holds {len(names)} matrices that may be the graph among {', '.join(there) or 'no variables'}; expected "
            "one sparse matrix, or one square one",
            path,
        )
    return there[names[0]]


def _is_square(value: Any) -> bool:
    """Whether a variable is a square matrix of real numbers."""
    is_matrix = isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf"
    return is_matrix and value.shape[0] == value.shape[1]
