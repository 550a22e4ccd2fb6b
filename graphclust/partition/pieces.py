"""What clusters have of fragments, the regions that they were merged from: pieces, merged anew by their links.

Moves by the cut part fragments that held nodes of two clusters; so pieces are purer, and merged anew they part what the
fragments could not.
"""

from __future__ import annotations

import numpy as np

from graphclust.objective.objective import Aim, Weighed, chance_objective
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.cycles import Assigned, Search, assigned, in_cycles
from graphclust.partition.merging import merged
from graphclust.partition.multilevel import resolutions_of_regions
from graphclust.partition.purity import united_below
from graphclust.partition.reduction import taken, used_labels
from graphclust.partition.resolution import Goal, goal_of
from graphclust.progress import Progress


def merged_anew(
    aim: Aim,
    quotient: Weighed,
    of_piece: np.ndarray,
    k: int,
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Assigned, Goal]:
    """The partition of the pieces turned to another aim, on the quotient graph of the pieces."""
    n_pieces = quotient.graph.n_nodes
    tree = np.full(n_pieces, -np.inf)
    by_tree, _ = merged(quotient, k, chance_objective(quotient), progress, tree)
    tree /= quotient.chance
    # The resolutions at which k is natural start where no two of the clusters belong together.
    tree[k - 1] = min(united_below(quotient, of, k) for of in (of_piece, by_tree))
    goal = goal_of(aim, quotient, k, tree)
    found = assigned(quotient, of_piece, k)
    if are_same_clusters(of_piece, by_tree, quotient.terms.degrees):
        return found, goal
    resolutions = resolutions_of_regions(aim, tree, k)
    search = Search(k, goal.objective, resolutions, effort, rng, progress)
    return in_cycles(quotient, found, search, each=effort > 1.0), goal


def are_same_clusters(labels: np.ndarray, other: np.ndarray, volumes: np.ndarray) -> bool:
    """Whether each cluster has most of its volume in common with another cluster of the other partition."""
    pairs, place = np.unique(labels.astype(np.int64) * (int(other.max()) + 1) + other, return_inverse=True)
    cluster, counterpart = np.divmod(pairs, int(other.max()) + 1)
    order = np.lexsort((-np.bincount(place, weights=volumes), cluster))
    largest = order[np.flatnonzero(np.diff(cluster, prepend=-1))]
    return len(np.unique(counterpart[largest])) == len(largest)


def common_pieces(degrees: np.ndarray, labels: np.ndarray, fragments: np.ndarray) -> tuple[np.ndarray, int]:
    """What each cluster has of each fragment, int32, and how many pieces that makes; crumbs stay with their cluster."""
    n_fragments = int(fragments.max()) + 1
    pieces, n_pieces = used_labels(labels.astype(np.int64) * n_fragments + fragments)
    volumes = np.bincount(np.maximum(pieces, 0), weights=degrees)
    crumbs = (volumes < HARDLY_ANY * degrees.sum() / n_fragments).astype(np.int8)
    return used_labels(np.where(taken(crumbs, pieces) > 0, n_pieces + labels, pieces))
