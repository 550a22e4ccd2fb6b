"""A model of a clustering as a file: NumPy's NPZ, with a header in JSON and without pickles."""

import json
import os
import zipfile
from typing import Any

import numpy as np

from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError
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


def load_model(path: str | os.PathLike) -> ClusterModel:
    """A model that `ClusterModel.save` wrote.

    Raises OSError as `open` does, ParameterError for another ending, GraphFormatError for another content.

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
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as held:
            header = json.loads(held["header"].tobytes().decode())
            labels, inside, mass = held["labels"], held["inside"], held["mass"]
        if header["format"] != FORMAT or header["version"] != VERSION:
            raise ValueError(f"it is {header['format']!r}, version {header['version']!r}")
        nodes, resolution = header["nodes"], header["resolution"]
        k = len(mass)
        sound = (
            labels.dtype == np.int64 and labels.ndim == 1 and inside.dtype == mass.dtype == np.float64
            and inside.shape == mass.shape == (k,) and len(labels) > 0 and labels.min() >= -1 and labels.max() < k
            and header["objective"] in OBJECTIVES and (nodes is None or len(nodes) == len(labels))
        )  # fmt: skip
        if not sound:
            raise ValueError("its parts do not fit together")
        total = float(header["total"])
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as problem:
        raise GraphFormatError(f"expected a model as graphclust writes it: {problem}", name) from problem
    named = None if nodes is None else tuple(nodes)
    resolution = None if resolution is None else float(resolution)
    origin = header.get("origin") or {}
    return ClusterModel(labels, named, header["objective"], resolution, inside, mass, total, origin)


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
