"""Make the path of a graph for every k of a range; and the k that a graph shows, where none is given."""

from collections.abc import Iterable
from math import ceil, sqrt
from typing import cast

import numpy as np
import numpy.typing as npt

from graphclust.checks import Components, ObjectiveName, Seed, as_choice, as_seeded, as_whole_number
from graphclust.engine.bounds import NodeWeight, as_bounds_of_k, as_sizes, k_within, weights_in_words
from graphclust.errors import GraphWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.node_order import in_order, node_order
from graphclust.io.graph_input import as_graph, refuse_without_edges
from graphclust.objective.objective import ObjectiveChoice, as_objective_choice
from graphclust.partition.components import nodes_to_partition
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import COMPONENTS, graph_settings, plain_number
from graphclust.profile.path import ClusterPath
from graphclust.profile.select_k import DRAWS, NOT_SHOWN, NOT_TRIED, middle_of_ks, rank_by_width
from graphclust.progress import Progress, ProgressLike, as_progress

MOST_CLUSTERS, PER_SQUARE_ROOT = 1_000, 3.0  # with 3 sqrt(n) clusters the mean one has sqrt(n) / 3 nodes
MOST_COMPONENTS, BEYOND_COMPONENTS = 4_000, 1.25  # more components are united; a path goes a quarter beyond
# A path is extended if its finest partition still has this share of the weight inside, and a number beyond its end is
# natural over this range, a logarithm: cliques, and 200 planted blocks of 12 nodes, have 2.7 to 3.5, the pairs of a
# cycle or a path 1.3, grids, nearest neighbors, trees and random graphs 0.7 or less.
INSIDE_AT_THE_END, WIDE_BEYOND = 0.5, 2.0
TRIAL = 0  # the seed of the longer path on trial, so that the caller's seed does not decide how far a path goes
NOT_GIVEN = "k was not given"


def cluster_path(
    G: GraphLike,
    ks: Iterable[int] | None = None,
    *,
    objective: ObjectiveName = "modularity",
    resolution: float | str | None = None,
    components: Components = "large",
    min_size: float | None = None,
    max_size: float | None = None,
    max_imbalance: float | None = None,
    node_weight: NodeWeight = None,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    time_budget: float | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> ClusterPath:
    """Cluster a graph into k parts for every k of a range, for little more than one clustering.

    G, weight, symmetrize : as `coreset_sc` takes them.
    ks : the numbers of clusters, each from 1 to the number of nodes with edges. By default 1, 2, ... up to the least
        of 1,000, three times the square root of the nodes, and the nodes that take part; a quarter beyond the number
        of connected components where these are more, up to 4,000; and up to 1,000 where the graph falls into more small
        groups.
    objective, resolution : as `coreset_sc` takes them; by default modularity, for each k at its own resolution.
    components : "large" (default), "largest" or "all", as `coreset_sc` takes it. The components that take part are the
        same for all ks: those that are worth a cluster at the k in the middle of the range on a logarithmic scale, and
        by default also all of a twentieth of the typical one's volume.
    min_size, max_size, node_weight : bounds that `path[k]` is within, as `coreset_sc` takes them; each k of `ks` has to
        allow them. The figures of `table()` and `tree()` are those without bounds.
    max_imbalance : >= 0, in the place of max_size: no cluster of `path[k]` holds more than (1 + max_imbalance) times
        the average one, rounded up.
    time_budget : seconds, > 0, after which clusters are only united and nothing moves any more: the path is whole, and
        its clusterings say so. What is asked of the path later has budgets of its own.
    rng : None, a seed or a numpy Generator; the same seed gives the same path, in whatever order it is asked, as long
        as no time budget runs out, and in whatever order nodes with names and their edges come.

    Returns a `ClusterPath`: `path[k]` is a `Clustering` of exactly k clusters, `path.table()` has a row for each k,
    `path.tree()` the unions, `path.suggest()` says which k the graph shows. One graph of regions is made for the
    largest k and its clusters are united one pair at a time; nodes of the graph move only for a k that is asked for,
    which takes as long as clustering into so many.

    Raises what `coreset_sc` raises, and ParameterError for no ks or a k that the graph has not enough nodes for.

    >>> import networkx as nx
    >>> path = cluster_path(nx.ring_of_cliques(4, 5), range(2, 6), rng=0)
    >>> path.ks, path[4].sizes
    ((2, 3, 4, 5), array([5, 5, 5, 5]))
    """
    choice = as_objective_choice(objective, resolution)
    components = as_choice(components, "components", COMPONENTS)
    (rng, seed), progress = as_seeded(rng), as_progress(progress, time_budget)
    asked = None if ks is None else _as_ks(ks)
    with progress.stage("gate"):
        graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    refuse_without_edges(graph)
    check_memory(graph)
    order = node_order(graph)
    ordered = in_order(graph, order)
    linked = np.flatnonzero(~ordered.isolated)
    is_default = asked is None
    if asked is None:
        asked = list(default_ks(ordered))
    if asked[-1] > len(linked):
        raise ParameterError(
            f"ks holds {asked[-1]}, more than the {amount(len(linked), 'node')} of G with edges; leave larger ones out"
        )
    searched = nodes_to_partition(ordered, middle_of_ks(asked), components, progress, k_is_open=is_default)
    remarks, kept = searched.remarks_after(graph.remarks), np.flatnonzero(searched.nodes)
    if is_default and components == "largest":
        asked = asked[: len(kept)]
    elif len(kept) < asked[-1] and components == "largest":
        raise ParameterError(
            f"ks holds {asked[-1]}, more than the {amount(len(kept), 'node')} of the largest component; leave larger "
            'ones out, or take components="all"'
        )
    if len(kept) < asked[-1]:
        kept, remarks = linked, graph.remarks
    given = {"min_size": min_size, "max_size": max_size, "max_imbalance": max_imbalance}
    bounds = {name: plain_number(value) for name, value in given.items()}
    is_bounded = any(value is not None for value in bounds.values())
    if node_weight is not None and not is_bounded:
        raise ParameterError("node_weight is what bounds count, expected min_size, max_size or max_imbalance too")
    size = as_sizes(G, graph, node_weight)[order[kept]] if is_bounded else None
    if size is not None:
        if is_default:
            first, last = (k_within(size, k, min_size, max_size) for k in (1, len(kept)))
            asked, is_default = [k for k in asked if first <= k <= last] or [first], False
        for k in asked:
            as_bounds_of_k(size, k, min_size, max_size, max_imbalance, len(linked) - len(kept))
    path = longest_path(ordered, kept, asked, choice, remarks, int(rng.integers(2**63)), progress, is_default)
    path.sizes, path.bounds = size, bounds
    path.graph, path.order, path.seed = graph, order, seed
    path.options = {"objective": choice.name, "resolution": choice.resolution, "components": components}
    path.options |= {name: value for name, value in bounds.items() if value is not None}
    if is_bounded and (said := weights_in_words(node_weight, graph)) is not None:
        path.options["node_weight"] = said
    path.options |= graph_settings(weight, symmetrize, time_budget)
    return path


def longest_path(
    graph: Graph, kept: npt.NDArray[np.int64], ks: list[int], choice: ObjectiveChoice, remarks: tuple[str, ...],
    key: int, progress: Progress, is_default: bool,
) -> ClusterPath:  # fmt: skip
    """The path for increasing ks; if these are the default, a longer one if the graph shows more clusters."""
    if not is_default:
        return ClusterPath(graph, kept, ks, choice, remarks, key, progress)
    n_components = len(np.unique(graph.components[kept]))
    if (beyond := ceil(BEYOND_COMPONENTS * n_components)) > ks[-1]:
        ks = list(range(1, min(max(beyond, ks[-1]), MOST_COMPONENTS, len(kept)) + 1))
    path = ClusterPath(graph, kept, ks, choice, remarks, key, progress)
    most = min(MOST_CLUSTERS, len(kept) // 2)
    if most > ks[-1] and path.descent.figures[ks[-1]].inside >= INSIDE_AT_THE_END and not progress.out_of_time():
        longer = list(range(1, most + 1))
        ranked = rank_by_width(ClusterPath(graph, kept, longer, choice, (), TRIAL, progress))
        if ranked and ranked[0][0] > ks[-1] and ranked[0][1] >= WIDE_BEYOND:
            return ClusterPath(graph, kept, longer, choice, remarks, key, progress)
    return path


def default_ks(graph: Graph) -> range:
    """The default numbers of clusters: up to 3 sqrt(n), so that clusters have several nodes."""
    n_linked = int((~graph.isolated).sum())
    return range(1, min(MOST_CLUSTERS, int(PER_SQUARE_ROOT * sqrt(n_linked)), n_linked) + 1)


def _as_ks(ks: Iterable[int]) -> list[int]:
    """Increasing whole numbers >= 1, each once."""
    try:
        listed = list(ks)
    except TypeError:
        raise TypeError(f"ks={ks!r} is a {type(ks).__name__}, expected whole numbers such as range(2, 51)") from None
    if not listed:
        raise ParameterError("ks is empty, expected at least one number of clusters")
    return sorted({as_whole_number(k, f"ks[{place}]", at_least=1) for place, k in enumerate(listed)})


def choose_k(graph: Graph, objective: str, components: Components, progress: Progress) -> tuple[int, str]:
    """The number of clusters that the graph shows, and why or, if it is not clear, which others it may be.

    The path is the one that a suggestion would make for itself, so that it makes no other.
    """
    with progress.stage("choosing k"):
        path = cluster_path(
            graph, objective=cast(ObjectiveName, objective), components=components, rng=DRAWS, progress=progress.aside()
        )
        suggestion = path.suggest(progress=progress.aside())
    k, others = suggestion.k, [str(one.k) for one in suggestion.runners_up]
    is_open = not suggestion.clear and 0 < len(others) < len(suggestion.candidates)  # else k is no candidate itself
    candidates = f"; other candidates are {', '.join(others)}" if is_open else ""
    return k, f"{NOT_GIVEN}, {k} was taken: {suggestion.reasons[0]}{candidates}"


def warn_if_unclear(remarks: Iterable[str]) -> None:
    """Warn of a k that was taken though the graph shows it not clearly; for functions that return labels alone."""
    for said in remarks:
        if said.startswith(NOT_GIVEN) and (NOT_SHOWN in said or NOT_TRIED in said):
            warn_caller(said, GraphWarning)
