"""scikit-learn's base classes, with the types that they lack: without them no checker sees what an estimator takes.

And what all estimators of points have beside `fit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

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


class PointModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """An estimator that clusters points, and turns points into their distances from its centers."""

    labels_: npt.NDArray[np.int64]

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """`fit`, then labels_."""
        return self.fit(X, y, sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """`fit`, then `transform` of the same points."""
        return self.fit(X, y, sample_weight).transform(X)
