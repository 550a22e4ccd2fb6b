"""The partition of a graph into k clusters for every k at once, and at which resolutions each k is the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust import __version__
from graphclust.cached import cached_property
from graphclust.checks import as_whole_number
from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.engine.bounds import as_bounds_of_k
from graphclust.engine.contraction import agglomerate, coarsest, is_estimate
from graphclust.engine.engine import EFFORTS, contract_to_regions, improve, labels_of_nodes, partition_from
from graphclust.engine.levels import Run, run_on, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.resolution import (
    FLOOR,
    REGIONS_PER_CLUSTER,
    Schedule,
    best_ranges,
    dendrogram_of,
    middle_of,
    objective_of,
    remarks_on,
)
from graphclust.engine.settling import uncoarsen
from graphclust.engine.within_bounds import bring_within
from graphclust.graph.container import Graph
from graphclust.graph.node_order import listing_order
from graphclust.html_table import html_table
from graphclust.objective.objective import OBJECTIVES, ObjectiveChoice, weigh
from graphclust.profile.dendrogram import Nodes, descend
from graphclust.profile.select_k import Suggestion, suggestion_of
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, numbering_by_size
from graphclust.results.label_matching import renumber

# The first partitions of a path are less good, since few moves come before them: so it starts above the largest k that
# is asked for.
AHEAD, AHEAD_AT_LEAST = 1.3, 10
FEWEST = 50  # clusters for which the regions are made at least: a path of few clusters needs equally good regions


class PathRow(NamedTuple):
    """What is known of the partition into k clusters, before nodes of the graph moved.

    value : of the objective on the graph of the nodes that are searched, the larger the better: modularity at
        `resolution`, k less the normalized cut, minus the ratio cut, or the constant Potts model's sum. normalized_cut,
        modularity : at resolution 1, on the whole graph. resolution : as `Clustering.resolution`.
    sizes : nodes of each cluster, decreasing. best_range : from which resolution to which it is the best partition of
        the path, empty (g, g) where it is at none; see `ClusterPath.best_range`.
    splits : (k', c): going up, this k is reached from the next smaller one of the path by first splitting the cluster
        at place c of its `sizes`. None for the smallest k.
    """

    k: int
    value: float
    normalized_cut: float
    modularity: float
    sizes: npt.NDArray[np.int64]
    resolution: float | None
    best_range: tuple[float, float]
    splits: tuple[int, int] | None


class ClusterPath:
    """The partition into k clusters for every k of a range: `path[k]` is a `Clustering`. See `cluster_path`.

    `len`, `in` and `for` are about the ks, as of a mapping: `for k in path` gives the numbers of clusters.

    ks : the numbers of clusters, increasing. graph : the graph that was clustered.
    objective : as `cluster_path` takes it. seconds : stage -> seconds.
    seed : that gives the path again, as `rng`, as that of a `Clustering`. options : the other arguments.
    ordered, order : the graph in the order of its nodes that it was worked on in, and the row of each of these.
    sizes, bounds : of the nodes that are searched, None without bounds; and the bounds by their names.
    choice, kept, descent, ranges, key : for the suggestion; see `dendrogram.py` and `engine/resolution.py`. kept : the
        nodes that are searched, rows of `ordered`.
    cut_short : whether a time budget ran out on the way.
    """

    def __init__(
        self,
        graph: Graph,
        kept: npt.NDArray[np.int64],
        ks: Sequence[int],
        choice: ObjectiveChoice,
        remarks: tuple[str, ...],
        key: int,
        progress: Progress,
    ):
        part = graph if len(kept) == graph.n_nodes else graph.subgraph(kept)
        most = ks[-1]
        self._run = run = run_on(weigh(part, choice.name), np.random.default_rng(key), progress)
        top = min(part.n_nodes, max(ceil(AHEAD * most), most + AHEAD_AT_LEAST))
        with progress.stage("regions"):
            self._steps = contract_to_regions(run.finest, max(top, min(FEWEST, part.n_nodes)), run)
            core = coarsest(run.finest, self._steps)
        with progress.stage("descent"):
            task = Task(objective_of(choice, top, dendrogram_of(core, run, top).resolution(top), run.totals)[0], top)
            partition = refine(core, agglomerate(core, task, run), task, run)
            region = self._project(np.arange(len(core.terms.mass), dtype=np.int32))
            n_nodes = np.bincount(region, minlength=len(core.terms.mass))
            volume = np.bincount(region, weights=part.degrees, minlength=len(core.terms.mass))
            nodes = Nodes(volume.astype(np.float64), n_nodes, graph.total_volume - part.total_volume)
            self.descent = descend(core, partition, choice, nodes, run)
        self._remarks = (*remarks, *(f"of the path: {remark}" for remark in progress.remarks))
        self.graph, self.ks, self.objective = graph, tuple(ks), choice.name
        self.ordered, self.order = graph, np.arange(graph.n_nodes)
        self.seconds, self._k_set = progress.seconds, frozenset(ks)
        self.choice, self.kept, self.key = choice, kept, key
        self.seed: int | str | None = None
        self.options: dict[str, Any] = {}
        self.sizes: npt.NDArray[np.float64] | None = None
        self.bounds: dict[str, Any] = {}
        self.cut_short = bool(progress.cut_short)
        self._clusterings: dict[int, Clustering] = {}
        self._numbers: dict[int, npt.NDArray[np.int64]] = {}
        every = sorted(self.descent.figures)
        figures = [self.descent.figures[k] for k in every]
        ranges = best_ranges(np.array([row.inside for row in figures]), np.array([row.squares for row in figures]))
        self.ranges = dict(zip(every, map(tuple, ranges.tolist()), strict=True))

    def over(
        self, graph: Graph, kept: npt.NDArray[np.int64], ks: Sequence[int], key: int, progress: Progress
    ) -> ClusterPath:
        """A path by the same choice, over increasing ks of which the largest is at most the number of nodes kept."""
        return ClusterPath(graph, kept, ks, self.choice, (), key, progress)

    @property
    def origin(self) -> dict[str, Any]:
        """How the path came about, as `Clustering.origin`; its k is the range."""
        told = {"version": __version__, "file": self.graph.file, "k": f"{self.ks[0]} to {self.ks[-1]}"}
        return told | {"seed": self.seed, "options": dict(self.options)}

    def __len__(self) -> int:
        return len(self.ks)

    def __contains__(self, k: object) -> bool:
        return k in self.ks

    def __iter__(self) -> Iterator[int]:
        """The ks, increasing, as a mapping gives its keys: nothing is clustered for it."""
        return iter(self.ks)

    def __repr__(self) -> str:
        return f"ClusterPath({self.graph.n_nodes} nodes, k = {self.ks[0]}..{self.ks[-1]}, {self.objective})"

    def _repr_html_(self) -> str:
        rows = [("nodes", f"{self.graph.n_nodes:,}"), ("k", f"{self.ks[0]} to {self.ks[-1]}")]
        rows += [("objective", self.objective), ("seed", str(self.seed))]
        return html_table("ClusterPath", rows, self._remarks)

    def __getitem__(self, k: int) -> Clustering:
        """The partition into k clusters, improved on the first call and kept from then on.

        The first call takes about as long as `coreset_sc(G, k)`. Its partition is as good by the objective, but not the
        same: a child of the path's partition and of one made for this k alone. It keeps the resolution of the path, and
        is never replaced by a likelier partition, as one of `coreset_sc` may be.

        Raises KeyError where k is not on the path, TypeError where it is no whole number.
        """
        return self.clustering(k)

    def clustering(self, k: int, *, time_budget: float | None = None, progress: ProgressLike = None) -> Clustering:
        """`path[k]`, with a time budget and progress as `coreset_sc` takes them; only what was not cut short is kept.

        Ctrl-C raises `Interrupted`, whose `best` is a Clustering, once there is one. Raises what `path[k]` raises.

        >>> import networkx as nx
        >>> from graphclust import cluster_path
        >>> cluster_path(nx.ring_of_cliques(4, 5), [2, 4], rng=0).clustering(4, time_budget=10).sizes
        array([5, 5, 5, 5])
        """
        k, progress = self._on_path(k), as_progress(progress, time_budget)
        if k in self._clusterings:
            return self._clusterings[k]
        clustering, numbers = self._refine(k, progress)
        if not progress.cut_short:
            self._clusterings[k], self._numbers[k] = clustering, numbers
        return clustering

    def _on_path(self, k: int) -> int:
        k = as_whole_number(k, "k", at_least=-(2**62), if_none="path.suggest().k is the number that the graph shows")
        if k not in self._k_set:
            held = f"{len(self.ks)} from {self.ks[0]} to {self.ks[-1]}"
            raise KeyError(f"k={k} is not on this path of {held}; cluster_path(G, ks) makes one over other ks")
        return k

    def best_range(self, k: int) -> tuple[float, float]:
        """From which resolution to which the partition into k is worth more than all others of the path.

        It compares numbers of clusters; `path[k].natural_range` is about the clusters of one partition. For the cuts,
        which have no resolution, it is the range by modularity or the constant Potts model. Raises what `path[k]`
        raises.
        """
        low, high = self.ranges[self._on_path(k)]
        return low * self.usual_resolution, high * self.usual_resolution

    @property
    def usual_resolution(self) -> float:
        """The resolution that compares with chance: 1 for modularity, V / n^2 for the constant Potts
        model, (n - 1) / n for "erdos_renyi".

        V is twice the weight of the edges, n the number of nodes. The mean weight of two different nodes, by which
        leidenalg's RBERVertexPartition counts, is V / (n (n - 1)).
        """
        return OBJECTIVES[self.choice.spec.additive].unit_of_resolution(self._run.totals)

    def resolution(self, k: int) -> float | None:
        """The resolution that `path[k]` is made for; None for the cuts. Raises what `path[k]` raises."""
        k = self._on_path(k)
        if self.choice.is_ratio:
            return None
        if isinstance(self.choice.resolution, float):
            return self.choice.resolution
        return max(middle_of(*self.ranges[k]), FLOOR) * self.usual_resolution

    def table(self) -> list[PathRow]:
        """A row for each k, increasing; `pandas.DataFrame(path.table())` is a table.

        >>> import networkx as nx
        >>> from graphclust import cluster_path
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
                    k, self._value(k), figures.normalized_cut, figures.modularity, figures.sizes, self.resolution(k),
                    self.best_range(k), splits,
                )
            )  # fmt: skip
        return rows

    def tree(self) -> npt.NDArray[np.float64]:
        """How the clusters of the largest k become one: the unions in SciPy's linkage form, shape (largest k - 1, 4).

        Leaf c is cluster c of `path[path.ks[-1]]`. The distance of a union is one over how far the links of its two
        clusters exceed chance, or that of a union before it where that is larger; unlinked ones are at twice the
        distance of the last linked ones. Some nodes change clusters on the way, so a cluster of `path[k]` is about, not
        exactly, the union of its leaves. With a largest k of 1 there is no union, which SciPy takes for no tree.

        Source: the distance, Bonald et al. 2018, "Hierarchical graph clustering using node pair sampling".

        >>> import networkx as nx
        >>> from graphclust import cluster_path
        >>> path = cluster_path(nx.ring_of_cliques(3, 4), [3], rng=0)
        >>> path.tree()[:, 3]
        array([2., 3.])
        """
        most = self.ks[-1]
        _ = self[most]  # numbers the leaves
        node = np.full(len(self.descent.unions), -1)
        node[np.unique(self.descent.names(most))] = self._numbers[most][:most]
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

    def suggest(self, *, time_budget: float | None = None, progress: ProgressLike = None) -> Suggestion:
        """Which k of the path the graph shows most clearly, with the reasons and the runners-up; see `Suggestion`.

        time_budget : seconds, > 0, after which the best k so far is taken, and the reasons say so. progress : as
        `coreset_sc` takes it.

        >>> import networkx as nx
        >>> from graphclust import cluster_path
        >>> suggestion = cluster_path(nx.ring_of_cliques(6, 8), rng=0).suggest()
        >>> suggestion.k, suggestion.clear
        (6, True)
        """
        return suggestion_of(self, as_progress(progress, time_budget))

    @cached_property
    def n_components(self) -> int:
        """Connected components among the nodes that are searched: fewer clusters than these unite some."""
        return len(np.unique(self.ordered.components[self.kept]))

    @property
    def part(self) -> Graph:
        """The graph between the nodes that are searched, `kept`."""
        assert self._run.graph is not None
        return self._run.graph

    def _value(self, k: int) -> float:
        figures, resolution = self.descent.figures[k], self.resolution(k)
        if resolution is None:
            return figures.score
        value = figures.inside - resolution / self.usual_resolution * figures.squares
        return value if self.choice.spec.is_relative else value * self._run.totals.volume

    def labels_before_moves(self, k: int) -> npt.NDArray[np.int64]:
        """The partition of the regions into k as labels of the nodes, int64, -1 for nodes that were left out."""
        return self._in_rows(self._project(self.descent.labels(k)))

    def labels_after_moves(self, k: int) -> npt.NDArray[np.int32]:
        """The partition into k after V-cycles inside its clusters, for the nodes of `part`.

        It is the parent of `path[k]`, and nearly the same, for a tenth of the time on a graph of some thousand nodes.
        """
        schedule = self._schedule(k, self.resolution(k))
        return improve(self._run.finest, self._uncoarsen(k, schedule, self._run), schedule, self._run).labels

    def _in_rows(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Labels of the nodes that are searched as those of all nodes, in the order of the caller's graph."""
        whole = np.full(self.graph.n_nodes, -1, np.int64)
        whole[self.order[self.kept]] = labels
        return whole

    def _project(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Labels of the regions as those of the nodes that are searched."""
        return labels_of_nodes([step.regions.labels for step in self._steps], labels)

    def _schedule(self, k: int, resolution: float | None) -> Schedule:
        """The schedule for k clusters; regions are made where a few times as many are natural, if the path goes on."""
        totals, most = self._run.totals, len(self.descent.unions)
        at = 0.0 if resolution is None else resolution / self.usual_resolution
        objective, _ = objective_of(self.choice, k, at, totals)
        sizes = [middle_of(*self.ranges[min(n * k, most)]) for n in REGIONS_PER_CLUSTER]
        below_natural = self.choice.resolution == "auto" and self.ranges[k][1] < FLOOR
        return Schedule(Task(objective, k), tuple(totals.chance * size for size in sizes), resolution, below_natural)

    def _uncoarsen(self, k: int, schedule: Schedule, run: Run) -> Partition:
        """The partition of the regions into k, carried to the nodes, which move on each level."""
        level = coarsest(run.finest, self._steps)
        partition = with_sums(level, self.descent.labels(k), k, run)
        for step in reversed(self._steps):
            partition = uncoarsen(step, partition, schedule.task, run)
        return partition if self._steps else refine(level, partition, schedule.task, run)

    def _refine(self, k: int, progress: Progress) -> tuple[Clustering, npt.NDArray[np.int64]]:
        """The partition of the regions, carried to the nodes and improved there; and the new number of each label."""
        resolution = self.resolution(k)
        given = {"method": "path", "objective": self.objective, "resolution": self.choice.resolution, **self.options}
        given["ks"] = self.origin["k"]

        def finish(
            labels: np.ndarray, *more: str, sums: ClusterSums | None = None
        ) -> tuple[Clustering, npt.NDArray[np.int64]]:
            whole, listed = self._in_rows(labels), listing_order(self.graph)
            return clustering_of(
                self.graph, k, whole, [*self._remarks, *more], progress, order=listed, objective=self.objective,
                resolution=resolution, parameters=given, seed=self.seed, sums=sums,
            ), numbering_by_size(whole, k, listed)  # fmt: skip

        interrupted = "interrupted: these are the best labels so far, other moves may improve them"
        with (
            progress.interruptible(lambda partition: finish(partition, interrupted)[0]),
            progress.stage("moving nodes"),
        ):
            before = self._project(self.descent.labels(k))
            if self.sizes is None:
                progress.offer(lambda: before)
            run = replace(self._run, rng=np.random.default_rng([self.key, k]), progress=progress)
            said: list[str] = []
            schedule = self._schedule(k, resolution)
            at_hand = self._uncoarsen(k, schedule, run)
            # What is found without bounds is no result yet where there are some.
            with nullcontext() if self.sizes is None else progress.within(None):
                partition = partition_from(run.finest, at_hand, schedule, self.choice, EFFORTS["normal"], run)
            if self.sizes is not None:
                partition, said = bring_within(partition, schedule, as_bounds_of_k(self.sizes, k, **self.bounds), run)
            number = match_numbers(before, partition.labels, k)
        sums = ClusterSums(*(values[np.argsort(number)] for values in partition.sums))
        estimated = is_estimate(self.part.n_entries, self.part.n_nodes)
        return finish(number[partition.labels], *remarks_on(schedule), *said, sums=None if estimated else sums)


def match_numbers(before: npt.NDArray[np.int32], labels: npt.NDArray[np.int32], k: int) -> npt.NDArray[np.int32]:
    """Numbers 0 to k - 1 for clusters: those of the earlier clusters with which they share most nodes."""
    matched = renumber(before.astype(np.int64), labels.astype(np.int64))
    new = np.unique(matched[matched >= k])
    number = np.arange(k + len(new))
    number[new] = np.setdiff1d(np.arange(k), matched)
    of_clusters = np.empty(k, np.int32)
    of_clusters[labels] = number[matched]
    return of_clusters
