"""Sparse matrices in archives of NumPy arrays: as `scipy.sparse.save_npz` writes them, or plain arrays of one.

What the arrays claim is checked before they are read, and the arrays before they are followed: a row start beyond the
entries, or an index beyond the shape, would lead SciPy's own conversions out of their memory.
"""

import os
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphFormatError, GraphValidationError
from graphclust.graph.matrices import with_checked_arrays
from graphclust.io.edges import Edges, check_memory
from graphclust.io.formats.array_files import ArrayArchive, open_archive
from graphclust.io.text.edge_lines import Reading
from graphclust.io.weight_checks import refuse_impossible

# The arrays of each of SciPy's formats beside data, format and shape.
LAYOUTS = {
    "csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"), "coo": ("row", "col"),
    "dia": ("offsets",),
}  # fmt: skip
PREFIXES = ("", "adj_")  # before the names of plain arrays; the second in files of citation and co-purchase graphs
_COMPLAINT = "holds no matrix of scipy.sparse.save_npz"
_LONGEST_FORMAT = 3  # letters


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
    edges = Edges(path, matrix.shape[0], [chunk], symmetric="full")
    edges.details["weighted"] = values is not None
    return edges


def _matrix(archive: ArrayArchive, path: str, memory_limit: int | None) -> tuple[sparse.sparray, bool, int]:
    """The checked matrix, whether it has weights, and the bytes of its arrays."""
    there = set(archive.names)
    if "format" in there:
        layout, prefix = _format(archive), ""
        names = ["coords"] if layout == "coo" and "coords" in there else list(LAYOUTS[layout])
    else:
        layout, prefix, names = _plain_layout(there)
    names = [prefix + name for name in names]
    shape = _shape(archive, prefix) if prefix + "shape" in there else (archive.header(names[-1]).shape[0] - 1,) * 2
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
    *arrays, data = (
        archive.read(*names, prefix + "data") if weighted else (*archive.read(*names), np.ones(stored.shape))
    )
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


def _shape(archive: ArrayArchive, prefix: str) -> tuple[int, ...]:
    header = archive.header(prefix + "shape")
    if header.dtype.kind not in "iu" or len(header.shape) != 1 or header.shape[0] > 3:
        raise ValueError(f"its shape is an array of shape {header.shape} and type {header.dtype}, expected two numbers")
    return tuple(archive.read(prefix + "shape")[0].tolist())
