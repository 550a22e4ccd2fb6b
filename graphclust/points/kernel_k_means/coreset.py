"""Coreset kernel k-means: weighted kernel k-means on few sampled points, then the nearest center for all.

Jiang, Krauthgamer, Lou & Zhang (2024); the baseline of Jourdan et al. (2025), section 5.
"""

from dataclasses import replace
from math import ceil
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_choice, as_generator, as_number, as_whole_number
from graphclust.coreset.sampling import SECOND_TERMS, CoresetSample, Seeds, construct_coreset, importance_sample
from graphclust.errors import ParameterError
from graphclust.points.kernel_k_means.full_batch import KernelKMeansResult, Partition, iterate, label_points
from graphclust.points.kernel_k_means.matrix_kernels import GraphKernel, RestrictedKernel
from graphclust.points.kernel_k_means.seeding import as_weighted_kernel, draw_seeds, nearest_seeds, warn_if_fewer_points
from graphclust.progress import ProgressLike, as_progress

SAMPLINGS = ("naive", "tree")


def coreset_kernel_kmeans(
    K_or_X: Any,
    k: int,
    *,
    coreset_size: int,
    kernel: str = "gaussian",
    sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight",
    sampling: str = "naive",
    second_term: str = "voronoi",
    oversampling: float = 2.0,
    max_iter: int = 300,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KernelKMeansResult:
    """Cluster points into k parts in the feature space of a kernel, by a coreset of them.

    K_or_X, kernel, sample_weight, weight : see `kernel_kmeans`.
    coreset_size : draws, with repetition, >= k; with n or more, all points are the coreset.
    sampling : how ceil(oversampling k) seeds are drawn: "naive" by comparing every point with each, "tree" in time that
        grows with the seeds' degrees, for graphs without `sample_weight`.
    second_term : see `sampling_probabilities`.
    max_iter : of `kernel_kmeans` on the coreset.

    The labels are the nearest centers, the cost is for these centers and all points; `n_iter` and `history` are those
    of the coreset, and `cost_on_coreset` is its cost; `n_clipped` is of both drawings of seeds. A ConvergenceWarning
    where the coreset has fewer than k distinct points.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Jiang, Krauthgamer, Lou & Zhang 2024, "Coresets for kernel clustering"; Jourdan et al. 2025, section 5.

    >>> points = np.repeat([[0.0], [1.0], [10.0], [11.0]], 25, axis=0)
    >>> result = coreset_kernel_kmeans(points, 2, coreset_size=40, kernel="linear", rng=1)
    >>> bool(result.labels[0] == result.labels[25] != result.labels[50])
    True
    """
    rng, progress = as_generator(rng), as_progress(progress)
    kernel_, k, weights = as_weighted_kernel(K_or_X, k, kernel, sample_weight, weight)
    size = as_whole_number(coreset_size, "coreset_size", at_least=k, why=": one point a cluster")
    oversampling = as_number(oversampling, "oversampling", above=0.0)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    as_choice(sampling, "sampling", SAMPLINGS)
    as_choice(second_term, "second_term", SECOND_TERMS)
    if sampling == "tree":
        if not isinstance(kernel_, GraphKernel) or sample_weight is not None:
            raise ParameterError('sampling="tree" needs a graph and its own weights, expected sampling="naive"')
        coreset = construct_coreset(
            kernel_.normalized, k, size, oversampling=oversampling, second_term=second_term, rng=rng, progress=progress
        )
    else:
        # Seeds are drawn one after the other, in O(n) kernel entries each.
        points = np.flatnonzero(weights > 0.0)
        coreset = CoresetSample(points, weights[points])
        if len(points) > size:
            with progress.stage("D²-sampling"):
                drawn = draw_seeds(kernel_, weights, min(ceil(oversampling * k), kernel_.n), rng, progress)
            seeds = Seeds(drawn.rows, drawn.sq_distances, drawn.nearest, 0, 0)
            points_alone: Any = SimpleNamespace(point_weights=weights, n_nodes=len(weights))  # all that sampling needs
            coreset = importance_sample(points_alone, seeds, size, second_term=second_term, rng=rng)
            coreset = replace(coreset, n_clipped=drawn.n_clipped)
    small = RestrictedKernel(kernel_, coreset.nodes)
    n_clusters = min(k, len(coreset.nodes))
    drawn = draw_seeds(small, coreset.weights, n_clusters, rng, progress)
    labels = nearest_seeds(small, drawn.rows)
    with progress.within(None):  # these are labels of the coreset
        partition = Partition(small, coreset.weights, labels, n_clusters, 0.0)
        of_coreset = iterate(partition, max_iter, True, progress)
    n_clipped = coreset.n_clipped + drawn.n_clipped
    centers = of_coreset.centers
    warn_if_fewer_points(int(np.isfinite(centers.sq_norms).sum()), k, n_clipped)
    centers = replace(centers, kernel=kernel_, rows=coreset.nodes[centers.rows])
    with progress.stage("labels"):
        nearest = centers.assign(progress)
    return label_points(centers, *nearest, weights, of_coreset.history.tolist(), n_clipped, of_coreset.cost)
