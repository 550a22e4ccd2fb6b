"""Which connected components take part in a search for exactly k clusters; the others are put aside, in no cluster.

Any component is a perfect cluster that no edge leaves, so a plain objective spends its clusters on crumbs. Here a
component takes one of the k clusters where it is worth more than what the others would do with it. Worth is a gain of
likelihood: the edges inside two sets of nodes are better explained by a rate of each set than by one rate of both. In a
small graph the worth of the other clusters is measured: fine clusters are reduced to k by the cheapest steps, each of
which unites two linked clusters or puts a component aside. In a large graph it is estimated from volumes alone.

Source: the likelihood, Karrer & Newman 2011, "Stochastic blockmodels and community structure in networks".
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Goal
from graphclust.compiled.graphs.objective import PLAIN, Objective
from graphclust.errors import amount
from graphclust.graph.container import Graph
from graphclust.objective.objective import weigh
from graphclust.partition.contraction import contract
from graphclust.partition.engine import v_cycle
from graphclust.partition.levels import run_on
from graphclust.progress import Progress

# A cluster that is cut in two where its edges allow is worth this much of one that falls apart: .44 / log 2 on planted
# graphs of degree 10 with a sixth of the edges between clusters, .2 in random graphs of that degree.
STRUCTURE = 0.5
LEAST_SHARE = 0.05  # of the estimated worth of the k-th cluster: components of less are aside without a trial
MOST_ENTRIES = 1 << 17  # up to which the worth is measured, in 2 to 30 ms for k up to 100
FINE = 2  # clusters of a trial, as a multiple of k, before it reduces them
MOST_TRIALS = 8  # resolutions, each at least twice the one before
AT_ONCE = 2  # half of the remaining steps are made before costs are computed again
ALIKE = 0.5  # of the volume of the smallest cluster: where all clusters are components, others like these are united


def nodes_to_partition(
    graph: Graph, k: int, components: str, remarks: list[str], progress: Progress, *, k_is_open: bool = False
) -> np.ndarray:
    """True for the nodes to partition into k clusters, (n_nodes,): with edges, in components that take part.

    k_is_open : whether k is a guess; then all components take part that are no crumbs beside the typical one.

    components : "large", those that are worth one of the k clusters; "largest", or "all". Remarks name what is left
    out, and that k is less than the number of components. "large" leaves k nodes at least, if there are as many.
    """
    progress.reads(graph, graph.n_entries)
    of_node = graph.components
    volumes = np.asarray(np.bincount(of_node, weights=graph.degrees), np.float64)
    takes_part = volumes > 0.0
    n_components = int(np.count_nonzero(takes_part))
    if n_components > 1:
        remarks.append(f"the nodes with edges form {n_components} components")
        if components == "largest":
            takes_part = np.arange(len(volumes)) == volumes.argmax()
        elif components == "large":
            chosen = worth_a_cluster(graph, volumes, k)
            if k_is_open:
                chosen |= volumes >= LEAST_SHARE * typical_volume(volumes)
            if np.count_nonzero(chosen[of_node]) >= k:
                takes_part = chosen
    searched: np.ndarray = takes_part[of_node] & ~graph.isolated
    n_taken = int(np.count_nonzero(takes_part))
    if n_taken < n_components:
        n_aside = int(np.count_nonzero(~graph.isolated)) - int(np.count_nonzero(searched))
        remarks.append(
            f"{amount(n_components - n_taken, 'component')} of {amount(n_aside, 'node')} put aside, in no cluster "
            f'(label -1); components="all" searches all'
        )
    if n_taken > k:
        remarks.append(f"k = {k} lies below the {n_taken} components that take part: some of them are united")
    return searched


def mask_nodes(graph: Graph, searched: np.ndarray) -> Graph:
    """The graph on the same rows, in which all other nodes count as isolated: they have no degree, and no loop.

    No entry is copied. The other nodes must be whole components: their rows are still there, and lead to each other.
    """
    if np.array_equal(searched, ~graph.isolated):
        return graph
    degrees, loops = np.where(searched, graph.degrees, 0.0), np.where(searched, graph.loops, 0.0)
    return Graph(graph.indptr, graph.indices, graph.weights, degrees, loops, graph.nodes)


def labels_of_all_nodes(searched: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels of the nodes that were searched for all nodes; -1 for the rest."""
    if len(labels) == len(searched):
        return labels
    found = np.full(len(searched), -1, labels.dtype)
    found[searched] = labels
    return found


def worth_a_cluster(graph: Graph, volumes: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.bool_]:
    """True for the components that take part in k clusters, shape (n_components,)."""
    k = max(k, 2)  # one cluster has all that two have
    typical = float(volumes.max()) / k
    worth = worth_apart(volumes, typical)
    component, last = choose_components(volumes, worth, k)
    contested = worth >= LEAST_SHARE * last
    if np.count_nonzero(contested) == 1:
        return contested
    nodes = np.flatnonzero(contested[graph.components])
    if int(np.diff(graph.indptr)[nodes].sum()) <= MOST_ENTRIES:
        part = graph if len(nodes) == graph.n_nodes else graph.subgraph(nodes)
        clusters = fine_clusters(part, k)
        if len(clusters.mass) < k:
            return contested
        left = reduce_to(clusters, k, typical)
        component = graph.components[nodes[left.origin]].astype(np.int64)
    takes_part = np.zeros(len(volumes), bool)
    takes_part[component] = True
    if len(np.unique(component)) == k:  # each a cluster: no reason to put others like these aside
        takes_part |= volumes >= ALIKE * volumes[component].min()
    return takes_part


def typical_volume(volumes: npt.NDArray[np.float64]) -> float:
    """The volume such that half of all volume is in components as large or larger; of a giant, where there is one."""
    increasing = np.sort(volumes)
    return float(increasing[np.searchsorted(np.cumsum(increasing), volumes.sum() / 2.0)])


def worth_apart(volume: npt.NDArray[np.float64], typical: float) -> npt.NDArray[np.float64]:
    """What it is worth to tell sets of nodes from a cluster that no edge links to them, in nats times weight.

    volume : of the sets. typical : of a cluster; of one as large as the set where that is larger.
    """
    other = np.maximum(volume, typical)
    own = volume * np.log1p(other / np.where(volume > 0.0, volume, 1.0))
    return np.asarray(own + other * np.log1p(volume / other)) / 2.0


def choose_components(
    volumes: npt.NDArray[np.float64], worth: npt.NDArray[np.float64], k: int
) -> tuple[npt.NDArray[np.int64], float]:
    """The component of each of k clusters if the most worthy are made, and the worth of the last of them.

    The first cluster of a component is worth what tells it from the others, and the n-th what tells two n-th parts of
    it from each other, as far as their edges allow.
    """
    largest = np.argsort(-worth, kind="stable")[:k]
    heap = [(-float(worth[c]), int(c), 1) for c in largest]
    heapify(heap)
    chosen = np.empty(k, np.int64)
    gain = 0.0
    for i in range(k):
        gain, c, n = heap[0]
        chosen[i] = c
        heapreplace(heap, (max(gain, -STRUCTURE * np.log(2.0) * float(volumes[c]) / (n + 1)), c, n + 1))
    return chosen, -gain


class Clusters(NamedTuple):
    """Clusters of a graph, each inside one component, and the weights between those that are linked.

    origin : a node of each. a, b, link : of each linked pair, a < b.
    """

    origin: npt.NDArray[np.int64]
    inside: npt.NDArray[np.float64]
    mass: npt.NDArray[np.float64]
    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    link: npt.NDArray[np.float64]


def fine_clusters(graph: Graph, k: int) -> Clusters:
    """Clusters by modularity at a resolution that makes more than k of them; the same at every call."""
    on = weigh(graph, "modularity")
    run = run_on(on)
    pull, wanted = on.units.chance, min(FINE * k, graph.n_nodes)
    for _ in range(MOST_TRIALS):
        goal = Goal(Objective(PLAIN, pull, graph.total_volume / graph.n_nodes), 0)
        found = v_cycle(run.finest, None, goal, pull, run)
        rows = contract(run.finest, found, run).coarse.rows
        n_links = np.diff(rows.indptr)
        n = max(1, int(np.count_nonzero(n_links)))
        if n >= wanted:
            break
        pull *= max(2.0, wanted / n)
    a = np.repeat(np.arange(len(n_links)), n_links)
    once = a < rows.indices
    first = np.unique(found.labels, return_index=True)[1]
    pairs = a[once], rows.indices[once].astype(np.int64), rows.weights[once]
    return Clusters(first, found.sums.inside, found.sums.mass, *pairs)


def reduce_to(clusters: Clusters, k: int, typical: float) -> Clusters:
    """k of the clusters, by the cheapest steps: two linked ones become one, or a whole component is put aside.

    typical : volume of the cluster that a component put aside is no longer told from. The cheapest half of the steps
    that are left is made at once; the smaller of two clusters becomes a part of the larger.
    """
    while (n := len(clusters.mass)) > k:
        is_first = clusters.mass[clusters.a] < clusters.mass[clusters.b]
        small, large = np.where(is_first, (clusters.a, clusters.b), (clusters.b, clusters.a))
        cost = worth_of_two(clusters)
        price = np.full(n, np.inf)
        np.minimum.at(price, small, cost)
        into = np.arange(n)
        cheapest = np.flatnonzero(cost == price[small])
        into[small[cheapest]] = large[cheapest]
        whole = np.ones(n, bool)
        whole[clusters.a] = whole[clusters.b] = False
        price[whole] = worth_apart(clusters.mass[whole], typical)
        steps = np.argsort(price, kind="stable")[: max(1, (n - k) // AT_ONCE)]
        ended = steps[~whole[steps]]
        ended = ended[~np.isin(into[ended], ended)]  # a cluster that others join now joins another later
        clusters = remove_clusters(unite_clusters(clusters, ended, into[ended]), np.append(ended, steps[whole[steps]]))
    return clusters


def remove_clusters(clusters: Clusters, gone: npt.NDArray[np.int64]) -> Clusters:
    """The clusters but for some that are linked to no other."""
    is_left = np.ones(len(clusters.mass), bool)
    is_left[gone] = False
    number = np.cumsum(is_left) - 1
    left = clusters.origin[is_left], clusters.inside[is_left], clusters.mass[is_left]
    return Clusters(*left, number[clusters.a], number[clusters.b], clusters.link)


def unite_clusters(clusters: Clusters, ended: npt.NDArray[np.int64], enlarged: npt.NDArray[np.int64]) -> Clusters:
    """The clusters where some ended, being a part of others; those that ended are still there, linked to none."""
    n = len(clusters.mass)
    into, inside, mass = np.arange(n), clusters.inside.copy(), clusters.mass.copy()
    into[ended] = enlarged
    np.add.at(inside, enlarged, inside[ended])
    np.add.at(mass, enlarged, mass[ended])
    a, b = np.sort([into[clusters.a], into[clusters.b]], axis=0)
    inner = a == b
    np.add.at(inside, a[inner], 2.0 * clusters.link[inner])
    key, place = np.unique(a[~inner] * n + b[~inner], return_inverse=True)
    link = np.asarray(np.bincount(place, weights=clusters.link[~inner], minlength=len(key)), np.float64)
    return Clusters(clusters.origin, inside, mass, key // n, key % n, link)


def worth_of_two(clusters: Clusters) -> npt.NDArray[np.float64]:
    """What it is worth to tell the two clusters of each linked pair: of the edges inside both, nats times weight."""
    a, b, link = clusters.a, clusters.b, clusters.link
    inside, mass = clusters.inside, clusters.mass
    of_both = inside[a] + inside[b] + 2.0 * link
    apart = _log_rate(inside[a], mass[a] ** 2) + _log_rate(inside[b], mass[b] ** 2)
    apart += 2.0 * _log_rate(link, mass[a] * mass[b])
    return np.asarray(apart - _log_rate(of_both, (mass[a] + mass[b]) ** 2)) / 2.0


def _log_rate(weight: npt.NDArray[np.float64], pairs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """w log(w / pairs), 0 for no weight."""
    return weight * np.log(np.where(weight > 0.0, weight, 1.0) / np.where(weight > 0.0, pairs, 1.0))
