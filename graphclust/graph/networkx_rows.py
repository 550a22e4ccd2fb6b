"""The adjacency of a NetworkX graph as CSR rows, read from its dicts: one pass for the ends, one for each attribute."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from operator import methodcaller
from typing import Any

import numpy as np
from scipy import sparse


def networkx_rows(G: Any, *weights: str | None) -> tuple[list[sparse.csr_array], Sequence[Hashable]]:
    """The adjacency matrix of a networkx graph under each edge attribute, and its nodes in their order.

    weights : edge attributes; an edge without one counts 1, and with None all do. Of parallel edges they are summed.

    Matrices are float64 CSR with sorted rows, of which a self-loop is one entry; they share their indices.

    Raises TypeError, ValueError or OverflowError where an attribute is no number; None becomes NaN.
    """
    nodes, adjacency = list(G), [neighbors for _, neighbors in G.adjacency()]
    n = len(nodes)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(map(len, adjacency), np.int64, n), out=indptr[1:])
    n_entries = int(indptr[-1])
    ends: Iterable[Any] = chain.from_iterable(adjacency)
    if nodes != list(range(n)):
        number = {node: row for row, node in enumerate(nodes)}
        ends = map(number.__getitem__, ends)
    order = sparse.csr_array((np.arange(n_entries), np.array(list(ends), np.int32), indptr), shape=(n, n))
    order.sort_indices()
    matrices = []
    for weight in weights:
        values = _values(adjacency, weight, G.is_multigraph(), n_entries)[order.data]
        matrices.append(sparse.csr_array((values, order.indices, order.indptr), shape=(n, n)))
    return matrices, nodes


def _values(adjacency: list[Any], weight: str | None, is_multigraph: bool, n_entries: int) -> np.ndarray:
    """What each entry holds, in the order of the dicts."""
    # One row of edges at a time: to hold them all would have Python's collector look through the whole graph.
    edges = chain.from_iterable(map(methodcaller("values"), adjacency))
    if not is_multigraph:
        if weight is None or not any(chain.from_iterable(map(methodcaller("values"), adjacency))):
            return np.ones(n_entries)  # no edge has any attribute
        return np.array([attributes.get(weight, 1.0) for attributes in edges], np.float64)
    if weight is None:
        return np.fromiter(map(len, edges), np.float64, n_entries)
    return np.array([np.sum([one.get(weight, 1.0) for one in edge.values()], dtype=np.float64) for edge in edges])
