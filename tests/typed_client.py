"""A client that uses every public name, for a type checker to read; never run.

A line that ends in `# type: ignore[...]` is wrong on purpose: the checker has to see that error, and no other.
"""

from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import graphclust as gc
from graphclust import datasets, distributed

Whole = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]


class LikeNetworkX:
    def is_directed(self) -> bool:
        return False

    def adjacency(self) -> Iterator[tuple[Hashable, dict[Hashable, Any]]]:
        return iter(())


def listener(stage: str, done: int, total: int) -> None: ...


def graphs(matrix: Real, path: Path) -> gc.Graph:
    graph = assert_type(gc.as_graph(matrix, weight=None, symmetrize="max"), gc.Graph)
    gc.as_graph(LikeNetworkX(), weight="strength")
    gc.as_graph(path)
    assert_type(graph.n_nodes, int)
    assert_type(graph.indices, npt.NDArray[np.int32])
    assert_type(gc.load_graph(path), gc.Graph)
    loaded, info = gc.load_graph(path, return_info=True)
    assert_type(info, gc.LoadInfo)
    gc.save_graph(path, loaded, overwrite=True)
    assert_type(gc.save_store(path, loaded, overwrite=True), gc.Graph)
    assert_type(gc.convert_to_store(path, path, memory_limit=10**9, progress=listener), gc.Graph)
    assert_type(gc.open_store(path, verify="fast"), gc.Graph)
    assert_type(gc.graph_facts(loaded, info), dict[str, Any])
    assert_type(gc.classic_graph("karate")[0], gc.Graph)
    assert_type(gc.fetch_suitesparse("HB/1138_bus", weights="abs"), gc.Graph)
    fetched, known = gc.fetch_snap("com-DBLP", return_info=True)
    assert_type(known, gc.DatasetInfo)
    if known.communities is not None:
        assert_type(known.communities, gc.Communities)
        assert_type(known.communities[0], frozenset[int])
        assert_type(known.communities.labels(fetched.n_nodes), Whole)
    assert_type(datasets.find("road", kind="graph", entries=(1e6, 1e8), symmetric=True), list[datasets.CatalogEntry])
    gc.fetch_suitesparse(1138)  # type: ignore[call-overload]
    gc.fetch_snap("com-DBLP", weights="abs")  # type: ignore[call-overload]
    assert_type(gc.knn_graph(matrix, 5, rng=0), gc.Graph)
    assert_type(gc.graph_from_table({"a": [1], "b": [2]}, "a", "b", nodes=[1, 2]), gc.Graph)
    gc.graph_from_table({}, weight=[3])  # type: ignore[arg-type]
    gc.nearest_neighbors(matrix, 5, metric="cosine")
    gc.nearest_neighbors(matrix, 5, queries=matrix, method="auto")
    assert_type(gc.graph_from_neighbors([[1], [0]], weights=None), gc.Graph)
    assert_type(gc.planted_partition(3, 10, 4.0, 1.0, rng=0), gc.PlantedGraph)
    assert_type(gc.stochastic_block_model([5, 5], 0.5, 0.1).graph, gc.Graph)
    assert_type(gc.lfr_like(1000, 10.0, 0.3), gc.PlantedGraph)
    gc.as_graph(3)  # type: ignore[arg-type]
    gc.as_graph(matrix, weights="abs")  # type: ignore[call-arg]
    gc.as_graph(object())  # type: ignore[arg-type]
    gc.load_graph(3)  # type: ignore[call-overload]
    gc.graph_facts(graph, info="x")  # type: ignore[arg-type]
    gc.planted_partition("3", 10, 4.0, 1.0)  # type: ignore[arg-type]
    gc.as_grahp(matrix)  # type: ignore[attr-defined]
    return graph


def clusterings(graph: gc.Graph, path: Path) -> gc.Clustering:
    found = assert_type(gc.coreset_sc(graph, 3, rng=np.random.default_rng(0), progress=listener), gc.Clustering)
    gc.coreset_sc(graph, 3, method="two-step", coreset=gc.Coreset(oversampling=2.5), progress=gc.Progress(listener))
    with gc.limit_threads(1):
        gc.coreset_sc(graph, 3)
    assert_type(gc.spectral_clustering(graph, 3), gc.Clustering)
    assert_type(gc.estimate_memory((10, 20), 3, method="two-step"), int)
    gc.coreset_sc(graph, 3, memory_limit=gc.estimate_memory(graph, 3))
    assert_type(gc.fast_spectral_clustering(graph, 3), gc.Clustering)
    assert_type(gc.coreset_sc(graph, rng=0), gc.Clustering)
    assert_type(found.labels, Whole)
    assert_type(found.normalized_cut, float)
    assert_type(found.communities(), list[set[Hashable]])
    assert_type(found.as_dict(), dict[Hashable, int])
    assert_type(found.nodes, Sequence[Hashable])
    assert_type(found.conductance, Real)
    assert_type(found == found, bool)
    gc.cluster_anndata(object(), 3, key_added="cells", rng=1)
    gc.write_labels(path, found)
    assert_type(gc.report_page(found, title="A <title>"), str)
    gc.write_report(path, found, certainty=found.certainty(), path=gc.cluster_path(found.graph, [2, 3]), overwrite=True)
    gc.write_report(path, found.labels)  # type: ignore[arg-type]
    gc.read_labels(path)
    gc.coreset_sc(graph)
    gc.coreset_sc(graph, "3")  # type: ignore[arg-type]
    gc.coreset_sc(graph, 2.5)  # type: ignore[arg-type]
    gc.coreset_sc(graph, 3, n_clusters=3)  # type: ignore[call-arg]
    gc.coreset_sc(graph, 3, random_state=0)  # type: ignore[call-arg]
    gc.coreset_sc(graph, 3, rng="a")  # type: ignore[arg-type]
    gc.coreset_sc(graph, 3, progress=3)  # type: ignore[arg-type]
    gc.coreset_sc(graph, 3, weight=1.5)  # type: ignore[arg-type]
    gc.coreset_sc(3, 3)  # type: ignore[arg-type]
    gc.coreset_scc(graph, 3)  # type: ignore[attr-defined]
    gc.spectral_clustering(graph, 3, seed=1)  # type: ignore[call-arg]
    found.lables  # type: ignore[attr-defined]  # noqa: B018
    found.k = 4  # type: ignore[misc]
    return found


def every_k(graph: gc.Graph, found: gc.Clustering, file: Path) -> None:
    path = assert_type(gc.cluster_path(graph, range(2, 9), objective="modularity", rng=0), gc.ClusterPath)
    assert_type(path[3], gc.Clustering)
    assert_type(path.ks, tuple[int, ...])
    assert_type(path.table(), list[gc.PathRow])
    assert_type(path.table()[0].best_range, tuple[float, float])
    assert_type(path.tree(), Real)
    suggestion = assert_type(path.suggest(time_budget=60), gc.Suggestion)
    assert_type(path.clustering(3, time_budget=60, progress=True), gc.Clustering)
    assert_type(suggestion.k, int)
    assert_type(suggestion.runners_up, tuple[gc.SuggestedK, ...])
    sure = assert_type(gc.certainty(found, n_repeats=2, rng=0), gc.Certainty)
    assert_type(found.certainty().margins, Real)
    assert_type(sure.undecided, npt.NDArray[np.bool_])
    assert_type(found.predict({"new": [0, 1]}), Whole)
    model = assert_type(found.model(), gc.ClusterModel)
    model.save(file, overwrite=True)
    assert_type(gc.load_model(file), gc.ClusterModel | gc.HierarchyModel)
    assert_type(gc.coreset_quality(found, n_repeats=3), gc.CoresetQuality)
    gc.cluster_path(graph, 5)  # type: ignore[arg-type]
    gc.certainty(graph)  # type: ignore[arg-type]
    path["3"]  # type: ignore[index]


def quality(graph: gc.Graph, found: gc.Clustering) -> None:
    for labels in (found, found.labels, found.as_dict(), found.communities(), [0, 1], ["a", "b"]):
        assert_type(gc.normalized_cut(graph, labels), float)
    assert_type(gc.conductance(graph, found, weight=None), Real)
    assert_type(gc.edge_cut(graph, found), float)
    assert_type(gc.cluster_volumes(graph, found, weight="strength"), Real)
    assert_type(gc.modularity(graph, (part for part in found.communities()), resolution=2), float)
    assert_type(gc.kernel_k_means_cost(graph, found, shift=1.0), float)
    assert_type(gc.adjusted_rand_index(found, [0, 1]), float)
    assert_type(gc.normalized_mutual_information(found, {"a": 0}), float)
    assert_type(gc.adjusted_mutual_information(found, {"a": 0}, average="max"), float)
    assert_type(gc.element_centric_similarity(found, {"a": 0}), float)
    assert_type(gc.v_measure({"a": 0}, found, beta=2), float)
    assert_type(gc.variation_of_information(found, [0, 1]), float)
    gc.normalized_cut(graph)  # type: ignore[call-arg]
    gc.normalized_cut(graph, 3)  # type: ignore[arg-type]
    gc.modularity(graph, found, resolution="auto")  # type: ignore[arg-type]
    gc.cluster_volumes(graph, found, None)  # type: ignore[call-arg]
    gc.adjusted_rand_index(found)  # type: ignore[call-arg]


def refinement(graph: gc.Graph, found: gc.Clustering) -> None:
    assert_type(gc.merge_clusters(graph, 3), Whole)
    assert_type(gc.move_nodes(graph, found, weight=None, progress=listener), Whole)
    assert_type(gc.refine_partition(graph, found.labels, rng=None), Whole)
    assert_type(gc.quotient_graph(graph, found), gc.Graph)
    gc.merge_clusters(graph, [3])  # type: ignore[arg-type]
    gc.refine_partition(graph, found.labels, k=3)  # type: ignore[call-arg]
    gc.quotient_graph(graph, 1.0)  # type: ignore[arg-type]


def coresets(graph: gc.Graph) -> None:
    kernel = assert_type(gc.NormalizedCutKernel.of(graph, "implied", 0.5, weight=None), gc.NormalizedCutKernel)
    seeds = assert_type(gc.d2_seeding(kernel, 6, rng=0), gc.Seeds)
    gc.sampling_probabilities(kernel, seeds)
    coreset = assert_type(gc.importance_sample(kernel, seeds, 20, rng=0), gc.CoresetSample)
    assert_type(gc.construct_coreset(kernel, 3, 20), gc.CoresetSample)
    induced = gc.coreset_graph(kernel, coreset)
    labels = gc.cluster_coreset(induced, 3, coreset.weights)
    assert_type(gc.extend_labels(kernel, coreset, labels), gc.ExtendedLabels)
    assert_type(gc.two_step_coreset_graph(kernel, coreset), gc.Graph)
    gc.block_power_embedding(gc.two_step_factor(kernel, coreset), 3)
    gc.spectral_embedding(graph, 3, weight="strength")
    gc.fast_spectral_embedding(graph, 3, n_steps=10)
    gc.d2_seeding(graph, 6)  # type: ignore[arg-type]
    gc.construct_coreset(kernel, 3, coreset)  # type: ignore[arg-type]
    gc.extend_labels(kernel, coreset)  # type: ignore[call-arg]
    gc.spectral_embedding(graph, 3, degrees=3)  # type: ignore[arg-type]


def points(X: Real, graph: gc.Graph) -> None:
    result = assert_type(gc.kmeans(X, 3, sample_weight=[1.0, 2.0], rng=0), gc.KMeansResult)
    assert_type(result.inertia, float)
    for cluster in (gc.minibatch_kmeans, gc.nested_minibatch_kmeans, gc.spherical_kmeans):
        assert_type(cluster(X, 3), gc.KMeansResult)
    gc.kmeans_plusplus(X, 3, greedy=True)
    gc.kmeans_parallel(X, 3)
    gc.distance_seeding(X, 3, exponent=1.0)
    gc.nearest_centroids(X, X)
    gc.block_sums(X, X)
    gc.MiniBatch(X, rng=1).partial_fit(X)
    kernels = [
        gc.GaussianKernel(X, 1.0), gc.LaplacianKernel(X), gc.PolynomialKernel(X, 2), gc.CosineKernel(X),
        gc.DenseKernel(X), gc.SparseKernel(X), gc.GraphKernel(graph, weight=None), gc.HeatKernel(graph, 0.5),
        gc.nearest_neighbor_kernel(X, 5),
    ]  # fmt: skip
    for kernel in kernels:
        found = assert_type(gc.kernel_kmeans(kernel, 3, max_iter=10), gc.KernelKMeansResult)
        assert_type(found.centers, gc.KernelCenters)
    assert_type(gc.kernel_kmeans_plusplus(X, 3), gc.KernelSeeds)
    gc.minibatch_kernel_kmeans(X, 3)
    gc.truncated_kernel_kmeans(X, 3, tau=20)
    gc.coreset_kernel_kmeans(X, 3, coreset_size=10)
    gc.kmeans(X, "3")  # type: ignore[arg-type]
    gc.kmeans(X, 3, n_inits=2)  # type: ignore[call-arg]
    gc.kernel_kmeans(X, 3, kernel=1)  # type: ignore[arg-type]
    gc.coreset_kernel_kmeans(X, 3)  # type: ignore[call-arg]
    gc.HeatKernel(3)  # type: ignore[arg-type]


def at_a_resolution(G: Any) -> None:
    assert_type(gc.communities(G, resolution=0.5, effort="high", rng=0), gc.Clustering)
    assert_type(gc.communities(G, connectivity=lambda n: n**0.5, rng=0).min_cuts, Real)
    assert_type(gc.well_connected(G, [0, 1], connectivity="log10", leftover="alone").table(), list[gc.ClusterRow])
    gc.well_connected(G, [0, 1], leftover="gone")  # type: ignore[arg-type]
    slices = assert_type(gc.time_slices({2024: G, 2025: G}, 0.5, links="all"), gc.LayeredGraph)
    assert_type(gc.communities(slices, rng=0).by_slice(), dict[Hashable, dict[Hashable, int]])
    assert_type(
        gc.communities([G, G], layer_weights=[1, 2], resolution=[1, 0.5]).layer_modularity, dict[Hashable, float]
    )
    assert_type(gc.communities(G, kind="bipartite").row_labels, npt.NDArray[np.int64])
    gc.communities(G, kind="oriented")  # type: ignore[arg-type]
    gc.communities(G, resolution="1")  # type: ignore[arg-type]
    gc.communities(G, 3)  # type: ignore[call-arg, arg-type]
    found = gc.hierarchy(G, max_size=10, levels=3, rng=0)
    assert_type(found, gc.Hierarchy)
    assert_type(found.levels[0], Whole)
    assert_type(found.records(), list[gc.HierarchyRecord])
    assert_type(found.cut(3), gc.Clustering)
    assert_type(found.to_json(), str)
    assert_type(found.update(added=[(0, 1)], rng=1).changes, tuple[gc.ClusterChange, ...])
    assert_type(gc.communities(G).drift(rng=1), gc.Drift)
    assert_type(gc.communities(G).update(removed=[(0, 1)]), gc.Clustering)
    assert_type(gc.balanced_partition(G, 4, max_imbalance=0.1, rng=0), gc.Clustering)
    gc.remap_labels([0, 1], [1, 0], method="greedy")
    gc.hierarchy(G, 10)  # type: ignore[call-arg]
    gc.hierarchy(G, levels="3")  # type: ignore[arg-type]


def estimators(X: Real) -> None:
    models: list[Any] = [
        gc.CoresetSpectralClustering(3, objective="normalized_cut"), gc.SpectralClustering(3, gamma=0.5),
        gc.KernelKMeans(3, solver="truncated"), gc.KMeans(3, random_state=0), gc.MiniBatchKMeans(3),
        gc.NestedMiniBatchKMeans(3), gc.SphericalKMeans(3, mean="geodesic"), gc.GraphClustering(0.5, effort="low"),
    ]  # fmt: skip
    for model in models:
        model.fit(X)
    assert_type(gc.KMeans(3).predict(X), npt.NDArray[Any])
    assert_type(gc.KMeans(3).fit(X), gc.KMeans)
    assert_type(gc.SpectralClustering(3).fit(X), gc.SpectralClustering)
    assert_type(gc.GraphClustering().fit(X), gc.GraphClustering)
    gc.KMeans(3, k=2)  # type: ignore[call-arg]
    gc.SpectralClustering("3")  # type: ignore[arg-type]


def on_a_cluster(client: Any, path: Path, array: Any) -> gc.Clustering:
    assert_type(distributed.ingest_parquet([path], path, client=client, weight="w"), gc.Graph)
    assert_type(distributed.kmeans(array, 3, client=client, rng=0), gc.KMeansResult)
    distributed.coreset_sc(path, "3", client=client)  # type: ignore[arg-type]
    return distributed.coreset_sc(path, 3, client=client, labels_path=path, rng=0)


def failures() -> str:
    try:
        graphs(np.eye(2), Path())
    except (gc.GraphFormatError, gc.EditError, gc.GraphValidationError, gc.ParameterError) as problem:
        assert_type(isinstance(problem, gc.GraphClustError), bool)
    except (gc.UnsafeArchiveError, gc.IntegrityError, gc.DownloadError, gc.ResourceLimitError) as problem:
        assert_type(isinstance(problem, OSError), bool)
    except gc.ConvergenceError:
        raise
    except gc.Interrupted as stop:
        assert_type(isinstance(stop, KeyboardInterrupt), bool)
        assert_type(gc.coreset_sc(stop.best, 2, time_budget=1.5, progress=True), gc.Clustering)
    categories: list[type[Warning]] = [gc.GraphWarning, gc.ConvergenceWarning]
    categories.append(gc.GraphClustError)  # type: ignore[arg-type]
    return gc.__version__
