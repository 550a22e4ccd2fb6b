"""The partition of a graph into k clusters for every k at once, and for which resolutions each k is natural."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_whole_number
from graphclust.coreset.outcome import Outcome
from graphclust.errors import GraphValidationError, ParameterError, counted
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import RATIOS, Aim, Weighed, as_aim, weighed
from graphclust.partition.clustering import Clustering, clustering_of, numbering_by_size
from graphclust.partition.descent import Descent, descended, objective_of_moves, unit_of_resolution
from graphclust.partition.envelope import natural_ranges
from graphclust.partition.merging import merged, unions
from graphclust.partition.moves import moved_until_stable
from graphclust.partition.multilevel import CHEAP, REGIONS, Level, carried, in_cycles, regions
from graphclust.partition.resolution import FLOOR, goal_of, middle_of
from graphclust.partition.small_components import in_all_nodes, put_back, searched_nodes
from graphclust.progress import Progress, ProgressLike, as_progress

if TYPE_CHECKING:
    from graphclust.partition.suggestion import Suggestion

__all__ = ["Path", "PathRow", "cluster_path"]

MOST_CLUSTERS, PER_SQUARE_ROOT = 1_000, 3.0
# The first partition is made without one of more clusters before it, so the few below it are less good: the path starts
# above the largest k that it is asked for.
AHEAD, AHEAD_AT_LEAST = 1.3, 10
FEWEST = 50  # clusters that the regions are made for: a path of few clusters needs as good regions as one of many


class PathRow(NamedTuple):
    """What is known of the partition into k clusters, before nodes of the graph moved.

    value : of the objective, the larger the better: modularity at `resolution`, k less the normalised cut, minus the
        ratio cut, or the constant Potts model's sum. resolution : as `Clustering.resolution`.
    sizes : nodes of each cluster, decreasing. natural_range : from which resolution to which k clusters are natural,
        empty (g, g) where they are at none.
    splits : (k', c): going up, this k is reached from the next smaller one of the path by first splitting the cluster
        at place c of its `sizes`. None for the smallest k.
    """

    k: int
    value: float
    normalized_cut: float
    modularity: float
    sizes: npt.NDArray[np.int64]
    resolution: float | None
    natural_range: tuple[float, float]
    splits: tuple[int, int] | None


class Path:
    """The partition into k clusters for every k of a range: `path[k]` is a `Clustering`. See `cluster_path`.

    ks : the numbers of clusters, increasing. graph : the graph that was clustered.
    objective : as `cluster_path` takes it. seconds : stage -> seconds.
    """

    def __init__(
        self,
        graph: Graph,
        ks: Sequence[int],
        aim: Aim,
        kept: npt.NDArray[np.int64],
        on: Weighed,
        levels: list[Level],
        descent: Descent,
        remarks: list[str],
        seed: int,
        progress: Progress,
    ):
        self.graph, self.ks, self.objective = graph, tuple(ks), aim.name
        self.seconds = progress.seconds
        self.aim, self.kept, self.descent, self.seed = aim, kept, descent, seed
        self._on, self._levels, self._remarks = on, levels, remarks
        self._clusterings: dict[int, Clustering] = {}
        self._numbers: dict[int, npt.NDArray[np.int64]] = {}
        every = sorted(descent.figures)
        figures = [descent.figures[k] for k in every]
        ranges = natural_ranges(np.array([row.inside for row in figures]), np.array([row.squares for row in figures]))
        self.ranges = dict(zip(every, map(tuple, ranges.tolist()), strict=True))

    def __len__(self) -> int:
        return len(self.ks)

    def __contains__(self, k: object) -> bool:
        return k in self.ks

    def __repr__(self) -> str:
        return f"Path({self.graph.n_nodes} nodes, k = {self.ks[0]}..{self.ks[-1]}, {self.objective})"

    def __getitem__(self, k: int) -> Clustering:
        """The partition into k clusters, with nodes of the graph moved on the first asking; kept from then on.

        Raises KeyError where k is not on the path, TypeError where it is no whole number.
        """
        k = as_whole_number(k, "k", at_least=-(2**62))
        if k not in self.ks:
            raise KeyError(f"k={k} is not on this path of {len(self.ks)} from {self.ks[0]} to {self.ks[-1]}")
        if k not in self._clusterings:
            self._clusterings[k] = self._refined(k)
        return self._clusterings[k]

    def natural_range(self, k: int) -> tuple[float, float]:
        """From which resolution to which k clusters are natural, in the envelope of all partitions on the way to 1.

        For the cuts, which have no resolution, it is the one of modularity or the constant Potts model.
        """
        low, high = self.ranges[k]
        unit = unit_of_resolution(self.aim, self._on)
        return low * unit, high * unit

    def resolution(self, k: int) -> float | None:
        """The resolution that the partition into k clusters is made for; None for the cuts."""
        if self.aim.name in RATIOS:
            return None
        if isinstance(self.aim.resolution, float):
            return self.aim.resolution
        return max(middle_of(*self.ranges[k]), FLOOR) * unit_of_resolution(self.aim, self._on)

    def table(self) -> list[PathRow]:
        """A row for each k, increasing; `pandas.DataFrame(path.table())` is a table.

        >>> import networkx as nx
        >>> rows = cluster_path(nx.ring_of_cliques(3, 4), [1, 2, 3], rng=0).table()
        >>> [(row.k, row.sizes.tolist(), row.splits) for row in rows]
        [(1, [12], None), (2, [8, 4], (1, 0)), (3, [4, 4, 4], (2, 0))]
        """
        rows: list[PathRow] = []
        for k in self.ks:
            figures = self.descent.figures[k]
            smaller = rows[-1].k if rows else None
            united = None if smaller is None else self.descent.figures[smaller].united
            splits = None if smaller is None or united is None else (smaller, united)
            rows.append(
                PathRow(
                    k,
                    self._value(k),
                    figures.normalized_cut,
                    figures.modularity,
                    figures.sizes,
                    self.resolution(k),
                    self.natural_range(k),
                    splits,
                )
            )
        return rows

    def tree(self) -> npt.NDArray[np.float64]:
        """How the clusters of the largest k become one: the unions in SciPy's linkage form, shape (largest k - 1, 4).

        Leaf c is cluster c of `path[path.ks[-1]]`. The distance of a union is one over how far the links of its two
        clusters exceed chance, or that of a union before it where that is larger; unlinked ones are at twice the
        distance of the last linked ones. Some nodes change clusters on the way, so a cluster of `path[k]` is about, not
        exactly, the union of its leaves. With a largest k of 1 there is no union, which SciPy takes for no tree.

        Source: the distance, Bonald et al. 2018, "Hierarchical graph clustering using node pair sampling".

        >>> import networkx as nx
        >>> path = cluster_path(nx.ring_of_cliques(3, 4), [3], rng=0)
        >>> path.tree()[:, 3]
        array([2., 3.])
        """
        most = self.ks[-1]
        leaves = self._leaf_names()
        node = np.full(len(self.descent.unions), -1)
        node[leaves] = np.arange(most)
        n_leaves = np.ones(len(node))
        rows = np.empty((most - 1, 4))
        distance = 0.0
        for i, t in enumerate(range(most - 1, 0, -1)):
            ended, enlarged = self.descent.unions[t]
            excess = self.descent.excess[t]
            if excess > 0.0:
                distance = max(distance, 1.0 / excess)
            n_leaves[enlarged] += n_leaves[ended]
            pair = sorted((node[ended], node[enlarged]))
            rows[i] = *pair, distance if excess > 0.0 else np.inf, n_leaves[enlarged]
            node[enlarged] = most + i
        unlinked = np.maximum.accumulate(np.isinf(rows[:, 2]))
        rows[unlinked, 2] = 2.0 * distance if distance > 0.0 else 1.0
        return rows

    def suggest(self) -> Suggestion:
        """Which k of the path the graph shows most clearly, with the reasons and the runners-up; see `Suggestion`.

        >>> import networkx as nx
        >>> suggestion = cluster_path(nx.ring_of_cliques(6, 8), rng=0).suggest()
        >>> suggestion.k, suggestion.clear
        (6, True)
        """
        from graphclust.partition.suggestion import suggestion_of

        return suggestion_of(self)

    def _value(self, k: int) -> float:
        figures, resolution = self.descent.figures[k], self.resolution(k)
        if resolution is None:
            return figures.score
        value = figures.inside - resolution / unit_of_resolution(self.aim, self._on) * figures.squares
        return value if self.aim.name == "modularity" else value * self._on.graph.total_volume

    def labels_before_moves(self, k: int) -> npt.NDArray[np.int64]:
        """The partition of the regions into k as labels of the nodes, int64, -1 for nodes that were left out."""
        labels = self.descent.labels(k)
        for level in reversed(self._levels):
            labels = labels[level.coarse]
        whole = np.full(self.graph.n_nodes, -1, np.int64)
        whole[self.kept] = labels
        return whole

    def _leaf_names(self) -> npt.NDArray[np.int64]:
        """The names, in the descent, of the clusters of the largest k in their order."""
        most = self.ks[-1]
        _ = self[most]
        names = np.unique(self.descent.names(most))
        ordered = np.empty(most, np.int64)
        ordered[self._numbers[most][:most]] = names
        return ordered

    def _regions_of(self, k: int) -> list[float]:
        """The resolutions at which a few times k clusters are natural, as far as the path goes."""
        return [middle_of(*self.ranges[min(n * k, len(self.descent.unions))]) for n in REGIONS]

    def _refined(self, k: int) -> Clustering:
        """The partition of the regions, carried to the nodes and improved there."""
        progress = Progress()
        resolution = self.resolution(k)
        at = 0.0 if resolution is None else resolution / unit_of_resolution(self.aim, self._on)
        on = self._levels[0].on if self._levels else self._on
        objective = objective_of_moves(self.aim, on, k, at)
        labels = self.descent.labels(k)
        with progress.stage("moving nodes"):
            if k > 1 and self._levels:
                labels, _ = carried(self._levels, labels, k, objective, progress)
            elif k > 1:
                moved_until_stable(on, labels, k, objective, progress)
            if k > 1 and on.graph.n_entries <= CHEAP:
                labels, _ = in_cycles(
                    on, labels, k, objective, self._regions_of(k), 1.0, np.random.default_rng([self.seed, k]), progress
                )
        outcome = Outcome(labels.astype(np.int64))
        self._numbers[k] = numbering_by_size(outcome.labels, k)
        if len(self.kept) < self.graph.n_nodes:
            searched = np.zeros(self.graph.n_nodes, np.bool_)
            searched[self.kept] = True
            outcome = put_back(self.graph, searched, Outcome(in_all_nodes(searched, outcome.labels)))
            self._numbers[k] = numbering_by_size(outcome.labels, k)
        given = {"method": "path", "objective": self.objective, "resolution": self.aim.resolution}
        return clustering_of(
            self.graph, k, outcome.labels, self._remarks, progress, objective=self.objective, resolution=resolution,
            natural_range=None if resolution is None else self.natural_range(k), parameters=given,
        )  # fmt: skip


def cluster_path(
    G: GraphLike,
    ks: Iterable[int] | None = None,
    *,
    objective: str = "modularity",
    resolution: float | str | None = None,
    components: str = "large",
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Path:
    """Cluster a graph into k parts for every k of a range, for little more than one clustering.

    G, weight, symmetrize : as `coreset_sc` takes them.
    ks : the numbers of clusters, each from 1 to the number of nodes with edges. By default 1, 2, ... up to the least
        of 1,000, three times the square root of the nodes, and the nodes.
    objective, resolution : as `coreset_sc` takes them; by default modularity, for each k at its own resolution.
    components : "large" (default) leaves connected components of less than a fiftieth of an average cluster's volume
        out, as `coreset_sc` does, for the k in the middle of the range on a logarithmic scale; "all" does not.
    rng : None, a seed or a numpy Generator; the same seed gives the same path, in whatever order it is asked.

    Returns a `Path`: `path[k]` is a `Clustering` of exactly k clusters, `path.table()` has a row for each k,
    `path.tree()` the unions, `path.suggest()` says which k the graph shows. One graph of regions is made for the
    largest k and its clusters are united one pair at a time; nodes of the graph move only for a k that is asked for.

    Raises what `coreset_sc` raises, and ParameterError for no ks or a k that the graph has not enough nodes for.

    >>> import networkx as nx
    >>> path = cluster_path(nx.ring_of_cliques(4, 5), range(2, 6), rng=0)
    >>> path.ks, path[4].sizes
    ((2, 3, 4, 5), array([5, 5, 5, 5]))
    """
    aim = as_aim(objective, resolution)
    if components not in ("large", "all"):
        raise ParameterError(f"components={components!r} is unknown, expected one of 'large', 'all'")
    rng, progress = as_generator(rng), as_progress(progress)
    asked = None if ks is None else _as_ks(ks)
    with progress.stage("gate"):
        graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    if graph.n_entries == 0:
        raise GraphValidationError("G has no edges, expected at least one: nothing can be cut or clustered")
    linked = np.flatnonzero(~graph.isolated)
    if asked is None:
        asked = list(default_ks(graph))
    if asked[-1] > len(linked):
        raise ParameterError(
            f"ks holds {asked[-1]}, more than the {counted(len(linked), 'node')} of G with edges; leave larger ones out"
        )
    remarks = list(graph.remarks)
    kept = np.flatnonzero(searched_nodes(graph, middle_of_ks(asked), components, remarks, progress))
    if len(kept) < asked[-1]:
        kept, remarks = linked, list(graph.remarks)
    return path_over(graph, kept, asked, aim, remarks, int(rng.integers(2**63)), progress)


def middle_of_ks(ks: Sequence[int]) -> int:
    """The number of clusters in the middle of increasing ks on a logarithmic scale."""
    return max(1, round(sqrt(ks[0] * ks[-1])))


def path_over(
    graph: Graph,
    kept: npt.NDArray[np.int64],
    ks: list[int],
    aim: Aim,
    remarks: list[str],
    seed: int,
    progress: Progress,
) -> Path:
    """The path for increasing ks, of which the largest is at most the number of the nodes that are kept."""
    part = graph if len(kept) == graph.n_nodes else graph.subgraph(kept)
    left_out = graph.total_volume - part.total_volume, int((~graph.isolated).sum()) - len(kept)
    on, most, rng = weighed(part, aim.name), ks[-1], np.random.default_rng(seed)
    top = min(part.n_nodes, max(ceil(AHEAD * most), most + AHEAD_AT_LEAST))
    with progress.stage("regions"):
        levels, core = regions(on, max(top, min(FEWEST, part.n_nodes)), aim, rng, progress)
    with progress.stage("descent"):
        goal = goal_of(aim, core, top, unions(core, progress, top))
        labels, _ = merged(core, top, goal.objective, progress)
        moved_until_stable(core, labels, top, goal.objective, progress)
        region = np.arange(part.n_nodes)
        for level in levels:
            region = level.coarse[region]
        sizes = np.bincount(region, minlength=core.graph.n_nodes)
        descent = descended(core, labels, top, aim, sizes, left_out, progress)
    return Path(graph, ks, aim, kept, core, levels, descent, remarks, seed, progress)


def default_ks(graph: Graph) -> range:
    """The numbers of clusters where none are given: where a node is likely to have others like it in its cluster."""
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
