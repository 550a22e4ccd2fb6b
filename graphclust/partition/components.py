"""Which connected components take part in a search for exactly k clusters; the others are put aside, in no cluster.

No edge leaves a component, so an additive objective spends its clusters on tiny components. Here a component gets one
of the k clusters only if that is worth more than one more cluster elsewhere. Worth is a gain of likelihood: two rates
explain the edges inside two sets of nodes better than one rate for both. In a small graph it is measured: fine clusters
are reduced to k by the cheapest steps, each of which unites two linked clusters or puts a component aside. In a large
graph it is estimated from volumes alone.

Source: the likelihood, Karrer & Newman 2011, "Stochastic blockmodels and community structure in networks".
"""

from collections.abc import Iterable
from heapq import heapify, heapreplace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.contraction import contract
from graphclust.engine.levels import run_on
from graphclust.engine.v_cycle import v_cycle
from graphclust.errors import amount
from graphclust.graph.container import Graph
from graphclust.graph.matrices import said_of_clusters
from graphclust.objective.objective import weigh
from graphclust.progress import Progress

# Worth of splitting one component into two clusters, as a share of that of two components: .44 / log 2 on planted
# graphs of degree 10 with a sixth of the edges between clusters, .2 in random graphs of that degree.
STRUCTURE = 0.5
LEAST_SHARE = 0.05  # of the estimated worth of the k-th cluster: components of less are put aside unmeasured
MOST_ENTRIES = 1 << 17  # up to which the worth is measured, in 2 to 30 ms for k up to 100
FINE = 2  # fine clusters to begin with, as a multiple of k
MOST_TRIALS = 8  # at a resolution that makes so many; each is at least twice the one before
STEPS_SHARE = 2  # half of the remaining steps are made before costs are computed again
ABOUT_AS_LARGE = 0.5  # of the smallest cluster: if all k clusters are components, larger ones take part too


class Searched(NamedTuple):
    """The nodes that a search is made among.

    nodes : bool, shape (n_nodes,). remarks : what is left out, and whether k is less than the number of components.
    warning : a remark that comes before all others, or none. first : bool, (n_nodes,), the nodes of the components that
    are worth a cluster, if fewer take part than there are: the others join clusters afterwards, see `join_lightest`.
    """

    nodes: np.ndarray
    remarks: tuple[str, ...] = ()
    warning: tuple[str, ...] = ()
    first: np.ndarray | None = None

    def remarks_after(self, earlier: Iterable[str]) -> tuple[str, ...]:
        return (*self.warning, *said_of_clusters(earlier, False), *self.remarks)


def nodes_to_partition(
    graph: Graph, k: int, components: str, progress: Progress, *, k_is_open: bool = False
) -> Searched:
    """The nodes to partition into k clusters: with edges, in components that take part.

    components : "large", the ones worth one of the k clusters; "largest"; or "all". "large" leaves at least k nodes, if
    there are as many. k_is_open : whether k is a guess; then every component of LEAST_SHARE of the typical volume takes
    part too.
    """
    progress.reads(graph, graph.n_entries)
    of_node = graph.components
    volumes = np.asarray(np.bincount(of_node, weights=graph.degrees), np.float64)
    takes_part = volumes > 0.0
    n_components = int(np.count_nonzero(takes_part))
    remarks: list[str] = []
    warning: tuple[str, ...] = ()
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
        n_linked = int(np.count_nonzero(~graph.isolated))
        n_aside = n_linked - int(np.count_nonzero(searched))
        if 2 * n_aside > n_linked:
            said = f"most nodes, {n_aside:,} of {n_linked:,}, are in small components, and in no cluster (label -1)"
            warning = (f"{said}; communities(G) makes clusters of every component",)
        remarks.append(
            f"{amount(n_components - n_taken, 'component')} of {amount(n_aside, 'node')} put aside, in no cluster "
            f'(label -1); components="all" searches all'
        )
    if n_taken <= k:
        return Searched(searched, tuple(remarks), warning)
    remarks.append(f"k = {k} lies below the {n_taken} components that take part: some of them are united")
    first = worth_a_cluster(graph, volumes, k)[of_node] & searched
    is_enough = k <= np.count_nonzero(first) < np.count_nonzero(searched)
    return Searched(searched, tuple(remarks), warning, first if is_enough else None)


def join_lightest(graph: Graph, labels: np.ndarray, left: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The labels after each component of nodes left joined the lightest cluster of the time, heavy components first.

    Without an edge between them a union loses the less the lighter both are. left : bool, shape (n_nodes,), nodes of
    whole components. mass : of each node.
    """
    by_component = np.bincount(graph.components[left], mass[left])
    waiting = np.unique(graph.components[left])
    clusters = [(load, c) for c, load in enumerate(np.bincount(labels[labels >= 0], mass[labels >= 0]).tolist())]
    heapify(clusters)
    to = np.full(graph.components.max() + 1, -1, labels.dtype)
    for component in waiting[np.argsort(-by_component[waiting], kind="stable")].tolist():
        load, to[component] = clusters[0]
        heapreplace(clusters, (load + by_component[component], int(to[component])))
    return np.where(left, to[graph.components], labels)


def mask_nodes(graph: Graph, searched: np.ndarray) -> Graph:
    """The graph on the same rows, in which the nodes not searched count as isolated: without degree and loop.

    No entry is copied. These nodes must be whole components: their rows are still there, and lead to each other.
    """
    if np.array_equal(searched, ~graph.isolated):
        return graph
    degrees, loops = np.where(searched, graph.degrees, 0.0), np.where(searched, graph.loops, 0.0)
    return Graph(graph.indptr, graph.indices, graph.weights, degrees, loops, graph.nodes)


def labels_of_all_nodes(searched: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels of the nodes that were searched for all nodes; -1 for the rest."""
    if len(labels) == len(searched):
        return labels
    of_all = np.full(len(searched), -1, labels.dtype)
    of_all[searched] = labels
    return of_all


def worth_a_cluster(graph: Graph, volumes: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.bool_]:
    """True for the components that take part in k clusters, shape (n_components,)."""
    k = max(k, 2)  # for one cluster the same components take part as for two
    typical = float(volumes.max()) / k
    worth = gain_of_separation(volumes, typical)
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
    if len(np.unique(component)) == k:  # each is a cluster: others about as large are not put aside
        takes_part |= volumes >= ABOUT_AS_LARGE * volumes[component].min()
    return takes_part


def typical_volume(volumes: npt.NDArray[np.float64]) -> float:
    """The volume such that half of all volume is in components as large or larger: the giant component's, if any."""
    increasing = np.sort(volumes)
    return float(increasing[np.searchsorted(np.cumsum(increasing), volumes.sum() / 2.0)])


def gain_of_separation(volume: npt.NDArray[np.float64], typical: float) -> npt.NDArray[np.float64]:
    """The gain of likelihood, in nats times weight, by telling sets of nodes from a cluster without links to them.

    volume : of the sets. typical : volume of that cluster, which is at least as large as the set.
    """
    other = np.maximum(volume, typical)
    own = volume * np.log1p(other / np.where(volume > 0.0, volume, 1.0))
    return np.asarray(own + other * np.log1p(volume / other)) / 2.0


def choose_components(
    volumes: npt.NDArray[np.float64], worth: npt.NDArray[np.float64], k: int
) -> tuple[npt.NDArray[np.int64], float]:
    """The component of each of the k clusters of most worth, and the worth of the last one.

    The first cluster of a component is worth what tells the component from the others; the n-th is worth STRUCTURE
    times what tells two n-th parts of it from each other.
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


class FineClusters(NamedTuple):
    """Clusters of a graph, each inside one component, and the weights between those that are linked.

    origin : a node of each. a, b, link : of each linked pair, a < b.
    """

    origin: npt.NDArray[np.int64]
    inside: npt.NDArray[np.float64]
    mass: npt.NDArray[np.float64]
    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    link: npt.NDArray[np.float64]


def fine_clusters(graph: Graph, k: int) -> FineClusters:
    """Clusters by modularity at a resolution that makes about FINE * k of them; the same at every call."""
    on = weigh(graph, "modularity")
    run = run_on(on)
    penalty, wanted = on.totals.chance, min(FINE * k, graph.n_nodes)
    for _ in range(MOST_TRIALS):
        task = Task(Objective(ADDITIVE, penalty, graph.total_volume / graph.n_nodes), 0)
        partition = v_cycle(run.finest, None, task, penalty, run)
        rows = contract(run.finest, partition, run).coarse.rows
        n_links = np.diff(rows.indptr)
        n = max(1, int(np.count_nonzero(n_links)))
        if n >= wanted:
            break
        penalty *= max(2.0, wanted / n)
    a = np.repeat(np.arange(len(n_links)), n_links)
    once = a < rows.indices
    first = np.unique(partition.labels, return_index=True)[1]
    pairs = a[once], rows.indices[once].astype(np.int64), rows.weights[once]
    return FineClusters(first, partition.sums.inside, partition.sums.mass, *pairs)


def reduce_to(clusters: FineClusters, k: int, typical: float) -> FineClusters:
    """Reduce the clusters to k by the cheapest steps: unite two linked clusters, or put a whole component aside.

    typical : volume of the cluster from which a component put aside is no longer told. The cheapest half of the
    remaining steps is made at once; the smaller of two clusters becomes a part of the larger.
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
        price[whole] = gain_of_separation(clusters.mass[whole], typical)
        steps = np.argsort(price, kind="stable")[: max(1, (n - k) // STEPS_SHARE)]
        ended = steps[~whole[steps]]
        ended = ended[~np.isin(into[ended], ended)]  # a cluster that others join stays in this round
        clusters = unite_clusters(clusters, ended, into[ended], steps[whole[steps]])
    return clusters


def unite_clusters(
    clusters: FineClusters,
    ended: npt.NDArray[np.int64],
    enlarged: npt.NDArray[np.int64],
    aside: npt.NDArray[np.int64],
) -> FineClusters:
    """The clusters after some became parts of others, and others, which are linked to none, were put aside."""
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
    is_left = np.ones(n, bool)
    is_left[ended] = is_left[aside] = False
    number, left = np.cumsum(is_left) - 1, (clusters.origin[is_left], inside[is_left], mass[is_left])
    return FineClusters(*left, number[key // n], number[key % n], link)


def worth_of_two(clusters: FineClusters) -> npt.NDArray[np.float64]:
    """The gain of likelihood by telling the two clusters of each linked pair apart, in nats times weight."""
    a, b, link = clusters.a, clusters.b, clusters.link
    inside, mass = clusters.inside, clusters.mass
    of_both = inside[a] + inside[b] + 2.0 * link
    apart = _log_rate(inside[a], mass[a] ** 2) + _log_rate(inside[b], mass[b] ** 2)
    apart += 2.0 * _log_rate(link, mass[a] * mass[b])
    return np.asarray(apart - _log_rate(of_both, (mass[a] + mass[b]) ** 2)) / 2.0


def _log_rate(weight: npt.NDArray[np.float64], pairs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """w log(w / pairs), 0 for no weight."""
    return weight * np.log(np.where(weight > 0.0, weight, 1.0) / np.where(weight > 0.0, pairs, 1.0))
