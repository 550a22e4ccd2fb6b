"""From a name to a graph: of the SuiteSparse collection (https://sparse.tamu.edu) and SNAP (https://snap.stanford.edu/data).

The converted graph if there is one, else the file in the cache, else the one of the site.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_choice, as_whole_number
from graphclust.datasets import cache
from graphclust.datasets.catalog import GRAPHS, SNAP, SUITESPARSE, CatalogEntry, entry_at, entry_named
from graphclust.datasets.contents import check_matrix, read_communities
from graphclust.datasets.download import address_of, download
from graphclust.errors import (
    DownloadError,
    GraphFormatError,
    GraphValidationError,
    IntegrityError,
    ResourceLimitError,
    UnsafeArchiveError,
    amount,
    in_mebibytes,
)  # fmt: skip
from graphclust.graph.container import Graph
from graphclust.graph.matrices import warn_of
from graphclust.io.container_limits import available_bytes
from graphclust.io.formats.communities import Communities, communities_of_ids
from graphclust.io.read_file import ID_TYPE, LoadInfo, as_reading, load_file
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["DatasetInfo", "fetch_snap", "fetch_suitesparse"]

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
        return f"{self.reading.weights or 'default'}-{self.reading.symmetrize}-{rows}-v{cache.VERSION}"


@overload
def fetch_suitesparse(name: str, *, return_info: Literal[False] = False, **options: Unpack[MatrixOptions]) -> Graph: ...
@overload
def fetch_suitesparse(
    name: str, *, return_info: Literal[True], **options: Unpack[MatrixOptions]
) -> tuple[Graph, DatasetInfo]: ...
def fetch_suitesparse(
    name: str,
    *,
    weights: str | None = None,
    symmetrize: str | None = "max",
    bipartite: bool | None = None,
    largest_component: bool = False,
    communities: str = "all",
    return_info: bool = False,
    memory_limit: int | None = None,
    max_download_bytes: int | None = None,
    mirror: str | None = None,
    progress: ProgressLike = None,
) -> Graph | tuple[Graph, DatasetInfo]:
    """Fetch a matrix of the SuiteSparse collection as a graph: once over the network, from then on from this machine.

    name : GROUP/NAME as in the catalog, such as "SNAP/com-DBLP"; `graphclust.datasets.find` searches it.
    weights, symmetrize, memory_limit : as in `load_graph`. A graph that would need more memory than there is, or than
        `memory_limit`, is refused before it is downloaded.
    bipartite : rows and columns are different nodes; None takes rectangular matrices so, and those of a bipartite kind.
    largest_component : keep only that; its nodes are named by their numbers in the whole.
    communities : "all" or "top5000", of the archives that have both.
    return_info : return also a `DatasetInfo`: communities, labels, node names and coordinates where they are known;
        its remarks then take the place of the warning.
    max_download_bytes : most that may come; None allows 1 GiB, or 100 bytes an entry where that is more.
    mirror : an address that stands for https://sparse.tamu.edu; None takes that of the environment variable
        GRAPHCLUST_MIRROR, if set.
    progress : a listener `(stage, done, total)` or a `Progress`; without one a bar is shown while downloading if
        stderr is a terminal.

    The cache is the folder of the environment variable GRAPHCLUST_CACHE, else the user's. What is in it is used without
    a single request, and compared with its checksums whenever it is read. Needs the extra: pip install
    "graphclust[datasets]".

    Returns a `Graph`, converted as by `load_graph`: directions joined by `symmetrize`, explicit zeros no edges,
    self-loops kept, repeated entries added.

    Raises ParameterError for an unknown name, with the three nearest ones; DownloadError, with the address and the
    place where a file that was fetched by hand belongs; IntegrityError if a downloaded or cached file is damaged;
    ResourceLimitError; and what `load_graph` raises.

    Source: T. Davis and Y. Hu, "The University of Florida sparse matrix collection", ACM TOMS 38(1), 2011.

    >>> fetch_suitesparse("SNAP/com-Amazn")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphclust.errors.ParameterError: name='SNAP/com-Amazn' is none of ... nearest are SNAP/com-Amazon, ...
    """
    entry = entry_named(name)
    as_choice(communities, "communities", COMMUNITIES)
    two_kinds = entry.bipartite if bipartite is None else bool(bipartite)
    reading = as_reading(
        weights=weights, symmetrize=symmetrize, bipartite=two_kinds, memory_limit=memory_limit, with_details=return_info
    )
    graph, load = fetch_graph(entry, Request(reading, max_download_bytes, mirror), progress)
    info = _info(entry, load, graph.n_nodes, communities)
    return hand_over(graph, info, largest_component, return_info)


def _info(entry: CatalogEntry, load: LoadInfo, n_nodes: int, communities: str) -> DatasetInfo:
    """What is known of a graph beside its edges: communities, labels, names, coordinates."""
    details = load.details
    known = details.get(f"communities_{communities}")
    classes = details.get("class_of_node")
    labels = None if known is None else known.labels(n_nodes)
    if classes is not None:
        labels = np.unique(classes, return_inverse=True)[1].astype(np.int64)
    names = details.get("node_names")
    if names is None and "node_ids" in details:
        names = [str(number) for number in details["node_ids"].tolist()]
    return DatasetInfo(entry, known, labels, names, details.get("coordinates"), load)


@overload
def fetch_snap(name: str, *, return_info: Literal[False] = False, **options: Unpack[FetchOptions]) -> Graph: ...
@overload
def fetch_snap(
    name: str, *, return_info: Literal[True], **options: Unpack[FetchOptions]
) -> tuple[Graph, DatasetInfo]: ...
def fetch_snap(
    name: str,
    *,
    largest_component: bool = False,
    communities: str = "all",
    return_info: bool = False,
    memory_limit: int | None = None,
    max_download_bytes: int | None = None,
    mirror: str | None = None,
    progress: ProgressLike = None,
) -> Graph | tuple[Graph, DatasetInfo]:
    """Fetch a SNAP graph with known communities: once over the network, from then on from this machine.

    name : "com-LiveJournal", "com-Friendster", "com-Orkut", "com-Youtube", "com-DBLP", "com-Amazon", "email-Eu-core" or
        "wiki-topcats". Nodes are named by their ids in the file; directed edges are read as undirected.
    communities : "all", or where there are many "top5000", those of the highest quality by Yang and Leskovec 2012.
    return_info : return also a `DatasetInfo` with the communities as sets of nodes, numbered from 0 by the rows of the
        graph, and one label a node; only then their file is fetched.

    The other arguments, the cache and the errors are those of `fetch_suitesparse`; the mirror stands for
    https://snap.stanford.edu.

    Returns a `Graph`. Raises ParameterError with the three nearest names for an unknown one, DownloadError,
    IntegrityError and ResourceLimitError.

    Source: J. Leskovec and A. Krevl, "SNAP Datasets: Stanford large network dataset collection", 2014.

    >>> fetch_snap("com-DBPL")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphclust.errors.ParameterError: name='com-DBPL' is none of the 8 names ... the nearest are com-DBLP, ...
    """
    entry = entry_named(name, SNAP)
    which = as_choice(communities, "communities", tuple(GRAPHS[name].communities))
    request = Request(as_reading(memory_limit=memory_limit, bipartite=False), max_download_bytes, mirror)
    progress = as_progress(progress)
    graph, load = fetch_graph(entry, request, progress)
    known = _communities(entry, which, graph, request, progress) if return_info else None
    labels = None if known is None else known.labels(graph.n_nodes)
    info = DatasetInfo(entry, known, labels, None, None, load)
    return hand_over(graph, info, largest_component, return_info)


def _communities(entry: CatalogEntry, which: str, graph: Graph, request: Request, progress: Progress) -> Communities:
    """Known communities, converted once like the graph."""
    path = GRAPHS[entry.name].communities[which]
    file = cache.dataset_folder(SNAP, entry.name) / path.rpartition("/")[2]
    converted = file.with_name(f"{file.name}.v{cache.VERSION}.npz")
    if (known := cache.read_kept_communities(converted)) is not None:
        return known
    with cache.lock_dataset(file.parent):
        if (known := cache.read_kept_communities(converted)) is not None:
            return known
        fetch_file(entry, path, file, request, progress)
        written = GRAPHS[entry.name].written
        starts, ids, names = parse(file, functools.partial(read_communities, file, written, progress))
        nodes = None if graph.nodes is None else np.asarray(graph.nodes)
        known = communities_of_ids(starts, ids, nodes, graph.n_nodes, names)
        cache.keep_communities(converted, known)
    return known


def check_before(entry: CatalogEntry, memory_limit: int | None) -> None:
    """Refuse, before anything is downloaded, what is no graph, and what would not fit."""
    if entry.type == "complex" or entry.structure in ("Hermitian", "skew-symmetric"):
        raise GraphValidationError(
            f"{entry.address} is {entry.structure} with {entry.type} entries, expected a real symmetric or general "
            "matrix; nothing was downloaded"
        )
    available = available_bytes() if memory_limit is None else memory_limit
    if entry.memory > available:
        raise ResourceLimitError(
            f"{entry.address}: {amount(entry.rows, 'node')} and {entry.entries:,} entries need about "
            f"{in_mebibytes(entry.memory)} while they are read, but memory_limit is {in_mebibytes(available)}; nothing "
            "was downloaded. Pass a larger memory_limit if the estimate is wrong"
        )


def describe_download(address: str, memory_limit: int | None = None) -> str | None:
    """How large a graph is and whether memory will do, said before its download; None where there will be none."""
    entry = entry_at(address)
    if entry is None or any(dataset.address == entry.address for dataset in cache.cached()):
        return None
    available = available_bytes() if memory_limit is None else memory_limit
    enough = "enough" if entry.memory <= available else "not enough"
    needed, there = (f"{n_bytes / 2**20:,.1f} MiB" for n_bytes in (entry.memory, available))
    return f"{entry}; about {needed} of memory to read it, of {there}: {enough}"


def fetch_graph(entry: CatalogEntry, request: Request, progress: ProgressLike) -> tuple[Graph, LoadInfo]:
    """The graph, and what `load_graph` says of it; the data set is locked while its file is fetched and converted."""
    progress, details = as_progress(progress), request.reading.with_details
    path = f"MM/{entry.full_name}.tar.gz" if entry.source == SUITESPARSE else GRAPHS[entry.name].edges
    file = cache.dataset_folder(entry.source, entry.full_name) / path.rpartition("/")[2]
    converted = file.with_name(f"{file.name}.{request.form}.npz")
    with progress.stage("reading"):
        if (kept := cache.read_kept_graph(converted, details)) is not None:
            return kept
    check_before(entry, request.reading.memory_limit)
    with cache.lock_dataset(file.parent):
        if (kept := cache.read_kept_graph(converted, details)) is not None:  # made by another process meanwhile
            return kept
        fetch_file(entry, path, file, request, progress)

        def read() -> tuple[Graph, LoadInfo]:
            check_matrix(file, entry)
            reading = replace(request.reading, format=entry.source, text_ids=ID_TYPE.get(entry.source))
            return load_file(file, replace(reading, with_details=True), progress)

        graph, info = parse(file, read)
        cache.keep_graph(converted, graph, info)
    return graph, info


def fetch_file(entry: CatalogEntry, path: str, file: pathlib.Path, request: Request, progress: Progress) -> None:
    """Fetch a file of a data set that is locked, unless the cache has it and it still is what its record says."""
    was_there = file.exists()
    if cache.record_in_cache(file) is not None:
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
        if cache.is_whole(file):
            raise
        cache.forget(file)
        raise IntegrityError(f"{file} was a corrupt archive and was removed; fetch it again ({problem})") from None


def hand_over(
    graph: Graph, info: DatasetInfo, largest_component: bool, return_info: bool
) -> Graph | tuple[Graph, DatasetInfo]:
    """What a fetching function returns: the graph, or its component, and the info; or a warning in its place."""
    if largest_component and graph.n_components > 1:
        graph, info = _largest_component_of(graph, info)
    if return_info:
        return graph, info
    warn_of(graph, info.load.repairs, f"{info.entry.address}: ")
    return graph


def _largest_component_of(graph: Graph, info: DatasetInfo) -> tuple[Graph, DatasetInfo]:
    """The component with the most nodes, the first of equal ones; its nodes keep their names or get their numbers."""
    of_node = graph.components
    kept_nodes = np.flatnonzero(of_node == np.bincount(of_node).argmax())
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
