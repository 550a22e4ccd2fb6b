"""An order of the nodes that depends on the graph, not on the order of the input.

Nodes are ordered by a hash of their neighborhoods. Ties are in the order of the names or, without names, of the input.

Source: Weisfeiler & Lehman 1968 for the refinement of the hash.
"""

from collections.abc import Hashable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_names
from graphclust.compiled.graphs.csr import hash_neighbors, reorder_rows
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.compiled.runtime.random_numbers import mix_bits
from graphclust.graph.container import Graph

MOST_ENTRIES = 1 << 22  # of a graph put in order of its structure; beyond, that takes half as long as clustering
ROUNDS = 3  # of refinement: the hash depends on all nodes within three steps
STEP = np.uint64(0x9E3779B97F4A7C15)  # between numbers that are mixed (Steele, Lea & Flood 2014, SplitMix)
mix_words = mix_bits.py_func  # the formula as it is written, which NumPy applies to arrays of uint64
NUMBER, TEXT, SEQUENCE, OTHER = range(4)  # kinds of names, in their order


def node_names(graph: Graph) -> Sequence[Hashable]:
    """The caller's nodes, in the order of the rows."""
    nodes = graph.nodes
    if nodes is None:
        return range(graph.n_nodes)
    return as_names(nodes) if isinstance(nodes, np.ndarray) else nodes


def listing_order(graph: Graph) -> npt.NDArray[np.int64]:
    """The nodes in the order of their names or, without names, of the rows; int64, shape (n_nodes,)."""
    return np.arange(graph.n_nodes) if graph.nodes is None else order_of_names(graph.nodes)


def node_order(graph: Graph) -> npt.NDArray[np.int64]:
    """The nodes in the order of their neighborhoods, ties by name or by row; shape (n_nodes,).

    For a graph of more than 4 million entries it is `listing_order`.
    """
    named = listing_order(graph)
    return named if graph.n_entries > MOST_ENTRIES else named[order_of_structure(graph, named)]


def order_of_names(names: Sequence[Hashable] | npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The places of the names in increasing order: numbers before texts, each by value; int64, shape (n,).

    >>> order_of_names(["b", 10, "a", 9.5])
    array([3, 1, 2, 0])
    """
    if isinstance(names, np.ndarray) and names.dtype.kind in "iuUS":
        return np.argsort(names, kind="stable").astype(np.int64)
    listed = as_names(names)
    kinds = {*map(type, listed)}
    if kinds == {int} and (numbers := np.array(listed)).dtype.kind in "iu":  # else some are too large for an array
        return np.argsort(numbers, kind="stable").astype(np.int64)
    if kinds == {str}:
        return np.array(sorted(range(len(listed)), key=listed.__getitem__), np.int64)
    return np.array(sorted(range(len(listed)), key=[_rank(name) for name in listed].__getitem__), np.int64)


def _rank(name: Any) -> tuple[Any, ...]:
    """The key by which a name is compared; names of unusual types go by type and representation."""
    if isinstance(name, str):
        return TEXT, name
    if isinstance(name, Real) and name == name:
        return NUMBER, name
    if isinstance(name, tuple):
        return SEQUENCE, tuple(_rank(part) for part in name)
    kind = type(name)
    if isinstance(name, frozenset):
        return OTHER, kind.__qualname__, str(sorted(_rank(part) for part in name))
    written = "" if kind.__repr__ is object.__repr__ else repr(name)  # an address is another in each process
    return OTHER, kind.__qualname__, written


def order_of_structure(graph: Graph, before: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Places in the order before, sorted by a hash of each node's neighborhood; ties stay.

    The hash does not begin with the number of neighbors: at equal gains the lower node is taken, which would then be
    the one with fewer neighbors.
    """
    bits = np.empty(0, np.uint64)
    if graph.weights is not None:
        bits = (graph.weights / graph.weights.max()).view(np.uint64)
    seen, blocks = mix_words(np.diff(graph.indptr).astype(np.uint64) + STEP), entry_blocks(graph.indptr)
    for _ in range(ROUNDS):
        hashed = np.empty_like(seen)
        run_in_blocks(hash_neighbors, blocks, graph.rows, bits, seen, hashed)
        seen = hashed
    return np.argsort(seen[before], kind="stable").astype(np.int64)


def in_order(graph: Graph, order: npt.NDArray[np.int64]) -> Graph:
    """The graph with its nodes in that order, without names and remarks; the same graph if it is in that order."""
    n = graph.n_nodes
    if np.array_equal(order, np.arange(n)):
        return graph
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    indptr, weights = np.zeros(n + 1, np.int64), None if graph.weights is None else np.empty(graph.n_entries)
    np.cumsum(np.diff(graph.indptr)[order], out=indptr[1:])
    made = Rows(indptr, np.empty(graph.n_entries, np.int32), np.empty(0) if weights is None else weights)
    reorder_rows(graph.rows, order, place, indptr[:-1].copy(), made)
    return Graph(indptr, made.indices, weights, graph.degrees[order], graph.loops[order])


def in_rows(values: npt.NDArray[Any], order: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Values in the order of `in_order` as values in the order of the rows."""
    by_row = np.empty_like(values)
    by_row[order] = values
    return by_row
