"""What was saved to go on with it: the model of a clustering, or a hierarchy."""

import os

from graphclust.checks import refuse_swapped
from graphclust.errors import ParameterError
from graphclust.results.hierarchy_model import HierarchyModel, read_hierarchy
from graphclust.results.model_files import read_model
from graphclust.results.prediction import ClusterModel


def load_model(path: str | os.PathLike, *, memory_limit: int | None = None) -> ClusterModel | HierarchyModel:
    """A model that `ClusterModel.save` wrote as .npz, or a hierarchy that `Hierarchy.save` wrote as .json.

    memory_limit : most bytes that it takes; None allows 200 for each byte of the file, at least 256 MiB and at most
        what the machine has.

    Raises OSError as `open` does, ParameterError for another ending, GraphFormatError for another content,
    ResourceLimitError past the limit; GraphValidationError for a hierarchy of nodes whose names JSON cannot hold.

    >>> import tempfile
    >>> import networkx as nx
    >>> from graphclust import coreset_sc, hierarchy
    >>> graph = nx.barbell_graph(4, 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     coreset_sc(graph, 2, rng=0).model().save(f"{folder}/model.npz")
    ...     load_model(f"{folder}/model.npz").predict({"new": [5, 6]})
    ...     hierarchy(graph, max_size=4, rng=0).save(f"{folder}/levels.json")
    ...     load_model(f"{folder}/levels.json").update(graph, added=[(0, "new")], rng=0)
    array([1])
    Hierarchy(9 nodes, levels of 2, 3 clusters)
    """
    refuse_swapped(path, "load_model(path)")
    name = os.fsdecode(path)
    if name.endswith(".npz"):
        return ClusterModel(**read_model(path, memory_limit))
    if name.endswith(".json"):
        return read_hierarchy(path, memory_limit)
    raise ParameterError(
        f"path={name!r} has another ending, expected .npz of ClusterModel.save, or .json of Hierarchy.save"
    )
