"""Cluster large sparse graphs into k parts by normalised cut, from a small coreset of nodes."""

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it; imported on first use, so that `import graphclust` is quick.
_HOME = {
    "Clustering": "partition.clustering",
    "NormalizedCutKernel": "graph.kernel",
    "coreset_sc": "partition.pipeline",
    "cluster_coreset": "coreset.published",
    "coreset_graph": "coreset.induced_graph",
    "extend_labels": "coreset.label_extension",
    "ExtendedLabels": "coreset.label_extension",
    "Coreset": "coreset.sampling",
    "construct_coreset": "coreset.sampling",
    "importance_sample": "coreset.sampling",
    "sampling_probabilities": "coreset.sampling",
    "merge_clusters": "partition.merging",
    "move_nodes": "partition.moves",
    "multilevel_partition": "partition.multilevel",
    "refine_partition": "partition.multilevel",
    "quotient_graph": "partition.quotient",
    "two_step_coreset_graph": "coreset.two_step",
    "two_step_factor": "coreset.two_step",
    "block_power_embedding": "spectral.block_power",
    "Seeds": "coreset.seeding",
    "d2_seeding": "coreset.seeding",
    "spectral_embedding": "spectral.embedding",
    "fast_spectral_embedding": "spectral.embedding",
    "spectral_clustering": "spectral.whole_graph",
    "fast_spectral_clustering": "spectral.whole_graph",
    "Graph": "graph.container",
    "as_graph": "graph.gate",
    "LoadInfo": "io.load",
    "classic_graph": "io.classics",
    "describe": "faces.describe",
    "read_labels": "partition.label_files",
    "save_graph": "io.save",
    "write_labels": "partition.label_files",
    "load_graph": "io.load",
    "knn_graph": "neighbors",
    "nearest_neighbors": "neighbors",
    "Progress": "progress",
    "PlantedGraph": "generators",
    "lfr_like": "generators",
    "planted_partition": "generators",
    "stochastic_block_model": "generators",
    "adjusted_rand_index": "objective.agreement",
    "conductance": "objective.cuts",
    "kernel_k_means_cost": "objective.cuts",
    "modularity": "objective.cuts",
    "normalized_cut": "objective.cuts",
    "normalized_mutual_information": "objective.agreement",
    "volume": "objective.cuts",
    "ConvergenceError": "errors",
    "ConvergenceWarning": "errors",
    "GraphClustError": "errors",
    "GraphFormatError": "errors",
    "GraphValidationError": "errors",
    "GraphWarning": "errors",
    "ParameterError": "errors",
    "ResourceLimitError": "errors",
    "CosineKernel": "kernel_k_means.point_kernels",
    "GaussianKernel": "kernel_k_means.point_kernels",
    "LaplacianKernel": "kernel_k_means.point_kernels",
    "PolynomialKernel": "kernel_k_means.point_kernels",
    "DenseKernel": "kernel_k_means.matrix_kernels",
    "GraphKernel": "kernel_k_means.matrix_kernels",
    "HeatKernel": "kernel_k_means.matrix_kernels",
    "SparseKernel": "kernel_k_means.matrix_kernels",
    "nearest_neighbor_kernel": "kernel_k_means.matrix_kernels",
    "KernelCenters": "kernel_k_means.centers",
    "KernelKMeansResult": "kernel_k_means.centers",
    "KernelSeeds": "kernel_k_means.seeding",
    "kernel_kmeans_plusplus": "kernel_k_means.seeding",
    "kernel_kmeans": "kernel_k_means.full_batch",
    "minibatch_kernel_kmeans": "kernel_k_means.minibatch",
    "truncated_kernel_kmeans": "kernel_k_means.truncated",
    "coreset_kernel_kmeans": "kernel_k_means.coreset",
    "KMeansResult": "k_means.iteration",
    "MiniBatch": "k_means.minibatch",
    "block_sums": "k_means.blocks",
    "minibatch_kmeans": "k_means.minibatch",
    "nearest_centroids": "k_means.blocks",
    "nested_minibatch_kmeans": "k_means.nested_minibatch",
    "kmeans_parallel": "k_means.parallel_seeding",
    "spherical_kmeans": "k_means.spherical",
    "distance_seeding": "k_means.seeding",
    "kmeans": "k_means.lloyd",
    "kmeans_plusplus": "k_means.seeding",
}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graphclust' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"graphclust.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]
