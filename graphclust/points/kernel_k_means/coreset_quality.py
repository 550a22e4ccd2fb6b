"""How good the coresets of kernel k-means are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_whole_number
from graphclust.coreset.diagnostics import CoresetQuality, compare_coresets
from graphclust.errors import ConvergenceWarning
from graphclust.points.kernel_k_means.choice import as_kernel
from graphclust.points.kernel_k_means.coreset import coreset_kernel_kmeans
from graphclust.progress import ProgressLike, as_progress

__all__ = ["kernel_coreset_quality"]


def kernel_coreset_quality(
    K_or_X: Any,
    k: int,
    *,
    coreset_size: int,
    n_repeats: int = 5,
    kernel: str = "gaussian",
    sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight",
    sampling: str = "naive",
    second_term: str = "voronoi",
    oversampling: float = 2.0,
    max_iter: int = 300,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> CoresetQuality:
    """What a coreset of some size does to kernel k-means, and whether a larger one would help.

    n_repeats : coresets that are drawn and clustered, of this size, and of larger ones; >= 2.
    The rest as in `coreset_kernel_kmeans`.

    Returns a `CoresetQuality`, a plain sentence as text; the cost is that of `KernelKMeansResult`.

    Raises what `coreset_kernel_kmeans` raises, and ParameterError for an impossible n_repeats.

    >>> points = np.repeat([[0.0], [1.0], [10.0], [11.0]], 25, axis=0)
    >>> quality = kernel_coreset_quality(points, 2, coreset_size=100, kernel="linear", rng=1)
    >>> quality.larger_helps, quality.larger_size  # all points are the coreset already
    (False, 100)
    """
    n_repeats = as_whole_number(n_repeats, "n_repeats", at_least=2)
    rng, progress = as_generator(rng), as_progress(progress)

    def cluster(size: int) -> tuple[npt.NDArray[np.int64], float, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = coreset_kernel_kmeans(
                K_or_X, k, coreset_size=size, kernel=kernel, sample_weight=sample_weight, weight=weight,
                sampling=sampling, second_term=second_term, oversampling=oversampling, max_iter=max_iter, rng=rng,
                progress=progress,
            )  # fmt: skip
        assert found.cost_on_coreset is not None
        return found.labels, found.cost_on_coreset, found.cost

    size = as_whole_number(coreset_size, "coreset_size", at_least=1)
    return compare_coresets(cluster, size, as_kernel(K_or_X, kernel, sample_weight, weight).n, n_repeats)
