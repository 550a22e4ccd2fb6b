"""The one entry into updates: of a clustering or a hierarchy, in memory or loaded from a file without its graph."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_seeded
from graphclust.errors import GraphValidationError, amount
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.node_order import node_names
from graphclust.io.graph_input import as_graph
from graphclust.progress import ProgressLike, as_progress
from graphclust.updates.edit_arguments import Edits
from graphclust.updates.edits import apply_edits

Labels = npt.NDArray[np.int64]


def update(remake: Callable[..., Any], found: Any, edits: Edits, rng: Seed, progress: ProgressLike) -> Any:
    """What a clustering or a hierarchy becomes by edits of its graph; `remake` makes it. See their methods `update`."""
    (rng, seed), progress = as_seeded(rng), as_progress(progress, None)
    with progress.stage("edits"):
        edit = apply_edits(found.graph, *edits)
    return remake(found, edit, rng, seed, progress)


def update_model(
    remake: Callable[..., Any], model: Any, G: GraphLike, edits: Edits, rng: Seed, progress: ProgressLike
) -> Any:
    """The same of a model of a clustering or a hierarchy, whose graph is, or has become, G."""
    (rng, seed), progress = as_seeded(rng), as_progress(progress, None)
    asked, n_nodes = model.origin.get("options", {}), model.n_nodes
    with progress.stage("gate"):
        graph = as_graph(G, weight=asked.get("weight", "weight"), symmetrize=asked.get("symmetrize"))
        place = _rows_before(model.nodes, n_nodes, graph)
        is_whole = len(place) == n_nodes and bool((place >= 0).all())
        has_changed, n_changed = model.find_changes(graph, place, is_whole)
    with progress.stage("edits"):
        edit = apply_edits(graph, *edits)
    if is_whole and not has_changed.any():
        return remake(model.restore(graph, place), edit, rng, seed, progress)
    before, looked_at = np.append(place, -1)[edit.before], np.append(has_changed, True)[edit.before]
    n_changed = np.maximum(edit.n_changed, np.append(n_changed, 0)[edit.before])
    edit = edit._replace(before=before, n_changed=np.maximum(n_changed, before < 0))
    return remake(model.restore(graph), edit, rng, seed, progress, looked_at)


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
