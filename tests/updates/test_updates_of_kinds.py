"""Updates of directed, bipartite and signed graphs, beside a twin that makes the matrix anew after each batch."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from scipy import sparse
from test_histories import StopsAt, check_ids, members_of

import graphclust as gc
from graphclust.io.kinds import as_layered

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
KINDS = ("directed", "bipartite", "signed")
MOST = 16.0  # nodes of a cluster
CALLS = {
    "communities": lambda G: gc.communities(G, rng=0),
    "bounded": lambda G: gc.communities(G, max_size=MOST, rng=0),
    "exactly k": lambda G: gc.coreset_sc(G, 4, resolution=1.0, components="all", rng=0),
    "k bounded": lambda G: gc.coreset_sc(G, 5, resolution=1.0, max_size=MOST, components="all", rng=0),
}


class Twin:
    """The weights of edges in a dictionary, by the names of their ends; those of columns begin with "c"."""

    def __init__(self, kind, seed, n=48):
        self.rng, self.kind, self.n_named, self.edges = np.random.default_rng(seed), kind, n, {}
        self.nodes = [f"{'c' if kind == 'bipartite' and u % 8 > 3 else 'r'}{u}" for u in range(n)]
        for u, v in np.argwhere(self.rng.random((n, n)) < 0.4).tolist():
            is_inside, pair = u % 4 == v % 4, self.pair(self.nodes[u], self.nodes[v])
            if pair and (is_inside or self.rng.random() < 0.15):
                self.edges[pair] = -1.0 if kind == "signed" and not is_inside else 1.0

    def pair(self, u, v):
        """The ends in the order that the kind has, None where there is no edge between them."""
        if u == v or (self.kind == "bipartite" and u[0] == v[0]):
            return None
        return (u, v) if self.kind == "directed" else tuple(sorted((u, v), key=lambda name: (name[0] != "r", name)))

    def layered(self):
        """The graph, made from its matrix."""
        nodes = sorted(self.nodes, key=lambda name: name[0] != "r")
        place, A = {name: row for row, name in enumerate(nodes)}, np.zeros((len(nodes), len(nodes)))
        for (u, v), weight in self.edges.items():
            A[place[u], place[v]] = weight
        if self.kind == "signed":
            A += A.T
        n_rows = sum(name[0] == "r" for name in nodes)
        return as_layered(A[:n_rows, n_rows:] if self.kind == "bipartite" else A, self.kind).with_names(nodes)

    def batch(self):
        """Random edits as `update` takes them, made here too."""
        rng, before = self.rng, {*self.edges}
        alone, linked = ("r" + str(self.n_named), ("c" if self.kind == "bipartite" else "r") + str(self.n_named + 1))
        self.n_named += 2
        gone = rng.choice(self.nodes, max(len(self.nodes) - 54, int(rng.integers(0, 2))), replace=False).tolist()
        staying = [pair for pair in self.edges if not {*gone} & {*pair}]
        chosen = [staying[i] for i in rng.choice(len(staying), 4, replace=False)]
        self.nodes = [u for u in self.nodes if u not in gone] + [alone, linked]
        near = rng.choice([u for u in self.nodes if u[0] == "r"], 1 + 10 * int(rng.integers(2))).tolist()
        ends = [*((u, linked) for u in near), *rng.choice(self.nodes, (3, 2)).tolist()]
        new = {self.pair(*both) for both in ends} - before - {None}

        def weigh(pairs):
            signs = (-1, 1) if self.kind == "signed" else (1,)
            return [(*pair, float(rng.integers(1, 9) * rng.choice(signs)) / 4.0) for pair in pairs]

        added, reweighted = weigh(sorted(new)), weigh(chosen[2:])
        self.edges = {pair: self.edges[pair] for pair in staying if pair not in chosen[:2]}
        self.edges |= {(u, v): w for u, v, w in reweighted + added}
        sides = {alone: 0, linked: 1} if self.kind == "bipartite" else [alone, linked]
        of_edges = {"added": added, "removed": chosen[:2], "reweighted": reweighted}
        return of_edges | {"added_nodes": sides, "removed_nodes": gone}


def check_layers(found, expected):
    """Both graphs are the same, to the last bit where all weights are quarters."""
    assert found.combined == expected.combined and (found.kind, found.sides) == (expected.kind, expected.sides)
    assert (found.total, found.connected) == (expected.total, expected.connected)
    for one, other in zip(found.layers, expected.layers, strict=True):
        assert (one.outward == other.outward).all() and (one.inward == other.inward).all()
        assert one.penalty == other.penalty and (one.arcs != other.arcs).nnz == 0


def run(kind, call, n_batches, seed):
    """A history; the mean of what its clusters lack of the value of those from nothing, after each tenth batch."""
    twin = Twin(kind, seed)
    found, gone, lost = CALLS[call](twin.layered()), set(), []
    for step in range(n_batches):
        before, members, edits = found, members_of(found), twin.batch()
        found, expected = before.update(**edits, rng=step), twin.layered()
        if step % 10 == 0:
            for stage in ("edits", "ids"):
                with pytest.raises(KeyboardInterrupt):
                    before.update(**edits, rng=step, progress=StopsAt(stage))
            assert before.update(**edits, rng=step) == found
            lost.append(1.0 - found.modularity / CALLS[call](expected).modularity)
        assert members_of(before) == members
        check_layers(found.layered, expected)
        assert found.modularity == pytest.approx(expected.modularity(found.labels), abs=1e-12)
        check_ids(members, found, gone)
        assert len({*found.ids.tolist()}) == found.n_clusters
        k = {"exactly k": 4, "k bounded": 5}.get(call)
        assert (found.labels >= 0).tolist() == ((k is None) | ~found.graph.isolated).tolist()
        assert k in (None, found.n_clusters) and ("bounded" not in call or found.sizes.max() <= MOST)
        assert kind == "signed" or k or found.n_pieces == found.n_clusters
    return np.mean(lost)


@for_each("kind", KINDS)
def test_a_history_of_a_kind_is_that_of_a_matrix_made_anew(kind):
    assert run(kind, "communities", 20, 2) < 1e-3


@for_each("kind", KINDS)
def test_exactly_k_clusters_of_a_kind_stay(kind):
    run(kind, "exactly k", 20, 1)


@for_each("kind", KINDS)
def test_clusters_far_from_the_edits_stay(kind):
    rng, n = np.random.default_rng(0), 2_000  # and more entries than new partitions are tried of
    rows, near = rng.integers(0, n, 40_000), rng.integers(0, 100, 40_000)
    columns = np.where(rng.random(40_000) < 0.7, rows // 100 * 100 + near, rng.integers(0, n, 40_000))
    A = sparse.coo_array((np.ones(40_000), (rows, columns)), shape=(n, n)).tocsr()
    if kind == "signed":
        upper = sparse.triu(A, 1).tocoo()
        signs = np.where((upper.row // 100 == upper.col // 100) | (rng.random(upper.nnz) < 0.5), 1.0, -1.0)
        upper.data = signs
        A = (upper + upper.T).tocsr()
    first = gc.communities(A, kind=kind, rng=0)
    edges = sparse.triu(A, 1).tocoo()
    few = rng.choice(edges.nnz, 10, replace=False)
    later = first.update(removed=np.stack(edges.coords, axis=1)[few], rng=0)
    assert np.mean([change.kind == "kept" for change in later.changes]) > 0.9
    assert later.modularity > 0.999 * gc.communities(later.layered, rng=0).modularity


@pytest.mark.slow  # the loops of bounds take seconds to compile
@for_each("kind", KINDS)
def test_bounds_of_a_kind_are_kept_in_long_histories(kind):
    for call, n_batches in (("communities", 100), ("bounded", 30), ("k bounded", 30)):
        run(kind, call, n_batches, 3)


@pytest.mark.slow  # for the same reason
def test_connectivity_and_weights_of_nodes_hold_for_arcs():
    D = Twin("directed", 1).layered()
    well = gc.communities(D, connectivity=1, rng=0).update(added=[("r0", "new")], rng=0)
    assert "well-connected clusters cover" in well.remarks[0] and well.labels[-1] == -1
    weights = dict.fromkeys(D.combined.nodes, 2.0)  # of 48 nodes
    loads = gc.communities(D, max_size=40, node_weight=weights, rng=0)
    assert loads.update(added=[("r0", "new")], node_weight={"new": 7.0}, rng=0).loads.sum() == 103.0


@for_each("kind", KINDS)
def test_levels_of_a_kind_are_updated_within_their_bound(kind):
    twin = Twin(kind, 3)
    found, gone = gc.hierarchy(twin.layered(), max_size=10, rng=0), set()
    for step in range(8):
        before, members, edits = found, members_of(found), twin.batch()
        found = before.update(**edits, rng=step)
        check_layers(found.layered, twin.layered())
        assert members_of(before) == members and found.sizes_on(-1).max() <= 10
        for above, below in zip(found.levels, found.levels[1:], strict=False):
            assert len({*zip(above.tolist(), below.tolist(), strict=True)}) == below.max() + 1 > above.max() + 1
        check_ids(members, found, gone)


def test_arcs_keep_their_directions():
    D = nx.relabel_nodes(nx.gnp_random_graph(30, 0.15, seed=1, directed=True), str)
    u, v = next((u, v) for u, v in D.edges if not D.has_edge(v, u))
    found = gc.communities(D, rng=0)
    for removed, added in (([], [(v, u)]), ([(u, v)], [(v, u), ("new", u), (u, u)])):
        later, changed = found.update(removed=removed, added=added, rng=0), D.copy()
        changed.remove_edges_from(removed)
        changed.add_edges_from(added)
        check_layers(later.layered, as_layered(changed))
        assert later.nodes == [*changed] and later.modularity_name == "directed modularity"
    with pytest.raises(gc.EditError, match="which the graph does not have"):
        found.update(removed=[(v, u)])


def test_ids_of_both_sides_stay_apart():
    pandas = pytest.importorskip("pandas")
    sales = pandas.DataFrame({"customer": [1, 1, 2, 2, 3, 3, 4], "product": [1, 2, 1, 2, 3, 4, 3]})
    found = gc.communities(sales, kind="bipartite", rng=0)
    new, gone = pandas.DataFrame({"customer": [5, 1], "product": [1, 9]}), sales[sales.customer == 4]
    later = found.update(added=new, removed=gone, rng=0)
    changed = gc.communities(pandas.concat([sales.drop(gone.index), new]), kind="bipartite", rng=0)
    assert {u: c for u, c in later.as_dict().items() if u != "customer:4"}.keys() == changed.as_dict().keys()
    same = found.update(added=[(5, "product:1"), ("customer:1", 9)], removed=[(4, 3)], rng=0)
    assert same == later and later.layered.sides == (5, 5) and later.row_labels.shape == (5,)
    assert later.update(removed_nodes=["customer:5"], added_nodes={7: 1}, rng=0).nodes[-1] == "product:7"


def test_rows_and_columns_without_names_are_meant_by_their_numbers():
    B = np.array([[2, 1, 0, 0], [0, 0, 3, 1]])
    found = gc.communities(sparse.csr_array(B), rng=0)
    later = found.update(added=[(3, 0), (0, 4), (2, 1)], removed=[(1, 3)], reweighted=np.array([[0, 0, 2.5]]), rng=0)
    changed = np.array([[2.5, 1, 0, 0, 1], [0, 0, 3, 0, 0], [0, 1, 0, 0, 0], [1, 0, 0, 0, 0]])
    check_layers(later.layered, as_layered(changed))
    assert later.graph.nodes is None and (B == [[2, 1, 0, 0], [0, 0, 3, 1]]).all()
    fewer = later.update(removed_nodes=[1, 4], rng=0)  # the row 1, and the column 0
    assert fewer.nodes == ["row:0", "row:2", "row:3", "column:1", "column:2", "column:3", "column:4"]
    assert fewer.update(removed=[(0, 1)], rng=0).graph.n_edges == 2


def test_clusters_of_a_kind_keep_what_they_were_made_for():
    twin = Twin("signed", 1)
    for options in ({"resolution": [1.0, 0.5]}, {"objective": "constant_potts", "resolution": 0.2}):
        later = gc.communities(twin.layered(), rng=0, **options).update(added=[("r0", "new", -2.0)], rng=0)
        told = later.drift(rng=0)
        assert later.parameters["resolution"] == options["resolution"] and abs(told.lost) < 0.02
        assert told.fresh.layered is later.layered


def test_edits_that_a_kind_does_not_have_are_refused():
    sides = gc.communities(np.array([[2, 1, 0], [0, 0, 3]]), kind="bipartite", rng=0)
    davis = gc.communities(nx.davis_southern_women_graph(), kind="bipartite", rng=0)
    signed = gc.communities(np.array([[0, 1, -1], [1, 0, 0], [-1, 0, 0]]), kind="signed", resolution=[1, 1], rng=0)
    several = gc.communities([nx.path_graph(4), nx.cycle_graph(4)], rng=0)
    for found, edits, error, words in (
        (sides, {"added": [(4, 0)]}, gc.EditError, "row 4, expected for new ones the next numbers: rows 2"),
        (sides, {"added": [(-1, 0)]}, gc.EditError, "row -1"),
        (sides, {"added": [("a", 0)]}, TypeError, "the row 'a', a str, expected a whole number"),
        (sides, {"added": [(0, 2, -1.0)]}, gc.ParameterError, "weight -1, expected finite numbers > 0"),
        (sides, {"added_nodes": [3]}, TypeError, "expected a mapping from the nodes of a bipartite graph to their"),
        (davis, {"added_nodes": {"Zoe": "top"}}, gc.ParameterError, "the side 'top', expected 0 for a row"),
        (davis, {"removed": [("E1", "Evelyn Jefferson")]}, gc.EditError, "'E1' as a row, and it is a column"),
        (davis, {"added": [("Zoe", "Zoe")]}, gc.EditError, "each name on one side"),
        (davis, {"added": [(None, "E1")]}, gc.ParameterError, "ends in None"),
        (signed, {"reweighted": [(0, 1, 0.0)]}, gc.ParameterError, "finite numbers other than 0"),
        (signed, {"removed": [(0, 2)]}, gc.ParameterError, "one a layer, and after the edits the graph has 1 layer"),
        (several, {"added": [(0, 2)]}, gc.ParameterError, r"the graph is several; communities\(G, start=clustering\)"),
        (several, {"removed_nodes": [0]}, gc.ParameterError, "for a single graph"),
        (sides, {"removed_nodes": range(5)}, gc.EditError, "removed_nodes leaves out all nodes"),
    ):
        with pytest.raises(error, match=words):
            found.update(**edits)
