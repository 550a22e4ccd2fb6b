"""A model of a clustering as a file: NumPy's NPZ, with a header in JSON and without pickles."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from graphclust.errors import GraphValidationError, ParameterError
from graphclust.io.atomic_write import whole_file
from graphclust.io.formats.array_files import check_version, open_archive, parse_json
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVE_SPECS

if TYPE_CHECKING:
    from graphclust.results.prediction import ClusterModel

FORMAT, VERSION = "graphclust model", 1
OPTIONAL = ("ids", "node_sizes")


def write_model(path: str | os.PathLike, model: ClusterModel, overwrite: bool) -> None:
    """See `ClusterModel.save`."""
    _check_ending(path)
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "objective": model.objective}
    header |= {"resolution": model.resolution, "total": model.total, "nodes": None}
    header |= {"origin": model.origin, "n_ids": model.n_ids}
    if model.nodes is not None:
        header["nodes"] = [_plain(name) for name in model.nodes]
    written = json.dumps(header, ensure_ascii=False)
    text = np.frombuffer(written.encode(errors="backslashreplace"), np.uint8)  # a lone surrogate as JSON has it
    optional = {"ids": model.ids, "node_sizes": model.node_sizes}
    held: dict[str, Any] = {name: values for name, values in optional.items() if values is not None}
    with whole_file(path, overwrite, lambda: text.nbytes + model.labels.nbytes) as file:
        np.savez_compressed(file, header=text, labels=model.labels, inside=model.inside, mass=model.mass, **held)


def read_model(path: str | os.PathLike, memory_limit: int | None) -> dict[str, Any]:
    """The fields of the model in a file, see `load_model`."""
    name = os.fsdecode(path)
    with open_archive(path, name, "expected a model as graphclust writes it", memory_limit) as archive:
        held = [name for name in OPTIONAL if name in archive.names]
        header = parse_json(archive.read("header")[0].tobytes())
        check_version(header["format"], FORMAT, header["version"], VERSION)
        labels, inside, mass, *more = archive.read("labels", "inside", "mass", *held)
        optional = dict(zip(held, more, strict=True))
        nodes, objective = header["nodes"], header["objective"]
        total = float(header["total"])
        resolution = None if header["resolution"] is None else float(header["resolution"])
        k, n_ids = len(mass), header.get("n_ids")
        sound = (
            labels.dtype == np.int64 and labels.ndim == 1 and inside.dtype == mass.dtype == np.float64
            and inside.shape == mass.shape == (k,) and len(labels) > 0 and labels.min() >= -1 and labels.max() < k
            and objective in OBJECTIVE_SPECS and bool(np.isfinite([inside, mass]).all())
            and math.isfinite(total) and total >= 0.0
            and (objective not in ADDITIVE_OBJECTIVES if resolution is None else math.isfinite(resolution))
            and (nodes is None or _are_names(nodes, len(labels)))
            and all(_are_fitting(name, values, k, len(labels)) for name, values in optional.items())
            and _is_origin(header.get("origin"))
            and (n_ids is None or (type(n_ids) is int and n_ids > optional.get("ids", labels).max()))
        )  # fmt: skip
        if not sound:
            raise ValueError("its parts do not fit together")
    return {
        "labels": labels, "nodes": None if nodes is None else tuple(nodes), "objective": objective,
        "resolution": resolution, "inside": inside, "mass": mass, "total": total, "origin": header.get("origin") or {},
        "n_ids": n_ids, **optional,
    }  # fmt: skip


def _are_fitting(name: str, values: np.ndarray, k: int, n_nodes: int) -> bool:
    """Whether an array that not every model has can be what it is called."""
    if name == "ids":
        return values.dtype == np.int64 and values.shape == (k,) and len(np.unique(values)) == k and values.min() >= 0
    is_array = values.dtype == np.float64 and values.shape == (n_nodes,)
    return is_array and bool(((values > 0) & np.isfinite(values)).all())


def _is_origin(origin: Any) -> bool:
    """Whether it is what an update reads of how the labels came about: k, and the options by their names."""
    if origin is None:
        return True
    return (
        isinstance(origin, dict) and isinstance(origin.get("options", {}), dict)
        and type(origin.get("k")) in (int, type(None))
    )  # fmt: skip


def _are_names(nodes: Any, n: int) -> bool:
    is_list = isinstance(nodes, list) and all(type(node) in (str, int) for node in nodes)
    return is_list and len(nodes) == len({*nodes}) == n


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
