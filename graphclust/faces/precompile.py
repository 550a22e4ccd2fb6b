"""Compile all loops ahead of time, by small examples of what people do: for container images and quiet first calls."""

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs.csr_checks import check_rows
from graphclust.compiled.runtime.cache_folder import keep_in
from graphclust.compiled.runtime.loops import is_started, start_compiler
from graphclust.coreset.paper import EMBEDDINGS
from graphclust.errors import ParameterError
from graphclust.generators.planted_graphs import lfr_like, planted_partition, stochastic_block_model
from graphclust.graph.container import Graph
from graphclust.io.graph_input import as_graph
from graphclust.io.load import load_graph
from graphclust.io.save import save_graph
from graphclust.objective.cuts import conductance, kernel_k_means_cost, modularity, normalized_cut
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.partition.hierarchy import hierarchy
from graphclust.partition.well_connected import well_connected
from graphclust.points.k_means.lloyd import kmeans
from graphclust.points.k_means.minibatch import minibatch_kmeans
from graphclust.points.k_means.nested_minibatch import nested_minibatch_kmeans
from graphclust.points.k_means.spherical import spherical_kmeans
from graphclust.points.kernel_k_means.coreset import coreset_kernel_kmeans
from graphclust.points.kernel_k_means.full_batch import kernel_kmeans
from graphclust.points.kernel_k_means.minibatch import minibatch_kernel_kmeans
from graphclust.points.kernel_k_means.truncated import truncated_kernel_kmeans
from graphclust.progress import Progress
from graphclust.spectral.whole_graph import fast_spectral_clustering, spectral_clustering

K = 5


def compile_ahead(progress: Progress | None = None, into: str | None = None) -> str:
    """Call every loop with each type of array that it meets; says how many had to be compiled, and where they are.

    into : the folder in which loops are kept, made where there is none; by default that where this user's are.

    Raises ParameterError where the folder cannot be written, or where loops of this process are kept elsewhere already.
    """
    progress = progress or Progress()
    if into is not None:
        _keep_in(into)
    start_compiler()
    from graphclust.compiled.runtime.compile_notice import compilation  # numba's part of it

    before, seconds = compilation.n_loops, compilation.seconds
    compilation.said = True  # the caller knows
    examples = list(_examples())
    with progress.stage("compiling"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the examples are too small for some of what is asked of them
        for i, example in enumerate(examples):
            progress.step(i, len(examples))
            example()
    n_loops, seconds = compilation.n_loops - before, compilation.seconds - seconds
    folder = into or os.path.dirname(check_rows.stats.cache_path or "")
    kept = f"kept in {folder}" if folder else "not kept: no folder can be written to"
    return f"{n_loops} loops compiled in {seconds:.1f} s, {kept}"


def _keep_in(folder: str) -> None:
    """Have loops kept in a folder, before the first is made."""
    if is_started():
        raise ParameterError(
            f"into={folder!r} was given after loops of this process were compiled or loaded, which are kept elsewhere; "
            "run `graphclust compile --into` in a process of its own"
        )
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as problem:
        raise ParameterError(f"into={folder!r} cannot be written ({problem}); name a folder of your own") from problem
    keep_in(os.path.abspath(folder))


def _examples() -> Iterator[Callable[[], object]]:
    """Calls that compile on their first run; together they meet every loop."""
    for weighted in (False, True):
        graph = _graph(weighted)
        for method in ("multilevel", "two-step"):
            yield partial(coreset_sc, graph, K, method=method, effort="high", rng=0)
        yield partial(hierarchy, graph, max_size=10, rng=0)
        yield partial(_well_connected, graph)
        for embedding in EMBEDDINGS:
            yield partial(coreset_sc, graph, K, method="paper", embedding=embedding, rng=0)
        yield partial(coreset_sc, graph, K, method="paper", sampling="naive", coreset_size=200, rng=0)
        yield partial(spectral_clustering, graph, K, rng=0)
        yield partial(fast_spectral_clustering, graph, K, rng=0)
        yield partial(_quality, graph)
        yield partial(kernel_kmeans, graph, K, max_iter=3, rng=0)
        yield partial(coreset_kernel_kmeans, graph, K, coreset_size=200, sampling="tree", rng=0)
        yield partial(_through_files, graph)
        yield partial(_through_matrices, graph)
    yield partial(stochastic_block_model, [50] * K, 0.2, 0.01, rng=0)
    yield partial(lfr_like, 1_000, 8.0, 0.2, largest=200, rng=0)
    points = np.random.default_rng(0).normal(size=(600, 8))
    for X in (points, points.astype(np.float32), sparse.csr_array(points), sparse.csr_array(points, dtype=np.float32)):
        yield partial(kmeans, X, K, rng=0)
        yield partial(spherical_kmeans, X, K, rng=0)
        yield partial(minibatch_kmeans, X, K, batch_size=100, max_iter=3, rng=0)
        yield partial(nested_minibatch_kmeans, X, K, batch_size=100, rng=0)
        yield partial(kmeans, X, 40, init="k-means||", rng=0)
    for X in (points, points.astype(np.float32)):
        yield partial(kernel_kmeans, X, K, rng=0)
        yield partial(minibatch_kernel_kmeans, X, K, batch_size=100, max_iter=3, rng=0)
        yield partial(truncated_kernel_kmeans, X, K, batch_size=100, max_iter=3, rng=0)


def _graph(weighted: bool) -> Graph:
    """Blocks, a crumb, a node alone and a loop."""
    matrix = planted_partition(K, 400, 12, 2, rng=0).graph.to_scipy().tolil()
    matrix.resize((2_004, 2_004))
    matrix[2_000, 2_001] = matrix[2_001, 2_000] = matrix[5, 5] = 1
    matrix = matrix.tocsr()
    return as_graph(matrix * 1.5 if weighted else matrix)


def _well_connected(graph: Graph) -> None:
    one_cluster = np.zeros(graph.n_nodes, np.int64)
    well_connected(graph, one_cluster, connectivity=np.sqrt, cut_weight=True, leftover="alone", rng=0).min_cuts.sum()


def _quality(graph: Graph) -> None:
    labels = np.arange(graph.n_nodes) % K
    for measure in (normalized_cut, conductance, modularity, kernel_k_means_cost):
        measure(graph, np.where(graph.isolated, -1, labels))


def _through_matrices(graph: Graph) -> None:
    """Index types, and rows that are out of order."""
    matrix = graph.to_scipy()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    as_graph(matrix).components.max()
    for index_type in (np.int32, np.int64):
        matrix.indices = np.where(np.arange(matrix.nnz) == 0, -1, matrix.indices).astype(index_type)
        try:
            as_graph(matrix)
        except ValueError:
            continue


def _through_files(graph: Graph) -> None:
    """Write and read a graph in each format that has loops of its own."""
    part = graph.subgraph(np.flatnonzero(~graph.isolated))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("g.mtx", "g.txt", "g.csv"):
            save_graph(f"{folder}/{name}", part)
            load_graph(f"{folder}/{name}", weights="file")
        with open(f"{folder}/far.txt", "w") as file:
            file.write("1 4000000000\n1 5000000000\n")
        load_graph(f"{folder}/far.txt")
        with open(f"{folder}/g.graph", "w") as file:
            file.write("2 1 1\n2 5\n1 5\n" if graph.weights is not None else "2 1\n2\n1\n")
        load_graph(f"{folder}/g.graph")
