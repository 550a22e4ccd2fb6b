"""What was saved to go on with it, read and checked: the model of a clustering, or a hierarchy."""

import os
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import refuse_swapped
from graphclust.engine.engine import EFFORTS
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.node_order import order_of_names
from graphclust.io.formats.array_files import check_allowed, name_failures, open_archive, parse_json
from graphclust.objective.cuts import cut_and_volume
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVE_SPECS
from graphclust.results.base import Labels, SavedModel
from graphclust.results.file_header import MISFIT, read_header
from graphclust.results.from_labels import numbering_by_size
from graphclust.results.hierarchy import Hierarchy
from graphclust.results.prediction import ARRAYS, ROUND_OFF, ClusterModel

BYTES_OF_JSON = 32  # of memory that one byte of JSON takes when it is parsed, about
MOST_IDS = 1 << 62  # that none is beyond the whole numbers of an array


@dataclass(frozen=True, eq=False)
class HierarchyModel(SavedModel[Hierarchy]):
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

    @property
    def n_nodes(self) -> int:
        return len(self.levels[0])

    def restore(self, graph: Graph, rows: Any = None) -> Hierarchy:
        options, sizes, at = self.origin["options"], self.node_sizes, slice(None) if rows is None else rows
        return Hierarchy(
            tuple(labels[at] for labels in self.levels), (), self.ids, graph, options["objective"], self.resolutions,
            options["max_size"], options["min_size"], None if sizes is None else sizes[at],
            parameters=dict(options), n_ids=self.n_ids,
        )  # fmt: skip

    def find_changes(self, graph: Graph, place: Labels, is_whole: bool) -> tuple[npt.NDArray[np.bool_], Labels]:
        """See `SavedModel`: new nodes, and clusters of the last level with other links; all links of these."""
        labels = np.append(self.levels[-1], -1)[place]
        cut, volume = cut_and_volume(graph, labels, len(self.cut))
        is_same = np.isclose(cut, self.cut, rtol=0.0, atol=ROUND_OFF * self.volume.sum())
        is_same &= np.isclose(volume, self.volume, rtol=ROUND_OFF, atol=0.0)
        has_changed = ~np.append(is_same, False)[labels]
        return has_changed, np.where(has_changed, np.maximum(np.diff(graph.indptr), 1), 0)


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
        return _read_model(name, memory_limit)
    if name.endswith(".json"):
        return _read_hierarchy(name, memory_limit)
    raise ParameterError(
        f"path={name!r} has another ending, expected .npz of ClusterModel.save, or .json of Hierarchy.save"
    )


def _require(is_sound: Any) -> None:
    """ValueError unless it is."""
    if not is_sound:
        raise ValueError(MISFIT)


def _read_model(path: str, memory_limit: int | None) -> ClusterModel:
    """The model in a .npz file, whose parts fit together."""
    with open_archive(path, path, "expected a model as graphclust writes it", memory_limit) as archive:
        told = parse_json(archive.read("header")[0].tobytes())
        origin = read_header(told, "model")
        names = [name for name in ARRAYS if name in archive.names or name in ("labels", "inside", "mass")]
        arrays = dict(zip(names, archive.read(*names), strict=True))
        labels, mass, ids = arrays["labels"], arrays["mass"], arrays.get("ids", arrays["labels"])
        n, k = labels.size, mass.size
        forms = {"labels": (np.int64, n), "ids": (np.int64, k), "inside": (np.float64, k), "mass": (np.float64, k),
                 "node_sizes": (np.float64, n)}  # fmt: skip
        _require(all((of.dtype, of.shape) == (forms[name][0], forms[name][1:]) for name, of in arrays.items()))
        _require(n > 0 and labels.min() >= -1 and labels.max() < k)
        _require(np.isfinite([arrays["inside"], mass]).all())
        _require("ids" not in arrays or (len(np.unique(ids)) == k and ids.min() >= 0))
        _require(_are_sizes(arrays.get("node_sizes")))
        nodes, objective, total, n_ids = told["nodes"], told["objective"], float(told["total"]), told.get("n_ids")
        resolution = None if told["resolution"] is None else float(told["resolution"])
        _require(objective in OBJECTIVE_SPECS and isfinite(total) and total >= 0.0)
        _require(objective not in ADDITIVE_OBJECTIVES if resolution is None else isfinite(resolution))
        _require(nodes is None or (_are_names(nodes, (str, int)) and len(nodes) == n))
        _require(n_ids is None or (type(n_ids) is int and n_ids > ids.max()))
    nodes = None if nodes is None else tuple(nodes)
    return ClusterModel(
        nodes=nodes, objective=objective, resolution=resolution, total=total, origin=origin, n_ids=n_ids, **arrays
    )


def _read_hierarchy(path: str, memory_limit: int | None) -> HierarchyModel:
    """The hierarchy in a .json file, whose levels nest."""
    with name_failures(path, "expected a hierarchy as graphclust writes it"), open(path, "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        check_allowed(path, BYTES_OF_JSON * n_bytes, n_bytes, memory_limit)
        told = parse_json(file.read())
        origin = read_header(told, "hierarchy")
        if told["names_are_texts"] is not False:
            raise GraphValidationError(
                f"{path}: nodes are named by something else than strings and whole numbers, which the file does not "
                "hold; expected a hierarchy of a graph with such names, or keep it by pickle"
            )
        options, clusters = origin["options"], told["clusters"]
        if "kind" in options:
            raise GraphValidationError(
                f"{path}: the levels of a {options['kind']} graph, which cannot be updated, expected those of an "
                "undirected one; its clusters can be read as JSON"
            )
        bounds = [options[name] for name in ("max_size", "min_size")]
        _require(options["objective"] in ADDITIVE_OBJECTIVES and options["effort"] in EFFORTS)
        _require(all(bound is None or (type(bound) in (int, float) and bound >= 1.0) for bound in bounds))
        _require(options["levels"] is None or (type(options["levels"]) is int and options["levels"] >= 1))
        coarsest = [one for one in clusters if one["level"] == 0]
        nodes = [*chain.from_iterable(one["nodes"] for one in coarsest)]
        _require(nodes and _are_names(nodes, (str, int) if told["named"] else (int,)))
        nodes = [nodes[place] for place in order_of_names(nodes).tolist()]
        _require(told["named"] or nodes == [*range(len(nodes))])
        levels, ids = _levels(clusters, told["n_levels"], nodes)
        sums = {one["id"]: (one["cut"], one["volume"]) for one in clusters if one["is_leaf"]}
        _require({*sums} == {*ids[-1].tolist()})
        cut, volume = np.array([sums[one] for one in ids[-1].tolist()], np.float64).T
        resolutions, n_ids = tuple(map(float, told["resolutions"])), told["n_ids"]
        sizes = None
        if any("node_sizes" in one for one in coarsest):  # where it is not 1 for all
            listed = ((one["nodes"], one["node_sizes"]) for one in coarsest)
            size_of = {node: size for pair in listed for node, size in zip(*pair, strict=True)}
            sizes = np.array([size_of[node] for node in nodes], np.float64)
        _require(np.isfinite([cut, volume]).all() and _are_sizes(sizes))
        _require(resolutions and all(isfinite(value) and value > 0.0 for value in resolutions))
        _require(n_ids is None or (type(n_ids) is int and max(int(level.max()) for level in ids) < n_ids <= MOST_IDS))
    return HierarchyModel(
        tuple(nodes) if told["named"] else None, levels, ids, resolutions, sizes, n_ids, cut, volume, origin
    )


def _are_names(nodes: Any, types: tuple[type, ...]) -> bool:
    return isinstance(nodes, list) and all(type(node) in types for node in nodes) and len({*nodes}) == len(nodes)


def _are_sizes(sizes: npt.NDArray[np.float64] | None) -> bool:
    return sizes is None or bool((np.isfinite(sizes) & (sizes > 0.0)).all())


def _levels(
    clusters: list[dict[str, Any]], n_levels: Any, nodes: list[Any]
) -> tuple[tuple[Labels, ...], tuple[Labels, ...]]:
    """The labels of each level, numbered by size, and the ids of its clusters. ValueError where they do not nest."""
    numbers = [one["id"] for one in clusters]
    _require(all(type(number) is int and 0 <= number < MOST_IDS for number in numbers))
    _require(len({*numbers}) == len(numbers) and type(n_levels) is int and 0 < n_levels <= len(clusters))
    _require({one["level"] for one in clusters} == {*range(n_levels)})
    place = {node: row for row, node in enumerate(nodes)}
    id_of, levels, ids = np.full(len(nodes), -1, np.int64), [], []
    for level in range(n_levels):
        before = id_of.copy()
        for one in clusters:
            if one["level"] == level:
                rows = np.array([place[node] for node in one["nodes"]], np.int64)
                parent = -1 if one["parent"] is None else one["parent"]
                _require(0 < len(rows) == len(np.unique(rows)) == one["size"])
                _require((before[rows] == parent).all() and (id_of[rows] == parent).all())  # once, and in no other
                id_of[rows] = one["id"]
        is_split = id_of != before  # a cluster is for all of its nodes, or for none
        _require((id_of >= 0).all() and not np.isin(id_of[~is_split], before[is_split]).any())
        own, labels = np.unique(id_of, return_inverse=True)
        number = numbering_by_size(labels, len(own))[:-1]
        levels.append(number[labels])
        ids.append(own[np.argsort(number)])
    return tuple(levels), tuple(ids)
