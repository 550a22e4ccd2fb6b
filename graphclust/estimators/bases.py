"""scikit-learn's base classes, with the types that they lack: without them no checker sees what an estimator takes.

And what all estimators of points have beside `fit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from graphclust.checks import as_array, as_whole_number
from graphclust.graph.matrices import with_checked_arrays
from graphclust.interop import seeds
from graphclust.progress import Listener

if TYPE_CHECKING:

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[Any]: ...

    class TransformerMixin:  # its methods here are those of a `PointModel`
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
        def transform(self, X: Any) -> np.ndarray: ...
        def fit_transform(self, X: Any, y: Any = None) -> npt.NDArray[Any]: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]: ...

else:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin


def as_rng(random_state: Any) -> np.random.Generator:
    """A generator from None, a whole number >= 0, a Generator, or a RandomState or numpy.random that draws a number."""
    return np.random.default_rng(seeds.as_rng(random_state, "random_state"))


def as_listener(verbose: Any) -> Listener | None:
    """What prints each step of the work, where `verbose` asks for it."""
    return (lambda stage, done, total: print(f"{stage or 'batches'}: {done} of {total}")) if verbose else None


def as_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """The number of clusters, in [1, n_samples]."""
    return as_whole_number(
        n_clusters, "n_clusters", at_least=1, at_most=n_samples, why=f": n_samples={n_samples}",
        if_none="CoresetSpectralClustering(None) takes the number that the graph of nearest neighbors shows",
    )  # fmt: skip


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's `validate_data` of what it looks at too late, or not: damaged sparse arrays, and masked ones."""
    if issparse(X) and X.ndim == 2:
        with_checked_arrays(X, "X")
    if isinstance(X, np.ndarray):
        X = as_array(X, "X")
    return validate_data(estimator, X, **options)


def as_points(estimator: Any, X: Any, *, reset: bool, accept_sparse: Any = "csr") -> Any:
    """Points as float64 or float32, C-ordered or CSR, and the number and names of their features kept or compared."""
    return validated(estimator, X, reset=reset, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], order="C")


class PointModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """An estimator that clusters points, and turns points into their distances from its centers."""

    labels_: npt.NDArray[np.int64]

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """`fit`, then labels_."""
        return self.fit(X, y, sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """`fit`, then `transform` of the same points."""
        return self.fit(X, y, sample_weight).transform(X)
