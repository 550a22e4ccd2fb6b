"""From a name to a graph: the converted graph if there is one, else the file in the cache, else the site's."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number
from graphclust.datasets import cache
from graphclust.datasets.archives import check_matrix
from graphclust.datasets.array_cache import VERSION, keep_graph, read_kept_graph
from graphclust.datasets.catalog import CatalogEntry, entry_at
from graphclust.datasets.download import download, is_whole, record_in_cache
from graphclust.datasets.urls import address_of
from graphclust.errors import (
    DownloadError,
    GraphFormatError,
    GraphValidationError,
    IntegrityError,
    ResourceLimitError,
    UnsafeArchiveError,
    amount,
    in_mebibytes,
)
from graphclust.graph.container import Graph
from graphclust.graph.matrices import warn_of
from graphclust.io.container_limits import available_bytes
from graphclust.io.formats.communities import Communities
from graphclust.io.read_file import ID_TYPE, LoadInfo, load_file
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["DatasetInfo"]

COMMUNITIES = ("all", "top5000")
_FLOOR, _BYTES_PER_ENTRY = 1 << 30, 100  # of an archive, with what else is in it


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a fetched graph beside its edges.

    entry : its line in the catalog; `entry.citation` says what to cite.
    communities : the sets of nodes that are known, which may overlap, or None.
    labels : int64, shape (n_nodes,): the class of each node where the data set has classes, numbered from 0; else of
        its communities the smallest, of equal ones the first; -1 for a node in none. None if neither is known.
    node_names : a list, or None.  coordinates : shape (n_nodes, d), or None.
    load : what `load_graph` said of the file; its `remarks` say what was assumed and repaired.
    """

    entry: CatalogEntry
    communities: Communities | None
    labels: npt.NDArray[np.int64] | None
    node_names: list[str] | None
    coordinates: npt.NDArray[np.float64] | None
    load: LoadInfo


class FetchOptions(TypedDict, total=False):
    """The arguments of the functions that fetch, for a client that checks types."""

    largest_component: bool
    communities: str
    memory_limit: int | None
    max_download_bytes: int | None
    mirror: str | None
    progress: ProgressLike


class MatrixOptions(FetchOptions, total=False):
    """Those of `fetch_suitesparse`."""

    weights: str | None
    symmetrize: str | None
    bipartite: bool | None


@dataclass(frozen=True)
class Request:
    """What was asked for, checked: how to read the graph, and what may be taken for it."""

    reading: Reading
    max_download_bytes: int | None = None
    mirror: str | None = None

    def __post_init__(self):
        if self.max_download_bytes is not None:
            as_whole_number(self.max_download_bytes, "max_download_bytes", at_least=1)

    @property
    def form(self) -> str:
        """A name for what the conversion depends on."""
        rows = "bipartite" if self.reading.bipartite else "square"
        return f"{self.reading.weights or 'default'}-{self.reading.symmetrize}-{rows}-v{VERSION}"


def check_before(entry: CatalogEntry, memory_limit: int | None) -> None:
    """Refuse, before anything is downloaded, what is no graph, and what would not fit."""
    if entry.type == "complex" or entry.structure in ("Hermitian", "skew-symmetric"):
        found = f"{entry.address} is {entry.structure} with {entry.type} entries"
        raise GraphValidationError(f"{found}, expected a real symmetric or general matrix; nothing was downloaded")
    available = available_bytes() if memory_limit is None else memory_limit
    if entry.memory > available:
        raise ResourceLimitError(
            f"{entry.address}: {amount(entry.rows, 'node')} and {entry.entries:,} entries need about "
            f"{in_mebibytes(entry.memory)} while they are read, but memory_limit is {in_mebibytes(available)}; nothing "
            "was downloaded. Pass a larger memory_limit if the estimate is wrong"
        )


def describe_download(address: str, memory_limit: int | None = None) -> str | None:
    """A sentence for before a download: how large the graph is, and whether memory will do.

    None for the path of a file, and for a data set that is in the cache.
    """
    entry = entry_at(address)
    if entry is None or any(dataset.address == entry.address for dataset in cache.cached()):
        return None
    available = available_bytes() if memory_limit is None else memory_limit
    enough = "enough" if entry.memory <= available else "not enough"
    needed, there = (f"{n_bytes / 2**20:,.1f} MiB" for n_bytes in (entry.memory, available))
    return f"{entry}; about {needed} of memory to read it, of {there}: {enough}"


def fetch_graph(entry: CatalogEntry, path: str, request: Request, progress: ProgressLike) -> tuple[Graph, LoadInfo]:
    """The graph of a file below a site; the dataset is locked while the file is fetched and converted."""
    progress, details = as_progress(progress), request.reading.with_details
    file = cache.dataset_folder(entry.source, entry.full_name) / path.rpartition("/")[2]
    converted = file.with_name(f"{file.name}.{request.form}.npz")
    with progress.stage("reading"):
        found = read_kept_graph(converted, details)
    if found is not None:
        return found
    check_before(entry, request.reading.memory_limit)
    with cache.lock_dataset(file.parent):
        found = read_kept_graph(converted, details)  # another process may have made it while this one waited
        if found is not None:
            return found
        fetch_file(entry, path, file, request, progress)

        def read() -> tuple[Graph, LoadInfo]:
            check_matrix(file, entry)
            reading = replace(request.reading, format=entry.source, text_ids=ID_TYPE.get(entry.source))
            return load_file(file, replace(reading, with_details=True), progress)

        graph, info = parse(file, read)
        keep_graph(converted, graph, info)
    return graph, info


def fetch_file(entry: CatalogEntry, path: str, file: pathlib.Path, request: Request, progress: Progress) -> None:
    """Fetch a file of a data set that is locked, unless the cache has it and it still is what its record says."""
    was_there = file.exists()
    if record_in_cache(file) is not None:
        return
    most_bytes = request.max_download_bytes or max(_FLOOR, _BYTES_PER_ENTRY * entry.entries)
    try:
        download(address_of(path, entry.source, request.mirror), file, most_bytes, progress)
    except DownloadError as problem:
        if was_there:
            raise IntegrityError(f"{file} was not what had been downloaded and was removed; {problem}") from None
        raise


def parse(file: pathlib.Path, read: Callable[[], Any]) -> Any:
    """The result of reading a downloaded file; a file that is broken or another one is removed with its record."""
    try:
        return read()
    except (UnsafeArchiveError, IntegrityError):
        cache.forget(file)
        raise
    except GraphFormatError as problem:
        if is_whole(file):
            raise
        cache.forget(file)
        raise IntegrityError(f"{file} was a corrupt archive and was removed; fetch it again ({problem})") from None


def hand_over(
    graph: Graph, info: DatasetInfo, largest_component: bool, return_info: bool
) -> Graph | tuple[Graph, DatasetInfo]:
    """What a fetching function returns: the graph, or its component, and the info; or a warning in its place."""
    if largest_component:
        graph, info = largest_component_of(graph, info)
    if return_info:
        return graph, info
    warn_of(graph, info.load.repairs, f"{info.entry.address}: ")
    return graph


def largest_component_of(graph: Graph, info: DatasetInfo) -> tuple[Graph, DatasetInfo]:
    """The component with the most nodes, which keep their names, or get their numbers for names, and all that is known.

    Of equal components the one with the first node.
    """
    of_node = graph.components
    kept_nodes = np.flatnonzero(of_node == np.bincount(of_node).argmax())
    if len(kept_nodes) == graph.n_nodes:
        return graph, info
    part = graph.subgraph(kept_nodes)
    remark = f"the largest component was kept, {len(kept_nodes):,} of {graph.n_nodes:,} nodes"
    names = kept_nodes if graph.nodes is None else np.asarray(graph.nodes)[kept_nodes]
    part = replace(part, nodes=names, remarks=(*graph.remarks, remark))
    position = np.full(graph.n_nodes, -1)
    position[kept_nodes] = np.arange(len(kept_nodes))
    return part, replace(
        info,
        communities=None if info.communities is None else info.communities.renumbered(position),
        labels=None if info.labels is None else info.labels[kept_nodes],
        node_names=None if info.node_names is None else [info.node_names[u] for u in kept_nodes.tolist()],
        coordinates=None if info.coordinates is None else info.coordinates[kept_nodes],
        load=replace(info.load, remarks=part.remarks),
    )
