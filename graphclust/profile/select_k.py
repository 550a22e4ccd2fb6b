"""Which number of clusters a graph shows: the one that is natural over the widest range of resolutions, and stable.

On planted graphs the planted k is natural over a factor of 2 to 70 in resolution, all others over 2 or less; on random
graphs no k stands out. Numbers within a twentieth of one another count as one answer. Stability and evidence are those
of the clusters that a path returns for each candidate. One fixed seed draws all of it, so that the answer depends on
the graph and the ks, not on the path's seed.

A number is clear if its range stands out, and if its clusters are stable and describe the edges about as well as those
of every other candidate. If none is clear, the candidate is taken that is wide, stable and of much evidence at once.
There are no clusters only where neither the edges nor stability speak for any: few edges may not suffice for evidence,
while groups are found again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.engine.likelihood import (
    EVIDENCE,
    edges_worth,
    evidence_in_words,
    gain_at_one_rate,
    length_of_clusters,
    nats_saved,
)
from graphclust.html_table import html_text
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.objective import OBJECTIVES
from graphclust.partition.components import nodes_to_partition
from graphclust.progress import Progress
from graphclust.results.confidence import leave_out_edges

if TYPE_CHECKING:
    from graphclust.profile.path import ClusterPath

DRAWS = 0  # the seed of all that a suggestion draws
LOWEST = 0.05  # lower resolutions only show components, or parts linked by next to nothing
NEAR = 0.05  # relative to k; planted graphs with power-law sizes spread over no more
WELL_BELOW_TOP = 0.85  # of the first k of a path: partitions above have few unions and moves behind them
CLOSER = 1.2  # times the best k: up to there go the second path, and those without some edges
# The best and three runners-up, as many as a reader looks over, of at least this share of the widest range: what is
# narrower could not be the answer, and large numbers would take most of the time.
N_CANDIDATES, NARROWEST = 4, 0.2
N_TIMES, SHARE_LEFT_OUT = 3, 0.1  # paths with edges left out, and the share left out, as for `certainty`
# Width (a logarithm), lead over the runner-up, and stability of a clear answer. The least clear of 20 planted graphs
# had 0.7, 2 and 0.56; random and regular graphs, grids, trees and cycles miss one of the bounds or more. On a network
# of friends 2 clusters have 0.57, and others are the widest for 3 of 19 draws of the paths.
CLEAR_WIDTH, CLEAR_LEAD, STABLE = 0.6, 2.0, 0.5
SMALLER_LEAD, VERY_STABLE = 1.5, 0.75  # half as far above 1 as a clear lead, and half as far below 1 as STABLE
# Of the most evidence among stable candidates: planted numbers have 0.99 or more, 6 clusters of a network of products,
# which has 8 classes and 13 clusters that fit better, 0.76.
AS_GOOD = 0.85
# Stability that is a sign without evidence, over a range of clear width: three groups of 15 families have 0.63, two of
# a random graph with weights of log-normal law 0.53, clusters of random graphs of 300 nodes without weights 0.3.
FOUND_AGAIN = 0.6
NARROWER = 0.5  # than the widest range: an unclear number is never narrower
NOT_SHOWN, NOT_TRIED = "shows no number of clusters clearly", "was not tried for a number that it shows"


class SuggestedK(NamedTuple):
    """A number of clusters that may be the right one.

    best_range : from which resolution to which its partition is the best of the path. width : the logarithm of the
    factor over which it, or a number within a twentieth of it, is the best. stability : mean adjusted Rand index of the
    clusters that a path returns and of as many found without a tenth of the edges; NaN if a time budget left no time.
    nats_saved : the evidence for these clusters; see `Certainty.nats_saved`.
    """

    k: int
    best_range: tuple[float, float]
    width: float
    stability: float
    nats_saved: float = float("nan")


@dataclass(frozen=True)
class Suggestion:
    """The k that a graph shows; the same for every seed of the path, since all draws have a fixed seed.

    k : the number of clusters. If nothing shows clusters, it is 1, or the number of the components. It unites no two
        connected components that are searched, unless the path ends before; `reasons` say where it ends.
    clear : whether the graph shows k clearly. If not, k is one way to look at the graph: of the candidates with at
        least half the widest range the one of the greatest product of width, stability and evidence.
    reasons : plain sentences; `str(suggestion)` is all of them.
    candidates : the numbers with the widest ranges, the widest first. runners_up : the candidates other than k.
    seed, origin : those of the path.
    nats_saved : the most evidence for the clusters of any number tried. If it is not above 0, the edges do not tell
        assortative clusters from noise, and no number is clear unless it is that of the components.
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
        ranked = rank_by_width(own)
        if ranked and not progress.out_of_time():
            ranked = rank_by_width(own, refine_k(own, ranked[0][0], rng, progress))
        labels = {k: labels_on_path(own, k, progress) for k, _ in ranked}
        stable, without = stabilities(own, labels, rng, progress)
        evidence = {k: nats_saved(own.part, of) for k, of in labels.items()}
        candidates = tuple(SuggestedK(k, own.best_range(k), width, stable[k], evidence[k]) for k, width in ranked)
        evidence |= evidence_elsewhere(own, evidence, progress)
    most = max(evidence.values(), default=nan)
    clear = is_clear(candidates, path.n_components) and path.ks[-1] >= path.n_components
    clear = clear and all_agree(without, candidates[0].k)
    if clear:
        k, how = candidates[0].k, ""
    elif most > 0.0 or any(one.width >= CLEAR_WIDTH and not one.stability < FOUND_AGAIN for one in candidates):
        k = best_all_round(candidates) if candidates else max(evidence, key=lambda k: evidence[k])
        figures = "range, stability and evidence" if most > 0.0 else "range and stability"
        how = f"the one, of those with a wide range, whose {figures} are the best together"
        how += "" if most > 0.0 else ", though the edges give no evidence"
    else:
        k = smallest_k_by_components(path)
        how = "the fewest, since nothing shows assortative clusters" + (" inside the components" if k > 1 else "")
        if not isnan(most):
            how += (
                f": those that were tried take {-most:.3g} nats more than a single cluster does to describe the edges, "
                "or more, and none with a wide range are found again without a tenth of the edges"
            )
    said = sentences(path, candidates)
    if not clear:
        was_tried = not ranked or bool(without)
        said.insert(0, f"the graph {NOT_SHOWN if was_tried else NOT_TRIED}; {k} is {how}{describe_end(path)}")
    return Suggestion(k, clear, (*said, *progress.remarks), candidates, path.seed, path.origin, most)


def middle_of_ks(ks: Sequence[int]) -> int:
    """The number of clusters in the middle of increasing ks on a logarithmic scale."""
    return max(1, round(sqrt(ks[0] * ks[-1])))


def own_path(path: ClusterPath, rng: np.random.Generator, progress: Progress) -> ClusterPath:
    """A path over the same ks with the suggestion's seed; the path itself if it has that seed, or time is up."""
    key = int(rng.integers(2**63))
    if progress.out_of_time() or (path.key == key and not path.cut_short):
        return path
    own = path.over(path.ordered, path.kept, path.ks, key, progress)
    own.sizes, own.bounds = path.sizes, path.bounds
    return own


def all_agree(without: list[ClusterPath], k: int) -> bool:
    """Whether each path without some edges has its widest range at k or near it; small groups may be gone."""
    best = [rank_by_width(path)[:1] for path in without]
    return all(len(widest) == 1 and abs(widest[0][0] - k) <= (2.0 * NEAR + SHARE_LEFT_OUT) * k for widest in best)


def labels_on_path(path: ClusterPath, k: int, progress: Progress) -> npt.NDArray[np.int64]:
    """The clusters that the path returns, for the nodes of `part`."""
    labels: npt.NDArray[np.int64] = path.clustering(k, progress=progress).labels
    return labels[path.order[path.kept]]


def evidence_elsewhere(path: ClusterPath, evidence: dict[int, float], progress: Progress) -> dict[int, float]:
    """k -> nats saved, if no candidate saves any, by the k that seems to save most, and by the smallest."""
    saved: dict[int, float] = {}

    def seems_to_save(k: int) -> float:
        """Nats saved at one rate inside clusters, but for what is the same for every k; see `nats_saved`."""
        figures = path.descent.figures[k]
        gain = gain_at_one_rate(figures.inside, figures.squares, edges_worth(path.part))
        return gain - length_of_clusters(path.part.n_nodes, figures.sizes)

    several = [k for k in path.ks if k >= max(2, smallest_k_by_components(path))]
    by_figures = several if path.choice.spec.by_degree else []
    for k in (max(by_figures, key=seems_to_save, default=None), *several[:1]):
        if max([*evidence.values(), *saved.values()], default=0.0) > 0.0 or progress.out_of_time():
            break
        if k is not None:
            saved[k] = nats_saved(path.part, labels_on_path(path, k, progress))
    return saved


def rank_by_width(path: ClusterPath, first: int | None = None) -> list[tuple[int, float]]:
    """Numbers of clusters, each with the logarithmic width of its range and the ranges near it; the widest first.

    Numbers that unite connected components are left out if the path holds larger ones. first : stands first, if given.
    """
    fewest, most = max(2, smallest_k_by_components(path)), WELL_BELOW_TOP * len(path.descent.unions)
    ks = np.array([k for k in path.ks if fewest <= k <= max(most, fewest)], np.int64)
    widths = widths_of(path, ks)
    ranked: list[tuple[int, float]] = []
    while len(ranked) < N_CANDIDATES and widths.any():
        together = [float(widths[_are_near(ks, k)].sum()) for k in ks.tolist()]
        if ranked and max(together) < NARROWEST * ranked[0][1]:
            break
        window = _are_near(ks, int(ks[np.argmax(together)]))
        k = first if first and not ranked else int(ks[np.where(window, widths, -1.0).argmax()])
        ranked.append((k, float(widths[_are_near(ks, k)].sum())))
        widths[window | _are_near(ks, k)] = 0.0
    return sorted(ranked, key=lambda one: -one[1])


def widths_of(path: ClusterPath, ks: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The logarithm of the factor in resolution over which each of the ks is the best of the path."""
    bounds = np.clip([path.ranges[k] for k in ks.tolist()], LOWEST, None).reshape(-1, 2)
    widths = np.log(bounds[:, 1] / bounds[:, 0])
    widths[~np.isfinite(widths)] = 0.0  # the finest partition of a path has no finer one to be compared with
    return widths


def smallest_k_by_components(path: ClusterPath) -> int:
    """The smallest k of the path that unites no two components; the largest k if all unite some."""
    return next((k for k in path.ks if k >= path.n_components), path.ks[-1])


def describe_end(path: ClusterPath) -> str:
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
    """The best of the numbers that count as k, on this path and one that starts a little above, by fewer unions."""
    all_ks = np.array(path.ks, np.int64)
    same = all_ks[_are_near(all_ks, k)]
    if len(same) == 1:
        return k
    below = [other for other in path.ks if other <= CLOSER * k]
    near = path.over(path.ordered, path.kept, below, int(rng.integers(2**63)), progress)
    return int(same[(widths_of(path, same) + widths_of(near, same)).argmax()])


def stabilities(
    path: ClusterPath, labels: dict[int, npt.NDArray[np.int64]], rng: np.random.Generator, progress: Progress
) -> tuple[dict[int, float], list[ClusterPath]]:
    """k -> the agreement of its labels with those found without a tenth of the edges; NaN if time is up.

    And the paths without these edges, which go a little beyond the largest of the ks.
    """
    agreement: dict[int, list[float]] = {k: [] for k in labels}
    paths: list[ClusterPath] = []
    for _ in range(N_TIMES if labels else 0):
        if progress.out_of_time():
            break
        less = leave_out_edges(path.part, SHARE_LEFT_OUT, rng)
        # Crumbs come off with the edges.
        kept = np.flatnonzero(nodes_to_partition(less, middle_of_ks(path.ks), "large", progress, k_is_open=True).nodes)
        possible = [k for k in path.ks if k <= min(CLOSER * max(labels), len(kept))]
        if not possible:
            continue
        other = path.over(less, kept, possible, int(rng.integers(2**63)), progress)
        for k, own in labels.items():
            again = np.full(len(own), -1, np.int64)
            if k in other:
                again[kept] = other.labels_after_moves(k)
            agreement[k].append(adjusted_rand_index(own, again) if k in other else 0.0)
        paths.append(other)
    return {k: float(np.mean(values)) if values else nan for k, values in agreement.items()}, paths


def is_clear(candidates: tuple[SuggestedK, ...], n_components: int) -> bool:
    """Whether the first candidate stands out, is stable, and has evidence as others do, or is that of components."""
    if not candidates:
        return False
    first, others = candidates[0], candidates[1:]
    lead = first.width / others[0].width if others else np.inf
    stands_out = lead >= CLEAR_LEAD or (lead >= SMALLER_LEAD and first.stability >= VERY_STABLE)
    most = max((one.nats_saved for one in others if one.stability >= STABLE), default=0.0)
    has_evidence = first.nats_saved > 0.0 and first.nats_saved >= AS_GOOD * most
    has_evidence = has_evidence or first.k == n_components
    return bool(stands_out and first.width >= CLEAR_WIDTH and first.stability >= STABLE and has_evidence)


def best_all_round(candidates: tuple[SuggestedK, ...]) -> int:
    """The k of the greatest product of width, stability and evidence, if these are known, among the wider ranges."""
    wide = [one for one in candidates if one.width >= NARROWER * candidates[0].width]
    has_evidence = any(one.nats_saved > 0.0 for one in wide)

    def product(one: SuggestedK) -> float:
        stability = 1.0 if isnan(one.stability) else max(one.stability, 0.0)
        return one.width * stability * (max(one.nats_saved, 0.0) if has_evidence else 1.0)

    return max(wide, key=product).k


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
            + f"; evidence: {evidence_in_words(candidate.nats_saved)}"
        )
    if candidates:
        said.append(EVIDENCE)
    if path.ks[-1] < len(path.kept):
        said.append(f"numbers from {path.ks[0]:,} to {path.ks[-1]:,} were looked at")
    if path.choice.is_ratio:
        words = OBJECTIVES[path.choice.spec.additive].words
        said.append(
            f"{path.choice.name} has no resolution; the ranges of {words} are those of partitions made for the cut"
        )
    return said
