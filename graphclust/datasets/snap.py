"""Graphs with ground-truth communities of the Stanford Large Network Dataset Collection (https://snap.stanford.edu/data)."""

from __future__ import annotations

import functools
from typing import Literal, Unpack, overload

import numpy as np

from graphclust.checks import as_choice
from graphclust.datasets import cache
from graphclust.datasets.array_cache import VERSION, keep_communities, read_kept_communities
from graphclust.datasets.catalog import SNAP, CatalogEntry, entry_named
from graphclust.datasets.community_files import read_communities
from graphclust.datasets.resolve import DatasetInfo, FetchOptions, Request, fetch_file, fetch_graph, hand_over, parse
from graphclust.datasets.snap_files import GRAPHS
from graphclust.graph.container import Graph
from graphclust.io.formats.communities import Communities, communities_of_ids
from graphclust.io.read_file import LoadInfo, as_reading
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["fetch_snap"]


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
    graph, load = fetch_edges(entry, request, progress)
    known = None
    labels = None
    if return_info:
        known = _communities(entry, which, graph, request, progress)
        labels = known.labels(graph.n_nodes)
    info = DatasetInfo(entry, known, labels, None, None, load)
    return hand_over(graph, info, largest_component, return_info)


def fetch_edges(entry: CatalogEntry, request: Request, progress: ProgressLike) -> tuple[Graph, LoadInfo]:
    """The graph of an edge list, and what `load_graph` says of it."""
    return fetch_graph(entry, GRAPHS[entry.name].edges, request, progress)


def _communities(entry: CatalogEntry, which: str, graph: Graph, request: Request, progress: Progress) -> Communities:
    """Known communities, converted once like the graph."""
    path = GRAPHS[entry.name].communities[which]
    file = cache.dataset_folder(SNAP, entry.name) / path.rpartition("/")[2]
    converted = file.with_name(f"{file.name}.v{VERSION}.npz")
    known = read_kept_communities(converted)
    if known is not None:
        return known
    with cache.lock_dataset(file.parent):
        known = read_kept_communities(converted)
        if known is not None:
            return known
        fetch_file(entry, path, file, request, progress)
        written = GRAPHS[entry.name].written
        starts, ids, names = parse(file, functools.partial(read_communities, file, written, progress))
        nodes = None if graph.nodes is None else np.asarray(graph.nodes)
        known, _ = communities_of_ids(starts, ids, nodes, graph.n_nodes, names)
        keep_communities(converted, known)
    return known
