"""The resolutions at which each of many partitions is the best: the upper envelope of the lines a - g b.

At resolution g a partition is worth a - g b: a is the share of the weight inside its clusters, b the sum of the squares
of their shares of the mass, which is the volume for modularity. So each partition is a line in g, and is the best where
its line is the highest.

Source: Weir, Emmons, Gibson, Taylor & Mucha 2017, "Post-processing partitions to identify domains of modularity
optimization" (CHAMP).
"""

import numpy as np
import numpy.typing as npt


def best_ranges(inside: npt.NDArray[np.float64], squares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For each line inside - g squares the range of g >= 0 in which it is the highest; float64, shape (n, 2).

    inside, squares : shape (n,), finite, n >= 1. Of lines that are equal up to rounding the first counts.

    The ranges that are not empty cover the half-line from 0 to infinity. A line that is nowhere the highest gets the
    empty range (g, g) where it comes nearest: there the two highest lines meet whose squares are next to its own.
    """
    highest = upper_envelope(inside, squares)
    meet = np.diff(inside[highest]) / np.diff(squares[highest])
    bounds = np.concatenate([[0.0], meet, [np.inf]])
    place = np.searchsorted(-squares[highest], -squares)  # the envelope's squares fall
    nearest = bounds[np.clip(place, 0, len(bounds) - 2)]
    ranges = np.stack([nearest, nearest], axis=1)
    ranges[highest] = np.stack([bounds[:-1], bounds[1:]], axis=1)
    return ranges


def upper_envelope(inside: npt.NDArray[np.float64], squares: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The lines that are the highest somewhere for g >= 0, from the one at 0 to the one at infinity."""
    found: list[int] = []
    for line in np.lexsort((-inside, -squares)).tolist():  # from the steepest to the flattest
        if found and squares[line] == squares[found[-1]]:
            continue  # parallel to one that is as high
        while found and inside[line] >= inside[found[-1]]:
            found.pop()  # higher at 0 already, and falling less
        while len(found) > 1 and not _meet_in_order(inside, squares, found[-2], found[-1], line):
            found.pop()
        found.append(line)
    return np.array(found, np.int64)


def _meet_in_order(inside: np.ndarray, squares: np.ndarray, steep: int, middle: int, flat: int) -> bool:
    """Whether the middle line overtakes the steep one before the flat one overtakes the middle."""
    overtakes = (inside[steep] - inside[middle]) * (squares[middle] - squares[flat])
    is_overtaken = (inside[middle] - inside[flat]) * (squares[steep] - squares[middle])
    return bool(overtakes < is_overtaken)
