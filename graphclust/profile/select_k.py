"""Which number of clusters a graph shows: the one that is natural over the widest range of resolutions, and stable.

On planted graphs the planted k is natural over a factor of 2 to 70 in resolution, all others over 1.5 or less; on
random graphs no k stands out. Numbers within a twentieth of one another count as one answer. The best number is checked
on a second path that starts near it, and all candidates on paths with some edges left out. One fixed seed draws all of
it, so that the answer depends on the graph and the ks, not on the path's seed.

If no number stands out, and no clusters describe the edges in fewer bits than a single cluster does, there are no
clusters. If there are clusters but no number stands out, the range tells the scale and the description length the
number: of the numbers near the best, the one with the shortest description is taken. Farther away description length is
no guide, since for nearest-neighbor graphs it falls with the number of clusters. On LFR graphs of mixing 0.4 the answer
is within a tenth of the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.engine.engine import EFFORTS, partition_into
from graphclust.engine.levels import run_on
from graphclust.engine.likelihood import (
    description_length,
    edges_worth,
    gain_at_one_rate,
    length_of_clusters,
    nats_saved,
)
from graphclust.html_table import html_text
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.objective import OBJECTIVES, weigh
from graphclust.partition.components import nodes_to_partition
from graphclust.profile.edge_subsampling import leave_out_edges
from graphclust.progress import Progress

if TYPE_CHECKING:
    from graphclust.profile.path import ClusterPath

DRAWS = 0  # the seed of all that a suggestion draws
LOWEST = 0.05  # lower resolutions only show components, or parts linked by next to nothing
NEAR = 0.05  # relative to k; planted graphs with power-law sizes spread over no more
WELL_BELOW_TOP = 0.85  # of the first k of a path: partitions above have few unions and moves behind them
CLOSER = 1.2  # the second path starts at so many times the best k; also how far numbers near it may be
N_CANDIDATES = 4  # the best and three runners-up, as many as a reader looks over
N_TIMES, SHARE_LEFT_OUT = 3, 0.1  # paths with edges left out, and the share left out, as for `certainty`
# Width (a logarithm), lead over the runner-up, and stability of a clear answer. The least clear of 20 planted graphs
# had 0.7, 2 and 0.56; random and regular graphs, grids, trees and cycles miss one of the bounds or more. On a network
# of friends 2 clusters have 0.57, and others are the widest for 3 of 19 draws of the paths.
CLEAR_WIDTH, CLEAR_LEAD, STABLE = 0.6, 2.0, 0.5
# Width and stability of any usable answer: on LFR graphs of mixing 0.4 the right k has 0.5 and 0.43, on random graphs
# the widest has 0.45 and 0.39, not both. If no k reaches them, the number at resolution 1 is as good.
WIDE, FOUND_AGAIN = 0.35, 0.4
SMALLER_LEAD, VERY_STABLE = 1.5, 0.75  # half as far above 1 as a clear lead, and half as far below 1 as STABLE
NOT_SHOWN, NOT_TRIED = "shows no number of clusters clearly", "was not tried for a number that it shows"


class SuggestedK(NamedTuple):
    """A number of clusters that may be the right one.

    best_range : from which resolution to which its partition is the best of the path. width : the logarithm of the
    factor over which it, or a number within a twentieth of it, is the best. stability : mean adjusted Rand index of its
    partition and partitions into as many clusters without a tenth of the edges; NaN if a time budget left no time.
    nats_saved : by how much its clusters shorten the description of the edges, before nodes moved; see
    `likelihood.nats_saved`.
    """

    k: int
    best_range: tuple[float, float]
    width: float
    stability: float
    nats_saved: float = float("nan")


@dataclass(frozen=True)
class Suggestion:
    """The k that a graph shows; the same for every seed of the path, since all draws have a fixed seed.

    k : the number of clusters. If the graph shows no sign of clusters, it is 1, or the number of the components. It
        unites no two connected components that are searched, unless the path ends before; `reasons` say where it ends.
    clear : whether the graph shows k clearly. If not, k is one way to look at the graph: of the numbers near the best
        candidate the one whose clusters describe the edges in the fewest bits; or, if no stable candidate has a wide
        range, the number that is natural at the usual resolution, which for the constant Potts model is the mean weight
        between two nodes.
    reasons : plain sentences; `str(suggestion)` is all of them.
    candidates : the numbers with the widest ranges, the widest first. runners_up : the candidates other than k.
    seed, origin : those of the path.
    nats_saved : the most by which the clusters of any number tried shorten the description of the edges; if it is not
        above 0, they describe no more than noise. For one number of clusters it is above 5 in at most one of 100 graphs
        without clusters, for K numbers above 5 + ln K.
    """

    k: int
    clear: bool
    reasons: tuple[str, ...]
    candidates: tuple[SuggestedK, ...]
    seed: int | str | None = None
    origin: dict[str, Any] = field(default_factory=dict, repr=False, hash=False)
    nats_saved: float = float("nan")

    @property
    def runners_up(self) -> tuple[SuggestedK, ...]:
        """The candidates that were not taken."""
        return tuple(candidate for candidate in self.candidates if candidate.k != self.k)

    def __str__(self) -> str:
        return "\n".join(self.reasons)

    def _repr_html_(self) -> str:
        return html_text(f"Suggestion: k = {self.k}, {'clear' if self.clear else 'not clear'}", str(self))


def suggestion_of(path: ClusterPath, progress: Progress) -> Suggestion:
    """The k of a path that its graph shows; it takes one more path, and some shorter ones."""
    rng = np.random.default_rng(DRAWS)
    with progress.stage("suggesting"), progress.within(None):
        own = own_path(path, rng, progress)
        found = rank_by_width(own)
        if found and not progress.out_of_time():
            found[0] = (refine_k(path, found[0][0], rng, progress), found[0][1])
        stable, without = stabilities(own, [k for k, _ in found], rng, progress)
        saved = [nats_saved(path.part, own.labels_of_part(k)) for k, _ in found]
        most_saved = most_nats_saved(own, [k for k, _ in found], saved, rng, progress)
    candidates = tuple(
        SuggestedK(k, own.best_range(k), width, stability, nats)
        for (k, width), stability, nats in zip(found, stable, saved, strict=True)
    )
    wide = bool(found) and is_usable(candidates[0])
    clear = wide and is_clear(candidates) and path.ks[-1] >= path.n_components
    clear = clear and all_agree(without, candidates[0].k)
    if not clear and most_saved <= 0.0 and path.n_components in path:
        k = path.n_components
        others = f"all others that were tried take {-most_saved:.3g} nats more at least"
        none_inside = "" if k == 1 else " inside the components"
        how = f"what describes its edges in the fewest bits, no clusters{none_inside}: {others}"
    elif not wide:
        k = k_at_resolution(own, 1.0)
        is_natural = own.ranges[k][0] <= 1.0 < own.ranges[k][1]
        usual = "the usual one" if OBJECTIVES[path.aim.definition.twin].is_relative else "the mean weight of two nodes"
        nearest = "" if is_natural else "the nearest on the path to "
        how = f"{nearest}what is natural at resolution {path.usual_resolution:.3g}, {usual}"
    elif clear or progress.out_of_time():
        k, how = candidates[0].k, "the one with the widest range"
    else:
        with progress.stage("suggesting"), progress.within(None):
            k = shortest_description(path, candidates[0].k, progress)
        how = "the one, of the numbers near the best, whose clusters describe its edges in the fewest bits"
    said = sentences(path, candidates)
    if not clear:
        was_tried = not found or bool(without)
        said.insert(0, f"the graph {NOT_SHOWN if was_tried else NOT_TRIED}; {k} is {how}{end_of(path)}")
    if progress.remark:
        said.append(progress.remark)
    return Suggestion(k, clear, tuple(said), candidates, path.seed, path.origin, most_saved)


def own_path(path: ClusterPath, rng: np.random.Generator, progress: Progress) -> ClusterPath:
    """A path over the same ks with the suggestion's seed; the path itself if it has that seed, or time is up."""
    from graphclust.profile.path_builder import path_over

    key = int(rng.integers(2**63))
    if progress.out_of_time() or (path.key == key and not path.cut_short):
        return path
    return path_over(path.ordered, path.kept, list(path.ks), path.aim, [], key, progress)


def all_agree(without: list[ClusterPath], k: int) -> bool:
    """Whether each path without some edges has its widest range at k or near it; small groups may be gone."""
    best = [rank_by_width(path)[:1] for path in without]
    return all(len(found) == 1 and abs(found[0][0] - k) <= (2.0 * NEAR + SHARE_LEFT_OUT) * k for found in best)


def most_nats_saved(
    path: ClusterPath, ks: list[int], saved: list[float], rng: np.random.Generator, progress: Progress
) -> float:
    """The most nats that clusters of any number tried save; NaN if none was tried.

    ks, saved : known before nodes move. If none saves anything, clusters are made for the best of these ks, for the k
    that seems to save most by the figures of the path, and for the smallest.
    """
    most = max(saved, default=-np.inf)
    several = [k for k in path.ks if k > 1]
    if most <= 0.0 and several:
        seems = {k: seems_to_save(path, k) for k in several} if path.aim.definition.by_degree else {}
        best = sorted(seems, key=lambda k: -seems[k])[:1]
        on = weigh(path.part, path.aim.name)
        for k in dict.fromkeys([*ks[:1], *best, several[0]]):
            if most > 0.0 or progress.out_of_time():
                break
            run = run_on(on, rng, progress)
            found = partition_into(run.finest, k, path.aim, EFFORTS["normal"], run)[0]
            most = max(most, nats_saved(path.part, found.labels))
    return float(most) if np.isfinite(most) else float("nan")


def seems_to_save(path: ClusterPath, k: int) -> float:
    """Nats that the partition into k saves at one rate inside clusters, by the figures of a path; see `nats_saved`."""
    figures, n = path.descent.figures[k], path.part.n_nodes
    gain = gain_at_one_rate(figures.inside, figures.squares, edges_worth(path.part))
    return gain - length_of_clusters(n, figures.sizes) + float(np.log(n))


def rank_by_width(path: ClusterPath) -> list[tuple[int, float]]:
    """Numbers of clusters, each with the logarithmic width of its range and the ranges near it; the widest first.

    Numbers that unite connected components are left out if the path holds larger ones.
    """
    fewest, most = max(2, smallest_k_by_components(path)), WELL_BELOW_TOP * len(path.descent.unions)
    ks = np.array([k for k in path.ks if fewest <= k <= max(most, fewest)], np.int64)
    bounds = np.clip([path.ranges[k] for k in ks.tolist()], LOWEST, None).reshape(-1, 2)
    widths = np.log(bounds[:, 1] / bounds[:, 0])
    widths[~np.isfinite(widths)] = 0.0  # the finest partition of a path has no finer one to be compared with
    found: list[tuple[int, float]] = []
    while len(found) < N_CANDIDATES and widths.any():
        together = [float(widths[_are_near(ks, k)].sum()) for k in ks.tolist()]
        window = _are_near(ks, int(ks[np.argmax(together)]))
        k = int(ks[np.where(window, widths, -1.0).argmax()])
        found.append((k, max(together)))
        widths[window | _are_near(ks, k)] = 0.0
    return found


def smallest_k_by_components(path: ClusterPath) -> int:
    """The smallest k of the path that unites no two components; the largest k if all unite some."""
    return next((k for k in path.ks if k >= path.n_components), path.ks[-1])


def end_of(path: ClusterPath) -> str:
    """What was not looked at, since it lies beyond the end of a path."""
    most, n_components = path.ks[-1], path.n_components
    if n_components > most:
        return (
            f"; the path ends at {most:,} clusters, so that some of the {n_components:,} components are united: "
            f"cluster_path(G, ks) goes as far as its ks"
        )
    return f"; the path ends at {most:,}, larger ks were not looked at" if most < len(path.kept) else ""


def _are_near(ks: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.bool_]:
    return np.abs(ks - k) <= NEAR * k


def refine_k(path: ClusterPath, k: int, rng: np.random.Generator, progress: Progress) -> int:
    """The best k near a given one, on a path that starts only a little above, where fewer unions can be wrong."""
    from graphclust.profile.path_builder import path_over

    ks = [other for other in path.ks if other <= CLOSER * k]
    near = path_over(path.ordered, path.kept, ks, path.aim, [], int(rng.integers(2**63)), progress)
    best = rank_by_width(near)
    return best[0][0] if best and abs(best[0][0] - k) <= 2.0 * NEAR * k else k


def stabilities(
    path: ClusterPath, ks: list[int], rng: np.random.Generator, progress: Progress
) -> tuple[list[float], list[ClusterPath]]:
    """For each k the agreement of its partition with those found without a tenth of the edges; NaN if time is up.

    And the paths without these edges, which go a little beyond the largest of the ks.
    """
    from graphclust.profile.path_builder import middle_of_ks, path_over

    if not ks:
        return [], []
    own = {k: path.labels_of_part(k) for k in ks}
    agreement, paths = np.zeros((N_TIMES, len(ks))), []
    for row in agreement:
        if progress.out_of_time():
            break
        less = leave_out_edges(path.part, SHARE_LEFT_OUT, rng)
        # Crumbs come off with the edges.
        kept = np.flatnonzero(nodes_to_partition(less, middle_of_ks(path.ks), "large", [], progress, k_is_open=True))
        possible = [k for k in path.ks if k <= min(max(ks), len(kept))]
        if not possible:
            continue
        other = path_over(less, kept, possible, path.aim, [], int(rng.integers(2**63)), progress)
        row[:] = [adjusted_rand_index(own[k], other.labels_before_moves(k)) if k in other else 0.0 for k in ks]
        paths.append(other)
    mean = agreement.sum(axis=0) / len(paths) if paths else np.full(len(ks), np.nan)
    return mean.tolist(), paths


def shortest_description(path: ClusterPath, k: int, progress: Progress) -> int:
    """The number on the path near k whose clusters describe the edges in the fewest bits.

    Clusters are made for each number: those of the path are better the wider the range over which k is natural.
    """
    rng, on = np.random.default_rng([DRAWS, 2]), weigh(path.part, path.aim.name)
    lengths: dict[int, float] = {}

    def length(k: int) -> float:
        if k not in lengths:
            run = run_on(on, rng, progress)
            lengths[k] = description_length(on, partition_into(run.finest, k, path.aim, EFFORTS["normal"], run)[0].sums)
        return lengths[k]

    fewest = smallest_k_by_components(path)
    near = [other for other in path.ks if max(k / CLOSER, 1.5) < other < CLOSER * k and other >= fewest]
    while not progress.out_of_time():
        fewer = [other for other in near if other <= (1.0 - NEAR) * k]
        more = [other for other in near if other >= (1.0 + NEAR) * k]
        best = min([k, *fewer[-1:], *more[:1]], key=length) if fewer or more else k
        if best == k:
            break
        k = best
    return k


def is_usable(candidate: SuggestedK) -> bool:
    """Whether a candidate is more than an accident; if its stability is unknown, the width decides."""
    return candidate.width >= WIDE and not candidate.stability < FOUND_AGAIN


def is_clear(candidates: tuple[SuggestedK, ...]) -> bool:
    """Whether the first candidate stands out from the others and is stable."""
    lead = candidates[0].width / candidates[1].width if len(candidates) > 1 else np.inf
    stands_out = lead >= CLEAR_LEAD or (lead >= SMALLER_LEAD and candidates[0].stability >= VERY_STABLE)
    return bool(stands_out and candidates[0].width >= CLEAR_WIDTH and candidates[0].stability >= STABLE)


def k_at_resolution(path: ClusterPath, resolution: float) -> int:
    """The k of the path that is natural at a resolution, or the nearest to it."""
    natural = next(k for k, (low, high) in path.ranges.items() if low <= resolution < high)
    fewest = smallest_k_by_components(path)
    return min((k for k in path.ks if k >= fewest), key=lambda k: (abs(k - natural), k))


def sentences(path: ClusterPath, candidates: tuple[SuggestedK, ...]) -> list[str]:
    """A sentence on the range and the stability of each candidate."""
    said = []
    for place, candidate in enumerate(candidates):
        low, high = candidate.best_range
        name = "" if place == 0 else "runner-up: "
        said.append(
            f"{name}{candidate.k} clusters are the best from resolution {low:.3g} to {high:.3g}, with numbers near it "
            f"over a factor of {np.exp(candidate.width):.3g}; "
            + (
                "whether they are stable was not tried"
                if isnan(candidate.stability)
                else "without a tenth of the edges the same clusters were found to an adjusted Rand index of "
                f"{candidate.stability:.2f}"
            )
        )
    if path.ks[-1] < len(path.kept):
        said.append(f"numbers from {path.ks[0]:,} to {path.ks[-1]:,} were looked at")
    if path.aim.is_ratio:
        twin = OBJECTIVES[path.aim.definition.twin].words
        said.append(
            f"{path.aim.name} has no resolution; the ranges are those of {twin} over the partitions made for the cut"
        )
    return said
