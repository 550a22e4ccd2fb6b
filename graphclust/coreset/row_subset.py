"""Rows of some nodes as values that travel: taken from blocks of the graph, joined, and linked among themselves."""

from typing import Protocol

import numpy as np

from graphclust.compiled.graphs import row_subset as loops
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.graphs.row_subset import ChosenRows
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.graph.container import Graph
from graphclust.objective.kernel import KernelTerms, NormalizedCutKernel


class KernelSource(Protocol):
    """A graph and the terms of its kernel: a `NormalizedCutKernel`, or a `GraphSource`."""

    @property
    def graph(self) -> Graph: ...

    def terms(self, at: slice | np.ndarray) -> KernelTerms: ...


def rows_of(source: KernelSource, nodes: np.ndarray) -> ChosenRows:
    """The rows of some nodes, in increasing order."""
    terms = source.terms(nodes)
    return ChosenRows(nodes, *copy_row_subset(source.graph.rows, nodes), terms.degrees, terms.self_affinity)


def copy_row_subset(rows: Rows, nodes: np.ndarray, most: int | None = None) -> Rows:
    """The rows of some nodes, one after the other; of more than `most` entries so many, evenly from the whole row."""
    lengths = rows.indptr[nodes + 1] - rows.indptr[nodes]
    indptr = np.concatenate([[0], np.cumsum(lengths if most is None else np.minimum(lengths, most))])
    chosen = Rows(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1] if len(rows.weights) else 0))
    run_in_blocks(loops.copy_rows, entry_blocks(indptr), nodes, rows, chosen)
    return chosen


def concatenate_rows(source: KernelSource, parts: list[ChosenRows]) -> ChosenRows:
    """The rows of several blocks, one after the other."""
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    nodes, _, indices, weights, degrees, self_affinity = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return ChosenRows(nodes, indptr, indices, weights, degrees, self_affinity)


def kernel_among(rows: ChosenRows, point_weights: np.ndarray) -> NormalizedCutKernel:
    """The kernel between the chosen nodes themselves, numbered by their places, with these point weights."""
    places = np.searchsorted(rows.nodes, rows.indices)
    inside = np.append(rows.nodes, -1)[places] == rows.indices
    counts = np.concatenate([[0], np.cumsum(inside)])
    indptr = counts[rows.indptr]
    weights = rows.weights[inside] if len(rows.weights) else None
    indices = places[inside].astype(np.int32)
    row_of = np.repeat(np.arange(len(rows.nodes)), np.diff(indptr))
    ones_or_weights = np.ones(len(indices)) if weights is None else weights
    degrees: np.ndarray = np.bincount(row_of, ones_or_weights, minlength=len(rows.nodes))
    on_diagonal = row_of == indices
    node_loops: np.ndarray = np.bincount(row_of[on_diagonal], ones_or_weights[on_diagonal], minlength=len(rows.nodes))
    graph = Graph(indptr, indices, weights, degrees, node_loops)
    return NormalizedCutKernel(graph, rows.degrees, rows.self_affinity, point_weights)


def kernel_towards_block(
    source: KernelSource, first: int, last: int, rows: ChosenRows
) -> tuple[NormalizedCutKernel, np.ndarray]:
    """The kernel between the nodes first..last-1 and the chosen nodes, and the numbers of the chosen nodes in it.

    Nodes of the block are numbered from 0, chosen ones that lie elsewhere follow. Only chosen nodes have rows.
    """
    n, m = last - first, len(rows.nodes)
    own = slice(*np.searchsorted(rows.nodes, [first, last]))
    numbers = n + np.arange(m)
    numbers[own] = rows.nodes[own] - first
    starts, ends = np.empty((2, m), np.int64)
    loops.bound_columns(first, last, rows, starts, ends)
    order = np.argsort(numbers, kind="stable")
    lengths = np.zeros(n + m, np.int64)
    lengths[numbers] = ends - starts
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    taken = np.repeat(starts[order] - indptr[numbers[order]], lengths[numbers[order]]) + np.arange(indptr[-1])
    weights = rows.weights[taken] if len(rows.weights) else None
    own_terms = source.terms(slice(first, last))
    degrees = np.concatenate([own_terms.degrees, rows.degrees])
    self_affinity = np.concatenate([own_terms.self_affinity, rows.self_affinity])
    graph = Graph(indptr, rows.indices[taken] - np.int32(first), weights, degrees, np.zeros(n + m))
    return NormalizedCutKernel(graph, degrees, self_affinity, degrees), numbers
