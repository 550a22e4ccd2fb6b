"""What clusterings, hierarchies and their saved models have in common: their graph, its kind, and updates of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_seeded
from graphclust.errors import GraphValidationError, ParameterError, amount
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.layers import LayeredGraph
from graphclust.graph.node_order import node_names
from graphclust.html_table import html_text
from graphclust.io.graph_input import as_graph
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.label_matching import ChangeLog, ClusterChange
from graphclust.updates.edit_arguments import Edges
from graphclust.updates.edits import EditedGraph, apply_edits, edit_layers

Labels = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]
NAMES = {
    "undirected": "modularity", "directed": "directed modularity", "bipartite": "Barber's modularity",
    "signed": "signed modularity", "several": "mean modularity", "slices": "multislice modularity",
}  # fmt: skip

INSTEAD = 'expected a clustering of as_graph(G, symmetrize="sum") or the like'
AGAIN = "communities(G, start=clustering) clusters a graph with other nodes and edges from these clusters"


class OfGraph(ABC):
    """What a `Clustering` and a `Hierarchy` say of their graph, and what edits of it make of them.

    layered : the graph with its null models, or None where it is undirected.
    """

    graph: Graph
    layered: LayeredGraph | None = None
    change_log: ChangeLog

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The caller's nodes, in the order of the labels."""
        return node_names(self.graph)

    @property
    def changes(self) -> tuple[ClusterChange, ...]:
        """After an `update`, what became of the clusters before."""
        return self.change_log.changes

    @property
    def kind(self) -> str:
        """The kind of graph: "undirected", "directed", "bipartite", "signed", "several" or "slices"."""
        return "undirected" if self.layered is None else self.layered.kind

    @property
    def modularity_name(self) -> str:
        """What modularity is: "directed modularity", "Barber's modularity" of a bipartite graph, and so on."""
        return NAMES[self.kind]

    def refuse_other_kinds(self, what: str, remedy: str = INSTEAD) -> None:
        """ParameterError for what is defined, or served, for undirected graphs alone."""
        if self.layered is not None:
            raise ParameterError(f"{what} for undirected graphs only, and the graph is {self.kind}; {remedy}")

    def _repr_html_(self) -> str:
        return html_text(repr(self), str(self))

    def update(
        self,
        *,
        added: Edges = None,
        removed: Edges = None,
        reweighted: Edges = None,
        added_nodes: Iterable[Hashable] | None = None,
        removed_nodes: Iterable[Hashable] | None = None,
        node_weight: Any = None,
        rng: Seed = None,
        progress: ProgressLike = None,
    ) -> Self:
        """The clustering, or the hierarchy, after edits of its graph; only clusters near the edits are worked on again.

        added : new edges (u, v) or (u, v, weight); a node that the graph does not have yet is created. removed : edges
            (u, v) of the graph. reweighted : edges (u, v, weight) of the graph, with their new weights. All three are
            lists of tuples, arrays of 2 or 3 columns or tables as `graph_from_table` takes them, and name nodes as the
            graph does; in a graph without names a node is its row, and new nodes get the next rows: in a graph of 10
            nodes the first new node is 10. Of a directed graph they are arcs (source, target), of a bipartite one pairs
            (row, column), each of the names or numbers of its side, or the ids in two columns of a table; weights of a
            signed graph may be below zero.
        added_nodes : new nodes, which have no edges unless `added` has some; of a bipartite graph a mapping to their
            sides, 0 for a row and 1 for a column. removed_nodes : nodes to remove with their
            edges; no edge of theirs may be added or reweighted.
        node_weight : a mapping or a pandas Series from nodes, new ones or others, to what they weigh in bounds, > 0.
        rng, progress : as `communities` takes them; an interruption by Ctrl-C leaves what was there as it is and
            carries no result. The same graph with its nodes in another order may get other labels.

        Returns the same type. A `Clustering` has exactly k clusters if k was asked for, else as many as the resolution
        makes; if clusters disappear, those of the highest labels take the free labels. Bounds on sizes still hold; a
        new node counts 1 unless `node_weight` has it. Clusters, and those of each level of a `Hierarchy`, keep their
        `ids` where they overlap most, and a new cluster gets an id that none had before. `changes` tells which
        clusters were kept, grew, ...

        Raises EditError, which is a ParameterError, for a node or an edge that is not there, is there already or is
        named twice; ParameterError, GraphValidationError or TypeError for other edits that are not possible.

        >>> import networkx as nx
        >>> from graphclust import communities, hierarchy
        >>> pair = communities(nx.barbell_graph(5, 0), rng=0)
        >>> later = pair.update(added=[(9, 10), (8, 10)], removed=[(4, 5)], rng=0)
        >>> later.labels
        array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
        >>> later.changes[1]
        ClusterChange(kind='grown', before=(1,), after=(1,), size_before=5, size_after=6)
        >>> levels = hierarchy(nx.ring_of_cliques(6, 5), max_size=6, rng=0)
        >>> [change.kind for change in levels.update(added=[(0, 30), (1, 30)], rng=0).changes[:2]]
        ['grown', 'kept']
        """
        edits = (added, removed, reweighted, added_nodes, removed_nodes, node_weight)
        (rng, seed), progress = as_seeded(rng), as_progress(progress)
        with progress.stage("edits"):
            edit = apply_edits(self.graph, *edits) if self.layered is None else edit_layers(self.layered, *edits)
        return self._remake(edit, rng, seed, progress)

    @abstractmethod
    def _remake(
        self, edit: EditedGraph, rng: np.random.Generator, seed: Any, progress: Progress, looked_at: Marks | None = None
    ) -> Self:
        """The same of the edited graph; looked_at : nodes with edges that may have changed, which no edit lists."""


Found = TypeVar("Found", bound=OfGraph)


class SavedModel(ABC, Generic[Found]):
    """A clustering or a hierarchy without its graph.

    nodes : the names of the nodes, or None for 0..n-1. origin : as `Clustering.origin`.
    """

    nodes: tuple[Hashable, ...] | None
    origin: dict[str, Any]

    @property
    @abstractmethod
    def n_nodes(self) -> int:
        """How many nodes were clustered."""

    def update(
        self,
        G: GraphLike,
        *,
        added: Edges = None,
        removed: Edges = None,
        reweighted: Edges = None,
        added_nodes: Iterable[Hashable] | None = None,
        removed_nodes: Iterable[Hashable] | None = None,
        node_weight: Any = None,
        rng: Seed = None,
        progress: ProgressLike = None,
    ) -> Found:
        """The clustering, or the hierarchy, after edits of its graph; for what `load_model` read.

        G : the graph that was clustered, in any form that `as_graph` takes: a model does not hold it. Or what it has
            become, where nobody kept account of the edits: nodes are found by name. A model of a clustering does not
            know which edges are new, and all nodes are looked at; of a hierarchy the clusters of the last level are
            opened whose links weigh something else than before.
        added, removed, reweighted, added_nodes, removed_nodes, node_weight, rng, progress : as `Clustering.update`
            takes them, edits of G.

        Returns a `Clustering` or a `Hierarchy` with the labels or levels, `ids` and `changes` that an update of what
        was saved has.

        Raises what `as_graph` and `Clustering.update` raise; GraphValidationError for a graph of unnamed nodes that has
        fewer than the model, or of which only one has names, and for one without any node of the model.

        >>> import networkx as nx
        >>> from graphclust import communities
        >>> model = communities(nx.barbell_graph(5, 0), rng=0).model()
        >>> model.update(nx.barbell_graph(5, 0), added=[(9, 10), (8, 10)], rng=0).labels
        array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
        """
        (rng, seed), progress = as_seeded(rng), as_progress(progress)
        asked, n_nodes = self.origin.get("options", {}), self.n_nodes
        with progress.stage("gate"):
            graph = as_graph(G, weight=asked.get("weight", "weight"), symmetrize=asked.get("symmetrize"))
            place = _rows_before(self.nodes, n_nodes, graph)
            is_whole = len(place) == n_nodes and bool((place >= 0).all())
            has_changed, n_changed = self.find_changes(graph, place, is_whole)
        with progress.stage("edits"):
            edit = apply_edits(graph, added, removed, reweighted, added_nodes, removed_nodes, node_weight)
        if is_whole and not has_changed.any():
            return self.restore(graph, place)._remake(edit, rng, seed, progress)
        before, looked_at = np.append(place, -1)[edit.before], np.append(has_changed, True)[edit.before]
        n_changed = np.maximum(edit.n_changed, np.append(n_changed, 0)[edit.before])
        edit = edit._replace(before=before, n_changed=np.maximum(n_changed, before < 0))
        return self.restore(graph)._remake(edit, rng, seed, progress, looked_at)

    @abstractmethod
    def restore(self, graph: Graph, rows: Labels | None = None) -> Found:
        """What this is a model of; rows : the place here of each node of the graph, if it is as it was.

        Of another graph, nodes stay as they are here, and nothing but edits are asked of it.
        """

    @abstractmethod
    def find_changes(self, graph: Graph, place: Labels, is_whole: bool) -> tuple[Marks, Labels]:
        """Which nodes of the graph may have other links than before, and how many links of each open its cluster.

        place : the row that each node of the graph has here, -1 for new ones. is_whole : none is new, and none gone.
        """


def _rows_before(nodes: Sequence[Hashable] | None, n_nodes: int, graph: Graph) -> Labels:
    """The row that each node of the graph had when a model was made, -1 for new ones; nodes : of the model."""
    if (nodes is None) != (graph.nodes is None):
        has, has_not = ("G", "the model") if nodes is None else ("the model", "G")
        raise GraphValidationError(f"{has} has names of nodes and {has_not} has none, expected the graph of the model")
    if nodes is not None:
        row = {name: place for place, name in enumerate(nodes)}
        names = node_names(graph)
        rows = np.array([row.get(name, -1) for name in names], np.int64)
        if (rows < 0).all():
            raise GraphValidationError(
                f"no node of G, such as {names[0]!r}, is one of the model, such as {nodes[0]!r}, expected the "
                "graph of the model, with its names"
            )
        return rows
    if graph.n_nodes < n_nodes:
        raise GraphValidationError(
            f"G has {amount(graph.n_nodes, 'node')} without names and the model {n_nodes}, expected at "
            "least as many; removed_nodes= says which are gone"
        )
    rows = np.arange(graph.n_nodes)
    return np.where(rows < n_nodes, rows, -1)
