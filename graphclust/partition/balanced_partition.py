"""balanced_partition: k parts of equal size with the smallest edge cut, for matrices and meshes to be distributed."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from graphclust.checks import Effort, Seed, as_choice, as_number, as_seeded, as_whole_number
from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.bounds import (
    NO_ROOM,
    ROUND_OFF,
    NodeWeight,
    as_sizes,
    question_share,
    share_of_least,
    shares_of_parts,
    weights_in_words,
)
from graphclust.engine.cluster_sizes import packed_labels
from graphclust.engine.connectivity import find_connected_parts
from graphclust.engine.levels import Shares, run_on, with_sizes_as_masses, with_sums
from graphclust.engine.within_bounds import EFFORTS_OF_PARTS, improve_parts, partition_balanced
from graphclust.errors import IsolatedNodesWarning, ParameterError
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.node_order import in_order, in_rows, listing_order, node_order
from graphclust.objective.objective import weigh
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import graph_settings, plain_number
from graphclust.progress import ProgressLike, as_progress
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, graph_to_cluster

IMBALANCE = 0.03  # by default, as in METIS
NO_SUGGESTION = (
    "a small edge cut suggests none: what the parts are for does, such as the processors, or coreset_sc(G).k is the "
    "number that the graph shows"
)


def balanced_partition(
    G: GraphLike,
    k: int,
    *,
    max_imbalance: float = IMBALANCE,
    min_imbalance: float | Literal["same"] | None = "same",
    node_weight: NodeWeight = None,
    target_weights: Sequence[float] | None = None,
    contiguous: bool = False,
    effort: Effort = "normal",
    weight: str | None = "weight",
    symmetrize: str | None = None,
    time_budget: float | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Partition a graph into exactly k parts of about equal size, cutting edges of the least weight.

    G : networkx.Graph, SciPy sparse matrix or array, square ndarray, path of a graph file, or Graph; undirected,
        weights >= 0. See `as_graph` for `weight`, `symmetrize` and what is assumed or repaired.
    k : number of parts, 1 <= k <= n_nodes; every part has a node. None is refused: a small edge cut suggests none.
    max_imbalance : >= 0. No part holds more than (1 + max_imbalance) times the average one, rounded up: 0.03 is three
        per cent, as METIS's ufactor=30 and KaHIP's imbalance of 3. A GraphWarning questions more than 1.
    min_imbalance : in [0, 1]. No part holds less than (1 - min_imbalance) times the average one, rounded down. "same"
        (default) stands for max_imbalance, or as near to it as the weights of nodes let, which a remark then says. None
        lifts it: a part may hold a single node.
    node_weight : of each node, >= 0, which these bounds then count: an array of shape (n_nodes,), a mapping or a pandas
        Series by the nodes' names, or the name of a node attribute of a networkx.Graph or igraph.Graph. By default each
        node weighs what its METIS file says, else 1.
    target_weights : of each part, > 0, such as the speeds of machines, shape (k,): part i is to hold their share of the
        whole, and both bounds are relative to that. By default parts are to be equal.
    contiguous : whether every part has to be in one piece, for which the graph has to be connected. Where none such is
        found within the bounds, a remark counts the pieces.
    effort : "low", "normal" (default), which takes some three times as long for a cut smaller by three per cent, or
        "high", which takes some eight times as long again for one or two per cent.
    time_budget : seconds, > 0. They are used to the end while anything is gained, whatever the effort; a first
        partition is always made.
    rng : None, a seed or a numpy Generator; the same seed gives the same labels for any number of threads, unless there
        is a time budget.
    progress : True for a bar where there is a terminal, or a function `progress(stage, done, total)`; an exception it
        raises stops the work. Ctrl-C raises `Interrupted`, whose `best` is a Clustering, once there is one.

    Returns a `Clustering` in which every node, isolated ones too, has a part; see its `edge_cut`, `imbalance`,
    `smallest_to_mean`, `n_pieces`, `n_boundary_nodes`, `communication_volume` and `permutation()`. A part need not be
    connected, unless `contiguous` asks for it; a remark counts the pieces if some are not. Few nodes (as fifteen in two
    parts) get the smallest cut of all within the bounds, and of several such the most even parts.

    Raises ParameterError (k, max_imbalance, target_weights or effort out of range, node weights that do not fit into
    the parts, contiguous parts of a graph that is not connected), TypeError (of the wrong type), GraphValidationError
    (no graph to partition, wrong weights).

    Source: multilevel bisection, Karypis & Kumar 1998 (METIS); recombination, Sanders & Schulz 2012 (KaFFPaE); moves in
    rounds, Gilbert et al. 2024 (Jet); Fiduccia & Mattheyses 1982.

    >>> import networkx as nx
    >>> parts = balanced_partition(nx.grid_2d_graph(6, 6), 4, max_imbalance=0, rng=0)
    >>> parts.sizes.tolist(), parts.edge_cut
    ([9, 9, 9, 9], 12.0)
    >>> balanced_partition(nx.path_graph(8), 2, target_weights=[1, 3], contiguous=True, rng=0).sizes.tolist()
    [2, 6]
    """
    (rng, seed), progress = as_seeded(rng), as_progress(progress, time_budget)
    k = as_whole_number(k, "k", at_least=1, if_none=NO_SUGGESTION)
    max_imbalance = as_number(max_imbalance, "max_imbalance", at_least=0.0)
    if min_imbalance not in ("same", None):
        min_imbalance = as_number(min_imbalance, "min_imbalance", at_least=0.0)
    effort = as_choice(effort, "effort", tuple(EFFORTS_OF_PARTS))
    with warnings.catch_warnings():  # of isolated nodes, which have parts as all others
        warnings.simplefilter("ignore", IsolatedNodesWarning)
        graph = graph_to_cluster(G, k, weight, symmetrize, progress, needs_edges=False)
    check_memory(graph)
    order = node_order(graph)
    ordered = in_order(graph, order)
    progress.watch(ordered)
    size = as_sizes(G, graph, node_weight, may_be_zero=True)
    remarks = [said for said in graph.remarks if "isolated node" not in said]
    if contiguous and ordered.n_components > 1:
        raise ParameterError(
            f"contiguous=True, but the graph has {ordered.n_components} components, expected a connected graph; "
            "partition each component, or leave contiguous out"
        )
    question_share(size, k, max_imbalance)
    targets = np.ones(k) if target_weights is None else _as_targets(target_weights, k)
    share = max_imbalance if min_imbalance == "same" else min_imbalance
    shares = shares_of_parts(size[order], targets, min(max_imbalance, float(k)), share)  # k times the mean is no bound
    if target_weights is None and size.max() > (most := float(shares.most[0])):
        raise ParameterError(
            f"node_weight[{int(size.argmax())}] is {size.max():.12g}, but with max_imbalance={max_imbalance} and k={k} "
            f"a part holds at most {most:.12g}; expected {_describe_sure_bounds(size, k, False)}, or fewer parts"
        )
    parameters: dict[str, Any] = {"max_imbalance": max_imbalance, "effort": effort}
    parameters |= {} if target_weights is None else {"target_weights": targets.tolist()}
    parameters |= {"contiguous": True} if contiguous else {}
    parameters |= {} if min_imbalance == "same" else {"min_imbalance": plain_number(min_imbalance)}
    if (said := weights_in_words(node_weight, graph)) is not None:
        parameters["node_weight"] = said
    parameters |= graph_settings(weight, symmetrize, time_budget)

    def clustering_with(labels: np.ndarray, said: list[str]) -> Clustering:
        account: dict[str, Any] = {"objective": "edge_cut", "parameters": parameters, "seed": seed}
        account |= {"entries_read": progress.entries_read, "node_sizes": None if (size == 1.0).all() else size}
        of_rows = in_rows(labels.astype(np.int64), order)
        parts = clustering_of(graph, k, of_rows, said, progress, order=listing_order(graph), **account)
        return parts if target_weights is None else replace(parts, labels=of_rows)  # part i is that of machine i

    def best_so_far(labels: np.ndarray) -> Clustering:
        return clustering_with(labels, [*remarks, "interrupted: these are the best parts so far"])

    with progress.interruptible(best_so_far), progress.stage("partition"):
        chosen = EFFORTS_OF_PARTS[effort] if time_budget is None else EFFORTS_OF_PARTS["high"]._replace(descent=np.inf)
        run = with_sizes_as_masses(run_on(weigh(ordered, "edge_cut"), rng, progress), size[order])

        def search(shares: Shares) -> tuple[Partition, bool]:
            """The best parts of these shares, and whether they are within their bounds."""
            cut = Objective(ADDITIVE, 0.0, ordered.total_volume / ordered.n_nodes)
            task = Task(cut, k, float(shares.least.min()), float(shares.most.max()))
            own = run if target_weights is None else replace(run, shares=shares)
            return partition_balanced(run.finest, task, chosen, own, contiguous)

        partition, is_within = search(shares)
        if not is_within and shares.least.any() and min_imbalance == "same":
            load = np.bincount(partition.labels, size[order], minlength=k)
            held = float(share_of_least(load, shares.least).min()) if (load <= shares.most).all() else 0.0
            partition, is_within = search(shares._replace(least=(1.0 - ROUND_OFF) * held * shares.least))
            load = np.bincount(partition.labels, size[order], minlength=k)
            if (c := int((load - shares.least).argmin())) >= 0 and load[c] < shares.least[c]:
                said = f"the lightest part holds {load[c]:.6g}, less than {shares.least[c]:.6g}"
                remarks.append(f"{said}: the nodes' weights let no more")
        n_pieces = find_connected_parts(run.finest, partition, run)[1]
    if not is_within:
        is_two_sided = min_imbalance not in ("same", None)
        asked = f"max_imbalance={max_imbalance}" + (f" and min_imbalance={min_imbalance}" if is_two_sided else "")
        sure = _describe_sure_bounds(size, k, is_two_sided)
        raise ParameterError(f"{asked}: {NO_ROOM}; {sure} is sure to do, or fewer parts")
    if n_pieces > max(k, ordered.n_components):
        unfound = "which was asked for, but not found within the bounds"
        why = unfound if contiguous else "which a small cut does not need"
        remarks.append(f"not all parts are connected, {why}: {n_pieces} pieces")
    return clustering_with(partition.labels, remarks)


def refine_parts(graph: Graph, labels: np.ndarray, max_cycles: int, rng: Seed = None) -> np.ndarray:
    """Labels of parts with as many nodes each, which cut no more than those given and usually less.

    labels : 0..k-1, all used, shape (n,). max_cycles : V-cycles; the first that gains nothing is the last.

    >>> from graphclust import as_graph
    >>> path = as_graph(np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1))
    >>> refine_parts(path, np.array([0, 1, 0, 1, 0, 1]), 10, rng=0).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    k, order = int(labels.max()) + 1, node_order(graph)
    run = with_sizes_as_masses(run_on(weigh(in_order(graph, order), "edge_cut"), rng), np.ones(graph.n_nodes))
    partition = with_sums(run.finest, labels[order].astype(np.int32), k, run)
    return in_rows(improve_parts(run.finest, partition, max_cycles, run).labels, order)


def _as_targets(target_weights: Any, k: int) -> np.ndarray:
    """The targets of k parts, float64, (k,)."""
    targets = np.asarray(target_weights, np.float64)
    if targets.shape != (k,):
        raise ParameterError(f"target_weights has shape {targets.shape}, expected one for each part: ({k},)")
    if not (np.isfinite(targets) & (targets > 0.0)).all():
        i = int(np.argmin(np.isfinite(targets) & (targets > 0.0)))
        raise ParameterError(f"target_weights[{i}] is {targets[i]:g}, expected finite weights > 0")
    return targets


def _describe_sure_bounds(size: np.ndarray, k: int, is_two_sided: bool) -> str:
    """Imbalances that some partition keeps: that by size alone."""
    load = np.bincount(packed_labels(size, k), size) * k / size.sum()
    most, least = np.ceil(1000.0 * (load.max() - 1.0)) / 1000.0, np.ceil(1000.0 * (1.0 - load.min())) / 1000.0
    return f"max_imbalance >= {most:.12g}" + (f" with min_imbalance >= {least:.12g}" if is_two_sided else "")
