"""Parts of equal size: the bound holds whatever the graph, and the cut is that of a good partitioner."""

import itertools
import json
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from graphs import leafy_graph, make_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from shell import said

import graphclust
from graphclust import balanced_partition
from graphclust.engine.cluster_sizes import packed_labels
from graphclust.errors import GraphValidationError, Interrupted, ParameterError

pytestmark = [
    pytest.mark.slow,  # loops for nodes with sizes take half a minute to compile
    pytest.mark.filterwarnings("ignore:.*isolated node:graphclust.errors.GraphWarning"),
]
MESH = nx.convert_node_labels_to_integers(nx.triangular_lattice_graph(18, 36))


def random_graph(n, seed, share):
    rng = np.random.default_rng(seed)
    upper = sparse.triu(sparse.random_array((n, n), density=share, rng=rng), 1)
    return sparse.csr_array(upper + upper.T + sparse.eye_array(n, format="csr") * (rng.random(n) < 0.1))


graphs = st.builds(random_graph, st.integers(2, 40), st.integers(0, 999), st.sampled_from([0.05, 0.1, 0.3]))
imbalances = st.sampled_from([0.0, 0.03, 0.3, 2.0])


@pytest.mark.filterwarnings("ignore:max_imbalance=2 lets one cluster:graphclust.GraphWarning")
@settings(max_examples=40, deadline=None)
@given(graphs, st.integers(1, 40), imbalances, st.sampled_from(["low", "normal"]))
def test_every_node_is_in_one_of_exactly_k_parts_within_the_bound(A, k, imbalance, effort):
    if A.nnz == 0 or k > A.shape[0]:
        return
    found = balanced_partition(A, k, max_imbalance=imbalance, effort=effort, rng=0)
    sizes = np.bincount(found.labels, minlength=k)
    assert len(sizes) == k and sizes.min() > 0 and sizes.sum() == A.shape[0]
    assert sizes.max() <= np.ceil((1 + imbalance) * A.shape[0] / k - 1e-9)
    assert sizes.min() >= np.floor((1 - imbalance) * A.shape[0] / k + 1e-9)


def weights_of_every_kind(n, seed):
    rng = np.random.default_rng(seed)
    heavy = np.where(np.arange(n) == rng.integers(n), 50.0, rng.integers(1, 4, n))
    kinds = (np.ones(n), rng.integers(1, 9, n), rng.random(n) + 0.01, rng.pareto(1.5, n) + 0.1, heavy)
    return kinds[seed % len(kinds)]


def test_parts_are_within_both_bounds_or_as_near_as_weights_let_or_refused_with_bounds_that_do():
    outcomes = np.zeros(3, int)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 60))
        A, k, share = random_graph(n, seed, 0.15), int(rng.integers(1, min(n, 9))), float(rng.choice([0.0, 0.03, 0.3]))
        weights, options = weights_of_every_kind(n, seed), {"effort": "low", "rng": 0}
        mean, is_whole = weights.sum() / k, (weights == np.floor(weights)).all()
        try:
            found = balanced_partition(A, k, max_imbalance=share, node_weight=weights, **options)
        except ParameterError as problem:
            outcomes[2] += 1
            enough = float(str(problem).split("max_imbalance >= ")[1].split(",")[0].split(" ")[0])
            found = balanced_partition(A, k, max_imbalance=enough, node_weight=weights, **options)
            assert share < enough, seed
            share = enough
        load = np.bincount(found.labels, weights, minlength=k)
        is_near = any("the nodes' weights let no more" in one for one in found.remarks)
        outcomes[int(is_near)] += 1
        assert load.max() <= (np.ceil((1 + share) * mean - 1e-9) if is_whole else (1 + share) * mean * (1 + 1e-8)), seed
        assert is_near or load.min() >= (1 - share) * mean * (1 - 1e-8) - is_whole, seed
        assert found.smallest_to_mean == pytest.approx(load.min() / mean) and found.n_clusters == k
    assert (outcomes > 5).all(), outcomes


def test_no_part_of_a_mesh_is_empty_work():
    line = [sparse.diags_array([[1.0] * (n - 1)] * 2, offsets=[-1, 1]) for n in (60, 20)]
    square, cube = sparse.kronsum(line[0], line[0]), sparse.kronsum(sparse.kronsum(line[1], line[1]), line[1])
    assert balanced_partition(square, 100, rng=1).sizes.min() >= 34
    parts = balanced_partition(cube, 16, rng=1)
    assert parts.smallest_to_mean >= 0.97 and parts.imbalance <= 1.03
    lifted = balanced_partition(square, 100, min_imbalance=None, rng=1)
    assert lifted.sizes.min() < 10 and lifted.edge_cut < 1.05 * balanced_partition(square, 100, rng=1).edge_cut
    with pytest.raises(ParameterError, match=r"min_imbalance=0.0: .* max_imbalance >= 0.5 with min_imbalance >= 0.5"):
        balanced_partition(nx.path_graph(4), 3, max_imbalance=0.2, min_imbalance=0.0, node_weight=[1, 1, 1, 3])


@pytest.mark.parametrize("effort", ["low", "normal"])
def test_contiguous_parts_of_a_graph_of_many_leaves_are_in_one_piece(effort):
    graph = leafy_graph(300, 150, seed=0)
    parts = balanced_partition(graph, 16, effort=effort, contiguous=True, rng=1)
    scattered = balanced_partition(graph, 16, effort=effort, rng=1)
    assert scattered.n_pieces > parts.n_pieces == 16 and parts.edge_cut < 1.1 * scattered.edge_cut
    assert parts.sizes.min() >= 27 and parts.sizes.max() <= 29


def test_a_time_budget_that_is_too_short_takes_no_more_than_low_effort():
    grid = nx.to_scipy_sparse_array(nx.grid_graph((20, 20, 20)), format="csr")
    low = balanced_partition(grid, 32, effort="low", rng=0)
    short = balanced_partition(grid, 32, time_budget=1e-6, rng=0)
    assert sum(short.entries_read.values()) <= sum(low.entries_read.values())
    assert short.edge_cut < 1.25 * low.edge_cut


def test_contiguous_parts_are_in_one_piece_or_a_remark_counts_the_pieces():
    trees = nx.random_labeled_tree(60, seed=2), nx.random_labeled_tree(60, seed=3), nx.caveman_graph(1, 8)
    for graph, k, share in [(MESH, 9, 0.03), (nx.grid_2d_graph(9, 9), 4, 0.03), *((tree, 4, 0.3) for tree in trees)]:
        parts = balanced_partition(graph, k, max_imbalance=share, contiguous=True, rng=0)
        pieces = sum(nx.number_connected_components(graph.subgraph(one)) for one in parts.communities())
        assert parts.n_pieces == pieces and (pieces == k) != any("was asked for" in one for one in parts.remarks)
        assert parts.imbalance <= np.ceil((1 + share) * len(graph) / k) * k / len(graph)
    assert balanced_partition(nx.barabasi_albert_graph(200, 2, seed=1), 8, contiguous=True, rng=0).n_pieces == 8
    star = balanced_partition(nx.star_graph(11), 3, contiguous=True, rng=0)
    assert star.n_pieces > 3 and "was asked for, but not found" in star.remarks[-1]
    with pytest.raises(ParameterError, match=r"contiguous=True, but the graph has 2 components"):
        balanced_partition(nx.disjoint_union(MESH, MESH), 2, contiguous=True)


@pytest.mark.parametrize("shares", [(1, 2, 3), (1, 8), (5, 1, 1, 1, 1, 3), (0.5, 0.25, 0.25)])
def test_parts_of_unequal_machines_hold_their_shares(shares):
    target = np.array(shares) / sum(shares) * len(MESH)
    for options in ({}, {"effort": "low", "contiguous": True}):
        parts = balanced_partition(MESH, len(shares), target_weights=shares, rng=1, **options)
        assert (parts.sizes <= np.ceil(1.03 * target - 1e-9)).all()
        assert (parts.sizes >= np.floor(0.97 * target + 1e-9)).all() and parts.parameters["target_weights"] == [*shares]
    changed = parts.update(added=[(0, 300)], rng=0)
    assert (changed.sizes <= np.ceil(1.03 * target - 1e-9)).all()
    for wrong, words in [((1, 2), "expected one for each part"), ((1, 0, 2), r"target_weights\[1\] is 0")]:
        with pytest.raises(ParameterError, match=words):
            balanced_partition(MESH, 3, target_weights=wrong)


def test_pieces_are_counted_and_reports_count_what_is_bounded():
    stars = nx.disjoint_union(nx.star_graph(4), nx.star_graph(4))
    parts = balanced_partition(stars, 5, max_imbalance=0, rng=0)
    assert parts.n_pieces == sum(nx.number_connected_components(stars.subgraph(one)) for one in parts.communities()) > 5
    assert f"{parts.n_pieces} pieces" in parts.remarks[-1] and parts.report()["n_pieces"] == parts.n_pieces
    assert f"{parts.n_pieces} connected pieces" in str(parts)
    weighed = balanced_partition(nx.path_graph(4), 2, node_weight=[3, 1, 1, 1], rng=0)
    assert weighed.sizes.tolist() == [3, 1] and (weighed.imbalance, weighed.smallest_to_mean) == (1.0, 1.0)
    assert "imbalance 1.00" in str(weighed) and weighed.report()["smallest_share"] == 0.5


def test_few_nodes_make_the_best_partition_within_both_bounds():
    """Against all: refused only where none is below the upper bound; else the least cut, and of these the most even."""
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n, k, share = int(rng.integers(3, 8)), int(rng.integers(2, 4)), float(rng.choice([0.0, 0.03, 0.3]))
        A, weights = random_graph(n, seed, 0.4), rng.integers(0, rng.choice([3, 9, 40]), n) + (np.arange(n) == 0.0)
        shares = np.array([1, 2, 4][:k]) if seed % 3 == 0 else np.ones(k)
        target = weights.sum() * shares / shares.sum()
        tried = np.array([one for one in itertools.product(range(k), repeat=n) if len(set(one)) == k])
        load = np.stack([(tried == c) @ weights for c in range(k)], axis=1)
        is_below = (load <= np.ceil((1 + share) * target - 1e-9)).all(axis=1)
        lower = np.floor((1 - share) * target + 1e-9)
        is_within = is_below & (load >= lower).all(axis=1)
        more = {} if seed % 3 else {"target_weights": shares}
        if not is_below.any():
            with pytest.raises(ParameterError, match=r"the nodes fit into no|holds at most"):
                balanced_partition(A, k, max_imbalance=share, node_weight=weights, rng=seed, **more)
            continue
        found = balanced_partition(A, k, max_imbalance=share, node_weight=weights, rng=seed, **more)
        held = np.bincount(found.labels, weights, minlength=k)
        if not is_within.any():
            of_lower = np.divide(load[is_below], lower, out=np.ones((is_below.sum(), k)), where=lower > 0)
            assert (held[lower > 0] / lower[lower > 0]).min() == pytest.approx(of_lower.min(axis=1).max()), seed
            continue
        edges = sparse.coo_array(A)
        cuts = (tried[is_within][:, edges.row] != tried[is_within][:, edges.col]) @ edges.data / 2
        least, uneven = np.isclose(cuts, cuts.min()), ((load[is_within] / target) ** 2).sum(axis=1)
        assert found.edge_cut == pytest.approx(cuts.min()), seed
        assert ((held / target) ** 2).sum() == pytest.approx(uneven[least].min()), seed
    for graph in (nx.complete_graph(5), nx.path_graph(5), nx.star_graph(4)):
        parts = balanced_partition(graph, 2, node_weight=[5, 4, 3, 3, 3], rng=0)
        assert parts.smallest_to_mean == 1.0


def test_weights_that_add_up_to_equal_parts_are_packed_so():
    rng, found = np.random.default_rng(0), 0
    for k, n in [(2, 30), (3, 24), (4, 40), (8, 64)] * 5:
        ends = [np.sort(rng.choice(np.arange(1, 100), n // k - 1, replace=False)) for _ in range(k)]
        size = np.concatenate([np.diff([0, *each, 100]) for each in ends]).astype(float)
        labels = packed_labels(size, k)
        assert np.bincount(labels, size, minlength=k).max() <= 101 and np.bincount(labels, minlength=k).all()
        found += np.bincount(labels, size).max() == 100
    assert found >= 18
    assert sorted(packed_labels(np.array([0.0, 0.0, 1.0, 1.0]), 4).tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(6))
def test_finds_the_smallest_balanced_cut_of_sixteen_nodes(seed):
    A = random_graph(16, seed, 0.4)
    halves = [np.isin(np.arange(16), half).astype(int) for half in itertools.combinations(range(16), 8) if 0 in half]
    best = min(graphclust.edge_cut(A, labels) for labels in halves)
    assert balanced_partition(A, 2, max_imbalance=0, rng=seed).edge_cut == pytest.approx(best)


def test_a_grid_is_cut_along_straight_lines():
    grid = nx.grid_2d_graph(16, 16)
    assert balanced_partition(grid, 2, max_imbalance=0, rng=0).edge_cut == 16
    assert balanced_partition(grid, 4, max_imbalance=0, rng=0).edge_cut <= 34


def test_more_effort_cuts_no_more():
    cuts = [
        np.mean([balanced_partition(MESH, 8, effort=effort, rng=seed).edge_cut for seed in range(12)])
        for effort in ("low", "normal", "high")
    ]
    assert cuts[2] <= cuts[1] <= cuts[0]


def test_cuts_as_little_as_metis():
    pymetis = pytest.importorskip("pymetis")
    A, neighbors = nx.to_scipy_sparse_array(MESH, format="csr"), [list(MESH[u]) for u in MESH]
    for k in (4, 16):
        _, theirs = pymetis.part_graph(k, adjacency=neighbors, options=pymetis.Options(ufactor=30))
        ours = np.median([balanced_partition(A, k, rng=seed).edge_cut for seed in range(3)])
        assert ours <= graphclust.edge_cut(A, np.asarray(theirs))


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**600])
def test_parts_are_the_same_in_any_unit_of_the_weights_of_nodes(unit):
    weights, grid = 0.1 + np.random.default_rng(0).random(64), nx.grid_2d_graph(8, 8)
    found, same = (balanced_partition(grid, 2, node_weight=w, rng=0).labels for w in (weights, unit * weights))
    assert found.tolist() == same.tolist()


def test_a_node_attribute_names_the_weights():
    weighted = MESH.copy()
    nx.set_node_attributes(weighted, {u: 1 + u % 3 for u in weighted}, "load")
    by_name = balanced_partition(weighted, 5, node_weight="load", rng=1)
    assert (by_name.labels == balanced_partition(MESH, 5, node_weight=[1 + u % 3 for u in MESH], rng=1).labels).all()
    assert by_name.parameters["node_weight"] == "load"


def test_isolated_nodes_and_components_have_parts():
    found = balanced_partition(make_graph("tiny pieces"), 4, max_imbalance=0.1, rng=0)
    assert found.labels.min() == 0 and found.sizes.max() <= np.ceil(1.1 * len(found.labels) / 4)


def test_nothing_is_said_of_labels_that_isolated_nodes_do_not_have(tmp_path):
    loose = nx.barbell_graph(4, 0)
    loose.add_nodes_from([8, 9])
    file = tmp_path / "loose.graph"
    graphclust.save_graph(file, loose)
    for one in (loose, file):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parts = balanced_partition(one, 2, max_imbalance=0, rng=0)
        assert parts.labels.min() == 0 and not any("isolated" in said for said in parts.remarks)


def test_labels_depend_on_the_seed_alone():
    A = nx.to_scipy_sparse_array(MESH, format="csr")
    first = balanced_partition(A, 6, rng=3)
    assert first == balanced_partition(A.astype(np.float32), 6, rng=3) and first.seed == 3
    with graphclust.limit_threads(1):
        assert (balanced_partition(A, 6, rng=3).labels == first.labels).all()


def test_a_permuted_matrix_gives_the_same_parts():
    upper = np.triu(np.random.default_rng(4).random((50, 50)), 1)
    A, weights = np.where(upper > 0.9, upper, 0.0), np.random.default_rng(5).integers(1, 4, 50)
    A += A.T
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(50)
        for options in ({}, {"node_weight": weights}, {"effort": "low"}):
            there = options | ({"node_weight": weights[order]} if "node_weight" in options else {})
            one = balanced_partition(A, 4, rng=2, **options)
            other = balanced_partition(A[np.ix_(order, order)], 4, rng=2, **there)
            assert other.edge_cut == pytest.approx(one.edge_cut)
            assert graphclust.adjusted_rand_index(one.labels[order], other.labels) == 1


def test_many_parts_are_the_same_again():
    grid = nx.convert_node_labels_to_integers(nx.grid_graph((16, 16, 16)))
    first = balanced_partition(grid, 32, effort="low", rng=1)
    spoilt = [np.full(1 << 16, np.nan) for _ in range(8)]  # memory that comes next is not what it was
    del spoilt
    assert (balanced_partition(grid, 32, effort="low", rng=1).labels == first.labels).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_imbalance": -1}, "max_imbalance=-1.*>= 0"),
        ({"effort": "most"}, "effort='most'.*'high'"),
        ({"node_weight": [1.0] * 3}, r"node_weight.*\(4,\)"),
        ({"node_weight": [1, 1, 1, 7]}, r"node_weight\[3\] is 7.*max_imbalance >= 0.4"),
        ({"node_weight": "load"}, "node_weight='load'.*4 nodes"),
    ],
)
def test_impossible_arguments_are_named(options, words):
    refuses((ParameterError, GraphValidationError), words, balanced_partition, nx.path_graph(4), 2, **options)


def test_a_share_above_one_may_mean_per_cent():
    with pytest.warns(graphclust.GraphWarning, match=r"^max_imbalance=3 lets .* 4 times .* pass max_imbalance=0.03$"):
        balanced_partition(nx.path_graph(4), 2, max_imbalance=3, rng=0)
    heavy = [1, 1, 1, 1, 7]  # one of which is 1.27 times a part
    assert balanced_partition(nx.path_graph(5), 2, max_imbalance=1.28, node_weight=heavy, rng=0).k == 2


def test_an_interruption_returns_parts_within_the_bound():
    def stop(stage, done, total):
        if stage == "partition" and done >= 1:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        balanced_partition(MESH, 7, effort="high", rng=1, progress=stop)
    best = caught.value.best
    assert np.bincount(best.labels, minlength=7).max() <= np.ceil(1.03 * len(MESH) / 7)
    assert best.edge_cut < 0.2 * MESH.number_of_edges()  # of labels in another order it would be six of seven


def test_figures_are_those_of_their_definitions():
    found = balanced_partition(MESH, 5, rng=0)
    labels = found.labels
    links = {(u, labels[v]) for edge in MESH.edges for u, v in (edge, edge[::-1]) if labels[u] != labels[v]}
    assert found.communication_volume == len(links) and found.n_boundary_nodes == len({u for u, _ in links})
    assert found.edge_cut == sum(labels[u] != labels[v] for u, v in MESH.edges)
    assert found.imbalance == pytest.approx(found.sizes.max() * 5 / len(MESH))
    assert found.report()["communication_volume"] == len(links) and "communication volume" in str(found)


def test_the_permutation_puts_the_parts_on_the_diagonal():
    found = balanced_partition(MESH, 5, rng=0)
    assert (np.diff(found.labels[found.permutation()]) >= 0).all()
    assert sorted(found.permutation()) == list(range(len(MESH)))
    loose = graphclust.Clustering(np.array([-1, 1, 0, 0, 1]), 2, graphclust.as_graph(make_graph("no edges")))
    assert loose.permutation().tolist() == [2, 3, 1, 4, 0]


def test_the_command_writes_parts_permutation_and_matrix(tmp_path, capsys):
    A = nx.to_scipy_sparse_array(MESH, format="csr")
    graphclust.save_graph(tmp_path / "A.mtx", A)
    files = [tmp_path / name for name in ("parts.txt", "p.txt", "B.mtx")]
    options = ["-o", files[0], "--to", "metis", "--permutation", files[1], "--reordered", files[2]]
    command = ["partition", tmp_path / "A.mtx", "-k", 6, "--imbalance", "0.05", "--seed", 4, *options]
    code, printed, _ = said(capsys, *command)
    expected = balanced_partition(A, 6, max_imbalance=0.05, rng=4)
    assert np.loadtxt(files[0], int).tolist() == expected.labels.tolist()
    order = np.loadtxt(files[1], int)
    assert order.tolist() == expected.permutation().tolist()
    assert (graphclust.load_graph(files[2]).to_scipy() != A[order][:, order]).nnz == 0
    assert (
        code == 0 and "communication volume" in printed and "connected pieces" in printed and "of the mean" in printed
    )
    as_json = ["partition", tmp_path / "A.mtx", "--report", "json"]
    lifted = said(capsys, *as_json, "-k", 40, "--min-imbalance", 1)
    assert lifted[0] == 0 and json.loads(lifted[1])["smallest_to_mean"] < 0.8
    shares = ["--target-weights", 1, 3, "--contiguous", "-k", 2, "--min-imbalance", 0.03]
    report = json.loads(said(capsys, *as_json, *shares)[1])
    assert report["parameters"]["target_weights"] == [1.0, 3.0] and report["n_pieces"] == 2
    code, _, err = said(capsys, *command)
    assert code == 2 and "parts.txt" in err  # they are there already


def test_the_command_refuses_what_cannot_be(tmp_path, capsys):
    for more, word in [
        (["--to", "metis"], "-o"),
        (["-o", "parts.xyz"], "'.xyz'"),
        (["--imbalance", "-1"], "--imbalance -1"),
        (["--permutation", "p.txt", "-o", "p.txt"], "two outputs"),
    ]:
        code, _, err = said(capsys, "partition", "karate", "-k", 2, *more)
        assert code == 2 and word in err


def test_metis_list_of_parts_is_read_back(tmp_path, capsys):
    command = ("partition", "karate", "-k", 3, "-q", "-o", tmp_path / "karate.part.3")
    assert said(capsys, *command)[:2] == (0, "")
    labels = graphclust.read_labels(tmp_path / "karate.part.3")[1]
    assert np.bincount(labels).max() <= 12
