"""The links of every node to every cluster as a table, which is kept up while nodes move.

Where rows are longer than there are clusters, to look at a row of the table takes less than to add up the links of a
node, and where one node moves many look again. Sums that links are added to and taken from stay what a row of the graph
adds up to where nothing is rounded, which is so for whole numbers: of a graph without weights, or with counts.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.objective import PLAIN, RATIO, Objective, better_of, gain_of_joining
from graphclust.compiled.runtime.references import INLINED, UNCOUNTED

EXACT = 2.0**53  # up to this, sums of whole numbers are not rounded


class LinkTable(NamedTuple):
    """The weight of each node to the others of each cluster, (n, k), and (k,) scratch."""

    links: np.ndarray
    gains: np.ndarray


@njit(cache=True, nogil=True, **UNCOUNTED)
def table_pays(rows, terms, k):
    """Whether a table of k clusters is no larger than the graph, and its sums are never rounded."""
    n_whole, most = 0, 0.0
    if len(terms.degrees) * k > len(rows.indices):
        return False
    for e in range(len(rows.weights)):
        n_whole += rows.weights[e] == np.floor(rows.weights[e])
    for u in range(len(terms.degrees)):
        most = max(most, terms.degrees[u])
    return n_whole == len(rows.weights) and most <= EXACT


@njit(cache=True, nogil=True)
def table_of(rows, labels, k):
    """The table of a partition into k clusters, every node being in one of them."""
    made = LinkTable(np.zeros((len(labels), k)), np.empty(k))
    _fill(rows, labels, made)
    return made


@njit(cache=True, nogil=True, **UNCOUNTED)
def _fill(rows, labels, table):
    weighted = len(rows.weights) > 0
    for u in range(len(labels)):
        links = table.links[np.uint32(u)]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            links[np.uint32(labels[v])] += (rows.weights[e] if weighted else 1.0) * np.float64(v != u)


@njit(cache=True, nogil=True, **INLINED)
def note_move(u, own, to, rows, table):
    """Node u goes from its own cluster to another."""
    weighted = len(rows.weights) > 0
    for e in range(rows.indptr[u], rows.indptr[u + 1]):
        v = np.uint32(rows.indices[e])
        w = (rows.weights[e] if weighted else 1.0) * np.float64(v != u)
        table.links[v, np.uint32(own)] -= w
        table.links[v, np.uint32(to)] += w


@njit(cache=True, nogil=True, **INLINED)
def best_in_table(objective, u, own, terms, sums, table):
    """The other cluster linked to u that u gains most by joining and the gain; -1 and minus infinity without any."""
    # Which kind it is is asked here, not of every cluster.
    if objective.kind == RATIO:
        ratio = Objective(RATIO, objective.pull, objective.unit)
        _gains_by(ratio, u, terms, sums, table)
    else:
        plain = Objective(PLAIN, objective.pull, objective.unit)
        _gains_by(plain, u, terms, sums, table)
    gains, best, most = table.gains, np.int32(-1), -np.inf
    gains[own] = -np.inf
    for c in range(len(gains)):
        best, most = better_of(np.int32(c), gains[c], best, most)
    return best, most


@njit(cache=True, nogil=True, **INLINED)
def _gains_by(objective, u, terms, sums, table):
    """What u gains by joining each cluster, minus infinity without links: several at a time, as none asks for others.

    A cluster without mass has no node, so no links: what the division makes of it is not taken.
    """
    links, loop, mass = table.links[np.uint32(u)], terms.loops[u], terms.mass[u]
    for c in range(len(links)):
        gain = gain_of_joining(objective, links[c], loop, mass, sums.inside[c], sums.mass[c])
        table.gains[c] = gain if links[c] > 0.0 else -np.inf
