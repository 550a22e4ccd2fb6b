"""D²-sampling in kernel space: each next seed is drawn with probability proportional to weight x squared distance.

The fast method keeps the masses in a tree of sums. It starts from x*, the node of least self-affinity: for a node
that shares no edge with a seed the cross term of its distance is zero, so no later seed can be nearer to it than x*
is, and only a new seed and its neighbors change. (Jourdan et al. 2025, Algorithms 1, 2, 6-8.)
"""

from typing import NamedTuple

import numpy as np

from graphclust.checks import Seed, as_choice, as_generator, as_whole_number
from graphclust.compiled.graphs import coreset as loops
from graphclust.errors import ConvergenceWarning, GraphClustError, warn_caller
from graphclust.objective.kernel import NormalizedCutKernel, check_kernel
from graphclust.progress import ProgressLike, as_progress

METHODS = ("tree", "naive")
ENTRIES_PER_STEP = 1 << 22  # row entries between two looks at the progress hook


class Seeds(NamedTuple):
    """Nodes drawn by D²-sampling, and where all nodes stand to them.

    nodes : int64, shape (n_seeds,), in the order drawn; the tree method puts x* first.
    sq_distances : float64, shape (n_nodes,), squared distance of every node to its nearest seed.
    nearest : int64, shape (n_nodes,), position in `nodes` of that seed; x* for all that have no seed as neighbor.
    n_clipped : how often a squared distance came out negative by more than round-off, K being indefinite, and became 0.
    entries_read : entries of the graph's rows that were read.
    """

    nodes: np.ndarray
    sq_distances: np.ndarray
    nearest: np.ndarray
    n_clipped: int
    entries_read: int

    def __repr__(self) -> str:
        return f"Seeds(nodes={self.nodes.tolist()[:10]}, n_seeds={len(self.nodes)}, n_nodes={len(self.nearest)})"


def d2_seeding(
    kernel: NormalizedCutKernel, n_seeds: int, *, method: str = "tree", rng: Seed = None, progress: ProgressLike = None
) -> Seeds:
    """Draw seeds in the kernel's feature space by D²-sampling (k-means++ seeding without vectors).

    kernel : the kernel and the weights of its points.
    n_seeds : how many to draw, >= 1.
    method : "tree" (Algorithm 2) draws x*, then one node uniformly, then n_seeds - 1 by D²-sampling: n_seeds + 1 nodes
        in O(n + sum of degrees of the seeds x log n). The uniform draw may hit x* again, and is then listed twice.
        "naive" (Algorithm 1) draws one uniformly and n_seeds - 1 by D²-sampling in O(n n_seeds).

    Returns `Seeds`; fewer, with a ConvergenceWarning, when no remaining node has a positive distance to them: all
    coincide with a seed, or K is indefinite and distances below 0 were taken for 0, which the warning then says.
    Raises GraphClustError when no node has a distance to any other, as with a zero diagonal; ParameterError or
    TypeError for arguments that cannot be used.

    Source: Jourdan et al. 2025, Section 4, Algorithms 1, 2 and 6 to 8. The paper's Algorithm 2 forgets the update for
    the first uniform draw.

    >>> import networkx as nx
    >>> seeds = d2_seeding(NormalizedCutKernel.of(nx.path_graph(9)), 3, rng=5)
    >>> len(seeds.nodes), seeds.sq_distances[seeds.nodes].tolist()
    (4, [0.0, 0.0, 0.0, 0.0])
    """
    check_kernel(kernel)
    n_seeds = as_whole_number(n_seeds, "n_seeds", at_least=1)
    as_choice(method, "method", METHODS)
    rng, progress = as_generator(rng), as_progress(progress)
    points = kernel.points
    first_uniform = int(points[rng.integers(len(points))])
    uniforms = rng.random(min(n_seeds - 1, len(points)))  # no more can differ
    del points
    draw_all = _draw_by_tree if method == "tree" else _draw_by_scan
    seeds = draw_all(kernel, first_uniform, uniforms, progress)
    expected = n_seeds + (method == "tree")
    if len(seeds.nodes) < expected:
        why = "all other nodes coincide with one of them"
        if seeds.n_clipped > 0:
            why = (
                f"no other node lies at a positive squared distance from them; {seeds.n_clipped} came out negative and "
                "were taken for 0: K is indefinite, a shift > 0 mends that"
            )
        warn_caller(f"only {len(seeds.nodes)} of {expected} seeds were drawn: {why}", ConvergenceWarning)
    return seeds


def _draw_by_tree(kernel: NormalizedCutKernel, first_uniform: int, uniforms, progress) -> Seeds:
    """Seeds drawn by the tree of masses: a draw costs O(log n), an update one row."""
    graph, self_affinity, weights = kernel.graph, kernel.self_affinity, kernel.point_weights
    x_star = int(np.argmin(np.where(weights > 0, self_affinity, np.inf)))
    sq_distances = self_affinity + self_affinity[x_star]
    tree = loops.build_tree(weights * sq_distances)
    if not tree[0] > 0.0:
        raise GraphClustError(
            "the masses of D²-sampling are all 0: K has a zero diagonal; use implied loops or a shift > 0"
        )
    nearest = np.zeros(kernel.n_nodes, np.int64)
    tally = np.zeros(2, np.int64)
    state = graph.rows, kernel.terms(slice(None)), tree, loops.SeedDistances(sq_distances, nearest, tally)
    loops.add_seed(0, x_star, *state)
    loops.add_seed(1, first_uniform, *state)

    nodes = np.concatenate([[x_star, first_uniform], np.zeros(len(uniforms), np.int64)])
    uniforms = np.concatenate([[0.0, 0.0], uniforms])
    seeds_per_step = max(1, int(ENTRIES_PER_STEP * kernel.n_nodes / max(graph.n_entries, 1)))
    rank = 2
    while rank < len(nodes):
        until = min(rank + seeds_per_step, len(nodes))
        rank = loops.draw_seeds(rank, until, uniforms, *state, nodes)
        progress.step(rank, len(nodes))
        if rank < until:
            break
    return Seeds(nodes[:rank], sq_distances, nearest, int(tally[loops.CLIPPED]), int(tally[loops.ENTRIES_READ]))


def _draw_by_scan(kernel: NormalizedCutKernel, first_uniform: int, uniforms, progress) -> Seeds:
    """Seeds drawn by a scan of all masses, which costs O(n) a draw."""
    graph, n = kernel.graph, kernel.n_nodes
    sq_distances, nearest = np.full(n, np.inf), np.zeros(n, np.int64)
    affinity, tally = np.zeros(n), np.zeros(2, np.int64)
    terms, distances = kernel.terms(slice(None)), loops.SeedDistances(sq_distances, nearest, tally)
    nodes = np.zeros(len(uniforms) + 1, np.int64)
    nodes[0] = first_uniform
    for rank in range(len(nodes)):
        if rank > 0:
            chosen = loops.draw_by_scan(kernel.point_weights, sq_distances, uniforms[rank - 1])
            if chosen < 0:
                nodes = nodes[:rank]
                break
            nodes[rank] = chosen
        loops.update_all_distances(rank, nodes[rank], graph.rows, terms, affinity, distances)
        progress.step(rank + 1, len(uniforms) + 1)
    return Seeds(nodes, sq_distances, nearest, int(tally[loops.CLIPPED]), int(tally[loops.ENTRIES_READ]))
