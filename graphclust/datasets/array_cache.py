"""Converted graphs beside what they were made of: arrays in an uncompressed zip archive, NumPy's npz.

The checksums of the archive are compared as the arrays are read. A file that is not what was written is removed, and
made again.
"""

import json
import pathlib
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from graphclust.errors import GraphFormatError, GraphValidationError, ResourceLimitError
from graphclust.graph.container import Graph
from graphclust.graph.from_csr import graph_of_checked_rows
from graphclust.io.atomic_write import whole_file
from graphclust.io.edges import EdgeCounts
from graphclust.io.formats.array_files import open_archive, parse_json
from graphclust.io.formats.communities import Communities
from graphclust.io.read_file import LoadInfo

VERSION = 1  # of the readers and of the form: a higher number invalidates every stored graph


def keep_graph(file: pathlib.Path, graph: Graph, info: LoadInfo) -> None:
    """Write a graph, and what was said of its file."""
    arrays: dict[str, np.ndarray] = {"indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if isinstance(graph.nodes, np.ndarray):
        arrays["nodes"] = graph.nodes
    for name, value in info.details.items():
        if isinstance(value, Communities):
            arrays |= {f"{name}:starts": value.starts, f"{name}:members": value.members}
        elif isinstance(value, np.ndarray):
            arrays[f"{name}:array"] = value
        else:
            arrays[f"{name}:lines"] = np.frombuffer("\n".join(value).encode(), np.uint8)
    _write(file, {**asdict(replace(info, details={})), "graph_remarks": graph.remarks}, arrays)


def read_kept_graph(file: pathlib.Path, details: bool = True) -> tuple[Graph, LoadInfo] | None:
    """Read what `keep_graph` wrote; None if it is missing, or was damaged and has been removed.

    details : whether to read what is known beside the graph, too.
    """
    found = _read(file, "" if details else ":")
    if found is None:
        return None
    header, arrays = found
    try:
        graph = graph_of_checked_rows(
            arrays["indptr"], _within(arrays["indices"], len(arrays["indptr"]) - 1), arrays.get("weights"),
            arrays.get("nodes"), tuple(header.pop("graph_remarks")),
        )  # fmt: skip
        known: dict[str, Any] = {}
        for key, value in arrays.items():
            name, _, kind = key.rpartition(":")
            if kind == "starts":
                known[name] = Communities(value, arrays[f"{name}:members"])
            elif name and kind == "array":
                known[name] = value
            elif kind == "lines":
                known[name] = value.tobytes().decode().split("\n")
        header |= {"counts": EdgeCounts(**header["counts"]), "details": known}
        header |= {name: tuple(header[name]) for name in ("remarks", "repairs")}
        return graph, LoadInfo(**header)
    except (GraphValidationError, KeyError, TypeError, ValueError):
        file.unlink(missing_ok=True)
        return None


def _within(indices: np.ndarray, n_nodes: int) -> np.ndarray:
    """Refuse indices that a compiled loop would follow out of its arrays; all else is left to the checksums."""
    if indices.dtype != np.int32 or (len(indices) and indices.view(np.uint32).max() >= n_nodes):
        raise ValueError("indices are out of range")
    return indices


def keep_communities(file: pathlib.Path, communities: Communities) -> None:
    """Write communities."""
    names = np.frombuffer("\n".join(communities.names or ()).encode(), np.uint8)
    arrays: dict[str, np.ndarray] = {"starts": communities.starts, "members": communities.members, "names": names}
    _write(file, {"named": communities.names is not None}, arrays)


def read_kept_communities(file: pathlib.Path) -> Communities | None:
    """Read what `keep_communities` wrote, as `read_kept_graph` does."""
    found = _read(file)
    if found is None:
        return None
    header, arrays = found
    names = tuple(arrays["names"].tobytes().decode().split("\n")) if header["named"] else None
    return Communities(arrays["starts"], arrays["members"], names)


def _write(file: pathlib.Path, header: dict, arrays: dict[str, np.ndarray]) -> None:
    text = np.frombuffer(json.dumps({"version": VERSION, "arrays": sorted(arrays), **header}).encode(), np.uint8)
    n_bytes = sum(array.nbytes for array in arrays.values())
    with whole_file(file, overwrite=True, size=lambda: n_bytes) as target:
        np.savez(target, allow_pickle=False, header=text, **arrays)


def _read(file: pathlib.Path, without: str = "") -> tuple[dict, dict[str, np.ndarray]] | None:
    """The header and the arrays, but for arrays whose names hold a given text.

    Pickles are never looked into, and no more memory is taken than the file has bytes.
    """
    try:
        size = file.stat().st_size
        with open_archive(file, str(file), "is not a converted graph", size) as archive:
            names = [name for name in archive.names if name != "header" and not (without and without in name)]
            (text,) = archive.read("header")
            header = parse_json(text.tobytes())
            arrays = dict(zip(names, archive.read(*names), strict=True))
            # A directory entry that has changed can hide those after it, which no checksum sees.
            if header.pop("version") == VERSION and header.pop("arrays") == sorted({*archive.names} - {"header"}):
                return header, arrays
    except FileNotFoundError:
        return None
    except (GraphFormatError, ResourceLimitError, OSError):
        pass
    file.unlink(missing_ok=True)
    return None
