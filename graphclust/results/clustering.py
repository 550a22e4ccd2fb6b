"""Clustering: what a clustering of a graph found, how good it is and how it came about."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from graphclust import __version__
from graphclust.cached import cached_property
from graphclust.checks import Seed, import_extra
from graphclust.compiled.graphs.components import split_by_connection
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.coreset.options import CoresetClustering
from graphclust.engine.connectivity import count_well_connected, minimum_cuts
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph
from graphclust.objective.cuts import cut_and_volume, links_to_others, modularity_of_sums, sum_by_label
from graphclust.objective.objective import OBJECTIVE_SPECS
from graphclust.progress import ProgressLike
from graphclust.results import report
from graphclust.results.base import AGAIN, OfGraph
from graphclust.results.confidence import Certainty, certainty
from graphclust.results.label_matching import ChangeLog
from graphclust.results.prediction import ClusterModel
from graphclust.results.quotient import highest_excess
from graphclust.results.report import ClusterRow, table_of
from graphclust.updates.clustering_update import Drift, drift_of, remake_clustering


@dataclass(frozen=True, eq=False)
class Clustering(OfGraph):
    """Labels of all nodes, the quality of the partition and an account of the work.

    labels : int64, shape (n_nodes,), in the order of `nodes`; clusters are numbered from 0 by decreasing size, nodes
        that were put aside have -1, and so have isolated ones, see `aside` and `isolated`, and those in no
        well-connected cluster where `connectivity` is asked for.
    k : the number of clusters asked for; `n_clusters` is the number found.
    graph : the graph that was clustered; if it is not undirected, the weights inside clusters of `layered`.
    objective : what the partition was made for, as `coreset_sc` names it.
    resolution : at which, for objectives that have one, or None.
    coreset : the coreset and its labels, or None.
    undecided : bool, shape (n_nodes,), True where the method had nothing to go by and took a default.
    remarks : what was assumed or repaired, one sentence each.
    seconds : stage -> seconds, in order; "gate" is the check of the graph.
    entries_read : stage -> entries of the graph's rows that it read, for stages that read only some.
    decided : stage -> share of the nodes that got their first label there, for methods that label step by step.
    parameters : the settings that the method used, defaults filled in, and what else the call said of the graph.
    seed : that gives these labels again, as `rng`; one that was drawn, where none was given; or words for a generator.
    version : of graphclust.
    node_sizes : what each node counts for where clusters have bounds, float64, shape (n_nodes,); None: 1.
    stable_ids, n_ids, change_log : after an `update`, the ids of the clusters, how many were given, and where `changes`
        come from. first_value : the value that the clusters had when they were last made from nothing, see `drift`.
    """

    labels: npt.NDArray[np.int64]
    k: int
    graph: Graph
    objective: str = "normalized_cut"
    resolution: float | None = None
    coreset: CoresetClustering | None = None
    undecided: npt.NDArray[np.bool_] | None = None
    remarks: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    entries_read: dict[str, int] = field(default_factory=dict)
    decided: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int | str | None = None
    version: str = __version__
    node_sizes: npt.NDArray[np.float64] | None = None
    stable_ids: npt.NDArray[np.int64] | None = None
    n_ids: int | None = None
    change_log: ChangeLog = field(default_factory=ChangeLog)
    first_value: float | None = None
    layered: LayeredGraph | None = None

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """The id of each cluster, int64, shape (n_clusters,): it stays through updates, and none is given again."""
        return np.arange(self.n_clusters) if self.stable_ids is None else self.stable_ids

    @property
    def origin(self) -> dict[str, Any]:
        """How the labels came about: graphclust's version, the graph's file, k, the seed and the options."""
        told = {"version": self.version, "file": self.graph.file, "k": self.k, "seed": self.seed}
        return told | {"options": dict(self.parameters)}

    @property
    def isolated(self) -> npt.NDArray[np.bool_]:
        """True for nodes without edges, shape (n_nodes,).

        They have label -1 from `coreset_sc`, `cluster_path` and the spectral functions. In `communities` and
        `hierarchy` they are clusters by themselves; with "edge_cut" and in `balanced_partition` they have a part.
        """
        return self.graph.isolated

    @property
    def aside(self) -> npt.NDArray[np.bool_]:
        """True for nodes with edges in no cluster, shape (n_nodes,): put aside, small, or not well-connected.

        >>> import networkx as nx
        >>> from graphclust import coreset_sc
        >>> two_and_a_pair = nx.disjoint_union(nx.barbell_graph(8, 0), nx.path_graph(2))
        >>> coreset_sc(two_and_a_pair, 2, rng=0).aside.sum()
        np.int64(2)
        """
        return (self.labels < 0) & ~self.graph.isolated

    @property
    def n_aside(self) -> int:
        """How many nodes were put aside."""
        return int(np.count_nonzero(self.aside))

    @cached_property
    def n_clusters(self) -> int:
        """Clusters that have a node."""
        return int(self.labels.max(initial=-1)) + 1

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Nodes of each cluster, shape (n_clusters,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @cached_property
    def _cut_and_volume(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Of each cluster; `keep_sums` leaves them here where the method has them, so that no edge is read."""
        self.refuse_other_kinds("cuts, volumes and what follows from them are")
        return cut_and_volume(self.graph, self.labels, self.n_clusters)

    @cached_property
    def sums(self) -> ClusterSums:
        """What the objective adds up in each cluster: inside, mass and size, each of shape (n_clusters,)."""
        cut, volume = self._cut_and_volume
        made_of = OBJECTIVE_SPECS[self.objective]
        mass = volume if made_of.by_degree else self.sizes.astype(np.float64)
        return ClusterSums(made_of.inside(cut, volume), mass, self.sizes)

    @cached_property
    def modularity(self) -> float:
        """Newman's modularity at resolution 1: sum over clusters of inside(S) / vol(V) - (vol(S) / vol(V))^2.

        Self-loops count once; the function `modularity` has NetworkX's and igraph's convention too. 0 without edges.
        Of another kind of graph it is the one that `modularity_name` says.
        """
        if self.layered is not None:
            return self.layered.modularity(self.labels)
        cut, volume = self._cut_and_volume
        return modularity_of_sums(cut, volume, self.graph.total_volume)

    @property
    def row_labels(self) -> npt.NDArray[np.int64]:
        """The labels of the rows of a bipartite graph, shape (n_rows,): nodes of the side 0, or of the first column.

        >>> import numpy as np
        >>> from graphclust import communities
        >>> found = communities(np.array([[2, 1, 0, 0], [0, 0, 3, 1]]), rng=0)
        >>> found.row_labels, found.column_labels
        (array([0, 1]), array([0, 0, 1, 1]))
        """
        return self.labels[: self._sides()[0]]

    @property
    def column_labels(self) -> npt.NDArray[np.int64]:
        """The labels of the columns of a bipartite graph, shape (n_columns,); see `row_labels`."""
        return self.labels[self._sides()[0] :]

    def _sides(self) -> tuple[int, int]:
        if self.layered is None or self.layered.sides is None:
            raise ParameterError(
                f'the graph is {self.kind}, expected a bipartite one: communities(G, kind="bipartite")'
            )
        return self.layered.sides

    @property
    def layer_modularity(self) -> dict[Hashable, float]:
        """The modularity of the labels on each of several graphs, by its name or number; empty for a single graph."""
        parts = {} if self.layered is None else self.layered.parts
        return {name: part.modularity(self.labels) for name, part in parts.items()}

    def by_slice(self) -> dict[Hashable, dict[Hashable, int]]:
        """Slice -> node -> label, of a graph of `time_slices`.

        >>> import networkx as nx
        >>> from graphclust import communities, time_slices
        >>> communities(time_slices([nx.path_graph(2)] * 2), rng=0).by_slice()
        {0: {0: 0, 1: 0}, 1: {0: 0, 1: 0}}
        """
        if self.kind != "slices":
            raise ParameterError(f"the graph is {self.kind}, expected one of time_slices(graphs)")
        slices: dict[Hashable, dict[Hashable, int]] = {}
        copies: Any = self.nodes
        for (node, name), label in zip(copies, self.labels.tolist(), strict=True):
            slices.setdefault(name, {})[node] = label
        return slices

    @property
    def volume(self) -> npt.NDArray[np.float64]:
        """Sum of the degrees in each cluster, shape (n_clusters,)."""
        return self._cut_and_volume[1]

    @cached_property
    def conductance(self) -> npt.NDArray[np.float64]:
        """cut(S) / min(vol(S), vol(V - S)) of each cluster, shape (n_clusters,)."""
        cut, volume = self._cut_and_volume
        smaller_side = np.minimum(volume, np.maximum(self.graph.total_volume - volume, cut))  # less by rounding only
        return np.divide(cut, smaller_side, out=np.zeros_like(cut), where=smaller_side > 0)

    @cached_property
    def min_cuts(self) -> npt.NDArray[np.float64]:
        """Minimum cut inside each cluster, shape (n_clusters,): the fewest edges that part it, 0 for a single node.

        Their weight, if the clusters were made by `well_connected(cut_weight=True)`. Computed on first use.

        >>> import networkx as nx
        >>> from graphclust import communities
        >>> communities(nx.barbell_graph(5, 0), rng=0).min_cuts
        array([4., 4.])
        """
        self.refuse_other_kinds("minimum cuts are")
        return minimum_cuts(self.graph, self.labels, self.n_clusters, bool(self.parameters.get("cut_weight")))

    @property
    def n_well_connected(self) -> int:
        """Clusters of n nodes whose minimum cut is above log10 n; see `well_connected`."""
        return count_well_connected(self.min_cuts, self.sizes)

    def table(self) -> list[ClusterRow]:
        """A row for each cluster: nodes, volume, density, conductance, minimum cut and the most linked members.

        `pandas.DataFrame(clustering.table())` makes a table of them.

        >>> import networkx as nx
        >>> from graphclust import communities
        >>> communities(nx.barbell_graph(5, 0), rng=0).table()[1].minimum_cut
        4.0
        """
        return table_of(self)

    @property
    def edge_cut(self) -> float:
        """Weight of the edges whose ends lie in two clusters; METIS's own objective."""
        return float(self._cut_and_volume[0].sum()) / 2.0

    @cached_property
    def loads(self) -> npt.NDArray[np.float64]:
        """What each cluster holds of what bounds count, shape (n_clusters,): its nodes, or what they weigh."""
        if self.node_sizes is None:
            return self.sizes.astype(np.float64)
        return sum_by_label(self.node_sizes, self.labels, self.n_clusters)

    @property
    def imbalance(self) -> float:
        """The load of the heaviest cluster as a multiple of the average one's; 1 where all hold the same."""
        return float(self.loads.max() / self.loads.mean())

    @property
    def smallest_to_mean(self) -> float:
        """The load of the lightest cluster as a multiple of the average one's."""
        return float(self.loads.min() / self.loads.mean())

    @cached_property
    def n_pieces(self) -> int:
        """Connected pieces of the clusters; `n_clusters` where each is connected. Edges are read for it."""
        taken = np.flatnonzero(self.labels >= 0)
        graph = self.graph if len(taken) == self.graph.n_nodes else self.graph.subgraph(taken)
        labels = self.labels[taken].astype(np.int32)
        return int(split_by_connection(graph.rows, labels, self.n_clusters, np.empty_like(labels))[0])

    @cached_property
    def _links_out(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        return links_to_others(self.graph, self.labels, self.n_clusters)

    @property
    def n_boundary_nodes(self) -> int:
        """Nodes that have a neighbor in another cluster."""
        return len(np.unique(self._links_out[0]))

    @property
    def communication_volume(self) -> int:
        """Sum over nodes of the other clusters that they have neighbors in.

        The numbers that are sent in a product of the matrix with a vector, each part on a processor of its own.
        """
        return len(self._links_out[0])

    def permutation(self) -> npt.NDArray[np.int64]:
        """The nodes grouped by cluster, in order within each, int64, shape (n_nodes,); those of none come last.

        A[p][:, p] of the matrix A has the clusters as blocks on its diagonal.

        >>> from graphclust import balanced_partition
        >>> A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
        >>> balanced_partition(A, 2, max_imbalance=0, rng=0).permutation()
        array([0, 2, 1, 3])
        """
        return np.argsort(np.where(self.labels < 0, self.n_clusters, self.labels), kind="stable")

    @cached_property
    def normalized_cut(self) -> float:
        """Sum over clusters of cut(S) / vol(S), on the graph as it was given; the papers' figure is this over k.

        Edges are read for it, on first use, only where the method has not summed them: one pass for all figures.
        """
        cut, volume = self._cut_and_volume
        return float(np.divide(cut, volume, out=np.zeros_like(cut), where=volume > 0).sum())  # isolated nodes cut none

    @cached_property
    def natural_range(self) -> tuple[float, float] | None:
        """From which resolution to which no union of two of these clusters would pay; None without a resolution.

        It ends at the resolution that the clusters were made for, and begins where the two that are linked most beyond
        chance would rather be one; empty, (g, g), where those gain by a union at that resolution, as they may where
        more clusters were asked for than the graph shows. Computed on first use, in one pass over the edges.
        """
        if self.resolution is None or self.layered is not None:
            return None
        highest = highest_excess(self.graph, self.labels, self.sums.mass, self.objective)
        return min(highest, self.resolution), self.resolution

    def as_dict(self) -> dict[Hashable, int]:
        """Node -> label."""
        return dict(zip(self.nodes, self.labels.tolist(), strict=True))

    def to_series(self) -> Any:
        """Labels as a pandas Series named "cluster" whose index holds the nodes: ready to join a table of them.

        Raises ImportError where pandas is missing.
        """
        pandas = import_extra("pandas", "a Series needs pandas", "graphclust[pandas]")
        nodes = self.nodes
        index = pandas.RangeIndex(len(nodes)) if isinstance(nodes, range) else pandas.Index(nodes, tupleize_cols=False)
        return pandas.Series(self.labels, index=index.rename("node"), name="cluster")

    def to_igraph(self, graph: Any) -> Any:
        """The clusters as an igraph.VertexClustering of the igraph.Graph that was clustered.

        graph : has the vertices in the order of `labels`; a "weight" of its edges counts in the modularity. Each
            isolated vertex becomes a cluster of its own, after the others, as in `communities()`.
        Raises ImportError where igraph is missing, GraphValidationError for another number of vertices.

        >>> import igraph
        >>> from graphclust import communities
        >>> G = igraph.Graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
        >>> communities(G, rng=0).to_igraph(G).membership
        [0, 0, 0, 1, 1, 1]
        """
        igraph = import_extra("igraph", "a VertexClustering needs igraph", "igraph")
        if graph.vcount() != len(self.labels):
            raise GraphValidationError(
                f"graph has {graph.vcount()} vertices, expected the graph that was clustered, of {len(self.labels)}"
            )
        labels = self.labels.copy()
        alone = labels < 0
        labels[alone] = self.n_clusters + np.arange(np.count_nonzero(alone))
        weights = {"weights": "weight"} if "weight" in graph.es.attributes() else {}
        return igraph.VertexClustering(graph, labels.tolist(), modularity_params=weights)

    @overload
    def communities(self, *, as_lists: Literal[False] = False) -> list[set[Hashable]]: ...
    @overload
    def communities(self, *, as_lists: Literal[True]) -> list[list[Hashable]]: ...
    def communities(self, *, as_lists: bool = False) -> list[set[Hashable]] | list[list[Hashable]]:
        """A partition of all nodes, as NetworkX's functions on communities take it.

        The nodes of cluster c come at place c; after the `n_clusters` clusters, each node in none is a set of its own.
        as_lists : lists in the order of the nodes, which JSON can hold, instead of sets.

        >>> import networkx as nx
        >>> from graphclust import spectral_clustering
        >>> spectral_clustering(nx.disjoint_union(nx.path_graph(4), nx.path_graph(2)), 2, rng=0).communities()
        [{0, 1, 2, 3}, {4, 5}]
        """
        members_of: list[list[Hashable]] = [[] for _ in range(self.n_clusters)]
        alone: list[list[Hashable]] = []
        for node, label in zip(self.nodes, self.labels.tolist(), strict=True):
            if label >= 0:
                members_of[label].append(node)
            else:
                alone.append([node])
        return members_of + alone if as_lists else [set(members) for members in members_of + alone]

    def predict(self, rows: Any) -> npt.NDArray[np.int64]:
        """Clusters of new nodes from their links to those that were clustered; see `ClusterModel.predict`.

        >>> import networkx as nx
        >>> from graphclust import coreset_sc
        >>> coreset_sc(nx.barbell_graph(3, 0), 2, rng=0).predict([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 1]])
        array([0, 1])
        """
        return self.model().predict(rows)

    _remake = remake_clustering

    def drift(self, *, rng: Seed = None, progress: ProgressLike = None) -> Drift:
        """The value of these clusters, after updates, beside that of the same graph clustered from nothing.

        It takes the time of that clustering, which is in the answer. An update says in a remark when the value is more
        than 0.2 % below what it was from nothing: then this tells whether the clusters or the graph have lost it.

        rng, progress : as `communities` takes them.

        Raises ParameterError for a cut of a hierarchy, and for `connectivity` by a function, whose name alone is known.

        >>> import networkx as nx
        >>> from graphclust import communities
        >>> communities(nx.karate_club_graph(), weight=None, rng=0).update(removed=[(0, 1)], rng=0).drift(rng=0).lost
        0.0
        """
        return drift_of(self, rng, progress)

    def model(self) -> ClusterModel:
        """What `predict` needs, without the graph: a small object that can be saved."""
        self.refuse_other_kinds("predict and models are", AGAIN)
        graph, sums = self.graph, self.sums
        return ClusterModel(
            self.labels, None if graph.nodes is None else tuple(self.nodes), self.objective, self.resolution,
            sums.inside, sums.mass, graph.total_volume, self.origin, self.stable_ids, self.n_ids, self.node_sizes,
        )  # fmt: skip

    def certainty(self, *, n_repeats: int = 0, rng: Seed = None, progress: ProgressLike = None) -> Certainty:
        """How sure the clustering is of each node and of each cluster; see the function `certainty`."""
        return certainty(self, n_repeats=n_repeats, rng=rng, progress=progress)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same of the same graph: equal labels, k and settings, however long they took."""
        if not isinstance(other, Clustering):
            return NotImplemented
        return (
            self.k == other.k
            and self.parameters == other.parameters
            and (self.objective, self.resolution) == (other.objective, other.resolution)
            and np.array_equal(self.labels, other.labels)
            and self.graph == other.graph
        )

    def report(self) -> dict[str, Any]:
        """Everything but the labels, as plain numbers, strings and lists, ready for JSON."""
        return report.as_data(self)

    def __str__(self) -> str:
        return report.as_text(self)

    def __repr__(self) -> str:
        return f"Clustering({self.graph.n_nodes} nodes in {self.n_clusters} clusters)"
