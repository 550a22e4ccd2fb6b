"""Cluster large sparse graphs into exactly k parts: the clusters that people recognize, or the smallest cuts.

A graph G is one of NetworkX or igraph, a SciPy matrix, a table or list of edges, or the path of a file; see `as_graph`.

    coreset_sc(G, k)             exactly k clusters; with objective="normalized_cut" the smallest cuts
    communities(G)               as many as a resolution makes; with min_size=, max_size= within bounds
    balanced_partition(G, k)     k parts of equal size with the smallest edge cut
    well_connected(G, labels)    clusters of any origin, parted until no few edges part them; communities has it too
    hierarchy(G, max_size=10)    nested levels
    cluster_path(G)              every number of clusters at once; `.suggest()` says which the graph shows
    knn_graph(X), kmeans(X, k), kernel_kmeans(X, k)     points
    cluster_anndata(adata)       single cells
    load_graph(path), graph_from_table(table, source, target, weight)     a graph of a file, or of a table
    write_labels(path, clustering), write_report(path, clustering)        files of the result
    adjusted_rand_index(a, b), normalized_cut(G, labels), edge_cut(G, labels)    agreement and quality of any labels
    d2_seeding, construct_coreset, coreset_graph, extend_labels           the steps of coreset spectral clustering

`help(graphclust.coreset_sc)` tells of each; `rng=` is the seed everywhere, in estimators it is `random_state=`.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that defines it; imported on first use, so that `import graphclust` is quick.
_HOME = {
    "Clustering": "results.clustering",
    "ClusterRow": "results.cluster_table",
    "NormalizedCutKernel": "objective.kernel",
    "coreset_sc": "partition.coreset_sc",
    "communities": "partition.communities",
    "Hierarchy": "results.hierarchy",
    "HierarchyModel": "results.hierarchy_model",
    "HierarchyRecord": "results.hierarchy",
    "hierarchy": "partition.hierarchy",
    "balanced_partition": "partition.balanced_partition",
    "well_connected": "partition.well_connected",
    "estimate_memory": "partition.memory_estimate",
    "cluster_coreset": "coreset.paper",
    "coreset_graph": "coreset.induced_coreset_graph",
    "extend_labels": "coreset.label_extension",
    "ExtendedLabels": "coreset.label_extension",
    "Coreset": "coreset.sampling",
    "construct_coreset": "coreset.sampling",
    "importance_sample": "coreset.sampling",
    "sampling_probabilities": "coreset.sampling",
    "ClusterPath": "profile.path",
    "PathRow": "profile.path",
    "cluster_path": "profile.path_builder",
    "CoresetQuality": "coreset.diagnostics",
    "coreset_quality": "results.coreset_quality",
    "kernel_coreset_quality": "points.kernel_k_means.coreset_quality",
    "Certainty": "results.confidence",
    "certainty": "results.confidence",
    "ClusterModel": "results.prediction",
    "load_model": "results.model_io",
    "SuggestedK": "profile.select_k",
    "Suggestion": "profile.select_k",
    "ClusterChange": "results.label_matching",
    "remap_labels": "results.label_matching",
    "merge_clusters": "engine.agglomeration",
    "move_nodes": "engine.refinement",
    "multilevel_partition": "engine.multilevel",
    "refine_partition": "engine.refinement",
    "quotient_graph": "results.quotient",
    "two_step_coreset_graph": "two_step.shared_neighbors",
    "two_step_factor": "two_step.shared_neighbors",
    "block_power_embedding": "spectral.block_power",
    "Seeds": "coreset.seeding",
    "d2_seeding": "coreset.seeding",
    "spectral_embedding": "spectral.embedding",
    "fast_spectral_embedding": "spectral.embedding",
    "spectral_clustering": "spectral.whole_graph",
    "fast_spectral_clustering": "spectral.whole_graph",
    "Graph": "graph.container",
    "as_graph": "io.graph_input",
    "LoadInfo": "io.load",
    "classic_graph": "io.formats.toy_graphs",
    "cluster_anndata": "interop.single_cell",
    "graph_facts": "faces.describe",
    "report_page": "faces.html.document",
    "write_report": "faces.html.document",
    "read_labels": "results.label_files",
    "convert_to_store": "io.store.convert",
    "open_store": "io.store.store",
    "save_graph": "io.save",
    "save_store": "io.store.store",
    "write_labels": "results.label_files",
    "graph_from_table": "io.tables",
    "load_graph": "io.load",
    "graph_from_neighbors": "points.neighbors.graphs",
    "knn_graph": "points.neighbors.graphs",
    "nearest_neighbors": "points.neighbors.search",
    "Progress": "progress",
    "limit_threads": "threads",
    "Communities": "io.formats.communities",
    "DatasetInfo": "datasets.resolve",
    "fetch_snap": "datasets.snap",
    "fetch_suitesparse": "datasets.suitesparse",
    "PlantedGraph": "generators.planted_graphs",
    "lfr_like": "generators.planted_graphs",
    "planted_partition": "generators.planted_graphs",
    "planted_store": "generators.planted_stores",
    "stochastic_block_model": "generators.planted_graphs",
    "adjusted_mutual_information": "objective.agreement",
    "adjusted_rand_index": "objective.agreement",
    "element_centric_similarity": "objective.agreement",
    "v_measure": "objective.agreement",
    "variation_of_information": "objective.agreement",
    "conductance": "objective.cuts",
    "edge_cut": "objective.cuts",
    "kernel_k_means_cost": "objective.cuts",
    "modularity": "objective.cuts",
    "normalized_cut": "objective.cuts",
    "normalized_mutual_information": "objective.agreement",
    "cluster_volumes": "objective.cuts",
    "ConvergenceError": "errors",
    "ConvergenceWarning": "errors",
    "DownloadError": "errors",
    "EditError": "errors",
    "GraphClustError": "errors",
    "GraphFormatError": "errors",
    "GraphValidationError": "errors",
    "GraphWarning": "errors",
    "IntegrityError": "errors",
    "Interrupted": "errors",
    "ParameterError": "errors",
    "ResourceLimitError": "errors",
    "UnsafeArchiveError": "errors",
    "CosineKernel": "points.kernel_k_means.point_kernels",
    "GaussianKernel": "points.kernel_k_means.point_kernels",
    "LaplacianKernel": "points.kernel_k_means.point_kernels",
    "PolynomialKernel": "points.kernel_k_means.point_kernels",
    "DenseKernel": "points.kernel_k_means.matrix_kernels",
    "GraphKernel": "points.kernel_k_means.matrix_kernels",
    "HeatKernel": "points.kernel_k_means.matrix_kernels",
    "SparseKernel": "points.kernel_k_means.matrix_kernels",
    "nearest_neighbor_kernel": "points.kernel_k_means.matrix_kernels",
    "KernelCenters": "points.kernel_k_means.centers",
    "KernelKMeansResult": "points.kernel_k_means.centers",
    "KernelSeeds": "points.kernel_k_means.seeding",
    "kernel_kmeans_plusplus": "points.kernel_k_means.seeding",
    "kernel_kmeans": "points.kernel_k_means.full_batch",
    "minibatch_kernel_kmeans": "points.kernel_k_means.minibatch",
    "truncated_kernel_kmeans": "points.kernel_k_means.truncated",
    "coreset_kernel_kmeans": "points.kernel_k_means.coreset",
    "KMeansResult": "points.k_means.lloyd_iteration",
    "MiniBatch": "points.k_means.minibatch",
    "block_sums": "points.k_means.blocks",
    "minibatch_kmeans": "points.k_means.minibatch",
    "nearest_centroids": "points.k_means.blocks",
    "nested_minibatch_kmeans": "points.k_means.nested_minibatch",
    "kmeans_parallel": "points.k_means.parallel_seeding",
    "spherical_kmeans": "points.k_means.spherical",
    "distance_seeding": "points.k_means.seeding",
    "kmeans": "points.k_means.lloyd",
    "kmeans_plusplus": "points.k_means.seeding",
}
# The same with scikit-learn's conventions, for which it has to be there.
_ESTIMATORS = {
    "CoresetSpectralClustering": "estimators.spectral_clustering",
    "GraphClustering": "estimators.graph_clustering",
    "KMeans": "estimators.k_means",
    "KernelKMeans": "estimators.kernel_k_means",
    "MiniBatchKMeans": "estimators.minibatch_k_means",
    "NestedMiniBatchKMeans": "estimators.nested_minibatch_k_means",
    "SpectralClustering": "estimators.spectral_clustering",
    "SphericalKMeans": "estimators.spherical_k_means",
}
_HOME |= _ESTIMATORS

if TYPE_CHECKING:  # the same names for type checkers, to which what is imported on first use is nothing
    from graphclust.coreset.diagnostics import CoresetQuality as CoresetQuality
    from graphclust.coreset.induced_coreset_graph import coreset_graph as coreset_graph
    from graphclust.coreset.label_extension import ExtendedLabels as ExtendedLabels
    from graphclust.coreset.label_extension import extend_labels as extend_labels
    from graphclust.coreset.paper import cluster_coreset as cluster_coreset
    from graphclust.coreset.sampling import Coreset as Coreset
    from graphclust.coreset.sampling import construct_coreset as construct_coreset
    from graphclust.coreset.sampling import importance_sample as importance_sample
    from graphclust.coreset.sampling import sampling_probabilities as sampling_probabilities
    from graphclust.coreset.seeding import Seeds as Seeds
    from graphclust.coreset.seeding import d2_seeding as d2_seeding
    from graphclust.datasets.resolve import DatasetInfo as DatasetInfo
    from graphclust.datasets.snap import fetch_snap as fetch_snap
    from graphclust.datasets.suitesparse import fetch_suitesparse as fetch_suitesparse
    from graphclust.engine.agglomeration import merge_clusters as merge_clusters
    from graphclust.engine.multilevel import multilevel_partition as multilevel_partition
    from graphclust.engine.refinement import move_nodes as move_nodes
    from graphclust.engine.refinement import refine_partition as refine_partition
    from graphclust.errors import ConvergenceError as ConvergenceError
    from graphclust.errors import ConvergenceWarning as ConvergenceWarning
    from graphclust.errors import DownloadError as DownloadError
    from graphclust.errors import EditError as EditError
    from graphclust.errors import GraphClustError as GraphClustError
    from graphclust.errors import GraphFormatError as GraphFormatError
    from graphclust.errors import GraphValidationError as GraphValidationError
    from graphclust.errors import GraphWarning as GraphWarning
    from graphclust.errors import IntegrityError as IntegrityError
    from graphclust.errors import Interrupted as Interrupted
    from graphclust.errors import ParameterError as ParameterError
    from graphclust.errors import ResourceLimitError as ResourceLimitError
    from graphclust.errors import UnsafeArchiveError as UnsafeArchiveError
    from graphclust.estimators.graph_clustering import GraphClustering as GraphClustering
    from graphclust.estimators.k_means import KMeans as KMeans
    from graphclust.estimators.kernel_k_means import KernelKMeans as KernelKMeans
    from graphclust.estimators.minibatch_k_means import MiniBatchKMeans as MiniBatchKMeans
    from graphclust.estimators.nested_minibatch_k_means import NestedMiniBatchKMeans as NestedMiniBatchKMeans
    from graphclust.estimators.spectral_clustering import CoresetSpectralClustering as CoresetSpectralClustering
    from graphclust.estimators.spectral_clustering import SpectralClustering as SpectralClustering
    from graphclust.estimators.spherical_k_means import SphericalKMeans as SphericalKMeans
    from graphclust.faces.describe import graph_facts as graph_facts
    from graphclust.faces.html.document import report_page as report_page
    from graphclust.faces.html.document import write_report as write_report
    from graphclust.generators.planted_graphs import PlantedGraph as PlantedGraph
    from graphclust.generators.planted_graphs import lfr_like as lfr_like
    from graphclust.generators.planted_graphs import planted_partition as planted_partition
    from graphclust.generators.planted_graphs import stochastic_block_model as stochastic_block_model
    from graphclust.generators.planted_stores import planted_store as planted_store
    from graphclust.graph.container import Graph as Graph
    from graphclust.interop.single_cell import cluster_anndata as cluster_anndata
    from graphclust.io.formats.communities import Communities as Communities
    from graphclust.io.formats.toy_graphs import classic_graph as classic_graph
    from graphclust.io.graph_input import as_graph as as_graph
    from graphclust.io.load import LoadInfo as LoadInfo
    from graphclust.io.load import load_graph as load_graph
    from graphclust.io.save import save_graph as save_graph
    from graphclust.io.store.convert import convert_to_store as convert_to_store
    from graphclust.io.store.store import open_store as open_store
    from graphclust.io.store.store import save_store as save_store
    from graphclust.io.tables import graph_from_table as graph_from_table
    from graphclust.objective.agreement import adjusted_mutual_information as adjusted_mutual_information
    from graphclust.objective.agreement import adjusted_rand_index as adjusted_rand_index
    from graphclust.objective.agreement import element_centric_similarity as element_centric_similarity
    from graphclust.objective.agreement import normalized_mutual_information as normalized_mutual_information
    from graphclust.objective.agreement import v_measure as v_measure
    from graphclust.objective.agreement import variation_of_information as variation_of_information
    from graphclust.objective.cuts import cluster_volumes as cluster_volumes
    from graphclust.objective.cuts import conductance as conductance
    from graphclust.objective.cuts import edge_cut as edge_cut
    from graphclust.objective.cuts import kernel_k_means_cost as kernel_k_means_cost
    from graphclust.objective.cuts import modularity as modularity
    from graphclust.objective.cuts import normalized_cut as normalized_cut
    from graphclust.objective.kernel import NormalizedCutKernel as NormalizedCutKernel
    from graphclust.partition.balanced_partition import balanced_partition as balanced_partition
    from graphclust.partition.communities import communities as communities
    from graphclust.partition.coreset_sc import coreset_sc as coreset_sc
    from graphclust.partition.hierarchy import hierarchy as hierarchy
    from graphclust.partition.memory_estimate import estimate_memory as estimate_memory
    from graphclust.partition.well_connected import well_connected as well_connected
    from graphclust.points.k_means.blocks import block_sums as block_sums
    from graphclust.points.k_means.blocks import nearest_centroids as nearest_centroids
    from graphclust.points.k_means.lloyd import kmeans as kmeans
    from graphclust.points.k_means.lloyd_iteration import KMeansResult as KMeansResult
    from graphclust.points.k_means.minibatch import MiniBatch as MiniBatch
    from graphclust.points.k_means.minibatch import minibatch_kmeans as minibatch_kmeans
    from graphclust.points.k_means.nested_minibatch import nested_minibatch_kmeans as nested_minibatch_kmeans
    from graphclust.points.k_means.parallel_seeding import kmeans_parallel as kmeans_parallel
    from graphclust.points.k_means.seeding import distance_seeding as distance_seeding
    from graphclust.points.k_means.seeding import kmeans_plusplus as kmeans_plusplus
    from graphclust.points.k_means.spherical import spherical_kmeans as spherical_kmeans
    from graphclust.points.kernel_k_means.centers import KernelCenters as KernelCenters
    from graphclust.points.kernel_k_means.centers import KernelKMeansResult as KernelKMeansResult
    from graphclust.points.kernel_k_means.coreset import coreset_kernel_kmeans as coreset_kernel_kmeans
    from graphclust.points.kernel_k_means.coreset_quality import kernel_coreset_quality as kernel_coreset_quality
    from graphclust.points.kernel_k_means.full_batch import kernel_kmeans as kernel_kmeans
    from graphclust.points.kernel_k_means.matrix_kernels import DenseKernel as DenseKernel
    from graphclust.points.kernel_k_means.matrix_kernels import GraphKernel as GraphKernel
    from graphclust.points.kernel_k_means.matrix_kernels import HeatKernel as HeatKernel
    from graphclust.points.kernel_k_means.matrix_kernels import SparseKernel as SparseKernel
    from graphclust.points.kernel_k_means.matrix_kernels import nearest_neighbor_kernel as nearest_neighbor_kernel
    from graphclust.points.kernel_k_means.minibatch import minibatch_kernel_kmeans as minibatch_kernel_kmeans
    from graphclust.points.kernel_k_means.point_kernels import CosineKernel as CosineKernel
    from graphclust.points.kernel_k_means.point_kernels import GaussianKernel as GaussianKernel
    from graphclust.points.kernel_k_means.point_kernels import LaplacianKernel as LaplacianKernel
    from graphclust.points.kernel_k_means.point_kernels import PolynomialKernel as PolynomialKernel
    from graphclust.points.kernel_k_means.seeding import KernelSeeds as KernelSeeds
    from graphclust.points.kernel_k_means.seeding import kernel_kmeans_plusplus as kernel_kmeans_plusplus
    from graphclust.points.kernel_k_means.truncated import truncated_kernel_kmeans as truncated_kernel_kmeans
    from graphclust.points.neighbors.graphs import graph_from_neighbors as graph_from_neighbors
    from graphclust.points.neighbors.graphs import knn_graph as knn_graph
    from graphclust.points.neighbors.search import nearest_neighbors as nearest_neighbors
    from graphclust.profile.path import ClusterPath as ClusterPath
    from graphclust.profile.path import PathRow as PathRow
    from graphclust.profile.path_builder import cluster_path as cluster_path
    from graphclust.profile.select_k import SuggestedK as SuggestedK
    from graphclust.profile.select_k import Suggestion as Suggestion
    from graphclust.progress import Progress as Progress
    from graphclust.results.cluster_table import ClusterRow as ClusterRow
    from graphclust.results.clustering import Clustering as Clustering
    from graphclust.results.confidence import Certainty as Certainty
    from graphclust.results.confidence import certainty as certainty
    from graphclust.results.coreset_quality import coreset_quality as coreset_quality
    from graphclust.results.hierarchy import Hierarchy as Hierarchy
    from graphclust.results.hierarchy import HierarchyRecord as HierarchyRecord
    from graphclust.results.hierarchy_model import HierarchyModel as HierarchyModel
    from graphclust.results.label_files import read_labels as read_labels
    from graphclust.results.label_files import write_labels as write_labels
    from graphclust.results.label_matching import ClusterChange as ClusterChange
    from graphclust.results.label_matching import remap_labels as remap_labels
    from graphclust.results.model_io import load_model as load_model
    from graphclust.results.prediction import ClusterModel as ClusterModel
    from graphclust.results.quotient import quotient_graph as quotient_graph
    from graphclust.spectral.block_power import block_power_embedding as block_power_embedding
    from graphclust.spectral.embedding import fast_spectral_embedding as fast_spectral_embedding
    from graphclust.spectral.embedding import spectral_embedding as spectral_embedding
    from graphclust.spectral.whole_graph import fast_spectral_clustering as fast_spectral_clustering
    from graphclust.spectral.whole_graph import spectral_clustering as spectral_clustering
    from graphclust.threads import limit_threads as limit_threads
    from graphclust.two_step.shared_neighbors import two_step_coreset_graph as two_step_coreset_graph
    from graphclust.two_step.shared_neighbors import two_step_factor as two_step_factor

# `from graphclust import *` takes what can be had.
_there = [name for name in _HOME if name not in _ESTIMATORS or importlib.util.find_spec("sklearn") is not None]
__all__ = sorted([*_there, "__version__"])


# So that `graphclust.datasets.find` and the like need no import of their own.
_MODULES = {"datasets": "datasets", "distributed": "distributed", "nx": "nx", "plots": "faces.plots"}

if not TYPE_CHECKING:  # a checker that saw it would take any name for granted

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f"graphclust.{_MODULES[name]}")
        if name not in _HOME:
            raise AttributeError(f"module 'graphclust' has no attribute {name!r}")
        module = importlib.import_module(f"graphclust.{_HOME[name]}")
        value = globals()[name] = _with_hints(module, name)
        return value


def _with_hints(module: Any, name: str) -> Any:
    """The thing of this name; if it takes an rng or a k, it is made to tell who calls them otherwise.

    It replaces the one in its module, so that it can be pickled by its name.
    """
    from inspect import signature
    from types import FunctionType

    from graphclust.argument_names import OTHER_NAMES, with_hints

    value = getattr(module, name)
    if isinstance(value, FunctionType):
        owner, attribute, function = module, name, value
    elif isinstance(value, type) and isinstance(vars(value).get("__init__"), FunctionType):
        owner, attribute, function = value, "__init__", vars(value)["__init__"]
    else:
        return value
    if OTHER_NAMES.keys() & signature(function).parameters.keys() and not hasattr(function, "__wrapped__"):
        setattr(owner, attribute, with_hints(function))
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__]
