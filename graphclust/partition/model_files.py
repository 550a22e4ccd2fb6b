"""A model of a clustering as a file: NumPy's NPZ, with a header in JSON and without pickles."""

import json
import math
import os
from typing import Any

import numpy as np

from graphclust.errors import GraphValidationError, ParameterError
from graphclust.io.array_files import open_archive, parse_json
from graphclust.io.writing import whole_file
from graphclust.objective.objective import OBJECTIVES
from graphclust.partition.prediction import ClusterModel

__all__ = ["load_model"]

FORMAT, VERSION = "graphclust model", 1


def write_model(path: str | os.PathLike, model: ClusterModel, overwrite: bool) -> None:
    """See `ClusterModel.save`."""
    _check_ending(path)
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "objective": model.objective}
    header |= {"resolution": model.resolution, "total": model.total, "nodes": None}
    header["origin"] = model.origin
    if model.nodes is not None:
        header["nodes"] = [_plain(name) for name in model.nodes]
    text = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), np.uint8)
    with whole_file(path, overwrite, lambda: text.nbytes + model.labels.nbytes) as file:
        np.savez_compressed(file, header=text, labels=model.labels, inside=model.inside, mass=model.mass)


def load_model(path: str | os.PathLike, *, memory_limit: int | None = None) -> ClusterModel:
    """A model that `ClusterModel.save` wrote.

    memory_limit : most bytes of its arrays; None allows 200 for each byte of the file, at least 256 MiB and at most
        what the machine has.

    Raises OSError as `open` does, ParameterError for another ending, GraphFormatError for another content,
    ResourceLimitError past the limit.

    >>> import tempfile
    >>> import networkx as nx
    >>> from graphclust import coreset_sc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     coreset_sc(nx.barbell_graph(4, 0), 2, rng=0).model().save(f"{folder}/model.npz")
    ...     load_model(f"{folder}/model.npz").predict({"new": [5, 6]})
    array([1])
    """
    _check_ending(path)
    name = os.fsdecode(path)
    with open_archive(path, name, "expected a model as graphclust writes it", memory_limit) as archive:
        text, labels, inside, mass = archive.read("header", "labels", "inside", "mass")
        header = parse_json(text.tobytes())
        if header["format"] != FORMAT or header["version"] != VERSION:
            raise ValueError(f"it is {header['format']!r}, version {header['version']!r}")
        nodes, objective = header["nodes"], header["objective"]
        total = float(header["total"])
        resolution = None if header["resolution"] is None else float(header["resolution"])
        k = len(mass)
        sound = (
            labels.dtype == np.int64 and labels.ndim == 1 and inside.dtype == mass.dtype == np.float64
            and inside.shape == mass.shape == (k,) and len(labels) > 0 and labels.min() >= -1 and labels.max() < k
            and objective in OBJECTIVES and bool(np.isfinite([inside, mass]).all())
            and math.isfinite(total) and total >= 0.0
            and (OBJECTIVES[objective].is_ratio if resolution is None else math.isfinite(resolution))
            and (nodes is None or _are_names(nodes, len(labels)))
        )  # fmt: skip
        if not sound:
            raise ValueError("its parts do not fit together")
    named = None if nodes is None else tuple(nodes)
    return ClusterModel(labels, named, objective, resolution, inside, mass, total, header.get("origin") or {})


def _are_names(nodes: Any, n: int) -> bool:
    return isinstance(nodes, list) and len(nodes) == n and all(type(node) in (str, int) for node in nodes)


def _check_ending(path: str | os.PathLike) -> None:
    if not os.fsdecode(path).endswith(".npz"):
        raise ParameterError(f"path={os.fsdecode(path)!r} has another ending, expected .npz")


def _plain(name: Any) -> str | int:
    if isinstance(name, np.generic):
        name = name.item()
    if type(name) not in (str, int):
        raise GraphValidationError(
            f"a node is named {name!r}, a {type(name).__name__}; a file of a model holds strings and whole numbers"
        )
    return name
