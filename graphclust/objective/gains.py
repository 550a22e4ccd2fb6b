"""The changes of the objective of `graphclust.compiled.graphs.objective` for whole arrays of nodes or clusters."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs import objective as loops
from graphclust.compiled.graphs.objective import RATIO, ClusterSums, NodeTerms, Objective


def _over_arrays(loop: Any) -> Any:
    """The formula of a compiled loop as it is written, which NumPy applies to arrays; without layers by default."""
    return partial(getattr(loop, "py_func", loop), layers=())


gain_of_union = _over_arrays(loops.gain_of_union)
loss_of_leaving = _over_arrays(loops.loss_of_leaving)
gain_of_joining = _over_arrays(loops.gain_of_joining)


def best_unlinked(
    objective: Objective, terms: NodeTerms, labels: npt.NDArray[np.int64], sums: ClusterSums
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """For each node the other cluster that gains most by taking it, without links, and the gain; -1 and -inf for none.

    labels : cluster of each node, shape (n,), -1 for nodes to leave out.

    An additive objective loses penalty * mass (2 M_c + mass): the cluster of least mass M_c is the best. A ratio
    objective gains mass (r - s_c) / (M_c + mass), where r is the node's own loop over its mass and s_c the cluster's
    score: the negative slope of the line from the point (-mass, r) to the point (M_c, s_c), times the mass. The least
    slope is that of a tangent to the lower convex hull of the k points, which bisection finds: O(k log k + n log k). If
    the tangent meets the node's own cluster, the hull is made again without that cluster: O(k) more for each such
    cluster.
    """
    n, k = len(labels), len(sums.mass)
    best, gains = np.full(n, -1, np.int64), np.full(n, -np.inf)
    members = np.flatnonzero(labels >= 0)
    if k < 2 or not len(members):
        return best, gains
    if objective.kind == RATIO:
        x, y = sums.mass, sums.inside / sums.mass
        from_x, from_y = -terms.mass[members], terms.loops[members] / terms.mass[members]
        order = np.lexsort((y, x))
        hull = _lower_hull(x, y, order)
        best[members] = hull[_tangents(x[hull], y[hull], from_x, from_y)]
        own = best[members] == labels[members]
        for c in np.unique(best[members[own]]).tolist():
            again = own & (labels[members] == c)
            hull = _lower_hull(x, y, order[order != c])
            best[members[again]] = hull[_tangents(x[hull], y[hull], from_x[again], from_y[again])]
    else:
        first, second = np.argsort(sums.mass, kind="stable")[:2]
        best[members] = np.where(labels[members] == first, second, first)
    to = best[members]
    gains[members] = gain_of_joining(
        objective, 0.0, terms.loops[members], terms.mass[members], sums.inside[to], sums.mass[to]
    )
    return best, gains


def _lower_hull(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], order: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The points on the lower convex hull, from the least x to the largest; order : by x, then by y.

    Source: Andrew 1979, "Another efficient algorithm for convex hulls in two dimensions".
    """
    hull: list[int] = []
    xs, ys = x.tolist(), y.tolist()

    def slope(a: int, b: int) -> float:
        return (ys[b] - ys[a]) / (xs[b] - xs[a])

    for c in order.tolist():
        if hull and xs[hull[-1]] == xs[c]:
            continue
        while len(hull) > 1 and slope(hull[-2], hull[-1]) >= slope(hull[-1], c):
            hull.pop()
        hull.append(c)
    return np.array(hull, np.int64)


def _tangents(
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    from_x: npt.NDArray[np.float64],
    from_y: npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    """For each point to the left of a lower hull, the hull's point that the line of least slope meets.

    Extended to the left, an edge of the hull lies the lower at from_x the farther right the edge is. The tangent ends
    where the first edge begins that passes below the point.
    """
    slopes = np.diff(y) / np.diff(x)
    low, high = np.zeros(len(from_x), np.int64), np.full(len(from_x), len(slopes), np.int64)
    while (unsettled := low < high).any():
        middle = np.minimum((low + high) // 2, max(len(slopes) - 1, 0))
        is_above = from_y < y[middle] + slopes[middle] * (from_x - x[middle])
        low = np.where(unsettled & is_above, middle + 1, low)
        high = np.where(unsettled & ~is_above, middle, high)
    return low
