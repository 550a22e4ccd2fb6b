"""Dense points rounded to a byte a feature as they enter a batch, which makes most later visits to them cheap."""

import numpy as np

from graphclust.compiled.points.quantized_points import FINER, Grid, Rounded, feature_ranges, round_points
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks

_ROWS = 512


class RoundedPoints:
    """Up to n points of d features of one dtype: n * d bytes, and how far from each point its bytes may be.

    The steps are the 255th part of the widest feature's range over the points that enter first. Later ones may lie
    outside: that is part of their error.
    """

    def __init__(self, n: int, d: int):
        self.points = Rounded(np.empty((n, d), np.uint8), np.empty(n), np.empty(n))

    def choose_steps(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Take the steps from these rows of values."""
        boundaries = row_blocks(len(rows), _ROWS)
        lowest, highest = np.empty((2, len(boundaries) - 1, values.shape[1]), values.dtype)
        run_in_blocks(feature_ranges, boundaries, values, rows, lowest, highest)
        self.lowest = lowest.min(axis=0)
        step = (highest.max(axis=0) - self.lowest).max() / values.dtype.type(255)
        # Without a range, or with one whose inverse would not be finite, every step is as good as another.
        self.step = step if step > 1000 * np.finfo(step.dtype).tiny else values.dtype.type(1)
        # What the rounding of numbers may add to an error: a part of it, and four roundings of 255 steps a feature.
        d, precision = values.shape[1], float(np.finfo(step.dtype).eps)
        self.margins = (d + 16) * precision, np.sqrt(d) * 4.0 * 255.0 * precision * float(self.step)

    def enter(self, points: np.ndarray, start: int) -> None:
        """Round these points: they are the start-th and those after it."""
        rows = slice(start, start + len(points))
        self._round(points, 1, Rounded(*(array[rows] for array in self.points)))

    def against(self, centroids: np.ndarray) -> tuple[Rounded, Rounded, float]:
        """The points and the centroids, both rounded, and the length of a step of the centroids'."""
        k, d = centroids.shape
        rounded = Rounded(np.empty((k, d), np.int16), np.empty(k), np.empty(k))
        self._round(centroids, FINER, rounded)
        return self.points, rounded, float(self.step) / FINER

    def _round(self, points: np.ndarray, finer: int, rounded: Rounded) -> None:
        grid = Grid(self.lowest, self.step, finer, *self.margins)
        run_in_blocks(round_points, row_blocks(len(points), _ROWS), points, grid, rounded)
