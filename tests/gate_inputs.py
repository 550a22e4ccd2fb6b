"""Matrices for the gate, and what to compare of the graphs that come out."""

import hashlib
import warnings

import numpy as np
from graph_files import same_csr as same  # noqa: F401 - for the tests of the gate
from scipy import sparse

import graphclust as gc
from graphclust.graph.matrices import ROUND_OFF

PATH = sparse.csr_array([[0, 1.0, 0], [1, 0, 2], [0, 2, 0]])
ONE_WAY = np.array([[1.0, 2, 0], [0.5, 0, 4], [0, 0, 0]])


def fingerprint(matrix) -> str:
    """Hash of every array of a sparse matrix, in the order and types they are stored."""
    digest = hashlib.sha256()
    for name in ("data", "indices", "indptr", "row", "col", "rows", "offsets"):
        if (array := getattr(matrix, name, None)) is not None:
            digest.update(f"{name}{array.dtype}{array.shape}".encode())
            digest.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
    return digest.hexdigest()


def raw_csr(indptr, indices, data=None, n=None) -> sparse.csr_array:
    """A CSR matrix as a careless program leaves it: arrays set after scipy has checked."""
    n = len(indptr) - 1 if n is None else n
    matrix = sparse.csr_array((n, n))
    matrix.indptr, matrix.indices = np.asarray(indptr), np.asarray(indices)
    matrix.data = np.ones(len(matrix.indices)) if data is None else np.asarray(data)
    return matrix


def remarks_of(G, **options) -> tuple[gc.Graph, tuple[str, ...]]:
    """The graph and its remarks, which must be what the one warning says, but for those on rounding."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = gc.as_graph(G, **options)
    told = [remark for remark in graph.remarks if ROUND_OFF not in remark]
    assert len(caught) == bool(told)
    if caught:
        assert issubclass(caught[0].category, gc.GraphWarning) and str(caught[0].message) == "; ".join(told)
        assert caught[0].filename == __file__
    return graph, graph.remarks
