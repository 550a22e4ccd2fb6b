"""The kernels of points that scikit-learn knows and we do not, and functions of two points, for kernel k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from graphclust.points.kernel_k_means.point_kernels import PointKernel

ROWS = 64  # at a time: all pairs are computed, and only the diagonal is used


class PairwiseKernel(PointKernel):
    """What `sklearn.metrics.pairwise.pairwise_kernels` computes; metric : its name there, or a function k(x, y)."""

    def __init__(self, X: Any, metric: Any, **options: Any):
        super().__init__(X)
        self.metric, self.options = metric, options
        self.diagonal = self.self_affinities(self.X)

    def entries(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """As for every kernel of points."""
        Y, Z = (np.require(rows, requirements="W") for rows in (Y, Z))  # some of scikit-learn's take no other arrays
        matrix = pairwise_kernels(Y, Z, metric=self.metric, filter_params=True, **self.options)
        return np.asarray(matrix, dtype=self.dtype)

    def self_affinities(self, Y: np.ndarray) -> np.ndarray:
        """As for every kernel of points."""
        if callable(self.metric):
            return np.array([self.metric(point, point) for point in Y], np.float64)
        pieces = [Y[first : first + ROWS] for first in range(0, len(Y), ROWS)]
        return np.concatenate([self.entries(piece, piece).diagonal() for piece in pieces]).astype(np.float64)
