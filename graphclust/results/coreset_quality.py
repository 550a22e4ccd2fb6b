"""How good the coreset of a clustering by the published algorithm is, by others of its size and by larger ones."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_whole_number, check_type
from graphclust.coreset.label_extension import coreset_graph
from graphclust.coreset.options import Coreset
from graphclust.coreset.paper import partition_by_paper
from graphclust.coreset.sampling import CoresetSample
from graphclust.errors import ConvergenceWarning, GraphWarning, ParameterError
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import cut_and_volume
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.progress import ProgressLike, as_progress
from graphclust.results.clustering import Clustering

LARGER = (2, 8)  # times as large; if a coreset is too small to show any clusters, one twice as large may be too
# A gain of less than a hundredth of the cost is not worth the time. Of five and five equal coresets, 21 of 25 pairs are
# in the right order by chance in one case of 20 (Mann & Whitney 1947). Costs have heavy tails, so that standard errors
# say little.
WORTHWHILE, IN_ORDER = 0.01, 0.84
SAME = 0.9  # agreement of coresets of one size, above which only the first larger size is tried


@dataclass(frozen=True, eq=False)
class CoresetQuality:
    """What clusterings of several coresets of one size cost, on the coreset and on all points.

    size : draws of a coreset.
    cost_on_coreset, cost_on_all : means over the coresets. A partition fits the coreset on which it was found better
        than all points, so the first is smaller; if they are far apart, the coreset is too small.
    costs, costs_of_larger : float64, shape (n_repeats,), on all points, of coresets of this and of the larger size.
    larger_size : draws of the larger ones: twice as many, or eight times where that does not help either.
    agreement : mean adjusted Rand index of two clusterings of different coresets of this size.
    larger_helps : whether the larger size lowers the mean cost on all by a hundredth, and the cost of nearly each.
    """

    size: int
    cost_on_coreset: float
    cost_on_all: float
    costs: npt.NDArray[np.float64]
    larger_size: int
    costs_of_larger: npt.NDArray[np.float64]
    agreement: float
    larger_helps: bool

    @property
    def spread(self) -> float:
        """Standard deviation of `costs`, as a share of their mean."""
        mean = abs(float(self.costs.mean()))
        return float(self.costs.std(ddof=1)) / mean if mean > 0.0 and len(self.costs) > 1 else 0.0

    def __str__(self) -> str:
        """Whether a larger coreset would help, and the costs that say so."""
        what = "would help" if self.larger_helps else "would hardly help"
        verdict = (
            f"a larger coreset {what}: {self.larger_size:,} draws take the mean cost from {self.cost_on_all:.4g} to "
            f"{self.costs_of_larger.mean():.4g}"
        )
        return (
            f"{verdict}. With {self.size:,} draws the cost is {self.cost_on_coreset:.4g} on the coreset and "
            f"{self.cost_on_all:.4g} on all, which differs by {self.spread:.1%} between coresets; their clusterings "
            f"agree to an adjusted Rand index of {self.agreement:.2f}."
        )


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
            outcome = partition_by_paper(kernel, clustering.k, replace(how, size=size), rng, progress)
        assert outcome.coreset is not None and outcome.coreset_labels is not None
        return (
            outcome.labels,
            cost_on_coreset(kernel, outcome.coreset, outcome.coreset_labels),
            cost_on_all(kernel, outcome.labels),
        )

    with progress.within(None):
        return compare_coresets(cluster, how.draws, len(kernel.points), n_repeats)


def compare_coresets(
    cluster: Callable[[int], tuple[npt.NDArray[np.int64], float, float]], size: int, n_points: int, n_repeats: int
) -> CoresetQuality:
    """The quality of coresets of a size; cluster(size) draws one and returns labels of all points and two costs."""
    clusterings = [cluster(size) for _ in range(n_repeats)]
    costs = np.array([on_all for _, _, on_all in clusterings])
    agreement = float(np.mean([adjusted_rand_index(one[0], other[0]) for one, other in combinations(clusterings, 2)]))
    larger_size, of_larger, helps = size, costs, False
    for times in LARGER:
        if size >= n_points or (larger_size > size and agreement >= SAME):
            break
        larger_size = min(times * size, n_points)
        of_larger = np.array([cluster(larger_size)[2] for _ in range(n_repeats)])
        lowered = costs.mean() - of_larger.mean() > WORTHWHILE * abs(costs.mean())
        helps = bool(lowered and (of_larger[None, :] < costs[:, None]).mean() >= IN_ORDER)
        if helps or larger_size == n_points:
            break
    on_coreset = float(np.mean([on_coreset for _, on_coreset, _ in clusterings]))
    return CoresetQuality(size, on_coreset, float(costs.mean()), costs, larger_size, of_larger, agreement, helps)


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
