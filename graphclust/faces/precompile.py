"""Compile loops for points and undirected graphs ahead, by small examples, for images and quiet first calls."""

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import graphclust as gc
from graphclust.compiled.runtime.blocks import set_threads
from graphclust.compiled.runtime.loop_cache import keep_in, root_to_keep
from graphclust.compiled.runtime.loops import is_started, start_compiler
from graphclust.coreset.paper import EMBEDDINGS
from graphclust.engine import local_moving
from graphclust.errors import ParameterError
from graphclust.objective.objective import OBJECTIVES
from graphclust.progress import Progress

K = 5
_OBJECTIVES: tuple[Any, ...] = tuple(OBJECTIVES)


def compile_ahead(progress: Progress | None = None, into: str | None = None) -> str:
    """Call the loops with each type of array that they meet; says how many had to be compiled, and where they are.

    Of graphs of other kinds none: most loops are another program there, which the first call compiles.

    into : the folder in which loops are kept, made where there is none; by default that where this user's are.

    Raises ParameterError where the folder cannot be written, or where loops of this process are kept elsewhere already.
    """
    progress = progress or Progress()
    if into is not None:
        _keep_in(into)
    compilation = start_compiler().compilation
    before, seconds = compilation.n_loops, compilation.seconds
    compilation.said = True  # the caller knows
    examples = list(_examples())
    with progress.stage("compiling"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the examples are too small for some of what is asked of them
        for i, example in enumerate(examples):
            progress.step(i, len(examples))
            example()
    n_loops, seconds = compilation.n_loops - before, compilation.seconds - seconds
    folder = root_to_keep()
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
    """Public calls that compile on their first run; together they meet the loops with each type of array."""
    for weighted in (False, True):
        graph = _graph(weighted)
        for ask in _ON_GRAPHS:
            yield partial(ask, graph)
        yield partial(_through_files, graph)
        yield partial(_through_matrices, graph)
        yield partial(_by_blocks, weighted)
    star = [(0, leaf) for leaf in range(1, 10)]  # of which no three connected clusters have two nodes each
    yield partial(gc.coreset_sc, star, 3, min_size=2, rng=0)
    yield partial(gc.stochastic_block_model, [50] * K, 0.2, 0.01, rng=0)
    yield partial(gc.lfr_like, 1_000, 8.0, 0.2, largest=200, rng=0)
    points = np.random.default_rng(0).normal(size=(600, 8))
    wide = np.random.default_rng(0).normal(size=(200, 80))
    for values in (points, points.astype(np.float32), wide, wide.astype(np.float32)):
        for X in (values, sparse.csr_array(values)):
            for ask in _ON_POINTS:
                yield partial(ask, X)
        for ask in _ON_DENSE_POINTS:
            yield partial(ask, values)


def _graph(weighted: bool) -> gc.Graph:
    """Blocks, a crumb, a node alone, a loop, and a clique that bounds on sizes cut through."""
    matrix = gc.planted_partition(K, 400, 12, 2, rng=0).graph.to_scipy().tolil()
    matrix.resize((2_034, 2_034))
    matrix[2_000, 2_001] = matrix[2_001, 2_000] = matrix[5, 5] = 1
    matrix[2_004:, 2_004:] = 1 - np.eye(30)
    matrix = matrix.tocsr()
    return gc.as_graph(matrix * 1.5 if weighted else matrix)


def _on_kernel(graph: gc.Graph) -> None:
    """The steps of the published algorithm, each by itself."""
    kernel = gc.NormalizedCutKernel.of(graph.subgraph(np.flatnonzero(~graph.isolated)))
    for sampling in ("tree", "naive", "parallel"):
        coreset = gc.construct_coreset(kernel, K, 200, sampling=sampling, rng=0)
    gc.sampling_probabilities(kernel, gc.d2_seeding(kernel, K, rng=0))
    gc.two_step_factor(kernel, coreset)
    gc.two_step_coreset_graph(kernel, coreset)
    induced = gc.coreset_graph(kernel, coreset)
    labels = gc.cluster_coreset(induced, K, coreset.weights, rng=0)
    gc.extend_labels(kernel, coreset, labels, induced=induced)


def _on_result(graph: gc.Graph) -> None:
    """What is asked of a clustering."""
    clustering = gc.coreset_sc(graph, K, rng=0)
    clustering.predict({"new": [5, 6]})
    clustering.table()
    clustering.update(added=[(0, 900)], removed=[(0, int(graph.indices[0]))], rng=0)
    clustering.update(added=[(0, 900, 2.0)], rng=0)
    gc.certainty(clustering, n_repeats=2, rng=0)
    members = np.flatnonzero(clustering.labels >= 0)
    gc.quotient_graph(graph.subgraph(members), clustering.labels[members])
    gc.graph_facts(graph)
    gc.report_page(clustering)


def _on_labels(graph: gc.Graph) -> None:
    """Measures of labels, and steps that begin with them."""
    graph = graph.subgraph(np.flatnonzero(~graph.isolated))
    labels = np.arange(graph.n_nodes) % K
    for measure in (gc.normalized_cut, gc.conductance, gc.modularity, gc.edge_cut, gc.kernel_k_means_cost):
        measure(graph, labels)
    for objective in _OBJECTIVES:
        gc.move_nodes(graph, labels, objective=objective)
        gc.refine_partition(graph, labels, objective=objective, rng=0)
        gc.merge_clusters(graph, K, objective=objective)


_ON_GRAPHS: list[Callable[[gc.Graph], object]] = [
    *(
        partial(gc.coreset_sc, k=K, method=method, objective=objective, effort="high", rng=0)
        for method in ("multilevel", "two-step")
        for objective in _OBJECTIVES
    ),
    *(
        partial(gc.coreset_sc, k=K, method="paper", coreset=gc.Coreset(embedding=embedding), rng=0)
        for embedding in EMBEDDINGS
    ),
    partial(gc.coreset_sc, k=K, method="two-step", coreset=gc.Coreset(sampling="parallel"), rng=0),
    partial(gc.coreset_sc, k=K, min_size=20, max_size=600, rng=0),
    partial(gc.communities, rng=0),
    partial(gc.communities, min_size=10, max_size=50, components="largest", rng=0),
    partial(gc.communities, connectivity="well", rng=0),
    partial(gc.communities, connectivity="well", max_size=50, rng=0),
    partial(gc.hierarchy, max_size=10, rng=0),
    partial(gc.balanced_partition, k=K, rng=0),
    partial(gc.balanced_partition, k=100, max_imbalance=0.0, rng=0),
    lambda graph: gc.cluster_path(graph, rng=0).suggest(),
    partial(gc.spectral_clustering, k=K, rng=0),
    partial(gc.fast_spectral_clustering, k=K, rng=0),
    partial(gc.kernel_kmeans, k=K, max_iter=3, rng=0),
    partial(gc.coreset_kernel_kmeans, k=K, coreset_size=200, sampling="tree", rng=0),
    _on_kernel,
    _on_result,
    _on_labels,
]

_ON_POINTS: list[Callable[[Any], object]] = [
    partial(gc.kmeans, k=K, rng=0),
    partial(gc.kmeans, k=40, init="k-means||", rng=0),
    partial(gc.spherical_kmeans, k=K, rng=0),
    partial(gc.minibatch_kmeans, k=K, batch_size=100, max_iter=3, rng=0),
    partial(gc.nested_minibatch_kmeans, k=K, batch_size=100, rng=0),
    partial(gc.distance_seeding, k=K, n_candidates=3, rng=0),
    lambda X: gc.block_sums(X, gc.kmeans(X, K, init="greedy k-means++", rng=0).centroids),
]

_ON_DENSE_POINTS: list[Callable[[Any], object]] = [
    *(partial(gc.kernel_kmeans, k=K, kernel=kernel, max_iter=3, rng=0) for kernel in ("gaussian", "linear")),
    partial(gc.minibatch_kernel_kmeans, k=K, batch_size=100, max_iter=3, rng=0),
    partial(gc.truncated_kernel_kmeans, k=K, batch_size=100, max_iter=3, rng=0),
    partial(gc.coreset_kernel_kmeans, k=K, coreset_size=100, rng=0),
    lambda X: gc.graph_from_neighbors(np.argsort(X @ X.T, axis=1)[:, :5]),  # to find nearest ones takes an extra
]


def _by_blocks(weighted: bool) -> None:
    """A graph of which no step is one compiled call, in memory and from a store."""
    matrix = gc.planted_partition(3 * K, 2_000, 16, 4, rng=0).graph.to_scipy()
    graph = gc.as_graph(matrix * 1.5 if weighted else matrix)
    before, n_before = (local_moving.WORTH_THREADS, local_moving.LONG_ROW), set_threads(2)
    for both in (before, (0, 16)):  # from so many entries on Python calls the steps of a round, and threads share rows
        local_moving.WORTH_THREADS, local_moving.LONG_ROW = both
        try:
            for method in ("multilevel", "two-step"):
                gc.coreset_sc(graph, K, method=method, rng=0)
            gc.communities(graph, rng=0)
            gc.communities(graph, max_size=5, rng=0)
        finally:
            local_moving.WORTH_THREADS, local_moving.LONG_ROW = before
    set_threads(n_before)
    gc.balanced_partition(graph, K, effort="low", rng=0)
    gc.merge_clusters(graph, K)
    with tempfile.TemporaryDirectory() as folder:
        gc.coreset_sc(gc.save_store(f"{folder}/graph.store", graph), K, rng=0)


def _through_matrices(graph: gc.Graph) -> None:
    """Index types, and rows that are out of order."""
    matrix = graph.to_scipy()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    gc.as_graph(matrix).components.max()
    for index_type in (np.int32, np.int64):
        matrix.indices = np.where(np.arange(matrix.nnz) == 0, -1, matrix.indices).astype(index_type)
        try:
            gc.as_graph(matrix)
        except ValueError:
            continue


def _through_files(graph: gc.Graph) -> None:
    """Write and read a graph in each format that has loops of its own."""
    part = graph.subgraph(np.flatnonzero(~graph.isolated))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("g.mtx", "g.txt", "g.csv"):
            gc.save_graph(f"{folder}/{name}", part)
            gc.load_graph(f"{folder}/{name}", weights="file")
            gc.convert_to_store(f"{folder}/{name}", f"{folder}/{name}.store")
        with open(f"{folder}/far.txt", "w") as file:
            file.write("1 4000000000\n1 5000000000\n")
        gc.load_graph(f"{folder}/far.txt")
        with open(f"{folder}/g.graph", "w") as file:
            file.write("2 1 1\n2 5\n1 5\n" if graph.weights is not None else "2 1\n2\n1\n")
        gc.load_graph(f"{folder}/g.graph")
