"""Random graphs with planted clusters: stochastic block models, plain and degree-corrected, at any scale.

Each pair of nodes is decided independently. The walk along a row jumps from edge to edge instead of asking every
pair (Batagelj and Brandes 2005, "Efficient generation of large random networks"), and every row has its own replayable
stream of random numbers: a first pass counts, a second writes each entry to its final place. So the rows come out
sorted, nothing is ever sorted, and the memory is that of the graph and a few numbers a node. Degree correction
follows Karrer and Newman 2011, "Stochastic blockmodels and community structure in networks".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from graphclust.checks import Seed, as_generator, as_number, as_whole_number
from graphclust.compiled.graphs.generators import BlockModel, DrawnRows, draw_rows
from graphclust.compiled.runtime.blocks import run_in_blocks
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph

__all__ = ["PlantedGraph", "lfr_like", "planted_partition", "stochastic_block_model"]

LANES = 8  # runs of consecutive rows that are drawn side by side; fixed, though any number gives the same graph
DRAWS_PER_CALL = 1 << 22
MOST_NODES = 2**31 - 1
MOST_SHARES = 1 << 20  # of sizes of blocks; more only where there are as many nodes


class PlantedGraph(NamedTuple):
    """A generated graph and the planted cluster of each node: int64 labels of shape (n_nodes,)."""

    graph: Graph
    labels: np.ndarray


def stochastic_block_model(
    sizes: Sequence[int],
    p: float | Sequence[float],
    q: float,
    *,
    self_loops: bool = False,
    degree_exponent: float | None = None,
    rng: Seed = None,
) -> PlantedGraph:
    """A graph of blocks: two nodes of one block are joined with probability p, of different blocks with q.

    sizes : number of nodes of each block; block b is the b-th run of consecutive nodes.
    p, q : probabilities in [0, 1]; p may be one number for each block.
    self_loops : give every node a loop of weight 1, as the published experiments do.
    degree_exponent : None, or an exponent > 2: the nodes get propensities t with density proportional to t^-exponent
        (cut off at sqrt(n) times the least, scaled to mean 1 within each block), and nodes u, v are joined with
        probability 1 - (1 - p)^(t_u t_v), which is p where both are 1 and near t_u t_v p where that is small.

    Returns a `PlantedGraph(graph, labels)`; the same `rng` gives the same graph on any number of threads.
    Time and memory are those of the result: O(nodes + edges), and some 60 bytes a node besides the graph's own arrays.
    Raises ParameterError for sizes < 1, probabilities outside [0, 1] or an exponent <= 2.

    >>> graph, labels = stochastic_block_model([30, 50], p=0.5, q=0.01, rng=7)
    >>> graph
    Graph(80 nodes, 830 edges, unweighted)
    >>> labels[[0, 29, 30, 79]]
    array([0, 0, 1, 1])
    """
    rng = as_generator(rng)
    blocks = _as_sizes(sizes)
    n = int(blocks.sum())
    each: Any = p if np.ndim(p) else [p] * len(blocks)
    if len(each) != len(blocks):
        allowed = f"expected one number or one for each of {len(blocks)} blocks"
        raise ParameterError(f"p holds {len(each)} probabilities, {allowed}")
    inside = np.array([_as_probability(one, f"p[{b}]" if np.ndim(p) else "p") for b, one in enumerate(each)])
    q = _as_probability(q, "q")
    ends = np.cumsum(blocks)
    labels = np.repeat(np.arange(len(blocks)), blocks)

    positions, guide = np.empty(0), np.empty(0, np.int32)
    if degree_exponent is not None:
        exponent = as_number(degree_exponent, "degree_exponent", above=2.0)
        propensity = np.minimum((1.0 - rng.random(n)) ** (-1.0 / (exponent - 1.0)), np.sqrt(n))
        propensity *= (blocks / np.bincount(labels, weights=propensity))[labels]
        positions = np.concatenate([[0.0], np.cumsum(propensity)])
        # For each whole number the first node whose stretch of the line ends beyond it.
        guide = np.searchsorted(positions[1:], np.arange(np.ceil(positions[-1])), side="right").astype(np.int32)
        del propensity
    expected = inside[labels] * (ends[labels] - np.arange(n)) + q * (n - ends[labels])  # draws of each row
    work = np.cumsum(1.0 + expected)
    del expected
    starts = np.searchsorted(work, work[-1] * np.arange(LANES) / LANES)
    lanes = np.unique(np.append(starts, n))  # runs of rows of about equal work, each in several calls
    n_parts = 1 + int(work[-1]) // (LANES * DRAWS_PER_CALL)
    del work
    key = rng.integers(2**64, dtype=np.uint64)
    with np.errstate(divide="ignore"):
        rates = -np.log1p(-inside), float(-np.log1p(-q))  # of hits on a stretch of length 1; infinite for 1
    upper = np.empty(n, np.int32)
    arrived = np.zeros((len(lanes) - 1, n), np.int32)
    model = BlockModel(key, ends, *rates, positions, guide, bool(self_loops))

    def draw(indptr: np.ndarray, indices: np.ndarray) -> None:
        for part in range(n_parts):
            run_in_blocks(draw_rows, lanes, part, n_parts, model, DrawnRows(indptr, indices, upper, arrived))

    draw(np.zeros(0, np.int64), np.empty(0, np.int32))

    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(arrived.sum(axis=0) + upper + bool(self_loops), out=indptr[1:])
    for lane in range(len(arrived) - 1, 0, -1):  # from how many each lane sends to how many came before
        arrived[lane] = arrived[:lane].sum(axis=0)
    arrived[0] = 0
    indices = np.empty(indptr[-1], np.int32)
    if len(indices):
        draw(indptr, indices)
    degrees = np.diff(indptr).astype(np.float64)
    graph = Graph(indptr, indices, None, degrees, np.full(n, float(bool(self_loops))))
    return PlantedGraph(graph, labels)


def planted_partition(
    n_blocks: int,
    block_size: int,
    inside_degree: float,
    outside_degree: float,
    *,
    size_ratio: float = 1.0,
    degree_exponent: float | None = None,
    rng: Seed = None,
) -> PlantedGraph:
    """A stochastic block model given by mean degrees: neighbors in the own block, and neighbors in all others.

    n_blocks, block_size : number of blocks, and their mean size.
    inside_degree : mean number of neighbors in the own block, the same for every block.
    outside_degree : mean number of neighbors elsewhere, over all nodes.
    size_ratio : each block's size over the one before; 1 gives equal blocks, 0.85 strongly unbalanced ones.
    degree_exponent : see `stochastic_block_model`; with it the mean degrees come out a little smaller.

    Returns a `PlantedGraph(graph, labels)`. Raises ParameterError where a block is too small for its inside degree, or
    the rest of the graph for the outside degree.

    >>> graph, labels = planted_partition(10, 100, inside_degree=12, outside_degree=3, rng=7)
    >>> round(graph.total_volume / graph.n_nodes, 1)
    15.0
    """
    n_blocks = as_whole_number(n_blocks, "n_blocks", at_least=1)
    block_size = as_whole_number(block_size, "block_size", at_least=1)
    inside_degree = as_number(inside_degree, "inside_degree", at_least=0.0)
    outside_degree = as_number(outside_degree, "outside_degree", at_least=0.0)
    size_ratio = as_number(size_ratio, "size_ratio", above=0.0)
    n = n_blocks * block_size
    if n > MOST_NODES:
        raise ParameterError(f"n_blocks={n_blocks} of block_size={block_size} make {n} nodes, expected less than 2^31")
    span = (n_blocks - 1) * abs(np.log(size_ratio))  # logarithm of the largest block's size over the smallest one's
    if span > np.log(4.0 * n):
        raise ParameterError(
            f"size_ratio={size_ratio:g} leaves the smallest of n_blocks={n_blocks} without a node, expected between "
            f"{n ** (-1.0 / (n_blocks - 1)):.3g} and {n ** (1.0 / (n_blocks - 1)):.3g} for {n} nodes, or fewer blocks"
        )
    shares = size_ratio ** np.arange(n_blocks)
    bounds = np.rint(np.cumsum(shares) / shares.sum() * n_blocks * block_size).astype(np.int64)
    sizes = np.diff(bounds, prepend=0)
    if sizes.min() < inside_degree + 1:
        raise ParameterError(
            f"inside_degree={inside_degree:g} needs blocks of at least {inside_degree + 1:g} nodes, but the smallest "
            f"has {sizes.min()}; raise block_size or bring size_ratio nearer to 1"
        )
    n_outside_pairs = float((sizes * (n - sizes)).sum())
    if outside_degree * n > n_outside_pairs:
        raise ParameterError(
            f"outside_degree={outside_degree:g} is more than there are nodes in other blocks, expected at most "
            f"{n_outside_pairs / n:.4g}, or more blocks"
        )
    p = inside_degree / np.maximum(sizes - 1, 1)
    q = outside_degree * n / n_outside_pairs if outside_degree else 0.0
    return stochastic_block_model(sizes.tolist(), p.tolist(), q, degree_exponent=degree_exponent, rng=rng)


def _as_sizes(sizes: Any) -> np.ndarray:
    """The sizes of blocks, int64, at least one and each at least 1."""
    unordered = isinstance(sizes, str | bytes | Mapping | Set) or getattr(sizes, "ndim", 1) == 0
    if unordered or not isinstance(sizes, Iterable):
        kind = type(sizes).__name__
        raise TypeError(f"sizes={sizes!r} is a {kind}, expected a list of the numbers of nodes of the blocks: [30, 50]")
    blocks = [as_whole_number(size, f"sizes[{b}]", at_least=1) for b, size in enumerate(sizes)]
    if not 1 <= sum(blocks) <= MOST_NODES:
        raise ParameterError(f"sizes sum to {sum(blocks)}, expected between 1 and 2^31 - 1 nodes")
    return np.array(blocks, np.int64)


def _as_probability(value: Any, name: str) -> float:
    number = as_number(value, name, at_least=0.0)
    if number > 1.0:
        raise ParameterError(f"{name}={value} is out of range, expected a probability between 0 and 1")
    return number


def lfr_like(
    n_nodes: int,
    mean_degree: float,
    mixing: float,
    *,
    degree_exponent: float = 2.5,
    size_exponent: float = 1.5,
    smallest: int = 20,
    largest: int = 1000,
    rng: Seed = None,
) -> PlantedGraph:
    """A graph whose degrees and block sizes follow power laws, after Lancichinetti, Fortunato and Radicchi 2008.

    n_nodes, mean_degree : of the graph. mixing : share of a node's neighbors outside its block, in [0, 1].
    degree_exponent : as in `stochastic_block_model`, > 2. size_exponent : of the density of the block sizes, > 0.
    smallest, largest : bounds of the block sizes. The last block takes what is left; where that is too little, what
        came before takes it too, and gives other blocks what is then too much.

    LFR's own benchmark wires fixed degrees by a configuration model; here every pair of nodes is decided independently,
    so degrees and mixing hold on average; where hubs meet most of a small block, degrees come out up to a quarter
    smaller and the mixing as much larger. Returns a `PlantedGraph(graph, labels)`.
    Raises ParameterError where blocks of these sizes do not make up the graph, where the smallest is too small for
    (1 - mixing) mean_degree neighbors, or where the other blocks are for the rest of them.

    >>> graph, labels = lfr_like(2000, 15, 0.2, smallest=40, largest=300, rng=7)
    >>> graph.n_nodes, bool(np.bincount(labels).min() >= 40)
    (2000, True)
    """
    rng = as_generator(rng)
    n_nodes = as_whole_number(n_nodes, "n_nodes", at_least=2, at_most=MOST_NODES)
    smallest = as_whole_number(smallest, "smallest", at_least=2, at_most=n_nodes)
    largest = as_whole_number(largest, "largest", at_least=smallest)
    if (fewest := math.ceil(n_nodes / largest)) * smallest > n_nodes:
        raise ParameterError(
            f"no number of blocks of smallest={smallest} to largest={largest} nodes makes up n_nodes={n_nodes}; "
            f"expected smallest <= {n_nodes // fewest} or largest >= {math.ceil(n_nodes / (fewest - 1))}"
        )
    mean_degree = as_number(mean_degree, "mean_degree", above=0.0)
    mixing = _as_probability(mixing, "mixing")
    sizes = _power_law_sizes(n_nodes, as_number(size_exponent, "size_exponent", above=0.0), smallest, largest, rng)
    inside = (1.0 - mixing) * mean_degree
    if sizes.min() < inside + 1:
        raise ParameterError(
            f"smallest={smallest} is too small: (1 - mixing) mean_degree = {inside:g} neighbors in a block need at "
            f"least {inside + 1:g} nodes"
        )
    n_outside_pairs = float((sizes * (n_nodes - sizes)).sum())
    q = mixing * mean_degree * n_nodes / n_outside_pairs if n_outside_pairs else 0.0
    if q > 1.0:
        raise ParameterError(
            f"mean_degree={mean_degree:g} is too much: mixing mean_degree = {mixing * mean_degree:g} neighbors in "
            f"other blocks, which hold {n_outside_pairs / n_nodes:.4g} nodes; expected fewer, or a larger n_nodes"
        )
    p = (inside / (sizes - 1)).tolist()
    return stochastic_block_model(sizes.tolist(), p, q, degree_exponent=degree_exponent, rng=rng)


def _power_law_sizes(n: int, exponent: float, smallest: int, largest: int, rng) -> np.ndarray:
    """Sizes with density proportional to size^-exponent between the bounds, that sum to n."""
    sizes: list[int] = []
    left = n
    unit = 1.0 if float(smallest) ** -exponent > 1e-200 else float(smallest)  # by which powers do not all vanish
    shares = (np.arange(smallest, min(largest, max(n, MOST_SHARES)) + 1) / unit) ** -exponent
    shares /= shares.sum()
    while left > 0:
        size = smallest + int(rng.choice(len(shares), p=shares))
        if left - size < smallest:  # what would be left is no block of its own
            size = left
        sizes.append(size)
        left -= size
    return _without_excess(np.array(sizes, np.int64), smallest, largest)


def _without_excess(sizes: np.ndarray, smallest: int, largest: int) -> np.ndarray:
    """The sizes where the last one is within the bounds: others take what is too much, or make one more block of it."""
    excess = int(sizes[-1]) - largest
    if excess <= 0:
        return sizes
    sizes[-1] = largest

    def shares_of(total: int, room: np.ndarray) -> np.ndarray:
        """The total in parts, each as large as its room until nothing is left."""
        return np.clip(total - (np.cumsum(room) - room), 0, room)

    if (largest - sizes).sum() >= excess:
        return sizes + shares_of(excess, largest - sizes)
    return np.append(sizes - shares_of(smallest - excess, sizes - smallest), smallest)
