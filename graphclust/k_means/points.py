"""The data of k-means: points as a C-ordered float matrix, and the blocks of rows that the loops work on."""

from typing import Any

import numpy as np

from graphclust.checks import as_whole_number
from graphclust.compiled.blocks import row_blocks
from graphclust.errors import GraphValidationError, ParameterError

# Work below which a second thread costs more than it saves, and above which a block would run for too long.
_SMALL_WORK = 1 << 19
_LARGEST_WORK = 1 << 32


def as_points(X: Any, name: str = "X") -> np.ndarray:
    """A finite (n, d) matrix, n and d >= 1, C-ordered, of float32 or float64; whole numbers become float64."""
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} is {type(X).__name__} of dtype {array.dtype}, expected a matrix of real numbers")
    if array.ndim != 2 or 0 in array.shape:
        raise GraphValidationError(f"{name} has shape {array.shape}, expected (n_points, n_features), both >= 1")
    array = np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)
    if not np.isfinite(array).all():
        i, l = np.argwhere(~np.isfinite(array))[0]
        raise GraphValidationError(f"{name}[{i}, {l}] is {array[i, l]}, expected finite numbers")
    return array


def as_cluster_count(k: Any, n_points: int) -> int:
    """k as an int in [1, n_points]."""
    k = as_whole_number(k, "k", at_least=1)
    if k > n_points:
        raise ParameterError(f"k={k} is more than the {n_points} points, expected k <= {n_points}")
    return k


def point_blocks(n_points: int, work_per_point: int) -> np.ndarray:
    """Boundaries of blocks of rows, of a size that depends on the data alone; one block where the work is small."""
    if n_points * work_per_point <= _SMALL_WORK:
        return np.array([0, n_points])
    rows = min(max(256, n_points // 32), 8192, max(64, _LARGEST_WORK // work_per_point))
    return row_blocks(n_points, rows // 64 * 64)
