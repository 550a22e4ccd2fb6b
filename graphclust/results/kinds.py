"""What a clustering and a hierarchy say of their graph: its nodes, its kind, the modularity that was asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphclust.cached import cached_property
from graphclust.errors import ParameterError
from graphclust.graph.node_order import node_names
from graphclust.html_table import html_text
from graphclust.objective.cuts import modularity_of_sums
from graphclust.objective.objective import OBJECTIVE_SPECS
from graphclust.results.label_matching import ChangeLog, ClusterChange
from graphclust.updates.update import Updatable

if TYPE_CHECKING:
    from graphclust.graph.layers import LayeredGraph

NAMES = {
    "undirected": "modularity", "directed": "directed modularity", "bipartite": "Barber's modularity",
    "signed": "signed modularity", "several": "mean modularity", "slices": "multislice modularity",
}  # fmt: skip

INSTEAD = 'expected a clustering of as_graph(G, symmetrize="sum") or the like'
AGAIN = "communities(G, start=clustering) clusters a graph with other nodes and edges from these clusters"
# Sums that moves kept lose about 1e-16 of the heaviest node that passed through. With weights a cut is trusted where it
# is more than the first share of its cluster's volume and more than the second of the graph's.
ROUND_OFF, ROUND_OFF_OF_ALL = 1e-6, 1e-10


class OfGraph(Updatable):
    """What a `Clustering` and a `Hierarchy` say of their graph.

    layered : the graph with its null models, or None where it is undirected.
    """

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


class OfKind(OfGraph):
    """What a `Clustering` has for each kind of graph."""

    labels: npt.NDArray[np.int64]
    objective: str

    def keep_sums(self, inside: npt.NDArray[Any], volume: npt.NDArray[Any]) -> None:
        """Keep sums of the clusters that moves have summed, so that no figure of quality reads the edges.

        inside : by the terms of the objective. Where round-off may be all there is of a cut, nothing is kept.
        """
        cut = OBJECTIVE_SPECS[self.objective].inside(inside, volume)
        least = np.maximum(ROUND_OFF * volume, ROUND_OFF_OF_ALL * self.graph.total_volume)
        if self.graph.weights is None or ((cut > least) | (volume == 0.0)).all():
            vars(self)["_cut_and_volume"] = cut, volume

    @property
    @abstractmethod
    def _cut_and_volume(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The weight that leaves each cluster, and its volume; see `keep_sums`."""

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
        found: dict[Hashable, dict[Hashable, int]] = {}
        copies: Any = self.nodes
        for (node, name), label in zip(copies, self.labels.tolist(), strict=True):
            found.setdefault(name, {})[node] = label
        return found
