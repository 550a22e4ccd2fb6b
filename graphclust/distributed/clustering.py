"""coreset_sc on a Dask cluster."""

import os
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from graphclust.checks import Components, Effort, ObjectiveName, Seed, as_number, as_seeded, as_whole_number
from graphclust.compiled.graphs.levels import Partition
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.blocks import coarse_blocks
from graphclust.coreset.options import Coreset
from graphclust.distributed.engine import (
    DaskEngine,
    Origin,
    check_client,
    count_workers,
    import_extra,
    look_at_workers,
    versions,
)
from graphclust.engine.resolution import remarks_on
from graphclust.errors import GraphClustError
from graphclust.graph.executor import Engine
from graphclust.graph.node_order import listing_order
from graphclust.io.atomic_write import temporary_file
from graphclust.io.store.store import StoredGraph, open_store
from graphclust.partition.components import nodes_to_partition
from graphclust.partition.options import as_options, naming_new_arguments
from graphclust.profile.path_builder import choose_k
from graphclust.progress import ProgressLike, as_progress
from graphclust.results.clustering import Clustering, CoresetClustering
from graphclust.results.from_labels import clustering_of, graph_to_cluster, numbering_by_size
from graphclust.two_step.in_blocks import GraphSource, bring_labels, partition_in_blocks

PARTITIONS_PER_THREAD = 2


@naming_new_arguments
def coreset_sc(
    store: str | os.PathLike[str] | StoredGraph,
    k: int | None = None,
    *,
    client: Any,
    objective: ObjectiveName | None = None,
    resolution: float | str | None = None,
    effort: Effort | None = None,
    components: Components | None = None,
    coreset: Coreset | None = None,
    n_partitions: int | None = None,
    labels_path: str | os.PathLike[str] | None = None,
    patience: float = 60.0,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph in a store into exactly k parts on the workers of a Dask cluster.

    store : path of a store (see `save_store`), the same for the client and all workers: on a shared disk, or a copy
        on each machine.
    k : number of clusters; None takes the number that the graph shows, which the client seeks alone, as `coreset_sc` in
        one process does.
    client : an open `dask.distributed.Client`; none is ever started here.
    n_partitions : runs of rows that tasks are made of; two a worker's thread by default. No more than the graph has
        blocks do anything: 64, or more from 17 billion entries on. It does not change a label.
    labels_path : a .npy file that the workers write the labels to, each those of its partitions; the result's labels
        are mapped from it then. It has to lie where all workers and the client see it.
    patience : seconds to wait while the cluster has no running worker, before that is an error.
    The rest is as in `coreset_sc`, and so are the labels: bit for bit those of `coreset_sc(graph, k,
    coreset=Coreset(sampling="parallel"), ...)` in one process, also if workers die on the way.

    Raises ImportError without the extra "dask", ParameterError for a client that is closed, GraphFormatError for a path
    that a worker cannot open, GraphClustError for workers with other versions, a partition that kills every worker, and
    a cluster without workers; beside these what `coreset_sc` raises.

    Source: Jourdan et al. 2025 for the coreset; Bahmani et al. 2012 for sampling in rounds.
    """
    import_extra("distributed")
    check_client(client)
    (rng, seed), progress = as_seeded(rng), as_progress(progress)
    k = None if k is None else as_whole_number(k, "k", at_least=1)
    patience = as_number(patience, "patience", above=0.0)
    coreset = Coreset() if coreset is None else coreset
    coreset = replace(coreset, sampling="parallel")
    options = as_options(
        "two-step", objective=objective, resolution=resolution, effort=effort, components=components, coreset=coreset
    )
    if n_partitions is not None:
        n_partitions = as_whole_number(n_partitions, "n_partitions", at_least=1)
    graph = store if isinstance(store, StoredGraph) else open_store(store, verify="fast")
    assert isinstance(graph, StoredGraph)
    graph_to_cluster(graph, k or 1, "weight", None, progress)
    origin = Origin(graph.path, graph.key, versions())
    with progress.stage("workers"):
        if not count_workers(client):  # the first may be starting
            try:
                client.wait_for_workers(1, timeout=patience)
            except TimeoutError:
                raise GraphClustError(
                    f"the cluster has had no worker for {patience:g} s: start some, or give more patience="
                ) from None
        look_at_workers(client, origin, patience)
    k, *reasons = choose_k(graph, options.choice.name, options.components, progress) if k is None else (k,)
    options = options.with_draws(k, graph.n_nodes)
    with progress.stage("components"):
        searched = nodes_to_partition(graph, k, options.components, progress)
    if not np.array_equal(searched.nodes, ~graph.isolated):
        origin = origin._replace(part=(k, options.components))
    n_threads = sum(client.nthreads().values())
    n_partitions = n_partitions or PARTITIONS_PER_THREAD * max(n_threads, 1)
    engine = DaskEngine(client, origin, coarse_blocks(graph.indptr), n_partitions, patience)
    collect = bring_labels if labels_path is None else partial(write_labels, path=os.path.abspath(labels_path), k=k)
    schedule, outcome, drawn = partition_in_blocks(
        engine, graph.n_entries, k, options.choice, options.components, options.coreset, rng, progress, collect
    )
    assert outcome.coreset is not None
    remarks = (*searched.remarks_after((*graph.remarks, *reasons)), *outcome.remarks)
    if reasons:  # why k was taken is said already
        remarks = tuple(remark for remark in remarks if remark not in remarks_on(schedule))
    return clustering_of(
        graph, k, outcome.labels, remarks, progress,
        CoresetClustering(outcome.coreset.nodes, outcome.coreset.weights, np.asarray(outcome.coreset_labels)),
        listing_order(graph), objective=options.choice.name, resolution=schedule.resolution, decided=outcome.decided,
        parameters=replace(options, coreset=drawn).record, seed=seed, sums=outcome.sums,
    )  # fmt: skip


def write_labels(engine: Engine, partition: Partition, path: str, k: int) -> Partition:
    """Have each part of the rows write its labels, numbered by size, to its place in a file; returns them mapped."""
    with temporary_file(os.path.dirname(path)) as (_, half):
        np.lib.format.open_memmap(half, "w+", np.int64, (int(engine.boundaries[-1]),)).flush()
        number = engine.once(numbers_by_size, partition.labels, k)
        engine.fetch(engine.each(write_block, partition.labels, number, half))
        os.replace(half, path)
    order = np.argsort(engine.fetch(number)[: len(partition.sums.inside)])
    return Partition(np.load(path, mmap_mode="r"), ClusterSums(*(values[order] for values in partition.sums)))


def numbers_by_size(source: GraphSource, labels: np.ndarray, k: int) -> np.ndarray:
    """The final number of each cluster, see `numbering_by_size`."""
    return numbering_by_size(labels, k, listing_order(source.graph))


def write_block(source: GraphSource, first: int, last: int, labels: np.ndarray, number: np.ndarray, path: str) -> bool:
    """Write the labels of a block to their place."""
    file = np.load(path, mmap_mode="r+")
    file[first:last] = number[labels[first:last]]
    file.flush()
    return True
