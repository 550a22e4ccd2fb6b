"""multilevel_partition: the multilevel engine on a graph without isolated nodes, for exactly k clusters."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_choice, as_generator, as_whole_number
from graphclust.engine.agglomeration import graph_without_isolated_nodes
from graphclust.engine.engine import EFFORTS, partition_into
from graphclust.engine.levels import run_on
from graphclust.graph.container import GraphLike
from graphclust.literals import Effort, Objective
from graphclust.objective.objective import as_aim, weigh
from graphclust.profile.unknown_k import choose_k, warn_if_unclear
from graphclust.progress import ProgressLike, as_progress

__all__ = ["multilevel_partition"]


def multilevel_partition(
    G: GraphLike,
    k: int | None = None,
    *,
    objective: Objective = "modularity",
    resolution: float | str | None = None,
    effort: Effort = "normal",
    weight: str | None = "weight",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> npt.NDArray[np.int64]:
    """Labels of a partition into k clusters, through coarser and coarser graphs.

    G, weight : as `as_graph` takes them, without isolated nodes; k : 1 <= k <= n_nodes. None takes the number that the
        graph shows, as `coreset_sc` does with components="all", and warns if it is not clear.
    objective, resolution, effort : as `coreset_sc` takes them.
    rng : None, a seed or a numpy Generator; progress : see `Progress`.

    Returns int64, shape (n_nodes,), every label from 0 to k - 1 used.

    Raises ParameterError for isolated nodes, an impossible k, effort or resolution, and an unknown objective. Warns
    with GraphWarning where k was not given and the graph shows no number clearly; the warning names the candidates.

    Source: see `graphclust.engine.engine`.

    >>> import networkx as nx
    >>> multilevel_partition(nx.barbell_graph(4, 0), 2, rng=0)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    aim = as_aim(objective, resolution)
    effort = as_choice(effort, "effort", tuple(EFFORTS))
    graph, rng, progress = graph_without_isolated_nodes(G, weight), as_generator(rng), as_progress(progress)
    if k is None:
        remarks: list[str] = []
        k = choose_k(graph, cast(Objective, aim.name), {"components": "all"}, remarks, progress)
        warn_if_unclear(remarks)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes")
    with progress.interruptible(_as_labels):
        run = run_on(weigh(graph, aim.name), rng, progress)
        return _as_labels(partition_into(run.finest, k, aim, EFFORTS[effort], run)[0].labels)


def _as_labels(labels: np.ndarray) -> npt.NDArray[np.int64]:
    return labels.astype(np.int64)
