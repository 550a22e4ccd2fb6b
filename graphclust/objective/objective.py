"""The objectives that a partition can be made for, in the one form that every loop reads.

An objective is the sum over clusters of score(inside, mass), where both sums add over the nodes of a cluster; see
`graphclust.compiled.graphs.objective`. They are told apart by what a node brings to `inside` by itself, what its
mass is, and how the score is made of the two sums:

    name             loops            mass     score                       source
    normalized_cut   A_uu             degree   inside / mass               Shi & Malik 2000; k less the normalized cut
    ratio_cut        A_uu - degree    1        inside / mass               Hagen & Kahng 1992; less sum of cut / size
    modularity       A_uu             degree   inside - g / vol(V) mass^2  Reichardt & Bornholdt 2006, times vol(V)
    constant_potts   A_uu             1        inside - g mass^2           Traag, Van Dooren & Nesterov 2011
    erdos_renyi      A_uu             1        inside - g p mass^2         Reichardt & Bornholdt 2006, times vol(V)

p = vol(V) / n (n - 1) is the mean weight between two different nodes, which the constant Potts model leaves to g. A
sum of A_uv - g p over pairs of different nodes, as leidenalg's RBERVertexPartition adds them up, is larger by g p n for
every partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.cached import cached_property
from graphclust.checks import as_choice, as_number
from graphclust.compiled.graphs import objective as formulas
from graphclust.compiled.graphs.objective import ADDITIVE, CHANCE, RATIO, ClusterSums, NodeTerms, Objective
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph, with_unit_masses


class ObjectiveSpec(NamedTuple):
    """The definition of an objective.

    words : its name in reports. is_ratio : whether the score is inside / mass, without a resolution. by_degree :
    whether a node's mass is its degree; else it is 1. less_degree : whether a node adds to `inside` its loop less its
    degree, so that `inside` is minus the cut. pairs : over how many pairs chance spreads all weight, from the mass of
    all nodes; the resolution is a multiple of that chance, and the value a share of all weight. None: the resolution is
    the weight between two units of mass, and the value a weight. additive : the additive objective with the same
    masses.
    """

    words: str
    is_ratio: bool
    by_degree: bool
    additive: str
    less_degree: bool = False
    pairs: Callable[[Any], Any] | None = None

    @property
    def is_relative(self) -> bool:
        """Whether the resolution is a multiple of chance."""
        return self.pairs is not None

    def inside(self, cut: np.ndarray, volume: np.ndarray) -> np.ndarray:
        """What `ClusterSums.inside` is of clusters with these cuts and volumes; and their cuts, given that for them."""
        return -cut if self.less_degree else volume - cut

    def unit_of_resolution(self, totals: Totals) -> float:
        """The unit of a caller's resolution: divided by it, the resolution is a multiple of chance."""
        return totals.chance / self.chance(totals) if totals.chance else 1.0

    def chance(self, totals: Totals) -> float:
        """What stands between two units of mass at a caller's resolution 1; of the constant Potts model 1."""
        if totals.layers:
            return 1.0
        return 1.0 if self.pairs is None else totals.volume / self.pairs(totals.mass) if totals.chance else 0.0


OBJECTIVES = {
    "modularity": ObjectiveSpec("modularity", False, by_degree=True, additive="modularity", pairs=lambda mass: mass**2),
    "normalized_cut": ObjectiveSpec("a small normalized cut", is_ratio=True, by_degree=True, additive="modularity"),
    "ratio_cut": ObjectiveSpec("a small ratio cut", True, by_degree=False, additive="constant_potts", less_degree=True),
    "constant_potts": ObjectiveSpec("the constant Potts model", False, by_degree=False, additive="constant_potts"),
    "erdos_renyi": ObjectiveSpec(
        "Erdős-Rényi modularity", False, by_degree=False, additive="erdos_renyi", pairs=lambda n: n * max(n - 1, 1)
    ),
}
OBJECTIVE_SPECS = OBJECTIVES | {
    "edge_cut": ObjectiveSpec(
        "a small edge cut, in parts of equal size", False, by_degree=False, additive="constant_potts"
    )
}
OF_LAYERS = ("modularity", "constant_potts")  # the objectives that are defined for graphs with layers
ADDITIVE_OBJECTIVES = tuple(name for name, one in OBJECTIVES.items() if not one.is_ratio)


class ObjectiveChoice(NamedTuple):
    """The name of an objective and a resolution or "auto"; None for objectives without a resolution."""

    name: str
    resolution: float | str | None

    @property
    def spec(self) -> ObjectiveSpec:
        return OBJECTIVE_SPECS[self.name]

    @property
    def is_ratio(self) -> bool:
        """Whether the objective divides by mass, and has no resolution."""
        return self.spec.is_ratio


CUT, MODULARITY = ObjectiveChoice("normalized_cut", None), ObjectiveChoice("modularity", "auto")


class Totals(NamedTuple):
    """The units of an objective: the total weight of a graph, and the mass of all its nodes.

    layers : as `Objective` has them; a score is then divided by the total weight.
    """

    volume: float
    mass: float
    layers: tuple[np.ndarray, ...] = ()

    @property
    def chance(self) -> float:
        """Weight that chance puts between two units of mass, V / mass^2, in which the engine counts resolutions.

        0 where there is no mass: without edges no union gains or loses. Where there are layers, their penalties are
        those of resolution 1.
        """
        if self.layers:
            return 1.0
        return self.volume / self.mass**2 if self.mass else 0.0


@dataclass(frozen=True, eq=False)
class WeighedGraph:
    """A graph, and what each node adds to the sums of its cluster under an objective.

    layers : as `Objective` has them, and `total` what a score is divided by where there are any; see `weigh_layers`.
    """

    graph: Graph
    terms: NodeTerms
    layers: tuple[np.ndarray, ...] = ()
    total: float = 0.0

    @cached_property
    def totals(self) -> Totals:
        if self.layers:
            return Totals(self.total, 0.0, self.layers)
        return Totals(self.graph.total_volume, float(self.terms.mass.sum()))


def as_resolution(value: Any, name: str = "resolution") -> float:
    """A resolution by which products of masses, each below the largest degree, are still floats."""
    return as_number(value, name, above=0.0, below=1e150)


def as_objective_choice(objective: str, resolution: float | str | None) -> ObjectiveChoice:
    """The choice that two arguments name; ParameterError where they name none."""
    as_choice(objective, "objective", tuple(OBJECTIVES))
    if OBJECTIVES[objective].is_ratio:
        if resolution not in (None, "auto"):
            raise ParameterError(
                f"resolution={resolution!r} is not an option of objective {objective!r}; leave it out, or take "
                f"objective {' or '.join(map(repr, ADDITIVE_OBJECTIVES))}"
            )
        return ObjectiveChoice(objective, None)
    if resolution is None or (isinstance(resolution, str) and resolution == "auto"):
        return ObjectiveChoice(objective, "auto")
    if isinstance(resolution, str):
        raise ParameterError(f"resolution={resolution!r} is unknown, expected 'auto' or a number > 0")
    return ObjectiveChoice(objective, as_resolution(resolution))


def weigh(graph: Graph | LayeredGraph, name: str) -> WeighedGraph:
    """The terms of the nodes of a graph under the objective of that name; a graph with layers is as it judges them."""
    if isinstance(graph, LayeredGraph):
        return weigh_layers(graph)
    made_of = OBJECTIVE_SPECS[name]
    loops = graph.loops - graph.degrees if made_of.less_degree else graph.loops
    mass = graph.degrees if made_of.by_degree else np.ones(graph.n_nodes)
    return WeighedGraph(graph, node_terms(loops, mass, graph.degrees))


def judged_by(graph: LayeredGraph, name: str) -> LayeredGraph:
    """The graph with the layers that an objective has; ParameterError for one that knows undirected graphs alone."""
    if name not in OF_LAYERS:
        raise ParameterError(
            f"objective={name!r} is for undirected graphs alone, and G is {graph.kind}; expected "
            f"{' or '.join(map(repr, OF_LAYERS))}"
        )
    return graph if OBJECTIVES[name].by_degree else with_unit_masses(graph)


def weigh_layers(layered: LayeredGraph, resolution: float | Sequence[float] = 1.0) -> WeighedGraph:
    """The terms of the nodes of a graph with layers at a resolution, or one for each layer.

    With o and i the outward and inward masses of a cluster, o i is the square of (o + i) / 2 less that of (o - i) / 2.
    So a layer is one mass of each node where sources are targets, else two, of opposite penalties; all are squared
    alike.

    >>> from scipy import sparse
    >>> from graphclust.graph.layers import directed
    >>> on = weigh_layers(directed(sparse.csr_array(np.array([[0.0, 2], [0, 0]]))))
    >>> on.terms.mass.tolist(), on.layers[0].tolist()
    ([[1.0, 1.0], [1.0, -1.0]], [0.5, -0.5])
    """
    masses: list[np.ndarray] = []
    penalties: list[float] = []
    for layer, penalty in zip(layered.layers, layered.penalties(resolution).tolist(), strict=True):
        if layer.outward is layer.inward:
            masses, penalties = [*masses, layer.outward], [*penalties, penalty]
        else:
            half, other = (layer.outward + layer.inward) / 2.0, (layer.outward - layer.inward) / 2.0
            masses, penalties = [*masses, half, other], [*penalties, penalty, -penalty]
    graph, n = layered.combined, layered.n_nodes
    mass = np.stack(masses, axis=1) if masses else np.zeros((n, 1))
    of_mass = read_only_view(np.array(penalties or [0.0]))
    return WeighedGraph(graph, node_terms(graph.loops, mass, graph.degrees), (of_mass,), layered.total)


def node_terms(loops: np.ndarray, mass: np.ndarray, degrees: np.ndarray) -> NodeTerms:
    """The terms as all loops get them, read-only: a loop is compiled once for each type of its arguments."""
    return NodeTerms(*(read_only_view(np.asarray(values)) for values in (loops, mass, degrees)))


def read_only_view(values: np.ndarray) -> np.ndarray:
    view = values.view()
    view.flags.writeable = False
    return view


def ratio_objective(totals: Totals) -> Objective:
    """Score inside / mass; the unit is the worth of a cluster that no edge leaves."""
    return Objective(RATIO, 0.0, totals.volume / totals.mass)


def additive_objective(totals: Totals, k: int, resolution: float) -> Objective:
    """Score inside - penalty mass^2; at resolution 1 a cluster is worth its weight beyond that by chance."""
    return Objective(ADDITIVE, resolution * totals.chance, totals.volume / k, totals.layers)


def chance_objective(totals: Totals) -> Objective:
    """The objective that orders unions by their excess over chance.

    Source: Bonald et al. 2018, "Hierarchical graph clustering using node pair sampling".
    """
    return Objective(CHANCE, 0.0, totals.chance, totals.layers)


def _over_arrays(loop: Any) -> Any:
    """The formula of a compiled loop as it is written, which NumPy applies to arrays; without layers by default."""
    return partial(getattr(loop, "py_func", loop), layers=())


gain_of_union = _over_arrays(formulas.gain_of_union)
loss_of_leaving = _over_arrays(formulas.loss_of_leaving)
gain_of_joining = _over_arrays(formulas.gain_of_joining)


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
        hull = lower_hull(x, y, order)
        best[members] = hull[_tangents(x[hull], y[hull], from_x, from_y)]
        own = best[members] == labels[members]
        for c in np.unique(best[members[own]]).tolist():
            again = own & (labels[members] == c)
            hull = lower_hull(x, y, order[order != c])
            best[members[again]] = hull[_tangents(x[hull], y[hull], from_x[again], from_y[again])]
    else:
        first, second = np.argsort(sums.mass, kind="stable")[:2]
        best[members] = np.where(labels[members] == first, second, first)
    to = best[members]
    gains[members] = gain_of_joining(
        objective, 0.0, terms.loops[members], terms.mass[members], sums.inside[to], sums.mass[to]
    )
    return best, gains


def lower_hull(x: np.ndarray, y: np.ndarray, order: np.ndarray) -> npt.NDArray[np.int64]:
    """The points on the lower convex hull, from the least x to the largest; order : by x, then by y.

    Source: Andrew 1979, "Another efficient algorithm for convex hulls in two dimensions".
    """
    hull: list[int] = []
    xs, ys = x.tolist(), y.tolist()
    for c in order.tolist():
        if hull and xs[hull[-1]] == xs[c]:
            continue
        while len(hull) > 1:
            a, b = hull[-2:]
            if (ys[b] - ys[a]) * (xs[c] - xs[b]) < (ys[c] - ys[b]) * (xs[b] - xs[a]):  # the slope rises at b
                break
            hull.pop()
        hull.append(c)
    return np.array(hull, np.int64)


def _tangents(x: np.ndarray, y: np.ndarray, from_x: np.ndarray, from_y: np.ndarray) -> npt.NDArray[np.int64]:
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
