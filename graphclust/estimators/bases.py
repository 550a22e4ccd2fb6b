"""scikit-learn's base classes, with the types that they lack: without them no checker sees what an estimator takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    from typing import Self

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[Any]: ...

    class TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None) -> npt.NDArray[Any]: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]: ...

else:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClusterMixin", "TransformerMixin"]
