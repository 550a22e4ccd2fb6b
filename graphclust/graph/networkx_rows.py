"""The adjacency of a NetworkX graph as CSR rows, read from its dicts: one pass for the ends, one for each attribute."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, compress
from math import fsum, inf
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
    sizes = np.fromiter(map(len, adjacency), np.int64, n)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    ends = _rows_of_ends(nodes, adjacency, int(indptr[-1]))
    if len(ends) < np.iinfo(ends.dtype).max:
        indptr = indptr.astype(ends.dtype)  # else SciPy makes all of them wide
    order = sparse.csr_array((np.arange(len(ends)), ends, indptr), shape=(n, n))
    if G.is_directed():
        order.sort_indices()
        is_read, places = np.ones(len(ends), bool), order.data
    else:  # both entries of an edge have the same attributes: they are read once, which halves the waits for memory
        is_read = np.repeat(np.arange(n, dtype=ends.dtype), sizes) <= ends
        mirrored = order.tocsc().T  # with sorted rows, in less time than sorting takes
        order = mirrored.tocsc().T
        places = np.where(is_read[order.data], order.data, mirrored.data)
    matrices = []
    for weight in weights:
        values = _values(adjacency, weight, G.is_multigraph(), is_read)[places]
        matrices.append(sparse.csr_array((values, order.indices, order.indptr), shape=(n, n)))
    return matrices, nodes


def _rows_of_ends(nodes: list[Hashable], adjacency: list[Any], n_entries: int) -> np.ndarray:
    """The row of each neighbor, int32, in the order of the dicts."""
    n, ends = len(nodes), chain.from_iterable(adjacency)
    if n and {*map(type, nodes)} == {int}:
        numbers = np.array(nodes, object)
        low, high = numbers.min(), numbers.max()
        if low >= 0 and high < 4 * n + 1000:  # a table is read several times as fast as a dict
            row_of = np.empty(high + 1, np.int32)
            row_of[numbers.astype(np.int64)] = np.arange(n, dtype=np.int32)
            return row_of[np.fromiter(ends, np.int64, n_entries)]
    number = {node: row for row, node in enumerate(nodes)}
    return np.array(list(map(number.__getitem__, ends)), np.int32)


def _values(adjacency: list[Any], weight: str | None, is_multigraph: bool, is_read: np.ndarray) -> np.ndarray:
    """What each entry holds, in the order of the dicts; any number for an entry that is not to be read."""
    chosen, values = is_read.tobytes(), np.ones(len(is_read))

    def edges() -> Iterator[Any]:
        # One row at a time: to hold all edges would have Python's collector look through the whole graph.
        return compress(chain.from_iterable(map(methodcaller("values"), adjacency)), chosen)

    if is_multigraph and weight is None:
        values[is_read] = np.array(list(map(len, edges())), np.float64)
    elif is_multigraph:
        values[is_read] = np.array([_sum([one.get(weight, 1.0) for one in edge.values()]) for edge in edges()])
    elif weight is not None and any(edges()):  # else no edge has any attribute
        values[is_read] = _attributes(np.fromiter(edges(), object, np.count_nonzero(is_read)), weight)
    return values


def _sum(weights: list[Any]) -> float:
    """The sum of the weights of parallel edges, the same in any order."""
    total = float(np.sum(weights, dtype=np.float64))
    return fsum(weights) if len(weights) > 2 and abs(total) < inf else total


def _attributes(edges: np.ndarray, weight: str) -> np.ndarray:
    """What the dicts of edges hold under a name, 1 where they do not.

    They are read in the order of their addresses, near that in which they were made: 11 times as fast where rows have
    another order, since a dict and what it holds lie together.
    """
    order = np.argsort(np.frombuffer(edges, np.intp))
    values = np.empty(len(edges))
    values[order] = np.array([attributes.get(weight, 1.0) for attributes in edges[order].tolist()], np.float64)
    return values
