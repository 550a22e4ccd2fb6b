"""Hierarchy: nested levels of clusters, their ids, and their forms for other programs."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust import __version__
from graphclust.cached import cached_property
from graphclust.checks import K_OF_GRAPH, as_whole_number, import_extra
from graphclust.compiled.graphs import agglomeration as loops
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.engine.contraction import contract
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.likelihood import nats_saved
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph, without_negative
from graphclust.graph.node_order import in_order, listing_order, node_order
from graphclust.objective.cuts import cut_and_volume, modularity_of_sums
from graphclust.objective.objective import chance_objective, weigh
from graphclust.progress import Progress
from graphclust.results import report
from graphclust.results.base import OfGraph
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, numbering_by_size
from graphclust.results.label_matching import ChangeLog

if TYPE_CHECKING:
    import networkx

Labels = npt.NDArray[np.int64]
WHOLE = -1  # the root of the tree: the whole graph


class HierarchyRecord(NamedTuple):
    """The membership of a node in a cluster, the first level that has the cluster, and its parent (None on level 0)."""

    node: Hashable
    cluster: int
    level: int
    parent: int | None
    is_leaf: bool


class NestedCluster(NamedTuple):
    """A cluster: its id, the first level that has it, the id of its parent, and its number of nodes."""

    id: int
    level: int
    parent: int | None
    size: int
    is_leaf: bool


@dataclass(frozen=True, eq=False)
class Hierarchy(OfGraph):
    """Nested levels of clusters.

    levels : coarsest first, int64, shape (n_nodes,) each, in the order of `nodes`; the clusters of a level are numbered
        from 0 by decreasing size. Every level is inside the one before it.
    parents : for each level the cluster of the level before that each cluster is in, int64, shape (clusters,); -1 on
        the coarsest.
    ids : for each level the ids of its clusters, int64, shape (clusters,). A cluster that a level leaves whole keeps
        its id; others have the next ones.
    graph : the graph that was clustered; `layered` has its null models if it is not undirected.
    objective : of all levels. resolutions : of the coarsest level, and of each level below that has one.
    max_size, min_size : the bounds that were asked for, or None.
    node_sizes : what each node counts for, float64, shape (n_nodes,); None: 1.
    remarks : what was assumed or repaired, one sentence each.
    seconds : stage -> seconds, in order.
    parameters, seed, version : what gives these levels again.
    n_ids, change_log : after an `update`, how many ids were given, and where `changes` come from.
    """

    levels: tuple[npt.NDArray[np.int64], ...]
    parents: tuple[npt.NDArray[np.int64], ...]
    ids: tuple[npt.NDArray[np.int64], ...]
    graph: Graph
    objective: str = "modularity"
    resolutions: tuple[float, ...] = (1.0,)
    max_size: float | None = None
    min_size: float | None = None
    node_sizes: npt.NDArray[np.float64] | None = None
    remarks: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int | str | None = None
    version: str = __version__
    n_ids: int | None = None
    change_log: ChangeLog = field(default_factory=ChangeLog)
    layered: LayeredGraph | None = None

    @property
    def origin(self) -> dict[str, Any]:
        """How the levels came about: graphclust's version, the graph's file, the seed and the options."""
        told = {"version": self.version, "file": self.graph.file, "seed": self.seed}
        return told | {"options": dict(self.parameters)}

    @cached_property
    def clusters(self) -> tuple[NestedCluster, ...]:
        """All clusters, each once, those of coarser levels first, those of one level by id."""
        leaves = set(self.ids[-1].tolist())
        clusters: list[NestedCluster] = []
        for depth, (labels, ids) in enumerate(zip(self.levels, self.ids, strict=True)):
            sizes, above = np.bincount(labels), self.parents[depth]
            for c in self._new_on(depth).tolist():
                parent = None if depth == 0 else int(self.ids[depth - 1][above[c]])
                clusters.append(NestedCluster(int(ids[c]), depth, parent, int(sizes[c]), int(ids[c]) in leaves))
        return tuple(clusters)

    @cached_property
    def nats_saved(self) -> tuple[float, ...]:
        """The evidence for the clusters of each level; see `Certainty.nats_saved`.

        A level that a bound on sizes splits further than the edges tell has less than the one above it.
        """
        self.refuse_other_kinds("the evidence for clusters is")
        return tuple(nats_saved(self.graph, labels) for labels in self.levels)

    @cached_property
    def modularities(self) -> tuple[float, ...]:
        """The modularity of each level at resolution 1, that of the kind of graph; see `Clustering.modularity`."""
        if self.layered is not None:
            return tuple(self.layered.modularity(labels) for labels in self.levels)
        sums = [cut_and_volume(self.graph, labels, len(ids)) for labels, ids in zip(self.levels, self.ids, strict=True)]
        return tuple(modularity_of_sums(cut, volume, self.graph.total_volume) for cut, volume in sums)

    def sizes_on(self, level: int) -> npt.NDArray[np.int64]:
        """Nodes of each cluster of a level, int64, shape (clusters,)."""
        return np.bincount(self.levels[level])

    def _remake(self, *edited: Any) -> Hierarchy:
        from graphclust.updates.hierarchy_update import remake_hierarchy

        return remake_hierarchy(self, *edited)

    def records(self) -> list[HierarchyRecord]:
        """A record for each node and each cluster that it is in, coarser levels first, nodes in the order of names.

        >>> import networkx as nx
        >>> from graphclust import hierarchy
        >>> hierarchy(nx.barbell_graph(4, 0), max_size=4, rng=0).records()[0]
        HierarchyRecord(node=0, cluster=0, level=0, parent=None, is_leaf=True)
        """
        names = self.listed_nodes()
        rows = zip(*(values.tolist() for values in self._columns().values()), strict=True)
        return [HierarchyRecord(names[n], c, d, None if p == WHOLE else p, leaf) for n, c, d, p, leaf in rows]

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame with the columns node, cluster, level, parent (-1 for none) and is_leaf.

        Raises ImportError where pandas is missing.
        """
        pandas = import_extra("pandas", "a DataFrame needs pandas", "graphclust[pandas]")
        columns = self._columns()
        names = pandas.Index(self.listed_nodes(), tupleize_cols=False)
        return pandas.DataFrame({**columns, "node": names[columns["node"]]})

    def to_json(self) -> str:
        """The clusters with their nodes as JSON text: what made them, and for each id, level, parent, size and nodes.

        Clusters are in the order of `clusters`, nodes in that of their names; names that JSON cannot hold are strings.
        `load_model` reads it from a file, to `update` the hierarchy after a restart, if all names are strings or whole
        numbers.
        """
        return report.as_json(self)

    def to_newick(self) -> str:
        """The tree in Newick's format: leaves are nodes, inner vertices are named by the ids of clusters."""
        return report.as_newick(self)

    def save(self, path: str | os.PathLike, *, overwrite: bool = False) -> None:
        """Write a .json file as of `to_json`, a .csv or .tsv table of the records, or a .nwk tree as of `to_newick`.

        Version, file, seed and options are in the JSON file alone, which `load_model` reads: tables and trees are for
        programs that read no more.

        overwrite : replace a file that is there. The new file appears whole or not at all.

        Raises ParameterError for another ending, GraphValidationError for nodes that a table or a tree cannot tell
        apart, such as 1 and "1", FileExistsError, OSError as `open` does.
        """
        report.write(path, self, overwrite)

    def tree(self) -> networkx.DiGraph:
        """A directed tree from -1, the whole graph, over the ids of the clusters; each has `level`, `size`, `is_leaf`.

        Raises ImportError where networkx is missing.
        """
        import networkx

        tree = networkx.DiGraph()
        tree.add_node(WHOLE, level=-1, size=self.graph.n_nodes, is_leaf=False)
        for one in self.clusters:
            tree.add_node(one.id, level=one.level, size=one.size, is_leaf=one.is_leaf)
            tree.add_edge(WHOLE if one.parent is None else one.parent, one.id)
        return tree

    def linkage(self) -> npt.NDArray[np.float64]:
        """The dendrogram in SciPy's linkage form, shape (n_nodes - 1, 4); leaf u is node u.

        Unions inside a cluster of the finest level have distance 1, those inside one of the level above it 2, and so
        on, so that `scipy.cluster.hierarchy.fcluster(linkage, t, "distance")` gives back the levels for t = 1, 2, ...
        Unions at one distance come in the order of how far their links exceed chance.
        """
        return self._linkage.copy()

    def cut(self, k: int) -> Clustering:
        """The clustering into exactly k clusters by the last k - 1 unions of `linkage`; k from 1 to n_nodes.

        Its resolution is that of the coarsest level that has as many clusters, or of the finest level.
        """
        k = as_whole_number(
            k, "k", at_least=1, at_most=self.graph.n_nodes, why=", the number of nodes", if_none=K_OF_GRAPH
        )
        n, top = self.graph.n_nodes, np.arange(2 * self.graph.n_nodes - 1)
        for row in range(n - k - 1, -1, -1):  # the last k - 1 unions are not made
            top[self._linkage[row, :2].astype(np.int64)] = top[n + row]
        labels, parameters = np.unique(top[:n], return_inverse=True)[1], {**self.parameters, "cut": k}
        said = [one for one in self.remarks if "isolated node" not in one]  # here they have clusters as all others
        depth = sum(len(ids) < k for ids in self.ids)
        return clustering_of(
            self.graph, k, labels, said, Progress(), order=self._listing, objective=self.objective,
            resolution=self.resolutions[min(depth, len(self.resolutions) - 1)],
            parameters=parameters, seed=self.seed, layered=self.layered,
        )  # fmt: skip

    def listed_nodes(self) -> list[Hashable]:
        """The nodes in the order of their names: numbers before texts, each by value."""
        nodes = self.nodes
        return [nodes[place] for place in self._listing.tolist()]

    def listed_members(self) -> dict[int, npt.NDArray[np.int64]]:
        """For each id of a cluster its nodes, as places in `listed_nodes`, increasing."""
        members_of: dict[int, npt.NDArray[np.int64]] = {}
        for depth, (labels, ids) in enumerate(zip(self.levels, self.ids, strict=True)):
            listed = labels[self._listing]
            members = np.split(np.argsort(listed, kind="stable"), np.cumsum(np.bincount(listed))[:-1])
            members_of |= {int(ids[c]): members[c] for c in self._new_on(depth).tolist()}
        return members_of

    def __eq__(self, other: object) -> bool:
        """Whether both say the same of the same graph: equal levels, ids and settings, however long they took."""
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return (
            len(self.levels) == len(other.levels)
            and all(map(np.array_equal, self.levels, other.levels))
            and all(map(np.array_equal, self.ids, other.ids))
            and self.parameters == other.parameters
            and self.graph == other.graph
        )

    def __str__(self) -> str:
        return report.as_page(self)

    def __repr__(self) -> str:
        n_clusters = ", ".join(str(len(ids)) for ids in self.ids)
        return f"Hierarchy({self.graph.n_nodes} nodes, levels of {n_clusters} clusters)"

    @cached_property
    def _listing(self) -> npt.NDArray[np.int64]:
        return listing_order(self.graph)

    @cached_property
    def coarsest(self) -> Clustering:
        """The clustering of the coarsest level."""
        first = self.levels[0], len(self.ids[0])
        return Clustering(*first, self.graph, self.objective, self.resolutions[0], seed=self.seed, layered=self.layered)

    @cached_property
    def _linkage(self) -> npt.NDArray[np.float64]:
        return linkage_of(without_negative(self.graph), self.levels)

    def _new_on(self, depth: int) -> npt.NDArray[np.int64]:
        """The clusters that come about on a level, by id."""
        ids = self.ids[depth]
        new = np.arange(len(ids)) if depth == 0 else np.flatnonzero(~np.isin(ids, self.ids[depth - 1]))
        return new[np.argsort(ids[new], kind="stable")]

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """The records as arrays; nodes are places in `listed_nodes`."""
        rows = []
        for depth, (labels, ids) in enumerate(zip(self.levels, self.ids, strict=True)):
            parents = np.full(len(ids), WHOLE) if depth == 0 else self.ids[depth - 1][self.parents[depth]]
            is_new, is_leaf = np.zeros(len(ids), bool), np.isin(ids, self.ids[-1])
            is_new[self._new_on(depth)] = True
            own = labels[self._listing]
            place = np.flatnonzero(is_new[own])
            own = own[place]
            rows.append((place, ids[own], np.full(len(own), depth), parents[own], is_leaf[own]))
        names = ("node", "cluster", "level", "parent", "is_leaf")
        return {name: np.concatenate(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}


def hierarchy_of(graph: Graph, levels: Sequence[npt.NDArray[Any]], **account: Any) -> Hierarchy:
    """A hierarchy of levels, labels 0, 1, ... of all nodes each, coarsest first, numbered by size."""
    order, next_id = listing_order(graph), 0
    numbered: list[Labels] = []
    parents: list[Labels] = []
    ids: list[Labels] = []
    for depth, level in enumerate(levels):
        wide = level.astype(np.int64)
        labels = numbering_by_size(wide, int(wide.max()) + 1, order)[wide]
        k = int(labels.max()) + 1
        above, own = np.full(k, -1, np.int64), np.full(k, -1, np.int64)
        if depth:
            above[labels] = numbered[-1]
            is_whole = np.bincount(above)[above] == 1
            own[is_whole] = ids[-1][above[is_whole]]
        new = np.flatnonzero(own < 0)
        own[new] = next_id + np.arange(len(new))
        next_id += len(new)
        numbered, parents, ids = [*numbered, labels], [*parents, above], [*ids, own]
    return Hierarchy(tuple(numbered), tuple(parents), tuple(ids), graph, **account)


def linkage_of(graph: Graph, levels: Sequence[Labels]) -> npt.NDArray[np.float64]:
    """Unions in SciPy's form, shape (n_nodes - 1, 4), through all levels, the coarsest first.

    The unions inside the clusters of the finest level have distance 1, those inside the level above it 2, and so on.
    Of equal unions the first in the order of `node_order` comes first, in whatever order the nodes came.
    """
    n, order = graph.n_nodes, node_order(graph)
    on = weigh(in_order(graph, order), "modularity")
    run = run_on(on)
    rows = np.empty((n - 1, 4))
    number, size, made = order, np.ones(2 * n - 1), n  # of each cluster so far
    current = np.arange(n, dtype=np.int32)
    ordered = [labels[order] for labels in reversed(levels)]
    for height, target in enumerate([*ordered, np.zeros(n, np.int64)], start=1):
        k = len(number)
        above = np.empty(k, np.int32)
        above[current] = target
        level = contract(run.finest, with_sums(run.finest, current, k, run), run).coarse
        level = rows_within(level, above)
        pairs = np.full((k, 2), -1, np.int32)
        loops.agglomerate(level, Task(chance_objective(run.totals), 0), np.zeros(k), pairs)
        roots = np.ones(k, bool)
        linked = pairs[::-1][pairs[::-1, 0] >= 0]
        roots[linked[:, 0]] = False
        rest = np.flatnonzero(roots)
        rest = rest[np.argsort(above[rest], kind="stable")]
        apart = np.flatnonzero(above[rest[1:]] == above[rest[:-1]])  # no edge joins these: in turn to the one before
        unlinked = np.stack([rest[apart], rest[apart + 1]], axis=1)
        for ended, enlarged in [*linked.tolist(), *unlinked.tolist()]:
            a, b = sorted((number[ended], number[enlarged]))
            size[made] = size[a] + size[b]
            rows[made - n] = a, b, height, size[made]
            number[enlarged] = made
            made += 1
        merged = np.zeros(int(target.max()) + 1, number.dtype)
        np.maximum.at(merged, above, number)  # the last union of a cluster has the highest number
        number, current = merged, target.astype(np.int32)
    return rows
