"""What the tests of the partition engine are tried on: every objective, and graphs with weights and self-loops."""

import networkx as nx
import numpy as np
import pytest
from graphs import all_graphs, make_graph

from graphclust.compiled.graphs.levels import Partition
from graphclust.compiled.graphs.objective import ClusterSums, Objective
from graphclust.engine.levels import Run, run_on, with_sums
from graphclust.engine.resolution import objective_of
from graphclust.graph.container import Graph
from graphclust.io.graph_input import as_graph
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVES, as_objective_choice, weigh

WITH_EDGES = [name for name in all_graphs() if name not in ("one node", "no edges")]


def each_at(relative: float, density: float) -> list[tuple[str, float | None]]:
    """Every objective of the table, ratios first, at a multiple of chance, or at a weight between two nodes."""
    at = {name: relative if one.is_relative else density for name, one in OBJECTIVES.items()}
    return [(name, None) for name in RATIOS] + [(name, at[name]) for name in ADDITIVE_OBJECTIVES]


RATIOS = [name for name, one in OBJECTIVES.items() if one.is_ratio]
QUICK = each_at(1.0, 0.5)
FURTHER = [("modularity", 0.3), ("modularity", 4.0), ("constant_potts", 0.02)]
AIMS = [*QUICK, *(pytest.param(*choice, marks=pytest.mark.slow) for choice in FURTHER)]
ONE_OF_EACH = each_at(1.0, 0.1)


def looped(n: int = 24, seed: int = 518, density: float = 0.25) -> Graph:
    """A connected graph of uneven weights; every third node has a self-loop, of which some outweigh their edges."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.exponential(size=(n, n)) * (rng.random((n, n)) < density), 1)
    upper[np.arange(n - 1), np.arange(1, n)] += 0.1
    return as_graph(upper + upper.T + np.diag(np.where(np.arange(n) % 3 == 0, rng.exponential(4.0, n), 0.0)))


def connected_part(name: str) -> Graph:
    """A graph of the collection without its isolated nodes; or "uneven and looped"."""
    graph = looped() if name == "uneven and looped" else make_graph(name)
    return graph.subgraph(np.flatnonzero(~graph.isolated))


def parts_of_clusters(graph: Graph, labels: np.ndarray) -> list[int]:
    """How many connected parts each cluster has."""
    whole = nx.from_scipy_sparse_array(graph.to_scipy())
    return [
        nx.number_connected_components(whole.subgraph(np.flatnonzero(labels == c))) for c in range(labels.max() + 1)
    ]


def random_labels(n: int, k: int, seed: int) -> np.ndarray:
    """Every label from 0 to k - 1, about equally often."""
    return np.random.default_rng(seed).permutation(np.arange(n) % k)


def run_and_objective(graph: Graph, name: str, resolution: float | None, k: int) -> tuple[Run, Objective]:
    """A run over the graph with the terms of an objective, and the objective with its numbers."""
    run = run_on(weigh(graph, name))
    return run, objective_of(as_objective_choice(name, resolution), k, 1.0, run.totals)[0]


def random_partition(run: Run, k: int, seed: int = 3) -> Partition:
    """`random_labels` with the sums of their clusters."""
    labels = random_labels(len(run.finest.terms.mass), k, seed).astype(np.int32)
    return with_sums(run.finest, labels, k, run)


def exact_sums(found: Partition, run: Run) -> ClusterSums:
    """The sums of a partition of the finest level, from its rows."""
    return with_sums(run.finest, found.labels, len(found.sums.size), run).sums


def assert_exact_sums(found: Partition, run: Run, scale: float = 1.0) -> None:
    exact = exact_sums(found, run)
    np.testing.assert_allclose(found.sums.inside, exact.inside, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(found.sums.mass, exact.mass, rtol=1e-9, atol=1e-9 * scale)
    assert found.sums.size.tolist() == exact.size.tolist()
