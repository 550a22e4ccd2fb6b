"""How far a clustering that was updated is from one that is made from nothing."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import graphclust
from graphclust.checks import Seed
from graphclust.errors import ParameterError
from graphclust.objective.objective import OBJECTIVE_SPECS, judged_by
from graphclust.progress import ProgressLike

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering

WORTH_A_REMARK = 0.002  # of the value: as much as two seeds may differ in on graphs without clear clusters
# Settings that a graph has heeded.
OF_THE_GRAPH = ("weight", "symmetrize", "node_weight", "kind", "layer_weights", "normalize")


class Drift(NamedTuple):
    """A clustering beside one of the same graph from nothing; `Clustering.drift` makes it.

    value, fresh_value : of the clustering and of the fresh one: modularity, or another objective over the graph's
        volume; of cuts the negative, so that more is better.
    lost : what is missing of `fresh_value`, as a share of it; below 0 if the clustering is the better one.
    fresh : the clustering from nothing.
    """

    value: float
    fresh_value: float
    lost: float
    fresh: Clustering


def drift_of(clustering: Clustering, rng: Seed, progress: ProgressLike) -> Drift:
    """See `Clustering.drift`."""
    asked, door = clustering.parameters, "communities"
    if "cut" in asked:
        raise ParameterError(f"the clustering is a cut of a hierarchy, expected hierarchy(G).cut({clustering.k}) anew")
    if "method" in asked or clustering.objective == "edge_cut":
        door = "coreset_sc" if "method" in asked else "balanced_partition"
    make: Any = getattr(graphclust, door)
    takes = inspect.signature(make).parameters
    options = {name: asked[name] for name in takes if name in asked and name not in OF_THE_GRAPH}
    options |= {"k": clustering.k} if "k" in takes else {}
    options |= {} if clustering.node_sizes is None else {"node_weight": clustering.node_sizes}
    fresh = make(clustering.layered or clustering.graph, **options, rng=rng, progress=progress)
    value, fresh_value = value_of_clustering(clustering), value_of_clustering(fresh)
    return Drift(value, fresh_value, (fresh_value - value) / (abs(fresh_value) or 1.0), fresh)


def value_of_clustering(found: Clustering) -> float:
    """The value as `Drift` has it, from the sums of the clusters; of a graph with layers its edges are read."""
    if found.layered is not None:
        at = found.parameters.get("resolution") if found.resolution is None else found.resolution
        return judged_by(found.layered, found.objective).modularity(found.labels, at or 1.0)
    made_of, volume = OBJECTIVE_SPECS[found.objective], found.graph.total_volume or 1.0
    if found.objective == "edge_cut":
        return -2.0 * found.edge_cut / volume
    inside, mass, _ = found.sums
    if made_of.is_ratio:
        return float(((inside if made_of.less_degree else inside - mass)[mass > 0.0] / mass[mass > 0.0]).sum())
    unit = 1.0 / volume if made_of.is_relative else 1.0
    return float(inside.sum() - (found.resolution or 1.0) * unit * (mass**2).sum()) / volume


def remarks_on_drift(value_before: float | None, found: Clustering) -> tuple[str, ...]:
    """That more was lost since the last clustering from nothing, of that value, than seeds differ in."""
    if value_before is None or (found.layered is None and "_cut_and_volume" not in vars(found)):  # no edge is read
        return ()
    value = value_of_clustering(found)
    if value_before - value <= WORTH_A_REMARK * abs(value_before):
        return ()
    name = found.objective.replace("_", " ")
    return (f"{name} has gone from {value_before:.4f} to {value:.4f} since the graph was clustered from nothing; "
            "drift() says whether a fresh clustering has more",)  # fmt: skip
