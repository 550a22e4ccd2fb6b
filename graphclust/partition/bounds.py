"""Bounds on what clusters hold: what a caller asks for, checked, and clusters that hold too little."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_number, as_weights
from graphclust.compiled.graphs.balance import balance_into
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.errors import GraphValidationError, ParameterError, amount
from graphclust.graph.container import Graph
from graphclust.partition.agglomeration import agglomerate
from graphclust.partition.contraction import contract
from graphclust.partition.levels import Run, filled, room_for, with_sums
from graphclust.partition.local_moving import refine
from graphclust.partition.overlay import split_disconnected

NodeWeight = npt.ArrayLike | str | None
NO_ROOM = "the nodes do not fit into the clusters"
ROUND_OFF = 1e-9  # of a bound: a product that differs from a whole number by less is that number
ROUNDS = 3  # of uniting small clusters, since moves and splits in between can make new ones


class Bounds(NamedTuple):
    """The size of each node, float64 (n,), and what a cluster may hold of them."""

    size: np.ndarray
    least: float
    most: float


def weights_in_words(node_weight: NodeWeight) -> str | None:
    """What the record of a call says of the weights of nodes: the attribute's name, or that they were given."""
    return node_weight if node_weight is None or isinstance(node_weight, str) else "given"


def as_sizes(G: Any, graph: Graph, node_weight: NodeWeight) -> np.ndarray:
    """The sizes of the nodes that `node_weight` stands for, float64 (n_nodes,): ones, an array, or an attribute.

    Raises TypeError, GraphValidationError for a wrong number of them and for sizes that are not > 0, ParameterError for
    an attribute that the nodes do not have.
    """
    if node_weight is None:
        return np.ones(graph.n_nodes)
    if isinstance(node_weight, str):
        if not hasattr(getattr(G, "nodes", None), "data"):
            raise TypeError(
                f"node_weight={node_weight!r} names a node attribute, which a {type(G).__name__} does not have; "
                "expected a networkx.Graph, or an array of the nodes' weights"
            )
        node_weight = _attribute(G, node_weight)
    size = as_weights(node_weight, graph.n_nodes, "node_weight")
    if size.min() <= 0.0:
        u = int(size.argmin())
        raise GraphValidationError(f"node_weight[{u}] is {size[u]:g}, expected weights > 0")
    return size


def _attribute(G: Any, name: str) -> list[Any]:
    values = [data.get(name) for _, data in G.nodes(data=True)]
    missing = sum(value is None for value in values)
    if missing:
        raise ParameterError(
            f"node_weight={name!r} is missing on {amount(missing, 'node')}, expected an attribute that every node has"
        )
    return values


def as_bounds(size: np.ndarray, min_size: Any, max_size: Any) -> Bounds:
    """Bounds that some number of clusters can meet, by the sizes alone; ParameterError says which numbers would do."""
    least = 0.0 if min_size is None else as_number(min_size, "min_size", above=0.0)
    most = np.inf if max_size is None else as_number(max_size, "max_size", above=0.0)
    total, heaviest = float(size.sum()), float(size.max())
    if least > total:
        raise ParameterError(f"min_size={min_size} is more than all nodes hold, expected at most {total:.12g}")
    if most < least:
        raise ParameterError(f"max_size={max_size} is less than min_size={min_size}, expected max_size >= {least:.12g}")
    if most < heaviest:
        raise ParameterError(
            f"max_size={max_size} is less than the heaviest node weighs, expected at least {heaviest:.12g}"
        )
    if least > 0.0 and most < np.inf:
        fewest, largest_k = math.ceil(total / most * (1.0 - ROUND_OFF)), math.floor(total / least * (1.0 + ROUND_OFF))
        if fewest > largest_k:
            raise ParameterError(
                f"no number of clusters of {min_size} to {max_size} makes up {total:.12g}: {largest_k} hold too little "
                f"and {fewest} too much; expected min_size <= {_below(total / fewest):.12g} or max_size >= "
                f"{_above(total / max(largest_k, 1)):.12g}"
            )
    return Bounds(size, least, most)


def _below(value: float) -> float:
    """A number of few digits that is no more."""
    return float(math.floor(value)) if value >= 1.0 else value


def _above(value: float) -> float:
    """A number of few digits that is no less."""
    return float(math.ceil(value))


def most_of_equal_parts(size: np.ndarray, k: int, max_imbalance: float) -> float:
    """What one of k parts may hold: the mean and so much more, rounded up where the sizes are whole numbers."""
    mean = float(size.sum()) / k
    most = (1.0 + max_imbalance) * mean
    return float(math.ceil(most - ROUND_OFF * most)) if (size == np.floor(size)).all() else most * (1.0 + ROUND_OFF)


def refuse_small_components(graph: Graph, size: np.ndarray, min_size: Any) -> None:
    """ParameterError where a component holds less than a cluster has to."""
    holds = np.bincount(graph.components, weights=size)
    n_small = int(np.count_nonzero(holds < min_size))
    if n_small:
        have = "component holds" if n_small == 1 else "components hold"
        raise ParameterError(
            f"min_size={min_size} is more than {n_small} {have}, the smallest {holds.min():.12g}: expected at most "
            "that, or components='largest'"
        )


def meet_minimum(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition with no cluster below the least of the goal: small ones are united with neighbors that have room.

    Those that none has room for, such as leaves of a hub, are united with others of the same neighbor; and to those
    that are left nodes come from others, or leave them for others. ParameterError where that does not succeed either.
    """
    for left in range(ROUNDS - 1, -1, -1):
        if _smallest(level, found) >= goal.least:
            return found
        step = contract(level, found, run)
        found = step.project(agglomerate(step.coarse, goal, run))
        if left > 0:
            found = split_disconnected(level, refine(level, found, goal, run), run)
    step = contract(level, found, run)
    found = step.project(_unite_with_neighbors(step.coarse, goal, run))
    if _smallest(level, found) >= goal.least:
        return found
    room = room_for(level, len(found.sums.size))
    k, within = balance_into(level, found, goal, np.zeros(len(found.sums.size)), room)
    if not within:
        raise ParameterError(
            f"no clusters of {goal.least:.12g} to {goal.most:.12g} were found: {NO_ROOM}; expected a smaller min_size "
            "or a larger max_size"
        )
    return filled(room, k)


def _unite_with_neighbors(level: Level, goal: Goal, run: Run) -> Partition:
    """Clusters, the nodes of a level, with those below the least united that have their strongest link to the same."""
    rows, size = level.rows, level.terms.size
    small = np.flatnonzero(size < goal.least)
    ends = [(rows.indptr[c], rows.indptr[c + 1]) for c in small]
    linked = np.array([rows.indices[a + rows.weights[a:b].argmax()] if b > a else -1 for a, b in ends], np.int64)
    labels, into, load, last = np.arange(len(size)), -1, 0.0, -1
    for i in np.lexsort((small, linked)):
        c = small[i]
        if into >= 0 and linked[i] == last and load < goal.least and load + size[c] <= goal.most:
            labels[c] = into
            load += size[c]
        else:
            into, load, last = c, size[c], linked[i]
    used, labels = np.unique(labels, return_inverse=True)
    return with_sums(level, labels.astype(np.int32), len(used), run)


def _smallest(level: Level, found: Partition) -> float:
    """What the cluster holds that holds least."""
    return float(np.bincount(found.labels, level.terms.size).min())
