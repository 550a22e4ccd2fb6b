"""Matrices of the SuiteSparse Matrix Collection (https://sparse.tamu.edu) as graphs, by name."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np

from graphclust.checks import as_choice
from graphclust.datasets.catalog import CatalogEntry, entry_named
from graphclust.datasets.resolve import COMMUNITIES, DatasetInfo, MatrixOptions, Request, fetch_graph, hand_over
from graphclust.graph.container import Graph
from graphclust.io.read_file import LoadInfo, as_reading
from graphclust.progress import ProgressLike

__all__ = ["fetch_suitesparse"]


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
    graph, load = fetch_matrix(entry, Request(reading, max_download_bytes, mirror), progress)
    info = _info(entry, load, graph.n_nodes, communities)
    return hand_over(graph, info, largest_component, return_info)


def fetch_matrix(entry: CatalogEntry, request: Request, progress: ProgressLike) -> tuple[Graph, LoadInfo]:
    """The graph of a matrix, and what `load_graph` says of it."""
    return fetch_graph(entry, f"MM/{entry.full_name}.tar.gz", request, progress)


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
