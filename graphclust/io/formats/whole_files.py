"""Binary files that are read whole: archives of arrays, Parquet tables of edges, sparse matrices of MATLAB.

What an archive claims is checked before its arrays are read, and the arrays before they are followed: a row start
beyond the entries, or an index beyond the shape, would lead SciPy's own conversions out of their memory.
"""

import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphClustError, GraphFormatError, GraphValidationError, ParameterError
from graphclust.graph.matrices import with_checked_arrays
from graphclust.io.edges import Edges, check_memory, refuse_impossible
from graphclust.io.formats.array_files import BROKEN, ArrayArchive, name_failures, open_archive
from graphclust.io.tables import edges_of_table
from graphclust.io.text.edge_lines import Reading

# The arrays of each of SciPy's formats beside data, format and shape.
LAYOUTS = {
    "csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"), "coo": ("row", "col"),
    "dia": ("offsets",),
}  # fmt: skip
PREFIXES = ("", "adj_")  # before the names of plain arrays; the second in files of citation and co-purchase graphs
_COMPLAINT = "holds no matrix of scipy.sparse.save_npz"
_LONGEST_FORMAT = 3  # letters


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
        matrix = _matrix_of_matlab(io.loadmat(path), path)
        # SciPy cuts what is stored beyond the last column, where a whole file has zeros if anything.
        stored = matrix.data.base if sparse.issparse(matrix) else None
        if isinstance(stored, np.ndarray) and stored[len(matrix.data) :].any():
            raise ValueError(f"its columns end at entry {len(matrix.data)}, but {len(stored)} are stored")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise GraphValidationError(f"{path}: the matrix has shape {matrix.shape}, expected a square one")
    return edges_of_matrix(matrix, path, reading.weights, "holds no matrix of MATLAB"), n_bytes


def _matrix_of_matlab(variables: dict[str, Any], path: str) -> Any:
    """The one matrix of a file: that of the SuiteSparse collection's Problem, the sparse one, or the square one."""
    there = {name: value for name, value in variables.items() if not name.startswith("__")}
    problem = there.get("Problem")
    if isinstance(problem, np.ndarray) and "A" in (problem.dtype.names or ()) and problem.size == 1:
        return problem["A"].item()
    names = [name for name, value in there.items() if sparse.issparse(value)]
    arrays = {name: value for name, value in there.items() if isinstance(value, np.ndarray) and value.ndim == 2}
    names = names or [name for name, a in arrays.items() if a.dtype.kind in "biuf" and a.shape[0] == a.shape[1]]
    if len(names) != 1:
        wrong = f"holds {len(names)} matrices that may be the graph among {', '.join(there) or 'no variables'}"
        raise GraphFormatError(f"{wrong}; expected one sparse matrix, or one square one", path)
    return there[names[0]]


def read_matrix_archive(path: str, reading: Reading) -> tuple[Edges, int]:
    """The entries of the matrix as edges, and the bytes of its arrays.

    The archive has the arrays of `scipy.sparse.save_npz`; or those of CSR, indptr and indices, and if weighted data,
    with or without shape; or row, col and shape, and if weighted data. Other arrays are left alone.
    """
    with open_archive(path, path, _COMPLAINT, reading.memory_limit) as archive:
        matrix, weighted, n_bytes = _matrix(archive, path, reading.memory_limit)
    return edges_of_matrix(matrix, path, reading.weights if weighted else "ignore", _COMPLAINT), n_bytes


def edges_of_matrix(matrix: Any, path: str, weights: str | None, complaint: str) -> Edges:
    """The entries of a square matrix of SciPy's or NumPy's as edges, once its arrays are checked.

    weights : as `load_graph` takes them; of complex numbers only their sizes can be weights.
    """
    try:
        checked = with_checked_arrays(matrix, "the matrix") if sparse.issparse(matrix) else sparse.coo_array(matrix)
        entries = checked.tocoo()
    except GraphValidationError as problem:
        raise GraphFormatError(f"{complaint}: {problem}", path) from None
    row, column, data = entries.row, entries.col, entries.data
    weighted = data.dtype != bool and weights != "ignore"
    kept = np.ones(len(data), bool) if weighted else data != 0
    values = None
    if weighted:
        if data.dtype.kind == "c" and weights != "abs":
            raise GraphValidationError(
                f"{path}: the matrix is complex, expected real weights: "
                'pass weights="abs" for the sizes of its entries, or weights="ignore" to count every entry as 1'
            )
        values = (np.abs(data) if weights == "abs" else data).astype(np.float64)
        refuse_impossible(values, path, True, lambda i: f"({row[i]}, {column[i]})", weights == "signed")
    chunk = (row[kept].astype(np.int32), column[kept].astype(np.int32), values)
    return Edges(path, matrix.shape[0], [chunk], symmetric="full")


def _matrix(archive: ArrayArchive, path: str, memory_limit: int | None) -> tuple[sparse.sparray, bool, int]:
    """The checked matrix, whether it has weights, and the bytes of its arrays."""
    there = set(archive.names)
    if "format" in there:
        layout, prefix = _format(archive), ""
        names = ["coords"] if layout == "coo" and "coords" in there else list(LAYOUTS[layout])
    else:
        layout, prefix, names = _plain_layout(there)
    names = [prefix + name for name in names]
    if prefix + "shape" in there:
        of_shape = archive.header(prefix + "shape")
        if of_shape.dtype.kind not in "iu" or len(of_shape.shape) != 1 or of_shape.shape[0] > 3:
            problem = f"an array of shape {of_shape.shape} and type {of_shape.dtype}"
            raise ValueError(f"its shape is {problem}, expected two numbers")
        shape = tuple(archive.read(prefix + "shape")[0].tolist())
    else:
        shape = (archive.header(names[-1]).shape[0] - 1,) * 2
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 1:
        raise GraphValidationError(f"{path}: the matrix has shape {shape}, expected a square one")
    for name in names:
        if archive.header(name).dtype.kind not in "iu":
            raise ValueError(f"{name} has type {archive.header(name).dtype}, expected whole numbers")
    weighted = prefix + "data" in there or "format" in there
    stored = archive.header(prefix + "data" if weighted else names[0])
    if stored.dtype.kind not in "biufc":
        raise GraphFormatError(f"holds entries of dtype {stored.dtype}, expected numbers", path)
    check_memory(path, shape[0], prod(stored.shape), True, os.path.getsize(path), memory_limit)
    arrays = archive.read(*names, *[prefix + "data"] * weighted)
    data = arrays.pop() if weighted else np.ones(stored.shape)
    n_bytes = data.nbytes + sum(array.nbytes for array in arrays)
    if data.dtype.kind in "fc" and data.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        data = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)  # SciPy has no others
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    parts: tuple = (data, *arrays) if layout != "coo" else (data, arrays[0] if len(arrays) == 1 else tuple(arrays))
    matrix = getattr(sparse, f"{layout}_array")(parts, shape=shape)  # which follows no index yet
    return matrix, weighted, n_bytes


def _format(archive: ArrayArchive) -> str:
    """The format that SciPy has written, as bytes, or as text in old files."""
    header = archive.header("format")
    if header.shape != () or header.n_bytes > 4 * _LONGEST_FORMAT:
        raise ValueError(f"its format has shape {header.shape} and type {header.dtype}, expected a word")
    word = archive.read("format")[0].item()
    layout = word.decode("ascii") if isinstance(word, bytes) else str(word)
    if layout not in LAYOUTS:
        raise ValueError(f"its format is {layout!r}, expected one of {', '.join(LAYOUTS)}")
    return layout


def _plain_layout(there: set[str]) -> tuple[str, str, list[str]]:
    """The layout of arrays that no format is said of, what their names begin with, and the names."""
    for prefix in PREFIXES:
        if {prefix + "indptr", prefix + "indices"} <= there:
            return "csr", prefix, ["indices", "indptr"]
        if {prefix + "row", prefix + "col", prefix + "shape"} <= there:
            return "coo", prefix, ["row", "col"]
    raise ValueError(
        f"it is a zip archive of the arrays {', '.join(sorted(there)[:12])}; expected format, shape and data as SciPy "
        "writes them, or indptr and indices (with data, shape), or row, col and shape (with data)"
    )


# NAME(path, reading) gives the edges, and how many bytes were read.
WHOLE: dict[str, Callable[[str, Reading], tuple[Edges, int]]] = {
    "npz": read_matrix_archive, "parquet": _read_parquet, "mat": _read_matlab
}  # fmt: skip
