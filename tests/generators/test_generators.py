"""Generated graphs: exactly the stated distribution or laws, valid as they are made, the same however they are made."""

import numpy as np
import pytest
from cases import for_each, refuses
from scipy import sparse, stats

from graphclust import generators
from graphclust.compiled.runtime import blocks
from graphclust.errors import ParameterError
from graphclust.generators import lfr_like, planted_partition, stochastic_block_model
from graphclust.io.graph_input import as_graph

SURE = 1e-6  # a right generator fails a test of chance once in a million


def chi_square(observed: np.ndarray, expected: np.ndarray) -> float:
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), observed.size - 1))


def same_arrays(one, two) -> bool:
    return all(np.array_equal(getattr(one, a), getattr(two, a)) for a in ("indptr", "indices", "degrees", "loops"))


def patterns_of_four(p: float, seed: int) -> np.ndarray:
    """How often each of the 64 graphs on four nodes came up among 20,000 blocks."""
    graph = stochastic_block_model([4] * 20_000, p, 0.0, rng=seed).graph
    row, column = graph.to_scipy().nonzero()
    upper = row < column
    pair = np.array([[0, 0, 1, 2], [0, 0, 3, 4], [0, 0, 0, 5]])[row[upper] % 4, column[upper] % 4]
    return np.bincount(np.bincount(row[upper] // 4, weights=2.0**pair, minlength=20_000).astype(int), minlength=64)


def test_every_pair_of_a_block_is_drawn_independently_with_probability_p():
    n_edges = np.array([bin(code).count("1") for code in range(64)])
    expected = 20_000 * 0.4**n_edges * 0.6 ** (6 - n_edges)
    assert chi_square(patterns_of_four(0.4, seed=1851), expected) > SURE
    rate_for_probability = 1 - np.exp(-0.4)
    assert chi_square(patterns_of_four(rate_for_probability, seed=1851), expected) < SURE


def frequencies(p, q, n_graphs: int = 3000) -> np.ndarray:
    rng = np.random.default_rng(2718)
    return sum(stochastic_block_model([3, 1, 4], p, q, rng=rng).graph.to_scipy() for _ in range(n_graphs)).toarray()


@pytest.mark.slow
def test_each_pair_has_the_probability_of_its_blocks():
    p, q, block = np.array([0.7, 0.5, 0.2]), 0.1, np.repeat([0, 1, 2], [3, 1, 4])
    probability = np.where(block[:, None] == block, p[block], q)
    pairs = np.triu_indices(8, 1)

    def deviation(counts):
        z = (counts[pairs] - 3000 * probability[pairs]) / np.sqrt(3000 * (probability * (1 - probability))[pairs])
        return stats.chi2.sf((z**2).sum(), len(pairs[0]))

    assert deviation(frequencies(p, q)) > SURE
    assert deviation(frequencies([0.7, 0.5, 0.25], q)) < SURE
    assert deviation(frequencies(p, 0.12)) < SURE


class FixedPropensities:
    """Stands for a generator: the first uniforms, which make the propensities, are always the same."""

    def __init__(self, uniforms, seed):
        self.uniforms, self.rng = uniforms, np.random.default_rng(seed)

    def random(self, n):
        assert n == len(self.uniforms)
        return self.uniforms

    def integers(self, *args, **kwargs):
        return self.rng.integers(*args, **kwargs)


@pytest.mark.slow
def test_degree_correction_joins_each_pair_by_its_propensities(monkeypatch):
    sizes, p, q, exponent, n_graphs = [5, 3], np.array([0.3, 0.6]), 0.15, 2.4, 6000
    uniforms = np.linspace(0.05, 0.97, 8)
    block = np.repeat([0, 1], sizes)
    propensity = np.minimum((1 - uniforms) ** (-1 / (exponent - 1)), np.sqrt(8))
    for b in (0, 1):
        propensity[block == b] /= propensity[block == b].mean()
    base = np.where(block[:, None] == block, p[block], q)
    probability = 1 - (1 - base) ** np.outer(propensity, propensity)

    stub = FixedPropensities(uniforms, seed=6022)
    monkeypatch.setattr(generators, "as_generator", lambda rng: stub)
    counts = sum(
        stochastic_block_model(sizes, p, q, degree_exponent=exponent).graph.to_scipy() for _ in range(n_graphs)
    ).toarray()
    pairs = np.triu_indices(8, 1)

    def p_value(probability):
        expected = n_graphs * probability[pairs]
        z = (counts[pairs] - expected) / np.sqrt(expected * (1 - probability[pairs]))
        return stats.chi2.sf((z**2).sum(), len(pairs[0]))

    assert p_value(probability) > SURE
    assert p_value(base) < SURE
    assert p_value(np.minimum(base * np.outer(propensity, propensity), 0.999)) < SURE


def test_degrees_of_a_sparse_graph_are_binomial_from_the_first_row_to_the_last():
    n, q = 40_000, 5e-4
    graph = stochastic_block_model([1] * n, 0.0, q, rng=1729).graph
    for part in (slice(0, n // 2), slice(n // 2, n)):
        degrees = graph.degrees[part].astype(int)
        low, high = 8, 34
        expected = len(degrees) * np.diff(stats.binom.cdf([-1, *range(low, high), n], n - 1, q))
        assert chi_square(np.bincount(np.clip(degrees, low, high) - low), expected) > SURE
        wrong = len(degrees) * np.diff(stats.binom.cdf([-1, *range(low, high), n], n - 1, q * 1.02))
        assert chi_square(np.bincount(np.clip(degrees, low, high) - low), wrong) < SURE


CASES = {
    "blocks": lambda rng: stochastic_block_model([50, 1, 120, 30], 0.3, 0.02, rng=rng),
    "loops": lambda rng: stochastic_block_model([50, 1, 120, 30], [0.3, 0.9, 0.1, 1.0], 0.02, self_loops=True, rng=rng),
    "power law": lambda rng: stochastic_block_model([90, 160], 0.2, 0.01, degree_exponent=2.2, rng=rng),
    "mean degrees": lambda rng: planted_partition(7, 60, 8, 2, size_ratio=0.8, degree_exponent=3.5, rng=rng),
    "one node": lambda rng: stochastic_block_model([1], 0.5, 0.5, rng=rng),
    "complete": lambda rng: stochastic_block_model([4, 5], 1.0, 1.0, rng=rng),
    "power laws": lambda rng: lfr_like(300, 8, 0.2, largest=60, rng=rng),
}


@for_each("case", CASES)
@for_each("seed", [2, 303])
@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_the_gate_finds_nothing_to_repair(case, seed):
    graph, labels = CASES[case](seed)
    matrix = sparse.csr_array((np.ones(graph.n_entries), graph.indices, graph.indptr), shape=(graph.n_nodes,) * 2)
    checked = as_graph(matrix)
    assert same_arrays(graph, checked)
    assert [remark for remark in checked.remarks if "isolated" not in remark] == []
    assert graph.weights is None and graph.remarks == ()
    assert graph.indptr.dtype == np.int64 and graph.indices.dtype == np.int32 and labels.dtype == np.int64
    assert (graph.loops == (1.0 if case == "loops" else 0.0)).all()


@pytest.mark.parametrize("case", CASES)
def test_the_same_generator_gives_the_same_graph_however_it_is_drawn(case, monkeypatch):
    graph, labels = CASES[case](11)
    for lanes, draws_per_call, n_threads in [(1, 1 << 22, 1), (3, 40, 2), (8, 1, 2)]:
        monkeypatch.setattr(generators, "LANES", lanes)
        monkeypatch.setattr(generators, "DRAWS_PER_CALL", draws_per_call)
        monkeypatch.setattr(blocks, "n_threads", lambda n=n_threads: n)
        again = CASES[case](11)
        assert same_arrays(again.graph, graph) and (again.labels == labels).all()
    assert case in ("one node", "complete") or not same_arrays(CASES[case](12).graph, graph)


def test_certain_and_impossible_edges():
    graph, labels = stochastic_block_model([3, 4], 1.0, 0.0, rng=5)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    block = labels[:, None] == labels
    assert np.array_equal(graph.to_scipy().toarray(), block & ~np.eye(7, dtype=bool))
    graph, labels = stochastic_block_model([3, 4], 0.0, 1.0, degree_exponent=3, rng=5)
    assert np.array_equal(graph.to_scipy().toarray(), labels[:, None] != labels)
    assert stochastic_block_model([3, 4], 0.0, 0.0, self_loops=True, rng=5).graph.n_edges == 7
    assert stochastic_block_model([3, 4], 0.0, 0.0, rng=5).graph.n_entries == 0


@pytest.mark.parametrize("size_ratio", [1.0, 0.8])
def test_planted_partition_has_the_mean_degrees_asked_for(size_ratio):
    graph, labels = planted_partition(20, 400, inside_degree=14, outside_degree=5, size_ratio=size_ratio, rng=8)
    matrix = graph.to_scipy()
    row, column = matrix.nonzero()
    inside = labels[row] == labels[column]
    n = graph.n_nodes
    # Each count is twice a sum of independent Bernoulli draws: its variance is at most twice its mean.
    assert abs(inside.sum() - 14 * n) < 5 * np.sqrt(2 * 14 * n)
    assert abs((~inside).sum() - 5 * n) < 5 * np.sqrt(2 * 5 * n)
    of_block = np.bincount(labels[row[inside]]) / np.bincount(labels)
    assert np.all(np.abs(of_block - 14) < 5 * np.sqrt(2 * 14 / np.bincount(labels)))
    assert np.bincount(labels).sum() == 8000
    if size_ratio < 1:
        assert np.bincount(labels)[[0, -1]] == pytest.approx([400 * 20 * 0.2 / (1 - 0.8**20), 23], rel=0.05)


@pytest.mark.parametrize(("block_size", "inside_degree"), [(4, 2.0), (3, 1.0), (2, 1.0)])
def test_in_small_blocks_a_node_is_not_counted_as_its_own_neighbor(block_size, inside_degree):
    graph, labels = planted_partition(20_000, block_size, inside_degree, 0.0, rng=518)
    n = 20_000 * block_size
    assert abs(graph.n_entries - inside_degree * n) <= 5 * np.sqrt(2 * inside_degree * n)
    row, column = graph.to_scipy().nonzero()
    assert (labels[row] == labels[column]).all()


def test_degree_exponent_sets_the_tail_of_the_degrees():
    graph, _ = planted_partition(4, 50_000, 20, 4, degree_exponent=3.0, rng=77)
    tail = np.sort(graph.degrees)[-2000:]
    hill = 1 + 1 / np.log(tail / tail[0]).mean()  # Hill's estimate of the exponent; its error is 2 / sqrt(2000)
    assert hill == pytest.approx(3.0, abs=0.25)
    assert graph.degrees.mean() == pytest.approx(24, rel=0.03)
    even = np.sort(planted_partition(4, 50_000, 20, 4, rng=77).graph.degrees)[-2000:]
    assert 1 + 1 / np.log(even / even[0]).mean() > 5


def test_the_graph_cannot_be_changed():
    graph = stochastic_block_model([4, 5], 0.8, 0.3, rng=1).graph
    assert not any(getattr(graph, name).flags.writeable for name in ("indptr", "indices", "degrees", "loops"))


@for_each(
    ("arguments", "error", "words"),
    [
        (([], 0.5, 0.1), ParameterError, "sizes sum to 0"),
        (([3, 0], 0.5, 0.1), ParameterError, r"sizes\[1\]=0"),
        (([3, 2.5], 0.5, 0.1), TypeError, r"sizes\[1\]=2.5 is a float"),
        (([2**31], 0.5, 0.1), ParameterError, "2147483648"),
        (([2**62] * 4, 0.5, 0.1), ParameterError, "sizes sum to 18446744073709551616"),
        ((30, 0.5, 0.1), TypeError, r"sizes=30 is a int, expected a list .*: \[30, 50\]"),
        (({30: 50}, 0.5, 0.1), TypeError, "sizes=.* is a dict"),
        (([3], 1.5, 0.1), ParameterError, "p=1.5"),
        (([3], 0.5, -0.1), ParameterError, "q=-0.1"),
        (([3], float("nan"), 0.1), ParameterError, "p=nan"),
        (([3], "half", 0.1), TypeError, "p='half'"),
        (([3, 4], [0.5], 0.1), ParameterError, "p holds 1 probabilities"),
        (([3, 4], [0.5, 2], 0.1), ParameterError, r"p\[1\]=2"),
    ],
)
def test_wrong_arguments_of_the_block_model_are_refused(arguments, error, words):
    refuses(error, words, stochastic_block_model, *arguments)


def test_wrong_keywords_are_refused():
    refuses(ParameterError, "degree_exponent=2", stochastic_block_model, [5], 0.5, 0.1, degree_exponent=2)
    refuses(ParameterError, "rng=-1", stochastic_block_model, [5], 0.5, 0.1, rng=-1)
    refuses(ParameterError, r"inside_degree=30 .* smallest has 20", planted_partition, 4, 20, 30, 1)
    refuses(ParameterError, "outside_degree=5", planted_partition, 1, 20, 3, 5)
    refuses(ParameterError, "n_blocks=0", planted_partition, 0, 20, 3, 5)
    words = r"size_ratio=10 .* n_blocks=400 .* between 0.978 and 1.02 for 8000 nodes"
    refuses(ParameterError, words, planted_partition, 400, 20, 5, 1, size_ratio=10.0)
    refuses(ParameterError, r"n_blocks=1000000 of block_size=10000 make", planted_partition, 1_000_000, 10_000, 5, 1)


@pytest.mark.parametrize("mixing", [0.1, 0.4])
def test_degrees_and_mixing_on_average(mixing):
    graph, labels = lfr_like(20_000, 20, mixing, smallest=50, largest=500, rng=518)
    sizes = np.bincount(labels)
    assert sizes.sum() == 20_000 and sizes.min() >= 50 and sizes[:-1].max() <= 550
    assert 15 < graph.degrees.mean() < 20
    matrix = graph.to_scipy().tocoo()
    outside = (labels[matrix.row] != labels[matrix.col]).mean()
    assert mixing < outside < 1.25 * mixing
    assert graph.degrees.max() > 4 * graph.degrees.mean()  # a plain block model stays below twice the mean


def test_sizes_follow_the_exponent():
    """With density size^-2 between 10 and 1000 the mean size is 9.9 ln(100) = 46; with size^-0.5, 340."""
    for exponent, mean in ((2.0, 47.0), (0.5, 339.0)):
        sizes = np.bincount(
            lfr_like(200_000, 2, 0.5, size_exponent=exponent, smallest=10, largest=1000, rng=2209).labels
        )
        assert sizes.mean() == pytest.approx(mean, rel=0.15)
    assert set(np.bincount(lfr_like(100, 2, 0.2, size_exponent=400, smallest=20, rng=0).labels)) == {20}


@pytest.mark.parametrize(("n_nodes", "smallest", "largest"), [(500, 20, 60), (65, 20, 30), (61, 20, 21), (7, 2, 3)])
def test_every_block_is_within_the_bounds(n_nodes, smallest, largest):
    for seed in range(20):
        sizes = np.bincount(lfr_like(n_nodes, 0.5, 0.2, smallest=smallest, largest=largest, rng=seed).labels)
        assert smallest <= sizes.min() and sizes.max() <= largest and sizes.sum() == n_nodes


def test_in_small_blocks_the_mean_degree_is_kept():
    """Blocks of ten nodes, in which a node has nine others."""
    graph, labels = lfr_like(100_000, 4, 0.25, degree_exponent=1e6, smallest=10, largest=10, rng=7741)
    assert set(np.bincount(labels)) == {10}
    matrix = graph.to_scipy().tocoo()
    inside = (labels[matrix.row] == labels[matrix.col]).sum()
    assert inside == pytest.approx(3 * 100_000, rel=0.01)
    assert matrix.nnz == pytest.approx(4 * 100_000, rel=0.01)


def test_sizes_and_degrees_that_make_up_no_graph_are_refused():
    refuses(ParameterError, r"n_nodes=30; .* smallest <= 15 or largest >= 30$", lfr_like, 30, 2, 0.2, largest=25)
    refuses(ParameterError, "smallest=10 is too small", lfr_like, 1000, 30, 0.1, smallest=10, largest=50)
    for option in ({"mixing": 1.5}, {"mean_degree": 0}, {"n_nodes": 1}):
        given = {"n_nodes": 1000, "mean_degree": 10, "mixing": 0.1} | option
        refuses(ParameterError, next(iter(option)), lfr_like, **given)
    words = r"mean_degree=1000 .* 900 neighbors in other blocks"
    refuses(ParameterError, words, lfr_like, 1000, 1000, 0.9, smallest=200, largest=200)
