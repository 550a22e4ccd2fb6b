"""Energy against time while an algorithm runs: the curves by which k-means algorithms are compared."""

import time
from typing import Any

import numpy as np

from graphclust.errors import GraphValidationError
from graphclust.points.k_means.bounds import assign_once
from graphclust.points.k_means.centroid_update import own_sq_distances
from graphclust.points.k_means.points import as_points


class ValidationCurve:
    """Records (seconds so far, energy) of centroids; the clock stands still while the energy is computed.

    validation : points, whose mean squared distance to the nearest centroid is the energy, or a function of the
        centroids (k, d) that returns the energy; with None nothing is recorded.
    """

    def __init__(self, validation: Any, n_features: int):
        self.energy_of = validation if callable(validation) or validation is None else _MeanSquaredDistance(validation)
        if self.energy_of is not validation and self.energy_of.points.d != n_features:
            raise GraphValidationError(f"validation has {self.energy_of.points.d} features, expected {n_features}")
        self.records: list[tuple[float, float]] = []
        self.seconds = 0.0
        self.started = time.perf_counter()

    def record(self, centroids: np.ndarray) -> None:
        """Note the energy of these centroids."""
        if self.energy_of is None:
            return
        self.seconds += time.perf_counter() - self.started
        self.records.append((self.seconds, float(self.energy_of(centroids))))
        self.started = time.perf_counter()

    def table(self) -> np.ndarray | None:
        """The records as an array of shape (n_records, 2), or None if there was nothing to validate with."""
        return None if self.energy_of is None else np.array(self.records).reshape(-1, 2)


class _MeanSquaredDistance:
    def __init__(self, validation: Any):
        self.points = as_points(validation, "validation")

    def __call__(self, centroids: np.ndarray) -> float:
        centroids = np.ascontiguousarray(centroids, dtype=self.points.dtype)
        labels = assign_once(self.points, centroids)
        return own_sq_distances(self.points, centroids, labels).mean()
