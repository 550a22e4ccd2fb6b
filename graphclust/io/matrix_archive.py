"""Matrices that `scipy.sparse.save_npz` wrote: an archive of NumPy arrays. Pickled objects are never loaded."""

from __future__ import annotations

import os
import zipfile

import numpy as np
from scipy import sparse

from graphclust.errors import GraphFormatError, GraphValidationError
from graphclust.io.edges import Edges, check_memory
from graphclust.io.weight_checks import refuse_impossible
from graphclust.progress import Progress

_LEAST_BYTES = 4  # of an index in a file
# What NumPy, SciPy and zipfile raise for content that they cannot read.
NOT_A_MATRIX = (ValueError, KeyError, EOFError, TypeError, OverflowError, NotImplementedError, zipfile.BadZipFile)


def is_matrix_archive(path: str | os.PathLike) -> bool:
    """Whether a file is an archive that holds the shape of a matrix."""
    if not os.path.isfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return {"format.npy", "shape.npy"} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def read_matrix_archive(
    path: str | os.PathLike, weights: str, memory_limit: int | None, progress: Progress
) -> tuple[Edges, int]:
    """The entries of the matrix as edges, and the bytes of its arrays."""
    name = os.fsdecode(path)
    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
        with np.load(path, allow_pickle=False) as stored:
            shape = stored["shape"].tolist()
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 1:
            raise GraphValidationError(f"{name}: the matrix has shape {tuple(shape)}, expected a square one")
        entries = n_bytes // (2 * _LEAST_BYTES)
        check_memory(name, shape[0], entries, True, os.path.getsize(path), memory_limit)
        matrix = sparse.load_npz(path).tocoo()
    except NOT_A_MATRIX as problem:
        if isinstance(problem, GraphValidationError):
            raise
        raise GraphFormatError(f"holds no matrix of scipy.sparse.save_npz: {problem}", name) from None
    progress.step(1, 1)
    data = matrix.data
    if data.dtype.kind not in "biuf":
        raise GraphFormatError(f"holds entries of dtype {data.dtype}, expected real numbers", name)
    if any(matrix.nnz and (place.min() < 0 or place.max() >= shape[0]) for place in (matrix.row, matrix.col)):
        raise GraphFormatError(f"has entries outside its shape {tuple(shape)}", name)
    kept = data != 0 if data.dtype == bool or weights == "ignore" else np.ones(len(data), bool)
    values = None if data.dtype == bool or weights == "ignore" else data.astype(np.float64)
    if values is not None:
        values = np.abs(values) if weights == "abs" else values
        refuse_impossible(values, name)
    chunk = (matrix.row[kept].astype(np.int32), matrix.col[kept].astype(np.int32), values)
    edges = Edges(name, shape[0], [chunk], symmetric="full")
    edges.details["weighted"] = values is not None
    return edges, n_bytes
