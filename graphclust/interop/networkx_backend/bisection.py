"""NetworkX's bisection, on a `BackendGraph`: arguments, sizes of the halves and errors are those of NetworkX."""

from __future__ import annotations

import random
from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.node_order import in_order, in_rows, node_order
from graphclust.interop.networkx_backend.backend_graph import BackendGraph
from graphclust.interop.networkx_backend.communities import ROUND_OFF
from graphclust.interop.networkx_backend.quality import is_partition, labels_of
from graphclust.interop.seeds import as_rng
from graphclust.objective.cuts import cut_and_volume
from graphclust.partition.balanced_partition import balanced_partition, refine_parts

FEW_NODES = 1000  # of a graph that is swept: each node of a sweep looks at all others
_NO_SEED = vars(random)["_inst"]  # what NetworkX hands on where its caller gave none
RANDOM_STARTS = 4  # of sweeps, beside the partition of the multilevel method
Halves = tuple[set[Hashable], set[Hashable]]


def kernighan_lin_bisection(
    G: BackendGraph, partition=None, max_iter=10, weight="weight", seed=None, **options: Any
) -> Halves:
    """Two halves with a small cut between them, as `balanced_partition` makes them; the first is never the smaller.

    partition : two sets of nodes, which keep their sizes; as in NetworkX the second of them comes first. A small graph
        is improved by Kernighan and Lin's sweeps, any by V-cycles.
    max_iter : sweeps at most, and V-cycles; the first that gains nothing is the last. Without a partition the effort
        decides, but for 0, which means random halves there too.
    seed : of what is random: where halves begin without a partition, and in both cases the V-cycles. With a partition
        None is 0, so that calls agree, as NetworkX's do; without one None draws anew in each call, as there.
    options : of `balanced_partition`; max_imbalance is 0 unless it is given.
    """
    if partition is not None and (seed is None or seed is _NO_SEED):
        seed = random.Random(0)  # nothing is random in NetworkX's either
    rng = np.random.default_rng(as_rng(seed))
    if partition is not None:
        if options:
            found = f"{next(iter(options))} is not an option where a partition is given"
            raise ParameterError(f"{found}; leave out it or the partition")
        labels = _labels_of_two(G, partition)
        if max_iter > 0 and G.has_edges and 0 < labels.sum() < len(G):
            graph = G.rows(weight)
            if len(G) <= FEW_NODES:
                labels = _sweep(graph, labels, 0, max_iter, rng)
            labels = refine_parts(graph, labels, max_iter, rng)
    elif max_iter > 0 and G.has_edges:
        labels = _bisection(G.rows(weight), max_iter, rng, options)
    else:
        labels = _random_halves(len(G), rng)
    first, second = ({G.nodes[row] for row in np.flatnonzero(labels == half).tolist()} for half in (0, 1))
    return first, second


def _bisection(graph: Graph, max_iter: int, rng: np.random.Generator, options: dict[str, Any]) -> np.ndarray:
    """The parts of `balanced_partition` as labels, 1 for the smaller; of a small graph the best of some starts."""
    found = balanced_partition(graph, 2, rng=rng, **{"max_imbalance": 0} | options).labels
    found = (found != np.bincount(found).argmax()).astype(np.int64)
    if graph.n_nodes > FEW_NODES:
        return found
    return _sweep(graph, found, RANDOM_STARTS, max_iter, rng)


def _sweep(graph: Graph, labels: np.ndarray, n_random: int, max_iter: int, rng: np.random.Generator) -> np.ndarray:
    """The labels after Kernighan and Lin's sweeps, or those of some random halves where these then cut less."""
    order = node_order(graph)
    ordered = in_order(graph, order)
    starts = [labels[order], *(_random_halves(graph.n_nodes, rng) for _ in range(n_random))]
    swept = [swap_pairs(ordered, start, max_iter) for start in starts]
    return in_rows(min(swept, key=lambda one: cut_and_volume(ordered, one, 2)[0].sum()), order)


def _random_halves(n: int, rng: np.random.Generator) -> np.ndarray:
    """Label 1 for half of the nodes, rounded down."""
    return (rng.permutation(n) >= n - n // 2).astype(np.int64)


def _labels_of_two(G: BackendGraph, partition: Any) -> np.ndarray:
    """Label 1 for the nodes of the first set, 0 for those of the second."""
    from networkx import NetworkXError

    try:
        first, second = map(set, partition)
    except (TypeError, ValueError):
        raise NetworkXError("partition must be two sets") from None
    if not is_partition(G, [first, second]):
        raise NetworkXError("partition invalid")
    return labels_of(G, [second, first])


def swap_pairs(graph: Graph, labels: np.ndarray, max_sweeps: int) -> np.ndarray:
    """Labels 0 and 1 after sweeps in which each node changes sides once, of which the best prefix of pairs is kept.

    Other than moves between linked clusters, a pair may be of nodes that no edge links to the other half.

    Source: Kernighan and Lin, "An efficient heuristic procedure for partitioning graphs", Bell System Technical
    Journal 1970.
    """
    matrix = graph.to_scipy()
    if graph.loops.any():  # they cut nothing, wherever their node is
        matrix = (matrix - sparse.diags_array(graph.loops)).tocsr()
    least = ROUND_OFF * matrix.sum()
    for _ in range(max_sweeps):
        sign = 1.0 - 2.0 * labels
        gain = -sign * (matrix @ sign)  # links to the other half less those to the own
        free = np.where(labels == np.array([[0], [1]]), gain, -np.inf)  # (2, n), of nodes that have not moved
        pairs, totals = [], [0.0]
        for _ in range(min(np.bincount(labels))):
            pair, total = [], totals[-1]
            for half in (0, 1):
                u = int(free[half].argmax())
                pair.append(u)
                total += free[half, u]
                free[half, u] = -np.inf
                row = slice(matrix.indptr[u], matrix.indptr[u + 1])
                free[half, matrix.indices[row]] += 2.0 * matrix.data[row]
                free[1 - half, matrix.indices[row]] -= 2.0 * matrix.data[row]
            pairs.append(pair)
            totals.append(total)
        best = int(np.argmax(totals))
        if totals[best] <= least:
            break
        labels = labels.copy()
        labels[np.array(pairs[:best])] ^= 1
    return labels
