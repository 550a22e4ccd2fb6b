"""A hierarchy that was saved, without its graph, and what makes it a hierarchy again."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed
from graphclust.graph.container import Graph, GraphLike
from graphclust.objective.cuts import cut_and_volume
from graphclust.progress import ProgressLike
from graphclust.results.hierarchy import Hierarchy
from graphclust.results.prediction import ROUND_OFF
from graphclust.updates.edit_arguments import Edges, Edits
from graphclust.updates.update import update_model

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HierarchyModel:
    """What a saved hierarchy holds: all but its graph. `load_model` reads it from what `Hierarchy.save` wrote as .json.

    nodes : the names of the nodes, or None for 0..n-1; in the order of their names.
    levels, ids, resolutions, node_sizes, n_ids : as those of the hierarchy, in the order of `nodes`.
    cut, volume : of the clusters of the last level, float64, shape (clusters,): whether the graph is as it was.
    origin : as `Hierarchy.origin`.
    """

    nodes: tuple[Hashable, ...] | None
    levels: tuple[Labels, ...]
    ids: tuple[Labels, ...]
    resolutions: tuple[float, ...]
    node_sizes: npt.NDArray[np.float64] | None
    n_ids: int | None
    cut: npt.NDArray[np.float64]
    volume: npt.NDArray[np.float64]
    origin: dict[str, Any]

    def __repr__(self) -> str:
        n_clusters = ", ".join(str(len(ids)) for ids in self.ids)
        return f"HierarchyModel({len(self.levels[0])} nodes, levels of {n_clusters} clusters)"

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
    ) -> Hierarchy:
        """The hierarchy after edits of its graph, as `Hierarchy.update` makes it.

        G : the graph that was clustered, in any form that `as_graph` takes: the file does not hold it. Or what it has
            become, where nobody kept account of the edits: nodes are found by name, and the clusters of the last level
            are opened whose links weigh something else than before.
        added, removed, reweighted, added_nodes, removed_nodes, node_weight, rng, progress : as `Hierarchy.update`
            takes them, edits of G.

        Returns a `Hierarchy` with the levels, `ids` and `changes` that an update of the hierarchy itself has.

        Raises what `as_graph` and `Hierarchy.update` raise; GraphValidationError for a graph of unnamed nodes that has
        fewer than the model, or of which only one has names, and for one without any node of the model.

        >>> import tempfile
        >>> import networkx as nx
        >>> from graphclust import hierarchy, load_model
        >>> graph = nx.ring_of_cliques(6, 5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hierarchy(graph, max_size=6, rng=0).save(f"{folder}/levels.json")
        ...     later = load_model(f"{folder}/levels.json").update(graph, added=[(0, "new"), (1, "new")], rng=0)
        >>> [change for change in later.changes if change.kind != "kept"]
        [ClusterChange(kind='grown', before=(0,), after=(0,), size_before=5, size_after=6)]
        """
        from graphclust.updates.hierarchy_update import remake_hierarchy

        edits = Edits(added, removed, reweighted, added_nodes, removed_nodes, node_weight)
        return cast(Hierarchy, update_model(remake_hierarchy, self, G, edits, rng, progress))

    @property
    def n_nodes(self) -> int:
        return len(self.levels[0])

    def restore(self, graph: Graph, rows: Any = slice(None)) -> Hierarchy:
        """The hierarchy that this is a model of; see `ClusterModel.restore`."""
        options, sizes = self.origin["options"], self.node_sizes
        return Hierarchy(
            tuple(labels[rows] for labels in self.levels), (), self.ids, graph, options["objective"], self.resolutions,
            options["max_size"], options["min_size"], None if sizes is None else sizes[rows],
            parameters=dict(options), n_ids=self.n_ids,
        )  # fmt: skip

    def find_changes(self, graph: Graph, place: Labels, is_whole: bool) -> tuple[npt.NDArray[np.bool_], Labels]:
        """Which nodes of the graph are new, or in a cluster of the last level with other links; and all links of these.

        place : the row that each node of the graph has here, -1 for new ones.
        """
        labels = np.append(self.levels[-1], -1)[place]
        cut, volume = cut_and_volume(graph, labels, len(self.cut))
        is_same = np.isclose(cut, self.cut, rtol=0.0, atol=ROUND_OFF * self.volume.sum())
        is_same &= np.isclose(volume, self.volume, rtol=ROUND_OFF, atol=0.0)
        has_changed = ~np.append(is_same, False)[labels]
        return has_changed, np.where(has_changed, np.maximum(np.diff(graph.indptr), 1), 0)
