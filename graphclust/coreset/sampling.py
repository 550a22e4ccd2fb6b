"""A coreset: few weighted nodes whose clustering cost is, in expectation, that of the graph.

First D²-sampling in kernel space: each next seed is drawn with probability proportional to weight x squared distance.
The fast method keeps the masses in a tree of sums. It starts from x*, the node of least self-affinity: for a node that
shares no edge with a seed the cross term of its distance is zero, so no later seed can be nearer to it than x* is, and
only a new seed and its neighbors change (Jourdan et al. 2025, Algorithms 1, 2, 6-8). Then importance sampling by the
distances to these seeds (Jiang, Krauthgamer, Lou & Zhang 2024 for kernels; Jourdan et al. 2025, Algorithms 4 and 5).
"""

from dataclasses import dataclass, replace
from math import ceil, log
from typing import NamedTuple

import numpy as np

from graphclust.checks import (
    K_OF_GRAPH,
    Seed,
    as_array,
    as_choice,
    as_generator,
    as_number,
    as_whole_number,
    check_type,
)
from graphclust.compiled.graphs import coreset as loops
from graphclust.compiled.runtime.blocks import coarse_blocks
from graphclust.coreset.by_blocks import NO_MASS, SeedSums, draw_in_proportion, sample_by_blocks, sensitivities_of
from graphclust.errors import ConvergenceWarning, GraphClustError, GraphValidationError, ParameterError, warn_caller
from graphclust.graph.executor import Engine
from graphclust.objective.kernel import NormalizedCutKernel, check_kernel
from graphclust.progress import ProgressLike, as_progress

ONE_BY_ONE = ("tree", "naive")  # seeds are drawn one after the other
ENTRIES_PER_STEP = 1 << 22  # row entries between two looks at the progress hook
SAMPLINGS = (*ONE_BY_ONE, "parallel", "uniform")
SECOND_TERMS = ("seed_weight", "voronoi")


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
    as_choice(method, "method", ONE_BY_ONE)
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
        raise GraphClustError(NO_MASS)
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
            masses = kernel.point_weights * sq_distances
            running = np.cumsum(masses)
            if not running[-1] > 0.0:
                nodes = nodes[:rank]
                break
            chosen = np.searchsorted(running, uniforms[rank - 1] * running[-1], side="right")
            nodes[rank] = chosen if chosen < n else np.flatnonzero(masses)[-1]
        loops.update_all_distances(rank, nodes[rank], graph.rows, terms, affinity, distances)
        progress.step(rank + 1, len(uniforms) + 1)
    return Seeds(nodes, sq_distances, nearest, int(tally[loops.CLIPPED]), int(tally[loops.ENTRIES_READ]))


@dataclass(frozen=True, eq=False)
class CoresetSample:
    """Weighted nodes that stand for the whole graph.

    nodes : int64, shape (m,), increasing, each once.
    weights : float64 >= 0, shape (m,); their sum is in expectation the graph's volume, implied loops included.
    n_clipped : how many negative squared distances became 0 while it was sampled (see `Seeds`).
    entries_read : entries of the graph's rows that were read to sample it.
    """

    nodes: np.ndarray
    weights: np.ndarray
    n_clipped: int = 0
    entries_read: int = 0

    def __repr__(self) -> str:
        return f"CoresetSample(nodes={len(self.nodes)}, weight={self.weights.sum():.6g}, n_clipped={self.n_clipped})"


def check_coreset(kernel: NormalizedCutKernel, coreset: CoresetSample) -> None:
    """Refuse nodes that are not increasing points of the graph, and weights that are not finite numbers >= 0."""
    check_kernel(kernel)
    check_type(coreset, CoresetSample, "coreset", "construct_coreset(kernel, ...) draws one")
    nodes, weights = as_array(coreset.nodes, "coreset.nodes"), as_array(coreset.weights, "coreset.weights")
    if nodes.dtype.kind not in "iu" or nodes.ndim != 1 or weights.shape != nodes.shape:
        raise GraphValidationError(
            f"coreset has nodes of dtype {nodes.dtype}, shape {nodes.shape}, and weights of shape {weights.shape}, "
            "expected whole numbers (m,) and a weight for each"
        )
    if len(nodes) and not (nodes[0] >= 0 and nodes[-1] < kernel.n_nodes and (np.diff(nodes) > 0).all()):
        raise GraphValidationError(
            f"coreset.nodes must increase within [0, {kernel.n_nodes}), each node once; sort them with their weights"
        )
    if (kernel.degrees[nodes] == 0.0).any():
        isolated = nodes[kernel.degrees[nodes] == 0.0][0]
        raise GraphValidationError(f"coreset.nodes holds {isolated}, which has no edges, expected nodes with edges")
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))[0]
        raise GraphValidationError(f"coreset.weights[{bad}] is {weights[bad]}, expected finite weights >= 0")
    if not weights.any():
        raise GraphValidationError("coreset.weights is zero everywhere, expected a positive weight somewhere")


def sampling_probabilities(
    kernel: NormalizedCutKernel, seeds: Seeds, *, second_term: str = "seed_weight"
) -> np.ndarray:
    """Probability of each node in one draw of importance sampling; shape (n_nodes,), sums to 1.

    It is proportional to w_x Delta(x, seeds) / cost + a second term:
    "seed_weight": w_x / total weight of the seeds (Jourdan et al. 2025, Algorithm 5, as printed), which on graphs makes
    the probability nearly proportional to the degree;
    "voronoi": w_x / weight of all nodes with the same nearest seed (Jiang et al. 2024).

    Raises ParameterError for another `second_term`.

    Source: Jourdan et al. 2025, Algorithm 5; Jiang, Krauthgamer, Lou & Zhang 2024.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.path_graph(3))  # weights 2, 3, 2
    >>> seeds = Seeds(np.array([1]), np.array([1.0, 0.0, 1.0]), np.zeros(3, int), 0, 0)
    >>> sampling_probabilities(kernel, seeds).round(3).tolist()  # in proportion to 2/4 + 2/3, 3/3, 2/4 + 2/3
    [0.35, 0.3, 0.35]
    """
    check_kernel(kernel)
    check_type(seeds, Seeds, "seeds", "d2_seeding(kernel, ...) draws them")
    as_choice(second_term, "second_term", SECOND_TERMS)
    weights = kernel.point_weights
    cost, volumes = float((weights * seeds.sq_distances).sum()), None
    if second_term == "voronoi":
        volumes = np.bincount(seeds.nearest, weights=weights, minlength=len(seeds.nodes))
    sums = SeedSums(cost, float(weights[np.unique(seeds.nodes)].sum()), volumes)
    sensitivity = sensitivities_of(weights, seeds.sq_distances, seeds.nearest, sums)
    sensitivity /= sensitivity.sum()
    return sensitivity


def importance_sample(
    kernel: NormalizedCutKernel, seeds: Seeds, size: int, *, second_term: str = "seed_weight", rng: Seed = None
) -> CoresetSample:
    """Draw `size` nodes independently, with repetition; a node drawn c times gets weight c w_x / (p_x size).

    The cost of any set of centers on the coreset is then an unbiased estimate of its cost on the graph.

    size : number of draws, >= 1; the coreset has at most that many nodes. See `sampling_probabilities` for the rest.

    Raises ParameterError or TypeError for a size or a word that cannot be used.

    Source: Jourdan et al. 2025, Algorithm 5; Jiang, Krauthgamer, Lou & Zhang 2024.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.path_graph(9))
    >>> coreset = importance_sample(kernel, d2_seeding(kernel, 2, rng=1), 5, rng=1)
    >>> bool(len(coreset.nodes) <= 5 and (coreset.weights > 0).all())
    True
    """
    size = as_whole_number(size, "size", at_least=1)
    rng = as_generator(rng)
    probabilities = sampling_probabilities(kernel, seeds, second_term=second_term)
    nodes, counts = draw_in_proportion(probabilities, rng.random(size))
    return CoresetSample(nodes, counts * kernel.point_weights[nodes] / (probabilities[nodes] * size))


def construct_coreset(
    kernel: NormalizedCutKernel,
    k: int,
    size: int,
    *,
    oversampling: float = 2.0,
    sampling: str = "tree",
    second_term: str = "seed_weight",
    rounds: int = 1,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> CoresetSample:
    """A coreset for k clusters: D²-sampling of ceil(oversampling k) seeds, then importance sampling.

    size : draws of the last round. When there are no more points than that, all of them are the coreset, exactly.
    sampling : "tree" or "naive", see `d2_seeding`; "parallel" (k-means||), which draws about as many seeds in five
        rounds, in each of which every node is drawn independently, so that machines can share the work; or "uniform", a
        baseline with equal probabilities. second_term : see `sampling_probabilities`.
    rounds : with more than one, each round samples from the coreset of the round before (Algorithm 4). The sizes are in
        proportion to eps_i^-2 log|X_(i-1)|, eps_i ~ (log^(i) n)^(-1/4), and end at `size`; a round with no fewer draws
        than the coreset has nodes is left out. The papers' experiments use one round.

    Raises ParameterError when size < k, ParameterError or TypeError for other arguments that cannot be used,
    GraphClustError when no node has a distance to any other (see `d2_seeding`).

    Source: Jourdan et al. 2025, Algorithms 4 and 5; Jiang, Krauthgamer, Lou & Zhang 2024; the rounds of "parallel" as
    in Bahmani et al. 2012.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.karate_club_graph())
    >>> len(construct_coreset(kernel, 2, 34, rng=0).nodes)
    34
    """
    check_kernel(kernel)
    k = as_whole_number(k, "k", at_least=1, if_none=K_OF_GRAPH)
    size = as_whole_number(size, "size", at_least=1)
    rounds = as_whole_number(rounds, "rounds", at_least=1)
    oversampling = as_number(oversampling, "oversampling", above=0.0)
    as_choice(sampling, "sampling", SAMPLINGS)
    as_choice(second_term, "second_term", SECOND_TERMS)
    if size < k:
        raise ParameterError(f"size={size} is less than k={k}, expected at least one coreset node a cluster")
    rng, progress = as_generator(rng), as_progress(progress)

    n_points = int(np.count_nonzero(kernel.point_weights > 0))
    coreset: CoresetSample | None = None  # all points
    n_clipped = entries_read = 0
    for round_size in _round_sizes(n_points, size, rounds):
        if (n_points if coreset is None else len(coreset.nodes)) <= round_size:
            continue
        inner = kernel if coreset is None else kernel.restrict_kernel(coreset.nodes, coreset.weights)
        if sampling == "uniform":
            points = inner.points  # a point drawn c times weighs c w n / size, so that costs are unbiased
            nodes, counts = np.unique(points[rng.integers(len(points), size=round_size)], return_counts=True)
            sample = CoresetSample(nodes, counts * inner.point_weights[nodes] * (len(points) / round_size))
        elif sampling == "parallel":
            engine = Engine(inner, coarse_blocks(inner.graph.indptr))
            n_seeds, key = ceil(oversampling * k), int(rng.integers(2**63))
            drawn = sample_by_blocks(engine, n_seeds, round_size, second_term, key, progress)
            sample = CoresetSample(*engine.fetch(drawn.joined))
            n_clipped += drawn.n_clipped
            entries_read += drawn.entries_read
        else:
            with progress.stage("D²-sampling"):
                seeds = d2_seeding(inner, ceil(oversampling * k), method=sampling, rng=rng, progress=progress)
            with progress.stage("importance sampling"):
                sample = importance_sample(inner, seeds, round_size, second_term=second_term, rng=rng)
            n_clipped += seeds.n_clipped
            entries_read += seeds.entries_read
        coreset = sample if coreset is None else CoresetSample(coreset.nodes[sample.nodes], sample.weights)
    if coreset is None:
        points = kernel.points
        coreset = CoresetSample(points, kernel.point_weights[points])
    return replace(coreset, n_clipped=n_clipped, entries_read=entries_read)


def _round_sizes(n_points: int, size: int, rounds: int) -> list[int]:
    """Draws of each round: c sqrt(log^(i) n) log|X_(i-1)|, with c such that the last is `size`."""
    if rounds == 1:
        return [size]

    def sizes(scale: float) -> list[float]:
        draws, previous, iterated = [], float(n_points), float(n_points)
        for _ in range(rounds):
            iterated = max(log(iterated), 1.0) if iterated > 1.0 else 1.0
            previous = min(previous, scale * iterated**0.5 * max(log(previous), 1.0))
            draws.append(previous)
        return draws

    low, high = 0.0, float(n_points)
    for _ in range(100):  # bisection: the last size grows with the scale
        middle = (low + high) / 2
        low, high = (middle, high) if sizes(middle)[-1] < size else (low, middle)
    return [*(max(size, round(s)) for s in sizes(high)[:-1]), size]
