"""Binary files that are read whole by libraries of their own: Parquet tables of edges, sparse matrices of MATLAB."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError
from graphclust.io.edges import Edges, check_memory
from graphclust.io.formats.array_files import name_failures
from graphclust.io.tables import edges_of_table
from graphclust.io.text.column_choice import Columns
from graphclust.io.text.column_names import find_ends, weight_among
from graphclust.io.weight_checks import refuse_impossible

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
    path: str | os.PathLike, format: str, weights: str, columns: Columns, memory_limit: int | None
) -> tuple[Edges, int]:
    """The edges of such a file, and its bytes.

    Raises GraphFormatError for a damaged file or a table in which no two columns are plainly the ends of an edge,
    GraphValidationError for what is no graph, ResourceLimitError, ImportError for Parquet where pyarrow is missing.
    """
    name, n_bytes = os.fsdecode(path), os.path.getsize(path)
    if format == "parquet":
        return _read_parquet(name, n_bytes, weights, columns, memory_limit), n_bytes
    return _read_matlab(name, n_bytes, weights, memory_limit), n_bytes


def _read_parquet(path: str, n_bytes: int, weights: str, asked: Columns, memory_limit: int | None) -> Edges:
    """The edges of a Parquet file, of which only the columns of ends and weights are read."""
    try:
        from pyarrow import array, parquet
    except ImportError:
        raise ImportError(f'{path} is a Parquet file, which pyarrow reads: pip install "graphclust[dask]"') from None
    if asked.header is not None:
        raise ParameterError(f"header={asked.header!r} is for text, and {path} is a Parquet file; leave it out")
    with name_failures(path, "is no Parquet file"):
        metadata = parquet.read_metadata(path)
        names = parquet.read_schema(path).names
    check_memory(path, 1, metadata.num_rows, True, n_bytes, memory_limit)
    source, target, weight = _columns(names, asked, path)
    weight = None if weights == "ignore" else weight
    wanted = [name for name in (source, target, weight) if name is not None]
    with name_failures(path, "is no Parquet file"):
        table = parquet.read_table(path, columns=wanted)
    if weights == "abs" and weight is not None:
        sizes = array(np.abs(np.asarray(table[weight], np.float64)))
        table = table.set_column(wanted.index(weight), weight, sizes)
    edges = edges_of_table(table, source, target, weight)
    edges.path = path
    return edges


def _columns(names: list[str], asked: Columns, path: str) -> tuple[str, str, str | None]:
    """The names of the columns for the ends and for the weights."""

    def choose(argument: str) -> str | None:
        column = getattr(asked, argument)
        if isinstance(column, int) and 0 <= column < len(names):
            return names[column]
        if column is not None and column not in names:
            raise ParameterError(f"{argument}={column!r} is no column of {path}, expected one of {names}")
        return column

    ends = choose("source"), choose("target")
    if None in ends:
        pairs = find_ends(names) or ([(0, 1)] if len(names) == 2 else [])
        if len(pairs) != 1:
            raise GraphFormatError(
                f"has the columns {names}, of which no two are plainly the ends of an edge; name them by source= and "
                "target=",
                path,
            )
        found = names[pairs[0][0]], names[pairs[0][1]]
        ends = ends[0] or found[0], ends[1] or found[1]
    others = [name for name in names if name not in ends]
    place, _ = weight_among(others)
    return str(ends[0]), str(ends[1]), choose("weight") or (None if place is None else others[place])


def _read_matlab(path: str, n_bytes: int, weights: str, memory_limit: int | None) -> Edges:
    """The edges of the one square matrix of a MATLAB file."""
    from scipy import io

    with open(path, "rb") as file:
        if file.read(10) == b"MATLAB 7.3":
            raise GraphFormatError("is of MATLAB 7.3, expected version 7 or older; save it with the option -v7", path)
    with name_failures(path, "holds no matrix of MATLAB"):
        for _, shape, _ in io.whosmat(path):
            check_memory(path, max(shape, default=1), 0, True, n_bytes, memory_limit)
        variables = io.loadmat(path)
        matrix = _matrix(variables, path)
    entries = sparse.coo_array(matrix)
    if entries.shape[0] != entries.shape[1] or entries.shape[0] == 0:
        raise GraphValidationError(f"{path}: the matrix has shape {entries.shape}, expected a square one")
    values = None
    if weights != "ignore" and entries.dtype.kind in "iuf":
        values = entries.data.astype(np.float64)
        values = np.abs(values) if weights == "abs" else values
        refuse_impossible(values, path)
    row, column = entries.coords
    edges = Edges(path, entries.shape[0], [(row.astype(np.int32), column.astype(np.int32), values)], symmetric="full")
    edges.details["weighted"] = values is not None
    return edges


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
