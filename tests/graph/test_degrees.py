"""Degrees of weighted graphs are sums without the rounding of single additions."""

import math

import numpy as np
import pytest
from scipy import sparse

from graphclust import as_graph
from graphclust.errors import GraphValidationError
from graphclust.graph.from_csr import graph_of_checked_rows


def star(weights):
    """Node 0 joined to all others by these weights."""
    n = len(weights) + 1
    rows = np.zeros(n - 1, int), np.arange(1, n)
    upper = sparse.csr_array((np.asarray(weights, dtype=float), rows), shape=(n, n))
    return sparse.csr_array(upper + upper.T)


def degrees_of(matrix):
    """As the gate sums them, and as for rows that are known to be right."""
    again = graph_of_checked_rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, None, ()
    )
    found = as_graph(matrix).degrees
    assert (again.degrees == found).all()
    return found


@pytest.mark.parametrize("at", [0, 500, 99_998])
def test_one_heavy_edge_swallows_no_light_ones(at):
    weights = np.ones(99_999)
    weights[at] = 1e16
    assert degrees_of(star(weights))[0] == 1e16 + 99_998


@pytest.mark.parametrize("spread", [1, 20, 60])
@pytest.mark.parametrize("seed", [518, 2209])
def test_degrees_are_exact_to_the_last_bit_or_two(seed, spread):
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-spread, spread, 3000)
    found = degrees_of(star(weights))
    assert abs(found[0] / math.fsum(weights) - 1.0) <= 2**-52
    assert (found[1:] == weights).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1.0])
def test_what_is_no_weight_is_still_found(bad):
    weights = np.ones(50)
    weights[17] = bad
    with pytest.raises(GraphValidationError, match=rf"2 entries .* the first {bad} at \(0, 18\)"):
        as_graph(star(weights))
