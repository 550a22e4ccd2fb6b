"""How good the coreset of a clustering by the published algorithm is."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_whole_number, check_type
from graphclust.coreset.diagnostics import CoresetQuality, compare_coresets
from graphclust.coreset.induced_coreset_graph import coreset_graph
from graphclust.coreset.options import Coreset
from graphclust.coreset.paper import partition_by_paper
from graphclust.coreset.sampling import CoresetSample
from graphclust.errors import ConvergenceWarning, GraphWarning, ParameterError
from graphclust.objective.cuts import cut_and_volume
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.progress import ProgressLike, as_progress
from graphclust.results.clustering import Clustering

__all__ = ["coreset_quality"]


def coreset_quality(
    clustering: Clustering, *, n_repeats: int = 5, rng: Seed = None, progress: ProgressLike = None
) -> CoresetQuality:
    """What the size of the coreset did to a clustering by `coreset_sc(..., method="paper")`, and if more would help.

    n_repeats : coresets that are drawn and clustered, of the size that was used, and of larger ones; >= 2.
    rng : None, a seed or a numpy Generator; progress : see `Progress`.

    Returns a `CoresetQuality`, a plain sentence as text. The cost is the normalized cut, implied loops counted: on the
    coreset that of its own graph and labels.

    Raises TypeError for no Clustering, ParameterError for one by another method and an impossible n_repeats.

    >>> from graphclust import Coreset, coreset_sc, planted_partition
    >>> graph, _ = planted_partition(3, 100, 30, 2, rng=0)
    >>> quality = coreset_quality(coreset_sc(graph, 3, method="paper", coreset=Coreset(size=150), rng=0), rng=0)
    >>> quality.size, quality.larger_helps
    (150, False)
    """
    check_type(clustering, Clustering, "clustering", 'coreset_sc(G, k, method="paper") returns one')
    if (method := clustering.parameters.get("method")) != "paper":
        raise ParameterError(f"clustering was made by method {method!r}, expected 'paper', whose coreset decides")
    how = Coreset(**clustering.parameters["coreset"])
    assert how.draws is not None
    n_repeats = as_whole_number(n_repeats, "n_repeats", at_least=2)
    rng, progress = as_generator(rng), as_progress(progress)
    kernel = NormalizedCutKernel.of(clustering.graph, how.loops, how.shift)

    def cluster(size: int) -> tuple[npt.NDArray[np.int64], float, float]:
        """Labels from a coreset of this size, with the cost on the coreset and on all nodes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)  # what they warn of is what is asked here
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = partition_by_paper(kernel, clustering.k, size, how, rng, progress)
        assert found.coreset is not None and found.coreset_labels is not None
        return (
            found.labels,
            cost_on_coreset(kernel, found.coreset, found.coreset_labels),
            cost_on_all(kernel, found.labels),
        )

    with progress.within(None):
        return compare_coresets(cluster, how.draws, len(kernel.points), n_repeats)


def cost_on_all(kernel: NormalizedCutKernel, labels: npt.NDArray[np.int64]) -> float:
    """The normalized cut of labels, -1 for none, where the implied loops are part of the volumes."""
    k = int(labels.max()) + 1
    cut = cut_and_volume(kernel.graph, labels, k)[0]
    volume = np.bincount(labels[labels >= 0], weights=kernel.degrees[labels >= 0], minlength=k)
    return float((cut[volume > 0.0] / volume[volume > 0.0]).sum())


def cost_on_coreset(kernel: NormalizedCutKernel, coreset: CoresetSample, labels: npt.NDArray[np.int64]) -> float:
    """The same of a coreset, from its own graph: its clusters, less the shares of their weights' links inside."""
    induced = coreset_graph(kernel, coreset)
    volume = np.bincount(labels, weights=coreset.weights)
    rows = np.repeat(labels, np.diff(induced.indptr))
    within = rows == labels[induced.indices]
    inside = np.bincount(rows[within], weights=induced.data[within], minlength=len(volume))
    return float(np.count_nonzero(volume) - (inside[volume > 0.0] / volume[volume > 0.0]).sum())
