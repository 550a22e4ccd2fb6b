"""Connected clusters: parts of a cluster that no edge links become clusters of their own, or join a neighbor.

Well-connected clusters: the minimum cut inside each cluster of n nodes is above f(n), log10 n by default. A cluster
that fails loses its nodes of low inner degree, one by one. If a minimum cut is still too light, the cluster is parted
along it, both sides are partitioned anew, and what comes of them is tested again (the Connectivity Modifier of Park et
al. 2024, "Well-connectedness and community detection"), or the sides are tested as they are (their WCC).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_choice, as_number
from graphclust.compiled.graphs import minimum_cut
from graphclust.compiled.graphs.components import split_by_connection
from graphclust.compiled.graphs.contraction import Members
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms, loads_of
from graphclust.compiled.graphs.objective import ClusterSums, Rows
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.engine.contraction import agglomerate, contract, links_of_nodes
from graphclust.engine.levels import (
    Run,
    at_nodes,
    heaviness,
    level_of,
    no_sums,
    number_used,
    read_only_level,
    with_sums,
)
from graphclust.engine.local_moving import refine
from graphclust.engine.v_cycle import v_cycle
from graphclust.errors import ParameterError, amount
from graphclust.graph.container import NO_WEIGHTS, Graph
from graphclust.objective.objective import chance_objective, gain_of_joining, weigh

REFINEMENTS = 2  # the moves of each may disconnect clusters again; after the last, parts join a neighbor for good
Connectivity = str | float | Callable[[int], float]
WORDS = ("well", "log10")
ROUND_OFF = 1e-9  # relative: a cut so little above the bar may be on it
ENTRIES_PER_BLOCK = 1 << 14  # of clusters that are cut one after the other


def connect(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition with connected clusters, as many as before if k is given and the graph allows it.

    If k is free, each connected part becomes a cluster, which raises any additive objective. Else the heaviest part of
    a cluster stays, and each other part joins the neighboring cluster that gains most, or loses least, by it; a part
    that is a component of the graph stays with its cluster, unless each component can be one.
    """
    partition = part_components(level, partition, task, run)
    for _ in range(REFINEMENTS):
        connected = connect_once(level, partition, task, run)
        if connected is partition:
            return partition
        partition = refine(level, connected, task, run)
    return connect_once(level, partition, task, run)


def part_components(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition without clusters that unite components, where sizes have no bounds and each of these can be one.

    As many clusters that edges link are united instead, by their excess, as in a dendrogram. Nodes without mass count
    as one component.
    """
    if task.k == 0 or level.terms.size is not None or run.graph is None or run.graph.n_components == 1:
        return partition
    component = np.where(heaviness(level) > 0.0, run.graph.components + 1, 0).astype(np.int64)
    if number_used(component)[1] > task.k:
        return partition
    parts, n = number_used(partition.labels * (component.max() + 1) + component)
    if n == len(partition.sums.size):
        return partition
    step = contract(level, with_sums(level, parts, n, run), run)
    united = agglomerate(step.coarse, Task(chance_objective(run.totals), task.k), run)
    return refine(level, step.project(united), task, run)


def connect_once(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """`connect` without moves of single nodes; only the rows of parts that may join a neighbor are read whole."""
    if task.k == 0:
        return split_disconnected(level, partition, run)
    parts, n = find_connected_parts(level, partition, run)
    if n == len(partition.sums.size):
        return partition
    of_part = np.empty(n, np.int32)
    of_part[parts] = partition.labels
    order = np.lexsort((np.arange(n), -np.bincount(parts, heaviness(level), n)))
    home = order[np.unique(of_part[order], return_index=True)[1]]  # the heaviest part of each cluster
    nodes = np.flatnonzero(home[partition.labels] != parts)
    by_part = nodes[np.argsort(parts[nodes], kind="stable")]
    lengths, indices, weights = links_of_nodes(level.rows, parts, n, by_part, level.terms.layers)
    run.reads(level, int((level.rows.indptr[nodes + 1] - level.rows.indptr[nodes]).sum()))
    if len(indices) == 0:  # all parts are components of the graph
        return partition
    is_kept = lengths > 0
    is_kept[home] = True
    number = np.cumsum(is_kept, dtype=np.int32) - np.int32(1)
    number = number[np.where(is_kept, np.arange(n), home[of_part])]
    kept = with_sums(level, number[parts], int(np.count_nonzero(is_kept)), run)
    rows = Rows(np.concatenate([[0], np.cumsum(lengths[is_kept])]), number[indices], weights)
    load = loads_of(level.terms.size, kept.labels, len(kept.sums.size))
    terms = Terms(kept.sums.inside, kept.sums.mass, load, level.terms.layers)
    is_home = np.zeros(len(kept.sums.size), bool)
    is_home[number[home]] = True
    joined = join_parts(Level(rows, terms), is_home, of_part[is_kept], task)
    if joined is None:
        return partition
    labels = joined.labels[kept.labels]
    return Partition(labels, joined.sums._replace(size=np.bincount(labels, minlength=task.k)))


def join_parts(level: Level, is_home: np.ndarray, of_part: np.ndarray, task: Task) -> Partition | None:
    """A partition of the parts of clusters: the home of each cluster stays, the other parts join a neighbor.

    Heavy parts come first, and join the cluster that gains most, or loses least. If they have sizes, none leaves a
    cluster that would hold too little without it, nor joins one that would hold too much.

    is_home : whether a part is the home of its cluster. of_part : the cluster of each part. None if no part joins any.
    """
    rows, (inside_of, mass_of, size, layers) = level
    k, home = task.k, np.where(is_home, of_part, -1).astype(np.int64)
    inside, mass, _ = no_sums(level, k)
    np.add.at(inside, of_part[is_home], inside_of[is_home])
    np.add.at(mass, of_part[is_home], mass_of[is_home])
    load = np.zeros(k) if size is None else np.bincount(of_part, size, minlength=k)
    waiting = [u for u in np.lexsort((np.arange(len(home)), -heaviness(level))).tolist() if not is_home[u]]
    while waiting:
        left = []
        for u in waiting:
            own, w = int(of_part[u]), 0.0 if size is None else float(size[u])
            entries = slice(rows.indptr[u], rows.indptr[u + 1])
            near = home[rows.indices[entries]]
            link = np.bincount(near[near >= 0], weights=rows.weights[entries][near >= 0], minlength=k)
            to, may_leave = np.flatnonzero(link), load[own] - w >= task.least
            to = to[(to == own) | (may_leave & (load[to] + w <= task.most))]
            if len(to) == 0:
                left.append(u)
                continue
            terms = inside_of[u], mass_of[u]
            gains = [gain_of_joining(task.objective, link[c], *terms, inside[c], mass[c], layers=layers) for c in to]
            c = int(to[np.argmax(gains)])
            home[u] = c
            inside[c] += 2.0 * link[c] + inside_of[u]
            mass[c] += mass_of[u]
            load[c] += w
            load[own] -= w
        if len(left) == len(waiting):
            break
        waiting = left
    alone = np.flatnonzero(home < 0)  # components of the graph, or parts for which no neighbor has room
    if len(alone) == len(of_part) - k:
        return None
    home[alone] = of_part[alone]
    np.add.at(inside, of_part[alone], inside_of[alone])
    np.add.at(mass, of_part[alone], mass_of[alone])
    return Partition(home.astype(np.int32), ClusterSums(inside, mass, np.bincount(home, minlength=k)))


def split_disconnected(level: Level, partition: Partition, run: Run) -> Partition:
    """The partition into the connected parts of all clusters; the same if all clusters are connected."""
    parts, n_parts = find_connected_parts(level, partition, run)
    return partition if n_parts == len(partition.sums.size) else with_sums(level, parts, n_parts, run)


def find_connected_parts(level: Level, partition: Partition, run: Run) -> tuple[np.ndarray, int]:
    """The connected part of its cluster that each node is in, int32, numbered by first node; and how many there are."""
    parts = np.empty(len(partition.labels), np.int32)
    n_parts, n_read = split_by_connection(level.rows, partition.labels, len(partition.sums.size), parts)
    run.reads(level, n_read)
    return parts, n_parts


def as_bar(connectivity: Any, n: int) -> npt.NDArray[np.float64]:
    """What the minimum cut of a cluster of 0, 1, ..., n nodes has to be above; never met by fewer than two nodes.

    Raises ParameterError for another word, numbers below 0 and functions that return any or NaN, TypeError.
    """
    sizes = np.arange(2, n + 1)
    if isinstance(connectivity, str):
        as_choice(connectivity, "connectivity", WORDS)
        above = np.log10(sizes)
    elif callable(connectivity):
        values = (as_number(connectivity(m), f"connectivity({m})", at_least=0.0) for m in sizes.tolist())
        above = np.fromiter(values, np.float64, len(sizes))
    else:
        above = np.full(len(sizes), as_number(connectivity, "connectivity", at_least=0.0))
    return np.concatenate([[np.inf, np.inf], above]) * (1.0 + ROUND_OFF)


def minimum_cuts(graph: Graph, labels: npt.NDArray[np.int64], k: int, by_weight: bool) -> npt.NDArray[np.float64]:
    """The least number, or weight, of edges that part each of k clusters, (k,); 0 for a single node."""
    cuts = np.zeros(k)
    _in_clusters(minimum_cut.find_minimum_cuts, graph, labels.astype(np.int32), by_weight, cuts)
    return cuts


def count_well_connected(cuts: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64]) -> int:
    """How many clusters have a minimum cut above log10 of their size."""
    return int(np.count_nonzero(cuts > as_bar("log10", int(sizes.max(initial=1)))[sizes]))


def connect_well(
    graph: Graph, labels: npt.NDArray[np.integer], bar: np.ndarray, by_weight: bool, task: Task | None, run: Run
) -> npt.NDArray[np.int32]:
    """Well-connected clusters inside those given, numbered from 0; -1 for nodes in none.

    task : by which sides of cuts are partitioned anew; None: they stay whole.
    """
    connected, n_found = np.full(len(labels), -1, np.int32), 0
    nodes = np.flatnonzero(labels >= 0)
    now = number_used(labels[nodes])[0]
    part = graph if len(nodes) == graph.n_nodes else graph.subgraph(nodes)
    while len(nodes):
        parts, fate = np.empty((2, len(nodes)), np.int32)
        split_by_connection(part.rows, now, int(now.max()) + 1, parts)
        _in_clusters(minimum_cut.cut_clusters, part, parts, by_weight, bar, fate)
        is_whole, is_cut = fate == minimum_cut.WHOLE, fate >= 0
        own, k = number_used(parts[is_whole])
        connected[nodes[is_whole]] = own + n_found
        n_found += k
        nodes, now = nodes[is_cut], number_used(fate[is_cut])[0]
        part = graph.subgraph(nodes)
        if task is not None and len(nodes) and not run.progress.out_of_time():
            now = _partition_anew(part, nodes, now, task, run)
    return connected


def leave_well_connected(
    graph: Graph, labels: npt.NDArray[np.integer], connectivity: Any, task: Task | None, size: np.ndarray, least: float,
    run: Run, by_weight: bool = False, *, may_be_none: bool = False, tested: npt.NDArray[np.bool_] | None = None,
) -> tuple[npt.NDArray[np.int32], str]:  # fmt: skip
    """Well-connected clusters inside those given that hold the least, -1 for other nodes; and a remark on coverage.

    size : of each node. task : of new partitions, if any. tested : the nodes of clusters that need a test, (n,); None:
    all do. ParameterError where no cluster is left, unless it may be.
    """
    bar = as_bar(connectivity, int(np.bincount(labels + 1)[1:].max(initial=1)))
    to_test = labels if tested is None else np.where(tested, labels, -1)
    connected = connect_well(graph, to_test, bar, by_weight, task, run)
    if tested is not None:
        connected = np.where(tested | (labels < 0), connected, labels + (connected.max(initial=-1) + 1))
    holds = np.bincount(connected + 1, size)
    connected[(holds < least)[connected + 1]] = -1
    connected, k = number_used(connected, connected >= 0)
    if k == 0 and not may_be_none:
        raise ParameterError(
            f"connectivity={connectivity_in_words(connectivity)!r} leaves no cluster, expected a lower one: no "
            "nodes are linked so well"
        )
    left = amount(int(np.count_nonzero(connected < 0)), "node is", "nodes are")
    return connected, f"well-connected clusters cover {np.mean(connected >= 0):.1%} of the nodes; {left} in none"


def connectivity_in_words(connectivity: Any) -> Any:
    """What was asked for, as JSON can hold it."""
    return getattr(connectivity, "__name__", "a function") if callable(connectivity) else connectivity


def can_promise(parameters: dict[str, Any]) -> bool:
    """Whether the connectivity that parameters hold can be asked for again: of a function they hold the name alone."""
    asked = parameters.get("connectivity")
    return asked in WORDS or isinstance(asked, int | float)


def remarks_on_connectivity(parameters: dict[str, Any]) -> tuple[str, ...]:
    """What a reader should know after an update that does not keep the promise of these parameters."""
    if "connectivity" not in parameters:
        return ()
    asked = parameters["connectivity"]
    return (
        f"an update promises no minimum cuts: well_connected parts the clusters again, connectivity={asked!r} before",
    )


def without_cut_edges(graph: Graph, labels: npt.NDArray[np.int32]) -> Graph:
    """The graph without the edges between different clusters."""
    rows = rows_within(level_of(weigh(graph, "modularity")), labels).rows
    n_entries, lengths = int(rows.indptr[-1]), np.diff(rows.indptr)
    if graph.weights is None:
        return Graph(rows.indptr, rows.indices[:n_entries], None, lengths.astype(np.float64), graph.loops)
    weights = rows.weights[:n_entries]
    degrees = np.bincount(np.repeat(np.arange(graph.n_nodes), lengths), weights, graph.n_nodes).astype(np.float64)
    return Graph(rows.indptr, rows.indices[:n_entries], weights, degrees, graph.loops)


def _partition_anew(
    part: Graph, nodes: npt.NDArray[np.int64], labels: npt.NDArray[np.int32], task: Task, run: Run
) -> npt.NDArray[np.int32]:
    """Clusters inside the clusters of some nodes, by a V-cycle; part : the graph between the nodes."""
    level = read_only_level(without_cut_edges(part, labels).rows, at_nodes(run.finest.terms, nodes))
    run, task = replace(run, graph=None, finest=level), task._replace(k=0, least=0.0)
    clusters = v_cycle(level, None, task, task.objective.penalty, run)
    return connect(level, clusters, task, run).labels


def _in_clusters(
    loop: Any, graph: Graph, labels: npt.NDArray[np.int32], by_weight: bool, *arrays: npt.NDArray[Any]
) -> None:
    """Run a loop over clusters 0, 1, ..., on all threads; label -1 is for no cluster."""
    rows = graph.rows if by_weight else graph.rows._replace(weights=NO_WEIGHTS)  # without weights each edge counts 1
    n_aside = np.count_nonzero(labels < 0)
    nodes = np.argsort(labels, kind="stable")[n_aside:]
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels[nodes]))])
    entries = np.concatenate([[0], np.cumsum(np.diff(graph.indptr)[nodes])])[starts]
    place = np.empty(graph.n_nodes, np.int32)
    members = Members(labels, starts, nodes)
    run_in_blocks(loop, entry_blocks(entries, ENTRIES_PER_BLOCK), members, rows, place, *arrays)
