"""Hierarchical Leiden's interface: the records and the names that its callers read, GraphRAG's clustering step too."""

import io
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses

from graphclust import modularity
from graphclust.errors import GraphClustError, ParameterError
from graphclust.interop.graspologic import HierarchicalCluster, hierarchical_leiden

KARATE = [(str(u), str(v), float(w)) for u, v, w in nx.karate_club_graph().edges(data="weight")]


def check_records(found, nodes, most):
    level_of_final, parent = {}, {}
    for one in found:
        assert (one.parent_cluster is None) == (one.level == 0)
        assert one.level == 0 or parent[one.node] == one.parent_cluster
        parent[one.node] = one.cluster
        if one.is_final_cluster:
            assert one.node not in level_of_final
            level_of_final[one.node] = one.level
    final = found.final_level_hierarchical_clustering()
    assert set(final) == set(found.first_level_hierarchical_clustering()) == set(nodes)
    assert max(list(final.values()).count(c) for c in set(final.values())) <= most


def test_both_libraries_calls_give_the_same_records():
    graph = nx.Graph()
    graph.add_weighted_edges_from(KARATE)
    one = hierarchical_leiden(graph, max_cluster_size=5, random_seed=7)
    unused = {"iterations": 2, "randomness": 0.1, "max_local_moving_iterations": 3}
    other = hierarchical_leiden(edges=KARATE[::-1], max_cluster_size=5, seed=7, **unused)
    assert list(one) == list(other)
    assert one[0]._fields == ("node", "cluster", "parent_cluster", "level", "is_final_cluster")
    check_records(one, {str(u) for u in range(34)}, 5)


def test_isolated_nodes_are_kept():
    graph = nx.path_graph(["a", "b", "c"])
    graph.add_node("x")
    with pytest.warns(UserWarning, match="isolated"):
        found = hierarchical_leiden(graph, max_cluster_size=3, random_seed=1)
    assert HierarchicalCluster("x", 1, None, 0, True) in found
    check_records(found, graph, 3)


def test_the_first_level_is_no_worse_than_the_starting_communities():
    graph = nx.karate_club_graph()
    A = nx.to_numpy_array(graph)
    best = hierarchical_leiden(graph, random_seed=1).first_level_hierarchical_clustering()
    found = hierarchical_leiden(graph, random_seed=2, starting_communities=best).first_level_hierarchical_clustering()
    values = [modularity(A, np.array([labels[u] for u in graph])) for labels in (best, found)]
    assert values[1] >= values[0] - 1e-12
    yesterdays = {u: community for u, community in best.items() if u < 30} | {"gone": 7}
    assert hierarchical_leiden(
        graph, random_seed=2, starting_communities=yesterdays
    ).final_level_hierarchical_clustering().keys() == set(graph)
    with pytest.raises(TypeError, match="use_modularity=1234 is a int, expected True or False"):
        hierarchical_leiden(graph, use_modularity=1234)


def test_a_cluster_is_one_level_below_its_parent():
    graphs = [nx.Graph([(0, 4), (0, 5), (1, 2), (1, 4), (2, 4), (3, 4)])]
    graphs += [nx.gnm_random_graph(60, 180, seed=seed) for seed in range(10)]
    for bound, graph in zip([1, *[4] * 10], graphs, strict=True):
        graph.remove_nodes_from(list(nx.isolates(graph)))
        found = hierarchical_leiden(graph, bound, random_seed=0)
        level = {one.cluster: one.level for one in found} | {None: -1}
        assert all(level[one.parent_cluster] == one.level - 1 for one in found)
        assert [one.level for one in found] == sorted(one.level for one in found)


def test_the_constant_potts_model_and_unweighted_edges():
    clique = [(u, v, 0.5) for u in range(6) for v in range(u)]
    for resolution, is_weighted, n_clusters in ((0.4, None, 1), (0.6, None, 6), (0.6, False, 1)):
        options = {"use_modularity": False, "resolution": resolution, "is_weighted": is_weighted}
        found = hierarchical_leiden(clique, seed=0, **options)
        assert len(set(found.first_level_hierarchical_clustering().values())) == n_clusters


@for_each(
    ("options", "words"),
    [
        ({"graph": None}, "graph=None"),
        ({"edges": KARATE}, "graph= and edges= were both given"),
        ({"random_seed": 1, "seed": 2}, "random_seed= and seed= were both given"),
        ({"weight_default": 2.0}, "weight_default=2.0"),
        ({"max_cluster_size": 0}, "max_cluster_size=0"),
        ({"resolution": -1}, "resolution=-1"),
        ({"seed": -1}, "seed=-1 cannot seed"),
        ({"random_seed": -2}, "random_seed=-2 cannot seed"),
    ],
)
def test_impossible_arguments_are_named(options, words):
    refuses(ParameterError, f"^{words}", hierarchical_leiden, **{"graph": KARATE} | options)


@pytest.mark.parametrize("communities", [[0, 0, 1], {0: 0, 1: None, 2: 1}, {0: (1, 2), 1: (1, 2), 2: (3, 4)}])
def test_starting_communities_that_are_no_numbers_are_refused(communities):
    with pytest.raises(TypeError, match=r"^starting_communities.* expected a"):
        hierarchical_leiden(nx.path_graph(3), starting_communities=communities)


@pytest.mark.parametrize("one", [1, Fraction(1, 3), 2**70])
def test_starting_communities_are_all_numbers_or_all_names(one):
    """The number 1 and the name "1" are no community of their own."""
    with pytest.raises(TypeError, match=r"^starting_communities\[2\]='1' is a str and the first one, .* or all names$"):
        hierarchical_leiden(nx.path_graph(3), starting_communities={0: one, 1: 0, 2: "1"})
    with pytest.raises(ParameterError, match=r"^starting_communities\[1\]=nan"):
        hierarchical_leiden(nx.path_graph(3), starting_communities={0: one, 1: float("nan"), 2: 0})
    same = hierarchical_leiden(nx.path_graph(3), starting_communities={0: one, 1: one, 2: 0}, random_seed=0)
    assert same == hierarchical_leiden(nx.path_graph(3), starting_communities={0: "b", 1: "b", 2: "a"}, random_seed=0)


@pytest.mark.parametrize(
    ("graph", "attribute", "message"),
    [
        (nx.path_graph(3), "w", "attribute 'w'.*; is_weighted=False makes"),
        (nx.to_scipy_sparse_array(nx.path_graph(3)), "w", "^weight_attribute='w' names .* pass is_weighted=False"),
        (nx.Graph([(0, 1, {"weight": -1.0})]), "weight", "or pass is_weighted=False if the pattern alone counts"),
        (nx.path_graph(3), ["w"], "^weight_attribute is a list"),
    ],
)
def test_errors_name_the_arguments_that_this_function_has(graph, attribute, message):
    with pytest.raises((GraphClustError, TypeError), match=message) as error:
        hierarchical_leiden(graph, weight_attribute=attribute)
    assert "weight=" not in str(error.value)


# Relationships between the people of a tale as a language model lists them: names in capitals, some pairs twice, once
# the other way around, and two people whom nobody else knows.
RELATIONSHIPS = (
    "source,target,weight\n"
    + """
SCROOGE,MARLEY,9;SCROOGE,CRATCHIT,8;CRATCHIT,SCROOGE,7;SCROOGE,FRED,5;SCROOGE,FEZZIWIG,4;SCROOGE,BELLE,4
SCROOGE,GHOST OF PAST,6;SCROOGE,GHOST OF PRESENT,6;SCROOGE,GHOST OF FUTURE,6;MARLEY,GHOST OF PAST,2
GHOST OF PAST,GHOST OF PRESENT,2;GHOST OF PRESENT,GHOST OF FUTURE,2;CRATCHIT,MRS CRATCHIT,9;CRATCHIT,TINY TIM,9
CRATCHIT,MARTHA,7;CRATCHIT,PETER,7;MRS CRATCHIT,TINY TIM,8;MRS CRATCHIT,MARTHA,6;MRS CRATCHIT,PETER,6
TINY TIM,MARTHA,4;TINY TIM,PETER,4;MARTHA,PETER,4;FRED,FREDS WIFE,8;FRED,TOPPER,5;FREDS WIFE,TOPPER,4
FREDS WIFE,PLUMP SISTER,5;TOPPER,PLUMP SISTER,6;FEZZIWIG,MRS FEZZIWIG,8;FEZZIWIG,DICK WILKINS,5;FEZZIWIG,FIDDLER,3
MRS FEZZIWIG,FIDDLER,2;DICK WILKINS,FIDDLER,1;BELLE,HUSBAND OF BELLE,7;OLD JOE,CHARWOMAN,5
""".replace(";", "\n")
)


@pytest.fixture
def relationships():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return pandas.read_csv(io.StringIO(RELATIONSHIPS))


@pytest.mark.parametrize("use_lcc", [True, False])
@pytest.mark.parametrize("most", [4, 10])
def test_the_step_of_graphrag_makes_communities_with_ours(relationships, monkeypatch, use_lcc, most):
    step = pytest.importorskip("graphrag.index.operations.cluster_graph", reason="graphrag is not installed")
    theirs = step.cluster_graph(relationships, most, use_lcc, seed=7)
    monkeypatch.setattr(step, "hierarchical_leiden", hierarchical_leiden)
    ours = step.cluster_graph(relationships, most, use_lcc, seed=7)
    assert ours == step.cluster_graph(relationships, most, use_lcc, seed=7)

    nodes_of = {number: set(nodes) for _, number, _, nodes in ours}
    parents = {parent for _, _, parent, _ in ours}
    assert len(nodes_of) == len(ours)  # numbered through all levels
    for level, number, parent, nodes in ours:
        assert type(level) is int and type(number) is int and all(type(node) is str for node in nodes)
        assert (parent == -1) == (level == 0) and (level == 0 or nodes_of[number] <= nodes_of[parent])
        assert number in parents or len(nodes) <= most
    known = {node for level, _, _, nodes in theirs if level == 0 for node in nodes}
    assert set().union(*nodes_of.values()) == known and ("OLD JOE" in known) == (not use_lcc)
