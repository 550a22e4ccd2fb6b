"""leidenalg's calls on ours: its values, partitions no worse than its own, and its own tests."""

import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from cases import for_each, refuses
from other_projects import source_of

import graphclust as gc
import graphclust.interop.leidenalg as la

igraph = pytest.importorskip("igraph", reason="igraph is not installed")
RING = igraph.Graph.Ring(3)
TYPES = [
    ("ModularityVertexPartition", {}), ("RBConfigurationVertexPartition", {"resolution_parameter": 0.6}),
    ("CPMVertexPartition", {"resolution_parameter": 0.2}),
    ("CPMVertexPartition", {"resolution_parameter": 0.02, "node_sizes": list(range(1, 31))}),
]  # fmt: skip
# Tests of its source archive that cannot pass, each by its reason.
STEPS = "calls a step of Leiden's algorithm, of which this package has others"
LISTED = {
    "test_aggregate_partition": STEPS, "test_diff_move_node_optimality": STEPS, "test_merge_nodes": STEPS,
    "test_merge_nodes_with_max_comm_size": STEPS, "test_merge_nodes_with_min_comm_size": STEPS,
    "test_move_nodes": STEPS, "test_move_nodes_with_fixed": STEPS, "test_move_nodes_with_max_comm_size": STEPS,
    "test_move_nodes_with_min_comm_size": STEPS, "test_resolution_profile": "of the profile, which is not served",
    "test_optimiser_is_membership_fixed_large_labels": "no vertex can be fixed",
    "test_optimiser_with_is_membership_fixed": "no vertex can be fixed",
    "test_optimiser_with_min_comm_size": "its lower bound; graphclust.communities has min_size=",
    "test_neg_weight_bipartite": "a resolution below zero", "test_Bipartite": "graphclust has kind=\"bipartite\"",
}  # fmt: skip
SWAP = """
import leidenalg
import graphclust.interop.leidenalg as ours
for name in ours.__all__:
    setattr(leidenalg, name, getattr(ours, name))
"""
DDT = """
def data(*values):
    return lambda test: setattr(test, "values", values) or test

def ddt(case):
    for name, test in list(vars(case).items()):
        for i, value in enumerate(getattr(test, "values", ())):
            setattr(case, f"{name}-{i}", (lambda test, value: lambda self: test(self, value))(test, value))
        if hasattr(test, "values"):
            delattr(case, name)
    return case

unpack = None
"""


def random_graph(seed, directed, loops):
    rng = np.random.default_rng(seed)
    ends = rng.integers(30, size=(130, 2)).tolist()
    graph = igraph.Graph([(u, v) for u, v in ends if loops or u != v], n=30, directed=directed)
    graph.es["weight"] = rng.random(graph.ecount()).tolist()
    return graph, rng.integers(4, size=30).tolist()


@for_each("directed, loops", [(False, False), (False, True), (True, False), (True, True)])
def test_values_are_those_of_leidenalg(directed, loops):
    leidenalg = pytest.importorskip("leidenalg", reason="leidenalg is not installed")
    graph, labels = random_graph(3, directed, loops)
    for name, options in TYPES:
        for weights in ("weight", None, graph.es["weight"]):
            given = {"initial_membership": labels, "weights": weights, **options}
            ours, theirs = (getattr(module, name)(graph, **given) for module in (la, leidenalg))
            assert ours.quality() == pytest.approx(theirs.quality(), abs=1e-10), name
            assert ours.total_weight_in_comm(2) == pytest.approx(theirs.total_weight_in_comm(2))
            assert ours.diff_move(5, 1) == pytest.approx(theirs.diff_move(5, 1), abs=1e-10)
            of_ours, of_theirs = ((len(one), one.sizes(), list(one), one[1]) for one in (ours, theirs))
            assert of_ours == of_theirs


@for_each("directed", [False, True])
def test_partitions_are_no_worse_than_leidenalgs(directed):
    leidenalg = pytest.importorskip("leidenalg", reason="leidenalg is not installed")
    graph, _ = random_graph(4, directed, False)
    for name, options in TYPES:
        partition_type = getattr(leidenalg, name)
        theirs = leidenalg.find_partition(graph, partition_type, weights="weight", n_iterations=-1, seed=1, **options)
        ours = la.find_partition(graph, partition_type, weights="weight", seed=1, **options)
        assert type(ours) is getattr(la, name)
        assert ours.quality() >= theirs.quality() - 1e-9, name
        start = ours.membership
        again = la.find_partition(graph, name, initial_membership=start, weights="weight", seed=2, **options)
        assert again.quality() >= ours.quality()


def test_several_graphs_are_partitioned_by_the_weighted_sum_of_their_qualities():
    leidenalg = pytest.importorskip("leidenalg", reason="leidenalg is not installed")
    graphs = [random_graph(seed, directed, False)[0] for seed, directed in ((5, False), (6, True))]
    for name, options in TYPES:
        found = {}
        for module in (la, leidenalg):
            kind = getattr(module, name)
            found[module], gain = module.find_partition_multiplex(
                graphs, kind, [1, 2], n_iterations=-1, seed=1, **options
            )
            sums = [
                sum(w * kind(graph, labels, **options).quality() for w, graph in zip((1, 2), graphs, strict=True))
                for labels in (found[module], range(30))
            ]
            assert gain == pytest.approx(sums[0] - sums[1])
            found[module] = sums[0]
        assert found[la] >= found[leidenalg] - 1e-9, name


def test_no_cluster_is_larger_than_asked_for():
    graph, _ = random_graph(7, False, False)
    assert max(la.find_partition(graph, la.ModularityVertexPartition, max_comm_size=4, seed=0).sizes()) <= 4


@for_each(
    "call, error, words",
    [
        (lambda g: la.find_partition(g, "SurpriseVertexPartition"), gc.ParameterError, "'SurpriseVertexPart.* is not"),
        (lambda g: la.find_partition([(0, 1)], la.CPMVertexPartition), TypeError, "graph is a list"),
        (lambda g: la.ModularityVertexPartition(g, weights=[1.0]), gc.GraphValidationError, r"shape \(1,\)"),
        (lambda g: la.ModularityVertexPartition(g, weights=[-1.0] * g.ecount()), gc.GraphValidationError, "signed"),
        (lambda g: la.ModularityVertexPartition(g, [0, 1]), gc.GraphValidationError, "membership has"),
        (lambda g: la.CPMVertexPartition(g, resolution_parameter=-1), gc.ParameterError, "resolution_parameter=-1"),
        (lambda g: la.find_partition_multiplex([g, g], "CPMVertexPartition", [1]), gc.ParameterError, "expected 2"),
        (lambda g: la.find_partition_multiplex([g, RING], "CPMVertexPartition"), gc.GraphValidationError, "same verti"),
    ],
)
def test_what_is_not_served_is_refused_by_name(call, error, words):
    refuses(error, words, call, random_graph(8, False, False)[0])


@pytest.mark.slow
def test_its_own_tests_pass_but_for_those_that_are_listed(tmp_path):
    """They come with its source alone, which is fetched."""
    pytest.importorskip("leidenalg", reason="leidenalg is not installed")
    tests = source_of("leidenalg", tmp_path) / "tests"
    for name, text in (("conftest.py", SWAP), ("ddt.py", DDT), ("pytest.ini", "[pytest]\n")):
        (tests / name).write_text(text)
    (tests / "__init__.py").unlink()
    served = " or ".join(["OptimiserTest", *(f"{name}Test" for name, _ in TYPES[:3])])
    command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "--junitxml=found.xml", "-k", served]
    subprocess.run(command, cwd=tests, capture_output=True, check=False)
    came: dict[bool, Counter] = {True: Counter(), False: Counter()}
    for case in ElementTree.parse(tests / "found.xml").iter("testcase"):
        came[case.find("failure") is None][case.get("name", "").split("-")[0]] += 1
    assert came[False].keys() == LISTED.keys()
    # The same name stands for a test of partitions, which passes, and for one of the optimizer's step.
    assert came[True].keys() & LISTED.keys() == {"test_move_nodes"} and came[False]["test_move_nodes"] == 1
    assert came[True].total() >= 250
