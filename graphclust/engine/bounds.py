"""Bounds on the sizes of clusters: checks of what a caller asks for, and the union of clusters that hold too little."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_names, as_number, as_weights
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.engine.cluster_sizes import Sizes, join_small, pack, packed_labels
from graphclust.engine.connectivity import find_connected_parts
from graphclust.engine.contraction import Contraction, contract
from graphclust.engine.levels import Run, Shares, at_nodes, number_used, read_only_level, value, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.settling import rebalance
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph

NodeWeight = npt.ArrayLike | Mapping[Any, float] | str | None
NO_ROOM = "the nodes fit into no clusters that were tried"
ROUND_OFF = 1e-9  # of a bound: a product that differs from a whole number by less is that number
TRIES = 16  # numbers of clusters that nodes are packed into by size alone
NEARLY = 0.5  # of the lower bound: a cluster that holds so much may take nodes, one that holds less is united
SHOWN = 5  # unions in a remark, and clusters of each


class Bounds(NamedTuple):
    """The size of each node, float64 (n,), and what a cluster may hold of them."""

    size: np.ndarray
    least: float
    most: float


def weights_in_words(node_weight: NodeWeight, graph: Graph) -> str | None:
    """The source of the nodes' weights, for the record of a call: the attribute's name, "given" or "file"."""
    if node_weight is None:
        return None if graph.node_weights is None else "file"
    return node_weight if isinstance(node_weight, str) else "given"


def as_sizes(G: Any, graph: Graph, node_weight: NodeWeight, *, may_be_zero: bool = False) -> np.ndarray:
    """The sizes of the nodes that `node_weight` stands for, float64 (n_nodes,): an array, names, or an attribute.

    By default those that the graph's file has, or ones.

    Raises TypeError, GraphValidationError for a wrong number of them, for nodes that have none and for sizes that are
    not > 0, or with may_be_zero >= 0, ParameterError for an attribute that the nodes do not have.
    """
    if node_weight is None:
        if graph.node_weights is None:
            return np.ones(graph.n_nodes)
        node_weight = graph.node_weights
    if isinstance(node_weight, str):
        node_weight = _attribute(G, node_weight)
    names = range(graph.n_nodes) if graph.nodes is None else as_names(graph.nodes)
    size = as_weights(order_by_name(node_weight, names, "node"), graph.n_nodes, "node_weight")
    if size.min() <= 0.0 and not may_be_zero:
        u = int(size.argmin())
        raise GraphValidationError(f"node_weight[{u}] is {size[u]:g}, expected weights > 0")
    return size


def order_by_name(node_weight: Any, names: Sequence[Any], what: str) -> Any:
    """The weights in the order of the names: those of a mapping, or of a pandas Series whose index holds names.

    A Series whose index holds none of the names goes by place, as an array does. what : is named, such as "node".
    """
    if not isinstance(node_weight, Mapping):
        index: Any = getattr(node_weight, "index", None)
        if not hasattr(index, "tolist") or not hasattr(node_weight, "to_numpy") or type(index).__name__ == "RangeIndex":
            return node_weight
        by_name = dict(zip(index.tolist(), node_weight.to_numpy().tolist(), strict=True))
        n_held = sum(name in by_name for name in names)
        if n_held == 0 or (n_held < len(names) and isinstance(names, range)):  # the rows of some other table
            return node_weight
        if len(by_name) < len(index):
            raise GraphValidationError(f"the index of node_weight holds a {what} twice, expected every {what} once")
        node_weight = by_name
    missing = [name for name in names if name not in node_weight]
    if missing:
        raise GraphValidationError(
            f"node_weight has no weight of {amount(len(missing), what)}, the first {missing[0]!r}; expected one for "
            f"each {what}"
        )
    if len(node_weight) > len(names):
        n_unknown = len(node_weight) - len(names)
        warn_caller(f"node_weight: {amount(n_unknown, what)} that the graph does not have left out", GraphWarning)
    return [node_weight[name] for name in names]


def _attribute(G: Any, name: str) -> list[Any]:
    """The values of a node attribute, of a NetworkX or igraph graph, in the order of the nodes."""
    if hasattr(getattr(G, "nodes", None), "data"):
        values = [data.get(name) for _, data in G.nodes(data=True)]
    elif hasattr(G, "vs"):  # of igraph
        values = G.vs[name] if name in G.vs.attributes() else [None] * len(G.vs)
    else:
        raise TypeError(
            f"node_weight={name!r} names a node attribute, which a {type(G).__name__} does not have; "
            "expected a networkx.Graph or an igraph.Graph, or an array of the nodes' weights"
        )
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
        raise ParameterError(
            f"min_size={min_size} is more than the nodes that take part hold, expected at most {total:.12g}"
        )
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
                f"no number of clusters of {min_size} to {max_size} makes up {total:.12g}: "
                f"{amount(largest_k, 'holds', 'hold')} too little and {fewest} too much; expected min_size <= "
                f"{_round_down(total / fewest):.12g} or max_size >= {math.ceil(total / max(largest_k, 1)):.12g}"
            )
    return Bounds(size, *_round_bounds(size, least, most))


def as_bounds_of_k(
    size: np.ndarray, k: int, min_size: Any, max_size: Any, max_imbalance: Any, n_aside: int = 0
) -> Bounds:
    """Bounds that k clusters can meet, by the sizes alone; ParameterError says which numbers would do.

    max_imbalance : the upper bound as a share above the mean, instead of `max_size`. n_aside : nodes with edges that do
    not take part.
    """
    total, heaviest = float(size.sum()), float(size.max())
    if max_imbalance is not None:
        if max_size is not None:
            raise ParameterError(
                f"max_size={max_size} and max_imbalance={max_imbalance} both say what a cluster may hold, expected one"
            )
        question_share(size, k, max_imbalance)
        max_size = most_of_equal_parts(size, k, max_imbalance)
        if max_size < heaviest:
            needed = np.ceil(1000.0 * (heaviest * k / total - 1.0)) / 1000.0
            raise ParameterError(
                f"max_imbalance={max_imbalance} lets {amount(k, 'cluster')} hold {max_size:.12g} each, but the "
                f"heaviest node weighs {heaviest:.12g}; expected max_imbalance >= {needed:.12g}, or fewer clusters"
            )
    least = 0.0 if min_size is None else as_number(min_size, "min_size", above=0.0)
    most = np.inf if max_size is None else as_number(max_size, "max_size", above=0.0)
    least, most = _round_bounds(size, least, most)
    if k * least > total * (1.0 + ROUND_OFF):
        raise ParameterError(
            f"{amount(k, f'cluster of min_size={min_size} holds', f'clusters of min_size={min_size} hold')} "
            f"{k * least:.12g} or more, but the nodes that take part make up only {total:.12g}; expected min_size <= "
            f"{_round_down(total / k):.12g}"
            + (f" or k <= {math.floor(total / least)}" if total >= least else "")
            + (f", or components='all', for {amount(n_aside, 'node is', 'nodes are')} put aside" if n_aside else "")
        )
    if k * most < total * (1.0 - ROUND_OFF):
        raise ParameterError(
            f"{amount(k, f'cluster of max_size={max_size} holds', f'clusters of max_size={max_size} hold')} at most "
            f"{k * most:.12g}, but the nodes that take part make up {total:.12g}; "
            f"expected max_size >= {math.ceil(max(total / k, heaviest)):.12g}"
            + (f" or k >= {math.ceil(total / most)}" if most >= heaviest else "")
        )
    return as_bounds(size, min_size, max_size)


def k_within(size: np.ndarray, k: int, min_size: Any, max_size: Any) -> int:
    """The number of clusters nearest to k that can meet the bounds, by the sizes alone; raises as `as_bounds` does."""
    _, least, most = as_bounds(size, min_size, max_size)
    total = float(size.sum())
    largest_k = len(size) if least == 0.0 else math.floor(total / least * (1.0 + ROUND_OFF))
    return min(max(k, math.ceil(total / most * (1.0 - ROUND_OFF))), largest_k)


def _round_bounds(size: np.ndarray, least: float, most: float) -> tuple[float, float]:
    """The bounds; if all sizes are whole numbers, the equivalent whole numbers."""
    if (size != np.floor(size)).any():
        return least, most
    return float(np.ceil(least * (1.0 - ROUND_OFF))), float(np.floor(most * (1.0 + ROUND_OFF)))


def describe_sure_bounds(size: np.ndarray, k: int) -> str:
    """Bounds that some k clusters meet: those packed by size alone."""
    load = np.bincount(packed_labels(size, k), size)
    return f"min_size <= {_round_down(load.min()):.12g} and max_size >= {math.ceil(load.max()):.12g}"


def _round_down(value: float) -> float:
    """The value rounded down to a whole number if it is at least 1."""
    return float(math.floor(value)) if value >= 1.0 else value


def most_of_equal_parts(size: np.ndarray, k: int, max_imbalance: float) -> float:
    """What one of k parts may hold: (1 + max_imbalance) times the mean, rounded up if the sizes are whole numbers."""
    mean = float(size.sum()) / k
    most = (1.0 + max_imbalance) * mean
    return float(math.ceil(most - ROUND_OFF * most)) if (size == np.floor(size)).all() else most * (1.0 + ROUND_OFF)


def shares_of_parts(size: np.ndarray, targets: np.ndarray, max_imbalance: float, min_imbalance: float | None) -> Shares:
    """What parts are to hold by their targets, > 0 in any unit, and their bounds.

    These are (1 + max_imbalance) and (1 - min_imbalance) times that, rounded up and down if the sizes are whole
    numbers; without min_imbalance there is no lower one.
    """
    target = targets * (float(size.sum()) / float(targets.sum()))
    most = (1.0 + max_imbalance) * target
    least = max(0.0, 0.0 if min_imbalance is None else 1.0 - min_imbalance) * target
    if (size == np.floor(size)).all():
        return Shares(target, np.floor(least * (1.0 + ROUND_OFF)), np.ceil(most * (1.0 - ROUND_OFF)))
    return Shares(target, least * (1.0 - ROUND_OFF), most * (1.0 + ROUND_OFF))


def share_of_least(load: np.ndarray, least: np.ndarray) -> np.ndarray:
    """What parts hold as a share of the least that they may hold, at most 1; shape of `load`."""
    return np.minimum(np.divide(load, least, out=np.ones_like(load), where=least > 0.0), 1.0)


def question_share(size: np.ndarray, k: int, max_imbalance: float) -> None:
    """Warn of a share above 1, which may mean per cent, unless nodes as heavy as an average cluster call for it."""
    if max_imbalance > max(1.0, math.ceil(100.0 * float(size.max()) * k / float(size.sum())) / 100.0):
        warn_caller(
            f"max_imbalance={max_imbalance:g} lets one cluster hold {1.0 + max_imbalance:g} times the average one; for "
            f"{max_imbalance:g} per cent pass max_imbalance={max_imbalance / 100.0:g}",
            GraphWarning,
        )


def refuse_small_components(graph: Graph, size: np.ndarray, min_size: Any) -> None:
    """ParameterError where a component holds less than a cluster has to."""
    holds = np.bincount(graph.components, weights=size)
    n_small = int(np.count_nonzero(holds < min_size))
    if n_small:
        have = "component holds" if n_small == 1 else "components hold"
        raise ParameterError(
            f"min_size={min_size} is more than {n_small} {have}, the smallest {holds.min():.12g}: expected at most "
            f"that, or components='largest', or components='all', which unites some"
        )


def meet_minimum(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition with no cluster below the lower bound of the task, unless it is a component.

    Small clusters are united with the neighbor that they share most weight with. Those that lack little take nodes
    instead, if that loses less. Where no neighbor has room, nodes of components that hold enough are given and taken
    until the bounds are met; ParameterError if that fails.
    """
    if np.bincount(partition.labels, level.terms.size).min() >= task.least:
        return partition
    step = contract(level, partition, run)
    filled, partition = _fill_up(step, task, run), _unite_small(step, task, run)
    if filled is not None and value(filled, task) > value(partition, task):
        return filled
    labels = partition.labels
    of_node = np.zeros(len(labels), np.int32) if run.graph is None else run.graph.components
    # A component that is too light as a whole can only stay as it is.
    holds_enough = (np.bincount(of_node, level.terms.size) >= task.least)[of_node]
    is_short = np.bincount(labels, level.terms.size) < task.least
    if not is_short[labels[holds_enough]].any():
        return partition
    if holds_enough.all() or run.graph is None:
        return _make_room(level, partition, task, run)
    nodes = np.flatnonzero(holds_enough)
    part = read_only_level(run.graph.subgraph(nodes).rows, at_nodes(level.terms, nodes))
    own, k = number_used(labels[nodes])
    made = _make_room(part, with_sums(part, own, k, run), task, replace(run, graph=None, finest=part))
    labels = labels.copy()
    labels[nodes] = made.labels + len(is_short)
    return with_sums(level, *number_used(labels), run)


def _unite_small(step: Contraction, task: Task, run: Run) -> Partition:
    """The partition of the fine level after each small cluster, a node of the coarse one, joined another."""
    rows, terms = step.coarse
    own = np.arange(len(terms.mass), dtype=np.int32)
    united = join_small(rows, own, Sizes(terms.size, task.least, task.most))
    return step.project(with_sums(step.coarse, united, int(united.max()) + 1, run))


def _fill_up(step: Contraction, task: Task, run: Run) -> Partition | None:
    """The partition after clusters that lack little took nodes of others, and was refined; all clusters connected.

    None where there are none, or where they cannot. Clusters that lack much are united first.
    """
    level, joined = step.fine, _unite_small(step, task._replace(least=NEARLY * task.least), run)
    load = np.bincount(joined.labels, level.terms.size)
    if not NEARLY * task.least <= load.min() < task.least:
        return None
    k = len(load)
    filled, within = rebalance(level, joined, task._replace(k=k))
    if not within:
        return None
    filled = refine(level, filled, task._replace(k=k), run)
    return filled if find_connected_parts(level, filled, run)[1] == k else None


def _make_room(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition with all clusters within the bounds of the task; ParameterError where none is found.

    Small clusters of one neighbor, such as leaves of a hub, are united with each other. Clusters that are still small
    take nodes from others, or give all of theirs to others.
    """
    step = contract(level, partition, run)
    partition = step.project(_unite_with_neighbors(step.coarse, task, run))
    if np.bincount(partition.labels, level.terms.size).min() >= task.least:
        return partition
    balanced, within = rebalance(level, partition, task)
    packed = balanced if within else _pack_within(level, len(balanced.sums.size), task, run)
    if packed is None:
        raise ParameterError(
            f"no clusters of {task.least:.12g} to {task.most:.12g} were found: {NO_ROOM}; expected a smaller min_size "
            "or a larger max_size"
        )
    return packed


def leave_apart(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition of the clusters that are not below the lower bound of the task; nodes of others have label -1."""
    load = np.bincount(partition.labels, level.terms.size)
    kept = load >= task.least
    if not kept.any():
        raise ParameterError(
            f"min_size={task.least:.12g} is more than any cluster holds, expected at most {load.max():.12g}"
        )
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    return Partition(number[partition.labels], ClusterSums(*(values[kept] for values in partition.sums)))


def remarks_on_small(before: np.ndarray, after: np.ndarray, size: np.ndarray, min_size: Any) -> list[str]:
    """What became of clusters below the lower bound: which were united, left apart, or are below it still.

    before, after : the cluster of each node, the second numbered as a reader sees it, -1 for none; size : of each node.
    """
    said, aside = [], after < 0
    n_before = int(before.max()) + 1
    pairs, place = np.unique(after[~aside] * n_before + before[~aside], return_inverse=True)
    into, load = pairs // n_before, np.bincount(place, size[~aside])
    united = np.flatnonzero(np.bincount(into) > 1)
    if len(into) > len(np.unique(before[~aside])):
        said.append(f"clusters of less than min_size={min_size} were united with others, or took nodes of others")
    elif len(united):
        sums = [np.sort(load[into == c])[::-1] for c in united[:SHOWN].tolist()]
        parts = [" + ".join(f"{one:.6g}" for one in of[:SHOWN]) + " + ..." * (len(of) > SHOWN) for of in sums]
        listed = ", ".join(f"cluster {c}: {text}" for c, text in zip(united.tolist(), parts, strict=False))
        said.append(
            f"clusters of less than min_size={min_size} were united with the neighbor of most weight between them: "
            + listed + (f", and {len(united) - SHOWN} more" if len(united) > SHOWN else "")
        )  # fmt: skip
    if aside.any():
        words = f"{amount(int(aside.sum()), 'node')} of {amount(len(np.unique(before[aside])), 'cluster')}"
        said.append(
            f'{words} of less than min_size={min_size} left apart, in no cluster (label -1): small="unite" unites them'
        )
    held = np.bincount(after[~aside], size[~aside])
    if (short := held[held < min_size]).size:
        words = f"{amount(len(short), 'cluster holds', 'clusters hold')} less than min_size={min_size}"
        said.append(f"{words}, of {short.min():.6g} to {short.max():.6g}: no neighbor can take them")
    return said


def _pack_within(level: Level, near: int, task: Task, run: Run) -> Partition | None:
    """Clusters within the bounds, packed by size alone and refined; None where no number of them near one succeeds."""
    total = float(level.terms.size.sum())
    fewest = max(1, math.ceil(total / task.most * (1.0 - ROUND_OFF)))
    # The numbers of clusters that the two bounds allow.
    largest = min(len(level.terms.size), math.floor(total / task.least * (1.0 + ROUND_OFF)))
    numbers = np.arange(fewest, largest + 1)
    # The nearest to the number there is first.
    for k in numbers[np.argsort(np.abs(numbers - near), kind="stable")][:TRIES].tolist():
        balanced, within = rebalance(level, pack(level, k, run), task._replace(k=k))
        if within:
            return refine(level, balanced, task._replace(k=k), run)
    return None


def _unite_with_neighbors(level: Level, task: Task, run: Run) -> Partition:
    """Unite clusters, the nodes of a level, that are below the lower bound and share their most linked neighbor."""
    rows, size = level.rows, level.terms.size
    small = np.flatnonzero(size < task.least)
    ends = [(rows.indptr[c], rows.indptr[c + 1]) for c in small]
    linked = np.array([rows.indices[a + rows.weights[a:b].argmax()] if b > a else -1 for a, b in ends], np.int64)
    labels, into, load, last = np.arange(len(size)), -1, 0.0, -1
    for i in np.lexsort((small, linked)):  # small clusters with the same neighbor come one after the other
        c = small[i]
        if into >= 0 and linked[i] == last and load < task.least and load + size[c] <= task.most:
            labels[c] = into
            load += size[c]
        else:
            into, load, last = c, size[c], linked[i]
    used, labels = np.unique(labels, return_inverse=True)
    return with_sums(level, labels.astype(np.int32), len(used), run)
