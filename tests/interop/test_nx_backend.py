"""NetworkX's functions on communities through the backend: its values and its results, or better ones."""

import ast
import pathlib
import random
import re
from itertools import pairwise
from time import process_time

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from networkx.algorithms.community import is_partition, modularity

from graphclust.errors import ParameterError
from graphclust.graph.node_order import order_of_names
from graphclust.graph.other_libraries import networkx_rows
from graphclust.interop.networkx_backend import backend_graph, info
from graphclust.interop.networkx_backend.backend_graph import BackendGraph
from graphclust.interop.networkx_backend.interface import PAYS_FROM, backend_interface

OURS = {"backend": "graphclust"}


def random_graph(seed: int, kind: type = nx.Graph, n: int = 40, m: int = 120) -> nx.Graph:
    """Weighted edges, some without a weight, self-loops, isolated nodes, names of several types."""
    rng = np.random.default_rng(seed)
    G = kind()
    names = [f"n{i}" if i % 3 else i for i in range(n)]
    G.add_nodes_from(names)
    for u, v in rng.integers(n - 2, size=(m, 2)).tolist():
        attributes = {"weight": float(rng.random() + 0.1)} if rng.random() < 0.8 else {}
        G.add_edge(names[u], names[v], **attributes)
    return G


@pytest.fixture
def converted():
    """A weighted graph as the backend keeps it, and the graph itself."""
    G = random_graph(3)
    return BackendGraph.from_networkx(G, ["weight"]), G


@pytest.fixture
def priority():
    """Every call goes to the backend that it can serve, without being named."""
    with nx.config(backend_priority=["graphclust"], cache_converted_graphs=False):
        yield


@for_each("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_a_directed_graph_has_networkxs_modularity_and_communities_no_worse_than_louvains(kind):
    G = random_graph(5, kind)
    G.__networkx_cache__ = None  # else NetworkX warns of its use
    theirs = nx.community.louvain_communities(G, seed=1, backend="networkx")
    expected = modularity(G, theirs, backend="networkx")
    assert modularity(G, theirs, **OURS) == pytest.approx(expected, abs=1e-12)
    ours = nx.community.louvain_communities(G, seed=1, **OURS)
    assert is_partition(G, ours) and modularity(G, ours, backend="networkx") >= expected
    converted = BackendGraph.from_networkx(G, ["weight"])
    assert converted.number_of_edges() == G.number_of_edges() and converted.is_directed()
    assert nx.utils.graphs_equal(converted.to_networkx(), BackendGraph.from_networkx(G, ["weight"]).to_networkx())
    assert converted.to_networkx().is_directed() and {*converted.to_networkx().edges} == {*G.edges}


def test_networkx_knows_the_backend_and_each_function_that_it_serves():
    assert "graphclust" in nx.config.backends
    for name in info.get_info()["functions"]:
        assert callable(getattr(backend_interface, name))
        assert "graphclust" in nx.utils.backends._registered_algorithms[name].backends


def test_the_site_lists_every_function_of_networkx_as_served_or_left_to_it():
    page = pathlib.Path(__file__).parents[2] / "docs" / "coming-from.md"
    if not page.exists():
        pytest.skip("not a checkout")
    rows = [line.split("|")[1] for line in page.read_text().splitlines() if line.startswith("| `")]
    split = next(i for i, row in enumerate(rows) if "girvan_newman" in row)
    served, left = (set(re.findall(r"`(\w+)`", " ".join(some))) for some in (rows[:split], rows[split:]))
    assert served == set(info.get_info()["functions"])
    theirs = {name for name in dir(nx.community) if name[0] != "_" and callable(getattr(nx.community, name))}
    quality = {"intra_community_edges", "inter_community_edges", "inter_community_non_edges"}
    assert theirs - served - left == set() and served - theirs <= quality | {"leiden_communities", "leiden_partitions"}
    assert not served & left


def test_what_networkx_imports_with_itself_imports_nothing():
    tree = ast.parse(pathlib.Path(info.__file__).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"__future__", "typing"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


@for_each("kind", [nx.Graph, nx.MultiGraph])
@for_each("weight", ["weight", None, "nothing"])
def test_modularity_is_that_of_networkx(kind, weight):
    G = random_graph(1, kind)
    nodes = list(G)
    parts = [set(nodes[:7]), set(nodes[7:20]), set(nodes[20:])]
    for resolution in (1, 0.3, 2.5):
        arguments = {"weight": weight, "resolution": resolution}
        assert modularity(G, parts, **arguments, **OURS) == pytest.approx(modularity(G, parts, **arguments), abs=1e-14)
        G.__networkx_cache__.clear()


def test_what_is_no_partition_is_refused_as_networkx_does(converted):
    G, _ = converted
    refuses(nx.NetworkXError, "not a valid partition", modularity, G, [set(list(G)[:-1])])
    refuses(nx.NetworkXError, "not a valid partition", nx.community.partition_quality, G, [set(G), set(list(G)[:1])])
    assert is_partition(G, [{node} for node in G]) and not is_partition(G, [set(G), {"stranger"}])


@for_each("name", ["louvain_communities", "leiden_communities"])
@for_each("weight", ["weight", None])
@for_each("resolution", [0.5, 1, 3])
def test_communities_have_no_less_modularity_than_those_of_networkx(name, weight, resolution):
    G = nx.les_miserables_graph()
    G.add_edge("Valjean", "Valjean", weight=9)
    given = {"weight": weight, "resolution": resolution}
    found = getattr(nx.community, name)(G, seed=1, **given, **OURS)
    theirs = nx.community.louvain_communities(G, seed=1, **given)
    assert type(found) is list and all(type(members) is set for members in found) and is_partition(G, found)
    assert modularity(G, found, **given) >= modularity(G, theirs, **given)


def test_a_seed_gives_the_same_communities_however_it_is_held(converted):
    G, _ = converted
    first = nx.community.louvain_communities(G, seed=5)
    for seed in (5, np.random.default_rng(7), np.random.RandomState(7)):
        assert is_partition(G, nx.community.louvain_communities(G, seed=seed))
    assert first == nx.community.louvain_communities(G, seed=5)


def test_arguments_by_place_as_networkx_gives_them_before_there_was_a_max_level(converted):
    G, _ = converted
    by_place = backend_interface.louvain_communities(G, "weight", 1, 1e-7, random.Random(5))
    assert by_place == nx.community.louvain_communities(G, seed=5)


def test_levels_are_nested_gain_modularity_and_end_with_the_communities():
    G = nx.gnm_random_graph(200, 500, seed=1)  # without communities, so that regions are not confined by themselves
    levels = list(nx.community.louvain_partitions(G, seed=3, **OURS))
    assert len(levels) > 1
    for finer, coarser in pairwise(levels):
        assert all(any(part <= whole for whole in coarser) for part in finer) and len(coarser) < len(finer)
    values = [modularity(G, level) for level in levels]
    assert values == sorted(values)
    G.__networkx_cache__.clear()
    assert levels[-1] == nx.community.louvain_communities(G, seed=3, **OURS)
    G.__networkx_cache__.clear()
    assert levels[0] == nx.community.louvain_communities(G, seed=3, max_level=1, **OURS)
    G.__networkx_cache__.clear()
    assert levels[0] == nx.community.louvain_communities(G, seed=3, threshold=2.0, **OURS)


@pytest.mark.parametrize("options", [{"k": 2}, {"components": "largest"}])
def test_components_put_aside_are_communities_by_themselves(options):
    G = nx.disjoint_union_all([nx.barbell_graph(8, 0), nx.path_graph(2), nx.empty_graph(1)])
    G.__networkx_cache__ = None
    found = nx.community.louvain_communities(G, seed=1, **OURS, **options)
    assert {frozenset(members) for members in found} == {*map(frozenset, (range(8), range(8, 16), (16, 17), (18,)))}


def test_communities_take_k_and_what_graphclust_takes(converted):
    G, _ = converted
    assert len(nx.community.louvain_communities(G, seed=1, k=4, backend="graphclust")) == 4 + 2  # two are isolated
    assert is_partition(G, nx.community.leiden_communities(G, seed=1, effort="high"))
    sizes = [len(members) for members in nx.community.louvain_communities(G, seed=1, max_size=6)]
    assert max(sizes) <= 6 < max(map(len, nx.community.louvain_communities(G, seed=1)))


def test_fluid_communities_are_k():
    G = nx.ring_of_cliques(5, 6)
    found = nx.community.asyn_fluidc(G, 5, seed=1, **OURS)
    assert {frozenset(range(6 * i, 6 * i + 6)) for i in range(5)} == {frozenset(members) for members in found}


@for_each("seed", range(4))
@for_each(
    "name, options",
    [
        *(("greedy", {**one}) for one in ({}, {"cutoff": 12}, {"best_n": 3}, {"cutoff": 2, "best_n": 5})),
        ("greedy", {"resolution": 2}), ("naive_greedy", {"resolution": 0.7}), ("naive_greedy", {"resolution": 1.5}),
    ],
)  # fmt: skip
def test_greedy_communities_are_those_of_networkx(seed, name, options):
    size = {"n": 18, "m": 40} if name == "naive_greedy" else {}
    G = nx.convert_node_labels_to_integers(random_graph(seed, **size))  # NetworkX compares the nodes of a pair
    if name == "naive_greedy":
        nx.set_edge_attributes(G, {(u, v): weight for u, v, weight in G.edges(data="weight", default=0.37)}, "weight")
    function = getattr(nx.community, f"{name}_modularity_communities")
    ours, theirs = (function(G, weight="weight", **options, **backend) for backend in (OURS, {}))
    assert [len(members) for members in ours] == [len(members) for members in theirs] and set(ours) == set(theirs)


@pytest.mark.parametrize("is_given", [False, True])
def test_bisections_have_the_sizes_of_networkx_and_cut_no_more(is_given):
    rng = random.Random(4)
    for seed in range(12):
        n = rng.choice([5, 8, 13, 30])
        G = nx.gnm_random_graph(n, rng.choice([n // 2, n, 3 * n]), seed=seed)  # isolated nodes, several components
        nx.set_edge_attributes(G, {edge: rng.random() for edge in G.edges if seed % 2}, "weight")
        nodes, a = rng.sample(list(G), n), rng.randint(1, n - 1)
        partition = (nodes[:a], nodes[a:]) if is_given else None
        found = nx.community.kernighan_lin_bisection(G, partition, seed=seed, **OURS)
        theirs = nx.community.kernighan_lin_bisection(G, partition, seed=seed)
        assert type(found) is tuple and [len(half) for half in found] == [len(half) for half in theirs]
        assert is_partition(G, found)
        assert nx.cut_size(G, *found, weight="weight") <= nx.cut_size(G, *theirs, weight="weight") + 1e-12


def test_the_order_of_nodes_and_edges_changes_no_bisection():
    edges, rng = list(nx.florentine_families_graph().edges), random.Random(1)
    families = sorted(nx.florentine_families_graph())
    for partition in (None, (families[::2], families[1::2])):
        found = set()
        for _ in range(6):
            rng.shuffle(edges)
            G = nx.Graph([edge[:: rng.choice([1, -1])] for edge in edges])
            found.add(frozenset(map(frozenset, nx.community.kernighan_lin_bisection(G, partition, seed=3, **OURS))))
        assert len(found) == 1


def test_a_bisection_takes_what_balanced_partition_does_and_no_cycle_leaves_it_as_it_is():
    G = BackendGraph.from_networkx(nx.barbell_graph(6, 4), ["weight"])
    empty = BackendGraph.from_networkx(nx.empty_graph(3), ["weight"])
    halves = set(range(8)), set(range(8, 16))
    assert set(map(frozenset, nx.community.kernighan_lin_bisection(G, effort="low"))) == {*map(frozenset, halves)}
    odd = set(range(0, 16, 2)), set(range(1, 16, 2))
    assert nx.community.kernighan_lin_bisection(G, odd, max_iter=0) == odd[::-1]
    assert nx.community.kernighan_lin_bisection(G, (set(G), set())) == (set(), set(G))
    assert [len(half) for half in nx.community.kernighan_lin_bisection(G, max_iter=0, seed=1)] == [8, 8]
    assert [len(half) for half in nx.community.kernighan_lin_bisection(empty, seed=1)] == [2, 1]
    with pytest.raises(ParameterError, match="effort is not an option where a partition"):
        nx.community.kernighan_lin_bisection(G, odd, effort="low")
    for partition in ([{0}, {1}, {2}], [set(G), {0}], 5):
        refuses(nx.NetworkXError, "partition", nx.community.kernighan_lin_bisection, G, partition)


@pytest.mark.parametrize("is_given", [False, True])
def test_self_loops_cut_nothing_in_a_bisection(is_given):
    halves = {0, 1, 2, 6}, {3, 4, 5, 7}
    for n_loops in (1, 8):
        G = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
        nx.set_edge_attributes(G, 0.5, "weight")
        G.add_weighted_edges_from((node, node, 3.0) for node in range(n_loops))
        found = nx.community.kernighan_lin_bisection(G, halves if is_given else None, seed=1, **OURS)
        assert {frozenset(half) for half in found} == {frozenset(range(4)), frozenset(range(4, 8))}


def test_edges_of_sets_that_are_no_partition_are_not_counted():
    G = BackendGraph.from_networkx(nx.path_graph(3), [])
    for sets in ([{0}, {1}], [{0, 1}, {1, 2}], [{0, 1, 2}, {9}]):
        for count in ("intra_community_edges", "inter_community_edges", "inter_community_non_edges"):
            refuses(NotImplementedError, "overlap, leave nodes out", getattr(backend_graph, count), G, iter(sets))


@for_each("kind", [nx.Graph, nx.MultiGraph])
def test_partition_quality_and_counts_of_edges_are_those_of_networkx(kind):
    G = random_graph(6, kind)
    ours = BackendGraph.from_networkx(G, [])
    parts = [set(list(G)[::2]), set(list(G)[1::2])]
    names = ["partition_quality", "intra_community_edges", "inter_community_edges", "inter_community_non_edges"]
    for name in names if kind is nx.Graph else names[:2]:
        function = getattr(nx.community.quality, name)
        assert function(ours, parts) == function(G, parts)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_label_propagation_gives_the_communities_of_networkx(kind):
    for seed in range(6):
        G = random_graph(seed, kind, m=60)
        found = nx.community.label_propagation_communities(G, **OURS)
        assert list(found) == list(nx.community.label_propagation_communities(G))


def test_graphs_without_edges_or_nodes_are_served():
    for n in (0, 3):
        G = BackendGraph.from_networkx(nx.empty_graph(n), [])
        alone = [{i} for i in range(n)]
        assert nx.community.louvain_communities(G, weight=None) == alone
        assert nx.community.greedy_modularity_communities(G) == alone
        assert nx.community.label_propagation_communities(G) == alone


def test_a_graph_comes_back_with_its_weights(converted):
    ours, G = converted
    back = backend_interface.convert_to_nx(ours)
    assert list(back) == list(G) and {frozenset(edge) for edge in back.edges} == {frozenset(edge) for edge in G.edges}
    assert all(back[u][v]["weight"] == G[u][v].get("weight", 1) for u, v in G.edges)
    H = random_graph(4, nx.MultiGraph)
    back = backend_interface.convert_to_nx(BackendGraph.from_networkx(H, ["weight"]))
    assert back.number_of_edges() == H.number_of_edges() and back.size("weight") == pytest.approx(H.size("weight"))


def test_what_is_not_served_is_left_to_networkx(priority):
    D = nx.DiGraph([(0, 1), (1, 0), (2, 3), (3, 2)])
    assert is_partition(D, nx.community.louvain_communities(D, seed=1))
    G = nx.cycle_graph(2000)
    nx.set_edge_attributes(G, -1.0, "weight")
    assert nx.community.modularity(G, [set(G)]) == modularity(G, [set(G)], backend="networkx")


def test_calls_say_why_they_are_left_to_networkx():
    small, large = nx.path_graph(4), nx.path_graph(PAYS_FROM + 1)
    assert "directed" in backend_interface.can_run("louvain_partitions", (nx.DiGraph(),), {})
    assert "levels" in backend_interface.can_run("louvain_communities", (nx.DiGraph(),), {"max_level": 1})
    assert "function" in backend_interface.can_run("louvain_communities", (small, lambda u, v, d: 1), {})
    assert "positive" in backend_interface.can_run("louvain_communities", (small,), {"resolution": 0})
    assert backend_interface.can_run("modularity", (small, [set(small)]), {"resolution": 0}) is True
    assert "fewer" in backend_interface.should_run("louvain_communities", (small,), {})
    assert backend_interface.should_run("louvain_communities", (), {"G": large}) is True
    assert "conversion" in backend_interface.should_run("modularity", (large, [set(large)]), {})
    nx.community.louvain_communities(large, seed=1, **OURS)
    assert backend_interface.should_run("modularity", (large, [set(large)]), {}) is True


def test_weights_that_no_partition_can_be_made_for_are_refused_by_name():
    G = nx.path_graph(4)
    nx.set_edge_attributes(G, "heavy", "weight")
    with pytest.raises(NotImplementedError) as caught:
        nx.community.louvain_communities(G, **OURS)
    assert "does not hold numbers" in str(caught.value.__cause__)
    with pytest.raises(NotImplementedError, match="was not converted, expected one of"):
        BackendGraph.from_networkx(nx.path_graph(3), ["weight"]).rows("distance")


@for_each(
    "names",
    [[3, 0, 2, 1], [7, 100_000, 2, 9], [True, 2, 3, 4], [-1, 5, 2, 2**70], ["a", (1, 2), 2.5, 0], [0, 1.0, 2, 3]],
)
def test_rows_are_those_of_networkx_whatever_nodes_are_called(names):
    G = nx.Graph()
    G.add_nodes_from(names)
    G.add_edges_from([(names[0], names[2]), (names[2], names[3]), (names[1], names[1])])
    (matrix,), nodes = networkx_rows(G, None)
    assert nodes == names and (matrix != nx.to_scipy_sparse_array(G)).nnz == 0


@for_each("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph])
@for_each("weight", ["weight", None])
def test_rows_hold_the_weights_of_networkx_sorted(kind, weight):
    G = random_graph(5, kind)
    H = kind()
    H.add_edges_from(random.Random(2).sample(list(G.edges(data=True)), G.number_of_edges()))  # rows in any order
    (matrix,), nodes = networkx_rows(H, weight)
    theirs = nx.to_scipy_sparse_array(H, nodelist=nodes, weight=weight, dtype=float)
    theirs.sort_indices()
    assert np.array_equal(matrix.indices, theirs.indices) and np.array_equal(matrix.indptr, theirs.indptr)
    assert matrix.data == pytest.approx(theirs.data, abs=1e-15)


def test_edges_that_share_one_dict_of_attributes_have_its_weight():
    G = nx.path_graph(4)
    shared = {"weight": 3.0}
    for u, v in G.edges:
        G._adj[u][v] = G._adj[v][u] = shared
    assert networkx_rows(G, "weight")[0][0].data.tolist() == [3.0] * 6


@pytest.mark.slow
def test_louvain_is_fifty_times_as_fast_and_a_hundred_times_once_converted():
    """Of 550,000 edges, in time of the processor; conversion waits for the memory that the dicts lie scattered in."""
    from graphclust import planted_partition

    entries = planted_partition(110, 500, 14.0, 6.0, rng=1).graph.to_scipy().tocoo()
    G = nx.Graph()
    G.add_edges_from(zip(entries.row.tolist(), entries.col.tolist(), strict=True))

    def seconds_and_value(**options):
        start = process_time()
        found = nx.community.louvain_communities(G, seed=1, **options)
        return process_time() - start, modularity(G, found, backend="networkx")

    seconds_and_value(**OURS)  # compiles
    G.__networkx_cache__.clear()
    first, converted = [], []
    with nx.config(warnings_to_ignore={"cache"}):
        for _ in range(3):
            G.__networkx_cache__.clear()
            first.append(seconds_and_value(**OURS))
            converted.append(seconds_and_value(**OURS))
    theirs = seconds_and_value(backend="networkx")
    assert first[0][1] == converted[0][1] >= theirs[1] - 1e-9
    times, of_converted = (theirs[0] / min(one)[0] for one in (first, converted))
    assert times > 30 and of_converted > 60
    if times <= 50 or of_converted <= 100:
        pytest.xfail(f"{times:.0f} and {of_converted:.0f} times as fast; a matter of the machine")


@for_each(
    "names", [[3, 1, 2**40, -5], [2**70, 1, 5], [2**63, 1], ["b", "a", "c", "ab"], [True, 0, 3], [5, "a", 2.5], []]
)
def test_names_of_one_kind_have_the_order_that_they_have_among_others(names):
    among = order_of_names([*names, (1, 2)])
    assert order_of_names(names).tolist() == [place for place in among.tolist() if place < len(names)]


@pytest.mark.filterwarnings("ignore:Note. conversions")
def test_a_given_partition_is_improved_alike_from_call_to_call():
    """Which of several halves of the same cut is found differs by seed; without one it is always that of seed 0."""
    graph = nx.gnp_random_graph(40, 0.12, seed=7)
    halves = [set(range(20)), set(range(20, 40))]
    found = [nx.community.kernighan_lin_bisection(graph, halves, **OURS) for _ in range(6)]
    others = [nx.community.kernighan_lin_bisection(graph, halves, seed=seed, **OURS) for seed in range(6)]
    assert all(one == found[0] == others[0] for one in found) and any(one != found[0] for one in others)
