"""A clustering made from a saved model and the graph, as it was or as it is now."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed
from graphclust.engine.levels import level_of, stays_and_sums
from graphclust.errors import GraphValidationError, amount
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.node_order import node_names
from graphclust.io.graph_input import as_graph
from graphclust.objective.objective import DEFINITIONS, weigh
from graphclust.progress import ProgressLike
from graphclust.results.clustering import Clustering
from graphclust.updates.edits import Edges, apply_edits
from graphclust.updates.update import remake, update_clustering

if TYPE_CHECKING:
    from graphclust.results.prediction import ClusterModel

ROUND_OFF = 1e-10  # of the volume of a graph


def update_model(
    model: ClusterModel,
    G: GraphLike,
    added: Edges,
    removed: Edges,
    reweighted: Edges,
    removed_nodes: Iterable[Hashable] | None,
    rng: Seed,
    progress: ProgressLike,
) -> Clustering:
    """See `ClusterModel.update`."""
    asked = model.origin.get("options", {})
    graph = as_graph(G, weight=asked.get("weight", "weight"), symmetrize=asked.get("symmetrize"))
    place = rows_before(model.nodes, len(model.labels), graph)
    if len(place) == len(model.labels) and (place >= 0).all():
        sizes = None if model.node_sizes is None else model.node_sizes[place]
        found = _clustering(model, graph, model.labels[place], sizes)
        if _has_sums(found, model):
            volume = found.volume
            cut = -model.inside if DEFINITIONS[model.objective].less_degree else volume - model.inside
            vars(found)["_cut_and_volume"] = cut, volume  # as they were: other rounding would settle ties otherwise
            return update_clustering(found, added, removed, reweighted, removed_nodes, rng, progress)
    edit = apply_edits(graph, added, removed, reweighted, removed_nodes)
    before = np.where(edit.before >= 0, place[edit.before], -1)
    edit = edit._replace(before=before, n_changed=np.maximum(edit.n_changed, before < 0))
    return remake(_clustering(model, graph, model.labels, model.node_sizes), edit, rng, progress, everywhere=True)


def rows_before(nodes: Sequence[Hashable] | None, n_nodes: int, graph: Graph) -> npt.NDArray[np.int64]:
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


def _clustering(
    model: ClusterModel, graph: Graph, labels: npt.NDArray[np.int64], sizes: npt.NDArray[np.float64] | None
) -> Clustering:
    k = int(model.origin.get("k") or len(model.mass))
    return Clustering(
        labels, k, graph, model.objective, model.resolution, parameters=dict(model.origin.get("options", {})),
        node_sizes=sizes, stable_ids=model.ids, n_ids=model.n_ids,
    )  # fmt: skip


def _has_sums(clustering: Clustering, model: ClusterModel) -> bool:
    """Whether the graph is unchanged, by its volume and the sums of the clusters, from one pass over the rows.

    One edge more among ten million is detected: rounding alone changes less than `ROUND_OFF` of the volume.
    """
    level = level_of(weigh(clustering.graph, model.objective))
    sums = stays_and_sums(level, clustering.labels.astype(np.int32), len(model.mass))[1]
    volume = clustering.graph.total_volume
    is_same = np.allclose(sums.inside, model.inside, rtol=0.0, atol=ROUND_OFF * volume)
    pairs = (volume, model.total), (sums.mass, model.mass)
    return bool(is_same) and all(np.allclose(one, other, rtol=ROUND_OFF, atol=0.0) for one, other in pairs)
