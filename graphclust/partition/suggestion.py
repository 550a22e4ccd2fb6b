"""Which number of clusters a graph shows: the one that is natural over the widest range of resolutions, and stable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt


from graphclust.graph.container import Graph
from graphclust.objective.agreement import adjusted_rand_index

if TYPE_CHECKING:
    from graphclust.partition.path import Path

LOWEST = 0.05  # resolutions below say only that parts of the graph hang together by next to nothing
NEAR = 0.05  # numbers of clusters this near to one another are one answer: of many clusters a few may be two, or one
WELL_BELOW_TOP = 0.85  # the first partitions of a path were not made from better ones
N_PERTURBED, SHARE_LEFT_OUT = 3, 0.1
N_CANDIDATES = 4


class Candidate(NamedTuple):
    k: int
    natural_range: tuple[float, float]
    width: float
    stability: float


@dataclass(frozen=True)
class Suggestion:
    k: int
    clear: bool
    reasons: tuple[str, ...]
    candidates: tuple[Candidate, ...]


def candidates_of(path, n=N_CANDIDATES):
    top = len(path._descent.unions)
    ks = np.array([k for k in path.ks if k <= WELL_BELOW_TOP * top], np.int64)
    if not len(ks): return []
    bounds = np.maximum([path._ranges[k] for k in ks.tolist()], LOWEST)
    widths = np.log(bounds[:, 1] / bounds[:, 0])
    widths[(ks == 1) | ~np.isfinite(widths)] = 0.0
    free = np.ones(len(ks), bool)
    found = []
    for _ in range(n):
        together = np.array([widths[free & near(ks, k)].sum() for k in ks.tolist()]) * free
        best = int(together.argmax())
        if together[best] == 0: break
        window = free & near(ks, ks[best])
        k = int(ks[np.where(window, widths, -1).argmax()])
        found.append((k, float(together[best])))
        free &= ~(near(ks, ks[best]) | near(ks,k))
    return found


def near(ks, k):
    return np.abs(ks - k) <= NEAR * k


def perturbed(graph: Graph, rng) -> Graph:
    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    low, high = np.minimum(rows, graph.indices).astype(np.uint64), np.maximum(rows, graph.indices).astype(np.uint64)
    key = rng.integers(2**64, dtype=np.uint64)
    h = low * np.uint64(0x9E3779B97F4A7C15) + high * np.uint64(0xC2B2AE3D27D4EB4F) + key
    h ^= h >> np.uint64(31); h *= np.uint64(0xBF58476D1CE4E5B9); h ^= h >> np.uint64(29); h *= np.uint64(0x94D049BB133111EB); h ^= h >> np.uint64(32)
    kept = (h >= np.uint64(SHARE_LEFT_OUT * 2**64)) | (low == high)
    indptr = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
    weights = None if graph.weights is None else graph.weights[kept]
    rows = rows[kept]
    degrees = np.bincount(rows, weights=weights, minlength=graph.n_nodes).astype(np.float64)
    return Graph(indptr, graph.indices[kept], weights, degrees, graph.loops)


def stabilities(path, ks, rng):
    from graphclust.partition.path import cluster_path
    out=[]
    for _ in range(N_PERTURBED):
        other = cluster_path(perturbed(path.graph, rng), ks, objective=path.objective, resolution=path._aim.resolution, rng=rng)
        out.append([adjusted_rand_index(path.labels_before_moves(k), other.labels_before_moves(k)) for k in ks])
    return np.mean(out, axis=0)
