"""KMeans: Lloyd's exact iteration as an estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from graphclust.checks import as_choice, as_whole_number
from graphclust.errors import warn_caller
from graphclust.estimators.arguments import as_listener
from graphclust.estimators.centroid_model import CentroidModel
from graphclust.points.k_means.lloyd import kmeans
from graphclust.points.k_means.lloyd_iteration import KMeansResult

__all__ = ["KMeans"]

ALGORITHMS = ("lloyd", "elkan")
# Theirs and our names; their k-means++ tries several candidates for each seed and keeps the best.
SEEDINGS = {"k-means++": "greedy k-means++", "k-means||": "k-means||", "random": "random"}
RUNS_FROM_CHANCE = 10  # where the start is no seeding, as scikit-learn's n_init="auto" has it


@dataclass(eq=False, repr=False)
class KMeans(CentroidModel):
    """k-means, as `graphclust.kmeans` does it, in the place of `sklearn.cluster.KMeans`.

    n_clusters : number of clusters, and of centroids.
    init : "k-means++", in the greedy form that scikit-learn has under this name, "k-means||", "random", centroids of
        shape (n_clusters, n_features), or a function of (X, n_clusters, random_state) that gives such.
    n_init : runs, of which the one of least inertia is kept; "auto" is 1 for a seeding and 10 for a random start.
    max_iter, tol : see `graphclust.kmeans`; tol=0 goes on to a fixed point.
    random_state : None, a whole number, a RandomState or a Generator; the same number gives the same result, bit for
        bit, on any number of threads.
    verbose : print how far it is.
    algorithm, copy_x : for code that was written for scikit-learn. Both its algorithms, "lloyd" and "elkan", end where
        this one does, which keeps bounds where that pays; X is never modified.

    Fitted: cluster_centers_ (n_clusters, n_features), labels_ (n_samples,), inertia_, n_iter_ (with the iteration that
    found nothing to change, as scikit-learn counts), n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`. Warns with ConvergenceWarning
    where fewer than n_clusters distinct points have a weight; there are as many centroids then. A RuntimeWarning where
    n_init asks for several runs from given centroids, which would be one and the same.

    Source: see `graphclust.kmeans`.

    >>> model = KMeans(2, random_state=1).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> model.inertia_, sorted(model.cluster_centers_.ravel().tolist()), model.transform([[2.0]]).min().item()
    (1.0, [0.5, 10.5], 1.5)
    """

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int | str = "auto"
    max_iter: int = 300
    tol: float = 1e-4
    verbose: int = 0
    random_state: Any = None
    copy_x: bool = True
    algorithm: str = "lloyd"

    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        """The best of the runs."""
        as_choice(self.algorithm, "algorithm", ALGORITHMS)
        runs = n_runs(self.n_init, self.init)
        found: list[KMeansResult] = []
        for init in starts(self.init, runs, X, k, rng):
            result = kmeans(
                X,
                k,
                sample_weight=weights,
                init=init,
                max_iter=self.max_iter,
                tol=self.tol,
                rng=rng,
                progress=as_listener(self.verbose),
            )
            found.append(result)
        return min(found, key=lambda result: result.inertia)

    def _keep(self, result: KMeansResult) -> None:
        super()._keep(result)
        self.n_iter_ += result.converged


def n_runs(n_init: Any, init: Any, *, from_chance: int = RUNS_FROM_CHANCE) -> int:
    """How many runs the parameters ask for; from given centroids one, with a warning if that is fewer."""
    given = not (callable(init) or isinstance(init, str))
    if isinstance(n_init, str):
        as_choice(n_init, "n_init", ("auto",))
        return from_chance if callable(init) or (not given and init == "random") else 1
    runs = as_whole_number(n_init, "n_init", at_least=1)
    if given and runs > 1:
        # Beginning with scikit-learn's words, so that filters written for them hold.
        warn_caller(
            f"Explicit initial center position passed: performing only one init instead of n_init={n_init}, as all "
            "runs would be alike",
            RuntimeWarning,
        )
    return 1 if given else runs


def starts(init: Any, runs: int, X: Any, k: int, rng: np.random.Generator) -> list[Any]:
    """What each run starts from, as `graphclust.kmeans` takes it."""
    if not callable(init):
        return [SEEDINGS[as_choice(init, "init", tuple(SEEDINGS))] if isinstance(init, str) else init] * runs
    drawn = [np.random.RandomState(int(rng.integers(2**31))) for _ in range(runs)]
    return [np.asarray(init(X, k, random_state=random_state)) for random_state in drawn]
